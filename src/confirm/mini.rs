//! The experiment on the mini engine: BEFORE on batch 1 and AFTER on the rest in one world, AFTER on all of it in another.

use super::data::{Batch, Data};
use super::engine::{Engine, Multiset, NamedRow, NotRun, Outcome, Reports, TableRows, Tables, WrittenRows};
use super::experiment::{Experiment, Side, new_sources};
use super::scripts::{Scripts, Unwritten};
use crate::analyze::Analysis;
use crate::engine::{
    Behaviour, Commit, CommitKind, Effort, NullCondition, Table, UpdateKind, World, contents, dataset_location,
    default_source_format, location, read_location, source_location, starts_at_latest, update_all,
};
use crate::model::{Platform, Schema, SourceFacts, Value};
use std::collections::BTreeSet;

/// The mini engine, with what else happens to its tables and checkpoints between the two revisions.
#[derive(Default, Clone, Copy)]
pub struct Mini<'a> {
    pub between: Option<&'a (dyn Fn(&mut World) + Sync)>,
    /// Scripts of the repository that write what the flows read or write.
    pub scripts: Option<&'a Scripts>,
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
    /// Tables that a script of AFTER should have written and did not, in either world.
    pub unwritten: Unwritten,
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
        let none = Scripts::default();
        let scripts = self.scripts.unwrap_or(&none);
        let places = places(experiment, scripts);
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
            unwritten: worlds.unwritten,
            functions: scripts.function_targets(),
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
        let none = Scripts::default();
        let scripts = self.scripts.unwrap_or(&none);
        let mut resumed = self.world();
        define(&mut resumed, experiment, Side::Before);
        for facts in new_sources(experiment) {
            resumed.define_source(facts, default_format(experiment.after));
        }
        scripts.define_before(&mut resumed);
        prime(&mut resumed, experiment.before);
        load(&mut resumed, experiment.facts(Side::Before).iter(), &first, 1);
        load(&mut resumed, new_sources(experiment), &first, 1);
        resumed.functions = scripts.functions(false);
        let mut unwritten = scripts.write_before(&mut resumed);
        let before = update_all(&mut resumed, experiment.before, &UpdateKind::Incremental);
        let resumed_batch_1 = resumed.clone();
        define(&mut resumed, experiment, Side::After);
        scripts.define_new(&mut resumed);
        resumed.functions = scripts.functions(true);
        if let Some(between) = self.between {
            between(&mut resumed);
        }
        let refilled = refilled(experiment, scripts);
        let mut after = Vec::new();
        for (number, batch) in rest.iter().enumerate() {
            empty(&mut resumed, &refilled);
            load(&mut resumed, experiment.facts(Side::After).iter(), batch, number + 2);
            unwritten.extend(scripts.write_after(&mut resumed));
            if number > 0 || experiment.updates.is_empty() {
                after.push(update_all(&mut resumed, experiment.after, &UpdateKind::Incremental));
            } else {
                after.extend(experiment.updates.iter().map(|kind| update_all(&mut resumed, experiment.after, kind)));
            }
        }
        let mut worlds = Worlds {
            before,
            after,
            control: Vec::new(),
            control_batch_1: World::new(),
            control_end: World::new(),
            resumed_batch_1,
            resumed,
            unwritten,
        };
        if rewritten(&worlds, &outside(experiment, scripts)) {
            rebuild(experiment, scripts, &mut worlds);
        } else {
            self.replay(experiment, scripts, std::iter::once(&first).chain(rest), &mut worlds);
        }
        worlds
    }

    /// The control: AFTER from nothing, batch by batch.
    fn replay<'b>(
        &self,
        experiment: &Experiment<'_>,
        scripts: &Scripts,
        batches: impl Iterator<Item = &'b Batch>,
        worlds: &mut Worlds,
    ) {
        let mut world = self.world();
        define(&mut world, experiment, Side::After);
        scripts.define_after(&mut world, &|_| true);
        world.functions = scripts.functions(true);
        prime(&mut world, experiment.after);
        let refilled = refilled(experiment, scripts);
        worlds.control_batch_1 = world.clone();
        for (number, batch) in batches.enumerate() {
            empty(&mut world, &refilled);
            load(&mut world, experiment.facts(Side::After).iter(), batch, number + 1);
            worlds.unwritten.extend(scripts.write_after(&mut world));
            worlds.control.push(update_all(&mut world, experiment.after, &UpdateKind::Incremental));
            if number == 0 {
                worlds.control_batch_1 = world.clone();
            }
        }
        worlds.control_end = world;
    }
}

