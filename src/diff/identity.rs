//! What is new, gone, renamed or moved: pipelines, datasets and flows.

use super::change::Change;
use super::pair::{DatasetPair, DatasetRef, FlowPair, FlowRef, FlowStatus, Pairing};
use super::text;
use crate::analyze::Analysis;
use crate::graph::Graph;
use crate::model::{Collision, Dataset, DatasetKind, Flow, FlowKind, Pipeline, PipelineKind, Place, QualifiedName};
use std::collections::{BTreeMap, BTreeSet};

pub fn compare(before: &Analysis, after: &Analysis, pairing: &Pairing, changes: &mut Vec<Change>) {
    compare_pipelines(before, after, pairing, changes);
    let graph = Graph::new(before);
    for pair in &pairing.datasets {
        let gone = pair.before.is_some_and(|old| pipeline_gone(pairing, old));
        compare_dataset((before, after), &graph, (pair, gone), changes);
    }
    find_double_owners(before, after, changes);
    let known: BTreeSet<(&str, &str)> = all_collisions(before).map(|of| (of.aspect, of.name.as_str())).collect();
    let is_new = |of: &Collision| !known.contains(&(of.aspect, of.name.as_str()));
    for pipeline in &after.workspace.pipelines {
        changes.extend(collisions_where(pipeline, is_new));
    }
    compare_flows(before, after, pairing, changes);
}

fn compare_pipelines(before: &Analysis, after: &Analysis, pairing: &Pairing, changes: &mut Vec<Change>) {
    for pair in &pairing.pipelines {
        let old = pair.before.and_then(|index| before.workspace.pipelines.get(index));
        let new = pair.after.and_then(|index| after.workspace.pipelines.get(index));
        match (old, new) {
            (Some(old), None) => {
                let lost: Vec<String> = (pairing.datasets.iter())
                    .filter(|d| d.before.map(|r| r.pipeline) == pair.before && d.after.is_none())
                    .filter_map(|d| dataset(before, d.before).filter(|d| d.kind != DatasetKind::View))
                    .map(|d| d.name.to_string())
                    .collect();
                if !lost.is_empty() {
                    let change = Change::new("pipeline-removed", &old.key).fact("datasets", lost);
                    changes.push(with_guards(change, old).places(&old.span.clone().into(), &Place::unknown()));
                }
            }
            (Some(old), Some(new)) if old.key != new.key && is_bundle(old) && is_bundle(new) => {
                let names = tables(old);
                let change = Change::new("pipeline-key-renamed", &new.key)
                    .values(old.key.as_str(), new.key.as_str())
                    .fact("datasets", names);
                changes.push(with_guards(change, old).places(&old.span.clone().into(), &new.span.clone().into()));
            }
            _ => {}
        }
    }
}

fn is_bundle(pipeline: &Pipeline) -> bool {
    pipeline.kind == PipelineKind::Bundle
}

/// Names of the pipeline's datasets that hold rows.
pub fn tables(pipeline: &Pipeline) -> Vec<String> {
    pipeline.datasets.iter().filter(|d| d.kind != DatasetKind::View).map(|d| d.name.to_string()).collect()
}

/// The facts that say what a bundle's deployment may delete; as deployed before, since those rule the deletion.
pub fn with_guards(change: Change, pipeline: &Pipeline) -> Change {
    let setting = |name: &str| pipeline.settings.get(name).map(|value| value.eq_ignore_ascii_case("true"));
    change
        .fact("prevent_destroy", setting("lifecycle.prevent_destroy") == Some(true))
        .fact("keeps_data", setting("cascade_on_destroy") == Some(false))
}

fn dataset(analysis: &Analysis, reference: Option<DatasetRef>) -> Option<&Dataset> {
    let reference = reference?;
    analysis.workspace.pipelines.get(reference.pipeline)?.datasets.get(reference.dataset)
}

fn pipeline(analysis: &Analysis, reference: Option<DatasetRef>) -> Option<&Pipeline> {
    analysis.workspace.pipelines.get(reference?.pipeline)
}

