//! Which relation a name means: a view or dataset of the pipeline, a dataset of another pipeline, or a source outside of both.

use super::extent::Extents;
use crate::model::{DatasetKind, Pipeline, PipelineKind, QualifiedName, SourceFacts, Workspace};
use std::collections::HashMap;

/// Index of a pipeline and of a dataset in it.
pub(super) type DatasetId = (usize, usize);

/// What a table name means.
#[derive(Debug, Clone)]
pub(super) enum Target<'a> {
    Dataset(DatasetId),
    /// Not in the repository; the name as the pipeline's defaults complete it.
    External {
        name: QualifiedName,
        facts: Option<&'a SourceFacts>,
    },
}

/// All names of a workspace.
pub(super) struct Catalog<'a> {
    pub workspace: &'a Workspace,
    /// By pipeline: its own datasets by key.
    own: Vec<HashMap<String, usize>>,
    /// Published datasets of all pipelines, by qualified key. A name that two pipelines publish means neither.
    published: HashMap<String, Option<DatasetId>>,
    /// By pipeline: what `sources:` says, by key of its name and of its path.
    facts: Vec<HashMap<String, usize>>,
    /// By pipeline: what `sources:` says, by the last part of its name.
    facts_by_last_part: Vec<HashMap<String, Vec<usize>>>,
    /// By pipeline and dataset: the flows that write into it, by index.
    writers: Vec<Vec<Vec<usize>>>,
    /// How large its views are when they are written out.
    pub extents: Extents,
}

impl<'a> Catalog<'a> {
    pub fn new(workspace: &'a Workspace) -> Self {
        let mut catalog = Catalog {
            workspace,
            own: Vec::new(),
            published: HashMap::new(),
            facts: Vec::new(),
            facts_by_last_part: Vec::new(),
            writers: Vec::new(),
            extents: Extents::default(),
        };
        for (p, pipeline) in workspace.pipelines.iter().enumerate() {
            let mut own = HashMap::new();
            for (d, dataset) in pipeline.datasets.iter().enumerate() {
                let key = dataset.name.key();
                own.entry(key.clone()).or_insert(d);
                if !dataset.private && dataset.name.schema.is_some() {
                    catalog.published.entry(key).and_modify(|id| *id = None).or_insert(Some((p, d)));
                }
            }
            let mut facts = HashMap::new();
            let mut by_last_part: HashMap<String, Vec<usize>> = HashMap::new();
            for (index, source) in pipeline.sources.iter().enumerate() {
                let name = QualifiedName::parse(&source.name);
                by_last_part.entry(name.name.to_lowercase()).or_default().push(index);
                facts.entry(qualify(&name, pipeline).key()).or_insert(index);
                facts.entry(location_key(&source.name)).or_insert(index);
                if let Some(path) = &source.path {
                    facts.entry(location_key(path)).or_insert(index);
                }
            }
            let mut writers = vec![Vec::new(); pipeline.datasets.len()];
            for (f, flow) in pipeline.flows.iter().enumerate() {
                if let Some(list) = own.get(&flow.target.key()).and_then(|d| writers.get_mut(*d)) {
                    list.push(f);
                }
            }
            catalog.own.push(own);
            catalog.facts.push(facts);
            catalog.facts_by_last_part.push(by_last_part);
            catalog.writers.push(writers);
        }
        catalog.extents = Extents::new(&catalog);
        catalog
    }

    /// What a pipeline means by a table name. The pipeline's own views and datasets come first.
    pub fn table(&self, pipeline: usize, name: &QualifiedName) -> Target<'a> {
        let name = without_live(name);
        let Some(home) = self.workspace.pipelines.get(pipeline) else {
            return Target::External { name, facts: None };
        };
        let qualified = qualify(&name, home);
        let own = self.own.get(pipeline);
        for key in [name.key(), qualified.key()] {
            if let Some(&d) = own.and_then(|own| own.get(&key)) {
                return Target::Dataset((pipeline, d));
            }
        }
        if let Some(Some((p, d))) = self.published.get(&qualified.key())
            && self.workspace.pipelines.get(*p).is_some_and(|p| p.kind != PipelineKind::Jobs)
        {
            return Target::Dataset((*p, *d));
        }
        let facts = self.fact(pipeline, &qualified.key()).or_else(|| self.fact(pipeline, &name.key()));
        match facts {
            None => match self.only_ending_with(pipeline, &qualified) {
                Some((name, facts)) => Target::External { name, facts: Some(facts) },
                None => Target::External { name: qualified, facts: None },
            },
            facts => Target::External { name: qualified, facts },
        }
    }

    /// What `sources:` says of a path, topic or stream.
    pub fn location(&self, pipeline: usize, location: &str) -> Option<&'a SourceFacts> {
        self.fact(pipeline, &location_key(location))
    }

    fn fact(&self, pipeline: usize, key: &str) -> Option<&'a SourceFacts> {
        let index = *self.facts.get(pipeline)?.get(key)?;
        self.workspace.pipelines.get(pipeline)?.sources.get(index)
    }

    /// Where the session's namespace is not known, a name in part means the only source whose name ends so.
    fn only_ending_with(&self, pipeline: usize, name: &QualifiedName) -> Option<(QualifiedName, &'a SourceFacts)> {
        let parts: Vec<&str> = name.parts().collect();
        let candidates = self.facts_by_last_part.get(pipeline)?.get(&name.name.to_lowercase())?;
        let sources = &self.workspace.pipelines.get(pipeline)?.sources;
        let mut matching = candidates.iter().filter_map(|at| sources.get(*at)).filter_map(|source| {
            let full = QualifiedName::parse(&source.name);
            let ends = {
                let all: Vec<&str> = full.parts().collect();
                all.len() > parts.len()
                    && all.iter().rev().zip(parts.iter().rev()).all(|(a, b)| a.eq_ignore_ascii_case(b))
            };
            ends.then_some((full, source))
        });
        let found = matching.next()?;
        matching.next().is_none().then_some(found)
    }

    /// The dataset a flow writes into.
    pub fn target(&self, pipeline: usize, name: &QualifiedName) -> Option<DatasetId> {
        self.own.get(pipeline)?.get(&name.key()).map(|d| (pipeline, *d))
    }

    pub fn is_view(&self, (p, d): DatasetId) -> bool {
        self.workspace
            .pipelines
            .get(p)
            .and_then(|pipeline| pipeline.datasets.get(d))
            .is_some_and(|dataset| dataset.kind == DatasetKind::View)
    }

    /// Flows that write into a dataset, by index into its pipeline's flows.
    pub fn writers(&self, (p, d): DatasetId) -> &[usize] {
        self.writers.get(p).and_then(|pipeline| pipeline.get(d)).map_or(&[], Vec::as_slice)
    }
}

fn qualify(name: &QualifiedName, pipeline: &Pipeline) -> QualifiedName {
    name.qualified(pipeline.catalog.as_deref(), pipeline.schema.as_deref())
}

/// `LIVE.t` is the pipeline's own `t`: a virtual schema of the legacy publishing mode.
fn without_live(name: &QualifiedName) -> QualifiedName {
    match (&name.catalog, &name.schema) {
        (None, Some(schema)) if schema.eq_ignore_ascii_case("live") => QualifiedName::bare(name.name.clone()),
        _ => name.clone(),
    }
}

/// Paths are compared without trailing slashes and with one scheme spelling for local files.
fn location_key(location: &str) -> String {
    let trimmed = location.trim().trim_end_matches('/');
    trimmed.strip_prefix("dbfs:").unwrap_or(trimmed).to_owned()
}
