//! JSON values to Spark's values and back, as Spark's JSON source types them: what does not fit is NULL.

use super::table::Record;
use crate::model::{DataType, Decimal, Field, Value};
use jiff::civil;
use serde_json::{Map, Number, Value as Json};

/// Values of `fields` out of a JSON object, names compared without letter case.
pub fn typed(record: &Record, fields: &[Field]) -> Vec<Value> {
    fields.iter().map(|field| member(record, &field.name).map_or(Value::Null, |v| value(v, &field.data_type))).collect()
}

fn member<'a>(record: &'a Record, name: &str) -> Option<&'a Json> {
    record.get(name).or_else(|| record.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, v)| v))
}

/// One JSON value as `data_type`.
pub fn value(json: &Json, data_type: &DataType) -> Value {
    convert(json, data_type).unwrap_or(Value::Null)
}

/// The first value of a record that does not fit its column's type: the column, the value, and the type that it should have.
pub fn misfit<'a>(record: &'a Record, fields: &'a [Field]) -> Option<(&'a Field, &'a Json, &'a DataType)> {
    fields.iter().find_map(|field| {
        let (value, data_type) = misfit_within(member(record, &field.name)?, &field.data_type)?;
        Some((field, value, data_type))
    })
}

fn misfit_within<'a>(json: &'a Json, data_type: &'a DataType) -> Option<(&'a Json, &'a DataType)> {
    match (json, data_type) {
        (Json::Null, _) => None,
        (Json::Array(items), DataType::Array { element, .. }) => {
            items.iter().find_map(|item| misfit_within(item, element))
        }
        (Json::Object(members), DataType::Map { value, .. }) => {
            members.values().find_map(|item| misfit_within(item, value))
        }
        (Json::Object(members), DataType::Struct(fields)) => {
            misfit(members, fields).map(|(_, value, data_type)| (value, data_type))
        }
        // No JSON value is one of these.
        (_, DataType::Null | DataType::CalendarInterval | DataType::DayTimeInterval | DataType::YearMonthInterval) => {
            None
        }
        _ => convert(json, data_type).is_none().then_some((json, data_type)),
    }
}

fn convert(json: &Json, data_type: &DataType) -> Option<Value> {
    if json.is_null() {
        return None;
    }
    Some(match data_type {
        DataType::Boolean => Value::Boolean(json.as_bool()?),
        DataType::Byte => Value::Byte(i8::try_from(integer(json)?).ok()?),
        DataType::Short => Value::Short(i16::try_from(integer(json)?).ok()?),
        DataType::Int => Value::Int(i32::try_from(integer(json)?).ok()?),
        DataType::Long => Value::Long(integer(json)?),
        DataType::Float => {
            // Narrowing rounds, as Spark's parser does.
            #[allow(clippy::cast_possible_truncation)]
            let narrow = double(json)? as f32;
            Value::Float(narrow)
        }
        DataType::Double => Value::Double(double(json)?),
        DataType::Decimal { precision, scale } => decimal(&plain(json)?, *precision, *scale)?,
        DataType::String => Value::string(match json {
            Json::String(text) => text.clone(),
            other => other.to_string(),
        }),
        DataType::Binary => Value::Binary(json.as_str()?.as_bytes().into()),
        DataType::Date => Value::Date(days(json.as_str()?)?),
        DataType::Timestamp => match json {
            Json::Number(seconds) => Value::Timestamp(seconds.as_i64()?.checked_mul(1_000_000)?),
            _ => Value::Timestamp(instant(json.as_str()?)?),
        },
        DataType::TimestampNtz => Value::TimestampNtz(instant(json.as_str()?)?),
        DataType::Array { element, .. } => {
            Value::Array(json.as_array()?.iter().map(|item| value(item, element)).collect())
        }
        DataType::Map { value: to, .. } => Value::Map(
            json.as_object()?.iter().map(|(key, item)| (Value::string(key.as_str()), value(item, to))).collect(),
        ),
        DataType::Struct(fields) => Value::Struct(typed(json.as_object()?, fields).into()),
        DataType::Variant => Value::Variant(json.to_string().into()),
        DataType::Unknown => untyped(json),
        DataType::Null | DataType::CalendarInterval | DataType::DayTimeInterval | DataType::YearMonthInterval => {
            return None;
        }
    })
}

