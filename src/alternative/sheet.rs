//! The text that a definition stands in, whatever file holds it: a whole file, a cell of a source notebook (also behind `MAGIC`), a
//! cell of a Jupyter notebook.
//!
//! A [`Sheet`] is read and edited as plain code; its edits come out as edits of the file's own bytes, so that those of several
//! cells and several proposals go together.

use super::edit::{self, Edit};
use super::json;
use super::sql::{Statement, Statements};
use crate::model::Span;
use crate::project::Language;
use crate::project::notebook::{self, Cell, CellLanguage};
use crate::revision::Tree;
use crate::rules::CodeLanguage;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

pub struct Sheet {
    pub path: String,
    pub language: CodeLanguage,
    /// Plain code; lines that only notebooks know (`%sql`, `!ls`) are blank.
    pub text: String,
    /// The byte of the file for each byte of the text, and for its end.
    offsets: Vec<usize>,
    form: Form,
    statements: OnceCell<Option<Statements>>,
}

/// How code stands in the file.
enum Form {
    Plain,
    /// Every line behind this (`# MAGIC `).
    Prefixed(String),
    Json(json::Form),
}

/// A sheet, and the bytes of a place in it.
pub struct Spot {
    pub sheet: Rc<Sheet>,
    pub range: Range<usize>,
}

/// Path and cell.
type Address = (String, Option<u32>);

/// The sheets of a tree, each read once.
pub struct Sheets<'a> {
    tree: &'a dyn Tree,
    read: RefCell<BTreeMap<Address, Option<Rc<Placed>>>>,
}

/// A sheet, with the line and the column of the file at which its text begins.
struct Placed {
    sheet: Rc<Sheet>,
    line: u32,
    column: u32,
}

impl<'a> Sheets<'a> {
    pub fn of(tree: &'a dyn Tree) -> Self {
        Sheets { tree, read: RefCell::default() }
    }

    fn placed(&self, span: &Span) -> Option<Rc<Placed>> {
        let key = (span.path.to_string(), span.cell);
        let mut read = self.read.borrow_mut();
        read.entry(key).or_insert_with(|| Placed::read(self.tree, span).map(Rc::new)).clone()
    }

    /// None where the file is no UTF-8, or the place is not in it as plain code.
    pub fn spot(&self, span: &Span) -> Option<Spot> {
        let placed = self.placed(span)?;
        let (sheet, first_line, first_column) = (Rc::clone(&placed.sheet), placed.line, placed.column);
        let byte = |line: u32, column: u32| {
            let (line, column) = ((line + 1).checked_sub(first_line)?, (column + 1).checked_sub(first_column)?);
            edit::byte(&sheet.text, line, column)
        };
        let range = byte(span.line, span.column)?..byte(span.end_line, span.end_column)?;
        (range.start < range.end).then_some(Spot { sheet, range })
    }
}

impl Placed {
    fn read(tree: &dyn Tree, span: &Span) -> Option<Placed> {
        let file = edit::text(tree, &span.path)?;
        let (sheet, line, column) = match span.cell {
            None => (Sheet::whole(&span.path, file)?, 1, 1),
            Some(number) if span.path.ends_with(".ipynb") => (Sheet::jupyter(&span.path, &file, number)?, 1, 1),
            Some(number) => Sheet::source_cell(&span.path, &file, number)?,
        };
        Some(Placed { sheet: Rc::new(sheet), line, column })
    }
}

impl Spot {
    pub fn at(&self) -> usize {
        self.range.start
    }

    /// The place's own text.
    pub fn text(&self) -> Option<&str> {
        self.sheet.text.get(self.range.clone())
    }
}

impl Sheet {
    fn whole(path: &str, text: String) -> Option<Sheet> {
        let language = match path.rsplit_once('.')?.1 {
            "py" => CodeLanguage::Python,
            "sql" => CodeLanguage::Sql,
            _ => return None,
        };
        let offsets = (0..=text.len()).collect();
        Some(Sheet { path: path.to_owned(), language, text, offsets, form: Form::Plain, statements: OnceCell::new() })
    }

    /// A cell of a source notebook, with the line and the column of the file at which its text begins.
    fn source_cell(path: &str, file: &str, number: u32) -> Option<(Sheet, u32, u32)> {
        let is_python = path.ends_with(".py");
        let kind = if is_python { Language::PythonNotebook } else { Language::SqlNotebook };
        let cell = cell(file, kind, number)?;
        let first = usize::try_from(cell.line).ok()?.checked_sub(1)?;
        let hidden = usize::try_from(cell.column_offset).ok()?;
        let (mut text, mut offsets, mut prefix, mut at) = (String::new(), Vec::new(), None, 0);
        let count = cell.text.lines().count().max(1);
        for (index, line) in file.split_inclusive('\n').enumerate() {
            let start = at;
            at += line.len();
            if index < first || index >= first + count {
                continue;
            }
            let content = line.trim_end_matches('\n');
            let skipped = content.char_indices().nth(hidden).map_or(content.len(), |(byte, _)| byte);
            prefix = prefix.or_else(|| content.get(..skipped).map(str::to_owned));
            text.push_str(line.get(skipped..)?);
            offsets.extend(start + skipped..at);
        }
        if text.ends_with('\n') {
            text.pop();
        } else {
            offsets.push(at);
        }
        let form = match prefix.filter(|prefix| !prefix.is_empty()) {
            Some(prefix) => Form::Prefixed(prefix),
            None => Form::Plain,
        };
        let sheet = Sheet {
            path: path.to_owned(),
            language: language(&cell)?,
            text,
            offsets,
            form,
            statements: OnceCell::new(),
        };
        Some((sheet.without_magics(), cell.line, cell.column_offset + 1))
    }

