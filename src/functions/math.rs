//! Mathematical functions: rounding, powers, logarithms, trigonometry, number formats.

use super::access::{decimal, double, int, long, text};
use super::arithmetic::overflow;
use super::coercion::{bounded, implicit_cast};
use super::decimal::{self as exact, Rounding};
use super::function::{
    Argument, EvalError, EvalResult, Function, Invocation, Nulls, Param, Params, ResultType, Simple,
};
use crate::model::{DataType, Decimal, Value};

const DOUBLES: Params = Params::Each(&[Param::Is(Simple::Double)]);
const DOUBLE: ResultType = ResultType::Is(Simple::Double);
const NUMBER_AND_SCALE: Params = Params::Each(&[Param::Numeric, Param::Is(Simple::Int)]);

/// A function of one double, NaN where it is not defined. Spark declares every `UnaryMathExpression` nullable.
const fn real(names: &'static [&'static str], body: fn(&Invocation) -> EvalResult) -> Function {
    Function::scalar(names, DOUBLES, DOUBLE, Nulls::PropagateOrNull, body)
}

const fn real_pair(names: &'static [&'static str], body: fn(&Invocation) -> EvalResult) -> Function {
    Function::scalar(names, DOUBLES, DOUBLE, Nulls::Propagate, body)
}

/// A logarithm: NULL at and below its pole.
const fn logarithm(names: &'static [&'static str], body: fn(&Invocation) -> EvalResult) -> Function {
    Function::scalar(names, DOUBLES, DOUBLE, Nulls::PropagateOrNull, body)
}

fn of(call: &Invocation, f: fn(f64) -> f64) -> EvalResult {
    Ok(Value::Double(f(call.double(0)?)))
}

fn of_two(call: &Invocation, f: fn(f64, f64) -> f64) -> EvalResult {
    Ok(Value::Double(f(call.double(0)?, call.double(1)?)))
}

fn above(call: &Invocation, pole: f64, f: fn(f64) -> f64) -> EvalResult {
    let x = call.double(0)?;
    Ok(if x <= pole { Value::Null } else { Value::Double(f(x)) })
}

