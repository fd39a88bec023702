//! What a function is: names, kind, argument types, result type, nullability and body, in one entry.
//!
//! The tables of the subject modules (`string`, `datetime`, `aggregate`, …) are lists of [`Function`]s; `registry` joins them.

use super::aggregate::Aggregate;
use super::generator::Generator;
pub(super) use super::volatility::Volatility;
use super::window_function::WindowFunction;
use crate::model::{DataType, Value};
use jiff::tz::TimeZone;
use std::fmt;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Scalar,
    Aggregate,
    Generator,
    Window,
    /// Stands in FROM (`range`, `explode`, `read_files`…).
    TableValued,
}

/// One argument, as far as types, nullability and folding need it.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    pub data_type: DataType,
    pub nullable: bool,
    /// Where the argument is foldable: some result types hang on it (`round`'s scale, `from_json`'s schema).
    pub literal: Option<Value>,
    /// Name of the attribute, alias or accessed field: `struct` names its fields after it.
    pub name: Option<Arc<str>>,
}

impl Argument {
    pub fn new(data_type: DataType, nullable: bool) -> Self {
        Argument { data_type, nullable, literal: None, name: None }
    }

    pub fn literal(value: Value, data_type: DataType) -> Self {
        Argument { data_type, nullable: value.is_null(), literal: Some(value), name: None }
    }

    /// A literal's text, where it is a string.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.literal {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }
}

/// A type without parameters, for tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Simple {
    Null,
    Boolean,
    Byte,
    Short,
    Int,
    Long,
    Float,
    Double,
    String,
    Binary,
    Date,
    Timestamp,
    TimestampNtz,
    CalendarInterval,
    DayTimeInterval,
    YearMonthInterval,
    Variant,
    Unknown,
}

impl Simple {
    pub fn data_type(self) -> DataType {
        match self {
            Simple::Null => DataType::Null,
            Simple::Boolean => DataType::Boolean,
            Simple::Byte => DataType::Byte,
            Simple::Short => DataType::Short,
            Simple::Int => DataType::Int,
            Simple::Long => DataType::Long,
            Simple::Float => DataType::Float,
            Simple::Double => DataType::Double,
            Simple::String => DataType::String,
            Simple::Binary => DataType::Binary,
            Simple::Date => DataType::Date,
            Simple::Timestamp => DataType::Timestamp,
            Simple::TimestampNtz => DataType::TimestampNtz,
            Simple::CalendarInterval => DataType::CalendarInterval,
            Simple::DayTimeInterval => DataType::DayTimeInterval,
            Simple::YearMonthInterval => DataType::YearMonthInterval,
            Simple::Variant => DataType::Variant,
            Simple::Unknown => DataType::Unknown,
        }
    }
}

/// What one parameter accepts: Spark's `inputTypes`. Whatever is not accepted is cast implicitly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Param {
    /// As it is.
    Any,
    Is(Simple),
    /// String as it is or binary as it is, else cast to string.
    StringOrBinary,
    /// Any numeric; strings become double.
    Numeric,
    /// Any integral; the rest becomes int.
    Integral,
    /// double or decimal as they are, other numbers become double.
    DoubleOrDecimal,
    /// Any numeric or interval type.
    NumericOrInterval,
    /// timestamp or timestamp_ntz as they are, else cast to timestamp.
    AnyTimestamp,
    Lambda,
}

