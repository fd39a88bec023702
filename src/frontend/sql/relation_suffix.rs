//! What may follow a relation in FROM and sqlparser does not know: read options, change feeds, source names, watermarks.
//!
//! The clauses are cut out of the token stream. What they say travels with the relation's alias: the alias token is replaced
//! by one that names the entry in the list of cut-out clauses (see [`attached`]), so that wherever sqlparser puts the
//! relation, lowering finds its clauses again.

use super::parse::{SyntaxError, parse_tokens};
use super::rewrite::{Rewriter, ends_relation, starts_relation};
use super::text::decode;
use super::tokens::{Lexeme, interval_tokens, is_word, string_value};
use sqlparser::ast::Expr;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan, Word};

/// Starts an alias that carries clauses: mark, index, mark, the alias itself (or nothing).
const MARK: char = '\u{1}';

#[derive(Debug, Clone, Default)]
pub(super) struct RelationSuffix {
    /// `WITH ('key' = value, …)`.
    pub options: Vec<(String, String)>,
    /// `IDENTIFIED BY name`.
    pub name: Option<String>,
    /// `CHANGES FROM VERSION|TIMESTAMP …`.
    pub changes: Option<Vec<(&'static str, String)>>,
    pub watermark: Option<WatermarkClause>,
}

#[derive(Debug, Clone)]
pub(super) struct WatermarkClause {
    pub event_time: Expr,
    /// `WATERMARK expr AS name`.
    pub alias: Option<String>,
    pub delay: Expr,
    pub span: Span,
}

/// Splits an alias into the index of its clauses and the alias that the user wrote.
pub(super) fn attached(alias: &str) -> Option<(usize, &str)> {
    let (index, name) = alias.strip_prefix(MARK)?.split_once(MARK)?;
    Some((index.parse().ok()?, name))
}

impl Rewriter<'_> {
    /// True where the last token may end a relation (or its alias).
    pub(super) fn after_relation(&self) -> bool {
        match self.out.last().map(|token| &token.token) {
            Some(Token::RParen) => true,
            Some(Token::Word(word)) => word.quote_style.is_some() || !is_clause(word.keyword),
            _ => false,
        }
    }

    /// Cuts out all clauses that stand here, and marks the alias.
    pub(super) fn suffix(&mut self) -> Result<bool, SyntaxError> {
        let mut suffix = RelationSuffix::default();
        let start = self.index;
        while self.clause(&mut suffix)? {}
        if self.index == start {
            return Ok(false);
        }
        let index = self.suffixes.len();
        self.suffixes.push(suffix);
        self.mark_alias(index);
        Ok(true)
    }

    fn clause(&mut self, suffix: &mut RelationSuffix) -> Result<bool, SyntaxError> {
        if self.word_at(0, "watermark") {
            return self.watermark(suffix);
        }
        if self.word_at(0, "identified") && self.word_at(1, "by") {
            let name = match self.token(2) {
                Some(Token::Word(word)) => word.value.clone(),
                Some(token) if string_value(token).is_some() => string_value(token).cloned().unwrap_or_default(),
                _ => return Err(self.error("expected a name after IDENTIFIED BY")),
            };
            suffix.name = Some(decode(&name));
            self.index += 3;
            return Ok(true);
        }
        if self.word_at(0, "with") && self.token(1) == Some(&Token::LParen) {
            return self.options(suffix);
        }
        let changes = self.word_at(0, "changes") && (self.word_at(1, "from") || self.word_at(1, "between"));
        if changes { self.changes(suffix) } else { Ok(false) }
    }

    /// `WITH ('maxFilesPerTrigger' = '1', SKIPCHANGECOMMITS = TRUE)`.
    fn options(&mut self, suffix: &mut RelationSuffix) -> Result<bool, SyntaxError> {
        self.index += 2;
        loop {
            let mut key = String::new();
            while let Some(token) = self.token(0) {
                match token {
                    Token::Word(word) => key.push_str(&word.value),
                    Token::Period => key.push('.'),
                    other => match string_value(other) {
                        Some(text) => key.push_str(text),
                        None => break,
                    },
                }
                self.index += 1;
                if self.token(0) != Some(&Token::Period)
                    && self.token(0).is_some_and(|t| matches!(t, Token::Word(_)) || string_value(t).is_some())
                {
                    break;
                }
            }
            if self.token(0) == Some(&Token::Eq) {
                self.index += 1;
            }
            let mut value = String::new();
            while let Some(token) = self.token(0) {
                match token {
                    Token::Comma | Token::RParen => break,
                    Token::Word(word) => value.push_str(&word.value.to_ascii_lowercase()),
                    other => match string_value(other) {
                        Some(text) => value.push_str(text),
                        None => value.push_str(&other.to_string()),
                    },
                }
                self.index += 1;
            }
            if key.is_empty() {
                return Err(self.error("expected an option's name"));
            }
            suffix.options.push((decode(&key).to_lowercase(), decode(&value)));
            match self.token(0) {
                Some(Token::Comma) => self.index += 1,
                Some(Token::RParen) => {
                    self.index += 1;
                    return Ok(true);
                }
                _ => return Err(self.error("expected `)` after the read options")),
            }
        }
    }

