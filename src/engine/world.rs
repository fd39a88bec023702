//! Everything that outlives an update: tables, checkpoints, and the numbers given out so far.

use super::catalog::{PathPattern, source_location};
use super::checkpoint::Checkpoint;
use super::effort::Effort;
use super::expectation::NullCondition;
use super::table::{Record, Table, TableFormat};
use crate::model::{Schema, SourceFacts, Step};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct World {
    /// By location (see `catalog`).
    pub tables: BTreeMap<String, Table>,
    /// By the flow's identity: the path that Spark keeps the checkpoint under.
    pub checkpoints: BTreeMap<String, Checkpoint>,
    pub(super) next_identity: u64,
    /// Updates run so far; the clock of the engine.
    pub updates: u64,
    /// How expectations take a condition that is NULL: a reading of the platform, not kept with the rest.
    pub null_condition: NullCondition,
    /// What one run of a query may cost.
    pub effort: Effort,
    /// Tables whose columns a script has altered: a configuration says no longer what they are.
    pub altered: BTreeSet<String>,
    /// What functions of streaming queries do with a batch (`foreachBatch`), by checkpoint: code, not kept with the rest.
    pub functions: Functions,
}

/// A function of a streaming query.
#[derive(Debug, Clone)]
pub struct BatchFunction {
    /// The name under which its steps read the batch.
    pub batch: String,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, Default)]
pub struct Functions(pub Arc<BTreeMap<String, BatchFunction>>);

/// Two worlds differ by what they hold, not by the code that runs in them.
impl PartialEq for Functions {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Functions {}

impl World {
    pub fn new() -> Self {
        World::default()
    }

    /// An empty world in which expectations take NULL so.
    pub fn reading(null_condition: NullCondition) -> Self {
        World { null_condition, ..World::default() }
    }

    /// A number never given out before, for tables and queries.
    pub fn identity(&mut self) -> u64 {
        self.next_identity += 1;
        self.next_identity
    }

    /// Creates a table where there is none, and gives it.
    pub fn create(&mut self, location: &str, format: TableFormat, schema: Schema) -> &mut Table {
        let identity = self.next_identity + 1;
        let table = self.tables.entry(location.to_owned());
        if matches!(table, std::collections::btree_map::Entry::Vacant(_)) {
            self.next_identity = identity;
        }
        table.or_insert_with(|| Table::new(location.to_owned(), identity, format, schema))
    }

    /// Makes a source outside of the pipeline what these facts say: created where it is new; its files stay where only its
    /// schema or its name changes, as they do for external tables; another format is another table.
    pub fn define_source(&mut self, facts: &SourceFacts, default_format: &str) {
        let location = source_location(facts);
        let format = TableFormat::named(facts.format.as_deref().unwrap_or(default_format));
        let schema = facts.schema.clone().unwrap_or_else(Schema::unknown);
        if self
            .tables
            .get(&location)
            .is_some_and(|table| table.format != format && !(table.format.is_files() && format.is_files()))
        {
            self.tables.remove(&location);
        }
        let altered = self.altered.contains(&location);
        let table = self.create(&location, format.clone(), schema.clone());
        table.format = format;
        if !altered {
            table.set_schema(schema);
        }
        table.layout.partition_by.clone_from(&facts.partitioned_by);
    }

    /// Adds records to a source, as one file.
    pub fn load(&mut self, facts: &SourceFacts, batch: &str, records: Vec<Record>) {
        if let Some(table) = self.tables.get_mut(&source_location(facts)) {
            let name = format!("{batch}.{}", table.format.name());
            let pattern = PathPattern::new(facts.path.as_deref().unwrap_or(&facts.name));
            table.append_records(&pattern.file(&name), records);
        }
    }

    /// DROP TABLE: the files and their log go; checkpoints stay.
    pub fn drop_table(&mut self, location: &str) -> bool {
        self.tables.remove(location).is_some()
    }
}
