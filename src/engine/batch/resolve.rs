//! How a query's columns meet a table's: by position or by name, with Spark's store assignment.

use crate::engine::error::ExecutionError;
use crate::engine::row::{Row, Rows};
use crate::functions;
use crate::model::{DataType, Schema, Value};
use jiff::tz::TimeZone;

/// A column's place, exact letter case first.
pub fn position(schema: &Schema, name: &str) -> Option<usize> {
    let fields = &schema.fields;
    let exact = fields.iter().position(|field| field.name == name);
    exact.or_else(|| fields.iter().position(|field| field.name.eq_ignore_ascii_case(name)))
}

/// How columns are matched, and what a missing one means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matching {
    Position,
    /// A column that the query lacks is an error.
    Name,
    /// A column that the query lacks is NULL.
    NameWithDefaults,
}

/// The query's rows as rows of the table.
///
/// # Errors
/// `INSERT_COLUMN_ARITY_MISMATCH`, `INCOMPATIBLE_DATA_FOR_TABLE`, or what a cast fails with.
pub fn assign(rows: &Rows, table: &Schema, matching: Matching) -> Result<Vec<Row>, ExecutionError> {
    let (given, wanted) = (rows.schema.fields.len(), table.fields.len());
    let few = given < wanted && matching != Matching::NameWithDefaults;
    let missing = table.fields.iter().find(|field| position(&rows.schema, &field.name).is_none());
    if given > wanted {
        return Err(arity("TOO_MANY_DATA_COLUMNS", given, wanted));
    }
    if matching == Matching::Position && few {
        return Err(arity("NOT_ENOUGH_DATA_COLUMNS", given, wanted));
    }
    if let (Matching::Name, Some(field)) = (matching, missing) {
        return Err(ExecutionError::new(
            "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_FIND_DATA",
            format!("the query gives no data for {}", field.name),
        ));
    }
    let mut sources = Vec::new();
    for (at, field) in table.fields.iter().enumerate() {
        let source = if matching == Matching::Position { Some(at) } else { position(&rows.schema, &field.name) };
        let from = source.and_then(|at| rows.schema.fields.get(at)).map(|from| from.data_type.clone());
        if let Some(from) = &from
            && !storable(from, &field.data_type)
        {
            return Err(ExecutionError::new(
                "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST",
                format!("{} cannot be written to {} ({})", from, field.name, field.data_type),
            ));
        }
        sources.push((source, from, &field.data_type));
    }
    let convert = |row: &Row| -> Result<Row, ExecutionError> {
        sources
            .iter()
            .map(|(source, from, to)| {
                let value = source.and_then(|at| row.get(at)).cloned().unwrap_or(Value::Null);
                match from {
                    Some(from) if from != *to && !from.is_unknown() && *from != DataType::Null => {
                        Ok(functions::cast(&value, from, to, true, &TimeZone::UTC)?)
                    }
                    _ => Ok(value),
                }
            })
            .collect()
    };
    rows.rows.iter().map(convert).collect()
}

fn arity(kind: &str, given: usize, wanted: usize) -> ExecutionError {
    let message = format!("the query gives {given} columns, the table has {wanted}");
    ExecutionError::new(format!("INSERT_COLUMN_ARITY_MISMATCH.{kind}"), message)
}

/// `spark.sql.storeAssignmentPolicy = ANSI` (`Cast.canANSIStoreAssign`).
pub fn storable(from: &DataType, to: &DataType) -> bool {
    use DataType::{Binary, Boolean, Date, Null, String, Timestamp, TimestampNtz};
    let numeric = |t: &DataType| {
        matches!(
            t,
            DataType::Byte
                | DataType::Short
                | DataType::Int
                | DataType::Long
                | DataType::Float
                | DataType::Double
                | DataType::Decimal { .. }
        )
    };
    let temporal = |t: &DataType| matches!(t, Date | Timestamp | TimestampNtz);
    if from == to || *from == Null || from.is_unknown() || to.is_unknown() {
        return true;
    }
    match (from, to) {
        (_, String) => !matches!(from, Binary | DataType::Array { .. } | DataType::Map { .. } | DataType::Struct(_)),
        (Boolean, _) | (_, Boolean) => false,
        (a, b) if numeric(a) && numeric(b) => true,
        (a, b) if temporal(a) && temporal(b) => true,
        (DataType::Array { .. }, DataType::Array { .. })
        | (DataType::Map { .. }, DataType::Map { .. })
        | (DataType::Struct(_), DataType::Struct(_)) => true,
        _ => false,
    }
}
