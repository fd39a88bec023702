//! The integration tests, linked once: one module for each subject, and one test for each case folder.
//!
//! `cargo test --test it -- PART` runs the tests whose names contain PART; `--list` prints the names. A case folder's test is
//! named by its place below `tests/cases`: `case/watermark/delay-raised` is what the main job makes of it. A function of a
//! module is a test if the module lists it in `crate::tests!`; one that is not listed is dead code, which clippy refuses.
//!
//! Plans are walked by recursion, so that every test has the stack that the program gives its own threads.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]
#![allow(clippy::print_stdout, reason = "the figures measured")]

use libtest_mimic::{Arguments, Failed, Trial};
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases");

/// As much as the program gives its own threads.
const STACK_BYTES: usize = 256 << 20;

/// Case folders below `tests/cases/SET`, in order; only those whose path contains `PIPELINT_CASE`, where it is set.
fn case_folders(set: &str) -> Vec<PathBuf> {
    let wanted = std::env::var("PIPELINT_CASE").unwrap_or_default();
    let mut found = Vec::new();
    let mut pending = vec![Path::new(CASES).join(set)];
    while let Some(folder) = pending.pop() {
        if folder.join("case.yaml").is_file() {
            found.push(folder);
            continue;
        }
        let entries = std::fs::read_dir(&folder).expect("a folder of cases is readable");
        pending.extend(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()));
    }
    found.retain(|folder| folder.to_string_lossy().contains(&wanted));
    found.sort();
    found
}

/// The name of a case folder's test: what is tried of it, and its place below `tests/cases`.
fn case_name(tried: &str, folder: &Path) -> String {
    format!("{tried}/{}", folder.strip_prefix(CASES).unwrap_or(folder).display())
}

/// What a test's function gives.
trait Outcome {
    fn outcome(self) -> Result<(), Failed>;
}

impl Outcome for () {
    fn outcome(self) -> Result<(), Failed> {
        Ok(())
    }
}

impl<E: Debug> Outcome for Result<(), E> {
    fn outcome(self) -> Result<(), Failed> {
        self.map_err(|error| Failed::from(format!("{error:?}")))
    }
}

/// A test with the stack of the program's threads.
fn trial<T: Outcome>(name: String, test: impl FnOnce() -> T + Send + 'static) -> Trial {
    let thread = std::thread::Builder::new().name(name.clone()).stack_size(STACK_BYTES);
    Trial::test(name, move || match thread.spawn(move || test().outcome())?.join() {
        Ok(outcome) => outcome,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// The tests of a module, by the names of their functions.
macro_rules! tests {
    ($($name:ident),* $(; ignored: $($ignored:ident),*)? $(,)?) => {
        pub fn tests() -> Vec<libtest_mimic::Trial> {
            let name = |function: &str| format!("{}::{function}", module_path!().trim_start_matches("it::"));
            vec![
                $($crate::trial(name(stringify!($name)), $name),)*
                $($($crate::trial(name(stringify!($ignored)), $ignored).with_ignored_flag(true),)*)?
            ]
        }
    };
}
use tests;

#[cfg(target_os = "linux")]
mod action;
mod backfill;
mod batch_cases;
mod cases;
mod checkpoints;
mod claims;
mod cli;
mod damaged_repository;
mod docs;
mod engine_cases;
mod engine_properties;
mod engine_rows;
mod fixes;
mod formats;
mod functions;
mod fuzz;
mod hostile;
mod json_schemas;
mod lint_cases;
mod lint_policy;
mod plan;
#[cfg(unix)]
mod pre_commit;
mod printed_commands;
mod row_conditions;
mod run;
mod spark;
mod speech;
mod state_schemas;
mod tidy;

/// With a harness of its own, `#[test]` is no test: the function would silently be left out.
fn every_test_is_listed() {
    let mut pending = vec![Path::new(CASES).with_file_name("it")];
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(std::fs::read_dir(&path).expect("a folder of tests").flatten().map(|entry| entry.path()));
        } else {
            let text = std::fs::read_to_string(&path).expect("a test's text");
            let marked = text.lines().any(|line| line.trim() == "#[test]");
            assert!(!marked, "{}: list the function in `crate::tests!` instead of #[test]", path.display());
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    rayon::ThreadPoolBuilder::new().stack_size(STACK_BYTES).build_global().expect("threads can be started");
    let tests = [
        vec![trial("every_test_is_listed".to_owned(), every_test_is_listed)],
        #[cfg(target_os = "linux")]
        action::tests(),
        #[cfg(target_os = "linux")]
        action::recipes::tests(),
        backfill::tests(),
        batch_cases::tests(),
        cases::tests(),
        checkpoints::tests(),
        claims::tests(),
        cli::tests(),
        damaged_repository::tests(),
        docs::tests(),
        engine_cases::tests(),
        engine_properties::tests(),
        engine_rows::tests(),
        fixes::tests(),
        fixes::case_tests(),
        formats::tests(),
        functions::tests(),
        functions::never_panics::tests(),
        fuzz::tests(),
        hostile::tests(),
        json_schemas::tests(),
        lint_cases::tests(),
        lint_policy::tests(),
        plan::tests(),
        #[cfg(unix)]
        pre_commit::tests(),
        printed_commands::tests(),
        printed_commands::shallow::tests(),
        printed_commands::shell::tests(),
        row_conditions::tests(),
        run::tests(),
        spark::tests(),
        speech::tests(),
        state_schemas::tests(),
        tidy::tests(),
    ];
    let conclusion = libtest_mimic::run(&arguments, tests.into_iter().flatten().collect());
    engine_cases::print_agreement();
    conclusion.exit_code()
}
