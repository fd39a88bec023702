//! The part of PySpark that pipelines are written in, lowered to plans and expressions.

pub mod batch;
pub mod column;
pub mod dataframe;
pub mod dlt;
pub mod functions;
mod grouped;
mod known_schema;
pub mod na;
pub mod reader;
pub mod session;
mod size;
mod stateful;
pub mod types;
pub mod window;
mod writer;

use crate::frontend::python::content::Contents;
use crate::frontend::python::interpret::{Eval, Interpreter, Stop};
use crate::frontend::python::value::{Arguments, Frame, Unknown, Value};
use crate::model::{DataType, Expr, Node, Opaque, Place, Plan, Schema};
use std::rc::Rc;

/// Calls a library function by its path.
pub fn call(interpreter: &mut Interpreter<'_>, path: &str, arguments: &Arguments) -> Eval<Option<Value>> {
    if let Some(name) = path.strip_prefix("pyspark.sql.functions.") {
        return functions::call(interpreter, name, arguments);
    }
    if let Some(name) = path.strip_prefix("pyspark.sql.types.") {
        return types::construct(interpreter, name, arguments);
    }
    if let Some(name) = path.strip_prefix("pyspark.sql.Window.") {
        return Ok(window::method(interpreter, &window::empty(), name, arguments));
    }
    if let Some(name) = path
        .strip_prefix("pyspark.sql.avro.functions.")
        .or_else(|| path.strip_prefix("pyspark.sql.protobuf.functions."))
    {
        return functions::call(interpreter, name, arguments);
    }
    // `DataFrame.unionByName(a, b)`: the method with its receiver given.
    if let Some(name) = path.strip_prefix("pyspark.sql.DataFrame.") {
        let mut arguments = arguments.clone();
        if arguments.positional.is_empty() {
            return Ok(None);
        }
        let receiver = arguments.positional.remove(0);
        return interpreter.call_method(&receiver, name, arguments).map(Some);
    }
    if let Some(value) = batch::library_call(interpreter, path, arguments)? {
        return Ok(Some(value));
    }
    session::call(interpreter, path, arguments)
}

/// Calls a method of a Spark object.
pub fn call_method(
    interpreter: &mut Interpreter<'_>,
    receiver: &Value,
    name: &str,
    arguments: &Arguments,
) -> Eval<Option<Value>> {
    match receiver {
        Value::Frame(frame) => dataframe::method(interpreter, frame, name, arguments),
        Value::Grouped(grouped) => grouped::method(interpreter, grouped, name, arguments),
        Value::Column(expr) => column::method(interpreter, expr, name, arguments),
        Value::SortKey(key) => column::method(interpreter, &Rc::new(key.expr.clone()), name, arguments),
        Value::Window(spec) => Ok(window::method(interpreter, spec, name, arguments)),
        Value::Reader(reader) => Ok(reader::method(interpreter, reader, name, arguments)),
        Value::Writer(writer) => writer::method(interpreter, writer, name, arguments),
        Value::Schema(_) | Value::Type(_) | Value::Field(_) => types::method(interpreter, receiver, name, arguments),
        Value::StateHandle(handle) => Ok(stateful::handle_method(interpreter, handle, name, arguments)),
        Value::Partial(partial) if interpreter.job.is_on() => {
            match batch::partial_method(interpreter, partial, name, arguments)? {
                None => batch::table_method(interpreter, partial, name, arguments),
                value => Ok(value),
            }
        }
        Value::Udf(udf) if name == "asNondeterministic" => {
            let udf = crate::frontend::python::value::Udf { deterministic: false, ..udf.as_ref().clone() };
            Ok(Some(Value::Udf(Rc::new(udf))))
        }
        _ => Ok(None),
    }
}

/// A DataFrame over this plan, under a fresh identity.
pub fn frame(interpreter: &mut Interpreter<'_>, mut plan: Plan) -> Value {
    plan.frame = Some(interpreter.fresh_frame());
    Value::Frame(Frame { plan: Rc::new(plan) })
}

/// A DataFrame one node above another; nothing where the plan grows beyond what Spark itself would plan.
pub fn derive(
    interpreter: &mut Interpreter<'_>,
    frame: &Frame,
    place: &Place,
    node: impl FnOnce(Box<Plan>) -> Node,
) -> Eval<Value> {
    let plan = Plan::at(node(Box::new(frame.plan.as_ref().clone())), place.clone());
    let Some(weight) = size::of_plan(&plan) else { return Err(Stop::OutOfFuel) };
    interpreter.spend(1 + weight / 16)?;
    Ok(self::frame(interpreter, plan))
}

