//! `sum`, `avg`, `product` and their `try_` forms.

use super::buffer::{get, set, set_at};
use super::{Aggregate, AggregateCall, entry};
use crate::functions::access::{boolean, decimal, double, long};
use crate::functions::coercion::bounded;
use crate::functions::decimal as exact;
use crate::functions::function::{Argument, EvalError, EvalResult, Function, Nulls, Param, Params, ResultType, Simple};
use crate::model::{DataType, Decimal, Field, Value};

const NUMBER: Params = Params::Each(&[Param::NumericOrInterval]);
const SUM_TYPE: ResultType = ResultType::Rule(|args| first(args, sum_type));
const AVERAGE_TYPE: ResultType = ResultType::Rule(|args| first(args, average_type));

pub(super) static FUNCTIONS: &[Function] = &[
    entry(&["sum"], NUMBER, SUM_TYPE, Nulls::Possible, &SUM),
    entry(&["try_sum"], NUMBER, SUM_TYPE, Nulls::Possible, &TRY_SUM),
    entry(&["avg", "mean"], NUMBER, AVERAGE_TYPE, Nulls::Possible, &AVERAGE),
    entry(&["try_avg"], NUMBER, AVERAGE_TYPE, Nulls::Possible, &TRY_AVERAGE),
    entry(
        &["product"],
        Params::Each(&[Param::Is(Simple::Double)]),
        ResultType::Is(Simple::Double),
        Nulls::Possible,
        &PRODUCT,
    ),
];

fn first(args: &[Argument], rule: fn(&DataType) -> DataType) -> DataType {
    args.first().map_or(DataType::Unknown, |a| rule(&a.data_type))
}

fn sum_type(input: &DataType) -> DataType {
    match input {
        DataType::Decimal { precision, scale } => bounded(i16::from(*precision) + 10, i16::from(*scale)),
        t if t.is_integral() => DataType::Long,
        DataType::DayTimeInterval | DataType::YearMonthInterval | DataType::Unknown => input.clone(),
        _ => DataType::Double,
    }
}

fn average_type(input: &DataType) -> DataType {
    match input {
        DataType::Decimal { precision, scale } => bounded(i16::from(*precision) + 4, i16::from(*scale) + 4),
        DataType::DayTimeInterval | DataType::YearMonthInterval | DataType::Unknown => input.clone(),
        _ => DataType::Double,
    }
}

/// Type of the sum inside an average.
fn average_sum_type(input: &DataType) -> DataType {
    match input {
        DataType::Decimal { .. } | DataType::DayTimeInterval | DataType::YearMonthInterval | DataType::Unknown => {
            sum_type(input)
        }
        _ => DataType::Double,
    }
}

/// `Sum.shouldTrackIsEmpty`: NULL alone cannot tell an overflow from an empty group.
fn tracks_empty(sum: &DataType, try_mode: bool) -> bool {
    match sum {
        DataType::Decimal { .. } => true,
        DataType::Long | DataType::DayTimeInterval | DataType::YearMonthInterval => try_mode,
        _ => false,
    }
}

fn sum_buffer(args: &[Argument], try_mode: bool) -> Vec<Field> {
    let sum = first(args, sum_type);
    let mut fields = vec![Field::new("sum", sum.clone())];
    if tracks_empty(&sum, try_mode) {
        fields.push(Field::not_null("isEmpty", DataType::Boolean));
    }
    fields
}

static SUM: Aggregate = Aggregate {
    buffer: |args| sum_buffer(args, false),
    initialize: |call| initialize_sum(call, false),
    update: |buffer, args, call| match args.first() {
        None | Some(Value::Null) => Ok(()),
        Some(value) => add_to_sum(buffer, value, call, call.context.ansi, false),
    },
    merge: |buffer, other, call| merge_sum(buffer, other, call, call.context.ansi, false),
    finish: |buffer, call| finish_sum(buffer, call, call.context.ansi),
};

static TRY_SUM: Aggregate = Aggregate {
    buffer: |args| sum_buffer(args, true),
    initialize: |call| initialize_sum(call, true),
    update: |buffer, args, call| match args.first() {
        None | Some(Value::Null) => Ok(()),
        Some(value) => add_to_sum(buffer, value, call, false, true),
    },
    merge: |buffer, other, call| merge_sum(buffer, other, call, false, true),
    finish: |buffer, call| finish_sum(buffer, call, false),
};

