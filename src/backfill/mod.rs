//! Filling a range of days of one table again, in chunks that can each run any number of times.
//!
//! Takes a tree, a table's name and a range; gives a [`Backfill`]: the statements in the table's own form and language, what has
//! to rest meanwhile, and what running one chunk twice on the engine showed. Where no such statements can be given, a
//! [`Refusal`] says why.

mod day;
mod input;
mod pipeline;
mod proof;
mod range;
mod script;
mod surroundings;
mod table;

pub use day::DayColumn;
pub use input::Input;
pub use proof::Proof;
pub use range::Range;

use crate::frontend::ParseCache;
use crate::reading::{self, Options};
use crate::revision::Tree;
use crate::rules::CodeLanguage;
use crate::runbook::Snippet;

/// What to fill.
#[derive(Debug, Clone)]
pub struct Request {
    /// As the user names it.
    pub table: String,
    pub range: Range,
    /// Days of one chunk.
    pub chunk_days: u32,
    /// The column that holds the day, where the user says it.
    pub column: Option<String>,
}

/// Why there is no backfill to print, in the user's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub message: String,
    pub help: String,
}

impl Refusal {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Refusal { message: message.into(), help: help.into() }
    }
}

/// How a chunk reaches the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Delta: `REPLACE WHERE`, option `replaceWhere`.
    ReplaceWhere,
    /// Iceberg: `REPLACE WHERE`, `overwrite(condition)`.
    OverwriteByCondition,
    /// Files: the partitions that the rows lie in, by `spark.sql.sources.partitionOverwriteMode=dynamic`.
    DynamicOverwrite,
    /// A pipeline's flow that runs one time.
    OnceFlow,
    /// A pipeline's flow with a checkpoint of its own.
    AppendFlow,
}

impl Form {
    pub fn as_str(self) -> &'static str {
        match self {
            Form::ReplaceWhere => "replace-where",
            Form::OverwriteByCondition => "overwrite-by-condition",
            Form::DynamicOverwrite => "dynamic-partition-overwrite",
            Form::OnceFlow => "once-flow",
            Form::AppendFlow => "append-flow",
        }
    }

    /// A chunk replaces its rows, and does not add to what is there.
    pub fn replaces(self) -> bool {
        matches!(self, Form::ReplaceWhere | Form::OverwriteByCondition | Form::DynamicOverwrite)
    }
}

/// Days from the first one to the one before the last, with what fills them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    pub range: Range,
    /// Fills the chunk.
    pub code: String,
    /// Takes out what the chunk holds before, where its code does not replace it.
    pub clear: Option<String>,
    /// Records that it is done; of pipelines none: the flow's checkpoint does.
    pub record: Option<String>,
    /// Counts its rows.
    pub check: String,
}

/// Something that may not write, or cannot go on reading, while chunks are written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Neighbour {
    /// A script's path, a pipeline's or a flow's name.
    pub name: String,
    pub what: String,
    /// A command that stops it.
    pub command: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Backfill {
    pub revision: String,
    pub table: String,
    /// `delta`, `iceberg`, `parquet`, …
    pub format: String,
    pub form: Form,
    pub language: CodeLanguage,
    pub day: DayColumn,
    pub range: Range,
    /// Where the rows come from.
    pub input: Input,
    pub chunks: Vec<Chunk>,
    /// Everything in one file: makes the record, leaves out what is done.
    pub script: String,
    /// Where finished chunks are recorded.
    pub log: Option<String>,
    pub writers: Vec<Neighbour>,
    pub readers: Vec<Neighbour>,
    pub notes: Vec<String>,
    /// Other ways, each with its code.
    pub instead: Vec<(String, Snippet)>,
    pub proof: Proof,
}

/// Chunks that are printed at most.
const MAX_CHUNKS: usize = 4000;

/// Writes the backfill of one table.
///
/// # Errors
/// The table is not in the tree, is computed and not written, has no day that its rows can be told by, or takes rows in a way that
/// does not tell days apart.
pub fn backfill(tree: &dyn Tree, options: &Options, request: &Request) -> Result<Backfill, Refusal> {
    let cache = ParseCache::new();
    let reading = reading::read(tree, options, &cache);
    let scripts = crate::frontend::jobs(tree, &reading.project.scripts, &cache);
    let repository = table::Repository { tree, reading: &reading, scripts: &scripts, cache: &cache };
    match repository.find(&request.table)? {
        table::Found::Script(target) => script::backfill(&repository, &target, request),
        table::Found::Dataset(target) => pipeline::backfill(&repository, &target, options, request),
    }
}

/// Cuts the range up, with a limit to what is printed.
fn chunks(request: &Request) -> Result<Vec<Range>, Refusal> {
    let ranges = request.range.chunks(request.chunk_days);
    if ranges.len() > MAX_CHUNKS {
        return Err(Refusal::new(
            format!(
                "{} to {} in chunks of {} days are more than {MAX_CHUNKS} chunks",
                request.range.from, request.range.to, request.chunk_days
            ),
            "give a larger --chunk, or a shorter range",
        ));
    }
    Ok(ranges)
}

/// A part of a name: letters, digits and underscores.
fn identifier(text: &str) -> String {
    text.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect()
}

/// A column's name as SQL takes it.
fn quoted(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.chars().next().is_none_or(|c| c.is_ascii_digit());
    if plain { name.to_owned() } else { format!("`{}`", name.replace('`', "``")) }
}
