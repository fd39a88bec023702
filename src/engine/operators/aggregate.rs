//! Aggregation: of tables at once, of streams against state (`stateStoreSave`) in append, update and complete mode.

use super::aggregate_functions::{AggregateFunctions, Group, collect};
use super::execution::Execution;
use super::grouping::Grouping;
use super::project::named;
use super::relation::{InputWatermark, Relation, single_event_time};
use super::session_window::{self, Session};
use super::time_window;
use super::watermark::is_older;
use crate::engine::error::ExecutionError;
use crate::engine::expression::{Evaluator, bind, bind_all};
use crate::engine::row::Row;
use crate::engine::state::{DEFAULT_STORE, StateStore};
use crate::model::{Attribute, Expr, GroupingSets, OutputMode, Plan, Value};
use std::collections::BTreeMap;

/// An aggregation as the plan has it.
pub(super) struct Query<'a> {
    pub groupings: &'a [Expr],
    pub sets: &'a GroupingSets,
    pub outputs: &'a [Expr],
    pub having: Option<&'a Expr>,
}

pub(super) fn aggregate(
    execution: &mut Execution<'_>,
    query: Query<'_>,
    input: &Plan,
) -> Result<Relation, ExecutionError> {
    let operator = execution.stateful(input).map(|streaming| streaming.operator_id());
    let relation = execution.execute(input)?;
    let many = query.groupings.len();
    let exprs: Vec<Expr> = query.groupings.iter().chain(query.outputs).chain(query.having).cloned().collect();
    let (relation, exprs) = time_window::expand(execution.evaluator, relation, &exprs)?;
    let (relation, exprs, session) = session_window::expand(execution.evaluator, relation, exprs, many)?;
    let (groupings, rest) = exprs.split_at(many.min(exprs.len()));
    let (outputs, having) = rest.split_at(query.outputs.len().min(rest.len()));
    let evaluator = execution.evaluator;
    let grouping = Grouping::bind(groupings, query.sets, &relation.columns, evaluator)?;
    let plain_udfs = outputs.iter().chain(having).any(|expr| udf_over_groupings(expr, &grouping));
    let calls = collect(outputs.iter().chain(having), !plain_udfs);
    let functions = AggregateFunctions::bind(&calls, &relation.columns, evaluator)?;
    let plan = AggregatePlan { evaluator, grouping: &grouping, functions: &functions };

    let groups = match (operator, session) {
        (None, None) => plan.finish_all(plan.groups(&relation)?)?,
        (None, Some(session)) => plan.finish_all(session_window::merge_all(&plan, &relation, &session)?)?,
        (Some(operator), session) => plan.streaming(execution, operator, &relation, session)?,
    };
    let results = functions.result_columns(grouping.next_internal());
    let replacements: Vec<(&Expr, Attribute)> = calls.iter().copied().zip(results.iter().cloned()).collect();
    let columns: Vec<Attribute> = grouping.columns.iter().chain(&results).cloned().collect();
    let over_results = |expr: &Expr| grouping.over_results(expr.clone(), &replacements);
    let mut grouped = relation.with(columns, groups);
    if let [having] = having {
        let bound = bind(&over_results(having), &grouped.columns, evaluator)?;
        let rows = std::mem::take(&mut grouped.rows);
        for (index, row) in rows.into_iter().enumerate() {
            if evaluator.holds(&bound, &row, index)? {
                grouped.rows.push(row);
            }
        }
    }
    let rewritten: Vec<Expr> = outputs.iter().map(over_results).collect();
    let bound = bind_all(&rewritten, &grouped.columns, evaluator)?;
    // A grouping that is selected as it is keeps its own name and id.
    let columns = outputs
        .iter()
        .zip(&rewritten)
        .zip(&bound)
        .map(|((output, rewritten), bound)| named(output, bound).or_else(|_| named(rewritten, bound)))
        .collect::<Result<_, _>>()?;
    let rows = grouped
        .rows
        .iter()
        .enumerate()
        .map(|(index, row)| evaluator.row(&bound, row, index))
        .collect::<Result<_, _>>()?;
    Ok(grouped.with(columns, rows))
}

/// A UDF over groupings alone is evaluated on each group's key, one over other columns on all its rows.
fn udf_over_groupings(expr: &Expr, grouping: &Grouping) -> bool {
    let mut found = false;
    expr.walk(&mut |e| {
        if let Expr::Opaque(_) = e {
            let used = super::join_condition::references(e);
            found |= used.iter().all(|id| grouping.columns.iter().any(|column| column.id == *id));
        }
    });
    found
}

