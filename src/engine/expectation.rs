//! Expectations: what the conditions on a table do to the rows that a flow writes, after its query and before its sink.
//!
//! Takes the checks that the analysis has resolved and the rows of one batch; gives the rows that are left, or the failure. The
//! query's state knows nothing of it. An expectation's condition "must evaluate to true or false for each record"
//! (docs.databricks.com: "Manage data quality with pipeline expectations"); what NULL does is not documented, so that the world
//! says which way it is taken, and each case is noted.

use super::error::ExecutionError;
use super::expression::{Evaluator, bind};
use super::operators::Tables;
use super::row::{Row, Rows};
use super::session::Session;
use crate::analyze::RowCheck;
use crate::model::{Attribute, CdcSpec, OnViolation, Value};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// What a condition that is NULL says of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NullCondition {
    /// As a filter has it: only what is true passes.
    #[default]
    Violates,
    /// As a CHECK constraint of standard SQL has it: only what is false fails.
    Holds,
}

/// The checks on one flow's rows.
#[derive(Clone, Copy, Default)]
pub struct Checks<'a> {
    pub flow: &'a str,
    pub checks: &'a [RowCheck],
    /// Of an AUTO CDC flow: which of its rows are events without a row of their own.
    pub cdc: Option<&'a CdcSpec>,
}

/// Rows that are let through.
#[derive(Debug)]
pub struct Passed {
    pub rows: Rows,
    /// Expectations whose condition was NULL for some row.
    pub null_conditions: BTreeSet<String>,
}

impl Checks<'_> {
    /// Applies the checks to a batch with these columns.
    ///
    /// # Errors
    /// `EXPECTATION_VIOLATION` (docs.databricks.com: "EXPECTATION_VIOLATION error condition") where a row violates an
    /// expectation that fails the update; an error that [`ExecutionError::is_unsupported`] where a condition is not known.
    pub fn pass(
        &self,
        rows: Rows,
        columns: &[Attribute],
        tables: &dyn Tables,
        session: &Session,
        nulls: NullCondition,
    ) -> Result<Passed, ExecutionError> {
        let mut passed = Passed { rows, null_conditions: BTreeSet::new() };
        if self.checks.is_empty() || passed.rows.rows.is_empty() {
            return Ok(passed);
        }
        if columns.len() != passed.rows.schema.fields.len() {
            return Err(ExecutionError::unsupported("the columns that expectations look at are not known"));
        }
        let uninterpreted = RefCell::default();
        let evaluator = Evaluator::new(tables, session, &uninterpreted);
        let rows = std::mem::take(&mut passed.rows.rows);
        let mut dropped: BTreeSet<usize> = BTreeSet::new();
        for check in self.checks {
            let violations = violations(check, &rows, columns, &evaluator)?;
            if !violations.null.is_empty() {
                passed.null_conditions.insert(check.name.clone());
            }
            let null = if nulls == NullCondition::Violates { violations.null } else { Vec::new() };
            let violating: Vec<usize> = violations.certain.into_iter().chain(null).collect();
            if violating.is_empty() {
                continue;
            }
            self.refuse_rowless_events(check, &rows, &violating, columns, &evaluator)?;
            if check.on_violation == OnViolation::FailUpdate {
                let message =
                    format!("flow `{}` failed to meet the expectation: violated is `{}`", self.flow, check.name);
                return Err(ExecutionError::new("EXPECTATION_VIOLATION", message));
            }
            dropped.extend(violating);
        }
        let kept = rows.into_iter().enumerate().filter(|(at, _)| !dropped.contains(at));
        passed.rows.rows = kept.map(|(_, row)| row).collect();
        Ok(passed)
    }

    /// A delete or a truncate of AUTO CDC writes no row. Whether its record is checked all the same is not documented.
    fn refuse_rowless_events(
        &self,
        check: &RowCheck,
        rows: &[Row],
        violating: &[usize],
        columns: &[Attribute],
        evaluator: &Evaluator<'_>,
    ) -> Result<(), ExecutionError> {
        let Some(spec) = self.cdc else { return Ok(()) };
        for condition in spec.apply_as_deletes.iter().chain(&spec.apply_as_truncates) {
            let bound = bind(condition, columns, evaluator)?;
            for at in violating {
                let Some(row) = rows.get(*at) else { continue };
                if evaluator.holds(&bound, row, *at)? {
                    return Err(ExecutionError::unsupported(format!(
                        "a delete event violates the expectation `{}`, and whether such events are checked is not documented",
                        check.name
                    )));
                }
            }
        }
        Ok(())
    }
}

/// Numbers of the rows for which a condition is false, and of those for which it is NULL.
#[derive(Default)]
struct Violations {
    certain: Vec<usize>,
    null: Vec<usize>,
}

fn violations(
    check: &RowCheck,
    rows: &[Row],
    columns: &[Attribute],
    evaluator: &Evaluator<'_>,
) -> Result<Violations, ExecutionError> {
    let unknown = |why: &str| ExecutionError::unsupported(format!("the expectation `{}`: {why}", check.name));
    let condition = check.condition.as_ref().map_err(|why| unknown(why))?;
    let bound = bind(condition, columns, evaluator)?;
    let mut found = Violations::default();
    for (at, row) in rows.iter().enumerate() {
        match evaluator.evaluate(&bound, row, at)? {
            Value::Boolean(true) => {}
            Value::Boolean(false) => found.certain.push(at),
            Value::Null => found.null.push(at),
            _ => return Err(unknown("its condition is neither true nor false")),
        }
    }
    Ok(found)
}
