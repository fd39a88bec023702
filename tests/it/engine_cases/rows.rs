//! Rows in one notation, so that those of Spark's JSON and those of the engine's tables can be compared as text.

use pipelint::engine::{Table, World, contents, record};
use serde_json::{Map, Value as Json};

/// Sorted rows of a table, found by the last part of its name.
pub fn of_table(world: &World, name: &str) -> Option<Vec<String>> {
    let rows = contents(table(world, name)?);
    Some(sorted(rows.rows.iter().map(|row| record(row, &rows.schema.fields))))
}

pub fn sorted(records: impl Iterator<Item = Map<String, Json>>) -> Vec<String> {
    let mut rows: Vec<String> = records.map(|record| notation(&Json::Object(record)).to_string()).collect();
    rows.sort();
    rows
}

/// The last part of a dotted name or of a path.
pub fn last_part(name: &str) -> &str {
    name.rsplit(['/', '.']).next().unwrap_or(name)
}

/// A table of the world by the last part of its name, one that flows write before a source of the same name; the folders of
/// sources are none.
pub fn table<'a>(world: &'a World, name: &str) -> Option<&'a Table> {
    let named = |(at, _): &(&String, &Table)| last_part(at) == last_part(name) && !at.starts_with("/sources");
    let written =
        |table: &Table| table.commits.iter().flat_map(|commit| &commit.added).any(|file| file.writer.is_some());
    let found: Vec<&Table> = world.tables.iter().filter(named).map(|(_, table)| table).collect();
    found.iter().find(|table| written(table)).or(found.first()).copied()
}

pub fn location(world: &World, name: &str) -> Option<String> {
    table(world, name).map(|table| table.location.clone())
}

/// Fields without NULLs, by name; numbers by value; timestamps as Spark shows them outside of JSON.
fn notation(value: &Json) -> Json {
    match value {
        Json::Object(fields) => {
            let mut fields: Vec<(String, Json)> = fields
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| (name.to_lowercase(), notation(value)))
                .collect();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            Json::Object(fields.into_iter().collect())
        }
        Json::Array(items) => Json::Array(items.iter().map(notation).collect()),
        Json::Number(number) => Json::from(number.as_f64().map_or_else(|| number.to_string(), number_notation)),
        Json::String(text) => Json::from(text_notation(text)),
        _ => value.clone(),
    }
}

/// Floating-point sums differ in their last digits with the order in which they are taken.
fn number_notation(number: f64) -> String {
    format!("{number:.13e}").parse().map_or_else(|_| number.to_string(), |rounded: f64| rounded.to_string())
}

fn text_notation(text: &str) -> String {
    if let Ok(number) = text.parse::<f64>() {
        return number_notation(number);
    }
    match text.strip_suffix('Z').and_then(|text| text.split_once('T')) {
        Some((date, time)) if date.len() == 10 => format!("{date} {}", time.trim_end_matches(".000")),
        _ => text.to_owned(),
    }
}
