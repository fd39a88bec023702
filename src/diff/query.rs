//! Two streaming queries, aspect by aspect. Whatever no comparator explains is a change all the same: `query-changed`.

use super::change::Change;
use super::comparison::{Comparison, Explained, surplus, terms};
use super::text::source;
use super::{code_changed, column, source as sources, state, watermark};
use crate::analyze::{Aspects, JoinAspect, Piece, SourceAspect, Term, says_how_to_reach};
use crate::model::{DatasetKind, FlowKind, same_option};
use std::collections::BTreeSet;

pub fn compare(mut comparison: Comparison) -> Vec<Change> {
    let mut changes = Vec::new();
    let (found, exchanged) = sources::compare(&comparison);
    changes.extend(found);
    for (new, old) in &exchanged {
        rebase(comparison.aspects.to_mut(), new, old);
    }
    comparison.exchanged = exchanged;
    let mut explained = Explained::default();
    // What a source that came or went contributed differs for that reason alone.
    for change in changes.iter().filter(|change| matches!(change.kind, "source-added" | "source-removed")) {
        if let Some(source) = change.text("source") {
            explained.add_source(source);
        }
    }
    if let Some(change) = exchanged_table(&mut comparison) {
        changes.push(change);
    }
    changes.extend(compare_static_readers(&comparison));
    changes.extend(code_changed::compare(&comparison, &mut explained));
    changes.extend(watermark::compare(&comparison));
    changes.extend(state::compare(&comparison, &mut explained));
    changes.extend(compare_filters(&comparison, &mut explained));
    changes.extend(compare_generators(&comparison, &mut explained));
    changes.extend(compare_static_joins(&comparison, &mut explained));
    changes.extend(column::compare(&comparison, &mut explained));
    if changes.is_empty() {
        changes.extend(query_changed(&comparison));
    }
    changes
}

/// What a changed query of a flow that starts on an empty checkpoint means for the columns of its table; what a checkpoint would
/// hold it to counts for nothing.
pub fn compare_tables(mut comparison: Comparison) -> Vec<Change> {
    let (_, exchanged) = sources::compare(&comparison);
    for (new, old) in &exchanged {
        rebase(comparison.aspects.to_mut(), new, old);
    }
    comparison.exchanged = exchanged;
    column::compare(&comparison, &mut Explained::default())
}

/// A difference that no comparator has a name for. What decides a row is all in the query's term, and columns are taken by name
/// except by writers that take them by position.
fn query_changed(comparison: &Comparison) -> Option<Change> {
    let (old, new) = (&comparison.before.analyzed.aspects, &comparison.aspects);
    let by_position = matches!(comparison.after.flow.kind, FlowKind::StreamJob(_))
        || comparison.after.dataset.is_some_and(|dataset| dataset.kind == DatasetKind::Sink);
    let names = |aspects: &Aspects| aspects.outputs.iter().map(|o| o.name.to_lowercase()).collect::<Vec<_>>();
    let moved = by_position && names(old) != names(new);
    if (old.query == new.query || column::branches_moved(comparison, &new.query) == old.query) && !moved {
        return None;
    }
    let mut edited = edited(old, new);
    if edited.is_empty() {
        edited.push(if moved { "order of columns" } else { "how rows come about" }.to_owned());
    }
    Some(Change::new("query-changed", &comparison.after.pipeline.key).fact("edited", edited))
}

/// Names of the aspects that differ, for a message.
pub fn edited(old: &Aspects, new: &Aspects) -> Vec<String> {
    let Aspects {
        outputs,
        complete: _,
        sources,
        filters,
        joins,
        aggregates,
        deduplicates,
        watermarks,
        generators,
        windows,
        stateful_maps,
        limits,
        sorts,
        unions,
        opaque,
        query: _,
    } = old;
    let columns = |aspects: &[crate::analyze::OutputColumn]| {
        let mut columns: Vec<_> =
            aspects.iter().map(|c| (c.name.to_lowercase(), c.term.id(), c.data_type.to_string())).collect();
        columns.sort();
        columns
    };
    let parts = [
        ("columns", columns(outputs) != columns(&new.outputs)),
        ("sources", *sources != new.sources),
        ("filters", *filters != new.filters),
        ("joins", *joins != new.joins),
        ("aggregation", *aggregates != new.aggregates),
        ("deduplication", *deduplicates != new.deduplicates),
        ("watermarks", *watermarks != new.watermarks),
        ("generators", *generators != new.generators),
        ("window functions", *windows != new.windows),
        ("stateful functions", *stateful_maps != new.stateful_maps),
        ("limits", *limits != new.limits),
        ("order", *sorts != new.sorts),
        ("unions", *unions != new.unions),
        ("code", *opaque != new.opaque),
    ];
    parts.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name.to_owned()).collect()
}

