//! What a restarted query is compared with, in the order in which Structured Streaming compares it: the number of sources,
//! operators by id and name, the state folder, and key and value schemas of every state store.

use super::checkpoint::{Checkpoint, SourceOffsets};
use super::error::ExecutionError;
use super::platform::Behaviour;
use crate::model::{DataType, Field, Schema, StateStoreSchema, StatefulOperator};
use std::collections::BTreeMap;

const SCHEMA_CHECK: &str = "spark.sql.streaming.stateStore.stateSchemaCheck";
const ENCODING: &str = "spark.sql.streaming.stateStore.encodingFormat";
const AGGREGATION_FORMAT: &str = "spark.sql.streaming.aggregation.stateFormatVersion";
pub const SOURCE_EVOLUTION: &str = "spark.sql.streaming.queryEvolution.enableSourceEvolution";

/// The configuration of a restarted query: the session's, under what the last entry of the offset log has pinned.
pub fn configuration(
    checkpoint: &Checkpoint,
    session: &BTreeMap<String, String>,
    behaviour: Behaviour,
) -> BTreeMap<String, String> {
    let mut effective = session.clone();
    if let Some(entry) = checkpoint.offsets.last() {
        for key in behaviour.pinned_configuration() {
            match entry.configuration.get(*key) {
                Some(value) => effective.insert((*key).to_owned(), value.clone()),
                None => effective.remove(*key),
            };
        }
    }
    effective
}

/// The part of a session's configuration that an entry of the offset log keeps.
pub fn pinned(configuration: &BTreeMap<String, String>, behaviour: Behaviour) -> BTreeMap<String, String> {
    let kept = behaviour.pinned_configuration();
    configuration.iter().filter(|(key, _)| kept.contains(&key.as_str())).map(|(k, v)| (k.clone(), v.clone())).collect()
}

/// Sources are zipped with the offsets of the log by position; their number is asserted, nothing else about them.
///
/// # Errors
/// `STREAM_FAILED/ASSERT_SOURCE_COUNT`; `STREAMING_QUERY_EVOLUTION_ERROR.…` where names are asked for over an old log.
pub fn compare_sources(
    checkpoint: &Checkpoint,
    sources: usize,
    by_name: bool,
    behaviour: Behaviour,
) -> Result<(), ExecutionError> {
    let Some(entry) = checkpoint.offsets.last() else { return Ok(()) };
    match &entry.sources {
        SourceOffsets::ByPosition(_) if by_name => Err(ExecutionError::new(
            "STREAMING_QUERY_EVOLUTION_ERROR.CANNOT_ENABLE_ON_EXISTING_CHECKPOINT",
            "source evolution cannot be switched on over an existing checkpoint",
        )),
        SourceOffsets::ByPosition(offsets) if offsets.len() != sources => Err(ExecutionError::new(
            if behaviour.names_state_errors() { "STREAM_FAILED/ASSERT_SOURCE_COUNT" } else { "AssertionError" },
            format!(
                "There are [{}] sources in the checkpoint offsets and now there are [{sources}] sources requested by the \
                 query. Cannot continue.",
                offsets.len()
            ),
        )),
        _ => Ok(()),
    }
}

/// Compares the operators of a restarted query with those whose state the checkpoint holds.
///
/// # Errors
/// `STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA`, `STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY`,
/// `STATE_STORE_{KEY,VALUE}_SCHEMA_NOT_COMPATIBLE`, those of transformWithState; before Spark 4.0 what stood for them.
pub fn compare_state(
    checkpoint: &Checkpoint,
    operators: &[StatefulOperator],
    configuration: &BTreeMap<String, String>,
    behaviour: Behaviour,
) -> Result<(), ExecutionError> {
    if checkpoint.commits.is_empty() {
        return Ok(());
    }
    if behaviour.keeps_operator_names() && !checkpoint.operators.is_empty() {
        let names = |operators: &[StatefulOperator]| -> BTreeMap<u32, String> {
            operators.iter().map(|operator| (operator.id, operator.name.to_string())).collect()
        };
        let (old, new) = (names(&checkpoint.operators), names(operators));
        if old != new {
            return Err(ExecutionError::new(
                "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA",
                format!(
                    "Streaming stateful operator name does not match with the operator in state metadata: metadata has \
                     [{}], the query has [{}]",
                    listed(&old),
                    listed(&new)
                ),
            ));
        }
    }
    for operator in operators {
        match checkpoint.operators.iter().find(|old| old.id == operator.id) {
            Some(old) => compare_operator(old, operator, configuration, behaviour)?,
            None => return Err(missing_state(operator, behaviour)),
        }
    }
    Ok(())
}

