//! Texts with a format of their own: `format_number`, `format_string`, `soundex`, `levenshtein`, `mask`, URLs.

use super::access::{double, long, text};
use super::decimal::{self as exact, Rounding};
use super::function::{EvalError, EvalResult, Invocation};
use super::math::as_decimal;
use crate::model::{Decimal, Value};

/// Longest operand of `levenshtein`, whose cost is the product of both lengths.
const MAX_LEVENSHTEIN: usize = 4096;
const MAX_WIDTH: usize = 10_000;

/// `#,###,###.##` with a number of digits behind the point, rounded HALF_EVEN as `java.text.DecimalFormat`.
pub(super) fn format_number(value: &Value, digits: i32) -> EvalResult {
    if digits < 0 {
        return Ok(Value::Null);
    }
    if let Ok(number) = double(value)
        && !number.is_finite()
    {
        let shown = if number.is_nan() {
            "NaN"
        } else if number > 0.0 {
            "∞"
        } else {
            "-∞"
        };
        return Ok(Value::string(shown));
    }
    let scale = i8::try_from(digits.min(38)).unwrap_or(38);
    let number = as_decimal(value)?;
    let Some(unscaled) = exact::rescale(number, scale, Rounding::HalfEven) else { return Ok(Value::Null) };
    let plain = exact::plain(Decimal { unscaled, precision: 38, scale });
    let (sign, magnitude) = plain.strip_prefix('-').map_or(("", plain.as_str()), |rest| ("-", rest));
    let (whole, fraction) = magnitude.split_once('.').unwrap_or((magnitude, ""));
    let point = if fraction.is_empty() { "" } else { "." };
    Ok(Value::string(format!("{sign}{}{point}{fraction}", grouped(whole))))
}

fn grouped(digits: &str) -> String {
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// One conversion of Java's `Formatter`.
#[derive(Debug, Default)]
struct Conversion {
    left: bool,
    zero: bool,
    plus: bool,
    comma: bool,
    argument: Option<usize>,
    width: usize,
    precision: Option<usize>,
    kind: char,
}

fn parse_conversion(chars: &mut std::iter::Peekable<std::str::Chars>) -> Option<Conversion> {
    let mut conversion = Conversion::default();
    loop {
        match chars.peek()? {
            '-' => conversion.left = true,
            '0' => conversion.zero = true,
            '+' => conversion.plus = true,
            ',' => conversion.comma = true,
            ' ' | '#' | '(' => {}
            _ => break,
        }
        chars.next();
    }
    let number = |chars: &mut std::iter::Peekable<std::str::Chars>| {
        let mut value = None;
        while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
            value = Some((value.unwrap_or(0usize) * 10 + usize::try_from(digit).unwrap_or(0)).min(MAX_WIDTH));
            chars.next();
        }
        value
    };
    let first = number(chars);
    if chars.peek() == Some(&'$') {
        chars.next();
        conversion.argument = first;
        conversion.width = number(chars).unwrap_or(0);
    } else {
        conversion.width = first.unwrap_or(0);
    }
    if chars.peek() == Some(&'.') {
        chars.next();
        conversion.precision = number(chars);
    }
    conversion.kind = chars.next()?;
    Some(conversion)
}

/// `String.format` with the conversions `s d f e x X o c b n %`. Others are an error.
pub(super) fn format_string(format: &str, args: &[Value]) -> EvalResult {
    let wrong = |what: &str| EvalError::new("INVALID_PARAMETER_VALUE", format!("`{format}`: {what}"));
    let mut out = String::new();
    let mut next = 0;
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let conversion = parse_conversion(&mut chars).ok_or_else(|| wrong("a conversion is incomplete"))?;
        match conversion.kind {
            '%' => out.push('%'),
            'n' => out.push('\n'),
            _ => {
                let index = conversion.argument.map_or(next, |at| at.saturating_sub(1));
                next += usize::from(conversion.argument.is_none());
                let value = args.get(index).ok_or_else(|| wrong("an argument is missing"))?;
                out.push_str(
                    &convert(&conversion, value).map_err(|_| wrong("a conversion does not fit its argument"))?,
                );
            }
        }
    }
    Ok(Value::string(out))
}

