//! A command line as a POSIX shell splits it: words, quotes, `&&` and `||`, which is all that is printed.

/// The commands of a line, each as its words.
pub fn commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (Some('\''), letter) => word.get_or_insert_default().push(letter),
            (_, '\\') => word.get_or_insert_default().extend(letters.next()),
            (Some(_), letter) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(letter);
            }
            (None, ' ') => commands.last_mut().expect("a command").extend(word.take()),
            (None, letter) => word.get_or_insert_default().push(letter),
        }
    }
    assert!(quote.is_none(), "an open quote in {line}");
    commands.last_mut().expect("a command").extend(word.take());
    let words: Vec<String> = commands.remove(0);
    words
        .split(|word| matches!(word.as_str(), "&&" | "||" | "|"))
        .map(<[String]>::to_vec)
        .filter(|words| !words.is_empty())
        .collect()
}

fn words_are_split_as_a_shell_does() {
    let words = commands(r#"cd a && git 'it'\''s' "b c" --json '{"x":["y"]}'"#);
    assert_eq!(words, [vec!["cd", "a"], vec!["git", "it's", "b c", "--json", r#"{"x":["y"]}"#]]);
}

crate::tests![words_are_split_as_a_shell_does];
