//! Tables as commit logs: files with rows, added and removed by commits of a kind, with what each format keeps beside them to
//! take a streaming write exactly once.

use super::materialize::widens;
use super::row::Row;
use crate::model::{DataType, Field, Layout, Schema, TableConstraint};
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One JSON object of a source outside of the pipeline; typed when it is read, through the schema it is read with.
pub type Record = Map<String, Json>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableFormat {
    /// Files in a folder, by their format name (`parquet`, `json`, …). Streaming writes are made once by the batch id in
    /// `_spark_metadata`, whatever query writes.
    Files(String),
    /// A transaction log; streaming writes are made once by (query id, batch id).
    Delta,
    /// Snapshots; streaming writes are made once by (query id, batch id) in the snapshot history.
    Iceberg,
    /// A topic: offsets by partition, a retention.
    Topic,
}

impl TableFormat {
    /// From a format name in lower case.
    pub fn named(name: &str) -> Self {
        match name {
            "delta" | "deltasharing" => TableFormat::Delta,
            "iceberg" => TableFormat::Iceberg,
            "kafka" | "kinesis" | "pubsub" | "pulsar" | "eventhubs" => TableFormat::Topic,
            other => TableFormat::Files(other.to_owned()),
        }
    }

    pub fn is_files(&self) -> bool {
        matches!(self, TableFormat::Files(_))
    }

    /// AUTO CDC and MERGE need a target with row-level operations.
    pub fn supports_merge(&self) -> bool {
        matches!(self, TableFormat::Delta | TableFormat::Iceberg)
    }

    pub fn name(&self) -> &str {
        match self {
            TableFormat::Files(name) => name,
            TableFormat::Delta => "delta",
            TableFormat::Iceberg => "iceberg",
            TableFormat::Topic => "kafka",
        }
    }
}

/// What a commit did to the rows; streaming readers treat kinds differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitKind {
    Append,
    /// All rows, or those of some partitions, replaced.
    Overwrite,
    /// Rows taken away, none added.
    Delete,
    /// Rows rewritten in place (MERGE with matches, UPDATE).
    Update,
    /// Files rewritten without a change of data (compaction).
    Replace,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    Rows(Arc<[Row]>),
    Records(Arc<[Record]>),
}

impl Content {
    pub fn len(&self) -> usize {
        match self {
            Content::Rows(rows) => rows.len(),
            Content::Records(records) => records.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Some of the rows, by position.
    pub fn pick(&self, rows: &[usize]) -> Content {
        match self {
            Content::Rows(all) => Content::Rows(rows.iter().filter_map(|at| all.get(*at).cloned()).collect()),
            Content::Records(all) => Content::Records(rows.iter().filter_map(|at| all.get(*at).cloned()).collect()),
        }
    }

    /// Something that grows with the file's length on disk: bytes of JSON lines, values of rows.
    pub fn size(&self) -> usize {
        match self {
            Content::Rows(rows) => rows.iter().map(|row| row.len()).sum(),
            Content::Records(records) => {
                records.iter().map(|record| Json::Object(record.clone()).to_string().len()).sum()
            }
        }
    }
}

/// A file: never changed once written, known to readers by its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFile {
    pub path: String,
    /// Columns of `Content::Rows`; for records what the source declared when they were written.
    pub schema: Arc<Schema>,
    pub content: Content,
    /// The flow that wrote it, where one did.
    pub writer: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Counts from 0 in a table's life, also over expired history.
    pub version: u64,
    pub kind: CommitKind,
    pub added: Vec<DataFile>,
    /// Paths.
    pub removed: Vec<String>,
}

/// Properties that AUTO CDC keeps with its target and compares at the next run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CdcProperties {
    /// Name (lower case) and simple type of each key, sorted: their order is not compared.
    pub keys: Vec<(String, String)>,
    pub scd_type: u8,
    pub sequence_type: String,
    /// Columns whose changes make a new version; none for all.
    pub track_history: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Folder of its files: what a file source knows it by.
    pub location: String,
    /// A table that is dropped and created again is another table (Delta's `reservoirId`, Iceberg's `table-uuid`).
    pub identity: u64,
    pub format: TableFormat,
    pub schema: Schema,
    pub layout: Layout,
    pub properties: BTreeMap<String, String>,
    /// What it demands of its rows, and fills itself.
    pub constraints: Vec<TableConstraint>,
    /// The last version by application (`txnAppId`, `txnVersion`).
    pub applications: BTreeMap<String, u64>,
    /// The version from which on columns that readers knew are gone or have another name.
    pub columns_lost_at: Option<u64>,
    /// The version at which a column last got a type that its files cannot be read as: only a rewrite does that.
    pub columns_retyped_at: Option<u64>,
    pub commits: Vec<Commit>,
    /// Next version to give out.
    pub next_version: u64,
    /// Versions that have left the history; what they added may still be in the table.
    pub expired: BTreeSet<u64>,
    /// Versions that are known and no longer lead to the table as it is: before a rollback, or a CREATE OR REPLACE.
    pub detached: BTreeSet<u64>,
    /// Batch ids in `_spark_metadata` with the paths they added; only while streaming queries own a file table.
    pub sink_log: BTreeMap<u64, Vec<String>>,
    /// Last batch by query id with the version it made, of transactional formats.
    pub transactions: BTreeMap<u64, (u64, u64)>,
    pub cdc: Option<CdcProperties>,
}

