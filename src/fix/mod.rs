//! Fixes: the alternative to a full refresh as a patch of the new code, offered only where it is proved to be better.
//!
//! Takes both trees; proposes edits for findings, applies them in memory, runs the whole comparison again from before to the
//! patched tree, engine included, and keeps what leaves less behind. Nothing is written here.

mod edit;
mod propose;
mod python;
pub(crate) mod sql;

pub(crate) use edit::bytes;
pub use edit::{Edit, unified_diff};

use crate::impact::Impact;
use crate::model::{Effect, FullRefresh, QualifiedName};
use crate::report::Report;
use crate::review::{Examination, Options, examine};
use crate::revision::{Overlay, Tree};
use propose::{Goal, Proposal};
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
    /// Proposals whose effect is not better, or that touch what another one has patched: title, table.
    pub dropped: Vec<(String, QualifiedName)>,
    /// Text of each patched file before and after.
    pub files: BTreeMap<String, (String, String)>,
    /// Findings of severity error that are left.
    pub errors_left: usize,
}

/// Proposes fixes, of one rule or all, and proves each on top of those before it.
pub fn fixes(before: &dyn Tree, after: &dyn Tree, options: &Options, rule: Option<&str>) -> Fixes {
    let first = examine(before, after, options);
    let proposals = propose::proposals(&first, before, after, rule);
    let mut found = Fixes::default();
    let mut accepted: Vec<Edit> = Vec::new();
    let mut current = first;
    for proposal in proposals {
        let mut edits = accepted.clone();
        edits.extend(proposal.edits.iter().cloned());
        let Some(files) = edit::apply(after, &edits) else {
            found.dropped.push((proposal.title, proposal.dataset));
            continue;
        };
        let texts = files.iter().map(|(path, (_, new))| (path.clone(), new.clone())).collect();
        let patched = examine(before, &Overlay::new(after, &texts), options);
        if is_better(&proposal, &current, &patched) {
            found.offered.push(Fix {
                before: outcome(&current.report, &proposal.dataset),
                left: outcome(&patched.report, &proposal.dataset),
                rule: proposal.rule,
                dataset: proposal.dataset,
                title: proposal.title,
                edits: proposal.edits,
            });
            found.files = files;
            accepted = edits;
            current = patched;
        } else {
            found.dropped.push((proposal.title, proposal.dataset));
        }
    }
    found.errors_left = current.report.count(crate::model::Severity::Error);
    found
}

/// The worst that happens to any flow of a table, by its own change or because its stream would stop at another's refresh.
fn outcome(report: &Report, dataset: &QualifiedName) -> Outcome {
    let flows = report.flows.iter().filter(|flow| flow.dataset == *dataset);
    let outcomes = flows.map(|flow| Outcome { effect: flow.effect, full_refresh: flow.full_refresh });
    let name = dataset.to_string();
    let stops = report.impacts.iter().filter(|impact| is_stopped_reader(impact) && impact.dataset == name);
    let stopped = stops.map(|impact| Outcome { effect: impact.effect, full_refresh: FullRefresh::Required });
    outcomes.chain(stopped).max().unwrap_or(Outcome { effect: Effect::None, full_refresh: FullRefresh::No })
}

fn is_better(proposal: &Proposal, current: &Examination, patched: &Examination) -> bool {
    let contradicted = patched.report.contradicted() > current.report.contradicted();
    let unread = patched.report.diagnostics.len() > current.report.diagnostics.len()
        || patched.report.unresolved.len() > current.report.unresolved.len();
    if contradicted || unread {
        return false;
    }
    let (now, then) = (weight(&current.report), weight(&patched.report));
    match proposal.goal {
        Goal::BetterEffect => then < now,
        Goal::Protected => then <= now && is_protected(patched, &proposal.dataset),
    }
}

fn is_protected(examination: &Examination, dataset: &QualifiedName) -> bool {
    let mut datasets = examination.after.workspace.pipelines.iter().flat_map(|pipeline| &pipeline.datasets);
    datasets.any(|candidate| candidate.name == *dataset && candidate.is_protected())
}

/// A stream that stops at the commits by which a table above it is emptied.
fn is_stopped_reader(impact: &Impact) -> bool {
    impact.kind == "streaming-reader" && impact.effect == Effect::Refused
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
    let stopped = report.impacts.iter().filter(|impact| is_stopped_reader(impact)).count();
    flows + 10 * stopped
}
