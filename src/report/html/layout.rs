//! Places for the nodes of a graph: layers from left to right, the order inside a layer by the neighbours' places.

use crate::verdict::Lineage;

pub const NODE_WIDTH: usize = 240;
pub const NODE_HEIGHT: usize = 46;
const COLUMN: usize = NODE_WIDTH + 80;
const ROW: usize = NODE_HEIGHT + 18;
const MARGIN: usize = 12;
/// Passes over the layers that bring neighbours together.
const SWEEPS: usize = 4;

/// Left upper corner of each node, and the size of the whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    pub corners: Vec<(usize, usize)>,
    pub width: usize,
    pub height: usize,
}

pub fn layout(lineage: &Lineage) -> Layout {
    let layer_of = lineage.layers();
    let depth = layer_of.iter().max().map_or(0, |deepest| deepest + 1);
    let mut layers: Vec<Vec<usize>> = vec![Vec::new(); depth];
    for (node, layer) in layer_of.iter().enumerate() {
        if let Some(members) = layers.get_mut(*layer) {
            members.push(node);
        }
    }
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); lineage.nodes.len()];
    for edge in &lineage.edges {
        for (one, other) in [(edge.from, edge.to), (edge.to, edge.from)] {
            if let Some(list) = neighbours.get_mut(one) {
                list.push(other);
            }
        }
    }
    let mut rank = vec![0usize; lineage.nodes.len()];
    place(&layers, &mut rank);
    for sweep in 0..SWEEPS {
        let order: Vec<usize> = if sweep % 2 == 0 { (0..depth).collect() } else { (0..depth).rev().collect() };
        for index in order {
            if let Some(layer) = layers.get_mut(index) {
                layer.sort_by_key(|node| (barycenter(*node, &neighbours, &rank), *node));
            }
            place(&layers, &mut rank);
        }
    }
    let tallest = layers.iter().map(Vec::len).max().unwrap_or(0);
    let mut corners = vec![(0, 0); lineage.nodes.len()];
    for (column, layer) in layers.iter().enumerate() {
        // Short layers stand in the middle of the tallest.
        let top = (tallest - layer.len()) * ROW / 2;
        for (row, node) in layer.iter().enumerate() {
            if let Some(corner) = corners.get_mut(*node) {
                *corner = (MARGIN + column * COLUMN, MARGIN + top + row * ROW);
            }
        }
    }
    let width = MARGIN * 2 + depth * COLUMN - if depth > 0 { COLUMN - NODE_WIDTH } else { 0 };
    Layout { corners, width, height: MARGIN * 2 + tallest * ROW }
}

fn place(layers: &[Vec<usize>], rank: &mut [usize]) {
    for layer in layers {
        // Ranks are spread over one scale, so that short and tall layers can be compared.
        for (row, node) in layer.iter().enumerate() {
            if let Some(rank) = rank.get_mut(*node) {
                *rank = (2 * row + 1) * 1_000_000 / (2 * layer.len());
            }
        }
    }
}

fn barycenter(node: usize, neighbours: &[Vec<usize>], rank: &[usize]) -> usize {
    let of = |node: &usize| rank.get(*node).copied().unwrap_or(0);
    match neighbours.get(node) {
        Some(list) if !list.is_empty() => list.iter().map(of).sum::<usize>() / list.len(),
        _ => of(&node),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{LineageEdge, LineageNode, Presence};

    #[test]
    fn no_two_nodes_share_a_place_and_edges_do_not_cross_needlessly() {
        let node = |index: usize| LineageNode { name: format!("t{index}"), kind: None, presence: Presence::Both };
        let edge = |from, to| LineageEdge { from, to, presence: Presence::Both, streaming: true };
        // Two sources, two readers, each reading the source on the other side.
        let lineage = Lineage { nodes: (0..4).map(node).collect(), edges: vec![edge(0, 3), edge(1, 2)] };
        let layout = layout(&lineage);
        let mut corners = layout.corners.clone();
        corners.sort_unstable();
        corners.dedup();
        assert_eq!(corners.len(), 4);
        let y = |index: usize| layout.corners[index].1;
        assert_eq!((y(0), y(1)), (y(3), y(2)));
        assert!(layout.corners.iter().all(|(x, y)| x + NODE_WIDTH <= layout.width && y + NODE_HEIGHT <= layout.height));
    }
}
