//! Evaluation of bound expressions on rows.

use super::{Bound, BoundKind};
use crate::engine::effort::Work;
use crate::engine::error::ExecutionError;
use crate::engine::operators::Tables;
use crate::engine::row::Row;
use crate::engine::session::Session;
use crate::functions::{self, EvalContext, EvalError, Invocation};
use crate::model::{Attribute, DataType, Value};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A row of an enclosing query, for correlated subqueries.
#[derive(Debug, Clone)]
struct Outer {
    columns: Vec<Attribute>,
    row: Row,
}

/// What evaluation needs beside the row, and what it notes on the way.
pub(in crate::engine) struct Evaluator<'a> {
    pub tables: &'a dyn Tables,
    pub session: &'a Session,
    pub context: EvalContext,
    uninterpreted: &'a RefCell<BTreeSet<String>>,
    pub work: Rc<Work>,
    /// Innermost last.
    outer: Vec<Outer>,
}

impl<'a> Evaluator<'a> {
    pub fn new(tables: &'a dyn Tables, session: &'a Session, uninterpreted: &'a RefCell<BTreeSet<String>>) -> Self {
        let work = Rc::new(Work::new(session.effort));
        Evaluator { tables, session, context: session.evaluation(), uninterpreted, work, outer: Vec::new() }
    }