impl Table {
    pub fn new(location: String, identity: u64, format: TableFormat, schema: Schema) -> Self {
        Table {
            location,
            identity,
            format,
            schema,
            layout: Layout::default(),
            properties: BTreeMap::new(),
            constraints: Vec::new(),
            applications: BTreeMap::new(),
            columns_lost_at: None,
            columns_retyped_at: None,
            commits: Vec::new(),
            next_version: 0,
            expired: BTreeSet::new(),
            detached: BTreeSet::new(),
            sink_log: BTreeMap::new(),
            transactions: BTreeMap::new(),
            cdc: None,
        }
    }

    /// The columns become these; a reader that knew others finds out at its next commit.
    pub fn set_schema(&mut self, schema: Schema) {
        let kept = |field: &Field| schema.field(&field.name).is_some();
        if !self.schema.fields.iter().all(kept) && schema.complete && self.schema.complete {
            self.columns_lost_at = Some(self.next_version);
        }
        let old = |field: &Field| self.schema.field(&field.name).map(|old| old.data_type.clone());
        let rewritten = |field: &Field| old(field).is_some_and(|old| is_rewritten(&old, &field.data_type));
        if schema.fields.iter().any(rewritten) {
            self.columns_retyped_at = Some(self.next_version);
        }
        self.schema = schema;
    }

    /// Files that a reader of the whole table sees, oldest first. Once a `_spark_metadata` folder is there, readers of a file
    /// table see only the files that it lists.
    pub fn files(&self) -> Vec<&DataFile> {
        let mut live: Vec<&DataFile> = Vec::new();
        for commit in &self.commits {
            live.retain(|file| !commit.removed.contains(&file.path));
            live.extend(&commit.added);
        }
        if !self.sink_log.is_empty() {
            live.retain(|file| self.sink_log.values().flatten().any(|path| *path == file.path));
        }
        live
    }

    /// A path for a new file, never used before in this table's folder.
    fn next_path(&self) -> String {
        format!("{}/part-{:05}-{}.{}", self.location, self.next_version, self.identity, self.format.name())
    }

    pub(super) fn commit(&mut self, kind: CommitKind, added: Vec<DataFile>, removed: Vec<String>) {
        self.commits.push(Commit { version: self.next_version, kind, added, removed });
        self.next_version += 1;
    }

    fn file(&self, rows: Vec<Row>, schema: &Schema, writer: Option<&str>) -> DataFile {
        DataFile {
            path: self.next_path(),
            schema: Arc::new(schema.clone()),
            content: Content::Rows(rows.into()),
            writer: writer.map(str::to_owned),
        }
    }

