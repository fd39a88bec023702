//! `pipelint show`: what is known of each dataset and flow of one revision, as text and JSON.

use super::json::{span, unresolved_entry};
use super::safe;
use crate::analyze::{Analysis, AnalyzedFlow};
use crate::model::{
    Dataset, DatasetKind, Flow, FlowKind, Pipeline, Read, Schema, Source, StatefulOperator, Unresolved,
};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// One flow with all that belongs to it.
struct Shown<'a> {
    dataset: Option<&'a Dataset>,
    flow: &'a Flow,
    analyzed: &'a AnalyzedFlow,
}

/// Everything of a revision, or the flows whose flow or dataset bears `name`.
pub fn json(analysis: &Analysis, unresolved: &[Unresolved], name: Option<&str>) -> String {
    let pipelines: Vec<Value> = analysis
        .workspace
        .pipelines
        .iter()
        .enumerate()
        .map(|(index, pipeline)| pipeline_json(analysis, index, pipeline, unresolved, name))
        .collect();
    let elsewhere: Vec<Value> =
        unresolved.iter().filter(|entry| entry.pipeline.is_none()).map(unresolved_entry).collect();
    let mut text = format!("{:#}", json!({ "schema_version": 1, "pipelines": pipelines, "unresolved": elsewhere }));
    text.push('\n');
    text
}

/// Whether a flow or a dataset bears the name.
pub fn has(analysis: &Analysis, name: &str) -> bool {
    let pipelines = &analysis.workspace.pipelines;
    pipelines.iter().any(|pipeline| pipeline.datasets.iter().any(|dataset| is_wanted(dataset, pipeline, Some(name))))
}

/// The dataset whose name is most like this one, where one is like it.
pub fn nearest(analysis: &Analysis, name: &str) -> Option<String> {
    let ratio = |known: &str| similar::TextDiff::from_chars(name.to_lowercase(), known.to_lowercase()).ratio();
    let datasets = analysis.workspace.pipelines.iter().flat_map(|pipeline| &pipeline.datasets);
    let names = datasets.flat_map(|dataset| [dataset.name.name.clone(), dataset.name.to_string()]);
    let rated = names.map(|known| (ratio(&known), known)).filter(|(ratio, _)| *ratio > 0.6);
    rated.max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(&a.1))).map(|(_, name)| name)
}

fn pipeline_json(
    analysis: &Analysis,
    index: usize,
    pipeline: &Pipeline,
    unresolved: &[Unresolved],
    name: Option<&str>,
) -> Value {
    let datasets: Vec<Value> = pipeline
        .datasets
        .iter()
        .enumerate()
        .filter(|(_, dataset)| is_wanted(dataset, pipeline, name))
        .map(|(at, dataset)| {
            let schema = analysis.schemas.get(index).and_then(|schemas| schemas.get(at));
            let flows: Vec<Value> =
                flows_into(analysis, index, dataset).map(|shown| flow_json(&shown, unresolved)).collect();
            json!({
                "name": dataset.name.to_string(),
                "kind": kind(dataset.kind),
                "private": dataset.private,
                "template": dataset.template,
                "path": dataset.place.span().map(|span| span.path.as_ref()),
                "line": dataset.place.span().map(|span| span.line),
                "place": dataset.place.span().map(span),
                "schema": schema.map(schema_json),
                "flows": flows,
            })
        })
        .collect();
    let own: Vec<Value> = unresolved
        .iter()
        .filter(|entry| entry.pipeline.as_ref() == Some(&pipeline.key))
        .map(unresolved_entry)
        .collect();
    json!({
        "pipeline": pipeline.key,
        "name": pipeline.name,
        "platform": pipeline.platform.as_str(),
        "datasets": datasets,
        "unresolved": own,
    })
}

fn flows_into<'a>(analysis: &'a Analysis, pipeline: usize, dataset: &'a Dataset) -> impl Iterator<Item = Shown<'a>> {
    analysis.flows.iter().filter(move |flow| flow.pipeline == pipeline).filter_map(move |analyzed| {
        let flow = analysis.workspace.pipelines.get(pipeline)?.flows.get(analyzed.flow)?;
        (flow.target == dataset.name).then_some(Shown { dataset: Some(dataset), flow, analyzed })
    })
}

