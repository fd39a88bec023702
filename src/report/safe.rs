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
        assert_eq!(inline("größe ✓"), "größe ✓");
    }
}
