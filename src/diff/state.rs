//! Stateful operators: which, in which order, and what their state means.
//!
//! A restart compares the map of operator ids to names, then the types of each state store's key and value
//! (`OperatorStateMetadata`, `StateSchemaCompatibilityChecker`). Names are not compared, so state of equal types that means
//! something else is resumed without a word: the facts `types_equal` and `types_known` tell rules which of the two it is.

use super::change::{Change, Fact};
use super::column::same_type;
use super::configuration::differences;
use super::flow::{Comparison, Explained};
use super::text::{arguments, surplus, texts};
use crate::analyze::{AggregateAspect, Aspects, DeduplicateAspect, JoinAspect, Piece};
use crate::model::{
    DataType, Node, Place, Plan, Schema, StateStoreSchema, StateVariable, StatefulFunction, StatefulOperator,
};

pub fn compare(comparison: &Comparison, explained: &mut Explained) -> Vec<Change> {
    let old = &comparison.before.analyzed.signature.operators;
    let new = &comparison.after.analyzed.signature.operators;
    let names = |operators: &[StatefulOperator]| operators.iter().map(|o| o.name.to_string()).collect::<Vec<_>>();
    let (before, after) = (names(old), names(new));
    if before != after {
        for aspects in [&comparison.before.analyzed.aspects, &comparison.aspects] {
            let streaming = aspects.aggregates.iter().filter(|aggregate| aggregate.streaming);
            explained
                .add(streaming.flat_map(|a| a.groupings.iter().chain(&a.aggregates)).map(|piece| piece.text.clone()));
        }
        return compare_names(comparison, old, new, &before, &after);
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
                .map(|(p, q)| compare_aggregates(comparison, x, p, q, &types, explained)),
            "dedupe" | "dedupeWithinWatermark" => counts
                .pair(&b.deduplicates, &a.deduplicates, |c| &mut c.deduplicates)
                .map(|(p, q)| compare_deduplicates(comparison, x, p, q, &types)),
            "symmetricHashJoin" => counts
                .pair(&b.joins, &a.joins, |c| &mut c.joins)
                .map(|(p, q)| compare_joins(comparison, (x, y), p, q, &types, explained)),
            "globalLimit" => {
                counts.pair(&b.limits, &a.limits, |c| &mut c.limits).map(|(p, q)| compare_limits(comparison, p, q))
            }
            _ => counts
                .pair(&b.functions, &a.functions, |c| &mut c.functions)
                .map(|(p, q)| compare_functions(comparison, x, p, q, &types, explained)),
        };
        let found = found.unwrap_or_default();
        if found.is_empty() && types.known && !types.equal && !pinned {
            changes.push(
                Change::new("state-types-changed", &comparison.after.pipeline.key)
                    .fact("operator", x.name.as_ref())
                    .fact("store", types.store.clone())
                    .fact("types_before", types.before.clone())
                    .fact("types_after", types.after.clone())
                    .places(&x.place, &y.place),
            );
        }
        changes.extend(found);
    }
    changes
}

/// The id → name map differs, which a restart refuses whatever else changed.
fn compare_names(
    comparison: &Comparison,
    old: &[StatefulOperator],
    new: &[StatefulOperator],
    before: &[String],
    after: &[String],
) -> Vec<Change> {
    let pipeline = comparison.after.pipeline.key.as_str();
    let (removed, added) = (surplus(after, before), surplus(before, after));
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
    let sources_changed = comparison.before.streams().len() != comparison.after.streams().len();
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
    functions: Vec<(StatefulFunction, Vec<String>, Place)>,
}

impl Operators {
    fn of(comparison: &Comparison, before: bool) -> Self {
        let (side, aspects): (_, &Aspects) = if before {
            (comparison.before, &comparison.before.analyzed.aspects)
        } else {
            (comparison.after, &comparison.aspects)
        };
        Operators {
            aggregates: aspects.aggregates.iter().filter(|a| a.streaming).cloned().collect(),
            deduplicates: aspects.deduplicates.iter().filter(|d| d.streaming).cloned().collect(),
            joins: aspects.joins.iter().filter(|join| join.stream_stream).cloned().collect(),
            limits: aspects.limits.clone(),
            functions: functions(&side.analyzed.optimized, &side.analyzed.signature.operators),
        }
    }
}

