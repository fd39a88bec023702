//! Configuration values that checkpoints pin or queries depend on; all others show in the plans that read them.

use super::change::Change;
use crate::model::{Pipeline, Place};
use std::collections::{BTreeMap, BTreeSet};

/// Written into the offset log and taken from there at a restart (Spark's `OffsetSeqMetadata.relevantSQLConfs`): editing them
/// does nothing to a query that has a checkpoint.
const PINNED: &[&str] = &[
    "spark.sql.shuffle.partitions",
    "spark.sql.streaming.statestore.providerclass",
    "spark.sql.streaming.statestore.encodingformat",
    "spark.sql.streaming.statestore.rocksdb.formatversion",
    "spark.sql.streaming.statestore.rocksdb.mergeoperatorversion",
    "spark.sql.streaming.statestore.compression.codec",
    "spark.sql.streaming.statestore.rowchecksum.enabled",
    "spark.sql.streaming.multiplewatermarkpolicy",
    "spark.sql.streaming.aggregation.stateformatversion",
    "spark.sql.streaming.join.stateformatversion",
    "spark.sql.streaming.flatmapgroupswithstate.stateformatversion",
    "spark.sql.streaming.statefuloperator.usestrictdistribution",
    "spark.sql.streaming.statefuloperator.alwaysnullableoutput",
    "spark.sql.streaming.dropduplicates.deterministickeyorder.enabled",
    "spark.sql.optimizer.prunefilterscanprunestreamingsubplan",
    "spark.databricks.delta.streaming.skipchangecommits",
];

const SOURCE_EVOLUTION: &str = "spark.sql.streaming.queryevolution.enablesourceevolution";

/// Values that change what a query computes, by their key in lower case.
const SEMANTIC: &[(&str, &str)] = &[
    ("spark.sql.session.timezone", "time-zone"),
    ("spark.sql.ansi.enabled", "ansi"),
    ("spark.sql.legacy.timeparserpolicy", "time-parser"),
    ("spark.sql.streaming.statestore.stateschemacheck", "state-check"),
    ("spark.sql.streaming.stateful.operator.metadata.check", "state-check"),
];

/// What a key governs; none where nothing of it lasts beyond a run.
fn class(key: &str) -> Option<&'static str> {
    let key = key.to_lowercase();
    if PINNED.contains(&key.as_str()) {
        Some("pinned")
    } else if key == SOURCE_EVOLUTION {
        Some("source-evolution")
    } else {
        SEMANTIC.iter().find(|(name, _)| *name == key).map(|(_, class)| *class)
    }
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
