//! The door to sqlparser: hands it rewritten tokens, bounds the depth of what it may build, and translates its errors.

use super::dialect::SparkDialect;
use super::relation_suffix::RelationSuffix;
use super::rewrite::rewrite;
use super::tokens::{Lexeme, lower_first};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan};

/// Levels of sqlparser's recursive descent (a parenthesis takes about two).
const RECURSION_LIMIT: usize = 50;

/// Levels of the syntax tree that chains of operators, joins and set operations may add up to.
const MAX_TREE_DEPTH: usize = 400;

static DIALECT: SparkDialect = SparkDialect;

/// What is wrong with a statement; the span is in the user's file.
#[derive(Debug, Clone)]
pub(super) struct SyntaxError {
    pub message: String,
    pub span: Option<Span>,
}

/// Parses tokens that may hold relations, to their end.
pub(super) fn parse_lexemes<T>(
    lexemes: &[Lexeme],
    parse: impl FnOnce(&mut Parser) -> Result<T, ParserError>,
) -> Result<(T, Vec<RelationSuffix>), SyntaxError> {
    let (tokens, suffixes) = rewrite(lexemes)?;
    Ok((parse_tokens(tokens, parse)?, suffixes))
}

/// Parses tokens to their end.
pub(super) fn parse_tokens<T>(
    tokens: Vec<TokenWithSpan>,
    parse: impl FnOnce(&mut Parser) -> Result<T, ParserError>,
) -> Result<T, SyntaxError> {
    let last = tokens.last().map(|token| token.span);
    if tree_depth(&tokens) > MAX_TREE_DEPTH {
        let message = format!("the statement is nested deeper than {MAX_TREE_DEPTH} operators");
        return Err(SyntaxError { message, span: tokens.first().map(|token| token.span) });
    }
    let mut parser = Parser::new(&DIALECT).with_recursion_limit(RECURSION_LIMIT).with_tokens_with_locations(tokens);
    let parsed = parse(&mut parser).map_err(|error| translate(&error, last))?;
    let next = parser.peek_token_ref();
    if next.token == Token::EOF {
        return Ok(parsed);
    }
    Err(SyntaxError { message: format!("unexpected `{}`", next.token), span: Some(next.span) })
}

fn translate(error: &ParserError, last: Option<Span>) -> SyntaxError {
    let text = match error {
        ParserError::ParserError(text) | ParserError::TokenizerError(text) => text.as_str(),
        ParserError::RecursionLimitExceeded => "the statement is nested too deeply",
    };
    let (message, location) = match text.rsplit_once(" at Line: ") {
        Some((message, rest)) => (message, location(rest)),
        None => (text, None),
    };
    let message = message.replace("found: EOF", "found the end of the statement").replace("found: ", "found ");
    let span = location.map(|start| Span::new(start, Location::new(start.line, start.column + 1)));
    SyntaxError { message: lower_first(&message.replace("Expected: ", "expected ")), span: span.or(last) }
}

/// Reads `3, Column: 7`, the end of sqlparser's messages.
fn location(text: &str) -> Option<Location> {
    let (line, column) = text.split_once(", Column: ")?;
    Some(Location::new(line.trim().parse().ok()?, column.trim().parse().ok()?))
}

/// Operators and joins of one parenthesis since the last comma, and the deepest of what they hold.
#[derive(Default, Clone, Copy)]
struct Level {
    operators: usize,
    inner: usize,
    deepest: usize,
}

impl Level {
    fn close(self) -> usize {
        self.deepest.max(self.operators + self.inner)
    }
}

/// An upper bound for the depth of the syntax tree: chains of left-associative operators nest as deep as they are long.
fn tree_depth(tokens: &[TokenWithSpan]) -> usize {
    let mut levels = vec![Level::default()];
    let mut joins = 0usize;
    for token in tokens {
        let Some(level) = levels.last_mut() else { break };
        match &token.token {
            Token::LParen | Token::LBracket => levels.push(Level::default()),
            Token::RParen | Token::RBracket => {
                let depth = level.close();
                levels.pop();
                match levels.last_mut() {
                    Some(outer) => outer.inner = outer.inner.max(depth + 1),
                    None => levels.push(Level { deepest: depth, ..Level::default() }),
                }
            }
            Token::Comma => {
                *level = Level { deepest: level.close(), ..Level::default() };
            }
            Token::Word(word) if word.quote_style.is_none() => match word.keyword {
                Keyword::AND
                | Keyword::OR
                | Keyword::NOT
                | Keyword::DIV
                | Keyword::LIKE
                | Keyword::IS
                | Keyword::IN
                | Keyword::BETWEEN
                | Keyword::CASE
                | Keyword::UNION
                | Keyword::INTERSECT
                | Keyword::EXCEPT => level.operators += 1,
                Keyword::JOIN | Keyword::LATERAL => {
                    joins += 1;
                    level.operators += 1;
                }
                _ => {}
            },
            Token::Plus
            | Token::Minus
            | Token::Mul
            | Token::Div
            | Token::Mod
            | Token::StringConcat
            | Token::Eq
            | Token::DoubleEq
            | Token::Neq
            | Token::Lt
            | Token::LtEq
            | Token::Gt
            | Token::GtEq
            | Token::Spaceship
            | Token::Pipe
            | Token::Ampersand
            | Token::Caret
            | Token::Tilde
            | Token::ExclamationMark
            | Token::ShiftLeft
            | Token::ShiftRight
            | Token::Arrow
            | Token::DoubleColon
            | Token::Colon => level.operators += 1,
            _ => {}
        }
    }
    let nested = levels.into_iter().rev().fold(0, |inner, level| level.close() + inner);
    nested.max(joins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_chains_are_refused_and_long_lists_are_not() {
        let parse = |text: String| {
            let tokens = sqlparser::tokenizer::Tokenizer::new(&DIALECT, &text).tokenize_with_location().unwrap();
            parse_tokens(tokens, |parser| parser.parse_expr()).map_err(|error| error.message)
        };
        assert!(parse(vec!["a"; 5_000].join(" + ")).unwrap_err().contains("deeper than 400"));
        assert!(parse("NOT ".repeat(5_000) + "a").unwrap_err().contains("deeper than 400"));
        assert!(parse("(".repeat(300) + "a" + &")".repeat(300)).unwrap_err().contains("too deeply"));
        assert!(parse(format!("f({})", vec!["a + 1"; 5_000].join(", "))).is_ok());
        assert!(parse(vec!["a = 1"; 150].join(" OR ")).is_ok());
    }

    #[test]
    fn errors_say_where() {
        let tokens = sqlparser::tokenizer::Tokenizer::new(&DIALECT, "SELECT a\nFROM t WHERE )")
            .tokenize_with_location()
            .unwrap();
        let error = parse_tokens(tokens, |parser| parser.parse_query()).unwrap_err();
        assert_eq!(error.span.unwrap().start, Location::new(2, 14));
        assert_eq!(error.message, "expected an expression, found )");
    }
}
