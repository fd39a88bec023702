//! Reading stored files into typed rows, and tables as a batch query sees them.

use super::catalog::{self, PathPattern, Target};
use super::error::ExecutionError;
use super::operators::Tables;
use super::record;
use super::row::{Row, Rows};
use super::table::{Content, DataFile, Table};
use super::world::World;
use crate::functions::try_cast;
use crate::model::{Attribute, DataType, Field, Pipeline, Read, Schema, Value};
use jiff::tz::TimeZone;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The table at a location.
///
/// # Errors
/// `TABLE_OR_VIEW_NOT_FOUND`.
pub fn table<'a>(world: &'a World, location: &str) -> Result<&'a Table, ExecutionError> {
    world.tables.get(location).ok_or_else(|| {
        let name = location.strip_prefix("warehouse/").unwrap_or(location);
        ExecutionError::new("TABLE_OR_VIEW_NOT_FOUND", format!("the table or view `{name}` cannot be found"))
    })
}

/// Live files under a path, whatever table they belong to, in the order of locations.
pub fn files_under<'a>(world: &'a World, pattern: &PathPattern) -> Vec<&'a DataFile> {
    let tables = world.tables.values().filter(|table| table.format.is_files());
    tables.flat_map(|table| table.files()).filter(|file| pattern.contains(&file.path)).collect()
}

/// A live file by its path.
pub fn file<'a>(world: &'a World, path: &str) -> Option<&'a DataFile> {
    world.tables.values().flat_map(|table| table.files()).find(|file| file.path == path)
}

/// Files of a table by path, removed ones too.
pub fn files_by_path<'a>(table: &'a Table, paths: &[String]) -> Vec<&'a DataFile> {
    table.commits.iter().flat_map(|commit| &commit.added).filter(|file| paths.contains(&file.path)).collect()
}

/// The columns that a leaf reads.
pub fn schema_of(read: &Read) -> Schema {
    Schema::new(fields(&read.output))
}

fn fields(columns: &[Attribute]) -> Vec<Field> {
    columns
        .iter()
        .map(|column| Field {
            name: column.name.to_string(),
            data_type: column.data_type.clone(),
            nullable: column.nullable,
        })
        .collect()
}

/// Rows of a file with these columns, found by name; a column that the file lacks is NULL.
pub fn typed(file: &DataFile, columns: &[Attribute]) -> Vec<Row> {
    let metadata = columns.iter().position(|column| column.name.as_ref() == "_metadata");
    let mut rows: Vec<Row> = match &file.content {
        Content::Rows(rows) => {
            let found = Rows::new(file.schema.as_ref().clone(), rows.to_vec()).project(columns);
            found.into_iter().map(|row| upcast(row, &file.schema, columns)).collect()
        }
        Content::Records(records) => {
            let fields = fields(columns);
            records.iter().map(|each| record::typed(each, &fields).into()).collect()
        }
    };
    if let Some(at) = metadata
        && let Some(value) = columns.get(at).map(|column| file_metadata(file, &column.data_type))
    {
        for row in &mut rows {
            let mut values: Vec<Value> = row.to_vec();
            if let Some(slot) = values.get_mut(at) {
                *slot = value.clone();
            }
            *row = values.into();
        }
    }
    rows
}

/// Values of a file older than its table's columns, in the types that the reader asks for.
fn upcast(row: Row, written: &Schema, columns: &[Attribute]) -> Row {
    let from = |column: &Attribute| written.field(&column.name).map(|field| &field.data_type);
    let differs = |column: &Attribute| from(column).is_some_and(|from| *from != column.data_type);
    if !columns.iter().any(differs) {
        return row;
    }
    let value = |(column, value): (&Attribute, &Value)| match from(column) {
        Some(from) => upcast_value(value, from, &column.data_type),
        None => value.clone(),
    };
    columns.iter().zip(row.iter()).map(value).collect()
}

