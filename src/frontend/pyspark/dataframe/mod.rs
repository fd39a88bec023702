//! The DataFrame API.

mod action;
mod combination;
mod projection;
mod rows;

use super::column::{self, named};
use super::derive;
use super::known_schema::{known_columns, known_schema};
use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::value::{Arguments, Frame, Value, Writer};
use crate::model::{ColumnName, Expr, Node, Place};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Members that are methods; any other attribute is a column.
const METHODS: &[&str] = &[
    "agg",
    "alias",
    "apply",
    "cache",
    "checkpoint",
    "coalesce",
    "colRegex",
    "collect",
    "columns",
    "corr",
    "count",
    "createGlobalTempView",
    "createOrReplaceGlobalTempView",
    "createOrReplaceTempView",
    "createTempView",
    "crossJoin",
    "cube",
    "describe",
    "distinct",
    "drop",
    "dropDuplicates",
    "dropDuplicatesWithinWatermark",
    "drop_duplicates",
    "dropna",
    "exceptAll",
    "explain",
    "fillna",
    "filter",
    "first",
    "foreach",
    "foreachPartition",
    "groupBy",
    "groupby",
    "groupingSets",
    "head",
    "hint",
    "intersect",
    "intersectAll",
    "isEmpty",
    "isLocal",
    "join",
    "lateralJoin",
    "limit",
    "localCheckpoint",
    "mapInArrow",
    "mapInPandas",
    "melt",
    "observe",
    "offset",
    "orderBy",
    "persist",
    "printSchema",
    "randomSplit",
    "rdd",
    "registerTempTable",
    "repartition",
    "repartitionByRange",
    "replace",
    "rollup",
    "sample",
    "sampleBy",
    "select",
    "selectExpr",
    "show",
    "sort",
    "sortWithinPartitions",
    "subtract",
    "summary",
    "tail",
    "take",
    "to",
    "toDF",
    "toJSON",
    "toLocalIterator",
    "toPandas",
    "to_pandas_on_spark",
    "transform",
    "transpose",
    "union",
    "unionAll",
    "unionByName",
    "unpersist",
    "unpivot",
    "where",
    "withColumn",
    "withColumnRenamed",
    "withColumns",
    "withColumnsRenamed",
    "withMetadata",
    "withWatermark",
    "writeTo",
    "display",
    "mergeInto",
    "scalar",
    "exists",
    "asTable",
    "pandas_api",
];

pub fn attribute(interpreter: &mut Interpreter<'_>, frame: &Frame, name: &str, place: &Place) -> Eval<Value> {
    let runtime = |interpreter: &mut Interpreter<'_>, what: &str| {
        interpreter.unknown(
            what,
            "runtime-data",
            format!("`{what}` of a DataFrame is only known at run time"),
            place.clone(),
        )
    };
    Ok(match name {
        "columns" => match known_columns(&frame.plan) {
            Some(names) => Value::list(names.into_iter().map(Value::str).collect()),
            None => unknown_columns(interpreter, place),
        },
        "schema" => match known_schema(&frame.plan) {
            Some(schema) => Value::Schema(Rc::new(std::cell::RefCell::new(schema))),
            None => runtime(interpreter, "schema"),
        },
        "dtypes" => runtime(interpreter, "dtypes"),
        "isStreaming" => Value::Bool(frame.plan.is_streaming()),
        "sparkSession" | "sql_ctx" => Value::external("spark"),
        "writeStream" | "write" => Value::Writer(Rc::new(writer(frame, name == "writeStream"))),
        "na" | "stat" => Value::BoundNative { receiver: Box::new(Value::Frame(frame.clone())), name: name.into() },
        "storageLevel" | "rdd" => runtime(interpreter, name),
        _ if METHODS.contains(&name) || is_stateful(name) => {
            Value::BoundNative { receiver: Box::new(Value::Frame(frame.clone())), name: name.into() }
        }
        _ => Value::column(frame_column(frame, name, place)),
    })
}

