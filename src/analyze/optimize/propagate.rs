//! Constants that a projection gives, put where they are read (`FoldablePropagation`), and constant grouping keys removed
//! (`RemoveLiteralFromGroupExpressions`, `RemoveRepetitionFromGroupExpressions`).

use crate::model::{AttrId, Expr, GroupingSets, JoinKind, JoinOn, Node, Plan};
use std::collections::BTreeMap;

type Constants = BTreeMap<AttrId, Expr>;

pub(super) fn foldables(mut plan: Plan) -> Plan {
    propagate(&mut plan);
    plan
}

/// Replaces constant columns below a node's expressions; gives the constants among its own output.
fn propagate(plan: &mut Plan) -> Constants {
    let mut below: Vec<Constants> = plan.inputs_mut().into_iter().map(propagate).collect();
    match &mut plan.node {
        Node::Project { list, .. } => {
            let known = below.pop().unwrap_or_default();
            project_constants(list, &known)
        }
        Node::Filter { condition, .. } => {
            let known = below.pop().unwrap_or_default();
            replace(condition, &known);
            known
        }
        Node::Join { on, kind, .. } => {
            let right = below.pop().unwrap_or_default();
            let left = below.pop().unwrap_or_default();
            join_constants(on, *kind, left, right)
        }
        Node::Aggregate { groupings, sets, outputs, .. } => {
            let known = below.pop().unwrap_or_default();
            if !matches!(sets, GroupingSets::Simple) {
                return Constants::new();
            }
            for grouping in groupings.iter_mut() {
                replace(grouping, &known);
            }
            for output in outputs.iter_mut() {
                replace_named(output, &known);
            }
            remove_constant_keys(groupings);
            Constants::new()
        }
        Node::Watermark { .. } | Node::Sort { .. } | Node::Limit { .. } | Node::Deduplicate { .. } => {
            below.pop().unwrap_or_default()
        }
        _ => Constants::new(),
    }
}

fn project_constants(list: &[Expr], known: &Constants) -> Constants {
    let mut constants = Constants::new();
    for entry in list {
        match entry {
            Expr::Alias { expr, id, .. } => match expr.as_ref() {
                literal @ Expr::Literal { .. } => {
                    constants.insert(*id, literal.clone());
                }
                Expr::Attribute(a) => {
                    if let Some(literal) = known.get(&a.id) {
                        constants.insert(*id, literal.clone());
                    }
                }
                _ => {}
            },
            Expr::Attribute(a) => {
                if let Some(literal) = known.get(&a.id) {
                    constants.insert(a.id, literal.clone());
                }
            }
            _ => {}
        }
    }
    constants
}

/// The side that an outer join may fill with NULL has no constants above it.
fn join_constants(on: &mut JoinOn, kind: JoinKind, mut left: Constants, mut right: Constants) -> Constants {
    if let JoinOn::Condition(condition) = on
        && matches!(kind, JoinKind::Inner | JoinKind::Cross)
    {
        replace(condition, &left);
        replace(condition, &right);
    }
    match kind {
        JoinKind::Inner | JoinKind::Cross => left.append(&mut right),
        JoinKind::LeftOuter | JoinKind::LeftSemi | JoinKind::LeftAnti => {}
        JoinKind::RightOuter => left = right,
        JoinKind::FullOuter => left.clear(),
    }
    left
}

fn replace(expr: &mut Expr, known: &Constants) {
    if known.is_empty() {
        return;
    }
    let taken = std::mem::replace(expr, Expr::null());
    *expr = replaced(taken, known);
}

fn replaced(expr: Expr, known: &Constants) -> Expr {
    match expr {
        Expr::Attribute(a) => known.get(&a.id).cloned().unwrap_or(Expr::Attribute(a)),
        other => other.map_children(&mut |child| replaced(child, known)),
    }
}

/// A bare column keeps its name and id.
fn replace_named(expr: &mut Expr, known: &Constants) {
    match expr {
        Expr::Attribute(a) => {
            if let Some(literal) = known.get(&a.id) {
                *expr = Expr::Alias {
                    expr: Box::new(literal.clone()),
                    name: a.name.clone(),
                    id: a.id,
                    place: crate::model::Place::unknown(),
                };
            }
        }
        other => replace(other, known),
    }
}

/// If all keys are constant, the first stays: a group must be made all the same.
fn remove_constant_keys(groupings: &mut Vec<Expr>) {
    let is_constant = |e: &Expr| matches!(e, Expr::Literal { .. });
    if groupings.iter().all(is_constant) {
        groupings.truncate(1);
        return;
    }
    groupings.retain(|g| !is_constant(g));
    let mut seen: Vec<Expr> = Vec::with_capacity(groupings.len());
    for grouping in groupings.drain(..) {
        if !seen.contains(&grouping) {
            seen.push(grouping);
        }
    }
    *groupings = seen;
}
