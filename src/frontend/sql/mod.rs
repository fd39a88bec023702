//! Spark SQL: from text to plans, types, and what the statements of a pipeline file define.
//!
//! The road of a text: [`text`] fills in `${conf}`; [`tokens`] cuts it into tokens and statements; [`rewrite`] changes what
//! sqlparser does not know; [`parse`] hands the rest to sqlparser under our [`dialect`]; [`lower`] makes plans.
//! Nothing here executes or looks at other files, and every problem comes back with a place.

mod cursor;
mod define;
mod dialect;
mod lower;
mod parse;
mod portable;
#[cfg(test)]
mod query_tests;
mod relation_suffix;
mod rewrite;
#[cfg(test)]
mod robustness_tests;
mod statements;
mod text;
mod tokens;
mod types;

pub use define::define;
pub use portable::{Definition, Portable, PortableQuery, Replacements, portable_query, portable_statements};
pub use statements::{Script, Session, Statement, parse_statements};
pub use tokens::comments;
pub use types::{parse_data_type, parse_schema_ddl};

use super::content_hash;
use super::origin::Origin;
use crate::model::{
    DataType, Diagnostic, DiagnosticLevel, Expr, Node, Opaque, Pipeline, Place, Plan, Platform, Schema, Span,
    Unresolved,
};
use lower::{CurrentNamespace, Lowering};
use parse::{SyntaxError, parse_lexemes};
use sqlparser::parser::Parser;
use std::borrow::Cow;
use std::collections::BTreeMap;
use tokens::{Lexed, lex, pair, span_of};

/// What a text is read in: where it stands, and which pipeline's settings hold.
#[derive(Debug, Clone, Default)]
pub struct Context<'a> {
    pub origin: Origin,
    pub pipeline: Option<&'a Pipeline>,
    /// What `SET` statements give to `${name}`, over the pipeline's configuration.
    settings: BTreeMap<String, String>,
}

static NO_CONFIGURATION: BTreeMap<String, String> = BTreeMap::new();

impl<'a> Context<'a> {
    pub fn new(origin: Origin) -> Self {
        Context { origin, ..Context::default() }
    }

    pub fn in_pipeline(origin: Origin, pipeline: &'a Pipeline) -> Self {
        Context { origin, pipeline: Some(pipeline), settings: BTreeMap::new() }
    }

    fn configuration(&self) -> Cow<'_, BTreeMap<String, String>> {
        let configuration = self.pipeline.map_or(&NO_CONFIGURATION, |pipeline| &pipeline.configuration);
        if self.settings.is_empty() {
            return Cow::Borrowed(configuration);
        }
        let mut all = configuration.clone();
        all.extend(self.settings.clone());
        Cow::Owned(all)
    }

    /// The same place of the same pipeline, where `SET` gives these values.
    fn with_settings(&self, settings: BTreeMap<String, String>) -> Self {
        Context { settings, ..self.clone() }
    }

    /// The value of `:name`.
    fn parameter(&self, name: &str) -> Option<&str> {
        let pipeline = self.pipeline?;
        let setting = pipeline.settings.get(&format!("parameters.{name}"));
        setting.or_else(|| pipeline.configuration.get(name)).map(String::as_str)
    }

    fn platform(&self) -> Platform {
        self.pipeline.map_or(Platform::Lakeflow, |pipeline| pipeline.platform)
    }
}

/// What went wrong or stayed unknown on the way.
#[derive(Debug, Clone, Default)]
pub struct Problems {
    pub diagnostics: Vec<Diagnostic>,
    pub unresolved: Vec<Unresolved>,
}

impl Problems {
    fn report(&mut self, level: DiagnosticLevel, code: &'static str, message: String, span: Option<Span>) {
        let path = span.as_ref().map(|span| span.path.to_string());
        self.diagnostics.push(Diagnostic { level, code, message, help: None, path, span });
    }

    fn error(&mut self, code: &'static str, message: String, span: Option<Span>) {
        self.report(DiagnosticLevel::Error, code, message, span);
    }

    fn warning(&mut self, code: &'static str, message: String, span: Option<Span>) {
        self.report(DiagnosticLevel::Warning, code, message, span);
    }

    pub fn extend(&mut self, other: Problems) {
        self.diagnostics.extend(other.diagnostics);
        self.unresolved.extend(other.unresolved);
    }
}

/// A lowered thing with what was found out about it. Where nothing could be made of the text, `value` is opaque.
#[derive(Debug, Clone)]
pub struct Parsed<T> {
    pub value: T,
    pub problems: Problems,
}

