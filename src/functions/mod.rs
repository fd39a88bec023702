//! Spark SQL's functions, operators and casts: for each, its kind, result type, nullability and evaluation, in one place.
//!
//! Takes a lower-case name as [`crate::model::Call`] has it. A name that is not registered is *uninterpreted*: its result type
//! is unknown and its value a deterministic hash of name and arguments ([`uninterpreted`]).
//!
//! The order of use: [`Function::coerce`] gives the argument types after implicit casts, [`Function::result`] the type of the
//! call over those, [`Function::evaluate`] its value. Behaviour is that of Spark 4 (ANSI on unless the context says otherwise);
//! `tests/functions/spark.tsv` holds results recorded from Spark itself.

mod access;
pub mod aggregate;
mod arithmetic;
mod array;
mod calendar;
mod cast;
mod coercion;
mod comparison;
mod conditional;
mod context;
mod datetime;
mod datetime_arithmetic;
mod datetime_pattern;
mod ddl;
mod decimal;
mod digest;
mod evaluate;
mod extract_value;
mod function;
pub mod generator;
mod hash;
mod higher_order;
mod interval;
mod json;
mod json_path;
mod json_schema;
mod lambda;
mod listing;
mod map;
mod math;
mod regexp;
mod registry;
mod sequence;
pub mod signature;
mod string;
mod string_format;
mod time_window;
mod uninterpreted;
mod volatility;
pub mod window_function;

pub use aggregate::{Aggregate, AggregateCall};
pub use cast::{can_cast, can_up_cast, cast, cast_nullable, display, try_cast};
pub use coercion::{common_type, wider_type};
pub use ddl::{TypeTokens, data_type, field, parse_data_type, parse_schema};
pub use evaluate::{coerce, evaluate, result};

pub use function::{
    Argument, EvalContext, EvalError, EvalResult, Function, Invocation, Kind, LambdaCallback, Param, Simple,
};
pub use generator::Generator;
pub use interval::{Interval, parse_interval};
pub use lambda::lambda_parameters;
pub use registry::{all, is_sensitive, lookup};
pub use time_window::{TimeWindow, time_windows};
pub use uninterpreted::uninterpreted;
pub use volatility::{Volatility, of_call as call_volatility, volatility};
pub use window_function::{Partition, WindowFunction};
