//! JUnit's XML: a suite a pipeline, a test case a flow, a failure for what counts.

use super::safe;
use crate::model::Severity;
use crate::verdict::Report;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

pub fn render(report: &Report) -> String {
    let mut suites: BTreeMap<&str, Vec<(String, String)>> = BTreeMap::new();
    for flow in &report.flows {
        let findings = flow.findings.iter().filter_map(|index| report.findings.get(*index));
        let counted: Vec<_> = findings.filter(|f| f.severity >= Severity::Warning && f.allowed.is_none()).collect();
        let failure = counted.first().map(|first| {
            let lines: Vec<String> =
                counted.iter().map(|f| format!("{} [{}] {}", f.severity, f.rule, f.message)).collect();
            format!(
                "<failure type=\"{}\" message=\"{}\">{}</failure>",
                safe::markup(&first.rule),
                safe::markup(&format!("{}: {}", flow.effect, first.message)),
                safe::markup(&lines.join("\n"))
            )
        });
        let name = if flow.flow == flow.dataset.name {
            flow.dataset.to_string()
        } else {
            format!("{} ({})", flow.dataset, flow.flow)
        };
        suites.entry(&flow.pipeline).or_default().push((name, failure.unwrap_or_default()));
    }
    for diagnostic in report.input_errors() {
        let path = diagnostic.span.as_ref().map(|span| span.path.to_string()).or_else(|| diagnostic.path.clone());
        let failure = format!(
            "<failure type=\"{}\" message=\"{}\"></failure>",
            safe::markup(diagnostic.code),
            safe::markup(&diagnostic.message)
        );
        suites.entry("input").or_default().push((path.unwrap_or_default(), failure));
    }
    // What concerns a whole pipeline, and what no table of it stands for.
    let of_flows: BTreeSet<usize> = report.flows.iter().flat_map(|flow| flow.findings.iter().copied()).collect();
    for (index, finding) in report.findings.iter().enumerate() {
        if !of_flows.contains(&index) && finding.severity >= Severity::Warning && finding.allowed.is_none() {
            let name = finding.dataset.as_ref().map_or_else(|| finding.rule.clone(), ToString::to_string);
            let failure = format!(
                "<failure type=\"{}\" message=\"{}\"></failure>",
                safe::markup(&finding.rule),
                safe::markup(&format!("{}: {}", finding.effect, finding.message))
            );
            suites.entry(&finding.pipeline).or_default().push((name, failure));
        }
    }
    let (tests, failures) = totals(suites.values().flatten());
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"pipelint\" tests=\"{tests}\" failures=\"{failures}\">");
    for (pipeline, cases) in &suites {
        let (tests, failures) = totals(cases.iter());
        let pipeline = safe::markup(pipeline);
        let _ = writeln!(out, "  <testsuite name=\"{pipeline}\" tests=\"{tests}\" failures=\"{failures}\">");
        for (name, failure) in cases {
            let _ = writeln!(
                out,
                "    <testcase classname=\"{pipeline}\" name=\"{}\">{failure}</testcase>",
                safe::markup(name)
            );
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn totals<'a>(cases: impl Iterator<Item = &'a (String, String)>) -> (usize, usize) {
    cases.fold((0, 0), |(tests, failures), (_, failure)| (tests + 1, failures + usize::from(!failure.is_empty())))
}
