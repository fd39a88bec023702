//! Rows out of CSV files: a header line, then records with RFC 4180's quoting.

use crate::engine::Record;
use serde_json::Value as Json;

/// Reads a file's text; the first record names the columns. An empty cell without quotes is NULL.
///
/// # Errors
/// A quote that is never closed, or a record with more cells than the header has; with its line, counted from 1.
pub fn read(text: &str) -> Result<Vec<Record>, (usize, String)> {
    let mut records = records(text.strip_prefix('\u{feff}').unwrap_or(text))?.into_iter();
    let Some((_, header)) = records.next() else { return Ok(Vec::new()) };
    let names: Vec<String> = header.into_iter().map(|cell| cell.text.trim().to_owned()).collect();
    records
        .map(|(line, cells)| {
            if cells.len() > names.len() {
                return Err((line, format!("{} cells under {} columns", cells.len(), names.len())));
            }
            Ok(names.iter().cloned().zip(cells.iter().map(Cell::value)).collect())
        })
        .collect()
}

#[derive(Default)]
struct Cell {
    text: String,
    quoted: bool,
}

impl Cell {
    /// A cell that reads as a JSON number, flag, list or object, written exactly as JSON would write it, is that value: a text
    /// column gets the same text back.
    fn value(&self) -> Json {
        if self.quoted {
            return self.text.as_str().into();
        }
        if self.text.is_empty() {
            return Json::Null;
        }
        let json = serde_json::from_str(&self.text).ok().filter(|json: &Json| !json.is_string());
        let (json, text) = (json.unwrap_or(Json::Null), self.text.as_str());
        if format!("{json}") == text { json } else { text.into() }
    }
}

/// A record with the line that it begins at.
type Line = (usize, Vec<Cell>);

/// All records; empty lines are none.
fn records(text: &str) -> Result<Vec<Line>, (usize, String)> {
    let mut records = Vec::new();
    let (mut line, mut start) = (1, 1);
    let (mut cells, mut cell) = (Vec::new(), Cell::default());
    let mut inside = false;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        line += usize::from(c == '\n');
        match c {
            '"' if inside && characters.peek() == Some(&'"') => {
                characters.next();
                cell.text.push('"');
            }
            '"' if inside => inside = false,
            '"' if cell.text.is_empty() => {
                cell.quoted = true;
                inside = true;
            }
            ',' if !inside => cells.push(std::mem::take(&mut cell)),
            '\r' if !inside && characters.peek() == Some(&'\n') => {}
            '\n' if !inside => {
                finish(&mut records, start, &mut cells, &mut cell);
                start = line;
            }
            _ => cell.text.push(c),
        }
    }
    if inside {
        return Err((start, "a quote is not closed".to_owned()));
    }
    finish(&mut records, start, &mut cells, &mut cell);
    Ok(records)
}

fn finish(records: &mut Vec<Line>, start: usize, cells: &mut Vec<Cell>, cell: &mut Cell) {
    if !cells.is_empty() || !cell.text.is_empty() || cell.quoted {
        cells.push(std::mem::take(cell));
        records.push((start, std::mem::take(cells)));
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use serde_json::{Value as Json, json};

    fn rows(text: &str) -> Json {
        Json::Array(read(text).unwrap().into_iter().map(Json::Object).collect())
    }

    #[test]
    fn cells_keep_their_text_and_numbers_are_numbers() {
        assert_eq!(
            rows("id,name,zip,on\r\n1,\"a, \"\"b\"\"\",01234,true\n2,,\"\",false\n"),
            json!([
                { "id": 1, "name": "a, \"b\"", "zip": "01234", "on": true },
                { "id": 2, "name": null, "zip": "", "on": false },
            ])
        );
    }

    #[test]
    fn a_cell_may_span_lines_and_errors_tell_their_record() {
        assert_eq!(rows("a\n\"x\ny\"\n"), json!([{ "a": "x\ny" }]));
        assert_eq!(read("a\n1\n\"x\n").unwrap_err().0, 3);
        assert_eq!(read("a\n1,2\n").unwrap_err().0, 2);
    }
}
