//! Literals as Spark types them.

use crate::model::{DataType, Decimal, Expr, Value};
use jiff::civil::{Date, DateTime, Time};

const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// A number with Spark's suffixes: `1` int or bigint, `1.5` decimal, `1e3` double, `1L`, `1S`, `1Y`, `1D`, `1F`, `1BD`.
pub(super) fn number(text: &str, long: bool) -> Option<Expr> {
    let upper = text.to_ascii_uppercase();
    let literal = |value, data_type| Some(Expr::literal(value, data_type));
    if long {
        return literal(Value::Long(upper.parse().ok()?), DataType::Long);
    }
    if let Some(digits) = upper.strip_suffix("BD") {
        return decimal(digits);
    }
    let body = upper.get(..upper.len().saturating_sub(1)).unwrap_or_default();
    match upper.chars().last()? {
        'L' => literal(Value::Long(body.parse().ok()?), DataType::Long),
        'S' => literal(Value::Short(body.parse().ok()?), DataType::Short),
        'Y' => literal(Value::Byte(body.parse().ok()?), DataType::Byte),
        'D' => literal(Value::Double(body.parse().ok()?), DataType::Double),
        'F' => literal(Value::Float(body.parse().ok()?), DataType::Float),
        _ if upper.contains('E') => literal(Value::Double(upper.parse().ok()?), DataType::Double),
        _ if upper.contains('.') => decimal(&upper),
        _ => match upper.parse::<i64>() {
            Ok(value) => Some(Expr::integer(value)),
            Err(_) => decimal(&upper),
        },
    }
}

/// The negative of a literal, folded: `-1` is a literal in Spark's plans as in everybody's mind.
pub(super) fn negated(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Byte(v) => Value::Byte(v.checked_neg()?),
        Value::Short(v) => Value::Short(v.checked_neg()?),
        Value::Int(v) => Value::Int(v.checked_neg()?),
        // -2147483648 is an int although 2147483648 is not.
        Value::Long(v) => Value::Long(v.checked_neg()?),
        Value::Float(v) => Value::Float(-v),
        Value::Double(v) => Value::Double(-v),
        Value::Decimal(d) => Value::Decimal(Decimal { unscaled: d.unscaled.checked_neg()?, ..*d }),
        Value::DayTimeInterval(v) => Value::DayTimeInterval(v.checked_neg()?),
        Value::YearMonthInterval(v) => Value::YearMonthInterval(v.checked_neg()?),
        _ => return None,
    })
}

/// Digits, a fraction and a decimal exponent: the scale is what the exponent leaves of the fraction.
fn decimal(text: &str) -> Option<Expr> {
    let (mantissa, exponent) = text.split_once('E').unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let shift = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    let zeros = usize::try_from(-shift).unwrap_or(0);
    if zeros > 38 {
        return None;
    }
    let digits = format!("{whole}{fraction}{}", "0".repeat(zeros));
    let unscaled: i128 = digits.parse().ok()?;
    let scale = i8::try_from(shift.max(0)).ok()?;
    let significant = digits.trim_start_matches('0').len();
    let precision =
        u8::try_from(significant.max(usize::try_from(scale).unwrap_or(0)).max(1)).ok().filter(|p| *p <= 38)?;
    let value = Value::Decimal(Decimal { unscaled, precision, scale });
    Some(Expr::literal(value, DataType::Decimal { precision, scale }))
}

/// `DATE'2024-01-31'`: also `2024` and `2024-01`.
pub(super) fn date(text: &str) -> Option<Expr> {
    let days = days(parse_date(text.trim())?)?;
    Some(Expr::literal(Value::Date(days), DataType::Date))
}

/// `TIMESTAMP'…'` in a session of zone UTC.
pub(super) fn timestamp(text: &str) -> Option<Expr> {
    let (civil, offset) = parse_timestamp(text.trim())?;
    let value = micros(civil)?.checked_sub(offset.unwrap_or(0).checked_mul(MICROS_PER_SECOND)?)?;
    Some(Expr::literal(Value::Timestamp(value), DataType::Timestamp))
}

/// `TIMESTAMP_NTZ'…'`: the zone, if any, counts for nothing.
pub(super) fn timestamp_ntz(text: &str) -> Option<Expr> {
    let (civil, _) = parse_timestamp(text.trim())?;
    Some(Expr::literal(Value::TimestampNtz(micros(civil)?), DataType::TimestampNtz))
}

fn days(date: Date) -> Option<i32> {
    let epoch = Date::new(1970, 1, 1).ok()?;
    Some(date.since((jiff::Unit::Day, epoch)).ok()?.get_days())
}

