//! Walks over plans that rebuild them: expressions of a node in place, plans bottom up.

use crate::model::{Expr, JoinOn, Node, Plan};

/// Applies `f` to each expression of this node itself.
pub fn expressions_mut(plan: &mut Plan, f: &mut impl FnMut(&mut Expr)) {
    match &mut plan.node {
        Node::Values { rows, .. } => rows.iter_mut().flatten().for_each(f),
        Node::Range { start, end, step } => [start, end, step].into_iter().for_each(|e| f(e)),
        Node::Project { list, .. } => list.iter_mut().for_each(f),
        Node::Filter { condition, .. } => f(condition),
        Node::Join { on: JoinOn::Condition(condition), .. } => f(condition),
        Node::Aggregate { groupings, outputs, having, .. } => {
            groupings.iter_mut().chain(outputs).chain(having).for_each(f);
        }
        Node::Window { functions, .. } => functions.iter_mut().for_each(f),
        Node::Deduplicate { keys: Some(keys), .. } => keys.iter_mut().for_each(f),
        Node::Watermark { event_time, delay, .. } => [event_time, delay].into_iter().for_each(f),
        Node::Sort { keys, .. } => keys.iter_mut().for_each(|key| f(&mut key.expr)),
        Node::Limit { count, .. } | Node::Offset { count, .. } => f(count),
        Node::Generate { generator, output, .. } => {
            f(generator);
            output.iter_mut().for_each(f);
        }
        Node::Pivot { groupings, column, values, aggregates, .. } => {
            groupings.iter_mut().chain(std::iter::once(column.as_mut())).chain(values).chain(aggregates).for_each(f);
        }
        Node::Unpivot { ids, values, .. } => ids.iter_mut().chain(values).for_each(f),
        Node::StatefulMap { keys, .. } => keys.iter_mut().for_each(f),
        Node::Opaque { keys, function, .. } => keys.iter_mut().chain(&mut function.args).for_each(f),
        Node::WithColumns { columns, .. } | Node::DropColumns { columns, .. } => columns.iter_mut().for_each(f),
        Node::NaFill { value, .. } => f(value),
        Node::Read(_)
        | Node::Join { .. }
        | Node::Distinct { .. }
        | Node::Deduplicate { keys: None, .. }
        | Node::Union { .. }
        | Node::SetOperation { .. }
        | Node::Sample { .. }
        | Node::SubqueryAlias { .. }
        | Node::With { .. }
        | Node::RenameColumns { .. }
        | Node::ToDf { .. }
        | Node::NaDrop { .. } => {}
    }
}

/// Rebuilds a plan bottom up.
pub(crate) fn transform_up(mut plan: Plan, f: &mut impl FnMut(Plan) -> Plan) -> Plan {
    for input in plan.inputs_mut() {
        let taken = std::mem::replace(input, nothing());
        *input = transform_up(taken, f);
    }
    f(plan)
}

/// A plan to stand in for one that is being rebuilt.
pub(crate) fn nothing() -> Plan {
    Plan::new(Node::Values { rows: Vec::new(), schema: crate::model::Schema::new(Vec::new()) })
}

/// Rebuilds an expression bottom up.
pub(crate) fn rewrite_up(expr: Expr, f: &mut impl FnMut(Expr) -> Expr) -> Expr {
    let inner = expr.map_children(&mut |child| rewrite_up(child, f));
    f(inner)
}