    pub fn append(&mut self, rows: Vec<Row>, schema: &Schema, writer: Option<&str>) -> Vec<String> {
        let added = if rows.is_empty() { Vec::new() } else { vec![self.file(rows, schema, writer)] };
        let paths = added.iter().map(|file| file.path.clone()).collect();
        self.commit(CommitKind::Append, added, Vec::new());
        paths
    }

    /// Adds a file of a source outside the pipeline under a name of its own.
    pub fn append_records(&mut self, file_name: &str, records: Vec<Record>) {
        let file = DataFile {
            path: format!("{}/{file_name}", self.location),
            schema: Arc::new(self.schema.clone()),
            content: Content::Records(records.into()),
            writer: None,
        };
        self.commit(CommitKind::Append, vec![file], Vec::new());
    }

    /// Replaces all rows in one commit of `kind` (overwrite, or the result of a MERGE).
    pub fn replace(&mut self, kind: CommitKind, rows: Vec<Row>, schema: &Schema, writer: Option<&str>) {
        let removed = self.files().iter().map(|file| file.path.clone()).collect();
        let added = if rows.is_empty() { Vec::new() } else { vec![self.file(rows, schema, writer)] };
        self.commit(kind, added, removed);
    }

    /// Deletes rows of some files, by path and position, and adds others, in one commit. What is left of a file stays its
    /// writer's. Where nothing is deleted, the commit is an append.
    pub fn replace_rows(
        &mut self,
        doomed: &BTreeMap<String, BTreeSet<usize>>,
        rows: Vec<Row>,
        schema: &Schema,
        writer: &str,
    ) {
        let hit = |file: &&DataFile| doomed.get(&file.path).is_some_and(|rows| !rows.is_empty());
        let rewritten: Vec<DataFile> = self.files().into_iter().filter(hit).cloned().collect();
        if rewritten.is_empty() {
            self.append(rows, schema, Some(writer));
            return;
        }
        let mut added = Vec::new();
        for file in &rewritten {
            let (Content::Rows(old), Some(doomed)) = (&file.content, doomed.get(&file.path)) else { continue };
            let left = old.iter().enumerate().filter(|(at, _)| !doomed.contains(at)).map(|(_, row)| row.clone());
            let left: Vec<Row> = left.collect();
            if !left.is_empty() {
                added.push(self.numbered_file(added.len(), left, &file.schema, file.writer.as_deref()));
            }
        }
        if !rows.is_empty() {
            added.push(self.numbered_file(added.len(), rows, schema, Some(writer)));
        }
        self.commit(CommitKind::Overwrite, added, rewritten.into_iter().map(|file| file.path).collect());
    }

    /// One of several files of a commit.
    fn numbered_file(&self, number: usize, rows: Vec<Row>, schema: &Schema, writer: Option<&str>) -> DataFile {
        let file = self.file(rows, schema, writer);
        DataFile { path: format!("{}-{number}", file.path), ..file }
    }

    /// TRUNCATE TABLE: of a file table everything in the folder goes, `_spark_metadata` too.
    pub fn truncate(&mut self) {
        let removed: Vec<String> = self.commits.iter().flat_map(|c| &c.added).map(|file| file.path.clone()).collect();
        self.sink_log.clear();
        if !removed.is_empty() {
            self.commit(CommitKind::Delete, Vec::new(), removed);
        }
    }

    /// Notes the last commit as the write of a query's batch.
    pub fn note_transaction(&mut self, query: u64, batch: u64) {
        self.transactions.insert(query, (batch, self.next_version.saturating_sub(1)));
    }

    /// Compaction: the same rows in one file.
    pub fn compact(&mut self, rows: Vec<Row>, schema: &Schema) {
        self.replace(CommitKind::Replace, rows, schema, None);
    }

