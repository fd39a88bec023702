//! What `pipelint lint` says of small repositories (`tests/cases/lint`), of both sides of changes seen in the field
//! (`tests/cases/field`), and of every recorded batch write.
//!
//! Each rule has a case that it answers to and one beside it that it must not.

#![allow(clippy::expect_used, clippy::panic)] // a test says what is wrong by failing

use pipelint::lint::{LintReport, effect, lint};
use pipelint::model::Severity;
use pipelint::review::Options;
use pipelint::revision::open_one;
use rayon::prelude::*;
use serde_yaml::Value as Yaml;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folders(set: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(set);
    let filter = std::env::var("PIPELINT_CASE").unwrap_or_default();
    let entries = std::fs::read_dir(&root).expect("the set is there").flatten().map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = entries
        .filter(|folder| folder.join("case.yaml").is_file() && folder.to_string_lossy().contains(&filter))
        .collect();
    folders.sort();
    folders
}

fn case(folder: &Path) -> Yaml {
    let text = std::fs::read_to_string(folder.join("case.yaml")).expect("a case is readable");
    serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
}

fn report(folder: &Path) -> LintReport {
    let tree = open_one(folder.to_str(), Path::new(".")).expect("the folder is there");
    lint(tree.as_ref(), &Options::default(), None)
}

fn words(value: Option<&Yaml>) -> BTreeSet<String> {
    value.and_then(Yaml::as_sequence).into_iter().flatten().filter_map(Yaml::as_str).map(str::to_owned).collect()
}

/// Plans and expressions are walked by recursion; the program's own threads have the same stack.
fn with_stack(work: impl FnOnce() + Send + 'static) {
    let _ = rayon::ThreadPoolBuilder::new().stack_size(256 << 20).build_global();
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(work).expect("a thread");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn fail(failures: Vec<String>) {
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_rule_answers_where_it_should_and_nowhere_else() {
    with_stack(|| {
        let differs = |(folder, tree, key): &(PathBuf, &str, &str)| {
            let expected = words(Some(case(folder).get(*key)?));
            let found: BTreeSet<String> =
                report(&folder.join(tree)).findings.into_iter().map(|finding| finding.rule).collect();
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (found != expected).then(|| format!("{name}/{tree}: expected {expected:?}, got {found:?}"))
        };
        let alone = folders("lint").into_iter().map(|folder| (folder, "tree", "lint"));
        let pairs = folders("field")
            .into_iter()
            .flat_map(|folder| [(folder.clone(), "before", "lint_before"), (folder, "after", "lint")]);
        let all: Vec<(PathBuf, &str, &str)> = alone.chain(pairs).collect();
        fail(all.par_iter().filter_map(differs).collect());
    });
}

/// A write that Spark was seen to do no harm draws no error; one that did harm draws one.
#[test]
fn recorded_writes_draw_findings_as_they_should() {
    with_stack(|| {
        let wrong = |folder: &PathBuf| {
            let case = case(folder);
            if case.get("disagrees").is_some_and(|known| known.get("generated").is_some()) {
                return None;
            }
            let recorded = words(case.get("spark").and_then(|spark| spark.get("outcome")));
            let report = report(&folder.join("job"));
            let harmless = recorded.contains("ok");
            let quiet = !report.findings.iter().any(|finding| finding.severity >= Severity::Error);
            let told = report.findings.iter().any(|finding| finding.severity >= Severity::Warning);
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let seen: Vec<String> =
                report.writes.iter().filter_map(|write| write.labels.as_ref()).map(effect).collect();
            let right = if harmless { quiet } else { told || recorded.contains("stale") };
            (!right).then(|| format!("{name}: Spark {recorded:?}, seen {seen:?}, told {told}"))
        };
        let all: Vec<PathBuf> = folders("batch").into_iter().chain(folders("iceberg-batch")).collect();
        fail(all.par_iter().filter_map(wrong).collect());
    });
}

/// A rewrite is offered only where two runs of it leave the table as it should be.
#[test]
fn rewrites_of_appends_and_static_overwrites_hold() {
    with_stack(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
        for name in
            ["batch/p-overwrite-static", "batch/t-ii-append", "iceberg-batch/w-append", "iceberg-batch/ii-append"]
        {
            let report = report(&root.join(name).join("job"));
            let fixed = report.writes.iter().any(|write| write.fix.is_some());
            assert!(fixed, "{name}: no rewrite holds");
        }
    });
}

/// SQL warehouses do not let a script set the overwrite mode.
#[test]
fn rewrite_of_delta_sql_needs_no_setting() {
    with_stack(|| {
        let report = report(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/lint/derived-day-rebuilt/tree"));
        let code: Vec<&str> =
            report.writes.iter().filter_map(|write| write.fix.as_ref()).map(|fix| fix.code.as_str()).collect();
        assert_eq!(code, ["INSERT INTO main.sales.daily REPLACE USING (d)\nSELECT …;"]);
    });
}