fn micros(civil: DateTime) -> Option<i64> {
    let days = i64::from(days(civil.date())?);
    let time = civil.time();
    let seconds = i64::from(time.hour()) * 3_600 + i64::from(time.minute()) * 60 + i64::from(time.second());
    Some(days * MICROS_PER_DAY + seconds * MICROS_PER_SECOND + i64::from(time.subsec_nanosecond() / 1_000))
}

fn parse_date(text: &str) -> Option<Date> {
    let mut parts = text.splitn(3, '-');
    let year: i16 = parts.next().filter(|year| year.len() >= 4)?.parse().ok()?;
    let month: i8 = parts.next().map_or(Some(1), |month| month.parse().ok())?;
    let day: i8 = parts.next().map_or(Some(1), |day| day.parse().ok())?;
    Date::new(year, month, day).ok()
}

/// A civil time, and the zone's offset in seconds where the text has one.
fn parse_timestamp(text: &str) -> Option<(DateTime, Option<i64>)> {
    let Some((date, rest)) = text.split_once(['T', ' ']) else {
        return Some((DateTime::from_parts(parse_date(text)?, Time::midnight()), None));
    };
    let zone_at = rest.find(|c: char| !(c.is_ascii_digit() || c == ':' || c == '.')).unwrap_or(rest.len());
    let (clock, zone) = (rest.get(..zone_at)?, rest.get(zone_at..)?.trim());
    let offset = if zone.is_empty() { None } else { Some(zone_offset(zone)?) };
    Some((DateTime::from_parts(parse_date(date)?, parse_time(clock)?), offset))
}

fn parse_time(text: &str) -> Option<Time> {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = clock.split(':');
    let mut part = || parts.next().map_or(Some(0), |digits| digits.parse::<i8>().ok());
    let (hour, minute, second) = (part()?, part()?, part()?);
    let fraction: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    Time::new(hour, minute, second, fraction.parse().ok()?).ok()
}

fn zone_offset(zone: &str) -> Option<i64> {
    let upper = zone.to_ascii_uppercase();
    let rest = ["UTC", "GMT", "UT"].iter().find_map(|name| upper.strip_prefix(name)).unwrap_or(&upper);
    if rest.is_empty() || rest == "Z" {
        return Some(0);
    }
    let (sign, clock) = match rest.split_at_checked(1)? {
        ("+", clock) => (1, clock),
        ("-", clock) => (-1, clock),
        _ => return None,
    };
    let (hours, minutes) = clock.split_once(':').unwrap_or((clock, "0"));
    Some(sign * (hours.parse::<i64>().ok()? * 3_600 + minutes.parse::<i64>().ok()? * 60))
}

/// An interval from values with units: `[("1", "day"), ("2", "hour")]`.
pub(super) fn interval(units: &[(String, String)]) -> Option<Expr> {
    let (mut months, mut micros) = (0i64, 0i64);
    let (mut has_months, mut has_micros, mut days) = (false, false, 0i64);
    for (value, unit) in units {
        let value = value.trim();
        match unit.as_str() {
            "year" | "month" => {
                let factor = if unit == "year" { 12 } else { 1 };
                months = months.checked_add(value.parse::<i64>().ok()?.checked_mul(factor)?)?;
                has_months = true;
            }
            "week" | "day" => {
                let factor = if unit == "week" { 7 } else { 1 };
                days = days.checked_add(value.parse::<i64>().ok()?.checked_mul(factor)?)?;
                has_micros = true;
            }
            _ => {
                micros = micros.checked_add(scaled(value, unit)?)?;
                has_micros = true;
            }
        }
    }
    let literal = match (has_months, has_micros) {
        (true, false) => {
            Expr::literal(Value::YearMonthInterval(i32::try_from(months).ok()?), DataType::YearMonthInterval)
        }
        (true, true) => {
            let (months, days) = (i32::try_from(months).ok()?, i32::try_from(days).ok()?);
            Expr::literal(Value::CalendarInterval { months, days, micros }, DataType::CalendarInterval)
        }
        (false, _) => {
            let total = days.checked_mul(MICROS_PER_DAY)?.checked_add(micros)?;
            Expr::literal(Value::DayTimeInterval(total), DataType::DayTimeInterval)
        }
    };
    Some(literal)
}

/// A number of a unit below the day, in microseconds; seconds may have a fraction.
fn scaled(value: &str, unit: &str) -> Option<i64> {
    let factor = match unit {
        "hour" => 3_600 * MICROS_PER_SECOND,
        "minute" => 60 * MICROS_PER_SECOND,
        "second" => MICROS_PER_SECOND,
        "millisecond" => 1_000,
        "microsecond" => 1,
        _ => return None,
    };
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    let micros = if whole.is_empty() || whole == "-" { 0 } else { whole.parse::<i64>().ok()?.checked_mul(factor)? };
    if fraction.is_empty() {
        return Some(micros);
    }
    let padded: String = fraction.chars().chain("000000".chars()).take(6).collect();
    let part = padded.parse::<i64>().ok()?.checked_mul(factor)? / MICROS_PER_SECOND;
    Some(if value.starts_with('-') { micros - part } else { micros + part })
}

