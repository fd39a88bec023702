//! Effects followed from dataset to dataset.

use super::Impact;
use crate::analyze::Analysis;
use crate::diff::{Diff, FlowPair, FlowStatus};
use crate::graph::{Edge, Graph, Vertex};
use crate::model::{Dataset, DatasetKind, Effect, FullRefresh, Node, Pipeline, Platform};
use crate::rules::{Assessment, FlowAssessment};
use petgraph::graph::NodeIndex;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What a reader sees of the dataset above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    /// It was emptied and filled again: commits that delete, then everything anew.
    Refreshed,
    /// A materialized view was computed anew.
    Recomputed,
    /// Rows stand twice.
    Duplicated,
    /// Rows are wrong or missing.
    Wrong,
    /// What its rows are cannot be told.
    Unknown,
    /// New rows follow another logic than old ones.
    Mixed,
    /// Nothing is written into it any more.
    Stale,
    /// It is gone.
    Gone,
}

struct Step {
    node: NodeIndex,
    cause: Cause,
    path: Vec<String>,
}

/// Changes that concern single columns: who reads none of them sees nothing.
const OF_COLUMNS: &[&str] = &[
    "column-added",
    "column-dropped",
    "column-renamed",
    "column-case-changed",
    "column-retyped",
    "expression-changed",
];

/// Follows the effect of every changed dataset to all that read it. `columns` is what single columns lead to.
pub fn follow_effects(
    after: &Analysis,
    diff: &Diff,
    assessment: &Assessment,
    graph: &Graph,
    columns: &[Impact],
) -> Vec<Impact> {
    let mut impacts = Vec::new();
    for ((_, name), (cause, origin)) in causes(diff, assessment) {
        let Some(node) = locate(after, graph, origin, &name) else { continue };
        let by_column = cause == Cause::Mixed && is_of_columns(diff, origin);
        let untouched = |reader: &Reader, edge: &Edge| {
            let read = |impact: &Impact| {
                impact.dataset == reader.dataset.name.to_string()
                    && impact.because_of.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('.'))
            };
            by_column && reader.is_unchanged(diff) && understood(after, edge) && !columns.iter().any(read)
        };
        let mut seen = BTreeSet::from([(node, cause)]);
        let mut pending = VecDeque::from([Step { node, cause, path: vec![name.clone()] }]);
        while let Some(step) = pending.pop_front() {
            for (reader, edge) in graph.readers(step.node) {
                let Some(target) = Reader::new(after, graph, reader) else { continue };
                if reader == node || target.dataset.kind == DatasetKind::View || untouched(&target, edge) {
                    continue;
                }
                let Some((effect, next, hint)) =
                    target.sees(step.cause, edge, step.path.last().map_or("", String::as_str))
                else {
                    continue;
                };
                let passed = edge.through.iter().rev().cloned().chain([target.dataset.name.to_string()]);
                let path = passed.fold(step.path.clone(), |path, name| super::extended(&path, name));
                if seen.insert((reader, step.cause)) {
                    impacts.push(Impact {
                        dataset: target.dataset.name.to_string(),
                        pipeline: target.pipeline.key.clone(),
                        kind: target.kind(edge),
                        because_of: name.clone(),
                        path: path.clone(),
                        effect,
                        hint,
                    });
                    if let Some(cause) = next {
                        pending.push_back(Step { node: reader, cause, path });
                    }
                }
            }
        }
    }
    impacts
}

/// Nothing but single columns of the dataset changed.
fn is_of_columns(diff: &Diff, origin: &FlowPair) -> bool {
    let mut changes = diff
        .changes
        .iter()
        .filter(|change| change.pipeline == origin.pipeline && change.dataset.as_ref() == Some(&origin.dataset))
        .peekable();
    changes.peek().is_some() && changes.all(|change| OF_COLUMNS.contains(&change.kind))
}

