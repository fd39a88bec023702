//! The order in which schemas are inferred: datasets after those they read (`DataflowGraph`'s topological sort).

use super::catalog::{Catalog, DatasetId, Target};
use crate::model::{Expr, Node, Plan, QualifiedName, Source};
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Datasets in generations: those of one generation read only datasets of earlier ones.
pub(super) struct Order {
    pub generations: Vec<Vec<DatasetId>>,
    /// Datasets that read each other in a circle.
    pub cyclic: Vec<Vec<DatasetId>>,
}

pub(super) fn order(catalog: &Catalog<'_>) -> Order {
    let mut graph: DiGraph<DatasetId, ()> = DiGraph::new();
    let mut nodes: BTreeMap<DatasetId, NodeIndex> = BTreeMap::new();
    for (p, pipeline) in catalog.workspace.pipelines.iter().enumerate() {
        for d in 0..pipeline.datasets.len() {
            nodes.insert((p, d), graph.add_node((p, d)));
        }
    }
    for (p, pipeline) in catalog.workspace.pipelines.iter().enumerate() {
        for flow in &pipeline.flows {
            let Some(target) = catalog.target(p, &flow.target).and_then(|id| nodes.get(&id)) else { continue };
            for name in tables(&flow.plan) {
                if let Target::Dataset(id) = catalog.table(p, name)
                    && let Some(source) = nodes.get(&id)
                {
                    graph.update_edge(*source, *target, ());
                }
            }
        }
    }
    let components = tarjan_scc(&graph);
    let mut level: BTreeMap<DatasetId, usize> = BTreeMap::new();
    let mut cyclic = Vec::new();
    // Components come in reverse topological order: readers before what they read.
    for component in components.iter().rev() {
        let depth = component
            .iter()
            .flat_map(|node| graph.neighbors_directed(*node, petgraph::Direction::Incoming))
            .filter_map(|source| graph.node_weight(source).and_then(|id| level.get(id)))
            .max()
            .map_or(0, |deepest| deepest + 1);
        let members: Vec<DatasetId> = component.iter().filter_map(|n| graph.node_weight(*n)).copied().collect();
        let is_cycle = members.len() > 1 || component.iter().any(|n| graph.contains_edge(*n, *n));
        for id in &members {
            level.insert(*id, depth);
        }
        if is_cycle {
            let mut members = members;
            members.sort_unstable();
            cyclic.push(members);
        }
    }
    let mut generations: Vec<Vec<DatasetId>> = Vec::new();
    for (id, depth) in level {
        if generations.len() <= depth {
            generations.resize(depth + 1, Vec::new());
        }
        if let Some(generation) = generations.get_mut(depth) {
            generation.push(id);
        }
    }
    cyclic.sort();
    Order { generations, cyclic }
}

/// Tables that a plan reads, those that are names of its own CTEs left out.
fn tables(plan: &Plan) -> Vec<&QualifiedName> {
    let mut found = Vec::new();
    collect(plan, &mut Vec::new(), &mut found, 0);
    found
}

fn collect<'p>(plan: &'p Plan, ctes: &mut Vec<Arc<str>>, found: &mut Vec<&'p QualifiedName>, depth: usize) {
    if depth > super::resolve::MAX_DEPTH {
        return;
    }
    let before = ctes.len();
    match &plan.node {
        Node::Read(read) => {
            if let Source::Table(name) | Source::ChangeFeed(name) = &read.source
                && !(name.schema.is_none() && ctes.iter().any(|cte| cte.eq_ignore_ascii_case(&name.name)))
            {
                found.push(name);
            }
        }
        Node::With { ctes: own, body, .. } => {
            for (name, cte) in own {
                collect(cte, ctes, found, depth + 1);
                ctes.push(name.clone());
            }
            collect(body, ctes, found, depth + 1);
        }
        _ => {
            for input in plan.inputs() {
                collect(input, ctes, found, depth + 1);
            }
        }
    }
    for expr in plan.expressions() {
        expr.walk(&mut |e| {
            if let Expr::Subquery { plan, .. } = e {
                collect(plan, ctes, found, depth + 1);
            }
        });
    }
    ctes.truncate(before);
}