/// `gone`: the old dataset's pipeline is no more, and `pipeline-removed` tells of everything under it.
fn compare_dataset(
    (before, after): (&Analysis, &Analysis),
    graph: &Graph,
    (pair, gone): (&DatasetPair, bool),
    changes: &mut Vec<Change>,
) {
    let Some(old) = dataset(before, pair.before).filter(|d| d.kind != DatasetKind::View) else { return };
    let Some(old_pipeline) = pipeline(before, pair.before) else { return };
    let new = dataset(after, pair.after);
    let new_pipeline = pipeline(after, pair.after);
    let readers = || pair.before.map(|reference| readers(graph, reference)).unwrap_or_default();
    match (new, new_pipeline) {
        (Some(new), Some(new_pipeline)) if pair.renamed => {
            if defaults_moved(old_pipeline, new_pipeline) && old.name.name.eq_ignore_ascii_case(&new.name.name) {
                return;
            }
            let mut change = Change::new("dataset-renamed", &new_pipeline.key)
                .values(old.name.to_string(), new.name.to_string())
                .fact("readers", readers())
                .places(&old.place, &new.place);
            // A table that is renamed stays behind; a sink has nothing to leave, its flows start anew under the new name.
            let concerned = if old.kind == DatasetKind::Sink { new } else { old };
            change.dataset = Some(concerned.name.clone());
            changes.push(change);
        }
        (Some(new), Some(new_pipeline)) if moved(before, after, pair, old_pipeline, new_pipeline) => {
            let once_flows: Vec<String> = (new_pipeline.flows.iter())
                .filter(|flow| flow.target == new.name && flow.is_once())
                .map(|flow| flow.name.clone())
                .collect();
            let mut change = Change::new("dataset-moved", &new_pipeline.key)
                .values(old_pipeline.key.as_str(), new_pipeline.key.as_str())
                .fact("private", old.private || new.private)
                .fact("once_flows", once_flows)
                .places(&old.place, &new.place);
            change.dataset = Some(new.name.clone());
            changes.push(change);
        }
        (None, _) if !gone => {
            let mut change = Change::new("dataset-removed", &old_pipeline.key)
                .fact("readers", readers())
                .fact("private", old.private)
                .places(&old.place, &Place::unknown());
            change.dataset = Some(old.name.clone());
            changes.push(change);
        }
        _ => {}
    }
}

/// No pipeline of the new revision is the dataset's old one, under its key or another.
fn pipeline_gone(pairing: &Pairing, old: DatasetRef) -> bool {
    pairing.pipelines.iter().any(|pair| pair.before == Some(old.pipeline) && pair.after.is_none())
}

fn defaults_moved(old: &Pipeline, new: &Pipeline) -> bool {
    old.catalog != new.catalog || old.schema != new.schema
}

/// The dataset stands in a pipeline that is not its old pipeline's partner.
fn moved(before: &Analysis, after: &Analysis, pair: &DatasetPair, old: &Pipeline, new: &Pipeline) -> bool {
    let both_exist = after.workspace.pipelines.iter().any(|p| p.key == old.key)
        || before.workspace.pipelines.iter().any(|p| p.key == new.key);
    pair.before.is_some() && old.key != new.key && both_exist
}

fn readers(graph: &Graph, reference: DatasetRef) -> Vec<String> {
    let Some(node) = graph.node(reference.pipeline, reference.dataset) else { return Vec::new() };
    let names: BTreeSet<String> =
        graph.readers(node).into_iter().filter_map(|(reader, _)| Some(graph.vertex(reader)?.label())).collect();
    names.into_iter().collect()
}

fn all_collisions(analysis: &Analysis) -> impl Iterator<Item = &Collision> {
    analysis.workspace.pipelines.iter().flat_map(|pipeline| &pipeline.collisions)
}

