//! Every argument of every subcommand.

use crate::engine::Effort;
use clap::{Arg, ArgAction, Command, ValueHint, builder::PossibleValuesParser};

const EXIT_CODES: &str = "Exit codes: 0 nothing at or above --fail-on; 1 findings; \
2 wrong usage, an error of the tool, or nothing analysed (see --allow-empty).";

/// The whole command line.
pub fn command() -> Command {
    Command::new("pipelint")
        .version(env!("CARGO_PKG_VERSION"))
        .about("What happens to the data that is already there, if this change to a streaming pipeline is deployed?")
        .after_help(EXIT_CODES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(directory())
        .arg(color())
        .arg(quiet())
        .subcommand(diff())
        .subcommand(check())
        .subcommand(baseline())
        .subcommand(lint())
        .subcommand(plan())
        .subcommand(fix())
        .subcommand(run())
        .subcommand(show())
        .subcommand(rules())
        .subcommand(explain())
        .subcommand(demo())
        .subcommand(graph())
        .subcommand(init())
        .subcommand(completions())
        .subcommand(man())
}

fn directory() -> Arg {
    Arg::new("directory")
        .short('C')
        .long("directory")
        .global(true)
        .value_name("DIR")
        .default_value(".")
        .value_hint(ValueHint::DirPath)
        .help("Run as if started in this folder")
}

fn color() -> Arg {
    Arg::new("color")
        .long("color")
        .global(true)
        .value_parser(PossibleValuesParser::new(["auto", "always", "never"]))
        .default_value("auto")
        .help("Colours: on a terminal only (NO_COLOR is honoured), always, or never")
}

fn quiet() -> Arg {
    Arg::new("quiet")
        .long("quiet")
        .short('q')
        .global(true)
        .action(ArgAction::SetTrue)
        .help("No progress, and no text report where nothing happens to any table")
}

fn diff() -> Command {
    Command::new("diff")
        .about("Compares two revisions and says what the change does to each table")
        .after_help(EXIT_CODES)
        .arg(revisions())
        .args(compared_trees())
        .args(analysis_options())
        .args(report_options(
            "text, json, sarif, github, gitlab, junit, markdown, html, mermaid or dot; several for several reports",
        ))
        .args(confirmation_options())
        .args(spark_options())
        .args(checkpoint_options())
}

fn check() -> Command {
    let [checkpoints, source_facts] = checkpoint_options();
    let revision = Arg::new("revision").long("revision").value_name("REV|PATH");
    let what_to_copy = Arg::new("what-to-copy").long("what-to-copy").action(ArgAction::SetTrue);
    Command::new("check")
        .about("Compares real checkpoints with the code that is to resume from them")
        .after_help(EXIT_CODES)
        .arg(checkpoints.required_unless_present("what-to-copy"))
        .arg(source_facts)
        .arg(revision.help("Revision or folder of the code [default: working tree]"))
        .arg(what_to_copy.help("Print which files of a checkpoint are read, with commands to copy them"))
        .arg(
            Arg::new("from")
                .long("from")
                .value_name("URL")
                .requires("what-to-copy")
                .help("Where the checkpoint lies, for the commands of --what-to-copy"),
        )
        .args(analysis_options())
        .args(report_options("As of `pipelint diff`"))
}

/// Real checkpoints, and what is known of their sources.
fn checkpoint_options() -> [Arg; 2] {
    let checkpoints = Arg::new("checkpoints").long("checkpoints").value_name("DIR").value_hint(ValueHint::DirPath);
    let facts = Arg::new("source-facts").long("source-facts").value_name("FILE").value_hint(ValueHint::FilePath);
    [
        checkpoints
            .help("A pipeline's storage, a query's checkpoint, or a folder of such: what runs, as far as they say"),
        facts.requires("checkpoints").help(
            "What the sources of the checkpoints are now: by name `table_id`, `oldest` and `newest`, in YAML or JSON",
        ),
    ]
}

fn baseline() -> Command {
    Command::new("baseline")
        .about("Writes the findings of a comparison into a file, as accepted ones for `--baseline`; or those of a lint")
        .arg(
            Arg::new("lint")
                .long("lint")
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["staged", "before", "after"])
                .help("Accept what `pipelint lint` finds in the one revision that is named, else in the working tree"),
        )
        .arg(revisions())
        .args(compared_trees())
        .args(analysis_options())
        .args(confirmation_options().into_iter().filter(|argument| argument.get_id() != "engine"))
        .arg(
            Arg::new("output")
                .long("output")
                .short('o')
                .value_name("FILE")
                .value_hint(ValueHint::FilePath)
                .default_value("pipelint-baseline.json")
                .help("File to write"),
        )
}

