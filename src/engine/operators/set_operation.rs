//! INTERSECT and EXCEPT, with and without ALL.

use super::execution::Execution;
use super::relation::Relation;
use crate::engine::error::ExecutionError;
use crate::engine::row::Row;
use crate::model::{Plan, SetOperation};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn set_operation(
    execution: &mut Execution<'_>,
    operation: SetOperation,
    all: bool,
    left: &Plan,
    right: &Plan,
) -> Result<Relation, ExecutionError> {
    let mut left = execution.execute(left)?;
    let right = execution.execute(right)?;
    let mut count: BTreeMap<&Row, usize> = BTreeMap::new();
    for row in &right.rows {
        *count.entry(row).or_default() += 1;
    }
    let mut seen: BTreeSet<Row> = BTreeSet::new();
    let rows = std::mem::take(&mut left.rows);
    left.rows = rows
        .into_iter()
        .filter(|row| {
            let matched = match count.get_mut(row) {
                Some(left) if *left > 0 => {
                    if all {
                        *left -= 1;
                    }
                    true
                }
                _ => false,
            };
            let wanted = matched == (operation == SetOperation::Intersect);
            wanted && (all || seen.insert(row.clone()))
        })
        .collect();
    left.streaming |= right.streaming;
    Ok(left)
}
