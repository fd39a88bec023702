//! Targets of flows that nothing of their pipeline defines.
//!
//! Such a flow is one of the pipeline all the same: its target is added, marked as implied, so that it is compared and reported.

use crate::model::{Dataset, DatasetKind, Pipeline, PipelineKind};

pub(super) fn complete(pipeline: &mut Pipeline) {
    // What a job writes need not be defined anywhere.
    if pipeline.kind == PipelineKind::Jobs {
        return;
    }
    let mut implied: Vec<Dataset> = Vec::new();
    for flow in &pipeline.flows {
        let known = pipeline.dataset(&flow.target).is_some();
        if !known && implied.iter().all(|dataset| dataset.name.key() != flow.target.key()) {
            let mut dataset = Dataset::new(flow.target.clone(), DatasetKind::StreamingTable, flow.place.clone());
            dataset.implied = true;
            dataset.template = flow.target.is_template();
            implied.push(dataset);
        }
    }
    pipeline.datasets.extend(implied);
}
