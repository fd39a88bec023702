//! Stateful operators: which, in which order, and what their state means.
//!
//! A restart compares the map of operator ids to names, then the types of each state store's key and value
//! (`OperatorStateMetadata`, `StateSchemaCompatibilityChecker`). Names are not compared, so state of equal types that means
//! something else is resumed without a word: the facts `types_equal` and `types_known` tell rules which of the two it is.

mod aggregate;
mod function;
mod join;
pub(super) mod stored;

use super::change::Change;
use super::comparison::{Comparison, Explained, surplus, terms};
use super::configuration::differences;
use crate::analyze::{AggregateAspect, Aspects, DeduplicateAspect, JoinAspect, Piece, StatefulMapAspect, Term};
use crate::model::{Place, StatefulOperator};
use stored::Types;

pub fn compare(comparison: &Comparison, explained: &mut Explained) -> Vec<Change> {
    let old = &comparison.before.analyzed.signature.operators;
    let new = &comparison.after.analyzed.signature.operators;
    let names = |operators: &[StatefulOperator]| operators.iter().map(|o| o.name.to_string()).collect::<Vec<_>>();
    let (before, after) = (names(old), names(new));
    if before != after {
        for aspects in [&comparison.before.analyzed.aspects, &comparison.aspects] {
            let streaming = aspects.aggregates.iter().filter(|aggregate| aggregate.streaming);
            explained.add_whole(
                streaming.flat_map(|a| a.groupings.iter().chain(&a.aggregates)).map(|piece| piece.term.clone()),
            );
        }
        let sources_changed = comparison.before.streams().len() != comparison.after.streams().len();
        return compare_names(&comparison.after.pipeline.key, sources_changed, old, new);
    }
    let (b, a) = (Operators::of(comparison, true), Operators::of(comparison, false));
    // State formats are pinned by the checkpoint: stored types that follow an edited setting do not come true.
    let (conf_before, conf_after) = (comparison.before.configuration(), comparison.after.configuration());
    let pinned = differences(&conf_before, &conf_after).iter().any(|(_, class, ..)| *class == "pinned");
    let mut counts = Counts::default();
    let mut changes = Vec::new();
    for (x, y) in old.iter().zip(new) {
        let types = Types::of(x, y);
        let found = match x.name.as_ref() {
            "stateStoreSave" | "sessionWindowStateStoreSaveExec" => counts
                .pair(&b.aggregates, &a.aggregates, |c| &mut c.aggregates)
                .map(|(p, q)| aggregate::compare(comparison, x, p, q, &types, explained)),
            "dedupe" | "dedupeWithinWatermark" => counts
                .pair(&b.deduplicates, &a.deduplicates, |c| &mut c.deduplicates)
                .map(|(p, q)| compare_deduplicates(comparison, x, p, q, &types)),
            "symmetricHashJoin" => counts
                .pair(&b.joins, &a.joins, |c| &mut c.joins)
                .map(|(p, q)| join::compare(comparison, (x, y), p, q, &types, explained)),
            "globalLimit" => {
                counts.pair(&b.limits, &a.limits, |c| &mut c.limits).map(|(p, q)| compare_limits(comparison, p, q))
            }
            _ => counts
                .pair(&b.functions, &a.functions, |c| &mut c.functions)
                .map(|(p, q)| function::compare(comparison, x, p, q, &types, explained)),
        };
        let found = found.unwrap_or_default();
        if found.is_empty() && !pinned {
            changes.extend(compare_types(&comparison.after.pipeline.key, x, y, &types));
        }
        changes.extend(found);
    }
    changes
}

/// Known types of one operator's state that differ.
pub(super) fn compare_types(
    pipeline: &str,
    old: &StatefulOperator,
    new: &StatefulOperator,
    types: &Types,
) -> Option<Change> {
    (types.known && !types.equal).then(|| {
        Change::new("state-types-changed", pipeline)
            .fact("operator", new.name.as_ref())
            .fact("store", types.store.clone())
            .fact("types_before", types.before.clone())
            .fact("types_after", types.after.clone())
            .places(&old.place, &new.place)
    })
}

