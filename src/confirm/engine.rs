//! What the experiment asks of an engine, and what it hears back: the same from the mini engine and from Apache Spark.

use super::data::Data;
use super::experiment::Experiment;
use super::scripts::Unwritten;
use crate::engine::UpdateReport;
use crate::model::{DataType, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Something that can run both revisions of a set of pipelines on rows.
pub trait Engine: Sync {
    /// As reports name it.
    fn name(&self) -> &'static str;

    /// Runs BEFORE on batch 1, AFTER on the rest with the same checkpoints, and AFTER from nothing on all of it.
    ///
    /// # Errors
    /// The experiment could not be made at all; a flow that fails is part of the outcome.
    fn run(&self, experiment: &Experiment<'_>, data: &Data) -> Result<Outcome, NotRun>;
}

/// Why an experiment could not be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotRun {
    pub reason: String,
}

impl fmt::Display for NotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for NotRun {}

/// Reports of one update by pipeline, in the order of the workspace.
pub type Reports = Vec<UpdateReport>;

/// A row by column name in lower case, NULLs left out: a column that is missing and one that is NULL are the same to a reader.
pub type NamedRow = Vec<(String, Value)>;

/// How often each row stands in a table.
pub type Multiset = BTreeMap<NamedRow, usize>;

/// Tables by location (see `engine::catalog`).
pub type Tables = BTreeMap<String, TableRows>;

/// What every flow did, and the tables that flows of either revision write at the moments of the experiment.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    pub before: Reports,
    /// Updates of AFTER on the checkpoints of BEFORE, one after the other.
    pub after: Vec<Reports>,
    /// Updates of AFTER from nothing, one a batch.
    pub control: Vec<Reports>,
    /// Identities (`engine::identity`) of the flows that have a checkpoint after BEFORE.
    pub checkpoints: BTreeSet<String>,
    pub resumed_batch_1: Tables,
    /// The same rows under the columns that their tables have in the end.
    pub resumed_batch_1_now: Tables,
    pub resumed: Tables,
    pub control_batch_1: Tables,
    pub control_end: Tables,
    /// Tables that a script of the repository writes and this engine could not run.
    pub unwritten: Unwritten,
    /// Locations that functions of streaming queries write, by checkpoint, where this engine runs them.
    pub functions: BTreeMap<String, BTreeSet<String>>,
}

impl Outcome {
    /// Tells whose a row is where this engine keeps no account of it, and another, on the same rows of the same experiment, has
    /// the same table: then its account holds here too.
    pub fn attribute(&mut self, told: &Outcome) {
        let moments = [
            (&mut self.resumed_batch_1, &told.resumed_batch_1),
            (&mut self.resumed_batch_1_now, &told.resumed_batch_1_now),
            (&mut self.resumed, &told.resumed),
            (&mut self.control_batch_1, &told.control_batch_1),
            (&mut self.control_end, &told.control_end),
        ];
        for (tables, known) in moments {
            for (location, table) in tables {
                if let WrittenRows::ByAnyone(rows) = &table.rows
                    && let Some(known) = known.get(location).filter(|known| known.all() == *rows)
                {
                    table.rows = known.rows.clone();
                }
            }
        }
    }
}

/// A table as a reader sees it at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableRows {
    /// Names as the table spells them, in its order, with their types.
    pub columns: Vec<(String, DataType)>,
    pub rows: WrittenRows,
}

/// Rows, with the flows that wrote them as far as the engine can tell.
#[derive(Debug, Clone, PartialEq)]
pub enum WrittenRows {
    /// By the name of the flow; rows that no flow wrote stand under none.
    ByFlow(BTreeMap<Option<String>, Multiset>),
    ByAnyone(Multiset),
}

impl Default for WrittenRows {
    fn default() -> Self {
        WrittenRows::ByAnyone(Multiset::new())
    }
}

impl TableRows {
    /// All rows, whoever wrote them.
    pub fn all(&self) -> Multiset {
        match &self.rows {
            WrittenRows::ByAnyone(rows) => rows.clone(),
            WrittenRows::ByFlow(flows) => flows.values().fold(Multiset::new(), plus),
        }
    }

    /// The rows of one flow; none where the engine cannot tell them from others.
    pub fn of_flow(&self, flow: &str) -> Option<Multiset> {
        match &self.rows {
            WrittenRows::ByAnyone(rows) => rows.is_empty().then(Multiset::new),
            WrittenRows::ByFlow(flows) => Some(flows.get(&Some(flow.to_owned())).cloned().unwrap_or_default()),
        }
    }
}

/// Rows of a table that may not be there, those of one flow or all; none where the engine cannot tell a flow's rows.
pub fn rows_of(tables: &Tables, location: &str, flow: Option<&str>) -> Option<Multiset> {
    let Some(table) = tables.get(location) else { return Some(Multiset::new()) };
    match flow {
        Some(flow) => table.of_flow(flow),
        None => Some(table.all()),
    }
}

/// Both, counted together.
pub fn plus(mut sum: Multiset, more: &Multiset) -> Multiset {
    for (row, count) in more {
        *sum.entry(row.clone()).or_insert(0) += count;
    }
    sum
}

/// Rows of `a` that `b` lacks, counted.
pub fn minus(a: &Multiset, b: &Multiset) -> Multiset {
    a.iter()
        .filter_map(|(row, count)| {
            let left = count.saturating_sub(b.get(row).copied().unwrap_or(0));
            (left > 0).then(|| (row.clone(), left))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(ids: &[i32]) -> Multiset {
        ids.iter().map(|id| (vec![("id".to_owned(), Value::Int(*id))], 1)).collect()
    }

    #[test]
    fn a_flow_s_rows_are_known_only_where_the_engine_tells_them() {
        let flows = BTreeMap::from([(Some("a".to_owned()), rows(&[1])), (Some("b".to_owned()), rows(&[1, 2]))]);
        let told = TableRows { columns: vec![("id".to_owned(), DataType::Int)], rows: WrittenRows::ByFlow(flows) };
        assert_eq!(told.of_flow("b"), Some(rows(&[1, 2])));
        assert_eq!(told.of_flow("c"), Some(Multiset::new()));
        assert_eq!(told.all().values().sum::<usize>(), 3);
        let untold = TableRows { rows: WrittenRows::ByAnyone(rows(&[1])), ..told };
        assert_eq!(untold.of_flow("a"), None);
        assert_eq!(rows_of(&Tables::new(), "warehouse/t", Some("a")), Some(Multiset::new()));
    }

    #[test]
    fn another_engine_s_account_of_flows_holds_where_its_table_is_the_same() {
        let by_flow = BTreeMap::from([(Some("a".to_owned()), rows(&[1])), (Some("b".to_owned()), rows(&[2]))]);
        let table = |rows: WrittenRows| TableRows { columns: Vec::new(), rows };
        let at = |name: &str, rows: WrittenRows| Tables::from([(name.to_owned(), table(rows))]);
        let told = Outcome {
            resumed: at("t", WrittenRows::ByFlow(by_flow.clone())),
            control_end: at("t", WrittenRows::ByFlow(by_flow)),
            ..Outcome::default()
        };
        let mut outcome = Outcome {
            resumed: at("t", WrittenRows::ByAnyone(rows(&[1, 2]))),
            control_end: at("t", WrittenRows::ByAnyone(rows(&[1, 2, 3]))),
            ..Outcome::default()
        };
        outcome.attribute(&told);
        assert_eq!(rows_of(&outcome.resumed, "t", Some("b")), Some(rows(&[2])));
        assert_eq!(rows_of(&outcome.control_end, "t", Some("b")), None);
    }
}
