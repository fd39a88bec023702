//! From an outcome to effects: which rows of a table are not what a full refresh would make them, and which flow brought it about.

use super::engine::{Multiset, Outcome, Reports, minus, plus, rows_of};
use super::flows_of_table::{TableFlow, appends, counterpart, flows_of, written_before};
use super::slice;
use crate::analyze::{Analysis, AnalyzedFlow};
use crate::engine::{
    ExecutionError, FlowReport, FlowStatus, Stage, dataset_location, defines_view, identity, location, read_location,
};
use crate::model::{DatasetKind, Effect, Flow, FlowKind, Pipeline, QualifiedName, SinkTarget};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq)]
pub struct FlowObservation {
    pub pipeline: String,
    pub flow: String,
    pub dataset: QualifiedName,
    pub effect: Option<Effect>,
    pub error: Option<ExecutionError>,
    pub reason: Option<String>,
    /// It ran, and the effect hangs on what the platform's documentation leaves open.
    pub undecided: bool,
    /// Of a flow that has come into a table of others: rows that it wrote of what was there before the change.
    pub old_rows: Option<usize>,
    /// Rows of the table in the end, as a full refresh would make it: what an equal table is evidence of.
    pub rows: usize,
    /// Of a flow that starts on an empty checkpoint over sources that its table has rows of: the effect where none of those rows
    /// turns out to be written twice.
    pub otherwise: Option<Effect>,
    /// The dataset that it reads from, directly or not, whose failure kept it from running.
    pub stopped_by: Option<QualifiedName>,
    pub uninterpreted: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TableObservation {
    /// Last part of the table's name, or of its folder.
    pub name: String,
    pub location: String,
    pub effect: Option<Effect>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    pub flows: Vec<FlowObservation>,
    pub tables: Vec<TableObservation>,
}

fn count(rows: &Multiset) -> usize {
    rows.values().sum()
}

fn contains(a: &Multiset, b: &Multiset) -> bool {
    b.iter().all(|(row, count)| a.get(row).is_some_and(|here| here >= count))
}

/// A table at the four moments of the experiment.
struct Moments {
    resumed_1: Multiset,
    /// The same rows under the columns that the table has in the end.
    resumed_1_now: Multiset,
    resumed: Multiset,
    control_1: Multiset,
    control: Multiset,
    /// A flow that writes it has read its sources from their beginning again, and its rows were taken.
    read_again: bool,
}

impl Moments {
    /// None where the engine cannot tell the rows of one flow from those of another.
    fn of(
        outcome: &Outcome,
        location: &str,
        before: Option<&str>,
        after: Option<&str>,
        read_again: bool,
    ) -> Option<Self> {
        let mut resumed = rows_of(&outcome.resumed, location, after)?;
        if before != after {
            resumed = plus(resumed, &rows_of(&outcome.resumed, location, before)?);
        }
        Some(Moments {
            resumed_1: rows_of(&outcome.resumed_batch_1, location, before)?,
            resumed_1_now: rows_of(&outcome.resumed_batch_1_now, location, before)?,
            resumed,
            control_1: rows_of(&outcome.control_batch_1, location, after)?,
            control: rows_of(&outcome.control_end, location, after)?,
            read_again,
        })
    }

