//! One run of a streaming query: restart checks, micro-batches until nothing is new, watermark, state and commits
//! (`MicroBatchExecution` under `Trigger.AvailableNow`).

use super::checkpoint::{Checkpoint, Offset, OffsetEntry, SourceLog, SourceOffsets};
use super::error::ExecutionError;
use super::expectation::Checks;
use super::operators::{EventTimeStats, MicroBatch, Watermarks, needs_no_data_batch, run_micro_batch};
use super::platform::Behaviour;
use super::restart;
use super::row::Rows;
use super::scan::Snapshot;
use super::session::Session;
use super::source::StreamSource;
use super::world::World;
use crate::model::{OutputMode, Pipeline, Plan, Read, StatefulOperator};
use std::collections::{BTreeMap, BTreeSet};

/// A query as one run sees it.
pub struct Query<'a> {
    pub pipeline: &'a Pipeline,
    pub plan: &'a Plan,
    pub operators: &'a [StatefulOperator],
    pub output_mode: OutputMode,
    /// The session's configuration.
    pub configuration: BTreeMap<String, String>,
    pub available_now: bool,
    /// What its rows must hold.
    pub checks: Checks<'a>,
}

/// Rows of one micro-batch on their way to the sink.
pub struct SinkBatch {
    pub query: u64,
    pub batch: u64,
    pub rows: Rows,
}

/// Where a query's micro-batches go.
pub trait Sink {
    /// # Errors
    /// What the writer fails with; the batch is then not committed.
    fn write(&mut self, world: &mut World, batch: SinkBatch) -> Result<usize, ExecutionError>;
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    pub batches: u64,
    /// Rows given to the sink and not passed over by it.
    pub rows: usize,
    /// The checkpoint was empty: every source was read from its beginning.
    pub from_nothing: bool,
    pub uninterpreted: BTreeSet<String>,
    /// Expectations whose condition was NULL for some row: whether that violates them is not documented.
    pub null_conditions: BTreeSet<String>,
}

/// More consecutive batches than any finite source asks for.
const BATCH_LIMIT: usize = 10_000;

/// Runs a query until its sources have nothing new, on the checkpoint kept under `identity`. What a failed run wrote into the
/// checkpoint stays there.
///
/// # Errors
/// What the query failed with.
pub fn run(
    world: &mut World,
    identity: &str,
    query: &Query<'_>,
    sink: &mut dyn Sink,
) -> Result<Progress, ExecutionError> {
    let mut checkpoint = match world.checkpoints.remove(identity) {
        Some(checkpoint) => checkpoint,
        None => Checkpoint::new(world.identity()),
    };
    let result = Run::start(world, &mut checkpoint, query).and_then(|mut run| run.batches(world, sink));
    world.checkpoints.insert(identity.to_owned(), checkpoint);
    result
}

struct Run<'a, 'q> {
    query: &'a Query<'q>,
    checkpoint: &'a mut Checkpoint,
    behaviour: Behaviour,
    configuration: BTreeMap<String, String>,
    sources: Vec<(String, StreamSource<'a>)>,
    by_name: bool,
    operators: Vec<StatefulOperator>,
    tracker: WatermarkTracker,
    progress: Progress,
    state_compared: bool,
}

impl<'a, 'q> Run<'a, 'q> {
    fn start(world: &World, checkpoint: &'a mut Checkpoint, query: &'a Query<'q>) -> Result<Self, ExecutionError> {
        let behaviour = Behaviour::of(query.pipeline);
        let by_name = flag(&query.configuration, restart::SOURCE_EVOLUTION, false);
        let leaves: Vec<&Read> = query.plan.reads().into_iter().filter(|read| read.streaming).collect();
        restart::compare_sources(checkpoint, leaves.len(), by_name, behaviour)?;
        let configuration = restart::configuration(checkpoint, &query.configuration, behaviour);
        let mut sources = Vec::new();
        for (position, read) in leaves.into_iter().enumerate() {
            let name = match &read.name {
                Some(name) if by_name => name.clone(),
                _ => position.to_string(),
            };
            sources.push((
                name,
                StreamSource::open(read, query.pipeline, world, query.available_now)?.in_session(&query.configuration),
            ));
        }
        let operators = restart::stored_operators(query.operators, &query.configuration, &configuration);
        let tracker = WatermarkTracker {
            global: checkpoint.watermark(),
            by_operator: Vec::new(),
            latest: configuration.get("spark.sql.streaming.multipleWatermarkPolicy").map(String::as_str) == Some("max"),
        };
        let progress = Progress { from_nothing: checkpoint.is_new(), ..Progress::default() };
        let run = Run {
            query,
            checkpoint,
            behaviour,
            configuration,
            sources,
            by_name,
            operators,
            tracker,
            progress,
            state_compared: false,
        };
        run.recover(world)?;
        Ok(run)
    }

