//! Which files of a tree make up which pipeline: bundles, `spark-pipeline.yml`, settings JSON, bare folders, plain streaming jobs.
//!
//! Takes a tree, gives one [`Unit`] a pipeline, with variables and targets resolved and `pipelint.yaml` applied.

use crate::model::{Diagnostic, Pipeline, Unresolved};
use crate::revision::ContentId;
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
}

/// All units of a tree.
#[derive(Debug, Clone, Default)]
pub struct Project {
    pub units: Vec<Unit>,
    pub diagnostics: Vec<Diagnostic>,
    pub unresolved: Vec<Unresolved>,
}
