//! Scripts on the tables of a [`World`]: the same statements, whose commits the streams of that world read.
//!
//! Takes a world, the pipeline whose names and configuration a script shares, and its steps; leaves in each Delta and Iceberg table
//! the commits that the statements made, file by file: what a reader makes of them follows from the files that came and went, as it
//! does from a real log.

use super::lake::{LakeFile, LakeTable, Snapshot};
use super::partition::Transform;
use super::query::Run;
use super::resolve::position;
use super::warehouse::{Definition, TableKind, Warehouse};
use crate::engine::catalog::source_location;
use crate::engine::error::ExecutionError;
use crate::engine::row::Rows;
use crate::engine::scan::{contents, rows_of};
use crate::engine::stream::now;
use crate::engine::table::{CommitKind, Content, DataFile, Table, TableFormat};
use crate::engine::world::World;
use crate::model::{Pipeline, QualifiedName, Step, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a function of a streaming query is given.
pub struct GivenBatch<'a> {
    /// It is read under this name.
    pub name: &'a str,
    pub number: u64,
    pub rows: Rows,
}

/// Runs steps on the tables of a world; `batch` is what a function of a streaming query is given.
/// Streaming queries among the steps are flows of their own and are passed over.
///
/// # Errors
/// What a statement fails with; what the statements before it did stays. `UNSUPPORTED_PLAN` where the engine is at a loss.
pub fn run_steps(
    world: &mut World,
    pipeline: &Pipeline,
    steps: &[Step],
    batch: Option<GivenBatch<'_>>,
) -> Result<(), ExecutionError> {
    let mut loan = Loan::of(world, pipeline);
    let mut run = Run::new(&mut loan.warehouse, pipeline.spark_version, now(world));
    run.conf.clone_from(&pipeline.configuration);
    if let Some(batch) = batch {
        run.relations.insert(batch.name.to_owned(), batch.rows);
        run.batch = Some(batch.number);
    }
    let outcome = run.batch_steps(steps);
    loan.give_back(world)?;
    outcome
}

/// A world's tables, lent to a warehouse.
struct Loan {
    warehouse: Warehouse,
    lent: BTreeMap<String, Lent>,
    /// Files of tables that have no log, which scripts read only.
    files: BTreeSet<String>,
}

/// A table with a log, as it was lent.
struct Lent {
    location: String,
    identity: u64,
    lives: u32,
    snapshots: usize,
    current: Option<u64>,
    /// Paths by the number of the file.
    paths: BTreeMap<u64, String>,
}

impl Loan {
    fn of(world: &mut World, pipeline: &Pipeline) -> Loan {
        let named: BTreeMap<String, String> = pipeline
            .sources
            .iter()
            .filter(|facts| !facts.name.contains('/'))
            .map(|facts| (source_location(facts), QualifiedName::parse(&facts.name).key()))
            .collect();
        let mut loan =
            Loan { warehouse: Warehouse::new(&pipeline.table_format), lent: BTreeMap::new(), files: BTreeSet::new() };
        for table in world.tables.values_mut() {
            let own = table.location.strip_prefix("warehouse/").map(str::to_owned);
            let key = named.get(&table.location).cloned().or(own).unwrap_or_else(|| table.location.clone());
            match table.format {
                TableFormat::Delta | TableFormat::Iceberg => loan.lend(key, table),
                TableFormat::Files(_) => loan.lend_files(&key, table),
                TableFormat::Topic => {}
            }
        }
        loan.files = loan.warehouse.paths().collect();
        loan
    }