/// `SELECT DISTINCT`: an aggregation by all columns without aggregates, also in its state.
pub(super) fn distinct(execution: &mut Execution<'_>, input: &Plan) -> Result<Relation, ExecutionError> {
    let operator = execution.stateful(input).map(|streaming| streaming.operator_id());
    let relation = execution.execute(input)?;
    let evaluator = execution.evaluator;
    let groupings: Vec<Expr> = relation.columns.iter().cloned().map(Expr::Attribute).collect();
    let grouping = Grouping::bind(&groupings, &GroupingSets::Simple, &relation.columns, evaluator)?;
    let functions = AggregateFunctions::bind(&[], &relation.columns, evaluator)?;
    let plan = AggregatePlan { evaluator, grouping: &grouping, functions: &functions };
    let rows = match operator {
        None => plan.finish_all(plan.groups(&relation)?)?,
        Some(operator) => plan.streaming(execution, operator, &relation, None)?,
    };
    Ok(relation.with(relation.columns.clone(), rows))
}

/// Keys with their buffers. In the order of the keys.
pub(super) type Buffers = BTreeMap<Row, Vec<Value>>;

/// A bound aggregation.
pub(super) struct AggregatePlan<'a> {
    pub evaluator: &'a Evaluator<'a>,
    pub grouping: &'a Grouping,
    pub functions: &'a AggregateFunctions<'a>,
}

impl AggregatePlan<'_> {
    /// Aggregates the rows of a relation by key.
    pub fn groups(&self, relation: &Relation) -> Result<Buffers, ExecutionError> {
        let mut groups: BTreeMap<Row, Group> = BTreeMap::new();
        for key in self.grouping.keys_without_rows() {
            groups.insert(key, self.functions.start());
        }
        for (index, row) in relation.rows.iter().enumerate() {
            for key in self.grouping.keys(self.evaluator, row, index)? {
                let group = groups.entry(key).or_insert_with(|| self.functions.start());
                self.functions.update(group, row, index)?;
            }
        }
        groups.into_iter().map(|(key, group)| Ok((key, self.functions.complete(group)?))).collect()
    }

    /// Key columns, then results.
    pub fn finish(&self, key: &Row, buffers: &[Value]) -> Result<Row, ExecutionError> {
        Ok(key.iter().cloned().chain(self.functions.finish(buffers)?).collect())
    }

    fn finish_all(&self, groups: Buffers) -> Result<Vec<Row>, ExecutionError> {
        groups.iter().map(|(key, buffers)| self.finish(key, buffers)).collect()
    }

    /// One micro-batch against the state of an operator.
    fn streaming(
        &self,
        execution: &mut Execution<'_>,
        operator: u32,
        relation: &Relation,
        session: Option<Session>,
    ) -> Result<Vec<Row>, ExecutionError> {
        let Some(streaming) = &mut execution.streaming else { return Ok(Vec::new()) };
        let watermark = relation.input_watermark();
        let event_time = single_event_time(&self.grouping.columns)?;
        let mode = streaming.output_mode;
        if mode == OutputMode::Append && event_time.is_none() {
            return Err(ExecutionError::new(
                "_LEGACY_ERROR_TEMP_3102",
                "append output mode is not supported for a streaming aggregation without a watermark",
            ));
        }
        if mode != OutputMode::Complete {
            streaming.another_batch |= watermark.next > watermark.eviction;
        }
        let store = streaming.state.store_mut(operator, DEFAULT_STORE);
        if let Some(session) = session {
            return session_window::streaming(self, store, relation, &session, mode, watermark);
        }
        let mut groups = self.groups(relation)?;
        if mode != OutputMode::Complete
            && let Some(at) = event_time
        {
            groups.retain(|key, _| !key.get(at).is_some_and(|value| is_older(value, watermark.late_events)));
        }
        let updated = self.save(store, groups)?;
        match mode {
            OutputMode::Complete => store.iter().map(|(key, buffers)| self.finish(key, buffers)).collect(),
            OutputMode::Update => {
                evict(store, event_time, watermark)?;
                updated.iter().map(|(key, buffers)| self.finish(key, buffers)).collect()
            }
            OutputMode::Append => {
                let evicted = evict(store, event_time, watermark)?;
                evicted.iter().map(|(key, buffers)| self.finish(key, buffers)).collect()
            }
        }
    }

    /// Merges new groups into the store; gives their merged buffers.
    fn save(&self, store: &mut StateStore, groups: Buffers) -> Result<Vec<(Row, Row)>, ExecutionError> {
        let mut updated = Vec::with_capacity(groups.len());
        for (key, buffers) in groups {
            let merged: Row = match store.get(&key) {
                None => buffers.into(),
                Some(old) => {
                    let mut merged = old.to_vec();
                    self.functions.merge(&mut merged, &buffers)?;
                    merged.into()
                }
            };
            store.put(key.clone(), merged.clone());
            updated.push((key, merged));
        }
        Ok(updated)
    }
}

fn evict(
    store: &mut StateStore,
    event_time: Option<usize>,
    watermark: InputWatermark,
) -> Result<Vec<(Row, Row)>, ExecutionError> {
    let Some(at) = event_time else { return Ok(Vec::new()) };
    store.remove_if(|key, _| Ok(key.get(at).is_some_and(|value| is_older(value, watermark.eviction))))
}
