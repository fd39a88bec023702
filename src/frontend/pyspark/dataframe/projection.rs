//! Methods of a DataFrame that change its columns.

use crate::frontend::pyspark::column::{self, alias, operand};
use crate::frontend::pyspark::{column_names, derive, opaque, types};
use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::sql_text;
use crate::frontend::python::value::{Arguments, Frame, Value};
use crate::model::{Expr, Node, Schema};

/// None where `name` is none of them.
pub(super) fn method(
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
        "alias" => {
            let name = arguments.text(0, "alias").unwrap_or_default();
            derive(interpreter, frame, place, |input| Node::SubqueryAlias { alias: name, columns: Vec::new(), input })?
        }
        "unpivot" | "melt" => unpivot(interpreter, frame, arguments)?,
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
        _ => return Ok(None),
    };
    Ok(Some(value))
}

/// An operation whose arguments are not known: the rows below it are, the columns are not.
fn with_unknown(interpreter: &mut Interpreter<'_>, frame: &Frame, name: &str, arguments: &Arguments) -> Eval<Value> {
    let place = &arguments.place;
    let reason = format!("the arguments of `{name}` are only known at run time");
    interpreter.unknown(name, "unknown-columns", reason.as_str(), place.clone());
    let content = interpreter.contents.of_arguments(arguments);
    let function = opaque(name, &reason, content, place.clone());
    derive(interpreter, frame, place, |input| Node::Opaque {
        function,
        keys: Vec::new(),
        output: Schema::unknown(),
        inputs: vec![*input],
    })
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
