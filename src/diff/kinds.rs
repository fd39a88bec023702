//! The registry of change kinds: what each means and which facts it carries beside the common ones.
//!
//! A rule's `change:` must be one of these ids, and its conditions and message may name only the facts listed here.

/// A kind of change.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub id: &'static str,
    pub about: &'static str,
    /// Names into [`FACTS`].
    pub facts: &'static [&'static str],
}

/// The kind with this id.
pub fn kind(id: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.id == id)
}

/// Kinds that one revision by itself has, and no comparison.
pub const OF_ONE_REVISION: &[&str] = &[
    "batch-write",
    "state-unbounded",
    "message-source-typed",
    "short-retention-unprotected",
    "change-commits-read",
    "once-flow-repeats",
    "nondeterministic-function",
    "sources-united",
    "data-loss-guard-off",
    "table-written-beside",
];

/// Kinds that a comparison has, and one revision too where it is compared with nothing.
pub const OF_EITHER: &[&str] = &[
    "misspelt-property",
    "resettable-dependency",
    "dataset-owned-twice",
    "name-collision",
    "unattended-refresh-added",
];

/// Facts that every change carries.
pub const COMMON: &[&str] = &[
    "platform",
    "spark_version",
    "pipeline",
    "pipeline_kind",
    "dataset",
    "dataset_kind",
    "table_format",
    "protected",
    "flow",
    "flow_kind",
    "output_mode",
    "merges_schema",
    "stateful",
    "watermarked",
    "aggregated",
    "function",
    "columns",
    "columns_before",
    "stream_sql",
    "stream_python",
    "table_sql",
    "table_python",
];

