//! Command line: the arguments, and one file a subcommand.
//!
//! Exit codes: 0 nothing at or above `--fail-on`; 1 findings; 2 wrong usage, an error of the tool, or nothing analysed.

mod arguments;
mod baseline;
mod check;
mod completions;
mod demo;
mod diff;
mod fix;
mod graph;
mod init;
mod lint;
mod man;
mod output;
mod plan;
mod progress;
mod rows;
mod rules;
mod run;
mod show;
mod spark;

use crate::model::Diagnostic;
pub use arguments::command;
use std::ffi::OsString;
use std::process::ExitCode;

/// What a subcommand tells the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Clean,
    Findings,
}

/// An error of the tool or of its usage: exit code 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub message: String,
    pub help: Option<String>,
}

impl Failure {
    /// A diagnostic of the input that leaves nothing to judge.
    fn of(diagnostic: &Diagnostic) -> Self {
        Failure { message: diagnostic.message.clone(), help: diagnostic.help.clone() }
    }

    pub fn new(message: impl Into<String>) -> Self {
        Failure { message: message.into(), help: None }
    }

    pub fn with_help(message: impl Into<String>, help: impl Into<String>) -> Self {
        Failure { message: message.into(), help: Some(help.into()) }
    }
}

/// Stack for the main thread and the workers: plans may nest as deep as the frontends allow.
const STACK_BYTES: usize = 256 << 20;

/// Runs pipelint with the given arguments (the first is the program's name).
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let matches = match command().try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => {
            // `--help` and `--version` also end here, with exit code 0.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    // A second call (in tests) finds the pool built; its threads then keep the first one's stacks.
    let _ = rayon::ThreadPoolBuilder::new().stack_size(STACK_BYTES).build_global();
    let worker = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || dispatch(&matches));
    let result = match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => Err(Failure::with_help(
            "pipelint met a bug and stopped; this is not a verdict",
            "please report it with the message above and, if you can, the files that led to it",
        )),
        Err(error) => Err(Failure::new(format!("cannot start a thread: {error}"))),
    };
    match result {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        Err(failure) => {
            output::print_failure(&failure);
            ExitCode::from(2)
        }
    }
}

fn dispatch(matches: &clap::ArgMatches) -> Result<Outcome, Failure> {
    match matches.subcommand() {
        Some(("diff", args)) => diff::run(args),
        Some(("check", args)) => check::run(args),
        Some(("baseline", args)) => baseline::run(args),
        Some(("demo", args)) => demo::run(args),
        Some(("show", args)) => show::run(args),
        Some(("fix", args)) => fix::run(args),
        Some(("lint", args)) => lint::run(args),
        Some(("plan", args)) => plan::run(args),
        Some(("run", args)) => run::run(args),
        Some(("rules", args)) => rules::run(args),
        Some(("explain", args)) => rules::run_explain(args),
        Some(("graph", args)) => graph::run(args),
        Some(("init", args)) => init::run(args),
        Some(("man", args)) => man::run(args),
        Some(("completions", args)) => completions::run(args),
        _ => Err(Failure::with_help("no subcommand given", "run `pipelint --help` for the list")),
    }
}
