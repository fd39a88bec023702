//! Tables with snapshots (Iceberg, Delta): files with a partition spec, branches, staged commits.

use super::partition::Transform;
use super::resolve::position;
use super::warehouse::Definition;
use crate::engine::row::{Row, Rows};
use crate::model::{Schema, TableConstraint, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A data file. Its columns follow the table's: a dropped one leaves it, a renamed one keeps its values.
#[derive(Debug, Clone, PartialEq)]
pub struct LakeFile {
    pub id: u64,
    /// Index of the partition spec it was written with.
    pub spec: usize,
    pub partition: Vec<Value>,
    pub schema: Arc<Schema>,
    pub rows: Arc<[Row]>,
}

/// One state of the table.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub id: u64,
    pub operation: Operation,
    pub files: Vec<LakeFile>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Append,
    Overwrite,
    Delete,
}

#[derive(Debug, Clone)]
pub struct LakeTable {
    pub schema: Schema,
    /// All specs so far, and which one new files are written with.
    pub specs: Vec<Vec<Transform>>,
    pub spec: usize,
    pub properties: BTreeMap<String, String>,
    pub constraints: Vec<TableConstraint>,
    /// The last version by application (`txnAppId`, `txnVersion`).
    pub applications: BTreeMap<String, u64>,
    /// True for Delta.
    pub delta: bool,
    pub snapshots: Vec<Snapshot>,
    pub current: Option<u64>,
    pub branches: BTreeMap<String, Option<u64>>,
    /// Snapshots staged under a `wap.id`.
    pub staged: BTreeMap<String, u64>,
    /// `wap.id`s that have been published.
    pub published: BTreeSet<String>,
    /// What a reader knows the table by (Delta's id, Iceberg's uuid): tells one that was made anew.
    pub identity: u64,
    /// How often it was replaced in place (`CREATE OR REPLACE`).
    pub lives: u32,
    next: u64,
}

impl LakeTable {
    pub fn new(definition: &Definition) -> Self {
        LakeTable {
            schema: definition.schema.clone(),
            specs: vec![definition.partition_by.clone()],
            spec: 0,
            properties: definition.properties.clone(),
            constraints: Vec::new(),
            applications: BTreeMap::new(),
            delta: definition.format == "delta",
            snapshots: Vec::new(),
            current: None,
            branches: BTreeMap::new(),
            staged: BTreeMap::new(),
            published: BTreeSet::new(),
            identity: 0,
            lives: 0,
            next: 0,
        }
    }

    pub fn layout(&self) -> Vec<String> {
        let text =
            |t: &Transform| if t.is_identity() { t.column.clone() } else { format!("{:?}({})", t.function, t.column) };
        self.current_spec().iter().map(text).collect()
    }

    pub fn current_spec(&self) -> &[Transform] {
        self.specs.get(self.spec).map_or(&[], Vec::as_slice)
    }

    /// Rows under the table's columns: of a branch, or of what readers see.
    pub fn rows(&self, branch: Option<&str>) -> Rows {
        let head = match branch {
            Some(branch) => self.branches.get(branch).copied().flatten(),
            None => self.current,
        };
        let mut rows = Vec::new();
        for file in self.files(head) {
            rows.extend(self.file_rows(file));
        }
        Rows::new(self.schema.clone(), rows)
    }

    /// A file's rows under the table's columns.
    pub fn file_rows(&self, file: &LakeFile) -> Vec<Row> {
        let ordinals: Vec<Option<usize>> =
            self.schema.fields.iter().map(|field| position(&file.schema, &field.name)).collect();
        let pick = |row: &Row| -> Row {
            ordinals.iter().map(|at| at.and_then(|at| row.get(at)).cloned().unwrap_or(Value::Null)).collect()
        };
        file.rows.iter().map(pick).collect()
    }

    pub fn files(&self, snapshot: Option<u64>) -> &[LakeFile] {
        let found = snapshot.and_then(|id| self.snapshots.iter().find(|known| known.id == id));
        found.map_or(&[], |snapshot| snapshot.files.as_slice())
    }

    /// Numbers go on where those of the table's former life end.
    pub fn continue_numbers(&mut self, old: &LakeTable) {
        self.next = self.next.max(old.next);
    }

    pub fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Files that rows of the table's columns are written into, one a partition.
    pub fn new_files(&mut self, rows: Vec<Row>) -> Vec<LakeFile> {
        let spec = self.current_spec().to_vec();
        let schema = Arc::new(self.schema.clone());
        let mut groups: BTreeMap<Vec<Value>, Vec<Row>> = BTreeMap::new();
        for row in rows {
            groups.entry(self.partition_of(&spec, &row)).or_default().push(row);
        }
        let spec = self.spec;
        groups
            .into_iter()
            .map(|(partition, rows)| LakeFile {
                id: self.number(),
                spec,
                partition,
                schema: Arc::clone(&schema),
                rows: rows.into(),
            })
            .collect()
    }

    pub fn partition_of(&self, spec: &[Transform], row: &Row) -> Vec<Value> {
        spec.iter()
            .map(|transform| {
                let at = position(&self.schema, &transform.column);
                transform.apply(at.and_then(|at| row.get(at)).unwrap_or(&Value::Null))
            })
            .collect()
    }

    pub fn append_initial(&mut self, rows: Vec<Row>) {
        let files = self.new_files(rows);
        self.commit(Operation::Append, files, None);
    }

    /// Makes a snapshot with these files the current one, or a branch's.
    pub fn commit(&mut self, operation: Operation, files: Vec<LakeFile>, branch: Option<&str>) -> u64 {
        let id = self.number();
        self.snapshots.push(Snapshot { id, operation, files });
        match branch {
            Some(branch) => drop(self.branches.insert(branch.to_owned(), Some(id))),
            None => self.current = Some(id),
        }
        id
    }

    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.get(name).map(String::as_str)
    }

    pub fn flag(&self, name: &str) -> bool {
        self.property(name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }
}
