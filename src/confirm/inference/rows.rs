//! Types of columns that nobody declares, by the rows that are given for their source.

use super::{Inferred, facts};
use crate::analyze::{Analysis, analyze};
use crate::confirm::{Batch, Data, sources};
use crate::engine::{Record, source_location};
use crate::model::{DataType, Field, SourceFacts};
use serde_json::Value as Json;

/// The same with the columns of the given rows as facts of the sources that they are for; what is declared stays.
pub fn typed_by_rows(analysis: &Analysis, data: &Data) -> Analysis {
    let known = sources(analysis, analysis).after;
    let inferred: Inferred = known
        .iter()
        .map(|facts| (source_location(facts), columns(facts, data)))
        .filter(|(_, c)| !c.is_empty())
        .collect();
    let mut workspace = analysis.workspace.clone();
    for flow in &analysis.flows {
        if let Some(pipeline) = workspace.pipelines.get_mut(flow.pipeline) {
            facts::add(pipeline, &flow.plan, &inferred);
        }
    }
    analyze(workspace)
}

/// Columns in the order in which rows first name them.
fn columns(facts: &SourceFacts, data: &Data) -> Vec<Field> {
    let mut columns: Vec<Field> = Vec::new();
    let rows = |batch| Batch::rows(batch, &facts.name).into_iter().flatten();
    for (name, value) in data.batches.iter().flat_map(rows).flat_map(Record::iter) {
        let seen = data_type(value);
        match columns.iter_mut().find(|column| column.name == *name) {
            Some(column) => column.data_type = both(&column.data_type, &seen),
            None => columns.push(Field { name: name.clone(), data_type: seen, nullable: true }),
        }
    }
    for column in columns.iter_mut().filter(|column| column.data_type == DataType::Null) {
        column.data_type = DataType::String;
    }
    columns
}

/// As Spark's JSON source infers it; text stands for what has members.
fn data_type(value: &Json) -> DataType {
    match value {
        Json::Null => DataType::Null,
        Json::Bool(_) => DataType::Boolean,
        Json::Number(number) if number.is_f64() => DataType::Double,
        Json::Number(_) => DataType::Long,
        _ => DataType::String,
    }
}

fn both(a: &DataType, b: &DataType) -> DataType {
    match (a, b) {
        (a, b) if a == b => a.clone(),
        (DataType::Null, known) | (known, DataType::Null) => known.clone(),
        (DataType::Long | DataType::Double, DataType::Long | DataType::Double) => DataType::Double,
        _ => DataType::String,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn columns_have_the_type_that_all_their_values_fit() {
        let row = |value: Json| value.as_object().cloned().unwrap_or_default();
        let rows = vec![
            row(json!({"id": 1, "x": null, "y": 1, "z": true})),
            row(json!({"id": 2, "x": null, "y": 1.5, "z": "no"})),
        ];
        let batch = Batch { sources: [("events".to_owned(), rows)].into_iter().collect() };
        let facts = SourceFacts {
            name: "main.raw.events".to_owned(),
            format: None,
            schema: None,
            partitioned_by: Vec::new(),
            retention: None,
            path: None,
            other: Default::default(),
            span: None,
        };
        let found: Vec<(String, DataType)> = columns(&facts, &Data { batches: vec![batch] })
            .into_iter()
            .map(|column| (column.name, column.data_type))
            .collect();
        let expected =
            [("id", DataType::Long), ("x", DataType::String), ("y", DataType::Double), ("z", DataType::String)];
        assert_eq!(found, expected.map(|(name, data_type)| (name.to_owned(), data_type)));
    }
}
