//! `pyspark.sql.functions`: Python's names and arguments to Spark SQL's functions.

use super::column::{self, distinct_call, operand};
use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::sql_text;
use crate::frontend::python::value::{Arguments, Udf, Value};
use crate::model::{Call, DataType, Expr, SortKey};
use std::rc::Rc;
use std::sync::Arc;

/// Which arguments of a function are literals where Python gives a string or a number: `c` is a column or its name, `l` a literal,
/// `s` a schema or type; the last letter repeats. Functions not listed take columns only.
const ARGUMENTS: &[(&str, &str)] = &[
    ("add_months", "cc"),
    ("approx_count_distinct", "cl"),
    ("approx_percentile", "cll"),
    ("array_contains", "cl"),
    ("array_insert", "ccl"),
    ("array_append", "cl"),
    ("array_prepend", "cl"),
    ("array_join", "cll"),
    ("array_position", "cl"),
    ("array_remove", "cl"),
    ("array_repeat", "cl"),
    ("bround", "cl"),
    ("btrim", "cc"),
    ("ceil", "cl"),
    ("concat_ws", "lc"),
    ("conv", "cll"),
    ("convert_timezone", "ccc"),
    ("date_add", "cc"),
    ("date_format", "cl"),
    ("date_sub", "cc"),
    ("date_trunc", "lc"),
    ("decode", "cl"),
    ("element_at", "cl"),
    ("encode", "cl"),
    ("floor", "cl"),
    ("format_number", "cl"),
    ("format_string", "lc"),
    ("from_avro", "cl"),
    ("from_csv", "csl"),
    ("from_json", "csl"),
    ("from_protobuf", "cl"),
    ("from_unixtime", "cl"),
    ("from_utc_timestamp", "cl"),
    ("from_xml", "csl"),
    ("get_json_object", "cl"),
    ("histogram_numeric", "cl"),
    ("instr", "cl"),
    ("json_tuple", "cl"),
    ("lag", "cll"),
    ("lead", "cll"),
    ("levenshtein", "ccl"),
    ("locate", "lcl"),
    ("lpad", "cll"),
    ("months_between", "ccl"),
    ("next_day", "cl"),
    ("nth_value", "cl"),
    ("ntile", "l"),
    ("overlay", "cccc"),
    ("parse_url", "cll"),
    ("percentile", "cl"),
    ("percentile_approx", "cll"),
    ("rand", "l"),
    ("randn", "l"),
    ("regexp_extract", "cll"),
    ("regexp_extract_all", "ccl"),
    ("regexp_replace", "cll"),
    ("repeat", "cl"),
    ("round", "cl"),
    ("rpad", "cll"),
    ("schema_of_csv", "l"),
    ("schema_of_json", "l"),
    ("sequence", "ccl"),
    ("session_window", "cl"),
    ("sha2", "cl"),
    ("shiftleft", "cl"),
    ("shiftright", "cl"),
    ("slice", "cll"),
    ("sort_array", "cl"),
    ("split", "cll"),
    ("str_to_map", "cll"),
    ("substring", "cll"),
    ("substring_index", "cll"),
    ("to_avro", "cl"),
    ("to_csv", "cl"),
    ("to_date", "cl"),
    ("to_json", "cl"),
    ("to_timestamp", "cl"),
    ("to_timestamp_ntz", "cl"),
    ("to_utc_timestamp", "cl"),
    ("translate", "cll"),
    ("trunc", "cl"),
    ("try_element_at", "cl"),
    ("try_to_timestamp", "cl"),
    ("unix_timestamp", "cl"),
    ("variant_get", "cll"),
    ("try_variant_get", "cll"),
    ("window", "clll"),
];

/// Python's name where it differs from SQL's (after lower-casing).
const NAMES: &[(&str, &str)] = &[
    ("approxcountdistinct", "approx_count_distinct"),
    ("bitwisenot", "~"),
    ("bitwise_not", "~"),
    ("create_map", "map"),
    ("pow", "power"),
    ("todegrees", "degrees"),
    ("toradians", "radians"),
    ("negate", "negative"),
    ("substr", "substring"),
    ("dateadd", "date_add"),
    ("date_diff", "datediff"),
    ("call_udf", "call_function"),
    ("mean", "avg"),
];

