//! The experiment on the mini engine: BEFORE on batch 1 and AFTER on the rest in one world, AFTER on all of it in another.

use super::data::{Batch, Data};
use super::engine::{Engine, Multiset, NamedRow, NotRun, Outcome, Reports, TableRows, Tables, WrittenRows};
use super::experiment::{Experiment, Side, new_sources};
use crate::analyze::Analysis;
use crate::engine::{
    Behaviour, Effort, NullCondition, Table, UpdateKind, World, contents, dataset_location, default_source_format,
    location, source_location, starts_at_latest, update_all,
};
use crate::model::{Platform, Schema, SourceFacts};
use std::collections::BTreeSet;

/// The mini engine, with what else happens to its tables and checkpoints between the two revisions.
#[derive(Default, Clone, Copy)]
pub struct Mini<'a> {
    pub between: Option<&'a (dyn Fn(&mut World) + Sync)>,
    /// How expectations take a condition that is NULL.
    pub null_condition: NullCondition,
    /// What one run of a query may cost.
    pub effort: Effort,
}

/// Both worlds at their moments, and what every flow did in them.
#[derive(Debug, Clone)]
pub struct Worlds {
    pub before: Reports,
    pub after: Vec<Reports>,
    pub control: Vec<Reports>,
    pub resumed_batch_1: World,
    pub resumed: World,
    pub control_batch_1: World,
    pub control_end: World,
}

impl Engine for Mini<'_> {
    fn name(&self) -> &'static str {
        "mini"
    }

    fn run(&self, experiment: &Experiment<'_>, data: &Data) -> Result<Outcome, NotRun> {
        Ok(self.outcome(experiment, data))
    }
}

impl Mini<'_> {
    /// The experiment; in memory nothing can keep it from being made.
    pub fn outcome(&self, experiment: &Experiment<'_>, data: &Data) -> Outcome {
        let worlds = self.worlds(experiment, data);
        let places = places(experiment);
        let tables = |world: &World| tables(world, &places, world);
        Outcome {
            checkpoints: worlds.resumed_batch_1.checkpoints.keys().cloned().collect(),
            resumed_batch_1: tables(&worlds.resumed_batch_1),
            resumed_batch_1_now: self::tables(&worlds.resumed_batch_1, &places, &worlds.resumed),
            resumed: tables(&worlds.resumed),
            control_batch_1: tables(&worlds.control_batch_1),
            control_end: tables(&worlds.control_end),
            before: worlds.before,
            after: worlds.after,
            control: worlds.control,
        }
    }

    fn world(&self) -> World {
        let mut world = World::reading(self.null_condition);
        world.effort = self.effort;
        world
    }

    /// The experiment, with all that the engine knows of it.
    pub fn worlds(&self, experiment: &Experiment<'_>, data: &Data) -> Worlds {
        let (first, rest) = match data.batches.split_first() {
            Some((first, rest)) => (first.clone(), rest),
            None => (Batch::default(), &[][..]),
        };
        let mut resumed = self.world();
        define(&mut resumed, experiment, Side::Before);
        for facts in new_sources(experiment) {
            resumed.define_source(facts, default_format(experiment.after));
        }
        prime(&mut resumed, experiment.before);
        load(&mut resumed, experiment.facts(Side::Before).iter(), &first, 1);
        load(&mut resumed, new_sources(experiment), &first, 1);
        let before = update_all(&mut resumed, experiment.before, &UpdateKind::Incremental);
        let resumed_batch_1 = resumed.clone();
        define(&mut resumed, experiment, Side::After);
        if let Some(between) = self.between {
            between(&mut resumed);
        }
        let mut after = Vec::new();
        for (number, batch) in rest.iter().enumerate() {
            load(&mut resumed, experiment.facts(Side::After).iter(), batch, number + 2);
            if number > 0 || experiment.updates.is_empty() {
                after.push(update_all(&mut resumed, experiment.after, &UpdateKind::Incremental));
            } else {
                after.extend(experiment.updates.iter().map(|kind| update_all(&mut resumed, experiment.after, kind)));
            }
        }
        let mut control_end = self.world();
        define(&mut control_end, experiment, Side::After);
        prime(&mut control_end, experiment.after);
        let mut control = Vec::new();
        let mut control_batch_1 = control_end.clone();
        for (number, batch) in std::iter::once(&first).chain(rest).enumerate() {
            load(&mut control_end, experiment.facts(Side::After).iter(), batch, number + 1);
            control.push(update_all(&mut control_end, experiment.after, &UpdateKind::Incremental));
            if number == 0 {
                control_batch_1 = control_end.clone();
            }
        }
        Worlds { before, after, control, resumed_batch_1, resumed, control_batch_1, control_end }
    }
}

