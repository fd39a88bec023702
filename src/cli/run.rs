//! `pipelint run`: pipelines on local rows.

use super::{Failure, Outcome, diff, output, rows, spark};
use crate::analyze::Analysis;
use crate::confirm::spark::{Revision, RevisionCode, Spark};
use crate::confirm::{self, Data, NotRun};
use crate::engine::UpdateKind;
use crate::frontend::ParseCache;
use crate::model::QualifiedName;
use crate::reading::{self, Reading, SparkOptions};
use crate::report::run as report;
use crate::revision::{self, Tree};
use crate::run::{self, Code, OnSpark, RunReport, Stage, State, Step};
use clap::ArgMatches;
use std::io::{IsTerminal, Write};
use std::path::Path;

pub fn run(args: &ArgMatches) -> Result<Outcome, Failure> {
    let folder = diff::folder(args);
    let targets = targets(args);
    let opened = targets.iter().map(|target| open(args, &folder, *target)).collect::<Result<Vec<_>, _>>()?;
    let codes: Vec<Code> = opened.iter().map(|opened| opened.code(&opened.reading.analysis)).collect();
    let stages = stages(args, &codes)?;
    let data = match args.get_one::<String>("data") {
        Some(data) => Data::read(&folder.join(data)).map_err(|error| Failure::new(format!("--data: {error}")))?,
        None => Data::default(),
    };
    let sources = codes.iter().flat_map(|code| confirm::sources(&code.analysis, &code.analysis).merged());
    rows::check(&data, &sources.collect::<Vec<_>>())?;
    let outcome = match spark::options(args)? {
        Some(_) if args.contains_id("state") => {
            return Err(Failure::with_help(
                "--state keeps tables of the mini engine, and Apache Spark is to run",
                "leave out --state or --engine spark",
            ));
        }
        Some(options) => run_on_spark(&opened, &stages, &data, &options)?,
        None => run_here(args, &folder, &codes, &stages, &data)?,
    };
    let text = if args.get_one::<String>("format").is_some_and(|format| format == "json") {
        report::json(&outcome)
    } else {
        let colors = output::colored(args.get_one::<String>("color").map(String::as_str));
        report::text(&outcome, colors, args.get_one::<usize>("rows").copied().unwrap_or(usize::MAX))
    };
    output::print(&text)?;
    Ok(if outcome.failed() { Outcome::Findings } else { Outcome::Clean })
}

/// The revisions whose code runs, in their order; the working tree is none.
fn targets(args: &ArgMatches) -> Vec<Option<&str>> {
    let first = args.get_one::<String>("revision").map(String::as_str);
    let then = args.get_many::<String>("then").into_iter().flatten().map(|name| Some(name.as_str()));
    std::iter::once(first).chain(then).collect()
}

/// A revision whose code is to run.
struct Opened {
    tree: Box<dyn Tree>,
    reading: Reading,
}

impl Opened {
    fn code(&self, analysis: &Analysis) -> Code {
        Code { label: self.tree.label().to_owned(), analysis: analysis.clone() }
    }

    fn revision_code(&self) -> RevisionCode<'_> {
        RevisionCode { tree: self.tree.as_ref(), pipelines: &self.reading.project.code }
    }
}

fn open(args: &ArgMatches, folder: &Path, target: Option<&str>) -> Result<Opened, Failure> {
    let tree = revision::open_one(target, folder).map_err(diff::failure)?;
    let options = diff::analysis_options(args, folder, tree.as_ref())?;
    let reading = reading::read(tree.as_ref(), &options, &ParseCache::new());
    diff::print_diagnostics(&reading.diagnostics);
    if reading.analysis.flows.is_empty() {
        return Err(Failure::with_help(
            format!("no flow was found in {}: nothing to run", tree.label()),
            "run in the right folder, or name the pipelines in pipelint.yaml",
        ));
    }
    Ok(Opened { tree, reading })
}

/// On the mini engine, with the state that is kept where one is.
fn run_here(
    args: &ArgMatches,
    folder: &Path,
    codes: &[Code],
    stages: &[Stage],
    data: &Data,
) -> Result<RunReport, Failure> {
    let kept = args.get_one::<String>("state").map(|state| folder.join(state));
    let mut state = match &kept {
        Some(at) => State::read(at).map_err(|error| {
            Failure::with_help(format!("--state: {error}"), "name another folder, or remove the file to start anew")
        })?,
        None => State::default(),
    };
    let steps = run::schedule(stages, state.new_batches(data).collect::<Vec<_>>());
    let mut progress = Progress { terminal: std::io::stderr().is_terminal(), updates: steps.len() };
    let outcome = run::run(codes, &steps, data, &mut state, &mut |at, step| progress.tell(at, step, codes));
    progress.clear();
    if let Some(at) = &kept {
        state.write(at).map_err(|error| Failure::new(format!("--state: {error}")))?;
    }
    outcome.map_err(|not_run| Failure::new(not_run.reason))
}

