//! Gathers what accepts findings from the after side: comments, `allow` entries, the baseline.

use super::Reading;
use crate::analyze::Analysis;
use crate::model::{Diagnostic, Span};
use crate::policy::{Baseline, Definition, Policy, ScopedAllow, ScopedSeverity, Suppression, suppressions};
use crate::revision::{Tree, decode};
use crate::rules::{Finding, RuleBook};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Marks the accepted findings of a comparison, and tells what is wrong with what accepts them.
pub fn accept(
    findings: &mut [Finding],
    trees: (&dyn Tree, &dyn Tree),
    readings: (&Reading, &Reading),
    book: &RuleBook,
    baseline: Option<Baseline>,
) -> Vec<Diagnostic> {
    let (before, after) = trees;
    let analysis = &readings.1.analysis;
    let mut paths = changed_paths(before, after);
    for finding in findings.iter() {
        let places = definition(analysis, finding).places;
        paths.extend(finding.after.span().into_iter().chain(&places).map(|span| Arc::clone(&span.path)));
    }
    let (suppressions, mut diagnostics) = read_suppressions(after, &paths);
    let (earlier, _) = read_suppressions(before, &paths);
    let mut earlier: BTreeSet<String> = earlier.iter().map(Suppression::key).collect();
    earlier.extend(allows(readings.0).iter().map(ScopedAllow::key));
    let severities = severities(readings.1);
    let policy = Policy { suppressions, allows: allows(readings.1), severities, baseline, earlier };
    let unknown = |name: &str| book.rule(name).is_none().then(|| book.unknown_rule(name));
    diagnostics.extend(policy.apply(findings, &|finding| definition(analysis, finding), &unknown));
    diagnostics
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
        let Ok(bytes) = tree.read(path) else { continue };
        let (more, wrong) = suppressions(path, &decode(&bytes, path).0);
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
fn definition(analysis: &Analysis, finding: &Finding) -> Definition {
    let Some(pipeline) = analysis.workspace.pipelines.iter().find(|pipeline| pipeline.key == finding.pipeline) else {
        return Definition::default();
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
