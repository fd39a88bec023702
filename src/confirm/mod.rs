//! The experiment: BEFORE on batch 1, AFTER on batch 2 with the same checkpoints, a control from nothing, and a witness.
//!
//! Takes two analysed revisions and rows (the user's own, or generated ones); gives for every flow and every table what was
//! observed on the mini engine: an [`Effect`], the error class where it was refused, and the fewest source rows that show it.

mod csv;
mod data;
mod edge_values;
mod engine;
mod expectations;
mod experiment;
mod flows_of_table;
mod generate;
mod homes;
mod inference;
mod literals;
mod mini;
mod observe;
mod parts;
mod scripts;
mod second;
mod shrink;
mod slice;
mod sources;
pub mod spark;
mod twice;
mod volatile;
mod witness;

pub use data::{Batch, Data, DataError, Misfit, misfit, unmatched};
pub use engine::{Engine, NamedRow, NotRun, Outcome, Reports, TableRows, Tables, WrittenRows};
pub use experiment::{Experiment, Side, new_sources};
pub use inference::typed_by_rows;
pub use mini::{Mini, Worlds};
pub use observe::{FlowObservation, Observed, TableObservation, observe};
pub use scripts::{Script, Scripts, Unwritten};
pub use second::{Deployment, SecondConfirmation, by_flow, confirm_on, deployed};
pub use sources::{SourceSet, sources};
pub use volatile::volatile_columns;
pub use witness::{Witness, WitnessRow, WitnessSource};

use crate::analyze::Analysis;
use crate::engine::{Effort, UpdateKind, World, location};
use crate::model::{Effect, Field, Flow, Pipeline, QualifiedName};
use generate::Fit;
use inference::Typed;
use rayon::prelude::*;
use slice::Places;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

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
    /// What one run of a query may cost.
    pub effort: Effort,
    /// Seconds that one experiment may take; then its flows are not run to the end.
    pub seconds: Option<u64>,
    /// Scripts of the repository that write what the flows read or write.
    pub scripts: Scripts,
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
    /// It ran, and the effect hangs on what the platform's documentation leaves open.
    pub undecided: bool,
    /// Of a flow that has come into a table of others: rows that it wrote of what was there before the change.
    pub old_rows: Option<usize>,
    /// Rows of the table in the end, as a full refresh would make it, of the run that gives the observation.
    pub rows: usize,
    /// The dataset that it reads from, directly or not, whose failure kept it from running.
    pub stopped_by: Option<QualifiedName>,
    /// The seed that showed it, where rows were generated.
    pub seed: Option<u64>,
    /// The rows were made to fit every cast, because the query cannot compute with others.
    pub fitting: bool,
    /// Functions that were evaluated as uninterpreted ones.
    pub uninterpreted: BTreeSet<String>,
    /// Sources whose columns' types were inferred from use, by name, with those columns: what was observed rests on them.
    pub inferred: BTreeMap<String, Vec<Field>>,
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
    generate::generate(&sources(before, after), &literals::collect(before, after), seed, Fit::Any)
}

/// Runs the experiment and gives the worst effect over all seeds, flow by flow. Where datasets are chosen, each is observed with
/// no more of the revisions than feeds it.
pub fn confirm(before: &Analysis, after: &Analysis, options: &Options<'_>) -> Confirmation {
    let [before, after] = homes::told_apart(before, after);
    let Some(datasets) = &options.datasets else { return confirm_part(&before, &after, options) };
    let both = [&*before, &*after];
    let split = parts::split(both, &slice::places_of(both, datasets), options.data.is_none());
    let by_scripts = options.scripts.reads();
    let confirmed: Vec<Confirmation> = split
        .parts
        .par_iter()
        .map(|part| {
            let [before, after] =
                both.map(|analysis| slice::slice_with(analysis, &part.places, &part.cut, &by_scripts));
            let mut confirmation = confirm_part(&before, &after, options);
            confirmation.flows.retain(|flow| datasets.contains(&flow.dataset.key()));
            confirmation.tables.retain(|table| part.observed.contains(&table.location));
            confirmation
        })
        .collect();
    let mut all = Confirmation::default();
    for confirmation in confirmed {
        all.flows.extend(confirmation.flows);
        all.tables.extend(confirmation.tables);
    }
    all.flows.extend(not_run(both, &split.too_large));
    all.in_order_of(both)
}

