//! Generated rows: typed by the sources' schemas, on both sides of every literal, with repeated keys, exact duplicates, NULLs,
//! and event times that are late, around the watermark, and on time.

use super::data::{Batch, Data};
use super::edge_values::edge_values;
use super::literals::{Literals, TextForm};
use super::sources::SourceSet;
use crate::engine::{Record, TableFormat, json};
use crate::functions::{self, EvalContext};
use crate::model::{DataType, Decimal, Field, SourceFacts, Value};
use serde_json::Value as Json;

const ROWS: usize = 14;
/// 2024-01-01T10:00:00Z.
const START: i64 = 1_704_103_200_000_000;
/// 2024-03-01T00:00:00Z.
const MONTH_END: i64 = 1_709_251_200_000_000;
const MINUTE: i64 = 60_000_000;
const DAY: i64 = 24 * 60 * MINUTE;

/// How far generated text goes by what a query does with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// Now and then it is no number where a number is wanted, and a divisor is zero.
    Any,
    /// Never: a query that cannot compute with such rows shows something all the same.
    Castable,
}

/// Two batches of rows for every source; the same seed gives the same rows.
pub fn generate(set: &SourceSet, literals: &Literals, seed: u64, fit: Fit) -> Data {
    let mut batches = vec![Batch::default(), Batch::default()];
    for facts in set.merged() {
        // A source's rows do not hang on which other sources there are.
        let source = hash(&facts.name);
        let span = span(literals);
        let mut generator = Generator {
            random: Random(seed ^ source),
            literals,
            span,
            start: start(literals, span),
            fit,
            seed,
            source,
            in_list: false,
            forming: Vec::new(),
        };
        let [mut first, second] = generator.source(&facts);
        for column in set.columns_of_after(&facts) {
            first.iter_mut().for_each(|row| drop(row.remove(&column)));
        }
        for (batch, rows) in batches.iter_mut().zip([first, second]) {
            batch.insert(&facts.name, rows);
        }
    }
    Data { batches }
}

/// The time that batch 1 spreads over is twice this: the longest delay, window or interval, within reason.
fn span(literals: &Literals) -> i64 {
    literals.durations.iter().copied().filter(|micros| *micros <= 40 * DAY).max().unwrap_or(0).max(10 * MINUTE)
}

/// Where the rows' time begins. A query that cuts days or months off its event time gets rows on both sides of a month's end.
fn start(literals: &Literals, span: i64) -> i64 {
    let cut = literals.event_times.iter().any(|column| literals.sensitive.contains(column));
    if cut { MONTH_END - span } else { START }
}

fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 up to `bound`, which is left out.
    fn below(&mut self, bound: i64) -> i64 {
        let bound = bound.max(1);
        i64::try_from(self.next() % bound.unsigned_abs()).unwrap_or(0)
    }

    fn one_in(&mut self, n: i64) -> bool {
        self.below(n) == 0
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let at = self.below(i64::try_from(items.len()).unwrap_or(1));
        usize::try_from(at).ok().and_then(|at| items.get(at))
    }
}

struct Generator<'a> {
    random: Random,
    literals: &'a Literals,
    span: i64,
    start: i64,
    fit: Fit,
    seed: u64,
    /// The source's own number.
    source: u64,
    /// Elements of lists are drawn one by one.
    in_list: bool,
    /// Columns whose text is being made in a form, outermost first: a part of that text of the same name is plain text.
    forming: Vec<String>,
}

