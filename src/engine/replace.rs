//! Flows that replace rows of their table: a range of it (`REPLACE WHERE`), or the rows of the keys that arrive (`REPLACE USING`).
//!
//! Of a range, rows that match the predicate are deleted and the query's rows of the same range take their place; the platform
//! applies the predicate to the query by itself (docs.databricks.com: "REPLACE WHERE flows"). Of keys, the highest sequence of
//! each wins, a lower one never replaces a higher one in the table, and rows of the same key and sequence are appended
//! (docs.databricks.com: "REPLACE USING flows").

use super::error::ExecutionError;
use super::expression::{Bound, Evaluator, bind};
use super::operators::Tables;
use super::row::{Row, Rows};
use super::scan;
use super::session::Session;
use super::stream::{Sink, SinkBatch};
use super::table::Table;
use super::world::World;
use crate::analyze::{AnalyzedFlow, Replacement};
use crate::model::{Attribute, Expr, Read, Value};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// The rows of a REPLACE WHERE flow's query that its predicate covers.
///
/// # Errors
/// Those of the predicate's evaluation; one that [`ExecutionError::is_unsupported`] where it is not understood.
pub fn in_range(flow: &AnalyzedFlow, rows: Rows, session: &Session) -> Result<Rows, ExecutionError> {
    let columns = crate::analyze::output(&flow.optimized);
    let covered = matching(predicate(flow)?, &columns, &rows.rows, session)?;
    let kept = rows.rows.into_iter().enumerate().filter(|(at, _)| covered.contains(at)).map(|(_, row)| row);
    Ok(Rows::new(rows.schema, kept.collect()))
}

/// Replaces the rows of the table that the predicate covers.
///
/// # Errors
/// As [`in_range`].
pub fn replace_range(
    flow: &AnalyzedFlow,
    table: &mut Table,
    rows: Rows,
    session: &Session,
    writer: &str,
) -> Result<(), ExecutionError> {
    let columns = crate::analyze::output(&flow.optimized);
    let condition = predicate(flow)?;
    let mut replaced = BTreeMap::new();
    for file in table.files() {
        replaced.insert(file.path.clone(), matching(condition, &columns, &scan::typed(file, &columns), session)?);
    }
    table.replace_rows(&replaced, rows.rows, &rows.schema, writer);
    Ok(())
}

fn predicate(flow: &AnalyzedFlow) -> Result<&Expr, ExecutionError> {
    match &flow.replacement {
        Some(Replacement::Where(Ok(condition))) => Ok(condition),
        Some(Replacement::Where(Err(why))) => {
            Err(ExecutionError::unsupported(format!("the predicate of REPLACE WHERE: {why}")))
        }
        _ => Err(ExecutionError::unsupported("the flow replaces no range")),
    }
}

/// Numbers of the rows for which a condition is true.
fn matching(
    condition: &Expr,
    columns: &[Attribute],
    rows: &[Row],
    session: &Session,
) -> Result<BTreeSet<usize>, ExecutionError> {
    let uninterpreted = RefCell::default();
    let evaluator = Evaluator::new(&NoTables, session, &uninterpreted);
    let bound = bind(condition, columns, &evaluator)?;
    let mut found = BTreeSet::new();
    for (at, row) in rows.iter().enumerate() {
        if evaluator.holds(&bound, row, at)? {
            found.insert(at);
        }
    }
    Ok(found)
}

struct NoTables;

impl Tables for NoTables {
    fn scan(&self, _: &Read) -> Result<Rows, ExecutionError> {
        Err(ExecutionError::unsupported("what says which rows are replaced reads another table"))
    }
}

/// Writes the micro-batches of a REPLACE USING flow.
pub struct ReplaceSink<'a> {
    pub flow: &'a AnalyzedFlow,
    pub location: &'a str,
    /// The flow's name, kept with the files it writes.
    pub writer: &'a str,
}

