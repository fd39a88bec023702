//! Functions on strings and binaries, by characters (code points), as Spark's `UTF8String`.

use super::access::{array, bytes, int_length, text};
use super::function::{
    Argument, EvalError, EvalResult, Function, Invocation, Nulls, Param, Params, ResultType, Simple,
};
use super::string_format;
use crate::model::{DataType, Value};

/// Longest text that a function may build: arguments of a plan come from untrusted text.
pub(super) const MAX_LENGTH: usize = 1 << 24;

pub(super) const STRINGS: Params = Params::Each(&[Param::Is(Simple::String)]);
const STRING_THEN_INTS: Params = Params::Each(&[Param::StringOrBinary, Param::Is(Simple::Int)]);
const BYTES: Params = Params::Each(&[Param::StringOrBinary]);
pub(super) const STRING: ResultType = ResultType::Is(Simple::String);
pub(super) const INT: ResultType = ResultType::Is(Simple::Int);
const BOOLEAN: ResultType = ResultType::Is(Simple::Boolean);
const PAD: Params = Params::Each(&[Param::StringOrBinary, Param::Is(Simple::Int), Param::StringOrBinary]);

const fn on_text(names: &'static [&'static str], body: fn(&Invocation) -> EvalResult) -> Function {
    Function::scalar(names, STRINGS, STRING, Nulls::Propagate, body)
}

const fn predicate(names: &'static [&'static str], body: fn(&Invocation) -> EvalResult) -> Function {
    Function::scalar(names, BYTES, BOOLEAN, Nulls::Propagate, body)
}

