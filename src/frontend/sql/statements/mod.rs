//! The statements of pipeline files and of batch scripts.
//!
//! Each statement is read from its tokens; queries and expressions inside it go to sqlparser. A broken statement is reported
//! and the next one is read as if nothing had happened. A clause that is not known is reported, never skipped silently.

mod batch;
mod cdc;
mod columns;
mod create;
mod flow;
mod merge;
mod settings;
#[cfg(test)]
mod tests;

use super::cursor::Cursor;
use super::lower::{CurrentNamespace, Lowering};
use super::parse::parse_lexemes;
use super::tokens::{Lexed, Lexeme, is_word, lex, span_of, statements};
use super::{Context, Problem, Problems, opaque_expression, opaque_relation, report_unknown};
use crate::model::{
    BatchWrite, Dataset, DiagnosticLevel, Expr, Flow, Node, Opaque, Place, Plan, Platform, QualifiedName,
};
use sqlparser::tokenizer::{Span, Token};
use std::collections::BTreeMap;

/// One statement, lowered.
#[derive(Debug, Clone)]
pub enum Statement {
    /// `CREATE … TABLE|VIEW` of a pipeline, with the flow of its own definition.
    Dataset {
        dataset: Box<Dataset>,
        flow: Option<Box<Flow>>,
    },
    /// `CREATE FLOW`, `APPLY CHANGES INTO`.
    Flow(Box<Flow>),
    /// `ALTER … SET TBLPROPERTIES`.
    Properties {
        target: QualifiedName,
        properties: BTreeMap<String, String>,
    },
    /// `SET key = value`; no value asks for it, or resets it.
    Set {
        key: String,
        value: Option<String>,
    },
    /// `RESET` without a key.
    Reset,
    /// A session variable from here on, by its lower-case name.
    Variable {
        name: String,
        value: Expr,
    },
    Use {
        catalog: Option<String>,
        schema: Option<String>,
    },
    /// `CREATE FUNCTION`: its body is part of what queries mean that call it.
    Function(Opaque),
    Query(Box<Plan>),
    /// A statement that writes or changes a table outside any pipeline.
    Write(Box<BatchWrite>),
    /// Anything else, by its first words. `matters` is false for statements that neither define nor change a table.
    Other {
        what: String,
        matters: bool,
    },
    /// Reported as broken.
    Broken,
}

/// All statements of a text, in order, each with its place.
#[derive(Debug, Clone, Default)]
pub struct Script {
    pub statements: Vec<(Statement, Place)>,
    pub problems: Problems,
}

/// What earlier statements of a file or session leave for later ones.
#[derive(Debug, Clone, Default)]
pub struct Session {
    namespace: CurrentNamespace,
    spark_conf: BTreeMap<String, String>,
}

/// Reads every statement of a text. The session goes on: `SET` and `USE` hold for later statements.
pub fn parse_statements(text: &str, context: &Context, session: &mut Session) -> Script {
    let context = &with_settings(text, context, session);
    let lexed = lex(text, context);
    let mut script = Script::default();
    let mut names = Problems::default();
    report_unknown(&lexed, &mut names);
    let all = statements(&lexed.lexemes);
    // A pipeline's views are known everywhere in it, whatever stands first.
    session.namespace.views.extend(all.iter().filter_map(|lexemes| create::defined_view(&lexed, lexemes)));
    for lexemes in all {
        let mut reader = StatementReader::new(context, session, &lexed, lexemes);
        let made = reader.statements();
        let place = Place::from(span_of(lexemes, context));
        let (inside, after) = names.unresolved.into_iter().partition(|name| within(name.span.as_ref(), place.span()));
        names.unresolved = after;
        reader.problems.unresolved.splice(0..0, inside);
        let target = made.iter().find_map(Statement::target);
        for unresolved in &mut reader.problems.unresolved {
            unresolved.dataset = unresolved.dataset.take().or_else(|| target.cloned());
        }
        script.problems.extend(reader.problems);
        for statement in made {
            session.follow(&statement);
            script.statements.push((statement, place.clone()));
        }
    }
    script.problems.extend(names);
    if let Some(problem) = lexed.error {
        script.problems.error("sql-syntax", problem.message, problem.span);
    }
    script
}

