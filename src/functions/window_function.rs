//! Window functions: what only a window can evaluate (`row_number`, `rank`, `lag`, …). Aggregates over a window use their
//! [`super::Aggregate`].

use super::access::{boolean, int};
use super::coercion::common_type;
use super::function::{
    Argument, Body, EvalError, EvalResult, Function, Kind, Nulls, Params, ResultType, Simple, Volatility,
};
use crate::model::{DataType, Value};
use std::ops::Range;

/// The rows of one partition in the window's order, as one function sees them.
#[derive(Debug, Clone, Copy)]
pub struct Partition<'a> {
    /// The function's arguments, evaluated on each row.
    pub args: &'a [Vec<Value>],
    /// For each row the range of its peers (rows equal in the window's order).
    pub peers: &'a [Range<usize>],
    /// For each row its frame, where the function looks at one (`nth_value`).
    pub frames: &'a [Range<usize>],
    pub ignore_nulls: bool,
}

#[derive(Debug, Clone, Copy)]
pub struct WindowFunction {
    value: fn(&Partition, usize) -> EvalResult,
}

impl WindowFunction {
    /// The value at a row.
    pub fn value(&self, partition: &Partition, row: usize) -> EvalResult {
        (self.value)(partition, row)
    }
}

const fn entry(
    names: &'static [&'static str],
    result: ResultType,
    nulls: Nulls,
    params: Params,
    function: &'static WindowFunction,
) -> Function {
    Function {
        names,
        kind: Kind::Window,
        volatility: Volatility::Immutable,
        params,
        result,
        nulls,
        body: Body::Window(function),
    }
}

const INT: ResultType = ResultType::Is(Simple::Int);
const DOUBLE: ResultType = ResultType::Is(Simple::Double);
const AS_IS: Params = Params::Common(usize::MAX);

pub(super) static FUNCTIONS: &[Function] = &[
    entry(&["row_number"], INT, Nulls::Never, AS_IS, &WindowFunction { value: |_, row| integer(row + 1) }),
    entry(&["rank"], INT, Nulls::Never, AS_IS, &WindowFunction { value: |p, row| integer(peers(p, row).start + 1) }),
    entry(&["dense_rank"], INT, Nulls::Never, AS_IS, &WindowFunction { value: |p, row| integer(dense_rank(p, row)) }),
    entry(&["percent_rank"], DOUBLE, Nulls::Never, AS_IS, &WindowFunction { value: percent_rank }),
    entry(&["cume_dist"], DOUBLE, Nulls::Never, AS_IS, &WindowFunction { value: cume_dist }),
    entry(&["ntile"], INT, Nulls::Never, AS_IS, &WindowFunction { value: ntile }),
    entry(
        &["lag"],
        ResultType::Arg(0),
        Nulls::Rule(default_nullable),
        Params::Rule(offset_types),
        &WindowFunction { value: |p, row| offset(p, row, true) },
    ),
    entry(
        &["lead"],
        ResultType::Arg(0),
        Nulls::Rule(default_nullable),
        Params::Rule(offset_types),
        &WindowFunction { value: |p, row| offset(p, row, false) },
    ),
    entry(&["nth_value"], ResultType::Arg(0), Nulls::Possible, AS_IS, &WindowFunction { value: nth_value }),
];

/// A default that is never NULL keeps the result so, where the input is.
fn default_nullable(args: &[Argument]) -> bool {
    args.first().is_none_or(|a| a.nullable) || args.get(2).is_none_or(|a| a.nullable)
}

/// The default is cast to the input's type.
fn offset_types(args: &[Argument]) -> Vec<DataType> {
    let mut types: Vec<DataType> = args.iter().map(|a| a.data_type.clone()).collect();
    if let [input, _, default, ..] = types.as_mut_slice()
        && let Some(common) = common_type(&[input.clone(), default.clone()])
    {
        *default = if common == *input { common } else { input.clone() };
    }
    types
}

fn integer(value: usize) -> EvalResult {
    Ok(Value::Int(i32::try_from(value).unwrap_or(i32::MAX)))
}

fn peers(partition: &Partition, row: usize) -> Range<usize> {
    partition.peers.get(row).cloned().unwrap_or(row..row + 1)
}

fn dense_rank(partition: &Partition, row: usize) -> usize {
    let mut rank = 1;
    let mut start = peers(partition, row).start;
    while start > 0 {
        let before = peers(partition, start - 1).start;
        // Peers that do not move backwards would never end.
        if before >= start {
            break;
        }
        start = before;
        rank += 1;
    }
    rank
}

fn percent_rank(partition: &Partition, row: usize) -> EvalResult {
    let rows = partition.peers.len();
    Ok(Value::Double(if rows <= 1 { 0.0 } else { peers(partition, row).start as f64 / (rows - 1) as f64 }))
}

