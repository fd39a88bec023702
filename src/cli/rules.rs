//! `pipelint rules` and `pipelint explain RULE`.

use super::{Failure, Outcome, output};
use crate::report::safe;
use crate::rules::{CoveredBy, RuleBook, explain};
use clap::ArgMatches;
use std::fmt::Write as _;

pub fn run(args: &ArgMatches) -> Result<Outcome, Failure> {
    let book = book()?;
    if args.get_flag("coverage") {
        return coverage(&book);
    }
    let mut out = String::new();
    for rule in book.rules() {
        let platforms: Vec<_> = rule.platforms.iter().map(|platform| platform.as_str()).collect();
        let _ = writeln!(
            out,
            "{:<36} {:<8} {:<11} {:<12} {}",
            rule.id,
            rule.claim.severity,
            rule.claim.effect.effect(),
            platforms.join("+"),
            safe::inline(&rule.name)
        );
    }
    let _ = writeln!(out, "{} rules; `pipelint explain RULE` says more of one", book.rules().len());
    output::print(&out)?;
    Ok(Outcome::Clean)
}

/// Each row that the source documents demand, with what covers it. A gap is a finding.
fn coverage(book: &RuleBook) -> Result<Outcome, Failure> {
    let mut out = String::new();
    let (mut covered, mut gaps) = (0usize, 0usize);
    for row in book.coverage().rows() {
        let by: Vec<String> = book
            .covered_by(row)
            .into_iter()
            .map(|by| match by {
                CoveredBy::Rule(rule) => rule,
                CoveredBy::Part(part) => part,
            })
            .collect();
        let shown = if by.is_empty() { "GAP".to_owned() } else { by.join(", ") };
        let _ = writeln!(out, "{:<5} {}\n      {shown}", row.id, safe::inline(&row.says));
        if by.is_empty() { gaps += 1 } else { covered += 1 }
    }
    let _ = writeln!(out, "{covered} rows covered, {gaps} gaps");
    output::print(&out)?;
    Ok(if gaps == 0 { Outcome::Clean } else { Outcome::Findings })
}

pub fn run_explain(args: &ArgMatches) -> Result<Outcome, Failure> {
    let book = book()?;
    let id = args.get_one::<String>("rule").map_or("", String::as_str);
    match book.rule(id) {
        Some(rule) => output::print(&explain(rule))?,
        None => {
            let diagnostic = book.unknown_rule(id);
            return Err(Failure { message: diagnostic.message, help: diagnostic.help });
        }
    }
    Ok(Outcome::Clean)
}

fn book() -> Result<RuleBook, Failure> {
    RuleBook::embedded().map_err(|error| Failure::new(error.to_string()))
}
