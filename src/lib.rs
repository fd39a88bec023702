//! pipelint: what happens to the data that is already there, if this change to a streaming pipeline is deployed?
//!
//! The map of the house; a module uses those above it, never those below it (a test in `layers.rs` holds it to that):
//!
//! - [`model`]: what a revision says, as data. Imports nothing of ours.
//! - [`functions`]: Spark SQL's functions: result types and evaluation.
//! - [`revision`]: read-only file trees of a commit, the index, the working tree, or a folder.
//! - [`project`]: which files make up which pipeline.
//! - [`frontend`]: SQL, Python and notebooks, lowered to datasets, flows and plans.
//! - [`analyze`]: names, types, canonical form, signatures.
//! - [`checkpoint`]: what a real checkpoint folder holds: offsets, operators, state schemas.
//! - [`graph`]: what reads what, over all pipelines of a revision.
//! - [`diff`]: typed changes between two analysed revisions.
//! - [`rules`]: what a change is claimed to do, and the remedies.
//! - [`impact`]: what that does downstream, and the refresh plan.
//! - [`alternative`]: ways around a full refresh, written out as edits of the new code.
//! - [`policy`]: which findings are accepted: suppressions, `allow` entries, a baseline.
//! - [`engine`]: executes plans on rows; knows `model`, `functions` and `analyze`, no rule and no change.
//! - [`confirm`]: runs both revisions on the engine and compares what it sees with what the rules claim.
//! - [`verdict`]: the result of a run: flows, findings, impact, plan, and what they come to.
//! - [`reading`]: one revision read and analysed, with its configuration and its rule book.
//! - [`lint`]: scripts next to the pipelines, run twice; pipelines that would hurt themselves.
//! - [`review`]: the main job, from two trees to a report.
//! - [`fix`]: patches in place of a full refresh, proved by the comparison they leave.
//! - [`runbook`]: what to do before, during and after the deployment of a change.
//! - [`run`]: pipelines on local rows, update after update.
//! - [`backfill`]: a range of days of one table, filled again chunk by chunk.
//! - [`report`]: text, JSON and the other formats.
//! - [`cli`]: the command line.

pub mod alternative;
pub mod analyze;
pub mod backfill;
pub mod checkpoint;
pub mod cli;
pub mod confirm;
pub mod diff;
pub mod engine;
pub mod fix;
pub mod frontend;
pub mod functions;
pub mod graph;
pub mod impact;
pub mod lint;
pub mod model;
pub mod policy;
pub mod project;
pub mod reading;
pub mod report;
pub mod review;
pub mod revision;
pub mod rules;
pub mod run;
pub mod runbook;
pub mod verdict;

#[cfg(test)]
mod layers;
