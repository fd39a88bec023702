//! The price of a patch: what happens to every table without it and with it.
//!
//! Takes the reports of both comparisons. The order of effects decides, in which a silent loss is worse than an update that stops; a sum
//! over tables would let a gain in one pay for a loss in another.

use crate::model::{Effect, FullRefresh, QualifiedName};
use crate::verdict::Report;
use std::collections::{BTreeMap, BTreeSet};

/// What happens to a table, as a report says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outcome {
    pub effect: Effect,
    pub full_refresh: FullRefresh,
}

const UNCHANGED: Outcome = Outcome { effect: Effect::None, full_refresh: FullRefresh::No };

/// What becomes worse with a patch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Price {
    /// More happens to a table than without the patch.
    Worse { dataset: String, now: Outcome, then: Outcome },
    /// Nobody is asked any more for the refresh that would set a table right.
    RefreshLost { dataset: String, effect: Effect },
    /// A refresh that was possible fails, or no longer brings everything back.
    RefreshSpoiled { dataset: String, reason: String },
}

/// The worst that happens to any flow of a table, by its own change or because of a table above it.
pub fn outcome(report: &Report, dataset: &QualifiedName) -> Outcome {
    let name = dataset.to_string();
    let found = outcomes(report).into_iter().filter(|((_, known), _)| *known == name).map(|(_, outcome)| outcome);
    found.max().unwrap_or(UNCHANGED)
}

/// What happens to each table, by pipeline and name.
fn outcomes(report: &Report) -> BTreeMap<(String, String), Outcome> {
    let flows = report.flows.iter().map(|flow| {
        let outcome = Outcome { effect: flow.effect, full_refresh: flow.full_refresh };
        ((flow.pipeline.clone(), flow.dataset.to_string()), outcome)
    });
    let impacts = report.impacts.iter().map(|impact| {
        let full_refresh = if impact.stops_a_stream() { FullRefresh::Required } else { FullRefresh::No };
        ((impact.pipeline.clone(), impact.dataset.clone()), Outcome { effect: impact.effect, full_refresh })
    });
    let mut found: BTreeMap<(String, String), Outcome> = BTreeMap::new();
    for (table, outcome) in flows.chain(impacts) {
        let worst = found.entry(table).or_insert(UNCHANGED);
        worst.effect = worst.effect.max(outcome.effect);
        worst.full_refresh = worst.full_refresh.max(outcome.full_refresh);
    }
    found
}

/// Each table of either report, with what happens to it in both.
fn pairs(now: &Report, then: &Report) -> Vec<(String, Outcome, Outcome)> {
    let (now, then) = (outcomes(now), outcomes(then));
    let tables: BTreeSet<&(String, String)> = now.keys().chain(then.keys()).collect();
    let of = |known: &BTreeMap<(String, String), Outcome>, table| known.get(table).copied().unwrap_or(UNCHANGED);
    tables.into_iter().map(|table| (table.1.clone(), of(&now, table), of(&then, table))).collect()
}

/// Whether less happens to some table, or a refresh less is needed.
pub fn gains(now: &Report, then: &Report) -> bool {
    pairs(now, then).iter().any(|(_, now, then)| then.effect < now.effect || then.full_refresh < now.full_refresh)
}

/// All that becomes worse from one report to the other.
pub fn prices(now: &Report, then: &Report) -> Vec<Price> {
    let mut found: Vec<Price> = Vec::new();
    for (dataset, now, then) in pairs(now, then) {
        if then.effect > now.effect || then.full_refresh > now.full_refresh {
            found.push(Price::Worse { dataset, now, then });
        } else if then.effect == now.effect && then.full_refresh < now.full_refresh && is_damage(then.effect) {
            found.push(Price::RefreshLost { dataset, effect: then.effect });
        }
    }
    found.extend(spoiled(now, then));
    found
}

/// What only a refresh sets right. Rows of an older logic (`mixed`) may stay; it is said what they are.
fn is_damage(effect: Effect) -> bool {
    effect > Effect::Mixed.max(Effect::Recomputed)
}

/// Refreshes that are blocked or lose rows in the second report alone.
fn spoiled(now: &Report, then: &Report) -> Vec<Price> {
    let all = |report: &Report| -> BTreeSet<(String, String)> {
        let blocked = report.plan.blocked.iter().map(|blocked| (blocked.dataset.clone(), blocked.reason.clone()));
        let lossy = report.plan.lossy.iter().map(|lossy| (lossy.dataset.clone(), lossy.reason.clone()));
        blocked.chain(lossy).collect()
    };
    let known = all(now);
    let new = all(then).into_iter().filter(|spoiled| !known.contains(spoiled));
    new.map(|(dataset, reason)| Price::RefreshSpoiled { dataset, reason }).collect()
}
