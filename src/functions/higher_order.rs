//! Functions that take lambdas: `transform`, `filter`, `exists`, `forall`, `aggregate`, `zip_with`, map functions, `array_sort`.
//!
//! The caller evaluates the lambda's body; see [`super::LambdaCallback`].

use super::access::{boolean, int};
use super::array::{MAX_ITEMS, three_valued, too_long};
use super::function::{
    Argument, EvalError, EvalResult, Function, Invocation, Nulls, Param, Params, ResultType, Simple,
};
use super::map::{build, parts};
use crate::model::{DataType, Value};
use std::cmp::Ordering;

const SECOND: Params = Params::Each(&[Param::Any, Param::Lambda]);
const BOOLEAN: ResultType = ResultType::Is(Simple::Boolean);

pub(super) static FUNCTIONS: &[Function] = &[
    Function::scalar(&["transform"], SECOND, ResultType::Rule(array_of_body), Nulls::Rule(first_nullable), |c| {
        each(c, |c, index, item| c.apply(1, &[item.clone(), position(index)]))
    }),
    Function::scalar(&["filter"], SECOND, ResultType::Arg(0), Nulls::Rule(first_nullable), filter),
    Function::scalar(&["exists", "any_match"], SECOND, BOOLEAN, Nulls::Rule(predicate_nullable), |c| {
        if c.arg(0).is_null() {
            return Ok(Value::Null);
        }
        Ok(three_valued(outcomes(c)?.into_iter()))
    }),
    Function::scalar(&["forall", "all_match"], SECOND, BOOLEAN, Nulls::Rule(predicate_nullable), |c| {
        if c.arg(0).is_null() {
            return Ok(Value::Null);
        }
        let refuted = three_valued(outcomes(c)?.into_iter().map(|outcome| outcome.map(|holds| !holds)));
        Ok(match refuted {
            Value::Boolean(found) => Value::Boolean(!found),
            unknown => unknown,
        })
    }),
    Function::scalar(
        &["aggregate", "reduce"],
        Params::Each(&[Param::Any, Param::Any, Param::Lambda]),
        ResultType::Rule(last_body),
        Nulls::Possible,
        |c| {
            if c.arg(0).is_null() {
                return Ok(Value::Null);
            }
            let mut accumulator = c.arg(1).clone();
            for item in c.array(0)?.iter() {
                accumulator = c.apply(2, &[accumulator, item.clone()])?;
            }
            if c.args.len() > 3 { c.apply(3, &[accumulator]) } else { Ok(accumulator) }
        },
    ),
    Function::scalar(
        &["zip_with"],
        Params::Each(&[Param::Any, Param::Any, Param::Lambda]),
        ResultType::Rule(zip_type),
        Nulls::Rule(|args| args.iter().take(2).any(|a| a.nullable)),
        zip_with,
    ),
    Function::scalar(&["map_filter"], SECOND, ResultType::Arg(0), Nulls::Rule(first_nullable), |c| {
        if c.arg(0).is_null() {
            return Ok(Value::Null);
        }
        let mut kept = Vec::new();
        for (key, value) in c.map(0)?.iter() {
            if holds(&c.apply(1, &[key.clone(), value.clone()])?)? == Some(true) {
                kept.push((key.clone(), value.clone()));
            }
        }
        Ok(Value::Map(kept.into()))
    }),
    Function::scalar(&["transform_keys"], SECOND, ResultType::Rule(keys_type), Nulls::Rule(first_nullable), |c| {
        let mapped = entries(c, |c, key, value| Ok((c.apply(1, &[key.clone(), value.clone()])?, value.clone())))?;
        mapped.map_or(Ok(Value::Null), |pairs| build(pairs.into_iter()))
    }),
    Function::scalar(&["transform_values"], SECOND, ResultType::Rule(values_type), Nulls::Rule(first_nullable), |c| {
        let mapped = entries(c, |c, key, value| Ok((key.clone(), c.apply(1, &[key.clone(), value.clone()])?)))?;
        Ok(mapped.map_or(Value::Null, |pairs| Value::Map(pairs.into())))
    }),
    Function::scalar(
        &["map_zip_with"],
        Params::Each(&[Param::Any, Param::Any, Param::Lambda]),
        ResultType::Rule(map_zip_type),
        Nulls::Rule(|args| args.iter().take(2).any(|a| a.nullable)),
        map_zip_with,
    ),
    Function::scalar(&["array_sort"], SECOND, ResultType::Arg(0), Nulls::Rule(first_nullable), array_sort),
];

