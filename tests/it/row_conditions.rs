//! Expectations and REPLACE flows on the mini engine: which rows a table keeps, update after update.

use pipelint::analyze::Analysis;
use pipelint::confirm::sources;
use pipelint::engine::{FlowStatus, NullCondition, UpdateKind, World, contents, dataset_location, update_all};
use pipelint::frontend::ParseCache;
use pipelint::model::Value;
use pipelint::reading::{Options, read};
use pipelint::revision::open_one;
use serde_json::json;

const CONFIG: &str = "
platform: lakeflow
sources:
  - name: main.raw.events
    format: delta
    schema: 'id BIGINT, kind STRING, amount INT, seq INT'
";

fn analysis(file: &str, text: &str) -> Analysis {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("pipelint.yaml"), CONFIG).expect("a file");
    std::fs::write(folder.path().join(file), text).expect("a file");
    let tree = open_one(Some(&folder.path().to_string_lossy()), folder.path()).expect("the folder is there");
    read(tree.as_ref(), &Options::default(), &ParseCache::new()).analysis
}

fn sql(text: &str) -> Analysis {
    analysis("pipeline.sql", text)
}

/// `id, kind, amount, seq` of the source.
type Event = (i64, &'static str, Option<i64>, Option<i64>);

/// Lets events arrive and updates; gives the failed flow's error class, or "completed".
fn update(world: &mut World, analysis: &Analysis, events: &[Event]) -> String {
    let set = sources(analysis, analysis);
    let rows: Vec<_> = events
        .iter()
        .map(|(id, kind, amount, seq)| {
            let row = json!({ "id": id, "kind": kind, "amount": amount, "seq": seq });
            row.as_object().expect("an object").clone()
        })
        .collect();
    for facts in &set.before {
        world.define_source(facts, "delta");
        if !rows.is_empty() {
            let name = format!("batch{}", world.updates);
            world.load(facts, &name, rows.clone());
        }
    }
    let reports = update_all(world, analysis, &UpdateKind::Incremental);
    let failed = reports.iter().flat_map(|report| &report.flows).find_map(|flow| match &flow.status {
        FlowStatus::Failed { error, .. } => Some(format!("{}: {}", error.class, error.message)),
        _ => None,
    });
    failed.unwrap_or_else(|| "completed".to_owned())
}

/// Values of the columns of a table, sorted, as text.
fn table(world: &World, analysis: &Analysis, name: &str) -> Vec<String> {
    let datasets = analysis.workspace.pipelines.iter().flat_map(|pipeline| &pipeline.datasets);
    let place = datasets.filter(|dataset| dataset.name.name == name).find_map(dataset_location).expect("a table");
    let text = |value: &Value| match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.to_string(),
        Value::Long(number) => number.to_string(),
        Value::Int(number) => number.to_string(),
        other => format!("{other:?}"),
    };
    let rows = world.tables.get(&place).map(|table| contents(table).rows).unwrap_or_default();
    let mut rows: Vec<String> = rows.iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join(" ")).collect();
    rows.sort();
    rows
}

fn with_expectations(clauses: &str) -> Analysis {
    sql(&format!("CREATE STREAMING TABLE t ({clauses}) AS SELECT id, amount FROM STREAM(main.raw.events)"))
}

const THREE: &[Event] = &[(1, "a", Some(5), Some(1)), (2, "a", Some(-5), Some(1)), (3, "b", None, Some(1))];

fn a_violating_row_is_kept_dropped_or_stops_the_update() {
    for (action, outcome, rows) in [
        ("", "completed", &["1 5", "2 -5", "3 -"][..]),
        (" ON VIOLATION DROP ROW", "completed", &["1 5"]),
        (
            " ON VIOLATION FAIL UPDATE",
            "EXPECTATION_VIOLATION: flow `t` failed to meet the expectation: violated is `ok`",
            &[],
        ),
    ] {
        let analysis = with_expectations(&format!("CONSTRAINT ok EXPECT (amount > 0){action}"));
        let mut world = World::new();
        assert_eq!(update(&mut world, &analysis, THREE), outcome, "{action}");
        assert_eq!(table(&world, &analysis, "t"), rows, "{action}");
    }
}