    fn effect(&self) -> Effect {
        if self.resumed == self.control {
            return Effect::None;
        }
        let (new, new_control) = (minus(&self.resumed, &self.resumed_1_now), minus(&self.control, &self.control_1));
        let old_differ = self.resumed_1 != self.control_1;
        let kept = contains(&self.resumed, &self.resumed_1_now);
        let again = minus(&new, &new_control);
        // Which rows a stateful query gives for old input may hang on where its batches end: then their number tells.
        let twice = contains(&again, &self.control_1) || (self.read_again && count(&again) >= count(&self.control_1));
        if kept && !self.resumed_1.is_empty() && !self.control_1.is_empty() && twice {
            return Effect::Replayed;
        }
        // A table that is rewritten at every batch has no rows of one batch: what lies under it is old.
        let rewritten = !kept || !contains(&self.control, &self.control_1);
        if old_differ && (rewritten || new == new_control) { Effect::Mixed } else { Effect::WrongRows }
    }
}

/// Several flows write one table, and the engine keeps no account of whose a row is.
const UNTOLD: &str = "which of the table's flows wrote a row cannot be told";

/// An empty table before and after is no evidence.
const NO_ROW: &str = "no row reached the table, so that none could show a difference";

/// Observes every flow and table of both revisions.
pub fn observe(before: &Analysis, after: &Analysis, outcome: &Outcome) -> Observed {
    let mut flows = Vec::new();
    for (index, analyzed) in after.flows.iter().enumerate() {
        let Some(pipeline) = after.workspace.pipelines.get(analyzed.pipeline) else { continue };
        if pipeline.flows.get(analyzed.flow).is_none_or(|flow| defines_view(pipeline, flow)) {
            continue;
        }
        flows.push(observe_flow((before, after), pipeline, (analyzed.pipeline, index), outcome));
    }
    flows.extend(removed_flows(before, after, outcome));
    let tables = observe_tables(before, after, outcome);
    Observed { flows, tables }
}

fn report(reports: &Reports, pipeline: usize, index: usize) -> Option<&FlowReport> {
    reports.get(pipeline)?.flow(index)
}

fn failure<'a>(
    reports: impl IntoIterator<Item = &'a Reports>,
    pipeline: usize,
    index: usize,
) -> Option<(Stage, &'a ExecutionError)> {
    reports.into_iter().find_map(|reports| match &report(reports, pipeline, index)?.status {
        FlowStatus::Failed { stage, error } => Some((*stage, error)),
        _ => None,
    })
}

/// Why a flow did not run even from nothing: the first flow that feeds it and failed, or the graph of its pipeline.
fn stopped(
    mut observation: FlowObservation,
    after: &Analysis,
    (at, index): (usize, usize),
    outcome: &Outcome,
) -> FlowObservation {
    let place = after.flows.get(index).and_then(|flow| place_of(after, flow));
    let mut feeding = slice::with_sources([after, after], &place.iter().cloned().collect());
    feeding.retain(|other| Some(other) != place.as_ref());
    let cause = after.flows.iter().enumerate().find_map(|(other, flow)| {
        let feeds =
            flow.pipeline == at && other != index && place_of(after, flow).is_some_and(|p| feeding.contains(&p));
        let (_, error) = failure(&outcome.control, at, other).filter(|_| feeds)?;
        let target = &after.workspace.pipelines.get(at)?.flows.get(flow.flow)?.target;
        Some((target.clone(), error))
    });
    let Some((target, error)) = cause else {
        observation.reason = Some("the graph of its pipeline failed".to_owned());
        return observation;
    };
    observation.reason = Some(match (error.is_unsupported(), error.tells_of_values()) {
        (true, _) => format!("it reads `{target}`, which was not run: {}", error.message),
        (_, true) => format!("it reads `{target}`, whose query the generated rows do not fit: {}", error.message),
        _ => format!("it reads `{target}`, which fails ({})", error.class),
    });
    if !error.is_unsupported() && !error.tells_of_values() {
        observation.stopped_by = Some(target);
    }
    observation
}

fn place_of(analysis: &Analysis, flow: &AnalyzedFlow) -> Option<String> {
    let pipeline = analysis.workspace.pipelines.get(flow.pipeline)?;
    location(pipeline, pipeline.flows.get(flow.flow)?)
}

