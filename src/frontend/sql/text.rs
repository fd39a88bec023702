//! Substitution of `${conf}` and the placeholders that stay.
//!
//! Spark replaces `${name}` in the statement's text before it parses it. A name without a known value becomes a placeholder,
//! `{name}`; so do `{name}` and `{{name}}` outside quotes, which templates and f-strings leave behind. A placeholder must
//! pass the tokenizer as (a part of) one identifier: its characters are moved into a private Unicode range, which the
//! dialect counts among identifier characters, and [`decode`] moves them back.

use std::collections::BTreeMap;

const PRIVATE: u32 = 0xE000;

/// A character of a placeholder, encoded as an identifier character.
pub(super) fn is_placeholder_char(c: char) -> bool {
    (PRIVATE..PRIVATE + 0x80).contains(&u32::from(c))
}

fn encode_char(c: char) -> char {
    if c.is_ascii() { char::from_u32(PRIVATE + u32::from(c)).unwrap_or('_') } else { c }
}

/// Text as the user means it: placeholders in plain characters, `{{x}}` and `${x}` as `{x}`.
pub(super) fn decode(text: &str) -> String {
    if !text.contains(is_placeholder_char) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match u32::from(c).checked_sub(PRIVATE).filter(|code| *code < 0x80).and_then(char::from_u32) {
            Some('$') => {}
            Some(brace @ ('{' | '}')) if out.ends_with(brace) => {}
            Some(plain) => out.push(plain),
            None => out.push(c),
        }
    }
    out
}

/// A stretch of a line whose length changed.
#[derive(Debug, Clone, Copy)]
struct Shift {
    line: u32,
    /// Columns in the new text, counted from 1.
    start: u32,
    new_length: u32,
    old_length: u32,
}

/// Text ready for the tokenizer.
#[derive(Debug)]
pub(super) struct Prepared {
    pub text: String,
    shifts: Vec<Shift>,
    /// `${name}`s without a value, with their positions in the original text.
    pub unknown: Vec<(String, (u32, u32))>,
}

impl Prepared {
    /// A position of `text` as a position of the original text.
    pub fn original(&self, line: u32, column: u32) -> (u32, u32) {
        let first = self.shifts.partition_point(|shift| shift.line < line);
        let mut grown: i64 = 0;
        for shift in self.shifts.iter().skip(first).take_while(|shift| shift.line == line && shift.start < column) {
            if column < shift.start + shift.new_length {
                let start = i64::from(shift.start) - grown;
                return (line, u32::try_from(start).unwrap_or(1));
            }
            grown += i64::from(shift.new_length) - i64::from(shift.old_length);
        }
        (line, u32::try_from(i64::from(column) - grown).unwrap_or(1))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Plain,
    /// Inside quotes of this kind; back quotes know no escapes.
    Quoted(char),
    LineComment,
    BlockComment(u32),
}

struct Scanner<'a> {
    rest: &'a str,
    out: String,
    line: u32,
    /// Column in `out`, and in the original.
    column: u32,
    original: u32,
    shifts: Vec<Shift>,
    unknown: Vec<(String, (u32, u32))>,
}

/// Replaces `${name}` by its value in `configuration`, and marks what stays unknown.
pub(super) fn prepare(text: &str, configuration: &BTreeMap<String, String>) -> Prepared {
    let mut scanner = Scanner {
        rest: text,
        out: String::with_capacity(text.len()),
        line: 1,
        column: 1,
        original: 1,
        shifts: Vec::new(),
        unknown: Vec::new(),
    };
    scanner.run(configuration);
    Prepared { text: scanner.out, shifts: scanner.shifts, unknown: scanner.unknown }
}