/// Tables of a pipeline that are defined twice, and flows that share a name, which is that of their checkpoint.
fn collisions_where<'a>(
    pipeline: &'a Pipeline,
    wanted: impl Fn(&Collision) -> bool + 'a,
) -> impl Iterator<Item = Change> + 'a {
    pipeline.collisions.iter().filter(move |collision| wanted(collision)).map(|collision| {
        let first = collision.first.span().map(|span| format!("{}:{}", span.path, span.line)).unwrap_or_default();
        let mut change = Change::new("name-collision", &pipeline.key)
            .fact("platform", pipeline.platform.as_str())
            .fact("dataset", collision.name.clone())
            .fact("aspect", collision.aspect)
            .fact("concerned", first)
            .places(&Place::unknown(), &collision.place);
        change.dataset = Some(QualifiedName::parse(&collision.name));
        change
    })
}

/// Tables that several pipelines define in AFTER and did not in BEFORE.
fn find_double_owners(before: &Analysis, after: &Analysis, changes: &mut Vec<Change>) {
    let old = owners(before);
    for (name, list) in owners(after) {
        let keys: BTreeSet<String> = list.iter().map(|(pipeline, _)| pipeline.key.clone()).collect();
        let known = old.get(&name).is_some_and(|list| list.len() > 1);
        if let (false, true, Some((pipeline, dataset))) = (known, keys.len() > 1, list.last()) {
            let keys: Vec<String> = keys.into_iter().collect();
            let mut change = Change::new("dataset-owned-twice", &pipeline.key)
                .fact("pipelines", keys)
                .places(&Place::unknown(), &dataset.place);
            change.dataset = Some(dataset.name.clone());
            changes.push(change);
        }
    }
}

fn owners(analysis: &Analysis) -> BTreeMap<String, Vec<(&Pipeline, &Dataset)>> {
    let mut owners: BTreeMap<String, Vec<(&Pipeline, &Dataset)>> = BTreeMap::new();
    for pipeline in &analysis.workspace.pipelines {
        for dataset in &pipeline.datasets {
            let published = matches!(dataset.kind, DatasetKind::StreamingTable | DatasetKind::MaterializedView)
                && !dataset.private
                && !dataset.template
                && !dataset.name.is_template()
                // Two bare folders that never say where they publish need not meet.
                && dataset.name.schema.is_some();
            if published {
                owners.entry(dataset.name.key()).or_default().push((pipeline, dataset));
            }
        }
    }
    owners
}

fn compare_flows(before: &Analysis, after: &Analysis, pairing: &Pairing, changes: &mut Vec<Change>) {
    let kept: BTreeSet<String> = (pairing.datasets.iter())
        .filter(|pair| !pair.renamed && pair.before.is_some())
        .filter_map(|pair| dataset(after, pair.after))
        .map(|dataset| dataset.name.key())
        .collect();
    let flow = |analysis: &Analysis, pair: &FlowPair| -> Option<Flow> {
        let reference = pair.after.or(pair.before)?;
        analysis.workspace.pipelines.get(reference.pipeline)?.flows.get(reference.flow).cloned()
    };
    let streams = Streams::new(before, after);
    let others =
        |pair: &FlowPair| flows_of_table(pairing, pair).any(|other| other.flow != pair.flow && other.after.is_some());
    for pair in &pairing.flows {
        match pair.status {
            FlowStatus::Added => {
                let Some(new) = flow(after, pair) else { continue };
                let twin = pairing.flows.iter().find(|old| {
                    old.status == FlowStatus::Removed
                        && old.counterpart.is_none()
                        && old.pipeline == pair.pipeline
                        && old.flow == pair.flow
                        && !matches!(new.kind, FlowKind::Default)
                });
                if let Some((twin, old)) = twin.and_then(|twin| Some((twin, flow(before, twin)?))) {
                    let mut change = Change::new("flow-target-changed", &pair.pipeline)
                        .values(twin.dataset.to_string(), pair.dataset.to_string())
                        .fact("dataset_new", !kept.contains(&pair.dataset.key()))
                        .places(&old.place, &new.place);
                    change.dataset = Some(pair.dataset.clone());
                    change.flow = Some(pair.flow.clone());
                    changes.push(change);
                } else if kept.contains(&pair.dataset.key()) {
                    let mut change = Change::new("flow-added", &pair.pipeline)
                        .fact("other_flows", others(pair))
                        .fact("once", new.is_once())
                        .fact(
                            "read_before",
                            if appends(&new) { streams.read_before(pairing, pair) } else { Vec::new() },
                        )
                        .fact("source", flow_sources(after, pair))
                        .places(&Place::unknown(), &new.place);
                    change.dataset = Some(pair.dataset.clone());
                    change.flow = Some(pair.flow.clone());
                    changes.push(change);
                }
            }
            FlowStatus::Removed if kept.contains(&pair.dataset.key()) => {
                let Some(old) = flow(before, pair) else { continue };
                let mut change = Change::new("flow-removed", &pair.pipeline)
                    .fact("other_flows", others(pair))
                    .fact("once", old.is_once())
                    .fact("taken_over", streams.taken_over(pairing, pair))
                    .places(&old.place, &Place::unknown());
                change.dataset = Some(pair.dataset.clone());
                change.flow = Some(pair.flow.clone());
                changes.push(change);
            }
            _ => {}
        }
    }
}

