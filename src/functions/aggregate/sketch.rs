//! Sketches and other aggregates of which the engine keeps only what makes their result depend on the rows:
//! `approx_count_distinct` and, uninterpreted, the rest.

use super::buffer::{self, Format, append, empty_list, get, items, push, set_at};
use super::{Aggregate, entry};
use crate::functions::access::long;
use crate::functions::function::{Argument, Function, Nulls, Param, Params, ResultType, Simple};
use crate::functions::hash::xxhash64_value;
use crate::functions::uninterpreted;
use crate::model::{DataType, Field, Value};

const ANY: Params = Params::Each(&[Param::Any]);

pub(super) static FUNCTIONS: &[Function] = &[
    entry(&["approx_count_distinct"], ANY, ResultType::Is(Simple::Long), Nulls::Never, &APPROX_COUNT_DISTINCT),
    entry(&["hll_sketch_agg"], ANY, ResultType::Is(Simple::Binary), Nulls::Never, &UNINTERPRETED),
    entry(&["count_min_sketch"], ANY, ResultType::Is(Simple::Binary), Nulls::Never, &UNINTERPRETED),
    entry(&["histogram_numeric"], ANY, ResultType::Rule(histogram_type), Nulls::Possible, &UNINTERPRETED),
    entry(&["approx_top_k"], ANY, ResultType::Is(Simple::Unknown), Nulls::Never, &UNINTERPRETED),
    entry(&["bitmap_construct_agg"], ANY, ResultType::Is(Simple::Binary), Nulls::Never, &UNINTERPRETED),
    entry(&["schema_of_variant_agg"], ANY, ResultType::Is(Simple::String), Nulls::Never, &UNINTERPRETED),
    entry(&["regr_slope", "regr_intercept"], ANY, ResultType::Is(Simple::Double), Nulls::Possible, &UNINTERPRETED),
];

fn histogram_type(args: &[Argument]) -> DataType {
    let x = args.first().map_or(DataType::Unknown, |a| a.data_type.clone());
    let bin = DataType::Struct(vec![Field::new("x", x), Field::new("y", DataType::Double)]);
    DataType::Array { element: Box::new(bin), contains_null: true }
}

/// Registers of HyperLogLog++ at the default error of 5 %: 512 registers of 6 bits, ten in a word.
const PRECISION: u32 = 9;
const WORDS: usize = 52;
const PER_WORD: usize = 10;
const BITS: usize = 6;

static APPROX_COUNT_DISTINCT: Aggregate = Aggregate {
    buffer: |_| (0..WORDS).map(|index| Field::not_null(format!("MS[{index}]"), DataType::Long)).collect(),
    initialize: |_| vec![Value::Long(0); WORDS],
    update: |buffer, args, _| {
        let value = get(args, 0);
        if value.is_null() {
            return Ok(());
        }
        let hash = xxhash64_value(value, 42).cast_unsigned();
        let register = usize::try_from(hash >> (64 - PRECISION)).unwrap_or(0);
        let rank = i64::from(((hash << PRECISION) | (1 << (PRECISION - 1))).leading_zeros()) + 1;
        raise(buffer, register, rank)
    },
    merge: |buffer, other, _| {
        for register in 0..WORDS * PER_WORD {
            raise(buffer, register, rank_of(other, register)?)?;
        }
        Ok(())
    },
    finish: |buffer, _| {
        let mut ranks = Vec::with_capacity(1 << PRECISION);
        for register in 0..1 << PRECISION {
            ranks.push(rank_of(buffer, register)?);
        }
        Ok(Value::Long(estimate(&ranks)))
    },
};

fn rank_of(buffer: &[Value], register: usize) -> Result<i64, crate::functions::EvalError> {
    let word = long(get(buffer, register / PER_WORD))?;
    Ok((word >> (register % PER_WORD * BITS)) & 0x3f)
}

fn raise(buffer: &mut [Value], register: usize, rank: i64) -> Result<(), crate::functions::EvalError> {
    let old = rank_of(buffer, register)?;
    if rank > old {
        let shift = register % PER_WORD * BITS;
        let word = long(get(buffer, register / PER_WORD))?;
        set_at(buffer, register / PER_WORD, Value::Long((word & !(0x3f << shift)) | (rank << shift)));
    }
    Ok(())
}

/// Linear counting while registers are empty, as HyperLogLog++ does for small sets; else the raw estimate, without the
/// empirical bias table.
fn estimate(ranks: &[i64]) -> i64 {
    let m = ranks.len() as f64;
    let zeros = ranks.iter().filter(|rank| **rank == 0).count() as f64;
    let sum: f64 = ranks.iter().map(|rank| 0.5f64.powi(i32::try_from(*rank).unwrap_or(64))).sum();
    let raw = 0.7213 / (1.0 + 1.079 / m) * m * m / sum;
    let linear = m * (m / zeros).ln();
    (if zeros > 0.0 && linear <= 400.0 { linear } else { raw }).round() as i64
}

static UNINTERPRETED: Aggregate = Aggregate {
    buffer: buffer::schema,
    initialize: |_| empty_list(Format::Summary),
    update: |buffer, args, _| push(Format::Summary, buffer, Value::Struct(args.into())),
    merge: |buffer, other, _| append(Format::Summary, buffer, other),
    finish: |buffer, call| Ok(uninterpreted("aggregate", items(Format::Summary, buffer.first())?, call.result)),
};
