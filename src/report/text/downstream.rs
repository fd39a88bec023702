//! What happens further down the graph, and what to run.

use super::{Paint, plain, table};
use crate::report::{Report, safe};
use std::fmt::Write as _;

/// Impacts shown at most.
const IMPACTS_SHOWN: usize = 20;

pub fn write(out: &mut String, report: &Report, paint: Paint) {
    impacts(out, report, paint);
    plan(out, report, paint);
}

fn impacts(out: &mut String, report: &Report, paint: Paint) {
    if report.impacts.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", paint.bold("Downstream"));
    let rows: Vec<_> = report
        .impacts
        .iter()
        .take(IMPACTS_SHOWN)
        .map(|impact| {
            let effect = impact.effect.to_string();
            vec![
                (effect.clone(), paint.effect(impact.effect, &effect)),
                plain(&safe::inline(&impact.dataset)),
                plain(&safe::inline(&format!("because of {}: {}", impact.because_of, impact.hint))),
            ]
        })
        .collect();
    table::write(out, &rows, "  ");
    let left_out = report.impacts.len().saturating_sub(IMPACTS_SHOWN);
    if left_out > 0 {
        let _ = writeln!(out, "  … and {left_out} more");
    }
}

fn plan(out: &mut String, report: &Report, paint: Paint) {
    let plan = &report.plan;
    for blocked in &plan.blocked {
        let _ = writeln!(
            out,
            "\n{} {}: {}",
            paint.bold("Blocked"),
            safe::inline(&blocked.dataset),
            safe::inline(&blocked.reason)
        );
    }
    for lossy in &plan.lossy {
        let _ = writeln!(
            out,
            "\n{} {}: {}",
            paint.bold("Lost for good"),
            safe::inline(&lossy.dataset),
            safe::inline(&lossy.reason)
        );
    }
    if plan.commands.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", paint.bold("To run, after the deployment"));
    for command in &plan.commands {
        let _ = writeln!(
            out,
            "  {} {}",
            paint.dim(&format!("{} · {}:", safe::inline(&command.pipeline), command.via)),
            safe::block(&command.text)
        );
    }
}
