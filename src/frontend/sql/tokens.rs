//! Tokens of a SQL text: with places in the user's file, cut into statements.

use super::dialect::SparkDialect;
use super::text::{Prepared, prepare};
use super::{Context, Problem};
use crate::frontend::comments::Comment;
use crate::model::{Place, Span as FileSpan};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer, Whitespace, Word};
use std::collections::BTreeMap;
use std::ops::Range;

/// A token with its place in the file and its bytes in the prepared text.
#[derive(Debug, Clone)]
pub(super) struct Lexeme {
    pub token: Token,
    pub span: Span,
    pub bytes: Range<usize>,
}

/// All tokens of a text, without white space and comments.
#[derive(Debug)]
pub(super) struct Lexed {
    pub text: String,
    pub lexemes: Vec<Lexeme>,
    /// Why the tokenizer stopped before the end.
    pub error: Option<Problem>,
    /// `${name}`s without a value, each with its place.
    pub unknown: Vec<(String, Place)>,
}

/// Byte positions of (line, column) pairs that come in ascending order.
struct ByteIndex<'a> {
    chars: std::str::CharIndices<'a>,
    line: u64,
    column: u64,
    length: usize,
}

impl ByteIndex<'_> {
    fn at(&mut self, location: Location) -> usize {
        loop {
            let mut ahead = self.chars.clone();
            let Some((byte, c)) = ahead.next() else { return self.length };
            if (self.line, self.column) >= (location.line, location.column) {
                return byte;
            }
            self.chars = ahead;
            if c == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
    }
}