/// The id → name map differs, which a restart refuses whatever else changed.
pub(super) fn compare_names(
    pipeline: &str,
    sources_changed: bool,
    old: &[StatefulOperator],
    new: &[StatefulOperator],
) -> Vec<Change> {
    let names = |operators: &[StatefulOperator]| operators.iter().map(|o| o.name.to_string()).collect::<Vec<_>>();
    let (before, after) = (names(old), names(new));
    if before == after {
        return Vec::new();
    }
    let (removed, added) = (surplus(&after, &before), surplus(&before, &after));
    let place = |operators: &[StatefulOperator], name: &str| {
        operators.iter().find(|o| o.name.as_ref() == name).map(|o| o.place.clone()).unwrap_or_default()
    };
    let lists = |change: Change| change.values(before.to_vec(), after.to_vec());
    if removed.is_empty() && added.is_empty() {
        return vec![lists(Change::new("stateful-operators-reordered", pipeline))];
    }
    let exchanged = if before.len() == after.len() { removed.len().min(added.len()) } else { 0 };
    let mut changes: Vec<Change> = (removed.iter().zip(&added).take(exchanged))
        .map(|(gone, came)| {
            lists(Change::new("stateful-operator-replaced", pipeline))
                .fact("operator", came.as_str())
                .fact("operator_before", gone.as_str())
                .places(&place(old, gone), &place(new, came))
        })
        .collect();
    changes.extend(added.iter().skip(exchanged).map(|name| {
        lists(Change::new("stateful-operator-added", pipeline))
            .fact("operator", name.as_str())
            .fact("first", before.is_empty())
            .fact("sources_changed", sources_changed)
            .places(&Place::unknown(), &place(new, name))
    }));
    changes.extend(removed.iter().skip(exchanged).map(|name| {
        lists(Change::new("stateful-operator-removed", pipeline))
            .fact("operator", name.as_str())
            .fact("last", after.is_empty())
            .fact("sources_changed", sources_changed)
            .places(&place(old, name), &Place::unknown())
    }));
    changes
}

/// What the stateful operators of one side say, family by family, in the order of their ids.
struct Operators {
    aggregates: Vec<AggregateAspect>,
    deduplicates: Vec<DeduplicateAspect>,
    joins: Vec<JoinAspect>,
    limits: Vec<Piece>,
    functions: Vec<StatefulMapAspect>,
}

impl Operators {
    fn of(comparison: &Comparison, before: bool) -> Self {
        let aspects: &Aspects = if before { &comparison.before.analyzed.aspects } else { &comparison.aspects };
        Operators {
            aggregates: aspects.aggregates.iter().filter(|a| a.streaming).cloned().collect(),
            deduplicates: aspects.deduplicates.iter().filter(|d| d.streaming).cloned().collect(),
            joins: aspects.joins.iter().filter(|join| join.stream_stream).cloned().collect(),
            limits: aspects.limits.clone(),
            functions: aspects.stateful_maps.clone(),
        }
    }
}

/// How many operators of each family have been seen.
#[derive(Default)]
struct Counts {
    aggregates: usize,
    deduplicates: usize,
    joins: usize,
    limits: usize,
    functions: usize,
}

impl Counts {
    fn pair<'a, T>(
        &mut self,
        before: &'a [T],
        after: &'a [T],
        family: impl Fn(&mut Counts) -> &mut usize,
    ) -> Option<(&'a T, &'a T)> {
        let index = family(self);
        let at = *index;
        *index += 1;
        Some((before.get(at)?, after.get(at)?))
    }
}

/// A change of a list: what came, what went, or only another order.
fn listed(kind: &'static str, comparison: &Comparison, before: &[Term], after: &[Term]) -> Change {
    let (removed, added) = (surplus(after, before), surplus(before, after));
    Change::new(kind, &comparison.after.pipeline.key)
        .values(comparison.show_all(before), comparison.show_all(after))
        .fact("reordered", removed.is_empty() && added.is_empty())
        .fact("added", comparison.show_all(&added))
        .fact("removed", comparison.show_all(&removed))
}

fn compare_deduplicates(
    comparison: &Comparison,
    operator: &StatefulOperator,
    old: &DeduplicateAspect,
    new: &DeduplicateAspect,
    types: &Types,
) -> Vec<Change> {
    let (before, after) = (terms(&old.keys), terms(&new.keys));
    if before == after {
        return Vec::new();
    }
    let change = listed("dedup-keys-changed", comparison, &before, &after);
    vec![types.of_keys(change.fact("operator", operator.name.as_ref())).places(&old.place, &new.place)]
}

fn compare_limits(comparison: &Comparison, old: &Piece, new: &Piece) -> Vec<Change> {
    if old.term == new.term {
        return Vec::new();
    }
    let change = Change::new("limit-changed", &comparison.after.pipeline.key);
    vec![change.values(comparison.show(&old.term), comparison.show(&new.term)).places(&old.place, &new.place)]
}
