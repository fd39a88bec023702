//! Implicit casts: the types of arguments after Spark's `AnsiTypeCoercion` and `DecimalPrecision`.
//!
//! Takes parameters as the tables declare them and argument types; gives one type an argument. What cannot be coerced stays as
//! it is (Spark would refuse the query), and an unknown type stays unknown.

use super::function::{Argument, Param, Params};
use crate::model::{DataType, Field, Value};

/// Spark's `DecimalType.SYSTEM_DEFAULT`, to which strings are cast where a decimal is expected.
pub(super) const MAX_PRECISION: u8 = 38;

pub(super) fn coerce(params: Params, args: &[Argument]) -> Vec<DataType> {
    match params {
        Params::Each(list) => args
            .iter()
            .enumerate()
            .map(|(index, arg)| match list.get(index).or_else(|| list.last()) {
                Some(param) => implicit_cast(*param, &arg.data_type),
                None => arg.data_type.clone(),
            })
            .collect(),
        Params::Common(from) => common_from(args, from),
        Params::Rule(rule) => rule(args),
    }
}

/// Widens the arguments from `from` on to one type, where there is one.
pub(super) fn common_from(args: &[Argument], from: usize) -> Vec<DataType> {
    let mut types: Vec<DataType> = args.iter().map(|a| a.data_type.clone()).collect();
    let Some(tail) = types.get_mut(from..) else { return types };
    if let Some(common) = common_type(tail) {
        tail.fill(common);
    }
    types
}

/// The type all of these widen to (`coalesce`, CASE, `array`, IN, UNION); none where Spark would refuse or one is unknown.
pub fn common_type(types: &[DataType]) -> Option<DataType> {
    // Strings are merged last, so that the answer does not hang on the order (TypeCoercion.findWiderCommonType).
    let (strings, others): (Vec<_>, Vec<_>) = types.iter().partition(|t| matches!(t, DataType::String));
    let mut ordered = strings.into_iter().chain(others);
    let first = ordered.next()?.clone();
    ordered.try_fold(first, |wide, next| wider_type(&wide, next))
}

/// The type two branches widen to; a string gives way to the other type, as ANSI coercion promotes string literals.
pub fn wider_type(a: &DataType, b: &DataType) -> Option<DataType> {
    if a.is_unknown() || b.is_unknown() {
        return None;
    }
    tightest_common(a, b)
        .or_else(|| wider_decimal(a, b))
        .or_else(|| promote_string(a, b))
        .or_else(|| wider_nested(a, b))
}

fn tightest_common(a: &DataType, b: &DataType) -> Option<DataType> {
    match (a, b) {
        (a, b) if a == b => Some(a.clone()),
        (DataType::Null, other) | (other, DataType::Null) => Some(other.clone()),
        (a, b) if a.is_numeric() && b.is_numeric() => wider_number(a, b),
        (DataType::Date, DataType::Timestamp) | (DataType::Timestamp, DataType::Date) => Some(DataType::Timestamp),
        (DataType::Date, DataType::TimestampNtz) | (DataType::TimestampNtz, DataType::Date) => {
            Some(DataType::TimestampNtz)
        }
        (DataType::Timestamp, DataType::TimestampNtz) | (DataType::TimestampNtz, DataType::Timestamp) => {
            Some(DataType::Timestamp)
        }
        _ => None,
    }
}

/// Where a number's type stands in `TypeCoercion.numericPrecedence`; decimals have a rule of their own.
pub(super) fn precedence(data_type: &DataType) -> Option<u8> {
    match data_type {
        DataType::Byte => Some(0),
        DataType::Short => Some(1),
        DataType::Int => Some(2),
        DataType::Long => Some(3),
        DataType::Float => Some(4),
        DataType::Double => Some(5),
        _ => None,
    }
}

/// Numbers other than decimals. An integer meeting a float becomes double: a float would lose digits.
fn wider_number(a: &DataType, b: &DataType) -> Option<DataType> {
    let (left, right) = (precedence(a)?, precedence(b)?);
    let wide = if left >= right { a } else { b };
    match wide {
        DataType::Float if left != right => Some(DataType::Double),
        _ => Some(wide.clone()),
    }
}

/// `DecimalType.forType`: the decimal that holds every value of an integral type.
pub(super) fn decimal_for(data_type: &DataType) -> Option<(u8, i8)> {
    match data_type {
        DataType::Byte => Some((3, 0)),
        DataType::Short => Some((5, 0)),
        DataType::Int => Some((10, 0)),
        DataType::Long => Some((20, 0)),
        DataType::Decimal { precision, scale } => Some((*precision, *scale)),
        _ => None,
    }
}

