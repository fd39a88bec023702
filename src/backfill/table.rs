//! The table that is meant: a dataset of a pipeline, or a table that scripts write.

use super::{Refusal, Request, identifier};
use crate::frontend::{ParseCache, Script};
use crate::lint::{TableFacts, facts, same_name, writes_into};
use crate::model::{BatchWrite, DatasetKind, Indexed, Job, Pipeline, PipelineKind, WriteOperation};
use crate::project::Unit;
use crate::reading::Reading;
use crate::revision::Tree;
use std::collections::BTreeSet;

/// One tree, read.
pub struct Repository<'a> {
    pub tree: &'a dyn Tree,
    pub reading: &'a Reading,
    pub scripts: &'a [Script],
    pub cache: &'a ParseCache,
}

/// A table outside the pipelines.
pub struct ScriptTable<'a> {
    pub facts: TableFacts,
    /// Settings that its scripts run under.
    pub pipeline: Pipeline,
    /// The script and statement that fills it, where one does.
    pub writer: Option<(&'a Script, BatchWrite)>,
}

/// Indices into the workspace.
#[derive(Debug, Clone, Copy)]
pub struct DatasetTable {
    pub pipeline: usize,
    pub dataset: usize,
}

pub enum Found<'a> {
    Script(Box<ScriptTable<'a>>),
    Dataset(DatasetTable),
}

/// Names told where none fits.
const NAMES_TOLD: usize = 8;

impl<'a> Repository<'a> {
    /// # Errors
    /// No table, or several, answer to the name; or nothing is known of its layout.
    pub fn find(&self, name: &str) -> Result<Found<'a>, Refusal> {
        if let Some(found) = self.dataset(name)? {
            return Ok(Found::Dataset(found));
        }
        let known = self.known_tables();
        let matching: Vec<&(TableFacts, Pipeline)> =
            known.iter().filter(|(facts, _)| same_name(&facts.name, name)).collect();
        let exact = matching.iter().find(|(facts, _)| facts.name.eq_ignore_ascii_case(name));
        // A table that the repository fills is meant before one that it only reads.
        let written: Vec<_> =
            matching.iter().filter(|(facts, _)| self.writer(&facts.name).is_some()).copied().collect();
        let matching = if written.is_empty() { matching.clone() } else { written };
        let names: BTreeSet<String> = matching.iter().map(|(facts, _)| facts.name.to_lowercase()).collect();
        let (facts, pipeline) = match (exact, names.len()) {
            (Some(exact), _) => exact,
            (None, 1) => matching.first().copied().ok_or_else(|| self.unknown(name, &known))?,
            (None, 0) => return Err(self.unknown(name, &known)),
            (None, _) => return Err(several(name, &names)),
        };
        let writer = self.writer(&facts.name);
        Ok(Found::Script(Box::new(ScriptTable { facts: facts.clone(), pipeline: pipeline.clone(), writer })))
    }

    fn dataset(&self, name: &str) -> Result<Option<DatasetTable>, Refusal> {
        let pipelines = self.reading.analysis.workspace.pipelines.iter().enumerate();
        let all = pipelines.filter(|(_, pipeline)| pipeline.kind != PipelineKind::Jobs).flat_map(|(p, pipeline)| {
            pipeline.datasets.iter().enumerate().map(move |(d, dataset)| (p, d, dataset.name.to_string()))
        });
        let matching: Vec<(usize, usize, String)> = all.filter(|(_, _, full)| same_name(full, name)).collect();
        let exact = matching.iter().find(|(_, _, full)| full.eq_ignore_ascii_case(name));
        match (exact, matching.as_slice()) {
            (Some((pipeline, dataset, _)), _) | (None, [(pipeline, dataset, _)]) => {
                Ok(Some(DatasetTable { pipeline: *pipeline, dataset: *dataset }))
            }
            (None, []) => Ok(None),
            (None, several_of) => Err(several(name, &several_of.iter().map(|(_, _, full)| full.clone()).collect())),
        }
    }

    /// Tables of which columns and partitions are known, each with the settings under which they are.
    fn known_tables(&self) -> Vec<(TableFacts, Pipeline)> {
        let jobs: Vec<&Job> = self.scripts.iter().map(|script| &script.job).collect();
        let nothing = Job { path: String::new(), steps: Vec::new() };
        let of_scripts = self.reading.project.scripts.iter().map(|unit: &Unit| &unit.pipeline);
        let mut known: Vec<(TableFacts, Pipeline)> = Vec::new();
        for pipeline in of_scripts.chain(&self.reading.analysis.workspace.pipelines) {
            for facts in facts(&nothing, pipeline, &jobs) {
                if !known.iter().any(|(other, _)| other.name.eq_ignore_ascii_case(&facts.name)) {
                    known.push((
                        facts,
                        Pipeline { datasets: Indexed::default(), flows: Indexed::default(), ..pipeline.clone() },
                    ));
                }
            }
        }
        known
    }

    /// The last statement of the repository that gives the table rows.
    fn writer(&self, name: &str) -> Option<(&'a Script, BatchWrite)> {
        self.scripts.iter().find_map(|script| {
            let fills =
                |write: &BatchWrite| write.query.is_some() || matches!(write.operation, WriteOperation::Merge(_));
            let writes = writes_into(&script.job, name);
            writes.iter().rev().find(|placed| fills(placed.write)).map(|placed| (script, placed.write.clone()))
        })
    }

    fn unknown(&self, name: &str, known: &[(TableFacts, Pipeline)]) -> Refusal {
        if let Some((script, _)) = self.writer(name) {
            return Refusal::new(
                format!("`{name}` is written by {}, and its columns and partitions are not known", script.job.path),
                "tell them under `sources:` in pipelint.yaml: name, format, schema, partitioned_by",
            );
        }
        let datasets = self.reading.analysis.workspace.pipelines.iter().flat_map(|pipeline| &pipeline.datasets);
        let datasets = datasets.filter(|dataset| !matches!(dataset.kind, DatasetKind::View | DatasetKind::Sink));
        let mut names: BTreeSet<String> = datasets.map(|dataset| dataset.name.to_string()).collect();
        names.extend(known.iter().map(|(facts, _)| facts.name.clone()));
        let help = if names.is_empty() {
            "run in the right folder, or tell the table under `sources:` in pipelint.yaml".to_owned()
        } else {
            let told: Vec<&str> = names.iter().take(NAMES_TOLD).map(String::as_str).collect();
            let more = if names.len() > NAMES_TOLD { ", …" } else { "" };
            format!("known are {}{more}; others can be told under `sources:` in pipelint.yaml", told.join(", "))
        };
        Refusal::new(format!("no table `{name}` is defined, written or described in {}", self.tree.label()), help)
    }
}

fn several(name: &str, names: &BTreeSet<String>) -> Refusal {
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    Refusal::new(format!("several tables answer to `{name}`: {}", all.join(", ")), "give the full name")
}

/// A name for things made for this table: `orders` of `main.sales.orders` and of `s3://lake/orders/`.
pub fn short_name(request: &Request) -> String {
    let name = request.table.trim_end_matches('/');
    identifier(name.rsplit(['.', '/']).next().unwrap_or(name))
}
