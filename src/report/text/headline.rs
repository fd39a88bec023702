//! The verdict in one sentence.

use super::Paint;
use super::counted;
use crate::diff::FlowStatus;
use crate::model::{Effect, Severity};
use crate::verdict::{Report, Verdict};
use std::collections::BTreeSet;

pub fn headline(report: &Report, paint: Paint) -> String {
    let text = sentence(report);
    match report.verdict() {
        Verdict::Clean => paint.wrap("32", &format!("✓ {text}")),
        Verdict::Notable => paint.wrap("33", &format!("! {text}")),
        Verdict::Fails => paint.wrap("1;31", &format!("✗ {text}")),
    }
}

/// What happens, and what could not be judged or is in doubt.
pub fn sentence(report: &Report) -> String {
    let mut text = outcomes(report);
    if report.broken > 0 {
        text += &format!(" {} that this change brings could not be read.", counted(report.broken, "part"));
    }
    if report.worse_writes() > 0 {
        text += &format!(" Changed scripts bring {}.", counted(report.worse_writes(), "finding"));
    }
    if report.contradicted() > 0 {
        text += &format!(" The engine contradicts {} of these verdicts.", report.contradicted());
    }
    text
}

fn outcomes(report: &Report) -> String {
    if report.flows.is_empty() && !report.scripts.is_empty() {
        return "No flow found.".to_owned();
    }
    if report.flows.is_empty() {
        return "No flow found: nothing was analysed.".to_owned();
    }
    if report.flows.iter().all(|flow| flow.status == FlowStatus::Unchanged) && report.findings.is_empty() {
        return "Nothing changed for any table.".to_owned();
    }
    let parts: Vec<String> = Effect::ALL
        .iter()
        .rev()
        .filter(|effect| **effect != Effect::None)
        .map(|effect| (*effect, report.flows.iter().filter(|flow| flow.open == *effect)))
        .map(|(effect, flows)| (effect, flows.map(|flow| flow.dataset.key()).collect::<Vec<_>>()))
        .filter(|(_, tables)| !tables.is_empty())
        .map(|(effect, tables)| outcome(effect, &tables))
        .collect();
    match (parts.is_empty(), report.worst()) {
        (true, Effect::None) if report.contradicted() > 0 => "No rule tells of an effect on a table.".to_owned(),
        (false, _) => format!("{}.", parts.join("; ")),
        (true, Effect::None) => match report.count(Severity::Error) + report.count(Severity::Warning) {
            0 => "Every table goes on as a full refresh would make it.".to_owned(),
            count => {
                format!("Every table goes on as a full refresh would make it; {} to read.", counted(count, "finding"))
            }
        },
        (true, worst) => {
            let text = happens("the flows of a whole pipeline", true, worst);
            let mut letters = text.chars();
            letters.next().map(|first| format!("{}{}.", first.to_uppercase(), letters.as_str())).unwrap_or_default()
        }
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