fn what_null_does_is_the_reading_s() {
    for (reading, drop, fail) in [
        (NullCondition::Violates, &["1 5"][..], "EXPECTATION_VIOLATION"),
        (NullCondition::Holds, &["1 5", "3 -"], "completed"),
    ] {
        let analysis = with_expectations("CONSTRAINT ok EXPECT (amount > 0) ON VIOLATION DROP ROW");
        let mut world = World::reading(reading);
        update(&mut world, &analysis, THREE);
        assert_eq!(table(&world, &analysis, "t"), drop);
        let analysis = with_expectations("CONSTRAINT ok EXPECT (amount > 0) ON VIOLATION FAIL UPDATE");
        let outcome = update(&mut World::reading(reading), &analysis, &[(3, "b", None, None)]);
        assert!(outcome.starts_with(fail), "{outcome}");
    }
}

fn every_expectation_of_a_table_counts_for_every_flow_into_it() {
    let analysis = sql("CREATE STREAMING TABLE t (
           CONSTRAINT positive EXPECT (amount > 0) ON VIOLATION DROP ROW,
           CONSTRAINT known EXPECT (kind IN ('a', 'b')) ON VIOLATION DROP ROW);
         CREATE FLOW one AS INSERT INTO t BY NAME SELECT id, kind, amount FROM STREAM(main.raw.events);
         CREATE FLOW two AS INSERT INTO t BY NAME SELECT id + 10 AS id, kind, amount FROM STREAM(main.raw.events)");
    let mut world = World::new();
    update(&mut world, &analysis, &[(1, "a", Some(5), None), (2, "c", Some(5), None), (3, "b", Some(0), None)]);
    assert_eq!(table(&world, &analysis, "t"), ["1 a 5", "11 a 5"]);
}

fn rows_are_dropped_after_the_query_and_not_from_its_state() {
    let first_of_each = |expectation: &str| {
        let query = "spark.readStream.table('main.raw.events').select('id', 'amount').dropDuplicates(['id'])";
        analysis("pipeline.py", &format!("import dlt\n\n@dlt.table\n{expectation}def t():\n    return {query}\n"))
    };
    let (checked, unchecked) = (first_of_each("@dlt.expect_or_drop('ok', 'amount > 0')\n"), first_of_each(""));
    let mut world = World::new();
    assert_eq!(update(&mut world, &checked, &[(1, "a", Some(-5), None)]), "completed");
    assert_eq!(table(&world, &checked, "t"), [""; 0]);
    // The dropped row was seen: its key does not come again when the expectation has gone.
    update(&mut world, &unchecked, &[(1, "a", Some(-4), None), (2, "a", Some(-1), None)]);
    assert_eq!(table(&world, &unchecked, "t"), ["2 -1"]);
}

