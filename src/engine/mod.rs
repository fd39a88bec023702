//! The mini engine: executes analysed plans on rows, with tables, sources, state stores and checkpoints that compare at restart
//! what Structured Streaming compares. It knows no rule and no change, so what it observes is independent evidence.

mod error;
mod operators;
mod row;
mod session;
mod state;

pub use error::ExecutionError;
pub use operators::{
    BatchOutput, EventTimeStats, MicroBatch, Tables, Watermarks, needs_no_data_batch, run_batch, run_micro_batch,
};
pub use row::{Row, Rows};
pub use session::Session;
pub use state::{DEFAULT_STORE, StateStore, StateStoreId, StateStores};