pub(super) static FUNCTIONS: &[Function] = &[
    on_text(&["upper", "ucase"], |c| Ok(Value::string(c.text(0)?.to_uppercase()))),
    on_text(&["lower", "lcase"], |c| Ok(Value::string(c.text(0)?.to_lowercase()))),
    on_text(&["trim"], |c| trim(c, 1, true, true)),
    on_text(&["btrim"], |c| trim(c, 1, true, true)),
    on_text(&["ltrim"], |c| trim_from(c, true, false)),
    on_text(&["rtrim"], |c| trim_from(c, false, true)),
    on_text(&["initcap"], |c| Ok(Value::string(initcap(c.text(0)?)))),
    on_text(&["translate"], translate),
    on_text(&["replace"], |c| {
        let (text, from) = (c.text(0)?, c.text(1)?);
        let to = if c.args.len() > 2 { c.text(2)? } else { "" };
        if from.is_empty() {
            return bounded(text.to_owned());
        }
        // Counted before it is built: each match may become a text of any length.
        let longer = to.len().saturating_sub(from.len());
        if text.matches(from).count().saturating_mul(longer).saturating_add(text.len()) > MAX_LENGTH {
            return Err(too_long());
        }
        bounded(text.replace(from, to))
    }),
    on_text(&["soundex"], |c| Ok(Value::string(string_format::soundex(c.text(0)?)))),
    Function::scalar(
        &["concat", "||"],
        Params::Rule(concat_types),
        ResultType::Rule(concat_type),
        Nulls::Propagate,
        concat,
    ),
    Function::scalar(&["concat_ws"], Params::Rule(concat_ws_types), STRING, Nulls::Rule(first_nullable), concat_ws),
    Function::scalar(&["substring", "substr"], STRING_THEN_INTS, ResultType::Arg(0), Nulls::Propagate, substring),
    Function::scalar(&["left"], STRING_THEN_INTS, ResultType::Arg(0), Nulls::Propagate, |c| {
        slice(c.arg(0), 1, i64::from(c.int(1)?.max(0)))
    }),
    Function::scalar(
        &["right"],
        Params::Each(&[Param::Is(Simple::String), Param::Is(Simple::Int)]),
        STRING,
        Nulls::PropagateOrNull,
        |c| {
            let count = i64::from(c.int(1)?);
            if count <= 0 { Ok(Value::string("")) } else { slice(c.arg(0), -count, count) }
        },
    ),
    Function::scalar(
        &["substring_index"],
        Params::Each(&[Param::Is(Simple::String), Param::Is(Simple::String), Param::Is(Simple::Int)]),
        STRING,
        Nulls::Propagate,
        |c| Ok(Value::string(substring_index(c.text(0)?, c.text(1)?, c.int(2)?))),
    ),
    Function::scalar(
        &["split_part"],
        Params::Each(&[Param::Is(Simple::String), Param::Is(Simple::String), Param::Is(Simple::Int)]),
        STRING,
        Nulls::PropagateOrNull,
        split_part,
    ),
    Function::scalar(&["lpad"], PAD, ResultType::Arg(0), Nulls::Propagate, |c| pad(c, true)),
    Function::scalar(&["rpad"], PAD, ResultType::Arg(0), Nulls::Propagate, |c| pad(c, false)),
    Function::scalar(
        &["repeat"],
        Params::Each(&[Param::Is(Simple::String), Param::Is(Simple::Int)]),
        STRING,
        Nulls::Propagate,
        |c| repeat(c.text(0)?, c.int(1)?),
    ),
    Function::scalar(&["space"], Params::Each(&[Param::Is(Simple::Int)]), STRING, Nulls::Propagate, |c| {
        repeat(" ", c.int(0)?)
    }),
    Function::scalar(
        &["overlay"],
        Params::Each(&[Param::Is(Simple::String), Param::Is(Simple::String), Param::Is(Simple::Int)]),
        STRING,
        Nulls::Propagate,
        overlay,
    ),
    Function::scalar(&["instr"], STRINGS, INT, Nulls::Propagate, |c| Ok(Value::Int(find(c.text(0)?, c.text(1)?, 1)))),
    Function::scalar(
        &["locate", "position", "charindex"],
        Params::Each(&[Param::Is(Simple::String), Param::Is(Simple::String), Param::Is(Simple::Int)]),
        INT,
        Nulls::Propagate,
        |c| {
            let start = if c.args.len() > 2 { c.int(2)? } else { 1 };
            Ok(Value::Int(if start < 1 { 0 } else { find(c.text(1)?, c.text(0)?, start) }))
        },
    ),
    Function::scalar(&["find_in_set"], STRINGS, INT, Nulls::Propagate, |c| {
        let wanted = c.text(0)?;
        if wanted.contains(',') {
            return Ok(Value::Int(0));
        }
        Ok(c.text(1)?.split(',').position(|part| part == wanted).map_or(Value::Int(0), |at| int_length(at + 1)))
    }),
    Function::scalar(&["length", "len", "char_length", "character_length"], BYTES, INT, Nulls::Propagate, |c| match c
        .arg(0)
    {
        Value::String(text) => Ok(int_length(text.chars().count())),
        other => Ok(int_length(bytes(other)?.len())),
    }),
    Function::scalar(&["octet_length"], BYTES, INT, Nulls::Propagate, |c| Ok(int_length(c.bytes(0)?.len()))),
    Function::scalar(&["bit_length"], BYTES, INT, Nulls::Propagate, |c| Ok(int_length(c.bytes(0)?.len() * 8))),
    Function::scalar(&["ascii"], STRINGS, INT, Nulls::Propagate, |c| {
        Ok(Value::Int(c.text(0)?.chars().next().map_or(0, |first| u32::from(first).cast_signed())))
    }),
    Function::scalar(&["chr", "char"], Params::Each(&[Param::Is(Simple::Long)]), STRING, Nulls::Propagate, |c| {
        let code = c.long(0)?;
        let byte = u8::try_from(code & 0xff).unwrap_or(0);
        Ok(Value::string(if code < 0 { String::new() } else { char::from(byte).to_string() }))
    }),
    Function::scalar(
        &["levenshtein"],
        Params::Each(&[Param::Is(Simple::String), Param::Is(Simple::String), Param::Is(Simple::Int)]),
        INT,
        Nulls::Propagate,
        |c| {
            let distance = string_format::levenshtein(c.text(0)?, c.text(1)?)?;
            let limit = if c.args.len() > 2 { c.int(2)? } else { i32::MAX };
            Ok(Value::Int(if distance > limit { -1 } else { distance }))
        },
    ),
    predicate(&["contains"], |c| Ok(Value::Boolean(occurs(c.bytes(0)?, c.bytes(1)?)))),
    predicate(&["startswith"], |c| Ok(Value::Boolean(c.bytes(0)?.starts_with(c.bytes(1)?)))),
    predicate(&["endswith"], |c| Ok(Value::Boolean(c.bytes(0)?.ends_with(c.bytes(1)?)))),
    Function::scalar(
        &["elt"],
        Params::Each(&[Param::Is(Simple::Int), Param::Is(Simple::String)]),
        STRING,
        Nulls::Possible,
        elt,
    ),
    Function::scalar(
        &["format_number"],
        Params::Each(&[Param::Numeric, Param::Is(Simple::Int)]),
        STRING,
        Nulls::PropagateOrNull,
        |c| string_format::format_number(c.arg(0), c.int(1)?),
    ),
    Function::scalar(
        &["format_string", "printf"],
        Params::Each(&[Param::Is(Simple::String), Param::Any]),
        STRING,
        Nulls::Rule(first_nullable),
        |c| {
            if c.arg(0).is_null() {
                Ok(Value::Null)
            } else {
                string_format::format_string(c.text(0)?, c.args.get(1..).unwrap_or_default())
            }
        },
    ),
    Function::scalar(
        &["mask"],
        Params::Each(&[Param::Is(Simple::String)]),
        STRING,
        Nulls::Possible,
        string_format::mask,
    ),
    Function::scalar(&["luhn_check"], STRINGS, BOOLEAN, Nulls::PropagateOrNull, |c| {
        Ok(Value::Boolean(string_format::luhn(c.text(0)?)))
    }),
    Function::scalar(&["is_valid_utf8"], BYTES, BOOLEAN, Nulls::PropagateOrNull, |c| {
        Ok(Value::Boolean(std::str::from_utf8(c.bytes(0)?).is_ok()))
    }),
    Function::scalar(&["url_encode"], STRINGS, STRING, Nulls::PropagateOrNull, |c| {
        Ok(Value::string(string_format::url_encode(c.text(0)?)))
    }),
    Function::scalar(&["url_decode"], STRINGS, STRING, Nulls::PropagateOrNull, |c| {
        string_format::url_decode(c.text(0)?)
    }),
    Function::scalar(
        &["parse_url", "try_parse_url"],
        STRINGS,
        STRING,
        Nulls::PropagateOrNull,
        string_format::parse_url,
    ),
    Function::scalar(&["encode"], STRINGS, ResultType::Is(Simple::Binary), Nulls::PropagateOrNull, |c| {
        Ok(Value::Binary(c.text(0)?.as_bytes().into()))
    }),
    Function::scalar(&["collate"], STRINGS, STRING, Nulls::Propagate, |c| Ok(c.arg(0).clone())),
    Function::typed(&["sentences"], STRINGS, ResultType::Rule(sentences_type), Nulls::Possible),
    Function::typed(&["to_char", "to_varchar"], Params::Each(&[Param::Any]), STRING, Nulls::Propagate),
    Function::typed(&["to_number", "try_to_number"], STRINGS, ResultType::Rule(number_format_type), Nulls::Possible),
];

