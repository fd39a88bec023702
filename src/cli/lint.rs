//! `pipelint lint [REV|FOLDER|FILE…]`: one revision as it is, or files of it.

use super::{Failure, Outcome, diff};
use crate::lint::{self, Rows};
use crate::model::{Diagnostic, DiagnosticLevel};
use crate::reading;
use crate::report::{self, Format};
use crate::revision::{self, Part, Tree};
use clap::ArgMatches;
use std::collections::BTreeSet;
use std::path::Path;

/// What is asked for: a tree, and the files of it where some are named or staged.
type Opened = (Box<dyn Tree>, Option<BTreeSet<String>>);

fn opened(args: &ArgMatches, folder: &Path) -> Result<Opened, Failure> {
    let targets: Vec<&str> = args.get_many::<String>("targets").into_iter().flatten().map(String::as_str).collect();
    if args.get_flag("staged") {
        let Part { tree, files } = revision::staged_part(folder).map_err(diff::failure)?;
        if targets.is_empty() {
            return Ok((tree, Some(files)));
        }
        let named = revision::open_files(&targets, folder).map_err(diff::failure)?.files;
        return Ok((tree, Some(named)));
    }
    match targets.as_slice() {
        [] => revision::open_one(None, folder).map(|tree| (tree, None)).map_err(diff::failure),
        [one] if !folder.join(one).is_file() => {
            revision::open_one(Some(one), folder).map(|tree| (tree, None)).map_err(diff::failure)
        }
        files => {
            let Part { tree, files } = revision::open_files(files, folder).map_err(diff::failure)?;
            Ok((tree, Some(files)))
        }
    }
}

pub fn run(args: &ArgMatches) -> Result<Outcome, Failure> {
    let folder = diff::folder(args);
    let (tree, files) = opened(args, &folder)?;
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
    let found = match &files {
        Some(files) => found.of_files(files),
        None => found,
    };
    let style = diff::style(args);
    diff::write_formats(&formats, style, |format, style| report::lint::render(&found, format, style))?;
    diff::print_diagnostics(&found.diagnostics);
    let broken = |diagnostic: &&Diagnostic| diagnostic.level == DiagnosticLevel::Error;
    if let (Some(_), Some(first)) = (&files, found.diagnostics.iter().find(broken)) {
        let at = first.path.as_deref().unwrap_or("a file");
        return Err(Failure::new(format!("{at} could not be read to its end: {}", first.message)));
    }
    // A commit may well touch no script.
    let needed = !args.get_flag("allow-empty") && !args.get_flag("staged");
    if needed && found.flows.is_empty() && found.writes.is_empty() {
        return Err(Failure::with_help(
            "no flow and no batch write was found: nothing was analysed",
            "run in the right folder, or pass --allow-empty where that is right",
        ));
    }
    Ok(if found.fails(diff::fail_on(args, found.fail_on)?) { Outcome::Findings } else { Outcome::Clean })
}
