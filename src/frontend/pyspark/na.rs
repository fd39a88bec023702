//! `df.na`: rows and values that are missing.

use super::column::operand;
use super::known_schema::known_schema;
use super::{column_names, derive};
use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::value::{Arguments, Frame, Value};
use crate::model::{Node, Schema};

/// `fillna`, `dropna`, `replace`, and the same through `df.na`.
pub fn method(
    interpreter: &mut Interpreter<'_>,
    frame: &Frame,
    name: &str,
    arguments: &Arguments,
) -> Eval<Option<Value>> {
    let place = &arguments.place;
    let subset = |interpreter: &mut Interpreter<'_>, index: usize| match arguments.given(index, "subset").cloned() {
        Some(value) => column_names(interpreter, &[value]),
        None => Vec::new(),
    };
    Ok(Some(match name {
        "fillna" | "fill" => match arguments.get(0, "value").cloned() {
            Some(Value::Dict(dict)) => {
                let items = dict.borrow().items.clone();
                let mut current = Value::Frame(frame.clone());
                for (key, value) in items {
                    let Value::Frame(inner) = &current else { break };
                    let inner = inner.clone();
                    let columns = vec![key.render_string().unwrap_or_default().to_string()];
                    let value = Box::new(operand(interpreter, &value, place));
                    current = derive(interpreter, &inner, place, |input| Node::NaFill { value, columns, input })?;
                }
                current
            }
            Some(value) => {
                let columns = subset(interpreter, 1);
                let value = Box::new(operand(interpreter, &value, place));
                derive(interpreter, frame, place, |input| Node::NaFill { value, columns, input })?
            }
            None => return Ok(None),
        },
        "dropna" | "drop" => {
            let how_all = arguments.text(0, "how").is_some_and(|how| how.eq_ignore_ascii_case("all"));
            let threshold = match arguments.given(1, "thresh") {
                Some(Value::Int(number)) => Some(*number),
                _ => None,
            };
            let columns = subset(interpreter, 2);
            derive(interpreter, frame, place, |input| Node::NaDrop { columns, how_all, threshold, input })?
        }
        "replace" => {
            let reason = "`replace` of values is compared by its arguments only";
            interpreter.unknown("replace", "unknown-call", reason, place.clone());
            let content = interpreter.contents.of_arguments(arguments);
            let function = super::opaque("replace", reason, content, place.clone());
            let output = known_schema(&frame.plan).unwrap_or_else(Schema::unknown);
            derive(interpreter, frame, place, |input| Node::Opaque {
                function,
                keys: Vec::new(),
                output,
                inputs: vec![*input],
            })?
        }
        _ => return Ok(None),
    }))
}
