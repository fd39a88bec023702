//! Code behind equal names whose text changed.

use super::change::Change;
use super::comparison::{Comparison, Explained};
use crate::analyze::{Piece, code_term};
use crate::model::{CodeUnit, Expr, Node, Opaque, Plan};
use std::collections::BTreeMap;

/// One change for each name whose code differs; what merely calls it is explained by that.
pub fn compare(comparison: &Comparison, explained: &mut Explained) -> Vec<Change> {
    let (old, new) = (opaques(&comparison.before.analyzed.plan), opaques(&comparison.after.analyzed.plan));
    let mut changes = Vec::new();
    for (name, before) in &old {
        let Some(after) = new.get(name).filter(|after| after.content != before.content) else { continue };
        let unit = changed_unit(&before.code, &after.code);
        let place = unit.map_or(&after.place, |unit| &unit.place);
        let path = place.span().map(|span| span.path.to_string()).unwrap_or_default();
        let here = comparison.after.flow.place.span().is_some_and(|span| *span.path == *path);
        let pieces = comparison.aspects.opaque.iter().chain(&comparison.before.analyzed.aspects.opaque);
        let (old_code, new_code) = (code_term(before), code_term(after));
        let touched: Vec<&Piece> = pieces.filter(|piece| piece.term == old_code || piece.term == new_code).collect();
        explained.add([old_code, new_code]);
        changes.push(
            Change::new("code-changed", &comparison.after.pipeline.key)
                .fact("code", unit.map_or(name.as_str(), |unit| unit.name.as_ref()))
                .fact("far", !path.is_empty() && !here)
                .fact("code_path", path)
                .fact("upstream_of_state", touched.iter().any(|piece| piece.feeds.is_some()))
                .fact("resolved", after.reason.is_empty())
                .places(&before.place, place),
        );
    }
    changes
}

/// The nearest repository function whose own text changed.
fn changed_unit<'a>(before: &[CodeUnit], after: &'a [CodeUnit]) -> Option<&'a CodeUnit> {
    after.iter().find(|unit| before.iter().any(|old| old.name == unit.name && old.content != unit.content))
}

/// Opaque content of a plan by name, functions with state of their own left out.
fn opaques(plan: &Plan) -> BTreeMap<String, &Opaque> {
    let mut found = BTreeMap::new();
    plan.walk(&mut |plan| {
        if let Node::Opaque { function, inputs, .. } = &plan.node
            && !inputs.is_empty()
        {
            found.insert(function.name.to_string(), function);
        }
        for expr in plan.expressions() {
            expr.walk(&mut |e| {
                if let Expr::Opaque(opaque) = e {
                    found.insert(opaque.name.to_string(), opaque);
                }
            });
        }
    });
    found
}
