//! AUTO CDC: applies the change events of a micro-batch to a target table, as SCD type 1 (the latest row of each key) or type 2
//! (every version of it), in the order of the sequence and not of arrival.
//!
//! The target carries a hidden `__spark_autocdc_metadata` column with the sequence of each row, and beside it stands a table of
//! tombstones, so that late events find out that they are late.

use super::error::ExecutionError;
use super::operators::{Tables, run_batch};
use super::platform::Behaviour;
use super::row::{Row, Rows};
use super::scan;
use super::session::Session;
use super::stream::{Sink, SinkBatch};
use super::table::{CdcProperties, CommitKind, TableFormat};
use super::world::World;
use crate::analyze::AnalyzedFlow;
use crate::model::{
    AttrId, Attribute, CdcSpec, ColumnSelection, DataType, Expr, Field, Flow, Node, Plan, QualifiedName, Read, ScdType,
    Schema, Source, Value,
};
use std::collections::BTreeMap;
use std::sync::Arc;

pub const METADATA: &str = "__spark_autocdc_metadata";
const TOMBSTONES: &str = "__spark_autocdc_aux_state_";
const START_AT: &str = "__START_AT";
const END_AT: &str = "__END_AT";

/// What an AUTO CDC flow makes of its target.
#[derive(Debug, Clone)]
pub struct CdcTarget {
    spec: CdcSpec,
    /// Columns of the source that go into the target, then those that the target has beside them.
    columns: Vec<Field>,
    /// How many of the columns the flow does not write: what they hold stays.
    untouched: usize,
    keys: Vec<Field>,
    sequence_type: DataType,
}

impl CdcTarget {
    /// None where the flow is not an AUTO CDC flow.
    pub fn of(analyzed: &AnalyzedFlow, flow: &Flow) -> Option<Self> {
        let spec = analyzed.cdc.as_ref().or_else(|| flow.cdc())?.clone();
        let source = &analyzed.schema;
        let columns = source.fields.iter().filter(|field| selected(&spec.columns, &field.name)).cloned().collect();
        let key = |expr: &Expr| {
            let name = column_name(expr);
            source.field(&name).cloned().unwrap_or_else(|| Field::new(name, DataType::Unknown))
        };
        let keys = spec.keys.iter().map(key).collect();
        let sequence_type = spec.sequence_by.as_ref().map_or(DataType::Long, |expr| data_type(expr, source));
        Some(CdcTarget { spec, columns, untouched: 0, keys, sequence_type })
    }

    fn metadata(&self) -> Field {
        let sequence = |name: &str| Field::new(name, self.sequence_type.clone());
        let fields = match self.spec.scd_type {
            ScdType::One => vec![sequence("deleteSequence"), sequence("upsertSequence")],
            ScdType::Two => vec![sequence("__RECORD_START_AT")],
        };
        Field::new(METADATA, DataType::Struct(fields))
    }

    /// Columns that the flow writes, hidden one last.
    fn stored(&self) -> Schema {
        let mut fields = self.columns.clone();
        if self.spec.scd_type == ScdType::Two {
            fields.push(Field::new(START_AT, self.sequence_type.clone()));
            fields.push(Field::new(END_AT, self.sequence_type.clone()));
        }
        fields.push(self.metadata());
        Schema::new(fields)
    }

    /// Columns of the target table: what is declared or written; the hidden column shows on Spark alone.
    pub fn schema(&self, declared: &Schema, behaviour: Behaviour) -> Schema {
        let mut schema = Schema { fields: Vec::new(), complete: declared.complete };
        for field in self.stored().fields {
            if behaviour.is_lakeflow() && field.name == METADATA {
                continue;
            }
            schema.fields.push(declared.field(&field.name).cloned().unwrap_or(field));
        }
        schema
    }

