//! Rows by batch and source: generated, or read from `DIR/batchN/<source>.json`.

use crate::engine::Record;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// New rows of each source, by its name in lower case.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    pub sources: BTreeMap<String, Vec<Record>>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Data {
    pub batches: Vec<Batch>,
}

impl Batch {
    /// Rows of a source, by its name or by a longer or shorter form of it (`main.raw.events`, `raw.events`, `events`).
    pub fn rows(&self, source: &str) -> Option<&Vec<Record>> {
        let name = source.to_lowercase();
        self.sources.get(&name).or_else(|| {
            let ends = |longer: &str, shorter: &str| {
                longer.strip_suffix(shorter).is_some_and(|rest| rest.ends_with(['.', '/']))
            };
            self.sources.iter().find(|(key, _)| ends(&name, key) || ends(key, &name)).map(|(_, rows)| rows)
        })
    }
}

impl Data {
    /// Reads `batch1`, `batch2`, … of a folder. A file's path below its batch, without `.json`, is the source's name; folders in
    /// it are parts of a dotted name.
    ///
    /// # Errors
    /// No batch, an unreadable file, or a line that is no JSON object.
    pub fn read(folder: &Path) -> Result<Data, DataError> {
        let mut data = Data::default();
        loop {
            let at = folder.join(format!("batch{}", data.batches.len() + 1));
            if !at.is_dir() {
                break;
            }
            let mut batch = Batch::default();
            read_folder(&at, "", &mut batch, 0)?;
            data.batches.push(batch);
        }
        if data.batches.is_empty() {
            return Err(DataError {
                path: folder.to_owned(),
                line: None,
                message: "no folder `batch1` in it".to_owned(),
            });
        }
        Ok(data)
    }
}

/// Names of tables have three parts at most.
const DEPTH_LIMIT: usize = 8;

fn read_folder(folder: &Path, prefix: &str, batch: &mut Batch, depth: usize) -> Result<(), DataError> {
    let failed = |error: std::io::Error| DataError { path: folder.to_owned(), line: None, message: error.to_string() };
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        paths.push(entry.map_err(failed)?.path());
    }
    paths.sort();
    for path in paths {
        let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
        if path.is_dir() && depth < DEPTH_LIMIT {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or(stem);
            read_folder(&path, &format!("{prefix}{name}."), batch, depth + 1)?;
        } else if path.extension().is_some_and(|extension| extension == "json" || extension == "jsonl") {
            batch.sources.insert(format!("{prefix}{stem}").to_lowercase(), read_file(&path)?);
        }
    }
    Ok(())
}

fn read_file(path: &Path) -> Result<Vec<Record>, DataError> {
    let text = std::fs::read_to_string(path).map_err(|error| DataError {
        path: path.to_owned(),
        line: None,
        message: error.to_string(),
    })?;
    let mut records = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let failed = |message: String| DataError { path: path.to_owned(), line: Some(at + 1), message };
        match serde_json::from_str(line) {
            Ok(Json::Object(record)) => records.push(record),
            Ok(_) => return Err(failed("a line must be a JSON object".to_owned())),
            Err(error) => return Err(failed(error.to_string())),
        }
    }
    Ok(records)
}

/// Rows that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataError {
    pub path: PathBuf,
    /// Counted from 1.
    pub line: Option<usize>,
    pub message: String,
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for DataError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_name_the_sources() {
        let folder = tempfile::tempdir().unwrap();
        let nested = folder.path().join("batch1/main/raw");
        std::fs::create_dir_all(&nested).unwrap();
        std::fs::write(nested.join("events.json"), "{\"id\": 1}\n\n{\"id\": 2}\n").unwrap();
        let data = Data::read(folder.path()).unwrap();
        assert_eq!(data.batches.len(), 1);
        assert_eq!(data.batches[0].rows("raw.Events").unwrap().len(), 2);
        assert!(data.batches[0].rows("vents").is_none());
    }

    #[test]
    fn a_broken_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("batch1")).unwrap();
        std::fs::write(folder.path().join("batch1/t.json"), "{\"id\": 1}\n[1]\n").unwrap();
        assert_eq!(Data::read(folder.path()).unwrap_err().line, Some(2));
    }
}
