//! `CAST` and `TRY_CAST`: which pairs of types Spark allows, and the value.
//!
//! Behaviour: Spark 4's `Cast` (`canCast`, `canANSIStoreAssign`, `canUpCast`; `SparkDateTimeUtils` for text).

mod number;
mod rules;
mod temporal;
mod text;

use super::function::{EvalError, EvalResult};
use super::json;
use crate::model::{DataType, Value};
use jiff::tz::TimeZone;
use std::sync::Arc;

pub(super) use number::{double_text, narrow};
pub use rules::{can_cast, can_up_cast, cast_nullable};
pub(super) use temporal::{read_date, read_timestamp, read_timestamp_ntz};
pub use text::display;
pub(super) use text::plain_text;

/// What happens to a value that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// An error.
    Ansi,
    /// Wrap-around or NULL, as Hive did.
    Legacy,
    /// NULL.
    Try,
}

/// Casts nested types no deeper than this; a plan's types come from untrusted text.
const MAX_DEPTH: usize = 100;

/// Casts a value between types. Errors: `CAST_INVALID_INPUT` (text that does not parse), `CAST_OVERFLOW` and
/// `NUMERIC_VALUE_OUT_OF_RANGE` in ANSI mode (NULL or wrap-around without), `DATATYPE_MISMATCH` where the types do not go together.
pub fn cast(value: &Value, from: &DataType, to: &DataType, ansi: bool, zone: &TimeZone) -> EvalResult {
    let mode = if ansi { Mode::Ansi } else { Mode::Legacy };
    Cast { mode, zone }.value(value, from, to, 0)
}

/// `TRY_CAST`: NULL, at any depth, where [`cast`] in ANSI mode would fail.
pub fn try_cast(value: &Value, from: &DataType, to: &DataType, zone: &TimeZone) -> Value {
    Cast { mode: Mode::Try, zone }.value(value, from, to, 0).unwrap_or(Value::Null)
}

#[derive(Clone, Copy)]
struct Cast<'a> {
    mode: Mode,
    zone: &'a TimeZone,
}