/// Argument types after implicit casts.
#[derive(Debug, Clone, Copy)]
pub enum Params {
    /// By position; the last repeats for further arguments.
    Each(&'static [Param]),
    /// Arguments from this position on are widened to one type, those before it stay.
    Common(usize),
    /// Its own rule. Returns one type an argument.
    Rule(fn(&[Argument]) -> Vec<DataType>),
}

/// The type of a result, after implicit casts of the arguments.
#[derive(Debug, Clone, Copy)]
pub enum ResultType {
    Is(Simple),
    /// That of the argument at this position.
    Arg(usize),
    /// `array` of a simple type, elements not null.
    ArrayOf(Simple),
    Rule(fn(&[Argument]) -> DataType),
}

/// What the function does with NULL arguments, and whether its result may be NULL.
#[derive(Debug, Clone, Copy)]
pub enum Nulls {
    /// NULL if some argument is NULL, never otherwise.
    Propagate,
    /// NULL if some argument is NULL, and for some values that are not.
    PropagateOrNull,
    /// Sees NULLs and never gives one.
    Never,
    /// Sees NULLs and may give one.
    Possible,
    /// Sees NULLs; nullable if all arguments are (`coalesce`).
    IfAll,
    /// Sees NULLs; nullable if some argument is.
    IfAny,
    /// Sees NULLs; nullable as the rule says.
    Rule(fn(&[Argument]) -> bool),
}

#[derive(Debug, Clone, Copy)]
pub enum Body {
    Scalar(fn(&Invocation) -> EvalResult),
    Aggregate(&'static Aggregate),
    Generator(&'static Generator),
    Window(&'static WindowFunction),
    /// Typed, not implemented: evaluates as an uninterpreted function.
    Uninterpreted,
}

/// One entry of Spark's function registry, or an operator.
#[derive(Debug, Clone, Copy)]
pub struct Function {
    /// Lower case; the first is the one that canonical forms use, the rest are synonyms.
    pub names: &'static [&'static str],
    pub kind: Kind,
    pub volatility: Volatility,
    pub params: Params,
    pub result: ResultType,
    pub nulls: Nulls,
    pub body: Body,
}

impl Function {
    pub const fn scalar(
        names: &'static [&'static str],
        params: Params,
        result: ResultType,
        nulls: Nulls,
        body: fn(&Invocation) -> EvalResult,
    ) -> Self {
        Function {
            names,
            kind: Kind::Scalar,
            volatility: Volatility::Immutable,
            params,
            result,
            nulls,
            body: Body::Scalar(body),
        }
    }

    /// A scalar function of which only the type is known.
    pub const fn typed(names: &'static [&'static str], params: Params, result: ResultType, nulls: Nulls) -> Self {
        Function {
            names,
            kind: Kind::Scalar,
            volatility: Volatility::Immutable,
            params,
            result,
            nulls,
            body: Body::Uninterpreted,
        }
    }

    pub const fn with_volatility(self, volatility: Volatility) -> Self {
        Function { volatility, ..self }
    }

    pub const fn with_kind(self, kind: Kind) -> Self {
        Function { kind, ..self }
    }

    /// The canonical name.
    pub fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    /// Spark's `deterministic`: equal arguments give equal results within one query.
    pub fn deterministic(&self) -> bool {
        self.volatility.is_deterministic()
    }

    /// NULL in, NULL out (`NullIntolerant`): a predicate over the call rejects rows in which an argument is NULL.
    pub fn propagates_null(&self) -> bool {
        matches!(self.nulls, Nulls::Propagate | Nulls::PropagateOrNull)
    }

    /// True where calls are evaluated, false where they are uninterpreted.
    pub fn is_interpreted(&self) -> bool {
        !matches!(self.body, Body::Uninterpreted)
    }

    /// What the argument at a position is cast to, where that does not hang on the other arguments.
    pub fn parameter(&self, index: usize) -> Option<Param> {
        match self.params {
            Params::Each(list) => list.get(index).or_else(|| list.last()).copied(),
            Params::Common(_) | Params::Rule(_) => None,
        }
    }

    /// The first of the arguments that are widened to one type, where the function does so (`coalesce`).
    pub fn widens_from(&self) -> Option<usize> {
        match self.params {
            Params::Common(from) => Some(from),
            Params::Each(_) | Params::Rule(_) => None,
        }
    }

    /// The argument whose type the result has.
    pub fn passes_type_of(&self) -> Option<usize> {
        match self.result {
            ResultType::Arg(index) => Some(index),
            ResultType::Is(_) | ResultType::ArrayOf(_) | ResultType::Rule(_) => None,
        }
    }

    /// How it aggregates, where it is an aggregate function that is implemented.
    pub fn aggregate(&self) -> Option<&'static Aggregate> {
        match self.body {
            Body::Aggregate(aggregate) => Some(aggregate),
            _ => None,
        }
    }

