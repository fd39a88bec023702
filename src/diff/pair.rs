//! Which pipeline, dataset and flow of one revision is which of the other.
//!
//! Pipelines pair by key, then by what they define. Datasets pair by qualified name within paired pipelines, then by name in
//! another pipeline (moved), then by equal content (renamed). Flows pair by name within paired datasets, then by equal or nearly
//! equal content. What is renamed or moved is never a removal beside an addition.

use crate::analyze::{Analysis, AnalyzedFlow, OutputColumn, Piece, WatermarkAspect};
use crate::model::symbol::{differ_by_symbol, holds_symbol};
use crate::model::{Dataset, DatasetKind, Flow, FlowKind, Pipeline, PipelineKind, Platform, QualifiedName};
use std::collections::{BTreeMap, BTreeSet};

/// Least share of equal content for two things of different names to be one.
const NEARLY_EQUAL: f64 = 0.6;

/// The share that is enough where the names are nearly the same too.
const ALIKE_SHARE: f64 = 0.25;

/// Names shorter than this are not compared letter by letter: `a` and `b` have nothing in common.
const ALIKE_LENGTH: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PipelinePair {
    /// Index into `workspace.pipelines` of its side.
    pub before: Option<usize>,
    pub after: Option<usize>,
}

/// A dataset of one revision: indices into `workspace.pipelines` and that pipeline's `datasets`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DatasetRef {
    pub pipeline: usize,
    pub dataset: usize,
}

/// A flow of one revision: indices into `workspace.pipelines`, that pipeline's `flows`, and `Analysis::flows`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowRef {
    pub pipeline: usize,
    pub flow: usize,
    pub analyzed: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatasetPair {
    pub before: Option<DatasetRef>,
    pub after: Option<DatasetRef>,
    /// Another name, with the same content: the platform sees two datasets.
    pub renamed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlowStatus {
    Added,
    Removed,
    Changed,
    Unchanged,
}

impl FlowStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            FlowStatus::Added => "added",
            FlowStatus::Removed => "removed",
            FlowStatus::Changed => "changed",
            FlowStatus::Unchanged => "unchanged",
        }
    }
}

/// One flow in both revisions. A renamed dataset's flows stand here twice, as removed from the old table and as added to the
/// new one, because that is what happens to the data; `counterpart` tells that they belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowPair {
    /// Key of the pipeline, of the after side where it is there.
    pub pipeline: String,
    pub dataset: QualifiedName,
    pub flow: String,
    pub before: Option<FlowRef>,
    pub after: Option<FlowRef>,
    pub status: FlowStatus,
    /// The dataset on the other side of a rename.
    pub counterpart: Option<QualifiedName>,
    /// Same content under another flow name: the checkpoint is not carried over.
    pub renamed: bool,
}

#[derive(Debug, Default)]
pub struct Pairing {
    pub pipelines: Vec<PipelinePair>,
    pub datasets: Vec<DatasetPair>,
    pub flows: Vec<FlowPair>,
}

/// Pairs everything of two revisions.
pub fn pair(before: &Analysis, after: &Analysis) -> Pairing {
    let pipelines = pair_pipelines(&before.workspace.pipelines, &after.workspace.pipelines);
    let (before, after) = (Side::new(before), Side::new(after));
    let datasets = pair_datasets(&before, &after, &pipelines);
    let flows = pair_flows(&before, &after, &datasets);
    Pairing { pipelines, datasets, flows }
}

/// Pipelines that have another key now and are deployed as they were: by old key, the new one. A bundle's key is its identity:
/// under another one it is another pipeline.
pub fn moved_pipelines(before: &Analysis, after: &Analysis) -> BTreeMap<String, String> {
    let (before, after) = (&before.workspace.pipelines, &after.workspace.pipelines);
    let moved = |pair: PipelinePair| {
        let (old, new) = (before.get(pair.before?)?, after.get(pair.after?)?);
        let bundles = old.kind == PipelineKind::Bundle && new.kind == PipelineKind::Bundle;
        (old.key != new.key && !bundles).then(|| (old.key.clone(), new.key.clone()))
    };
    pair_pipelines(before, after).into_iter().filter_map(moved).collect()
}

