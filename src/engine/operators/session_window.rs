//! Session windows: `MergingSessionsExec` over tables, `sessionWindowStateStoreSaveExec` over streams.
//!
//! Each row opens a session from its event time to that plus the gap; sessions of one key that touch are merged. In state a
//! session is found by its key and start, and its value holds the session itself, the keys and the buffers.

use super::aggregate::{AggregatePlan, Buffers};
use super::relation::{InputWatermark, Relation};
use super::time_window::micros_of_interval;
use super::watermark::is_older;
use super::window_column::{WindowCall, WindowColumn};
use crate::engine::error::ExecutionError;
use crate::engine::expression::{Evaluator, bind};
use crate::engine::row::Row;
use crate::engine::state::StateStore;
use crate::model::{Expr, OutputMode, Value};
use std::collections::BTreeMap;

/// Which key column holds the session.
pub(super) struct Session {
    position: usize,
}

/// Replaces the `session_window(time, gap)` among the first `groupings` expressions, and everywhere, by a column of sessions.
pub(super) fn expand(
    evaluator: &Evaluator<'_>,
    relation: Relation,
    exprs: Vec<Expr>,
    groupings: usize,
) -> Result<(Relation, Vec<Expr>, Option<Session>), ExecutionError> {
    let found = exprs.iter().take(groupings).enumerate().find_map(|(at, expr)| Some((at, session_call(expr)?.clone())));
    let Some((position, call)) = found else { return Ok((relation, exprs, None)) };
    let Expr::Call(parts) = &call else { return Ok((relation, exprs, None)) };
    let [time, gap, ..] = parts.args.as_slice() else {
        return Err(ExecutionError::unsupported("session_window() takes a time and a gap"));
    };
    let time = bind(time, &relation.columns, evaluator)?;
    let gap = bind(gap, &relation.columns, evaluator)?;
    let column = WindowColumn::new(WindowCall::Session, &time);
    let mut rows = Vec::new();
    for (index, row) in relation.rows.iter().enumerate() {
        let (Value::Timestamp(start) | Value::TimestampNtz(start)) = evaluator.evaluate(&time, row, index)? else {
            continue;
        };
        let gap = micros_of_interval(&evaluator.evaluate(&gap, row, index)?).unwrap_or(0);
        // Spark filters out gaps that are not positive.
        if gap > 0 {
            let window = column.value(start, start.saturating_add(gap));
            rows.push(row.iter().cloned().chain(std::iter::once(window)).collect());
        }
    }
    let exprs = exprs.into_iter().map(|expr| column.in_place_of(&call, expr)).collect();
    let columns = relation.columns.iter().cloned().chain(std::iter::once(column.attribute)).collect();
    Ok((relation.with(columns, rows), exprs, Some(Session { position })))
}

fn session_call(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Call(call) if &*call.function == "session_window" => Some(expr),
        Expr::Alias { expr, .. } => session_call(expr),
        _ => None,
    }
}

/// One session of a key.
struct Open {
    start: Value,
    end: Value,
    buffers: Vec<Value>,
}

impl Session {
    /// A key row without its session, and the session's ends.
    fn split(&self, key: &Row) -> Option<(Row, Value, Value)> {
        let Some(Value::Struct(window)) = key.get(self.position) else { return None };
        let [start, end] = window.as_ref() else { return None };
        let rest = key.iter().enumerate().filter(|(at, _)| *at != self.position).map(|(_, value)| value.clone());
        Some((rest.collect(), start.clone(), end.clone()))
    }

    fn join(&self, rest: &Row, start: &Value, end: &Value) -> Row {
        let window = Value::Struct([start.clone(), end.clone()].into());
        let mut key = rest.to_vec();
        key.insert(self.position.min(key.len()), window);
        key.into()
    }

