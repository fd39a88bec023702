//! SARIF 2.1.0 (OASIS): relative paths, fingerprints that survive moved lines, the rules' own help, and a code flow from the
//! changed line to each table below that it reaches.

use crate::model::{Diagnostic, DiagnosticLevel, Severity, Span};
use crate::policy::fingerprint;
use crate::rules::Finding;
use crate::verdict::{Report, Revision};
use serde_json::{Map, Value, json};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
const HOME: &str = "https://github.com/pipelint/pipelint";
/// Tables below that a code flow follows.
const REACHED_SHOWN: usize = 10;

pub fn render(report: &Report) -> String {
    let ids: Vec<&String> = report.rules.keys().collect();
    let rules: Vec<Value> = report
        .rules
        .iter()
        .map(|(id, rule)| {
            json!({
                "id": id,
                "name": pascal_case(id),
                "shortDescription": { "text": rule.name },
                "fullDescription": { "text": rule.why.trim() },
                "help": { "text": rule.help, "markdown": rule.markdown },
                "defaultConfiguration": { "level": level(rule.severity) },
                "properties": { "tags": ["data", rule.category] },
            })
        })
        .collect();
    let mut results: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| result(report, finding, ids.iter().position(|id| **id == finding.rule)))
        .collect();
    results.extend(report.input_errors().map(input_error));
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "pipelint",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": HOME,
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": { "ROOT": { "description": { "text": "the root of the repository" } } },
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": notifications(report),
            }],
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
        Severity::Off => "none",
    }
}

fn result(report: &Report, finding: &Finding, rule: Option<usize>) -> Value {
    let span = finding.after.span().or(finding.before.span());
    let mut result = Map::new();
    result.insert("ruleId".to_owned(), finding.rule.as_str().into());
    if let Some(index) = rule {
        result.insert("ruleIndex".to_owned(), index.into());
    }
    result.insert("level".to_owned(), level(finding.severity).into());
    result.insert("message".to_owned(), json!({ "text": message(finding) }));
    let logical = logical_location(finding);
    let location = match span {
        Some(span) => json!({ "physicalLocation": physical_location(span), "logicalLocations": [logical] }),
        None => json!({ "logicalLocations": [logical] }),
    };
    result.insert("locations".to_owned(), json!([location]));
    if let (Some(before), Some(_)) = (finding.before.span(), finding.after.span()) {
        // The line's text of before is no part of the after revision: its place is told in words beside the link.
        let text = format!("before: {}:{}", before.path, before.line);
        let related = json!({ "id": 1, "message": { "text": text }, "physicalLocation": physical_location(before) });
        result.insert("relatedLocations".to_owned(), json!([related]));
    }
    if let Some(flow) = code_flow(report, finding) {
        result.insert("codeFlows".to_owned(), json!([flow]));
    }
    result.insert("partialFingerprints".to_owned(), json!({ "pipelint/v1": fingerprint(finding) }));
    if let Some(reason) = &finding.allowed {
        let kind = if reason == "in the baseline" { "external" } else { "inSource" };
        result.insert(
            "suppressions".to_owned(),
            json!([{ "kind": kind, "status": "accepted", "justification": reason }]),
        );
    }
    result.insert(
        "properties".to_owned(),
        json!({
            "effect": finding.effect.as_str(),
            "fullRefresh": finding.full_refresh.as_str(),
            "pipeline": finding.pipeline,
        }),
    );
    Value::Object(result)
}

/// What is wrong with the input, as a result: viewers show no notifications.
fn input_error(diagnostic: &Diagnostic) -> Value {
    let start = diagnostic.path.as_ref().map(|path| Span::start_of(path.as_str().into()));
    let span = diagnostic.span.clone().or(start);
    let locations: Vec<Value> =
        span.iter().map(|span| json!({ "physicalLocation": physical_location(span) })).collect();
    json!({
        "ruleId": diagnostic.code,
        "level": "error",
        "message": { "text": diagnostic.message },
        "locations": locations,
    })
}

