//! The experiment: BEFORE on batch 1, AFTER on batch 2 with the same checkpoints, a control from nothing, and a witness.
//!
//! Takes two analysed revisions and rows (the user's own, or generated ones); gives for every flow and every table what was
//! observed on the mini engine: an [`Effect`], the error class where it was refused, and the fewest source rows that show it.

mod csv;
mod data;
mod engine;
mod experiment;
mod generate;
mod literals;
mod mini;
mod observe;
mod second;
mod shrink;
mod slice;
mod sources;
pub mod spark;
mod volatile;
mod witness;

pub use data::{Batch, Data, DataError};
pub use engine::{Engine, NotRun, Outcome, Reports, TableRows, Tables, WrittenRows};
pub use experiment::{Experiment, Side, new_sources};
pub use mini::{Mini, Worlds};
pub use observe::{FlowObservation, TableObservation};
pub use second::{Deployment, SecondConfirmation, by_flow, confirm_on};
pub use sources::{SourceSet, sources};
pub use volatile::volatile_columns;
pub use witness::{Witness, WitnessRow, WitnessSource};

use crate::analyze::Analysis;
use crate::engine::{UpdateKind, World};
use crate::model::{Effect, QualifiedName};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Seeds of the generated rows; fixed, so that two runs observe the same.
pub const SEEDS: [u64; 4] = [1, 2, 3, 4];

/// How the experiment is set up.
#[derive(Default)]
pub struct Options<'a> {
    /// Rows to run on instead of generated ones: batch 1, then the others.
    pub data: Option<Data>,
    /// Seeds to generate rows with; [`SEEDS`] where empty.
    pub seeds: Vec<u64>,
    /// How AFTER is deployed: updates one after the other; one incremental update where empty.
    pub updates: Vec<UpdateKind>,
    /// What else happens to tables and checkpoints between the two revisions.
    pub between: Option<&'a (dyn Fn(&mut World) + Sync)>,
    /// Look for the fewest rows that show each effect.
    pub witnesses: bool,
    /// Keys of the datasets to observe, with those that read them; all where none.
    pub datasets: Option<BTreeSet<String>>,
}

/// What was observed of one flow.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowConfirmation {
    /// Key of the pipeline.
    pub pipeline: String,
    pub flow: String,
    pub dataset: QualifiedName,
    /// None where the flow could not be run; `reason` says why.
    pub observed: Option<Effect>,
    pub error_class: Option<String>,
    pub message: Option<String>,
    pub reason: Option<String>,
    /// The seed that showed it, where rows were generated.
    pub seed: Option<u64>,
    /// Functions that were evaluated as uninterpreted ones.
    pub uninterpreted: BTreeSet<String>,
    pub witness: Option<Witness>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Confirmation {
    /// Flows of AFTER in the order of its analysis, then those that only BEFORE has.
    pub flows: Vec<FlowConfirmation>,
    /// Tables that either revision wrote, by name.
    pub tables: Vec<TableObservation>,
}

/// The rows that are generated for a pair of revisions from a seed.
pub fn generated(before: &Analysis, after: &Analysis, seed: u64) -> Data {
    generate::generate(&sources(before, after), &literals::collect(before, after), seed)
}

/// Runs the experiment and tells the worst effect over all seeds, flow by flow.
pub fn confirm(before: &Analysis, after: &Analysis, options: &Options<'_>) -> Confirmation {
    let Some(datasets) = &options.datasets else { return confirm_all(before, after, options) };
    let both = [before, after];
    let affected = slice::with_readers(both, &slice::places_of(both, datasets));
    let needed = slice::with_sources(both, &affected);
    let (before, after) = (slice::slice(before, &needed), slice::slice(after, &needed));
    confirm_all(&before, &after, options)
}

fn confirm_all(before: &Analysis, after: &Analysis, options: &Options<'_>) -> Confirmation {
    let set = sources(before, after);
    let runs: Vec<(Option<u64>, Data)> = match &options.data {
        Some(data) => vec![(None, data.clone())],
        None => {
            let seeds = if options.seeds.is_empty() { &SEEDS[..] } else { &options.seeds };
            let literals = literals::collect(before, after);
            seeds.iter().map(|seed| (Some(*seed), generate::generate(&set, &literals, *seed))).collect()
        }
    };
    let engine = Mini { between: options.between };
    let experiment = Experiment { before, after, sources: &set, updates: &options.updates };
    let observed: Vec<Confirmation> = runs
        .par_iter()
        .map(|(seed, data)| {
            let observed = observe::observe(before, after, &engine.outcome(&experiment, data));
            let flows = observed.flows.into_iter().map(|flow| confirmation(flow, *seed)).collect();
            Confirmation { flows, tables: observed.tables }
        })
        .collect();
    let worst = observed.into_iter().reduce(Confirmation::worse);
    let mut confirmation = worst.unwrap_or_default();
    if options.witnesses {
        confirmation.flows.par_iter_mut().for_each(|flow| {
            let data = runs.iter().find(|(seed, _)| *seed == flow.seed).map(|(_, data)| data);
            if let Some(data) = data {
                flow.witness = shrink::witness(&engine, &experiment, data, flow);
            }
        });
    }
    confirmation
}

fn confirmation(flow: FlowObservation, seed: Option<u64>) -> FlowConfirmation {
    let flow = if seed.is_some() { without_misfits(flow) } else { flow };
    FlowConfirmation {
        pipeline: flow.pipeline,
        flow: flow.flow,
        dataset: flow.dataset,
        observed: flow.effect,
        error_class: flow.error.as_ref().map(|error| error.class.clone()),
        message: flow.error.map(|error| error.message),
        reason: flow.reason,
        seed,
        uninterpreted: flow.uninterpreted,
        witness: None,
    }
}

/// Generated rows that a query cannot compute with (text that is no number) say nothing of the user's own.
fn without_misfits(flow: FlowObservation) -> FlowObservation {
    let Some(error) = flow.error.as_ref().filter(|error| error.tells_of_values()) else { return flow };
    let reason = format!("the generated rows do not fit the query: {}", error.message);
    FlowObservation { effect: None, error: None, reason: Some(reason), ..flow }
}

impl Confirmation {
    /// Flow by flow and table by table the worse of two observations; what is known is worse than what is not.
    fn worse(self, other: Confirmation) -> Confirmation {
        let flows = self.flows.into_iter().zip(other.flows).map(|(a, mut b)| {
            b.uninterpreted.extend(a.uninterpreted.iter().cloned());
            if b.observed > a.observed { b } else { FlowConfirmation { uninterpreted: b.uninterpreted, ..a } }
        });
        let tables = self.tables.into_iter().zip(other.tables).map(|(a, b)| if b.effect > a.effect { b } else { a });
        Confirmation { flows: flows.collect(), tables: tables.collect() }
    }
}
