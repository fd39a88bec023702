//! Files in folders: partition folders on writing, partition discovery and schema inference on reading.

use super::partition::{self, DEFAULT_PARTITION};
use super::query::Run;
use super::resolve::position;
use super::warehouse::{Contents, Definition, Warehouse, normalized};
use crate::engine::error::ExecutionError;
use crate::engine::row::{Row, Rows};
use crate::model::{BatchWrite, DataType, Field, Schema, Value, WriteOperation};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A file: columns as its footer has them.
#[derive(Debug, Clone)]
pub struct FolderFile {
    pub schema: Arc<Schema>,
    pub rows: Arc<[Row]>,
}

/// Which columns make folders. Names as the writer spells them.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    columns: Vec<String>,
}

impl Layout {
    pub fn by(columns: &[String]) -> Self {
        Layout { columns: columns.to_vec() }
    }

    pub fn of(definition: &Definition) -> Self {
        Layout { columns: definition.partition_by.iter().map(|transform| transform.column.clone()).collect() }
    }
}

/// Rows by the folders they go into (`d=2024-01-02/h=0`, empty without partitions), without their partition columns.
pub fn by_folder(layout: &Layout, schema: &Schema, rows: Vec<Row>) -> (Schema, BTreeMap<String, Vec<Row>>) {
    let ordinals: Vec<(usize, &String)> =
        layout.columns.iter().filter_map(|column| Some((position(schema, column)?, column))).collect();
    let kept: Vec<usize> = (0..schema.fields.len()).filter(|at| !ordinals.iter().any(|(o, _)| o == at)).collect();
    let fields = kept.iter().filter_map(|at| schema.fields.get(*at).cloned()).collect();
    let mut folders: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for row in rows {
        let segments: Vec<String> = ordinals
            .iter()
            .filter_map(|(at, column)| {
                let value = partition::folder_value(row.get(*at)?, &schema.fields.get(*at)?.data_type);
                Some(format!("{column}={}", escaped(&value)))
            })
            .collect();
        let cells: Row = kept.iter().filter_map(|at| row.get(*at).cloned()).collect();
        folders.entry(segments.join("/")).or_default().push(cells);
    }
    (Schema::new(fields), folders)
}

/// Spark's `escapePathName`, as far as it matters for telling folders apart.
fn escaped(value: &str) -> String {
    let special = |c: char| c.is_control() || "\"#%'*/:=?\\{[]^".contains(c);
    value.chars().map(|c| if special(c) { format!("%{:02X}", u32::from(c)) } else { c.to_string() }).collect()
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let code = after.get(..2).and_then(|hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32);
        match code {
            Some(c) => {
                out.push(c);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                out.push('%');
                rest = after;
            }
        }
    }
    out + rest
}

impl Warehouse {
    /// Writes rows as new files and gives their paths. Without partitions a file is written even for no rows.
    pub(super) fn add_files(&mut self, base: &str, layout: &Layout, schema: &Schema, rows: Vec<Row>) -> Vec<String> {
        let (file_schema, mut folders) = by_folder(layout, schema, rows);
        if layout.columns.is_empty() {
            folders.entry(String::new()).or_default();
        }
        let file_schema = Arc::new(file_schema);
        let mut paths = Vec::new();
        for (folder, rows) in folders {
            let number = self.next_file();
            let folder = if folder.is_empty() { base.to_owned() } else { format!("{base}/{folder}") };
            let path = format!("{folder}/part-{number:05}");
            self.files.insert(path.clone(), FolderFile { schema: Arc::clone(&file_schema), rows: rows.into() });
            paths.push(path);
        }
        paths
    }

    pub(super) fn has_folder(&self, path: &str) -> bool {
        self.paths_under(path).next().is_some() || self.sink_logs.contains_key(path)
    }

    /// Files below a folder, by path.
    pub(super) fn paths_under<'a>(&'a self, base: &'a str) -> impl Iterator<Item = &'a String> + Clone {
        self.files.keys().filter(move |path| path.strip_prefix(base).is_some_and(|rest| rest.starts_with('/')))
    }

