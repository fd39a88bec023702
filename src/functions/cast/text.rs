//! Casts to string.

use super::Mode;
use super::number::{double_text, float_text};
use super::temporal::{date_text, timestamp_text};
use crate::functions::calendar::{Local, to_local};
use crate::functions::listing::list;
use crate::functions::{decimal, interval};
use crate::model::Value;
use jiff::tz::TimeZone;

/// A value as `CAST(… AS STRING)` shows it: arrays in brackets, maps and structs in braces, NULL inside as `null`.
pub(super) fn to_text(value: &Value, mode: Mode, zone: &TimeZone) -> String {
    let mut out = String::new();
    write(&mut out, value, mode, zone);
    out
}

/// The same without a type at hand, in UTC.
pub(crate) fn plain_text(value: &Value) -> String {
    display(value, &TimeZone::UTC)
}

/// A value for a person to read, as Spark's `show` prints it; a bare NULL is `null`.
pub fn display(value: &Value, zone: &TimeZone) -> String {
    to_text(value, Mode::Ansi, zone)
}

fn write(out: &mut String, value: &Value, mode: Mode, zone: &TimeZone) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Boolean(v) => out.push_str(if *v { "true" } else { "false" }),
        Value::Byte(v) => out.push_str(&v.to_string()),
        Value::Short(v) => out.push_str(&v.to_string()),
        Value::Int(v) => out.push_str(&v.to_string()),
        Value::Long(v) => out.push_str(&v.to_string()),
        Value::Float(v) => out.push_str(&float_text(*v)),
        Value::Double(v) => out.push_str(&double_text(*v)),
        Value::Decimal(v) => out.push_str(&decimal_text(*v, mode)),
        Value::String(v) | Value::Variant(v) => out.push_str(v),
        Value::Binary(v) => out.push_str(&String::from_utf8_lossy(v)),
        Value::Date(v) => out.push_str(&date_text(i64::from(*v))),
        Value::Timestamp(v) => out.push_str(&timestamp_text(to_local(zone, *v))),
        Value::TimestampNtz(v) => out.push_str(&timestamp_text(Local::from_micros(*v))),
        Value::CalendarInterval { months, days, micros } => {
            let interval = interval::Interval { months: *months, days: *days, micros: *micros };
            out.push_str(&interval::multi_units(interval));
        }
        Value::DayTimeInterval(v) => out.push_str(&interval::day_time_text(*v)),
        Value::YearMonthInterval(v) => out.push_str(&interval::year_month_text(*v)),
        Value::Array(items) => list(out, ['[', ']'], ", ", items.iter(), |out, item| write(out, item, mode, zone)),
        Value::Struct(items) => list(out, ['{', '}'], ", ", items.iter(), |out, item| write(out, item, mode, zone)),
        Value::Map(entries) => list(out, ['{', '}'], ", ", entries.iter(), |out, (key, value)| {
            write(out, key, mode, zone);
            out.push_str(" -> ");
            write(out, value, mode, zone);
        }),
        Value::Opaque(hash) => out.push_str(&format!("~{hash:016x}")),
    }
}

/// Plain digits in ANSI mode; `BigDecimal.toString`, which turns to exponents for small numbers, without.
fn decimal_text(value: crate::model::Decimal, mode: Mode) -> String {
    let digits = value.unscaled.unsigned_abs().to_string();
    let exponent = i64::try_from(digits.len()).unwrap_or(0) - 1 - i64::from(value.scale);
    if mode != Mode::Legacy || exponent >= -6 {
        return decimal::plain(value);
    }
    let sign = if value.unscaled < 0 { "-" } else { "" };
    match digits.split_at_checked(1) {
        Some((first, rest)) if !rest.is_empty() => format!("{sign}{first}.{rest}E{exponent}"),
        _ => format!("{sign}{digits}E{exponent}"),
    }
}
