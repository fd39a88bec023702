//! Arithmetic on dates and timestamps: adding, differences, truncation.

use super::access::text;
use super::arithmetic::overflow;
use super::calendar::{Local, MICROS_PER_DAY, MICROS_PER_SECOND, Ymd, days_in_month, to_instant, to_local, weekday};
use super::coercion::implicit_cast;
use super::datetime::{DATE, DATE_PARAM, TIMESTAMP, local};
use super::datetime_pattern::weekday_by_name;
use super::function::{
    Argument, EvalError, EvalResult, Function, Invocation, Nulls, Param, Params, ResultType, Simple,
};
use super::interval::{Interval, add_to_timestamp};
use crate::model::{DataType, Value};
use jiff::tz::TimeZone;

const DATE_AND_INT: Params = Params::Each(&[Param::Is(Simple::Date), Param::Is(Simple::Int)]);

pub(super) static FUNCTIONS: &[Function] = &[
    Function::scalar(
        &["date_add", "dateadd"],
        Params::Rule(add_types),
        ResultType::Rule(add_type),
        Nulls::Propagate,
        |c| {
            if c.args.len() > 2 { timestamp_add(c) } else { days_later(c.int(0)?, Some(c.int(1)?)) }
        },
    ),
    Function::scalar(&["date_sub"], DATE_AND_INT, DATE, Nulls::Propagate, |c| {
        days_later(c.int(0)?, c.int(1)?.checked_neg())
    }),
    Function::scalar(
        &["datediff", "date_diff"],
        Params::Rule(diff_types),
        ResultType::Rule(diff_type),
        Nulls::Propagate,
        |c| {
            if c.args.len() > 2 {
                return timestamp_diff(c);
            }
            c.int(0)?.checked_sub(c.int(1)?).map(Value::Int).ok_or_else(|| overflow("datediff"))
        },
    ),
    Function::scalar(
        &["timestampadd"],
        Params::Rule(add_types),
        ResultType::Rule(add_type),
        Nulls::Propagate,
        timestamp_add,
    ),
    Function::scalar(
        &["timestampdiff"],
        Params::Rule(diff_types),
        ResultType::Is(Simple::Long),
        Nulls::Propagate,
        timestamp_diff,
    ),
    Function::scalar(&["add_months"], DATE_AND_INT, DATE, Nulls::Propagate, |c| {
        let date = Ymd::from_days(c.long(0)?).plus_months(c.long(1)?);
        i32::try_from(date.to_days()).map(Value::Date).map_err(|_| overflow("add_months"))
    }),
    Function::scalar(
        &["months_between"],
        Params::Each(&[Param::Is(Simple::Timestamp), Param::Is(Simple::Timestamp), Param::Is(Simple::Boolean)]),
        ResultType::Is(Simple::Double),
        Nulls::Propagate,
        months_between,
    ),
    Function::scalar(&["last_day"], DATE_PARAM, DATE, Nulls::Propagate, |c| {
        let date = Ymd::from_days(c.long(0)?);
        let last = Ymd { day: days_in_month(date.year, date.month), ..date };
        i32::try_from(last.to_days()).map(Value::Date).map_err(|_| overflow("last_day"))
    }),
    Function::scalar(
        &["next_day"],
        Params::Each(&[Param::Is(Simple::Date), Param::Is(Simple::String)]),
        DATE,
        Nulls::PropagateOrNull,
        next_day,
    ),
    Function::scalar(
        &["trunc"],
        Params::Each(&[Param::Is(Simple::Date), Param::Is(Simple::String)]),
        DATE,
        Nulls::PropagateOrNull,
        |c| {
            let level = c.text(1)?.to_lowercase();
            let unit = Unit::parse(&level).filter(|unit| *unit >= Unit::Week);
            let days = unit.map(|unit| truncate_days(c.long(0).unwrap_or(0), unit));
            Ok(days.and_then(|d| i32::try_from(d).ok()).map_or(Value::Null, Value::Date))
        },
    ),
    Function::scalar(
        &["date_trunc"],
        Params::Each(&[Param::Is(Simple::String), Param::Is(Simple::Timestamp)]),
        TIMESTAMP,
        Nulls::PropagateOrNull,
        |c| {
            let Some(unit) = Unit::parse(&c.text(0)?.to_lowercase()) else { return Ok(Value::Null) };
            Ok(truncate(c.long(1)?, unit, &c.context.zone).map_or(Value::Null, Value::Timestamp))
        },
    ),
];

