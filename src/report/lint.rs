//! What `pipelint lint` found: text and JSON of its own, and a [`Report`] for the formats that show findings alone.

use super::{Format, Style, json, markdown, safe};
use crate::diff::FlowStatus;
use crate::impact::RefreshPlan;
use crate::lint::{LintReport, Observed, Snapshot, WriteVerdict, effect};
use crate::model::{Effect, FullRefresh, Place, QualifiedName, Severity};
use crate::rules::Finding;
use crate::verdict::{EngineName, FlowVerdict, Lineage, Remark, Report, Revision, Side};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Rows of a witness: enough to see, few enough to read.
const SHOWN_ROWS: usize = 12;

/// Formats that a lint has; the others draw what a comparison changes.
pub const FORMATS: [Format; 7] =
    [Format::Text, Format::Json, Format::Sarif, Format::Github, Format::Gitlab, Format::Junit, Format::Markdown];

pub fn render(report: &LintReport, format: Format, style: Style) -> String {
    match format {
        Format::Text => text(report, style.explain),
        Format::Json => json(report),
        Format::Markdown => markdown::lint::render(report, &as_report(report)),
        other => super::render(&as_report(report), other, style),
    }
}

/// The same as a comparison with nothing: a verdict for each table that a script writes and for each flow.
pub fn as_report(report: &LintReport) -> Report {
    let mut flows: Vec<FlowVerdict> = Vec::new();
    for write in &report.writes {
        let dataset = QualifiedName::bare(write.target.clone());
        let subject = (write.path.as_str(), &dataset, write.target.as_str());
        flows.push(verdict(report, subject, &write.place, write.findings.clone()));
    }
    for flow in &report.flows {
        let own = |finding: &Finding| {
            finding.pipeline == flow.pipeline
                && finding.dataset.as_ref() == Some(&flow.dataset)
                && finding.flow.as_ref().is_none_or(|name| *name == flow.flow)
        };
        let findings: Vec<usize> =
            report.findings.iter().enumerate().filter(|(_, finding)| own(finding)).map(|(at, _)| at).collect();
        let subject = (flow.pipeline.as_str(), &flow.dataset, flow.flow.as_str());
        flows.push(verdict(report, subject, &Place::unknown(), findings));
    }
    Report {
        checkpoints: Vec::new(),
        before: Side { label: String::new() },
        after: Side { label: report.revision.clone() },
        platform: report.platform,
        pipelines: 0,
        flows,
        findings: report.findings.clone(),
        scripts: Vec::new(),
        impacts: Vec::new(),
        plan: RefreshPlan::default(),
        unresolved: report.unresolved.iter().map(remark).collect(),
        diagnostics: report.diagnostics.iter().map(remark).collect(),
        broken: 0,
        fail_on: report.fail_on,
        lineage: Lineage::default(),
        spark: None,
        rules: report.rules.clone(),
        texts: report.texts.clone(),
    }
}

fn remark<T: Clone>(entry: &T) -> Remark<T> {
    Remark { revision: Revision::After, entry: entry.clone(), in_both: false }
}

fn verdict(
    report: &LintReport,
    (pipeline, dataset, flow): (&str, &QualifiedName, &str),
    place: &Place,
    findings: Vec<usize>,
) -> FlowVerdict {
    let of = || findings.iter().filter_map(|at| report.findings.get(*at));
    let worst = |open: bool| {
        of().filter(|f| !open || f.allowed.is_none()).map(|finding| finding.effect).max().unwrap_or(Effect::None)
    };
    FlowVerdict {
        pipeline: pipeline.to_owned(),
        flow: flow.to_owned(),
        dataset: dataset.clone(),
        status: FlowStatus::Unchanged,
        effect: worst(false),
        open: worst(true),
        left_to_engine: false,
        full_refresh: FullRefresh::No,
        confirmation: None,
        engine: EngineName::Mini,
        spark: None,
        before: None,
        after: place.span().cloned(),
        findings,
    }
}

pub fn json(report: &LintReport) -> String {
    let value = json!({
        "schema_version": 1,
        "tool": json::tool(),
        "revision": report.revision,
        "platform": report.platform.as_str(),
        "writes": report.writes.iter().map(write).collect::<Vec<_>>(),
        "findings": report.findings.iter().map(json::finding).collect::<Vec<_>>(),
        "unresolved": report.unresolved.iter().map(json::unresolved_entry).collect::<Vec<_>>(),
        "diagnostics": report.diagnostics.iter().map(json::diagnostic_entry).collect::<Vec<_>>(),
        "summary": {
            "flows": report.flows.len(),
            "writes": report.writes.len(),
            "ok": report.writes.iter().filter(|write| write.labels.as_ref().is_some_and(|l| l.is_empty())).count(),
            "fixes_proven": report.writes.iter().filter(|write| write.fix.is_some()).count(),
            "findings": {
                "error": report.count(Severity::Error),
                "warning": report.count(Severity::Warning),
                "note": report.count(Severity::Note),
            },
            "allowed": report.findings.iter().filter(|finding| finding.allowed.is_some()).count(),
            "unresolved": report.unresolved.len(),
        },
    });
    format!("{value:#}\n")
}

fn write(write: &WriteVerdict) -> Value {
    let span = write.place.span();
    json!({
        "path": span.map_or_else(|| write.path.clone(), |span| span.path.to_string()),
        "line": span.map(|span| span.line),
        "target": write.target,
        "effect": write.labels.as_ref().map(effect),
        "follows": write.follows,
        "confirmation": confirmation(write),
        "fix": write.fix.as_ref().map(|fix| json!({ "code": fix.code, "effect": "ok", "proven": true })),
        "findings": write.findings,
    })
}

