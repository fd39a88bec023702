//! The experiment on a second, real engine, beside the mini engine's.
//!
//! A real engine costs seconds a run, so it runs only the rows that the mini engine found telling, and witnesses are shrunk on the
//! mini engine and then run once on the real one. Where the real engine is not the user's platform (Apache Spark for Lakeflow's
//! Delta tables), what it sees counts only for flows of which the mini engine says the same on both.

use super::data::{Batch, Data};
use super::engine::Engine;
use super::experiment::Experiment;
use super::generate::Fit;
use super::mini::Mini;
use super::observe::{FlowObservation, observe};
use super::shrink::place_of;
use super::slice;
use super::sources::sources;
use super::witness::Witness;
use super::{
    Confirmation, FlowConfirmation, Options, Run, confirm, confirmation, generated_runs, homes, observed_places,
    prepared, runnable,
};
use crate::analyze::{Analysis, analyze};
use crate::model::{DatasetKind, Effect, Platform};
use std::collections::{BTreeMap, BTreeSet};

/// Witnesses that are run on the real engine; further flows are told without.
const WITNESSES: usize = 3;

/// How the real engine is set up, as far as it matters for what it may confirm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deployment {
    pub spark_version: (u32, u32),
    /// Format of tables that say nothing themselves.
    pub table_format: String,
}

/// What the real engine saw of one flow.
#[derive(Debug, Clone, PartialEq)]
pub struct SecondConfirmation {
    pub flow: FlowConfirmation,
    /// Whether the mini engine sees the same in the same setting; none where either saw nothing.
    pub engines_agree: Option<bool>,
    /// What the mini engine sees in the same setting.
    pub mini: Option<Effect>,
    /// What the real engine saw, also where it does not count for the user's platform.
    pub real: Option<Effect>,
}

/// Runs the experiment on `engine`; `first` is what the mini engine said on the user's own platform.
pub fn confirm_on(
    engine: &dyn Engine,
    deployment: &Deployment,
    [before, after]: [&Analysis; 2],
    options: &Options<'_>,
    first: &Confirmation,
) -> Vec<SecondConfirmation> {
    let (before, after) = (deployed(before, deployment), deployed(after, deployment));
    let mini = confirm(
        &before,
        &after,
        &Options {
            data: options.data.clone(),
            datasets: options.datasets.clone(),
            witnesses: true,
            ..Options::default()
        },
    );
    let [before, after] = homes::told_apart(&before, &after);
    let places = observed_places([&before, &after], options);
    let [before, after] = runnable([&before, &after], options, places.as_ref());
    let places = observed_places([&before, &after], options);
    let typed = prepared([&before, &after], options, places.as_ref());
    let (before, after) = (&*typed.before, &*typed.after);
    let set = sources(before, after);
    let experiment = Experiment { before, after, sources: &set, updates: &[] };
    let mut seen: Vec<Vec<FlowConfirmation>> = Vec::new();
    for run in runs(&experiment, options, &mini) {
        seen.push(match engine.run(&experiment, &run.data) {
            Ok(mut outcome) => {
                outcome.attribute(&Mini::default().outcome(&experiment, &run.data));
                let flows = observe(before, after, &outcome).flows;
                flows.into_iter().map(|flow| confirmation(flow, &run)).collect()
            }
            Err(not_run) => mini.flows.iter().map(|flow| unseen(flow, &not_run.reason)).collect(),
        });
    }
    let mut witnesses = 0;
    let mut confirmed = Vec::new();
    for mini_flow in &mini.flows {
        let of_runs = seen.iter().filter_map(|flows| flows.iter().find(|seen| same_flow(seen, mini_flow)));
        let worst = of_runs.reduce(|a, b| if b.observed > a.observed { b } else { a });
        let mut flow = worst.cloned().unwrap_or_else(|| unseen(mini_flow, "no run was made"));
        flow.inferred.clone_from(&mini_flow.inferred);
        let engines_agree = flow.observed.zip(mini_flow.observed).map(|(real, mini)| {
            real == mini && (flow.error_class == mini_flow.error_class || !mini_flow.uninterpreted.is_empty())
        });
        if engines_agree == Some(true)
            && let Some(witness) = mini_flow.witness.as_ref().filter(|_| witnesses < WITNESSES)
        {
            witnesses += 1;
            flow.witness = verified(engine, &experiment, witness, &flow);
        }
        let real = flow.observed;
        // What stands for an expectation there takes NULL one way; that the platform does is not known.
        if let Some(reason) = mini_flow.reason.as_ref().filter(|_| mini_flow.undecided) {
            flow = unseen(mini_flow, reason);
        }
        let on_platform = first.flows.iter().find(|known| same_flow(known, mini_flow));
        if let Some(known) = on_platform.filter(|known| known.observed != mini_flow.observed && flow.observed.is_some())
        {
            let word = |effect: Option<Effect>| effect.map_or("nothing", Effect::as_str);
            flow.reason = Some(format!(
                "{} tables on Apache Spark are not this platform's: there Spark sees {} and the mini engine {}, here {}",
                deployment.table_format,
                word(flow.observed),
                word(mini_flow.observed),
                word(known.observed)
            ));
            flow.observed = None;
        }
        confirmed.push(SecondConfirmation { flow, engines_agree, mini: mini_flow.observed, real });
    }
    confirmed
}

