//! The verdict in one sentence, the same in every format.

use super::{Equality, Report};
use crate::diff::FlowStatus;
use crate::model::{Effect, Severity};
use std::collections::{BTreeMap, BTreeSet};

/// `1 table`, `2 tables`.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

impl Report {
    /// What happens, and what could not be judged or is in doubt.
    pub fn headline(&self) -> String {
        let mut text = outcomes(self);
        if self.broken > 0 {
            text += &format!(" {} of this change could not be read.", counted(self.broken, "part"));
        }
        if self.worse_writes() > 0 {
            text += &format!(" Changed scripts bring {}.", counted(self.worse_writes(), "finding"));
        }
        if self.contradicted() > 0 {
            text += &format!(
                " The engine contradicts {}; the worse of the two counts.",
                counted(self.contradicted(), "claim")
            );
        }
        text
    }
}

fn outcomes(report: &Report) -> String {
    if report.flows.is_empty() && !report.scripts.is_empty() {
        return "No flow found.".to_owned();
    }
    if report.flows.is_empty() {
        return "No flow found: nothing was analysed.".to_owned();
    }
    let parts = parts(report);
    if !parts.is_empty() {
        return format!("{}.", parts.join("; "));
    }
    match report.worst() {
        Effect::None if report.is_harmless() => harmless(report),
        Effect::None if report.plan.full_refresh.is_empty() => "No effect on a table is known.".to_owned(),
        Effect::None => "A full refresh is required.".to_owned(),
        worst => {
            let text = happens("the flows of a whole pipeline", true, worst);
            let mut letters = text.chars();
            letters.next().map(|first| format!("{}{}.", first.to_uppercase(), letters.as_str())).unwrap_or_default()
        }
    }
}

/// What happens to flows, worst first, then to the tables that only read what changed.
fn parts(report: &Report) -> Vec<String> {
    let worst_first = || Effect::ALL.iter().rev().filter(|effect| **effect != Effect::None);
    let of_flows = worst_first().filter_map(|effect| {
        let flows = report.flows.iter().filter(|flow| flow.open == *effect);
        let tables: Vec<String> = flows.map(|flow| flow.dataset.key()).collect();
        (!tables.is_empty()).then(|| outcome(*effect, &tables))
    });
    let own: BTreeSet<String> =
        (report.flows.iter()).filter(|flow| flow.open != Effect::None).map(|flow| flow.dataset.to_string()).collect();
    let mut reached: BTreeMap<&str, Effect> = BTreeMap::new();
    for impact in report.open_impacts().filter(|impact| !own.contains(&impact.dataset)) {
        let worst = reached.entry(&impact.dataset).or_insert(impact.effect);
        *worst = (*worst).max(impact.effect);
    }
    let downstream = worst_first().filter_map(|effect| {
        let count = reached.values().filter(|worst| **worst == *effect).count();
        (count > 0).then(|| format!("downstream {}", happens(&counted(count, "table"), count != 1, *effect)))
    });
    of_flows.chain(downstream).collect()
}

/// Every table is what it would be without the change, or after a full refresh; as far as proof or rows say so.
fn harmless(report: &Report) -> String {
    let to_read = match report.count(Severity::Error) + report.count(Severity::Warning) {
        0 => String::new(),
        count => format!("; {} to read", counted(count, "finding")),
    };
    if report.flows.iter().all(|flow| flow.status == FlowStatus::Unchanged) && report.findings.is_empty() {
        return "Nothing changed for any table.".to_owned();
    }
    let seen = report.flows.iter().filter(|flow| flow.equality() == Some(Equality::NoDifferenceSeen)).count();
    match seen {
        0 => format!("Every table goes on as a full refresh would make it{to_read}."),
        seen if seen == report.flows.len() => {
            let were = if seen == 1 { "flow was" } else { "flows were" };
            format!("No difference seen on the rows that {seen} {were} run on{to_read}.")
        }
        seen => format!(
            "No difference seen on the rows that {} {} run on; every other table goes on as a full refresh would make it{to_read}.",
            counted(seen, "flow"),
            if seen == 1 { "was" } else { "were" }
        ),
    }
}

/// What happens to the flows into these tables; where tables stay behind or are deleted, each counts once.
fn outcome(effect: Effect, tables: &[String]) -> String {
    let (count, noun) = match effect {
        Effect::Orphaned | Effect::Dropped => (tables.iter().collect::<BTreeSet<_>>().len(), "table"),
        _ => (tables.len(), "flow"),
    };
    happens(&counted(count, noun), count != 1, effect)
}

fn happens(who: &str, many: bool, effect: Effect) -> String {
    let of = |one: &'static str, more: &'static str| if many { more } else { one };
    let verb = match effect {
        Effect::None => of("goes on unchanged", "go on unchanged"),
        Effect::Ignored => return format!("{who}: the edit does nothing on the existing checkpoint"),
        Effect::Unknown => of("cannot be judged", "cannot be judged"),
        Effect::Mixed => of("keeps old rows with the old logic", "keep old rows with the old logic"),
        Effect::Recomputed => of("is computed anew", "are computed anew"),
        Effect::Replayed => of("reads everything again: duplicates", "read everything again: duplicates"),
        Effect::WrongRows => {
            of("goes on without an error and with wrong rows", "go on without an error and with wrong rows")
        }
        Effect::Refused => of("fails at the next update", "fail at the next update"),
        Effect::Invalid => "cannot run at all",
        Effect::Orphaned => of("stays behind and is written no more", "stay behind and are written no more"),
        Effect::Dropped => of("is deleted with its data", "are deleted with their data"),
    };
    format!("{who} {verb}")
}
