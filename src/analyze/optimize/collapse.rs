//! Projections merged with what they stand on (`CollapseProject`, `RemoveNoopOperators`), filters that keep everything removed.

use super::fold::boolean;
use super::predicate::{MAX_EXPRESSION, deterministic, references};
use super::pushdown::{aliases, substitute, substituted_size};
use crate::analyze::output::output;
use crate::model::{AttrId, Expr, Node, Plan};
use std::collections::BTreeMap;

/// One node whose inputs are collapsed already.
pub(super) fn collapse(plan: Plan) -> Plan {
    let Plan { node, frame, output: made, place } = plan;
    match node {
        Node::Filter { condition, input } if boolean(&condition) == Some(true) => *input,
        Node::Project { list, input } => {
            let place = place.or(&input.place);
            collapse_project(list, *input, &place)
        }
        node => Plan { node, frame, output: made, place },
    }
}

fn collapse_project(list: Vec<Expr>, input: Plan, place: &crate::model::Place) -> Plan {
    let over = |list: Vec<Expr>, input: Plan| Plan::at(Node::Project { list, input: Box::new(input) }, place.clone());
    let inner = match &input.node {
        Node::Project { list: inner, .. } | Node::Aggregate { outputs: inner, .. } => inner,
        _ if is_noop(&list, &input) => return input,
        _ => return over(list, input),
    };
    let aliases = aliases(inner);
    if !may_merge(&list, inner) || substituted_size(list.iter(), &aliases) > MAX_EXPRESSION {
        return over(list, input);
    }
    let merged: Vec<Expr> = list.into_iter().map(|entry| merge(entry, &aliases)).collect();
    let mut input = input;
    match &mut input.node {
        Node::Project { list, input: under } => {
            if is_noop(&merged, under) {
                return std::mem::replace(under.as_mut(), crate::analyze::visit::nothing());
            }
            *list = merged;
        }
        Node::Aggregate { outputs, .. } => *outputs = merged,
        _ => {}
    }
    input
}

/// What stands in the place of a list entry after the inner aliases are written out; it keeps its own name and id.
fn merge(entry: Expr, aliases: &BTreeMap<AttrId, Expr>) -> Expr {
    match entry {
        Expr::Attribute(a) => match aliases.get(&a.id) {
            Some(expr) => Expr::Alias {
                expr: Box::new(expr.clone()),
                name: a.name,
                id: a.id,
                place: crate::model::Place::unknown(),
            },
            None => Expr::Attribute(a),
        },
        Expr::Alias { expr, name, id, place } => {
            Expr::Alias { expr: Box::new(substitute(*expr, aliases)), name, id, place }
        }
        other => substitute(other, aliases),
    }
}

/// Chance is drawn once: an expression that is not deterministic may be merged only where it is read once.
fn may_merge(list: &[Expr], inner: &[Expr]) -> bool {
    inner.iter().all(|entry| {
        let Expr::Alias { expr, id, .. } = entry else { return true };
        deterministic(expr) || list.iter().filter(|e| references(e).contains(id)).count() <= 1
    })
}

fn is_noop(list: &[Expr], input: &Plan) -> bool {
    let columns = output(input);
    list.len() == columns.len()
        && list.iter().zip(&columns).all(|(e, c)| matches!(e, Expr::Attribute(a) if a.id == c.id && a.name == c.name))
}
