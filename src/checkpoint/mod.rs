//! What a real checkpoint folder of Structured Streaming holds, as far as its small files say: offsets, commits, pinned
//! configuration, files read, stateful operators and the schemas of their state.
//!
//! Takes a folder; gives a [`Checkpoint`] for each checkpoint below it, in the types that the analysis of a query has. The state
//! itself is never read. Total: what is missing, damaged, foreign or of a later version is a [`Problem`] with its file, and what
//! such a file would have said is left out, never guessed.

mod data_type;
mod facts;
mod files;
mod location;
mod log;
mod offset;
mod operator;
mod read;
mod state_schema;

pub use facts::{Position, SourceFacts};
pub use files::{CheckpointFiles, SMALL_FILES};
pub use location::Location;
pub use offset::{OffsetForm, StoredOffset, parse_offset};
pub use read::read;

use crate::model::StatefulOperator;
use std::collections::BTreeMap;

/// One checkpoint folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Where it lies below the folder that was read, and what that says of its flow.
    pub location: Location,
    /// The id in `metadata`.
    pub query: Option<String>,
    /// The last two entries of the offset log, in order.
    pub offsets: Vec<OffsetEntry>,
    /// The last two entries of the commit log, in order.
    pub commits: Vec<Commit>,
    /// `sources/{i}`, by number or name.
    pub sources: BTreeMap<String, SourceLog>,
    /// In ascending id.
    pub operators: Vec<StoredOperator>,
    pub problems: Vec<Problem>,
}

/// A file that does not say what it should, or is not there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Below the folder that was read, with `/`.
    pub file: String,
    pub kind: ProblemKind,
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemKind {
    Missing,
    Damaged,
    /// A version that no release known here writes.
    Version,
    /// Nothing that Spark writes there.
    Foreign,
}

impl ProblemKind {
    pub fn as_str(self) -> &'static str {
        match self {
            ProblemKind::Missing => "missing",
            ProblemKind::Damaged => "damaged",
            ProblemKind::Version => "unknown-version",
            ProblemKind::Foreign => "foreign",
        }
    }
}

/// An entry of the offset log (`OffsetSeq` with `OffsetSeqMetadata`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffsetEntry {
    /// The file that it was read from.
    pub file: String,
    pub batch: u64,
    /// Milliseconds: `batchWatermarkMs` and `batchTimestampMs`.
    pub watermark: i64,
    pub timestamp: i64,
    pub configuration: BTreeMap<String, String>,
    pub sources: StoredOffsets,
}

impl OffsetEntry {
    pub fn is_by_position(&self) -> bool {
        matches!(self.sources, StoredOffsets::ByPosition(_))
    }
}

/// How offsets of an entry are told apart: by position, or by name under `queryEvolution.enableSourceEvolution`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredOffsets {
    ByPosition(Vec<Option<StoredOffset>>),
    ByName(BTreeMap<String, Option<StoredOffset>>),
}

impl StoredOffsets {
    pub fn len(&self) -> usize {
        match self {
            StoredOffsets::ByPosition(offsets) => offsets.len(),
            StoredOffsets::ByName(offsets) => offsets.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// By position as text, or by name.
    pub fn iter(&self) -> Box<dyn Iterator<Item = (String, Option<&StoredOffset>)> + '_> {
        match self {
            StoredOffsets::ByPosition(offsets) => {
                Box::new(offsets.iter().enumerate().map(|(position, offset)| (position.to_string(), offset.as_ref())))
            }
            StoredOffsets::ByName(offsets) => {
                Box::new(offsets.iter().map(|(name, offset)| (name.clone(), offset.as_ref())))
            }
        }
    }
}

/// An entry of the commit log (`CommitMetadata`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    pub batch: u64,
    /// `nextBatchWatermarkMs`.
    pub next_watermark: i64,
}

/// `sources/{i}`: the log of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceLog {
    /// Files by the number of the entry that first listed them: file sources alone.
    pub files: BTreeMap<u64, Vec<String>>,
    /// The offset that a source began at, where it writes that down.
    pub initial: Option<StoredOffset>,
}

/// A stateful operator that has state in the checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredOperator {
    /// Its folder below the folder that was read.
    pub folder: String,
    /// None where no operator metadata was written (before Spark 4.0): then `operator.name` is empty.
    pub metadata: Option<OperatorMetadata>,
    /// With the stores in the form that the analysis has them in.
    pub operator: StatefulOperator,
    /// The file of each store's schema, by the store's name.
    pub schema_files: BTreeMap<String, String>,
}

/// `state/{operator}/_metadata` (`OperatorStateMetadata`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorMetadata {
    pub file: String,
    pub version: u32,
    pub partitions: Option<u64>,
    /// Names of its state stores.
    pub stores: Vec<String>,
}

impl Checkpoint {
    /// The last planned batch.
    pub fn last(&self) -> Option<&OffsetEntry> {
        self.offsets.last()
    }

    /// The last planned batch has not been committed.
    pub fn is_uncommitted(&self) -> bool {
        let committed = self.commits.last().map(|commit| commit.batch);
        self.last().is_some_and(|entry| committed < Some(entry.batch))
    }

    /// Nothing has been planned yet, and nothing is damaged: a query starts at its first batch.
    pub fn is_new(&self) -> bool {
        self.offsets.is_empty() && self.commits.is_empty() && self.problems.is_empty()
    }

    /// The watermark that a restart begins with, milliseconds.
    pub fn watermark(&self) -> i64 {
        let planned = self.last().map_or(0, |entry| entry.watermark);
        let committed = if self.is_uncommitted() { 0 } else { self.commits.last().map_or(0, |c| c.next_watermark) };
        planned.max(committed)
    }
}
