//! `pipelint diff`.

use super::progress::Progress;
use super::{Failure, Outcome, output, rows, spark};
use crate::confirm::{Data, sources};
use crate::engine::Effort;
use crate::model::{Diagnostic, DiagnosticLevel, Severity};
use crate::policy::Baseline;
use crate::project::{self, ConfigFile};
use crate::reading::{self, ConfirmWith};
use crate::report::{self, Format, Style};
use crate::review;
use crate::revision::{self, Comparison, Selection, Tree};
use clap::ArgMatches;
use std::path::{Path, PathBuf};

pub fn run(args: &ArgMatches) -> Result<Outcome, Failure> {
    let formats = formats(args)?;
    let folder = folder(args);
    let comparison = comparison(args, &folder)?;
    let options = reading::Options {
        checkpoints: super::check::checkpoints(args, &folder, false)?,
        spark: spark::options(args)?,
        ..options(args, &folder, comparison.after.as_ref())?
    };
    let quiet = args.get_flag("quiet");
    // Spark tells its own progress.
    let progress = Progress::start("comparing", quiet || options.spark.is_some());
    let examination = review::examine(comparison.before.as_ref(), comparison.after.as_ref(), &options);
    if let ConfirmWith::GivenRows(data) = &options.confirm {
        rows::check(data, &sources(&examination.before, &examination.after).merged())?;
    }
    let mut report = examination.report;
    drop(progress);
    if options.spark.is_some() {
        spark::clear();
    }
    let fail_on = fail_on(args, report.fail_on)?;
    report.fail_on = Some(fail_on);
    let harmless = report.is_harmless() && report.open_findings() == 0 && report.worse_writes() == 0;
    let nothing = quiet && harmless;
    let formats: Vec<_> =
        formats.into_iter().filter(|(f, file)| !nothing || *f != Format::Text || file.is_some()).collect();
    write_formats(&formats, style(args), |format, style| report::render(&report, format, style))?;
    if report.flows.is_empty() && report.scripts.is_empty() && !args.get_flag("allow-empty") {
        return Err(Failure::with_help(
            "no flow was found in either revision: nothing was analysed",
            "name the pipelines in pipelint.yaml, run in the right folder, or pass --allow-empty",
        ));
    }
    Ok(if report.fails(fail_on) { Outcome::Findings } else { Outcome::Clean })
}

/// Compares two revisions of a repository with default options and prints the text report.
pub(super) fn run_range(args: &ArgMatches, folder: &Path, range: &str) -> Result<(), Failure> {
    let comparison = revision::open(&Selection::parse(range), folder).map_err(failure)?;
    let report = review::review(comparison.before.as_ref(), comparison.after.as_ref(), &reading::Options::default());
    let colors = output::colored(args.get_one::<String>("color").map(String::as_str));
    let style = Style { colors, width: output::width(), explain: false };
    output::print(&report::render(&report, Format::Text, style))
}

pub(super) fn folder(args: &ArgMatches) -> PathBuf {
    PathBuf::from(args.get_one::<String>("directory").map_or(".", String::as_str))
}

pub(super) fn failure(error: revision::RevisionError) -> Failure {
    Failure { message: error.message, help: error.help }
}

pub(super) fn comparison(args: &ArgMatches, folder: &Path) -> Result<Comparison, Failure> {
    let text = |name: &str| args.get_one::<String>(name);
    let selection = match (text("before"), text("after"), text("revisions")) {
        (Some(before), Some(after), _) => Selection::Folders { before: folder.join(before), after: folder.join(after) },
        (_, _, Some(range)) => Selection::parse(range),
        _ if args.get_flag("staged") => {
            return revision::open_staged(folder, &environment, &revision::ancestors).map_err(failure);
        }
        _ => return revision::open_default(folder, &environment).map_err(failure),
    };
    revision::open(&selection, folder).map_err(failure)
}

/// A variable of the environment.
pub(super) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

pub(super) fn options(args: &ArgMatches, folder: &Path, tree: &dyn Tree) -> Result<reading::Options, Failure> {
    let text = |name: &str| args.get_one::<String>(name).cloned();
    let confirm = match (text("confirm").as_deref(), text("data")) {
        (Some("off"), _) => ConfirmWith::Nothing,
        (_, Some(data)) => ConfirmWith::GivenRows(
            Data::read(&folder.join(&data)).map_err(|error| Failure::new(format!("--data: {error}")))?,
        ),
        _ => ConfirmWith::GeneratedRows,
    };
    let number = |name: &str| args.get_one::<u64>(name).copied();
    let rows = number("effort").unwrap_or(Effort::DEFAULT_ROWS);
    Ok(reading::Options {
        confirm,
        effort: Effort { rows, deadline: None },
        confirm_seconds: number("confirm-timeout"),
        baseline: baseline(args, folder)?,
        ..analysis_options(args, folder, tree)?
    })
}

