//! Windows of event time: `window` (tumbling and sliding), `session_window`, `window_time`.

use super::access::{fields, long};
use super::function::{Argument, EvalError, EvalResult, Function, Invocation, Nulls, Params, ResultType, Simple};
use super::interval::{Interval, parse_interval};
use crate::model::{DataType, Field, Value};

/// Most windows that one row may fall into; Spark has no limit, but a plan comes from untrusted text.
const MAX_WINDOWS: i64 = 10_000;

/// Length, distance and offset of windows, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeWindow {
    pub duration: i64,
    pub slide: i64,
    pub start: i64,
}

impl TimeWindow {
    /// From the arguments of `window` after the time: duration, slide and start offset, as text or intervals. The slide is the
    /// duration where it is missing. Errors: months, a duration or slide that is not positive, text that is no interval.
    pub fn new(arguments: &[Value]) -> Result<Self, EvalError> {
        let duration = arguments.first().map_or_else(|| Err(invalid("the duration is missing")), fixed)?;
        let slide = arguments.get(1).map_or(Ok(duration), fixed)?;
        let start = arguments.get(2).map_or(Ok(0), fixed)?;
        if duration <= 0 || slide <= 0 {
            return Err(invalid("duration and slide must be positive"));
        }
        if slide > duration {
            return Err(invalid("the slide must not exceed the duration"));
        }
        if start.saturating_abs() >= slide {
            return Err(invalid("the start offset must be less than the slide"));
        }
        Ok(TimeWindow { duration, slide, start })
    }
}

fn invalid(message: &str) -> EvalError {
    EvalError::new("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", message)
}

/// An interval of fixed length in microseconds: text, an interval, or a number of microseconds.
pub(super) fn fixed(value: &Value) -> Result<i64, EvalError> {
    let interval = match value {
        Value::String(text) => parse_interval(text)
            .ok_or_else(|| EvalError::new("CANNOT_PARSE_INTERVAL", format!("`{text}` is no interval")))?,
        Value::Long(_) | Value::Int(_) => return long(value),
        other => Interval::of(other)?,
    };
    interval.fixed_micros().ok_or_else(|| invalid("an interval with months has no fixed length"))
}

/// The windows that hold an instant, as (start, end), latest first: the order in which Spark's `TimeWindowing` expands a row.
pub fn time_windows(micros: i64, window: &TimeWindow) -> Vec<(i64, i64)> {
    let Some(last) = micros.checked_sub((micros.wrapping_sub(window.start)).rem_euclid(window.slide)) else {
        return Vec::new();
    };
    let count = (window.duration / window.slide + 1).min(MAX_WINDOWS);
    (0..count)
        .filter_map(|index| {
            let start = last.checked_sub(index.checked_mul(window.slide)?)?;
            let end = start.checked_add(window.duration)?;
            (start <= micros && micros < end).then_some((start, end))
        })
        .collect()
}

const AS_IS: Params = Params::Rule(time_then_any);

pub(super) static FUNCTIONS: &[Function] = &[
    Function::scalar(&["window"], AS_IS, ResultType::Rule(window_type), Nulls::Never, window),
    Function::scalar(&["session_window"], AS_IS, ResultType::Rule(window_type), Nulls::Never, session_window),
    Function::scalar(
        &["window_time"],
        Params::Common(usize::MAX),
        ResultType::Rule(window_time_type),
        Nulls::PropagateOrNull,
        |c| match fields(c.arg(0))?.get(1) {
            Some(Value::Timestamp(end)) => Ok(Value::Timestamp(end.saturating_sub(1))),
            Some(Value::TimestampNtz(end)) => Ok(Value::TimestampNtz(end.saturating_sub(1))),
            _ => Ok(Value::Null),
        },
    ),
];

/// A date or text becomes a timestamp; `window` over an earlier window takes its `window_time` (the analysis writes that).
fn time_then_any(args: &[Argument]) -> Vec<DataType> {
    args.iter()
        .enumerate()
        .map(|(index, arg)| match (index, &arg.data_type) {
            (0, DataType::Date | DataType::String | DataType::Null) => DataType::Timestamp,
            (_, data_type) => data_type.clone(),
        })
        .collect()
}

