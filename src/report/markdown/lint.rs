//! A lint as Markdown: what each script does to its tables, then the findings, folded.

use super::escape::{code, text};
use super::{ROWS_SHOWN, details, mark, more};
use crate::lint::{LintReport, WriteVerdict, effect};
use crate::model::Severity;
use crate::report::text::counted;
use crate::verdict::Report;
use std::fmt::Write as _;

/// `report` is the same as a comparison with nothing.
pub fn render(lint: &LintReport, report: &Report) -> String {
    let counts = format!(
        "{}, {}, {}",
        counted(lint.count(Severity::Error), "error"),
        counted(lint.count(Severity::Warning), "warning"),
        counted(lint.count(Severity::Note), "note")
    );
    let mut out = format!("### {} {}: {counts}\n\n", mark(report.worst()), code(&lint.revision));
    writes(&mut out, lint);
    details(&mut out, report);
    if !lint.unresolved.is_empty() {
        let _ = writeln!(out, "{} unresolved: see the text or JSON report.\n", lint.unresolved.len());
    }
    let _ = writeln!(
        out,
        "<sub>{}, {} · pipelint {}</sub>",
        counted(lint.writes.len(), "write"),
        counted(lint.flows.len(), "flow"),
        env!("CARGO_PKG_VERSION")
    );
    out
}

/// One line a write that two runs show to do harm.
fn writes(out: &mut String, lint: &LintReport) {
    let harmful = |write: &&WriteVerdict| write.labels.as_ref().is_some_and(|labels| !labels.is_empty());
    let harmful: Vec<&WriteVerdict> = lint.writes.iter().filter(harmful).collect();
    if harmful.is_empty() {
        return;
    }
    out.push_str("| two runs of | do to | effect | rewrite that holds |\n| --- | --- | --- | --- |\n");
    for write in harmful.iter().take(ROWS_SHOWN) {
        let fix = write.fix.as_ref().map(|fix| code(&fix.code.replace('\n', " "))).unwrap_or_default();
        let effect = write.labels.as_ref().map(effect).unwrap_or_default();
        let _ = writeln!(out, "| {} | {} | {} | {fix} |", code(&write.path), code(&write.target), text(&effect));
    }
    more(out, harmful.len(), ROWS_SHOWN);
    out.push('\n');
}