impl Generator<'_> {
    fn source(&mut self, facts: &SourceFacts) -> [Vec<Record>; 2] {
        let fields = facts.schema.as_ref().map(|schema| schema.fields.clone()).unwrap_or_default();
        let topic = facts.format.as_deref().map(TableFormat::named) == Some(TableFormat::Topic);
        let row = |generator: &mut Self, batch: usize, at: usize| {
            let mut record = generator.record(&fields, batch, at);
            if topic {
                record.insert("topic".to_owned(), Json::from(facts.name.as_str()));
                record.insert("partition".to_owned(), Json::from(0));
                record.insert("offset".to_owned(), Json::from(batch * ROWS + at));
            }
            record
        };
        let mut first: Vec<Record> = (0..ROWS).map(|at| row(self, 0, at)).collect();
        let mut second: Vec<Record> = (0..ROWS).map(|at| row(self, 1, at)).collect();
        // A duplicate, and rows that share all but one column with an earlier one, inside a batch and across batches.
        copy(&first.clone(), 0, &mut first, 1);
        copy(&first.clone(), 2, &mut first, 3);
        self.change_one(&fields, &mut first, 3, 0);
        copy(&first, 0, &mut second, 0);
        for (from, to) in [(2, 1), (4, 2), (5, 3), (6, 4)] {
            copy(&first, from, &mut second, to);
            self.change_one(&fields, &mut second, to, 1);
        }
        [first, second]
    }

    fn record(&mut self, fields: &[Field], batch: usize, at: usize) -> Record {
        fields.iter().map(|field| (field.name.clone(), self.column(field, batch, at))).collect()
    }

    fn change_one(&mut self, fields: &[Field], rows: &mut [Record], at: usize, batch: usize) {
        let Some(field) = self.random.pick(fields).cloned() else { return };
        let value = self.column(&field, batch, at);
        if let Some(row) = rows.get_mut(at) {
            row.insert(field.name, value);
        }
    }

    fn column(&mut self, field: &Field, batch: usize, at: usize) -> Json {
        let rarely = if field.data_type.is_datetime() { 20 } else { 9 };
        let null = field.nullable && self.random.one_in(rarely);
        if null && !self.literals.never_null.contains(&field.name.to_lowercase()) {
            return Json::Null;
        }
        self.value(&field.name, &field.data_type, batch, at, 0)
    }

    fn value(&mut self, name: &str, data_type: &DataType, batch: usize, at: usize, depth: usize) -> Json {
        // Drawn in any case: what one column is given must not change the others.
        let ordinary = self.ordinary_value(name, data_type, batch, at, depth);
        self.key_of_its_own(name, data_type, batch, at)
            .or_else(|| self.edge(name, data_type, batch, at))
            .unwrap_or(ordinary)
    }

    /// Rows 5 to 12 hold values that only a change of a function shows at; other seeds hold others.
    fn edge(&self, name: &str, data_type: &DataType, batch: usize, at: usize) -> Option<Json> {
        let name = name.to_lowercase();
        let slot = at.checked_sub(FIRST_EDGE).filter(|slot| *slot < EDGES)?;
        let fits = match data_type {
            DataType::String | DataType::Unknown | DataType::Variant => !self.literals.forms.contains_key(&name),
            DataType::Timestamp | DataType::TimestampNtz | DataType::Date => !self.literals.event_times.contains(&name),
            _ => self.fit == Fit::Any,
        };
        if self.in_list || !fits || !self.literals.sensitive.contains(&name) {
            return None;
        }
        let own = self.literals.by_column.get(&name).into_iter().flatten();
        let texts: Vec<String> = own.filter_map(spelled).collect();
        let values = edge_values(data_type, &texts);
        let turn = usize::try_from(self.seed % 1_000).unwrap_or(0) * EDGES + batch * 3;
        let value = values.get((slot + turn) % values.len().max(1))?;
        Some(json(value, data_type))
    }

    /// Keys that no other source has, and no other batch: rows without a partner, and new keys.
    fn key_of_its_own(&self, name: &str, data_type: &DataType, batch: usize, at: usize) -> Option<Json> {
        let name = name.to_lowercase();
        let lonely = at == FIRST_EDGE + 2 || at == FIRST_EDGE + 6;
        if !lonely || self.in_list || !self.literals.join_keys.contains(&name) {
            return None;
        }
        let number = (self.source % 97) * 100 + u64::try_from(batch * ROWS + at).unwrap_or(0);
        match data_type {
            DataType::Int | DataType::Long => Some(Json::from(number + 1_000)),
            DataType::String if !self.literals.forms.contains_key(&name) => Some(Json::from(format!("k{number}"))),
            _ => None,
        }
    }

    fn ordinary_value(&mut self, name: &str, data_type: &DataType, batch: usize, at: usize, depth: usize) -> Json {
        match data_type {
            DataType::Boolean => Json::from(self.random.one_in(2)),
            DataType::Byte | DataType::Short | DataType::Int | DataType::Long => Json::from(self.integer(name, at)),
            DataType::Float | DataType::Double => {
                let whole = self.integer(name, at);
                Json::from(
                    f64::from(i32::try_from(whole).unwrap_or(0)) + 0.25 * f64::from(i32::from(self.random.one_in(2))),
                )
            }
            DataType::Decimal { precision, scale } => self.decimal(name, *precision, *scale, at),
            DataType::String | DataType::Unknown | DataType::Variant => self.text(name, batch, at),
            DataType::Binary => self.text(name, batch, at),
            DataType::Date => {
                let micros = self.instant(batch, at);
                json(&Value::Date(i32::try_from(micros.div_euclid(DAY)).unwrap_or(0)), data_type)
            }
            DataType::Timestamp | DataType::TimestampNtz => json(&Value::Timestamp(self.instant(batch, at)), data_type),
            DataType::Array { element, .. } if depth < DEPTH_LIMIT => {
                let count = self.random.below(3);
                let outside = std::mem::replace(&mut self.in_list, true);
                let items = (0..count).map(|_| self.value(name, element, batch, at, depth + 1)).collect();
                self.in_list = outside;
                Json::Array(items)
            }
            DataType::Map { value, .. } if depth < DEPTH_LIMIT => {
                let keys: Vec<&str> = ["a", "b"].into_iter().filter(|_| self.random.one_in(2)).collect();
                Json::Object(
                    keys.into_iter()
                        .map(|key| (key.to_owned(), self.value(name, value, batch, at, depth + 1)))
                        .collect(),
                )
            }
            DataType::Struct(fields) if depth < DEPTH_LIMIT => {
                let members = fields
                    .iter()
                    .map(|field| (field.name.clone(), self.value(&field.name, &field.data_type, batch, at, depth + 1)));
                Json::Object(members.collect())
            }
            _ => Json::Null,
        }
    }

    /// Literals that a column is compared with; now and then any other.
    fn literals_of(&mut self, name: &str) -> Vec<Value> {
        let own = self.literals.by_column.get(&name.to_lowercase());
        match own {
            Some(own) if !own.is_empty() && !self.random.one_in(6) => own.iter().cloned().collect(),
            _ => self.literals.all.iter().cloned().collect(),
        }
    }

    fn integer(&mut self, name: &str, at: usize) -> i64 {
        if self.fit == Fit::Castable {
            return self.random.below(9) + 1;
        }
        if self.random.one_in(3) {
            let numbers: Vec<i64> = self.literals_of(name).iter().filter_map(whole).collect();
            if let Some(number) = self.random.pick(&numbers) {
                return number.saturating_add(self.random.below(3) - 1);
            }
        }
        match self.random.below(5) {
            0 => self.random.below(20) - 4,
            1 => i64::try_from(at).unwrap_or(0) + 10,
            _ => self.random.below(5) + 1,
        }
    }

    fn decimal(&mut self, name: &str, precision: u8, scale: i8, at: usize) -> Json {
        let factor = 10i128.checked_pow(u32::from(scale.max(0).unsigned_abs())).unwrap_or(1);
        let whole = i128::from(self.integer(name, at));
        let limit = 10i128.checked_pow(u32::from(precision)).unwrap_or(i128::MAX);
        let unscaled = (whole * factor + i128::from(self.random.below(4)) * factor / 4) % limit;
        json(&Value::Decimal(Decimal { unscaled, precision, scale }), &DataType::Decimal { precision, scale })
    }

    fn text(&mut self, name: &str, batch: usize, at: usize) -> Json {
        let column = name.to_lowercase();
        let literals = self.literals;
        let plain = self.forming.len() >= DEPTH_LIMIT || self.forming.contains(&column);
        let forms = literals.forms.get(&column).filter(|_| !plain).map_or(&[][..], Vec::as_slice);
        let form = match self.fit {
            _ if forms.is_empty() => None,
            Fit::Any if self.random.one_in(8) => None,
            Fit::Any => self.random.pick(forms),
            Fit::Castable => forms.iter().min_by_key(|form| strictness(form)),
        };
        if let Some(form) = form {
            self.forming.push(column);
            let text = self.in_form(name, form, batch, at);
            self.forming.pop();
            if let Some(text) = text {
                return Json::from(text);
            }
        }
        if self.random.one_in(2) {
            let texts: Vec<String> = self.literals_of(name).iter().filter_map(spelled).collect();
            if let Some(text) = self.random.pick(&texts).cloned() {
                return Json::from(self.variant(&text));
            }
        }
        const LETTERS: [&str; 7] = ["a", "b", "c", "a", "b", "A", "d"];
        Json::from(self.random.pick(&LETTERS).copied().unwrap_or("a"))
    }

    fn in_form(&mut self, name: &str, form: &TextForm, batch: usize, at: usize) -> Option<String> {
        match form {
            TextForm::Cast(to) => match self.value(name, to, batch, at, DEPTH_LIMIT) {
                Json::String(text) => Some(text),
                other => Some(other.to_string()),
            },
            TextForm::Json(to) => Some(self.value(name, to, batch, at, 0).to_string()),
            TextForm::Pattern(pattern) => {
                let arguments = [Value::Timestamp(self.instant(batch, at)), Value::string(pattern.as_str())];
                let types = [DataType::Timestamp, DataType::String];
                match functions::evaluate("date_format", &arguments, &types, &EvalContext::default()) {
                    Ok(Value::String(text)) => Some(text.to_string()),
                    _ => None,
                }
            }
        }
    }

    /// A text that a pattern or a comparison takes, or one that is nearly so.
    fn variant(&mut self, text: &str) -> String {
        let plain = text.replace('%', "").replace('_', "x");
        match self.random.below(8) {
            0 => format!("{plain}x"),
            1 => plain.to_uppercase(),
            2 => plain.to_lowercase(),
            3 => format!("x{plain}"),
            _ => plain,
        }
    }

    /// Batch 1 lies within two spans of the start, its last row at their end; batch 2 has rows from there, late ones from
    /// anywhere before, and one far ahead that moves every watermark on.
    fn instant(&mut self, batch: usize, at: usize) -> i64 {
        let (span, last) = (self.span, at + 1 == ROWS);
        let offset = match (batch, last) {
            (0, true) => 2 * span,
            (0, false) => self.random.below(2 * span),
            (_, true) => 8 * span,
            (_, false) => match self.random.below(4) {
                0 => self.random.below(span),
                1 => span + self.random.below(span),
                2 => 2 * span + self.random.below(span),
                _ => 2 * span + self.random.below(3 * span),
            },
        };
        let grain = match self.random.below(3) {
            0 => MINUTE * 5,
            1 => MINUTE,
            _ => 10_000_000,
        };
        self.start + offset / grain * grain
    }
}