fn a_view_s_readers_get_what_its_expectations_leave() {
    let analysis = sql("CREATE TEMPORARY VIEW v (CONSTRAINT ok EXPECT (amount > 0) ON VIOLATION DROP ROW)
           AS SELECT id, amount FROM STREAM(main.raw.events);
         CREATE STREAMING TABLE t AS SELECT id FROM STREAM(v);
         CREATE MATERIALIZED VIEW m (CONSTRAINT late EXPECT (id > 1) ON VIOLATION DROP ROW)
           AS SELECT id FROM main.raw.events");
    let mut world = World::new();
    assert_eq!(update(&mut world, &analysis, THREE), "completed");
    assert_eq!(table(&world, &analysis, "t"), ["1"]);
    assert_eq!(table(&world, &analysis, "m"), ["2", "3"]);
}

fn a_condition_that_is_not_known_is_not_guessed() {
    let analysis = with_expectations("CONSTRAINT ok EXPECT (missing > 0) ON VIOLATION DROP ROW");
    let outcome = update(&mut World::new(), &analysis, THREE);
    assert!(outcome.starts_with("UNSUPPORTED_PLAN: the expectation `ok`: "), "{outcome}");
    let gaps: Vec<_> = analysis.flows.iter().flat_map(|flow| &flow.unresolved).collect();
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    assert_eq!((gaps[0].code.as_str(), gaps[0].what.as_str()), ("unknown-predicate", "expectation ok"));
    assert!(gaps[0].span.is_some());
    let computed = analysis_of_python("'amount > ' + str(spark.conf.get('limit'))");
    let outcome = update(&mut World::new(), &computed, THREE);
    assert_eq!(outcome, "UNSUPPORTED_PLAN: the expectation `ok`: the condition is only known at run time");
}

fn analysis_of_python(condition: &str) -> Analysis {
    analysis(
        "pipeline.py",
        &format!(
            "import dlt\n\n@dlt.table\n@dlt.expect_or_drop('ok', {condition})\ndef t():\n    \
             return spark.readStream.table('main.raw.events').select('id', 'amount')\n"
        ),
    )
}

fn python_s_decorators_say_the_same() {
    for condition in ["'amount > 0'", "'amount' + ' > 0'"] {
        let analysis = analysis_of_python(condition);
        let mut world = World::new();
        update(&mut world, &analysis, THREE);
        assert_eq!(table(&world, &analysis, "t"), ["1 5"], "{condition}");
    }
}

fn change_events_are_checked_and_deletes_are_left_open() {
    let analysis = sql("CREATE STREAMING TABLE t (CONSTRAINT ok EXPECT (amount > 0) ON VIOLATION DROP ROW);
         CREATE FLOW f AS AUTO CDC INTO t FROM STREAM(main.raw.events) KEYS (id)
           APPLY AS DELETE WHEN kind = 'delete' SEQUENCE BY seq COLUMNS * EXCEPT (kind, seq)");
    let mut world = World::new();
    let events = [(1, "upsert", Some(5), Some(1)), (1, "upsert", Some(-5), Some(2)), (2, "upsert", Some(7), Some(1))];
    assert_eq!(update(&mut world, &analysis, &events), "completed");
    assert_eq!(table(&world, &analysis, "t"), ["1 5", "2 7"]);
    assert_eq!(update(&mut world, &analysis, &[(2, "delete", Some(7), Some(3))]), "completed");
    assert_eq!(table(&world, &analysis, "t"), ["1 5"]);
    let outcome = update(&mut world, &analysis, &[(1, "delete", None, Some(3))]);
    assert!(outcome.starts_with("UNSUPPORTED_PLAN: a delete event violates the expectation `ok`"), "{outcome}");
}

fn a_range_is_replaced_and_the_rest_stays() {
    let range = |predicate: &str| {
        sql(&format!(
            "CREATE STREAMING TABLE t FLOW REPLACE WHERE {predicate} BY NAME SELECT kind, count(*) AS n, max(seq) AS seq
             FROM main.raw.events GROUP BY kind"
        ))
    };
    let all = range("kind IN ('a', 'b')");
    let mut world = World::new();
    let events = [(1, "a", None, Some(1)), (2, "b", None, Some(1)), (3, "c", None, Some(1))];
    assert_eq!(update(&mut world, &all, &events), "completed");
    assert_eq!(table(&world, &all, "t"), ["a 1 1", "b 1 1"], "the predicate counts for the query too");
    let narrow = range("kind = 'a'");
    update(&mut world, &narrow, &[(4, "a", None, Some(2)), (5, "b", None, Some(2))]);
    assert_eq!(table(&world, &narrow, "t"), ["a 2 2", "b 1 1"]);
    let table_of = |world: &World| world.tables.values().find(|table| table.location.ends_with('t')).cloned();
    let writers: Vec<_> = table_of(&world).expect("the table").files().iter().map(|file| file.writer.clone()).collect();
    assert_eq!(writers, [Some("t".to_owned()), Some("t".to_owned())]);
    let unknown = range("missing = 'a'");
    let outcome = update(&mut world, &unknown, &[]);
    assert!(outcome.starts_with("UNSUPPORTED_PLAN: the predicate of REPLACE WHERE: "), "{outcome}");
}

/// Events of any kind from a seed: values repeat, and some are missing.
fn events(seed: u64, count: i64) -> Vec<Event> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut draw = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        i64::try_from(state % below).expect("a small number")
    };
    (0..count)
        .map(|_| {
            let kind = ["a", "b", "c"][usize::try_from(draw(3)).expect("an index")];
            let amount = Some(draw(20) - 10).filter(|amount| *amount != 7);
            (draw(4), kind, amount, Some(draw(6)))
        })
        .collect()
}

