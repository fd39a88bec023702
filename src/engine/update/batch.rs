//! Flows whose query is a batch: materialized views, flows that run once, and those that replace a range of their table.

use super::super::cdc::{self, CdcSink};
use super::super::checkpoint::Checkpoint;
use super::super::error::ExecutionError;
use super::super::expectation::Passed;
use super::super::operators::run_batch;
use super::super::platform::Behaviour;
use super::super::replace;
use super::super::row::Rows;
use super::super::scan::Snapshot;
use super::super::session::Session;
use super::super::stream::{self, Progress, Sink};
use super::{Member, Update, identity};
use crate::model::FlowKind;

impl Update<'_> {
    fn session(&self, member: &Member<'_>) -> Session {
        let now = stream::now(self.world);
        Session { conf: self.configuration(member.flow), now, effort: self.world.effort, ..Session::default() }
    }

    /// What a batch query gives and its target's expectations let through.
    fn batch_rows(&self, at: usize) -> Result<(Rows, Progress), ExecutionError> {
        let Some(member) = self.flows.get(at) else { return Err(ExecutionError::unsupported("no such flow")) };
        let session = self.session(member);
        let tables = Snapshot { world: self.world, pipeline: self.pipeline };
        let output = run_batch(&member.analyzed.optimized, &tables, &session)?;
        let rows = match &member.flow.kind {
            FlowKind::ReplaceWhere(_) => replace::in_range(member.analyzed, output.rows, &session)?,
            _ => output.rows,
        };
        let columns = crate::analyze::output(&member.analyzed.optimized);
        let nulls = self.world.null_condition;
        let Passed { rows, null_conditions } = member.checks().pass(rows, &columns, &tables, &session, nulls)?;
        let progress = Progress {
            batches: 1,
            rows: rows.rows.len(),
            from_nothing: true,
            uninterpreted: output.uninterpreted,
            null_conditions,
        };
        Ok((rows, progress))
    }

    /// A materialized view: all of it, anew.
    pub(super) fn recompute(&mut self, at: usize, location: &str) -> Result<Progress, ExecutionError> {
        let (rows, progress) = self.batch_rows(at)?;
        let writer = self.flows.get(at).map(|member| member.flow.name.clone());
        if let Some(table) = self.world.tables.get_mut(location) {
            table.append(rows.rows, &rows.schema, writer.as_deref());
        }
        Ok(progress)
    }

    /// A once flow, or another batch query into a table: run when its checkpoint says it has not been.
    pub(super) fn run_batch_flow(&mut self, at: usize, location: &str) -> Result<Progress, ExecutionError> {
        let Some(member) = self.flows.get(at) else { return Ok(Progress::default()) };
        let (key, once) = (identity(self.pipeline, member.flow), member.flow.is_once());
        if once && self.world.checkpoints.contains_key(&key) {
            return Ok(Progress::default());
        }
        if let FlowKind::ReplaceUsing { .. } = member.flow.kind {
            return Err(ExecutionError::unsupported("a REPLACE USING flow takes a streaming source only"));
        }
        let (rows, progress) = self.batch_rows(at)?;
        let Some(member) = self.flows.get(at) else { return Ok(Progress::default()) };
        let writer = member.flow.name.clone();
        let cdc = cdc::CdcTarget::of(member.analyzed, member.flow);
        let session = self.session(member);
        let query = self.world.identity();
        if once {
            self.world.checkpoints.insert(key, Checkpoint::new(query));
        }
        if let Some(target) = cdc {
            let batch = stream::SinkBatch { query, batch: 0, rows };
            CdcSink::new(target, location, &writer, Behaviour::of(self.pipeline)).write(self.world, batch)?;
        } else if let Some(table) = self.world.tables.get_mut(location) {
            match &member.flow.kind {
                FlowKind::ReplaceWhere(_) => {
                    replace::replace_range(member.analyzed, table, rows, &session, &writer)?;
                }
                _ => {
                    table.append(rows.rows, &rows.schema, Some(&writer));
                }
            }
        }
        Ok(progress)
    }
}
