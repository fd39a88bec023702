//! Shrinks the rows of an experiment to few that still show the same effect on one flow (delta debugging on rows).

use super::FlowConfirmation;
use super::data::Data;
use super::expectations::observe_both_ways;
use super::experiment::Experiment;
use super::mini::Mini;
use super::slice::{self, Places};
use super::sources::SourceSet;
use super::witness::Witness;
use crate::engine::{location, source_location};
use crate::model::{Effect, SourceFacts};
use std::collections::BTreeSet;

/// Experiments that one witness may take.
const ATTEMPTS: usize = 120;

/// A row by batch, source and position.
type RowId = (usize, String, usize);

/// The witness of a flow's effect, none for harmless ones.
pub fn witness(
    engine: &Mini<'_>,
    experiment: &Experiment<'_>,
    data: &Data,
    flow: &FlowConfirmation,
) -> Option<Witness> {
    let effect = flow.observed.filter(|effect| !matches!(effect, Effect::None | Effect::Ignored))?;
    let place = place_of(experiment, flow)?;
    let needed = slice::with_sources([experiment.before, experiment.after], &BTreeSet::from([place.clone()]));
    let (before, after) = (slice::slice(experiment.before, &needed), slice::slice(experiment.after, &needed));
    let set = sources_at(experiment.sources, &needed);
    let experiment = Experiment { before: &before, after: &after, ..*experiment };
    let shows = |data: &Data| {
        observe_both_ways(engine, &experiment, data).flows.iter().any(|other| {
            other.flow == flow.flow
                && other.dataset == flow.dataset
                && other.effect == Some(effect)
                && other.error.as_ref().map(|error| &error.class) == flow.error_class.as_ref()
        })
    };
    let concerned = of_sources(data, &set);
    let data = if shows(&concerned) { &concerned } else { data };
    let mut attempts = 0;
    let mut holds = |rows: &[RowId]| {
        attempts += 1;
        attempts <= ATTEMPTS && shows(&select(data, rows))
    };
    let rows = minimize(all_rows(data), &mut holds);
    let data = select(data, &rows);
    Some(Witness::of(experiment.sources, &data, &engine.outcome(&experiment, &data), &place))
}

/// The sources at these places.
fn sources_at(set: &SourceSet, places: &Places) -> SourceSet {
    let there = |facts: &[SourceFacts]| -> Vec<SourceFacts> {
        facts.iter().filter(|facts| places.contains(&source_location(facts))).cloned().collect()
    };
    SourceSet { before: there(&set.before), after: there(&set.after) }
}

/// The rows of these sources alone.
fn of_sources(data: &Data, set: &SourceSet) -> Data {
    let mut data = data.clone();
    for batch in &mut data.batches {
        let facts = set.before.iter().chain(&set.after);
        let wanted: BTreeSet<String> = facts.filter_map(|facts| batch.key(&facts.name)).map(str::to_owned).collect();
        batch.sources.retain(|name, _| wanted.contains(name));
    }
    data
}

pub fn place_of(experiment: &Experiment<'_>, flow: &FlowConfirmation) -> Option<String> {
    [experiment.after, experiment.before].into_iter().find_map(|analysis| {
        analysis.workspace.pipelines.iter().find_map(|pipeline| {
            let found = pipeline.flows.iter().find(|other| other.name == flow.flow && other.target == flow.dataset)?;
            location(pipeline, found)
        })
    })
}

fn all_rows(data: &Data) -> Vec<RowId> {
    let mut rows = Vec::new();
    for (number, batch) in data.batches.iter().enumerate() {
        for (source, records) in &batch.sources {
            rows.extend((0..records.len()).map(|at| (number, source.clone(), at)));
        }
    }
    rows
}

fn select(data: &Data, rows: &[RowId]) -> Data {
    let wanted: BTreeSet<(usize, &str, usize)> =
        rows.iter().map(|(n, source, at)| (*n, source.as_str(), *at)).collect();
    let mut selected = data.clone();
    for (number, batch) in selected.batches.iter_mut().enumerate() {
        for (source, records) in &mut batch.sources {
            let mut at = 0;
            records.retain(|_| {
                at += 1;
                wanted.contains(&(number, source.as_str(), at - 1))
            });
        }
    }
    selected
}

/// Removes chunks as long as the rest still shows the effect, halving them down to single rows (`ddmin`).
fn minimize<T: Clone>(mut items: Vec<T>, holds: &mut dyn FnMut(&[T]) -> bool) -> Vec<T> {
    let mut chunk = items.len().div_ceil(2);
    while chunk > 0 && !items.is_empty() {
        let mut start = 0;
        let mut removed = false;
        while start < items.len() {
            let end = (start + chunk).min(items.len());
            let rest: Vec<T> = items.iter().take(start).chain(items.iter().skip(end)).cloned().collect();
            if holds(&rest) {
                items = rest;
                removed = true;
            } else {
                start = end;
            }
        }
        if chunk == 1 && !removed {
            break;
        }
        if !removed || chunk > items.len() {
            chunk = if chunk == 1 { 1 } else { chunk / 2 };
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_effect_needs_is_left() {
        let mut tried = 0;
        let mut holds = |items: &[i32]| {
            tried += 1;
            items.contains(&3) && items.contains(&17)
        };
        assert_eq!(minimize((0..20).collect(), &mut holds), vec![3, 17]);
        assert!(tried < ATTEMPTS);
    }

    #[test]
    fn an_effect_that_needs_no_rows_keeps_none() {
        assert!(minimize(vec![1, 2, 3], &mut |_: &[i32]| true).is_empty());
    }
}
