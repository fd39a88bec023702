//! Generators: functions that give rows (`explode`, `posexplode`, `inline`, `stack`, `json_tuple`).

use super::access::{array, fields, int, map};
use super::function::{
    Argument, Body, EvalError, Function, Invocation, Kind, Nulls, Param, Params, ResultType, Volatility,
};
use super::json_path;
use crate::model::{DataType, Field, Value};

/// The parts of a generator. `outer` forms give one row of NULLs where the plain one gives none.
#[derive(Debug, Clone, Copy)]
pub struct Generator {
    /// Columns of the rows, from coerced arguments, with Spark's default names.
    pub output: fn(&[Argument]) -> Vec<Field>,
    rows: fn(&Invocation) -> Result<Vec<Vec<Value>>, EvalError>,
    pub outer: bool,
}

impl Generator {
    /// Rows of one input row; `width` columns each, which is the length of `output`.
    pub fn rows(&self, call: &Invocation, width: usize) -> Result<Vec<Vec<Value>>, EvalError> {
        let mut rows = (self.rows)(call)?;
        if rows.is_empty() && self.outer {
            rows.push(vec![Value::Null; width]);
        }
        Ok(rows)
    }
}

const fn entry(names: &'static [&'static str], generator: &'static Generator) -> Function {
    Function {
        names,
        kind: Kind::Generator,
        volatility: Volatility::Immutable,
        params: Params::Each(&[Param::Any]),
        result: ResultType::Rule(row_type),
        nulls: Nulls::Possible,
        body: Body::Generator(generator),
    }
}

/// The type of the call as an expression hangs on its generator; consumers take [`Generator::output`] instead.
fn row_type(_: &[Argument]) -> DataType {
    DataType::Unknown
}

pub(super) static FUNCTIONS: &[Function] = &[
    entry(&["explode"], &EXPLODE),
    entry(&["explode_outer"], &Generator { outer: true, ..EXPLODE_PARTS }),
    entry(&["posexplode"], &POSEXPLODE),
    entry(&["posexplode_outer"], &Generator { outer: true, ..POSEXPLODE_PARTS }),
    entry(&["inline"], &INLINE),
    entry(&["inline_outer"], &Generator { outer: true, ..INLINE_PARTS }),
    entry(&["stack"], &Generator { output: stack_output, rows: stack_rows, outer: false }),
    entry(&["json_tuple"], &Generator { output: json_tuple_output, rows: json_tuple_rows, outer: false }),
    entry(&["variant_explode"], &VARIANT_EXPLODE),
    entry(&["variant_explode_outer"], &Generator { outer: true, ..VARIANT_EXPLODE_PARTS }),
];

const VARIANT_EXPLODE_PARTS: Generator = Generator { output: variant_output, rows: variant_rows, outer: false };
static VARIANT_EXPLODE: Generator = VARIANT_EXPLODE_PARTS;

const EXPLODE_PARTS: Generator =
    Generator { output: |args| exploded(args, false), rows: |c| explode(c, false), outer: false };
const POSEXPLODE_PARTS: Generator =
    Generator { output: |args| exploded(args, true), rows: |c| explode(c, true), outer: false };
const INLINE_PARTS: Generator = Generator { output: inline_output, rows: inline_rows, outer: false };
static EXPLODE: Generator = EXPLODE_PARTS;
static POSEXPLODE: Generator = POSEXPLODE_PARTS;
static INLINE: Generator = INLINE_PARTS;

fn exploded(args: &[Argument], position: bool) -> Vec<Field> {
    let mut output = Vec::new();
    if position {
        output.push(Field::not_null("pos", DataType::Int));
    }
    match args.first().map(|a| &a.data_type) {
        Some(DataType::Map { key, value, value_contains_null }) => {
            output.push(Field::not_null("key", key.as_ref().clone()));
            output.push(Field {
                name: "value".to_owned(),
                data_type: value.as_ref().clone(),
                nullable: *value_contains_null,
            });
        }
        Some(DataType::Array { element, contains_null }) => {
            output.push(Field {
                name: "col".to_owned(),
                data_type: element.as_ref().clone(),
                nullable: *contains_null,
            });
        }
        _ => output.push(Field::new("col", DataType::Unknown)),
    }
    output
}

fn explode(call: &Invocation, position: bool) -> Result<Vec<Vec<Value>>, EvalError> {
    let items: Vec<Vec<Value>> = match call.arg(0) {
        Value::Null => Vec::new(),
        Value::Map(_) => map(call.arg(0))?.iter().map(|(key, value)| vec![key.clone(), value.clone()]).collect(),
        // One row stands for the unknown collection, so that equal inputs stay equal.
        opaque @ Value::Opaque(_) => vec![vec![opaque.clone()]],
        other => array(other)?.iter().map(|item| vec![item.clone()]).collect(),
    };
    if !position {
        return Ok(items);
    }
    Ok((0i32..)
        .zip(items)
        .map(|(index, mut item)| {
            item.insert(0, Value::Int(index));
            item
        })
        .collect())
}

fn inline_output(args: &[Argument]) -> Vec<Field> {
    match args.first().map(|a| &a.data_type) {
        Some(DataType::Array { element, contains_null }) => match element.as_ref() {
            DataType::Struct(fields) => {
                fields.iter().cloned().map(|f| Field { nullable: f.nullable || *contains_null, ..f }).collect()
            }
            _ => vec![Field::new("col", DataType::Unknown)],
        },
        _ => vec![Field::new("col", DataType::Unknown)],
    }
}

