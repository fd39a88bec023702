//! Rows for the experiment: the user's own, or a small table of three days and an input that touches some of them.

use super::tables::TableFacts;
use crate::engine::{Record, Row, typed};
use crate::functions;
use crate::model::{Call, DataType, Expr, Field, Job, MergeAction, Plan, Step, Value, WriteOperation};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Rows by table.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    given: BTreeMap<String, Vec<Record>>,
}

impl Rows {
    /// Reads `DIR/<table>.jsonl` (or `.json`), one JSON object a line. A table is named in full, by its last part, or by its
    /// path with `_` for `/`.
    ///
    /// # Errors
    /// A sentence on the file that cannot be read.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let mut rows = Rows::default();
        let entries =
            std::fs::read_dir(folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
        for entry in entries.flatten() {
            let path = entry.path();
            let is_json = path.extension().is_some_and(|ext| ext == "jsonl" || ext == "json");
            let (Some(stem), true) = (path.file_stem().and_then(|stem| stem.to_str()), is_json) else { continue };
            let text =
                std::fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
            let mut records = Vec::new();
            for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
                match serde_json::from_str(line) {
                    Ok(serde_json::Value::Object(record)) => records.push(record),
                    _ => return Err(format!("{}:{}: not a JSON object", path.display(), number + 1)),
                }
            }
            rows.given.insert(stem.to_lowercase(), records);
        }
        Ok(rows)
    }

    pub fn of(&self, table: &TableFacts) -> Option<Vec<Row>> {
        let name = table.name.to_lowercase();
        let last = name.rsplit(['.', '/']).next().unwrap_or(&name).to_owned();
        let names = [name.clone(), name.replace('/', "_"), last];
        let records = names.iter().find_map(|name| self.given.get(name))?;
        Some(records.iter().map(|record| typed(record, &table.schema.fields).into()).collect())
    }
}

/// Days that the generated rows lie on: three that the table has, one that is new.
#[derive(Debug, Clone)]
struct Calendar {
    first: Date,
}

impl Calendar {
    fn day(&self, number: i64) -> Date {
        self.first.saturating_add(jiff::Span::new().days(number))
    }

    /// Chosen so that the days the script names are among them, the first of them in the middle.
    fn around(named: &BTreeSet<Date>) -> Self {
        let usual = Calendar { first: jiff::civil::date(2024, 1, 1) };
        let inside = |day: &Date| (0..4).any(|number| usual.day(number) == *day);
        match named.first() {
            Some(first) if !named.iter().all(inside) => {
                Calendar { first: first.saturating_sub(jiff::Span::new().days(1)) }
            }
            _ => usual,
        }
    }
}

/// What a script's text says about days.
#[derive(Debug, Clone, Default)]
pub struct Named {
    /// Days anywhere: what the table's days are laid around.
    days: BTreeSet<Date>,
    /// Days that queries, predicates and PARTITION clauses ask for: what the input lies on.
    asked: BTreeSet<Date>,
    /// Days that a range ends before: `d < DATE '2024-01-03'`.
    excluded: BTreeSet<Date>,
    /// Keys that a query compares the key column with.
    keys: BTreeSet<i64>,
    /// Texts that something is compared with.
    texts: BTreeSet<String>,
    /// Every text.
    constants: BTreeSet<String>,
}

impl Named {
    /// Every constant of the job that reads as a day.
    pub fn of(job: &Job) -> Self {
        let mut named = Named::default();
        named.steps(&job.steps);
        named.asked = named.asked.difference(&named.excluded).copied().collect();
        named
    }

