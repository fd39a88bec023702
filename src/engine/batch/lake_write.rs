//! Writes to tables with snapshots: what each way to write replaces, and which commits conflict.

use super::lake::{LakeFile, LakeTable, Operation};
use super::partition::Transform;
use super::query::Run;
use super::resolve::{Matching, assign, position};
use super::warehouse::{Definition, TableKind};
use crate::engine::delta;
use crate::engine::error::ExecutionError;
use crate::engine::materialize::widens;
use crate::engine::row::{Row, Rows};
use crate::model::{
    BatchWrite, DataType, Expr, Field, Node, Plan, QualifiedName, Read, Schema, Source, Value, WriteApi, WriteOperation,
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const ICEBERG_VALIDATION: &str = "org.apache.iceberg.exceptions.ValidationException";

/// Whether Delta holds the rows of `replaceWhere` against its predicate.
const CONSTRAINT_CHECK: &str = "spark.databricks.delta.replaceWhere.constraintCheck.enabled";

/// Name under which a table's own rows are read with their numbers.
pub(super) const TARGET: &str = "__target";

/// Which rows a write replaces.
#[derive(Debug, Clone, PartialEq)]
enum Replaced {
    Nothing,
    All,
    /// Partitions of the current spec that hold new rows.
    Partitions,
    Where(Expr),
}

/// The columns are those that a table is partitioned by.
fn is_partitioning(columns: &[String], by: &[Transform]) -> bool {
    let named = |transform: &Transform| columns.iter().any(|column| column.eq_ignore_ascii_case(&transform.column));
    columns.len() == by.len() && by.iter().all(|transform| transform.is_identity() && named(transform))
}

fn refused(class: &str, message: impl Into<String>) -> ExecutionError {
    ExecutionError::new(class, message)
}

fn is_dynamic(mode: Option<&String>) -> bool {
    mode.is_some_and(|mode| mode.eq_ignore_ascii_case("dynamic"))
}

impl Run<'_> {
    pub(super) fn write_lake(&mut self, write: &BatchWrite, key: &str) -> Result<(), ExecutionError> {
        let (base, branch) = match key.split_once(".branch_") {
            Some((base, branch)) => (base.to_owned(), Some(branch.to_owned())),
            None => (key.to_owned(), None),
        };
        let exists = self.warehouse.lakes.contains_key(&base);
        match &write.operation {
            WriteOperation::Create { replace, if_not_exists } => {
                return match (exists, *replace) {
                    (true, false) if *if_not_exists => Ok(()),
                    (true, false) => Err(refused("TABLE_OR_VIEW_ALREADY_EXISTS", format!("{base} is there already"))),
                    _ => self.create_lake(write, &base),
                };
            }
            WriteOperation::Replace if exists => return self.create_lake(write, &base),
            WriteOperation::DropTable { if_exists } => {
                if !exists && !if_exists {
                    return Err(refused("TABLE_OR_VIEW_NOT_FOUND", format!("{base} is not there")));
                }
                self.warehouse.lakes.remove(&base);
                self.warehouse.tables.remove(&base);
                return Ok(());
            }
            WriteOperation::Ddl(text) => {
                super::alter::alter(self.warehouse, &base, text)?;
                if let Some(lake) = self.warehouse.lakes.get_mut(&base) {
                    lake.constraints.extend(write.constraints.iter().cloned());
                }
                return Ok(());
            }
            _ => {}
        }
        let creates = matches!(write.api, WriteApi::SaveAsTable | WriteApi::Save);
        if !exists {
            let by_path = base.contains('/');
            if creates && (write.api == WriteApi::SaveAsTable || by_path) {
                return self.create_lake(write, &base);
            }
            return Err(refused("TABLE_OR_VIEW_NOT_FOUND", format!("{base} is not there")));
        }
        if creates && write.operation == WriteOperation::ErrorIfExists {
            let class =
                if write.api == WriteApi::Save { "PATH_ALREADY_EXISTS" } else { "TABLE_OR_VIEW_ALREADY_EXISTS" };
            return Err(refused(class, format!("{base} is there already")));
        }
        if write.operation == WriteOperation::Ignore {
            return Ok(());
        }
        let replaces_table = write.api == WriteApi::SaveAsTable && write.operation == WriteOperation::Overwrite;
        if replaces_table && !self.lake(&base)?.delta {
            return self.create_lake(write, &base);
        }
        if let Some(branch) = &branch
            && !self.lake(&base)?.branches.contains_key(branch)
        {
            return Err(refused(ICEBERG_VALIDATION, format!("cannot use branch (does not exist): {branch}")));
        }
        if self.lake(&base)?.delta {
            let lake = self.lake(&base)?;
            let columns: Vec<String> = lake.current_spec().iter().map(|by| by.column.clone()).collect();
            delta::writer::check(write, &base, &columns, &lake.properties)?;
            if delta::writer::replaces_schema(write) && !self.dynamic_session() {
                return self.overwrite_schema(write, &base);
            }
        }
        match &write.operation {
            WriteOperation::Merge(merge) => self.merge(write, &base, merge),
            WriteOperation::Delete { condition } => self.delete(&base, condition.as_ref()),
            WriteOperation::Update { assignments, condition } => self.update(&base, assignments, condition.as_ref()),
            WriteOperation::Truncate { partition } if partition.is_empty() => self.delete(&base, None),
            WriteOperation::Truncate { .. } | WriteOperation::DropPartition { .. } => Err(refused(
                "INVALID_PARTITION_OPERATION.PARTITION_MANAGEMENT_IS_UNSUPPORTED",
                format!("{base} does not support partition management"),
            )),
            _ => self.put_rows(write, &base, branch.as_deref()),
        }
    }

    pub(super) fn lake(&self, key: &str) -> Result<&LakeTable, ExecutionError> {
        self.warehouse.lakes.get(key).ok_or_else(|| refused("TABLE_OR_VIEW_NOT_FOUND", format!("{key} is not there")))
    }

    /// CREATE or REPLACE, with a query or empty: schema and layout are those of the writer.
    fn create_lake(&mut self, write: &BatchWrite, key: &str) -> Result<(), ExecutionError> {
        let rows = match &write.query {
            Some(_) => {
                let query = self.plan_of(write)?;
                self.execute(&query)?
            }
            None => Rows::empty(write.schema.clone().unwrap_or_else(Schema::unknown)),
        };
        let format = write.format.as_ref().unwrap_or(&self.warehouse.default_format);
        let format = Some(format.clone()).filter(|format| matches!(format.as_str(), "delta" | "iceberg"));
        let known = self.warehouse.lakes.get(key).map(|lake| if lake.delta { "delta" } else { "iceberg" }.to_owned());
        let definition = Definition {
            kind: TableKind::Lake,
            format: known.or(format).unwrap_or_else(|| "iceberg".to_owned()),
            schema: rows.schema.clone(),
            partition_by: write.partition_by.iter().map(|text| Transform::parse(text)).collect(),
            bucketed: false,
            location: format!("warehouse/{key}"),
            properties: BTreeMap::new(),
        };
        let mut table = LakeTable::new(&definition);
        table.identity = self.warehouse.next_file();
        table.constraints.clone_from(&write.constraints);
        if write.query.is_none() {
            table.properties.extend(write.options.clone());
        }
        if let Some(old) = self.warehouse.lakes.get(key) {
            table.lives = old.lives + 1;
            // Iceberg's table stays the one that it was; Delta's has another id.
            if !old.delta {
                table.identity = old.identity;
            }
            table.snapshots.clone_from(&old.snapshots);
            table.properties.clone_from(&old.properties);
            table.continue_numbers(old);
        }
        let files = table.new_files(rows.rows);
        table.commit(Operation::Overwrite, files, None);
        self.warehouse.lakes.insert(key.to_owned(), table);
        self.warehouse.tables.insert(key.to_owned(), definition);
        Ok(())
    }

    /// Delta's `overwriteSchema`: columns and layout are the writer's, the table stays the one that it was.
    fn overwrite_schema(&mut self, write: &BatchWrite, key: &str) -> Result<(), ExecutionError> {
        let old = self.lake(key)?;
        let (identity, lives, constraints) = (old.identity, old.lives, old.constraints.clone());
        self.create_lake(write, key)?;
        if let Some(lake) = self.warehouse.lakes.get_mut(key) {
            lake.identity = identity;
            lake.lives = lives;
            lake.constraints = constraints;
        }
        Ok(())
    }

    /// Appends and overwrites.
    fn put_rows(&mut self, write: &BatchWrite, key: &str, branch: Option<&str>) -> Result<(), ExecutionError> {
        if self.is_known_transaction(write, key)? {
            return Ok(());
        }
        let definition = self.current_definition(key)?;
        if write.api == WriteApi::SaveAsTable && !write.partition_by.is_empty() && !self.lake(key)?.delta {
            let given: Vec<Transform> = write.partition_by.iter().map(|text| Transform::parse(text)).collect();
            if given != definition.partition_by {
                return Err(refused("IllegalArgumentException", "the writer's partitioning is not that of the table"));
            }
        }
        let fixed = self.partition_texts(&write.partition, &definition)?;
        let replaced = self.replaced(write, key, &fixed, &definition)?;
        let query = self.plan_of(write)?;
        let rows = self.execute(&query)?;
        self.evolve(write, key, &rows.schema)?;
        let rows = self.lake_columns(write, key, &fixed, rows)?;
        let rows = self.enforced(key, rows)?;
        self.put(write, key, branch, replaced, rows)
    }

    /// Delta leaves out an append or overwrite of an application whose version it has seen; one that is new it notes.
    fn is_known_transaction(&mut self, write: &BatchWrite, key: &str) -> Result<bool, ExecutionError> {
        let option = |name: &str| write.options.get(name).map(String::as_str);
        let (application, version) = match (option("txnappid"), option("txnversion")) {
            (Some(application), Some(version)) if self.lake(key)?.delta => (application.to_owned(), version),
            _ => return Ok(false),
        };
        // Inside a function of a stream the version is the batch's number, wherever it is not a literal.
        let Some(version) = version.trim().parse::<u64>().ok().or(self.batch) else { return Ok(false) };
        let Some(lake) = self.warehouse.lakes.get_mut(key) else { return Ok(false) };
        let known = lake.applications.get(&application).is_some_and(|last| *last >= version);
        if !known {
            lake.applications.insert(application, version);
        }
        Ok(known)
    }

    /// Rows of the table, held against what it demands.
    pub(super) fn enforced(&self, key: &str, rows: Vec<Row>) -> Result<Vec<Row>, ExecutionError> {
        let lake = self.lake(key)?;
        let demands = !lake.constraints.is_empty() || lake.schema.fields.iter().any(|field| !field.nullable);
        if !lake.delta || !demands {
            return Ok(rows);
        }
        delta::enforced(Rows::new(lake.schema.clone(), rows), &lake.constraints)
    }

    fn current_definition(&self, key: &str) -> Result<Definition, ExecutionError> {
        let lake = self.lake(key)?;
        Ok(Definition {
            kind: TableKind::Lake,
            format: if lake.delta { "delta" } else { "iceberg" }.to_owned(),
            schema: lake.schema.clone(),
            partition_by: lake.current_spec().to_vec(),
            bucketed: false,
            location: format!("warehouse/{key}"),
            properties: lake.properties.clone(),
        })
    }

    fn replaced(
        &mut self,
        write: &BatchWrite,
        key: &str,
        fixed: &BTreeMap<String, String>,
        table: &Definition,
    ) -> Result<Replaced, ExecutionError> {
        let delta = self.lake(key)?.delta;
        let session = self.dynamic_session();
        let option = |name: &str| write.options.get(name);
        let partitioned = !table.partition_by.is_empty();
        let dynamic_or_all = |dynamic: bool| if dynamic { Replaced::Partitions } else { Replaced::All };
        Ok(match &write.operation {
            WriteOperation::Append | WriteOperation::ErrorIfExists => Replaced::Nothing,
            WriteOperation::OverwritePartitions => Replaced::Partitions,
            WriteOperation::OverwriteWhere(condition) => Replaced::Where(condition.clone()),
            WriteOperation::Overwrite if delta => {
                if let Some(condition) = &write.replace_where {
                    if is_dynamic(option("partitionoverwritemode")) {
                        return Err(refused(
                            "DELTA_REPLACE_WHERE_WITH_DYNAMIC_PARTITION_OVERWRITE",
                            "replaceWhere cannot be used together with dynamic partition overwrite",
                        ));
                    }
                    if matches!(condition, Expr::Opaque(_)) {
                        return Err(ExecutionError::unsupported("what replaceWhere says is not understood"));
                    }
                    return Ok(Replaced::Where(condition.clone()));
                }
                let dynamic = match option("partitionoverwritemode") {
                    Some(mode) => mode.eq_ignore_ascii_case("dynamic"),
                    None => session,
                };
                match fixed_condition(fixed, table) {
                    Some(condition) if !dynamic => Replaced::Where(condition),
                    _ => dynamic_or_all(dynamic && partitioned),
                }
            }
            // Iceberg: `insertInto` and SQL obey the session, `save` obeys its own option only.
            WriteOperation::Overwrite => {
                let dynamic = is_dynamic(option("overwrite-mode"))
                    || session && matches!(write.api, WriteApi::InsertInto | WriteApi::Sql);
                match fixed_condition(fixed, table) {
                    Some(condition) if !dynamic => Replaced::Where(condition),
                    _ => dynamic_or_all(dynamic),
                }
            }
            // On partition columns it replaces the partitions that the query gives, whatever the session's mode.
            WriteOperation::ReplaceUsing(columns) if is_partitioning(columns, &table.partition_by) => {
                Replaced::Partitions
            }
            WriteOperation::ReplaceUsing(_) | WriteOperation::ReplaceOn(_) => {
                let what = "REPLACE ON, or USING columns other than those of the partitions,";
                return Err(ExecutionError::unsupported(format!("{what} is not executed on {key}")));
            }
            _ => return Err(ExecutionError::unsupported(format!("this write is not executed on {key}"))),
        })
    }

    /// Schema evolution on write (`mergeSchema`).
    fn evolve(&mut self, write: &BatchWrite, key: &str, given: &Schema) -> Result<(), ExecutionError> {
        let merges = ["mergeschema", "merge-schema"]
            .iter()
            .any(|name| write.options.get(*name).is_some_and(|value| value.eq_ignore_ascii_case("true")));
        let lake = self.lake(key)?;
        let open = lake.delta || lake.flag("write.spark.accept-any-schema");
        // INSERT and insertInto go by position: what the query calls its columns counts for nothing.
        if lake.delta && !merges && !write.by_name && matches!(write.api, WriteApi::Sql | WriteApi::InsertInto) {
            return Ok(());
        }
        let extra: Vec<Field> =
            given.fields.iter().filter(|field| lake.schema.field(&field.name).is_none()).cloned().collect();
        if !open {
            return Ok(());
        }
        if !merges {
            return match extra.first() {
                Some(field) if !lake.delta => {
                    let message = format!("field {} not found in source schema", field.name);
                    Err(refused("IllegalArgumentException", message))
                }
                Some(field) => Err(delta::mismatch(key, &format!("new column `{}`", field.name))),
                None => Ok(()),
            };
        }
        let mut schema = lake.schema.clone();
        for field in &mut schema.fields {
            let Some(new) = given.field(&field.name) else { continue };
            if new.data_type == field.data_type {
                continue;
            }
            if lake.delta && !lake.flag("delta.enableTypeWidening") {
                continue;
            }
            if widens(&field.data_type, &new.data_type) {
                field.data_type = new.data_type.clone();
            } else if !widens(&new.data_type, &field.data_type) {
                let message =
                    format!("cannot change column type: {}: {} -> {}", field.name, field.data_type, new.data_type);
                return Err(refused("IllegalArgumentException", message));
            }
        }
        schema.fields.extend(extra);
        self.set_schema(key, schema);
        Ok(())
    }

    fn set_schema(&mut self, key: &str, schema: Schema) {
        if let Some(lake) = self.warehouse.lakes.get_mut(key) {
            super::alter::widen_files(lake, &schema);
            lake.schema = schema.clone();
        }
        if let Some(table) = self.warehouse.tables.get_mut(key) {
            table.schema = schema;
        }
    }

    /// The query's rows as rows of the table.
    fn lake_columns(
        &mut self,
        write: &BatchWrite,
        key: &str,
        fixed: &BTreeMap<String, String>,
        mut rows: Rows,
    ) -> Result<Vec<Row>, ExecutionError> {
        let lake = self.lake(key)?;
        let lenient = lake.delta || lake.flag("write.spark.accept-any-schema");
        let by_name = write.by_name || matches!(write.api, WriteApi::WriteTo | WriteApi::SaveAsTable | WriteApi::Save);
        let mut matching = match (by_name, lenient) {
            (true, true) => Matching::NameWithDefaults,
            (true, false) => Matching::Name,
            (false, _) => Matching::Position,
        };
        if let Some(columns) = &write.columns {
            for (field, column) in rows.schema.fields.iter_mut().zip(columns) {
                field.name.clone_from(column);
            }
            matching = if lake.delta { Matching::NameWithDefaults } else { Matching::Name };
        }
        let (schema, delta) = (lake.schema.clone(), lake.delta);
        let open = schema.fields.iter().filter(|field| !fixed.contains_key(&field.name.to_lowercase()));
        let open = Schema::new(open.cloned().collect());
        let assigned = match matching {
            Matching::Position if delta && rows.schema.fields.len() == open.fields.len() => {
                for (field, column) in rows.schema.fields.iter_mut().zip(&open.fields) {
                    field.name.clone_from(&column.name);
                }
                delta::stored(&rows, &open, &[])?
            }
            Matching::NameWithDefaults if delta => delta::stored(&rows, &open, &[])?,
            _ => assign(&rows, &open, matching)?,
        };
        let full = |row: &Row| -> Row {
            let mut given = row.iter();
            schema
                .fields
                .iter()
                .map(|field| match fixed.get(&field.name.to_lowercase()) {
                    Some(text) => super::partition::read_value(text, &field.data_type),
                    None => given.next().cloned().unwrap_or(Value::Null),
                })
                .collect()
        };
        Ok(assigned.iter().map(full).collect())
    }

    fn put(
        &mut self,
        write: &BatchWrite,
        key: &str,
        branch: Option<&str>,
        replaced: Replaced,
        rows: Vec<Row>,
    ) -> Result<(), ExecutionError> {
        let head = match branch {
            Some(branch) => self.lake(key)?.branches.get(branch).copied().flatten(),
            None => self.lake(key)?.current,
        };
        let present = self.lake(key)?.files(head).to_vec();
        if rows.is_empty() && replaced == Replaced::Partitions {
            return Ok(());
        }
        let Some(lake) = self.warehouse.lakes.get_mut(key) else { return Ok(()) };
        let new = lake.new_files(rows);
        let (kept, operation) = match &replaced {
            Replaced::Nothing => (present, Operation::Append),
            Replaced::All => (Vec::new(), Operation::Overwrite),
            // Without partition fields the one partition is the table, whatever spec its files have.
            Replaced::Partitions if lake.current_spec().is_empty() => (Vec::new(), Operation::Overwrite),
            Replaced::Partitions => {
                let spec = lake.spec;
                let written: BTreeSet<&Vec<Value>> = new.iter().map(|file| &file.partition).collect();
                let kept = present.into_iter().filter(|file| file.spec != spec || !written.contains(&file.partition));
                (kept.collect(), Operation::Overwrite)
            }
            Replaced::Where(condition) => {
                let delta = lake.delta;
                let new_rows: Vec<Row> = new.iter().flat_map(|file| file.rows.iter().cloned()).collect();
                let checks = self.conf.get(CONSTRAINT_CHECK).is_none_or(|value| !value.eq_ignore_ascii_case("false"));
                if delta && checks {
                    self.covered(write, key, condition, &new_rows)?;
                }
                (self.files_without(key, &present, condition, delta)?, Operation::Overwrite)
            }
        };
        self.conflicts(write, key, &replaced, &new)?;
        let staged = self.conf.get("spark.wap.id").cloned();
        let Some(lake) = self.warehouse.lakes.get_mut(key) else { return Ok(()) };
        let before = lake.current;
        let files = kept.into_iter().chain(new).collect();
        let id = lake.commit(operation, files, branch);
        if let (Some(wap), true) = (staged, lake.flag("write.wap.enabled")) {
            lake.staged.insert(wap, id);
            lake.current = before;
        }
        Ok(())
    }

    /// Delta: every new row must match the predicate.
    fn covered(&mut self, write: &BatchWrite, key: &str, condition: &Expr, rows: &[Row]) -> Result<(), ExecutionError> {
        let schema = self.lake(key)?.schema.clone();
        let matching = self.matching(key, &schema, rows, Some(condition))?;
        if matching.len() < rows.len() {
            let class = match write.api {
                WriteApi::Sql => "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES",
                _ => "DELTA_REPLACE_WHERE_MISMATCH",
            };
            return Err(refused(class, "written data does not conform with the predicate"));
        }
        Ok(())
    }

    /// Files that a predicate leaves: Iceberg deletes whole files, Delta rewrites those that hold both.
    fn files_without(
        &mut self,
        key: &str,
        files: &[LakeFile],
        condition: &Expr,
        rewrite: bool,
    ) -> Result<Vec<LakeFile>, ExecutionError> {
        let schema = self.lake(key)?.schema.clone();
        let mut kept = Vec::new();
        for file in files {
            let rows = self.lake(key)?.file_rows(file);
            let matching = self.matching(key, &schema, &rows, Some(condition))?;
            if matching.is_empty() {
                kept.push(file.clone());
            } else if matching.len() < rows.len() {
                if !rewrite {
                    return Err(refused(
                        ICEBERG_VALIDATION,
                        "cannot delete file where some, but not all, rows match filter",
                    ));
                }
                let left = rows.into_iter().enumerate().filter(|(at, _)| !matching.contains(at)).map(|(_, row)| row);
                let rows = left.collect();
                let id = self.warehouse.lakes.get_mut(key).map_or(file.id, LakeTable::number);
                kept.push(LakeFile { id, rows, schema: schema.clone().into(), ..file.clone() });
            }
        }
        Ok(kept)
    }

    /// Numbers of the rows that match a condition; all without one.
    pub(super) fn matching(
        &mut self,
        key: &str,
        schema: &Schema,
        rows: &[Row],
        condition: Option<&Expr>,
    ) -> Result<BTreeSet<usize>, ExecutionError> {
        let Some(condition) = condition else { return Ok((0..rows.len()).collect()) };
        self.relations.insert(TARGET.to_owned(), numbered(schema, rows));
        let read = target_read(key);
        let filter = Plan::new(Node::Filter { condition: condition.clone(), input: Box::new(read) });
        let list = vec![Expr::column(ROW)];
        let rows = self.query(&Plan::new(Node::Project { list, input: Box::new(filter) }));
        self.relations.remove(TARGET);
        Ok(rows?.rows.iter().filter_map(|row| row_number(row.first())).collect())
    }

    /// What happened since this writer started, and whether it may commit over it.
    fn conflicts(
        &self,
        write: &BatchWrite,
        key: &str,
        replaced: &Replaced,
        new: &[LakeFile],
    ) -> Result<(), ExecutionError> {
        let lake = self.lake(key)?;
        let isolation = write.options.get("isolation-level");
        let Some(level) = isolation.filter(|_| *replaced != Replaced::Nothing) else { return Ok(()) };
        let from_base = write.options.contains_key("validate-from-snapshot-id");
        // Without a snapshot to start from, the whole history counts as concurrent.
        let base = if from_base { self.base.get(key).copied().flatten().or(lake.current) } else { None };
        let old: BTreeSet<u64> = lake.files(base).iter().map(|file| file.id).collect();
        let now: BTreeSet<u64> = lake.files(lake.current).iter().map(|file| file.id).collect();
        let touched =
            |file: &&LakeFile| new.iter().any(|n| n.partition == file.partition) || *replaced == Replaced::All;
        let added = lake.files(lake.current).iter().filter(|file| !old.contains(&file.id)).filter(touched).count();
        let removed = lake.files(base).iter().filter(|file| !now.contains(&file.id)).filter(touched).count();
        if level.eq_ignore_ascii_case("serializable") && added > 0 {
            return Err(refused(
                ICEBERG_VALIDATION,
                "found conflicting files that can contain records matching partitions",
            ));
        }
        if removed > 0 {
            return Err(refused(ICEBERG_VALIDATION, "found conflicting deleted files"));
        }
        Ok(())
    }
}

