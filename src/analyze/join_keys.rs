//! A join condition taken apart (`ExtractEquiJoinKeys`).

use super::optimize::{conjuncts, references};
use super::output::output;
use crate::model::{AttrId, Expr, Plan};
use std::collections::BTreeSet;

/// One equality between the sides.
#[derive(Debug, Clone)]
pub(super) struct EquiKey {
    pub left: Expr,
    pub right: Expr,
}

#[derive(Debug, Clone, Default)]
pub(super) struct SplitCondition {
    /// In the order of the condition.
    pub keys: Vec<EquiKey>,
    /// The other conjuncts, in order.
    pub residual: Vec<Expr>,
}

pub(super) fn split_condition(condition: Option<&Expr>, left: &Plan, right: &Plan) -> SplitCondition {
    let ids = |plan: &Plan| output(plan).into_iter().map(|a| a.id).collect::<BTreeSet<_>>();
    let (left_ids, right_ids) = (ids(left), ids(right));
    let mut split = SplitCondition::default();
    for part in condition.cloned().map(conjuncts).unwrap_or_default() {
        match equi_keys(&part, &left_ids, &right_ids) {
            keys if keys.is_empty() => split.residual.push(part),
            keys => split.keys.extend(keys),
        }
    }
    split
}

fn equi_keys(part: &Expr, left: &BTreeSet<AttrId>, right: &BTreeSet<AttrId>) -> Vec<EquiKey> {
    let Expr::Call(call) = part else { return Vec::new() };
    let ("=" | "<=>", [a, b]) = (call.function.as_ref(), call.args.as_slice()) else { return Vec::new() };
    let of = |expr: &Expr, side: &BTreeSet<AttrId>| {
        let used = references(expr);
        !used.is_empty() && used.is_subset(side)
    };
    let key = if of(a, left) && of(b, right) {
        EquiKey { left: a.clone(), right: b.clone() }
    } else if of(b, left) && of(a, right) {
        EquiKey { left: b.clone(), right: a.clone() }
    } else {
        return Vec::new();
    };
    if call.function.as_ref() == "=" {
        return vec![key];
    }
    // NULL-safe equality: a key in which NULL has a default value, and one that says whether it was NULL.
    let is_null = |expr: &Expr| Expr::call("isnull", vec![expr.clone()]);
    let second = EquiKey { left: is_null(&key.left), right: is_null(&key.right) };
    vec![key, second]
}
