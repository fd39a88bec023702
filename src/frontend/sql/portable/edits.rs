//! One statement with the edits that it gets: ranges of bytes, and what stands there instead.

use super::Replacements;
use crate::frontend::sql::Context;
use crate::frontend::sql::cursor::Cursor;
use crate::frontend::sql::text::decode;
use crate::frontend::sql::tokens::{Lexed, Lexeme};
use sqlparser::tokenizer::Token;
use std::ops::Range;

pub(super) struct Porting<'a> {
    pub(super) cursor: Cursor<'a>,
    pub(super) lexemes: &'a [Lexeme],
    pub(super) context: &'a Context<'a>,
    pub(super) by: &'a dyn Replacements,
    pub(super) edits: Vec<(Range<usize>, String)>,
    pub(super) replaced: Vec<(String, String)>,
    /// What rows must hold to go into the target.
    pub(super) expected: Result<Option<String>, String>,
}

impl<'a> Porting<'a> {
    pub(super) fn new(
        lexed: &'a Lexed,
        lexemes: &'a [Lexeme],
        context: &'a Context<'a>,
        by: &'a dyn Replacements,
    ) -> Self {
        let cursor = Cursor::new(lexed, lexemes);
        Porting { cursor, lexemes, context, by, edits: Vec::new(), replaced: Vec::new(), expected: Ok(None) }
    }

    /// The first words of a statement.
    pub(super) fn command(&self) -> String {
        let words = self.lexemes.iter().map_while(|lexeme| match &lexeme.token {
            Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_uppercase()),
            _ => None,
        });
        words.take(2).collect::<Vec<_>>().join(" ")
    }

    /// The bytes of tokens that stand one after the other.
    pub(super) fn bytes(&self, range: Range<usize>) -> Range<usize> {
        let tokens = self.lexemes.get(range).unwrap_or_default();
        match (tokens.first(), tokens.last()) {
            (Some(first), Some(last)) => first.bytes.start..last.bytes.end,
            _ => 0..0,
        }
    }

    pub(super) fn edit(&mut self, tokens: Range<usize>, text: impl Into<String>) {
        let bytes = self.bytes(tokens);
        if bytes.end > bytes.start {
            self.edits.push((bytes, text.into()));
        }
    }

    /// Puts a text in front of the next token, or at the end.
    pub(super) fn insert(&mut self, text: impl Into<String>) {
        let at = match self.cursor.lexeme() {
            Some(next) => next.bytes.start,
            None => self.bytes(0..self.lexemes.len()).end,
        };
        self.edits.push((at..at, text.into()));
    }

    /// An edit of what is not a name: Spark's own SQL says what it means.
    pub(super) fn rewrite(&mut self, tokens: Range<usize>, text: impl Into<String>) {
        if self.by.is_lakeflow() {
            self.edit(tokens, text);
        }
    }

    pub(super) fn note(&mut self, what: impl Into<String>, by: impl Into<String>) {
        let entry = (what.into(), by.into());
        if self.by.is_lakeflow() && !self.replaced.contains(&entry) {
            self.replaced.push(entry);
        }
    }

    /// The statement's text with all edits; where two overlap, the one that starts first counts.
    pub(super) fn written(&mut self) -> String {
        let whole = self.bytes(0..self.lexemes.len());
        self.edits.sort_by_key(|(range, _)| (range.start, range.end));
        let mut text = String::new();
        let mut at = whole.start;
        for (range, replacement) in &self.edits {
            if range.start < at {
                continue;
            }
            text.push_str(self.cursor.lexed.text.get(at..range.start).unwrap_or_default());
            text.push_str(replacement);
            at = range.end;
        }
        text.push_str(self.cursor.lexed.text.get(at..whole.end).unwrap_or_default());
        decode(&text)
    }
}

/// A name as SQL takes it, in backticks where it needs them.
pub(super) fn quoted(name: &str) -> String {
    let plain =
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_ascii_digit());
    if plain { name.to_owned() } else { format!("`{}`", name.replace('`', "``")) }
}
