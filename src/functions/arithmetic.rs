//! Operators on numbers, dates and intervals: `+ - * / div % negative ~ & | ^ << >>` and their `try_` forms.
//!
//! Decimal results: `DecimalPrecision` with `spark.sql.decimalOperations.allowPrecisionLoss`, its default.

use super::access::{decimal, double, int, long};
use super::cast::narrow;
use super::coercion::{adjusted, arithmetic_operands};
use super::decimal as exact;
use super::function::{
    Argument, EvalError, EvalResult, Function, Invocation, Nulls, Param, Params, ResultType, Simple,
};
use super::interval::{self, Interval, add_to_date, add_to_timestamp};
use crate::model::{DataType, Decimal, Value};

const OPERANDS: Params = Params::Rule(operands);
const INTEGRAL: Params = Params::Rule(integral_pair);

pub(super) static FUNCTIONS: &[Function] = &[
    Function::scalar(&["+"], OPERANDS, ResultType::Rule(sum_type), Nulls::Propagate, |c| apply(c, Operation::Add)),
    Function::scalar(&["-"], OPERANDS, ResultType::Rule(difference_type), Nulls::Propagate, |c| {
        apply(c, Operation::Subtract)
    }),
    Function::scalar(&["*"], OPERANDS, ResultType::Rule(product_type), Nulls::Propagate, |c| {
        apply(c, Operation::Multiply)
    }),
    Function::scalar(
        &["/"],
        Params::Rule(divide_operands),
        ResultType::Rule(quotient_type),
        Nulls::PropagateOrNull,
        |c| apply(c, Operation::Divide),
    ),
    Function::scalar(&["div"], Params::Rule(div_operands), ResultType::Is(Simple::Long), Nulls::PropagateOrNull, |c| {
        apply(c, Operation::IntegralDivide)
    }),
    Function::scalar(&["%", "mod"], OPERANDS, ResultType::Rule(remainder_type), Nulls::PropagateOrNull, |c| {
        apply(c, Operation::Remainder)
    }),
    Function::scalar(&["pmod"], OPERANDS, ResultType::Rule(remainder_type), Nulls::PropagateOrNull, |c| {
        apply(c, Operation::Pmod)
    }),
    Function::scalar(&["try_add"], OPERANDS, ResultType::Rule(sum_type), Nulls::PropagateOrNull, |c| {
        try_apply(c, Operation::Add)
    }),
    Function::scalar(&["try_subtract"], OPERANDS, ResultType::Rule(difference_type), Nulls::PropagateOrNull, |c| {
        try_apply(c, Operation::Subtract)
    }),
    Function::scalar(&["try_multiply"], OPERANDS, ResultType::Rule(product_type), Nulls::PropagateOrNull, |c| {
        try_apply(c, Operation::Multiply)
    }),
    Function::scalar(
        &["try_divide"],
        Params::Rule(divide_operands),
        ResultType::Rule(quotient_type),
        Nulls::PropagateOrNull,
        |c| try_apply(c, Operation::Divide),
    ),
    Function::scalar(&["try_mod"], OPERANDS, ResultType::Rule(remainder_type), Nulls::PropagateOrNull, |c| {
        try_apply(c, Operation::Remainder)
    }),
    Function::scalar(
        &["negative"],
        Params::Each(&[Param::NumericOrInterval]),
        ResultType::Arg(0),
        Nulls::Propagate,
        negate,
    ),
    Function::scalar(
        &["positive"],
        Params::Each(&[Param::NumericOrInterval]),
        ResultType::Arg(0),
        Nulls::Propagate,
        |c| Ok(c.arg(0).clone()),
    ),
    Function::scalar(
        &["abs"],
        Params::Each(&[Param::NumericOrInterval]),
        ResultType::Arg(0),
        Nulls::Propagate,
        absolute,
    ),
    Function::scalar(&["~"], Params::Each(&[Param::Integral]), ResultType::Arg(0), Nulls::Propagate, |c| {
        bits(c, |a, _| !a)
    }),
    Function::scalar(&["&"], INTEGRAL, ResultType::Arg(0), Nulls::Propagate, |c| bits(c, |a, b| a & b)),
    Function::scalar(&["|"], INTEGRAL, ResultType::Arg(0), Nulls::Propagate, |c| bits(c, |a, b| a | b)),
    Function::scalar(&["^"], INTEGRAL, ResultType::Arg(0), Nulls::Propagate, |c| bits(c, |a, b| a ^ b)),
    Function::scalar(&["<<", "shiftleft"], SHIFT, ResultType::Arg(0), Nulls::Propagate, |c| {
        shift(c, i32::wrapping_shl, i64::wrapping_shl)
    }),
    Function::scalar(&[">>", "shiftright"], SHIFT, ResultType::Arg(0), Nulls::Propagate, |c| {
        shift(c, i32::wrapping_shr, i64::wrapping_shr)
    }),
    Function::scalar(&[">>>", "shiftrightunsigned"], SHIFT, ResultType::Arg(0), Nulls::Propagate, |c| {
        shift(
            c,
            |a, by| a.cast_unsigned().wrapping_shr(by).cast_signed(),
            |a, by| a.cast_unsigned().wrapping_shr(by).cast_signed(),
        )
    }),
];

