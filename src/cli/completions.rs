//! `pipelint completions SHELL`.

use super::{Failure, Outcome, arguments, output};
use clap::ArgMatches;
use clap_complete::Shell;
use std::str::FromStr;

pub fn run(args: &ArgMatches) -> Result<Outcome, Failure> {
    let shell = args.get_one::<String>("shell").map_or("bash", String::as_str);
    let shell = Shell::from_str(shell).map_err(Failure::new)?;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut arguments::command(), "pipelint", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Clean)
}
