//! `explode` and the other generators: each input row with every row that the generator gives for it.

use super::execution::Execution;
use super::relation::Relation;
use crate::engine::error::ExecutionError;
use crate::engine::expression::BoundGenerator;
use crate::engine::row::Row;
use crate::model::{Attribute, Expr, Plan, Value};

pub(super) fn generate(
    execution: &mut Execution<'_>,
    generator: &Expr,
    outer: bool,
    output: &[Expr],
    input: &Plan,
) -> Result<Relation, ExecutionError> {
    let relation = execution.execute(input)?;
    let generator = BoundGenerator::bind(generator, &relation.columns, execution.evaluator)?;
    let mut columns = relation.columns.clone();
    for (position, expr) in output.iter().enumerate() {
        let Expr::Attribute(attribute) = expr else {
            return Err(ExecutionError::unsupported("the columns of a generator are not resolved"));
        };
        let field = generator.fields.get(position);
        columns.push(Attribute {
            data_type: field.map_or_else(|| attribute.data_type.clone(), |field| field.data_type.clone()),
            nullable: outer || field.is_none_or(|field| field.nullable),
            watermark_delay: None,
            ..attribute.clone()
        });
    }
    let width = output.len();
    let mut rows: Vec<Row> = Vec::new();
    for (index, row) in relation.rows.iter().enumerate() {
        let made = generator.rows(execution.evaluator, row, index)?;
        execution.evaluator.work.rows(made.len())?;
        if made.is_empty() && outer {
            rows.push(row.iter().cloned().chain(std::iter::repeat_n(Value::Null, width)).collect());
        }
        for cells in made {
            let cells = cells.into_iter().chain(std::iter::repeat(Value::Null)).take(width);
            rows.push(row.iter().cloned().chain(cells).collect());
        }
    }
    Ok(relation.with(columns, rows))
}
