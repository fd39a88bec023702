//! Evaluation of one call: NULL and opaque arguments, then the function's body.

use super::function::{Argument, Body, EvalContext, EvalError, EvalResult, Function, Invocation, Nulls};
use super::{cast, lookup, uninterpreted};
use crate::model::{DataType, Value};

pub(super) fn evaluate_function(function: &Function, call: &Invocation) -> EvalResult {
    let propagates = matches!(function.nulls, Nulls::Propagate | Nulls::PropagateOrNull);
    if propagates && call.args.iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    match function.body {
        Body::Scalar(body) => {
            if propagates && call.args.iter().any(|v| matches!(v, Value::Opaque(_))) {
                return Ok(uninterpreted(function.name(), call.args, call.result));
            }
            body(call)
        }
        Body::Uninterpreted => Ok(uninterpreted(function.name(), call.args, call.result)),
        Body::Aggregate(_) | Body::Generator(_) | Body::Window(_) => {
            Err(EvalError::new("INTERNAL_ERROR", format!("{} is not a scalar function", function.name())))
        }
    }
}

/// Argument types after implicit casts, by name; the types as they are where the name is not registered.
pub fn coerce(name: &str, args: &[Argument]) -> Vec<DataType> {
    match lookup(name) {
        Some(function) => function.coerce(args),
        None => args.iter().map(|a| a.data_type.clone()).collect(),
    }
}

/// Type and nullability of a call of coerced arguments, by name; unknown and nullable where the name is not registered.
pub fn result(name: &str, args: &[Argument]) -> (DataType, bool) {
    lookup(name).map_or((DataType::Unknown, true), |function| function.result(args))
}

/// Evaluates a scalar call by name on constant arguments, with implicit casts: what constant folding needs.
pub fn evaluate(name: &str, args: &[Value], types: &[DataType], context: &EvalContext) -> EvalResult {
    let arguments: Vec<Argument> =
        args.iter().zip(types).map(|(v, t)| Argument::literal(v.clone(), t.clone())).collect();
    let Some(function) = lookup(name) else {
        return Ok(uninterpreted(name, args, &DataType::Unknown));
    };
    let wanted = function.coerce(&arguments);
    let mut coerced = Vec::with_capacity(args.len());
    for ((value, from), to) in args.iter().zip(types).zip(&wanted) {
        coerced.push(if from == to { value.clone() } else { cast(value, from, to, context.ansi, &context.zone)? });
    }
    let arguments: Vec<Argument> =
        coerced.iter().zip(&wanted).map(|(v, t)| Argument::literal(v.clone(), t.clone())).collect();
    let (result, _) = function.result(&arguments);
    function.evaluate(&Invocation { args: &coerced, types: &wanted, result: &result, context, lambda: None })
}