    /// What the target's properties keep of the flow.
    pub fn properties(&self) -> CdcProperties {
        let mut keys: Vec<(String, String)> =
            self.keys.iter().map(|key| (key.name.to_lowercase(), key.data_type.to_string())).collect();
        keys.sort();
        CdcProperties {
            keys,
            scd_type: match self.spec.scd_type {
                ScdType::One => 1,
                ScdType::Two => 2,
            },
            sequence_type: self.sequence_type.to_string(),
            track_history: match &self.spec.track_history {
                ColumnSelection::All => None,
                selection => {
                    let tracked = self.columns.iter().filter(|field| selected(selection, &field.name));
                    let mut names: Vec<String> = tracked.map(|field| field.name.to_lowercase()).collect();
                    names.sort();
                    Some(names)
                }
            },
        }
    }

    /// Creates the table of tombstones, or empties it.
    pub fn materialize_tombstones(&self, world: &mut World, target: &str, reset: bool, behaviour: Behaviour) {
        if behaviour.is_lakeflow() {
            return;
        }
        let schema = self.tombstone_schema();
        let table = world.create(&tombstones(target), TableFormat::Delta, schema);
        if reset {
            table.truncate();
        }
    }

    fn tombstone_schema(&self) -> Schema {
        let mut fields = match self.spec.scd_type {
            ScdType::One => self.keys.clone(),
            ScdType::Two => {
                return Schema::new(
                    [self.stored().fields, vec![Field::new("__spark_autocdc_deleted_by_batch_id", DataType::Long)]]
                        .concat(),
                );
            }
        };
        fields.push(self.metadata());
        Schema::new(fields)
    }

    /// The same target with the columns of the table that the flow does not write.
    fn over(&self, table: &Schema) -> Self {
        let stored = self.stored();
        let beside = table.fields.iter().filter(|field| stored.field(&field.name).is_none());
        let mut target = self.clone();
        target.columns.extend(beside.cloned());
        target.untouched = target.columns.len() - self.columns.len();
        target
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|field| field.name.eq_ignore_ascii_case(name))
    }

    /// Columns whose change makes a new version of an SCD type 2 row.
    fn tracked(&self) -> Vec<usize> {
        let tracked = |field: &Field| selected(&self.spec.track_history, &field.name);
        self.columns.iter().enumerate().filter(|(_, field)| tracked(field)).map(|(at, _)| at).collect()
    }
}

fn tombstones(target: &str) -> String {
    match target.rsplit_once(['.', '/']) {
        Some((parent, name)) => {
            let separator = target.get(parent.len()..=parent.len()).unwrap_or("/");
            format!("{parent}{separator}{TOMBSTONES}{name}")
        }
        None => format!("{TOMBSTONES}{target}"),
    }
}

fn selected(selection: &ColumnSelection, name: &str) -> bool {
    let among = |names: &[String]| names.iter().any(|other| other.eq_ignore_ascii_case(name));
    match selection {
        ColumnSelection::All => true,
        ColumnSelection::Only(names) => among(names),
        ColumnSelection::Except(names) => !among(names),
    }
}

fn column_name(expr: &Expr) -> String {
    match expr {
        Expr::Attribute(attribute) => attribute.name.to_string(),
        Expr::Column(column) => column.parts.last().cloned().unwrap_or_default(),
        Expr::Alias { expr, .. } => column_name(expr),
        _ => String::new(),
    }
}

fn data_type(expr: &Expr, source: &Schema) -> DataType {
    match expr {
        Expr::Attribute(attribute) => attribute.data_type.clone(),
        Expr::Column(_) => source.field(&column_name(expr)).map_or(DataType::Unknown, |field| field.data_type.clone()),
        Expr::Cast { to, .. } => to.clone(),
        Expr::Literal { data_type, .. } => data_type.clone(),
        Expr::Alias { expr, .. } => data_type(expr, source),
        Expr::Call(call) if &*call.function == "struct" => {
            DataType::Struct(call.args.iter().map(|arg| Field::new(column_name(arg), data_type(arg, source))).collect())
        }
        Expr::Call(call) => call.args.first().map_or(DataType::Unknown, |arg| data_type(arg, source)),
        _ => DataType::Unknown,
    }
}

