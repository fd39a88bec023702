//! One flow in both revisions: which comparisons apply to it, and in which order they explain what differs.

use super::change::Change;
use super::comparison::{Comparison, Explained, Side};
use super::pair::FlowPair;
use super::query::{self, edited};
use super::{cdc, code_changed, configuration, definition, source as sources, stream_job};
use crate::analyze::{Analysis, AnalysisError};
use crate::model::{DatasetKind, FlowKind, Node, Place};

/// Everything that differs in one flow. `settled` says that nothing outside of queries differs for their sources: neither what
/// `pipelint.yaml` says of them nor the formats of tables.
pub fn compare(before: &Analysis, after: &Analysis, pair: &FlowPair, settled: bool) -> Vec<Change> {
    let old = pair.before.and_then(|reference| Side::new(before, reference));
    let new = pair.after.and_then(|reference| Side::new(after, reference));
    let mut changes = match (old, new) {
        (Some(old), Some(new)) => compare_sides(old, new, pair, settled),
        (None, Some(new)) => errors(&[], new),
        _ => Vec::new(),
    };
    for change in &mut changes {
        change.pipeline.clone_from(&pair.pipeline);
        change.dataset = Some(pair.dataset.clone());
        change.flow = Some(pair.flow.clone());
        let place = |side: Option<Side>| side.map(|side| side.flow.place.clone()).unwrap_or_default();
        change.before = change.before.or(&place(old));
        change.after = change.after.or(&place(new));
    }
    changes
}

fn compare_sides(old: Side, new: Side, pair: &FlowPair, settled: bool) -> Vec<Change> {
    let mut changes = Vec::new();
    changes.extend(kind_changed(old, new));
    changes.extend(errors(&old.analyzed.errors, new));
    let same_query = old.analyzed.aspects.same_meaning(&new.analyzed.aspects)
        && old.analyzed.signature.operators == new.analyzed.signature.operators;
    if pair.renamed {
        changes.push(renamed(old, new).fact("same_query", same_query));
    }
    let comparison = Comparison::new(old, new);
    if old.flow.is_once() && new.flow.is_once() {
        let cdc = cdc::compare(&comparison);
        if !same_query || !cdc.is_empty() {
            let edited = edited(&old.analyzed.aspects, &new.analyzed.aspects);
            changes.push(Change::new("once-flow-edited", &new.pipeline.key).fact("edited", edited));
        }
        return changes;
    }
    changes.extend(flow_configuration(old, new));
    changes.extend(definition::clauses(old, new));
    // A query that could not be understood may be a stream or not: its kind of dataset says nothing either.
    if let Some((reason, place)) = unresolved(old, new) {
        let change = Change::new("query-unresolved", &new.pipeline.key).fact("reason", reason);
        let edited = edited(&old.analyzed.aspects, &new.analyzed.aspects);
        changes.push(change.fact("edited", edited).places(&Place::unknown(), &place));
        return changes;
    }
    if new.dataset.is_some_and(|dataset| dataset.kind == DatasetKind::MaterializedView) {
        let code = code_changed::compare(&comparison, &mut Explained::default());
        if old.dataset.is_some_and(|d| d.kind == DatasetKind::MaterializedView) && (!same_query || !code.is_empty()) {
            let edited = edited(&old.analyzed.aspects, &new.analyzed.aspects);
            changes.push(Change::new("materialized-view-changed", &new.pipeline.key).fact("edited", edited));
        }
        if changes.is_empty() {
            changes.extend(definition::open_code(old, new));
        }
        return changes;
    }
    if old.dataset.is_some_and(|dataset| dataset.kind == DatasetKind::MaterializedView) {
        return changes;
    }
    changes.extend(cdc::compare(&comparison));
    changes.extend(stream_job::compare(&comparison));
    if same_query {
        // The same text may read another source: what `pipelint.yaml` says of it counts.
        if !settled {
            changes.extend(sources::compare(&comparison).0);
        }
        changes.extend(code_changed::compare(&comparison, &mut Explained::default()));
    } else {
        let compare = if pair.renamed { query::compare_tables } else { query::compare };
        changes.extend(compare(comparison));
    }
    if changes.is_empty() {
        changes.extend(definition::unexplained(old, new));
    }
    if changes.is_empty() {
        changes.extend(definition::open_code(old, new));
    }
    changes
}

