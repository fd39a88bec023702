//! Predicates moved towards the leaves (`CombineFilters`, `PushPredicateThroughNonJoin`, `PushPredicateThroughJoin`).
//!
//! A stateful `Deduplicate`, a limit and opaque functions let nothing through; a watermark lets through what does not read its
//! event time.

use super::predicate::{MAX_EXPRESSION, conjunction, conjuncts, deterministic, references, size};
use crate::analyze::output::output;
use crate::model::{AttrId, Expr, GroupingSets, JoinKind, JoinOn, Node, Place, Plan};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn push_down(plan: Plan) -> Plan {
    let mut plan = plan;
    if let Node::Filter { condition, input } = plan.node {
        let parts = conjuncts(condition);
        return push(parts, *input, &plan.place);
    }
    if let Node::Join { left, right, kind, on: JoinOn::Condition(condition), lateral } = plan.node {
        plan.node = push_join_condition(*left, *right, kind, condition, lateral, &plan.place);
    }
    for input in plan.inputs_mut() {
        let taken = std::mem::replace(input, crate::analyze::visit::nothing());
        *input = push_down(taken);
    }
    plan
}

/// The input under the conjuncts, each as far down as it may go.
fn push(parts: Vec<Expr>, mut input: Plan, place: &Place) -> Plan {
    if parts.is_empty() {
        return push_down(input);
    }
    let (down, stay) = match &input.node {
        Node::Filter { .. } => (parts, Vec::new()),
        Node::Project { list, .. } => split_project(parts, list),
        Node::Aggregate { groupings, sets: GroupingSets::Simple, outputs, .. } if !groupings.is_empty() => {
            split_aggregate(parts, groupings, outputs)
        }
        Node::Watermark { event_time, .. } => {
            let time = references(event_time);
            parts.into_iter().partition(|p| deterministic(p) && references(p).is_disjoint(&time))
        }
        Node::Generate { output: generated, generator, .. } if deterministic(generator) => {
            let ids: BTreeSet<AttrId> = generated.iter().flat_map(references).collect();
            parts.into_iter().partition(|p| deterministic(p) && references(p).is_disjoint(&ids))
        }
        Node::Sort { .. } => parts.into_iter().partition(deterministic),
        Node::Union { .. } => parts.into_iter().partition(deterministic),
        Node::Join { kind, left, right, .. } => split_join(parts, *kind, left, right),
        _ => (Vec::new(), parts),
    };
    let pushed = if down.is_empty() {
        push_down(input)
    } else {
        let below = |input: &mut Box<Plan>, parts: Vec<Expr>| {
            let taken = std::mem::replace(input.as_mut(), crate::analyze::visit::nothing());
            **input = push(parts, taken, place);
        };
        match &mut input.node {
            Node::Filter { condition, input: under } => {
                let own = std::mem::replace(condition, Expr::null());
                let mut all = conjuncts(own);
                all.extend(down);
                let taken = std::mem::replace(under.as_mut(), crate::analyze::visit::nothing());
                let place = input.place.or(place);
                return push(unique(all), taken, &place);
            }
            Node::Project { list, input: under } => {
                let aliases = aliases(list);
                let parts = down.into_iter().map(|p| substitute(p, &aliases)).collect();
                below(under, parts);
            }
            Node::Aggregate { outputs, input: under, .. } => {
                let aliases = aliases(outputs);
                let parts = down.into_iter().map(|p| substitute(p, &aliases)).collect();
                below(under, parts);
            }
            Node::Watermark { input: under, .. }
            | Node::Generate { input: under, .. }
            | Node::Sort { input: under, .. } => {
                below(under, down);
            }
            Node::Union { inputs, .. } => {
                let columns: Vec<AttrId> = input.output.iter().map(|a| a.id).collect();
                for branch in inputs {
                    let own: BTreeMap<AttrId, Expr> =
                        columns.iter().copied().zip(output(branch).into_iter().map(Expr::Attribute)).collect();
                    let parts = down.iter().map(|p| substitute(p.clone(), &own)).collect();
                    let taken = std::mem::replace(branch, crate::analyze::visit::nothing());
                    *branch = push(parts, taken, place);
                }
            }
            Node::Join { .. } => input = into_join(down, input),
            _ => {}
        }
        input
    };
    match conjunction(stay) {
        Some(condition) => Plan::at(Node::Filter { condition, input: Box::new(pushed) }, place.clone()),
        None => pushed,
    }
}

fn unique(parts: Vec<Expr>) -> Vec<Expr> {
    let mut seen: Vec<Expr> = Vec::with_capacity(parts.len());
    for part in parts {
        if !seen.contains(&part) {
            seen.push(part);
        }
    }
    seen
}

fn split_project(parts: Vec<Expr>, list: &[Expr]) -> (Vec<Expr>, Vec<Expr>) {
    let too_large = substituted_size(parts.iter(), &aliases(list)) > MAX_EXPRESSION;
    if too_large || !list.iter().all(deterministic) {
        return (Vec::new(), parts);
    }
    parts.into_iter().partition(deterministic)
}

/// Conjuncts over grouping columns alone select groups, hence rows.
fn split_aggregate(parts: Vec<Expr>, groupings: &[Expr], outputs: &[Expr]) -> (Vec<Expr>, Vec<Expr>) {
    let aliases = aliases(outputs);
    let keys: BTreeSet<AttrId> = groupings.iter().flat_map(references).collect();
    parts.into_iter().partition(|part| {
        let below = substitute(part.clone(), &aliases);
        let used = references(&below);
        deterministic(part)
            && !used.is_empty()
            && used.is_subset(&keys)
            && !crate::analyze::resolve::expression::has_aggregate(&below)
    })
}

