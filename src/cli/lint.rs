//! `pipelint lint [REV|PATH]`: one revision as it is.

use super::{Failure, Outcome, diff};
use crate::lint::{self, Rows};
use crate::reading;
use crate::report::{self, Format};
use crate::revision;
use clap::ArgMatches;

pub fn run(args: &ArgMatches) -> Result<Outcome, Failure> {
    let folder = diff::folder(args);
    let target = args.get_one::<String>("revision").map(String::as_str);
    let tree = match args.get_flag("staged") {
        true => revision::open_staged(&folder, &diff::environment, &revision::ancestors).map(|both| both.after),
        false => revision::open_one(target, &folder),
    };
    let tree = tree.map_err(diff::failure)?;
    let formats = diff::formats(args)?;
    if let Some((format, _)) = formats.iter().find(|(format, _)| !report::lint::FORMATS.contains(format)) {
        let name = |wanted: Format| Format::ALL.iter().find(|(_, f)| *f == wanted).map_or("", |(name, _)| *name);
        let known: Vec<&str> = report::lint::FORMATS.iter().map(|format| name(*format)).collect();
        return Err(Failure::new(format!(
            "`{}` is no format of a lint; known are {}",
            name(*format),
            known.join(", ")
        )));
    }
    let options = reading::Options {
        baseline: diff::baseline(args, &folder)?,
        ..diff::analysis_options(args, &folder, tree.as_ref())?
    };
    let given = match args.get_one::<String>("data") {
        Some(data) => Some(Rows::read(&folder.join(data)).map_err(|e| Failure::new(format!("--data: {e}")))?),
        None => None,
    };
    let found = lint::lint(tree.as_ref(), &options, given.as_ref());
    let style = diff::style(args);
    diff::write_formats(&formats, style, |format, style| report::lint::render(&found, format, style))?;
    diff::print_diagnostics(&found.diagnostics);
    if found.flows.is_empty() && found.writes.is_empty() && !args.get_flag("allow-empty") {
        return Err(Failure::with_help(
            "no flow and no batch write was found: nothing was analysed",
            "run in the right folder, or pass --allow-empty where that is right",
        ));
    }
    Ok(if found.fails(diff::fail_on(args, found.fail_on)?) { Outcome::Findings } else { Outcome::Clean })
}
