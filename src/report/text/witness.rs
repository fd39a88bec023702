//! The rows that prove it, as small tables: what the sources held, the table as it will be, and as a full refresh would make it.

use super::{Paint, table};
use crate::confirm::{Witness, WitnessRow};
use crate::engine::Record;
use crate::report::{Confirmation, FlowVerdict, safe};
use serde_json::Value;
use std::fmt::Write as _;

/// Rows of one table shown at most.
const ROWS_SHOWN: usize = 8;

pub fn write(out: &mut String, flow: &FlowVerdict, paint: Paint) {
    let Some(Confirmation::Ran { run, .. }) = &flow.confirmation else { return };
    if let Some(class) = &run.error_class {
        let _ = writeln!(out, "  the engine refuses with {}", safe::inline(class));
    }
    let Some(witness) = &run.witness else { return };
    if witness.rows() == 0 {
        return;
    }
    let _ = writeln!(out, "  {}", paint.bold("witness"));
    sources(out, witness, paint);
    if run.error_class.is_none() {
        rows(out, "the table as it will be", &witness.columns, &witness.resumed, paint);
        rows(out, "as a full refresh would make it", &witness.columns, &witness.full_refresh, paint);
    }
    if !run.uninterpreted.is_empty() {
        let names: Vec<_> = run.uninterpreted.iter().map(|name| safe::inline(name)).collect();
        let _ = writeln!(out, "    {}", paint.dim(&format!("uninterpreted functions: {}", names.join(", "))));
    }
}

fn sources(out: &mut String, witness: &Witness, paint: Paint) {
    for source in &witness.sources {
        for (index, batch) in source.batches.iter().enumerate().filter(|(_, batch)| !batch.is_empty()) {
            let when = if index == 0 { "read before the change" } else { "read after the change" };
            let _ = writeln!(out, "    {} {}", safe::inline(&source.name), paint.dim(&format!("({when})")));
            let columns: Vec<String> = batch.first().map(|row| row.keys().cloned().collect()).unwrap_or_default();
            let lines: Vec<_> = batch.iter().map(|row| cells(row, &columns, &[], paint)).collect();
            write_rows(out, &columns, lines);
        }
    }
}

fn rows(out: &mut String, title: &str, columns: &[String], rows: &[WitnessRow], paint: Paint) {
    let _ = writeln!(out, "    {title}");
    if rows.is_empty() {
        let _ = writeln!(out, "      {}", paint.dim("(no rows)"));
        return;
    }
    let lines: Vec<_> = rows
        .iter()
        .map(|row| {
            let mut line = cells(&row.record, columns, &row.cells, paint);
            if row.differs {
                line.push(("◄".to_owned(), paint.bold("◄")));
            }
            line
        })
        .collect();
    write_rows(out, columns, lines);
}

fn write_rows(out: &mut String, columns: &[String], lines: Vec<Vec<(String, String)>>) {
    let left_out = lines.len().saturating_sub(ROWS_SHOWN);
    let header = columns.iter().map(|name| (safe::inline(name), safe::inline(name))).collect();
    let mut all: Vec<Vec<(String, String)>> = vec![header];
    all.extend(lines.into_iter().take(ROWS_SHOWN));
    table::write(out, &all, "      ", usize::MAX);
    if left_out > 0 {
        let _ = writeln!(out, "      … and {left_out} more");
    }
}

fn cells(row: &Record, columns: &[String], differing: &[String], paint: Paint) -> Vec<(String, String)> {
    columns
        .iter()
        .map(|column| {
            let text = safe::inline(&cell(row.get(column)));
            let printed = if differing.contains(column) { paint.bold(&text) } else { text.clone() };
            (text, printed)
        })
        .collect()
}

/// A value as a cell shows it.
pub fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "NULL".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
