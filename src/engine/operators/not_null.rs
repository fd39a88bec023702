//! Which columns a predicate shows to be not NULL, as Catalyst's `InferFiltersFromConstraints` finds them.
//!
//! It matters for state: a query reads a column that its own predicates make non-nullable without a look at the NULL bit, even
//! where an old state row holds a NULL there.

use crate::functions::{self, Function};
use crate::model::{AttrId, Expr};
use std::collections::BTreeSet;

/// The conjuncts of a predicate.
pub(super) fn conjuncts(condition: &Expr) -> Vec<&Expr> {
    let mut found = Vec::new();
    let mut pending = vec![condition];
    while let Some(expr) = pending.pop() {
        match expr {
            Expr::Call(call) if &*call.function == "and" => pending.extend(call.args.iter().rev()),
            other => found.push(other),
        }
    }
    found
}

/// Columns that are not NULL in every row for which the predicate holds.
pub(super) fn not_null(condition: &Expr) -> BTreeSet<AttrId> {
    let mut columns = BTreeSet::new();
    for conjunct in conjuncts(condition) {
        let mut pending = match conjunct {
            Expr::Call(call) if &*call.function == "isnotnull" => call.args.iter().collect(),
            Expr::Call(call) if &*call.function == "not" => match call.args.first() {
                Some(Expr::Call(inner)) if &*inner.function == "isnull" => inner.args.iter().collect(),
                _ => vec![conjunct],
            },
            _ => vec![conjunct],
        };
        while let Some(expr) = pending.pop() {
            match expr {
                Expr::Attribute(attribute) => {
                    columns.insert(attribute.id);
                }
                Expr::Call(call) if functions::lookup(&call.function).is_some_and(Function::propagates_null) => {
                    pending.extend(&call.args);
                }
                Expr::Cast { expr, try_cast: false, .. } | Expr::Alias { expr, .. } => pending.push(expr),
                _ => {}
            }
        }
    }
    columns
}