fn first_nullable(args: &[Argument]) -> bool {
    args.first().is_none_or(|a| a.nullable)
}

/// Three-valued logic: NULL outcomes of the predicate show through.
fn predicate_nullable(args: &[Argument]) -> bool {
    args.iter().any(|a| a.nullable)
}

fn position(index: usize) -> Value {
    Value::Int(i32::try_from(index).unwrap_or(i32::MAX))
}

fn holds(outcome: &Value) -> Result<Option<bool>, EvalError> {
    if outcome.is_null() { Ok(None) } else { boolean(outcome).map(Some) }
}

fn array_of_body(args: &[Argument]) -> DataType {
    match args.get(1) {
        Some(body) => DataType::Array { element: Box::new(body.data_type.clone()), contains_null: body.nullable },
        None => DataType::Unknown,
    }
}

fn last_body(args: &[Argument]) -> DataType {
    match args.get(3).or(args.get(1)) {
        Some(last) => last.data_type.clone(),
        None => DataType::Unknown,
    }
}

fn zip_type(args: &[Argument]) -> DataType {
    match args.get(2) {
        Some(body) => DataType::Array { element: Box::new(body.data_type.clone()), contains_null: body.nullable },
        None => DataType::Unknown,
    }
}

fn keys_type(args: &[Argument]) -> DataType {
    match (parts(args.first().map(|a| &a.data_type)), args.get(1)) {
        (Some((_, value, nulls)), Some(body)) => DataType::Map {
            key: Box::new(body.data_type.clone()),
            value: Box::new(value.clone()),
            value_contains_null: nulls,
        },
        _ => DataType::Unknown,
    }
}

fn values_type(args: &[Argument]) -> DataType {
    match (parts(args.first().map(|a| &a.data_type)), args.get(1)) {
        (Some((key, _, _)), Some(body)) => DataType::Map {
            key: Box::new(key.clone()),
            value: Box::new(body.data_type.clone()),
            value_contains_null: body.nullable,
        },
        _ => DataType::Unknown,
    }
}

fn map_zip_type(args: &[Argument]) -> DataType {
    match (parts(args.first().map(|a| &a.data_type)), args.get(2)) {
        (Some((key, _, _)), Some(body)) => DataType::Map {
            key: Box::new(key.clone()),
            value: Box::new(body.data_type.clone()),
            value_contains_null: body.nullable,
        },
        _ => DataType::Unknown,
    }
}

fn each(call: &Invocation, apply: impl Fn(&Invocation, usize, &Value) -> EvalResult) -> EvalResult {
    if call.arg(0).is_null() {
        return Ok(Value::Null);
    }
    let mapped: Result<Vec<Value>, EvalError> =
        call.array(0)?.iter().enumerate().map(|(index, item)| apply(call, index, item)).collect();
    Ok(Value::Array(mapped?.into()))
}

fn filter(call: &Invocation) -> EvalResult {
    if call.arg(0).is_null() {
        return Ok(Value::Null);
    }
    let mut kept = Vec::new();
    for (index, item) in call.array(0)?.iter().enumerate() {
        if holds(&call.apply(1, &[item.clone(), position(index)])?)? == Some(true) {
            kept.push(item.clone());
        }
    }
    Ok(Value::Array(kept.into()))
}