/// Calls `pyspark.sql.functions.<name>`.
pub fn call(interpreter: &mut Interpreter<'_>, name: &str, arguments: &Arguments) -> Eval<Option<Value>> {
    let place = &arguments.place;
    let first = arguments.positional.first().or_else(|| arguments.keywords.first().map(|(_, value)| value)).cloned();
    let value = match name {
        "col" | "column" => {
            let first = first.unwrap_or(Value::None);
            Value::column(column::column(interpreter, &first, place))
        }
        "lit" => {
            let first = first.unwrap_or(Value::None);
            Value::column(operand(interpreter, &first, place))
        }
        "expr" => match first.as_ref().and_then(Value::render_string) {
            Some(text) => Value::column(sql_text::expression(interpreter, &text, place)),
            None => return Ok(None),
        },
        "when" => {
            let condition = operand(interpreter, arguments.get(0, "condition").unwrap_or(&Value::None), place);
            let value = operand(interpreter, arguments.get(1, "value").unwrap_or(&Value::None), place);
            Value::column(Expr::Case { branches: vec![(condition, value)], otherwise: None })
        }
        "broadcast" => return Ok(arguments.positional.first().cloned()),
        "asc" | "asc_nulls_first" | "desc" | "desc_nulls_last" | "asc_nulls_last" | "desc_nulls_first" => {
            let expr = column::column(interpreter, &first.unwrap_or(Value::None), place);
            let descending = name.starts_with("desc");
            let nulls_first = match name {
                "asc_nulls_last" | "desc_nulls_last" => false,
                "asc_nulls_first" | "desc_nulls_first" => true,
                _ => !descending,
            };
            Value::SortKey(Rc::new(SortKey { expr, descending, nulls_first }))
        }
        "count" => {
            let star = first.as_ref().and_then(Value::as_str) == Some("*")
                || matches!(first.as_ref(), Some(Value::Column(e)) if matches!(e.as_ref(), Expr::Star { .. }));
            let arg = match (star, first) {
                (false, Some(first)) => column::column(interpreter, &first, place),
                _ => Expr::integer(1),
            };
            column::call("count", vec![arg])
        }
        "countDistinct" | "count_distinct" => {
            let args = column::columns(interpreter, &arguments.positional, place);
            Value::column(distinct_call("count", args))
        }
        "sumDistinct" | "sum_distinct" => {
            let args = column::columns(interpreter, &arguments.positional, place);
            Value::column(distinct_call("sum", args))
        }
        "first" | "last" | "first_value" | "last_value" | "any_value" => ordered_value(interpreter, name, arguments),
        "window" => window(interpreter, arguments),
        "udf" | "pandas_udf" | "arrow_udf" => return Ok(Some(make_udf(interpreter, name, arguments))),
        "call_udf" | "call_function" => {
            let function = arguments.text(0, "funcName").unwrap_or_default().to_lowercase();
            let rest = arguments.positional.get(1..).unwrap_or_default();
            let args = column::columns(interpreter, rest, place);
            column::call(&function, args)
        }
        "transform" | "filter" | "exists" | "forall" | "aggregate" | "reduce" | "zip_with" | "map_filter"
        | "transform_keys" | "transform_values" | "map_zip_with" | "array_sort" => {
            return higher_order(interpreter, name, arguments).map(Some);
        }
        "from_json" | "from_csv" | "from_xml" => from_text(interpreter, name, arguments),
        "struct" | "array" | "create_map" | "named_struct" => {
            let args = column::columns(interpreter, &arguments.positional, place);
            column::call(if name == "create_map" { "map" } else { name }, args)
        }
        "days" | "months" | "years" | "hours" | "bucket" => {
            let args = column::columns(interpreter, &arguments.positional, place);
            column::call(name, args)
        }
        _ => {
            let lower = name.to_lowercase();
            let function = NAMES.iter().find(|(from, _)| *from == lower).map_or(lower.as_str(), |(_, to)| to);
            let args = by_kind(interpreter, function, arguments);
            column::call(function, args)
        }
    };
    Ok(Some(value))
}

