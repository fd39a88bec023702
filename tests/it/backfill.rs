//! `pipelint plan --backfill` through the library: the printed statements for each kind of table, what running one chunk twice on
//! the engine shows, and the tables for which there is nothing to print.

use pipelint::backfill::{Backfill, Form, Input, Proof, Range, Refusal, Request, backfill};
use pipelint::reading::Options;
use pipelint::report;
use pipelint::revision::open_one;
use std::path::Path;

const CONFIG: &str = "
sources:
- {name: main.sales.orders, format: delta, schema: 'id BIGINT, v STRING, d DATE', partitioned_by: [d]}
- {name: main.sales.clicks, format: iceberg, schema: 'id BIGINT, v STRING, ts TIMESTAMP', partitioned_by: ['days(ts)']}
- {name: main.sales.monthly, format: iceberg, schema: 'id BIGINT, v STRING, ts TIMESTAMP', partitioned_by: ['months(ts)']}
- {name: main.sales.files, format: parquet, schema: 'id BIGINT, d DATE, v STRING', partitioned_by: [d]}
- {name: lake/visits, format: orc, schema: 'id BIGINT, v STRING, d DATE', partitioned_by: [d]}
- {name: main.sales.unfilled, format: delta, schema: 'id BIGINT, ds STRING', partitioned_by: [ds]}
- {name: main.sales.stamped, format: delta, schema: 'id BIGINT, at TIMESTAMP, d DATE', partitioned_by: [d]}
- {name: main.sales.regions, format: delta, schema: 'id BIGINT, region STRING, d DATE', partitioned_by: [region]}
- {name: main.sales.users, format: delta, schema: 'id BIGINT, v STRING'}
- {name: main.sales.staging, format: delta, schema: 'id BIGINT, v STRING, d DATE'}
- {name: main.sales.raw, format: delta, schema: 'id BIGINT, v STRING, ts TIMESTAMP'}
- {name: raw.orders, format: delta, schema: 'id BIGINT, amount INT, d DATE'}
- {name: raw.logins, format: delta, schema: 'id BIGINT, day DATE, seen DATE'}
";

const JOBS: &str =
    "INSERT OVERWRITE main.sales.orders SELECT id, v, d FROM main.sales.staging WHERE d = DATE '2020-01-01';
INSERT INTO main.sales.clicks SELECT id, upper(v) AS v, ts FROM main.sales.raw WHERE id > 0;
INSERT INTO main.sales.stamped SELECT id, current_timestamp() AS at, d FROM main.sales.staging;
";

const PYTHON: &str = "df = spark.table('main.sales.staging').where(\"d = '2024-01-02'\")
df.write.mode('append').insertInto('main.sales.files')
df.write.mode('append').partitionBy('d').orc('lake/visits')
spark.table('main.sales.raw').writeTo('main.sales.monthly').append()
";

const PIPELINE: &str = "CREATE OR REFRESH STREAMING TABLE st_orders AS
SELECT id, amount * 2 AS amount, d FROM STREAM(raw.orders);
CREATE OR REFRESH STREAMING TABLE st_copy AS SELECT * FROM STREAM(st_orders);
CREATE OR REFRESH STREAMING TABLE logins AS SELECT id, day, seen FROM STREAM(raw.logins);
CREATE OR REFRESH MATERIALIZED VIEW totals AS SELECT d, sum(amount) AS s FROM st_orders GROUP BY d;
CREATE OR REFRESH STREAMING TABLE people;
CREATE FLOW people_cdc AS AUTO CDC INTO people FROM STREAM(raw.logins) KEYS (id) SEQUENCE BY day;
";

const PYTHON_PIPELINE: &str = "from pyspark import pipelines as dp

@dp.table
def py_orders():
    return spark.readStream.table('raw.orders').select('id', 'd')
";

fn ask(request: &Request) -> Result<Backfill, Refusal> {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        ("pipelint.yaml", CONFIG),
        ("jobs/daily.sql", JOBS),
        ("jobs/files.py", PYTHON),
        ("pipelines/orders.sql", PIPELINE),
        ("pipelines/orders.py", PYTHON_PIPELINE),
    ];
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    let tree = open_one(folder.path().to_str(), Path::new(".")).expect("the folder is there");
    backfill(tree.as_ref(), &Options::default(), request)
}

fn request(table: &str, from: &str, to: &str) -> Request {
    let day = |text: &str| text.parse().expect("a day");
    let range = Range::new(day(from), day(to)).expect("a range");
    Request { table: table.to_owned(), range, chunk_days: 1, column: None }
}

fn of(table: &str) -> Backfill {
    ask(&request(table, "2024-03-01", "2024-03-03")).unwrap_or_else(|refusal| panic!("{table}: {}", refusal.message))
}

fn refused(table: &str) -> String {
    ask(&request(table, "2024-03-01", "2024-03-03")).expect_err("nothing to print").message
}

fn first_code(backfill: &Backfill) -> &str {
    &backfill.chunks.first().expect("a chunk").code
}

fn holds(backfill: &Backfill) {
    assert!(backfill.proof.holds(), "{}: {:?}\n{}", backfill.table, backfill.proof, first_code(backfill));
}