/// The same pipelines as the real engine has them.
pub fn deployed(analysis: &Analysis, deployment: &Deployment) -> Analysis {
    let mut workspace = analysis.workspace.clone();
    for pipeline in &mut workspace.pipelines {
        pipeline.platform = Platform::Spark;
        pipeline.spark_version = deployment.spark_version;
        pipeline.table_format.clone_from(&deployment.table_format);
        for dataset in pipeline.datasets.iter_mut().filter(|dataset| dataset.kind != DatasetKind::Sink) {
            if dataset.format.as_deref().is_some_and(|format| matches!(format, "delta" | "iceberg")) {
                dataset.format = None;
            }
        }
    }
    analyze(workspace)
}

/// Rows to run on: the given ones, or those of the seeds that showed the mini engine the most.
fn runs(experiment: &Experiment<'_>, options: &Options<'_>, mini: &Confirmation) -> Vec<Run> {
    if let Some(data) = &options.data {
        return vec![Run::given(data)];
    }
    let telling =
        mini.flows.iter().filter(|flow| !matches!(flow.observed, None | Some(Effect::None | Effect::Refused)));
    let mut seeds: BTreeSet<(bool, u64)> = telling.filter_map(|flow| Some((flow.fitting, flow.seed?))).collect();
    if seeds.is_empty() {
        seeds.insert((false, super::SEEDS[0]));
    }
    let fit = |fitting: bool| if fitting { Fit::Castable } else { Fit::Any };
    seeds.into_iter().take(2).flat_map(|(fitting, seed)| generated_runs(experiment, &[seed], fit(fitting))).collect()
}

fn unseen(flow: &FlowConfirmation, reason: &str) -> FlowConfirmation {
    FlowConfirmation {
        observed: None,
        error_class: None,
        message: None,
        reason: Some(reason.to_owned()),
        undecided: false,
        old_rows: None,
        rows: 0,
        seed: None,
        uninterpreted: BTreeSet::new(),
        witness: None,
        ..flow.clone()
    }
}

fn same_flow(a: &FlowConfirmation, b: &FlowConfirmation) -> bool {
    a.pipeline == b.pipeline && a.flow == b.flow && a.dataset == b.dataset
}

/// The mini engine's witness on the real one: its tables there, where they show the same effect.
fn verified(
    engine: &dyn Engine,
    experiment: &Experiment<'_>,
    witness: &Witness,
    flow: &FlowConfirmation,
) -> Option<Witness> {
    let place = place_of(experiment, flow)?;
    let data = rows_of(witness);
    let needed = slice::with_sources([experiment.before, experiment.after], &BTreeSet::from([place.clone()]));
    let (before, after) = (slice::slice(experiment.before, &needed), slice::slice(experiment.after, &needed));
    let experiment = Experiment { before: &before, after: &after, ..*experiment };
    let mut outcome = engine.run(&experiment, &data).ok()?;
    outcome.attribute(&Mini::default().outcome(&experiment, &data));
    let shows =
        |seen: &FlowObservation| seen.flow == flow.flow && seen.dataset == flow.dataset && seen.effect == flow.observed;
    let found = observe(&before, &after, &outcome).flows.iter().any(shows);
    found.then(|| Witness::of(experiment.sources, &data, &outcome, &place))
}

fn rows_of(witness: &Witness) -> Data {
    let count = witness.sources.iter().map(|source| source.batches.len()).max().unwrap_or(2).max(2);
    let mut data = Data { batches: vec![Batch::default(); count] };
    for source in &witness.sources {
        for (batch, rows) in data.batches.iter_mut().zip(&source.batches) {
            batch.insert(&source.name, rows.clone());
        }
    }
    data
}

/// By pipeline, dataset and flow.
pub fn by_flow(confirmed: Vec<SecondConfirmation>) -> BTreeMap<(String, String, String), SecondConfirmation> {
    let key = |flow: &FlowConfirmation| (flow.pipeline.clone(), flow.dataset.key(), flow.flow.clone());
    confirmed.into_iter().map(|second| (key(&second.flow), second)).collect()
}
