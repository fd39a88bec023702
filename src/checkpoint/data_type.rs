//! Spark's JSON form of schemas (`StructType.json`).

use crate::model::{DataType, Field, Schema};
use serde_json::Value as Json;

/// A schema; what is no struct, or lacks a part, says where.
pub fn schema(text: &str) -> Result<Schema, String> {
    let json: Json = serde_json::from_str(text).map_err(|error| format!("the schema is no JSON: {error}"))?;
    match data_type(&json)? {
        DataType::Struct(fields) => Ok(Schema::new(fields)),
        other => Err(format!("the schema is {other} and no struct")),
    }
}

/// A type of a later Spark, or of somebody's own, is `Unknown`.
fn data_type(json: &Json) -> Result<DataType, String> {
    if let Some(name) = json.as_str() {
        return Ok(atomic(name));
    }
    let part = |name: &str| json.get(name).ok_or_else(|| format!("a type of the schema has no `{name}`"));
    let flag = |name: &str| part(name)?.as_bool().ok_or_else(|| format!("`{name}` of the schema is no boolean"));
    match part("type")?.as_str() {
        Some("struct") => {
            let fields = part("fields")?.as_array().ok_or("`fields` of the schema is no list")?;
            Ok(DataType::Struct(fields.iter().map(field).collect::<Result<_, _>>()?))
        }
        Some("array") => Ok(DataType::Array {
            element: Box::new(data_type(part("elementType")?)?),
            contains_null: flag("containsNull")?,
        }),
        Some("map") => Ok(DataType::Map {
            key: Box::new(data_type(part("keyType")?)?),
            value: Box::new(data_type(part("valueType")?)?),
            value_contains_null: flag("valueContainsNull")?,
        }),
        Some("udt") => Ok(DataType::Unknown),
        Some(other) => Err(format!("`{other}` is no type of a schema")),
        None => Err("a type of the schema has no name".to_owned()),
    }
}

fn field(json: &Json) -> Result<Field, String> {
    let name = json.get("name").and_then(Json::as_str).ok_or("a field of the schema has no name")?;
    let nullable = json.get("nullable").and_then(Json::as_bool).ok_or("a field of the schema has no `nullable`")?;
    let own = json.get("type").ok_or("a field of the schema has no type")?;
    Ok(Field { name: name.to_owned(), data_type: data_type(own)?, nullable })
}

/// `DataType.nameToType`.
fn atomic(name: &str) -> DataType {
    match name {
        "void" | "null" => DataType::Null,
        "boolean" => DataType::Boolean,
        "byte" => DataType::Byte,
        "short" => DataType::Short,
        "integer" => DataType::Int,
        "long" => DataType::Long,
        "float" => DataType::Float,
        "double" => DataType::Double,
        "decimal" => DataType::decimal(10, 0),
        "string" => DataType::String,
        "binary" => DataType::Binary,
        "date" => DataType::Date,
        "timestamp" | "timestamp_ltz" => DataType::Timestamp,
        "timestamp_ntz" => DataType::TimestampNtz,
        "interval" | "calendarinterval" => DataType::CalendarInterval,
        "variant" => DataType::Variant,
        _ => parametrized(name),
    }
}

fn parametrized(name: &str) -> DataType {
    let argument = |prefix: &str| name.strip_prefix(prefix)?.strip_suffix(')');
    if let Some(parts) = argument("decimal(").and_then(|text| text.split_once(',')) {
        let parsed = (parts.0.trim().parse::<u8>(), parts.1.trim().parse::<i8>());
        if let (Ok(precision @ 1..=38), Ok(scale)) = parsed {
            return DataType::Decimal { precision, scale };
        }
        return DataType::Unknown;
    }
    if argument("char(").or(argument("varchar(")).is_some_and(|length| length.parse::<u32>().is_ok()) {
        return DataType::String;
    }
    let units: Option<Vec<&str>> = name.strip_prefix("interval ").map(|rest| rest.split(" to ").collect());
    match units.as_deref() {
        Some([unit] | [unit, _]) if matches!(*unit, "year" | "month") => DataType::YearMonthInterval,
        Some([unit] | [unit, _]) if matches!(*unit, "day" | "hour" | "minute" | "second") => DataType::DayTimeInterval,
        _ => DataType::Unknown,
    }
}