/// Compares what an AUTO CDC flow says with what its target has kept of it.
///
/// # Errors
/// `AUTOCDC_INVALID_STATE.{KEY_SCHEMA,SCD_TYPE,SEQUENCING_TYPE,TRACK_HISTORY}_DRIFT`.
pub fn compare_properties(known: &CdcProperties, new: &CdcProperties) -> Result<(), ExecutionError> {
    let drift = match () {
        () if known.keys != new.keys => "KEY_SCHEMA_DRIFT",
        () if known.scd_type != new.scd_type => "SCD_TYPE_DRIFT",
        () if known.sequence_type != new.sequence_type => "SEQUENCING_TYPE_DRIFT",
        () if known.track_history != new.track_history => "TRACK_HISTORY_DRIFT",
        () => return Ok(()),
    };
    Err(ExecutionError::new(
        format!("AUTOCDC_INVALID_STATE.{drift}"),
        "the AUTO CDC flow does not agree with the state of its target",
    ))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Upsert,
    Delete,
    Truncate,
}

/// Apache Spark takes no event without a whole key and a sequence (`AUTOCDC_MICROBATCH_VALIDATION`).
fn validate(events: &[Event]) -> Result<(), ExecutionError> {
    let failed = |part: &str, rows: usize, what: &str| {
        let class = format!("AUTOCDC_MICROBATCH_VALIDATION.{part}");
        Err(ExecutionError::new(class, format!("{rows} rows of the micro-batch have a NULL {what}")))
    };
    let keyless = events.iter().filter(|event| event.key.iter().any(Value::is_null)).count();
    let unordered = events.iter().filter(|event| event.sequence.is_null()).count();
    match (unordered, keyless) {
        (0, 0) => Ok(()),
        (0, rows) => failed("NULL_KEY", rows, "in a key column"),
        (rows, _) => failed("NULL_SEQUENCE", rows, "sequencing value"),
    }
}

/// One row of the source, as an event of a key.
struct Event {
    key: Vec<Value>,
    sequence: Value,
    change: Change,
    /// Values of the target's columns.
    values: Vec<Value>,
}

/// Applies micro-batches to the target at a location.
pub struct CdcSink<'a> {
    target: CdcTarget,
    location: &'a str,
    writer: &'a str,
    behaviour: Behaviour,
}

impl<'a> CdcSink<'a> {
    pub fn new(target: CdcTarget, location: &'a str, writer: &'a str, behaviour: Behaviour) -> Self {
        CdcSink { target, location, writer, behaviour }
    }
}

impl Sink for CdcSink<'_> {
    fn write(&mut self, world: &mut World, batch: SinkBatch) -> Result<usize, ExecutionError> {
        let count = batch.rows.rows.len();
        let Some(table) = world.tables.get(self.location) else {
            return Err(ExecutionError::new("TABLE_OR_VIEW_NOT_FOUND", format!("no table at {}", self.location)));
        };
        let target = self.target.over(&table.schema);
        let mut events = target.events(batch.rows)?;
        if !self.behaviour.is_lakeflow() {
            validate(&events)?;
        }
        let stored = target.stored();
        let columns = attributes(&stored);
        let rows: Vec<Row> = table.files().into_iter().flat_map(|file| scan::typed(file, &columns)).collect();
        if target.spec.from_snapshot {
            target.complete_snapshot(&rows, &mut events);
        }
        if events.is_empty() {
            return Ok(0);
        }
        let place = tombstones(self.location);
        let known = world
            .tables
            .get(&place)
            .map(|table| {
                table
                    .files()
                    .into_iter()
                    .flat_map(|file| scan::typed(file, &attributes(&self.target.tombstone_schema())))
                    .collect::<Vec<Row>>()
            })
            .unwrap_or_default();
        let (rows, buried) = match target.spec.scd_type {
            ScdType::One => target.apply_type_1(rows, known, events),
            ScdType::Two => (target.apply_type_2(rows, events), known),
        };
        if let Some(table) = world.tables.get_mut(self.location) {
            table.replace(CommitKind::Update, rows, &stored, Some(self.writer));
        }
        let schema = self.target.tombstone_schema();
        world.create(&place, TableFormat::Delta, schema.clone()).replace(
            CommitKind::Update,
            buried,
            &schema,
            Some(self.writer),
        );
        Ok(count)
    }
}

