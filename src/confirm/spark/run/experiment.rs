//! The experiment: BEFORE and AFTER in one world, AFTER alone in another.

use super::{Revision, Run, World};
use crate::confirm::spark::{Hands, Session, Spark};
use crate::confirm::{Batch, Data, Experiment, NotRun, Outcome, Side, Tables, new_sources};
use crate::engine::{FlowStatus, Progress, UpdateKind, identity, location};
use crate::model::SourceFacts;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;

/// Places of the two revisions.
const BEFORE: usize = 0;
const AFTER: usize = 1;

/// Makes the experiment.
///
/// # Errors
/// The server or one of its steps failed; a flow that fails is part of the outcome.
pub fn experiment(
    spark: &Spark<'_>,
    session: &mut Session,
    experiment: &Experiment<'_>,
    data: &Data,
) -> Result<Outcome, NotRun> {
    let sides = [(Side::Before, "before"), (Side::After, "after")];
    let revisions: Vec<Revision<'_>> = sides
        .into_iter()
        .zip(&spark.code)
        .map(|((side, label), code)| Revision {
            label: label.to_owned(),
            analysis: experiment.analysis(side),
            facts: experiment.facts(side).to_vec(),
            code: *code,
            is_baseline: side == Side::Before,
        })
        .collect();
    let mut run = Run::new(spark, session, &revisions)?;
    let batches = Batches::of(data);
    let mut outcome = Outcome::default();
    let mut world = run.world("on its tables")?;
    let made = run.resumed(&mut world, experiment, &batches, &mut outcome);
    run.drop_world(&world);
    made?;
    let mut world = run.world("from nothing")?;
    let made = run.control(&mut world, &batches, &mut outcome);
    run.drop_world(&world);
    made?;
    spark.left_out.lock().unwrap_or_else(PoisonError::into_inner).append(&mut run.left_out);
    count_rows(experiment, &mut outcome);
    Ok(outcome)
}

/// The first batch, and those after the change.
struct Batches<'a> {
    first: Batch,
    rest: &'a [Batch],
}

impl<'a> Batches<'a> {
    fn of(data: &'a Data) -> Batches<'a> {
        match data.batches.split_first() {
            Some((first, rest)) => Batches { first: first.clone(), rest },
            None => Batches { first: Batch::default(), rest: &[] },
        }
    }
}

impl Run<'_, '_> {
    fn facts(&self, at: usize) -> Vec<SourceFacts> {
        self.revision(at).map(|revision| revision.facts.clone()).unwrap_or_default()
    }

    /// BEFORE on the first batch, AFTER on the rest.
    fn resumed(
        &mut self,
        world: &mut World,
        experiment: &Experiment<'_>,
        batches: &Batches<'_>,
        outcome: &mut Outcome,
    ) -> Result<(), NotRun> {
        let (before, after) = (self.facts(BEFORE), self.facts(AFTER));
        let new: Vec<SourceFacts> = new_sources(experiment).cloned().collect();
        for facts in &before {
            self.define(world, BEFORE, facts)?;
        }
        let tables: BTreeSet<Option<String>> = before.iter().map(|facts| self.names.source(facts)).collect();
        for facts in &new {
            if tables.contains(&self.names.source(facts)) {
                self.prepare(world, facts)?;
            } else {
                self.define(world, AFTER, facts)?;
            }
        }
        self.load(world, AFTER, before.iter().chain(&new), (&batches.first, 1))?;
        outcome.before = self.update_all(world, BEFORE, &UpdateKind::Incremental)?;
        outcome.checkpoints.clone_from(&world.checkpoints);
        outcome.resumed_batch_1 = self.read(world)?;
        for facts in &after {
            self.define(world, AFTER, facts)?;
        }
        self.between(world)?;
        let incremental = [UpdateKind::Incremental];
        let deployed = if experiment.updates.is_empty() { &incremental[..] } else { experiment.updates };
        for (number, batch) in batches.rest.iter().enumerate() {
            self.load(world, AFTER, &after, (batch, number + 2))?;
            for kind in if number == 0 { deployed } else { &incremental[..] } {
                let reports = self.update_all(world, AFTER, kind)?;
                outcome.after.push(reports);
            }
        }
        outcome.resumed = self.read(world)?;
        outcome.resumed_batch_1_now = still_there(&outcome.resumed_batch_1, &outcome.resumed);
        Ok(())
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
            sql: &mut sql,
        })
    }

    /// AFTER on all batches.
    fn control(&mut self, world: &mut World, batches: &Batches<'_>, outcome: &mut Outcome) -> Result<(), NotRun> {
        let after = self.facts(AFTER);
        for facts in &after {
            self.define(world, AFTER, facts)?;
        }
        for (number, batch) in std::iter::once(&batches.first).chain(batches.rest).enumerate() {
            self.load(world, AFTER, &after, (batch, number + 1))?;
            let reports = self.update_all(world, AFTER, &UpdateKind::Incremental)?;
            outcome.control.push(reports);
            if number == 0 {
                outcome.control_batch_1 = self.read(world)?;
            }
        }
        outcome.control_end = self.read(world)?;
        Ok(())
    }
}

/// Spark tells no rows by flow: a flow that began anew has given those by which its table grew.
fn count_rows(experiment: &Experiment<'_>, outcome: &mut Outcome) {
    let analysis = experiment.after;
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

/// Tables of one moment that are still there at a later one.
fn still_there(tables: &Tables, later: &Tables) -> Tables {
    let known = |location: &String| later.contains_key(location);
    tables.iter().filter(|(location, _)| known(location)).map(|(at, table)| (at.clone(), table.clone())).collect()
}
