//! `pyspark.sql.functions`: Python's names and arguments to Spark SQL's functions.

use super::column::{self, distinct_call, operand};
use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::sql_text;
use crate::frontend::python::value::{Arguments, Udf, Value};
use crate::functions::signature::{self, Arranged, Constant, Mismatch, ParameterKind, Signature};
use crate::model::{Call, DataType, Expr, Place, SortKey};
use std::rc::Rc;
use std::sync::Arc;

/// A call of a library function whose arguments are bound to its parameters.
struct Bound<'a> {
    signature: &'static Signature,
    values: signature::Bound<'a, Value>,
    place: &'a Place,
}

impl Bound<'_> {
    fn get(&self, name: &str) -> Option<&Value> {
        let at = self.signature.parameters.iter().position(|parameter| parameter.name == name)?;
        self.values.of(at).first().copied()
    }

    /// The same, `None` counted as not given.
    fn given(&self, name: &str) -> Option<&Value> {
        self.get(name).filter(|value| !value.is_none())
    }

    /// The value of the first parameter.
    fn first(&self) -> &Value {
        self.values.of(0).first().copied().unwrap_or(&Value::None)
    }

    fn rest(&self) -> Vec<Value> {
        let at = self.signature.parameters.iter().position(|parameter| parameter.rest);
        at.map(|at| self.values.of(at).iter().map(|value| (*value).clone()).collect()).unwrap_or_default()
    }
}

/// Calls `pyspark.sql.functions.<name>`.
pub fn call(interpreter: &mut Interpreter<'_>, path: &str, arguments: &Arguments) -> Eval<Option<Value>> {
    // `partitioning.days`: the function stands in a submodule.
    let name = path.rsplit('.').next().unwrap_or(path);
    if matches!(name, "udf" | "pandas_udf" | "arrow_udf") {
        return Ok(Some(make_udf(interpreter, name, arguments)));
    }
    let Some(signature) = signature::of_pyspark(name) else {
        let reason = format!("`{name}` is not a function of PySpark that is known");
        return Ok(Some(unknown_function(interpreter, name, &reason, arguments)));
    };
    let keywords = arguments.keywords.iter().map(|(name, value)| (name.as_ref(), value));
    match signature.bind(&arguments.positional, keywords, |parameter, keyword| parameter == keyword) {
        Ok(values) => call_bound(interpreter, name, &Bound { signature, values, place: &arguments.place }),
        Err(mismatch) => {
            let reason = match mismatch {
                Mismatch::UnknownKeyword(keyword) => format!("`{name}` has no parameter `{keyword}`"),
                Mismatch::TooMany => format!("`{name}` does not take so many arguments"),
                Mismatch::Missing(parameter) => format!("`{name}` is called without its parameter `{parameter}`"),
            };
            Ok(Some(unknown_function(interpreter, name, &reason, arguments)))
        }
    }
}

/// A call that cannot be followed: an uninterpreted function of its arguments.
fn unknown_function(interpreter: &mut Interpreter<'_>, name: &str, reason: &str, arguments: &Arguments) -> Value {
    match interpreter.unknown_call(name, "unknown-call", reason, arguments) {
        Value::Unknown(unknown) => Value::column(column::opaque(&unknown)),
        other => other,
    }
}

