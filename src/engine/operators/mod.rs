//! Physical operators: execute an analysed, optimized plan on rows, once ([`run_batch`]) or one micro-batch at a time against
//! state ([`run_micro_batch`]), as Spark's `SparkPlan`s do.

mod aggregate;
mod aggregate_functions;
mod deduplicate;
mod execution;
mod frame;
mod generate;
mod grouping;
mod join;
mod join_condition;
mod join_state;
mod limit;
mod not_null;
mod opaque;
mod project;
mod relation;
mod scan;
mod session_window;
mod set_operation;
mod sort;
mod state_watermark;
mod stateful_map;
mod streaming_join;
#[cfg(test)]
mod tests;
mod time_window;
mod union;
mod watermark;
mod window;
mod window_column;

use super::error::ExecutionError;
use super::expression::Evaluator;
use super::row::{Row, Rows};
use super::session::Session;
use super::state::StateStores;
use crate::model::{Attribute, Field, OutputMode, Plan, Read, Schema};
use execution::{Execution, Streaming};
use relation::{InputWatermark, Relation};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Gives the rows of what is read as a table.
pub trait Tables {
    /// All rows of a batch read, with the columns the table has now; the engine picks those of `read.output` by name.
    ///
    /// # Errors
    /// What Spark would fail with (`TABLE_OR_VIEW_NOT_FOUND`, …).
    fn scan(&self, read: &Read) -> Result<Rows, ExecutionError>;
}

/// Watermarks of one micro-batch, in milliseconds since the epoch. Both are 0 as long as none has been observed.
///
/// Spark drops late rows by the watermark of the *previous* batch and evicts state by that of the current one
/// (`WatermarkPropagator.getInputWatermarkForLateEvents` and `getInputWatermarkForEviction`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Watermarks {
    /// `batchWatermarkMs` of the previous batch's offset log entry; 0 for batch 0.
    pub late_events: i64,
    /// `batchWatermarkMs` of this batch.
    pub eviction: i64,
}

/// One micro-batch of a streaming query.
pub struct MicroBatch<'a> {
    /// New rows of each streaming leaf, in the order of the leaves ([`Plan::reads`] that are streaming). A no-data batch has
    /// empty ones.
    pub inputs: &'a [Rows],
    pub tables: &'a dyn Tables,
    /// State before the batch; after an error its content is undefined, so that callers keep the old one until then.
    pub state: &'a mut StateStores,
    pub watermarks: Watermarks,
    pub output_mode: OutputMode,
    /// With the batch's id and timestamp.
    pub session: &'a Session,
}

/// What a watermark node saw in one batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventTimeStats {
    /// Milliseconds since the epoch; none where no row had an event time.
    pub max: Option<i64>,
    /// Milliseconds.
    pub delay: i64,
}

#[derive(Debug, Clone)]
pub struct BatchOutput {
    /// Rows for the sink: appended, updated, or the whole result, as the output mode says.
    pub rows: Rows,
    /// One entry a watermark node, in the order of the plan, parents first.
    pub event_time: Vec<EventTimeStats>,
    /// Functions that were evaluated as uninterpreted ones.
    pub uninterpreted: BTreeSet<String>,
}

/// Executes a plan whose leaves are all tables.
///
/// # Errors
/// What the query would fail with in Spark, or an error that [`ExecutionError::is_unsupported`].
pub fn run_batch(plan: &Plan, tables: &dyn Tables, session: &Session) -> Result<BatchOutput, ExecutionError> {
    let uninterpreted = RefCell::default();
    let evaluator = Evaluator::new(tables, session, &uninterpreted);
    let relation = Execution::batch(&evaluator).execute(plan)?;
    Ok(output(relation, Vec::new(), &uninterpreted))
}

/// Executes one micro-batch of a plan with at least one streaming leaf.
///
/// # Errors
/// What the query would fail with in Spark, or an error that [`ExecutionError::is_unsupported`].
pub fn run_micro_batch(plan: &Plan, batch: MicroBatch<'_>) -> Result<BatchOutput, ExecutionError> {
    let uninterpreted = RefCell::default();
    let evaluator = Evaluator::new(batch.tables, batch.session, &uninterpreted);
    let Watermarks { late_events, eviction } = batch.watermarks;
    let origin = InputWatermark { late_events, eviction, next: eviction };
    let streaming = Streaming::new(batch.inputs, batch.state, origin, batch.output_mode);
    let mut execution = Execution::streaming(&evaluator, streaming);
    let relation = execution.execute(plan)?;
    let event_time = execution.streaming.map(|streaming| streaming.event_time).unwrap_or_default();
    Ok(output(relation, event_time, &uninterpreted))
}

/// Whether a batch without new rows would still change something, because the watermark went from `old` to `new`
/// (milliseconds) after a batch: `StateStoreWriter.shouldRunAnotherBatch`, asked of every stateful operator.
pub fn needs_no_data_batch(plan: &Plan, old: i64, new: i64, output_mode: OutputMode) -> bool {
    let mut state = StateStores::default();
    let inputs: Vec<Rows> =
        plan.reads().into_iter().filter(|read| read.streaming).map(|read| Rows::empty(schema(&read.output))).collect();
    let session = Session::default();
    let uninterpreted = RefCell::default();
    let evaluator = Evaluator::new(&NoRows, &session, &uninterpreted);
    // Without rows nothing but the flow of watermarks through the operators is left of the execution.
    let origin = InputWatermark { late_events: old, eviction: old, next: new };
    let mut execution = Execution::streaming(&evaluator, Streaming::new(&inputs, &mut state, origin, output_mode));
    let executed = execution.execute(plan).is_ok();
    executed && execution.streaming.is_some_and(|streaming| streaming.another_batch)
}

/// Tables that are all empty.
struct NoRows;

impl Tables for NoRows {
    fn scan(&self, read: &Read) -> Result<Rows, ExecutionError> {
        Ok(Rows::empty(schema(&read.output)))
    }
}

fn schema(columns: &[Attribute]) -> Schema {
    let field = |column: &Attribute| Field {
        name: column.name.to_string(),
        data_type: column.data_type.clone(),
        nullable: column.nullable,
    };
    Schema::new(columns.iter().map(field).collect())
}

fn output(
    relation: Relation,
    event_time: Vec<EventTimeStats>,
    uninterpreted: &RefCell<BTreeSet<String>>,
) -> BatchOutput {
    let rows = Rows::new(schema(&relation.columns), relation.rows);
    BatchOutput { rows, event_time, uninterpreted: uninterpreted.take() }
}

/// Columns and rows of a subquery, which may look at the rows around it.
pub(super) fn run_subquery(
    plan: &Plan,
    evaluator: &Evaluator<'_>,
) -> Result<(Vec<Attribute>, Vec<Row>), ExecutionError> {
    if plan.is_streaming() {
        return Err(ExecutionError::unsupported("a streaming read inside of a subquery is not executed"));
    }
    let relation = Execution::batch(evaluator).execute(plan)?;
    Ok((relation.columns, relation.rows))
}
