//! Window functions: ranking, offsets, and aggregates over frames.

use super::aggregate_functions::{AggregateFunctions, is_aggregate};
use super::execution::Execution;
use super::frame::frames;
use super::project::{internal_id, named};
use super::relation::Relation;
use super::sort::Order;
use crate::engine::error::ExecutionError;
use crate::engine::expression::{BoundWindowFunction, Evaluator, bind, bind_all};
use crate::engine::row::Row;
use crate::functions::Partition;
use crate::model::{Attribute, Expr, Plan, Value, WindowSpec};
use std::collections::BTreeMap;
use std::ops::Range;

/// More rows than this in one partition are refused: frames are aggregated one by one.
const MAX_PARTITION: usize = 10_000;

pub(super) fn window(
    execution: &mut Execution<'_>,
    functions: &[Expr],
    input: &Plan,
) -> Result<Relation, ExecutionError> {
    let mut relation = execution.execute(input)?;
    for function in functions {
        let (call, spec) = window_call(function).ok_or_else(|| {
            ExecutionError::unsupported("a window operator holds something else than a window function")
        })?;
        let (values, result) = evaluate(execution.evaluator, &relation, call, spec)?;
        // An expression around the window function sees its value as one more column.
        let mut columns = relation.columns.clone();
        columns.push(result.clone());
        let over_value = replace_window(function.clone(), &result);
        let bound = bind(&over_value, &columns, execution.evaluator)?;
        let column = named(function, &bound)?;
        let mut rows = Vec::with_capacity(relation.rows.len());
        for (index, (row, value)) in relation.rows.iter().zip(values).enumerate() {
            let with_value: Row = row.iter().cloned().chain(std::iter::once(value)).collect();
            let value = execution.evaluator.evaluate(&bound, &with_value, index)?;
            rows.push(row.iter().cloned().chain(std::iter::once(value)).collect());
        }
        columns.pop();
        columns.push(column);
        relation = relation.with(columns, rows);
    }
    Ok(relation)
}

fn window_call(expr: &Expr) -> Option<(&Expr, &WindowSpec)> {
    let mut found = None;
    expr.walk(&mut |e| {
        if let Expr::Window { call, spec } = e {
            found = found.or(Some((call.as_ref(), spec)));
        }
    });
    found
}

fn replace_window(expr: Expr, column: &Attribute) -> Expr {
    match expr {
        Expr::Window { .. } => Expr::Attribute(column.clone()),
        other => other.map_children(&mut |child| replace_window(child, column)),
    }
}

/// The function's value at each row, in the order of the rows, and its column.
fn evaluate(
    evaluator: &Evaluator<'_>,
    relation: &Relation,
    call: &Expr,
    spec: &WindowSpec,
) -> Result<(Vec<Value>, Attribute), ExecutionError> {
    let partition_by = bind_all(&spec.partition_by, &relation.columns, evaluator)?;
    let order = Order::bind(&spec.order_by, &relation.columns, evaluator)?;
    let function = OverWindow::bind(evaluator, relation, call)?;
    let mut partitions: BTreeMap<Row, Vec<usize>> = BTreeMap::new();
    for (index, row) in relation.rows.iter().enumerate() {
        partitions.entry(evaluator.row(&partition_by, row, index)?).or_default().push(index);
    }
    let mut values = vec![Value::Null; relation.rows.len()];
    for members in partitions.into_values() {
        if members.len() > MAX_PARTITION {
            return Err(ExecutionError::unsupported(format!("a window partition has more than {MAX_PARTITION} rows")));
        }
        let rows: Vec<Row> = members.iter().filter_map(|index| relation.rows.get(*index).cloned()).collect();
        let sorted = order.sorted(evaluator, &rows)?;
        let ordered: Vec<Row> = sorted.iter().filter_map(|(at, _)| rows.get(*at).cloned()).collect();
        let keys: Vec<&Vec<Value>> = sorted.iter().map(|(_, keys)| keys).collect();
        let peers = peer_groups(&order, &keys);
        let frames = frames(evaluator, spec, &keys, &peers)?;
        let results = function.values(evaluator, &ordered, &peers, &frames)?;
        for ((at, _), value) in sorted.iter().zip(results) {
            if let Some(slot) = members.get(*at).and_then(|index| values.get_mut(*index)) {
                *slot = value;
            }
        }
    }
    Ok((values, function.column()))
}

