//! Files that cannot be read on one side or on both: what they define is unknown, never removed, added or unchanged.
//!
//! A file of settings (YAML, JSON) that AFTER cannot read is read as BEFORE has it. Of a file with definitions (SQL, Python,
//! notebooks) the readable part counts, and what BEFORE defined in it and AFTER then lacks is kept as it was. A file that AFTER
//! does not understand is one change of each pipeline that it belongs to: the platform reads the same file, and nothing of the
//! pipeline runs until it can.

use crate::analyze::analyze;
use crate::diff::Change;
use crate::frontend::ParseCache;
use crate::model::{Dataset, Diagnostic, DiagnosticLevel, Flow, Pipeline, PipelineKind, Place};
use crate::reading::{Options, Reading, read};
use crate::revision::text;
use crate::revision::{Overlay, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// Fills AFTER's reading up with what its unreadable files had defined, and gives the changes that follow.
pub fn carry(
    before: &Reading,
    after: Reading,
    trees: (&dyn Tree, &dyn Tree),
    options: &Options,
    cache: &ParseCache,
) -> (Reading, Vec<Change>) {
    let (was, is) = (errors(before), errors(&after));
    let mut changes = read_again(before, &after, &was, &is);
    changes.extend(unread_twice(before, &after, &was, &is, trees));
    let broken: BTreeMap<String, Diagnostic> = is.into_iter().filter(|(path, _)| !was.contains_key(path)).collect();
    if broken.is_empty() {
        return (after, changes);
    }
    let (mut after, carried) = with_settings(after, &broken, trees, options, cache);
    changes.extend(carried);
    changes.extend(with_definitions(before, &mut after, &broken));
    let known: BTreeSet<String> =
        changes.iter().filter_map(|change| Some(change.facts.get("path")?.to_string())).collect();
    for (path, wrong) in broken.iter().filter(|(path, wrong)| wrong.leaves_text_unread() && !known.contains(*path)) {
        changes.extend(of_file(before, &after, path, |owner| match wrong.is_read_error() {
            true => unread(owner, wrong, "after", format!("what `{path}` defines")),
            false => not_understood(owner, wrong),
        }));
    }
    (after, changes)
}

/// The file is not the same in both trees, or that cannot be known.
pub fn differs((before, after): (&dyn Tree, &dyn Tree), path: &str) -> bool {
    let content = |tree: &dyn Tree| tree.entry(path).map(|entry| entry.content);
    content(before).is_none() || content(before) != content(after)
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
        .filter(|(path, wrong)| wrong.leaves_text_unread() && !is.contains_key(*path))
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
    let missing = was.iter().filter(|(path, wrong)| wrong.is_read_error() && !told.contains(*path));
    changes.extend(missing.flat_map(|(path, wrong)| {
        of_file(before, after, path, |owner| unread(owner, wrong, "before", format!("what `{path}` defines")))
    }));
    changes
}

/// Files that neither side can read, and that are not the same file.
fn unread_twice(
    before: &Reading,
    after: &Reading,
    was: &BTreeMap<String, Diagnostic>,
    is: &BTreeMap<String, Diagnostic>,
    trees: (&dyn Tree, &dyn Tree),
) -> Vec<Change> {
    let both = is.iter().filter(|(path, wrong)| was.contains_key(*path) && wrong.leaves_text_unread());
    let changed = both.filter(|(path, _)| differs(trees, path));
    changed
        .flat_map(|(path, wrong)| {
            of_file(before, after, path, |owner| {
                unread(owner, wrong, "before and after", format!("what `{path}` defines"))
            })
        })
        .collect()
}

/// A change for each pipeline that a file belongs to, or one of no pipeline where it belongs to none.
fn of_file(before: &Reading, after: &Reading, path: &str, change: impl Fn(&Pipeline) -> Change) -> Vec<Change> {
    let owners = owners(path, before, after);
    if owners.is_empty() {
        return vec![change(&Pipeline::new("", PipelineKind::Folder))];
    }
    owners.into_iter().map(change).collect()
}

/// Pipelines whose code a file is part of, or that it defines: by what was found in it, and else by the folder that it lies in.
fn owners<'a>(path: &str, before: &'a Reading, after: &'a Reading) -> Vec<&'a Pipeline> {
    let pipelines = || [before, after].into_iter().flat_map(|reading| &reading.analysis.workspace.pipelines);
    let of_code = |key: &str| {
        let code = [before, after].into_iter().flat_map(|reading| &reading.project.code);
        code.filter(|code| code.key == key).flat_map(|code| &code.files).any(|file| *file.path == *path)
    };
    let own = |pipeline: &&Pipeline| {
        let settings = pipeline.span.as_ref().is_some_and(|span| *span.path == *path);
        settings || of_code(&pipeline.key) || defines(path, pipeline)
    };
    let by_key = |found: &mut dyn Iterator<Item = &'a Pipeline>| -> BTreeMap<&'a str, &'a Pipeline> {
        found.map(|pipeline| (pipeline.key.as_str(), pipeline)).collect()
    };
    let found = by_key(&mut pipelines().filter(own));
    if !found.is_empty() {
        return found.into_values().collect();
    }
    by_key(&mut pipelines().filter(|pipeline| belongs_to(path, pipeline))).into_values().collect()
}

