//! Whether a flow that starts on an empty checkpoint writes into its table what other flows have written there already.
//!
//! Rows that look alike prove nothing: two sources may hold equal rows, and two flows may divide one source between them. So the
//! experiment is made again without one source row of batch 1 after the other: what is missing then came from that row.

use super::data::Data;
use super::engine::{Multiset, Outcome, minus, rows_of};
use super::experiment::Experiment;
use super::flows_of_table::{flows_of, written_before};
use super::mini::Mini;
use super::observe::Observed;
use super::slice;
use crate::analyze::Analysis;
use crate::engine::{identity, location, source_location};
use crate::model::{Effect, QualifiedName};
use std::collections::BTreeSet;

/// Source rows that are left out, one after the other, for one flow.
const ATTEMPTS: usize = 64;

/// What was observed, with the question answered whether flows that start anew write rows that the table has.
pub fn settled(engine: &Mini<'_>, experiment: &Experiment<'_>, data: &Data, mut observed: Observed) -> Observed {
    for flow in &mut observed.flows {
        let Some(otherwise) = flow.otherwise else { continue };
        let Some(place) = place_of(experiment.after, &flow.pipeline, &flow.dataset, &flow.flow) else { continue };
        let twice = written_twice(engine, experiment, data, &place, &flow.flow);
        flow.effect = Some(if twice { Effect::Replayed } else { otherwise });
        if twice && let Some(table) = observed.tables.iter_mut().find(|table| table.location == place) {
            table.effect = table.effect.max(Some(Effect::Replayed));
        }
    }
    observed
}

fn place_of(analysis: &Analysis, pipeline: &str, dataset: &QualifiedName, flow: &str) -> Option<String> {
    let pipeline = analysis.workspace.pipelines.iter().find(|each| each.key == pipeline)?;
    location(pipeline, pipeline.flows.iter().find(|each| each.name == flow && each.target == *dataset)?)
}

/// Whether some source row of batch 1 stands in the table at `place` once by a flow of BEFORE and once more by `flow` of AFTER.
fn written_twice(engine: &Mini<'_>, experiment: &Experiment<'_>, data: &Data, place: &str, flow: &str) -> bool {
    let needed = slice::with_sources([experiment.before, experiment.after], &BTreeSet::from([place.to_owned()]));
    let (before, after) = (slice::slice(experiment.before, &needed), slice::slice(experiment.after, &needed));
    let experiment = Experiment { before: &before, after: &after, ..*experiment };
    let Some(index) = flows_of(&after, place).find(|found| found.flow.name == flow).map(|found| found.index) else {
        return false;
    };
    let streams = written_before(&before, &after, place, index);
    let whole = engine.outcome(&experiment, data);
    let sources = experiment.sources.before.iter().chain(&experiment.sources.after);
    let names: BTreeSet<&str> =
        sources.filter(|facts| streams.contains(&source_location(facts))).map(|facts| facts.name.as_str()).collect();
    without_one_row(data, &names).take(ATTEMPTS).any(|without| {
        let without = engine.outcome(&experiment, &without);
        let comparison = Comparison { before: &before, after: &after, place, whole: &whole, without: &without };
        comparison.shows_twice(flow)
    })
}

/// The data without one row of batch 1 of these sources.
fn without_one_row<'a>(data: &'a Data, names: &'a BTreeSet<&str>) -> impl Iterator<Item = Data> + 'a {
    let first = data.batches.first();
    let keys: BTreeSet<&str> = first.iter().flat_map(|batch| names.iter().filter_map(|name| batch.key(name))).collect();
    let rows = keys.into_iter().flat_map(move |key| {
        let count = first.and_then(|batch| batch.sources.get(key)).map_or(0, Vec::len);
        (0..count).map(move |at| (key, at))
    });
    rows.map(move |(key, at)| {
        let mut data = data.clone();
        if let Some(rows) = data.batches.first_mut().and_then(|batch| batch.sources.get_mut(key)) {
            rows.remove(at);
        }
        data
    })
}

/// The experiment with a source row and without it.
struct Comparison<'a> {
    before: &'a Analysis,
    after: &'a Analysis,
    place: &'a str,
    whole: &'a Outcome,
    without: &'a Outcome,
}

impl Comparison<'_> {
    fn shows_twice(&self, flow: &str) -> bool {
        let new = self.lost(|outcome| {
            let now = rows_of(&outcome.resumed, self.place, Some(flow))?;
            Some(minus(&now, &rows_of(&outcome.resumed_batch_1_now, self.place, Some(flow))?))
        });
        !new.is_empty()
            && flows_of(self.before, self.place).any(|old| {
                let old = old.flow.name.as_str();
                let written = self.lost(|outcome| rows_of(&outcome.resumed_batch_1, self.place, Some(old)));
                let equal = written.keys().any(|row| new.contains_key(row));
                !written.is_empty() && (equal || !self.still_writes(old))
            })
    }

    /// Whether a flow that goes on would write the source row in AFTER as well: then both flows are meant to have it, each its way.
    fn still_writes(&self, old: &str) -> bool {
        let goes_on = flows_of(self.after, self.place).any(|flow| {
            let pipeline = self.after.workspace.pipelines.get(flow.pipeline);
            let resumes = |pipeline| self.whole.checkpoints.contains(&identity(pipeline, flow.flow));
            flow.flow.name == old && pipeline.is_some_and(resumes)
        });
        goes_on && !self.lost(|outcome| rows_of(&outcome.control_batch_1, self.place, Some(old))).is_empty()
    }

    /// Rows that are there with the source row alone.
    fn lost(&self, rows: impl Fn(&Outcome) -> Option<Multiset>) -> Multiset {
        match (rows(self.whole), rows(self.without)) {
            (Some(whole), Some(without)) => minus(&whole, &without),
            _ => Multiset::new(),
        }
    }
}