/// The text's place with what `SET` gives to `${name}`. A name that is set to several values in one text stays unknown.
fn with_settings<'a>(text: &str, context: &Context<'a>, session: &Session) -> Context<'a> {
    let mut settings = session.spark_conf.clone();
    if text.contains("${") {
        let lexed = lex(text, context);
        let mut own: BTreeMap<String, Option<String>> = BTreeMap::new();
        for lexemes in statements(&lexed.lexemes) {
            let mut reader = StatementReader::new(context, session, &lexed, lexemes);
            if let Some(Statement::Set { key, value: Some(value) }) =
                reader.cursor.at_words(&["set"]).then(|| reader.set().ok()).flatten()
            {
                let known = own.entry(key).or_insert_with(|| Some(value.clone()));
                known.take_if(|known| *known != value);
            }
        }
        for (key, value) in own {
            settings.remove(&key);
            settings.extend(value.map(|value| (key, value)));
        }
    }
    context.with_settings(settings)
}

fn within(inner: Option<&crate::model::Span>, outer: Option<&crate::model::Span>) -> bool {
    let (Some(inner), Some(outer)) = (inner, outer) else { return false };
    (outer.line, outer.column) <= (inner.line, inner.column)
        && (inner.line, inner.column) <= (outer.end_line, outer.end_column)
}

impl Statement {
    /// The dataset that a pipeline's statement defines or writes.
    fn target(&self) -> Option<&QualifiedName> {
        match self {
            Statement::Dataset { dataset, .. } => Some(&dataset.name),
            Statement::Flow(flow) => Some(&flow.target),
            Statement::Properties { target, .. } => Some(target),
            _ => None,
        }
    }
}

impl Session {
    /// Takes over what a statement sets.
    fn follow(&mut self, statement: &Statement) {
        match statement {
            Statement::Set { key, value: Some(value) } => {
                self.spark_conf.insert(key.clone(), value.clone());
            }
            Statement::Set { key, value: None } => {
                self.spark_conf.remove(key);
            }
            Statement::Reset => self.spark_conf.clear(),
            Statement::Use { catalog, schema } => {
                if catalog.is_some() {
                    self.namespace.catalog.clone_from(catalog);
                }
                if schema.is_some() {
                    self.namespace.schema.clone_from(schema);
                }
            }
            _ => {}
        }
    }
}

/// A statement that ends where it should not.
type Read<T> = Result<T, Problem>;

struct StatementReader<'a> {
    context: &'a Context<'a>,
    session: &'a Session,
    cursor: Cursor<'a>,
    whole: &'a [Lexeme],
    /// Of the path that the statement names as a table.
    path_format: Option<String>,
    problems: Problems,
}

impl<'a> StatementReader<'a> {
    fn new(context: &'a Context<'a>, session: &'a Session, lexed: &'a Lexed, lexemes: &'a [Lexeme]) -> Self {
        let cursor = Cursor::new(lexed, lexemes);
        StatementReader { context, session, cursor, whole: lexemes, path_format: None, problems: Problems::default() }
    }

    /// What the tokens say: one statement, or several for `FROM … INSERT … INSERT …`.
    fn statements(&mut self) -> Vec<Statement> {
        let outcome = if self.cursor.at_words(&["from"]) && self.writes_inside() {
            self.multi_insert()
        } else {
            self.dispatch().map(|statement| vec![statement])
        };
        outcome.unwrap_or_else(|problem| {
            let span = problem.span.or_else(|| span_of(self.whole, self.context));
            self.problems.error("sql-syntax", problem.message, span);
            vec![Statement::Broken]
        })
    }