fn dropping_rows_of_a_stateless_query_is_filtering_them() {
    let query = "SELECT id, kind, amount + 1 AS amount FROM STREAM(main.raw.events)";
    let condition = "amount > 2 OR kind = 'b' AND amount IS NOT NULL";
    let checked =
        sql(&format!("CREATE STREAMING TABLE t (CONSTRAINT c EXPECT ({condition}) ON VIOLATION DROP ROW) AS {query}"));
    let filtered = sql(&format!("CREATE STREAMING TABLE t AS SELECT * FROM ({query}) WHERE {condition}"));
    for seed in 1..=20 {
        let (mut left, mut right) = (World::new(), World::new());
        for part in events(seed, 30).chunks(11) {
            assert_eq!(update(&mut left, &checked, part), "completed");
            update(&mut right, &filtered, part);
        }
        assert_eq!(table(&left, &checked, "t"), table(&right, &filtered, "t"), "seed {seed}");
    }
}

fn replacing_a_range_again_changes_nothing_and_replacing_keys_minds_no_order() {
    let range = sql(
        "CREATE STREAMING TABLE t FLOW REPLACE WHERE kind < 'c' BY NAME SELECT kind, sum(amount) AS n FROM main.raw.events GROUP BY kind",
    );
    let keys = sql(
        "CREATE STREAMING TABLE t FLOW REPLACE USING (id) SEQUENCE BY seq BY NAME SELECT id, kind, amount, seq FROM STREAM(main.raw.events)",
    );
    for seed in 1..=20 {
        let all = events(seed, 24);
        let mut world = World::new();
        update(&mut world, &range, &all);
        let once = table(&world, &range, "t");
        update(&mut world, &range, &[]);
        assert_eq!(table(&world, &range, "t"), once, "seed {seed}");
        let newest = |event: &&Event| all.iter().filter(|other| other.0 == event.0).all(|other| other.3 <= event.3);
        let shown = |event: &Event| {
            let number = |n: Option<i64>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
            format!("{} {} {} {}", event.0, event.1, number(event.2), number(event.3))
        };
        let mut expected: Vec<String> = all.iter().filter(newest).map(shown).collect();
        expected.sort();
        for size in [1, 5, 24] {
            let mut world = World::new();
            for part in all.chunks(size) {
                update(&mut world, &keys, part);
            }
            assert_eq!(table(&world, &keys, "t"), expected, "seed {seed}, {size} a batch");
        }
    }
}

fn flows_that_replace_take_the_kind_of_query_that_is_documented() {
    for (clause, read) in [
        ("REPLACE WHERE kind = 'a'", "STREAM(main.raw.events)"),
        ("REPLACE USING (id) SEQUENCE BY seq", "main.raw.events"),
    ] {
        let analysis = sql(&format!("CREATE STREAMING TABLE t FLOW {clause} BY NAME SELECT id, kind, seq FROM {read}"));
        let outcome = update(&mut World::new(), &analysis, THREE);
        assert!(outcome.starts_with("UNSUPPORTED_PLAN: "), "{clause}: {outcome}");
    }
}

