//! Where the keys and items of a YAML (or JSON) text stand.
//!
//! A line scanner for the block style, and a character scanner for flow collections. It is only asked about texts that parse; what
//! it does not understand gets the place of the enclosing value.

use crate::model::Span;
use std::collections::HashMap;
use std::sync::Arc;

/// One step down a document.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// Spans by path from the root.
pub(super) struct Places {
    found: HashMap<Vec<Step>, Arc<Span>>,
    start: Arc<Span>,
}

/// Paths deeper than this get the place of their ancestor; the parser refuses such documents anyway.
const MAX_DEPTH: usize = 128;
/// Steps of all paths together; what comes after that many gets the place of an ancestor.
const MAX_STEPS: usize = 2_000_000;

impl Places {
    pub(super) fn scan(text: &str, path: &Arc<str>) -> Places {
        let mut scanner = Scanner {
            lines: text.lines().collect(),
            line: 0,
            levels: Vec::new(),
            path: Arc::clone(path),
            found: HashMap::new(),
            steps_left: MAX_STEPS,
        };
        scanner.run();
        Places { found: scanner.found, start: Arc::new(Span::start_of(Arc::clone(path))) }
    }

    /// The place of a path, or of the nearest ancestor that has one.
    pub(super) fn nearest(&self, path: &[Step]) -> Arc<Span> {
        let place = (1..=path.len()).rev().find_map(|length| self.found.get(path.get(..length)?));
        Arc::clone(place.unwrap_or(&self.start))
    }
}

/// An open collection of the block style: its column in bytes, and which of its children is being read.
struct Level {
    column: usize,
    step: Step,
}

struct Scanner<'a> {
    lines: Vec<&'a str>,
    line: usize,
    levels: Vec<Level>,
    path: Arc<str>,
    found: HashMap<Vec<Step>, Arc<Span>>,
    steps_left: usize,
}

impl<'a> Scanner<'a> {
    fn run(&mut self) {
        while let Some(line) = self.lines.get(self.line).copied() {
            self.line += 1;
            let column = indent(line);
            let content = line.get(column..).unwrap_or_default();
            if content.starts_with("---") && column == 0 {
                self.levels.clear();
            } else if !content.is_empty() && !content.starts_with(['#', '%']) {
                self.block(line, column);
            }
        }
    }

    /// One line of the block style, from `column` on: dashes, then a key, then its value.
    fn block(&mut self, line: &'a str, mut column: usize) {
        loop {
            let rest = line.get(column..).unwrap_or_default();
            if self.levels.len() >= MAX_DEPTH {
                return;
            }
            if rest != "-" && !rest.starts_with("- ") {
                break;
            }
            self.open_item(column);
            let spaces = rest.get(1..).map_or(0, indent);
            let inner = column + 1 + spaces;
            let item = line.get(inner..).unwrap_or_default();
            self.record(line, inner, line.len() - trailing(item));
            if item.is_empty() || item.starts_with('#') {
                return;
            }
            if key_end(item).is_none() && !item.starts_with('-') {
                self.value(line, inner, column);
                return;
            }
            column = inner;
        }
        let rest = line.get(column..).unwrap_or_default();
        match key_end(rest) {
            Some((key, length)) => {
                self.open_key(column, key);
                self.record(line, column, line.len() - trailing(rest));
                let value = column + length;
                let spaces = line.get(value..).map_or(0, indent);
                self.value(line, value + spaces, column);
            }
            None => self.value(line, column, column),
        }
    }

    fn open_item(&mut self, column: usize) {
        self.levels.retain_prefix(|level| level.column <= column);
        match self.levels.last_mut() {
            Some(Level { column: at, step: Step::Index(index) }) if *at == column => *index += 1,
            _ => self.levels.push(Level { column, step: Step::Index(0) }),
        }
    }

    fn open_key(&mut self, column: usize, key: String) {
        let stays =
            |level: &Level| level.column < column || (level.column == column && matches!(level.step, Step::Key(_)));
        self.levels.retain_prefix(stays);
        match self.levels.last_mut() {
            Some(level) if level.column == column => level.step = Step::Key(key),
            _ => self.levels.push(Level { column, step: Step::Key(key) }),
        }
    }

    fn steps(&self) -> Vec<Step> {
        self.levels.iter().map(|level| level.step.clone()).collect()
    }

