//! The part of a revision that an experiment needs: the flows in question, what feeds them, and what they feed.

use crate::analyze::{Analysis, AnalyzedFlow};
use crate::engine::{dataset_location, defines_view, location, read_location, source_location};
use crate::model::{Dataset, Indexed, Pipeline, QualifiedName, Schema, Source, SourceFacts, Workspace};
use std::collections::{BTreeMap, BTreeSet, HashMap};

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
    closure(analyses, places, |edge| edge.reads.iter().map(|read| (read.clone(), edge.writes.clone())).collect())
}

/// `places` with everything that feeds them.
pub fn with_sources(analyses: [&Analysis; 2], places: &Places) -> Places {
    closure(analyses, places, |edge| edge.reads.iter().map(|read| (edge.writes.clone(), read.clone())).collect())
}

/// A flow's target and what it reads.
struct Edge {
    writes: String,
    reads: Vec<String>,
}

fn closure(analyses: [&Analysis; 2], places: &Places, next: impl Fn(&Edge) -> Vec<(String, String)>) -> Places {
    let mut steps: HashMap<String, Vec<String>> = HashMap::new();
    for (from, to) in edges(analyses).flat_map(|edge| next(&edge)) {
        steps.entry(from).or_default().push(to);
    }
    let mut all = places.clone();
    let mut pending: Vec<String> = places.iter().cloned().collect();
    while let Some(place) = pending.pop() {
        for next in steps.get(&place).into_iter().flatten() {
            if all.insert(next.clone()) {
                pending.push(next.clone());
            }
        }
    }
    all
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

/// The analysis with only the flows that write to these places, and in its workspace only what those flows need: their targets,
/// and the views and tables that they name. Pipelines keep their positions; those without such a flow are empty.
pub fn slice(analysis: &Analysis, places: &Places) -> Analysis {
    slice_with(analysis, places, &Places::new(), &Places::new())
}

/// The same, with the tables at `cut` as sources outside of the pipelines, of the schema that their flows give them, and with the
/// sources at `besides`, which others than the flows read.
pub fn slice_with(analysis: &Analysis, places: &Places, cut: &Places, besides: &Places) -> Analysis {
    let mut sliced = Analysis::new(Workspace::default(), Vec::new(), Vec::new());
    let needed = Needed::of(analysis, places);
    let mut sources = Vec::new();
    for (index, pipeline) in analysis.workspace.pipelines.iter().enumerate() {
        let of_pipeline = needed.flows.range((index, 0)..(index + 1, 0));
        let kept: Vec<usize> = of_pipeline.map(|(_, flow)| *flow).collect();
        let mut part = emptied(pipeline);
        let mut schemas = Vec::new();
        let known = analysis.schemas.get(index);
        for (at, dataset) in pipeline.datasets.iter().enumerate() {
            let place = dataset_location(dataset);
            let schema = known.and_then(|known| known.get(at)).cloned().unwrap_or_else(Schema::unknown);
            if place.as_ref().is_some_and(|place| cut.contains(place)) {
                sources.push(outside(pipeline, dataset, schema));
            } else if needed.names.contains(&dataset.name.name.to_lowercase())
                || place.is_some_and(|place| places.contains(&place))
            {
                part.datasets.push(dataset.clone());
                schemas.push(schema);
            }
        }
        for (position, flow) in kept.iter().enumerate() {
            part.flows.extend(pipeline.flows.get(*flow).cloned());
            let analyzed = analysis.flow(index, *flow);
            let analyzed = analyzed.filter(|analyzed| writes_to(pipeline, analyzed, places));
            sliced.flows.extend(analyzed.map(|analyzed| AnalyzedFlow { flow: position, ..analyzed.clone() }));
        }
        if !kept.is_empty() {
            let concerned = |facts: &&SourceFacts| {
                let name = QualifiedName::parse(&facts.name).name.to_lowercase();
                let location = source_location(facts);
                needed.names.contains(&name) || needed.read.contains(&location) || besides.contains(&location)
            };
            part.sources = pipeline.sources.iter().filter(concerned).cloned().collect();
        }
        sliced.workspace.pipelines.push(part);
        sliced.schemas.push(schemas);
    }
    for pipeline in sliced.workspace.pipelines.iter_mut().filter(|pipeline| !pipeline.flows.is_empty()) {
        pipeline.sources.extend(sources.iter().cloned());
    }
    sliced
}

/// A pipeline with its settings, and nothing that it defines.
fn emptied(pipeline: &Pipeline) -> Pipeline {
    Pipeline {
        key: pipeline.key.clone(),
        name: pipeline.name.clone(),
        kind: pipeline.kind,
        root: pipeline.root.clone(),
        platform: pipeline.platform,
        spark_version: pipeline.spark_version,
        catalog: pipeline.catalog.clone(),
        schema: pipeline.schema.clone(),
        storage: pipeline.storage.clone(),
        table_format: pipeline.table_format.clone(),
        configuration: pipeline.configuration.clone(),
        settings: pipeline.settings.clone(),
        collisions: Vec::new(),
        datasets: Indexed::default(),
        flows: Indexed::default(),
        sources: Indexed::default(),
        places: pipeline.places.clone(),
        span: pipeline.span.clone(),
    }
}

/// A table as a source: what its readers see of it.
fn outside(pipeline: &Pipeline, dataset: &Dataset, schema: Schema) -> SourceFacts {
    SourceFacts {
        name: dataset.name.to_string(),
        format: Some(dataset.format.clone().unwrap_or_else(|| pipeline.table_format.clone())),
        schema: Some(schema),
        partitioned_by: dataset.layout.partition_by.clone(),
        retention: None,
        path: dataset.location.clone(),
        other: BTreeMap::new(),
        span: None,
    }
}

/// The flows of a slice, those of the views that they read included, and all names that they read.
struct Needed {
    /// By pipeline and flow.
    flows: BTreeSet<(usize, usize)>,
    /// Last parts of names, in lower case: more than are meant, never fewer.
    names: BTreeSet<String>,
    /// Places that they read.
    read: Places,
}

impl Needed {
    fn of(analysis: &Analysis, places: &Places) -> Needed {
        let mut needed = Needed { flows: BTreeSet::new(), names: BTreeSet::new(), read: Places::new() };
        let mut views: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
        let mut pending = Vec::new();
        for (p, pipeline) in analysis.workspace.pipelines.iter().enumerate() {
            for (f, flow) in pipeline.flows.iter().enumerate() {
                if defines_view(pipeline, flow) {
                    views.entry(flow.target.name.to_lowercase()).or_default().push((p, f));
                } else if location(pipeline, flow).is_some_and(|place| places.contains(&place)) {
                    pending.push((p, f));
                }
            }
        }
        while let Some((p, f)) = pending.pop() {
            let Some(pipeline) = analysis.workspace.pipelines.get(p) else { continue };
            let Some(flow) = pipeline.flows.get(f).filter(|_| needed.flows.insert((p, f))) else { continue };
            needed.read.extend(flow.plan.reads().into_iter().filter_map(|read| read_location(pipeline, read)));
            let read = flow.plan.reads().into_iter().filter_map(|read| match &read.source {
                Source::Table(name) | Source::ChangeFeed(name) => Some(name.name.to_lowercase()),
                Source::Files { .. } | Source::Connector { .. } => None,
            });
            for name in read.chain([flow.target.name.to_lowercase()]) {
                pending.extend(views.get(&name).into_iter().flatten());
                needed.names.insert(name);
            }
        }
        needed
    }
}

fn writes_to(pipeline: &Pipeline, analyzed: &AnalyzedFlow, places: &Places) -> bool {
    let Some(flow) = pipeline.flows.get(analyzed.flow) else { return false };
    !defines_view(pipeline, flow) && location(pipeline, flow).is_some_and(|place| places.contains(&place))
}
