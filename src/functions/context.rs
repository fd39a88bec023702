//! Functions that depend on the query, the session, the row or chance, and those about types and errors.

use super::access::boolean;
use super::cast::{cast, plain_text};
use super::function::{
    Argument, EvalError, EvalResult, Function, Invocation, Nulls, Param, Params, ResultType, Simple, Volatility,
};
use super::uninterpreted::stable_hash;
use crate::model::{DataType, Value};

const ANY: Params = Params::Each(&[Param::Any]);
const STRING: ResultType = ResultType::Is(Simple::String);
const LONG: ResultType = ResultType::Is(Simple::Long);
const DOUBLE: ResultType = ResultType::Is(Simple::Double);

/// One value for a whole session.
const fn of_session(
    names: &'static [&'static str],
    result: ResultType,
    body: fn(&Invocation) -> EvalResult,
) -> Function {
    Function::scalar(names, ANY, result, Nulls::Never, body).with_volatility(Volatility::Session)
}

/// The time of the batch.
const fn of_clock(names: &'static [&'static str], result: ResultType, body: fn(&Invocation) -> EvalResult) -> Function {
    Function::scalar(names, ANY, result, Nulls::Never, body).with_volatility(Volatility::Clock)
}

const fn of_chance(
    names: &'static [&'static str],
    result: ResultType,
    body: fn(&Invocation) -> EvalResult,
) -> Function {
    Function::scalar(names, ANY, result, Nulls::Never, body).with_volatility(Volatility::Chance)
}

const fn of_position(
    names: &'static [&'static str],
    result: ResultType,
    body: fn(&Invocation) -> EvalResult,
) -> Function {
    Function::scalar(names, ANY, result, Nulls::Never, body).with_volatility(Volatility::Position)
}

/// `int(x)` and the like: a cast by the type's name.
const fn cast_function(names: &'static [&'static str], to: Simple) -> Function {
    Function::scalar(names, ANY, ResultType::Is(to), Nulls::Rule(cast_call_nullable), cast_call)
}

pub(super) static FUNCTIONS: &[Function] = &[
    of_clock(&["current_timestamp", "now"], ResultType::Is(Simple::Timestamp), |c| Ok(Value::Timestamp(c.context.now))),
    of_clock(&["localtimestamp"], ResultType::Is(Simple::TimestampNtz), |c| {
        cast(&Value::Timestamp(c.context.now), &DataType::Timestamp, c.result, true, &c.context.zone)
    }),
    of_clock(&["current_date", "curdate"], ResultType::Is(Simple::Date), |c| {
        cast(&Value::Timestamp(c.context.now), &DataType::Timestamp, c.result, true, &c.context.zone)
    }),
    of_session(&["current_timezone"], STRING, |c| Ok(Value::string(c.context.zone.iana_name().unwrap_or("UTC")))),
    of_session(&["current_user", "user", "session_user"], STRING, |_| Ok(Value::string("user"))),
    of_session(&["current_database", "current_schema"], STRING, |_| Ok(Value::string("default"))),
    of_session(&["current_catalog"], STRING, |_| Ok(Value::string("spark_catalog"))),
    of_session(&["version"], STRING, |_| Ok(Value::string("4.0.0"))),
    of_chance(&["rand", "random"], DOUBLE, |c| Ok(Value::Double(unit(draw("rand", c))))),
    of_chance(&["randn"], DOUBLE, |c| Ok(Value::Double(normal(c)))),
    of_chance(&["uuid"], STRING, |c| Ok(Value::string(uuid(draw("uuid", c), draw("uuid-low", c))))),
    of_position(&["monotonically_increasing_id"], LONG, |c| {
        let row = i64::try_from(c.context.row).unwrap_or(i64::MAX);
        Ok(Value::Long((i64::from(c.context.partition) << 33) | row))
    }),
    of_position(&["spark_partition_id"], ResultType::Is(Simple::Int), |c| {
        Ok(Value::Int(i32::try_from(c.context.partition).unwrap_or(0)))
    }),
    of_position(&["input_file_name"], STRING, |_| Ok(Value::string(""))),
    of_position(&["input_file_block_start", "input_file_block_length"], LONG, |_| Ok(Value::Long(-1))),
    of_chance(&["shuffle"], ResultType::Arg(0), shuffle),
    of_chance(&["randstr"], STRING, |c| Ok(Value::string(format!("{:016x}", draw("randstr", c))))),
    Function::typed(&["uniform"], ANY, ResultType::Arg(0), Nulls::Never).with_volatility(Volatility::Chance),
    Function::scalar(&["typeof"], ANY, STRING, Nulls::Never, |c| {
        Ok(Value::string(c.types.first().map_or_else(String::new, ToString::to_string)))
    }),
    Function::scalar(
        &["assert_true"],
        Params::Each(&[Param::Is(Simple::Boolean), Param::Any]),
        ResultType::Is(Simple::Null),
        Nulls::Possible,
        |c| {
            if !c.arg(0).is_null() && boolean(c.arg(0))? {
                return Ok(Value::Null);
            }
            let message =
                if c.args.len() > 1 { plain_text(c.arg(1)) } else { "the asserted condition is not true".to_owned() };
            Err(EvalError::new("USER_RAISED_EXCEPTION", message))
        },
    )
    .with_volatility(Volatility::Raises),
    Function::scalar(&["raise_error"], ANY, ResultType::Is(Simple::Null), Nulls::Possible, |c| {
        Err(EvalError::new("USER_RAISED_EXCEPTION", plain_text(c.arg(0))))
    })
    .with_volatility(Volatility::Raises),
    cast_function(&["boolean"], Simple::Boolean),
    cast_function(&["tinyint"], Simple::Byte),
    cast_function(&["smallint"], Simple::Short),
    cast_function(&["int"], Simple::Int),
    cast_function(&["bigint"], Simple::Long),
    cast_function(&["float"], Simple::Float),
    cast_function(&["double"], Simple::Double),
    cast_function(&["string"], Simple::String),
    cast_function(&["binary"], Simple::Binary),
    cast_function(&["date"], Simple::Date),
    cast_function(&["timestamp"], Simple::Timestamp),
    Function::scalar(
        &["decimal"],
        ANY,
        ResultType::Rule(|_| DataType::decimal(10, 0)),
        Nulls::Rule(cast_call_nullable),
        cast_call,
    ),
    // Grouping sets are rewritten by the analysis; these stand for what is left.
    Function::typed(&["grouping"], ANY, ResultType::Is(Simple::Byte), Nulls::Never),
    Function::typed(&["grouping_id"], ANY, LONG, Nulls::Never),
    Function::typed(
        &["range", "read_files", "read_kafka", "cloud_files", "table_changes"],
        ANY,
        ResultType::Is(Simple::Unknown),
        Nulls::Possible,
    )
    .with_kind(super::function::Kind::TableValued),
    Function::typed(&["ai_query", "http_request"], ANY, ResultType::Is(Simple::Unknown), Nulls::Possible)
        .with_volatility(Volatility::Chance),
];

