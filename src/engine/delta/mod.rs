//! What Delta Lake's writer does with rows that come to a table: one knowledge for streaming queries and scripts.
//!
//! Takes a table's columns, properties and constraints, and rows under the columns of a query; gives the rows as the table's, with
//! its columns as they are afterwards, or the error that Delta raises. Named after Delta's own classes: schema enforcement and
//! evolution (`ImplicitMetadataOperation`, `SchemaMergingUtils`), casts (`DeltaSink`, since 4.0), generated columns and
//! invariants (`DeltaInvariantCheckerExec`).

mod constraints;
mod options;
mod schema;
pub mod writer;

pub use options::check_reader;
pub use schema::Evolution;

use super::error::ExecutionError;
use super::row::Rows;
use super::table::Table;
use crate::model::{OutputMode, Schema};
use std::collections::BTreeMap;

/// What a table demands of its rows, and fills itself.
pub use crate::model::TableConstraint;

/// A streaming query that writes into a table which is there.
#[derive(Debug, Clone)]
pub struct StreamWriter {
    pub evolution: Evolution,
    /// Columns of `partitionBy`; none where the writer says nothing.
    pub partition_by: Vec<String>,
    pub output_mode: OutputMode,
}

impl StreamWriter {
    /// From the options of `writeStream`, by lower-case name, and the session's configuration.
    pub fn new(
        options: &BTreeMap<String, String>,
        configuration: &BTreeMap<String, String>,
        partition_by: &[String],
        output_mode: OutputMode,
        version: (u32, u32),
    ) -> Self {
        let evolution = Evolution::of(options, configuration, version);
        StreamWriter { evolution, partition_by: partition_by.to_vec(), output_mode }
    }

    /// A batch as rows of the table, with the columns that the table has afterwards (`DeltaSink.addBatch`).
    ///
    /// # Errors
    /// `DELTA_METADATA_MISMATCH`, `DELTA_FAILED_TO_MERGE_FIELDS`, what a cast fails with, those of constraints, and
    /// `DELTA_CANNOT_MODIFY_APPEND_ONLY`.
    pub fn rows(&self, table: &Table, rows: &Rows) -> Result<Rows, ExecutionError> {
        let complete = self.output_mode == OutputMode::Complete;
        let same =
            |a: &[String], b: &[String]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.eq_ignore_ascii_case(b));
        let partitions = &table.layout.partition_by;
        let replaces = complete && self.evolution.overwrites;
        if !replaces && !self.partition_by.is_empty() && !same(&self.partition_by, partitions) {
            return Err(mismatch(&table.location, "the partition columns do not match those of the table"));
        }
        let schema = if replaces {
            rows.schema.clone()
        } else {
            schema::on_write(
                &table.schema,
                &rows.schema,
                &self.evolution.for_table(&table.properties),
                &table.location,
            )?
        };
        if complete && table.properties.get("delta.appendOnly").is_some_and(|value| is_true(value)) {
            let message = format!("{} is configured to only allow appends", table.location);
            return Err(ExecutionError::new("DELTA_CANNOT_MODIFY_APPEND_ONLY", message));
        }
        Ok(Rows::new(schema.clone(), stored(rows, &schema, &table.constraints)?))
    }
}

/// The rows of a query as rows of a table: columns by name, cast, filled and held against what the table demands.
///
/// # Errors
/// What a cast fails with, and those of constraints.
pub fn stored(
    rows: &Rows,
    schema: &Schema,
    constraints: &[TableConstraint],
) -> Result<Vec<super::row::Row>, ExecutionError> {
    let given: Vec<bool> = schema.fields.iter().map(|field| rows.schema.field(&field.name).is_some()).collect();
    let cast = schema::by_name(rows, schema)?;
    constraints::enforce(Rows::new(schema.clone(), cast), &given, constraints)
}

/// Rows that have the table's columns already, held against what it demands.
///
/// # Errors
/// Those of constraints.
pub fn enforced(rows: Rows, constraints: &[TableConstraint]) -> Result<Vec<super::row::Row>, ExecutionError> {
    let given = vec![true; rows.schema.fields.len()];
    constraints::enforce(rows, &given, constraints)
}

pub(super) fn is_true(value: &str) -> bool {
    value.trim().eq_ignore_ascii_case("true")
}

pub fn mismatch(table: &str, what: &str) -> ExecutionError {
    ExecutionError::new("DELTA_METADATA_MISMATCH", format!("a mismatch was detected when writing to {table}: {what}"))
}