fn convert(conversion: &Conversion, value: &Value) -> Result<String, EvalError> {
    let body = match (conversion.kind, value) {
        ('b' | 'B', Value::Null) => "false".to_owned(),
        (_, Value::Null) => "null".to_owned(),
        ('s' | 'S', other) => {
            let shown = super::cast::plain_text(other);
            conversion.precision.map_or(shown.clone(), |limit| shown.chars().take(limit).collect())
        }
        ('d', other) => signed(conversion, long(other)?.to_string()),
        ('x' | 'X', Value::Int(v)) => format!("{v:x}"),
        ('x' | 'X', other) => format!("{:x}", long(other)?),
        ('o', Value::Int(v)) => format!("{v:o}"),
        ('o', other) => format!("{:o}", long(other)?),
        ('f', other) => signed(conversion, fixed(other, conversion.precision.unwrap_or(6))?),
        ('e' | 'E', other) => scientific(double(other)?, conversion.precision.unwrap_or(6)),
        ('b' | 'B', Value::Boolean(v)) => v.to_string(),
        ('b' | 'B', _) => "true".to_owned(),
        ('c', other) => {
            u32::try_from(long(other)?).ok().and_then(char::from_u32).map_or_else(String::new, String::from)
        }
        (_, other) => return Err(EvalError::unexpected("a known conversion", other)),
    };
    let body = if conversion.kind.is_uppercase() { body.to_uppercase() } else { body };
    let missing = conversion.width.saturating_sub(body.chars().count());
    Ok(if conversion.left {
        body + &" ".repeat(missing)
    } else if conversion.zero && conversion.kind != 's' {
        let (sign, digits) = body.strip_prefix('-').map_or(("", body.as_str()), |rest| ("-", rest));
        format!("{sign}{}{digits}", "0".repeat(missing))
    } else {
        " ".repeat(missing) + &body
    })
}

fn signed(conversion: &Conversion, number: String) -> String {
    let (sign, magnitude) = number.strip_prefix('-').map_or(("", number.as_str()), |rest| ("-", rest));
    let magnitude = if conversion.comma {
        let (whole, fraction) = magnitude.split_once('.').map_or((magnitude, None), |(w, f)| (w, Some(f)));
        fraction.map_or_else(|| grouped(whole), |f| format!("{}.{f}", grouped(whole)))
    } else {
        magnitude.to_owned()
    };
    let sign = if sign.is_empty() && conversion.plus { "+" } else { sign };
    format!("{sign}{magnitude}")
}

/// HALF_UP on the decimal text, as Java's `%f`.
fn fixed(value: &Value, digits: usize) -> Result<String, EvalError> {
    let number = as_decimal(value)?;
    let scale = i8::try_from(digits.min(38)).unwrap_or(38);
    let unscaled = exact::rescale(number, scale, Rounding::HalfUp)
        .ok_or_else(|| EvalError::unexpected("a number of at most 38 digits", value))?;
    Ok(exact::plain(Decimal { unscaled, precision: 38, scale }))
}

fn scientific(value: f64, digits: usize) -> String {
    let shown = format!("{value:.digits$e}", digits = digits.min(100));
    match shown.split_once('e') {
        Some((mantissa, exponent)) => {
            let (sign, size) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
            format!("{mantissa}e{sign}{size:0>2}")
        }
        None => shown,
    }
}

/// `UTF8String.soundex`: the text itself where it does not start with a letter.
pub(super) fn soundex(source: &str) -> String {
    const CODES: &[u8; 26] = b"01230127022455012623017202";
    let code = |c: char| {
        let letter = c.to_ascii_uppercase();
        letter.is_ascii_uppercase().then(|| CODES.get(usize::from(letter as u8 - b'A')).copied()).flatten()
    };
    let Some(first) = source.chars().next().filter(char::is_ascii_alphabetic) else { return source.to_owned() };
    let mut out = String::from(first.to_ascii_uppercase());
    let mut last = code(first);
    for c in source.chars().skip(1) {
        match code(c) {
            // H and W (7) do not separate equal codes; vowels (0) do.
            Some(b'7') => {}
            Some(found) => {
                if found != b'0' && Some(found) != last {
                    out.push(char::from(found));
                }
                last = Some(found);
            }
            None => last = Some(b'0'),
        }
        if out.len() == 4 {
            break;
        }
    }
    format!("{out:0<4}")
}