fn wider_decimal(a: &DataType, b: &DataType) -> Option<DataType> {
    let floating = |t: &DataType| matches!(t, DataType::Float | DataType::Double);
    let decimal = |t: &DataType| matches!(t, DataType::Decimal { .. });
    if !decimal(a) && !decimal(b) {
        return None;
    }
    if floating(a) || floating(b) {
        return Some(DataType::Double);
    }
    Some(wider_decimal_type(decimal_for(a)?, decimal_for(b)?))
}

/// `DecimalPrecision.widerDecimalType`: holds both, bounded to 38 digits with the integral digits kept first.
pub(super) fn wider_decimal_type((p1, s1): (u8, i8), (p2, s2): (u8, i8)) -> DataType {
    let scale = i16::from(s1.max(s2));
    let range = (i16::from(p1) - i16::from(s1)).max(i16::from(p2) - i16::from(s2));
    bounded(range + scale, scale)
}

/// `DecimalType.bounded`.
pub(super) fn bounded(precision: i16, scale: i16) -> DataType {
    let max = i16::from(MAX_PRECISION);
    DataType::Decimal { precision: small(precision.min(max)), scale: small_scale(scale.min(max)) }
}

/// `DecimalType.adjustPrecisionScale`: where 38 digits do not suffice, the scale is cut, though not below 6.
pub(super) fn adjusted(precision: i16, scale: i16) -> DataType {
    let max = i16::from(MAX_PRECISION);
    if precision <= max {
        return DataType::Decimal { precision: small(precision), scale: small_scale(scale) };
    }
    let integral = precision - scale;
    let kept = (max - integral).max(scale.min(6));
    DataType::Decimal { precision: MAX_PRECISION, scale: small_scale(kept) }
}

fn small(value: i16) -> u8 {
    u8::try_from(value).unwrap_or(0)
}

fn small_scale(value: i16) -> i8 {
    i8::try_from(value).unwrap_or(0)
}

/// ANSI: a string beside another atomic type takes that type; beside an integral one bigint, beside a fractional one double.
fn promote_string(a: &DataType, b: &DataType) -> Option<DataType> {
    let other = match (a, b) {
        (DataType::String, other) | (other, DataType::String) => other,
        _ => return None,
    };
    match other {
        t if t.is_integral() => Some(DataType::Long),
        DataType::Float | DataType::Double | DataType::Decimal { .. } => Some(DataType::Double),
        DataType::Boolean | DataType::Binary | DataType::Date | DataType::Timestamp | DataType::TimestampNtz => {
            Some(other.clone())
        }
        _ => None,
    }
}

fn wider_nested(a: &DataType, b: &DataType) -> Option<DataType> {
    match (a, b) {
        (DataType::Array { element: x, contains_null: n }, DataType::Array { element: y, contains_null: m }) => {
            Some(DataType::Array { element: Box::new(wider_type(x, y)?), contains_null: *n || *m })
        }
        (
            DataType::Map { key: k, value: v, value_contains_null: n },
            DataType::Map { key: l, value: w, value_contains_null: m },
        ) => Some(DataType::Map {
            key: Box::new(wider_type(k, l)?),
            value: Box::new(wider_type(v, w)?),
            value_contains_null: *n || *m,
        }),
        (DataType::Struct(xs), DataType::Struct(ys)) if xs.len() == ys.len() => xs
            .iter()
            .zip(ys)
            .map(|(x, y)| {
                let same_name = x.name.eq_ignore_ascii_case(&y.name);
                same_name.then_some(())?;
                let data_type = wider_type(&x.data_type, &y.data_type)?;
                Some(Field { name: x.name.clone(), data_type, nullable: x.nullable || y.nullable })
            })
            .collect::<Option<Vec<_>>>()
            .map(DataType::Struct),
        _ => None,
    }
}

/// `implicitCast`: the type an argument is cast to for a parameter.
pub(super) fn implicit_cast(param: Param, from: &DataType) -> DataType {
    if matches!(from, DataType::Unknown) {
        return DataType::Unknown;
    }
    match param {
        Param::Any | Param::Lambda => from.clone(),
        Param::Is(simple) => {
            let target = simple.data_type();
            if castable_implicitly(from, &target) { target } else { from.clone() }
        }
        Param::StringOrBinary => match from {
            DataType::Binary => DataType::Binary,
            _ if castable_implicitly(from, &DataType::String) => DataType::String,
            _ => from.clone(),
        },
        Param::Numeric => match from {
            DataType::String | DataType::Null => DataType::Double,
            _ => from.clone(),
        },
        Param::Integral => match from {
            t if t.is_integral() => t.clone(),
            t if t.is_numeric() || matches!(t, DataType::String | DataType::Null) => DataType::Int,
            _ => from.clone(),
        },
        Param::DoubleOrDecimal => match from {
            DataType::Decimal { .. } => from.clone(),
            t if t.is_numeric() || matches!(t, DataType::String | DataType::Null) => DataType::Double,
            _ => from.clone(),
        },
        Param::NumericOrInterval => match from {
            DataType::String | DataType::Null => DataType::Double,
            _ => from.clone(),
        },
        Param::AnyTimestamp => match from {
            DataType::Timestamp | DataType::TimestampNtz => from.clone(),
            DataType::Date | DataType::String | DataType::Null => DataType::Timestamp,
            _ => from.clone(),
        },
    }
}

