//! `coalesce`, `if`, `nvl`, `nullif`, `greatest`, `least` and the like. CASE is an expression of its own.

use super::access::{boolean, double, long};
use super::coercion::common_from;
use super::comparison::order;
use super::function::{Argument, EvalResult, Function, Invocation, Nulls, Param, Params, ResultType, Simple};
use crate::model::{DataType, Value};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::scalar(&["coalesce"], Params::Common(0), ResultType::Arg(0), Nulls::IfAll, first_not_null),
    Function::scalar(&["nvl", "ifnull"], Params::Common(0), ResultType::Arg(0), Nulls::IfAll, first_not_null),
    Function::scalar(&["nvl2"], Params::Common(1), ResultType::Arg(1), Nulls::Rule(branch_nullable), |c| {
        Ok(c.arg(if c.arg(0).is_null() { 2 } else { 1 }).clone())
    }),
    Function::scalar(
        &["if", "iff"],
        Params::Rule(condition_then_common),
        ResultType::Arg(1),
        Nulls::Rule(branch_nullable),
        |c| {
            let holds = !c.arg(0).is_null() && boolean(c.arg(0))?;
            Ok(c.arg(if holds { 1 } else { 2 }).clone())
        },
    ),
    Function::scalar(&["nullif"], Params::Rule(nullif_types), ResultType::Arg(0), Nulls::Possible, |c| {
        let same = !c.arg(0).is_null() && !c.arg(1).is_null() && order(c.arg(0), c.arg(1)).is_eq();
        Ok(if same { Value::Null } else { c.arg(0).clone() })
    }),
    Function::scalar(&["nullifzero"], Params::Each(&[Param::Numeric]), ResultType::Arg(0), Nulls::Possible, |c| {
        Ok(if is_zero(c.arg(0)) { Value::Null } else { c.arg(0).clone() })
    }),
    Function::scalar(&["zeroifnull"], Params::Rule(beside_zero), ResultType::Arg(0), Nulls::Never, |c| {
        if c.arg(0).is_null() {
            super::cast(&Value::Int(0), &DataType::Int, c.result, true, &c.context.zone)
        } else {
            Ok(c.arg(0).clone())
        }
    }),
    Function::scalar(
        &["nanvl"],
        Params::Each(&[Param::Is(Simple::Double)]),
        ResultType::Is(Simple::Double),
        Nulls::IfAny,
        |c| {
            let not_a_number = !c.arg(0).is_null() && double(c.arg(0))?.is_nan();
            Ok(c.arg(usize::from(not_a_number)).clone())
        },
    ),
    Function::scalar(&["greatest"], Params::Common(0), ResultType::Arg(0), Nulls::IfAll, |c| {
        Ok(c.args.iter().filter(|v| !v.is_null()).max_by(|a, b| order(a, b)).cloned().unwrap_or(Value::Null))
    }),
    Function::scalar(&["least"], Params::Common(0), ResultType::Arg(0), Nulls::IfAll, |c| {
        Ok(c.args.iter().filter(|v| !v.is_null()).min_by(|a, b| order(a, b)).cloned().unwrap_or(Value::Null))
    }),
    Function::scalar(
        &["decode"],
        Params::Rule(decode_types),
        ResultType::Rule(decode_result),
        Nulls::Rule(decode_nullable),
        decode,
    ),
];

fn first_not_null(call: &Invocation) -> EvalResult {
    Ok(call.args.iter().find(|v| !v.is_null()).cloned().unwrap_or(Value::Null))
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Decimal(v) => v.unscaled == 0,
        other => long(other).map_or_else(|_| double(other).is_ok_and(|v| v == 0.0), |v| v == 0),
    }
}

/// `coalesce(x, 0)`.
fn beside_zero(args: &[Argument]) -> Vec<DataType> {
    args.iter()
        .map(|a| super::coercion::wider_type(&a.data_type, &DataType::Int).unwrap_or_else(|| a.data_type.clone()))
        .collect()
}

fn branch_nullable(args: &[Argument]) -> bool {
    args.iter().skip(1).any(|a| a.nullable)
}

fn condition_then_common(args: &[Argument]) -> Vec<DataType> {
    let mut types = common_from(args, 1);
    if let Some(first) = types.first_mut() {
        *first = DataType::Boolean;
    }
    types
}

/// The result keeps the first argument's type; both are compared in their common one.
fn nullif_types(args: &[Argument]) -> Vec<DataType> {
    args.iter().map(|a| a.data_type.clone()).collect()
}

/// `decode(binary, charset)`, or `decode(expr, search, result, …, default)`.
fn decode_types(args: &[Argument]) -> Vec<DataType> {
    args.iter().map(|a| a.data_type.clone()).collect()
}

fn decode_result(args: &[Argument]) -> DataType {
    if args.len() <= 2 {
        return DataType::String;
    }
    let results: Vec<DataType> = args
        .iter()
        .enumerate()
        .filter(|(index, _)| *index >= 2 && (index % 2 == 0 || index + 1 == args.len()))
        .map(|(_, a)| a.data_type.clone())
        .collect();
    super::coercion::common_type(&results).unwrap_or(DataType::Unknown)
}

/// Without a default, no match gives NULL.
fn decode_nullable(args: &[Argument]) -> bool {
    let is_result = |index: usize| index >= 2 && (index.is_multiple_of(2) || index + 1 == args.len());
    args.len() <= 2 || args.len() % 2 == 1 || args.iter().enumerate().any(|(index, a)| is_result(index) && a.nullable)
}

fn decode(call: &Invocation) -> EvalResult {
    if call.args.len() <= 2 {
        return match call.arg(0) {
            Value::Null => Ok(Value::Null),
            _ => Ok(Value::string(String::from_utf8_lossy(call.bytes(0)?).into_owned())),
        };
    }
    let wanted = call.arg(0);
    let rest = call.args.get(1..).unwrap_or_default();
    let mut pairs = rest.chunks_exact(2);
    let matching = |search: &Value| match (search.is_null(), wanted.is_null()) {
        (false, false) => order(search, wanted).is_eq(),
        (a, b) => a && b,
    };
    let found = pairs.by_ref().find_map(|pair| match pair {
        [search, result] if matching(search) => Some(result.clone()),
        _ => None,
    });
    Ok(found.or_else(|| pairs.remainder().first().cloned()).unwrap_or(Value::Null))
}
