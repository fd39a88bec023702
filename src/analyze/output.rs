//! Columns that a resolved plan gives, with their ids.

use super::resolve::expression::typed;
use crate::model::{Attribute, Expr, JoinKind, Node, Plan};
use std::sync::Arc;

/// Output columns of a resolved plan, in order (`LogicalPlan.output`).
pub(crate) fn output(plan: &Plan) -> Vec<Attribute> {
    match &plan.node {
        Node::Read(read) => read.output.clone(),
        Node::Values { .. }
        | Node::Range { .. }
        | Node::Opaque { .. }
        | Node::StatefulMap { .. }
        | Node::Unpivot { .. }
        | Node::Union { .. } => plan.output.clone(),
        Node::Project { list, .. } => list.iter().filter_map(named).collect(),
        Node::Aggregate { outputs, .. } => outputs.iter().filter_map(named).collect(),
        Node::Window { functions, input } => {
            let mut columns = output(input);
            columns.extend(functions.iter().filter_map(named));
            columns
        }
        Node::Generate { output: generated, input, .. } => {
            let mut columns = output(input);
            columns.extend(generated.iter().filter_map(named));
            columns
        }
        Node::Join { left, right, kind, .. } => join_output(output(left), || output(right), *kind),
        Node::Watermark { event_time, delay, input } => {
            let micros = super::resolve::delay_micros(delay);
            let mut columns = output(input);
            if let Expr::Attribute(time) = event_time {
                for column in &mut columns {
                    column.watermark_delay = if column.id == time.id { micros.or(Some(0)) } else { None };
                }
            }
            columns
        }
        Node::SetOperation { left, .. } => output(left),
        Node::With { body, .. } => output(body),
        Node::Filter { input, .. }
        | Node::Distinct { input }
        | Node::Deduplicate { input, .. }
        | Node::Sort { input, .. }
        | Node::Limit { input, .. }
        | Node::Offset { input, .. }
        | Node::Sample { input, .. }
        | Node::SubqueryAlias { input, .. }
        | Node::Pivot { input, .. }
        | Node::WithColumns { input, .. }
        | Node::DropColumns { input, .. }
        | Node::RenameColumns { input, .. }
        | Node::ToDf { input, .. }
        | Node::NaFill { input, .. }
        | Node::NaDrop { input, .. } => output(input),
    }
}

/// Columns of a join from those of its sides; a side that may be missing gives nullable columns.
pub(crate) fn join_output(
    left: Vec<Attribute>,
    right: impl FnOnce() -> Vec<Attribute>,
    kind: JoinKind,
) -> Vec<Attribute> {
    let nullable = |columns: Vec<Attribute>| columns.into_iter().map(|a| Attribute { nullable: true, ..a });
    match kind {
        JoinKind::LeftSemi | JoinKind::LeftAnti => left,
        JoinKind::Inner | JoinKind::Cross => left.into_iter().chain(right()).collect(),
        JoinKind::LeftOuter => left.into_iter().chain(nullable(right())).collect(),
        JoinKind::RightOuter => nullable(left).chain(right()).collect(),
        JoinKind::FullOuter => nullable(left).chain(nullable(right())).collect(),
    }
}

/// The column that a named expression gives.
pub(crate) fn named(expr: &Expr) -> Option<Attribute> {
    match expr {
        Expr::Attribute(attribute) => Some(attribute.clone()),
        Expr::Alias { expr, name, id, .. } => {
            let (data_type, nullable) = typed(expr);
            let watermark_delay = super::resolve::event_time_delay(expr);
            Some(Attribute {
                id: *id,
                name: Arc::clone(name),
                data_type,
                nullable,
                qualifier: Vec::new(),
                watermark_delay,
            })
        }
        _ => None,
    }
}
