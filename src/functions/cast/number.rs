//! Casts to numbers, and numbers as text.

use super::Mode;
use crate::functions::decimal::{self, ParseError};
use crate::functions::function::EvalError;
use crate::model::{DataType, Decimal, Value};

/// `CAST_OVERFLOW`, or the decimal form of it.
pub(super) fn overflow(value: &Value, from: &DataType, to: &DataType) -> EvalError {
    if let (DataType::Decimal { precision, scale }, Ok(number)) = (to, crate::functions::access::decimal(value)) {
        return decimal::out_of_range(number, *precision, *scale);
    }
    let class = if matches!(to, DataType::Decimal { .. }) {
        "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION"
    } else {
        "CAST_OVERFLOW"
    };
    EvalError::new(
        class,
        format!("the value {} of the type {from} cannot be cast to {to}: it is out of range", super::plain_text(value)),
    )
}

/// An integer as an integral type, if it fits.
pub(crate) fn narrow(value: i64, to: &DataType) -> Option<Value> {
    match to {
        DataType::Byte => i8::try_from(value).ok().map(Value::Byte),
        DataType::Short => i16::try_from(value).ok().map(Value::Short),
        DataType::Int => i32::try_from(value).ok().map(Value::Int),
        DataType::Long => Some(Value::Long(value)),
        _ => None,
    }
}

/// The low bits, as Java's narrowing.
fn wrap(value: i64, to: &DataType) -> Option<Value> {
    match to {
        DataType::Byte => Some(Value::Byte(value as i8)),
        DataType::Short => Some(Value::Short(value as i16)),
        DataType::Int => Some(Value::Int(value as i32)),
        DataType::Long => Some(Value::Long(value)),
        _ => None,
    }
}

pub(super) fn from_integer(value: i64, to: &DataType, mode: Mode) -> Option<Value> {
    match to {
        DataType::Float => Some(Value::Float(value as f32)),
        DataType::Double => Some(Value::Double(value as f64)),
        DataType::Decimal { .. } => from_decimal(decimal::from_integer(value), to, mode),
        _ if mode == Mode::Legacy => wrap(value, to),
        _ => narrow(value, to),
    }
}

pub(super) fn from_double(value: f64, to: &DataType, mode: Mode) -> Option<Value> {
    match to {
        DataType::Double => Some(Value::Double(value)),
        DataType::Float => Some(Value::Float(value as f32)),
        DataType::Decimal { .. } => from_decimal(decimal::from_double(value)?, to, mode),
        _ => truncated(value, to, mode),
    }
}

fn truncated(value: f64, to: &DataType, mode: Mode) -> Option<Value> {
    if mode == Mode::Legacy {
        let wide = if *to == DataType::Long { value as i64 } else { i64::from(value as i32) };
        return wrap(wide, to);
    }
    let in_range = value.is_finite() && (-9.223_372_036_854_776e18..9.223_372_036_854_776e18).contains(&value);
    if in_range { narrow(value as i64, to) } else { None }
}

pub(super) fn from_float(value: f32, to: &DataType, mode: Mode) -> Option<Value> {
    match to {
        DataType::Float => Some(Value::Float(value)),
        DataType::Double => Some(Value::Double(f64::from(value))),
        // Through the shortest text of the float, not of its double.
        DataType::Decimal { .. } if value.is_finite() => {
            from_decimal(decimal::parse(&format!("{value:e}")).ok()?, to, mode)
        }
        DataType::Decimal { .. } => None,
        _ => truncated(f64::from(value), to, mode),
    }
}

pub(super) fn from_decimal(value: Decimal, to: &DataType, mode: Mode) -> Option<Value> {
    match to {
        DataType::Decimal { precision, scale } => decimal::to_type(value, *precision, *scale).map(Value::Decimal),
        DataType::Double => Some(Value::Double(decimal::to_double(value))),
        DataType::Float => Some(Value::Float(decimal::plain(value).parse().ok()?)),
        _ => {
            let whole = decimal::rescale(value, 0, decimal::Rounding::Down)?;
            match i64::try_from(whole) {
                Ok(long) => from_integer(long, to, mode),
                Err(_) if mode == Mode::Legacy => wrap(whole as i64, to),
                Err(_) => None,
            }
        }
    }
}

/// Seconds since the epoch: floored for integers, with the fraction for the others.
pub(super) fn from_timestamp(micros: i64, to: &DataType, mode: Mode) -> Option<Value> {
    match to {
        DataType::Double | DataType::Float => from_double(micros as f64 / 1e6, to, mode),
        DataType::Decimal { .. } => {
            from_decimal(Decimal { unscaled: i128::from(micros), precision: 20, scale: 6 }, to, mode)
        }
        _ => from_integer(micros.div_euclid(1_000_000), to, mode),
    }
}

