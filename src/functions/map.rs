//! Functions on maps. Keys are unique: a duplicate is an error, as `spark.sql.mapKeyDedupPolicy=EXCEPTION`, its default.

use super::access::{fields, map};
use super::coercion::common_type;
use super::function::{
    Argument, EvalError, EvalResult, Function, Invocation, Nulls, Param, Params, ResultType, Simple,
};
use super::string::STRINGS;
use crate::model::{DataType, Field, Value};
use std::collections::HashSet;

const ANY: Params = Params::Each(&[Param::Any]);

pub(super) static FUNCTIONS: &[Function] = &[
    Function::scalar(&["map"], Params::Rule(map_types), ResultType::Rule(map_type), Nulls::Never, |c| {
        let pairs = c.args.chunks_exact(2).filter_map(|pair| match pair {
            [key, value] => Some((key.clone(), value.clone())),
            _ => None,
        });
        build(pairs)
    }),
    Function::scalar(&["map_keys"], ANY, ResultType::Rule(keys_type), Nulls::Propagate, |c| {
        Ok(Value::Array(c.map(0)?.iter().map(|(key, _)| key.clone()).collect()))
    }),
    Function::scalar(&["map_values"], ANY, ResultType::Rule(values_type), Nulls::Propagate, |c| {
        Ok(Value::Array(c.map(0)?.iter().map(|(_, value)| value.clone()).collect()))
    }),
    Function::scalar(&["map_entries"], ANY, ResultType::Rule(entries_type), Nulls::Propagate, |c| {
        let entry = |(key, value): &(Value, Value)| Value::Struct([key.clone(), value.clone()].into());
        Ok(Value::Array(c.map(0)?.iter().map(entry).collect()))
    }),
    Function::scalar(&["map_from_arrays"], ANY, ResultType::Rule(from_arrays_type), Nulls::Propagate, |c| {
        let (keys, values) = (c.array(0)?, c.array(1)?);
        if keys.len() != values.len() {
            return Err(EvalError::new("INTERNAL_ERROR", "the key array and value array of a map differ in length"));
        }
        build(keys.iter().cloned().zip(values.iter().cloned()))
    }),
    Function::scalar(
        &["map_from_entries"],
        ANY,
        ResultType::Rule(from_entries_type),
        Nulls::Rule(entries_nullable),
        |c| {
            if c.arg(0).is_null() {
                return Ok(Value::Null);
            }
            let mut pairs = Vec::new();
            for entry in c.array(0)?.iter() {
                if entry.is_null() {
                    return Ok(Value::Null);
                }
                if let [key, value] = fields(entry)?.as_ref() {
                    pairs.push((key.clone(), value.clone()));
                }
            }
            build(pairs.into_iter())
        },
    ),
    Function::scalar(&["map_concat"], Params::Common(0), ResultType::Rule(concat_type), Nulls::Propagate, |c| {
        let mut pairs = Vec::new();
        for part in c.args {
            pairs.extend(map(part)?.iter().cloned());
        }
        build(pairs.into_iter())
    }),
    Function::scalar(&["map_contains_key"], ANY, ResultType::Is(Simple::Boolean), Nulls::PropagateOrNull, |c| {
        Ok(Value::Boolean(c.map(0)?.iter().any(|(key, _)| super::comparison::order(key, c.arg(1)).is_eq())))
    }),
    Function::scalar(
        &["str_to_map"],
        STRINGS,
        ResultType::Rule(|_| DataType::map(DataType::String, DataType::String)),
        Nulls::Propagate,
        str_to_map,
    ),
];

/// Checks the keys.
pub(super) fn build(pairs: impl Iterator<Item = (Value, Value)>) -> EvalResult {
    let entries: Vec<(Value, Value)> = pairs.collect();
    let mut seen = HashSet::new();
    for (key, _) in &entries {
        if key.is_null() {
            return Err(EvalError::new("NULL_MAP_KEY", "a map must not have a NULL key"));
        }
        if !seen.insert(key) {
            let shown = super::cast::plain_text(key);
            return Err(EvalError::new("DUPLICATED_MAP_KEY", format!("the map key {shown} stands twice")));
        }
    }
    Ok(Value::Map(entries.into()))
}

