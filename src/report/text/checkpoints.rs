//! What the checkpoints that were read come to, one line each, with what differs.

use super::{Paint, Style, counted, wrap};
use crate::report::checkpoint::{instant, subject};
use crate::report::safe;
use crate::verdict::{CheckpointVerdict, Report, Resumption};
use std::fmt::Write as _;

/// Checkpoints that simply resume are counted beyond these.
const SHOWN: usize = 20;

pub fn write(out: &mut String, report: &Report, style: Style, paint: Paint) {
    if report.checkpoints.is_empty() {
        return;
    }
    let counts: Vec<String> = (Resumption::ALL.iter().rev())
        .map(|resumption| (resumption, report.checkpoints.iter().filter(|c| c.resumption == *resumption).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(resumption, count)| format!("{count} {}", words(*resumption)))
        .collect();
    let title = format!("{}: {}", counted(report.checkpoints.len(), "checkpoint"), counts.join(", "));
    let _ = writeln!(out, "\n{}", paint.bold(&title));
    let mut sorted: Vec<&CheckpointVerdict> = report.checkpoints.iter().collect();
    sorted.sort_by_key(|checkpoint| std::cmp::Reverse(checkpoint.resumption));
    let (quiet, loud): (Vec<_>, Vec<_>) = sorted.into_iter().partition(|c| c.resumption == Resumption::Resumes);
    let limit = if style.explain { quiet.len() } else { SHOWN.saturating_sub(loud.len()) };
    for checkpoint in loud.into_iter().chain(quiet.iter().copied().take(limit)) {
        one(out, checkpoint, style, paint);
    }
    if quiet.len() > limit {
        let _ = writeln!(out, "  … and {} more that resume (--explain lists all)", quiet.len() - limit);
    }
}

fn one(out: &mut String, checkpoint: &CheckpointVerdict, style: Style, paint: Paint) {
    let word = words(checkpoint.resumption);
    let word = match checkpoint.resumption {
        Resumption::Resumes | Resumption::StartsAnew => paint.wrap("32", word),
        Resumption::Orphaned | Resumption::Unknown => paint.wrap("33", word),
        Resumption::Refused => paint.wrap("1;31", word),
    };
    let class =
        checkpoint.error_class.as_deref().map(|class| format!(" · {}", safe::inline(class))).unwrap_or_default();
    let _ = writeln!(out, "  {word}{class}  {}", safe::inline(&subject(checkpoint)));
    let mut line = |text: &str| {
        let _ = writeln!(out, "    {}", paint.dim(&wrap::hanging(text, style.width, 6)));
    };
    line(&format!("{}{}", safe::inline(&checkpoint.path), position(checkpoint)));
    for pair in &checkpoint.schemas {
        line(&format!("{} of {} `{}`", pair.part, safe::inline(&pair.operator), safe::inline(&pair.store)));
        line(&format!("  checkpoint: {}", safe::inline(&pair.checkpoint)));
        line(&format!("  code:       {}", safe::inline(&pair.code)));
    }
    for source in checkpoint.sources.iter().filter(|source| source.behind.is_some()) {
        let behind = source.behind.as_deref().unwrap_or_default();
        line(&format!("source {} is {} behind", safe::inline(&source.key), safe::inline(behind)));
    }
    for open in &checkpoint.open {
        line(&format!("not known: {}", safe::inline(open)));
    }
    if style.explain {
        for assumed in &checkpoint.assumed {
            line(&format!("taken for granted: {}", safe::inline(assumed)));
        }
    }
}

fn position(checkpoint: &CheckpointVerdict) -> String {
    let Some(batch) = checkpoint.batch else { return String::new() };
    let at = checkpoint.planned_at.map(instant).unwrap_or_default();
    let committed = if checkpoint.committed < Some(batch) { ", not committed" } else { "" };
    format!(" · batch {batch}{committed}, planned {at}")
}

fn words(resumption: Resumption) -> &'static str {
    match resumption {
        Resumption::Resumes => "resumes",
        Resumption::StartsAnew => "starts at the first batch",
        Resumption::Orphaned => "belongs to no flow",
        Resumption::Unknown => "cannot be told",
        Resumption::Refused => "refused",
    }
}