    /// How it makes rows, where it is a generator that is implemented.
    pub fn generator(&self) -> Option<&'static Generator> {
        match self.body {
            Body::Generator(generator) => Some(generator),
            _ => None,
        }
    }

    /// How it looks at its window, where only a window can evaluate it.
    pub fn window_function(&self) -> Option<&'static WindowFunction> {
        match self.body {
            Body::Window(function) => Some(function),
            _ => None,
        }
    }

    /// Type and nullability of a call whose arguments have been coerced (see [`Function::coerce`]).
    pub fn result(&self, args: &[Argument]) -> (DataType, bool) {
        let data_type = match self.result {
            ResultType::Is(simple) => simple.data_type(),
            ResultType::Arg(index) => args.get(index).map_or(DataType::Unknown, |a| a.data_type.clone()),
            ResultType::ArrayOf(simple) => {
                DataType::Array { element: Box::new(simple.data_type()), contains_null: false }
            }
            ResultType::Rule(rule) => rule(args),
        };
        let any = args.iter().any(|a| a.nullable);
        let nullable = match self.nulls {
            Nulls::Propagate | Nulls::IfAny => any,
            Nulls::PropagateOrNull | Nulls::Possible => true,
            Nulls::Never => false,
            Nulls::IfAll => args.iter().all(|a| a.nullable),
            Nulls::Rule(rule) => rule(args),
        };
        (data_type, nullable)
    }

    /// Argument types after Spark's implicit casts (ANSI mode), one for each argument. A type that stays as it is needs no cast.
    pub fn coerce(&self, args: &[Argument]) -> Vec<DataType> {
        super::coercion::coerce(self.params, args)
    }

    /// Evaluates a scalar call. `Err` where the function is not a scalar one.
    pub fn evaluate(&self, call: &Invocation) -> EvalResult {
        super::evaluate::evaluate_function(self, call)
    }
}

/// Evaluates the body of the lambda at an argument position, for given parameters.
pub type LambdaCallback<'a> = &'a dyn Fn(usize, &[Value]) -> EvalResult;

/// One evaluation of a scalar function or generator.
#[derive(Clone, Copy)]
pub struct Invocation<'a> {
    /// Values of the arguments; NULL at the position of a lambda.
    pub args: &'a [Value],
    /// Their types, after coercion; for a lambda the type of its body.
    pub types: &'a [DataType],
    /// Type of the result, as [`Function::result`] gives it.
    pub result: &'a DataType,
    pub context: &'a EvalContext,
    pub lambda: Option<LambdaCallback<'a>>,
}

/// What evaluation depends on beside the arguments.
#[derive(Debug, Clone)]
pub struct EvalContext {
    /// `spark.sql.session.timeZone`.
    pub zone: TimeZone,
    /// `spark.sql.ansi.enabled`, on by default since Spark 4.
    pub ansi: bool,
    /// `current_timestamp()`: microseconds since the epoch.
    pub now: i64,
    /// Seeds the functions that hang on chance where they name no seed.
    pub seed: u64,
    pub partition: u32,
    /// Index of the row in its partition.
    pub row: u64,
}

impl Default for EvalContext {
    /// UTC, ANSI, at the epoch.
    fn default() -> Self {
        EvalContext { zone: TimeZone::UTC, ansi: true, now: 0, seed: 0, partition: 0, row: 0 }
    }
}

/// A failed evaluation, by Spark's error class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvalError {
    /// `DIVIDE_BY_ZERO`, `CAST_INVALID_INPUT`, `ARITHMETIC_OVERFLOW`, …
    pub class: &'static str,
    pub message: String,
}

impl EvalError {
    pub fn new(class: &'static str, message: impl Into<String>) -> Self {
        EvalError { class, message: message.into() }
    }

    /// A value that does not have the type its position promises: a plan that was not analysed, or state of another query.
    pub(super) fn unexpected(expected: &str, value: &Value) -> Self {
        EvalError::new("INTERNAL_ERROR", format!("expected {expected}, found {value:?}"))
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.class, self.message)
    }
}

impl std::error::Error for EvalError {}

pub type EvalResult = Result<Value, EvalError>;
