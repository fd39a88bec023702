//! Tables of files in the session catalog (`USING parquet`, Hive tables): `insertInto`, `saveAsTable`, `writeTo`, SQL.

use super::folder::{Layout, by_folder};
use super::partition::{self, Transform};
use super::query::{Resolved, Run};
use super::resolve::{Matching, assign, position};
use super::warehouse::{Definition, TableKind, managed_location};
use crate::engine::error::ExecutionError;
use crate::engine::row::{Row, Rows};
use crate::functions;
use crate::model::{
    BatchWrite, DataType, Expr, Field, Node, PartitionValue, Plan, Schema, Source, Value, WriteApi, WriteOperation,
};
use std::collections::BTreeMap;

const TABLE_OPERATION: &str = "UNSUPPORTED_FEATURE.TABLE_OPERATION";

fn refused(class: &str, message: impl Into<String>) -> ExecutionError {
    ExecutionError::new(class, message)
}

impl Run<'_> {
    pub(super) fn write_session_table(&mut self, write: &BatchWrite, key: &str) -> Result<(), ExecutionError> {
        let table = self.warehouse.definition(key).cloned();
        match write.api {
            WriteApi::WriteTo => self.write_to(write, key, table),
            WriteApi::SaveAsTable => self.save_as_table(write, key, table),
            WriteApi::InsertInto | WriteApi::Save | WriteApi::Sql => self.sql(write, key, table),
        }
    }

    /// The session catalog's tables take no DataFrameWriterV2 but `create`.
    fn write_to(&mut self, write: &BatchWrite, key: &str, table: Option<Definition>) -> Result<(), ExecutionError> {
        match (&write.operation, table) {
            (WriteOperation::Create { replace: true, .. } | WriteOperation::Replace, _) => {
                Err(refused(TABLE_OPERATION, "the session catalog does not support REPLACE TABLE AS SELECT"))
            }
            (WriteOperation::Create { .. }, Some(_)) => {
                Err(refused("TABLE_OR_VIEW_ALREADY_EXISTS", format!("{key} is there already")))
            }
            (WriteOperation::Create { .. }, None) => self.create_as(write, key),
            (_, Some(_)) => Err(refused("_LEGACY_ERROR_TEMP_1012", "cannot write into a v1 table with writeTo")),
            (_, None) => Err(refused("TABLE_OR_VIEW_NOT_FOUND", format!("{key} is not there"))),
        }
    }

    fn save_as_table(
        &mut self,
        write: &BatchWrite,
        key: &str,
        table: Option<Definition>,
    ) -> Result<(), ExecutionError> {
        let Some(table) = table else { return self.create_as(write, key) };
        match &write.operation {
            WriteOperation::ErrorIfExists => {
                Err(refused("TABLE_OR_VIEW_ALREADY_EXISTS", format!("{key} is there already")))
            }
            WriteOperation::Ignore => Ok(()),
            WriteOperation::Overwrite => {
                let query = self.plan_of(write)?;
                if self.analysis_reads(write, &table.location) {
                    return Err(refused("UNSUPPORTED_OVERWRITE.TABLE", format!("{key} is also being read from")));
                }
                let rows = self.execute(&query)?;
                self.warehouse.remove_under(&table.location);
                self.create(write, key, rows);
                Ok(())
            }
            WriteOperation::Append => {
                let format = write.format.as_ref().unwrap_or(&self.warehouse.default_format);
                if !format.eq_ignore_ascii_case(&table.format) && table.kind == TableKind::Files {
                    let message = format!("{key} is a table of {}, and the writer's format is {format}", table.format);
                    return Err(refused("_LEGACY_ERROR_TEMP_1159", message));
                }
                let rows = self.rows_of(write)?;
                append_fits(&rows.schema, write, &table)?;
                let rows = assign(&rows, &table.schema, Matching::Name)?;
                self.warehouse.add_files(&table.location, &Layout::of(&table), &table.schema, rows);
                Ok(())
            }
            other => Err(ExecutionError::unsupported(format!("saveAsTable with {other:?}"))),
        }
    }

    fn rows_of(&mut self, write: &BatchWrite) -> Result<Rows, ExecutionError> {
        let query = self.plan_of(write)?;
        self.execute(&query)
    }

    /// A new table out of a query.
    pub(super) fn create_as(&mut self, write: &BatchWrite, key: &str) -> Result<(), ExecutionError> {
        let rows = match &write.query {
            Some(_) => self.rows_of(write)?,
            None => Rows::empty(write.schema.clone().unwrap_or_else(Schema::unknown)),
        };
        self.create(write, key, rows);
        Ok(())
    }

    fn create(&mut self, write: &BatchWrite, key: &str, rows: Rows) {
        let partition_by: Vec<Transform> = write.partition_by.iter().map(|text| Transform::parse(text)).collect();
        let is_partition = |field: &&Field| partition_by.iter().any(|t| t.column.eq_ignore_ascii_case(&field.name));
        let fields = &rows.schema.fields;
        let data = fields.iter().filter(|field| !is_partition(field));
        let schema = Schema::new(data.chain(fields.iter().filter(is_partition)).cloned().collect());
        let definition = Definition {
            kind: TableKind::Files,
            format: write.format.clone().unwrap_or_else(|| self.warehouse.default_format.clone()),
            schema: schema.clone(),
            partition_by,
            bucketed: write.bucket_by.is_some(),
            location: write.options.get("location").cloned().unwrap_or_else(|| managed_location(key)),
            properties: BTreeMap::new(),
        };
        let table_rows = assign(&rows, &schema, Matching::NameWithDefaults).unwrap_or_default();
        self.warehouse.add_files(&definition.location, &Layout::of(&definition), &schema, table_rows);
        self.warehouse.tables.insert(key.to_owned(), definition);
    }

    fn sql(&mut self, write: &BatchWrite, key: &str, table: Option<Definition>) -> Result<(), ExecutionError> {
        if let WriteOperation::Create { replace, if_not_exists } = write.operation {
            return match (table.is_some(), replace, if_not_exists) {
                (_, true, _) => Err(refused(TABLE_OPERATION, "the session catalog does not support REPLACE TABLE")),
                (true, false, true) => Ok(()),
                (true, false, false) => Err(refused("TABLE_OR_VIEW_ALREADY_EXISTS", format!("{key} is there already"))),
                (false, ..) => self.create_as(write, key),
            };
        }
        let Some(table) = table else {
            if write.operation == (WriteOperation::DropTable { if_exists: true }) {
                return Ok(());
            }
            return Err(refused("TABLE_OR_VIEW_NOT_FOUND", format!("{key} is not there")));
        };
        match &write.operation {
            WriteOperation::Append => self.insert(write, key, &table, false),
            WriteOperation::Overwrite => self.insert(write, key, &table, true),
            WriteOperation::Delete { .. }
            | WriteOperation::Update { .. }
            | WriteOperation::Merge(_)
            | WriteOperation::OverwriteWhere(_)
            | WriteOperation::ReplaceUsing(_)
            | WriteOperation::ReplaceOn(_) => {
                Err(refused(TABLE_OPERATION, format!("{key} does not support row-level operations")))
            }
            WriteOperation::Truncate { partition } => {
                let wanted = self.partition_texts(partition, &table)?;
                self.remove_partitions(&table, &wanted);
                Ok(())
            }
            WriteOperation::DropPartition { partitions } => {
                for partition in partitions {
                    if partition.iter().any(|item| item.value.is_none()) {
                        return Err(refused("PARSE_SYNTAX_ERROR", "a partition is named by `column = value`"));
                    }
                    let wanted = self.partition_texts(partition, &table)?;
                    self.remove_partitions(&table, &wanted);
                }
                Ok(())
            }
            WriteOperation::DropTable { .. } => {
                self.warehouse.remove_under(&table.location);
                self.warehouse.tables.remove(key);
                Ok(())
            }
            WriteOperation::Ddl(text) => super::alter::alter(self.warehouse, key, text),
            other => Err(ExecutionError::unsupported(format!("{other:?} on a table of files"))),
        }
    }

    fn insert(
        &mut self,
        write: &BatchWrite,
        key: &str,
        table: &Definition,
        overwrite: bool,
    ) -> Result<(), ExecutionError> {
        let fixed = self.partition_texts(&write.partition, table)?;
        let if_not_exists = write.options.contains_key("if not exists");
        if if_not_exists && fixed.len() < table.partition_by.len() {
            return Err(refused("_LEGACY_ERROR_TEMP_0035", "IF NOT EXISTS goes with a full static partition"));
        }
        let named = write.partition.len();
        if named > 0 && named < table.partition_by.len() {
            return Err(refused(
                "_LEGACY_ERROR_TEMP_1169",
                "the PARTITION clause names some of the partition columns only",
            ));
        }
        let hive_text = table.kind == TableKind::Hive && !matches!(table.format.as_str(), "parquet" | "orc");
        let open = fixed.len() < table.partition_by.len();
        let strict = !self
            .conf
            .get("hive.exec.dynamic.partition.mode")
            .is_some_and(|mode| mode.eq_ignore_ascii_case("nonstrict"));
        if hive_text && open && fixed.is_empty() && strict {
            return Err(refused(
                "org.apache.spark.SparkException",
                "dynamic partition strict mode requires a static partition",
            ));
        }
        let dynamic = overwrite && open && (table.kind == TableKind::Hive || self.dynamic_session());
        let query = self.plan_of(write)?;
        if overwrite && (!dynamic || table.kind == TableKind::Hive) && self.analysis_reads(write, &table.location) {
            return Err(refused("UNSUPPORTED_OVERWRITE.TABLE", format!("{key} is also being read from")));
        }
        if if_not_exists && self.paths_of(table, &fixed).next().is_some() {
            return Ok(());
        }
        let rows = self.executed_insert(&query, table, &fixed, overwrite && !dynamic)?;
        let columns = self.insert_columns(write, table, &fixed, rows)?;
        if overwrite && !dynamic {
            self.remove_partitions(table, &fixed);
        } else if dynamic {
            let (_, folders) = by_folder(&Layout::of(table), &table.schema, columns.clone());
            for folder in folders.keys() {
                let prefix = format!("{}/{folder}/", table.location);
                self.warehouse.files.retain(|path, _| !path.starts_with(&prefix));
            }
        }
        self.warehouse.add_files(&table.location, &Layout::of(table), &table.schema, columns);
        Ok(())
    }

    /// Subqueries over the target see it as Spark's execution does: a scalar one, and any without adaptive execution, runs when
    /// a static overwrite has emptied the table.
    fn executed_insert(
        &mut self,
        query: &Resolved,
        table: &Definition,
        fixed: &BTreeMap<String, String>,
        replaces: bool,
    ) -> Result<Rows, ExecutionError> {
        let adaptive =
            !self.conf.get("spark.sql.adaptive.enabled").is_some_and(|value| value.eq_ignore_ascii_case("false"));
        let kind = if replaces && fixed.is_empty() { subquery_over(&query.plan, self, table) } else { None };
        match kind {
            Some(kind) if kind == SubqueryRead::Scalar || !adaptive => {
                self.remove_partitions(table, fixed);
                if table.partition_by.is_empty() {
                    return Err(refused(
                        "FAILED_READ_FILE.FILE_NOT_EXIST",
                        "the overwrite removed files that a subquery reads",
                    ));
                }
                self.execute(query)
            }
            _ => self.execute(query),
        }
    }

    /// The query's columns with those of static partitions put in.
    fn insert_columns(
        &self,
        write: &BatchWrite,
        table: &Definition,
        fixed: &BTreeMap<String, String>,
        mut rows: Rows,
    ) -> Result<Vec<Row>, ExecutionError> {
        let open: Vec<Field> =
            table.schema.fields.iter().filter(|f| !fixed.contains_key(&f.name.to_lowercase())).cloned().collect();
        let mut matching = if write.by_name { Matching::NameWithDefaults } else { Matching::Position };
        if let Some(columns) = &write.columns {
            if columns.len() != rows.schema.fields.len() {
                return Err(refused(
                    "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS",
                    "the column list does not fit",
                ));
            }
            for (field, column) in rows.schema.fields.iter_mut().zip(columns) {
                field.name.clone_from(column);
            }
            matching = Matching::NameWithDefaults;
        }
        let assigned = assign(&rows, &Schema::new(open), matching)?;
        let full = |row: &Row| -> Row {
            let mut given = row.iter();
            table
                .schema
                .fields
                .iter()
                .map(|field| match fixed.get(&field.name.to_lowercase()) {
                    Some(text) => partition::read_value(text, &field.data_type),
                    None => given.next().cloned().unwrap_or(Value::Null),
                })
                .collect()
        };
        Ok(assigned.iter().map(full).collect())
    }

    /// Static values of a PARTITION clause by lower-case column, as folders are named.
    pub(super) fn partition_texts(
        &mut self,
        partition: &[PartitionValue],
        table: &Definition,
    ) -> Result<BTreeMap<String, String>, ExecutionError> {
        let mut texts = BTreeMap::new();
        for item in partition {
            let known =
                table.partition_by.iter().find(|t| t.is_identity() && t.column.eq_ignore_ascii_case(&item.column));
            if known.is_none() {
                let class = if table.kind == TableKind::Lake { "NON_PARTITION_COLUMN" } else { "PARTITIONS_NOT_FOUND" };
                return Err(refused(class, format!("{} is no partition column", item.column)));
            }
            let Some(value) = &item.value else { continue };
            let data_type = table.schema.field(&item.column).map_or(DataType::String, |field| field.data_type.clone());
            let (value, from) = self.constant(value)?;
            let value = functions::cast(&value, &from, &data_type, true, &jiff::tz::TimeZone::UTC)?;
            texts.insert(item.column.to_lowercase(), partition::folder_value(&value, &data_type));
        }
        Ok(texts)
    }

    /// A constant expression's value and type.
    pub(super) fn constant(&mut self, expr: &Expr) -> Result<(Value, DataType), ExecutionError> {
        if let Expr::Literal { value, data_type } = expr {
            return Ok((value.clone(), data_type.clone()));
        }
        let one = Plan::new(Node::Values { rows: vec![Vec::new()], schema: Schema::new(Vec::new()) });
        let list = vec![expr.clone().alias("value")];
        let rows = self.query(&Plan::new(Node::Project { list, input: Box::new(one) }))?;
        let field = rows.schema.fields.first().map_or(DataType::Unknown, |field| field.data_type.clone());
        let value = rows.rows.first().and_then(|row| row.first()).cloned();
        Ok((value.unwrap_or(Value::Null), field))
    }

    /// Paths of the files in the partitions that static values name.
    fn paths_of<'s>(
        &'s self,
        table: &'s Definition,
        fixed: &'s BTreeMap<String, String>,
    ) -> impl Iterator<Item = &'s String> {
        self.warehouse.paths_under(&table.location).filter(move |path| in_partitions(path, &table.location, fixed))
    }

    fn remove_partitions(&mut self, table: &Definition, fixed: &BTreeMap<String, String>) {
        if fixed.is_empty() {
            self.warehouse.remove_under(&table.location);
            return;
        }
        let location = table.location.clone();
        self.warehouse.files.retain(|path, _| !in_partitions(path, &location, fixed));
    }
}

