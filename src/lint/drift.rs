//! Functions in a query that give other values each time it runs.

use crate::functions::{self, Volatility};
use crate::model::{BatchWrite, Call, DataType, Expr, Node, Plan};

/// What makes a query's values drift from one run to the next.
fn cause(call: &Call) -> Option<Volatility> {
    let volatility = functions::call_volatility(call);
    // A seed makes the same values of the same rows in the same order; a day is the same for all runs of it.
    let seeded = volatility == Volatility::Chance && call.args.iter().any(|arg| matches!(arg, Expr::Literal { .. }));
    let of_the_day = functions::lookup(&call.function).is_some_and(|f| f.result(&[]).0 == DataType::Date);
    (!volatility.is_repeatable() && !seeded && !of_the_day).then_some(volatility)
}

/// A function of the rows that a write gets by its query.
pub fn function_of(write: &BatchWrite) -> Option<String> {
    Some(function_in(write.query.as_ref()?)?.1)
}

/// The function of a query that makes its values drift the most: `uuid()`.
pub fn function_in(plan: &Plan) -> Option<(Volatility, String)> {
    let counted = counts_alone(plan);
    let mut worst: Option<(Volatility, String)> = None;
    plan.walk(&mut |node| {
        // In a filter they only choose rows of the time being.
        if matches!(node.node, Node::Filter { .. }) {
            return;
        }
        for expr in node.expressions() {
            expr.walk(&mut |inner| {
                let Expr::Call(call) = inner else { return };
                let found = cause(call).filter(|cause| !(counted && *cause == Volatility::Position));
                if let Some(cause) = found.filter(|cause| worst.as_ref().is_none_or(|(known, _)| known < cause)) {
                    worst = Some((cause, format!("{}()", call.function)));
                }
            });
        }
    });
    worst
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