    fn lend(&mut self, key: String, table: &mut Table) {
        split_by_partition(table);
        let definition = definition(table, TableKind::Lake);
        let mut lake = LakeTable::new(&definition);
        lake.constraints.clone_from(&table.constraints);
        lake.applications.clone_from(&table.applications);
        let mut paths = BTreeMap::new();
        let files: Vec<LakeFile> = table
            .files()
            .into_iter()
            .map(|file| {
                let id = lake.number();
                paths.insert(id, file.path.clone());
                let rows = rows_of(file, &table.schema);
                let partition = rows.first().map(|row| lake.partition_of(lake.current_spec(), row));
                let schema = Arc::new(table.schema.clone());
                LakeFile { id, spec: 0, partition: partition.unwrap_or_default(), schema, rows: rows.into() }
            })
            .collect();
        lake.commit(super::lake::Operation::Append, files, None);
        let lent = Lent {
            location: table.location.clone(),
            identity: lake.identity,
            lives: lake.lives,
            snapshots: lake.snapshots.len(),
            current: lake.current,
            paths,
        };
        self.warehouse.insert_lake(&key, definition, lake);
        self.lent.insert(key, lent);
    }

    fn lend_files(&mut self, key: &str, table: &Table) {
        let rows = contents(table).rows;
        let columns = &table.layout.partition_by;
        if key.contains('/') {
            self.warehouse.create_folder(key, columns, &table.schema, rows);
        } else {
            self.warehouse.create_table(&QualifiedName::parse(key), definition(table, TableKind::Files), rows);
        }
    }

    /// Brings what was done to the tables into the world.
    fn give_back(self, world: &mut World) -> Result<(), ExecutionError> {
        let Loan { warehouse, lent, files } = self;
        if warehouse.paths().collect::<BTreeSet<_>>() != files {
            return Err(ExecutionError::unsupported("a script that writes files beside streams is not executed"));
        }
        for (key, lent) in &lent {
            if !warehouse.lakes().any(|(known, _)| known == key) {
                world.drop_table(&lent.location);
            }
        }
        for (key, lake) in warehouse.lakes() {
            match lent.get(key) {
                Some(lent) => give_back(world, lent, lake),
                None => create(world, key, lake),
            }
        }
        Ok(())
    }
}

/// Files as a table with partitions has them: each holds rows of one.
fn split_by_partition(table: &mut Table) {
    let columns = &table.layout.partition_by;
    let ordinals: Vec<usize> = columns.iter().filter_map(|column| position(&table.schema, column)).collect();
    if ordinals.is_empty() {
        return;
    }
    let mut pieces: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for commit in &mut table.commits {
        for file in std::mem::take(&mut commit.added) {
            let mut groups: BTreeMap<Vec<Value>, Vec<usize>> = BTreeMap::new();
            for (at, row) in rows_of(&file, &table.schema).iter().enumerate() {
                let key = ordinals.iter().filter_map(|ordinal| row.get(*ordinal).cloned()).collect();
                groups.entry(key).or_default().push(at);
            }
            if groups.len() < 2 {
                commit.added.push(file);
                continue;
            }
            for (number, rows) in groups.into_values().enumerate() {
                let path = format!("{}-{number}", file.path);
                pieces.entry(file.path.clone()).or_default().push(path.clone());
                commit.added.push(DataFile { path, content: file.content.pick(&rows), ..file.clone() });
            }
        }
        let removed = std::mem::take(&mut commit.removed).into_iter();
        commit.removed = removed.flat_map(|path| pieces.get(&path).cloned().unwrap_or(vec![path])).collect();
    }
}

fn definition(table: &Table, kind: TableKind) -> Definition {
    Definition {
        kind,
        format: table.format.name().to_owned(),
        schema: table.schema.clone(),
        partition_by: table.layout.partition_by.iter().map(|column| Transform::parse(column)).collect(),
        bucketed: false,
        location: table.location.clone(),
        properties: table.properties.clone(),
    }
}

fn create(world: &mut World, key: &str, lake: &LakeTable) {
    let location = if key.contains('/') { key.to_owned() } else { format!("warehouse/{key}") };
    let format = if lake.delta { TableFormat::Delta } else { TableFormat::Iceberg };
    let table = world.create(&location, format, lake.schema.clone());
    adopt(table, lake);
    commit_all(table, &lake.snapshots, &[], &mut BTreeMap::new(), lake);
}