fn cume_dist(partition: &Partition, row: usize) -> EvalResult {
    Ok(Value::Double(peers(partition, row).end as f64 / partition.peers.len().max(1) as f64))
}

fn argument<'a>(partition: &Partition<'a>, row: usize, index: usize) -> &'a Value {
    partition.args.get(row).and_then(|args| args.get(index)).unwrap_or(&Value::Null)
}

/// The first `rows % buckets` buckets have one row more.
fn ntile(partition: &Partition, row: usize) -> EvalResult {
    let buckets = usize::try_from(int(argument(partition, row, 0))?).unwrap_or(0);
    if buckets == 0 {
        return Err(EvalError::new("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", "ntile needs a positive number of buckets"));
    }
    let rows = partition.peers.len();
    let (size, larger) = (rows / buckets, rows % buckets);
    let boundary = larger * (size + 1);
    integer(if row < boundary { row / (size + 1) + 1 } else { larger + (row - boundary) / size.max(1) + 1 })
}

fn offset(partition: &Partition, row: usize, back: bool) -> EvalResult {
    let has_offset = partition.args.get(row).is_some_and(|args| args.len() > 1);
    let distance = if has_offset { i64::from(int(argument(partition, row, 1))?) } else { 1 };
    let step = if back { -distance.signum() } else { distance.signum() };
    let mut left = distance.abs();
    let mut at = i64::try_from(row).unwrap_or(i64::MAX);
    let last = i64::try_from(partition.args.len()).unwrap_or(i64::MAX);
    let default = || Ok(argument(partition, row, 2).clone());
    if !partition.ignore_nulls {
        at = at.saturating_add(step.saturating_mul(left));
        left = 0;
    }
    while left > 0 {
        at += step;
        if !(0..last).contains(&at) {
            return default();
        }
        let present = usize::try_from(at).is_ok_and(|index| !argument(partition, index, 0).is_null());
        left -= i64::from(present);
    }
    match usize::try_from(at) {
        Ok(index) if at < last => Ok(argument(partition, index, 0).clone()),
        _ => default(),
    }
}

fn nth_value(partition: &Partition, row: usize) -> EvalResult {
    let wanted = usize::try_from(int(argument(partition, row, 1))?).unwrap_or(0);
    let ignore = partition.ignore_nulls
        || partition.args.get(row).and_then(|a| a.get(2)).is_some_and(|flag| boolean(flag).unwrap_or(false));
    let frame = partition.frames.get(row).cloned().unwrap_or(0..partition.args.len());
    let found = frame
        .map(|index| argument(partition, index, 0))
        .filter(|value| !(ignore && value.is_null()))
        .nth(wanted.saturating_sub(1));
    Ok(found.cloned().unwrap_or(Value::Null))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::lookup;

    fn column(name: &str, args: &[Vec<Value>], peers: &[Range<usize>], ignore_nulls: bool) -> Vec<Value> {
        let Some(Function { body: Body::Window(function), .. }) = lookup(name) else { panic!("{name}") };
        let frames = vec![0..args.len(); args.len()];
        let partition = Partition { args, peers, frames: &frames, ignore_nulls };
        (0..args.len()).map(|row| function.value(&partition, row).unwrap()).collect()
    }

    fn ints(values: &[i32]) -> Vec<Value> {
        values.iter().map(|v| Value::Int(*v)).collect()
    }

    #[test]
    fn ranks_follow_the_peers() {
        let peers = [0..1, 1..3, 1..3, 3..4];
        let none = vec![Vec::new(); 4];
        assert_eq!(column("row_number", &none, &peers, false), ints(&[1, 2, 3, 4]));
        assert_eq!(column("rank", &none, &peers, false), ints(&[1, 2, 2, 4]));
        assert_eq!(column("dense_rank", &none, &peers, false), ints(&[1, 2, 2, 3]));
        let buckets = vec![vec![Value::Int(3)]; 4];
        assert_eq!(column("ntile", &buckets, &peers, false), ints(&[1, 1, 2, 3]));
        assert_eq!(column("percent_rank", &none, &peers, false)[3], Value::Double(1.0));
    }

    #[test]
    fn lag_skips_nulls_only_when_told() {
        let rows: Vec<Vec<Value>> = [Value::Int(1), Value::Null, Value::Int(3)].into_iter().map(|v| vec![v]).collect();
        let peers = [0..1, 1..2, 2..3];
        assert_eq!(column("lag", &rows, &peers, false), vec![Value::Null, Value::Int(1), Value::Null]);
        assert_eq!(column("lag", &rows, &peers, true), vec![Value::Null, Value::Int(1), Value::Int(1)]);
        assert_eq!(column("lead", &rows, &peers, false), vec![Value::Null, Value::Int(3), Value::Null]);
    }
}
