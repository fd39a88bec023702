//! DDL on tables: columns, partition fields, branches, published commits. Statements are canonical text; their words are compared.

use super::lake::LakeTable;
use super::partition::Transform;
use super::resolve::position;
use super::warehouse::Warehouse;
use crate::engine::error::ExecutionError;
use crate::engine::materialize::widens;
use crate::model::{DataType, Field, Schema, TableConstraint, Value};
use std::sync::Arc;

/// Executes `ALTER TABLE …` or `CALL … publish_changes(…)`.
///
/// # Errors
/// What the statement fails with.
pub fn alter(warehouse: &mut Warehouse, key: &str, statement: &str) -> Result<(), ExecutionError> {
    let words: Vec<&str> = statement.split_whitespace().collect();
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let after = |pattern: &[&str]| -> Option<usize> {
        lower
            .windows(pattern.len())
            .position(|window| window.iter().zip(pattern).all(|(a, b)| a == b))
            .map(|at| at + pattern.len())
    };
    let rest = |at: usize| words.get(at..).unwrap_or_default().join(" ");
    if let Some(at) = after(&["rename", "to"]) {
        return warehouse.rename(key, &rest(at));
    }
    // Files are laid out anew, removed after their time, or looked at: no row changes.
    if lower.first().is_some_and(|verb| MAINTENANCE.contains(&verb.as_str())) {
        return Ok(());
    }
    let Some(lake) = warehouse.lakes.get_mut(key) else {
        return Err(ExecutionError::unsupported(format!("`{statement}` is not executed")));
    };
    if lower.first().is_some_and(|word| word == "call") {
        return publish(lake, statement.rsplit('\'').nth(1).unwrap_or_default());
    }
    let result = if let Some(at) =
        after(&["create", "branch", "if", "not", "exists"]).or_else(|| after(&["create", "branch"]))
    {
        let name = words.get(at).copied().unwrap_or_default().to_owned();
        let current = lake.current;
        lake.branches.entry(name).or_insert(current);
        Ok(())
    } else if let Some(at) = after(&["add", "partition", "field"]) {
        let mut spec = lake.current_spec().to_vec();
        spec.push(Transform::parse(&field_text(&rest(at))));
        use_spec(lake, spec);
        Ok(())
    } else if let Some(at) = after(&["drop", "partition", "field"]) {
        let gone = Transform::parse(&rest(at));
        let named = rest(at);
        let spec = lake.current_spec().iter().filter(|t| **t != gone && t.field_name() != named).cloned().collect();
        use_spec(lake, spec);
        Ok(())
    } else if let Some(at) = after(&["replace", "partition", "field"]) {
        let text = rest(at);
        let (old, new) = text.split_once(" WITH ").or_else(|| text.split_once(" with ")).unwrap_or((&text, &text));
        let (gone, new) = (Transform::parse(old), Transform::parse(new));
        let spec = lake
            .current_spec()
            .iter()
            .map(|t| if *t == gone || t.field_name() == old.trim() { new.clone() } else { t.clone() })
            .collect();
        use_spec(lake, spec);
        Ok(())
    } else if let Some(at) = after(&["add", "column"]).or_else(|| after(&["add", "columns"])) {
        add_columns(lake, &rest(at))
    } else if let Some(at) = after(&["drop", "column"]) {
        drop_column(lake, words.get(at).copied().unwrap_or_default())
    } else if let Some(at) = after(&["rename", "column"]) {
        let (from, to) = (words.get(at).copied().unwrap_or_default(), words.get(at + 2).copied().unwrap_or_default());
        rename_column(lake, from, to);
        Ok(())
    } else if let Some(at) = after(&["alter", "column"]) {
        let column = words.get(at).copied().unwrap_or_default();
        let clause: Vec<&str> = lower.iter().skip(at + 1).map(String::as_str).collect();
        match clause.as_slice() {
            [verb @ ("set" | "drop"), "not", "null", ..] => {
                return set_nullable(warehouse, key, column, *verb == "drop");
            }
            ["first" | "after" | "comment", ..] => return Ok(()),
            _ => {}
        }
        let to = lower.iter().skip(at).position(|word| word == "type").map(|found| rest(at + found + 1));
        retype_column(lake, column, &to.unwrap_or_default())
    } else if let Some(at) = after(&["drop", "constraint"]) {
        let name = words.iter().skip(at).find(|word| !["if", "exists"].contains(&word.to_lowercase().as_str()));
        lake.constraints.retain(|known| match (known, name) {
            (TableConstraint::Check { name, .. }, Some(gone)) => !name.eq_ignore_ascii_case(gone),
            _ => true,
        });
        Ok(())
    } else if after(&["add", "constraint"]).is_some() || after(&["cluster", "by"]).is_some() {
        Ok(())
    } else if let Some(at) = after(&["set", "tblproperties"]) {
        lake.properties.extend(properties(&rest(at)));
        Ok(())
    } else {
        Err(ExecutionError::unsupported(format!("`{statement}` is not executed")))
    };
    result?;
    let (schema, spec) = (lake.schema.clone(), lake.current_spec().to_vec());
    if let Some(table) = warehouse.tables.get_mut(key) {
        table.schema = schema;
        table.partition_by = spec;
    }
    Ok(())
}

