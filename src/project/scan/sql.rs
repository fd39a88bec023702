//! What the statements of a SQL text are, from their words alone: comments, strings and quoted names are no words.

/// What a SQL text does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SqlFacts {
    /// Defines a dataset or a flow of a pipeline.
    pub defines: bool,
    /// Writes, creates or changes a table.
    pub writes: bool,
}

/// Reads the words of a text in order.
pub(super) fn facts(text: &str) -> SqlFacts {
    let mut facts = SqlFacts::default();
    // Words since a `CREATE`, as long as they can stand before the kind of what is created.
    let mut creating: Option<Vec<String>> = None;
    let mut last = String::new();
    let mut before_last = String::new();
    for word in (Words { rest: text }) {
        let word = word.to_ascii_uppercase();
        if let Some(words) = &mut creating {
            match word.as_str() {
                "FLOW" => facts.defines = true,
                "TABLE" | "VIEW" => {
                    let has = |kind: &str| words.iter().any(|word| word == kind);
                    let table = word == "TABLE";
                    facts.defines |= has("LIVE") || (table && has("STREAMING")) || (!table && has("MATERIALIZED"));
                    facts.writes |= table;
                }
                _ => {}
            }
            words.push(word.clone());
            // `CREATE OR REFRESH PRIVATE INCREMENTAL STREAMING LIVE TABLE` is the longest head.
            if words.len() > 6 || matches!(word.as_str(), "TABLE" | "VIEW" | "FLOW") {
                creating = None;
            }
        }
        match (last.as_str(), word.as_str()) {
            (_, "CREATE") => creating = Some(Vec::new()),
            ("CHANGES", "INTO") => facts.defines |= before_last == "APPLY",
            ("CDC", "INTO") => facts.defines |= before_last == "AUTO",
            ("MERGE", "WITH" | "INTO")
            | ("INSERT", "INTO" | "OVERWRITE")
            | ("DELETE", "FROM")
            | ("REPLACE" | "ALTER" | "TRUNCATE" | "DROP", "TABLE")
            | ("COPY", "INTO") => facts.writes = true,
            ("UPDATE", target) => facts.writes |= target != "SET",
            _ => {}
        }
        before_last = std::mem::replace(&mut last, word);
    }
    facts
}

/// Runs of letters, digits and underscores outside comments, strings and quoted names.
struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    /// Past a comment that begins here. One that never ends is an error for the parser to report, and hides nothing.
    fn skip_comment(&mut self, end: &str) {
        let after = self.rest.split_once(end).map(|(_, after)| after);
        let opened = if end == "\n" { "" } else { self.rest.get(2..).unwrap_or_default() };
        self.rest = after.unwrap_or(opened);
    }

    /// Past a quoted text whose opening quote is gone; a backslash protects what follows it.
    fn skip_quoted(&mut self, quote: char) {
        let mut characters = self.rest.char_indices();
        while let Some((at, character)) = characters.next() {
            if character == '\\' && quote != '`' {
                characters.next();
            } else if character == quote {
                self.rest = self.rest.get(at + quote.len_utf8()..).unwrap_or_default();
                return;
            }
        }
        self.rest = "";
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        loop {
            let first = self.rest.chars().next()?;
            if is_word(first) {
                let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
                let (word, rest) = self.rest.split_at(end);
                self.rest = rest;
                return Some(word);
            }
            if self.rest.starts_with("--") {
                self.skip_comment("\n");
            } else if self.rest.starts_with("/*") {
                self.skip_comment("*/");
            } else {
                self.rest = self.rest.get(first.len_utf8()..).unwrap_or_default();
                if matches!(first, '\'' | '"' | '`') {
                    self.skip_quoted(first);
                }
            }
        }
    }
}
