//! Operators with state of the user's own: `applyInPandasWithState`, `transformWithState…`.

use super::{column, derive, types};
use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::value::{Arguments, Grouped, StateHandle, Value};
use crate::model::{DataType, Node, Schema, StateVariable, StatefulFunction};
use std::rc::Rc;
use std::sync::Arc;

pub fn stateful_map(
    interpreter: &mut Interpreter<'_>,
    grouped: &Rc<Grouped>,
    name: &str,
    arguments: &Arguments,
) -> Eval<Value> {
    let function = match name {
        "applyInPandasWithState" => with_state(interpreter, arguments),
        _ => processor(interpreter, name, arguments)?,
    };
    let keys = grouped.groupings.clone();
    derive(interpreter, &grouped.frame, &arguments.place, |input| Node::StatefulMap { keys, function, input })
}

/// `applyInPandasWithState(func, outputStructType, stateStructType, outputMode, timeoutConf)`.
fn with_state(interpreter: &mut Interpreter<'_>, arguments: &Arguments) -> StatefulFunction {
    let place = &arguments.place;
    let function = arguments.get(0, "func").cloned().unwrap_or(Value::None);
    let output = types::schema(interpreter, arguments.get(1, "outputStructType").unwrap_or(&Value::None), place);
    let state = types::schema(interpreter, arguments.get(2, "stateStructType").unwrap_or(&Value::None), place);
    StatefulFunction {
        operator: "applyInPandasWithState".into(),
        function: interpreter.opaque_function(&function, place),
        output,
        state: Some(state),
        variables: Vec::new(),
        output_mode: lower(arguments.get(3, "outputMode"), "append"),
        time_mode: last_word(arguments.get(4, "timeoutConf"), "NoTimeout"),
    }
}

/// `transformWithStateInPandas(statefulProcessor, outputStructType, outputMode, timeMode, initialState, …)`.
fn processor(interpreter: &mut Interpreter<'_>, name: &str, arguments: &Arguments) -> Eval<StatefulFunction> {
    let place = &arguments.place;
    let processor = arguments.get(0, "statefulProcessor").cloned().unwrap_or(Value::None);
    let output = types::schema(interpreter, arguments.get(1, "outputStructType").unwrap_or(&Value::None), place);
    let variables = state_variables(interpreter, &processor, arguments)?;
    let class = match &processor {
        Value::Instance(instance) => Value::Class(instance.class.clone()),
        other => other.clone(),
    };
    Ok(StatefulFunction {
        operator: name.into(),
        function: interpreter.opaque_function(&class, place),
        output,
        state: None,
        variables,
        output_mode: lower(arguments.get(2, "outputMode"), "append"),
        time_mode: time_mode(arguments.get(3, "timeMode")),
    })
}

/// Runs the processor's `init` on a handle that writes down what it is asked for.
fn state_variables(
    interpreter: &mut Interpreter<'_>,
    processor: &Value,
    arguments: &Arguments,
) -> Eval<Vec<StateVariable>> {
    let handle = Rc::new(StateHandle::default());
    if let Some(init) = interpreter.find_method(processor, "init") {
        let call = Arguments::of(vec![Value::StateHandle(handle.clone())], arguments.place.clone());
        interpreter.call(&init, call)?;
    }
    let variables = handle.variables.borrow().clone();
    Ok(variables)
}

/// `handle.getValueState(name, schema, ttl)` and its siblings.
pub fn handle_method(
    interpreter: &mut Interpreter<'_>,
    handle: &Rc<StateHandle>,
    name: &str,
    arguments: &Arguments,
) -> Option<Value> {
    let place = &arguments.place;
    let (kind, key, value, ttl) = match name {
        "getValueState" | "getListState" => {
            let value = struct_type(interpreter, arguments, 1, "schema");
            let kind = if name == "getValueState" { "value" } else { "list" };
            (kind, None, value, arguments.given(2, "ttlDurationMs").is_some())
        }
        "getMapState" => {
            let key = struct_type(interpreter, arguments, 1, "userKeySchema");
            let value = struct_type(interpreter, arguments, 2, "valueSchema");
            ("map", Some(key), value, arguments.given(3, "ttlDurationMs").is_some())
        }
        _ => return None,
    };
    let variable: Arc<str> = arguments.text(0, "stateName").unwrap_or_else(|| "{state}".into());
    handle.variables.borrow_mut().push(StateVariable { name: variable.clone(), kind: kind.into(), key, value, ttl });
    Some(interpreter.unknown(&variable, "runtime-data", "state exists only at run time", place.clone()))
}

fn struct_type(interpreter: &mut Interpreter<'_>, arguments: &Arguments, index: usize, name: &str) -> DataType {
    let place = &arguments.place;
    match arguments.get(index, name) {
        Some(value @ (Value::Str(_) | Value::Schema(_))) => {
            let Schema { fields, .. } = types::schema(interpreter, &value.clone(), place);
            DataType::Struct(fields)
        }
        other => column::data_type(interpreter, other.cloned().as_ref(), place),
    }
}

fn lower(value: Option<&Value>, default: &str) -> Arc<str> {
    value.and_then(Value::render_string).map_or_else(|| default.into(), |text| text.to_lowercase().into())
}

/// `GroupStateTimeout.NoTimeout` or its text.
fn last_word(value: Option<&Value>, default: &str) -> Arc<str> {
    let text = match value {
        Some(Value::External(path)) => Some(path.clone()),
        Some(other) => other.render_string(),
        None => None,
    };
    text.map_or_else(|| default.into(), |text| text.rsplit('.').next().unwrap_or(&text).into())
}

fn time_mode(value: Option<&Value>) -> Arc<str> {
    let word = last_word(value, "None");
    match word.to_lowercase().as_str() {
        "eventtime" => "EventTime".into(),
        "processingtime" => "ProcessingTime".into(),
        "none" => "None".into(),
        _ => word,
    }
}