/// Flows into tables that need too many others.
fn not_run(both: [&Analysis; 2], too_large: &Places) -> Vec<FlowConfirmation> {
    let mut flows = Vec::new();
    if too_large.is_empty() {
        return flows;
    }
    let reason = format!("not run: more than {} tables feed it", parts::MOST);
    for pipeline in both.into_iter().flat_map(|analysis| &analysis.workspace.pipelines) {
        for flow in &pipeline.flows {
            let known = |known: &FlowConfirmation| {
                known.flow == flow.name && known.dataset == flow.target && known.pipeline == pipeline.key
            };
            if location(pipeline, flow).is_some_and(|place| too_large.contains(&place)) && !flows.iter().any(known) {
                flows.push(FlowConfirmation::not_run(pipeline, flow, &reason));
            }
        }
    }
    flows
}

/// The flows to observe by the places that they write, with what feeds and reads them.
fn observed_places(both: [&Analysis; 2], options: &Options<'_>) -> Option<Places> {
    let datasets = options.datasets.as_ref()?;
    Some(slice::with_sources(both, &slice::with_readers(both, &slice::places_of(both, datasets))))
}

/// Both revisions as their rows allow: those that are given may fail an expectation, generated ones must not.
fn runnable<'a>(both: [&'a Analysis; 2], options: &Options<'_>, places: Option<&Places>) -> [Cow<'a, Analysis>; 2] {
    match &options.data {
        Some(_) => both.map(Cow::Borrowed),
        None => expectations::without_failing_rows(both, places),
    }
}

/// The part of both revisions that is run, with types for what nobody declares.
fn prepared<'a>(both: [&'a Analysis; 2], options: &Options<'_>, places: Option<&Places>) -> Typed<'a> {
    let [before, after] = both;
    match &options.data {
        // Rows that are given have types of their own.
        Some(_) => Typed::as_declared(before, after, places),
        None => inference::typed(before, after, places),
    }
}

/// One experiment with all flows of both revisions.
fn confirm_part(before: &Analysis, after: &Analysis, options: &Options<'_>) -> Confirmation {
    let [before, after] = runnable([before, after], options, None);
    let typed = prepared([&before, &after], options, None);
    let mut confirmation = confirm_all(&typed.before, &typed.after, options);
    typed.mark(&mut confirmation);
    confirmation
}

fn confirm_all(before: &Analysis, after: &Analysis, options: &Options<'_>) -> Confirmation {
    let set = sources(before, after);
    let deadline =
        options.seconds.and_then(|seconds| Some((Instant::now().checked_add(Duration::from_secs(seconds))?, seconds)));
    let effort = Effort { deadline, ..options.effort };
    let scripts = Some(&options.scripts).filter(|scripts| !scripts.is_empty());
    let engine = Mini { between: options.between, scripts, effort, ..Mini::default() };
    let experiment = Experiment { before, after, sources: &set, updates: &options.updates };
    let mut runs: Vec<Run> = match &options.data {
        Some(data) => vec![Run::given(data)],
        None => generated_runs(&experiment, &options.seeds, Fit::Any),
    };
    let mut confirmation = observed(&engine, &experiment, &runs);
    if options.data.is_none() && confirmation.flows.iter().any(|flow| flow.observed.is_none()) {
        let fitting = generated_runs(&experiment, &options.seeds, Fit::Castable);
        confirmation = confirmation.completed(observed(&engine, &experiment, &fitting));
        runs.extend(fitting);
    }
    if options.witnesses {
        // Readers of what changed are told of by the changed table's witness.
        let changed = |flow: &&mut FlowConfirmation| {
            options.datasets.as_ref().is_none_or(|datasets| datasets.contains(&flow.dataset.key()))
        };
        confirmation.flows.par_iter_mut().filter(changed).for_each(|flow| {
            let run = runs.iter().find(|run| run.seed == flow.seed && run.fitting == flow.fitting);
            if let Some(run) = run {
                flow.witness = shrink::witness(&engine, &experiment, &run.data, flow);
            }
        });
    }
    confirmation
}

/// Rows to run the experiment on.
struct Run {
    seed: Option<u64>,
    fitting: bool,
    data: Data,
}

impl Run {
    fn given(data: &Data) -> Run {
        Run { seed: None, fitting: false, data: data.clone() }
    }
}

fn generated_runs(experiment: &Experiment<'_>, seeds: &[u64], fit: Fit) -> Vec<Run> {
    let seeds = if seeds.is_empty() { &SEEDS[..] } else { seeds };
    let literals = literals::collect(experiment.before, experiment.after);
    let generated = |seed: &u64| generate::generate(experiment.sources, &literals, *seed, fit);
    seeds.iter().map(|seed| Run { seed: Some(*seed), fitting: fit == Fit::Castable, data: generated(seed) }).collect()
}

