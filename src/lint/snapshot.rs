//! A table as a reader sees it at one moment, in text, and the comparison of three such moments.

use super::label::Label;
use crate::engine::{ExecutionError, Rows};
use crate::functions;
use crate::model::{DataType, Value};
use jiff::tz::TimeZone;
use std::collections::{BTreeMap, BTreeSet};

/// Cells by column; NULL is none.
pub type TextRow = BTreeMap<String, Option<String>>;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Names and types in order.
    pub schema: Vec<(String, String)>,
    pub rows: Vec<TextRow>,
    /// Commits and the current one, of tables with snapshots.
    pub history: Option<(usize, Option<u64>)>,
}

/// What a table looked like, or why it could not be read.
pub type Seen = Result<Snapshot, ExecutionError>;

impl Snapshot {
    pub fn of_rows(rows: &Rows, history: Option<(usize, Option<u64>)>) -> Self {
        let fields = &rows.schema.fields;
        let rows = rows.rows.iter().map(|row| {
            fields
                .iter()
                .zip(row.iter())
                .map(|(field, value)| (field.name.clone(), text(value, &field.data_type)))
                .collect()
        });
        Snapshot {
            schema: fields.iter().map(|field| (field.name.clone(), field.data_type.to_string())).collect(),
            rows: rows.collect(),
            history,
        }
    }
}

fn text(value: &Value, data_type: &DataType) -> Option<String> {
    match functions::cast(value, data_type, &DataType::String, true, &TimeZone::UTC) {
        Ok(Value::String(text)) => Some(text.to_string()),
        Ok(Value::Null) => None,
        _ => Some(format!("{value:?}")),
    }
}

/// How rows are told apart, and what the input is.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// The column that identifies a row.
    pub id: String,
    /// The column's name says that no two rows share a value.
    pub unique: bool,
    /// Columns that make its partition; a day where the table's partitions are made of a time.
    pub keys: Vec<Key>,
    pub input: Vec<TextRow>,
    /// Partition values whose rows may all go: the script means to replace them.
    pub window: Vec<String>,
    /// All input rows must be in the table after run 1.
    pub input_expected: bool,
    /// Keys that single queries gave more than once.
    pub repeated: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    Column(String),
    /// The day of a time.
    Day(String),
}

/// The three moments and how the runs ended.
#[derive(Debug, Clone)]
pub struct Moments<'a> {
    /// None where the table was not there.
    pub before: Option<&'a Seen>,
    pub after_1: &'a Seen,
    pub after_2: &'a Seen,
    pub failed_1: bool,
    pub failed_2: bool,
    /// The layout before and after run 1 differ.
    pub laid_out_anew: bool,
}

type Bag<T> = BTreeMap<T, usize>;

fn bag<T: Ord>(items: impl Iterator<Item = T>) -> Bag<T> {
    let mut bag = BTreeMap::new();
    for item in items {
        *bag.entry(item).or_insert(0) += 1;
    }
    bag
}

/// What the first bag holds beyond the second, one entry an element.
fn beyond<T: Ord + Clone>(a: &Bag<T>, b: &Bag<T>) -> Vec<T> {
    let left = |(item, count): (&T, &usize)| {
        let more = count.saturating_sub(b.get(item).copied().unwrap_or(0));
        std::iter::repeat_n(item.clone(), more)
    };
    a.iter().flat_map(left).collect()
}

fn cell(row: &TextRow, name: &str) -> Option<String> {
    let found =
        row.get(name).or_else(|| row.iter().find(|(column, _)| column.eq_ignore_ascii_case(name)).map(|(_, v)| v));
    found.cloned().flatten()
}

impl Comparison {
    fn partition(&self, row: &TextRow) -> Vec<Option<String>> {
        let value = |key: &Key| match key {
            Key::Column(name) => cell(row, name),
            Key::Day(name) => cell(row, name).map(|time| time.chars().take(10).collect()),
        };
        self.keys.iter().map(value).collect()
    }