const DEPTH_LIMIT: usize = 4;
/// The rows with edge values: those before are copied over, and the last one moves the time on.
const FIRST_EDGE: usize = 5;
const EDGES: usize = 8;

/// Text that has one of these forms mostly has those that come after it: whole numbers pass for any number.
fn strictness(form: &TextForm) -> u8 {
    match form {
        TextForm::Json(_) => 0,
        TextForm::Pattern(_) => 1,
        TextForm::Cast(to) if to.is_integral() => 2,
        TextForm::Cast(to) if to.is_numeric() => 3,
        TextForm::Cast(to) if to.is_datetime() => 4,
        TextForm::Cast(_) => 5,
    }
}

fn copy(from: &[Record], at: usize, to: &mut [Record], place: usize) {
    if let (Some(row), Some(slot)) = (from.get(at), to.get_mut(place)) {
        *slot = row.clone();
    }
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Byte(v) => Some(i64::from(*v)),
        Value::Short(v) => Some(i64::from(*v)),
        Value::Int(v) => Some(i64::from(*v)),
        Value::Long(v) => Some(*v),
        Value::Decimal(v) => {
            let factor = 10i128.checked_pow(u32::from(v.scale.max(0).unsigned_abs()))?;
            i64::try_from(v.unscaled / factor).ok()
        }
        // The fraction is made up anyway.
        #[allow(clippy::cast_possible_truncation)]
        Value::Double(v) if v.abs() < 1e15 => Some(*v as i64),
        _ => None,
    }
}

