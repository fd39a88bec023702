//! Queries, alone or behind a definition: readers, `LIVE.`, parameters and the names of tables.

use super::edits::{Porting, quoted};
use crate::frontend::sql::text::decode;
use crate::frontend::sql::tokens::{Lexeme, is_word, string_value};
use sqlparser::tokenizer::Token;

/// Functions whose arguments stand behind FROM.
const WITH_FROM: [&str; 5] = ["extract", "trim", "substring", "substr", "overlay"];

impl Porting<'_> {
    /// The rest of the statement: readers, `LIVE.` and the names of tables.
    pub(super) fn query(&mut self) -> Result<(), String> {
        while let Some(token) = self.cursor.peek() {
            let start = self.cursor.index();
            match token {
                Token::Placeholder(name) => {
                    let key = name.trim_start_matches([':', '$']);
                    let value =
                        self.context.parameter(key).ok_or_else(|| format!("the parameter {name} has no value"))?;
                    let text = format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"));
                    self.edit(start..start + 1, text);
                    self.cursor.advance();
                }
                Token::Word(word) if self.cursor.peek_at(1) == Some(&Token::LParen) && word.quote_style.is_none() => {
                    let function = word.value.to_lowercase();
                    self.cursor.advance();
                    self.reader(&function, start)?;
                }
                Token::Word(_) => self.name(start)?,
                _ => {
                    self.cursor.advance();
                }
            }
        }
        Ok(())
    }

    /// A table-valued function that reads; others stay.
    fn reader(&mut self, function: &str, start: usize) -> Result<(), String> {
        let topic = matches!(function, "read_kafka" | "read_kinesis" | "read_pubsub" | "read_pulsar");
        if function == "table_changes" {
            return Err("a change data feed needs Delta Lake".to_owned());
        }
        if !topic && !matches!(function, "read_files" | "cloud_files") {
            return Ok(());
        }
        let inner = self.cursor.take_parenthesized().unwrap_or_default();
        let table = if topic {
            let named = |word: &str| argument(inner, word);
            let topic = named("subscribe").or_else(|| named("topic")).or_else(|| named("streamname"));
            topic.and_then(|topic| self.by.topic(&topic)).ok_or("no rows are known for the topic")?
        } else {
            let path = inner.first().and_then(|lexeme| string_value(&lexeme.token)).map(|text| decode(text));
            let path = path.or_else(|| argument(inner, "path")).ok_or("the path of a reader is not a constant")?;
            let table = self.by.files(&path).ok_or_else(|| format!("no rows are known for the path {path}"))?;
            self.note(format!("{function}('{path}')"), format!("the table {table}"));
            table
        };
        // `cloud_files` is a stream without being called one.
        let streaming = function == "cloud_files" && !self.is_streamed(start);
        let text = if streaming { format!("STREAM({})", quoted(&table)) } else { quoted(&table) };
        self.edit(start..self.cursor.index(), text);
        Ok(())
    }

    pub(super) fn is_streamed(&self, at: usize) -> bool {
        let before = |back: usize| at.checked_sub(back).and_then(|at| self.lexemes.get(at)).map(|lexeme| &lexeme.token);
        before(1).is_some_and(|token| is_word(token, "stream"))
            || before(1) == Some(&Token::LParen) && before(2).is_some_and(|token| is_word(token, "stream"))
    }

    /// A dotted name: `LIVE.` goes, and a table's name is replaced, also where it qualifies a column.
    pub(super) fn name(&mut self, start: usize) -> Result<(), String> {
        let Some(mut parts) = self.cursor.take_name() else {
            self.cursor.advance();
            return Ok(());
        };
        let mut first = start;
        if parts.len() > 1 && parts.first().is_some_and(|part| part.eq_ignore_ascii_case("live")) {
            parts.remove(0);
            first += 2;
            self.edit(start..first, "");
            self.note("LIVE.", "nothing");
        }
        if let [format, path] = parts.as_slice()
            && path.contains('/')
        {
            if let Some(table) = self.by.files(path) {
                self.edit(first..self.cursor.index(), quoted(&table));
                self.note(format!("{format}.`{path}`"), format!("the table {table}"));
            }
            return Ok(());
        }
        let shortest = if self.is_relation(start) { 1 } else { 2 };
        for length in (shortest..=parts.len().min(3)).rev() {
            let Some(name) = parts.get(..length) else { continue };
            let Some(table) = self.by.table(name).filter(|table| length > 1 || *table != parts.concat()) else {
                continue;
            };
            self.edit(first..first + length * 2 - 1, quoted(&table));
            if length > 1 || name.concat() != table {
                self.note(name.join("."), format!("the table {table}"));
            }
            return Ok(());
        }
        // The user's own tables are not read, wherever the server could find them.
        if parts.len() > 1 && self.is_relation(start) && !self.is_operand(start) {
            return Err(format!("no rows are known for the table {}", parts.join(".")));
        }
        Ok(())
    }

    /// Whether the FROM before a place belongs to an expression: `a IS DISTINCT FROM b`, `extract(day FROM b)`.
    fn is_operand(&self, at: usize) -> bool {
        let token = |at: usize| self.lexemes.get(at).map(|lexeme| &lexeme.token);
        let is_distinct = at >= 2 && token(at - 2).is_some_and(|token| is_word(token, "distinct"));
        let mut depth = 0usize;
        let open = (0..at).rev().find(|at| match token(*at) {
            Some(Token::RParen) => {
                depth += 1;
                false
            }
            Some(Token::LParen) if depth > 0 => {
                depth -= 1;
                false
            }
            other => other == Some(&Token::LParen),
        });
        let called = open.and_then(|open| token(open.checked_sub(1)?));
        is_distinct || called.is_some_and(|token| WITH_FROM.iter().any(|word| is_word(token, word)))
    }

    /// True where a relation's name stands.
    fn is_relation(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|at| self.lexemes.get(at)).map(|lexeme| &lexeme.token);
        before.is_some_and(|token| ["from", "join", "stream", "into"].iter().any(|word| is_word(token, word)))
            || self.is_streamed(at)
    }
}

/// The text of `word => 'text'`.
fn argument(inner: &[Lexeme], word: &str) -> Option<String> {
    let at = inner.iter().position(|lexeme| is_word(&lexeme.token, word))?;
    string_value(&inner.get(at + 2)?.token).map(|text| decode(text))
}
