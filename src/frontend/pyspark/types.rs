//! `pyspark.sql.types`.

use super::column;
use crate::frontend::python::interpret::{Eval, Interpreter};
use crate::frontend::python::sql_text;
use crate::frontend::python::value::{Arguments, Value};
use crate::model::{DataType, Field, Place, Schema};
use std::cell::RefCell;
use std::rc::Rc;

/// A type without parameters by its class: `pyspark.sql.types.StringType`.
pub fn by_name(path: &str) -> Option<DataType> {
    Some(match path.rsplit('.').next()? {
        "StringType" | "CharType" | "VarcharType" | "str" => DataType::String,
        "BooleanType" | "bool" => DataType::Boolean,
        "ByteType" => DataType::Byte,
        "ShortType" => DataType::Short,
        "IntegerType" => DataType::Int,
        "LongType" | "int" => DataType::Long,
        "FloatType" => DataType::Float,
        "DoubleType" | "float" => DataType::Double,
        "DecimalType" => DataType::decimal(10, 0),
        "BinaryType" | "bytes" => DataType::Binary,
        "DateType" => DataType::Date,
        "TimestampType" => DataType::Timestamp,
        "TimestampNTZType" => DataType::TimestampNtz,
        "NullType" => DataType::Null,
        "DayTimeIntervalType" => DataType::DayTimeInterval,
        "YearMonthIntervalType" => DataType::YearMonthInterval,
        "CalendarIntervalType" => DataType::CalendarInterval,
        "VariantType" => DataType::Variant,
        _ => return None,
    })
}

pub fn construct(interpreter: &mut Interpreter<'_>, name: &str, arguments: &Arguments) -> Eval<Option<Value>> {
    let place = &arguments.place;
    let number = |index: usize, name: &str| match arguments.get(index, name) {
        Some(Value::Int(number)) => Some(*number),
        _ => None,
    };
    let value = match name {
        "StructType" => {
            let schema = Rc::new(RefCell::new(Schema::new(Vec::new())));
            if let Some(fields) = arguments.given(0, "fields").cloned() {
                let list = interpreter.items_of(&fields);
                let mut schema = schema.borrow_mut();
                schema.complete = list.as_ref().is_some_and(|list| !list.open);
                for item in list.map(|list| list.items).unwrap_or_default() {
                    match field_of(&item) {
                        Some(field) => schema.fields.push(field),
                        None => schema.complete = false,
                    }
                }
            }
            Value::Schema(schema)
        }
        "StructType.fromDDL" => match arguments.text(0, "ddl").and_then(|ddl| sql_text::schema(&ddl)) {
            Some(schema) => Value::Schema(Rc::new(RefCell::new(schema))),
            None => return Ok(None),
        },
        "StructType.fromJson" => {
            let json = arguments.get(0, "json").cloned().unwrap_or(Value::None);
            let schema = schema_from_json(interpreter, &json);
            Value::Schema(Rc::new(RefCell::new(schema)))
        }
        "StructField" => {
            let name = arguments.text(0, "name").unwrap_or_default();
            let data_type = column::data_type(interpreter, arguments.get(1, "dataType"), place);
            let nullable = arguments.flag(2, "nullable").unwrap_or(true);
            Value::Field(Rc::new(Field { name: name.to_string(), data_type, nullable }))
        }
        "ArrayType" => {
            let element = column::data_type(interpreter, arguments.get(0, "elementType"), place);
            let contains_null = arguments.flag(1, "containsNull").unwrap_or(true);
            Value::Type(Rc::new(DataType::Array { element: Box::new(element), contains_null }))
        }
        "MapType" => {
            let key = column::data_type(interpreter, arguments.get(0, "keyType"), place);
            let value = column::data_type(interpreter, arguments.get(1, "valueType"), place);
            let value_contains_null = arguments.flag(2, "valueContainsNull").unwrap_or(true);
            Value::Type(Rc::new(DataType::Map { key: Box::new(key), value: Box::new(value), value_contains_null }))
        }
        "DecimalType" => {
            let precision = number(0, "precision").and_then(|n| u8::try_from(n).ok()).unwrap_or(10);
            let scale = number(1, "scale").and_then(|n| i8::try_from(n).ok()).unwrap_or(0);
            Value::Type(Rc::new(DataType::Decimal { precision, scale }))
        }
        "_parse_datatype_string" | "_parse_datatype_json_string" | "DataType.fromDDL" => {
            let text = arguments.text(0, "s").unwrap_or_default();
            match sql_text::data_type(&text) {
                Some(DataType::Struct(fields)) => Value::Schema(Rc::new(RefCell::new(Schema::new(fields)))),
                Some(data_type) => Value::Type(Rc::new(data_type)),
                None => match sql_text::schema(&text) {
                    Some(schema) => Value::Schema(Rc::new(RefCell::new(schema))),
                    None => return Ok(None),
                },
            }
        }
        _ => match by_name(name) {
            Some(data_type) => Value::Type(Rc::new(data_type)),
            None => return Ok(None),
        },
    };
    Ok(Some(value))
}

