//! What `pipelint lint` found, as text and as JSON.

use super::{json, safe};
use crate::lint::{LintReport, Observed, Snapshot, WriteVerdict, effect};
use crate::model::Severity;
use crate::rules::Finding;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Rows of a witness: enough to see, few enough to read.
const SHOWN_ROWS: usize = 12;

pub fn json(report: &LintReport) -> String {
    let count = |severity: Severity| report.findings.iter().filter(|finding| finding.severity == severity).count();
    let value = json!({
        "schema_version": 1,
        "tool": json::tool(),
        "revision": report.revision,
        "writes": report.writes.iter().map(write).collect::<Vec<_>>(),
        "findings": report.findings.iter().map(json::finding).collect::<Vec<_>>(),
        "unresolved": report.unresolved.iter().map(|entry| json!({
            "path": entry.span.as_ref().map(|span| span.path.to_string()),
            "line": entry.span.as_ref().map(|span| span.line),
            "code": entry.code,
            "what": entry.what,
            "why": entry.why,
            "hint": entry.hint,
        })).collect::<Vec<_>>(),
        "diagnostics": report.diagnostics.iter().map(|entry| json!({
            "path": entry.path,
            "line": entry.span.as_ref().map(|span| span.line),
            "code": entry.code,
            "message": entry.message,
            "help": entry.help,
        })).collect::<Vec<_>>(),
        "summary": {
            "flows": report.flows,
            "writes": report.writes.len(),
            "ok": report.writes.iter().filter(|write| write.labels.as_ref().is_some_and(|l| l.is_empty())).count(),
            "fixes_proven": report.writes.iter().filter(|write| write.fix.is_some()).count(),
            "findings": {
                "error": count(Severity::Error),
                "warning": count(Severity::Warning),
                "note": count(Severity::Note),
            },
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
        for finding in write.findings.iter().filter_map(|at| report.findings.get(*at)) {
            line(&mut out, finding, explain);
        }
        if let Some(fix) = &write.fix {
            let _ = writeln!(out, "    fix (run twice: ok):");
            for code in fix.code.lines() {
                let _ = writeln!(out, "      {}", safe::inline(code));
            }
        }
    }
    let of_writes: Vec<usize> = report.writes.iter().flat_map(|write| write.findings.clone()).collect();
    for (at, finding) in report.findings.iter().enumerate().filter(|(at, _)| !of_writes.contains(at)) {
        let _ = at;
        if finding.severity < Severity::Warning && !explain {
            continue;
        }
        let span = finding.after.span();
        let place = span.map_or_else(|| finding.pipeline.clone(), |span| format!("{}:{}", span.path, span.line));
        let _ = writeln!(out, "{}", safe::inline(&place));
        line(&mut out, finding, explain);
    }
    for entry in &report.unresolved {
        let place = entry.span.as_ref().map(|span| format!("{}:{}: ", span.path, span.line)).unwrap_or_default();
        let _ = writeln!(out, "{place}unresolved: {}: {}", safe::inline(&entry.what), safe::inline(&entry.why));
    }
    let count = |severity: Severity| report.findings.iter().filter(|finding| finding.severity == severity).count();
    let _ = writeln!(
        out,
        "{} writes, {} flows: {} errors, {} warnings, {} notes, {} unresolved",
        report.writes.len(),
        report.flows,
        count(Severity::Error),
        count(Severity::Warning),
        count(Severity::Note),
        report.unresolved.len()
    );
    out
}

fn place(write: &WriteVerdict) -> String {
    let span = write.place.span();
    safe::inline(&span.map_or_else(|| write.path.clone(), |span| format!("{}:{}", span.path, span.line)))
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

fn line(out: &mut String, finding: &Finding, explain: bool) {
    if finding.severity < Severity::Warning && !explain {
        return;
    }
    let _ = writeln!(out, "  {} [{}]: {}", finding.severity, finding.rule, safe::inline(&finding.message));
    if explain {
        for remedy in &finding.remedies {
            let _ = writeln!(out, "    {}: {}", remedy.title, remedy.text.trim_end());
        }
    }
}
