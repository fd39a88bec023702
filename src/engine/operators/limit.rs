//! Limit and offset. Over a stream the limit is global over all batches and counts in state.

use super::execution::Execution;
use super::relation::Relation;
use super::scan::integer;
use crate::engine::error::ExecutionError;
use crate::engine::expression::bind;
use crate::engine::row::Row;
use crate::engine::state::DEFAULT_STORE;
use crate::model::{Expr, Node, OutputMode, Plan, Value};
use std::sync::Arc;

pub(super) fn limit(execution: &mut Execution<'_>, count: &Expr, input: &Plan) -> Result<Relation, ExecutionError> {
    let count = amount(execution, count)?;
    let operator = execution.stateful(input).and_then(|streaming| {
        let appends = streaming.output_mode == OutputMode::Append || !has_streaming_aggregate(input);
        appends.then(|| streaming.operator_id())
    });
    let mut relation = execution.execute(input)?;
    let Some(operator) = operator else {
        relation.rows.truncate(count);
        return Ok(relation);
    };
    if let Some(streaming) = &mut execution.streaming {
        let store = streaming.state.store_mut(operator, DEFAULT_STORE);
        let key: Row = Arc::new([Value::Null]);
        let before = store.get(&key).and_then(|value| value.first().and_then(integer)).unwrap_or(0);
        let left = i64::try_from(count).unwrap_or(i64::MAX).saturating_sub(before).max(0);
        relation.rows.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        let taken = i64::try_from(relation.rows.len()).unwrap_or(i64::MAX);
        if taken > 0 {
            store.put(key, Arc::new([Value::Long(before.saturating_add(taken))]));
        }
    }
    Ok(relation)
}

pub(super) fn offset(execution: &mut Execution<'_>, count: &Expr, input: &Plan) -> Result<Relation, ExecutionError> {
    let count = amount(execution, count)?;
    let mut relation = execution.execute(input)?;
    relation.rows.drain(..count.min(relation.rows.len()));
    Ok(relation)
}

fn amount(execution: &Execution<'_>, count: &Expr) -> Result<usize, ExecutionError> {
    let nothing: Row = Arc::new([]);
    let bound = bind(count, &[], execution.evaluator)?;
    let value = execution.evaluator.evaluate(&bound, &nothing, 0)?;
    integer(&value)
        .and_then(|count| usize::try_from(count).ok())
        .ok_or_else(|| ExecutionError::unsupported("the number of a LIMIT or OFFSET is no constant"))
}

fn has_streaming_aggregate(plan: &Plan) -> bool {
    let mut found = false;
    plan.walk(&mut |node| {
        let aggregates = matches!(node.node, Node::Aggregate { .. } | Node::Distinct { .. });
        found |= aggregates && node.is_streaming();
    });
    found
}
