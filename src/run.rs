//! `pipelint run`: pipelines on local rows, update after update, with another revision's code in between.
//!
//! Takes analysed revisions, the updates to make and rows; gives what every flow did and the tables in the end. Works on a
//! [`State`], which can be kept in a folder so that a later run goes on where this one ends.

use crate::analyze::Analysis;
use crate::confirm::{Batch, Data, sources};
use crate::engine::{
    Behaviour, FlowStatus, Record, UpdateKind, UpdateReport, World, contents, dataset_location, default_source_format,
    location, record, source_location, starts_at_latest, update_all,
};
use crate::model::{QualifiedName, SourceFacts};
use serde_json::{Value as Json, json};
use sha1::{Digest, Sha1};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

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

/// What outlives a run: tables and checkpoints, and which batches have arrived.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    pub world: World,
    /// Digests of the batches that have arrived, in their order.
    arrived: Vec<String>,
}

const STATE_FILE: &str = "pipelint-state.json";
/// Grows when older versions cannot read the file any more.
const STATE_FORMAT: u64 = 1;

/// Why a kept state cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateError {
    pub path: PathBuf,
    pub message: String,
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.message)
    }
}

impl std::error::Error for StateError {}

impl State {
    /// The state kept in a folder; an empty one where nothing is kept there yet.
    ///
    /// # Errors
    /// A file that cannot be read, or that no version of pipelint with this format wrote.
    pub fn read(folder: &Path) -> Result<State, StateError> {
        let path = folder.join(STATE_FILE);
        let failed = |message: String| StateError { path: path.clone(), message };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(State::default()),
            Err(error) => return Err(failed(error.to_string())),
        };
        let saved: Json = serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
        if saved.get("format").and_then(Json::as_u64) != Some(STATE_FORMAT) {
            return Err(failed("the saved state is not understood: another version wrote it".to_owned()));
        }
        let world = World::from_json(saved.get("world").unwrap_or(&Json::Null)).map_err(|error| failed(error.0))?;
        let arrived = saved.get("arrived").and_then(Json::as_array).into_iter().flatten();
        Ok(State { world, arrived: arrived.filter_map(|digest| digest.as_str().map(str::to_owned)).collect() })
    }

    /// Keeps the state in a folder, which is made where it is missing.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), StateError> {
        let path = folder.join(STATE_FILE);
        let saved = json!({ "format": STATE_FORMAT, "arrived": self.arrived, "world": self.world.to_json() });
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, saved.to_string()))
            .map_err(|error| StateError { path, message: error.to_string() })
    }

    /// Indices of the batches that have not arrived in an earlier run: one of the same number and content has.
    pub fn new_batches<'a>(&'a self, data: &'a Data) -> impl Iterator<Item = usize> + 'a {
        let known = |(at, batch): &(usize, &Batch)| self.arrived.get(*at) == Some(&digest(batch));
        data.batches.iter().enumerate().filter(move |entry| !known(entry)).map(|(at, _)| at)
    }
}

