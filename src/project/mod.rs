//! Which files of a tree make up which pipeline: bundles, `spark-pipeline.yml`, settings JSON, bare folders, plain streaming jobs.
//!
//! Takes a tree, gives one [`Unit`] a pipeline, with variables and targets resolved and `pipelint.yaml` applied. A file belongs to
//! every pipeline whose specification names it; files that none names are looked through for pipeline definitions.

mod bundle;
mod config;
mod discover;
mod folder;
mod libraries;
pub mod library;
pub mod notebook;
mod parameters;
mod scan;
mod settings;
mod spark_pipeline;
mod yaml;

pub use config::{Allow, Config, ConfigFile, Located};
pub use discover::{check_target, discover};

#[cfg(test)]
mod tests;

use crate::model::{Diagnostic, Pipeline, Platform, Schema, Span, Unresolved};
use crate::revision::ContentId;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    Sql,
    Python,
    /// `.sql` file with notebook cells.
    SqlNotebook,
    /// `.py` file with notebook cells.
    PythonNotebook,
    Ipynb,
}

/// A file that a pipeline's definitions come from.
#[derive(Debug, Clone)]
pub struct SourceFile {
    pub path: Arc<str>,
    pub language: Language,
    pub content: ContentId,
}

/// A pipeline before its files are read: `datasets` and `flows` are empty.
#[derive(Debug, Clone)]
pub struct Unit {
    pub pipeline: Pipeline,
    /// In the order the platform loads them.
    pub files: Vec<SourceFile>,
    /// Folders that Python imports resolve against, most specific first, relative to the repository.
    pub python_roots: Vec<String>,
    /// What jobs and other notebooks hand over to a notebook, by the name of the widget.
    pub parameters: BTreeMap<String, String>,
}

/// A job's task that runs a pipeline (`resources.jobs.*.tasks.*.pipeline_task`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobTask {
    /// Key of the job's resource.
    pub job: String,
    pub task: String,
    /// Key of the pipeline where the task names one of this tree (`${resources.pipelines.KEY.id}`), else `None`.
    pub pipeline: Option<String>,
    /// Every run is a full refresh.
    pub full_refresh: bool,
    pub full_refresh_selection: Vec<String>,
    pub refresh_selection: Vec<String>,
    pub reset_checkpoint_selection: Vec<String>,
    /// The job starts by itself: `schedule`, `trigger` or `continuous`.
    pub scheduled: bool,
    pub span: Option<Span>,
}

/// All units of a tree.
#[derive(Debug, Clone, Default)]
pub struct Project {
    /// Sorted by pipeline key; keys are unique.
    pub units: Vec<Unit>,
    pub jobs: Vec<JobTask>,
    /// Files outside any pipeline that write tables in batch (`.write`, `INSERT OVERWRITE`, `MERGE INTO`).
    pub batch_files: Vec<SourceFile>,
    /// The same files, each as a unit of its own with the configuration of its folder.
    pub scripts: Vec<Unit>,
    /// Every `pipelint.yaml`, the root's first.
    pub configs: Vec<Config>,
    pub diagnostics: Vec<Diagnostic>,
    pub unresolved: Vec<Unresolved>,
}

impl Project {
    /// The configuration files that speak for a pipeline's folder, the nearest last.
    pub fn configs_for<'a>(&'a self, pipeline_root: &'a str) -> impl Iterator<Item = &'a Config> {
        self.configs.iter().filter(move |config| libraries::is_below(pipeline_root, &config.folder))
    }
}

/// A path of the repository's own code, not of hidden folders, tools and tests.
pub fn is_own_code(path: &str) -> bool {
    !folder::is_hidden(path) && folder::test_or_template(path).is_none()
}

/// A specification that cannot be read: which pipelines it defines is unknown, and none of them is gone.
fn unreadable_specification(path: &str, why: &str) -> Unresolved {
    Unresolved {
        code: "unreadable-specification".to_owned(),
        what: path.to_owned(),
        why: why.to_owned(),
        hint: Some("its pipelines are not analysed; correct the file".to_owned()),
        pipeline: None,
        dataset: None,
        span: Some(Span::start_of(path.into())),
    }
}

/// Reads a column list written as DDL (`id BIGINT, ts TIMESTAMP`); the error is a sentence.
pub type SchemaParser = dyn Fn(&str) -> Result<Schema, String> + Sync;

/// What the command line says beside the tree.
pub struct Options<'a> {
    /// Bundle target.
    pub target: Option<String>,
    pub platform: Option<Platform>,
    /// Stands in for the root's `pipelint.yaml`.
    pub config: Option<ConfigFile>,
    /// For `sources:` in `pipelint.yaml`; the SQL frontend has it.
    pub parse_schema: &'a SchemaParser,
}

impl<'a> Options<'a> {
    pub fn new(parse_schema: &'a SchemaParser) -> Self {
        Options { target: None, platform: None, config: None, parse_schema }
    }
}
