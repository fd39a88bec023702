//! Arbitrary state: `applyInPandasWithState`, `transformWithState` and their like.
//!
//! The user's function is uninterpreted: from its content, the key, the rows of the batch and the old state follow a new state
//! and one output row. So an unchanged function goes on where it stopped, and a changed one diverges.

use super::execution::Execution;
use super::opaque::made_row;
use super::relation::{InputWatermark, Relation};
use super::watermark::without_late_rows;
use crate::engine::error::ExecutionError;
use crate::engine::expression::bind_all;
use crate::engine::row::Row;
use crate::engine::state::{DEFAULT_STORE, StateStores};
use crate::functions::uninterpreted;
use crate::model::{Attribute, DataType, Expr, Plan, StatefulFunction, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn stateful_map(
    execution: &mut Execution<'_>,
    keys: &[Expr],
    function: &StatefulFunction,
    input: &Plan,
    output: &[Attribute],
) -> Result<Relation, ExecutionError> {
    if output.is_empty() {
        let why = format!("`{}` cannot be executed: its columns are not declared", function.function.name);
        return Err(ExecutionError::unsupported(why));
    }
    let operator = execution.stateful(input).map(|streaming| streaming.operator_id());
    let mut relation = execution.execute(input)?;
    execution.evaluator.note_uninterpreted(&function.function.name);
    let by_event_time = function.time_mode.to_lowercase().contains("event");
    if operator.is_some() && by_event_time {
        without_late_rows(&mut relation)?;
    }
    let keys = bind_all(keys, &relation.columns, execution.evaluator)?;
    let mut groups: BTreeMap<Row, Vec<Value>> = BTreeMap::new();
    for (index, row) in relation.rows.iter().enumerate() {
        let key = execution.evaluator.row(&keys, row, index)?;
        groups.entry(key).or_default().push(Value::Struct(row.clone()));
    }
    let watermark = relation.input_watermark();
    let mut nothing = StateStores::default();
    let state = match (operator, &mut execution.streaming) {
        (Some(_), Some(streaming)) => {
            // Timeouts, timers and expiry are looked at in batches without rows. On processing time Spark runs such batches
            // without end; what the first of them sees is all that they can change here.
            let wants_batches =
                function.operator.starts_with("transformWithState") || !has_no_timeout(&function.time_mode);
            streaming.another_batch |= wants_batches && watermark.next > watermark.eviction;
            &mut *streaming.state
        }
        _ => &mut nothing,
    };
    let user = UserFunction::new(function, operator.unwrap_or(0));
    let rows = groups.into_iter().map(|(key, rows)| user.call(state, key, rows, output)).collect();
    let columns = output.iter().map(|column| Attribute { watermark_delay: None, ..column.clone() }).collect();
    Ok(Relation {
        columns,
        rows,
        streaming: relation.streaming,
        // What the function makes of event times is its own business: nothing above may rely on the watermark.
        watermark: relation.watermark.map(|_| InputWatermark::NONE),
    })
}

/// One state store that the function reads and writes, with the types of its value row.
struct Variable {
    store: Arc<str>,
    types: Vec<DataType>,
}

struct UserFunction {
    identity: String,
    operator: u32,
    variables: Vec<Variable>,
}

impl UserFunction {
    fn new(function: &StatefulFunction, operator: u32) -> Self {
        let mut variables: Vec<Variable> = Vec::new();
        if let Some(state) = &function.state {
            let group_state = DataType::Struct(state.fields.clone());
            let timeout = (!has_no_timeout(&function.time_mode)).then_some(DataType::Long);
            let types = std::iter::once(group_state).chain(timeout).collect();
            variables.push(Variable { store: DEFAULT_STORE.into(), types });
        }
        for variable in &function.variables {
            variables.push(Variable { store: variable.name.clone(), types: vec![variable.value.clone()] });
        }
        if variables.is_empty() {
            variables.push(Variable { store: DEFAULT_STORE.into(), types: vec![DataType::Unknown] });
        }
        let identity = function.function.identity();
        UserFunction { identity, operator, variables }
    }

    /// Hands the new rows of one key to the function.
    fn call(&self, state: &mut StateStores, key: Row, mut rows: Vec<Value>, output: &[Attribute]) -> Row {
        rows.sort();
        // The first variable is taken as the one that the output hangs on; those declared beside it change nothing.
        let memory = self.variables.first();
        let old = memory.and_then(|variable| state.store(self.operator, &variable.store)?.get(&key).cloned());
        let old = old.map_or(Value::Null, Value::Struct);
        let args = [Value::Struct(key.clone()), Value::Array(rows.into()), old];
        for variable in &self.variables {
            let value = (0usize..).zip(&variable.types).map(|(position, data_type)| {
                uninterpreted(&format!("{}.{}.{position}", self.identity, variable.store), &args, data_type)
            });
            state.store_mut(self.operator, &variable.store).put(key.clone(), value.collect());
        }
        made_row(&self.identity, &args, output)
    }
}

/// `GroupStateTimeout.NoTimeout`, the only mode in which a group's state has no timeout beside it.
fn has_no_timeout(time_mode: &str) -> bool {
    time_mode.eq_ignore_ascii_case("NoTimeout")
}