const SHIFT: Params = Params::Each(&[Param::Integral, Param::Is(Simple::Int)]);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    IntegralDivide,
    Remainder,
    Pmod,
}

fn is_interval(data_type: &DataType) -> bool {
    matches!(data_type, DataType::CalendarInterval | DataType::DayTimeInterval | DataType::YearMonthInterval)
}

/// Dates and intervals take part as they are; a string beside one becomes the datetime (ANSI's `BinaryArithmeticWithDatetimeResolver`).
fn operands(args: &[Argument]) -> Vec<DataType> {
    let types: Vec<DataType> = args.iter().map(|a| a.data_type.clone()).collect();
    let [left, right] = types.as_slice() else { return types };
    match (left, right) {
        (DataType::String, t) if is_interval(t) => vec![DataType::Timestamp, t.clone()],
        (t, DataType::String) if is_interval(t) => vec![t.clone(), DataType::Timestamp],
        (l, r) if is_interval(l) && is_interval(r) => types,
        (l, r) if is_interval(l) || is_interval(r) => match (l, r) {
            (n, interval) if n.is_numeric() && is_interval(interval) => types,
            _ => types,
        },
        (DataType::Date, n) if n.is_integral() => vec![DataType::Date, DataType::Int],
        (n, DataType::Date) if n.is_integral() => vec![DataType::Int, DataType::Date],
        (DataType::Date, DataType::Date) => types,
        (l, r) if l.is_datetime() && r.is_datetime() => {
            let wide = super::coercion::wider_type(l, r).unwrap_or(DataType::Timestamp);
            vec![wide.clone(), wide]
        }
        (d, DataType::String) | (DataType::String, d) if d.is_datetime() => vec![d.clone(), d.clone()],
        _ => arithmetic_operands(args),
    }
}

/// `/` divides decimals as decimals and everything else as doubles.
fn divide_operands(args: &[Argument]) -> Vec<DataType> {
    let types = operands(args);
    match types.as_slice() {
        [DataType::Decimal { .. }, DataType::Decimal { .. }] => types,
        [l, r] if is_interval(l) && (r.is_numeric() || *r == DataType::Null) => types,
        [l, r] if l.is_unknown() || r.is_unknown() => types,
        _ => types.iter().map(|_| DataType::Double).collect(),
    }
}

/// `div` works on bigint or on decimals.
fn div_operands(args: &[Argument]) -> Vec<DataType> {
    let types = operands(args);
    match types.as_slice() {
        [l, r] if is_interval(l) && is_interval(r) => types,
        [DataType::Decimal { .. }, DataType::Decimal { .. }] => types,
        _ => types.iter().map(|t| if t.is_unknown() { t.clone() } else { DataType::Long }).collect(),
    }
}

