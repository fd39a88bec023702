//! A world as JSON, so that a later run can go on where an earlier one ended. Values carry their type; columns are written in
//! Spark's own schema format.

use super::checkpoint::{Checkpoint, Offset, OffsetEntry, SourceLog, SourceOffsets};
use super::persist_value::{read_row, read_schema, row, schema};
use super::state::StateStores;
use super::table::{CdcProperties, Commit, CommitKind, Content, DataFile, Table, TableFormat};
use super::world::World;
use crate::model::{Layout, Place, StateStoreSchema, StatefulOperator};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Grows when the form changes in a way that older readers cannot read.
const FORMAT: u64 = 1;

/// Why a saved world cannot be read: what is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersistError(pub String);

pub(super) type Read<T> = Result<T, PersistError>;

pub(super) fn wrong<T>(what: &str) -> Read<T> {
    Err(PersistError(format!("the saved state is not understood: {what}")))
}

impl std::fmt::Display for PersistError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PersistError {}

impl World {
    pub fn to_json(&self) -> Json {
        json!({
            "format": FORMAT,
            "next_identity": self.next_identity,
            "updates": self.updates,
            "tables": self.tables.values().map(table).collect::<Vec<_>>(),
            "checkpoints": self.checkpoints.iter().map(|(key, each)| (key.clone(), checkpoint(each))).collect::<Map<_, _>>(),
        })
    }

    /// # Errors
    /// A form that this version does not write.
    pub fn from_json(saved: &Json) -> Read<World> {
        if number(saved, "format")? != FORMAT {
            return wrong("another version wrote it");
        }
        let mut world = World::new();
        world.next_identity = number(saved, "next_identity")?;
        world.updates = number(saved, "updates")?;
        for each in list(saved, "tables")? {
            let table = read_table(each)?;
            world.tables.insert(table.location.clone(), table);
        }
        for (key, each) in object(saved, "checkpoints")? {
            world.checkpoints.insert(key.clone(), read_checkpoint(each)?);
        }
        Ok(world)
    }
}

pub(super) fn number(json: &Json, key: &str) -> Read<u64> {
    json.get(key).and_then(Json::as_u64).map_or_else(|| wrong(key), Ok)
}

pub(super) fn text<'a>(json: &'a Json, key: &str) -> Read<&'a str> {
    json.get(key).and_then(Json::as_str).map_or_else(|| wrong(key), Ok)
}

pub(super) fn list<'a>(json: &'a Json, key: &str) -> Read<&'a Vec<Json>> {
    json.get(key).and_then(Json::as_array).map_or_else(|| wrong(key), Ok)
}

fn object<'a>(json: &'a Json, key: &str) -> Read<&'a Map<String, Json>> {
    json.get(key).and_then(Json::as_object).map_or_else(|| wrong(key), Ok)
}

fn texts(json: &Json, key: &str) -> Read<Vec<String>> {
    let text = |item: &Json| item.as_str().map_or_else(|| wrong(key), |text| Ok(text.to_owned()));
    list(json, key)?.iter().map(text).collect()
}

fn strings(json: &Json, key: &str) -> Read<BTreeMap<String, String>> {
    let pair = |(name, value): (&String, &Json)| {
        value.as_str().map_or_else(|| wrong(key), |text| Ok((name.clone(), text.to_owned())))
    };
    object(json, key)?.iter().map(pair).collect()
}

fn key_number(key: &str) -> Read<u64> {
    key.parse().map_or_else(|_| wrong(key), Ok)
}

fn table(table: &Table) -> Json {
    json!({
        "location": table.location,
        "identity": table.identity,
        "format": table.format.name(),
        "schema": schema(&table.schema),
        "partition_by": table.layout.partition_by,
        "cluster_by": table.layout.cluster_by,
        "cluster_by_auto": table.layout.cluster_by_auto,
        "properties": table.properties,
        "commits": table.commits.iter().map(commit).collect::<Vec<_>>(),
        "next_version": table.next_version,
        "expired": table.expired,
        "detached": table.detached,
        "sink_log": table.sink_log.iter().map(|(batch, paths)| (batch.to_string(), json!(paths))).collect::<Map<_, _>>(),
        "transactions": table.transactions.iter().map(|(query, batch)| (query.to_string(), json!(batch))).collect::<Map<_, _>>(),
        "cdc": table.cdc.as_ref().map(cdc),
    })
}