fn field_of(value: &Value) -> Option<Field> {
    match value {
        Value::Field(field) => Some(field.as_ref().clone()),
        _ => None,
    }
}

/// Methods of StructType, StructField and types.
pub fn method(
    interpreter: &mut Interpreter<'_>,
    receiver: &Value,
    name: &str,
    arguments: &Arguments,
) -> Eval<Option<Value>> {
    let place = &arguments.place;
    Ok(match (receiver, name) {
        (Value::Schema(schema), "add") => {
            let field = match arguments.get(0, "field") {
                Some(Value::Field(field)) => field.as_ref().clone(),
                Some(name) => {
                    let name = name.render_string().unwrap_or_default().to_string();
                    let data_type = column::data_type(interpreter, arguments.get(1, "data_type"), place);
                    Field { name, data_type, nullable: arguments.flag(2, "nullable").unwrap_or(true) }
                }
                None => return Ok(None),
            };
            schema.borrow_mut().fields.push(field);
            Some(receiver.clone())
        }
        (Value::Schema(schema), "fieldNames") => {
            Some(Value::list(schema.borrow().fields.iter().map(|f| Value::str(f.name.as_str())).collect()))
        }
        (Value::Schema(schema), "simpleString" | "toDDL") => {
            Some(Value::str(DataType::Struct(schema.borrow().fields.clone()).to_string()))
        }
        (Value::Type(data_type), "simpleString" | "typeName") => Some(Value::str(data_type.to_string())),
        (Value::Schema(_) | Value::Type(_) | Value::Field(_), "json" | "jsonValue") => {
            Some(Value::str(interpreter.short(receiver)))
        }
        _ => None,
    })
}

/// A schema from what a reader or a table definition takes: StructType, DDL text, or unknown.
pub fn schema(interpreter: &mut Interpreter<'_>, value: &Value, place: &Place) -> Schema {
    match value {
        Value::Schema(schema) => schema.borrow().clone(),
        Value::Type(data_type) => match data_type.as_ref() {
            DataType::Struct(fields) => Schema::new(fields.clone()),
            other => Schema::new(vec![Field::new("value", other.clone())]),
        },
        Value::Str(text) => match sql_text::schema(&text.text) {
            Some(schema) => schema,
            None => match sql_text::data_type(&text.text) {
                Some(DataType::Struct(fields)) => Schema::new(fields),
                _ => {
                    let reason = "this schema text is not understood";
                    interpreter.unknown("schema", "unknown-schema", reason, place.clone());
                    Schema::unknown()
                }
            },
        },
        Value::List(_) | Value::Tuple(_) => {
            let items = interpreter.items_of(value).map(|list| list.items).unwrap_or_default();
            let names = items.iter().filter_map(Value::render_string);
            let fields = names.map(|name| Field::new(name.to_string(), DataType::Unknown)).collect();
            Schema::new(fields)
        }
        _ => Schema::unknown(),
    }
}

/// The JSON form of a schema, as `StructType.json()` writes it.
fn schema_from_json(interpreter: &mut Interpreter<'_>, value: &Value) -> Schema {
    match type_from_json(interpreter, value, 24) {
        DataType::Struct(fields) => Schema::new(fields),
        _ => Schema::unknown(),
    }
}

fn type_from_json(interpreter: &mut Interpreter<'_>, value: &Value, depth: u32) -> DataType {
    let Some(depth) = depth.checked_sub(1) else { return DataType::Unknown };
    let Value::Dict(dict) = value else {
        return value.as_str().and_then(sql_text::data_type).unwrap_or(DataType::Unknown);
    };
    let get = |key: &str| dict.borrow().get_str(key).cloned().unwrap_or(Value::None);
    let flag = |key: &str| !matches!(get(key), Value::Bool(false));
    match get("type").as_str() {
        Some("struct") => {
            let fields = interpreter.items_of(&get("fields")).map(|list| list.items).unwrap_or_default();
            let mut out = Vec::new();
            for field in fields {
                let Value::Dict(field) = field else { continue };
                let part = |key: &str| field.borrow().get_str(key).cloned().unwrap_or(Value::None);
                let data_type = type_from_json(interpreter, &part("type"), depth);
                let name = part("name").render_string().unwrap_or_default().to_string();
                let nullable = !matches!(part("nullable"), Value::Bool(false));
                out.push(Field { name, data_type, nullable });
            }
            DataType::Struct(out)
        }
        Some("array") => DataType::Array {
            element: Box::new(type_from_json(interpreter, &get("elementType"), depth)),
            contains_null: flag("containsNull"),
        },
        Some("map") => DataType::Map {
            key: Box::new(type_from_json(interpreter, &get("keyType"), depth)),
            value: Box::new(type_from_json(interpreter, &get("valueType"), depth)),
            value_contains_null: flag("valueContainsNull"),
        },
        _ => DataType::Unknown,
    }
}
