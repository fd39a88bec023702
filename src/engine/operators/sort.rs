//! Sort, and the order of rows under sort keys.

use super::execution::Execution;
use super::relation::Relation;
use crate::engine::error::ExecutionError;
use crate::engine::expression::{Bound, Evaluator, bind};
use crate::engine::row::Row;
use crate::model::{Attribute, Plan, SortKey, Value};
use std::cmp::Ordering;

/// Sort keys bound to columns.
pub(super) struct Order {
    keys: Vec<(Bound, bool, bool)>,
}

impl Order {
    pub fn bind(keys: &[SortKey], columns: &[Attribute], evaluator: &Evaluator<'_>) -> Result<Self, ExecutionError> {
        let bind = |key: &SortKey| Ok((bind(&key.expr, columns, evaluator)?, key.descending, key.nulls_first));
        Ok(Order { keys: keys.iter().map(bind).collect::<Result<_, ExecutionError>>()? })
    }

    /// The values to compare by.
    pub fn values(&self, evaluator: &Evaluator<'_>, row: &Row, index: usize) -> Result<Vec<Value>, ExecutionError> {
        self.keys.iter().map(|(bound, ..)| evaluator.evaluate(bound, row, index)).collect()
    }

    pub fn compare(&self, a: &[Value], b: &[Value]) -> Ordering {
        let mut pairs = a.iter().zip(b).zip(&self.keys);
        pairs
            .find_map(|((a, b), (_, descending, nulls_first))| {
                let order = match (a.is_null(), b.is_null()) {
                    (true, true) => Ordering::Equal,
                    (true, false) if *nulls_first => Ordering::Less,
                    (true, false) => Ordering::Greater,
                    (false, true) if *nulls_first => Ordering::Greater,
                    (false, true) => Ordering::Less,
                    (false, false) if *descending => b.cmp(a),
                    (false, false) => a.cmp(b),
                };
                (order != Ordering::Equal).then_some(order)
            })
            .unwrap_or(Ordering::Equal)
    }

    /// Positions of the rows in order; equal ones stay as they are.
    pub fn sorted(&self, evaluator: &Evaluator<'_>, rows: &[Row]) -> Result<Vec<(usize, Vec<Value>)>, ExecutionError> {
        let mut keyed: Vec<(usize, Vec<Value>)> = rows
            .iter()
            .enumerate()
            .map(|(index, row)| Ok((index, self.values(evaluator, row, index)?)))
            .collect::<Result<_, ExecutionError>>()?;
        keyed.sort_by(|(_, a), (_, b)| self.compare(a, b));
        Ok(keyed)
    }
}

pub(super) fn sort(execution: &mut Execution<'_>, keys: &[SortKey], input: &Plan) -> Result<Relation, ExecutionError> {
    let mut relation = execution.execute(input)?;
    let order = Order::bind(keys, &relation.columns, execution.evaluator)?;
    let sorted = order.sorted(execution.evaluator, &relation.rows)?;
    relation.rows = sorted.into_iter().filter_map(|(index, _)| relation.rows.get(index).cloned()).collect();
    Ok(relation)
}