pub(super) static FUNCTIONS: &[Function] = &[
    Function::scalar(&["ceil", "ceiling"], CEIL_PARAMS, ResultType::Rule(ceil_type), Nulls::PropagateOrNull, |c| {
        to_whole(c, Rounding::Ceiling)
    }),
    Function::scalar(&["floor"], CEIL_PARAMS, ResultType::Rule(ceil_type), Nulls::PropagateOrNull, |c| {
        to_whole(c, Rounding::Floor)
    }),
    Function::scalar(&["round"], NUMBER_AND_SCALE, ResultType::Rule(round_type), Nulls::PropagateOrNull, |c| {
        round(c, Rounding::HalfUp)
    }),
    Function::scalar(&["bround"], NUMBER_AND_SCALE, ResultType::Rule(round_type), Nulls::PropagateOrNull, |c| {
        round(c, Rounding::HalfEven)
    }),
    real(&["rint"], |c| of(c, f64::round_ties_even)),
    real(&["sqrt"], |c| of(c, f64::sqrt)),
    real(&["cbrt"], |c| of(c, f64::cbrt)),
    real_pair(&["pow", "power"], |c| of_two(c, f64::powf)),
    real(&["exp"], |c| of(c, f64::exp)),
    real(&["expm1"], |c| of(c, f64::exp_m1)),
    logarithm(&["ln"], |c| above(c, 0.0, f64::ln)),
    logarithm(&["log"], log),
    logarithm(&["log10"], |c| above(c, 0.0, f64::log10)),
    logarithm(&["log2"], |c| above(c, 0.0, f64::log2)),
    logarithm(&["log1p"], |c| above(c, -1.0, f64::ln_1p)),
    real(&["signum", "sign"], |c| of(c, |x| if x == 0.0 || x.is_nan() { x } else { x.signum() })),
    real(&["sin"], |c| of(c, f64::sin)),
    real(&["cos"], |c| of(c, f64::cos)),
    real(&["tan"], |c| of(c, f64::tan)),
    real(&["cot"], |c| of(c, |x| 1.0 / x.tan())),
    real(&["sec"], |c| of(c, |x| 1.0 / x.cos())),
    real(&["csc"], |c| of(c, |x| 1.0 / x.sin())),
    real(&["asin"], |c| of(c, f64::asin)),
    real(&["acos"], |c| of(c, f64::acos)),
    real(&["atan"], |c| of(c, f64::atan)),
    real_pair(&["atan2"], |c| of_two(c, f64::atan2)),
    real(&["sinh"], |c| of(c, f64::sinh)),
    real(&["cosh"], |c| of(c, f64::cosh)),
    real(&["tanh"], |c| of(c, f64::tanh)),
    real(&["asinh"], |c| of(c, f64::asinh)),
    real(&["acosh"], |c| of(c, f64::acosh)),
    real(&["atanh"], |c| of(c, f64::atanh)),
    real(&["degrees"], |c| of(c, f64::to_degrees)),
    real(&["radians"], |c| of(c, f64::to_radians)),
    real_pair(&["hypot"], |c| of_two(c, f64::hypot)),
    Function::scalar(&["pi"], DOUBLES, DOUBLE, Nulls::Never, |_| Ok(Value::Double(std::f64::consts::PI))),
    Function::scalar(&["e"], DOUBLES, DOUBLE, Nulls::Never, |_| Ok(Value::Double(std::f64::consts::E))),
    Function::scalar(
        &["factorial"],
        Params::Each(&[Param::Is(Simple::Int)]),
        ResultType::Is(Simple::Long),
        Nulls::PropagateOrNull,
        factorial,
    ),
    Function::scalar(
        &["width_bucket"],
        Params::Each(&[
            Param::Is(Simple::Double),
            Param::Is(Simple::Double),
            Param::Is(Simple::Double),
            Param::Is(Simple::Long),
        ]),
        ResultType::Is(Simple::Long),
        Nulls::PropagateOrNull,
        width_bucket,
    ),
    Function::scalar(&["bit_count"], Params::Each(&[Param::Any]), ResultType::Is(Simple::Int), Nulls::Propagate, |c| {
        match c.arg(0) {
            Value::Boolean(v) => Ok(Value::Int(i32::from(*v))),
            other => Ok(Value::Int(long(other)?.count_ones().cast_signed())),
        }
    }),
    Function::scalar(
        &["bit_get", "getbit"],
        Params::Each(&[Param::Integral, Param::Is(Simple::Int)]),
        ResultType::Is(Simple::Byte),
        Nulls::Propagate,
        bit_get,
    ),
    Function::scalar(
        &["bin"],
        Params::Each(&[Param::Is(Simple::Long)]),
        ResultType::Is(Simple::String),
        Nulls::Propagate,
        |c| Ok(Value::string(format!("{:b}", c.long(0)?))),
    ),
    Function::scalar(
        &["conv"],
        Params::Each(&[Param::Is(Simple::String), Param::Is(Simple::Int), Param::Is(Simple::Int)]),
        ResultType::Is(Simple::String),
        Nulls::PropagateOrNull,
        conv,
    ),
];

const CEIL_PARAMS: Params = Params::Rule(ceil_params);

/// Without a scale `ceil` and `floor` take bigint, decimal or double; with one, decimals (and numbers as decimals).
fn ceil_params(args: &[Argument]) -> Vec<DataType> {
    match args {
        [number] => match &number.data_type {
            DataType::Decimal { .. } | DataType::Double | DataType::Unknown => vec![number.data_type.clone()],
            DataType::Byte | DataType::Short | DataType::Int | DataType::Long => vec![DataType::Long],
            _ => vec![DataType::Double],
        },
        [number, scale, ..] => {
            let wide = match &number.data_type {
                DataType::Float => DataType::decimal(14, 7),
                DataType::Double | DataType::String | DataType::Null => DataType::decimal(30, 15),
                other => super::coercion::decimal_for(other)
                    .map_or_else(|| other.clone(), |(precision, scale)| DataType::Decimal { precision, scale }),
            };
            vec![wide, implicit_cast(Param::Is(Simple::Int), &scale.data_type)]
        }
        [] => Vec::new(),
    }
}

fn literal_scale(args: &[Argument]) -> i16 {
    args.get(1)
        .and_then(|a| a.literal.as_ref())
        .and_then(|v| int(v).ok())
        .map_or(0, |v| i16::try_from(v.clamp(-400, 400)).unwrap_or(0))
}

