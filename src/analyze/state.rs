//! Stateful operators of an optimized plan: ids, names, state schemas and what the state means.
//!
//! Ids count from the sink down, left before right (`IncrementalExecution`). Schemas are those of `StateStoreSaveExec`,
//! `StreamingDeduplicateExec`, `SymmetricHashJoinStateManager` (format 2), `StreamingSessionWindowStateManager`,
//! `StreamingGlobalLimitExec`, `FlatMapGroupsWithStateExec` and `TransformWithStateExec`.

use super::canonical::{Canonical, code, join_kind};
use super::join_keys::{EquiKey, split_condition};
use super::not_null::NotNull;
use super::output::output;
use super::resolve::expression::{arguments, is_aggregate, typed};
use super::resolve::{delay_micros, name_of};
use crate::functions;
use crate::model::{
    Attribute, Call, DataType, Expr, Field, GroupingSets, JoinKind, JoinOn, Node, OutputMode, Place, Plan, Schema,
    StateStoreSchema, StatefulFunction, StatefulOperator, WatermarkSignature,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Settings that Spark 4 writes into the offset log and takes from there at a restart (`OffsetSeqMetadata.relevantSQLConfs` and
/// `relevantSQLConfDefaultValues`).
pub const PINNED_SETTINGS: &[&str] = &[
    "spark.sql.shuffle.partitions",
    "spark.sql.streaming.stateStore.providerClass",
    "spark.sql.streaming.multipleWatermarkPolicy",
    "spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion",
    "spark.sql.streaming.aggregation.stateFormatVersion",
    "spark.sql.streaming.join.stateFormatVersion",
    "spark.sql.streaming.stateStore.compression.codec",
    "spark.sql.streaming.stateStore.rocksdb.formatVersion",
    "spark.sql.streaming.stateStore.rocksdb.mergeOperatorVersion",
    "spark.sql.streaming.stateStore.encodingFormat",
    "spark.sql.streaming.stateStore.rowChecksum.enabled",
    "spark.sql.streaming.statefulOperator.useStrictDistribution",
    "spark.sql.streaming.statefulOperator.alwaysNullableOutput.enabled",
    "spark.sql.dropDuplicates.deterministicKeyOrder.enabled",
    "spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan",
    "spark.sql.function.protobufExtensions.enabled",
    "spark.sql.streaming.queryEvolution.enableSourceEvolution",
];

/// What of the configuration and the platform shapes the schemas.
#[derive(Debug, Clone, Copy)]
pub(super) struct StateFormat {
    /// Every field is stored as nullable (`spark.sql.streaming.statefulOperator.alwaysNullableOutput.enabled`).
    pub always_nullable: bool,
    /// `spark.sql.streaming.aggregation.stateFormatVersion`: 1 keeps the keys in the value too.
    pub aggregation_version: u8,
    pub output_mode: OutputMode,
}

pub(super) fn operators(
    plan: &Plan,
    canonical: &Canonical,
    format: StateFormat,
) -> (Vec<StatefulOperator>, Vec<WatermarkSignature>) {
    let mut walk = Walk { canonical, format, found: Vec::new(), above: Vec::new(), watermarks: Vec::new() };
    walk.visit(plan);
    (walk.found, walk.watermarks)
}

struct Walk<'a> {
    canonical: &'a Canonical,
    format: StateFormat,
    found: Vec<StatefulOperator>,
    /// Ids of the operators between the sink and the plan that is visited.
    above: Vec<u32>,
    watermarks: Vec<WatermarkSignature>,
}

type Semantics = BTreeMap<&'static str, Vec<String>>;

impl Walk<'_> {
    /// Parents before inputs, so that ids count down from the sink.
    fn visit(&mut self, plan: &Plan) {
        if !plan.is_streaming() {
            return;
        }
        let known = self.found.len();
        match &plan.node {
            Node::Aggregate { groupings, sets, outputs, input, .. } => {
                self.aggregate(groupings, sets, outputs, input, &plan.place);
            }
            Node::Deduplicate { keys, within_watermark, input } => {
                self.deduplicate(keys.as_deref(), *within_watermark, input, &plan.place);
            }
            Node::Join { left, right, kind, on, .. } if left.is_streaming() && right.is_streaming() => {
                self.join(left, right, *kind, on, &plan.place);
            }
            Node::Limit { count, .. } if self.format.output_mode == OutputMode::Append => {
                let key = Schema::new(vec![Field::new("key", DataType::Null)]);
                let value = Schema::new(vec![Field::new("value", DataType::Long)]);
                let semantics = Semantics::from([("limit", vec![self.canonical.expr(count).to_string()])]);
                self.push("globalLimit", vec![store("default", key, value)], semantics, &plan.place);
            }
            Node::StatefulMap { keys, function, .. } => self.stateful_map(keys, function, &plan.place),
            Node::Watermark { event_time, delay, .. } => self.watermarks.push(WatermarkSignature {
                event_time: self.canonical.expr(event_time).to_string(),
                delay: delay_micros(delay),
                operators: self.above.clone(),
                place: plan.place.clone(),
            }),
            _ => {}
        }
        let height = self.above.len();
        self.above.extend(self.found.get(known..).into_iter().flatten().map(|operator| operator.id));
        for input in plan.inputs() {
            self.visit(input);
        }
        self.above.truncate(height);
    }

    fn push(&mut self, name: &str, stores: Vec<StateStoreSchema>, semantics: Semantics, place: &Place) {
        let id = u32::try_from(self.found.len()).unwrap_or(u32::MAX);
        let stores = if self.format.always_nullable { stores.into_iter().map(all_nullable).collect() } else { stores };
        self.found.push(StatefulOperator { id, name: name.into(), stores, semantics, place: place.clone() });
    }

    fn aggregate(&mut self, groupings: &[Expr], sets: &GroupingSets, outputs: &[Expr], input: &Plan, place: &Place) {
        let not_null = NotNull::of(input);
        let mut keys: Vec<Field> = groupings.iter().map(|g| key_field(g, &not_null)).collect();
        if !matches!(sets, GroupingSets::Simple) {
            keys.push(Field::not_null("spark_grouping_id", DataType::Long));
        }
        let calls = aggregate_calls(outputs);
        let buffers: Vec<Field> = calls.iter().flat_map(|call| buffer(call)).collect();
        let mut semantics = Semantics::from([
            ("keys", groupings.iter().map(|g| self.canonical.expr(g).to_string()).collect()),
            ("aggregates", calls.iter().map(|c| self.canonical.expr(&Expr::Call((*c).clone())).to_string()).collect()),
            ("input", vec![self.canonical.plan(input).to_string()]),
        ]);
        let windows: Vec<String> =
            groupings.iter().filter(|g| is_time_window(g)).map(|g| self.canonical.expr(g).to_string()).collect();
        if !windows.is_empty() {
            semantics.insert("window", windows);
        }
        if let Some(session) = groupings.iter().position(is_session) {
            let without: Vec<Field> =
                keys.iter().enumerate().filter(|(i, _)| *i != session).map(|(_, f)| f.clone()).collect();
            let mut key = without;
            key.push(Field::new("sessionStartTime", DataType::Timestamp));
            let value = keys.into_iter().chain(buffers).collect();
            let stores = vec![store("default", Schema::new(key), Schema::new(value))];
            self.push("sessionWindowStateStoreSaveExec", stores, semantics, place);
            return;
        }
        let value =
            if self.format.aggregation_version == 1 { keys.iter().cloned().chain(buffers).collect() } else { buffers };
        let stores = vec![store("default", Schema::new(keys), Schema::new(value))];
        self.push("stateStoreSave", stores, semantics, place);
    }

    fn deduplicate(&mut self, keys: Option<&[Expr]>, within_watermark: bool, input: &Plan, place: &Place) {
        let not_null = NotNull::of(input);
        let all: Vec<Expr>;
        let (keys, complete) = match keys {
            Some(keys) => (keys, true),
            None => {
                all = output(input).into_iter().map(Expr::Attribute).collect();
                (all.as_slice(), false)
            }
        };
        let key = Schema { fields: keys.iter().map(|k| key_field(k, &not_null)).collect(), complete };
        let (name, value) = if within_watermark {
            ("dedupeWithinWatermark", Field::new("expiresAtMicros", DataType::Long))
        } else {
            ("dedupe", Field::new("__dummy__", DataType::Null))
        };
        let semantics = Semantics::from([
            ("keys", keys.iter().map(|k| self.canonical.expr(k).to_string()).collect()),
            ("input", vec![self.canonical.plan(input).to_string()]),
        ]);
        self.push(name, vec![store("default", key, Schema::new(vec![value]))], semantics, place);
    }

    fn join(&mut self, left: &Plan, right: &Plan, kind: JoinKind, on: &JoinOn, place: &Place) {
        let condition = match on {
            JoinOn::Condition(condition) => Some(condition),
            _ => None,
        };
        let split = split_condition(condition, left, right);
        let mut not_null = [NotNull::of(left), NotNull::of(right)];
        if let Some(condition) = condition {
            let [of_left, of_right] = &mut not_null;
            if matches!(kind, JoinKind::Inner | JoinKind::Cross | JoinKind::LeftSemi | JoinKind::RightOuter) {
                of_left.add_constraints(condition, left);
            }
            if !matches!(kind, JoinKind::RightOuter | JoinKind::FullOuter) {
                of_right.add_constraints(condition, right);
            }
        }
        let mut stores = Vec::with_capacity(4);
        for (side, plan, not_null) in [("left", left, &not_null[0]), ("right", right, &not_null[1])] {
            let key_expr = |key: &EquiKey| if side == "left" { key.left.clone() } else { key.right.clone() };
            let mut keys: Vec<Field> = split
                .keys
                .iter()
                .enumerate()
                .map(|(index, key)| {
                    let (data_type, nullable) = typed(&key_expr(key));
                    Field { name: format!("field{index}"), data_type, nullable }
                })
                .collect();
            let count = Schema::new(vec![Field::new("value", DataType::Long)]);
            stores.push(store(&format!("{side}-keyToNumValues"), Schema::new(keys.clone()), count));
            keys.push(Field::new("index", DataType::Long));
            let mut value: Vec<Field> = output(plan).iter().map(|a| column_field(a, not_null)).collect();
            value.push(Field::new("matched", DataType::Boolean));
            stores.push(store(&format!("{side}-keyWithIndexToValue"), Schema::new(keys), Schema::new(value)));
        }
        let texts = |exprs: Vec<Expr>| {
            let mut texts: Vec<String> = exprs.iter().map(|e| self.canonical.expr(e).to_string()).collect();
            texts.sort();
            texts
        };
        let columns = |plan: &Plan| {
            output(plan).into_iter().map(|a| self.canonical.expr(&Expr::Attribute(a)).to_string()).collect()
        };
        let semantics = Semantics::from([
            ("join-type", vec![join_kind(kind).to_owned()]),
            ("keys", split.keys.iter().map(|key| self.key_text(key)).collect()),
            ("condition", texts(split.residual)),
            ("left", columns(left)),
            ("right", columns(right)),
            ("input", vec![self.canonical.plan(left).to_string(), self.canonical.plan(right).to_string()]),
        ]);
        self.push("symmetricHashJoin", stores, semantics, place);
    }

    fn key_text(&self, key: &EquiKey) -> String {
        format!("{} = {}", self.canonical.expr(&key.left), self.canonical.expr(&key.right))
    }

    fn stateful_map(&mut self, keys: &[Expr], function: &StatefulFunction, place: &Place) {
        let key = Schema::new(keys.iter().map(|k| key_field(k, &NotNull::default())).collect());
        let mut semantics = Semantics::from([
            ("keys", keys.iter().map(|k| self.canonical.expr(k).to_string()).collect()),
            ("function", vec![code(&function.function).to_string()]),
            ("time-mode", vec![function.time_mode.to_string()]),
            ("output-mode", vec![function.output_mode.to_lowercase()]),
        ]);
        if is_transform_with_state(&function.operator) {
            let name = if function.operator.ends_with("InPandas") {
                "transformWithStateInPandasExec"
            } else {
                "transformWithStateExec"
            };
            let variables = function.variables.iter().map(|v| format!("{}: {} ttl={}", v.name, v.kind, v.ttl));
            semantics.insert("variables", variables.collect());
            self.push(name, transform_with_state(&key, function), semantics, place);
            return;
        }
        let state = function.state.clone().unwrap_or_else(Schema::unknown);
        let state_type = if state.complete { DataType::Struct(state.fields) } else { DataType::Unknown };
        let mut value = vec![Field::new("groupState", state_type)];
        if has_timeout(&function.time_mode) {
            value.push(Field::not_null("timeoutTimestamp", DataType::Long));
        }
        let name = match function.operator.as_ref() {
            "applyInPandasWithState" => "applyInPandasWithState",
            _ => "flatMapGroupsWithState",
        };
        self.push(name, vec![store("default", key, Schema::new(value))], semantics, place);
    }
}