fn listed(names: &BTreeMap<u32, String>) -> String {
    names.iter().map(|(id, name)| format!("{id}: {name}")).collect::<Vec<_>>().join(", ")
}

fn missing_state(operator: &StatefulOperator, behaviour: Behaviour) -> ExecutionError {
    if behaviour.keeps_operator_names() {
        ExecutionError::new(
            "STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY",
            "Cannot restart streaming query with stateful operators because the state directory is empty or missing.",
        )
    } else {
        ExecutionError::new("FileNotFoundException", format!("state/{}/0/1.delta does not exist", operator.id))
    }
}

fn compare_operator(
    old: &StatefulOperator,
    new: &StatefulOperator,
    configuration: &BTreeMap<String, String>,
    behaviour: Behaviour,
) -> Result<(), ExecutionError> {
    if new.name.starts_with("transformWithState") {
        let evolves = configuration.get(ENCODING).is_some_and(|value| value.eq_ignore_ascii_case("avro"));
        return compare_variables(old, new, evolves);
    }
    let check = configuration.get(SCHEMA_CHECK).is_none_or(|value| !value.eq_ignore_ascii_case("false"));
    for store in &new.stores {
        let Some(known) = old.stores.iter().find(|known| known.store == store.store) else { continue };
        for (part, new_schema, old_schema) in
            [(Part::Key, &store.key, &known.key), (Part::Value, &store.value, &known.value)]
        {
            let compatible = new_schema.fields.len() == old_schema.fields.len()
                && (new_schema.fields.iter().zip(&old_schema.fields))
                    .all(|(new, old)| field_compatible(new, old, behaviour));
            if compatible {
                continue;
            }
            if check {
                return Err(part.incompatible(old_schema, new_schema, behaviour));
            }
            if new_schema.fields.len() != old_schema.fields.len() {
                return Err(part.invalid_row(behaviour));
            }
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Part {
    Key,
    Value,
}

impl Part {
    fn incompatible(self, old: &Schema, new: &Schema, behaviour: Behaviour) -> ExecutionError {
        let (word, class) = match self {
            Part::Key => ("key", "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE"),
            Part::Value => ("value", "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE"),
        };
        let class = if behaviour.names_state_errors() { class } else { "StateSchemaNotCompatible" };
        ExecutionError::new(
            class,
            format!(
                "Provided {word} schema does not match existing state {word} schema. Existing: {}; new: {}.",
                spelled(old),
                spelled(new)
            ),
        )
    }

    fn invalid_row(self, behaviour: Behaviour) -> ExecutionError {
        let class = match self {
            _ if !behaviour.names_state_errors() => "InvalidUnsafeRowException",
            Part::Key => "CANNOT_LOAD_STATE_STORE.KEY_ROW_FORMAT_VALIDATION_FAILURE",
            Part::Value => "CANNOT_LOAD_STATE_STORE.VALUE_ROW_FORMAT_VALIDATION_FAILURE",
        };
        ExecutionError::new(class, "the streaming query failed to validate the format of state rows")
    }
}

fn spelled(schema: &Schema) -> String {
    DataType::Struct(schema.fields.clone()).to_string()
}

/// `DataType.equalsIgnoreNameAndCompatibleNullability`: types field by field, names ignored, NULLs no newer than the old ones.
fn field_compatible(new: &Field, old: &Field, behaviour: Behaviour) -> bool {
    let nullable = behaviour.stores_nullable_state() || old.nullable || !new.nullable;
    nullable && type_compatible(&new.data_type, &old.data_type, behaviour)
}

fn type_compatible(new: &DataType, old: &DataType, behaviour: Behaviour) -> bool {
    let nulls = |new: bool, old: bool| behaviour.stores_nullable_state() || old || !new;
    match (new, old) {
        (
            DataType::Array { element: a, contains_null: new_null },
            DataType::Array { element: b, contains_null: old_null },
        ) => nulls(*new_null, *old_null) && type_compatible(a, b, behaviour),
        (
            DataType::Map { key: a, value: x, value_contains_null: new_null },
            DataType::Map { key: b, value: y, value_contains_null: old_null },
        ) => nulls(*new_null, *old_null) && type_compatible(a, b, behaviour) && type_compatible(x, y, behaviour),
        (DataType::Struct(a), DataType::Struct(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(new, old)| field_compatible(new, old, behaviour))
        }
        // Nothing is known, so nothing is refused.
        (DataType::Unknown, _) | (_, DataType::Unknown) => true,
        _ => new == old,
    }
}

/// transformWithState: variables are matched by name; one that is new starts empty. `evolves` where values may gain columns.
fn compare_variables(old: &StatefulOperator, new: &StatefulOperator, evolves: bool) -> Result<(), ExecutionError> {
    let mode = |operator: &StatefulOperator| operator.semantics.get("time-mode").cloned();
    if mode(old) != mode(new) {
        return Err(ExecutionError::new(
            "STATE_STORE_INVALID_CONFIG_AFTER_RESTART",
            "the time mode cannot be changed on an existing checkpoint",
        ));
    }
    for store in &new.stores {
        let Some(known) = old.stores.iter().find(|known| known.store == store.store) else { continue };
        if variable_kind(old, known) != variable_kind(new, store) {
            return Err(ExecutionError::new(
                "STATE_STORE_INVALID_VARIABLE_TYPE_CHANGE",
                format!("the state variable `{}` has another kind than before", store.store),
            ));
        }
        if !same_types(&known.key, &store.key) {
            return Err(ExecutionError::new(
                "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE",
                format!("the key of the state variable `{}` has another type than before", store.store),
            ));
        }
        let fits = same_types(&known.value, &store.value) || (evolves && extends(&store.value, &known.value));
        if !fits {
            return Err(ExecutionError::new(
                "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE",
                format!("the value of the state variable `{}` has another type than before", store.store),
            ));
        }
    }
    Ok(())
}

/// `name: kind …` among the operator's `variables`.
fn variable_kind(operator: &StatefulOperator, store: &StateStoreSchema) -> Option<String> {
    let listed = operator.semantics.get("variables")?;
    listed.iter().find_map(|text| {
        let (name, kind) = text.split_once(':')?;
        (name.trim() == store.store.as_ref()).then(|| kind.split_whitespace().next().unwrap_or_default().to_owned())
    })
}

/// Columns added to a value that is stored as Avro, which finds the old ones by name.
fn extends(new: &Schema, old: &Schema) -> bool {
    old.fields.iter().all(|field| match new.field(&field.name) {
        Some(kept) => match (&kept.data_type, &field.data_type) {
            (DataType::Struct(a), DataType::Struct(b)) => extends(&Schema::new(a.clone()), &Schema::new(b.clone())),
            (a, b) => a == b,
        },
        None => false,
    })
}

fn same_types(a: &Schema, b: &Schema) -> bool {
    a.fields.len() == b.fields.len() && a.fields.iter().zip(&b.fields).all(|(a, b)| a.data_type == b.data_type)
}

/// The operators of a query analysed under the session's configuration, as they are under the pinned one: format 1 of
/// aggregation state keeps the keys in the value too.
pub fn stored_operators(
    operators: &[StatefulOperator],
    session: &BTreeMap<String, String>,
    effective: &BTreeMap<String, String>,
) -> Vec<StatefulOperator> {
    let keeps_keys = |conf: &BTreeMap<String, String>| conf.get(AGGREGATION_FORMAT).map(String::as_str) == Some("1");
    let mut stored = operators.to_vec();
    for store in stored.iter_mut().filter(|o| &*o.name == "stateStoreSave").flat_map(|o| &mut o.stores) {
        match (keeps_keys(session), keeps_keys(effective)) {
            (false, true) => store.value.fields = [store.key.fields.clone(), store.value.fields.clone()].concat(),
            (true, false) => {
                store.value.fields = store.value.fields.split_off(store.key.fields.len().min(store.value.fields.len()));
            }
            _ => {}
        }
    }
    stored
}

/// Notes operators whose state is written for the first time. What is noted stays: a restart with other names over equal types
/// leaves the stored schema as it is.
pub fn record_operators(stored: &mut Vec<StatefulOperator>, operators: &[StatefulOperator]) {
    for operator in operators {
        match stored.iter_mut().find(|known| known.id == operator.id) {
            None => stored.push(operator.clone()),
            Some(known) => {
                for store in &operator.stores {
                    if !known.stores.iter().any(|other| other.store == store.store) {
                        known.stores.push(store.clone());
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::checkpoint::{Offset, OffsetEntry};
    use crate::model::{Place, Platform};

    const SPARK_4: Behaviour = Behaviour { platform: Platform::Spark, spark_version: (4, 3) };
    const SPARK_3: Behaviour = Behaviour { platform: Platform::Spark, spark_version: (3, 5) };

    fn operator(name: &str, key: Vec<Field>) -> StatefulOperator {
        let value = Schema::new(vec![Field::new("value", DataType::Long)]);
        StatefulOperator {
            id: 0,
            name: name.into(),
            stores: vec![StateStoreSchema { store: "default".into(), key: Schema::new(key), value }],
            semantics: BTreeMap::new(),
            place: Place::unknown(),
        }
    }

    fn checkpoint(operators: Vec<StatefulOperator>, sources: usize) -> Checkpoint {
        let mut checkpoint = Checkpoint::new(1);
        checkpoint.operators = operators;
        checkpoint.commits.push(0);
        checkpoint.offsets.push(OffsetEntry {
            sources: SourceOffsets::ByPosition(vec![Some(Offset::Files { log: 0 }); sources]),
            watermark: 0,
            configuration: BTreeMap::from([("spark.sql.shuffle.partitions".to_owned(), "1".to_owned())]),
        });
        checkpoint
    }

    fn compare(old: &StatefulOperator, new: &StatefulOperator, behaviour: Behaviour) -> Option<String> {
        let conf = BTreeMap::new();
        let checkpoint = checkpoint(vec![old.clone()], 1);
        compare_state(&checkpoint, std::slice::from_ref(new), &conf, behaviour).err().map(|error| error.class)
    }

    #[test]
    fn types_and_their_order_count_and_names_do_not() {
        let old = operator("dedupe", vec![Field::new("id", DataType::Long), Field::new("k", DataType::String)]);
        let renamed = operator("dedupe", vec![Field::new("x", DataType::Long), Field::new("y", DataType::String)]);
        let turned = operator("dedupe", vec![Field::new("k", DataType::String), Field::new("id", DataType::Long)]);
        assert_eq!(compare(&old, &renamed, SPARK_4), None);
        assert_eq!(compare(&old, &turned, SPARK_4).unwrap(), "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE");
    }

    #[test]
    fn nullability_counts_before_spark_4() {
        let strict = operator("dedupe", vec![Field::not_null("k", DataType::String)]);
        let loose = operator("dedupe", vec![Field::new("k", DataType::String)]);
        assert_eq!(compare(&strict, &loose, SPARK_3).unwrap(), "StateSchemaNotCompatible");
        assert_eq!(compare(&loose, &strict, SPARK_3), None);
        assert_eq!(compare(&strict, &loose, SPARK_4), None);
    }

    #[test]
    fn operators_are_compared_by_name_since_spark_4() {
        let (dedupe, limit) = (operator("dedupe", Vec::new()), operator("globalLimit", Vec::new()));
        let conf = BTreeMap::new();
        let held = checkpoint(vec![dedupe.clone()], 1);
        let class = |operators: &[StatefulOperator], checkpoint: &Checkpoint, behaviour| {
            compare_state(checkpoint, operators, &conf, behaviour).err().map(|error| error.class)
        };
        assert_eq!(class(&[limit], &held, SPARK_4).unwrap(), "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA");
        assert_eq!(class(&[], &held, SPARK_4).unwrap(), "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA");
        assert_eq!(class(&[], &held, SPARK_3), None);
        let stateless = checkpoint(Vec::new(), 1);
        assert_eq!(
            class(&[dedupe], &stateless, SPARK_4).unwrap(),
            "STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY"
        );
    }

    #[test]
    fn the_log_pins_some_configuration_and_not_the_rest() {
        let session = BTreeMap::from([
            ("spark.sql.shuffle.partitions".to_owned(), "8".to_owned()),
            ("spark.sql.session.timeZone".to_owned(), "UTC".to_owned()),
        ]);
        let effective = configuration(&checkpoint(Vec::new(), 1), &session, SPARK_4);
        assert_eq!(effective["spark.sql.shuffle.partitions"], "1");
        assert_eq!(effective["spark.sql.session.timeZone"], "UTC");
    }

    #[test]
    fn sources_are_counted() {
        let held = checkpoint(Vec::new(), 2);
        assert!(compare_sources(&held, 2, false, SPARK_4).is_ok());
        assert_eq!(compare_sources(&held, 1, false, SPARK_4).unwrap_err().class, "STREAM_FAILED/ASSERT_SOURCE_COUNT");
    }
}
