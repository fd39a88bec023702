//! `symmetricHashJoin`: a join of two streams, each side keeping its rows in state for the other side's later ones
//! (`StreamingSymmetricHashJoinExec`, state format 2).
//!
//! The kind of join is not in the state: each stored row has a flag that tells whether it ever found a partner, whatever the
//! kind, and outer rows without partner come out when they are evicted.

use super::execution::Execution;
use super::join::{concatenate, nulls, output_columns};
use super::join_condition::{JoinCondition, conjunction, zero};
use super::join_state::JoinState;
use super::not_null::not_null;
use super::relation::{InputWatermark, Relation};
use super::state_watermark::{StateWatermark, state_watermarks};
use super::watermark::without_late_rows;
use crate::engine::error::ExecutionError;
use crate::engine::expression::{Bound, Evaluator, bind};
use crate::engine::row::Row;
use crate::model::{AttrId, Attribute, Expr, JoinKind, Value};
use std::collections::BTreeSet;

pub(super) fn streaming_join(
    execution: &mut Execution<'_>,
    operator: u32,
    mut left: Relation,
    mut right: Relation,
    kind: JoinKind,
    condition: &JoinCondition<'_>,
) -> Result<Relation, ExecutionError> {
    let evaluator = execution.evaluator;
    if matches!(kind, JoinKind::Cross | JoinKind::LeftAnti) || condition.keys.is_empty() {
        return Err(ExecutionError::new(
            "STREAM_JOIN_STREAM_UNSUPPORTED",
            "a stream-stream join needs an equality between its sides, and cannot be a cross or anti join",
        ));
    }
    infer_not_null(&mut left, &mut right, kind, condition);
    let watermark = InputWatermark::lowest(left.watermark, right.watermark).unwrap_or(InputWatermark::NONE);
    let left_keys = condition.bind_keys(&left.columns, evaluator, |key| &key.left)?;
    let right_keys = condition.bind_keys(&right.columns, evaluator, |key| &key.right)?;
    let bounds =
        |millis: i64| state_watermarks(&left.columns, &right.columns, [&left_keys, &right_keys], condition, millis);
    let [evict_left, evict_right] = bounds(watermark.eviction);
    let output_watermark = {
        let lowest = |millis: i64| bounds(millis).iter().filter_map(StateWatermark::millis).fold(millis, i64::min);
        InputWatermark {
            late_events: lowest(watermark.late_events),
            eviction: lowest(watermark.eviction),
            next: lowest(watermark.next),
        }
    };
    let carries_watermark = left.watermark.is_some() || right.watermark.is_some();

    let both: Vec<Attribute> = left.columns.iter().chain(&right.columns).cloned().collect();
    let residual = conjunction(condition.both_sides.iter().copied());
    let joiner = Joiner {
        evaluator,
        kind,
        residual: residual.map(|expr| bind(&expr, &both, evaluator)).transpose()?,
        left: SideShape::bind(evaluator, &left.columns, left_keys, &condition.left_only, evict_left)?,
        right: SideShape::bind(evaluator, &right.columns, right_keys, &condition.right_only, evict_right)?,
    };
    without_late_rows(&mut left)?;
    without_late_rows(&mut right)?;

    let columns = output_columns(&left.columns, &right.columns, kind);
    let Some(streaming) = &mut execution.streaming else {
        return Err(ExecutionError::unsupported("a stream-stream join runs outside of a micro-batch"));
    };
    streaming.another_batch |= (evict_left.is_used() || evict_right.is_used()) && watermark.next > watermark.eviction;
    let mut left_state = JoinState::take(streaming.state, operator, "left");
    let mut right_state = JoinState::take(streaming.state, operator, "right");
    let rows = joiner.run(&left.rows, &right.rows, &mut left_state, &mut right_state)?;
    left_state.put_back(streaming.state, operator, "left");
    right_state.put_back(streaming.state, operator, "right");
    Ok(Relation { columns, rows, streaming: true, watermark: carries_watermark.then_some(output_watermark) })
}

/// Drops input rows that Spark's inferred `isnotnull` filters drop, and marks their columns non-nullable. Only a side whose
/// unmatched rows do not come out is filtered.
fn infer_not_null(left: &mut Relation, right: &mut Relation, kind: JoinKind, condition: &JoinCondition<'_>) {
    let mut ids: BTreeSet<AttrId> = BTreeSet::new();
    let others = condition.left_only.iter().chain(&condition.right_only).chain(&condition.both_sides);
    for predicate in others {
        ids.extend(not_null(predicate));
    }
    for key in &condition.keys {
        ids.extend(not_null(&Expr::call("=", vec![key.left.clone(), key.right.clone()])));
    }
    let apply = |side: &mut Relation| {
        let positions: Vec<usize> = (0..side.columns.len())
            .filter(|at| side.columns.get(*at).is_some_and(|column| ids.contains(&column.id)))
            .collect();
        side.rows.retain(|row| !positions.iter().any(|at| row.get(*at).is_some_and(Value::is_null)));
        for at in positions {
            if let Some(column) = side.columns.get_mut(at) {
                column.nullable = false;
            }
        }
    };
    if matches!(kind, JoinKind::Inner | JoinKind::LeftSemi | JoinKind::RightOuter) {
        apply(left);
    }
    if matches!(kind, JoinKind::Inner | JoinKind::LeftSemi | JoinKind::LeftOuter) {
        apply(right);
    }
}