fn first_nullable(args: &[Argument]) -> bool {
    args.first().is_none_or(|a| a.nullable)
}

fn sentences_type(_: &[Argument]) -> DataType {
    DataType::Array {
        element: Box::new(DataType::Array { element: Box::new(DataType::String), contains_null: false }),
        contains_null: false,
    }
}

/// Digits of the format, before and behind its point.
fn number_format_type(args: &[Argument]) -> DataType {
    let Some(format) = args.get(1).and_then(Argument::text) else { return DataType::Unknown };
    let digits = |part: &str| part.chars().filter(|c| matches!(c, '0' | '9')).count();
    let (whole, fraction) = format.split_once(['.', 'D', 'd']).unwrap_or((format, ""));
    let (whole, fraction) = (digits(whole).min(38), digits(fraction).min(38));
    super::coercion::bounded(i16::try_from(whole + fraction).unwrap_or(38), i16::try_from(fraction).unwrap_or(0))
}

fn bounded(text: String) -> EvalResult {
    if text.len() > MAX_LENGTH { Err(too_long()) } else { Ok(Value::string(text)) }
}

/// Texts with a separator between them; their length is known before they are put together.
pub(super) fn joined(parts: &[&str], separator: &str) -> EvalResult {
    let texts = parts.iter().map(|part| part.len()).fold(0, usize::saturating_add);
    let length = parts.len().saturating_mul(separator.len()).saturating_add(texts);
    if length > MAX_LENGTH { Err(too_long()) } else { Ok(Value::string(parts.join(separator))) }
}

