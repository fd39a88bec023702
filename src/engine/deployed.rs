//! A restart on a real checkpoint: what the query is compared with before its first batch, without any row.
//!
//! Takes what the files of a checkpoint say and a flow of the code to deploy; gives the error that Spark would stop with, or
//! none. What the checkpoint, the code or this engine cannot tell is listed, and what was taken for granted too: a restart
//! without an error counts only as far as nothing is open.

use super::catalog::{self, Target};
use super::checkpoint::{Checkpoint, Offset, OffsetEntry, SourceLog, SourceOffsets};
use super::error::ExecutionError;
use super::platform::Behaviour;
use super::restart;
use super::source::StreamSource;
use super::table::TableFormat;
use super::update::default_source_format;
use super::world::World;
use crate::analyze::{Analysis, AnalyzedFlow};
use crate::checkpoint::{self as stored, OffsetForm, StoredOffset, StoredOffsets};
use crate::model::{DataType, Flow, Node, Pipeline, Read, Schema, Source, StateStoreSchema, StatefulOperator};
use std::collections::BTreeMap;

/// Written into the offset log since Spark 4.0: an older checkpoint has no operator metadata.
const SINCE_OPERATOR_METADATA: &str = "spark.sql.streaming.stateStore.encodingFormat";

/// What a restart comes to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restart {
    pub error: Option<ExecutionError>,
    /// What could not be compared, and why.
    pub open: Vec<String>,
    /// What was not compared, because neither the code nor the checkpoint says it: it holds unless somebody changed it by hand.
    pub assumed: Vec<String>,
}

/// Compares a flow with the checkpoint that it would resume from.
pub fn restart(analysis: &Analysis, analyzed: &AnalyzedFlow, held: &stored::Checkpoint) -> Restart {
    let mut outcome = Restart::default();
    let Some(pipeline) = analysis.workspace.pipelines.get(analyzed.pipeline) else { return outcome };
    let Some(flow) = pipeline.flows.get(analyzed.flow) else { return outcome };
    let mut known = true;
    analyzed.optimized.walk(&mut |plan| {
        if let Node::Opaque { function, inputs, .. } = &plan.node
            && inputs.is_empty()
        {
            known = false;
            outcome.open.push(format!("a part of the query is not known: {}", function.reason));
        }
    });
    let query = RestartedQuery { pipeline, flow, analyzed, held, behaviour: Behaviour::of(pipeline) };
    if let Some(error) = analyzed.errors.first() {
        outcome.error = Some(ExecutionError::new(&error.class, error.message.clone()));
    } else if known {
        outcome.error = query.compare(&mut outcome.open, &mut outcome.assumed).err();
    }
    outcome
}

struct RestartedQuery<'a> {
    pipeline: &'a Pipeline,
    flow: &'a Flow,
    analyzed: &'a AnalyzedFlow,
    held: &'a stored::Checkpoint,
    behaviour: Behaviour,
}

