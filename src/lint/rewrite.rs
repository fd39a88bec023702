//! The rewrite of a write that doubles or loses rows: replace the partitions that the input holds, in the table's own form.

use super::experiment::{same_name, target_name};
use super::settings::OVERWRITE_MODE;
use super::tables::TableFacts;
use crate::engine::batch::TableKind;
use crate::model::{self, BatchWrite, Job, Place, Step, StreamSink, WriteApi, WriteOperation, WriteTarget};

/// A script with another way to write, and the code of that way.
#[derive(Debug, Clone)]
pub struct Rewrite {
    pub job: Job,
    pub code: String,
}

/// How a table takes rows in the place of its partitions that they belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// `INSERT INTO … REPLACE USING (…)` of Delta: needs no setting, which SQL warehouses do not let a script make.
    ReplaceUsing,
    /// `writeTo(…).overwritePartitions()`.
    OverwritePartitions,
    /// `INSERT OVERWRITE`, `insertInto` under the session's dynamic mode.
    DynamicInsert,
    /// Files in partition folders, with the writer's own option.
    DynamicFolders,
}

fn way(job: &Job, table: &TableFacts) -> Way {
    let sql = job.path.ends_with(".sql");
    match table.kind {
        _ if table.folder => Way::DynamicFolders,
        TableKind::Lake if sql && table.format == "delta" => Way::ReplaceUsing,
        TableKind::Lake if !sql => Way::OverwritePartitions,
        TableKind::Lake | TableKind::Files | TableKind::Hive => Way::DynamicInsert,
    }
}

/// Partition-wise replacement for appends and overwrites of a partitioned table.
pub fn rewrite(job: &Job, target: &str, table: &TableFacts) -> Option<Rewrite> {
    if table.partition_by.is_empty() {
        return None;
    }
    let way = way(job, table);
    let mut changed = false;
    let mut steps = rewritten(&job.steps, target, (table, way), &mut changed);
    if way == Way::DynamicInsert {
        let value = Some("dynamic".to_owned());
        steps.insert(0, Step::Conf { key: OVERWRITE_MODE.to_owned(), value, place: Place::unknown() });
    }
    changed.then(|| Rewrite { job: Job { path: job.path.clone(), steps }, code: code(job, target, table, way) })
}

fn rewritten(steps: &[Step], target: &str, to: (&TableFacts, Way), changed: &mut bool) -> Vec<Step> {
    let own = |write: &BatchWrite| target_name(&write.target).is_some_and(|name| same_name(&name, target));
    steps
        .iter()
        .map(|step| match step {
            Step::Write(write) if own(write) => match replacement(write, to) {
                Some(new) => {
                    *changed = true;
                    Step::Write(Box::new(new))
                }
                None => step.clone(),
            },
            Step::Stream(stream) => match &stream.sink {
                StreamSink::ForeachBatch { batch, steps } => {
                    let mut stream = stream.clone();
                    let steps = rewritten(steps, target, to, changed);
                    stream.sink = StreamSink::ForeachBatch { batch: batch.clone(), steps };
                    Step::Stream(stream)
                }
                StreamSink::Append(_) => step.clone(),
            },
            Step::Branches { ways, place } => {
                let changed_way =
                    |own: &model::Way| model::Way { steps: rewritten(&own.steps, target, to, changed), ..own.clone() };
                Step::Branches { ways: ways.iter().map(changed_way).collect(), place: place.clone() }
            }
            Step::Call { steps } => Step::Call { steps: rewritten(steps, target, to, changed) },
            other => other.clone(),
        })
        .collect()
}

fn replacement(write: &BatchWrite, (table, way): (&TableFacts, Way)) -> Option<BatchWrite> {
    let plain = matches!(
        write.operation,
        WriteOperation::Append | WriteOperation::Overwrite | WriteOperation::Create { replace: true, .. }
    );
    if !plain || !write.partition.is_empty() {
        return None;
    }
    let mut new = BatchWrite { operation: WriteOperation::Overwrite, partition_by: Vec::new(), ..write.clone() };
    match way {
        Way::ReplaceUsing => {
            new.operation = WriteOperation::ReplaceUsing(table.partition_by.clone());
            new.api = WriteApi::Sql;
        }
        Way::OverwritePartitions => {
            new.operation = WriteOperation::OverwritePartitions;
            new.api = WriteApi::WriteTo;
        }
        Way::DynamicInsert => new.api = WriteApi::InsertInto,
        Way::DynamicFolders => {
            if matches!(&new.target, WriteTarget::Path(path) if path.contains('=')) {
                return None;
            }
            new.partition_by.clone_from(&table.partition_by);
            new.options.insert("partitionoverwritemode".to_owned(), "dynamic".to_owned());
        }
    }
    Some(new)
}

/// The same as code, in the script's language.
fn code(job: &Job, target: &str, table: &TableFacts, way: Way) -> String {
    let quoted: Vec<String> = table.partition_by.iter().map(|column| format!("\"{column}\"")).collect();
    match way {
        Way::ReplaceUsing => {
            format!("INSERT INTO {target} REPLACE USING ({})\nSELECT …;", table.partition_by.join(", "))
        }
        Way::OverwritePartitions => format!("df.writeTo(\"{target}\").overwritePartitions()"),
        Way::DynamicInsert if job.path.ends_with(".sql") => {
            format!("SET {OVERWRITE_MODE}=dynamic;\nINSERT OVERWRITE {target} SELECT …;")
        }
        Way::DynamicInsert => {
            format!(
                "spark.conf.set(\"{OVERWRITE_MODE}\", \"dynamic\")\ndf.write.mode(\"overwrite\").insertInto(\"{target}\")"
            )
        }
        Way::DynamicFolders => format!(
            "df.write.mode(\"overwrite\").option(\"partitionOverwriteMode\", \"dynamic\").partitionBy({}).{}(\"{target}\")",
            quoted.join(", "),
            table.format
        ),
    }
}
