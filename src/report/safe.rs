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

/// Text in which no line is a command to a workflow's log (`::error::…`, also behind blanks): its first colon becomes visible as an
/// escape.
pub fn without_commands(text: &str) -> String {
    let is_command = |line: &str| line.trim_start().strip_prefix("::").is_some_and(|rest| rest.contains("::"));
    if !text.lines().any(is_command) {
        return text.to_owned();
    }
    let line = |line: &str| if is_command(line) { line.replacen(':', "\\u{3a}", 1) } else { line.to_owned() };
    text.split_inclusive('\n').map(line).collect()
}

/// A JSON document whose strings hold no character that reorders or hides others: each is shown as an escape. Control characters
/// are escaped by JSON itself.
pub fn json(document: &str) -> String {
    let visible =
        |c: char| if !c.is_ascii() && is_hostile(c) { format!("\\{}", c.escape_default()) } else { c.to_string() };
    document.chars().map(visible).collect()
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
    fn no_line_is_a_command_to_a_log() {
        assert_eq!(
            without_commands("a\n  ::error file=x::y\n::: a.sql:1:1\n"),
            "a\n  \\u{3a}:error file=x::y\n::: a.sql:1:1\n"
        );
    }

    #[test]
    fn a_document_stays_one_and_shows_its_marks() {
        let shown = json(&serde_json::json!({ "a": "x\u{202e}y" }).to_string());
        let value: serde_json::Value = serde_json::from_str(&shown).expect("it is JSON");
        assert_eq!(value["a"], "x\\u{202e}y");
    }

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
