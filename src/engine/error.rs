//! Why a query failed while it ran.

use crate::functions::EvalError;
use std::fmt;

/// A failed query, by Spark's error class. `STREAM_FAILED/…` stands for failures to which Spark gives no class of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionError {
    pub class: String,
    pub message: String,
}

impl ExecutionError {
    pub fn new(class: impl Into<String>, message: impl Into<String>) -> Self {
        ExecutionError { class: class.into(), message: message.into() }
    }

    /// A plan that the engine cannot execute: not analysed, or unresolved in some part.
    pub fn unsupported(message: impl Into<String>) -> Self {
        ExecutionError::new(UNSUPPORTED, message)
    }

    /// True where the engine is at a loss, and nothing is observed about the query: a plan that it cannot execute, or a value
    /// that does not have the type of its column.
    pub fn is_unsupported(&self) -> bool {
        self.class == UNSUPPORTED || self.class == "INTERNAL_ERROR"
    }

    /// True where other rows would not have met it.
    pub fn tells_of_values(&self) -> bool {
        const CLASSES: &[&str] = &[
            "CANNOT_DECODE_URL",
            "CANNOT_PARSE_DECIMAL",
            "CANNOT_PARSE_INTERVAL",
            "CANNOT_PARSE_TIMESTAMP",
            "CAST_INVALID_INPUT",
            "COLLECTION_SIZE_LIMIT_EXCEEDED",
            "CONVERSION_INVALID_INPUT",
            "DATETIME_FIELD_OUT_OF_BOUNDS",
            "DIVIDE_BY_ZERO",
            "DUPLICATED_MAP_KEY",
            "EXPECTATION_VIOLATION",
            "INTERVAL_DIVIDED_BY_ZERO",
            "INVALID_ARRAY_INDEX",
            "INVALID_ARRAY_INDEX_IN_ELEMENT_AT",
            "INVALID_INDEX_OF_ZERO",
            "MALFORMED_RECORD_IN_PARSING",
            "NULL_MAP_KEY",
            "NUMERIC_VALUE_OUT_OF_RANGE",
            "REMAINDER_BY_ZERO",
            "USER_RAISED_EXCEPTION",
        ];
        let class = self.class.split('.').next().unwrap_or_default();
        CLASSES.contains(&class) || class.ends_with("_OVERFLOW")
    }
}

const UNSUPPORTED: &str = "UNSUPPORTED_PLAN";

impl fmt::Display for ExecutionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.class, self.message)
    }
}

impl std::error::Error for ExecutionError {}

impl From<EvalError> for ExecutionError {
    fn from(error: EvalError) -> Self {
        ExecutionError::new(error.class, error.message)
    }
}