fn pair_pipelines(before: &[Pipeline], after: &[Pipeline]) -> Vec<PipelinePair> {
    let mut partner: Vec<Option<usize>> = before.iter().map(|b| after.iter().position(|a| a.key == b.key)).collect();
    let mut free: BTreeSet<usize> = (0..after.len()).filter(|a| !partner.contains(&Some(*a))).collect();
    for (pipeline, slot) in before.iter().zip(&mut partner).filter(|(_, slot)| slot.is_none()) {
        let names = dataset_names(pipeline);
        let best = free
            .iter()
            .filter_map(|index| Some((*index, after.get(*index)?)))
            .filter(|(_, other)| continues(pipeline, other))
            .map(|(index, other)| (index, overlap(&names, &dataset_names(other))))
            .filter(|(_, share)| *share >= NEARLY_EQUAL)
            .max_by(|x, y| x.1.total_cmp(&y.1).then(y.0.cmp(&x.0)));
        if let Some((index, _)) = best {
            free.remove(&index);
            *slot = Some(index);
        }
    }
    let paired = partner.iter().enumerate().map(|(b, a)| PipelinePair { before: Some(b), after: *a });
    paired.chain(free.into_iter().map(|a| PipelinePair { before: None, after: Some(a) })).collect()
}

/// Whether one pipeline may be the other under another key. A definition that goes does not live on in the bare folder of its
/// files: the platform deletes what it had deployed. The other way round, a folder was only waiting for its definition.
fn continues(before: &Pipeline, after: &Pipeline) -> bool {
    after.kind != PipelineKind::Folder || before.kind == PipelineKind::Folder
}

fn dataset_names(pipeline: &Pipeline) -> BTreeSet<String> {
    pipeline.datasets.iter().map(|dataset| dataset.name.name.to_lowercase()).collect()
}

/// Share of common items in all items; 0 for two empty sets, which say nothing.
fn overlap<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> f64 {
    let common = a.intersection(b).count();
    let all = a.len() + b.len() - common;
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

/// One revision with its datasets and flows findable.
struct Side<'a> {
    analysis: &'a Analysis,
    datasets: Vec<DatasetRef>,
    flows: BTreeMap<(usize, String), Vec<FlowRef>>,
}

impl<'a> Side<'a> {
    fn new(analysis: &'a Analysis) -> Self {
        // A second definition of a name is another one of the same dataset.
        let mut named = BTreeSet::new();
        let datasets = (analysis.workspace.pipelines.iter().enumerate())
            .flat_map(|(pipeline, p)| {
                let datasets = p.datasets.iter().enumerate();
                datasets.map(move |(index, d)| (d.name.key(), DatasetRef { pipeline, dataset: index }))
            })
            .filter(|(name, reference)| named.insert((reference.pipeline, name.clone())))
            .map(|(_, reference)| reference)
            .collect();
        let mut flows: BTreeMap<(usize, String), Vec<FlowRef>> = BTreeMap::new();
        for (analyzed, flow) in analysis.flows.iter().enumerate() {
            let reference = FlowRef { pipeline: flow.pipeline, flow: flow.flow, analyzed };
            let target = (analysis.workspace.pipelines.get(flow.pipeline))
                .and_then(|pipeline| pipeline.flows.get(flow.flow))
                .map(|flow| flow.target.key());
            if let Some(target) = target {
                flows.entry((flow.pipeline, target)).or_default().push(reference);
            }
        }
        Side { analysis, datasets, flows }
    }

    fn dataset(&self, reference: DatasetRef) -> Option<&'a Dataset> {
        self.analysis.workspace.pipelines.get(reference.pipeline)?.datasets.get(reference.dataset)
    }

    fn flow(&self, reference: FlowRef) -> Option<&'a Flow> {
        self.analysis.workspace.pipelines.get(reference.pipeline)?.flows.get(reference.flow)
    }

    fn analyzed(&self, reference: FlowRef) -> Option<&'a AnalyzedFlow> {
        self.analysis.flows.get(reference.analyzed)
    }

    fn pipeline(&self, index: usize) -> Option<&'a Pipeline> {
        self.analysis.workspace.pipelines.get(index)
    }

    fn flows_of(&self, reference: DatasetRef) -> &[FlowRef] {
        let key = self.dataset(reference).map(|dataset| (reference.pipeline, dataset.name.key()));
        key.and_then(|key| self.flows.get(&key)).map_or(&[], Vec::as_slice)
    }

    /// Whether a dataset's pipeline may live on in that of another.
    fn continues_in(&self, after: &Side, b: DatasetRef, a: DatasetRef) -> bool {
        let pair = self.pipeline(b.pipeline).zip(after.pipeline(a.pipeline));
        pair.is_some_and(|(old, new)| old.key == new.key || continues(old, new))
    }

    /// What a dataset's flows say, as a set of pieces.
    fn content(&self, reference: DatasetRef) -> BTreeSet<String> {
        self.flows_of(reference).iter().filter_map(|flow| self.analyzed(*flow)).flat_map(pieces).collect()
    }
}

