//! `pipelint show [FLOW]`: plans, sources, state and schemas as pipelint understands them.

use super::{Failure, Outcome, diff, output};
use crate::frontend::ParseCache;
use crate::reading;
use crate::report::show;
use crate::revision;
use clap::ArgMatches;

pub fn run(args: &ArgMatches) -> Result<Outcome, Failure> {
    let folder = diff::folder(args);
    let target = args.get_one::<String>("revision").map(String::as_str);
    let tree = revision::open_one(target, &folder).map_err(diff::failure)?;
    let options = diff::analysis_options(args, &folder)?;
    let reading = reading::read(tree.as_ref(), &options, &ParseCache::new());
    let name = args.get_one::<String>("flow").map(String::as_str);
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
