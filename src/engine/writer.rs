//! What a writer outside of a pipeline does to the columns of the table it finds: each format enforces its own rules.

use super::error::ExecutionError;
use super::materialize::widens;
use super::table::{Table, TableFormat};
use crate::model::{DataType, OutputMode, Schema};
use std::collections::BTreeMap;

/// The table's columns after a streaming write of rows with these columns.
///
/// # Errors
/// `IllegalArgumentException` for Iceberg.
pub fn schema_on_write(
    table: &Table,
    written: &Schema,
    options: &BTreeMap<String, String>,
    output_mode: OutputMode,
) -> Result<Schema, ExecutionError> {
    if table.format == TableFormat::Iceberg && output_mode == OutputMode::Update {
        return Err(refused(format!("Update mode is not supported by {}", table.location)));
    }
    match table.format {
        // What Delta makes of a write, its own module says.
        TableFormat::Files(_) | TableFormat::Topic | TableFormat::Delta => Ok(widest(&table.schema, written)),
        TableFormat::Iceberg => iceberg(table, written, options),
    }
}

/// A folder of files takes any columns; a reader finds those of every file.
fn widest(known: &Schema, written: &Schema) -> Schema {
    let mut schema = written.clone();
    schema.fields.extend(known.fields.iter().filter(|field| written.field(&field.name).is_none()).cloned());
    schema
}

fn on(options: &BTreeMap<String, String>, names: &[&str]) -> bool {
    names.iter().any(|name| options.get(*name).is_some_and(|value| value.eq_ignore_ascii_case("true")))
}

/// Iceberg checks names, order and types without widening: a column may be missing, a value may be narrower.
fn iceberg(table: &Table, written: &Schema, options: &BTreeMap<String, String>) -> Result<Schema, ExecutionError> {
    let accepts = table.properties.get("write.spark.accept-any-schema").is_some_and(|value| value == "true");
    let merges = accepts && on(options, &["mergeschema", "merge-schema"]);
    let mut schema = table.schema.clone();
    let mut last = 0;
    for field in &written.fields {
        let Some(at) = schema.fields.iter().position(|known| known.name.eq_ignore_ascii_case(&field.name)) else {
            if !merges {
                return Err(refused(format!("Field {} not found in source schema", field.name)));
            }
            schema.fields.push(field.clone());
            continue;
        };
        if at < last && !on(&invert(options), &["check-ordering"]) {
            return Err(refused(format!(
                "Cannot write incompatible dataset to table with schema: {} is out of order",
                field.name
            )));
        }
        last = at;
        if let Some(known) = schema.fields.get_mut(at) {
            if merges && widens(&known.data_type, &field.data_type) {
                known.data_type = field.data_type.clone();
            } else if !fits(&field.data_type, &known.data_type) {
                return Err(refused(format!(
                    "Cannot write incompatible dataset to table with schema: {}: {} cannot be promoted to {}",
                    field.name, field.data_type, known.data_type
                )));
            }
        }
    }
    Ok(schema)
}

/// Options with true and false exchanged, to ask for one that is on by default.
fn invert(options: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    options.iter().map(|(key, value)| (key.clone(), (!value.eq_ignore_ascii_case("true")).to_string())).collect()
}

fn fits(written: &DataType, column: &DataType) -> bool {
    match (written, column) {
        (DataType::Unknown, _) | (_, DataType::Unknown) => true,
        (DataType::Struct(a), DataType::Struct(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.name == b.name && fits(&a.data_type, &b.data_type))
        }
        (DataType::Array { element: a, .. }, DataType::Array { element: b, .. }) => fits(a, b),
        (DataType::Map { key: a, value: x, .. }, DataType::Map { key: b, value: y, .. }) => fits(a, b) && fits(x, y),
        _ => written == column || widens(written, column),
    }
}

fn refused(message: String) -> ExecutionError {
    ExecutionError::new("IllegalArgumentException", message)
}
