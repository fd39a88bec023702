//! Arrays and structs: construction, access, and array functions. Maps are in `map`, lambdas in `higher_order`.

use super::access::{array, fields, int_length, text};
use super::coercion::{common_from, common_type, implicit_cast, wider_type};
use super::function::{
    Argument, EvalError, EvalResult, Function, Invocation, Nulls, Param, Params, ResultType, Simple,
};
use crate::model::{DataType, Field, Value};
use std::collections::HashSet;

/// Longest array that a function may build.
pub(super) const MAX_ITEMS: usize = 1 << 20;

const ANY: Params = Params::Each(&[Param::Any]);
const BOOLEAN: ResultType = ResultType::Is(Simple::Boolean);
const INT: ResultType = ResultType::Is(Simple::Int);
/// An array and an element of one type.
const WITH_ELEMENT: Params = Params::Rule(with_element);
/// Arrays of one type.
const ARRAYS: Params = Params::Common(0);

pub(super) static FUNCTIONS: &[Function] = &[
    Function::scalar(&["array"], Params::Common(0), ResultType::Rule(array_type), Nulls::Never, |c| {
        Ok(Value::Array(c.args.into()))
    }),
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
    Function::scalar(&["size", "cardinality", "array_size"], ANY, INT, Nulls::Propagate, |c| match c.arg(0) {
        Value::Map(entries) => Ok(int_length(entries.len())),
        other => Ok(int_length(array(other)?.len())),
    }),
    Function::scalar(&["array_contains"], WITH_ELEMENT, BOOLEAN, Nulls::Rule(contains_nullable), |c| {
        if c.arg(0).is_null() || c.arg(1).is_null() {
            return Ok(Value::Null);
        }
        Ok(three_valued(c.array(0)?.iter().map(|item| (!item.is_null()).then(|| item == c.arg(1)))))
    }),
    Function::scalar(&["array_distinct"], ANY, ResultType::Arg(0), Nulls::Propagate, |c| {
        let mut seen = HashSet::new();
        Ok(Value::Array(c.array(0)?.iter().filter(|item| seen.insert(*item)).cloned().collect()))
    }),
    Function::scalar(
        &["array_join"],
        Params::Rule(join_types),
        ResultType::Is(Simple::String),
        Nulls::Propagate,
        array_join,
    ),
    Function::scalar(&["array_position"], WITH_ELEMENT, ResultType::Is(Simple::Long), Nulls::Propagate, |c| {
        let at = c.array(0)?.iter().position(|item| item == c.arg(1)).map_or(0, |index| index + 1);
        Ok(Value::Long(i64::try_from(at).unwrap_or(0)))
    }),
    Function::scalar(&["array_remove"], WITH_ELEMENT, ResultType::Arg(0), Nulls::Propagate, |c| {
        Ok(Value::Array(c.array(0)?.iter().filter(|item| *item != c.arg(1)).cloned().collect()))
    }),
    Function::scalar(
        &["array_append"],
        WITH_ELEMENT,
        ResultType::Rule(nullable_elements),
        Nulls::Rule(first_nullable),
        |c| appended(c, |items, element| items.push(element)),
    ),
    Function::scalar(
        &["array_prepend"],
        WITH_ELEMENT,
        ResultType::Rule(nullable_elements),
        Nulls::Rule(first_nullable),
        |c| appended(c, |items, element| items.insert(0, element)),
    ),
    Function::scalar(
        &["array_insert"],
        Params::Rule(insert_types),
        ResultType::Rule(inserted_type),
        Nulls::Rule(first_nullable),
        array_insert,
    ),
    Function::scalar(&["array_compact"], ANY, ResultType::Rule(compact_type), Nulls::Propagate, |c| {
        Ok(Value::Array(c.array(0)?.iter().filter(|item| !item.is_null()).cloned().collect()))
    }),
    Function::scalar(
        &["sort_array"],
        Params::Each(&[Param::Any, Param::Is(Simple::Boolean)]),
        ResultType::Arg(0),
        Nulls::Propagate,
        |c| {
            let mut items = c.array(0)?.to_vec();
            items.sort();
            if c.args.len() > 1 && !super::access::boolean(c.arg(1))? {
                items.reverse();
            }
            Ok(Value::Array(items.into()))
        },
    ),
    Function::scalar(&["array_max"], ANY, ResultType::Rule(element_of_first), Nulls::PropagateOrNull, |c| {
        Ok(c.array(0)?.iter().filter(|item| !item.is_null()).max().cloned().unwrap_or(Value::Null))
    }),
    Function::scalar(&["array_min"], ANY, ResultType::Rule(element_of_first), Nulls::PropagateOrNull, |c| {
        Ok(c.array(0)?.iter().filter(|item| !item.is_null()).min().cloned().unwrap_or(Value::Null))
    }),
    Function::scalar(&["array_union"], ARRAYS, ResultType::Arg(0), Nulls::Propagate, |c| {
        let mut seen = HashSet::new();
        let both = c.array(0)?.iter().chain(c.array(1)?.iter());
        Ok(Value::Array(both.filter(|item| seen.insert(*item)).cloned().collect()))
    }),
    Function::scalar(&["array_intersect"], ARRAYS, ResultType::Arg(0), Nulls::Propagate, |c| set_operation(c, true)),
    Function::scalar(&["array_except"], ARRAYS, ResultType::Arg(0), Nulls::Propagate, |c| set_operation(c, false)),
    Function::scalar(&["arrays_overlap"], ARRAYS, BOOLEAN, Nulls::Rule(overlap_nullable), arrays_overlap),
    Function::scalar(&["arrays_zip"], ANY, ResultType::Rule(zip_type), Nulls::Propagate, arrays_zip),
    Function::scalar(&["flatten"], ANY, ResultType::Rule(element_of_first), Nulls::Rule(flatten_nullable), |c| {
        if c.arg(0).is_null() {
            return Ok(Value::Null);
        }
        let mut items = Vec::new();
        for inner in c.array(0)?.iter() {
            if inner.is_null() {
                return Ok(Value::Null);
            }
            items.extend_from_slice(array(inner)?);
        }
        Ok(Value::Array(items.into()))
    }),
    Function::scalar(
        &["slice"],
        Params::Each(&[Param::Any, Param::Is(Simple::Int)]),
        ResultType::Arg(0),
        Nulls::Propagate,
        slice,
    ),
    Function::scalar(
        &["sequence"],
        Params::Rule(sequence_types),
        ResultType::Rule(sequence_type),
        Nulls::Propagate,
        sequence,
    ),
    Function::scalar(
        &["array_repeat"],
        Params::Each(&[Param::Any, Param::Is(Simple::Int)]),
        ResultType::Rule(array_of_first),
        Nulls::Rule(count_nullable),
        |c| {
            if c.arg(1).is_null() {
                return Ok(Value::Null);
            }
            let count = usize::try_from(c.int(1)?.max(0)).unwrap_or(0);
            if count > MAX_ITEMS { Err(too_long()) } else { Ok(Value::Array(vec![c.arg(0).clone(); count].into())) }
        },
    ),
    Function::scalar(&["reverse"], Params::Rule(reverse_types), ResultType::Arg(0), Nulls::Propagate, |c| {
        match c.arg(0) {
            Value::Array(items) => Ok(Value::Array(items.iter().rev().cloned().collect())),
            other => Ok(Value::string(text(other)?.chars().rev().collect::<String>())),
        }
    }),
];

