//! Plain streaming jobs on Iceberg tables: BEFORE on batch 1, steps by hand, AFTER on batch 2.
//!
//! The effect is told against a reference: either AFTER on every batch in a world of its own, or AFTER from nothing on the
//! tables as they have become.

use super::agreement::{Agreement, Subject};
use super::case::{Case, Moment};
use super::steps::{self, Sources, Step};
use super::{rows, sql};
use pipelint::analyze::{Analysis, analyze};
use pipelint::confirm::sources;
use pipelint::engine::{FlowStatus, UpdateKind, World, update_all};
use pipelint::model::SourceFacts;

/// The error of the first job that failed, by its class.
type Run = Result<(), String>;

pub fn observe(case: &Case) -> Agreement {
    let (before, after) = (case.analysis("before"), after(case));
    let data = case.data();
    let set = sources(&before, &after);
    let every: Vec<SourceFacts> = distinct(&set.before, &set.after);
    let (at_first, at_last) = (Sources { facts: &set.before, data: &data }, Sources { facts: &set.after, data: &data });
    let mut world = World::new();
    create_sinks(&mut world, case);
    define(&mut world, &every);
    at_first.load(&mut world, 1);
    steps::apply(&mut world, &case.experiment.before_first, &at_first);
    let first = run(&mut world, &before);
    let batch_1 = world.clone();
    steps::apply(&mut world, &case.experiment.between, &at_first);
    define(&mut world, &set.after);
    if !case.experiment.no_batch_2 {
        at_last.load(&mut world, 2);
    }
    steps::apply(&mut world, &case.experiment.after_batch_2, &at_last);
    let mut reference = if case.replayed_reference { World::new() } else { forget_outputs(&world) };
    let resumed = run(&mut world, &after);
    create_sinks(&mut reference, case);
    let control = if case.replayed_reference {
        define(&mut reference, &set.after);
        at_last.load(&mut reference, 1);
        let first = run(&mut reference, &after);
        at_last.load(&mut reference, 2);
        first.and(run(&mut reference, &after))
    } else {
        run(&mut reference, &after)
    };
    let mut agreement = Agreement::default();
    compare_effect(case, [&first, &resumed, &control], [&world, &reference], &mut agreement);
    if let Some(spark) = &case.error_class {
        let engine = resumed.err().or(first.err()).unwrap_or_default();
        // Spark prefixes the class of a query's own error with the wrapper's.
        agreement.note(Subject::Error, rows::last_part(spark) == rows::last_part(&engine), || {
            format!("Spark {spark}, engine {engine}")
        });
    }
    for recorded in &case.recorded {
        let world = match recorded.at {
            Moment::BeforeBatch1 => &batch_1,
            Moment::Resumed => &world,
            Moment::Control => &reference,
        };
        let found = rows::of_table(world, &recorded.table).unwrap_or_default();
        agreement.note(Subject::Rows, found == recorded.rows, || {
            format!("{} {:?}: Spark {:#?}, engine {found:#?}", recorded.table, recorded.at, recorded.rows)
        });
    }
    agreement
}

/// AFTER, with its sources as the steps have altered them.
fn after(case: &Case) -> Analysis {
    let mut workspace = case.workspace("after");
    for facts in workspace.pipelines.iter_mut().flat_map(|pipeline| &mut pipeline.sources) {
        for step in &case.experiment.between {
            if let (Step::Sql(text), Some(schema)) = (step, &mut facts.schema) {
                sql::evolve(schema, rows::last_part(&facts.name), text);
            }
        }
    }
    analyze(workspace)
}

fn distinct(before: &[SourceFacts], after: &[SourceFacts]) -> Vec<SourceFacts> {
    let mut every: Vec<SourceFacts> = before.to_vec();
    every.extend(after.iter().filter(|facts| !before.iter().any(|known| known.name == facts.name)).cloned());
    every
}

fn define(world: &mut World, sources: &[SourceFacts]) {
    for facts in sources {
        world.define_source(facts, "iceberg");
    }
}

fn create_sinks(world: &mut World, case: &Case) {
    for sink in &case.experiment.sinks {
        sql::execute(world, sink);
    }
}

/// The sources as they are, without what the jobs have made.
fn forget_outputs(world: &World) -> World {
    let mut fresh = world.clone();
    fresh.checkpoints.clear();
    let outputs: Vec<String> =
        fresh.tables.keys().filter(|at| rows::last_part(at).starts_with("out")).cloned().collect();
    for location in outputs {
        fresh.drop_table(&location);
    }
    fresh
}

fn run(world: &mut World, analysis: &Analysis) -> Run {
    let reports = update_all(world, analysis, &UpdateKind::Incremental);
    let failed = reports.into_iter().flat_map(|report| report.flows).find_map(|flow| match flow.status {
        FlowStatus::Failed { error, .. } => Some(error.class),
        _ => None,
    });
    failed.map_or(Ok(()), Err)
}

fn compare_effect(
    case: &Case,
    [before, resumed, control]: [&Run; 3],
    [world, reference]: [&World; 2],
    agreement: &mut Agreement,
) {
    let Some((name, spark)) = case.effects.first() else { return };
    let (rows, expected) = (rows::of_table(world, name), rows::of_table(reference, name));
    let engine = match (before, resumed, control) {
        (Err(_), _, _) => None,
        (_, Err(class), _) if class == "UNSUPPORTED_PLAN" => Some("unknown"),
        (_, Err(_), Err(_)) if case.replayed_reference => Some("invalid"),
        (_, Err(_), _) => Some("refused"),
        _ if rows.is_none() => Some("absent"),
        _ if rows == expected => Some("none"),
        _ => Some("diverged"),
    };
    agreement
        .note(Subject::Effect, engine == spark.as_deref(), || format!("{name}: Spark {spark:?}, engine {engine:?}"));
}
