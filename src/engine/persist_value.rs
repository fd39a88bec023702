//! Schemas and values in JSON: schemas as `StructType.json` writes them, values with the name of their type.

use super::persist::{PersistError, Read, list, wrong};
use super::row::Row;
use crate::model::{DataType, Decimal, Field, Schema, Value};
use serde_json::{Value as Json, json};

pub(super) fn schema(schema: &Schema) -> Json {
    json!({ "type": "struct", "fields": schema.fields.iter().map(field).collect::<Vec<_>>(), "complete": schema.complete })
}

pub(super) fn read_schema(json: &Json) -> Read<Schema> {
    let fields = list(json, "fields")?.iter().map(|item| read_field(item, 0)).collect::<Read<_>>()?;
    Ok(Schema { fields, complete: json.get("complete").and_then(Json::as_bool).unwrap_or(true) })
}

fn field(field: &Field) -> Json {
    json!({ "name": field.name, "type": data_type(&field.data_type), "nullable": field.nullable })
}

/// Types in types; files are not trusted to end.
const DEPTH_LIMIT: usize = 64;

fn read_field(json: &Json, depth: usize) -> Read<Field> {
    let name = json.get("name").and_then(Json::as_str).map_or_else(|| wrong("name"), Ok)?;
    Ok(Field {
        name: name.to_owned(),
        data_type: read_type(json.get("type").unwrap_or(&Json::Null), depth + 1)?,
        nullable: json.get("nullable").and_then(Json::as_bool).unwrap_or(true),
    })
}

const SIMPLE: [(&str, DataType); 18] = [
    ("void", DataType::Null),
    ("boolean", DataType::Boolean),
    ("byte", DataType::Byte),
    ("short", DataType::Short),
    ("integer", DataType::Int),
    ("long", DataType::Long),
    ("float", DataType::Float),
    ("double", DataType::Double),
    ("string", DataType::String),
    ("binary", DataType::Binary),
    ("date", DataType::Date),
    ("timestamp", DataType::Timestamp),
    ("timestamp_ntz", DataType::TimestampNtz),
    ("interval", DataType::CalendarInterval),
    ("interval day to second", DataType::DayTimeInterval),
    ("interval year to month", DataType::YearMonthInterval),
    ("variant", DataType::Variant),
    ("unknown", DataType::Unknown),
];

fn data_type(data_type: &DataType) -> Json {
    match data_type {
        DataType::Decimal { precision, scale } => Json::from(format!("decimal({precision},{scale})")),
        DataType::Array { element, contains_null } => {
            json!({ "type": "array", "elementType": self::data_type(element), "containsNull": contains_null })
        }
        DataType::Map { key, value, value_contains_null } => json!({
            "type": "map",
            "keyType": self::data_type(key),
            "valueType": self::data_type(value),
            "valueContainsNull": value_contains_null,
        }),
        DataType::Struct(fields) => json!({ "type": "struct", "fields": fields.iter().map(field).collect::<Vec<_>>() }),
        simple => Json::from(SIMPLE.iter().find(|(_, known)| known == simple).map_or("unknown", |(name, _)| name)),
    }
}

fn read_type(json: &Json, depth: usize) -> Read<DataType> {
    if depth > DEPTH_LIMIT {
        return wrong("a type nested too deeply");
    }
    if let Some(name) = json.as_str() {
        if let Some((_, simple)) = SIMPLE.iter().find(|(known, _)| *known == name) {
            return Ok(simple.clone());
        }
        let digits = name.strip_prefix("decimal(").and_then(|rest| rest.strip_suffix(')'));
        let (precision, scale) = digits.and_then(|digits| digits.split_once(',')).map_or_else(|| wrong(name), Ok)?;
        return match (precision.trim().parse(), scale.trim().parse()) {
            (Ok(precision), Ok(scale)) => Ok(DataType::Decimal { precision, scale }),
            _ => wrong(name),
        };
    }
    let part = |key: &str| read_type(json.get(key).unwrap_or(&Json::Null), depth + 1);
    let flag = |key: &str| json.get(key).and_then(Json::as_bool).unwrap_or(true);
    match json.get("type").and_then(Json::as_str) {
        Some("array") => {
            Ok(DataType::Array { element: Box::new(part("elementType")?), contains_null: flag("containsNull") })
        }
        Some("map") => Ok(DataType::Map {
            key: Box::new(part("keyType")?),
            value: Box::new(part("valueType")?),
            value_contains_null: flag("valueContainsNull"),
        }),
        Some("struct") => {
            let fields = list(json, "fields")?.iter().map(|item| read_field(item, depth)).collect::<Read<_>>()?;
            Ok(DataType::Struct(fields))
        }
        _ => wrong("type"),
    }
}

pub(super) fn row(row: &Row) -> Json {
    Json::Array(row.iter().map(value).collect())
}

pub(super) fn read_row(json: &Json) -> Read<Row> {
    json.as_array().map_or_else(|| wrong("row"), Ok)?.iter().map(|item| read_value(item, 0)).collect()
}

