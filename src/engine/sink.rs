//! Writing micro-batches into tables, exactly once by each format's own means.

use super::batch::{GivenBatch, run_steps};
use super::delta::StreamWriter;
use super::error::ExecutionError;
use super::row::Rows;
use super::stream::{Sink, SinkBatch};
use super::table::{CommitKind, TableFormat};
use super::world::{BatchFunction, World};
use crate::model::{OutputMode, Pipeline};

/// Appends to (or, in complete mode, replaces) the table at a location that exists.
pub struct TableSink<'a> {
    pub location: &'a str,
    /// The flow's name, kept with the files it writes.
    pub writer: &'a str,
    pub output_mode: OutputMode,
    /// Another flow writes into the same table in this update: over files the two race for `_spark_metadata`.
    pub concurrent: bool,
    /// A table of the catalog, which is read again after a write; a folder is not.
    pub cataloged: bool,
    /// A writer outside of pipelines into a Delta table, whose columns no definition has settled.
    pub delta: Option<StreamWriter>,
}

impl Sink for TableSink<'_> {
    fn write(&mut self, world: &mut World, batch: SinkBatch) -> Result<usize, ExecutionError> {
        let Some(table) = world.tables.get_mut(self.location) else {
            return Err(ExecutionError::new("TABLE_OR_VIEW_NOT_FOUND", format!("no table at {}", self.location)));
        };
        if table.has_committed(batch.query, batch.batch) {
            if self.concurrent && table.format.is_files() {
                return Err(ExecutionError::new(
                    "STREAM_FAILED/FILE_SINK_RACE",
                    format!(
                        "Race while writing batch {} to the file sink metadata log at {}: another writer already \
                         committed this batch",
                        batch.batch, table.location
                    ),
                ));
            }
            return Ok(0);
        }
        let rows = match self.delta.as_ref().filter(|_| table.format == TableFormat::Delta) {
            Some(writer) => {
                let rows = writer.rows(table, &batch.rows)?;
                table.schema = rows.schema.clone();
                rows
            }
            None => batch.rows,
        };
        let Rows { schema, rows } = rows;
        let count = rows.len();
        if self.output_mode == OutputMode::Complete {
            table.replace(CommitKind::Overwrite, rows, &schema, Some(self.writer));
            table.note_transaction(batch.query, batch.batch);
            return Ok(count);
        }
        if table.format.is_files() {
            // The log is compacted every tenth batch; a batch whose predecessors since then are not there cannot be read.
            let last_compacted = (batch.batch / 10 * 10).saturating_sub(1);
            let missing = (last_compacted..batch.batch).find(|earlier| !table.sink_log.contains_key(earlier));
            let paths = table.append(rows, &schema, Some(self.writer));
            table.sink_log.insert(batch.batch, paths);
            if let Some(missing) = missing.filter(|_| self.cataloged) {
                return Err(ExecutionError::new(
                    "STREAM_FAILED/FILE_SINK_LOG_MISSING",
                    format!("{}/_spark_metadata/{missing} doesn't exist", table.location),
                ));
            }
        } else {
            table.append(rows, &schema, Some(self.writer));
            table.note_transaction(batch.query, batch.batch);
        }
        Ok(count)
    }
}

/// Hands each batch to a function, whose statements write where they say; nothing keeps it from doing so twice.
pub struct FunctionSink<'a> {
    pub function: BatchFunction,
    pub pipeline: &'a Pipeline,
}

impl Sink for FunctionSink<'_> {
    fn write(&mut self, world: &mut World, batch: SinkBatch) -> Result<usize, ExecutionError> {
        let count = batch.rows.rows.len();
        let given = GivenBatch { name: &self.function.batch, number: batch.batch, rows: batch.rows };
        run_steps(world, self.pipeline, &self.function.steps, Some(given))?;
        Ok(count)
    }
}

/// Takes rows and keeps none: connectors whose content nobody reads back.
pub struct NoSink;

impl Sink for NoSink {
    fn write(&mut self, _: &mut World, batch: SinkBatch) -> Result<usize, ExecutionError> {
        Ok(batch.rows.rows.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::table::TableFormat;
    use crate::model::{DataType, Field, Schema, Value};

    fn write(world: &mut World, query: u64, batch: u64, concurrent: bool) -> Result<usize, ExecutionError> {
        let schema = Schema::new(vec![Field::new("id", DataType::Long)]);
        let rows = Rows::new(schema, vec![[Value::Long(i64::try_from(query).unwrap())].into()]);
        let mut sink = TableSink {
            location: "t",
            writer: "f",
            output_mode: OutputMode::Append,
            concurrent,
            cataloged: true,
            delta: None,
        };
        sink.write(world, SinkBatch { query, batch, rows })
    }

    fn world(format: TableFormat) -> World {
        let mut world = World::new();
        world.create("t", format, Schema::new(vec![Field::new("id", DataType::Long)]));
        world
    }

    #[test]
    fn a_new_query_over_files_has_its_first_batches_passed_over() {
        let mut world = world(TableFormat::Files("parquet".to_owned()));
        assert_eq!(write(&mut world, 1, 0, false), Ok(1));
        assert_eq!(write(&mut world, 2, 0, false), Ok(0));
        assert_eq!(write(&mut world, 2, 1, false), Ok(1));
    }

    #[test]
    fn a_new_query_over_delta_writes_everything_again_and_a_replay_does_not() {
        let mut world = world(TableFormat::Delta);
        assert_eq!(write(&mut world, 1, 0, false), Ok(1));
        assert_eq!(write(&mut world, 1, 0, false), Ok(0));
        assert_eq!(write(&mut world, 2, 0, false), Ok(1));
    }

    #[test]
    fn iceberg_forgets_a_batch_with_the_snapshot_that_made_it() {
        let mut world = world(TableFormat::Iceberg);
        assert_eq!(write(&mut world, 1, 0, false), Ok(1));
        world.tables.get_mut("t").unwrap().expire_before(1);
        assert_eq!(write(&mut world, 1, 0, false), Ok(1));
    }

    #[test]
    fn two_queries_over_files_race_and_a_lost_log_is_found_missing() {
        let mut world = world(TableFormat::Files("json".to_owned()));
        assert_eq!(write(&mut world, 1, 0, true), Ok(1));
        assert_eq!(write(&mut world, 2, 0, true).unwrap_err().class, "STREAM_FAILED/FILE_SINK_RACE");
        world.tables.get_mut("t").unwrap().truncate();
        assert_eq!(write(&mut world, 1, 3, false).unwrap_err().class, "STREAM_FAILED/FILE_SINK_LOG_MISSING");
    }
}
