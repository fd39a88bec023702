//! The DataFrame API.

use super::column::{self, alias, named, operand, sort_key};
use super::known_schema::{known_columns, known_schema};
use super::{column_names, derive, na, plan_of, types};
use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::sql_text;
use crate::frontend::python::value::{Arguments, Frame, Grouped, Value, Writer};
use crate::model::{
    ColumnName, DataType, Expr, GroupingSets, JoinKind, JoinOn, Node, Place, Schema, SetOperation, SortKey,
    Value as Constant,
};
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
    "crossJoin",
    "dropDuplicates",
    "dropDuplicatesWithinWatermark",
    "groupBy",
    "selectExpr",
    "unionByName",
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

fn unknown_columns(interpreter: &mut Interpreter<'_>, place: &Place) -> Value {
    let hint = Some("give the source's schema under `sources:` in pipelint.yaml");
    let reason = "the columns of this DataFrame are only known at run time";
    interpreter.unknown_with_hint("columns", "unknown-columns", reason, hint, place.clone())
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
    let place = &arguments.place;
    let positional = &arguments.positional;
    let value = match name {
        "select" => {
            let list = column::columns(interpreter, positional, place);
            derive(interpreter, frame, place, |input| Node::Project { list, input })?
        }
        "selectExpr" => {
            let texts = column_names(interpreter, positional);
            let list = texts.iter().map(|text| sql_text::expression(interpreter, text, place)).collect();
            derive(interpreter, frame, place, |input| Node::Project { list, input })?
        }
        "filter" | "where" => {
            let condition = match arguments.get(0, "condition") {
                Some(value @ (Value::Str(_) | Value::Unknown(_))) => match value {
                    Value::Str(text) => sql_text::expression(interpreter, &text.text.clone(), place),
                    other => operand(interpreter, other, place),
                },
                Some(other) => operand(interpreter, &other.clone(), place),
                None => return Ok(None),
            };
            derive(interpreter, frame, place, |input| Node::Filter { condition, input })?
        }
        "withColumn" | "withColumnRenamed" | "drop"
            if interpreter.in_template()
                && positional.iter().any(|value| value.as_str().is_none() && value.render_string().is_some()) =>
        {
            return with_unknown(interpreter, frame, name, arguments).map(Some);
        }
        "withColumn" => {
            let name = arguments.text(0, "colName").unwrap_or_else(|| "{column}".into());
            let value = arguments.get(1, "col").cloned().unwrap_or(Value::None);
            let expr = operand(interpreter, &value, place);
            let columns = vec![alias(expr, &name, place)];
            derive(interpreter, frame, place, |input| Node::WithColumns { columns, input })?
        }
        "withColumns" => {
            let Some(Value::Dict(dict)) = arguments.get(0, "colsMap").cloned() else {
                return with_unknown(interpreter, frame, "withColumns", arguments).map(Some);
            };
            let items = dict.borrow().items.clone();
            let mut columns = Vec::new();
            for (key, value) in items {
                let name = key.render_string().unwrap_or_else(|| "{column}".into());
                let expr = operand(interpreter, &value, place);
                columns.push(alias(expr, &name, place));
            }
            derive(interpreter, frame, place, |input| Node::WithColumns { columns, input })?
        }
        "withColumnRenamed" => {
            let old = arguments.text(0, "existing").unwrap_or_default().to_string();
            let new = arguments.text(1, "new").unwrap_or_default().to_string();
            derive(interpreter, frame, place, |input| Node::RenameColumns { renames: vec![(old, new)], input })?
        }
        "withColumnsRenamed" => {
            let Some(Value::Dict(dict)) = arguments.get(0, "colsMap").cloned() else {
                return with_unknown(interpreter, frame, name, arguments).map(Some);
            };
            let text = |value: &Value| value.render_string().unwrap_or_default().to_string();
            let renames = dict.borrow().items.iter().map(|(old, new)| (text(old), text(new))).collect();
            derive(interpreter, frame, place, |input| Node::RenameColumns { renames, input })?
        }
        "drop" => {
            let columns = column::columns(interpreter, positional, place);
            derive(interpreter, frame, place, |input| Node::DropColumns { columns, input })?
        }
        "toDF" => {
            let open = arguments.open || positional.iter().any(|v| interpreter.items_of(v).is_some_and(|l| l.open));
            let names = column_names(interpreter, positional);
            if open || positional.iter().any(Value::is_unknown) {
                return with_unknown(interpreter, frame, name, arguments).map(Some);
            }
            derive(interpreter, frame, place, |input| Node::ToDf { names, input })?
        }
        "join" | "crossJoin" | "lateralJoin" => join(interpreter, frame, name, arguments)?,
        "union" | "unionAll" | "unionByName" => {
            let other = plan_of(interpreter, arguments.get(0, "other").unwrap_or(&Value::None), place);
            let by_name = name == "unionByName";
            let allow_missing = arguments.flag(1, "allowMissingColumns").unwrap_or(false);
            derive(interpreter, frame, place, |input| Node::Union {
                inputs: vec![*input, other],
                by_name,
                allow_missing,
            })?
        }
        "intersect" | "intersectAll" | "exceptAll" | "subtract" => {
            let right = Box::new(plan_of(interpreter, arguments.get(0, "other").unwrap_or(&Value::None), place));
            let operation = if name.starts_with("intersect") { SetOperation::Intersect } else { SetOperation::Except };
            let all = name.ends_with("All");
            derive(interpreter, frame, place, |left| Node::SetOperation { operation, all, left, right })?
        }
        "distinct" => derive(interpreter, frame, place, |input| Node::Distinct { input })?,
        "dropDuplicates" | "drop_duplicates" | "dropDuplicatesWithinWatermark" => {
            let given = arguments.given(0, "subset").is_some();
            let keys = given.then(|| column::columns(interpreter, positional_or(arguments, "subset"), place));
            let within_watermark = name == "dropDuplicatesWithinWatermark";
            derive(interpreter, frame, place, |input| Node::Deduplicate { keys, within_watermark, input })?
        }
        "withWatermark" => {
            let event_time = column::column(interpreter, arguments.get(0, "eventTime").unwrap_or(&Value::None), place);
            let delay = match arguments.text(1, "delayThreshold") {
                Some(text) => delay_literal(&text),
                None => Expr::null(),
            };
            derive(interpreter, frame, place, |input| Node::Watermark { event_time, delay, input })?
        }
        "groupBy" | "groupby" | "rollup" | "cube" => {
            let groupings = column::columns(interpreter, positional, place);
            let sets = match name {
                "rollup" => GroupingSets::Rollup,
                "cube" => GroupingSets::Cube,
                _ => GroupingSets::Simple,
            };
            Value::Grouped(Rc::new(Grouped { frame: frame.clone(), groupings, sets, pivot: None }))
        }
        "agg" => {
            let grouped =
                Grouped { frame: frame.clone(), groupings: Vec::new(), sets: GroupingSets::Simple, pivot: None };
            return super::grouped::method(interpreter, &Rc::new(grouped), "agg", arguments);
        }
        "sort" | "orderBy" | "sortWithinPartitions" => {
            let keys = sort_keys(interpreter, arguments);
            let global = name != "sortWithinPartitions";
            derive(interpreter, frame, place, |input| Node::Sort { keys, global, input })?
        }
        "limit" | "offset" => {
            let count = operand(interpreter, arguments.get(0, "num").unwrap_or(&Value::None), place);
            derive(interpreter, frame, place, |input| match name {
                "limit" => Node::Limit { count, input },
                _ => Node::Offset { count, input },
            })?
        }
        "sample" | "sampleBy" => {
            let shown: Vec<String> = positional
                .iter()
                .chain(arguments.keywords.iter().map(|(_, value)| value))
                .map(|value| interpreter.short(value))
                .collect();
            let description = shown.join(", ").into();
            derive(interpreter, frame, place, |input| Node::Sample { description, input })?
        }
        "alias" => {
            let name = arguments.text(0, "alias").unwrap_or_default();
            derive(interpreter, frame, place, |input| Node::SubqueryAlias { alias: name, columns: Vec::new(), input })?
        }
        "transform" => {
            let Some(function) = arguments.get(0, "func").cloned() else { return Ok(None) };
            let mut call = arguments.clone();
            if call.positional.is_empty() {
                call.positional.push(Value::Frame(frame.clone()));
            } else if let Some(first) = call.positional.first_mut() {
                *first = Value::Frame(frame.clone());
            }
            call.keywords.retain(|(key, _)| key.as_ref() != "func");
            interpreter.call(&function, call)?
        }
        "fillna" | "dropna" | "replace" => return na::method(interpreter, frame, name, arguments),
        "unpivot" | "melt" => unpivot(interpreter, frame, arguments)?,
        "mapInPandas" | "mapInArrow" => {
            let output = types::schema(interpreter, arguments.get(1, "schema").unwrap_or(&Value::None), place);
            let function = arguments.get(0, "func").cloned().unwrap_or(Value::None);
            let function = interpreter.opaque_function(&function, place);
            derive(interpreter, frame, place, |input| Node::Opaque {
                function,
                keys: Vec::new(),
                output,
                inputs: vec![*input],
            })?
        }
        "to" => {
            let schema = types::schema(interpreter, arguments.get(0, "schema").unwrap_or(&Value::None), place);
            let list = schema
                .fields
                .iter()
                .map(|f| {
                    let cast =
                        Expr::Cast { expr: Box::new(Expr::column(&f.name)), to: f.data_type.clone(), try_cast: false };
                    alias(cast, &f.name, place)
                })
                .collect();
            derive(interpreter, frame, place, |input| Node::Project { list, input })?
        }
        "colRegex" => {
            let pattern = arguments.text(0, "colName").unwrap_or_default();
            Value::column(Expr::ColumnRegex(pattern.trim_matches('`').to_owned()))
        }
        "createOrReplaceTempView"
        | "createTempView"
        | "createOrReplaceGlobalTempView"
        | "createGlobalTempView"
        | "registerTempTable" => {
            let method = name;
            if let Some(name) = arguments.text(0, "name") {
                let global = method.contains("Global");
                let key = if global { format!("global_temp.{name}") } else { name.to_string() };
                interpreter.views.insert(key.to_lowercase(), frame.plan.clone());
            }
            Value::None
        }
        // These change where and how rows are computed, not which.
        "cache" | "persist" | "checkpoint" | "localCheckpoint" => {
            crate::frontend::python::batch::materialize(interpreter, frame, place);
            Value::Frame(frame.clone())
        }
        "unpersist" | "repartition" | "coalesce" | "hint" | "repartitionByRange" | "withMetadata" | "observe"
        | "asTable" => Value::Frame(frame.clone()),
        "show" | "printSchema" | "display" | "explain" | "foreach" | "foreachPartition" => Value::None,
        "writeTo" => {
            let mut writer = writer(frame, false);
            writer.table = arguments.text(0, "table");
            Value::Writer(Rc::new(writer))
        }
        "scalar" => {
            let plan = Box::new(frame.plan.as_ref().clone());
            Value::column(Expr::Subquery { kind: crate::model::SubqueryKind::Scalar, plan })
        }
        "exists" => {
            let plan = Box::new(frame.plan.as_ref().clone());
            Value::column(Expr::Subquery { kind: crate::model::SubqueryKind::Exists { negated: false }, plan })
        }
        "collect" | "count" | "first" | "head" | "take" | "tail" | "toPandas" | "isEmpty" | "toLocalIterator"
        | "describe" | "summary" | "toJSON" | "isLocal" | "corr" | "randomSplit" => {
            let reason = format!("`{name}` reads rows, which exist only at run time");
            let shown = format!("{name}()");
            interpreter.unknown(&shown, "runtime-data", reason, place.clone())
        }
        _ => return Ok(None),
    };
    Ok(Some(value))
}