fn ceil_type(args: &[Argument]) -> DataType {
    match args.first().map(|a| &a.data_type) {
        Some(DataType::Decimal { precision, scale }) if args.len() == 1 => {
            bounded(i16::from(*precision) - i16::from(*scale) + 1, 0)
        }
        Some(DataType::Decimal { precision, scale }) => {
            rounded_decimal(i16::from(*precision), i16::from(*scale), literal_scale(args))
        }
        Some(DataType::Unknown) | None => DataType::Unknown,
        Some(_) => DataType::Long,
    }
}

/// `RoundBase`: one more integral digit, since rounding may carry.
fn rounded_decimal(precision: i16, scale: i16, wanted: i16) -> DataType {
    let integral = precision - scale + 1;
    if wanted < 0 {
        return bounded(integral.max(1 - wanted), 0);
    }
    let kept = scale.min(wanted);
    bounded(integral + kept, kept)
}

fn round_type(args: &[Argument]) -> DataType {
    match args.first().map(|a| &a.data_type) {
        Some(DataType::Decimal { precision, scale }) => {
            rounded_decimal(i16::from(*precision), i16::from(*scale), literal_scale(args))
        }
        Some(other) => other.clone(),
        None => DataType::Unknown,
    }
}

fn to_whole(call: &Invocation, rounding: Rounding) -> EvalResult {
    match (call.arg(0), call.result) {
        (Value::Decimal(v), DataType::Decimal { precision, scale }) => {
            let wanted = if call.args.len() > 1 { call.int(1)? } else { 0 };
            decimal_at(*v, wanted, rounding, *precision, *scale)
        }
        (Value::Double(v), _) => Ok(Value::Long(if rounding == Rounding::Floor { v.floor() } else { v.ceil() } as i64)),
        (other, _) => Ok(Value::Long(long(other)?)),
    }
}

/// Rounds at `wanted` digits behind the point (before it, if negative) and gives a decimal of the result's type.
fn decimal_at(value: Decimal, wanted: i32, rounding: Rounding, precision: u8, scale: i8) -> EvalResult {
    let at = i8::try_from(wanted.clamp(-38, i32::from(value.scale))).unwrap_or(0);
    let rounded = exact::rescale(value, at, rounding)
        .map(|unscaled| Decimal { unscaled, precision: 38, scale: at })
        .and_then(|v| exact::to_type(v, precision, scale));
    rounded.map(Value::Decimal).ok_or_else(|| exact::out_of_range(value, precision, scale))
}

fn round(call: &Invocation, rounding: Rounding) -> EvalResult {
    let wanted = if call.args.len() > 1 { call.int(1)? } else { 0 };
    match (call.arg(0), call.result) {
        (Value::Decimal(v), DataType::Decimal { precision, scale }) => {
            decimal_at(*v, wanted, rounding, *precision, *scale)
        }
        (Value::Double(v), _) => Ok(Value::Double(round_double(*v, wanted, rounding))),
        (Value::Float(v), _) => Ok(Value::Float(round_double(f64::from(*v), wanted, rounding) as f32)),
        (other, result) => {
            let value = long(other)?;
            if wanted >= 0 {
                return Ok(other.clone());
            }
            let at = i8::try_from(wanted.max(-30)).unwrap_or(-30);
            let rounded = exact::rescale(exact::from_integer(value), at, rounding)
                .and_then(|unscaled| exact::to_type(Decimal { unscaled, precision: 38, scale: at }, 38, 0))
                .and_then(|v| i64::try_from(v.unscaled).ok())
                .and_then(|v| super::cast::narrow(v, result));
            rounded.ok_or_else(|| overflow("round"))
        }
    }
}

/// Through the shortest decimal text of the double, as Spark's `BigDecimal(d).setScale`.
fn round_double(value: f64, wanted: i32, rounding: Rounding) -> f64 {
    let Some(number) = exact::from_double(value) else { return value };
    if wanted >= i32::from(number.scale) {
        return value;
    }
    let at = i8::try_from(wanted.max(-38)).unwrap_or(-38);
    match exact::rescale(number, at, rounding) {
        Some(unscaled) => exact::to_double(Decimal { unscaled, precision: 38, scale: at }),
        None => value,
    }
}

/// `log(x)`, or `log(base, x)`.
fn log(call: &Invocation) -> EvalResult {
    if call.args.len() < 2 {
        return above(call, 0.0, f64::ln);
    }
    let (base, x) = (call.double(0)?, call.double(1)?);
    Ok(if base <= 0.0 || x <= 0.0 { Value::Null } else { Value::Double(x.ln() / base.ln()) })
}

