//! `--engine both` on real Apache Spark. Needs `pyspark[pipelines]` and Java 17, so it runs only where `PIPELINT_SPARK_TESTS` is 1;
//! `PIPELINT_PYTHON` names the Python.

#![allow(clippy::print_stdout)]

use serde_json::Value as Json;
use std::path::Path;
use std::process::Command;

/// Cases of `tests/cases/spark` with the effect and the error class that Spark shows.
const CASES: &[(&str, &str, Option<&str>)] = &[
    ("agg-filter-clause-added", "mixed", None),
    ("dedup-add-column", "refused", Some("STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE")),
];

#[test]
fn spark_and_the_mini_engine_see_the_same() {
    if std::env::var("PIPELINT_SPARK_TESTS").as_deref() != Ok("1") {
        println!("skipped: PIPELINT_SPARK_TESTS is not 1");
        return;
    }
    for (case, effect, class) in CASES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/spark").join(case);
        let output = Command::new(env!("CARGO_BIN_EXE_pipelint"))
            .current_dir(&folder)
            .args(["diff", "--before", "before", "--after", "after", "--data", "data"])
            .args(["--engine", "both", "--format", "json", "--fail-on", "never"])
            .output()
            .expect("pipelint starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains("will be executed"), "{case}: {errors}");
        let report: Json = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{case}: {error}"));
        let flow = &report["flows"][0];
        assert_eq!(flow["engines_agree"], true, "{case}: {flow:#}");
        let spark = &flow["confirmations"][1];
        assert_eq!(spark["engine"], "spark", "{case}");
        assert_eq!(spark["observed"], *effect, "{case}: {spark:#}");
        assert_eq!(spark["error_class"].as_str(), *class, "{case}: {spark:#}");
    }
}