impl Cast<'_> {
    fn value(self, value: &Value, from: &DataType, to: &DataType, depth: usize) -> EvalResult {
        if depth > MAX_DEPTH {
            return Err(EvalError::new("INTERNAL_ERROR", "the types are nested too deeply"));
        }
        match (value, to) {
            (Value::Null, _) => Ok(Value::Null),
            (Value::Opaque(_), DataType::Unknown) => Ok(value.clone()),
            (Value::Opaque(_), _) => Ok(super::uninterpreted("cast", std::slice::from_ref(value), to)),
            (_, DataType::Unknown) => Ok(value.clone()),
            (Value::Array(items), DataType::Array { element, .. }) => {
                let inner = if let DataType::Array { element, .. } = from { element } else { &DataType::Unknown };
                let cast: Result<Vec<Value>, _> =
                    items.iter().map(|item| self.value(item, inner, element, depth + 1)).collect();
                Ok(Value::Array(cast?.into()))
            }
            (Value::Map(entries), DataType::Map { key, value, .. }) => self.map(entries, from, key, value, depth),
            (Value::Struct(parts), DataType::Struct(fields)) => {
                let empty = Vec::new();
                let source = if let DataType::Struct(fields) = from { fields } else { &empty };
                let cast: Result<Vec<Value>, _> = parts
                    .iter()
                    .zip(fields)
                    .enumerate()
                    .map(|(index, (part, field))| {
                        let inner = source.get(index).map_or(&DataType::Unknown, |f| &f.data_type);
                        self.value(part, inner, &field.data_type, depth + 1)
                    })
                    .collect();
                Ok(Value::Struct(cast?.into()))
            }
            (Value::Variant(text), to) if *to != DataType::Variant => self.variant(text, to, depth),
            (_, DataType::Variant) => json::to_variant(value, from, self.zone),
            _ => self.atomic(value, from, to),
        }
    }

    fn map(
        self,
        entries: &Arc<[(Value, Value)]>,
        from: &DataType,
        key: &DataType,
        value: &DataType,
        depth: usize,
    ) -> EvalResult {
        let (k, v) = if let DataType::Map { key, value, .. } = from {
            (key.as_ref(), value.as_ref())
        } else {
            (&DataType::Unknown, &DataType::Unknown)
        };
        let cast: Result<Vec<_>, EvalError> = entries
            .iter()
            .map(|(a, b)| Ok((self.value(a, k, key, depth + 1)?, self.value(b, v, value, depth + 1)?)))
            .collect();
        Ok(Value::Map(cast?.into()))
    }

    fn atomic(self, value: &Value, from: &DataType, to: &DataType) -> EvalResult {
        match to {
            DataType::String => Ok(Value::string(text::to_text(value, self.mode, self.zone))),
            DataType::Boolean => self.boolean(value, from, to),
            DataType::Binary => match value {
                Value::Binary(_) => Ok(value.clone()),
                Value::String(v) => Ok(Value::Binary(v.as_bytes().into())),
                other => number::big_endian(other).ok_or_else(|| mismatch(from, to)),
            },
            t if t.is_numeric() => self.number(value, from, to),
            t if t.is_datetime() => self.temporal(value, from, to),
            DataType::CalendarInterval | DataType::DayTimeInterval | DataType::YearMonthInterval => {
                self.interval(value, from, to)
            }
            DataType::Null => Ok(Value::Null),
            _ => Err(mismatch(from, to)),
        }
    }

    fn boolean(self, value: &Value, from: &DataType, to: &DataType) -> EvalResult {
        match value {
            Value::Boolean(_) => Ok(value.clone()),
            Value::String(v) => match v.trim().to_lowercase().as_str() {
                "t" | "true" | "y" | "yes" | "1" => Ok(Value::Boolean(true)),
                "f" | "false" | "n" | "no" | "0" => Ok(Value::Boolean(false)),
                _ => self.invalid(value, to),
            },
            Value::Timestamp(v) => Ok(Value::Boolean(*v != 0)),
            other if from.is_numeric() => Ok(Value::Boolean(super::access::double(other)? != 0.0)),
            _ => Err(mismatch(from, to)),
        }
    }

    fn number(self, value: &Value, from: &DataType, to: &DataType) -> EvalResult {
        let outcome = match value {
            Value::String(v) => match number::from_text(v, to, self.mode) {
                Some(number) => return Ok(number),
                None => return self.invalid(value, to),
            },
            Value::Boolean(v) => number::from_integer(i64::from(*v), to, self.mode),
            Value::Byte(_) | Value::Short(_) | Value::Int(_) | Value::Long(_) => {
                number::from_integer(super::access::long(value)?, to, self.mode)
            }
            Value::Float(v) => number::from_float(*v, to, self.mode),
            Value::Double(v) => number::from_double(*v, to, self.mode),
            Value::Decimal(v) => number::from_decimal(*v, to, self.mode),
            Value::Timestamp(v) => number::from_timestamp(*v, to, self.mode),
            Value::DayTimeInterval(v) => number::from_integer(v.div_euclid(1_000_000), to, self.mode),
            Value::YearMonthInterval(v) => number::from_integer(i64::from(*v), to, self.mode),
            _ => return if self.mode == Mode::Ansi { Err(mismatch(from, to)) } else { Ok(Value::Null) },
        };
        match (outcome, self.mode) {
            (Some(number), _) => Ok(number),
            (None, Mode::Ansi) => Err(number::overflow(value, from, to)),
            (None, _) => Ok(Value::Null),
        }
    }

    fn temporal(self, value: &Value, from: &DataType, to: &DataType) -> EvalResult {
        match value {
            Value::String(v) => {
                let read = match to {
                    DataType::Date => read_date(v).map(Value::Date),
                    DataType::Timestamp => read_timestamp(v, self.zone).map(Value::Timestamp),
                    _ => read_timestamp_ntz(v).map(Value::TimestampNtz),
                };
                read.map_or_else(|| self.invalid(value, to), Ok)
            }
            _ => temporal::convert(value, to, self.zone).ok_or_else(|| mismatch(from, to)),
        }
    }

    fn interval(self, value: &Value, from: &DataType, to: &DataType) -> EvalResult {
        use super::interval;
        let converted = match (value, to) {
            (Value::String(v), DataType::CalendarInterval) => {
                interval::parse_interval(v).map(interval::Interval::value)
            }
            (Value::String(v), DataType::DayTimeInterval) => interval::parse_day_time(v).map(Value::DayTimeInterval),
            (Value::String(v), DataType::YearMonthInterval) => {
                interval::parse_year_month(v).map(Value::YearMonthInterval)
            }
            (Value::CalendarInterval { .. }, DataType::CalendarInterval)
            | (Value::DayTimeInterval(_), DataType::DayTimeInterval)
            | (Value::YearMonthInterval(_), DataType::YearMonthInterval) => return Ok(value.clone()),
            (Value::CalendarInterval { months: 0, days, micros }, DataType::DayTimeInterval) => {
                let fixed = interval::Interval { months: 0, days: *days, micros: *micros };
                fixed.fixed_micros().map(Value::DayTimeInterval)
            }
            (Value::CalendarInterval { months, days: 0, micros: 0 }, DataType::YearMonthInterval) => {
                Some(Value::YearMonthInterval(*months))
            }
            (Value::DayTimeInterval(_) | Value::YearMonthInterval(_), DataType::CalendarInterval) => {
                Some(interval::Interval::of(value)?.value())
            }
            _ => return Err(mismatch(from, to)),
        };
        converted.map_or_else(|| self.invalid(value, to), Ok)
    }

    fn variant(self, text: &str, to: &DataType, depth: usize) -> EvalResult {
        match json::from_variant(text, to, self.zone, depth) {
            Some(value) => Ok(value),
            None if self.mode == Mode::Ansi => Err(EvalError::new(
                "INVALID_VARIANT_CAST",
                format!("the variant value {text} cannot be cast into {to}"),
            )),
            None => Ok(Value::Null),
        }
    }

    /// Text that does not parse.
    fn invalid(self, value: &Value, to: &DataType) -> EvalResult {
        match self.mode {
            Mode::Ansi => Err(EvalError::new(
                "CAST_INVALID_INPUT",
                format!("the value {} of the type string cannot be cast to {to}", plain_text(value)),
            )),
            _ => Ok(Value::Null),
        }
    }
}