/// `A..B`, `A...B`, `A`, or nothing.
fn revisions() -> Arg {
    Arg::new("revisions").value_name("A..B | A...B | A").help(
        "Two revisions (`A...B` compares with the merge base), or one to compare with the working tree; \
         without any: HEAD with the working tree",
    )
}

fn compared_trees() -> [Arg; 3] {
    [
        Arg::new("staged")
            .long("staged")
            .action(ArgAction::SetTrue)
            .conflicts_with_all(["revisions", "before", "after"])
            .help(
                "Compare HEAD with the index; under pre-commit what it asks for: the revisions that it names, or an amended \
                 commit's parent",
            ),
        Arg::new("before")
            .long("before")
            .value_name("DIR")
            .value_hint(ValueHint::DirPath)
            .requires("after")
            .conflicts_with("revisions")
            .help("Compare two folders, without git"),
        Arg::new("after")
            .long("after")
            .value_name("DIR")
            .value_hint(ValueHint::DirPath)
            .requires("before")
            .help("The other folder"),
    ]
}

fn analysis_options() -> [Arg; 3] {
    [
        Arg::new("target").long("target").short('t').value_name("NAME").help("Bundle target to resolve variables with"),
        Arg::new("platform")
            .long("platform")
            .value_parser(PossibleValuesParser::new(["lakeflow", "spark"]))
            .help("Platform the pipelines run on [default: lakeflow; spark for spark-pipeline.yml]"),
        Arg::new("config")
            .long("config")
            .value_name("FILE")
            .value_hint(ValueHint::FilePath)
            .help("Configuration to use instead of the pipelint.yaml of each revision"),
    ]
}

/// `formats` names those that the command has.
fn report_options(formats: &'static str) -> [Arg; 5] {
    [
        Arg::new("explain")
            .long("explain")
            .action(ArgAction::SetTrue)
            .help("Say more: notes, every remedy with its code, everything unresolved"),
        Arg::new("format")
            .long("format")
            .short('f')
            .value_name("FORMAT[=FILE]")
            .action(ArgAction::Append)
            .help(formats),
        Arg::new("fail-on")
            .long("fail-on")
            .value_parser(PossibleValuesParser::new(["error", "warning", "never"]))
            .help("Severity from which the exit code is 1 [default: error]"),
        allow_empty(),
        Arg::new("baseline")
            .long("baseline")
            .value_name("FILE")
            .value_hint(ValueHint::FilePath)
            .help("Accepted findings, which do not count for the exit code"),
    ]
}

/// How `--engine spark` is run.
fn spark_options() -> [Arg; 5] {
    [
        Arg::new("remote").long("remote").value_name("URL").help(
            "Spark Connect server (sc://host:port) to use instead of a local one; its token in PIPELINT_SPARK_TOKEN",
        ),
        Arg::new("packages")
            .long("packages")
            .value_name("COORDINATES")
            .help("Maven packages of the local Spark, such as Delta Lake's (spark.jars.packages)"),
        Arg::new("jars").long("jars").value_name("FILES").help("Jars of the local Spark, separated by commas"),
        Arg::new("spark-conf")
            .long("spark-conf")
            .value_name("KEY=VALUE")
            .action(ArgAction::Append)
            .help("Property of the local Spark"),
        Arg::new("time-limit")
            .long("time-limit")
            .value_name("SECONDS")
            .value_parser(clap::value_parser!(u64).range(1..))
            .default_value("300")
            .help("Longest time of one update on Spark"),
    ]
}

fn confirmation_options() -> [Arg; 5] {
    [
        Arg::new("confirm")
            .long("confirm")
            .value_parser(PossibleValuesParser::new(["auto", "off"]))
            .default_value("auto")
            .help("Run both versions of each changed flow on the engine"),
        Arg::new("engine")
            .long("engine")
            .value_parser(PossibleValuesParser::new(["mini", "spark", "both"]))
            .default_value("mini")
            .help("Engine for the confirmation; spark and both execute the pipelines' own code of both revisions on Apache Spark"),
        Arg::new("data")
            .long("data")
            .value_name("DIR")
            .value_hint(ValueHint::DirPath)
            .help("Rows to use instead of generated ones: DIR/batch1/<source>.json, DIR/batch2/<source>.json"),
        Arg::new("effort")
            .long("effort")
            .value_name("ROWS")
            .value_parser(clap::value_parser!(u64).range(1..))
            .help(format!(
                "Rows that one run of a query may take through its operators, besides 100 for each row it reads [default: {}]",
                Effort::DEFAULT_ROWS
            )),
        Arg::new("confirm-timeout")
            .long("confirm-timeout")
            .value_name("SECONDS")
            .value_parser(clap::value_parser!(u64).range(1..))
            .default_value("60")
            .help("Longest time of one experiment, if the effort has not ended it before"),
    ]
}

