//! What the experiment has to know of expectations: which generated rows there cannot be, and what NULL leaves open.

use super::data::Data;
use super::engine::Outcome;
use super::experiment::Experiment;
use super::mini::Mini;
use super::observe::{FlowObservation, Observed, TableObservation, observe};
use super::slice::Places;
use super::twice::settled;
use crate::analyze::{Analysis, AnalyzedFlow, analyze_some};
use crate::engine::{FlowStatus, NullCondition, dataset_location, defines_view, location};
use crate::model::{Dataset, Expectation, Flow, OnViolation, Pipeline, Workspace};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Both revisions for generated rows: those that violate an expectation under which either revision fails are taken as never
/// there. An update that meets one fails, whatever else changes, and whether the user has such rows is not known.
pub fn without_failing_rows<'a>([before, after]: [&'a Analysis; 2], places: Option<&Places>) -> [Cow<'a, Analysis>; 2] {
    let mut held: BTreeMap<String, Vec<Expectation>> = BTreeMap::new();
    for dataset in [before, after].into_iter().flat_map(|analysis| datasets(&analysis.workspace)) {
        let concerned = |places: &Places| dataset_location(dataset).is_none_or(|place| places.contains(&place));
        for expectation in dataset.expectations.iter().filter(|each| fails(each) && places.is_none_or(concerned)) {
            let dropping = Expectation { on_violation: OnViolation::DropRow, ..expectation.clone() };
            let known = held.entry(dataset.name.key()).or_default();
            if !known.contains(&dropping) {
                known.push(dropping);
            }
        }
    }
    if held.is_empty() {
        return [Cow::Borrowed(before), Cow::Borrowed(after)];
    }
    [before, after].map(|analysis| Cow::Owned(holding(analysis, &held, places)))
}

fn datasets(workspace: &Workspace) -> impl Iterator<Item = &Dataset> {
    workspace.pipelines.iter().flat_map(|pipeline| &pipeline.datasets)
}

fn fails(expectation: &Expectation) -> bool {
    expectation.on_violation == OnViolation::FailUpdate
}

/// The revision with these expectations, which drop rows, in place of those that fail.
fn holding(analysis: &Analysis, held: &BTreeMap<String, Vec<Expectation>>, places: Option<&Places>) -> Analysis {
    let mut workspace = analysis.workspace.clone();
    for dataset in workspace.pipelines.iter_mut().flat_map(|pipeline| &mut pipeline.datasets) {
        if let Some(held) = held.get(&dataset.name.key()) {
            dataset.expectations.retain(|expectation| !fails(expectation));
            dataset.expectations.extend(held.iter().cloned());
        }
    }
    let wanted = |pipeline: &Pipeline, flow: &Flow| {
        let written = |places: &Places| location(pipeline, flow).is_some_and(|place| places.contains(&place));
        !defines_view(pipeline, flow) && places.is_none_or(written)
    };
    let mut holding = analyze_some(workspace, &wanted);
    for flow in &mut holding.flows {
        let own = own_expectations(analysis, flow);
        // What the other revision demands of columns that this one lacks says nothing of its rows.
        flow.checks.retain(|check| check.condition.is_ok() || own.iter().any(|each| each.name == check.name));
    }
    holding
}

/// Expectations that act on a flow's rows in its own revision.
fn own_expectations<'a>(analysis: &'a Analysis, flow: &AnalyzedFlow) -> Vec<&'a Expectation> {
    let Some(pipeline) = analysis.workspace.pipelines.get(flow.pipeline) else { return Vec::new() };
    let dataset = pipeline.flows.get(flow.flow).and_then(|flow| pipeline.dataset(&flow.target));
    let all = dataset.into_iter().flat_map(|dataset| &dataset.expectations);
    all.filter(|expectation| expectation.on_violation != OnViolation::Warn).collect()
}

/// What an experiment on the mini engine shows. Where a condition was NULL for some row, only what is seen both ways is told:
/// Databricks documents what a row does for which it is true or false, and nothing else.
pub fn observe_both_ways(engine: &Mini<'_>, experiment: &Experiment<'_>, data: &Data) -> Observed {
    let outcome = engine.outcome(experiment, data);
    let observed = settled(engine, experiment, data, observe(experiment.before, experiment.after, &outcome));
    let null = null_conditions(&outcome);
    if null.is_empty() {
        return observed;
    }
    let holding = Mini { null_condition: NullCondition::Holds, ..*engine };
    let other = observe(experiment.before, experiment.after, &holding.outcome(experiment, data));
    let mut other = settled(&holding, experiment, data, other);
    let flows = observed.flows.into_iter().map(|flow| {
        let at = other.flows.iter().position(|seen| same_flow(seen, &flow));
        match at.map(|at| other.flows.swap_remove(at)) {
            Some(seen) if seen.effect == flow.effect => flow,
            _ => undecided(flow, &null),
        }
    });
    let flows = flows.collect();
    let tables = observed.tables.into_iter().map(|table| {
        let seen = other.tables.iter().find(|seen| seen.location == table.location).and_then(|seen| seen.effect);
        TableObservation { effect: table.effect.filter(|effect| seen == Some(*effect)), ..table }
    });
    Observed { flows, tables: tables.collect() }
}

fn same_flow(a: &FlowObservation, b: &FlowObservation) -> bool {
    a.pipeline == b.pipeline && a.dataset == b.dataset && a.flow == b.flow
}

fn undecided(flow: FlowObservation, null: &BTreeSet<String>) -> FlowObservation {
    let names: Vec<String> = null.iter().map(|name| format!("`{name}`")).collect();
    let reason = format!(
        "it hangs on whether a row violates an expectation whose condition is NULL ({}), which is not documented",
        names.join(", ")
    );
    FlowObservation { effect: None, error: None, reason: Some(reason), undecided: true, ..flow }
}

fn null_conditions(outcome: &Outcome) -> BTreeSet<String> {
    let reports = std::iter::once(&outcome.before).chain(&outcome.after).chain(&outcome.control);
    let flows = reports.flatten().flat_map(|report| &report.flows);
    let completed = flows.filter_map(|flow| match &flow.status {
        FlowStatus::Completed(progress) => Some(&progress.null_conditions),
        _ => None,
    });
    completed.flatten().cloned().collect()
}