fn integral_pair(args: &[Argument]) -> Vec<DataType> {
    match args {
        [l, r] => {
            let side = |a: &Argument| super::coercion::implicit_cast(Param::Integral, &a.data_type);
            match super::coercion::wider_type(&side(l), &side(r)) {
                Some(wide) => vec![wide.clone(), wide],
                None => vec![l.data_type.clone(), r.data_type.clone()],
            }
        }
        _ => args.iter().map(|a| a.data_type.clone()).collect(),
    }
}

fn pair(args: &[Argument]) -> Option<(&DataType, &DataType)> {
    match args {
        [left, right] => Some((&left.data_type, &right.data_type)),
        _ => None,
    }
}

/// Precision and scale of both operands, where both are decimals.
fn decimals(args: &[Argument]) -> Option<[i16; 4]> {
    match pair(args)? {
        (DataType::Decimal { precision: p1, scale: s1 }, DataType::Decimal { precision: p2, scale: s2 }) => {
            Some([i16::from(*p1), i16::from(*s1), i16::from(*p2), i16::from(*s2)])
        }
        _ => None,
    }
}

fn sum_type(args: &[Argument]) -> DataType {
    if let Some([p1, s1, p2, s2]) = decimals(args) {
        let scale = s1.max(s2);
        return adjusted((p1 - s1).max(p2 - s2) + scale + 1, scale);
    }
    match pair(args) {
        // A date moves by whole days; by a time of day it becomes a timestamp.
        Some((DataType::Date, DataType::DayTimeInterval) | (DataType::DayTimeInterval, DataType::Date)) => {
            DataType::Timestamp
        }
        Some((d, i) | (i, d)) if d.is_datetime() && (is_interval(i) || i.is_integral()) => d.clone(),
        Some((l, _)) => l.clone(),
        None => DataType::Unknown,
    }
}

fn difference_type(args: &[Argument]) -> DataType {
    match pair(args) {
        Some((l, r)) if l.is_datetime() && r.is_datetime() => DataType::DayTimeInterval,
        _ => sum_type(args),
    }
}

fn product_type(args: &[Argument]) -> DataType {
    if let Some([p1, s1, p2, s2]) = decimals(args) {
        return adjusted(p1 + p2 + 1, s1 + s2);
    }
    match pair(args) {
        Some((_, i)) if is_interval(i) => i.clone(),
        Some((l, _)) => l.clone(),
        None => DataType::Unknown,
    }
}

fn quotient_type(args: &[Argument]) -> DataType {
    if let Some([p1, s1, p2, s2]) = decimals(args) {
        let scale = (s1 + p2 + 1).max(6);
        return adjusted(p1 - s1 + s2 + scale, scale);
    }
    match pair(args) {
        Some((i, _)) if is_interval(i) => i.clone(),
        Some((l, r)) if l.is_unknown() || r.is_unknown() => DataType::Unknown,
        _ => DataType::Double,
    }
}

fn remainder_type(args: &[Argument]) -> DataType {
    if let Some([p1, s1, p2, s2]) = decimals(args) {
        let scale = s1.max(s2);
        return adjusted((p1 - s1).min(p2 - s2) + scale, scale);
    }
    pair(args).map_or(DataType::Unknown, |(l, _)| l.clone())
}

pub(super) fn overflow(what: &str) -> EvalError {
    EvalError::new("ARITHMETIC_OVERFLOW", format!("{what} caused overflow"))
}

pub(super) fn divide_by_zero() -> EvalError {
    EvalError::new("DIVIDE_BY_ZERO", "division by zero; use try_divide to get NULL instead")
}

fn remainder_by_zero() -> EvalError {
    EvalError::new("REMAINDER_BY_ZERO", "remainder by zero; use try_mod to get NULL instead")
}

fn try_apply(call: &Invocation, operation: Operation) -> EvalResult {
    match apply_checked(call, operation, true) {
        Err(error) if error.class != "INTERNAL_ERROR" => Ok(Value::Null),
        outcome => outcome,
    }
}

fn apply(call: &Invocation, operation: Operation) -> EvalResult {
    match apply_checked(call, operation, call.context.ansi) {
        Err(error) if !call.context.ansi && error.class != "INTERNAL_ERROR" => Ok(Value::Null),
        outcome => outcome,
    }
}

