//! `spark.read` and `spark.readStream`: options, formats, and the read they end in.

use super::{option_text, types};
use crate::frontend::python::interpret::Interpreter;
use crate::frontend::python::value::{Arguments, Reader, Value};
use crate::model::{Node, Place, Plan, QualifiedName, Read, Source};
use std::rc::Rc;

const FILE_FORMATS: &[&str] =
    &["json", "csv", "parquet", "orc", "text", "avro", "xml", "binaryfile", "delta", "iceberg", "hudi", "excel"];

pub fn method(interpreter: &mut Interpreter<'_>, reader: &Reader, name: &str, arguments: &Arguments) -> Option<Value> {
    let mut reader = reader.clone();
    match name {
        "format" => reader.format = arguments.text(0, "source"),
        "option" => {
            let key = arguments.text(0, "key").unwrap_or_default().to_lowercase();
            let value = arguments.get(1, "value").map(option_text).unwrap_or_default();
            reader.options.insert(key, value);
        }
        "options" => add_options(&mut reader, arguments),
        "schema" => {
            let given = arguments.get(0, "schema").cloned().unwrap_or(Value::None);
            reader.schema = Some(types::schema(interpreter, &given, &arguments.place));
        }
        "name" => reader.name = arguments.text(0, "name").map(|name| name.to_string()),
        "table" => {
            let table = super::given_name(interpreter, arguments.get(0, "tableName").unwrap_or(&Value::None));
            return Some(table_read(interpreter, &reader, &table, &arguments.place));
        }
        "load" => {
            if let Some(format) = arguments.text(1, "format") {
                reader.format = Some(format);
            }
            load_options(interpreter, &mut reader, arguments);
            let path = arguments.given(0, "path").map(path_text);
            return Some(load(interpreter, &reader, path, &arguments.place));
        }
        "json" | "csv" | "parquet" | "orc" | "text" | "textFile" | "xml" => {
            reader.format = Some(if name == "textFile" { "text".into() } else { name.into() });
            load_options(interpreter, &mut reader, arguments);
            let path = arguments.given(0, "path").map(path_text);
            return Some(load(interpreter, &reader, path, &arguments.place));
        }
        "jdbc" => {
            reader.format = Some("jdbc".into());
            for (index, key) in ["url", "table"].into_iter().enumerate() {
                if let Some(text) = arguments.text(index, key) {
                    let key = if key == "table" { "dbtable" } else { key };
                    reader.options.insert(key.to_owned(), text.to_string());
                }
            }
            return Some(load(interpreter, &reader, None, &arguments.place));
        }
        "changes" => return None,
        _ => return None,
    }
    Some(Value::Reader(Rc::new(reader)))
}

fn add_options(reader: &mut Reader, arguments: &Arguments) {
    for (key, value) in &arguments.keywords {
        reader.options.insert(key.to_lowercase(), option_text(value));
    }
    for value in &arguments.positional {
        if let Value::Dict(dict) = value {
            for (key, value) in &dict.borrow().items {
                let key = key.render_string().unwrap_or_default().to_lowercase();
                reader.options.insert(key, option_text(value));
            }
        }
    }
    if arguments.open {
        reader.options.insert("{options}".to_owned(), "{options}".to_owned());
    }
}

/// Keyword arguments of `load`, `json` and the like.
fn load_options(interpreter: &mut Interpreter<'_>, reader: &mut Reader, arguments: &Arguments) {
    for (key, value) in &arguments.keywords {
        match (key.as_ref(), value) {
            ("path" | "format", _) | (_, Value::None) => {}
            ("schema", value) => reader.schema = Some(types::schema(interpreter, value, &arguments.place)),
            _ => {
                reader.options.insert(key.to_lowercase(), option_text(value));
            }
        }
    }
}

fn path_text(value: &Value) -> String {
    match value {
        Value::List(list) => list.borrow().items.iter().map(path_text).collect::<Vec<_>>().join(","),
        Value::Tuple(items) => items.iter().map(path_text).collect::<Vec<_>>().join(","),
        other => option_text(other),
    }
}

/// A read of a table by name; `LIVE.` is the pipeline's own schema.
pub fn table_read(interpreter: &mut Interpreter<'_>, reader: &Reader, table: &str, place: &Place) -> Value {
    if let Some(view) = interpreter.views.get(&table.to_lowercase()).cloned() {
        return super::frame(interpreter, view.as_ref().clone());
    }
    // `DeltaDataSource.CDC_ENABLED_KEY` and its legacy name.
    let feed = ["readchangefeed", "readchangedata"].iter().find_map(|option| reader.options.get(*option));
    let source = if feed.is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        Source::ChangeFeed(table_name(table))
    } else {
        Source::Table(table_name(table))
    };
    finish(interpreter, reader, source, place)
}

pub fn table_name(text: &str) -> QualifiedName {
    let name = QualifiedName::parse(text);
    match &name.schema {
        Some(schema) if name.catalog.is_none() && schema.eq_ignore_ascii_case("live") => {
            QualifiedName::bare(name.name.clone())
        }
        _ => name,
    }
}

fn load(interpreter: &mut Interpreter<'_>, reader: &Reader, path: Option<String>, place: &Place) -> Value {
    let given = reader.format.as_deref().unwrap_or(&interpreter.pipeline.table_format).to_lowercase();
    let path = path.or_else(|| reader.options.get("path").cloned());
    let source = if given == "cloudfiles" {
        let format = reader.options.get("cloudfiles.format").cloned().unwrap_or_default().to_lowercase();
        Source::Files { format, path: path.unwrap_or_default(), auto_loader: true }
    } else if FILE_FORMATS.contains(&given.as_str()) {
        match path {
            // `format("delta").load("catalog.schema.table")` is a path all the same: Spark says so.
            Some(path) => Source::Files { format: given, path, auto_loader: false },
            None => Source::Connector { format: given },
        }
    } else {
        let mut reader = reader.clone();
        if let Some(path) = path {
            reader.options.insert("path".to_owned(), path);
        }
        return finish(interpreter, &reader, Source::Connector { format: given }, place);
    };
    finish(interpreter, reader, source, place)
}

fn finish(interpreter: &mut Interpreter<'_>, reader: &Reader, source: Source, place: &Place) -> Value {
    let whole = match (reader.place.span(), place.span()) {
        (Some(start), Some(end)) if start.path == end.path && start.cell == end.cell => {
            let mut span = start.clone();
            span.end_line = end.end_line;
            span.end_column = end.end_column;
            Place::at(span)
        }
        _ => place.clone(),
    };
    let read = Read {
        options: reader.options.clone(),
        schema: reader.schema.clone(),
        name: reader.name.clone(),
        place: whole.clone(),
        ..Read::new(source, reader.streaming)
    };
    super::frame(interpreter, Plan::at(Node::Read(read), whole))
}
