//! Columns that line up.

use super::wrap::hanging;
use unicode_width::UnicodeWidthStr;

/// Writes rows of cells, each given as (text to measure, text to print), two spaces apart. The last column is not padded; where
/// its text does not fit the width and is printed plainly, it goes on below itself.
pub fn write(out: &mut String, rows: &[Vec<(String, String)>], indent: &str, width: usize) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(|(text, _)| text.width()).max().unwrap_or(0))
        .collect();
    for row in rows {
        let mut line = String::from(indent);
        for (index, ((text, printed), column)) in row.iter().zip(&widths).enumerate() {
            let start: usize = indent.width() + widths.iter().take(index).map(|width| width + 2).sum::<usize>();
            if index + 1 == row.len() && text == printed && start + text.width() > width {
                line.push_str(
                    &hanging(text, width.max(start + 20) - start, 0).replace('\n', &format!("\n{}", " ".repeat(start))),
                );
            } else {
                line.push_str(printed);
            }
            if index + 1 < row.len() {
                line.extend(std::iter::repeat_n(' ', column.saturating_sub(text.width()) + 2));
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn cells_line_up_by_what_is_seen() {
        let cell = |text: &str, printed: &str| (text.to_owned(), printed.to_owned());
        let rows =
            vec![vec![cell("größe", "\u{1b}[1mgröße\u{1b}[0m"), cell("a", "a")], vec![cell("x", "x"), cell("b", "b")]];
        let mut out = String::new();
        super::write(&mut out, &rows, " ", 80);
        let long =
            vec![vec![cell("x", "x"), cell("one two three four five six seven", "one two three four five six seven")]];
        let mut wrapped = String::new();
        super::write(&mut wrapped, &long, " ", 24);
        assert_eq!(wrapped, " x  one two three four\n    five six seven\n");
        assert_eq!(out, " \u{1b}[1mgröße\u{1b}[0m  a\n x      b\n");
    }
}
