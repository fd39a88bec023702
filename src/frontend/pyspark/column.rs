//! The Column API.

use super::size;
use crate::frontend::pyspark::batch;
use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::sql_text;
use crate::frontend::python::value::{Arguments, Udf, Unknown, Value};
use crate::functions::signature;
use crate::model::{
    AttrId, Call, ColumnName, DataType, Decimal, Expr, Opaque, Place, SortKey, SubqueryKind, Value as Constant,
    WindowSpec,
};
use std::rc::Rc;
use std::sync::Arc;

pub fn call(function: &str, args: Vec<Expr>) -> Value {
    Value::column(Expr::call(function, args))
}

pub fn negative(expr: &Expr) -> Value {
    // `-1` of a literal column is a literal of its own in neither Spark nor here.
    call("negative", vec![expr.clone()])
}

/// A column by the name `F.col` and the DataFrame methods take: dots separate, back quotes protect, `*` is a star.
pub fn named(text: &str, place: &Place) -> Expr {
    let parts = name_parts(text);
    match parts.split_last() {
        Some((last, qualifier)) if last == "*" => {
            Expr::Star { qualifier: qualifier.to_vec(), except: Vec::new(), replace: Vec::new(), place: place.clone() }
        }
        _ => Expr::Column(ColumnName { parts, frame: None, place: place.clone() }),
    }
}

