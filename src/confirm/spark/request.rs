//! What the driver is told of sources: where they lie, with which columns.

use crate::analyze::Analysis;
use crate::engine::{TableFormat, facts_for, source_location};
use crate::model::{DataType, Schema, SourceFacts};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Where the rows of a source lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// None where the server sees no files of this machine: then the source is a table alone.
    pub folder: Option<PathBuf>,
    pub format: &'static str,
}

/// Format that a source's rows are written in: its own where every Spark has it, otherwise JSON lines.
pub fn stored_format(facts: &SourceFacts) -> &'static str {
    match facts.format.as_deref().map(TableFormat::named) {
        Some(TableFormat::Files(format)) => match format.as_str() {
            "csv" => "csv",
            "parquet" => "parquet",
            "orc" => "orc",
            _ => "json",
        },
        _ => "json",
    }
}

/// Columns of a source as the driver takes them: names and types. A column whose type nobody knows is text.
pub fn columns(facts: &SourceFacts, analysis: &Analysis) -> Vec<Json> {
    let mut columns: Vec<Json> = facts.schema.iter().flat_map(typed_columns).collect();
    // Auto Loader's column of what did not fit.
    columns.extend(rescued(facts, analysis).then(|| json!(["_rescued_data", "string"])));
    columns
}

/// Names and types of columns.
pub fn typed_columns(schema: &Schema) -> Vec<Json> {
    schema.fields.iter().map(|field| json!([field.name, type_text(&field.data_type)])).collect()
}

fn type_text(data_type: &DataType) -> String {
    if data_type.is_unknown() || *data_type == DataType::Null { "string".to_owned() } else { data_type.to_string() }
}

fn rescued(facts: &SourceFacts, analysis: &Analysis) -> bool {
    let location = source_location(facts);
    let names: BTreeSet<&str> = facts.schema.iter().flat_map(|s| &s.fields).map(|field| field.name.as_str()).collect();
    !names.contains("_rescued_data")
        && analysis.flows.iter().any(|flow| {
            let Some(pipeline) = analysis.workspace.pipelines.get(flow.pipeline) else { return false };
            flow.plan.reads().into_iter().any(|read| {
                read.output.iter().any(|column| column.name.as_ref() == "_rescued_data")
                    && facts_for(pipeline, read).is_none_or(|known| source_location(known) == location)
            })
        })
}
