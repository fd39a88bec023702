//! Which statements of scripts put commits into a table that a stream reads, and what the stream makes of them.
//!
//! Takes an analysed revision and its scripts; gives for every stream and every statement on its source what the commit is to a
//! reader ([`Commit`]) and what becomes of the stream ([`Reaction`]). Linting one revision and comparing two rest on it alike.

use super::script::{Placed, operation_word, writes};
use crate::analyze::{Analysis, AnalyzedFlow, SourceAspect};
use crate::diff::Change;
use crate::engine::{facts_named, read_location};
use crate::model::{
    BatchWrite, Expr, Flow, Job, MergeAction, MergeMatch, Pipeline, Place, QualifiedName, Read, Source, Value,
    WriteOperation, WriteTarget,
};
use std::collections::BTreeSet;

/// What a statement's commit is to those who stream from the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Commit {
    /// Files come and none goes, or nothing at all happens.
    Appends,
    /// Whole files go and none comes: all rows, or those of whole partitions.
    Deletes,
    /// Files go and others come in their place.
    Changes,
    /// Another table stands under the name.
    Recreates,
    /// A column is renamed, dropped or retyped.
    Alters,
}

impl Commit {
    pub fn as_str(self) -> &'static str {
        match self {
            Commit::Appends => "appends",
            Commit::Deletes => "deletes",
            Commit::Changes => "changes",
            Commit::Recreates => "recreates",
            Commit::Alters => "alters",
        }
    }

    /// Of a statement on a table with these partition columns, as far as its text shows: whether rows match, it does not.
    pub fn of(write: &BatchWrite, partitioned_by: &[String]) -> Commit {
        match &write.operation {
            WriteOperation::Append
            | WriteOperation::ErrorIfExists
            | WriteOperation::Ignore
            | WriteOperation::Create { replace: false, .. }
            | WriteOperation::Invalid { .. } => Commit::Appends,
            WriteOperation::Overwrite
            | WriteOperation::OverwritePartitions
            | WriteOperation::OverwriteWhere(_)
            | WriteOperation::ReplaceUsing(_)
            | WriteOperation::ReplaceOn(_)
            | WriteOperation::Update { .. } => Commit::Changes,
            WriteOperation::Merge(merge) => {
                let inserts = merge.clauses.iter().all(|clause| clause.when == MergeMatch::NotMatched);
                if inserts { Commit::Appends } else { Commit::Changes }
            }
            WriteOperation::Delete { condition } => match condition {
                Some(condition) if is_never(condition) => Commit::Appends,
                Some(condition) if !picks_partitions(condition, partitioned_by) => Commit::Changes,
                _ => Commit::Deletes,
            },
            WriteOperation::Truncate { .. } | WriteOperation::DropPartition { .. } => Commit::Deletes,
            WriteOperation::Create { replace: true, .. }
            | WriteOperation::Replace
            | WriteOperation::DropTable { .. } => Commit::Recreates,
            WriteOperation::Ddl(text) => of_ddl(text),
        }
    }
}

/// Statements that the frontends keep as text, by their verbs.
fn of_ddl(text: &str) -> Commit {
    let words: Vec<String> = text.split_whitespace().map(str::to_uppercase).collect();
    let has =
        |pattern: &[&str]| words.windows(pattern.len()).any(|found| found.iter().zip(pattern).all(|(a, b)| a == b));
    let columns = ["COLUMN", "COLUMNS"];
    match words.first().map(String::as_str) {
        Some("RESTORE") => Commit::Changes,
        Some("REPLACE" | "DROP" | "UNDROP") => Commit::Recreates,
        Some("CREATE") if has(&["OR", "REPLACE"]) => Commit::Recreates,
        Some("ALTER") => {
            let renames = columns.iter().any(|column| has(&["RENAME", column]));
            let drops = columns.iter().any(|column| has(&["DROP", column]));
            let replaces = has(&["REPLACE", "COLUMNS"]);
            let retypes = (has(&["ALTER", "COLUMN"]) || has(&["CHANGE"])) && has(&["TYPE"]);
            let moves = has(&["RENAME", "TO"]);
            match () {
                () if moves => Commit::Recreates,
                () if renames || drops || replaces || retypes => Commit::Alters,
                () => Commit::Appends,
            }
        }
        _ => Commit::Appends,
    }
}

fn is_never(condition: &Expr) -> bool {
    matches!(condition, Expr::Literal { value: Value::Boolean(false) | Value::Null, .. })
}

/// The condition names partition columns only, so that it picks whole files.
fn picks_partitions(condition: &Expr, partitioned_by: &[String]) -> bool {
    let mut columns = BTreeSet::new();
    let mut opaque = false;
    condition.walk(&mut |part| match part {
        Expr::Column(column) => columns.extend(column.parts.last().map(|name| name.to_lowercase())),
        Expr::Subquery { .. } | Expr::Opaque(_) => opaque = true,
        _ => {}
    });
    let partitions = |name: &String| partitioned_by.iter().any(|column| column.eq_ignore_ascii_case(name));
    !opaque && columns.iter().all(partitions)
}