fn store(name: &str, key: Schema, value: Schema) -> StateStoreSchema {
    StateStoreSchema { store: name.into(), key, value }
}

fn all_nullable(store: StateStoreSchema) -> StateStoreSchema {
    let relax = |schema: Schema| Schema {
        fields: schema.fields.into_iter().map(|f| Field { nullable: true, ..f }).collect(),
        complete: schema.complete,
    };
    StateStoreSchema { store: store.store, key: relax(store.key), value: relax(store.value) }
}

fn key_field(key: &Expr, not_null: &NotNull) -> Field {
    match key {
        Expr::Attribute(a) => column_field(a, not_null),
        other => {
            let (data_type, nullable) = typed(other);
            let nullable = if is_time_window(other) { overlaps(other) } else { nullable };
            let name = match other {
                Expr::Call(call) if is_time_window(other) => call.function.to_string(),
                _ => name_of(other),
            };
            Field { name, data_type, nullable }
        }
    }
}

fn column_field(column: &Attribute, not_null: &NotNull) -> Field {
    Field {
        name: column.name.to_string(),
        data_type: column.data_type.clone(),
        nullable: column.nullable && !not_null.contains(column.id),
    }
}

/// Aggregate calls in order of first appearance, each once (`PhysicalAggregation`).
pub(super) fn aggregate_calls(outputs: &[Expr]) -> Vec<&Call> {
    let mut calls: Vec<&Call> = Vec::new();
    for output in outputs {
        output.walk(&mut |e| {
            if let Expr::Call(call) = e
                && is_aggregate(call)
                && !calls.contains(&call)
            {
                calls.push(call);
            }
        });
    }
    calls
}