fn castable_implicitly(from: &DataType, to: &DataType) -> bool {
    let atomic = |t: &DataType| {
        !matches!(t, DataType::Array { .. } | DataType::Map { .. } | DataType::Struct(_) | DataType::Variant)
    };
    match (from, to) {
        (a, b) if a == b => true,
        (DataType::Null, _) => true,
        (DataType::Unknown, _) | (_, DataType::Unknown) => false,
        (a, DataType::String) => atomic(a),
        (DataType::String, b) => atomic(b),
        (a, b) if a.is_numeric() && b.is_numeric() => true,
        (a, b) if a.is_datetime() && b.is_datetime() => true,
        _ => false,
    }
}

/// An integer literal beside a decimal counts with its own digits (`DecimalType.fromLiteral`), any other integer with its type's.
pub(super) fn decimal_digits(arg: &Argument) -> Option<(u8, i8)> {
    let digits = |value: i64| (u8::try_from(value.unsigned_abs().to_string().len()).unwrap_or(20), 0);
    match arg.literal {
        Some(Value::Int(v)) => Some(digits(i64::from(v))),
        Some(Value::Long(v)) => Some(digits(v)),
        Some(Value::Short(v)) => Some(digits(i64::from(v))),
        Some(Value::Byte(v)) => Some(digits(i64::from(v))),
        _ => decimal_for(&arg.data_type),
    }
}

/// Operands of `+ - * / %`: decimals stay apart (each with its own precision), other numbers widen to one type.
pub(super) fn arithmetic_operands(args: &[Argument]) -> Vec<DataType> {
    let types: Vec<DataType> = args.iter().map(|a| a.data_type.clone()).collect();
    let [left, right] = args else { return types };
    let decimal = |t: &DataType| matches!(t, DataType::Decimal { .. });
    let (l, r) = (&left.data_type, &right.data_type);
    if l.is_unknown() || r.is_unknown() {
        return types;
    }
    match (l, r) {
        (DataType::Null, DataType::Null) => vec![DataType::Double, DataType::Double],
        (DataType::Null, other) | (other, DataType::Null) => vec![other.clone(), other.clone()],
        _ if (decimal(l) || decimal(r)) && l.is_numeric() && r.is_numeric() => decimal_operands(left, right),
        _ => match wider_type(l, r) {
            Some(wide) if l != &DataType::String || r != &DataType::String => vec![wide.clone(), wide],
            // Two strings: each is read as a number.
            Some(_) => vec![DataType::Double, DataType::Double],
            None => types,
        },
    }
}

fn decimal_operands(left: &Argument, right: &Argument) -> Vec<DataType> {
    let side = |arg: &Argument| decimal_digits(arg).map(|(precision, scale)| DataType::Decimal { precision, scale });
    match (side(left), side(right)) {
        (Some(l), Some(r)) => vec![l, r],
        _ => vec![DataType::Double, DataType::Double],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_bound_at_38_digits_keep_six_of_the_scale() {
        assert_eq!(adjusted(77, 20), DataType::decimal(38, 6));
        assert_eq!(adjusted(40, 10), DataType::decimal(38, 8));
        assert_eq!(wider_type(&DataType::Int, &DataType::decimal(5, 2)), Some(DataType::decimal(12, 2)));
    }

    #[test]
    fn strings_give_way_to_the_other_type() {
        assert_eq!(wider_type(&DataType::String, &DataType::Int), Some(DataType::Long));
        assert_eq!(wider_type(&DataType::decimal(5, 2), &DataType::String), Some(DataType::Double));
        assert_eq!(wider_type(&DataType::Date, &DataType::String), Some(DataType::Date));
        assert_eq!(wider_type(&DataType::Int, &DataType::Boolean), None);
        assert_eq!(wider_type(&DataType::Int, &DataType::Float), Some(DataType::Double));
    }
}
