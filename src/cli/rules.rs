//! `pipelint rules` and `pipelint explain RULE`.

use super::{Failure, Outcome, output};
use crate::report::safe;
use crate::rules::{CoveredBy, RuleBook, explain, kinds_text, markdown};
use clap::ArgMatches;
use std::fmt::Write as _;
use std::path::Path;

pub fn run(args: &ArgMatches) -> Result<Outcome, Failure> {
    let book = book()?;
    if args.get_flag("coverage") {
        return coverage(&book);
    }
    if args.get_flag("kinds") {
        output::print(&kinds_text(&book))?;
        return Ok(Outcome::Clean);
    }
    if let Some(folder) = args.get_one::<String>("markdown") {
        return pages(&book, Path::new(folder));
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

/// A page a rule in a folder a category, and `index.md` that leads to them.
fn pages(book: &RuleBook, folder: &Path) -> Result<Outcome, Failure> {
    let failed = |error: std::io::Error| Failure::new(format!("cannot write `{}`: {error}", folder.display()));
    let mut index = String::from("# Rules\n");
    let mut category = "";
    for rule in book.rules() {
        if rule.category != category {
            category = &rule.category;
            std::fs::create_dir_all(folder.join(category)).map_err(failed)?;
            let _ =
                write!(index, "\n## {category}\n\n| rule | severity | effect | allow … |\n| --- | --- | --- | --- |\n");
        }
        let _ = writeln!(
            index,
            "| [{0}]({category}/{0}.md) | {1} | {2} | {3} |",
            rule.id,
            rule.claim.severity,
            rule.claim.effect.effect(),
            rule.name.replace('|', "\\|")
        );
        output::write_file(&folder.join(category).join(format!("{}.md", rule.id)), &markdown(rule))?;
    }
    std::fs::create_dir_all(folder).map_err(failed)?;
    output::write_file(&folder.join("index.md"), &index)?;
    output::print(&format!("{} rules written to {}\n", book.rules().len(), folder.display()))?;
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
            return Err(Failure::of(&book.unknown_rule(id)));
        }
    }
    Ok(Outcome::Clean)
}

fn book() -> Result<RuleBook, Failure> {
    RuleBook::embedded().map_err(|error| Failure::new(error.to_string()))
}
