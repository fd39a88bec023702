//! The lineage graph as text for Mermaid and Graphviz.

use super::safe;
use crate::model::{DatasetKind, Effect};
use crate::verdict::Report;
use crate::verdict::{Lineage, LineageEdge, LineageNode, Presence, Standing, standings};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Nodes drawn at most: larger pictures help nobody.
const NODES_SHOWN: usize = 80;

/// The affected part as a Mermaid flowchart; nothing where nothing is affected.
pub fn mermaid(report: &Report) -> String {
    let standings = standings(report);
    mermaid_of(&report.lineage.affected(&standings), &standings)
}

/// The affected part as a Graphviz graph.
pub fn dot(report: &Report) -> String {
    let standings = standings(report);
    dot_of(&report.lineage.affected(&standings), &standings)
}

/// A graph as a Mermaid flowchart. Effects show by colour, by the node's shape and in words.
pub fn mermaid_of(lineage: &Lineage, standings: &BTreeMap<String, Standing>) -> String {
    let mut out = String::from("flowchart LR\n");
    for (index, node) in lineage.nodes.iter().enumerate().take(NODES_SHOWN) {
        let standing = standings.get(&node.name).copied();
        let label = mermaid_text(&label(node, standing));
        let (open, close) = match (standing.map(|s| weight(s.effect)), node.kind) {
            (_, None) => ("([", "])"),
            (Some(Weight::Harmful), _) => ("{{", "}}"),
            (_, Some(DatasetKind::MaterializedView)) => ("[/", "/]"),
            _ => ("[", "]"),
        };
        let class = standing.map(|s| format!(":::{}", weight(s.effect).class())).unwrap_or_default();
        let _ = writeln!(out, "  n{index}{open}\"{label}\"{close}{class}");
    }
    for edge in shown_edges(lineage) {
        let arrow = match (edge.presence, edge.streaming) {
            (Presence::Both, true) => "-->",
            (Presence::Both, false) => "-.->",
            (Presence::After, _) => "-- new -->",
            (Presence::Before, _) => "-- gone --x",
        };
        let _ = writeln!(out, "  n{} {arrow} n{}", edge.from, edge.to);
    }
    if lineage.nodes.len() > NODES_SHOWN {
        let _ = writeln!(out, "  more[\"… and {} more\"]", lineage.nodes.len() - NODES_SHOWN);
    }
    for weight in [Weight::Harmless, Weight::Notable, Weight::Harmful] {
        let _ = writeln!(out, "  classDef {} {}", weight.class(), weight.style());
    }
    out
}

/// A graph for Graphviz.
pub fn dot_of(lineage: &Lineage, standings: &BTreeMap<String, Standing>) -> String {
    let mut out = String::from("digraph pipelint {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n");
    for (index, node) in lineage.nodes.iter().enumerate() {
        let standing = standings.get(&node.name).copied();
        let shape = match (standing.map(|s| weight(s.effect)), node.kind) {
            (_, None) => "ellipse",
            (Some(Weight::Harmful), _) => "octagon",
            (_, Some(DatasetKind::MaterializedView)) => "parallelogram",
            _ => "box",
        };
        let fill =
            standing.map(|s| format!(", style=filled, fillcolor=\"{}\"", weight(s.effect).fill())).unwrap_or_default();
        let _ = writeln!(out, "  n{index} [label=\"{}\", shape={shape}{fill}];", dot_text(&label(node, standing)));
    }
    for edge in &lineage.edges {
        let style = match (edge.presence, edge.streaming) {
            (Presence::Before, _) => " [style=dotted, label=\"gone\"]",
            (Presence::After, _) => " [style=bold, label=\"new\"]",
            (Presence::Both, false) => " [style=dashed]",
            (Presence::Both, true) => "",
        };
        let _ = writeln!(out, "  n{} -> n{}{style};", edge.from, edge.to);
    }
    out.push_str("}\n");
    out
}

