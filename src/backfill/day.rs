//! The column by which days of a table are told apart, and predicates on it.

use super::range::Range;
use super::{Refusal, quoted};
use crate::engine::batch::{Function, Transform};
use crate::model::{DataType, Field, Value};
use jiff::civil::Date;

/// What one value of the column stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayType {
    Date,
    /// A moment: a day is one of UTC.
    Timestamp,
    TimestampNtz,
    /// `2024-01-31`, by the column's name.
    Text,
}

/// How much the table keeps together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Granularity {
    Day,
    Month,
    /// The table is not partitioned by it.
    Row,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayColumn {
    pub name: String,
    pub day_type: DayType,
    pub granularity: Granularity,
}

impl DayColumn {
    fn of(field: &Field, granularity: Granularity) -> Option<Self> {
        let day_type = match field.data_type {
            DataType::Date => DayType::Date,
            DataType::Timestamp => DayType::Timestamp,
            DataType::TimestampNtz => DayType::TimestampNtz,
            DataType::String if is_day_name(&field.name) => DayType::Text,
            _ => return None,
        };
        Some(DayColumn { name: field.name.clone(), day_type, granularity })
    }

    /// The day among the partition columns and transforms of a table.
    ///
    /// # Errors
    /// The table is not partitioned, or by nothing that tells days.
    pub fn of_partitions(
        table: &str,
        fields: &[Field],
        partition_by: &[String],
        asked: Option<&str>,
    ) -> Result<Self, Refusal> {
        let found = partition_by.iter().map(|text| Transform::parse(text)).find_map(|transform| {
            let field = fields.iter().find(|field| field.name.eq_ignore_ascii_case(&transform.column))?;
            if asked.is_some_and(|asked| !asked.eq_ignore_ascii_case(&field.name)) {
                return None;
            }
            match transform.function {
                Function::Identity if matches!(field.data_type, DataType::Date | DataType::String) => {
                    Self::of(field, Granularity::Day)
                }
                Function::Days | Function::Hours => Self::of(field, Granularity::Day),
                Function::Months => Self::of(field, Granularity::Month),
                _ => None,
            }
        });
        found.ok_or_else(|| {
            let what = asked.map_or("a day".to_owned(), |asked| format!("the day in `{asked}`"));
            let by = if partition_by.is_empty() {
                "is not partitioned".to_owned()
            } else {
                format!("is partitioned by {}, not by {what}", partition_by.join(", "))
            };
            Refusal::new(
                format!("`{table}` {by}: one day of it cannot be replaced as a whole"),
                "MERGE the range on the table's key, guarded by a time stamp (`pipelint explain batch-merge-unguarded`); or partition \
                 the table by a DATE, and say so with `partitioned_by: [...]` under `sources:` in pipelint.yaml",
            )
        })
    }

    /// The day among a table's columns, where days are no partitions.
    ///
    /// # Errors
    /// No column or several could be meant.
    pub fn of_columns(
        table: &str,
        fields: &[Field],
        partition_by: &[String],
        asked: Option<&str>,
    ) -> Result<Self, Refusal> {
        let named = |name: &str| fields.iter().find(|field| field.name.eq_ignore_ascii_case(name));
        let wanted = asked.and_then(named).or_else(|| partition_by.iter().find_map(|name| named(name)));
        if let Some(column) = wanted.and_then(|field| Self::of(field, Granularity::Row)) {
            return Ok(column);
        }
        let days: Vec<Self> = fields.iter().filter_map(|field| Self::of(field, Granularity::Row)).collect();
        let dates: Vec<&Self> = days.iter().filter(|column| column.day_type == DayType::Date).collect();
        match (dates.as_slice(), days.as_slice()) {
            _ if asked.is_some() => Err(Refusal::new(
                format!("`{table}` has no column `{}` that holds a day", asked.unwrap_or_default()),
                "name a column of type DATE or TIMESTAMP with --column",
            )),
            ([only], _) => Ok((*only).clone()),
            ([], [only]) => Ok(only.clone()),
            ([], []) => Err(Refusal::new(
                format!("`{table}` has no column of type DATE or TIMESTAMP that is known"),
                "tell the source's schema under `sources:` in pipelint.yaml",
            )),
            _ => Err(Refusal::new(
                format!(
                    "`{table}` has several columns that hold a day: {}",
                    days.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
                ),
                "name the one to choose rows by with --column",
            )),
        }
    }

