//! `sequence`: numbers, dates and instants in steps.

use super::array::{MAX_ITEMS, array_of, element, too_long};
use super::coercion::{common_from, common_type};
use super::function::{Argument, EvalError, EvalResult, Function, Invocation, Nulls, Params, ResultType};
use crate::model::{DataType, Value};

pub(super) static FUNCTIONS: &[Function] = &[Function::scalar(
    &["sequence"],
    Params::Rule(sequence_types),
    ResultType::Rule(sequence_type),
    Nulls::Propagate,
    sequence,
)];

/// Start and stop of one type; the step of an integral sequence too.
fn sequence_types(args: &[Argument]) -> Vec<DataType> {
    let bounds: Vec<DataType> = args.iter().take(2).map(|a| a.data_type.clone()).collect();
    let integral = bounds.iter().all(DataType::is_integral);
    if integral {
        return common_from(args, 0);
    }
    let wide = common_type(&bounds);
    args.iter()
        .enumerate()
        .map(|(index, a)| match (&wide, index) {
            (Some(wide), 0 | 1) => wide.clone(),
            _ => a.data_type.clone(),
        })
        .collect()
}

fn sequence_type(args: &[Argument]) -> DataType {
    args.first().map_or(DataType::Unknown, |a| array_of(a.data_type.clone(), false))
}

fn boundary() -> EvalError {
    EvalError::new("IllegalArgumentException", "the step of the sequence leads away from its end")
}

fn sequence(call: &Invocation) -> EvalResult {
    let (start, stop) = (call.arg(0), call.arg(1));
    match start {
        Value::Date(_) | Value::Timestamp(_) | Value::TimestampNtz(_) => datetime_sequence(call, start, stop),
        _ => {
            let (first, last) = (super::access::long(start)?, super::access::long(stop)?);
            let step = if call.args.len() > 2 {
                call.long(2)?
            } else if first <= last {
                1
            } else {
                -1
            };
            if step == 0 && first != last || step > 0 && first > last || step < 0 && first < last {
                return Err(boundary());
            }
            let element = element(Some(call.result)).map_or(&DataType::Long, |(e, _)| e);
            let mut items = Vec::new();
            let mut at = first;
            loop {
                if items.len() >= MAX_ITEMS {
                    return Err(too_long());
                }
                items.extend(super::cast::narrow(at, element));
                match at.checked_add(step) {
                    Some(next) if step != 0 && (step > 0 && next <= last || step < 0 && next >= last) => at = next,
                    _ => return Ok(Value::Array(items.into())),
                }
            }
        }
    }
}

fn datetime_sequence(call: &Invocation, start: &Value, stop: &Value) -> EvalResult {
    use super::interval::{Interval, add_to_date, add_to_timestamp};
    let ascending = start <= stop;
    let step = match call.args.get(2) {
        Some(step) => Interval::of(step)?,
        None => Interval { days: if ascending { 1 } else { -1 }, ..Interval::default() },
    };
    let approximate = i128::from(step.months) * 28 * 86_400_000_000
        + i128::from(step.days) * 86_400_000_000
        + i128::from(step.micros);
    if approximate == 0 || (start != stop && ascending != (approximate > 0)) {
        return Err(boundary());
    }
    let utc = jiff::tz::TimeZone::UTC;
    let scaled = |index: i32| {
        Some(Interval {
            months: step.months.checked_mul(index)?,
            days: step.days.checked_mul(index)?,
            micros: step.micros.checked_mul(i64::from(index))?,
        })
    };
    let at = |index: i32| {
        let by = scaled(index)?;
        Some(match start {
            Value::Date(days) if by.micros == 0 => Value::Date(add_to_date(*days, by)?),
            Value::Date(days) => {
                let micros =
                    add_to_timestamp(i64::from(*days).checked_mul(super::calendar::MICROS_PER_DAY)?, by, &utc)?;
                Value::Date(i32::try_from(micros.div_euclid(super::calendar::MICROS_PER_DAY)).ok()?)
            }
            Value::TimestampNtz(micros) => Value::TimestampNtz(add_to_timestamp(*micros, by, &utc)?),
            other => Value::Timestamp(add_to_timestamp(super::access::long(other).ok()?, by, &call.context.zone)?),
        })
    };
    let mut items = Vec::new();
    for index in 0.. {
        let Some(next) = at(index) else { break };
        if if approximate > 0 { next > *stop } else { next < *stop } {
            break;
        }
        if items.len() >= MAX_ITEMS {
            return Err(too_long());
        }
        items.push(next);
    }
    Ok(Value::Array(items.into()))
}
