//! Datasets of an analysed workspace by name, for whoever asks of many.

use super::Analysis;
use crate::model::{Dataset, Pipeline, QualifiedName, Workspace};
use std::collections::HashMap;

/// First dataset of each name: in each pipeline, and over all.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    own: Vec<HashMap<String, usize>>,
    any: HashMap<String, (usize, usize)>,
}

impl Names {
    fn new(workspace: &Workspace) -> Self {
        let mut names = Names::default();
        for (p, pipeline) in workspace.pipelines.iter().enumerate() {
            let mut own = HashMap::new();
            for (d, dataset) in pipeline.datasets.iter().enumerate() {
                let key = dataset.name.key();
                names.any.entry(key.clone()).or_insert((p, d));
                own.entry(key).or_insert(d);
            }
            names.own.push(own);
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
        self.names().own.get(pipeline)?.get(&name.key()).copied()
    }

    /// A pipeline's own dataset of a name.
    pub fn own_dataset(&self, pipeline: usize, name: &QualifiedName) -> Option<&Dataset> {
        let index = self.own_dataset_index(pipeline, name)?;
        self.workspace.pipelines.get(pipeline)?.datasets.get(index)
    }

    /// The first dataset of a name in any pipeline.
    pub fn any_dataset(&self, name: &QualifiedName) -> Option<(&Pipeline, &Dataset)> {
        let (pipeline, dataset) = self.names().any.get(&name.key()).copied()?;
        let pipeline = self.workspace.pipelines.get(pipeline)?;
        Some((pipeline, pipeline.datasets.get(dataset)?))
    }
}