/// Number of a row, beside the table's columns.
pub(super) const ROW: &str = "__row";

pub(super) fn numbered(schema: &Schema, rows: &[Row]) -> Rows {
    let mut fields = schema.fields.clone();
    fields.push(Field::not_null(ROW, DataType::Long));
    let number = |at: usize| Value::Long(i64::try_from(at).unwrap_or(i64::MAX));
    let rows = rows.iter().enumerate().map(|(at, row)| row.iter().cloned().chain([number(at)]).collect()).collect();
    Rows::new(Schema::new(fields), rows)
}

pub(super) fn row_number(value: Option<&Value>) -> Option<usize> {
    match value {
        Some(Value::Long(number)) => usize::try_from(*number).ok(),
        _ => None,
    }
}

/// The target's numbered rows, under the last part of the table's name.
pub(super) fn target_read(key: &str) -> Plan {
    let read = Plan::new(Node::Read(Read::new(Source::Table(QualifiedName::bare(TARGET)), false)));
    let alias = key.rsplit(['.', '/']).next().unwrap_or(key);
    Plan::new(Node::SubqueryAlias { alias: alias.into(), columns: Vec::new(), input: Box::new(read) })
}

/// `d = value AND …` of static partition values.
fn fixed_condition(fixed: &BTreeMap<String, String>, table: &Definition) -> Option<Expr> {
    fixed
        .iter()
        .map(|(column, text)| {
            let at = position(&table.schema, column);
            let data_type =
                at.and_then(|at| table.schema.fields.get(at)).map_or(DataType::String, |f| f.data_type.clone());
            let value = super::partition::read_value(text, &data_type);
            Expr::call("<=>", vec![Expr::column(column), Expr::literal(value, data_type)])
        })
        .reduce(|a, b| Expr::call("and", vec![a, b]))
}