fn call_bound(interpreter: &mut Interpreter<'_>, name: &str, bound: &Bound<'_>) -> Eval<Option<Value>> {
    let place = bound.place;
    let value = match name {
        "col" | "column" => Value::column(column::column(interpreter, bound.first(), place)),
        "lit" => Value::column(operand(interpreter, bound.first(), place)),
        "expr" => match bound.first().render_string() {
            Some(text) => Value::column(sql_text::expression(interpreter, &text, place)),
            None => return Ok(None),
        },
        "when" => {
            let condition = operand(interpreter, bound.get("condition").unwrap_or(&Value::None), place);
            let value = operand(interpreter, bound.get("value").unwrap_or(&Value::None), place);
            Value::column(Expr::Case { branches: vec![(condition, value)], otherwise: None })
        }
        "broadcast" => bound.first().clone(),
        "asc" | "asc_nulls_first" | "desc" | "desc_nulls_last" | "asc_nulls_last" | "desc_nulls_first" => {
            let expr = column::column(interpreter, bound.first(), place);
            let descending = name.starts_with("desc");
            let nulls_first = match name {
                "asc_nulls_last" | "desc_nulls_last" => false,
                "asc_nulls_first" | "desc_nulls_first" => true,
                _ => !descending,
            };
            Value::SortKey(Rc::new(SortKey { expr, descending, nulls_first }))
        }
        "count" => {
            let first = bound.first();
            let star = first.as_str() == Some("*")
                || matches!(first, Value::Column(e) if matches!(e.as_ref(), Expr::Star { .. }));
            let arg = if star { Expr::integer(1) } else { column::column(interpreter, first, place) };
            column::call("count", vec![arg])
        }
        "first" | "last" | "first_value" | "last_value" | "any_value" => ordered_value(interpreter, name, bound),
        "window" => window(interpreter, bound),
        "call_udf" | "call_function" => {
            let function = bound.first().render_string().unwrap_or_default().to_lowercase();
            let args = column::columns(interpreter, &bound.rest(), place);
            column::call(&function, args)
        }
        _ => {
            let function = bound.signature.sql.unwrap_or(name);
            let args = sql_arguments(interpreter, bound)?;
            match bound.signature.distinct {
                true => Value::column(distinct_call(function, args)),
                false => column::call(function, args),
            }
        }
    };
    Ok(Some(value))
}

/// Arguments in SQL's order, strings taken as columns or literals as the function's signature says.
fn sql_arguments(interpreter: &mut Interpreter<'_>, bound: &Bound<'_>) -> Eval<Vec<Expr>> {
    let place = bound.place;
    let mut out = Vec::new();
    for argument in bound.signature.arrange(&bound.values) {
        let (parameter, value) = match argument {
            Arranged::Given(parameter, value) => (parameter, value),
            Arranged::StandIn(constant) => {
                out.push(constant.expr());
                continue;
            }
        };
        match (parameter.kind, value) {
            (_, Value::None) if parameter.optional => out.extend(parameter.stand_in.map(Constant::expr)),
            (ParameterKind::Column, Value::None) => {}
            (_, Value::Dict(_)) => out.push(options_map(value)),
            (ParameterKind::Lambda, _) => out.push(lambda(interpreter, value, place)?),
            (_, Value::Schema(schema)) => out.push(Expr::string(&ddl(&schema.borrow().fields))),
            (_, Value::Type(data_type)) => out.push(Expr::string(&data_type.to_string())),
            (ParameterKind::Literal | ParameterKind::Schema | ParameterKind::Options, _) => {
                out.push(operand(interpreter, value, place));
            }
            (ParameterKind::Column, Value::List(_) | Value::Tuple(_)) => {
                out.extend(column::columns(interpreter, std::slice::from_ref(value), place));
            }
            (ParameterKind::Column, Value::SortKey(key)) => out.push(key.expr.clone()),
            (ParameterKind::Column, _) => out.push(column::column(interpreter, value, place)),
        }
    }
    Ok(out)
}

/// Options given as a dict, as SQL writes them: `map('k', 'v')`.
fn options_map(value: &Value) -> Expr {
    let mut args = Vec::new();
    if let Value::Dict(dict) = value {
        for (key, value) in &dict.borrow().items {
            args.push(Expr::string(&key.render_string().unwrap_or_default()));
            args.push(Expr::string(&super::option_text(value)));
        }
    }
    Expr::call("map", args)
}

