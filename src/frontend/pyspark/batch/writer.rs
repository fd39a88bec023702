//! DataFrameWriter and DataFrameWriterV2, and streaming writers whose rows a function writes.

use crate::frontend::pyspark::{self, option_text, reader::table_name};
use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::sql_text;
use crate::frontend::python::value::{Arguments, Value, Writer};
use crate::model::{
    BatchWrite, Expr, Node, Place, Plan, QualifiedName, Read, SinkTarget, Source, Step, StreamQuery, StreamSink,
    StreamWrite, WriteApi, WriteOperation, WriteTarget,
};
use std::rc::Rc;

/// A call on `df.write…` or `df.writeTo(…)…`.
pub fn writer_method(
    interpreter: &mut Interpreter<'_>,
    writer: &Rc<Writer>,
    name: &str,
    arguments: &Arguments,
) -> Eval<Option<Value>> {
    let mut next = writer.as_ref().clone();
    match name {
        "format" | "using" => next.format = arguments.text(0, if name == "using" { "provider" } else { "source" }),
        "mode" => next.output_mode = arguments.text(0, "saveMode"),
        "option" => {
            let key = arguments.text(0, "key").unwrap_or_default().to_lowercase();
            next.options.insert(key, arguments.get(1, "value").map(option_text).unwrap_or_default());
        }
        "tableProperty" => {
            let key = arguments.text(0, "property").unwrap_or_default();
            next.options
                .insert(format!("property:{key}"), arguments.get(1, "value").map(option_text).unwrap_or_default());
        }
        "options" => {
            for (key, value) in &arguments.keywords {
                next.options.insert(key.to_lowercase(), option_text(value));
            }
            if let Some(Value::Dict(dict)) = arguments.positional.first() {
                for (key, value) in &dict.borrow().items {
                    next.options.insert(key.render_string().unwrap_or_default().to_lowercase(), option_text(value));
                }
            }
        }
        "partitionBy" | "partitionedBy" => next.partition_by = transforms(interpreter, &arguments.positional),
        "bucketBy" => {
            let count = match arguments.get(0, "numBuckets") {
                Some(Value::Int(count)) => u32::try_from(*count).unwrap_or_default(),
                _ => 0,
            };
            let columns = arguments.positional.get(1..).unwrap_or_default();
            next.bucket_by = Some((count, pyspark::column_names(interpreter, columns)));
        }
        "sortBy" | "clusterBy" => {}
        _ if next.table.is_some() => {
            let Some(operation) = table_operation(interpreter, name, arguments) else { return Ok(None) };
            let table = next.table.as_deref().map(table_name).unwrap_or_default();
            write(interpreter, &next, WriteTarget::Table(table), WriteApi::WriteTo, operation, arguments);
            return Ok(Some(Value::None));
        }
        "save" | "parquet" | "orc" | "json" | "csv" | "text" | "saveAsTable" | "insertInto" | "jdbc" | "avro"
        | "xml" => {
            save(interpreter, next, name, arguments);
            return Ok(Some(Value::None));
        }
        _ => return Ok(None),
    }
    Ok(Some(Value::Writer(Rc::new(next))))
}

/// Terminal methods of `writeTo`.
fn table_operation(interpreter: &mut Interpreter<'_>, name: &str, arguments: &Arguments) -> Option<WriteOperation> {
    Some(match name {
        "append" => WriteOperation::Append,
        "overwritePartitions" => WriteOperation::OverwritePartitions,
        "overwrite" => {
            let condition = arguments.get(0, "condition").cloned().unwrap_or(Value::None);
            let place = arguments.place.clone();
            WriteOperation::OverwriteWhere(pyspark::column::operand(interpreter, &condition, &place))
        }
        "create" => WriteOperation::Create { replace: false, if_not_exists: false },
        "createOrReplace" => WriteOperation::Create { replace: true, if_not_exists: false },
        // It must be there: told apart by the option.
        "replace" => WriteOperation::Replace,
        _ => return None,
    })
}

fn save(interpreter: &mut Interpreter<'_>, mut writer: Writer, name: &str, arguments: &Arguments) {
    let target_parameter = match name {
        "saveAsTable" => "name",
        "insertInto" => "tableName",
        _ => "path",
    };
    for (key, value) in &arguments.keywords {
        match (key.as_ref(), value) {
            ("mode", Value::Str(text)) => writer.output_mode = Some(text.text.clone()),
            ("format", Value::Str(text)) => writer.format = Some(text.text.clone()),
            ("partitionBy", value) => writer.partition_by = transforms(interpreter, std::slice::from_ref(value)),
            (key, _) if key == target_parameter => {}
            ("overwrite", _) | (_, Value::None) => {}
            (key, value) => {
                writer.options.insert(key.to_lowercase(), option_text(value));
            }
        }
    }
    let given = arguments.given(0, target_parameter).map(option_text);
    let target = given.or_else(|| writer.options.get("path").cloned());
    let api = match name {
        "saveAsTable" => WriteApi::SaveAsTable,
        "insertInto" => WriteApi::InsertInto,
        _ => WriteApi::Save,
    };
    if matches!(name, "parquet" | "orc" | "json" | "csv" | "text" | "jdbc" | "avro" | "xml") {
        writer.format = Some(name.into());
    }
    let mut operation = operation(writer.output_mode.as_deref(), api);
    match (api, arguments.flag(1, "overwrite")) {
        (WriteApi::InsertInto, Some(true)) => operation = WriteOperation::Overwrite,
        (WriteApi::InsertInto, Some(false)) => operation = WriteOperation::Append,
        _ => {}
    }
    let target = match (target, api) {
        (None, _) => WriteTarget::Unknown("a target that is not known".to_owned()),
        (Some(text), WriteApi::Save) => {
            let lakehouse = matches!(writer.format.as_deref(), Some("iceberg" | "delta"));
            if lakehouse && !text.contains('/') {
                WriteTarget::Table(table_name(&text))
            } else {
                WriteTarget::Path(text)
            }
        }
        (Some(text), _) => WriteTarget::Table(table_name(&text)),
    };
    write(interpreter, &writer, target, api, operation, arguments);
}