/// Columns without an identity, to read by name.
fn attributes(schema: &Schema) -> Vec<Attribute> {
    let next = |(at, field): (usize, &Field)| attribute(field, u32::try_from(at).unwrap_or(u32::MAX));
    schema.fields.iter().enumerate().map(next).collect()
}

fn attribute(field: &Field, id: u32) -> Attribute {
    Attribute {
        id: AttrId(id),
        name: Arc::from(field.name.as_str()),
        data_type: field.data_type.clone(),
        nullable: field.nullable,
        qualifier: Vec::new(),
        watermark_delay: None,
    }
}

/// The rows of one micro-batch, read as a table.
struct Changes(Rows);

impl Tables for Changes {
    fn scan(&self, _: &Read) -> Result<Rows, ExecutionError> {
        Ok(self.0.clone())
    }
}

impl CdcTarget {
    /// Evaluates keys, sequence and conditions over the rows of a micro-batch.
    fn events(&self, rows: Rows) -> Result<Vec<Event>, ExecutionError> {
        let condition = |expr: &Option<Expr>| {
            expr.clone().unwrap_or_else(|| Expr::literal(Value::Boolean(false), DataType::Boolean))
        };
        let mut list: Vec<Expr> = self.spec.keys.clone();
        list.push(self.spec.sequence_by.clone().unwrap_or_else(|| Expr::integer(0)));
        list.push(condition(&self.spec.apply_as_deletes));
        list.push(condition(&self.spec.apply_as_truncates));
        let mut read = Read::new(Source::Table(QualifiedName::bare("changes")), false);
        read.output = columns_of(&rows.schema, &list);
        read.complete = true;
        let keys = self.spec.keys.len();
        let list = list.into_iter().enumerate().map(|(at, expr)| named(expr, at)).collect();
        let plan = Plan::new(Node::Project { list, input: Box::new(Plan::new(Node::Read(read))) });
        let values = rows.project(&self.columns.iter().map(|field| attribute(field, 0)).collect::<Vec<_>>());
        let evaluated = run_batch(&plan, &Changes(rows), &Session::default())?;
        let is_true = |value: Option<&Value>| value == Some(&Value::Boolean(true));
        Ok(evaluated
            .rows
            .rows
            .iter()
            .zip(values)
            .map(|(row, values)| Event {
                key: row.iter().take(keys).cloned().collect(),
                sequence: row.get(keys).cloned().unwrap_or(Value::Null),
                change: match () {
                    () if is_true(row.get(keys + 2)) => Change::Truncate,
                    () if is_true(row.get(keys + 1)) => Change::Delete,
                    () => Change::Upsert,
                },
                values: values.to_vec(),
            })
            .collect())
    }

    fn key_of(&self, row: &Row) -> Vec<Value> {
        let value = |key: &Field| self.position(&key.name).and_then(|at| row.get(at)).cloned().unwrap_or(Value::Null);
        self.keys.iter().map(value).collect()
    }

    /// A snapshot says every row there is: keys that it lacks are deleted.
    fn complete_snapshot(&self, rows: &[Row], events: &mut Vec<Event>) {
        let sequence = Value::Long(i64::try_from(rows.len()).unwrap_or(0));
        let here: Vec<Vec<Value>> = events.iter().map(|event| event.key.clone()).collect();
        for row in rows {
            let key = self.key_of(row);
            if !here.contains(&key) {
                let values = row.iter().take(self.columns.len()).cloned().collect();
                events.push(Event { key, sequence: sequence.clone(), change: Change::Delete, values });
            }
        }
    }