fn message(finding: &Finding) -> String {
    let remedy = finding.remedies.first().map(|remedy| format!("\nWhat to do: {}", remedy.title)).unwrap_or_default();
    format!("{}\nEffect: {} (full refresh: {}){remedy}", finding.message, finding.effect, finding.full_refresh)
}

fn logical_location(finding: &Finding) -> Value {
    match &finding.dataset {
        Some(dataset) => json!({ "fullyQualifiedName": dataset.to_string(), "kind": "resource" }),
        None => json!({ "fullyQualifiedName": finding.pipeline, "kind": "module" }),
    }
}

/// The changed line, then each table below that the change reaches, at its definition.
fn code_flow(report: &Report, finding: &Finding) -> Option<Value> {
    let start = finding.after.span()?;
    let dataset = finding.dataset.as_ref()?.to_string();
    let reached = report.impacts.iter().filter(|impact| impact.because_of == dataset).take(REACHED_SHOWN);
    let step = |text: String, span: &Span| json!({ "location": { "physicalLocation": physical_location(span), "message": { "text": text } } });
    let mut steps = vec![step(format!("{dataset} changes here"), start)];
    for impact in reached {
        let flow = report.flows.iter().find(|flow| flow.dataset.to_string() == impact.dataset);
        if let Some(span) = flow.and_then(|flow| flow.after.as_ref()) {
            steps.push(step(format!("{}: {}: {}", impact.dataset, impact.effect, impact.hint), span));
        }
    }
    (steps.len() > 1).then(|| json!({ "threadFlows": [{ "locations": steps }] }))
}

fn physical_location(span: &Span) -> Value {
    let mut region = Map::new();
    // Lines of a Jupyter cell are no lines of the file.
    if span.cell.is_none() || !span.path.ends_with(".ipynb") {
        region.insert("startLine".to_owned(), span.line.max(1).into());
        region.insert("startColumn".to_owned(), span.column.max(1).into());
        region.insert("endLine".to_owned(), span.end_line.max(span.line).max(1).into());
        region.insert("endColumn".to_owned(), span.end_column.max(1).into());
    } else {
        region.insert("startLine".to_owned(), 1.into());
    }
    json!({ "artifactLocation": { "uri": uri(&span.path), "uriBaseId": "ROOT" }, "region": region })
}

/// A relative reference (RFC 3986): everything but unreserved characters and `/` in percent form.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

fn notifications(report: &Report) -> Vec<Value> {
    let diagnostics = report.diagnostics.iter().map(|remark| {
        let diagnostic = &remark.entry;
        let level = match diagnostic.level {
            DiagnosticLevel::Error => "error",
            DiagnosticLevel::Warning => "warning",
            DiagnosticLevel::Note => "note",
        };
        (remark.revision, level, diagnostic.code.to_owned(), diagnostic.message.clone(), diagnostic.span.as_ref())
    });
    let unresolved = report.unresolved.iter().map(|remark| {
        let entry = &remark.entry;
        (
            remark.revision,
            "warning",
            entry.code.clone(),
            format!("unresolved: {}: {}", entry.what, entry.why),
            entry.span.as_ref(),
        )
    });
    diagnostics
        .chain(unresolved)
        .map(|(revision, level, code, message, span)| {
            let text = if revision == Revision::Before { format!("{message} (before)") } else { message };
            let mut value = json!({ "descriptor": { "id": code }, "level": level, "message": { "text": text } });
            if let (Some(span), Value::Object(fields)) = (span, &mut value) {
                fields.insert("locations".to_owned(), json!([{ "physicalLocation": physical_location(span) }]));
            }
            value
        })
        .collect()
}

fn pascal_case(id: &str) -> String {
    let capital = |word: &str| {
        let mut chars = word.chars();
        chars.next().map(|c| c.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
    };
    id.split('-').map(capital).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn paths_become_relative_references() {
        assert_eq!(super::uri("a b/größe#1.sql"), "a%20b/gr%C3%B6%C3%9Fe%231.sql");
        assert_eq!(super::pascal_case("dedup-keys-changed"), "DedupKeysChanged");
    }
}
