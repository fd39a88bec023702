//! Calls that are no scalar functions, bound to columns: generators and window functions.

use super::{Bound, Evaluator, bind_all, coerce};
use crate::engine::error::ExecutionError;
use crate::engine::row::Row;
use crate::functions::{self, Argument, Generator, Invocation, Partition, WindowFunction};
use crate::model::{Attribute, DataType, Expr, Field, Value};

/// A generator call.
pub(in crate::engine) struct BoundGenerator {
    generator: &'static Generator,
    args: Vec<Bound>,
    types: Vec<DataType>,
    /// Columns of the rows it gives.
    pub fields: Vec<Field>,
}

impl BoundGenerator {
    /// # Errors
    /// `UNSUPPORTED_PLAN` where it is no generator that can be executed.
    pub fn bind(expr: &Expr, columns: &[Attribute], evaluator: &Evaluator<'_>) -> Result<Self, ExecutionError> {
        let call = match expr {
            Expr::Call(call) => call,
            Expr::Alias { expr, .. } | Expr::MultiAlias { expr, .. } => return Self::bind(expr, columns, evaluator),
            _ => return Err(ExecutionError::unsupported("a generator is no function call")),
        };
        let found = functions::lookup(&call.function).and_then(|function| Some((function, function.generator()?)));
        let (function, generator) = found
            .ok_or_else(|| ExecutionError::unsupported(format!("generator `{}` is not implemented", call.function)))?;
        let args = coerce(function, bind_all(&call.args, columns, evaluator)?, evaluator);
        let arguments: Vec<Argument> = args.iter().map(Bound::argument).collect();
        let types = arguments.iter().map(|argument| argument.data_type.clone()).collect();
        Ok(BoundGenerator { generator, fields: (generator.output)(&arguments), args, types })
    }

    /// The rows it gives for one input row.
    ///
    /// # Errors
    /// Spark's errors of evaluation.
    pub fn rows(&self, evaluator: &Evaluator<'_>, row: &Row, index: usize) -> Result<Vec<Vec<Value>>, ExecutionError> {
        let args = evaluator.row(&self.args, row, index)?;
        let call = Invocation {
            args: &args,
            types: &self.types,
            result: &DataType::Unknown,
            context: &evaluator.context,
            lambda: None,
        };
        Ok(self.generator.rows(&call, self.fields.len())?)
    }
}

/// A call that only a window can evaluate.
pub(in crate::engine) struct BoundWindowFunction {
    function: Option<&'static WindowFunction>,
    name: String,
    args: Vec<Bound>,
    pub data_type: DataType,
    pub nullable: bool,
    pub ignore_nulls: bool,
}

impl BoundWindowFunction {
    /// # Errors
    /// `UNSUPPORTED_PLAN` where it is no function call.
    pub fn bind(expr: &Expr, columns: &[Attribute], evaluator: &Evaluator<'_>) -> Result<Self, ExecutionError> {
        let Expr::Call(call) = expr else {
            return Err(ExecutionError::unsupported("a window function is no function call"));
        };
        let mut args = bind_all(&call.args, columns, evaluator)?;
        let (mut function, mut data_type, mut nullable) = (None, DataType::Unknown, true);
        if let Some(entry) = functions::lookup(&call.function) {
            args = coerce(entry, args, evaluator);
            let arguments: Vec<Argument> = args.iter().map(Bound::argument).collect();
            (data_type, nullable) = entry.result(&arguments);
            function = entry.window_function();
        }
        Ok(BoundWindowFunction {
            function,
            name: call.function.to_string(),
            args,
            data_type,
            nullable,
            ignore_nulls: call.ignore_nulls,
        })
    }

    /// The arguments on each row of a partition.
    ///
    /// # Errors
    /// Spark's errors of evaluation.
    pub fn args(&self, evaluator: &Evaluator<'_>, rows: &[Row]) -> Result<Vec<Vec<Value>>, ExecutionError> {
        rows.iter().enumerate().map(|(index, row)| Ok(evaluator.row(&self.args, row, index)?.to_vec())).collect()
    }

    /// # Errors
    /// Spark's errors of evaluation.
    pub fn value(
        &self,
        evaluator: &Evaluator<'_>,
        partition: &Partition<'_>,
        row: usize,
    ) -> Result<Value, ExecutionError> {
        if let Some(function) = self.function {
            return Ok(function.value(partition, row)?);
        }
        evaluator.note_uninterpreted(&self.name);
        let args = partition.args.get(row).map(Vec::as_slice).unwrap_or_default();
        Ok(functions::uninterpreted(&self.name, args, &self.data_type))
    }
}