/// What a stream does when it meets a commit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reaction {
    /// It goes on and takes what there is to take.
    GoesOn,
    /// It goes on without the commit, by an option: what changed, and new rows in the same commit, never arrive.
    Skips(&'static str),
    /// It goes on and takes rewritten rows again, by an option.
    Resends(&'static str),
    Stops(&'static str),
}

impl Reaction {
    pub fn as_str(&self) -> &'static str {
        match self {
            Reaction::GoesOn => "goes-on",
            Reaction::Skips(_) => "skips",
            Reaction::Resends(_) => "resends",
            Reaction::Stops(_) => "stops",
        }
    }

    fn option(&self) -> Option<&'static str> {
        match self {
            Reaction::Skips(option) | Reaction::Resends(option) => Some(option),
            Reaction::GoesOn | Reaction::Stops(_) => None,
        }
    }

    /// Of a stream with these options over a table of this format (`DeltaSource`, Iceberg's `SparkMicroBatchStream`).
    pub fn of(commit: Commit, format: &str, source: &SourceAspect) -> Reaction {
        let on = |option: &str| source.options.get(option).is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let feed = matches!(source.source, Source::ChangeFeed(_)) || on("readchangefeed");
        match (format, commit) {
            (_, Commit::Appends) => Reaction::GoesOn,
            ("iceberg", Commit::Changes) if on("streaming-skip-overwrite-snapshots") => {
                Reaction::Skips("streaming-skip-overwrite-snapshots")
            }
            ("iceberg", Commit::Deletes) if on("streaming-skip-delete-snapshots") => {
                Reaction::Skips("streaming-skip-delete-snapshots")
            }
            ("iceberg", Commit::Changes | Commit::Deletes) => Reaction::Stops("IllegalStateException"),
            ("iceberg", Commit::Recreates) => Reaction::Stops("NullPointerException"),
            ("delta", Commit::Recreates) => Reaction::Stops("DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE"),
            ("delta", Commit::Changes | Commit::Deletes) if feed => Reaction::GoesOn,
            ("delta", Commit::Changes | Commit::Deletes) if on("skipchangecommits") => {
                Reaction::Skips("skipChangeCommits")
            }
            ("delta", Commit::Changes) if on("ignorechanges") => Reaction::Resends("ignoreChanges"),
            ("delta", Commit::Deletes) if on("ignorechanges") => Reaction::Skips("ignoreChanges"),
            ("delta", Commit::Deletes) if on("ignoredeletes") => Reaction::Skips("ignoreDeletes"),
            ("delta", Commit::Changes) => Reaction::Stops("DELTA_SOURCE_TABLE_IGNORE_CHANGES"),
            ("delta", Commit::Deletes) => Reaction::Stops("DELTA_SOURCE_IGNORE_DELETE"),
            // What becomes of the columns is told where the source's schema is compared; a folder of files has no commits.
            _ => Reaction::GoesOn,
        }
    }
}

/// A statement on the table that a stream reads.
#[derive(Debug, Clone)]
pub struct SourceCommit<'a> {
    pub pipeline: &'a Pipeline,
    pub flow: &'a Flow,
    pub source: &'a SourceAspect,
    /// Path of the script.
    pub script: &'a str,
    pub write: &'a BatchWrite,
    pub commit: Commit,
    pub reaction: Reaction,
}

