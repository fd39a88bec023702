//! The engine against recorded runs of Apache Spark: the tables that a case's new code gives from nothing, in one update for each
//! batch, row by row. Operators, functions and sources are what is on trial; how a change resumes is the business of `cases`.

use pipelint::analyze::{Analysis, analyze};
use pipelint::confirm::{Data, Experiment, Mini, Worlds, sources};
use pipelint::engine::{World, contents, dataset_location, location, uninterpreted, value};
use pipelint::frontend::{ParseCache, load, sql};
use pipelint::model::{DataType, Value};
use pipelint::project::{Options, discover};
use pipelint::revision::{Tree, open_one};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Cases whose tables cannot be Spark's, and why.
const EXPLAINED: &[(&str, &str)] = &[
    ("flow-two-noop", "two flows race for one file table in Spark; which batches win is not told"),
    ("select-add-current-timestamp", "holds the time of the recorded run"),
    ("select-add-rand", "holds random numbers of the recorded run"),
    (
        "table-mv-partition-changed",
        "Spark 4.3.0 fails on any partitioned materialized view of parquet (INTERNAL_ERROR)",
    ),
];

type Error = Box<dyn std::error::Error>;

/// Rows by column in lower case, without the NULL ones (which a recorded row leaves out); counted.
type Counted = BTreeMap<Vec<(String, String)>, usize>;

fn analysis(tree: &dyn Tree) -> Analysis {
    let parse_schema = |text: &str| sql::parse_schema_ddl(text);
    let project = discover(tree, &Options::new(&parse_schema));
    analyze(load(tree, project, &ParseCache::new()))
}

/// Text by which a value is compared. Sums of doubles hang on the order of rows in their last digits.
fn text(value: &Value) -> String {
    match value {
        Value::Double(number) => format!("{number:.9e}"),
        Value::Float(number) => format!("{number:.5e}"),
        other => format!("{other:?}"),
    }
}

fn counted(rows: impl Iterator<Item = Vec<(String, Value)>>) -> Counted {
    let mut counted = Counted::new();
    for row in rows {
        let present = row.into_iter().filter(|(_, value)| !value.is_null());
        let mut named: Vec<_> = present.map(|(name, value)| (name.to_lowercase(), text(&value))).collect();
        named.sort();
        *counted.entry(named).or_default() += 1;
    }
    counted
}

/// Where a table of the case lies: a dataset of a pipeline, or what a job's query writes.
fn place(analysis: &Analysis, name: &str) -> Option<String> {
    analysis.workspace.pipelines.iter().find_map(|pipeline| {
        let dataset = pipeline.datasets.iter().find(|dataset| dataset.name.name.eq_ignore_ascii_case(name));
        let flow = pipeline.flows.iter().find(|flow| flow.name.eq_ignore_ascii_case(name));
        dataset.and_then(dataset_location).or_else(|| flow.and_then(|flow| location(pipeline, flow)))
    })
}

/// Recorded rows that the engine lacks, and rows that it has beside them.
fn differences(world: &World, place: &str, recorded: &[Json]) -> Option<String> {
    let found = world.tables.get(place).map(contents);
    let fields = found.iter().flat_map(|found| &found.schema.fields);
    let types: BTreeMap<String, DataType> = fields.map(|f| (f.name.to_lowercase(), f.data_type.clone())).collect();
    let engine = counted(found.iter().flat_map(|found| {
        let named = |row: &pipelint::engine::Row| {
            found.schema.fields.iter().zip(row.iter()).map(|(f, v)| (f.name.clone(), v.clone())).collect()
        };
        found.rows.iter().map(named)
    }));
    let spark = counted(recorded.iter().map(|row| {
        let typed = |(name, json): (&String, &Json)| {
            let data_type = types.get(&name.to_lowercase()).unwrap_or(&DataType::String);
            (name.clone(), value(json, data_type))
        };
        row.as_object().into_iter().flatten().map(typed).collect()
    }));
    let minus = |a: &Counted, b: &Counted| {
        let left = a.iter().filter(|(row, count)| b.get(*row).copied().unwrap_or(0) < **count);
        left.map(|(row, count)| format!("{count}x {row:?}")).collect::<Vec<_>>().join("\n    ")
    };
    (engine != spark).then(|| format!("lacks {}\n  adds {}", minus(&spark, &engine), minus(&engine, &spark)))
}

/// The tables compared and, for each that differs, how. None where functions are involved that only Python can evaluate.
fn run(folder: &Path) -> Result<Option<(usize, Vec<String>)>, Error> {
    let open = |side: &str| {
        let at = folder.join(side);
        open_one(Some(&at.to_string_lossy()), &at).map_err(|error| error.to_string())
    };
    let (before, after) = (analysis(open("before")?.as_ref()), analysis(open("after")?.as_ref()));
    let data =
        Data::read(&folder.join("data")).map_err(|error| format!("{}: {}", error.path.display(), error.message))?;
    let set = sources(&before, &after);
    let experiment = Experiment { before: &before, after: &after, sources: &set, updates: &[] };
    let outcome = Mini::default().worlds(&experiment, &data);
    if calls_python(&outcome) {
        return Ok(None);
    }
    let (mut compared, mut differing) = (0, Vec::new());
    for line in std::fs::read_to_string(folder.join("spark.jsonl"))?.lines() {
        let line: Json = serde_json::from_str(line)?;
        let get = |key: &str| line.get(key).and_then(Json::as_str).unwrap_or_default();
        // Sinks' folders and AUTO CDC's own tables are no datasets of the pipeline.
        if let ("control", Some(place)) = (get("at"), place(&after, get("table"))) {
            compared += 1;
            let rows = line.get("rows").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
            let difference = differences(&outcome.control_end, &place, rows);
            differing.extend(difference.map(|text| format!("{}: {text}", get("table"))));
        }
    }
    Ok(Some((compared, differing)))
}

fn calls_python(outcome: &Worlds) -> bool {
    outcome.control.iter().flatten().any(|report| !uninterpreted(report).is_empty())
}

fn new_code_from_nothing_gives_the_tables_that_spark_gave() -> Result<(), Error> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases/spark");
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(root)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
    folders.sort();
    let (mut tables, mut wrong, mut python) = (0, Vec::new(), 0);
    for folder in folders {
        let id = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let explained = EXPLAINED.iter().any(|(case, _)| *case == id);
        match run(&folder)? {
            None => python += 1,
            Some((_, differing)) if explained && differing.is_empty() => {
                wrong.push(format!("{id}: is listed as explained, and agrees"));
            }
            Some(_) if explained => {}
            Some((compared, differing)) => {
                tables += compared;
                wrong.extend(differing.into_iter().map(|text| format!("{id} {text}")));
            }
        }
    }
    println!("{tables} tables compared; {python} cases run functions that only Python can evaluate");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(tables >= 300, "only {tables} tables were compared");
    Ok(())
}

crate::tests![new_code_from_nothing_gives_the_tables_that_spark_gave];
