//! Findings and diagnostics with the places they stand at. Findings of one rule on one flow stand together.

use super::{Paint, witness, wrap};
use crate::model::{Diagnostic, DiagnosticLevel, Place, Severity};
use crate::report::{Report, Revision, Style, safe, snippet};
use crate::rules::{Finding, RenderedRemedy};
use annotate_snippets::{Group, Level};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Further messages of a group shown without `--explain`.
const FURTHER_SHOWN: usize = 4;
/// Remedies of a finding shown without `--explain`.
const REMEDIES_SHOWN: usize = 2;
/// Columns in front of a note's or help's text.
const NOTE_INDENT: usize = 14;

pub fn write(out: &mut String, report: &Report, style: Style, paint: Paint) {
    let mut told = BTreeSet::new();
    for group in groups(report, style) {
        let Some(first) = group.first().and_then(|index| report.findings.get(*index)) else { continue };
        out.push('\n');
        let further: Vec<&Finding> = group.iter().skip(1).filter_map(|index| report.findings.get(*index)).collect();
        let rendered = rendered(report, first, &further, style, &mut told);
        let _ = writeln!(out, "{}", snippet::renderer(style).render(&[rendered]));
        let witnessed =
            report.flows.iter().find(|flow| flow.findings.first().is_some_and(|index| group.contains(index)));
        if let Some(flow) = witnessed {
            witness::write(out, flow, paint);
        }
    }
}

/// Indices of the findings to show, those of one rule on one flow together, in the order of the first of each.
fn groups(report: &Report, style: Style) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, finding) in report.findings.iter().enumerate() {
        if finding.severity < Severity::Warning && !style.explain {
            continue;
        }
        let belongs = |other: &Finding| {
            (&other.rule, &other.pipeline, &other.dataset, &other.flow, &other.allowed, other.severity, other.effect)
                == (
                    &finding.rule,
                    &finding.pipeline,
                    &finding.dataset,
                    &finding.flow,
                    &finding.allowed,
                    finding.severity,
                    finding.effect,
                )
        };
        let first =
            |group: &Vec<usize>| group.first().and_then(|first| report.findings.get(*first)).is_some_and(belongs);
        match groups.iter_mut().find(|group| first(group)) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    groups
}

fn rendered<'a>(
    report: &Report,
    finding: &Finding,
    further: &[&Finding],
    style: Style,
    told: &mut BTreeSet<String>,
) -> Group<'a> {
    let (level, word) = match finding.severity {
        Severity::Error => (Level::ERROR, "error"),
        Severity::Warning => (Level::WARNING, "warning"),
        Severity::Note | Severity::Off => (Level::NOTE, "note"),
    };
    let indent = word.len() + finding.rule.chars().count() + 4;
    let title = wrap::hanging(&safe::inline(&finding.message), style.width, indent.min(style.width / 2));
    let title = title.lines().map(str::trim_start).collect::<Vec<_>>().join("\n");
    let mut group = Group::with_title(level.primary_title(title).id(safe::inline(&finding.rule)));
    for (revision, span, label) in places(report, &finding.before, &finding.after) {
        if let Some(place) = snippet::snippet(&report.texts, revision, span, label.to_owned()) {
            group = group.element(place);
        }
    }
    let note =
        |text: &str| Level::NOTE.message(wrap::wrap(&safe::inline(text), style.width.saturating_sub(NOTE_INDENT)));
    if let Some(reason) = &finding.allowed {
        group = group.element(note(&format!("allowed: {reason}")));
    }
    if !further.is_empty() {
        let text = also(further, if style.explain { usize::MAX } else { FURTHER_SHOWN });
        group = group
            .element(Level::NOTE.message(wrap::wrap(&safe::block(&text), style.width.saturating_sub(NOTE_INDENT))));
    }
    for hint in &finding.hints {
        group = group.element(note(hint));
    }
    if style.explain
        && let Some(rule) = report.rules.get(&finding.rule)
        && told.insert(rule.why.clone())
    {
        group = group.element(note(&rule.why.replace('\n', " ")));
    }
    let shown = if style.explain { finding.remedies.len() } else { REMEDIES_SHOWN };
    for remedy in finding.remedies.iter().take(shown) {
        if let Some(text) = remedy_text(remedy, style, told) {
            group = group.element(Level::HELP.message(text));
        }
    }
    group
}

/// Where to look: the after side, and the before side where its lines are not there any more.
fn places<'a>(
    report: &Report,
    before: &'a Place,
    after: &'a Place,
) -> Vec<(Revision, &'a crate::model::Span, &'static str)> {
    let mut places = Vec::new();
    if let Some(span) = after.span() {
        places.push((Revision::After, span, if before.span().is_some() { "now" } else { "" }));
    }
    if let Some(span) = before.span() {
        let old = report.texts.excerpt(Revision::Before, span, usize::MAX);
        let same = after.span().is_some()
            && old.is_some_and(|old| {
                let lines: Vec<&str> = old.lines().map(str::trim).collect();
                let now = report.texts.get(Revision::After, &span.path).unwrap_or_default();
                let now: Vec<&str> = now.lines().map(str::trim).collect();
                !lines.is_empty() && now.windows(lines.len()).any(|window| window == lines)
            });
        if !same {
            places.push((Revision::Before, span, "before"));
        }
    }
    places
}

/// The messages of further findings of the group, each on a line of its own.
fn also(further: &[&Finding], limit: usize) -> String {
    let mut lines: Vec<String> =
        further.iter().take(limit).map(|finding| format!("also: {}", safe::inline(&finding.message))).collect();
    if further.len() > limit {
        lines.push(format!("also: {} more (--explain lists them)", further.len() - limit));
    }
    lines.join("\n")
}

/// A remedy is told in full once, by its title after that.
fn remedy_text(remedy: &RenderedRemedy, style: Style, told: &mut BTreeSet<String>) -> Option<String> {
    let width = style.width.saturating_sub(NOTE_INDENT);
    let key = remedy.id.clone().unwrap_or_else(|| remedy.text.clone());
    if !told.insert(key) && !style.explain {
        return told
            .insert(remedy.title.clone())
            .then(|| wrap::wrap(&safe::inline(&format!("{} (see above)", remedy.title)), width));
    }
    told.insert(remedy.title.clone());
    let text =
        wrap::wrap(&safe::block(&format!("{}: {}", remedy.title, remedy.text.trim_end().replace('\n', " "))), width);
    Some(match &remedy.code {
        Some((_, code)) if style.explain => format!("{text}\n{}", safe::block(code.trim_end())),
        _ => text,
    })
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
    let width = style.width.saturating_sub(NOTE_INDENT);
    let title = wrap::wrap(&safe::inline(&message), width.saturating_sub(diagnostic.code.len()));
    let mut group = Group::with_title(level.primary_title(title).id(diagnostic.code));
    if let Some(shown) = shown {
        group = group.element(shown);
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(wrap::wrap(&safe::inline(help), width)));
    }
    let _ = writeln!(out, "{}", snippet::renderer(style).render(&[group]));
}
