//! Which rows a script leaves out of what it writes: the evidence that it means a part of its table and not the whole.
//!
//! Takes the query of a write; gives whether a predicate limits it by a column that the table has. A day, a partition, a value that
//! is only known at run time: each run brings another part. A constant on any other column is the same in each run.

use super::data::is_day_name;
use crate::model::{BatchWrite, DataType, Expr, Field, Node, Plan};

/// Whether a write brings a part of its table only; `partition_by` are the table's partition columns.
pub fn is_limited(write: &BatchWrite, fields: &[Field], partition_by: &[String]) -> bool {
    write.queries().any(|query| limits(query, fields, partition_by))
}

fn limits(query: &Plan, fields: &[Field], partition_by: &[String]) -> bool {
    let mut found = false;
    query.walk(&mut |node| {
        if let Node::Filter { condition, .. } = &node.node {
            condition.walk(&mut |expr| found |= limits_by(expr, fields, partition_by));
        }
    });
    found
}

/// A comparison of a column of the table with something that is none.
fn limits_by(expr: &Expr, fields: &[Field], partition_by: &[String]) -> bool {
    let Expr::Call(call) = expr else { return false };
    if !matches!(call.function.as_ref(), "=" | "<=>" | "<" | "<=" | ">" | ">=" | "in" | "between" | "like") {
        return false;
    }
    let (with, without): (Vec<&Expr>, Vec<&Expr>) = call.args.iter().partition(|arg| columns(arg).next().is_some());
    let ([column], false) = (with.as_slice(), without.is_empty()) else { return false };
    let field = |name: &str| fields.iter().find(|field| field.name.eq_ignore_ascii_case(name));
    columns(column).filter_map(|name| field(&name)).any(|field| {
        let is_time = matches!(field.data_type, DataType::Date | DataType::Timestamp | DataType::TimestampNtz);
        let is_partition = partition_by.iter().any(|own| own.eq_ignore_ascii_case(&field.name));
        is_time
            || is_partition
            || is_day_name(&field.name.to_lowercase())
            || without.iter().any(|value| !is_constant(value))
    })
}

/// Last parts of the names of the columns in an expression, outside of subqueries.
fn columns(expr: &Expr) -> impl Iterator<Item = String> {
    let mut names = Vec::new();
    expr.walk(&mut |inner| {
        if let Expr::Column(column) = inner {
            names.extend(column.parts.last().cloned());
        }
    });
    names.into_iter()
}

/// Written down in the script.
fn is_constant(expr: &Expr) -> bool {
    let mut constant = true;
    expr.walk(&mut |inner| {
        constant &= match inner {
            Expr::Literal { value: crate::model::Value::String(text), .. } => !text.contains('{'),
            Expr::Literal { .. } | Expr::Cast { .. } | Expr::Alias { .. } => true,
            _ => false,
        };
    });
    constant
}
