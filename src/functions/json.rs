//! JSON, CSV and variants: `from_json`, `to_json`, `get_json_object`, `schema_of_json`, `parse_json`, `variant_get`.
//!
//! Parsing is PERMISSIVE with partial results, Spark 4's default: what does not fit its type becomes NULL. Options other than
//! the formats of dates and timestamps are not looked at.

use super::access::{int_length, text};
use super::cast::{plain_text, try_cast};
use super::datetime_pattern as pattern;
use super::ddl::parse_data_type;
use super::function::{
    Argument, EvalError, EvalResult, Function, Invocation, Nulls, Param, Params, ResultType, Simple,
};
use super::json_path::{self, follow, parse, parse_path, quoted, write, write_sorted};
use super::listing::list;
use super::string::{STRING, STRINGS};
use super::{calendar, json_schema};
use crate::model::{DataType, Value};
use jiff::tz::TimeZone;
use serde_json::Value as Json;

const ANY: Params = Params::Each(&[Param::Any]);
const TEXT_THEN_ANY: Params = Params::Each(&[Param::Is(Simple::String), Param::Any]);
const VARIANT: ResultType = ResultType::Is(Simple::Variant);

/// Values nest no deeper than this when they are built from documents.
const MAX_DEPTH: usize = 128;

pub(super) static FUNCTIONS: &[Function] = &[
    Function::scalar(&["get_json_object"], STRINGS, STRING, Nulls::PropagateOrNull, |c| {
        let (Some(document), Some(path)) = (parse(c.text(0)?), parse_path(c.text(1)?)) else { return Ok(Value::Null) };
        Ok(json_path::get_object(&document, &path).map_or(Value::Null, Value::string))
    }),
    Function::scalar(
        &["from_json"],
        TEXT_THEN_ANY,
        ResultType::Rule(schema_argument),
        Nulls::PropagateOrNull,
        from_json,
    ),
    Function::scalar(&["to_json"], ANY, STRING, Nulls::PropagateOrNull, |c| {
        let data_type = c.types.first().unwrap_or(&DataType::Unknown);
        let mut out = String::new();
        write_value(&mut out, c.arg(0), data_type, &c.context.zone);
        Ok(Value::string(out))
    }),
    Function::scalar(&["schema_of_json"], STRINGS, STRING, Nulls::Propagate, |c| {
        Ok(parse(c.text(0)?).map_or(Value::string("STRING"), |document| Value::string(json_schema::of_json(&document))))
    }),
    Function::scalar(&["json_array_length"], STRINGS, ResultType::Is(Simple::Int), Nulls::PropagateOrNull, |c| {
        Ok(match parse(c.text(0)?) {
            Some(Json::Array(items)) => int_length(items.len()),
            _ => Value::Null,
        })
    }),
    Function::scalar(
        &["json_object_keys"],
        STRINGS,
        ResultType::Rule(|_| DataType::array(DataType::String)),
        Nulls::PropagateOrNull,
        |c| {
            Ok(match parse(c.text(0)?) {
                Some(Json::Object(object)) => {
                    Value::Array(object.keys().map(|key| Value::string(key.as_str())).collect())
                }
                _ => Value::Null,
            })
        },
    ),
    Function::scalar(&["from_csv"], TEXT_THEN_ANY, ResultType::Rule(schema_argument), Nulls::Propagate, from_csv),
    Function::scalar(&["to_csv"], ANY, STRING, Nulls::PropagateOrNull, |c| {
        let cells: Vec<String> = super::access::fields(c.arg(0))?
            .iter()
            .map(|cell| if cell.is_null() { String::new() } else { super::display(cell, &c.context.zone) })
            .collect();
        if cells.iter().any(|cell| cell.contains([',', '"', '\n'])) {
            return Ok(super::uninterpreted("to_csv", c.args, c.result));
        }
        Ok(Value::string(cells.join(",")))
    }),
    Function::scalar(&["parse_json"], STRINGS, VARIANT, Nulls::Propagate, |c| {
        let source = c.text(0)?;
        match parse(source) {
            Some(document) => Ok(variant(&document)),
            None => {
                Err(EvalError::new("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION", format!("`{source}` is no JSON")))
            }
        }
    }),
    Function::scalar(&["try_parse_json"], STRINGS, VARIANT, Nulls::PropagateOrNull, |c| {
        Ok(parse(c.text(0)?).map_or(Value::Null, |document| variant(&document)))
    }),
    Function::scalar(&["variant_get"], ANY, ResultType::Rule(variant_type), Nulls::PropagateOrNull, |c| {
        variant_get(c, false)
    }),
    Function::scalar(&["try_variant_get"], ANY, ResultType::Rule(variant_type), Nulls::PropagateOrNull, |c| {
        variant_get(c, true)
    }),
    Function::scalar(&["is_variant_null"], ANY, ResultType::Is(Simple::Boolean), Nulls::Never, |c| {
        Ok(Value::Boolean(matches!(c.arg(0), Value::Variant(document) if document.as_ref() == "null")))
    }),
    Function::scalar(&["to_variant_object"], ANY, VARIANT, Nulls::Propagate, |c| {
        to_variant(c.arg(0), c.types.first().unwrap_or(&DataType::Unknown), &c.context.zone)
    }),
    Function::scalar(&["schema_of_variant"], ANY, STRING, Nulls::Rule(|_| false), |c| match c.arg(0) {
        Value::Variant(document) => {
            Ok(parse(document).map_or(Value::Null, |document| Value::string(json_schema::of_variant(&document))))
        }
        Value::Null => Ok(Value::Null),
        other => Err(EvalError::unexpected("variant", other)),
    }),
    Function::typed(&["from_avro", "from_protobuf", "from_xml"], ANY, ResultType::Is(Simple::Unknown), Nulls::Possible),
    Function::typed(&["to_avro", "to_protobuf"], ANY, ResultType::Is(Simple::Binary), Nulls::PropagateOrNull),
    Function::typed(&["to_xml", "schema_of_xml", "schema_of_csv"], ANY, STRING, Nulls::PropagateOrNull),
];

