//! JSON and YAML of the repository as values.

use crate::frontend::python::interpret::Interpreter;
use crate::frontend::python::value::Value;

/// Text, or an opened file, as JSON or YAML.
pub fn parse_data(interpreter: &mut Interpreter<'_>, path: &str, value: &Value) -> Option<Value> {
    let text = file_text(value)?;
    interpreter.spend(text.len() as u64 / 16).ok()?;
    if path.starts_with("json") {
        let json: serde_json::Value = serde_json::from_str(&text).ok()?;
        return Some(from_json(&json, 64));
    }
    let yaml: serde_yaml::Value = serde_yaml::from_str(&text).ok()?;
    Some(from_yaml(&yaml, 64))
}

pub fn file_text(value: &Value) -> Option<String> {
    match value {
        Value::Partial(partial) if matches!(&partial.function, Value::External(path) if path.as_ref() == "io.file") => {
            partial.arguments.positional.first().and_then(Value::as_str).map(str::to_owned)
        }
        other => other.as_str().map(str::to_owned),
    }
}

fn from_json(json: &serde_json::Value, depth: u32) -> Value {
    let Some(depth) = depth.checked_sub(1) else { return Value::None };
    match json {
        serde_json::Value::Null => Value::None,
        serde_json::Value::Bool(flag) => Value::Bool(*flag),
        serde_json::Value::Number(number) => {
            number.as_i64().map_or_else(|| Value::Float(number.as_f64().unwrap_or(0.0)), Value::Int)
        }
        serde_json::Value::String(text) => Value::str(text.as_str()),
        serde_json::Value::Array(items) => Value::list(items.iter().map(|item| from_json(item, depth)).collect()),
        serde_json::Value::Object(map) => {
            Value::dict(map.iter().map(|(key, value)| (Value::str(key.as_str()), from_json(value, depth))).collect())
        }
    }
}

fn from_yaml(yaml: &serde_yaml::Value, depth: u32) -> Value {
    let Some(depth) = depth.checked_sub(1) else { return Value::None };
    match yaml {
        serde_yaml::Value::Null => Value::None,
        serde_yaml::Value::Bool(flag) => Value::Bool(*flag),
        serde_yaml::Value::Number(number) => {
            number.as_i64().map_or_else(|| Value::Float(number.as_f64().unwrap_or(0.0)), Value::Int)
        }
        serde_yaml::Value::String(text) => Value::str(text.as_str()),
        serde_yaml::Value::Sequence(items) => Value::list(items.iter().map(|item| from_yaml(item, depth)).collect()),
        serde_yaml::Value::Mapping(map) => {
            Value::dict(map.iter().map(|(key, value)| (from_yaml(key, depth), from_yaml(value, depth))).collect())
        }
        serde_yaml::Value::Tagged(tagged) => from_yaml(&tagged.value, depth),
    }
}
