//! `pipelint baseline`.

use super::{Failure, Outcome, diff, output};
use crate::policy::Baseline;
use crate::review;
use clap::ArgMatches;

pub fn run(args: &ArgMatches) -> Result<Outcome, Failure> {
    let folder = diff::folder(args);
    let comparison = diff::comparison(args, &folder)?;
    let options = diff::options(args, &folder)?;
    let report = review::review(comparison.before.as_ref(), comparison.after.as_ref(), &options);
    // What a suppression or an `allow` entry accepts already needs no second acceptance.
    let baseline = Baseline::of(report.findings.iter().filter(|finding| finding.allowed.is_none()));
    let name = args.get_one::<String>("output").map_or("pipelint-baseline.json", String::as_str);
    output::write_file(&folder.join(name), &baseline.render())?;
    let findings = if baseline.len() == 1 { "1 finding" } else { &format!("{} findings", baseline.len()) };
    output::print(&format!("{findings} accepted in {name}; pass --baseline {name} to the comparison\n"))?;
    Ok(Outcome::Clean)
}
