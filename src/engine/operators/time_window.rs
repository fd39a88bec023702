//! `window(time, duration[, slide[, start]])`: each row with every window that holds its event time (Catalyst's
//! `TimeWindowing`: a filter for a NULL time, and an expansion for sliding windows).

use super::relation::Relation;
use super::window_column::{WindowCall, WindowColumn};
use crate::engine::error::ExecutionError;
use crate::engine::expression::{Evaluator, bind, bind_all};
use crate::engine::row::Row;
use crate::functions::{TimeWindow, parse_interval, time_windows};
use crate::model::{DataType, Expr, Value};
use std::sync::Arc;

/// Replaces the `window` call of some expressions by a column of windows. Different calls in one list are refused, as in Spark.
pub(super) fn expand(
    evaluator: &Evaluator<'_>,
    relation: Relation,
    exprs: &[Expr],
) -> Result<(Relation, Vec<Expr>), ExecutionError> {
    let Some(call) = window_call(exprs)? else { return Ok((relation, exprs.to_vec())) };
    let Expr::Call(parts) = &call else { return Ok((relation, exprs.to_vec())) };
    let (time, rest) =
        parts.args.split_first().ok_or_else(|| ExecutionError::unsupported("window() takes a time and a duration"))?;
    let time = bind(time, &relation.columns, evaluator)?;
    let nothing: Row = Arc::new([]);
    let arguments = evaluator.row(&bind_all(rest, &[], evaluator)?, &nothing, 0)?;
    let window = TimeWindow::new(&arguments)?;
    let column = WindowColumn::new(WindowCall::Time, &time);
    let mut rows = Vec::new();
    for (index, row) in relation.rows.iter().enumerate() {
        let value = evaluator.evaluate(&time, row, index)?;
        let value = match time.data_type {
            DataType::Timestamp | DataType::TimestampNtz => value,
            _ => evaluator.cast(&value, &time.data_type, &DataType::Timestamp)?,
        };
        let (Value::Timestamp(micros) | Value::TimestampNtz(micros)) = value else { continue };
        for (start, end) in time_windows(micros, &window) {
            evaluator.work.rows(1)?;
            let value = column.value(start, end);
            rows.push(row.iter().cloned().chain(std::iter::once(value)).collect());
        }
    }
    let exprs = exprs.iter().map(|expr| column.in_place_of(&call, expr.clone())).collect();
    let columns = relation.columns.iter().cloned().chain(std::iter::once(column.attribute)).collect();
    Ok((relation.with(columns, rows), exprs))
}

fn window_call(exprs: &[Expr]) -> Result<Option<Expr>, ExecutionError> {
    let mut found: Option<&Expr> = None;
    let mut several = false;
    for expr in exprs {
        expr.walk(&mut |e| {
            if let Expr::Call(call) = e
                && &*call.function == "window"
            {
                several |= found.is_some_and(|other| other != e);
                found = found.or(Some(e));
            }
        });
    }
    if several {
        return Err(ExecutionError::new(
            "_LEGACY_ERROR_TEMP_1039",
            "multiple time or session window expressions would result in a cartesian product of rows",
        ));
    }
    Ok(found.cloned())
}

/// An interval without months, in microseconds.
pub(super) fn micros_of_interval(value: &Value) -> Option<i64> {
    const MICROS_PER_DAY: i64 = 86_400_000_000;
    match value {
        Value::DayTimeInterval(micros) | Value::Long(micros) => Some(*micros),
        Value::Int(micros) => Some(i64::from(*micros)),
        Value::CalendarInterval { months: 0, days, micros } => {
            Some(i64::from(*days).saturating_mul(MICROS_PER_DAY).saturating_add(*micros))
        }
        Value::String(text) => parse_interval(text)?.fixed_micros(),
        _ => None,
    }
}
