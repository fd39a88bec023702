//! Columns whose values no two runs have in common: the time, chance, and where a file lies.

use crate::analyze::Analysis;
use crate::functions;
use crate::model::Expr;
use std::collections::BTreeSet;

/// Names, in lower case, of output columns that hang on when or where a query runs. A real engine's two runs differ there, and
/// that says nothing of a change.
pub fn volatile_columns<'a>(analyses: impl IntoIterator<Item = &'a Analysis>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for flow in analyses.into_iter().flat_map(|analysis| &analysis.flows) {
        flow.plan.walk(&mut |plan| {
            for expr in plan.expressions() {
                expr.walk(&mut |expr| {
                    if let Expr::Alias { expr, name, .. } = expr
                        && is_volatile(expr)
                    {
                        found.insert(name.to_lowercase());
                    }
                });
            }
        });
    }
    found
}

fn is_volatile(expr: &Expr) -> bool {
    let mut metadata = false;
    expr.walk(&mut |part| metadata |= matches!(part, Expr::Attribute(column) if column.name.as_ref() == "_metadata"));
    metadata || !functions::volatility(expr).is_repeatable()
}