/// On Apache Spark, in a world of this run alone.
fn run_on_spark(
    opened: &[Opened],
    stages: &[Stage],
    data: &Data,
    options: &SparkOptions,
) -> Result<RunReport, Failure> {
    let failure = |not_run: NotRun| Failure::new(not_run.reason);
    let code = opened.iter().map(Opened::revision_code).collect();
    let spark = Spark::new(options.settings.clone(), code, options.progress.as_ref()).map_err(failure)?;
    let deployment = spark.deployment();
    let typed =
        |opened: &Opened| confirm::typed_by_rows(&confirm::deployed(&opened.reading.analysis, &deployment), data);
    let codes: Vec<Code> = opened.iter().map(|opened| opened.code(&typed(opened))).collect();
    let revisions: Vec<Revision<'_>> = opened
        .iter()
        .zip(&codes)
        .map(|(opened, code)| Revision {
            label: code.label.clone(),
            analysis: &code.analysis,
            facts: confirm::sources(&code.analysis, &code.analysis).after,
            code: opened.revision_code(),
            is_baseline: false,
        })
        .collect();
    let steps = run::schedule(stages, 0..data.batches.len());
    let outcome = spark.in_world(&revisions, |run, world| {
        run::run(&codes, &steps, data, &mut OnSpark::new(run, world), &mut |_, _| {})
    });
    spark::clear();
    let substitutions = spark.substitutions();
    outcome.map(|outcome| RunReport { substitutions, ..outcome }).map_err(failure)
}

/// The updates of each code: those named before the next `--then`.
fn stages(args: &ArgMatches, codes: &[Code]) -> Result<Vec<Stage>, Failure> {
    let mut stages = vec![Stage::default(); codes.len()];
    let switches: Vec<usize> = args.indices_of("then").into_iter().flatten().collect();
    let places = args.indices_of("update").into_iter().flatten();
    let words = args.get_many::<String>("update").into_iter().flatten();
    for (place, word) in places.zip(words) {
        let at = switches.iter().filter(|switch| **switch < place).count();
        if let (Some(stage), Some(code)) = (stages.get_mut(at), codes.get(at)) {
            stage.updates.push(update(word, &code.analysis)?);
        }
    }
    Ok(stages)
}

fn update(word: &str, analysis: &Analysis) -> Result<UpdateKind, Failure> {
    match word.split_once('=') {
        None if word == "incremental" => Ok(UpdateKind::Incremental),
        None if word == "full-refresh" => Ok(UpdateKind::FullRefreshAll),
        Some(("full-refresh", names)) => Ok(UpdateKind::FullRefresh(selection(names, analysis)?)),
        Some(("incremental", names)) => Ok(UpdateKind::Refresh(selection(names, analysis)?)),
        _ => Err(Failure::with_help(
            format!("`{word}` is no kind of update"),
            "say incremental, full-refresh, incremental=TABLE,… or full-refresh=TABLE,…",
        )),
    }
}

fn selection(names: &str, analysis: &Analysis) -> Result<Vec<QualifiedName>, Failure> {
    let known: Vec<&QualifiedName> =
        analysis.workspace.pipelines.iter().flat_map(|pipeline| &pipeline.datasets).map(|d| &d.name).collect();
    let find = |word: &str| {
        let name = QualifiedName::parse(word);
        let found: Vec<_> = known
            .iter()
            .filter(|dataset| ***dataset == name || ends_with(&dataset.to_string(), &name.to_string()))
            .collect();
        match found.as_slice() {
            [only] => Ok((**only).clone()),
            [] => {
                let names: Vec<String> = known.iter().map(ToString::to_string).collect();
                Err(Failure::with_help(format!("no table `{word}`"), format!("there are {}", names.join(", "))))
            }
            _ => Err(Failure::with_help(format!("`{word}` names more than one table"), "write the name in full")),
        }
    };
    names.split(',').map(str::trim).filter(|word| !word.is_empty()).map(find).collect()
}

fn ends_with(full: &str, short: &str) -> bool {
    let (full, short) = (full.to_lowercase(), short.to_lowercase());
    full.strip_suffix(&short).is_some_and(|rest| rest.ends_with('.'))
}

/// One line on a terminal's standard error, written over with each update.
struct Progress {
    terminal: bool,
    updates: usize,
}

impl Progress {
    fn tell(&mut self, at: usize, step: &Step, codes: &[Code]) {
        if self.terminal {
            let label = codes.get(step.code).map_or("", |code| code.label.as_str());
            let text = format!("update {} of {} ({label})", at + 1, self.updates);
            let _ = write!(std::io::stderr().lock(), "\r\u{1b}[K{}", crate::report::safe::inline(&text));
        }
    }

    fn clear(&mut self) {
        if self.terminal {
            let _ = write!(std::io::stderr().lock(), "\r\u{1b}[K");
        }
    }
}
