//! Functions in a query that give other values each time it runs.

use crate::model::{BatchWrite, Call, Expr, Node, Plan};

/// What makes a query's values drift.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    /// The time of the run.
    Clock,
    /// The row's position among the rows that a task reads.
    Position,
    Chance,
}

fn cause(call: &Call) -> Option<Cause> {
    match call.function.as_ref() {
        "current_timestamp" | "now" | "localtimestamp" => Some(Cause::Clock),
        "monotonically_increasing_id" => Some(Cause::Position),
        // A seed makes the same values of the same rows in the same order.
        "rand" | "randn" | "shuffle" if call.args.iter().any(|arg| matches!(arg, Expr::Literal { .. })) => None,
        "rand" | "randn" | "shuffle" | "uuid" => Some(Cause::Chance),
        _ => None,
    }
}

/// A function of the rows that a write gets by its query.
pub fn function_of(write: &BatchWrite) -> Option<String> {
    function_in(write.query.as_ref()?)
}

/// The function of a query that makes its values drift the most: `uuid()`.
pub fn function_in(plan: &Plan) -> Option<String> {
    let counted = counts_alone(plan);
    let mut worst: Option<(Cause, String)> = None;
    plan.walk(&mut |node| {
        // In a filter they only choose rows of the time being.
        if matches!(node.node, Node::Filter { .. }) {
            return;
        }
        for expr in node.expressions() {
            expr.walk(&mut |inner| {
                let Expr::Call(call) = inner else { return };
                let found = cause(call).filter(|cause| !(counted && *cause == Cause::Position));
                if let Some(cause) = found.filter(|cause| worst.as_ref().is_none_or(|(known, _)| known < cause)) {
                    worst = Some((cause, format!("{}()", call.function)));
                }
            });
        }
    });
    worst.map(|(_, function)| function)
}

/// The rows are numbers of a range and inline rows, which stand in the same place each time, and nothing shuffles them.
fn counts_alone(plan: &Plan) -> bool {
    let mut alone = true;
    plan.walk(&mut |node| {
        alone &= !matches!(
            node.node,
            Node::Read(_)
                | Node::Join { .. }
                | Node::Aggregate { .. }
                | Node::Distinct { .. }
                | Node::Deduplicate { .. }
        );
    });
    alone
}
