//! Limits on the size of plans and expressions: code that doubles them in a loop must not exhaust memory, and later stages
//! walk them on ordinary stacks.

use crate::model::{Expr, Plan};

/// Nodes of a plan, expressions included.
const MAX_PLAN_NODES: u64 = 150_000;
/// Operators above the deepest leaf.
const MAX_PLAN_DEPTH: u32 = 400;
const MAX_EXPR_NODES: u64 = 20_000;
const MAX_EXPR_DEPTH: u32 = 250;

/// Number of nodes, or nothing where a limit is passed.
pub fn of_plan(plan: &Plan) -> Option<u64> {
    let mut total = 0;
    let mut pending = vec![(plan, 1u32)];
    while let Some((plan, depth)) = pending.pop() {
        total += 1;
        for expr in plan.expressions() {
            total += of_expr(expr)?;
        }
        if depth > MAX_PLAN_DEPTH || total > MAX_PLAN_NODES {
            return None;
        }
        pending.extend(plan.inputs().into_iter().map(|input| (input, depth + 1)));
    }
    Some(total)
}

/// The same for an expression.
pub fn of_expr(expr: &Expr) -> Option<u64> {
    let mut total = 0;
    let mut pending = vec![(expr, 1u32)];
    while let Some((expr, depth)) = pending.pop() {
        total += 1;
        if depth > MAX_EXPR_DEPTH || total > MAX_EXPR_NODES {
            return None;
        }
        pending.extend(expr.children().into_iter().map(|child| (child, depth + 1)));
    }
    Some(total)
}
