//! One experiment: two worlds, each a schema of its own, filled and updated step by step.

mod update;

use super::driver::StepError;
use super::names::Names;
use super::outcome::table_rows;
use super::replacements::is_stored;
use super::request::{Place, columns, stored_format};
use super::{Hands, RevisionCode, Session, Spark};
use crate::analyze::Analysis;
use crate::confirm::{Batch, Data, Experiment, NotRun, Outcome, Reports, Side, Tables, new_sources, volatile_columns};
use crate::engine::{
    FlowStatus, Progress, UpdateKind, UpdateReport, dataset_location, deployment_order, identity, location,
    source_location,
};
use crate::model::{DatasetKind, SourceFacts};
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Makes the experiment.
///
/// # Errors
/// The server or one of its steps failed; a flow that fails is part of the outcome.
pub fn run(
    spark: &Spark<'_>,
    session: &mut Session,
    experiment: &Experiment<'_>,
    data: &Data,
) -> Result<Outcome, NotRun> {
    session.workspace.write(Side::Before, spark.before.tree, spark.before.pipelines)?;
    session.workspace.write(Side::After, spark.after.tree, spark.after.pipelines)?;
    let (names, passed_over) = (Names::of(experiment), volatile_columns([experiment.before, experiment.after]));
    for column in &passed_over {
        spark.note(format!("the column {column}"), "nothing: it holds the time or chance of a run and is not compared");
    }
    let mut run = Run { spark, session, experiment, names, passed_over, left_out: BTreeMap::new() };
    let mut resumed = run.world("resumed")?;
    let outcome = run.outcome(&mut resumed, data);
    run.drop_world(&resumed);
    outcome
}

/// A schema of this run with its sources' folders, checkpoints and sinks.
struct World {
    schema: String,
    folder: PathBuf,
    places: BTreeMap<String, Place>,
    /// Identities of the flows that have a checkpoint.
    checkpoints: BTreeSet<String>,
}

struct Run<'a, 'b> {
    spark: &'a Spark<'b>,
    session: &'a mut Session,
    experiment: &'a Experiment<'a>,
    names: Names,
    passed_over: BTreeSet<String>,
    /// Tables that Spark cannot be given, with the reason.
    left_out: BTreeMap<String, String>,
}

