//! Rewrites tokens into forms that sqlparser knows, before it parses them.
//!
//! `STREAM x` becomes `STREAM(x)`, rows of VALUES get their parentheses, dotted names in `* EXCEPT (…)` become one identifier,
//! and the clauses of [`super::relation_suffix`] are cut out. Tokens that are added stand where their neighbours stand.

use super::parse::SyntaxError;
use super::relation_suffix::RelationSuffix;
use super::tokens::{Lexeme, is_word};
use sqlparser::keywords::{Keyword, RESERVED_FOR_TABLE_ALIAS};
use sqlparser::tokenizer::{Span, Token, TokenWithSpan, Word};

/// Between the parts of a dotted name that had to become one identifier.
pub(super) const PART_MARK: char = '\u{2}';

/// Tokens for sqlparser, and the clauses cut out of them.
pub(super) fn rewrite(lexemes: &[Lexeme]) -> Result<(Vec<TokenWithSpan>, Vec<RelationSuffix>), SyntaxError> {
    let mut rewriter = Rewriter { lexemes, index: 0, out: Vec::with_capacity(lexemes.len() + 8), suffixes: Vec::new() };
    rewriter.run()?;
    Ok((rewriter.out, rewriter.suffixes))
}

/// The tokens read so far in `lexemes`, and those written.
pub(super) struct Rewriter<'a> {
    pub lexemes: &'a [Lexeme],
    pub index: usize,
    pub out: Vec<TokenWithSpan>,
    pub suffixes: Vec<RelationSuffix>,
}

