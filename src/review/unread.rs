//! Files that cannot be read on one side or on both: what they define is unknown, never removed, added or unchanged.
//!
//! A file of settings (YAML, JSON) that cannot be read is read as BEFORE has it. Of a file with definitions (SQL, Python,
//! notebooks) the readable part counts, and what BEFORE defined in it and AFTER then lacks stays as it was.

use crate::analyze::analyze;
use crate::diff::Change;
use crate::frontend::ParseCache;
use crate::model::{Dataset, Diagnostic, DiagnosticLevel, Flow, Pipeline, PipelineKind, Place};
use crate::reading::{Options, Reading, read};
use crate::revision::text::{self, UNREADABLE};
use crate::revision::{Overlay, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// Fills AFTER's reading up with what its unreadable files had defined, and tells what that concerns.
pub fn carry(
    before: &Reading,
    after: Reading,
    trees: (&dyn Tree, &dyn Tree),
    options: &Options,
    cache: &ParseCache,
) -> (Reading, Vec<Change>) {
    let (was, is) = (errors(before), errors(&after));
    let mut changes = read_again(before, &after, &was, &is);
    changes.extend(unread_twice(&after, &was, &is, trees));
    let broken: BTreeMap<String, Diagnostic> = is.into_iter().filter(|(path, _)| !was.contains_key(path)).collect();
    if broken.is_empty() {
        return (after, changes);
    }
    let (mut after, carried) = with_settings(after, &broken, trees, options, cache);
    changes.extend(carried);
    changes.extend(with_definitions(before, &mut after, &broken));
    let told: BTreeSet<String> =
        changes.iter().filter_map(|change| Some(change.facts.get("path")?.to_string())).collect();
    let silent = broken.iter().filter(|(path, wrong)| wrong.code == UNREADABLE && !told.contains(*path));
    let silent: Vec<Change> = silent.map(|(path, wrong)| of_file(&after, path, wrong, "after")).collect();
    changes.extend(silent);
    (after, changes)
}

/// Files and folders that a revision cannot read in whole or in part, with the first thing that is wrong in each.
fn errors(reading: &Reading) -> BTreeMap<String, Diagnostic> {
    let errors = reading.diagnostics.iter().rev().filter(|d| d.level == DiagnosticLevel::Error);
    errors.filter_map(|d| Some((d.path.clone()?, d.clone()))).collect()
}

/// What is wrong with a file, or with a folder above it.
fn wrong_with<'a>(path: &str, broken: &'a BTreeMap<String, Diagnostic>) -> Option<&'a Diagnostic> {
    let folders = path.match_indices('/').map(|(at, _)| path.get(..at).unwrap_or_default());
    std::iter::once(path).chain(folders).find_map(|path| broken.get(path))
}

/// Definitions in files that BEFORE could not read and AFTER can: whether they are new is unknown.
fn read_again(
    before: &Reading,
    after: &Reading,
    was: &BTreeMap<String, Diagnostic>,
    is: &BTreeMap<String, Diagnostic>,
) -> Vec<Change> {
    let was: BTreeMap<String, Diagnostic> = was
        .iter()
        .filter(|(path, wrong)| wrong.code == UNREADABLE && !is.contains_key(*path))
        .map(|(path, wrong)| (path.clone(), wrong.clone()))
        .collect();
    if was.is_empty() {
        return Vec::new();
    }
    let mut changes = Vec::new();
    let mut told = BTreeSet::new();
    for pipeline in &after.analysis.workspace.pipelines {
        let old = before.analysis.workspace.pipelines.iter().find(|old| old.key == pipeline.key);
        let settings = pipeline.span.as_ref().and_then(|span| wrong_with(&span.path, &was));
        for dataset in &pipeline.datasets {
            let own = dataset.place.span().and_then(|span| wrong_with(&span.path, &was));
            let known = old.is_some_and(|old| old.datasets.iter().any(|other| other.name == dataset.name));
            let Some(wrong) = own.or(settings).filter(|_| !known) else { continue };
            told.extend(wrong.path.clone());
            let mut change = unread(pipeline, wrong, "before", format!("`{}`", dataset.name))
                .places(&Place::unknown(), &dataset.place);
            change.dataset = Some(dataset.name.clone());
            changes.push(change);
        }
    }
    let silent = was.iter().filter(|(path, _)| !told.contains(*path));
    changes.extend(silent.map(|(path, wrong)| of_file(after, path, wrong, "before")));
    changes
}

/// Files that neither side can read, and that are not the same file.
fn unread_twice(
    after: &Reading,
    was: &BTreeMap<String, Diagnostic>,
    is: &BTreeMap<String, Diagnostic>,
    (before_tree, after_tree): (&dyn Tree, &dyn Tree),
) -> Vec<Change> {
    let content = |tree: &dyn Tree, path: &str| tree.entry(path).map(|entry| entry.content);
    let both = is.iter().filter(|(path, _)| was.contains_key(*path));
    let changed = both.filter(|(path, _)| content(before_tree, path) != content(after_tree, path));
    changed.map(|(path, wrong)| of_file(after, path, wrong, "before and after")).collect()
}

/// A file of which nothing is known but that it is another one now.
fn of_file(after: &Reading, path: &str, wrong: &Diagnostic, side: &'static str) -> Change {
    let pipelines = &after.analysis.workspace.pipelines;
    let owner = pipelines.iter().find(|pipeline| belongs_to(path, pipeline)).or(pipelines.first());
    let nobody = Pipeline::new("", PipelineKind::Folder);
    unread(owner.unwrap_or(&nobody), wrong, side, format!("what `{path}` defines"))
}

