//! A dataset's own definition: kind, layout, format, properties, expectations.

use super::change::Change;
use super::comparison::surplus;
use super::pair::{DatasetPair, DatasetRef};
use crate::analyze::Analysis;
use crate::model::{Dataset, DatasetKind, Expectation, Layout, OnViolation, Pipeline, Platform, same_option};

/// `pipelines.*` table properties that a platform knows, in lower case.
const KNOWN_PROPERTIES: &[&str] = &[
    "pipelines.autooptimize.managed",
    "pipelines.autooptimize.zordercols",
    "pipelines.channel",
    "pipelines.enabletypewidening",
    "pipelines.pipelineid",
    "pipelines.reset.allowed",
    "pipelines.trigger.interval",
];

/// Misspelt names are told only this near to a known one.
const NEAR: f32 = 0.75;

pub fn compare(before: &Analysis, after: &Analysis, pair: &DatasetPair, changes: &mut Vec<Change>) {
    let Some((new, new_pipeline)) = find(after, pair.after) else { return };
    let old = find(before, pair.before).filter(|_| !pair.renamed);
    let mut found = Vec::new();
    if let Some((old, old_pipeline)) = old {
        if old.kind != new.kind {
            found.push(
                Change::new("dataset-kind-changed", &new_pipeline.key)
                    .values(kind(old.kind), kind(new.kind))
                    .fact("was", kind(old.kind).replace('-', " "))
                    .fact("is", kind(new.kind).replace('-', " ")),
            );
        }
        let stored = |dataset: &Dataset| !matches!(dataset.kind, DatasetKind::View | DatasetKind::Sink);
        if stored(old) && stored(new) {
            compare_layout(&old.layout, &new.layout, &new_pipeline.key, &mut found);
            compare_files((old, old_pipeline), (new, new_pipeline), &mut found);
        }
        if old.kind == DatasetKind::Sink && new.kind == DatasetKind::Sink {
            compare_sink(old, new, &new_pipeline.key, &mut found);
        }
        compare_protection(old, new, &new_pipeline.key, &mut found);
        compare_expectations(&old.expectations, &new.expectations, &new_pipeline.key, &mut found);
    }
    find_misspelt(old.map(|(old, _)| old), new, &new_pipeline.key, &mut found);
    find_second_cdc_flow(old.map(|(old, pipeline)| cdc_flows(old, pipeline)), new, new_pipeline, &mut found);
    find_resettable_dependency(before, after, pair, new, new_pipeline, &mut found);
    changes.extend(found.into_iter().map(|mut change| {
        change.dataset = Some(new.name.clone());
        change.before = old.map(|(old, _)| old.place.clone()).unwrap_or_default();
        change.after = new.place.clone();
        change
    }));
}

fn find(analysis: &Analysis, reference: Option<DatasetRef>) -> Option<(&Dataset, &Pipeline)> {
    let reference = reference?;
    let pipeline = analysis.workspace.pipelines.get(reference.pipeline)?;
    Some((pipeline.datasets.get(reference.dataset)?, pipeline))
}

pub fn kind(kind: DatasetKind) -> &'static str {
    match kind {
        DatasetKind::StreamingTable => "streaming-table",
        DatasetKind::MaterializedView => "materialized-view",
        DatasetKind::View => "view",
        DatasetKind::Sink => "sink",
        DatasetKind::Table => "table",
    }
}

fn folded(columns: &[String]) -> Vec<String> {
    columns.iter().map(|column| column.to_lowercase()).collect()
}