impl Rewriter<'_> {
    fn run(&mut self) -> Result<(), SyntaxError> {
        // For each open parenthesis: whether its FROM list is being read.
        let mut in_from = vec![false];
        while let Some(lexeme) = self.lexemes.get(self.index) {
            let reading = in_from.last().copied().unwrap_or(false);
            if self.excepted_columns() || self.inline_table(reading) {
                continue;
            }
            if reading && self.stream()? || reading && self.after_relation() && self.suffix()? {
                continue;
            }
            match &lexeme.token {
                Token::LParen => {
                    // `FROM (a JOIN b)`: a parenthesis in a FROM list may hold relations.
                    let nested = reading
                        && !self
                            .out
                            .last()
                            .is_some_and(|t| matches!(t.token, Token::Word(_)) && !ends_with_from(&t.token));
                    in_from.push(nested);
                }
                Token::RParen if in_from.len() > 1 => {
                    in_from.pop();
                }
                Token::Word(word) if word.quote_style.is_none() => {
                    if let Some(state) = self.list_state(word)
                        && let Some(last) = in_from.last_mut()
                    {
                        *last = state;
                    }
                }
                _ => {}
            }
            self.copy();
        }
        Ok(())
    }

    /// Whether a word starts or ends a FROM list.
    fn list_state(&self, word: &Word) -> Option<bool> {
        match word.keyword {
            Keyword::FROM => {
                let distinct = self.out.last().is_some_and(|token| is_word(&token.token, "distinct"));
                (!distinct).then_some(true)
            }
            Keyword::JOIN => Some(true),
            Keyword::SELECT
            | Keyword::WHERE
            | Keyword::GROUP
            | Keyword::HAVING
            | Keyword::QUALIFY
            | Keyword::ORDER
            | Keyword::SORT
            | Keyword::LIMIT
            | Keyword::ON
            | Keyword::UNION
            | Keyword::INTERSECT
            | Keyword::EXCEPT
            | Keyword::MINUS => Some(false),
            _ => None,
        }
    }

    pub(super) fn token(&self, offset: usize) -> Option<&Token> {
        self.lexemes.get(self.index + offset).map(|lexeme| &lexeme.token)
    }

    pub(super) fn word_at(&self, offset: usize, word: &str) -> bool {
        self.token(offset).is_some_and(|token| is_word(token, word))
    }

    fn copy(&mut self) {
        if let Some(lexeme) = self.lexemes.get(self.index) {
            self.out.push(TokenWithSpan::new(lexeme.token.clone(), lexeme.span));
        }
        self.index += 1;
    }

    pub(super) fn push(&mut self, token: Token, span: Span) {
        self.out.push(TokenWithSpan::new(token, span));
    }

    pub(super) fn error(&self, message: &str) -> SyntaxError {
        let lexeme = self.lexemes.get(self.index).or_else(|| self.lexemes.last());
        SyntaxError { message: message.to_owned(), span: lexeme.map(|lexeme| lexeme.span) }
    }

    /// `STREAM a.b` and `STREAM f(…)` become `STREAM(a.b)` and `STREAM(f(…))`.
    fn stream(&mut self) -> Result<bool, SyntaxError> {
        let starts = self
            .out
            .last()
            .is_some_and(|t| matches!(t.token, Token::Comma | Token::LParen) || ends_with_from(&t.token));
        if !starts || !self.word_at(0, "stream") || !matches!(self.token(1), Some(Token::Word(_))) {
            return Ok(false);
        }
        // `FROM stream WHERE …`: a table of that name.
        if let Some(Token::Word(next)) = self.token(1)
            && next.quote_style.is_none()
            && ends_relation(next.keyword)
        {
            return Ok(false);
        }
        self.copy();
        let span = self.lexemes.get(self.index).map_or(Span::empty(), |lexeme| lexeme.span);
        self.push(Token::LParen, Span::new(span.start, span.start));
        self.copy();
        while self.token(0) == Some(&Token::Period) && matches!(self.token(1), Some(Token::Word(_))) {
            self.copy();
            self.copy();
        }
        if self.token(0) == Some(&Token::LParen) {
            let mut depth = 0usize;
            while let Some(token) = self.token(0) {
                match token {
                    Token::LParen => depth += 1,
                    Token::RParen => depth -= 1,
                    _ => {}
                }
                self.copy();
                if depth == 0 {
                    break;
                }
            }
        }
        let end = self.out.last().map_or(span.end, |token| token.span.end);
        self.push(Token::RParen, Span::new(end, end));
        Ok(true)
    }

    /// `* EXCEPT (t.a)`: sqlparser takes only single names, so the dotted one becomes one (see [`PART_MARK`]).
    fn excepted_columns(&mut self) -> bool {
        let star = self.out.last().is_some_and(|token| token.token == Token::Mul);
        if !star || !self.word_at(0, "except") || self.token(1) != Some(&Token::LParen) {
            return false;
        }
        self.copy();
        self.copy();
        while let Some(Token::Word(word)) = self.token(0) {
            let start = self.lexemes.get(self.index).map_or(Span::empty(), |lexeme| lexeme.span);
            let (mut value, mut end) = (word.value.clone(), start.end);
            self.index += 1;
            while let (Some(Token::Period), Some(Token::Word(next))) = (self.token(0), self.token(1)) {
                value = format!("{value}{PART_MARK}{}", next.value);
                end = self.lexemes.get(self.index + 1).map_or(end, |lexeme| lexeme.span.end);
                self.index += 2;
            }
            let word = Word { value, quote_style: Some('`'), keyword: Keyword::NoKeyword };
            self.push(Token::Word(word), Span::new(start.start, end));
            if self.token(0) != Some(&Token::Comma) {
                break;
            }
            self.copy();
        }
        true
    }

    /// `VALUES 1, 2` becomes `VALUES (1), (2)`, and outside FROM it gets a SELECT around it, since it may have an alias.
    fn inline_table(&mut self, in_from: bool) -> bool {
        let before = self.out.last().map(|token| &token.token);
        let nested = before == Some(&Token::LParen);
        let query = !in_from && before.is_none_or(is_set_operator);
        let relation = in_from && before.is_some_and(|token| *token == Token::Comma || ends_with_from(token));
        // `values` may also be a column: then a sign follows.
        let rows = self
            .token(1)
            .is_some_and(|token| !matches!(token, Token::Period | Token::Comma | Token::RParen | Token::Eq));
        if !self.word_at(0, "values") || !rows || !(nested || query || relation) {
            return false;
        }
        if !relation {
            let start = self.start();
            for token in [Token::make_keyword("SELECT"), Token::Mul, Token::make_keyword("FROM")] {
                self.push(token, start);
            }
        }
        self.copy();
        loop {
            let parenthesized = self.inline_row();
            // A comma in a FROM list may go on to the next relation.
            let next_relation = relation && parenthesized && self.token(1) != Some(&Token::LParen);
            if self.token(0) != Some(&Token::Comma) || next_relation {
                return true;
            }
            self.copy();
        }
    }

    /// Copies one row, with parentheses around it; says whether it had them.
    fn inline_row(&mut self) -> bool {
        let parenthesized = self.token(0) == Some(&Token::LParen);
        if !parenthesized {
            let start = self.start();
            self.push(Token::LParen, start);
        }
        let mut depth = 0usize;
        while let Some(token) = self.token(0) {
            match token {
                Token::LParen => depth += 1,
                Token::RParen | Token::Comma if depth == 0 => break,
                Token::RParen => depth -= 1,
                Token::Word(word) if depth == 0 && word.quote_style.is_none() && ends_relation(word.keyword) => break,
                _ => {}
            }
            self.copy();
            if parenthesized && depth == 0 {
                break;
            }
        }
        if !parenthesized {
            let end = self.out.last().map_or(Span::empty(), |token| Span::new(token.span.end, token.span.end));
            self.push(Token::RParen, end);
        }
        parenthesized
    }

    /// The place before the token to read next.
    fn start(&self) -> Span {
        self.lexemes.get(self.index).map_or(Span::empty(), |lexeme| Span::new(lexeme.span.start, lexeme.span.start))
    }
}

fn ends_with_from(token: &Token) -> bool {
    matches!(token, Token::Word(word) if word.quote_style.is_none() && starts_relation(word.keyword))
}

fn is_set_operator(token: &Token) -> bool {
    ["union", "all", "distinct", "intersect", "except", "minus"].iter().any(|word| is_word(token, word))
}

/// Keywords after which a relation stands.
pub(super) fn starts_relation(keyword: Keyword) -> bool {
    matches!(keyword, Keyword::FROM | Keyword::JOIN | Keyword::LATERAL | Keyword::USING)
}

/// Keywords that cannot be an alias after a relation.
pub(super) fn ends_relation(keyword: Keyword) -> bool {
    RESERVED_FOR_TABLE_ALIAS.contains(&keyword)
        || matches!(
            keyword,
            Keyword::AS | Keyword::WHERE | Keyword::SELECT | Keyword::TABLESAMPLE | Keyword::PIVOT | Keyword::UNPIVOT
        )
}