fn fix() -> Command {
    Command::new("fix")
        .about("Patches the new code so that the old checkpoints go on, where no table is worse off with the patch")
        .after_help(
            "Exit codes: 0 no finding of severity error is left; 1 some are; 2 wrong usage, an error of the tool, or nothing \
             analysed.",
        )
        .arg(revisions())
        .args(compared_trees())
        .arg(Arg::new("rule").long("rule").value_name("RULE").help("Only fixes of this rule's findings, or `protect-table`"))
        .arg(
            Arg::new("dry-run")
                .long("dry-run")
                .action(ArgAction::SetTrue)
                .help("Show the patch as a unified diff and write nothing"),
        )
        .arg(
            Arg::new("unsafe")
                .long("unsafe")
                .action(ArgAction::SetTrue)
                .help("Apply fixes with a price too: those that leave some table worse, or without the refresh it needs"),
        )
        .args(analysis_options())
}

fn plan() -> Command {
    Command::new("plan")
        .about("Prints the runbook of a deployment: what to do before, during and after it; or that of a backfill")
        .after_help(
            "With --backfill the one revision that is named counts, else the working tree.\n\
             Exit codes: 0 the plan is printed; 2 wrong usage, an error of the tool, nothing analysed, or no way to fill the table.",
        )
        .arg(revisions())
        .args(compared_trees())
        .arg(
            Arg::new("format")
                .long("format")
                .short('f')
                .value_parser(PossibleValuesParser::new(["markdown", "json"]))
                .default_value("markdown")
                .help("Form of the output"),
        )
        .arg(allow_empty())
        .args(backfill_options())
        .args(analysis_options())
}

fn backfill_options() -> [Arg; 5] {
    let day = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("DATE").requires("backfill").help(help)
    };
    [
        Arg::new("backfill")
            .long("backfill")
            .value_name("TABLE")
            .requires_all(["from", "to"])
            .conflicts_with_all(["staged", "before", "after"])
            .help("Fill a range of days of this table again, chunk by chunk, in the table's own form"),
        day("from", "First day of the backfill, as 2024-01-31"),
        day("to", "First day after the backfill: it is not filled"),
        Arg::new("chunk")
            .long("chunk")
            .value_name("DAYS")
            .value_parser(clap::value_parser!(u32).range(1..))
            .requires("backfill")
            .help("Days of one chunk [default: 1]"),
        Arg::new("column")
            .long("column")
            .value_name("COLUMN")
            .requires("backfill")
            .help("Column that holds the day, where the table has several"),
    ]
}

fn run() -> Command {
    Command::new("run")
        .about("Runs pipelines on local rows, update after update, and prints the tables")
        .after_help(
            "Rows: DIR/batch1/<source>.json, DIR/batch2/<source>.csv, …; or DIR/<source>.json as one batch. One batch arrives \
             before each update.\nExit codes: 0 every flow ran; 1 a flow failed; 2 wrong usage, or nothing to run.",
        )
        .arg(Arg::new("revision").value_name("REV|PATH").help("Revision or folder [default: working tree]"))
        .arg(
            Arg::new("data")
                .long("data")
                .value_name("DIR")
                .value_hint(ValueHint::DirPath)
                .required_unless_present("state")
                .help("Rows of the sources: JSON lines, JSON arrays or CSV"),
        )
        .arg(
            Arg::new("update")
                .long("update")
                .value_name("KIND[=TABLES]")
                .action(ArgAction::Append)
                .help("incremental, full-refresh or full-refresh=a,b; several in a row [default: incremental, one a batch]"),
        )
        .arg(
            Arg::new("then")
                .long("then")
                .value_name("REV|PATH")
                .action(ArgAction::Append)
                .help("Code of the updates that follow: deploys another revision in between"),
        )
        .arg(
            Arg::new("state")
                .long("state")
                .value_name("DIR")
                .value_hint(ValueHint::DirPath)
                .help("Keep tables and checkpoints here; the next run goes on from them, with batches that are new"),
        )
        .arg(
            Arg::new("rows")
                .long("rows")
                .value_name("N")
                .value_parser(clap::value_parser!(usize))
                .default_value("20")
                .help("Rows of each table to print as text"),
        )
        .arg(
            Arg::new("engine")
                .long("engine")
                .value_parser(PossibleValuesParser::new(["mini", "spark"]))
                .default_value("mini")
                .help("What runs the pipelines; spark executes their own code on Apache Spark"),
        )
        .args(spark_options())
        .arg(text_or_json())
        .args(analysis_options())
}

fn text_or_json() -> Arg {
    Arg::new("format")
        .long("format")
        .short('f')
        .value_parser(PossibleValuesParser::new(["text", "json"]))
        .default_value("text")
        .help("Form of the output")
}

