//! Everything that outlives a session: files in folders, tables of the catalog, lakehouse tables, checkpoints.

use super::folder::{FolderFile, Layout};
use super::lake::LakeTable;
use super::partition::Transform;
use crate::engine::error::ExecutionError;
use crate::engine::row::{Row, Rows};
use crate::model::{QualifiedName, Schema};
use std::collections::{BTreeMap, BTreeSet};

/// How a table of the catalog keeps its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableKind {
    /// A data source table of files: `USING parquet`.
    Files,
    /// A Hive table (`STORED AS`): static partition values are never implied.
    Hive,
    /// Iceberg or Delta.
    Lake,
}

/// A table of the catalog.
#[derive(Debug, Clone)]
pub struct Definition {
    pub kind: TableKind,
    /// `parquet`, `orc`, `textfile`, `iceberg`, `delta`, …
    pub format: String,
    /// Partition columns last where the kind is files.
    pub schema: Schema,
    pub partition_by: Vec<Transform>,
    pub bucketed: bool,
    pub location: String,
    pub properties: BTreeMap<String, String>,
}

/// What a reader sees of a table or folder.
#[derive(Debug, Clone)]
pub struct Contents {
    pub rows: Rows,
}

#[derive(Debug, Clone, Default)]
pub struct Warehouse {
    /// Format of tables that say none.
    pub default_format: String,
    /// By path.
    pub(super) files: BTreeMap<String, FolderFile>,
    pub(super) tables: BTreeMap<String, Definition>,
    /// Lakehouse tables, by the key of their name or their path.
    pub(super) lakes: BTreeMap<String, LakeTable>,
    /// Folders of text (csv, json, …), whose types are those that a reader infers or asks for.
    pub(super) text_folders: BTreeSet<String>,
    /// Files that the sinks of streaming queries list in `_spark_metadata`, by folder.
    pub(super) sink_logs: BTreeMap<String, BTreeSet<String>>,
    /// Source files that a checkpoint has seen, and the number of its next batch.
    pub(super) checkpoints: BTreeMap<String, (BTreeSet<String>, u64)>,
    next_file: u64,
}

impl Warehouse {
    pub fn new(default_format: &str) -> Self {
        Warehouse { default_format: default_format.to_owned(), ..Warehouse::default() }
    }

    /// Creates a table of the catalog, with rows.
    pub fn create_table(&mut self, name: &QualifiedName, definition: Definition, rows: Vec<Row>) {
        let key = name.key();
        if definition.kind == TableKind::Lake {
            let mut table = LakeTable::new(&definition);
            if !rows.is_empty() {
                table.append_initial(rows);
            }
            self.lakes.insert(key.clone(), table);
        } else {
            let layout = Layout::of(&definition);
            self.add_files(&definition.location, &layout, &definition.schema, rows);
        }
        self.tables.insert(key, definition);
    }

    /// Puts a table with snapshots into the catalog, or under its path.
    pub(super) fn insert_lake(&mut self, key: &str, definition: Definition, lake: LakeTable) {
        self.lakes.insert(key.to_owned(), lake);
        if !key.contains('/') {
            self.tables.insert(key.to_owned(), definition);
        }
    }

    pub(super) fn lakes(&self) -> impl Iterator<Item = (&String, &LakeTable)> {
        self.lakes.iter()
    }

