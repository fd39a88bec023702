//! Intervals: text such as `10 minutes` or `1 day 2 hours`, arithmetic with dates and timestamps, display.

use super::access::int;
use super::calendar::{Local, MICROS_PER_DAY, MICROS_PER_SECOND, Ymd, to_instant, to_local};
use super::function::{EvalError, EvalResult, Function, Invocation, Nulls, Param, Params, ResultType, Simple};
use crate::model::{DataType, Value};
use jiff::tz::TimeZone;

/// Spark's `CalendarInterval`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Interval {
    pub months: i32,
    pub days: i32,
    pub micros: i64,
}

impl Interval {
    /// As one span of microseconds, a day counting 24 hours; none where months are in it (no fixed length) or on overflow.
    pub fn fixed_micros(self) -> Option<i64> {
        if self.months != 0 {
            return None;
        }
        i64::from(self.days).checked_mul(MICROS_PER_DAY)?.checked_add(self.micros)
    }

    pub(super) fn checked_add(self, other: Interval) -> Option<Interval> {
        Some(Interval {
            months: self.months.checked_add(other.months)?,
            days: self.days.checked_add(other.days)?,
            micros: self.micros.checked_add(other.micros)?,
        })
    }

    pub(super) fn negated(self) -> Option<Interval> {
        Some(Interval {
            months: self.months.checked_neg()?,
            days: self.days.checked_neg()?,
            micros: self.micros.checked_neg()?,
        })
    }

    /// As a value of an interval type; none where it has parts that the type lacks.
    pub(super) fn typed(self, data_type: &DataType) -> Option<Value> {
        match data_type {
            DataType::DayTimeInterval => self.fixed_micros().map(Value::DayTimeInterval),
            DataType::YearMonthInterval => {
                (self.days == 0 && self.micros == 0).then_some(Value::YearMonthInterval(self.months))
            }
            _ => Some(self.value()),
        }
    }

    fn of_unit(amount: Fixed, unit: &str) -> Option<Interval> {
        let singular = unit.strip_suffix('s').unwrap_or(unit);
        let whole = || (amount.fraction == 0).then(|| i32::try_from(amount.whole).ok()).flatten();
        let micros = |scale: i64| {
            let fraction = i64::try_from(i128::from(amount.fraction) * i128::from(scale) / 1_000_000_000).ok()?;
            Some(Interval { micros: amount.whole.checked_mul(scale)?.checked_add(fraction)?, ..Interval::default() })
        };
        match singular {
            "year" => Some(Interval { months: whole()?.checked_mul(12)?, ..Interval::default() }),
            "month" => Some(Interval { months: whole()?, ..Interval::default() }),
            "week" => Some(Interval { days: whole()?.checked_mul(7)?, ..Interval::default() }),
            "day" => Some(Interval { days: whole()?, ..Interval::default() }),
            "hour" => whole().and_then(|_| micros(3600 * MICROS_PER_SECOND)),
            "minute" => whole().and_then(|_| micros(60 * MICROS_PER_SECOND)),
            "second" => micros(MICROS_PER_SECOND),
            "millisecond" => whole().and_then(|_| micros(1000)),
            "microsecond" => whole().and_then(|_| micros(1)),
            _ => None,
        }
    }

    pub(super) fn value(self) -> Value {
        Value::CalendarInterval { months: self.months, days: self.days, micros: self.micros }
    }

    /// Any interval value in this form; a day-time interval is all microseconds.
    pub(super) fn of(value: &Value) -> Result<Interval, EvalError> {
        match value {
            Value::CalendarInterval { months, days, micros } => {
                Ok(Interval { months: *months, days: *days, micros: *micros })
            }
            Value::DayTimeInterval(micros) => Ok(Interval { micros: *micros, ..Interval::default() }),
            Value::YearMonthInterval(months) => Ok(Interval { months: *months, ..Interval::default() }),
            other => Err(EvalError::unexpected("interval", other)),
        }
    }
}

/// A signed number with up to nine digits behind the point; `fraction` counts billionths and has the sign of the number.
#[derive(Debug, Clone, Copy)]
struct Fixed {
    whole: i64,
    fraction: i64,
}

