//! Symbols in texts: names, paths and options of which a part is known only at run time hold it as `{identity}`.
//!
//! The identity is the whole of what the code says: equal identities are equal values in both revisions, and of different ones
//! nothing is known. Braces of a path's alternatives (`{2023,2024}`) are no symbol.

/// A part of a text: a letter, or a symbol as a whole.
#[derive(PartialEq, Eq)]
enum Part<'a> {
    Letter(char),
    Symbol(&'a str),
}

/// Some part of the text is a symbol.
pub fn holds_symbol(text: &str) -> bool {
    parts(text).iter().any(|part| matches!(part, Part::Symbol(_)))
}

/// Two texts differ, and where they do a symbol stands: whether they are equal at run time cannot be told.
pub fn differ_by_symbol(before: &str, after: &str) -> bool {
    let (before, after) = (parts(before), parts(after));
    let same = |(a, b): &(&Part<'_>, &Part<'_>)| match (a, b) {
        (Part::Letter(a), Part::Letter(b)) => a.eq_ignore_ascii_case(b),
        (a, b) => a == b,
    };
    let head = before.iter().zip(&after).take_while(same).count();
    let (before, after) = (before.get(head..).unwrap_or_default(), after.get(head..).unwrap_or_default());
    let tail = before.iter().rev().zip(after.iter().rev()).take_while(same).count();
    let middles = [before.get(..before.len() - tail), after.get(..after.len() - tail)];
    middles.into_iter().flatten().flatten().any(|part| matches!(part, Part::Symbol(_)))
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match symbol_at(rest) {
            Some(symbol) => {
                parts.push(Part::Symbol(symbol));
                rest = rest.get(symbol.len()..).unwrap_or_default();
            }
            None => {
                parts.push(Part::Letter(first));
                rest = rest.get(first.len_utf8()..).unwrap_or_default();
            }
        }
    }
    parts
}

/// The symbol, with its braces, that a text begins with.
fn symbol_at(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('{')?;
    let end = inner.find(['{', '}']).filter(|end| *end > 0 && inner.get(*end..).is_some_and(|r| r.starts_with('}')))?;
    let (mut depth, mut quoted) = (0i32, false);
    for letter in inner.get(..end)?.chars() {
        match letter {
            '\'' => quoted = !quoted,
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 && !quoted => return None,
            _ => {}
        }
    }
    text.get(..end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_hold_symbols_and_not_alternatives() {
        for text in ["{catalog}.s.t", "/mnt/{lib.days('eu', 7)}/x", "{a}"] {
            assert!(holds_symbol(text), "{text}");
        }
        for text in ["/data/{2023,2024}/x", "plain", "{}", "{open", "a}"] {
            assert!(!holds_symbol(text), "{text}");
        }
    }

    #[test]
    fn a_difference_between_letters_alone_is_certain() {
        assert!(!differ_by_symbol("{c}.bronze", "{c}.silver"));
        assert!(!differ_by_symbol("{c}.x", "{c}.X"));
        assert!(!differ_by_symbol("a", "b"));
        assert!(differ_by_symbol("{c}.x", "main.x"));
        assert!(differ_by_symbol("{pkg.A}", "{pkg.B}"));
        assert!(differ_by_symbol("id", "id, {k}"));
    }
}
