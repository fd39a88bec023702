//! Central moments and covariances: `stddev`, `variance`, `skewness`, `kurtosis`, `corr`, `covar_*`, `regr_*`.
//!
//! Update and merge follow Catalyst's `CentralMomentAgg`, `Covariance` and `Corr` (Chan et al.), so that a buffer holds the same
//! numbers.

use super::buffer::get;
use super::{Aggregate, AggregateCall, entry};
use crate::functions::access::double;
use crate::functions::function::{Argument, EvalError, EvalResult, Function, Nulls, Param, Params, ResultType, Simple};
use crate::model::{DataType, Field, Value};

const DOUBLE: Params = Params::Each(&[Param::Is(Simple::Double)]);
const RESULT: ResultType = ResultType::Is(Simple::Double);

pub(super) static FUNCTIONS: &[Function] = &[
    entry(&["stddev", "stddev_samp", "std"], DOUBLE, RESULT, Nulls::Possible, &STDDEV_SAMP),
    entry(&["stddev_pop"], DOUBLE, RESULT, Nulls::Possible, &STDDEV_POP),
    entry(&["variance", "var_samp"], DOUBLE, RESULT, Nulls::Possible, &VAR_SAMP),
    entry(&["var_pop"], DOUBLE, RESULT, Nulls::Possible, &VAR_POP),
    entry(&["skewness"], DOUBLE, RESULT, Nulls::Possible, &SKEWNESS),
    entry(&["kurtosis"], DOUBLE, RESULT, Nulls::Possible, &KURTOSIS),
    entry(&["covar_samp"], DOUBLE, RESULT, Nulls::Possible, &COVAR_SAMP),
    entry(&["covar_pop"], DOUBLE, RESULT, Nulls::Possible, &COVAR_POP),
    entry(&["corr"], DOUBLE, RESULT, Nulls::Possible, &CORR),
    entry(&["regr_r2"], DOUBLE, RESULT, Nulls::Possible, &REGR_R2),
];

fn doubles(names: &[&str]) -> Vec<Field> {
    names.iter().map(|name| Field::not_null(*name, DataType::Double)).collect()
}

fn zeros(count: usize) -> Vec<Value> {
    vec![Value::Double(0.0); count]
}

fn load<const N: usize>(buffer: &[Value]) -> Result<[f64; N], EvalError> {
    let mut numbers = [0.0; N];
    for (index, slot) in numbers.iter_mut().enumerate() {
        *slot = double(get(buffer, index))?;
    }
    Ok(numbers)
}

fn store(buffer: &mut [Value], numbers: &[f64]) {
    for (slot, number) in buffer.iter_mut().zip(numbers) {
        *slot = Value::Double(*number);
    }
}

/// n, mean, then the sums of powers of the deviations; those beyond the buffer's length are not kept.
fn update_moments(buffer: &mut [Value], args: &[Value], _: &AggregateCall) -> Result<(), EvalError> {
    let value = get(args, 0);
    if value.is_null() {
        return Ok(());
    }
    merge_numbers(buffer, [1.0, double(value)?, 0.0, 0.0, 0.0])
}

fn load_moments(buffer: &[Value]) -> Result<[f64; 5], EvalError> {
    let mut numbers = [0.0; 5];
    for (slot, value) in numbers.iter_mut().zip(buffer) {
        *slot = double(value)?;
    }
    Ok(numbers)
}

fn merge_moments(buffer: &mut [Value], other: &[Value], _: &AggregateCall) -> Result<(), EvalError> {
    merge_numbers(buffer, load_moments(other)?)
}

fn merge_numbers(buffer: &mut [Value], [n2, mean2, m2b, m3b, m4b]: [f64; 5]) -> Result<(), EvalError> {
    let [n1, mean1, m2a, m3a, m4a] = load_moments(buffer)?;
    let n = n1 + n2;
    if n == 0.0 {
        return Ok(());
    }
    let delta = mean2 - mean1;
    let per_n = delta / n;
    let mean = mean1 + per_n * n2;
    let m2 = m2a + m2b + delta * per_n * n1 * n2;
    let m3 = m3a + m3b + per_n * per_n * delta * n1 * n2 * (n1 - n2) + 3.0 * per_n * (n1 * m2b - n2 * m2a);
    let m4 = m4a
        + m4b
        + per_n * per_n * per_n * delta * n1 * n2 * (n1 * n1 - n1 * n2 + n2 * n2)
        + 6.0 * per_n * per_n * (n1 * n1 * m2b + n2 * n2 * m2a)
        + 4.0 * per_n * (n1 * m3b - n2 * m3a);
    store(buffer, &[n, mean, m2, m3, m4]);
    Ok(())
}

const SECOND: &[&str] = &["n", "avg", "m2"];

static VAR_POP: Aggregate = Aggregate {
    buffer: |_| doubles(SECOND),
    initialize: |_| zeros(3),
    update: update_moments,
    merge: merge_moments,
    finish: |buffer, _| moment(buffer, |[n, _, m2]| m2 / n),
};

static VAR_SAMP: Aggregate = Aggregate { finish: |buffer, _| sample(buffer, |variance| variance), ..VAR_POP };

static STDDEV_POP: Aggregate =
    Aggregate { finish: |buffer, _| moment(buffer, |[n, _, m2]| (m2 / n).sqrt()), ..VAR_POP };