fn read_table(json: &Json) -> Read<Table> {
    let mut table = Table::new(
        text(json, "location")?.to_owned(),
        number(json, "identity")?,
        TableFormat::named(text(json, "format")?),
        read_schema(json.get("schema").unwrap_or(&Json::Null))?,
    );
    table.layout = Layout {
        partition_by: texts(json, "partition_by")?,
        cluster_by: texts(json, "cluster_by")?,
        cluster_by_auto: json.get("cluster_by_auto").and_then(Json::as_bool).unwrap_or(false),
    };
    table.properties = strings(json, "properties")?;
    table.commits = list(json, "commits")?.iter().map(read_commit).collect::<Read<_>>()?;
    table.next_version = number(json, "next_version")?;
    table.expired = list(json, "expired")?.iter().filter_map(Json::as_u64).collect();
    table.detached = list(json, "detached")?.iter().filter_map(Json::as_u64).collect();
    for (batch, _) in object(json, "sink_log")? {
        let paths = texts(json.get("sink_log").unwrap_or(&Json::Null), batch)?;
        table.sink_log.insert(key_number(batch)?, paths);
    }
    for (query, batch) in object(json, "transactions")? {
        let part = |at: usize| batch.get(at).and_then(Json::as_u64).map_or_else(|| wrong("transactions"), Ok);
        table.transactions.insert(key_number(query)?, (part(0)?, part(1)?));
    }
    table.cdc = match json.get("cdc") {
        Some(Json::Null) | None => None,
        Some(cdc) => Some(read_cdc(cdc)?),
    };
    Ok(table)
}

const KINDS: [(CommitKind, &str); 5] = [
    (CommitKind::Append, "append"),
    (CommitKind::Overwrite, "overwrite"),
    (CommitKind::Delete, "delete"),
    (CommitKind::Update, "update"),
    (CommitKind::Replace, "replace"),
];

fn commit(commit: &Commit) -> Json {
    let kind = KINDS.iter().find(|(kind, _)| *kind == commit.kind).map_or("append", |(_, name)| name);
    json!({
        "version": commit.version,
        "kind": kind,
        "added": commit.added.iter().map(file).collect::<Vec<_>>(),
        "removed": commit.removed,
    })
}

fn read_commit(json: &Json) -> Read<Commit> {
    let name = text(json, "kind")?;
    let Some((kind, _)) = KINDS.iter().find(|(_, known)| *known == name) else { return wrong("kind") };
    Ok(Commit {
        version: number(json, "version")?,
        kind: *kind,
        added: list(json, "added")?.iter().map(read_file).collect::<Read<_>>()?,
        removed: texts(json, "removed")?,
    })
}

fn file(file: &DataFile) -> Json {
    let mut out = json!({ "path": file.path, "schema": schema(&file.schema), "writer": file.writer });
    let (key, content) = match &file.content {
        Content::Rows(rows) => ("rows", rows.iter().map(row).collect::<Vec<_>>()),
        Content::Records(records) => ("records", records.iter().cloned().map(Json::Object).collect()),
    };
    if let Some(members) = out.as_object_mut() {
        members.insert(key.to_owned(), Json::Array(content));
    }
    out
}

fn read_file(json: &Json) -> Read<DataFile> {
    let content = if json.get("records").is_some() {
        let record = |item: &Json| item.as_object().cloned().map_or_else(|| wrong("records"), Ok);
        Content::Records(list(json, "records")?.iter().map(record).collect::<Read<Vec<_>>>()?.into())
    } else {
        Content::Rows(list(json, "rows")?.iter().map(read_row).collect::<Read<Vec<_>>>()?.into())
    };
    Ok(DataFile {
        path: text(json, "path")?.to_owned(),
        schema: Arc::new(read_schema(json.get("schema").unwrap_or(&Json::Null))?),
        content,
        writer: json.get("writer").and_then(Json::as_str).map(str::to_owned),
    })
}

