//! Offsets of sources, as each kind of source writes them.

use super::log::Fault;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// One line of the offset log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredOffset {
    pub text: String,
    pub form: OffsetForm,
}

/// What kind of source wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OffsetForm {
    /// `FileStreamSourceOffset`: entry of the checkpoint's own list of files.
    Files { log: u64 },
    /// `DeltaSourceOffset`. `version` and `index` are the next to read.
    Delta { table: String, version: u64, index: i64, starting: bool },
    /// `KafkaSourceOffset`: the next offset to read, by topic and partition.
    Kafka(BTreeMap<String, BTreeMap<u32, i64>>),
    /// `RatePerMicroBatchStreamOffset`.
    RateMicroBatch { offset: i64 },
    /// `LongOffset`: rate, socket and memory sources.
    Long(i64),
    /// `StreamingOffset` of Iceberg: the snapshot and the position in it; -1 before any.
    Iceberg { snapshot: i64, position: i64, scan_all_files: bool },
    /// Auto Loader: the number of the last file in its own log.
    AutoLoader { sequence: i64 },
    /// JSON of a source that is not known here.
    Other,
}

impl OffsetForm {
    /// For people.
    pub fn kind(&self) -> &'static str {
        match self {
            OffsetForm::Files { .. } => "files",
            OffsetForm::Delta { .. } => "delta",
            OffsetForm::Kafka(_) => "kafka",
            OffsetForm::RateMicroBatch { .. } => "rate-micro-batch",
            OffsetForm::Long(_) => "rate",
            OffsetForm::Iceberg { .. } => "iceberg",
            OffsetForm::AutoLoader { .. } => "auto-loader",
            OffsetForm::Other => "unknown",
        }
    }
}

/// A line of the log; `-` stands for a source that has given nothing yet.
pub fn parse_offset(line: &str) -> Result<Option<StoredOffset>, Fault> {
    let text = line.trim();
    if text == "-" {
        return Ok(None);
    }
    let json = super::log::json(text)?;
    Ok(Some(StoredOffset { text: text.to_owned(), form: form(&json) }))
}

/// Told by the fields that the source's own reader asks for.
fn form(json: &Json) -> OffsetForm {
    if let Some(number) = json.as_i64() {
        return OffsetForm::Long(number);
    }
    let Some(fields) = json.as_object() else { return OffsetForm::Other };
    let number = |name: &str| fields.get(name).and_then(Json::as_i64);
    let text = |name: &str| fields.get(name).and_then(Json::as_str);
    let unsigned = |name: &str| number(name).and_then(|value| u64::try_from(value).ok());
    if let (1, Some(log)) = (fields.len(), unsigned("logOffset")) {
        return OffsetForm::Files { log };
    }
    if let (Some(table), Some(version)) = (text("reservoirId"), unsigned("reservoirVersion")) {
        let starting = ["isStartingVersion", "isInitialSnapshot"];
        let starting = starting.iter().any(|name| fields.get(*name).and_then(Json::as_bool) == Some(true));
        return OffsetForm::Delta { table: table.to_owned(), version, index: number("index").unwrap_or(-1), starting };
    }
    if let (Some(snapshot), Some(position)) = (number("snapshot_id"), number("position")) {
        let scan_all_files = fields.get("scan_all_files").and_then(Json::as_bool) == Some(true);
        return OffsetForm::Iceberg { snapshot, position, scan_all_files };
    }
    if let (Some(offset), Some(_)) = (number("offset"), number("timestamp")) {
        return OffsetForm::RateMicroBatch { offset };
    }
    if let Some(sequence) = number("seqNum") {
        return OffsetForm::AutoLoader { sequence };
    }
    match kafka(fields) {
        Some(topics) => OffsetForm::Kafka(topics),
        None => OffsetForm::Other,
    }
}

/// Topics with numbers of partitions and offsets, and nothing else.
fn kafka(fields: &serde_json::Map<String, Json>) -> Option<BTreeMap<String, BTreeMap<u32, i64>>> {
    let topic = |partitions: &Json| -> Option<BTreeMap<u32, i64>> {
        let partitions = partitions.as_object().filter(|partitions| !partitions.is_empty())?;
        partitions.iter().map(|(partition, offset)| Some((partition.parse().ok()?, offset.as_i64()?))).collect()
    };
    let topics = fields.iter().map(|(name, partitions)| Some((name.clone(), topic(partitions)?)));
    topics.collect::<Option<BTreeMap<_, _>>>().filter(|topics| !topics.is_empty())
}
