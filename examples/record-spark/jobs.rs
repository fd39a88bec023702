//! Plain streaming jobs that change, on Spark 4.3: what `worker.py` saw, told as the product tells an experiment.

use super::case::Case;
use super::checkpoints::{self, Keep};
use super::pipelines::{record_of, side};
use super::record::Record;
use super::worker::Worker;
use pipelint::analyze::Analysis;
use pipelint::confirm::{NamedRow, Outcome, Reports, TableRows, Tables, WrittenRows, observe};
use pipelint::engine::{
    ExecutionError, FlowReport, FlowStatus, Progress, Stage, UpdateReport, identity, location, value,
};
use pipelint::model::{DataType, Value};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// # Errors
/// Why the case could not be run to its end.
pub fn run(worker: &mut Worker, case: &Case, keep: Option<&Keep>) -> Result<Record, String> {
    let (before, after) = (side(case, "before")?.reading.analysis, side(case, "after")?.reading.analysis);
    let answer = worker.ask("stream", case, keep)?;
    let (runs, moments) = (&answer["spark"], &answer["rows"]);
    let tables = |moment: &str| tables([&before, &after], &moments[moment]);
    let mut outcome = Outcome {
        before: reports(&before, &runs["before"], false),
        after: vec![reports(&after, &runs["after"], false)],
        control: runs["control"].as_array().into_iter().flatten().map(|run| reports(&after, run, true)).collect(),
        resumed_batch_1: tables("resumed_batch_1"),
        resumed: tables("resumed"),
        control_batch_1: tables("control_batch_1"),
        control_end: tables("control_end"),
        ..Outcome::default()
    };
    outcome.resumed_batch_1_now = outcome.resumed_batch_1.clone();
    outcome.checkpoints = flows(&before).into_iter().map(|(_, checkpoint, _)| checkpoint).collect();
    let observed = observe(&before, &after, &outcome);
    let version = answer["version"].as_str().unwrap_or_default().to_owned();
    if let Some(keep) = keep {
        keep.write(case, &version, &checkpoints::met(&outcome))?;
    }
    Ok(record_of(version, &observed, &outcome))
}

/// The flows of a job's analysis: index, checkpoint, and where they write.
fn flows(analysis: &Analysis) -> Vec<(usize, String, Option<String>)> {
    let flow = |(index, analyzed): (usize, &pipelint::analyze::AnalyzedFlow)| {
        let pipeline = analysis.workspace.pipelines.get(analyzed.pipeline)?;
        let flow = pipeline.flows.get(analyzed.flow)?;
        Some((index, identity(pipeline, flow), location(pipeline, flow)))
    };
    analysis.flows.iter().enumerate().filter_map(flow).collect()
}

/// A job has one query: what its run met is the query's.
fn reports(analysis: &Analysis, error: &Json, from_nothing: bool) -> Reports {
    let status = match error.as_str() {
        Some(class) => FlowStatus::Failed { stage: Stage::Flow, error: ExecutionError::new(class, class) },
        None => FlowStatus::Completed(Progress { from_nothing, ..Progress::default() }),
    };
    let mut reports: Reports = vec![UpdateReport::default(); analysis.workspace.pipelines.len()];
    for (index, analyzed) in analysis.flows.iter().enumerate() {
        let flow = analysis.workspace.pipelines.get(analyzed.pipeline).and_then(|p| p.flows.get(analyzed.flow));
        if let (Some(flow), Some(report)) = (flow, reports.get_mut(analyzed.pipeline)) {
            let (name, dataset) = (flow.name.clone(), flow.target.clone());
            report.flows.push(FlowReport { index, flow: name, dataset, status: status.clone() });
        }
    }
    reports
}

/// Tables by location; the worker names them by the last part.
fn tables(analyses: [&Analysis; 2], moment: &Json) -> Tables {
    let mut tables = Tables::new();
    for (_, _, place) in analyses.into_iter().flat_map(flows) {
        let Some(place) = place else { continue };
        let name = place.rsplit(['/', '.']).next().unwrap_or(&place);
        let Some(rows) = moment.get(name).and_then(Json::as_array) else { continue };
        let mut counted: BTreeMap<NamedRow, usize> = BTreeMap::new();
        for row in rows.iter().filter_map(Json::as_str).filter_map(|row| serde_json::from_str::<Json>(row).ok()) {
            let cells = row.as_object().into_iter().flatten();
            let mut named: NamedRow = cells.map(|(name, cell)| (name.to_lowercase(), untyped(cell))).collect();
            named.sort();
            *counted.entry(named).or_insert(0) += 1;
        }
        tables.insert(place, TableRows { columns: Vec::new(), rows: WrittenRows::ByAnyone(counted) });
    }
    tables
}

/// Rows are only compared with each other and written down as they came.
fn untyped(cell: &Json) -> Value {
    match cell {
        Json::Number(number) if number.is_i64() => value(cell, &DataType::Long),
        Json::Number(_) => value(cell, &DataType::Double),
        Json::Bool(_) => value(cell, &DataType::Boolean),
        other => Value::Variant(other.to_string().into()),
    }
}