fn observe_flow(
    (before, after): (&Analysis, &Analysis),
    pipeline: &Pipeline,
    (at, index): (usize, usize),
    outcome: &Outcome,
) -> FlowObservation {
    let control = failure(&outcome.control, at, index);
    let resumed = failure(outcome.after.last(), at, index);
    let flow = outcome.after.last().or(outcome.control.last()).and_then(|reports| report(reports, at, index));
    let name = flow.map(|report| report.flow.clone()).unwrap_or_default();
    let dataset = flow.map(|report| report.dataset.clone()).unwrap_or_default();
    let mut uninterpreted = BTreeSet::new();
    for reports in outcome.control.iter().chain(&outcome.after) {
        if let Some(FlowStatus::Completed(progress)) = report(reports, at, index).map(|report| &report.status) {
            uninterpreted.extend(progress.uninterpreted.iter().cloned());
        }
    }
    let mut observation = FlowObservation {
        pipeline: pipeline.key.clone(),
        flow: name.clone(),
        dataset: dataset.clone(),
        effect: None,
        error: None,
        reason: None,
        undecided: false,
        old_rows: None,
        rows: 0,
        otherwise: None,
        stopped_by: None,
        uninterpreted,
    };
    let definition = pipeline.flows.iter().find(|flow| flow.name == name && flow.target == dataset);
    let twin = definition.and_then(|flow| {
        counterpart(before, after, &location(pipeline, flow)?, &TableFlow { pipeline: at, index, flow })
    });
    if let Some((_, error)) = twin.and_then(|(pipeline, index)| failure([&outcome.before], pipeline, index)) {
        if error.is_unsupported() {
            observation.reason = Some(error.message.clone());
            return observation;
        }
        observation.reason = Some(format!("before the change it fails already ({})", error.class));
        observation.error = Some(error.clone());
        return observation;
    }
    let reads = after.flows.get(index).map(|flow| flow.plan.reads()).unwrap_or_default();
    let mut read = reads.into_iter().filter_map(|read| read_location(pipeline, read));
    if let Some(reason) = read.find_map(|place| outcome.unwritten.get(&place)) {
        observation.reason = Some(reason.clone());
        return observation;
    }
    for (_, error) in [resumed, control].into_iter().flatten() {
        if error.is_unsupported() {
            observation.reason = Some(error.message.clone());
            return observation;
        }
    }
    if let Some((_, error)) = resumed {
        // A control that stops at a value tells of the rows, where the flow itself was refused for another reason.
        let fails_anyway = |control: &ExecutionError| error.tells_of_values() || !control.tells_of_values();
        let invalid = control.is_some_and(|(_, control)| fails_anyway(control)) && !tells_of_history(&error.class);
        observation.effect = Some(if invalid { Effect::Invalid } else { Effect::Refused });
        observation.error = Some(error.clone());
        return observation;
    }
    if outcome
        .control
        .last()
        .and_then(|reports| report(reports, at, index))
        .is_some_and(|r| r.status == FlowStatus::Skipped)
    {
        return stopped(observation, after, (at, index), outcome);
    }
    let Some(definition) = definition else { return observation };
    let Some(place) = location(pipeline, definition) else {
        observation.reason = Some("where it writes to is not known".to_owned());
        return observation;
    };
    if let Some((_, error)) = control {
        observation.reason = Some(format!("a full refresh fails ({})", error.class));
        observation.error = Some(error.clone());
        return observation;
    }
    if let FlowKind::StreamJob(write) = &definition.kind
        && let SinkTarget::ForeachBatch(unit) = &write.target
    {
        let again = read_again(outcome, at, index);
        let targets = outcome.functions.get(&identity(pipeline, definition));
        let moments = targets.into_iter().flatten().map(|place| Moments::of(outcome, place, None, None, again));
        observation.effect = moments.flatten().map(|moments| moments.effect()).max();
        if observation.effect.is_none() {
            observation.reason = Some(format!("what `{}` does with each batch is not executed", unit.name));
        }
        return observation;
    }
    let view =
        pipeline.datasets.iter().any(|table| table.name == dataset && table.kind == DatasetKind::MaterializedView);
    let resumes = view || outcome.checkpoints.contains(&identity(pipeline, definition));
    let over_written = !resumes && appends(definition) && !written_before(before, after, &place, index).is_empty();
    if twin.is_none() && starts_anew(before, outcome, pipeline, definition, &place) {
        if over_written && rows_of(&outcome.resumed, &place, Some(&name)).is_some_and(|rows| rows.is_empty()) {
            observation.reason = Some(NO_ROW.to_owned());
            return observation;
        }
        let again = over_written && !equal_rows(outcome, &place, &name).is_empty();
        observation.effect = Some(if again { Effect::Replayed } else { Effect::None });
        observation.otherwise = over_written.then_some(Effect::None);
        observation.old_rows = old_rows(before, outcome, &place, &name);
        return observation;
    }
    let siblings = pipeline.flows_into(&dataset).count();
    let again = read_again(outcome, at, index);
    let single = siblings <= 1 && flows_into(before, &place) <= 1;
    let moments = if single {
        Moments::of(outcome, &place, None, None, again)
    } else {
        let twin_name = twin.and_then(|(_, index)| flow_name(before, index));
        Moments::of(outcome, &place, Some(twin_name.as_deref().unwrap_or(&name)), Some(&name), again)
    };
    let Some(moments) = moments else {
        observation.reason = Some(UNTOLD.to_owned());
        return observation;
    };
    observation.rows = count(&moments.control);
    let effect = moments.effect();
    if effect == Effect::None && moments.control.is_empty() && moments.resumed.is_empty() {
        observation.reason = Some(NO_ROW.to_owned());
        return observation;
    }
    observation.otherwise = over_written.then_some(if effect == Effect::Replayed { Effect::Mixed } else { effect });
    let view = pipeline.dataset(&dataset).is_some_and(|table| table.kind == DatasetKind::MaterializedView);
    let anew = effect == Effect::None && view && twin.is_some() && moments.resumed_1 != moments.control_1;
    observation.effect = Some(if anew { Effect::Recomputed } else { effect });
    observation
}

