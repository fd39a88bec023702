//! `pipelint check`: real checkpoints as the before side.

use super::progress::Progress;
use super::{Failure, Outcome, diff, output};
use crate::checkpoint::{CheckpointFiles, SMALL_FILES, SourceFacts};
use crate::model::shell;
use crate::reading::{self, Checkpoints, ConfirmWith};
use crate::report;
use crate::review;
use crate::revision;
use clap::ArgMatches;
use std::fmt::Write as _;
use std::path::Path;

pub fn run(args: &ArgMatches) -> Result<Outcome, Failure> {
    if args.get_flag("what-to-copy") {
        output::print(&what_to_copy(args.get_one::<String>("from").map_or("CHECKPOINT", String::as_str)))?;
        return Ok(Outcome::Clean);
    }
    let folder = diff::folder(args);
    let formats = diff::formats(args)?;
    let checkpoints = checkpoints(args, &folder, true)?;
    let revision = args.get_one::<String>("revision").map(String::as_str);
    let tree = revision::open_one(revision, &folder).map_err(diff::failure)?;
    let options = reading::Options {
        confirm: ConfirmWith::Nothing,
        baseline: diff::baseline(args, &folder)?,
        checkpoints,
        ..diff::analysis_options(args, &folder, tree.as_ref())?
    };
    let progress = Progress::start("comparing", args.get_flag("quiet"));
    let mut report = review::examine(tree.as_ref(), tree.as_ref(), &options).report;
    drop(progress);
    let fail_on = diff::fail_on(args, report.fail_on)?;
    report.fail_on = Some(fail_on);
    diff::write_formats(&formats, diff::style(args), |format, style| report::render(&report, format, style))?;
    if report.flows.is_empty() && !args.get_flag("allow-empty") {
        return Err(Failure::with_help(
            "no flow was found: nothing was compared with the checkpoints",
            "name the pipelines in pipelint.yaml, run in the right folder, or pass --allow-empty",
        ));
    }
    Ok(if report.fails(fail_on) { Outcome::Findings } else { Outcome::Clean })
}

/// The checkpoints that `--checkpoints` names, where it is given.
pub(super) fn checkpoints(args: &ArgMatches, folder: &Path, alone: bool) -> Result<Option<Checkpoints>, Failure> {
    let Some(named) = args.get_one::<String>("checkpoints") else { return Ok(None) };
    let files = read(named, folder)?;
    let facts = match args.get_one::<String>("source-facts") {
        None => SourceFacts::default(),
        Some(path) => {
            let text = std::fs::read_to_string(folder.join(path))
                .map_err(|error| Failure::new(format!("cannot read `{path}`: {error}")))?;
            SourceFacts::parse(&text).map_err(|error| {
                let help = "for example: `main.raw.orders: { table_id: 1a2b…, oldest: 120, newest: 180 }`";
                Failure::with_help(format!("--source-facts {path}: {error}"), help)
            })?
        }
    };
    Ok(Some(Checkpoints { files, facts, alone }))
}

/// The checkpoints below a folder; none is an error, because then nothing would be compared.
pub(super) fn read(named: &str, folder: &Path) -> Result<CheckpointFiles, Failure> {
    let root = folder.join(named);
    let files = CheckpointFiles::read(&root, named)
        .map_err(|error| Failure::new(format!("cannot read the folder `{named}`: {error}")))?;
    if files.folders.is_empty() {
        return Err(Failure::with_help(
            format!("no checkpoint was found in `{named}`"),
            "a checkpoint has the folders `offsets` and `commits`; `pipelint check --what-to-copy` says which files to copy",
        ));
    }
    Ok(files)
}

/// Include patterns for the usual copy commands: the small files alone.
fn what_to_copy(from: &str) -> String {
    let mut text = "The files that are read, below each checkpoint (state files are not needed):\n\n".to_owned();
    for pattern in SMALL_FILES {
        let _ = writeln!(text, "  {pattern}");
    }
    let word = shell::word(from.trim_end_matches('/'));
    let include = |option: &str| {
        let include = SMALL_FILES.iter().map(|pattern| format!("{option}'*/{pattern}' {option}'{pattern}'"));
        include.collect::<Vec<_>>().join(" \\\n    ")
    };
    let _ = writeln!(
        text,
        "\nAmazon S3:\n\n  aws s3 sync {word} checkpoints --exclude '*' \\\n    {}",
        include("--include ")
    );
    let regex: Vec<String> =
        SMALL_FILES.iter().map(|pattern| pattern.replace('.', "\\.").replace('*', "[^/]+")).collect();
    let regex = format!("(^|.*/)({})$", regex.join("|"));
    let _ = writeln!(text, "\nGoogle Cloud Storage (`-x` excludes, so everything else is named):\n");
    let _ = writeln!(text, "  gcloud storage rsync --recursive {word} checkpoints --exclude='^(?!{regex}).*$'");
    let _ = writeln!(text, "\nAzure Data Lake Storage:\n");
    let _ = writeln!(text, "  azcopy copy {word} checkpoints --recursive --include-regex '{regex}'");
    let _ = writeln!(text, "\nA folder of Unity Catalog volumes or DBFS, whole folders at a time:\n");
    for part in ["metadata", "offsets", "commits", "sources"] {
        let recursive = if part == "metadata" { "" } else { " --recursive" };
        let _ = writeln!(text, "  databricks fs cp{recursive} {word}/{part} checkpoints/{part}");
    }
    let _ = writeln!(text, "  # then, for each operator N below state/:");
    for part in ["_metadata", "_stateSchema", "0/_metadata"] {
        let _ = writeln!(text, "  databricks fs cp --recursive {word}/state/N/{part} checkpoints/state/N/{part}");
    }
    let _ = writeln!(text, "\nA local or mounted folder:\n");
    let rsync =
        SMALL_FILES.iter().map(|pattern| format!("--include='{pattern}'")).collect::<Vec<_>>().join(" \\\n    ");
    let _ = writeln!(text, "  rsync -am --include='*/' {rsync} \\\n    --exclude='*' {word}/ checkpoints/");
    text
}