/// Which columns the flow of a reader uses is known.
fn understood(after: &Analysis, edge: &Edge) -> bool {
    let Some(flow) = after.flows.get(edge.flow) else { return false };
    let mut opaque = false;
    flow.plan.walk(&mut |plan| opaque |= matches!(plan.node, Node::Opaque { .. } | Node::StatefulMap { .. }));
    !opaque && flow.unresolved.is_empty() && flow.errors.is_empty()
}

/// What readers see of each changed dataset: the worst of its flows.
fn causes<'a>(diff: &'a Diff, assessment: &Assessment) -> BTreeMap<(String, String), (Cause, &'a FlowPair)> {
    let mut causes: BTreeMap<(String, String), (Cause, &FlowPair)> = BTreeMap::new();
    for (pair, flow) in diff.flows.iter().zip(&assessment.flows) {
        let Some(cause) = cause(flow) else { continue };
        let entry = causes.entry((pair.pipeline.clone(), pair.dataset.to_string())).or_insert((cause, pair));
        // The order of causes is that of precedence: a refresh heals what else its rows would be.
        if cause < entry.0 {
            *entry = (cause, pair);
        }
    }
    causes
}

fn cause(flow: &FlowAssessment) -> Option<Cause> {
    if flow.full_refresh == FullRefresh::Required && !matches!(flow.effect, Effect::Orphaned | Effect::Dropped) {
        return Some(Cause::Refreshed);
    }
    match flow.effect {
        Effect::None | Effect::Ignored | Effect::Refused | Effect::Invalid => None,
        // What cannot be told of a table cannot be told of its readers.
        Effect::Unknown => Some(Cause::Unknown),
        Effect::Mixed => Some(Cause::Mixed),
        Effect::Recomputed => Some(Cause::Recomputed),
        Effect::Replayed => Some(Cause::Duplicated),
        Effect::WrongRows => Some(Cause::Wrong),
        Effect::Orphaned => Some(Cause::Stale),
        Effect::Dropped => Some(Cause::Gone),
    }
}

/// The node of a changed dataset in AFTER; one that is no longer defined is an external source there.
fn locate(after: &Analysis, graph: &Graph, pair: &FlowPair, name: &str) -> Option<NodeIndex> {
    let pipeline = after.workspace.pipelines.iter().position(|pipeline| pipeline.key == pair.pipeline);
    let defined = pipeline.and_then(|pipeline| graph.find(after, pipeline, &pair.dataset));
    defined.or_else(|| {
        graph.vertices().find(|(_, vertex)| vertex.label().eq_ignore_ascii_case(name)).map(|(node, _)| node)
    })
}

/// A dataset that reads another.
struct Reader<'a> {
    pipeline: &'a Pipeline,
    dataset: &'a Dataset,
}

impl<'a> Reader<'a> {
    fn new(after: &'a Analysis, graph: &Graph, node: NodeIndex) -> Option<Self> {
        let Vertex::Dataset { pipeline, dataset, .. } = graph.vertex(node)? else { return None };
        let pipeline = after.workspace.pipelines.get(*pipeline)?;
        Some(Reader { pipeline, dataset: pipeline.datasets.get(*dataset)? })
    }

    fn is_unchanged(&self, diff: &Diff) -> bool {
        let own = |pair: &&FlowPair| pair.pipeline == self.pipeline.key && pair.dataset == self.dataset.name;
        diff.flows.iter().filter(own).all(|pair| pair.status == FlowStatus::Unchanged)
    }

