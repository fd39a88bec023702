//! Partition columns and transforms, and how their values are written in folder names.

use crate::functions;
use crate::model::{DataType, Value};
use jiff::tz::TimeZone;

/// Name of the folder that NULL and the empty text share.
pub const DEFAULT_PARTITION: &str = "__HIVE_DEFAULT_PARTITION__";

/// What a table is partitioned by: a column, or one of Iceberg's transforms of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transform {
    pub function: Function,
    pub column: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    Identity,
    Years,
    Months,
    Days,
    Hours,
    Bucket(u32),
    Truncate(u32),
}

impl Transform {
    pub fn identity(column: &str) -> Self {
        Transform { function: Function::Identity, column: column.to_owned() }
    }

    /// From `d`, `days(ts)`, `bucket(2, id)`; what is not understood counts as a column.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let parsed = text.strip_suffix(')').and_then(|open| open.split_once('(')).and_then(|(name, inner)| {
            let args: Vec<&str> = inner.split(',').map(str::trim).collect();
            let number = || args.iter().find_map(|arg| arg.parse::<u32>().ok());
            let column = args.iter().find(|arg| arg.parse::<u32>().is_err())?.trim_matches('`');
            let function = match name.trim().to_lowercase().as_str() {
                "years" | "year" => Function::Years,
                "months" | "month" => Function::Months,
                "days" | "day" | "date" => Function::Days,
                "hours" | "hour" | "date_hour" => Function::Hours,
                "bucket" => Function::Bucket(number()?),
                "truncate" => Function::Truncate(number()?),
                _ => return None,
            };
            Some(Transform { function, column: column.to_owned() })
        });
        parsed.unwrap_or_else(|| Transform::identity(text.trim_matches('`')))
    }

    pub fn is_identity(&self) -> bool {
        self.function == Function::Identity
    }

    /// Iceberg's name of the partition field.
    pub fn field_name(&self) -> String {
        match self.function {
            Function::Identity => self.column.clone(),
            Function::Years => format!("{}_year", self.column),
            Function::Months => format!("{}_month", self.column),
            Function::Days => format!("{}_day", self.column),
            Function::Hours => format!("{}_hour", self.column),
            Function::Bucket(_) => format!("{}_bucket", self.column),
            Function::Truncate(_) => format!("{}_trunc", self.column),
        }
    }

    /// The partition value of a column's value (Iceberg specification, partition transforms).
    pub fn apply(&self, value: &Value) -> Value {
        const DAY: i64 = 86_400_000_000;
        if matches!(value, Value::Null) {
            return Value::Null;
        }
        let micros = match value {
            Value::Date(days) => i64::from(*days) * DAY,
            Value::Timestamp(micros) | Value::TimestampNtz(micros) => *micros,
            _ => 0,
        };
        match self.function {
            Function::Identity => value.clone(),
            Function::Days => Value::Long(micros.div_euclid(DAY)),
            Function::Hours => Value::Long(micros.div_euclid(3_600_000_000)),
            Function::Months | Function::Years => {
                let (year, month) = year_and_month(micros.div_euclid(DAY));
                Value::Long(if self.function == Function::Years { year } else { year * 12 + month })
            }
            Function::Bucket(count) => {
                let hash = i64::from(murmur3(&hashed_bytes(value)) & i32::MAX);
                Value::Long(hash % i64::from(count.max(1)))
            }
            Function::Truncate(width) => truncate(value, width),
        }
    }
}

fn truncate(value: &Value, width: u32) -> Value {
    let step = i64::from(width.max(1));
    match value {
        Value::Int(number) => Value::Long(i64::from(*number) - i64::from(*number).rem_euclid(step)),
        Value::Long(number) => Value::Long(number - number.rem_euclid(step)),
        Value::String(text) => {
            let length = usize::try_from(width).unwrap_or(usize::MAX);
            Value::string(text.chars().take(length).collect::<String>())
        }
        other => other.clone(),
    }
}

/// Civil year and month (0 to 11) of a day since the epoch.
fn year_and_month(days: i64) -> (i64, i64) {
    let date = i32::try_from(days)
        .ok()
        .and_then(|days| jiff::civil::date(1970, 1, 1).checked_add(jiff::Span::new().try_days(days).ok()?).ok());
    date.map_or((0, 0), |date| (i64::from(date.year()), i64::from(date.month()) - 1))
}