    /// Every text that the script writes down.
    pub fn constants(&self) -> impl Iterator<Item = &str> {
        self.constants.iter().map(String::as_str)
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Write(write) => {
                    self.plan(write.query.as_ref());
                    for value in write.partition.iter().filter_map(|item| item.value.as_ref()) {
                        self.expr(value);
                    }
                    self.operation(&write.operation);
                    write.replace_where.iter().for_each(|condition| self.expr(condition));
                    if let crate::model::WriteTarget::Path(path) = &write.target {
                        self.days.extend(days_in(path));
                    }
                }
                Step::Collect { query, .. } => self.plan(Some(query)),
                Step::RemoveFiles { path, .. } => self.days.extend(days_in(path)),
                _ => {}
            }
            step.inner().into_iter().for_each(|inner| self.steps(inner));
        }
    }

    fn operation(&mut self, operation: &WriteOperation) {
        match operation {
            WriteOperation::OverwriteWhere(condition) | WriteOperation::ReplaceOn(condition) => self.expr(condition),
            WriteOperation::Delete { condition } => condition.iter().for_each(|c| self.expr(c)),
            WriteOperation::Update { condition, .. } => condition.iter().for_each(|c| self.expr(c)),
            WriteOperation::DropPartition { partitions } => {
                for value in partitions.iter().flatten().filter_map(|item| item.value.as_ref()) {
                    let mut other = Named::default();
                    other.expr(value);
                    self.days.extend(other.days);
                }
            }
            WriteOperation::Merge(merge) => {
                self.plan(Some(&merge.source));
                self.expr(&merge.on);
                for clause in &merge.clauses {
                    clause.condition.iter().for_each(|c| self.expr(c));
                }
            }
            _ => {}
        }
    }

    fn plan(&mut self, plan: Option<&Plan>) {
        let Some(plan) = plan else { return };
        let mut constants = Vec::new();
        plan.walk(&mut |node| constants.extend(node.expressions()));
        constants.into_iter().for_each(|expr| self.expr(expr));
    }

    fn expr(&mut self, expr: &Expr) {
        expr.walk(&mut |inner| match inner {
            Expr::Literal { value: Value::String(text), .. } => self.text(text),
            Expr::Literal { value: Value::Date(days), .. } => self.day(epoch_day(*days)),
            Expr::Literal { value: Value::Timestamp(micros) | Value::TimestampNtz(micros), .. } => {
                self.day(midnight(*micros));
            }
            Expr::Call(call) if call.function.as_ref() == "=" => self.comparison(&call.args),
            Expr::Call(call) => self.excluded.extend(excluded_day(call)),
            _ => {}
        });
    }

    fn day(&mut self, day: Option<Date>) {
        self.days.extend(day);
        self.asked.extend(day);
    }

    /// `id = 3`, `v = 'x'`.
    fn comparison(&mut self, args: &[Expr]) {
        let constant = args.iter().find_map(|arg| match arg {
            Expr::Literal { value, .. } => Some(value),
            _ => None,
        });
        let key = args.iter().any(|arg| match arg {
            Expr::Column(column) => column.parts.last().is_some_and(|name| name.to_lowercase().ends_with("id")),
            _ => false,
        });
        match constant {
            Some(Value::Int(number)) if key => drop(self.keys.insert(i64::from(*number))),
            Some(Value::Long(number)) if key => drop(self.keys.insert(*number)),
            Some(Value::String(text)) if days_in(text).is_empty() => drop(self.texts.insert(text.to_string())),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        let days = days_in(text);
        self.constants.insert(text.to_owned());
        self.days.extend(&days);
        self.asked.extend(days);
    }
}

/// The day that a strict comparison leaves out: the literal of `d < '…'`, `'…' < d`, `d > '…'`.
fn excluded_day(call: &Call) -> Option<Date> {
    if !matches!(call.function.as_ref(), "<" | ">") {
        return None;
    }
    call.args.iter().find_map(|arg| match arg {
        Expr::Literal { value: Value::String(text), .. } => days_in(text).into_iter().next(),
        Expr::Literal { value: Value::Date(days), .. } => epoch_day(*days),
        Expr::Literal { value: Value::Timestamp(micros) | Value::TimestampNtz(micros), .. } => midnight(*micros),
        _ => None,
    })
}

fn epoch_day(days: i32) -> Option<Date> {
    jiff::civil::date(1970, 1, 1).checked_add(jiff::Span::new().days(days)).ok()
}

/// The day of a moment, where that is its beginning.
fn midnight(micros: i64) -> Option<Date> {
    const DAY: i64 = 86_400_000_000;
    (micros.rem_euclid(DAY) == 0).then(|| i32::try_from(micros.div_euclid(DAY)).ok().and_then(epoch_day))?
}

/// `2024-01-02` anywhere in a text.
fn days_in(text: &str) -> Vec<Date> {
    let pieces = text.split(|c: char| !c.is_ascii_digit() && c != '-');
    pieces.filter(|piece| piece.len() == 10).filter_map(|piece| piece.parse().ok()).collect()
}

/// What the input of an experiment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scenario {
    /// Newer versions of rows that the table has, on their day.
    ExistingDay,
    /// Rows that the table does not have, on a day that it does not have.
    NewDay,
    /// A key that the table has, on another day.
    MovedKey,
}

/// The number of a row's key, whether it is the newer version of it, and its day.
struct Cell {
    key: i64,
    newer: bool,
    day: Date,
}

const LETTERS: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

/// Rows of a table that a script writes: keys 1 to 6, two a day.
pub fn target_rows(table: &TableFacts, named: &Named) -> Vec<Row> {
    let calendar = Calendar::around(&named.days);
    (0..6).map(|at| row(table, &Cell { key: at + 1, newer: false, day: calendar.day(at / 2) })).collect()
}