fn cdc(cdc: &CdcProperties) -> Json {
    json!({
        "keys": cdc.keys.iter().map(|(name, data_type)| json!([name, data_type])).collect::<Vec<_>>(),
        "scd_type": cdc.scd_type,
        "sequence_type": cdc.sequence_type,
        "track_history": cdc.track_history,
    })
}

fn read_cdc(json: &Json) -> Read<CdcProperties> {
    let pair = |item: &Json| match (item.get(0).and_then(Json::as_str), item.get(1).and_then(Json::as_str)) {
        (Some(name), Some(data_type)) => Ok((name.to_owned(), data_type.to_owned())),
        _ => wrong("keys"),
    };
    Ok(CdcProperties {
        keys: list(json, "keys")?.iter().map(pair).collect::<Read<_>>()?,
        scd_type: u8::try_from(number(json, "scd_type")?).map_or_else(|_| wrong("scd_type"), Ok)?,
        sequence_type: text(json, "sequence_type")?.to_owned(),
        track_history: match json.get("track_history") {
            Some(Json::Array(_)) => Some(texts(json, "track_history")?),
            _ => None,
        },
    })
}

fn checkpoint(checkpoint: &Checkpoint) -> Json {
    let log = |log: &SourceLog| json!({ "entries": log.entries, "initial": log.initial.as_ref().map(offset) });
    json!({
        "query": checkpoint.query,
        "offsets": checkpoint.offsets.iter().map(entry).collect::<Vec<_>>(),
        "commits": checkpoint.commits,
        "source_logs": checkpoint.source_logs.iter().map(|(name, each)| (name.clone(), log(each))).collect::<Map<_, _>>(),
        "operators": checkpoint.operators.iter().map(operator).collect::<Vec<_>>(),
        "state": stores(&checkpoint.state),
        "state_before": stores(&checkpoint.state_before),
    })
}

fn stores(state: &StateStores) -> Vec<Json> {
    let store = state.iter().map(|(id, store)| {
        let rows: Vec<Json> = store.iter().map(|(key, value)| json!([row(key), row(value)])).collect();
        json!({ "operator": id.operator, "store": id.store.as_ref(), "rows": rows })
    });
    store.collect()
}

fn read_stores(saved: &[Json]) -> Read<StateStores> {
    let mut state = StateStores::default();
    for each in saved {
        let id = u32::try_from(number(each, "operator")?).map_or_else(|_| wrong("operator"), Ok)?;
        let store = state.store_mut(id, text(each, "store")?);
        for pair in list(each, "rows")? {
            let part = |at: usize| pair.get(at).map_or_else(|| wrong("state"), read_row);
            store.put(part(0)?, part(1)?);
        }
    }
    Ok(state)
}

fn read_checkpoint(json: &Json) -> Read<Checkpoint> {
    let mut checkpoint = Checkpoint::new(number(json, "query")?);
    checkpoint.offsets = list(json, "offsets")?.iter().map(read_entry).collect::<Read<_>>()?;
    checkpoint.commits = list(json, "commits")?.iter().map(|item| item.as_i64().unwrap_or(0)).collect();
    for (name, each) in object(json, "source_logs")? {
        let mut log = SourceLog::default();
        for at in list(each, "entries")? {
            let paths = at.as_array().map(|paths| paths.iter().filter_map(Json::as_str).map(str::to_owned).collect());
            log.entries.push(paths.unwrap_or_default());
        }
        log.initial = each.get("initial").filter(|initial| !initial.is_null()).map(read_offset).transpose()?;
        checkpoint.source_logs.insert(name.clone(), log);
    }
    checkpoint.operators = list(json, "operators")?.iter().map(read_operator).collect::<Read<_>>()?;
    checkpoint.state = read_stores(list(json, "state")?)?;
    checkpoint.state_before = read_stores(list(json, "state_before")?)?;
    Ok(checkpoint)
}

fn entry(entry: &OffsetEntry) -> Json {
    let each = |each: &Option<Offset>| each.as_ref().map_or(Json::Null, offset);
    let sources = match &entry.sources {
        SourceOffsets::ByPosition(offsets) => Json::Array(offsets.iter().map(each).collect()),
        SourceOffsets::ByName(offsets) => {
            Json::Object(offsets.iter().map(|(name, offset)| (name.clone(), each(offset))).collect())
        }
    };
    json!({ "sources": sources, "watermark": entry.watermark, "configuration": entry.configuration })
}