fn confirmation(write: &WriteVerdict) -> Value {
    let data = if write.given { "given" } else { "generated" };
    match &write.observed {
        Err(reason) => json!({ "engine": "mini", "observed": null, "reason": reason, "data": data }),
        Ok(seen) => json!({
            "engine": "mini",
            "observed": effect(&seen.labels),
            "error_class": seen.error.as_ref().map(|(error, _)| error.class.clone()),
            "message": seen.error.as_ref().map(|(error, _)| error.message.clone()),
            "writer_errors": seen.thread_errors.iter().map(|(error, _)| error.class.clone()).collect::<Vec<_>>(),
            "witness": witness(seen),
            "uninterpreted": seen.uninterpreted,
            "data": data,
            "reason": null,
        }),
    }
}

fn witness(seen: &Observed) -> Value {
    json!({
        "before": seen.before.as_ref().map(moment),
        "after_1": moment(&seen.after_1),
        "after_2": moment(&seen.after_2),
    })
}

fn moment(seen: &Result<Snapshot, crate::engine::ExecutionError>) -> Value {
    match seen {
        Ok(snapshot) => {
            json!({ "rows": snapshot.rows.iter().take(SHOWN_ROWS).collect::<Vec<_>>(), "count": snapshot.rows.len() })
        }
        Err(error) => json!({ "error_class": error.class }),
    }
}

pub fn text(report: &LintReport, explain: bool) -> String {
    let mut out = String::new();
    for write in &report.writes {
        let place = place(write);
        let effect = write.labels.as_ref().map_or_else(|| "not observed".to_owned(), effect);
        let _ = writeln!(out, "{place}: {} — {}", safe::inline(&write.target), effect);
        match &write.observed {
            Ok(seen) if !seen.labels.is_empty() => rows(&mut out, seen),
            Ok(_) => {}
            Err(reason) => {
                let _ = writeln!(out, "    {}", safe::inline(reason));
            }
        }
        if let Some(source) = &write.follows {
            let _ = writeln!(out, "    as {}, which it is made of", safe::inline(source));
        }
        for finding in write.findings.iter().filter_map(|at| report.findings.get(*at)) {
            let elsewhere = of_finding(finding).filter(|own| *own != place);
            line(&mut out, finding, elsewhere.as_deref(), explain);
        }
        if let Some(fix) = &write.fix {
            let _ = writeln!(out, "    fix (run twice: ok):");
            for code in fix.code.lines() {
                let _ = writeln!(out, "      {}", safe::inline(code));
            }
        }
    }
    let of_writes: Vec<usize> = report.writes.iter().flat_map(|write| write.findings.clone()).collect();
    for (_, finding) in report.findings.iter().enumerate().filter(|(at, _)| !of_writes.contains(at)) {
        if finding.severity < Severity::Warning && !explain {
            continue;
        }
        let place = of_finding(finding).unwrap_or_else(|| safe::inline(&finding.pipeline));
        let _ = writeln!(out, "{place}");
        line(&mut out, finding, None, explain);
    }
    for entry in &report.unresolved {
        let place = entry.span.as_ref().map(|span| format!("{}:{}: ", span.path, span.line)).unwrap_or_default();
        let _ = writeln!(out, "{place}unresolved: {}: {}", safe::inline(&entry.what), safe::inline(&entry.why));
    }
    let allowed = report.findings.iter().filter(|finding| finding.allowed.is_some()).count();
    let _ = writeln!(
        out,
        "{} writes, {} flows: {} errors, {} warnings, {} notes, {allowed} allowed, {} unresolved",
        report.writes.len(),
        report.flows.len(),
        report.count(Severity::Error),
        report.count(Severity::Warning),
        report.count(Severity::Note),
        report.unresolved.len()
    );
    out
}

fn place(write: &WriteVerdict) -> String {
    let span = write.place.span();
    safe::inline(&span.map_or_else(|| write.path.clone(), |span| format!("{}:{}", span.path, span.line)))
}

fn of_finding(finding: &Finding) -> Option<String> {
    finding.after.span().map(|span| safe::inline(&format!("{}:{}", span.path, span.line)))
}

/// How many rows there were before, after the first and after the second run.
fn rows(out: &mut String, seen: &Observed) {
    let count = |moment: &Result<Snapshot, crate::engine::ExecutionError>| match moment {
        Ok(snapshot) => snapshot.rows.len().to_string(),
        Err(error) => format!("[{}]", error.class),
    };
    let before = seen.before.as_ref().map_or_else(|| "no table".to_owned(), count);
    let _ = writeln!(out, "    rows: {before} → {} → {}", count(&seen.after_1), count(&seen.after_2));
    if let Some((error, _)) = &seen.error {
        let _ = writeln!(out, "    [{}] {}", safe::inline(&error.class), safe::inline(&error.message));
    }
}

/// `elsewhere` is where the finding stands, if that is not where its table's verdict does.
fn line(out: &mut String, finding: &Finding, elsewhere: Option<&str>, explain: bool) {
    if finding.severity < Severity::Warning && !explain {
        return;
    }
    let allowed = finding.allowed.as_ref().map(|reason| format!(" (allowed: {reason})")).unwrap_or_default();
    let message = safe::inline(&format!("{}{allowed}", finding.message));
    let place = elsewhere.map(|place| format!("{place}: ")).unwrap_or_default();
    let _ = writeln!(out, "  {place}{} [{}]: {message}", finding.severity, safe::inline(&finding.rule));
    if explain {
        for remedy in &finding.remedies {
            let _ = writeln!(out, "    {}: {}", remedy.title, remedy.text.trim_end());
        }
    }
}