/// The worst of what is observed on each of the runs.
fn observed(engine: &Mini<'_>, experiment: &Experiment<'_>, runs: &[Run]) -> Confirmation {
    let observed: Vec<Confirmation> = runs
        .par_iter()
        .map(|run| {
            let observed = expectations::observe_both_ways(engine, experiment, &run.data);
            let flows = observed.flows.into_iter().map(|flow| confirmation(flow, run)).collect();
            Confirmation { flows, tables: observed.tables }
        })
        .collect();
    observed.into_iter().reduce(Confirmation::worse).unwrap_or_default()
}

fn confirmation(flow: FlowObservation, run: &Run) -> FlowConfirmation {
    let flow = if run.seed.is_some() { without_misfits(flow) } else { flow };
    FlowConfirmation {
        pipeline: flow.pipeline,
        flow: flow.flow,
        dataset: flow.dataset,
        observed: flow.effect,
        error_class: flow.error.as_ref().map(|error| error.class.clone()),
        message: flow.error.map(|error| error.message),
        reason: flow.reason,
        undecided: flow.undecided,
        old_rows: flow.old_rows,
        rows: flow.rows,
        stopped_by: flow.stopped_by,
        seed: run.seed,
        fitting: run.fitting,
        uninterpreted: flow.uninterpreted,
        inferred: BTreeMap::new(),
        witness: None,
    }
}

/// Generated rows that a query cannot compute with (text that is no number) say nothing of the user's own.
fn without_misfits(flow: FlowObservation) -> FlowObservation {
    let Some(error) = flow.error.as_ref().filter(|error| error.tells_of_values()) else { return flow };
    let reason = format!("the generated rows do not fit the query: {}", error.message);
    FlowObservation { effect: None, error: None, reason: Some(reason), ..flow }
}

impl FlowConfirmation {
    /// Nothing is known of the flow, for this reason.
    fn not_run(pipeline: &Pipeline, flow: &Flow, reason: &str) -> FlowConfirmation {
        FlowConfirmation {
            pipeline: pipeline.key.clone(),
            flow: flow.name.clone(),
            dataset: flow.target.clone(),
            observed: None,
            error_class: None,
            message: None,
            reason: Some(reason.to_owned()),
            undecided: false,
            old_rows: None,
            rows: 0,
            stopped_by: None,
            seed: None,
            fitting: false,
            uninterpreted: BTreeSet::new(),
            inferred: BTreeMap::new(),
            witness: None,
        }
    }

    /// How bad it is: an effect that is left open counts as more than none and less than any other.
    fn weight(&self) -> (Option<Effect>, bool) {
        let least = if self.undecided { Some(Effect::Ignored) } else { None };
        (self.observed.or(least), self.undecided)
    }
}

impl Confirmation {
    /// Flows of AFTER in the order of its analysis, then those that only BEFORE has; tables by name.
    fn in_order_of(mut self, [before, after]: [&Analysis; 2]) -> Confirmation {
        let mut order: HashMap<(String, String, String), usize> = HashMap::new();
        for analysis in [after, before] {
            for analyzed in &analysis.flows {
                let Some(pipeline) = analysis.workspace.pipelines.get(analyzed.pipeline) else { continue };
                let Some(flow) = pipeline.flows.get(analyzed.flow) else { continue };
                let next = order.len();
                order.entry((pipeline.key.clone(), flow.target.key(), flow.name.clone())).or_insert(next);
            }
        }
        let position = |flow: &FlowConfirmation| {
            order.get(&(flow.pipeline.clone(), flow.dataset.key(), flow.flow.clone())).copied()
        };
        self.flows.sort_by_cached_key(position);
        self.tables.sort_by(|a, b| a.location.cmp(&b.location));
        self
    }

    /// This, with what only the other one could observe.
    fn completed(self, other: Confirmation) -> Confirmation {
        let flows = self.flows.into_iter().zip(other.flows);
        let flows =
            flows.map(|(a, b)| if !a.undecided && a.observed.is_none() && b.observed.is_some() { b } else { a });
        let tables = self.tables.into_iter().zip(other.tables).map(|(a, b)| if a.effect.is_none() { b } else { a });
        Confirmation { flows: flows.collect(), tables: tables.collect() }
    }

    /// Flow by flow and table by table the worse of two observations; what is known is worse than what is not, but for what is
    /// left open: that may be worse than nothing.
    fn worse(self, other: Confirmation) -> Confirmation {
        let flows = self.flows.into_iter().zip(other.flows).map(|(a, mut b)| {
            b.uninterpreted.extend(a.uninterpreted.iter().cloned());
            if b.weight() > a.weight() { b } else { FlowConfirmation { uninterpreted: b.uninterpreted, ..a } }
        });
        let tables = self.tables.into_iter().zip(other.tables).map(|(a, b)| if b.effect > a.effect { b } else { a });
        Confirmation { flows: flows.collect(), tables: tables.collect() }
    }
}