pub(super) fn too_long() -> EvalError {
    EvalError::new("COLLECTION_SIZE_LIMIT_EXCEEDED", "the array would be longer than this engine builds")
}

fn first_nullable(args: &[Argument]) -> bool {
    args.first().is_none_or(|a| a.nullable)
}

fn count_nullable(args: &[Argument]) -> bool {
    args.get(1).is_none_or(|a| a.nullable)
}

pub(super) fn element(data_type: Option<&DataType>) -> Option<(&DataType, bool)> {
    match data_type {
        Some(DataType::Array { element, contains_null }) => Some((element, *contains_null)),
        _ => None,
    }
}

fn array_of(element: DataType, contains_null: bool) -> DataType {
    DataType::Array { element: Box::new(element), contains_null }
}

fn array_type(args: &[Argument]) -> DataType {
    let first = args.first().map_or(DataType::Null, |a| a.data_type.clone());
    array_of(first, args.iter().any(|a| a.nullable))
}

fn array_of_first(args: &[Argument]) -> DataType {
    args.first().map_or(DataType::Unknown, |a| array_of(a.data_type.clone(), a.nullable))
}

fn element_of_first(args: &[Argument]) -> DataType {
    element(args.first().map(|a| &a.data_type)).map_or(DataType::Unknown, |(e, _)| e.clone())
}

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

