//! `resources.pipelines` of a bundle.

use super::super::libraries::{self, Library, LibraryKind, is_below, join, parent};
use super::super::settings::{apply_settings, flatten};
use super::super::yaml::Node;
use super::variables::Variables;
use super::{Bundle, BundlePipeline, resource_key};
use crate::model::{Pipeline, PipelineKind};
use crate::revision::Tree;
use std::sync::Arc;

/// Where a deployed bundle's files lie in the workspace; in the repository that is the root of what it synchronizes.
const FILE_PATHS: [&str; 2] = ["{workspace.file_path}", "{workspace.root_path}/files"];

/// Reads every pipeline of the bundle in `folder`.
pub(super) fn read(
    tree: &dyn Tree,
    root: &Node,
    variables: &mut Variables<'_>,
    folder: &str,
    target: Option<&str>,
    bundle: &mut Bundle,
) {
    let Some(pipelines) = root.at(&["resources", "pipelines"]) else { return };
    let synced = synced_folder(root, folder);
    let bundle_name = root.at(&["bundle", "name"]).map(|name| variables.resolve(name));
    for (key, resource) in pipelines.entries() {
        let resource = variables.resolve(resource);
        let mut pipeline = Pipeline::new(resource_key(folder, key), PipelineKind::Bundle);
        apply_settings(&mut pipeline, &resource);
        if let Some(name) = bundle_name.as_ref().and_then(Node::scalar) {
            pipeline.settings.insert("bundle.name".to_owned(), name);
        }
        if let Some(target) = target {
            pipeline.settings.insert("bundle.target".to_owned(), target.to_owned());
        }
        if let Some(mode) = root.get("mode") {
            flatten(&mut pipeline, "bundle.mode", mode);
        }
        let found = find_files(tree, &resource, &synced, &pipeline.key, bundle);
        let root_path = resource.get("root_path").and_then(|path| located(path, &synced));
        pipeline.root = root_path.clone().unwrap_or_else(|| {
            common_folder(found.iter().map(|file| parent(file))).unwrap_or_else(|| folder.to_owned())
        });
        let mut python_roots: Vec<String> = root_path.into_iter().collect();
        python_roots.extend(source_folders(&pipeline, &synced));
        python_roots.extend(packages(root, &resource, variables, &synced));
        python_roots.push(folder.to_owned());
        bundle.pipelines.push(BundlePipeline { pipeline, files: found, python_roots });
    }
}

fn find_files(tree: &dyn Tree, resource: &Node, synced: &str, key: &str, bundle: &mut Bundle) -> Vec<Arc<str>> {
    let mut files: Vec<Arc<str>> = Vec::new();
    bundle.diagnostics.extend(libraries::misshapen(resource.get("libraries")));
    for item in resource.get("libraries").into_iter().flat_map(Node::items) {
        let Some(mut library) = Library::read(item) else { continue };
        // Paths are relative to the file that writes them, except those below the bundle's own place in the workspace.
        let mut base = parent(&library.span.path).to_owned();
        if let Some(rest) = FILE_PATHS.iter().find_map(|start| library.path.strip_prefix(start)) {
            library.path = rest.trim_start_matches('/').to_owned();
            base = synced.to_owned();
        }
        if library.kind == LibraryKind::Glob && library.path.ends_with('/') {
            library.path.push_str("**");
        }
        let mut found = libraries::find(tree, &[library], &base);
        for unresolved in &mut found.unresolved {
            unresolved.pipeline = Some(key.to_owned());
        }
        files.extend(found.files);
        bundle.diagnostics.append(&mut found.diagnostics);
        bundle.unresolved.append(&mut found.unresolved);
    }
    let mut seen = std::collections::BTreeSet::new();
    files.retain(|file| seen.insert(Arc::clone(file)));
    files
}

/// A folder of the repository that a setting names.
fn located(node: &Node, synced: &str) -> Option<String> {
    located_text(node.as_str()?, parent(&node.span.path), synced)
}

fn located_text(text: &str, base: &str, synced: &str) -> Option<String> {
    match FILE_PATHS.iter().find_map(|start| text.strip_prefix(start)) {
        Some(rest) => join(synced, rest.trim_start_matches('/')),
        None if text.starts_with('/') || text.contains('{') => None,
        None => join(base, text),
    }
}

/// Folders of the bundle that the configuration names, for code that adds them to Python's path
/// (`bundle.sourcePath: ${workspace.file_path}/src`).
fn source_folders(pipeline: &Pipeline, synced: &str) -> Vec<String> {
    let values = pipeline.configuration.values();
    let inside = values.filter_map(|value| FILE_PATHS.iter().find_map(|start| value.strip_prefix(start)));
    inside.filter_map(|rest| join(synced, rest.trim_start_matches('/'))).filter(|path| path != synced).collect()
}

/// Folders of the bundle's own packages: what the pipeline's environment installs from the repository, and what is built as wheels.
fn packages(root: &Node, resource: &Node, variables: &mut Variables<'_>, synced: &str) -> Vec<String> {
    let dependencies = resource.at(&["environment", "dependencies"]).into_iter().flat_map(Node::items);
    let installed: Vec<String> = dependencies.filter_map(|node| installed_folder(node, synced)).collect();
    let artifacts = root.get("artifacts").into_iter().flat_map(Node::entries);
    let wheels = artifacts.map(|(_, artifact)| variables.resolve(artifact)).filter_map(|artifact| {
        let kind = artifact.get("type").and_then(Node::scalar);
        let own = || Some(parent(&artifact.span.path).to_owned());
        let folder = artifact.get("path").map_or_else(own, |path| located(path, synced));
        folder.filter(|_| kind.is_none_or(|kind| kind == "whl"))
    });
    let folders: Vec<String> = installed.into_iter().chain(wheels.collect::<Vec<_>>()).collect();
    folders.into_iter().flat_map(|folder| [join(&folder, "src"), Some(folder)]).flatten().collect()
}

/// The folder behind a requirement (`./lib`, `-e ${workspace.file_path}/lib`, `../lib/dist/*.whl`); nothing for other packages.
fn installed_folder(node: &Node, synced: &str) -> Option<String> {
    let text = node.as_str()?.trim();
    let path = text.strip_prefix("-e").or_else(|| text.strip_prefix("--editable")).unwrap_or(text).trim_start();
    let path = path.strip_prefix("/Workspace").unwrap_or(path);
    let is_path = path.starts_with('.') || path.starts_with('{') || path.ends_with(".whl") || path != text;
    let folder = located_text(path, parent(&node.span.path), synced).filter(|_| is_path)?;
    // A wheel is built into `dist` below its package.
    Some(if folder.ends_with(".whl") { parent(parent(&folder)).to_owned() } else { folder })
}

/// The folder that `sync.paths` have in common: the bundle's own, unless it takes in files from beside it.
fn synced_folder(root: &Node, folder: &str) -> String {
    let listed = root.at(&["sync", "paths"]).into_iter().flat_map(Node::items);
    let paths: Vec<String> = listed.filter_map(|path| join(parent(&path.span.path), path.as_str()?)).collect();
    common_folder(paths.iter().map(String::as_str)).unwrap_or_else(|| folder.to_owned())
}

/// The deepest folder that is or holds all of the paths.
fn common_folder<'a>(mut paths: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    let all = paths.clone();
    let mut folder = paths.next()?;
    while !all.clone().all(|path| is_below(path, folder)) {
        folder = parent(folder);
    }
    Some(folder.to_owned())
}