fn is_wanted(dataset: &Dataset, pipeline: &Pipeline, name: Option<&str>) -> bool {
    let Some(name) = name else { return true };
    let bears = |text: &str| text.eq_ignore_ascii_case(name);
    bears(&dataset.name.name)
        || bears(&dataset.name.to_string())
        || pipeline.flows.iter().any(|flow| flow.target == dataset.name && bears(&flow.name))
}

/// What stays unknown of a flow: its own entries, and those of its dataset.
fn open_points<'a>(shown: &'a Shown, unresolved: &'a [Unresolved]) -> Vec<&'a Unresolved> {
    let of_dataset = unresolved.iter().filter(|entry| {
        shown.dataset.is_some_and(|dataset| entry.dataset.as_ref() == Some(&dataset.name))
            && !shown.analyzed.unresolved.contains(entry)
    });
    shown.analyzed.unresolved.iter().chain(of_dataset).collect()
}

fn flow_json(shown: &Shown, unresolved: &[Unresolved]) -> Value {
    let open = open_points(shown, unresolved);
    let signature = &shown.analyzed.signature;
    json!({
        "flow": shown.flow.name,
        "kind": flow_kind(&shown.flow.kind),
        "streaming": shown.analyzed.streaming,
        "resolved": open.is_empty(),
        "path": shown.flow.place.span().map(|span| span.path.as_ref()),
        "line": shown.flow.place.span().map(|span| span.line),
        "place": shown.flow.place.span().map(span),
        "unresolved": open.into_iter().map(unresolved_entry).collect::<Vec<_>>(),
        "sources": shown.analyzed.optimized.reads().into_iter().map(source_json).collect::<Vec<_>>(),
        "operators": signature.operators.iter().map(operator_json).collect::<Vec<_>>(),
        "watermarks": signature.watermarks.iter().map(|w| json!({
            "event_time": w.event_time,
            "delay_microseconds": w.delay,
        })).collect::<Vec<_>>(),
        "schema": schema_json(&shown.analyzed.schema),
        "errors": shown.analyzed.errors.iter().map(|error| json!({
            "class": error.class,
            "message": error.message,
        })).collect::<Vec<_>>(),
        "plan": shown.analyzed.aspects.query.to_string(),
    })
}

fn source_json(read: &Read) -> Value {
    json!({
        "name": source_name(&read.source),
        "format": source_format(&read.source),
        "streaming": read.streaming,
        "options": read.options,
        "path": read.place.span().map(|span| span.path.as_ref()),
        "line": read.place.span().map(|span| span.line),
    })
}

fn source_name(source: &Source) -> String {
    match source {
        Source::Table(name) | Source::ChangeFeed(name) => name.to_string(),
        Source::Files { path, .. } => path.clone(),
        Source::Connector { format } => format.clone(),
    }
}

fn source_format(source: &Source) -> &str {
    match source {
        Source::Table(_) => "table",
        Source::ChangeFeed(_) => "change-feed",
        Source::Files { auto_loader: true, .. } => "cloudFiles",
        Source::Files { format, .. } | Source::Connector { format } => format,
    }
}

fn operator_json(operator: &StatefulOperator) -> Value {
    json!({
        "id": operator.id,
        "name": operator.name.as_ref(),
        "stores": operator.stores.iter().map(|store| json!({
            "store": store.store.as_ref(),
            "key": schema_json(&store.key),
            "value": schema_json(&store.value),
        })).collect::<Vec<_>>(),
        "semantics": operator.semantics,
        "path": operator.place.span().map(|span| span.path.as_ref()),
        "line": operator.place.span().map(|span| span.line),
    })
}

fn schema_json(schema: &Schema) -> Value {
    let mut columns: Vec<Value> = schema
        .fields
        .iter()
        .map(|field| json!({ "name": field.name, "type": field.data_type.to_string(), "nullable": field.nullable }))
        .collect();
    if !schema.complete {
        columns.push(json!({ "name": "*", "type": "unknown", "nullable": true }));
    }
    columns.into()
}

fn kind(kind: DatasetKind) -> &'static str {
    match kind {
        DatasetKind::StreamingTable => "streaming_table",
        DatasetKind::MaterializedView => "materialized_view",
        DatasetKind::View => "view",
        DatasetKind::Sink => "sink",
        DatasetKind::Table => "table",
    }
}