fn narrow(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Tokenizes a text; positions are those of the file that the context's origin names.
pub(super) fn lex(text: &str, context: &Context) -> Lexed {
    let prepared = prepare(text, &context.configuration());
    let mut buffer = Vec::new();
    let outcome = Tokenizer::new(&SparkDialect, &prepared.text).tokenize_with_location_into_buf(&mut buffer);
    let place_of = |location: Location| original(location, &prepared, context);
    let error = outcome.err().map(|error| {
        let start = place_of(error.location);
        let span = context.origin.span(pair(start), (narrow(start.line), narrow(start.column) + 1));
        Problem { message: lower_first(&error.message), span }
    });
    let mut bytes = ByteIndex { chars: prepared.text.char_indices(), line: 1, column: 1, length: prepared.text.len() };
    let lexemes = buffer
        .into_iter()
        .filter(|token| !matches!(token.token, Token::Whitespace(_)))
        .map(|TokenWithSpan { token, span }| Lexeme {
            token,
            bytes: bytes.at(span.start)..bytes.at(span.end),
            span: Span::new(place_of(span.start), place_of(span.end)),
        })
        .collect();
    let unknown = prepared
        .unknown
        .iter()
        .map(|(name, (line, column))| {
            let start = context.origin.position(*line, *column);
            let length = narrow(name.chars().count() as u64) + 3;
            (name.clone(), context.origin.place(start, (start.0, start.1 + length)))
        })
        .collect();
    Lexed { lexemes: join_numbers(lexemes), error, unknown, text: prepared.text }
}

/// All comments of a text, in order, as far as the tokenizer comes.
pub fn comments(text: &str) -> Vec<Comment> {
    let prepared = prepare(text, &BTreeMap::new());
    let mut buffer = Vec::new();
    // Where the tokenizer stops, the statements say so; the comments before it count.
    let _ = Tokenizer::new(&SparkDialect, &prepared.text).tokenize_with_location_into_buf(&mut buffer);
    let mut found = Vec::new();
    let mut code_on_line = 0;
    for TokenWithSpan { token, span } in buffer {
        let Token::Whitespace(space) = token else {
            code_on_line = span.end.line;
            continue;
        };
        let (text, end_line) = match space {
            Whitespace::SingleLineComment { comment, .. } => (comment, span.start.line),
            Whitespace::MultiLineComment(comment) => (comment, span.end.line),
            _ => continue,
        };
        let (line, column) = prepared.original(narrow(span.start.line), narrow(span.start.column));
        let own_line = code_on_line != span.start.line;
        found.push(Comment { line, column, end_line: narrow(end_line), cell: None, text, own_line });
    }
    found
}

fn original(location: Location, prepared: &Prepared, context: &Context) -> Location {
    let (line, column) = prepared.original(narrow(location.line), narrow(location.column));
    let (line, column) = context.origin.position(line, column);
    Location::new(u64::from(line), u64::from(column))
}

pub(super) fn pair(location: Location) -> (u32, u32) {
    (narrow(location.line), narrow(location.column))
}

pub(super) fn lower_first(message: &str) -> String {
    let mut chars = message.chars();
    let first = chars.next().map(|c| c.to_lowercase().to_string()).unwrap_or_default();
    // Words in capitals (`GROUP BY`) stay.
    if chars.clone().next().is_some_and(char::is_uppercase) { message.to_owned() } else { first + chars.as_str() }
}

/// `10L`, `1.5BD`, `3S` are one number; `2024_events` is a name.
fn join_numbers(lexemes: Vec<Lexeme>) -> Vec<Lexeme> {
    let mut joined: Vec<Lexeme> = Vec::with_capacity(lexemes.len());
    for lexeme in lexemes {
        let Some(last) = joined.last_mut() else {
            joined.push(lexeme);
            continue;
        };
        let adjacent = last.bytes.end == lexeme.bytes.start;
        let token = match (&last.token, &lexeme.token) {
            (Token::Number(digits, false), Token::Word(Word { value, quote_style: None, .. })) if adjacent => {
                let suffix = value.to_ascii_uppercase();
                if matches!(suffix.as_str(), "L" | "S" | "Y" | "D" | "F" | "BD") {
                    Token::Number(format!("{digits}{suffix}"), false)
                } else {
                    word_token(format!("{digits}{value}"))
                }
            }
            // `X"1F"`: only the form in single quotes is one token already.
            (Token::Word(Word { value, quote_style: None, .. }), Token::DoubleQuotedString(digits))
                if adjacent && value.eq_ignore_ascii_case("x") =>
            {
                Token::HexStringLiteral(digits.clone())
            }
            _ => {
                joined.push(lexeme);
                continue;
            }
        };
        last.token = token;
        last.bytes.end = lexeme.bytes.end;
        last.span.end = lexeme.span.end;
    }
    joined
}

fn word_token(value: String) -> Token {
    Token::Word(Word { value, quote_style: None, keyword: Keyword::NoKeyword })
}

/// Splits at semicolons; a compound statement (`BEGIN … END`) is one. Empty statements are left out.
pub(super) fn statements(lexemes: &[Lexeme]) -> Vec<&[Lexeme]> {
    let mut statements = Vec::new();
    let mut start = 0;
    let mut blocks = Blocks::default();
    for (index, lexeme) in lexemes.iter().enumerate() {
        let head = lexemes.get(start..index).unwrap_or_default();
        let transaction = lexemes.get(index + 1).is_some_and(|next| is_word(&next.token, "transaction"));
        blocks.read(&lexeme.token, (head.is_empty() || is_procedure(head)) && !transaction);
        if lexeme.token == Token::SemiColon && blocks.depth == 0 {
            statements.extend(lexemes.get(start..index));
            start = index + 1;
        }
    }
    statements.extend(lexemes.get(start..));
    statements.retain(|statement| !statement.is_empty());
    statements
}

/// `CREATE [OR REPLACE] PROCEDURE … AS`, behind which a block stands.
fn is_procedure(head: &[Lexeme]) -> bool {
    let [first, .., last] = head else { return false };
    is_word(&last.token, "as")
        && is_word(&first.token, "create")
        && head.iter().take(4).any(|lexeme| is_word(&lexeme.token, "procedure"))
}

/// Nesting of SQL scripting's blocks: `BEGIN`, `IF`, `CASE`, `FOR`, `WHILE`, `LOOP` and `REPEAT`, each up to its `END`.
#[derive(Debug, Default)]
struct Blocks {
    depth: usize,
    /// A statement may start here.
    fresh: bool,
    /// The last word was END: the next one only names what ends.
    ended: bool,
}

impl Blocks {
    /// `opens`: the token starts a statement of the script itself, where only BEGIN makes a block.
    fn read(&mut self, token: &Token, opens: bool) {
        let any = |words: &[&str]| words.iter().any(|word| is_word(token, word));
        if self.depth == 0 {
            self.depth = usize::from(opens && any(&["begin"]));
            self.fresh = true;
            return;
        }
        let after_end = std::mem::take(&mut self.ended);
        let fresh = std::mem::take(&mut self.fresh);
        if any(&["end"]) {
            self.depth -= 1;
            self.ended = true;
        } else if !after_end && (any(&["case"]) || fresh && any(&["begin", "if", "for", "while", "loop", "repeat"])) {
            self.depth += 1;
            self.fresh = any(&["begin", "loop", "repeat"]);
        } else {
            // `label: WHILE …` starts a statement behind the colon.
            self.fresh = matches!(token, Token::SemiColon | Token::Colon) || any(&["then", "else", "do"]);
        }
    }
}

pub(super) fn is_word(token: &Token, word: &str) -> bool {
    matches!(token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
}

pub(super) fn string_value(token: &Token) -> Option<&String> {
    match token {
        Token::SingleQuotedString(text) | Token::DoubleQuotedString(text) => Some(text),
        _ => None,
    }
}

/// First to last token, as a span of the file.
pub(super) fn span_of(lexemes: &[Lexeme], context: &Context) -> Option<FileSpan> {
    let (first, last) = (lexemes.first()?, lexemes.last()?);
    context.origin.span(pair(first.span.start), pair(last.span.end))
}

/// What follows the word INTERVAL.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Literal {
    /// Values with their units.
    Units(Vec<(String, String)>),
    /// `'1 day 2 hours'`.
    Text(String),
    /// `'1 2:03' DAY TO MINUTE`.
    Range { text: String, from: String, to: String },
    /// An expression and a unit follow.
    Expression,
}

/// Reads an interval literal from the tokens after INTERVAL: how many tokens it takes, and what it is.
/// None where the word is a name.
pub(super) fn interval_tokens(tokens: &[Token]) -> Option<(usize, Literal)> {
    let mut units = Vec::new();
    let mut index = 0;
    loop {
        let (length, value) = match (tokens.get(index), tokens.get(index + 1)) {
            (Some(Token::Number(digits, _)), _) => (1, digits.clone()),
            (Some(Token::Minus), Some(Token::Number(digits, _))) => (2, format!("-{digits}")),
            (Some(Token::Minus), Some(text)) if string_value(text).is_some() => {
                (2, format!("-{}", string_value(text)?))
            }
            (Some(text), _) if string_value(text).is_some() => (1, string_value(text)?.clone()),
            _ => break,
        };
        let Some(unit) = tokens.get(index + length).and_then(unit_name) else {
            if index == 0 && length == 1 {
                let text = string_value(tokens.first()?)?.clone();
                return Some((1, Literal::Text(text)));
            }
            break;
        };
        index += length + 1;
        if tokens.get(index).is_some_and(|token| is_word(token, "to"))
            && let Some(to) = tokens.get(index + 1).and_then(unit_name)
        {
            return units.is_empty().then(|| (index + 2, Literal::Range { text: value, from: unit, to }));
        }
        units.push((value, unit));
    }
    if !units.is_empty() {
        return Some((index, Literal::Units(units)));
    }
    match (tokens.first()?, tokens.get(1)?) {
        (Token::LParen, _) => Some((0, Literal::Expression)),
        (Token::Word(_), unit) if unit_name(unit).is_some() => Some((0, Literal::Expression)),
        _ => None,
    }
}

fn unit_name(token: &Token) -> Option<String> {
    let Token::Word(word) = token else { return None };
    let lower = word.value.to_ascii_lowercase();
    let unit = lower.strip_suffix('s').unwrap_or(&lower);
    matches!(
        unit,
        "year" | "month" | "week" | "day" | "hour" | "minute" | "second" | "millisecond" | "microsecond" | "nanosecond"
    )
    .then(|| unit.to_owned())
}
