//! Expressions with equal value and less in them: `ConstantFolding`, `BooleanSimplification`, `NullPropagation`, `OptimizeIn`,
//! `SimplifyCasts`, `SimplifyConditionals`, `SimplifyExtractValueOps`.

use crate::analyze::resolve::expression::{data_type, nullable, same_type};
use crate::functions::{self, EvalContext, Kind, Volatility};
use crate::model::{Call, DataType, Expr, Value};

/// Simplifies one node whose children are simple already.
pub(super) fn simplify(expr: Expr, context: &EvalContext) -> Expr {
    match expr {
        Expr::Call(call) => simplify_call(call, context),
        Expr::Cast { expr, to, try_cast } => simplify_cast(*expr, to, try_cast, context),
        Expr::Case { branches, otherwise } => simplify_case(branches, otherwise),
        other => other,
    }
}

fn simplify_call(call: Call, context: &EvalContext) -> Expr {
    let plain = !call.distinct && call.filter.is_none() && call.order_by.is_empty();
    if !plain {
        return Expr::Call(call);
    }
    if let Some(folded) = evaluated(&call, context) {
        return folded;
    }
    match (call.function.as_ref(), call.args.as_slice()) {
        ("and", [a, b]) => match (boolean(a), boolean(b)) {
            (Some(true), _) => b.clone(),
            (_, Some(true)) => a.clone(),
            (Some(false), _) | (_, Some(false)) => truth(false),
            _ if a == b => a.clone(),
            _ => Expr::Call(call),
        },
        ("or", [a, b]) => match (boolean(a), boolean(b)) {
            (Some(false), _) => b.clone(),
            (_, Some(false)) => a.clone(),
            (Some(true), _) | (_, Some(true)) => truth(true),
            _ if a == b => a.clone(),
            _ => Expr::Call(call),
        },
        ("not", [inner]) => negated(inner).unwrap_or(Expr::Call(call)),
        ("isnotnull", [arg]) if !nullable(arg) && !data_type(arg).is_unknown() => truth(true),
        ("isnull", [arg]) if !nullable(arg) && !data_type(arg).is_unknown() => truth(false),
        ("in", [value, only]) => Expr::call("=", vec![value.clone(), only.clone()]),
        ("coalesce", args) => simplify_coalesce(args).unwrap_or(Expr::Call(call)),
        ("getfield", [base, Expr::Literal { value: Value::String(field), .. }]) => {
            field_of(base, field).unwrap_or(Expr::Call(call))
        }
        ("if", [condition, then, otherwise]) => match boolean(condition) {
            Some(true) => then.clone(),
            Some(false) => otherwise.clone(),
            None => Expr::Call(call),
        },
        _ => Expr::Call(call),
    }
}

/// The value of a call of literals. An error stays for run time.
fn evaluated(call: &Call, context: &EvalContext) -> Option<Expr> {
    let function = functions::lookup(&call.function)?;
    if function.kind != Kind::Scalar
        || function.volatility != Volatility::Immutable
        || !function.is_interpreted()
        || call.args.is_empty()
    {
        return None;
    }
    let mut values = Vec::with_capacity(call.args.len());
    let mut types = Vec::with_capacity(call.args.len());
    for arg in &call.args {
        let Expr::Literal { value, data_type } = arg else { return None };
        values.push(value.clone());
        types.push(data_type.clone());
    }
    let data_type = data_type(&Expr::Call(call.clone()));
    let value = functions::evaluate(&call.function, &values, &types, context).ok()?;
    (!matches!(value, Value::Opaque(_)) && !data_type.is_unknown()).then_some(Expr::Literal { value, data_type })
}

fn simplify_cast(expr: Expr, to: DataType, try_cast: bool, context: &EvalContext) -> Expr {
    match &expr {
        Expr::Literal { value, data_type } => {
            match functions::cast(value, data_type, &to, context.ansi && !try_cast, &context.zone) {
                Ok(value) => Expr::Literal { value, data_type: to },
                Err(_) => Expr::Cast { expr: Box::new(expr), to, try_cast },
            }
        }
        _ if same_type(&data_type(&expr), &to) && !to.is_unknown() => expr,
        _ => Expr::Cast { expr: Box::new(expr), to, try_cast },
    }
}

