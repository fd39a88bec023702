//! Types: of resolved expressions, and the casts that Spark's `AnsiTypeCoercion` inserts.

use super::Resolver;
use crate::functions::{self, Argument, Kind};
use crate::model::{Call, DataType, Expr, Field, Plan, SortKey, SubqueryKind, Value, WindowSpec};
use std::sync::Arc;

/// Type of a resolved expression.
pub(in crate::analyze) fn data_type(expr: &Expr) -> DataType {
    typed(expr).0
}

/// True where a resolved expression may be NULL.
pub(in crate::analyze) fn nullable(expr: &Expr) -> bool {
    typed(expr).1
}

/// Type and nullability of a resolved expression.
pub(in crate::analyze) fn typed(expr: &Expr) -> (DataType, bool) {
    match expr {
        Expr::Attribute(attribute) => (attribute.data_type.clone(), attribute.nullable),
        Expr::Literal { value, data_type } => (data_type.clone(), value.is_null()),
        Expr::Alias { expr, .. } | Expr::MultiAlias { expr, .. } => typed(expr),
        Expr::Call(call) => call_type(call),
        Expr::Cast { expr, to, try_cast } => {
            let (from, nullable) = typed(expr);
            (to.clone(), *try_cast || nullable || functions::cast_nullable(&from, to))
        }
        Expr::Case { branches, otherwise } => case_type(branches, otherwise.as_deref()),
        Expr::Lambda { body, .. } => typed(body),
        Expr::LambdaVariable { data_type, nullable, .. } => (data_type.clone(), *nullable),
        Expr::Window { call, .. } => typed(call),
        Expr::Subquery { kind: SubqueryKind::Scalar, plan } => (subquery_type(plan), true),
        Expr::Subquery { .. } => (DataType::Boolean, true),
        Expr::Opaque(opaque) => (opaque.data_type.clone(), true),
        Expr::Column(_) | Expr::Star { .. } | Expr::ColumnRegex(_) => (DataType::Unknown, true),
    }
}

fn call_type(call: &Call) -> (DataType, bool) {
    match (call.function.as_ref(), call.args.as_slice()) {
        ("getfield", [base, Expr::Literal { value: Value::String(field), .. }]) => field_type(base, field),
        _ => {
            let args = arguments(&call.args);
            functions::result(&call.function, &args)
        }
    }
}

/// `GetStructField`, `GetArrayStructFields`, or a key of a map.
fn field_type(base: &Expr, name: &str) -> (DataType, bool) {
    let (base_type, base_nullable) = typed(base);
    match base_type {
        DataType::Struct(fields) => match find_field(&fields, name) {
            Some(field) => (field.data_type.clone(), field.nullable || base_nullable),
            None => (DataType::Unknown, true),
        },
        DataType::Array { element, contains_null } => match *element {
            DataType::Struct(fields) => match find_field(&fields, name) {
                Some(field) => {
                    let contains_null = contains_null || field.nullable;
                    (DataType::Array { element: Box::new(field.data_type.clone()), contains_null }, base_nullable)
                }
                None => (DataType::Unknown, true),
            },
            _ => (DataType::Unknown, true),
        },
        DataType::Map { value, .. } => (*value, true),
        DataType::Variant => (DataType::Variant, true),
        _ => (DataType::Unknown, true),
    }
}

fn find_field<'f>(fields: &'f [Field], name: &str) -> Option<&'f Field> {
    fields.iter().find(|f| super::relation::same_name(&f.name, name))
}

fn case_type(branches: &[(Expr, Expr)], otherwise: Option<&Expr>) -> (DataType, bool) {
    let results: Vec<(DataType, bool)> = branches.iter().map(|(_, then)| then).chain(otherwise).map(typed).collect();
    let nullable = otherwise.is_none() || results.iter().any(|(_, nullable)| *nullable);
    let types: Vec<DataType> = results.into_iter().map(|(data_type, _)| data_type).collect();
    (functions::common_type(&types).unwrap_or(DataType::Unknown), nullable)
}

