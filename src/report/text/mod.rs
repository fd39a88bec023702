//! The report for a terminal: the verdict first, one line a table, the findings with their places, the counts at the end.

mod checkpoints;
mod downstream;
mod findings;
mod input;
mod scripts;
mod spark;
pub mod table;
mod verdicts;
mod witness;
mod wrap;

pub use witness::cell;

use super::{Style, safe};
use crate::diff::FlowStatus;
use crate::model::{Effect, Severity};
use crate::verdict::{Report, Verdict};

pub use crate::verdict::counted;
use annotate_snippets::renderer::DEFAULT_TERM_WIDTH;
use std::fmt::Write as _;

impl Default for Style {
    fn default() -> Self {
        Style { colors: false, width: DEFAULT_TERM_WIDTH, explain: false }
    }
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
    let _ = writeln!(out, "\n{}", wrap::hanging(&headline(report, paint), style.width, 2));
    verdicts::write(&mut out, report, style, paint);
    checkpoints::write(&mut out, report, style, paint);
    findings::write(&mut out, report, style, paint);
    downstream::write(&mut out, report, style, paint);
    scripts::write(&mut out, report, style, paint);
    spark::write(&mut out, report, style, paint);
    input::write(&mut out, report, style, paint);
    let _ = writeln!(out, "\n{}", wrap::hanging(&counts(report), style.width, 2));
    out
}

/// The verdict in one sentence, with its mark.
fn headline(report: &Report, paint: Paint) -> String {
    let text = report.headline();
    match report.verdict() {
        Verdict::Clean => paint.wrap("32", &format!("✓ {text}")),
        Verdict::Notable => paint.wrap("33", &format!("! {text}")),
        Verdict::Fails => paint.wrap("1;31", &format!("✗ {text}")),
    }
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
            Effect::Mixed | Effect::Unknown | Effect::Recomputed => self.wrap("33", text),
            _ => self.wrap("1;31", text),
        }
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
    if report.left_to_engine() > 0 {
        parts.push(format!("{} seen, not claimed", counted(report.left_to_engine(), "effect")));
    }
    if allowed > 0 {
        parts.push(format!("{allowed} allowed"));
    }
    if !report.scripts.is_empty() {
        parts.push(format!("changed scripts: {}", counted(report.scripts.len(), "finding")));
    }
    if report.disagreements() > 0 {
        parts.push(format!("ENGINES DISAGREE on {}", counted(report.disagreements(), "flow")));
    }
    if !report.unresolved.is_empty() {
        parts.push(format!("{} unresolved", report.unresolved.len()));
    }
    parts.join(" · ")
}