/// Arguments in order, strings taken as columns or literals as the function's signature says.
fn by_kind(interpreter: &mut Interpreter<'_>, function: &str, arguments: &Arguments) -> Vec<Expr> {
    let kinds = ARGUMENTS.iter().find(|(name, _)| *name == function).map_or("c", |(_, kinds)| kinds);
    let place = arguments.place.clone();
    let mut out = Vec::new();
    let values = arguments.positional.iter().chain(arguments.keywords.iter().map(|(_, value)| value));
    for (index, value) in values.enumerate() {
        let kind = kinds.as_bytes().get(index).or_else(|| kinds.as_bytes().last()).copied().unwrap_or(b'c');
        match (kind, value) {
            (_, Value::None) if index > 0 => {}
            (b'l', Value::Dict(_)) => out.push(options_map(value)),
            (b'l', _) => out.push(operand(interpreter, value, &place)),
            (_, Value::List(_) | Value::Tuple(_)) => {
                out.extend(column::columns(interpreter, std::slice::from_ref(value), &place));
            }
            (_, Value::SortKey(key)) => out.push(key.expr.clone()),
            _ => out.push(column::column(interpreter, value, &place)),
        }
    }
    out
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

fn ordered_value(interpreter: &mut Interpreter<'_>, name: &str, arguments: &Arguments) -> Value {
    let arg = column::column(interpreter, arguments.get(0, "col").unwrap_or(&Value::None), &arguments.place);
    let ignore_nulls = arguments.flag(1, "ignorenulls").or_else(|| arguments.flag(1, "ignoreNulls")).unwrap_or(false);
    match Expr::call(name, vec![arg]) {
        Expr::Call(call) => Value::column(Expr::Call(Call { ignore_nulls, ..call })),
        other => Value::column(other),
    }
}

fn window(interpreter: &mut Interpreter<'_>, arguments: &Arguments) -> Value {
    let place = &arguments.place;
    let time = column::column(interpreter, arguments.get(0, "timeColumn").unwrap_or(&Value::None), place);
    let mut args = vec![time];
    let duration = arguments.given(1, "windowDuration").cloned();
    let slide = arguments.given(2, "slideDuration").cloned();
    let start = arguments.given(3, "startTime").cloned();
    // A start without a slide means tumbling windows: the slide is the duration.
    let slide = if start.is_some() { slide.or_else(|| duration.clone()) } else { slide };
    for value in [duration, slide, start].into_iter().flatten() {
        args.push(operand(interpreter, &value, place));
    }
    column::call("window", args)
}

fn from_text(interpreter: &mut Interpreter<'_>, name: &str, arguments: &Arguments) -> Value {
    let place = &arguments.place;
    let input = column::column(interpreter, arguments.get(0, "col").unwrap_or(&Value::None), place);
    let schema = match arguments.get(1, "schema") {
        Some(Value::Schema(schema)) => Expr::string(&ddl(&schema.borrow().fields)),
        Some(Value::Type(data_type)) => Expr::string(&data_type.to_string()),
        Some(value) => operand(interpreter, value, place),
        None => Expr::null(),
    };
    let mut args = vec![input, schema];
    if let Some(options @ Value::Dict(_)) = arguments.get(2, "options") {
        args.push(options_map(options));
    }
    column::call(name, args)
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
fn higher_order(interpreter: &mut Interpreter<'_>, name: &str, arguments: &Arguments) -> Eval<Value> {
    let place = arguments.place.clone();
    let mut args = Vec::new();
    let values = arguments.positional.iter().chain(arguments.keywords.iter().map(|(_, value)| value));
    for value in values.cloned().collect::<Vec<_>>() {
        match &value {
            Value::Function(function) => {
                let params: Vec<Arc<str>> = function.definition.parameters.iter().map(|p| p.name.clone()).collect();
                let variables = params
                    .iter()
                    .map(|name| {
                        let variable =
                            Expr::LambdaVariable { name: name.clone(), data_type: DataType::Unknown, nullable: true };
                        Value::column(variable)
                    })
                    .collect();
                let body = interpreter.call(&value, Arguments::of(variables, place.clone()))?;
                let body = operand(interpreter, &body, &place);
                args.push(Expr::Lambda { params, body: Box::new(body) });
            }
            Value::None => {}
            Value::External(path) => {
                // `F.transform("xs", F.upper)`.
                let variable = Expr::LambdaVariable { name: "x".into(), data_type: DataType::Unknown, nullable: true };
                let applied = interpreter.call(
                    &Value::External(path.clone()),
                    Arguments::of(vec![Value::column(variable)], place.clone()),
                )?;
                let body = operand(interpreter, &applied, &place);
                args.push(Expr::Lambda { params: vec!["x".into()], body: Box::new(body) });
            }
            _ => args.push(column::column(interpreter, &value, &place)),
        }
    }
    Ok(column::call(name, args))
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
