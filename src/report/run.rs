//! What `pipelint run` tells: every update with what each flow did, then the tables.

use super::safe;
use super::text::table::{self, Cell};
use super::text::{Paint, counted};
use crate::engine::{FlowStatus, Progress, Stage, UpdateKind};
use crate::run::{FlowRun, RunReport, TableContents, UpdateRun};
use serde_json::{Value, json};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// For people; `rows` of a table are shown at most.
pub fn text(report: &RunReport, colors: bool, rows: usize) -> String {
    let paint = Paint { colors };
    let mut out = String::new();
    for update in &report.updates {
        write_update(&mut out, update, paint);
    }
    for contents in &report.tables {
        write_table(&mut out, contents, rows, paint);
    }
    let mut notes = report.notes.clone();
    let strange = uninterpreted(report);
    if !strange.is_empty() {
        notes.push(format!(
            "functions that pipelint cannot evaluate (their values are placeholders): {}",
            strange.join(", ")
        ));
    }
    notes.extend(report.substitutions.iter().map(|s| format!("for {} stood {}", s.what, s.by)));
    for note in &notes {
        let _ = writeln!(out, "{} {}", paint.bold("note:"), safe::inline(note));
    }
    out
}

fn write_update(out: &mut String, update: &UpdateRun, paint: Paint) {
    let title = format!("update {}: {}", update.number, kind(&update.update));
    let _ = writeln!(out, "{} {}", paint.bold(&safe::inline(&title)), paint.dim(&safe::inline(&update.code)));
    if let Some((number, counts)) = &update.arrived {
        let rows: Vec<String> =
            counts.iter().map(|(source, rows)| format!("{source} {}", counted(*rows, "row"))).collect();
        let rows = if rows.is_empty() { "nothing that a flow reads".to_owned() } else { rows.join(", ") };
        let _ = writeln!(out, "  {}", paint.dim(&safe::inline(&format!("batch {number} arrives: {rows}"))));
    }
    let lines: Vec<Vec<Cell>> = update
        .flows
        .iter()
        .map(|flow| {
            let word = word(&flow.status);
            let painted = match &flow.status {
                FlowStatus::Completed(_) => paint.wrap("32", word),
                FlowStatus::Failed { .. } => paint.wrap("1;31", word),
                _ => paint.dim(word),
            };
            let word = Cell { text: word.to_owned(), printed: painted };
            vec![word, Cell::plain(&safe::inline(&subject(flow))), Cell::plain(&safe::inline(&told(flow)))]
        })
        .collect();
    table::write(out, &lines, "  ");
    out.push('\n');
}

fn kind(update: &UpdateKind) -> String {
    let names =
        |names: &[crate::model::QualifiedName]| names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match update {
        UpdateKind::Incremental => "incremental".to_owned(),
        UpdateKind::FullRefreshAll => "full refresh of everything".to_owned(),
        UpdateKind::FullRefresh(selection) => format!("full refresh of {}", names(selection)),
        UpdateKind::Refresh(selection) => format!("incremental, only {}", names(selection)),
    }
}

fn word(status: &FlowStatus) -> &'static str {
    match status {
        FlowStatus::Completed(_) => "completed",
        FlowStatus::Failed { error, .. } if error.is_unsupported() => "not run",
        FlowStatus::Failed { .. } => "failed",
        FlowStatus::Skipped => "skipped",
        FlowStatus::Excluded => "not selected",
    }
}

fn subject(flow: &FlowRun) -> String {
    let dataset = flow.dataset.to_string();
    let is_default = flow.flow.eq_ignore_ascii_case(&flow.dataset.name) || flow.flow.eq_ignore_ascii_case(&dataset);
    if is_default { dataset } else { format!("{dataset} (flow {})", flow.flow) }
}

fn told(flow: &FlowRun) -> String {
    match &flow.status {
        FlowStatus::Completed(progress) => flow.table_rows.map_or_else(|| did(progress), grew),
        FlowStatus::Failed { error, .. } if error.is_unsupported() => error.message.clone(),
        FlowStatus::Failed { stage, error } => {
            let when = match stage {
                Stage::Graph => "before anything ran: ",
                Stage::Materialization => "while tables were made ready: ",
                Stage::Flow => "",
            };
            format!("{when}{}: {}", error.class, error.message)
        }
        FlowStatus::Skipped => "a table that it reads was not updated, or the update stopped".to_owned(),
        FlowStatus::Excluded => String::new(),
    }
}