const MAINTENANCE: [&str; 7] = ["optimize", "vacuum", "analyze", "refresh", "msck", "fsck", "comment"];

fn set_nullable(warehouse: &mut Warehouse, key: &str, column: &str, nullable: bool) -> Result<(), ExecutionError> {
    let lake = warehouse.lakes.get_mut(key).map(|lake| &mut lake.schema);
    let table = warehouse.tables.get_mut(key).map(|table| &mut table.schema);
    for schema in lake.into_iter().chain(table) {
        let field = position(schema, column).and_then(|at| schema.fields.get_mut(at));
        field.into_iter().for_each(|field| field.nullable = nullable);
    }
    Ok(())
}

/// `('key' = 'value', …)`.
fn properties(text: &str) -> Vec<(String, String)> {
    let inner = text.trim().trim_start_matches('(').trim_end_matches(')');
    let bare = |text: &str| text.trim().trim_matches(['\'', '"', '`']).to_owned();
    inner.split(',').filter_map(|pair| pair.split_once('=')).map(|(key, value)| (bare(key), bare(value))).collect()
}

/// `CALL catalog.system.publish_changes('table', 'wap id')`.
///
/// # Errors
/// `DuplicateWAPCommitException` where the id was published before.
fn publish(lake: &mut LakeTable, wap: &str) -> Result<(), ExecutionError> {
    if lake.published.contains(wap) {
        return Err(ExecutionError::new(
            "org.apache.iceberg.exceptions.DuplicateWAPCommitException",
            format!("duplicate request to cherry pick wap id that was published already: {wap}"),
        ));
    }
    let Some(id) = lake.staged.get(wap).copied() else {
        return Err(ExecutionError::new(
            super::lake_write::ICEBERG_VALIDATION,
            format!("cannot apply unknown WAP ID '{wap}'"),
        ));
    };
    lake.published.insert(wap.to_owned());
    lake.current = Some(id);
    Ok(())
}

/// `bucket(2, id) AS name` without its name.
fn field_text(text: &str) -> String {
    let lower = text.to_lowercase();
    lower.find(" as ").and_then(|at| text.get(..at)).unwrap_or(text).to_owned()
}

fn use_spec(lake: &mut LakeTable, spec: Vec<Transform>) {
    lake.spec = match lake.specs.iter().position(|known| *known == spec) {
        Some(at) => at,
        None => {
            lake.specs.push(spec);
            lake.specs.len() - 1
        }
    };
}

/// The simple types that DDL names in these statements.
fn simple_type(text: &str) -> Option<DataType> {
    Some(match text.trim().trim_matches([',', ')']).to_lowercase().as_str() {
        "int" | "integer" => DataType::Int,
        "bigint" | "long" => DataType::Long,
        "string" => DataType::String,
        "date" => DataType::Date,
        "timestamp" => DataType::Timestamp,
        "double" => DataType::Double,
        "float" => DataType::Float,
        "boolean" => DataType::Boolean,
        _ => return None,
    })
}