/// `date_add(date, days)`; with three arguments (unit, amount, timestamp).
fn add_types(args: &[Argument]) -> Vec<DataType> {
    let wanted: &[Param] = if args.len() > 2 {
        &[Param::Any, Param::Is(Simple::Long), Param::AnyTimestamp]
    } else {
        &[Param::Is(Simple::Date), Param::Is(Simple::Int)]
    };
    args.iter().zip(wanted).map(|(a, param)| implicit_cast(*param, &a.data_type)).collect()
}

fn add_type(args: &[Argument]) -> DataType {
    args.get(2).map_or(DataType::Date, |time| time.data_type.clone())
}

fn diff_types(args: &[Argument]) -> Vec<DataType> {
    let wanted: &[Param] = if args.len() > 2 {
        &[Param::Any, Param::Is(Simple::Timestamp), Param::Is(Simple::Timestamp)]
    } else {
        &[Param::Is(Simple::Date), Param::Is(Simple::Date)]
    };
    args.iter().zip(wanted).map(|(a, param)| implicit_cast(*param, &a.data_type)).collect()
}

fn diff_type(args: &[Argument]) -> DataType {
    if args.len() > 2 { DataType::Long } else { DataType::Int }
}

fn days_later(days: i32, amount: Option<i32>) -> EvalResult {
    amount.and_then(|amount| days.checked_add(amount)).map(Value::Date).ok_or_else(|| overflow("date arithmetic"))
}

/// Units in order of length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    Decade,
    Century,
    Millennium,
}

impl Unit {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "microsecond" => Unit::Microsecond,
            "millisecond" => Unit::Millisecond,
            "second" => Unit::Second,
            "minute" => Unit::Minute,
            "hour" => Unit::Hour,
            "day" | "dd" | "dayofyear" => Unit::Day,
            "week" => Unit::Week,
            "month" | "mon" | "mm" => Unit::Month,
            "quarter" => Unit::Quarter,
            "year" | "yyyy" | "yy" => Unit::Year,
            "decade" => Unit::Decade,
            "century" => Unit::Century,
            "millennium" => Unit::Millennium,
            _ => return None,
        })
    }

    fn months(self) -> Option<i64> {
        match self {
            Unit::Month => Some(1),
            Unit::Quarter => Some(3),
            Unit::Year => Some(12),
            _ => None,
        }
    }

    /// Length of a unit below the month.
    fn micros(self) -> Option<i64> {
        Some(match self {
            Unit::Microsecond => 1,
            Unit::Millisecond => 1000,
            Unit::Second => MICROS_PER_SECOND,
            Unit::Minute => 60 * MICROS_PER_SECOND,
            Unit::Hour => 3600 * MICROS_PER_SECOND,
            Unit::Day => MICROS_PER_DAY,
            Unit::Week => 7 * MICROS_PER_DAY,
            _ => return None,
        })
    }
}

fn truncate_days(days: i64, unit: Unit) -> i64 {
    let date = Ymd::from_days(days);
    let first = |year: i64, month: i64| Ymd { year, month, day: 1 }.to_days();
    match unit {
        Unit::Week => days - weekday(days),
        Unit::Month => first(date.year, date.month),
        Unit::Quarter => first(date.year, (date.quarter() - 1) * 3 + 1),
        Unit::Year => first(date.year, 1),
        Unit::Decade => first(date.year.div_euclid(10) * 10, 1),
        Unit::Century => first((date.year - 1).div_euclid(100) * 100 + 1, 1),
        Unit::Millennium => first((date.year - 1).div_euclid(1000) * 1000 + 1, 1),
        _ => days,
    }
}

fn truncate(micros: i64, unit: Unit, zone: &TimeZone) -> Option<i64> {
    match unit.micros() {
        // Below the day offsets matter only where they are no whole units, which local time takes care of.
        Some(length) if unit < Unit::Day => {
            let at = to_local(zone, micros);
            micros.checked_sub(at.micros.rem_euclid(length))
        }
        _ => to_instant(zone, Local { days: truncate_days(to_local(zone, micros).days, unit), micros: 0 }),
    }
}

