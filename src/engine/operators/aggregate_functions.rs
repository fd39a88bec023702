//! The aggregate calls of one aggregation, with their buffers laid side by side as in a state row.

use super::project::internal_id;
use super::sort::Order;
use crate::engine::error::ExecutionError;
use crate::engine::expression::{Bound, Evaluator, bind, bind_all, coerce};
use crate::engine::row::Row;
use crate::functions::{self, Aggregate, AggregateCall, Argument, Kind};
use crate::model::{Attribute, Call, DataType, Expr, Opaque, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A call that takes whole groups: an aggregate function, or an opaque one (a grouped UDF) over columns that are no groupings.
pub(super) fn is_aggregate(expr: &Expr) -> bool {
    match expr {
        Expr::Call(call) => functions::lookup(&call.function).is_some_and(|function| function.kind == Kind::Aggregate),
        _ => false,
    }
}

/// All aggregates of some expressions, each once, in order of first appearance.
pub(super) fn collect<'a>(exprs: impl Iterator<Item = &'a Expr>, opaque: bool) -> Vec<&'a Expr> {
    let mut found: Vec<&Expr> = Vec::new();
    for root in exprs {
        let mut pending = vec![root];
        while let Some(expr) = pending.pop() {
            let grouped_udf = opaque && matches!(expr, Expr::Opaque(_));
            if is_aggregate(expr) || grouped_udf {
                if !found.contains(&expr) {
                    found.push(expr);
                }
            } else {
                pending.extend(expr.children().into_iter().rev());
            }
        }
    }
    found
}

enum Implementation {
    Known(&'static Aggregate),
    /// A hash of the multiset of arguments; the buffer holds them.
    Uninterpreted {
        name: Arc<str>,
        identity: String,
    },
}

/// One aggregate expression bound to the input.
struct AggregateFunction {
    implementation: Implementation,
    args: Vec<Bound>,
    types: Vec<DataType>,
    result: DataType,
    nullable: bool,
    filter: Option<Bound>,
    distinct: bool,
    ignore_nulls: bool,
    descending: bool,
    /// Order in which rows are taken in, for aggregates that hang on it.
    order: Option<Order>,
    /// Where its buffer lies in the row of buffers.
    start: usize,
    len: usize,
}

/// Rows of one group on their way into buffers.
pub(super) struct Group {
    pub buffers: Vec<Value>,
    /// What each DISTINCT aggregate has seen.
    seen: Vec<BTreeSet<Vec<Value>>>,
    /// Rows held back until all are there, for each ordered aggregate.
    held: Vec<Vec<(Vec<Value>, Vec<Value>)>>,
}

pub(super) struct AggregateFunctions<'a> {
    evaluator: &'a Evaluator<'a>,
    functions: Vec<AggregateFunction>,
    width: usize,
}

impl<'a> AggregateFunctions<'a> {
    pub fn bind(exprs: &[&Expr], columns: &[Attribute], evaluator: &'a Evaluator<'a>) -> Result<Self, ExecutionError> {
        let mut functions = Vec::with_capacity(exprs.len());
        let mut width = 0;
        for expr in exprs {
            let mut function = match expr {
                Expr::Call(call) => bind_call(call, columns, evaluator)?,
                Expr::Opaque(opaque) => bind_opaque(opaque, columns, evaluator)?,
                _ => return Err(ExecutionError::unsupported("an aggregate is no function call")),
            };
            function.start = width;
            width += function.len;
            functions.push(function);
        }
        Ok(AggregateFunctions { evaluator, functions, width })
    }

    /// Columns of the results, under internal ids from `first` on.
    pub fn result_columns(&self, first: usize) -> Vec<Attribute> {
        let column = |(number, function): (usize, &AggregateFunction)| Attribute {
            id: internal_id(first + number),
            name: "aggregate".into(),
            data_type: function.result.clone(),
            nullable: function.nullable,
            qualifier: Vec::new(),
            watermark_delay: None,
        };
        self.functions.iter().enumerate().map(column).collect()
    }

    pub fn start(&self) -> Group {
        let mut buffers = Vec::with_capacity(self.width);
        for function in &self.functions {
            buffers.extend(self.initial(function));
        }
        let many = self.functions.len();
        Group { buffers, seen: vec![BTreeSet::new(); many], held: vec![Vec::new(); many] }
    }

    fn initial(&self, function: &AggregateFunction) -> Vec<Value> {
        match &function.implementation {
            Implementation::Known(aggregate) => aggregate.initialize(&self.call(function)),
            Implementation::Uninterpreted { .. } => vec![Value::Array([].into())],
        }
    }

    fn call<'b>(&'b self, function: &'b AggregateFunction) -> AggregateCall<'b> {
        AggregateCall {
            types: &function.types,
            result: &function.result,
            ignore_nulls: function.ignore_nulls,
            descending: function.descending,
            context: &self.evaluator.context,
        }
    }

    /// Takes one row into a group.
    pub fn update(&self, group: &mut Group, row: &Row, index: usize) -> Result<(), ExecutionError> {
        for (number, function) in self.functions.iter().enumerate() {
            if let Some(filter) = &function.filter
                && !self.evaluator.holds(filter, row, index)?
            {
                continue;
            }
            let args = self.evaluator.row(&function.args, row, index)?.to_vec();
            if function.distinct && !group.seen.get_mut(number).is_some_and(|seen| seen.insert(args.clone())) {
                continue;
            }
            if let Some(order) = &function.order {
                let keys = order.values(self.evaluator, row, index)?;
                if let Some(held) = group.held.get_mut(number) {
                    held.push((keys, args));
                }
                continue;
            }
            self.take_in(function, &mut group.buffers, &args)?;
        }
        Ok(())
    }