/// A broken text, before it is known what level and code its diagnostic has.
#[derive(Debug, Clone)]
struct Problem {
    message: String,
    span: Option<Span>,
}

impl Problem {
    fn of(error: SyntaxError, context: &Context) -> Self {
        let span = error.span.and_then(|span| context.origin.span(pair(span.start), pair(span.end)));
        Problem { message: error.message, span }
    }
}

/// A query (`SELECT`, `WITH`, `FROM … SELECT`, `VALUES`, `TABLE`).
pub fn parse_query(text: &str, context: &Context) -> Parsed<Plan> {
    let parsed = parse_text(text, context, |parser| parser.parse_query(), |lowering, query| lowering.query(query));
    parsed.or_else(|reason, place| Plan::unresolved("query", reason, content_hash(text), place))
}

/// A scalar expression; `name` of an `AS name` behind it is kept as an alias, and `*` is allowed, as `selectExpr` has it.
pub fn parse_expression(text: &str, context: &Context) -> Parsed<Expr> {
    let parsed = parse_text(
        text,
        context,
        |parser| parser.parse_select_item(),
        |lowering, item| lowering.select_list(std::slice::from_ref(item)).pop().unwrap_or_else(Expr::null),
    );
    parsed.or_else(|_, place| opaque_expression("expression", text, place))
}

fn parse_text<A, T>(
    text: &str,
    context: &Context,
    parse: impl FnOnce(&mut Parser) -> Result<A, sqlparser::parser::ParserError>,
    lower: impl FnOnce(&mut Lowering, &A) -> T,
) -> Parsed<Result<T, (String, Place)>> {
    let lexed = lex(text, context);
    let mut lexemes = lexed.lexemes.as_slice();
    // One closing semicolon is harmless.
    if let [rest @ .., last] = lexemes
        && last.token == sqlparser::tokenizer::Token::SemiColon
    {
        lexemes = rest;
    }
    let mut problems = Problems::default();
    report_unknown(&lexed, &mut problems);
    let namespace = CurrentNamespace::default();
    let outcome = match &lexed.error {
        Some(problem) => Err(problem.clone()),
        None => parse_lexemes(lexemes, parse).map_err(|error| Problem::of(error, context)),
    };
    match outcome {
        Ok((parsed, suffixes)) => {
            let mut lowering = Lowering::new(context, &namespace, suffixes);
            let value = lower(&mut lowering, &parsed);
            problems.extend(lowering.problems);
            Parsed { value: Ok(value), problems }
        }
        Err(problem) => {
            let whole = span_of(lexemes, context);
            problems.error("sql-syntax", problem.message.clone(), problem.span.or(whole.clone()));
            Parsed { value: Err((problem.message, Place::from(whole))), problems }
        }
    }
}

impl<T> Parsed<Result<T, (String, Place)>> {
    fn or_else(self, otherwise: impl FnOnce(&str, Place) -> T) -> Parsed<T> {
        let value = self.value.unwrap_or_else(|(message, place)| otherwise(&message, place));
        Parsed { value, problems: self.problems }
    }
}

/// `${name}`s that have no value.
fn report_unknown(lexed: &Lexed, problems: &mut Problems) {
    for (name, place) in &lexed.unknown {
        problems.unresolved.push(Unresolved {
            code: "unknown-name".to_owned(),
            what: format!("${{{name}}}"),
            why: "the pipeline's configuration has no value for it".to_owned(),
            hint: Some(format!("add `{name}` to the pipeline's configuration")),
            pipeline: None,
            dataset: None,
            span: place.span().cloned(),
        });
    }
}

/// An expression of which only the text is known.
fn opaque_expression(what: &str, text: &str, place: Place) -> Expr {
    Expr::Opaque(Opaque {
        name: what.into(),
        reason: "it is not understood".into(),
        content: content_hash(text),
        args: Vec::new(),
        data_type: DataType::Unknown,
        deterministic: true,
        code: Vec::new(),
        place,
    })
}

/// A relation of which only the text is known.
fn opaque_relation(what: &str, text: &str, place: Place, inputs: Vec<Plan>) -> Plan {
    let mut plan = Plan::unresolved(what, "it is not understood", content_hash(text), place);
    if let Node::Opaque { inputs: own, output, .. } = &mut plan.node {
        *own = inputs;
        *output = Schema::unknown();
    }
    plan
}
