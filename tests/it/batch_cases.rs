//! Recorded batch writes: what running a script twice did to its table on real Apache Spark (parquet, orc), Apache Iceberg and Delta Lake,
//! against what the engine sees: once on the recorded rows, row by row, and once on generated rows, verdict by verdict.
//!
//! A known disagreement stands in the case's `case.yaml` under `disagrees:` with its reason, by `given` and `generated`. One that
//! is gone fails.

use libtest_mimic::Trial;
use pipelint::engine::batch::TableKind;
use pipelint::frontend::{ParseCache, sql};
use pipelint::lint::{self, Experiment, Observed, Rows, Snapshot, TableFacts};
use pipelint::model::{QualifiedName, WriteOperation};
use pipelint::reading::{Options, read};
use pipelint::revision::{Tree, open_one};
use serde_yaml::Value as Yaml;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

struct Case {
    folder: PathBuf,
    yaml: Yaml,
}

impl Case {
    fn read(folder: PathBuf) -> Case {
        let text = std::fs::read_to_string(folder.join("case.yaml")).expect("a case is readable");
        let yaml = serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        Case { folder, yaml }
    }

    fn at(&self, path: &[&str]) -> Option<&Yaml> {
        path.iter().try_fold(&self.yaml, |value, key| value.get(key))
    }

    fn texts(&self, path: &[&str]) -> Vec<String> {
        let list = self.at(path).and_then(Yaml::as_sequence).into_iter().flatten();
        list.filter_map(Yaml::as_str).map(str::to_owned).collect()
    }

    fn target(&self) -> String {
        self.at(&["setup", "target", "name"]).and_then(Yaml::as_str).expect("a target").to_owned()
    }

    fn describes_target(&self) -> bool {
        let target = self.target();
        let objects = self.at(&["setup", "objects"]).and_then(Yaml::as_sequence).into_iter().flatten();
        objects.into_iter().any(|object| object.get("name").and_then(Yaml::as_str) == Some(&*target))
    }

    fn expected(&self) -> String {
        let mut labels = self.texts(&["spark", "outcome"]);
        labels.sort();
        labels.join("+")
    }

    /// The tables of the recording: from their DDL, else from their keys.
    fn tables(&self, configured: &[TableFacts]) -> Vec<TableFacts> {
        let objects = self.at(&["setup", "objects"]).and_then(Yaml::as_sequence).expect("objects");
        objects.iter().map(|object| table(object, configured)).collect()
    }

    /// DDL of a phase of the setup, with the table it changes.
    fn ddl(&self, path: &[&str]) -> Vec<(QualifiedName, String)> {
        let named = |text: String| {
            let name = text.split_whitespace().nth(2).expect("ALTER TABLE name").to_owned();
            (QualifiedName::parse(&name), text)
        };
        self.texts(path).into_iter().map(named).collect()
    }

    fn disagrees(&self, how: &str) -> bool {
        self.at(&["disagrees", how]).is_some()
    }
}

fn table(object: &Yaml, configured: &[TableFacts]) -> TableFacts {
    let text = |key: &str| object.get(key).and_then(Yaml::as_str);
    let name = text("name").expect("a name").to_owned();
    let mut facts = configured
        .iter()
        .find(|table| table.name == name)
        .unwrap_or_else(|| panic!("{name} is not in pipelint.yaml"))
        .clone();
    if let Some(ddl) = text("ddl") {
        let script = sql::parse_statements(ddl, &sql::Context::default(), &mut sql::Session::default());
        if let Some((sql::Statement::Write(write), _)) = script.statements.into_iter().next() {
            let hive = ddl.contains("STORED AS");
            facts.kind = match write.format.as_deref() {
                Some("iceberg" | "delta") => TableKind::Lake,
                _ if hive => TableKind::Hive,
                _ => TableKind::Files,
            };
            facts.format = write.format.clone().unwrap_or_default();
            facts.bucketed = write.bucket_by.is_some();
            facts.properties = write.options.clone();
            // `PARTITIONED BY (d DATE)` declares the column itself.
            if !hive {
                facts.schema = write.schema.clone().unwrap_or(facts.schema);
                facts.partition_by.clone_from(&write.partition_by);
            }
            if facts.kind != TableKind::Lake {
                // The catalog keeps partition columns last, in their order.
                let partitions = facts.partition_by.clone();
                let at = |name: &str| partitions.iter().position(|own| own.eq_ignore_ascii_case(name));
                facts.schema.fields.sort_by_key(|field| at(&field.name).map_or(0, |at| at + 1));
            }
            assert!(matches!(write.operation, WriteOperation::Create { .. }));
        }
    }
    facts
}

fn tree(case: &Case) -> Box<dyn Tree> {
    open_one(case.folder.join("job").to_str(), Path::new(".")).expect("the job's folder is there")
}

