//! One checkpoint for people (`pipelint show --checkpoint`), and as JSON.

use super::safe;
use crate::checkpoint::{Checkpoint, StoredOperator};
use crate::model::Schema;
use crate::verdict::CheckpointVerdict;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The table and flow, or the folder alone.
pub fn subject(checkpoint: &CheckpointVerdict) -> String {
    match &checkpoint.flow {
        None => checkpoint.path.clone(),
        Some(flow) if flow.flow == flow.dataset.to_string() || flow.flow == flow.dataset.name => {
            flow.dataset.to_string()
        }
        Some(flow) => format!("{} (flow {})", flow.dataset, flow.flow),
    }
}

/// Milliseconds since 1970 in UTC.
pub fn instant(milliseconds: i64) -> String {
    match jiff::Timestamp::from_millisecond(milliseconds) {
        Ok(instant) => instant.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => format!("{milliseconds} ms"),
    }
}

/// As `checkpoints[]` of a report.
pub fn verdict(checkpoint: &CheckpointVerdict) -> Value {
    let flow = checkpoint.flow.as_ref();
    json!({
        "path": checkpoint.path,
        "pipeline": flow.map(|flow| flow.pipeline.as_str()),
        "dataset": flow.map(|flow| flow.dataset.to_string()),
        "flow": flow.map(|flow| flow.flow.as_str()),
        "verdict": checkpoint.resumption.as_str(),
        "error_class": checkpoint.error_class,
        "error": checkpoint.error,
        "batch": checkpoint.batch,
        "committed": checkpoint.committed,
        "watermark_ms": checkpoint.watermark,
        "planned_at_ms": checkpoint.planned_at,
        "sources": checkpoint.sources.iter().map(|source| json!({
            "source": source.key, "kind": source.kind, "offset": source.offset, "behind": source.behind,
        })).collect::<Vec<_>>(),
        "schemas": checkpoint.schemas.iter().map(|pair| json!({
            "operator": pair.operator, "store": pair.store, "part": pair.part,
            "checkpoint": pair.checkpoint, "code": pair.code, "file": pair.file,
        })).collect::<Vec<_>>(),
        "not_known": checkpoint.open,
        "assumed": checkpoint.assumed,
        "problems": checkpoint.problems.iter().map(|problem| json!({
            "file": problem.file, "kind": problem.kind.as_str(), "reason": problem.reason,
        })).collect::<Vec<_>>(),
    })
}

/// What a checkpoint holds, for somebody who is woken by its query.
pub fn text(checkpoints: &[Checkpoint]) -> String {
    let mut out = String::new();
    for checkpoint in checkpoints {
        if !out.is_empty() {
            out.push('\n');
        }
        one(&mut out, checkpoint);
    }
    out
}

fn one(out: &mut String, held: &Checkpoint) {
    let path = if held.location.path.is_empty() { "." } else { &held.location.path };
    let query = held.query.as_deref().map(|id| format!("  query {}", safe::inline(id))).unwrap_or_default();
    let _ = writeln!(out, "checkpoint {}{query}", safe::inline(path));
    match held.last() {
        None => {
            let _ = writeln!(out, "  nothing was planned yet");
        }
        Some(entry) => {
            let state = if held.is_uncommitted() { "planned and NOT committed: it runs again" } else { "committed" };
            let _ = writeln!(out, "  batch {}, {state}; planned {}", entry.batch, instant(entry.timestamp));
            if held.watermark() > 0 {
                let _ = writeln!(out, "  watermark {}", instant(held.watermark()));
            }
            let _ = writeln!(out, "  sources");
            for (key, offset) in entry.sources.iter() {
                let (kind, text) = offset.map_or(("-", "nothing read yet"), |o| (o.form.kind(), o.text.as_str()));
                let _ = writeln!(out, "    {}: {kind} {}", safe::inline(&key), safe::inline(text));
                let files = held.sources.get(&key).and_then(|log| log.files.values().next_back()).into_iter().flatten();
                for file in files.take(3) {
                    let _ = writeln!(out, "       last read {}", safe::inline(file));
                }
            }
        }
    }
    if !held.operators.is_empty() {
        let _ = writeln!(out, "  state");
        held.operators.iter().for_each(|operator| state(out, operator));
    }
    if let Some(entry) = held.last().filter(|entry| !entry.configuration.is_empty()) {
        let _ = writeln!(out, "  configuration that a restart takes from here");
        for (key, value) in &entry.configuration {
            let _ = writeln!(out, "    {} = {}", safe::inline(key), safe::inline(value));
        }
    }
    if !held.problems.is_empty() {
        let _ = writeln!(out, "  problems");
        for problem in &held.problems {
            let _ = writeln!(
                out,
                "    {} ({}): {}",
                safe::inline(&problem.file),
                problem.kind.as_str(),
                safe::inline(&problem.reason)
            );
        }
    }
}

fn state(out: &mut String, stored: &StoredOperator) {
    let operator = &stored.operator;
    let name = if operator.name.is_empty() { "(name not recorded)" } else { &operator.name };
    let partitions = stored.metadata.as_ref().and_then(|metadata| metadata.partitions);
    let partitions = partitions.map(|count| format!(", {count} partitions")).unwrap_or_default();
    let _ = writeln!(out, "    {} {}{partitions}", operator.id, safe::inline(name));
    for (aspect, values) in &operator.semantics {
        let _ = writeln!(out, "      {aspect}: {}", safe::inline(&values.join(", ")));
    }
    for store in &operator.stores {
        let _ = writeln!(out, "      {}: key ({})", safe::inline(&store.store), columns(&store.key));
        let _ = writeln!(out, "      {}  value ({})", " ".repeat(store.store.chars().count()), columns(&store.value));
    }
}

fn columns(schema: &Schema) -> String {
    let columns = schema.fields.iter().map(|field| format!("{} {}", field.name, field.data_type));
    safe::inline(&columns.collect::<Vec<_>>().join(", "))
}

/// The same as JSON.
pub fn json(checkpoints: &[Checkpoint]) -> String {
    let list: Vec<Value> = checkpoints.iter().map(value).collect();
    format!("{:#}\n", json!({ "checkpoints": list }))
}

fn value(held: &Checkpoint) -> Value {
    let last = held.last();
    let schema = |schema: &Schema| -> Vec<Value> {
        schema.fields.iter().map(|f| json!({ "name": f.name, "type": f.data_type.to_string() })).collect()
    };
    json!({
        "path": held.location.path,
        "query": held.query,
        "batch": last.map(|entry| entry.batch),
        "committed": held.commits.last().map(|commit| commit.batch),
        "watermark_ms": last.map(|_| held.watermark()),
        "planned_at_ms": last.map(|entry| entry.timestamp),
        "sources": last.map(|entry| entry.sources.iter().map(|(key, offset)| json!({
            "source": key, "kind": offset.map(|o| o.form.kind()), "offset": offset.map(|o| o.text.as_str()),
        })).collect::<Vec<_>>()),
        "configuration": last.map(|entry| &entry.configuration),
        "operators": held.operators.iter().map(|stored| json!({
            "id": stored.operator.id,
            "name": stored.operator.name.as_ref(),
            "partitions": stored.metadata.as_ref().and_then(|metadata| metadata.partitions),
            "stores": stored.operator.stores.iter().map(|store| json!({
                "store": store.store.as_ref(), "key": schema(&store.key), "value": schema(&store.value),
            })).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "problems": held.problems.iter().map(|problem| json!({
            "file": problem.file, "kind": problem.kind.as_str(), "reason": problem.reason,
        })).collect::<Vec<_>>(),
    })
}