/// How many of the rows that a new flow makes of batch 1 alone stand in the table that others have written before it.
fn old_rows(before: &Analysis, outcome: &Outcome, place: &str, flow: &str) -> Option<usize> {
    if flows_into(before, place) == 0 {
        return None;
    }
    let of_old = rows_of(&outcome.control_batch_1, place, Some(flow))?;
    let written = rows_of(&outcome.resumed, place, Some(flow))?;
    Some(count(&of_old) - count(&minus(&of_old, &written)))
}

/// Rows that a new flow has written and that stood in its table before it ran: who knows from which source rows.
fn equal_rows(outcome: &Outcome, place: &str, flow: &str) -> Multiset {
    let before = rows_of(&outcome.resumed_batch_1_now, place, None).unwrap_or_default();
    let written = rows_of(&outcome.resumed, place, Some(flow)).unwrap_or_default();
    written.into_iter().filter(|(row, _)| before.contains_key(row)).collect()
}

/// Whether a flow that BEFORE lacks has nothing to go on with: it reads all that is there, as it would after a full refresh of
/// today. Rows that other flows have left in its table are theirs. (The control has read batch 1 earlier, which shows in its
/// clock, and in flows that run once.)
fn starts_anew(before: &Analysis, outcome: &Outcome, pipeline: &Pipeline, flow: &Flow, place: &str) -> bool {
    // A flow of the same name that another pipeline had moved here: the rows that it left are its own.
    let moved = flows_of(before, place).any(|old| old.flow.name == flow.name);
    !outcome.checkpoints.contains(&identity(pipeline, flow))
        && (!outcome.resumed_batch_1.contains_key(place) || flows_into(before, place) > 0)
        && !moved
}

/// Whether AFTER's flow began at batch 0 and its rows were taken.
fn read_again(outcome: &Outcome, pipeline: usize, index: usize) -> bool {
    outcome.after.iter().any(|reports| match report(reports, pipeline, index).map(|report| &report.status) {
        Some(FlowStatus::Completed(progress)) => progress.from_nothing && progress.rows > 0,
        _ => false,
    })
}

fn flow_name(analysis: &Analysis, index: usize) -> Option<String> {
    let analyzed = analysis.flows.get(index)?;
    let flow = analysis.workspace.pipelines.get(analyzed.pipeline)?.flows.get(analyzed.flow)?;
    Some(flow.name.clone())
}

fn flows_into(analysis: &Analysis, place: &str) -> usize {
    flows_of(analysis, place).count()
}

/// Errors about what lies in the source: a full refresh meets the same commits and rows, but the definition itself is sound.
fn tells_of_history(class: &str) -> bool {
    class == "EXPECTATION_VIOLATION"
        || class == "IllegalStateException"
        || class == "NullPointerException"
        || class.starts_with("DELTA_SOURCE_")
        || class.starts_with("DIFFERENT_DELTA_TABLE")
}

