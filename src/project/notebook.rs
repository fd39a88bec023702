//! Cells of notebooks: Databricks source notebooks (`.py`, `.sql`) and Jupyter's `.ipynb`.
//!
//! Takes a file's text, gives its cells in order, each with its language, its text without magic prefixes, and where it stands.

use super::Language;
use serde_json::Value as Json;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellLanguage {
    Python,
    Sql,
    /// `%run`: the text is the other notebook's path.
    Run,
    /// Markdown, shell, packages, other languages: nothing of a pipeline.
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// From 1, as the notebook counts.
    pub number: u32,
    pub language: CellLanguage,
    pub text: String,
    /// Line on which the text begins: of the file, or of the cell (then 1) for `.ipynb`.
    pub line: u32,
    /// Characters in front of each line that the text leaves out (`# MAGIC `).
    pub column_offset: u32,
}

const PYTHON_HEADER: &str = "# Databricks notebook source";
const SQL_HEADER: &str = "-- Databricks notebook source";

/// A `.py` or `.sql` file that holds a notebook.
pub fn is_source_notebook(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let first = first.trim_start_matches('\u{feff}').trim_end();
    first == PYTHON_HEADER || first == SQL_HEADER
}

/// Splits a notebook into its cells. An error says in the user's words why the file is no notebook.
pub fn cells(text: &str, language: Language) -> Result<Vec<Cell>, String> {
    Ok(match language {
        Language::Ipynb => jupyter(text)?,
        Language::Sql | Language::SqlNotebook => source_cells(text, "--", CellLanguage::Sql),
        Language::Python | Language::PythonNotebook => source_cells(text, "#", CellLanguage::Python),
    })
}

/// Cells of a source notebook, whose comments begin with `mark`.
fn source_cells(text: &str, mark: &str, default: CellLanguage) -> Vec<Cell> {
    let separator = format!("{mark} COMMAND ----------");
    let mut cells = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    let mut start = 1;
    let mut number = 1;
    for (index, line) in text.lines().enumerate() {
        if line.trim_end() == separator {
            cells.extend(source_cell(&lines, mark, default, start, number));
            lines.clear();
            start = index as u32 + 2;
            number += 1;
        } else {
            lines.push(line);
        }
    }
    cells.extend(source_cell(&lines, mark, default, start, number));
    cells
}

fn source_cell(lines: &[&str], mark: &str, default: CellLanguage, start: u32, number: u32) -> Vec<Cell> {
    let magic = format!("{mark} MAGIC");
    let is_magic = |line: &&str| line.starts_with(&magic);
    let Some(first) = lines.iter().position(is_magic) else {
        return bare_cell(lines, default, start, number);
    };
    // A magic cell's lines all carry the prefix; titles and comments around them do not count.
    let strip = |line: &str| -> String {
        let rest = line.strip_prefix(&magic).unwrap_or_default();
        rest.strip_prefix(' ').unwrap_or(rest).to_owned()
    };
    let prefix = magic.chars().count() as u32 + 1;
    let body: Vec<String> = lines.get(first..).unwrap_or_default().iter().map(|line| strip(line)).collect();
    let head = lines.get(..first).unwrap_or_default();
    let holds_code = head.iter().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with(mark));
    if holds_code {
        return bare_cell(lines, default, start, number);
    }
    magic_cell(&body, default, start + first as u32, prefix, number).into_iter().collect()
}

/// A cell without the `MAGIC` prefix; a bare `%sql` in its first line still counts.
fn bare_cell(lines: &[&str], default: CellLanguage, start: u32, number: u32) -> Vec<Cell> {
    let body: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    magic_cell(&body, default, start, 0, number).into_iter().collect()
}

