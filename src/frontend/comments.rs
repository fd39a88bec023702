//! Comments of a file, found by the lexer of its language: a `--` inside a string is none.

use super::{python, sql};
use crate::project::Language;
use crate::project::notebook::{self, CellLanguage};

/// One comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// From 1; inside the cell for `.ipynb`, inside the file otherwise.
    pub line: u32,
    /// Of the comment's mark, from 1, in characters.
    pub column: u32,
    /// Line on which it ends.
    pub end_line: u32,
    /// For `.ipynb`: the cell, from 1.
    pub cell: Option<u32>,
    /// Without its marks.
    pub text: String,
    /// Nothing but white space stands before it on its line.
    pub own_line: bool,
}

/// The comments of a file, in order; the path's ending tells the language. Other files have none.
pub fn comments(path: &str, text: &str) -> Vec<Comment> {
    let ending = path.rsplit('.').next().unwrap_or_default();
    match ending {
        "yml" | "yaml" => yaml(text),
        "sql" | "py" if notebook::is_source_notebook(text) => {
            let language = if ending == "sql" { Language::SqlNotebook } else { Language::PythonNotebook };
            notebook_comments(text, language)
        }
        "sql" => sql::comments(text),
        "py" => python::comments(text),
        "ipynb" => notebook_comments(text, Language::Ipynb),
        _ => Vec::new(),
    }
}

fn notebook_comments(text: &str, language: Language) -> Vec<Comment> {
    let cells = notebook::cells(text, language).unwrap_or_default();
    let mut all = Vec::new();
    for cell in cells {
        let found = match cell.language {
            CellLanguage::Python => python::comments(&cell.text),
            CellLanguage::Sql => sql::comments(&cell.text),
            CellLanguage::Run | CellLanguage::Other => continue,
        };
        let shift = cell.line.saturating_sub(1);
        all.extend(found.into_iter().map(|comment| Comment {
            line: comment.line + shift,
            end_line: comment.end_line + shift,
            column: comment.column + cell.column_offset,
            cell: (language == Language::Ipynb).then_some(cell.number),
            ..comment
        }));
    }
    all
}

/// YAML's comments: a `#` at the start of a line or after white space, outside quotes. Block scalars are not told apart: a
/// comment's mark inside one reads as a comment.
fn yaml(text: &str) -> Vec<Comment> {
    let mut found = Vec::new();
    let mut quote: Option<char> = None;
    for (line, content) in (1u32..).zip(text.lines()) {
        let mut previous = ' ';
        let mut blank = true;
        for (column, (byte, c)) in (1u32..).zip(content.char_indices()) {
            match quote {
                Some('"') if previous == '\\' => {
                    previous = ' ';
                    continue;
                }
                Some(open) if c == open => quote = None,
                Some(_) => {}
                None if c == '#' && previous.is_whitespace() => {
                    let text = content.get(byte + 1..).unwrap_or_default().to_owned();
                    found.push(Comment { line, column, end_line: line, cell: None, text, own_line: blank });
                    break;
                }
                // An apostrophe inside a plain word opens nothing.
                None if matches!(c, '"' | '\'') && (previous.is_whitespace() || "[{,:".contains(previous)) => {
                    quote = Some(c);
                }
                None => {}
            }
            blank &= c.is_whitespace();
            previous = c;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(path: &str, text: &str) -> Vec<(u32, u32, bool, String)> {
        comments(path, text).into_iter().map(|c| (c.line, c.column, c.own_line, c.text.trim().to_owned())).collect()
    }

    #[test]
    fn comments_are_told_from_strings_in_every_language() {
        assert_eq!(
            told("a.sql", "-- one\nSELECT '-- no', `--no` -- two\n/* three\n*/ FROM t"),
            [(1, 1, true, "one".into()), (2, 24, false, "two".into()), (3, 1, true, "three".into())]
        );
        assert_eq!(
            told("a.py", "# one\nx = '# no'  # two\ny = \"\"\"\n# no\n\"\"\"\n"),
            [(1, 1, true, "one".into()), (2, 13, false, "two".into())]
        );
        assert_eq!(
            told("a.yml", "# one\na: 'x # no' # two\nb: it's#no\nc: \"\\\" # no\"\n  # three\n"),
            [(1, 1, true, "one".into()), (2, 13, false, "two".into()), (5, 3, true, "three".into())]
        );
        assert!(told("a.txt", "# x").is_empty());
    }

    #[test]
    fn comments_of_notebooks_stand_where_the_user_sees_them() {
        let source = "# Databricks notebook source\n# a\n\n# COMMAND ----------\n\n# MAGIC %sql\n# MAGIC -- b\n# MAGIC SELECT 1\n";
        let found = comments("n.py", source);
        let b = found.iter().find(|c| c.text.trim() == "b").map(|c| (c.line, c.column, c.cell));
        assert_eq!(b, Some((7, 9, None)));
        let jupyter =
            r##"{"cells":[{"cell_type":"markdown","source":"x"},{"cell_type":"code","source":"x = 1\n# a"}]}"##;
        let found = comments("n.ipynb", jupyter);
        assert_eq!(found.iter().map(|c| (c.line, c.cell)).collect::<Vec<_>>(), [(2, Some(2))]);
    }
}
