//! What the plans of both revisions compare columns with: literals by column, types that text is cast to, and durations.

use crate::analyze::Analysis;
use crate::model::{DataType, Expr, Node, Plan, Value};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Default)]
pub struct Literals {
    /// By column name in lower case.
    pub by_column: BTreeMap<String, BTreeSet<Value>>,
    /// All of them: a literal may meet a column through other expressions.
    pub all: BTreeSet<Value>,
    /// Types that a text column is cast to, by column name.
    pub casts: BTreeMap<String, Vec<DataType>>,
    /// Microseconds: watermark delays, windows, intervals.
    pub durations: BTreeSet<i64>,
}

/// Collects from every plan, subqueries included.
pub fn collect(before: &Analysis, after: &Analysis) -> Literals {
    let mut literals = Literals::default();
    for flow in before.flows.iter().chain(&after.flows) {
        literals.plan(&flow.plan, 0);
        if let Some(cdc) = &flow.cdc {
            let conditions = cdc.apply_as_deletes.iter().chain(&cdc.apply_as_truncates).chain(&cdc.sequence_by);
            conditions.for_each(|expr| literals.expression(expr, 0));
        }
    }
    literals
}

/// Subqueries in subqueries.
const DEPTH_LIMIT: usize = 16;

impl Literals {
    fn plan(&mut self, plan: &Plan, depth: usize) {
        if depth > DEPTH_LIMIT {
            return;
        }
        plan.walk(&mut |part| {
            if let Node::Watermark { delay, .. } = &part.node {
                self.duration(delay);
            }
            for expr in part.expressions() {
                self.expression(expr, depth);
            }
        });
    }

    fn expression(&mut self, expr: &Expr, depth: usize) {
        expr.walk(&mut |part| match part {
            Expr::Call(call) => {
                let columns: BTreeSet<String> = call.args.iter().filter_map(column).collect();
                let values: Vec<&Value> = call.args.iter().filter_map(literal).collect();
                for name in columns {
                    self.by_column.entry(name).or_default().extend(values.iter().map(|value| (*value).clone()));
                }
                self.all.extend(values.into_iter().cloned());
                if matches!(&*call.function, "window" | "session_window") {
                    call.args.iter().skip(1).for_each(|arg| self.duration(arg));
                }
            }
            Expr::Case { branches, .. } => {
                self.all.extend(branches.iter().filter_map(|(when, _)| literal(when)).cloned());
            }
            Expr::Cast { expr, to, .. } => {
                if let Some(name) = column(expr) {
                    let types = self.casts.entry(name).or_default();
                    if !types.contains(to) {
                        types.push(to.clone());
                    }
                }
            }
            Expr::Literal { .. } => self.duration(part),
            Expr::Subquery { plan, .. } => self.plan(plan, depth + 1),
            _ => {}
        });
    }

    fn duration(&mut self, expr: &Expr) {
        let micros = match literal(expr) {
            Some(Value::DayTimeInterval(micros)) => Some(*micros),
            Some(Value::CalendarInterval { days, micros, .. }) => Some(i64::from(*days) * DAY + micros),
            Some(Value::String(text)) => duration_of(text),
            _ => None,
        };
        self.durations.extend(micros.map(i64::abs).filter(|micros| *micros > 0));
    }
}

const DAY: i64 = 86_400_000_000;

/// `10 minutes`, `interval 1 hour 30 minutes`.
fn duration_of(text: &str) -> Option<i64> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.strip_prefix("interval").unwrap_or(&lower).split_whitespace().collect();
    let mut total = 0i64;
    for pair in words.chunks(2) {
        let [number, unit] = pair else { return None };
        let unit = match unit.trim_end_matches('s') {
            "microsecond" => 1,
            "millisecond" => 1_000,
            "second" => 1_000_000,
            "minute" => 60_000_000,
            "hour" => 3_600_000_000,
            "day" => DAY,
            "week" => 7 * DAY,
            _ => return None,
        };
        total = total.checked_add(number.parse::<i64>().ok()?.checked_mul(unit)?)?;
    }
    (total > 0).then_some(total)
}

/// A column, under casts.
fn column(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Attribute(attribute) => Some(attribute.name.to_lowercase()),
        Expr::Column(column) => column.parts.last().map(|name| name.to_lowercase()),
        Expr::Cast { expr, .. } | Expr::Alias { expr, .. } => column(expr),
        Expr::Call(call) if matches!(&*call.function, "lower" | "upper" | "trim" | "coalesce" | "getfield") => {
            call.args.first().and_then(column)
        }
        _ => None,
    }
}

/// A literal, under casts.
fn literal(expr: &Expr) -> Option<&Value> {
    match expr {
        Expr::Literal { value, .. } if !value.is_null() => Some(value),
        Expr::Cast { expr, .. } | Expr::Alias { expr, .. } => literal(expr),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_spark_writes_them() {
        assert_eq!(duration_of("10 minutes"), Some(600_000_000));
        assert_eq!(duration_of("INTERVAL 1 hour 30 minutes"), Some(5_400_000_000));
        assert_eq!(duration_of("abc"), None);
    }

    #[test]
    fn a_literal_belongs_to_the_column_it_is_compared_with() {
        let mut literals = Literals::default();
        let condition = Expr::call(">", vec![Expr::column("amt"), Expr::integer(5)]);
        literals.expression(&condition, 0);
        assert!(literals.by_column["amt"].contains(&Value::Int(5)));
    }
}
