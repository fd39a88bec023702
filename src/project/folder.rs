//! Pipeline files that no specification names, grouped into pipelines by their folders.

use super::libraries::{file_name, parent};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Names of folders that divide one pipeline into layers or languages, and so are no pipeline of their own. Compared without
/// digits and punctuation: `01-Bronze` is `bronze`.
const LAYERS: [&str; 27] = [
    "bronze",
    "silver",
    "gold",
    "platinum",
    "raw",
    "landing",
    "staging",
    "stage",
    "ingest",
    "ingestion",
    "curated",
    "refined",
    "marts",
    "transformations",
    "definitions",
    "tables",
    "views",
    "flows",
    "sql",
    "python",
    "py",
    "src",
    "notebooks",
    "dlt",
    "ldp",
    "sdp",
    "pipeline",
];

/// Folders of tools and of installed packages.
const TOOL_FOLDERS: [&str; 4] = ["node_modules", "site-packages", "venv", "__pycache__"];

/// A path that discovery does not look at: hidden folders, tools' folders, and project templates.
pub(super) fn is_passed_over(path: &str) -> bool {
    parent(path).split('/').any(|part| part.starts_with('.') || TOOL_FOLDERS.contains(&part) || part.contains("{{"))
}

/// A test of pipeline code.
pub(super) fn is_test(path: &str) -> bool {
    let name = file_name(path);
    name.starts_with("test_") || name.ends_with("_test.py") || name == "conftest.py"
}

/// Groups files by the folder that stands for their pipeline; `boundaries` are folders that are one for certain.
///
/// A file's pipeline is its folder, or the first one above that is more than a layer of a pipeline. A folder inside another
/// group's folder joins it, except that the root of the tree takes in only its own files and layers.
pub(super) fn group(files: &[Arc<str>], boundaries: &[String]) -> BTreeMap<String, Vec<Arc<str>>> {
    let mut groups: BTreeMap<String, Vec<Arc<str>>> = BTreeMap::new();
    for file in files {
        let boundary =
            boundaries.iter().filter(|folder| super::libraries::is_below(file, folder)).max_by_key(|f| f.len());
        let folder =
            boundary.filter(|folder| !folder.is_empty()).map_or_else(|| pipeline_folder(parent(file)), String::as_str);
        groups.entry(folder.to_owned()).or_default().push(Arc::clone(file));
    }
    let folders: Vec<String> = groups.keys().cloned().collect();
    for folder in folders.iter().rev() {
        let outer = folders.iter().filter(|outer| {
            !outer.is_empty()
                && *outer != folder
                && super::libraries::is_below(folder, outer)
                && !boundaries.contains(folder)
        });
        if let Some(outer) = outer.min_by_key(|outer| outer.len())
            && let Some(files) = groups.remove(folder)
        {
            groups.entry(outer.clone()).or_default().extend(files);
        }
    }
    for files in groups.values_mut() {
        files.sort();
    }
    groups
}

fn pipeline_folder(mut folder: &str) -> &str {
    while !folder.is_empty() && is_layer(file_name(folder)) {
        folder = parent(folder);
    }
    folder
}

fn is_layer(name: &str) -> bool {
    let word: String = name.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect();
    let singular = word.strip_suffix("layer").unwrap_or(&word);
    LAYERS.contains(&word.as_str()) || LAYERS.contains(&singular)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(files: &[&str], boundaries: &[&str]) -> Vec<(String, usize)> {
        let files: Vec<Arc<str>> = files.iter().map(|file| Arc::from(*file)).collect();
        let boundaries: Vec<String> = boundaries.iter().map(|b| (*b).to_owned()).collect();
        group(&files, &boundaries).into_iter().map(|(folder, files)| (folder, files.len())).collect()
    }

    #[test]
    fn layers_belong_to_the_folder_above() {
        assert_eq!(groups(&["bronze/a.sql", "silver/b.sql", "c.sql"], &[]), [(String::new(), 3)]);
        assert_eq!(
            groups(&["etl/01-Bronze/a.sql", "etl/transformations/silver_layer/b.sql"], &[]),
            [("etl".into(), 2)]
        );
        assert_eq!(
            groups(&["src/sales/raw/a.sql", "src/hr/b.sql"], &[]),
            [("src/hr".into(), 1), ("src/sales".into(), 1)]
        );
    }

    #[test]
    fn folders_inside_a_pipeline_join_it_but_not_the_root() {
        assert_eq!(groups(&["etl/a.sql", "etl/orders/b.sql"], &[]), [("etl".into(), 2)]);
        assert_eq!(groups(&["a.sql", "demo/b.sql"], &[]), [(String::new(), 1), ("demo".into(), 1)]);
    }

    #[test]
    fn a_boundary_is_a_pipeline() {
        assert_eq!(groups(&["etl/a.sql", "etl/raw/b.sql"], &["etl/raw"]), [("etl".into(), 1), ("etl/raw".into(), 1)]);
    }

    #[test]
    fn hidden_folders_tools_and_templates_are_passed_over() {
        assert!(is_passed_over("a/.venv/b.py") && is_passed_over("x/site-packages/dlt/a.py"));
        assert!(is_passed_over("t/{{.project_name}}/a.sql"));
        assert!(!is_passed_over("a/b.py") && !is_passed_over(".hidden.sql"));
    }
}
