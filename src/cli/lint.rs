//! `pipelint lint [REV|PATH]`: one revision as it is.

use super::{Failure, Outcome, diff, output};
use crate::lint::{self, Rows};
use crate::report;
use crate::revision;
use clap::ArgMatches;

pub fn run(args: &ArgMatches) -> Result<Outcome, Failure> {
    let folder = diff::folder(args);
    let target = args.get_one::<String>("revision").map(String::as_str);
    let tree = revision::open_one(target, &folder).map_err(diff::failure)?;
    let options = diff::analysis_options(args, &folder)?;
    let given = match args.get_one::<String>("data") {
        Some(data) => Some(Rows::read(&folder.join(data)).map_err(|e| Failure::new(format!("--data: {e}")))?),
        None => None,
    };
    let found = lint::lint(tree.as_ref(), &options, given.as_ref());
    let as_json = args.get_one::<String>("format").is_some_and(|format| format == "json");
    let text = if as_json { report::lint::json(&found) } else { report::lint::text(&found, args.get_flag("explain")) };
    output::print(&text)?;
    diff::print_diagnostics(&found.diagnostics);
    if found.flows == 0 && found.writes.is_empty() && !args.get_flag("allow-empty") {
        return Err(Failure::with_help(
            "no flow and no batch write was found: nothing was analysed",
            "run in the right folder, or pass --allow-empty where that is right",
        ));
    }
    Ok(if found.fails(diff::fail_on(args, found.fail_on)?) { Outcome::Findings } else { Outcome::Clean })
}