/// What became of a table, by its number of rows.
fn grew((before, after): (usize, usize)) -> String {
    let rows = counted(after, "row");
    match after.cmp(&before) {
        Ordering::Equal => format!("{rows}, as many as before"),
        Ordering::Greater => format!("{rows}, {} more", after - before),
        Ordering::Less => format!("{rows}, {} fewer", before - after),
    }
}

fn did(progress: &Progress) -> String {
    if progress.batches == 0 {
        return "nothing new".to_owned();
    }
    let batches = if progress.batches == 1 { "1 batch".to_owned() } else { format!("{} batches", progress.batches) };
    let start = if progress.from_nothing { ", from the beginning of its sources" } else { "" };
    format!("{} in {batches}{start}", counted(progress.rows, "row"))
}

fn write_table(out: &mut String, contents: &TableContents, limit: usize, paint: Paint) {
    let count = counted(contents.rows.len(), "row");
    let _ = writeln!(out, "{} {}", paint.bold(&safe::inline(&contents.name)), paint.dim(&format!("({count})")));
    let plain = |text: String| Cell::plain(&safe::inline(&text));
    let header = |name: &String| Cell { text: safe::inline(name), printed: paint.dim(&safe::inline(name)) };
    let mut lines: Vec<Vec<Cell>> = vec![contents.columns.iter().map(header).collect()];
    for row in contents.rows.iter().take(limit) {
        lines.push(contents.columns.iter().map(|column| plain(super::text::cell(row.get(column)))).collect());
    }
    if !contents.rows.is_empty() {
        table::write(out, &lines, "  ");
    }
    if contents.rows.len() > limit {
        let _ = writeln!(out, "  … and {} more (--rows shows more)", contents.rows.len() - limit);
    }
    out.push('\n');
}

fn uninterpreted(report: &RunReport) -> Vec<String> {
    let flows = report.updates.iter().flat_map(|update| &update.flows);
    let names: BTreeSet<String> = flows
        .filter_map(|flow| match &flow.status {
            FlowStatus::Completed(progress) => Some(progress.uninterpreted.iter().cloned()),
            _ => None,
        })
        .flatten()
        .collect();
    names.into_iter().collect()
}

/// For programs; all rows.
pub fn json(report: &RunReport) -> String {
    let value = json!({
        "schema_version": 1,
        "tool": super::json::tool(),
        "engine": report.engine,
        "substitutions": report.substitutions.iter().map(|s| json!({ "what": s.what, "by": s.by })).collect::<Vec<_>>(),
        "updates": report.updates.iter().map(update_json).collect::<Vec<_>>(),
        "tables": report.tables.iter().map(|contents| json!({
            "name": contents.name,
            "columns": contents.columns,
            "rows": contents.rows,
        })).collect::<Vec<_>>(),
        "uninterpreted": uninterpreted(report),
        "notes": report.notes,
    });
    format!("{value:#}\n")
}

fn update_json(update: &UpdateRun) -> Value {
    json!({
        "number": update.number,
        "code": update.code,
        "update": kind(&update.update),
        "batch": update.arrived.as_ref().map(|(number, rows)| json!({ "number": number, "rows": rows })),
        "flows": update.flows.iter().map(flow_json).collect::<Vec<_>>(),
    })
}

fn flow_json(flow: &FlowRun) -> Value {
    let (mut rows, mut batches, mut from_nothing) = (Value::Null, Value::Null, Value::Null);
    let (mut class, mut message) = (Value::Null, Value::Null);
    match &flow.status {
        FlowStatus::Completed(progress) if flow.table_rows.is_none() => {
            (rows, batches) = (progress.rows.into(), progress.batches.into());
            from_nothing = progress.from_nothing.into();
        }
        FlowStatus::Failed { error, .. } => {
            (class, message) = (error.class.as_str().into(), error.message.as_str().into());
        }
        FlowStatus::Completed(_) | FlowStatus::Skipped | FlowStatus::Excluded => {}
    }
    json!({
        "pipeline": flow.pipeline,
        "flow": flow.flow,
        "dataset": flow.dataset.to_string(),
        "status": word(&flow.status).replace(' ', "-"),
        "rows": rows,
        "batches": batches,
        "from_nothing": from_nothing,
        "table_rows": flow.table_rows.map(|(before, after)| json!({ "before": before, "after": after })),
        "error_class": class,
        "message": message,
    })
}
