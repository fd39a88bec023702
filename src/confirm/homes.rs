//! Which tables of two revisions are one thing on the platform, before the experiment runs them.
//!
//! Takes both analysed revisions; gives them with places of their own for tables whose name alone would make them one: a table
//! without a schema belongs to its pipeline.

use crate::analyze::Analysis;
use crate::model::{DatasetKind, Pipeline, PipelineKind};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Both revisions with tables of one bare name, of several pipelines, apart.
pub fn told_apart<'a>(before: &'a Analysis, after: &'a Analysis) -> [Cow<'a, Analysis>; 2] {
    let mut sides = [Cow::Borrowed(before), Cow::Borrowed(after)];
    let shared = shared_names(&sides);
    if !shared.is_empty() {
        for side in &mut sides {
            side.to_mut().workspace.pipelines.iter_mut().for_each(|pipeline| keep_apart(pipeline, &shared));
        }
    }
    sides
}

/// Names without a schema that several pipelines give to tables.
fn shared_names(sides: &[Cow<'_, Analysis>; 2]) -> BTreeSet<String> {
    let mut owners: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for pipeline in sides.iter().flat_map(|side| &side.workspace.pipelines) {
        for dataset in pipeline.datasets.iter().filter(|dataset| dataset.name.schema.is_none()) {
            owners.entry(dataset.name.key()).or_default().insert(&pipeline.key);
        }
    }
    owners.retain(|_, pipelines| pipelines.len() > 1);
    owners.into_keys().collect()
}

fn keep_apart(pipeline: &mut Pipeline, shared: &BTreeSet<String>) {
    if pipeline.kind == PipelineKind::Jobs {
        return;
    }
    for dataset in &mut pipeline.datasets {
        let holds_rows = !matches!(dataset.kind, DatasetKind::View | DatasetKind::Sink);
        if holds_rows && dataset.location.is_none() && shared.contains(&dataset.name.key()) {
            dataset.location = Some(format!("{}/{}", pipeline.key, dataset.name.key()));
        }
    }
}