fn with_element(args: &[Argument]) -> Vec<DataType> {
    let mut types: Vec<DataType> = args.iter().map(|a| a.data_type.clone()).collect();
    if let [DataType::Array { element, .. }, value] = types.as_mut_slice()
        && let Some(wide) = wider_type(element, value)
    {
        **element = wide.clone();
        *value = wide;
    }
    types
}

fn insert_types(args: &[Argument]) -> Vec<DataType> {
    let mut types: Vec<DataType> = args.iter().map(|a| a.data_type.clone()).collect();
    if let [DataType::Array { element, .. }, position, value] = types.as_mut_slice() {
        *position = implicit_cast(Param::Is(Simple::Int), position);
        if let Some(wide) = wider_type(element, value) {
            **element = wide.clone();
            *value = wide;
        }
    }
    types
}

fn nullable_elements(args: &[Argument]) -> DataType {
    match element(args.first().map(|a| &a.data_type)) {
        Some((e, contains_null)) => array_of(e.clone(), contains_null || args.get(1).is_none_or(|a| a.nullable)),
        None => DataType::Unknown,
    }
}

fn inserted_type(args: &[Argument]) -> DataType {
    element(args.first().map(|a| &a.data_type)).map_or(DataType::Unknown, |(e, _)| array_of(e.clone(), true))
}

fn compact_type(args: &[Argument]) -> DataType {
    element(args.first().map(|a| &a.data_type)).map_or(DataType::Unknown, |(e, _)| array_of(e.clone(), false))
}

fn contains_nullable(args: &[Argument]) -> bool {
    args.iter().any(|a| a.nullable) || element(args.first().map(|a| &a.data_type)).is_none_or(|(_, nulls)| nulls)
}

fn overlap_nullable(args: &[Argument]) -> bool {
    args.iter().any(|a| a.nullable || element(Some(&a.data_type)).is_none_or(|(_, nulls)| nulls))
}

fn flatten_nullable(args: &[Argument]) -> bool {
    contains_nullable(args)
}

/// True if some outcome is, else NULL if some is unknown.
pub(super) fn three_valued(outcomes: impl Iterator<Item = Option<bool>>) -> Value {
    let mut unknown = false;
    for outcome in outcomes {
        match outcome {
            Some(true) => return Value::Boolean(true),
            Some(false) => {}
            None => unknown = true,
        }
    }
    if unknown { Value::Null } else { Value::Boolean(false) }
}

fn appended(call: &Invocation, put: fn(&mut Vec<Value>, Value)) -> EvalResult {
    if call.arg(0).is_null() {
        return Ok(Value::Null);
    }
    let mut items = call.array(0)?.to_vec();
    put(&mut items, call.arg(1).clone());
    Ok(Value::Array(items.into()))
}

/// Positions count from 1, or from the end, where -1 puts the element last; gaps are filled with NULL.
fn array_insert(call: &Invocation) -> EvalResult {
    if call.arg(0).is_null() || call.arg(1).is_null() {
        return Ok(Value::Null);
    }
    let mut items = call.array(0)?.to_vec();
    let position = call.int(1)?;
    let distance = usize::try_from(position.unsigned_abs()).unwrap_or(usize::MAX);
    if position == 0 {
        return Err(EvalError::new("INVALID_INDEX_OF_ZERO", "the index 0 is invalid; indices start at 1 or end at -1"));
    }
    if distance > MAX_ITEMS {
        return Err(too_long());
    }
    if position > 0 {
        while items.len() + 1 < distance {
            items.push(Value::Null);
        }
        items.insert(distance - 1, call.arg(2).clone());
    } else {
        while items.len() + 1 < distance {
            items.insert(0, Value::Null);
        }
        items.insert(items.len() + 1 - distance, call.arg(2).clone());
    }
    Ok(Value::Array(items.into()))
}

