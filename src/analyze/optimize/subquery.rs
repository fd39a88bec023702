//! `IN (SELECT …)` over a stream becomes a semi or anti join (`RewritePredicateSubquery`), since it keeps state as one.

use super::predicate::{conjunction, conjuncts};
use crate::analyze::output::output;
use crate::model::{Expr, JoinKind, JoinOn, Node, Plan, SubqueryKind};

/// One node whose inputs are rewritten already. Correlated and static subqueries stay expressions.
pub(super) fn rewrite(plan: Plan) -> Plan {
    let Node::Filter { condition, input } = plan.node else { return plan };
    let (streaming, rest): (Vec<Expr>, Vec<Expr>) = conjuncts(condition).into_iter().partition(is_streaming_in);
    let place = plan.place;
    let mut joined = match conjunction(rest) {
        Some(condition) => Plan::at(Node::Filter { condition, input }, place.clone()),
        None => *input,
    };
    for part in streaming {
        let Expr::Subquery { kind: SubqueryKind::In { operands, negated }, plan: right } = part else { continue };
        let equal = operands
            .into_iter()
            .zip(output(&right))
            .map(|(operand, column)| Expr::call("=", vec![operand, Expr::Attribute(column)]))
            .collect();
        let node = Node::Join {
            left: Box::new(joined),
            right,
            kind: if negated { JoinKind::LeftAnti } else { JoinKind::LeftSemi },
            on: conjunction(equal).map_or(JoinOn::None, JoinOn::Condition),
            lateral: false,
        };
        joined = Plan::at(node, place.clone());
    }
    joined
}

fn is_streaming_in(part: &Expr) -> bool {
    matches!(part, Expr::Subquery { kind: SubqueryKind::In { .. }, plan } if plan.is_streaming())
}