/// `reason` says whether the content is missing, or is there and is not understood.
fn unread(pipeline: &Pipeline, wrong: &Diagnostic, side: &'static str, concerned: String) -> Change {
    let reason = if wrong.code == UNREADABLE { "missing" } else { "not-understood" };
    Change::new("file-unread", &pipeline.key)
        .fact("path", wrong.path.clone().unwrap_or_default())
        .fact("error", wrong.message.clone())
        .fact("help", wrong.help.clone().unwrap_or_else(|| "make it readable".to_owned()))
        .fact("side", side)
        .fact("reason", reason)
        .fact("concerned", concerned)
}

fn is_settings(path: &str) -> bool {
    let extension = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    matches!(extension.as_str(), "yml" | "yaml" | "json")
}

/// AFTER with BEFORE's settings in place of those that cannot be read.
fn with_settings(
    after: Reading,
    broken: &BTreeMap<String, Diagnostic>,
    (before_tree, after_tree): (&dyn Tree, &dyn Tree),
    options: &Options,
    cache: &ParseCache,
) -> (Reading, Vec<Change>) {
    let old = |path: &String| Some((path.clone(), text::exact(before_tree, path)?));
    let texts: BTreeMap<String, String> = broken.keys().filter(|path| is_settings(path)).filter_map(old).collect();
    if texts.is_empty() {
        return (after, Vec::new());
    }
    let mut filled = read(&Overlay::new(after_tree, &texts), options, cache);
    let found: BTreeSet<&str> = after.analysis.workspace.pipelines.iter().map(|p| p.key.as_str()).collect();
    let lost = filled.analysis.workspace.pipelines.iter().filter(|pipeline| !found.contains(pipeline.key.as_str()));
    let changes: Vec<Change> = lost
        .map(|pipeline| {
            let own = pipeline.span.as_ref().and_then(|span| broken.get(span.path.as_ref()));
            let wrong = own.or_else(|| broken.iter().find(|(path, _)| is_settings(path)).map(|(_, wrong)| wrong));
            change(pipeline, &pipeline.span.clone().into(), wrong)
                .fact("concerned", format!("pipeline `{}`", pipeline.name))
        })
        .collect();
    filled.diagnostics = after.diagnostics;
    filled.unresolved = after.unresolved;
    (filled, changes)
}

/// Adds the datasets and flows that stood in a file with definitions and are not found in what can be read of it.
fn with_definitions(before: &Reading, after: &mut Reading, broken: &BTreeMap<String, Diagnostic>) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut workspace = after.analysis.workspace.clone();
    for old in &before.analysis.workspace.pipelines {
        let Some(new) = workspace.pipelines.iter_mut().find(|pipeline| pipeline.key == old.key) else { continue };
        // A dataset of a Python file may come from a function of another one.
        let of_python = broken.iter().find(|(path, _)| is_python(path) && belongs_to(path, old));
        let wrong = |place: &Place| {
            let path = place.span()?.path.as_ref();
            wrong_with(path, broken).or_else(|| of_python.filter(|_| is_python(path)).map(|(_, wrong)| wrong))
        };
        let datasets: Vec<&Dataset> =
            old.datasets.iter().filter(|old| new.datasets.iter().all(|other| other.name != old.name)).collect();
        for dataset in datasets {
            if let Some(diagnostic) = wrong(&dataset.place) {
                let mut found =
                    change(old, &dataset.place, Some(diagnostic)).fact("concerned", format!("`{}`", dataset.name));
                found.dataset = Some(dataset.name.clone());
                changes.push(found);
                new.datasets.push(dataset.clone());
            }
        }
        let flows: Vec<&Flow> = (old.flows.iter())
            .filter(|old| new.flows.iter().all(|other| (&other.target, &other.name) != (&old.target, &old.name)))
            .collect();
        for flow in flows {
            if let Some(diagnostic) = wrong(&flow.place) {
                if changes.iter().all(|change| change.dataset.as_ref() != Some(&flow.target)) {
                    let mut found =
                        change(old, &flow.place, Some(diagnostic)).fact("concerned", format!("flow `{}`", flow.name));
                    found.dataset = Some(flow.target.clone());
                    found.flow = Some(flow.name.clone());
                    changes.push(found);
                }
                new.flows.push(flow.clone());
            }
        }
    }
    if !changes.is_empty() {
        let stale: Vec<_> = after.analysis.flows.iter().flat_map(|flow| flow.unresolved.clone()).collect();
        after.unresolved.retain(|unresolved| !stale.contains(unresolved));
        after.analysis = analyze(workspace);
        after.unresolved.extend(after.analysis.flows.iter().flat_map(|flow| flow.unresolved.clone()));
    }
    changes
}

fn is_python(path: &str) -> bool {
    path.ends_with(".py") || path.ends_with(".ipynb")
}

/// The file defines something of the pipeline, or lies below its root.
fn belongs_to(path: &str, pipeline: &Pipeline) -> bool {
    let places = pipeline.datasets.iter().map(|dataset| &dataset.place);
    places.filter_map(Place::span).any(|span| span.path.as_ref() == path) || path.starts_with(&pipeline.root)
}

fn change(pipeline: &Pipeline, before: &Place, wrong: Option<&Diagnostic>) -> Change {
    if let Some(wrong) = wrong.filter(|wrong| wrong.code == UNREADABLE) {
        return unread(pipeline, wrong, "after", String::new()).places(before, &Place::unknown());
    }
    let path = wrong.and_then(|wrong| wrong.path.clone()).unwrap_or_default();
    let message = wrong.map(|wrong| wrong.message.clone()).unwrap_or_default();
    let after = wrong.and_then(|wrong| wrong.span.clone());
    Change::new("definition-unread", &pipeline.key)
        .fact("path", path)
        .fact("error", message)
        .places(before, &after.into())
}
