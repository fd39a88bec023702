//! Typed access to values inside function bodies, and the way back.
//!
//! Integral accessors accept every integral type, so that a body need not care which of them coercion left standing.

use super::function::{EvalError, Invocation};
use crate::model::{Decimal, Value};
use std::sync::Arc;

pub(super) fn boolean(value: &Value) -> Result<bool, EvalError> {
    match value {
        Value::Boolean(v) => Ok(*v),
        // The outcome of an uninterpreted predicate: as stable as its hash.
        Value::Opaque(hash) => Ok(hash & 1 == 1),
        other => Err(EvalError::unexpected("boolean", other)),
    }
}

pub(super) fn long(value: &Value) -> Result<i64, EvalError> {
    match value {
        Value::Byte(v) => Ok(i64::from(*v)),
        Value::Short(v) => Ok(i64::from(*v)),
        Value::Int(v) | Value::Date(v) | Value::YearMonthInterval(v) => Ok(i64::from(*v)),
        Value::Long(v) | Value::Timestamp(v) | Value::TimestampNtz(v) | Value::DayTimeInterval(v) => Ok(*v),
        other => Err(EvalError::unexpected("an integer", other)),
    }
}

pub(super) fn int(value: &Value) -> Result<i32, EvalError> {
    let wide = long(value)?;
    i32::try_from(wide).map_err(|_| EvalError::unexpected("int", value))
}

pub(super) fn double(value: &Value) -> Result<f64, EvalError> {
    match value {
        Value::Double(v) => Ok(*v),
        Value::Float(v) => Ok(f64::from(*v)),
        Value::Decimal(v) => Ok(super::decimal::to_double(*v)),
        other => long(other).map(|v| v as f64).map_err(|_| EvalError::unexpected("a number", other)),
    }
}

pub(super) fn decimal(value: &Value) -> Result<Decimal, EvalError> {
    match value {
        Value::Decimal(v) => Ok(*v),
        other => {
            let unscaled = i128::from(long(other).map_err(|_| EvalError::unexpected("decimal", other))?);
            Ok(Decimal { unscaled, precision: 20, scale: 0 })
        }
    }
}

pub(super) fn text(value: &Value) -> Result<&str, EvalError> {
    match value {
        Value::String(v) => Ok(v),
        other => Err(EvalError::unexpected("string", other)),
    }
}

/// Bytes of a binary or a string.
pub(super) fn bytes(value: &Value) -> Result<&[u8], EvalError> {
    match value {
        Value::Binary(v) => Ok(v),
        Value::String(v) => Ok(v.as_bytes()),
        other => Err(EvalError::unexpected("binary", other)),
    }
}

pub(super) fn array(value: &Value) -> Result<&Arc<[Value]>, EvalError> {
    match value {
        Value::Array(v) => Ok(v),
        other => Err(EvalError::unexpected("array", other)),
    }
}

pub(super) fn map(value: &Value) -> Result<&Arc<[(Value, Value)]>, EvalError> {
    match value {
        Value::Map(v) => Ok(v),
        other => Err(EvalError::unexpected("map", other)),
    }
}

pub(super) fn fields(value: &Value) -> Result<&Arc<[Value]>, EvalError> {
    match value {
        Value::Struct(v) => Ok(v),
        other => Err(EvalError::unexpected("struct", other)),
    }
}

/// Length as Spark's `int`.
pub(super) fn int_length(length: usize) -> Value {
    Value::Int(i32::try_from(length).unwrap_or(i32::MAX))
}

impl Invocation<'_> {
    /// Argument by position; a missing optional one is NULL.
    pub(super) fn arg(&self, index: usize) -> &Value {
        self.args.get(index).unwrap_or(&Value::Null)
    }

    pub(super) fn text(&self, index: usize) -> Result<&str, EvalError> {
        text(self.arg(index))
    }

    pub(super) fn long(&self, index: usize) -> Result<i64, EvalError> {
        long(self.arg(index))
    }

    pub(super) fn int(&self, index: usize) -> Result<i32, EvalError> {
        int(self.arg(index))
    }

    pub(super) fn double(&self, index: usize) -> Result<f64, EvalError> {
        double(self.arg(index))
    }

    pub(super) fn bytes(&self, index: usize) -> Result<&[u8], EvalError> {
        bytes(self.arg(index))
    }

    pub(super) fn array(&self, index: usize) -> Result<&Arc<[Value]>, EvalError> {
        array(self.arg(index))
    }

    pub(super) fn map(&self, index: usize) -> Result<&Arc<[(Value, Value)]>, EvalError> {
        map(self.arg(index))
    }

    /// Calls the lambda at an argument position.
    pub(super) fn apply(&self, index: usize, parameters: &[Value]) -> Result<Value, EvalError> {
        match self.lambda {
            Some(callback) => callback(index, parameters),
            None => Err(EvalError::new("INTERNAL_ERROR", "a lambda without a body")),
        }
    }
}
