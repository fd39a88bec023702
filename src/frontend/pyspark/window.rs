//! `pyspark.sql.Window` and WindowSpec.

use super::column::{self, sort_key};
use crate::frontend::python::interpret::Interpreter;
use crate::frontend::python::value::{Arguments, Value};
use crate::model::{Expr, Frame, FrameBound, WindowSpec};
use std::rc::Rc;

/// `Window.unboundedPreceding` is the least long, `unboundedFollowing` the greatest.
pub const UNBOUNDED_PRECEDING: i64 = i64::MIN;
pub const UNBOUNDED_FOLLOWING: i64 = i64::MAX;

pub fn empty() -> WindowSpec {
    WindowSpec { partition_by: Vec::new(), order_by: Vec::new(), frame: None }
}

pub fn method(
    interpreter: &mut Interpreter<'_>,
    spec: &WindowSpec,
    name: &str,
    arguments: &Arguments,
) -> Option<Value> {
    let mut spec = spec.clone();
    let place = &arguments.place;
    match name {
        "partitionBy" => spec.partition_by = column::columns(interpreter, &arguments.positional, place),
        "orderBy" => {
            let mut keys = Vec::new();
            for value in &arguments.positional {
                match interpreter.items_of(value).filter(|_| !matches!(value, Value::Str(_))) {
                    Some(list) => keys.extend(list.items),
                    None => keys.push(value.clone()),
                }
            }
            spec.order_by = keys.iter().map(|key| sort_key(interpreter, key, place)).collect();
        }
        "rowsBetween" | "rangeBetween" => {
            let start = bound(interpreter, arguments, 0, "start");
            let end = bound(interpreter, arguments, 1, "end");
            spec.frame = Some(Frame { rows: name == "rowsBetween", start, end });
        }
        _ => return None,
    }
    Some(Value::Window(Rc::new(spec)))
}

fn bound(interpreter: &mut Interpreter<'_>, arguments: &Arguments, index: usize, name: &str) -> FrameBound {
    match arguments.get(index, name) {
        Some(Value::Int(0)) => FrameBound::CurrentRow,
        Some(Value::Int(number)) if *number <= i64::from(i32::MIN) => FrameBound::UnboundedPreceding,
        Some(Value::Int(number)) if *number >= i64::from(i32::MAX) => FrameBound::UnboundedFollowing,
        Some(Value::Int(number)) if *number < 0 => FrameBound::Preceding(Box::new(Expr::integer(-number))),
        Some(Value::Int(number)) => FrameBound::Following(Box::new(Expr::integer(*number))),
        Some(other) => FrameBound::Following(Box::new(column::operand(interpreter, other, &arguments.place))),
        None => FrameBound::CurrentRow,
    }
}
