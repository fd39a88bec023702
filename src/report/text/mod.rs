//! The report for a terminal: the verdict first, one line a table, the findings with their places, the counts at the end.

mod downstream;
mod findings;
mod headline;
pub mod table;
mod witness;
mod wrap;

pub use witness::cell;

use super::{Confirmation, FlowVerdict, Report, Revision, Style, safe};
use crate::diff::FlowStatus;
use crate::model::{DiagnosticLevel, Effect, FullRefresh, Severity};
use annotate_snippets::renderer::DEFAULT_TERM_WIDTH;
use std::fmt::Write as _;

/// Unresolved things listed without `--explain`.
const UNRESOLVED_SHOWN: usize = 5;

impl Default for Style {
    fn default() -> Self {
        Style { colors: false, width: DEFAULT_TERM_WIDTH, explain: false }
    }
}

/// The verdict in one sentence.
pub fn headline(report: &Report) -> String {
    headline::sentence(report)
}

pub fn render(report: &Report, style: Style) -> String {
    let paint = Paint { colors: style.colors };
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{} {}",
        paint.bold("pipelint"),
        paint.dim(&format!(
            "{} → {} · {}",
            safe::inline(&report.before.label),
            safe::inline(&report.after.label),
            report.platform
        ))
    );
    let _ = writeln!(out, "\n{}", wrap::hanging(&headline::headline(report, paint), style.width, 2));
    verdicts(&mut out, report, style, paint);
    findings::write(&mut out, report, style, paint);
    downstream::write(&mut out, report, style, paint);
    diagnostics(&mut out, report, style, paint);
    unresolved(&mut out, report, style, paint);
    let _ = writeln!(out, "\n{}", wrap::hanging(&counts(report), style.width, 2));
    out
}

/// Escape sequences, where colours are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Paint {
    pub colors: bool,
}

impl Paint {
    pub fn wrap(self, code: &str, text: &str) -> String {
        if self.colors { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    /// In the colour of an effect's weight.
    pub fn effect(self, effect: Effect, text: &str) -> String {
        match effect {
            Effect::None | Effect::Ignored => self.wrap("32", text),
            Effect::Mixed | Effect::Recomputed => self.wrap("33", text),
            _ => self.wrap("1;31", text),
        }
    }
}

/// One line a flow that something happens to, worst first; the others in one line together.
fn verdicts(out: &mut String, report: &Report, style: Style, paint: Paint) {
    let mut affected: Vec<&FlowVerdict> = report.flows.iter().filter(|flow| flow.is_affected()).collect();
    affected.sort_by_key(|flow| (std::cmp::Reverse(flow.effect), flow.dataset.key(), flow.flow.clone()));
    let mut rows = Vec::new();
    for flow in affected {
        rows.push(vec![
            (flow.effect.to_string(), paint.effect(flow.effect, flow.effect.as_str())),
            plain(&safe::inline(&flow.subject())),
            plain(refresh(flow.full_refresh)),
            plain(&evidence(flow)),
        ]);
    }
    if !rows.is_empty() {
        out.push('\n');
        table::write(out, &rows, "  ", style.width);
    }
    let quiet: Vec<String> = report
        .flows
        .iter()
        .filter(|flow| flow.status == FlowStatus::Changed && !flow.is_affected())
        .map(|flow| safe::inline(&flow.dataset.to_string()))
        .collect();
    if !quiet.is_empty() {
        let text = format!("changed, and resumes as it is: {}", quiet.join(", "));
        let _ = writeln!(out, "\n  {}", paint.dim(&wrap::hanging(&text, style.width, 4)));
    }
}

fn plain(text: &str) -> (String, String) {
    (text.to_owned(), text.to_owned())
}

fn refresh(full_refresh: FullRefresh) -> &'static str {
    match full_refresh {
        FullRefresh::No => "no full refresh",
        FullRefresh::Recommended => "full refresh recommended",
        FullRefresh::Required => "full refresh required",
        FullRefresh::Useless => "a full refresh does not help",
    }
}

fn evidence(flow: &FlowVerdict) -> String {
    let evidence = flow.confirmation.as_ref().map(Confirmation::evidence).unwrap_or_default();
    let allowed = if flow.open < flow.effect { "allowed · " } else { "" };
    safe::inline(&format!("{allowed}{evidence}"))
}

fn diagnostics(out: &mut String, report: &Report, style: Style, paint: Paint) {
    let shown: Vec<_> =
        report.diagnostics.iter().filter(|(_, d)| style.explain || d.level > DiagnosticLevel::Note).collect();
    if !shown.is_empty() {
        let _ = writeln!(out, "\n{}", paint.bold("Input"));
    }
    for (index, (revision, diagnostic)) in shown.into_iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        findings::write_diagnostic(out, report, *revision, diagnostic, style);
    }
}

fn unresolved(out: &mut String, report: &Report, style: Style, paint: Paint) {
    let (known, total) = (&report.unresolved, report.unresolved.len());
    if total == 0 {
        return;
    }
    let _ = writeln!(out, "\n{}", paint.bold("Unresolved: what follows could not be told without running the code"));
    let limit = if style.explain { total } else { UNRESOLVED_SHOWN };
    for (revision, entry) in known.iter().take(limit) {
        let place = entry.span.as_ref().map_or_else(String::new, |span| match span.cell {
            Some(cell) => format!("{} cell {cell} line {}: ", span.path, span.line),
            None => format!("{}:{}: ", span.path, span.line),
        });
        let side = if *revision == Revision::Before { " (before)" } else { "" };
        let _ = writeln!(
            out,
            "  {}{}: {}{side}",
            safe::inline(&place),
            safe::inline(&entry.what),
            safe::inline(&entry.why)
        );
    }
    if total > limit {
        let _ = writeln!(out, "  … and {} more (--explain lists all)", total - limit);
    }
}

fn counts(report: &Report) -> String {
    let status = |status: FlowStatus| report.flows.iter().filter(|flow| flow.status == status).count();
    let allowed = report.findings.iter().filter(|finding| finding.allowed.is_some()).count();
    let mut parts = vec![
        format!(
            "{}, {}, {}",
            counted(report.count(Severity::Error), "error"),
            counted(report.count(Severity::Warning), "warning"),
            counted(report.count(Severity::Note), "note")
        ),
        format!(
            "flows: {} changed, {} added, {} removed, {} unchanged",
            status(FlowStatus::Changed),
            status(FlowStatus::Added),
            status(FlowStatus::Removed),
            status(FlowStatus::Unchanged)
        ),
        format!("engine: {} confirmed, {} contradicted", report.confirmed(), report.contradicted()),
    ];
    if allowed > 0 {
        parts.push(format!("{allowed} allowed"));
    }
    if !report.unresolved.is_empty() {
        parts.push(format!("{} unresolved", report.unresolved.len()));
    }
    parts.join(" · ")
}

pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