    /// SCD type 1: MERGE on the keys with the newest event of each; a matched row without a sequence (written by another flow)
    /// compares as unknown and stays. Gives rows and tombstones.
    fn apply_type_1(&self, rows: Vec<Row>, known: Vec<Row>, events: Vec<Event>) -> (Vec<Row>, Vec<Row>) {
        let mut rows = rows;
        let mut buried: BTreeMap<Vec<Value>, Value> = known.iter().map(|row| self.tombstone_of(row)).collect();
        let truncated = events.iter().filter(|e| e.change == Change::Truncate).map(|e| e.sequence.clone()).max();
        if let Some(at) = &truncated {
            rows.retain(|row| self.sequence_of(row).is_none_or(|sequence| sequence > *at));
        }
        let mut newest: BTreeMap<Vec<Value>, Event> = BTreeMap::new();
        for event in events {
            if event.change == Change::Truncate || truncated.as_ref().is_some_and(|at| event.sequence <= *at) {
                continue;
            }
            match newest.get(&event.key) {
                Some(known) if known.sequence > event.sequence => {}
                _ => {
                    newest.insert(event.key.clone(), event);
                }
            }
        }
        for (key, event) in newest {
            if buried.get(&key).is_some_and(|sequence| *sequence >= event.sequence) {
                continue;
            }
            let matched: Vec<usize> =
                rows.iter().enumerate().filter(|(_, row)| self.key_of(row) == key).map(|(at, _)| at).collect();
            // Of two events with one sequence the one applied last stands.
            let newer = |row: &Row| self.sequence_of(row).is_some_and(|sequence| event.sequence >= sequence);
            match event.change {
                Change::Delete => {
                    let older: Vec<Row> = matched.iter().filter_map(|at| rows.get(*at)).cloned().collect();
                    if older.is_empty()
                        || older.iter().all(|row| self.sequence_of(row).is_none_or(|s| event.sequence >= s))
                    {
                        buried.insert(key.clone(), event.sequence.clone());
                    }
                    rows.retain(|row| self.key_of(row) != key || !newer(row));
                }
                _ if matched.is_empty() => {
                    buried.remove(&key);
                    rows.push(self.type_1_row(event.values, event.sequence));
                }
                _ => {
                    for at in matched {
                        let Some(row) = rows.get_mut(at) else { continue };
                        if newer(row) {
                            let values = self.updated(row, event.values.clone());
                            *row = self.type_1_row(values, event.sequence.clone());
                            buried.remove(&key);
                        }
                    }
                }
            }
        }
        let buried = buried.into_iter().map(|(key, sequence)| {
            let metadata = Value::Struct([sequence, Value::Null].into());
            key.into_iter().chain(std::iter::once(metadata)).collect()
        });
        (rows, buried.collect())
    }

    fn tombstone_of(&self, row: &Row) -> (Vec<Value>, Value) {
        let key = row.iter().take(self.keys.len()).cloned().collect();
        let sequence = match row.get(self.keys.len()) {
            Some(Value::Struct(fields)) => fields.first().cloned().unwrap_or(Value::Null),
            _ => Value::Null,
        };
        (key, sequence)
    }

    fn type_1_row(&self, mut values: Vec<Value>, sequence: Value) -> Row {
        values.push(Value::Struct([Value::Null, sequence].into()));
        values.into()
    }

    /// `upsertSequence` of a stored row.
    fn sequence_of(&self, row: &Row) -> Option<Value> {
        match row.get(self.columns.len()) {
            Some(Value::Struct(fields)) => fields.get(1).filter(|value| !value.is_null()).cloned(),
            _ => None,
        }
    }