fn outcomes(call: &Invocation) -> Result<Vec<Option<bool>>, EvalError> {
    call.array(0)?.iter().map(|item| holds(&call.apply(1, std::slice::from_ref(item))?)).collect()
}

/// The shorter array counts as filled up with NULL.
fn zip_with(call: &Invocation) -> EvalResult {
    if call.arg(0).is_null() || call.arg(1).is_null() {
        return Ok(Value::Null);
    }
    let (left, right) = (call.array(0)?, call.array(1)?);
    let longest = left.len().max(right.len());
    if longest > MAX_ITEMS {
        return Err(too_long());
    }
    let at = |items: &[Value], index: usize| items.get(index).cloned().unwrap_or(Value::Null);
    let zipped: Result<Vec<Value>, EvalError> =
        (0..longest).map(|index| call.apply(2, &[at(left, index), at(right, index)])).collect();
    Ok(Value::Array(zipped?.into()))
}

type Pairs = Vec<(Value, Value)>;

fn entries(
    call: &Invocation,
    apply: impl Fn(&Invocation, &Value, &Value) -> Result<(Value, Value), EvalError>,
) -> Result<Option<Pairs>, EvalError> {
    if call.arg(0).is_null() {
        return Ok(None);
    }
    call.map(0)?.iter().map(|(key, value)| apply(call, key, value)).collect::<Result<Pairs, _>>().map(Some)
}

/// Keys of the first map, then those that only the second has.
fn map_zip_with(call: &Invocation) -> EvalResult {
    if call.arg(0).is_null() || call.arg(1).is_null() {
        return Ok(Value::Null);
    }
    let (left, right) = (call.map(0)?, call.map(1)?);
    let find = |entries: &[(Value, Value)], key: &Value| {
        entries.iter().find(|(k, _)| k == key).map_or(Value::Null, |(_, v)| v.clone())
    };
    let only_right = right.iter().filter(|(key, _)| !left.iter().any(|(k, _)| k == key));
    let mut merged = Vec::new();
    for (key, _) in left.iter().chain(only_right) {
        let value = call.apply(2, &[key.clone(), find(left, key), find(right, key)])?;
        merged.push((key.clone(), value));
    }
    Ok(Value::Map(merged.into()))
}

/// NULLs come last; with a comparator the order is the comparator's, whatever it says.
fn array_sort(call: &Invocation) -> EvalResult {
    if call.arg(0).is_null() {
        return Ok(Value::Null);
    }
    let mut items = call.array(0)?.to_vec();
    if call.args.len() < 2 {
        items.sort_by(|a, b| a.is_null().cmp(&b.is_null()).then_with(|| a.cmp(b)));
        return Ok(Value::Array(items.into()));
    }
    merge_sort(&mut items, &|a, b| {
        let outcome = call.apply(1, &[a.clone(), b.clone()])?;
        if outcome.is_null() {
            return Err(EvalError::new("COMPARATOR_RETURNS_NULL", "the comparator of array_sort gave NULL"));
        }
        Ok(int(&outcome)?.cmp(&0))
    })?;
    Ok(Value::Array(items.into()))
}

/// A user's comparator may contradict itself, on which the standard library's sort may panic; this one only gives some order.
fn merge_sort(
    items: &mut Vec<Value>,
    compare: &dyn Fn(&Value, &Value) -> Result<Ordering, EvalError>,
) -> Result<(), EvalError> {
    if items.len() < 2 {
        return Ok(());
    }
    let mut right = items.split_off(items.len() / 2);
    merge_sort(items, compare)?;
    merge_sort(&mut right, compare)?;
    let mut merged = Vec::with_capacity(items.len() + right.len());
    let mut left = std::mem::take(items).into_iter().peekable();
    let mut right = right.into_iter().peekable();
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let from_right = compare(a, b)?.is_gt();
        merged.extend(if from_right { right.next() } else { left.next() });
    }
    merged.extend(left);
    merged.extend(right);
    *items = merged;
    Ok(())
}
