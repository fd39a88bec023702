//! What a restart on one checkpoint comes to.

use crate::checkpoint::Problem;
use crate::model::QualifiedName;

/// A checkpoint that was read, with the flow that is to resume from it.
#[derive(Debug, Clone)]
pub struct CheckpointVerdict {
    /// The folder, as the user named it and below.
    pub path: String,
    pub flow: Option<CheckpointFlow>,
    pub resumption: Resumption,
    /// Of a restart that is refused.
    pub error_class: Option<String>,
    pub error: Option<String>,
    /// The last batch that was planned, and the last that was committed.
    pub batch: Option<u64>,
    pub committed: Option<u64>,
    /// Milliseconds since 1970: the watermark, and when the last batch was planned.
    pub watermark: Option<i64>,
    pub planned_at: Option<i64>,
    pub sources: Vec<CheckpointSource>,
    pub schemas: Vec<SchemaPair>,
    /// What could not be compared, and what was taken for granted.
    pub open: Vec<String>,
    pub assumed: Vec<String>,
    pub problems: Vec<Problem>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointFlow {
    pub pipeline: String,
    pub dataset: QualifiedName,
    pub flow: String,
}

/// Where a source stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointSource {
    /// Its position, or its name.
    pub key: String,
    pub kind: &'static str,
    /// As the offset log has it; none before its first row.
    pub offset: Option<String>,
    /// How far the source is ahead, where facts about it were given.
    pub behind: Option<String>,
}

/// Key or value of a state store, where the checkpoint and the code do not have the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaPair {
    pub operator: String,
    pub store: String,
    /// `key` or `value`.
    pub part: &'static str,
    pub checkpoint: String,
    pub code: String,
    pub file: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resumption {
    Resumes,
    /// Nothing was planned yet: it starts at the first batch.
    StartsAnew,
    Orphaned,
    Unknown,
    Refused,
}

impl Resumption {
    pub const ALL: [Resumption; 5] =
        [Resumption::Resumes, Resumption::StartsAnew, Resumption::Orphaned, Resumption::Unknown, Resumption::Refused];

    pub fn as_str(self) -> &'static str {
        match self {
            Resumption::Resumes => "resumes",
            Resumption::StartsAnew => "starts-anew",
            Resumption::Orphaned => "orphaned",
            Resumption::Unknown => "unknown",
            Resumption::Refused => "refused",
        }
    }
}
