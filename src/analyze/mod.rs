//! Names, types, canonical form, optimized plan and signature of every flow.
//!
//! Takes a workspace as the frontends give it; gives each flow's plan with attributes resolved and views walked through, its
//! optimized plan (as much of Catalyst's optimizer as recorded state schemas show, no more) and what its checkpoint holds it to.

mod aspects;
mod canonical;
mod catalog;
mod extent;
mod flow;
mod join_keys;
mod legality;
mod names;
mod not_null;
mod optimize;
mod order;
mod output;
mod resolve;
mod schema;
mod sources;
mod state;
mod term;
#[cfg(test)]
mod tests;
mod visit;

pub(crate) use output::output;
pub(crate) use sources::rescued_column;

pub use aspects::{
    AggregateAspect, Aspects, DeduplicateAspect, JoinAspect, OutputColumn, Piece, SourceAspect, StatefulMapAspect,
    WatermarkAspect,
};
pub use sources::says_how_to_reach;
pub use state::PINNED_SETTINGS;
pub use term::{Term, TermBuilder, TermId, TermKind, duration};
pub use visit::expressions_mut;

use crate::model::{
    CdcSpec, Expr, Flow, OnViolation, Opaque, Pipeline, PipelineKind, Place, Plan, Schema, Signature, Unresolved,
    Workspace,
};
use catalog::{Catalog, DatasetId};
use rayon::prelude::*;
use std::sync::OnceLock;

/// A query that Spark's analyzer would reject, with its error class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnalysisError {
    /// `UNRESOLVED_COLUMN.WITH_SUGGESTION`, `UNSUPPORTED_STREAMING_OPERATOR_WITHOUT_WATERMARK`, …
    pub class: String,
    pub message: String,
    pub place: Place,
}

/// One flow after analysis.
#[derive(Debug, Clone)]
pub struct AnalyzedFlow {
    /// Index into `workspace.pipelines`, and into that pipeline's `flows`.
    pub pipeline: usize,
    pub flow: usize,
    /// Names and types resolved, views and CTEs inlined, sugar removed.
    pub plan: Plan,
    /// What Spark plans execution and state on.
    pub optimized: Plan,
    /// Columns the query gives.
    pub schema: Schema,
    /// Of an AUTO CDC flow: its expressions resolved over the columns of `plan`, with explicit casts.
    pub cdc: Option<CdcSpec>,
    /// What its target's expectations do to the rows that it writes: those that drop rows or fail the update.
    pub checks: Vec<RowCheck>,
    /// Of a REPLACE flow.
    pub replacement: Option<Replacement>,
    pub signature: Signature,
    /// What the query says, piece by piece, in canonical text: what two revisions are compared by.
    pub aspects: Aspects,
    /// Some streaming leaf is read.
    pub streaming: bool,
    pub unresolved: Vec<Unresolved>,
    pub errors: Vec<AnalysisError>,
}

/// An expectation that acts on a row that violates it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowCheck {
    /// The expectation's name.
    pub name: String,
    pub on_violation: OnViolation,
    /// The condition over the columns of the flow's plan, or why it is not known.
    pub condition: Result<Expr, String>,
}

/// Which rows of its target a REPLACE flow writes anew; expressions over the columns of the flow's plan, or why they are not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replacement {
    Where(Result<Expr, String>),
    Using { keys: Vec<String>, sequence_by: Option<Result<Expr, String>> },
}

impl AnalyzedFlow {
    /// Expressions that stand beside the query and speak of its columns, as far as they are known: of expectations, and of what
    /// a REPLACE flow replaces.
    pub fn beside(&self) -> impl Iterator<Item = &Expr> {
        let replaced = match &self.replacement {
            Some(Replacement::Where(condition)) => Some(condition),
            Some(Replacement::Using { sequence_by, .. }) => sequence_by.as_ref(),
            None => None,
        };
        let checks = self.checks.iter().map(|check| &check.condition);
        checks.chain(replaced).filter_map(|known| known.as_ref().ok())
    }
}

/// Term of an expression over columns that no plan defines, by their names.
pub fn expression_term(expr: &Expr) -> Term {
    canonical::Canonical::of_names(expr)
}

/// What code that no plan shows is known by in terms: its name and its content.
pub fn code_term(code: &Opaque) -> Term {
    canonical::code(code)
}

/// Puts pieces in an order of their own.
pub fn sort_pieces(pieces: &mut [Piece]) {
    aspects::sort(pieces);
}

/// A workspace with everything that can be known about it.
#[derive(Debug, Clone)]
pub struct Analysis {
    pub workspace: Workspace,
    /// In the order of pipelines, then flows: looked up by that order.
    pub flows: Vec<AnalyzedFlow>,
    /// Schema of each dataset, by pipeline and dataset index: declared columns, else its flows' columns merged.
    pub schemas: Vec<Vec<Schema>>,
    names: OnceLock<names::Names>,
}

impl Analysis {
    pub fn new(workspace: Workspace, flows: Vec<AnalyzedFlow>, schemas: Vec<Vec<Schema>>) -> Self {
        Analysis { workspace, flows, schemas, names: OnceLock::new() }
    }
}

