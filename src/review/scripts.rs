//! Scripts beside the pipelines that a change makes worse: what `pipelint lint` says of a changed script now and did not say before.
//!
//! Takes both sides; gives findings of the after side, marked where it accepts them. Scripts that the change leaves alone are not
//! run.

use crate::analyze::Analysis;
use crate::confirm::{Script, Scripts};
use crate::diff::{Change, Diff, FlowStatus};
use crate::frontend::{self, ParseCache};
use crate::lint;
use crate::model::Job;
use crate::reading::{ConfirmWith, Options, Side, accept};
use crate::revision::{ContentId, Tree};
use crate::rules::{Finding, RuleBook};
use std::collections::{BTreeMap, BTreeSet};

/// By place and rule.
pub fn worsened(
    before: Side<'_>,
    after: Side<'_>,
    book: &RuleBook,
    options: &Options,
    cache: &ParseCache,
) -> Vec<Finding> {
    let changed = edited(after, before.0);
    if changed.is_empty() || matches!(options.confirm, ConfirmWith::Nothing) {
        return Vec::new();
    }
    let told = |(tree, reading): Side<'_>, scripts: &BTreeSet<String>| {
        lint::script_findings(tree, &reading.project.scripts, scripts, book, cache)
    };
    let mut new = told(after, &changed);
    if new.is_empty() {
        return new;
    }
    let old = told(before, &edited(before, after.0));
    let mut known: BTreeMap<Key, usize> = BTreeMap::new();
    for finding in &old {
        *known.entry(key(finding)).or_insert(0) += 1;
    }
    new.retain(|finding| match known.get_mut(&key(finding)) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => true,
    });
    // What is wrong with comments and entries that accept findings, the comparison tells itself.
    accept(&mut new, None, after, book, options.baseline.clone(), &|_| false);
    let place = |finding: &Finding| finding.after.span().map(|span| (span.path.clone(), span.line));
    new.sort_by(|a, b| (place(a), &a.rule).cmp(&(place(b), &b.rule)));
    new
}

/// Scripts of both sides, where one is another or a flow is: otherwise they do to the flows what they did.
#[derive(Default)]
pub struct Beside {
    old: Vec<Job>,
    new: Vec<Job>,
    /// Those that write what the flows read or write.
    pub scripts: Scripts,
}

impl Beside {
    pub fn of(before: Side<'_>, after: Side<'_>, difference: &Diff, cache: &ParseCache) -> Beside {
        let unchanged = difference.flows.iter().all(|flow| flow.status == FlowStatus::Unchanged);
        if unchanged && edited(before, after.0).is_empty() && edited(after, before.0).is_empty() {
            return Beside::default();
        }
        Beside::all(before, after, cache)
    }

    /// The same, whatever has changed.
    pub fn all(before: Side<'_>, after: Side<'_>, cache: &ParseCache) -> Beside {
        let changed = [edited(before, after.0), edited(after, before.0)];
        let [old, new] =
            [(before, &changed[0]), (after, &changed[1])].map(|(side, changed)| scripts(side, changed, cache));
        let jobs = |scripts: &[Script]| scripts.iter().map(|script| script.job.clone()).collect();
        let (old_jobs, new_jobs) = (jobs(&old), jobs(&new));
        let scripts = Scripts::new([&before.1.analysis, &after.1.analysis], old, new);
        Beside { old: old_jobs, new: new_jobs, scripts }
    }

    /// What the scripts of the after side begin to do to tables that streams read.
    pub fn source_commits(&self, before: &Analysis, after: &Analysis) -> Vec<Change> {
        let (old, new): (Vec<&Job>, Vec<&Job>) = (self.old.iter().collect(), self.new.iter().collect());
        lint::changes_of_commits(before, &old, after, &new)
    }
}

fn scripts((tree, reading): Side<'_>, changed: &BTreeSet<String>, cache: &ParseCache) -> Vec<Script> {
    let units = &reading.project.scripts;
    let script = |script: frontend::Script| {
        let unit = units.iter().find(|unit| unit.files.first().is_some_and(|f| *f.path == *script.job.path))?;
        let changed = changed.contains(&script.job.path);
        Some(Script { job: script.job, pipeline: unit.pipeline.clone(), changed })
    };
    frontend::jobs(tree, units, cache).into_iter().filter_map(script).collect()
}

/// What a finding says, wherever in the scripts it stands.
type Key = (String, Option<String>, String);

fn key(finding: &Finding) -> Key {
    (finding.rule.clone(), finding.dataset.as_ref().map(ToString::to_string), finding.message.clone())
}

/// Scripts of one side that the other side does not have, under any path.
fn edited((tree, reading): Side<'_>, other: &dyn Tree) -> BTreeSet<String> {
    let there: BTreeSet<ContentId> = other.entries().iter().map(|entry| entry.content).collect();
    let files = reading.project.scripts.iter().filter_map(|unit| unit.files.first());
    let edited = files.filter(|file| tree.entry(&file.path).is_none_or(|entry| !there.contains(&entry.content)));
    edited.map(|file| file.path.to_string()).collect()
}
