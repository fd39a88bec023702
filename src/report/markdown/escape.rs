//! Text from a repository inside GitHub's Markdown: no markup, no HTML, no mention, no link, no issue reference.

use crate::report::safe;

/// An invisible character that ends a mention, an issue number or an address before it begins.
const BREAK: char = '\u{2060}';

/// Plain text on one line; what stands between back quotes becomes code.
pub fn text(text: &str) -> String {
    let clean = safe::inline(text);
    let pieces: Vec<&str> = clean.split('`').collect();
    let mut out = String::new();
    // A back quote without a partner is dropped.
    for (index, piece) in pieces.iter().enumerate() {
        if index % 2 == 1 && index + 1 < pieces.len() {
            out.push_str(&code(piece));
        } else {
            plain(piece, &mut out);
        }
    }
    out
}

fn plain(text: &str, out: &mut String) {
    let mut rest = text.chars().peekable();
    let mut word = String::new();
    while let Some(c) = rest.next() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '*' | '_' | '~' | '[' | ']' | '(' | ')' | '|' | '!' | '$' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            '@' | '#' => {
                out.push(c);
                out.push(BREAK);
            }
            ':' if rest.peek() == Some(&'/') => {
                out.push(c);
                out.push(BREAK);
            }
            '.' if word.eq_ignore_ascii_case("www") => {
                out.push(BREAK);
                out.push(c);
            }
            _ => out.push(c),
        }
        if c.is_alphanumeric() { word.push(c) } else { word.clear() }
    }
}

/// A code span, also inside a table's cell.
pub fn code(text: &str) -> String {
    let clean = safe::inline(text).replace('|', "\\|");
    if clean.trim().is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(&clean) + 1);
    if clean.starts_with('`') || clean.ends_with('`') {
        format!("{fence} {clean} {fence}")
    } else {
        format!("{fence}{clean}{fence}")
    }
}

/// A fenced block.
pub fn block(language: &str, text: &str) -> String {
    let clean = safe::block(text);
    let fence = "`".repeat(longest_run(&clean).max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", clean.trim_end_matches('\n'))
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_text_stays_text() {
        assert_eq!(
            text("<img src=x> **a** [b](c) `d|e` f"),
            "&lt;img src=x&gt; \\*\\*a\\*\\* \\[b\\]\\(c\\) `d\\|e` f"
        );
        assert_eq!(text("@all #12 http://x www.x"), "@\u{2060}all #\u{2060}12 http:\u{2060}//x www\u{2060}.x");
        assert_eq!(text("a ` b"), "a  b");
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(block("sql", "a\n```\nb\n"), "````sql\na\n```\nb\n````\n");
    }
}
