//! Settings of clusters and jobs that scripts run under, as configuration files of the tree write them.

use crate::revision::Tree;

const KEY: &str = "spark.sql.sources.partitionOverwriteMode";
/// Configuration files are short.
const MAX_BYTES: u64 = 1 << 20;

/// The first configuration file that sets the session's overwrite mode to dynamic, as a phrase.
pub fn dynamic_overwrite(tree: &dyn Tree) -> Option<String> {
    let is_configuration =
        |path: &str| [".yml", ".yaml", ".json", ".conf", ".properties"].iter().any(|ending| path.ends_with(ending));
    let entries = tree.entries().iter().filter(|entry| is_configuration(&entry.path));
    for entry in entries.filter(|entry| tree.size(&entry.path).is_none_or(|bytes| bytes <= MAX_BYTES)) {
        let Ok(bytes) = tree.read(&entry.path) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let sets = |line: &str| {
            line.split_once(KEY).is_some_and(|(before, value)| {
                !before.trim_start().starts_with('#') && value.to_lowercase().contains("dynamic")
            })
        };
        if let Some(line) = text.lines().position(sets) {
            return Some(format!("in {}:{}, for what runs under that configuration", entry.path, line + 1));
        }
    }
    None
}