/// For each row the range of rows that are equal in the order.
fn peer_groups(order: &Order, keys: &[&Vec<Value>]) -> Vec<Range<usize>> {
    let mut peers: Vec<Range<usize>> = Vec::with_capacity(keys.len());
    let mut start = 0;
    while let Some(first) = keys.get(start) {
        let same = |key: &&&Vec<Value>| order.compare(first, key).is_eq();
        let end = start + keys.get(start..).unwrap_or_default().iter().take_while(same).count().max(1);
        peers.extend(std::iter::repeat_n(start..end, end - start));
        start = end;
    }
    peers
}

enum OverWindow<'a> {
    Aggregate { functions: AggregateFunctions<'a> },
    Function { function: BoundWindowFunction },
}

impl<'a> OverWindow<'a> {
    fn bind(evaluator: &'a Evaluator<'a>, relation: &Relation, call: &Expr) -> Result<Self, ExecutionError> {
        if is_aggregate(call) || matches!(call, Expr::Opaque(_)) {
            let functions = AggregateFunctions::bind(&[call], &relation.columns, evaluator)?;
            return Ok(OverWindow::Aggregate { functions });
        }
        Ok(OverWindow::Function { function: BoundWindowFunction::bind(call, &relation.columns, evaluator)? })
    }

    fn column(&self) -> Attribute {
        match self {
            OverWindow::Aggregate { functions } => functions.result_columns(0).into_iter().next(),
            OverWindow::Function { .. } => None,
        }
        .unwrap_or_else(|| {
            let (data_type, nullable) = match self {
                OverWindow::Function { function } => (function.data_type.clone(), function.nullable),
                OverWindow::Aggregate { .. } => (crate::model::DataType::Unknown, true),
            };
            Attribute {
                id: internal_id(0),
                name: "window".into(),
                data_type,
                nullable,
                qualifier: Vec::new(),
                watermark_delay: None,
            }
        })
    }

    /// Values at the rows of one partition, which are in the window's order.
    fn values(
        &self,
        evaluator: &Evaluator<'_>,
        rows: &[Row],
        peers: &[Range<usize>],
        frames: &[Range<usize>],
    ) -> Result<Vec<Value>, ExecutionError> {
        match self {
            OverWindow::Function { function } => {
                let args = function.args(evaluator, rows)?;
                let partition = Partition { args: &args, peers, frames, ignore_nulls: function.ignore_nulls };
                (0..rows.len()).map(|row| function.value(evaluator, &partition, row)).collect()
            }
            OverWindow::Aggregate { functions } => {
                let mut last: Option<(Range<usize>, Value)> = None;
                let mut values = Vec::with_capacity(rows.len());
                for frame in frames {
                    let value = match &last {
                        Some((range, value)) if range == frame => value.clone(),
                        _ => aggregate_frame(functions, rows, frame)?,
                    };
                    last = Some((frame.clone(), value.clone()));
                    values.push(value);
                }
                Ok(values)
            }
        }
    }
}

fn aggregate_frame(
    functions: &AggregateFunctions<'_>,
    rows: &[Row],
    frame: &Range<usize>,
) -> Result<Value, ExecutionError> {
    let mut group = functions.start();
    for index in frame.clone() {
        if let Some(row) = rows.get(index) {
            functions.update(&mut group, row, index)?;
        }
    }
    let buffers = functions.complete(group)?;
    Ok(functions.finish(&buffers)?.into_iter().next().unwrap_or(Value::Null))
}
