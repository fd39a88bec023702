//! The map in `lib.rs` is binding: a module imports those above it in the list, never those below.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Modules in the order of the map.
fn mapped() -> Vec<&'static str> {
    let lines = include_str!("lib.rs").lines();
    lines.filter_map(|line| line.strip_prefix("//! - [`")?.split_once('`').map(|(name, _)| name)).collect()
}

fn source_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("src can be read") {
        let path = entry.expect("src can be read").path();
        if path.is_dir() {
            source_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The modules of ours that a text names by `crate::a` or `crate::{a, b}`.
fn imported(text: &str) -> Vec<&str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for rest in text.split("crate::").skip(1) {
        let group = rest.strip_prefix('{').map(|group| group.split('}').next().unwrap_or_default());
        let names = group.unwrap_or_else(|| rest.split(|c| !is_name(c)).next().unwrap_or_default());
        found.extend(names.split(',').map(|name| name.trim().split("::").next().unwrap_or_default()));
    }
    found
}

#[test]
fn every_module_is_on_the_map() {
    let declared = include_str!("lib.rs").lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let mut declared: Vec<&str> = declared.collect();
    declared.sort_unstable();
    let mut mapped = mapped();
    mapped.sort_unstable();
    assert_eq!(declared, mapped);
}

#[test]
fn no_module_imports_one_below_it_on_the_map() {
    let rank: BTreeMap<&str, usize> = mapped().into_iter().enumerate().map(|(rank, name)| (name, rank)).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    source_files(&root, &mut files);
    let mut against = Vec::new();
    for file in &files {
        let path = file.strip_prefix(&root).expect("it is below src");
        let first = path.iter().next().and_then(|part| part.to_str()).unwrap_or_default();
        let Some(own) = rank.get(first.trim_end_matches(".rs")) else { continue };
        let text = fs::read_to_string(file).expect("a source file can be read");
        for name in imported(&text) {
            if rank.get(name).is_some_and(|other| other > own) {
                against.push(format!("{} imports {name}", path.display()));
            }
        }
    }
    assert!(against.is_empty(), "imports against the map of lib.rs:\n{}", against.join("\n"));
}

#[test]
fn imports_are_seen_in_each_spelling() {
    let text = "use crate::model::Span; use crate::{graph, report::json}; fn f() { crate::diff::diff() }";
    assert_eq!(imported(text), ["model", "graph", "report", "diff"]);
}
