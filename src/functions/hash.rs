//! Spark's hashes of rows: `hash` (Murmur3, 32 bits) and `xxhash64`, over any types.

use super::function::{EvalResult, Function, Invocation, Nulls, Param, Params, ResultType, Simple};
use crate::model::Value;

const ANY: Params = Params::Each(&[Param::Any]);
const SEED: i32 = 42;

pub(super) static FUNCTIONS: &[Function] = &[
    Function::scalar(&["hash"], ANY, ResultType::Is(Simple::Int), Nulls::Never, murmur3),
    Function::scalar(&["xxhash64"], ANY, ResultType::Is(Simple::Long), Nulls::Never, |c| {
        Ok(Value::Long(c.args.iter().fold(i64::from(SEED), |seed, value| xxhash64_value(value, seed))))
    }),
];

fn murmur3(call: &Invocation) -> EvalResult {
    Ok(Value::Int(call.args.iter().fold(SEED, |seed, value| murmur3_value(value, seed))))
}

fn mix_k(k: u32) -> u32 {
    k.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593)
}

fn mix_h(h: u32, k: u32) -> u32 {
    (h ^ k).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
}

fn finish(mut h: u32, length: u32) -> i32 {
    h ^= length;
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    (h ^ (h >> 16)).cast_signed()
}

fn murmur3_int(value: i32, seed: i32) -> i32 {
    finish(mix_h(seed.cast_unsigned(), mix_k(value.cast_unsigned())), 4)
}

fn murmur3_long(value: i64, seed: i32) -> i32 {
    let bits = value.cast_unsigned();
    let low = mix_h(seed.cast_unsigned(), mix_k(bits as u32));
    finish(mix_h(low, mix_k((bits >> 32) as u32)), 8)
}

/// Words of four bytes, then each left byte (sign-extended) as a word of its own, as `Murmur3_x86_32.hashUnsafeBytes`.
fn murmur3_bytes(bytes: &[u8], seed: i32) -> i32 {
    let mut h = seed.cast_unsigned();
    let words = bytes.chunks_exact(4);
    let rest = words.remainder();
    for word in words {
        let mut four = [0u8; 4];
        four.copy_from_slice(word);
        h = mix_h(h, mix_k(u32::from_le_bytes(four)));
    }
    for byte in rest {
        h = mix_h(h, mix_k(i32::from(byte.cast_signed()).cast_unsigned()));
    }
    finish(h, u32::try_from(bytes.len()).unwrap_or(u32::MAX))
}

fn murmur3_value(value: &Value, seed: i32) -> i32 {
    match value {
        Value::Null => seed,
        Value::Boolean(v) => murmur3_int(i32::from(*v), seed),
        Value::Byte(v) => murmur3_int(i32::from(*v), seed),
        Value::Short(v) => murmur3_int(i32::from(*v), seed),
        Value::Int(v) | Value::Date(v) | Value::YearMonthInterval(v) => murmur3_int(*v, seed),
        Value::Long(v) | Value::Timestamp(v) | Value::TimestampNtz(v) | Value::DayTimeInterval(v) => {
            murmur3_long(*v, seed)
        }
        Value::Float(v) => murmur3_int(if *v == 0.0 { 0 } else { v.to_bits().cast_signed() }, seed),
        Value::Double(v) => murmur3_long(if *v == 0.0 { 0 } else { v.to_bits().cast_signed() }, seed),
        Value::Decimal(v) => match i64::try_from(v.unscaled) {
            Ok(small) if v.precision <= 18 => murmur3_long(small, seed),
            _ => murmur3_bytes(&minimal_bytes(v.unscaled), seed),
        },
        Value::String(v) | Value::Variant(v) => murmur3_bytes(v.as_bytes(), seed),
        Value::Binary(v) => murmur3_bytes(v, seed),
        Value::CalendarInterval { months, days, micros } => {
            murmur3_int(*months, murmur3_int(*days, murmur3_long(*micros, seed)))
        }
        Value::Array(items) => items.iter().fold(seed, |seed, item| murmur3_value(item, seed)),
        Value::Struct(items) => items.iter().fold(seed, |seed, item| murmur3_value(item, seed)),
        Value::Map(entries) => entries.iter().fold(seed, |seed, (k, v)| murmur3_value(v, murmur3_value(k, seed))),
        Value::Opaque(v) => murmur3_long(v.cast_signed(), seed),
    }
}

/// `BigInteger.toByteArray`: big-endian two's complement without superfluous sign bytes.
fn minimal_bytes(value: i128) -> Vec<u8> {
    let bytes = value.to_be_bytes();
    let sign = if value < 0 { 0xff } else { 0 };
    let skip = bytes
        .windows(2)
        .take_while(|pair| matches!(pair, [first, second] if *first == sign && (second & 0x80) == (sign & 0x80)))
        .count();
    bytes.get(skip..).unwrap_or(&bytes).to_vec()
}

const P1: u64 = 0x9e37_79b1_85eb_ca87;
const P2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const P3: u64 = 0x1656_67b1_9e37_79f9;
const P4: u64 = 0x85eb_ca77_c2b2_ae63;
const P5: u64 = 0x27d4_eb2f_1656_67c5;

fn xx_finish(mut h: u64) -> i64 {
    h = (h ^ (h >> 33)).wrapping_mul(P2);
    h = (h ^ (h >> 29)).wrapping_mul(P3);
    (h ^ (h >> 32)).cast_signed()
}

