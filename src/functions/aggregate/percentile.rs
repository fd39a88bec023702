//! `percentile`, `median`, `percentile_cont`, `percentile_disc`, `approx_percentile`, `mode`.
//!
//! All keep values with counts. `approx_percentile` keeps every value too, so its answer is exact, which is within its bound.

use super::buffer::{self, Format, append, empty_list, get, items, push};
use super::{Aggregate, AggregateCall, entry};
use crate::functions::access::{double, long};
use crate::functions::function::{Argument, EvalError, EvalResult, Function, Nulls, Param, Params, ResultType};
use crate::model::{DataType, Value};
use std::collections::BTreeMap;

const VALUE_THEN_ANY: Params = Params::Rule(number_then_any);

pub(super) static FUNCTIONS: &[Function] = &[
    entry(&["percentile"], VALUE_THEN_ANY, ResultType::Rule(percentile_type), Nulls::Possible, &PERCENTILE),
    entry(&["median"], VALUE_THEN_ANY, ResultType::Rule(percentile_type), Nulls::Possible, &MEDIAN),
    entry(&["percentile_cont"], VALUE_THEN_ANY, ResultType::Rule(percentile_type), Nulls::Possible, &PERCENTILE),
    entry(&["percentile_disc"], VALUE_THEN_ANY, ResultType::Rule(percentile_type), Nulls::Possible, &DISCRETE),
    entry(
        &["approx_percentile", "percentile_approx"],
        Params::Each(&[Param::Any]),
        ResultType::Rule(approximate_type),
        Nulls::Possible,
        &APPROXIMATE,
    ),
    entry(&["mode"], Params::Each(&[Param::Any]), ResultType::Arg(0), Nulls::Possible, &MODE),
];

fn number_then_any(args: &[Argument]) -> Vec<DataType> {
    args.iter()
        .enumerate()
        .map(|(index, arg)| match (index, &arg.data_type) {
            (0, DataType::String) => DataType::Double,
            (_, data_type) => data_type.clone(),
        })
        .collect()
}

fn in_list(args: &[Argument], element: DataType) -> DataType {
    match args.get(1).map(|a| &a.data_type) {
        Some(DataType::Array { .. }) => DataType::Array { element: Box::new(element), contains_null: false },
        _ => element,
    }
}

fn percentile_type(args: &[Argument]) -> DataType {
    let element = match args.first().map(|a| &a.data_type) {
        Some(interval @ (DataType::DayTimeInterval | DataType::YearMonthInterval)) => interval.clone(),
        _ => DataType::Double,
    };
    in_list(args, element)
}

fn approximate_type(args: &[Argument]) -> DataType {
    in_list(args, args.first().map_or(DataType::Unknown, |a| a.data_type.clone()))
}

/// Items are kept as (value, percentages, weight).
const fn percentile_of(finish: fn(&[Value], &AggregateCall) -> EvalResult) -> Aggregate {
    Aggregate {
        buffer: buffer::schema,
        initialize: |_| empty_list(Format::Counts),
        update: |buffer, args, _| add(Format::Counts, buffer, args),
        merge: |buffer, other, _| append(Format::Counts, buffer, other),
        finish,
    }
}

fn add(format: Format, buffer: &mut [Value], args: &[Value]) -> Result<(), EvalError> {
    if get(args, 0).is_null() || args.get(2).is_some_and(Value::is_null) {
        return Ok(());
    }
    let weight = args.get(2).map_or(Ok(1), long)?;
    let item = [get(args, 0).clone(), get(args, 1).clone(), Value::Long(weight)];
    push(format, buffer, Value::Struct(item.into()))
}

/// Values in order with the number of rows up to each, and the percentages asked for.
struct Distribution {
    values: Vec<(Value, i64)>,
    total: i64,
    percentages: Value,
}

fn distribution(format: Format, buffer: &[Value], descending: bool) -> Result<Option<Distribution>, EvalError> {
    let mut counts: BTreeMap<&Value, i64> = BTreeMap::new();
    let mut percentages = Value::Null;
    for item in items(format, buffer.first())? {
        let Value::Struct(parts) = item else { continue };
        let [value, percentage, weight] = parts.as_ref() else { continue };
        let count = counts.entry(value).or_default();
        *count = count.saturating_add(long(weight)?.max(0));
        percentages = percentage.clone();
    }
    let mut ordered: Vec<(&Value, i64)> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
    if descending {
        ordered.reverse();
    }
    let mut total = 0i64;
    let values = ordered
        .into_iter()
        .map(|(value, count)| {
            total = total.saturating_add(count);
            (value.clone(), total)
        })
        .collect();
    Ok((total > 0).then_some(Distribution { values, total, percentages }))
}

