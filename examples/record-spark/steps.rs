//! What a case does by hand to tables and checkpoints between the two revisions (`experiment: between:`).

use super::case::Case;
use pipelint::confirm::NotRun;
use pipelint::confirm::spark::Hands;
use serde_yaml::Value as Yaml;
use std::path::{Path, PathBuf};

/// # Errors
/// A step that nobody knows, or that failed.
pub fn apply(case: &Case, hands: &mut Hands<'_>) -> Result<(), NotRun> {
    for step in case.yaml["experiment"]["between"].as_sequence().into_iter().flatten() {
        let word = |key: &str| step[key].as_str().unwrap_or_default();
        match word("op") {
            "rm_state" => remove(&named(&hands.storage, "state"))?,
            "rm_checkpoint" => remove(&named(&hands.storage, word("flow")))?,
            "delete_file" => {
                let file = hands.sources.join(word("source")).join(format!("{}.json", word("batch")));
                remove(&[file])?;
            }
            // The case's own schema stands for that of the run.
            "sql" => hands.sql(&word("sql").replace("mem.db.", "").replace("db.", ""))?,
            _ => return Err(NotRun { reason: format!("unknown step {}", text(step)) }),
        }
    }
    Ok(())
}

fn text(step: &Yaml) -> String {
    serde_yaml::to_string(step).unwrap_or_default().trim().to_owned()
}

/// Folders of a name, wherever they lie below.
fn named(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.file_name().is_some_and(|own| own == name) {
            found.push(path);
        } else if path.is_dir() {
            found.extend(named(&path, name));
        }
    }
    found
}

fn remove(paths: &[PathBuf]) -> Result<(), NotRun> {
    for path in paths {
        let removed = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        removed.map_err(|error| NotRun { reason: format!("{}: {error}", path.display()) })?;
    }
    Ok(())
}