pub(super) fn levenshtein(left: &str, right: &str) -> Result<i32, EvalError> {
    let (a, b): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    if a.len().max(b.len()) > MAX_LEVENSHTEIN {
        return Err(EvalError::new("INTERNAL_ERROR", "the texts are too long for levenshtein"));
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (index, x) in a.iter().enumerate() {
        let mut diagonal = index;
        let mut left = index + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, y) in row.iter_mut().skip(1).zip(&b) {
            let substitution = diagonal + usize::from(x != y);
            diagonal = *cell;
            left = substitution.min(diagonal + 1).min(left + 1);
            *cell = left;
        }
    }
    Ok(row.last().and_then(|distance| i32::try_from(*distance).ok()).unwrap_or(0))
}

/// `mask(text [, upper [, lower [, digit [, other]]]])`; NULL keeps that kind of character.
pub(super) fn mask(call: &Invocation) -> EvalResult {
    if call.arg(0).is_null() {
        return Ok(Value::Null);
    }
    let replacement = |index: usize, default: Option<char>| match call.args.get(index) {
        None => default,
        Some(Value::String(chosen)) => chosen.chars().next(),
        Some(_) => None,
    };
    let (upper, lower) = (replacement(1, Some('X')), replacement(2, Some('x')));
    let (digit, other) = (replacement(3, Some('n')), replacement(4, None));
    let masked: String = text(call.arg(0))?
        .chars()
        .map(|c| {
            let chosen = if c.is_uppercase() {
                upper
            } else if c.is_lowercase() {
                lower
            } else if c.is_ascii_digit() {
                digit
            } else {
                other
            };
            chosen.unwrap_or(c)
        })
        .collect();
    Ok(Value::string(masked))
}

pub(super) fn luhn(digits: &str) -> bool {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return false;
    }
    let sum: u64 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(index, byte)| {
            let digit = u64::from(byte - b'0');
            let doubled = if index % 2 == 1 { digit * 2 } else { digit };
            if doubled > 9 { doubled - 9 } else { doubled }
        })
        .sum();
    sum.is_multiple_of(10)
}

/// `URLEncoder.encode`.
pub(super) fn url_encode(source: &str) -> String {
    let mut out = String::new();
    for byte in source.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

pub(super) fn url_decode(source: &str) -> EvalResult {
    let wrong = || EvalError::new("CANNOT_DECODE_URL", format!("`{source}` is no encoded URL"));
    let mut out = Vec::new();
    let mut bytes = source.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let mut digit = || bytes.next().and_then(|b| char::from(b).to_digit(16)).ok_or_else(wrong);
                let value = digit()? * 16 + digit()?;
                out.push(u8::try_from(value).unwrap_or(0));
            }
            other => out.push(other),
        }
    }
    String::from_utf8(out).map(Value::string).map_err(|_| wrong())
}

/// `parse_url(url, part [, key])` for hierarchical URLs.
pub(super) fn parse_url(call: &Invocation) -> EvalResult {
    let url = call.text(0)?;
    let (before_fragment, fragment) = url.split_once('#').map_or((url, None), |(u, f)| (u, Some(f)));
    let (before_query, query) = before_fragment.split_once('?').map_or((before_fragment, None), |(u, q)| (u, Some(q)));
    let Some((protocol, rest)) = before_query.split_once("://") else { return Ok(Value::Null) };
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(u, h)| (Some(u), h));
    let part = match call.text(1)? {
        "HOST" => Some(host.split_once(':').map_or(host, |(name, _)| name)),
        "PATH" => Some(path),
        "PROTOCOL" => Some(protocol),
        "REF" => fragment,
        "AUTHORITY" => Some(authority),
        "USERINFO" => user,
        "FILE" => Some(before_fragment.get(protocol.len() + 3 + authority.len()..).unwrap_or("")),
        "QUERY" if call.args.len() > 2 => {
            let key = call.text(2)?;
            query.and_then(|q| {
                q.split('&').find_map(|pair| pair.split_once('=').filter(|(k, _)| *k == key)).map(|(_, v)| v)
            })
        }
        "QUERY" => query,
        _ => None,
    };
    Ok(part.map_or(Value::Null, Value::string))
}
