//! Queries that write into datasets, each with a checkpoint of its own.

use super::expr::{CodeUnit, Expr};
use super::name::QualifiedName;
use super::place::Place;
use super::plan::Plan;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScdType {
    One,
    Two,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum ColumnSelection {
    #[default]
    All,
    Only(Vec<String>),
    Except(Vec<String>),
}

/// AUTO CDC / APPLY CHANGES: how changes are applied to the target.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CdcSpec {
    pub keys: Vec<Expr>,
    pub sequence_by: Option<Expr>,
    pub apply_as_deletes: Option<Expr>,
    pub apply_as_truncates: Option<Expr>,
    pub ignore_null_updates: bool,
    pub columns: ColumnSelection,
    pub scd_type: ScdType,
    pub track_history: ColumnSelection,
    /// `create_auto_cdc_from_snapshot_flow`.
    pub from_snapshot: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FlowKind {
    /// The query of the dataset's own definition; named as the dataset.
    Default,
    Append,
    /// Runs one time; runs again after a full refresh.
    Once,
    AutoCdc(Box<CdcSpec>),
    /// AUTO CDC that runs one time.
    AutoCdcOnce(Box<CdcSpec>),
    /// `FLOW REPLACE WHERE predicate`.
    ReplaceWhere(Expr),
    /// `FLOW REPLACE USING (keys) SEQUENCE BY q`.
    ReplaceUsing {
        keys: Vec<String>,
        sequence_by: Option<Expr>,
    },
    /// A plain Structured Streaming query (`writeStream`), whose identity is its checkpoint path.
    StreamJob(Box<StreamWrite>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutputMode {
    Append,
    Update,
    Complete,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SinkTarget {
    Table(QualifiedName),
    Path {
        format: String,
        path: String,
    },
    Connector {
        format: String,
    },
    /// The function's content; what it writes is in `code`.
    ForeachBatch(CodeUnit),
    Unknown(String),
}

/// The writer of a plain Structured Streaming query.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StreamWrite {
    pub target: SinkTarget,
    pub output_mode: OutputMode,
    pub checkpoint: Option<String>,
    pub query_name: Option<String>,
    pub trigger: Option<String>,
    pub partition_by: Vec<String>,
    /// By lower-case name.
    pub options: BTreeMap<String, String>,
}

#[derive(Debug, Clone)]
pub struct Flow {
    /// The checkpoint's name: the dataset's name for a default flow. Compared with letter case on platform `spark`.
    pub name: String,
    pub target: QualifiedName,
    pub kind: FlowKind,
    /// The query; for AUTO CDC what is read from its source.
    pub plan: Plan,
    /// Configuration in force for this flow alone (`spark_conf`, SQL `SET` before it), over the pipeline's.
    pub spark_conf: BTreeMap<String, String>,
    pub comment: Option<String>,
    /// Repository functions that built this flow (factories, helpers), nearest first; how a far edit reaches it.
    pub code: Vec<CodeUnit>,
    /// Content of all code behind the definition, where the definition rests on a value that is known only at run time: what the
    /// plan then holds is not the whole of it, and two revisions are equal only if their code is. None where the plan is whole.
    pub open_code: Option<u64>,
    /// Where the flow is defined (decorator, statement).
    pub place: Place,
}

impl Flow {
    /// The AUTO CDC specification, once or not.
    pub fn cdc(&self) -> Option<&CdcSpec> {
        match &self.kind {
            FlowKind::AutoCdc(spec) | FlowKind::AutoCdcOnce(spec) => Some(spec),
            _ => None,
        }
    }

    pub fn is_once(&self) -> bool {
        matches!(self.kind, FlowKind::Once | FlowKind::AutoCdcOnce(_))
    }
}
