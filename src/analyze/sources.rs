//! Columns that a reader gives by itself, whatever its data: Kafka's, rate sources', change feeds', file metadata.

use crate::model::{DataType, Field, Read, Schema, Source};

fn columns(list: &[(&str, DataType)]) -> Vec<Field> {
    list.iter().map(|(name, data_type)| Field::new(*name, data_type.clone())).collect()
}

/// The schema of a connector by its format (`KafkaSourceProvider`, `RateStreamProvider`, …; Databricks documents those of
/// kinesis, pubsub and pulsar). None where the format's columns hang on its data.
pub(super) fn connector_schema(read: &Read) -> Option<Schema> {
    let Source::Connector { format } = &read.source else { return None };
    let fields = match format.as_str() {
        "kafka" | "kafkashareable" => {
            let mut fields = columns(&[
                ("key", DataType::Binary),
                ("value", DataType::Binary),
                ("topic", DataType::String),
                ("partition", DataType::Int),
                ("offset", DataType::Long),
                ("timestamp", DataType::Timestamp),
                ("timestampType", DataType::Int),
            ]);
            if read.option("includeheaders").is_some_and(|v| v.eq_ignore_ascii_case("true")) {
                let header = DataType::Struct(columns(&[("key", DataType::String), ("value", DataType::Binary)]));
                fields.push(Field::new("headers", DataType::array(header)));
            }
            fields
        }
        "rate" | "rate-micro-batch" => columns(&[("timestamp", DataType::Timestamp), ("value", DataType::Long)]),
        "socket" => {
            let mut fields = columns(&[("value", DataType::String)]);
            if read.option("includetimestamp").is_some_and(|v| v.eq_ignore_ascii_case("true")) {
                fields.push(Field::new("timestamp", DataType::Timestamp));
            }
            fields
        }
        "kinesis" => columns(&[
            ("partitionKey", DataType::String),
            ("data", DataType::Binary),
            ("stream", DataType::String),
            ("shardId", DataType::String),
            ("sequenceNumber", DataType::String),
            ("approximateArrivalTimestamp", DataType::Timestamp),
        ]),
        "pubsub" => columns(&[
            ("messageId", DataType::String),
            ("payload", DataType::Binary),
            ("attributes", DataType::String),
            ("publishTimestampInMillis", DataType::Long),
        ]),
        _ => return None,
    };
    Some(Schema::new(fields))
}

/// Columns of text and binary files, which have a fixed schema.
pub(super) fn file_format_schema(format: &str) -> Option<Schema> {
    match format {
        "text" => Some(Schema::new(columns(&[("value", DataType::String)]))),
        "binaryfile" => Some(Schema::new(columns(&[
            ("path", DataType::String),
            ("modificationTime", DataType::Timestamp),
            ("length", DataType::Long),
            ("content", DataType::Binary),
        ]))),
        _ => None,
    }
}

/// Columns that Delta's change data feed adds to the table's (`CDCReader`).
pub(super) fn change_feed_columns() -> Vec<Field> {
    columns(&[
        ("_change_type", DataType::String),
        ("_commit_version", DataType::Long),
        ("_commit_timestamp", DataType::Timestamp),
    ])
}

/// True where an Auto Loader read adds `_rescued_data`: always, unless the reader is given a schema and no column for it.
pub(crate) fn rescued_column(read: &Read) -> Option<Field> {
    let name = read.option("rescueddatacolumn").or_else(|| read.option("cloudfiles.rescueddatacolumn"));
    match (name, &read.source) {
        (Some(name), _) => Some(Field::new(name, DataType::String)),
        (None, Source::Files { auto_loader: true, .. }) if read.schema.is_none() => {
            Some(Field::new("_rescued_data", DataType::String))
        }
        _ => None,
    }
}

/// `_metadata` of file sources (`FileFormat.METADATA_NAME`).
pub(super) fn file_metadata() -> DataType {
    DataType::Struct(vec![
        Field::not_null("file_path", DataType::String),
        Field::not_null("file_name", DataType::String),
        Field::not_null("file_size", DataType::Long),
        Field::not_null("file_block_start", DataType::Long),
        Field::not_null("file_block_length", DataType::Long),
        Field::not_null("file_modification_time", DataType::Timestamp),
    ])
}

/// Options that say how to reach a source, not what it gives (Auto Loader's and Kafka's documentation), or that name the source and
/// are compared as such.
const REACH: &[&str] = &[
    "path",
    "format",
    "usenotifications",
    "useincrementallisting",
    "usemanagedfileevents",
    "region",
    "queueurl",
    "backfillinterval",
    "allowoverwrites",
    "groupid",
    "groupidprefix",
    "kafka.group.id",
    "databricks.servicecredential",
    "servicecredential",
    "validateoptions",
];

/// Whether an option, by its lower-case name, says how to reach a source and not what it gives.
pub fn says_how_to_reach(option: &str) -> bool {
    REACH.contains(&option) || option.strip_prefix("cloudfiles.").is_some_and(|short| REACH.contains(&short))
}
