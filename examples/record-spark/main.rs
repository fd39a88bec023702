//! Records what real Apache Spark does with the cases of `tests/cases`, or checks that it still does that.
//!
//! `cargo run --example record-spark -- [--all] [--check] [--sample N] [FILTER…]`
//!
//! Without options, cases whose inputs have changed since they were recorded, or that never were, run on Spark, and what it did
//! is written into their `case.yaml` and `spark.jsonl`; what differs from an older record is told. `--all` takes the others
//! too; a filter is a part of a case's name. `--check` writes nothing and fails where Spark does not do what is recorded; records
//! of older inputs are left out and told. `--sample N` takes about N cases that hang on the commit, or on
//! `PIPELINT_SPARK_SAMPLE`; `--checkpoints DIR` keeps the small files of the checkpoints as fixtures, with what the changed code
//! met on them, and writes no record; `--spark VERSION` runs streaming jobs on another Spark. After `PIPELINT_SPARK_SECONDS` no
//! further case is begun. Spark is installed where it is missing
//! (`.ci/spark`); each vehicle has one JVM for all its cases.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports as it goes")]

mod case;
mod checkpoints;
mod jobs;
mod pipelines;
mod record;
mod runner;
mod sample;
mod steps;
mod worker;

use case::{Case, Vehicle};
use record::Record;
use runner::Runner;
use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// JVMs at a time: each takes a core and 2 GB.
const JVMS: usize = 2;

struct Options {
    root: PathBuf,
    all: bool,
    check: bool,
    sample: Option<usize>,
    filters: Vec<String>,
    /// Checkpoints go there as fixtures, and no record is written.
    checkpoints: Option<PathBuf>,
    /// Another version of Spark than the vehicle's own, for streaming jobs.
    spark: Option<String>,
    /// No case is begun after it.
    until: Option<Instant>,
}

/// What became of the cases that were begun.
#[derive(Default)]
struct Tally {
    run: usize,
    /// Cases that had a record.
    known: usize,
    differing: Vec<String>,
    failed: Vec<String>,
    skipped: usize,
    seconds: f64,
}

fn main() -> ExitCode {
    match options().and_then(|options| run(&options).map(|tally| (options, tally))) {
        Ok((options, tally)) => report(&options, &tally),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        root: PathBuf::from(env!("CARGO_MANIFEST_DIR")),
        all: false,
        check: false,
        sample: None,
        filters: Vec::new(),
        checkpoints: None,
        spark: None,
        until: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--all" => options.all = true,
            "--check" => options.check = true,
            "--sample" => {
                let count = arguments.next().and_then(|count| count.parse().ok());
                options.sample = Some(count.ok_or("--sample needs a number of cases")?);
            }
            "--checkpoints" => options.checkpoints = arguments.next().map(PathBuf::from),
            "--spark" => options.spark = arguments.next(),
            other if other.starts_with('-') => {
                return Err(format!(
                    "unknown option {other}; there are --all, --check, --sample N, --checkpoints DIR and --spark VERSION"
                ));
            }
            filter => options.filters.push(filter.to_owned()),
        }
    }
    if let Ok(seconds) = std::env::var("PIPELINT_SPARK_SECONDS") {
        let seconds = seconds.parse().map_err(|_| "PIPELINT_SPARK_SECONDS is not a number of seconds")?;
        options.until = Instant::now().checked_add(Duration::from_secs(seconds));
    }
    Ok(options)
}

fn run(options: &Options) -> Result<Tally, String> {
    let mut groups = groups(options)?;
    groups.retain(|(_, cases)| !cases.is_empty());
    let queue = Mutex::new(VecDeque::from(groups));
    let tally = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..JVMS {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().ok().and_then(|mut queue| queue.pop_front());
                    let Some((vehicle, cases)) = next else { break };
                    run_group(options, vehicle, &cases, &tally);
                }
            });
        }
    });
    tally.into_inner().map_err(|_| "a thread has failed".to_owned())
}

/// The cases to run, by vehicle; the largest group first.
fn groups(options: &Options) -> Result<Vec<(Vehicle, Vec<Case>)>, String> {
    let cases = case::all(&options.root.join("tests/cases"))?;
    // A whole name means that case alone.
    let whole: BTreeSet<String> = cases.iter().map(|case| case.name.clone()).collect();
    let named = |case: &Case| {
        let matches = |filter: &String| *filter == case.name || !whole.contains(filter) && case.name.contains(filter);
        options.filters.is_empty() || options.filters.iter().any(matches)
    };
    let cases = cases.into_iter().filter(named).filter_map(|case| Some((case.vehicle()?, case)));
    let (stale, fresh): (Vec<_>, Vec<_>) = cases.partition(|(_, case)| case.is_stale());
    let mut cases = match (options.check, options.all) {
        (true, _) => {
            tell_stale(&stale);
            fresh
        }
        _ if options.checkpoints.is_some() => stale.into_iter().chain(fresh).collect(),
        (false, true) => stale.into_iter().chain(fresh).collect(),
        (false, false) => stale,
    };
    if let Some(count) = options.sample {
        let turn = turn(&options.root);
        cases = sample::take(cases, count, &turn);
        println!("a sample of {} cases for {turn}; PIPELINT_SPARK_SAMPLE=WORD takes another", cases.len());
    }
    let mut groups: Vec<(Vehicle, Vec<Case>)> = Vehicle::ALL.iter().map(|vehicle| (*vehicle, Vec::new())).collect();
    for (vehicle, case) in cases {
        if let Some((_, group)) = groups.iter_mut().find(|(known, _)| *known == vehicle) {
            group.push(case);
        }
    }
    groups.sort_by_key(|(_, cases)| std::cmp::Reverse(cases.len()));
    Ok(groups)
}

