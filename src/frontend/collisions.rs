//! One definition a name: the first of a pipeline stands, later ones of the same name are collisions.

use crate::model::{Collision, Diagnostic, DiagnosticLevel, Flow, FlowKind, Pipeline, PipelineKind, Place};
use std::collections::BTreeMap;

/// Takes definitions out of a pipeline whose name an earlier one has. What the platform does not refuse for certain (a name that
/// is not known, a bare folder that may hold one pipeline in two languages) is a diagnostic only.
pub(super) fn separate(pipeline: &mut Pipeline) -> Vec<Diagnostic> {
    // Two queries of plain jobs may write one table: their checkpoints tell them apart.
    if pipeline.kind == PipelineKind::Jobs {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut tables: BTreeMap<String, Place> = BTreeMap::new();
    pipeline.datasets.retain(|dataset| match tables.get(&dataset.name.key()) {
        Some(first) => {
            let uncertain = dataset.template || dataset.name.is_template();
            found.push((collision("table", dataset.name.to_string(), &dataset.place, first), uncertain));
            false
        }
        None => {
            tables.insert(dataset.name.key(), dataset.place.clone());
            true
        }
    });
    let mut flows: BTreeMap<String, (String, Place)> = BTreeMap::new();
    pipeline.flows.retain(|flow| match flows.get(&flow_key(flow)) {
        Some((target, first)) => {
            // The second query of a table that is defined twice is reported with the table.
            let of_table = *target == flow.target.key() && flow.kind == FlowKind::Default;
            let uncertain = flow.name.contains('{') || flow.target.is_template();
            if !of_table {
                found.push((collision("flow", flow.name.clone(), &flow.place, first), uncertain));
            }
            *target != flow.target.key()
        }
        None => {
            flows.insert(flow_key(flow), (flow.target.key(), flow.place.clone()));
            true
        }
    });
    let mut notes = Vec::new();
    for (collision, uncertain) in found {
        if uncertain || !run_together(pipeline.kind, &collision) {
            notes.push(left_out(&collision));
        } else {
            pipeline.collisions.push(collision);
        }
    }
    notes
}

/// Flows of a pipeline have their checkpoints by their name alone, except the one that a table's own definition gives.
fn flow_key(flow: &Flow) -> String {
    match flow.kind {
        FlowKind::Default => flow.target.key(),
        _ => flow.name.to_lowercase(),
    }
}

fn collision(aspect: &'static str, name: String, place: &Place, first: &Place) -> Collision {
    Collision { aspect, name, place: place.clone(), first: first.clone() }
}

/// Files of a bare folder may be versions of one pipeline in two languages.
fn run_together(kind: PipelineKind, collision: &Collision) -> bool {
    let language = |place: &Place| {
        let path = place.span().map(|span| span.path.to_string())?;
        path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase())
    };
    kind != PipelineKind::Folder || language(&collision.place) == language(&collision.first)
}

fn left_out(collision: &Collision) -> Diagnostic {
    let first = collision.first.span().map(|span| format!("{}:{}", span.path, span.line)).unwrap_or_default();
    let message = format!(
        "{} `{}` is defined a second time; the definition at {first} is analysed",
        collision.aspect, collision.name
    );
    let note = Diagnostic::new(DiagnosticLevel::Warning, "duplicate-dataset", message)
        .with_help("rename one of them, or keep them in separate pipelines");
    match collision.place.span() {
        Some(span) => note.at(span),
        None => note,
    }
}
