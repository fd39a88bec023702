//! Conditions that stand beside a flow's query and speak of its columns: expectations, and what a REPLACE flow replaces.
//!
//! Databricks applies an expectation to "each record passing through a query" (docs.databricks.com: "Manage data quality with
//! pipeline expectations"): for a table that is what each of its flows writes, for a view what its readers get.

use super::Resolver;
use super::relation::Relation;
use crate::analyze::{Replacement, RowCheck};
use crate::model::{Dataset, DatasetKind, Expectation, Expr, Flow, FlowKind, Node, OnViolation, Place};

impl Resolver<'_> {
    /// The checks on a flow's rows: the target's expectations that act, in their order. Views are checked where they are read.
    pub(super) fn checks(&mut self, flow: &Flow, output: &Relation) -> Vec<RowCheck> {
        let target = self.catalog.target(self.pipeline, &flow.target);
        let dataset = target.and_then(|(p, d)| self.catalog.workspace.pipelines.get(p)?.datasets.get(d));
        let Some(dataset) = dataset.filter(|dataset| dataset.kind != DatasetKind::View) else { return Vec::new() };
        let acting = dataset.expectations.iter().filter(|expectation| expectation.on_violation != OnViolation::Warn);
        acting
            .map(|expectation| RowCheck {
                name: expectation.name.clone(),
                on_violation: expectation.on_violation,
                condition: self.condition(expectation, output),
            })
            .collect()
    }

    /// A view's rows without those that its expectations drop.
    pub(super) fn rows_kept_by_view(&mut self, view: &Dataset, mut relation: Relation) -> Relation {
        for expectation in view.expectations.iter().filter(|each| each.on_violation == OnViolation::DropRow) {
            if let Ok(condition) = self.condition(expectation, &relation) {
                relation = relation.map_plan(|input| Node::Filter { condition, input });
                relation.plan.place = expectation.place.clone();
            }
        }
        relation
    }

    /// What a REPLACE flow says of the rows it replaces.
    pub(super) fn replacement(&mut self, flow: &Flow, output: &Relation) -> Option<Replacement> {
        match &flow.kind {
            FlowKind::ReplaceWhere(condition) => {
                let what = "the predicate of REPLACE WHERE";
                Some(Replacement::Where(self.beside_the_query(condition, output, what, &flow.place)))
            }
            FlowKind::ReplaceUsing { keys, sequence_by } => {
                let what = "the sequence of REPLACE USING";
                let sequence_by =
                    sequence_by.as_ref().map(|expr| self.beside_the_query(expr, output, what, &flow.place));
                Some(Replacement::Using { keys: keys.clone(), sequence_by })
            }
            _ => None,
        }
    }

    fn condition(&mut self, expectation: &Expectation, columns: &Relation) -> Result<Expr, String> {
        let what = format!("expectation {}", expectation.name);
        self.beside_the_query(&expectation.predicate, columns, &what, &expectation.place)
    }

    /// An expression over a query's columns that is no part of the query: what does not resolve in it is a gap in what is known,
    /// not an error of the query.
    fn beside_the_query(&mut self, expr: &Expr, columns: &Relation, what: &str, place: &Place) -> Result<Expr, String> {
        let errors = self.errors.len();
        let resolved = self.scalar(expr, columns, place);
        let failed = self.errors.split_off(errors).into_iter().next().map(|error| error.message);
        let Some(why) = failed.or_else(|| gap(&resolved)) else { return Ok(resolved) };
        self.note_unresolved("unknown-predicate", what, &why, place);
        Err(why)
    }
}

/// What in a condition is not understood.
fn gap(condition: &Expr) -> Option<String> {
    let mut found = None;
    condition.walk(&mut |part| match part {
        Expr::Opaque(opaque) if !opaque.reason.is_empty() => found = Some(opaque.reason.to_string()),
        Expr::Subquery { .. } => found = Some("it holds a subquery".to_owned()),
        _ => {}
    });
    found
}