/// The accepted findings that `--baseline` names, where the command has that option.
pub(super) fn baseline(args: &ArgMatches, folder: &Path) -> Result<Option<Baseline>, Failure> {
    let path = args.try_get_one::<String>("baseline").ok().flatten();
    path.map(|path| read_baseline(folder, path)).transpose()
}

fn read_baseline(folder: &Path, path: &str) -> Result<Baseline, Failure> {
    let text = std::fs::read_to_string(folder.join(path)).map_err(|error| {
        Failure::with_help(format!("cannot read `{path}`: {error}"), "`pipelint baseline` writes such a file")
    })?;
    Baseline::parse(path, &text).map_err(Failure::new)
}

/// What every subcommand that reads pipelines takes: target, platform, configuration. The target is one of `tree`, the newer side.
pub(super) fn analysis_options(args: &ArgMatches, folder: &Path, tree: &dyn Tree) -> Result<reading::Options, Failure> {
    let text = |name: &str| args.get_one::<String>(name).cloned();
    if let Some(target) = text("target") {
        project::check_target(tree, &target).map_err(|unknown| Failure::of(&unknown))?;
    }
    let platform = text("platform").map(|word| word.parse()).transpose().map_err(Failure::new)?;
    let config = match text("config") {
        None => None,
        Some(path) => {
            let text = std::fs::read_to_string(folder.join(&path))
                .map_err(|error| Failure::new(format!("cannot read `{path}`: {error}")))?;
            Some(ConfigFile { path, text })
        }
    };
    Ok(reading::Options { target: text("target"), platform, config, ..reading::Options::default() })
}

/// Where each report goes: standard output, or a file.
pub(super) fn formats(args: &ArgMatches) -> Result<Vec<(Format, Option<PathBuf>)>, Failure> {
    let wanted: Vec<&String> = args.get_many::<String>("format").map(Iterator::collect).unwrap_or_default();
    if wanted.is_empty() {
        return Ok(vec![(Format::Text, None)]);
    }
    let parsed: Result<Vec<_>, Failure> = wanted
        .into_iter()
        .map(|text| {
            let (name, file) = match text.split_once('=') {
                Some((name, file)) => (name, Some(PathBuf::from(file))),
                None => (text.as_str(), None),
            };
            Ok((name.parse().map_err(Failure::new)?, file))
        })
        .collect();
    let formats = parsed?;
    if formats.iter().filter(|(_, file)| file.is_none()).count() > 1 {
        return Err(Failure::with_help(
            "two reports for standard output",
            "give all but one a file: --format json=FILE",
        ));
    }
    Ok(formats)
}

/// Writes each report to where it goes, in colours on standard output only.
pub(super) fn write_formats(
    formats: &[(Format, Option<PathBuf>)],
    style: Style,
    render: impl Fn(Format, Style) -> String,
) -> Result<(), Failure> {
    for (format, file) in formats {
        match file {
            None if *format == Format::Github => output::print_exactly(&render(*format, style))?,
            None => output::print(&render(*format, style))?,
            Some(path) => output::write_file(path, &render(*format, Style { colors: false, ..style }))?,
        }
    }
    Ok(())
}

pub(super) fn style(args: &ArgMatches) -> Style {
    let colors = output::colored(args.get_one::<String>("color").map(String::as_str));
    Style { colors, width: output::width(), explain: args.get_flag("explain") }
}

/// The option, else the configuration, else `error`.
pub(super) fn fail_on(args: &ArgMatches, configured: Option<Severity>) -> Result<Severity, Failure> {
    match args.get_one::<String>("fail-on").map(String::as_str) {
        Some("never") => Ok(Severity::Off),
        Some(word) => word.parse().map_err(Failure::new),
        None => Ok(configured.unwrap_or(Severity::Error)),
    }
}

/// Diagnostics of the input, on standard error.
pub(super) fn print_diagnostics(diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.level > DiagnosticLevel::Note) {
        output::print_diagnostic(diagnostic);
    }
}
