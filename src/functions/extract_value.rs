//! Structs, and what is taken out of structs, arrays and maps (`ExtractValue`).

use super::access::fields;
use super::array::array_of;
use super::coercion::{implicit_cast, wider_type};
use super::function::{Argument, EvalError, EvalResult, Function, Invocation, Nulls, Param, Params, ResultType};
use crate::model::{DataType, Field, Value};

const ANY: Params = Params::Each(&[Param::Any]);

pub(super) static FUNCTIONS: &[Function] = &[
    Function::scalar(&["struct"], ANY, ResultType::Rule(struct_type), Nulls::Never, |c| {
        Ok(Value::Struct(c.args.into()))
    }),
    Function::scalar(&["named_struct"], ANY, ResultType::Rule(named_struct_type), Nulls::Never, |c| {
        Ok(Value::Struct(c.args.iter().skip(1).step_by(2).cloned().collect()))
    }),
    Function::scalar(&["getfield"], ANY, ResultType::Rule(field_type), Nulls::Rule(field_nullable), get_field),
    Function::scalar(
        &["getitem"],
        Params::Rule(item_types),
        ResultType::Rule(item_type),
        Nulls::Rule(item_nullable),
        |c| item(c, 0, c.context.ansi),
    ),
    Function::scalar(&["get"], Params::Rule(item_types), ResultType::Rule(item_type), Nulls::Possible, |c| {
        item(c, 0, false)
    }),
    Function::scalar(
        &["element_at"],
        Params::Rule(item_types),
        ResultType::Rule(item_type),
        Nulls::Rule(item_nullable),
        |c| item(c, 1, c.context.ansi),
    ),
    Function::scalar(
        &["try_element_at"],
        Params::Rule(item_types),
        ResultType::Rule(item_type),
        Nulls::Possible,
        |c| item(c, 1, false),
    ),
];

/// Fields are named after aliases and attributes, else `col1`, `col2`, ….
fn struct_type(args: &[Argument]) -> DataType {
    let field = |(index, arg): (usize, &Argument)| Field {
        name: arg.name.as_ref().map_or_else(|| format!("col{}", index + 1), |name| name.to_string()),
        data_type: arg.data_type.clone(),
        nullable: arg.nullable,
    };
    DataType::Struct(args.iter().enumerate().map(field).collect())
}

fn named_struct_type(args: &[Argument]) -> DataType {
    let fields: Option<Vec<Field>> = args
        .chunks_exact(2)
        .map(|pair| match pair {
            [name, value] => Some(Field {
                name: name.text()?.to_owned(),
                data_type: value.data_type.clone(),
                nullable: value.nullable,
            }),
            _ => None,
        })
        .collect();
    fields.map_or(DataType::Unknown, DataType::Struct)
}

fn find_field<'a>(fields: &'a [Field], name: &str) -> Option<(usize, &'a Field)> {
    fields.iter().enumerate().find(|(_, f)| f.name.eq_ignore_ascii_case(name))
}

/// A field of a struct, of each struct in an array, or a map's value under the key.
fn field_type(args: &[Argument]) -> DataType {
    let Some(name) = args.get(1).and_then(Argument::text) else { return DataType::Unknown };
    match args.first().map(|a| &a.data_type) {
        Some(DataType::Struct(fields)) => {
            find_field(fields, name).map_or(DataType::Unknown, |(_, f)| f.data_type.clone())
        }
        Some(DataType::Array { element, contains_null }) => match element.as_ref() {
            DataType::Struct(fields) => find_field(fields, name)
                .map_or(DataType::Unknown, |(_, f)| array_of(f.data_type.clone(), *contains_null || f.nullable)),
            _ => DataType::Unknown,
        },
        Some(DataType::Map { value, .. }) => value.as_ref().clone(),
        Some(DataType::Variant) => DataType::Variant,
        _ => DataType::Unknown,
    }
}

fn field_nullable(args: &[Argument]) -> bool {
    let Some(source) = args.first() else { return true };
    match &source.data_type {
        DataType::Struct(fields) => {
            let name = args.get(1).and_then(Argument::text).unwrap_or_default();
            source.nullable || find_field(fields, name).is_none_or(|(_, f)| f.nullable)
        }
        DataType::Array { .. } => source.nullable,
        _ => true,
    }
}