/// Writes the aspects of one side over a source of the other.
fn rebase(aspects: &mut Aspects, new: &str, old: &str) {
    let rename = |name: &str| (name == new).then(|| old.to_owned());
    let fix = |term: &mut Term| *term = term.with_sources(&rename);
    let fix_pieces = |pieces: &mut Vec<Piece>| pieces.iter_mut().for_each(|piece| fix(&mut piece.term));
    let Aspects {
        outputs,
        complete: _,
        sources: _,
        filters,
        joins,
        aggregates,
        deduplicates,
        watermarks,
        generators,
        windows,
        stateful_maps,
        limits,
        sorts,
        unions,
        opaque,
        query,
    } = aspects;
    outputs.iter_mut().for_each(|column| fix(&mut column.term));
    for join in joins {
        fix_pieces(&mut join.keys);
        fix_pieces(&mut join.condition);
        for side in join.left.iter_mut().chain(&mut join.right).filter(|side| *side == new) {
            old.clone_into(side);
        }
    }
    for aggregate in aggregates {
        fix_pieces(&mut aggregate.groupings);
        fix_pieces(&mut aggregate.aggregates);
    }
    deduplicates.iter_mut().for_each(|dedup| fix_pieces(&mut dedup.keys));
    watermarks.iter_mut().for_each(|mark| fix(&mut mark.event_time));
    stateful_maps.iter_mut().flat_map(|map| &mut map.keys).for_each(fix);
    for source in unions.iter_mut().flatten().flatten().filter(|source| *source == new) {
        old.clone_into(source);
    }
    fix(query);
    for pieces in [filters, generators, windows, limits, sorts, opaque] {
        fix_pieces(pieces);
    }
    crate::analyze::sort_pieces(&mut aspects.filters);
}

fn compare_filters(comparison: &Comparison, explained: &mut Explained) -> Vec<Change> {
    let (old, new) = (&comparison.before.analyzed.aspects, &comparison.aspects);
    let (mut gone, mut came) = (differing(&new.filters, &old.filters), differing(&old.filters, &new.filters));
    if gone.len() == came.len() {
        // Conjuncts that only contain what another change has told of.
        let told: Vec<bool> = gone.iter().zip(&came).map(|(b, a)| explained.covers(&b.term, &a.term)).collect();
        for pieces in [&mut gone, &mut came] {
            let mut told = told.iter();
            pieces.retain(|_| !told.next().copied().unwrap_or(false));
        }
    }
    if gone.is_empty() && came.is_empty() {
        return Vec::new();
    }
    let aggregates: Vec<&Piece> = old.aggregates.iter().chain(&new.aggregates).flat_map(|a| &a.aggregates).collect();
    let having = |piece: &&Piece| aggregates.iter().any(|aggregate| piece.term.contains(&aggregate.term));
    let all: Vec<&Piece> = gone.iter().chain(&came).copied().collect();
    // The same conjunct on the other side of a stateful operator: say on which.
    let moved = gone.iter().any(|piece| came.iter().any(|other| other.term == piece.term));
    let shown = |pieces: &[&Piece]| -> Vec<String> {
        let place = |piece: &Piece| match (moved, piece.feeds) {
            (false, _) => comparison.show(&piece.term),
            (true, Some(operator)) => format!("{} (before {operator})", comparison.show(&piece.term)),
            (true, None) => format!("{} (at the end)", comparison.show(&piece.term)),
        };
        pieces.iter().map(|piece| place(piece)).collect()
    };
    explained.add(all.iter().map(|piece| piece.term.clone()));
    let place = |pieces: &[&Piece]| pieces.first().map(|piece| piece.place.clone()).unwrap_or_default();
    vec![
        Change::new("filter-changed", &comparison.after.pipeline.key)
            .values(shown(&gone), shown(&came))
            .fact("added", shown(&came))
            .fact("removed", shown(&gone))
            .fact("upstream_of_state", all.iter().any(|piece| piece.feeds.is_some()))
            .fact("after_state", all.iter().any(having))
            .places(&place(&gone), &place(&came)),
    ]
}

/// Pieces of `after` that are not in `before`, as a multiset; where a piece stands in regard to state is part of it.
fn differing<'a>(before: &[Piece], after: &'a [Piece]) -> Vec<&'a Piece> {
    let mut rest: Vec<&Piece> = before.iter().collect();
    let mut surplus = Vec::new();
    for piece in after {
        match rest.iter().position(|other| other.term == piece.term && other.feeds == piece.feeds) {
            Some(index) => {
                rest.remove(index);
            }
            None => surplus.push(piece),
        }
    }
    surplus
}

fn compare_generators(comparison: &Comparison, explained: &mut Explained) -> Vec<Change> {
    let (old, new) = (&comparison.before.analyzed.aspects.generators, &comparison.aspects.generators);
    let (before, after) = (terms(old), terms(new));
    let covered = before.len() == after.len() && before.iter().zip(&after).all(|(b, a)| explained.covers(b, a));
    if before == after || covered {
        return Vec::new();
    }
    explained.add(before.iter().chain(&after).cloned());
    let (before, after) = (comparison.show_all(&before), comparison.show_all(&after));
    let place = |pieces: &[Piece]| pieces.first().map(|piece| piece.place.clone()).unwrap_or_default();
    let change = Change::new("generator-changed", &comparison.after.pipeline.key);
    vec![change.values(before, after).places(&place(old), &place(new))]
}