    /// `d >= DATE '2024-01-01' AND d < DATE '2024-01-02'`.
    pub fn predicate(&self, range: Range) -> String {
        self.between(&range.from.to_string(), &range.to.to_string())
    }

    /// The same with any text for the two days: values, or placeholders of a format string.
    pub fn between(&self, from: &str, to: &str) -> String {
        let name = quoted(&self.name);
        let literal = |day: &str| match self.day_type {
            DayType::Date => format!("DATE '{day}'"),
            DayType::Timestamp => format!("TIMESTAMP '{day}T00:00:00Z'"),
            DayType::TimestampNtz => format!("TIMESTAMP_NTZ '{day} 00:00:00'"),
            DayType::Text => format!("'{day}'"),
        };
        format!("{name} >= {} AND {name} < {}", literal(from), literal(to))
    }

    /// A value of the column on a day, as JSON rows hold it.
    pub fn text(&self, day: Date) -> String {
        match self.day_type {
            DayType::Date | DayType::Text => day.to_string(),
            DayType::Timestamp => format!("{day}T00:00:00Z"),
            DayType::TimestampNtz => format!("{day}T00:00:00"),
        }
    }

    /// Whether a value of the column lies in the range.
    pub fn holds(&self, range: Range, value: &Value) -> bool {
        const DAY: i64 = 86_400_000_000;
        let number = |day: Date| {
            i64::from(day.since(jiff::civil::date(1970, 1, 1)).map(|span| span.get_days()).unwrap_or_default())
        };
        let days = match value {
            Value::Date(days) => i64::from(*days),
            Value::Timestamp(micros) | Value::TimestampNtz(micros) => micros.div_euclid(DAY),
            Value::String(text) => return *range.from.to_string() <= **text && **text < *range.to.to_string(),
            _ => return false,
        };
        number(range.from) <= days && days < number(range.to)
    }

    /// What the reader has to know of the days that the predicate means.
    pub fn note(&self) -> Option<String> {
        let name = &self.name;
        match self.day_type {
            DayType::Date => None,
            DayType::Timestamp => Some(format!(
                "`{name}` is a moment: days are those of UTC, written into the literals, so that the session's time zone does not move them"
            )),
            DayType::TimestampNtz => {
                Some(format!("`{name}` has no time zone: days are those of the clock that wrote it"))
            }
            DayType::Text => Some(format!(
                "`{name}` is text: the predicate is right where it is written as 2024-01-31, and wrong for any other spelling"
            )),
        }
    }
}

fn is_day_name(name: &str) -> bool {
    crate::lint::is_day_name(&name.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn predicates_are_half_open_and_name_their_time_zone() {
        let range = Range { from: date(2024, 1, 31), to: date(2024, 2, 1) };
        let column = |name: &str, data_type| DayColumn::of(&Field::new(name, data_type), Granularity::Day).unwrap();
        assert_eq!(column("d", DataType::Date).predicate(range), "d >= DATE '2024-01-31' AND d < DATE '2024-02-01'");
        assert_eq!(
            column("event time", DataType::Timestamp).predicate(range),
            "`event time` >= TIMESTAMP '2024-01-31T00:00:00Z' AND `event time` < TIMESTAMP '2024-02-01T00:00:00Z'"
        );
        assert!(DayColumn::of(&Field::new("region", DataType::String), Granularity::Day).is_none());
    }

    #[test]
    fn a_bucketed_table_is_refused_with_its_partitions() {
        let fields = [Field::new("id", DataType::Long), Field::new("d", DataType::Date)];
        let refused = DayColumn::of_partitions("t", &fields, &["bucket(4, id)".to_owned()], None).unwrap_err();
        assert!(refused.message.contains("bucket(4, id)"), "{}", refused.message);
    }
}
