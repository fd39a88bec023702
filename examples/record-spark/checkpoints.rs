//! Checkpoints as fixtures (`--checkpoints`): the small files that Spark left after batch 1 and the steps by hand, and what the
//! changed code then met on them.

use super::case::Case;
use pipelint::confirm::{Outcome, Reports};
use pipelint::engine::FlowStatus;
use serde_json::{Map, Value as Json, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Where a case's checkpoints are kept: `FOLDER/SPARK/SET/CASE`.
#[derive(Debug, Clone)]
pub struct Keep {
    pub folder: PathBuf,
    /// The series of Spark that runs the case, such as `4.3`.
    pub spark: String,
}

impl Keep {
    pub fn of(&self, case: &Case) -> PathBuf {
        self.folder.join(&self.spark).join(&case.name)
    }

    /// Writes what the changed code met next to the kept files.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, case: &Case, version: &str, outcome: &Json) -> Result<(), String> {
        let path = self.of(case).join("outcome.json");
        let text = serde_json::to_string_pretty(&json!({ "spark": version, "outcome": outcome })).unwrap_or_default();
        fs::create_dir_all(self.of(case)).map_err(|error| format!("{}: {error}", path.display()))?;
        fs::write(&path, format!("{text}\n")).map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// Copies the small files of every checkpoint below `from`.
///
/// # Errors
/// A file that cannot be copied.
pub fn copy_small_files(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let _ = fs::remove_dir_all(to);
    for root in checkpoints_below(from) {
        let target = to.join(root.strip_prefix(from).unwrap_or(&root));
        for file in files_below(&root) {
            let Ok(relative) = file.strip_prefix(&root) else { continue };
            if !is_small(&root, relative) {
                continue;
            }
            let copy = target.join(relative);
            fs::create_dir_all(copy.parent().unwrap_or(to)).map_err(|error| failed(&copy, error))?;
            fs::copy(&file, &copy).map_err(|error| failed(&file, error))?;
        }
    }
    Ok(())
}

fn checkpoints_below(folder: &Path) -> Vec<PathBuf> {
    if folder.join("offsets").is_dir() {
        return vec![folder.to_path_buf()];
    }
    let mut found: Vec<PathBuf> =
        entries(folder).iter().filter(|p| p.is_dir()).flat_map(|p| checkpoints_below(p)).collect();
    found.sort();
    found
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let (folders, files): (Vec<_>, Vec<_>) = entries(folder).into_iter().partition(|path| path.is_dir());
    folders.iter().flat_map(|path| files_below(path)).chain(files).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// The last batches of the logs, and all metadata of the state.
fn is_small(root: &Path, file: &Path) -> bool {
    let parts: Vec<String> = file.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|name| name.ends_with(".crc") || name.ends_with(".tmp")) {
        return false;
    }
    match parts.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["metadata"] => true,
        [log @ ("offsets" | "commits"), _] => is_among_last(&root.join(log), file),
        ["sources", number, _] => is_among_last(&root.join("sources").join(number), file),
        ["state", _, "_metadata" | "_stateSchema", ..] => true,
        ["state", _, "0", .., "_metadata", "schema"] => true,
        _ => false,
    }
}

fn is_among_last(folder: &Path, file: &Path) -> bool {
    let number = |path: &Path| path.file_name().and_then(|name| name.to_str()?.split('.').next()?.parse::<u64>().ok());
    let newest = entries(folder).iter().filter_map(|path| number(path)).max().unwrap_or(0);
    number(file).is_some_and(|own| own + 2 > newest)
}

/// What each flow met in the last update of the changed code, and from nothing.
pub fn met(outcome: &Outcome) -> Json {
    let nothing = Reports::default();
    let control = outcome.control.first().unwrap_or(&nothing);
    json!({ "flows": statuses(outcome.after.last().unwrap_or(&nothing)), "from_nothing": statuses(control) })
}

fn statuses(reports: &Reports) -> Json {
    let mut flows = Map::new();
    for report in reports.iter().flat_map(|report| &report.flows) {
        let status = match &report.status {
            FlowStatus::Completed(_) => json!("completed"),
            FlowStatus::Failed { stage, error } => {
                json!({ "stage": format!("{stage:?}").to_lowercase(), "class": error.class, "message": error.message })
            }
            FlowStatus::Skipped => json!("skipped"),
            FlowStatus::Excluded => json!("excluded"),
        };
        flows.insert(format!("{} {}", report.dataset, report.flow), status);
    }
    Json::Object(flows)
}
