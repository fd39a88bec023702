//! Methods of a DataFrame that keep, drop, order or rework rows.

use crate::frontend::pyspark::column::{self, operand, sort_key};
use crate::frontend::pyspark::{derive, na, types};
use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::sql_text;
use crate::frontend::python::value::{Arguments, Frame, Value};
use crate::functions::parse_interval;
use crate::model::{DataType, Expr, Node, SortKey, Value as Constant};

/// None where `name` is none of them.
pub(super) fn method(
    interpreter: &mut Interpreter<'_>,
    frame: &Frame,
    name: &str,
    arguments: &Arguments,
) -> Eval<Option<Value>> {
    let place = &arguments.place;
    let positional = &arguments.positional;
    let value = match name {
        "filter" | "where" => {
            let condition = match arguments.get(0, "condition") {
                Some(value @ (Value::Str(_) | Value::Unknown(_))) => match value {
                    Value::Str(text) => sql_text::expression(interpreter, &text.text.clone(), place),
                    other => operand(interpreter, other, place),
                },
                Some(other) => operand(interpreter, &other.clone(), place),
                None => return Ok(None),
            };
            derive(interpreter, frame, place, |input| Node::Filter { condition, input })?
        }
        "distinct" => derive(interpreter, frame, place, |input| Node::Distinct { input })?,
        "dropDuplicates" | "drop_duplicates" | "dropDuplicatesWithinWatermark" => {
            let given = arguments.given(0, "subset").is_some();
            let keys = given.then(|| column::columns(interpreter, positional_or(arguments, "subset"), place));
            let within_watermark = name == "dropDuplicatesWithinWatermark";
            derive(interpreter, frame, place, |input| Node::Deduplicate { keys, within_watermark, input })?
        }
        "withWatermark" => {
            let event_time = column::column(interpreter, arguments.get(0, "eventTime").unwrap_or(&Value::None), place);
            let delay = match arguments.text(1, "delayThreshold") {
                Some(text) => delay_literal(&text),
                None => Expr::null(),
            };
            derive(interpreter, frame, place, |input| Node::Watermark { event_time, delay, input })?
        }
        "sort" | "orderBy" | "sortWithinPartitions" => {
            let keys = sort_keys(interpreter, arguments);
            let global = name != "sortWithinPartitions";
            derive(interpreter, frame, place, |input| Node::Sort { keys, global, input })?
        }
        "limit" | "offset" => {
            let count = operand(interpreter, arguments.get(0, "num").unwrap_or(&Value::None), place);
            derive(interpreter, frame, place, |input| match name {
                "limit" => Node::Limit { count, input },
                _ => Node::Offset { count, input },
            })?
        }
        "sample" | "sampleBy" => {
            let named = arguments.keywords.iter().map(|(key, value)| format!("{key}={}", interpreter.identity(value)));
            let shown: Vec<String> = positional.iter().map(|value| interpreter.identity(value)).chain(named).collect();
            let description = shown.join(", ").into();
            derive(interpreter, frame, place, |input| Node::Sample { description, input })?
        }
        "fillna" | "dropna" | "replace" => return na::method(interpreter, frame, name, arguments),
        "mapInPandas" | "mapInArrow" => {
            let output = types::schema(interpreter, arguments.get(1, "schema").unwrap_or(&Value::None), place);
            let function = arguments.get(0, "func").cloned().unwrap_or(Value::None);
            let function = interpreter.opaque_function(&function, place);
            derive(interpreter, frame, place, |input| Node::Opaque {
                function,
                keys: Vec::new(),
                output,
                inputs: vec![*input],
            })?
        }
        _ => return Ok(None),
    };
    Ok(Some(value))
}

fn positional_or<'a>(arguments: &'a Arguments, keyword: &str) -> &'a [Value] {
    if arguments.positional.is_empty() {
        arguments.keyword(keyword).map(std::slice::from_ref).unwrap_or_default()
    } else {
        &arguments.positional
    }
}

fn sort_keys(interpreter: &mut Interpreter<'_>, arguments: &Arguments) -> Vec<SortKey> {
    let mut values = Vec::new();
    for value in &arguments.positional {
        match interpreter.items_of(value).filter(|_| !matches!(value, Value::Str(_))) {
            Some(list) => values.extend(list.items),
            None => values.push(value.clone()),
        }
    }
    let mut keys: Vec<SortKey> = values.iter().map(|v| sort_key(interpreter, v, &arguments.place)).collect();
    let ascending = match arguments.keyword("ascending") {
        Some(Value::List(list)) => list.borrow().items.clone(),
        Some(one) => vec![one.clone(); keys.len()],
        None => Vec::new(),
    };
    for (key, ascending) in keys.iter_mut().zip(&ascending) {
        if ascending.truth() == Some(false) {
            *key = SortKey::new(key.expr.clone(), true);
        }
    }
    keys
}

/// A watermark's delay as an interval; text that is none stays text.
pub fn delay_literal(text: &str) -> Expr {
    match parse_interval(text).and_then(|interval| interval.fixed_micros()) {
        Some(micros) => Expr::literal(Constant::DayTimeInterval(micros), DataType::DayTimeInterval),
        None => Expr::string(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_read_as_spark_reads_them() {
        let micros = |micros| Expr::literal(Constant::DayTimeInterval(micros), DataType::DayTimeInterval);
        assert_eq!(delay_literal("10 minutes"), micros(600_000_000));
        assert_eq!(delay_literal("INTERVAL 1 hour 30 minutes"), micros(5_400_000_000));
        assert_eq!(delay_literal("1.5 seconds"), micros(1_500_000));
        assert_eq!(delay_literal("1 month"), Expr::string("1 month"));
        assert_eq!(delay_literal(""), Expr::string(""));
    }
}