impl Scanner<'_> {
    fn run(&mut self, configuration: &BTreeMap<String, String>) {
        let mut state = State::Plain;
        while let Some(c) = self.rest.chars().next() {
            let commented = matches!(state, State::LineComment | State::BlockComment(_));
            if !commented && self.rest.starts_with("${") && self.variable(configuration, state) {
                continue;
            }
            if state == State::Plain && (c == '{' && self.braces() || self.raw_string()) {
                continue;
            }
            if state == State::Plain && c.is_ascii_digit() && self.name_of_digits() {
                continue;
            }
            state = self.step(c, state);
        }
    }

    /// `02_silver` is a name in Spark's grammar (`IDENTIFIER`) and is quoted for ours; `10L`, `1e6`, `2BD` are numbers.
    fn name_of_digits(&mut self) -> bool {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if self.out.chars().next_back().is_some_and(|c| is_word(c) || is_placeholder_char(c) || c == '`') {
            return false;
        }
        let length = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let word = self.rest.get(..length).unwrap_or_default();
        let letters = word.trim_start_matches(|c: char| c.is_ascii_digit());
        let exponent = letters.strip_prefix(['e', 'E']);
        let is_number = ["", "L", "S", "Y", "F", "D", "BD"].iter().any(|suffix| letters.eq_ignore_ascii_case(suffix))
            || exponent.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || "FDBfdb".contains(c)))
            || word.strip_prefix("0x").is_some();
        if is_number || self.rest.get(length..).is_some_and(|rest| rest.starts_with(['$', '{'])) {
            return false;
        }
        let quoted = format!("`{word}`");
        self.replace(length, length, &quoted);
        true
    }

    /// Copies one character (two after a backslash or at a comment's borders) and says what state follows.
    fn step(&mut self, c: char, state: State) -> State {
        let two = |text: &str| self.rest.starts_with(text);
        match state {
            State::Plain if two("--") => {
                self.copy(2);
                State::LineComment
            }
            State::Plain if two("/*") => {
                self.copy(2);
                State::BlockComment(1)
            }
            State::BlockComment(depth) if two("/*") => {
                self.copy(2);
                State::BlockComment(depth + 1)
            }
            State::BlockComment(depth) if two("*/") => {
                self.copy(2);
                if depth <= 1 { State::Plain } else { State::BlockComment(depth - 1) }
            }
            State::Quoted(quote) if c == '\\' && quote != '`' => {
                self.copy(2);
                state
            }
            _ => {
                self.copy(1);
                match state {
                    State::Plain if matches!(c, '\'' | '"' | '`') => State::Quoted(c),
                    State::Quoted(quote) if c == quote => State::Plain,
                    State::LineComment if c == '\n' => State::Plain,
                    other => other,
                }
            }
        }
    }

    fn copy(&mut self, count: usize) {
        for _ in 0..count {
            let Some(c) = self.rest.chars().next() else { return };
            self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
            self.out.push(c);
            if c == '\n' {
                self.line += 1;
                self.column = 1;
                self.original = 1;
            } else {
                self.column += 1;
                self.original += 1;
            }
        }
    }

    fn variable(&mut self, configuration: &BTreeMap<String, String>, state: State) -> bool {
        let Some(name) = braced(self.rest.get(1..).unwrap_or_default()) else { return false };
        let length = name.chars().count() + 3;
        let bytes = name.len() + 3;
        let key = name.trim().to_owned();
        // Spark's other spellings: ${spark:x}, ${hiveconf:x}.
        let plain = key.rsplit_once(':').map_or(key.as_str(), |(_, after)| after);
        let value = configuration.get(&key).or_else(|| configuration.get(plain));
        let replacement: String = match value {
            Some(value) => value.replace(['\n', '\r'], " "),
            None => {
                self.unknown.push((key.clone(), (self.line, self.original)));
                if state == State::Plain || state == State::Quoted('`') {
                    format!("${{{name}}}").chars().map(encode_char).collect()
                } else {
                    format!("{{{key}}}")
                }
            }
        };
        self.replace(bytes, length, &replacement);
        true
    }

    /// `r'\d'` is written as `'\\d'`, which the tokenizer knows.
    fn raw_string(&mut self) -> bool {
        let mut chars = self.rest.chars();
        let (Some('r' | 'R'), Some(quote @ ('\'' | '"'))) = (chars.next(), chars.next()) else { return false };
        let follows_word = self.out.chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
        let Some(length) = self.rest.get(2..).and_then(|body| body.find([quote, '\n'])) else { return false };
        let body = self.rest.get(2..2 + length).unwrap_or_default();
        if follows_word || self.rest.get(2 + length..).is_some_and(|rest| rest.starts_with('\n')) {
            return false;
        }
        let replacement = format!("{quote}{}{quote}", body.replace('\\', "\\\\"));
        self.replace(length + 3, body.chars().count() + 3, &replacement);
        true
    }

    fn braces(&mut self) -> bool {
        let double = self.rest.starts_with("{{");
        let inner = if double { self.rest.get(1..).unwrap_or_default() } else { self.rest };
        let Some(name) = braced(inner) else { return false };
        let extra = if double { 4 } else { 2 };
        if double && !self.rest.get(name.len() + 3..).is_some_and(|rest| rest.starts_with('}')) {
            return false;
        }
        let length = name.chars().count() + extra;
        let bytes = name.len() + extra;
        let replacement: String =
            self.rest.get(..bytes).unwrap_or_default().chars().filter(|c| *c != ' ').map(encode_char).collect();
        self.replace(bytes, length, &replacement);
        true
    }

    fn replace(&mut self, bytes: usize, old_length: usize, replacement: &str) {
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX / 4);
        let (old_length, new_length) = (narrow(old_length), narrow(replacement.chars().count()));
        if old_length != new_length {
            self.shifts.push(Shift { line: self.line, start: self.column, new_length, old_length });
        }
        self.out.push_str(replacement);
        self.rest = self.rest.get(bytes..).unwrap_or_default();
        self.column = self.column.saturating_add(new_length);
        self.original = self.original.saturating_add(old_length);
    }
}

/// What stands between `{` and `}` on one line, if it is not empty.
fn braced(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('{')?;
    let end = inner.find(['}', '\n', '{', ';'])?;
    let name = inner.get(..end)?;
    (inner.get(end..)?.starts_with('}') && !name.trim().is_empty() && name.len() <= 200).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration() -> BTreeMap<String, String> {
        BTreeMap::from([("cat".to_owned(), "production".to_owned())])
    }

    #[test]
    fn known_names_are_replaced_everywhere_but_in_comments() {
        let prepared = prepare("select '${cat}', ${cat}.t -- ${cat}\n/* ${cat} */ x", &configuration());
        assert_eq!(prepared.text, "select 'production', production.t -- ${cat}\n/* ${cat} */ x");
        assert!(prepared.unknown.is_empty());
    }

    #[test]
    fn positions_after_a_replacement_point_into_the_original() {
        let prepared = prepare("a ${cat} b ${cat} c", &configuration());
        assert_eq!(prepared.text, "a production b production c");
        assert_eq!(prepared.original(1, 3), (1, 3));
        assert_eq!(prepared.original(1, 8), (1, 3));
        assert_eq!(prepared.original(1, 14), (1, 10));
        assert_eq!(prepared.original(1, 27), (1, 19));
    }

    #[test]
    fn unknown_names_become_placeholders_of_one_identifier() {
        let prepared = prepare("t_${env.x}, {{db}}, '{raw} ${env.x}'", &BTreeMap::new());
        assert_eq!(decode(&prepared.text), "t_{env.x}, {db}, '{raw} {env.x}'");
        assert_eq!(prepared.unknown[0], ("env.x".to_owned(), (1, 3)));
    }
}
