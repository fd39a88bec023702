//! Columns that line up.

use unicode_width::UnicodeWidthStr;

/// Writes rows of cells, each given as (text to measure, text to print), two spaces apart. The last column is not padded.
pub fn write(out: &mut String, rows: &[Vec<(String, String)>], indent: &str) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(|(text, _)| text.width()).max().unwrap_or(0))
        .collect();
    for row in rows {
        let mut line = String::from(indent);
        for (index, ((text, printed), width)) in row.iter().zip(&widths).enumerate() {
            line.push_str(printed);
            if index + 1 < row.len() {
                line.extend(std::iter::repeat_n(' ', width.saturating_sub(text.width()) + 2));
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
        super::write(&mut out, &rows, " ");
        assert_eq!(out, " \u{1b}[1mgröße\u{1b}[0m  a\n x      b\n");
    }
}
