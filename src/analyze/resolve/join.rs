//! Joins: USING and NATURAL become a condition and a choice of columns; a LATERAL side may name the columns to its left.

use super::column::Scope;
use super::relation::{Relation, same_name};
use super::{Resolver, at, expression, gives_right, names_columns};
use crate::functions;
use crate::model::{Attribute, Expr, JoinKind, JoinOn, Node, Place, Plan};

pub(super) struct JoinParts<'p> {
    pub left: &'p Plan,
    pub right: &'p Plan,
    pub kind: JoinKind,
    pub on: &'p JoinOn,
    pub lateral: bool,
}

impl Resolver<'_> {
    pub(super) fn join(&mut self, parts: JoinParts<'_>, place: &Place) -> Relation {
        let JoinParts { left, right, kind, on, lateral } = parts;
        let left = self.plan(left).tight_unless_hidden();
        let right = if lateral {
            self.outer.push(left.clone());
            let right = self.plan(right);
            self.outer.pop();
            right
        } else {
            self.plan(right)
        };
        let right = right.tight_unless_hidden();
        let condition = match on {
            JoinOn::None => None,
            JoinOn::Condition(condition) => {
                let scope = Scope { relations: vec![&left, &right], aliases: &[], place };
                Some(self.in_scope(condition, &scope))
            }
            JoinOn::Using(names) => return self.join_using(left, right, kind, names, place),
            JoinOn::Natural => {
                let shared: Vec<String> = left
                    .output
                    .iter()
                    .filter(|l| right.output.iter().any(|r| same_name(&l.name, &r.name)))
                    .map(|l| l.name.to_string())
                    .collect();
                return self.join_using(left, right, kind, &shared, place);
            }
        };
        debug_assert!(!names_columns(on));
        let on = condition.map_or(JoinOn::None, JoinOn::Condition);
        joined(left, right, kind, on, lateral, place)
    }

    fn join_using(
        &mut self,
        left: Relation,
        right: Relation,
        kind: JoinKind,
        names: &[String],
        place: &Place,
    ) -> Relation {
        let mut condition: Option<Expr> = None;
        let mut keys: Vec<(Attribute, Attribute)> = Vec::new();
        for name in names {
            let (Some(l), Some(r)) = (self.key(&left, name, place), self.key(&right, name, place)) else { continue };
            let equal = self.types(Expr::call("=", vec![Expr::Attribute(l.clone()), Expr::Attribute(r.clone())]));
            condition = Some(match condition {
                Some(before) => Expr::call("and", vec![before, equal]),
                None => equal,
            });
            keys.push((l, r));
        }
        let (left_columns, right_columns) = (left.output.clone(), right.output.clone());
        let on = condition.map_or(JoinOn::None, JoinOn::Condition);
        let mut relation = joined(left, right, kind, on, false, place);
        if !gives_right(kind) {
            return relation;
        }
        let here = |a: &Attribute, relation: &Relation| {
            relation.output.iter().find(|o| o.id == a.id).cloned().unwrap_or_else(|| a.clone())
        };
        let is_left_key = |a: &Attribute| keys.iter().any(|(l, _)| l.id == a.id);
        let is_right_key = |a: &Attribute| keys.iter().any(|(_, r)| r.id == a.id);
        let others: Vec<Attribute> = left_columns
            .iter()
            .filter(|a| !is_left_key(a))
            .chain(right_columns.iter().filter(|a| !is_right_key(a)))
            .map(|a| here(a, &relation))
            .collect();
        if kind == JoinKind::FullOuter {
            return self.full_outer_using(&keys, others, relation, place);
        }
        let (shown, hidden): (Vec<Attribute>, Vec<Attribute>) = keys
            .iter()
            .map(|(l, r)| if kind == JoinKind::RightOuter { (r, l) } else { (l, r) })
            .map(|(shown, hidden)| (here(shown, &relation), here(hidden, &relation)))
            .unzip();
        relation.output = shown.into_iter().chain(others).collect();
        relation.hidden = hidden;
        relation.loose = true;
        relation
    }

    /// A full outer join gives the key of whichever side there is.
    fn full_outer_using(
        &mut self,
        keys: &[(Attribute, Attribute)],
        others: Vec<Attribute>,
        relation: Relation,
        place: &Place,
    ) -> Relation {
        let mut list: Vec<Expr> = keys
            .iter()
            .map(|(l, r)| {
                let sides = [l, r].map(|a| Expr::Attribute(Attribute { nullable: true, ..a.clone() })).to_vec();
                let either = self.types(Expr::call("coalesce", sides));
                Expr::Alias { expr: Box::new(either), name: l.name.clone(), id: self.fresh(), place: place.clone() }
            })
            .collect();
        list.extend(others.into_iter().map(Expr::Attribute));
        let output: Vec<Attribute> = list.iter().filter_map(crate::analyze::output::named).collect();
        list.extend(relation.open.iter().map(super::relation::rest_of));
        let mut relation = at(relation.map_plan(|input| Node::Project { list, input }), place);
        relation.output = output;
        relation.hidden.clear();
        relation.loose = false;
        relation
    }

    fn key(&mut self, side: &Relation, name: &str, place: &Place) -> Option<Attribute> {
        if let Some(found) = side.output.iter().find(|a| same_name(&a.name, name)) {
            return Some(found.clone());
        }
        let opens = side.open.clone();
        if let Some(found) = opens.iter().find_map(|open| self.open_column(open, name)) {
            return Some(found);
        }
        let message = format!("USING names `{name}`, which one side of the join does not have");
        self.error("UNRESOLVED_USING_COLUMN_FOR_JOIN", message, place);
        None
    }
}

impl Relation {
    /// A join's sides keep hidden columns reachable, so only an order that matters is made tight.
    fn tight_unless_hidden(self) -> Relation {
        if self.hidden.is_empty() { self.tight() } else { self }
    }
}

fn joined(left: Relation, right: Relation, kind: JoinKind, on: JoinOn, lateral: bool, place: &Place) -> Relation {
    let right_side = right.output.clone();
    let output = crate::analyze::output::join_output(left.output.clone(), || right_side, kind);
    let loose = left.loose || (right.loose && gives_right(kind));
    let mut open = left.open;
    let mut metadata = left.metadata;
    let mut hidden = left.hidden;
    let mut frames = left.frames;
    if gives_right(kind) {
        open.extend(right.open);
        metadata.extend(right.metadata);
        hidden.extend(right.hidden);
        frames.extend(right.frames);
    }
    let node = Node::Join { left: Box::new(left.plan), right: Box::new(right.plan), kind, on, lateral };
    Relation { plan: Plan::at(node, place.clone()), output, hidden, open, metadata, frames, loose }
}

/// Widest type of two columns, where there is one.
pub(super) fn wider(a: &Attribute, b: &Attribute) -> Option<crate::model::DataType> {
    if expression::same_type(&a.data_type, &b.data_type) {
        return Some(a.data_type.clone());
    }
    functions::common_type(&[a.data_type.clone(), b.data_type.clone()])
}
