//! `pipelint plan`: the runbook of a deployment.

use super::{Failure, Outcome, diff, output};
use crate::report::plan;
use crate::review::{self, ConfirmWith};
use crate::runbook::runbook;
use clap::ArgMatches;

pub fn run(args: &ArgMatches) -> Result<Outcome, Failure> {
    let folder = diff::folder(args);
    let comparison = diff::comparison(args, &folder)?;
    let options = review::Options { confirm: ConfirmWith::GeneratedRows, ..diff::analysis_options(args, &folder)? };
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
