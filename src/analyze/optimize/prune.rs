//! Columns that nobody reads (`ColumnPruning`). This decides what a stream-stream join keeps of its sides and which buffers an
//! aggregation has.

use super::predicate::{collect, references};
use crate::analyze::output::output;
use crate::model::{AttrId, Expr, JoinKind, JoinOn, Node, Plan};
use std::collections::BTreeSet;

type Ids = BTreeSet<AttrId>;

pub(super) fn prune(mut plan: Plan) -> Plan {
    let needed: Ids = output(&plan).into_iter().map(|a| a.id).collect();
    narrow_in_place(&mut plan, &needed);
    plan
}

/// Removes what is not needed below a node, as far as the node's kind allows. Its output may stay wider than `needed`.
fn narrow_in_place(plan: &mut Plan, needed: &Ids) {
    match &mut plan.node {
        Node::Project { list, input } => {
            list.retain(|entry| id_of(entry).is_none_or(|id| needed.contains(&id)));
            let below = list.iter().flat_map(references).collect();
            narrow_in_place(input, &below);
        }
        Node::Aggregate { groupings, outputs, input, .. } => {
            outputs.retain(|entry| id_of(entry).is_none_or(|id| needed.contains(&id)));
            let below = groupings.iter().chain(outputs.iter()).flat_map(references).collect();
            narrow_in_place(input, &below);
        }
        Node::Window { functions, input } => {
            functions.retain(|entry| id_of(entry).is_none_or(|id| needed.contains(&id)));
            let below = with(needed, functions.iter());
            if functions.is_empty() {
                let taken = std::mem::replace(input.as_mut(), crate::analyze::visit::nothing());
                *plan = taken;
                narrow_in_place(plan, &below);
                return;
            }
            narrow_in_place(input, &below);
        }
        Node::Filter { condition, input } => {
            let below = with(needed, [&*condition].into_iter());
            narrow_in_place(input, &below);
        }
        Node::Watermark { event_time, input, .. } => {
            let below = with(needed, [&*event_time].into_iter());
            narrow_in_place(input, &below);
        }
        Node::Deduplicate { keys: Some(keys), input, .. } => {
            let below = with(needed, keys.iter());
            narrow_in_place(input, &below);
        }
        Node::Sort { keys, input, .. } => {
            let below = with(needed, keys.iter().map(|key| &key.expr));
            narrow_in_place(input, &below);
        }
        Node::Limit { input, .. } | Node::Offset { input, .. } | Node::Sample { input, .. } => {
            narrow_in_place(input, needed);
        }
        Node::Generate { generator, input, .. } => {
            let below = with(needed, [&*generator].into_iter());
            narrow(input, &below);
        }
        Node::Join { left, right, on, kind, lateral } => {
            let mut below = needed.clone();
            if let JoinOn::Condition(condition) = on {
                collect(condition, &mut below);
            }
            if *lateral {
                return all_below(plan);
            }
            narrow(left, &below);
            let _: JoinKind = *kind;
            narrow(right, &below);
        }
        Node::Union { .. } => narrow_union(plan, needed),
        Node::Deduplicate { keys: None, .. }
        | Node::Distinct { .. }
        | Node::SetOperation { .. }
        | Node::StatefulMap { .. }
        | Node::Opaque { .. }
        | Node::Unpivot { .. }
        | Node::Pivot { .. }
        | Node::With { .. }
        | Node::SubqueryAlias { .. }
        | Node::WithColumns { .. }
        | Node::DropColumns { .. }
        | Node::RenameColumns { .. }
        | Node::ToDf { .. }
        | Node::NaFill { .. }
        | Node::NaDrop { .. } => all_below(plan),
        Node::Read(_) | Node::Values { .. } | Node::Range { .. } => {}
    }
}

/// The inputs give all that they give now.
fn all_below(plan: &mut Plan) {
    for input in plan.inputs_mut() {
        let needed: Ids = output(input).into_iter().map(|a| a.id).collect();
        narrow_in_place(input, &needed);
    }
}

/// Narrows a side and puts a projection on it where it still gives more.
fn narrow(plan: &mut Plan, needed: &Ids) {
    narrow_in_place(plan, needed);
    let columns = output(plan);
    if columns.iter().all(|c| needed.contains(&c.id)) {
        return;
    }
    let list = columns.into_iter().filter(|c| needed.contains(&c.id)).map(Expr::Attribute).collect();
    let place = plan.place.clone();
    let below = std::mem::replace(plan, crate::analyze::visit::nothing());
    *plan = Plan::at(Node::Project { list, input: Box::new(below) }, place);
}

fn narrow_union(plan: &mut Plan, needed: &Ids) {
    let Node::Union { inputs, .. } = &mut plan.node else { return };
    let kept: Vec<usize> =
        plan.output.iter().enumerate().filter(|(_, a)| needed.contains(&a.id)).map(|(index, _)| index).collect();
    let all = kept.len() == plan.output.len();
    for input in inputs {
        let columns = output(input);
        let own: Vec<_> = kept.iter().filter_map(|index| columns.get(*index)).cloned().collect();
        let ids: Ids = own.iter().map(|a| a.id).collect();
        let duplicated = ids.len() != own.len();
        if all || duplicated {
            let everything: Ids = columns.iter().map(|a| a.id).collect();
            narrow_in_place(input, &everything);
            continue;
        }
        narrow(input, &ids);
    }
    if !all && inputs_match(plan, kept.len()) {
        plan.output.retain(|a| needed.contains(&a.id));
    }
}

/// The branches have been narrowed to so many columns each.
fn inputs_match(plan: &Plan, width: usize) -> bool {
    plan.inputs().iter().all(|input| output(input).len() == width)
}

fn with<'e>(needed: &Ids, exprs: impl Iterator<Item = &'e Expr>) -> Ids {
    let mut ids = needed.clone();
    for expr in exprs {
        collect(expr, &mut ids);
    }
    ids
}

fn id_of(entry: &Expr) -> Option<AttrId> {
    match entry {
        Expr::Attribute(a) => Some(a.id),
        Expr::Alias { id, .. } => Some(*id),
        _ => None,
    }
}