fn subquery_type(plan: &Plan) -> DataType {
    super::super::output::output(plan).first().map_or(DataType::Unknown, |a| a.data_type.clone())
}

/// Arguments as the function tables want them.
pub(in crate::analyze) fn arguments(args: &[Expr]) -> Vec<Argument> {
    args.iter()
        .map(|arg| {
            let (data_type, nullable) = typed(arg);
            let literal = match arg {
                Expr::Literal { value, .. } => Some(value.clone()),
                _ => None,
            };
            Argument { data_type, nullable, literal, name: argument_name(arg) }
        })
        .collect()
}

fn argument_name(arg: &Expr) -> Option<Arc<str>> {
    match arg {
        Expr::Attribute(attribute) => Some(attribute.name.clone()),
        Expr::Alias { name, .. } => Some(name.clone()),
        Expr::Call(call) if call.function.as_ref() == "getfield" => match call.args.get(1) {
            Some(Expr::Literal { value: Value::String(name), .. }) => Some(name.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// The expression with a type: as it is where the type is the same, known or not; under a cast otherwise.
pub(in crate::analyze) fn cast_to(expr: Expr, to: &DataType) -> Expr {
    let from = data_type(&expr);
    if same_type(&from, to) || from.is_unknown() || to.is_unknown() {
        return expr;
    }
    match expr {
        Expr::Alias { expr, name, id, place } => Expr::Alias { expr: Box::new(cast_to(*expr, to)), name, id, place },
        other => Expr::Cast { expr: Box::new(other), to: to.clone(), try_cast: false },
    }
}

/// Equal types; nullability inside of arrays, maps and structs makes no difference, nor do field names.
pub(in crate::analyze) fn same_type(a: &DataType, b: &DataType) -> bool {
    match (a, b) {
        (DataType::Array { element: x, .. }, DataType::Array { element: y, .. }) => same_type(x, y),
        (DataType::Map { key: k1, value: v1, .. }, DataType::Map { key: k2, value: v2, .. }) => {
            same_type(k1, k2) && same_type(v1, v2)
        }
        (DataType::Struct(x), DataType::Struct(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(f, g)| same_type(&f.data_type, &g.data_type))
        }
        _ => a == b,
    }
}

/// True where an expression calls an aggregate function outside of a window.
pub(in crate::analyze) fn has_aggregate(expr: &Expr) -> bool {
    match expr {
        Expr::Window { .. } => false,
        Expr::Call(call) if is_aggregate(call) => true,
        other => other.children().into_iter().any(has_aggregate),
    }
}

pub(in crate::analyze) fn is_aggregate(call: &Call) -> bool {
    functions::lookup(&call.function).is_some_and(|f| f.kind == Kind::Aggregate)
}

impl Resolver<'_> {
    /// Inserts casts, and gives types to lambda variables, bottom up.
    pub(super) fn types(&mut self, expr: Expr) -> Expr {
        match expr {
            Expr::Call(call) => self.call_types(call),
            Expr::Case { branches, otherwise } => {
                let branches: Vec<(Expr, Expr)> =
                    branches.into_iter().map(|(when, then)| (self.types(when), self.types(then))).collect();
                let otherwise = otherwise.map(|e| Box::new(self.types(*e)));
                let (common, _) = case_type(&branches, otherwise.as_deref());
                Expr::Case {
                    branches: branches.into_iter().map(|(when, then)| (when, cast_to(then, &common))).collect(),
                    otherwise: otherwise.map(|e| Box::new(cast_to(*e, &common))),
                }
            }
            Expr::Window { call, spec } => {
                let call = Box::new(self.types(*call));
                let spec = WindowSpec {
                    partition_by: spec.partition_by.into_iter().map(|e| self.types(e)).collect(),
                    order_by: spec.order_by.into_iter().map(|k| self.key_types(k)).collect(),
                    frame: spec.frame,
                };
                Expr::Window { call, spec }
            }
            other => other.map_children(&mut |child| self.types(child)),
        }
    }

    fn key_types(&mut self, key: SortKey) -> SortKey {
        SortKey { expr: self.types(key.expr), descending: key.descending, nulls_first: key.nulls_first }
    }

    fn call_types(&mut self, call: Call) -> Expr {
        let has_lambda = call.args.iter().any(|arg| matches!(arg, Expr::Lambda { .. }));
        let Call { function, args, distinct, filter, order_by, ignore_nulls } = call;
        let args = if has_lambda {
            self.lambda_types(&function, args)
        } else {
            args.into_iter().map(|arg| self.types(arg)).collect()
        };
        let args = coerce(&function, args);
        let filter = filter.map(|f| Box::new(self.types(*f)));
        let order_by = order_by.into_iter().map(|k| self.key_types(k)).collect();
        let function = canonical_name(function);
        Expr::Call(Call { function, args, distinct, filter, order_by, ignore_nulls })
    }

    /// Arguments of a higher-order function: a lambda's parameters take their types from the other arguments.
    fn lambda_types(&mut self, function: &str, args: Vec<Expr>) -> Vec<Expr> {
        let mut typed_args: Vec<Expr> = Vec::with_capacity(args.len());
        let mut lambdas: Vec<usize> = Vec::new();
        for (index, arg) in args.into_iter().enumerate() {
            match arg {
                lambda @ Expr::Lambda { .. } => {
                    lambdas.push(index);
                    typed_args.push(lambda);
                }
                other => typed_args.push(self.types(other)),
            }
        }
        for index in lambdas {
            let known = arguments(&typed_args);
            let Some(Expr::Lambda { params, body }) = typed_args.get(index).cloned() else { continue };
            let parameters = functions::lambda_parameters(function, &known, index).unwrap_or_default();
            let body = bind(*body, &params, &parameters);
            let body = Box::new(self.types(body));
            if let Some(slot) = typed_args.get_mut(index) {
                *slot = Expr::Lambda { params, body };
            }
        }
        typed_args
    }
}

/// Gives a lambda's variables their types.
fn bind(expr: Expr, params: &[Arc<str>], types: &[(DataType, bool)]) -> Expr {
    match expr {
        Expr::LambdaVariable { name, data_type, nullable } => {
            let known = params.iter().position(|p| *p == name).and_then(|index| types.get(index));
            match known {
                Some((data_type, nullable)) => {
                    Expr::LambdaVariable { name, data_type: data_type.clone(), nullable: *nullable }
                }
                None => Expr::LambdaVariable { name, data_type, nullable },
            }
        }
        Expr::Lambda { params: inner, body } if inner.iter().any(|p| params.contains(p)) => {
            let visible: Vec<(Arc<str>, (DataType, bool))> = params
                .iter()
                .zip(types)
                .filter(|(p, _)| !inner.contains(p))
                .map(|(p, t)| (p.clone(), t.clone()))
                .collect();
            let (names, types): (Vec<_>, Vec<_>) = visible.into_iter().unzip();
            Expr::Lambda { params: inner, body: Box::new(bind(*body, &names, &types)) }
        }
        other => other.map_children(&mut |child| bind(child, params, types)),
    }
}

/// Implicit casts of a call's arguments.
fn coerce(function: &str, args: Vec<Expr>) -> Vec<Expr> {
    let wanted = functions::coerce(function, &arguments(&args));
    args.into_iter()
        .enumerate()
        .map(|(index, arg)| match (wanted.get(index), &arg) {
            (_, Expr::Lambda { .. }) | (None, _) => arg,
            (Some(to), _) => cast_to(arg, to),
        })
        .collect()
}

/// The name by which synonyms are known (`mean` is `avg`).
fn canonical_name(name: Arc<str>) -> Arc<str> {
    match functions::lookup(&name) {
        Some(function) if function.name() != name.as_ref() => function.name().into(),
        _ => name,
    }
}
