//! State stores: what stateful operators keep between micro-batches.
//!
//! A store maps a key row to a value row, both by position, as Spark's state stores hold `UnsafeRow`s: a query that resumes with
//! other expressions of equal types reads the old values as its own. Whether the types are equal is compared at the restart of
//! a query (see `checkpoint`), not here.

use super::error::ExecutionError;
use super::row::Row;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Name of the only store of most operators.
pub const DEFAULT_STORE: &str = "default";

/// Which store: the operator's id, counted from the sink upwards, and the store's name (`default`, `left-keyToNumValues`,
/// a state variable of transformWithState).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateStoreId {
    pub operator: u32,
    pub store: Arc<str>,
}

/// One store, iterated in the order of its keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateStore {
    rows: BTreeMap<Row, Row>,
}

impl StateStore {
    pub fn get(&self, key: &Row) -> Option<&Row> {
        self.rows.get(key)
    }

    pub fn put(&mut self, key: Row, value: Row) {
        self.rows.insert(key, value);
    }

    pub fn remove(&mut self, key: &Row) -> Option<Row> {
        self.rows.remove(key)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Row, &Row)> {
        self.rows.iter()
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Removes and gives the entries for which `condition` holds, in the order of their keys.
    ///
    /// # Errors
    /// The first error of `condition`; nothing is removed then.
    pub fn remove_if(
        &mut self,
        mut condition: impl FnMut(&Row, &Row) -> Result<bool, ExecutionError>,
    ) -> Result<Vec<(Row, Row)>, ExecutionError> {
        let mut keys = Vec::new();
        for (key, value) in &self.rows {
            if condition(key, value)? {
                keys.push(key.clone());
            }
        }
        Ok(keys.into_iter().filter_map(|key| self.rows.remove_entry(&key)).collect())
    }
}

/// All stores of one query: what its checkpoint's `state` folder holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateStores {
    stores: BTreeMap<StateStoreId, StateStore>,
}

impl StateStores {
    pub fn store(&self, operator: u32, store: &str) -> Option<&StateStore> {
        self.stores.get(&StateStoreId { operator, store: store.into() })
    }

    /// The store, made empty where there is none yet.
    pub fn store_mut(&mut self, operator: u32, store: &str) -> &mut StateStore {
        self.stores.entry(StateStoreId { operator, store: store.into() }).or_default()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&StateStoreId, &StateStore)> {
        self.stores.iter()
    }
}
