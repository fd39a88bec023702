//! Runs both revisions: BEFORE on batch 1 and AFTER on the rest in one world, AFTER on all of it in another.

use super::data::{Batch, Data};
use super::sources::SourceSet;
use crate::analyze::Analysis;
use crate::engine::{
    Behaviour, UpdateKind, UpdateReport, World, default_source_format, location, read_location, source_location, update,
};
use crate::model::{Platform, SourceFacts};
use std::collections::BTreeSet;

pub struct Experiment<'a> {
    pub before: &'a Analysis,
    pub after: &'a Analysis,
    pub sources: &'a SourceSet,
    /// How AFTER is deployed; one incremental update where empty.
    pub updates: &'a [UpdateKind],
    pub between: Option<&'a dyn Fn(&mut World)>,
}

/// Reports of one update by pipeline, in the order of the workspace.
pub type Reports = Vec<UpdateReport>;

/// Both worlds, and what every flow did in them.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub before: Reports,
    /// The first incremental update of AFTER on batch 2.
    pub after: Vec<Reports>,
    /// One entry a batch.
    pub control: Vec<Reports>,
    pub resumed_batch_1: World,
    pub resumed: World,
    pub control_batch_1: World,
    pub control_world: World,
}

impl Experiment<'_> {
    pub fn run(&self, data: &Data) -> Outcome {
        let (first, rest) = match data.batches.split_first() {
            Some((first, rest)) => (first.clone(), rest),
            None => (Batch::default(), &[][..]),
        };
        let mut resumed = World::new();
        self.define(&mut resumed, Side::Before);
        self.prime(&mut resumed, self.before);
        self.load(&mut resumed, Side::Before, &first, 1);
        let before = run_all(&mut resumed, self.before, &UpdateKind::Incremental);
        let resumed_batch_1 = resumed.clone();
        self.define(&mut resumed, Side::After);
        if let Some(between) = self.between {
            between(&mut resumed);
        }
        let mut after = Vec::new();
        for (number, batch) in rest.iter().enumerate() {
            self.load(&mut resumed, Side::After, batch, number + 2);
            if number > 0 || self.updates.is_empty() {
                after.push(run_all(&mut resumed, self.after, &UpdateKind::Incremental));
            } else {
                after.extend(self.updates.iter().map(|kind| run_all(&mut resumed, self.after, kind)));
            }
        }
        let mut control_world = World::new();
        self.define(&mut control_world, Side::After);
        self.prime(&mut control_world, self.after);
        let mut control = Vec::new();
        let mut control_batch_1 = control_world.clone();
        for (number, batch) in std::iter::once(&first).chain(rest).enumerate() {
            self.load(&mut control_world, Side::After, batch, number + 1);
            control.push(run_all(&mut control_world, self.after, &UpdateKind::Incremental));
            if number == 0 {
                control_batch_1 = control_world.clone();
            }
        }
        Outcome { before, after, control, resumed_batch_1, resumed, control_batch_1, control_world }
    }

    fn facts(&self, side: Side) -> &[SourceFacts] {
        match side {
            Side::Before => &self.sources.before,
            Side::After => &self.sources.after,
        }
    }

    fn analysis(&self, side: Side) -> &Analysis {
        match side {
            Side::Before => self.before,
            Side::After => self.after,
        }
    }

    fn define(&self, world: &mut World, side: Side) {
        let pipelines = &self.analysis(side).workspace.pipelines;
        let platform =
            pipelines.first().map_or(Behaviour { platform: Platform::Lakeflow, spark_version: (4, 0) }, Behaviour::of);
        for facts in self.facts(side) {
            world.define_source(facts, default_source_format(platform));
        }
    }

    fn load(&self, world: &mut World, side: Side, batch: &Batch, number: usize) {
        let mut loaded = BTreeSet::new();
        for facts in self.facts(side) {
            if let Some(rows) = batch.rows(&facts.name)
                && loaded.insert(source_location(facts))
            {
                world.load(facts, &format!("batch{number}"), rows.clone());
            }
        }
    }

    /// Streams that start at the latest offset must have been running before batch 1 to see it.
    fn prime(&self, world: &mut World, analysis: &Analysis) {
        let from_latest = analysis.flows.iter().flat_map(|flow| flow.plan.reads()).any(|read| {
            let at_latest = |option: &str| read.option(option).is_some_and(|value| value.trim() == "latest");
            let kafka = matches!(&read.source, crate::model::Source::Connector { format } if format == "kafka");
            read.streaming
                && (at_latest("startingversion")
                    || at_latest("startingoffsets")
                    || (kafka && read.option("startingoffsets").is_none()))
        });
        if from_latest {
            run_all(world, analysis, &UpdateKind::Incremental);
        }
    }
}

#[derive(Clone, Copy)]
enum Side {
    Before,
    After,
}

/// One update of every pipeline, those whose tables others read first.
fn run_all(world: &mut World, analysis: &Analysis, kind: &UpdateKind) -> Reports {
    let count = analysis.workspace.pipelines.len();
    let mut reports: Vec<UpdateReport> = vec![UpdateReport::default(); count];
    let clock = world.updates + 1;
    for at in order(analysis) {
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

fn order(analysis: &Analysis) -> Vec<usize> {
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
