//! Generated columns, NOT NULL and CHECK: what a table fills itself, and which rows it refuses (`DeltaInvariantCheckerExec`).

use super::TableConstraint;
use crate::engine::batch::values;
use crate::engine::error::ExecutionError;
use crate::engine::row::{Row, Rows};
use crate::model::{Expr, Value};

/// Rows with generated columns filled, none of which violates what the table demands; `given` tells the columns that were written.
///
/// # Errors
/// `DELTA_MISSING_NOT_NULL_COLUMN_VALUE`, `DELTA_NOT_NULL_CONSTRAINT_VIOLATED`, `DELTA_VIOLATE_CONSTRAINT_WITH_VALUES`, and what a
/// condition fails with.
pub fn enforce(rows: Rows, given: &[bool], constraints: &[TableConstraint]) -> Result<Vec<Row>, ExecutionError> {
    let generated = |name: &str| {
        constraints.iter().find_map(|constraint| match constraint {
            TableConstraint::Generated { column, value } if column.eq_ignore_ascii_case(name) => Some(value),
            _ => None,
        })
    };
    let mut rows = rows;
    for (at, field) in rows.schema.fields.iter().enumerate() {
        let is_given = given.get(at).copied().unwrap_or(true);
        if is_given {
            continue;
        }
        match generated(&field.name) {
            Some(Some(value)) => {
                let cast = Expr::Cast { expr: Box::new(value.clone()), to: field.data_type.clone(), try_cast: false };
                let filled = values(&rows, vec![cast.alias(field.name.as_str())])?;
                rows.rows = rows.rows.iter().zip(filled).map(|(row, new)| with(row, at, new.first())).collect();
            }
            // An identity column counts by itself.
            Some(None) => {}
            None if !field.nullable => {
                let message = format!("column `{}`, which has a NOT NULL constraint, is missing", field.name);
                return Err(ExecutionError::new("DELTA_MISSING_NOT_NULL_COLUMN_VALUE", message));
            }
            None => {}
        }
    }
    for (at, field) in rows.schema.fields.iter().enumerate() {
        let identity = matches!(generated(&field.name), Some(None));
        if !field.nullable && !identity && rows.rows.iter().any(|row| row.get(at).is_none_or(Value::is_null)) {
            let message = format!("NOT NULL constraint violated for column: {}", field.name);
            return Err(ExecutionError::new("DELTA_NOT_NULL_CONSTRAINT_VIOLATED", message));
        }
    }
    for constraint in constraints {
        let (name, condition) = match constraint {
            TableConstraint::Check { name, condition } => (name, condition.clone()),
            TableConstraint::Generated { column, value: Some(value) } => {
                (column, Expr::call("<=>", vec![Expr::column(column), value.clone()]))
            }
            TableConstraint::Generated { value: None, .. } => continue,
        };
        let holds = values(&rows, vec![condition.alias("__holds")])?;
        // NULL violates it too.
        if holds.iter().any(|row| row.first() != Some(&Value::Boolean(true))) {
            let message = format!("CHECK constraint {name} is violated by a row");
            return Err(ExecutionError::new("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", message));
        }
    }
    Ok(rows.rows)
}

fn with(row: &Row, at: usize, value: Option<&Value>) -> Row {
    let cells = row.iter().enumerate().map(|(index, old)| if index == at { value.unwrap_or(old) } else { old });
    cells.cloned().collect()
}