fn digest(batch: &Batch) -> String {
    let mut hash = Sha1::new();
    for (source, rows) in &batch.sources {
        hash.update(source);
        hash.update([0]);
        rows.iter().for_each(|row| hash.update(Json::Object(row.clone()).to_string()));
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What one flow did in one update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowRun {
    /// Key of the pipeline.
    pub pipeline: String,
    pub flow: String,
    pub dataset: QualifiedName,
    pub status: FlowStatus,
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
pub fn run(
    codes: &[Code],
    steps: &[Step],
    data: &Data,
    state: &mut State,
    progress: &mut dyn FnMut(usize, &Step),
) -> RunReport {
    let mut report = RunReport::default();
    let mut defined = None;
    for (at, step) in steps.iter().enumerate() {
        let Some(code) = codes.get(step.code) else { continue };
        progress(at, step);
        let facts = sources(&code.analysis, &code.analysis).after;
        if defined.replace(step.code) != Some(step.code) {
            define(&mut state.world, &code.analysis, &facts);
        }
        if at == 0 && state.world.updates == 0 && starts_at_latest(&code.analysis) {
            update_all(&mut state.world, &code.analysis, &UpdateKind::Incremental);
            report
                .notes
                .push("some stream starts at the latest offset: it was started once before the first rows".into());
        }
        let batch = step.batch.and_then(|index| Some((index, data.batches.get(index)?)));
        let arrived = batch.map(|(index, batch)| {
            report.notes.extend(strangers(batch, index + 1, &facts));
            (index + 1, arrive(state, batch, index, &facts))
        });
        let reports = update_all(&mut state.world, &code.analysis, &step.update);
        report.notes.extend(null_conditions(&reports));
        report.updates.push(UpdateRun {
            number: state.world.updates,
            code: code.label.clone(),
            update: step.update.clone(),
            arrived,
            flows: flows(&code.analysis, reports),
        });
    }
    report.tables = tables(codes, &state.world);
    report
}

/// Brings the sources outside to what this code knows of them. A table that flows have written stays as they left it.
fn define(world: &mut World, analysis: &Analysis, facts: &[SourceFacts]) {
    let format =
        analysis.workspace.pipelines.first().map_or("delta", |first| default_source_format(Behaviour::of(first)));
    for facts in facts {
        let written = world.tables.get(&source_location(facts)).is_some_and(|table| {
            table.commits.iter().flat_map(|commit| &commit.added).any(|file| file.writer.is_some())
        });
        if !written {
            world.define_source(facts, format);
        }
    }
}

/// Loads a batch and gives the number of rows by source.
fn arrive(state: &mut State, batch: &Batch, index: usize, facts: &[SourceFacts]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let mut loaded = BTreeSet::new();
    let name = format!("batch{}-{}", index + 1, state.world.updates + 1);
    for facts in facts {
        if let Some(rows) = batch.rows(&facts.name)
            && loaded.insert(source_location(facts))
        {
            state.world.load(facts, &name, rows.clone());
            counts.insert(facts.name.clone(), rows.len());
        }
    }
    if state.arrived.len() <= index {
        state.arrived.resize(index + 1, String::new());
    }
    if let Some(slot) = state.arrived.get_mut(index) {
        *slot = digest(batch);
    }
    counts
}

/// Expectations whose condition was NULL for some row, which the platform's documentation says nothing of.
fn null_conditions(reports: &[UpdateReport]) -> Vec<String> {
    let flows = reports.iter().flat_map(|report| &report.flows);
    let notes = flows.filter_map(|flow| match &flow.status {
        FlowStatus::Completed(progress) => Some((&flow.dataset, &progress.null_conditions)),
        _ => None,
    });
    notes
        .flat_map(|(dataset, names)| names.iter().map(move |name| (dataset, name)))
        .map(|(dataset, name)| {
            format!(
                "the condition of `{dataset}`'s expectation `{name}` was NULL for some rows, which were taken to violate it: what \
                 Databricks does then is not documented"
            )
        })
        .collect()
}

/// Rows that no source takes.
fn strangers(batch: &Batch, number: usize, facts: &[SourceFacts]) -> Vec<String> {
    let taken: BTreeSet<&str> = facts.iter().filter_map(|facts| batch.key(&facts.name)).collect();
    let left = batch.sources.keys().filter(|key| !taken.contains(key.as_str()));
    left.map(|key| format!("batch {number}: no flow reads `{key}`; its rows were left out")).collect()
}

fn flows(analysis: &Analysis, reports: Vec<UpdateReport>) -> Vec<FlowRun> {
    let pipelines = &analysis.workspace.pipelines;
    let of = |(pipeline, report): (&crate::model::Pipeline, UpdateReport)| {
        let key = pipeline.key.clone();
        report.flows.into_iter().map(move |flow| FlowRun {
            pipeline: key.clone(),
            flow: flow.flow,
            dataset: flow.dataset,
            status: flow.status,
        })
    };
    pipelines.iter().zip(reports).flat_map(of).collect()
}

/// All tables that some code's flows write, under the name that the last code gives them.
fn tables(codes: &[Code], world: &World) -> Vec<TableContents> {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for pipeline in codes.iter().flat_map(|code| &code.analysis.workspace.pipelines) {
        let of_flows = pipeline.flows.iter().filter_map(|flow| Some((location(pipeline, flow)?, &flow.target)));
        let of_datasets =
            pipeline.datasets.iter().filter_map(|dataset| Some((dataset_location(dataset)?, &dataset.name)));
        names.extend(of_flows.chain(of_datasets).map(|(place, name)| (place, name.to_string())));
    }
    let mut tables: Vec<TableContents> = names
        .into_iter()
        .filter_map(|(place, name)| {
            let rows = contents(world.tables.get(&place)?);
            let name = if name.is_empty() { place } else { name };
            let columns = rows.schema.fields.iter().map(|field| field.name.clone()).collect();
            let records = rows.rows.iter().map(|row| record(row, &rows.schema.fields)).collect();
            Some(TableContents { name, columns, rows: records })
        })
        .collect();
    tables.sort_by(|a, b| a.name.cmp(&b.name));
    tables
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
