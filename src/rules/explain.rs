//! `pipelint explain RULE`: one rule as text.

use super::rule::{Claim, ClaimedEffect, Rule};
use crate::diff::kinds;

/// A rule as plain text: what it answers to, what it claims, why, what to do, and where that is known from.
pub fn explain(rule: &Rule) -> String {
    let mut text = format!("{} ({})\n{}\n\n", rule.id, rule.category, rule.name);
    let about = kinds::kind(rule.change).map(|kind| kind.about).unwrap_or_default();
    text.push_str(&format!("Answers to    {}: {about}\n", rule.change));
    let platforms: Vec<&str> = rule.platforms.iter().map(|platform| platform.as_str()).collect();
    text.push_str(&format!("Platforms     {}\n", platforms.join(", ")));
    text.push_str(&claim(&rule.claim));
    for exception in &rule.exceptions {
        text.push_str(&format!("\nBut           {}\n{}", exception.because, claim(&exception.claim)));
    }
    text.push_str(&format!("\nWhy\n{}\n", indented(&rule.why)));
    if !rule.remedies.is_empty() {
        text.push_str("\nWhat to do\n");
        for remedy in &rule.remedies {
            let (title, body) = remedy.with_names();
            text.push_str(&format!("  - {title}\n{}\n", indented(&indented(&body))));
        }
    }
    for (title, items) in [("Sources", &rule.sources), ("Where sources differ", &rule.disagreements)] {
        if !items.is_empty() {
            text.push_str(&format!("\n{title}\n"));
            for item in items {
                text.push_str(&format!("  - {item}\n"));
            }
        }
    }
    if !rule.covers.is_empty() {
        text.push_str(&format!("\nCovers        {}\n", rule.covers.join(", ")));
    }
    text
}

fn claim(claim: &Claim) -> String {
    let effect = match claim.effect {
        ClaimedEffect::Certain(effect) => effect.to_string(),
        ClaimedEffect::Observed(effect) => format!("observed by an engine; {effect} where none ran"),
    };
    let class = claim.error_class.as_deref().map(|class| format!(" ({class})")).unwrap_or_default();
    format!("Severity      {}\nEffect        {effect}{class}\nFull refresh  {}\n", claim.severity, claim.full_refresh)
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
