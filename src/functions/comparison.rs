//! Comparisons and three-valued logic: `= <=> != < <= > >= and or not in isnull isnotnull isnan`.
//!
//! Values compare in the order of [`Value`]: NaN equals NaN and is greatest, both zeros are one, as in Spark.

use super::access::{boolean, double};
use super::coercion::{common_from, decimal_digits, wider_decimal_type};
use super::function::{Argument, EvalResult, Function, Invocation, Nulls, Param, Params, ResultType, Simple};
use crate::model::{DataType, Value};
use std::cmp::Ordering;

const SAME: Params = Params::Rule(comparable);
const LOGIC: Params = Params::Each(&[Param::Is(Simple::Boolean)]);
const ANY: Params = Params::Each(&[Param::Any]);
const BOOLEAN: ResultType = ResultType::Is(Simple::Boolean);

const fn comparison(names: &'static [&'static str], body: fn(&Invocation) -> EvalResult) -> Function {
    Function::scalar(names, SAME, BOOLEAN, Nulls::Propagate, body)
}

pub(super) static FUNCTIONS: &[Function] = &[
    comparison(&["=", "=="], |c| compare(c, Ordering::is_eq)),
    comparison(&["!=", "<>"], |c| compare(c, Ordering::is_ne)),
    comparison(&["<"], |c| compare(c, Ordering::is_lt)),
    comparison(&["<="], |c| compare(c, Ordering::is_le)),
    comparison(&[">"], |c| compare(c, Ordering::is_gt)),
    comparison(&[">="], |c| compare(c, Ordering::is_ge)),
    Function::scalar(&["<=>", "equal_null"], SAME, BOOLEAN, Nulls::Never, |c| {
        Ok(Value::Boolean(c.arg(0).cmp(c.arg(1)).is_eq()))
    }),
    Function::scalar(&["and"], LOGIC, BOOLEAN, Nulls::IfAny, |c| connective(c, false)),
    Function::scalar(&["or"], LOGIC, BOOLEAN, Nulls::IfAny, |c| connective(c, true)),
    Function::scalar(&["not", "!"], LOGIC, BOOLEAN, Nulls::Propagate, |c| Ok(Value::Boolean(!boolean(c.arg(0))?))),
    Function::scalar(&["in"], SAME, BOOLEAN, Nulls::IfAny, is_in),
    Function::scalar(&["isnull"], ANY, BOOLEAN, Nulls::Never, |c| Ok(Value::Boolean(c.arg(0).is_null()))),
    Function::scalar(&["isnotnull"], ANY, BOOLEAN, Nulls::Never, |c| Ok(Value::Boolean(!c.arg(0).is_null()))),
    Function::scalar(&["isnan"], Params::Each(&[Param::Is(Simple::Double)]), BOOLEAN, Nulls::Never, |c| {
        Ok(Value::Boolean(!c.arg(0).is_null() && double(c.arg(0))?.is_nan()))
    }),
];

/// An integer literal beside a decimal takes part with its own digits, as `DecimalPrecision` has it.
fn comparable(args: &[Argument]) -> Vec<DataType> {
    if let [left, right] = args {
        let decimal = |a: &Argument| matches!(a.data_type, DataType::Decimal { .. });
        if decimal(left) != decimal(right)
            && let (Some(l), Some(r)) = (decimal_digits(left), decimal_digits(right))
        {
            let wide = wider_decimal_type(l, r);
            return vec![wide.clone(), wide];
        }
    }
    common_from(args, 0)
}

fn compare(call: &Invocation, holds: fn(Ordering) -> bool) -> EvalResult {
    Ok(Value::Boolean(holds(order(call.arg(0), call.arg(1)))))
}

/// The order of two values; numbers of different types, where no cast stands between them, compare as numbers.
pub(super) fn order(left: &Value, right: &Value) -> Ordering {
    if std::mem::discriminant(left) == std::mem::discriminant(right) {
        return left.cmp(right);
    }
    match (super::access::long(left), super::access::long(right)) {
        (Ok(a), Ok(b)) => a.cmp(&b),
        _ => match (double(left), double(right)) {
            (Ok(a), Ok(b)) => Value::Double(a).cmp(&Value::Double(b)),
            _ => left.cmp(right),
        },
    }
}

/// `and`/`or` over any number of operands: one `decisive` operand decides, else a NULL makes the result NULL.
fn connective(call: &Invocation, decisive: bool) -> EvalResult {
    let mut unknown = false;
    for operand in call.args {
        match operand {
            Value::Null => unknown = true,
            value if boolean(value)? == decisive => return Ok(Value::Boolean(decisive)),
            _ => {}
        }
    }
    Ok(if unknown { Value::Null } else { Value::Boolean(!decisive) })
}

fn is_in(call: &Invocation) -> EvalResult {
    let Some((wanted, list)) = call.args.split_first() else { return Ok(Value::Null) };
    if wanted.is_null() {
        return Ok(if list.is_empty() { Value::Boolean(false) } else { Value::Null });
    }
    if list.iter().any(|item| !item.is_null() && order(wanted, item).is_eq()) {
        return Ok(Value::Boolean(true));
    }
    Ok(if list.iter().any(Value::is_null) { Value::Null } else { Value::Boolean(false) })
}

#[cfg(test)]
mod tests {
    use crate::functions::{EvalContext, evaluate};
    use crate::model::{DataType, Value};

    fn logic(name: &str, args: &[Option<bool>]) -> Value {
        let values: Vec<Value> = args.iter().map(|v| v.map_or(Value::Null, Value::Boolean)).collect();
        evaluate(name, &values, &vec![DataType::Boolean; values.len()], &EvalContext::default()).unwrap()
    }

    #[test]
    fn one_decisive_operand_beats_null() {
        assert_eq!(logic("and", &[None, Some(false)]), Value::Boolean(false));
        assert_eq!(logic("and", &[None, Some(true)]), Value::Null);
        assert_eq!(logic("or", &[None, Some(true)]), Value::Boolean(true));
        assert_eq!(logic("or", &[None, Some(false)]), Value::Null);
    }

    #[test]
    fn in_with_null_is_true_or_unknown_never_false() {
        let test =
            |args: &[Value]| evaluate("in", args, &vec![DataType::Int; args.len()], &EvalContext::default()).unwrap();
        assert_eq!(test(&[Value::Int(1), Value::Null, Value::Int(1)]), Value::Boolean(true));
        assert_eq!(test(&[Value::Int(1), Value::Null, Value::Int(2)]), Value::Null);
        assert_eq!(test(&[Value::Int(1), Value::Int(2)]), Value::Boolean(false));
    }
}
