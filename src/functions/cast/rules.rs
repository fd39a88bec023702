//! Which casts exist.

use crate::functions::coercion::{decimal_for, precedence};
use crate::model::{DataType, Field};

/// `Cast.canCast` (legacy) or `Cast.canAnsiCast`.
pub fn can_cast(from: &DataType, to: &DataType, ansi: bool) -> bool {
    match (from, to) {
        (a, b) if a == b => true,
        (DataType::Unknown, _) | (_, DataType::Unknown) | (DataType::Null, _) => true,
        (DataType::Variant, to) => !matches!(to, DataType::Binary | DataType::CalendarInterval),
        (from, DataType::Variant) => !matches!(from, DataType::CalendarInterval),
        (_, DataType::String) => true,
        (DataType::Array { element: a, contains_null: n }, DataType::Array { element: b, contains_null: m }) => {
            can_cast(a, b, ansi) && (*m || !*n)
        }
        (
            DataType::Map { key: k, value: v, value_contains_null: n },
            DataType::Map { key: l, value: w, value_contains_null: m },
        ) => can_cast(k, l, ansi) && can_cast(v, w, ansi) && (*m || !*n),
        (DataType::Struct(a), DataType::Struct(b)) => {
            same_shape(a, b, |x, y| can_cast(&x.data_type, &y.data_type, ansi) && (y.nullable || !x.nullable))
        }
        (DataType::String, to) => is_atomic(to),
        (from, DataType::Binary) => !ansi && from.is_integral(),
        (DataType::Boolean, to) => to.is_numeric() || (!ansi && *to == DataType::Timestamp),
        (from, DataType::Boolean) => from.is_numeric() || (!ansi && from.is_datetime()),
        (from, to) if from.is_numeric() && to.is_numeric() => true,
        (from, to) if from.is_datetime() && to.is_datetime() => true,
        (DataType::Timestamp, to) => to.is_numeric(),
        (DataType::Date, to) => !ansi && to.is_numeric(),
        (from, DataType::Timestamp) => from.is_numeric(),
        (DataType::DayTimeInterval | DataType::YearMonthInterval, to) => to.is_integral() || is_decimal(to),
        (from, DataType::DayTimeInterval | DataType::YearMonthInterval) => from.is_integral() || is_decimal(from),
        _ => false,
    }
}

/// `Cast.forceNullable`: the result may be NULL though the input is not. Spark declares so in ANSI mode too, where the cast
/// would rather fail.
pub fn cast_nullable(from: &DataType, to: &DataType) -> bool {
    match (from, to) {
        (a, b) if a == b => false,
        (DataType::Null, _) => true,
        (DataType::Variant, _) => true,
        (DataType::String, DataType::Binary) | (_, DataType::String) => false,
        (DataType::String, _) | (DataType::Unknown, _) | (_, DataType::Unknown) => true,
        (DataType::Timestamp, DataType::Byte | DataType::Short | DataType::Int) => true,
        (DataType::Float | DataType::Double, DataType::Timestamp) => true,
        (DataType::Timestamp | DataType::TimestampNtz, DataType::Date) => false,
        (_, DataType::Date | DataType::CalendarInterval) => true,
        (from, to @ DataType::Decimal { .. }) => !(matches!(from, DataType::Boolean) || can_up_cast(from, to)),
        (DataType::Float | DataType::Double | DataType::Decimal { .. }, to) => to.is_integral(),
        _ => false,
    }
}

/// `UpCastRule.canUpCast`: no information is lost (what `Dataset.as`, and Delta's type widening, build on).
pub fn can_up_cast(from: &DataType, to: &DataType) -> bool {
    match (from, to) {
        (a, b) if a == b => true,
        (DataType::Null, _) => true,
        (from, DataType::Decimal { precision, scale }) if from.is_integral() || is_decimal(from) => decimal_for(from)
            .is_some_and(|(p, s)| {
                let whole = |p: u8, s: i8| i16::from(p) - i16::from(s);
                whole(*precision, *scale) >= whole(p, s) && *scale >= s
            }),
        (from, to) if from.is_numeric() && to.is_numeric() => match (precedence(from), precedence(to)) {
            (Some(a), Some(b)) => a <= b,
            _ => false,
        },
        (DataType::Date, DataType::Timestamp | DataType::TimestampNtz)
        | (DataType::Timestamp, DataType::TimestampNtz)
        | (DataType::TimestampNtz, DataType::Timestamp) => true,
        (from, DataType::String) => is_atomic(from),
        (DataType::Array { element: a, contains_null: n }, DataType::Array { element: b, contains_null: m }) => {
            can_up_cast(a, b) && (*m || !*n)
        }
        (
            DataType::Map { key: k, value: v, value_contains_null: n },
            DataType::Map { key: l, value: w, value_contains_null: m },
        ) => can_up_cast(k, l) && can_up_cast(v, w) && (*m || !*n),
        (DataType::Struct(a), DataType::Struct(b)) => {
            same_shape(a, b, |x, y| can_up_cast(&x.data_type, &y.data_type) && (y.nullable || !x.nullable))
        }
        _ => false,
    }
}

fn same_shape(a: &[Field], b: &[Field], fits: impl Fn(&Field, &Field) -> bool) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| fits(x, y))
}

fn is_decimal(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Decimal { .. })
}

fn is_atomic(data_type: &DataType) -> bool {
    !matches!(data_type, DataType::Array { .. } | DataType::Map { .. } | DataType::Struct(_) | DataType::Variant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_casts_lose_nothing() {
        assert!(can_up_cast(&DataType::Int, &DataType::Long));
        assert!(!can_up_cast(&DataType::Long, &DataType::Int));
        assert!(can_up_cast(&DataType::Int, &DataType::decimal(10, 0)));
        assert!(!can_up_cast(&DataType::Int, &DataType::decimal(10, 2)));
        assert!(can_up_cast(&DataType::decimal(10, 2), &DataType::decimal(12, 2)));
        assert!(!can_up_cast(&DataType::String, &DataType::Int));
    }

    #[test]
    fn ansi_forbids_what_hive_allowed() {
        assert!(!can_cast(&DataType::Date, &DataType::Int, true));
        assert!(can_cast(&DataType::Date, &DataType::Int, false));
        assert!(can_cast(&DataType::Int, &DataType::Timestamp, true));
        assert!(!can_cast(&DataType::Int, &DataType::Date, true));
        assert!(!can_cast(&DataType::array(DataType::Int), &DataType::Int, false));
    }
}