fn inline_rows(call: &Invocation) -> Result<Vec<Vec<Value>>, EvalError> {
    let width = match call.types.first() {
        Some(DataType::Array { element, .. }) => match element.as_ref() {
            DataType::Struct(fields) => fields.len(),
            _ => 1,
        },
        _ => 1,
    };
    match call.arg(0) {
        Value::Null => Ok(Vec::new()),
        other => array(other)?
            .iter()
            .map(|item| if item.is_null() { Ok(vec![Value::Null; width]) } else { Ok(fields(item)?.to_vec()) })
            .collect(),
    }
}

/// Number of rows and columns of `stack(n, …)`.
fn stack_shape(rows: Option<&Value>, values: usize) -> (usize, usize) {
    let rows =
        rows.and_then(|v| int(v).ok()).and_then(|n| usize::try_from(n).ok()).unwrap_or(1).clamp(1, values.max(1));
    (rows, values.div_ceil(rows))
}

fn stack_output(args: &[Argument]) -> Vec<Field> {
    let values = args.get(1..).unwrap_or_default();
    let (_, width) = stack_shape(args.first().and_then(|a| a.literal.as_ref()), values.len());
    (0..width)
        .map(|column| {
            let types: Vec<DataType> = values.iter().skip(column).step_by(width).map(|a| a.data_type.clone()).collect();
            Field::new(format!("col{column}"), super::common_type(&types).unwrap_or(DataType::Unknown))
        })
        .collect()
}

fn stack_rows(call: &Invocation) -> Result<Vec<Vec<Value>>, EvalError> {
    let values = call.args.get(1..).unwrap_or_default();
    let (_, width) = stack_shape(call.args.first(), values.len());
    if width == 0 {
        return Ok(Vec::new());
    }
    Ok(values
        .chunks(width)
        .map(|chunk| chunk.iter().cloned().chain(std::iter::repeat(Value::Null)).take(width).collect())
        .collect())
}

fn json_tuple_output(args: &[Argument]) -> Vec<Field> {
    (0..args.len().saturating_sub(1)).map(|index| Field::new(format!("c{index}"), DataType::String)).collect()
}

fn json_tuple_rows(call: &Invocation) -> Result<Vec<Vec<Value>>, EvalError> {
    let names = call.args.get(1..).unwrap_or_default();
    let document = match call.arg(0) {
        Value::String(text) => json_path::parse(text),
        _ => None,
    };
    let row = names
        .iter()
        .map(|name| match (&document, name) {
            (Some(serde_json::Value::Object(object)), Value::String(name)) => {
                object.get(name.as_ref()).and_then(json_path::scalar_text).map_or(Value::Null, Value::string)
            }
            _ => Value::Null,
        })
        .collect();
    Ok(vec![row])
}

fn variant_output(_: &[Argument]) -> Vec<Field> {
    vec![
        Field::not_null("pos", DataType::Int),
        Field::new("key", DataType::String),
        Field::not_null("value", DataType::Variant),
    ]
}

/// Items of an array without a key, members of an object in the order of their keys; nothing of any other value
/// (`VariantExplode`).
fn variant_rows(call: &Invocation) -> Result<Vec<Vec<Value>>, EvalError> {
    let document = match call.arg(0) {
        Value::Variant(document) => json_path::parse(document),
        // One row stands for the unknown value, so that equal inputs stay equal.
        opaque @ Value::Opaque(_) => return Ok(vec![vec![Value::Int(0), Value::Null, opaque.clone()]]),
        _ => None,
    };
    let value = |item: &serde_json::Value| Value::Variant(json_path::write_sorted(item).into());
    let pairs: Vec<(Value, Value)> = match &document {
        Some(serde_json::Value::Array(items)) => items.iter().map(|item| (Value::Null, value(item))).collect(),
        Some(serde_json::Value::Object(members)) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by(|a, b| a.0.cmp(b.0));
            members.into_iter().map(|(key, item)| (Value::string(key.as_str()), value(item))).collect()
        }
        _ => Vec::new(),
    };
    Ok((0i32..).zip(pairs).map(|(at, (key, value))| vec![Value::Int(at), key, value]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::EvalContext;

    #[test]
    fn a_variant_gives_its_items_or_its_members() {
        let rows = |document: &str| {
            let args = [Value::Variant(document.into())];
            let call = Invocation {
                args: &args,
                types: &[DataType::Variant],
                result: &DataType::Unknown,
                context: &EvalContext::default(),
                lambda: None,
            };
            VARIANT_EXPLODE.rows(&call, 3).unwrap()
        };
        let variant = |text: &str| Value::Variant(text.into());
        assert_eq!(
            rows("[1,\"a\"]"),
            [vec![Value::Int(0), Value::Null, variant("1")], vec![Value::Int(1), Value::Null, variant("\"a\"")]]
        );
        assert_eq!(
            rows("{\"b\":2,\"a\":null}"),
            [
                vec![Value::Int(0), Value::string("a"), variant("null")],
                vec![Value::Int(1), Value::string("b"), variant("2")]
            ]
        );
        assert!(rows("5").is_empty());
    }
}
