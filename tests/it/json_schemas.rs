//! The JSON of `lint`, `run`, `plan` and `plan --backfill` against the published schemas, on output of the program itself.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Runs pipelint in a folder and gives its JSON.
fn output(folder: &Path, arguments: &[&str]) -> Value {
    let out = Command::new(env!("CARGO_BIN_EXE_pipelint"))
        .current_dir(folder)
        .args(arguments)
        .args(["--format", "json"])
        .output()
        .expect("pipelint runs");
    assert!(matches!(out.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
}

fn is_valid(schema: &str, value: &Value) {
    let text = std::fs::read_to_string(root().join("schema").join(schema)).expect("the schema is there");
    let schema: Value = serde_json::from_str(&text).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{error} at {}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

fn is_refused(schema: &str, value: &Value, pointer: &str) {
    let mut broken = value.clone();
    *broken.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = Value::from(7.5);
    let text = std::fs::read_to_string(root().join("schema").join(schema)).expect("the schema is there");
    let schema: Value = serde_json::from_str(&text).expect("the schema is JSON");
    assert!(!jsonschema::is_valid(&schema, &broken), "{pointer} may be a number");
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
}

const CONFIG: &str = "
sources:
- {name: main.sales.orders, format: delta, schema: 'id BIGINT, v STRING, d DATE', partitioned_by: [d]}
- {name: main.sales.staging, format: delta, schema: 'id BIGINT, v STRING, d DATE'}
- {name: raw.orders, format: delta, schema: 'id BIGINT, amount INT', retention: 7 days}
";
const JOB: &str = "INSERT OVERWRITE main.sales.orders SELECT id, v, d FROM main.sales.staging;
INSERT INTO nowhere.known SELECT 1 AS a;
SELECT FROM;";
const PIPELINE: &str = "CREATE STREAMING TABLE t TBLPROPERTIES ('pipelines.reset.allowed' = 'false') AS
SELECT DISTINCT id FROM STREAM(raw.orders);
CREATE MATERIALIZED VIEW totals AS SELECT count(*) AS n FROM t;";

fn a_lint_is_as_its_schema_says() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &[("pipelint.yaml", CONFIG), ("job.sql", JOB), ("p/t.sql", PIPELINE)]);
    let lint = output(folder.path(), &["lint"]);
    assert!(lint["writes"].as_array().is_some_and(|writes| writes.len() == 2), "{}", lint["writes"]);
    assert!(lint["findings"].as_array().is_some_and(|findings| !findings.is_empty()));
    is_valid("lint-1.json", &lint);
    is_refused("lint-1.json", &lint, "/writes/0/effect");
    is_refused("lint-1.json", &lint, "/findings/0/rule");
    for case in ["batch/p-append-new-day", "iceberg-batch/conc-merge-append-new-day", "lint/unbounded-dedup"] {
        let at = root().join("tests/cases").join(case);
        let at = if at.join("job").is_dir() { at.join("job") } else { at.join("tree") };
        is_valid("lint-1.json", &output(&at, &["lint", "."]));
    }
}

fn a_run_is_as_its_schema_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = "{\"id\": 1, \"amount\": 2}\n{\"id\": 1, \"amount\": 3}\n";
    let stateless = PIPELINE.replace("DISTINCT ", "");
    write(folder.path(), &[("pipelint.yaml", CONFIG), ("p/t.sql", &stateless), ("data/batch1/raw/orders.json", rows)]);
    let run = output(folder.path(), &["run", "--data", "data"]);
    assert_eq!(run["tables"][0]["rows"].as_array().map(Vec::len), Some(2), "{}", run["tables"]);
    is_valid("run-1.json", &run);
    is_refused("run-1.json", &run, "/updates/0/flows/0/rows");
}

fn a_plan_is_as_its_schema_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let after = PIPELINE.replace("SELECT DISTINCT id", "SELECT DISTINCT id, amount");
    write(
        folder.path(),
        &[
            ("before/pipelint.yaml", CONFIG),
            ("before/p/t.sql", PIPELINE),
            ("after/pipelint.yaml", CONFIG),
            ("after/p/t.sql", &after),
        ],
    );
    let plan = output(folder.path(), &["plan", "--before", "before", "--after", "after"]);
    assert_eq!(plan["nothing_to_do"], false);
    assert!(plan["steps"]["before"]["protection"].as_array().is_some_and(|steps| !steps.is_empty()));
    is_valid("plan-1.json", &plan);
    is_refused("plan-1.json", &plan, "/steps/before/protection/0/lift/code");
    is_valid("plan-1.json", &output(folder.path(), &["plan", "--before", "before", "--after", "before"]));
}

fn a_backfill_is_as_its_schema_says() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &[("pipelint.yaml", CONFIG), ("job.sql", JOB)]);
    let days = ["--from", "2024-01-01", "--to", "2024-01-03"];
    let ask = |table: &str| output(folder.path(), &[&["plan", "--backfill", table], days.as_slice()].concat());
    let backfill = ask("main.sales.orders");
    assert_eq!(backfill["backfill"]["confirmation"]["holds"], true, "{}", backfill["backfill"]["confirmation"]);
    is_valid("backfill-1.json", &backfill);
    is_refused("backfill-1.json", &backfill, "/backfill/chunks/0/code");
}

crate::tests![
    a_lint_is_as_its_schema_says,
    a_run_is_as_its_schema_says,
    a_plan_is_as_its_schema_says,
    a_backfill_is_as_its_schema_says
];
