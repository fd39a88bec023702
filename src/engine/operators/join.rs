//! Joins of which at most one side is a stream: the other side is read anew in each batch and no state is kept.

use super::execution::Execution;
use super::join_condition::JoinCondition;
use super::relation::{InputWatermark, Relation};
use super::streaming_join;
use crate::engine::error::ExecutionError;
use crate::engine::expression::{Bound, Evaluator, bind};
use crate::engine::row::Row;
use crate::model::{Attribute, Expr, JoinKind, JoinOn, Plan, Value};
use std::collections::BTreeMap;

pub(super) fn join(
    execution: &mut Execution<'_>,
    left: &Plan,
    right: &Plan,
    kind: JoinKind,
    on: &JoinOn,
    lateral: bool,
) -> Result<Relation, ExecutionError> {
    let condition = match on {
        JoinOn::None => None,
        JoinOn::Condition(condition) => Some(condition),
        JoinOn::Using(_) | JoinOn::Natural => {
            return Err(ExecutionError::unsupported("the columns of a join are not resolved"));
        }
    };
    if lateral {
        return lateral_join(execution, left, right, kind, condition);
    }
    let operator = match execution.stateful(left) {
        Some(streaming) if right.is_streaming() => Some(streaming.operator_id()),
        _ => None,
    };
    let left = execution.execute(left)?;
    let right = execution.execute(right)?;
    let condition = JoinCondition::split(condition, &left.columns, &right.columns);
    if let Some(operator) = operator {
        return streaming_join::streaming_join(execution, operator, left, right, kind, &condition);
    }
    hash_join(execution.evaluator, &left, &right, kind, &condition)
}

/// The columns of a join: a side that may be missing is nullable.
pub(super) fn output_columns(left: &[Attribute], right: &[Attribute], kind: JoinKind) -> Vec<Attribute> {
    let side = |columns: &[Attribute], optional: bool| -> Vec<Attribute> {
        columns.iter().map(|c| Attribute { nullable: c.nullable || optional, ..c.clone() }).collect()
    };
    let (left_optional, right_optional) = match kind {
        JoinKind::LeftSemi | JoinKind::LeftAnti => return left.to_vec(),
        JoinKind::Inner | JoinKind::Cross => (false, false),
        JoinKind::LeftOuter => (false, true),
        JoinKind::RightOuter => (true, false),
        JoinKind::FullOuter => (true, true),
    };
    let mut columns = side(left, left_optional);
    columns.extend(side(right, right_optional));
    columns
}

pub(super) fn concatenate(left: &Row, right: &Row) -> Row {
    left.iter().chain(right.iter()).cloned().collect()
}

pub(super) fn nulls(columns: &[Attribute]) -> Row {
    columns.iter().map(|_| Value::Null).collect()
}

fn hash_join(
    evaluator: &Evaluator<'_>,
    left: &Relation,
    right: &Relation,
    kind: JoinKind,
    condition: &JoinCondition<'_>,
) -> Result<Relation, ExecutionError> {
    let left_keys = condition.bind_keys(&left.columns, evaluator, |key| &key.left)?;
    let right_keys = condition.bind_keys(&right.columns, evaluator, |key| &key.right)?;
    let both: Vec<Attribute> = left.columns.iter().chain(&right.columns).cloned().collect();
    let residual = condition.residual().map(|expr| bind(&expr, &both, evaluator)).transpose()?;

    let mut by_key: BTreeMap<Row, Vec<usize>> = BTreeMap::new();
    for (index, row) in right.rows.iter().enumerate() {
        let key = evaluator.row(&right_keys, row, index)?;
        if !key.iter().any(Value::is_null) {
            by_key.entry(key).or_default().push(index);
        }
    }
    let mut rows = Vec::new();
    let mut matched_right = vec![false; right.rows.len()];
    for (index, row) in left.rows.iter().enumerate() {
        let key = evaluator.row(&left_keys, row, index)?;
        let candidates = by_key.get(&key).map(Vec::as_slice).unwrap_or_default();
        let mut matched = false;
        for &candidate in candidates {
            let Some(other) = right.rows.get(candidate) else { continue };
            evaluator.work.rows(1)?;
            let joined = concatenate(row, other);
            if !accepts(evaluator, residual.as_ref(), &joined, index)? {
                continue;
            }
            matched = true;
            if let Some(flag) = matched_right.get_mut(candidate) {
                *flag = true;
            }
            match kind {
                JoinKind::LeftSemi | JoinKind::LeftAnti => break,
                _ => rows.push(joined),
            }
        }
        match kind {
            JoinKind::LeftSemi if matched => rows.push(row.clone()),
            JoinKind::LeftAnti if !matched => rows.push(row.clone()),
            JoinKind::LeftOuter | JoinKind::FullOuter if !matched => {
                rows.push(concatenate(row, &nulls(&right.columns)));
            }
            _ => {}
        }
    }
    if matches!(kind, JoinKind::RightOuter | JoinKind::FullOuter) {
        let unmatched = right.rows.iter().zip(&matched_right).filter(|(_, matched)| !**matched);
        rows.extend(unmatched.map(|(row, _)| concatenate(&nulls(&left.columns), row)));
    }
    Ok(Relation {
        columns: output_columns(&left.columns, &right.columns, kind),
        rows,
        streaming: left.streaming || right.streaming,
        watermark: InputWatermark::lowest(left.watermark, right.watermark),
    })
}

fn accepts(
    evaluator: &Evaluator<'_>,
    condition: Option<&Bound>,
    row: &Row,
    index: usize,
) -> Result<bool, ExecutionError> {
    condition.map_or(Ok(true), |condition| evaluator.holds(condition, row, index))
}

/// The right side sees the left row's columns and is executed for each of them.
fn lateral_join(
    execution: &mut Execution<'_>,
    left: &Plan,
    right: &Plan,
    kind: JoinKind,
    condition: Option<&Expr>,
) -> Result<Relation, ExecutionError> {
    if right.is_streaming() {
        return Err(ExecutionError::unsupported("a stream on the right side of a lateral join is not executed"));
    }
    let left = execution.execute(left)?;
    let run = |row: &Row| Execution::batch(&execution.evaluator.inside(&left.columns, row)).execute(right);
    let right_columns = run(&nulls(&left.columns))?.columns;
    let both: Vec<Attribute> = left.columns.iter().chain(&right_columns).cloned().collect();
    let condition = condition.map(|expr| bind(expr, &both, execution.evaluator)).transpose()?;
    let mut rows = Vec::new();
    for (index, row) in left.rows.iter().enumerate() {
        let before = rows.len();
        for other in run(row)?.rows {
            execution.evaluator.work.rows(1)?;
            let joined = concatenate(row, &other);
            if accepts(execution.evaluator, condition.as_ref(), &joined, index)? {
                rows.push(joined);
            }
        }
        if rows.len() == before && kind == JoinKind::LeftOuter {
            rows.push(concatenate(row, &nulls(&right_columns)));
        }
    }
    Ok(left.with(output_columns(&left.columns, &right_columns, kind), rows))
}