/// Methods that nothing but a DataFrame has.
const DISTINCTIVE: &[&str] = &[
    "agg",
    "createOrReplaceTempView",
    "crossJoin",
    "distinct",
    "drop_duplicates",
    "dropDuplicates",
    "dropDuplicatesWithinWatermark",
    "dropna",
    "exceptAll",
    "fillna",
    "filter",
    "groupBy",
    "groupby",
    "limit",
    "orderBy",
    "repartition",
    "select",
    "selectExpr",
    "unionAll",
    "unionByName",
    "unpivot",
    "where",
    "withColumn",
    "withColumnRenamed",
    "withColumns",
    "withColumnsRenamed",
    "withWatermark",
    "writeStream",
];

/// A value whose kind is not known is used as a DataFrame: by a method that only DataFrames have, or it was made of DataFrames.
pub fn suggests_frame(name: &str, made_of_frames: bool) -> bool {
    DISTINCTIVE.contains(&name) || (made_of_frames && METHODS.contains(&name))
}

fn is_stateful(name: &str) -> bool {
    matches!(name, "applyInPandas" | "applyInPandasWithState" | "transformWithState" | "transformWithStateInPandas")
}

fn writer(frame: &Frame, streaming: bool) -> Writer {
    Writer {
        streaming,
        frame: Value::Frame(frame.clone()),
        format: None,
        output_mode: None,
        query_name: None,
        trigger: None,
        partition_by: Vec::new(),
        options: BTreeMap::new(),
        foreach_batch: None,
        table: None,
        bucket_by: None,
    }
}

/// The symbol that stands for all columns of a DataFrame.
pub const COLUMNS: &str = "columns";

fn unknown_columns(interpreter: &mut Interpreter<'_>, place: &Place) -> Value {
    let hint = Some("give the source's schema under `sources:` in pipelint.yaml");
    let reason = "the columns of this DataFrame are only known at run time";
    interpreter.unknown_with_hint(COLUMNS, "unknown-columns", reason, hint, place.clone())
}

/// `df["x"]`, `df.x`.
fn frame_column(frame: &Frame, name: &str, place: &Place) -> Expr {
    match named(name, place) {
        Expr::Column(column) => Expr::Column(ColumnName { frame: frame.plan.frame, ..column }),
        other => other,
    }
}

impl Interpreter<'_> {
    /// `df["x"]`, `df[["a", "b"]]`, `df[condition]`.
    pub fn frame_item(&mut self, receiver: &Value, index: &Value, place: &Place) -> Eval<Value> {
        let Value::Frame(frame) = receiver else { return Ok(Value::None) };
        match index {
            Value::Column(condition) => {
                let condition = condition.as_ref().clone();
                derive(self, frame, place, |input| Node::Filter { condition, input })
            }
            Value::List(_) | Value::Tuple(_) => {
                let list = column::columns(self, std::slice::from_ref(index), place);
                derive(self, frame, place, |input| Node::Project { list, input })
            }
            Value::Int(at) => {
                let name = known_columns(&frame.plan).and_then(|names| names.get(usize::try_from(*at).ok()?).cloned());
                Ok(match name {
                    Some(name) => Value::column(frame_column(frame, &name, place)),
                    None => unknown_columns(self, place),
                })
            }
            other => {
                let name = other.render_string().unwrap_or_else(|| "{column}".into());
                Ok(Value::column(frame_column(frame, &name, place)))
            }
        }
    }
}

pub fn method(
    interpreter: &mut Interpreter<'_>,
    frame: &Frame,
    name: &str,
    arguments: &Arguments,
) -> Eval<Option<Value>> {
    for family in [projection::method, rows::method, combination::method, action::method] {
        if let Some(value) = family(interpreter, frame, name, arguments)? {
            return Ok(Some(value));
        }
    }
    Ok(None)
}