fn spelled(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.to_string()),
        Value::Int(_) | Value::Long(_) => whole(value).map(|number| number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Schema;
    use std::collections::{BTreeMap, BTreeSet};

    fn set() -> SourceSet {
        let facts = SourceFacts {
            name: "events".to_owned(),
            format: Some("json".to_owned()),
            schema: Some(Schema::new(vec![
                Field::new("id", DataType::Long),
                Field::new("k", DataType::String),
                Field::new("ts", DataType::Timestamp),
            ])),
            partitioned_by: Vec::new(),
            retention: None,
            path: None,
            other: BTreeMap::new(),
            span: None,
        };
        SourceSet { before: vec![facts.clone()], after: vec![facts] }
    }

    #[test]
    fn one_seed_gives_one_set_of_rows() {
        let literals = Literals::default();
        assert_eq!(generate(&set(), &literals, 7, Fit::Any), generate(&set(), &literals, 7, Fit::Any));
        assert_ne!(generate(&set(), &literals, 7, Fit::Any), generate(&set(), &literals, 8, Fit::Any));
    }

    #[test]
    fn rows_repeat_within_and_across_batches_and_lie_around_the_watermark() {
        let data = generate(&set(), &Literals::default(), 1, Fit::Any);
        let rows = |batch: usize| data.batches[batch].rows("events").unwrap();
        assert_eq!(rows(0)[0], rows(0)[1]);
        assert_eq!(rows(0)[0], rows(1)[0]);
        let times = |batch: usize| -> BTreeSet<String> {
            rows(batch).iter().filter_map(|row| row["ts"].as_str().map(str::to_owned)).collect()
        };
        let watermark = "2024-01-01 10:10:00".to_owned();
        assert!(times(1).iter().any(|ts| *ts < watermark) && times(1).iter().any(|ts| *ts > watermark));
    }

    #[test]
    fn literals_are_met_on_both_sides() {
        let mut literals = Literals::default();
        literals.by_column.insert("id".to_owned(), BTreeSet::from([Value::Int(100)]));
        let data = generate(&set(), &literals, 1, Fit::Any);
        let ids: BTreeSet<i64> = data
            .batches
            .iter()
            .flat_map(|batch| batch.rows("events").unwrap())
            .filter_map(|row| row["id"].as_i64())
            .collect();
        assert!(ids.iter().any(|id| *id >= 100) && ids.iter().any(|id| *id < 100));
    }
}
