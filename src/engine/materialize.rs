//! Dataset materialization: before anything runs, every dataset's table is created or brought to its new definition, and one
//! that cannot be refuses the whole update (`DatasetManager.materializeDatasets`).

use super::error::ExecutionError;
use super::platform::Behaviour;
use super::table::Table;
use crate::model::{DataType, Field, Layout, Schema};

/// The columns of an existing table after an incremental update of a query with these columns: matched by name without letter
/// case, new ones at the end, none ever taken away.
///
/// # Errors
/// `CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE` on Spark; on Lakeflow `DELTA_FAILED_TO_MERGE_FIELDS` for what type widening does not
/// cover.
pub fn merge_schemas(
    old: &Schema,
    new: &Schema,
    widening: bool,
    behaviour: Behaviour,
) -> Result<Schema, ExecutionError> {
    let fields = merge_fields(&old.fields, &new.fields, &|name, old, new| {
        if behaviour.is_lakeflow() { merge_delta(name, old, new, widening) } else { merge_spark(name, old, new) }
    })?;
    Ok(Schema { fields, complete: old.complete && new.complete })
}

type MergeTypes<'a> = &'a dyn Fn(&str, &DataType, &DataType) -> Result<DataType, ExecutionError>;

fn merge_fields(old: &[Field], new: &[Field], merge: MergeTypes<'_>) -> Result<Vec<Field>, ExecutionError> {
    let mut fields = Vec::new();
    for field in old {
        let twin = new.iter().find(|other| other.name.eq_ignore_ascii_case(&field.name));
        let data_type = match twin {
            Some(twin) => merge_types(&field.name, &field.data_type, &twin.data_type, merge)?,
            None => field.data_type.clone(),
        };
        let nullable = field.nullable || twin.is_none_or(|twin| twin.nullable);
        fields.push(Field { name: field.name.clone(), data_type, nullable });
    }
    let known = |field: &&Field| !old.iter().any(|other| other.name.eq_ignore_ascii_case(&field.name));
    fields.extend(new.iter().filter(known).cloned());
    Ok(fields)
}

fn merge_types(name: &str, old: &DataType, new: &DataType, merge: MergeTypes<'_>) -> Result<DataType, ExecutionError> {
    Ok(match (old, new) {
        (DataType::Struct(a), DataType::Struct(b)) => DataType::Struct(merge_fields(a, b, merge)?),
        (DataType::Array { element: a, contains_null: x }, DataType::Array { element: b, contains_null: y }) => {
            DataType::Array { element: Box::new(merge_types(name, a, b, merge)?), contains_null: *x || *y }
        }
        (
            DataType::Map { key: a, value: x, value_contains_null: m },
            DataType::Map { key: b, value: y, value_contains_null: n },
        ) => DataType::Map {
            key: Box::new(merge_types(name, a, b, merge)?),
            value: Box::new(merge_types(name, x, y, merge)?),
            value_contains_null: *m || *n,
        },
        (DataType::Unknown, known) | (known, DataType::Unknown) => known.clone(),
        _ if old == new => old.clone(),
        _ => merge(name, old, new)?,
    })
}

/// `StructType.merge`: equal types, decimals of one scale.
fn merge_spark(name: &str, old: &DataType, new: &DataType) -> Result<DataType, ExecutionError> {
    match (old, new) {
        (DataType::Decimal { precision: a, scale: x }, DataType::Decimal { precision: b, scale: y }) if x == y => {
            Ok(DataType::Decimal { precision: *a.max(b), scale: *x })
        }
        _ => Err(ExecutionError::new(
            "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE",
            format!("failed to merge the types {old} and {new} of column `{name}`"),
        )),
    }
}

/// Schema evolution of a Delta table: a wider type needs type widening.
fn merge_delta(name: &str, old: &DataType, new: &DataType, widening: bool) -> Result<DataType, ExecutionError> {
    if widening && widens(old, new) {
        return Ok(new.clone());
    }
    Err(ExecutionError::new(
        "DELTA_FAILED_TO_MERGE_FIELDS",
        format!("failed to merge the types {old} and {new} of column `{name}`"),
    ))
}