    /// Notes the current path at bytes `start..end` of the line just taken.
    fn record(&mut self, line: &str, start: usize, end: usize) {
        let column = line.get(..start).unwrap_or_default().chars().count();
        let width = line.get(start..end).unwrap_or_default().chars().count();
        let steps = self.steps();
        self.insert(steps, self.line, column, width);
    }

    fn insert(&mut self, steps: Vec<Step>, line: usize, column: usize, width: usize) {
        self.steps_left = self.steps_left.saturating_sub(steps.len());
        if self.steps_left == 0 {
            self.line = self.lines.len();
            return;
        }
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        let span = Span {
            path: Arc::clone(&self.path),
            line: number(line),
            column: number(column + 1),
            end_line: number(line),
            end_column: number(column + 1 + width.max(1)),
            cell: None,
        };
        self.found.entry(steps).or_insert_with(|| Arc::new(span));
    }

    /// A value that begins at `start`; `column` is that of its key or dash. Passes over lines that belong to it.
    fn value(&mut self, line: &'a str, start: usize, column: usize) {
        let mut start = start;
        let mut value = line.get(start..).unwrap_or_default();
        while value.starts_with(['&', '!']) {
            let word = value.find(' ').unwrap_or(value.len());
            let spaces = value.get(word..).map_or(0, indent);
            start += word + spaces;
            value = line.get(start..).unwrap_or_default();
        }
        match value.chars().next() {
            None | Some('#') => {}
            Some('{' | '[') => self.flow(line, start),
            Some(quote @ ('"' | '\'')) => self.quoted(value, quote),
            Some(_) => self.skip_deeper(column),
        }
    }

    /// Passes over the lines of a block scalar or a plain scalar of several lines.
    fn skip_deeper(&mut self, column: usize) {
        while let Some(next) = self.lines.get(self.line) {
            if !next.trim().is_empty() && indent(next) <= column {
                break;
            }
            self.line += 1;
        }
    }

    fn quoted(&mut self, value: &str, quote: char) {
        let mut open = ends_open(value.get(1..).unwrap_or_default(), quote);
        while open {
            let Some(next) = self.lines.get(self.line) else { return };
            self.line += 1;
            open = ends_open(next, quote);
        }
    }

    /// A flow collection, over as many lines as it takes.
    fn flow(&mut self, first: &'a str, start: usize) {
        let mut flow = Flow { base: self.steps(), open: Vec::new(), token: None };
        let mut line = first;
        let mut from = start;
        let mut column = first.get(..start).unwrap_or_default().chars().count();
        loop {
            let text = line.get(from..).unwrap_or_default();
            let mut previous = ' ';
            let mut chars = text.char_indices().peekable();
            while let Some((at, c)) = chars.next() {
                if c == '#' && previous.is_whitespace() {
                    break;
                }
                let next = chars.peek().map_or(' ', |(_, next)| *next);
                if flow.step(self, c, next, (self.line, column), text.get(at..).unwrap_or_default()) {
                    return;
                }
                if let Some(Token { quote: Some(_), skip, .. }) = &mut flow.token {
                    // Characters inside quotes are passed over at once.
                    for _ in 0..std::mem::take(skip) {
                        if chars.next().is_some() {
                            column += 1;
                        }
                    }
                }
                previous = c;
                column += 1;
            }
            let Some(next) = self.lines.get(self.line).copied() else { return };
            self.line += 1;
            (line, from, column) = (next, 0, 0);
        }
    }
}

/// A flow collection being read.
struct Flow {
    base: Vec<Step>,
    open: Vec<Step>,
    token: Option<Token>,
}

/// A scalar being read: its text, and where it begins.
struct Token {
    text: String,
    place: (usize, usize),
    quote: Option<char>,
    /// Characters of a quoted text still to pass over.
    skip: usize,
}

impl Flow {
    fn path(&self) -> Vec<Step> {
        self.base.iter().chain(&self.open).cloned().collect()
    }