    /// What the moments show.
    pub fn labels(&self, moments: &Moments<'_>) -> BTreeSet<Label> {
        let mut labels = BTreeSet::new();
        if moments.failed_1 {
            labels.insert(Label::Error);
        } else if moments.failed_2 {
            labels.insert(Label::ErrorAtRun2);
        }
        let before = moments.before.and_then(|seen| seen.as_ref().ok());
        let (one, two) = (moments.after_1.as_ref().ok(), moments.after_2.as_ref().ok());
        let nothing = Vec::new();
        let rows = |snapshot: Option<&'_ Snapshot>| snapshot.map_or(nothing.clone(), |s| s.rows.clone());
        let (rows_b, rows_1, rows_2) = (rows(before), rows(one), rows(two));
        let key = |row: &TextRow| (cell(row, &self.id), self.partition(row));
        let (kb, k1, k2) = (bag(rows_b.iter().map(key)), bag(rows_1.iter().map(key)), bag(rows_2.iter().map(key)));
        let nothing_there = moments.after_1.as_ref().err().is_some_and(is_empty_folder);
        if (before.is_some() || !moments.failed_1) && one.is_none() {
            labels.insert(if nothing_there { Label::Emptied } else { Label::Unreadable });
        } else if one.is_some() && two.is_none() {
            labels.insert(Label::UnreadableAtRun2);
        }
        let emptied =
            |before: &Snapshot, one: &Snapshot| one.history.is_some() && one.rows.is_empty() && !before.rows.is_empty();
        if before.zip(one).is_some_and(|(before, one)| emptied(before, one)) {
            labels.insert(Label::Emptied);
        }
        let readable = one.is_some() || nothing_there;
        let gone = if readable { beyond(&kb, &k1) } else { Vec::new() };
        let touched: BTreeSet<Vec<Option<String>>> = self.input.iter().map(|row| self.partition(row)).collect();
        let meant = |partition: &[Option<String>]| partition.iter().flatten().any(|value| self.window.contains(value));
        if gone.iter().any(|(_, partition)| !touched.contains(partition) && !meant(partition)) {
            labels.insert(Label::Lost);
        }
        let (grown, shrunk) = match (one, two) {
            (Some(_), Some(_)) => (beyond(&k2, &k1).len(), beyond(&k1, &k2).len()),
            _ => (0, 0),
        };
        if shrunk > 0 {
            labels.insert(Label::LostAtRun2);
        }
        if grown > shrunk {
            labels.insert(Label::Doubled);
        }
        if self.unique && self.duplicates(&rows_1) > self.duplicates(&rows_b) + self.repeated {
            labels.insert(Label::DuplicatedAtRun1);
        }
        if let (Some(one), false, true) = (one, moments.failed_1, self.input_expected)
            && self.input_missing(one)
        {
            labels.insert(written(before, one));
        }
        if moments.failed_1 && !gone.is_empty() {
            labels.insert(Label::RowsGoneDespiteError);
        }
        if let (Some(one), Some(two)) = (one, two)
            && k1 == k2
            && one.schema == two.schema
            && bag(one.rows.iter()) != bag(two.rows.iter())
        {
            labels.insert(Label::ValuesChangedAtRun2);
        }
        if let (Some(before), Some(one)) = (before, one)
            && before.schema != one.schema
        {
            labels.insert(Label::SchemaChanged);
        }
        if before.is_some() && moments.laid_out_anew && !nothing_there {
            labels.insert(Label::PartitioningChanged);
        }
        labels
    }

    /// Rows beyond the first of their key.
    pub fn duplicates(&self, rows: &[TextRow]) -> usize {
        bag(rows.iter().map(|row| cell(row, &self.id))).values().map(|count| count - 1).sum()
    }

    /// Whether some input row is not there, by the columns that the table has.
    fn input_missing(&self, after: &Snapshot) -> bool {
        let Some(first) = self.input.first() else { return false };
        let known = |name: &String| after.schema.iter().any(|(column, _)| column.eq_ignore_ascii_case(name));
        let columns: Vec<&String> = first.keys().filter(|name| known(name)).collect();
        let shape = |row: &TextRow| columns.iter().map(|name| cell(row, name)).collect::<Vec<_>>();
        !beyond(&bag(self.input.iter().map(shape)), &bag(after.rows.iter().map(shape))).is_empty()
    }
}

fn is_empty_folder(error: &ExecutionError) -> bool {
    matches!(error.class.as_str(), "UNABLE_TO_INFER_SCHEMA" | "PATH_NOT_FOUND")
}

/// Which of the three ways not to find the input it is.
fn written(before: Option<&Snapshot>, after: &Snapshot) -> Label {
    let Some(before) = before else { return Label::InputMissing };
    if bag(before.rows.iter()) != bag(after.rows.iter()) {
        return Label::InputMissing;
    }
    match (before.history, after.history) {
        (Some((old, head)), Some((new, now))) if new > old && head == now => Label::WrittenButInvisible,
        (Some((old, _)), Some((new, _))) if new > old => Label::InputMissing,
        _ => Label::NothingWritten,
    }
}
