//! Pairs pipelines, datasets and flows across two analysed revisions and says what differs, one typed change at a time.
//!
//! Takes two [`Analysis`]; gives a [`Diff`]. Queries are compared by their canonical terms and signatures, never by their text,
//! so that rewrites which mean the same give no change. What a change *does* is for rules to claim.

mod cdc;
mod change;
mod code;
mod code_changed;
mod column;
mod comparison;
mod configuration;
mod context;
mod dataset;
mod definition;
pub mod deployed;
mod flow;
mod identity;
pub mod kinds;
mod pair;
mod pipeline;
mod query;
mod source;
mod state;
mod stream_job;
mod text;
mod watermark;

pub use change::{Change, Fact, Facts};
pub use context::complete as complete_facts;
pub use pair::{DatasetPair, DatasetRef, FlowPair, FlowRef, FlowStatus, PipelinePair, moved_pipelines};
pub use pipeline::unattended_refreshes;

use crate::analyze::Analysis;
use crate::model::QualifiedName;

/// Everything that differs between two revisions.
#[derive(Debug, Clone, Default)]
pub struct Diff {
    pub pipelines: Vec<PipelinePair>,
    pub datasets: Vec<DatasetPair>,
    /// Flows of streaming tables, materialized views, tables and sinks, by pipeline, dataset and name; views have none.
    pub flows: Vec<FlowPair>,
    /// By pipeline, dataset, flow and kind.
    pub changes: Vec<Change>,
}

impl Diff {
    /// Flows into one dataset of a pipeline.
    pub fn flows_into(&self, pipeline: &str, dataset: &QualifiedName) -> &[FlowPair] {
        let order = |pair: &FlowPair| pair.pipeline.as_str().cmp(pipeline).then_with(|| pair.dataset.cmp(dataset));
        let start = self.flows.partition_point(|pair| order(pair).is_lt());
        let end = self.flows.partition_point(|pair| order(pair).is_le());
        self.flows.get(start..end).unwrap_or_default()
    }
}

/// Compares two revisions.
pub fn diff(before: &Analysis, after: &Analysis) -> Diff {
    let pairing = pair::pair(before, after);
    let mut changes = Vec::new();
    identity::compare(before, after, &pairing, &mut changes);
    for pair in &pairing.pipelines {
        if let (Some(b), Some(a)) = (pair.before, pair.after)
            && let (Some(b), Some(a)) = (before.workspace.pipelines.get(b), after.workspace.pipelines.get(a))
        {
            pipeline::compare(b, a, &mut changes);
            configuration::compare_pipelines(b, a, &mut changes);
        }
    }
    for pair in &pairing.datasets {
        dataset::compare(before, after, pair, &mut changes);
    }
    let settled = same_surroundings(before, after);
    let mut flows = pairing.flows;
    for pair in &mut flows {
        let found = flow::compare(before, after, pair, settled);
        if pair.status == FlowStatus::Unchanged && !found.is_empty() {
            pair.status = FlowStatus::Changed;
        }
        changes.extend(found);
    }
    context::complete(before, after, &mut changes);
    changes.sort_by(|x, y| {
        (&x.pipeline, &x.dataset, &x.flow, x.kind, &x.facts).cmp(&(&y.pipeline, &y.dataset, &y.flow, y.kind, &y.facts))
    });
    Diff { pipelines: pairing.pipelines, datasets: pairing.datasets, flows, changes }
}

/// Nothing beside queries differs that says what a source is: the facts of `pipelint.yaml`, and how tables are stored.
fn same_surroundings(before: &Analysis, after: &Analysis) -> bool {
    let side = |analysis: &'_ Analysis| -> Vec<_> {
        let pipelines = analysis.workspace.pipelines.iter();
        pipelines
            .map(|pipeline| {
                let tables = pipeline.datasets.iter();
                let formats: std::collections::BTreeSet<_> =
                    tables.map(|dataset| (dataset.name.key(), dataset::table_format(dataset, pipeline))).collect();
                (pipeline.key.clone(), pipeline.sources.clone(), formats)
            })
            .collect()
    };
    side(before) == side(after)
}
