//! Aggregations with state: grouping keys, windows, and the aggregates over them.

use super::listed;
use super::stored::Types;
use crate::analyze::{AggregateAspect, Term, TermKind};
use crate::diff::change::Change;
use crate::diff::comparison::{Comparison, Explained, surplus, terms};
use crate::model::StatefulOperator;

pub(super) fn compare(
    comparison: &Comparison,
    operator: &StatefulOperator,
    old: &AggregateAspect,
    new: &AggregateAspect,
    types: &Types,
    explained: &mut Explained,
) -> Vec<Change> {
    let mut changes = Vec::new();
    let (before, after) = (terms(&old.groupings), terms(&new.groupings));
    // The difference comes from edited code that has a change of its own.
    let edited = |before: &Term, after: &Term| explained.covers(before, after);
    let changed: Vec<(&Term, &Term)> = before.iter().zip(&after).filter(|(b, a)| b != a).collect();
    let same_number = before.len() == after.len();
    if before != after || old.sets != new.sets {
        let windows_only =
            same_number && old.sets == new.sets && changed.iter().all(|(b, a)| is_window(b) && is_window(a));
        if windows_only {
            changes.extend(changed.iter().map(|(b, a)| window_change(comparison, b, a).places(&old.place, &new.place)));
        } else if !(same_number && changed.iter().all(|(b, a)| edited(b, a)) && !changed.is_empty()) {
            let sets = |aspect: &AggregateAspect| aspect.sets.clone().map(Term::plain).into_iter();
            let (b, a): (Vec<Term>, Vec<Term>) =
                (before.iter().cloned().chain(sets(old)).collect(), after.iter().cloned().chain(sets(new)).collect());
            let change = listed("grouping-keys-changed", comparison, &b, &a).fact("operator", operator.name.as_ref());
            changes.push(types.of_keys(change).places(&old.place, &new.place));
        }
    }
    let (calls_before, calls_after) = (terms(&old.aggregates), terms(&new.aggregates));
    let pairs: Vec<(&Term, &Term)> = calls_before.iter().zip(&calls_after).filter(|(b, a)| b != a).collect();
    let told = calls_before.len() == calls_after.len() && !pairs.is_empty() && pairs.iter().all(|(b, a)| edited(b, a));
    if calls_before != calls_after && !told {
        let change = listed("aggregates-changed", comparison, &calls_before, &calls_after);
        let change = change.fact("operator", operator.name.as_ref());
        changes.push(types.of_values(change).places(&old.place, &new.place));
    }
    explained.add(surplus(&after, &before).into_iter().chain(surplus(&before, &after)));
    explained.add(surplus(&calls_after, &calls_before).into_iter().chain(surplus(&calls_before, &calls_after)));
    changes
}

fn is_window(term: &Term) -> bool {
    matches!(term.kind(), TermKind::TimeWindow | TermKind::SessionWindow)
}

fn window_change(comparison: &Comparison, before: &Term, after: &Term) -> Change {
    let sessions = [before, after].iter().all(|term| term.kind() == TermKind::SessionWindow);
    let kind = if sessions { "session-gap-changed" } else { "window-changed" };
    let change =
        Change::new(kind, &comparison.after.pipeline.key).values(comparison.show(before), comparison.show(after));
    if sessions { change } else { change.fact("aspect", window_aspect(before, after)) }
}

/// Which argument of `window(time, length, slide, start)` differs.
fn window_aspect(before: &Term, after: &Term) -> &'static str {
    let differs = |index: usize| before.children().nth(index) != after.children().nth(index);
    if differs(0) {
        "column"
    } else if differs(1) {
        "length"
    } else if differs(2) {
        "slide"
    } else {
        "start"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::TermBuilder;

    #[test]
    fn the_changed_argument_of_a_window_is_named() {
        let window = |arguments: [&str; 4]| {
            let arguments = arguments.map(Term::plain);
            TermBuilder::new(TermKind::TimeWindow).text("window(").list(arguments, ", ").text(")").build()
        };
        let before = window(["ts", "600", "600", "0"]);
        assert_eq!(window_aspect(&before, &window(["ts", "300", "600", "0"])), "length");
        assert_eq!(window_aspect(&before, &window(["ts", "600", "300", "0"])), "slide");
        assert_eq!(window_aspect(&before, &window(["ts", "600", "600", "60"])), "start");
    }
}
