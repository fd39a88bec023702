//! Leaves: tables, streams, inline rows and ranges.

use super::execution::Execution;
use super::relation::Relation;
use crate::engine::error::ExecutionError;
use crate::engine::expression::bind;
use crate::engine::row::{Row, Rows};
use crate::model::{Attribute, Expr, Read, Schema, Value};
use std::sync::Arc;

pub(super) fn read(execution: &mut Execution<'_>, read: &Read) -> Result<Relation, ExecutionError> {
    let table;
    let (rows, streaming) = match &mut execution.streaming {
        Some(streaming) if read.streaming => {
            let rows = streaming
                .next_input()
                .ok_or_else(|| ExecutionError::unsupported("a streaming read inside of a subquery is not executed"))?;
            (rows, true)
        }
        _ => {
            table = execution.evaluator.tables.scan(read)?;
            (&table, false)
        }
    };
    let columns: Vec<Attribute> = read.output.iter().map(|column| column_of(rows, column)).collect();
    let picked = rows.project(&columns);
    Ok(Relation { columns, rows: picked, streaming, watermark: None })
}

/// A column as the table has it: its type where the repository does not tell. Whatever an upstream plan says of event time does
/// not cross a table.
fn column_of(rows: &Rows, column: &Attribute) -> Attribute {
    let known = if column.data_type.is_unknown() { rows.schema.field(&column.name) } else { None };
    let data_type = known.map_or_else(|| column.data_type.clone(), |field| field.data_type.clone());
    Attribute { data_type, watermark_delay: None, ..column.clone() }
}

pub(super) fn values(
    execution: &Execution<'_>,
    rows: &[Vec<Expr>],
    schema: &Schema,
    output: &[Attribute],
) -> Result<Relation, ExecutionError> {
    if output.len() != schema.fields.len() {
        return Err(ExecutionError::unsupported("the columns of inline rows are not resolved"));
    }
    let nothing: Row = Arc::new([]);
    let mut built = Vec::with_capacity(rows.len());
    for row in rows {
        let mut cells = Vec::with_capacity(row.len());
        for (expr, column) in row.iter().zip(output) {
            let bound = bind(expr, &[], execution.evaluator)?;
            let value = execution.evaluator.evaluate(&bound, &nothing, 0)?;
            let same = bound.data_type == column.data_type || column.data_type.is_unknown();
            cells.push(if same {
                value
            } else {
                execution.evaluator.cast(&value, &bound.data_type, &column.data_type)?
            });
        }
        built.push(cells.into());
    }
    Ok(Relation::batch(output.to_vec(), built))
}

/// More rows than this are not generated: a range is written down, not data.
const MAX_RANGE: usize = 10_000;

pub(super) fn range(
    execution: &Execution<'_>,
    bounds: [&Expr; 3],
    output: &[Attribute],
) -> Result<Relation, ExecutionError> {
    let nothing: Row = Arc::new([]);
    let mut numbers = [0i64; 3];
    for (number, expr) in numbers.iter_mut().zip(bounds) {
        let bound = bind(expr, &[], execution.evaluator)?;
        *number = integer(&execution.evaluator.evaluate(&bound, &nothing, 0)?)
            .ok_or_else(|| ExecutionError::unsupported("a bound of range() is no integer"))?;
    }
    let [start, end, step] = numbers;
    let mut rows: Vec<Row> = Vec::new();
    let mut next = start;
    while (step > 0 && next < end) || (step < 0 && next > end) {
        if rows.len() >= MAX_RANGE {
            return Err(ExecutionError::unsupported(format!("range() gives more than {MAX_RANGE} rows")));
        }
        rows.push(Arc::new([Value::Long(next)]));
        let Some(following) = next.checked_add(step) else { break };
        next = following;
    }
    Ok(Relation::batch(output.to_vec(), rows))
}

/// An integer value of any width.
pub(super) fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Byte(v) => Some(i64::from(*v)),
        Value::Short(v) => Some(i64::from(*v)),
        Value::Int(v) => Some(i64::from(*v)),
        Value::Long(v) => Some(*v),
        _ => None,
    }
}