/// A record of other inputs cannot be checked; it must be made anew first.
fn tell_stale(stale: &[(Vehicle, Case)]) {
    let recorded = stale.iter().filter(|(_, case)| !case.yaml["spark"].is_null());
    let names: Vec<&str> = recorded.map(|(_, case)| case.name.as_str()).collect();
    if !names.is_empty() {
        println!(
            "{} records are of older inputs; `cargo run --example record-spark` makes them anew: {}",
            names.len(),
            names.join(", ")
        );
    }
}

/// What the sample hangs on: the environment's word, else the commit.
fn turn(root: &Path) -> String {
    std::env::var("PIPELINT_SPARK_SAMPLE").ok().filter(|word| !word.is_empty()).unwrap_or_else(|| {
        let head = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).current_dir(root).output();
        let head = head.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
        if head.is_empty() { "no commit".to_owned() } else { format!("commit {head}") }
    })
}

fn run_group(options: &Options, vehicle: Vehicle, cases: &[Case], tally: &Mutex<Tally>) {
    let mut runner: Option<Runner> = None;
    for case in cases {
        if options.until.is_some_and(|until| Instant::now() >= until) {
            update(tally, |tally| tally.skipped += 1);
            continue;
        }
        let started = Instant::now();
        let result = match runner.take() {
            Some(running) => Ok(running),
            None => Runner::start(&options.root, vehicle, options.spark.as_deref(), options.checkpoints.as_deref()),
        };
        let result = result.and_then(|mut running| {
            let record = running.run(case);
            runner = record.is_ok().then_some(running);
            record
        });
        let seconds = started.elapsed().as_secs_f64();
        let result = result.and_then(|record| settle(options, case, &record).map(|differences| (record, differences)));
        update(tally, |tally| note(tally, case, result, seconds));
    }
}

/// Writes the record where that is asked for; gives what differs from the one before.
fn settle(options: &Options, case: &Case, record: &Record) -> Result<Option<Vec<String>>, String> {
    if options.checkpoints.is_some() {
        return Ok(None);
    }
    let known = Record::known(case);
    let differences = known.as_ref().map(|known| known.differences(record));
    // A flow that could not be judged this time takes nothing away from what was seen before.
    let less = known.as_ref().is_some_and(|known| record.judges_less_than(known));
    if !options.check && !less {
        // What is the same stays as it stands, with its order of rows.
        let same = known.filter(|_| differences.as_ref().is_some_and(Vec::is_empty));
        match same {
            Some(known) => Record { version: record.version.clone(), ..known }.write(case)?,
            None => record.write(case)?,
        }
    }
    Ok(differences)
}

fn note(tally: &mut Tally, case: &Case, result: Result<(Record, Option<Vec<String>>), String>, seconds: f64) {
    tally.run += 1;
    tally.seconds += seconds;
    let name = &case.name;
    match result {
        Err(error) => {
            println!("{name}: not run: {error}");
            tally.failed.push(name.clone());
        }
        Ok((record, differences)) => {
            tally.known += usize::from(differences.is_some());
            let outcome = record.outcome.get("outcome").map(ToString::to_string).unwrap_or_default();
            println!("{name}: {outcome} ({seconds:.1} s)");
            match differences {
                Some(differences) if !differences.is_empty() => {
                    for difference in &differences {
                        println!("  {difference}");
                    }
                    tally.differing.push(name.clone());
                }
                _ => {}
            }
        }
    }
}

fn update(tally: &Mutex<Tally>, change: impl FnOnce(&mut Tally)) {
    if let Ok(mut tally) = tally.lock() {
        change(&mut tally);
    }
}

fn report(options: &Options, tally: &Tally) -> ExitCode {
    let a_case = tally.seconds / tally.run.max(1) as f64;
    println!(
        "{} cases on real Spark, {a_case:.1} s a case; {} had a record, {} differ from it; {} not run, {} left for want of time",
        tally.run,
        tally.known,
        tally.differing.len(),
        tally.failed.len(),
        tally.skipped
    );
    for (what, cases) in [("differ", &tally.differing), ("not run", &tally.failed)] {
        if !cases.is_empty() {
            println!("{what}: {}", cases.join(", "));
        }
    }
    let fails = !tally.failed.is_empty() || (options.check && !tally.differing.is_empty());
    ExitCode::from(u8::from(fails))
}
