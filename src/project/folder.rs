//! Pipeline files that no specification names, grouped into pipelines by their folders.

use super::libraries::{file_name, parent};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Names of folders that divide one pipeline into layers, and so are no pipeline of their own. Compared without digits and
/// punctuation: `01-Bronze` is `bronze`.
const LAYERS: [&str; 24] = [
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
    "src",
    "notebooks",
    "dlt",
    "ldp",
    "sdp",
    "pipeline",
];

/// Words in a folder's name that say in which language its files are. Two such folders side by side (`1-sdp-sql`, `2-sdp-python`)
/// are two versions of a pipeline.
const LANGUAGES: [&str; 4] = ["sql", "python", "py", "pyspark"];

/// Below the folder of a pipeline, the Lakeflow editor puts its files here ...
const TRANSFORMATIONS: &str = "transformations";
/// ... and notebooks that are no part of it there.
const EXPLORATIONS: &str = "explorations";

/// Folders of tools and of installed packages.
const TOOL_FOLDERS: [&str; 4] = ["node_modules", "site-packages", "venv", "__pycache__"];

/// Folders of tests, by the layouts that Python's test tools document, and of what tests read.
const TEST_FOLDERS: [&str; 8] =
    ["test", "tests", "unit_tests", "integration_tests", "fixtures", "testdata", "test_data", "__tests__"];

/// A path whose specifications do not count: below hidden folders, tools' folders, and project templates.
pub(super) fn is_passed_over(path: &str) -> bool {
    is_hidden(path) || parent(path).contains("{{")
}

/// A path below a hidden folder or one of tools.
pub(super) fn is_hidden(path: &str) -> bool {
    parent(path).split('/').any(|part| part.starts_with('.') || TOOL_FOLDERS.contains(&part))
}

/// The outermost folder above a path that holds tests, fixtures or a project template: its files are no pipeline of their own.
pub(super) fn test_or_template(path: &str) -> Option<&str> {
    let holds_copies = |folder: &&str| {
        let name = file_name(folder);
        name.contains("{{") || TEST_FOLDERS.iter().any(|known| name.eq_ignore_ascii_case(known))
    };
    ancestors(path).filter(holds_copies).last().or_else(|| {
        let template = file_name(path).contains("{{");
        template.then(|| parent(path))
    })
}

/// A notebook beside a pipeline that is no part of it.
pub(super) fn is_exploration(path: &str) -> bool {
    parent(path).split('/').any(|part| part == EXPLORATIONS)
}

/// The name of a test, as pytest looks for it.
pub(super) fn is_test_name(path: &str) -> bool {
    let name = file_name(path);
    name.starts_with("test_") || name.ends_with("_test.py") || name == "conftest.py"
}

/// Groups files by the folder that stands for their pipeline; `boundaries` are folders that are one for certain.
///
/// A file's pipeline is its folder, or the first one above that is more than a layer of a pipeline. A folder inside another
/// group's folder joins it, except that the root of the tree takes in only its own files and layers, and that a folder with
/// `transformations`, or one of two versions in different languages, stays a pipeline of its own.
pub(super) fn group(files: &[Arc<str>], boundaries: &[String]) -> BTreeMap<String, Vec<Arc<str>>> {
    let mut certain: BTreeSet<&str> =
        boundaries.iter().map(String::as_str).filter(|folder| !folder.is_empty()).collect();
    certain.extend(files.iter().filter_map(|file| editor_folder(file)));
    certain.extend(language_versions(files));
    let mut groups: BTreeMap<&str, Vec<Arc<str>>> = BTreeMap::new();
    for file in files {
        let boundary = ancestors(file).find(|folder| certain.contains(folder));
        groups.entry(boundary.unwrap_or_else(|| pipeline_folder(parent(file)))).or_default().push(Arc::clone(file));
    }
    let folders: BTreeSet<&str> = groups.keys().copied().filter(|folder| !folder.is_empty()).collect();
    let mut joined: BTreeMap<String, Vec<Arc<str>>> = BTreeMap::new();
    for (folder, files) in groups {
        let outermost = ancestors(folder).filter(|outer| folders.contains(outer)).last();
        let home = outermost.filter(|_| !certain.contains(folder)).unwrap_or(folder);
        joined.entry(home.to_owned()).or_default().extend(files);
    }
    for files in joined.values_mut() {
        files.sort();
    }
    joined
}

/// The folders above a path, nearest first, without the root.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(parent(path)), |folder| Some(parent(folder))).take_while(|folder| !folder.is_empty())
}

/// The folder that holds `transformations`.
fn editor_folder(file: &str) -> Option<&str> {
    ancestors(file).find(|folder| file_name(folder) == TRANSFORMATIONS).map(parent).filter(|folder| !folder.is_empty())
}

/// Folders of one parent that are named after different languages.
fn language_versions(files: &[Arc<str>]) -> BTreeSet<&str> {
    let mut versions: BTreeMap<&str, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
    for folder in files.iter().flat_map(|file| ancestors(file)) {
        if let Some(language) = language_of(file_name(folder)) {
            versions.entry(parent(folder)).or_default().entry(language).or_default().insert(folder);
        }
    }
    versions
        .into_values()
        .filter(|by_language| by_language.len() > 1)
        .flat_map(BTreeMap::into_values)
        .flatten()
        .collect()
}

fn language_of(folder_name: &str) -> Option<&'static str> {
    let words = folder_name.split(|c: char| !c.is_ascii_alphabetic());
    let language = |word: &str| LANGUAGES.into_iter().find(|language| word.eq_ignore_ascii_case(language));
    words.filter_map(language).map(|language| if language == "sql" { language } else { "python" }).next()
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
    fn versions_in_two_languages_are_two_pipelines() {
        let files = ["demo/0.sql", "demo/1-sdp-sql/transformations/a.sql", "demo/2-sdp-python/transformations/a.py"];
        assert_eq!(
            groups(&files, &[]),
            [("demo".into(), 1), ("demo/1-sdp-sql".into(), 1), ("demo/2-sdp-python".into(), 1)]
        );
        assert_eq!(groups(&["sql/a.sql", "python/a.py"], &[]), [("python".into(), 1), ("sql".into(), 1)]);
        assert_eq!(groups(&["etl/sql/a.sql", "etl/b.py"], &[]), [("etl".into(), 2)]);
    }

    #[test]
    fn the_folder_with_transformations_is_a_pipeline() {
        let files = ["lab/intro.sql", "lab/one/transformations/bronze/a.sql", "lab/one/transformations/gold/b.sql"];
        assert_eq!(groups(&files, &[]), [("lab".into(), 1), ("lab/one".into(), 2)]);
        assert_eq!(groups(&["transformations/bronze/a.sql", "transformations/b.sql"], &[]), [(String::new(), 2)]);
    }

    #[test]
    fn hidden_folders_tools_and_templates_are_passed_over() {
        assert!(is_passed_over("a/.venv/b.py") && is_passed_over("x/site-packages/dlt/a.py"));
        assert!(is_passed_over("t/{{.project_name}}/a.sql"));
        assert!(!is_passed_over("a/b.py") && !is_passed_over(".hidden.sql"));
    }
}
