//! Definitions that AFTER holds in files which cannot be read: taken as they were, and told as unknown, never as removed.
//!
//! A file of settings (YAML, JSON) that cannot be read is read as BEFORE has it. Of a file with definitions (SQL, Python,
//! notebooks) the readable part counts, and what BEFORE defined in it and AFTER then lacks stays as it was.

use crate::analyze::analyze;
use crate::diff::Change;
use crate::frontend::ParseCache;
use crate::model::{Dataset, Diagnostic, DiagnosticLevel, Flow, Pipeline, Place};
use crate::reading::{Options, Reading, read};
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
    let broken = newly_broken(before, &after);
    if broken.is_empty() {
        return (after, Vec::new());
    }
    let (mut after, mut changes) = with_settings(after, &broken, trees, options, cache);
    changes.extend(with_definitions(before, &mut after, &broken));
    (after, changes)
}

/// Files that AFTER cannot read in whole or in part, and BEFORE could; with the first thing that is wrong in each.
fn newly_broken(before: &Reading, after: &Reading) -> BTreeMap<String, Diagnostic> {
    let errors = |reading: &Reading| -> BTreeMap<String, Diagnostic> {
        let errors = reading.diagnostics.iter().rev().filter(|d| d.level == DiagnosticLevel::Error);
        errors.filter_map(|d| Some((d.path.clone()?, d.clone()))).collect()
    };
    let known = errors(before);
    errors(after).into_iter().filter(|(path, _)| !known.contains_key(path)).collect()
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
    let old = |path: &String| Some((path.clone(), String::from_utf8(before_tree.read(path).ok()?.to_vec()).ok()?));
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
            broken.get(path).or_else(|| of_python.filter(|_| is_python(path)).map(|(_, wrong)| wrong))
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
    let path = wrong.and_then(|wrong| wrong.path.clone()).unwrap_or_default();
    let message = wrong.map(|wrong| wrong.message.clone()).unwrap_or_default();
    let after = wrong.and_then(|wrong| wrong.span.clone());
    Change::new("definition-unread", &pipeline.key)
        .fact("path", path)
        .fact("error", message)
        .places(before, &after.into())
}
