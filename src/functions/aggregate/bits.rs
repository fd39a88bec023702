//! `bit_and`, `bit_or`, `bit_xor`.

use super::buffer::{get, set};
use super::{Aggregate, entry};
use crate::functions::access::long;
use crate::functions::cast::narrow;
use crate::functions::function::{Argument, EvalError, Function, Nulls, Param, Params, ResultType};
use crate::model::{DataType, Field, Value};

const INTEGRAL: Params = Params::Each(&[Param::Integral]);

pub(super) static FUNCTIONS: &[Function] = &[
    entry(&["bit_and"], INTEGRAL, ResultType::Arg(0), Nulls::Possible, &BIT_AND),
    entry(&["bit_or"], INTEGRAL, ResultType::Arg(0), Nulls::Possible, &BIT_OR),
    entry(&["bit_xor"], INTEGRAL, ResultType::Arg(0), Nulls::Possible, &BIT_XOR),
];

fn schema(name: &str, args: &[Argument]) -> Vec<Field> {
    vec![Field::new(name, args.first().map_or(DataType::Unknown, |a| a.data_type.clone()))]
}

fn combine(
    buffer: &mut [Value],
    value: &Value,
    result: &DataType,
    operation: fn(i64, i64) -> i64,
) -> Result<(), EvalError> {
    if value.is_null() {
        return Ok(());
    }
    let combined = match get(buffer, 0) {
        Value::Null => value.clone(),
        old => narrow(operation(long(old)?, long(value)?), result).unwrap_or(Value::Null),
    };
    set(buffer, combined);
    Ok(())
}

static BIT_AND: Aggregate = Aggregate {
    buffer: |args| schema("bit_and", args),
    initialize: |_| vec![Value::Null],
    update: |buffer, args, call| combine(buffer, get(args, 0), call.result, |a, b| a & b),
    merge: |buffer, other, call| combine(buffer, get(other, 0), call.result, |a, b| a & b),
    finish: |buffer, _| Ok(get(buffer, 0).clone()),
};

static BIT_OR: Aggregate = Aggregate {
    buffer: |args| schema("bit_or", args),
    update: |buffer, args, call| combine(buffer, get(args, 0), call.result, |a, b| a | b),
    merge: |buffer, other, call| combine(buffer, get(other, 0), call.result, |a, b| a | b),
    ..BIT_AND
};

static BIT_XOR: Aggregate = Aggregate {
    buffer: |args| schema("bit_xor", args),
    update: |buffer, args, call| combine(buffer, get(args, 0), call.result, |a, b| a ^ b),
    merge: |buffer, other, call| combine(buffer, get(other, 0), call.result, |a, b| a ^ b),
    ..BIT_AND
};
