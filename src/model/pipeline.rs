//! Deployable units, what could not be resolved, and diagnostics.

use super::dataset::Dataset;
use super::effect::Platform;
use super::flow::Flow;
use super::indexed::{Index, Indexed};
use super::name::QualifiedName;
use super::place::{Place, Span};
use super::schema::Schema;
use std::collections::{BTreeMap, HashMap};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PipelineKind {
    /// `resources.pipelines.KEY` of a Databricks bundle.
    Bundle,
    /// `spark-pipeline.yml`.
    SparkPipeline,
    /// Pipeline settings JSON.
    Settings,
    /// A bare folder of pipeline files.
    Folder,
    /// Plain Structured Streaming jobs outside any pipeline.
    Jobs,
}

/// One pipeline of one revision.
#[derive(Debug, Clone)]
pub struct Pipeline {
    /// Identity across revisions: resource key, path of the spec, or folder.
    pub key: String,
    pub name: String,
    pub kind: PipelineKind,
    /// Folder of the spec or of the files, relative to the repository, without a trailing slash.
    pub root: String,
    pub platform: Platform,
    /// Spark's version where the platform is `spark`.
    pub spark_version: (u32, u32),
    pub catalog: Option<String>,
    pub schema: Option<String>,
    pub storage: Option<String>,
    /// Format of tables that say nothing themselves.
    pub table_format: String,
    pub configuration: BTreeMap<String, String>,
    /// Further settings that matter at deployment (`serverless`, `continuous`, `channel`, `edition`, `development`,
    /// `lifecycle.prevent_destroy`, `pipeline_id`, …), flattened with dots, as text.
    pub settings: BTreeMap<String, String>,
    pub datasets: Indexed<Dataset>,
    pub flows: Indexed<Flow>,
    /// Definitions that are left out of both, for their names.
    pub collisions: Vec<Collision>,
    /// What `pipelint.yaml` says of sources outside the repository.
    pub sources: Indexed<SourceFacts>,
    /// Where settings stand, by the names that `settings` uses and `name`, `catalog`, `schema`, `storage`, `configuration.KEY`.
    pub places: BTreeMap<String, Span>,
    pub span: Option<Span>,
}

impl Pipeline {
    /// A pipeline of which nothing is known but its identity; platform `lakeflow`, tables in Delta.
    pub fn new(key: impl Into<String>, kind: PipelineKind) -> Self {
        let key = key.into();
        Pipeline {
            name: key.clone(),
            key,
            kind,
            root: String::new(),
            platform: Platform::Lakeflow,
            spark_version: (4, 3),
            catalog: None,
            schema: None,
            storage: None,
            table_format: "delta".to_owned(),
            configuration: BTreeMap::new(),
            settings: BTreeMap::new(),
            datasets: Indexed::default(),
            collisions: Vec::new(),
            flows: Indexed::default(),
            sources: Indexed::default(),
            places: BTreeMap::new(),
            span: None,
        }
    }

    /// The dataset of this name: the first, where several have it.
    pub fn dataset(&self, name: &QualifiedName) -> Option<&Dataset> {
        self.datasets.get(self.dataset_index(name)?)
    }

    /// Where the dataset of this name is in `datasets`.
    pub fn dataset_index(&self, name: &QualifiedName) -> Option<usize> {
        self.datasets.index::<FirstByName>().0.get(name).copied()
    }

    /// The flows that write into the dataset of this name, in order.
    pub fn flows_into(&self, target: &QualifiedName) -> impl Iterator<Item = &Flow> {
        self.flow_indices_into(target).into_iter().filter_map(|at| self.flows.get(at))
    }

    /// Where the flows that write into the dataset of this name are in `flows`.
    pub fn flow_indices_into(&self, target: &QualifiedName) -> Vec<usize> {
        self.flows.index::<ByTarget>().0.get(target).cloned().unwrap_or_default()
    }
}

/// The first dataset of each name.
struct FirstByName(HashMap<QualifiedName, usize>);

impl Index<Dataset> for FirstByName {
    fn of(datasets: &[Dataset]) -> Self {
        let mut first = HashMap::new();
        for (at, dataset) in datasets.iter().enumerate() {
            first.entry(dataset.name.clone()).or_insert(at);
        }
        FirstByName(first)
    }
}

/// All flows of each target.
struct ByTarget(HashMap<QualifiedName, Vec<usize>>);

impl Index<Flow> for ByTarget {
    fn of(flows: &[Flow]) -> Self {
        let mut by_target: HashMap<QualifiedName, Vec<usize>> = HashMap::new();
        for (at, flow) in flows.iter().enumerate() {
            by_target.entry(flow.target.clone()).or_default().push(at);
        }
        ByTarget(by_target)
    }
}

/// A definition whose name an earlier one of the pipeline has already: the earlier one stands, and the platform refuses both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collision {
    /// `table` or `flow`.
    pub aspect: &'static str,
    pub name: String,
    pub place: Place,
    pub first: Place,
}

/// `sources:` in pipelint.yaml.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFacts {
    /// Table, topic or path, as the pipeline reads it.
    pub name: String,
    pub format: Option<String>,
    pub schema: Option<Schema>,
    pub partitioned_by: Vec<String>,
    /// As written: `7 days`.
    pub retention: Option<String>,
    /// Where a table's files lie, so that a read by path and one by name are known as one source.
    pub path: Option<String>,
    /// Further keys, as text.
    pub other: BTreeMap<String, String>,
    pub span: Option<Span>,
}

/// Something that cannot be told without running the code: reported, never guessed, never "removed".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved {
    /// Short and stable: `unknown-name`, `unknown-call`, `runtime-data`, `unknown-schema`, …
    pub code: String,
    pub what: String,
    pub why: String,
    /// What would resolve it.
    pub hint: Option<String>,
    pub pipeline: Option<String>,
    pub dataset: Option<QualifiedName>,
    pub span: Option<Span>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiagnosticLevel {
    Note,
    Warning,
    Error,
}

/// A message about the input itself (broken statement, unreadable file). The rest is analysed all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub level: DiagnosticLevel,
    /// Short and stable: `sql-syntax`, `not-utf8`, `unknown-key`, …
    pub code: &'static str,
    pub message: String,
    pub help: Option<String>,
    pub path: Option<String>,
    pub span: Option<Span>,
}

impl Diagnostic {
    /// Part of a file was not read: its text is not to be had, or does not parse.
    pub fn leaves_text_unread(&self) -> bool {
        self.level == DiagnosticLevel::Error && (self.code.ends_with("-syntax") || self.is_read_error())
    }

    /// The file's text is not to be had, whatever it says.
    pub fn is_read_error(&self) -> bool {
        let codes = ["unreadable-file", "unreadable-folder", "missing-object"];
        self.level == DiagnosticLevel::Error && codes.contains(&self.code)
    }

    pub fn new(level: DiagnosticLevel, code: &'static str, message: impl Into<String>) -> Self {
        Diagnostic { level, code, message: message.into(), help: None, path: None, span: None }
    }

    /// The same message, at a whole file.
    pub fn in_file(mut self, path: &str) -> Self {
        self.path = Some(path.to_owned());
        self
    }

    /// The same message, at a place.
    pub fn at(mut self, span: &Span) -> Self {
        self.path = Some(span.path.to_string());
        self.span = Some(span.clone());
        self
    }

    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Everything that one revision defines.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    pub pipelines: Vec<Pipeline>,
    pub unresolved: Vec<Unresolved>,
    pub diagnostics: Vec<Diagnostic>,
}
