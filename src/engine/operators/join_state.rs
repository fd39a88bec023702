//! State of one side of a stream-stream join: a multimap from join key to rows, in the two stores of
//! `SymmetricHashJoinStateManager`.

use super::scan::integer;
use super::state_watermark::StateWatermark;
use crate::engine::row::Row;
use crate::engine::state::{StateStore, StateStores};
use crate::model::Value;
use std::sync::Arc;

pub(super) struct JoinState {
    /// Key to the number of rows.
    key_to_num_values: StateStore,
    /// Key and index to the row, followed by whether it ever matched.
    key_with_index_to_value: StateStore,
}

fn names(side: &str) -> [String; 2] {
    [format!("{side}-keyToNumValues"), format!("{side}-keyWithIndexToValue")]
}

fn with_index(key: &Row, index: i64) -> Row {
    key.iter().cloned().chain(std::iter::once(Value::Long(index))).collect()
}

/// A stored row without its flag.
fn unflagged(value: &Row) -> (Row, bool) {
    match value.split_last() {
        Some((flag, row)) => (row.into(), *flag == Value::Boolean(true)),
        None => (value.clone(), false),
    }
}

fn flagged(row: &Row, matched: bool) -> Row {
    row.iter().cloned().chain(std::iter::once(Value::Boolean(matched))).collect()
}

impl JoinState {
    /// Takes a side's stores out, to be given back by [`JoinState::put_back`]; the two sides are used at once.
    pub fn take(stores: &mut StateStores, operator: u32, side: &str) -> Self {
        let [numbers, values] = names(side);
        JoinState {
            key_to_num_values: std::mem::take(stores.store_mut(operator, &numbers)),
            key_with_index_to_value: std::mem::take(stores.store_mut(operator, &values)),
        }
    }

    pub fn put_back(self, stores: &mut StateStores, operator: u32, side: &str) {
        let [numbers, values] = names(side);
        *stores.store_mut(operator, &numbers) = self.key_to_num_values;
        *stores.store_mut(operator, &values) = self.key_with_index_to_value;
    }

    fn count(&self, key: &Row) -> i64 {
        self.key_to_num_values.get(key).and_then(|value| value.first().and_then(integer)).unwrap_or(0)
    }

    /// Index, row and flag of each row of a key.
    pub fn get(&self, key: &Row) -> Vec<(i64, Row, bool)> {
        (0..self.count(key))
            .filter_map(|index| {
                let (row, matched) = unflagged(self.key_with_index_to_value.get(&with_index(key, index))?);
                Some((index, row, matched))
            })
            .collect()
    }

    pub fn append(&mut self, key: &Row, row: &Row, matched: bool) {
        let index = self.count(key);
        self.key_with_index_to_value.put(with_index(key, index), flagged(row, matched));
        self.key_to_num_values.put(key.clone(), Arc::new([Value::Long(index + 1)]));
    }

    pub fn set_matched(&mut self, key: &Row, index: i64) {
        let at = with_index(key, index);
        if let Some((row, false)) = self.key_with_index_to_value.get(&at).map(unflagged) {
            self.key_with_index_to_value.put(at, flagged(&row, true));
        }
    }

    /// Removes and gives the old rows with their flags, in the order of their keys.
    pub fn remove_old(&mut self, old: &StateWatermark) -> Vec<(Row, bool)> {
        if !old.is_used() {
            return Vec::new();
        }
        let keys: Vec<Row> = self.key_to_num_values.iter().map(|(key, _)| key.clone()).collect();
        let mut removed = Vec::new();
        for key in keys {
            let (gone, kept): (Vec<_>, Vec<_>) =
                self.get(&key).into_iter().partition(|(_, row, _)| old.is_old(&key, row));
            if gone.is_empty() {
                continue;
            }
            for index in 0..self.count(&key) {
                self.key_with_index_to_value.remove(&with_index(&key, index));
            }
            self.key_to_num_values.remove(&key);
            for (_, row, matched) in kept {
                self.append(&key, &row, matched);
            }
            removed.extend(gone.into_iter().map(|(_, row, matched)| (row, matched)));
        }
        removed
    }
}