/// Spaces and control characters, as `UTF8String.trimAll`.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ' || c == '\u{7f}')
}

pub(super) fn from_text(text: &str, to: &DataType, mode: Mode) -> Option<Value> {
    let text = trimmed(text);
    match to {
        DataType::Double => read_double(text).map(Value::Double),
        DataType::Float => read_float(text).map(Value::Float),
        DataType::Decimal { precision, scale } => match decimal::parse(text) {
            Ok(number) => decimal::to_type(number, *precision, *scale).map(Value::Decimal),
            Err(ParseError::Syntax | ParseError::Overflow) => None,
        },
        _ => narrow(read_integer(text, mode)?, to),
    }
}

/// Digits with a sign; without ANSI mode a fraction may follow and is dropped.
fn read_integer(text: &str, mode: Mode) -> Option<i64> {
    let whole = match text.split_once('.') {
        Some((whole, fraction)) if mode == Mode::Legacy => {
            fraction.bytes().all(|b| b.is_ascii_digit()).then_some(whole)?
        }
        Some(_) => return None,
        None => text,
    };
    whole.parse().ok()
}

fn special(text: &str) -> Option<f64> {
    match text.to_lowercase().as_str() {
        "inf" | "+inf" | "infinity" | "+infinity" => Some(f64::INFINITY),
        "-inf" | "-infinity" => Some(f64::NEG_INFINITY),
        "nan" => Some(f64::NAN),
        _ => None,
    }
}

/// Java's grammar allows a type suffix (`1.5d`, `2f`).
fn floating_digits(text: &str) -> Option<&str> {
    let digits = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.' | b'e' | b'E'));
    (plain && digits.bytes().any(|b| b.is_ascii_digit())).then_some(digits)
}

fn read_double(text: &str) -> Option<f64> {
    special(text).or_else(|| floating_digits(text)?.parse().ok())
}

fn read_float(text: &str) -> Option<f32> {
    special(text).map(|v| v as f32).or_else(|| floating_digits(text)?.parse().ok())
}

/// An integral number as bytes, most significant first.
pub(super) fn big_endian(value: &Value) -> Option<Value> {
    let bytes: Vec<u8> = match value {
        Value::Byte(v) => v.to_be_bytes().to_vec(),
        Value::Short(v) => v.to_be_bytes().to_vec(),
        Value::Int(v) => v.to_be_bytes().to_vec(),
        Value::Long(v) => v.to_be_bytes().to_vec(),
        _ => return None,
    };
    Some(Value::Binary(bytes.into()))
}

/// `Double.toString`: plain between 1e-3 and 1e7, else `d.dddE±n`.
pub(crate) fn double_text(value: f64) -> String {
    java_text(value, value == 0.0, value.abs(), &format!("{value:e}"))
}

pub(super) fn float_text(value: f32) -> String {
    java_text(f64::from(value), value == 0.0, f64::from(value).abs(), &format!("{value:e}"))
}

fn java_text(value: f64, zero: bool, magnitude: f64, scientific: &str) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if zero {
        return if value.is_sign_negative() { "-0.0" } else { "0.0" }.to_owned();
    }
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    if !(1e-3..1e7).contains(&magnitude) {
        let point = if mantissa.contains('.') { "" } else { ".0" };
        return format!("{mantissa}{point}E{exponent}");
    }
    let plain = decimal::parse(scientific).map(decimal::plain).unwrap_or_default();
    if plain.contains('.') { plain } else { format!("{plain}.0") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_print_as_java_prints_them() {
        for (value, text) in [
            (1.0, "1.0"),
            (0.001, "0.001"),
            (0.0001, "1.0E-4"),
            (1e7, "1.0E7"),
            (1234567.5, "1234567.5"),
            (1.5e300, "1.5E300"),
            (-0.0, "-0.0"),
            (100.0, "100.0"),
        ] {
            assert_eq!(double_text(value), text);
        }
        assert_eq!(float_text(0.1), "0.1");
    }

    #[test]
    fn java_suffixes_and_specials_are_numbers_but_rusts_are_not() {
        assert_eq!(read_double("1.5d"), Some(1.5));
        assert_eq!(read_double("-Infinity"), Some(f64::NEG_INFINITY));
        assert_eq!(read_double("1_000"), None);
        assert_eq!(read_double("e5"), None);
    }
}