/// The type that a literal schema text names, everything nullable as Spark makes it.
fn schema_argument(args: &[Argument]) -> DataType {
    args.get(1).and_then(Argument::text).and_then(parse_data_type).map_or(DataType::Unknown, nullable)
}

fn nullable(data_type: DataType) -> DataType {
    match data_type {
        DataType::Array { element, .. } => DataType::array(nullable(*element)),
        DataType::Map { key, value, .. } => DataType::map(nullable(*key), nullable(*value)),
        DataType::Struct(fields) => DataType::Struct(
            fields
                .into_iter()
                .map(|f| crate::model::Field { data_type: nullable(f.data_type), nullable: true, ..f })
                .collect(),
        ),
        other => other,
    }
}

fn variant_type(args: &[Argument]) -> DataType {
    match args.get(2) {
        Some(name) => name.text().and_then(parse_data_type).unwrap_or(DataType::Unknown),
        None => DataType::Variant,
    }
}

/// Formats that the options name.
#[derive(Clone, Copy)]
struct Formats<'a> {
    date: Option<&'a str>,
    timestamp: Option<&'a str>,
    zone: &'a TimeZone,
}

impl<'a> Formats<'a> {
    fn new(options: &'a Value, zone: &'a TimeZone) -> Self {
        let option = |name: &str| match options {
            Value::Map(entries) => entries.iter().find_map(|(key, value)| match (key, value) {
                (Value::String(key), Value::String(value)) if key.eq_ignore_ascii_case(name) => Some(value.as_ref()),
                _ => None,
            }),
            _ => None,
        };
        Formats { date: option("dateFormat"), timestamp: option("timestampFormat"), zone }
    }
}

fn from_json(call: &Invocation) -> EvalResult {
    if call.result.is_unknown() {
        return Ok(super::uninterpreted("from_json", call.args, call.result));
    }
    let formats = Formats::new(call.arg(2), &call.context.zone);
    let document = parse(call.text(0)?);
    let value = match (&document, call.result) {
        (Some(object @ Json::Object(_)), DataType::Array { element, .. }) => {
            typed(object, element, formats, 0).map(|only| Value::Array([only].into()))
        }
        (Some(document), data_type) => typed(document, data_type, formats, 0),
        (None, _) => None,
    };
    Ok(value.unwrap_or_else(|| match call.result {
        // A malformed document is a row of NULLs.
        DataType::Struct(fields) if !call.text(0).is_ok_and(|t| t.trim().is_empty()) => {
            Value::Struct(vec![Value::Null; fields.len()].into())
        }
        _ => Value::Null,
    }))
}

