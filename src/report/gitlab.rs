//! GitLab's code quality report: a list of issues in Code Climate's form.
//!
//! Source: GitLab, "Code Quality", the fields that it reads.

use crate::model::Severity;
use crate::policy::fingerprint;
use crate::verdict::Report;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub fn render(report: &Report) -> String {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let issues: Vec<Value> = report
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
    format!("{:#}\n", Value::Array(issues))
}
