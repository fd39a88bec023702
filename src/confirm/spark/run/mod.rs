//! Worlds on a server: schemas of a run alone, with sources, checkpoints and sinks of their own, filled and updated step by step.
//!
//! Takes revisions of pipelines and batches of rows; gives reports of updates and the tables that they leave.

mod experiment;
mod update;

pub use experiment::experiment;

use super::driver::StepError;
use super::names::{Names, plain};
use super::outcome::table_rows;
use super::replacements::is_stored;
use super::request::{Place, columns, stored_format};
use super::{RevisionCode, Session, Spark};
use crate::analyze::Analysis;
use crate::confirm::{Batch, NotRun, Reports, Tables, volatile_columns};
use crate::engine::{UpdateKind, UpdateReport, dataset_location, deployment_order, source_location};
use crate::model::{Dataset, DatasetKind, SourceFacts};
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::PoisonError;

/// A revision as Spark is to run it.
pub struct Revision<'a> {
    /// As progress names it.
    pub label: String,
    pub analysis: &'a Analysis,
    /// The sources outside, as it knows them.
    pub facts: Vec<SourceFacts>,
    pub code: RevisionCode<'a>,
    /// What fails in it is left out: it says nothing of the change.
    pub is_baseline: bool,
}

/// What lies in one schema.
pub struct World {
    pub(super) schema: String,
    /// On this machine: the batches of sources.
    folder: PathBuf,
    /// Where the server writes checkpoints and sinks.
    storage: String,
    label: &'static str,
    places: BTreeMap<String, Place>,
    /// Identities of the flows that have a checkpoint.
    checkpoints: BTreeSet<String>,
}

/// Revisions on a server.
pub struct Run<'a, 'b> {
    spark: &'a Spark<'b>,
    session: &'a mut Session,
    revisions: &'a [Revision<'a>],
    names: Names,
    /// Columns whose values no two runs have in common.
    varying: BTreeSet<String>,
    /// Tables that Spark cannot be given, with the reason.
    left_out: BTreeMap<String, String>,
}

