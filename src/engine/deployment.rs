//! Updates of all pipelines of a revision together, in the order in which they feed each other.

use super::catalog::read_location;
use super::update::{UpdateKind, UpdateReport, location, update};
use super::world::World;
use crate::analyze::Analysis;
use crate::model::Source;
use std::collections::BTreeSet;

/// One update of every pipeline, those whose tables others read first; the reports in the order of the workspace.
pub fn update_all(world: &mut World, analysis: &Analysis, kind: &UpdateKind) -> Vec<UpdateReport> {
    let count = analysis.workspace.pipelines.len();
    let mut reports: Vec<UpdateReport> = vec![UpdateReport::default(); count];
    let clock = world.updates + 1;
    for at in deployment_order(analysis) {
        // All pipelines of a deployment run at one time.
        world.updates = clock - 1;
        let report = update(world, analysis, at, kind);
        if let Some(slot) = reports.get_mut(at) {
            *slot = report;
        }
    }
    world.updates = clock;
    reports
}

/// Indices of the pipelines, those whose tables others read first.
pub fn deployment_order(analysis: &Analysis) -> Vec<usize> {
    let pipelines = &analysis.workspace.pipelines;
    let writes = |at: usize| -> BTreeSet<String> {
        pipelines.get(at).map(|p| p.flows.iter().filter_map(|flow| location(p, flow)).collect()).unwrap_or_default()
    };
    let reads = |at: usize| -> BTreeSet<String> {
        let Some(pipeline) = pipelines.get(at) else { return BTreeSet::new() };
        let flows = analysis.flows.iter().filter(|flow| flow.pipeline == at);
        flows.flat_map(|flow| flow.plan.reads()).filter_map(|read| read_location(pipeline, read)).collect()
    };
    let (written, read): (Vec<_>, Vec<_>) = (0..pipelines.len()).map(|at| (writes(at), reads(at))).unzip();
    let mut waiting: Vec<usize> = (0..pipelines.len()).collect();
    let mut order = Vec::new();
    let feeds = |writer: usize, reader: usize| match (written.get(writer), read.get(reader)) {
        (Some(written), Some(read)) => writer != reader && !written.is_disjoint(read),
        _ => false,
    };
    while !waiting.is_empty() {
        let ready = waiting.iter().position(|at| !waiting.iter().any(|other| feeds(*other, *at)));
        order.push(waiting.remove(ready.unwrap_or(0)));
    }
    order
}

/// Some stream starts at the latest offset: what lies in its source before the first update is never read.
pub fn starts_at_latest(analysis: &Analysis) -> bool {
    analysis.flows.iter().flat_map(|flow| flow.plan.reads()).any(|read| {
        let at_latest = |option: &str| read.option(option).is_some_and(|value| value.trim() == "latest");
        let kafka = matches!(&read.source, Source::Connector { format } if format == "kafka");
        read.streaming
            && (at_latest("startingversion")
                || at_latest("startingoffsets")
                || (kafka && read.option("startingoffsets").is_none()))
    })
}
