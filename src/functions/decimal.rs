//! Exact decimal arithmetic within 38 digits, with 256-bit intermediates and HALF_UP rounding.

use super::function::EvalError;
use crate::model::Decimal;

/// Unsigned 256-bit number: high and low half.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Wide(u128, u128);

impl Wide {
    fn product(a: u128, b: u128) -> Self {
        const HALF: u128 = u64::MAX as u128;
        let (a1, a0, b1, b0) = (a >> 64, a & HALF, b >> 64, b & HALF);
        let low = a0 * b0;
        let (middle, carry) = (a1 * b0).overflowing_add(a0 * b1);
        let (low, overflow) = low.overflowing_add(middle << 64);
        let high = a1 * b1 + (middle >> 64) + (u128::from(carry) << 64) + u128::from(overflow);
        Wide(high, low)
    }

    /// Quotient and remainder; none for a divisor of zero or a quotient beyond 128 bits.
    fn divide(self, divisor: u128) -> Option<(u128, u128)> {
        if self.0 >= divisor {
            return None;
        }
        if self.0 == 0 {
            return Some((self.1 / divisor, self.1 % divisor));
        }
        let (mut remainder, mut quotient) = (self.0, 0u128);
        for bit in (0..128).rev() {
            let carry = remainder >> 127 == 1;
            remainder = (remainder << 1) | ((self.1 >> bit) & 1);
            if carry || remainder >= divisor {
                remainder = remainder.wrapping_sub(divisor);
                quotient |= 1 << bit;
            }
        }
        Some((quotient, remainder))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounding {
    HalfUp,
    HalfEven,
    Down,
    Floor,
    Ceiling,
}

pub(super) fn power_of_ten(exponent: u32) -> Option<u128> {
    10u128.checked_pow(exponent)
}

/// `numerator / divisor` rounded; `negative` is the sign of the exact result.
fn rounded(numerator: Wide, divisor: u128, negative: bool, rounding: Rounding) -> Option<i128> {
    let (quotient, remainder) = numerator.divide(divisor)?;
    let half = remainder >= divisor - remainder;
    let up = remainder > 0
        && match rounding {
            Rounding::HalfUp => half,
            Rounding::HalfEven => half && (remainder > divisor - remainder || quotient & 1 == 1),
            Rounding::Down => false,
            Rounding::Floor => negative,
            Rounding::Ceiling => !negative,
        };
    let magnitude = i128::try_from(quotient.checked_add(u128::from(up))?).ok()?;
    Some(if negative { -magnitude } else { magnitude })
}

/// The unscaled value at another scale.
pub(super) fn rescale(value: Decimal, scale: i8, rounding: Rounding) -> Option<i128> {
    let shift = i32::from(scale) - i32::from(value.scale);
    if shift >= 0 {
        let factor = i128::try_from(power_of_ten(shift.unsigned_abs())?).ok()?;
        return value.unscaled.checked_mul(factor);
    }
    let Some(divisor) = power_of_ten(shift.unsigned_abs()) else {
        return Some(match rounding {
            Rounding::Floor if value.unscaled < 0 => -1,
            Rounding::Ceiling if value.unscaled > 0 => 1,
            _ => 0,
        });
    };
    rounded(Wide(0, value.unscaled.unsigned_abs()), divisor, value.unscaled < 0, rounding)
}

pub(super) fn fits(unscaled: i128, precision: u8) -> bool {
    power_of_ten(u32::from(precision)).is_none_or(|limit| unscaled.unsigned_abs() < limit)
}

/// The value as `decimal(precision, scale)`, rounded HALF_UP; none on overflow.
pub(super) fn to_type(value: Decimal, precision: u8, scale: i8) -> Option<Decimal> {
    let unscaled = rescale(value, scale, Rounding::HalfUp)?;
    fits(unscaled, precision).then_some(Decimal { unscaled, precision, scale })
}

pub(super) fn add(a: Decimal, b: Decimal) -> Option<Decimal> {
    let scale = a.scale.max(b.scale);
    let unscaled = rescale(a, scale, Rounding::HalfUp)?.checked_add(rescale(b, scale, Rounding::HalfUp)?)?;
    Some(Decimal { unscaled, precision: 38, scale })
}

pub(super) fn negate(value: Decimal) -> Decimal {
    Decimal { unscaled: value.unscaled.saturating_neg(), ..value }
}

/// `a * b` at a scale.
pub(super) fn multiply(a: Decimal, b: Decimal, scale: i8) -> Option<Decimal> {
    let negative = (a.unscaled < 0) != (b.unscaled < 0);
    let exact = i32::from(a.scale) + i32::from(b.scale);
    let drop = u32::try_from(exact - i32::from(scale)).ok()?;
    let product = Wide::product(a.unscaled.unsigned_abs(), b.unscaled.unsigned_abs());
    let unscaled = rounded(product, power_of_ten(drop)?, negative, Rounding::HalfUp)?;
    Some(Decimal { unscaled, precision: 38, scale })
}

/// `a / b` at a scale; none for a zero divisor or on overflow.
pub(super) fn divide(a: Decimal, b: Decimal, scale: i8) -> Option<Decimal> {
    let negative = (a.unscaled < 0) != (b.unscaled < 0);
    let (numerator, divisor) = (a.unscaled.unsigned_abs(), b.unscaled.unsigned_abs());
    let shift = i32::from(scale) - i32::from(a.scale) + i32::from(b.scale);
    let factor = power_of_ten(shift.unsigned_abs())?;
    let unscaled = if shift >= 0 {
        rounded(Wide::product(numerator, factor), divisor, negative, Rounding::HalfUp)?
    } else {
        rounded(Wide(0, numerator), divisor.checked_mul(factor)?, negative, Rounding::HalfUp)?
    };
    Some(Decimal { unscaled, precision: 38, scale })
}

/// `a % b` with the sign of `a`; none for a zero divisor or on overflow.
pub(super) fn remainder(a: Decimal, b: Decimal) -> Option<Decimal> {
    let scale = a.scale.max(b.scale);
    let (x, y) = (rescale(a, scale, Rounding::Down)?, rescale(b, scale, Rounding::Down)?);
    Some(Decimal { unscaled: x.checked_rem(y)?, precision: 38, scale })
}

pub(super) fn from_integer(value: i64) -> Decimal {
    Decimal { unscaled: i128::from(value), precision: 20, scale: 0 }
}

/// The shortest decimal that reads back as this double, as `BigDecimal(Double.toString)`; none if not finite.
pub(super) fn from_double(value: f64) -> Option<Decimal> {
    if !value.is_finite() {
        return None;
    }
    parse(&format!("{value:e}")).ok()
}

pub(super) fn to_double(value: Decimal) -> f64 {
    plain(value).parse().unwrap_or(f64::NAN)
}

/// Digits without exponent: `BigDecimal.toPlainString`.
pub(super) fn plain(value: Decimal) -> String {
    let sign = if value.unscaled < 0 { "-" } else { "" };
    let digits = value.unscaled.unsigned_abs().to_string();
    let scale = usize::try_from(value.scale).unwrap_or(0);
    if value.scale <= 0 {
        let zeros = if value.unscaled == 0 { 0 } else { usize::from(value.scale.unsigned_abs()) };
        return format!("{sign}{digits}{}", "0".repeat(zeros));
    }
    let padded = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

/// Why text is no decimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParseError {
    Syntax,
    Overflow,
}

/// Reads `[+-]digits[.digits][e[+-]digits]`, at the scale as written. Digits beyond what 128 bits hold are rounded away where
/// they stand behind the point.
pub(super) fn parse(text: &str) -> Result<Decimal, ParseError> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => {
            let exponent = text.get(at + 1..).unwrap_or_default();
            (text.get(..at).unwrap_or_default(), exponent.parse::<i32>().map_err(|_| ParseError::Syntax)?)
        }
        None => (text, 0),
    };
    let (negative, digits) = match mantissa.as_bytes().first() {
        Some(b'-') => (true, mantissa.get(1..).unwrap_or_default()),
        Some(b'+') => (false, mantissa.get(1..).unwrap_or_default()),
        _ => (false, mantissa),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.len() + fraction.len() == 0 || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return Err(ParseError::Syntax);
    }
    let (mut unscaled, mut scale) = (0i128, 0i32);
    let mut dropped: Option<u8> = None;
    for (index, digit) in whole.bytes().chain(fraction.bytes()).map(|b| b - b'0').enumerate() {
        let behind_point = index >= whole.len();
        let next = unscaled.checked_mul(10).and_then(|v| v.checked_add(i128::from(digit)));
        match next.filter(|v| fits(*v, 38) && dropped.is_none()) {
            Some(v) => {
                unscaled = v;
                scale += i32::from(behind_point);
            }
            None if behind_point => dropped = dropped.or(Some(digit)),
            None => return Err(ParseError::Overflow),
        }
    }
    unscaled += i128::from(dropped.is_some_and(|digit| digit >= 5));
    normalize(if negative { -unscaled } else { unscaled }, scale.checked_sub(exponent).ok_or(ParseError::Overflow)?)
}