/// `'1 day 2 hours'`, `'interval 10 minutes'`: the text form that casts and `DELAY OF` read.
pub(super) fn interval_text(text: &str) -> Option<Expr> {
    let lower = text.trim().to_ascii_lowercase();
    let words: Vec<&str> = lower.strip_prefix("interval ").unwrap_or(&lower).split_whitespace().collect();
    if words.is_empty() || !words.len().is_multiple_of(2) {
        return None;
    }
    let units: Vec<(String, String)> = words
        .chunks_exact(2)
        .filter_map(|pair| Some((pair.first()?.to_string(), pair.get(1)?.trim_end_matches('s').to_owned())))
        .collect();
    interval(&units)
}

/// `'2-3' YEAR TO MONTH`, `'1 2:03:04.5' DAY TO SECOND` and their shorter kin.
pub(super) fn interval_range(text: &str, from: &str, to: &str) -> Option<Expr> {
    const UNITS: [&str; 4] = ["day", "hour", "minute", "second"];
    let trimmed = text.trim();
    let (negative, body) = trimmed.strip_prefix('-').map_or((false, trimmed), |rest| (true, rest));
    let (units, pieces): (Vec<&str>, Vec<&str>) = if from == "year" && to == "month" {
        (vec!["year", "month"], body.split('-').collect())
    } else {
        let first = UNITS.iter().position(|unit| *unit == from)?;
        let last = UNITS.iter().position(|unit| *unit == to).filter(|last| *last > first)?;
        (UNITS.get(first..=last)?.to_vec(), body.split([' ', ':']).filter(|piece| !piece.is_empty()).collect())
    };
    if units.len() != pieces.len() {
        return None;
    }
    let sign = if negative { "-" } else { "" };
    let pairs: Vec<(String, String)> =
        pieces.iter().zip(units).map(|(piece, unit)| (format!("{sign}{piece}"), unit.to_owned())).collect();
    interval(&pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(expr: Option<Expr>) -> Value {
        match expr {
            Some(Expr::Literal { value, .. }) => value,
            other => panic!("no literal: {other:?}"),
        }
    }

    #[test]
    fn numbers_have_sparks_types() {
        assert_eq!(number("1", false), Some(Expr::integer(1)));
        assert_eq!(number("3000000000", false), Some(Expr::literal(Value::Long(3_000_000_000), DataType::Long)));
        let Some(Expr::Literal { data_type, .. }) = number("1.50", false) else { panic!("no literal") };
        assert_eq!(data_type, DataType::decimal(3, 2));
        let Some(Expr::Literal { data_type, .. }) = number("0.05", false) else { panic!("no literal") };
        assert_eq!(data_type, DataType::decimal(2, 2));
        assert_eq!(value(number("1.5e0", false)), Value::Double(1.5));
        assert_eq!(value(number("7S", false)), Value::Short(7));
        assert_eq!(value(number("7", true)), Value::Long(7));
    }

    #[test]
    fn dates_and_timestamps_count_from_the_epoch() {
        assert_eq!(value(date("1970-02-01")), Value::Date(31));
        assert_eq!(value(date("1969")), Value::Date(-365));
        assert_eq!(value(timestamp("1970-01-01 00:00:01.5")), Value::Timestamp(1_500_000));
        assert_eq!(value(timestamp("1970-01-01T01:00:00+01:00")), Value::Timestamp(0));
        assert_eq!(value(timestamp_ntz("1970-01-02")), Value::TimestampNtz(MICROS_PER_DAY));
        assert_eq!(date("yesterday"), None);
    }

    #[test]
    fn intervals_take_the_type_of_their_units() {
        assert_eq!(value(interval_text("10 minutes")), Value::DayTimeInterval(600_000_000));
        assert_eq!(value(interval_text("1 year 2 months")), Value::YearMonthInterval(14));
        assert_eq!(value(interval_text("1 month 1 day")), Value::CalendarInterval { months: 1, days: 1, micros: 0 });
        assert_eq!(value(interval_range("1 02:03", "day", "minute")), Value::DayTimeInterval(93_780_000_000));
        assert_eq!(value(interval_range("-2-3", "year", "month")), Value::YearMonthInterval(-27));
        assert_eq!(value(interval_text("1.5 seconds")), Value::DayTimeInterval(1_500_000));
    }
}