fn get_field(call: &Invocation) -> EvalResult {
    let source = call.arg(0);
    if source.is_null() {
        return Ok(Value::Null);
    }
    let name = call.text(1)?;
    match (source, call.types.first()) {
        (Value::Struct(parts), Some(DataType::Struct(list))) => {
            Ok(find_field(list, name).and_then(|(index, _)| parts.get(index)).cloned().unwrap_or(Value::Null))
        }
        (Value::Array(items), Some(DataType::Array { element, .. })) => match element.as_ref() {
            DataType::Struct(list) => {
                let index = find_field(list, name).map(|(index, _)| index);
                let picked: Result<Vec<Value>, EvalError> = items
                    .iter()
                    .map(|item| match (item, index) {
                        (Value::Null, _) | (_, None) => Ok(Value::Null),
                        (item, Some(index)) => Ok(fields(item)?.get(index).cloned().unwrap_or(Value::Null)),
                    })
                    .collect();
                Ok(Value::Array(picked?.into()))
            }
            _ => Ok(super::uninterpreted("getfield", call.args, call.result)),
        },
        (Value::Map(entries), _) => {
            let key = Value::string(name);
            Ok(entries.iter().find(|(k, _)| *k == key).map_or(Value::Null, |(_, v)| v.clone()))
        }
        (Value::Variant(document), _) => Ok(super::json::variant_field(document, name)),
        _ => Ok(super::uninterpreted("getfield", call.args, call.result)),
    }
}

/// Array indices are int; map keys are widened with the map's.
fn item_types(args: &[Argument]) -> Vec<DataType> {
    let mut types: Vec<DataType> = args.iter().map(|a| a.data_type.clone()).collect();
    if let [source, index] = types.as_mut_slice() {
        match source {
            DataType::Array { .. } => *index = implicit_cast(Param::Integral, index),
            DataType::Map { key, .. } => {
                if let Some(wide) = wider_type(key, index) {
                    **key = wide.clone();
                    *index = wide;
                }
            }
            _ => {}
        }
    }
    types
}

fn item_type(args: &[Argument]) -> DataType {
    match args.first().map(|a| &a.data_type) {
        Some(DataType::Array { element, .. }) => element.as_ref().clone(),
        Some(DataType::Map { value, .. }) => value.as_ref().clone(),
        Some(DataType::Struct(_)) => field_type(args),
        Some(DataType::Variant) => DataType::Variant,
        _ => DataType::Unknown,
    }
}

/// In ANSI mode an array gives an element or fails; a map may lack the key.
fn item_nullable(args: &[Argument]) -> bool {
    match args.first().map(|a| &a.data_type) {
        Some(DataType::Array { contains_null, .. }) => *contains_null || args.iter().any(|a| a.nullable),
        Some(DataType::Struct(_)) => field_nullable(args),
        _ => true,
    }
}

/// `base` is the index of the first element; from 1 on negative indices count from the end.
fn item(call: &Invocation, base: i64, strict: bool) -> EvalResult {
    let (source, key) = (call.arg(0), call.arg(1));
    if source.is_null() || key.is_null() {
        return Ok(Value::Null);
    }
    match source {
        Value::Map(entries) => Ok(entries.iter().find(|(k, _)| k == key).map_or(Value::Null, |(_, v)| v.clone())),
        Value::Array(items) => {
            let index = super::access::long(key)?;
            if base == 1 && index == 0 {
                return Err(EvalError::new(
                    "INVALID_INDEX_OF_ZERO",
                    "the index 0 is invalid; indices start at 1 or end at -1",
                ));
            }
            let from_end = base == 1 && index < 0;
            let at = if from_end { i64::try_from(items.len()).unwrap_or(0) + index } else { index - base };
            match usize::try_from(at).ok().and_then(|at| items.get(at)) {
                Some(found) => Ok(found.clone()),
                None if strict => Err(EvalError::new(
                    if base == 1 { "INVALID_ARRAY_INDEX_IN_ELEMENT_AT" } else { "INVALID_ARRAY_INDEX" },
                    format!("the index {index} is out of bounds: the array has {} elements", items.len()),
                )),
                None => Ok(Value::Null),
            }
        }
        Value::Struct(_) | Value::Variant(_) if matches!(key, Value::String(_)) => get_field(call),
        Value::Variant(document) => Ok(super::json::variant_item(document, super::access::long(key)?)),
        _ => Ok(super::uninterpreted("getitem", call.args, call.result)),
    }
}
