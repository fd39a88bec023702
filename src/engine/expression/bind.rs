//! From expressions of a plan to expressions over positions.

use super::subquery::{BoundSubquery, Membership};
use super::{Bound, BoundKind, Evaluator};
use crate::engine::error::ExecutionError;
use crate::functions::{self, Argument, Kind};
use crate::model::{Attribute, Call, DataType, Expr, Opaque, Plan, SubqueryKind, Value};
use std::sync::Arc;

/// Expressions nested deeper than this are refused: evaluation recurses.
const MAX_DEPTH: usize = 256;

/// Binds an expression to columns. Attributes that are none of them are looked up in the rows of enclosing queries.
///
/// # Errors
/// `UNSUPPORTED_PLAN` for whatever the analysis has left unresolved; the errors of an uncorrelated subquery, which runs here.
pub(in crate::engine) fn bind(
    expr: &Expr,
    columns: &[Attribute],
    evaluator: &Evaluator<'_>,
) -> Result<Bound, ExecutionError> {
    Binder { columns, evaluator, parameters: Vec::new(), depth: 0 }.bind(expr)
}

pub(in crate::engine) fn bind_all(
    exprs: &[Expr],
    columns: &[Attribute],
    evaluator: &Evaluator<'_>,
) -> Result<Vec<Bound>, ExecutionError> {
    exprs.iter().map(|expr| bind(expr, columns, evaluator)).collect()
}

struct Binder<'a, 'e> {
    columns: &'a [Attribute],
    evaluator: &'a Evaluator<'e>,
    /// Lambda parameters in scope, outermost first.
    parameters: Vec<Arc<str>>,
    depth: usize,
}

