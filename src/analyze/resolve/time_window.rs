//! `window`, `session_window` and `window_time` (`TimeWindowing`, `SessionWindowing`, `ResolveWindowTime`).
//!
//! A call is written in full (`window(time, duration, slide, start)`) with intervals as literals, so that `'10 minutes'` and
//! `INTERVAL 600 SECONDS` are one thing. It stays where it stands, in the grouping keys or the list of a projection: whoever
//! executes the node expands rows into windows.

use super::relation::Relation;
use super::{Resolver, at, expression};
use crate::functions;
use crate::model::{Call, DataType, Expr, Node, Place, Value};
use std::sync::Arc;

/// An interval given as text, as the literal it means; anything else as it is.
pub(super) fn interval_literal(expr: &Expr) -> Expr {
    match expr {
        Expr::Literal { value: Value::String(text), .. } => match functions::parse_interval(text) {
            Some(interval) => match interval.fixed_micros() {
                Some(micros) => day_time(micros),
                None => Expr::Literal {
                    value: Value::CalendarInterval {
                        months: interval.months,
                        days: interval.days,
                        micros: interval.micros,
                    },
                    data_type: DataType::CalendarInterval,
                },
            },
            None => expr.clone(),
        },
        Expr::Literal { value: Value::CalendarInterval { months: 0, days, micros }, .. } => {
            let days = i64::from(*days).checked_mul(86_400_000_000);
            days.and_then(|d| d.checked_add(*micros)).map_or_else(|| expr.clone(), day_time)
        }
        Expr::Cast { expr: inner, .. } => interval_literal(inner),
        other => other.clone(),
    }
}

fn day_time(micros: i64) -> Expr {
    Expr::Literal { value: Value::DayTimeInterval(micros), data_type: DataType::DayTimeInterval }
}

/// Microseconds of an interval literal of fixed length; a month counts 31 days, as in `EventTimeWatermark.getDelayMs`.
pub(in crate::analyze) fn micros(expr: &Expr) -> Option<i64> {
    const DAY: i64 = 86_400_000_000;
    match expr {
        Expr::Literal { value: Value::DayTimeInterval(micros), .. } => Some(*micros),
        Expr::Literal { value: Value::YearMonthInterval(months), .. } => i64::from(*months).checked_mul(31 * DAY),
        Expr::Literal { value: Value::CalendarInterval { months, days, micros }, .. } => i64::from(*months)
            .checked_mul(31 * DAY)?
            .checked_add(i64::from(*days).checked_mul(DAY)?)?
            .checked_add(*micros),
        _ => None,
    }
}

pub(super) fn is_time_window(call: &Call) -> bool {
    matches!(call.function.as_ref(), "window" | "session_window")
}

/// Arguments in full: time, duration, slide, start; or time and gap.
fn normalized(call: &Call) -> Call {
    let mut args = call.args.iter();
    let mut list = Vec::with_capacity(4);
    if let Some(time) = args.next() {
        // A window of a window: its time is the last instant of the inner one.
        let inner = matches!(expression::data_type(time), DataType::Struct(_));
        list.push(if inner { Expr::call("window_time", vec![time.clone()]) } else { time.clone() });
    }
    list.extend(args.map(interval_literal));
    if call.function.as_ref() == "window" {
        if let [_, duration] = list.as_slice() {
            let duration = duration.clone();
            list.push(duration);
        }
        if list.len() == 3 {
            list.push(day_time(0));
        }
    }
    Call { args: list, ..call.clone() }
}

/// Time windows written in full, wherever they stand in an expression.
pub(super) fn normalize(expr: Expr) -> Expr {
    match expr {
        Expr::Call(call) if is_time_window(&call) => Expr::Call(normalized(&call)),
        other => other.map_children(&mut normalize),
    }
}

/// The name that the rest of a query has for a window that it groups by.
pub(super) fn name(grouping: &Expr) -> Option<&Arc<str>> {
    match grouping {
        Expr::Call(call) if is_time_window(call) => Some(&call.function),
        _ => None,
    }
}

impl Resolver<'_> {
    /// Keys that are no plain columns become columns of a projection below (`PullOutGroupingExpressions`).
    pub(super) fn pull_out_keys(&mut self, keys: Vec<Expr>, input: Relation, place: &Place) -> (Vec<Expr>, Relation) {
        if keys.iter().all(|key| matches!(key, Expr::Attribute(_))) {
            return (keys, input);
        }
        let mut list = input.all_columns();
        let mut columns = input.output.clone();
        let mut plain = Vec::with_capacity(keys.len());
        for key in keys {
            let (name, expr): (Arc<str>, Expr) = match key {
                Expr::Attribute(_) => {
                    plain.push(key);
                    continue;
                }
                Expr::Alias { expr, name, .. } => (name, *expr),
                other => (Arc::from(super::project::pretty(&other)), other),
            };
            let id = self.fresh();
            let alias = Expr::Alias { expr: Box::new(expr), name, id, place: place.clone() };
            if let Some(column) = crate::analyze::output::named(&alias) {
                plain.push(Expr::Attribute(column.clone()));
                columns.push(column);
            }
            list.push(alias);
        }
        let mut relation = at(input.map_plan(|input| Node::Project { list, input }), place);
        relation.output = columns;
        relation.metadata.clear();
        (plain, relation)
    }
}

/// The watermark that an expression carries on: that of the time a window is made of.
pub(in crate::analyze) fn event_time_delay(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Attribute(attribute) => attribute.watermark_delay,
        Expr::Call(call) if matches!(call.function.as_ref(), "window" | "session_window" | "window_time") => {
            call.args.first().and_then(event_time_delay)
        }
        _ => None,
    }
}
