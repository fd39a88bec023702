//! Columns that line up.

use unicode_width::UnicodeWidthStr;

/// A cell: what is measured, and what is printed.
#[derive(Debug, Clone)]
pub struct Cell {
    pub text: String,
    /// The same with escape sequences.
    pub printed: String,
}

impl Cell {
    pub fn plain(text: &str) -> Self {
        Cell { text: text.to_owned(), printed: text.to_owned() }
    }
}

/// Spaces between two columns.
const GAP: usize = 2;

/// Columns that the rows take, with an indent.
pub fn width(rows: &[Vec<Cell>], indent: &str) -> usize {
    let columns = widths(rows);
    indent.width() + columns.iter().sum::<usize>() + GAP * columns.len().saturating_sub(1)
}

/// The widest text of each column.
pub fn widths(rows: &[Vec<Cell>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.text.width()).max().unwrap_or(0)
    };
    (0..columns).map(widest).collect()
}

/// Writes rows; the last column is not padded.
pub fn write(out: &mut String, rows: &[Vec<Cell>], indent: &str) {
    let widths = widths(rows);
    for row in rows {
        let mut line = String::from(indent);
        for (index, (cell, column)) in row.iter().zip(&widths).enumerate() {
            line.push_str(&cell.printed);
            if index + 1 < row.len() {
                line.extend(std::iter::repeat_n(' ', column.saturating_sub(cell.text.width()) + GAP));
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_line_up_by_what_is_seen() {
        let cell = |text: &str, printed: &str| Cell { text: text.to_owned(), printed: printed.to_owned() };
        let rows =
            vec![vec![cell("größe", "\u{1b}[1mgröße\u{1b}[0m"), cell("a", "a")], vec![cell("x", "x"), cell("b", "b")]];
        let mut out = String::new();
        write(&mut out, &rows, " ");
        assert_eq!(out, " \u{1b}[1mgröße\u{1b}[0m  a\n x      b\n");
        assert_eq!(width(&rows, " "), 9);
    }
}