/// Runs a case: on its recorded rows and setup, or as `pipelint lint` sees its folder.
fn run(case: &Case, given: bool) -> Result<Vec<Observed>, String> {
    let tree = tree(case);
    let cache = ParseCache::new();
    let reading = read(tree.as_ref(), &Options::default(), &cache);
    if !given {
        let runs = lint::run_scripts(tree.as_ref(), &reading.project.scripts, None, &cache);
        let run = runs.into_iter().next().ok_or("no script was found")?;
        return run.observed.map_err(|error| error.to_string());
    }
    let unit = reading.project.scripts.first().ok_or("no script was found")?;
    let scripts = pipelint::frontend::jobs(tree.as_ref(), std::slice::from_ref(unit), &cache);
    let script = scripts.first().ok_or("no script was found")?;
    let tables = case.tables(&lint::facts(&script.job, &unit.pipeline, &[]));
    let rows = Rows::read(&case.folder.join("data"))?;
    lint::experiment(&Experiment {
        given: Some(&rows),
        before: &case.ddl(&["setup", "pre_sql"]),
        between: &case.ddl(&["setup", "between_runs", "sql"]),
        removed_between: &case.texts(&["setup", "between_runs", "rm"]),
        ..Experiment::new(&script.job, &unit.pipeline, &tables)
    })
    .map_err(|error| error.to_string())
}

/// Recorded moments of the target.
fn recorded(case: &Case) -> BTreeMap<String, serde_json::Value> {
    let text = std::fs::read_to_string(case.folder.join("spark.jsonl")).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|moment| Some((moment.get("at")?.as_str()?.to_owned(), moment.clone())))
        .collect()
}

/// Whether a moment of the engine holds the recorded rows, column by column.
fn same_rows(seen: &Snapshot, moment: &serde_json::Value) -> bool {
    let Some(rows) = moment.get("rows").and_then(|rows| rows.as_array()) else { return true };
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let columns: Vec<String> = seen.schema.iter().map(|(name, _)| name.clone()).collect();
    let mut expected: Vec<Vec<Option<String>>> =
        rows.iter().map(|row| columns.iter().map(|column| row.get(column).and_then(text)).collect()).collect();
    let mut found: Vec<Vec<Option<String>>> =
        seen.rows.iter().map(|row| columns.iter().map(|column| row.get(column).cloned().flatten()).collect()).collect();
    expected.sort();
    found.sort();
    expected == found
}

/// What is wrong with a case, in words; empty where the engine saw what Spark did.
fn check(case: &Case, given: bool) -> String {
    let observed = match run(case, given) {
        Ok(observed) => observed,
        // Nothing says that the target is there, or is not.
        Err(error) if error.contains("nothing is known of") && !case.describes_target() => return String::new(),
        Err(error) => return format!("not run: {error}"),
    };
    let target = case.target();
    let Some(seen) = observed.iter().find(|seen| seen.target.eq_ignore_ascii_case(&target)) else {
        return format!("no write to {target} was seen");
    };
    let (expected, found) = (case.expected(), lint::effect(&seen.labels));
    if expected != found {
        let error = seen.error.as_ref().map(|(error, _)| error.to_string()).unwrap_or_default();
        return format!("Spark: {expected}, engine: {found} {error}");
    }
    if !given {
        return String::new();
    }
    let moments = recorded(case);
    for (at, seen) in [("after_1", &seen.after_1), ("after_2", &seen.after_2)] {
        if let (Ok(seen), Some(moment)) = (seen, moments.get(at))
            && !same_rows(seen, moment)
        {
            return format!("other rows {at}");
        }
    }
    if let (Some(class), Some((error, _))) = (case.at(&["spark", "error_class"]).and_then(Yaml::as_str), &seen.error) {
        let short = |name: &str| {
            let name = name.rsplit_once("exceptions.").map_or(name, |(_, last)| last);
            name.trim_start_matches("org.apache.spark.").replace("iceberg.", "")
        };
        if short(class) != short(&error.class) {
            return format!("Spark's error: {class}, engine: {}", error.class);
        }
    }
    String::new()
}

/// Least share of the cases that may agree, by set and by whether the rows are the recorded ones.
const LEAST: [(&str, &str, f64); 10] = [
    ("batch", "given", 0.95),
    ("batch", "generated", 0.95),
    ("iceberg-batch", "given", 0.95),
    ("iceberg-batch", "generated", 0.90),
    ("delta-batch", "given", 0.85),
    ("delta-batch", "generated", 0.55),
    // Made by combination (examples/record-spark/batch_surface.py), and as practitioners write them.
    ("batch-surface", "given", 0.80),
    ("batch-surface", "generated", 0.80),
    ("batch-practice", "given", 0.80),
    ("batch-practice", "generated", 0.80),
];

/// One test for each case on its recorded rows (`given/batch/NAME`) and on generated ones, and one for the share that agrees.
pub fn tests() -> Vec<Trial> {
    let mut tests = Vec::new();
    for (set, how, least) in LEAST {
        let cases: Vec<Case> = crate::case_folders(set).into_iter().map(Case::read).collect();
        let known = cases.iter().filter(|case| case.disagrees(how)).count();
        let share = 1.0 - known as f64 / cases.len().max(1) as f64;
        if std::env::var_os("PIPELINT_CASE").is_none() {
            tests.push(crate::trial(format!("batch_cases::{how}_{set}_share"), move || {
                assert!(share >= least, "{known} cases disagree: {share} is less than {least}");
            }));
        }
        tests.extend(cases.into_iter().map(|case| {
            crate::trial(crate::case_name(how, &case.folder), move || {
                let wrong = check(&case, how == "given");
                match (wrong.is_empty(), case.disagrees(how)) {
                    (true, true) => panic!("agrees now; take `disagrees.{how}` out"),
                    (false, false) => panic!("{wrong}"),
                    _ => {}
                }
            })
        }));
    }
    tests
}
