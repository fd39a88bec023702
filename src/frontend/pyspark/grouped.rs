//! GroupedData: aggregation, pivots, and functions over groups.

use super::column::{self, alias, distinct_call, operand};
use super::{column_names, derive, stateful, types};
use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::value::{Arguments, Grouped, Value};
use crate::functions::signature::{self, Signature};
use crate::model::{Expr, Node, Schema};
use std::rc::Rc;

pub fn method(
    interpreter: &mut Interpreter<'_>,
    grouped: &Rc<Grouped>,
    name: &str,
    arguments: &Arguments,
) -> Eval<Option<Value>> {
    let place = &arguments.place;
    Ok(Some(match name {
        "agg" => {
            let aggregates = match arguments.positional.first() {
                Some(Value::Dict(dict)) => {
                    let items = dict.borrow().items.clone();
                    items.iter().map(|(key, function)| by_name(interpreter, key, function, arguments)).collect()
                }
                _ => column::columns(interpreter, &arguments.positional, place),
            };
            return aggregate(interpreter, grouped, aggregates, arguments).map(Some);
        }
        "count" => {
            let count = alias(Expr::call("count", vec![Expr::integer(1)]), "count", place);
            return aggregate(interpreter, grouped, vec![count], arguments).map(Some);
        }
        "sum" | "avg" | "mean" | "min" | "max" => {
            let function = if name == "mean" { "avg" } else { name };
            let names = column_names(interpreter, &arguments.positional);
            let calls = names.iter().map(|name| Expr::call(function, vec![column::named(name, place)])).collect();
            return aggregate(interpreter, grouped, calls, arguments).map(Some);
        }
        "pivot" => {
            let pivot_column =
                column::column(interpreter, arguments.get(0, "pivot_col").unwrap_or(&Value::None), place);
            let values = arguments.given(1, "values").cloned().map(|values| {
                let items = interpreter.items_of(&values).map(|list| list.items).unwrap_or_default();
                items.iter().map(|item| operand(interpreter, item, place)).collect()
            });
            let pivot = Some((pivot_column, values));
            Value::Grouped(Rc::new(Grouped { pivot, ..grouped.as_ref().clone() }))
        }
        "apply" | "applyInPandas" | "applyInArrow" => {
            let function = arguments.get(0, "func").cloned().unwrap_or(Value::None);
            let output = types::schema(interpreter, arguments.get(1, "schema").unwrap_or(&Value::None), place);
            let function = interpreter.opaque_function(&function, place);
            let keys = grouped.groupings.clone();
            derive(interpreter, &grouped.frame, place, |input| Node::Opaque {
                function,
                keys,
                output,
                inputs: vec![*input],
            })?
        }
        "applyInPandasWithState" | "transformWithStateInPandas" | "transformWithState" => {
            return stateful::stateful_map(interpreter, grouped, name, arguments).map(Some);
        }
        _ => return Ok(None),
    }))
}

/// `{"amount": "sum"}`.
fn by_name(interpreter: &mut Interpreter<'_>, key: &Value, function: &Value, arguments: &Arguments) -> Expr {
    let place = &arguments.place;
    let function = function.render_string().unwrap_or_default();
    let star = key.as_str() == Some("*");
    let arg = if star { Expr::integer(1) } else { column::column(interpreter, key, place) };
    match signature::of_pyspark(&function) {
        Some(Signature { sql: Some(sql), distinct: true, .. }) => distinct_call(sql, vec![arg]),
        Some(Signature { sql: Some(sql), .. }) => Expr::call(sql, vec![arg]),
        _ => Expr::call(&function.to_lowercase(), vec![arg]),
    }
}

fn aggregate(
    interpreter: &mut Interpreter<'_>,
    grouped: &Rc<Grouped>,
    aggregates: Vec<Expr>,
    arguments: &Arguments,
) -> Eval<Value> {
    let place = &arguments.place;
    let groupings: Vec<Expr> = grouped.groupings.iter().cloned().map(unaliased).collect();
    match &grouped.pivot {
        None => {
            let outputs = grouped.groupings.iter().cloned().chain(aggregates).collect();
            let sets = grouped.sets.clone();
            derive(interpreter, &grouped.frame, place, |input| Node::Aggregate {
                groupings,
                sets,
                outputs,
                having: None,
                input,
            })
        }
        Some((pivot_column, Some(values))) => {
            let (pivot_column, values) = (Box::new(pivot_column.clone()), values.clone());
            derive(interpreter, &grouped.frame, place, |input| Node::Pivot {
                groupings,
                column: pivot_column,
                values,
                aggregates,
                input,
            })
        }
        Some((_, None)) => {
            let reason = "the values of `pivot` are taken from the data; list them";
            interpreter.unknown("pivot", "runtime-data", reason, place.clone());
            let mut function = super::opaque("pivot", reason, 0, place.clone());
            function.args = aggregates;
            derive(interpreter, &grouped.frame, place, |input| Node::Opaque {
                function,
                keys: groupings,
                output: Schema::unknown(),
                inputs: vec![*input],
            })
        }
    }
}

fn unaliased(expr: Expr) -> Expr {
    match expr {
        Expr::Alias { expr, .. } => *expr,
        other => other,
    }
}
