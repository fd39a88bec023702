//! `dropDuplicates` and `dropDuplicatesWithinWatermark`: the first row of each key, over a stream by the keys in state.

use super::execution::Execution;
use super::relation::{InputWatermark, Relation};
use super::watermark::{is_older, without_late_rows};
use crate::engine::error::ExecutionError;
use crate::engine::expression::{Bound, bind_all};
use crate::engine::row::Row;
use crate::engine::state::DEFAULT_STORE;
use crate::model::{Expr, Plan, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) fn deduplicate(
    execution: &mut Execution<'_>,
    keys: Option<&[Expr]>,
    within_watermark: bool,
    input: &Plan,
) -> Result<Relation, ExecutionError> {
    let operator = execution.stateful(input).map(|streaming| streaming.operator_id());
    let mut relation = execution.execute(input)?;
    let keys = match keys {
        Some(keys) => bind_all(keys, &relation.columns, execution.evaluator)?,
        None => relation.columns.iter().enumerate().map(|(i, column)| Bound::column(i, column)).collect(),
    };
    let Some(operator) = operator else {
        return distinct_by(execution, relation, &keys);
    };
    without_late_rows(&mut relation)?;
    let rows = std::mem::take(&mut relation.rows);
    let mut keyed: Vec<(Row, Row)> = Vec::with_capacity(rows.len());
    for (index, row) in rows.into_iter().enumerate() {
        keyed.push((execution.evaluator.row(&keys, &row, index)?, row));
    }
    let kind = if within_watermark {
        let column = relation.event_time()?.and_then(|at| relation.columns.get(at).map(|column| (at, column)));
        let (position, column) = column.ok_or_else(|| {
            ExecutionError::new(
                "_LEGACY_ERROR_TEMP_3078",
                "dropDuplicatesWithinWatermark is not supported on streaming DataFrames without a watermark",
            )
        })?;
        Kind::WithinWatermark { position, delay: column.watermark_delay.unwrap_or(0) }
    } else {
        Kind::Plain { key_event_time: keys.iter().position(|key| key.watermark_delay.is_some()) }
    };
    relation.rows = stateful(execution, operator, kind, keyed, relation.input_watermark())?;
    Ok(relation)
}

/// How long a key is remembered.
enum Kind {
    /// Until the watermark passes the event time among the keys, else for ever.
    Plain { key_event_time: Option<usize> },
    /// Until the watermark passes the first row's event time by the delay.
    WithinWatermark { position: usize, delay: i64 },
}

fn stateful(
    execution: &mut Execution<'_>,
    operator: u32,
    kind: Kind,
    keyed: Vec<(Row, Row)>,
    watermark: InputWatermark,
) -> Result<Vec<Row>, ExecutionError> {
    let Some(streaming) = &mut execution.streaming else { return Ok(Vec::new()) };
    let store = streaming.state.store_mut(operator, DEFAULT_STORE);
    let mut kept = Vec::new();
    for (key, row) in keyed {
        if store.get(&key).is_some() {
            continue;
        }
        let remembered = match kind {
            Kind::Plain { .. } => Value::Null,
            Kind::WithinWatermark { position, delay } => match row.get(position) {
                Some(Value::Timestamp(at) | Value::TimestampNtz(at)) => Value::Long(at.saturating_add(delay)),
                _ => Value::Long(delay),
            },
        };
        store.put(key, Arc::new([remembered]));
        kept.push(row);
    }
    match kind {
        Kind::Plain { key_event_time: Some(at) } => {
            store.remove_if(|key, _| Ok(key.get(at).is_some_and(|value| is_older(value, watermark.eviction))))?;
        }
        Kind::Plain { key_event_time: None } => {}
        Kind::WithinWatermark { .. } => {
            let now = watermark.eviction.saturating_mul(1_000);
            store.remove_if(|_, value| Ok(matches!(value.first(), Some(Value::Long(expires)) if now >= *expires)))?;
        }
    }
    streaming.another_batch |= watermark.next > watermark.eviction;
    Ok(kept)
}

fn distinct_by(execution: &Execution<'_>, mut relation: Relation, keys: &[Bound]) -> Result<Relation, ExecutionError> {
    let mut seen = BTreeSet::new();
    let rows = std::mem::take(&mut relation.rows);
    for (index, row) in rows.into_iter().enumerate() {
        if seen.insert(execution.evaluator.row(keys, &row, index)?) {
            relation.rows.push(row);
        }
    }
    Ok(relation)
}