fn positional_or<'a>(arguments: &'a Arguments, keyword: &str) -> &'a [Value] {
    if arguments.positional.is_empty() {
        arguments.keyword(keyword).map(std::slice::from_ref).unwrap_or_default()
    } else {
        &arguments.positional
    }
}

/// An operation whose arguments are not known: the rows below it are, the columns are not.
fn with_unknown(interpreter: &mut Interpreter<'_>, frame: &Frame, name: &str, arguments: &Arguments) -> Eval<Value> {
    let place = &arguments.place;
    let reason = format!("the arguments of `{name}` are only known at run time");
    interpreter.unknown(name, "unknown-columns", reason.as_str(), place.clone());
    let content = interpreter.contents.of_arguments(arguments);
    let function = super::opaque(name, &reason, content, place.clone());
    derive(interpreter, frame, place, |input| Node::Opaque {
        function,
        keys: Vec::new(),
        output: Schema::unknown(),
        inputs: vec![*input],
    })
}

fn sort_keys(interpreter: &mut Interpreter<'_>, arguments: &Arguments) -> Vec<SortKey> {
    let mut values = Vec::new();
    for value in &arguments.positional {
        match interpreter.items_of(value).filter(|_| !matches!(value, Value::Str(_))) {
            Some(list) => values.extend(list.items),
            None => values.push(value.clone()),
        }
    }
    let mut keys: Vec<SortKey> = values.iter().map(|v| sort_key(interpreter, v, &arguments.place)).collect();
    let ascending = match arguments.keyword("ascending") {
        Some(Value::List(list)) => list.borrow().items.clone(),
        Some(one) => vec![one.clone(); keys.len()],
        None => Vec::new(),
    };
    for (key, ascending) in keys.iter_mut().zip(&ascending) {
        if ascending.truth() == Some(false) {
            *key = SortKey::new(key.expr.clone(), true);
        }
    }
    keys
}

