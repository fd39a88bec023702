//! `min`, `max`, `bool_and`, `bool_or`, `min_by`, `max_by`.

use super::buffer::{get, set, set_at};
use super::{Aggregate, entry};
use crate::functions::function::{Argument, Function, Nulls, Param, Params, ResultType, Simple};
use crate::model::{DataType, Field, Value};
use std::cmp::Ordering;

const ANY: Params = Params::Each(&[Param::Any]);
const BOOLEAN: Params = Params::Each(&[Param::Is(Simple::Boolean)]);

pub(super) static FUNCTIONS: &[Function] = &[
    entry(&["min"], ANY, ResultType::Arg(0), Nulls::Possible, &MIN),
    entry(&["max"], ANY, ResultType::Arg(0), Nulls::Possible, &MAX),
    entry(&["bool_and", "every"], BOOLEAN, ResultType::Is(Simple::Boolean), Nulls::Possible, &MIN),
    entry(&["bool_or", "some", "any"], BOOLEAN, ResultType::Is(Simple::Boolean), Nulls::Possible, &MAX),
    entry(&["min_by"], ANY, ResultType::Arg(0), Nulls::Possible, &MIN_BY),
    entry(&["max_by"], ANY, ResultType::Arg(0), Nulls::Possible, &MAX_BY),
];

fn argument_type(args: &[Argument], index: usize) -> DataType {
    args.get(index).map_or(DataType::Unknown, |a| a.data_type.clone())
}

/// Keeps the candidate if it beats what is there.
fn keep(buffer: &mut [Value], candidate: &Value, wanted: Ordering) {
    let old = get(buffer, 0);
    if !candidate.is_null() && (old.is_null() || candidate.cmp(old) == wanted) {
        set(buffer, candidate.clone());
    }
}

static MIN: Aggregate = Aggregate {
    buffer: |args| vec![Field::new("min", argument_type(args, 0))],
    initialize: |_| vec![Value::Null],
    update: |buffer, args, _| {
        keep(buffer, get(args, 0), Ordering::Less);
        Ok(())
    },
    merge: |buffer, other, _| {
        keep(buffer, get(other, 0), Ordering::Less);
        Ok(())
    },
    finish: |buffer, _| Ok(get(buffer, 0).clone()),
};

static MAX: Aggregate = Aggregate {
    buffer: |args| vec![Field::new("max", argument_type(args, 0))],
    update: |buffer, args, _| {
        keep(buffer, get(args, 0), Ordering::Greater);
        Ok(())
    },
    merge: |buffer, other, _| {
        keep(buffer, get(other, 0), Ordering::Greater);
        Ok(())
    },
    ..MIN
};

/// The buffer stays only where its ordering is strictly better: at a tie the later row wins, as in Catalyst's `MaxMinBy`.
fn keep_by(buffer: &mut [Value], candidate: &[Value], wanted: Ordering) {
    let ordering = get(candidate, 1);
    let old = get(buffer, 1);
    if !ordering.is_null() && (old.is_null() || old.cmp(ordering) != wanted) {
        set(buffer, get(candidate, 0).clone());
        set_at(buffer, 1, ordering.clone());
    }
}

static MAX_BY: Aggregate = Aggregate {
    buffer: |args| {
        vec![
            Field::new("valueWithExtremumOrdering", argument_type(args, 0)),
            Field::new("extremumOrdering", argument_type(args, 1)),
        ]
    },
    initialize: |_| vec![Value::Null, Value::Null],
    update: |buffer, args, _| {
        keep_by(buffer, args, Ordering::Greater);
        Ok(())
    },
    merge: |buffer, other, _| {
        keep_by(buffer, other, Ordering::Greater);
        Ok(())
    },
    finish: |buffer, _| Ok(get(buffer, 0).clone()),
};

static MIN_BY: Aggregate = Aggregate {
    update: |buffer, args, _| {
        keep_by(buffer, args, Ordering::Less);
        Ok(())
    },
    merge: |buffer, other, _| {
        keep_by(buffer, other, Ordering::Less);
        Ok(())
    },
    ..MAX_BY
};
