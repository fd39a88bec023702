//! `pipelint run` through the library: updates in a row, other code in between, a state that is kept.

use pipelint::confirm::Data;
use pipelint::engine::{FlowStatus, UpdateKind};
use pipelint::frontend::ParseCache;
use pipelint::model::QualifiedName;
use pipelint::reading::{Options, read};
use pipelint::report::run as report;
use pipelint::revision::open_one;
use pipelint::run::{Code, RunReport, Stage, State, run, schedule};
use std::path::Path;

const CONFIG: &str = "
sources:
  - name: main.raw.events
    schema: 'id BIGINT, kind STRING, amount INT'
";

fn sql(amount: &str) -> String {
    format!(
        "CREATE MATERIALIZED VIEW counts AS SELECT kind, count(*) AS n FROM main.raw.events GROUP BY kind;
         CREATE STREAMING TABLE copy AS SELECT id, {amount} AS amount FROM STREAM(main.raw.events);"
    )
}

fn code(folder: &Path, name: &str, text: &str) -> Code {
    let at = folder.join(name);
    std::fs::create_dir_all(&at).expect("a folder");
    std::fs::write(at.join("pipelint.yaml"), CONFIG).expect("a file");
    std::fs::write(at.join("pipeline.sql"), text).expect("a file");
    let tree = open_one(Some(&at.to_string_lossy()), folder).expect("the folder is there");
    let reading = read(tree.as_ref(), &Options::default(), &ParseCache::new());
    Code { label: name.to_owned(), analysis: reading.analysis }
}

fn data(folder: &Path) -> Data {
    for (batch, text) in [("batch1", "id,kind,amount\n1,a,10\n2,b,\n"), ("batch2", "id,kind,amount\n3,a,30\n")] {
        std::fs::create_dir_all(folder.join(batch)).expect("a folder");
        std::fs::write(folder.join(batch).join("main.raw.events.csv"), text).expect("a file");
    }
    std::fs::write(folder.join("batch1/orders.json"), "{\"id\": 1}\n").expect("a file");
    Data::read(folder).expect("the rows can be read")
}

fn table<'a>(report: &'a RunReport, name: &str) -> Vec<&'a serde_json::Map<String, serde_json::Value>> {
    let found = report.tables.iter().find(|table| table.name.ends_with(name));
    found.map(|table| table.rows.iter().collect()).unwrap_or_default()
}

fn a_type_that_does_not_merge_stops_the_next_update() {
    let folder = tempfile::tempdir().expect("a folder");
    let codes =
        [code(folder.path(), "before", &sql("amount")), code(folder.path(), "after", &sql("CAST(amount AS STRING)"))];
    let data = data(&folder.path().join("data"));
    let steps = schedule(&[Stage::default(), Stage::default()], 0..data.batches.len());
    let mut state = State::default();
    let outcome = run(&codes, &steps, &data, &mut state, &mut |_, _| {}).expect("the mini engine runs");
    assert!(outcome.failed());
    let second = outcome.updates.get(1).expect("two updates");
    assert!(second.flows.iter().any(|flow| matches!(&flow.status, FlowStatus::Failed { .. })), "{second:?}");
    assert_eq!(table(&outcome, "copy").len(), 2, "what was written stays");
    assert!(outcome.notes.iter().any(|note| note.contains("`orders`")), "{:?}", outcome.notes);
    let text = report::text(&outcome, false, 20);
    assert!(text.contains("failed") && text.contains("DELTA_FAILED_TO_MERGE_FIELDS"), "{text}");
}

fn a_kept_state_goes_on_with_the_batches_that_are_new() {
    let folder = tempfile::tempdir().expect("a folder");
    let codes =
        [code(folder.path(), "code", "CREATE STREAMING TABLE copy AS SELECT id, amount FROM STREAM(main.raw.events);")];
    let data = data(&folder.path().join("data"));
    let first = Data { batches: data.batches.iter().take(1).cloned().collect() };
    let at = folder.path().join("state");
    let mut state = State::read(&at).expect("nothing kept yet is an empty state");
    run(&codes, &schedule(&[Stage::default()], 0..1), &first, &mut state, &mut |_, _| {})
        .expect("the mini engine runs");
    state.write(&at).expect("the state can be kept");
    let mut kept = State::read(&at).expect("what was kept can be read");
    assert_eq!(kept, state);
    let fresh: Vec<usize> = kept.new_batches(&data).collect();
    assert_eq!(fresh, [1]);
    let outcome = run(&codes, &schedule(&[Stage::default()], fresh), &data, &mut kept, &mut |_, _| {})
        .expect("the mini engine runs");
    assert_eq!(outcome.updates.first().map(|update| update.number), Some(2));
    assert_eq!(table(&outcome, "copy").len(), 3);
    let ids: Vec<_> = table(&outcome, "copy").iter().filter_map(|row| row.get("id")?.as_i64()).collect();
    assert_eq!(ids, [1, 2, 3]);
}

fn a_full_refresh_of_a_selection_leaves_the_rest_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "CREATE STREAMING TABLE a AS SELECT id FROM STREAM(main.raw.events);
                CREATE STREAMING TABLE b AS SELECT id FROM STREAM(main.raw.events);";
    let codes = [code(folder.path(), "code", text)];
    let data = data(&folder.path().join("data"));
    let updates = vec![UpdateKind::Incremental, UpdateKind::FullRefresh(vec![QualifiedName::parse("a")])];
    let steps = schedule(&[Stage { updates }], 0..2);
    let outcome = run(&codes, &steps, &data, &mut State::default(), &mut |_, _| {}).expect("the mini engine runs");
    assert!(!outcome.failed());
    assert_eq!((table(&outcome, "a").len(), table(&outcome, "b").len()), (3, 2));
    let json: serde_json::Value = serde_json::from_str(&report::json(&outcome)).expect("JSON");
    let statuses: Vec<_> =
        json["updates"][1]["flows"].as_array().expect("flows").iter().map(|f| &f["status"]).collect();
    assert_eq!(statuses, ["completed", "not-selected"]);
}

crate::tests![
    a_type_that_does_not_merge_stops_the_next_update,
    a_kept_state_goes_on_with_the_batches_that_are_new,
    a_full_refresh_of_a_selection_leaves_the_rest_alone
];