/// A document as a value of a type; none where it does not fit.
fn typed(document: &Json, data_type: &DataType, formats: Formats, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    let inner =
        |document: &Json, data_type: &DataType| typed(document, data_type, formats, depth + 1).unwrap_or(Value::Null);
    match (document, data_type) {
        (Json::Null, _) => Some(Value::Null),
        (_, DataType::Variant) => Some(variant(document)),
        (_, DataType::String) => json_path::scalar_text(document).map(Value::string),
        (Json::Object(object), DataType::Struct(fields)) => {
            let part = |field: &crate::model::Field| {
                object.get(&field.name).map_or(Value::Null, |d| inner(d, &field.data_type))
            };
            Some(Value::Struct(fields.iter().map(part).collect()))
        }
        (Json::Object(object), DataType::Map { key, value, .. }) if **key == DataType::String => {
            Some(Value::Map(object.iter().map(|(k, v)| (Value::string(k.as_str()), inner(v, value))).collect()))
        }
        (Json::Array(items), DataType::Array { element, .. }) => {
            // An element that does not fit spoils the whole array.
            let elements: Option<Vec<Value>> =
                items.iter().map(|item| typed(item, element, formats, depth + 1)).collect();
            elements.map(|elements| Value::Array(elements.into()))
        }
        (Json::Bool(v), DataType::Boolean) => Some(Value::Boolean(*v)),
        (Json::Number(number), to) if to.is_integral() => super::cast::narrow(number.as_i64()?, to),
        (Json::Number(number), DataType::Timestamp) => number.as_i64()?.checked_mul(1_000_000).map(Value::Timestamp),
        (Json::Number(number), to @ (DataType::Double | DataType::Float | DataType::Decimal { .. })) => {
            not_null(try_cast(&Value::string(number.to_string()), &DataType::String, to, formats.zone))
        }
        (Json::String(source), DataType::Date) => match formats.date {
            Some(format) => {
                let (at, _) = pattern::parse(source, format).ok()??;
                i32::try_from(at.days).ok().map(Value::Date)
            }
            None => super::cast::read_date(source).map(Value::Date),
        },
        (Json::String(source), DataType::Timestamp) => match formats.timestamp {
            Some(format) => {
                let (at, named) = pattern::parse(source, format).ok()??;
                calendar::to_instant(named.as_ref().unwrap_or(formats.zone), at).map(Value::Timestamp)
            }
            None => super::cast::read_timestamp(source, formats.zone).map(Value::Timestamp),
        },
        (Json::String(source), DataType::TimestampNtz) => {
            super::cast::read_timestamp_ntz(source).map(Value::TimestampNtz)
        }
        (Json::String(source), DataType::Double | DataType::Float)
            if !source.starts_with(|c: char| c.is_ascii_digit()) =>
        {
            not_null(try_cast(&Value::string(source.as_str()), &DataType::String, data_type, formats.zone))
        }
        (Json::String(source), DataType::Decimal { .. }) => {
            not_null(try_cast(&Value::string(source.as_str()), &DataType::String, data_type, formats.zone))
        }
        _ => None,
    }
}

fn not_null(value: Value) -> Option<Value> {
    if value.is_null() { None } else { Some(value) }
}

/// `JacksonGenerator` with `ignoreNullFields`, its default.
fn write_value(out: &mut String, value: &Value, data_type: &DataType, zone: &TimeZone) {
    match value {
        Value::Null => out.push_str("null"),
        Value::String(v) => out.push_str(&quoted(v)),
        Value::Variant(v) => out.push_str(v),
        Value::Boolean(_) | Value::Byte(_) | Value::Short(_) | Value::Int(_) | Value::Long(_) | Value::Decimal(_) => {
            out.push_str(&plain_text(value));
        }
        Value::Double(v) if v.is_finite() => out.push_str(&plain_text(value)),
        Value::Float(v) if v.is_finite() => out.push_str(&plain_text(value)),
        Value::Timestamp(micros) => {
            let format = "yyyy-MM-dd'T'HH:mm:ss.SSSXXX";
            let shown = pattern::format(calendar::to_local(zone, *micros), *micros, zone, format);
            out.push_str(&quoted(&shown.unwrap_or_default()));
        }
        Value::TimestampNtz(micros) => {
            let format = "yyyy-MM-dd'T'HH:mm:ss.SSS";
            let shown = pattern::format(calendar::Local::from_micros(*micros), *micros, zone, format);
            out.push_str(&quoted(&shown.unwrap_or_default()));
        }
        Value::Binary(bytes) => {
            out.push_str(&quoted(&super::digest::base64(bytes)));
        }
        Value::Array(items) => {
            let element = if let DataType::Array { element, .. } = data_type { element } else { &DataType::Unknown };
            list(out, ['[', ']'], ",", items.iter(), |out, item| write_value(out, item, element, zone));
        }
        Value::Map(entries) => {
            let inner = if let DataType::Map { value, .. } = data_type { value } else { &DataType::Unknown };
            list(out, ['{', '}'], ",", entries.iter(), |out, (key, item)| {
                out.push_str(&quoted(&super::display(key, zone)));
                out.push(':');
                write_value(out, item, inner, zone);
            });
        }
        Value::Struct(parts) => {
            let empty = Vec::new();
            let fields = if let DataType::Struct(fields) = data_type { fields } else { &empty };
            let shown = parts.iter().zip(fields).filter(|(part, _)| !part.is_null());
            list(out, ['{', '}'], ",", shown, |out, (part, field)| {
                out.push_str(&quoted(&field.name));
                out.push(':');
                write_value(out, part, &field.data_type, zone);
            });
        }
        other => out.push_str(&quoted(&super::display(other, zone))),
    }
}

