//! What changed in the text of a flow: the parts of its file's diff that lie in its definition.

use crate::report::safe::markup;
use crate::verdict::{FlowVerdict, Report, Revision};
use similar::{ChangeTag, TextDiff};
use std::fmt::Write as _;

const CONTEXT: usize = 3;
/// Lines of one flow's diff shown at most.
const LINES_SHOWN: usize = 200;

/// The diff as HTML; nothing where the text of the definition is the same.
pub fn html(report: &Report, flow: &FlowVerdict) -> Option<String> {
    // A flow that one side lacks is shown against the file of the same path on that side.
    let (before, after) = (flow.before.as_ref().or(flow.after.as_ref()), flow.after.as_ref().or(flow.before.as_ref()));
    let text = |revision, span: Option<&crate::model::Span>| {
        span.and_then(|s| report.texts.get(revision, &s.path)).unwrap_or_default()
    };
    let (old, new) = (text(Revision::Before, before), text(Revision::After, after));
    if after.or(before).is_some_and(|span| span.path.ends_with(".ipynb")) || old == new {
        return None;
    }
    let diff = TextDiff::from_lines(old, new);
    // The definition reaches to the next one in the same file.
    let revision = if flow.after.is_some() { Revision::After } else { Revision::Before };
    let span = if flow.after.is_some() { after? } else { before? };
    let side =
        |other: &FlowVerdict| if revision == Revision::After { other.after.clone() } else { other.before.clone() };
    let starts =
        report.flows.iter().filter_map(side).filter(|s| s.path == span.path && s.line > span.line).map(|s| s.line);
    let line = |n: u32| usize::try_from(n).unwrap_or(usize::MAX).saturating_sub(1);
    let (start, end) = (line(span.line), starts.min().map_or(usize::MAX, line));
    let mut out = String::new();
    let mut shown = 0;
    for group in diff.grouped_ops(CONTEXT) {
        let range = |op: &similar::DiffOp| if revision == Revision::After { op.new_range() } else { op.old_range() };
        let (first, last) = (group.first().map(range)?, group.last().map(range)?);
        if last.end < start || first.start >= end {
            continue;
        }
        let _ = write!(out, "<span class=\"at\">@@ line {} @@</span>", first.start + 1);
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (class, sign) = match change.tag() {
                ChangeTag::Equal => ("same", ' '),
                ChangeTag::Delete => ("removed", '-'),
                ChangeTag::Insert => ("added", '+'),
            };
            shown += 1;
            if shown <= LINES_SHOWN {
                let text = change.value().trim_end_matches(['\n', '\r']);
                let _ = write!(out, "<span class=\"{class}\">{sign}{}</span>", markup(text));
            }
        }
    }
    if shown > LINES_SHOWN {
        let _ = writeln!(out, "… and {} more lines", shown - LINES_SHOWN);
    }
    (!out.is_empty()).then_some(out)
}
