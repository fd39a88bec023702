//! The writer's side of a flow that is no plain append: `writeStream` queries and REPLACE flows.

use super::change::Change;
use super::comparison::Comparison;
use super::text;
use crate::model::{FlowKind, OutputMode, SinkTarget, StreamWrite};

pub fn compare(comparison: &Comparison) -> Vec<Change> {
    let pipeline = comparison.after.pipeline.key.as_str();
    match (&comparison.before.flow.kind, &comparison.after.flow.kind) {
        (FlowKind::StreamJob(old), FlowKind::StreamJob(new)) => compare_writers(pipeline, old, new),
        (FlowKind::ReplaceWhere(old), FlowKind::ReplaceWhere(new)) if old != new => {
            vec![Change::new("replace-where-changed", pipeline).values(text::expression(old), text::expression(new))]
        }
        (
            FlowKind::ReplaceUsing { keys: old, sequence_by: before },
            FlowKind::ReplaceUsing { keys: new, sequence_by: after },
        ) => {
            let folded = |keys: &[String]| keys.iter().map(|key| key.to_lowercase()).collect::<Vec<_>>();
            let mut changes = Vec::new();
            if folded(old) != folded(new) {
                let change = Change::new("replace-using-changed", pipeline).values(folded(old), folded(new));
                changes.push(change.fact("aspect", "keys"));
            }
            if before != after {
                let shown = |expr: &Option<_>| expr.as_ref().map(text::expression).unwrap_or_default();
                let change = Change::new("replace-using-changed", pipeline).values(shown(before), shown(after));
                changes.push(change.fact("aspect", "sequence"));
            }
            changes
        }
        _ => Vec::new(),
    }
}

fn compare_writers(pipeline: &str, old: &StreamWrite, new: &StreamWrite) -> Vec<Change> {
    let mut changes = Vec::new();
    let checkpoint = |writer: &StreamWrite| writer.checkpoint.as_deref().map(|p| p.trim_end_matches('/').to_owned());
    if checkpoint(old) != checkpoint(new) {
        let shown = |writer| checkpoint(writer).unwrap_or_default();
        changes.push(Change::new("checkpoint-location-changed", pipeline).values(shown(old), shown(new)));
    }
    if old.output_mode != new.output_mode {
        let shown = |mode| match mode {
            OutputMode::Append => "append",
            OutputMode::Update => "update",
            OutputMode::Complete => "complete",
        };
        let change = Change::new("output-mode-changed", pipeline);
        changes.push(change.values(shown(old.output_mode), shown(new.output_mode)));
    }
    let (b, a) = (target(&old.target), target(&new.target));
    if b != a {
        changes.push(Change::new("write-target-changed", pipeline).values(b, a));
    }
    if let (SinkTarget::ForeachBatch(b), SinkTarget::ForeachBatch(a)) = (&old.target, &new.target)
        && b.content != a.content
    {
        let path = a.place.span().map(|span| span.path.to_string()).unwrap_or_default();
        let change = Change::new("code-changed", pipeline).fact("code", a.name.as_ref()).fact("code_path", path);
        changes.push(change.fact("resolved", true).places(&b.place, &a.place));
    }
    changes
}

fn target(target: &SinkTarget) -> String {
    match target {
        SinkTarget::Table(name) => name.key(),
        SinkTarget::Path { format, path } => format!("{format} files in {}", path.trim_end_matches('/')),
        SinkTarget::Connector { format } => format.clone(),
        SinkTarget::ForeachBatch(_) => "a foreachBatch function".to_owned(),
        SinkTarget::Unknown(text) => text.clone(),
    }
}
