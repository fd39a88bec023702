//! Stateful operators of a checkpoint: `state/{operator}/_metadata` and the schemas of its stores.

use super::log::{self, Fault, damaged};
use super::state_schema::{self, StoredSchema};
use super::{OperatorMetadata, Problem, ProblemKind, StoredOperator};
use crate::model::{Place, Span, StateStoreSchema, StatefulOperator};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The newest version of operator metadata (`OperatorStateMetadataV2`).
const NEWEST: u32 = 2;

/// The files of `state/`, by path below it.
pub type StateFiles<'a> = BTreeMap<&'a str, &'a Result<Arc<[u8]>, String>>;

/// All operators, in ascending id; `folder` is that of `state`.
pub fn operators(folder: &str, files: &StateFiles<'_>, problems: &mut Vec<Problem>) -> Vec<StoredOperator> {
    let mut by_id: BTreeMap<u32, StateFiles<'_>> = BTreeMap::new();
    for (path, content) in files {
        if let Some((id, rest)) = path.split_once('/')
            && let Ok(id) = id.parse()
        {
            by_id.entry(id).or_default().insert(rest, content);
        }
    }
    // Ids count without gaps.
    let expected = by_id.keys().max().map_or(0, |last| last + 1);
    for id in (0..expected.min(MAX_OPERATORS)).filter(|id| !by_id.contains_key(id)) {
        problems
            .push(missing(format!("{folder}/{id}"), "operators are numbered without gaps, and this one is not there"));
    }
    by_id
        .into_iter()
        .map(|(id, files)| Reader { folder: format!("{folder}/{id}"), id, files, problems }.read())
        .collect()
}

/// More than a query ever has.
const MAX_OPERATORS: u32 = 10_000;

struct Reader<'a, 'p> {
    folder: String,
    id: u32,
    files: StateFiles<'a>,
    problems: &'p mut Vec<Problem>,
}

/// What operator metadata says.
struct Metadata {
    kept: OperatorMetadata,
    name: Arc<str>,
    /// The file of the schemas of each store, where metadata names it.
    schema_files: BTreeMap<String, String>,
    semantics: BTreeMap<&'static str, Vec<String>>,
}

impl Reader<'_, '_> {
    fn read(mut self) -> StoredOperator {
        let metadata = self.metadata();
        let mut stores: Vec<StateStoreSchema> = Vec::new();
        let mut schema_files = BTreeMap::new();
        let named = metadata.as_ref().map(|metadata| metadata.schema_files.clone()).unwrap_or_default();
        for (store, path) in self.schema_paths(&named) {
            let file = format!("{}/{path}", self.folder);
            for StoredSchema { family, key, value } in self.schemas(&path, &file) {
                let name = family.unwrap_or_else(|| store.clone());
                schema_files.insert(name.clone(), file.clone());
                stores.push(StateStoreSchema { store: name.into(), key, value });
            }
        }
        for store in metadata.iter().flat_map(|metadata| &metadata.kept.stores) {
            let known = named.contains_key(store) || schema_files.contains_key(store);
            if !known {
                let reason = format!("the operator has the state store `{store}`, and its schema is not there");
                self.problems.push(missing(format!("{}/0/{}_metadata/schema", self.folder, below(store)), &reason));
            }
        }
        let file = metadata.as_ref().map(|metadata| metadata.kept.file.clone());
        let operator = StatefulOperator {
            id: self.id,
            name: metadata.as_ref().map(|metadata| metadata.name.clone()).unwrap_or_default(),
            stores,
            semantics: metadata.as_ref().map(|metadata| metadata.semantics.clone()).unwrap_or_default(),
            place: file.map_or_else(Place::unknown, |file| Place::at(Span::start_of(file.into()))),
        };
        StoredOperator { folder: self.folder, metadata: metadata.map(|metadata| metadata.kept), operator, schema_files }
    }

    /// Version 1 lies in one file, version 2 in a file for each batch that wrote one.
    fn metadata(&mut self) -> Option<Metadata> {
        let newest = self.files.keys().filter_map(|path| {
            let number: u64 = path.strip_prefix("_metadata/v2/")?.parse().ok()?;
            Some((number, *path))
        });
        let path = newest
            .max()
            .map(|(_, path)| path)
            .or_else(|| self.files.keys().find(|path| **path == "_metadata/metadata").copied())?;
        let file = format!("{}/{path}", self.folder);
        let content = *self.files.get(path)?;
        match content.as_ref().map_err(|error| damaged(error.clone())).and_then(|bytes| parse(bytes, self.id)) {
            Ok(metadata) => Some(Metadata { kept: OperatorMetadata { file, ..metadata.kept }, ..metadata }),
            Err((kind, reason)) => {
                self.problems.push(Problem { file, kind, reason });
                None
            }
        }
    }

