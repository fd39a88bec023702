//! When the state of a stream-stream join can be dropped: by an event time among the join keys, or by a time range in the
//! condition (`StreamingSymmetricHashJoinHelper.getStateWatermarkPredicates`, `StreamingJoinHelper.getStateValueWatermark`).

use super::join_condition::{JoinCondition, references};
use super::relation::event_time;
use super::watermark::is_older;
use crate::engine::expression::Bound;
use crate::engine::row::Row;
use crate::model::{AttrId, Attribute, DataType, Expr, Value};
use std::collections::BTreeSet;

const MICROS_PER_DAY: f64 = 86_400_000_000.0;
const MICROS_PER_SECOND: f64 = 1_000_000.0;
const MICROS_PER_MILLI: f64 = 1_000.0;

/// Which rows of one side's state are old.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StateWatermark {
    /// State is kept for ever.
    None,
    /// Rows whose join key at this position is at or before the watermark (milliseconds).
    Key { position: usize, watermark: i64 },
    /// Rows whose event time column is at or before the watermark (milliseconds).
    Value { position: usize, watermark: i64 },
}

impl StateWatermark {
    pub fn is_old(&self, key: &Row, row: &Row) -> bool {
        match self {
            StateWatermark::None => false,
            StateWatermark::Key { position, watermark } => {
                key.get(*position).is_some_and(|value| is_older(value, *watermark))
            }
            StateWatermark::Value { position, watermark } => {
                row.get(*position).is_some_and(|value| is_older(value, *watermark))
            }
        }
    }

    pub fn is_used(&self) -> bool {
        *self != StateWatermark::None
    }

    pub fn millis(&self) -> Option<i64> {
        match self {
            StateWatermark::None => None,
            StateWatermark::Key { watermark, .. } | StateWatermark::Value { watermark, .. } => Some(*watermark),
        }
    }
}

/// The state watermarks of both sides for one event-time watermark (milliseconds).
pub(super) fn state_watermarks(
    left: &[Attribute],
    right: &[Attribute],
    keys: [&[Bound]; 2],
    condition: &JoinCondition<'_>,
    watermark: i64,
) -> [StateWatermark; 2] {
    let in_keys = keys.iter().find_map(|side| side.iter().position(|key| key.watermark_delay.is_some()));
    if let Some(position) = in_keys {
        return [StateWatermark::Key { position, watermark }; 2];
    }
    let one_side = |side: &[Attribute], other: &[Attribute]| match event_time(side) {
        Some(position) => value_watermark(side, other, condition, watermark)
            .map_or(StateWatermark::None, |watermark| StateWatermark::Value { position, watermark }),
        None => StateWatermark::None,
    };
    [one_side(left, right), one_side(right, left)]
}

/// The lowest bound (milliseconds) that the time ranges of the condition set to the event times of `side`, given that no later
/// row of the other side is at or before `watermark`.
fn value_watermark(
    side: &[Attribute],
    other: &[Attribute],
    condition: &JoinCondition<'_>,
    watermark: i64,
) -> Option<i64> {
    event_time(other)?;
    let predicates = condition.left_only.iter().chain(&condition.right_only).chain(&condition.both_sides);
    predicates
        .filter_map(|predicate| {
            let Expr::Call(call) = predicate else { return None };
            let [a, b] = call.args.as_slice() else { return None };
            // State at the bound is dropped; where the condition includes the bound, what is dropped ends just before it.
            let (lesser, greater, before) = match &*call.function {
                "<" => (a, b, 0),
                "<=" => (a, b, 1),
                ">" => (b, a, 0),
                ">=" => (b, a, 1),
                _ => return None,
            };
            Some(lower_bound(lesser, greater, side, other, watermark)? - before)
        })
        .min()
}

/// Solves `lesser < greater` for the one column of `side`, which must stand on the greater end, with the other side's event time
/// at the watermark.
fn lower_bound(lesser: &Expr, greater: &Expr, side: &[Attribute], other: &[Attribute], watermark: i64) -> Option<i64> {
    let used: BTreeSet<AttrId> = references(lesser).union(&references(greater)).copied().collect();
    let count = |columns: &[Attribute]| columns.iter().filter(|column| used.contains(&column.id)).count();
    if count(side) > 1 || count(other) > 1 {
        return None;
    }
    let mut terms = Vec::new();
    collect(lesser, 1.0, &mut terms)?;
    collect(greater, -1.0, &mut terms)?;
    let mut sum = 0.0;
    let mut solved = false;
    for term in terms {
        match term {
            Term::Constant(micros) => sum += micros,
            Term::Column(id, sign) if side.iter().any(|column| column.id == id) => {
                if solved || sign > 0.0 {
                    return None;
                }
                solved = true;
            }
            Term::Column(id, sign) => {
                let column = other.iter().find(|column| column.id == id)?;
                column.watermark_delay?;
                #[expect(clippy::cast_precision_loss, reason = "Spark computes with doubles too")]
                let micros = watermark as f64 * MICROS_PER_MILLI;
                sum += sign * micros;
            }
        }
    }
    #[expect(clippy::cast_possible_truncation, reason = "Spark truncates to a long")]
    let millis = (sum / MICROS_PER_MILLI) as i64;
    solved.then_some(millis)
}

