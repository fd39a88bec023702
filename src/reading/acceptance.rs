//! Gathers what accepts findings from the revision that is judged: comments, `allow` entries, the baseline.

use super::Reading;
use crate::model::{Diagnostic, Span};
use crate::policy::{Baseline, Definition, Judge, Policy, ScopedAllow, ScopedSeverity, Suppression, suppressions};
use crate::revision::{Tree, text};
use crate::rules::{Finding, RuleBook};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A tree with what was read of it.
pub type Side<'a> = (&'a dyn Tree, &'a Reading);

/// Marks the accepted findings of a comparison, or of one revision where there is no other, and tells what is wrong with what
/// accepts them. `tells` says of which kinds of change there can be findings.
pub fn accept(
    findings: &mut [Finding],
    before: Option<Side<'_>>,
    after: Side<'_>,
    book: &RuleBook,
    baseline: Option<Baseline>,
    tells: &dyn Fn(&str) -> bool,
) -> Vec<Diagnostic> {
    let (tree, reading) = after;
    let mut paths = match before {
        Some((before, _)) => changed_paths(before, tree),
        None => defining_paths(reading),
    };
    for finding in findings.iter() {
        let places = definition(reading, finding).places;
        paths.extend(finding.after.span().into_iter().chain(&places).map(|span| Arc::clone(&span.path)));
    }
    let (suppressions, mut diagnostics) = read_suppressions(tree, &paths);
    let mut earlier = BTreeSet::new();
    if let Some((tree, reading)) = before {
        earlier.extend(read_suppressions(tree, &paths).0.iter().map(Suppression::key));
        earlier.extend(allows(reading).iter().map(ScopedAllow::key));
    }
    let policy = Policy { suppressions, allows: allows(reading), severities: severities(reading), baseline, earlier };
    let judge = Judge {
        definition: &|finding| definition(reading, finding),
        unknown: &|name| book.rule(name).is_none().then(|| book.unknown_rule(name)),
        judged: &|name| book.rule(name).is_none_or(|rule| tells(rule.change)),
    };
    diagnostics.extend(policy.apply(findings, &judge));
    diagnostics
}

/// Files that define pipelines, datasets and flows, and scripts.
fn defining_paths(reading: &Reading) -> BTreeSet<Arc<str>> {
    let mut paths: BTreeSet<Arc<str>> = BTreeSet::new();
    for pipeline in &reading.analysis.workspace.pipelines {
        let datasets = pipeline.datasets.iter().map(|dataset| &dataset.place);
        let places = datasets.chain(pipeline.flows.iter().map(|flow| &flow.place)).filter_map(|place| place.span());
        paths.extend(places.chain(&pipeline.span).map(|span| Arc::clone(&span.path)));
    }
    let scripts = reading.project.scripts.iter().flat_map(|unit| &unit.files);
    paths.extend(scripts.map(|file| Arc::clone(&file.path)));
    paths
}

/// Files that the after side alone has, or with another content.
fn changed_paths(before: &dyn Tree, after: &dyn Tree) -> BTreeSet<Arc<str>> {
    let same = |path: &str, content| before.entry(path).is_some_and(|entry| entry.content == content);
    let changed = after.entries().iter().filter(|entry| !same(&entry.path, entry.content));
    changed.map(|entry| Arc::clone(&entry.path)).collect()
}

fn read_suppressions(tree: &dyn Tree, paths: &BTreeSet<Arc<str>>) -> (Vec<Suppression>, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let mut diagnostics = Vec::new();
    for path in paths {
        let Some(text) = text::shown(tree, path) else { continue };
        let (more, wrong) = suppressions(path, &text);
        found.extend(more);
        diagnostics.extend(wrong);
    }
    (found, diagnostics)
}

fn allows(reading: &Reading) -> Vec<ScopedAllow> {
    let scoped = |config: &crate::project::Config| {
        let folder = config.folder.clone();
        let entries = config.allow.clone().into_iter();
        entries.map(move |entry| ScopedAllow { folder: folder.clone(), entry }).collect::<Vec<_>>()
    };
    reading.project.configs.iter().flat_map(scoped).collect()
}

/// Those of folders; the root's are in the rule book already.
fn severities(reading: &Reading) -> Vec<ScopedSeverity> {
    let folders = reading.project.configs.iter().filter(|config| !config.folder.is_empty());
    folders
        .flat_map(|config| {
            config.severities.iter().map(|(rule, severity)| ScopedSeverity {
                folder: config.folder.clone(),
                rule: rule.clone(),
                severity: severity.value,
                span: severity.span.clone(),
            })
        })
        .collect()
}

/// Where the dataset and the flow of a finding are defined.
fn definition(reading: &Reading, finding: &Finding) -> Definition {
    let pipelines = &reading.analysis.workspace.pipelines;
    let Some(pipeline) = pipelines.iter().find(|pipeline| pipeline.key == finding.pipeline) else {
        // Of a script the finding's own place is all there is.
        let mut scripts = reading.project.scripts.iter().map(|unit| &unit.pipeline);
        let root = scripts.find(|script| script.key == finding.pipeline).map(|script| script.root.clone());
        return Definition { root: root.unwrap_or_default(), places: Vec::new() };
    };
    let datasets = pipeline.datasets.iter().filter(|dataset| finding.dataset.as_ref() == Some(&dataset.name));
    let flows = pipeline.flows.iter().filter(|flow| {
        finding.dataset.as_ref() == Some(&flow.target) && finding.flow.as_ref().is_none_or(|name| *name == flow.name)
    });
    let places = datasets.map(|dataset| &dataset.place).chain(flows.map(|flow| &flow.place));
    let mut places: Vec<Span> = places.filter_map(|place| place.span().cloned()).collect();
    places.sort();
    places.dedup();
    Definition { root: pipeline.root.clone(), places }
}