fn a_delta_table_is_replaced_by_a_predicate_that_its_query_is_limited_to() {
    let backfill = of("main.sales.orders");
    assert_eq!(
        first_code(&backfill),
        "INSERT INTO main.sales.orders REPLACE WHERE d >= DATE '2024-03-01' AND d < DATE '2024-03-02'\n\
         SELECT id, v, d FROM main.sales.staging WHERE d >= DATE '2024-03-01' AND d < DATE '2024-03-02';"
    );
    assert_eq!(backfill.form, Form::ReplaceWhere);
    assert_eq!(backfill.chunks.len(), 2);
    assert_eq!(backfill.writers.iter().map(|writer| writer.name.as_str()).collect::<Vec<_>>(), ["jobs/daily.sql"]);
    assert!(
        backfill
            .script
            .contains("INSERT INTO main.sales.orders_backfill_log VALUES (DATE '2024-03-02', DATE '2024-03-03'")
    );
    holds(&backfill);
}

fn an_iceberg_table_is_overwritten_by_days_of_utc() {
    let backfill = of("clicks");
    assert_eq!(backfill.form, Form::OverwriteByCondition);
    assert!(matches!(&backfill.input, Input::Query { sql } if sql.starts_with("SELECT id, upper(v) AS v")));
    assert!(first_code(&backfill).contains("ts >= TIMESTAMP '2024-03-01T00:00:00Z'"));
    holds(&backfill);
}

fn tables_and_folders_of_files_take_dynamic_overwrite_in_the_language_of_their_writer() {
    let table = of("main.sales.files");
    assert_eq!(table.form, Form::DynamicOverwrite);
    // The catalog keeps the partition column last, and insertInto goes by position.
    assert!(first_code(&table).contains(".select(\"id\", \"v\", \"d\")"), "{}", first_code(&table));
    assert!(table.script.contains(".where(f\"d >= DATE '{start}' AND d < DATE '{end}'\")"), "{}", table.script);
    holds(&table);
    let folder = of("lake/visits");
    assert!(first_code(&folder).contains(".option(\"partitionOverwriteMode\", \"dynamic\")"));
    holds(&folder);
}

fn months_are_filled_as_a_whole_or_not_at_all() {
    let whole = ask(&request("monthly", "2024-03-01", "2024-05-01")).expect("two months");
    assert_eq!(whole.chunks.len(), 2);
    holds(&whole);
    assert!(refused("monthly").contains("months"));
}

fn a_table_that_nothing_fills_gets_a_place_for_its_query() {
    let backfill = of("main.sales.unfilled");
    assert!(matches!(&backfill.input, Input::ByHand { view, .. } if view == "unfilled_rows"));
    assert!(backfill.notes.iter().any(|note| note.contains("2024-01-31")), "{:?}", backfill.notes);
    assert!(matches!(backfill.proof, Proof::Ran { stand_in: true, .. }));
    holds(&backfill);
}

fn a_query_with_the_time_of_the_run_is_seen_not_to_hold() {
    let backfill = of("stamped");
    assert!(
        matches!(&backfill.proof, Proof::Ran { effect, .. } if effect == "values-changed-at-run-2"),
        "{:?}",
        backfill.proof
    );
    assert!(report::backfill::markdown(&backfill).contains("**It does not hold"));
}

fn a_streaming_table_gets_once_flows_that_bring_back_what_was_deleted() {
    let sql = of("st_orders");
    assert_eq!(
        first_code(&sql),
        "CREATE FLOW st_orders_backfill_2024_03_01 AS\nINSERT INTO ONCE st_orders BY NAME\nSELECT * FROM (\n  \
         SELECT id, amount * 2 AS amount, d FROM raw.orders\n) WHERE d >= DATE '2024-03-01' AND d < DATE '2024-03-02';"
    );
    assert_eq!(sql.readers.iter().map(|reader| reader.name.as_str()).collect::<Vec<_>>(), ["st_copy"]);
    holds(&sql);
    let python = of("py_orders");
    assert!(first_code(&python).contains("once=True"));
    assert!(
        first_code(&python).ends_with("AND d < DATE '2024-03-02'\").select(\"id\", \"d\")"),
        "{}",
        first_code(&python)
    );
    holds(&python);
    let text = report::backfill::markdown(&sql);
    for part in
        ["databricks pipelines stop", "DELETE FROM st_orders", "brought back what was deleted", "startingTimestamp"]
    {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
}

fn tables_without_a_day_and_tables_that_are_computed_are_refused() {
    assert!(refused("users").contains("is not partitioned"));
    assert!(refused("regions").contains("partitioned by region, not by a day"));
    assert!(refused("totals").contains("materialized view"));
    assert!(refused("people").contains("AUTO CDC"));
    assert!(refused("nowhere").contains("no table `nowhere`"));
    assert!(refused("logins").contains("several columns that hold a day: day, seen"));
    let mut named = request("logins", "2024-03-01", "2024-03-02");
    named.column = Some("seen".to_owned());
    assert!(first_code(&ask(&named).expect("a column is named")).contains("seen >= DATE"));
}

crate::tests![
    a_delta_table_is_replaced_by_a_predicate_that_its_query_is_limited_to,
    an_iceberg_table_is_overwritten_by_days_of_utc,
    tables_and_folders_of_files_take_dynamic_overwrite_in_the_language_of_their_writer,
    months_are_filled_as_a_whole_or_not_at_all,
    a_table_that_nothing_fills_gets_a_place_for_its_query,
    a_query_with_the_time_of_the_run_is_seen_not_to_hold,
    a_streaming_table_gets_once_flows_that_bring_back_what_was_deleted,
    tables_without_a_day_and_tables_that_are_computed_are_refused
];