    fn by_key(&self, groups: Buffers) -> BTreeMap<Row, Vec<Open>> {
        let mut sessions: BTreeMap<Row, Vec<Open>> = BTreeMap::new();
        for (key, buffers) in groups {
            if let Some((rest, start, end)) = self.split(&key) {
                sessions.entry(rest).or_default().push(Open { start, end, buffers });
            }
        }
        sessions
    }
}

/// Merges the sessions of one key that overlap or touch.
fn merge(plan: &AggregatePlan<'_>, mut sessions: Vec<Open>) -> Result<Vec<Open>, ExecutionError> {
    sessions.sort_by(|a, b| a.start.cmp(&b.start));
    let mut merged: Vec<Open> = Vec::new();
    for session in sessions {
        match merged.last_mut() {
            Some(last) if session.start <= last.end => {
                if session.end > last.end {
                    last.end = session.end;
                }
                plan.functions.merge(&mut last.buffers, &session.buffers)?;
            }
            _ => merged.push(session),
        }
    }
    Ok(merged)
}

/// All sessions of a table.
pub(super) fn merge_all(
    plan: &AggregatePlan<'_>,
    relation: &Relation,
    session: &Session,
) -> Result<Buffers, ExecutionError> {
    let mut groups = Buffers::new();
    for (rest, sessions) in session.by_key(plan.groups(relation)?) {
        for open in merge(plan, sessions)? {
            groups.insert(session.join(&rest, &open.start, &open.end), open.buffers);
        }
    }
    Ok(groups)
}

/// One micro-batch against the state of an operator.
pub(super) fn streaming(
    plan: &AggregatePlan<'_>,
    store: &mut StateStore,
    relation: &Relation,
    session: &Session,
    mode: OutputMode,
    watermark: InputWatermark,
) -> Result<Vec<Row>, ExecutionError> {
    let has_watermark = plan.grouping.columns.get(session.position).is_some_and(|c| c.watermark_delay.is_some());
    let is_old = |window: &Value, millis: i64| has_watermark && is_older(window, millis);
    let mut groups = plan.groups(relation)?;
    groups.retain(|key, _| !key.get(session.position).is_some_and(|window| is_old(window, watermark.late_events)));

    let mut updated = Vec::new();
    for (rest, new) in session.by_key(groups) {
        let stored = store.remove_if(|key, _| Ok(key.split_last().is_some_and(|(_, prefix)| *prefix == *rest)))?;
        let mut sessions: Vec<Open> = stored.iter().filter_map(|(_, value)| restore(value, rest.len())).collect();
        sessions.extend(new);
        for open in merge(plan, sessions)? {
            let key = rest.iter().cloned().chain(std::iter::once(open.start.clone())).collect();
            let window = Value::Struct([open.start.clone(), open.end.clone()].into());
            let value: Row = std::iter::once(window).chain(rest.iter().cloned()).chain(open.buffers).collect();
            store.put(key, value.clone());
            updated.push(value);
        }
    }
    let evicted = match mode {
        OutputMode::Complete => Vec::new(),
        _ => store.remove_if(|_, value| Ok(value.first().is_some_and(|window| is_old(window, watermark.eviction))))?,
    };
    let output: Vec<Row> = match mode {
        OutputMode::Append => evicted.into_iter().map(|(_, value)| value).collect(),
        OutputMode::Update => updated,
        OutputMode::Complete => store.iter().map(|(_, value)| value.clone()).collect(),
    };
    let keys = plan.grouping.columns.len().saturating_sub(1);
    let finish = |value: &Row| {
        let open = restore(value, keys)?;
        let rest: Row = value.iter().skip(1).take(keys).cloned().collect();
        Some(plan.finish(&session.join(&rest, &open.start, &open.end), &open.buffers))
    };
    output.iter().filter_map(finish).collect()
}

fn restore(value: &Row, keys: usize) -> Option<Open> {
    let Some(Value::Struct(window)) = value.first() else { return None };
    let [start, end] = window.as_ref() else { return None };
    Some(Open { start: start.clone(), end: end.clone(), buffers: value.get(1 + keys..)?.to_vec() })
}
