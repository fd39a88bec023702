//! Functions that are not implemented: a deterministic value from the name and the arguments, of the known type, so that equal
//! calls stay equal and changed calls differ.

use crate::model::{DataType, Decimal, Value};

/// FNV-1a, so that the value is the same on every run and machine.
struct Fnv(u64);

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Lengths and kinds go in too, so that different nestings give different hashes.
    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.bytes(&[0]),
            Value::Boolean(v) => self.bytes(&[1, u8::from(*v)]),
            Value::Byte(v) => self.integer(i64::from(*v)),
            Value::Short(v) => self.integer(i64::from(*v)),
            Value::Int(v) => self.integer(i64::from(*v)),
            Value::Long(v) => self.integer(*v),
            Value::Float(v) => self.double(f64::from(*v)),
            Value::Double(v) => self.double(*v),
            Value::Decimal(v) => {
                self.bytes(&[4]);
                self.bytes(super::decimal::plain(*v).trim_end_matches('0').as_bytes());
            }
            Value::String(v) => self.text(5, v.as_bytes()),
            Value::Variant(v) => self.text(6, v.as_bytes()),
            Value::Binary(v) => self.text(7, v),
            Value::Date(v) => self.tagged(8, i64::from(*v)),
            Value::Timestamp(v) => self.tagged(9, *v),
            Value::TimestampNtz(v) => self.tagged(10, *v),
            Value::CalendarInterval { months, days, micros } => {
                self.tagged(11, i64::from(*months));
                self.tagged(11, i64::from(*days));
                self.tagged(11, *micros);
            }
            Value::DayTimeInterval(v) => self.tagged(12, *v),
            Value::YearMonthInterval(v) => self.tagged(13, i64::from(*v)),
            Value::Array(items) => self.items(14, items),
            Value::Struct(items) => self.items(15, items),
            Value::Map(entries) => {
                self.tagged(16, length(entries.len()));
                for (key, value) in entries.iter() {
                    self.value(key);
                    self.value(value);
                }
            }
            Value::Opaque(v) => {
                self.bytes(&[17]);
                self.bytes(&v.to_le_bytes());
            }
        }
    }

    fn integer(&mut self, value: i64) {
        self.tagged(2, value);
    }

    fn double(&mut self, value: f64) {
        self.bytes(&[3]);
        self.bytes(&if value == 0.0 { 0u64 } else { value.to_bits() }.to_le_bytes());
    }

    fn tagged(&mut self, tag: u8, value: i64) {
        self.bytes(&[tag]);
        self.bytes(&value.to_le_bytes());
    }

    fn text(&mut self, tag: u8, bytes: &[u8]) {
        self.tagged(tag, length(bytes.len()));
        self.bytes(bytes);
    }

    fn items(&mut self, tag: u8, items: &[Value]) {
        self.tagged(tag, length(items.len()));
        for item in items {
            self.value(item);
        }
    }
}

fn length(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The hash behind [`uninterpreted`].
pub(super) fn stable_hash(name: &str, args: &[Value]) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.text(5, name.as_bytes());
    hash.items(14, args);
    // FNV's high bits hardly depend on the last bytes; a final mix spreads them.
    let mut h = hash.0;
    h = (h ^ (h >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    h = (h ^ (h >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    h ^ (h >> 33)
}

/// The value of a call that cannot be evaluated, of its type where that is known.
pub fn uninterpreted(name: &str, args: &[Value], result: &DataType) -> Value {
    of_type(stable_hash(name, args), result)
}

/// Spreads a hash over the values of a type; numbers stay small, so that arithmetic over them does not overflow.
fn of_type(hash: u64, data_type: &DataType) -> Value {
    let bounded = |limit: u64| (hash % limit) as i64;
    match data_type {
        DataType::Null => Value::Null,
        DataType::Boolean => Value::Boolean(hash & 1 == 1),
        DataType::Byte => Value::Byte(bounded(100) as i8),
        DataType::Short => Value::Short(bounded(10_000) as i16),
        DataType::Int => Value::Int(bounded(1_000_000) as i32),
        DataType::Long => Value::Long(bounded(1_000_000_000)),
        DataType::Float => Value::Float(bounded(1_000_000) as f32 / 8.0),
        DataType::Double => Value::Double(bounded(1_000_000_000) as f64 / 8.0),
        DataType::Decimal { precision, scale } => {
            let limit = 10u64.pow(u32::from(*precision).min(9));
            Value::Decimal(Decimal { unscaled: i128::from(bounded(limit)), precision: *precision, scale: *scale })
        }
        DataType::String => Value::string(format!("~{hash:016x}")),
        DataType::Binary => Value::Binary(hash.to_be_bytes().as_slice().into()),
        DataType::Date => Value::Date(bounded(20_000) as i32),
        DataType::Timestamp => Value::Timestamp(bounded(1_700_000_000) * 1_000_000),
        DataType::TimestampNtz => Value::TimestampNtz(bounded(1_700_000_000) * 1_000_000),
        DataType::CalendarInterval => Value::CalendarInterval { months: 0, days: bounded(1_000) as i32, micros: 0 },
        DataType::DayTimeInterval => Value::DayTimeInterval(bounded(86_400) * 1_000_000),
        DataType::YearMonthInterval => Value::YearMonthInterval(bounded(1_200) as i32),
        DataType::Array { element, .. } => Value::Array([of_type(hash.rotate_left(7), element)].into()),
        DataType::Map { key, value, .. } => {
            Value::Map([(of_type(hash.rotate_left(7), key), of_type(hash.rotate_left(13), value))].into())
        }
        DataType::Struct(fields) => {
            let parts: Vec<Value> = (1u32..)
                .zip(fields)
                .map(|(index, field)| of_type(hash.rotate_left(index * 7 % 64) ^ u64::from(index), &field.data_type))
                .collect();
            Value::Struct(parts.into())
        }
        DataType::Variant => Value::Variant(format!("\"~{hash:016x}\"").into()),
        DataType::Unknown => Value::Opaque(hash),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_calls_are_equal_and_changed_ones_differ() {
        let a = [Value::Int(1), Value::string("x")];
        assert_eq!(uninterpreted("f", &a, &DataType::String), uninterpreted("f", &a, &DataType::String));
        assert_ne!(uninterpreted("f", &a, &DataType::String), uninterpreted("g", &a, &DataType::String));
        assert_ne!(uninterpreted("f", &a, &DataType::Unknown), uninterpreted("f", &a[..1], &DataType::Unknown));
    }

    #[test]
    fn the_value_never_changes_between_releases() {
        let value = uninterpreted("f", &[Value::Int(1), Value::string("x")], &DataType::Long);
        assert_eq!(value, Value::Long(426_537_312));
    }
}
