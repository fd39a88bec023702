//! Subqueries in expressions: scalar, EXISTS and IN, correlated or not.

use super::{Bound, Evaluator};
use crate::engine::error::ExecutionError;
use crate::engine::operators::run_subquery;
use crate::engine::row::Row;
use crate::model::{AttrId, Attribute, DataType, Expr, Plan, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What the outer expression asks of the subquery's rows.
#[derive(Debug, Clone)]
pub(in crate::engine) enum Membership {
    Scalar,
    Exists { negated: bool },
    In { operands: Vec<Bound>, negated: bool },
}

#[derive(Debug, Clone)]
pub(in crate::engine) struct BoundSubquery {
    membership: Membership,
    plan: Arc<Plan>,
    /// Columns of the row around it.
    outer: Vec<Attribute>,
    /// Rows of a subquery that does not hang on the outer row.
    constant: Option<Vec<Row>>,
    /// Type of its first column.
    pub scalar_type: DataType,
}

impl BoundSubquery {
    /// Runs the subquery at once if it is uncorrelated.
    ///
    /// # Errors
    /// Those of the run.
    pub fn new(
        membership: Membership,
        plan: &Plan,
        outer: &[Attribute],
        evaluator: &Evaluator<'_>,
    ) -> Result<Self, ExecutionError> {
        let mut used = BTreeSet::new();
        attributes(plan, &mut used);
        let correlated = outer.iter().any(|column| used.contains(&column.id));
        let constant = if correlated { None } else { Some(run_subquery(plan, evaluator)?) };
        let columns = match &constant {
            Some((columns, _)) => columns.clone(),
            // A row of NULLs tells the types; whatever it fails with is no failure of the query.
            None => {
                let nulls: Row = outer.iter().map(|_| Value::Null).collect();
                run_subquery(plan, &evaluator.inside(outer, &nulls)).map(|(columns, _)| columns).unwrap_or_default()
            }
        };
        let scalar_type = columns.first().map_or(DataType::Unknown, |column| column.data_type.clone());
        let constant = constant.map(|(_, rows)| rows);
        Ok(BoundSubquery { membership, plan: Arc::new(plan.clone()), outer: outer.to_vec(), constant, scalar_type })
    }

    /// # Errors
    /// `SCALAR_SUBQUERY_TOO_MANY_ROWS`, and those of the run and of the operands.
    pub fn evaluate(
        &self,
        evaluator: &Evaluator<'_>,
        row: &Row,
        operand: impl Fn(&Bound) -> Result<Value, ExecutionError>,
    ) -> Result<Value, ExecutionError> {
        let fresh;
        let rows = match &self.constant {
            Some(rows) => rows,
            None => {
                fresh = run_subquery(&self.plan, &evaluator.inside(&self.outer, row))?.1;
                &fresh
            }
        };
        match &self.membership {
            Membership::Scalar => match rows.as_slice() {
                [] => Ok(Value::Null),
                [only] => Ok(only.first().cloned().unwrap_or(Value::Null)),
                _ => Err(ExecutionError::new(
                    "SCALAR_SUBQUERY_TOO_MANY_ROWS",
                    "more than one row returned by a subquery used as an expression",
                )),
            },
            Membership::Exists { negated } => Ok(Value::Boolean(rows.is_empty() == *negated)),
            Membership::In { operands, negated } => {
                let operands: Vec<Value> = operands.iter().map(operand).collect::<Result<_, _>>()?;
                Ok(match contains(rows, &operands) {
                    Some(found) => Value::Boolean(found != *negated),
                    None => Value::Null,
                })
            }
        }
    }
}

/// Three-valued membership: unknown if no row is equal and some would be but for a NULL.
fn contains(rows: &[Row], operands: &[Value]) -> Option<bool> {
    let mut unknown = false;
    for row in rows {
        let mut pairs = operands.iter().zip(row.iter());
        if pairs.clone().all(|(a, b)| !a.is_null() && !b.is_null() && a == b) {
            return Some(true);
        }
        unknown |= pairs.all(|(a, b)| a.is_null() || b.is_null() || a == b);
    }
    if unknown { None } else { Some(false) }
}

/// Ids of all attributes that a plan, its expressions and their subqueries name.
fn attributes(plan: &Plan, ids: &mut BTreeSet<AttrId>) {
    let mut nested: Vec<&Plan> = Vec::new();
    plan.walk(&mut |node| {
        for expr in node.expressions() {
            expr.walk(&mut |e| match e {
                Expr::Attribute(attribute) => {
                    ids.insert(attribute.id);
                }
                Expr::Subquery { plan, .. } => nested.push(plan),
                _ => {}
            });
        }
    });
    for plan in nested {
        attributes(plan, ids);
    }
}
