//! What Delta holds a script's write against before a row is written (`DeltaOptions`, `ImplicitMetadataOperation`, `DeltaLog`).

use super::{is_true, mismatch};
use crate::engine::error::ExecutionError;
use crate::model::{BatchWrite, MergeMatch, WriteApi, WriteOperation};
use std::collections::BTreeMap;

/// The write replaces the table's columns and layout by those of its rows; its rows replace all others.
pub fn replaces_schema(write: &BatchWrite) -> bool {
    let named = matches!(write.api, WriteApi::SaveAsTable | WriteApi::Save);
    let some_rows = write.replace_where.is_some() || is_dynamic(write);
    named && write.operation == WriteOperation::Overwrite && on(write, "overwriteschema") && !some_rows
}

fn is_dynamic(write: &BatchWrite) -> bool {
    write.options.get("partitionoverwritemode").is_some_and(|mode| mode.eq_ignore_ascii_case("dynamic"))
}

fn on(write: &BatchWrite, option: &str) -> bool {
    write.options.get(option).is_some_and(|value| is_true(value))
}

/// # Errors
/// `DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS`, `DELTA_METADATA_MISMATCH` (or, of an append to a named table, the catalog's own) for
/// another partitioning, `DELTA_CANNOT_MODIFY_APPEND_ONLY`.
pub fn check(
    write: &BatchWrite,
    key: &str,
    partition_by: &[String],
    properties: &BTreeMap<String, String>,
) -> Result<(), ExecutionError> {
    if write.options.contains_key("txnappid") != write.options.contains_key("txnversion") {
        let message = "both txnVersion and txnAppId must be specified for idempotent data frame writes";
        return Err(ExecutionError::new("DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS", message));
    }
    if properties.get("delta.appendOnly").is_some_and(|value| is_true(value)) && takes_rows_away(write) {
        let message = format!("{key} is configured to only allow appends");
        return Err(ExecutionError::new("DELTA_CANNOT_MODIFY_APPEND_ONLY", message));
    }
    check_partitioning(write, key, partition_by)
}

fn check_partitioning(write: &BatchWrite, key: &str, partition_by: &[String]) -> Result<(), ExecutionError> {
    let given = &write.partition_by;
    let names_layout = matches!(write.api, WriteApi::SaveAsTable | WriteApi::Save) && !given.is_empty();
    let same = given.len() == partition_by.len()
        && given.iter().zip(partition_by).all(|(given, known)| given.eq_ignore_ascii_case(known));
    if !names_layout || same || replaces_schema(write) {
        return Ok(());
    }
    // The catalog looks before Delta does.
    if write.api == WriteApi::SaveAsTable && write.operation == WriteOperation::Append {
        let message = "the provided partitioning or clustering columns do not match the existing table's";
        return Err(ExecutionError::new("IllegalArgumentException", message));
    }
    Err(mismatch(key, "the partition columns do not match those of the table"))
}

fn takes_rows_away(write: &BatchWrite) -> bool {
    match &write.operation {
        WriteOperation::Append
        | WriteOperation::ErrorIfExists
        | WriteOperation::Ignore
        | WriteOperation::Create { .. }
        | WriteOperation::DropTable { .. }
        | WriteOperation::Invalid { .. }
        | WriteOperation::Ddl(_) => false,
        WriteOperation::Merge(merge) => merge.clauses.iter().any(|clause| clause.when != MergeMatch::NotMatched),
        WriteOperation::Overwrite
        | WriteOperation::OverwritePartitions
        | WriteOperation::OverwriteWhere(_)
        | WriteOperation::ReplaceUsing(_)
        | WriteOperation::ReplaceOn(_)
        | WriteOperation::Replace
        | WriteOperation::Update { .. }
        | WriteOperation::Delete { .. }
        | WriteOperation::Truncate { .. }
        | WriteOperation::DropPartition { .. } => true,
    }
}
