//! Claims that rest on symbols: where two values differ by what is known only at run time, whether they differ cannot be told.

use super::Finding;
use crate::diff::{Change, Fact};
use crate::model::symbol::{differ_by_symbol, holds_symbol};
use crate::model::{Effect, FullRefresh, Severity};

/// The finding as it may be claimed of this change: `unknown` and no error, if what it says rests on a symbol.
pub(super) fn held_to_symbols(finding: Finding, change: &Change) -> Finding {
    if !rests_on_symbol(change) {
        return finding;
    }
    let severity = finding.severity.min(Severity::Warning);
    if finding.effect == Effect::None {
        return Finding { severity, ..finding };
    }
    let mut hints =
        vec!["the two differ in a value that is known only at run time: what happens cannot be told".to_owned()];
    hints.extend(finding.hints);
    Finding {
        severity,
        effect: Effect::Unknown,
        observed: false,
        confirmable: false,
        full_refresh: FullRefresh::No,
        error_class: None,
        remedies: Vec::new(),
        hints,
        ..finding
    }
}

/// Some value of before and its counterpart of after differ where a symbol stands, or an error is about a symbol.
fn rests_on_symbol(change: &Change) -> bool {
    let pairs = change.facts.iter().filter_map(|(name, before)| {
        let after = counterparts(name).into_iter().find_map(|other| change.facts.get(other.as_str()))?;
        Some((text(before), text(after)))
    });
    pairs.into_iter().any(|(before, after)| differ_by_symbol(&before, &after))
        || change.text("error").is_some_and(holds_symbol)
}

/// Names of the facts that say of after what this one says of before.
fn counterparts(name: &str) -> Vec<String> {
    match name {
        "before" => vec!["after".to_owned()],
        "removed" => vec!["added".to_owned()],
        "was" => vec!["is".to_owned()],
        _ => match name.strip_suffix("_before") {
            Some(subject) => vec![format!("{subject}_after"), subject.to_owned()],
            None => Vec::new(),
        },
    }
}

fn text(fact: &Fact) -> String {
    fact.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::kinds;
    use crate::model::Platform;
    use crate::rules::{RuleBook, findings_of};

    #[test]
    fn no_rule_claims_an_error_where_values_differ_by_a_symbol() {
        let book = RuleBook::embedded().unwrap();
        let mut claimed = 0;
        for rule in book.rules() {
            let facts = kinds::kind(rule.change).map(|kind| kind.facts).unwrap_or_default();
            for before in facts {
                let Some(after) = facts.iter().find(|fact| counterparts(before).iter().any(|name| name == *fact))
                else {
                    continue;
                };
                for (old, new) in [("{a}", "{b}"), ("{a}", "b"), ("a", "{b}.x")] {
                    let change =
                        Change::new(kinds::kind(rule.change).unwrap().id, "p").fact(before, old).fact(after, new);
                    for platform in [Platform::Lakeflow, Platform::Spark] {
                        for finding in findings_of(&book, platform, &change) {
                            claimed += 1;
                            assert!(finding.severity < Severity::Error, "{}", finding.rule);
                            assert!(matches!(finding.effect, Effect::Unknown | Effect::None), "{}", finding.rule);
                        }
                    }
                }
            }
        }
        assert!(claimed > 100, "{claimed}");
    }
}