fn name_parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    let mut depth = 0u32;
    for c in text.trim().chars() {
        match c {
            '`' => {
                quoted = !quoted;
                continue;
            }
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '.' if !quoted && depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts
}

/// A symbol where a column is wanted.
pub fn opaque(unknown: &Unknown) -> Expr {
    Expr::Opaque(Opaque {
        name: format!("{{{}}}", unknown.name).into(),
        reason: unknown.reason.clone(),
        content: unknown.content,
        args: unknown.columns.iter().map(|expr| expr.as_ref().clone()).collect(),
        data_type: DataType::Unknown,
        deterministic: true,
        code: Vec::new(),
        place: unknown.place.clone(),
    })
}

/// An operand: a column, or a Python constant as a literal.
pub fn operand(interpreter: &mut Interpreter<'_>, value: &Value, place: &Place) -> Expr {
    match value {
        Value::Column(expr) => match size::of_expr(expr) {
            // Running out is seen at the next step.
            Some(nodes) if interpreter.spend(nodes / 8).is_ok() => expr.as_ref().clone(),
            _ => too_large(interpreter, place),
        },
        Value::SortKey(key) => key.expr.clone(),
        Value::None => Expr::null(),
        Value::Bool(flag) => Expr::literal(Constant::Boolean(*flag), DataType::Boolean),
        Value::Int(number) => Expr::integer(*number),
        Value::Float(number) => Expr::literal(Constant::Double(*number), DataType::Double),
        Value::Str(text) => Expr::string(&text.text),
        Value::Date(days) => Expr::literal(Constant::Date(*days), DataType::Date),
        Value::Timestamp(micros) => Expr::literal(Constant::Timestamp(*micros), DataType::Timestamp),
        Value::Duration(micros) => Expr::literal(Constant::DayTimeInterval(*micros), DataType::DayTimeInterval),
        Value::List(_) | Value::Tuple(_) | Value::Set(_) => {
            let items = interpreter.items_of(value).map(|list| list.items).unwrap_or_default();
            Expr::call("array", items.iter().map(|item| operand(interpreter, item, place)).collect())
        }
        Value::Choice(choice) => {
            let args = choice.options.iter().map(|option| operand(interpreter, option, place)).collect();
            let reason = format!("which of these it is hangs on `{}`", choice.condition);
            either(interpreter, &choice.condition, reason, args, &choice.place.or(place))
        }
        Value::Unknown(unknown) => opaque(unknown),
        Value::Frame(frame) => {
            Expr::Subquery { kind: SubqueryKind::Scalar, plan: Box::new(frame.plan.as_ref().clone()) }
        }
        other => {
            let reason = format!("a {} is used as a column", other.type_name());
            let name = interpreter.identity(other);
            match interpreter.unknown(&name, "unknown-column", reason, place.clone()) {
                Value::Unknown(unknown) => opaque(&unknown),
                _ => Expr::null(),
            }
        }
    }
}

fn too_large(interpreter: &mut Interpreter<'_>, place: &Place) -> Expr {
    let reason = "this expression is too large to follow";
    match interpreter.unknown("expression", "too-deep", reason, place.clone()) {
        Value::Unknown(unknown) => opaque(&unknown),
        _ => Expr::null(),
    }
}

fn either(interpreter: &mut Interpreter<'_>, condition: &str, reason: String, args: Vec<Expr>, place: &Place) -> Expr {
    let name = format!("if {condition}");
    match interpreter.unknown(&name, "unknown-condition", reason, place.clone()) {
        Value::Unknown(unknown) => match opaque(&unknown) {
            Expr::Opaque(opaque) => Expr::Opaque(Opaque { args, ..opaque }),
            other => other,
        },
        _ => Expr::null(),
    }
}

/// A column, or a column's name.
pub fn column(interpreter: &mut Interpreter<'_>, value: &Value, place: &Place) -> Expr {
    match value {
        Value::Str(text) => named(&text.text, place),
        // What a call gave is a value, and so is what is made of columns: not the name of a column.
        Value::Unknown(unknown)
            if unknown.inputs.is_empty() && unknown.columns.is_empty() && unknown.code != "unknown-call" =>
        {
            let name = format!("{{{}}}", unknown.name);
            Expr::Column(ColumnName { parts: vec![name], frame: None, place: place.clone() })
        }
        Value::External(path) => {
            let name = format!("{{{path}}}");
            Expr::Column(ColumnName { parts: vec![name], frame: None, place: place.clone() })
        }
        other => operand(interpreter, other, place),
    }
}

/// Columns given one by one or as lists.
pub fn columns(interpreter: &mut Interpreter<'_>, values: &[Value], place: &Place) -> Vec<Expr> {
    let mut out = Vec::new();
    for value in values {
        match value {
            Value::List(_) | Value::Tuple(_) | Value::Set(_) => {
                let Some(list) = interpreter.items_of(value) else { continue };
                // Of an unknown set, elements with symbols stand for columns that only the data names.
                let (stand_ins, known): (Vec<&Value>, Vec<&Value>) =
                    list.items.iter().partition(|item| list.open && names_symbol(item));
                out.extend(known.into_iter().map(|item| column(interpreter, item, place)));
                if list.open {
                    let args = stand_ins.into_iter().map(|item| column(interpreter, item, place)).collect();
                    out.push(unknown_columns(interpreter, args, place));
                }
            }
            other => out.push(column(interpreter, other, place)),
        }
    }
    out
}

/// Columns that only the data names, with the expressions that stand for each of them.
fn unknown_columns(interpreter: &mut Interpreter<'_>, args: Vec<Expr>, place: &Place) -> Expr {
    let reason = "further columns are only known at run time";
    match interpreter.unknown("columns", "unknown-columns", reason, place.clone()) {
        Value::Unknown(unknown) => match opaque(&unknown) {
            Expr::Opaque(opaque) => Expr::Opaque(Opaque { args, ..opaque }),
            other => other,
        },
        _ => Expr::null(),
    }
}

/// A column, or the name of one, that holds a symbol.
fn names_symbol(value: &Value) -> bool {
    match value {
        Value::Unknown(_) => true,
        Value::Str(text) => text.symbolic,
        Value::Column(expr) => {
            let mut symbol = false;
            expr.walk(&mut |part| {
                symbol |= matches!(part, Expr::Column(column) if column.parts.iter().any(|part| part.contains('{')))
                    || matches!(part, Expr::Alias { name, .. } if name.contains('{'));
            });
            symbol
        }
        _ => false,
    }
}

pub fn sort_key(interpreter: &mut Interpreter<'_>, value: &Value, place: &Place) -> SortKey {
    match value {
        Value::SortKey(key) => key.as_ref().clone(),
        other => SortKey::new(column(interpreter, other, place), false),
    }
}

pub fn alias(expr: Expr, name: &str, place: &Place) -> Expr {
    Expr::Alias { expr: Box::new(expr), name: name.into(), id: AttrId(0), place: place.clone() }
}

/// `left operator right` where one of both is a column.
pub fn binary(interpreter: &mut Interpreter<'_>, operator: &str, left: &Value, right: &Value, place: &Place) -> Value {
    let function = match operator {
        "==" => "=",
        "<>" => "!=",
        "&" => "and",
        "|" => "or",
        "**" => "power",
        other => other,
    };
    let left = operand(interpreter, left, place);
    let right = operand(interpreter, right, place);
    call(function, vec![left, right])
}

/// `column[key]`, `column.field`.
pub fn item(interpreter: &mut Interpreter<'_>, expr: &Expr, key: &Value, place: &Place) -> Value {
    match key {
        Value::Str(text) => match expr {
            // A name may still turn out to be qualified: analysis decides.
            Expr::Column(column) if column.frame.is_none() => {
                let mut parts = column.parts.clone();
                parts.push(text.text.to_string());
                Value::column(Expr::Column(ColumnName { parts, ..column.clone() }))
            }
            _ => call("getfield", vec![expr.clone(), Expr::string(&text.text)]),
        },
        Value::Slice(bounds) => {
            let from = operand(interpreter, &bounds[0], place);
            let length = operand(interpreter, &bounds[1], place);
            call("substring", vec![expr.clone(), from, length])
        }
        other => {
            let key = operand(interpreter, other, place);
            call("getitem", vec![expr.clone(), key])
        }
    }
}

pub fn is_method(name: &str) -> bool {
    signature::column_method(name).is_some()
}

/// Methods that nothing but a Column has.
const DISTINCTIVE: &[&str] = &[
    "cast",
    "astype",
    "try_cast",
    "isNull",
    "isNotNull",
    "isNaN",
    "isin",
    "rlike",
    "ilike",
    "otherwise",
    "over",
    "asc_nulls_first",
    "asc_nulls_last",
    "desc_nulls_first",
    "desc_nulls_last",
    "eqNullSafe",
    "bitwiseAND",
    "bitwiseOR",
    "bitwiseXOR",
    "withField",
    "dropFields",
];

/// A value whose kind is not known is used as a Column: by a method that only Columns have, or it was made of Columns.
pub fn suggests_column(name: &str, made_of_columns: bool) -> bool {
    DISTINCTIVE.contains(&name) || (made_of_columns && is_method(name))
}

pub fn method(
    interpreter: &mut Interpreter<'_>,
    expr: &Rc<Expr>,
    name: &str,
    arguments: &Arguments,
) -> Eval<Option<Value>> {
    let place = &arguments.place;
    let this = || expr.as_ref().clone();
    let mut other = |index: usize, name: &str| match arguments.get(index, name) {
        Some(value) => operand(interpreter, value, place),
        None => Expr::null(),
    };
    Ok(Some(match name {
        "alias" | "name" => return Ok(Some(alias_of(this(), arguments))),
        "cast" | "astype" | "try_cast" => {
            let to = data_type(interpreter, arguments.get(0, "dataType"), place);
            Value::column(Expr::Cast { expr: Box::new(this()), to, try_cast: name == "try_cast" })
        }
        "isNull" => call("isnull", vec![this()]),
        "isNotNull" => call("isnotnull", vec![this()]),
        "isNaN" => call("isnan", vec![this()]),
        "isin" => {
            let mut values = Vec::new();
            for value in &arguments.positional {
                match interpreter.items_of(value).filter(|_| !matches!(value, Value::Str(_))) {
                    Some(list) => values.extend(list.items),
                    None => values.push(value.clone()),
                }
            }
            let mut args = vec![this()];
            args.extend(values.iter().map(|value| operand(interpreter, value, place)));
            call("in", args)
        }
        "like" | "rlike" | "ilike" | "startswith" | "endswith" | "contains" => {
            let second = other(0, "other");
            call(name, vec![this(), second])
        }
        "eqNullSafe" => {
            let second = other(0, "other");
            call("<=>", vec![this(), second])
        }
        "bitwiseAND" | "bitwiseOR" | "bitwiseXOR" => {
            let second = other(0, "other");
            let symbol = match name {
                "bitwiseAND" => "&",
                "bitwiseOR" => "|",
                _ => "^",
            };
            call(symbol, vec![this(), second])
        }
        "between" => {
            let low = other(0, "lowerBound");
            let high = other(1, "upperBound");
            call("and", vec![Expr::call(">=", vec![this(), low]), Expr::call("<=", vec![this(), high])])
        }
        "substr" => {
            let start = other(0, "startPos");
            let length = other(1, "length");
            call("substring", vec![this(), start, length])
        }
        "getItem" | "getField" => {
            let key = arguments.get(0, "key").or_else(|| arguments.keyword("name")).cloned().unwrap_or(Value::None);
            return Ok(Some(item(interpreter, expr, &key, place)));
        }
        "when" => {
            let condition = other(0, "condition");
            let value = other(1, "value");
            match this() {
                Expr::Case { mut branches, otherwise } => {
                    branches.push((condition, value));
                    Value::column(Expr::Case { branches, otherwise })
                }
                _ => return Ok(None),
            }
        }
        "otherwise" => {
            let value = other(0, "value");
            match this() {
                Expr::Case { branches, .. } => Value::column(Expr::Case { branches, otherwise: Some(Box::new(value)) }),
                _ => return Ok(None),
            }
        }
        "over" => {
            let spec = match arguments.get(0, "window") {
                Some(Value::Window(spec)) => spec.as_ref().clone(),
                Some(unknown) => {
                    // An unknown window: its partitions are.
                    let unknown = operand(interpreter, unknown, place);
                    WindowSpec { partition_by: vec![unknown], order_by: Vec::new(), frame: None }
                }
                None => WindowSpec { partition_by: Vec::new(), order_by: Vec::new(), frame: None },
            };
            Value::column(over(this(), spec))
        }
        "asc" | "asc_nulls_first" => Value::SortKey(Rc::new(SortKey::new(this(), false))),
        "desc" | "desc_nulls_last" => Value::SortKey(Rc::new(SortKey::new(this(), true))),
        "asc_nulls_last" => Value::SortKey(Rc::new(SortKey { nulls_first: false, ..SortKey::new(this(), false) })),
        "desc_nulls_first" => Value::SortKey(Rc::new(SortKey { nulls_first: true, ..SortKey::new(this(), true) })),
        "withField" => {
            let field = other(0, "fieldName");
            let value = other(1, "col");
            call("with_field", vec![this(), field, value])
        }
        "dropFields" => {
            let mut args = vec![this()];
            args.extend(arguments.positional.iter().map(|value| operand(interpreter, value, place)));
            call("drop_fields", args)
        }
        "outer" => Value::Column(expr.clone()),
        "transform" => {
            let Some(function) = arguments.get(0, "f").cloned() else { return Ok(None) };
            return interpreter
                .call(&function, Arguments::of(vec![Value::Column(expr.clone())], place.clone()))
                .map(Some);
        }
        _ => return Ok(None),
    }))
}

/// An alias around a window function stays outside of it.
fn over(expr: Expr, spec: WindowSpec) -> Expr {
    match expr {
        Expr::Alias { expr, name, id, place } => Expr::Alias { expr: Box::new(over(*expr, spec)), name, id, place },
        call => Expr::Window { call: Box::new(call), spec },
    }
}

fn alias_of(expr: Expr, arguments: &Arguments) -> Value {
    let names: Vec<Arc<str>> = arguments.positional.iter().filter_map(Value::render_string).collect();
    match names.as_slice() {
        [name] => Value::column(alias(expr, name, &arguments.place)),
        [] => Value::column(expr),
        _ => Value::column(Expr::MultiAlias { expr: Box::new(expr), names }),
    }
}

/// A data type: an object of `pyspark.sql.types`, or its name.
pub fn data_type(interpreter: &mut Interpreter<'_>, value: Option<&Value>, place: &Place) -> DataType {
    match value {
        Some(Value::Type(data_type)) => data_type.as_ref().clone(),
        Some(Value::Schema(schema)) => DataType::Struct(schema.borrow().fields.clone()),
        Some(Value::External(path)) => super::types::by_name(path).unwrap_or(DataType::Unknown),
        Some(Value::Str(text)) => match sql_text::data_type(&text.text) {
            Some(data_type) => data_type,
            None => {
                // A list of columns is a struct here.
                match sql_text::schema(&text.text) {
                    Some(schema) => DataType::Struct(schema.fields),
                    None => {
                        let reason = format!("`{}` is no data type that is known", text.text);
                        interpreter.unknown(&text.text, "unknown-type", reason, place.clone());
                        DataType::Unknown
                    }
                }
            }
        },
        _ => DataType::Unknown,
    }
}

/// Applies a UDF to columns.
pub fn udf_call(interpreter: &mut Interpreter<'_>, udf: &Udf, arguments: &Arguments) -> Expr {
    let values: Vec<Value> =
        arguments.positional.iter().cloned().chain(arguments.keywords.iter().map(|(_, value)| value.clone())).collect();
    let args = columns(interpreter, &values, &arguments.place);
    if let Some(argument) = batch::returned_argument(interpreter, &udf.function, &args, &arguments.place) {
        return Expr::Cast { expr: Box::new(argument), to: udf.returns.clone(), try_cast: false };
    }
    Expr::Opaque(Opaque { args, ..udf_without_arguments(interpreter, udf, &arguments.place) })
}

/// A UDF by its code, as any call of it has it.
pub fn udf_without_arguments(interpreter: &mut Interpreter<'_>, udf: &Udf, place: &Place) -> Opaque {
    let (content, code) = interpreter.code_of(&udf.function);
    Opaque {
        name: interpreter.short(&udf.function).into(),
        reason: "".into(),
        content,
        args: Vec::new(),
        data_type: udf.returns.clone(),
        deterministic: udf.deterministic,
        code,
        place: place.clone(),
    }
}

/// A decimal literal by its text: precision and scale as the digits say.
pub fn decimal_literal(text: &str) -> Option<Expr> {
    let clean = text.trim();
    let (whole, fraction) = clean.split_once('.').unwrap_or((clean, ""));
    let unscaled: i128 = format!("{whole}{fraction}").parse().ok()?;
    let digits = whole.trim_start_matches(['-', '+', '0']).len() + fraction.len();
    let scale = i8::try_from(fraction.len()).ok()?;
    let precision = u8::try_from(digits.max(fraction.len()).max(1)).ok()?;
    let value = Constant::Decimal(Decimal { unscaled, precision, scale });
    Some(Expr::literal(value, DataType::Decimal { precision, scale }))
}

/// A call with DISTINCT.
pub fn distinct_call(function: &str, args: Vec<Expr>) -> Expr {
    match Expr::call(function, args) {
        Expr::Call(call) => Expr::Call(Call { distinct: true, ..call }),
        other => other,
    }
}
