//! `first`, `last`, `any_value`.

use super::buffer::{get, set, set_at};
use super::{Aggregate, AggregateCall, entry};
use crate::functions::access::boolean;
use crate::functions::function::{Argument, Function, Nulls, Param, Params, ResultType, Simple};
use crate::model::{DataType, Field, Value};

const VALUE_AND_FLAG: Params = Params::Each(&[Param::Any, Param::Is(Simple::Boolean)]);

pub(super) static FUNCTIONS: &[Function] = &[
    entry(&["first", "first_value"], VALUE_AND_FLAG, ResultType::Arg(0), Nulls::Possible, &FIRST),
    entry(&["any_value"], VALUE_AND_FLAG, ResultType::Arg(0), Nulls::Possible, &FIRST),
    entry(&["last", "last_value"], VALUE_AND_FLAG, ResultType::Arg(0), Nulls::Possible, &LAST),
];

fn buffer_schema(name: &str, args: &[Argument]) -> Vec<Field> {
    let data_type = args.first().map_or(DataType::Unknown, |a| a.data_type.clone());
    vec![Field::new(name, data_type), Field::not_null("valueSet", DataType::Boolean)]
}

fn ignores_nulls(args: &[Value], call: &AggregateCall) -> bool {
    call.ignore_nulls || args.get(1).is_some_and(|flag| boolean(flag).unwrap_or(false))
}

fn is_set(buffer: &[Value]) -> bool {
    matches!(get(buffer, 1), Value::Boolean(true))
}

fn put(buffer: &mut [Value], value: &Value) {
    set(buffer, value.clone());
    set_at(buffer, 1, Value::Boolean(true));
}

static FIRST: Aggregate = Aggregate {
    buffer: |args| buffer_schema("first", args),
    initialize: |_| vec![Value::Null, Value::Boolean(false)],
    update: |buffer, args, call| {
        let value = get(args, 0);
        let skipped = value.is_null() && ignores_nulls(args, call);
        if !is_set(buffer) && !skipped {
            put(buffer, value);
        }
        Ok(())
    },
    merge: |buffer, other, _| {
        if !is_set(buffer) && is_set(other) {
            put(buffer, get(other, 0));
        }
        Ok(())
    },
    finish: |buffer, _| Ok(get(buffer, 0).clone()),
};

static LAST: Aggregate = Aggregate {
    buffer: |args| buffer_schema("last", args),
    update: |buffer, args, call| {
        let value = get(args, 0);
        if !(value.is_null() && ignores_nulls(args, call)) {
            put(buffer, value);
        }
        Ok(())
    },
    merge: |buffer, other, _| {
        if is_set(other) {
            put(buffer, get(other, 0));
        }
        Ok(())
    },
    ..FIRST
};
