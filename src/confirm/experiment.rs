//! Runs both revisions: BEFORE on batch 1 and AFTER on the rest in one world, AFTER on all of it in another.

use super::data::{Batch, Data};
use super::sources::SourceSet;
use crate::analyze::Analysis;
use crate::engine::{
    Behaviour, UpdateKind, UpdateReport, World, default_source_format, source_location, starts_at_latest, update_all,
};
use crate::model::{Platform, SourceFacts};
use std::collections::BTreeSet;

pub struct Experiment<'a> {
    pub before: &'a Analysis,
    pub after: &'a Analysis,
    pub sources: &'a SourceSet,
    /// How AFTER is deployed; one incremental update where empty.
    pub updates: &'a [UpdateKind],
    pub between: Option<&'a (dyn Fn(&mut World) + Sync)>,
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
        self.define_new(&mut resumed);
        self.prime(&mut resumed, self.before);
        self.load(&mut resumed, Side::Before, &first, 1);
        self.load_new(&mut resumed, &first);
        let before = update_all(&mut resumed, self.before, &UpdateKind::Incremental);
        let resumed_batch_1 = resumed.clone();
        self.define(&mut resumed, Side::After);
        if let Some(between) = self.between {
            between(&mut resumed);
        }
        let mut after = Vec::new();
        for (number, batch) in rest.iter().enumerate() {
            self.load(&mut resumed, Side::After, batch, number + 2);
            if number > 0 || self.updates.is_empty() {
                after.push(update_all(&mut resumed, self.after, &UpdateKind::Incremental));
            } else {
                after.extend(self.updates.iter().map(|kind| update_all(&mut resumed, self.after, kind)));
            }
        }
        let mut control_world = World::new();
        self.define(&mut control_world, Side::After);
        self.prime(&mut control_world, self.after);
        let mut control = Vec::new();
        let mut control_batch_1 = control_world.clone();
        for (number, batch) in std::iter::once(&first).chain(rest).enumerate() {
            self.load(&mut control_world, Side::After, batch, number + 1);
            control.push(update_all(&mut control_world, self.after, &UpdateKind::Incremental));
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

    /// Sources that AFTER alone reads; they were there before, with rows of their own.
    fn new_sources(&self) -> impl Iterator<Item = &SourceFacts> {
        let known: BTreeSet<String> = self.sources.before.iter().map(source_location).collect();
        self.sources.after.iter().filter(move |facts| !known.contains(&source_location(facts)))
    }

    fn default_format(&self, side: Side) -> &'static str {
        let pipelines = &self.analysis(side).workspace.pipelines;
        let platform =
            pipelines.first().map_or(Behaviour { platform: Platform::Lakeflow, spark_version: (4, 0) }, Behaviour::of);
        default_source_format(platform)
    }

    fn define(&self, world: &mut World, side: Side) {
        for facts in self.facts(side) {
            world.define_source(facts, self.default_format(side));
        }
    }

    fn define_new(&self, world: &mut World) {
        for facts in self.new_sources() {
            world.define_source(facts, self.default_format(Side::After));
        }
    }

    fn load(&self, world: &mut World, side: Side, batch: &Batch, number: usize) {
        load(world, self.facts(side).iter(), batch, number);
    }

    fn load_new(&self, world: &mut World, first: &Batch) {
        load(world, self.new_sources(), first, 1);
    }

    /// Streams that start at the latest offset must have been running before batch 1 to see it.
    fn prime(&self, world: &mut World, analysis: &Analysis) {
        if starts_at_latest(analysis) {
            update_all(world, analysis, &UpdateKind::Incremental);
        }
    }
}

/// Adds a batch to sources; two names of one location get its rows once.
fn load<'a>(world: &mut World, sources: impl Iterator<Item = &'a SourceFacts>, batch: &Batch, number: usize) {
    let mut loaded = BTreeSet::new();
    for facts in sources {
        if let Some(rows) = batch.rows(&facts.name)
            && loaded.insert(source_location(facts))
        {
            world.load(facts, &format!("batch{number}"), rows.clone());
        }
    }
}

#[derive(Clone, Copy)]
enum Side {
    Before,
    After,
}