fn default_format(analysis: &Analysis) -> &'static str {
    let pipelines = &analysis.workspace.pipelines;
    let platform =
        pipelines.first().map_or(Behaviour { platform: Platform::Lakeflow, spark_version: (4, 0) }, Behaviour::of);
    default_source_format(platform)
}

fn define(world: &mut World, experiment: &Experiment<'_>, side: Side) {
    for facts in experiment.facts(side) {
        world.define_source(facts, default_format(experiment.analysis(side)));
    }
}

/// Streams that start at the latest offset must have been running before batch 1 to see it.
fn prime(world: &mut World, analysis: &Analysis) {
    if starts_at_latest(analysis) {
        update_all(world, analysis, &UpdateKind::Incremental);
    }
}

/// Adds a batch to sources; two names of one location get its rows once.
fn load<'a>(world: &mut World, sources: impl Iterator<Item = &'a SourceFacts>, batch: &Batch, number: usize) {
    let mut loaded = BTreeSet::new();
    for facts in sources {
        if let Some(rows) = batch.rows(&facts.name)
            && loaded.insert(source_location(facts))
        {
            world.load(facts, &format!("batch{number}"), rows.clone());
        }
    }
}

/// Where flows and datasets of either revision lie.
fn places(experiment: &Experiment<'_>) -> BTreeSet<String> {
    let pipelines =
        [experiment.before, experiment.after].into_iter().flat_map(|analysis| &analysis.workspace.pipelines);
    pipelines
        .flat_map(|pipeline| {
            let flows = pipeline.flows.iter().filter_map(|flow| location(pipeline, flow));
            flows.chain(pipeline.datasets.iter().filter_map(dataset_location))
        })
        .collect()
}

/// The tables at these places, under the columns that they have in the world `later`.
fn tables(world: &World, places: &BTreeSet<String>, later: &World) -> Tables {
    let table = |place: &String| {
        let table = world.tables.get(place)?;
        let schema = later.tables.get(place).map(|table| &table.schema)?;
        Some((place.clone(), table_rows(table, schema)))
    };
    places.iter().filter_map(table).collect()
}

fn table_rows(table: &Table, schema: &Schema) -> TableRows {
    let writers: BTreeSet<Option<String>> = table.files().iter().map(|file| file.writer.clone()).collect();
    let rows = writers.into_iter().map(|writer| {
        let rows = counted(&written_by(table, schema, writer.as_deref()));
        (writer, rows)
    });
    TableRows {
        columns: schema.fields.iter().map(|field| (field.name.clone(), field.data_type.clone())).collect(),
        rows: WrittenRows::ByFlow(rows.collect()),
    }
}

fn written_by(table: &Table, schema: &Schema, writer: Option<&str>) -> Table {
    let mut only = table.clone();
    for commit in &mut only.commits {
        commit.added.retain(|file| file.writer.as_deref() == writer);
    }
    only.schema = schema.clone();
    only
}

fn counted(table: &Table) -> Multiset {
    let mut rows = Multiset::new();
    let contents = contents(table);
    let names: Vec<String> = contents.schema.fields.iter().map(|field| field.name.to_lowercase()).collect();
    for row in &contents.rows {
        let present = names.iter().zip(row.iter()).filter(|(_, value)| !value.is_null());
        let mut named: NamedRow = present.map(|(name, value)| (name.clone(), value.clone())).collect();
        named.sort();
        *rows.entry(named).or_insert(0) += 1;
    }
    rows
}
