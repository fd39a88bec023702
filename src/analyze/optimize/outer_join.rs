//! Outer joins whose missing rows a filter above drops anyway become inner ones (`EliminateOuterJoin`).

use super::predicate::{conjuncts, rejects_null};
use crate::analyze::output::output;
use crate::analyze::visit::transform_up;
use crate::model::{AttrId, JoinKind, Node, Plan};
use std::collections::BTreeSet;

pub(super) fn eliminate(plan: Plan) -> Plan {
    transform_up(plan, &mut |mut plan| {
        if let Node::Filter { condition, input } = &mut plan.node
            && let Node::Join { left, right, kind, .. } = &mut input.node
        {
            let parts = conjuncts(condition.clone());
            let rejects = |side: &Plan| {
                let ids: BTreeSet<AttrId> = output(side).into_iter().map(|a| a.id).collect();
                parts.iter().any(|part| rejects_null(part, &|id| ids.contains(&id)))
            };
            *kind = match *kind {
                JoinKind::LeftOuter if rejects(right) => JoinKind::Inner,
                JoinKind::RightOuter if rejects(left) => JoinKind::Inner,
                JoinKind::FullOuter => match (rejects(left), rejects(right)) {
                    (true, true) => JoinKind::Inner,
                    (true, false) => JoinKind::LeftOuter,
                    (false, true) => JoinKind::RightOuter,
                    (false, false) => JoinKind::FullOuter,
                },
                same => same,
            };
        }
        plan
    })
}