fn join(interpreter: &mut Interpreter<'_>, frame: &Frame, name: &str, arguments: &Arguments) -> Eval<Value> {
    let place = &arguments.place;
    let right = Box::new(plan_of(interpreter, arguments.get(0, "other").unwrap_or(&Value::None), place));
    let how = arguments.text(2, "how").map(|how| how.to_lowercase().replace('_', "")).unwrap_or_default();
    let on = match arguments.given(1, "on").cloned() {
        None => JoinOn::None,
        Some(Value::Str(text)) => JoinOn::Using(vec![text.text.to_string()]),
        Some(Value::Column(condition)) => JoinOn::Condition(condition.as_ref().clone()),
        Some(list @ (Value::List(_) | Value::Tuple(_))) => {
            let items = interpreter.items_of(&list).map(|list| list.items).unwrap_or_default();
            if items.iter().all(|item| item.render_string().is_some()) {
                JoinOn::Using(column_names(interpreter, &items))
            } else {
                let mut conditions =
                    items.iter().map(|item| operand(interpreter, item, place)).collect::<Vec<_>>().into_iter();
                match conditions.next() {
                    Some(first) => {
                        JoinOn::Condition(conditions.fold(first, |left, right| Expr::call("and", vec![left, right])))
                    }
                    None => JoinOn::None,
                }
            }
        }
        Some(other) => JoinOn::Condition(operand(interpreter, &other, place)),
    };
    let kind = match how.as_str() {
        _ if name == "crossJoin" => JoinKind::Cross,
        "" | "inner" => JoinKind::Inner,
        "cross" => JoinKind::Cross,
        "left" | "leftouter" => JoinKind::LeftOuter,
        "right" | "rightouter" => JoinKind::RightOuter,
        "full" | "outer" | "fullouter" => JoinKind::FullOuter,
        "semi" | "leftsemi" => JoinKind::LeftSemi,
        "anti" | "leftanti" => JoinKind::LeftAnti,
        other => {
            let reason = format!("the join type `{other}` is not known");
            interpreter.unknown(other, "unknown-argument", reason.as_str(), place.clone());
            let function = super::opaque("join", &reason, 0, place.clone());
            return derive(interpreter, frame, place, |input| Node::Opaque {
                function,
                keys: Vec::new(),
                output: Schema::unknown(),
                inputs: vec![*input, *right],
            });
        }
    };
    derive(interpreter, frame, place, |left| Node::Join { left, right, kind, on, lateral: name == "lateralJoin" })
}

