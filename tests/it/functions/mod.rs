//! What Spark itself answered for several hundred expressions, against the whole road here: SQL text, analysis, evaluation.
//!
//! `spark.tsv` says how it was recorded. A row with a note is a known difference; it must still differ, so that a note cannot
//! outlive its reason.

pub mod never_panics;

use pipelint::analyze::{AnalyzedFlow, analyze};
use pipelint::engine::{ExecutionError, Rows, Session, Tables, run_batch};
use pipelint::frontend::sql::{Context, parse_query};
use pipelint::functions::display;
use pipelint::model::{
    Dataset, DatasetKind, Flow, FlowKind, Pipeline, PipelineKind, Place, Platform, QualifiedName, Read, Value,
    Workspace,
};
use std::collections::BTreeMap;

const RECORDED: &str = include_str!("spark.tsv");

/// One expression and what Spark made of it.
struct Recorded {
    expression: String,
    data_type: String,
    nullable: String,
    /// `=text`, `NULL`, or `!ERROR_CLASS`.
    outcome: String,
    /// Why the outcome here is another one.
    note: Option<String>,
}

fn recorded() -> Vec<Recorded> {
    RECORDED
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .filter_map(|line| {
            let mut cells = line.split('\t').map(str::to_owned);
            Some(Recorded {
                expression: cells.next()?,
                data_type: cells.next()?,
                nullable: cells.next()?,
                outcome: cells.next()?,
                note: cells.next(),
            })
        })
        .collect()
}

/// One materialized view an expression.
fn pipeline(expressions: &[Recorded]) -> Pipeline {
    let mut pipeline = Pipeline {
        key: "functions".to_owned(),
        name: "functions".to_owned(),
        kind: PipelineKind::SparkPipeline,
        root: String::new(),
        platform: Platform::Spark,
        spark_version: (4, 3),
        catalog: None,
        schema: None,
        storage: None,
        table_format: "parquet".to_owned(),
        configuration: BTreeMap::new(),
        settings: BTreeMap::new(),
        datasets: Vec::new().into(),
        collisions: Vec::new(),
        flows: Vec::new().into(),
        sources: Vec::new().into(),
        span: None,
        places: BTreeMap::new(),
    };
    for (index, case) in expressions.iter().enumerate() {
        let name = QualifiedName::bare(format!("v{index}"));
        pipeline.datasets.push(Dataset::new(name.clone(), DatasetKind::MaterializedView, Place::unknown()));
        pipeline.flows.push(Flow {
            name: name.name.clone(),
            target: name,
            kind: FlowKind::Default,
            plan: parse_query(&format!("SELECT {} AS v", case.expression), &Context::default()).value,
            spark_conf: BTreeMap::new(),
            comment: None,
            code: Vec::new(),
            open_code: None,
            place: Place::unknown(),
        });
    }
    pipeline
}

struct NoTables;

impl Tables for NoTables {
    fn scan(&self, _: &Read) -> Result<Rows, ExecutionError> {
        Ok(Rows::empty(pipelint::model::Schema::unknown()))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// As the recording shows values: binaries in hexadecimal, everything else cast to string.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => return "NULL".to_owned(),
        Value::Binary(bytes) => hex(bytes),
        other => display(other, &jiff::tz::TimeZone::UTC),
    };
    format!("={}", text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\0', "\\0"))
}

/// Type, nullability and outcome of an analysed `SELECT expression AS v`.
fn observed(flow: &AnalyzedFlow) -> [String; 3] {
    if let Some(error) = flow.errors.first() {
        return ["-".to_owned(), "-".to_owned(), format!("!{}", error.class)];
    }
    let Some(field) = flow.schema.fields.first() else { return ["-", "-", "no column"].map(str::to_owned) };
    let outcome = match run_batch(&flow.plan, &NoTables, &Session::default()) {
        Err(error) => format!("!{}", error.class),
        Ok(output) if !output.uninterpreted.is_empty() => format!("uninterpreted {:?}", output.uninterpreted),
        Ok(output) => output.rows.rows.first().and_then(|row| row.first()).map_or("no row".to_owned(), shown),
    };
    let nullable = if field.nullable { "null" } else { "not null" };
    [field.data_type.to_string(), nullable.to_owned(), outcome]
}

fn expressions_are_typed_and_evaluated_as_spark_does() {
    let cases = recorded();
    let workspace = Workspace { pipelines: vec![pipeline(&cases)], ..Workspace::default() };
    let analysis = analyze(workspace);
    assert_eq!(analysis.flows.len(), cases.len());
    let mut wrong = Vec::new();
    for (case, flow) in cases.iter().zip(&analysis.flows) {
        let expected = [&case.data_type, &case.nullable, &case.outcome];
        let found = observed(flow);
        let agrees = expected.iter().zip(&found).all(|(a, b)| *a == b);
        if agrees == case.note.is_some() {
            let stale = if agrees { " (agrees: remove the note)" } else { "" };
            wrong.push(format!("{}{stale}\n    Spark {expected:?}\n    here  {found:?}", case.expression));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    let noted = cases.iter().filter(|case| case.note.is_some()).count();
    assert!(cases.len() - noted >= 900, "too few expressions agree: {} of {}", cases.len() - noted, cases.len());
}

crate::tests![expressions_are_typed_and_evaluated_as_spark_does];