fn initialize_sum(call: &AggregateCall, try_mode: bool) -> Vec<Value> {
    match call.result {
        DataType::Decimal { precision, scale } => {
            vec![Value::Decimal(Decimal { unscaled: 0, precision: *precision, scale: *scale }), Value::Boolean(true)]
        }
        t if tracks_empty(t, try_mode) => vec![zero(t), Value::Boolean(true)],
        _ => vec![Value::Null],
    }
}

fn zero(data_type: &DataType) -> Value {
    match data_type {
        DataType::Long => Value::Long(0),
        DataType::DayTimeInterval => Value::DayTimeInterval(0),
        DataType::YearMonthInterval => Value::YearMonthInterval(0),
        DataType::Decimal { precision, scale } => {
            Value::Decimal(Decimal { unscaled: 0, precision: *precision, scale: *scale })
        }
        _ => Value::Double(0.0),
    }
}

/// `a + b` in the type of a sum; none on overflow.
fn plus(a: &Value, b: &Value, sum: &DataType, wrap: bool) -> Result<Option<Value>, EvalError> {
    if matches!(a, Value::Opaque(_)) || matches!(b, Value::Opaque(_)) {
        return Ok(Some(crate::functions::uninterpreted("+", &[a.clone(), b.clone()], sum)));
    }
    Ok(match sum {
        DataType::Long if wrap => Some(Value::Long(long(a)?.wrapping_add(long(b)?))),
        DataType::Long => long(a)?.checked_add(long(b)?).map(Value::Long),
        DataType::DayTimeInterval => long(a)?.checked_add(long(b)?).map(Value::DayTimeInterval),
        DataType::YearMonthInterval => {
            i32::try_from(long(a)?.saturating_add(long(b)?)).ok().map(Value::YearMonthInterval)
        }
        DataType::Decimal { precision, scale } => exact::add(decimal(a)?, decimal(b)?)
            .and_then(|total| exact::to_type(total, *precision, *scale))
            .map(Value::Decimal),
        _ => Some(Value::Double(double(a)? + double(b)?)),
    })
}

fn overflow() -> EvalError {
    EvalError::new("ARITHMETIC_OVERFLOW", "the sum is out of range; use try_sum to get NULL instead")
}

/// Whether the second column stands for "no row yet". State that came from another function may lack it.
fn is_empty(buffer: &[Value]) -> bool {
    matches!(buffer.get(1), Some(value) if boolean(value).unwrap_or(false))
}

fn add_to_sum(
    buffer: &mut [Value],
    value: &Value,
    call: &AggregateCall,
    ansi: bool,
    try_mode: bool,
) -> Result<(), EvalError> {
    let old = get(buffer, 0).clone();
    if tracks_empty(call.result, try_mode) {
        // NULL beside a row that was seen is an overflow that stays.
        if !old.is_null() || is_empty(buffer) {
            let start = if old.is_null() { zero(call.result) } else { old };
            set(buffer, plus(&start, value, call.result, false)?.unwrap_or(Value::Null));
        }
        set_at(buffer, 1, Value::Boolean(false));
        return Ok(());
    }
    let start = if old.is_null() { zero(call.result) } else { old };
    match plus(&start, value, call.result, !ansi && !try_mode)? {
        Some(total) => set(buffer, total),
        None => return Err(overflow()),
    }
    Ok(())
}

fn merge_sum(
    buffer: &mut [Value],
    other: &[Value],
    call: &AggregateCall,
    ansi: bool,
    try_mode: bool,
) -> Result<(), EvalError> {
    let sum = get(other, 0);
    if tracks_empty(call.result, try_mode) {
        if is_empty(other) {
            return Ok(());
        }
        if sum.is_null() {
            set(buffer, Value::Null);
            set_at(buffer, 1, Value::Boolean(false));
            return Ok(());
        }
    }
    if sum.is_null() { Ok(()) } else { add_to_sum(buffer, &sum.clone(), call, ansi, try_mode) }
}

