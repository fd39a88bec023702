//! Arrays: construction and array functions. Maps are in `map`, lambdas in `higher_order`, elements taken out in `extract_value`.

use super::access::{array, int_length, text};
use super::coercion::{implicit_cast, wider_type};
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
            let inner = array(inner)?;
            if items.len() + inner.len() > MAX_ITEMS {
                return Err(too_long());
            }
            items.extend_from_slice(inner);
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

pub(super) fn array_of(element: DataType, contains_null: bool) -> DataType {
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
    super::string::joined(&parts, separator)
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

fn reverse_types(args: &[Argument]) -> Vec<DataType> {
    args.iter()
        .map(|a| match &a.data_type {
            DataType::Array { .. } => a.data_type.clone(),
            other => implicit_cast(Param::Is(Simple::String), other),
        })
        .collect()
}
