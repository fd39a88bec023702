//! The column that a `window` or `session_window` call becomes: a struct of two instants of the event time's type.

use super::project::internal_id;
use crate::engine::expression::Bound;
use crate::model::{Attribute, DataType, Expr, Field, Value};

/// Far from the ids of groupings and results.
const FIRST_ID: usize = 1_000_000;

pub(super) struct WindowColumn {
    pub attribute: Attribute,
    wrap: fn(i64) -> Value,
}

/// The call that it stands for; each has an id of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WindowCall {
    Session,
    Time,
}

impl WindowColumn {
    /// For windows over an event time.
    pub fn new(call: WindowCall, time: &Bound) -> Self {
        let (name, id) = match call {
            WindowCall::Session => ("session_window", FIRST_ID),
            WindowCall::Time => ("window", FIRST_ID + 1),
        };
        let (instant, wrap): (DataType, fn(i64) -> Value) = match time.data_type {
            DataType::TimestampNtz => (DataType::TimestampNtz, Value::TimestampNtz),
            _ => (DataType::Timestamp, Value::Timestamp),
        };
        let fields = ["start", "end"].map(|name| Field::new(name, instant.clone()));
        let attribute = Attribute {
            id: internal_id(id),
            name: name.into(),
            data_type: DataType::Struct(fields.into()),
            nullable: false,
            qualifier: Vec::new(),
            watermark_delay: time.watermark_delay,
        };
        WindowColumn { attribute, wrap }
    }

    /// A window's value; both ends in microseconds.
    pub fn value(&self, start: i64, end: i64) -> Value {
        Value::Struct([(self.wrap)(start), (self.wrap)(end)].into())
    }

    /// The expression with the column wherever the call stood.
    pub fn in_place_of(&self, call: &Expr, expr: Expr) -> Expr {
        if expr == *call {
            return Expr::Attribute(self.attribute.clone());
        }
        expr.map_children(&mut |child| self.in_place_of(call, child))
    }
}
