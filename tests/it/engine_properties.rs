//! What must hold of the mini engine whatever the pipeline: over every BEFORE of `tests/cases/spark`, on generated rows.

use pipelint::analyze::{Analysis, analyze};
use pipelint::confirm::{Batch, Data, Experiment, Mini, Options, confirm, generated, sources};
use pipelint::engine::{FlowStatus, UpdateKind, World, contents, dataset_location, update};
use pipelint::frontend::{ParseCache, load, sql};
use pipelint::model::{DatasetKind, Effect};
use pipelint::project;
use pipelint::revision::open_one;
use std::path::{Path, PathBuf};

fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/spark");
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(root).expect("cases").map(|entry| entry.expect("entry").path().join("before")).collect();
    folders.retain(|folder| folder.is_dir());
    folders.sort();
    folders
}

fn analysis(folder: &Path) -> Analysis {
    let tree = open_one(folder.to_str(), folder).expect("the folder opens");
    let parse = |text: &str| sql::parse_schema_ddl(text);
    let project = project::discover(tree.as_ref(), &project::Options::new(&parse));
    analyze(load(tree.as_ref(), project, &ParseCache::new()))
}

/// A case's name, for messages.
fn name(folder: &Path) -> String {
    let case = folder.parent().and_then(Path::file_name).unwrap_or_default();
    case.to_string_lossy().into_owned()
}

/// One update of every pipeline; false where a flow failed.
fn run(world: &mut World, analysis: &Analysis, kind: &UpdateKind) -> bool {
    (0..analysis.workspace.pipelines.len())
        .flat_map(|pipeline| update(world, analysis, pipeline, kind).flows)
        .all(|flow| matches!(flow.status, FlowStatus::Completed(_)))
}

/// Rows of every table that the pipelines own, in no order; sinks are not theirs.
fn tables(world: &World, analysis: &Analysis) -> Vec<(String, Vec<String>)> {
    let pipelines = &analysis.workspace.pipelines;
    let owned = pipelines.iter().flat_map(|p| &p.datasets).filter(|dataset| dataset.kind != DatasetKind::Sink);
    owned
        .filter_map(dataset_location)
        .map(|place| {
            let rows = world.tables.get(&place).map(|table| contents(table).rows).unwrap_or_default();
            let mut rows: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
            rows.sort();
            (place, rows)
        })
        .collect()
}

fn loaded(world: &mut World, analysis: &Analysis, batches: &[(usize, &Batch)]) {
    let set = sources(analysis, analysis);
    for facts in &set.before {
        world.define_source(facts, "parquet");
        for (number, batch) in batches {
            if let Some(rows) = batch.rows(&facts.name) {
                world.load(facts, &format!("batch{number}"), rows.clone());
            }
        }
    }
}

fn resuming_unchanged_code_equals_the_control() {
    for folder in folders() {
        let analysis = analysis(&folder);
        let confirmation = confirm(&analysis, &analysis, &Options { seeds: vec![1, 2], ..Options::default() });
        for flow in confirmation.flows {
            let fine = matches!(flow.observed, None | Some(Effect::None));
            assert!(fine, "{}: {} is {:?} without a change", name(&folder), flow.flow, flow.observed);
        }
    }
}

fn an_experiment_is_deterministic_and_outlives_saving() {
    for folder in folders().into_iter().step_by(5) {
        let analysis = analysis(&folder);
        let set = sources(&analysis, &analysis);
        let data = generated(&analysis, &analysis, 3);
        let experiment = Experiment { before: &analysis, after: &analysis, sources: &set, updates: &[] };
        let (first, second) = (Mini::default().worlds(&experiment, &data), Mini::default().worlds(&experiment, &data));
        assert_eq!(first.resumed, second.resumed, "{}", name(&folder));
        let saved = World::from_json(&first.resumed.to_json()).expect("what is saved is read");
        assert_eq!(tables(&saved, &analysis), tables(&first.resumed, &analysis), "{}", name(&folder));
    }
}

fn a_full_refresh_equals_a_run_from_nothing() {
    for folder in folders() {
        let analysis = analysis(&folder);
        let data = generated(&analysis, &analysis, 1);
        let [first, second] = data.batches.as_slice() else { panic!("two batches") };
        let mut refreshed = World::new();
        loaded(&mut refreshed, &analysis, &[(1, first)]);
        let fine = run(&mut refreshed, &analysis, &UpdateKind::Incremental);
        loaded(&mut refreshed, &analysis, &[(2, second)]);
        let jobs = analysis.workspace.pipelines.iter().any(|p| p.kind == pipelint::model::PipelineKind::Jobs);
        let protected = analysis.workspace.pipelines.iter().flat_map(|p| &p.datasets).any(|d| d.is_protected());
        if !fine || jobs || protected || !run(&mut refreshed, &analysis, &UpdateKind::FullRefreshAll) {
            continue;
        }
        let mut control = World::new();
        // The clock of the engine counts updates.
        control.updates = 1;
        loaded(&mut control, &analysis, &[(1, first), (2, second)]);
        run(&mut control, &analysis, &UpdateKind::Incremental);
        // A counter source has no end: the refresh and the first run see as much of it.
        assert_eq!(tables(&refreshed, &analysis), tables(&control, &analysis), "{}", name(&folder));
    }
}

fn splitting_a_batch_in_two_never_changes_a_stateless_table() {
    for folder in folders() {
        let analysis = analysis(&folder);
        let stateless = analysis.flows.iter().all(|flow| {
            let endless =
                flow.plan.reads().iter().any(|read| matches!(read.source, pipelint::model::Source::Connector { .. }));
            flow.signature.operators.is_empty() && !endless && flow.cdc.is_none()
        });
        let text = format!("{:?}", analysis.flows.iter().map(|flow| &flow.plan).collect::<Vec<_>>());
        if !stateless || text.contains("\"rand\"") || text.contains("\"current_timestamp\"") {
            continue;
        }
        let data = generated(&analysis, &analysis, 2);
        let [first, second] = data.batches.as_slice() else { panic!("two batches") };
        let (mut whole, mut split) = (World::new(), World::new());
        loaded(&mut whole, &analysis, &[(1, first), (2, second)]);
        let fine = run(&mut whole, &analysis, &UpdateKind::Incremental);
        loaded(&mut split, &analysis, &[(1, first)]);
        let fine = run(&mut split, &analysis, &UpdateKind::Incremental) && fine;
        loaded(&mut split, &analysis, &[(2, second)]);
        if fine && run(&mut split, &analysis, &UpdateKind::Incremental) && !joins_a_table(&analysis) {
            assert_eq!(tables(&whole, &analysis), tables(&split, &analysis), "{}", name(&folder));
        }
    }
}

/// A stream joined with a table sees the table as it is at each batch.
fn joins_a_table(analysis: &Analysis) -> bool {
    analysis.flows.iter().any(|flow| flow.streaming && flow.plan.reads().iter().any(|read| !read.streaming))
}

fn no_rows_at_all_are_no_trouble() {
    for folder in folders().into_iter().step_by(3) {
        let analysis = analysis(&folder);
        let data = Data { batches: vec![Batch::default(), Batch::default()] };
        confirm(&analysis, &analysis, &Options { data: Some(data), ..Options::default() });
    }
}

crate::tests![
    resuming_unchanged_code_equals_the_control,
    an_experiment_is_deterministic_and_outlives_saving,
    a_full_refresh_equals_a_run_from_nothing,
    splitting_a_batch_in_two_never_changes_a_stateless_table,
    no_rows_at_all_are_no_trouble
];
