//! Values of Spark SQL's types.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// An exact decimal: `unscaled / 10^scale`, with the precision of its type.
#[derive(Debug, Clone, Copy)]
pub struct Decimal {
    pub unscaled: i128,
    pub precision: u8,
    pub scale: i8,
}

/// One value of a row, a literal, or a state row.
///
/// Equality, order and hash are those of Spark's grouping: NaN equals NaN and is the greatest, `-0.0` equals `0.0`, decimals
/// compare by value, NULL equals NULL and comes first. Three-valued comparison is the business of `functions`.
#[derive(Debug, Clone)]
pub enum Value {
    Null,
    Boolean(bool),
    Byte(i8),
    Short(i16),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Decimal(Decimal),
    String(Arc<str>),
    Binary(Arc<[u8]>),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since 1970-01-01T00:00:00Z.
    Timestamp(i64),
    /// Microseconds since 1970-01-01T00:00:00, without zone.
    TimestampNtz(i64),
    CalendarInterval {
        months: i32,
        days: i32,
        micros: i64,
    },
    /// Microseconds.
    DayTimeInterval(i64),
    /// Months.
    YearMonthInterval(i32),
    Array(Arc<[Value]>),
    Map(Arc<[(Value, Value)]>),
    Struct(Arc<[Value]>),
    /// A variant, as canonical JSON text.
    Variant(Arc<str>),
    /// What an uninterpreted function of unknown type gave: a deterministic hash of its name and arguments.
    Opaque(u64),
}

impl Value {
    pub fn string(text: impl Into<Arc<str>>) -> Self {
        Value::String(text.into())
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    fn rank(&self) -> u8 {
        match self {
            Value::Null => 0,
            Value::Boolean(_) => 1,
            Value::Byte(_) => 2,
            Value::Short(_) => 3,
            Value::Int(_) => 4,
            Value::Long(_) => 5,
            Value::Float(_) => 6,
            Value::Double(_) => 7,
            Value::Decimal(_) => 8,
            Value::String(_) => 9,
            Value::Binary(_) => 10,
            Value::Date(_) => 11,
            Value::Timestamp(_) => 12,
            Value::TimestampNtz(_) => 13,
            Value::CalendarInterval { .. } => 14,
            Value::DayTimeInterval(_) => 15,
            Value::YearMonthInterval(_) => 16,
            Value::Array(_) => 17,
            Value::Map(_) => 18,
            Value::Struct(_) => 19,
            Value::Variant(_) => 20,
            Value::Opaque(_) => 21,
        }
    }
}

/// Spark's order of doubles: NaN is greatest, both zeros are one.
fn compare_doubles(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
    }
}

fn hash_double(value: f64, state: &mut impl Hasher) {
    let canonical = if value.is_nan() {
        f64::NAN
    } else if value == 0.0 {
        0.0
    } else {
        value
    };
    canonical.to_bits().hash(state);
}

impl Decimal {
    /// Without trailing zeros: (unscaled, scale), one form for each number.
    fn normalized(self) -> (i128, i8) {
        let (mut unscaled, mut scale) = (self.unscaled, self.scale);
        if unscaled == 0 {
            return (0, 0);
        }
        while unscaled % 10 == 0 {
            unscaled /= 10;
            scale -= 1;
        }
        (unscaled, scale)
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.normalized() == other.normalized()
    }
}

impl Eq for Decimal {}

impl Hash for Decimal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.normalized().hash(state);
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let gap = u32::from(self.scale.abs_diff(other.scale));
        let factor = 10i128.checked_pow(gap);
        let scaled = |value: i128| factor.and_then(|f| value.checked_mul(f));
        if self.scale == other.scale {
            self.unscaled.cmp(&other.unscaled)
        } else if self.scale < other.scale {
            // Scaling up overflows only where the magnitude exceeds every 38-digit number: the sign decides.
            scaled(self.unscaled).map_or(self.unscaled.cmp(&0), |v| v.cmp(&other.unscaled))
        } else {
            scaled(other.unscaled).map_or(0.cmp(&other.unscaled), |v| self.unscaled.cmp(&v))
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
            (Value::Byte(a), Value::Byte(b)) => a.cmp(b),
            (Value::Short(a), Value::Short(b)) => a.cmp(b),
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::Long(a), Value::Long(b)) => a.cmp(b),
            (Value::Float(a), Value::Float(b)) => compare_doubles(f64::from(*a), f64::from(*b)),
            (Value::Double(a), Value::Double(b)) => compare_doubles(*a, *b),
            (Value::Decimal(a), Value::Decimal(b)) => a.cmp(b),
            (Value::String(a), Value::String(b)) => a.cmp(b),
            (Value::Binary(a), Value::Binary(b)) => a.cmp(b),
            (Value::Date(a), Value::Date(b)) => a.cmp(b),
            (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b),
            (Value::TimestampNtz(a), Value::TimestampNtz(b)) => a.cmp(b),
            (
                Value::CalendarInterval { months: a, days: b, micros: c },
                Value::CalendarInterval { months: x, days: y, micros: z },
            ) => (a, b, c).cmp(&(x, y, z)),
            (Value::DayTimeInterval(a), Value::DayTimeInterval(b)) => a.cmp(b),
            (Value::YearMonthInterval(a), Value::YearMonthInterval(b)) => a.cmp(b),
            (Value::Array(a), Value::Array(b)) => a.cmp(b),
            (Value::Map(a), Value::Map(b)) => a.cmp(b),
            (Value::Struct(a), Value::Struct(b)) => a.cmp(b),
            (Value::Variant(a), Value::Variant(b)) => a.cmp(b),
            (Value::Opaque(a), Value::Opaque(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rank().hash(state);
        match self {
            Value::Null => {}
            Value::Boolean(v) => v.hash(state),
            Value::Byte(v) => v.hash(state),
            Value::Short(v) => v.hash(state),
            Value::Int(v) | Value::Date(v) | Value::YearMonthInterval(v) => v.hash(state),
            Value::Long(v) | Value::Timestamp(v) | Value::TimestampNtz(v) | Value::DayTimeInterval(v) => v.hash(state),
            Value::Float(v) => hash_double(f64::from(*v), state),
            Value::Double(v) => hash_double(*v, state),
            Value::Decimal(v) => v.hash(state),
            Value::String(v) | Value::Variant(v) => v.hash(state),
            Value::Binary(v) => v.hash(state),
            Value::CalendarInterval { months, days, micros } => (months, days, micros).hash(state),
            Value::Array(v) | Value::Struct(v) => v.hash(state),
            Value::Map(v) => v.hash(state),
            Value::Opaque(v) => v.hash(state),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(unscaled: i128, scale: i8) -> Value {
        Value::Decimal(Decimal { unscaled, precision: 38, scale })
    }

    #[test]
    fn decimals_compare_by_value_at_any_scale() {
        assert_eq!(decimal(150, 2), decimal(15, 1));
        assert!(decimal(i128::MAX, 0) > decimal(1, 37));
        assert!(decimal(i128::MIN, 0) < decimal(1, 37));
        assert!(decimal(1, 37) < decimal(i128::MAX, 0));
    }

    #[test]
    fn grouping_makes_one_of_zeros_and_of_nans() {
        assert_eq!(Value::Double(0.0), Value::Double(-0.0));
        assert_eq!(Value::Double(f64::NAN), Value::Double(-f64::NAN));
        assert!(Value::Double(f64::NAN) > Value::Double(f64::INFINITY));
    }
}
