//! The verdict in one sentence.

use super::Paint;
use super::counted;
use crate::diff::FlowStatus;
use crate::model::Effect;
use crate::report::Report;

pub fn headline(report: &Report, paint: Paint) -> String {
    let worst = report.worst();
    let text = sentence(report);
    let doubtful = report.broken > 0 || report.contradicted() > 0;
    let mark = match worst {
        Effect::None | Effect::Ignored if doubtful => "!",
        Effect::None | Effect::Ignored => "✓",
        Effect::Mixed | Effect::Recomputed => "!",
        _ => "✗",
    };
    paint.effect(worst, &format!("{mark} {text}"))
}

/// What happens, and what could not be judged or is in doubt.
pub fn sentence(report: &Report) -> String {
    let mut text = outcomes(report);
    if report.broken > 0 {
        text += &format!(" {} that this change brings could not be read.", counted(report.broken, "part"));
    }
    if report.contradicted() > 0 {
        text += &format!(" The engine contradicts {} of these verdicts.", report.contradicted());
    }
    text
}

fn outcomes(report: &Report) -> String {
    if report.flows.is_empty() {
        return "No flow found: nothing was analysed.".to_owned();
    }
    if report.flows.iter().all(|flow| flow.status == FlowStatus::Unchanged) && report.findings.is_empty() {
        return "Nothing changed for any table.".to_owned();
    }
    let worst = report.worst();
    let parts: Vec<String> = Effect::ALL
        .iter()
        .rev()
        .map(|effect| (*effect, report.flows.iter().filter(|flow| flow.open == *effect).count()))
        .filter(|(effect, count)| *count > 0 && !matches!(effect, Effect::None))
        .map(|(effect, count)| outcome(effect, count))
        .collect();
    match (parts.is_empty(), worst) {
        (true, Effect::None) if report.contradicted() > 0 => "No rule tells of an effect on a table.".to_owned(),
        (true, Effect::None) => "Every table goes on as a full refresh would make it.".to_owned(),
        (true, _) => "No flow is affected; see the findings.".to_owned(),
        (false, _) => format!("{}.", parts.join("; ")),
    }
}

fn outcome(effect: Effect, count: usize) -> String {
    let flows = counted(count, "flow");
    let (is, does) = if count == 1 { ("is", "s") } else { ("are", "") };
    match effect {
        Effect::None => format!("{flows} go{} on unchanged", if count == 1 { "es" } else { "" }),
        Effect::Ignored => format!("{flows}: the edit does nothing on the existing checkpoint"),
        Effect::Mixed => format!("{flows} keep{does} old rows with the old logic"),
        Effect::Recomputed => format!("{flows} {is} computed anew"),
        Effect::Replayed => format!("{flows} read{does} everything again: duplicates"),
        Effect::WrongRows => {
            format!("{flows} go{} on without an error and with wrong rows", if count == 1 { "es" } else { "" })
        }
        Effect::Refused => format!("{flows} fail{does} at the next update"),
        Effect::Invalid => format!("{flows} cannot run at all"),
        Effect::Orphaned => format!("{flows} {is} left behind under the old name"),
        Effect::Dropped => format!("{flows} lose{does} the table and its data"),
    }
}
