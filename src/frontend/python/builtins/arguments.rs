//! `argparse`: what a script's command line gives where nobody says otherwise.
//!
//! An argument with a default has that value; a flag, and an argument that must be given, is only known at run time.

use crate::frontend::python::interpret::Interpreter;
use crate::frontend::python::value::{Arguments, Value};
use crate::model::Place;
use std::sync::Arc;

pub const LIBRARY: &str = "argparse.";
const PARSER: &str = "argparse.ArgumentParser";
const NAMESPACE: &str = "argparse.Namespace";

pub fn call(interpreter: &mut Interpreter<'_>, path: &str, arguments: &Arguments) -> Option<Value> {
    let method = path.strip_prefix(PARSER)?;
    Some(match method {
        ""
        | ".add_argument_group"
        | ".add_mutually_exclusive_group"
        | ".add_subparsers"
        | ".add_parser"
        | ".add_subparsers.add_parser" => Value::external(PARSER),
        ".add_argument" => {
            add(interpreter, arguments);
            Value::None
        }
        ".set_defaults" => {
            for (name, value) in &arguments.keywords {
                interpreter.command_line.insert(name.clone(), value.clone());
            }
            Value::None
        }
        ".parse_args" => Value::external(NAMESPACE),
        ".parse_known_args" => Value::Tuple([Value::external(NAMESPACE), Value::list(Vec::new())].into()),
        _ => return None,
    })
}

fn add(interpreter: &mut Interpreter<'_>, arguments: &Arguments) {
    let names: Vec<Arc<str>> = arguments.positional.iter().filter_map(Value::render_string).collect();
    let long = names.iter().find(|name| name.starts_with("--")).or(names.first());
    let own = long.map(|name| name.trim_start_matches('-').replace('-', "_"));
    let Some(name) = arguments.text(usize::MAX, "dest").or_else(|| own.map(Arc::from)) else { return };
    let value = match arguments.keyword("default") {
        Some(Value::Bool(_) | Value::None) | None => given(interpreter, &name, &arguments.place),
        Some(default) => default.clone(),
    };
    interpreter.command_line.insert(name, value);
}

fn given(interpreter: &mut Interpreter<'_>, name: &str, place: &Place) -> Value {
    let reason = format!("the argument `{name}` is given when the script is started");
    interpreter.unknown(&format!("args.{name}"), "unknown-configuration", reason, place.clone())
}

/// `args.name`.
pub fn attribute(interpreter: &mut Interpreter<'_>, path: &str, name: &str, place: &Place) -> Option<Value> {
    if path != NAMESPACE {
        return None;
    }
    let known = interpreter.command_line.get(name).cloned();
    Some(known.unwrap_or_else(|| given(interpreter, name, place)))
}
