//! Names, types, canonical form, optimized plan and signature of every flow.
//!
//! Takes a workspace as the frontends give it; gives each flow's plan with attributes resolved and views walked through, its
//! optimized plan (as much of Catalyst's optimizer as recorded state schemas show, no more) and what its checkpoint holds it to.

mod aspects;

pub use aspects::{AggregateAspect, Aspects, DeduplicateAspect, JoinAspect, OutputColumn, Piece, SourceAspect};

use crate::model::{CdcSpec, Place, Plan, Schema, Signature, Unresolved, Workspace};

/// A query that Spark's analyzer would reject, with its error class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnalysisError {
    /// `UNRESOLVED_COLUMN.WITH_SUGGESTION`, `UNSUPPORTED_STREAMING_OPERATOR_WITHOUT_WATERMARK`, …
    pub class: String,
    pub message: String,
    pub place: Place,
}

/// One flow after analysis.
#[derive(Debug, Clone)]
pub struct AnalyzedFlow {
    /// Index into `workspace.pipelines`, and into that pipeline's `flows`.
    pub pipeline: usize,
    pub flow: usize,
    /// Names and types resolved, views and CTEs inlined, sugar removed.
    pub plan: Plan,
    /// What Spark plans execution and state on.
    pub optimized: Plan,
    /// Columns the query gives.
    pub schema: Schema,
    /// Of an AUTO CDC flow: its expressions resolved over the columns of `plan`, with explicit casts.
    pub cdc: Option<CdcSpec>,
    pub signature: Signature,
    /// What the query says, piece by piece, in canonical text: what two revisions are compared by.
    pub aspects: Aspects,
    /// Some streaming leaf is read.
    pub streaming: bool,
    pub unresolved: Vec<Unresolved>,
    pub errors: Vec<AnalysisError>,
}

/// A workspace with everything that can be known about it.
#[derive(Debug, Clone)]
pub struct Analysis {
    pub workspace: Workspace,
    /// In the order of pipelines, then flows.
    pub flows: Vec<AnalyzedFlow>,
    /// Schema of each dataset, by pipeline and dataset index: declared columns, else its flows' columns merged.
    pub schemas: Vec<Vec<Schema>>,
}