/// Joins with a side that is read whole: they keep no state, so an edit shows in new rows only.
fn compare_static_joins(comparison: &Comparison, explained: &mut Explained) -> Vec<Change> {
    let statics = |aspects: &Aspects| -> Vec<JoinAspect> {
        aspects.joins.iter().filter(|join| !join.stream_stream).cloned().collect()
    };
    let (old, new) = (statics(&comparison.before.analyzed.aspects), statics(&comparison.aspects));
    let says = |join: &JoinAspect| (join.kind, join.left.clone(), join.right.clone(), conditions(join));
    let (before, after): (Vec<_>, Vec<_>) = (old.iter().map(says).collect(), new.iter().map(says).collect());
    if before == after {
        return Vec::new();
    }
    let show = |join: &JoinAspect| {
        let keys = comparison.show_all(&conditions(join)).join(" and ");
        let side = |texts: &[String]| texts.iter().map(|text| source(text)).collect::<Vec<_>>().join(", ");
        format!("{} {} join {} on {keys}", side(&join.left), join.kind, side(&join.right))
    };
    let aspect = match new.len().cmp(&old.len()) {
        std::cmp::Ordering::Greater => "added",
        std::cmp::Ordering::Less => "removed",
        std::cmp::Ordering::Equal => "changed",
    };
    let place = |joins: &[JoinAspect]| joins.first().map(|join| join.place.clone()).unwrap_or_default();
    explained.add(old.iter().chain(&new).flat_map(conditions));
    let shown = |joins: &[JoinAspect]| joins.iter().map(show).collect::<Vec<_>>();
    let change = Change::new("static-join-changed", &comparison.after.pipeline.key).values(shown(&old), shown(&new));
    vec![change.fact("aspect", aspect).places(&place(&old), &place(&new))]
}

/// Options of what is read whole, source by source. No engine of ours imitates them.
fn compare_static_readers(comparison: &Comparison) -> Vec<Change> {
    let statics = |aspects: &'_ Aspects| -> Vec<SourceAspect> {
        aspects.sources.iter().filter(|source| !source.streaming).cloned().collect()
    };
    let mut new = statics(&comparison.aspects);
    let mut changes = Vec::new();
    for old in statics(&comparison.before.analyzed.aspects) {
        let Some(at) = new.iter().position(|other| other.text == old.text) else { continue };
        let other = new.remove(at);
        let edited: BTreeSet<&String> = (old.options.keys().chain(other.options.keys()))
            .filter(|option| {
                !says_how_to_reach(option) && !same_option(old.options.get(*option), other.options.get(*option))
            })
            .collect();
        if edited.is_empty() {
            continue;
        }
        let shown = |source: &SourceAspect| -> Vec<String> {
            let value = |option: &&String| source.options.get(*option).map(|value| format!("{option} {value}"));
            edited.iter().filter_map(value).collect()
        };
        let change = Change::new("static-reader-changed", &comparison.after.pipeline.key)
            .values(shown(&old), shown(&other))
            .fact("source", source(&other.text))
            .fact("edited", edited.iter().map(|option| (*option).clone()).collect::<Vec<_>>());
        changes.push(change.places(&old.place, &other.place));
    }
    changes
}

fn conditions(join: &JoinAspect) -> Vec<Term> {
    join.keys.iter().chain(&join.condition).map(|piece| piece.term.clone()).collect()
}

/// One table that is read whole in place of another. The rest of the query is compared as if it were the same.
fn exchanged_table(comparison: &mut Comparison) -> Option<Change> {
    let tables = |aspects: &Aspects| -> Vec<String> {
        aspects.sources.iter().filter(|s| !s.streaming).map(|s| s.text.clone()).collect()
    };
    let (before, after) = (tables(&comparison.before.analyzed.aspects), tables(&comparison.aspects));
    let (added, removed) = (surplus(&before, &after), surplus(&after, &before));
    let ([new], [old]) = (added.as_slice(), removed.as_slice()) else { return None };
    rebase(comparison.aspects.to_mut(), new, old);
    let place = |aspects: &Aspects, text: &str| {
        aspects.sources.iter().find(|source| source.text == text).map(|source| source.place.clone()).unwrap_or_default()
    };
    let places = (place(&comparison.before.analyzed.aspects, old), place(&comparison.aspects, new));
    let change = Change::new("static-source-changed", &comparison.after.pipeline.key).values(before, after);
    Some(change.fact("added", added.clone()).fact("removed", removed.clone()).places(&places.0, &places.1))
}
