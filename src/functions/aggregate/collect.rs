//! `collect_list`, `collect_set`, `array_agg`, `listagg`.

use super::buffer::{self, Format, append, empty_list, items, push};
use super::{Aggregate, AggregateCall, entry};
use crate::functions::access::bytes;
use crate::functions::function::{Argument, EvalResult, Function, Nulls, Param, Params, ResultType};
use crate::model::{DataType, Value};
use std::collections::HashSet;

const ANY: Params = Params::Each(&[Param::Any]);
const LIST_TYPE: ResultType = ResultType::Rule(list_type);

pub(super) static FUNCTIONS: &[Function] = &[
    entry(&["collect_list", "array_agg"], ANY, LIST_TYPE, Nulls::Never, &LIST),
    entry(&["collect_set"], ANY, LIST_TYPE, Nulls::Never, &SET),
    entry(
        &["listagg", "string_agg"],
        Params::Each(&[Param::StringOrBinary]),
        ResultType::Arg(0),
        Nulls::Possible,
        &LISTAGG,
    ),
];

fn list_type(args: &[Argument]) -> DataType {
    match args.first() {
        None => DataType::Unknown,
        Some(arg) => DataType::Array { element: Box::new(arg.data_type.clone()), contains_null: false },
    }
}

static LIST: Aggregate = Aggregate {
    buffer: buffer::schema,
    initialize: |_| empty_list(Format::List),
    update: |buffer, args, _| match args.first() {
        None | Some(Value::Null) => Ok(()),
        Some(value) => push(Format::List, buffer, value.clone()),
    },
    merge: |buffer, other, _| append(Format::List, buffer, other),
    finish: |buffer, _| Ok(Value::Array(items(Format::List, buffer.first())?.into())),
};

/// Same layout as the list: that is why a restart takes one for the other. Doubles go when the result is made.
static SET: Aggregate = Aggregate {
    finish: |buffer, _| {
        let mut seen = HashSet::new();
        let distinct: Vec<Value> =
            items(Format::List, buffer.first())?.iter().filter(|v| seen.insert(*v)).cloned().collect();
        Ok(Value::Array(distinct.into()))
    },
    ..LIST
};

/// Items are kept as (value, delimiter).
static LISTAGG: Aggregate = Aggregate {
    buffer: buffer::schema,
    initialize: |_| empty_list(Format::Text),
    update: |buffer, args, _| match args.first() {
        None | Some(Value::Null) => Ok(()),
        Some(value) => {
            let delimiter = args.get(1).cloned().unwrap_or(Value::Null);
            push(Format::Text, buffer, Value::Struct([value.clone(), delimiter].into()))
        }
    },
    merge: |buffer, other, _| append(Format::Text, buffer, other),
    finish: join,
};

fn join(buffer: &[Value], call: &AggregateCall) -> EvalResult {
    let list = items(Format::Text, buffer.first())?;
    if list.is_empty() {
        return Ok(Value::Null);
    }
    let mut out: Vec<u8> = Vec::new();
    for (index, item) in list.iter().enumerate() {
        let Value::Struct(parts) = item else { continue };
        let [value, delimiter] = parts.as_ref() else { continue };
        if index > 0 && !delimiter.is_null() {
            out.extend_from_slice(bytes(delimiter)?);
        }
        out.extend_from_slice(bytes(value)?);
    }
    Ok(match call.result {
        DataType::Binary => Value::Binary(out.into()),
        _ => Value::string(String::from_utf8_lossy(&out).into_owned()),
    })
}