    /// Lets every source take up the last batch of the log.
    fn recover(&self, world: &World) -> Result<(), ExecutionError> {
        let last = self.checkpoint.offsets.len();
        let empty = SourceLog::default();
        for (position, (name, source)) in self.sources.iter().enumerate() {
            let end = self.offset(last, position, name);
            let start = self.offset(last.saturating_sub(1), position, name);
            let log = self.checkpoint.source_logs.get(name).unwrap_or(&empty);
            source.recover(world, start, end, log)?;
        }
        Ok(())
    }

    /// The offset of a source after the first `entries` of the log.
    fn offset(&self, entries: usize, position: usize, name: &str) -> Option<&Offset> {
        let entry = self.checkpoint.offsets.get(entries.checked_sub(1)?)?;
        match &entry.sources {
            SourceOffsets::ByPosition(offsets) => offsets.get(position)?.as_ref(),
            SourceOffsets::ByName(offsets) => offsets.get(name)?.as_ref(),
        }
    }

    fn batches(&mut self, world: &mut World, sink: &mut dyn Sink) -> Result<Progress, ExecutionError> {
        if self.checkpoint.uncommitted().is_some() {
            self.execute(world, sink)?;
        }
        let mut endless_done = false;
        let mut old_watermark = None;
        for _ in 0..BATCH_LIMIT {
            let ends = self.latest(world, endless_done)?;
            let current = self.checkpoint.offsets.len();
            let new_data = self
                .sources
                .iter()
                .zip(&ends)
                .enumerate()
                .any(|(position, ((name, _), end))| end.as_ref() != self.offset(current, position, name));
            let flushes = old_watermark.is_some_and(|old| {
                flag(&self.configuration, "spark.sql.streaming.noDataMicroBatches.enabled", true)
                    && needs_no_data_batch(self.query.plan, old, self.tracker.global, self.query.output_mode)
            });
            if !new_data && !flushes {
                break;
            }
            old_watermark = Some(self.tracker.global);
            self.plan_batch(ends);
            self.execute(world, sink)?;
            endless_done = true;
        }
        Ok(std::mem::take(&mut self.progress))
    }

    fn latest(&mut self, world: &World, endless_done: bool) -> Result<Vec<Option<Offset>>, ExecutionError> {
        let current = self.checkpoint.offsets.len();
        let mut ends = Vec::new();
        for position in 0..self.sources.len() {
            let Some((name, source)) = self.sources.get(position) else { continue };
            let start = self.offset(current, position, name).cloned();
            if source.is_endless() && endless_done {
                ends.push(start);
                continue;
            }
            let log = self.checkpoint.source_logs.entry(name.clone()).or_default();
            ends.push(source.latest(world, start.as_ref(), log)?);
        }
        Ok(ends)
    }

    /// Writes the entry of the next batch into the offset log.
    fn plan_batch(&mut self, ends: Vec<Option<Offset>>) {
        let sources = if self.by_name {
            SourceOffsets::ByName(self.sources.iter().map(|(name, _)| name.clone()).zip(ends).collect())
        } else {
            SourceOffsets::ByPosition(ends)
        };
        self.checkpoint.offsets.push(OffsetEntry {
            sources,
            watermark: self.tracker.global,
            configuration: restart::pinned(&self.configuration, self.behaviour),
        });
    }

