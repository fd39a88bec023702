//! Python's built-ins and the parts of its standard library that pipeline code uses to make names, lists and configuration.

mod arguments;
mod collections;
mod data;
mod functions;
mod library;
mod paths;
mod strings;

pub use paths::{join_paths, path_part};

use super::interpret::{Eval, Interpreter};
use super::scope::{Scope, ScopeKind};
use super::value::{Arguments, Value};
use crate::functions::signature;
use std::rc::Rc;
use std::sync::Arc;

const BUILTINS: &[&str] = &[
    "abs",
    "all",
    "any",
    "bool",
    "bytes",
    "callable",
    "chr",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "exec",
    "eval",
    "filter",
    "float",
    "format",
    "frozenset",
    "getattr",
    "globals",
    "hasattr",
    "hash",
    "id",
    "input",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "locals",
    "map",
    "max",
    "min",
    "next",
    "object",
    "open",
    "ord",
    "pow",
    "print",
    "property",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "staticmethod",
    "classmethod",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "vars",
    "zip",
    "Exception",
    "ValueError",
    "TypeError",
    "KeyError",
    "IndexError",
    "ImportError",
    "ModuleNotFoundError",
    "RuntimeError",
    "NotImplementedError",
    "AttributeError",
    "FileNotFoundError",
    "OSError",
    "StopIteration",
    "AssertionError",
    "NameError",
    "LookupError",
    "BaseException",
    "NotImplemented",
    "Ellipsis",
    "__import__",
    "complex",
    "bytearray",
];

pub fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}

const STANDARD_MODULES: &[&str] = &[
    "abc",
    "argparse",
    "ast",
    "asyncio",
    "base64",
    "builtins",
    "collections",
    "concurrent",
    "configparser",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "enum",
    "functools",
    "glob",
    "hashlib",
    "importlib",
    "inspect",
    "io",
    "itertools",
    "json",
    "logging",
    "math",
    "operator",
    "os",
    "pathlib",
    "pickle",
    "random",
    "re",
    "requests",
    "shutil",
    "string",
    "subprocess",
    "sys",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "traceback",
    "types",
    "typing",
    "urllib",
    "uuid",
    "warnings",
    "yaml",
    "pyspark",
    "delta",
    "pandas",
    "numpy",
];

/// Modules that the repository is not searched for.
pub fn is_standard_module(name: &str) -> bool {
    let top = name.split('.').next().unwrap_or(name);
    STANDARD_MODULES.contains(&top)
}

/// Names that `from module import *` brings from a library.
pub fn star_names(path: &str) -> &'static [&'static str] {
    match path {
        "dlt" => crate::project::library::MEMBERS,
        "databricks.sdk.runtime" => &["spark", "dbutils"],
        "delta" | "delta.tables" => &["DeltaTable", "DeltaMergeBuilder", "DeltaOptimizeBuilder"],
        _ => signature::module(path).unwrap_or_default(),
    }
}

/// Values of library attributes.
pub fn constant(interpreter: &mut Interpreter<'_>, path: &str) -> Option<Value> {
    library::constant(interpreter, path)
}

pub use arguments::attribute as argument;

/// `globals()`, `locals()`: the namespace as a dict.
pub fn scope_call(path: &str, scope: &Rc<Scope>) -> Option<Value> {
    let scope = match path {
        "builtins.globals" => scope.module(),
        "builtins.locals" | "builtins.vars" => scope.clone(),
        _ => return None,
    };
    let shown = if scope.kind == ScopeKind::Module { scope.module() } else { scope };
    Some(Value::dict(shown.entries().into_iter().map(|(name, value)| (Value::str(name), value)).collect()))
}

/// Calls a built-in or a library function by its path.
pub fn call(interpreter: &mut Interpreter<'_>, path: &Arc<str>, arguments: &Arguments) -> Eval<Option<Value>> {
    match path.strip_prefix("builtins.") {
        Some(name) => functions::call(interpreter, name, arguments),
        None => library::call(interpreter, path, arguments),
    }
}

/// Calls a method of a string, list, dict, set, date, or library object.
pub fn call_method(
    interpreter: &mut Interpreter<'_>,
    receiver: &Value,
    name: &str,
    arguments: &Arguments,
) -> Eval<Option<Value>> {
    match receiver {
        Value::Str(text) => strings::method(interpreter, text, name, arguments),
        Value::List(_) | Value::Tuple(_) | Value::Set(_) => {
            collections::sequence(interpreter, receiver, name, arguments)
        }
        Value::Dict(dict) => collections::dict(interpreter, dict, name, arguments),
        _ => library::method(interpreter, receiver, name, arguments),
    }
}
