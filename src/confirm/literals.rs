//! What the plans of both revisions compare columns with: literals by column, forms that text is read in, and durations.

use crate::analyze::{Analysis, Replacement};
use crate::functions::{self, parse_data_type};
use crate::model::{Call, DataType, Expr, Field, JoinOn, Node, Plan, SubqueryKind, Value};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Default)]
pub struct Literals {
    /// By column name in lower case.
    pub by_column: BTreeMap<String, BTreeSet<Value>>,
    /// All of them: a literal may meet a column through other expressions.
    pub all: BTreeSet<Value>,
    /// Forms that a text column is read in, by column name.
    pub forms: BTreeMap<String, Vec<TextForm>>,
    /// Microseconds: watermark delays, windows, intervals.
    pub durations: BTreeSet<i64>,
    /// Columns that AUTO CDC and REPLACE USING take no NULL in, in lower case: keys and what orders events.
    pub never_null: BTreeSet<String>,
    /// Columns that go through a function which only edge values tell from others, in lower case.
    pub sensitive: BTreeSet<String>,
    /// Columns that joins and lookups compare, in lower case.
    pub join_keys: BTreeSet<String>,
    /// Columns that watermarks are on, in lower case.
    pub event_times: BTreeSet<String>,
    /// Columns behind an alias.
    aliases: BTreeMap<String, BTreeSet<String>>,
}

/// What a query takes a text for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextForm {
    /// It is cast to this type.
    Cast(DataType),
    /// It is parsed as a JSON document of this type.
    Json(DataType),
    /// It is parsed as a date or time by this pattern.
    Pattern(String),
}

