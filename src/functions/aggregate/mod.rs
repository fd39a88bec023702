//! Aggregate functions: the buffer that Spark keeps in a state row, and how rows go into it, buffers merge and results come out.
//!
//! Buffer names and types are those of Catalyst's `aggBufferAttributes`, since a streaming aggregation's state value is the list
//! of them. A `TypedImperativeAggregate` (`collect_list`, `percentile`, …) has one `buf: binary`; here the value in it is a
//! struct of a format name and the content, so that a buffer of another format fails to decode, as Spark's bytes do.

mod bits;
mod buffer;
mod collect;
mod count;
mod extremum;
mod moments;
mod percentile;
mod position;
mod sketch;
mod sum;

use super::function::{
    Argument, Body, EvalContext, EvalError, EvalResult, Function, Kind, Nulls, Params, ResultType, Volatility,
};
use crate::model::{DataType, Field, Value};

/// Takes a row's arguments, or another buffer, into a buffer.
type Fold = fn(&mut [Value], &[Value], &AggregateCall) -> Result<(), EvalError>;

/// The parts of an aggregate function. Buffers are as long as `buffer`'s list.
#[derive(Debug, Clone, Copy)]
pub struct Aggregate {
    /// Buffer columns, from coerced arguments.
    pub buffer: fn(&[Argument]) -> Vec<Field>,
    pub(super) initialize: fn(&AggregateCall) -> Vec<Value>,
    pub(super) update: Fold,
    pub(super) merge: Fold,
    pub(super) finish: fn(&[Value], &AggregateCall) -> EvalResult,
}

/// What stays the same over all rows of one aggregate expression.
#[derive(Clone, Copy)]
pub struct AggregateCall<'a> {
    /// Types of the arguments, after coercion.
    pub types: &'a [DataType],
    /// Type of the result.
    pub result: &'a DataType,
    /// `IGNORE NULLS`. The boolean argument that `first` and `last` also take is looked at beside it.
    pub ignore_nulls: bool,
    /// `WITHIN GROUP (ORDER BY …)` in descending order (`percentile_cont`, `listagg`, `mode`).
    pub descending: bool,
    pub context: &'a EvalContext,
}

impl Aggregate {
    pub fn initialize(&self, call: &AggregateCall) -> Vec<Value> {
        (self.initialize)(call)
    }

    /// Takes one row's arguments in. FILTER and DISTINCT are the caller's business.
    pub fn update(&self, buffer: &mut [Value], args: &[Value], call: &AggregateCall) -> Result<(), EvalError> {
        (self.update)(buffer, args, call)
    }

    pub fn merge(&self, buffer: &mut [Value], other: &[Value], call: &AggregateCall) -> Result<(), EvalError> {
        (self.merge)(buffer, other, call)
    }

    pub fn finish(&self, buffer: &[Value], call: &AggregateCall) -> EvalResult {
        (self.finish)(buffer, call)
    }
}

/// A table entry.
const fn entry(
    names: &'static [&'static str],
    params: Params,
    result: ResultType,
    nulls: Nulls,
    aggregate: &'static Aggregate,
) -> Function {
    Function {
        names,
        kind: Kind::Aggregate,
        volatility: Volatility::Immutable,
        params,
        result,
        nulls,
        body: Body::Aggregate(aggregate),
    }
}

pub(super) static TABLES: &[&[Function]] = &[
    count::FUNCTIONS,
    sum::FUNCTIONS,
    extremum::FUNCTIONS,
    position::FUNCTIONS,
    collect::FUNCTIONS,
    moments::FUNCTIONS,
    percentile::FUNCTIONS,
    bits::FUNCTIONS,
    sketch::FUNCTIONS,
];

