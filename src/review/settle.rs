//! Effects that rules leave to an engine, settled by what it saw, before anything is concluded from them: the impact, the refresh
//! plan, the severity of a finding.
//!
//! Where no engine saw anything the effect is `unknown`. A finding whose effect is settled as `none`, `ignored` or `unknown` is at
//! most a warning and asks for no refresh, and what followed from that refresh (it is not allowed, it loses rows) goes with it. It
//! stays a warning: rows that show no difference are no proof that there is none, except where the rule says that they are an answer
//! (`harmless`).

use crate::diff::Diff;
use crate::model::{Effect, FullRefresh, QualifiedName, Severity};
use crate::rules::{Assessment, Finding, FlowAssessment, RuleBook};
use std::collections::{BTreeMap, BTreeSet};

/// Kinds of change that follow from a required refresh.
const OF_A_REFRESH: [&str; 2] = ["refresh-protected", "refresh-lossy"];

/// `observed` is what the engines saw of each flow of the difference, in its order.
pub fn settle(assessment: &mut Assessment, difference: &Diff, observed: &[Option<Effect>], book: &RuleBook) {
    let flows = assessment.flows.iter().zip(observed);
    // What is left to an engine that could not say cannot be told.
    let seen: Vec<Option<Effect>> =
        flows.map(|(flow, observed)| flow.observed.then(|| observed.unwrap_or(Effect::Unknown))).collect();
    settle_findings(assessment, &seen);
    for (flow, seen) in assessment.flows.iter_mut().zip(&seen) {
        if let Some(seen) = seen {
            settle_flow(flow, *seen, &assessment.findings);
        }
    }
    if seen.iter().any(Option::is_some) {
        drop_needless_remarks(assessment, difference, book);
    }
}

fn is_harmless(seen: Effect) -> bool {
    matches!(seen, Effect::None | Effect::Ignored | Effect::Unknown)
}

/// A finding that concerns several flows has the worst that was seen of them.
fn settle_findings(assessment: &mut Assessment, seen: &[Option<Effect>]) {
    let mut worst: BTreeMap<usize, Effect> = BTreeMap::new();
    for (flow, seen) in assessment.flows.iter().zip(seen) {
        for (index, seen) in flow.findings.iter().zip(std::iter::repeat(*seen)) {
            if let Some(seen) = seen {
                let known = worst.entry(*index).or_insert(seen);
                *known = (*known).max(seen);
            }
        }
    }
    for (index, seen) in worst {
        let Some(finding) = assessment.findings.get_mut(index).filter(|finding| finding.observed) else { continue };
        finding.effect = seen;
        if is_harmless(seen) {
            let answered = finding.harmless.filter(|_| seen == Effect::None);
            finding.severity = answered.unwrap_or(finding.severity.min(Severity::Warning));
            finding.full_refresh = FullRefresh::No;
            if answered.is_some() {
                finding.remedies.clear();
            }
        }
    }
}

fn settle_flow(flow: &mut FlowAssessment, seen: Effect, findings: &[Finding]) {
    let own = || flow.findings.iter().filter_map(|index| findings.get(*index));
    // An engine decides what is left to it; what rules claim for certain besides stands.
    flow.effect = Effect::together([flow.certain, seen]);
    let counts = |finding: &&Finding| !(finding.observed && is_harmless(seen));
    flow.full_refresh = own().filter(counts).map(|finding| finding.full_refresh).max().unwrap_or(FullRefresh::No);
}

/// Takes away what was said of refreshes that nothing asks for any more.
fn drop_needless_remarks(assessment: &mut Assessment, difference: &Diff, book: &RuleBook) {
    let flows = difference.flows.iter().zip(&assessment.flows);
    let needed: BTreeSet<(&str, &QualifiedName)> = flows
        .filter(|(_, flow)| flow.full_refresh == FullRefresh::Required)
        .map(|(pair, _)| (pair.pipeline.as_str(), &pair.dataset))
        .collect();
    let is_kept = |finding: &Finding| {
        let of_refresh = book.rule(&finding.rule).is_some_and(|rule| OF_A_REFRESH.contains(&rule.change));
        let dataset = finding.dataset.as_ref();
        !of_refresh || dataset.is_none_or(|dataset| needed.contains(&(finding.pipeline.as_str(), dataset)))
    };
    let all = std::mem::take(&mut assessment.findings);
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    for (index, finding) in all.into_iter().enumerate().filter(|(_, finding)| is_kept(finding)) {
        places.insert(index, assessment.findings.len());
        assessment.findings.push(finding);
    }
    for flow in &mut assessment.flows {
        flow.findings = flow.findings.iter().filter_map(|index| places.get(index).copied()).collect();
    }
}