fn flow_kind(kind: &FlowKind) -> &'static str {
    match kind {
        FlowKind::Default => "default",
        FlowKind::Append => "append",
        FlowKind::Once => "once",
        FlowKind::AutoCdc(_) => "auto_cdc",
        FlowKind::AutoCdcOnce(_) => "auto_cdc_once",
        FlowKind::ReplaceWhere(_) => "replace_where",
        FlowKind::ReplaceUsing { .. } => "replace_using",
        FlowKind::StreamJob(_) => "stream_job",
    }
}

/// The same for people.
pub fn text(analysis: &Analysis, unresolved: &[Unresolved], name: Option<&str>) -> String {
    let mut out = String::new();
    for (index, pipeline) in analysis.workspace.pipelines.iter().enumerate() {
        let _ = writeln!(out, "pipeline {} ({})", safe::inline(&pipeline.key), pipeline.platform);
        for dataset in pipeline.datasets.iter().filter(|dataset| is_wanted(dataset, pipeline, name)) {
            let place = dataset.place.span().map_or_else(String::new, |s| format!("  {}:{}", s.path, s.line));
            let template = if dataset.template { " (template)" } else { "" };
            let _ = writeln!(
                out,
                "  {} {}{template}{}",
                kind(dataset.kind).replace('_', " "),
                safe::inline(&dataset.name.to_string()),
                safe::inline(&place)
            );
            for shown in flows_into(analysis, index, dataset) {
                flow_text(&mut out, &shown, unresolved);
            }
        }
    }
    out
}

fn flow_text(out: &mut String, shown: &Shown, unresolved: &[Unresolved]) {
    let signature = &shown.analyzed.signature;
    let reads = if shown.analyzed.streaming { "streaming" } else { "batch" };
    let _ = writeln!(
        out,
        "    flow {} ({}, {reads})",
        safe::inline(&shown.flow.name),
        flow_kind(&shown.flow.kind).replace('_', " ")
    );
    for read in shown.analyzed.optimized.reads() {
        let how = if read.streaming { "reads as a stream" } else { "reads" };
        let _ = writeln!(out, "      {how} {}", safe::inline(&source_name(&read.source)));
    }
    for watermark in &signature.watermarks {
        let delay = watermark.delay.map_or_else(|| "unknown delay".to_owned(), |d| format!("{} s", d / 1_000_000));
        let _ = writeln!(out, "      watermark on {}, {delay}", safe::inline(&watermark.event_time));
    }
    for operator in &signature.operators {
        let _ = writeln!(out, "      state {} {}", operator.id, operator.name);
        for store in &operator.stores {
            let _ = writeln!(
                out,
                "        {}: ({}) -> ({})",
                store.store,
                safe::inline(&columns(&store.key)),
                safe::inline(&columns(&store.value))
            );
        }
    }
    let _ = writeln!(out, "      gives {}", safe::inline(&columns(&shown.analyzed.schema)));
    for error in &shown.analyzed.errors {
        let _ = writeln!(out, "      error {}: {}", error.class, safe::inline(&error.message));
    }
    for entry in open_points(shown, unresolved) {
        let place = entry.span.as_ref().map_or_else(String::new, |s| format!("{}:{}: ", s.path, s.line));
        let _ = writeln!(
            out,
            "      unresolved [{}] {}{}: {}",
            entry.code,
            safe::inline(&place),
            safe::inline(&entry.what),
            safe::inline(&entry.why)
        );
    }
}

fn columns(schema: &Schema) -> String {
    let mut names: Vec<String> = schema.fields.iter().map(|f| format!("{} {}", f.name, f.data_type)).collect();
    if !schema.complete {
        names.push("…".to_owned());
    }
    names.join(", ")
}

/// Everything unresolved, one line an entry, with what would resolve it.
pub fn unresolved_text(unresolved: &[Unresolved]) -> String {
    let mut out = String::new();
    for entry in unresolved {
        let place = entry.span.as_ref().map_or_else(String::new, |s| format!("{}:{}:{}: ", s.path, s.line, s.column));
        let _ = writeln!(
            out,
            "{}[{}] {}: {}",
            safe::inline(&place),
            entry.code,
            safe::inline(&entry.what),
            safe::inline(&entry.why)
        );
        if let Some(hint) = &entry.hint {
            let _ = writeln!(out, "  help: {}", safe::inline(hint));
        }
    }
    let _ = writeln!(out, "{} unresolved", unresolved.len());
    out
}
