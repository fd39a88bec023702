//! Columns of datasets: as declared, else as their flows give them; AUTO CDC targets by their specification.

use super::AnalyzedFlow;
use super::resolve::expression::data_type;
use crate::model::{CdcSpec, ColumnSelection, DataType, Dataset, DatasetKind, Field, ScdType, Schema, Workspace};

/// A schema that needs no query: all declared columns have types.
pub(super) fn declared(dataset: &Dataset) -> Option<Schema> {
    let schema = dataset.declared.as_ref()?;
    let typed = !schema.fields.is_empty() && schema.fields.iter().all(|f| !matches!(f.data_type, DataType::Unknown));
    typed.then(|| with_generated(schema.clone(), dataset))
}

/// The schema of a dataset whose flows have been analysed.
pub(super) fn of_dataset(workspace: &Workspace, dataset: &Dataset, flows: &[AnalyzedFlow]) -> Option<Schema> {
    let written: Vec<Schema> = flows.iter().map(|flow| written_by(workspace, flow)).collect();
    let inferred = super::flow::merge_schemas(written.iter());
    let Some(declared) = &dataset.declared else {
        return inferred.map(|schema| with_generated(schema, dataset));
    };
    let mut schema = declared.clone();
    if schema.fields.is_empty() {
        return inferred.map(|schema| with_generated(schema, dataset));
    }
    for (position, field) in schema.fields.iter_mut().enumerate() {
        if !matches!(field.data_type, DataType::Unknown) {
            continue;
        }
        // A view's column list renames by position, a table's declaration goes by name.
        let found = match (&inferred, dataset.kind) {
            (Some(inferred), DatasetKind::View) => inferred.fields.get(position),
            (Some(inferred), _) => inferred.field(&field.name).or_else(|| inferred.fields.get(position)),
            (None, _) => None,
        };
        if let Some(found) = found {
            field.data_type = found.data_type.clone();
        }
    }
    Some(with_generated(schema, dataset))
}

fn with_generated(mut schema: Schema, dataset: &Dataset) -> Schema {
    for column in &dataset.generated {
        if schema.field(&column.field.name).is_none() {
            schema.fields.push(column.field.clone());
        }
    }
    schema
}

/// Columns that a flow writes into its target.
fn written_by(workspace: &Workspace, flow: &AnalyzedFlow) -> Schema {
    let spec = workspace.pipelines.get(flow.pipeline).and_then(|p| p.flows.get(flow.flow)).and_then(|f| f.cdc());
    match spec {
        Some(spec) => cdc_target(spec, flow),
        None => flow.schema.clone(),
    }
}

/// The chosen columns of the source; SCD type 2 adds the validity columns, of the sequence's type.
fn cdc_target(spec: &CdcSpec, flow: &AnalyzedFlow) -> Schema {
    let named = |names: &[String], field: &Field| names.iter().any(|name| name.eq_ignore_ascii_case(&field.name));
    let mut schema = flow.schema.clone();
    match &spec.columns {
        ColumnSelection::All => {}
        ColumnSelection::Only(names) => {
            schema.fields.retain(|field| named(names, field));
            schema.complete = true;
        }
        ColumnSelection::Except(names) => schema.fields.retain(|field| !named(names, field)),
    }
    if spec.scd_type == ScdType::Two {
        let sequence = flow.cdc.as_ref().and_then(|cdc| cdc.sequence_by.as_ref()).map(data_type);
        let sequence = sequence.unwrap_or(DataType::Unknown);
        schema.fields.push(Field::new("__START_AT", sequence.clone()));
        schema.fields.push(Field::new("__END_AT", sequence));
    }
    schema
}
