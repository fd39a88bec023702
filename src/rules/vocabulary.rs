//! What a rule is written with: the kinds of change and the facts that its conditions and messages may name.
//!
//! Takes the rule book, for the rules that answer to each kind; gives a list for the terminal and a page of Markdown.

use super::{Rule, RuleBook};
use crate::diff::kinds::{COMMON, FACTS, KINDS, Kind, OF_ONE_REVISION};
use std::fmt::Write as _;

fn answering<'a>(book: &'a RuleBook, kind: &'a Kind) -> impl Iterator<Item = &'a Rule> {
    book.rules().iter().filter(|rule| rule.change == kind.id)
}

/// Every kind with its facts and its rules, then every fact.
pub fn kinds_text(book: &RuleBook) -> String {
    let mut out = String::new();
    for kind in KINDS {
        let _ = writeln!(out, "{}\n    {}", kind.id, kind.about);
        let facts = if kind.facts.is_empty() { "none of its own".to_owned() } else { kind.facts.join(", ") };
        let _ = writeln!(out, "    facts: {facts}");
        let rules: Vec<&str> = answering(book, kind).map(|rule| rule.id.as_str()).collect();
        if !rules.is_empty() {
            let _ = writeln!(out, "    rules: {}", rules.join(", "));
        }
    }
    let _ = writeln!(out, "\nfacts of every change: {}\n", COMMON.join(", "));
    for (name, meaning) in FACTS {
        let _ = writeln!(out, "{name:<24} {meaning}");
    }
    let _ = writeln!(out, "\n{} kinds, {} facts", KINDS.len(), FACTS.len());
    out
}

/// The page `kinds.md` of the documentation.
pub fn kinds_markdown(book: &RuleBook) -> String {
    let mut out = String::from(
        "# Kinds of change and their facts\n\n\
         A rule names one kind of change in `change:`; its conditions and its message may use the facts of that kind and the facts \
         that every change has. `pipelint rules --kinds` prints this page's content; how to write a rule is in \
         [CONTRIBUTING](https://github.com/pipelint/pipelint/blob/main/CONTRIBUTING.md). Kinds marked with \\* are found in one \
         revision by itself, by `pipelint lint`.\n\n\
         | kind | what changed | facts of its own | rules |\n| --- | --- | --- | --- |\n",
    );
    for kind in KINDS {
        let mark = if OF_ONE_REVISION.contains(&kind.id) { " \\*" } else { "" };
        let facts: Vec<String> = kind.facts.iter().map(|fact| format!("`{fact}`")).collect();
        let rules: Vec<String> =
            answering(book, kind).map(|rule| format!("[{0}](rules/{1}/{0}.md)", rule.id, rule.category)).collect();
        let about = kind.about.replace('|', "\\|");
        let _ = writeln!(out, "| `{}`{mark} | {about} | {} | {} |", kind.id, facts.join(", "), rules.join(", "));
    }
    let common: Vec<String> = COMMON.iter().map(|fact| format!("`{fact}`")).collect();
    let _ =
        write!(out, "\n## Facts\n\nEvery change has: {}.\n\n| fact | meaning |\n| --- | --- |\n", common.join(", "));
    for (name, meaning) in FACTS {
        let _ = writeln!(out, "| `{name}` | {} |", meaning.replace('|', "\\|"));
    }
    out
}