    /// Runs the last batch of the offset log and commits it.
    fn execute(&mut self, world: &mut World, sink: &mut dyn Sink) -> Result<(), ExecutionError> {
        if !self.state_compared {
            restart::compare_state(self.checkpoint, &self.operators, &self.configuration, self.behaviour)?;
            self.state_compared = true;
        }
        let batch = self.checkpoint.offsets.len() as u64 - 1;
        let inputs = self.inputs(world)?;
        let watermark = |entry: Option<&OffsetEntry>| entry.map_or(0, |entry| entry.watermark);
        let offsets = &self.checkpoint.offsets;
        let watermarks = Watermarks {
            late_events: watermark(offsets.len().checked_sub(2).and_then(|at| offsets.get(at))),
            eviction: watermark(offsets.last()),
        };
        let session = Session {
            conf: self.configuration.clone(),
            now: now(world),
            batch_id: batch,
            trusts_nullability: self.behaviour.trusts_nullability(),
            effort: world.effort,
        };
        let mut state = self.checkpoint.state.clone();
        let tables = Snapshot { world, pipeline: self.query.pipeline };
        let output = run_micro_batch(
            self.query.plan,
            MicroBatch {
                inputs: &inputs,
                tables: &tables,
                state: &mut state,
                watermarks,
                output_mode: self.query.output_mode,
                session: &session,
            },
        )?;
        let columns = crate::analyze::output(self.query.plan);
        let passed = self.query.checks.pass(output.rows, &columns, &tables, &session, world.null_condition)?;
        self.progress.null_conditions.extend(passed.null_conditions);
        let rows = SinkBatch { query: self.checkpoint.query, batch, rows: passed.rows };
        self.progress.rows += sink.write(world, rows)?;
        self.progress.batches += 1;
        self.progress.uninterpreted.extend(output.uninterpreted);
        self.checkpoint.state_before = std::mem::replace(&mut self.checkpoint.state, state);
        restart::record_operators(&mut self.checkpoint.operators, &self.operators);
        self.tracker.update(&output.event_time);
        self.checkpoint.commits.push(self.tracker.global);
        Ok(())
    }

    fn inputs(&self, world: &World) -> Result<Vec<Rows>, ExecutionError> {
        let last = self.checkpoint.offsets.len();
        let empty = SourceLog::default();
        self.sources
            .iter()
            .enumerate()
            .map(|(position, (name, source))| {
                let start = self.offset(last.saturating_sub(1), position, name);
                let end = self.offset(last, position, name);
                source.rows(world, start, end, self.checkpoint.source_logs.get(name).unwrap_or(&empty))
            })
            .collect()
    }
}

/// What `current_timestamp()` gives in an update, microseconds: a clock of the engine's own, an hour an update.
pub fn now(world: &World) -> i64 {
    const START: i64 = 1_767_225_600_000_000;
    START + i64::try_from(world.updates).unwrap_or(0) * 3_600_000_000
}

pub fn flag(configuration: &BTreeMap<String, String>, key: &str, default: bool) -> bool {
    configuration.get(key).map_or(default, |value| value.trim().eq_ignore_ascii_case("true"))
}

/// One number a query, chosen over the watermark nodes of its plan, never going back (`WatermarkTracker`). What a node has seen
/// is forgotten at a restart, the number is not.
struct WatermarkTracker {
    global: i64,
    by_operator: Vec<Option<i64>>,
    /// The `max` policy; else `min`.
    latest: bool,
}

impl WatermarkTracker {
    fn update(&mut self, seen: &[EventTimeStats]) {
        self.by_operator.resize(seen.len(), None);
        for (known, stats) in self.by_operator.iter_mut().zip(seen) {
            match stats.max {
                Some(max) => *known = Some(known.unwrap_or(i64::MIN).max(max - stats.delay)),
                None => *known = Some(known.unwrap_or(0)),
            }
        }
        let values = self.by_operator.iter().flatten().copied();
        let chosen = if self.latest { values.max() } else { values.min() };
        self.global = self.global.max(chosen.unwrap_or(self.global));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tracker(global: i64, latest: bool) -> WatermarkTracker {
        WatermarkTracker { global, by_operator: Vec::new(), latest }
    }

    #[test]
    fn the_watermark_never_goes_back() {
        let mut tracker = tracker(500, false);
        tracker.update(&[EventTimeStats { max: Some(600), delay: 300 }]);
        assert_eq!(tracker.global, 500);
        tracker.update(&[EventTimeStats { max: Some(900), delay: 300 }]);
        assert_eq!(tracker.global, 600);
    }

    #[test]
    fn a_node_without_rows_holds_the_minimum_back_and_not_the_maximum() {
        let seen = [EventTimeStats { max: Some(900), delay: 100 }, EventTimeStats { max: None, delay: 100 }];
        let mut minimum = tracker(0, false);
        minimum.update(&seen);
        assert_eq!(minimum.global, 0);
        let mut maximum = tracker(0, true);
        maximum.update(&seen);
        assert_eq!(maximum.global, 800);
    }
}