/// A flow's query as a set of pieces, to measure how alike two queries are.
fn pieces(flow: &AnalyzedFlow) -> BTreeSet<String> {
    let aspects = &flow.aspects;
    let terms = |what: &'static str, pieces: &'_ [Piece]| -> Vec<String> {
        pieces.iter().map(|piece| format!("{what} {:?}", piece.term.id())).collect()
    };
    let output = |c: &OutputColumn| format!("output {} {:?}", c.name.to_lowercase(), c.term.id());
    let mark = |mark: &WatermarkAspect| format!("watermark {:?} {:?}", mark.event_time.id(), mark.given.id());
    let mut pieces: BTreeSet<String> = aspects.outputs.iter().map(output).collect();
    pieces.extend(aspects.sources.iter().map(|source| format!("source {}", source.text)));
    pieces.extend(aspects.watermarks.iter().map(mark));
    pieces.extend(terms("filter", &aspects.filters));
    pieces.extend(terms("opaque", &aspects.opaque));
    pieces.extend(aspects.aggregates.iter().flat_map(|a| terms("group", &a.groupings)));
    pieces.extend(aspects.aggregates.iter().flat_map(|a| terms("agg", &a.aggregates)));
    pieces.extend(aspects.deduplicates.iter().flat_map(|d| terms("dedup", &d.keys)));
    pieces.extend(aspects.joins.iter().flat_map(|j| terms("join", &j.keys)));
    pieces
}

fn pair_datasets(before: &Side, after: &Side, pipelines: &[PipelinePair]) -> Vec<DatasetPair> {
    let partner: BTreeMap<usize, usize> =
        pipelines.iter().filter_map(|pair| Some((pair.before?, pair.after?))).collect();
    let mut free: BTreeSet<DatasetRef> = after.datasets.iter().copied().collect();
    let mut pairs = Vec::new();
    let mut left = Vec::new();
    for &b in &before.datasets {
        let Some(dataset) = before.dataset(b) else { continue };
        let named = |pipeline: Option<usize>| {
            free.iter().copied().find(|a| {
                pipeline.is_none_or(|index| a.pipeline == index)
                    && before.continues_in(after, b, *a)
                    && after.dataset(*a).is_some_and(|other| other.name == dataset.name)
            })
        };
        let same = partner.get(&b.pipeline).and_then(|index| named(Some(*index)));
        // A private or temporary name lives in its pipeline only.
        let moved = || if dataset.kind == DatasetKind::View || dataset.private { None } else { named(None) };
        match same.or_else(moved) {
            Some(a) => {
                free.remove(&a);
                pairs.push(DatasetPair { before: Some(b), after: Some(a), renamed: false });
            }
            None => left.push(b),
        }
    }
    for b in left {
        let renamed = partner.get(&b.pipeline).and_then(|index| find_renamed(before, after, b, *index, &free));
        if let Some(a) = renamed {
            free.remove(&a);
        }
        let same =
            renamed.is_some_and(|a| names_are_one(before, after, b, a) && !differ_by_symbol_of(before, after, b, a));
        pairs.push(DatasetPair { before: Some(b), after: renamed, renamed: renamed.is_some() && !same });
    }
    pairs.extend(free.into_iter().map(|a| DatasetPair { before: None, after: Some(a), renamed: false }));
    pairs
}

/// Whether two names differ only in what is not known: a placeholder, or a default that a bare folder does not tell.
fn names_are_one(before: &Side, after: &Side, b: DatasetRef, a: DatasetRef) -> bool {
    let (Some(old), Some(new)) = (before.dataset(b), after.dataset(a)) else { return false };
    let kind = |side: &Side, index: usize| side.pipeline(index).map(|pipeline| pipeline.kind);
    let defaults_unknown =
        kind(before, b.pipeline) == Some(PipelineKind::Folder) && kind(after, a.pipeline) != Some(PipelineKind::Folder);
    let template = old.name.is_template() || new.name.is_template();
    let one = |x: Option<&str>, y: Option<&str>| match (x, y) {
        (Some(x), Some(y)) => x.eq_ignore_ascii_case(y) || holds_symbol(x) || holds_symbol(y),
        (None, None) => true,
        _ => defaults_unknown || template,
    };
    (defaults_unknown || template)
        && one(Some(&old.name.name), Some(&new.name.name))
        && one(old.name.schema.as_deref(), new.name.schema.as_deref())
        && one(old.name.catalog.as_deref(), new.name.catalog.as_deref())
}

