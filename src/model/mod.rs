//! What a revision says, as data: pipelines, datasets, flows, plans, expressions, types, values and places.
//!
//! Takes nothing and imports nothing of ours. Frontends fill these types, `analyze` resolves them, everything to the right
//! reads them. No I/O and no behaviour beyond a type's own invariants.

mod dataset;
mod effect;
mod expr;
mod flow;
mod indexed;
mod job;
mod name;
mod pipeline;
mod place;
mod plan;
mod schema;
pub mod shell;
mod signature;
mod source;
pub mod symbol;
mod types;
mod value;

pub use dataset::{Dataset, DatasetKind, Expectation, GeneratedColumn, Layout, OnViolation};
pub use effect::{Effect, FullRefresh, Platform, Severity};
pub use expr::{
    AttrId, Attribute, Call, CodeUnit, ColumnName, Expr, Frame, FrameBound, Opaque, SortKey, SubqueryKind, WindowSpec,
};
pub use flow::{CdcSpec, ColumnSelection, Flow, FlowKind, OutputMode, ScdType, SinkTarget, StreamWrite};
pub use indexed::{Index, Indexed};
pub use job::{
    BatchWrite, Job, Merge, MergeAction, MergeClause, MergeMatch, PATH_TABLE, PartitionValue, Repetition, Step,
    StreamQuery, StreamSink, TableConstraint, Way, WriteApi, WriteOperation, WriteTarget,
};
pub use name::QualifiedName;
pub use pipeline::{
    Collision, Diagnostic, DiagnosticLevel, Pipeline, PipelineKind, SourceFacts, Unresolved, Workspace,
};
pub use place::{Place, Span};
pub use plan::{GroupingSets, JoinKind, JoinOn, Node, Plan, SetOperation, StateVariable, StatefulFunction};
pub use schema::{Field, Schema};
pub use signature::{FlowIdentity, Signature, SourceSignature, StateStoreSchema, StatefulOperator, WatermarkSignature};
pub use source::{Read, Source, option_value, same_option};
pub use types::DataType;
pub use value::{Decimal, Value};
