//! Values at which functions of a kind differ: blanks, case, signs, ties of rounding, ends of days and months, clock changes.
//!
//! Takes a type, gives a list to draw from. Which columns get them is for [`super::literals`] to say: those that go through a
//! function that is sensitive to them ([`crate::functions::is_sensitive`]).

use crate::model::{DataType, Decimal, Value};

const TEXTS: [&str; 14] = [
    " ab cd ",
    "",
    "Straße Ñandú",
    "ab cd-EF",
    "  x",
    "12.50",
    "abcdefghij klmnopqrst uvwxyz 0123456789 ABCDEF",
    "y \t",
    "a1,b2;c3|a1",
    "AbC",
    "日本 語",
    "{\"a\": 1, \"b\": \"x\"}",
    "https://User@example.com:80/p/a.html?q=1&r=a#f",
    "2024-02-29 23:30:00",
];

/// Thousandths: whole and broken, on both sides of zero, ties at each place.
const THOUSANDTHS: [i64; 12] = [-2_500, 2_500, 0, -7_000, 1_250, 2_345, -125, 500, 1_234_567, 15_000, -1_500, 64_000];

const WHOLE: [i64; 10] = [-7, 0, 15, -25, 1_250, 64, -1, 255, 35, 1_234_567];

/// Microseconds since the epoch: half past eleven at a month's end, midnight, the last of a year, both changes of the clock in
/// Europe and in America, a Sunday, an instant with a fraction, one before 1970.
const INSTANTS: [i64; 10] = [
    1_706_743_800_000_000,
    1_709_164_800_000_000,
    1_735_689_599_999_999,
    1_711_846_800_000_000,
    1_709_249_400_000_000,
    1_729_994_400_000_000,
    1_710_054_000_000_000,
    1_730_613_600_000_000,
    1_704_713_696_789_012,
    -1_800_000_000,
];

const DAY: i64 = 86_400_000_000;

/// Values of a type, in an order that meets the most telling first; `texts` are literals that the column meets.
pub fn edge_values(data_type: &DataType, texts: &[String]) -> Vec<Value> {
    match data_type {
        DataType::Byte => WHOLE.iter().filter_map(|n| i8::try_from(*n).ok()).map(Value::Byte).collect(),
        DataType::Short => WHOLE.iter().filter_map(|n| i16::try_from(*n).ok()).map(Value::Short).collect(),
        DataType::Int => WHOLE.iter().filter_map(|n| i32::try_from(*n).ok()).map(Value::Int).collect(),
        DataType::Long => WHOLE.iter().copied().map(Value::Long).collect(),
        DataType::Float | DataType::Double => {
            let doubles = THOUSANDTHS.iter().filter_map(|n| i32::try_from(*n).ok());
            doubles.map(|n| Value::Double(f64::from(n) / 1_000.0)).collect()
        }
        DataType::Decimal { precision, scale } => decimals(*precision, *scale),
        DataType::String | DataType::Unknown | DataType::Variant => {
            let around = texts.iter().take(3).flat_map(|text| [format!("a{text}b{text}c"), text.clone()]);
            let own: Vec<String> = around.collect();
            let fixed = TEXTS.iter().map(|text| (*text).to_owned());
            own.into_iter().chain(fixed).map(Value::string).collect()
        }
        DataType::Date => {
            INSTANTS.iter().filter_map(|n| i32::try_from(n.div_euclid(DAY)).ok()).map(Value::Date).collect()
        }
        DataType::Timestamp | DataType::TimestampNtz => INSTANTS.iter().copied().map(Value::Timestamp).collect(),
        _ => Vec::new(),
    }
}

fn decimals(precision: u8, scale: i8) -> Vec<Value> {
    let (Some(factor), Some(limit)) =
        (10i128.checked_pow(u32::from(scale.max(0).unsigned_abs())), 10i128.checked_pow(u32::from(precision)))
    else {
        return Vec::new();
    };
    let unscaled = THOUSANDTHS.iter().map(|n| i128::from(*n).saturating_mul(factor) / 1_000);
    unscaled
        .filter(|n| n.abs() < limit)
        .map(|unscaled| Value::Decimal(Decimal { unscaled, precision, scale }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_what_they_are_said_to_be() {
        let of_day = |n: i64| n.rem_euclid(DAY) / 60_000_000;
        assert_eq!(of_day(INSTANTS[0]), 23 * 60 + 30);
        assert_eq!(of_day(INSTANTS[1]), 0);
        assert_eq!(of_day(INSTANTS[4]), 23 * 60 + 30);
        let first_hours: Vec<i64> = [3, 5].iter().map(|at| of_day(INSTANTS[*at])).collect();
        assert_eq!(first_hours, [60, 2 * 60]);
    }

    #[test]
    fn decimals_fit_their_type() {
        let values = edge_values(&DataType::Decimal { precision: 4, scale: 2 }, &[]);
        assert!(values.contains(&Value::Decimal(Decimal { unscaled: -250, precision: 4, scale: 2 })));
        assert!(values.iter().all(|value| matches!(value, Value::Decimal(d) if d.unscaled.abs() < 10_000)));
    }
}