impl Binder<'_, '_> {
    fn bind(&mut self, expr: &Expr) -> Result<Bound, ExecutionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ExecutionError::unsupported("an expression is nested too deeply to be evaluated"));
        }
        let bound = self.bind_node(expr);
        self.depth -= 1;
        bound
    }

    fn bind_list(&mut self, exprs: &[Expr]) -> Result<Vec<Bound>, ExecutionError> {
        exprs.iter().map(|expr| self.bind(expr)).collect()
    }

    /// Each kind in a function of its own: this one recurses, and its frame should be small.
    fn bind_node(&mut self, expr: &Expr) -> Result<Bound, ExecutionError> {
        match expr {
            Expr::Call(call) => self.call(call),
            Expr::Attribute(attribute) => self.attribute(attribute),
            Expr::Literal { value, data_type } => Ok(literal(value, data_type)),
            Expr::Alias { expr, name, .. } => self.alias(expr, name),
            Expr::Cast { expr, to, try_cast } => self.cast(expr, to, *try_cast),
            Expr::Case { branches, otherwise } => self.case(branches, otherwise.as_deref()),
            Expr::LambdaVariable { name, data_type, nullable } => self.parameter(name, data_type, *nullable),
            Expr::Lambda { params, body } => self.lambda(params, body),
            Expr::Subquery { kind, plan } => self.subquery(kind, plan),
            Expr::Opaque(opaque) => self.opaque(opaque),
            unresolved => Err(refused(unresolved)),
        }
    }

    fn alias(&mut self, expr: &Expr, name: &Arc<str>) -> Result<Bound, ExecutionError> {
        let mut bound = self.bind(expr)?;
        bound.name = Some(name.clone());
        Ok(bound)
    }

    fn cast(&mut self, expr: &Expr, to: &DataType, try_cast: bool) -> Result<Bound, ExecutionError> {
        let inner = self.bind(expr)?;
        let nullable = inner.nullable || try_cast || functions::cast_nullable(&inner.data_type, to);
        let name = inner.name.clone();
        let kind = BoundKind::Cast { expr: Box::new(inner), try_cast };
        Ok(Bound { name, ..Bound::new(kind, to.clone(), nullable) })
    }

    fn parameter(&self, name: &Arc<str>, data_type: &DataType, nullable: bool) -> Result<Bound, ExecutionError> {
        let position = self.parameters.iter().rposition(|parameter| parameter == name);
        let position = position
            .ok_or_else(|| ExecutionError::unsupported(format!("`{name}` is a parameter of no lambda here")))?;
        let bound = Bound::new(BoundKind::Parameter(position), data_type.clone(), nullable);
        Ok(Bound { name: Some(name.clone()), ..bound })
    }

    fn lambda(&mut self, params: &[Arc<str>], body: &Expr) -> Result<Bound, ExecutionError> {
        let outside = self.parameters.len();
        self.parameters.extend(params.iter().cloned());
        let body = self.bind(body);
        self.parameters.truncate(outside);
        let body = body?;
        let (data_type, nullable) = (body.data_type.clone(), body.nullable);
        Ok(Bound::new(BoundKind::Lambda { body: Box::new(body), parameters: params.len() }, data_type, nullable))
    }

    fn opaque(&mut self, opaque: &Opaque) -> Result<Bound, ExecutionError> {
        let args = self.bind_list(&opaque.args)?;
        let kind = BoundKind::Uninterpreted { name: opaque.name.clone(), identity: opaque.identity(), args };
        Ok(Bound::new(kind, opaque.data_type.clone(), true))
    }

    fn attribute(&self, attribute: &Attribute) -> Result<Bound, ExecutionError> {
        if let Some(position) = self.columns.iter().position(|column| column.id == attribute.id)
            && let Some(column) = self.columns.get(position)
        {
            return Ok(Bound { name: Some(attribute.name.clone()), ..Bound::column(position, column) });
        }
        let value = self.evaluator.outer_value(attribute).ok_or_else(|| {
            ExecutionError::unsupported(format!("column `{}` is not among the input's columns", attribute.name))
        })?;
        Ok(Bound {
            name: Some(attribute.name.clone()),
            ..Bound::new(BoundKind::Literal(value), attribute.data_type.clone(), attribute.nullable)
        })
    }

    fn case(&mut self, branches: &[(Expr, Expr)], otherwise: Option<&Expr>) -> Result<Bound, ExecutionError> {
        let branches: Vec<(Bound, Bound)> = branches
            .iter()
            .map(|(when, then)| Ok((self.bind(when)?, self.bind(then)?)))
            .collect::<Result<_, ExecutionError>>()?;
        let otherwise = otherwise.map(|expr| self.bind(expr)).transpose()?;
        let results = || branches.iter().map(|(_, then)| then).chain(&otherwise);
        let data_type = results()
            .map(|result| &result.data_type)
            .find(|data_type| **data_type != DataType::Null)
            .cloned()
            .unwrap_or(DataType::Null);
        let nullable = otherwise.is_none() || results().any(|result| result.nullable);
        let kind = BoundKind::Case { branches, otherwise: otherwise.map(Box::new) };
        Ok(Bound::new(kind, data_type, nullable))
    }

    fn call(&mut self, call: &Call) -> Result<Bound, ExecutionError> {
        let args = self.bind_list(&call.args)?;
        let Some(function) = functions::lookup(&call.function) else {
            let kind =
                BoundKind::Uninterpreted { name: call.function.clone(), identity: call.function.to_string(), args };
            return Ok(Bound::new(kind, DataType::Unknown, true));
        };
        if function.kind != Kind::Scalar {
            let why = format!("function `{}` is no scalar function, and stands where one is expected", call.function);
            return Err(ExecutionError::unsupported(why));
        }
        let args = coerce(function, args, self.evaluator);
        let arguments: Vec<Argument> = args.iter().map(Bound::argument).collect();
        let (data_type, nullable) = function.result(&arguments);
        // The time of a window is an event time as the window is.
        let delay = args.first().and_then(|arg| arg.watermark_delay).filter(|_| function.name() == "window_time");
        Ok(Bound { watermark_delay: delay, ..Bound::new(lazy(function, args), data_type, nullable) })
    }

    fn subquery(&mut self, kind: &SubqueryKind, plan: &Plan) -> Result<Bound, ExecutionError> {
        let (kind, data_type, nullable) = match kind {
            SubqueryKind::Scalar => (Membership::Scalar, DataType::Unknown, true),
            SubqueryKind::Exists { negated } => (Membership::Exists { negated: *negated }, DataType::Boolean, false),
            SubqueryKind::In { operands, negated } => {
                let operands = self.bind_list(operands)?;
                (Membership::In { operands, negated: *negated }, DataType::Boolean, true)
            }
        };
        let subquery = BoundSubquery::new(kind, plan, self.columns, self.evaluator)?;
        let data_type = if data_type.is_unknown() { subquery.scalar_type.clone() } else { data_type };
        Ok(Bound::new(BoundKind::Subquery(Box::new(subquery)), data_type, nullable))
    }
}