impl RestartedQuery<'_> {
    /// In the order in which `MicroBatchExecution` compares.
    fn compare(&self, open: &mut Vec<String>, assumed: &mut Vec<String>) -> Result<(), ExecutionError> {
        let session = self.session();
        let by_name = flag(&session, restart::SOURCE_EVOLUTION);
        let leaves: Vec<&Read> = self.analyzed.optimized.reads().into_iter().filter(|read| read.streaming).collect();
        let mut checkpoint = self.checkpoint(&leaves, by_name);
        restart::compare_sources(&checkpoint, leaves.len(), by_name, self.behaviour)?;
        let world = self.world(&leaves, &mut checkpoint, open, assumed);
        self.recover(&leaves, &checkpoint, &world, open)?;
        let effective = restart::configuration(&checkpoint, &session, self.behaviour);
        let operators = restart::stored_operators(&self.analyzed.signature.operators, &session, &effective);
        self.without_names(&mut checkpoint, &operators, open);
        let operators = if checkpoint.commits.is_empty() { written(&mut checkpoint, &operators) } else { operators };
        let compared = restart::compare_state(&checkpoint, &operators, &effective, self.behaviour);
        if compared.is_ok() && !checkpoint.commits.is_empty() {
            open.extend(uncompared(&checkpoint.operators, &operators));
        }
        compared
    }

    fn session(&self) -> BTreeMap<String, String> {
        let mut session = self.pipeline.configuration.clone();
        session.extend(self.flow.spark_conf.clone());
        session
    }

    /// The stored checkpoint in the engine's own types.
    fn checkpoint(&self, leaves: &[&Read], by_name: bool) -> Checkpoint {
        let mut checkpoint = Checkpoint::new(0);
        let first = |key: &str| self.first_entry(key);
        let leaf = |key: &str| -> Option<&Read> {
            let named = || leaves.iter().find(|read| by_name && read.name.as_deref() == Some(key));
            leaves.get(key.parse::<usize>().ok()?).or_else(named).copied()
        };
        for entry in &self.held.offsets {
            let convert =
                |key: &str, offset: Option<&StoredOffset>| Some(offset_of(&offset?.form, leaf(key), first(key)));
            let sources = match &entry.sources {
                StoredOffsets::ByPosition(_) => SourceOffsets::ByPosition(
                    entry.sources.iter().map(|(key, offset)| convert(&key, offset).flatten()).collect(),
                ),
                StoredOffsets::ByName(_) => SourceOffsets::ByName(
                    entry.sources.iter().map(|(key, offset)| (key.clone(), convert(&key, offset).flatten())).collect(),
                ),
            };
            let configuration = entry.configuration.clone();
            checkpoint.offsets.push(OffsetEntry { sources, watermark: entry.watermark, configuration });
        }
        checkpoint.commits = self.held.commits.iter().map(|commit| commit.next_watermark).collect();
        checkpoint.operators = self.held.operators.iter().map(|stored| stored.operator.clone()).collect();
        for (source, log) in &self.held.sources {
            let mut entries = Vec::new();
            for (number, files) in &log.files {
                let Some(at) = number.checked_sub(first(source)).and_then(|at| usize::try_from(at).ok()) else {
                    continue;
                };
                if at < MAX_ENTRIES {
                    entries.resize(entries.len().max(at + 1), Vec::new());
                    entries.iter_mut().skip(at).take(1).for_each(|entry: &mut Vec<String>| {
                        entry.extend(files.iter().map(|file| catalog::normalized(file)));
                    });
                }
            }
            checkpoint.source_logs.insert(source.clone(), SourceLog { entries, initial: None });
        }
        checkpoint
    }

    /// The entry of a source's list of files that the last batch but one ended with: what came earlier is not listed again.
    fn first_entry(&self, key: &str) -> u64 {
        let [before, _] = self.held.offsets.as_slice() else { return 0 };
        match before.sources.iter().find(|(name, _)| name == key).and_then(|(_, offset)| offset) {
            Some(StoredOffset { form: OffsetForm::Files { log }, .. }) => *log,
            _ => 0,
        }
    }

    /// The tables that the sources are, as far as they are known; the rest is taken from the checkpoint, and noted.
    fn world(
        &self,
        leaves: &[&Read],
        checkpoint: &mut Checkpoint,
        open: &mut Vec<String>,
        assumed: &mut Vec<String>,
    ) -> World {
        let mut world = World::default();
        for facts in &self.pipeline.sources {
            if facts.format.is_some() {
                world.define_source(facts, default_source_format(self.behaviour));
            }
        }
        for (position, read) in leaves.iter().enumerate() {
            let key = self.key(position, read, checkpoint);
            let offset = self.stored_offset(&key).map(|offset| &offset.form);
            let Target::Table(location) = catalog::target(self.pipeline, read) else { continue };
            if let Some(dataset) = self.own_format(read) {
                world.create(&location, dataset, Schema::unknown());
            } else if let Some(format) = offset.and_then(written_by) {
                // Neither the code nor a fact says what the table is.
                world.create(&location, format, Schema::unknown());
            } else {
                world.create(&location, TableFormat::named(default_source_format(self.behaviour)), Schema::unknown());
            }
            let identity = world.tables.get(&location).map_or(0, |table| table.identity);
            match offset {
                Some(OffsetForm::Delta { table, .. }) => {
                    assumed.push(format!("source {key} is still the Delta table with id {table}"));
                    for entry in &mut checkpoint.offsets {
                        same_table(entry, &key, identity);
                    }
                }
                Some(OffsetForm::Files { .. }) if !location.contains(':') && !location.starts_with('/') => {
                    // A table of a catalog without a known folder.
                    let files = checkpoint.source_logs.remove(&key).unwrap_or_default().entries;
                    let folder =
                        files.iter().flatten().next_back().and_then(|file| file.rsplit_once('/')).map(|(f, _)| f);
                    let name = location.rsplit(['/', '.']).next().unwrap_or(&location);
                    let lies =
                        folder.is_none_or(|folder| folder.rsplit('/').any(|part| part.eq_ignore_ascii_case(name)));
                    if !lies && self.own_format(read).is_some() {
                        // The catalog puts a table of the pipeline into a folder of its own name.
                        checkpoint.source_logs.insert(key, SourceLog { entries: files, initial: None });
                    } else if lies {
                        assumed.push(format!("source {key} still lies where its files were"));
                    } else {
                        let folder = folder.unwrap_or_default();
                        open.push(format!("whether source {key} is the folder {folder}, whose files were read"));
                    }
                }
                _ => {}
            }
        }
        world
    }

    /// How a table that a pipeline of the code writes is stored.
    fn own_format(&self, read: &Read) -> Option<TableFormat> {
        let (Source::Table(name) | Source::ChangeFeed(name)) = &read.source else { return None };
        let dataset = self.pipeline.dataset(name)?;
        Some(TableFormat::named(dataset.format.as_deref().unwrap_or(&self.pipeline.table_format)))
    }

    /// What a leaf's offset is kept under.
    fn key(&self, position: usize, read: &Read, checkpoint: &Checkpoint) -> String {
        let named = matches!(checkpoint.offsets.last(), Some(OffsetEntry { sources: SourceOffsets::ByName(_), .. }));
        match &read.name {
            Some(name) if named => name.clone(),
            _ => position.to_string(),
        }
    }

    fn stored_offset(&self, key: &str) -> Option<&StoredOffset> {
        self.held.last()?.sources.iter().find(|(name, _)| name == key)?.1
    }

    fn recover(
        &self,
        leaves: &[&Read],
        checkpoint: &Checkpoint,
        world: &World,
        open: &mut Vec<String>,
    ) -> Result<(), ExecutionError> {
        let empty = SourceLog::default();
        let last = checkpoint.offsets.len();
        for (position, read) in leaves.iter().enumerate() {
            let key = self.key(position, read, checkpoint);
            if self.stored_offset(&key).is_some_and(|offset| offset.form == OffsetForm::Other) {
                open.push(format!("the offset of source {key} is of a kind that is not known"));
                continue;
            }
            if let Target::Unknown(format) = catalog::target(self.pipeline, read) {
                open.push(format!("source {key} reads `{format}`, whose offsets are not known"));
                continue;
            }
            let offset = |entries: usize| -> Option<&Offset> {
                match &checkpoint.offsets.get(entries.checked_sub(1)?)?.sources {
                    SourceOffsets::ByPosition(offsets) => offsets.get(position)?.as_ref(),
                    SourceOffsets::ByName(offsets) => offsets.get(&key)?.as_ref(),
                }
            };
            let log = checkpoint.source_logs.get(&key).unwrap_or(&empty);
            let source = StreamSource::open(read, self.pipeline, world, false)?;
            source.recover(world, offset(last.saturating_sub(1)), offset(last), log)?;
        }
        Ok(())
    }

    /// Operators without metadata: their names cannot be compared.
    fn without_names(&self, checkpoint: &mut Checkpoint, new: &[StatefulOperator], open: &mut Vec<String>) {
        let older = self.held.last().is_some_and(|entry| !entry.configuration.contains_key(SINCE_OPERATOR_METADATA));
        for stored in self.held.operators.iter().filter(|stored| stored.metadata.is_none()) {
            let id = stored.operator.id;
            if !older && self.behaviour.keeps_operator_names() {
                open.push(format!("which operator {} was: its metadata is not there", stored.folder));
            }
            let name = new.iter().find(|operator| operator.id == id).map(|operator| operator.name.clone());
            let slot = checkpoint.operators.iter_mut().find(|operator| operator.id == id);
            if let (Some(slot), Some(name)) = (slot, name) {
                slot.name = name;
            }
        }
        if older && self.behaviour.keeps_operator_names() {
            // A list of names is compared only where one was written.
            checkpoint.operators.retain(|operator| new.iter().any(|other| other.id == operator.id));
        }
    }
}

