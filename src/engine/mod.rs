//! The mini engine: executes analysed plans on rows, with tables, sources, state stores and checkpoints that compare at restart
//! what Structured Streaming compares. It knows no rule and no change, so what it observes is independent evidence.

pub mod batch;
mod catalog;
mod cdc;
mod checkpoint;
mod delta;
pub mod deployed;
mod deployment;
mod effort;
mod error;
mod expectation;
mod expression;
mod materialize;
mod operators;
mod persist;
mod persist_value;
mod platform;
mod record;
mod replace;
mod restart;
mod row;
mod scan;
mod session;
mod sink;
mod source;
mod state;
mod stream;
mod table;
mod update;
mod world;
mod writer;

pub use catalog::{dataset_location, facts_for, facts_named, normalized, read_location, source_location};
pub use checkpoint::{Checkpoint, Offset, OffsetEntry, SourceLog, SourceOffsets};
pub use deployment::{deployment_order, starts_at_latest, update_all};
pub use effort::Effort;
pub use error::ExecutionError;
pub use expectation::NullCondition;
pub use operators::{
    BatchOutput, EventTimeStats, MicroBatch, Tables, Watermarks, needs_no_data_batch, run_batch, run_micro_batch,
};
pub use persist::PersistError;
pub use platform::Behaviour;
pub use record::{json, misfit, ordered, record, typed, value};
pub use row::{Row, Rows};
pub use scan::contents;
pub use session::Session;
pub use source::topic_schema;
pub use state::{DEFAULT_STORE, StateStore, StateStoreId, StateStores};
pub use stream::Progress;
pub use table::{CdcProperties, Commit, CommitKind, Content, DataFile, Record, Table, TableFormat};
pub use update::{
    FlowReport, FlowStatus, Stage, UpdateKind, UpdateReport, default_source_format, defines_view, identity, location,
    uninterpreted, update,
};
pub use world::{BatchFunction, Functions, World};