pub(super) fn too_long() -> EvalError {
    EvalError::new("INTERNAL_ERROR", "the text would be longer than this engine builds")
}

/// `trim(text [, characters])`.
fn trim(call: &Invocation, set_at: usize, start: bool, end: bool) -> EvalResult {
    let source = call.text(0)?;
    let set = if call.args.len() > set_at { call.text(set_at)? } else { " " };
    Ok(Value::string(trimmed(source, set, start, end)))
}

/// `ltrim(text)`, but `ltrim(characters, text)`: Spark's order for the two-argument forms.
fn trim_from(call: &Invocation, start: bool, end: bool) -> EvalResult {
    if call.args.len() > 1 {
        return Ok(Value::string(trimmed(call.text(1)?, call.text(0)?, start, end)));
    }
    Ok(Value::string(trimmed(call.text(0)?, " ", start, end)))
}

fn trimmed<'a>(source: &'a str, set: &str, start: bool, end: bool) -> &'a str {
    let within = |c: char| set.contains(c);
    let left = if start { source.trim_start_matches(within) } else { source };
    if end { left.trim_end_matches(within) } else { left }
}

fn initcap(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut boundary = true;
    for c in source.chars() {
        if boundary {
            out.extend(c.to_uppercase());
        } else {
            out.extend(c.to_lowercase());
        }
        boundary = c == ' ';
    }
    out
}

/// Characters without a counterpart are dropped; the first of two equal ones counts.
fn translate(call: &Invocation) -> EvalResult {
    let (from, to): (Vec<char>, Vec<char>) = (call.text(1)?.chars().collect(), call.text(2)?.chars().collect());
    let translated = call
        .text(0)?
        .chars()
        .filter_map(|c| match from.iter().position(|f| *f == c) {
            Some(at) => to.get(at).copied(),
            None => Some(c),
        })
        .collect::<String>();
    Ok(Value::string(translated))
}

/// All arrays, all binaries, else strings.
fn concat_types(args: &[Argument]) -> Vec<DataType> {
    let is_array = |a: &Argument| matches!(a.data_type, DataType::Array { .. } | DataType::Null | DataType::Unknown);
    if !args.is_empty()
        && args.iter().any(|a| matches!(a.data_type, DataType::Array { .. }))
        && args.iter().all(is_array)
    {
        return super::coercion::common_from(args, 0);
    }
    if !args.is_empty() && args.iter().all(|a| a.data_type == DataType::Binary) {
        return vec![DataType::Binary; args.len()];
    }
    args.iter().map(|a| super::coercion::implicit_cast(Param::Is(Simple::String), &a.data_type)).collect()
}

