//! Encodings and digests: `hex`, `base64`, `md5`, `sha1`, `sha2`, `crc32`.

use super::access::{bytes, text};
use super::function::{EvalError, EvalResult, Function, Invocation, Nulls, Param, Params, ResultType, Simple};
use super::string::{STRING, STRINGS};
use crate::model::{DataType, Value};
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

const BINARY: Params = Params::Each(&[Param::Is(Simple::Binary), Param::Is(Simple::Int)]);
const TO_BINARY: ResultType = ResultType::Is(Simple::Binary);

pub(super) static FUNCTIONS: &[Function] = &[
    Function::scalar(&["hex"], Params::Rule(hex_types), STRING, Nulls::Propagate, hex),
    Function::scalar(&["unhex"], STRINGS, TO_BINARY, Nulls::PropagateOrNull, |c| Ok(unhex(c.text(0)?))),
    Function::scalar(&["base64"], BINARY, STRING, Nulls::Propagate, |c| Ok(Value::string(base64(c.bytes(0)?)))),
    Function::scalar(&["unbase64"], STRINGS, TO_BINARY, Nulls::Propagate, unbase64),
    Function::scalar(&["md5"], BINARY, STRING, Nulls::Propagate, digest::<Md5>),
    Function::scalar(&["sha1", "sha"], BINARY, STRING, Nulls::Propagate, digest::<Sha1>),
    Function::scalar(&["sha2"], BINARY, STRING, Nulls::PropagateOrNull, |c| match c.int(1)? {
        224 => digest::<Sha224>(c),
        0 | 256 => digest::<Sha256>(c),
        384 => digest::<Sha384>(c),
        512 => digest::<Sha512>(c),
        _ => Ok(Value::Null),
    }),
    Function::scalar(&["crc32"], BINARY, ResultType::Is(Simple::Long), Nulls::Propagate, |c| {
        Ok(Value::Long(i64::from(crc32(c.bytes(0)?))))
    }),
    Function::scalar(&["to_binary", "try_to_binary"], STRINGS, TO_BINARY, Nulls::PropagateOrNull, to_binary),
    Function::typed(&["aes_encrypt", "aes_decrypt", "try_aes_decrypt"], BINARY, TO_BINARY, Nulls::PropagateOrNull),
];

/// Numbers as bigint, binaries as they are, else strings.
fn hex_types(args: &[super::function::Argument]) -> Vec<DataType> {
    args.iter()
        .map(|a| match &a.data_type {
            t if t.is_numeric() => DataType::Long,
            other => super::coercion::implicit_cast(Param::StringOrBinary, other),
        })
        .collect()
}

fn hex_digits(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02X}")).collect()
}

fn hex(call: &Invocation) -> EvalResult {
    match call.arg(0) {
        Value::Long(v) => Ok(Value::string(format!("{v:X}"))),
        other => Ok(Value::string(hex_digits(bytes(other)?))),
    }
}

/// An odd number of digits counts as if a zero stood before.
fn unhex(digits: &str) -> Value {
    let padded = if digits.len() % 2 == 1 { format!("0{digits}") } else { digits.to_owned() };
    let nibbles: Option<Vec<u32>> = padded.chars().map(|c| c.to_digit(16)).collect();
    match nibbles {
        Some(nibbles) => {
            let decoded: Vec<u8> = nibbles
                .chunks_exact(2)
                .map(|pair| pair.iter().fold(0u8, |byte, digit| byte << 4 | u8::try_from(*digit).unwrap_or(0)))
                .collect();
            Value::Binary(decoded.into())
        }
        None => Value::Null,
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// With padding, without line breaks (`spark.sql.chunkBase64String.enabled` off, its default).
pub(super) fn base64(input: &[u8]) -> String {
    let mut out = String::with_capacity(input.len().div_ceil(3) * 4);
    for chunk in input.chunks(3) {
        let word = (0..3).fold(0u32, |word, index| word << 8 | u32::from(chunk.get(index).copied().unwrap_or(0)));
        for position in 0..4usize {
            let index = usize::try_from(word >> (18 - 6 * position) & 63).unwrap_or(0);
            match ALPHABET.get(index) {
                Some(letter) if position <= chunk.len() => out.push(char::from(*letter)),
                _ => out.push('='),
            }
        }
    }
    out
}

fn unbase64(call: &Invocation) -> EvalResult {
    let source = call.text(0)?;
    decode_base64(source).map(|v| Value::Binary(v.into())).ok_or_else(|| {
        EvalError::new("CONVERSION_INVALID_INPUT", format!("`{source}` cannot be converted from BASE64 to binary"))
    })
}

/// Line breaks and blanks are skipped, as a MIME decoder does.
fn decode_base64(source: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut word, mut bits) = (0u32, 0u32);
    for byte in source.bytes().filter(|b| !b.is_ascii_whitespace()) {
        if byte == b'=' {
            break;
        }
        let index = ALPHABET.iter().position(|letter| *letter == byte)?;
        word = word << 6 | u32::try_from(index).unwrap_or(0);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push(u8::try_from(word >> bits & 0xff).unwrap_or(0));
            word &= (1 << bits) - 1;
        }
    }
    Some(out)
}

fn digest<D: Digest>(call: &Invocation) -> EvalResult {
    Ok(Value::string(hex_digits(&D::digest(call.bytes(0)?)).to_lowercase()))
}

/// CRC-32 of ISO 3309, bit by bit.
fn crc32(input: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in input {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

/// Formats `hex` (the default), `utf-8` and `base64`.
fn to_binary(call: &Invocation) -> EvalResult {
    let format = if call.args.len() > 1 { text(call.arg(1))?.to_lowercase() } else { "hex".to_owned() };
    let source = call.text(0)?;
    Ok(match format.as_str() {
        "hex" => unhex(source),
        "utf-8" | "utf8" => Value::Binary(source.as_bytes().into()),
        "base64" => decode_base64(source).map_or(Value::Null, |v| Value::Binary(v.into())),
        _ => Value::Null,
    })
}