fn factorial(call: &Invocation) -> EvalResult {
    let n = call.int(0)?;
    Ok(if (0..=20).contains(&n) { Value::Long((1..=i64::from(n)).product()) } else { Value::Null })
}

fn width_bucket(call: &Invocation) -> EvalResult {
    let (value, min, max, buckets) = (call.double(0)?, call.double(1)?, call.double(2)?, call.long(3)?);
    if buckets <= 0 || buckets == i64::MAX || value.is_nan() || min == max || !min.is_finite() || !max.is_finite() {
        return Ok(Value::Null);
    }
    let (lower, upper) = (min.min(max), min.max(max));
    let bucket = if min < max {
        if value < lower {
            0
        } else if value >= upper {
            buckets + 1
        } else {
            (buckets as f64 * (value - lower) / (upper - lower)) as i64 + 1
        }
    } else if value > upper {
        0
    } else if value <= lower {
        buckets + 1
    } else {
        (buckets as f64 * (upper - value) / (upper - lower)) as i64 + 1
    };
    Ok(Value::Long(bucket))
}

fn bit_get(call: &Invocation) -> EvalResult {
    let position = call.int(1)?;
    let width = match call.arg(0) {
        Value::Byte(_) => 8,
        Value::Short(_) => 16,
        Value::Int(_) => 32,
        _ => 64,
    };
    if !(0..width).contains(&position) {
        return Err(EvalError::new(
            "INVALID_PARAMETER_VALUE.BIT_POSITION_RANGE",
            format!("bit position {position} is not below {width}"),
        ));
    }
    Ok(Value::Byte(i8::from((call.long(0)? >> position) & 1 == 1)))
}

/// `NumberConverter.convert`: reads digits as far as they go, as an unsigned 64-bit number.
fn conv(call: &Invocation) -> EvalResult {
    let (from, to) = (call.int(1)?, call.int(2)?);
    let digits = text(call.arg(0))?.trim();
    let radix = |base: i32| u32::try_from(base.abs()).ok().filter(|b| (2..=36).contains(b));
    let (Some(source), Some(target)) = (radix(from).filter(|_| from > 0), radix(to)) else {
        return Ok(Value::Null);
    };
    let (negative, body) = match digits.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, digits),
    };
    if digits.is_empty() {
        return Ok(Value::Null);
    }
    let mut value = 0u64;
    for digit in body.chars().map_while(|c| c.to_digit(source)) {
        match value.checked_mul(u64::from(source)).and_then(|v| v.checked_add(u64::from(digit))) {
            Some(next) => value = next,
            None if call.context.ansi => return Err(overflow("conv")),
            None => {
                value = u64::MAX;
                break;
            }
        }
    }
    let bits = if negative { value.wrapping_neg() } else { value };
    let shown = if to < 0 && bits.cast_signed() < 0 {
        format!("-{}", in_radix(bits.cast_signed().unsigned_abs(), target))
    } else {
        in_radix(bits, target)
    };
    Ok(Value::string(shown))
}

fn in_radix(mut value: u64, radix: u32) -> String {
    let mut digits = Vec::new();
    loop {
        let digit = u32::try_from(value % u64::from(radix)).unwrap_or(0);
        digits.extend(char::from_digit(digit, radix).map(|c| c.to_ascii_uppercase()));
        value /= u64::from(radix);
        if value == 0 {
            break;
        }
    }
    digits.iter().rev().collect()
}

/// A number as a decimal, for functions that compute exactly.
pub(super) fn as_decimal(value: &Value) -> Result<Decimal, EvalError> {
    match value {
        Value::Double(_) | Value::Float(_) => {
            exact::from_double(double(value)?).ok_or_else(|| EvalError::unexpected("a finite number", value))
        }
        other => decimal(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_a_decimal_keeps_room_for_the_carry() {
        assert_eq!(rounded_decimal(5, 2, 1), DataType::decimal(5, 1));
        assert_eq!(rounded_decimal(5, 2, -1), DataType::decimal(4, 0));
    }

    #[test]
    fn doubles_round_by_their_text() {
        assert_eq!(round_double(2.675, 2, Rounding::HalfUp), 2.68);
        assert_eq!(round_double(f64::NAN, 2, Rounding::HalfUp).to_bits(), f64::NAN.to_bits());
        assert_eq!(round_double(1e300, -2, Rounding::HalfUp), 1e300);
    }
}