fn compare_layout(old: &Layout, new: &Layout, pipeline: &str, found: &mut Vec<Change>) {
    let (partitions_old, partitions_new) = (folded(&old.partition_by), folded(&new.partition_by));
    let clusters = |layout: &Layout| {
        if layout.cluster_by_auto { vec!["auto".to_owned()] } else { folded(&layout.cluster_by) }
    };
    let (clusters_old, clusters_new) = (clusters(old), clusters(new));
    let change =
        |kind, before: &[String], after: &[String]| Change::new(kind, pipeline).values(before.to_vec(), after.to_vec());
    if !partitions_old.is_empty() && partitions_new.is_empty() && clusters_old.is_empty() && !clusters_new.is_empty() {
        found.push(change("partitioning-to-clustering", &partitions_old, &clusters_new));
        return;
    }
    if partitions_old.is_empty() && !partitions_new.is_empty() && !clusters_old.is_empty() && clusters_new.is_empty() {
        found.push(change("clustering-to-partitioning", &clusters_old, &partitions_new));
        return;
    }
    for (kind, b, a) in [
        ("partitioning-changed", &partitions_old, &partitions_new),
        ("clustering-changed", &clusters_old, &clusters_new),
    ] {
        if b != a {
            found.push(change(kind, b, a).fact("added", surplus(b, a)).fact("removed", surplus(a, b)));
        }
    }
}

fn compare_files(old: (&Dataset, &Pipeline), new: (&Dataset, &Pipeline), found: &mut Vec<Change>) {
    let (b, a) = (table_format(old.0, old.1), table_format(new.0, new.1));
    if b != a {
        found.push(Change::new("table-format-changed", &new.1.key).values(b, a));
    }
    let location = |dataset: &Dataset| dataset.location.clone().unwrap_or_default();
    if location(old.0).trim_end_matches('/') != location(new.0).trim_end_matches('/') {
        found.push(Change::new("location-changed", &new.1.key).values(location(old.0), location(new.0)));
    }
}

/// Format of a dataset's files, lower case.
pub fn table_format(dataset: &Dataset, pipeline: &Pipeline) -> String {
    dataset.format.clone().unwrap_or_else(|| pipeline.table_format.clone()).to_lowercase()
}

fn compare_sink(old: &Dataset, new: &Dataset, pipeline: &str, found: &mut Vec<Change>) {
    let names: std::collections::BTreeSet<&String> = old.properties.keys().chain(new.properties.keys()).collect();
    let format = |dataset: &Dataset| dataset.format.clone().unwrap_or_default();
    if format(old) != format(new) {
        let change = Change::new("sink-option-changed", pipeline).fact("option", "format");
        found.push(change.values(format(old), format(new)));
    }
    for name in names {
        let value = |dataset: &Dataset| dataset.properties.get(name).cloned().unwrap_or_default();
        if !same_option(Some(&value(old)), Some(&value(new))) {
            let change = Change::new("sink-option-changed", pipeline).fact("option", name.to_lowercase());
            found.push(change.values(value(old), value(new)));
        }
    }
}

fn compare_protection(old: &Dataset, new: &Dataset, pipeline: &str, found: &mut Vec<Change>) {
    match (old.is_protected(), new.is_protected()) {
        (false, true) => found.push(Change::new("reset-protection-added", pipeline)),
        (true, false) => {
            let setting = "pipelines.reset.allowed";
            let change = Change::new("reset-protection-removed", pipeline);
            found.push(change.fact("setting", format!("{setting}={}", new.property(setting).unwrap_or("(not set)"))));
        }
        _ => {}
    }
}

fn compare_expectations(old: &[Expectation], new: &[Expectation], pipeline: &str, found: &mut Vec<Change>) {
    let partner = |list: &[Expectation], name: &str| list.iter().position(|e| e.name == name);
    for expectation in old {
        let base = |kind| Change::new(kind, pipeline).fact("expectation", expectation.name.as_str());
        match partner(new, &expectation.name).and_then(|index| new.get(index)) {
            None => found.push(base("expectation-removed").fact("action_before", action(expectation))),
            Some(other) => {
                let same_condition = expectation.predicate == other.predicate
                    || squeezed(&expectation.condition) == squeezed(&other.condition);
                if !same_condition || expectation.on_violation != other.on_violation {
                    let aspect = if same_condition { "action" } else { "condition" };
                    let change = base("expectation-changed")
                        .fact("aspect", aspect)
                        .values(expectation.condition.as_str(), other.condition.as_str())
                        .fact("action_before", action(expectation))
                        .fact("action_after", action(other));
                    found.push(change);
                }
            }
        }
    }
    for expectation in new.iter().filter(|e| partner(old, &e.name).is_none()) {
        let change = Change::new("expectation-added", pipeline).fact("expectation", expectation.name.as_str());
        found.push(change.fact("action_after", action(expectation)));
    }
}

