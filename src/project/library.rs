//! The pipeline library: the modules it is imported from and what they offer.
//!
//! One list for everybody who must know a pipeline's Python: discovery, which decides by it whether a file defines a pipeline, and
//! the frontend, which follows the calls. The names are those of `pyspark.pipelines` (Spark's `python/pyspark/pipelines/api.py`) and
//! of Lakeflow's `dlt` module (docs.databricks.com, "Lakeflow Declarative Pipelines Python language reference").

/// Modules under which the library is imported.
pub const MODULES: &[&str] = &["pyspark.pipelines", "databricks.pipelines", "dlt"];

/// A module whose name another product uses too: what is used of it decides.
const SHARED_NAME: &str = "dlt";

/// What the library offers.
pub const MEMBERS: &[&str] = &[
    "append_flow",
    "apply_changes",
    "apply_changes_from_snapshot",
    "create_auto_cdc_flow",
    "create_auto_cdc_from_snapshot_flow",
    "create_sink",
    "create_streaming_live_table",
    "create_streaming_table",
    "create_table",
    "create_target_table",
    "create_view",
    "expect",
    "expect_all",
    "expect_all_or_drop",
    "expect_all_or_fail",
    "expect_or_drop",
    "expect_or_fail",
    "foreach_batch_sink",
    "materialized_view",
    "on_event_hook",
    "read",
    "readStream",
    "read_stream",
    "replace_flow",
    "sink",
    "table",
    "temporary_view",
    "update_flow",
    "view",
];

/// The part of a dotted path after the library's name; empty for the library itself.
pub fn member(path: &str) -> Option<&str> {
    MODULES.iter().find_map(|module| {
        let rest = path.strip_prefix(module)?;
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.') }
    })
}

/// The dotted paths that a file uses make it one of the pipeline library, not of another product with the same name.
///
/// Nothing else calls itself `pyspark.pipelines`. A file that imports `dlt` belongs to dltHub's library if all that it uses of it is
/// unknown to this one (`dlt.source`, `dlt.pipeline`, `dlt.sources.rest_api`).
pub fn is_used<'a>(paths: impl IntoIterator<Item = &'a str>) -> bool {
    let (mut imported, mut others) = (false, false);
    for path in paths {
        let Some(member) = member(path) else { continue };
        let name = member.split('.').next().unwrap_or_default();
        let shared = path == SHARED_NAME || path.strip_prefix(SHARED_NAME).is_some_and(|rest| rest.starts_with('.'));
        if !shared || name == "*" || MEMBERS.contains(&name) {
            return true;
        }
        imported |= name.is_empty();
        others |= !name.is_empty();
    }
    imported && !others
}