fn apply_checked(call: &Invocation, operation: Operation, ansi: bool) -> EvalResult {
    let (left, right) = (call.arg(0), call.arg(1));
    match (left, right) {
        (Value::Decimal(_), _) | (_, Value::Decimal(_))
            if matches!(call.result, DataType::Decimal { .. } | DataType::Long) =>
        {
            decimals_apply(decimal(left)?, decimal(right)?, operation, call.result)
        }
        (Value::Double(_) | Value::Float(_), _) | (_, Value::Double(_) | Value::Float(_))
            if call.result.is_numeric() =>
        {
            doubles_apply(double(left)?, double(right)?, operation, call.result)
        }
        _ if operation == Operation::Divide && call.result.is_numeric() => {
            doubles_apply(double(left)?, double(right)?, operation, call.result)
        }
        (
            Value::Byte(_) | Value::Short(_) | Value::Int(_) | Value::Long(_),
            Value::Byte(_) | Value::Short(_) | Value::Int(_) | Value::Long(_),
        ) => integers_apply(long(left)?, long(right)?, operation, call.result, ansi),
        _ => datetimes_apply(call, left, right, operation),
    }
}

fn integers_apply(a: i64, b: i64, operation: Operation, result: &DataType, ansi: bool) -> EvalResult {
    let checked = match operation {
        Operation::Add => a.checked_add(b),
        Operation::Subtract => a.checked_sub(b),
        Operation::Multiply => a.checked_mul(b),
        Operation::Remainder | Operation::Pmod if b == 0 => return Err(remainder_by_zero()),
        _ if b == 0 => return Err(divide_by_zero()),
        Operation::Divide | Operation::IntegralDivide => a.checked_div(b),
        Operation::Remainder => Some(a.wrapping_rem(b)),
        Operation::Pmod => Some(a.wrapping_rem(b).wrapping_add(b).wrapping_rem(b))
            .map(|m| if a.wrapping_rem(b) < 0 { m } else { a.wrapping_rem(b) }),
    };
    match checked.and_then(|v| narrow(v, result)) {
        Some(value) => Ok(value),
        None if ansi && matches!(result, DataType::Byte | DataType::Short) => {
            Err(EvalError::new("BINARY_ARITHMETIC_OVERFLOW", format!("the operation caused overflow of {result}")))
        }
        None if ansi => Err(overflow("the operation")),
        None => Ok(wrapped(a, b, operation, result)),
    }
}

fn wrapped(a: i64, b: i64, operation: Operation, result: &DataType) -> Value {
    let wide = match operation {
        Operation::Add => a.wrapping_add(b),
        Operation::Subtract => a.wrapping_sub(b),
        Operation::Multiply => a.wrapping_mul(b),
        _ => a.wrapping_div(b),
    };
    match result {
        DataType::Byte => Value::Byte(wide as i8),
        DataType::Short => Value::Short(wide as i16),
        DataType::Int => Value::Int(wide as i32),
        _ => Value::Long(wide),
    }
}

fn doubles_apply(a: f64, b: f64, operation: Operation, result: &DataType) -> EvalResult {
    let value = match operation {
        Operation::Add => a + b,
        Operation::Subtract => a - b,
        Operation::Multiply => a * b,
        Operation::Remainder | Operation::Pmod if b == 0.0 => return Err(remainder_by_zero()),
        _ if b == 0.0 => return Err(divide_by_zero()),
        Operation::Divide => a / b,
        Operation::IntegralDivide => return Ok(Value::Long((a / b) as i64)),
        Operation::Remainder => a % b,
        Operation::Pmod => {
            let rest = a % b;
            if rest < 0.0 { (rest + b) % b } else { rest }
        }
    };
    Ok(if *result == DataType::Float { Value::Float(value as f32) } else { Value::Double(value) })
}