/// Whether a flow adds rows and never takes any back; changes by key or range give the same table however often they are read.
fn appends(flow: &Flow) -> bool {
    match flow.kind {
        FlowKind::Default | FlowKind::Append | FlowKind::Once | FlowKind::StreamJob(_) => true,
        FlowKind::AutoCdc(_) | FlowKind::AutoCdcOnce(_) | FlowKind::ReplaceWhere(_) | FlowKind::ReplaceUsing { .. } => {
            false
        }
    }
}

/// Flows of either revision into the table of one of them.
fn flows_of_table<'a>(pairing: &'a Pairing, pair: &'a FlowPair) -> impl Iterator<Item = &'a FlowPair> {
    pairing.flows.iter().filter(|other| other.dataset == pair.dataset && other.pipeline == pair.pipeline)
}

/// What the flows of both revisions stream from, directly or through other tables.
struct Streams {
    before: Graph,
    after: Graph,
}

impl Streams {
    fn new(before: &Analysis, after: &Analysis) -> Self {
        Streams { before: Graph::new(before), after: Graph::new(after) }
    }

    fn of(graph: &Graph, flow: Option<FlowRef>) -> BTreeSet<String> {
        flow.map(|flow| graph.streamed_into(flow.analyzed)).unwrap_or_default()
    }

    /// Sources of a new flow from which flows of its table have been filled before.
    fn read_before(&self, pairing: &Pairing, pair: &FlowPair) -> Vec<String> {
        let old = flows_of_table(pairing, pair).flat_map(|old| Self::of(&self.before, old.before));
        let old: BTreeSet<String> = old.collect();
        Self::of(&self.after, pair.after).intersection(&old).cloned().collect()
    }

    /// Flows of AFTER that read on what a flow read that is gone; none where something that it read is read no more.
    fn taken_over(&self, pairing: &Pairing, pair: &FlowPair) -> Vec<String> {
        let mut left = Self::of(&self.before, pair.before);
        let gone = left.clone();
        let mut heirs = Vec::new();
        for heir in flows_of_table(pairing, pair).filter(|other| other.after.is_some()) {
            let streams = Self::of(&self.after, heir.after);
            if !streams.is_disjoint(&gone) {
                left.retain(|source| !streams.contains(source));
                heirs.push(heir.flow.clone());
            }
        }
        if left.is_empty() { heirs } else { Vec::new() }
    }
}

fn flow_sources(analysis: &Analysis, pair: &FlowPair) -> String {
    let analyzed = pair.after.and_then(|reference| analysis.flows.get(reference.analyzed));
    let sources = analyzed.map(|flow| flow.aspects.sources.iter().map(|s| text::source(&s.text)).collect::<Vec<_>>());
    sources.unwrap_or_default().join(", ")
}