fn xx_int(value: i32, seed: i64) -> i64 {
    let h = seed.cast_unsigned().wrapping_add(P5).wrapping_add(4);
    let h = h ^ u64::from(value.cast_unsigned()).wrapping_mul(P1);
    xx_finish(h.rotate_left(23).wrapping_mul(P2).wrapping_add(P3))
}

fn xx_long(value: i64, seed: i64) -> i64 {
    let h = seed.cast_unsigned().wrapping_add(P5).wrapping_add(8);
    xx_finish(xx_word(h, value.cast_unsigned()))
}

fn xx_round(accumulator: u64, word: u64) -> u64 {
    accumulator.wrapping_add(word.wrapping_mul(P2)).rotate_left(31).wrapping_mul(P1)
}

fn xx_word(h: u64, word: u64) -> u64 {
    (h ^ xx_round(0, word)).rotate_left(27).wrapping_mul(P1).wrapping_add(P4)
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| (word << 8) | u64::from(*byte))
}

fn xx_bytes(bytes: &[u8], seed: i64) -> i64 {
    let seed = seed.cast_unsigned();
    let length = u64::try_from(bytes.len()).unwrap_or(0);
    let stripes = bytes.chunks_exact(32);
    let mut rest = stripes.remainder();
    let mut h = if bytes.len() >= 32 {
        let mut lanes = [seed.wrapping_add(P1).wrapping_add(P2), seed.wrapping_add(P2), seed, seed.wrapping_sub(P1)];
        for stripe in stripes {
            for (lane, chunk) in lanes.iter_mut().zip(stripe.chunks_exact(8)) {
                *lane = xx_round(*lane, word(chunk));
            }
        }
        let [a, b, c, d] = lanes;
        let joined = a
            .rotate_left(1)
            .wrapping_add(b.rotate_left(7))
            .wrapping_add(c.rotate_left(12))
            .wrapping_add(d.rotate_left(18));
        lanes.iter().fold(joined, |h, lane| (h ^ xx_round(0, *lane)).wrapping_mul(P1).wrapping_add(P4))
    } else {
        seed.wrapping_add(P5)
    };
    h = h.wrapping_add(length);
    while let Some((chunk, after)) = rest.split_at_checked(8) {
        h = xx_word(h, word(chunk));
        rest = after;
    }
    if let Some((chunk, after)) = rest.split_at_checked(4) {
        h = (h ^ word(chunk).wrapping_mul(P1)).rotate_left(23).wrapping_mul(P2).wrapping_add(P3);
        rest = after;
    }
    for byte in rest {
        h = (h ^ u64::from(*byte).wrapping_mul(P5)).rotate_left(11).wrapping_mul(P1);
    }
    xx_finish(h)
}

/// `XxHash64Function.hash` of one value.
pub(super) fn xxhash64_value(value: &Value, seed: i64) -> i64 {
    match value {
        Value::Null => seed,
        Value::Boolean(v) => xx_int(i32::from(*v), seed),
        Value::Byte(v) => xx_int(i32::from(*v), seed),
        Value::Short(v) => xx_int(i32::from(*v), seed),
        Value::Int(v) | Value::Date(v) | Value::YearMonthInterval(v) => xx_int(*v, seed),
        Value::Long(v) | Value::Timestamp(v) | Value::TimestampNtz(v) | Value::DayTimeInterval(v) => xx_long(*v, seed),
        Value::Float(v) => xx_int(if *v == 0.0 { 0 } else { v.to_bits().cast_signed() }, seed),
        Value::Double(v) => xx_long(if *v == 0.0 { 0 } else { v.to_bits().cast_signed() }, seed),
        Value::Decimal(v) => match i64::try_from(v.unscaled) {
            Ok(small) if v.precision <= 18 => xx_long(small, seed),
            _ => xx_bytes(&minimal_bytes(v.unscaled), seed),
        },
        Value::String(v) | Value::Variant(v) => xx_bytes(v.as_bytes(), seed),
        Value::Binary(v) => xx_bytes(v, seed),
        Value::CalendarInterval { months, days, micros } => xx_int(*months, xx_int(*days, xx_long(*micros, seed))),
        Value::Array(items) | Value::Struct(items) => items.iter().fold(seed, |seed, item| xxhash64_value(item, seed)),
        Value::Map(entries) => entries.iter().fold(seed, |seed, (k, v)| xxhash64_value(v, xxhash64_value(k, seed))),
        Value::Opaque(v) => xx_long(v.cast_signed(), seed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::{EvalContext, evaluate};
    use crate::model::DataType;

    #[test]
    fn hashes_are_sparks() {
        // SELECT hash('Spark', array(123), 2), xxhash64('Spark', array(123), 2): the examples of Spark's own documentation.
        let args = [Value::string("Spark"), Value::Array([Value::Int(123)].into()), Value::Int(2)];
        let types = [DataType::String, DataType::array(DataType::Int), DataType::Int];
        assert_eq!(evaluate("hash", &args, &types, &EvalContext::default()), Ok(Value::Int(-1_321_691_492)));
        assert_eq!(
            evaluate("xxhash64", &args, &types, &EvalContext::default()),
            Ok(Value::Long(5_602_566_077_635_097_486))
        );
    }

    #[test]
    fn big_integers_have_minimal_bytes() {
        assert_eq!(minimal_bytes(0), [0]);
        assert_eq!(minimal_bytes(-1), [0xff]);
        assert_eq!(minimal_bytes(128), [0, 128]);
        assert_eq!(minimal_bytes(-129), [0xff, 0x7f]);
    }
}