fn cast_call_nullable(args: &[Argument]) -> bool {
    args.iter().any(|a| a.nullable || a.data_type == DataType::String)
}

fn cast_call(call: &Invocation) -> EvalResult {
    let from = call.types.first().unwrap_or(&DataType::Unknown);
    cast(call.arg(0), from, call.result, call.context.ansi, &call.context.zone)
}

/// A number that depends on the seed (the first argument, where it is given), the partition and the row. Spark draws from a
/// sequence instead; only the distribution is the same.
fn draw(name: &str, call: &Invocation) -> u64 {
    let seed = match call.args.first() {
        Some(Value::Null) | None => Value::Long(call.context.seed.cast_signed()),
        Some(given) => given.clone(),
    };
    let row = Value::Long(call.context.row.cast_signed());
    stable_hash(name, &[seed, Value::Long(i64::from(call.context.partition)), row])
}

/// Uniform in [0, 1).
fn unit(hash: u64) -> f64 {
    (hash >> 11) as f64 / (1u64 << 53) as f64
}

/// Box and Muller.
fn normal(call: &Invocation) -> f64 {
    let (a, b) = (unit(draw("randn", call)), unit(draw("randn-angle", call)));
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

/// Version 4 in form.
fn uuid(high: u64, low: u64) -> String {
    let high = (high & !0xf000) | 0x4000;
    let low = (low & (u64::MAX >> 2)) | (1 << 63);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

fn shuffle(call: &Invocation) -> EvalResult {
    if call.arg(0).is_null() {
        return Ok(Value::Null);
    }
    let mut keyed: Vec<(u64, Value)> = Vec::new();
    for (index, item) in (0i64..).zip(call.array(0)?.iter()) {
        let seed = [
            Value::Long(call.context.seed.cast_signed()),
            Value::Long(call.context.row.cast_signed()),
            Value::Long(index),
        ];
        keyed.push((stable_hash("shuffle", &seed), item.clone()));
    }
    keyed.sort_by_key(|(hash, _)| *hash);
    Ok(Value::Array(keyed.into_iter().map(|(_, item)| item).collect()))
}