    /// By store, the file with its schema: the one that metadata names, else where it always lies.
    fn schema_paths(&mut self, named: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut paths = BTreeMap::new();
        for path in self.files.keys() {
            match path.split('/').collect::<Vec<_>>().as_slice() {
                ["0", "_metadata", "schema"] => paths.insert("default".to_owned(), (*path).to_owned()),
                ["0", store, "_metadata", "schema"] => paths.insert((*store).to_owned(), (*path).to_owned()),
                _ => None,
            };
        }
        for (store, file) in named {
            let path = format!("_stateSchema/{store}/{file}");
            if self.files.contains_key(path.as_str()) {
                paths.insert(store.clone(), path);
            } else {
                let reason = "the operator's metadata names it as the schema of its state, and it is not there";
                self.problems.push(missing(format!("{}/{path}", self.folder), reason));
            }
        }
        paths
    }

    fn schemas(&mut self, path: &str, file: &str) -> Vec<StoredSchema> {
        let Some(content) = self.files.get(path) else { return Vec::new() };
        match content.as_ref().map_err(|error| damaged(error.clone())).and_then(|bytes| state_schema::parse(bytes)) {
            Ok(schemas) => schemas,
            Err((kind, reason)) => {
                self.problems.push(Problem { file: file.to_owned(), kind, reason });
                Vec::new()
            }
        }
    }
}

fn missing(file: String, reason: &str) -> Problem {
    Problem { file, kind: ProblemKind::Missing, reason: reason.to_owned() }
}

fn below(store: &str) -> String {
    if store == "default" { String::new() } else { format!("{store}/") }
}

fn parse(bytes: &[u8], id: u32) -> Result<Metadata, Fault> {
    let (version, lines) = log::lines(bytes, NEWEST)?;
    let json = log::json(&lines.join("\n"))?;
    let info = json.get("operatorInfo").ok_or_else(|| damaged("it has no `operatorInfo`"))?;
    let name = info.get("operatorName").and_then(Json::as_str).filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| damaged("it has no `operatorName`"))?;
    let own = info.get("operatorId").and_then(Json::as_u64).ok_or_else(|| damaged("it has no `operatorId`"))?;
    if own != u64::from(id) {
        return Err((ProblemKind::Foreign, format!("it is of operator {own} and lies in the folder of operator {id}")));
    }
    let infos = json.get("stateStoreInfo").and_then(Json::as_array);
    let infos = infos.ok_or_else(|| damaged("it has no `stateStoreInfo`"))?;
    let mut kept = OperatorMetadata { file: String::new(), version, partitions: None, stores: Vec::new() };
    let mut schema_files = BTreeMap::new();
    for store in infos {
        let name =
            store.get("storeName").and_then(Json::as_str).ok_or_else(|| damaged("a store has no `storeName`"))?;
        kept.stores.push(name.to_owned());
        kept.partitions = kept.partitions.or_else(|| store.get("numPartitions").and_then(Json::as_u64));
        // The whole path as it was when it was written: the folder may have been copied since.
        let paths = store.get("stateSchemaFilePaths").and_then(Json::as_array).into_iter().flatten();
        if let Some(last) = paths.filter_map(Json::as_str).next_back() {
            let file = last.rsplit('/').next().unwrap_or(last);
            schema_files.insert(name.to_owned(), file.to_owned());
        }
    }
    let semantics = match json.get("operatorPropertiesJson").and_then(Json::as_str) {
        Some(text) => properties(&log::json(text)?),
        None => BTreeMap::new(),
    };
    Ok(Metadata { kept, name: name.into(), schema_files, semantics })
}

/// What transformWithState writes down of its processor (`TransformWithStateOperatorProperties`), in the words of the analysis.
fn properties(json: &Json) -> BTreeMap<&'static str, Vec<String>> {
    let text = |json: &Json, name: &str| json.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let mut semantics = BTreeMap::new();
    if json.get("timeMode").is_some() {
        let mode = text(json, "timeMode");
        semantics.insert("time-mode", vec![if mode == "NoTime" { "None".to_owned() } else { mode }]);
    }
    if json.get("outputMode").is_some() {
        semantics.insert("output-mode", vec![text(json, "outputMode").to_lowercase()]);
    }
    if let Some(variables) = json.get("stateVariables").and_then(Json::as_array) {
        let variable = |json: &Json| {
            let kind = text(json, "stateVariableType").to_lowercase();
            let kind = kind.strip_suffix("state").unwrap_or(&kind).to_owned();
            let ttl = json.get("ttlEnabled").and_then(Json::as_bool).unwrap_or(false);
            format!("{}: {kind} ttl={ttl}", text(json, "stateName"))
        };
        // Timers are no variables of the processor.
        let own = variables.iter().filter(|json| !text(json, "stateName").starts_with('$'));
        semantics.insert("variables", own.map(variable).collect());
    }
    semantics
}
