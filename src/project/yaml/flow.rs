//! The flow style of YAML, which is that of JSON: `{a: [b, c]}`, character by character.

use super::places::{MAX_DEPTH, Scanner, Step};
use super::scalars::quoted_text;

/// A flow collection being read.
pub(super) struct Flow {
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
    /// A collection at the path `base`.
    pub(super) fn new(base: Vec<Step>) -> Self {
        Flow { base, open: Vec::new(), token: None }
    }

    /// How many of the next characters stand inside quotes and say nothing.
    pub(super) fn take_skip(&mut self) -> usize {
        self.token.as_mut().map_or(0, |token| std::mem::take(&mut token.skip))
    }

    fn path(&self) -> Vec<Step> {
        self.base.iter().chain(&self.open).cloned().collect()
    }

    /// Takes one character; true when the collection is closed. `rest` begins with the character.
    pub(super) fn step(
        &mut self,
        scanner: &mut Scanner<'_>,
        c: char,
        next: char,
        place: (usize, usize),
        rest: &str,
    ) -> bool {
        if scanner.is_exhausted() {
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
