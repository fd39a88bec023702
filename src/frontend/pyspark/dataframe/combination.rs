//! Methods of a DataFrame that combine it with another, or group it.

use crate::frontend::pyspark::column::{self, operand};
use crate::frontend::pyspark::{column_names, derive, grouped, opaque, plan_of};
use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::value::{Arguments, Frame, Grouped, Value};
use crate::model::{Expr, GroupingSets, JoinKind, JoinOn, Node, Schema, SetOperation};
use std::rc::Rc;

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
            return grouped::method(interpreter, &Rc::new(grouped), "agg", arguments);
        }
        _ => return Ok(None),
    };
    Ok(Some(value))
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
            let function = opaque("join", &reason, 0, place.clone());
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
