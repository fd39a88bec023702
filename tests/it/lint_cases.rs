//! What `pipelint lint` says of small repositories (`tests/cases/lint`), of both sides of changes seen in the field
//! (`tests/cases/field`), and of every recorded batch write.
//!
//! Each rule has a case that it answers to and one beside it that it must not.

use libtest_mimic::Trial;
use pipelint::lint::{LintReport, effect, lint};
use pipelint::model::Severity;
use pipelint::reading::Options;
use pipelint::revision::open_one;
use serde_yaml::Value as Yaml;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

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

/// The rules that answer to one tree of a case are those that `key` of the case lists.
fn check_tree(folder: &Path, tree: &str, key: &str) {
    let Some(expected) = case(folder).get(key).map(|listed| words(Some(listed))) else { return };
    let found: BTreeSet<String> = report(&folder.join(tree)).findings.into_iter().map(|finding| finding.rule).collect();
    assert_eq!(found, expected, "{tree}");
}

/// A write that Spark was seen to do no harm draws no error; one that did harm draws one.
fn check_recorded(folder: &Path) {
    let case = case(folder);
    if case.get("disagrees").is_some_and(|known| known.get("generated").is_some()) {
        return;
    }
    let recorded = words(case.get("spark").and_then(|spark| spark.get("outcome")));
    let report = report(&folder.join("job"));
    let quiet = !report.findings.iter().any(|finding| finding.severity >= Severity::Error);
    let warned = report.findings.iter().any(|finding| finding.severity >= Severity::Warning);
    let seen: Vec<String> = report.writes.iter().filter_map(|write| write.labels.as_ref()).map(effect).collect();
    let right = if recorded.contains("ok") { quiet } else { warned || recorded.contains("stale") };
    assert!(right, "Spark {recorded:?}, seen {seen:?}, warned {warned}");
}

/// A rewrite is offered only where two runs of it leave the table as it should be.
fn rewrites_of_appends_and_static_overwrites_hold() {
    for name in ["batch/p-overwrite-static", "batch/t-ii-append", "iceberg-batch/w-append", "iceberg-batch/ii-append"] {
        let report = report(&Path::new(crate::CASES).join(name).join("job"));
        let fixed = report.writes.iter().any(|write| write.fix.is_some());
        assert!(fixed, "{name}: no rewrite holds");
    }
}

/// SQL warehouses do not let a script set the overwrite mode.
fn rewrite_of_delta_sql_needs_no_setting() {
    let report = report(&Path::new(crate::CASES).join("lint/derived-day-rebuilt/tree"));
    let code: Vec<&str> =
        report.writes.iter().filter_map(|write| write.fix.as_ref()).map(|fix| fix.code.as_str()).collect();
    assert_eq!(code, ["INSERT INTO main.sales.daily REPLACE USING (d)\nSELECT …;"]);
}

pub fn tests() -> Vec<Trial> {
    let tree = |folder: &PathBuf, tree: &'static str, key: &'static str| {
        let folder = folder.clone();
        crate::trial(format!("{}/{tree}", crate::case_name("lint", &folder)), move || check_tree(&folder, tree, key))
    };
    let mut tests: Vec<Trial> = crate::case_folders("lint").iter().map(|folder| tree(folder, "tree", "lint")).collect();
    for folder in crate::case_folders("field") {
        tests.extend([tree(&folder, "before", "lint_before"), tree(&folder, "after", "lint")]);
    }
    for folder in crate::case_folders("batch").into_iter().chain(crate::case_folders("iceberg-batch")) {
        tests.push(crate::trial(crate::case_name("lint", &folder), move || check_recorded(&folder)));
    }
    let name = |function: &str| format!("lint_cases::{function}");
    tests.push(crate::trial(
        name("rewrites_of_appends_and_static_overwrites_hold"),
        rewrites_of_appends_and_static_overwrites_hold,
    ));
    tests.push(crate::trial(name("rewrite_of_delta_sql_needs_no_setting"), rewrite_of_delta_sql_needs_no_setting));
    tests
}