    fn jupyter(path: &str, file: &str, number: u32) -> Option<Sheet> {
        let cell = cell(file, Language::Ipynb, number)?;
        let source = json::source(file, usize::try_from(number).ok()?.checked_sub(1)?)?;
        let sheet = Sheet {
            path: path.to_owned(),
            language: language(&cell)?,
            text: source.text,
            offsets: source.offsets,
            form: Form::Json(source.form),
            statements: OnceCell::new(),
        };
        Some(sheet.without_magics())
    }

    /// With spaces in place of lines that no language of ours has; bytes stay where they are.
    fn without_magics(mut self) -> Sheet {
        let blank = |line: &str| match line.trim_start().starts_with(['%', '!']) {
            true => line.chars().map(|c| if c == '\n' { c.to_string() } else { " ".repeat(c.len_utf8()) }).collect(),
            false => line.to_owned(),
        };
        self.text = self.text.split_inclusive('\n').map(blank).collect();
        self
    }

    /// The SQL statement that holds a byte.
    pub fn statement(&self, byte: usize) -> Option<Statement<'_>> {
        self.statements.get_or_init(|| Statements::of(&self.text)).as_ref()?.at(&self.text, byte)
    }

    /// An edit of the file for one of the text.
    pub fn edit(&self, range: Range<usize>, text: &str) -> Option<Edit> {
        let range = *self.offsets.get(range.start)?..*self.offsets.get(range.end)?;
        let text = match &self.form {
            Form::Plain => text.to_owned(),
            Form::Prefixed(prefix) => text.replace('\n', &format!("\n{prefix}")),
            Form::Json(form) => form.encode(text),
        };
        Some(Edit { path: self.path.clone(), range, text })
    }
}

/// A cell by its number; one whose first line holds code behind a magic has no plain columns.
fn cell(file: &str, kind: Language, number: u32) -> Option<Cell> {
    let cell = notebook::cells(file, kind).ok()?.into_iter().find(|cell| cell.number == number)?;
    let line = match kind {
        Language::Ipynb => None,
        _ => file.lines().nth(usize::try_from(cell.line).ok()?.checked_sub(1)?),
    };
    let magic_with_code = line.is_some_and(|line| {
        let code: String = line.chars().skip(usize::try_from(cell.column_offset).unwrap_or(0)).collect();
        code.trim_start().starts_with('%') && code.split_whitespace().count() > 1
    });
    (!magic_with_code).then_some(cell)
}

fn language(cell: &Cell) -> Option<CodeLanguage> {
    match cell.language {
        CellLanguage::Python => Some(CodeLanguage::Python),
        CellLanguage::Sql => Some(CodeLanguage::Sql),
        CellLanguage::Run | CellLanguage::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(file: &str, sheet: &Sheet, range: Range<usize>, text: &str) -> String {
        let edit = sheet.edit(range, text).unwrap();
        edit::replaced(file, vec![(edit.range, &edit.text)]).unwrap()
    }

    #[test]
    fn lines_behind_a_magic_keep_their_prefix() {
        let file = "# Databricks notebook source\nx = 1\n\n# COMMAND ----------\n\n# MAGIC %sql\n# MAGIC SELECT a\n# MAGIC FROM t\n";
        let (sheet, line, column) = Sheet::source_cell("n.py", file, 2).unwrap();
        assert_eq!((sheet.text.as_str(), line, column), ("    \nSELECT a\nFROM t", 6, 9));
        let end = sheet.text.len();
        let text = edited(file, &sheet, end..end, ";\n\nSELECT 2;");
        assert!(text.ends_with("# MAGIC FROM t;\n# MAGIC \n# MAGIC SELECT 2;\n"), "{text}");
        assert_eq!(edited(file, &sheet, 12..13, "b").lines().nth(6), Some("# MAGIC SELECT b"));
    }

    #[test]
    fn jupyter_lines_are_edited_inside_their_json() {
        let file = "{\"cells\": [\n {\"cell_type\": \"code\", \"source\": [\"%%sql\\n\",\n  \"SELECT 'ä', \\\"a\\\"\\n\",\n  \"FROM t\"]}]}";
        let sheet = Sheet::jupyter("n.ipynb", file, 1).unwrap();
        assert_eq!(sheet.text, "     \nSELECT 'ä', \"a\"\nFROM t");
        let end = sheet.text.len();
        let text = edited(file, &sheet, end..end, ";\n\nSELECT \"b\";");
        assert!(text.ends_with("\"FROM t;\\n\",\n  \"\\n\",\n  \"SELECT \\\"b\\\";\"]}]}"), "{text}");
        let from = sheet.text.find("\"a\"").unwrap();
        let cells = notebook::cells(&edited(file, &sheet, from..from + 3, "b"), Language::Ipynb).unwrap();
        assert_eq!(cells.first().map(|cell| cell.text.as_str()), Some("\nSELECT 'ä', b\nFROM t"));
    }
}