/// Spark's save modes, in any letter case; `insertInto` appends where no mode is given.
fn operation(mode: Option<&str>, api: WriteApi) -> WriteOperation {
    match mode.map(str::to_lowercase).as_deref() {
        None if api == WriteApi::InsertInto => WriteOperation::Append,
        None | Some("error" | "errorifexists" | "default") => WriteOperation::ErrorIfExists,
        Some("append") => WriteOperation::Append,
        Some("overwrite") => WriteOperation::Overwrite,
        Some("ignore") => WriteOperation::Ignore,
        Some(_) => WriteOperation::Invalid {
            class: "INVALID_SAVE_MODE",
            reason: format!("`{}` is no save mode", mode.unwrap_or_default()),
        },
    }
}

fn write(
    interpreter: &mut Interpreter<'_>,
    writer: &Writer,
    target: WriteTarget,
    api: WriteApi,
    operation: WriteOperation,
    arguments: &Arguments,
) {
    if !interpreter.job.is_on() {
        return;
    }
    let mut write = BatchWrite::new(target, api, operation, arguments.place.clone());
    write.format = writer.format.as_ref().map(|format| format.to_lowercase());
    write.partition_by.clone_from(&writer.partition_by);
    write.bucket_by.clone_from(&writer.bucket_by);
    write.options.clone_from(&writer.options);
    if let Some(condition) = writer.options.get("replacewhere") {
        write.replace_where = Some(sql_text::expression(interpreter, condition, &arguments.place));
    }
    write.query = Some(pyspark::plan_of(interpreter, &writer.frame, &arguments.place));
    interpreter.record_write(write);
}

/// Partition columns and transforms as text: `d`, `days(ts)`, `bucket(2, id)`.
fn transforms(interpreter: &mut Interpreter<'_>, values: &[Value]) -> Vec<String> {
    let mut texts = Vec::new();
    for value in values {
        match value {
            Value::Column(expr) => texts.extend(transform(expr)),
            Value::List(_) | Value::Tuple(_) => {
                let items = interpreter.items_of(value).map(|list| list.items).unwrap_or_default();
                texts.extend(transforms(interpreter, &items));
            }
            other => texts.extend(other.render_string().map(|text| text.to_string())),
        }
    }
    texts
}

fn transform(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Column(column) => Some(column.parts.join(".")),
        Expr::Alias { expr, .. } => transform(expr),
        Expr::Literal { value, .. } => match value {
            crate::model::Value::Int(number) => Some(number.to_string()),
            crate::model::Value::Long(number) => Some(number.to_string()),
            _ => None,
        },
        Expr::Call(call) => {
            let args: Option<Vec<String>> = call.args.iter().map(transform).collect();
            Some(format!("{}({})", call.function, args?.join(", ")))
        }
        _ => None,
    }
}

/// A started streaming query, as a step of the script.
pub fn stream(interpreter: &mut Interpreter<'_>, stream: &StreamWrite, writer: &Writer, place: &Place) {
    if !interpreter.job.is_on() {
        return;
    }
    let query = pyspark::plan_of(interpreter, &writer.frame, place);
    let sink = match (&stream.target, &writer.foreach_batch) {
        (SinkTarget::ForeachBatch(_), Some(function)) => {
            let batch = interpreter.job.next_name();
            let read = Read { place: place.clone(), ..Read::new(Source::Table(QualifiedName::bare(&*batch)), false) };
            let frame = pyspark::frame(interpreter, Plan::at(Node::Read(read), place.clone()));
            let id = interpreter.unknown(
                "batch_id",
                "runtime-data",
                "the batch's number is known at run time",
                place.clone(),
            );
            let arguments = Arguments::of(vec![frame, id], place.clone());
            let function = function.clone();
            let recorded = interpreter.recorded(|this| this.call(&function, arguments).map(drop));
            StreamSink::ForeachBatch { batch, steps: recorded.unwrap_or_default() }
        }
        (SinkTarget::ForeachBatch(unit), None) => {
            interpreter.job.push(Step::Unknown { what: format!("foreachBatch({})", unit.name), place: place.clone() });
            return;
        }
        (target, _) => {
            let (target, api) = match target {
                SinkTarget::Table(name) => (WriteTarget::Table(name.clone()), WriteApi::SaveAsTable),
                SinkTarget::Path { path, .. } => (WriteTarget::Path(path.clone()), WriteApi::Save),
                SinkTarget::Connector { .. } => return,
                other => (WriteTarget::Unknown(format!("{other:?}")), WriteApi::Save),
            };
            let mut write = BatchWrite::new(target, api, WriteOperation::Append, place.clone());
            write.format = writer.format.as_ref().map(|format| format.to_lowercase());
            write.partition_by.clone_from(&stream.partition_by);
            write.options.clone_from(&stream.options);
            StreamSink::Append(Box::new(write))
        }
    };
    let checkpoint = stream.checkpoint.clone();
    let output_mode = stream.output_mode;
    let step = StreamQuery { query, checkpoint, output_mode, sink, place: place.clone() };
    interpreter.job.push(Step::Stream(Box::new(step)));
}

impl super::Recorder {
    /// A name for the table that a batch function's rows are read as.
    fn next_name(&mut self) -> String {
        self.next_batch += 1;
        format!("__batch_{}", self.next_batch)
    }
}
