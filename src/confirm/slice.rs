//! The part of a revision that an experiment needs: the flows in question, what feeds them, and what they feed.

use crate::analyze::{Analysis, AnalyzedFlow};
use crate::engine::{defines_view, location, read_location};
use crate::model::{Pipeline, QualifiedName};
use std::collections::BTreeSet;

/// Places (locations of tables) that a set of flows of both revisions touches.
pub type Places = BTreeSet<String>;

/// Where the flows into these datasets write, in either revision; a name is compared by its key.
pub fn places_of(analyses: [&Analysis; 2], datasets: &BTreeSet<String>) -> Places {
    let mut places = Places::new();
    for pipeline in analyses.into_iter().flat_map(|analysis| &analysis.workspace.pipelines) {
        let named = |name: &QualifiedName| datasets.contains(&name.key());
        places.extend(
            pipeline.flows.iter().filter(|flow| named(&flow.target)).filter_map(|flow| location(pipeline, flow)),
        );
    }
    places
}

/// `places` with everything that reads them, directly or not, in either revision.
pub fn with_readers(analyses: [&Analysis; 2], places: &Places) -> Places {
    closure(analyses, places, |edge, known| {
        if edge.reads.iter().any(|read| known.contains(read)) { vec![edge.writes.clone()] } else { Vec::new() }
    })
}

/// `places` with everything that feeds them.
pub fn with_sources(analyses: [&Analysis; 2], places: &Places) -> Places {
    closure(analyses, places, |edge, known| if known.contains(&edge.writes) { edge.reads.clone() } else { Vec::new() })
}

/// A flow's target and what it reads.
struct Edge {
    writes: String,
    reads: Vec<String>,
}

fn closure(analyses: [&Analysis; 2], places: &Places, next: impl Fn(&Edge, &Places) -> Vec<String>) -> Places {
    let edges: Vec<Edge> = edges(analyses).collect();
    let mut all = places.clone();
    loop {
        let before = all.len();
        for edge in &edges {
            all.extend(next(edge, &all));
        }
        if all.len() == before {
            return all;
        }
    }
}

fn edges(analyses: [&Analysis; 2]) -> impl Iterator<Item = Edge> {
    analyses.into_iter().flat_map(|analysis| analysis.flows.iter().filter_map(move |flow| edge(analysis, flow)))
}

fn edge(analysis: &Analysis, analyzed: &AnalyzedFlow) -> Option<Edge> {
    let pipeline = analysis.workspace.pipelines.get(analyzed.pipeline)?;
    let writes = location(pipeline, pipeline.flows.get(analyzed.flow)?)?;
    let reads = analyzed.plan.reads().into_iter().filter_map(|read| read_location(pipeline, read)).collect();
    Some(Edge { writes, reads })
}

/// The analysis with only the flows that write to these places. Pipelines keep their positions; those without such a flow are
/// empty.
pub fn slice(analysis: &Analysis, places: &Places) -> Analysis {
    let mut sliced = Analysis::new(crate::model::Workspace::default(), Vec::new(), Vec::new());
    for (index, pipeline) in analysis.workspace.pipelines.iter().enumerate() {
        let kept: Vec<&AnalyzedFlow> =
            analysis.flows.iter().filter(|flow| flow.pipeline == index && writes_to(pipeline, flow, places)).collect();
        if kept.is_empty() {
            sliced.workspace.pipelines.push(Pipeline::new(pipeline.key.clone(), pipeline.kind));
            sliced.schemas.push(Vec::new());
            continue;
        }
        sliced.workspace.pipelines.push(pipeline.clone());
        sliced.schemas.push(analysis.schemas.get(index).cloned().unwrap_or_default());
        sliced.flows.extend(kept.into_iter().cloned());
    }
    sliced
}

fn writes_to(pipeline: &Pipeline, analyzed: &AnalyzedFlow, places: &Places) -> bool {
    let Some(flow) = pipeline.flows.get(analyzed.flow) else { return false };
    !defines_view(pipeline, flow) && location(pipeline, flow).is_some_and(|place| places.contains(&place))
}