/// All of them, in the order of the flows.
pub fn source_commits<'a>(analysis: &'a Analysis, jobs: &[&'a Job]) -> Vec<SourceCommit<'a>> {
    let mut found = Vec::new();
    for analyzed in &analysis.flows {
        let Some(pipeline) = analysis.workspace.pipelines.get(analyzed.pipeline) else { continue };
        let Some(flow) = pipeline.flows.get(analyzed.flow) else { continue };
        for source in analyzed.aspects.sources.iter().filter(|source| source.streaming) {
            found.extend(on_source(analysis, (pipeline, flow, analyzed), source, jobs));
        }
    }
    found
}

fn on_source<'a>(
    analysis: &'a Analysis,
    (pipeline, flow, _): (&'a Pipeline, &'a Flow, &'a AnalyzedFlow),
    source: &'a SourceAspect,
    jobs: &[&'a Job],
) -> Vec<SourceCommit<'a>> {
    let (Source::Table(_) | Source::ChangeFeed(_) | Source::Files { .. }) = &source.source else { return Vec::new() };
    let format = format_of(pipeline, source);
    let partitions = partitions_of(pipeline, source);
    let own = flow.place.span().map(|span| span.path.as_ref());
    let mut found = Vec::new();
    // What one script does to a table and then streams from it is in that script's hands.
    for job in jobs.iter().filter(|job| own != Some(job.path.as_str())) {
        for placed in writes(job) {
            if !is_target(analysis, pipeline, source, &placed) {
                continue;
            }
            let commit = Commit::of(placed.write, &partitions);
            let reaction = Reaction::of(commit, &format, source);
            found.push(SourceCommit {
                pipeline,
                flow,
                source,
                script: &job.path,
                write: placed.write,
                commit,
                reaction,
            });
        }
    }
    found
}

/// Whether a statement writes the table that a stream reads.
fn is_target(analysis: &Analysis, pipeline: &Pipeline, source: &SourceAspect, placed: &Placed<'_>) -> bool {
    match (&source.source, &placed.write.target) {
        (Source::Table(name) | Source::ChangeFeed(name), WriteTarget::Table(target)) => {
            // A bare name of a pipeline's own table is no table of the session's schema.
            let mut defined = analysis.workspace.pipelines.iter().flat_map(|pipeline| &pipeline.datasets);
            let bare = name.schema.is_none() && defined.any(|dataset| dataset.name == *name);
            !bare && (super::pipelines::is_same(target, name) || target.schema.is_none() && target == name)
        }
        (_, WriteTarget::Path(path)) => {
            let at = |source: &Source| read_location(pipeline, &Read::new(source.clone(), true));
            let written = Source::Files { format: "delta".to_owned(), path: path.clone(), auto_loader: false };
            !path.contains('{') && at(&source.source).is_some() && at(&source.source) == at(&written)
        }
        _ => false,
    }
}

fn named(source: &SourceAspect) -> Option<&QualifiedName> {
    match &source.source {
        Source::Table(name) | Source::ChangeFeed(name) => Some(name),
        Source::Files { .. } | Source::Connector { .. } => None,
    }
}

/// Of the table that is read: from what is known of it, else what tables of its pipeline are.
fn format_of(pipeline: &Pipeline, source: &SourceAspect) -> String {
    if let Source::Files { format, .. } = &source.source {
        return format.clone();
    }
    let facts = named(source).and_then(|name| facts_named(&pipeline.sources, name));
    facts.and_then(|facts| facts.format.clone()).unwrap_or_else(|| pipeline.table_format.clone())
}

fn partitions_of(pipeline: &Pipeline, source: &SourceAspect) -> Vec<String> {
    let facts = named(source).and_then(|name| facts_named(&pipeline.sources, name));
    facts.map(|facts| facts.partitioned_by.clone()).unwrap_or_default()
}

impl SourceCommit<'_> {
    /// New rows come in the same commit, for a stream that skips it to miss.
    fn brings_rows(&self) -> bool {
        match &self.write.operation {
            WriteOperation::Merge(merge) => merge.clauses.iter().any(|clause| {
                clause.when == MergeMatch::NotMatched
                    && matches!(clause.action, MergeAction::Insert { .. } | MergeAction::InsertAll)
            }),
            _ => self.write.query.is_some(),
        }
    }

    /// What tells it from others: the same statement elsewhere in the scripts is no other.
    fn key(&self) -> (String, String, String, String, &'static str, Reaction) {
        (
            self.pipeline.key.clone(),
            self.flow.target.key(),
            self.flow.name.clone(),
            self.source.text.clone(),
            self.commit.as_str(),
            self.reaction.clone(),
        )
    }

    fn change(&self) -> Change {
        let reader = self.source.place.or(&self.flow.place);
        let reader_line = reader.span().map(|span| format!("{}:{}", span.path, span.line)).unwrap_or_default();
        let line = self.write.place.span().map(|span| format!("{}:{}", span.path, span.line));
        let error_class = match self.reaction {
            Reaction::Stops(class) => class,
            Reaction::GoesOn | Reaction::Skips(_) | Reaction::Resends(_) => "",
        };
        let mut change = Change::new("source-rewritten", &self.pipeline.key)
            .fact("platform", self.pipeline.platform.as_str())
            .fact("dataset", self.flow.target.to_string())
            .fact("flow", self.flow.name.as_str())
            .fact("source", self.source.text.as_str())
            .fact("producer", line.unwrap_or_else(|| self.script.to_owned()))
            .fact("operation", operation_word(&self.write.operation))
            .fact("commit", self.commit.as_str())
            .fact("reaction", self.reaction.as_str())
            .fact("option", self.reaction.option().unwrap_or_default())
            .fact("error_class", error_class)
            .fact("brings_rows", self.brings_rows())
            .fact("reader", reader_line)
            .places(&Place::unknown(), &self.write.place);
        change.dataset = Some(self.flow.target.clone());
        change.flow = Some(self.flow.name.clone());
        change
    }
}

/// Statements on a stream's source that a change brings, where the stream itself was there before.
pub fn changes_of_commits(before: &Analysis, old: &[&Job], after: &Analysis, new: &[&Job]) -> Vec<Change> {
    let known: BTreeSet<_> = source_commits(before, old).iter().map(SourceCommit::key).collect();
    let was_there = |commit: &SourceCommit<'_>| {
        let mut flows = before.workspace.pipelines.iter().flat_map(|pipeline| &pipeline.flows);
        flows.any(|flow| flow.target == commit.flow.target && flow.name == commit.flow.name)
    };
    let mut told = known;
    let mut found = Vec::new();
    for commit in source_commits(after, new) {
        if commit.reaction != Reaction::GoesOn && was_there(&commit) && told.insert(commit.key()) {
            found.push(commit.change());
        }
    }
    found
}