fn value(item: &Value) -> Json {
    match item {
        Value::Null => Json::Null,
        Value::Boolean(v) => json!({ "boolean": v }),
        Value::Byte(v) => json!({ "byte": v }),
        Value::Short(v) => json!({ "short": v }),
        Value::Int(v) => json!({ "integer": v }),
        Value::Long(v) => json!({ "long": v }),
        // Bits, so that NaN and the infinities come back.
        Value::Float(v) => json!({ "float": v.to_bits() }),
        Value::Double(v) => json!({ "double": v.to_bits() }),
        Value::Decimal(v) => json!({ "decimal": [v.unscaled.to_string(), v.precision, v.scale] }),
        Value::String(v) => json!({ "string": v.as_ref() }),
        Value::Binary(v) => json!({ "binary": v.as_ref() }),
        Value::Date(v) => json!({ "date": v }),
        Value::Timestamp(v) => json!({ "timestamp": v }),
        Value::TimestampNtz(v) => json!({ "timestamp_ntz": v }),
        Value::CalendarInterval { months, days, micros } => json!({ "interval": [months, days, micros] }),
        Value::DayTimeInterval(v) => json!({ "interval day to second": v }),
        Value::YearMonthInterval(v) => json!({ "interval year to month": v }),
        Value::Array(items) => json!({ "array": items.iter().map(value).collect::<Vec<_>>() }),
        Value::Map(entries) => {
            json!({ "map": entries.iter().map(|(key, item)| json!([value(key), value(item)])).collect::<Vec<_>>() })
        }
        Value::Struct(items) => json!({ "struct": items.iter().map(value).collect::<Vec<_>>() }),
        Value::Variant(v) => json!({ "variant": v.as_ref() }),
        Value::Opaque(v) => json!({ "opaque": v }),
    }
}

fn read_value(json: &Json, depth: usize) -> Read<Value> {
    if depth > DEPTH_LIMIT {
        return wrong("a value nested too deeply");
    }
    let Some(members) = json.as_object() else {
        return if json.is_null() { Ok(Value::Null) } else { wrong("value") };
    };
    let Some((kind, item)) = members.iter().next() else { return wrong("value") };
    read_kind(kind, item, depth).unwrap_or_else(|| wrong(kind))
}

fn read_kind(kind: &str, item: &Json, depth: usize) -> Option<Result<Value, PersistError>> {
    let values = |items: &Json| -> Option<Read<Vec<Value>>> {
        Some(items.as_array()?.iter().map(|item| read_value(item, depth + 1)).collect())
    };
    let int = || item.as_i64().and_then(|v| i32::try_from(v).ok());
    Some(Ok(match kind {
        "boolean" => Value::Boolean(item.as_bool()?),
        "byte" => Value::Byte(i8::try_from(item.as_i64()?).ok()?),
        "short" => Value::Short(i16::try_from(item.as_i64()?).ok()?),
        "integer" => Value::Int(int()?),
        "long" => Value::Long(item.as_i64()?),
        "float" => Value::Float(f32::from_bits(u32::try_from(item.as_u64()?).ok()?)),
        "double" => Value::Double(f64::from_bits(item.as_u64()?)),
        "decimal" => Value::Decimal(Decimal {
            unscaled: item.get(0)?.as_str()?.parse().ok()?,
            precision: u8::try_from(item.get(1)?.as_u64()?).ok()?,
            scale: i8::try_from(item.get(2)?.as_i64()?).ok()?,
        }),
        "string" => Value::string(item.as_str()?),
        "binary" => {
            let byte = |item: &Json| item.as_u64().and_then(|v| u8::try_from(v).ok());
            Value::Binary(item.as_array()?.iter().map(byte).collect::<Option<Vec<u8>>>()?.into())
        }
        "date" => Value::Date(int()?),
        "timestamp" => Value::Timestamp(item.as_i64()?),
        "timestamp_ntz" => Value::TimestampNtz(item.as_i64()?),
        "interval" => Value::CalendarInterval {
            months: i32::try_from(item.get(0)?.as_i64()?).ok()?,
            days: i32::try_from(item.get(1)?.as_i64()?).ok()?,
            micros: item.get(2)?.as_i64()?,
        },
        "interval day to second" => Value::DayTimeInterval(item.as_i64()?),
        "interval year to month" => Value::YearMonthInterval(int()?),
        "array" => match values(item)? {
            Ok(items) => Value::Array(items.into()),
            Err(error) => return Some(Err(error)),
        },
        "struct" => match values(item)? {
            Ok(items) => Value::Struct(items.into()),
            Err(error) => return Some(Err(error)),
        },
        "map" => {
            let mut entries = Vec::new();
            for pair in item.as_array()? {
                match (read_value(pair.get(0)?, depth + 1), read_value(pair.get(1)?, depth + 1)) {
                    (Ok(key), Ok(item)) => entries.push((key, item)),
                    (Err(error), _) | (_, Err(error)) => return Some(Err(error)),
                }
            }
            Value::Map(entries.into())
        }
        "variant" => Value::Variant(item.as_str()?.into()),
        "opaque" => Value::Opaque(item.as_u64()?),
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_kind_come_back() {
        let values: Row = vec![
            Value::Null,
            Value::Boolean(true),
            Value::Byte(-1),
            Value::Long(i64::MIN),
            Value::Double(f64::NEG_INFINITY),
            Value::Decimal(Decimal { unscaled: i128::MAX / 5, precision: 38, scale: 2 }),
            Value::string("ä\n"),
            Value::Binary([0, 255].as_slice().into()),
            Value::CalendarInterval { months: 1, days: -2, micros: 3 },
            Value::Struct([Value::Timestamp(-5), Value::Null].into()),
            Value::Map([(Value::string("k"), Value::Array([Value::Int(1)].into()))].into()),
            Value::Opaque(u64::MAX),
        ]
        .into();
        let saved: Json = serde_json::from_str(&row(&values).to_string()).unwrap();
        assert_eq!(read_row(&saved).unwrap(), values);
    }

    #[test]
    fn types_come_back_with_their_nullability() {
        let saved = Schema::new(vec![
            Field::not_null("d", DataType::decimal(10, -2)),
            Field::new(
                "m",
                DataType::map(
                    DataType::String,
                    DataType::array(DataType::Struct(vec![Field::new("x", DataType::Int)])),
                ),
            ),
        ]);
        assert_eq!(read_schema(&schema(&saved)).unwrap(), saved);
    }
}
