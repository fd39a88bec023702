//! `DeltaTable.forName(…)`: MERGE, DELETE and UPDATE by method calls.

use crate::frontend::pyspark::{self, column, reader::table_name};
use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::sql_text;
use crate::frontend::python::value::{Arguments, Partial, Value};
use crate::model::{
    BatchWrite, Expr, Merge, MergeAction, MergeClause, MergeMatch, Node, Place, Plan, WriteApi, WriteOperation,
    WriteTarget,
};
use std::rc::Rc;

const TABLE: &str = "delta.tables.table";

/// A call on a DeltaTable or on its merge builder. The calls so far stand in the partial's keywords.
pub fn table_method(
    interpreter: &mut Interpreter<'_>,
    partial: &Rc<Partial>,
    name: &str,
    arguments: &Arguments,
) -> Eval<Option<Value>> {
    if !matches!(&partial.function, Value::External(path) if path.as_ref() == TABLE) {
        return Ok(None);
    }
    match name {
        "execute" => {
            if let Some(write) = merge(interpreter, &partial.arguments, &arguments.place) {
                interpreter.record_write(write);
            }
            Ok(Some(Value::None))
        }
        "delete" if partial.arguments.keyword("merge").is_none() => {
            let condition = arguments.given(0, "condition").cloned();
            let condition = condition.map(|value| expression(interpreter, &value, &arguments.place));
            let target = target(&partial.arguments);
            let operation = WriteOperation::Delete { condition };
            interpreter.record_write(BatchWrite::new(target, WriteApi::Sql, operation, arguments.place.clone()));
            Ok(Some(Value::None))
        }
        "update" if partial.arguments.keyword("merge").is_none() => {
            let condition = arguments.given(0, "condition").cloned();
            let condition = condition.map(|value| expression(interpreter, &value, &arguments.place));
            let assignments = assignments(interpreter, arguments.given(1, "set"), &arguments.place);
            let target = target(&partial.arguments);
            let operation = WriteOperation::Update { assignments, condition };
            interpreter.record_write(BatchWrite::new(target, WriteApi::Sql, operation, arguments.place.clone()));
            Ok(Some(Value::None))
        }
        "toDF" => {
            let text = partial.arguments.text(0, "name").unwrap_or_default();
            let reader = crate::frontend::python::value::Reader::default();
            Ok(Some(pyspark::reader::table_read(interpreter, &reader, &text, &arguments.place)))
        }
        _ => {
            let mut given = partial.arguments.clone();
            let call = Partial { function: Value::str(name), arguments: arguments.clone() };
            given.keywords.push((name.into(), Value::Partial(Rc::new(call))));
            Ok(Some(Value::Partial(Rc::new(Partial { function: Value::external(TABLE), arguments: given }))))
        }
    }
}

/// `DeltaTable.forName(spark, name)`, `forPath(spark, path)`.
pub fn table(path: &str, arguments: &Arguments) -> Option<Value> {
    if !matches!(path, "delta.tables.DeltaTable.forName" | "delta.tables.DeltaTable.forPath") {
        return None;
    }
    let given = Arguments::of(arguments.positional.get(1).cloned().into_iter().collect(), arguments.place.clone());
    Some(Value::Partial(Rc::new(Partial { function: Value::external(TABLE), arguments: given })))
}

fn target(arguments: &Arguments) -> WriteTarget {
    match arguments.text(0, "name") {
        Some(text) if text.contains('/') => WriteTarget::Path(text.to_string()),
        Some(text) => WriteTarget::Table(table_name(&text)),
        None => WriteTarget::Unknown("a Delta table that is not known".to_owned()),
    }
}

fn alias_of(call: &Partial) -> Option<String> {
    call.arguments.text(0, "aliasName").map(|text| text.to_string())
}

fn expression(interpreter: &mut Interpreter<'_>, value: &Value, place: &Place) -> Expr {
    match value.render_string() {
        Some(text) => sql_text::expression(interpreter, &text, place),
        None => column::operand(interpreter, value, place),
    }
}

fn assignments(interpreter: &mut Interpreter<'_>, value: Option<&Value>, place: &Place) -> Vec<(String, Expr)> {
    let Some(Value::Dict(dict)) = value else { return Vec::new() };
    let items = dict.borrow().items.clone();
    items
        .into_iter()
        .filter_map(|(key, value)| {
            let column = key.render_string()?;
            let column = column.rsplit('.').next().unwrap_or_default().to_owned();
            Some((column, expression(interpreter, &value, place)))
        })
        .collect()
}

/// The builder's calls as one MERGE.
fn merge(interpreter: &mut Interpreter<'_>, arguments: &Arguments, place: &Place) -> Option<BatchWrite> {
    let mut merge = Merge {
        target_alias: None,
        source: Plan::unresolved("source", "no source is given", 0, place.clone()),
        on: Expr::null(),
        clauses: Vec::new(),
        schema_evolution: false,
    };
    for (name, call) in &arguments.keywords {
        let Value::Partial(call) = call else { continue };
        let given = &call.arguments;
        match name.as_ref() {
            "alias" => merge.target_alias = alias_of(call),
            "merge" => {
                let source = given.get(0, "source").cloned().unwrap_or(Value::None);
                merge.source = pyspark::plan_of(interpreter, &source, place);
                let on = given.get(1, "condition").cloned().unwrap_or(Value::None);
                merge.on = expression(interpreter, &on, place);
            }
            "withSchemaEvolution" => merge.schema_evolution = true,
            _ => {
                let clause = clause(interpreter, name, given, place)?;
                merge.clauses.push(clause);
            }
        }
    }
    if let Node::Read(_) = merge.source.node {
        merge.source.frame = None;
    }
    let operation = WriteOperation::Merge(Box::new(merge));
    Some(BatchWrite::new(target(arguments), WriteApi::Sql, operation, place.clone()))
}

fn clause(interpreter: &mut Interpreter<'_>, name: &str, given: &Arguments, place: &Place) -> Option<MergeClause> {
    let when = if name.starts_with("whenMatched") {
        MergeMatch::Matched
    } else if name.starts_with("whenNotMatchedBySource") {
        MergeMatch::NotMatchedBySource
    } else if name.starts_with("whenNotMatched") {
        MergeMatch::NotMatched
    } else {
        return None;
    };
    let condition = given.given(0, "condition").cloned().map(|value| expression(interpreter, &value, place));
    let action = if name.ends_with("Delete") {
        MergeAction::Delete
    } else if name.ends_with("UpdateAll") {
        MergeAction::UpdateAll
    } else if name.ends_with("InsertAll") {
        MergeAction::InsertAll
    } else if name.ends_with("Update") {
        MergeAction::Update(assignments(interpreter, given.get(1, "set"), place))
    } else {
        let values = assignments(interpreter, given.get(1, "values"), place);
        let (columns, values) = values.into_iter().unzip();
        MergeAction::Insert { columns, values }
    };
    Some(MergeClause { when, condition, action })
}