/// Collects from every plan, subqueries included.
pub fn collect(before: &Analysis, after: &Analysis) -> Literals {
    let mut literals = Literals::default();
    for flow in before.flows.iter().chain(&after.flows) {
        literals.plan(&flow.plan, 0);
        // Where projections are collapsed, parsers stand over the columns that are read.
        let mut collapsed = Literals::default();
        collapsed.plan(&flow.optimized, 0);
        for (column, forms) in collapsed.forms {
            let known = literals.forms.entry(column).or_default();
            known.extend(forms.into_iter().filter(|form| !known.contains(form)).collect::<Vec<_>>());
        }
        literals.sensitive.extend(collapsed.sensitive);
        literals.join_keys.extend(collapsed.join_keys);
        flow.beside().for_each(|expr| literals.expression(expr, 0));
        if let Some(Replacement::Using { keys, sequence_by }) = &flow.replacement {
            literals.never_null.extend(keys.iter().map(|key| key.to_lowercase()));
            for expr in sequence_by.iter().flatten() {
                expr.walk(&mut |part| literals.never_null.extend(column(part)));
            }
        }
        if let Some(cdc) = &flow.cdc {
            let conditions = cdc.apply_as_deletes.iter().chain(&cdc.apply_as_truncates).chain(&cdc.sequence_by);
            conditions.for_each(|expr| literals.expression(expr, 0));
            for expr in cdc.keys.iter().chain(&cdc.sequence_by) {
                expr.walk(&mut |part| literals.never_null.extend(column(part)));
            }
        }
    }
    literals.behind_aliases();
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
            match &part.node {
                Node::Watermark { delay, event_time, .. } => {
                    self.duration(delay);
                    self.event_times.extend(columns_in(event_time));
                }
                Node::Join { on: JoinOn::Condition(condition), .. } => self.join_keys(condition),
                _ => {}
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
                if functions::is_sensitive(&call.function) {
                    self.sensitive.extend(call.args.iter().flat_map(columns_in));
                }
                if let Some((text, form)) = text_form(call) {
                    self.form(text, form);
                }
                if matches!(&*call.function, "window" | "session_window") {
                    call.args.iter().skip(1).for_each(|arg| self.duration(arg));
                }
            }
            Expr::Case { branches, .. } => {
                self.all.extend(branches.iter().filter_map(|(when, _)| literal(when)).cloned());
            }
            Expr::Cast { expr, to, .. } if !matches!(to, DataType::String | DataType::Binary) => {
                self.form(expr, TextForm::Cast(to.clone()));
                // Fractions and times of day get lost.
                if to.is_integral() || matches!(to, DataType::Decimal { .. } | DataType::Date) {
                    self.sensitive.extend(columns_in(expr));
                }
            }
            Expr::Alias { expr, name, .. } => {
                let columns = columns_in(expr);
                self.aliases.entry(name.to_lowercase()).or_default().extend(columns);
            }
            Expr::Literal { .. } => self.duration(part),
            Expr::Subquery { plan, kind } => {
                if let SubqueryKind::In { operands, .. } = kind {
                    self.join_keys.extend(operands.iter().flat_map(columns_in));
                }
                self.plan(plan, depth + 1);
            }
            _ => {}
        });
    }

    /// What an equality compares on both sides.
    fn join_keys(&mut self, condition: &Expr) {
        condition.walk(&mut |part| {
            if let Expr::Call(call) = part
                && matches!(&*call.function, "=" | "<=>")
            {
                let sides: Vec<_> = call.args.iter().map(columns_in).collect();
                if sides.iter().all(|side| !side.is_empty()) {
                    self.join_keys.extend(sides.into_iter().flatten());
                }
            }
        });
    }

    /// Sources know no aliases: what is said of one holds for the columns behind it.
    fn behind_aliases(&mut self) {
        for found in [&mut self.sensitive, &mut self.join_keys, &mut self.event_times] {
            let mut pending: Vec<String> = found.iter().cloned().collect();
            while let Some(name) = pending.pop() {
                for column in self.aliases.get(&name).into_iter().flatten() {
                    if found.insert(column.clone()) {
                        pending.push(column.clone());
                    }
                }
            }
        }
    }

    fn form(&mut self, text: &Expr, form: TextForm) {
        let Some(name) = column(text) else { return };
        let forms = self.forms.entry(name).or_default();
        if !forms.contains(&form) {
            forms.push(form);
        }
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

/// The text that a parser is given, and the form that it must have. A path into a document asks for an object that has it.
fn text_form(call: &Call) -> Option<(&Expr, TextForm)> {
    let (text, rest) = call.args.split_first()?;
    let function = call.function.strip_prefix("try_").unwrap_or(&call.function);
    if rest.is_empty() {
        let to = match function {
            "to_date" => DataType::Date,
            "to_timestamp" | "to_timestamp_ltz" => DataType::Timestamp,
            "to_timestamp_ntz" => DataType::TimestampNtz,
            _ => return None,
        };
        return Some((text, TextForm::Cast(to)));
    }
    let Some(Value::String(first)) = rest.first().and_then(literal) else { return None };
    let form = match function {
        "from_json" => TextForm::Json(parse_data_type(first)?),
        "get_json_object" => {
            TextForm::Json(object(first.trim_start_matches('$').split('.').filter(|step| !step.is_empty())))
        }
        "json_tuple" => {
            let names = rest.iter().filter_map(literal).filter_map(|name| match name {
                Value::String(name) => Some(Field::new(name.to_string(), DataType::String)),
                _ => None,
            });
            TextForm::Json(DataType::Struct(names.collect()))
        }
        "to_date" | "to_timestamp" | "to_timestamp_ltz" | "to_timestamp_ntz" | "to_unix_timestamp"
        | "unix_timestamp" => TextForm::Pattern(first.to_string()),
        _ => return None,
    };
    Some((text, form))
}

fn object<'s>(steps: impl DoubleEndedIterator<Item = &'s str>) -> DataType {
    let below = |inner: DataType, step: &str| match step.split_once('[') {
        Some((name, _)) => DataType::Struct(vec![Field::new(name, DataType::array(inner))]),
        None => DataType::Struct(vec![Field::new(step, inner)]),
    };
    steps.rfold(DataType::String, below)
}

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

/// Every column in an expression; of a struct's field, the field.
fn columns_in(expr: &Expr) -> BTreeSet<String> {
    let mut columns = BTreeSet::new();
    expr.walk(&mut |part| columns.extend(column(part)));
    columns
}

/// A column, under casts.
fn column(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Attribute(attribute) => Some(attribute.name.to_lowercase()),
        Expr::Column(column) => column.parts.last().map(|name| name.to_lowercase()),
        Expr::Cast { expr, .. } | Expr::Alias { expr, .. } => column(expr),
        Expr::Call(call) if matches!(&*call.function, "lower" | "upper" | "trim" | "coalesce") => {
            call.args.first().and_then(column)
        }
        // Rows are made field by field.
        Expr::Call(call) if &*call.function == "getfield" => match call.args.get(1) {
            Some(Expr::Literal { value: Value::String(field), .. }) => Some(field.to_lowercase()),
            _ => None,
        },
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
    fn a_parser_without_a_pattern_takes_what_a_cast_takes() {
        let Expr::Call(call) = Expr::call("to_date", vec![Expr::column("day")]) else { return };
        assert_eq!(text_form(&call).map(|(_, form)| form), Some(TextForm::Cast(DataType::Date)));
    }

    #[test]
    fn a_literal_belongs_to_the_column_it_is_compared_with() {
        let mut literals = Literals::default();
        let condition = Expr::call(">", vec![Expr::column("amt"), Expr::integer(5)]);
        literals.expression(&condition, 0);
        assert!(literals.by_column["amt"].contains(&Value::Int(5)));
    }
}