/// The plan of a value where a DataFrame is wanted; an unknown one keeps its reason, place and inputs.
pub fn plan_of(interpreter: &mut Interpreter<'_>, value: &Value, place: &Place) -> Plan {
    match value {
        Value::Frame(frame) => frame.plan.as_ref().clone(),
        Value::Unknown(unknown) => opaque_plan(unknown),
        Value::Choice(choice) => {
            let inputs = choice.options.iter().map(|option| plan_of(interpreter, option, place)).collect();
            let reason = format!("which query runs hangs on `{}`", choice.condition);
            let name = format!("if {}", choice.condition);
            let hint = Some("give the condition's value in the pipeline's configuration");
            interpreter.unknown_with_hint(&name, "unknown-condition", reason.as_str(), hint, choice.place.or(place));
            let content = crate::frontend::python::content::of_text(&choice.condition);
            let function = opaque(&name, &reason, content, choice.place.or(place));
            Plan::at(
                Node::Opaque { function, keys: Vec::new(), output: Schema::unknown(), inputs },
                choice.place.or(place),
            )
        }
        other => {
            let reason = format!("this is a {}, not a DataFrame", other.type_name());
            let name = interpreter.identity(other);
            interpreter.unknown(&name, "not-a-dataframe", reason.as_str(), place.clone());
            Plan::unresolved(&name, &reason, 0, place.clone())
        }
    }
}

pub fn opaque(name: &str, reason: &str, content: u64, place: Place) -> Opaque {
    Opaque {
        name: name.into(),
        reason: reason.into(),
        content,
        args: Vec::new(),
        data_type: DataType::Unknown,
        deterministic: true,
        code: Vec::new(),
        place,
    }
}

fn opaque_plan(unknown: &Unknown) -> Plan {
    let function = opaque(&unknown.name, &unknown.reason, unknown.content, unknown.place.clone());
    let inputs = unknown.inputs.iter().map(|plan| plan.as_ref().clone()).collect();
    Plan::at(Node::Opaque { function, keys: Vec::new(), output: Schema::unknown(), inputs }, unknown.place.clone())
}

/// DataFrames among a call's arguments.
pub fn input_plans(arguments: &Arguments) -> Vec<Rc<Plan>> {
    let values = arguments.positional.iter().chain(arguments.keywords.iter().map(|(_, value)| value));
    let mut plans = Vec::new();
    for value in values {
        match value {
            Value::Frame(frame) => plans.push(frame.plan.clone()),
            Value::Grouped(grouped) => plans.push(grouped.frame.plan.clone()),
            Value::Unknown(unknown) => plans.extend(unknown.inputs.iter().cloned()),
            _ => {}
        }
    }
    plans
}

/// Columns among a call's arguments.
pub fn input_columns(arguments: &Arguments) -> Vec<Rc<Expr>> {
    let values = arguments.positional.iter().chain(arguments.keywords.iter().map(|(_, value)| value));
    let mut columns = Vec::new();
    for value in values {
        match value {
            Value::Column(expr) => columns.push(expr.clone()),
            Value::Unknown(unknown) => columns.extend(unknown.columns.iter().cloned()),
            _ => {}
        }
    }
    columns
}

/// A name that the code gives: one that is not known is a symbol, whatever it is made of.
pub fn given_name(interpreter: &Interpreter<'_>, value: &Value) -> String {
    value.render_string().map_or_else(|| format!("{{{}}}", interpreter.identity(value)), |name| name.to_string())
}

/// An option's value as Spark's option maps keep it: text, booleans in lower case.
pub fn option_text(value: &Value) -> String {
    match value {
        Value::Bool(flag) => flag.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::None => String::new(),
        Value::List(list) => list.borrow().items.iter().map(option_text).collect::<Vec<_>>().join(","),
        Value::Schema(schema) => functions::ddl(&schema.borrow().fields),
        other => other
            .render_string()
            .map_or_else(|| format!("{{{}#{}}}", other.type_name(), Contents.of_value(other)), |text| text.to_string()),
    }
}

/// Names of columns as text, from a string, a list, or columns.
pub fn column_names(interpreter: &mut Interpreter<'_>, values: &[Value]) -> Vec<String> {
    let mut names = Vec::new();
    for value in values {
        match value {
            Value::List(_) | Value::Tuple(_) | Value::Set(_) => {
                let items = interpreter.items_of(value).map(|list| list.items).unwrap_or_default();
                names.extend(column_names(interpreter, &items));
            }
            Value::Column(expr) => names.extend(column_name(expr)),
            other => names.extend(other.render_string().map(|name| name.to_string())),
        }
    }
    names
}

fn column_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Column(column) => Some(column.parts.join(".")),
        Expr::Alias { name, .. } => Some(name.to_string()),
        _ => None,
    }
}
