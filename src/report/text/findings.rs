//! Findings and diagnostics with the places they stand at.

use super::{Paint, witness};
use crate::model::{Diagnostic, DiagnosticLevel, Severity};
use crate::report::{Report, Revision, Style, safe, snippet};
use crate::rules::Finding;
use annotate_snippets::{Group, Level};
use std::fmt::Write as _;

pub fn write(out: &mut String, report: &Report, style: Style, paint: Paint) {
    for (index, finding) in report.findings.iter().enumerate() {
        if finding.severity < Severity::Warning && !style.explain {
            continue;
        }
        out.push('\n');
        let _ = writeln!(out, "{}", snippet::renderer(style).render(&[group(report, finding, style)]));
        let shown = report.flows.iter().find(|flow| flow.findings.first() == Some(&index));
        if let Some(flow) = shown {
            witness::write(out, flow, paint);
        }
    }
}

fn group<'a>(report: &Report, finding: &Finding, style: Style) -> Group<'a> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note | Severity::Off => Level::NOTE,
    };
    let title = level.primary_title(safe::inline(&finding.message)).id(safe::inline(&finding.rule));
    let mut group = Group::with_title(title);
    let (before, after) = (finding.before.span(), finding.after.span());
    if let Some(span) = after
        && let Some(place) = snippet::snippet(&report.texts, Revision::After, span, "now".to_owned())
    {
        group = group.element(place);
    }
    if let Some(span) = before
        && let Some(place) = snippet::snippet(&report.texts, Revision::Before, span, "before".to_owned())
    {
        group = group.element(place);
    }
    if let Some(reason) = &finding.allowed {
        group = group.element(Level::NOTE.message(format!("allowed: {}", safe::inline(reason))));
    }
    for hint in &finding.hints {
        group = group.element(Level::NOTE.message(safe::inline(hint)));
    }
    let shown = if style.explain { finding.remedies.len() } else { 2 };
    for remedy in finding.remedies.iter().take(shown) {
        let text = match (&remedy.code, style.explain) {
            (Some((_, code)), true) => format!("{}: {}\n{}", remedy.title, remedy.text, code),
            _ => format!("{}: {}", remedy.title, remedy.text),
        };
        group = group.element(Level::HELP.message(safe::block(text.trim_end())));
    }
    group
}

pub fn write_diagnostic(out: &mut String, report: &Report, revision: Revision, diagnostic: &Diagnostic, style: Style) {
    let level = match diagnostic.level {
        DiagnosticLevel::Error => Level::ERROR,
        DiagnosticLevel::Warning => Level::WARNING,
        DiagnosticLevel::Note => Level::NOTE,
    };
    let place = diagnostic.span.as_ref().map(|span| format!("{}:{}: ", span.path, span.line));
    let place = place.or_else(|| diagnostic.path.as_ref().map(|path| format!("{path}: "))).unwrap_or_default();
    let shown =
        diagnostic.span.as_ref().and_then(|span| snippet::snippet(&report.texts, revision, span, String::new()));
    let message = if shown.is_some() { diagnostic.message.clone() } else { format!("{place}{}", diagnostic.message) };
    let mut group = Group::with_title(level.primary_title(safe::inline(&message)).id(diagnostic.code));
    if let Some(shown) = shown {
        group = group.element(shown);
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(safe::inline(help)));
    }
    let _ = writeln!(out, "{}", snippet::renderer(style).render(&[group]));
}