fn add_columns(lake: &mut LakeTable, text: &str) -> Result<(), ExecutionError> {
    let text = text.trim().trim_start_matches('(').trim_end_matches(')');
    for column in text.split(',') {
        let mut words = column.split_whitespace();
        let (Some(name), Some(data_type)) = (words.next(), words.next().and_then(simple_type)) else {
            return Err(ExecutionError::unsupported(format!("the column `{column}` is not understood")));
        };
        lake.schema.fields.push(Field::new(name, data_type));
    }
    Ok(())
}

fn drop_column(lake: &mut LakeTable, column: &str) -> Result<(), ExecutionError> {
    if lake.current_spec().iter().any(|transform| transform.column.eq_ignore_ascii_case(column)) {
        let message = format!("cannot find source column for partition field: {column}");
        return Err(ExecutionError::new(super::lake_write::ICEBERG_VALIDATION, message));
    }
    // Files lose the column too: one of the same name that comes later is another column.
    rename_column(lake, column, &format!("{column} (dropped)"));
    lake.schema.fields.retain(|field| !field.name.ends_with(" (dropped)"));
    Ok(())
}

fn rename_column(lake: &mut LakeTable, from: &str, to: &str) {
    let rename = |schema: &Schema| {
        let mut schema = schema.clone();
        if let Some(field) = position(&schema, from).and_then(|at| schema.fields.get_mut(at)) {
            to.clone_into(&mut field.name);
        }
        schema
    };
    lake.schema = rename(&lake.schema);
    for file in lake.snapshots.iter_mut().flat_map(|snapshot| &mut snapshot.files) {
        file.schema = Arc::new(rename(&file.schema));
    }
}

fn retype_column(lake: &mut LakeTable, column: &str, to: &str) -> Result<(), ExecutionError> {
    let Some(to) = simple_type(to) else {
        return Err(ExecutionError::unsupported(format!("the type `{to}` is not understood")));
    };
    let mut schema = lake.schema.clone();
    let Some(field) = position(&schema, column).and_then(|at| schema.fields.get_mut(at)) else {
        return Err(ExecutionError::new("UNRESOLVED_COLUMN.WITH_SUGGESTION", format!("{column} is no column")));
    };
    if !widens(&field.data_type, &to) {
        // Spark refuses narrowing, Iceberg what Spark would allow and it cannot promote.
        let class = if to == DataType::String { "_LEGACY_ERROR_TEMP_2045" } else { "NOT_SUPPORTED_CHANGE_COLUMN" };
        return Err(ExecutionError::new(class, format!("cannot change {} to {to}", field.data_type)));
    }
    field.data_type = to;
    widen_files(lake, &schema);
    lake.schema = schema;
    Ok(())
}

/// Values of old files as values of the widened columns.
pub fn widen_files(lake: &mut LakeTable, schema: &Schema) {
    let zone = jiff::tz::TimeZone::UTC;
    for file in lake.snapshots.iter_mut().flat_map(|snapshot| &mut snapshot.files) {
        let mut own = file.schema.as_ref().clone();
        let mut changed = false;
        let rows: Vec<_> = file
            .rows
            .iter()
            .map(|row| {
                let cells = own.fields.iter().zip(row.iter()).map(|(field, value)| match schema.field(&field.name) {
                    Some(new) if new.data_type != field.data_type => {
                        changed = true;
                        crate::functions::cast(value, &field.data_type, &new.data_type, true, &zone)
                            .unwrap_or(Value::Null)
                    }
                    _ => value.clone(),
                });
                cells.collect()
            })
            .collect();
        if changed {
            for field in &mut own.fields {
                if let Some(new) = schema.field(&field.name) {
                    field.data_type = new.data_type.clone();
                }
            }
            file.rows = rows.into();
            file.schema = Arc::new(own);
        }
    }
}