/// The control where rows of a source were changed in place: AFTER from nothing over the source as it is then.
fn rebuild(experiment: &Experiment<'_>, scripts: &Scripts, worlds: &mut Worlds) {
    let places = places(experiment, scripts);
    let anew = |world: &World| {
        let mut world = world.clone();
        world.checkpoints.clear();
        world.functions = scripts.functions(true);
        world.tables.retain(|location, _| !places.contains(location));
        scripts.define_after(&mut world, &|place| places.contains(place));
        let reports = update_all(&mut world, experiment.after, &UpdateKind::Incremental);
        (world, reports)
    };
    (worlds.control_batch_1, _) = anew(&worlds.resumed_batch_1);
    let (end, reports) = anew(&worlds.resumed);
    worlds.control_end = end;
    worlds.control.push(reports);
}

/// Sources that scripts read and no flow does, nor any script writes: each batch finds its own rows there.
fn refilled(experiment: &Experiment<'_>, scripts: &Scripts) -> BTreeSet<String> {
    let mut places = scripts.reads();
    let written = scripts.writes();
    places.retain(|place| !written.contains(place));
    for analysis in [experiment.before, experiment.after] {
        for flow in &analysis.flows {
            let Some(pipeline) = analysis.workspace.pipelines.get(flow.pipeline) else { continue };
            for read in flow.plan.reads() {
                read_location(pipeline, read).map(|place| places.remove(&place));
            }
        }
    }
    places
}

fn empty(world: &mut World, places: &BTreeSet<String>) {
    for place in places {
        if let Some(table) = world.tables.get_mut(place) {
            table.commits.clear();
        }
    }
}

/// Tables that flows read and none writes: sources, and what scripts write.
fn outside(experiment: &Experiment<'_>, scripts: &Scripts) -> BTreeSet<String> {
    let mut outside = scripts.writes();
    for side in [Side::Before, Side::After] {
        outside.extend(experiment.facts(side).iter().map(source_location));
    }
    let by_flows = places(experiment, scripts);
    outside.retain(|place| !by_flows.contains(place));
    outside
}

/// One of these tables has lost rows that BEFORE could read, or is another one.
fn rewritten(worlds: &Worlds, outside: &BTreeSet<String>) -> bool {
    outside.iter().any(|place| {
        let Some(old) = worlds.resumed_batch_1.tables.get(place) else { return false };
        let Some(new) = worlds.resumed.tables.get(place) else { return false };
        let mut since = new.commits.iter().filter(|commit| commit.version >= old.next_version);
        let changes =
            |commit: &Commit| matches!(commit.kind, CommitKind::Overwrite | CommitKind::Delete | CommitKind::Update);
        since.any(changes) || new.identity != old.identity
    })
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
fn places(experiment: &Experiment<'_>, scripts: &Scripts) -> BTreeSet<String> {
    let pipelines =
        [experiment.before, experiment.after].into_iter().flat_map(|analysis| &analysis.workspace.pipelines);
    pipelines
        .flat_map(|pipeline| {
            let flows = pipeline.flows.iter().filter_map(|flow| location(pipeline, flow));
            flows.chain(pipeline.datasets.iter().filter_map(dataset_location))
        })
        .chain(scripts.function_targets().into_values().flatten())
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

/// A number is the same in a column of any width that holds it.
fn widest(value: &Value) -> Value {
    match value {
        Value::Byte(number) => Value::Long(i64::from(*number)),
        Value::Short(number) => Value::Long(i64::from(*number)),
        Value::Int(number) => Value::Long(i64::from(*number)),
        Value::Float(number) => Value::Double(f64::from(*number)),
        other => other.clone(),
    }
}

fn counted(table: &Table) -> Multiset {
    let mut rows = Multiset::new();
    let contents = contents(table);
    let names: Vec<String> = contents.schema.fields.iter().map(|field| field.name.to_lowercase()).collect();
    for row in &contents.rows {
        let present = names.iter().zip(row.iter()).filter(|(_, value)| !value.is_null());
        let mut named: NamedRow = present.map(|(name, value)| (name.clone(), widest(value))).collect();
        named.sort();
        *rows.entry(named).or_insert(0) += 1;
    }
    rows
}