/// Buffer columns of an aggregate call; one of unknown type where the function is not known.
fn buffer(call: &Call) -> Vec<Field> {
    match functions::lookup(&call.function).and_then(functions::Function::aggregate) {
        Some(aggregate) => (aggregate.buffer)(&arguments(&call.args)),
        None => vec![Field::new(call.function.to_string(), DataType::Unknown)],
    }
}

fn is_time_window(expr: &Expr) -> bool {
    matches!(expr, Expr::Call(call) if matches!(call.function.as_ref(), "window" | "session_window"))
}

/// A row falls into several windows: their structs come out of an `Expand`, whose columns are declared nullable. One window a row
/// is a struct of a projection, which is never NULL (`TimeWindowing`).
fn overlaps(window: &Expr) -> bool {
    matches!(window, Expr::Call(call) if matches!(call.args.as_slice(), [_, duration, slide, ..] if duration != slide))
}

fn is_session(expr: &Expr) -> bool {
    matches!(expr, Expr::Call(call) if call.function.as_ref() == "session_window")
}

fn is_transform_with_state(operator: &str) -> bool {
    operator.starts_with("transformWithState")
}

fn has_timeout(mode: &str) -> bool {
    !mode.is_empty() && !mode.eq_ignore_ascii_case("NoTimeout") && !mode.eq_ignore_ascii_case("None")
}

