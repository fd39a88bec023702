//! Union and unpivot: operators that put rows below each other.

use super::execution::Execution;
use super::relation::{InputWatermark, Relation};
use super::schema;
use crate::engine::error::ExecutionError;
use crate::engine::expression::{bind, bind_all};
use crate::engine::row::{Row, Rows};
use crate::model::{Attribute, Expr, Plan, Value};

pub(super) fn union(
    execution: &mut Execution<'_>,
    inputs: &[Plan],
    by_name: bool,
    allow_missing: bool,
    output: &[Attribute],
) -> Result<Relation, ExecutionError> {
    let mut relations = Vec::with_capacity(inputs.len());
    for input in inputs {
        relations.push(execution.execute(input)?);
    }
    let Some(first) = relations.first() else {
        return Err(ExecutionError::unsupported("a union has no inputs"));
    };
    let mut columns = if output.is_empty() { first.columns.clone() } else { output.to_vec() };
    for (position, column) in columns.iter_mut().enumerate() {
        let inputs = relations.iter().filter_map(|relation| relation.columns.get(position));
        column.nullable = inputs.clone().any(|input| input.nullable);
        column.watermark_delay = first.columns.get(position).and_then(|input| input.watermark_delay);
    }
    let mut rows = Vec::new();
    let mut watermark = None;
    let mut streaming = false;
    for relation in &relations {
        watermark = InputWatermark::lowest(watermark, relation.watermark);
        streaming |= relation.streaming;
        if by_name {
            rows.extend(Rows::new(schema(&relation.columns), relation.rows.clone()).project(&columns));
        } else if relation.columns.len() != columns.len() && !allow_missing {
            return Err(ExecutionError::new(
                "NUM_COLUMNS_MISMATCH",
                "union can only be performed on inputs with the same number of columns",
            ));
        } else {
            rows.extend(relation.rows.iter().cloned());
        }
    }
    Ok(Relation { columns, rows, streaming, watermark })
}

/// One row for each of the values, with the identifying columns repeated, the value's column name and the value. A NULL value
/// gives no row, as SQL's default (EXCLUDE NULLS) has it; the DataFrame's `unpivot` keeps it.
pub(super) fn unpivot(
    execution: &mut Execution<'_>,
    ids: &[Expr],
    values: &[Expr],
    input: &Plan,
    output: &[Attribute],
) -> Result<Relation, ExecutionError> {
    let relation = execution.execute(input)?;
    let bound_ids = bind_all(ids, &relation.columns, execution.evaluator)?;
    if output.len() != ids.len() + 2 {
        return Err(ExecutionError::unsupported("the columns of UNPIVOT are not resolved"));
    }
    let mut bound_values = Vec::with_capacity(values.len());
    for value in values {
        let bound = bind(value, &relation.columns, execution.evaluator)?;
        let name = bound.name.clone().unwrap_or_default();
        bound_values.push((Value::String(name), bound));
    }
    let mut rows: Vec<Row> = Vec::new();
    for (index, row) in relation.rows.iter().enumerate() {
        let prefix = execution.evaluator.row(&bound_ids, row, index)?;
        for (name, bound) in &bound_values {
            let value = execution.evaluator.evaluate(bound, row, index)?;
            rows.push(prefix.iter().cloned().chain([name.clone(), value]).collect());
        }
    }
    Ok(relation.with(output.to_vec(), rows))
}