/// Whether Delta's type widening takes a column from one type to the other without rewriting its files.
pub fn widens(from: &DataType, to: &DataType) -> bool {
    let digits = |data_type: &DataType| match data_type {
        DataType::Byte => Some(3u8),
        DataType::Short => Some(5),
        DataType::Int => Some(10),
        DataType::Long => Some(20),
        _ => None,
    };
    match (from, to) {
        (DataType::Byte, DataType::Short | DataType::Int | DataType::Long | DataType::Double)
        | (DataType::Short, DataType::Int | DataType::Long | DataType::Double)
        | (DataType::Int, DataType::Long | DataType::Double)
        | (DataType::Float, DataType::Double)
        | (DataType::Date, DataType::TimestampNtz) => true,
        (DataType::Decimal { precision: a, scale: x }, DataType::Decimal { precision: b, scale: y }) => {
            y >= x && i16::from(*b) - i16::from(*a) >= i16::from(*y) - i16::from(*x) && (a, x) != (b, y)
        }
        (integer, DataType::Decimal { precision, scale }) => {
            digits(integer).is_some_and(|digits| i16::from(*precision) - i16::from(*scale) >= i16::from(digits))
        }
        _ => false,
    }
}

/// Partition and cluster columns of an existing table cannot be changed in place on Spark, whatever kind of update it is; on
/// Lakeflow partition columns need a full refresh and cluster columns are free.
///
/// # Errors
/// `CANNOT_UPDATE_PARTITION_COLUMNS`; `DELTA_…` on Lakeflow.
pub fn compare_layout(
    table: &Table,
    layout: &Layout,
    full_refresh: bool,
    behaviour: Behaviour,
) -> Result<(), ExecutionError> {
    let same =
        |a: &[String], b: &[String]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.eq_ignore_ascii_case(b));
    let partitions = same(&table.layout.partition_by, &layout.partition_by);
    let clusters = same(&table.layout.cluster_by, &layout.cluster_by);
    let refused = if behaviour.is_lakeflow() { !partitions && !full_refresh } else { !(partitions && clusters) };
    if !refused {
        return Ok(());
    }
    let class = match () {
        () if !behaviour.is_lakeflow() => "CANNOT_UPDATE_PARTITION_COLUMNS",
        () if !table.layout.cluster_by.is_empty() => "DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE",
        () => "DELTA_CHANGE_PARTITION_COLUMNS",
    };
    Err(ExecutionError::new(
        class,
        format!(
            "cannot change partition columns of {}: the table has {}, the definition asks for {}",
            table.location,
            described(&table.layout),
            described(layout)
        ),
    ))
}

fn described(layout: &Layout) -> String {
    if layout.partition_by.is_empty() && layout.cluster_by.is_empty() {
        return "none".to_owned();
    }
    let columns: Vec<&str> = layout.partition_by.iter().chain(&layout.cluster_by).map(String::as_str).collect();
    format!("({})", columns.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Platform;

    const SPARK: Behaviour = Behaviour { platform: Platform::Spark, spark_version: (4, 3) };
    const LAKEFLOW: Behaviour = Behaviour { platform: Platform::Lakeflow, spark_version: (4, 3) };

    fn schema(columns: &[(&str, DataType)]) -> Schema {
        Schema::new(columns.iter().map(|(name, data_type)| Field::new(*name, data_type.clone())).collect())
    }

    #[test]
    fn columns_are_added_at_the_end_and_never_taken_away() {
        let old = schema(&[("id", DataType::Long), ("K", DataType::String)]);
        let new = schema(&[("amt", DataType::Long), ("k", DataType::String)]);
        let merged = merge_schemas(&old, &new, false, SPARK).unwrap();
        assert_eq!(merged, schema(&[("id", DataType::Long), ("K", DataType::String), ("amt", DataType::Long)]));
    }

    #[test]
    fn spark_refuses_every_other_type_and_delta_widens_where_it_may() {
        let (int, long) = (schema(&[("x", DataType::Int)]), schema(&[("x", DataType::Long)]));
        let refused = merge_schemas(&int, &long, true, SPARK).unwrap_err();
        assert_eq!(refused.class, "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE");
        assert_eq!(merge_schemas(&int, &long, true, LAKEFLOW).unwrap(), long);
        assert!(merge_schemas(&int, &long, false, LAKEFLOW).is_err());
        assert!(merge_schemas(&long, &int, true, LAKEFLOW).is_err());
    }

    #[test]
    fn decimals_of_one_scale_merge_on_spark() {
        let column = |p, s| schema(&[("x", DataType::decimal(p, s))]);
        assert_eq!(merge_schemas(&column(10, 2), &column(12, 2), false, SPARK).unwrap(), column(12, 2));
        assert!(merge_schemas(&column(10, 2), &column(12, 4), false, SPARK).is_err());
    }
}
