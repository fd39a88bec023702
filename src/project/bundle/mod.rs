//! Databricks bundles: `databricks.yml` and what it includes, with one target merged over it and variables put in.
//!
//! A value that is only known at deployment stays in the text as a placeholder: `${workspace.current_user.userName}` becomes
//! `{workspace.current_user.userName}`, the same on both sides of a comparison. What the Databricks CLI does is in its package
//! `bundle/config`.

mod jobs;
mod pipelines;
mod presets;
mod variables;

use super::libraries::{file_name, join, parent};
use super::yaml::Node;
use super::{JobTask, Project, unreadable_specification};
use crate::model::{Diagnostic, DiagnosticLevel, Pipeline, Span, Unresolved};
use crate::revision::{EntryKind, Tree, text};
use globset::GlobBuilder;
use std::collections::BTreeSet;
use std::sync::Arc;
use variables::Variables;

/// Names of a bundle's root file, the first that is there counts.
const ROOT_FILES: [&str; 4] = ["databricks.yml", "databricks.yaml", "bundle.yml", "bundle.yaml"];

/// A pipeline of a bundle, with the files that its libraries name.
pub(super) struct BundlePipeline {
    pub pipeline: Pipeline,
    pub files: Vec<Arc<str>>,
    /// Folders that its Python code imports from.
    pub python_roots: Vec<String>,
}

/// Everything a bundle defines for one target.
#[derive(Default)]
pub(super) struct Bundle {
    pub pipelines: Vec<BundlePipeline>,
    pub jobs: Vec<JobTask>,
    /// What tasks hand over to notebooks: path without its extension or with it, name, value.
    pub parameters: Vec<(String, String, String)>,
    pub diagnostics: Vec<Diagnostic>,
    pub unresolved: Vec<Unresolved>,
}

/// Reads the YAML files of bundles; one that cannot be read is a diagnostic.
struct Loader<'a> {
    tree: &'a dyn Tree,
    diagnostics: Vec<Diagnostic>,
    unresolved: Vec<Unresolved>,
}

/// Paths of all root files of bundles in the tree.
pub(super) fn root_files(tree: &dyn Tree) -> Vec<Arc<str>> {
    let mut roots: Vec<Arc<str>> = Vec::new();
    for entry in tree.entries() {
        let name = file_name(&entry.path);
        if entry.kind == EntryKind::File && ROOT_FILES.contains(&name) && !super::folder::is_passed_over(&entry.path) {
            let rank = |path: &str| ROOT_FILES.iter().position(|name| *name == file_name(path));
            match roots.iter_mut().find(|other| parent(other) == parent(&entry.path)) {
                Some(other) if rank(&entry.path) < rank(other) => *other = Arc::clone(&entry.path),
                Some(_) => {}
                None => roots.push(Arc::clone(&entry.path)),
            }
        }
    }
    roots
}

/// Reads the bundle of a root file. `target` is what the user asked for; it may be unknown to this bundle.
pub(super) fn read(tree: &dyn Tree, root_file: &str, target: Option<&str>) -> Bundle {
    let mut loader = Loader { tree, diagnostics: Vec::new(), unresolved: Vec::new() };
    let folder = parent(root_file);
    let Some(mut root) = loader.load(root_file) else {
        return Bundle { diagnostics: loader.diagnostics, unresolved: loader.unresolved, ..Bundle::default() };
    };
    loader.include(&mut root, folder, root_file);
    let target = loader.choose_target(&root, target);
    if let Some(name) = &target {
        merge_target(&mut root, name);
    }
    presets::apply(&mut root);
    let mut bundle = Bundle { diagnostics: loader.diagnostics, unresolved: loader.unresolved, ..Bundle::default() };
    let mut variables = Variables::new(&root, target.as_deref());
    if let Some(python) = root.at(&["python", "resources"]).or(root.at(&["experimental", "python", "resources"])) {
        bundle.unresolved.push(defined_in_python(&python.span));
    }
    pipelines::read(tree, &root, &mut variables, folder, target.as_deref(), &mut bundle);
    jobs::read(&root, &mut variables, folder, &mut bundle);
    let unknown = variables.unknown();
    bundle.unresolved.extend(unknown);
    bundle.diagnostics.extend(variables.diagnostics());
    bundle
}

/// Names of the targets of a root file's bundle.
pub(super) fn targets(tree: &dyn Tree, root_file: &str) -> Vec<String> {
    let mut loader = Loader { tree, diagnostics: Vec::new(), unresolved: Vec::new() };
    let Some(mut root) = loader.load(root_file) else { return Vec::new() };
    loader.include(&mut root, parent(root_file), root_file);
    let targets = root.get("targets").or_else(|| root.get("environments"));
    targets.into_iter().flat_map(Node::entries).map(|(name, _)| name.clone()).collect()
}

impl Bundle {
    /// Moves what is not a pipeline into the project.
    pub(super) fn report_into(&mut self, project: &mut Project) {
        project.jobs.append(&mut self.jobs);
        project.diagnostics.append(&mut self.diagnostics);
        project.unresolved.append(&mut self.unresolved);
    }
}

