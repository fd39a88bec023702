//! A witness: the source rows that show an effect, and the table with and without the change's history.

use super::data::Data;
use super::engine::{Multiset, NamedRow, Outcome, minus, rows_of};
use super::sources::SourceSet;
use crate::engine::{Record, json, ordered};
use crate::model::DataType;
use serde_json::Value as Json;
use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq)]
pub struct Witness {
    /// Sources with rows, by name.
    pub sources: Vec<WitnessSource>,
    /// Columns of the table.
    pub columns: Vec<String>,
    /// The table as it will be.
    pub resumed: Vec<WitnessRow>,
    /// The table as a full refresh would make it.
    pub full_refresh: Vec<WitnessRow>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct WitnessSource {
    pub name: String,
    /// Rows by batch: those that BEFORE saw, then those that AFTER sees.
    pub batches: Vec<Vec<Record>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct WitnessRow {
    pub record: Record,
    /// The other table has no such row.
    pub differs: bool,
    /// Columns that differ from the nearest row of the other table; all columns where there is none.
    pub cells: Vec<String>,
}

impl Witness {
    pub fn of(set: &SourceSet, data: &Data, outcome: &Outcome, location: &str) -> Self {
        let columns = columns(outcome, location);
        let rows = |tables| rows_of(tables, location, None).unwrap_or_default();
        let (resumed, control) = (rows(&outcome.resumed), rows(&outcome.control_end));
        let (extra, missing) = (minus(&resumed, &control), minus(&control, &resumed));
        Witness {
            sources: witness_sources(set, data),
            resumed: marked(&resumed, &extra, &missing, &columns),
            full_refresh: marked(&control, &missing, &extra, &columns),
            columns,
        }
    }

    /// Source rows in all.
    pub fn rows(&self) -> usize {
        self.sources.iter().flat_map(|source| &source.batches).map(Vec::len).sum()
    }
}

fn witness_sources(set: &SourceSet, data: &Data) -> Vec<WitnessSource> {
    let mut sources = Vec::new();
    for facts in set.merged() {
        let fields = facts.schema.as_ref().map(|schema| schema.fields.clone()).unwrap_or_default();
        let rows = |batch: &super::data::Batch| -> Vec<Record> {
            batch
                .rows(&facts.name)
                .map(|rows| rows.iter().map(|row| ordered(row, &fields)).collect())
                .unwrap_or_default()
        };
        let batches: Vec<Vec<Record>> = data.batches.iter().map(rows).collect();
        if batches.iter().any(|batch| !batch.is_empty()) {
            sources.push(WitnessSource { name: facts.name.clone(), batches });
        }
    }
    sources.sort_by(|a, b| a.name.cmp(&b.name));
    sources
}

/// Columns of the table in the order of the resumed one's schema, then those that only the control has.
fn columns(outcome: &Outcome, location: &str) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for tables in [&outcome.resumed, &outcome.control_end] {
        for (column, _) in tables.get(location).iter().flat_map(|table| &table.columns) {
            if !columns.iter().any(|known| known.eq_ignore_ascii_case(column)) {
                columns.push(column.clone());
            }
        }
    }
    columns
}

fn marked(rows: &Multiset, only: &Multiset, other: &Multiset, columns: &[String]) -> Vec<WitnessRow> {
    let mut partners: Vec<&NamedRow> = other.keys().collect();
    let mut marked = Vec::new();
    for (row, count) in rows {
        let different = only.get(row).copied().unwrap_or(0);
        for copy in 0..*count {
            let differs = copy < different;
            let cells = if differs { differing_cells(row, &mut partners, columns) } else { Vec::new() };
            marked.push(WitnessRow { record: shown(row, columns), differs, cells });
        }
    }
    marked
}

/// Cells in which a row differs from the row of the other table that is nearest to it; that row is then taken.
fn differing_cells(row: &NamedRow, partners: &mut Vec<&NamedRow>, columns: &[String]) -> Vec<String> {
    let different = |other: &NamedRow| -> Vec<String> {
        let cell =
            |row: &NamedRow, name: &str| row.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.clone());
        columns.iter().filter(|name| cell(row, name) != cell(other, name)).cloned().collect()
    };
    let nearest =
        partners.iter().enumerate().map(|(at, other)| (different(other), at)).min_by_key(|(cells, _)| cells.len());
    match nearest {
        Some((cells, at)) if cells.len() < columns.len() => {
            partners.remove(at);
            cells
        }
        _ => columns.to_vec(),
    }
}

fn shown(row: &NamedRow, columns: &[String]) -> Record {
    let known: BTreeSet<&str> = row.iter().map(|(name, _)| name.as_str()).collect();
    let value = |name: &String| {
        let found = row.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map_or(Json::Null, |(_, value)| json(value, &DataType::Unknown))
    };
    let mut record: Record = columns.iter().map(|name| (name.clone(), value(name))).collect();
    for name in known.iter().filter(|name| !columns.iter().any(|column| column.eq_ignore_ascii_case(name))) {
        record.insert((*name).to_owned(), value(&(*name).to_owned()));
    }
    record
}