fn decimals_apply(a: Decimal, b: Decimal, operation: Operation, result: &DataType) -> EvalResult {
    let zero = b.unscaled == 0;
    let (precision, scale) = match result {
        DataType::Decimal { precision, scale } => (*precision, *scale),
        _ => (38, 0),
    };
    let value = match operation {
        Operation::Add => exact::add(a, b),
        Operation::Subtract => exact::add(a, exact::negate(b)),
        Operation::Multiply => exact::multiply(a, b, scale),
        Operation::Remainder | Operation::Pmod if zero => return Err(remainder_by_zero()),
        _ if zero => return Err(divide_by_zero()),
        Operation::Divide => exact::divide(a, b, scale),
        Operation::IntegralDivide => return decimal_quotient(a, b),
        Operation::Remainder => exact::remainder(a, b),
        Operation::Pmod => exact::remainder(a, b).and_then(|rest| {
            if rest.unscaled < 0 { exact::add(rest, b).and_then(|sum| exact::remainder(sum, b)) } else { Some(rest) }
        }),
    };
    value.and_then(|v| exact::to_type(v, precision, scale)).map(Value::Decimal).ok_or_else(|| {
        EvalError::new("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "the decimal result is out of range")
    })
}

fn decimal_quotient(a: Decimal, b: Decimal) -> EvalResult {
    let rest = exact::remainder(a, b).ok_or_else(|| overflow("div"))?;
    let quotient = exact::add(a, exact::negate(rest)).and_then(|whole| exact::divide(whole, b, 0));
    let long = quotient.and_then(|q| i64::try_from(q.unscaled).ok());
    long.map(Value::Long).ok_or_else(|| overflow("div"))
}

fn datetimes_apply(call: &Invocation, left: &Value, right: &Value, operation: Operation) -> EvalResult {
    let zone = &call.context.zone;
    match (left, operation, right) {
        (Value::Date(a), Operation::Subtract, Value::Date(b)) => {
            Ok(Value::DayTimeInterval((i64::from(*a) - i64::from(*b)) * super::calendar::MICROS_PER_DAY))
        }
        (
            Value::Timestamp(a) | Value::TimestampNtz(a),
            Operation::Subtract,
            Value::Timestamp(b) | Value::TimestampNtz(b),
        ) => a.checked_sub(*b).map(Value::DayTimeInterval).ok_or_else(interval::overflow),
        (Value::Date(days), Operation::Add | Operation::Subtract, other)
        | (other, Operation::Add, Value::Date(days))
            if matches!(other, Value::Int(_) | Value::Short(_) | Value::Byte(_) | Value::Long(_)) =>
        {
            let amount = int(other)?;
            let moved = if operation == Operation::Add { days.checked_add(amount) } else { days.checked_sub(amount) };
            moved.map(Value::Date).ok_or_else(|| overflow("date arithmetic"))
        }
        (point @ (Value::Date(_) | Value::Timestamp(_) | Value::TimestampNtz(_)), Operation::Add, span)
        | (span, Operation::Add, point @ (Value::Date(_) | Value::Timestamp(_) | Value::TimestampNtz(_))) => {
            move_point(point, Interval::of(span)?, call.result, zone)
        }
        (point @ (Value::Date(_) | Value::Timestamp(_) | Value::TimestampNtz(_)), Operation::Subtract, span) => {
            let back = Interval::of(span)?.negated().ok_or_else(interval::overflow)?;
            move_point(point, back, call.result, zone)
        }
        _ => intervals_apply(call, left, right, operation),
    }
}

fn move_point(point: &Value, by: Interval, result: &DataType, zone: &jiff::tz::TimeZone) -> EvalResult {
    let utc = jiff::tz::TimeZone::UTC;
    let moved = match point {
        Value::Date(days) if *result == DataType::Date => add_to_date(*days, by).map(Value::Date),
        Value::Date(days) => {
            let local = super::calendar::Local { days: i64::from(*days), micros: 0 };
            super::calendar::to_instant(zone, local)
                .and_then(|micros| add_to_timestamp(micros, by, zone))
                .map(Value::Timestamp)
        }
        Value::TimestampNtz(micros) => add_to_timestamp(*micros, by, &utc).map(Value::TimestampNtz),
        other => add_to_timestamp(long(other)?, by, zone).map(Value::Timestamp),
    };
    moved.ok_or_else(|| overflow("datetime arithmetic"))
}

fn intervals_apply(call: &Invocation, left: &Value, right: &Value, operation: Operation) -> EvalResult {
    let value = match (left, operation, right) {
        (_, Operation::Add | Operation::Subtract, _) => {
            let (a, b) = (Interval::of(left)?, Interval::of(right)?);
            let b = if operation == Operation::Add { Some(b) } else { b.negated() };
            b.and_then(|b| a.checked_add(b)).and_then(|sum| sum.typed(call.result))
        }
        (_, Operation::Multiply, span) if is_interval_value(span) => scaled(span, double(left)?),
        (span, Operation::Multiply, _) => scaled(span, double(right)?),
        (span, Operation::Divide, _) => {
            let divisor = double(right)?;
            if divisor == 0.0 {
                return Err(EvalError::new("INTERVAL_DIVIDED_BY_ZERO", "an interval is divided by zero"));
            }
            scaled(span, 1.0 / divisor)
        }
        (_, Operation::IntegralDivide, _) => {
            let divisor = long(right)?;
            if divisor == 0 {
                return Err(divide_by_zero());
            }
            long(left)?.checked_div(divisor).map(Value::Long)
        }
        _ => return Err(EvalError::unexpected("operands of one kind", right)),
    };
    value.ok_or_else(interval::overflow)
}

fn is_interval_value(value: &Value) -> bool {
    matches!(value, Value::CalendarInterval { .. } | Value::DayTimeInterval(_) | Value::YearMonthInterval(_))
}

/// An interval times a factor, rounded HALF_UP to its own unit.
fn scaled(span: &Value, factor: f64) -> Option<Value> {
    let in_long = |v: f64| (v.abs() < 9.2e18).then(|| v.round() as i64);
    match span {
        Value::DayTimeInterval(v) => in_long(*v as f64 * factor).map(Value::DayTimeInterval),
        Value::YearMonthInterval(v) => {
            i32::try_from(in_long(f64::from(*v) * factor)?).ok().map(Value::YearMonthInterval)
        }
        Value::CalendarInterval { months, days, micros } => Some(Value::CalendarInterval {
            months: i32::try_from((f64::from(*months) * factor).trunc() as i64).ok()?,
            days: i32::try_from((f64::from(*days) * factor).trunc() as i64).ok()?,
            micros: in_long(*micros as f64 * factor)?,
        }),
        _ => None,
    }
}

fn negate(call: &Invocation) -> EvalResult {
    let checked = match call.arg(0) {
        Value::Double(v) => Some(Value::Double(-v)),
        Value::Float(v) => Some(Value::Float(-v)),
        Value::Decimal(v) => Some(Value::Decimal(exact::negate(*v))),
        span if is_interval_value(span) => Interval::of(span)?.negated().and_then(|i| i.typed(call.result)),
        other => {
            let value = long(other)?;
            match value.checked_neg().and_then(|v| narrow(v, call.result)) {
                None if !call.context.ansi => Some(other.clone()),
                narrowed => narrowed,
            }
        }
    };
    checked.ok_or_else(|| overflow("negation"))
}

fn absolute(call: &Invocation) -> EvalResult {
    let negative = match call.arg(0) {
        Value::Double(v) => return Ok(Value::Double(v.abs())),
        Value::Float(v) => return Ok(Value::Float(v.abs())),
        Value::Decimal(v) => v.unscaled < 0,
        other => long(other)? < 0,
    };
    if negative { negate(call) } else { Ok(call.arg(0).clone()) }
}

fn bits(call: &Invocation, operation: fn(i64, i64) -> i64) -> EvalResult {
    let right = if call.args.len() > 1 { call.long(1)? } else { 0 };
    narrow(operation(call.long(0)?, right), call.result).ok_or_else(|| overflow("a bit operation"))
}

/// Java's shifts: the distance counts modulo the width.
fn shift(call: &Invocation, narrow: fn(i32, u32) -> i32, wide: fn(i64, u32) -> i64) -> EvalResult {
    let distance = call.int(1)?.cast_unsigned();
    match call.arg(0) {
        Value::Long(v) => Ok(Value::Long(wide(*v, distance))),
        other => Ok(Value::Int(narrow(int(other)?, distance))),
    }
}