    /// `CHANGES FROM VERSION 3 [EXCLUSIVE|INCLUSIVE] [TO VERSION 9 …]`.
    fn changes(&mut self, suffix: &mut RelationSuffix) -> Result<bool, SyntaxError> {
        self.index += 2;
        let mut bounds = Vec::new();
        for (version, timestamp) in [("startingversion", "startingtimestamp"), ("endingversion", "endingtimestamp")] {
            let key = if self.word_at(0, "version") {
                version
            } else if self.word_at(0, "timestamp") {
                timestamp
            } else {
                return Err(self.error("expected VERSION or TIMESTAMP after CHANGES FROM"));
            };
            self.index += 1;
            if self.word_at(0, "as") && self.word_at(1, "of") {
                self.index += 2;
            }
            let value = match self.token(0) {
                Some(Token::Number(digits, _)) => digits.clone(),
                Some(token) => match string_value(token) {
                    Some(text) => text.clone(),
                    None => return Err(self.error("expected a version or a timestamp")),
                },
                None => return Err(self.error("expected a version or a timestamp")),
            };
            self.index += 1;
            bounds.push((key, value));
            if self.word_at(0, "inclusive") || self.word_at(0, "exclusive") {
                if self.word_at(0, "exclusive") {
                    bounds.push((
                        if key.starts_with("starting") { "startingexclusive" } else { "endingexclusive" },
                        "true".to_owned(),
                    ));
                }
                self.index += 1;
            }
            if !self.word_at(0, "to") && !self.word_at(0, "and") {
                break;
            }
            self.index += 1;
        }
        suffix.changes = Some(bounds);
        Ok(true)
    }

    /// `WATERMARK expr [AS name] DELAY OF INTERVAL …`.
    fn watermark(&mut self, suffix: &mut RelationSuffix) -> Result<bool, SyntaxError> {
        let start = self.index;
        let Some(delay) = self.find_delay() else { return Ok(false) };
        let mut event_time = self.lexemes.get(start + 1..delay).unwrap_or_default();
        let mut alias = None;
        if let [rest @ .., keyword, Lexeme { token: Token::Word(word), .. }] = event_time
            && is_word(&keyword.token, "as")
        {
            alias = Some(decode(&word.value));
            event_time = rest;
        }
        self.index = delay + 2;
        let literal_start = self.index;
        if self.word_at(0, "interval") {
            let tokens: Vec<Token> =
                self.lexemes.iter().skip(self.index + 1).take(24).map(|lexeme| lexeme.token.clone()).collect();
            let Some((count, _)) = interval_tokens(&tokens).filter(|(count, _)| *count > 0) else {
                return Err(self.error("expected an interval literal after DELAY OF"));
            };
            self.index += 1 + count;
        } else if self.token(0).is_some_and(|token| string_value(token).is_some()) {
            self.index += 1;
        } else {
            return Err(self.error("expected INTERVAL after DELAY OF"));
        }
        let delay = parse_tokens(plain(self.lexemes.get(literal_start..self.index).unwrap_or_default()), |parser| {
            parser.parse_expr()
        })?;
        let event_time = parse_tokens(plain(event_time), |parser| parser.parse_expr())?;
        let span = match (self.lexemes.get(start), self.lexemes.get(self.index.saturating_sub(1))) {
            (Some(first), Some(last)) => Span::new(first.span.start, last.span.end),
            _ => Span::empty(),
        };
        suffix.watermark = Some(WatermarkClause { event_time, alias, delay, span });
        Ok(true)
    }

    /// Index of `DELAY OF` for the WATERMARK at the current index.
    fn find_delay(&self) -> Option<usize> {
        let mut depth = 0usize;
        for (offset, lexeme) in self.lexemes.iter().enumerate().skip(self.index + 1) {
            match &lexeme.token {
                Token::LParen => depth += 1,
                Token::RParen => depth = depth.checked_sub(1)?,
                token if depth == 0 && is_word(token, "delay") => {
                    return self.lexemes.get(offset + 1).filter(|next| is_word(&next.token, "of")).map(|_| offset);
                }
                _ => {}
            }
        }
        None
    }

    /// Lets the relation's alias carry the clauses: the one that follows, the one before, or a made-up one.
    fn mark_alias(&mut self, index: usize) {
        let marked = |name: &str| {
            Token::Word(Word {
                value: format!("{MARK}{index}{MARK}{name}"),
                quote_style: Some('`'),
                keyword: Keyword::NoKeyword,
            })
        };
        let offset = usize::from(self.word_at(0, "as"));
        if let Some(Token::Word(word)) = self.token(offset)
            && (offset == 1 || word.quote_style.is_some() || !ends_relation(word.keyword))
        {
            let (token, span) =
                (marked(&word.value), self.lexemes.get(self.index + offset).map_or(Span::empty(), |l| l.span));
            self.index += offset + 1;
            self.push(token, span);
            return;
        }
        let length = self.out.len();
        let before = length.checked_sub(2).and_then(|at| self.out.get(at)).map(|token| &token.token);
        let aliased = match before {
            Some(Token::RParen) => true,
            Some(Token::Word(word)) => word.quote_style.is_some() || !starts_relation(word.keyword),
            _ => false,
        };
        if aliased && let Some(TokenWithSpan { token: Token::Word(word), span }) = self.out.last() {
            let (token, span) = (marked(&word.value), *span);
            self.out.pop();
            self.push(token, span);
            return;
        }
        let end = self.out.last().map_or(Span::empty(), |token| Span::new(token.span.end, token.span.end));
        self.push(marked(""), end);
    }
}

/// Tokens of a piece that holds no relations.
fn plain(lexemes: &[Lexeme]) -> Vec<TokenWithSpan> {
    lexemes.iter().map(|lexeme| TokenWithSpan::new(lexeme.token.clone(), lexeme.span)).collect()
}

/// Keywords of clauses, which end no relation.
fn is_clause(keyword: Keyword) -> bool {
    starts_relation(keyword) || matches!(keyword, Keyword::SELECT | Keyword::ON | Keyword::AS | Keyword::WITH)
}
