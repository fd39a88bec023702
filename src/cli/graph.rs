//! `pipelint graph`: what reads what, as Mermaid or Graphviz text.

use super::{Failure, Outcome, diff, output};
use crate::reading::{self, ConfirmWith};
use crate::report::{self, Format, Style};
use crate::review;
use crate::verdict;
use clap::ArgMatches;
use std::collections::BTreeMap;

pub fn run(args: &ArgMatches) -> Result<Outcome, Failure> {
    let folder = diff::folder(args);
    let comparison = diff::comparison(args, &folder)?;
    let options = reading::Options {
        confirm: ConfirmWith::Nothing,
        ..diff::analysis_options(args, &folder, comparison.after.as_ref())?
    };
    let report = review::review(comparison.before.as_ref(), comparison.after.as_ref(), &options);
    let dot = args.get_one::<String>("format").is_some_and(|format| format == "dot");
    let text = match (args.get_flag("all"), dot) {
        (true, true) => report::dot_of(&report.lineage, &verdict::standings(&report)),
        (true, false) => report::mermaid_of(&report.lineage, &verdict::standings(&report)),
        (false, true) => report::render(&report, Format::Dot, Style::default()),
        (false, false) => report::render(&report, Format::Mermaid, Style::default()),
    };
    output::print(&text)?;
    let known: BTreeMap<_, _> = verdict::standings(&report);
    if known.is_empty() && !args.get_flag("all") {
        output::print_note("nothing is affected; --all draws the whole graph");
    }
    Ok(Outcome::Clean)
}
