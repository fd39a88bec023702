//! Findings and diagnostics with the places they stand at. Findings of one rule on one flow stand together.

use super::{Paint, witness, wrap};
use crate::model::{Diagnostic, DiagnosticLevel, Place, QualifiedName, Severity};
use crate::report::{Style, safe, snippet};
use crate::rules::{Finding, RenderedRemedy};
use crate::verdict::{FlowVerdict, Report, Revision};
use annotate_snippets::{Element, Group, Level};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Further messages of a group shown without `--explain`.
const FURTHER_SHOWN: usize = 4;
/// Remedies of a finding shown without `--explain`.
const REMEDIES_SHOWN: usize = 2;
/// Columns in front of the further lines of a title.
const TITLE_INDENT: usize = 4;
/// Columns in front of a note's or help's text.
const NOTE_INDENT: usize = 14;

pub fn write(out: &mut String, report: &Report, style: Style, paint: Paint) {
    let mut told = BTreeSet::new();
    let flows: BTreeMap<usize, &FlowVerdict> =
        report.flows.iter().rev().filter_map(|flow| Some((*flow.findings.first()?, flow))).collect();
    for group in groups(report, style) {
        let Some(first) = group.first().and_then(|index| report.findings.get(*index)) else { continue };
        let further: Vec<&Finding> = group.iter().skip(1).filter_map(|index| report.findings.get(*index)).collect();
        let severity = Severe::of(first.severity);
        out.push('\n');
        write_title(out, severity, &first.rule, &first.message, style, paint);
        write_below(out, severity, elements(report, first, &further, style, &mut told), style);
        if let Some(flow) = group.iter().find_map(|index| flows.get(index)) {
            witness::write(out, flow, style, paint);
        }
    }
}

/// A severity as it is printed.
#[derive(Debug, Clone, Copy)]
enum Severe {
    Error,
    Warning,
    Note,
}

impl Severe {
    fn of(severity: Severity) -> Self {
        match severity {
            Severity::Error => Severe::Error,
            Severity::Warning => Severe::Warning,
            Severity::Note | Severity::Off => Severe::Note,
        }
    }

    fn level<'a>(self) -> Level<'a> {
        match self {
            Severe::Error => Level::ERROR,
            Severe::Warning => Level::WARNING,
            Severe::Note => Level::NOTE,
        }
    }

    fn printed(self, code: &str, paint: Paint) -> String {
        let (color, word) = match self {
            Severe::Error => ("1;91", "error"),
            Severe::Warning => ("1;33", "warning"),
            Severe::Note => ("1;92", "note"),
        };
        paint.wrap(color, &format!("{word}[{code}]"))
    }
}

/// Further lines of a title are moved in a little: below the rule's name they would have too little room.
fn write_title(out: &mut String, severity: Severe, code: &str, message: &str, style: Style, paint: Paint) {
    const PLAIN: Paint = Paint { colors: false };
    let (code, message) = (safe::inline(code), safe::inline(message));
    let head = severity.printed(&code, PLAIN);
    let text = wrap::hanging(&format!("{head}: {message}"), style.width, TITLE_INDENT);
    let rest = text.strip_prefix(&head).unwrap_or_default();
    let _ = writeln!(out, "{}{}", severity.printed(&code, paint), paint.bold(rest));
}

/// Places, notes and help below a title.
fn write_below(out: &mut String, severity: Severe, elements: Vec<Element>, style: Style) {
    if !elements.is_empty() {
        let group = elements.into_iter().fold(Group::with_level(severity.level()), Group::element);
        let _ = writeln!(out, "{}", snippet::renderer(style).render(&[group]));
    }
}

/// Indices of the findings to show, those of one rule on one flow together, in the order of the first of each.
fn groups(report: &Report, style: Style) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known = BTreeMap::new();
    for (index, finding) in report.findings.iter().enumerate() {
        if finding.severity < Severity::Warning && !style.explain {
            continue;
        }
        let Finding { rule, pipeline, dataset, flow, allowed, severity, effect, .. } = finding;
        let key = (rule, pipeline, dataset.as_ref().map(QualifiedName::key), flow, allowed, severity, effect);
        let place = *known.entry(key).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        if let Some(group) = groups.get_mut(place) {
            group.push(index);
        }
    }
    groups
}

fn elements<'a>(
    report: &Report,
    finding: &Finding,
    further: &[&Finding],
    style: Style,
    told: &mut BTreeSet<String>,
) -> Vec<Element<'a>> {
    let mut elements: Vec<Element> = Vec::new();
    for (revision, span, label) in places(report, &finding.before, &finding.after) {
        if let Some(place) = snippet::snippet(&report.texts, revision, span, label.to_owned()) {
            elements.push(place.into());
        }
    }
    let note =
        |text: &str| Level::NOTE.message(wrap::wrap(&safe::inline(text), style.width.saturating_sub(NOTE_INDENT)));
    if let Some(reason) = &finding.allowed {
        elements.push(note(&format!("allowed: {reason}")).into());
    }
    if !further.is_empty() {
        let text = also(further, if style.explain { usize::MAX } else { FURTHER_SHOWN });
        let text = wrap::wrap(&safe::block(&text), style.width.saturating_sub(NOTE_INDENT));
        elements.push(Level::NOTE.message(text).into());
    }
    for hint in &finding.hints {
        elements.push(note(hint).into());
    }
    if style.explain
        && let Some(rule) = report.rules.get(&finding.rule)
        && told.insert(rule.why.clone())
    {
        elements.push(note(&rule.why.replace('\n', " ")).into());
    }
    let shown = if style.explain { finding.remedies.len() } else { REMEDIES_SHOWN };
    for remedy in finding.remedies.iter().take(shown) {
        if let Some(text) = remedy_text(remedy, style, told) {
            elements.push(Level::HELP.message(text).into());
        }
    }
    elements
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

pub fn write_diagnostic(
    out: &mut String,
    report: &Report,
    (revision, diagnostic): (Revision, &Diagnostic),
    style: Style,
    paint: Paint,
) {
    let severity = match diagnostic.level {
        DiagnosticLevel::Error => Severe::Error,
        DiagnosticLevel::Warning => Severe::Warning,
        DiagnosticLevel::Note => Severe::Note,
    };
    let place = diagnostic.span.as_ref().map(|span| format!("{}:{}: ", span.path, span.line));
    let place = place.or_else(|| diagnostic.path.as_ref().map(|path| format!("{path}: "))).unwrap_or_default();
    let shown =
        diagnostic.span.as_ref().and_then(|span| snippet::snippet(&report.texts, revision, span, String::new()));
    let message = if shown.is_some() { diagnostic.message.clone() } else { format!("{place}{}", diagnostic.message) };
    let width = style.width.saturating_sub(NOTE_INDENT);
    let help = diagnostic.help.as_ref().map(|help| Level::HELP.message(wrap::wrap(&safe::inline(help), width)));
    write_title(out, severity, diagnostic.code, &message, style, paint);
    write_below(out, severity, shown.map(Element::from).into_iter().chain(help.map(Element::from)).collect(), style);
}
