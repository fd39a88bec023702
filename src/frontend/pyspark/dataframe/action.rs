//! Methods of a DataFrame that name it, write it, or ask for its rows.

use crate::frontend::pyspark::batch::collected;
use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::value::{Arguments, Frame, Value};
use crate::model::{Expr, SubqueryKind};
use std::rc::Rc;

/// None where `name` is none of them.
pub(super) fn method(
    interpreter: &mut Interpreter<'_>,
    frame: &Frame,
    name: &str,
    arguments: &Arguments,
) -> Eval<Option<Value>> {
    let place = &arguments.place;
    if let Some(value) = collected::rows(interpreter, frame, name, arguments) {
        return Ok(Some(value));
    }
    let value = match name {
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
            crate::frontend::pyspark::batch::materialize(interpreter, frame, name.ends_with("heckpoint"), place);
            Value::Frame(frame.clone())
        }
        "unpersist" | "repartition" | "coalesce" | "hint" | "repartitionByRange" | "withMetadata" | "observe"
        | "asTable" => Value::Frame(frame.clone()),
        "show" | "printSchema" | "display" | "explain" | "foreach" | "foreachPartition" => Value::None,
        "writeTo" => {
            let mut writer = super::writer(frame, false);
            writer.table = arguments.text(0, "table");
            Value::Writer(Rc::new(writer))
        }
        "scalar" => {
            let plan = Box::new(frame.plan.as_ref().clone());
            Value::column(Expr::Subquery { kind: SubqueryKind::Scalar, plan })
        }
        "exists" => {
            let plan = Box::new(frame.plan.as_ref().clone());
            Value::column(Expr::Subquery { kind: SubqueryKind::Exists { negated: false }, plan })
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
