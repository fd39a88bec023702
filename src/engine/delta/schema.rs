//! Schema enforcement and evolution: which columns a write may bring, and how values become those of the table's columns.

use super::{is_true, mismatch};
use crate::engine::error::ExecutionError;
use crate::engine::materialize::widens;
use crate::engine::row::{Row, Rows};
use crate::functions;
use crate::model::{DataType, Field, Schema, Value};
use jiff::tz::TimeZone;
use std::collections::BTreeMap;

const AUTO_MERGE: &str = "spark.databricks.delta.schema.autoMerge.enabled";

/// What a writer may do to a table's columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evolution {
    /// `mergeSchema`, or `autoMerge` of the session.
    pub merges: bool,
    /// `overwriteSchema`, where all rows are replaced.
    pub overwrites: bool,
    /// The table lets types widen.
    widens: bool,
    /// The sink casts to the table's types (Delta 4.0 and later).
    casts: bool,
}

impl Evolution {
    pub fn of(
        options: &BTreeMap<String, String>,
        configuration: &BTreeMap<String, String>,
        version: (u32, u32),
    ) -> Self {
        let option = |name: &str| options.get(name).map(|value| is_true(value));
        let session = configuration.get(AUTO_MERGE).is_some_and(|value| is_true(value));
        Evolution {
            merges: option("mergeschema").unwrap_or(session),
            overwrites: option("overwriteschema").unwrap_or(false),
            widens: false,
            casts: version >= (4, 0),
        }
    }

    pub fn for_table(self, properties: &BTreeMap<String, String>) -> Self {
        let on = properties.get("delta.enableTypeWidening").is_some_and(|value| is_true(value));
        Evolution { widens: on && self.merges, ..self }
    }
}

/// The table's columns after a write of rows with these.
///
/// # Errors
/// `DELTA_METADATA_MISMATCH` for columns and fields that are new, `DELTA_FAILED_TO_MERGE_FIELDS` for types that do not go together,
/// `DELTA_NULL_SCHEMA_IN_STREAMING_WRITE`.
pub fn on_write(known: &Schema, written: &Schema, by: &Evolution, table: &str) -> Result<Schema, ExecutionError> {
    if let Some(void) = written.fields.iter().find(|field| field.data_type == DataType::Null) {
        return Err(ExecutionError::new(
            "DELTA_NULL_SCHEMA_IN_STREAMING_WRITE",
            format!("column `{}` has no type: Delta does not accept it in a streaming write", void.name),
        ));
    }
    let fields = fields_on_write(&known.fields, &written.fields, by, table)?;
    Ok(Schema { fields, complete: known.complete })
}

fn fields_on_write(
    known: &[Field],
    written: &[Field],
    by: &Evolution,
    table: &str,
) -> Result<Vec<Field>, ExecutionError> {
    let mut fields = Vec::new();
    for field in known {
        let twin = written.iter().find(|other| other.name.eq_ignore_ascii_case(&field.name));
        let data_type = match twin {
            Some(twin) => type_on_write(&field.name, &field.data_type, &twin.data_type, by, table)?,
            None => field.data_type.clone(),
        };
        fields.push(Field { data_type, ..field.clone() });
    }
    let is_new = |field: &&Field| !known.iter().any(|other| other.name.eq_ignore_ascii_case(&field.name));
    for field in written.iter().filter(is_new) {
        if !by.merges {
            return Err(mismatch(table, &format!("new column `{}`", field.name)));
        }
        fields.push(Field { nullable: true, ..field.clone() });
    }
    Ok(fields)
}