fn concat_type(args: &[Argument]) -> DataType {
    args.iter()
        .map(|a| &a.data_type)
        .find(|t| !matches!(t, DataType::Null))
        .map_or(DataType::String, |first| first.clone())
}

fn concat(call: &Invocation) -> EvalResult {
    match call.result {
        DataType::Array { .. } => {
            let mut items = Vec::new();
            for part in call.args {
                items.extend_from_slice(array(part)?);
            }
            Ok(Value::Array(items.into()))
        }
        DataType::Binary => {
            let mut all = Vec::new();
            for part in call.args {
                all.extend_from_slice(bytes(part)?);
            }
            Ok(Value::Binary(all.into()))
        }
        _ => {
            let mut all = String::new();
            for part in call.args {
                all.push_str(text(part)?);
            }
            bounded(all)
        }
    }
}

fn concat_ws_types(args: &[Argument]) -> Vec<DataType> {
    args.iter()
        .map(|a| match &a.data_type {
            DataType::Array { .. } => DataType::Array { element: Box::new(DataType::String), contains_null: true },
            other => super::coercion::implicit_cast(Param::Is(Simple::String), other),
        })
        .collect()
}

/// NULLs are left out, in arrays too.
fn concat_ws(call: &Invocation) -> EvalResult {
    if call.arg(0).is_null() {
        return Ok(Value::Null);
    }
    let separator = call.text(0)?;
    let mut parts = Vec::new();
    for value in call.args.iter().skip(1) {
        match value {
            Value::Null => {}
            Value::Array(items) => {
                for item in items.iter().filter(|item| !item.is_null()) {
                    parts.push(text(item)?);
                }
            }
            other => parts.push(text(other)?),
        }
    }
    joined(&parts, separator)
}

fn substring(call: &Invocation) -> EvalResult {
    let length = if call.args.len() > 2 { i64::from(call.int(2)?) } else { i64::from(i32::MAX) };
    slice(call.arg(0), i64::from(call.int(1)?), length)
}

/// From a position counted from 1 (0 is 1; negative ones count from the end), `UTF8String.substringSQL`.
fn slice(value: &Value, position: i64, length: i64) -> EvalResult {
    let range = |size: usize| {
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        let start = match position {
            1.. => position - 1,
            0 => 0,
            _ => size + position,
        };
        let end = start.saturating_add(length);
        let clamp = |v: i64| usize::try_from(v.clamp(0, size)).unwrap_or(0);
        (clamp(start), clamp(end))
    };
    match value {
        Value::Binary(all) => {
            let (start, end) = range(all.len());
            Ok(Value::Binary(all.get(start..end).unwrap_or_default().into()))
        }
        other => {
            let source = text(other)?;
            let (start, end) = range(source.chars().count());
            Ok(Value::string(source.chars().skip(start).take(end.saturating_sub(start)).collect::<String>()))
        }
    }
}

fn substring_index<'a>(source: &'a str, delimiter: &str, count: i32) -> &'a str {
    if delimiter.is_empty() || count == 0 {
        return "";
    }
    let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX) - 1;
    if count > 0 {
        match source.match_indices(delimiter).nth(wanted) {
            Some((at, _)) => source.get(..at).unwrap_or(source),
            None => source,
        }
    } else {
        match source.rmatch_indices(delimiter).nth(wanted) {
            Some((at, found)) => source.get(at + found.len()..).unwrap_or(source),
            None => source,
        }
    }
}

fn split_part(call: &Invocation) -> EvalResult {
    let (source, delimiter, index) = (call.text(0)?, call.text(1)?, call.int(2)?);
    if index == 0 {
        return Err(EvalError::new("INVALID_INDEX_OF_ZERO", "the index 0 is invalid; indices start at 1 or end at -1"));
    }
    let parts: Vec<&str> = if delimiter.is_empty() { vec![source] } else { source.split(delimiter).collect() };
    let wanted = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX) - 1;
    let part = if index > 0 { parts.get(wanted) } else { parts.iter().rev().nth(wanted) };
    Ok(Value::string(part.copied().unwrap_or("")))
}

