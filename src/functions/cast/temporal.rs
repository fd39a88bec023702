//! Dates and timestamps: from text, to text, and into each other.

use crate::functions::calendar::{Local, MICROS_PER_DAY, MICROS_PER_SECOND, Ymd, parse_zone, to_instant, to_local};
use crate::functions::decimal;
use crate::model::{DataType, Value};
use jiff::tz::TimeZone;

/// Takes a run of `min..=max` digits off the front.
fn digits(text: &str, min: usize, max: usize) -> Option<(i64, &str)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    if !(min..=max).contains(&length) {
        return None;
    }
    let (number, rest) = text.split_at_checked(length)?;
    Some((number.parse().ok()?, rest))
}

/// `[+-]y…y[-[m]m[-[d]d]]`; returns the date and what follows.
fn date_prefix(text: &str) -> Option<(Ymd, &str)> {
    let (negative, text) = match text.split_at_checked(1) {
        Some(("-", rest)) => (true, rest),
        Some(("+", rest)) => (false, rest),
        _ => (false, text),
    };
    let (year, mut rest) = digits(text, 4, 7)?;
    let year = if negative { -year } else { year };
    let mut parts = [1i64, 1];
    for part in &mut parts {
        let Some(after) = rest.strip_prefix('-') else { break };
        (*part, rest) = digits(after, 1, 2)?;
    }
    Some((Ymd::new(year, parts[0], parts[1])?, rest))
}

/// Text as days since the epoch; a time may follow after a blank or `T` and is ignored.
pub(crate) fn read_date(text: &str) -> Option<i32> {
    let (date, rest) = date_prefix(text.trim())?;
    let ends = rest.is_empty() || rest.starts_with([' ', 'T']);
    // A time counts only after a full date.
    if !ends {
        return None;
    }
    i32::try_from(date.to_days()).ok()
}

/// `[h]h:[m]m[:[s]s[.f…]]`; returns the microseconds of the day and what follows.
fn time_prefix(text: &str) -> Option<(i64, &str)> {
    let (hour, rest) = digits(text, 1, 2)?;
    let Some(rest) = rest.strip_prefix(':') else {
        return (hour < 24).then_some((hour * 3600 * MICROS_PER_SECOND, rest));
    };
    let (minute, rest) = digits(rest, 1, 2)?;
    let (second, rest) = match rest.strip_prefix(':') {
        Some(after) => digits(after, 1, 2)?,
        None => (0, rest),
    };
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(after) => {
            let length = after.bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = after.split_at_checked(length)?;
            let micros: String = number.chars().chain("000000".chars()).take(6).collect();
            (micros.parse().ok()?, rest)
        }
        None => (0, rest),
    };
    let valid = hour < 24 && minute < 60 && second < 60;
    valid.then_some(((hour * 3600 + minute * 60 + second) * MICROS_PER_SECOND + fraction, rest))
}

/// Local time and the zone that the text names, if any.
fn read_local(text: &str) -> Option<(Local, Option<TimeZone>)> {
    let (date, rest) = date_prefix(text.trim())?;
    let days = date.to_days();
    let Some(time) = rest.strip_prefix([' ', 'T']) else {
        return rest.is_empty().then_some((Local { days, micros: 0 }, None));
    };
    if time.is_empty() {
        return Some((Local { days, micros: 0 }, None));
    }
    let (micros, zone) = time_prefix(time)?;
    let zone = zone.trim();
    let zone = if zone.is_empty() { None } else { Some(parse_zone(zone)?) };
    Some((Local { days, micros }, zone))
}

/// Text as an instant; the session zone counts where the text names none.
pub(crate) fn read_timestamp(text: &str, session: &TimeZone) -> Option<i64> {
    let (local, zone) = read_local(text)?;
    to_instant(zone.as_ref().unwrap_or(session), local)
}

/// Text as a local time; a zone in the text is ignored.
pub(crate) fn read_timestamp_ntz(text: &str) -> Option<i64> {
    read_local(text)?.0.to_micros()
}

