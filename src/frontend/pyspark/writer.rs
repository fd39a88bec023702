//! `df.writeStream`: plain Structured Streaming queries. A batch `df.write` goes to `batch`.

use super::{column_names, option_text};
use crate::frontend::pyspark::batch;
use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::value::{Arguments, Value, Writer};
use crate::model::{CodeUnit, OutputMode, SinkTarget, StreamWrite};
use std::rc::Rc;

pub fn method(
    interpreter: &mut Interpreter<'_>,
    writer: &Rc<Writer>,
    name: &str,
    arguments: &Arguments,
) -> Eval<Option<Value>> {
    if !writer.streaming {
        return batch::writer_method(interpreter, writer, name, arguments);
    }
    let mut next = writer.as_ref().clone();
    match name {
        "format" => next.format = arguments.text(0, "source"),
        "outputMode" => next.output_mode = arguments.text(0, "outputMode"),
        "queryName" => next.query_name = arguments.text(0, "queryName"),
        "option" => {
            let key = arguments.text(0, "key").unwrap_or_default().to_lowercase();
            next.options.insert(key, arguments.get(1, "value").map(option_text).unwrap_or_default());
        }
        "options" => {
            add_options(&mut next, &arguments.keywords);
            if let Some(Value::Dict(dict)) = arguments.positional.first() {
                let pairs: Vec<_> = dict.borrow().items.clone();
                for (key, value) in pairs {
                    let key = key.render_string().unwrap_or_default().to_lowercase();
                    next.options.insert(key, option_text(&value));
                }
            }
        }
        "partitionBy" | "clusterBy" => next.partition_by = column_names(interpreter, &arguments.positional),
        "trigger" => next.trigger = trigger(arguments),
        "foreachBatch" | "foreach" => next.foreach_batch = arguments.positional.first().cloned(),
        "start" | "toTable" | "table" => {
            start_options(&mut next, arguments);
            let target = arguments.given(0, if name == "start" { "path" } else { "tableName" }).map(option_text);
            return Ok(Some(start(interpreter, next, name != "start", target, arguments)));
        }
        _ => return Ok(None),
    }
    Ok(Some(Value::Writer(Rc::new(next))))
}

fn add_options(writer: &mut Writer, keywords: &[(std::sync::Arc<str>, Value)]) {
    for (key, value) in keywords {
        writer.options.insert(key.to_lowercase(), option_text(value));
    }
}

/// Keyword arguments of `start` and `toTable`.
fn start_options(writer: &mut Writer, arguments: &Arguments) {
    for (key, value) in &arguments.keywords {
        match (key.as_ref(), value) {
            ("path" | "tableName", _) | (_, Value::None) => {}
            ("format", value) => writer.format = value.render_string(),
            ("outputMode", value) => writer.output_mode = value.render_string(),
            ("queryName", value) => writer.query_name = value.render_string(),
            ("partitionBy", Value::Str(text)) => writer.partition_by = vec![text.text.to_string()],
            ("partitionBy", Value::List(list)) => {
                writer.partition_by = list.borrow().items.iter().map(option_text).collect();
            }
            _ => add_options(writer, std::slice::from_ref(&(key.clone(), value.clone()))),
        }
    }
}

fn trigger(arguments: &Arguments) -> Option<std::sync::Arc<str>> {
    let (key, value) = arguments.keywords.first()?;
    Some(match value {
        Value::Bool(true) => key.clone(),
        other => format!("{key} {}", option_text(other)).into(),
    })
}

fn start(
    interpreter: &mut Interpreter<'_>,
    writer: Writer,
    to_table: bool,
    target: Option<String>,
    arguments: &Arguments,
) -> Value {
    let format = writer.format.as_deref().unwrap_or(&interpreter.pipeline.table_format).to_lowercase();
    let path = target.or_else(|| writer.options.get("path").cloned());
    let sink = match (&writer.foreach_batch, to_table, path) {
        (Some(function), ..) => SinkTarget::ForeachBatch(foreach_batch(interpreter, function, arguments)),
        (None, true, Some(table)) => SinkTarget::Table(super::reader::table_name(&table)),
        (None, false, Some(path)) => SinkTarget::Path { format, path },
        (None, true, None) => SinkTarget::Unknown("a table whose name is not known".to_owned()),
        (None, false, None) => SinkTarget::Connector { format },
    };
    let output_mode = match writer.output_mode.as_deref().map(str::to_lowercase).as_deref() {
        Some("update") => OutputMode::Update,
        Some("complete") => OutputMode::Complete,
        _ => OutputMode::Append,
    };
    let own = writer.options.get("checkpointlocation").cloned();
    let checkpoint = own.or_else(|| default_checkpoint(interpreter, &writer));
    let write = StreamWrite {
        target: sink,
        output_mode,
        checkpoint,
        query_name: writer.query_name.as_ref().map(ToString::to_string),
        trigger: writer.trigger.as_ref().map(ToString::to_string),
        partition_by: writer.partition_by.clone(),
        options: writer.options.clone(),
    };
    batch::stream(interpreter, &write, &writer, &arguments.place);
    interpreter.register_stream_job(write, &writer, &arguments.place);
    Value::external("pyspark.sql.streaming.query")
}

/// The session's folder holds one for each query of a name; a query without a name begins anew at every start.
fn default_checkpoint(interpreter: &Interpreter<'_>, writer: &Writer) -> Option<String> {
    let key = "spark.sql.streaming.checkpointLocation";
    let (_, folder) = interpreter.conf.iter().find(|(name, _)| name.eq_ignore_ascii_case(key))?;
    Some(format!("{}/{}", folder.trim_end_matches('/'), writer.query_name.as_ref()?))
}

fn foreach_batch(interpreter: &mut Interpreter<'_>, function: &Value, arguments: &Arguments) -> CodeUnit {
    let (content, code) = interpreter.code_of(function);
    match code.into_iter().next() {
        Some(unit) => CodeUnit { content, ..unit },
        None => CodeUnit { name: interpreter.short(function).into(), content, place: arguments.place.clone() },
    }
}