    /// CREATE OR REPLACE TABLE: the same table, with columns of its own; what came before leads nowhere.
    pub fn create_or_replace(&mut self, schema: Schema) {
        self.detached.extend(self.commits.iter().map(|commit| commit.version));
        self.commits.clear();
        self.schema = schema;
    }

    /// DROP COLUMN: its values go with it, so that a column added later under the same name starts with NULLs.
    pub fn drop_column(&mut self, name: &str) {
        self.schema.fields.retain(|field| !field.name.eq_ignore_ascii_case(name));
        for file in self.commits.iter_mut().flat_map(|commit| &mut commit.added) {
            let mut schema = file.schema.as_ref().clone();
            for field in schema.fields.iter_mut().filter(|field| field.name.eq_ignore_ascii_case(name)) {
                field.name = format!("{name} (dropped)");
            }
            file.schema = Arc::new(schema);
            if let Content::Records(records) = &file.content {
                let mut records: Vec<Record> = records.to_vec();
                records.iter_mut().for_each(|record| record.retain(|key, _| !key.eq_ignore_ascii_case(name)));
                file.content = Content::Records(records.into());
            }
        }
    }

    /// RENAME COLUMN of a table whose columns have identities of their own: old files show their values under the new name.
    pub fn rename_column(&mut self, old: &str, new: &str) {
        let rename = |schema: &mut Schema| {
            for field in schema.fields.iter_mut().filter(|field| field.name.eq_ignore_ascii_case(old)) {
                new.clone_into(&mut field.name);
            }
        };
        rename(&mut self.schema);
        for file in self.commits.iter_mut().flat_map(|commit| &mut commit.added) {
            rename(Arc::make_mut(&mut file.schema));
            if let Content::Records(records) = &file.content {
                let renamed = records.iter().map(|record| {
                    let name = |key: &String| if key.eq_ignore_ascii_case(old) { new.to_owned() } else { key.clone() };
                    record.iter().map(|(key, value)| (name(key), value.clone())).collect()
                });
                file.content = Content::Records(renamed.collect());
            }
        }
    }

    /// Makes `version` the current one again.
    pub fn roll_back(&mut self, version: u64) {
        let later = |commit: &Commit| commit.version > version;
        self.detached.extend(self.commits.iter().filter(|commit| later(commit)).map(|commit| commit.version));
        self.commits.retain(|commit| !later(commit));
    }

    /// Takes commits below `version` out of the history that streams can read (log clean-up, snapshot expiry, retention).
    pub fn expire_before(&mut self, version: u64) {
        self.expired.extend(self.commits.iter().map(|commit| commit.version).filter(|known| *known < version));
    }

    /// Commits that streams can still read, oldest first. The way back from the current one ends at the first that is gone.
    pub fn history(&self) -> impl Iterator<Item = &Commit> {
        let first = self.oldest();
        self.commits.iter().filter(move |commit| commit.version >= first)
    }

    /// The oldest version that can be reached from the current one.
    pub fn oldest(&self) -> u64 {
        let gone = self.commits.iter().map(|commit| commit.version).filter(|version| self.expired.contains(version));
        gone.max().map_or(0, |version| version + 1)
    }

    /// Whether a streaming write of `batch` by `query` has been made before.
    pub fn has_committed(&self, query: u64, batch: u64) -> bool {
        if self.format.is_files() {
            self.sink_log.last_key_value().is_some_and(|(last, _)| *last >= batch)
        } else {
            // Iceberg finds the query in its snapshots alone; Delta keeps it beside them.
            self.transactions.get(&query).is_some_and(|(last, version)| {
                *last >= batch && (self.format != TableFormat::Iceberg || !self.expired.contains(version))
            })
        }
    }
}

/// Both types are known, simple, and neither the same nor one that Delta widens to.
fn is_rewritten(old: &DataType, new: &DataType) -> bool {
    let simple = |data_type: &DataType| {
        !data_type.is_unknown()
            && !matches!(data_type, DataType::Struct(_) | DataType::Array { .. } | DataType::Map { .. })
    };
    old != new && simple(old) && simple(new) && !widens(old, new)
}
