//! Scalars and keys in a line of YAML.

/// The text of a quoted scalar that begins `rest`, and how many characters follow its first quote up to and with its last.
pub(super) fn quoted_text(rest: &str, quote: char) -> (String, usize) {
    let mut text = String::new();
    let mut count = 0;
    let mut chars = rest.chars().skip(1).peekable();
    while let Some(c) = chars.next() {
        count += 1;
        if c == '\\' && quote == '"' {
            if let Some(escaped) = chars.next() {
                count += 1;
                text.push(escaped);
            }
        } else if c == quote {
            if quote == '\'' && chars.peek() == Some(&quote) {
                chars.next();
                count += 1;
                text.push(quote);
            } else {
                break;
            }
        } else {
            text.push(c);
        }
    }
    (text, count)
}

/// True where a quoted scalar is not closed by the end of the line.
pub(super) fn ends_open(text: &str, quote: char) -> bool {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\\' && quote == '"' {
            chars.next();
        } else if c == quote {
            if quote == '\'' && chars.peek() == Some(&quote) {
                chars.next();
            } else {
                return false;
            }
        }
    }
    true
}

/// Leading blanks, in bytes.
pub(super) fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Bytes at the end of a line that say nothing: blanks and a comment.
pub(super) fn trailing(text: &str) -> usize {
    let mut quote = None;
    let mut previous = ' ';
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') if previous.is_whitespace() => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, '#') if previous.is_whitespace() => {
                end = at;
                break;
            }
            _ => {}
        }
        previous = c;
    }
    text.len() - text.get(..end).unwrap_or(text).trim_end().len()
}

/// A key at the start of the text: its name, and its length with the colon.
pub(super) fn key_end(text: &str) -> Option<(String, usize)> {
    let first = text.chars().next()?;
    if matches!(first, '"' | '\'') {
        let (name, count) = quoted_text(text, first);
        let length: usize = text.chars().take(count + 1).map(char::len_utf8).sum();
        let colon = length + text.get(length..).map_or(0, indent);
        let after = text.get(colon..)?.strip_prefix(':')?;
        return (after.is_empty() || after.starts_with(' ')).then_some((name, colon + 1));
    }
    if matches!(first, '{' | '[' | '#' | '|' | '>' | '&' | '*' | '!' | '?') {
        return None;
    }
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        if c == '#' && previous == ' ' {
            return None;
        }
        if c == ':' && text.get(at + 1..).is_some_and(|after| after.is_empty() || after.starts_with(' ')) {
            return Some((text.get(..at)?.trim_end().to_owned(), at + 1));
        }
        previous = c;
    }
    None
}