enum Term {
    Column(AttrId, f64),
    /// Microseconds.
    Constant(f64),
}

/// The terms of a sum. None where it is no sum of columns and durations.
fn collect(expr: &Expr, sign: f64, terms: &mut Vec<Term>) -> Option<()> {
    match expr {
        Expr::Call(call) => match (&*call.function, call.args.as_slice()) {
            ("+", [a, b]) => {
                collect(a, sign, terms)?;
                collect(b, sign, terms)
            }
            ("-", [a, b]) => {
                collect(a, sign, terms)?;
                collect(b, -sign, terms)
            }
            ("negative", [a]) => collect(a, -sign, terms),
            _ => None,
        },
        Expr::Cast { expr, to, .. } if to.is_numeric() || *to == DataType::Timestamp => collect(expr, sign, terms),
        Expr::Alias { expr, .. } => collect(expr, sign, terms),
        Expr::Attribute(attribute) => {
            terms.push(Term::Column(attribute.id, sign));
            Some(())
        }
        Expr::Literal { value, .. } => {
            terms.push(Term::Constant(sign * micros(value)?));
            Some(())
        }
        _ => None,
    }
}

/// A literal as a duration or instant; bare numbers are seconds, months have no fixed length.
#[expect(clippy::cast_precision_loss, reason = "Spark computes with doubles too")]
fn micros(value: &Value) -> Option<f64> {
    Some(match value {
        Value::DayTimeInterval(micros) | Value::Timestamp(micros) => *micros as f64,
        Value::CalendarInterval { months: 0, days, micros } => f64::from(*days) * MICROS_PER_DAY + *micros as f64,
        Value::Byte(v) => f64::from(*v) * MICROS_PER_SECOND,
        Value::Short(v) => f64::from(*v) * MICROS_PER_SECOND,
        Value::Int(v) => f64::from(*v) * MICROS_PER_SECOND,
        Value::Long(v) => *v as f64 * MICROS_PER_SECOND,
        Value::Float(v) => f64::from(*v) * MICROS_PER_SECOND,
        Value::Double(v) => *v * MICROS_PER_SECOND,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(id: u32, name: &str) -> Attribute {
        Attribute {
            id: AttrId(id),
            name: name.into(),
            data_type: DataType::Timestamp,
            nullable: true,
            qualifier: Vec::new(),
            watermark_delay: Some(0),
        }
    }

    fn minutes(n: i64) -> Expr {
        Expr::literal(Value::DayTimeInterval(n * 60_000_000), DataType::DayTimeInterval)
    }

    #[test]
    fn a_range_bounds_each_side_by_the_other_sides_watermark() {
        let (e, c) = ([column(1, "ts")], [column(2, "cts")]);
        let (ts, cts) = (Expr::Attribute(e[0].clone()), Expr::Attribute(c[0].clone()));
        // cts BETWEEN ts AND ts + 15 minutes
        let condition = Expr::call(
            "and",
            vec![
                Expr::call(">=", vec![cts.clone(), ts.clone()]),
                Expr::call("<=", vec![cts, Expr::call("+", vec![ts, minutes(15)])]),
            ],
        );
        let split = JoinCondition::split(Some(&condition), &e, &c);
        let hour = 3_600_000;
        let [left, right] = state_watermarks(&e, &c, [&[], &[]], &split, hour);
        assert_eq!(left, StateWatermark::Value { position: 0, watermark: hour - 15 * 60_000 - 1 });
        assert_eq!(right, StateWatermark::Value { position: 0, watermark: hour - 1 });
    }

    #[test]
    fn a_one_sided_range_bounds_one_side_only() {
        let (e, c) = ([column(1, "ts")], [column(2, "cts")]);
        let condition = Expr::call(">", vec![Expr::Attribute(c[0].clone()), Expr::Attribute(e[0].clone())]);
        let split = JoinCondition::split(Some(&condition), &e, &c);
        let [left, right] = state_watermarks(&e, &c, [&[], &[]], &split, 1_000);
        assert_eq!(left, StateWatermark::None);
        assert_eq!(right, StateWatermark::Value { position: 0, watermark: 1_000 });
    }
}
