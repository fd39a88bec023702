//! Apache Spark in place of the mini engine: the user's own code, in a world that is gone after the run.

use super::{Ground, TableContents};
use crate::analyze::Analysis;
use crate::confirm::spark::{Run, World};
use crate::confirm::{Batch, NamedRow, NotRun, Reports, TableRows, Tables};
use crate::engine::{Record, UpdateKind, json};
use crate::model::{DataType, SourceFacts};
use std::collections::{BTreeMap, BTreeSet};

/// A world on a Spark server. The revisions of its [`Run`] are the codes, in their order.
pub struct OnSpark<'a, 'b, 'c> {
    run: &'a mut Run<'b, 'c>,
    world: &'a mut World,
    updates: u64,
    read: Tables,
}

impl<'a, 'b, 'c> OnSpark<'a, 'b, 'c> {
    pub fn new(run: &'a mut Run<'b, 'c>, world: &'a mut World) -> Self {
        OnSpark { run, world, updates: 0, read: Tables::new() }
    }
}

impl Ground for OnSpark<'_, '_, '_> {
    fn engine(&self) -> &'static str {
        "spark"
    }

    fn updates(&self) -> u64 {
        self.updates
    }

    fn define(&mut self, code: usize, _analysis: &Analysis, facts: &[SourceFacts]) -> Result<(), NotRun> {
        facts.iter().try_for_each(|facts| self.run.define(self.world, code, facts))
    }

    fn arrive(
        &mut self,
        code: usize,
        (batch, index): (&Batch, usize),
        facts: &[SourceFacts],
    ) -> Result<BTreeMap<String, usize>, NotRun> {
        self.run.load(self.world, code, facts, (batch, index + 1))
    }

    fn update(&mut self, code: usize, _analysis: &Analysis, kind: &UpdateKind) -> Result<Reports, NotRun> {
        let reports = self.run.update_all(self.world, code, kind)?;
        self.updates += 1;
        self.read = self.run.read(self.world)?;
        Ok(reports)
    }

    fn counts(&self) -> Option<BTreeMap<String, usize>> {
        let count = |table: &TableRows| table.all().values().sum();
        Some(self.read.iter().map(|(place, table)| (place.clone(), count(table))).collect())
    }

    fn tables(&mut self, locations: &BTreeSet<String>) -> Result<BTreeMap<String, TableContents>, NotRun> {
        let wanted = self.read.iter().filter(|(place, _)| locations.contains(*place));
        Ok(wanted.map(|(place, table)| (place.clone(), contents(table))).collect())
    }
}

fn contents(table: &TableRows) -> TableContents {
    let rows = table.all();
    let records = rows.iter().flat_map(|(row, count)| std::iter::repeat_n(record(row, table), *count));
    TableContents {
        name: String::new(),
        columns: table.columns.iter().map(|(name, _)| name.clone()).collect(),
        rows: records.collect(),
    }
}

fn record(row: &NamedRow, table: &TableRows) -> Record {
    let cell = |(name, data_type): &(String, DataType)| {
        let value = row.iter().find(|(column, _)| column.eq_ignore_ascii_case(name)).map(|(_, value)| value)?;
        Some((name.clone(), json(value, data_type)))
    };
    table.columns.iter().filter_map(cell).collect()
}