impl<'a, 'b> Run<'a, 'b> {
    /// Writes the revisions' code where the driver finds it.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub(super) fn new(
        spark: &'a Spark<'b>,
        session: &'a mut Session,
        revisions: &'a [Revision<'a>],
    ) -> Result<Run<'a, 'b>, NotRun> {
        for (at, revision) in revisions.iter().enumerate() {
            session.workspace.write(at, revision.code.tree, revision.code.pipelines)?;
        }
        let names = Names::of(
            revisions.iter().map(|revision| revision.analysis),
            revisions.iter().flat_map(|revision| &revision.facts),
        );
        let varying = volatile_columns(revisions.iter().map(|revision| revision.analysis));
        for column in &varying {
            spark.note(format!("the column {column}"), "a word: it holds the time or chance of a run");
        }
        let left_out = spark.left_out.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(Run { spark, session, revisions, names, varying, left_out })
    }

    pub fn revision(&self, at: usize) -> Option<&'a Revision<'a>> {
        self.revisions.get(at)
    }

    fn step(&mut self, request: &Json) -> Result<Json, StepError> {
        self.spark.step(self.session, request, &mut |_| Json::Null)
    }

    /// A new schema; `label` says in progress what it is for.
    ///
    /// # Errors
    /// The server refuses, or does not tell where checkpoints may lie.
    pub fn world(&mut self, label: &'static str) -> Result<World, NotRun> {
        self.session.worlds += 1;
        let schema = format!("{}_{}", self.session.workspace.run, self.session.worlds);
        let folder = self.session.workspace.folder.join(&schema);
        let reply = self.step(&json!({ "step": "create_schema", "schema": schema }))?;
        let storage = match self.spark.settings.remote {
            None => format!("file://{}", folder.join("storage").display()),
            Some(_) => remote_storage(&reply, &schema)?,
        };
        Ok(World { schema, folder, storage, label, places: BTreeMap::new(), checkpoints: BTreeSet::new() })
    }

    pub fn drop_world(&mut self, world: &World) {
        if !self.session.gone {
            let _ = self.step(&json!({ "step": "drop_schema", "schema": world.schema }));
        }
        let _ = std::fs::remove_dir_all(&world.folder);
    }

    /// Makes a source what a revision knows it as; the rows that it has stay.
    ///
    /// # Errors
    /// The server refuses.
    pub fn define(&mut self, world: &mut World, at: usize, facts: &SourceFacts) -> Result<(), NotRun> {
        let Some((table, place)) = self.place(world, facts) else { return Ok(()) };
        let Some(columns) = self.revision(at).map(|revision| columns(facts, revision.analysis)) else { return Ok(()) };
        if columns.is_empty() {
            return Ok(());
        }
        self.step(&json!({
            "step": "define_source", "schema": world.schema, "table": table, "columns": columns,
            "folder": place.folder, "format": place.format,
        }))?;
        world.places.insert(source_location(facts), place);
        Ok(())
    }

    /// The table that stands for a source, and where its rows lie or will lie.
    fn place(&self, world: &World, facts: &SourceFacts) -> Option<(String, Place)> {
        let table = self.names.source(facts)?;
        let is_local = self.spark.settings.remote.is_none();
        let folder = is_local.then(|| source_folder(world, &source_location(facts), &table));
        Some((table, Place { folder, format: stored_format(facts) }))
    }

    /// The same for a source whose table still lies elsewhere: its files are there before the table leads to them.
    ///
    /// # Errors
    /// The server has no folders of this machine.
    fn prepare(&self, world: &mut World, facts: &SourceFacts) -> Result<(), NotRun> {
        let Some((table, place)) = self.place(world, facts) else { return Ok(()) };
        let Some(folder) = &place.folder else {
            return Err(NotRun {
                reason: format!("`{table}` moves to another place, which a remote server does not show"),
            });
        };
        std::fs::create_dir_all(folder).map_err(|error| NotRun { reason: format!("{}: {error}", folder.display()) })?;
        world.places.insert(source_location(facts), place);
        Ok(())
    }

    /// Adds a batch to sources; two names of one location get its rows once. Gives the number of rows by source.
    ///
    /// # Errors
    /// The server refuses, or a file cannot be written.
    pub fn load<'f>(
        &mut self,
        world: &World,
        at: usize,
        sources: impl IntoIterator<Item = &'f SourceFacts>,
        (batch, number): (&Batch, usize),
    ) -> Result<BTreeMap<String, usize>, NotRun> {
        let mut loaded = BTreeSet::new();
        let mut counts = BTreeMap::new();
        let Some(revision) = self.revision(at) else { return Ok(counts) };
        for facts in sources {
            let (Some(rows), Some(table)) = (batch.rows(&facts.name), self.names.source(facts)) else { continue };
            let Some(place) = world.places.get(&source_location(facts)) else { continue };
            if rows.is_empty() || !loaded.insert(source_location(facts)) {
                continue;
            }
            let request = json!({
                "step": "load_batch", "schema": world.schema, "table": table, "folder": place.folder,
                "format": place.format, "name": format!("batch{number}"), "rows": rows,
                "columns": columns(facts, revision.analysis),
            });
            self.step(&request)?;
            counts.insert(facts.name.clone(), rows.len());
        }
        Ok(counts)
    }

    /// One update of every pipeline of a revision.
    ///
    /// # Errors
    /// The server failed; a flow that fails is part of the reports.
    pub fn update_all(&mut self, world: &mut World, at: usize, kind: &UpdateKind) -> Result<Reports, NotRun> {
        let Some(revision) = self.revision(at) else { return Ok(Reports::new()) };
        let mut reports: Reports = vec![UpdateReport::default(); revision.analysis.workspace.pipelines.len()];
        for pipeline in deployment_order(revision.analysis) {
            let report = self.update(world, at, pipeline, kind)?;
            if let Some(slot) = reports.get_mut(pipeline) {
                *slot = report;
            }
        }
        Ok(reports)
    }

    /// Tables that flows of any revision write, and the folders of sinks.
    ///
    /// # Errors
    /// The server failed; a table that cannot be read is none, and noted.
    pub fn read(&mut self, world: &World) -> Result<Tables, NotRun> {
        let mut tables: BTreeMap<String, String> = BTreeMap::new();
        let mut folders = Map::new();
        let pipelines = self.revisions.iter().flat_map(|revision| &revision.analysis.workspace.pipelines);
        for dataset in pipelines.flat_map(|pipeline| &pipeline.datasets) {
            let Some(location) = dataset_location(dataset) else { continue };
            if dataset.kind == DatasetKind::Sink {
                let sink = sink_place(world, dataset);
                folders.insert(location, json!({ "path": sink.get("folder"), "format": sink.get("format") }));
            } else if is_stored(dataset)
                && let Some(table) = self.names.table(&dataset.name)
            {
                tables.insert(location, table);
            }
        }
        let wanted: BTreeSet<&String> = tables.values().collect();
        let request = json!({ "step": "read_tables", "schema": world.schema, "tables": wanted, "folders": folders });
        let reply = self.step(&request)?;
        for (name, error) in reply.get("unreadable").and_then(Json::as_object).into_iter().flatten() {
            let class = error.get("class").and_then(Json::as_str).unwrap_or_default();
            self.spark.note(format!("the rows of {name}"), format!("nothing: it cannot be read ({class})"));
        }
        let found = |kind: &str, name: &str| reply.get(kind).and_then(|found| found.get(name));
        let of_tables = tables.iter().map(|(location, table)| (location, found("tables", table)));
        let of_folders = folders.keys().map(|location| (location, found("folders", location)));
        let contents = of_tables.chain(of_folders).filter_map(|(location, contents)| Some((location, contents?)));
        Ok(contents.map(|(location, contents)| (location.clone(), table_rows(contents, &self.varying))).collect())
    }
}

/// Beside the tables of a schema that the server keeps, so that what drops them drops it too.
fn remote_storage(reply: &Json, schema: &str) -> Result<String, NotRun> {
    let location = reply.get("location").and_then(Json::as_str).filter(|location| !location.is_empty());
    let location = location.ok_or_else(|| NotRun {
        reason: format!("the server does not tell where its schema {schema} lies, so checkpoints have no place"),
    })?;
    Ok(format!("{}/_pipelint", location.trim_end_matches('/')))
}

/// A folder for each location, under the name of its table as long as no other location has that.
fn source_folder(world: &World, location: &str, table: &str) -> PathBuf {
    let sources = world.folder.join("sources");
    let taken = |folder: &PathBuf| {
        world.places.iter().any(|(other, place)| other != location && place.folder.as_ref() == Some(folder))
    };
    let known = world.places.get(location).and_then(|place| place.folder.clone());
    let further = (2..).map(|number| sources.join(format!("{table}_{number}")));
    let free = || std::iter::once(sources.join(table)).chain(further).find(|folder| !taken(folder));
    known.or_else(free).unwrap_or(sources)
}

/// A sink writes into a folder of the run, the same for all sinks of one place.
fn sink_place(world: &World, sink: &Dataset) -> Json {
    let own = sink.format.as_deref().filter(|format| matches!(*format, "json" | "csv" | "orc" | "text"));
    let format = own.unwrap_or("parquet");
    let place = dataset_location(sink).unwrap_or_else(|| sink.name.key());
    json!({ "folder": format!("{}/sinks/{}", world.storage, plain(&place)), "format": format })
}