fn join_types(args: &[Argument]) -> Vec<DataType> {
    args.iter()
        .map(|a| match &a.data_type {
            DataType::Array { contains_null, .. } => array_of(DataType::String, *contains_null),
            other => implicit_cast(Param::Is(Simple::String), other),
        })
        .collect()
}

/// NULL elements are left out, or shown as the third argument says.
fn array_join(call: &Invocation) -> EvalResult {
    let separator = call.text(1)?;
    let mut parts = Vec::new();
    for item in call.array(0)?.iter() {
        match item {
            Value::Null if call.args.len() > 2 => parts.push(call.text(2)?),
            Value::Null => {}
            other => parts.push(text(other)?),
        }
    }
    Ok(Value::string(parts.join(separator)))
}

/// Distinct elements of the first array that are (or are not) in the second.
fn set_operation(call: &Invocation, inside: bool) -> EvalResult {
    let other: HashSet<&Value> = call.array(1)?.iter().collect();
    let mut seen = HashSet::new();
    let kept = call.array(0)?.iter().filter(|item| other.contains(item) == inside && seen.insert(*item));
    Ok(Value::Array(kept.cloned().collect()))
}

fn arrays_overlap(call: &Invocation) -> EvalResult {
    if call.arg(0).is_null() || call.arg(1).is_null() {
        return Ok(Value::Null);
    }
    let (a, b) = (call.array(0)?, call.array(1)?);
    let left: HashSet<&Value> = a.iter().filter(|item| !item.is_null()).collect();
    if b.iter().any(|item| left.contains(item)) {
        return Ok(Value::Boolean(true));
    }
    let unknown = !a.is_empty() && !b.is_empty() && a.iter().chain(b.iter()).any(Value::is_null);
    Ok(if unknown { Value::Null } else { Value::Boolean(false) })
}

fn zip_type(args: &[Argument]) -> DataType {
    let fields = args
        .iter()
        .enumerate()
        .map(|(index, arg)| {
            let name = arg.name.as_ref().map_or_else(|| index.to_string(), |name| name.to_string());
            Field::new(name, element(Some(&arg.data_type)).map_or(DataType::Unknown, |(e, _)| e.clone()))
        })
        .collect();
    array_of(DataType::Struct(fields), false)
}

fn arrays_zip(call: &Invocation) -> EvalResult {
    let arrays: Vec<_> = call.args.iter().map(array).collect::<Result<_, _>>()?;
    let longest = arrays.iter().map(|a| a.len()).max().unwrap_or(0);
    let row =
        |index: usize| Value::Struct(arrays.iter().map(|a| a.get(index).cloned().unwrap_or(Value::Null)).collect());
    Ok(Value::Array((0..longest).map(row).collect()))
}

fn slice(call: &Invocation) -> EvalResult {
    let items = call.array(0)?;
    let (start, length) = (call.int(1)?, call.int(2)?);
    if start == 0 {
        return Err(EvalError::new("INVALID_PARAMETER_VALUE.START", "the start of slice must not be 0"));
    }
    let Ok(length) = usize::try_from(length) else {
        return Err(EvalError::new("INVALID_PARAMETER_VALUE.LENGTH", "the length of slice must not be negative"));
    };
    let distance = usize::try_from(start.unsigned_abs()).unwrap_or(usize::MAX);
    let skip = if start > 0 {
        distance - 1
    } else {
        match items.len().checked_sub(distance) {
            Some(skip) => skip,
            None => return Ok(Value::Array([].into())),
        }
    };
    Ok(Value::Array(items.iter().skip(skip).take(length).cloned().collect()))
}

