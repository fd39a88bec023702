//! Rows by batch and source: generated, or read from `DIR/batchN/<source>.json` (or `.jsonl`, `.csv`).

use super::csv;
use crate::engine::{self, Record};
use crate::model::{DataType, SourceFacts};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
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
        self.sources.get(self.key(source)?)
    }

    /// Adds a source's rows under its name, however a path ends.
    pub fn insert(&mut self, source: &str, rows: Vec<Record>) {
        self.sources.insert(source.trim_end_matches('/').to_lowercase(), rows);
    }

    /// The name under which a source's rows stand here.
    pub fn key(&self, source: &str) -> Option<&str> {
        let name = source.trim_end_matches('/').to_lowercase();
        let ends =
            |longer: &str, shorter: &str| longer.strip_suffix(shorter).is_some_and(|rest| rest.ends_with(['.', '/']));
        let exact = self.sources.get_key_value(&name).map(|(key, _)| key);
        let near = || self.sources.keys().find(|key| ends(&name, key) || ends(key, &name));
        exact.or_else(near).map(String::as_str)
    }
}

impl Data {
    /// Reads `batch1`, `batch2`, … of a folder; a folder without `batch1` is one batch. A file's path below its batch, without its
    /// extension, is the source's name; folders in it are parts of a dotted name.
    ///
    /// # Errors
    /// No file with rows, an unreadable file, a line that is no JSON object, or broken CSV.
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
            let mut batch = Batch::default();
            read_folder(folder, "", &mut batch, 0)?;
            data.batches.push(batch);
        }
        if data.batches.iter().all(|batch| batch.sources.is_empty()) {
            let message = "no file `<source>.json`, `.jsonl` or `.csv` in it or in a folder `batch1`".to_owned();
            return Err(DataError { path: folder.to_owned(), line: None, message });
        }
        Ok(data)
    }
}

/// Names of files whose rows none of these sources takes: rows that are evidence of nothing.
pub fn unmatched(data: &Data, sources: &[SourceFacts]) -> Vec<String> {
    let mut unmatched = BTreeSet::new();
    for batch in &data.batches {
        let taken: BTreeSet<&str> = sources.iter().filter_map(|facts| batch.key(&facts.name)).collect();
        unmatched.extend(batch.sources.keys().filter(|name| !taken.contains(name.as_str())).cloned());
    }
    unmatched.into_iter().collect()
}

/// A value in given rows that is none of its column's type.
#[derive(Debug, Clone, PartialEq)]
pub struct Misfit {
    pub source: String,
    /// Counted from 1.
    pub batch: usize,
    pub row: usize,
    pub column: String,
    pub value: Json,
    pub data_type: DataType,
}

/// The first such value. Spark's JSON reader makes NULL of it, so that the row would show something else than its author meant.
pub fn misfit(data: &Data, sources: &[SourceFacts]) -> Option<Misfit> {
    for (batch, rows) in data.batches.iter().enumerate() {
        for facts in sources {
            let (Some(records), Some(schema)) = (rows.rows(&facts.name), &facts.schema) else { continue };
            for (row, record) in records.iter().enumerate() {
                if let Some((field, value, data_type)) = engine::misfit(record, &schema.fields) {
                    return Some(Misfit {
                        source: facts.name.clone(),
                        batch: batch + 1,
                        row: row + 1,
                        column: field.name.clone(),
                        value: value.clone(),
                        data_type: data_type.clone(),
                    });
                }
            }
        }
    }
    None
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
        } else if let Some(form) = path.extension().and_then(|extension| Form::of(extension.to_str()?)) {
            batch.insert(&format!("{prefix}{stem}"), read_file(&path, form)?);
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Form {
    /// JSON lines, or one array of objects.
    Json,
    Csv,
}

impl Form {
    fn of(extension: &str) -> Option<Form> {
        match extension {
            "json" | "jsonl" => Some(Form::Json),
            "csv" => Some(Form::Csv),
            _ => None,
        }
    }
}

fn read_file(path: &Path, form: Form) -> Result<Vec<Record>, DataError> {
    let failed = |line: Option<usize>, message: String| DataError { path: path.to_owned(), line, message };
    let text = std::fs::read_to_string(path).map_err(|error| failed(None, error.to_string()))?;
    match form {
        Form::Csv => csv::read(&text).map_err(|(line, message)| failed(Some(line), message)),
        Form::Json if text.trim_start().starts_with('[') => {
            let items: Vec<Json> =
                serde_json::from_str(&text).map_err(|error| failed(Some(error.line()), error.to_string()))?;
            items
                .into_iter()
                .map(|item| match item {
                    Json::Object(record) => Ok(record),
                    _ => Err(failed(None, "every item of the list must be a JSON object".to_owned())),
                })
                .collect()
        }
        Form::Json => {
            let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
            lines
                .map(|(at, line)| match serde_json::from_str(line) {
                    Ok(Json::Object(record)) => Ok(record),
                    Ok(_) => Err(failed(Some(at + 1), "a line must be a JSON object".to_owned())),
                    Err(error) => Err(failed(Some(at + 1), error.to_string())),
                })
                .collect()
        }
    }
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

    #[test]
    fn a_folder_without_batches_is_one_and_may_hold_csv_and_lists() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Data::read(folder.path()).is_err());
        std::fs::write(folder.path().join("main.raw.t.csv"), "id,name\n1,a\n").unwrap();
        std::fs::write(folder.path().join("u.json"), "[\n  { \"id\": 1 },\n  { \"id\": 2 }\n]\n").unwrap();
        let data = Data::read(folder.path()).unwrap();
        assert_eq!(data.batches.len(), 1);
        assert_eq!(data.batches[0].rows("raw.t").unwrap()[0]["id"], 1);
        assert_eq!(data.batches[0].rows("u").unwrap().len(), 2);
    }
}