/// Every fact's name and meaning. A flag that is not set reads as false.
pub const FACTS: &[(&str, &str)] = &[
    ("help", "text: what makes a file readable again"),
    ("side", "text: where a file cannot be read: before, after or both"),
    ("platform", "text: lakeflow or spark"),
    ("spark_version", "text: Spark's version on platform spark, as 4.3; compare with at_least and below"),
    ("pipeline", "text: key of the pipeline"),
    ("pipeline_kind", "text: bundle, spark-pipeline, settings, folder or jobs"),
    ("dataset", "text: name of the dataset"),
    ("dataset_kind", "text: streaming-table, materialized-view, view, sink or table"),
    ("table_format", "text: format of the dataset's files, lower case"),
    ("protected", "flag: pipelines.reset.allowed is false before or after"),
    ("flow", "text: name of the flow"),
    ("flow_kind", "text: default, append, once, auto-cdc, auto-cdc-once, replace-where, replace-using or stream-job"),
    ("output_mode", "text: append, update or complete; flows of pipelines append"),
    ("merges_schema", "flag: a writer outside of pipelines adds columns that its table lacks (mergeSchema, autoMerge)"),
    ("stateful", "flag: the flow kept state before"),
    ("was", "the kind of dataset before, in words"),
    ("is", "the kind of dataset after, in words"),
    ("watermarked", "flag: the flow had a watermark before"),
    ("aggregated", "flag: the flow aggregated before"),
    ("columns", "text: the columns that the flow gives, as SQL lists them"),
    ("columns_before", "text: the same columns as a table filled before gives them, NULL for those it did not have"),
    ("stream_sql", "text: the source concerned, or the flow's first one, as a stream, in SQL"),
    ("stream_python", "text: the source concerned, or the flow's first one, as a stream, in Python"),
    ("table_sql", "text: the source concerned, or the flow's first one, as a table, in SQL"),
    ("table_python", "text: the source concerned, or the flow's first one, as a table, in Python"),
    ("before", "text or list: what stood there before"),
    ("after", "text or list: what stands there now"),
    ("added", "list: what came"),
    ("removed", "list: what went"),
    ("reordered", "flag: the same items in another order"),
    ("types_before", "list: Spark types before"),
    ("types_after", "list: Spark types after"),
    (
        "types_equal",
        "flag: number, order and types of the stored fields are the same, so no check at restart sees the change",
    ),
    ("types_known", "flag: all types on both sides are known"),
    ("upstream_of_state", "flag: rows pass here before they reach a stateful operator"),
    ("after_state", "flag: it applies to what a stateful operator gives (HAVING)"),
    ("operator", "text: Spark's name of the stateful operator"),
    ("operator_before", "text: the operator that was there"),
    ("first", "flag: the flow had no stateful operator before"),
    ("last", "flag: the flow has no stateful operator left"),
    ("sources_changed", "flag: the number of streaming sources changed as well"),
    ("column", "text: the column concerned"),
    ("format", "text: the format of the source, lower case"),
    ("type_before", "text: its Spark type before"),
    ("type_after", "text: its Spark type now"),
    ("conversion", "text: widened, narrowed, decimal-same-scale, struct-fields, incompatible or unknown"),
    ("delta_widening", "flag: Delta's type widening covers it"),
    ("widening_enabled", "flag: delta.enableTypeWidening or pipelines.enableTypeWidening is set"),
    ("column_mapping", "flag: delta.columnMapping.mode is set"),
    ("new_in_source", "flag: the source did not have the column before either"),
    ("declared", "flag: the definition lists its columns"),
    ("nondeterministic", "flag: the new expression gives other values every time"),
    ("source", "text: the source concerned"),
    ("source_before", "text: the source that was read before"),
    ("kind_before", "text: table, files, auto-loader, change-feed or the connector's format"),
    ("kind_after", "text: the same, now"),
    ("same_format", "flag: both are known to have one file format"),
    ("file_source", "flag: the source is read by Spark's file source"),
    ("position", "number: index of the source among the streaming leaves, from 0"),
    ("named", "flag: the flow's sources carry names (source evolution)"),
    ("joined", "flag: the source is one side of a stream-stream join"),
    ("self_union", "flag: the flow read this source before"),
    ("used", "flag: the query uses the column"),
    ("option", "text: the option's name"),
    ("setting", "text: the setting's name"),
    ("clause", "a clause of the definition, with the column that it belongs to"),
    ("class", "text: what the setting or option governs"),
    (
        "commit",
        "text: what a statement is to those who stream from its table: appends, deletes, changes, recreates or alters",
    ),
    ("reaction", "text: what a stream makes of it: goes-on, skips, resends or stops"),
    ("brings_rows", "flag: new rows come in the same commit"),
    ("reader", "text: where the stream is read, as path:line"),
    ("producer", "text: what writes change commits into the source"),
    ("cdc_target", "flag: the source is an AUTO CDC target or otherwise gets change commits"),
    ("direction", "text: longer or shorter"),
    ("aspect", "text: which part of it changed"),
    ("join_type_before", "text: join type before"),
    ("join_type_after", "text: join type now"),
    ("avro", "flag: state is encoded in Avro, and columns were only added"),
    ("store", "text: the state store concerned"),
    ("name_used", "flag: the new name stands in another definition as well"),
    ("case_only", "flag: only letter case differs"),
    ("default_before", "flag: it was the table's own query"),
    ("default_after", "flag: it is the table's own query"),
    ("other_flows", "flag: other flows write into the dataset"),
    ("read_before", "list: sources of the flow from which the table has been filled before"),
    ("taken_over", "list: flows that read on all that a flow read which is gone"),
    ("same_query", "flag: the query is as it was"),
    ("dataset_new", "flag: the dataset is new as well"),
    ("once", "flag: the flow runs one time"),
    ("once_flows", "list: once flows of the dataset"),
    ("edited", "list: which parts of the query changed"),
    ("readers", "list: datasets that read it"),
    ("datasets", "list: datasets concerned"),
    ("pipelines", "list: pipelines concerned"),
    ("private", "flag: not published to the catalog"),
    ("prevent_destroy", "flag: lifecycle.prevent_destroy is set"),
    ("keeps_data", "flag: cascade_on_destroy is false"),
    ("scheduled", "flag: it runs without anybody starting it"),
    ("code", "text: the function edited"),
    ("code_path", "text: the file it stands in"),
    ("far", "flag: the edited function stands in another file than the flow"),
    ("resolved", "flag: both sides are fully understood"),
    ("error_class", "text: error class that the engine would give"),
    ("error", "text: its message"),
    ("path", "text: the file that cannot be read"),
    ("file", "text: the file or folder of a checkpoint"),
    ("related", "flag: another flow of the same table has a checkpoint that nothing resumes from"),
    ("concerned", "text: the table or pipeline that stood there"),
    ("was_broken", "flag: the same error stood there before"),
    ("property", "text: name of the table property"),
    ("suggestion", "text: the known name nearest to it"),
    ("expectation", "text: name of the expectation"),
    ("action_before", "text: warn, drop row or fail update"),
    ("action_after", "text: the same, now"),
    ("reason", "text: why"),
    ("retention", "text: how far back the source can be read again"),
    ("rules", "list: the rules that ask for it"),
    ("upstream", "list: tables of the pipeline that it reads"),
    ("labels", "list: what two runs of a script showed (doubled, lost, error, …); empty where nothing was wrong"),
    ("observed", "flag: an engine ran the script"),
    (
        "operation",
        "text: append, overwrite, overwrite-partitions, overwrite-where, create, merge, delete, update or ddl",
    ),
    ("writer", "text: save, saveAsTable, insertInto, writeTo or sql"),
    ("partition_columns", "list: what the table is partitioned by"),
    ("partitioned", "flag: the table has partitions"),
    ("repeated", "flag: the write runs more than once in one run of the script"),
    ("parallel", "flag: another writer of the script runs at the same time"),
    ("guarded", "flag: every matched update of a MERGE has a condition"),
    ("deduplicated", "flag: the source of a MERGE has one row a key"),
    ("deleted_first", "flag: the script deletes rows of the table before it adds some"),
    ("in_batch_function", "flag: a foreachBatch function writes it"),
    ("session_mode", "text: partitionOverwriteMode of the session when the write runs, as the script sets it"),
    (
        "mode_elsewhere",
        "text: where partitionOverwriteMode is set to dynamic without holding for the write; else empty",
    ),
    (
        "empties",
        "flag: the statement itself says that every row goes (DROP TABLE, TRUNCATE, DELETE without a condition)",
    ),
    ("covered", "flag: no input row can lie outside of what a replacing predicate says"),
    ("logs", "flag: the rows tell of the run itself, and the script writes another table"),
    ("once_by_batch", "flag: a batch that comes again is known by its number (txnAppId and txnVersion)"),
    ("function", "text: the function concerned; in common facts the flow's name as a Python function may bear it"),
];

