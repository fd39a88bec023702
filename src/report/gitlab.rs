//! GitLab's code quality report: a list of issues in Code Climate's form.
//!
//! Source: GitLab, "Code Quality", the fields that it reads.

use crate::model::{Diagnostic, Severity};
use crate::policy::{fingerprint, fingerprint_of};
use crate::verdict::Report;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub fn render(report: &Report) -> String {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut issues: Vec<Value> = report
        .findings
        .iter()
        .filter(|finding| finding.allowed.is_none())
        .map(|finding| {
            let key = fingerprint(finding);
            let count = seen.entry(key.clone()).or_default();
            *count += 1;
            let severity = match finding.severity {
                Severity::Error => "critical",
                Severity::Warning => "minor",
                Severity::Note | Severity::Off => "info",
            };
            let span = finding.after.span().or(finding.before.span());
            json!({
                "description": format!("{}: {}", finding.effect, finding.message),
                "check_name": finding.rule,
                "fingerprint": if *count == 1 { key } else { format!("{key}-{count}") },
                "severity": severity,
                "location": {
                    "path": span.map_or(".", |span| span.path.as_ref()),
                    "lines": { "begin": span.map_or(1, |span| span.line) },
                },
            })
        })
        .collect();
    issues.extend(report.input_errors().map(unreadable));
    format!("{:#}\n", Value::Array(issues))
}

/// What is wrong with the input: nothing else says that the run is no pass.
fn unreadable(diagnostic: &Diagnostic) -> Value {
    let path = diagnostic.span.as_ref().map(|span| span.path.as_ref()).or(diagnostic.path.as_deref());
    let line = diagnostic.span.as_ref().map_or(1, |span| span.line);
    json!({
        "description": diagnostic.message,
        "check_name": diagnostic.code,
        "fingerprint": fingerprint_of(&[diagnostic.code, path.unwrap_or_default(), &diagnostic.message]),
        "severity": "critical",
        "location": { "path": path.unwrap_or("."), "lines": { "begin": line } },
    })
}
