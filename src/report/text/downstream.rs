//! What happens further down the graph, and what to run.

use super::{Paint, wrap};
use crate::model::Effect;
use crate::report::{Style, safe};
use crate::verdict::Report;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Tables shown at most without `--explain`.
const TABLES_SHOWN: usize = 12;
/// Reasons shown for one table without `--explain`.
const REASONS_SHOWN: usize = 2;

pub fn write(out: &mut String, report: &Report, style: Style, paint: Paint) {
    impacts(out, report, style, paint);
    plan(out, report, style, paint);
}

/// Each table below once, with the worst that happens to it, and why.
fn impacts(out: &mut String, report: &Report, style: Style, paint: Paint) {
    let mut tables: BTreeMap<&str, (Effect, Vec<String>)> = BTreeMap::new();
    for impact in &report.impacts {
        let entry = tables.entry(&impact.dataset).or_insert((impact.effect, Vec::new()));
        entry.0 = entry.0.max(impact.effect);
        entry.1.push(safe::inline(&format!("{}: {}", impact.because_of, impact.hint)));
    }
    if tables.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", paint.bold("Downstream"));
    let mut sorted: Vec<_> = tables.into_iter().collect();
    sorted.sort_by_key(|(name, (effect, _))| (std::cmp::Reverse(*effect), *name));
    let (tables_shown, reasons_shown) =
        if style.explain { (usize::MAX, usize::MAX) } else { (TABLES_SHOWN, REASONS_SHOWN) };
    for (name, (effect, reasons)) in sorted.iter().take(tables_shown) {
        let _ = writeln!(out, "  {}  {}", paint.effect(*effect, &format!("{effect:<10}")), safe::inline(name));
        for reason in reasons.iter().take(reasons_shown) {
            let _ = writeln!(out, "    {}", wrap::hanging(&format!("because of {reason}"), style.width, 6));
        }
        if reasons.len() > reasons_shown {
            let _ = writeln!(out, "    … and {} more reasons", reasons.len() - reasons_shown);
        }
    }
    if sorted.len() > tables_shown {
        let _ = writeln!(out, "  … and {} more", sorted.len() - tables_shown);
    }
}

fn pipeline_name(key: &str) -> String {
    if key == "." { "the pipeline".to_owned() } else { format!("pipeline {}", safe::inline(key)) }
}

fn way(via: &str) -> &str {
    match via {
        "bundle" => "by its bundle",
        "cli" => "by the Databricks CLI",
        "rest" => "by the REST API",
        "ui" => "in the browser",
        _ => "by Spark's command line",
    }
}

fn plan(out: &mut String, report: &Report, style: Style, paint: Paint) {
    let plan = &report.plan;
    let blocked = plan.blocked.iter().map(|blocked| ("Blocked", &blocked.dataset, &blocked.reason));
    let lossy = plan.lossy.iter().map(|lossy| ("Lost for good", &lossy.dataset, &lossy.reason));
    for (title, dataset, reason) in blocked.chain(lossy) {
        let text = wrap::hanging(&safe::inline(&format!("{title} {dataset}: {reason}")), style.width, 2);
        let _ = writeln!(out, "\n{}{}", paint.bold(title), text.strip_prefix(title).unwrap_or_default());
    }
    if plan.commands.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", paint.bold("To run, after the deployment"));
    let mut pipeline = None;
    let mut other_ways = false;
    for command in &plan.commands {
        // Commands are never wrapped: they are there to be copied.
        if pipeline != Some(&command.pipeline) || style.explain {
            let who = paint.dim(&format!("# {}, {}", pipeline_name(&command.pipeline), way(command.via)));
            let _ = writeln!(out, "  {who}\n  {}", safe::block(&command.text));
        } else {
            other_ways = true;
        }
        pipeline = Some(&command.pipeline);
    }
    if other_ways {
        let _ = writeln!(out, "  {}", paint.dim("(--explain: also by command line, REST and in the browser)"));
    }
}
