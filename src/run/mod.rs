//! `pipelint run`: pipelines on local rows, update after update, with another revision's code in between.
//!
//! Takes analysed revisions, the updates to make and rows; gives what every flow did and the tables in the end. The updates are
//! made by the mini engine on a [`State`], which can be kept in a folder so that a later run goes on where this one ends, or by
//! Apache Spark ([`OnSpark`]).

mod on_spark;
mod state;

pub use on_spark::OnSpark;
pub use state::{State, StateError};

use crate::analyze::Analysis;
use crate::confirm::spark::Substitution;
use crate::confirm::{Batch, Data, NotRun, Reports, sources};
use crate::engine::{FlowStatus, Record, UpdateKind, dataset_location, location, starts_at_latest};
use crate::model::{QualifiedName, SourceFacts};
use std::collections::{BTreeMap, BTreeSet};

/// Code of one revision.
pub struct Code {
    /// As the user knows it.
    pub label: String,
    pub analysis: Analysis,
}

/// Updates that one revision's code makes, in their order; one incremental update where empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stage {
    pub updates: Vec<UpdateKind>,
}

/// One update: which code, of which kind, and the batch (an index) whose rows arrive before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub code: usize,
    pub update: UpdateKind,
    pub batch: Option<usize>,
}

/// Spreads batches over updates: one arrives before each, as long as there are any; what is left over arrives before further
/// incremental updates of the last code.
pub fn schedule(stages: &[Stage], batches: impl IntoIterator<Item = usize>) -> Vec<Step> {
    let mut batches = batches.into_iter();
    let mut steps = Vec::new();
    for (code, stage) in stages.iter().enumerate() {
        let implied = [UpdateKind::Incremental];
        let updates = if stage.updates.is_empty() { &implied[..] } else { &stage.updates };
        steps.extend(updates.iter().map(|update| Step { code, update: update.clone(), batch: batches.next() }));
    }
    let last = stages.len().saturating_sub(1);
    steps.extend(batches.map(|batch| Step { code: last, update: UpdateKind::Incremental, batch: Some(batch) }));
    steps
}

/// Tables and checkpoints that updates go on with, and what makes the updates.
pub trait Ground {
    /// Name of the engine.
    fn engine(&self) -> &'static str;

    /// Updates that were made on it, in earlier runs too.
    fn updates(&self) -> u64;

    /// Brings the sources outside to what this code knows of them. A table that flows have written stays as they left it.
    ///
    /// # Errors
    /// The engine failed; here and below.
    fn define(&mut self, code: usize, analysis: &Analysis, facts: &[SourceFacts]) -> Result<(), NotRun>;

    /// Loads the batch of an index and gives the number of rows by source.
    ///
    /// # Errors
    /// See [`Ground::define`].
    fn arrive(
        &mut self,
        code: usize,
        batch: (&Batch, usize),
        facts: &[SourceFacts],
    ) -> Result<BTreeMap<String, usize>, NotRun>;

    /// One update of all pipelines of a code.
    ///
    /// # Errors
    /// See [`Ground::define`].
    fn update(&mut self, code: usize, analysis: &Analysis, kind: &UpdateKind) -> Result<Reports, NotRun>;

    /// Rows of the tables after the last update, by location, where the engine does not tell what each flow wrote.
    fn counts(&self) -> Option<BTreeMap<String, usize>> {
        None
    }

    /// The tables at these locations that are there.
    ///
    /// # Errors
    /// See [`Ground::define`].
    fn tables(&mut self, locations: &BTreeSet<String>) -> Result<BTreeMap<String, TableContents>, NotRun>;
}

/// What one flow did in one update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowRun {
    /// Key of the pipeline.
    pub pipeline: String,
    pub flow: String,
    pub dataset: QualifiedName,
    pub status: FlowStatus,
    /// Rows of its table before the update and after it, where the engine does not tell what the flow wrote.
    pub table_rows: Option<(usize, usize)>,
}

/// What one update did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateRun {
    /// Counted from 1 over all runs on one state.
    pub number: u64,
    /// Label of the code.
    pub code: String,
    pub update: UpdateKind,
    /// Number of the batch that arrived before it, counted from 1, and its rows by source.
    pub arrived: Option<(usize, BTreeMap<String, usize>)>,
    pub flows: Vec<FlowRun>,
}

