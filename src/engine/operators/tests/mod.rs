//! Hand-built plans over a few rows, run as `Trigger.AvailableNow` runs them.

mod aggregate;
mod batch;
mod deduplicate;
mod join;
mod properties;

use super::{MicroBatch, Tables, Watermarks, needs_no_data_batch, run_batch, run_micro_batch};
use crate::engine::error::ExecutionError;
use crate::engine::row::{Row, Rows};
use crate::engine::session::Session;
use crate::engine::state::StateStores;
use crate::model::{
    AttrId, Attribute, DataType, Expr, Field, GroupingSets, Node, OutputMode, Plan, QualifiedName, Read, Schema,
    Source, Value,
};
use std::collections::BTreeMap;

pub(super) const MINUTE: i64 = 60_000_000;

/// Minutes after a day at which no watermark stands before the first row (an event at the epoch is late from the start).
pub(super) fn at(minutes: i64) -> Value {
    Value::Timestamp((1_000_000 + minutes) * MINUTE)
}

pub(super) fn text(value: &str) -> Value {
    Value::string(value)
}

pub(super) fn attribute(id: u32, name: &str, data_type: DataType) -> Attribute {
    Attribute {
        id: AttrId(id),
        name: name.into(),
        data_type,
        nullable: true,
        qualifier: Vec::new(),
        watermark_delay: None,
    }
}

pub(super) fn column(attribute: &Attribute) -> Expr {
    Expr::Attribute(attribute.clone())
}

pub(super) fn alias(expr: Expr, id: u32, name: &str) -> Expr {
    Expr::Alias { expr: Box::new(expr), name: name.into(), id: AttrId(id), place: Default::default() }
}

pub(super) fn minutes(count: i64) -> Expr {
    Expr::literal(Value::DayTimeInterval(count * MINUTE), DataType::DayTimeInterval)
}

pub(super) fn read(name: &str, streaming: bool, columns: &[Attribute]) -> Plan {
    let mut read = Read::new(Source::Table(QualifiedName::bare(name)), streaming);
    read.output = columns.to_vec();
    read.complete = true;
    Plan::new(Node::Read(read))
}

pub(super) fn project(list: Vec<Expr>, input: Plan) -> Plan {
    Plan::new(Node::Project { list, input: Box::new(input) })
}

pub(super) fn filter(condition: Expr, input: Plan) -> Plan {
    Plan::new(Node::Filter { condition, input: Box::new(input) })
}

pub(super) fn watermark(event_time: &Attribute, delay: i64, input: Plan) -> Plan {
    Plan::new(Node::Watermark { event_time: column(event_time), delay: minutes(delay), input: Box::new(input) })
}

pub(super) fn group_by(groupings: Vec<Expr>, outputs: Vec<Expr>, input: Plan) -> Plan {
    Plan::new(Node::Aggregate { groupings, sets: GroupingSets::Simple, outputs, having: None, input: Box::new(input) })
}

pub(super) fn rows(columns: &[Attribute], rows: Vec<Vec<Value>>) -> Rows {
    let field = |a: &Attribute| Field::new(&*a.name, a.data_type.clone());
    Rows::new(Schema::new(columns.iter().map(field).collect()), rows.into_iter().map(Into::into).collect())
}

/// Tables by name.
#[derive(Default)]
pub(super) struct Fixed(pub BTreeMap<String, Rows>);

impl Tables for Fixed {
    fn scan(&self, read: &Read) -> Result<Rows, ExecutionError> {
        let Source::Table(name) = &read.source else { return Err(ExecutionError::unsupported("no table")) };
        let missing = || ExecutionError::new("TABLE_OR_VIEW_NOT_FOUND", name.to_string());
        self.0.get(&name.key()).cloned().ok_or_else(missing)
    }
}

pub(super) fn batch(plan: &Plan, tables: &Fixed) -> Result<Vec<Vec<Value>>, ExecutionError> {
    Ok(sorted(run_batch(plan, tables, &Session::default())?.rows.rows))
}

pub(super) fn sorted(rows: Vec<Row>) -> Vec<Vec<Value>> {
    let mut rows: Vec<Vec<Value>> = rows.into_iter().map(|row| row.to_vec()).collect();
    rows.sort();
    rows
}

/// What a checkpoint and a run keep between batches.
#[derive(Default)]
pub(super) struct Query {
    pub state: StateStores,
    pub tables: Fixed,
    /// Milliseconds.
    previous: i64,
    watermark: i64,
    batch_id: u64,
}

impl Query {
    /// One data batch, then no-data batches as long as they change something. Gives what went to the sink.
    pub fn run(&mut self, plan: &Plan, mode: OutputMode, inputs: &[Rows]) -> Result<Vec<Vec<Value>>, ExecutionError> {
        let mut output = self.one(plan, mode, inputs)?;
        let none: Vec<Rows> = inputs.iter().map(|rows| Rows::empty(rows.schema.clone())).collect();
        while needs_no_data_batch(plan, self.previous, self.watermark, mode) {
            output.extend(self.one(plan, mode, &none)?);
        }
        Ok(sorted(output))
    }

    fn one(&mut self, plan: &Plan, mode: OutputMode, inputs: &[Rows]) -> Result<Vec<Row>, ExecutionError> {
        let session = Session { batch_id: self.batch_id, trusts_nullability: true, ..Session::default() };
        let batch = run_micro_batch(
            plan,
            MicroBatch {
                inputs,
                tables: &self.tables,
                state: &mut self.state,
                watermarks: Watermarks { late_events: self.previous, eviction: self.watermark },
                output_mode: mode,
                session: &session,
            },
        )?;
        self.batch_id += 1;
        self.previous = self.watermark;
        let seen = batch.event_time.iter().map(|stats| stats.max.map_or(0, |max| max - stats.delay)).min();
        self.watermark = self.watermark.max(seen.unwrap_or(0));
        Ok(batch.rows.rows)
    }
}
