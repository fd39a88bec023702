//! `count`, `count_if`.

use super::buffer::{get, set};
use super::{Aggregate, AggregateCall, entry};
use crate::functions::access::{boolean, long};
use crate::functions::function::{EvalError, Function, Nulls, Param, Params, ResultType, Simple};
use crate::model::{DataType, Field, Value};

const LONG: ResultType = ResultType::Is(Simple::Long);

pub(super) static FUNCTIONS: &[Function] = &[
    entry(&["count"], Params::Each(&[Param::Any]), LONG, Nulls::Never, &COUNT),
    entry(&["count_if"], Params::Each(&[Param::Is(Simple::Boolean)]), LONG, Nulls::Never, &COUNT_IF),
    entry(&["regr_count"], Params::Each(&[Param::Is(Simple::Double)]), LONG, Nulls::Never, &COUNT),
];

static COUNT: Aggregate = Aggregate {
    buffer: |_| vec![Field::not_null("count", DataType::Long)],
    initialize: |_| vec![Value::Long(0)],
    update: |buffer, args, _| if args.iter().any(Value::is_null) { Ok(()) } else { add(buffer, 1) },
    merge,
    finish: |buffer, _| Ok(get(buffer, 0).clone()),
};

static COUNT_IF: Aggregate = Aggregate {
    update: |buffer, args, _| match args.first() {
        None | Some(Value::Null) => Ok(()),
        Some(value) if boolean(value)? => add(buffer, 1),
        Some(_) => Ok(()),
    },
    ..COUNT
};

fn add(buffer: &mut [Value], amount: i64) -> Result<(), EvalError> {
    // State taken over from a `sum` may hold NULL.
    let old = if get(buffer, 0).is_null() { 0 } else { long(get(buffer, 0))? };
    set(buffer, Value::Long(old.wrapping_add(amount)));
    Ok(())
}

fn merge(buffer: &mut [Value], other: &[Value], _: &AggregateCall) -> Result<(), EvalError> {
    match get(other, 0) {
        Value::Null => Ok(()),
        count => add(buffer, long(count)?),
    }
}
