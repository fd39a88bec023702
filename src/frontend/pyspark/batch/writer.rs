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

/// How options that are none are kept: no option of Spark has a space.
const SORTED: &str = "sort by";
const CLUSTERED: &str = "cluster by";

/// A call on `df.write…` or `df.writeTo(…)…`.
pub fn writer_method(
    interpreter: &mut Interpreter<'_>,
    writer: &Rc<Writer>,
    name: &str,
    arguments: &Arguments,
) -> Eval<Option<Value>> {
    if let Some(value) = each_choice(interpreter, writer, name, arguments)? {
        return Ok(Some(value));
    }
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
        "sortBy" | "clusterBy" => {
            let columns = pyspark::column_names(interpreter, &arguments.positional).join(",");
            next.options.insert(if name == "sortBy" { SORTED } else { CLUSTERED }.to_owned(), columns);
        }
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

/// A call with an argument that depends on an unknown condition: one call for each of its values.
fn each_choice(
    interpreter: &mut Interpreter<'_>,
    writer: &Rc<Writer>,
    name: &str,
    arguments: &Arguments,
) -> Eval<Option<Value>> {
    let is_choice = |value: &Value| matches!(value, Value::Choice(_));
    let position = arguments.positional.iter().position(is_choice);
    let keyword = arguments.keywords.iter().position(|(_, value)| is_choice(value));
    let value = match (position, keyword) {
        (Some(at), _) => arguments.positional.get(at),
        (None, Some(at)) => arguments.keywords.get(at).map(|(_, value)| value),
        (None, None) => None,
    };
    let Some(Value::Choice(choice)) = value.cloned() else { return Ok(None) };
    let call = |interpreter: &mut Interpreter<'_>, option: &Value| {
        let mut one = arguments.clone();
        if let Some(slot) = position.and_then(|at| one.positional.get_mut(at)) {
            *slot = option.clone();
        } else if let Some((_, slot)) = keyword.and_then(|at| one.keywords.get_mut(at)) {
            *slot = option.clone();
        }
        interpreter.call_method(&Value::Writer(writer.clone()), name, one)
    };
    interpreter.lift(&choice, call).map(Some)
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
    let unknown_mode = writer.output_mode.as_ref().filter(|mode| mode.contains('{')).map(ToString::to_string);
    let flag = arguments.given(1, "overwrite").filter(|value| api == WriteApi::InsertInto && value.truth().is_none());
    if let Some(what) = unknown_mode.or_else(|| flag.map(|flag| interpreter.short(flag))) {
        let what = format!("a write whose mode is only known at run time: {what}");
        interpreter.job.push(Step::Unknown { what, place: arguments.place.clone() });
        return;
    }
    let mut operation = operation(writer.output_mode.as_deref(), api);
    match (api, arguments.flag(1, "overwrite")) {
        (WriteApi::InsertInto, Some(true)) => operation = WriteOperation::Overwrite,
        (WriteApi::InsertInto, Some(false)) => operation = WriteOperation::Append,
        _ => {}
    }
    if let Some(refusal) = refused(&writer, api, interpreter.pipeline.spark_version) {
        operation = refusal;
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

/// What `DataFrameWriter` refuses, whatever the table is (`validatePartitioning`, `assertNotBucketed` and their like).
fn refused(writer: &Writer, api: WriteApi, version: (u32, u32)) -> Option<WriteOperation> {
    let (sorted, clustered) = (writer.options.contains_key(SORTED), writer.options.contains_key(CLUSTERED));
    let bucketed = writer.bucket_by.is_some();
    let partitioned = !writer.partition_by.is_empty();
    let (class, reason) = match api {
        _ if clustered && partitioned => {
            ("SPECIFY_CLUSTER_BY_WITH_PARTITIONED_BY_IS_NOT_ALLOWED", "clusterBy and partitionBy exclude each other")
        }
        _ if clustered && bucketed => {
            ("SPECIFY_CLUSTER_BY_WITH_BUCKETING_IS_NOT_ALLOWED", "clusterBy and bucketBy exclude each other")
        }
        WriteApi::InsertInto if partitioned && version < (4, 0) => {
            ("_LEGACY_ERROR_TEMP_1309", "insertInto takes no partitionBy")
        }
        WriteApi::InsertInto if partitioned => {
            ("PARTITION_BY_NOT_ALLOWED_WITH_INSERT_INTO", "insertInto takes no partitionBy")
        }
        WriteApi::SaveAsTable if sorted && !bucketed => ("SORT_BY_WITHOUT_BUCKETING", "sortBy goes with bucketBy"),
        WriteApi::Save | WriteApi::InsertInto if bucketed && sorted => {
            ("_LEGACY_ERROR_TEMP_1313", "only saveAsTable takes bucketBy and sortBy")
        }
        WriteApi::Save | WriteApi::InsertInto if bucketed => {
            ("_LEGACY_ERROR_TEMP_1312", "only saveAsTable takes bucketBy")
        }
        WriteApi::Save | WriteApi::InsertInto if sorted => {
            ("SORT_BY_WITHOUT_BUCKETING", "sortBy goes with bucketBy, and with saveAsTable")
        }
        WriteApi::Save | WriteApi::InsertInto if clustered => {
            ("CLUSTERING_NOT_SUPPORTED", "only saveAsTable takes clusterBy")
        }
        _ => return None,
    };
    Some(WriteOperation::Invalid { class, reason: reason.to_owned() })
}

/// Spark's save modes, in any letter case; of `insertInto` only `overwrite` has a meaning.
fn operation(mode: Option<&str>, api: WriteApi) -> WriteOperation {
    match mode.map(str::to_lowercase).as_deref() {
        None | Some("error" | "errorifexists" | "default" | "ignore") if api == WriteApi::InsertInto => {
            WriteOperation::Append
        }
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
            let batch = interpreter.job.next_name("batch");
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
    /// A name for a relation that only the script knows.
    pub fn next_name(&mut self, kind: &str) -> String {
        self.next_relation += 1;
        format!("__{kind}_{}", self.next_relation)
    }
}
