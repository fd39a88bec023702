//! Project and filter.

use super::execution::Execution;
use super::not_null;
use super::relation::Relation;
use super::time_window;
use crate::engine::error::ExecutionError;
use crate::engine::expression::{Bound, bind, bind_all};
use crate::model::{AttrId, Attribute, Expr, Plan};

pub(super) fn project(execution: &mut Execution<'_>, list: &[Expr], input: &Plan) -> Result<Relation, ExecutionError> {
    let relation = execution.execute(input)?;
    let (relation, list) = time_window::expand(execution.evaluator, relation, list)?;
    let bound = bind_all(&list, &relation.columns, execution.evaluator)?;
    let columns = list.iter().zip(&bound).map(|(expr, bound)| named(expr, bound)).collect::<Result<_, _>>()?;
    let rows = relation
        .rows
        .iter()
        .enumerate()
        .map(|(index, row)| execution.evaluator.row(&bound, row, index))
        .collect::<Result<_, _>>()?;
    Ok(relation.with(columns, rows))
}

/// The column that a named expression makes.
///
/// # Errors
/// `UNSUPPORTED_PLAN` where it has no name.
pub(super) fn named(expr: &Expr, bound: &Bound) -> Result<Attribute, ExecutionError> {
    let (id, name, qualifier) = match expr {
        Expr::Attribute(attribute) => (attribute.id, &attribute.name, attribute.qualifier.clone()),
        Expr::Alias { id, name, .. } => (*id, name, Vec::new()),
        _ => return Err(ExecutionError::unsupported("a column of a list has no name")),
    };
    Ok(Attribute {
        id,
        name: name.clone(),
        data_type: bound.data_type.clone(),
        nullable: bound.nullable,
        qualifier,
        watermark_delay: bound.watermark_delay,
    })
}

/// A column that exists only inside one operator, by its number there.
pub(super) fn internal_id(number: usize) -> AttrId {
    AttrId(u32::MAX - u32::try_from(number).unwrap_or(u32::MAX / 2))
}

pub(super) fn filter(
    execution: &mut Execution<'_>,
    condition: &Expr,
    input: &Plan,
) -> Result<Relation, ExecutionError> {
    let mut relation = execution.execute(input)?;
    let bound = bind(condition, &relation.columns, execution.evaluator)?;
    let rows = std::mem::take(&mut relation.rows);
    for (index, row) in rows.into_iter().enumerate() {
        if execution.evaluator.holds(&bound, &row, index)? {
            relation.rows.push(row);
        }
    }
    let not_null = not_null::not_null(condition);
    for column in &mut relation.columns {
        column.nullable &= !not_null.contains(&column.id);
    }
    Ok(relation)
}