static STDDEV_SAMP: Aggregate = Aggregate { finish: |buffer, _| sample(buffer, f64::sqrt), ..VAR_POP };

static SKEWNESS: Aggregate = Aggregate {
    buffer: |_| doubles(&["n", "avg", "m2", "m3"]),
    initialize: |_| zeros(4),
    finish: |buffer, _| shape(buffer, |[n, _, m2, m3]| n.sqrt() * m3 / (m2 * m2 * m2).sqrt()),
    ..VAR_POP
};

static KURTOSIS: Aggregate = Aggregate {
    buffer: |_| doubles(&["n", "avg", "m2", "m3", "m4"]),
    initialize: |_| zeros(5),
    finish: |buffer, _| shape(buffer, |[n, _, m2, _, m4]: [f64; 5]| n * m4 / (m2 * m2) - 3.0),
    ..VAR_POP
};

/// NULL for no rows.
fn moment(buffer: &[Value], formula: fn([f64; 3]) -> f64) -> EvalResult {
    let numbers: [f64; 3] = load(buffer)?;
    Ok(if numbers[0] == 0.0 { Value::Null } else { Value::Double(formula(numbers)) })
}

/// Over n - 1; NULL for one row or none.
fn sample(buffer: &[Value], last: fn(f64) -> f64) -> EvalResult {
    let [n, _, m2]: [f64; 3] = load(buffer)?;
    Ok(if n <= 1.0 { Value::Null } else { Value::Double(last(m2 / (n - 1.0))) })
}

/// NULL where nothing deviates.
fn shape<const N: usize>(buffer: &[Value], formula: fn([f64; N]) -> f64) -> EvalResult {
    let numbers: [f64; N] = load(buffer)?;
    let (n, m2) = (numbers.first().copied().unwrap_or(0.0), numbers.get(2).copied().unwrap_or(0.0));
    Ok(if n == 0.0 || m2 == 0.0 { Value::Null } else { Value::Double(formula(numbers)) })
}

/// n, both means, co-moment, both second moments.
fn update_pair(buffer: &mut [Value], args: &[Value], _: &AggregateCall) -> Result<(), EvalError> {
    if args.iter().any(Value::is_null) {
        return Ok(());
    }
    merge_pair_numbers(buffer, [1.0, double(get(args, 0))?, double(get(args, 1))?, 0.0, 0.0, 0.0])
}

fn load_pair(buffer: &[Value]) -> Result<[f64; 6], EvalError> {
    let mut numbers = [0.0; 6];
    for (slot, value) in numbers.iter_mut().zip(buffer) {
        *slot = double(value)?;
    }
    Ok(numbers)
}

fn merge_pair(buffer: &mut [Value], other: &[Value], _: &AggregateCall) -> Result<(), EvalError> {
    merge_pair_numbers(buffer, load_pair(other)?)
}

fn merge_pair_numbers(buffer: &mut [Value], [n2, x2, y2, ck2, xm2, ym2]: [f64; 6]) -> Result<(), EvalError> {
    let [n1, x1, y1, ck1, xm1, ym1] = load_pair(buffer)?;
    let n = n1 + n2;
    if n == 0.0 {
        return Ok(());
    }
    let (dx, dy) = (x2 - x1, y2 - y1);
    let (dx_n, dy_n) = (dx / n, dy / n);
    let numbers = [
        n,
        x1 + dx_n * n2,
        y1 + dy_n * n2,
        ck1 + ck2 + dx * dy_n * n1 * n2,
        xm1 + xm2 + dx * dx_n * n1 * n2,
        ym1 + ym2 + dy * dy_n * n1 * n2,
    ];
    store(buffer, &numbers);
    Ok(())
}

fn pair_schema(_: &[Argument]) -> Vec<Field> {
    doubles(&["n", "xAvg", "yAvg", "ck"])
}

static COVAR_POP: Aggregate = Aggregate {
    buffer: pair_schema,
    initialize: |_| zeros(4),
    update: update_pair,
    merge: merge_pair,
    finish: |buffer, _| {
        let [n, _, _, ck, ..] = load_pair(buffer)?;
        Ok(if n == 0.0 { Value::Null } else { Value::Double(ck / n) })
    },
};

static COVAR_SAMP: Aggregate = Aggregate {
    finish: |buffer, _| {
        let [n, _, _, ck, ..] = load_pair(buffer)?;
        Ok(if n <= 1.0 { Value::Null } else { Value::Double(ck / (n - 1.0)) })
    },
    ..COVAR_POP
};

static CORR: Aggregate = Aggregate {
    buffer: |_| doubles(&["n", "xAvg", "yAvg", "ck", "xMk", "yMk"]),
    initialize: |_| zeros(6),
    finish: |buffer, _| correlation(buffer, |r| r),
    ..COVAR_POP
};

static REGR_R2: Aggregate = Aggregate { finish: |buffer, _| correlation(buffer, |r| r * r), ..CORR };

fn correlation(buffer: &[Value], last: fn(f64) -> f64) -> EvalResult {
    let [n, _, _, ck, xm, ym] = load_pair(buffer)?;
    Ok(if n <= 1.0 || xm == 0.0 || ym == 0.0 { Value::Null } else { Value::Double(last(ck / (xm * ym).sqrt())) })
}
