//! Aggregations with state: grouping keys, windows, and the aggregates over them.

use super::listed;
use super::stored::Types;
use crate::analyze::AggregateAspect;
use crate::diff::change::Change;
use crate::diff::flow::{Comparison, Explained};
use crate::diff::text::{arguments, surplus, texts};
use crate::model::StatefulOperator;

pub(super) fn compare(
    comparison: &Comparison,
    operator: &StatefulOperator,
    old: &AggregateAspect,
    new: &AggregateAspect,
    types: &Types,
    explained: &mut Explained,
) -> Vec<Change> {
    let pipeline = comparison.after.pipeline.key.as_str();
    let mut changes = Vec::new();
    let (before, after) = (texts(&old.groupings), texts(&new.groupings));
    // The difference comes from edited code that has a change of its own.
    let edited = |before: &str, after: &str| explained.covers(before, after);
    let changed: Vec<(&String, &String)> = before.iter().zip(&after).filter(|(b, a)| b != a).collect();
    let same_number = before.len() == after.len();
    if before != after || old.sets != new.sets {
        let windows_only =
            same_number && old.sets == new.sets && changed.iter().all(|(b, a)| is_window(b) && is_window(a));
        if windows_only {
            changes.extend(changed.iter().map(|(b, a)| window_change(pipeline, b, a).places(&old.place, &new.place)));
        } else if !(same_number && changed.iter().all(|(b, a)| edited(b, a)) && !changed.is_empty()) {
            let sets = |aspect: &AggregateAspect| aspect.sets.clone().into_iter();
            let (b, a): (Vec<String>, Vec<String>) =
                (before.iter().cloned().chain(sets(old)).collect(), after.iter().cloned().chain(sets(new)).collect());
            let change = listed("grouping-keys-changed", pipeline, &b, &a).fact("operator", operator.name.as_ref());
            changes.push(types.of_keys(change).places(&old.place, &new.place));
        }
    }
    let (calls_before, calls_after) = (texts(&old.aggregates), texts(&new.aggregates));
    let pairs: Vec<(&String, &String)> = calls_before.iter().zip(&calls_after).filter(|(b, a)| b != a).collect();
    let told = calls_before.len() == calls_after.len() && !pairs.is_empty() && pairs.iter().all(|(b, a)| edited(b, a));
    if calls_before != calls_after && !told {
        let change = listed("aggregates-changed", pipeline, &calls_before, &calls_after);
        let change = change.fact("operator", operator.name.as_ref());
        changes.push(types.of_values(change).places(&old.place, &new.place));
    }
    explained.add(surplus(&after, &before).into_iter().chain(surplus(&before, &after)));
    explained.add(surplus(&calls_after, &calls_before).into_iter().chain(surplus(&calls_before, &calls_after)));
    changes
}

fn is_window(text: &str) -> bool {
    text.starts_with("window(") || text.starts_with("session_window(")
}

fn window_change(pipeline: &str, before: &str, after: &str) -> Change {
    if before.starts_with("session_window(") && after.starts_with("session_window(") {
        return Change::new("session-gap-changed", pipeline).values(before, after);
    }
    Change::new("window-changed", pipeline).values(before, after).fact("aspect", window_aspect(before, after))
}

/// Which argument of `window(time, length, slide, start)` differs.
fn window_aspect(before: &str, after: &str) -> &'static str {
    let args = |text: &str| -> Vec<String> {
        let inner = text.split_once('(').and_then(|(_, rest)| arguments(rest));
        inner.map(|(arguments, _)| arguments).unwrap_or_default()
    };
    let (b, a) = (args(before), args(after));
    let differs = |index: usize| b.get(index) != a.get(index);
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

    #[test]
    fn the_changed_argument_of_a_window_is_named() {
        let window = |rest: &str| format!("window(cast(events.ts as timestamp), {rest})");
        assert_eq!(window_aspect(&window("600, 600, 0"), &window("300, 600, 0")), "length");
        assert_eq!(window_aspect(&window("600, 600, 0"), &window("600, 300, 0")), "slide");
        assert_eq!(window_aspect(&window("600, 600, 0"), &window("600, 600, 60")), "start");
    }
}
