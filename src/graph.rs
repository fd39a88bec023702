//! What reads what, over all pipelines of one revision.
//!
//! Nodes are datasets (one for a table that several pipelines name) and sources outside the repository. Each flow gives an edge
//! from everything it reads to the dataset it writes. Analysis has walked through views already: an edge tells which views it
//! passes, and a view is a node of its own with edges in and none out.

use crate::analyze::{Analysis, AnalyzedFlow, SourceAspect};
use crate::model::{DatasetKind, Flow, Node, QualifiedName, Source};
use petgraph::Direction;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A node of the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Vertex {
    /// A dataset; `pipeline` and `dataset` index into the workspace.
    Dataset { pipeline: usize, dataset: usize, name: QualifiedName, kind: DatasetKind },
    /// Something outside the repository, by its canonical text.
    External { text: String },
}

impl Vertex {
    /// How messages name it.
    pub fn label(&self) -> String {
        match self {
            Vertex::Dataset { name, .. } => name.to_string(),
            Vertex::External { text } => text.clone(),
        }
    }
}

/// One flow's read of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// Index into `Analysis::flows`.
    pub flow: usize,
    pub streaming: bool,
    /// Updates and deletes of the source are skipped (`skipChangeCommits`, `ignoreChanges`).
    pub skips_changes: bool,
    /// The source's change feed is read.
    pub change_feed: bool,
    /// Views between the source and the flow, nearest to the flow first.
    pub through: Vec<String>,
}

/// All datasets and sources of one revision, and who reads whom.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    graph: DiGraph<Vertex, Edge>,
    datasets: BTreeMap<String, NodeIndex>,
    /// By pipeline and dataset index: two pipelines may each have a private table of one name.
    owned: BTreeMap<(usize, usize), NodeIndex>,
    /// Flows that run once.
    once: BTreeSet<usize>,
}

impl Graph {
    pub fn new(analysis: &Analysis) -> Self {
        let mut graph = Graph::default();
        for (p, pipeline) in analysis.workspace.pipelines.iter().enumerate() {
            for (d, dataset) in pipeline.datasets.iter().enumerate() {
                let local = dataset.kind == DatasetKind::View || dataset.private;
                let known = graph.datasets.get(&dataset.name.key()).copied().filter(|_| !local);
                let node = known.unwrap_or_else(|| {
                    graph.graph.add_node(Vertex::Dataset {
                        pipeline: p,
                        dataset: d,
                        name: dataset.name.clone(),
                        kind: dataset.kind,
                    })
                });
                graph.owned.insert((p, d), node);
                if !local {
                    graph.datasets.insert(dataset.name.key(), node);
                }
            }
        }
        let views = Views::of(analysis);
        let mut external = BTreeMap::new();
        for (index, analyzed) in analysis.flows.iter().enumerate() {
            graph.add_flow(analysis, (index, analyzed), &views, &mut external);
        }
        graph
    }

    fn add_flow(
        &mut self,
        analysis: &Analysis,
        (index, analyzed): (usize, &AnalyzedFlow),
        views: &Views,
        external: &mut BTreeMap<String, NodeIndex>,
    ) {
        let Some(pipeline) = analysis.workspace.pipelines.get(analyzed.pipeline) else { return };
        let Some(flow) = pipeline.flows.get(analyzed.flow) else { return };
        let Some(target) = self.find(analysis, analyzed.pipeline, &flow.target) else { return };
        self.once.extend(flow.is_once().then_some(index));
        let views = views.below(analyzed.pipeline, flow);
        let mut seen = BTreeSet::new();
        for source in &analyzed.aspects.sources {
            let text = text_without_number(&source.text);
            if !seen.insert((text, source.streaming)) {
                continue;
            }
            let table = table_of(source).and_then(|name| self.find(analysis, analyzed.pipeline, name));
            let from = table.unwrap_or_else(|| {
                *external
                    .entry(text.to_owned())
                    .or_insert_with(|| self.graph.add_node(Vertex::External { text: text.to_owned() }))
            });
            let through = (views.iter())
                .filter(|view| view.sources.iter().any(|below| text_without_number(below) == text))
                .map(|view| view.name.to_string())
                .collect();
            let is_on =
                |option: &str| source.options.get(option).is_some_and(|value| value.eq_ignore_ascii_case("true"));
            let edge = Edge {
                flow: index,
                streaming: source.streaming,
                skips_changes: ["skipchangecommits", "ignorechanges"].into_iter().any(is_on),
                change_feed: matches!(source.source, Source::ChangeFeed(_))
                    || ["readchangefeed", "readchangedata"].into_iter().any(is_on),
                through,
            };
            self.graph.add_edge(from, target, edge);
        }
    }

    /// The node that a name means inside a pipeline: its own dataset first, then any pipeline's published one.
    pub fn find(&self, analysis: &Analysis, pipeline: usize, name: &QualifiedName) -> Option<NodeIndex> {
        let own = analysis.own_dataset_index(pipeline, name);
        own.and_then(|dataset| self.owned.get(&(pipeline, dataset))).or_else(|| self.datasets.get(&name.key())).copied()
    }

    /// The node of a dataset by its indices.
    pub fn node(&self, pipeline: usize, dataset: usize) -> Option<NodeIndex> {
        self.owned.get(&(pipeline, dataset)).copied()
    }