fn shown_edges(lineage: &Lineage) -> impl Iterator<Item = &LineageEdge> {
    lineage.edges.iter().filter(|edge| edge.from.max(edge.to) < NODES_SHOWN)
}

fn label(node: &LineageNode, standing: Option<Standing>) -> String {
    let presence = match node.presence {
        Presence::Before => " (gone)",
        Presence::After => " (new)",
        Presence::Both => "",
    };
    match standing {
        Some(standing) if standing.effect != Effect::None => format!("{}{presence}\n{}", node.name, standing.effect),
        _ => format!("{}{presence}", node.name),
    }
}

/// How much an effect weighs in a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    Harmless,
    Notable,
    Harmful,
}

pub fn weight(effect: Effect) -> Weight {
    match effect {
        Effect::None | Effect::Ignored => Weight::Harmless,
        Effect::Mixed | Effect::Unknown | Effect::Recomputed => Weight::Notable,
        _ => Weight::Harmful,
    }
}

impl Weight {
    pub fn class(self) -> &'static str {
        match self {
            Weight::Harmless => "harmless",
            Weight::Notable => "notable",
            Weight::Harmful => "harmful",
        }
    }

    fn fill(self) -> &'static str {
        match self {
            Weight::Harmless => "#d9f2dc",
            Weight::Notable => "#fff0c2",
            Weight::Harmful => "#ffd6d3",
        }
    }

    fn style(self) -> &'static str {
        match self {
            Weight::Harmless => "fill:#d9f2dc,stroke:#2b7a3d,color:#123",
            Weight::Notable => "fill:#fff0c2,stroke:#9a6b00,color:#123",
            Weight::Harmful => "fill:#ffd6d3,stroke:#b3261e,color:#123,stroke-width:2px",
        }
    }
}

/// Text of a Mermaid label: whatever is neither a letter, a digit nor a few plain signs goes as a character number.
fn mermaid_text(text: &str) -> String {
    let mut out = String::new();
    for line in text.split('\n') {
        if !out.is_empty() {
            out.push_str("<br/>");
        }
        for c in safe::inline(line).chars() {
            if c.is_alphanumeric() || " _.-/:,()…".contains(c) {
                out.push(c);
            } else {
                let _ = write!(out, "#{};", u32::from(c));
            }
        }
    }
    out
}

fn dot_text(text: &str) -> String {
    let lines: Vec<String> =
        text.split('\n').map(|line| safe::inline(line).replace('\\', "\\\\").replace('"', "\\\"")).collect();
    lines.join("\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_labels() {
        assert_eq!(mermaid_text("a\"]; click\n`b`<c>"), "a#34;#93;#59; click<br/>#96;b#96;#60;c#62;");
        assert_eq!(dot_text("a\\\"b"), "a\\\\\\\"b");
    }

    #[test]
    fn both_pictures_show_what_happens() {
        let node = |name: &str, kind, presence| LineageNode { name: name.to_owned(), kind, presence };
        let lineage = Lineage {
            nodes: vec![
                node("orders", Some(DatasetKind::StreamingTable), Presence::Both),
                node("raw", None, Presence::After),
            ],
            edges: vec![LineageEdge { from: 1, to: 0, presence: Presence::After, streaming: true }],
        };
        let standings =
            BTreeMap::from([("orders".to_owned(), Standing { effect: Effect::Refused, downstream: false })]);
        let mermaid = mermaid_of(&lineage, &standings);
        assert!(
            mermaid.contains("n0{{\"orders<br/>refused\"}}:::harmful\n  n1([\"raw (new)\"])\n  n1 -- new --> n0\n"),
            "{mermaid}"
        );
        let dot = dot_of(&lineage, &standings);
        assert!(
            dot.contains("n0 [label=\"orders\\nrefused\", shape=octagon, style=filled")
                && dot.contains("n1 -> n0 [style=bold"),
            "{dot}"
        );
    }
}