    fn kind(&self, edge: &Edge) -> &'static str {
        match self.dataset.kind {
            DatasetKind::Sink => "sink",
            DatasetKind::MaterializedView => "materialized-view",
            _ if edge.streaming => "streaming-reader",
            _ => "table",
        }
    }

    /// Effect on this reader, what its own readers see, and a hint. None where it sees nothing.
    fn sees(&self, cause: Cause, edge: &Edge, upstream: &str) -> Option<(Effect, Option<Cause>, String)> {
        if !edge.streaming {
            return self.sees_as_table(cause, upstream);
        }
        let files = matches!(
            super::refresh::format(self.dataset, self.pipeline).as_str(),
            "parquet" | "json" | "csv" | "orc" | "text"
        );
        let spark_files = self.pipeline.platform == Platform::Spark && files;
        Some(match cause {
            Cause::Refreshed | Cause::Recomputed if edge.skips_changes => (
                Effect::Mixed,
                Some(Cause::Mixed),
                format!(
                    "skips change commits: rows that `{upstream}` gets by its refresh do not arrive here; refresh this table too if they must"
                ),
            ),
            Cause::Refreshed | Cause::Recomputed if spark_files => (
                Effect::Replayed,
                Some(Cause::Duplicated),
                format!(
                    "reads all rows of `{upstream}` again and appends them: name it in the same --full-refresh selection"
                ),
            ),
            Cause::Refreshed => (
                Effect::Refused,
                Some(Cause::Refreshed),
                format!(
                    "its stream stops at the commits that empty `{upstream}`: refresh it in the same selection, or set skipChangeCommits on its read of `{upstream}`"
                ),
            ),
            Cause::Recomputed => (
                Effect::Refused,
                Some(Cause::Refreshed),
                format!(
                    "its stream stops at the commits that rewrite `{upstream}`: read it as a table, or set skipChangeCommits"
                ),
            ),
            Cause::Duplicated => (
                Effect::Replayed,
                Some(Cause::Duplicated),
                format!("takes the doubled rows of `{upstream}` over as new ones"),
            ),
            Cause::Wrong => (Effect::WrongRows, Some(Cause::Wrong), format!("takes wrong rows of `{upstream}` over")),
            Cause::Unknown => (
                Effect::Unknown,
                Some(Cause::Unknown),
                format!("reads `{upstream}`, of which it cannot be told what happens to it"),
            ),
            Cause::Mixed => (
                Effect::Mixed,
                Some(Cause::Mixed),
                format!("takes new rows of `{upstream}` over as they now are; its old rows stay"),
            ),
            Cause::Stale => (
                Effect::None,
                Some(Cause::Stale),
                format!("reads `{upstream}`, into which nothing is written any more: no error, and no new rows"),
            ),
            Cause::Gone => (
                Effect::Refused,
                None,
                format!(
                    "reads `{upstream}`, which is deleted; a table made anew under that name is another table to its stream"
                ),
            ),
        })
    }

    /// A reader that takes the whole table each time.
    fn sees_as_table(&self, cause: Cause, upstream: &str) -> Option<(Effect, Option<Cause>, String)> {
        let computed = self.dataset.kind == DatasetKind::MaterializedView;
        Some(match cause {
            Cause::Gone => (Effect::Refused, None, format!("reads `{upstream}`, which is deleted")),
            Cause::Stale => (
                Effect::None,
                Some(Cause::Stale),
                format!("reads `{upstream}`, into which nothing is written any more"),
            ),
            // A lookup side is read anew in every batch; rows written before stay.
            Cause::Unknown => (
                Effect::Unknown,
                Some(Cause::Unknown),
                format!("reads `{upstream}`, of which it cannot be told what happens to it"),
            ),
            _ if !computed => (
                Effect::Mixed,
                Some(Cause::Mixed),
                format!(
                    "looks rows up in `{upstream}` as it then is; rows written before keep what they had looked up"
                ),
            ),
            Cause::Refreshed => (
                Effect::Recomputed,
                Some(Cause::Recomputed),
                format!("is computed anew from `{upstream}`; refresh it after that table, in the same update"),
            ),
            _ => (
                Effect::Recomputed,
                Some(Cause::Recomputed),
                format!("is computed anew from `{upstream}` as it then is"),
            ),
        })
    }
}
