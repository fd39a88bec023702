//! What happens to tables and checkpoints beside the pipelines: `op` by `op`.

use super::{rows, sql};
use pipelint::confirm::Data;
use pipelint::engine::{Table, World, contents};
use pipelint::model::SourceFacts;
use serde_yaml::Value as Yaml;

#[derive(Debug, Clone)]
pub enum Step {
    /// The state of every query is deleted; the offsets stay.
    RemoveState,
    /// The checkpoints of a flow, or those under a path.
    RemoveCheckpoint(String),
    /// The commit of a checkpoint's last batch is lost.
    LoseCommit(String),
    DeleteFile {
        source: String,
        batch: String,
    },
    /// Rows arrive: the batch by its number.
    Load(usize),
    Sql(String),
    /// Python that no engine of ours runs.
    Python,
    /// Iceberg's compaction, `CALL system.rewrite_data_files`.
    RewriteDataFiles(String),
    /// Snapshot expiry, of all snapshots but the last.
    ExpireAllButLast(String),
    Expire {
        table: String,
        version: u64,
    },
    /// The first snapshot is made the current one again.
    RollBackToFirst(String),
}

pub fn read(yaml: &Yaml) -> Vec<Step> {
    yaml.as_sequence().into_iter().flatten().map(step).collect()
}

fn step(yaml: &Yaml) -> Step {
    let word = |key: &str| yaml[key].as_str().unwrap_or_else(|| panic!("no {key} in {yaml:?}")).to_owned();
    match word("op").as_str() {
        "rm_state" => Step::RemoveState,
        "rm_checkpoint" => Step::RemoveCheckpoint(word("flow")),
        "rm" => Step::RemoveCheckpoint(word("path")),
        "uncommit" => Step::LoseCommit(word("path")),
        "delete_file" => Step::DeleteFile { source: word("source"), batch: word("batch") },
        "load" => Step::Load(word("batch").trim_start_matches("batch").parse().unwrap()),
        "sql" => Step::Sql(word("sql")),
        "rewrite_data_files" => Step::RewriteDataFiles(word("table")),
        "expire_all_but_last" => Step::ExpireAllButLast(word("table")),
        "expire_nth" => Step::Expire { table: word("table"), version: yaml["n"].as_u64().unwrap() },
        "rollback_first" => Step::RollBackToFirst(word("table")),
        "py" => Step::Python,
        other => panic!("unknown step {other}"),
    }
}

/// The rows that steps may load.
pub struct Sources<'a> {
    pub facts: &'a [SourceFacts],
    pub data: &'a Data,
}

impl Sources<'_> {
    /// Loads a batch, counted from 1.
    pub fn load(&self, world: &mut World, number: usize) {
        let Some(batch) = self.data.batches.get(number - 1) else { return };
        for facts in self.facts {
            if let Some(rows) = batch.rows(&facts.name) {
                world.load(facts, &format!("batch{number}"), rows.clone());
            }
        }
    }
}

pub fn apply(world: &mut World, steps: &[Step], sources: &Sources<'_>) {
    for step in steps {
        match step {
            Step::RemoveState => {
                for checkpoint in world.checkpoints.values_mut() {
                    checkpoint.operators.clear();
                    checkpoint.state = Default::default();
                }
            }
            Step::RemoveCheckpoint(path) => {
                let under = format!("{path}/");
                let of_flow = format!("/{path}");
                world.checkpoints.retain(|at, _| at != path && !at.starts_with(&under) && !at.ends_with(&of_flow));
            }
            Step::LoseCommit(path) => world.checkpoints.get_mut(path).unwrap().lose_last_commit(),
            Step::DeleteFile { source, batch } => delete_file(world, source, batch),
            Step::Load(number) => sources.load(world, *number),
            Step::Sql(text) => sql::execute(world, text),
            Step::Python => {}
            Step::RewriteDataFiles(name) => {
                let table = table(world, name);
                let rows = contents(table);
                table.compact(rows.rows, &rows.schema);
            }
            Step::ExpireAllButLast(name) => {
                let table = table(world, name);
                table.expire_before(table.next_version - 1);
            }
            Step::Expire { table: name, version } => {
                table(world, name).expired.insert(*version);
            }
            Step::RollBackToFirst(name) => {
                let table = table(world, name);
                let first = table.commits.first().unwrap().version;
                table.roll_back(first);
            }
        }
    }
}

fn table<'a>(world: &'a mut World, name: &str) -> &'a mut Table {
    let location = rows::location(world, name).unwrap_or_else(|| panic!("no table {name}"));
    world.tables.get_mut(&location).unwrap()
}

fn delete_file(world: &mut World, source: &str, batch: &str) {
    let name = format!("/{batch}.");
    for table in world.tables.values_mut().filter(|table| table.location.ends_with(source)) {
        for commit in &mut table.commits {
            commit.added.retain(|file| !file.path.contains(&name));
        }
    }
}