    /// What a reader of a path sees.
    pub(super) fn folder_contents(
        &self,
        base: &str,
        declared: Option<&Schema>,
        merge: bool,
    ) -> Result<Contents, ExecutionError> {
        let listed = self.sink_logs.get(base);
        let paths: Vec<&String> = match listed {
            Some(log) => log.iter().collect(),
            None => self.paths_under(base).collect(),
        };
        if paths.is_empty() {
            let class = if self.has_folder(base) { "UNABLE_TO_INFER_SCHEMA" } else { "PATH_NOT_FOUND" };
            return Err(ExecutionError::new(class, format!("there is nothing to read in {base}")));
        }
        let files: Vec<(&String, &FolderFile)> = paths
            .into_iter()
            .map(|path| match self.files.get(path) {
                Some(file) => Ok((path, file)),
                None => Err(ExecutionError::new(
                    "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER",
                    format!("{path} is listed in _spark_metadata and is gone"),
                )),
            })
            .collect::<Result<_, _>>()?;
        // Beside partition folders, files in the root are passed over.
        let partitioned = files.iter().any(|(path, _)| !segments(path, base).is_empty());
        let files: Vec<_> =
            files.into_iter().filter(|(path, _)| !partitioned || !segments(path, base).is_empty()).collect();
        let segments: Vec<Vec<(String, String)>> = files.iter().map(|(path, _)| segments(path, base)).collect();
        let columns = partition_columns(&segments)?;
        let types: Vec<DataType> = (0..columns.len())
            .map(|at| partition::infer_type(segments.iter().filter_map(move |s| s.get(at)).map(|(_, v)| v.as_str())))
            .collect();
        let schema = folder_schema(&files, &columns, &types, declared, merge)?;
        let mut rows = Vec::new();
        for ((_, file), values) in files.iter().zip(&segments) {
            let untyped = self.text_folders.contains(base);
            rows.extend(read_file(file, &schema, &columns, values, untyped)?);
        }
        Ok(Contents { rows: Rows::new(schema, rows) })
    }

    /// Names of partition columns in the folders below a base; an empty one where files lie beside such folders.
    pub(super) fn folder_layout(&self, base: &str) -> Vec<String> {
        let mut names = BTreeSet::new();
        let mut root = false;
        for path in self.paths_under(base) {
            let found = segments(path, base);
            root |= found.is_empty();
            names.extend(found.into_iter().map(|(column, _)| column));
        }
        if root && !names.is_empty() {
            names.insert(String::new());
        }
        names.into_iter().collect()
    }

    /// Rows of a catalog's table over files.
    pub(super) fn files_of_table(&self, definition: &Definition) -> Result<Rows, ExecutionError> {
        let columns: Vec<String> = definition.partition_by.iter().map(|transform| transform.column.clone()).collect();
        let listed = self.sink_logs.get(&definition.location);
        let mut rows = Vec::new();
        for path in self.paths_under(&definition.location) {
            if listed.is_some_and(|log| !log.contains(path)) {
                continue;
            }
            let Some(file) = self.files.get(path) else { continue };
            let values = segments(path, &definition.location);
            if values.len() == columns.len() || listed.is_some() {
                rows.extend(read_file(file, &definition.schema, &columns, &values, false)?);
            }
        }
        Ok(Rows::new(definition.schema.clone(), rows))
    }
}

/// `k=v` folders between a base and a file.
fn segments(path: &str, base: &str) -> Vec<(String, String)> {
    let inner = path.strip_prefix(base).unwrap_or(path);
    let split = |segment: &str| segment.split_once('=').map(|(k, v)| (k.to_owned(), unescaped(v)));
    inner.split('/').filter_map(split).collect()
}

/// The partition columns that all files agree on, letter case aside.
fn partition_columns(segments: &[Vec<(String, String)>]) -> Result<Vec<String>, ExecutionError> {
    let names =
        |values: &Vec<(String, String)>| -> Vec<String> { values.iter().map(|(k, _)| k.to_lowercase()).collect() };
    let distinct: BTreeSet<Vec<String>> = segments.iter().map(names).collect();
    if distinct.len() > 1 {
        let shown: Vec<String> = distinct.iter().map(|columns| format!("({})", columns.join(", "))).collect();
        return Err(ExecutionError::new(
            "CONFLICTING_PARTITION_COLUMN_NAMES",
            format!("files are partitioned by {}", shown.join(" and by ")),
        ));
    }
    Ok(segments.last().map(|values| values.iter().map(|(k, _)| k.clone()).collect()).unwrap_or_default())
}

fn folder_schema(
    files: &[(&String, &FolderFile)],
    columns: &[String],
    types: &[DataType],
    declared: Option<&Schema>,
    merge: bool,
) -> Result<Schema, ExecutionError> {
    let mut fields = match (declared, files.first()) {
        (Some(declared), _) => declared.fields.clone(),
        (None, Some((_, first))) => first.schema.fields.clone(),
        (None, None) => Vec::new(),
    };
    if merge {
        for (path, file) in files {
            for field in &file.schema.fields {
                match fields.iter().find(|known| known.name.eq_ignore_ascii_case(&field.name)) {
                    None => fields.push(field.clone()),
                    Some(known) if known.data_type != field.data_type => {
                        let message = format!("{path} has {} as {}", field.name, field.data_type);
                        return Err(ExecutionError::new("CANNOT_MERGE_SCHEMAS", message));
                    }
                    Some(_) => {}
                }
            }
        }
    }
    for (column, data_type) in columns.iter().zip(types) {
        match fields.iter_mut().find(|field| field.name.eq_ignore_ascii_case(column)) {
            Some(field) if declared.is_some() => field.nullable = true,
            Some(field) => field.data_type = data_type.clone(),
            None => fields.push(Field::new(column.clone(), data_type.clone())),
        }
    }
    Ok(Schema::new(fields))
}