impl Sink for ReplaceSink<'_> {
    fn write(&mut self, world: &mut World, batch: SinkBatch) -> Result<usize, ExecutionError> {
        let keys = Keys::of(self.flow)?;
        let Some(table) = world.tables.get_mut(self.location) else {
            return Err(ExecutionError::new("TABLE_OR_VIEW_NOT_FOUND", format!("no table at {}", self.location)));
        };
        if table.has_committed(batch.query, batch.batch) {
            return Ok(0);
        }
        let session = Session::default();
        let uninterpreted = RefCell::default();
        let evaluator = Evaluator::new(&NoTables, &session, &uninterpreted);
        let sequence = bind(keys.sequence, &keys.columns, &evaluator)?;
        let arrived = keys.places(&batch.rows.rows, &sequence, &evaluator)?;
        let mut stored = Vec::new();
        for file in table.files() {
            let rows = scan::typed(file, &keys.columns);
            stored.push((file.path.clone(), keys.places(&rows, &sequence, &evaluator)?));
        }
        let known = newest(stored.iter().flat_map(|(_, places)| places));
        let newest = newest(&arrived);
        let wins = |place: &&Place| {
            newest.get(&place.key) == Some(&place.sequence)
                && known.get(&place.key).is_none_or(|known| place.sequence >= *known)
        };
        let won: BTreeMap<&Vec<Value>, &Value> =
            arrived.iter().filter(wins).map(|place| (&place.key, &place.sequence)).collect();
        let older = |place: &Place| won.get(&place.key).is_some_and(|sequence| place.sequence < **sequence);
        let replaced = stored.iter().map(|(path, places)| {
            let rows = places.iter().enumerate().filter(|(_, place)| older(place)).map(|(at, _)| at);
            (path.clone(), rows.collect())
        });
        let rows: Vec<Row> =
            batch.rows.rows.iter().zip(&arrived).filter(|(_, place)| wins(place)).map(|(row, _)| row.clone()).collect();
        let count = rows.len();
        table.replace_rows(&replaced.collect(), rows, &batch.rows.schema, self.writer);
        table.note_transaction(batch.query, batch.batch);
        Ok(count)
    }
}

/// What a row replaces, and when.
struct Place {
    key: Vec<Value>,
    sequence: Value,
}

/// The highest sequence of each key.
fn newest<'a>(places: impl IntoIterator<Item = &'a Place>) -> BTreeMap<Vec<Value>, Value> {
    let mut newest: BTreeMap<Vec<Value>, Value> = BTreeMap::new();
    for place in places {
        match newest.get(&place.key) {
            Some(known) if *known >= place.sequence => {}
            _ => {
                newest.insert(place.key.clone(), place.sequence.clone());
            }
        }
    }
    newest
}

struct Keys<'a> {
    columns: Vec<Attribute>,
    /// Positions among the columns.
    keys: Vec<usize>,
    sequence: &'a Expr,
}

impl<'a> Keys<'a> {
    fn of(flow: &'a AnalyzedFlow) -> Result<Self, ExecutionError> {
        let Some(Replacement::Using { keys, sequence_by }) = &flow.replacement else {
            return Err(ExecutionError::unsupported("the flow replaces no keys"));
        };
        let sequence = match sequence_by {
            Some(Ok(sequence)) => sequence,
            Some(Err(why)) => {
                return Err(ExecutionError::unsupported(format!("the sequence of REPLACE USING: {why}")));
            }
            None => return Err(ExecutionError::unsupported("REPLACE USING needs a SEQUENCE BY")),
        };
        let columns = crate::analyze::output(&flow.optimized);
        let position = |key: &String| {
            columns.iter().position(|column| column.name.eq_ignore_ascii_case(key)).ok_or_else(|| {
                ExecutionError::unsupported(format!(
                    "the key `{key}` of REPLACE USING is not among the query's columns"
                ))
            })
        };
        let keys = keys.iter().map(position).collect::<Result<_, _>>()?;
        Ok(Keys { columns, keys, sequence })
    }

    fn places(&self, rows: &[Row], sequence: &Bound, evaluator: &Evaluator<'_>) -> Result<Vec<Place>, ExecutionError> {
        let place = |(at, row): (usize, &Row)| {
            let key: Vec<Value> = self.keys.iter().map(|key| row.get(*key).cloned().unwrap_or(Value::Null)).collect();
            let sequence = evaluator.evaluate(sequence, row, at)?;
            if sequence.is_null() || key.iter().any(Value::is_null) {
                let what = "what REPLACE USING does with a NULL key or sequence is not documented";
                return Err(ExecutionError::unsupported(what));
            }
            Ok(Place { key, sequence })
        };
        rows.iter().enumerate().map(place).collect()
    }
}