fn simplify_case(branches: Vec<(Expr, Expr)>, otherwise: Option<Box<Expr>>) -> Expr {
    let mut kept = Vec::with_capacity(branches.len());
    for (when, then) in branches {
        match boolean(&when) {
            Some(false) => {}
            Some(true) if kept.is_empty() => return then,
            Some(true) => return Expr::Case { branches: kept, otherwise: Some(Box::new(then)) },
            None => kept.push((when, then)),
        }
    }
    match (kept.is_empty(), otherwise) {
        (true, Some(otherwise)) => *otherwise,
        (true, None) => Expr::null(),
        (false, otherwise) => Expr::Case { branches: kept, otherwise },
    }
}

fn simplify_coalesce(args: &[Expr]) -> Option<Expr> {
    let is_null = |e: &Expr| matches!(e, Expr::Literal { value: Value::Null, .. });
    let first_sure = args.iter().position(|a| !nullable(a) && !data_type(a).is_unknown());
    let end = first_sure.map_or(args.len(), |index| index + 1);
    let kept: Vec<Expr> = args.iter().take(end).filter(|a| !is_null(a)).cloned().collect();
    match kept.as_slice() {
        [only] => Some(only.clone()),
        [] => None,
        _ if kept.len() < args.len() => Some(Expr::call("coalesce", kept)),
        _ => None,
    }
}

/// The negation of a predicate without `not`, where there is one.
fn negated(inner: &Expr) -> Option<Expr> {
    if let Some(value) = boolean(inner) {
        return Some(truth(!value));
    }
    let Expr::Call(call) = inner else { return None };
    let swapped = |name: &str| Some(Expr::call(name, call.args.clone()));
    match (call.function.as_ref(), call.args.as_slice()) {
        ("not", [x]) => Some(x.clone()),
        ("<", _) => swapped(">="),
        ("<=", _) => swapped(">"),
        (">", _) => swapped("<="),
        (">=", _) => swapped("<"),
        ("=", _) => swapped("!="),
        ("!=", _) => swapped("="),
        ("isnull", _) => swapped("isnotnull"),
        ("isnotnull", _) => swapped("isnull"),
        ("and" | "or", [a, b]) => {
            let negate = |e: &Expr| negated(e).unwrap_or_else(|| Expr::call("not", vec![e.clone()]));
            let other = if call.function.as_ref() == "and" { "or" } else { "and" };
            Some(Expr::call(other, vec![negate(a), negate(b)]))
        }
        _ => None,
    }
}

/// A field of a struct that is made on the spot.
fn field_of(base: &Expr, field: &str) -> Option<Expr> {
    let Expr::Call(call) = base else { return None };
    match call.function.as_ref() {
        "named_struct" => call.args.chunks(2).find_map(|pair| match pair {
            [Expr::Literal { value: Value::String(name), .. }, value] if name.eq_ignore_ascii_case(field) => {
                Some(value.clone())
            }
            _ => None,
        }),
        "struct" => call.args.iter().find_map(|arg| match arg {
            Expr::Alias { expr, name, .. } if name.eq_ignore_ascii_case(field) => Some(expr.as_ref().clone()),
            Expr::Attribute(a) if a.name.eq_ignore_ascii_case(field) => Some(arg.clone()),
            _ => None,
        }),
        _ => None,
    }
}

pub(super) fn boolean(expr: &Expr) -> Option<bool> {
    match expr {
        Expr::Literal { value: Value::Boolean(value), .. } => Some(*value),
        _ => None,
    }
}

fn truth(value: bool) -> Expr {
    Expr::Literal { value: Value::Boolean(value), data_type: DataType::Boolean }
}
