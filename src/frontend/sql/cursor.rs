//! Reads tokens from left to right: what the statement layer and the type parser stand on.

use super::text::decode;
use super::tokens::{Lexed, Lexeme, is_word, string_value};
use sqlparser::tokenizer::Token;

/// Reads a statement's tokens from left to right.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    pub lexed: &'a Lexed,
    lexemes: &'a [Lexeme],
    index: usize,
    /// One half of a `>>` or a `<>` was taken.
    half: bool,
}

impl<'a> Cursor<'a> {
    pub fn new(lexed: &'a Lexed, lexemes: &'a [Lexeme]) -> Self {
        Cursor { lexed, lexemes, index: 0, half: false }
    }

    pub fn peek(&self) -> Option<&'a Token> {
        self.lexemes.get(self.index).map(|lexeme| &lexeme.token)
    }

    pub fn peek_at(&self, offset: usize) -> Option<&'a Token> {
        self.lexemes.get(self.index + offset).map(|lexeme| &lexeme.token)
    }

    pub fn lexeme(&self) -> Option<&'a Lexeme> {
        self.lexemes.get(self.index)
    }

    pub fn advance(&mut self) -> Option<&'a Lexeme> {
        let lexeme = self.lexemes.get(self.index);
        self.index = (self.index + 1).min(self.lexemes.len());
        lexeme
    }

    pub fn at_end(&self) -> bool {
        self.index >= self.lexemes.len()
    }

    pub fn index(&self) -> usize {
        self.index
    }

    /// The tokens not yet read.
    pub fn rest(&self) -> &'a [Lexeme] {
        self.lexemes.get(self.index..).unwrap_or_default()
    }

    pub fn skip_to_end(&mut self) {
        self.index = self.lexemes.len();
    }

    /// The tokens from `start` to here.
    pub fn since(&self, start: usize) -> &'a [Lexeme] {
        self.lexemes.get(start..self.index).unwrap_or_default()
    }

    /// True where these unquoted words come next, in any letter case.
    pub fn at_words(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(offset, word)| self.peek_at(offset).is_some_and(|token| is_word(token, word)))
    }

    /// Takes these words if they come next.
    pub fn take_words(&mut self, words: &[&str]) -> bool {
        let found = self.at_words(words);
        if found {
            self.index += words.len();
        }
        found
    }

    pub fn take_word(&mut self, word: &str) -> bool {
        self.take_words(&[word])
    }

    pub fn take(&mut self, token: &Token) -> bool {
        let found = self.peek() == Some(token);
        if found {
            self.index += 1;
        }
        found
    }

    /// Takes one opening angle bracket; `<>` counts as an opening and a closing one.
    pub fn take_open_angle(&mut self) -> bool {
        if !self.half && self.peek() == Some(&Token::Neq) {
            self.half = true;
            return true;
        }
        self.take(&Token::Lt)
    }

    /// Takes one closing angle bracket; `>>` counts as two.
    pub fn take_close_angle(&mut self) -> bool {
        match (self.peek(), self.half) {
            (Some(Token::Gt), _) => self.index += 1,
            (Some(Token::ShiftRight), false) => self.half = true,
            (Some(Token::ShiftRight | Token::Neq), true) => {
                self.index += 1;
                self.half = false;
            }
            _ => return false,
        }
        true
    }

    /// Takes `( … )` with everything between, and gives what stands inside.
    pub fn take_parenthesized(&mut self) -> Option<&'a [Lexeme]> {
        if self.peek() != Some(&Token::LParen) {
            return None;
        }
        let start = self.index + 1;
        let mut depth = 0usize;
        for (offset, lexeme) in self.rest().iter().enumerate() {
            match lexeme.token {
                Token::LParen => depth += 1,
                Token::RParen => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                let end = self.index + offset;
                self.index = end + 1;
                return self.lexemes.get(start..end);
            }
        }
        None
    }

    /// Takes everything up to one of the words (outside parentheses), or the end.
    pub fn take_until(&mut self, stop: impl Fn(&Cursor<'a>) -> bool) -> &'a [Lexeme] {
        let start = self.index;
        let mut depth = 0usize;
        while let Some(token) = self.peek() {
            if depth == 0 && self.index > start && stop(self) {
                break;
            }
            match token {
                Token::LParen => depth += 1,
                Token::RParen => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.index += 1;
        }
        self.since(start)
    }

    /// An identifier, quoted or not.
    pub fn take_identifier(&mut self) -> Option<String> {
        match self.peek() {
            Some(Token::Word(word)) => {
                self.index += 1;
                Some(decode(&word.value))
            }
            _ => None,
        }
    }

    /// A string literal in either kind of quotes; adjacent ones are one.
    pub fn take_string(&mut self) -> Option<String> {
        let mut text: Option<String> = None;
        while let Some(piece) = self.peek().and_then(string_value) {
            text.get_or_insert_default().push_str(&decode(piece));
            self.index += 1;
        }
        text
    }

    /// A dotted name, as parts.
    pub fn take_name(&mut self) -> Option<Vec<String>> {
        let mut parts = vec![self.take_identifier()?];
        while self.peek() == Some(&Token::Period) && matches!(self.peek_at(1), Some(Token::Word(_))) {
            self.index += 1;
            parts.extend(self.take_identifier());
        }
        Some(parts)
    }

    /// The source text of tokens, as written, with runs of white space made one space.
    pub fn text_of(&self, lexemes: &[Lexeme]) -> String {
        let (Some(first), Some(last)) = (lexemes.first(), lexemes.last()) else { return String::new() };
        let text = self.lexed.text.get(first.bytes.start..last.bytes.end).unwrap_or_default();
        decode(&text.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}
