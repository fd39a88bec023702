//! Columns that a physical plan knows not to be NULL, which Spark before 4.1 writes into state schemas.
//!
//! A `FilterExec` marks the columns that its predicates reject NULL in; a projection above gives its columns as they were
//! resolved, so that the mark ends there. The constraints that `InferFiltersFromConstraints` derives from an inner join's
//! condition become filters on its sides, pushed as far down as any predicate.

use super::optimize::{conjuncts, references, rejects_null};
use crate::model::{AttrId, Expr, Node, Plan};
use std::collections::BTreeSet;

#[derive(Debug, Clone, Default)]
pub(super) struct NotNull(BTreeSet<AttrId>);

impl NotNull {
    /// Columns of a plan's output that filters have marked.
    pub fn of(plan: &Plan) -> Self {
        match &plan.node {
            Node::Filter { condition, input } => {
                let mut known = NotNull::of(input);
                known.reject(condition);
                known
            }
            Node::Watermark { input, .. }
            | Node::Deduplicate { input, .. }
            | Node::Limit { input, .. }
            | Node::Sample { input, .. }
            | Node::Generate { input, .. } => NotNull::of(input),
            _ => NotNull::default(),
        }
    }

    pub fn contains(&self, id: AttrId) -> bool {
        self.0.contains(&id)
    }

    fn reject(&mut self, condition: &Expr) {
        for part in conjuncts(condition.clone()) {
            for id in references(&part) {
                if rejects_null(&part, &|other| other == id) {
                    self.0.insert(id);
                }
            }
        }
    }

    /// What a join condition says of one of its sides.
    pub fn add_constraints(&mut self, condition: &Expr, side: &Plan) {
        let mut inferred = NotNull::default();
        inferred.reject(condition);
        self.0.extend(inferred.0.into_iter().filter(|id| stays_on_top(side, *id)));
    }
}

/// A pushed `isnotnull(column)` ends with no projection above it. Of an event-time column it stops above the watermark, where
/// `ColumnPruning` then puts the pruning projection below both.
fn stays_on_top(side: &Plan, column: AttrId) -> bool {
    match &side.node {
        Node::Read(read) => read.output.iter().any(|a| a.id == column),
        Node::Watermark { event_time, input, .. } => {
            references(event_time).contains(&column) || stays_on_top(input, column)
        }
        Node::Filter { input, .. } | Node::Generate { input, .. } | Node::Sort { input, .. } => {
            stays_on_top(input, column)
        }
        Node::Project { list, input } => {
            let prunes = list.iter().all(|e| matches!(e, Expr::Attribute(_)));
            let kept = list.iter().any(|e| matches!(e, Expr::Attribute(a) if a.id == column));
            let stops =
                matches!(&input.node, Node::Watermark { event_time, .. } if references(event_time).contains(&column));
            prunes && kept && stops
        }
        Node::Deduplicate { .. } | Node::Limit { .. } => true,
        _ => false,
    }
}