pub(super) fn convert(value: &Value, to: &DataType, zone: &TimeZone) -> Option<Value> {
    match (value, to) {
        (Value::Date(_), DataType::Date)
        | (Value::Timestamp(_), DataType::Timestamp)
        | (Value::TimestampNtz(_), DataType::TimestampNtz) => Some(value.clone()),
        (Value::Date(days), DataType::Timestamp) => {
            to_instant(zone, Local { days: i64::from(*days), micros: 0 }).map(Value::Timestamp)
        }
        (Value::Date(days), DataType::TimestampNtz) => {
            i64::from(*days).checked_mul(MICROS_PER_DAY).map(Value::TimestampNtz)
        }
        (Value::Timestamp(micros), DataType::Date) => i32::try_from(to_local(zone, *micros).days).ok().map(Value::Date),
        (Value::TimestampNtz(micros), DataType::Date) => {
            i32::try_from(Local::from_micros(*micros).days).ok().map(Value::Date)
        }
        (Value::Timestamp(micros), DataType::TimestampNtz) => {
            to_local(zone, *micros).to_micros().map(Value::TimestampNtz)
        }
        (Value::TimestampNtz(micros), DataType::Timestamp) => {
            to_instant(zone, Local::from_micros(*micros)).map(Value::Timestamp)
        }
        (number, DataType::Timestamp) => seconds_to_micros(number).map(Value::Timestamp),
        _ => None,
    }
}

/// A number of seconds since the epoch.
fn seconds_to_micros(value: &Value) -> Option<i64> {
    match value {
        Value::Boolean(v) => Some(i64::from(*v)),
        Value::Float(v) => Some((f64::from(*v) * 1e6) as i64),
        Value::Double(v) if v.is_finite() => Some((*v * 1e6) as i64),
        Value::Decimal(v) => i64::try_from(decimal::rescale(*v, 6, decimal::Rounding::Down)?).ok(),
        Value::Byte(_) | Value::Short(_) | Value::Int(_) | Value::Long(_) => {
            Some(crate::functions::access::long(value).ok()?.saturating_mul(MICROS_PER_SECOND))
        }
        _ => None,
    }
}

pub(super) fn date_text(days: i64) -> String {
    let Ymd { year, month, day } = Ymd::from_days(days);
    let sign = match year {
        ..0 => "-",
        10_000.. => "+",
        _ => "",
    };
    format!("{sign}{:04}-{month:02}-{day:02}", year.unsigned_abs())
}

/// `yyyy-MM-dd HH:mm:ss` with as many digits of the fraction as are not zero.
pub(super) fn timestamp_text(local: Local) -> String {
    let fraction = match local.fraction() {
        0 => String::new(),
        micros => format!(".{micros:06}").trim_end_matches('0').to_owned(),
    };
    format!("{} {:02}:{:02}:{:02}{fraction}", date_text(local.days), local.hour(), local.minute(), local.second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_all_of_sparks_forms() {
        assert_eq!(read_date("1970-01-02"), Some(1));
        assert_eq!(read_date(" 1970-1-2 "), Some(1));
        assert_eq!(read_date("1970"), Some(0));
        assert_eq!(read_date("1970-02"), Some(31));
        assert_eq!(read_date("1970-01-02T10:00"), Some(1));
        for wrong in ["", "70-01-01", "1970/01/01", "1970-13-01", "1970-02-30", "1970-01-02x", "19700101x"] {
            assert_eq!(read_date(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn timestamps_are_read_with_zone_and_fraction() {
        let utc = |text: &str| read_timestamp(text, &TimeZone::UTC);
        assert_eq!(utc("1970-01-01 00:00:01.5"), Some(1_500_000));
        assert_eq!(utc("1970-01-01T01:00:00+01:00"), Some(0));
        assert_eq!(utc("1970-01-01 00:00:00 Europe/Berlin"), Some(-3_600_000_000));
        assert_eq!(utc("1970-01-01T00:00:01.123456789Z"), Some(1_123_456));
        assert_eq!(utc("1970-01-01 24:00:00"), None);
        assert_eq!(utc("1970-01-01 00:00:00 nowhere"), None);
        assert_eq!(timestamp_text(Local::from_micros(-1)), "1969-12-31 23:59:59.999999");
    }
}