    /// For a subquery of the given row.
    pub fn inside(&self, columns: &[Attribute], row: &Row) -> Evaluator<'a> {
        let mut outer = self.outer.clone();
        outer.push(Outer { columns: columns.to_vec(), row: row.clone() });
        Evaluator {
            tables: self.tables,
            session: self.session,
            context: self.context.clone(),
            uninterpreted: self.uninterpreted,
            work: Rc::clone(&self.work),
            outer,
        }
    }

    /// Rows were read; those that a subquery reads again for each row of its query do not count.
    pub fn note_read(&self, rows: usize) {
        if self.outer.is_empty() {
            self.work.read(rows);
        }
    }

    pub fn outer_value(&self, attribute: &Attribute) -> Option<Value> {
        self.outer.iter().rev().find_map(|outer| {
            let position = outer.columns.iter().position(|column| column.id == attribute.id)?;
            outer.row.get(position).cloned()
        })
    }

    pub fn note_uninterpreted(&self, name: &str) {
        let mut names = self.uninterpreted.borrow_mut();
        if !names.contains(name) {
            names.insert(name.to_owned());
        }
    }

    pub fn cast(&self, value: &Value, from: &DataType, to: &DataType) -> Result<Value, EvalError> {
        functions::cast(value, from, to, self.context.ansi, &self.context.zone)
    }

    /// Evaluates on one row; `index` is its position in the batch, on which `rand()` and its like hang.
    ///
    /// # Errors
    /// Spark's errors of evaluation (`DIVIDE_BY_ZERO`, `CAST_INVALID_INPUT`, …).
    pub fn evaluate(&self, bound: &Bound, row: &Row, index: usize) -> Result<Value, ExecutionError> {
        self.value(bound, &Frame { row, index, parameters: &[] })
    }

    /// Evaluates expressions into a new row.
    ///
    /// # Errors
    /// See [`Evaluator::evaluate`].
    pub fn row(&self, exprs: &[Bound], row: &Row, index: usize) -> Result<Row, ExecutionError> {
        exprs.iter().map(|expr| self.evaluate(expr, row, index)).collect()
    }

    /// A predicate on one row: NULL does not hold.
    ///
    /// # Errors
    /// See [`Evaluator::evaluate`].
    pub fn holds(&self, condition: &Bound, row: &Row, index: usize) -> Result<bool, ExecutionError> {
        Ok(matches!(self.evaluate(condition, row, index)?, Value::Boolean(true)))
    }

    /// Each kind in a function of its own: this one recurses, and its frame should be small.
    fn value(&self, bound: &Bound, frame: &Frame<'_>) -> Result<Value, ExecutionError> {
        match &bound.kind {
            BoundKind::Column(position) => Ok(frame.row.get(*position).cloned().unwrap_or(Value::Null)),
            BoundKind::Literal(value) => Ok(value.clone()),
            BoundKind::Parameter(position) => Ok(frame.parameters.get(*position).cloned().unwrap_or(Value::Null)),
            BoundKind::And(pair) => self.connective(pair, frame, false),
            BoundKind::Or(pair) => self.connective(pair, frame, true),
            BoundKind::Coalesce(args) => self.coalesce(args, frame),
            BoundKind::Case { branches, otherwise } => self.case(branches, otherwise.as_deref(), frame),
            BoundKind::Cast { expr, try_cast } => self.cast_to(expr, &bound.data_type, *try_cast, frame),
            BoundKind::Call { function, args, types } => self.call(function, args, types, &bound.data_type, frame),
            // A lambda has a value only through the function it is given to.
            BoundKind::Lambda { .. } => Ok(Value::Null),
            BoundKind::Uninterpreted { name, identity, args } => {
                self.note_uninterpreted(name);
                self.uninterpreted(identity, args, &bound.data_type, frame)
            }
            BoundKind::Subquery(subquery) => subquery.evaluate(self, frame.row, |operand| self.value(operand, frame)),
        }
    }

    fn coalesce(&self, args: &[Bound], frame: &Frame<'_>) -> Result<Value, ExecutionError> {
        for arg in args {
            let value = self.value(arg, frame)?;
            if !value.is_null() {
                return Ok(value);
            }
        }
        Ok(Value::Null)
    }

    fn case(
        &self,
        branches: &[(Bound, Bound)],
        otherwise: Option<&Bound>,
        frame: &Frame<'_>,
    ) -> Result<Value, ExecutionError> {
        for (when, then) in branches {
            if matches!(self.value(when, frame)?, Value::Boolean(true)) {
                return self.value(then, frame);
            }
        }
        otherwise.map_or(Ok(Value::Null), |expr| self.value(expr, frame))
    }

    fn cast_to(&self, expr: &Bound, to: &DataType, try_cast: bool, frame: &Frame<'_>) -> Result<Value, ExecutionError> {
        let value = self.value(expr, frame)?;
        match self.cast(&value, &expr.data_type, to) {
            Err(_) if try_cast => Ok(Value::Null),
            result => Ok(result?),
        }
    }

    fn uninterpreted(
        &self,
        identity: &str,
        args: &[Bound],
        result: &DataType,
        frame: &Frame<'_>,
    ) -> Result<Value, ExecutionError> {
        let args = self.values(args, frame)?;
        Ok(functions::uninterpreted(identity, &args, result))
    }

    fn values(&self, args: &[Bound], frame: &Frame<'_>) -> Result<Vec<Value>, ExecutionError> {
        args.iter().map(|arg| self.value(arg, frame)).collect()
    }

    /// Three-valued AND (decided by false) or OR (decided by true).
    fn connective(&self, pair: &[Bound; 2], frame: &Frame<'_>, decisive: bool) -> Result<Value, ExecutionError> {
        let mut unknown = false;
        for side in pair {
            match self.value(side, frame)? {
                Value::Boolean(value) if value == decisive => return Ok(Value::Boolean(decisive)),
                Value::Boolean(_) => {}
                _ => unknown = true,
            }
        }
        Ok(if unknown { Value::Null } else { Value::Boolean(!decisive) })
    }

    fn call(
        &self,
        function: &functions::Function,
        args: &[Bound],
        types: &[DataType],
        result: &DataType,
        frame: &Frame<'_>,
    ) -> Result<Value, ExecutionError> {
        if !function.is_interpreted() {
            self.note_uninterpreted(function.name());
        }
        let values = self.values(args, frame)?;
        let of_row;
        let context = if !function.volatility.is_deterministic() {
            of_row = EvalContext { row: u64::try_from(frame.index).unwrap_or(u64::MAX), ..self.context.clone() };
            &of_row
        } else {
            &self.context
        };
        // Callbacks speak `EvalError`; the error itself is kept beside it, with its own class.
        let failure = RefCell::new(None);
        let lambda = |position: usize, given: &[Value]| -> Result<Value, EvalError> {
            let Some(BoundKind::Lambda { body, parameters: named }) = args.get(position).map(|arg| &arg.kind) else {
                return Ok(Value::Null);
            };
            let parameters: Vec<Value> = frame.parameters.iter().chain(given.iter().take(*named)).cloned().collect();
            self.value(body, &Frame { parameters: &parameters, ..*frame }).map_err(|error| {
                let outer = EvalError::new("INTERNAL_ERROR", error.message.clone());
                *failure.borrow_mut() = Some(error);
                outer
            })
        };
        let has_lambda = args.iter().any(|arg| matches!(arg.kind, BoundKind::Lambda { .. }));
        let call =
            Invocation { args: &values, types, result, context, lambda: if has_lambda { Some(&lambda) } else { None } };
        let value = function.evaluate(&call).map_err(|error| failure.take().unwrap_or_else(|| error.into()))?;
        self.work.value(&value)?;
        Ok(value)
    }
}

#[derive(Clone, Copy)]
struct Frame<'a> {
    row: &'a Row,
    index: usize,
    /// Values of the lambda parameters in scope, outermost first.
    parameters: &'a [Value],
}
