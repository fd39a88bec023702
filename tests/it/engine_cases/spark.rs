//! Declarative pipelines: the experiment as `confirm` runs it, on the case's rows and on generated ones.

use super::agreement::{Agreement, Subject};
use super::case::{Case, Moment};
use super::rows;
use super::steps::{self, Sources};
use pipelint::analyze::Analysis;
use pipelint::confirm::{Confirmation, Data, Experiment, Mini, Options, confirm, sources};
use pipelint::engine::World;
use std::collections::BTreeSet;

/// Tables that Spark keeps beside the target of AUTO CDC; the engine keeps them inside.
const CDC_TABLE: &str = "__spark_autocdc";

pub fn observe(case: &Case) -> Agreement {
    let (before, after) = (case.analysis("before"), case.analysis("after"));
    let data = case.data();
    let between = |world: &mut World| {
        steps::apply(world, &case.experiment.between, &Sources { facts: &[], data: &data });
    };
    let confirmed = |data: Option<Data>| {
        let updates = case.experiment.updates.clone();
        confirm(&before, &after, &Options { data, updates, between: Some(&between), ..Options::default() })
    };
    let (own, generated) = (confirmed(Some(data.clone())), confirmed(None));
    let mut agreement = Agreement::default();
    for (table, spark) in case.effects.iter().filter(|(table, _)| !table.starts_with(CDC_TABLE)) {
        let Some(spark) = spark else { continue };
        let engine = effect(&own, table);
        agreement.note(Subject::Effect, exact(&engine) == exact(spark), || {
            format!("{table}: Spark {spark}, engine {engine}")
        });
        let engine = effect(&generated, table);
        agreement.note(Subject::Generated, coarse(&engine) == coarse(spark), || {
            format!("{table}: Spark {spark}, engine {engine}")
        });
    }
    if let Some(spark) = &case.error_class {
        let engine: BTreeSet<&String> = own.flows.iter().filter_map(|flow| flow.error_class.as_ref()).collect();
        agreement.note(Subject::Error, engine.contains(spark), || format!("Spark {spark}, engine {engine:?}"));
    }
    compare_rows(case, [&before, &after], &own, &data, &between, &mut agreement);
    agreement
}

fn compare_rows(
    case: &Case,
    [before, after]: [&Analysis; 2],
    own: &Confirmation,
    data: &Data,
    between: &(dyn Fn(&mut World) + Sync),
    agreement: &mut Agreement,
) {
    let sources = sources(before, after);
    let updates = &case.experiment.updates;
    let outcome = Mini { between: Some(between), ..Mini::default() }
        .worlds(&Experiment { before, after, sources: &sources, updates }, data);
    for recorded in &case.recorded {
        // What Python code makes of a row is its secret: the engine gives a value that stands for it.
        let writers = own.flows.iter().filter(|flow| rows::last_part(&flow.dataset.name) == recorded.table);
        let opaque = writers.into_iter().any(|flow| !flow.uninterpreted.is_empty());
        if opaque || recorded.table.starts_with(CDC_TABLE) {
            continue;
        }
        let world = match recorded.at {
            Moment::BeforeBatch1 => &outcome.resumed_batch_1,
            Moment::Resumed => &outcome.resumed,
            Moment::Control => &outcome.control_end,
        };
        let found = rows::of_table(world, &recorded.table).unwrap_or_default();
        agreement.note(Subject::Rows, found == recorded.rows, || {
            format!("{} {:?}: Spark {:#?}, engine {found:#?}", recorded.table, recorded.at, recorded.rows)
        });
    }
}

fn effect(confirmation: &Confirmation, table: &str) -> String {
    match confirmation.tables.iter().find(|known| known.name == table) {
        None => "absent".to_owned(),
        Some(table) => table.effect.map_or("unknown", |effect| effect.as_str()).to_owned(),
    }
}

/// An effect as far as a recording can tell: whether equal rows were kept or computed anew, it cannot.
fn exact(effect: &str) -> &str {
    match effect {
        "ignored" | "recomputed" => "none",
        other => other,
    }
}

/// Which rows are wrong hangs on the rows.
fn coarse(effect: &str) -> &str {
    match exact(effect) {
        "mixed" | "wrong-rows" | "replayed" => "differs",
        other => other,
    }
}