impl Distribution {
    /// The value of the row with this index.
    fn at(&self, row: i64) -> &Value {
        let index = self.values.partition_point(|(_, upto)| *upto <= row);
        self.values.get(index).or(self.values.last()).map_or(&Value::Null, |(value, _)| value)
    }

    /// Applies to each percentage asked for.
    fn each(&self, default: f64, pick: impl Fn(f64) -> EvalResult) -> EvalResult {
        match &self.percentages {
            Value::Array(list) => {
                let picked: Result<Vec<Value>, EvalError> = list.iter().map(|p| pick(double(p)?)).collect();
                Ok(Value::Array(picked?.into()))
            }
            Value::Null => pick(default),
            one => pick(double(one)?),
        }
    }

    /// Linear interpolation between the two nearest rows.
    fn interpolated(&self, percentage: f64, result: &DataType) -> EvalResult {
        let position = (self.total - 1) as f64 * percentage;
        let (lower, upper) = (position.floor(), position.ceil());
        let low = number(self.at(lower as i64))?;
        let high = number(self.at(upper as i64))?;
        let mixed = if lower == upper { low } else { (upper - position) * low + (position - lower) * high };
        Ok(match result {
            DataType::Array { element, .. } => typed(mixed, element),
            other => typed(mixed, other),
        })
    }
}

fn number(value: &Value) -> Result<f64, EvalError> {
    match value {
        Value::DayTimeInterval(v) => Ok(*v as f64),
        Value::YearMonthInterval(v) => Ok(f64::from(*v)),
        other => double(other),
    }
}

fn typed(number: f64, data_type: &DataType) -> Value {
    match data_type {
        DataType::DayTimeInterval => Value::DayTimeInterval(number as i64),
        DataType::YearMonthInterval => Value::YearMonthInterval(number as i32),
        _ => Value::Double(number),
    }
}

static PERCENTILE: Aggregate =
    percentile_of(|buffer, call| match distribution(Format::Counts, buffer, call.descending)? {
        None => Ok(Value::Null),
        Some(rows) => rows.each(0.5, |p| rows.interpolated(p, call.result)),
    });

/// The same, at one half.
static MEDIAN: Aggregate = PERCENTILE;

static DISCRETE: Aggregate =
    percentile_of(|buffer, call| match distribution(Format::Counts, buffer, call.descending)? {
        None => Ok(Value::Null),
        Some(rows) => rows.each(0.5, |p| {
            let row = ((rows.total as f64 * p).ceil() as i64).saturating_sub(1).max(0);
            Ok(typed(number(rows.at(row))?, call.result))
        }),
    });

static APPROXIMATE: Aggregate = Aggregate {
    buffer: buffer::schema,
    initialize: |_| empty_list(Format::Summary),
    // The third argument is the accuracy, not a weight.
    update: |buffer, args, _| add(Format::Summary, buffer, args.get(..2).unwrap_or(args)),
    merge: |buffer, other, _| append(Format::Summary, buffer, other),
    finish: |buffer, _| match distribution(Format::Summary, buffer, false)? {
        None => Ok(Value::Null),
        Some(rows) => rows.each(0.5, |p| {
            let row = ((rows.total as f64 * p).ceil() as i64).saturating_sub(1).max(0);
            Ok(rows.at(row).clone())
        }),
    },
};

/// The most frequent value. Among equals Spark takes any; here it is the least (or with an order, the first in it).
static MODE: Aggregate = Aggregate {
    update: |buffer, args, _| add(Format::Counts, buffer, args.get(..1).unwrap_or(args)),
    finish: |buffer, call| {
        let Some(rows) = distribution(Format::Counts, buffer, call.descending)? else { return Ok(Value::Null) };
        let (mut best, mut most, mut before) = (Value::Null, 0, 0);
        for (value, upto) in rows.values {
            let count = upto.saturating_sub(before);
            if count > most {
                (best, most) = (value, count);
            }
            before = upto;
        }
        Ok(best)
    },
    ..PERCENTILE
};
