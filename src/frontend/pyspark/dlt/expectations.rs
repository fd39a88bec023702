//! `expect`, `expect_or_drop`, `expect_or_fail` and their `_all` forms.

use super::registration::decorated;
use crate::frontend::content_hash;
use crate::frontend::pyspark::opaque;
use crate::frontend::python::interpret::Interpreter;
use crate::frontend::python::sql_text;
use crate::frontend::python::value::{Arguments, Value};
use crate::model::{Expectation, Expr, OnViolation, Place};
use std::rc::Rc;

fn on_violation(name: &str) -> OnViolation {
    if name.ends_with("_or_drop") {
        OnViolation::DropRow
    } else if name.ends_with("_or_fail") {
        OnViolation::FailUpdate
    } else {
        OnViolation::Warn
    }
}

/// The decorator: waits for its function, then adds its expectations to it.
pub fn decorator(interpreter: &mut Interpreter<'_>, name: &str, arguments: &Arguments) -> Value {
    let function = arguments.positional.last().filter(|value| is_callable(value));
    let Some(function) = function else {
        return Interpreter::partial(&format!("dlt.{name}"), arguments.clone());
    };
    let expectations = read(interpreter, name, arguments);
    let target = decorated(function.clone());
    for index in target.datasets.borrow().iter() {
        interpreter.registry.add_expectations(*index, &expectations);
    }
    target.expectations.borrow_mut().extend(expectations);
    Value::Decorated(target)
}

fn read(interpreter: &mut Interpreter<'_>, name: &str, arguments: &Arguments) -> Vec<Expectation> {
    let on_violation = on_violation(name);
    if !name.starts_with("expect_all") {
        let text = |index: usize, key: &str| arguments.text(index, key).unwrap_or_default().to_string();
        let condition = arguments.get(1, "inv").or_else(|| arguments.keyword("condition")).cloned();
        let name = if arguments.keyword("description").is_some() { text(9, "description") } else { text(0, "name") };
        return vec![expectation(interpreter, name, &condition.unwrap_or(Value::None), on_violation, &arguments.place)];
    }
    let rules = arguments.get(0, "expectations").cloned().unwrap_or(Value::None);
    let Value::Dict(dict) = &rules else {
        let reason = "the expectations are only known at run time";
        let unknown = interpreter.unknown_call(name, "unknown-expectations", reason, arguments);
        interpreter.report_value(&unknown, None);
        return Vec::new();
    };
    let items = dict.borrow().items.clone();
    items
        .iter()
        .map(|(key, value)| {
            let name = key.render_string().unwrap_or_default().to_string();
            expectation(interpreter, name, value, on_violation, &arguments.place)
        })
        .collect()
}

/// An expectation whose condition is SQL text, or a value that is no text before the code runs.
fn expectation(
    interpreter: &mut Interpreter<'_>,
    name: String,
    value: &Value,
    on_violation: OnViolation,
    place: &Place,
) -> Expectation {
    let text = value.render_string();
    let condition = text.map_or_else(|| format!("{{{}}}", value.type_name()), |text| text.to_string());
    let predicate = match value.as_str() {
        Some(text) => sql_text::expression(interpreter, text, place),
        None => Expr::Opaque(opaque(
            &condition,
            "the condition is only known at run time",
            content_hash(&condition),
            place.clone(),
        )),
    };
    Expectation { name, condition, predicate, on_violation, place: place.clone() }
}

pub fn is_callable(value: &Value) -> bool {
    match value {
        Value::Function(_) | Value::Method { .. } | Value::Decorated(_) => true,
        // A decorator that waits is no function to decorate.
        Value::Partial(partial) => !matches!(&partial.function, Value::External(path) if super::is_library(path)),
        _ => false,
    }
}

/// Expectations that are arguments: `create_streaming_table(expect_all=…)`.
pub fn of_arguments(interpreter: &mut Interpreter<'_>, arguments: &Arguments) -> Vec<Expectation> {
    let mut all = Vec::new();
    for name in ["expect_all", "expect_all_or_drop", "expect_all_or_fail"] {
        if let Some(rules) = arguments.keyword(name).filter(|rules| !rules.is_none()).cloned() {
            let given = Arguments::of(vec![rules], arguments.place.clone());
            all.extend(read(interpreter, name, &given));
        }
    }
    all
}

/// Expectations gathered on a function so far.
pub fn of_function(value: &Value) -> Vec<Expectation> {
    match value {
        Value::Decorated(decorated) => decorated.expectations.borrow().clone(),
        _ => Vec::new(),
    }
}

/// The function below the decorators of the library.
pub fn undecorated(value: &Value) -> Value {
    match value {
        Value::Decorated(decorated) => decorated.function.clone(),
        other => other.clone(),
    }
}

/// Keeps a decorated function shared between decorators.
pub fn shared(value: &Value) -> Option<Rc<crate::frontend::python::value::Decorated>> {
    match value {
        Value::Decorated(decorated) => Some(decorated.clone()),
        _ => None,
    }
}
