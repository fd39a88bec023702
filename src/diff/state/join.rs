//! Joins of two streams: their type, keys and condition, and the columns that each side keeps.

use super::listed;
use super::stored::{Types, same_fields, shown};
use crate::analyze::JoinAspect;
use crate::diff::change::Change;
use crate::diff::comparison::{Comparison, Explained, surplus, terms};
use crate::model::{Schema, StateStoreSchema, StatefulOperator};

pub(super) fn compare(
    comparison: &Comparison,
    (operator, other): (&StatefulOperator, &StatefulOperator),
    old: &JoinAspect,
    new: &JoinAspect,
    types: &Types,
    explained: &mut Explained,
) -> Vec<Change> {
    let pipeline = comparison.after.pipeline.key.as_str();
    let mut changes = Vec::new();
    if old.kind != new.kind {
        let change = Change::new("join-type-changed", pipeline);
        changes.push(change.fact("join_type_before", old.kind).fact("join_type_after", new.kind));
    }
    let (before, after) = (terms(&old.keys), terms(&new.keys));
    let swapped = old.left == new.right && old.right == new.left && old.left != new.left;
    if before != after && !swapped {
        changes.push(types.of_keys(listed("join-keys-changed", comparison, &before, &after)));
    }
    let (condition_before, condition_after) = (terms(&old.condition), terms(&new.condition));
    if condition_before != condition_after {
        let (gone, came) = (surplus(&condition_after, &condition_before), surplus(&condition_before, &condition_after));
        let aspect = match (gone.is_empty(), came.is_empty()) {
            (true, _) => "added",
            (_, true) => "removed",
            _ => "changed",
        };
        let change = Change::new("join-condition-changed", pipeline)
            .values(comparison.show_all(&gone), comparison.show_all(&came))
            .fact("aspect", aspect);
        changes.push(change.fact("types_equal", types.equal).fact("types_known", types.known));
    }
    for store in operator.stores.iter().filter(|store| store.store.contains("keyWithIndexToValue")) {
        let Some(other) = other.stores.iter().find(|other| other.store == store.store).filter(|_| !swapped) else {
            continue;
        };
        changes.extend(compare_side(pipeline, store, other, explained));
    }
    for change in &mut changes {
        change.before = old.place.clone();
        change.after = new.place.clone();
    }
    changes
}

/// Columns that one side of a join keeps. A renamed column is the same column; one of the same type in its place is not.
fn compare_side(
    pipeline: &str,
    old: &StateStoreSchema,
    new: &StateStoreSchema,
    explained: &mut Explained,
) -> Option<Change> {
    let names = |schema: &Schema| schema.fields.iter().map(|field| field.name.to_lowercase()).collect::<Vec<_>>();
    let (before, after) = (names(&old.value), names(&new.value));
    let types_equal = same_fields(&old.value, &new.value);
    if before == after && types_equal {
        return None;
    }
    let (added, removed) = (surplus(&before, &after), surplus(&after, &before));
    let known = old.value.complete && new.value.complete;
    if types_equal {
        added.iter().chain(&removed).for_each(|name| explained.add_column(name));
    }
    let change = Change::new("join-state-changed", pipeline)
        .fact("store", old.store.as_ref())
        .fact("types_before", shown(&old.value))
        .fact("types_after", shown(&new.value))
        .fact("types_equal", types_equal)
        .fact("types_known", known);
    Some(change.values(before, after).fact("added", added).fact("removed", removed))
}
