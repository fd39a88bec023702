//! How large a query is once the views that it reads are written out, and what identifies its text with theirs.
//!
//! Takes the names of a workspace; gives each view's [`Extent`], each view walked once however many others read it. A query whose
//! views are too large is not written out at all, and is compared by the text of everything that it is made of.

use super::catalog::{Catalog, DatasetId, Target};
use crate::model::{Plan, Source};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Extent {
    /// Nodes of the query with its views written out.
    pub nodes: usize,
    /// Equal where the query and all views below it say the same.
    pub content: u64,
}

/// The extents of all views of a workspace. A view in a cycle counts as empty where it reads itself.
#[derive(Default)]
pub(super) struct Extents(HashMap<DatasetId, Extent>);

impl Extents {
    pub fn new(catalog: &Catalog<'_>) -> Extents {
        let mut extents = Extents(HashMap::new());
        for (p, pipeline) in catalog.workspace.pipelines.iter().enumerate() {
            for d in 0..pipeline.datasets.len() {
                if catalog.is_view((p, d)) {
                    extents.add(catalog, (p, d));
                }
            }
        }
        extents
    }

    pub fn view(&self, id: DatasetId) -> Extent {
        self.0.get(&id).copied().unwrap_or_default()
    }

    /// A view after those that it reads, without recursion: chains of views are as long as their author likes.
    fn add(&mut self, catalog: &Catalog<'_>, id: DatasetId) {
        let mut pending = vec![(id, false)];
        while let Some((id, is_ready)) = pending.pop() {
            let Some(plan) = query(catalog, id) else { continue };
            if is_ready {
                let extent = self.of(catalog, id.0, plan);
                self.0.insert(id, extent);
            } else if let std::collections::hash_map::Entry::Vacant(entry) = self.0.entry(id) {
                entry.insert(Extent::default());
                pending.push((id, true));
                pending.extend(views(catalog, id.0, plan).map(|view| (view, false)));
            }
        }
    }

    /// The extent of a query of a pipeline.
    pub fn of(&self, catalog: &Catalog<'_>, pipeline: usize, plan: &Plan) -> Extent {
        let mut nodes: usize = 0;
        plan.walk(&mut |_| nodes += 1);
        let mut hasher = DefaultHasher::new();
        plan.hash(&mut hasher);
        for view in views(catalog, pipeline, plan) {
            let extent = self.view(view);
            nodes = nodes.saturating_add(extent.nodes);
            extent.content.hash(&mut hasher);
        }
        Extent { nodes, content: hasher.finish() }
    }
}

fn query<'a>(catalog: &Catalog<'a>, (p, d): DatasetId) -> Option<&'a Plan> {
    let flow = *catalog.writers((p, d)).first()?;
    Some(&catalog.workspace.pipelines.get(p)?.flows.get(flow)?.plan)
}

/// Views that a query names, as often as it names them.
fn views(catalog: &Catalog<'_>, pipeline: usize, plan: &Plan) -> impl Iterator<Item = DatasetId> {
    plan.reads().into_iter().filter_map(move |read| match &read.source {
        Source::Table(name) => match catalog.table(pipeline, name) {
            Target::Dataset(id) if catalog.is_view(id) => Some(id),
            Target::Dataset(_) | Target::External { .. } => None,
        },
        Source::ChangeFeed(_) | Source::Files { .. } | Source::Connector { .. } => None,
    })
}