    /// Takes one character; true when the collection is closed. `rest` begins with the character.
    fn step(&mut self, scanner: &mut Scanner<'_>, c: char, next: char, place: (usize, usize), rest: &str) -> bool {
        if scanner.steps_left == 0 {
            return true;
        }
        let quoted = self.token.as_ref().is_some_and(|token| token.quote.is_some());
        match c {
            '{' | '[' if self.base.len() + self.open.len() < MAX_DEPTH => {
                self.note_item(scanner, place);
                self.open.push(if c == '{' { Step::Key(String::new()) } else { Step::Index(0) });
                self.token = None;
            }
            '}' | ']' => {
                self.token = None;
                self.open.pop();
                return self.open.is_empty();
            }
            ',' => {
                self.token = None;
                match self.open.last_mut() {
                    Some(Step::Index(index)) => *index += 1,
                    Some(Step::Key(key)) => key.clear(),
                    None => return true,
                }
            }
            ':' if quoted || matches!(next, ' ' | ',' | '}' | ']' | '{' | '[') => self.take_key(scanner),
            '"' | '\'' if self.token.is_none() => {
                let (text, skip) = quoted_text(rest, c);
                self.note_item(scanner, place);
                self.token = Some(Token { text, place, quote: Some(c), skip });
            }
            c if c.is_whitespace() => {}
            c => match &mut self.token {
                Some(token) => token.text.push(c),
                None => {
                    self.note_item(scanner, place);
                    self.token = Some(Token { text: c.to_string(), place, quote: None, skip: 0 });
                }
            },
        }
        false
    }

    /// The first character of an item of a sequence.
    fn note_item(&self, scanner: &mut Scanner<'_>, (line, column): (usize, usize)) {
        if let Some(Step::Index(_)) = self.open.last() {
            scanner.insert(self.path(), line, column, 1);
        }
    }

    fn take_key(&mut self, scanner: &mut Scanner<'_>) {
        let Some(token) = self.token.take() else { return };
        if let Some(Step::Key(key)) = self.open.last_mut() {
            let width = token.text.chars().count() + if token.quote.is_some() { 2 } else { 0 };
            *key = token.text;
            let (line, column) = token.place;
            scanner.insert(self.path(), line, column, width);
        }
    }
}

/// The text of a quoted scalar that begins `rest`, and how many characters follow its first quote up to and with its last.
fn quoted_text(rest: &str, quote: char) -> (String, usize) {
    let mut text = String::new();
    let mut count = 0;
    let mut chars = rest.chars().skip(1).peekable();
    while let Some(c) = chars.next() {
        count += 1;
        if c == '\\' && quote == '"' {
            if let Some(escaped) = chars.next() {
                count += 1;
                text.push(escaped);
            }
        } else if c == quote {
            if quote == '\'' && chars.peek() == Some(&quote) {
                chars.next();
                count += 1;
                text.push(quote);
            } else {
                break;
            }
        } else {
            text.push(c);
        }
    }
    (text, count)
}

/// True where a quoted scalar is not closed by the end of the line.
fn ends_open(text: &str, quote: char) -> bool {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\\' && quote == '"' {
            chars.next();
        } else if c == quote {
            if quote == '\'' && chars.peek() == Some(&quote) {
                chars.next();
            } else {
                return false;
            }
        }
    }
    true
}

/// Leading blanks, in bytes.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Bytes at the end of a line that say nothing: blanks and a comment.
fn trailing(text: &str) -> usize {
    let mut quote = None;
    let mut previous = ' ';
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') if previous.is_whitespace() => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, '#') if previous.is_whitespace() => {
                end = at;
                break;
            }
            _ => {}
        }
        previous = c;
    }
    text.len() - text.get(..end).unwrap_or(text).trim_end().len()
}

/// A key at the start of the text: its name, and its length with the colon.
fn key_end(text: &str) -> Option<(String, usize)> {
    let first = text.chars().next()?;
    if matches!(first, '"' | '\'') {
        let (name, count) = quoted_text(text, first);
        let length: usize = text.chars().take(count + 1).map(char::len_utf8).sum();
        let colon = length + text.get(length..).map_or(0, indent);
        let after = text.get(colon..)?.strip_prefix(':')?;
        return (after.is_empty() || after.starts_with(' ')).then_some((name, colon + 1));
    }
    if matches!(first, '{' | '[' | '#' | '|' | '>' | '&' | '*' | '!' | '?') {
        return None;
    }
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        if c == '#' && previous == ' ' {
            return None;
        }
        if c == ':' && text.get(at + 1..).is_some_and(|after| after.is_empty() || after.starts_with(' ')) {
            return Some((text.get(..at)?.trim_end().to_owned(), at + 1));
        }
        previous = c;
    }
    None
}

