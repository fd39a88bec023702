//! What a target's `mode` and `presets` do to the names of its resources.

use super::super::yaml::{Content, Node};

/// How development mode names resources; the Databricks CLI puts the deploying user's short name in.
const DEVELOPMENT_PREFIX: &str = "[dev ${workspace.current_user.short_name}] ";

/// Prefixes the names of pipelines and schemas, and marks pipelines as development ones.
pub(super) fn apply(root: &mut Node) {
    let development = root.get("mode").and_then(Node::as_str) == Some("development");
    let prefix = match root.at(&["presets", "name_prefix"]).and_then(Node::scalar) {
        Some(prefix) => prefix,
        None if development => DEVELOPMENT_PREFIX.to_owned(),
        None => String::new(),
    };
    let marked = root.at(&["presets", "pipelines_development"]).and_then(Node::as_bool).unwrap_or(development);
    for_each_resource(root, "pipelines", |key, pipeline| {
        prefix_name(pipeline, &prefix, key);
        let span = std::sync::Arc::clone(&pipeline.span);
        if marked && let Content::Map(entries) = &mut pipeline.content {
            entries.insert("development".to_owned(), Node { content: Content::Boolean(true), span });
        }
    });
    let schema_prefix = identifier_prefix(&prefix);
    for_each_resource(root, "schemas", |key, schema| prefix_name(schema, &schema_prefix, key));
}

fn for_each_resource(root: &mut Node, kind: &str, mut change: impl FnMut(&str, &mut Node)) {
    let Content::Map(root) = &mut root.content else { return };
    let Some(Content::Map(resources)) = root.get_mut("resources").map(|node| &mut node.content) else { return };
    let Some(Content::Map(of_kind)) = resources.get_mut(kind).map(|node| &mut node.content) else { return };
    for (key, resource) in of_kind.iter_mut() {
        change(key, resource);
    }
}

fn prefix_name(resource: &mut Node, prefix: &str, key: &str) {
    if prefix.is_empty() {
        return;
    }
    let span = std::sync::Arc::clone(&resource.span);
    if let Content::Map(entries) = &mut resource.content {
        let name = entries.entry("name".to_owned()).or_insert_with(|| Node::text_at(key, &span));
        if let Some(text) = name.scalar() {
            name.content = Content::Text(format!("{prefix}{text}"));
        }
    }
}

/// `[dev jane] ` as a part of an identifier: `dev_jane_`.
fn identifier_prefix(prefix: &str) -> String {
    let bracketed = prefix.trim().ends_with(']');
    let word = prefix.replace(['[', ']'], "").trim().replace(' ', "_");
    if bracketed { format!("{word}_") } else { word }
}