/// Flows that only BEFORE has: their rows stay behind, in a table that others write or that nobody writes any more.
fn removed_flows(before: &Analysis, after: &Analysis, outcome: &Outcome) -> Vec<FlowObservation> {
    let mut removed = Vec::new();
    for (index, analyzed) in before.flows.iter().enumerate() {
        let at = analyzed.pipeline;
        let Some(pipeline) = before.workspace.pipelines.get(at) else { continue };
        let Some(flow) = pipeline.flows.get(analyzed.flow) else { continue };
        if defines_view(pipeline, flow) {
            continue;
        }
        let Some(place) = location(pipeline, flow) else { continue };
        let kept = flows_of(after, &place)
            .any(|new| new.flow.name == flow.name || counterpart(before, after, &place, &new) == Some((at, index)));
        if kept {
            continue;
        }
        let effect = if flows_into(after, &place) == 0 {
            Some(Effect::Orphaned)
        } else {
            let left = rows_of(&outcome.resumed, &place, Some(&flow.name));
            let refreshed = rows_of(&outcome.control_end, &place, None).unwrap_or_default();
            left.map(|left| if contains(&refreshed, &left) { Effect::None } else { Effect::Mixed })
        };
        removed.push(FlowObservation {
            pipeline: pipeline.key.clone(),
            flow: flow.name.clone(),
            dataset: flow.target.clone(),
            effect,
            error: None,
            reason: effect.is_none().then(|| UNTOLD.to_owned()),
            undecided: false,
            old_rows: None,
            rows: 0,
            otherwise: None,
            stopped_by: None,
            uninterpreted: BTreeSet::new(),
        });
    }
    removed
}

/// Tables of either revision as whole tables, whoever wrote them.
fn observe_tables(before: &Analysis, after: &Analysis, outcome: &Outcome) -> Vec<TableObservation> {
    let mut places: BTreeMap<String, Option<Effect>> = BTreeMap::new();
    for analysis in [before, after] {
        for pipeline in &analysis.workspace.pipelines {
            let datasets = pipeline.datasets.iter().filter_map(dataset_location);
            let jobs = pipeline.flows.iter().filter(|flow| matches!(flow.kind, FlowKind::StreamJob(_)));
            for place in datasets.chain(jobs.filter_map(|flow| location(pipeline, flow))) {
                places.insert(place, None);
            }
        }
    }
    let mut tables: Vec<TableObservation> = places
        .into_keys()
        .map(|location| {
            let known = outcome.resumed.contains_key(&location);
            let effect = match refusal(before, after, outcome, &location) {
                Some(effect) => effect,
                None if !outcome.control_end.contains_key(&location) => known.then_some(Effect::Orphaned),
                None => {
                    let again = flows_of(after, &location).any(|flow| read_again(outcome, flow.pipeline, flow.index));
                    Moments::of(outcome, &location, None, None, again).map(|moments| moments.effect())
                }
            };
            let name = location.rsplit(['/', '.']).next().unwrap_or(&location).to_owned();
            TableObservation { name, location, effect }
        })
        .collect();
    // Of two tables of one name the one that is still written comes first.
    tables.sort_by_key(|table| table.effect == Some(Effect::Orphaned));
    tables
}

/// What failed flows make of their table: `refused` or `invalid` where none of its flows ran, none where nothing can be said,
/// no answer where some ran.
fn refusal(before: &Analysis, after: &Analysis, outcome: &Outcome, place: &str) -> Option<Option<Effect>> {
    let mut worst = None;
    for (index, analyzed) in after.flows.iter().enumerate() {
        let Some(pipeline) = after.workspace.pipelines.get(analyzed.pipeline) else { continue };
        let Some(flow) = pipeline.flows.get(analyzed.flow) else { continue };
        if location(pipeline, flow).as_deref() != Some(place) {
            continue;
        }
        let observation = observe_flow((before, after), pipeline, (analyzed.pipeline, index), outcome);
        match observation.effect {
            // It ran: its table can be judged as a whole.
            None if observation.reason.as_deref() == Some(UNTOLD) => return None,
            None => return Some(None),
            Some(effect @ (Effect::Refused | Effect::Invalid)) => worst = worst.max(Some(effect)),
            Some(_) => return None,
        }
    }
    worst.map(Some)
}