/// Rows of a file under the reader's columns; partition columns come from the folder.
fn read_file(
    file: &FolderFile,
    schema: &Schema,
    columns: &[String],
    values: &[(String, String)],
    untyped: bool,
) -> Result<Vec<Row>, ExecutionError> {
    enum From {
        Folder(Value),
        File(usize),
        Nothing,
    }
    let mut sources = Vec::new();
    for field in &schema.fields {
        let at = columns.iter().position(|column| column.eq_ignore_ascii_case(&field.name));
        if let Some((_, text)) = at.and_then(|at| values.get(at)) {
            let text = if text.is_empty() { DEFAULT_PARTITION } else { text };
            sources.push(From::Folder(partition::read_value(text, &field.data_type)));
            continue;
        }
        match position(&file.schema, &field.name) {
            None => sources.push(From::Nothing),
            Some(at) => {
                let found = file.schema.fields.get(at).map(|found| &found.data_type);
                let differs = |found: &DataType| *found != field.data_type && !readable_as(found, &field.data_type);
                if !untyped && found.is_some_and(differs) {
                    return Err(ExecutionError::new(
                        "FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH",
                        format!("{} is stored with another type than {}", field.name, field.data_type),
                    ));
                }
                sources.push(From::File(at));
            }
        }
    }
    let read = |row: &Row| -> Row {
        sources
            .iter()
            .map(|source| match source {
                From::Folder(value) => value.clone(),
                From::File(at) => row.get(*at).cloned().unwrap_or(Value::Null),
                From::Nothing => Value::Null,
            })
            .collect()
    };
    Ok(file.rows.iter().map(read).collect())
}

/// Widenings that the vectorized Parquet reader makes.
fn readable_as(found: &DataType, wanted: &DataType) -> bool {
    use DataType::{Byte, Double, Float, Int, Long, Short};
    matches!((found, wanted), (Byte | Short | Int, Long | Int) | (Int, Double) | (Float, Double))
}

impl Run<'_> {
    /// `df.write….save(path)`, `INSERT OVERWRITE DIRECTORY`.
    pub(super) fn write_folder(&mut self, write: &BatchWrite, path: &str) -> Result<(), ExecutionError> {
        let base = normalized(path);
        let exists = self.warehouse.has_folder(&base);
        match &write.operation {
            WriteOperation::ErrorIfExists if exists => {
                return Err(ExecutionError::new("PATH_ALREADY_EXISTS", format!("{path} is there already")));
            }
            WriteOperation::Ignore if exists => return Ok(()),
            WriteOperation::Append
            | WriteOperation::Overwrite
            | WriteOperation::ErrorIfExists
            | WriteOperation::Ignore => {}
            other => return Err(ExecutionError::unsupported(format!("{other:?} on a folder"))),
        }
        let overwrite = write.operation == WriteOperation::Overwrite;
        let option = write.options.get("partitionoverwritemode").map(String::as_str);
        let dynamic = match option {
            Some(mode) if mode.eq_ignore_ascii_case("dynamic") => true,
            Some(mode) if mode.eq_ignore_ascii_case("static") => false,
            Some(mode) => {
                return Err(ExecutionError::new("INVALID_CONF_VALUE", format!("partitionOverwriteMode = {mode}")));
            }
            None => self.dynamic_session(),
        };
        let dynamic = dynamic && overwrite && !write.partition_by.is_empty();
        let plan = self.plan_of(write)?;
        for column in &write.partition_by {
            if position(&self.schema_of(&plan), column).is_none() {
                return Err(ExecutionError::new(
                    "_LEGACY_ERROR_TEMP_1155",
                    format!("the partition column {column} is not in the query"),
                ));
            }
        }
        let replaces = overwrite && !dynamic;
        let reads_itself = replaces && self.last_stage_reads(&plan.plan, &base);
        if reads_itself {
            self.warehouse.remove_under(&base);
            return Err(ExecutionError::new(
                "FAILED_READ_FILE.FILE_NOT_EXIST",
                format!("the overwrite removed the files of {path} before the query read them"),
            ));
        }
        let executed = self.execute(&plan);
        if replaces {
            self.warehouse.remove_under(&base);
        }
        let rows = executed?;
        let layout = Layout::by(&write.partition_by);
        if dynamic {
            let (_, folders) = by_folder(&layout, &rows.schema, rows.rows.clone());
            for folder in folders.keys() {
                let folder = format!("{base}/{folder}");
                self.warehouse.files.retain(|file, _| !file.starts_with(&format!("{folder}/")));
            }
        }
        if matches!(write.format.as_deref(), Some("csv" | "json" | "text" | "xml")) {
            self.warehouse.text_folders.insert(base.clone());
        }
        self.warehouse.add_files(&base, &layout, &rows.schema, rows.rows);
        Ok(())
    }
}