fn finish_sum(buffer: &[Value], call: &AggregateCall, ansi: bool) -> EvalResult {
    let sum = get(buffer, 0);
    if matches!(call.result, DataType::Decimal { .. }) || buffer.len() > 1 {
        if is_empty(buffer) {
            return Ok(Value::Null);
        }
        if sum.is_null() && ansi {
            return Err(overflow());
        }
    }
    Ok(sum.clone())
}

static AVERAGE: Aggregate = Aggregate {
    buffer: |args| vec![Field::new("sum", first(args, average_sum_type)), Field::not_null("count", DataType::Long)],
    initialize: |call| vec![zero(&average_sum(call)), Value::Long(0)],
    update: |buffer, args, call| match args.first() {
        None | Some(Value::Null) => Ok(()),
        Some(value) => add_to_average(buffer, &value.clone(), 1, call),
    },
    merge: |buffer, other, call| {
        let count = long(get(other, 1))?;
        if count == 0 { Ok(()) } else { add_to_average(buffer, &get(other, 0).clone(), count, call) }
    },
    finish: |buffer, call| finish_average(buffer, call, call.context.ansi),
};

static TRY_AVERAGE: Aggregate = Aggregate { finish: |buffer, call| finish_average(buffer, call, false), ..AVERAGE };

fn average_sum(call: &AggregateCall) -> DataType {
    call.types.first().map_or(DataType::Double, average_sum_type)
}

fn add_to_average(buffer: &mut [Value], value: &Value, count: i64, call: &AggregateCall) -> Result<(), EvalError> {
    let sum = average_sum(call);
    let old = get(buffer, 0).clone();
    let rows = if get(buffer, 1).is_null() { 0 } else { long(get(buffer, 1))? };
    // A NULL sum beside counted rows is an overflow that stays; a `sum` whose state was taken over starts with NULL.
    let total = match (old.is_null() && rows > 0, value.is_null()) {
        (true, _) | (_, true) => None,
        _ => plus(if old.is_null() { &ZERO } else { &old }, value, &sum, false)?,
    };
    set(buffer, total.unwrap_or(Value::Null));
    set_at(buffer, 1, Value::Long(rows.wrapping_add(count)));
    Ok(())
}

static ZERO: Value = Value::Long(0);

fn finish_average(buffer: &[Value], call: &AggregateCall, ansi: bool) -> EvalResult {
    let (sum, count) = (get(buffer, 0), long(get(buffer, 1))?);
    if count == 0 {
        return Ok(Value::Null);
    }
    if sum.is_null() {
        return if ansi { Err(overflow()) } else { Ok(Value::Null) };
    }
    match call.result {
        DataType::Decimal { precision, scale } => {
            let quotient = exact::divide(decimal(sum)?, exact::from_integer(count), *scale)
                .and_then(|q| exact::to_type(q, *precision, *scale));
            Ok(quotient.map_or(Value::Null, Value::Decimal))
        }
        DataType::DayTimeInterval => Ok(Value::DayTimeInterval(divide_half_up(long(sum)?, count))),
        DataType::YearMonthInterval => {
            let months = divide_half_up(long(sum)?, count);
            Ok(i32::try_from(months).map_or(Value::Null, Value::YearMonthInterval))
        }
        _ => Ok(Value::Double(double(sum)? / count as f64)),
    }
}

fn divide_half_up(value: i64, count: i64) -> i64 {
    let (quotient, rest) = (value / count, value % count);
    let up = rest.unsigned_abs() >= count.unsigned_abs() - rest.unsigned_abs();
    quotient + if up { value.signum() } else { 0 }
}

static PRODUCT: Aggregate = Aggregate {
    buffer: |_| vec![Field::new("product", DataType::Double)],
    initialize: |_| vec![Value::Null],
    update: |buffer, args, _| multiply(buffer, args.first().unwrap_or(&Value::Null)),
    merge: |buffer, other, _| multiply(buffer, get(other, 0)),
    finish: |buffer, _| Ok(get(buffer, 0).clone()),
};

fn multiply(buffer: &mut [Value], factor: &Value) -> Result<(), EvalError> {
    if factor.is_null() {
        return Ok(());
    }
    let old = if get(buffer, 0).is_null() { 1.0 } else { double(get(buffer, 0))? };
    set(buffer, Value::Double(old * double(factor)?));
    Ok(())
}