/// One store a variable, under the variable's name; two more for timers of a time mode.
fn transform_with_state(key: &Schema, function: &StatefulFunction) -> Vec<StateStoreSchema> {
    let mut stores: Vec<StateStoreSchema> = Vec::new();
    for variable in &function.variables {
        let mut own = key.clone();
        if let Some(user_key) = &variable.key {
            let grouping = DataType::Struct(key.fields.clone());
            own = Schema::new(vec![Field::new("key", grouping), Field::new("userKey", user_key.clone())]);
        }
        let fields = match &variable.value {
            DataType::Struct(fields) => fields.clone(),
            other => vec![Field::new("value", other.clone())],
        };
        let value = if variable.ttl {
            vec![Field::new("value", DataType::Struct(fields)), Field::new("ttlExpirationMs", DataType::Long)]
        } else {
            fields
        };
        let complete = !variable.value.is_unknown();
        stores.push(StateStoreSchema {
            store: Arc::clone(&variable.name),
            key: own,
            value: Schema { fields: value, complete },
        });
    }
    let timers = match function.time_mode.to_lowercase().as_str() {
        "processingtime" => Some("$procTimers"),
        "eventtime" => Some("$eventTimers"),
        _ => None,
    };
    if let Some(timers) = timers {
        let grouping = Field::new("key", DataType::Struct(key.fields.clone()));
        let expiry = Field::not_null("expiryTimestampMs", DataType::Long);
        let dummy = Schema::new(vec![Field::new("__dummy__", DataType::Null)]);
        let by_key = Schema::new(vec![grouping.clone(), expiry.clone()]);
        let by_time = Schema::new(vec![expiry, grouping]);
        stores.push(store(&format!("{timers}_keyToTimestamp"), by_key, dummy.clone()));
        stores.push(store(&format!("{timers}_timestampToKey"), by_time, dummy));
    }
    stores
}