macro_rules! kinds {
    ($($id:literal: $about:literal [$($fact:literal),* $(,)?];)+) => {
        /// All kinds, by subject.
        pub const KINDS: &[Kind] = &[$(Kind { id: $id, about: $about, facts: &[$($fact),*] }),+];
    };
}

kinds! {
    // Scripts and pipelines as they are
    "batch-write": "a script writes a table in batch" ["labels", "observed", "operation", "writer", "partition_columns", "partitioned", "repeated", "parallel", "empties", "guarded", "deduplicated", "deleted_first", "in_batch_function", "session_mode", "mode_elsewhere", "covered", "logs", "once_by_batch", "nondeterministic", "error_class", "error", "function"];
    "state-unbounded": "an operator keeps state that no watermark ever ends" ["operator"];
    "message-source-typed": "a message source is read straight into a table with types or state" ["source", "operator"];
    "short-retention-unprotected": "a table can be reset though its source cannot be read again as far back" ["source", "retention"];
    "change-commits-read": "a stream reads a table that gets updates and deletes" ["source", "producer"];
    "once-flow-repeats": "a full refresh runs a once flow again beside the flows that read the same" ["source"];
    "nondeterministic-function": "a query gives other values every time it runs" ["function"];
    "sources-united": "several streaming sources share one flow and its checkpoint" ["source"];
    "table-written-beside": "a script writes a table that a pipeline owns" ["producer", "operation"];
    "name-collision": "two things of one pipeline have the same name" ["aspect", "concerned"];
    "data-loss-guard-off": "missing source data does not fail the update" ["source", "option", "after"];
    // Pipelines
    "pipeline-removed": "a pipeline is no longer defined" ["datasets", "prevent_destroy", "keeps_data"];
    "pipeline-key-renamed": "a pipeline's resource key changed and everything else is as it was" ["before", "after", "datasets", "prevent_destroy", "keeps_data"];
    "pipeline-renamed": "only a pipeline's display name changed" ["before", "after"];
    "storage-changed": "the root of checkpoints (and, on Lakeflow, of the pipeline) moved" ["before", "after", "prevent_destroy", "keeps_data"];
    "recreating-setting-changed": "a setting that the platform cannot change in place" ["setting", "before", "after", "prevent_destroy", "keeps_data"];
    "default-catalog-changed": "unqualified names now live in another catalog" ["before", "after", "datasets"];
    "default-schema-changed": "unqualified names now live in another schema" ["before", "after", "datasets"];
    "development-mode-changed": "development mode was switched" ["before", "after"];
    "edition-changed": "the product edition changed" ["before", "after", "removed"];
    "channel-changed": "the runtime channel changed" ["before", "after"];
    "deletion-guard-removed": "what kept the platform from deleting the pipeline's tables is gone" ["setting"];
    "ingestion-setting-changed": "a managed ingestion setting that decides what rows mean" ["setting", "class", "before", "after"];
    "unattended-refresh-added": "something now starts full refreshes by itself" ["setting", "scheduled"];
    "configuration-changed": "a configuration value that a checkpoint or a query depends on" ["setting", "class", "before", "after"];
    // Datasets
    "definition-unread": "a file of a pipeline cannot be read as it now is" ["path", "concerned", "error"];
    "file-unread": "a file cannot be read on one side, or is another one and on neither" ["path", "concerned", "error", "help", "side", "reason"];
    "dataset-removed": "a dataset is no longer defined" ["readers", "private"];
    "dataset-renamed": "a dataset has another name and the same content" ["before", "after", "readers"];
    "dataset-moved": "a dataset's definition moved to another pipeline" ["before", "after", "private", "once_flows"];
    "dataset-kind-changed": "streaming table, materialized view or view became another of these" ["before", "after", "was", "is"];
    "dataset-owned-twice": "two pipelines define one table" ["pipelines"];
    "partitioning-changed": "partition columns changed" ["before", "after", "added", "removed"];
    "clustering-changed": "clustering columns changed" ["before", "after", "added", "removed"];
    "partitioning-to-clustering": "partition columns were replaced by clustering" ["before", "after"];
    "clustering-to-partitioning": "clustering was replaced by partition columns" ["before", "after"];
    "table-format-changed": "the format of a table's files changed" ["before", "after"];
    "location-changed": "a table's LOCATION changed" ["before", "after"];
    "sink-option-changed": "where or how a sink writes" ["option", "before", "after"];
    "reset-protection-added": "pipelines.reset.allowed became false" [];
    "reset-protection-removed": "pipelines.reset.allowed is no longer false" ["setting"];
    "resettable-dependency": "a protected table reads a table of the pipeline that may be reset" ["upstream"];
    "misspelt-property": "a pipelines.* property that no platform knows" ["property", "suggestion"];
    "expectation-added": "an expectation came" ["expectation", "action_after"];
    "expectation-removed": "an expectation went" ["expectation", "action_before"];
    "expectation-changed": "an expectation's condition or action changed" ["expectation", "aspect", "before", "after", "action_before", "action_after"];
    // Flows
    "flow-added": "another flow writes into an existing dataset" ["other_flows", "once", "source", "read_before"];
    "flow-removed": "a flow no longer writes into a dataset that stays" ["other_flows", "once", "taken_over"];
    "flow-renamed": "a flow has another name, so its checkpoint is not found" ["before", "after", "case_only", "default_before", "default_after", "once", "name_used", "same_query"];
    "flow-target-changed": "a flow of the same name writes into another dataset" ["before", "after", "dataset_new"];
    "flow-kind-changed": "a flow became of another kind (append, once, AUTO CDC, replace)" ["before", "after"];
    "once-flow-edited": "a flow that has already run its one time was edited" ["edited"];
    "replace-where-changed": "the predicate of a REPLACE WHERE flow changed" ["before", "after"];
    "replace-using-changed": "keys or sequence of a REPLACE USING flow changed" ["before", "after", "aspect"];
    "checkpoint-location-changed": "a streaming query's checkpoint path changed" ["before", "after"];
    "output-mode-changed": "a streaming query's output mode changed" ["before", "after"];
    "write-target-changed": "a streaming query writes elsewhere on the same checkpoint" ["before", "after"];
    "checkpoint-refused": "a restart on the checkpoint as it is would fail" ["error_class", "error", "file"];
    "checkpoint-undecided": "the checkpoint does not say enough, or says something that is not known, to tell what a restart does" ["reason", "file"];
    "checkpoint-missing": "a flow that the code has and of which there is no checkpoint" ["related", "removed"];
    "checkpoint-orphaned": "a checkpoint that no flow of the code resumes from" ["file"];
    "checkpoint-differs": "what runs is not the revision that is compared with: its checkpoint says something else" ["error", "file"];
    "source-position-lost": "the source can no longer give what follows the checkpoint's offset" ["source", "before", "after", "file"];
    "flow-invalid": "the platform would reject the new query, even from nothing" ["error_class", "error", "was_broken"];
    // Sources
    "source-added": "another streaming source inside a query" ["source", "position", "named", "joined", "self_union"];
    "source-removed": "a streaming source inside a query is gone" ["source", "position", "named", "joined"];
    "source-replaced": "another table or connection is read in place of the old one" ["source", "source_before", "kind_before", "kind_after", "same_format", "file_source", "position"];
    "source-kind-changed": "another kind of source in the same place" ["source", "source_before", "kind_before", "kind_after", "file_source", "position"];
    "source-path-changed": "files are read from another path" ["source", "source_before", "file_source", "class"];
    "source-topics-changed": "topics, topic pattern or partitions of a message source" ["source", "option", "before", "after", "added", "removed"];
    "source-server-changed": "the message source's servers" ["source", "option", "before", "after"];
    "sources-reordered": "the same streaming sources in another order" ["before", "after", "same_format", "kind_before"];
    "source-recreated": "the source table was dropped and created anew" ["source", "before", "after"];
    "source-rewritten": "a script begins to change rows of the source, or makes it anew" ["source", "producer", "operation", "commit", "reaction", "option", "error_class", "brings_rows", "reader"];
    "source-format-changed": "the file format of a source changed" ["source", "before", "after", "file_source"];
    "source-renamed": "a source's own name changed where sources are matched by name" ["before", "after"];
    "static-reader-changed": "a table or files that are read whole are read otherwise: another version, other reader options" ["source", "edited", "before", "after"];
    "static-source-changed": "a table that is read whole (a lookup side) was exchanged, added or removed" ["before", "after", "added", "removed"];
    "start-option-changed": "where a source starts when there is no checkpoint" ["source", "option", "before", "after"];
    "rate-limit-changed": "how much one batch takes" ["source", "option", "before", "after"];
    "skip-change-commits-added": "updates and deletes of the source are now skipped" ["source", "option", "before", "after"];
    "skip-change-commits-removed": "updates and deletes of the source are no longer skipped" ["source", "option", "before", "after", "cdc_target", "producer"];
    "change-feed-toggled": "the source's change feed is read instead of its rows, or no longer" ["source", "option", "before", "after"];
    "schema-evolution-changed": "what a file source does with new columns" ["source", "option", "before", "after"];
    "schema-location-changed": "where a file source keeps the schema it has seen" ["source", "option", "before", "after"];
    "clean-source-changed": "whether source files are deleted or moved after reading" ["source", "option", "before", "after"];
    "data-loss-guard-changed": "whether missing source data fails the update" ["source", "option", "before", "after"];
    "event-time-order-changed": "whether the initial snapshot is read in event time order" ["source", "option", "before", "after"];
    "file-selection-changed": "which files under the path are read" ["source", "option", "before", "after"];
    "schema-change-permission-changed": "which changes of the source's schema are let through" ["source", "option", "before", "after"];
    "reader-option-changed": "how the source's bytes become rows" ["source", "option", "before", "after"];
    "source-column-added": "the source has another column" ["source", "format", "column", "type_after"];
    "source-column-dropped": "a column of the source is gone" ["source", "format", "column", "type_before", "used"];
    "source-column-retyped": "a column of the source has another type" ["source", "format", "column", "type_before", "type_after", "conversion", "used"];
    // State
    "stateful-operator-added": "an operator with state came" ["operator", "first", "sources_changed", "before", "after"];
    "stateful-operator-removed": "an operator with state went" ["operator", "last", "sources_changed", "before", "after"];
    "stateful-operator-replaced": "another operator with state in the same place" ["operator", "operator_before", "before", "after"];
    "stateful-operators-reordered": "the same stateful operators in another order" ["before", "after"];
    "dedup-keys-changed": "columns that deduplication compares" ["operator", "before", "after", "added", "removed", "reordered", "types_before", "types_after", "types_equal", "types_known"];
    "grouping-keys-changed": "what an aggregation groups by" ["operator", "before", "after", "added", "removed", "reordered", "types_before", "types_after", "types_equal", "types_known"];
    "aggregates-changed": "what an aggregation computes" ["operator", "before", "after", "added", "removed", "reordered", "types_before", "types_after", "types_equal", "types_known"];
    "window-changed": "length, slide or start of a time window" ["before", "after", "aspect"];
    "session-gap-changed": "the gap that ends a session" ["before", "after"];
    "join-keys-changed": "columns that a stream-stream join matches on" ["before", "after", "added", "removed", "reordered", "types_before", "types_after", "types_equal", "types_known"];
    "join-type-changed": "inner, outer or semi join" ["join_type_before", "join_type_after"];
    "join-condition-changed": "what a stream-stream join asks beside its keys" ["before", "after", "types_equal", "types_known", "aspect"];
    "join-state-changed": "columns that a stream-stream join keeps for either side" ["store", "before", "after", "added", "removed", "types_before", "types_after", "types_equal", "types_known"];
    "state-schema-changed": "columns of a user-defined state" ["operator", "store", "before", "after", "added", "removed", "types_known", "aspect", "avro"];
    "state-timeout-changed": "timeout or time mode of a user-defined state" ["operator", "before", "after", "types_equal"];
    "state-function-changed": "code that reads and writes a user-defined state" ["operator", "code", "code_path"];
    "limit-changed": "how many rows a stream may give in all" ["before", "after"];
    "state-types-changed": "types in a state store, for no reason that shows in the query itself" ["operator", "store", "types_before", "types_after"];
    "watermark-delay-changed": "how late a row may come" ["before", "after", "direction"];
    "watermark-column-changed": "the column a watermark is taken from" ["before", "after"];
    "watermark-added": "a watermark came" ["after"];
    "watermark-removed": "a watermark went" ["before"];
    // Rows and columns
    "filter-changed": "which rows pass" ["before", "after", "added", "removed", "upstream_of_state", "after_state"];
    "expression-changed": "how a column is computed" ["column", "before", "after", "nondeterministic"];
    "generator-changed": "explode and the like: how many rows come of one" ["before", "after"];
    "static-join-changed": "a join with a table that is read whole" ["before", "after", "aspect"];
    "code-changed": "code that no plan can show: a UDF or a function over frames" ["code", "code_path", "far", "upstream_of_state", "resolved"];
    "query-changed": "the query changed in a way that has no kind of its own" ["edited"];
    "clause-changed": "a clause of a definition that is kept as text: a generated column, a default, a collation, a constraint" ["clause", "before", "after"];
    "open-code-changed": "the code behind a query changed, and the query rests on values that are known only at run time" [];
    "query-unresolved": "one of the two queries could not be understood, so that what changed is not known" ["reason", "edited"];
    "materialized-view-changed": "the query of a materialized view" ["edited"];
    "column-added": "the query gives another column" ["column", "type_after", "nondeterministic", "declared", "new_in_source"];
    "column-dropped": "the query no longer gives a column" ["column", "type_before", "declared", "column_mapping"];
    "column-renamed": "a column has another name and the same content" ["before", "after", "column_mapping"];
    "column-case-changed": "a column's name differs in letter case" ["before", "after"];
    "column-retyped": "a column has another type" ["column", "type_before", "type_after", "conversion", "delta_widening", "widening_enabled"];
    "declared-schema-mismatch": "declared columns do not fit the query" ["error", "was_broken"];
    // AUTO CDC
    "cdc-keys-changed": "columns that identify a row of the target" ["before", "after", "added", "removed", "types_before", "types_after", "types_equal"];
    "cdc-scd-type-changed": "history kept, or no longer" ["before", "after"];
    "cdc-sequence-changed": "what orders changes" ["before", "after", "type_before", "type_after", "types_equal"];
    "cdc-track-history-changed": "columns whose change makes a new version" ["before", "after"];
    "cdc-deletes-changed": "which changes delete or truncate" ["before", "after", "aspect"];
    "cdc-columns-changed": "columns that are applied" ["before", "after"];
    "cdc-null-updates-changed": "whether nulls overwrite values" ["before", "after"];
    "cdc-second-flow": "several AUTO CDC flows write into one target" ["datasets"];
    // Derived from the claims of other rules
    "refresh-protected": "a table needs a full refresh and is protected from one" ["rules"];
    "update-stopped": "something is refused before any flow of the pipeline starts" ["rules", "error_class", "datasets"];
    "refresh-lossy": "a table needs a full refresh and its source cannot be read again whole" ["reason", "source", "retention", "rules"];
}

#[cfg(test)]
mod tests {
    use super::{COMMON, FACTS, KINDS};
    use std::collections::BTreeSet;

    #[test]
    fn kinds_are_unique_and_name_documented_facts() {
        let documented: BTreeSet<_> = FACTS.iter().map(|(name, _)| *name).collect();
        assert_eq!(documented.len(), FACTS.len());
        let ids: BTreeSet<_> = KINDS.iter().map(|kind| kind.id).collect();
        assert_eq!(ids.len(), KINDS.len());
        for fact in KINDS.iter().flat_map(|kind| kind.facts).chain(COMMON) {
            assert!(documented.contains(fact), "{fact} is not documented");
        }
    }

    #[test]
    fn every_documented_fact_is_carried_by_some_kind() {
        let carried: BTreeSet<_> = KINDS.iter().flat_map(|kind| kind.facts).chain(COMMON).collect();
        for (name, _) in FACTS {
            assert!(carried.contains(name), "{name} is carried by no kind");
        }
    }
}