    /// A row's values after an update. Columns that the flow does not write keep theirs; under `IGNORE NULL UPDATES` a NULL
    /// keeps what is there.
    fn updated(&self, row: &Row, values: Vec<Value>) -> Vec<Value> {
        let written = self.columns.len() - self.untouched;
        let keeps = |at: usize, value: &Value| at >= written || (self.spec.ignore_null_updates && value.is_null());
        let value = |(at, value): (usize, Value)| {
            if keeps(at, &value) { row.get(at).cloned().unwrap_or(Value::Null) } else { value }
        };
        values.into_iter().enumerate().map(value).collect()
    }

    /// SCD type 2: the versions of each key, laid out anew from those that are there and the batch's events. An event of a
    /// sequence that is there already is passed over.
    fn apply_type_2(&self, rows: Vec<Row>, events: Vec<Event>) -> Vec<Row> {
        let mut histories: BTreeMap<Vec<Value>, BTreeMap<Value, Option<Vec<Value>>>> = BTreeMap::new();
        let mut foreign = Vec::new();
        for row in rows {
            let width = self.columns.len();
            let (Some(start), end) = (row.get(width).cloned(), row.get(width + 1).cloned().unwrap_or(Value::Null))
            else {
                continue;
            };
            if start.is_null() {
                foreign.push(row);
                continue;
            }
            let history = histories.entry(self.key_of(&row)).or_default();
            history.insert(start, Some(row.iter().take(width).cloned().collect()));
            if !end.is_null() {
                history.entry(end).or_insert(None);
            }
        }
        for event in events {
            let values = (event.change == Change::Upsert).then_some(event.values);
            histories.entry(event.key).or_default().entry(event.sequence).or_insert(values);
        }
        let mut rows = foreign;
        for history in histories.values() {
            rows.extend(self.versions(history));
        }
        rows
    }

    fn versions(&self, history: &BTreeMap<Value, Option<Vec<Value>>>) -> Vec<Row> {
        let tracked = self.tracked();
        let mut versions: Vec<(Value, Value, Vec<Value>)> = Vec::new();
        for (sequence, values) in history {
            let open = versions.last_mut().filter(|(_, end, _)| end.is_null());
            match (open, values) {
                (Some((_, _, current)), Some(values))
                    if same_at(current, values, &tracked) && tracked.len() < values.len() =>
                {
                    *current = values.clone();
                }
                (open, values) => {
                    if let Some((_, end, _)) = open {
                        *end = sequence.clone();
                    }
                    if let Some(values) = values {
                        versions.push((sequence.clone(), Value::Null, values.clone()));
                    }
                }
            }
        }
        versions
            .into_iter()
            .map(|(start, end, mut values)| {
                let metadata = Value::Struct([start.clone()].into());
                values.extend([start, end, metadata]);
                values.into()
            })
            .collect()
    }
}

fn same_at(a: &[Value], b: &[Value], positions: &[usize]) -> bool {
    positions.iter().all(|at| a.get(*at) == b.get(*at))
}

fn named(expr: Expr, at: usize) -> Expr {
    let id = AttrId(u32::MAX - u32::try_from(at).unwrap_or(0));
    Expr::Alias { expr: Box::new(expr), name: format!("e{at}").into(), id, place: crate::model::Place::unknown() }
}

/// The columns of a micro-batch under the identities that the expressions know them by.
fn columns_of(schema: &Schema, expressions: &[Expr]) -> Vec<Attribute> {
    let mut known: BTreeMap<String, AttrId> = BTreeMap::new();
    for expr in expressions {
        expr.walk(&mut |part| {
            if let Expr::Attribute(attribute) = part {
                known.insert(attribute.name.to_lowercase(), attribute.id);
            }
        });
    }
    let mut columns = Vec::new();
    for (at, field) in schema.fields.iter().enumerate() {
        let mut column = attribute(field, 1_000_000 + u32::try_from(at).unwrap_or(0));
        if let Some(id) = known.get(&field.name.to_lowercase()) {
            column.id = *id;
        }
        columns.push(column);
    }
    columns
}
