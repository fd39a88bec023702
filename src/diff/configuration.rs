//! Configuration values that checkpoints pin or queries depend on; keys of the user's own show in the plans that read them.

use super::change::Change;
use crate::model::{Pipeline, Place};
use std::collections::{BTreeMap, BTreeSet};

const SOURCE_EVOLUTION: &str = "spark.sql.streaming.queryevolution.enablesourceevolution";

/// Values that change what a query computes, by their key in lower case. What is read anew at each start and no more than that is
/// left to an engine (`evaluated`).
const SEMANTIC: &[(&str, &str)] = &[
    ("spark.sql.session.timezone", "time-zone"),
    ("spark.sql.ansi.enabled", "ansi"),
    ("spark.sql.legacy.timeparserpolicy", "time-parser"),
    ("spark.sql.streaming.statestore.stateschemacheck", "state-check"),
    ("spark.sql.streaming.stateful.operator.metadata.check", "state-check"),
    ("spark.sql.streaming.nodatamicrobatches.enabled", "evaluated"),
    ("spark.sql.streaming.statefuloperator.allowmultiple", "evaluated"),
];

/// Families of settings that say how a query is run, where its files and logs go and how big they get, not what it computes
/// (Spark's configuration pages on execution, memory, scheduling and the user interface). `spark.sql.` stands before each.
const EXECUTION: &[&str] = &[
    "adaptive.",
    "autobroadcastjointhreshold",
    "broadcasttimeout",
    "catalog",
    "codegen.",
    "columnnamelengththreshold",
    "debug.",
    "execution.",
    "extensions",
    "files.max",
    "files.min",
    "files.opencostinbytes",
    "hive.metastore",
    "inmemorycolumnarstorage.",
    "maven.",
    "optimizer.",
    "orc.",
    "parquet.compression",
    "parquet.filterpushdown",
    "parquet.enablevectorizedreader",
    "redaction.",
    // Where a query without a path of its own keeps its checkpoint: the path itself is compared.
    "streaming.checkpointlocation",
    "sources.parallelpartitiondiscovery",
    "streaming.metricsenabled",
    "streaming.minbatchestoretain",
    "streaming.numrecentprogressupdates",
    "streaming.pollingdelay",
    "streaming.statestore.maintenance",
    "streaming.statestore.mindeltasforsnapshot",
    "streaming.statestore.minversionstodelete",
    "streaming.statestore.rocksdb.",
    "streaming.stopactiverunonrestart",
    "streaming.stoptimeout",
    "statistics.",
    "thriftserver.",
    "ui.",
    "warehouse.dir",
];

/// What a key governs; none where no row depends on it.
fn class(key: &str) -> Option<&'static str> {
    let key = key.to_lowercase();
    if key == SOURCE_EVOLUTION {
        return Some("source-evolution");
    }
    if is_pinned(&key) {
        return Some("pinned");
    }
    if let Some((_, class)) = SEMANTIC.iter().find(|(name, _)| *name == key) {
        return Some(class);
    }
    // The session's settings decide rows unless they are known to say only how to run; others belong to the cluster or the user.
    let session = key.strip_prefix("spark.sql.")?;
    (!EXECUTION.iter().any(|family| session.starts_with(family))).then_some("unmodelled")
}

/// The checkpoint keeps the value: taken from it at a restart, whatever is configured by then.
fn is_pinned(key: &str) -> bool {
    let databricks = key == "spark.databricks.delta.streaming.skipchangecommits";
    databricks || crate::analyze::PINNED_SETTINGS.iter().any(|pinned| pinned.eq_ignore_ascii_case(key))
}

/// Configuration of whole pipelines.
pub fn compare_pipelines(old: &Pipeline, new: &Pipeline, changes: &mut Vec<Change>) {
    for (key, class, before, after) in differences(&old.configuration, &new.configuration) {
        let setting = format!("configuration.{key}");
        let place = |pipeline: &Pipeline| {
            Place::from(pipeline.places.get(&setting).cloned()).or(&Place::from(pipeline.span.clone()))
        };
        let change = Change::new("configuration-changed", &new.key).fact("setting", key).fact("class", class);
        changes.push(change.values(before, after).places(&place(old), &place(new)));
    }
}

/// Configuration of one flow over its pipeline's: key, class, value before and after.
pub fn differences<'a>(
    before: &'a BTreeMap<String, String>,
    after: &'a BTreeMap<String, String>,
) -> Vec<(&'a str, &'static str, &'a str, &'a str)> {
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    keys.into_iter()
        .filter_map(|key| Some((key.as_str(), class(key)?)))
        .map(|(key, class)| {
            let value = |side: &'a BTreeMap<String, String>| side.get(key).map(String::as_str).unwrap_or_default();
            (key, class, value(before), value(after))
        })
        .filter(|(_, _, before, after)| before != after)
        .collect()
}

/// Sources are matched by name, not by position.
pub fn source_evolution(configuration: &BTreeMap<String, String>) -> bool {
    configuration
        .iter()
        .any(|(key, value)| key.to_lowercase() == SOURCE_EVOLUTION && value.eq_ignore_ascii_case("true"))
}
