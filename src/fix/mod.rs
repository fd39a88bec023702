//! Fixes: alternatives to a full refresh as patches, offered only where they are proved to be better.
//!
//! Takes both trees; applies the edits of each alternative in memory, runs the whole comparison again from before to the patched tree,
//! engine included, and keeps what leaves less behind. Nothing is written here.

use crate::alternative::edit::apply;
pub use crate::alternative::edit::{Edit, unified_diff};
use crate::alternative::{Alternative, Goal};
use crate::analyze::Analysis;
use crate::model::{Effect, FullRefresh, QualifiedName, Severity};
use crate::reading::Options;
use crate::review::{Examination, examine};
use crate::revision::{Overlay, Tree};
use crate::verdict::Report;
use std::collections::BTreeMap;

/// What happens to a table, as a report says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outcome {
    pub effect: Effect,
    pub full_refresh: FullRefresh,
}

/// A patch that leaves a better effect behind.
#[derive(Debug, Clone)]
pub struct Fix {
    /// The rule whose finding it answers.
    pub rule: String,
    pub dataset: QualifiedName,
    pub title: String,
    pub edits: Vec<Edit>,
    /// The table's outcome without and with the patch.
    pub before: Outcome,
    pub left: Outcome,
}

/// What can be done about a change.
#[derive(Debug, Clone, Default)]
pub struct Fixes {
    pub offered: Vec<Fix>,
    /// Alternatives whose effect is not better, or that touch what another one has patched: title, table.
    pub dropped: Vec<(String, QualifiedName)>,
    /// Text of each patched file before and after.
    pub files: BTreeMap<String, (String, String)>,
    /// Findings of severity error that are left.
    pub errors_left: usize,
}

/// Proves the alternatives, of one rule or all, each on top of those before it.
pub fn fixes(before: &dyn Tree, after: &dyn Tree, options: &Options, rule: Option<&str>) -> Fixes {
    let mut current = examine(before, after, options);
    let mut found = Fixes::default();
    let mut accepted: Vec<Edit> = Vec::new();
    let asked = |alternative: &Alternative| rule.is_none_or(|rule| alternative.rule == rule);
    let alternatives = std::mem::take(&mut current.alternatives);
    for alternative in alternatives.into_iter().filter(asked) {
        let edits = accepted.iter().chain(&alternative.edits).cloned().collect();
        let better =
            patched(before, after, options, edits).filter(|(_, _, patched)| is_better(&alternative, &current, patched));
        let Some((edits, files, patched)) = better else {
            found.dropped.push((alternative.title, alternative.dataset));
            continue;
        };
        found.offered.push(Fix {
            before: outcome(&current.report, &alternative.dataset),
            left: outcome(&patched.report, &alternative.dataset),
            rule: alternative.rule,
            dataset: alternative.dataset,
            title: alternative.title,
            edits: alternative.edits,
        });
        found.files = files;
        accepted = edits;
        current = patched;
    }
    found.errors_left = current.report.count(Severity::Error);
    found
}

type Patched = (Vec<Edit>, BTreeMap<String, (String, String)>, Examination);

fn patched(before: &dyn Tree, after: &dyn Tree, options: &Options, edits: Vec<Edit>) -> Option<Patched> {
    let files = apply(after, &edits)?;
    let texts = files.iter().map(|(path, (_, new))| (path.clone(), new.clone())).collect();
    let patched = examine(before, &Overlay::new(after, &texts), options);
    Some((edits, files, patched))
}

/// The worst that happens to any flow of a table, by its own change or because its stream would stop at another's refresh.
fn outcome(report: &Report, dataset: &QualifiedName) -> Outcome {
    let flows = report.flows.iter().filter(|flow| flow.dataset == *dataset);
    let outcomes = flows.map(|flow| Outcome { effect: flow.effect, full_refresh: flow.full_refresh });
    let name = dataset.to_string();
    let stops = report.impacts.iter().filter(|impact| impact.stops_a_stream() && impact.dataset == name);
    let stopped = stops.map(|impact| Outcome { effect: impact.effect, full_refresh: FullRefresh::Required });
    outcomes.chain(stopped).max().unwrap_or(Outcome { effect: Effect::None, full_refresh: FullRefresh::No })
}

fn is_better(alternative: &Alternative, current: &Examination, patched: &Examination) -> bool {
    let dataset = &alternative.dataset;
    let contradicted = patched.report.contradicted() > current.report.contradicted();
    let unread = patched.report.diagnostics.len() > current.report.diagnostics.len()
        || patched.report.unresolved.len() > current.report.unresolved.len();
    if contradicted || unread || reads_twice(current, patched, dataset) {
        return false;
    }
    let (now, then) = (weight(&current.report), weight(&patched.report));
    match alternative.goal {
        Goal::BetterEffect => then < now,
        Goal::Protected => then <= now && is_protected(patched, dataset),
        Goal::FindingGone => {
            let stands = |finding: &crate::rules::Finding| {
                finding.rule == alternative.rule && finding.dataset.as_ref() == Some(dataset)
            };
            then <= now && !patched.report.findings.iter().any(stands)
        }
    }
}

/// A source is read by more streams into the table than it was: its rows would stand there twice.
fn reads_twice(current: &Examination, patched: &Examination, dataset: &QualifiedName) -> bool {
    let (before, now) = (streams(&current.before, dataset), streams(&current.after, dataset));
    let allowed = |source: &String| {
        let known = |streams: &BTreeMap<String, usize>| streams.get(source).copied().unwrap_or(0);
        known(&before).max(known(&now)).max(1)
    };
    streams(&patched.after, dataset).iter().any(|(source, count)| *count > allowed(source))
}

/// How many streams into a table read each source.
fn streams(analysis: &Analysis, dataset: &QualifiedName) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for analyzed in &analysis.flows {
        let flow = analysis.workspace.pipelines.get(analyzed.pipeline).and_then(|p| p.flows.get(analyzed.flow));
        if flow.is_some_and(|flow| flow.target == *dataset) {
            for source in analyzed.aspects.sources.iter().filter(|source| source.streaming) {
                *counts.entry(source.text.clone()).or_default() += 1;
            }
        }
    }
    counts
}

fn is_protected(examination: &Examination, dataset: &QualifiedName) -> bool {
    let mut datasets = examination.after.workspace.pipelines.iter().flat_map(|pipeline| &pipeline.datasets);
    datasets.any(|candidate| candidate.name == *dataset && candidate.is_protected())
}

/// How much a change does, all in all: over all flows, and over the readers whose streams would stop.
fn weight(report: &Report) -> usize {
    let effect = |effect: Effect| Effect::ALL.iter().position(|known| *known == effect).unwrap_or(0);
    let refresh = |refresh: FullRefresh| match refresh {
        FullRefresh::No => 0,
        FullRefresh::Recommended => 2,
        FullRefresh::Required => 8,
        FullRefresh::Useless => 12,
    };
    let flows: usize = report.flows.iter().map(|flow| effect(flow.effect) + refresh(flow.full_refresh)).sum();
    let stopped = report.impacts.iter().filter(|impact| impact.stops_a_stream()).count();
    flows + 10 * stopped
}