/// Which conjuncts above a join may go into or below it.
fn split_join(parts: Vec<Expr>, kind: JoinKind, left: &Plan, right: &Plan) -> (Vec<Expr>, Vec<Expr>) {
    let (left, right) = (ids(left), ids(right));
    parts.into_iter().partition(|part| {
        let used = references(part);
        let only_left = used.is_subset(&left);
        let only_right = used.is_subset(&right);
        deterministic(part)
            && match kind {
                JoinKind::Inner | JoinKind::Cross => true,
                JoinKind::LeftOuter | JoinKind::LeftSemi | JoinKind::LeftAnti => only_left,
                JoinKind::RightOuter => only_right,
                JoinKind::FullOuter => false,
            }
    })
}

/// Puts conjuncts that `split_join` let through where they belong.
fn into_join(parts: Vec<Expr>, mut join: Plan) -> Plan {
    let Node::Join { left, right, kind, on, lateral } = join.node else { return join };
    let (left_ids, right_ids) = (ids(&left), ids(&right));
    let (mut to_left, mut to_right, mut both) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let used = references(&part);
        // A conjunct without columns stays in the condition.
        if !used.is_empty() && used.is_subset(&left_ids) {
            to_left.push(part);
        } else if !used.is_empty() && used.is_subset(&right_ids) {
            to_right.push(part);
        } else {
            both.push(part);
        }
    }
    let left = push(to_left, *left, &join.place);
    let right = push(to_right, *right, &join.place);
    let own = match on {
        JoinOn::Condition(condition) => conjuncts(condition),
        _ => Vec::new(),
    };
    let kind = if kind == JoinKind::Cross && !both.is_empty() { JoinKind::Inner } else { kind };
    let on = conjunction(unique(own.into_iter().chain(both).collect())).map_or(JoinOn::None, JoinOn::Condition);
    join.node = Node::Join { left: Box::new(left), right: Box::new(right), kind, on, lateral };
    if let Node::Join { left, right, kind, on: JoinOn::Condition(condition), lateral } = join.node {
        join.node = push_join_condition(*left, *right, kind, condition, lateral, &join.place);
    }
    join
}

/// One-sided conjuncts of a condition go below the join where that keeps the rows of an outer side.
fn push_join_condition(left: Plan, right: Plan, kind: JoinKind, condition: Expr, lateral: bool, place: &Place) -> Node {
    let (left_ids, right_ids) = (ids(&left), ids(&right));
    let (mut to_left, mut to_right, mut stay) = (Vec::new(), Vec::new(), Vec::new());
    for part in conjuncts(condition) {
        let used = references(&part);
        let movable = deterministic(&part) && !used.is_empty();
        let may_left = matches!(kind, JoinKind::Inner | JoinKind::Cross | JoinKind::LeftSemi | JoinKind::RightOuter);
        let may_right = matches!(
            kind,
            JoinKind::Inner | JoinKind::Cross | JoinKind::LeftSemi | JoinKind::LeftAnti | JoinKind::LeftOuter
        );
        if movable && may_left && used.is_subset(&left_ids) {
            to_left.push(part);
        } else if movable && may_right && used.is_subset(&right_ids) {
            to_right.push(part);
        } else {
            stay.push(part);
        }
    }
    let below = |side: Plan, parts: Vec<Expr>| match conjunction(parts) {
        Some(condition) => Plan::at(Node::Filter { condition, input: Box::new(side) }, place.clone()),
        None => side,
    };
    Node::Join {
        left: Box::new(below(left, to_left)),
        right: Box::new(below(right, to_right)),
        kind,
        on: conjunction(stay).map_or(JoinOn::None, JoinOn::Condition),
        lateral,
    }
}

fn ids(plan: &Plan) -> BTreeSet<AttrId> {
    output(plan).into_iter().map(|a| a.id).collect()
}

/// What the columns of a list stand for.
pub(super) fn aliases(list: &[Expr]) -> BTreeMap<AttrId, Expr> {
    list.iter()
        .filter_map(|entry| match entry {
            Expr::Alias { expr, id, .. } => Some((*id, expr.as_ref().clone())),
            _ => None,
        })
        .collect()
}

/// Nodes that expressions would have after [`substitute`].
pub(super) fn substituted_size<'e>(exprs: impl Iterator<Item = &'e Expr>, aliases: &BTreeMap<AttrId, Expr>) -> usize {
    let sizes: BTreeMap<AttrId, usize> = aliases.iter().map(|(id, expr)| (*id, size(expr))).collect();
    let mut nodes = 0usize;
    for expr in exprs {
        expr.walk(&mut |e| {
            let own = match e {
                Expr::Attribute(a) => sizes.get(&a.id).copied().unwrap_or(1),
                _ => 1,
            };
            nodes = nodes.saturating_add(own);
        });
    }
    nodes
}

/// Columns replaced by what they stand for; the columns that subqueries read from around them too.
pub(super) fn substitute(expr: Expr, aliases: &BTreeMap<AttrId, Expr>) -> Expr {
    match expr {
        Expr::Attribute(a) => aliases.get(&a.id).cloned().unwrap_or(Expr::Attribute(a)),
        Expr::Subquery { kind, mut plan } => {
            substitute_in_plan(&mut plan, aliases);
            Expr::Subquery { kind, plan }.map_children(&mut |child| substitute(child, aliases))
        }
        other => other.map_children(&mut |child| substitute(child, aliases)),
    }
}

fn substitute_in_plan(plan: &mut Plan, aliases: &BTreeMap<AttrId, Expr>) {
    crate::analyze::visit::expressions_mut(plan, &mut |expr| {
        let taken = std::mem::replace(expr, Expr::null());
        *expr = substitute(taken, aliases);
    });
    for input in plan.inputs_mut() {
        substitute_in_plan(input, aliases);
    }
}