fn unit_argument(call: &Invocation) -> Result<Unit, EvalError> {
    let name = text(call.arg(0))?.to_lowercase();
    Unit::parse(&name)
        .ok_or_else(|| EvalError::new("INVALID_PARAMETER_VALUE.DATETIME_UNIT", format!("`{name}` is no datetime unit")))
}

fn timestamp_add(call: &Invocation) -> EvalResult {
    let unit = unit_argument(call)?;
    let amount = call.long(1)?;
    let failed = || EvalError::new("DATETIME_OVERFLOW", "the timestamp is out of range");
    let interval = match (unit.months(), unit.micros()) {
        (Some(months), _) => Interval {
            months: amount.checked_mul(months).and_then(|m| i32::try_from(m).ok()).ok_or_else(failed)?,
            ..Interval::default()
        },
        (None, Some(length)) if unit >= Unit::Day => Interval {
            days: amount.checked_mul(length / MICROS_PER_DAY).and_then(|d| i32::try_from(d).ok()).ok_or_else(failed)?,
            ..Interval::default()
        },
        (None, Some(length)) => {
            Interval { micros: amount.checked_mul(length).ok_or_else(failed)?, ..Interval::default() }
        }
        (None, None) => return Err(failed()),
    };
    let utc = TimeZone::UTC;
    let moved = match call.arg(2) {
        Value::TimestampNtz(micros) => add_to_timestamp(*micros, interval, &utc).map(Value::TimestampNtz),
        other => add_to_timestamp(super::access::long(other)?, interval, &call.context.zone).map(Value::Timestamp),
    };
    moved.ok_or_else(failed)
}

/// Whole units from the second argument to the third, on the local calendar.
fn timestamp_diff(call: &Invocation) -> EvalResult {
    let unit = unit_argument(call)?;
    let zone = &call.context.zone;
    let (start, end) = (local(call.arg(1), zone)?, local(call.arg(2), zone)?);
    if let Some(length) = unit.micros() {
        let (Some(a), Some(b)) = (start.to_micros(), end.to_micros()) else { return Err(overflow("timestampdiff")) };
        return b.checked_sub(a).map(|span| Value::Long(span / length)).ok_or_else(|| overflow("timestampdiff"));
    }
    let whole = whole_months(start, end);
    Ok(Value::Long(unit.months().map_or(0, |months| whole / months)))
}

fn whole_months(start: Local, end: Local) -> i64 {
    let (a, b) = (start.date(), end.date());
    let months = (b.year - a.year) * 12 + b.month - a.month;
    let (rest_a, rest_b) = ((a.day, start.micros), (b.day, end.micros));
    if months > 0 && rest_b < rest_a {
        months - 1
    } else if months < 0 && rest_b > rest_a {
        months + 1
    } else {
        months
    }
}

/// `DateTimeUtils.monthsBetween`: whole months where the day of the month is the same or both are last days, else with a
/// fraction of 31 days.
fn months_between(call: &Invocation) -> EvalResult {
    let zone = &call.context.zone;
    let (left, right) = (local(call.arg(0), zone)?, local(call.arg(1), zone)?);
    let round_off = call.args.len() < 3 || super::access::boolean(call.arg(2))?;
    let (a, b) = (left.date(), right.date());
    let months = ((a.year - b.year) * 12 + a.month - b.month) as f64;
    let last = |date: Ymd| date.day == days_in_month(date.year, date.month);
    if a.day == b.day || (last(a) && last(b)) {
        return Ok(Value::Double(months));
    }
    let seconds = |at: Local, date: Ymd| date.day * 86_400 + at.micros / MICROS_PER_SECOND;
    let difference = months + (seconds(left, a) - seconds(right, b)) as f64 / (31.0 * 86_400.0);
    Ok(Value::Double(if round_off { (difference * 1e8).round() / 1e8 } else { difference }))
}

fn next_day(call: &Invocation) -> EvalResult {
    let name = call.text(1)?;
    let Some(wanted) = weekday_by_name(name) else {
        return if call.context.ansi {
            Err(EvalError::new("ILLEGAL_DAY_OF_WEEK", format!("`{name}` is no day of the week")))
        } else {
            Ok(Value::Null)
        };
    };
    let days = call.int(0)?;
    let ahead = (wanted - weekday(i64::from(days)) - 1).rem_euclid(7) + 1;
    days_later(days, i32::try_from(ahead).ok())
}