fn python_says_what_is_replaced_in_arguments() {
    let whole = |decorator: &str, read: &str| {
        let text = format!(
            "from pyspark import pipelines as dp\nfrom pyspark.sql.functions import col\n\n{decorator}\ndef t():\n    \
             return spark.{read}.table('main.raw.events').select('id', 'kind', 'seq')\n"
        );
        analysis("pipeline.py", &text)
    };
    let range = whole("@dp.table(replace_where=col('kind') == 'a')", "read");
    let mut world = World::new();
    update(&mut world, &range, &[(1, "a", None, Some(1)), (2, "b", None, Some(1))]);
    assert_eq!(table(&world, &range, "t"), ["1 a 1"]);
    let flow = "dp.create_streaming_table('t')\n\n@dp.replace_flow(target='t', replace_using=['id'], sequence_by='seq', name='f')";
    for keys in
        [whole("@dp.table(replace_using=['id'], sequence_by=col('seq'))", "readStream"), whole(flow, "readStream")]
    {
        let mut world = World::new();
        update(&mut world, &keys, &[(1, "a", None, Some(2)), (2, "b", None, Some(1))]);
        update(&mut world, &keys, &[(1, "c", None, Some(1)), (2, "d", None, Some(2))]);
        assert_eq!(table(&world, &keys, "t"), ["1 a 2", "2 d 2"]);
    }
}

/// The tables of docs.databricks.com, "REPLACE USING flows".
fn the_highest_sequence_of_a_key_replaces_its_rows() {
    let analysis = sql("CREATE STREAMING TABLE t FLOW REPLACE USING (id) SEQUENCE BY seq BY NAME
         SELECT id, kind, seq FROM STREAM(main.raw.events)");
    let mut world = World::new();
    let first = [
        (1, "ios", None, Some(1)),
        (1, "android", None, Some(1)),
        (2, "ios", None, Some(1)),
        (2, "desktop", None, Some(1)),
    ];
    assert_eq!(update(&mut world, &analysis, &first), "completed");
    assert_eq!(table(&world, &analysis, "t"), ["1 android 1", "1 ios 1", "2 desktop 1", "2 ios 1"]);
    let second = [
        (1, "ios", None, Some(2)),
        (1, "android", None, Some(2)),
        (1, "desktop", None, Some(2)),
        (3, "ios", None, Some(1)),
        (3, "desktop", None, Some(2)),
    ];
    update(&mut world, &analysis, &second);
    let after = ["1 android 2", "1 desktop 2", "1 ios 2", "2 desktop 1", "2 ios 1", "3 desktop 2"];
    assert_eq!(table(&world, &analysis, "t"), after);
    // A lower sequence comes too late; an equal one is appended.
    update(&mut world, &analysis, &[(1, "old", None, Some(1)), (2, "new", None, Some(1))]);
    let after = ["1 android 2", "1 desktop 2", "1 ios 2", "2 desktop 1", "2 ios 1", "2 new 1", "3 desktop 2"];
    assert_eq!(table(&world, &analysis, "t"), after);
    let outcome = update(&mut world, &analysis, &[(4, "x", None, None)]);
    assert!(outcome.contains("a NULL key or sequence is not documented"), "{outcome}");
}

crate::tests![
    a_violating_row_is_kept_dropped_or_stops_the_update,
    what_null_does_is_the_reading_s,
    every_expectation_of_a_table_counts_for_every_flow_into_it,
    rows_are_dropped_after_the_query_and_not_from_its_state,
    a_view_s_readers_get_what_its_expectations_leave,
    a_condition_that_is_not_known_is_not_guessed,
    python_s_decorators_say_the_same,
    change_events_are_checked_and_deletes_are_left_open,
    a_range_is_replaced_and_the_rest_stays,
    dropping_rows_of_a_stateless_query_is_filtering_them,
    replacing_a_range_again_changes_nothing_and_replacing_keys_minds_no_order,
    flows_that_replace_take_the_kind_of_query_that_is_documented,
    python_says_what_is_replaced_in_arguments,
    the_highest_sequence_of_a_key_replaces_its_rows
];
