//! What stands for the names of one revision's code in the schema of a run.

use super::expectations;
use super::names::{Names, table_name};
use super::request::Place;
use crate::engine::{TableFormat, dataset_location, facts_named, source_location};
use crate::frontend::sql::Replacements;
use crate::model::{Dataset, DatasetKind, Pipeline, QualifiedName, SourceFacts};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// The names that one pipeline's code may use.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    pub names: &'a Names,
    pub pipeline: &'a Pipeline,
    /// All pipelines of the revision: one may read what another writes.
    pub pipelines: &'a [Pipeline],
    pub sources: &'a [SourceFacts],
    /// Where the rows of each source lie, by its location.
    pub places: &'a BTreeMap<String, Place>,
    pub table_format: Option<&'a str>,
    /// The code is written for Lakeflow.
    pub lakeflow: bool,
    /// Views that the code has made for its session so far, by lower-case name.
    pub views: Option<&'a Map<String, Json>>,
}

pub fn is_stored(dataset: &Dataset) -> bool {
    !matches!(dataset.kind, DatasetKind::View | DatasetKind::Sink)
}

impl Known<'_> {
    fn datasets(&self) -> impl Iterator<Item = &Dataset> {
        self.pipelines.iter().flat_map(|pipeline| &pipeline.datasets).filter(|dataset| is_stored(dataset))
    }

    /// The table of a source; of two sources at one location that of the one which has its rows.
    fn source(&self, facts: &SourceFacts) -> Option<String> {
        let at = source_location(facts);
        self.names.source(self.sources.iter().find(|known| source_location(known) == at).unwrap_or(facts))
    }

    /// Tables by lower-case dotted name.
    pub fn tables(&self) -> Map<String, Json> {
        let datasets =
            self.datasets().filter_map(|dataset| Some((dataset.name.key(), self.names.table(&dataset.name)?)));
        let declared = self.pipelines.iter().flat_map(|pipeline| &pipeline.sources);
        let sources =
            declared.chain(self.sources).filter_map(|facts| Some((table_name(facts)?.key(), self.source(facts)?)));
        sources.chain(datasets).map(|(key, table)| (key, Json::from(table))).collect()
    }

    /// Sources and tables by the path that code reads them under.
    pub fn paths(&self) -> Map<String, Json> {
        let tables = self.datasets().filter_map(|dataset| {
            let location = dataset_location(dataset).filter(|_| dataset.location.is_some())?;
            Some((location, json!({ "table": self.names.table(&dataset.name)?, "folder": null, "format": "table" })))
        });
        let sources = self.sources.iter().filter_map(|facts| {
            let location = source_location(facts);
            let place = self.places.get(&location)?;
            let folder = place.folder.as_ref().map(|folder| format!("file://{}", folder.display()));
            let entry = json!({ "table": self.names.source(facts)?, "folder": folder, "format": place.format });
            location.contains('/').then_some((location, entry))
        });
        tables.chain(sources).collect()
    }

    /// What rows must hold to go into the pipeline's tables and views, or why that is not known, by lower-case name.
    pub fn filters(&self) -> Map<String, Json> {
        let filter = |dataset: &Dataset| {
            let name = self.names.table(&dataset.name).unwrap_or_else(|| dataset.name.name.clone());
            let filter = match expectations::filter(dataset) {
                Ok(rows) => json!({ "rows": rows? }),
                Err(reason) => json!({ "refused": reason }),
            };
            Some((name.to_lowercase(), filter))
        };
        self.pipeline.datasets.iter().filter_map(filter).collect()
    }

    pub fn topics(&self) -> Map<String, Json> {
        let topics = self.sources.iter().filter(|facts| is_topic(facts));
        topics.filter_map(|facts| Some((facts.name.clone(), Json::from(self.names.source(facts)?)))).collect()
    }
}

fn is_topic(facts: &SourceFacts) -> bool {
    facts.format.as_deref().map(TableFormat::named) == Some(TableFormat::Topic)
}

impl Replacements for Known<'_> {
    fn table(&self, parts: &[String]) -> Option<String> {
        if let ([view], Some(views)) = (parts, self.views)
            && let Some(own) = views.get(&view.to_lowercase()).and_then(Json::as_str)
        {
            return Some(own.to_owned());
        }
        let name = QualifiedName::from_parts(parts);
        if self.pipeline.dataset(&name).is_some_and(|dataset| dataset.kind == DatasetKind::View) {
            return None;
        }
        let qualified = name.qualified(self.pipeline.catalog.as_deref(), self.pipeline.schema.as_deref());
        let known = self.names.table(&qualified).or_else(|| self.names.table(&name));
        known.or_else(|| {
            let declared = |name| facts_named(self.sources, name).or_else(|| facts_named(&self.pipeline.sources, name));
            self.source(declared(&qualified).or_else(|| declared(&name))?)
        })
    }

    fn files(&self, path: &str) -> Option<String> {
        let asked = source_location(&SourceFacts {
            name: path.to_owned(),
            format: None,
            schema: None,
            partitioned_by: Vec::new(),
            retention: None,
            path: Some(path.to_owned()),
            other: BTreeMap::new(),
            span: None,
        });
        let under =
            |location: &str| asked.strip_prefix(location).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let source = self.sources.iter().find(|facts| under(&source_location(facts)));
        let written = || {
            let located =
                self.datasets().find(|d| d.location.is_some() && dataset_location(d).is_some_and(|at| under(&at)));
            self.names.table(&located?.name)
        };
        source.and_then(|facts| self.names.source(facts)).or_else(written)
    }

    fn topic(&self, topic: &str) -> Option<String> {
        let facts = self.sources.iter().find(|facts| is_topic(facts) && facts.name == topic)?;
        self.names.source(facts)
    }

    fn filter(&self, parts: &[String]) -> Result<Option<String>, String> {
        let name = QualifiedName::from_parts(parts);
        let qualified = name.qualified(self.pipeline.catalog.as_deref(), self.pipeline.schema.as_deref());
        let named = |dataset: &&Dataset| dataset.name == name || dataset.name == qualified;
        self.pipeline.datasets.iter().find(named).map_or(Ok(None), expectations::filter)
    }

    fn has_format(&self, format: &str) -> bool {
        match TableFormat::named(format) {
            TableFormat::Delta | TableFormat::Iceberg => self.table_format == Some(format),
            _ => true,
        }
    }

    fn is_lakeflow(&self) -> bool {
        self.lakeflow
    }

    fn can_merge(&self) -> bool {
        self.table_format.is_some_and(|format| TableFormat::named(format).supports_merge())
    }
}