/// Keys are widened to one type, and values to one.
fn map_types(args: &[Argument]) -> Vec<DataType> {
    let side = |offset: usize| {
        let types: Vec<DataType> = args.iter().skip(offset).step_by(2).map(|a| a.data_type.clone()).collect();
        common_type(&types)
    };
    let (keys, values) = (side(0), side(1));
    args.iter()
        .enumerate()
        .map(|(index, a)| {
            let common = if index % 2 == 0 { &keys } else { &values };
            common.clone().unwrap_or_else(|| a.data_type.clone())
        })
        .collect()
}

fn map_of(key: DataType, value: DataType, value_contains_null: bool) -> DataType {
    DataType::Map { key: Box::new(key), value: Box::new(value), value_contains_null }
}

fn map_type(args: &[Argument]) -> DataType {
    let at = |index: usize| args.get(index).map_or(DataType::Null, |a| a.data_type.clone());
    map_of(at(0), at(1), args.iter().skip(1).step_by(2).any(|a| a.nullable))
}

pub(super) fn parts(data_type: Option<&DataType>) -> Option<(&DataType, &DataType, bool)> {
    match data_type {
        Some(DataType::Map { key, value, value_contains_null }) => Some((key, value, *value_contains_null)),
        _ => None,
    }
}

fn of_map(args: &[Argument], rule: fn(DataType, DataType, bool) -> DataType) -> DataType {
    parts(args.first().map(|a| &a.data_type)).map_or(DataType::Unknown, |(k, v, n)| rule(k.clone(), v.clone(), n))
}

fn array_of(element: DataType, contains_null: bool) -> DataType {
    DataType::Array { element: Box::new(element), contains_null }
}

fn keys_type(args: &[Argument]) -> DataType {
    of_map(args, |key, _, _| array_of(key, false))
}

fn values_type(args: &[Argument]) -> DataType {
    of_map(args, |_, value, nulls| array_of(value, nulls))
}

fn entries_type(args: &[Argument]) -> DataType {
    of_map(args, |key, value, nulls| {
        let value = Field { name: "value".to_owned(), data_type: value, nullable: nulls };
        array_of(DataType::Struct(vec![Field::not_null("key", key), value]), false)
    })
}

fn from_arrays_type(args: &[Argument]) -> DataType {
    use super::array::element;
    let side = |index: usize| element(args.get(index).map(|a| &a.data_type));
    match (side(0), side(1)) {
        (Some((key, _)), Some((value, nulls))) => map_of(key.clone(), value.clone(), nulls),
        _ => DataType::Unknown,
    }
}

fn from_entries_type(args: &[Argument]) -> DataType {
    match super::array::element(args.first().map(|a| &a.data_type)) {
        Some((DataType::Struct(list), _)) => match list.as_slice() {
            [key, value] => map_of(key.data_type.clone(), value.data_type.clone(), value.nullable),
            _ => DataType::Unknown,
        },
        _ => DataType::Unknown,
    }
}

fn entries_nullable(args: &[Argument]) -> bool {
    args.first().is_none_or(|a| {
        a.nullable || super::array::element(Some(&a.data_type)).is_none_or(|(_, contains_null)| contains_null)
    })
}

fn concat_type(args: &[Argument]) -> DataType {
    args.first().map_or_else(|| map_of(DataType::String, DataType::String, false), |a| a.data_type.clone())
}

/// Delimiters are plain text here; Spark takes regular expressions, which differ for special characters only.
fn str_to_map(call: &Invocation) -> EvalResult {
    let pair_delimiter = if call.args.len() > 1 { call.text(1)? } else { "," };
    let key_delimiter = if call.args.len() > 2 { call.text(2)? } else { ":" };
    let special = |d: &str| d.is_empty() || (d.len() > 1 && d.chars().any(|c| "\\[](){}.*+?^$|".contains(c)));
    if special(pair_delimiter) || special(key_delimiter) {
        return Ok(super::uninterpreted("str_to_map", call.args, call.result));
    }
    build(call.text(0)?.split(pair_delimiter).map(|pair| match pair.split_once(key_delimiter) {
        Some((key, value)) => (Value::string(key), Value::string(value)),
        None => (Value::string(pair), Value::Null),
    }))
}
