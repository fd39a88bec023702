//! Nodes whose meaning is the content of a function: each row, or each group, gives one row of uninterpreted values.

use super::execution::Execution;
use super::relation::{InputWatermark, Relation};
use crate::engine::error::ExecutionError;
use crate::engine::expression::bind_all;
use crate::engine::row::Row;
use crate::functions::uninterpreted;
use crate::model::{Attribute, DataType, Expr, Opaque, Plan, Value};
use std::collections::BTreeMap;

/// `mapInPandas` and its like go row by row, so that it does not matter how rows are split into batches; with keys it is
/// `applyInPandas`, one row for each group.
pub(super) fn opaque(
    execution: &mut Execution<'_>,
    function: &Opaque,
    keys: &[Expr],
    inputs: &[Plan],
    output: &[Attribute],
) -> Result<Relation, ExecutionError> {
    if inputs.is_empty() || output.is_empty() {
        let why = if function.reason.is_empty() { "its columns are not declared" } else { &function.reason };
        return Err(ExecutionError::unsupported(format!("`{}` cannot be executed: {why}", function.name)));
    }
    execution.evaluator.note_uninterpreted(&function.name);
    let mut rows = Vec::new();
    let mut streaming = false;
    let mut watermark = None;
    for (number, input) in inputs.iter().enumerate() {
        let relation = execution.execute(input)?;
        streaming |= relation.streaming;
        watermark = InputWatermark::lowest(watermark, relation.watermark);
        let identity = format!("{}#{number}", function.identity());
        if keys.is_empty() {
            rows.extend(relation.rows.iter().map(|row| made_row(&identity, row, output)));
            continue;
        }
        let keys = bind_all(keys, &relation.columns, execution.evaluator)?;
        let mut groups: BTreeMap<Row, Vec<Value>> = BTreeMap::new();
        for (index, row) in relation.rows.iter().enumerate() {
            let key = execution.evaluator.row(&keys, row, index)?;
            groups.entry(key).or_default().push(Value::Struct(row.clone()));
        }
        for mut group in groups.into_values() {
            group.sort();
            rows.push(made_row(&identity, &group, output));
        }
    }
    let columns = output.iter().map(|column| Attribute { watermark_delay: None, ..column.clone() }).collect();
    Ok(Relation { columns, rows, streaming, watermark })
}

/// One uninterpreted value for each column. A declared `bigint` gets the number that an `int` would: to declare it wider changes
/// no value.
pub(super) fn made_row(identity: &str, args: &[Value], columns: &[Attribute]) -> Row {
    let value = |column: &Attribute| {
        let identity = format!("{identity}.{}", column.name);
        match column.data_type {
            DataType::Long => match uninterpreted(&identity, args, &DataType::Int) {
                Value::Int(small) => Value::Long(i64::from(small)),
                other => other,
            },
            _ => uninterpreted(&identity, args, &column.data_type),
        }
    };
    columns.iter().map(value).collect()
}

/// Which rows a sample takes is not Spark's choice, but as arbitrary and as stable.
pub(super) fn sample(
    execution: &mut Execution<'_>,
    description: &str,
    input: &Plan,
) -> Result<Relation, ExecutionError> {
    let mut relation = execution.execute(input)?;
    execution.evaluator.note_uninterpreted("sample");
    relation.rows.retain(|row| uninterpreted(description, row, &DataType::Boolean) == Value::Boolean(true));
    Ok(relation)
}