fn in_partitions(path: &str, location: &str, fixed: &BTreeMap<String, String>) -> bool {
    let Some(inner) = path.strip_prefix(location).and_then(|rest| rest.strip_prefix('/')) else { return false };
    let segments: BTreeMap<String, &str> =
        inner.split('/').filter_map(|segment| segment.split_once('=')).map(|(k, v)| (k.to_lowercase(), v)).collect();
    fixed.iter().all(|(column, value)| segments.get(column).is_some_and(|found| found == value))
}

/// What `saveAsTable` in mode append demands of the columns (`PreprocessTableCreation`).
fn append_fits(schema: &Schema, write: &BatchWrite, table: &Definition) -> Result<(), ExecutionError> {
    if schema.fields.len() != table.schema.fields.len() {
        return Err(refused("_LEGACY_ERROR_TEMP_1161", "the column number of the table does not match the data"));
    }
    if table.schema.fields.iter().any(|field| position(schema, &field.name).is_none()) {
        return Err(refused("_LEGACY_ERROR_TEMP_1162", "a column of the table is not in the data"));
    }
    let own: Vec<String> = table.partition_by.iter().map(|t| t.column.to_lowercase()).collect();
    let given: Vec<String> = write.partition_by.iter().map(|column| column.to_lowercase()).collect();
    if own != given {
        return Err(refused("_LEGACY_ERROR_TEMP_1163", "the partitioning of the writer is not that of the table"));
    }
    if write.bucket_by.is_some() != table.bucketed {
        return Err(refused("_LEGACY_ERROR_TEMP_1164", "the bucketing of the writer is not that of the table"));
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SubqueryRead {
    Scalar,
    Membership,
}

/// The kind of subquery in which a query reads the table, where it does.
fn subquery_over(plan: &Plan, run: &Run<'_>, table: &Definition) -> Option<SubqueryRead> {
    let mut found = None;
    plan.walk(&mut |plan| {
        for expr in plan.expressions() {
            expr.walk(&mut |inner| {
                let Expr::Subquery { kind, plan } = inner else { return };
                let reads = plan.reads().into_iter().any(|read| match &read.source {
                    Source::Table(name) => {
                        let key = run.warehouse.resolve(name);
                        run.warehouse.definition(&key).is_some_and(|known| known.location == table.location)
                    }
                    _ => false,
                });
                if reads {
                    found = Some(match kind {
                        crate::model::SubqueryKind::Scalar => SubqueryRead::Scalar,
                        _ => SubqueryRead::Membership,
                    });
                }
            });
        }
    });
    found
}