/// Start and stop of one type; the step of an integral sequence too.
fn sequence_types(args: &[Argument]) -> Vec<DataType> {
    let bounds: Vec<DataType> = args.iter().take(2).map(|a| a.data_type.clone()).collect();
    let integral = bounds.iter().all(DataType::is_integral);
    if integral {
        return common_from(args, 0);
    }
    let wide = common_type(&bounds);
    args.iter()
        .enumerate()
        .map(|(index, a)| match (&wide, index) {
            (Some(wide), 0 | 1) => wide.clone(),
            _ => a.data_type.clone(),
        })
        .collect()
}

fn sequence_type(args: &[Argument]) -> DataType {
    args.first().map_or(DataType::Unknown, |a| array_of(a.data_type.clone(), false))
}

fn boundary() -> EvalError {
    EvalError::new("IllegalArgumentException", "the step of the sequence leads away from its end")
}

fn sequence(call: &Invocation) -> EvalResult {
    let (start, stop) = (call.arg(0), call.arg(1));
    match start {
        Value::Date(_) | Value::Timestamp(_) | Value::TimestampNtz(_) => datetime_sequence(call, start, stop),
        _ => {
            let (first, last) = (super::access::long(start)?, super::access::long(stop)?);
            let step = if call.args.len() > 2 {
                call.long(2)?
            } else if first <= last {
                1
            } else {
                -1
            };
            if step == 0 && first != last || step > 0 && first > last || step < 0 && first < last {
                return Err(boundary());
            }
            let element = element(Some(call.result)).map_or(&DataType::Long, |(e, _)| e);
            let mut items = Vec::new();
            let mut at = first;
            loop {
                if items.len() >= MAX_ITEMS {
                    return Err(too_long());
                }
                items.extend(super::cast::narrow(at, element));
                match at.checked_add(step) {
                    Some(next) if step != 0 && (step > 0 && next <= last || step < 0 && next >= last) => at = next,
                    _ => return Ok(Value::Array(items.into())),
                }
            }
        }
    }
}

fn datetime_sequence(call: &Invocation, start: &Value, stop: &Value) -> EvalResult {
    use super::interval::{Interval, add_to_date, add_to_timestamp};
    let ascending = start <= stop;
    let step = match call.args.get(2) {
        Some(step) => Interval::of(step)?,
        None => Interval { days: if ascending { 1 } else { -1 }, ..Interval::default() },
    };
    let approximate = i128::from(step.months) * 28 * 86_400_000_000
        + i128::from(step.days) * 86_400_000_000
        + i128::from(step.micros);
    if approximate == 0 || (start != stop && ascending != (approximate > 0)) {
        return Err(boundary());
    }
    let utc = jiff::tz::TimeZone::UTC;
    let scaled = |index: i32| {
        Some(Interval {
            months: step.months.checked_mul(index)?,
            days: step.days.checked_mul(index)?,
            micros: step.micros.checked_mul(i64::from(index))?,
        })
    };
    let at = |index: i32| {
        let by = scaled(index)?;
        Some(match start {
            Value::Date(days) if by.micros == 0 => Value::Date(add_to_date(*days, by)?),
            Value::Date(days) => {
                let micros =
                    add_to_timestamp(i64::from(*days).checked_mul(super::calendar::MICROS_PER_DAY)?, by, &utc)?;
                Value::Date(i32::try_from(micros.div_euclid(super::calendar::MICROS_PER_DAY)).ok()?)
            }
            Value::TimestampNtz(micros) => Value::TimestampNtz(add_to_timestamp(*micros, by, &utc)?),
            other => Value::Timestamp(add_to_timestamp(super::access::long(other).ok()?, by, &call.context.zone)?),
        })
    };
    let mut items = Vec::new();
    for index in 0.. {
        let Some(next) = at(index) else { break };
        if if approximate > 0 { next > *stop } else { next < *stop } {
            break;
        }
        if items.len() >= MAX_ITEMS {
            return Err(too_long());
        }
        items.push(next);
    }
    Ok(Value::Array(items.into()))
}

fn reverse_types(args: &[Argument]) -> Vec<DataType> {
    args.iter()
        .map(|a| match &a.data_type {
            DataType::Array { .. } => a.data_type.clone(),
            other => implicit_cast(Param::Is(Simple::String), other),
        })
        .collect()
}