/// Rows of a table that a script reads: of the days and keys that it names, else as the scenario says; `beyond` adds new keys of a
/// day that it does not name.
pub fn input_rows(table: &TableFacts, named: &Named, scenario: Scenario, beyond: bool) -> Vec<Row> {
    let calendar = Calendar::around(&named.days);
    if scenario == Scenario::MovedKey {
        return vec![row(table, &Cell { key: 3, newer: true, day: calendar.day(2) })];
    }
    let day_of = |key: i64| (key - 1).div_euclid(2);
    let mut touched: BTreeSet<i64> = (0..4).filter(|number| named.asked.contains(&calendar.day(*number))).collect();
    touched.extend(named.keys.iter().map(|key| day_of(*key)).filter(|number| (0..4).contains(number)));
    if touched.is_empty() {
        touched.insert(if scenario == Scenario::NewDay { 3 } else { 1 });
    }
    let mut rows = Vec::new();
    if let Some(number) = (0..4).rev().find(|number| beyond && !touched.contains(number)) {
        rows.push(row(table, &Cell { key: 9, newer: false, day: calendar.day(number) }));
    }
    for number in touched {
        let keys = [number * 2 + 1, number * 2 + 2];
        // Where the script names some keys of a day, the others of that day are not in its input.
        let some_named = keys.iter().any(|key| named.keys.contains(key));
        for key in keys.into_iter().filter(|key| !some_named || named.keys.contains(key)) {
            rows.push(row(table, &Cell { key, newer: number < 3, day: calendar.day(number) }));
        }
    }
    // Some row has the text that the script compares with.
    if let (Some(text), Some(last)) = (named.texts.first(), rows.last_mut()) {
        let key = super::comparison::key_column(&table.schema.fields);
        let fields = table.schema.fields.iter().enumerate();
        let is_text = |(at, field): &(usize, &Field)| {
            field.data_type == DataType::String && Some(*at) != key && !is_day_name(&field.name.to_lowercase())
        };
        if let Some((at, _)) = fields.into_iter().find(is_text) {
            let replaced =
                last.iter().enumerate().map(|(i, v)| if i == at { Value::string(text.as_str()) } else { v.clone() });
            *last = replaced.collect();
        }
    }
    rows
}

/// Rows of a source that a stream reads file by file: new keys on two new days.
pub fn stream_rows(table: &TableFacts, named: &Named) -> Vec<Row> {
    let calendar = Calendar::around(&named.days);
    (0..4).map(|at| row(table, &Cell { key: at + 7, newer: false, day: calendar.day(3 + at / 2) })).collect()
}

fn row(table: &TableFacts, cell: &Cell) -> Row {
    let key = super::comparison::key_column(&table.schema.fields);
    let partition = |field: &Field| {
        let named = |column: &String| column.eq_ignore_ascii_case(&field.name);
        table.partition_by.iter().any(named) || matches!(field.name.to_lowercase().as_str(), "c" | "region" | "country")
    };
    let fields = table.schema.fields.iter().enumerate();
    fields.map(|(at, field)| value(field, cell, at, Some(at) == key, partition(field))).collect()
}

fn value(field: &Field, cell: &Cell, at: usize, is_key: bool, is_partition: bool) -> Value {
    let name = field.name.to_lowercase();
    let days = i64::from(cell.day.since(jiff::civil::date(1970, 1, 1)).map(|span| span.get_days()).unwrap_or(0));
    let number = if is_key { cell.key } else { cell.key * 10 + i64::from(cell.newer) + i64::try_from(at).unwrap_or(0) };
    let partitions = ["h", "hour", "hr"];
    let number = if partitions.contains(&name.as_str()) { 0 } else { number };
    let text = |value: String| Value::string(value);
    match &field.data_type {
        DataType::Date => Value::Date(i32::try_from(days).unwrap_or(0)),
        DataType::Timestamp | DataType::TimestampNtz => {
            let hour = if cell.key % 2 == 1 { 1 } else { 13 };
            let micros = days * 86_400_000_000 + hour * 3_600_000_000;
            if field.data_type == DataType::Timestamp { Value::Timestamp(micros) } else { Value::TimestampNtz(micros) }
        }
        DataType::String if is_day_name(&name) => text(cell.day.to_string()),
        // Partitions of text: one a day.
        DataType::String if is_partition => text(format!("p{}", cell.day.day())),
        DataType::String if is_key => text(format!("k{}", cell.key)),
        DataType::String => {
            let letter = usize::try_from(cell.key - 1).ok().and_then(|at| LETTERS.get(at)).copied().unwrap_or("z");
            let suffix = if cell.newer { "2" } else { "" };
            let column = if name == "v" { String::new() } else { name };
            text(format!("{column}{letter}{suffix}"))
        }
        DataType::Boolean => Value::Boolean(cell.newer),
        other => functions::try_cast(&Value::Long(number), &DataType::Long, other, &TimeZone::UTC),
    }
}

pub(crate) fn is_day_name(name: &str) -> bool {
    matches!(name, "d" | "day" | "date" | "dt" | "ds" | "p_date" | "event_date" | "load_date" | "snapshot_date")
        || name.ends_with("_date")
        || name.ends_with("_day")
}

/// Whether a MERGE writes every input row as it is.
pub fn writes_all(operation: &WriteOperation) -> bool {
    let WriteOperation::Merge(merge) = operation else { return true };
    let plain = |action: &MergeAction| matches!(action, MergeAction::UpdateAll | MergeAction::InsertAll);
    let by_source = crate::model::MergeMatch::NotMatchedBySource;
    merge.clauses.iter().filter(|c| c.when != by_source).all(|c| c.condition.is_none() && plain(&c.action))
        && !matches!(&merge.source.node, crate::model::Node::SubqueryAlias { input, .. }
            if !matches!(input.node, crate::model::Node::Read(_)))
}
