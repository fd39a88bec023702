//! Identities of DataFrames inside one plan: only those that some column refers to, numbered in order of appearance.

use crate::model::{BatchWrite, Expr, JoinOn, MergeAction, Node, Plan, WriteOperation};
use std::collections::{BTreeMap, BTreeSet};

/// Renumbers [`Plan::frame`] and the columns that refer to it, so that the same query has the same plan on both sides of an edit.
pub fn normalize(plan: &mut Plan) {
    let mut used = BTreeSet::new();
    plan.walk(&mut |node| {
        for expr in node.expressions() {
            expr.walk(&mut |expr| {
                if let Expr::Column(column) = expr {
                    used.extend(column.frame);
                }
            });
        }
    });
    let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
    plan.walk(&mut |node| {
        if let Some(frame) = node.frame.filter(|frame| used.contains(frame)) {
            let next = numbers.len() as u32 + 1;
            numbers.entry(frame).or_insert(next);
        }
    });
    renumber(plan, &numbers);
}

fn renumber(plan: &mut Plan, numbers: &BTreeMap<u32, u32>) {
    map_expressions(plan, &mut |expr| rename(expr, numbers));
    let mut pending = vec![plan];
    while let Some(plan) = pending.pop() {
        plan.frame = plan.frame.and_then(|frame| numbers.get(&frame).copied());
        pending.extend(plan.inputs_mut());
    }
}

/// Passes every expression of every node through `change`.
pub fn map_expressions(plan: &mut Plan, change: &mut impl FnMut(Expr) -> Expr) {
    let mut pending = vec![plan];
    while let Some(plan) = pending.pop() {
        for expr in expressions_mut(&mut plan.node) {
            let taken = std::mem::replace(expr, Expr::null());
            *expr = change(taken);
        }
        pending.extend(plan.inputs_mut());
    }
}

fn rename(expr: Expr, numbers: &BTreeMap<u32, u32>) -> Expr {
    match expr {
        Expr::Column(mut column) => {
            column.frame = column.frame.and_then(|frame| numbers.get(&frame).copied());
            Expr::Column(column)
        }
        other => other.map_children(&mut |child| rename(child, numbers)),
    }
}

/// Replaces what `put` has something for, in subqueries too.
pub fn replace(expr: Expr, put: &dyn Fn(&Expr) -> Option<Expr>) -> Expr {
    if let Some(value) = put(&expr) {
        return value;
    }
    match expr.map_children(&mut |child| replace(child, put)) {
        Expr::Subquery { kind, mut plan } => {
            replace_in_plan(&mut plan, put);
            Expr::Subquery { kind, plan }
        }
        other => other,
    }
}

pub fn replace_in_plan(plan: &mut Plan, put: &dyn Fn(&Expr) -> Option<Expr>) {
    map_expressions(plan, &mut |expr| replace(expr, put));
}

/// The same in everything that a write is made of.
pub fn replace_in_write(write: &mut BatchWrite, put: &dyn Fn(&Expr) -> Option<Expr>) {
    let in_place = |expr: &mut Expr| *expr = replace(std::mem::replace(expr, Expr::null()), put);
    write.query.iter_mut().for_each(|query| replace_in_plan(query, put));
    write.partition.iter_mut().filter_map(|item| item.value.as_mut()).for_each(in_place);
    write.replace_where.iter_mut().for_each(in_place);
    match &mut write.operation {
        WriteOperation::OverwriteWhere(condition) | WriteOperation::ReplaceOn(condition) => in_place(condition),
        WriteOperation::Delete { condition } => condition.iter_mut().for_each(in_place),
        WriteOperation::Update { assignments, condition } => {
            assignments.iter_mut().map(|(_, value)| value).chain(condition).for_each(in_place);
        }
        WriteOperation::Truncate { partition } => {
            partition.iter_mut().filter_map(|item| item.value.as_mut()).for_each(in_place);
        }
        WriteOperation::DropPartition { partitions } => {
            partitions.iter_mut().flatten().filter_map(|item| item.value.as_mut()).for_each(in_place);
        }
        WriteOperation::Merge(merge) => {
            replace_in_plan(&mut merge.source, put);
            in_place(&mut merge.on);
            for clause in &mut merge.clauses {
                clause.condition.iter_mut().for_each(in_place);
                match &mut clause.action {
                    MergeAction::Update(assignments) => {
                        assignments.iter_mut().map(|(_, value)| value).for_each(in_place);
                    }
                    MergeAction::Insert { values, .. } => values.iter_mut().for_each(in_place),
                    MergeAction::Delete | MergeAction::UpdateAll | MergeAction::InsertAll => {}
                }
            }
        }
        WriteOperation::Append
        | WriteOperation::Overwrite
        | WriteOperation::OverwritePartitions
        | WriteOperation::ReplaceUsing(_)
        | WriteOperation::Create { .. }
        | WriteOperation::Replace
        | WriteOperation::ErrorIfExists
        | WriteOperation::Ignore
        | WriteOperation::DropTable { .. }
        | WriteOperation::Ddl(_)
        | WriteOperation::Invalid { .. } => {}
    }
}

/// The value of a session variable, where an expression is its name: `x`, `session.x`.
pub fn variable(expr: &Expr, variables: &BTreeMap<String, Expr>) -> Option<Expr> {
    let Expr::Column(column) = expr else { return None };
    let name = match column.parts.as_slice() {
        [name] => name,
        [session, name] if session.eq_ignore_ascii_case("session") => name,
        [system, session, name] if system.eq_ignore_ascii_case("system") && session.eq_ignore_ascii_case("session") => {
            name
        }
        _ => return None,
    };
    variables.get(&name.to_lowercase()).cloned()
}

/// Expressions of a node itself, mutable: those a frontend can make.
fn expressions_mut(node: &mut Node) -> Vec<&mut Expr> {
    match node {
        Node::Values { rows, .. } => rows.iter_mut().flatten().collect(),
        Node::Range { start, end, step } => vec![start, end, step],
        Node::Project { list, .. } => list.iter_mut().collect(),
        Node::Filter { condition, .. } => vec![condition],
        Node::Join { on: JoinOn::Condition(condition), .. } => vec![condition],
        Node::Aggregate { groupings, outputs, having, .. } => {
            groupings.iter_mut().chain(outputs).chain(having).collect()
        }
        Node::Deduplicate { keys, .. } => keys.iter_mut().flatten().collect(),
        Node::Watermark { event_time, delay, .. } => vec![event_time, delay],
        Node::Sort { keys, .. } => keys.iter_mut().map(|key| &mut key.expr).collect(),
        Node::Limit { count, .. } | Node::Offset { count, .. } => vec![count],
        Node::Generate { generator, output, .. } => std::iter::once(generator).chain(output).collect(),
        Node::Pivot { groupings, column, values, aggregates, .. } => {
            groupings.iter_mut().chain(std::iter::once(column.as_mut())).chain(values).chain(aggregates).collect()
        }
        Node::Unpivot { ids, values, .. } => ids.iter_mut().chain(values).collect(),
        Node::StatefulMap { keys, function, .. } => keys.iter_mut().chain(&mut function.function.args).collect(),
        Node::Opaque { keys, function, .. } => keys.iter_mut().chain(&mut function.args).collect(),
        Node::WithColumns { columns, .. } | Node::DropColumns { columns, .. } => columns.iter_mut().collect(),
        Node::NaFill { value, .. } => vec![value],
        _ => Vec::new(),
    }
}