    fn dispatch(&mut self) -> Read<Statement> {
        let first = match self.cursor.peek() {
            Some(Token::Word(word)) if word.quote_style.is_none() => word.value.to_ascii_lowercase(),
            Some(Token::LParen) => "select".to_owned(),
            _ => String::new(),
        };
        match first.as_str() {
            "create" => self.create(),
            "apply" if self.cursor.at_words(&["apply", "changes"]) => self.apply_changes(),
            "auto" if self.cursor.at_words(&["auto", "cdc"]) => self.apply_changes(),
            "alter" => self.alter(),
            "set" | "reset" => self.set(),
            "declare" => self.declare(),
            "use" => self.use_namespace(),
            "from" | "select" | "values" | "table" => Ok(Statement::Query(Box::new(self.rest_as_query()))),
            "with" if self.writes_inside() => self.batch("insert"),
            "with" => Ok(Statement::Query(Box::new(self.rest_as_query()))),
            "insert" | "merge" | "delete" | "update" | "truncate" | "copy" | "drop" => self.batch(&first),
            _ => self.other(),
        }
    }

    /// Statements that are kept by name. Those of the first list neither define nor change what tables hold.
    fn other(&mut self) -> Read<Statement> {
        const HARMLESS: [&str; 23] = [
            "add", "analyze", "cache", "clear", "comment", "describe", "desc", "explain", "fsck", "generate", "grant",
            "list", "msck", "optimize", "refresh", "remove", "revoke", "show", "uncache", "undrop", "unset", "vacuum",
            "reorg",
        ];
        const KNOWN: [&str; 11] =
            ["begin", "call", "execute", "load", "repair", "restore", "convert", "deny", "export", "import", "sync"];
        let matches = |words: &[&str]| words.iter().any(|word| self.cursor.at_words(&[word]));
        let matters = !matches(&HARMLESS);
        if matters && !matches(&KNOWN) {
            return Err(self.unexpected("a statement"));
        }
        Ok(Statement::Other { what: self.first_words(), matters })
    }

