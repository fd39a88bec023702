//! Pipeline settings: the object that the pipelines API, `resources.pipelines` and exported JSON files share.

use super::libraries::{self, Found, Library};
use super::yaml::{Content, Node};
use crate::model::{Diagnostic, Pipeline, PipelineKind};
use crate::revision::{Tree, text};
use std::sync::Arc;

/// Keys with a field of their own, or that say which files to read.
const OWN_FIELDS: [&str; 6] = ["name", "catalog", "schema", "storage", "configuration", "libraries"];

/// Fills a pipeline from its settings, with the place of each.
pub(super) fn apply_settings(pipeline: &mut Pipeline, settings: &Node) {
    pipeline.span = Some(settings.span.as_ref().clone());
    for (key, value) in settings.entries() {
        match (key.as_str(), value.scalar()) {
            ("name", Some(name)) => pipeline.name = name,
            ("catalog", text) => pipeline.catalog = text,
            ("schema", text) => pipeline.schema = text,
            ("storage", text) => pipeline.storage = text,
            // The older spelling: tables of a schema of the Hive metastore, or of the catalog where one is named.
            ("target", text) if pipeline.schema.is_none() => pipeline.schema = text,
            _ => {}
        }
        if OWN_FIELDS.contains(&key.as_str()) {
            pipeline.places.insert(key.clone(), value.span.as_ref().clone());
        } else {
            flatten(pipeline, key, value);
        }
    }
    for (key, value) in settings.get("configuration").into_iter().flat_map(Node::entries) {
        let text = value.scalar().unwrap_or_default();
        pipeline.places.insert(format!("configuration.{key}"), value.span.as_ref().clone());
        pipeline.configuration.insert(key.clone(), text);
    }
}

/// Adds a setting, nested ones under dotted names.
pub(super) fn flatten(pipeline: &mut Pipeline, name: &str, value: &Node) {
    pipeline.places.insert(name.to_owned(), value.span.as_ref().clone());
    match &value.content {
        Content::Null => {}
        Content::List(items) => {
            for (index, item) in items.iter().enumerate() {
                flatten(pipeline, &format!("{name}.{index}"), item);
            }
        }
        Content::Map(entries) => {
            for (key, item) in entries {
                flatten(pipeline, &format!("{name}.{key}"), item);
            }
        }
        Content::Boolean(_) | Content::Number(_) | Content::Text(_) => {
            pipeline.settings.insert(name.to_owned(), value.scalar().unwrap_or_default());
        }
    }
}

/// JSON files above this many bytes are data, not settings.
const MAX_SETTINGS_BYTES: u64 = 256 * 1024;

/// Reads a JSON file as pipeline settings; `None` where it is something else, the reason where it may be some and cannot be read.
pub(super) fn read(tree: &dyn Tree, path: &Arc<str>) -> Option<Result<(Pipeline, Found), Box<Diagnostic>>> {
    if tree.size(path).max(text::lfs_size(tree, path)).is_some_and(|size| size > MAX_SETTINGS_BYTES) {
        return None;
    }
    let text = match text::scannable(tree, path) {
        Ok(text) => text,
        Err(unreadable) => return Some(Err(unreadable)),
    };
    if !text.contains("\"libraries\"") {
        return None;
    }
    let document = match text::text_with_newlines(tree, path) {
        Ok(text) => Node::parse_json(&text, path).ok()?,
        Err(unreadable) => return Some(Err(unreadable)),
    };
    let settings = [document.get("spec"), document.get("settings"), Some(&document)]
        .into_iter()
        .flatten()
        .find(|node| is_settings(node))?;
    let folder = libraries::parent(path);
    let mut pipeline = Pipeline::new(path.as_ref(), PipelineKind::Settings);
    apply_settings(&mut pipeline, settings);
    if let Some(id) = document.get("pipeline_id").or_else(|| settings.get("id")) {
        flatten(&mut pipeline, "pipeline_id", id);
    }
    pipeline.root = folder.to_owned();
    let named: Vec<Library> =
        settings.get("libraries").into_iter().flat_map(Node::items).filter_map(Library::read).collect();
    let mut found = libraries::find(tree, &named, folder);
    for unresolved in &mut found.unresolved {
        unresolved.pipeline = Some(pipeline.key.clone());
    }
    Some(Ok((pipeline, found)))
}

/// Settings have libraries of code; a job's or a cluster's libraries are packages.
fn is_settings(node: &Node) -> bool {
    let code = |item: &Node| ["notebook", "file", "glob"].iter().any(|kind| item.get(kind).is_some());
    node.get("libraries").and_then(Node::list).is_some_and(|items| items.iter().any(code))
}
