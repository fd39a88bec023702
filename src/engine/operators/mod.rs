//! Physical operators: execute an analysed, optimized plan on rows, once ([`run_batch`]) or one micro-batch at a time against
//! state ([`run_micro_batch`]), as Spark's `SparkPlan`s do.

use super::error::ExecutionError;
use super::row::Rows;
use super::session::Session;
use super::state::StateStores;
use crate::model::{OutputMode, Plan, Read};
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
    let _ = (plan, tables, session);
    Err(ExecutionError::unsupported("not executed yet"))
}

/// Executes one micro-batch of a plan with at least one streaming leaf.
///
/// # Errors
/// What the query would fail with in Spark, or an error that [`ExecutionError::is_unsupported`].
pub fn run_micro_batch(plan: &Plan, batch: MicroBatch<'_>) -> Result<BatchOutput, ExecutionError> {
    let _ = (plan, batch.inputs);
    Err(ExecutionError::unsupported("not executed yet"))
}

/// Whether a batch without new rows would still change something, because the watermark went from `old` to `new`
/// (milliseconds) after a batch: `StateStoreWriter.shouldRunAnotherBatch`, asked of every stateful operator.
pub fn needs_no_data_batch(plan: &Plan, old: i64, new: i64, output_mode: OutputMode) -> bool {
    let _ = (plan, output_mode);
    new > old
}