/// Two names of which nobody can tell whether they are the same: that is said, whatever they are paired for.
fn differ_by_symbol_of(before: &Side, after: &Side, b: DatasetRef, a: DatasetRef) -> bool {
    let (Some(old), Some(new)) = (before.dataset(b), after.dataset(a)) else { return false };
    differ_by_symbol(&old.name.name, &new.name.name)
}

/// Names that differ in a letter or two (`order`, `orders`).
fn alike(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    let (shorter, longer) = (a.len().min(b.len()), a.len().max(b.len()));
    let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    shorter >= ALIKE_LENGTH && (head + tail).min(shorter) + 2 >= longer
}

/// The free dataset of the partner pipeline that has this one's content, or this one's bare name under other defaults.
fn find_renamed(
    before: &Side,
    after: &Side,
    b: DatasetRef,
    partner: usize,
    free: &BTreeSet<DatasetRef>,
) -> Option<DatasetRef> {
    let dataset = before.dataset(b)?;
    let content = before.content(b);
    free.iter()
        .copied()
        .filter(|a| a.pipeline == partner)
        .filter_map(|a| Some((a, after.dataset(a)?)))
        .filter(|(_, other)| other.kind == dataset.kind)
        .map(|(a, other)| {
            let same_name = other.name.name.eq_ignore_ascii_case(&dataset.name.name);
            let share = if same_name { 1.0 } else { overlap(&content, &after.content(a)) };
            let needed = if alike(&dataset.name.name, &other.name.name) { ALIKE_SHARE } else { NEARLY_EQUAL };
            (a, share, needed)
        })
        .filter(|(_, share, needed)| share >= needed)
        .map(|(a, share, _)| (a, share))
        .max_by(|x, y| x.1.total_cmp(&y.1).then(y.0.cmp(&x.0)))
        .map(|(a, _)| a)
}

fn pair_flows(before: &Side, after: &Side, datasets: &[DatasetPair]) -> Vec<FlowPair> {
    let mut pairs = Vec::new();
    for pair in datasets {
        let name = |side: &Side, reference: Option<DatasetRef>| {
            reference.and_then(|r| side.dataset(r)).filter(|d| d.kind != DatasetKind::View).map(|d| d.name.clone())
        };
        let (old, new) = (name(before, pair.before), name(after, pair.after));
        let before_flows = pair.before.filter(|_| old.is_some()).map_or(&[][..], |r| before.flows_of(r));
        let after_flows = pair.after.filter(|_| new.is_some()).map_or(&[][..], |r| after.flows_of(r));
        if pair.renamed || old.is_none() || new.is_none() {
            let counterpart = |name: &Option<QualifiedName>| name.clone().filter(|_| pair.renamed);
            let removed = before_flows.iter().filter_map(|f| flow_pair(before, after, Some(*f), None));
            pairs.extend(removed.map(|p| FlowPair { counterpart: counterpart(&new), ..p }));
            let added = after_flows.iter().filter_map(|f| flow_pair(before, after, None, Some(*f)));
            pairs.extend(added.map(|p| FlowPair { counterpart: counterpart(&old), ..p }));
        } else {
            pairs.extend(pair_flows_of_dataset(before, after, before_flows, after_flows));
        }
    }
    join_moved_jobs(before, after, &mut pairs);
    pairs.sort_by(|x, y| {
        (&x.pipeline, &x.dataset, &x.flow, x.status).cmp(&(&y.pipeline, &y.dataset, &y.flow, y.status))
    });
    pairs
}

/// A streaming query outside of pipelines is its checkpoint: one that writes elsewhere is the same query still.
fn join_moved_jobs(before: &Side, after: &Side, pairs: &mut Vec<FlowPair>) {
    let checkpoint = |side: &Side, reference: Option<FlowRef>| match &side.flow(reference?)?.kind {
        FlowKind::StreamJob(writer) => writer.checkpoint.clone(),
        _ => None,
    };
    let gone: Vec<(usize, String, Option<FlowRef>)> = (pairs.iter().enumerate())
        .filter(|(_, pair)| pair.status == FlowStatus::Removed)
        .filter_map(|(index, pair)| Some((index, checkpoint(before, pair.before)?, pair.before)))
        .collect();
    let mut joined = Vec::new();
    for (index, path, reference) in gone {
        let same = |pair: &&mut FlowPair| {
            pair.status == FlowStatus::Added && checkpoint(after, pair.after).as_deref() == Some(path.as_str())
        };
        if let Some(pair) = pairs.iter_mut().find(same) {
            pair.before = reference;
            pair.status = FlowStatus::Unchanged;
            joined.push(index);
        }
    }
    let mut index = 0;
    pairs.retain(|_| {
        index += 1;
        !joined.contains(&(index - 1))
    });
}

