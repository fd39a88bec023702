//! Annotations of a GitHub workflow: `::error file=…,line=…::message`, one a finding.
//!
//! Source: GitHub, "Workflow commands for GitHub Actions"; escapes as `@actions/core` writes them.

use super::safe;
use crate::model::{DiagnosticLevel, Severity, Span};
use crate::verdict::{Report, Revision};
use std::fmt::Write as _;

pub fn render(report: &Report) -> String {
    let mut out = String::new();
    for finding in report.findings.iter().filter(|finding| finding.allowed.is_none()) {
        let level = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note | Severity::Off => "notice",
        };
        // Only the after side's lines are shown in a pull request.
        let span = finding.after.span();
        let subject = finding.dataset.as_ref().map_or_else(|| finding.pipeline.clone(), ToString::to_string);
        let title = format!("{} · {} · {subject}", finding.effect, finding.rule);
        write_command(&mut out, level, span, &title, &finding.message);
    }
    for finding in report.scripts.iter().filter(|finding| finding.allowed.is_none()) {
        let title = format!("{} · {}", finding.rule, finding.pipeline);
        write_command(&mut out, "notice", finding.after.span(), &title, &finding.message);
    }
    // What the change has nothing to do with would stand at lines that nobody edited.
    for remark in report.diagnostics.iter().filter(|remark| !remark.in_both) {
        let diagnostic = &remark.entry;
        let level = match diagnostic.level {
            DiagnosticLevel::Error => "error",
            DiagnosticLevel::Warning => "warning",
            DiagnosticLevel::Note => continue,
        };
        let span = diagnostic.span.as_ref().filter(|_| remark.revision == Revision::After);
        let help = diagnostic.help.as_ref().map(|help| format!("\n{help}")).unwrap_or_default();
        write_command(&mut out, level, span, diagnostic.code, &format!("{}{help}", diagnostic.message));
    }
    out
}

fn write_command(out: &mut String, level: &str, span: Option<&Span>, title: &str, message: &str) {
    let mut properties = Vec::new();
    if let Some(span) = span {
        properties.push(format!("file={}", property(&span.path)));
        // Lines of a Jupyter cell are no lines of the file.
        if span.cell.is_none() || !span.path.ends_with(".ipynb") {
            properties.push(format!("line={}", span.line));
            properties.push(format!("endLine={}", span.end_line.max(span.line)));
        }
    }
    properties.push(format!("title={}", property(&format!("pipelint: {title}"))));
    let _ = writeln!(out, "::{level} {}::{}", properties.join(","), data(&safe::block(message)));
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(&safe::inline(text)).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_message_or_path_ends_the_command() {
        let span = Span { path: "a,b:c%.sql".into(), line: 3, column: 1, end_line: 3, end_column: 2, cell: None };
        let mut out = String::new();
        write_command(&mut out, "error", Some(&span), "x::y", "one\r\n::set-output name=a::100%");
        assert_eq!(
            out,
            "::error file=a%2Cb%3Ac%25.sql,line=3,endLine=3,title=pipelint%3A x%3A%3Ay::one\\r%0A::set-output name=a::100%25\n"
        );
        assert_eq!(out.lines().count(), 1);
    }
}