/// SQL text without white space and, outside quotes, without letter case.
fn squeezed(text: &str) -> String {
    let mut quote = None;
    let mut result = String::new();
    for c in text.chars() {
        match quote {
            Some(open) => {
                result.push(c);
                if c == open {
                    quote = None;
                }
            }
            None if c.is_whitespace() => {}
            None => {
                if matches!(c, '\'' | '"' | '`') {
                    quote = Some(c);
                }
                result.extend(c.to_lowercase());
            }
        }
    }
    result
}

fn action(expectation: &Expectation) -> &'static str {
    match expectation.on_violation {
        OnViolation::Warn => "warn",
        OnViolation::DropRow => "drop row",
        OnViolation::FailUpdate => "fail update",
    }
}

fn find_misspelt(old: Option<&Dataset>, new: &Dataset, pipeline: &str, found: &mut Vec<Change>) {
    for name in new.properties.keys() {
        let lower = name.to_lowercase();
        let new_here = old.is_none_or(|old| !old.properties.contains_key(name));
        if !new_here || KNOWN_PROPERTIES.contains(&lower.as_str()) {
            continue;
        }
        let nearest = KNOWN_PROPERTIES
            .iter()
            .map(|known| (similar::TextDiff::from_chars(lower.as_str(), *known).ratio(), *known))
            .max_by(|x, y| x.0.total_cmp(&y.0));
        let suggestion = nearest.filter(|(ratio, _)| *ratio >= NEAR).map(|(_, known)| known);
        if lower.starts_with("pipelines.") || lower.starts_with("pipeline.") && suggestion.is_some() {
            let change = Change::new("misspelt-property", pipeline).fact("property", name.as_str());
            found.push(change.fact("suggestion", suggestion.unwrap_or_default()));
        }
    }
}

fn cdc_flows(dataset: &Dataset, pipeline: &Pipeline) -> Vec<String> {
    let flows = pipeline.flows_into(&dataset.name).filter(|flow| flow.cdc().is_some());
    flows.map(|flow| flow.name.clone()).collect()
}

fn find_second_cdc_flow(before: Option<Vec<String>>, new: &Dataset, pipeline: &Pipeline, found: &mut Vec<Change>) {
    let flows = cdc_flows(new, pipeline);
    if flows.len() > 1 && before.is_none_or(|before| before.len() < flows.len()) {
        found.push(Change::new("cdc-second-flow", &pipeline.key).fact("datasets", flows));
    }
}

/// Spark refuses a graph in which a protected streaming table reads one that may be reset (`INVALID_RESETTABLE_DEPENDENCY`).
fn find_resettable_dependency(
    before: &Analysis,
    after: &Analysis,
    pair: &DatasetPair,
    new: &Dataset,
    pipeline: &Pipeline,
    found: &mut Vec<Change>,
) {
    if pipeline.platform != Platform::Spark || !new.is_protected() {
        return;
    }
    let now = resettable_sources(after, pair.after);
    let then = if find(before, pair.before).is_some_and(|(old, _)| old.is_protected()) {
        resettable_sources(before, pair.before)
    } else {
        Vec::new()
    };
    if !now.is_empty() && now != then {
        found.push(Change::new("resettable-dependency", &pipeline.key).fact("upstream", now));
    }
}

fn resettable_sources(analysis: &Analysis, reference: Option<DatasetRef>) -> Vec<String> {
    let Some((dataset, pipeline)) = find(analysis, reference) else { return Vec::new() };
    let flows = reference.into_iter().flat_map(|reference| analysis.flows_into(reference.pipeline, &dataset.name));
    let read = flows.flat_map(|flow| &flow.aspects.sources).filter_map(|source| match &source.source {
        crate::model::Source::Table(name) => Some(name),
        _ => None,
    });
    let tables: std::collections::BTreeSet<String> = read
        .filter(|name| {
            pipeline
                .dataset(name)
                .is_some_and(|d| d.kind == DatasetKind::StreamingTable && d.name != dataset.name && !d.is_protected())
        })
        .map(ToString::to_string)
        .collect();
    tables.into_iter().collect()
}
