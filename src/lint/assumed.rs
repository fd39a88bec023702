//! Tables that a script replaces by a part of their rows, and of which nothing else is known.
//!
//! Takes a job and the tables that are known; gives tables that must be there all the same. A script that keeps one day of its input
//! and overwrites a table with it is not the table's first writer: other days are there, which it may delete.

use super::data::{self, Named, Scenario};
use super::experiment::{same_name, target_name};
use super::limits::is_limited;
use super::script::{Placed, writes};
use super::tables::{KnownFrom, TableFacts};
use super::worlds::worlds;
use crate::engine::batch::{TableKind, Warehouse, run_job};
use crate::model::{Field, Job, Pipeline, WriteOperation, WriteTarget};

pub fn assumed(job: &Job, pipeline: &Pipeline, known: &[TableFacts]) -> Vec<TableFacts> {
    let mut found: Vec<TableFacts> = Vec::new();
    let is_known = |name: &str| known.iter().any(|table| same_name(&table.name, name));
    if !writes(job)
        .iter()
        .any(|placed| replaces(placed) && target_name(&placed.write.target).is_some_and(|n| !is_known(&n)))
    {
        return found;
    }
    for way in worlds(job) {
        let mut warehouse = Warehouse::new(&pipeline.table_format);
        let named = Named::of(&way);
        for table in known {
            table.create(&mut warehouse, data::input_rows(table, &named, Scenario::ExistingDay, false));
        }
        run_job(&way, &mut warehouse, pipeline.spark_version, 0);
        for placed in writes(&way).into_iter().filter(replaces) {
            let Some(name) = target_name(&placed.write.target) else { continue };
            let taken = is_known(&name) || found.iter().any(|table| same_name(&table.name, &name));
            let Some(contents) = warehouse.contents(&name).ok().filter(|_| !taken) else { continue };
            let fields = contents.rows.schema.fields;
            if is_limited(placed.write, &fields, &placed.write.partition_by) {
                found.push(table(&name, &placed, fields, pipeline));
            }
        }
    }
    found
}

/// It puts what it has in the place of all rows, or may.
fn replaces(placed: &Placed<'_>) -> bool {
    let by_name = !matches!(&placed.write.target, WriteTarget::Unknown(_));
    by_name
        && !placed.in_batch_function
        && (placed.replaces_all() || placed.write.operation == WriteOperation::OverwritePartitions)
}

fn table(name: &str, placed: &Placed<'_>, fields: Vec<Field>, pipeline: &Pipeline) -> TableFacts {
    let write = placed.write;
    let format = write.format.clone().unwrap_or_else(|| pipeline.table_format.clone());
    let kind = if matches!(format.as_str(), "delta" | "iceberg") { TableKind::Lake } else { TableKind::Files };
    TableFacts {
        folder: matches!(write.target, WriteTarget::Path(_)) && kind != TableKind::Lake,
        name: name.to_owned(),
        format,
        kind,
        schema: crate::model::Schema::new(fields),
        partition_by: write.partition_by.clone(),
        bucketed: write.bucket_by.is_some(),
        properties: Default::default(),
        file_a_row: false,
        known_from: KnownFrom::OwnWrites,
    }
}