fn give_back(world: &mut World, lent: &Lent, lake: &LakeTable) {
    let anew = (lake.identity != lent.identity).then(|| world.identity());
    let Some(table) = world.tables.get_mut(&lent.location) else { return };
    let dropped = lake.identity != lent.identity && lake.lives == 0;
    if dropped {
        // DROP and CREATE: the old table's history is not the new one's.
        table.commits.clear();
        table.next_version = 0;
        table.transactions.clear();
    } else if lake.lives != lent.lives && !lake.delta {
        table.create_or_replace(lake.schema.clone());
    }
    if let Some(identity) = anew {
        table.identity = identity;
    }
    let mut paths = lent.paths.clone();
    if table.schema != lake.schema {
        world.altered.insert(lent.location.clone());
        rewrite_columns(table, lake, &paths);
    }
    adopt(table, lake);
    if dropped {
        commit_all(table, &lake.snapshots, &[], &mut paths, lake);
    } else if lake.current != lent.current {
        let new = lake.snapshots.get(lent.snapshots..).unwrap_or_default();
        commit_all(table, new, lake.files(lent.current), &mut paths, lake);
    }
}

fn adopt(table: &mut Table, lake: &LakeTable) {
    table.set_schema(lake.schema.clone());
    table.constraints.clone_from(&lake.constraints);
    table.applications.clone_from(&lake.applications);
    table.properties.clone_from(&lake.properties);
    table.layout.partition_by =
        lake.current_spec().iter().filter(|by| by.is_identity()).map(|by| by.column.clone()).collect();
}

/// Columns that were renamed, dropped or retyped: the files that are there show their values under the new ones.
fn rewrite_columns(table: &mut Table, lake: &LakeTable, paths: &BTreeMap<u64, String>) {
    let by_path: BTreeMap<&str, &LakeFile> = lake
        .snapshots
        .iter()
        .flat_map(|snapshot| &snapshot.files)
        .filter_map(|file| Some((paths.get(&file.id)?.as_str(), file)))
        .collect();
    for file in table.commits.iter_mut().flat_map(|commit| &mut commit.added) {
        if let Some(known) = by_path.get(file.path.as_str()) {
            file.schema = Arc::clone(&known.schema);
            file.content = Content::Rows(Arc::clone(&known.rows));
        }
    }
}

/// One commit of the table for each snapshot that readers of it see.
fn commit_all(
    table: &mut Table,
    snapshots: &[Snapshot],
    first: &[LakeFile],
    paths: &mut BTreeMap<u64, String>,
    lake: &LakeTable,
) {
    let numbers = |files: &[LakeFile]| files.iter().map(|file| file.id).collect::<BTreeSet<u64>>();
    let aside: BTreeSet<u64> = lake.branches.values().flatten().chain(lake.staged.values()).copied().collect();
    let mut known = numbers(first);
    for snapshot in snapshots.iter().filter(|snapshot| !aside.contains(&snapshot.id)) {
        let now = numbers(&snapshot.files);
        let removed: Vec<String> = known.difference(&now).filter_map(|id| paths.get(id).cloned()).collect();
        let mut added = Vec::new();
        for file in snapshot.files.iter().filter(|file| !known.contains(&file.id)) {
            let path = format!("{}/part-{:05}-{}-{}", table.location, table.next_version, table.identity, file.id);
            paths.insert(file.id, path.clone());
            let content = Content::Rows(Arc::clone(&file.rows));
            added.push(DataFile { path, schema: Arc::clone(&file.schema), content, writer: None });
        }
        known = now;
        if let Some(kind) = kind(&added, &removed) {
            table.commit(kind, added, removed);
        }
    }
}

/// What a reader takes a commit for (`DeltaSource.verifyStreamHygieneAndFilterAddFiles`): files that came, went, or both.
fn kind(added: &[DataFile], removed: &[String]) -> Option<CommitKind> {
    match (added.is_empty(), removed.is_empty()) {
        (true, true) => None,
        (false, true) => Some(CommitKind::Append),
        (true, false) => Some(CommitKind::Delete),
        (false, false) => Some(CommitKind::Overwrite),
    }
}