    /// The statement's first words, to name it by.
    fn first_words(&self) -> String {
        let words: Vec<String> = self
            .whole
            .iter()
            .take(3)
            .map_while(|lexeme| match &lexeme.token {
                Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_uppercase()),
                _ => None,
            })
            .collect();
        words.join(" ")
    }

    fn platform(&self) -> Platform {
        self.context.platform()
    }

    fn place_of(&self, lexemes: &[Lexeme]) -> Place {
        Place::from(span_of(lexemes, self.context))
    }

    /// The place from a token to the last one read.
    fn place_since(&self, start: usize) -> Place {
        self.place_of(self.cursor.since(start))
    }

    fn unexpected(&self, wanted: &str) -> Problem {
        let message = match self.cursor.peek() {
            Some(token) => format!("expected {wanted}, found `{}`", super::text::decode(&token.to_string())),
            None => format!("expected {wanted}, found the end of the statement"),
        };
        let at = self.cursor.lexeme().or(self.whole.last());
        Problem { message, span: at.and_then(|lexeme| span_of(std::slice::from_ref(lexeme), self.context)) }
    }

    fn expect_word(&mut self, word: &str) -> Read<()> {
        if self.cursor.take_word(word) { Ok(()) } else { Err(self.unexpected(&word.to_uppercase())) }
    }

    fn expect_words(&mut self, words: &[&str]) -> Read<()> {
        words.iter().try_for_each(|word| self.expect_word(word))
    }

    fn expect_string(&mut self, after: &str) -> Read<String> {
        self.cursor.take_string().ok_or_else(|| self.unexpected(&format!("a string after {after}")))
    }

    fn expect_parenthesized(&mut self, what: &str) -> Read<&'a [Lexeme]> {
        self.cursor.take_parenthesized().ok_or_else(|| self.unexpected(&format!("`(` … `)` with {what}")))
    }

    /// A table's name: dotted, or `IDENTIFIER(constant)`.
    fn name_parts(&mut self) -> Read<Vec<String>> {
        if self.cursor.at_words(&["identifier"]) && self.cursor.peek_at(1) == Some(&Token::LParen) {
            self.cursor.advance();
            let inner = self.expect_parenthesized("a name")?;
            return Ok(self.lowered(inner, |parser| parser.parse_expr(), |lowering, expr| lowering.identifier(expr)));
        }
        if let Some(text) = self.cursor.take_string() {
            return Ok(QualifiedName::parse(&text).parts().map(str::to_owned).collect());
        }
        self.cursor.take_name().ok_or_else(|| self.unexpected("a name"))
    }

    /// The name of a dataset that this statement defines or writes: completed by `USE`, then by the pipeline's defaults.
    fn target_name(&mut self) -> Read<QualifiedName> {
        let parts = self.name_parts()?;
        Ok(self.published(&parts))
    }

    fn published(&self, parts: &[String]) -> QualifiedName {
        let name = match parts {
            [live, rest @ ..] if live.eq_ignore_ascii_case("live") && !rest.is_empty() => {
                QualifiedName::from_parts(rest)
            }
            parts => {
                let namespace = &self.session.namespace;
                QualifiedName::from_parts(parts).qualified(namespace.catalog.as_deref(), namespace.schema.as_deref())
            }
        };
        match self.context.pipeline {
            Some(pipeline) => name.qualified(pipeline.catalog.as_deref(), pipeline.schema.as_deref()),
            None => name,
        }
    }

    /// Hands tokens to sqlparser and lowers what it gives; a failure is reported and gives the default.
    fn lowered<A, T: Default>(
        &mut self,
        lexemes: &[Lexeme],
        parse: impl FnOnce(&mut sqlparser::parser::Parser) -> Result<A, sqlparser::parser::ParserError>,
        lower: impl FnOnce(&mut Lowering, &A) -> T,
    ) -> T {
        self.try_lowered(lexemes, parse, lower).unwrap_or_default()
    }

    fn try_lowered<A, T>(
        &mut self,
        lexemes: &[Lexeme],
        parse: impl FnOnce(&mut sqlparser::parser::Parser) -> Result<A, sqlparser::parser::ParserError>,
        lower: impl FnOnce(&mut Lowering, &A) -> T,
    ) -> Option<T> {
        match parse_lexemes(lexemes, parse) {
            Ok((parsed, suffixes)) => {
                let mut lowering = Lowering::new(self.context, &self.session.namespace, suffixes);
                let value = lower(&mut lowering, &parsed);
                self.problems.extend(lowering.problems);
                Some(value)
            }
            Err(error) => {
                let problem = Problem::of(error, self.context);
                let span = problem.span.or_else(|| span_of(self.whole, self.context));
                self.problems.error("sql-syntax", problem.message, span);
                None
            }
        }
    }

    fn query(&mut self, lexemes: &[Lexeme]) -> Plan {
        let place = self.place_of(lexemes);
        let text = self.cursor.text_of(lexemes);
        let plan = self.try_lowered(lexemes, |parser| parser.parse_query(), |lowering, query| lowering.query(query));
        plan.unwrap_or_else(|| opaque_relation("query", &text, place, Vec::new()))
    }

    fn rest_as_query(&mut self) -> Plan {
        let rest = self.cursor.rest();
        self.cursor.skip_to_end();
        self.query(rest)
    }

    fn expression(&mut self, lexemes: &[Lexeme]) -> Expr {
        let place = self.place_of(lexemes);
        let text = self.cursor.text_of(lexemes);
        let expr = self.try_lowered(lexemes, |parser| parser.parse_expr(), |lowering, expr| lowering.expression(expr));
        expr.unwrap_or_else(|| opaque_expression("expression", &text, place))
    }

    /// A relation as it stands after FROM.
    fn relation(&mut self, lexemes: &[Lexeme]) -> Plan {
        let start = lexemes.first().map_or(Span::empty(), |lexeme| Span::new(lexeme.span.start, lexeme.span.start));
        let head = [Token::make_keyword("SELECT"), Token::Mul, Token::make_keyword("FROM")];
        let at = lexemes.first().map_or(0, |lexeme| lexeme.bytes.start);
        let mut tokens: Vec<Lexeme> =
            head.into_iter().map(|token| Lexeme { token, span: start, bytes: at..at }).collect();
        tokens.extend_from_slice(lexemes);
        let place = self.place_of(lexemes);
        match self.query(&tokens) {
            Plan { node: Node::Project { input, .. }, .. } => *input,
            other => Plan { place, ..other },
        }
    }

    /// Names in parentheses: `(a, b)`.
    fn column_names(&mut self, lexemes: &'a [Lexeme]) -> Vec<String> {
        split_commas(lexemes).iter().map(|item| unquoted(&self.cursor.text_of(item))).collect()
    }

    /// Reports a construct that open-source Spark's parser refuses.
    fn only_on_lakeflow(&mut self, what: &str, place: &Place) {
        if self.platform() == Platform::Spark {
            let message = format!("{what} is not part of Apache Spark's pipeline SQL: the update fails to parse it");
            self.problems.error("not-on-platform", message, place.span().cloned());
        }
    }

    /// Reports what stands where a clause is expected, and goes on at the next clause that is known.
    fn unknown_clause(&mut self, known: impl Fn(&Cursor<'a>) -> bool) {
        let start = self.cursor.index();
        self.cursor.take_until(known);
        let skipped = self.cursor.since(start);
        let text: String = self.cursor.text_of(skipped).chars().take(60).collect();
        let span = span_of(skipped, self.context);
        self.problems.report(
            DiagnosticLevel::Error,
            "sql-syntax",
            format!("`{text}` is not a clause of this statement"),
            span,
        );
    }

    /// `('key' = 'value', key.two = false)`, keys as written.
    fn key_values(&mut self, what: &str) -> Read<BTreeMap<String, String>> {
        let inner = self.expect_parenthesized(what)?;
        let mut pairs = BTreeMap::new();
        for item in split_commas(inner) {
            let equals = item.iter().position(|lexeme| lexeme.token == Token::Eq);
            let (key, value) = match equals {
                Some(at) => (item.get(..at).unwrap_or_default(), item.get(at + 1..).unwrap_or_default()),
                // The sign may be left out: `('key' 'value')`.
                None => item.split_at_checked(1).unwrap_or((item, &[])),
            };
            let key = unquoted(&self.cursor.text_of(key)).replace(" . ", ".");
            if key.is_empty() {
                return Err(Problem {
                    message: format!("expected a key in {what}"),
                    span: span_of(item, self.context),
                });
            }
            pairs.insert(key, unquoted(&self.cursor.text_of(value)));
        }
        Ok(pairs)
    }
}

/// Pieces between commas outside parentheses and brackets; empty pieces are left out.
fn split_commas(lexemes: &[Lexeme]) -> Vec<&[Lexeme]> {
    let mut pieces = Vec::new();
    let (mut start, mut depth) = (0usize, 0i32);
    for (index, lexeme) in lexemes.iter().enumerate() {
        match lexeme.token {
            Token::LParen | Token::Lt | Token::LBracket => depth += 1,
            Token::RParen | Token::Gt | Token::RBracket => depth -= 1,
            Token::ShiftRight => depth -= 2,
            Token::Comma if depth <= 0 => {
                pieces.extend(lexemes.get(start..index));
                start = index + 1;
            }
            _ => {}
        }
    }
    pieces.extend(lexemes.get(start..));
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// A literal's or identifier's text without its quotes.
fn unquoted(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), chars.next_back()) {
        (Some(open @ ('\'' | '"' | '`')), Some(close)) if open == close => chars.as_str().to_owned(),
        _ => text.to_owned(),
    }
}

fn starts_with_word(lexemes: &[Lexeme], word: &str) -> bool {
    lexemes.first().is_some_and(|lexeme| is_word(&lexeme.token, word))
}
