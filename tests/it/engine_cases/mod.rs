//! The mini engine against what Apache Spark was recorded to do with the same change on the same rows.
//!
//! A case is a folder below `tests/cases/spark` (declarative pipelines on Spark 4.3) or `tests/cases/iceberg` (plain streaming
//! jobs on Spark 3.5 with Iceberg), or one of another family that Spark was asked about too: both revisions, the rows of two batches, and in `case.yaml` and `spark.jsonl` what Spark
//! did. Compared are the effect on every table, the class of an error, and the rows of every table at each moment.
//! Where the engine is known to disagree, `disagrees:` in the case says of what (`effect`, `error`, `rows`, `generated`) and
//! why; an entry that no longer disagrees fails the test, as does any difference that no entry names.
//!
//! The agreement in numbers is printed at the end.
mod agreement;
mod case;
mod delta;
mod iceberg;
mod rows;
mod spark;
mod sql;
mod steps;

use agreement::Agreement;
use case::Case;
use libtest_mimic::Trial;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Cases and agreement by family, of the tests that ran.
static AGREEMENT: Mutex<BTreeMap<&str, (usize, Agreement)>> = Mutex::new(BTreeMap::new());

/// Prints how often the engine and Spark said the same in the tests that ran.
pub fn print_agreement() {
    for (family, (cases, total)) in AGREEMENT.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        println!("engine, {family}: {cases} cases; {total}");
    }
}

/// Holds what differs in one case against what the case says of it.
fn check(family: &'static str, case: &Case, observe: fn(&Case) -> Agreement) {
    let agreement = observe(case);
    let wrong: Vec<String> = agreement.unexpected(&case.disagrees).collect();
    {
        let mut all = AGREEMENT.lock().unwrap_or_else(PoisonError::into_inner);
        let (cases, total) = all.entry(family).or_default();
        *cases += 1;
        total.add(agreement);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// One test for each case that Spark was asked about: declarative pipelines on Spark 4.3, streaming jobs on Spark 3.5 with
/// Iceberg and on Spark 4.2 with Delta Lake, and changes of Lakeflow pipelines, recorded on Spark with Delta Lake.
pub fn tests() -> Vec<Trial> {
    let family = |family: &'static str, cases: Vec<Case>, observe: fn(&Case) -> Agreement| {
        cases.into_iter().map(move |case| {
            crate::trial(crate::case_name("engine", &case.folder), move || check(family, &case, observe))
        })
    };
    family("spark", case::all("spark"), spark::observe)
        .chain(family("iceberg", case::all("iceberg"), iceberg::observe))
        .chain(family("delta", case::all("delta"), delta::observe))
        .chain(family("others", case::with_expectations(), spark::observe))
        .collect()
}
