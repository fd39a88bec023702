//! The rows that prove it, as small tables: what the sources held, the table as it will be, and as a full refresh would make it.

use super::table::{self, Cell};
use super::{Paint, wrap};
use crate::confirm::{FlowConfirmation, Witness, WitnessRow};
use crate::engine::Record;
use crate::report::{Style, safe};
use crate::verdict::column_list;
use crate::verdict::{Confirmation, EngineName, FlowVerdict};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Rows of one table shown at most.
const ROWS_SHOWN: usize = 8;

pub fn write(out: &mut String, flow: &FlowVerdict, style: Style, paint: Paint) {
    let mut shown: Option<&Witness> = None;
    for (engine, confirmation) in flow.confirmations() {
        let Confirmation::Ran { run, .. } = confirmation else { continue };
        of_engine(out, engine, run, shown, style, paint);
        shown = shown.or(run.witness.as_ref());
    }
}

/// `shown` is the witness of another engine; the same rows are not written out twice.
fn of_engine(
    out: &mut String,
    engine: EngineName,
    run: &FlowConfirmation,
    shown: Option<&Witness>,
    style: Style,
    paint: Paint,
) {
    let name = if engine == EngineName::Spark { "Apache Spark" } else { "the engine" };
    if let Some(class) = &run.error_class {
        let _ = writeln!(out, "  {name} refuses with {}", safe::inline(class));
    }
    let Some(witness) = run.witness.as_ref().filter(|witness| witness.rows() > 0) else { return };
    let title = if engine == EngineName::Spark { "witness on Apache Spark" } else { "witness" };
    if shown == Some(witness) {
        let _ = writeln!(out, "  {}: the same rows", paint.bold(title));
        return;
    }
    let _ = writeln!(out, "  {}", paint.bold(title));
    sources(out, witness, style, paint);
    if run.error_class.is_none() {
        rows(out, "the table as it will be", &witness.columns, &witness.resumed, style, paint);
        rows(out, "as a full refresh would make it", &witness.columns, &witness.full_refresh, style, paint);
    }
    for (source, columns) in &run.inferred {
        let list = safe::inline(&column_list(columns));
        let told = format!(
            "types inferred from use: {} ({list}); to be sure, declare them in pipelint.yaml",
            safe::inline(source)
        );
        let _ = writeln!(out, "    {}", paint.dim(&wrap::hanging(&told, style.width.saturating_sub(4), 6)));
    }
    if !run.uninterpreted.is_empty() {
        let names: Vec<_> = run.uninterpreted.iter().map(|name| safe::inline(name)).collect();
        let _ = writeln!(out, "    {}", paint.dim(&format!("uninterpreted functions: {}", names.join(", "))));
    }
}

fn sources(out: &mut String, witness: &Witness, style: Style, paint: Paint) {
    for source in &witness.sources {
        for (index, batch) in source.batches.iter().enumerate().filter(|(_, batch)| !batch.is_empty()) {
            let when = if index == 0 { "read before the change" } else { "read after the change" };
            let _ = writeln!(out, "    {} {}", safe::inline(&source.name), paint.dim(&format!("({when})")));
            let columns: Vec<String> = batch.first().map(|row| row.keys().cloned().collect()).unwrap_or_default();
            let rows: Vec<Line> = batch.iter().map(|record| Line { record, differing: &[], differs: false }).collect();
            write_rows(out, &columns, &rows, style, paint);
        }
    }
}

fn rows(out: &mut String, title: &str, columns: &[String], rows: &[WitnessRow], style: Style, paint: Paint) {
    let _ = writeln!(out, "    {title}");
    if rows.is_empty() {
        let _ = writeln!(out, "      {}", paint.dim("(no rows)"));
        return;
    }
    let lines: Vec<Line> =
        rows.iter().map(|row| Line { record: &row.record, differing: &row.cells, differs: row.differs }).collect();
    write_rows(out, columns, &lines, style, paint);
}

/// One row as it is shown.
struct Line<'a> {
    record: &'a Record,
    /// Columns whose values differ.
    differing: &'a [String],
    differs: bool,
}

const INDENT: &str = "      ";

/// As many columns as the width holds, those that differ before all others; the others are named below.
fn write_rows(out: &mut String, columns: &[String], lines: &[Line], style: Style, paint: Paint) {
    let shown = lines.get(..ROWS_SHOWN).unwrap_or(lines);
    let all = cells(shown, columns, paint);
    let fitting = fitting(&all, columns, shown, style.width);
    let kept = |row: Vec<Cell>| -> Vec<Cell> {
        let with_mark = |index: &usize| *index >= columns.len() || fitting.contains(index);
        row.into_iter().enumerate().filter(|(index, _)| with_mark(index)).map(|(_, cell)| cell).collect()
    };
    table::write(out, &all.into_iter().map(kept).collect::<Vec<_>>(), INDENT);
    if lines.len() > shown.len() {
        let _ = writeln!(out, "{INDENT}… and {} more", lines.len() - shown.len());
    }
    let left_out: Vec<String> = columns
        .iter()
        .enumerate()
        .filter(|(index, _)| !fitting.contains(index))
        .map(|(_, name)| safe::inline(name))
        .collect();
    if !left_out.is_empty() {
        let text = wrap::hanging(&format!("(not shown: {})", left_out.join(", ")), style.width, INDENT.len());
        let _ = writeln!(out, "{INDENT}{}", paint.dim(&text));
    }
}

/// A header, and the rows with a mark behind those that differ.
fn cells(lines: &[Line], columns: &[String], paint: Paint) -> Vec<Vec<Cell>> {
    let row = |line: &Line| -> Vec<Cell> {
        let value = |column: &String| {
            let text = safe::inline(&cell(line.record.get(column)));
            let printed = if line.differing.contains(column) { paint.bold(&text) } else { text.clone() };
            Cell { text, printed }
        };
        let mark = line.differs.then(|| Cell { text: MARK.to_owned(), printed: paint.bold(MARK) });
        columns.iter().map(value).chain(mark).collect()
    };
    let header = columns.iter().map(|name| Cell::plain(&safe::inline(name))).collect();
    std::iter::once(header).chain(lines.iter().map(row)).collect()
}

const MARK: &str = "◄";

/// Indices of the columns to show.
fn fitting(all: &[Vec<Cell>], columns: &[String], lines: &[Line], width: usize) -> BTreeSet<usize> {
    let widths = table::widths(all);
    let differs =
        |index: &usize| columns.get(*index).is_some_and(|name| lines.iter().any(|line| line.differing.contains(name)));
    let (first, then): (Vec<usize>, Vec<usize>) = (0..columns.len()).partition(differs);
    let mut room = width.saturating_sub(INDENT.len() + MARK.len());
    let mut shown = BTreeSet::new();
    for index in first.into_iter().chain(then) {
        let wanted = widths.get(index).copied().unwrap_or(0) + 2;
        if wanted > room && !shown.is_empty() {
            continue;
        }
        room = room.saturating_sub(wanted);
        shown.insert(index);
    }
    shown
}

/// A value as a cell shows it.
pub fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "NULL".to_owned(),
        Some(Value::String(text)) if text.is_empty() => "''".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
