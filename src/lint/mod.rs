//! Scripts beside the pipelines and pipelines themselves, looked at as they are: what each batch write does to its table when the
//! script runs a first and a second time.
//!
//! Takes one tree. [`experiment`](mod@experiment) runs a script twice on the engine, over given rows or generated ones; what it
//! sees is the verdict, in the words of [`Label`].

mod data;
pub mod experiment;
mod label;
mod snapshot;
mod tables;

pub use data::Rows;
pub use experiment::{Experiment, Observed, experiment};
pub use label::{Label, effect};
pub use snapshot::Snapshot;
pub use tables::{TableFacts, facts};

use crate::engine::ExecutionError;
use crate::frontend::{self, ParseCache, Script};
use crate::model::Job;
use crate::project::Unit;
use crate::revision::Tree;
use rayon::prelude::*;

/// One script with what two runs of it showed, or why nothing could be observed.
#[derive(Debug)]
pub struct ScriptRuns {
    pub script: Script,
    pub unit: Unit,
    pub observed: Result<Vec<Observed>, ExecutionError>,
}

/// Reads scripts and runs each twice, over given rows or generated ones.
pub fn run_scripts(tree: &dyn Tree, units: &[Unit], given: Option<&Rows>, cache: &ParseCache) -> Vec<ScriptRuns> {
    let scripts = frontend::jobs(tree, units, cache);
    let jobs: Vec<&Job> = scripts.iter().map(|script| &script.job).collect();
    let runs: Vec<ScriptRuns> = scripts
        .par_iter()
        .filter_map(|script| {
            let unit = units.iter().find(|unit| unit.files.first().is_some_and(|f| *f.path == *script.job.path))?;
            let tables = facts(&script.job, &unit.pipeline, &jobs);
            let setup = Experiment {
                job: &script.job,
                pipeline: &unit.pipeline,
                tables: &tables,
                given,
                before: &[],
                between: &[],
                removed_between: &[],
            };
            let observed = experiment(&setup);
            Some(ScriptRuns { script: script.clone(), unit: unit.clone(), observed })
        })
        .collect();
    runs
}