fn parse_fixed(text: &str) -> Option<Fixed> {
    let (negative, digits) = match text.split_at_checked(1) {
        Some(("-", rest)) => (true, rest),
        Some(("+", rest)) => (false, rest),
        _ => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !all_digits(whole) || !all_digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction: i64 = format!("{fraction:0<9}").parse().ok()?;
    Some(if negative { Fixed { whole: -whole, fraction: -fraction } } else { Fixed { whole, fraction } })
}

/// Parses `[interval] <n> <unit> …` in any letter case, as `IntervalUtils.stringToInterval`; none if it is no interval.
pub fn parse_interval(text: &str) -> Option<Interval> {
    let lower = text.trim().to_lowercase();
    let body = match lower.strip_prefix("interval") {
        Some(rest) if rest.starts_with(char::is_whitespace) => rest,
        Some(_) => return None,
        None => lower.as_str(),
    };
    let mut total = Interval::default();
    let mut words = body.split_whitespace().peekable();
    words.peek()?;
    while let Some(word) = words.next() {
        // The sign may stand apart from the number.
        let number = match word {
            "-" | "+" => format!("{word}{}", words.next()?),
            _ => word.to_owned(),
        };
        total = total.checked_add(Interval::of_unit(parse_fixed(&number)?, words.next()?)?)?;
    }
    Some(total)
}

/// A timestamp plus an interval: months and days on the local calendar, then the time of day.
pub(super) fn add_to_timestamp(micros: i64, interval: Interval, zone: &TimeZone) -> Option<i64> {
    let moved = if interval.months == 0 && interval.days == 0 {
        micros
    } else {
        let local = to_local(zone, micros);
        let date = local.date().plus_months(i64::from(interval.months));
        to_instant(zone, Local { days: date.to_days() + i64::from(interval.days), micros: local.micros })?
    };
    moved.checked_add(interval.micros)
}

/// A date plus an interval without time of day.
pub(super) fn add_to_date(days: i32, interval: Interval) -> Option<i32> {
    let date = Ymd::from_days(i64::from(days)).plus_months(i64::from(interval.months));
    i32::try_from(date.to_days() + i64::from(interval.days)).ok()
}

pub(super) fn overflow() -> EvalError {
    EvalError::new("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION", "integer overflow while operating with intervals")
}

/// `1 days 2 hours 3.5 seconds`: `IntervalUtils.toMultiUnitsString`.
pub(super) fn multi_units(interval: Interval) -> String {
    let mut parts = Vec::new();
    let mut push = |amount: i64, unit: &str| {
        if amount != 0 {
            parts.push(format!("{amount} {unit}"));
        }
    };
    push(i64::from(interval.months / 12), "years");
    push(i64::from(interval.months % 12), "months");
    push(i64::from(interval.days), "days");
    push(interval.micros / (3600 * MICROS_PER_SECOND), "hours");
    push(interval.micros / (60 * MICROS_PER_SECOND) % 60, "minutes");
    let rest = interval.micros % (60 * MICROS_PER_SECOND);
    if rest != 0 {
        parts.push(format!("{} seconds", seconds_text(rest)));
    }
    if parts.is_empty() { "0 seconds".to_owned() } else { parts.join(" ") }
}

/// Microseconds as seconds without trailing zeros.
fn seconds_text(micros: i64) -> String {
    let sign = if micros < 0 { "-" } else { "" };
    let (whole, fraction) = (micros.unsigned_abs() / 1_000_000, micros.unsigned_abs() % 1_000_000);
    if fraction == 0 {
        return format!("{sign}{whole}");
    }
    format!("{sign}{whole}.{fraction:06}").trim_end_matches('0').to_owned()
}

/// `INTERVAL '1 02:03:04.5' DAY TO SECOND`.
pub(super) fn day_time_text(micros: i64) -> String {
    let sign = if micros < 0 { "-" } else { "" };
    let total = micros.unsigned_abs();
    let (days, rest) = (total / 86_400_000_000, total % 86_400_000_000);
    let (hours, minutes) = (rest / 3_600_000_000, rest / 60_000_000 % 60);
    let (seconds, fraction) = (rest / 1_000_000 % 60, rest % 1_000_000);
    let tail = if fraction == 0 { String::new() } else { format!(".{fraction:06}").trim_end_matches('0').to_owned() };
    format!("INTERVAL '{sign}{days} {hours:02}:{minutes:02}:{seconds:02}{tail}' DAY TO SECOND")
}

/// `INTERVAL '1-2' YEAR TO MONTH`.
pub(super) fn year_month_text(months: i32) -> String {
    let sign = if months < 0 { "-" } else { "" };
    let total = months.unsigned_abs();
    format!("INTERVAL '{sign}{}-{}' YEAR TO MONTH", total / 12, total % 12)
}

/// Parses `d h:m:s` or a multi-unit text as a day-time interval in microseconds.
pub(super) fn parse_day_time(text: &str) -> Option<i64> {
    let inner = quoted_literal(text);
    if let Some(interval) = parse_interval(inner) {
        return interval.fixed_micros();
    }
    let (negative, body) = match inner.trim().strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, inner.trim().trim_start_matches('+')),
    };
    let (days, time) = body.split_once(' ')?;
    let mut total = days.parse::<i64>().ok()?.checked_mul(MICROS_PER_DAY)?;
    for (part, scale) in time.split(':').zip([3600, 60, 1]) {
        let amount = parse_fixed(part)?;
        let micros = amount.whole.checked_mul(scale * MICROS_PER_SECOND)?.checked_add(amount.fraction / 1000)?;
        total = total.checked_add(micros)?;
    }
    Some(if negative { -total } else { total })
}

