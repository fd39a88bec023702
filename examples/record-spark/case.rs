//! A case folder as the recorder needs it: what runs it, whether its record is still of these inputs.

use serde_yaml::Value as Yaml;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub struct Case {
    /// Below `tests/cases`, with `/`.
    pub name: String,
    pub folder: PathBuf,
    pub yaml: Yaml,
}

/// What runs a case: cases of one vehicle share one JVM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Vehicle {
    /// A declarative pipeline on Spark 4.3, with file tables.
    Pipelines,
    /// The same, with tables in memory that take MERGE.
    InMemory,
    /// A declarative pipeline on Spark 4.1, with Delta Lake's tables.
    Delta,
    /// A plain streaming job on Spark 4.3.
    Jobs,
    /// A batch job run twice, on Spark 4.3 with its own catalog.
    Files,
    /// The same, with Hive's.
    Hive,
    /// A batch job or a streaming job on Iceberg tables, on Spark 3.5.
    Iceberg,
}

impl Vehicle {
    pub const ALL: [Vehicle; 7] = [
        Vehicle::Pipelines,
        Vehicle::InMemory,
        Vehicle::Delta,
        Vehicle::Jobs,
        Vehicle::Files,
        Vehicle::Hive,
        Vehicle::Iceberg,
    ];
}

/// All cases that open-source Spark can run, by name.
///
/// # Errors
/// An unreadable folder or a `case.yaml` that is no YAML.
pub fn all(root: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for set in subfolders(root)? {
        for folder in subfolders(&set)? {
            let path = folder.join("case.yaml");
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let yaml = serde_yaml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
            let name = folder.strip_prefix(root).unwrap_or(&folder).to_string_lossy().replace('\\', "/");
            cases.push(Case { name, folder, yaml });
        }
    }
    Ok(cases)
}

fn subfolders(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    Ok(folders)
}

impl Case {
    /// None where nothing here runs it.
    pub fn vehicle(&self) -> Option<Vehicle> {
        if self.is_batch() {
            return Some(self.batch_vehicle());
        }
        if self.yaml["spark_version"].as_str() == Some("3.5") {
            return Some(Vehicle::Iceberg);
        }
        let set = self.name.split('/').next().unwrap_or_default();
        if set == "lint" || !self.folder.join("before").is_dir() {
            return None;
        }
        if self.folder.join("before/job.py").is_file() {
            return (set == "spark").then_some(Vehicle::Jobs);
        }
        Some(self.pipelines())
    }

    /// AUTO CDC needs MERGE, and a Spark newer than any that Delta Lake is built for.
    fn pipelines(&self) -> Vehicle {
        let delta = self.has_in_code("table_format: delta") || self.yaml["platform"].as_str() != Some("spark");
        let cdc =
            ["AUTO CDC", "APPLY CHANGES", "auto_cdc", "apply_changes"].iter().any(|words| self.has_in_code(words));
        match (delta, cdc || self.name.starts_with("spark/")) {
            (true, true) => Vehicle::InMemory,
            (true, false) => Vehicle::Delta,
            (false, _) => Vehicle::Pipelines,
        }
    }

    fn has_in_code(&self, words: &str) -> bool {
        ["before", "after"].iter().any(|side| folder_has(&self.folder.join(side), words))
    }

    /// A script that runs twice, and not a change.
    pub fn is_batch(&self) -> bool {
        !self.yaml["setup"].is_null()
    }

    fn batch_vehicle(&self) -> Vehicle {
        let setup = &self.yaml["setup"];
        let objects = || setup["objects"].as_sequence().into_iter().flatten();
        let ddl = |object: &Yaml, words: &str| object["ddl"].as_str().is_some_and(|ddl| ddl.contains(words));
        if setup["target"]["format"].as_str() == Some("iceberg") {
            Vehicle::Iceberg
        } else if objects().any(|object| ddl(object, "STORED AS")) {
            Vehicle::Hive
        } else {
            Vehicle::Files
        }
    }

    /// A digest of all that an outcome depends on: both revisions or the job, the rows, and the steps beside them.
    pub fn inputs(&self) -> String {
        let mut digest = Sha256::new();
        for part in ["before", "after", "job", "data"] {
            add_folder(&mut digest, &self.folder.join(part), part);
        }
        for section in ["setup", "experiment", "spark_version"] {
            digest.update(serde_yaml::to_string(&self.yaml[section]).unwrap_or_default());
        }
        let bytes = digest.finalize();
        bytes.iter().take(8).fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// Whether the record that stands beside the case is of other inputs, or none.
    pub fn is_stale(&self) -> bool {
        self.yaml["spark"]["inputs"].as_str() != Some(&self.inputs())
    }
}

fn folder_has(folder: &Path, words: &str) -> bool {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).any(|path| {
        if path.is_dir() {
            folder_has(&path, words)
        } else {
            std::fs::read_to_string(&path).is_ok_and(|text| text.contains(words))
        }
    })
}

fn add_folder(digest: &mut Sha256, folder: &Path, name: &str) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let name = format!("{name}/{}", path.file_name().unwrap_or_default().to_string_lossy());
        if path.is_dir() {
            add_folder(digest, &path, &name);
        } else if let Ok(content) = std::fs::read(&path) {
            digest.update(name.as_bytes());
            digest.update((content.len() as u64).to_le_bytes());
            digest.update(content);
        }
    }
}