/// Stack of the threads that analyse: plans and expressions are walked by recursion, up to [`resolve::MAX_DEPTH`] levels.
const STACK: usize = 256 << 20;

/// Resolves, checks and optimizes every flow of a workspace. Total: whatever a plan holds, its flow is in the result.
pub fn analyze(workspace: Workspace) -> Analysis {
    analyze_some(workspace, &|_, _| true)
}

/// The same for some of the flows. Views that they read are looked through all the same; a dataset that none of them writes has
/// only its declared columns.
pub fn analyze_some(workspace: Workspace, wanted: &Wanted<'_>) -> Analysis {
    let (flows, schemas) = match rayon::ThreadPoolBuilder::new().stack_size(STACK).build() {
        Ok(pool) => pool.install(|| analyze_flows(&workspace, wanted)),
        Err(_) => analyze_flows(&workspace, wanted),
    };
    Analysis::new(workspace, flows, schemas)
}

/// Chooses flows of pipelines.
type Wanted<'a> = dyn Fn(&Pipeline, &Flow) -> bool + Sync + 'a;

fn analyze_flows(workspace: &Workspace, wanted: &Wanted<'_>) -> (Vec<AnalyzedFlow>, Vec<Vec<Schema>>) {
    let catalog = Catalog::new(workspace);
    let order = order::order(&catalog);
    let mut schemas: Vec<Vec<Option<Schema>>> =
        workspace.pipelines.iter().map(|p| p.datasets.iter().map(schema::declared).collect()).collect();
    let is_wanted = |p: usize, f: usize| {
        let pipeline = workspace.pipelines.get(p);
        pipeline.is_some_and(|pipeline| pipeline.flows.get(f).is_some_and(|flow| wanted(pipeline, flow)))
    };
    let mut flows: Vec<AnalyzedFlow> = Vec::new();
    for generation in &order.generations {
        let done: Vec<(DatasetId, Vec<AnalyzedFlow>)> = generation
            .par_iter()
            .map(|id| {
                let writers = catalog.writers(*id).iter().filter(|f| is_wanted(id.0, **f));
                let analyzed = writers.filter_map(|f| flow::analyze(&catalog, &schemas, id.0, *f));
                (*id, analyzed.collect())
            })
            .collect();
        for ((p, d), analyzed) in done {
            let dataset = workspace.pipelines.get(p).and_then(|pipeline| pipeline.datasets.get(d));
            if let (Some(dataset), Some(slot)) = (dataset, schemas.get_mut(p).and_then(|s| s.get_mut(d))) {
                *slot = schema::of_dataset(workspace, dataset, &analyzed);
            }
            flows.extend(analyzed);
        }
    }
    flows.extend(homeless(&catalog, &schemas, &is_wanted));
    flows.sort_by_key(|flow| (flow.pipeline, flow.flow));
    report_cycles(workspace, &order.cyclic, &mut flows);
    let schemas = schemas
        .into_iter()
        .map(|pipeline| pipeline.into_iter().map(|s| s.unwrap_or_else(Schema::unknown)).collect())
        .collect();
    (flows, schemas)
}

/// Flows whose target no dataset of the pipeline is.
fn homeless(
    catalog: &Catalog<'_>,
    schemas: &[Vec<Option<Schema>>],
    is_wanted: &dyn Fn(usize, usize) -> bool,
) -> Vec<AnalyzedFlow> {
    let mut pending = Vec::new();
    for (p, pipeline) in catalog.workspace.pipelines.iter().enumerate() {
        for (f, flow) in pipeline.flows.iter().enumerate() {
            if catalog.target(p, &flow.target).is_none() && is_wanted(p, f) {
                pending.push((p, f));
            }
        }
    }
    pending.par_iter().filter_map(|(p, f)| flow::analyze(catalog, schemas, *p, *f)).collect()
}

fn report_cycles(workspace: &Workspace, cyclic: &[Vec<DatasetId>], flows: &mut [AnalyzedFlow]) {
    for cycle in cyclic {
        let datasets: Vec<_> = cycle
            .iter()
            .filter_map(|(p, d)| workspace.pipelines.get(*p).filter(|p| p.kind != PipelineKind::Jobs)?.datasets.get(*d))
            .collect();
        let names: Vec<String> = datasets.iter().map(|d| d.name.to_string()).collect();
        for flow in flows.iter_mut() {
            let target = workspace.pipelines.get(flow.pipeline).and_then(|p| p.flows.get(flow.flow)).map(|f| &f.target);
            let member = cycle.iter().any(|(p, _)| *p == flow.pipeline)
                && datasets.iter().any(|dataset| Some(&dataset.name) == target);
            if member {
                flow.errors.push(AnalysisError {
                    class: "PIPELINE_GRAPH_NOT_TOPOLOGICALLY_SORTABLE".to_owned(),
                    message: format!("{} read each other in a circle", names.join(", ")),
                    place: datasets.first().map(|d| d.place.clone()).unwrap_or_default(),
                });
            }
        }
    }
}