/// Brings a scale into 0..=38.
fn normalize(mut unscaled: i128, mut scale: i32) -> Result<Decimal, ParseError> {
    if unscaled == 0 {
        scale = scale.clamp(0, 38);
    }
    while scale < 0 {
        unscaled = unscaled.checked_mul(10).filter(|v| fits(*v, 38)).ok_or(ParseError::Overflow)?;
        scale += 1;
    }
    while scale > 38 {
        if unscaled == 0 {
            scale = 38;
            break;
        }
        unscaled /= 10;
        scale -= 1;
    }
    let digits = unscaled.unsigned_abs().to_string().len();
    let precision = digits.max(usize::try_from(scale).unwrap_or(0)).min(38);
    Ok(Decimal {
        unscaled,
        precision: u8::try_from(precision).unwrap_or(38),
        scale: i8::try_from(scale).map_err(|_| ParseError::Overflow)?,
    })
}

/// `NUMERIC_VALUE_OUT_OF_RANGE`, raised in ANSI mode.
pub(super) fn out_of_range(value: Decimal, precision: u8, scale: i8) -> EvalError {
    EvalError::new(
        "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION",
        format!("{} cannot be represented as decimal({precision}, {scale})", plain(value)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(text: &str) -> Decimal {
        parse(text).unwrap()
    }

    #[test]
    fn wide_products_divide_exactly() {
        let a = d("12345678901234567890123456789012345678");
        let product = multiply(a, d("10000000000"), 0);
        assert!(product.is_none(), "48 digits do not fit");
        let quotient = divide(a, a, 30).unwrap();
        assert_eq!(plain(quotient), "1.000000000000000000000000000000");
        assert_eq!(plain(multiply(d("0.0000000001"), a, 6).unwrap()), "1234567890123456789012345678.901235");
    }

    #[test]
    fn rounding_is_half_up_away_from_zero() {
        assert_eq!(plain(to_type(d("2.5"), 5, 0).unwrap()), "3");
        assert_eq!(plain(to_type(d("-2.5"), 5, 0).unwrap()), "-3");
        assert_eq!(rescale(d("2.5"), 0, Rounding::HalfEven), Some(2));
        assert_eq!(rescale(d("-2.1"), 0, Rounding::Floor), Some(-3));
        assert_eq!(to_type(d("1234.5"), 4, 1), None);
    }

    #[test]
    fn exponents_and_points_are_read() {
        assert_eq!(plain(d("1.5e3")), "1500");
        assert_eq!(plain(d("-.5")), "-0.5");
        assert_eq!(plain(d("1.5e-3")), "0.0015");
        assert_eq!(parse("1e99"), Err(ParseError::Overflow));
        assert_eq!(parse("."), Err(ParseError::Syntax));
        assert_eq!(from_double(0.1).map(plain), Some("0.1".to_owned()));
    }
}
