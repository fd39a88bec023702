//! Matches rules against changes, and says what each flow has to expect.

use super::Finding;
use super::book::RuleBook;
use super::remedy::CodeLanguage;
use super::rule::{ClaimedEffect, Rule};
use super::symbols::held_to_symbols;
use crate::analyze::Analysis;
use crate::diff::{Change, Diff, FlowPair, FlowStatus};
use crate::model::{Dataset, Effect, FullRefresh, Place, Platform, QualifiedName, Severity, Source};
use std::collections::{BTreeMap, BTreeSet};

/// What one flow has to expect: the worst that its findings claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowAssessment {
    pub effect: Effect,
    /// Some finding leaves the effect to an engine.
    pub observed: bool,
    /// What the other findings claim.
    pub certain: Effect,
    /// Some finding that claims this effect can be shown by an engine, or none claims any.
    pub confirmable: bool,
    pub full_refresh: FullRefresh,
    /// Indices of the findings that concern it.
    pub findings: Vec<usize>,
}

#[derive(Debug, Clone, Default)]
pub struct Assessment {
    /// By severity, then pipeline, dataset, flow and rule.
    pub findings: Vec<Finding>,
    /// One a flow of `Diff::flows`, in its order.
    pub flows: Vec<FlowAssessment>,
}

/// Applies the rule book. `further` are changes that no two analyses show (job tasks, definitions that cannot be read).
pub fn assess(book: &RuleBook, before: &Analysis, after: &Analysis, diff: &Diff, further: &[Change]) -> Assessment {
    let mut findings: Vec<Finding> = Vec::new();
    for (index, change) in diff.changes.iter().enumerate() {
        findings.extend(apply(book, after, change).into_iter().map(|f| Finding { change: Some(index), ..f }));
    }
    let mut further = further.to_vec();
    crate::diff::complete_facts(before, after, &mut further);
    findings.extend(further.iter().flat_map(|change| apply(book, after, change)));
    let flows = diff.flows.iter().map(|pair| assess_flow(pair, &findings)).collect::<Vec<_>>();
    let derived = derive(before, after, diff, &flows, &findings);
    findings.extend(derived.iter().flat_map(|change| apply(book, after, change)));
    findings.sort_by(|x, y| {
        let place =
            |f: &Finding| (f.pipeline.clone(), f.dataset.clone(), f.flow.clone(), f.rule.clone(), f.message.clone());
        y.severity.cmp(&x.severity).then_with(|| place(x).cmp(&place(y)))
    });
    let flows = diff.flows.iter().map(|pair| assess_flow(pair, &findings)).collect();
    Assessment { findings, flows }
}

/// The findings of one change.
fn apply(book: &RuleBook, after: &Analysis, change: &Change) -> Vec<Finding> {
    let platform = match change.text("platform") {
        Some(word) => word.parse().unwrap_or(Platform::Lakeflow),
        None => after.workspace.pipelines.first().map_or(Platform::Lakeflow, |pipeline| pipeline.platform),
    };
    findings_of(book, platform, change)
}

/// The findings of something that stands for itself, whatever it was before.
pub fn findings_of(book: &RuleBook, platform: Platform, change: &Change) -> Vec<Finding> {
    book.answering(change.kind, platform)
        .filter(|rule| rule.when.holds(&change.facts))
        .filter_map(|rule| finding(rule, change))
        .collect()
}

fn finding(rule: &Rule, change: &Change) -> Option<Finding> {
    let (claim, because) = rule.claim_for(&change.facts);
    if claim.severity == Severity::Off {
        return None;
    }
    let language = language(&change.after, &change.before);
    let finding = Finding {
        rule: rule.id.clone(),
        severity: claim.severity,
        effect: claim.effect.effect(),
        confirmable: claim.confirmable,
        observed: matches!(claim.effect, ClaimedEffect::Observed(_)),
        harmless: claim.harmless,
        full_refresh: claim.full_refresh,
        error_class: claim.error_class.clone(),
        pipeline: change.pipeline.clone(),
        dataset: change.dataset.clone(),
        flow: change.flow.clone(),
        message: rule.message.render(&change.facts),
        before: change.before.clone(),
        after: change.after.clone(),
        hints: because.map(str::to_owned).into_iter().collect(),
        remedies: (rule.remedies.iter().filter(|remedy| remedy.applies(&change.facts)))
            .map(|remedy| remedy.render(&change.facts, language))
            .collect(),
        allowed: None,
        change: None,
    };
    Some(held_to_symbols(finding, change))
}

