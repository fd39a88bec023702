//! Fixes: alternatives to a full refresh as patches, judged by the comparison that they leave.
//!
//! Takes both trees; applies the edits of each alternative in memory, runs the whole comparison again from before to the patched tree,
//! engine included, and compares what happens to *every* table with and without the patch. A patch that makes no table worse and loses
//! no refresh is offered; one that gains something at a price is a choice, with that price. Nothing is written here.

mod price;

use crate::alternative::edit::apply;
pub use crate::alternative::edit::{Edit, unified_diff};
use crate::alternative::{Alternative, Goal};
use crate::analyze::Analysis;
use crate::model::{Diagnostic, QualifiedName, Severity};
use crate::reading::Options;
use crate::review::{Examination, examine};
use crate::revision::{Overlay, Tree};
pub use price::{Outcome, Price, outcome};
use price::{gains, prices};
use std::collections::BTreeMap;

/// A patch, and what happens to its table with it.
#[derive(Debug, Clone)]
pub struct Fix {
    /// The rule whose finding it answers.
    pub rule: String,
    pub dataset: QualifiedName,
    pub title: String,
    /// What the patch does.
    pub text: String,
    pub edits: Vec<Edit>,
    /// The table's outcome without and with the patch.
    pub before: Outcome,
    pub left: Outcome,
    /// What becomes worse with it; empty for a safe fix.
    pub prices: Vec<Price>,
}

/// Which patches are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accept {
    /// Those that make nothing worse.
    Safe,
    /// Those with a price too: `--unsafe`.
    WithPrice,
}

/// What can be done about a change.
#[derive(Debug, Clone, Default)]
pub struct Fixes {
    /// What the patched files hold, in the order in which it was applied.
    pub offered: Vec<Fix>,
    /// Fixes with a price that were not asked for.
    pub choices: Vec<Fix>,
    /// Alternatives that gain nothing, or that touch what another one has patched: title, table.
    pub dropped: Vec<(String, QualifiedName)>,
    /// Text of each patched file before and after.
    pub files: BTreeMap<String, (String, String)>,
    /// Findings of severity error that are left.
    pub errors_left: usize,
}

/// Tries the alternatives, of one rule or all, each on top of those taken before it. An error where there is no such rule.
pub fn fixes(
    before: &dyn Tree,
    after: &dyn Tree,
    options: &Options,
    rule: Option<&str>,
    accept: Accept,
) -> Result<Fixes, Box<Diagnostic>> {
    let mut current = examine(before, after, options);
    if let Some(rule) = rule.filter(|rule| !Alternative::UNASKED.contains(rule) && current.book.rule(rule).is_none()) {
        return Err(Box::new(current.book.unknown_rule(rule)));
    }
    let mut found = Fixes::default();
    let mut accepted: Vec<Edit> = Vec::new();
    let asked = |alternative: &Alternative| rule.is_none_or(|rule| alternative.rule == rule);
    let alternatives = std::mem::take(&mut current.alternatives);
    for alternative in alternatives.into_iter().filter(asked) {
        let edits = accepted.iter().chain(&alternative.edits).cloned().collect();
        let patched = patched(before, after, options, edits)
            .filter(|(_, _, patched)| reaches_its_goal(&alternative, &current, patched));
        let Some((edits, files, patched)) = patched else {
            found.dropped.push((alternative.title, alternative.dataset));
            continue;
        };
        let fix = Fix {
            before: outcome(&current.report, &alternative.dataset),
            left: outcome(&patched.report, &alternative.dataset),
            prices: prices(&current.report, &patched.report),
            rule: alternative.rule,
            dataset: alternative.dataset,
            title: alternative.title,
            text: alternative.text,
            edits: alternative.edits,
        };
        if !fix.prices.is_empty() && accept == Accept::Safe {
            found.choices.push(fix);
            continue;
        }
        found.offered.push(fix);
        found.files = files;
        accepted = edits;
        current = patched;
    }
    found.errors_left = current.report.count(Severity::Error);
    Ok(found)
}

type Patched = (Vec<Edit>, BTreeMap<String, (String, String)>, Examination);

fn patched(before: &dyn Tree, after: &dyn Tree, options: &Options, edits: Vec<Edit>) -> Option<Patched> {
    let files = apply(after, &edits)?;
    let texts = files.iter().map(|(path, (_, new))| (path.clone(), new.clone())).collect();
    let patched = examine(before, &Overlay::new(after, &texts), options);
    Some((edits, files, patched))
}

/// The patched code is understood as well as the code was, and the patch does what it is for.
fn reaches_its_goal(alternative: &Alternative, current: &Examination, patched: &Examination) -> bool {
    let dataset = &alternative.dataset;
    let contradicted = patched.report.contradicted() > current.report.contradicted();
    let unread = patched.report.diagnostics.len() > current.report.diagnostics.len()
        || patched.report.unresolved.len() > current.report.unresolved.len();
    if contradicted || unread || reads_twice(current, patched, dataset) {
        return false;
    }
    match alternative.goal {
        Goal::BetterEffect => gains(&current.report, &patched.report),
        Goal::Protected => is_protected(patched, dataset),
        Goal::FindingGone => {
            let answered = |finding: &crate::rules::Finding| {
                finding.rule == alternative.rule && finding.dataset.as_ref() == Some(dataset)
            };
            !patched.report.findings.iter().any(answered)
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
