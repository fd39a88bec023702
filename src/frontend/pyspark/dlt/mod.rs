//! The pipeline library, `dlt` and `pyspark.pipelines`: what its decorators and functions register.

mod cdc;
mod expectations;
mod gaps;
mod jobs;
mod registration;
mod replace;

pub use registration::{Registry, finish, text_map};

use crate::frontend::pyspark::{self, reader};
use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::value::{Arguments, Reader, Value};
use crate::project::library::member;
use std::sync::Arc;

/// The library under one name, however it is imported.
const LIBRARY: &str = "dlt";

/// The path is the library or something of it.
pub fn is_library(path: &str) -> bool {
    member(path).is_some()
}

/// One path for the same thing under `dlt` and `pyspark.pipelines`.
pub fn canonical(path: &str) -> Arc<str> {
    match member(path) {
        Some("") | None => LIBRARY.into(),
        Some(rest) => format!("{LIBRARY}.{rest}").into(),
    }
}

/// Calls a function of the library.
pub fn call(interpreter: &mut Interpreter<'_>, path: &str, arguments: &Arguments) -> Eval<Option<Value>> {
    let Some(name) = member(path) else { return Ok(None) };
    let place = &arguments.place;
    Ok(Some(match name {
        "read" | "read_stream" | "readStream" => {
            let table = pyspark::given_name(interpreter, arguments.get(0, "name").unwrap_or(&Value::None));
            let reader = Reader { streaming: name != "read", place: place.clone(), ..Reader::default() };
            reader::table_read(interpreter, &reader, &table, place)
        }
        "table" | "create_table" | "materialized_view" | "view" | "create_view" | "temporary_view" | "append_flow"
        | "foreach_batch_sink" | "sink" | "on_event_hook" | "replace_flow" | "update_flow" => {
            return registration::decorator(interpreter, name, arguments).map(Some);
        }
        "create_streaming_table" | "create_target_table" | "create_streaming_live_table" => {
            registration::create_streaming_table(interpreter, arguments);
            Value::None
        }
        "create_sink" => {
            registration::create_sink(interpreter, arguments);
            Value::None
        }
        "create_auto_cdc_flow" | "apply_changes" => {
            cdc::auto_cdc_flow(interpreter, arguments, false);
            Value::None
        }
        "create_auto_cdc_from_snapshot_flow" | "apply_changes_from_snapshot" => {
            cdc::auto_cdc_flow(interpreter, arguments, true);
            Value::None
        }
        "expect" | "expect_or_drop" | "expect_or_fail" | "expect_all" | "expect_all_or_drop" | "expect_all_or_fail" => {
            expectations::decorator(interpreter, name, arguments)
        }
        _ => {
            let reason = format!("`{name}` of the pipeline library is not known");
            interpreter.unknown_call(path, "unknown-call", &reason, arguments)
        }
    }))
}