/// Parses `y-m` or a multi-unit text as months.
pub(super) fn parse_year_month(text: &str) -> Option<i32> {
    let inner = quoted_literal(text);
    if let Some(interval) = parse_interval(inner) {
        return (interval.days == 0 && interval.micros == 0).then_some(interval.months);
    }
    let (negative, body) = match inner.trim().strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, inner.trim().trim_start_matches('+')),
    };
    let (years, months) = body.split_once('-')?;
    let total = years.parse::<i32>().ok()?.checked_mul(12)?.checked_add(months.parse().ok()?)?;
    Some(if negative { -total } else { total })
}

/// What stands between quotes in `INTERVAL '…' unit`, else the text.
fn quoted_literal(text: &str) -> &str {
    match (text.find('\''), text.rfind('\'')) {
        (Some(open), Some(close)) if open < close => text.get(open + 1..close).unwrap_or(text),
        _ => text,
    }
}

const INTS_THEN_SECONDS: Params = Params::Each(&[Param::Is(Simple::Int)]);

pub(super) static FUNCTIONS: &[Function] = &[
    Function::scalar(
        &["make_interval"],
        INTS_THEN_SECONDS,
        ResultType::Is(Simple::CalendarInterval),
        Nulls::Propagate,
        make_interval,
    ),
    Function::scalar(
        &["make_ym_interval"],
        INTS_THEN_SECONDS,
        ResultType::Is(Simple::YearMonthInterval),
        Nulls::Propagate,
        make_year_month,
    ),
    Function::scalar(
        &["make_dt_interval"],
        INTS_THEN_SECONDS,
        ResultType::Is(Simple::DayTimeInterval),
        Nulls::Propagate,
        make_day_time,
    ),
];

fn optional(call: &Invocation, index: usize) -> Result<i64, EvalError> {
    if index < call.args.len() { int(call.arg(index)).map(i64::from) } else { Ok(0) }
}

fn make_interval(call: &Invocation) -> EvalResult {
    let part = |index| optional(call, index);
    let (years, months, weeks, days) = (part(0)?, part(1)?, part(2)?, part(3)?);
    let micros = (part(4)? * 3600 + part(5)? * 60 + part(6)?).checked_mul(MICROS_PER_SECOND).ok_or_else(overflow)?;
    let interval = Interval {
        months: i32::try_from(years * 12 + months).map_err(|_| overflow())?,
        days: i32::try_from(weeks * 7 + days).map_err(|_| overflow())?,
        micros,
    };
    Ok(interval.value())
}

fn make_year_month(call: &Invocation) -> EvalResult {
    let total = optional(call, 0)? * 12 + optional(call, 1)?;
    i32::try_from(total).map(Value::YearMonthInterval).map_err(|_| overflow())
}

fn make_day_time(call: &Invocation) -> EvalResult {
    let part = |index| optional(call, index);
    let seconds = part(0)? * 86_400 + part(1)? * 3600 + part(2)? * 60 + part(3)?;
    seconds.checked_mul(MICROS_PER_SECOND).map(Value::DayTimeInterval).ok_or_else(overflow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_spark_reads_delays_and_windows() {
        let of = |text| parse_interval(text);
        assert_eq!(of("10 minutes"), Some(Interval { micros: 600_000_000, ..Interval::default() }));
        assert_eq!(of("INTERVAL 1 day 2 Hours"), Some(Interval { months: 0, days: 1, micros: 7_200_000_000 }));
        assert_eq!(of("1 year -2 months"), Some(Interval { months: 10, ..Interval::default() }));
        assert_eq!(of("-1.5 seconds"), Some(Interval { micros: -1_500_000, ..Interval::default() }));
        assert_eq!(of("1 week"), Some(Interval { days: 7, ..Interval::default() }));
        for wrong in ["", "interval", "10", "ten minutes", "1.5 hours", "5 fortnights", "99999999999 days"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn intervals_print_as_in_spark() {
        let interval = Interval { months: 14, days: 3, micros: 3_661_500_000 };
        assert_eq!(multi_units(interval), "1 years 2 months 3 days 1 hours 1 minutes 1.5 seconds");
        assert_eq!(day_time_text(-93_784_500_000), "INTERVAL '-1 02:03:04.5' DAY TO SECOND");
        assert_eq!(parse_day_time("INTERVAL '-1 02:03:04.5' DAY TO SECOND"), Some(-93_784_500_000));
        assert_eq!(parse_year_month("1-2"), Some(14));
    }
}