trait RetainPrefix<T> {
    /// Drops everything from the end that does not stay.
    fn retain_prefix(&mut self, stays: impl Fn(&T) -> bool);
}

impl<T> RetainPrefix<T> for Vec<T> {
    fn retain_prefix(&mut self, stays: impl Fn(&T) -> bool) {
        while self.last().is_some_and(|last| !stays(last)) {
            self.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `line:column-end_column` of a path written as `a.b.0`.
    fn place(text: &str, path: &str) -> String {
        let places = Places::scan(text, &"a.yml".into());
        let steps: Vec<_> =
            path.split('.').map(|s| s.parse().map_or_else(|_| Step::Key(s.to_owned()), Step::Index)).collect();
        let span = places.nearest(&steps);
        format!("{}:{}-{}", span.line, span.column, span.end_column)
    }

    #[test]
    fn block_mappings_and_sequences() {
        let text =
            "a:\n  b: 1   # note\n  list:\n  - x: 1\n    y: 2\n  - z\n  after: 3\nc:\n- - p\n  - q\n\"d e\": 4\n";
        assert_eq!(place(text, "a"), "1:1-3");
        assert_eq!(place(text, "a.b"), "2:3-7");
        assert_eq!(place(text, "a.list.0"), "4:5-9");
        assert_eq!(place(text, "a.list.0.y"), "5:5-9");
        assert_eq!(place(text, "a.list.1"), "6:5-6");
        assert_eq!(place(text, "a.after"), "7:3-11");
        assert_eq!(place(text, "c.0.1"), "10:5-6");
        assert_eq!(place(text, "d e"), "11:1-9");
        assert_eq!(place(text, "a.nothing"), "1:1-3", "the nearest ancestor");
    }

    #[test]
    fn scalars_over_several_lines_hide_what_looks_like_keys() {
        let text =
            "a: |\n  b: no\n\n  c: no\nd: \"x\n  e: no\"\nf: plain\n  g no\nh: it's\ni: 'a '' b'\n- ignored\nj: 1\n";
        assert_eq!(place(text, "d"), "5:1-6");
        assert_eq!(place(text, "f"), "7:1-9");
        assert_eq!(place(text, "h"), "9:1-8");
        assert_eq!(place(text, "i"), "10:1-12");
        assert_eq!(place(text, "j"), "12:1-5");
        assert_eq!(place(text, "a.b"), "1:1-5");
        let text = "x:\n  - |\n    k: no\n  - b\n";
        assert_eq!(place(text, "x.1"), "4:5-6");
    }

    #[test]
    fn flow_collections_and_json() {
        let text = "a: {b: 1, \"c\": [x, {d: 2}], u: http://h:1/p}\ne: [\n  1, # one\n  2\n]\nf: 3\n";
        assert_eq!(place(text, "a.b"), "1:5-6");
        assert_eq!(place(text, "a.c"), "1:11-14");
        assert_eq!(place(text, "a.c.1.d"), "1:21-22");
        assert_eq!(place(text, "a.u"), "1:29-30");
        assert_eq!(place(text, "e.1"), "4:3-4");
        assert_eq!(place(text, "f"), "6:1-5");
        let json = "{\n  \"name\":\"p\",\n  \"l\": [ {\"file\": {\"path\": \"a,]\\\"b\"}} ],\n  \"z\": 1\n}\n";
        assert_eq!(place(json, "name"), "2:3-9");
        assert_eq!(place(json, "l.0.file.path"), "3:20-26");
        assert_eq!(place(json, "z"), "4:3-6");
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(place("ä:\n  ö: {é: 1, b: 2}\n", "ä.ö.b"), "2:13-14");
    }

    #[test]
    fn odd_texts_do_not_disturb() {
        for text in [
            "- - - -",
            "{",
            "[[[[",
            "a: {",
            "'",
            "\"a",
            "? x\n: y",
            "&a",
            "- &a",
            "a: !t {b: 1}",
            "\t- x",
            "a:\n\tb: 1",
            ":",
        ] {
            Places::scan(text, &"a.yml".into());
        }
        assert_eq!(place("a: &x {b: 1}", "a.b"), "1:8-9");
    }
}