fn read_entry(json: &Json) -> Read<OffsetEntry> {
    let each = |item: &Json| if item.is_null() { Ok(None) } else { read_offset(item).map(Some) };
    let sources = match json.get("sources") {
        Some(Json::Array(items)) => SourceOffsets::ByPosition(items.iter().map(each).collect::<Read<_>>()?),
        Some(Json::Object(members)) => {
            let pair = |(name, item): (&String, &Json)| Ok((name.clone(), each(item)?));
            SourceOffsets::ByName(members.iter().map(pair).collect::<Read<_>>()?)
        }
        _ => return wrong("sources"),
    };
    Ok(OffsetEntry {
        sources,
        watermark: json.get("watermark").and_then(Json::as_i64).unwrap_or(0),
        configuration: strings(json, "configuration")?,
    })
}

fn offset(offset: &Offset) -> Json {
    match offset {
        Offset::Files { log } => json!({ "files": log }),
        Offset::Delta { table, version } => json!({ "delta": [table, version] }),
        Offset::Iceberg { snapshot } => json!({ "iceberg": snapshot.map(|(table, version)| [table, version]) }),
        Offset::Topics(positions) => json!({ "topics": positions }),
        Offset::RateMicroBatch { offset } => json!({ "rate-micro-batch": offset }),
        Offset::Rate { offset } => json!({ "rate": offset }),
    }
}

fn read_offset(json: &Json) -> Read<Offset> {
    let Some((kind, value)) = json.as_object().and_then(|members| members.iter().next()) else {
        return wrong("offset");
    };
    let pair = || match (value.get(0).and_then(Json::as_u64), value.get(1).and_then(Json::as_u64)) {
        (Some(table), Some(version)) => Ok((table, version)),
        _ => wrong("offset"),
    };
    Ok(match kind.as_str() {
        "files" => Offset::Files { log: value.as_u64().unwrap_or(0) },
        "delta" => {
            let (table, version) = pair()?;
            Offset::Delta { table, version }
        }
        "iceberg" if value.is_null() => Offset::Iceberg { snapshot: None },
        "iceberg" => Offset::Iceberg { snapshot: Some(pair()?) },
        "topics" => {
            let members = value.as_object().map_or_else(|| wrong("topics"), Ok)?;
            Offset::Topics(members.iter().map(|(name, at)| (name.clone(), at.as_u64().unwrap_or(0))).collect())
        }
        "rate-micro-batch" => Offset::RateMicroBatch { offset: value.as_i64().unwrap_or(0) },
        "rate" => Offset::Rate { offset: value.as_i64().unwrap_or(0) },
        _ => return wrong("offset"),
    })
}

fn operator(operator: &StatefulOperator) -> Json {
    let store = |store: &StateStoreSchema| json!({ "store": store.store.as_ref(), "key": schema(&store.key), "value": schema(&store.value) });
    json!({
        "id": operator.id,
        "name": operator.name.as_ref(),
        "stores": operator.stores.iter().map(store).collect::<Vec<_>>(),
        "semantics": operator.semantics,
    })
}

/// Aspects of an operator that a restart compares; what else the analysis says of it is not kept.
const COMPARED: [&str; 2] = ["time-mode", "variables"];

fn read_operator(json: &Json) -> Read<StatefulOperator> {
    let store = |item: &Json| -> Read<StateStoreSchema> {
        Ok(StateStoreSchema {
            store: text(item, "store")?.into(),
            key: read_schema(item.get("key").unwrap_or(&Json::Null))?,
            value: read_schema(item.get("value").unwrap_or(&Json::Null))?,
        })
    };
    let mut semantics = BTreeMap::new();
    if let Some(saved) = json.get("semantics") {
        for aspect in COMPARED {
            if saved.get(aspect).is_some() {
                semantics.insert(aspect, texts(saved, aspect)?);
            }
        }
    }
    Ok(StatefulOperator {
        id: u32::try_from(number(json, "id")?).map_or_else(|_| wrong("id"), Ok)?,
        name: text(json, "name")?.into(),
        stores: list(json, "stores")?.iter().map(store).collect::<Read<_>>()?,
        semantics,
        place: Place::unknown(),
    })
}
