//! Window frames: the rows of a partition that a function sees at each row.

use super::scan::integer;
use crate::engine::error::ExecutionError;
use crate::engine::expression::{Evaluator, bind};
use crate::engine::row::Row;
use crate::functions;
use crate::model::{DataType, Expr, FrameBound, Value, WindowSpec};
use std::ops::Range;
use std::sync::Arc;

/// The frame of each row. `keys` are the order's values of the rows, in order; `peers` the ranges of equal ones.
pub(super) fn frames(
    evaluator: &Evaluator<'_>,
    spec: &WindowSpec,
    keys: &[&Vec<Value>],
    peers: &[Range<usize>],
) -> Result<Vec<Range<usize>>, ExecutionError> {
    let many = keys.len();
    let Some(frame) = &spec.frame else {
        // Spark's default: all rows up to the current one's last peer, or all where there is no order.
        let upto = |row: usize| if spec.order_by.is_empty() { many } else { peers.get(row).map_or(many, |p| p.end) };
        return Ok((0..many).map(|row| 0..upto(row)).collect());
    };
    let bounds = Bounds { evaluator, spec, keys, peers, rows: frame.rows };
    (0..many)
        .map(|row| {
            let start = bounds.edge(&frame.start, row, Edge::Start)?;
            let end = bounds.edge(&frame.end, row, Edge::End)?;
            Ok(start.min(many)..end.min(many).max(start.min(many)))
        })
        .collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    Start,
    End,
}

struct Bounds<'a> {
    evaluator: &'a Evaluator<'a>,
    spec: &'a WindowSpec,
    keys: &'a [&'a Vec<Value>],
    peers: &'a [Range<usize>],
    rows: bool,
}

impl Bounds<'_> {
    fn edge(&self, bound: &FrameBound, row: usize, edge: Edge) -> Result<usize, ExecutionError> {
        let many = self.keys.len();
        Ok(match bound {
            FrameBound::UnboundedPreceding => 0,
            FrameBound::UnboundedFollowing => many,
            FrameBound::CurrentRow if self.rows => row + usize::from(edge == Edge::End),
            FrameBound::CurrentRow => {
                let peers = self.peers.get(row).cloned().unwrap_or(row..row + 1);
                if edge == Edge::Start { peers.start } else { peers.end }
            }
            FrameBound::Preceding(offset) => self.offset(offset, row, edge, true)?,
            FrameBound::Following(offset) => self.offset(offset, row, edge, false)?,
        })
    }

    fn offset(&self, offset: &Expr, row: usize, edge: Edge, preceding: bool) -> Result<usize, ExecutionError> {
        let nothing: Row = Arc::new([]);
        let bound = bind(offset, &[], self.evaluator)?;
        let value = self.evaluator.evaluate(&bound, &nothing, 0)?;
        if !self.rows {
            return self.range_edge(&value, &bound.data_type, row, edge, preceding);
        }
        let distance = integer(&value).ok_or_else(|| ExecutionError::unsupported("a frame's offset is no integer"))?;
        let at = i64::try_from(row).unwrap_or(i64::MAX);
        let at = if preceding { at.saturating_sub(distance) } else { at.saturating_add(distance) };
        let at = at.saturating_add(i64::from(edge == Edge::End));
        Ok(usize::try_from(at.max(0)).unwrap_or(usize::MAX))
    }

    /// The first row within (start) or after (end) the range of values that a RANGE offset spans.
    fn range_edge(
        &self,
        offset: &Value,
        offset_type: &DataType,
        row: usize,
        edge: Edge,
        preceding: bool,
    ) -> Result<usize, ExecutionError> {
        let ([key], Some([value])) = (self.spec.order_by.as_slice(), self.keys.get(row).map(|k| k.as_slice())) else {
            return Err(ExecutionError::unsupported("a RANGE frame with an offset needs one sort key"));
        };
        let peers = self.peers.get(row).cloned().unwrap_or(row..row + 1);
        if value.is_null() {
            return Ok(if edge == Edge::Start { peers.start } else { peers.end });
        }
        let operator = if preceding == key.descending { "+" } else { "-" };
        let key_type = type_of(value);
        let args = [value.clone(), offset.clone()];
        let limit = functions::evaluate(operator, &args, &[key_type, offset_type.clone()], &self.evaluator.context)?;
        let before = |other: &Value| {
            let order = if key.descending { limit.cmp(other) } else { other.cmp(&limit) };
            if edge == Edge::Start { order.is_lt() } else { order.is_le() }
        };
        let values: Vec<&Value> = self.keys.iter().filter_map(|key| key.first()).collect();
        let first = values.iter().position(|value| !value.is_null()).unwrap_or(0);
        let rest = values.get(first..).unwrap_or_default();
        Ok(first + rest.iter().take_while(|value| !value.is_null() && before(value)).count())
    }
}

/// The type of a value that can be shifted by an offset.
fn type_of(value: &Value) -> DataType {
    match value {
        Value::Byte(_) => DataType::Byte,
        Value::Short(_) => DataType::Short,
        Value::Int(_) => DataType::Int,
        Value::Long(_) => DataType::Long,
        Value::Float(_) => DataType::Float,
        Value::Double(_) => DataType::Double,
        Value::Decimal(decimal) => DataType::Decimal { precision: decimal.precision, scale: decimal.scale },
        Value::Date(_) => DataType::Date,
        Value::Timestamp(_) => DataType::Timestamp,
        Value::TimestampNtz(_) => DataType::TimestampNtz,
        _ => DataType::Unknown,
    }
}
