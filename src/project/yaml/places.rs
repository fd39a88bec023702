//! Where the keys and items of a YAML (or JSON) text stand.
//!
//! A line scanner for the block style, and a character scanner for flow collections. It is only asked about texts that parse; what
//! it does not understand gets the place of the enclosing value.

use super::flow::Flow;
use super::scalars::{ends_open, indent, key_end, trailing};
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
pub(super) const MAX_DEPTH: usize = 128;
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

pub(super) struct Scanner<'a> {
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
        self.close(|level| level.column <= column);
        match self.levels.last_mut() {
            Some(Level { column: at, step: Step::Index(index) }) if *at == column => *index += 1,
            _ => self.levels.push(Level { column, step: Step::Index(0) }),
        }
    }

    fn open_key(&mut self, column: usize, key: String) {
        let stays =
            |level: &Level| level.column < column || (level.column == column && matches!(level.step, Step::Key(_)));
        self.close(stays);
        match self.levels.last_mut() {
            Some(level) if level.column == column => level.step = Step::Key(key),
            _ => self.levels.push(Level { column, step: Step::Key(key) }),
        }
    }

    /// Closes collections from the innermost on, up to one that stays.
    fn close(&mut self, stays: impl Fn(&Level) -> bool) {
        while self.levels.last().is_some_and(|level| !stays(level)) {
            self.levels.pop();
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

    pub(super) fn insert(&mut self, steps: Vec<Step>, line: usize, column: usize, width: usize) {
        self.steps_left = self.steps_left.saturating_sub(steps.len());
        if self.is_exhausted() {
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

    /// No more places are noted.
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps_left == 0
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
        let mut flow = Flow::new(self.steps());
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
                // Characters inside quotes are passed over at once.
                for _ in 0..flow.take_skip() {
                    if chars.next().is_some() {
                        column += 1;
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
