//! The flows of one table in both revisions: who goes on, who is gone, and who starts on an empty checkpoint over sources that the
//! table has been filled from before.
//!
//! Takes analyses and the place of a table; knows nothing of rows. Flows are named by their index into `Analysis::flows`.

use super::slice::Places;
use crate::analyze::{Analysis, AnalyzedFlow};
use crate::engine::{location, read_location};
use crate::model::{Flow, FlowKind, OutputMode, Pipeline};
use std::collections::BTreeSet;

/// A flow of one revision.
#[derive(Clone, Copy)]
pub struct TableFlow<'a> {
    /// Index into `workspace.pipelines`.
    pub pipeline: usize,
    /// Index into `Analysis::flows`.
    pub index: usize,
    pub flow: &'a Flow,
}

/// Flows that write to a place.
pub fn flows_of<'a>(analysis: &'a Analysis, place: &'a str) -> impl Iterator<Item = TableFlow<'a>> + 'a {
    analysis.flows.iter().enumerate().filter_map(move |(index, analyzed)| {
        let (pipeline, flow) = definition(analysis, analyzed)?;
        let found = TableFlow { pipeline: analyzed.pipeline, index, flow };
        (location(pipeline, flow).as_deref() == Some(place)).then_some(found)
    })
}

fn definition<'a>(analysis: &'a Analysis, analyzed: &AnalyzedFlow) -> Option<(&'a Pipeline, &'a Flow)> {
    let pipeline = analysis.workspace.pipelines.get(analyzed.pipeline)?;
    Some((pipeline, pipeline.flows.get(analyzed.flow)?))
}

/// The same flow in BEFORE: of a pipeline with the same key (or the only one), by target and name; else the one flow that has gone
/// from the table, where it shares a source with this one alone of those that have come.
pub fn counterpart(before: &Analysis, after: &Analysis, place: &str, flow: &TableFlow<'_>) -> Option<(usize, usize)> {
    let key = after.workspace.pipelines.get(flow.pipeline).map(|pipeline| &pipeline.key);
    let same_pipeline = |at: usize| {
        before.workspace.pipelines.get(at).map(|other| &other.key) == key || before.workspace.pipelines.len() == 1
    };
    let old: Vec<TableFlow> = flows_of(before, place).filter(|other| same_pipeline(other.pipeline)).collect();
    let new: Vec<TableFlow> = flows_of(after, place).filter(|other| other.pipeline == flow.pipeline).collect();
    if let Some(same) = old.iter().find(|other| other.flow.name == flow.flow.name) {
        return Some((same.pipeline, same.index));
    }
    let gone = || old.iter().filter(|old| !new.iter().any(|kept| kept.flow.name == old.flow.name));
    let come = || new.iter().filter(|new| !old.iter().any(|known| known.flow.name == new.flow.name));
    let partners = |new: &TableFlow| -> Vec<(usize, usize)> {
        let found = gone().filter(|old| share_a_source((before, old.index), (after, new.index)));
        found.map(|old| (old.pipeline, old.index)).collect()
    };
    let [partner] = *partners(flow) else { return None };
    let rivals = come().filter(|other| partners(other).contains(&partner)).count();
    (rivals == 1).then_some(partner)
}

/// Whether two flows stream from one source, or nothing says from what one of them does.
fn share_a_source((before, old): (&Analysis, usize), (after, new): (&Analysis, usize)) -> bool {
    let (old, new) = (streams_of(before, old).1, streams_of(after, new).1);
    old.is_empty() || new.is_empty() || !old.is_disjoint(&new)
}

/// Places whose rows reach a flow one by one, directly or through other tables. Tables that are only looked up are not among them.
fn streamed_into(analysis: &Analysis, index: usize) -> Places {
    let mut places = Places::new();
    let mut pending = vec![index];
    let mut seen = BTreeSet::from([index]);
    while let Some(index) = pending.pop() {
        let (writers, streams) = streams_of(analysis, index);
        pending.extend(writers.into_iter().filter(|writer| seen.insert(*writer)));
        places.extend(streams);
    }
    places
}

/// What a flow streams from, and the flows that write it. A flow that runs once, or reads no stream, takes its sources in one go.
fn streams_of(analysis: &Analysis, index: usize) -> (Vec<usize>, Places) {
    let Some(analyzed) = analysis.flows.get(index) else { return Default::default() };
    let Some((pipeline, flow)) = definition(analysis, analyzed) else { return Default::default() };
    let whole = flow.is_once() || !analyzed.plan.is_streaming();
    let reads = analyzed.plan.reads().into_iter().filter(|read| read.streaming || whole);
    let places: Places = reads.filter_map(|read| read_location(pipeline, read)).collect();
    let writers = places.iter().flat_map(|place| flows_of(analysis, place).map(|writer| writer.index)).collect();
    (writers, places)
}

/// Sources that a flow of AFTER streams from and that flows of BEFORE have written into the same table.
pub fn written_before(before: &Analysis, after: &Analysis, place: &str, index: usize) -> Places {
    let written: Places = flows_of(before, place).flat_map(|old| streamed_into(before, old.index)).collect();
    streamed_into(after, index).intersection(&written).cloned().collect()
}

/// Whether a flow adds rows and never takes any back.
pub fn appends(flow: &Flow) -> bool {
    match &flow.kind {
        FlowKind::Default | FlowKind::Append | FlowKind::Once => true,
        FlowKind::StreamJob(write) => write.output_mode == OutputMode::Append,
        FlowKind::AutoCdc(_) | FlowKind::AutoCdcOnce(_) | FlowKind::ReplaceWhere(_) | FlowKind::ReplaceUsing { .. } => {
            false
        }
    }
}
