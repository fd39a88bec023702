//! A budget of work for each run of a query, counted in rows and in what values hold: two runs stop at the same place.
//!
//! Rows that are read add to the budget, so that it is the query's growth that meets it and not the size of the input.

use super::error::ExecutionError;
use crate::model::Value;
use std::cell::Cell;
use std::time::Instant;

/// Rows that each row read may become on the way.
const ROWS_EACH: u64 = 100;

/// Letters, bytes and items of values for each row of the budget.
const ITEMS_EACH: u64 = 2_000;

/// Values that hold less are not counted: they are no more work than their row.
const SMALL: usize = 256;

/// What one run of a query may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Rows that it may take through its operators, besides [`ROWS_EACH`] for each row that it reads.
    pub rows: u64,
    /// When it must have ended, and how many seconds that gives: a last resort, since two machines stop at two places.
    pub deadline: Option<(Instant, u64)>,
}

impl Effort {
    pub const DEFAULT_ROWS: u64 = 10_000;
}

impl Default for Effort {
    fn default() -> Self {
        Effort { rows: Effort::DEFAULT_ROWS, deadline: None }
    }
}

/// What one run of a query has used of its budget.
#[derive(Debug)]
pub(super) struct Work {
    limit: Cell<u64>,
    rows: Cell<u64>,
    items: Cell<u64>,
    deadline: Option<(Instant, u64)>,
}

impl Work {
    pub fn new(effort: Effort) -> Self {
        Work { limit: Cell::new(effort.rows), rows: Cell::new(0), items: Cell::new(0), deadline: effort.deadline }
    }

    /// Rows have been read.
    pub fn read(&self, rows: usize) {
        self.limit.set(self.limit.get().saturating_add(ROWS_EACH.saturating_mul(rows as u64)));
    }

    /// Rows, or pairs of rows, go through an operator.
    ///
    /// # Errors
    /// They are more than the budget.
    pub fn rows(&self, count: usize) -> Result<(), ExecutionError> {
        let limit = self.limit.get();
        let before = self.rows.get();
        self.rows.set(before.saturating_add(count as u64));
        // The clock is asked now and then.
        if before / 256 != self.rows.get() / 256 || before == 0 {
            self.in_time()?;
        }
        if self.rows.get() > limit {
            return Err(ExecutionError::unsupported(format!("not run: more than {limit} rows (`--effort`)")));
        }
        Ok(())
    }

    fn in_time(&self) -> Result<(), ExecutionError> {
        match self.deadline {
            Some((end, seconds)) if Instant::now() > end => Err(ExecutionError::unsupported(format!(
                "not run to its end: it took more than {seconds} s (`--confirm-timeout`)"
            ))),
            _ => Ok(()),
        }
    }

    /// A value was made.
    ///
    /// # Errors
    /// All of them hold more than the budget.
    pub fn value(&self, value: &Value) -> Result<(), ExecutionError> {
        let size = match value {
            Value::String(text) => text.len(),
            Value::Binary(bytes) => bytes.len(),
            Value::Array(items) => items.len(),
            Value::Map(entries) => entries.len(),
            _ => 0,
        };
        if size < SMALL {
            return Ok(());
        }
        let limit = self.limit.get().saturating_mul(ITEMS_EACH);
        self.items.set(self.items.get().saturating_add(size as u64));
        if self.items.get() > limit {
            let message = format!("not run: values of more than {limit} letters and items (`--effort`)");
            return Err(ExecutionError::unsupported(message));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_read_allow_for_more() {
        let work = Work::new(Effort { rows: 10, deadline: None });
        assert!(work.rows(10).is_ok());
        assert!(work.rows(1).is_err());
        work.read(1);
        assert!(work.rows(99).is_ok());
        assert!(work.rows(1).is_err());
    }
}
