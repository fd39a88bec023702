//! What to do in place of a full refresh, with code in the language and the names of the flow.

use super::Snippet;
use crate::alternative;
use crate::model::{Effect, FullRefresh, Severity};
use crate::review::Examination;
use crate::rules::{Finding, RenderedRemedy};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alternative {
    pub rule: String,
    pub dataset: String,
    pub title: String,
    pub text: String,
    pub code: Option<Snippet>,
}

/// Remedies that are no way out of the refresh, but ways through it: the plan itself tells them.
const THE_PLAN_ITSELF: &[&str] = &["full-refresh", "full-refresh-of-pipeline", "lift-protection", "retention-check"];

/// The remedies of every finding that asks for something, then what no finding asks for.
pub fn alternatives(examination: &Examination) -> Vec<Alternative> {
    let asks = |finding: &&Finding| {
        finding.allowed.is_none()
            && finding.severity > Severity::Note
            && (finding.full_refresh != FullRefresh::No || matches!(finding.effect, Effect::Refused | Effect::Dropped))
    };
    let of_finding = |finding: &Finding| {
        let dataset = finding.dataset.as_ref().map(ToString::to_string).unwrap_or_default();
        let further = finding
            .remedies
            .iter()
            .filter(|remedy| !THE_PLAN_ITSELF.contains(&remedy.id.as_deref().unwrap_or_default()));
        further.map(|remedy| as_written(&finding.rule, &dataset, remedy.clone())).collect::<Vec<_>>()
    };
    let asked = examination.report.findings.iter().filter(asks).flat_map(of_finding);
    let unasked = examination.alternatives.iter().filter(|alternative| alternative.findings.is_empty());
    let unasked =
        unasked.map(|a: &alternative::Alternative| as_written(&a.rule, &a.dataset.to_string(), a.remedy(None)));
    asked.chain(unasked).collect()
}

fn as_written(rule: &str, dataset: &str, remedy: RenderedRemedy) -> Alternative {
    Alternative {
        rule: rule.to_owned(),
        dataset: dataset.to_owned(),
        title: remedy.title,
        text: remedy.text,
        code: remedy.code.map(|(language, code)| Snippet { language, code }),
    }
}