fn pair_flows_of_dataset(before: &Side, after: &Side, old: &[FlowRef], new: &[FlowRef]) -> Vec<FlowPair> {
    let mut pairs = Vec::new();
    let mut free: Vec<FlowRef> = new.to_vec();
    let mut left = Vec::new();
    for &b in old {
        let position = free.iter().position(|a| same_checkpoint(before, after, b, *a));
        match position {
            Some(index) => {
                let a = free.remove(index);
                pairs.extend(flow_pair(before, after, Some(b), Some(a)));
            }
            None => left.push(b),
        }
    }
    let alone = old.len() == 1 && new.len() == 1;
    for b in left {
        // The only flow of its table: of another name it is the same where it streams from the same source, or nobody knows from what.
        let continues = |b: FlowRef, index: usize| {
            let after = free.get(index).map(|a| streams(after, *a)).unwrap_or_default();
            let before = streams(before, b);
            (before.is_empty() && after.is_empty()) || !before.is_disjoint(&after)
        };
        let content = before.analyzed(b).map(pieces).unwrap_or_default();
        let best = free
            .iter()
            .enumerate()
            .map(|(index, a)| (index, overlap(&content, &after.analyzed(*a).map(pieces).unwrap_or_default())))
            .filter(|(index, share)| *share >= NEARLY_EQUAL || (alone && continues(b, *index)))
            .max_by(|x, y| x.1.total_cmp(&y.1).then(y.0.cmp(&x.0)));
        let a = best.map(|(index, _)| free.remove(index));
        let renamed = a.is_some();
        pairs.extend(flow_pair(before, after, Some(b), a).map(|pair| FlowPair { renamed, ..pair }));
    }
    pairs.extend(free.into_iter().filter_map(|a| flow_pair(before, after, None, Some(a))));
    pairs
}

fn streams<'a>(side: &'a Side, flow: FlowRef) -> BTreeSet<&'a str> {
    let sources = side.analyzed(flow).into_iter().flat_map(|flow| &flow.aspects.sources);
    sources.filter(|source| source.streaming).map(|source| source.text.as_str()).collect()
}

/// Whether a flow resumes from the other's checkpoint: the same name, in the platform's sense.
fn same_checkpoint(before: &Side, after: &Side, b: FlowRef, a: FlowRef) -> bool {
    let (Some(old), Some(new)) = (before.flow(b), after.flow(a)) else { return false };
    if let (FlowKind::StreamJob(x), FlowKind::StreamJob(y)) = (&old.kind, &new.kind)
        && (x.checkpoint.is_some() || y.checkpoint.is_some())
    {
        return x.checkpoint == y.checkpoint || old.name == new.name;
    }
    let platform = after.pipeline(a.pipeline).map_or(Platform::Lakeflow, |pipeline| pipeline.platform);
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let (x, y) = (last(&old.name), last(&new.name));
    // A name that is not known on one side may be the other's: nothing says that the checkpoint is lost.
    if holds_symbol(&x) != holds_symbol(&y) {
        return true;
    }
    match platform {
        // The checkpoint's folder is named after the flow, letter case included.
        Platform::Spark => x == y,
        Platform::Lakeflow => x.eq_ignore_ascii_case(&y),
    }
}

fn flow_pair(before: &Side, after: &Side, b: Option<FlowRef>, a: Option<FlowRef>) -> Option<FlowPair> {
    let (side, reference) = match (a, b) {
        (Some(a), _) => (after, a),
        (None, Some(b)) => (before, b),
        (None, None) => return None,
    };
    let flow = side.flow(reference)?;
    let status = match (b, a) {
        (None, _) => FlowStatus::Added,
        (_, None) => FlowStatus::Removed,
        _ => FlowStatus::Unchanged,
    };
    Some(FlowPair {
        pipeline: side.pipeline(reference.pipeline)?.key.clone(),
        dataset: flow.target.clone(),
        flow: flow.name.clone(),
        before: b,
        after: a,
        status,
        counterpart: None,
        renamed: false,
    })
}