fn unpivot(interpreter: &mut Interpreter<'_>, frame: &Frame, arguments: &Arguments) -> Eval<Value> {
    let place = &arguments.place;
    let list = |index: usize, name: &str| arguments.given(index, name).cloned();
    let ids = list(0, "ids").map(|v| column::columns(interpreter, &[v], place)).unwrap_or_default();
    let values = list(1, "values").map(|v| column::columns(interpreter, &[v], place)).unwrap_or_default();
    let variable = arguments.text(2, "variableColumnName").unwrap_or_default();
    let value = arguments.text(3, "valueColumnName").unwrap_or_default();
    derive(interpreter, frame, place, |input| Node::Unpivot {
        description: "unpivot".into(),
        ids,
        values,
        variable,
        value,
        input,
    })
}

/// A watermark's delay as an interval; text that is none stays text.
pub fn delay_literal(text: &str) -> Expr {
    match interval_micros(text) {
        Some(micros) => Expr::literal(Constant::DayTimeInterval(micros), DataType::DayTimeInterval),
        None => Expr::string(text),
    }
}

/// `10 minutes`, `1 hour 30 minutes`, `interval 5 seconds`, in microseconds; nothing where months or words are in it.
pub fn interval_micros(text: &str) -> Option<i64> {
    let lower = text.trim().to_lowercase();
    let rest = lower.strip_prefix("interval").unwrap_or(&lower);
    let mut words = rest.split_whitespace();
    let mut total: i64 = 0;
    let mut any = false;
    while let Some(number) = words.next() {
        let number: f64 = number.parse().ok()?;
        let unit = words.next()?;
        let micros = match unit.trim_end_matches('s') {
            "microsecond" => 1.0,
            "millisecond" => 1e3,
            "second" => 1e6,
            "minute" => 60e6,
            "hour" => 3_600e6,
            "day" => 86_400e6,
            "week" => 604_800e6,
            _ => return None,
        };
        total = total.checked_add((number * micros) as i64)?;
        any = true;
    }
    any.then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_read_as_spark_reads_them() {
        assert_eq!(interval_micros("10 minutes"), Some(600_000_000));
        assert_eq!(interval_micros("INTERVAL 1 hour 30 minutes"), Some(5_400_000_000));
        assert_eq!(interval_micros("1 month"), None);
        assert_eq!(interval_micros(""), None);
    }
}
