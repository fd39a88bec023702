//! As much of Catalyst's optimizer as recorded state schemas show, and no more.
//!
//! What a checkpoint holds is computed on the optimized plan: pruned columns decide a join side's value schema, folded constants
//! leave the grouping keys, unused aggregates leave the buffers. Takes a resolved plan, gives one with the same output.

mod collapse;
mod fold;
mod outer_join;
mod predicate;
mod propagate;
mod prune;
mod pushdown;
mod subquery;

use super::output::output;
use super::visit::{expressions_mut, rewrite_up, transform_up};
use crate::functions::EvalContext;
use crate::model::{Expr, GroupingSets, Node, Plan};

pub(super) use predicate::{MAX_EXPRESSION, conjuncts, references, rejects_null, size};

/// Rounds of the rule set; real queries are stable after two or three.
const MAX_ROUNDS: usize = 8;

pub(super) fn optimize(plan: Plan, context: &EvalContext) -> Plan {
    let plan = transform_up(plan, &mut replace_operators);
    let mut plan = transform_up(plan, &mut subquery::rewrite);
    for _ in 0..MAX_ROUNDS {
        let next = round(plan.clone(), context);
        if next == plan {
            break;
        }
        plan = next;
    }
    plan
}

fn round(plan: Plan, context: &EvalContext) -> Plan {
    let plan = transform_up(plan, &mut |mut plan| {
        expressions_mut(&mut plan, &mut |expr| {
            let taken = std::mem::replace(expr, Expr::null());
            *expr = rewrite_up(taken, &mut |e| in_subqueries(fold::simplify(e, context), context));
        });
        plan
    });
    let plan = propagate::foldables(plan);
    let plan = outer_join::eliminate(plan);
    let plan = pushdown::push_down(plan);
    let plan = transform_up(plan, &mut collapse::collapse);
    prune::prune(plan)
}

fn in_subqueries(expr: Expr, context: &EvalContext) -> Expr {
    match expr {
        Expr::Subquery { kind, plan } => Expr::Subquery { kind, plan: Box::new(optimize(*plan, context)) },
        other => other,
    }
}

/// `EliminateSubqueryAliases`, `ReplaceDistinctWithAggregate`.
fn replace_operators(plan: Plan) -> Plan {
    let Plan { node, frame, output: made, place } = plan;
    let node = match node {
        Node::SubqueryAlias { input, .. } => return *input,
        Node::Distinct { input } => {
            let columns: Vec<Expr> = output(&input).into_iter().map(Expr::Attribute).collect();
            Node::Aggregate {
                groupings: columns.clone(),
                sets: GroupingSets::Simple,
                outputs: columns,
                having: None,
                input,
            }
        }
        other => other,
    };
    Plan { node, frame, output: made, place }
}
