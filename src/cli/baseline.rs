//! `pipelint baseline`.

use super::{Failure, Outcome, diff, output};
use crate::lint;
use crate::policy::Baseline;
use crate::review;
use crate::revision;
use crate::rules::Finding;
use clap::ArgMatches;
use std::path::Path;

pub fn run(args: &ArgMatches) -> Result<Outcome, Failure> {
    let folder = diff::folder(args);
    let findings = if args.get_flag("lint") { linted(args, &folder)? } else { compared(args, &folder)? };
    // What a suppression or an `allow` entry accepts already needs no second acceptance.
    let baseline = Baseline::of(findings.iter().filter(|finding| finding.allowed.is_none()));
    let name = args.get_one::<String>("output").map_or("pipelint-baseline.json", String::as_str);
    output::write_file(&folder.join(name), &baseline.render())?;
    let findings = if baseline.len() == 1 { "1 finding" } else { &format!("{} findings", baseline.len()) };
    output::print(&format!("{findings} accepted in {name}; pass --baseline {name}\n"))?;
    Ok(Outcome::Clean)
}

fn linted(args: &ArgMatches, folder: &Path) -> Result<Vec<Finding>, Failure> {
    let target = args.get_one::<String>("revisions").map(String::as_str);
    let tree = revision::open_one(target, folder).map_err(diff::failure)?;
    Ok(lint::lint(tree.as_ref(), &diff::analysis_options(args, folder, tree.as_ref())?, None).findings)
}

fn compared(args: &ArgMatches, folder: &Path) -> Result<Vec<Finding>, Failure> {
    let comparison = diff::comparison(args, folder)?;
    let options = diff::options(args, folder, comparison.after.as_ref())?;
    Ok(review::review(comparison.before.as_ref(), comparison.after.as_ref(), &options).findings)
}