/// Inserts the implicit casts that an analysed plan already has and a hand-built one may lack.
pub(in crate::engine) fn coerce(
    function: &functions::Function,
    args: Vec<Bound>,
    evaluator: &Evaluator<'_>,
) -> Vec<Bound> {
    let arguments: Vec<Argument> = args.iter().map(Bound::argument).collect();
    let wanted = function.coerce(&arguments);
    let cast = |(arg, to): (Bound, DataType)| {
        let keep = arg.data_type == to || to.is_unknown() || arg.data_type.is_unknown();
        if keep || matches!(arg.kind, BoundKind::Lambda { .. }) {
            return arg;
        }
        let (nullable, name) = (arg.nullable, arg.name.clone());
        let delay = arg.watermark_delay;
        // A literal stays one: result types may hang on its value.
        if let BoundKind::Literal(value) = &arg.kind
            && let Ok(value) = evaluator.cast(value, &arg.data_type, &to)
        {
            return Bound { name, ..Bound::new(BoundKind::Literal(value), to, nullable) };
        }
        let kind = BoundKind::Cast { expr: Box::new(arg), try_cast: false };
        Bound { name, watermark_delay: delay, ..Bound::new(kind, to, nullable) }
    };
    args.into_iter().zip(wanted).map(cast).collect()
}

fn literal(value: &Value, data_type: &DataType) -> Bound {
    Bound::new(BoundKind::Literal(value.clone()), data_type.clone(), value.is_null())
}

fn refused(expr: &Expr) -> ExecutionError {
    ExecutionError::unsupported(match expr {
        Expr::Column(column) => format!("column `{}` is not resolved", column.parts.join(".")),
        Expr::MultiAlias { .. } => "a generator stands where a value is expected".to_owned(),
        Expr::Window { .. } => "a window function stands outside of a window operator".to_owned(),
        _ => "a list of columns is not resolved".to_owned(),
    })
}

/// Functions that must not evaluate all their arguments get nodes of their own.
fn lazy(function: &'static functions::Function, args: Vec<Bound>) -> BoundKind {
    let args = match (function.name(), <[Bound; 2]>::try_from(args)) {
        ("and", Ok(pair)) => return BoundKind::And(Box::new(pair)),
        ("or", Ok(pair)) => return BoundKind::Or(Box::new(pair)),
        (_, Ok(pair)) => Vec::from(pair),
        (_, Err(args)) => args,
    };
    match function.name() {
        "coalesce" | "ifnull" | "nvl" => BoundKind::Coalesce(args),
        "if" => match <[Bound; 3]>::try_from(args) {
            Ok([when, then, otherwise]) => {
                BoundKind::Case { branches: vec![(when, then)], otherwise: Some(Box::new(otherwise)) }
            }
            Err(args) => call(function, args),
        },
        _ => call(function, args),
    }
}

fn call(function: &'static functions::Function, args: Vec<Bound>) -> BoundKind {
    let types = args.iter().map(|arg| arg.data_type.clone()).collect();
    BoundKind::Call { function, args, types }
}