/// A cell whose first line may name its language.
fn magic_cell(body: &[String], default: CellLanguage, line: u32, column_offset: u32, number: u32) -> Option<Cell> {
    let first = body.iter().position(|line| !line.trim().is_empty())?;
    let head = body.get(first)?.trim_start();
    let cell =
        |language: CellLanguage, text: String, line: u32| Some(Cell { number, language, text, line, column_offset });
    let Some(command) = head.strip_prefix('%') else {
        let text = match default {
            CellLanguage::Python => without_line_magics(body),
            _ => body.join("\n"),
        };
        return cell(default, text, line);
    };
    let command = command.trim_start_matches('%');
    let (word, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    let language = match word {
        "sql" => CellLanguage::Sql,
        "python" | "py" => CellLanguage::Python,
        "run" => return cell(CellLanguage::Run, rest.trim().to_owned(), line + first as u32),
        "pip" | "conda" | "restart_python" | "load_ext" | "reload_ext" | "matplotlib" | "config" | "time"
        | "timeit" | "autoreload" | "env" | "set_env"
            if default == CellLanguage::Python =>
        {
            // A line magic: the code after it counts.
            return cell(CellLanguage::Python, without_line_magics(body), line);
        }
        _ => return cell(CellLanguage::Other, String::new(), line),
    };
    // The line of the magic keeps its place, so that lines count on.
    let mut text: Vec<String> = vec![rest.to_owned()];
    text.extend(body.get(first + 1..).unwrap_or_default().iter().cloned());
    cell(language, text.join("\n"), line + first as u32)
}

/// Python text with `%pip …` and `!ls` lines blanked out.
fn without_line_magics(body: &[String]) -> String {
    let lines: Vec<&str> = body
        .iter()
        .map(|line| if line.starts_with('%') || line.starts_with('!') { "" } else { line.as_str() })
        .collect();
    lines.join("\n")
}

fn jupyter(text: &str) -> Result<Vec<Cell>, String> {
    let json: Json = serde_json::from_str(text).map_err(|error| format!("this notebook is not valid JSON: {error}"))?;
    let mut raw: Vec<&Json> = json.get("cells").map_or(Ok(&[][..]), |cells| list(cells, "`cells`"))?.iter().collect();
    // Version 3 keeps its cells in worksheets.
    for sheet in json.get("worksheets").map_or(Ok(&[][..]), |sheets| list(sheets, "`worksheets`"))? {
        raw.extend(sheet.get("cells").map_or(Ok(&[][..]), |cells| list(cells, "`cells`"))?);
    }
    if raw.is_empty() && json.get("cells").is_none() && json.get("worksheets").is_none() {
        return Err("this JSON has no `cells`: it is no notebook".to_owned());
    }
    let default = default_language(&json);
    let mut cells = Vec::new();
    for (index, cell) in raw.into_iter().enumerate() {
        let number = index + 1;
        let Some(kind) = cell.get("cell_type").and_then(Json::as_str) else {
            return Err(format!("cell {number} has no `cell_type`: it is no cell of a notebook"));
        };
        if kind != "code" {
            continue;
        }
        let source = cell.get("source").or_else(|| cell.get("input"));
        let lines = source_lines(source)
            .ok_or_else(|| format!("the source of cell {number} is neither a text nor a list of texts"))?;
        cells.extend(magic_cell(&lines, default, 1, 0, index as u32 + 1));
    }
    Ok(cells)
}

fn default_language(json: &Json) -> CellLanguage {
    let metadata = json.get("metadata");
    let at = |path: &[&str]| {
        let mut value = metadata?;
        for key in path {
            value = value.get(key)?;
        }
        value.as_str().map(str::to_lowercase)
    };
    let named = at(&["application/vnd.databricks.v1+notebook", "language"])
        .or_else(|| at(&["kernelspec", "language"]))
        .or_else(|| at(&["language_info", "name"]));
    match named.as_deref() {
        Some("sql") => CellLanguage::Sql,
        Some("scala" | "r") => CellLanguage::Other,
        _ => CellLanguage::Python,
    }
}

fn list<'a>(json: &'a Json, what: &str) -> Result<&'a [Json], String> {
    json.as_array().map(Vec::as_slice).ok_or_else(|| format!("{what} of this notebook is not a list"))
}

/// A cell's source is text, or a list of lines that end themselves.
fn source_lines(source: Option<&Json>) -> Option<Vec<String>> {
    let text = match source {
        None => String::new(),
        Some(Json::String(text)) => text.clone(),
        Some(Json::Array(lines)) => lines.iter().map(Json::as_str).collect::<Option<String>>()?,
        Some(_) => return None,
    };
    Some(text.lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_notebooks_split_at_commands_and_keep_lines() {
        let text = "# Databricks notebook source\nimport dlt\n\n# COMMAND ----------\n\n# MAGIC %sql\n# MAGIC SELECT 1\n\n# COMMAND ----------\n\n# MAGIC %run ./helpers\n\n# COMMAND ----------\n\n# MAGIC %md\n# MAGIC hi";
        let cells = cells(text, Language::PythonNotebook).unwrap();
        let shown: Vec<_> = cells.iter().map(|c| (c.number, c.language, c.line, c.column_offset)).collect();
        assert_eq!(
            shown,
            [
                (1, CellLanguage::Python, 1, 0),
                (2, CellLanguage::Sql, 6, 8),
                (3, CellLanguage::Run, 11, 8),
                (4, CellLanguage::Other, 15, 8)
            ]
        );
        assert_eq!(cells.get(1).map(|c| c.text.trim()), Some("SELECT 1"));
        assert_eq!(cells.get(2).map(|c| c.text.as_str()), Some("./helpers"));
    }

    #[test]
    fn jupyter_cells_of_both_versions_are_read() {
        let v4 = r##"{"nbformat":4,"metadata":null,"cells":[{"cell_type":"markdown","source":"x"},{"cell_type":"code","source":["%pip install a\n","import dlt\n"]},{"cell_type":"code","source":"%%sql\nSELECT 1"}]}"##;
        let cells4 = cells(v4, Language::Ipynb).unwrap();
        assert_eq!(cells4.len(), 2);
        assert_eq!((cells4[0].number, cells4[0].text.as_str()), (2, "\nimport dlt"));
        assert_eq!(cells4[1].language, CellLanguage::Sql);
        let v3 = r#"{"worksheets":[{"cells":[{"cell_type":"code","input":["x = 1"]}]}]}"#;
        assert_eq!(cells(v3, Language::Ipynb).unwrap()[0].text, "x = 1");
        for text in
            ["[1]", r#"{"cells":"import dlt"}"#, r#"{"cells":[7]}"#, r#"{"cells":[{"cell_type":"code","source":3}]}"#]
        {
            assert!(cells(text, Language::Ipynb).is_err(), "{text}");
        }
    }
}