/// The natural value of a JSON value whose column has no known type.
fn untyped(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Boolean(*flag),
        Json::Number(number) => {
            number.as_i64().map_or_else(|| Value::Double(number.as_f64().unwrap_or(f64::NAN)), Value::Long)
        }
        Json::String(text) => Value::string(text.as_str()),
        Json::Array(items) => Value::Array(items.iter().map(untyped).collect()),
        Json::Object(members) => {
            Value::Map(members.iter().map(|(key, item)| (Value::string(key.as_str()), untyped(item))).collect())
        }
    }
}

fn integer(json: &Json) -> Option<i64> {
    match json {
        Json::Number(number) => number.as_i64(),
        Json::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn double(json: &Json) -> Option<f64> {
    match json {
        Json::Number(number) => number.as_f64(),
        Json::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn plain(json: &Json) -> Option<String> {
    match json {
        Json::Number(number) => Some(number.to_string()),
        Json::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// A decimal number in plain or scientific notation, rounded half up to `scale`; none where it does not fit.
fn decimal(text: &str, precision: u8, scale: i8) -> Option<Value> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, digits) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let unscaled: i128 = format!("{whole}{fraction}").parse().ok()?;
    let shift = i32::from(scale) - i32::try_from(fraction.len()).ok()? + exponent;
    let magnitude = if shift >= 0 {
        unscaled.checked_mul(10i128.checked_pow(shift.unsigned_abs())?)?
    } else {
        let divisor = 10i128.checked_pow(shift.unsigned_abs())?;
        unscaled.checked_add(divisor / 2)? / divisor
    };
    if magnitude >= 10i128.checked_pow(u32::from(precision))? {
        return None;
    }
    let unscaled = if negative { -magnitude } else { magnitude };
    Some(Value::Decimal(Decimal { unscaled, precision, scale }))
}

fn epoch() -> civil::Date {
    civil::date(1970, 1, 1)
}

fn days(text: &str) -> Option<i32> {
    let date: civil::Date = text.get(..10).unwrap_or(text).parse().ok()?;
    epoch().until(date).ok().map(|span| span.get_days())
}

/// Microseconds since the epoch; text without a zone is UTC.
fn instant(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
        return Some(timestamp.as_microsecond());
    }
    let at = match text.parse::<civil::DateTime>() {
        Ok(at) => at,
        Err(_) => text.parse::<civil::Date>().ok()?.to_datetime(civil::Time::midnight()),
    };
    jiff::tz::TimeZone::UTC.to_timestamp(at).ok().map(|timestamp| timestamp.as_microsecond())
}

/// A row as a JSON object; NULLs are left in as `null`.
pub fn record(row: &[Value], fields: &[Field]) -> Record {
    fields.iter().zip(row).map(|(field, value)| (field.name.clone(), json(value, &field.data_type))).collect()
}

/// A value as Spark shows it: timestamps in UTC without zone, decimals with their scale, as text.
pub fn json(value: &Value, data_type: &DataType) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Boolean(flag) => Json::Bool(*flag),
        Value::Byte(v) => Json::from(*v),
        Value::Short(v) => Json::from(*v),
        Value::Int(v) => Json::from(*v),
        Value::Long(v) => Json::from(*v),
        Value::Float(v) => number(f64::from(*v)),
        Value::Double(v) => number(*v),
        Value::Decimal(v) => Json::from(decimal_text(*v)),
        Value::String(text) => Json::from(text.as_ref()),
        Value::Binary(bytes) => Json::from(String::from_utf8_lossy(bytes)),
        Value::Date(day) => Json::from(date_text(*day)),
        Value::Timestamp(micros) | Value::TimestampNtz(micros) => Json::from(timestamp_text(*micros)),
        Value::CalendarInterval { months, days, micros } => {
            Json::from(format!("{months} months {days} days {micros} microseconds"))
        }
        Value::DayTimeInterval(micros) => Json::from(format!("{micros} microseconds")),
        Value::YearMonthInterval(months) => Json::from(format!("{months} months")),
        Value::Array(items) => {
            let element = match data_type {
                DataType::Array { element, .. } => element,
                _ => &DataType::Unknown,
            };
            Json::Array(items.iter().map(|item| json(item, element)).collect())
        }
        Value::Map(entries) => {
            let (key_type, value_type) = match data_type {
                DataType::Map { key, value, .. } => (key.as_ref(), value.as_ref()),
                _ => (&DataType::Unknown, &DataType::Unknown),
            };
            let text = |key: &Value| match json(key, key_type) {
                Json::String(text) => text,
                other => other.to_string(),
            };
            Json::Object(entries.iter().map(|(key, item)| (text(key), json(item, value_type))).collect())
        }
        Value::Struct(items) => match data_type {
            DataType::Struct(fields) => Json::Object(record(items, fields)),
            _ => Json::Array(items.iter().map(|item| json(item, &DataType::Unknown)).collect()),
        },
        Value::Variant(text) => serde_json::from_str(text).unwrap_or_else(|_| Json::from(text.as_ref())),
        Value::Opaque(hash) => Json::from(format!("#{hash:016x}")),
    }
}

fn number(value: f64) -> Json {
    Number::from_f64(value).map_or_else(|| Json::from(value.to_string()), Json::Number)
}

fn decimal_text(decimal: Decimal) -> String {
    let sign = if decimal.unscaled < 0 { "-" } else { "" };
    let digits = decimal.unscaled.unsigned_abs().to_string();
    let Ok(scale) = usize::try_from(decimal.scale) else {
        return format!("{sign}{digits}{}", "0".repeat(usize::from(decimal.scale.unsigned_abs())));
    };
    if scale == 0 {
        return format!("{sign}{digits}");
    }
    let padded = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

fn date_text(day: i32) -> String {
    let span = jiff::Span::new().try_days(day);
    span.and_then(|span| epoch().checked_add(span)).map_or_else(|_| day.to_string(), |date| date.to_string())
}

fn timestamp_text(micros: i64) -> String {
    let Ok(timestamp) = jiff::Timestamp::from_microsecond(micros) else { return micros.to_string() };
    let at = jiff::tz::TimeZone::UTC.to_datetime(timestamp);
    let text = at.strftime("%Y-%m-%d %H:%M:%S").to_string();
    match micros.rem_euclid(1_000_000) {
        0 => text,
        fraction => format!("{text}.{fraction:06}"),
    }
}

/// The members of a record in the order of `fields`, others after them: a stable shape for printing.
pub fn ordered(record: &Record, fields: &[Field]) -> Record {
    let mut out = Map::new();
    for field in fields {
        if let Some(value) = member(record, &field.name) {
            out.insert(field.name.clone(), value.clone());
        }
    }
    for (key, value) in record {
        if !out.contains_key(key) && !fields.iter().any(|field| field.name.eq_ignore_ascii_case(key)) {
            out.insert(key.clone(), value.clone());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_typed_as_the_json_source_does() {
        let decimal = DataType::decimal(10, 2);
        assert_eq!(json(&value(&Json::from(1.255), &decimal), &decimal), Json::from("1.26"));
        assert_eq!(value(&Json::from("x"), &DataType::Long), Value::Null);
        assert_eq!(value(&Json::from(5), &DataType::String), Value::string("5"));
        let ts = value(&Json::from("2024-01-01T10:00:10Z"), &DataType::Timestamp);
        assert_eq!(ts, Value::Timestamp(1_704_103_210_000_000));
        assert_eq!(value(&Json::from("2024-01-01 10:00:10"), &DataType::Timestamp), ts);
        assert_eq!(json(&ts, &DataType::Timestamp), Json::from("2024-01-01 10:00:10"));
        assert_eq!(value(&Json::from("2024-03-01"), &DataType::Date), Value::Date(19783));
    }

    #[test]
    fn decimals_keep_their_scale_in_text() {
        let text = |unscaled, scale| decimal_text(Decimal { unscaled, precision: 10, scale });
        assert_eq!(text(-5, 2), "-0.05");
        assert_eq!(text(600, 2), "6.00");
        assert_eq!(text(7, 0), "7");
    }
}