fn hashed_bytes(value: &Value) -> Vec<u8> {
    match value {
        Value::Int(number) => i64::from(*number).to_le_bytes().to_vec(),
        Value::Long(number) | Value::Timestamp(number) | Value::TimestampNtz(number) => number.to_le_bytes().to_vec(),
        Value::Date(days) => i64::from(*days).to_le_bytes().to_vec(),
        Value::String(text) => text.as_bytes().to_vec(),
        other => format!("{other:?}").into_bytes(),
    }
}

/// Murmur3, 32 bits, seed 0 (Iceberg specification, appendix B).
fn murmur3(bytes: &[u8]) -> i32 {
    let mut hash: u32 = 0;
    let mix = |k: u32| k.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let chunks = bytes.chunks_exact(4);
    let rest = chunks.remainder();
    for chunk in chunks {
        let word = chunk.iter().rev().fold(0u32, |word, byte| (word << 8) | u32::from(*byte));
        hash = (hash ^ mix(word)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    if !rest.is_empty() {
        let word = rest.iter().rev().fold(0u32, |word, byte| (word << 8) | u32::from(*byte));
        hash ^= mix(word);
    }
    hash ^= u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    (hash ^ (hash >> 16)).cast_signed()
}

/// A value as it stands in a folder's name.
pub fn folder_value(value: &Value, data_type: &DataType) -> String {
    if matches!(value, Value::Null) {
        return DEFAULT_PARTITION.to_owned();
    }
    let text = text(value, data_type);
    if text.is_empty() { DEFAULT_PARTITION.to_owned() } else { text }
}

/// A value as text, as CAST gives it.
pub fn text(value: &Value, data_type: &DataType) -> String {
    match functions::cast(value, data_type, &DataType::String, true, &TimeZone::UTC) {
        Ok(Value::String(text)) => text.to_string(),
        _ => String::new(),
    }
}

/// The type that Spark infers for a partition column from the folders' values
/// (`PartitioningUtils.inferPartitionColumnValue`): int, bigint, double, date, timestamp, else text.
pub fn infer_type<'a>(values: impl Iterator<Item = &'a str> + Clone) -> DataType {
    let values = values.filter(|value| *value != DEFAULT_PARTITION);
    if values.clone().next().is_none() {
        return DataType::String;
    }
    let all = |to: &DataType| {
        values.clone().all(|value| {
            let text = Value::string(value);
            let parses = !matches!(
                functions::cast(&text, &DataType::String, to, true, &TimeZone::UTC),
                Err(_) | Ok(Value::Null)
            );
            // Dates are taken in full only: `2024` is a number.
            parses && (*to != DataType::Date || value.len() == 10)
        })
    };
    [DataType::Int, DataType::Long, DataType::Double, DataType::Date, DataType::Timestamp]
        .into_iter()
        .find(all)
        .unwrap_or(DataType::String)
}

/// A folder's value as a value of the column.
pub fn read_value(text: &str, data_type: &DataType) -> Value {
    if text == DEFAULT_PARTITION {
        return Value::Null;
    }
    functions::cast(&Value::string(text), &DataType::String, data_type, true, &TimeZone::UTC).unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_those_of_the_specification() {
        assert_eq!(murmur3(&34i64.to_le_bytes()), 2_017_239_379);
        assert_eq!(murmur3("iceberg".as_bytes()), 1_210_000_089);
    }

    #[test]
    fn transforms_are_read_from_their_text() {
        assert_eq!(Transform::parse("bucket(2, id)"), Transform { function: Function::Bucket(2), column: "id".into() });
        assert_eq!(Transform::parse("d"), Transform::identity("d"));
    }

    #[test]
    fn folders_tell_the_types_of_their_values() {
        assert_eq!(infer_type(["2024-01-01", "2024-01-02"].into_iter()), DataType::Date);
        assert_eq!(infer_type(["2024-01-01", "latest"].into_iter()), DataType::String);
        assert_eq!(infer_type(["20240101"].into_iter()), DataType::Int);
    }
}