fn mismatch(from: &DataType, to: &DataType) -> EvalError {
    EvalError::new("DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION", format!("cannot cast {from} to {to}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_to(text: &str, to: &DataType) -> EvalResult {
        cast(&Value::string(text), &DataType::String, to, true, &TimeZone::UTC)
    }

    #[test]
    fn text_that_is_no_number_is_an_error_in_ansi_mode_and_null_elsewhere() {
        assert_eq!(text_to(" 12 ", &DataType::Int), Ok(Value::Int(12)));
        assert_eq!(text_to("1.5", &DataType::Int).unwrap_err().class, "CAST_INVALID_INPUT");
        let legacy = |text: &str| cast(&Value::string(text), &DataType::String, &DataType::Int, false, &TimeZone::UTC);
        assert_eq!(legacy("1.5"), Ok(Value::Int(1)));
        assert_eq!(legacy("x"), Ok(Value::Null));
        assert_eq!(try_cast(&Value::Long(1 << 40), &DataType::Long, &DataType::Int, &TimeZone::UTC), Value::Null);
        assert_eq!(
            cast(&Value::Long(1 << 32), &DataType::Long, &DataType::Int, false, &TimeZone::UTC),
            Ok(Value::Int(0))
        );
    }

    #[test]
    fn nested_values_are_cast_inside() {
        let from = DataType::array(DataType::String);
        let value = Value::Array([Value::string("1"), Value::Null].into());
        let cast = cast(&value, &from, &DataType::array(DataType::Long), true, &TimeZone::UTC).unwrap();
        assert_eq!(cast, Value::Array([Value::Long(1), Value::Null].into()));
    }
}
