//! What two definitions hold beyond their queries: whatever differs there and no comparator has named is a change all the same.
//!
//! Every member is looked at, by exhaustive patterns: a new one does not compile until somebody has said what it means.

use super::change::Change;
use super::comparison::Side;
use crate::model::{CdcSpec, Dataset, Flow, FlowKind, StreamWrite};
use std::collections::{BTreeMap, BTreeSet};

/// A difference of a flow, or of the dataset that it writes, that no other comparison names.
pub fn unexplained(old: Side, new: Side) -> Option<Change> {
    let mut edited = flow_differences(old.flow, new.flow);
    if let (Some(old), Some(new)) = (old.dataset, new.dataset) {
        edited.extend(dataset_differences(old, new));
    }
    let edited: Vec<String> = edited.into_iter().map(str::to_owned).collect();
    (!edited.is_empty()).then(|| Change::new("query-changed", &new.pipeline.key).fact("edited", edited))
}

/// Clauses of the definition that are kept as text: nothing is known of what they do to rows, unless they are of those that change
/// none.
pub fn clauses(old: Side, new: Side) -> Vec<Change> {
    let (Some(old), Some(new_dataset)) = (old.dataset, new.dataset) else { return Vec::new() };
    let keys: BTreeSet<&String> = old.other.keys().chain(new_dataset.other.keys()).collect();
    let differs = |key: &&&String| old.other.get(**key) != new_dataset.other.get(**key);
    keys.iter()
        .filter(differs)
        .filter(|key| !leaves_rows_alone(key))
        .map(|key| {
            let value = |dataset: &Dataset| dataset.other.get(*key).cloned().unwrap_or_default();
            Change::new("clause-changed", &new.pipeline.key)
                .fact("clause", key.replace('.', " of "))
                .values(value(old).as_str(), value(new_dataset).as_str())
                .places(&old.place, &new_dataset.place)
        })
        .collect()
}

/// What readers may see, when an update runs, and what is written down without being enforced.
fn leaves_rows_alone(clause: &str) -> bool {
    const ALONE: [&str; 11] = [
        "foreign",
        "mask",
        "primary",
        "references",
        "refresh policy",
        "row filter",
        "schedule",
        "tags",
        "trigger",
        "unique",
        "with schema",
    ];
    let of = clause.split('.').next().unwrap_or(clause).replace('_', " ");
    let informational = of == "constraint" && !clause.to_lowercase().contains("check");
    ALONE.contains(&of.as_str()) || informational
}

/// Both plans are equal as far as they are known, they rest on what is known only at run time, and the code behind them is not the
/// same: nothing proves the queries equal.
pub fn open_code(old: Side, new: Side) -> Option<Change> {
    if old.flow.open_code == new.flow.open_code {
        return None;
    }
    let code = new.flow.code.iter().find(|unit| !old.flow.code.iter().any(|other| other.content == unit.content));
    let place = code.map_or(&new.flow.place, |unit| &unit.place);
    Some(Change::new("open-code-changed", &new.pipeline.key).places(&old.flow.place, place))
}

fn differing<const N: usize>(parts: [(&'static str, bool); N]) -> Vec<&'static str> {
    parts.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
}

fn flow_differences(old: &Flow, new: &Flow) -> Vec<&'static str> {
    // Names pair flows, queries are compared as terms, configuration setting by setting, open code last; comments and the code
    // that built a flow decide no row.
    let Flow { name: _, target: _, kind, plan: _, spark_conf: _, comment: _, code: _, open_code: _, place: _ } = old;
    match (kind, &new.kind) {
        (FlowKind::AutoCdc(old), FlowKind::AutoCdc(new)) | (FlowKind::AutoCdcOnce(old), FlowKind::AutoCdcOnce(new)) => {
            cdc_differences(old, new)
        }
        (FlowKind::StreamJob(old), FlowKind::StreamJob(new)) => writer_differences(old, new),
        // Other kinds hold nothing, or are compared whole; flows of two kinds are told apart before.
        (
            FlowKind::Default
            | FlowKind::Append
            | FlowKind::Once
            | FlowKind::AutoCdc(_)
            | FlowKind::AutoCdcOnce(_)
            | FlowKind::ReplaceWhere(_)
            | FlowKind::ReplaceUsing { .. }
            | FlowKind::StreamJob(_),
            _,
        ) => Vec::new(),
    }
}

fn cdc_differences(old: &CdcSpec, new: &CdcSpec) -> Vec<&'static str> {
    // What `cdc::compare` looks at is left out.
    let CdcSpec {
        keys: _,
        sequence_by: _,
        apply_as_deletes: _,
        apply_as_truncates: _,
        ignore_null_updates: _,
        columns: _,
        scd_type: _,
        track_history: _,
        from_snapshot,
    } = old;
    differing([("changes or snapshots", *from_snapshot != new.from_snapshot)])
}

fn writer_differences(old: &StreamWrite, new: &StreamWrite) -> Vec<&'static str> {
    // A trigger says when batches are made. What `stream_job::compare` looks at is left out.
    let StreamWrite { target: _, output_mode: _, checkpoint: _, query_name: _, trigger: _, partition_by, options } =
        old;
    // Options that name what is compared as such.
    let own = |options: &'_ BTreeMap<String, String>| -> BTreeMap<String, String> {
        let named = |option: &str| matches!(option, "checkpointlocation" | "path" | "queryname");
        options.iter().filter(|(option, _)| !named(option)).map(|(k, v)| (k.clone(), v.clone())).collect()
    };
    differing([
        ("partitions of the sink", *partition_by != new.partition_by),
        ("writer options", own(options) != own(&new.options)),
    ])
}

fn dataset_differences(old: &Dataset, new: &Dataset) -> Vec<&'static str> {
    // Kind, layout, format, location, protection, expectations, configuration and what is kept by name have comparators of their
    // own; properties and comments change no row that is written.
    let Dataset {
        name: _,
        kind: _,
        implied: _,
        private: _,
        declared,
        generated,
        layout: _,
        format: _,
        location: _,
        comment: _,
        properties: _,
        spark_conf: _,
        expectations: _,
        other: _,
        template: _,
        place: _,
    } = old;
    differing([("declared columns", *declared != new.declared), ("generated columns", *generated != new.generated)])
}
