//! The one binary column of a `TypedImperativeAggregate`.

use crate::functions::function::{Argument, EvalError};
use crate::model::{DataType, Field, Value};

/// How the bytes are laid out: only buffers of one layout can be read as one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// `Collect`: an array of values.
    List,
    /// `PercentileBase`, `Mode`: values with counts.
    Counts,
    /// `ListAgg`.
    Text,
    /// `ApproximatePercentile`: a quantile summary.
    Summary,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Format::List => "list",
            Format::Counts => "counts",
            Format::Text => "text",
            Format::Summary => "summary",
        }
    }
}

pub(super) fn schema(_: &[Argument]) -> Vec<Field> {
    vec![Field::new("buf", DataType::Binary)]
}

pub(super) fn write(format: Format, content: Value) -> Value {
    Value::Struct([Value::string(format.name()), content].into())
}

/// The content of a buffer. Bytes of another aggregate end early or mean nothing: Spark dies with an `EOFException`.
pub(super) fn read(format: Format, buffer: Option<&Value>) -> Result<&Value, EvalError> {
    if let Some(Value::Struct(parts)) = buffer
        && let [Value::String(name), content] = parts.as_ref()
        && name.as_ref() == format.name()
    {
        return Ok(content);
    }
    Err(EvalError::new("STREAM_FAILED/EOFException", "the aggregation buffer in the state belongs to another function"))
}

/// The items of a list buffer.
pub(super) fn items(format: Format, buffer: Option<&Value>) -> Result<&[Value], EvalError> {
    match read(format, buffer)? {
        Value::Array(items) => Ok(items),
        other => Err(EvalError::unexpected("array", other)),
    }
}

/// Puts an item at the end.
pub(super) fn push(format: Format, buffer: &mut [Value], item: Value) -> Result<(), EvalError> {
    let old = items(format, buffer.first())?;
    let mut all = Vec::with_capacity(old.len() + 1);
    all.extend_from_slice(old);
    all.push(item);
    set(buffer, write(format, Value::Array(all.into())));
    Ok(())
}

pub(super) fn append(format: Format, buffer: &mut [Value], other: &[Value]) -> Result<(), EvalError> {
    let mut all = items(format, buffer.first())?.to_vec();
    all.extend_from_slice(items(format, other.first())?);
    set(buffer, write(format, Value::Array(all.into())));
    Ok(())
}

pub(super) fn empty_list(format: Format) -> Vec<Value> {
    vec![write(format, Value::Array([].into()))]
}

/// Replaces the first column.
pub(super) fn set(buffer: &mut [Value], value: Value) {
    set_at(buffer, 0, value);
}

pub(super) fn set_at(buffer: &mut [Value], index: usize, value: Value) {
    if let Some(slot) = buffer.get_mut(index) {
        *slot = value;
    }
}

/// A column, NULL where state of another shape is too short.
pub(super) fn get(buffer: &[Value], index: usize) -> &Value {
    buffer.get(index).unwrap_or(&Value::Null)
}
