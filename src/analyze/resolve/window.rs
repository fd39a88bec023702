//! Window functions: moved out of the expressions that hold them into one `Window` node below (`ExtractWindowExpressions`).

use super::relation::Relation;
use super::{Resolver, at};
use crate::model::{Expr, Node, Place};
use std::sync::Arc;

impl Resolver<'_> {
    pub(super) fn pull_out_window_functions(
        &mut self,
        exprs: Vec<Expr>,
        input: Relation,
        place: &Place,
    ) -> (Vec<Expr>, Relation) {
        let mut found: Vec<Expr> = Vec::new();
        let exprs = exprs.into_iter().map(|expr| self.without_window_functions(expr, &mut found, place)).collect();
        if found.is_empty() {
            return (exprs, input);
        }
        let columns: Vec<_> = found.iter().filter_map(crate::analyze::output::named).collect();
        let mut relation = at(input.tight().map_plan(|input| Node::Window { functions: found, input }), place);
        relation.output.extend(columns);
        (exprs, relation)
    }

    fn without_window_functions(&mut self, expr: Expr, found: &mut Vec<Expr>, place: &Place) -> Expr {
        match expr {
            Expr::Window { .. } => {
                let known = found.iter().find(|f| matches!(f, Expr::Alias { expr: e, .. } if **e == expr));
                let alias = match known {
                    Some(alias) => alias.clone(),
                    None => {
                        let name: Arc<str> = format!("_we{}", found.len()).into();
                        let alias = Expr::Alias { expr: Box::new(expr), name, id: self.fresh(), place: place.clone() };
                        found.push(alias.clone());
                        alias
                    }
                };
                crate::analyze::output::named(&alias).map_or_else(Expr::null, Expr::Attribute)
            }
            other => other.map_children(&mut |child| self.without_window_functions(child, found, place)),
        }
    }
}