/// Rows of a table, as a reader sees them.
#[derive(Debug, Clone, PartialEq)]
pub struct TableContents {
    pub name: String,
    pub columns: Vec<String>,
    pub rows: Vec<Record>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunReport {
    /// Name of the engine.
    pub engine: &'static str,
    /// What stood for what of the user's code, where another engine than the mini one ran it.
    pub substitutions: Vec<Substitution>,
    pub updates: Vec<UpdateRun>,
    /// Tables that the flows write, by name.
    pub tables: Vec<TableContents>,
    /// What the user should know beside: rows for no source, sources without rows, streams from the latest offset.
    pub notes: Vec<String>,
}

impl RunReport {
    /// Some flow failed.
    pub fn failed(&self) -> bool {
        self.updates
            .iter()
            .flat_map(|update| &update.flows)
            .any(|flow| matches!(flow.status, FlowStatus::Failed { .. }))
    }
}

/// Makes all updates, telling of each step before it is made.
///
/// # Errors
/// The engine failed; a flow that fails is part of the report.
pub fn run(
    codes: &[Code],
    steps: &[Step],
    data: &Data,
    ground: &mut dyn Ground,
    progress: &mut dyn FnMut(usize, &Step),
) -> Result<RunReport, NotRun> {
    let mut report = RunReport { engine: ground.engine(), ..RunReport::default() };
    let mut defined = None;
    let mut counts = ground.counts();
    for (at, step) in steps.iter().enumerate() {
        let Some(code) = codes.get(step.code) else { continue };
        progress(at, step);
        let facts = sources(&code.analysis, &code.analysis).after;
        if defined.replace(step.code) != Some(step.code) {
            ground.define(step.code, &code.analysis, &facts)?;
        }
        if at == 0 && ground.updates() == 0 && starts_at_latest(&code.analysis) {
            ground.update(step.code, &code.analysis, &UpdateKind::Incremental)?;
            report
                .notes
                .push("some stream starts at the latest offset: it was started once before the first rows".into());
        }
        let batch = step.batch.and_then(|index| Some((data.batches.get(index)?, index)));
        let mut arrived = None;
        if let Some((batch, index)) = batch {
            report.notes.extend(strangers(batch, index + 1, &facts));
            arrived = Some((index + 1, ground.arrive(step.code, (batch, index), &facts)?));
        }
        let reports = ground.update(step.code, &code.analysis, &step.update)?;
        let earlier = std::mem::replace(&mut counts, ground.counts());
        report.updates.push(UpdateRun {
            number: ground.updates(),
            code: code.label.clone(),
            update: step.update.clone(),
            arrived,
            flows: flows(&code.analysis, reports, earlier.as_ref().zip(counts.as_ref())),
        });
    }
    report.tables = tables(codes, ground)?;
    Ok(report)
}

/// Rows that no source takes.
fn strangers(batch: &Batch, number: usize, facts: &[SourceFacts]) -> Vec<String> {
    let taken: BTreeSet<&str> = facts.iter().filter_map(|facts| batch.key(&facts.name)).collect();
    let left = batch.sources.keys().filter(|key| !taken.contains(key.as_str()));
    left.map(|key| format!("batch {number}: no flow reads `{key}`; its rows were left out")).collect()
}

fn flows(analysis: &Analysis, reports: Reports, counts: Option<(&Counts, &Counts)>) -> Vec<FlowRun> {
    let mut flows = Vec::new();
    for (pipeline, report) in analysis.workspace.pipelines.iter().zip(reports) {
        for flow in report.flows {
            let definition =
                pipeline.flows.iter().find(|known| known.name == flow.flow && known.target == flow.dataset);
            let place = definition.and_then(|definition| location(pipeline, definition));
            let rows = |counts: &Counts| place.as_ref().and_then(|place| counts.get(place)).copied().unwrap_or(0);
            flows.push(FlowRun {
                pipeline: pipeline.key.clone(),
                flow: flow.flow,
                dataset: flow.dataset,
                status: flow.status,
                table_rows: counts.map(|(before, after)| (rows(before), rows(after))),
            });
        }
    }
    flows
}

/// Numbers of rows by location.
type Counts = BTreeMap<String, usize>;

/// All tables that some code's flows write, under the name that the last code gives them.
fn tables(codes: &[Code], ground: &mut dyn Ground) -> Result<Vec<TableContents>, NotRun> {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for pipeline in codes.iter().flat_map(|code| &code.analysis.workspace.pipelines) {
        let of_flows = pipeline.flows.iter().filter_map(|flow| Some((location(pipeline, flow)?, &flow.target)));
        let of_datasets =
            pipeline.datasets.iter().filter_map(|dataset| Some((dataset_location(dataset)?, &dataset.name)));
        names.extend(of_flows.chain(of_datasets).map(|(place, name)| (place, name.to_string())));
    }
    let found = ground.tables(&names.keys().cloned().collect())?;
    let named = |(place, contents): (String, TableContents)| {
        let name = names.get(&place).filter(|name| !name.is_empty()).cloned().unwrap_or(place);
        TableContents { name, ..contents }
    };
    let mut tables: Vec<TableContents> = found.into_iter().map(named).collect();
    tables.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_arrive_one_an_update_and_the_last_code_takes_the_rest() {
        let full = Stage { updates: vec![UpdateKind::Incremental, UpdateKind::FullRefreshAll] };
        let steps = schedule(&[Stage::default(), full], 0..4);
        let told: Vec<(usize, bool, Option<usize>)> =
            steps.iter().map(|s| (s.code, s.update == UpdateKind::FullRefreshAll, s.batch)).collect();
        let expected = [(0, false, Some(0)), (1, false, Some(1)), (1, true, Some(2)), (1, false, Some(3))];
        assert_eq!(told, expected);
        assert_eq!(schedule(&[Stage::default()], []).len(), 1);
    }
}
