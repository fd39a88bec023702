//! `spark-pipeline.yml`: the specification of a Spark Declarative Pipeline.
//!
//! What Spark refuses is an error here, with Spark's error class (`pyspark/pipelines/cli.py`).

use super::libraries::{self, Library, LibraryKind};
use super::settings::apply_settings;
use super::unreadable_specification;
use super::yaml::{Content, Node};
use crate::model::{Diagnostic, DiagnosticLevel, Pipeline, PipelineKind, Platform, Unresolved};
use crate::revision::{EntryKind, Tree, text};
use std::sync::Arc;

const NAMES: [&str; 2] = ["spark-pipeline.yaml", "spark-pipeline.yml"];
/// What previews of Spark 4.1 called the file; only one that reads like a specification counts.
const PREVIEW_NAMES: [&str; 2] = ["pipeline.yaml", "pipeline.yml"];
const KEYS: [&str; 7] = ["name", "storage", "catalog", "database", "schema", "configuration", "libraries"];
const REQUIRED: [&str; 2] = ["name", "storage"];

/// A specification and the files it names.
pub(super) struct Specification {
    pub pipeline: Pipeline,
    pub files: Vec<Arc<str>>,
    pub diagnostics: Vec<Diagnostic>,
    pub unresolved: Vec<Unresolved>,
}

/// Paths of all files of the tree that may be specifications, those of today's name first.
pub(super) fn specifications(tree: &dyn Tree) -> Vec<Arc<str>> {
    let is_preview = |path: &str| PREVIEW_NAMES.contains(&libraries::file_name(path));
    let named = |path: &str| NAMES.contains(&libraries::file_name(path)) || is_preview(path);
    let mut found: Vec<Arc<str>> = tree
        .entries()
        .iter()
        .filter(|entry| {
            entry.kind == EntryKind::File && named(&entry.path) && !super::folder::is_passed_over(&entry.path)
        })
        .map(|entry| Arc::clone(&entry.path))
        .collect();
    found.sort_by_key(|path| is_preview(path));
    found
}

/// Reads one; `None` for a file of the preview's name that is something else.
pub(super) fn read(tree: &dyn Tree, path: &Arc<str>) -> Option<Specification> {
    let preview = PREVIEW_NAMES.contains(&libraries::file_name(path));
    let folder = libraries::parent(path);
    let key = if folder.is_empty() { "spark-pipeline" } else { folder };
    let mut pipeline = Pipeline::new(key, PipelineKind::SparkPipeline);
    pipeline.platform = Platform::Spark;
    pipeline.root = folder.to_owned();
    let mut specification =
        Specification { pipeline, files: Vec::new(), diagnostics: Vec::new(), unresolved: Vec::new() };
    let text = match text::text_with_newlines(tree, path) {
        Ok(text) => text,
        Err(unreadable) => {
            specification.unresolved.push(unreadable_specification(path, &unreadable.message));
            specification.diagnostics.push(*unreadable);
            return Some(specification);
        }
    };
    let node = match Node::parse_yaml(&text, path) {
        Ok(node) => node,
        Err(_) if preview => return None,
        Err(error) => {
            specification.unresolved.push(unreadable_specification(path, &error.message));
            specification.diagnostics.push(*error);
            return Some(specification);
        }
    };
    if preview && !is_specification(&node) {
        return None;
    }
    specification.fill(tree, &node, folder);
    Some(specification)
}

fn is_specification(node: &Node) -> bool {
    let listed = node.get("definitions").or_else(|| node.get("libraries"));
    listed.is_some_and(|list| list.items().any(|item| item.get("glob").is_some())) && node.get("resources").is_none()
}

impl Specification {
    fn fill(&mut self, tree: &dyn Tree, node: &Node, folder: &str) {
        apply_settings(&mut self.pipeline, node);
        self.pipeline.settings.clear();
        // `database` wins over its alias `schema`.
        if let Some(database) = node.get("database") {
            self.pipeline.schema = database.scalar();
            self.pipeline.places.insert("schema".to_owned(), database.span.as_ref().clone());
        }
        self.check(node);
        let listed = node.get("libraries").or_else(|| node.get("definitions"));
        let mut named = Vec::new();
        if let Some(listed) =
            listed.filter(|listed| listed.list().is_none() && !matches!(listed.content, Content::Null))
        {
            self.refuse(listed, "wrong-type", format!("`libraries` must be a list, and is {}", listed.kind()));
        }
        for item in listed.into_iter().flat_map(Node::items) {
            match Library::read(item).filter(|library| library.kind == LibraryKind::Glob) {
                Some(library) if is_allowed_pattern(&library.path) => named.push(library),
                Some(library) => {
                    let message = format!("`{}` is neither a file nor a folder followed by `/**`", library.path);
                    self.refuse(item, "PIPELINE_SPEC_INVALID_GLOB_PATTERN", message);
                }
                None => {
                    self.refuse(item, "wrong-type", "an item of `libraries` must be `glob: {include: …}`".to_owned());
                }
            }
        }
        let mut found = libraries::find(tree, &named, folder);
        for file in found.files.iter().filter(|file| !is_definition(file)) {
            let problem = Diagnostic::new(
                DiagnosticLevel::Error,
                "PIPELINE_UNSUPPORTED_DEFINITIONS_FILE_EXTENSION",
                "Spark refuses files that are neither `.py` nor `.sql` among a pipeline's libraries",
            );
            self.diagnostics.push(problem.in_file(file));
        }
        found.files.retain(|file| is_definition(file));
        self.files = found.files;
        self.diagnostics.append(&mut found.diagnostics);
        self.unresolved.append(&mut found.unresolved);
    }

    fn refuse(&mut self, node: &Node, code: &'static str, message: String) {
        self.diagnostics.push(Diagnostic::new(DiagnosticLevel::Error, code, message).at(&node.span));
    }

    fn check(&mut self, node: &Node) {
        for (key, value) in node.entries() {
            if key == "definitions" {
                let problem = Diagnostic::new(
                    DiagnosticLevel::Warning,
                    "PIPELINE_SPEC_UNEXPECTED_FIELD",
                    "`definitions` was renamed to `libraries` in Spark 4.1",
                );
                self.diagnostics.push(problem.at(&value.span).with_help("write `libraries`"));
            } else if !KEYS.contains(&key.as_str()) {
                self.refuse(value, "PIPELINE_SPEC_UNEXPECTED_FIELD", format!("Spark refuses the unknown key `{key}`"));
            }
        }
        for key in REQUIRED {
            if node.get(key).is_none() {
                self.refuse(node, "PIPELINE_SPEC_MISSING_REQUIRED_FIELD", format!("Spark requires the key `{key}`"));
            }
        }
        if let Some(configuration) = node.get("configuration") {
            if configuration.map().is_none() {
                let message = format!("`configuration` must be a mapping, and is {}", configuration.kind());
                self.refuse(configuration, "PIPELINE_SPEC_FIELD_NOT_DICT", message);
            }
            for (key, value) in configuration.entries().filter(|(_, value)| value.as_str().is_none()) {
                let message = format!("`configuration.{key}` must be a text, and is {}; quote it", value.kind());
                self.refuse(value, "PIPELINE_SPEC_DICT_VALUE_NOT_STRING", message);
            }
        }
    }
}

fn is_definition(path: &str) -> bool {
    path.ends_with(".py") || path.ends_with(".sql")
}

/// A file without stars, or a folder without stars followed by `/**`.
fn is_allowed_pattern(pattern: &str) -> bool {
    let magic = ['*', '?', '['];
    !pattern.strip_suffix("/**").unwrap_or(pattern).contains(magic)
}
