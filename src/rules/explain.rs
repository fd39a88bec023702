//! One rule as text, for `pipelint explain RULE`, and as Markdown, for the documentation and for reports.

use super::rule::{Claim, ClaimedEffect, Rule};
use crate::diff::kinds;
use crate::model::Severity;

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

/// What a report says about the rule behind a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleText {
    pub name: String,
    pub category: String,
    pub severity: Severity,
    pub why: String,
    /// Plain text.
    pub help: String,
    pub markdown: String,
}

impl RuleText {
    pub fn new(rule: &Rule) -> Self {
        RuleText {
            name: rule.name.clone(),
            category: rule.category.clone(),
            severity: rule.claim.severity,
            why: rule.why.clone(),
            help: explain(rule),
            markdown: markdown(rule),
        }
    }
}

/// A rule as a page of Markdown.
pub fn markdown(rule: &Rule) -> String {
    let about = kinds::kind(rule.change).map(|kind| kind.about).unwrap_or_default();
    let platforms: Vec<&str> = rule.platforms.iter().map(|platform| platform.as_str()).collect();
    let mut text = format!("# {}\n\nAllow {}.\n\n", rule.id, escaped(&rule.name));
    text.push_str("| | |\n| --- | --- |\n");
    text.push_str(&format!("| Answers to | `{}`: {} |\n", rule.change, escaped(about)));
    text.push_str(&format!("| Platforms | {} |\n{}", platforms.join(", "), claim_rows(&rule.claim)));
    for exception in &rule.exceptions {
        let because = escaped(&exception.because);
        text.push_str(&format!("\n**But** {because}\n\n| | |\n| --- | --- |\n{}", claim_rows(&exception.claim)));
    }
    text.push_str(&format!("\n## Why\n\n{}\n", escaped(rule.why.trim())));
    if !rule.remedies.is_empty() {
        text.push_str("\n## What to do\n\n");
        for remedy in &rule.remedies {
            let (title, body) = remedy.with_names();
            text.push_str(&format!("- **{}**: {}\n", escaped(&title), escaped(&body.trim().replace('\n', " "))));
        }
    }
    for (title, items) in [("Sources", &rule.sources), ("Where sources differ", &rule.disagreements)] {
        if !items.is_empty() {
            text.push_str(&format!("\n## {title}\n\n"));
            for item in items {
                text.push_str(&format!("- {}\n", escaped(item)));
            }
        }
    }
    text
}

fn claim_rows(claim: &Claim) -> String {
    let lines = self::claim(claim);
    lines
        .lines()
        .filter_map(|line| line.split_once("  "))
        .map(|(key, value)| format!("| {key} | {} |\n", escaped(value.trim())))
        .collect()
}

/// Angle brackets and bars outside code must not become markup.
fn escaped(text: &str) -> String {
    let pieces = text.split('`').enumerate();
    let safe = |(index, piece): (usize, &str)| match index % 2 {
        0 => piece.replace('<', "&lt;").replace('|', "\\|"),
        _ => piece.replace('|', "\\|"),
    };
    pieces.map(safe).collect::<Vec<_>>().join("`")
}
