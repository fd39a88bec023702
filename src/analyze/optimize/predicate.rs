//! Properties of predicates: conjuncts, determinism, what a NULL does to them.

use crate::functions;
use crate::model::{AttrId, Expr, SubqueryKind};
use std::collections::BTreeSet;

/// Conjuncts of a condition, left to right.
pub(in crate::analyze) fn conjuncts(condition: Expr) -> Vec<Expr> {
    let mut pending = vec![condition];
    let mut parts = Vec::new();
    while let Some(expr) = pending.pop() {
        match expr {
            Expr::Call(call) if call.function.as_ref() == "and" => pending.extend(call.args.into_iter().rev()),
            other => parts.push(other),
        }
    }
    parts
}

/// One condition of several, joined as Spark joins them: to the left.
pub(in crate::analyze) fn conjunction(parts: Vec<Expr>) -> Option<Expr> {
    parts.into_iter().reduce(|a, b| Expr::call("and", vec![a, b]))
}

/// Equal inputs give equal results within a query: no chance, no position.
pub(in crate::analyze) fn deterministic(expr: &Expr) -> bool {
    functions::volatility(expr).is_deterministic()
}

/// Ids of the columns that an expression reads, inside of subqueries too.
pub(in crate::analyze) fn references(expr: &Expr) -> BTreeSet<AttrId> {
    let mut ids = BTreeSet::new();
    collect(expr, &mut ids);
    ids
}

pub(in crate::analyze) fn collect(expr: &Expr, ids: &mut BTreeSet<AttrId>) {
    expr.walk(&mut |e| match e {
        Expr::Attribute(a) => {
            ids.insert(a.id);
        }
        Expr::Subquery { plan, .. } => plan.walk(&mut |p| {
            for expr in p.expressions() {
                collect(expr, ids);
            }
        }),
        _ => {}
    });
}

/// True where the expression is NULL whenever one of these columns is.
pub(in crate::analyze) fn yields_null(expr: &Expr, is_null: &impl Fn(AttrId) -> bool) -> bool {
    match expr {
        Expr::Attribute(a) => is_null(a.id),
        Expr::Cast { expr, .. } | Expr::Alias { expr, .. } => yields_null(expr, is_null),
        Expr::Call(call) if propagates_null(&call.function) => call.args.iter().any(|arg| yields_null(arg, is_null)),
        _ => false,
    }
}

/// True where a condition lets no row pass in which one of these columns is NULL.
pub(in crate::analyze) fn rejects_null(condition: &Expr, is_null: &impl Fn(AttrId) -> bool) -> bool {
    match condition {
        Expr::Call(call) => match (call.function.as_ref(), call.args.as_slice()) {
            ("and", args) => args.iter().any(|a| rejects_null(a, is_null)),
            ("or", args) => args.iter().all(|a| rejects_null(a, is_null)),
            ("isnotnull", [arg]) => yields_null(arg, is_null),
            ("in", [value, ..]) => yields_null(value, is_null),
            ("not", [Expr::Call(inner)]) if inner.function.as_ref() == "in" => {
                inner.args.first().is_some_and(|v| yields_null(v, is_null))
            }
            ("not", [Expr::Call(inner)]) if inner.function.as_ref() == "isnull" => {
                inner.args.first().is_some_and(|v| yields_null(v, is_null))
            }
            _ => yields_null(condition, is_null),
        },
        Expr::Subquery { kind: SubqueryKind::In { operands, negated: false }, .. } => {
            operands.iter().any(|o| yields_null(o, is_null))
        }
        other => yields_null(other, is_null),
    }
}

/// `NullIntolerant`: NULL in, NULL out.
fn propagates_null(function: &str) -> bool {
    functions::lookup(function).is_some_and(functions::Function::propagates_null)
}

/// Larger expressions are not written out further: an alias that doubles itself sixty times would fill any memory.
pub(in crate::analyze) const MAX_EXPRESSION: usize = 2_000;

/// Nodes of an expression.
pub(in crate::analyze) fn size(expr: &Expr) -> usize {
    let mut nodes = 0;
    expr.walk(&mut |_| nodes += 1);
    nodes
}
