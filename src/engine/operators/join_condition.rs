//! A join condition taken apart, as `ExtractEquiJoinKeys` and `JoinConditionSplitPredicates` do: equi-keys, predicates of one
//! side, and the rest.

use super::not_null::conjuncts;
use crate::engine::error::ExecutionError;
use crate::engine::expression::{Bound, Evaluator, bind};
use crate::model::{AttrId, Attribute, DataType, Decimal, Expr, Value};
use std::collections::BTreeSet;

/// One equality between the sides.
#[derive(Debug, Clone)]
pub(super) struct EquiKey {
    pub left: Expr,
    pub right: Expr,
}

#[derive(Debug, Clone, Default)]
pub(super) struct JoinCondition<'a> {
    /// In the order of the condition.
    pub keys: Vec<EquiKey>,
    /// Conjuncts over columns of the left side alone, the right side alone, and both.
    pub left_only: Vec<&'a Expr>,
    pub right_only: Vec<&'a Expr>,
    pub both_sides: Vec<&'a Expr>,
}

impl<'a> JoinCondition<'a> {
    pub fn split(condition: Option<&'a Expr>, left: &[Attribute], right: &[Attribute]) -> Self {
        let ids = |columns: &[Attribute]| columns.iter().map(|column| column.id).collect::<BTreeSet<_>>();
        let (left_ids, right_ids) = (ids(left), ids(right));
        let mut split = JoinCondition::default();
        for conjunct in condition.into_iter().flat_map(conjuncts) {
            if let Some(keys) = equi_keys(conjunct, &left_ids, &right_ids) {
                split.keys.extend(keys);
                continue;
            }
            let used = references(conjunct);
            if used.is_subset(&left_ids) && !used.is_empty() {
                split.left_only.push(conjunct);
            } else if used.is_subset(&right_ids) && !used.is_empty() {
                split.right_only.push(conjunct);
            } else {
                split.both_sides.push(conjunct);
            }
        }
        split
    }

    /// All that is not an equi-key, as one predicate.
    pub fn residual(&self) -> Option<Expr> {
        conjunction(self.left_only.iter().chain(&self.right_only).chain(&self.both_sides).copied())
    }

    pub fn bind_keys(
        &self,
        columns: &[Attribute],
        evaluator: &Evaluator<'_>,
        side: impl Fn(&EquiKey) -> &Expr,
    ) -> Result<Vec<Bound>, ExecutionError> {
        self.keys.iter().map(|key| bind(side(key), columns, evaluator)).collect()
    }
}

/// The conjunction of predicates, if there are any.
pub(super) fn conjunction<'a>(predicates: impl Iterator<Item = &'a Expr>) -> Option<Expr> {
    predicates.cloned().reduce(|all, next| Expr::call("and", vec![all, next]))
}

/// The columns an expression names.
pub(super) fn references(expr: &Expr) -> BTreeSet<AttrId> {
    let mut ids = BTreeSet::new();
    expr.walk(&mut |e| {
        if let Expr::Attribute(attribute) = e {
            ids.insert(attribute.id);
        }
    });
    ids
}

/// The keys that an equality gives: one, or two for a null-safe one (`coalesce(x, default)` and `isnull(x)`, as Spark plans it).
fn equi_keys(conjunct: &Expr, left: &BTreeSet<AttrId>, right: &BTreeSet<AttrId>) -> Option<Vec<EquiKey>> {
    let Expr::Call(call) = conjunct else { return None };
    let null_safe = match &*call.function {
        "=" | "==" => false,
        "<=>" => true,
        _ => return None,
    };
    let [a, b] = call.args.as_slice() else { return None };
    let (used_a, used_b) = (references(a), references(b));
    if used_a.is_empty() || used_b.is_empty() {
        return None;
    }
    let (l, r) = if used_a.is_subset(left) && used_b.is_subset(right) {
        (a, b)
    } else if used_a.is_subset(right) && used_b.is_subset(left) {
        (b, a)
    } else {
        return None;
    };
    if !null_safe {
        return Some(vec![EquiKey { left: l.clone(), right: r.clone() }]);
    }
    let default = default_literal(l).or_else(|| default_literal(r))?;
    let or_default = |expr: &Expr| Expr::call("coalesce", vec![expr.clone(), default.clone()]);
    let is_null = |expr: &Expr| Expr::call("isnull", vec![expr.clone()]);
    Some(vec![EquiKey { left: or_default(l), right: or_default(r) }, EquiKey { left: is_null(l), right: is_null(r) }])
}

/// `Literal.default` of an expression's type, where that is at hand.
fn default_literal(expr: &Expr) -> Option<Expr> {
    let data_type = match expr {
        Expr::Attribute(attribute) => &attribute.data_type,
        Expr::Cast { to, .. } => to,
        Expr::Literal { data_type, .. } => data_type,
        _ => return None,
    };
    Some(Expr::literal(default_value(data_type)?, data_type.clone()))
}

/// What the bits of a NULL read as: zero. None for types without a fixed width, whose NULL is no value at all.
pub(super) fn zero(data_type: &DataType) -> Option<Value> {
    Some(match data_type {
        DataType::Boolean => Value::Boolean(false),
        DataType::Byte => Value::Byte(0),
        DataType::Short => Value::Short(0),
        DataType::Int => Value::Int(0),
        DataType::Long => Value::Long(0),
        DataType::Float => Value::Float(0.0),
        DataType::Double => Value::Double(0.0),
        DataType::Date => Value::Date(0),
        DataType::Timestamp => Value::Timestamp(0),
        DataType::TimestampNtz => Value::TimestampNtz(0),
        DataType::DayTimeInterval => Value::DayTimeInterval(0),
        DataType::YearMonthInterval => Value::YearMonthInterval(0),
        _ => return None,
    })
}

fn default_value(data_type: &DataType) -> Option<Value> {
    zero(data_type).or_else(|| match data_type {
        DataType::String => Some(Value::string("")),
        DataType::Binary => Some(Value::Binary([].into())),
        DataType::Decimal { precision, scale } => {
            Some(Value::Decimal(Decimal { unscaled: 0, precision: *precision, scale: *scale }))
        }
        _ => None,
    })
}
