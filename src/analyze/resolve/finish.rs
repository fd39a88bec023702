//! The end of resolution: columns that were named on demand are put where their leaf's marker stands, and into the projections
//! that pass them on.

use super::relation::{Relation, as_rest, same_name};
use super::{OpenColumns, OpenKind, Resolved, Resolver};
use crate::model::{AttrId, Attribute, Expr, Node, Plan};

impl Resolver<'_> {
    pub(super) fn finish(self, relation: Relation) -> Resolved {
        let complete = relation.is_complete();
        let mut plan = relation.plan;
        close(&mut plan, &self.open);
        let output = crate::analyze::output::output(&plan);
        Resolved {
            plan,
            output,
            complete,
            errors: self.errors,
            unresolved: self.unresolved.into_values().collect(),
            cdc: None,
            checks: Vec::new(),
            replacement: None,
            places: self.places,
        }
    }
}

fn close(plan: &mut Plan, open: &[OpenColumns]) {
    for input in plan.inputs_mut() {
        close(input, open);
    }
    let is_union = matches!(plan.node, Node::Union { .. });
    if let Some(columns) = fill_markers(&mut plan.output, open)
        && is_union
    {
        close_union(plan, &columns, open);
    }
    match &mut plan.node {
        Node::Read(read) => {
            fill_markers(&mut read.output, open);
        }
        Node::Project { list, .. } => close_list(list, open),
        Node::Aggregate { outputs, .. } => close_list(outputs, open),
        _ => {}
    }
    super::super::visit::expressions_mut(plan, &mut |expr| close_subqueries(expr, open));
}

fn close_subqueries(expr: &mut Expr, open: &[OpenColumns]) {
    let taken = std::mem::replace(expr, Expr::null());
    *expr = match taken {
        Expr::Subquery { kind, mut plan } => {
            close(&mut plan, open);
            Expr::Subquery { kind, plan }.map_children(&mut |mut child| {
                close_subqueries(&mut child, open);
                child
            })
        }
        other => other.map_children(&mut |mut child| {
            close_subqueries(&mut child, open);
            child
        }),
    };
}

/// Replaces a marker by the columns that were named; gives the relation it stood for.
fn fill_markers(output: &mut Vec<Attribute>, open: &[OpenColumns]) -> Option<usize> {
    let marker = output.iter().position(|a| a.id == AttrId(0))?;
    let id: usize = output.remove(marker).name.parse().ok()?;
    output.extend(open.get(id)?.columns.iter().cloned());
    Some(id)
}

/// The branches of an open union give the columns that were named.
fn close_union(plan: &mut Plan, id: &usize, open: &[OpenColumns]) {
    let Some(OpenKind::Union { rows, .. }) = open.get(*id).map(|o| &o.kind) else { return };
    let Node::Union { inputs, .. } = &mut plan.node else { return };
    for (index, input) in inputs.iter_mut().enumerate() {
        let keep = plan.output.len().saturating_sub(rows.len());
        if !matches!(input.node, Node::Project { .. }) {
            let list = crate::analyze::output::output(input).into_iter().map(Expr::Attribute).collect();
            let below = std::mem::replace(input, crate::analyze::visit::nothing());
            *input = Plan::new(Node::Project { list, input: Box::new(below) });
        }
        let Node::Project { list, .. } = &mut input.node else { continue };
        list.truncate(keep);
        list.extend(rows.iter().filter_map(|row| row.get(index)).cloned());
    }
}

/// Replaces the markers of a list by the named columns that the list does not hold already.
fn close_list(list: &mut Vec<Expr>, open: &[OpenColumns]) {
    if !list.iter().any(|e| as_rest(e).is_some()) {
        return;
    }
    let mut closed: Vec<Expr> = Vec::with_capacity(list.len());
    let taken: Vec<String> =
        list.iter().filter_map(crate::analyze::output::named).map(|a| a.name.to_string()).collect();
    for entry in list.drain(..) {
        let Some((id, excluded)) = as_rest(&entry) else {
            closed.push(entry);
            continue;
        };
        for column in open.get(id).map_or(&[][..], |o| &o.columns) {
            let hides = |name: &String| same_name(name, &column.name);
            if !taken.iter().any(hides) && !excluded.iter().any(hides) && &*column.name != "_metadata" {
                closed.push(Expr::Attribute(column.clone()));
            }
        }
    }
    *list = closed;
}