/// Runs rows through one aggregate: what a batch aggregation over a group does.
pub fn aggregate_rows<'a>(
    aggregate: &Aggregate,
    rows: impl IntoIterator<Item = &'a [Value]>,
    call: &AggregateCall,
) -> EvalResult {
    let mut buffer = aggregate.initialize(call);
    for row in rows {
        aggregate.update(&mut buffer, row, call)?;
    }
    aggregate.finish(&buffer, call)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::lookup;

    /// Folds one column of values, in one buffer and in two merged ones; both must agree.
    fn fold(name: &str, data_type: &DataType, values: &[Value]) -> EvalResult {
        let function = lookup(name).unwrap();
        let Body::Aggregate(aggregate) = function.body else { panic!("{name} is no aggregate") };
        let args = [Argument::new(data_type.clone(), true)];
        let types = function.coerce(&args);
        let args = [Argument::new(types[0].clone(), true)];
        let (result, _) = function.result(&args);
        let context = EvalContext::default();
        let call =
            AggregateCall { types: &types, result: &result, ignore_nulls: false, descending: false, context: &context };
        let cast: Vec<Value> = values
            .iter()
            .map(|v| crate::functions::cast(v, data_type, &types[0], true, &context.zone).unwrap())
            .collect();
        let whole = aggregate_rows(aggregate, cast.iter().map(std::slice::from_ref), &call);
        let (left, right) = cast.split_at(cast.len() / 2);
        let mut a = aggregate.initialize(&call);
        assert_eq!(a.len(), (aggregate.buffer)(&args).len(), "{name}: buffer and schema differ in length");
        for v in left {
            aggregate.update(&mut a, std::slice::from_ref(v), &call)?;
        }
        let mut b = aggregate.initialize(&call);
        for v in right {
            aggregate.update(&mut b, std::slice::from_ref(v), &call)?;
        }
        aggregate.merge(&mut a, &b, &call)?;
        assert_eq!(aggregate.finish(&a, &call), whole, "{name}: merged buffers differ");
        whole
    }

    fn ints(values: &[Option<i32>]) -> Vec<Value> {
        values.iter().map(|v| v.map_or(Value::Null, Value::Int)).collect()
    }

    #[test]
    fn integers_aggregate_as_in_spark() {
        let rows = ints(&[Some(3), None, Some(1), Some(3), Some(2)]);
        for (name, expected) in [
            ("count", Value::Long(4)),
            ("sum", Value::Long(9)),
            ("avg", Value::Double(2.25)),
            ("min", Value::Int(1)),
            ("max", Value::Int(3)),
            ("first", Value::Int(3)),
            ("last", Value::Int(2)),
            ("collect_list", Value::Array(ints(&[Some(3), Some(1), Some(3), Some(2)]).into())),
            ("median", Value::Double(2.5)),
            ("mode", Value::Int(3)),
            ("bit_xor", Value::Int(3)),
            ("approx_count_distinct", Value::Long(3)),
            ("product", Value::Double(18.0)),
        ] {
            assert_eq!(fold(name, &DataType::Int, &rows), Ok(expected), "{name}");
        }
    }

    #[test]
    fn nothing_but_nulls_gives_null() {
        let rows = ints(&[None, None]);
        for name in ["sum", "avg", "min", "max", "stddev", "median", "bit_or", "mode"] {
            assert_eq!(fold(name, &DataType::Int, &rows), Ok(Value::Null), "{name}");
        }
        assert_eq!(fold("count", &DataType::Int, &rows), Ok(Value::Long(0)));
        assert_eq!(fold("collect_set", &DataType::Int, &rows), Ok(Value::Array([].into())));
    }

    #[test]
    fn a_sum_beyond_bigint_is_an_error_and_try_sum_null() {
        let rows = [Value::Long(i64::MAX), Value::Long(1)];
        assert_eq!(fold("sum", &DataType::Long, &rows).unwrap_err().class, "ARITHMETIC_OVERFLOW");
        assert_eq!(fold("try_sum", &DataType::Long, &rows), Ok(Value::Null));
    }

    #[test]
    fn buffers_have_catalysts_columns() {
        let buffer = |name: &str, data_type: DataType| {
            let function = lookup(name).unwrap();
            let Body::Aggregate(aggregate) = function.body else { panic!() };
            let types = function.coerce(&[Argument::new(data_type, true)]);
            let args: Vec<_> = types.into_iter().map(|t| Argument::new(t, true)).collect();
            let columns: Vec<String> =
                (aggregate.buffer)(&args).iter().map(|f| format!("{}:{}", f.name, f.data_type)).collect();
            columns.join(",")
        };
        assert_eq!(buffer("sum", DataType::Long), "sum:bigint");
        assert_eq!(buffer("sum", DataType::decimal(10, 2)), "sum:decimal(20,2),isEmpty:boolean");
        assert_eq!(buffer("avg", DataType::Int), "sum:double,count:bigint");
        assert_eq!(buffer("avg", DataType::decimal(10, 2)), "sum:decimal(20,2),count:bigint");
        assert_eq!(buffer("first", DataType::String), "first:string,valueSet:boolean");
        assert_eq!(buffer("stddev", DataType::Int), "n:double,avg:double,m2:double");
        assert_eq!(buffer("collect_list", DataType::Int), "buf:binary");
        assert_eq!(buffer("bool_and", DataType::Boolean), "min:boolean");
    }
}
