//! Lines that fit the width, by what is seen.

use unicode_width::UnicodeWidthStr;

/// Breaks each line at spaces so that none is wider than `width`; a longer word stays whole.
pub fn wrap(text: &str, width: usize) -> String {
    let lines: Vec<String> = text.lines().flat_map(|line| wrapped_line(line, width)).collect();
    lines.join("\n")
}

/// The same, with further lines moved in by `indent` columns.
pub fn hanging(text: &str, width: usize, indent: usize) -> String {
    let space = format!("\n{}", " ".repeat(indent));
    wrap(text, width.saturating_sub(indent).max(20)).replace('\n', &space)
}

fn wrapped_line(line: &str, width: usize) -> Vec<String> {
    if line.width() <= width {
        return vec![line.to_owned()];
    }
    let indent: String = line.chars().take_while(|c| *c == ' ').collect();
    let mut lines = Vec::new();
    let mut current = indent.clone();
    for word in line.split_whitespace() {
        let empty = current.trim().is_empty();
        if !empty && current.width() + 1 + word.width() > width {
            lines.push(std::mem::replace(&mut current, indent.clone()));
        } else if !empty {
            current.push(' ');
        }
        current.push_str(word);
    }
    lines.push(current);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_by_their_width() {
        assert_eq!(wrap("one two three", 7), "one two\nthree");
        assert_eq!(wrap("größer größer", 6), "größer\ngrößer");
        assert_eq!(wrap("ab 漢字漢字 cd", 8), "ab\n漢字漢字\ncd");
        assert_eq!(wrap("a_very_long_word x", 4), "a_very_long_word\nx");
        assert_eq!(hanging("one two three four five six seven", 24, 4), "one two three four\n    five six seven");
    }
}