fn type_on_write(
    name: &str,
    known: &DataType,
    written: &DataType,
    by: &Evolution,
    table: &str,
) -> Result<DataType, ExecutionError> {
    Ok(match (known, written) {
        (DataType::Struct(a), DataType::Struct(b)) => DataType::Struct(fields_on_write(a, b, by, table)?),
        (DataType::Array { element: a, contains_null }, DataType::Array { element: b, .. }) => {
            DataType::Array { element: Box::new(type_on_write(name, a, b, by, table)?), contains_null: *contains_null }
        }
        (DataType::Map { key: a, value: x, value_contains_null }, DataType::Map { key: b, value: y, .. }) => {
            DataType::Map {
                key: Box::new(type_on_write(name, a, b, by, table)?),
                value: Box::new(type_on_write(name, x, y, by, table)?),
                value_contains_null: *value_contains_null,
            }
        }
        (DataType::Unknown, found) | (found, DataType::Unknown) => found.clone(),
        _ if known == written => known.clone(),
        _ if by.widens && widens(known, written) => written.clone(),
        _ if by.casts && functions::can_cast(written, known, true) => known.clone(),
        _ if !by.casts && widens(written, known) => known.clone(),
        _ => {
            return Err(ExecutionError::new(
                "DELTA_FAILED_TO_MERGE_FIELDS",
                format!("failed to merge the types {known} and {written} of column `{name}`"),
            ));
        }
    })
}

/// Rows under the table's columns, found by name without letter case; NULL where the query gives none.
///
/// # Errors
/// What a value that does not fit is refused with: `CAST_OVERFLOW_IN_TABLE_INSERT`, `CAST_INVALID_INPUT`.
pub fn by_name(rows: &Rows, schema: &Schema) -> Result<Vec<Row>, ExecutionError> {
    let from = |field: &Field| {
        let fields = &rows.schema.fields;
        let at = fields.iter().position(|other| other.name.eq_ignore_ascii_case(&field.name))?;
        Some((at, &fields.get(at)?.data_type))
    };
    let sources: Vec<Option<(usize, &DataType)>> = schema.fields.iter().map(from).collect();
    let row = |row: &Row| -> Result<Row, ExecutionError> {
        sources
            .iter()
            .zip(&schema.fields)
            .map(|(source, field)| match source {
                Some((at, from)) => store(row.get(*at).unwrap_or(&Value::Null), from, &field.data_type),
                None => Ok(Value::Null),
            })
            .collect()
    };
    rows.rows.iter().map(row).collect()
}

/// Store assignment: an ANSI cast, with the fields of structs found by name.
fn store(value: &Value, from: &DataType, to: &DataType) -> Result<Value, ExecutionError> {
    Ok(match (value, from, to) {
        _ if from == to || from.is_unknown() || to.is_unknown() => value.clone(),
        (Value::Null | Value::Opaque(_), ..) => value.clone(),
        (Value::Struct(items), DataType::Struct(given), DataType::Struct(wanted)) => {
            let field = |field: &Field| -> Result<Value, ExecutionError> {
                let at = given.iter().position(|other| other.name.eq_ignore_ascii_case(&field.name));
                match at.and_then(|at| Some((items.get(at)?, given.get(at)?))) {
                    Some((item, known)) => store(item, &known.data_type, &field.data_type),
                    None => Ok(Value::Null),
                }
            };
            Value::Struct(wanted.iter().map(field).collect::<Result<Vec<_>, _>>()?.into())
        }
        (Value::Array(items), DataType::Array { element: from, .. }, DataType::Array { element: to, .. }) => {
            let items = items.iter().map(|item| store(item, from, to)).collect::<Result<Vec<_>, _>>()?;
            Value::Array(items.into_iter().collect())
        }
        _ => functions::cast(value, from, to, true, &TimeZone::UTC).map_err(|error| in_insert(error.into()))?,
    })
}

/// An overflow on the way into a table has a class of its own.
fn in_insert(error: ExecutionError) -> ExecutionError {
    match error.class.as_str() {
        "CAST_OVERFLOW" | "NUMERIC_VALUE_OUT_OF_RANGE" => {
            ExecutionError::new("CAST_OVERFLOW_IN_TABLE_INSERT", error.message)
        }
        _ => error,
    }
}