fn renamed(old: Side, new: Side) -> Change {
    let is_default = |side: Side| matches!(side.flow.kind, FlowKind::Default);
    let new_name = new.flow.name.as_str();
    let used = old.pipeline.flows.iter().any(|flow| flow.name == new_name && flow.target != old.flow.target);
    Change::new("flow-renamed", &new.pipeline.key)
        .values(old.flow.name.as_str(), new_name)
        .fact("case_only", old.flow.name.eq_ignore_ascii_case(new_name))
        .fact("default_before", is_default(old))
        .fact("default_after", is_default(new))
        .fact("once", new.flow.is_once())
        .fact("name_used", used)
}

pub fn kind(kind: &FlowKind) -> &'static str {
    match kind {
        FlowKind::Default => "default",
        FlowKind::Append => "append",
        FlowKind::Once => "once",
        FlowKind::AutoCdc(_) => "auto-cdc",
        FlowKind::AutoCdcOnce(_) => "auto-cdc-once",
        FlowKind::ReplaceWhere(_) => "replace-where",
        FlowKind::ReplaceUsing { .. } => "replace-using",
        FlowKind::StreamJob(_) => "stream-job",
    }
}

fn kind_changed(old: Side, new: Side) -> Option<Change> {
    // A table's own query and an explicit flow append alike; only their names can differ.
    let class = |side: Side| match kind(&side.flow.kind) {
        "default" => "append",
        other => other,
    };
    let (b, a) = (class(old), class(new));
    (b != a).then(|| Change::new("flow-kind-changed", &new.pipeline.key).values(b, a))
}

fn flow_configuration(old: Side, new: Side) -> Vec<Change> {
    let own = |side: Side| {
        let mut all = side.dataset.map(|dataset| dataset.spark_conf.clone()).unwrap_or_default();
        all.extend(side.flow.spark_conf.clone());
        all
    };
    let (b, a) = (own(old), own(new));
    configuration::differences(&b, &a)
        .into_iter()
        .map(|(key, class, before, after)| {
            let change = Change::new("configuration-changed", &new.pipeline.key);
            change.fact("setting", key).fact("class", class).values(before, after)
        })
        .collect()
}

/// Errors that the analyzer of AFTER's query gives; those that stood there before are marked.
fn errors(known: &[AnalysisError], new: Side) -> Vec<Change> {
    let class = |error: &AnalysisError| error.class == "USER_SPECIFIED_AND_INFERRED_SCHEMA_NOT_COMPATIBLE";
    (new.analyzed.errors.iter())
        .map(|error| {
            let was_broken =
                known.iter().any(|old| old.class == error.class && (!class(error) || old.message == error.message));
            let change = if class(error) {
                Change::new("declared-schema-mismatch", &new.pipeline.key)
            } else {
                Change::new("flow-invalid", &new.pipeline.key).fact("error_class", error.class.as_str())
            };
            change
                .fact("error", error.message.as_str())
                .fact("was_broken", was_broken)
                .places(&Place::unknown(), &error.place)
        })
        .filter(|change| !change.flag("was_broken"))
        .collect()
}

/// Why a relation of one of the queries is not known, where the two queries differ in that.
fn unresolved(old: Side, new: Side) -> Option<(String, Place)> {
    let gaps = |side: Side| {
        let mut gaps: Vec<(String, Place)> = Vec::new();
        side.analyzed.plan.walk(&mut |plan| {
            if let Node::Opaque { function, inputs, .. } = &plan.node
                && inputs.is_empty()
            {
                gaps.push((format!("{}: {}", function.name, function.reason), function.place.or(&plan.place)));
            }
        });
        gaps
    };
    let (b, a) = (gaps(old), gaps(new));
    if b.iter().map(|gap| &gap.0).eq(a.iter().map(|gap| &gap.0)) && content(old) == content(new) {
        return None;
    }
    let only = |list: &[(String, Place)], other: &[(String, Place)]| {
        list.iter().find(|gap| !other.iter().any(|known| known.0 == gap.0)).or(list.first()).cloned()
    };
    only(&a, &b).or_else(|| only(&b, &a).map(|(reason, _)| (reason, Place::unknown())))
}

/// Hashes of relations that are not known.
fn content(side: Side) -> Vec<u64> {
    let mut hashes = Vec::new();
    side.analyzed.plan.walk(&mut |plan| {
        if let Node::Opaque { function, inputs, .. } = &plan.node
            && inputs.is_empty()
        {
            hashes.push(function.content);
        }
    });
    hashes
}