/// Fields of structs are found by name, as readers of Parquet and JSON do; the rest is a cast.
fn upcast_value(value: &Value, from: &DataType, to: &DataType) -> Value {
    match (value, from, to) {
        _ if from == to || to.is_unknown() && !matches!(to, DataType::Struct(_)) => value.clone(),
        (Value::Struct(items), DataType::Struct(written), DataType::Struct(wanted)) => {
            let field = |wanted: &Field| {
                let at = written.iter().position(|field| field.name.eq_ignore_ascii_case(&wanted.name))?;
                Some(upcast_value(items.get(at)?, &written.get(at)?.data_type, &wanted.data_type))
            };
            Value::Struct(wanted.iter().map(|wanted| field(wanted).unwrap_or(Value::Null)).collect())
        }
        (Value::Array(items), DataType::Array { element: from, .. }, DataType::Array { element: to, .. }) => {
            Value::Array(items.iter().map(|item| upcast_value(item, from, to)).collect())
        }
        (Value::Null | Value::Opaque(_) | Value::Map(_), ..) => value.clone(),
        _ => try_cast(value, from, to, &TimeZone::UTC),
    }
}

/// The hidden `_metadata` column of file sources.
fn file_metadata(file: &DataFile, data_type: &DataType) -> Value {
    let DataType::Struct(fields) = data_type else { return Value::Null };
    let value = |field: &Field| match field.name.as_str() {
        "file_path" => Value::string(file.path.as_str()),
        "file_name" => Value::string(file.path.rsplit_once('/').map_or(file.path.as_str(), |(_, name)| name)),
        "file_size" | "file_block_length" => Value::Long(i64::try_from(file.content.len()).unwrap_or(i64::MAX)),
        "file_block_start" => Value::Long(0),
        "file_modification_time" => Value::Timestamp(0),
        _ => Value::Null,
    };
    Value::Struct(fields.iter().map(value).collect())
}

/// Rows of a change feed for one commit: what went as `delete`, what came as `insert`; rows that only moved between files
/// are no change.
pub fn changes(version: u64, added: Vec<&DataFile>, removed: &[&DataFile], columns: &[Attribute]) -> Vec<Row> {
    let mut count: BTreeMap<Row, i64> = BTreeMap::new();
    for (files, step) in [(removed.to_vec(), -1), (added, 1)] {
        for row in files.into_iter().flat_map(|file| typed(file, columns)) {
            *count.entry(row).or_default() += step;
        }
    }
    let mut rows = Vec::new();
    for (row, n) in count {
        let change = if n < 0 { "delete" } else { "insert" };
        for _ in 0..n.unsigned_abs() {
            rows.push(with_change_columns(&row, columns, change, version));
        }
    }
    rows
}

fn with_change_columns(row: &Row, columns: &[Attribute], change: &str, version: u64) -> Row {
    columns
        .iter()
        .zip(row.iter())
        .map(|(column, value)| match column.name.as_ref() {
            "_change_type" => Value::string(change),
            "_commit_version" => Value::Long(i64::try_from(version).unwrap_or(i64::MAX)),
            "_commit_timestamp" => Value::Timestamp(i64::try_from(version).unwrap_or(0).saturating_mul(1_000_000)),
            _ => value.clone(),
        })
        .collect()
}

/// All rows that a reader of a table sees now, under the table's schema.
pub fn contents(table: &Table) -> Rows {
    let rows = table.files().into_iter().flat_map(|file| rows_of(file, &table.schema)).collect();
    Rows::new(table.schema.clone(), rows)
}

/// Rows of a file under a table's schema.
pub fn rows_of(file: &DataFile, schema: &Schema) -> Vec<Row> {
    let columns: Vec<Attribute> = schema
        .fields
        .iter()
        .map(|field| Attribute {
            id: crate::model::AttrId::default(),
            name: Arc::from(field.name.as_str()),
            data_type: field.data_type.clone(),
            nullable: field.nullable,
            qualifier: Vec::new(),
            watermark_delay: None,
        })
        .collect();
    typed(file, &columns)
}

/// Tables as the batch reads of one pipeline's queries see them.
pub struct Snapshot<'a> {
    pub world: &'a World,
    pub pipeline: &'a Pipeline,
}

impl Tables for Snapshot<'_> {
    fn scan(&self, read: &Read) -> Result<Rows, ExecutionError> {
        let files = match catalog::target(self.pipeline, read) {
            Target::Table(location) => table(self.world, &location)?.files(),
            Target::Path(pattern) => files_under(self.world, &pattern),
            Target::Topics(topics) => {
                topics.iter().filter_map(|location| self.world.tables.get(location)).flat_map(Table::files).collect()
            }
            Target::Rate { .. } => Vec::new(),
            Target::Unknown(format) => {
                return Err(ExecutionError::unsupported(format!("reads of `{format}` are not known to the engine")));
            }
        };
        Ok(Rows::new(schema_of(read), files.into_iter().flat_map(|file| typed(file, &read.output)).collect()))
    }
}