/// Functions with state of their own, with their keys as the signature names them.
fn functions(plan: &Plan, operators: &[StatefulOperator]) -> Vec<(StatefulFunction, Vec<String>, Place)> {
    let mut found = Vec::new();
    plan.walk(&mut |plan| {
        if let Node::StatefulMap { function, .. } = &plan.node {
            found.push((function.clone(), Vec::new(), plan.place.clone()));
        }
    });
    let keys =
        operators.iter().filter(|o| o.semantics.contains_key("function")).map(|o| o.semantics.get("keys").cloned());
    for (entry, keys) in found.iter_mut().zip(keys) {
        entry.1 = keys.unwrap_or_default();
    }
    found
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

/// What a restart would compare of one operator.
struct Types {
    equal: bool,
    known: bool,
    /// The first store that differs, and its types.
    store: String,
    before: Vec<String>,
    after: Vec<String>,
    keys: (Vec<String>, Vec<String>),
    values: (Vec<String>, Vec<String>),
    keys_equal: bool,
    values_equal: bool,
}

impl Types {
    fn of(old: &StatefulOperator, new: &StatefulOperator) -> Self {
        let mut types = Types {
            equal: true,
            known: true,
            store: String::new(),
            before: Vec::new(),
            after: Vec::new(),
            keys: shown_pair(old, new, |store| &store.key),
            values: shown_pair(old, new, |store| &store.value),
            keys_equal: true,
            values_equal: true,
        };
        let known = |store: &StateStoreSchema| {
            [&store.key, &store.value]
                .into_iter()
                .all(|s| s.complete && s.fields.iter().all(|f| !f.data_type.is_unknown()))
        };
        for store in &old.stores {
            let Some(other) = new.stores.iter().find(|other| other.store == store.store) else {
                types.equal = false;
                continue;
            };
            types.known &= known(store) && known(other);
            for (b, a, is_key) in [(&store.key, &other.key, true), (&store.value, &other.value, false)] {
                if !same_fields(b, a) {
                    if types.equal {
                        types.store = store.store.to_string();
                        types.before = shown(b);
                        types.after = shown(a);
                    }
                    types.equal = false;
                    if is_key {
                        types.keys_equal = false;
                    } else {
                        types.values_equal = false;
                    }
                }
            }
        }
        types
    }

    /// Facts about the keys' types.
    fn of_keys(&self, change: Change) -> Change {
        self.facts(change, &self.keys, self.keys_equal)
    }

    /// Facts about the values' types.
    fn of_values(&self, change: Change) -> Change {
        self.facts(change, &self.values, self.values_equal)
    }

    fn facts(&self, change: Change, types: &(Vec<String>, Vec<String>), equal: bool) -> Change {
        change
            .fact("types_before", types.0.clone())
            .fact("types_after", types.1.clone())
            .fact("types_equal", equal)
            .fact("types_known", self.known)
    }
}

fn shown_pair(
    old: &StatefulOperator,
    new: &StatefulOperator,
    part: impl Fn(&StateStoreSchema) -> &Schema,
) -> (Vec<String>, Vec<String>) {
    let of = |operator: &StatefulOperator| operator.stores.first().map(|store| shown(part(store))).unwrap_or_default();
    (of(old), of(new))
}

fn shown(schema: &Schema) -> Vec<String> {
    schema.fields.iter().map(|field| field.data_type.to_string()).collect()
}

/// `DataType.equalsIgnoreNameAndCompatibleNullability`: number, order and types, at every depth.
fn same_fields(a: &Schema, b: &Schema) -> bool {
    a.fields.len() == b.fields.len()
        && a.fields.iter().zip(&b.fields).all(|(x, y)| same_stored(&x.data_type, &y.data_type))
}

fn same_stored(a: &DataType, b: &DataType) -> bool {
    match (a, b) {
        (DataType::Struct(x), DataType::Struct(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same_stored(&x.data_type, &y.data_type))
        }
        (DataType::Array { element: x, .. }, DataType::Array { element: y, .. }) => same_stored(x, y),
        (DataType::Map { key: k, value: v, .. }, DataType::Map { key: l, value: w, .. }) => {
            same_stored(k, l) && same_stored(v, w)
        }
        // What is not known differs from nothing.
        (DataType::Unknown, _) | (_, DataType::Unknown) => true,
        _ => same_type(a, b),
    }
}

/// A change of a list: what came, what went, or only another order.
fn listed(kind: &'static str, pipeline: &str, before: &[String], after: &[String]) -> Change {
    let (removed, added) = (surplus(after, before), surplus(before, after));
    Change::new(kind, pipeline)
        .values(before.to_vec(), after.to_vec())
        .fact("reordered", removed.is_empty() && added.is_empty())
        .fact("added", added)
        .fact("removed", removed)
}

fn compare_aggregates(
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
    let edited = |before: &str, after: &str| explained_by_code(explained, before, after);
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

/// The difference comes from edited code that has a change of its own.
fn explained_by_code(explained: &Explained, before: &str, after: &str) -> bool {
    explained.covers(before, after)
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

fn compare_deduplicates(
    comparison: &Comparison,
    operator: &StatefulOperator,
    old: &DeduplicateAspect,
    new: &DeduplicateAspect,
    types: &Types,
) -> Vec<Change> {
    let (before, after) = (texts(&old.keys), texts(&new.keys));
    if before == after {
        return Vec::new();
    }
    let change = listed("dedup-keys-changed", &comparison.after.pipeline.key, &before, &after);
    vec![types.of_keys(change.fact("operator", operator.name.as_ref())).places(&old.place, &new.place)]
}

fn compare_joins(
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
    let (before, after) = (texts(&old.keys), texts(&new.keys));
    let swapped = old.left == new.right && old.right == new.left && old.left != new.left;
    if before != after && !swapped {
        changes.push(types.of_keys(listed("join-keys-changed", pipeline, &before, &after)));
    }
    let (condition_before, condition_after) = (texts(&old.condition), texts(&new.condition));
    if condition_before != condition_after {
        let (gone, came) = (surplus(&condition_after, &condition_before), surplus(&condition_before, &condition_after));
        let aspect = match (gone.is_empty(), came.is_empty()) {
            (true, _) => "added",
            (_, true) => "removed",
            _ => "changed",
        };
        let change = Change::new("join-condition-changed", pipeline).values(gone, came).fact("aspect", aspect);
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
        explained.add(added.iter().chain(&removed).map(|name| format!(".{name}")));
    }
    let change = Change::new("join-state-changed", pipeline)
        .fact("store", old.store.as_ref())
        .fact("types_before", shown(&old.value))
        .fact("types_after", shown(&new.value))
        .fact("types_equal", types_equal)
        .fact("types_known", known);
    Some(change.values(before, after).fact("added", added).fact("removed", removed))
}

fn compare_limits(comparison: &Comparison, old: &Piece, new: &Piece) -> Vec<Change> {
    if old.text == new.text {
        return Vec::new();
    }
    let change = Change::new("limit-changed", &comparison.after.pipeline.key);
    vec![change.values(old.text.as_str(), new.text.as_str()).places(&old.place, &new.place)]
}

type Function = (StatefulFunction, Vec<String>, Place);

fn compare_functions(
    comparison: &Comparison,
    operator: &StatefulOperator,
    (old, keys_before, place_before): &Function,
    (new, keys_after, place_after): &Function,
    types: &Types,
    explained: &mut Explained,
) -> Vec<Change> {
    let pipeline = comparison.after.pipeline.key.as_str();
    let base = |kind| Change::new(kind, pipeline).fact("operator", operator.name.as_ref());
    let mut changes = Vec::new();
    if keys_before != keys_after {
        let change = listed("grouping-keys-changed", pipeline, keys_before, keys_after);
        changes.push(types.of_keys(change.fact("operator", operator.name.as_ref())));
    }
    if let (Some(b), Some(a)) = (&old.state, &new.state)
        && !same_fields(b, a)
    {
        let columns =
            |schema: &Schema| schema.fields.iter().map(|f| format!("{} {}", f.name, f.data_type)).collect::<Vec<_>>();
        let (b, a) = (columns(b), columns(a));
        let change = base("state-schema-changed").fact("added", surplus(&b, &a)).fact("removed", surplus(&a, &b));
        changes.push(change.values(b, a).fact("store", "default").fact("aspect", "schema").fact("types_known", true));
    }
    let avro = comparison.before.configuration().iter().any(|(key, value)| {
        key.eq_ignore_ascii_case("spark.sql.streaming.stateStore.encodingFormat") && value.eq_ignore_ascii_case("avro")
    });
    changes.extend(compare_variables(pipeline, operator, (&old.variables, &new.variables), avro));
    if old.time_mode != new.time_mode || old.output_mode != new.output_mode {
        let modes =
            |function: &StatefulFunction| vec![function.time_mode.to_string(), function.output_mode.to_string()];
        changes.push(base("state-timeout-changed").values(modes(old), modes(new)).fact("types_equal", types.equal));
    }
    if old.function.content != new.function.content {
        let unit = new.function.code.iter().find(|unit| {
            old.function.code.iter().any(|other| other.name == unit.name && other.content != unit.content)
        });
        let place = unit.map_or(&new.function.place, |unit| &unit.place);
        let name = unit.map_or(&new.function.name, |unit| &unit.name);
        let path = place.span().map(|span| span.path.to_string()).unwrap_or_default();
        let change = base("state-function-changed").fact("code", name.as_ref()).fact("code_path", path);
        explained.add([new.function.name.to_string(), old.function.name.to_string()]);
        changes.push(change.places(&old.function.place, place));
    }
    for change in &mut changes {
        change.before = change.before.or(place_before);
        change.after = change.after.or(place_after);
    }
    changes
}

/// Named variables of transformWithState: matched by name, so that a renamed one starts empty.
fn compare_variables(
    pipeline: &str,
    operator: &StatefulOperator,
    (old, new): (&[StateVariable], &[StateVariable]),
    avro: bool,
) -> Vec<Change> {
    let shown = |variable: &StateVariable| {
        let key = variable.key.as_ref().map(|key| format!("{key} → ")).unwrap_or_default();
        let ttl = if variable.ttl { ", with TTL" } else { "" };
        format!("{} {} ({key}{}{ttl})", variable.kind, variable.name, variable.value)
    };
    let base = |name: &str, aspect: &'static str| {
        Change::new("state-schema-changed", pipeline)
            .fact("operator", operator.name.as_ref())
            .fact("store", name)
            .fact("types_known", true)
            .fact("aspect", aspect)
    };
    let list = |variables: &[String]| Fact::List(variables.to_vec());
    let mut changes = Vec::new();
    for variable in old {
        let Some(other) = new.iter().find(|other| other.name == variable.name) else {
            let gone = vec![shown(variable)];
            changes.push(base(&variable.name, "variable-removed").values(list(&gone), list(&[])).fact("removed", gone));
            continue;
        };
        let same_kind = variable.kind == other.kind;
        let same = same_kind
            && variable.ttl == other.ttl
            && same_stored(&variable.value, &other.value)
            && match (&variable.key, &other.key) {
                (Some(x), Some(y)) => same_stored(x, y),
                (x, y) => x.is_none() == y.is_none(),
            };
        if !same {
            let aspect = if same_kind { "schema" } else { "variable-kind" };
            let change = base(&variable.name, aspect).values(list(&[shown(variable)]), list(&[shown(other)]));
            changes.push(change.fact("avro", avro && same_kind && only_adds(&variable.value, &other.value)));
        }
    }
    for variable in new.iter().filter(|variable| old.iter().all(|other| other.name != variable.name)) {
        let came = vec![shown(variable)];
        changes.push(base(&variable.name, "variable-added").values(list(&[]), list(&came)).fact("added", came));
    }
    changes
}

/// A struct that keeps its fields, with their types and in their order, and gains others behind them.
fn only_adds(old: &DataType, new: &DataType) -> bool {
    match (old, new) {
        (DataType::Struct(x), DataType::Struct(y)) => {
            x.len() < y.len() && x.iter().zip(y).all(|(x, y)| same_stored(&x.data_type, &y.data_type))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Field;

    #[test]
    fn names_and_nullability_do_not_count_in_stored_types() {
        let old = Schema::new(vec![Field::new("a", DataType::Struct(vec![Field::new("x", DataType::Int)]))]);
        let new = Schema::new(vec![Field::not_null("b", DataType::Struct(vec![Field::not_null("y", DataType::Int)]))]);
        let wider = Schema::new(vec![Field::new("a", DataType::Struct(vec![Field::new("x", DataType::Long)]))]);
        assert!(same_fields(&old, &new));
        assert!(!same_fields(&old, &wider));
    }

    #[test]
    fn the_changed_argument_of_a_window_is_named() {
        let window = |rest: &str| format!("window(cast(events.ts as timestamp), {rest})");
        assert_eq!(window_aspect(&window("600, 600, 0"), &window("300, 600, 0")), "length");
        assert_eq!(window_aspect(&window("600, 600, 0"), &window("600, 300, 0")), "slide");
        assert_eq!(window_aspect(&window("600, 600, 0"), &window("600, 600, 60")), "start");
    }
}
