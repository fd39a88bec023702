//! What changed scripts beside the pipelines bring.

use super::{Paint, wrap};
use crate::model::Severity;
use crate::report::{Style, safe};
use crate::verdict::Report;
use std::fmt::Write as _;

pub fn write(out: &mut String, report: &Report, style: Style, paint: Paint) {
    let shown = report.scripts.iter().filter(|finding| finding.severity >= Severity::Warning || style.explain);
    for (at, finding) in shown.enumerate() {
        if at == 0 {
            let _ = writeln!(out, "\n{}", paint.bold("Changed scripts (pipelint lint tells all of each)"));
        }
        let place = finding
            .after
            .span()
            .map_or_else(|| finding.pipeline.clone(), |span| format!("{}:{}", span.path, span.line));
        let allowed = finding.allowed.as_ref().map(|reason| format!(" (allowed: {reason})")).unwrap_or_default();
        let text = format!("{place}: {} [{}]: {}{allowed}", finding.severity, finding.rule, finding.message);
        let _ = writeln!(out, "  {}", wrap::hanging(&safe::inline(&text), style.width, 4));
        for remedy in finding.remedies.iter().filter(|_| style.explain) {
            let text = format!("{}: {}", remedy.title, remedy.text.trim_end());
            let _ = writeln!(out, "    {}", wrap::hanging(&safe::block(&text), style.width, 6));
        }
    }
}