/// Cuts where the text is longer; an empty pad leaves it as short as it is.
fn pad(call: &Invocation, left: bool) -> EvalResult {
    let wanted = usize::try_from(call.int(1)?.max(0)).unwrap_or(0);
    if wanted > MAX_LENGTH {
        return Err(too_long());
    }
    if let Value::Binary(all) = call.arg(0) {
        let zero: &[u8] = &[0];
        let filler = if call.args.len() > 2 { bytes(call.arg(2))? } else { zero };
        return Ok(Value::Binary(padded(all.to_vec(), filler, wanted, left).into()));
    }
    let filler: Vec<char> = if call.args.len() > 2 { call.text(2)?.chars().collect() } else { vec![' '] };
    let source: Vec<char> = call.text(0)?.chars().collect();
    Ok(Value::string(padded(source, &filler, wanted, left).into_iter().collect::<String>()))
}

fn padded<T: Copy>(source: Vec<T>, filler: &[T], wanted: usize, left: bool) -> Vec<T> {
    if source.len() >= wanted {
        return source.into_iter().take(wanted).collect();
    }
    let missing = wanted - source.len();
    let fill = filler.iter().copied().cycle().take(if filler.is_empty() { 0 } else { missing });
    if left { fill.chain(source).collect() } else { source.iter().copied().chain(fill).collect() }
}

fn repeat(source: &str, count: i32) -> EvalResult {
    let count = usize::try_from(count.max(0)).unwrap_or(0);
    if source.len().saturating_mul(count) > MAX_LENGTH {
        return Err(too_long());
    }
    Ok(Value::string(source.repeat(count)))
}

fn overlay(call: &Invocation) -> EvalResult {
    let (source, replacement) = (call.text(0)?, call.text(1)?);
    let position = i64::from(call.int(2)?);
    let length = if call.args.len() > 3 { i64::from(call.int(3)?) } else { -1 };
    let length = if length < 0 { i64::try_from(replacement.chars().count()).unwrap_or(0) } else { length };
    let head = usize::try_from(position - 1).unwrap_or(0);
    let tail = usize::try_from(position - 1 + length).unwrap_or(0);
    let joined: String =
        source.chars().take(head).chain(replacement.chars()).chain(source.chars().skip(tail)).collect();
    bounded(joined)
}

/// Position counted from 1 of the first occurrence at or behind `start`; 0 if there is none.
fn find(source: &str, wanted: &str, start: i32) -> i32 {
    let skip = usize::try_from(start - 1).unwrap_or(0);
    let Some((offset, _)) = source.char_indices().chain([(source.len(), ' ')]).nth(skip) else { return 0 };
    let Some(at) = source.get(offset..).and_then(|rest| rest.find(wanted)) else { return 0 };
    let before = source.get(..offset + at).map_or(0, |head| head.chars().count());
    i32::try_from(before + 1).unwrap_or(i32::MAX)
}

fn occurs(all: &[u8], wanted: &[u8]) -> bool {
    wanted.is_empty() || all.windows(wanted.len()).any(|window| window == wanted)
}

/// NULL beyond the list without ANSI mode, an error with it.
fn elt(call: &Invocation) -> EvalResult {
    if call.arg(0).is_null() {
        return Ok(Value::Null);
    }
    let index = call.int(0)?;
    match usize::try_from(index).ok().filter(|at| *at > 0).and_then(|at| call.args.get(at)) {
        Some(value) => Ok(value.clone()),
        None if call.context.ansi => Err(EvalError::new(
            "INVALID_ARRAY_INDEX",
            format!("the index {index} is out of bounds: there are {} elements", call.args.len().saturating_sub(1)),
        )),
        None => Ok(Value::Null),
    }
}
