//! The mini engine's tables and checkpoints, which can be kept in a folder.

use super::{Ground, TableContents};
use crate::analyze::Analysis;
use crate::confirm::{Batch, Data, NotRun, Reports};
use crate::engine::{
    Behaviour, UpdateKind, World, contents, default_source_format, record, source_location, update_all,
};
use crate::model::SourceFacts;
use serde_json::{Value as Json, json};
use sha1::{Digest, Sha1};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

/// What outlives a run: tables and checkpoints, and which batches have arrived.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    pub world: World,
    /// Digests of the batches that have arrived, in their order.
    arrived: Vec<String>,
}

const STATE_FILE: &str = "pipelint-state.json";
/// Grows when older versions cannot read the file any more.
const STATE_FORMAT: u64 = 1;

/// Why a kept state cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateError {
    pub path: PathBuf,
    pub message: String,
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.message)
    }
}

impl std::error::Error for StateError {}

impl State {
    /// The state kept in a folder; an empty one where nothing is kept there yet.
    ///
    /// # Errors
    /// A file that cannot be read, or that no version of pipelint with this format wrote.
    pub fn read(folder: &Path) -> Result<State, StateError> {
        let path = folder.join(STATE_FILE);
        let failed = |message: String| StateError { path: path.clone(), message };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(State::default()),
            Err(error) => return Err(failed(error.to_string())),
        };
        let saved: Json = serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
        if saved.get("format").and_then(Json::as_u64) != Some(STATE_FORMAT) {
            return Err(failed("the saved state is not understood: another version wrote it".to_owned()));
        }
        let world = World::from_json(saved.get("world").unwrap_or(&Json::Null)).map_err(|error| failed(error.0))?;
        let arrived = saved.get("arrived").and_then(Json::as_array).into_iter().flatten();
        Ok(State { world, arrived: arrived.filter_map(|digest| digest.as_str().map(str::to_owned)).collect() })
    }

    /// Keeps the state in a folder, which is made where it is missing.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), StateError> {
        let path = folder.join(STATE_FILE);
        let saved = json!({ "format": STATE_FORMAT, "arrived": self.arrived, "world": self.world.to_json() });
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, saved.to_string()))
            .map_err(|error| StateError { path, message: error.to_string() })
    }

    /// Indices of the batches that have not arrived in an earlier run: one of the same number and content has.
    pub fn new_batches<'a>(&'a self, data: &'a Data) -> impl Iterator<Item = usize> + 'a {
        let known = |(at, batch): &(usize, &Batch)| self.arrived.get(*at) == Some(&digest(batch));
        data.batches.iter().enumerate().filter(move |entry| !known(entry)).map(|(at, _)| at)
    }
}

fn digest(batch: &Batch) -> String {
    let mut hash = Sha1::new();
    for (source, rows) in &batch.sources {
        hash.update(source);
        hash.update([0]);
        rows.iter().for_each(|row| hash.update(Json::Object(row.clone()).to_string()));
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Ground for State {
    fn engine(&self) -> &'static str {
        "mini"
    }

    fn updates(&self) -> u64 {
        self.world.updates
    }

    fn define(&mut self, _code: usize, analysis: &Analysis, facts: &[SourceFacts]) -> Result<(), NotRun> {
        let format =
            analysis.workspace.pipelines.first().map_or("delta", |first| default_source_format(Behaviour::of(first)));
        for facts in facts {
            let written = self.world.tables.get(&source_location(facts)).is_some_and(|table| {
                table.commits.iter().flat_map(|commit| &commit.added).any(|file| file.writer.is_some())
            });
            if !written {
                self.world.define_source(facts, format);
            }
        }
        Ok(())
    }

    fn arrive(
        &mut self,
        _code: usize,
        (batch, index): (&Batch, usize),
        facts: &[SourceFacts],
    ) -> Result<BTreeMap<String, usize>, NotRun> {
        let mut counts = BTreeMap::new();
        let mut loaded = BTreeSet::new();
        let name = format!("batch{}-{}", index + 1, self.world.updates + 1);
        for facts in facts {
            if let Some(rows) = batch.rows(&facts.name)
                && loaded.insert(source_location(facts))
            {
                self.world.load(facts, &name, rows.clone());
                counts.insert(facts.name.clone(), rows.len());
            }
        }
        if self.arrived.len() <= index {
            self.arrived.resize(index + 1, String::new());
        }
        if let Some(slot) = self.arrived.get_mut(index) {
            *slot = digest(batch);
        }
        Ok(counts)
    }

    fn update(&mut self, _code: usize, analysis: &Analysis, kind: &UpdateKind) -> Result<Reports, NotRun> {
        Ok(update_all(&mut self.world, analysis, kind))
    }

    fn tables(&mut self, locations: &BTreeSet<String>) -> Result<BTreeMap<String, TableContents>, NotRun> {
        let read = |place: &String| {
            let rows = contents(self.world.tables.get(place)?);
            let columns = rows.schema.fields.iter().map(|field| field.name.clone()).collect();
            let records = rows.rows.iter().map(|row| record(row, &rows.schema.fields)).collect();
            Some((place.clone(), TableContents { name: String::new(), columns, rows: records }))
        };
        Ok(locations.iter().filter_map(read).collect())
    }
}