fn allow_empty() -> Arg {
    Arg::new("allow-empty").long("allow-empty").action(ArgAction::SetTrue).help("Exit 0 where no flow was found")
}

fn lint() -> Command {
    Command::new("lint")
        .about("Says what hurts in one revision: scripts that write tables are run twice, pipelines are read")
        .after_help(EXIT_CODES)
        .arg(
            Arg::new("targets")
                .value_name("REV|FOLDER|FILE")
                .num_args(0..)
                .help("Revision, folder, or files of the working tree [default: working tree]"),
        )
        .arg(
            Arg::new("staged")
                .long("staged")
                .action(ArgAction::SetTrue)
                .help("The index, and of it the files that differ from HEAD's or are named"),
        )
        .arg(
            Arg::new("data")
                .long("data")
                .value_name("DIR")
                .value_hint(ValueHint::DirPath)
                .help("Rows to use instead of generated ones: DIR/<table>.jsonl"),
        )
        .args(report_options("text, json, sarif, github, gitlab, junit or markdown; several for several reports"))
        .args(analysis_options())
}

fn show() -> Command {
    Command::new("show")
        .about("Shows what is known of a flow: sources, state, schema, and what could not be resolved")
        .arg(Arg::new("flow").value_name("FLOW").help("Flow or dataset; without it all of them"))
        .arg(
            Arg::new("revision")
                .long("revision")
                .value_name("REV|PATH")
                .help("Revision or folder [default: working tree]"),
        )
        .arg(text_or_json())
        .arg(
            Arg::new("unresolved")
                .long("unresolved")
                .action(ArgAction::SetTrue)
                .help("List only what could not be resolved, with what would resolve it"),
        )
        .arg(
            Arg::new("checkpoint")
                .long("checkpoint")
                .value_name("DIR")
                .value_hint(ValueHint::DirPath)
                .conflicts_with_all(["flow", "revision", "unresolved"])
                .help("Show what a real checkpoint holds, instead of the code"),
        )
        .arg(allow_empty())
        .args(analysis_options())
}

fn rules() -> Command {
    let markdown = Arg::new("markdown")
        .long("markdown")
        .value_name("DIR")
        .value_hint(ValueHint::DirPath)
        .conflicts_with_all(["coverage", "kinds"])
        .help("Write a page of Markdown a rule, and an index");
    let kinds = Arg::new("kinds")
        .long("kinds")
        .action(ArgAction::SetTrue)
        .conflicts_with("coverage")
        .help("List the kinds of change that a rule may answer to, with their facts");
    Command::new("rules").about("Lists the rules").arg(markdown).arg(kinds).arg(
        Arg::new("coverage")
            .long("coverage")
            .action(ArgAction::SetTrue)
            .help("List what the source documents demand, with the rules that cover it"),
    )
}

fn explain() -> Command {
    Command::new("explain")
        .about("Explains a rule: what it claims, why, what to do, where sources disagree")
        .arg(Arg::new("rule").value_name("RULE").required(true))
}

fn demo() -> Command {
    Command::new("demo").about("Writes an example repository with telling commits and runs `pipelint diff` on it").arg(
        Arg::new("folder")
            .value_name("DIR")
            .value_hint(ValueHint::DirPath)
            .help("Folder to write to [default: a new one for temporary files]"),
    )
}

fn graph() -> Command {
    Command::new("graph")
        .about("Draws what reads what: the part that a change affects, or all of it")
        .arg(revisions())
        .args(compared_trees())
        .args(analysis_options())
        .arg(Arg::new("all").long("all").action(ArgAction::SetTrue).help("The whole graph"))
        .arg(
            Arg::new("format")
                .long("format")
                .short('f')
                .value_parser(PossibleValuesParser::new(["mermaid", "dot"]))
                .default_value("mermaid")
                .help("Form of the output"),
        )
}

fn init() -> Command {
    Command::new("init")
        .about("Writes a pre-commit hook, a GitHub workflow and a commented pipelint.yaml with the sources found")
        .arg(Arg::new("force").long("force").action(ArgAction::SetTrue).help("Replace files that are there"))
        .args(analysis_options())
}

fn man() -> Command {
    Command::new("man").about("Prints the manual page, or writes one a subcommand").arg(
        Arg::new("output")
            .long("output")
            .short('o')
            .value_name("DIR")
            .value_hint(ValueHint::DirPath)
            .help("Folder to write the pages to"),
    )
}

fn completions() -> Command {
    Command::new("completions").about("Prints a shell's completion script").arg(
        Arg::new("shell").required(true).value_parser(PossibleValuesParser::new([
            "bash",
            "elvish",
            "fish",
            "powershell",
            "zsh",
        ])),
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_well_formed() {
        super::command().debug_assert();
    }
}
