//! The mini engine against what Apache Spark was recorded to do with the same change on the same rows.
//!
//! A case is a folder below `tests/cases/spark` (declarative pipelines on Spark 4.3) or `tests/cases/iceberg` (plain streaming
//! jobs on Spark 3.5 with Iceberg), or one of another family that Spark was asked about too: both revisions, the rows of two batches, and in `case.yaml` and `spark.jsonl` what Spark
//! did. Compared are the effect on every table, the class of an error, and the rows of every table at each moment.
//! Where the engine is known to disagree, `disagrees:` in the case says of what (`effect`, `error`, `rows`, `generated`) and
//! why; an entry that no longer disagrees fails the test, as does any difference that no entry names.
//!
//! `PIPELINT_CASE=<part of a name>` picks cases; `--nocapture` shows the agreement in numbers.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod agreement;
mod case;
mod iceberg;
mod rows;
mod spark;
mod sql;
mod steps;

use agreement::Agreement;
use case::Case;
use rayon::prelude::*;

/// As much as the program gives its own threads.
const STACK_BYTES: usize = 64 << 20;

/// Runs every case of a family and holds what differs against what the case says of it.
fn run(family: &str, cases: Vec<Case>, observe: impl Fn(&Case) -> Agreement + Sync) {
    let filter = std::env::var("PIPELINT_CASE").unwrap_or_default();
    let cases: Vec<Case> = cases.into_iter().filter(|case| case.name.contains(&filter)).collect();
    let threads = rayon::ThreadPoolBuilder::new().stack_size(STACK_BYTES).build().unwrap();
    let results: Vec<(&Case, Agreement)> =
        threads.install(|| cases.par_iter().map(|case| (case, observe(case))).collect());
    let mut wrong = Vec::new();
    let mut total = Agreement::default();
    for (case, agreement) in results {
        wrong.extend(agreement.unexpected(&case.disagrees).map(|text| format!("{}: {text}", case.name)));
        total.add(agreement);
    }
    println!("{family}: {} cases; {total}", cases.len());
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn spark_4_3() {
    run("spark", case::all("spark"), spark::observe);
}

#[test]
fn iceberg_on_spark_3_5() {
    run("iceberg", case::all("iceberg"), iceberg::observe);
}

/// Changes of Lakeflow pipelines, recorded on Apache Spark with Delta Lake.
#[test]
fn cases_with_expectations() {
    run("others", case::with_expectations(), spark::observe);
}