    fn take_in(
        &self,
        function: &AggregateFunction,
        buffers: &mut [Value],
        args: &[Value],
    ) -> Result<(), ExecutionError> {
        let Some(buffer) = buffers.get_mut(function.start..function.start + function.len) else {
            return Err(wrong_width());
        };
        match &function.implementation {
            Implementation::Known(aggregate) => Ok(aggregate.update(buffer, args, &self.call(function))?),
            Implementation::Uninterpreted { .. } => {
                if let [Value::Array(items)] = buffer {
                    let item = Value::Struct(args.into());
                    *items = items.iter().cloned().chain(std::iter::once(item)).collect();
                }
                Ok(())
            }
        }
    }

    /// The buffers of a group, with the rows that were held back taken in.
    pub fn complete(&self, mut group: Group) -> Result<Vec<Value>, ExecutionError> {
        for (function, mut held) in self.functions.iter().zip(std::mem::take(&mut group.held)) {
            if let Some(order) = &function.order {
                held.sort_by(|(a, _), (b, _)| order.compare(a, b));
            }
            for (_, args) in held {
                self.take_in(function, &mut group.buffers, &args)?;
            }
        }
        Ok(group.buffers)
    }

    /// Merges another row of buffers into this one: state first, new rows second.
    pub fn merge(&self, buffers: &mut [Value], other: &[Value]) -> Result<(), ExecutionError> {
        for function in &self.functions {
            let range = function.start..function.start + function.len;
            let (Some(buffer), Some(other)) = (buffers.get_mut(range.clone()), other.get(range)) else {
                return Err(wrong_width());
            };
            match &function.implementation {
                Implementation::Known(aggregate) => aggregate.merge(buffer, other, &self.call(function))?,
                Implementation::Uninterpreted { .. } => {
                    if let ([Value::Array(items)], [Value::Array(more)]) = (buffer, other) {
                        *items = items.iter().chain(more.iter()).cloned().collect();
                    }
                }
            }
        }
        Ok(())
    }

    /// The results, one for each aggregate.
    pub fn finish(&self, buffers: &[Value]) -> Result<Vec<Value>, ExecutionError> {
        let mut results = Vec::with_capacity(self.functions.len());
        for function in &self.functions {
            let buffer = buffers.get(function.start..function.start + function.len).ok_or_else(wrong_width)?;
            results.push(match &function.implementation {
                Implementation::Known(aggregate) => aggregate.finish(buffer, &self.call(function))?,
                Implementation::Uninterpreted { name, identity } => {
                    self.evaluator.note_uninterpreted(name);
                    let mut items: Vec<Value> = match buffer {
                        [Value::Array(items)] => items.to_vec(),
                        other => other.to_vec(),
                    };
                    items.sort();
                    functions::uninterpreted(identity, &items, &function.result)
                }
            });
        }
        Ok(results)
    }
}

fn wrong_width() -> ExecutionError {
    ExecutionError::new(
        "CANNOT_LOAD_STATE_STORE.VALUE_ROW_FORMAT_VALIDATION_FAILURE",
        "a state row has another number of fields than this query's aggregation buffers",
    )
}

/// Aggregates whose WITHIN GROUP expression is what they aggregate.
const ORDER_IS_ARGUMENT: &[&str] = &["percentile_cont", "percentile_disc", "mode"];

fn bind_call(
    call: &Call,
    columns: &[Attribute],
    evaluator: &Evaluator<'_>,
) -> Result<AggregateFunction, ExecutionError> {
    let function = functions::lookup(&call.function)
        .ok_or_else(|| ExecutionError::unsupported(format!("`{}` is no aggregate function", call.function)))?;
    let mut exprs: Vec<Expr> = call.args.clone();
    let mut order = None;
    if let [key, ..] = call.order_by.as_slice() {
        if ORDER_IS_ARGUMENT.contains(&function.name()) {
            exprs.insert(0, key.expr.clone());
        } else {
            order = Some(Order::bind(&call.order_by, columns, evaluator)?);
        }
    }
    let args = bind_all(&exprs, columns, evaluator)?;
    let args = coerce(function, args, evaluator);
    let arguments: Vec<Argument> = args.iter().map(Bound::argument).collect();
    let types: Vec<DataType> = arguments.iter().map(|argument| argument.data_type.clone()).collect();
    let (result, nullable) = function.result(&arguments);
    let (implementation, len) = match function.aggregate() {
        Some(aggregate) => (Implementation::Known(aggregate), (aggregate.buffer)(&arguments).len()),
        None => {
            let name: Arc<str> = function.name().into();
            (Implementation::Uninterpreted { identity: name.to_string(), name }, 1)
        }
    };
    Ok(AggregateFunction {
        implementation,
        args,
        types,
        result,
        nullable,
        filter: call.filter.as_deref().map(|filter| bind(filter, columns, evaluator)).transpose()?,
        distinct: call.distinct,
        ignore_nulls: call.ignore_nulls,
        descending: call.order_by.first().is_some_and(|key| key.descending),
        order,
        start: 0,
        len,
    })
}

fn bind_opaque(
    opaque: &Opaque,
    columns: &[Attribute],
    evaluator: &Evaluator<'_>,
) -> Result<AggregateFunction, ExecutionError> {
    let args = bind_all(&opaque.args, columns, evaluator)?;
    Ok(AggregateFunction {
        implementation: Implementation::Uninterpreted { name: opaque.name.clone(), identity: opaque.identity() },
        types: args.iter().map(|arg| arg.data_type.clone()).collect(),
        args,
        result: opaque.data_type.clone(),
        nullable: true,
        filter: None,
        distinct: false,
        ignore_nulls: false,
        descending: false,
        order: None,
        start: 0,
        len: 1,
    })
}
