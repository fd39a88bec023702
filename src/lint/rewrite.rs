//! The rewrite of a write that doubles or loses rows: replace the partitions that the input holds, in the table's own form.

use super::experiment::{same_name, target_name};
use super::settings::OVERWRITE_MODE;
use super::tables::TableFacts;
use crate::engine::batch::TableKind;
use crate::model::{BatchWrite, Job, Place, Step, StreamSink, WriteApi, WriteOperation, WriteTarget};

/// A script with another way to write, and the code of that way.
#[derive(Debug, Clone)]
pub struct Rewrite {
    pub job: Job,
    pub code: String,
}

/// Partition-wise replacement for appends and overwrites of a partitioned table.
pub fn rewrite(job: &Job, target: &str, table: &TableFacts) -> Option<Rewrite> {
    if table.partition_by.is_empty() {
        return None;
    }
    let mut changed = false;
    let mut steps = rewritten(&job.steps, target, table, &mut changed);
    if table.kind == TableKind::Files && !table.folder {
        let value = Some("dynamic".to_owned());
        steps.insert(0, Step::Conf { key: OVERWRITE_MODE.to_owned(), value, place: Place::unknown() });
    }
    changed.then(|| Rewrite { job: Job { path: job.path.clone(), steps }, code: code(job, target, table) })
}

fn rewritten(steps: &[Step], target: &str, table: &TableFacts, changed: &mut bool) -> Vec<Step> {
    let own = |write: &BatchWrite| target_name(&write.target).is_some_and(|name| same_name(&name, target));
    steps
        .iter()
        .map(|step| match step {
            Step::Write(write) if own(write) => match replacement(write, table) {
                Some(new) => {
                    *changed = true;
                    Step::Write(Box::new(new))
                }
                None => step.clone(),
            },
            Step::Stream(stream) => match &stream.sink {
                StreamSink::ForeachBatch { batch, steps } => {
                    let mut stream = stream.clone();
                    let steps = rewritten(steps, target, table, changed);
                    stream.sink = StreamSink::ForeachBatch { batch: batch.clone(), steps };
                    Step::Stream(stream)
                }
                StreamSink::Append(_) => step.clone(),
            },
            other => other.clone(),
        })
        .collect()
}

fn replacement(write: &BatchWrite, table: &TableFacts) -> Option<BatchWrite> {
    let plain = matches!(
        write.operation,
        WriteOperation::Append | WriteOperation::Overwrite | WriteOperation::Create { replace: true, .. }
    );
    if !plain || !write.partition.is_empty() {
        return None;
    }
    let mut new = write.clone();
    new.operation = WriteOperation::Overwrite;
    if table.folder {
        if let WriteTarget::Path(path) = &new.target
            && path.contains('=')
        {
            return None;
        }
        new.partition_by.clone_from(&table.partition_by);
        new.options.insert("partitionoverwritemode".to_owned(), "dynamic".to_owned());
        return Some(new);
    }
    new.partition_by = Vec::new();
    match table.kind {
        TableKind::Lake => {
            new.operation = WriteOperation::OverwritePartitions;
            new.api = WriteApi::WriteTo;
        }
        TableKind::Files | TableKind::Hive => new.api = WriteApi::InsertInto,
    }
    Some(new)
}

/// The same as code, in the script's language.
fn code(job: &Job, target: &str, table: &TableFacts) -> String {
    let columns: Vec<String> = table.partition_by.iter().map(|column| format!("\"{column}\"")).collect();
    let columns = columns.join(", ");
    let sql = job.path.ends_with(".sql");
    match (sql, table.folder, table.kind) {
        (true, _, TableKind::Lake) => {
            format!("SET {OVERWRITE_MODE}=dynamic;\nINSERT OVERWRITE {target} SELECT …;")
        }
        (true, ..) => format!("SET {OVERWRITE_MODE}=dynamic;\nINSERT OVERWRITE {target} SELECT …;"),
        (false, true, _) => format!(
            "df.write.mode(\"overwrite\").option(\"partitionOverwriteMode\", \"dynamic\").partitionBy({columns}).{}(\"{target}\")",
            table.format
        ),
        (false, false, TableKind::Lake) => format!("df.writeTo(\"{target}\").overwritePartitions()"),
        (false, false, _) => {
            format!(
                "spark.conf.set(\"{OVERWRITE_MODE}\", \"dynamic\")\ndf.write.mode(\"overwrite\").insertInto(\"{target}\")"
            )
        }
    }
}
