//! Scripts beside the pipelines that a change makes worse: what `pipelint lint` says of a changed script now and did not say before.
//!
//! Takes both sides; gives findings of the after side, marked where it accepts them. Scripts that the change leaves alone are not
//! run.

use crate::frontend::ParseCache;
use crate::lint;
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
