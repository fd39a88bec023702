//! `pipelint show [FLOW]`: plans, sources, state and schemas as pipelint understands them.

use super::{Failure, Outcome, diff, output};
use crate::analyze::Analysis;
use crate::checkpoint;
use crate::frontend::ParseCache;
use crate::model::shell;
use crate::reading;
use crate::report::{self, safe, show};
use crate::revision;
use clap::ArgMatches;
use std::path::Path;

/// A name that no flow and no dataset has: a revision, perhaps, or a slip.
fn unknown_flow(name: &str, folder: &Path, analysis: &Analysis) -> Failure {
    let message = format!("no flow and no dataset is named `{}`", safe::inline(name));
    if revision::open_one(Some(name), folder).is_ok() {
        let help = format!("it is a revision or a folder: pipelint show --revision {}", shell::word(name));
        return Failure::with_help(message, help);
    }
    match show::nearest(analysis, name) {
        Some(nearest) => Failure::with_help(message, format!("did you mean `{}`?", safe::inline(&nearest))),
        None => Failure::with_help(message, "`pipelint show` without a name lists all of them"),
    }
}

pub fn run(args: &ArgMatches) -> Result<Outcome, Failure> {
    let folder = diff::folder(args);
    if let Some(named) = args.get_one::<String>("checkpoint") {
        let held = checkpoint::read(&super::check::read(named, &folder)?);
        let as_json = args.get_one::<String>("format").is_some_and(|format| format == "json");
        output::print(&if as_json { report::checkpoint::json(&held) } else { report::checkpoint::text(&held) })?;
        return Ok(Outcome::Clean);
    }
    let target = args.get_one::<String>("revision").map(String::as_str);
    let tree = revision::open_one(target, &folder).map_err(diff::failure)?;
    let options = diff::analysis_options(args, &folder, tree.as_ref())?;
    let reading = reading::read(tree.as_ref(), &options, &ParseCache::new());
    let name = args.get_one::<String>("flow").map(String::as_str);
    if let Some(name) = name.filter(|name| !show::has(&reading.analysis, name)) {
        return Err(unknown_flow(name, &folder, &reading.analysis));
    }
    let as_json = args.get_one::<String>("format").is_some_and(|format| format == "json");
    let text = match (args.get_flag("unresolved"), as_json) {
        (true, false) => show::unresolved_text(&reading.unresolved),
        (_, true) => show::json(&reading.analysis, &reading.unresolved, name),
        (false, false) => show::text(&reading.analysis, &reading.unresolved, name),
    };
    output::print(&text)?;
    diff::print_diagnostics(&reading.diagnostics);
    if reading.analysis.flows.is_empty() && !args.get_flag("allow-empty") {
        return Err(Failure::with_help(
            "no flow was found: nothing was analysed",
            "pass --allow-empty where that is right",
        ));
    }
    Ok(Outcome::Clean)
}
