//! String literals: prefixes, quotes and escapes.

/// A literal's prefix and text, quotes removed.
pub struct Literal<'a> {
    pub raw: bool,
    pub format: bool,
    pub text: &'a str,
}

/// Splits `rb'''…'''` into its parts; nothing where the quotes do not match.
pub fn split_literal(source: &str) -> Option<Literal<'_>> {
    let quote_at = source.find(['"', '\''])?;
    let (prefix, rest) = source.split_at(quote_at);
    let has = |c: char| prefix.chars().any(|p| p.eq_ignore_ascii_case(&c));
    let quote = rest.chars().next()?;
    let triple: String = std::iter::repeat_n(quote, 3).collect();
    let text = if rest.len() >= 6 && rest.starts_with(&triple) {
        rest.strip_prefix(triple.as_str())?.strip_suffix(triple.as_str())?
    } else {
        rest.strip_prefix(quote)?.strip_suffix(quote)?
    };
    Some(Literal { raw: has('r'), format: has('f'), text })
}

/// Resolves backslash escapes; unknown ones stay as they are, as in Python.
pub fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some(next) = chars.next() else {
            out.push('\\');
            break;
        };
        match next {
            '\n' => {}
            '\r' => {
                if chars.peek() == Some(&'\n') {
                    chars.next();
                }
            }
            '\\' | '\'' | '"' => out.push(next),
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'a' => out.push('\u{7}'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'v' => out.push('\u{b}'),
            '0'..='7' => push_code(&mut out, &mut chars, Some(next), 2, 8, next),
            'x' => push_code(&mut out, &mut chars, None, 2, 16, next),
            'u' => push_code(&mut out, &mut chars, None, 4, 16, next),
            'U' => push_code(&mut out, &mut chars, None, 8, 16, next),
            other => {
                out.push('\\');
                out.push(other);
            }
        }
    }
    out
}

fn push_code(
    out: &mut String,
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    first: Option<char>,
    digits: usize,
    radix: u32,
    letter: char,
) {
    let mut text: String = first.into_iter().collect();
    for _ in 0..digits {
        match chars.peek() {
            Some(c) if c.is_digit(radix) => text.push(*c),
            _ => break,
        }
        chars.next();
    }
    match u32::from_str_radix(&text, radix).ok().and_then(char::from_u32) {
        Some(c) => out.push(c),
        None => {
            out.push('\\');
            out.push(letter);
            out.push_str(&text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_follow_python() {
        assert_eq!(unescape(r"a\n\x41\u00e9\101\q"), "a\nAéA\\q");
        assert_eq!(unescape("a\\\nb"), "ab");
    }

    #[test]
    fn prefixes_and_triple_quotes_are_split() {
        let literal = split_literal("Rb'''it's'''").unwrap();
        assert!(literal.raw && !literal.format);
        assert_eq!(literal.text, "it's");
        assert_eq!(split_literal("''").unwrap().text, "");
    }
}