impl<'b> Run<'_, 'b> {
    fn outcome(&mut self, resumed: &mut World, data: &Data) -> Result<Outcome, NotRun> {
        let (first, rest) = match data.batches.split_first() {
            Some((first, rest)) => (first.clone(), rest),
            None => (Batch::default(), &[][..]),
        };
        let mut outcome = Outcome::default();
        let (before, after) = (self.facts(Side::Before), self.facts(Side::After));
        let new: Vec<SourceFacts> = new_sources(self.experiment).cloned().collect();
        for facts in before.iter().chain(&new) {
            let side = if before.contains(facts) { Side::Before } else { Side::After };
            self.define(resumed, side, facts)?;
        }
        self.load(resumed, before.iter().chain(&new), &first, 1)?;
        outcome.before = self.update_all(resumed, Side::Before, &UpdateKind::Incremental)?;
        outcome.checkpoints.clone_from(&resumed.checkpoints);
        outcome.resumed_batch_1 = self.read(resumed)?;

        let mut control = self.world("control")?;
        let controlled = self.control(&mut control, &after, &first, rest, &mut outcome);
        self.drop_world(&control);
        controlled?;

        for facts in &after {
            self.define(resumed, Side::After, facts)?;
        }
        self.between(resumed)?;
        for (number, batch) in rest.iter().enumerate() {
            self.load(resumed, after.iter(), batch, number + 2)?;
            let incremental = [UpdateKind::Incremental];
            let kinds = if number > 0 || self.experiment.updates.is_empty() {
                &incremental[..]
            } else {
                self.experiment.updates
            };
            for kind in kinds {
                let reports = self.update_all(resumed, Side::After, kind)?;
                outcome.after.push(reports);
            }
        }
        outcome.resumed = self.read(resumed)?;
        outcome.resumed_batch_1_now = still_there(&outcome.resumed_batch_1, &outcome.resumed);
        self.count_rows(&mut outcome);
        Ok(outcome)
    }

    fn between(&mut self, world: &World) -> Result<(), NotRun> {
        let Some(between) = self.spark.between else { return Ok(()) };
        let schema = world.schema.clone();
        let mut sql = |statement: &str| {
            self.step(&json!({ "step": "sql", "schema": schema, "statement": statement }))?;
            Ok(())
        };
        between(&mut Hands {
            storage: world.folder.join("storage"),
            sources: world.folder.join("sources"),
            schema: world.schema.clone(),
            sql: &mut sql,
        })
    }

    fn control(
        &mut self,
        world: &mut World,
        facts: &[SourceFacts],
        first: &Batch,
        rest: &[Batch],
        outcome: &mut Outcome,
    ) -> Result<(), NotRun> {
        for facts in facts {
            self.define(world, Side::After, facts)?;
        }
        for (number, batch) in std::iter::once(first).chain(rest).enumerate() {
            self.load(world, facts.iter(), batch, number + 1)?;
            let reports = self.update_all(world, Side::After, &UpdateKind::Incremental)?;
            outcome.control.push(reports);
            if number == 0 {
                outcome.control_batch_1 = self.read(world)?;
            }
        }
        outcome.control_end = self.read(world)?;
        Ok(())
    }

    fn facts(&self, side: Side) -> Vec<SourceFacts> {
        self.experiment.facts(side).to_vec()
    }

    fn analysis(&self, side: Side) -> &Analysis {
        self.experiment.analysis(side)
    }

    fn code(&self, side: Side) -> RevisionCode<'b> {
        match side {
            Side::Before => self.spark.before,
            Side::After => self.spark.after,
        }
    }

    fn step(&mut self, request: &Json) -> Result<Json, StepError> {
        self.spark.step(self.session, request, &mut |_| Json::Null)
    }

    fn world(&mut self, name: &str) -> Result<World, NotRun> {
        let schema = format!("{}_{}_{name}", self.session.workspace.run, self.session.experiments);
        let folder = self.session.workspace.folder.join(&schema);
        self.step(&json!({ "step": "create_schema", "schema": schema }))?;
        Ok(World { schema, folder, places: BTreeMap::new(), checkpoints: BTreeSet::new() })
    }

    fn drop_world(&mut self, world: &World) {
        if !self.session.gone {
            let _ = self.step(&json!({ "step": "drop_schema", "schema": world.schema }));
        }
        let _ = std::fs::remove_dir_all(&world.folder);
    }

    /// Makes a source what a revision knows it as; the rows that it has stay.
    fn define(&mut self, world: &mut World, side: Side, facts: &SourceFacts) -> Result<(), NotRun> {
        let Some(table) = self.names.source(facts) else { return Ok(()) };
        let columns = columns(facts, self.analysis(side));
        if columns.is_empty() {
            return Ok(());
        }
        let format = stored_format(facts);
        let local = self.spark.settings.remote.is_none();
        let folder = local.then(|| world.folder.join("sources").join(&table));
        self.step(&json!({
            "step": "define_source", "schema": world.schema, "table": table, "columns": columns,
            "folder": folder, "format": format,
        }))?;
        world.places.insert(source_location(facts), Place { folder, format });
        Ok(())
    }

    /// Adds a batch to sources; two names of one location get its rows once.
    fn load<'f>(
        &mut self,
        world: &World,
        sources: impl Iterator<Item = &'f SourceFacts>,
        batch: &Batch,
        number: usize,
    ) -> Result<(), NotRun> {
        let mut loaded = BTreeSet::new();
        for facts in sources {
            let (Some(rows), Some(table)) = (batch.rows(&facts.name), self.names.source(facts)) else { continue };
            let Some(place) = world.places.get(&source_location(facts)) else { continue };
            if rows.is_empty() || !loaded.insert(source_location(facts)) {
                continue;
            }
            let request = json!({
                "step": "load_batch", "schema": world.schema, "table": table, "folder": place.folder,
                "format": place.format, "name": format!("batch{number}"), "rows": rows,
                "columns": columns(facts, self.experiment.after),
            });
            self.step(&request)?;
        }
        Ok(())
    }

    /// One update of every pipeline of a revision.
    fn update_all(&mut self, world: &mut World, side: Side, kind: &UpdateKind) -> Result<Reports, NotRun> {
        let count = self.analysis(side).workspace.pipelines.len();
        let mut reports: Reports = vec![UpdateReport::default(); count];
        for at in deployment_order(self.analysis(side)) {
            let report = self.update(world, side, at, kind)?;
            if let Some(slot) = reports.get_mut(at) {
                *slot = report;
            }
        }
        Ok(reports)
    }

    /// Tables that flows of either revision write, and the folders of sinks.
    fn read(&mut self, world: &World) -> Result<Tables, NotRun> {
        let mut tables: BTreeMap<String, String> = BTreeMap::new();
        let mut folders = Map::new();
        for pipeline in [self.experiment.before, self.experiment.after].into_iter().flat_map(|a| &a.workspace.pipelines)
        {
            for dataset in &pipeline.datasets {
                let Some(location) = dataset_location(dataset) else { continue };
                if dataset.kind == DatasetKind::Sink {
                    folders.insert(location, sink_place(world, dataset));
                } else if is_stored(dataset)
                    && let Some(table) = self.names.table(&dataset.name)
                {
                    tables.insert(location, table);
                }
            }
        }
        let wanted: BTreeSet<&String> = tables.values().collect();
        let reply = self.step(&json!({
            "step": "read_tables", "schema": world.schema, "tables": wanted,
            "folders": folders.iter().map(|(place, sink)| (place.clone(), json!({ "path": sink.get("folder"), "format": sink.get("format") }))).collect::<Map<_, _>>(),
        }))?;
        let mut read = Tables::new();
        for (location, table) in &tables {
            if let Some(contents) = reply.get("tables").and_then(|found| found.get(table)) {
                read.insert(location.clone(), table_rows(contents, &self.passed_over));
            }
        }
        for location in folders.keys() {
            if let Some(contents) = reply.get("folders").and_then(|found| found.get(location)) {
                read.insert(location.clone(), table_rows(contents, &self.passed_over));
            }
        }
        Ok(read)
    }

    /// Spark tells no rows by flow: a flow that began anew has given those by which its table grew.
    fn count_rows(&self, outcome: &mut Outcome) {
        let analysis = self.experiment.after;
        let grown = |place: &str| {
            let count = |tables: &Tables| tables.get(place).map_or(0, |table| table.all().values().sum::<usize>());
            count(&outcome.resumed).saturating_sub(count(&outcome.resumed_batch_1))
        };
        let mut counted: BTreeMap<usize, Progress> = BTreeMap::new();
        for (index, analyzed) in analysis.flows.iter().enumerate().filter(|(_, analyzed)| analyzed.streaming) {
            let Some(pipeline) = analysis.workspace.pipelines.get(analyzed.pipeline) else { continue };
            let Some(flow) = pipeline.flows.get(analyzed.flow) else { continue };
            let Some(place) = location(pipeline, flow) else { continue };
            let from_nothing = !outcome.checkpoints.contains(&identity(pipeline, flow));
            counted.insert(index, Progress { rows: grown(&place), from_nothing, ..Progress::default() });
        }
        for flow in outcome.after.iter_mut().flatten().flat_map(|report| &mut report.flows) {
            if let (FlowStatus::Completed(progress), Some(known)) = (&mut flow.status, counted.get(&flow.index)) {
                *progress = known.clone();
            }
        }
    }
}

/// Tables of one moment that are still there at a later one.
fn still_there(tables: &Tables, later: &Tables) -> Tables {
    let known = |location: &String| later.contains_key(location);
    tables.iter().filter(|(location, _)| known(location)).map(|(at, table)| (at.clone(), table.clone())).collect()
}

/// A sink writes into a folder of the run, the same for all sinks of one place.
fn sink_place(world: &World, sink: &crate::model::Dataset) -> Json {
    let own = sink.format.as_deref().filter(|format| matches!(*format, "json" | "csv" | "orc" | "text"));
    let format = own.unwrap_or("parquet");
    let place = dataset_location(sink).unwrap_or_else(|| sink.name.key());
    let name: String = place.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    json!({ "folder": world.folder.join("sinks").join(name), "format": format })
}
