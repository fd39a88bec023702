//! `EventTimeWatermark`: notes the greatest event time, and marks the column by which stateful operators above tell late rows.

use super::EventTimeStats;
use super::execution::Execution;
use super::relation::{InputWatermark, Relation};
use crate::engine::error::ExecutionError;
use crate::engine::expression::{Bound, bind};
use crate::engine::row::Row;
use crate::functions::parse_interval;
use crate::model::{Attribute, Expr, Value};
use std::sync::Arc;

const MICROS_PER_MILLI: i64 = 1_000;
const MICROS_PER_DAY: i64 = 86_400_000_000;
/// `IntervalUtils.getDuration` counts a month as 31 days.
const DAYS_PER_MONTH: i64 = 31;

pub(super) fn watermark(
    execution: &mut Execution<'_>,
    event_time: &Expr,
    delay: &Expr,
    input: &crate::model::Plan,
) -> Result<Relation, ExecutionError> {
    let delay = delay_micros(execution, delay)?;
    let slot = execution.streaming.as_mut().map(|streaming| {
        streaming.event_time.push(EventTimeStats { max: None, delay: delay.div_euclid(MICROS_PER_MILLI) });
        streaming.event_time.len() - 1
    });
    let relation = execution.execute(input)?;
    let bound = bind(event_time, &relation.columns, execution.evaluator)?;
    let (mut relation, position) = with_event_time(execution, relation, event_time, &bound)?;
    if !relation.streaming {
        return Ok(relation);
    }
    let allow_multiple = execution.evaluator.session.flag("spark.sql.streaming.statefulOperator.allowMultiple", true);
    if relation.watermark.is_some() && allow_multiple {
        return Err(ExecutionError::new("_LEGACY_ERROR_TEMP_3076", "a watermark is defined on top of another one"));
    }
    for (index, column) in relation.columns.iter_mut().enumerate() {
        column.watermark_delay = (index == position).then_some(delay);
    }
    let mut max = None;
    for row in &relation.rows {
        max = max.max(Some(row.get(position).map_or(0, event_time_millis)));
    }
    if let Some(streaming) = &mut execution.streaming {
        relation.watermark = Some(streaming.origin);
        if let Some(stats) = slot.and_then(|slot| streaming.event_time.get_mut(slot)) {
            stats.max = max;
        }
    }
    Ok(relation)
}

/// The relation with the event time among its columns, and where: `WATERMARK expr AS name` adds one.
fn with_event_time(
    execution: &Execution<'_>,
    relation: Relation,
    event_time: &Expr,
    bound: &Bound,
) -> Result<(Relation, usize), ExecutionError> {
    match event_time {
        Expr::Attribute(attribute) => {
            let position = relation.columns.iter().position(|column| column.id == attribute.id);
            let position = position
                .ok_or_else(|| ExecutionError::unsupported("the event time is not among the input's columns"))?;
            Ok((relation, position))
        }
        Expr::Alias { name, id, .. } => {
            let mut rows: Vec<Row> = Vec::with_capacity(relation.rows.len());
            for (index, row) in relation.rows.iter().enumerate() {
                let value = execution.evaluator.evaluate(bound, row, index)?;
                rows.push(row.iter().cloned().chain(std::iter::once(value)).collect());
            }
            let position = relation.columns.len();
            let column = Attribute {
                id: *id,
                name: name.clone(),
                data_type: bound.data_type.clone(),
                nullable: bound.nullable,
                qualifier: Vec::new(),
                watermark_delay: None,
            };
            let columns = relation.columns.iter().cloned().chain(std::iter::once(column)).collect();
            Ok((relation.with(columns, rows), position))
        }
        _ => Err(ExecutionError::unsupported("the event time of a watermark has no name")),
    }
}

/// Spark reads the value's bits without a look at NULL: a NULL event time counts as the epoch.
fn event_time_millis(value: &Value) -> i64 {
    event_time_micros(value).unwrap_or(0).div_euclid(MICROS_PER_MILLI)
}

/// Microseconds of an event time; of a time window its end.
fn event_time_micros(value: &Value) -> Option<i64> {
    match value {
        Value::Timestamp(micros) | Value::TimestampNtz(micros) => Some(*micros),
        Value::Struct(window) => match window.get(1) {
            Some(Value::Timestamp(micros) | Value::TimestampNtz(micros)) => Some(*micros),
            _ => None,
        },
        _ => None,
    }
}

/// Whether an event time is at or before the watermark (milliseconds); a window if its end is. NULL is never older
/// (`WatermarkSupport.watermarkExpression`).
pub(super) fn is_older(event_time: &Value, watermark: i64) -> bool {
    event_time_micros(event_time).is_some_and(|micros| micros <= watermark.saturating_mul(MICROS_PER_MILLI))
}

/// Drops the rows that are late, where some column carries an event time.
///
/// # Errors
/// See [`Relation::event_time`].
pub(super) fn without_late_rows(relation: &mut Relation) -> Result<(), ExecutionError> {
    let Some(position) = relation.event_time()? else { return Ok(()) };
    let InputWatermark { late_events, .. } = relation.input_watermark();
    relation.rows.retain(|row| !row.get(position).is_some_and(|value| is_older(value, late_events)));
    Ok(())
}

fn delay_micros(execution: &Execution<'_>, delay: &Expr) -> Result<i64, ExecutionError> {
    let nothing: Row = Arc::new([]);
    let bound = bind(delay, &[], execution.evaluator)?;
    let value = execution.evaluator.evaluate(&bound, &nothing, 0)?;
    micros(&value).ok_or_else(|| ExecutionError::unsupported("the delay of a watermark is no interval"))
}

fn micros(value: &Value) -> Option<i64> {
    match value {
        Value::DayTimeInterval(micros) => Some(*micros),
        Value::CalendarInterval { months, days, micros } => {
            let days = i64::from(*months) * DAYS_PER_MONTH + i64::from(*days);
            Some(days.saturating_mul(MICROS_PER_DAY).saturating_add(*micros))
        }
        Value::YearMonthInterval(months) => Some(i64::from(*months) * DAYS_PER_MONTH * MICROS_PER_DAY),
        Value::String(text) => {
            let interval = parse_interval(text)?;
            micros(&Value::CalendarInterval { months: interval.months, days: interval.days, micros: interval.micros })
        }
        _ => None,
    }
}