fn window_type(args: &[Argument]) -> DataType {
    let time = match args.first().map(|a| &a.data_type) {
        Some(DataType::TimestampNtz) => DataType::TimestampNtz,
        Some(DataType::Struct(fields)) => match fields.first().map(|f| &f.data_type) {
            Some(DataType::TimestampNtz) => DataType::TimestampNtz,
            _ => DataType::Timestamp,
        },
        _ => DataType::Timestamp,
    };
    DataType::Struct(vec![Field::new("start", time.clone()), Field::new("end", time)])
}

fn window_time_type(args: &[Argument]) -> DataType {
    match args.first().map(|a| &a.data_type) {
        Some(DataType::Struct(fields)) => fields.get(1).map_or(DataType::Unknown, |f| f.data_type.clone()),
        _ => Simple::Unknown.data_type(),
    }
}

fn bounds(time: &Value, start: i64, end: i64) -> Value {
    let typed = |micros| match time {
        Value::TimestampNtz(_) => Value::TimestampNtz(micros),
        _ => Value::Timestamp(micros),
    };
    Value::Struct([typed(start), typed(end)].into())
}

/// The latest window that holds the time; a sliding window's others come from [`time_windows`].
fn window(call: &Invocation) -> EvalResult {
    let time = event_time(call.arg(0));
    if time.is_null() {
        return Ok(Value::Null);
    }
    let window = TimeWindow::new(call.args.get(1..).unwrap_or_default())?;
    let found = time_windows(long(&time)?, &window);
    Ok(found.first().map_or(Value::Null, |(start, end)| bounds(&time, *start, *end)))
}

/// A window's own time is its last microsecond.
fn event_time(value: &Value) -> Value {
    match value {
        Value::Struct(parts) => match parts.get(1) {
            Some(Value::Timestamp(end)) => Value::Timestamp(end.saturating_sub(1)),
            Some(Value::TimestampNtz(end)) => Value::TimestampNtz(end.saturating_sub(1)),
            _ => Value::Null,
        },
        other => other.clone(),
    }
}

/// The session of one row alone; the operator merges sessions that touch.
fn session_window(call: &Invocation) -> EvalResult {
    let time = event_time(call.arg(0));
    if time.is_null() || call.arg(1).is_null() {
        return Ok(Value::Null);
    }
    let start = long(&time)?;
    Ok(bounds(&time, start, start.saturating_add(fixed(call.arg(1))?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000_000;

    fn windows(at: i64, arguments: &[&str]) -> Vec<(i64, i64)> {
        let values: Vec<Value> = arguments.iter().map(|text| Value::string(*text)).collect();
        let window = TimeWindow::new(&values).unwrap();
        time_windows(at * MINUTE, &window).into_iter().map(|(s, e)| (s / MINUTE, e / MINUTE)).collect()
    }

    #[test]
    fn a_row_falls_into_every_window_that_holds_it() {
        assert_eq!(windows(13, &["10 minutes"]), [(10, 20)]);
        assert_eq!(windows(13, &["10 minutes", "5 minutes"]), [(10, 20), (5, 15)]);
        assert_eq!(windows(13, &["10 minutes", "10 minutes", "5 minutes"]), [(5, 15)]);
        assert_eq!(windows(-3, &["10 minutes"]), [(-10, 0)]);
        assert_eq!(windows(12, &["10 minutes", "3 minutes"]), [(12, 22), (9, 19), (6, 16), (3, 13)]);
    }

    #[test]
    fn windows_without_a_fixed_length_are_refused() {
        let error = TimeWindow::new(&[Value::string("1 month")]).unwrap_err();
        assert_eq!(error.class, "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE");
        assert!(TimeWindow::new(&[Value::string("5 minutes"), Value::string("10 minutes")]).is_err());
        assert!(TimeWindow::new(&[Value::string("0 seconds")]).is_err());
    }
}