/// Cells without quotes; quoted ones leave the call uninterpreted.
fn from_csv(call: &Invocation) -> EvalResult {
    let source = call.text(0)?;
    let DataType::Struct(fields) = call.result else {
        return Ok(super::uninterpreted("from_csv", call.args, call.result));
    };
    if source.contains('"') || source.contains('\\') {
        return Ok(super::uninterpreted("from_csv", call.args, call.result));
    }
    let mut cells = source.split(',');
    let parts = fields.iter().map(|field| match cells.next() {
        Some(cell) if !cell.is_empty() => {
            try_cast(&Value::string(cell), &DataType::String, &field.data_type, &call.context.zone)
        }
        _ => Value::Null,
    });
    Ok(Value::Struct(parts.collect()))
}

fn variant(document: &Json) -> Value {
    Value::Variant(write_sorted(document).into())
}

/// A field of a variant object, by Databricks' `v:a` and `v.a`.
pub(super) fn variant_field(document: &str, name: &str) -> Value {
    parse(document).and_then(|d| d.get(name).map(variant)).unwrap_or(Value::Null)
}

pub(super) fn variant_item(document: &str, index: i64) -> Value {
    let index = usize::try_from(index).unwrap_or(usize::MAX);
    parse(document).and_then(|d| d.get(index).map(variant)).unwrap_or(Value::Null)
}

fn variant_get(call: &Invocation, try_mode: bool) -> EvalResult {
    let Value::Variant(document) = call.arg(0) else { return Err(EvalError::unexpected("variant", call.arg(0))) };
    let path = text(call.arg(1))?;
    let steps = parse_path(path)
        .ok_or_else(|| EvalError::new("INVALID_VARIANT_GET_PATH", format!("`{path}` is no path into a variant")))?;
    let Some(found) = parse(document).and_then(|d| follow(&d, &steps).map(variant)) else { return Ok(Value::Null) };
    if *call.result == DataType::Variant {
        return Ok(found);
    }
    match super::cast(&found, &DataType::Variant, call.result, true, &call.context.zone) {
        Err(_) if try_mode => Ok(Value::Null),
        outcome => outcome,
    }
}

/// Any value as a variant.
pub(super) fn to_variant(value: &Value, from: &DataType, zone: &TimeZone) -> EvalResult {
    let mut out = String::new();
    write_value(&mut out, value, from, zone);
    Ok(parse(&out).map_or(Value::Variant(out.into()), |document| variant(&document)))
}

/// A variant as a value of a type; none where it cannot be cast.
pub(super) fn from_variant(text: &str, to: &DataType, zone: &TimeZone, depth: usize) -> Option<Value> {
    let document = parse(text)?;
    let formats = Formats { date: None, timestamp: None, zone };
    match (&document, to) {
        (Json::Null, _) => Some(Value::Null),
        (Json::String(source), to) if *to != DataType::String => {
            not_null(try_cast(&Value::string(source.as_str()), &DataType::String, to, zone))
        }
        (Json::Number(number), to) if to.is_integral() => {
            not_null(try_cast(&Value::string(number.to_string()), &DataType::String, to, zone))
        }
        (Json::Bool(v), to) if to.is_numeric() => super::cast::narrow(i64::from(*v), to),
        (_, DataType::String) => Some(Value::string(match &document {
            Json::String(text) => text.clone(),
            other => write(other),
        })),
        (document, to) => typed(document, to, formats, depth),
    }
}