/// `reason` says whether the content is missing, or is there and is not understood.
fn unread(pipeline: &Pipeline, wrong: &Diagnostic, side: &'static str, concerned: String) -> Change {
    let reason = if wrong.is_read_error() { "missing" } else { "not-understood" };
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
        .filter_map(|pipeline| {
            let own = pipeline.span.as_ref().and_then(|span| broken.get(span.path.as_ref()));
            let wrong = own.or_else(|| broken.iter().find(|(path, _)| is_settings(path)).map(|(_, wrong)| wrong))?;
            let place = pipeline.span.clone().into();
            let content = missing(pipeline, &place, wrong, format!("pipeline `{}`", pipeline.name));
            Some(content.unwrap_or_else(|| not_understood(pipeline, wrong)))
        })
        .collect();
    filled.diagnostics = after.diagnostics;
    filled.unresolved = after.unresolved;
    (filled, changes)
}

/// Keeps the datasets and flows that BEFORE defined in a file and that are not found in what AFTER can read of it; a change for
/// each whose content is missing.
fn with_definitions(before: &Reading, after: &mut Reading, broken: &BTreeMap<String, Diagnostic>) -> Vec<Change> {
    let (mut changes, mut kept) = (Vec::new(), false);
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
                changes.extend(missing(old, &dataset.place, diagnostic, format!("`{}`", dataset.name)).map(
                    |mut found| {
                        found.dataset = Some(dataset.name.clone());
                        found
                    },
                ));
                new.datasets.push(dataset.clone());
                kept = true;
            }
        }
        let flows: Vec<&Flow> = (old.flows.iter())
            .filter(|old| new.flows.iter().all(|other| (&other.target, &other.name) != (&old.target, &old.name)))
            .collect();
        for flow in flows {
            if let Some(diagnostic) = wrong(&flow.place) {
                if changes.iter().all(|change| change.dataset.as_ref() != Some(&flow.target)) {
                    let found = missing(old, &flow.place, diagnostic, format!("flow `{}`", flow.name));
                    changes.extend(found.map(|mut found| {
                        found.dataset = Some(flow.target.clone());
                        found.flow = Some(flow.name.clone());
                        found
                    }));
                }
                new.flows.push(flow.clone());
                kept = true;
            }
        }
    }
    if kept {
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
    defines(path, pipeline) || path.starts_with(&pipeline.root)
}

fn defines(path: &str, pipeline: &Pipeline) -> bool {
    let places = pipeline.datasets.iter().map(|dataset| &dataset.place);
    let mut places = places.chain(pipeline.flows.iter().map(|flow| &flow.place)).filter_map(Place::span);
    places.any(|span| span.path.as_ref() == path)
}

/// What a file defined whose content is missing now.
fn missing(pipeline: &Pipeline, before: &Place, wrong: &Diagnostic, concerned: String) -> Option<Change> {
    wrong.is_read_error().then(|| unread(pipeline, wrong, "after", concerned).places(before, &Place::unknown()))
}

/// A file that is there and that AFTER does not understand.
fn not_understood(pipeline: &Pipeline, wrong: &Diagnostic) -> Change {
    Change::new("definition-unread", &pipeline.key)
        .fact("path", wrong.path.clone().unwrap_or_default())
        .fact("error", wrong.message.clone())
        .fact("concerned", pipeline.name.clone())
        .places(&Place::unknown(), &wrong.span.clone().into())
}