fn ordered_value(interpreter: &mut Interpreter<'_>, name: &str, bound: &Bound<'_>) -> Value {
    let arg = column::column(interpreter, bound.first(), bound.place);
    let flag = bound.given("ignorenulls").or_else(|| bound.given("ignoreNulls"));
    let ignore_nulls = match flag {
        None => false,
        Some(Value::Bool(flag)) => *flag,
        Some(Value::Column(expr)) if matches!(expr.as_ref(), Expr::Literal { .. }) => {
            **expr == Constant::Boolean(true).expr()
        }
        Some(other) => {
            let flag = operand(interpreter, other, bound.place);
            return column::call(name, vec![arg, flag]);
        }
    };
    match Expr::call(name, vec![arg]) {
        Expr::Call(call) => Value::column(Expr::Call(Call { ignore_nulls, ..call })),
        other => Value::column(other),
    }
}

fn window(interpreter: &mut Interpreter<'_>, bound: &Bound<'_>) -> Value {
    let time = column::column(interpreter, bound.first(), bound.place);
    let mut args = vec![time];
    let duration = bound.given("windowDuration");
    let slide = bound.given("slideDuration");
    let start = bound.given("startTime");
    // A start without a slide means tumbling windows: the slide is the duration.
    let slide = if start.is_some() { slide.or(duration) } else { slide };
    for value in [duration, slide, start].into_iter().flatten() {
        args.push(operand(interpreter, value, bound.place));
    }
    column::call("window", args)
}

/// Columns as a DDL string, as `StructType.toDDL` gives it.
pub fn ddl(fields: &[crate::model::Field]) -> String {
    let shown: Vec<String> = fields
        .iter()
        .map(|field| {
            let plain = field.name.chars().all(|c| c.is_alphanumeric() || c == '_');
            let name = if plain { field.name.clone() } else { format!("`{}`", field.name) };
            let null = if field.nullable { "" } else { " NOT NULL" };
            format!("{name} {}{null}", field.data_type.to_string().to_uppercase())
        })
        .collect();
    shown.join(", ")
}

/// `transform(col, lambda x: …)` and its like: the lambda is run on its parameters.
fn lambda(interpreter: &mut Interpreter<'_>, function: &Value, place: &Place) -> Eval<Expr> {
    let params: Vec<Arc<str>> = match function {
        Value::Function(function) => function.definition.parameters.iter().map(|p| p.name.clone()).collect(),
        // `F.transform("xs", F.upper)`.
        _ => vec!["x".into()],
    };
    let variable = |name: &Arc<str>| {
        Value::column(Expr::LambdaVariable { name: name.clone(), data_type: DataType::Unknown, nullable: true })
    };
    let variables = params.iter().map(variable).collect();
    let body = interpreter.call(function, Arguments::of(variables, place.clone()))?;
    let body = operand(interpreter, &body, place);
    Ok(Expr::Lambda { params, body: Box::new(body) })
}

/// `udf(f, type)`, `@udf`, `@udf(returnType=…)`, `@pandas_udf("long")`.
fn make_udf(interpreter: &mut Interpreter<'_>, name: &str, arguments: &Arguments) -> Value {
    let is_function = |value: &Value| {
        matches!(
            value,
            Value::Function(_) | Value::Method { .. } | Value::Partial(_) | Value::Decorated(_) | Value::Class(_)
        )
    };
    let function = arguments.positional.iter().chain(arguments.keyword("f")).find(|value| is_function(value)).cloned();
    let Some(function) = function else {
        let path = format!("pyspark.sql.functions.{name}");
        return Interpreter::partial(&path, arguments.clone());
    };
    let declared = arguments
        .keyword("returnType")
        .or_else(|| arguments.positional.iter().find(|value| !is_function(value) && !matches!(value, Value::None)));
    let returns = match declared {
        Some(declared) => column::data_type(interpreter, Some(&declared.clone()), &arguments.place),
        None => DataType::String,
    };
    Value::Udf(Rc::new(Udf { function, returns, deterministic: true }))
}

pub fn call_udf(interpreter: &mut Interpreter<'_>, udf: &Rc<Udf>, arguments: &Arguments) -> Value {
    Value::column(column::udf_call(interpreter, udf, arguments))
}