/// Identity of a resource: its key, under the bundle's folder where that is not the root.
fn resource_key(folder: &str, key: &str) -> String {
    if folder.is_empty() { key.to_owned() } else { format!("{folder}/{key}") }
}

fn defined_in_python(span: &Span) -> Unresolved {
    Unresolved {
        code: "runtime-data".to_owned(),
        what: "resources that Python code defines".to_owned(),
        why: "pipelint runs no user code; only resources in YAML and JSON are known".to_owned(),
        hint: Some("name such pipelines in `pipelines:` of pipelint.yaml".to_owned()),
        pipeline: None,
        dataset: None,
        span: Some(span.clone()),
    }
}

impl Loader<'_> {
    fn load(&mut self, path: &str) -> Option<Node> {
        let loaded = self.read(path);
        if loaded.is_none() {
            self.unresolved.push(unreadable_specification(path, "the bundle's file cannot be read"));
        }
        loaded
    }

    fn read(&mut self, path: &str) -> Option<Node> {
        let text = match text::text_with_newlines(self.tree, path) {
            Ok(text) => text,
            Err(unreadable) => {
                self.diagnostics.push(*unreadable);
                return None;
            }
        };
        let path: Arc<str> = path.into();
        let parsed =
            if path.ends_with(".json") { Node::parse_json(&text, &path) } else { Node::parse_yaml(&text, &path) };
        parsed.map_err(|error| self.diagnostics.push(*error)).ok()
    }

    /// Merges the files that `include` names, in its order, those of one pattern sorted.
    fn include(&mut self, root: &mut Node, folder: &str, root_file: &str) {
        let patterns: Vec<Node> = root.get("include").map(|list| list.items().cloned().collect()).unwrap_or_default();
        let mut seen = BTreeSet::from([Arc::from(root_file)]);
        for pattern in patterns {
            let Some(text) = pattern.as_str() else { continue };
            let matches = self.matching(folder, text);
            if matches.is_empty() && !text.contains(['*', '?', '[']) {
                let message = format!("`include` names no file of the repository: `{text}`");
                self.diagnostics
                    .push(Diagnostic::new(DiagnosticLevel::Error, "missing-file", message).at(&pattern.span));
            }
            for path in matches {
                if seen.insert(Arc::clone(&path))
                    && let Some(node) = self.load(&path)
                {
                    root.merge(node);
                }
            }
        }
    }

    /// Files of a pattern as Go's `filepath.Glob` sees it: a star never crosses a folder, two stars are one.
    fn matching(&self, folder: &str, pattern: &str) -> Vec<Arc<str>> {
        let Some(pattern) = join(folder, &pattern.replace("**", "*")) else { return Vec::new() };
        let Ok(glob) = GlobBuilder::new(&escape_braces(&pattern)).literal_separator(true).build() else {
            return Vec::new();
        };
        let matcher = glob.compile_matcher();
        let is_config = |path: &str| [".yml", ".yaml", ".json"].iter().any(|extension| path.ends_with(extension));
        let entries = self.tree.entries().iter();
        entries
            .filter(|entry| is_config(&entry.path) && matcher.is_match(entry.path.as_ref()))
            .map(|entry| Arc::clone(&entry.path))
            .collect()
    }

    /// The target asked for, else the one marked as default, else the only one.
    fn choose_target(&mut self, root: &Node, asked: Option<&str>) -> Option<String> {
        let targets = root.get("targets").or_else(|| root.get("environments"))?;
        if let Some(asked) = asked {
            if targets.get(asked).is_some() {
                return Some(asked.to_owned());
            }
            let message = format!("the bundle has no target `{asked}`; its default target is used");
            self.diagnostics
                .push(Diagnostic::new(DiagnosticLevel::Warning, "unknown-target", message).at(&targets.span));
        }
        let is_default = |target: &Node| target.get("default").and_then(Node::as_bool) == Some(true);
        let default = targets.entries().find(|(_, target)| is_default(target)).map(|(name, _)| name.clone());
        let only = || targets.entries().next().filter(|_| targets.entries().count() == 1).map(|(name, _)| name.clone());
        let chosen = default.or_else(only);
        if chosen.is_none() && targets.entries().next().is_some() {
            let names: Vec<_> = targets.entries().map(|(name, _)| name.as_str()).collect();
            let message =
                format!("no target of the bundle is the default; values of {} are not applied", names.join(", "));
            let problem = Diagnostic::new(DiagnosticLevel::Warning, "unknown-target", message).at(&targets.span);
            self.diagnostics.push(problem.with_help("choose one with `--target`"));
        }
        chosen
    }
}

/// Braces are letters to Go's patterns.
fn escape_braces(pattern: &str) -> String {
    pattern.replace('{', "[{]").replace('}', "[}]")
}

/// Puts a target's settings over the bundle's own. Variables are read by [`Variables`], which knows both places.
fn merge_target(root: &mut Node, name: &str) {
    let Some(target) = root.get("targets").or_else(|| root.get("environments")).and_then(|targets| targets.get(name))
    else {
        return;
    };
    let mut over = target.clone();
    if let super::yaml::Content::Map(entries) = &mut over.content {
        entries.retain(|key, _| !matches!(key.as_str(), "default" | "variables"));
    }
    root.merge(over);
}