/// Entries that one batch lists; Spark plans one a batch.
const MAX_ENTRIES: usize = 10_000;

fn flag(configuration: &BTreeMap<String, String>, key: &str) -> bool {
    configuration.get(key).is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// The format of the table that a source of this kind reads; none where it reads no table.
fn written_by(form: &OffsetForm) -> Option<TableFormat> {
    match form {
        OffsetForm::Files { .. } | OffsetForm::AutoLoader { .. } => Some(TableFormat::named("parquet")),
        OffsetForm::Delta { .. } => Some(TableFormat::Delta),
        OffsetForm::Iceberg { .. } => Some(TableFormat::Iceberg),
        OffsetForm::Kafka(_) => Some(TableFormat::Topic),
        OffsetForm::RateMicroBatch { .. } | OffsetForm::Long(_) | OffsetForm::Other => None,
    }
}

/// None where no form of the engine stands for it.
fn offset_of(form: &OffsetForm, leaf: Option<&Read>, first: u64) -> Option<Offset> {
    let loads_itself = leaf.is_some_and(|read| matches!(read.source, Source::Files { auto_loader: true, .. }));
    match form {
        OffsetForm::Files { log } => Some(Offset::Files { log: log.saturating_sub(first) }),
        OffsetForm::Delta { version, .. } => Some(Offset::Delta { table: 0, version: *version }),
        OffsetForm::Kafka(topics) => Some(Offset::Topics(topics.keys().map(|topic| (topic.clone(), 0)).collect())),
        OffsetForm::RateMicroBatch { offset } => Some(Offset::RateMicroBatch { offset: *offset }),
        OffsetForm::Long(offset) => Some(Offset::Rate { offset: *offset }),
        OffsetForm::Iceberg { snapshot, position, .. } => {
            let read = (u64::try_from(*snapshot).ok()).zip(u64::try_from(*position).ok());
            Some(Offset::Iceberg { snapshot: read })
        }
        // Auto Loader keeps its files elsewhere; to any other source its offset is foreign.
        OffsetForm::AutoLoader { .. } if loads_itself => Some(Offset::Files { log: 0 }),
        OffsetForm::AutoLoader { sequence } => Some(Offset::Rate { offset: *sequence }),
        OffsetForm::Other => None,
    }
}

fn same_table(entry: &mut OffsetEntry, key: &str, identity: u64) {
    let offset = match &mut entry.sources {
        SourceOffsets::ByPosition(offsets) => key.parse::<usize>().ok().and_then(|at| offsets.get_mut(at)),
        SourceOffsets::ByName(offsets) => offsets.get_mut(key),
    };
    if let Some(Some(Offset::Delta { table, .. })) = offset {
        *table = identity;
    }
}

/// Before the first commit nobody compares the operators, and a store whose schema was written is compared all the same.
fn written(checkpoint: &mut Checkpoint, new: &[StatefulOperator]) -> Vec<StatefulOperator> {
    let known: Vec<StatefulOperator> =
        new.iter().filter(|operator| checkpoint.operators.iter().any(|old| old.id == operator.id)).cloned().collect();
    checkpoint.operators.retain(|old| known.iter().any(|operator| operator.id == old.id));
    for (old, operator) in checkpoint.operators.iter_mut().zip(&known) {
        old.name = operator.name.clone();
    }
    if !known.is_empty() {
        checkpoint.commits.push(0);
    }
    known
}

/// State that was compared in part or not at all.
fn uncompared(old: &[StatefulOperator], new: &[StatefulOperator]) -> Vec<String> {
    let mut open = Vec::new();
    for operator in new {
        let Some(known) = old.iter().find(|known| known.id == operator.id) else { continue };
        // Variables of a processor may come and go.
        let by_variable = operator.name.starts_with("transformWithState");
        for store in &operator.stores {
            let name = format!("the state `{}` of operator {} ({})", store.store, operator.id, operator.name);
            match known.stores.iter().find(|other| other.store == store.store) {
                None if by_variable => {}
                None => open.push(format!("{name} is not in the checkpoint")),
                Some(other) if [store, other].into_iter().any(has_unknown_type) => {
                    open.push(format!("{name} has a type that is not known"));
                }
                Some(_) => {}
            }
        }
    }
    open
}

fn has_unknown_type(store: &StateStoreSchema) -> bool {
    [&store.key, &store.value]
        .into_iter()
        .any(|schema| !schema.complete || schema.fields.iter().any(|field| DataType::is_unknown(&field.data_type)))
}
