//! Grouping keys: what the groupings of an aggregation are called, and the key rows that an input row belongs to.

use super::project::internal_id;
use crate::engine::error::ExecutionError;
use crate::engine::expression::{Bound, Evaluator, bind};
use crate::engine::row::Row;
use crate::model::{Attribute, DataType, Expr, GroupingSets, Value};

/// Groupings bound to the input.
pub(super) struct Grouping {
    bound: Vec<Bound>,
    /// Key columns: one a grouping, and a last one for the set where there are several.
    pub columns: Vec<Attribute>,
    /// Which groupings each set has; none for plain groupings.
    sets: Option<Vec<Vec<bool>>>,
    /// What stands for a key column in the output: the grouping expression, and the column.
    names: Vec<(Expr, Attribute)>,
}

/// More sets than this are refused: a cube doubles with each grouping.
const MAX_SETS: usize = 4096;

impl Grouping {
    pub fn bind(
        groupings: &[Expr],
        sets: &GroupingSets,
        columns: &[Attribute],
        evaluator: &Evaluator<'_>,
    ) -> Result<Self, ExecutionError> {
        let sets = grouping_sets(sets, groupings.len())?;
        let mut bound = Vec::with_capacity(groupings.len());
        let mut key_columns = Vec::with_capacity(groupings.len() + 1);
        let mut names = Vec::with_capacity(groupings.len());
        for (number, grouping) in groupings.iter().enumerate() {
            let value = bind(grouping, columns, evaluator)?;
            let (id, inner) = match grouping {
                Expr::Attribute(attribute) => (attribute.id, grouping),
                Expr::Alias { id, expr, .. } => (*id, expr.as_ref()),
                _ => (internal_id(number), grouping),
            };
            let missing = sets.as_ref().is_some_and(|sets| sets.iter().any(|set| set.get(number) == Some(&false)));
            let column = Attribute {
                id,
                name: value.name.clone().unwrap_or_else(|| "grouping".into()),
                data_type: value.data_type.clone(),
                nullable: value.nullable || missing,
                qualifier: Vec::new(),
                watermark_delay: value.watermark_delay,
            };
            names.push((inner.clone(), column.clone()));
            key_columns.push(column);
            bound.push(value);
        }
        if sets.is_some() {
            key_columns.push(Attribute {
                id: internal_id(groupings.len()),
                name: "spark_grouping_id".into(),
                data_type: DataType::Long,
                nullable: false,
                qualifier: Vec::new(),
                watermark_delay: None,
            });
        }
        Ok(Grouping { bound, columns: key_columns, sets, names })
    }

    /// A first internal id that is free beside those of the key columns.
    pub fn next_internal(&self) -> usize {
        self.names.len() + 1
    }

    pub fn is_global(&self) -> bool {
        self.columns.is_empty()
    }

    /// The keys of a row: one, or one for each grouping set.
    pub fn keys(&self, evaluator: &Evaluator<'_>, row: &Row, index: usize) -> Result<Vec<Row>, ExecutionError> {
        let values = evaluator.row(&self.bound, row, index)?;
        let Some(sets) = &self.sets else { return Ok(vec![values]) };
        let keys = sets.iter().map(|set| {
            let masked =
                values.iter().zip(set).map(|(value, present)| if *present { value.clone() } else { Value::Null });
            masked.chain(std::iter::once(Value::Long(grouping_id(set)))).collect()
        });
        Ok(keys.collect())
    }

    /// The keys that exist without any row: the grand totals.
    pub fn keys_without_rows(&self) -> Vec<Row> {
        if self.is_global() { vec![[].into()] } else { Vec::new() }
    }

    /// An output expression with its grouping expressions replaced by key columns, and its aggregates by result columns.
    pub fn over_results(&self, expr: Expr, results: &[(&Expr, Attribute)]) -> Expr {
        if let Some((_, column)) = results.iter().find(|(aggregate, _)| **aggregate == expr) {
            return Expr::Attribute(column.clone());
        }
        if let Some((_, column)) = self.names.iter().find(|(grouping, _)| *grouping == expr) {
            return Expr::Attribute(column.clone());
        }
        if let Some(replaced) = self.grouping_function(&expr) {
            return replaced;
        }
        expr.map_children(&mut |child| self.over_results(child, results))
    }

    /// `grouping_id()` and `grouping(x)` read the last key column.
    fn grouping_function(&self, expr: &Expr) -> Option<Expr> {
        let Expr::Call(call) = expr else { return None };
        self.sets.as_ref()?;
        let id = Expr::Attribute(self.columns.last()?.clone());
        match (&*call.function, call.args.as_slice()) {
            ("grouping_id", _) => Some(id),
            ("grouping", [grouping]) => {
                let position = self.names.iter().position(|(name, _)| name == grouping)?;
                let shift = i64::try_from(self.names.len() - 1 - position).ok()?;
                let bit = Expr::literal(Value::Long(1i64.checked_shl(u32::try_from(shift).ok()?)?), DataType::Long);
                let set = Expr::call("&", vec![id, bit]);
                let is_set = Expr::call("!=", vec![set, Expr::literal(Value::Long(0), DataType::Long)]);
                Some(Expr::Cast { expr: Box::new(is_set), to: DataType::Byte, try_cast: false })
            }
            _ => None,
        }
    }
}

/// One bit a grouping, the first the highest, set where the grouping is left out.
fn grouping_id(set: &[bool]) -> i64 {
    set.iter().fold(0, |id, present| (id << 1) | i64::from(!present))
}

fn grouping_sets(sets: &GroupingSets, groupings: usize) -> Result<Option<Vec<Vec<bool>>>, ExecutionError> {
    let too_many = || ExecutionError::unsupported("there are too many grouping sets");
    Ok(Some(match sets {
        GroupingSets::Simple => return Ok(None),
        GroupingSets::Rollup => {
            (0..=groupings).rev().map(|kept| (0..groupings).map(|at| at < kept).collect()).collect()
        }
        GroupingSets::Cube => {
            let many = 1usize.checked_shl(u32::try_from(groupings).unwrap_or(u32::MAX)).filter(|n| *n <= MAX_SETS);
            let many = many.ok_or_else(too_many)?;
            let bit = |mask: usize, at: usize| mask & (1 << (groupings - 1 - at)) == 0;
            (0..many).map(|mask| (0..groupings).map(|at| bit(mask, at)).collect()).collect()
        }
        GroupingSets::Sets(sets) if sets.len() > MAX_SETS => return Err(too_many()),
        GroupingSets::Sets(sets) => {
            sets.iter().map(|set| (0..groupings).map(|at| set.contains(&at)).collect()).collect()
        }
    }))
}
