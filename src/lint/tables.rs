//! Which tables and folders a script works on: from `sources:`, from definitions in the repository.

use super::assumed::assumed;
use super::script::writes_into;
use crate::engine::Row;
use crate::engine::batch::{Definition, TableKind, Transform, Warehouse};
use crate::model::{
    BatchWrite, Field, Job, Pipeline, QualifiedName, Schema, SourceFacts, Step, WriteOperation, WriteTarget,
};
use std::collections::BTreeMap;

/// A table or folder that is there before the script runs.
#[derive(Debug, Clone)]
pub struct TableFacts {
    /// As scripts name it.
    pub name: String,
    pub format: String,
    pub kind: TableKind,
    /// Files under a path that no catalog knows.
    pub folder: bool,
    pub schema: Schema,
    pub partition_by: Vec<String>,
    pub bucketed: bool,
    pub properties: BTreeMap<String, String>,
    /// Rows go into one file each: what a stream reads file by file.
    pub file_a_row: bool,
    pub known_from: KnownFrom,
}

/// Who says that a table is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnownFrom {
    /// The script itself, which replaces rows of it by a part.
    OwnWrites,
    /// `sources:` of the configuration: it is there, with rows of its own.
    Configuration,
    /// `CREATE TABLE` in another script.
    Definition {
        path: String,
        /// Another script puts rows there.
        filled: bool,
    },
}

impl TableFacts {
    fn of_source(facts: &SourceFacts, pipeline: &Pipeline) -> Option<Self> {
        let format = facts.format.clone().unwrap_or_else(|| pipeline.table_format.clone());
        let provider = facts.other.get("provider").map(String::as_str);
        let kind = match (format.as_str(), provider) {
            ("delta" | "iceberg", _) => TableKind::Lake,
            ("hive", _) | (_, Some("hive")) => TableKind::Hive,
            _ => TableKind::Files,
        };
        let name = facts.path.clone().unwrap_or_else(|| facts.name.clone());
        Some(TableFacts {
            folder: name.contains('/') && kind != TableKind::Lake,
            name,
            format,
            kind,
            schema: in_order(facts.schema.clone()?, kind, &facts.partitioned_by),
            partition_by: facts.partitioned_by.clone(),
            bucketed: false,
            properties: facts.other.clone(),
            file_a_row: false,
            known_from: KnownFrom::Configuration,
        })
    }

    /// From `CREATE TABLE` with columns.
    fn of_definition(step: &Step, pipeline: &Pipeline, known_from: impl Fn(&str) -> KnownFrom) -> Option<Self> {
        let Step::Write(write) = step else { return None };
        let WriteOperation::Create { .. } = write.operation else { return None };
        let (WriteTarget::Table(name), Some(schema)) = (&write.target, &write.schema) else { return None };
        if write.query.is_some() || name.is_template() {
            return None;
        }
        let format = write.format.clone().unwrap_or_else(|| pipeline.table_format.clone());
        let lake = matches!(format.as_str(), "delta" | "iceberg");
        let kind = if lake { TableKind::Lake } else { TableKind::Files };
        let name = name.to_string();
        Some(TableFacts {
            known_from: known_from(&name),
            name,
            kind,
            format,
            folder: false,
            schema: in_order(schema.clone(), kind, &write.partition_by),
            partition_by: write.partition_by.clone(),
            bucketed: write.bucket_by.is_some(),
            properties: write.options.clone(),
            file_a_row: false,
        })
    }

    /// Creates it with these rows.
    pub fn create(&self, warehouse: &mut Warehouse, rows: Vec<Row>) {
        if self.folder {
            if self.file_a_row {
                warehouse.create_files(&self.name, &self.schema, rows);
            } else {
                warehouse.create_folder(&self.name, &self.partition_by, &self.schema, rows);
            }
            return;
        }
        let name = QualifiedName::parse(&self.name);
        let definition = Definition {
            kind: self.kind,
            format: self.format.clone(),
            schema: self.schema.clone(),
            partition_by: self.partition_by.iter().map(|text| Transform::parse(text)).collect(),
            bucketed: self.bucketed,
            location: format!("warehouse/{}", name.key()),
            properties: self.properties.clone(),
        };
        warehouse.create_table(&name, definition, rows);
    }
}

/// Columns in the order that the catalog keeps: of tables of files, partition columns stand last (`PartitioningUtils`).
fn in_order(schema: Schema, kind: TableKind, partition_by: &[String]) -> Schema {
    if kind == TableKind::Lake {
        return schema;
    }
    let at = |field: &Field| partition_by.iter().position(|name| name.eq_ignore_ascii_case(&field.name));
    let (mut last, first): (Vec<Field>, Vec<Field>) = schema.fields.into_iter().partition(|field| at(field).is_some());
    last.sort_by_key(at);
    Schema { fields: first.into_iter().chain(last).collect(), complete: schema.complete }
}

/// What is known of tables: `sources:` of the script's configuration first, then definitions that other scripts hold.
pub fn facts(job: &Job, pipeline: &Pipeline, jobs: &[&Job]) -> Vec<TableFacts> {
    let mut tables: Vec<TableFacts> =
        pipeline.sources.iter().filter_map(|facts| TableFacts::of_source(facts, pipeline)).collect();
    for other in jobs.iter().filter(|other| other.path != job.path) {
        let known_from = |name: &str| KnownFrom::Definition {
            path: other.path.clone(),
            filled: jobs.iter().any(|filler| filler.path != job.path && puts_rows(filler, name)),
        };
        for table in other.steps.iter().filter_map(|step| TableFacts::of_definition(step, pipeline, known_from)) {
            if !tables.iter().any(|known| known.name.eq_ignore_ascii_case(&table.name)) {
                tables.push(table);
            }
        }
    }
    tables.extend(assumed(job, pipeline, &tables));
    tables
}

fn puts_rows(job: &Job, table: &str) -> bool {
    let brings = |write: &BatchWrite| write.query.is_some() || matches!(write.operation, WriteOperation::Merge(_));
    writes_into(job, table).iter().any(|placed| placed.streamed || brings(placed.write))
}