    pub fn vertex(&self, node: NodeIndex) -> Option<&Vertex> {
        self.graph.node_weight(node)
    }

    pub fn vertices(&self) -> impl Iterator<Item = (NodeIndex, &Vertex)> {
        self.graph.node_indices().filter_map(|node| Some((node, self.graph.node_weight(node)?)))
    }

    /// What reads a node, in the order of flows.
    pub fn readers(&self, node: NodeIndex) -> Vec<(NodeIndex, &Edge)> {
        self.neighbours(node, Direction::Outgoing)
    }

    /// What a node reads, in the order of flows.
    pub fn sources(&self, node: NodeIndex) -> Vec<(NodeIndex, &Edge)> {
        self.neighbours(node, Direction::Incoming)
    }

    fn neighbours(&self, node: NodeIndex, direction: Direction) -> Vec<(NodeIndex, &Edge)> {
        let mut found: Vec<_> = self
            .graph
            .edges_directed(node, direction)
            .map(|edge| {
                let other = if direction == Direction::Outgoing { edge.target() } else { edge.source() };
                (other, edge.weight())
            })
            .collect();
        found.sort_by_key(|(other, edge)| (edge.flow, other.index()));
        found
    }

    /// Everything below a node, nearest first, without the node itself.
    pub fn reachable(&self, node: NodeIndex) -> Vec<NodeIndex> {
        let mut seen = BTreeSet::from([node]);
        let mut order = Vec::new();
        let mut pending = VecDeque::from([node]);
        while let Some(next) = pending.pop_front() {
            for (reader, _) in self.readers(next) {
                if seen.insert(reader) {
                    order.push(reader);
                    pending.push_back(reader);
                }
            }
        }
        order
    }

    /// Names of what a flow streams from, of what those tables are filled from, and so on: whose rows reach its target one by one. A
    /// flow that runs once, or that reads no stream at all, takes everything it reads in one go.
    pub fn streamed_into(&self, flow: usize) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let mut pending = vec![flow];
        let mut seen = BTreeSet::from([flow]);
        while let Some(flow) = pending.pop() {
            let reads = || self.graph.edge_references().filter(|edge| edge.weight().flow == flow);
            let streams = !self.once.contains(&flow) && reads().any(|edge| edge.weight().streaming);
            for edge in reads().filter(|edge| edge.weight().streaming || !streams) {
                names.extend(self.vertex(edge.source()).map(|vertex| vertex.label().to_lowercase()));
                let writers = self.sources(edge.source()).into_iter().map(|(_, edge)| edge.flow);
                pending.extend(writers.filter(|writer| seen.insert(*writer)));
            }
        }
        names
    }

    /// All nodes, sources before what reads them; the members of a cycle stand together.
    pub fn topological(&self) -> Vec<NodeIndex> {
        let mut components = tarjan_scc(&self.graph);
        components.reverse();
        for component in &mut components {
            component.sort();
        }
        components.concat()
    }
}

/// The table a source reads, by name.
fn table_of(source: &SourceAspect) -> Option<&QualifiedName> {
    match &source.source {
        Source::Table(name) | Source::ChangeFeed(name) => Some(name),
        _ => None,
    }
}

/// A source's text without the number that tells two reads of one table apart (`events#2`).
pub fn text_without_number(text: &str) -> &str {
    match text.rsplit_once('#') {
        Some((head, number)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => head,
        _ => text,
    }
}

/// The views of all pipelines, by pipeline and folded name.
struct Views<'a>(BTreeMap<(usize, String), View<'a>>);

struct View<'a> {
    name: &'a QualifiedName,
    flow: &'a Flow,
    sources: Vec<&'a str>,
}

impl<'a> Views<'a> {
    fn of(analysis: &'a Analysis) -> Self {
        let mut views = BTreeMap::new();
        for analyzed in &analysis.flows {
            let owner = analysis.workspace.pipelines.get(analyzed.pipeline);
            let Some(flow) = owner.and_then(|owner| owner.flows.get(analyzed.flow)) else { continue };
            let Some(dataset) = analysis.own_dataset(analyzed.pipeline, &flow.target) else { continue };
            if dataset.kind == DatasetKind::View {
                let sources = analyzed.aspects.sources.iter().map(|source| source.text.as_str()).collect();
                let view = View { name: &dataset.name, flow, sources };
                views.entry((analyzed.pipeline, dataset.name.name.to_lowercase())).or_insert(view);
            }
        }
        Views(views)
    }

    /// Views of the pipeline that a flow reads, directly or through others.
    fn below(&self, pipeline: usize, flow: &Flow) -> Vec<&View<'a>> {
        let mut found: Vec<&View> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut pending: VecDeque<&Flow> = VecDeque::from([flow]);
        while let Some(next) = pending.pop_front() {
            let mut names = Vec::new();
            next.plan.walk(&mut |plan| {
                if let Node::Read(read) = &plan.node
                    && let Source::Table(name) = &read.source
                {
                    names.push(name.name.to_lowercase());
                }
            });
            for name in names {
                let Some(view) = self.0.get(&(pipeline, name)) else { continue };
                if seen.insert(view.name.key()) {
                    found.push(view);
                    pending.push_back(view.flow);
                }
            }
        }
        found
    }
}
