//! The affected part of the graph as SVG. A node links to its section, so that a click needs no script.

use super::layout::{NODE_HEIGHT, NODE_WIDTH, layout};
use crate::model::{DatasetKind, Effect};
use crate::report::diagram::weight;
use crate::report::safe::markup;
use crate::verdict::{Lineage, LineageNode, Presence, Standing};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Characters of a name that fit into a node.
const NAME_SHOWN: usize = 32;

/// `sections` tells the id of a table's section, where it has one.
pub fn svg(lineage: &Lineage, standings: &BTreeMap<String, Standing>, sections: &BTreeMap<String, String>) -> String {
    let layout = layout(lineage);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"Lineage of the affected tables\">\n",
        layout.width, layout.height
    );
    out.push_str("<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\"/></marker></defs>\n");
    for edge in &lineage.edges {
        let (Some((x1, y1)), Some((x2, y2))) = (layout.corners.get(edge.from), layout.corners.get(edge.to)) else {
            continue;
        };
        let (x1, y1, y2) = (x1 + NODE_WIDTH, y1 + NODE_HEIGHT / 2, y2 + NODE_HEIGHT / 2);
        let bend = x1.abs_diff(*x2) / 2;
        let presence = match edge.presence {
            Presence::Before => "gone",
            Presence::After => "new",
            Presence::Both => "kept",
        };
        let kind = if edge.streaming { "streaming" } else { "batch" };
        let _ = writeln!(
            out,
            "<path class=\"edge {presence} {kind}\" d=\"M{x1} {y1}C{} {y1} {} {y2} {x2} {y2}\" marker-end=\"url(#arrow)\"/>",
            x1 + bend,
            x2.saturating_sub(bend)
        );
    }
    for (node, corner) in lineage.nodes.iter().zip(&layout.corners) {
        draw(&mut out, node, *corner, standings.get(&node.name).copied(), sections.get(&node.name));
    }
    out.push_str("</svg>\n");
    out
}

fn draw(
    out: &mut String,
    node: &LineageNode,
    (x, y): (usize, usize),
    standing: Option<Standing>,
    section: Option<&String>,
) {
    let effect = standing.map(|standing| standing.effect);
    let class = effect.map_or("plain", |effect| weight(effect).class());
    let presence = match node.presence {
        Presence::Before => " gone",
        Presence::After => " new",
        Presence::Both => "",
    };
    let title = markup(&node.name);
    if let Some(id) = section {
        let _ = write!(out, "<a href=\"#{id}\" data-section=\"{id}\">");
    }
    let _ = write!(out, "<g class=\"node {class}{presence}\" data-name=\"{title}\"><title>{title}</title>");
    out.push_str(&shape(effect, node.kind, x, y));
    let name: String = shortened(&node.name);
    let _ = write!(out, "<text x=\"{}\" y=\"{}\">{}</text>", x + 18, y + 19, markup(&name));
    let kind = match node.kind {
        None => "source",
        Some(DatasetKind::StreamingTable) => "streaming table",
        Some(DatasetKind::MaterializedView) => "materialized view",
        Some(DatasetKind::View) => "view",
        Some(DatasetKind::Sink) => "sink",
        Some(DatasetKind::Table) => "table",
    };
    let state = match (effect, presence) {
        (Some(effect), _) if effect != Effect::None => format!(" · {effect}"),
        (_, "") => String::new(),
        (_, presence) => format!(" ·{presence}"),
    };
    let _ = write!(out, "<text class=\"kind\" x=\"{}\" y=\"{}\">{kind}{state}</text></g>", x + 18, y + 36);
    out.push_str(if section.is_some() { "</a>\n" } else { "\n" });
}

/// The effect's weight shows in the outline, for those who see no colour: harmful has cut corners, notable a slanted side,
/// a source round ends.
fn shape(effect: Option<Effect>, kind: Option<DatasetKind>, x: usize, y: usize) -> String {
    let (right, bottom) = (x + NODE_WIDTH, y + NODE_HEIGHT);
    match (effect.map(|effect| weight(effect).class()), kind) {
        (Some("harmful"), _) => format!(
            "<path d=\"M{} {y}H{}L{right} {}V{}L{} {bottom}H{}L{x} {}V{}z\"/>",
            x + 10,
            right - 10,
            y + 10,
            bottom - 10,
            right - 10,
            x + 10,
            bottom - 10,
            y + 10
        ),
        (Some("notable"), _) => format!("<path d=\"M{} {y}H{right}L{} {bottom}H{x}z\"/>", x + 12, right - 12),
        (_, None) => format!("<rect x=\"{x}\" y=\"{y}\" width=\"{NODE_WIDTH}\" height=\"{NODE_HEIGHT}\" rx=\"23\"/>"),
        _ => format!("<rect x=\"{x}\" y=\"{y}\" width=\"{NODE_WIDTH}\" height=\"{NODE_HEIGHT}\" rx=\"3\"/>"),
    }
}

/// The end of a long name tells more than its start.
fn shortened(name: &str) -> String {
    let count = name.chars().count();
    if count <= NAME_SHOWN {
        return name.to_owned();
    }
    format!("…{}", name.chars().skip(count + 1 - NAME_SHOWN).collect::<String>())
}