fn language(after: &Place, before: &Place) -> CodeLanguage {
    let path = after.span().or(before.span()).map(|span| span.path.to_string()).unwrap_or_default();
    if path.ends_with(".py") || path.ends_with(".ipynb") { CodeLanguage::Python } else { CodeLanguage::Sql }
}

/// Whether a finding tells of a flow: its own, its dataset's, or its pipeline's where the flow was there before.
fn concerns(finding: &Finding, pair: &FlowPair) -> bool {
    if finding.pipeline != pair.pipeline {
        return false;
    }
    match (&finding.dataset, &finding.flow) {
        (Some(dataset), Some(flow)) => *dataset == pair.dataset && *flow == pair.flow,
        (Some(dataset), None) => *dataset == pair.dataset,
        (None, _) => pair.before.is_some(),
    }
}

fn assess_flow(pair: &FlowPair, findings: &[Finding]) -> FlowAssessment {
    let concerned: Vec<usize> =
        (findings.iter().enumerate()).filter(|(_, finding)| concerns(finding, pair)).map(|(index, _)| index).collect();
    let of = || concerned.iter().filter_map(|index| findings.get(*index));
    let effect = Effect::together(of().map(|finding| finding.effect));
    let mut worst = of().filter(|finding| finding.effect == effect).peekable();
    FlowAssessment {
        effect,
        confirmable: worst.peek().is_none() || worst.any(|finding| finding.confirmable),
        observed: of().any(|finding| finding.observed),
        certain: Effect::together(of().filter(|finding| !finding.observed).map(|finding| finding.effect)),
        full_refresh: of().map(|finding| finding.full_refresh).max().unwrap_or(FullRefresh::No),
        findings: concerned,
    }
}

/// Changes that follow from claims: a required refresh that is not allowed, or that loses rows.
fn derive(
    before: &Analysis,
    after: &Analysis,
    diff: &Diff,
    flows: &[FlowAssessment],
    findings: &[Finding],
) -> Vec<Change> {
    let mut needed: BTreeMap<(String, QualifiedName), BTreeSet<String>> = BTreeMap::new();
    for (pair, assessment) in diff.flows.iter().zip(flows) {
        if assessment.full_refresh == FullRefresh::Required && pair.after.is_some() && pair.before.is_some() {
            let rules = needed.entry((pair.pipeline.clone(), pair.dataset.clone())).or_default();
            let asking = assessment.findings.iter().filter_map(|index| findings.get(*index));
            rules.extend(asking.filter(|f| f.full_refresh == FullRefresh::Required).map(|f| f.rule.clone()));
        }
    }
    let mut changes = Vec::new();
    for ((pipeline, name), rules) in needed {
        let rules: Vec<String> = rules.into_iter().collect();
        let find = |analysis: &'_ Analysis| dataset(analysis, &pipeline, &name).cloned();
        let (old, new) = (find(before), find(after));
        let Some(dataset) = &new else { continue };
        let places = |change: Change| {
            let place = old.as_ref().map(|dataset| dataset.place.clone()).unwrap_or_default();
            let mut change = change.places(&place, &dataset.place).fact("rules", rules.clone());
            change.dataset = Some(name.clone());
            change
        };
        if dataset.is_protected() {
            changes.push(places(Change::new("refresh-protected", &pipeline)));
        }
        for (reason, source, retention) in losses(after, diff, &pipeline, &name) {
            let change = Change::new("refresh-lossy", &pipeline).fact("reason", reason);
            changes.push(places(change.fact("source", source).fact("retention", retention)));
        }
    }
    changes.extend(stopped_updates(diff, findings));
    crate::diff::complete_facts(before, after, &mut changes);
    changes
}

/// Errors that Spark gives while it resolves the graph and makes its tables ready, before any flow starts (`DatasetManager`,
/// `GraphValidations`).
const STOPS_THE_UPDATE: &[&str] = &[
    "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE",
    "CANNOT_UPDATE_PARTITION_COLUMNS",
    "AUTOCDC_INVALID_STATE",
    "AUTOCDC_MULTIPLE_FLOWS_TO_TARGET",
    "INVALID_RESETTABLE_DEPENDENCY",
    "USER_SPECIFIED_AND_INFERRED_SCHEMA_NOT_COMPATIBLE",
];

