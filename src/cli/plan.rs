//! `pipelint plan`: the runbook of a deployment, or of a backfill.

use super::{Failure, Outcome, diff, output};
use crate::backfill::{Range, Request, backfill};
use crate::reading::{self, ConfirmWith};
use crate::report;
use crate::report::plan;
use crate::review;
use crate::revision;
use crate::runbook::runbook;
use clap::ArgMatches;
use std::path::Path;

pub fn run(args: &ArgMatches) -> Result<Outcome, Failure> {
    let folder = diff::folder(args);
    if let Some(table) = args.get_one::<String>("backfill") {
        return run_backfill(args, &folder, table);
    }
    let comparison = diff::comparison(args, &folder)?;
    let options = reading::Options {
        confirm: ConfirmWith::GeneratedRows,
        ..diff::analysis_options(args, &folder, comparison.after.as_ref())?
    };
    let examination = review::examine(comparison.before.as_ref(), comparison.after.as_ref(), &options);
    if examination.report.flows.is_empty() && !args.get_flag("allow-empty") {
        return Err(Failure::with_help(
            "no flow was found in either revision: nothing was analysed",
            "name the pipelines in pipelint.yaml, run in the right folder, or pass --allow-empty",
        ));
    }
    let runbook = runbook(&examination);
    let as_json = args.get_one::<String>("format").is_some_and(|format| format == "json");
    output::print(&if as_json { plan::json(&runbook) } else { plan::markdown(&runbook) })?;
    Ok(Outcome::Clean)
}

fn run_backfill(args: &ArgMatches, folder: &Path, table: &str) -> Result<Outcome, Failure> {
    let day = |name: &str| -> Result<jiff::civil::Date, Failure> {
        let text = args.get_one::<String>(name).map_or("", String::as_str);
        text.parse()
            .map_err(|_| Failure::with_help(format!("--{name}: `{text}` is no day"), "write days as 2024-01-31"))
    };
    let (from, to) = (day("from")?, day("to")?);
    let range = Range::new(from, to).ok_or_else(|| {
        Failure::with_help(
            format!("no day lies between {from} and {to}"),
            "--to is the first day that is not filled any more",
        )
    })?;
    let request = Request {
        table: table.to_owned(),
        range,
        chunk_days: args.get_one::<u32>("chunk").copied().unwrap_or(1),
        column: args.get_one::<String>("column").cloned(),
    };
    let revision = args.get_one::<String>("revisions").map(String::as_str);
    let tree = revision::open_one(revision, folder).map_err(diff::failure)?;
    let options = diff::analysis_options(args, folder, tree.as_ref())?;
    let found = backfill(tree.as_ref(), &options, &request)
        .map_err(|refusal| Failure::with_help(refusal.message, refusal.help))?;
    let as_json = args.get_one::<String>("format").is_some_and(|format| format == "json");
    output::print(&if as_json { report::backfill::json(&found) } else { report::backfill::markdown(&found) })?;
    Ok(Outcome::Clean)
}