    /// All files of tables without a log.
    pub(super) fn paths(&self) -> impl Iterator<Item = String> + '_ {
        self.files.keys().cloned()
    }

    /// Creates a folder of files.
    pub fn create_folder(&mut self, path: &str, partition_by: &[String], schema: &Schema, rows: Vec<Row>) {
        let layout = Layout::by(partition_by);
        self.add_files(&normalized(path), &layout, schema, rows);
    }

    /// Adds one file a row, for sources that streams read file by file.
    pub fn create_files(&mut self, path: &str, schema: &Schema, rows: Vec<Row>) {
        for row in rows {
            self.add_files(&normalized(path), &Layout::by(&[]), schema, vec![row]);
        }
    }

    /// The catalog's key for a name: the name itself, or the one table whose name ends in it.
    pub fn resolve(&self, name: &QualifiedName) -> String {
        let key = name.key();
        let base = key.split_once(".branch_").map_or(key.as_str(), |(base, _)| base);
        if self.tables.contains_key(base) {
            return key;
        }
        let mut longer = self.tables.keys().filter(|known| {
            let ends = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('.'));
            ends(known, &key) || ends(&key, known)
        });
        match (longer.next(), longer.next()) {
            (Some(only), None) => only.clone(),
            _ => key,
        }
    }

    pub fn definition(&self, key: &str) -> Option<&Definition> {
        let base = key.split_once(".branch_").map_or(key, |(base, _)| base);
        self.tables.get(base)
    }

    /// Whether a new table of this name belongs to a lakehouse: by its format, or because its catalog holds such tables only.
    pub(super) fn is_lake(&self, key: &str, format: &str) -> bool {
        let catalog = |key: &str| key.split_once('.').map(|(first, _)| first.to_owned());
        let sibling = || {
            let own = catalog(key);
            let mut lakes = self.tables.iter().filter(|(_, table)| table.kind == TableKind::Lake);
            own.is_some() && lakes.any(|(other, _)| catalog(other) == own)
        };
        matches!(format, "iceberg" | "delta") || sibling()
    }

    /// What a reader of a table sees; of a folder where no table has this name.
    ///
    /// # Errors
    /// What reading it fails with.
    pub fn contents(&self, name: &str) -> Result<Contents, ExecutionError> {
        let key = QualifiedName::parse(name).key();
        if let Some(definition) = self.tables.get(&key) {
            return self.table_contents(&key, definition);
        }
        if let Some(lake) = self.lakes.get(&normalized(name)) {
            return Ok(Contents { rows: lake.rows(None) });
        }
        if !name.contains('/') {
            let message = format!("the table {name} is not there");
            return Err(ExecutionError::new("TABLE_OR_VIEW_NOT_FOUND", message));
        }
        self.folder_contents(&normalized(name), None, false)
    }

    /// How the files of a table or folder are laid out, whether or not it can be read.
    pub fn layout(&self, name: &str) -> Vec<String> {
        let key = QualifiedName::parse(name).key();
        match (self.lakes.get(&key), self.tables.get(&key)) {
            (Some(lake), _) => lake.layout(),
            (None, Some(table)) => {
                let mut columns: Vec<String> = table.partition_by.iter().map(|t| t.column.clone()).collect();
                if self.folder_layout(&table.location).iter().any(String::is_empty) {
                    columns.push(String::new());
                }
                columns
            }
            (None, None) => self.folder_layout(&normalized(name)),
        }
    }

    /// The same with `mergeSchema`.
    ///
    /// # Errors
    /// What reading it fails with.
    pub fn merged_contents(&self, path: &str) -> Result<Contents, ExecutionError> {
        self.folder_contents(&normalized(path), None, true)
    }

    pub(super) fn table_contents(&self, key: &str, definition: &Definition) -> Result<Contents, ExecutionError> {
        if definition.kind != TableKind::Lake {
            return Ok(Contents { rows: self.files_of_table(definition)? });
        }
        match self.lakes.get(key) {
            Some(lake) => Ok(Contents { rows: lake.rows(None) }),
            None => Err(ExecutionError::new("TABLE_OR_VIEW_NOT_FOUND", format!("the table {key} is not there"))),
        }
    }

    /// Snapshots made so far and the current one, of a lakehouse table.
    pub fn history(&self, name: &str) -> Option<(usize, Option<u64>)> {
        let lake = self.lakes.get(&QualifiedName::parse(name).key())?;
        Some((lake.snapshots.len(), lake.current))
    }

    /// Current snapshot of every lakehouse table.
    pub(super) fn snapshots(&self) -> BTreeMap<String, Option<u64>> {
        self.lakes.iter().map(|(key, lake)| (key.clone(), lake.current)).collect()
    }

    /// A number for a new file.
    pub(super) fn next_file(&mut self) -> u64 {
        self.next_file += 1;
        self.next_file
    }

    /// Removes files and folders, and what is kept beside them.
    pub fn remove_under(&mut self, path: &str) {
        let path = normalized(path);
        let inside = |file: &str| file == path || file.strip_prefix(&path).is_some_and(|rest| rest.starts_with('/'));
        self.files.retain(|file, _| !inside(file));
        self.sink_logs.retain(|folder, _| !inside(folder));
        self.checkpoints.retain(|folder, _| !inside(folder));
    }

    /// Gives a table another name; a managed table's files move with it.
    ///
    /// # Errors
    /// The table is not there, or another has the new name.
    pub(super) fn rename(&mut self, key: &str, name: &str) -> Result<(), ExecutionError> {
        let to = QualifiedName::parse(name).key();
        if self.tables.contains_key(&to) {
            let message = format!("{to} is there already");
            return Err(ExecutionError::new("TABLE_OR_VIEW_ALREADY_EXISTS", message));
        }
        let Some(mut definition) = self.tables.remove(key) else {
            return Err(ExecutionError::new("TABLE_OR_VIEW_NOT_FOUND", format!("{key} is not there")));
        };
        if let Some(lake) = self.lakes.remove(key) {
            self.lakes.insert(to.clone(), lake);
        }
        let old = managed_location(key);
        if definition.location == old {
            definition.location = managed_location(&to);
            let files = std::mem::take(&mut self.files);
            let moved = |path: String| match path.strip_prefix(&old) {
                Some(rest) if rest.starts_with('/') => format!("{}{rest}", definition.location),
                _ => path,
            };
            self.files = files.into_iter().map(|(path, file)| (moved(path), file)).collect();
        }
        self.tables.insert(to, definition);
        Ok(())
    }

    /// Runs DDL on a table before or between runs of a job.
    ///
    /// # Errors
    /// What the statement fails with.
    pub fn alter(&mut self, name: &QualifiedName, statement: &str) -> Result<(), ExecutionError> {
        let key = self.resolve(name);
        super::alter::alter(self, &key, statement)
    }
}

/// A path in one spelling.
pub fn normalized(path: &str) -> String {
    crate::engine::catalog::normalized(path)
}

/// Where a table lies that says nothing of its place.
pub fn managed_location(key: &str) -> String {
    format!("warehouse/{key}")
}