/// What the join needs to know of one side.
struct SideShape {
    columns: Vec<Attribute>,
    keys: Vec<Bound>,
    /// Predicates over this side alone: a row that fails them is never stored.
    filter: Option<Bound>,
    evict: StateWatermark,
}

impl SideShape {
    fn bind(
        evaluator: &Evaluator<'_>,
        columns: &[Attribute],
        keys: Vec<Bound>,
        only: &[&Expr],
        evict: StateWatermark,
    ) -> Result<Self, ExecutionError> {
        let filter = conjunction(only.iter().copied()).map(|expr| bind(&expr, columns, evaluator)).transpose()?;
        Ok(SideShape { columns: columns.to_vec(), keys, filter, evict })
    }

    /// A stored row as this query reads it. Where it trusts its own nullability, the bits of a NULL are read as zero, and a NULL
    /// of a type without a fixed width is a null pointer.
    fn stored(&self, row: &Row, trusts_nullability: bool) -> Result<Row, ExecutionError> {
        let broken = |(value, column): (&Value, &Attribute)| value.is_null() && !column.nullable;
        if !trusts_nullability || !row.iter().zip(&self.columns).any(broken) {
            return Ok(row.clone());
        }
        row.iter()
            .zip(&self.columns)
            .map(|(value, column)| {
                if !value.is_null() || column.nullable {
                    return Ok(value.clone());
                }
                zero(&column.data_type).ok_or_else(|| {
                    ExecutionError::new(
                        "STREAM_FAILED/NULL_POINTER_IN_STATE",
                        format!("an old state row holds NULL in `{}`, which this query takes as not NULL", column.name),
                    )
                })
            })
            .collect()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

struct Joiner<'a> {
    evaluator: &'a Evaluator<'a>,
    kind: JoinKind,
    residual: Option<Bound>,
    left: SideShape,
    right: SideShape,
}

impl Joiner<'_> {
    fn run(
        &self,
        left_rows: &[Row],
        right_rows: &[Row],
        left_state: &mut JoinState,
        right_state: &mut JoinState,
    ) -> Result<Vec<Row>, ExecutionError> {
        let mut output = Vec::new();
        self.join_side(Side::Left, left_rows, left_state, right_state, &mut output)?;
        // The right side sees this batch's left rows, which are stored by now.
        self.join_side(Side::Right, right_rows, right_state, left_state, &mut output)?;
        for (row, matched) in left_state.remove_old(&self.left.evict) {
            if !matched && self.keeps_unmatched(Side::Left) {
                output.push(concatenate(&row, &nulls(&self.right.columns)));
            }
        }
        for (row, matched) in right_state.remove_old(&self.right.evict) {
            if !matched && self.keeps_unmatched(Side::Right) {
                output.push(concatenate(&nulls(&self.left.columns), &row));
            }
        }
        Ok(output)
    }

    /// Unmatched rows of this side come out with NULLs for the other.
    fn keeps_unmatched(&self, side: Side) -> bool {
        match side {
            Side::Left => matches!(self.kind, JoinKind::LeftOuter | JoinKind::FullOuter),
            Side::Right => matches!(self.kind, JoinKind::RightOuter | JoinKind::FullOuter),
        }
    }

    fn shape(&self, side: Side) -> (&SideShape, &SideShape) {
        match side {
            Side::Left => (&self.left, &self.right),
            Side::Right => (&self.right, &self.left),
        }
    }

    fn pair(side: Side, this: &Row, that: &Row) -> Row {
        match side {
            Side::Left => concatenate(this, that),
            Side::Right => concatenate(that, this),
        }
    }

    /// Joins new rows of one side with the stored ones of the other, and stores them.
    fn join_side(
        &self,
        side: Side,
        rows: &[Row],
        state: &mut JoinState,
        other: &mut JoinState,
        output: &mut Vec<Row>,
    ) -> Result<(), ExecutionError> {
        let (this, that) = self.shape(side);
        let semi = self.kind == JoinKind::LeftSemi;
        for (index, row) in rows.iter().enumerate() {
            if let Some(filter) = &this.filter
                && !self.evaluator.holds(filter, row, index)?
            {
                if self.keeps_unmatched(side) {
                    output.push(Self::pair(side, row, &nulls(&that.columns)));
                }
                continue;
            }
            let key = self.evaluator.row(&this.keys, row, index)?;
            let mut matched = false;
            for (at, stored, was_matched) in other.get(&key) {
                self.evaluator.work.rows(1)?;
                if semi && side == Side::Right && was_matched {
                    continue;
                }
                let stored = that.stored(&stored, self.evaluator.session.trusts_nullability)?;
                let joined = Self::pair(side, row, &stored);
                if let Some(residual) = &self.residual
                    && !self.evaluator.holds(residual, &joined, index)?
                {
                    continue;
                }
                other.set_matched(&key, at);
                matched = true;
                match (semi, side) {
                    (true, Side::Left) => break,
                    (true, Side::Right) => output.push(stored),
                    (false, _) => output.push(joined),
                }
            }
            if semi && side == Side::Left && matched {
                output.push(row.clone());
                continue;
            }
            let evicted_now = this.evict.is_old(&key, row);
            if side == Side::Left || !evicted_now || (self.keeps_unmatched(side) && !matched) {
                state.append(&key, row, matched);
            }
        }
        Ok(())
    }
}
