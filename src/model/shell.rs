//! Words of a command line that is printed to be run as it is.

/// A word that a POSIX shell takes as it stands.
pub fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/,:@%+=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn names_that_a_shell_would_read_are_quoted() {
        assert_eq!(word("main.sales.orders,b"), "main.sales.orders,b");
        assert_eq!(word("a$(b)"), "'a$(b)'");
        assert_eq!(word("it's"), "'it'\\''s'");
        assert_eq!(word("HEAD~1"), "'HEAD~1'");
    }
}
