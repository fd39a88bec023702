//! Text from a repository, made harmless: names and code in a pull request must not steer a terminal.

/// Replaces control characters (escape sequences, line ends, bidirectional overrides) by visible forms.
pub fn inline(text: &str) -> String {
    text.chars().flat_map(|c| if is_hostile(c) { c.escape_default().collect::<Vec<_>>() } else { vec![c] }).collect()
}

/// The same for a text of several lines: line ends and tabs stay.
pub fn block(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            if c != '\n' && c != '\t' && is_hostile(c) { c.escape_default().collect::<Vec<_>>() } else { vec![c] }
        })
        .collect()
}

/// The same for a patch, which is to be applied: line ends of both kinds stay.
pub fn patch(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| match line.strip_suffix("\r\n") {
            Some(line) => format!("{}\r\n", block(line)),
            None => block(line),
        })
        .collect()
}

/// Text for HTML and XML, inside elements and inside quoted attributes.
pub fn markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in block(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

/// Control characters, and those that reorder or hide what follows them.
fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_bidirectional_overrides_become_visible() {
        assert_eq!(inline("a\u{1b}[31mb\nc"), "a\\u{1b}[31mb\\nc");
        assert_eq!(inline("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(block("a\n\tb\u{7}"), "a\n\tb\\u{7}");
        assert_eq!(patch("a\r\nb\rc\n"), "a\r\nb\\rc\n");
        assert_eq!(inline("größe ✓"), "größe ✓");
        assert_eq!(markup("<a b='&\"\u{1}'>"), "&lt;a b=&#39;&amp;&quot;\\u{1}&#39;&gt;");
    }
}
