//! What of the input could not be read, and what could not be told. Remarks that stand in both revisions, in files that the
//! change has nothing to do with, are only counted.

use super::{Paint, counted, findings, wrap};
use crate::model::{DiagnosticLevel, Unresolved};
use crate::report::{Style, safe};
use crate::verdict::{FlowVerdict, Remark, Report, Revision};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Unresolved things listed without `--explain`.
const UNRESOLVED_SHOWN: usize = 5;

pub fn write(out: &mut String, report: &Report, style: Style, paint: Paint) {
    let concerned = Concerned::of(report);
    let diagnostics =
        report.diagnostics.iter().filter(|remark| remark.entry.level > DiagnosticLevel::Note || style.explain);
    let (shown, aside): (Vec<_>, Vec<_>) = diagnostics.partition(|remark| {
        style.explain
            || concerned.by(
                remark.in_both,
                remark.entry.path.as_deref().or(remark.entry.span.as_ref().map(|span| span.path.as_ref())),
            )
    });
    let (told, untold): (Vec<_>, Vec<_>) = report.unresolved.iter().partition(|remark| {
        let path = remark.entry.span.as_ref().map(|span| span.path.as_ref());
        style.explain || concerned.by(remark.in_both, path)
    });
    if !shown.is_empty() {
        let _ = writeln!(out, "\n{}", paint.bold("Input"));
    }
    for (index, remark) in shown.into_iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        findings::write_diagnostic(out, report, (remark.revision, &remark.entry), style, paint);
    }
    unresolved(out, &told, style, paint);
    if !aside.is_empty() || !untold.is_empty() {
        let text = format!(
            "In files that this change leaves alone: {} on the input, {} unresolved (--explain lists them)",
            counted(aside.len(), "remark"),
            untold.len()
        );
        let _ = writeln!(out, "\n{}", paint.dim(&wrap::hanging(&text, style.width, 2)));
    }
}

/// Files that the change has to do with: those of flows that changed or of which something is said.
struct Concerned<'a>(BTreeSet<&'a str>);

impl<'a> Concerned<'a> {
    fn of(report: &'a Report) -> Self {
        let flows =
            report.flows.iter().filter(|flow| flow.status != crate::diff::FlowStatus::Unchanged || flow.is_affected());
        let spans = |flow: &'a FlowVerdict| flow.before.iter().chain(&flow.after);
        let places = report.findings.iter().flat_map(|finding| [finding.before.span(), finding.after.span()]);
        Concerned(flows.flat_map(spans).chain(places.flatten()).map(|span| span.path.as_ref()).collect())
    }

    fn by(&self, in_both: bool, path: Option<&str>) -> bool {
        !in_both || path.is_some_and(|path| self.0.contains(path))
    }
}

fn unresolved(out: &mut String, told: &[&Remark<Unresolved>], style: Style, paint: Paint) {
    if told.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{} (not told without running the code)", paint.bold("Unresolved"));
    let limit = if style.explain { told.len() } else { UNRESOLVED_SHOWN };
    for remark in told.iter().take(limit) {
        let entry = &remark.entry;
        let place = entry.span.as_ref().map_or_else(String::new, |span| match span.cell {
            Some(cell) => format!("{} cell {cell} line {}: ", span.path, span.line),
            None => format!("{}:{}: ", span.path, span.line),
        });
        let side = if remark.revision == Revision::Before { " (before)" } else { "" };
        let text = safe::inline(&format!("{place}{}: {}{side}", entry.what, entry.why));
        let _ = writeln!(out, "  {}", wrap::hanging(&text, style.width, 4));
    }
    if told.len() > limit {
        let _ = writeln!(out, "  … and {} more (--explain lists all)", told.len() - limit);
    }
}
