//! Rows, and tables of them.

use crate::model::{Attribute, Schema, Value};
use std::sync::Arc;

/// Values in the order of a schema.
pub type Row = Arc<[Value]>;

/// Rows under one schema. Order carries no meaning except under a global sort.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    pub schema: Schema,
    pub rows: Vec<Row>,
}

impl Rows {
    pub fn new(schema: Schema, rows: Vec<Row>) -> Self {
        Rows { schema, rows }
    }

    pub fn empty(schema: Schema) -> Self {
        Rows { schema, rows: Vec::new() }
    }

    /// The same rows with these columns, found by name without letter case; a column that is not there is NULL.
    pub fn project(&self, columns: &[Attribute]) -> Vec<Row> {
        let ordinals: Vec<Option<usize>> = columns
            .iter()
            .map(|column| {
                let fields = &self.schema.fields;
                fields
                    .iter()
                    .position(|field| *field.name == *column.name)
                    .or_else(|| fields.iter().position(|field| field.name.eq_ignore_ascii_case(&column.name)))
            })
            .collect();
        let pick =
            |row: &Row| ordinals.iter().map(|at| at.and_then(|i| row.get(i)).cloned().unwrap_or(Value::Null)).collect();
        self.rows.iter().map(pick).collect()
    }
}
