//! Datasets of an analysed workspace by name, for whoever asks of many.

use super::{Analysis, AnalyzedFlow};
use crate::model::{Dataset, Pipeline, QualifiedName, Workspace};
use std::collections::HashMap;

/// First dataset of each name over all pipelines.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    any: HashMap<QualifiedName, (usize, usize)>,
}

impl Names {
    fn new(workspace: &Workspace) -> Self {
        let mut names = Names::default();
        for (p, pipeline) in workspace.pipelines.iter().enumerate() {
            for (d, dataset) in pipeline.datasets.iter().enumerate() {
                names.any.entry(dataset.name.clone()).or_insert((p, d));
            }
        }
        names
    }
}

impl Analysis {
    fn names(&self) -> &Names {
        self.names.get_or_init(|| Names::new(&self.workspace))
    }

    /// Index of a pipeline's own dataset of a name.
    pub fn own_dataset_index(&self, pipeline: usize, name: &QualifiedName) -> Option<usize> {
        self.workspace.pipelines.get(pipeline)?.dataset_index(name)
    }

    /// A pipeline's own dataset of a name.
    pub fn own_dataset(&self, pipeline: usize, name: &QualifiedName) -> Option<&Dataset> {
        let index = self.own_dataset_index(pipeline, name)?;
        self.workspace.pipelines.get(pipeline)?.datasets.get(index)
    }

    /// The flow of these indices, as analysed.
    pub fn flow(&self, pipeline: usize, flow: usize) -> Option<&AnalyzedFlow> {
        let at = self.flows.binary_search_by_key(&(pipeline, flow), |known| (known.pipeline, known.flow)).ok()?;
        self.flows.get(at)
    }

    /// A pipeline's flows into the dataset of a name, in order.
    pub fn flows_into(&self, pipeline: usize, target: &QualifiedName) -> impl Iterator<Item = &AnalyzedFlow> {
        let owner = self.workspace.pipelines.get(pipeline);
        let flows = owner.map(|owner| owner.flow_indices_into(target)).unwrap_or_default();
        flows.into_iter().filter_map(move |flow| self.flow(pipeline, flow))
    }

    /// The flows of a pipeline, in order.
    pub fn flows_of(&self, pipeline: usize) -> &[AnalyzedFlow] {
        let start = self.flows.partition_point(|flow| flow.pipeline < pipeline);
        let end = self.flows.partition_point(|flow| flow.pipeline <= pipeline);
        self.flows.get(start..end).unwrap_or_default()
    }

    /// The first dataset of a name in any pipeline.
    pub fn any_dataset(&self, name: &QualifiedName) -> Option<(&Pipeline, &Dataset)> {
        let (pipeline, dataset) = self.names().any.get(name).copied()?;
        let pipeline = self.workspace.pipelines.get(pipeline)?;
        Some((pipeline, pipeline.datasets.get(dataset)?))
    }
}
