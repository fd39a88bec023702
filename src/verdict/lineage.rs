//! The graph that pictures are drawn from: tables and sources of both revisions, what reads what, and what happens to each.

use super::Report;
use crate::analyze::Analysis;
use crate::graph::{Graph, Vertex};
use crate::model::{DatasetKind, Effect};
use std::collections::{BTreeMap, BTreeSet};

/// Which revisions know a node or an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    Before,
    After,
    Both,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineageNode {
    pub name: String,
    /// None for a source outside the repository.
    pub kind: Option<DatasetKind>,
    pub presence: Presence,
}

/// `to` reads `from`; both index into the nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineageEdge {
    pub from: usize,
    pub to: usize,
    pub presence: Presence,
    pub streaming: bool,
}

/// Nodes and edges by name. Views are seen through: an edge leads from what they read to what reads them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lineage {
    pub nodes: Vec<LineageNode>,
    pub edges: Vec<LineageEdge>,
}

/// What happens to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub effect: Effect,
    /// By a change above it, not by one of its own.
    pub downstream: bool,
}

type Found = BTreeMap<String, (Option<DatasetKind>, Presence)>;
type Reads = BTreeMap<(String, String), (bool, Presence)>;

impl Lineage {
    pub fn new(before: &Analysis, after: &Analysis) -> Self {
        let mut found = Found::new();
        let mut reads = Reads::new();
        for (analysis, side) in [(before, Presence::Before), (after, Presence::After)] {
            collect(&Graph::new(analysis), side, &mut found, &mut reads);
        }
        let index: BTreeMap<&String, usize> = found.keys().enumerate().map(|(index, name)| (name, index)).collect();
        let edges = reads
            .iter()
            .filter_map(|((from, to), (streaming, presence))| {
                let (from, to) = (*index.get(from)?, *index.get(to)?);
                Some(LineageEdge { from, to, presence: *presence, streaming: *streaming })
            })
            .collect();
        let nodes = found.iter().map(|(name, (kind, presence))| LineageNode {
            name: name.clone(),
            kind: *kind,
            presence: *presence,
        });
        Lineage { nodes: nodes.collect(), edges }
    }

    /// The tables that something happens to or whose flows changed, what is below them, and what they read directly.
    pub fn affected(&self, standings: &BTreeMap<String, Standing>) -> Lineage {
        let mut kept: BTreeSet<usize> = (0..self.nodes.len())
            .filter(|index| self.nodes.get(*index).is_some_and(|n| standings.contains_key(&n.name)))
            .collect();
        let sources: Vec<usize> =
            self.edges.iter().filter(|edge| kept.contains(&edge.to)).map(|edge| edge.from).collect();
        kept.extend(sources);
        let renumbered: BTreeMap<usize, usize> = kept.iter().enumerate().map(|(new, old)| (*old, new)).collect();
        let nodes = kept.iter().filter_map(|index| self.nodes.get(*index).cloned()).collect();
        let edges = self.edges.iter().filter_map(|edge| {
            let (from, to) = (*renumbered.get(&edge.from)?, *renumbered.get(&edge.to)?);
            Some(LineageEdge { from, to, ..edge.clone() })
        });
        Lineage { nodes, edges: edges.collect() }
    }

    /// Layer of each node: one more than the deepest of those it reads; edges that close a cycle are left out of account.
    pub fn layers(&self) -> Vec<usize> {
        let mut layers = vec![0; self.nodes.len()];
        for _ in 0..self.nodes.len().min(64) {
            let mut changed = false;
            for edge in &self.edges {
                let from = layers.get(edge.from).copied().unwrap_or(0);
                if let Some(to) = layers.get_mut(edge.to)
                    && edge.from != edge.to
                    && *to <= from
                    && from < 63
                {
                    *to = from + 1;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        layers
    }
}

fn collect(graph: &Graph, side: Presence, found: &mut Found, reads: &mut Reads) {
    for (node, vertex) in graph.vertices() {
        let kind = match vertex {
            Vertex::Dataset { kind: DatasetKind::View, .. } => continue,
            Vertex::Dataset { kind, .. } => Some(*kind),
            Vertex::External { .. } => None,
        };
        let entry = found.entry(vertex.label()).or_insert((kind, side));
        entry.0 = kind.or(entry.0);
        entry.1 = joined(entry.1, side);
        for (reader, edge) in graph.readers(node) {
            let Some(to) = graph.vertex(reader) else { continue };
            if matches!(to, Vertex::Dataset { kind: DatasetKind::View, .. }) {
                continue;
            }
            let entry = reads.entry((vertex.label(), to.label())).or_insert((edge.streaming, side));
            entry.0 |= edge.streaming;
            entry.1 = joined(entry.1, side);
        }
    }
}

fn joined(known: Presence, side: Presence) -> Presence {
    if known == side { known } else { Presence::Both }
}

/// What happens to each table that something happens to, by name.
pub fn standings(report: &Report) -> BTreeMap<String, Standing> {
    let mut found: BTreeMap<String, Standing> = BTreeMap::new();
    let mut add = |name: String, effect: Effect, downstream: bool| {
        let entry = found.entry(name).or_insert(Standing { effect, downstream });
        entry.effect = entry.effect.max(effect);
        entry.downstream &= downstream;
    };
    for flow in &report.flows {
        if flow.status != crate::diff::FlowStatus::Unchanged || flow.effect != Effect::None {
            add(flow.dataset.to_string(), flow.effect, false);
        }
    }
    for impact in &report.impacts {
        add(impact.dataset.clone(), impact.effect, true);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lineage(edges: &[(usize, usize)], nodes: usize) -> Lineage {
        let node = |index: usize| LineageNode { name: format!("t{index}"), kind: None, presence: Presence::Both };
        let edge = |(from, to): &(usize, usize)| LineageEdge {
            from: *from,
            to: *to,
            presence: Presence::Both,
            streaming: true,
        };
        Lineage { nodes: (0..nodes).map(node).collect(), edges: edges.iter().map(edge).collect() }
    }

    #[test]
    fn readers_stand_in_deeper_layers_and_cycles_end() {
        assert_eq!(lineage(&[(0, 1), (1, 2), (0, 2)], 4).layers(), [0, 1, 2, 0]);
        assert_eq!(lineage(&[(0, 1), (1, 0)], 2).layers().len(), 2);
    }

    #[test]
    fn the_affected_part_keeps_direct_sources_and_drops_the_rest() {
        let whole = lineage(&[(0, 1), (1, 2), (2, 3), (3, 4)], 5);
        let standings = BTreeMap::from([("t2".to_owned(), Standing { effect: Effect::Refused, downstream: false })]);
        let part = whole.affected(&standings);
        assert_eq!(part.nodes.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(), ["t1", "t2"]);
        assert_eq!(part.edges.iter().map(|e| (e.from, e.to)).collect::<Vec<_>>(), [(0, 1)]);
    }
}