/// Pipelines on Spark of which nothing runs, with what stops them.
fn stopped_updates(diff: &Diff, findings: &[Finding]) -> Vec<Change> {
    let mut stopped: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        let class = finding.error_class.as_deref().unwrap_or_default();
        let stops = STOPS_THE_UPDATE.iter().any(|name| class.starts_with(name)) || finding.rule == "flow-invalid";
        if stops && finding.effect.stops() {
            stopped.entry(&finding.pipeline).or_default().push(finding);
        }
    }
    let mut changes = Vec::new();
    for (pipeline, causes) in stopped {
        let others: BTreeSet<String> = (diff.flows.iter())
            .filter(|pair| pair.pipeline == pipeline && pair.before.is_some() && pair.after.is_some())
            .filter(|pair| !causes.iter().any(|cause| concerns(cause, pair)))
            .map(|pair| pair.dataset.to_string())
            .collect();
        let (Some(first), false) = (causes.first(), others.is_empty()) else { continue };
        let rules: BTreeSet<String> = causes.iter().map(|finding| finding.rule.clone()).collect();
        let change = Change::new("update-stopped", pipeline)
            .fact("rules", rules.into_iter().collect::<Vec<_>>())
            .fact("error_class", first.error_class.clone().unwrap_or_default())
            .fact("datasets", others.into_iter().collect::<Vec<_>>());
        changes.push(change.places(&first.before, &first.after));
    }
    changes
}

fn dataset<'a>(analysis: &'a Analysis, pipeline: &str, name: &QualifiedName) -> Option<&'a Dataset> {
    let owner = analysis.workspace.pipelines.iter().position(|p| p.key == pipeline)?;
    analysis.own_dataset(owner, name)
}

/// What a full refresh of a dataset cannot bring back: reason, source, retention.
pub fn losses(after: &Analysis, diff: &Diff, pipeline: &str, name: &QualifiedName) -> Vec<(String, String, String)> {
    let mut losses = Vec::new();
    for pair in diff.flows_into(pipeline, name).iter().filter(|pair| pair.status != FlowStatus::Removed) {
        let Some(reference) = pair.after else { continue };
        let owner = after.workspace.pipelines.get(reference.pipeline);
        let flow = owner.and_then(|owner| owner.flows.get(reference.flow));
        let (Some(owner), Some(flow), Some(analyzed)) = (owner, flow, after.flows.get(reference.analyzed)) else {
            continue;
        };
        if flow.is_once() {
            losses.push((format!("once flow `{}` runs again", flow.name), flow.name.clone(), String::new()));
        }
        for source in analyzed.aspects.sources.iter().filter(|source| source.streaming) {
            let label = crate::graph::text_without_number(&source.text).to_owned();
            let told = owner.sources.iter().find(|facts| {
                let named = QualifiedName::parse(&facts.name);
                match &source.source {
                    Source::Table(table) | Source::ChangeFeed(table) => {
                        named == *table || named.qualified(owner.catalog.as_deref(), owner.schema.as_deref()) == *table
                    }
                    Source::Files { path, .. } => facts.name.trim_end_matches('/') == path.trim_end_matches('/'),
                    Source::Connector { .. } => source
                        .options
                        .get("subscribe")
                        .is_some_and(|topics| topics.split(',').any(|topic| topic.trim() == facts.name)),
                }
            });
            if let Some(retention) = told.and_then(|facts| facts.retention.clone()) {
                losses.push((format!("`{label}` keeps {retention} only"), label.clone(), retention));
            } else if matches!(&source.source, Source::Connector { format } if format != "rate" && format != "rate-micro-batch")
            {
                losses.push((
                    format!("`{label}` can be read again only as far back as its retention"),
                    label.clone(),
                    String::new(),
                ));
            }
            let cleans =
                ["cleansource", "cloudfiles.cleansource"].into_iter().find_map(|option| source.options.get(option));
            if let Some(mode) = cleans.filter(|mode| !mode.eq_ignore_ascii_case("off")) {
                losses.push((
                    format!("`{label}` is read with cleanSource = {mode}: files it has read are gone"),
                    label,
                    String::new(),
                ));
            }
        }
    }
    losses.sort();
    losses.dedup();
    losses
}
