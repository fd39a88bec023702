//! Spark SQL as Databricks and open-source Spark write it, on top of `sqlparser`'s own Databricks dialect.
//!
//! What differs: identifiers may hold placeholders, `struct(…)` takes aliases and stars, `INTERVAL` takes several units, types
//! are Spark's, and shifts and `||` bind as in Spark's grammar.

use super::text::is_placeholder_char;
use super::tokens::{Literal, interval_tokens};
use sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, TypeModifier,
};
use sqlparser::dialect::{DatabricksDialect, Dialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, Word};
use std::any::TypeId;

/// Name of the pseudo function that carries an interval literal: its arguments are string literals, see [`interval_tokens`].
pub(super) const INTERVAL_FUNCTION: &str = "\u{1}interval";
/// Name of the pseudo function that carries a typed string whose type sqlparser does not know: type name, string.
pub(super) const TYPED_STRING_FUNCTION: &str = "\u{1}typed";
/// First modifier of a `DataType::Custom` that carries the text of a Spark type.
pub(super) const TYPE_MARK: &str = "\u{1}type";

#[derive(Debug, Default, Clone, Copy)]
pub(super) struct SparkDialect;

impl Dialect for SparkDialect {
    /// Parser branches that sqlparser keeps for Databricks are ours too.
    fn dialect(&self) -> TypeId {
        TypeId::of::<DatabricksDialect>()
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        ch == '`'
    }

    fn identifier_quote_style(&self, _identifier: &str) -> Option<char> {
        Some('`')
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        ch.is_alphabetic() || ch == '_' || is_placeholder_char(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        ch.is_alphanumeric() || ch == '_' || is_placeholder_char(ch)
    }

    /// Keywords may name tables, but a clause's keyword ends a FROM list.
    fn is_table_factor(&self, _kw: &Keyword, _parser: &mut Parser) -> bool {
        true
    }

    fn supports_comparison_in_between_low_bound(&self) -> bool {
        true
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }

    fn supports_group_by_expr(&self) -> bool {
        true
    }

    fn supports_group_by_with_modifier(&self) -> bool {
        true
    }

    fn supports_table_versioning(&self) -> bool {
        true
    }

    fn supports_lambda_functions(&self) -> bool {
        true
    }

    fn supports_select_wildcard_except(&self) -> bool {
        true
    }

    fn supports_select_wildcard_replace(&self) -> bool {
        true
    }

    fn supports_nested_comments(&self) -> bool {
        true
    }

    fn supports_values_as_table_factor(&self) -> bool {
        true
    }

    fn supports_parens_around_table_factor(&self) -> bool {
        true
    }

    fn supports_bang_not_operator(&self) -> bool {
        true
    }

    fn supports_cte_without_as(&self) -> bool {
        true
    }

    fn supports_select_item_multi_column_alias(&self) -> bool {
        true
    }

    fn supports_data_type_collation(&self) -> bool {
        true
    }

    fn supports_string_literal_backslash_escape(&self) -> bool {
        true
    }

    fn supports_string_literal_concatenation(&self) -> bool {
        true
    }

    fn supports_from_first_select(&self) -> bool {
        true
    }

    fn supports_pipe_operator(&self) -> bool {
        true
    }

    fn supports_order_by_all(&self) -> bool {
        true
    }

    fn supports_window_function_null_treatment_arg(&self) -> bool {
        true
    }

    fn supports_window_clause_named_window_reference(&self) -> bool {
        true
    }

    fn supports_table_sample_before_alias(&self) -> bool {
        true
    }

    fn supports_bitwise_shift_operators(&self) -> bool {
        true
    }

    fn supports_left_associative_joins_without_parens(&self) -> bool {
        true
    }

    fn supports_string_literal_column_alias(&self, _explicit: bool) -> bool {
        false
    }

    fn supports_string_literal_table_alias(&self, _explicit: bool) -> bool {
        false
    }

    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        // Spark's `valueExpression`: `+ - ||` bind tighter than shifts, and shifts tighter than `&`.
        match parser.peek_token_ref().token {
            Token::StringConcat => Some(Ok(self.prec_value(Precedence::PlusMinus))),
            // `x?::type` is try_cast.
            Token::Question | Token::Placeholder(_) if parser.peek_nth_token_ref(1).token == Token::DoubleColon => {
                Some(Ok(self.prec_value(Precedence::DoubleColon)))
            }
            Token::ShiftLeft | Token::ShiftRight => Some(Ok(self.prec_value(Precedence::PlusMinus) - 1)),
            _ => None,
        }
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        let Token::Word(word) = &parser.peek_token_ref().token else { return None };
        if word.quote_style.is_some() {
            return None;
        }
        match word.keyword {
            Keyword::STRUCT if parser.peek_nth_token_ref(1).token == Token::LParen => Some(parse_struct(parser)),
            Keyword::INTERVAL => parse_interval(parser, self.prec_value(Precedence::MulDivModOp)),
            _ => parse_typed_string(parser),
        }
    }

    fn parse_infix(&self, parser: &mut Parser, expr: &Expr, precedence: u8) -> Option<Result<Expr, ParserError>> {
        let tried = matches!(&parser.peek_token_ref().token, Token::Question | Token::Placeholder(_));
        if tried && parser.peek_nth_token_ref(1).token == Token::DoubleColon {
            parser.next_token();
            parser.next_token();
            return Some(parser.parse_data_type().map(|data_type| Expr::Cast {
                kind: CastKind::TryCast,
                expr: Box::new(expr.clone()),
                data_type,
                format: None,
            }));
        }
        if !parser.parse_keyword(Keyword::DIV) {
            return None;
        }
        let right = parser.parse_subexpr(precedence);
        Some(right.map(|right| Expr::BinaryOp {
            left: Box::new(expr.clone()),
            op: BinaryOperator::MyIntegerDivide,
            right: Box::new(right),
        }))
    }

    fn parse_data_type(&self, parser: &mut Parser) -> Option<Result<DataType, ParserError>> {
        let Token::Word(word) = &parser.peek_token_ref().token else { return None };
        let nested = matches!(word.keyword, Keyword::STRUCT | Keyword::ARRAY | Keyword::MAP)
            && parser.peek_nth_token_ref(1).token == Token::Lt
            || word.keyword == Keyword::STRUCT && parser.peek_nth_token_ref(1).token == Token::Neq;
        if nested {
            return Some(nested_type(parser));
        }
        (word.keyword == Keyword::INTERVAL).then(|| interval_type(parser))
    }
}

fn type_of_text(text: String) -> DataType {
    DataType::Custom(ObjectName::from(vec![Ident::new(TYPE_MARK)]), vec![TypeModifier::String(text)])
}

/// Takes the tokens up to the closing angle bracket; the type itself is parsed when the plan is made.
fn nested_type(parser: &mut Parser) -> Result<DataType, ParserError> {
    let mut text = String::new();
    let mut depth = 0i32;
    loop {
        let token = parser.next_token();
        match token.token {
            Token::EOF | Token::SemiColon => return parser.expected("`>` of the type", token),
            Token::Lt => depth += 1,
            Token::Gt => depth -= 1,
            Token::ShiftRight => depth -= 2,
            _ => {}
        }
        text.push_str(&token.token.to_string());
        text.push(' ');
        if depth <= 0 && matches!(token.token, Token::Gt | Token::ShiftRight | Token::Neq) {
            return Ok(type_of_text(text));
        }
    }
}

fn interval_type(parser: &mut Parser) -> Result<DataType, ParserError> {
    parser.next_token();
    let mut text = String::from("interval");
    for _ in 0..3 {
        let Token::Word(word) = &parser.peek_token_ref().token else { break };
        let lower = word.value.to_ascii_lowercase();
        if !matches!(lower.as_str(), "year" | "month" | "day" | "hour" | "minute" | "second" | "to") {
            break;
        }
        text.push(' ');
        text.push_str(&lower);
        parser.next_token();
    }
    Ok(type_of_text(text))
}

/// `struct(a, b AS c, d.*)`.
fn parse_struct(parser: &mut Parser) -> Result<Expr, ParserError> {
    let name = parser.next_token();
    parser.expect_token(&Token::LParen)?;
    let mut values = Vec::new();
    while parser.peek_token_ref().token != Token::RParen {
        let item = parser.parse_select_item()?;
        values.push(match item {
            sqlparser::ast::SelectItem::UnnamedExpr(expr) => FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)),
            sqlparser::ast::SelectItem::ExprWithAlias { expr, alias } => {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Named { expr: Box::new(expr), name: alias }))
            }
            sqlparser::ast::SelectItem::Wildcard(options) => {
                FunctionArg::Unnamed(FunctionArgExpr::WildcardWithOptions(options))
            }
            sqlparser::ast::SelectItem::QualifiedWildcard(
                sqlparser::ast::SelectItemQualifiedWildcardKind::ObjectName(object),
                _,
            ) => FunctionArg::Unnamed(FunctionArgExpr::QualifiedWildcard(object)),
            _ => return parser.expected("an expression with at most one alias", parser.peek_token()),
        });
        if !parser.consume_token(&Token::Comma) {
            break;
        }
    }
    parser.expect_token(&Token::RParen)?;
    let mut ident = Ident::new("struct");
    ident.span = name.span;
    Ok(Expr::Function(function(ident, values)))
}

fn function(name: Ident, args: Vec<FunctionArg>) -> Function {
    Function {
        name: ObjectName::from(vec![name]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    }
}

fn string_argument(text: String) -> FunctionArg {
    FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(
        sqlparser::ast::Value::SingleQuotedString(text).with_empty_span(),
    )))
}

/// An interval literal, `INTERVAL expression unit`, or a column of that name.
fn parse_interval(parser: &mut Parser, precedence: u8) -> Option<Result<Expr, ParserError>> {
    let tokens: Vec<Token> = (1..24).map(|n| parser.peek_nth_token_ref(n).token.clone()).collect();
    let Some((count, literal)) = interval_tokens(&tokens) else {
        let token = parser.next_token();
        let Token::Word(word) = token.token else { return None };
        return Some(Ok(Expr::Identifier(word.into_ident(token.span))));
    };
    let name = parser.next_token();
    for _ in 0..count {
        parser.next_token();
    }
    let mut ident = Ident::new(INTERVAL_FUNCTION);
    ident.span = name.span;
    let mut args = Vec::new();
    match literal {
        Literal::Units(units) => {
            for (value, unit) in units {
                args.push(string_argument(value));
                args.push(string_argument(unit));
            }
        }
        Literal::Text(text) => args.push(string_argument(text)),
        Literal::Range { text, from, to } => {
            args.extend([text, from, to].map(string_argument));
        }
        Literal::Expression => {
            let parsed = parser.parse_subexpr(precedence);
            let expr = match parsed {
                Ok(expr) => expr,
                Err(error) => return Some(Err(error)),
            };
            let unit = parser.next_token();
            let Token::Word(unit) = unit.token else {
                return Some(parser.expected("a unit of the interval", unit));
            };
            args.push(FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)));
            args.push(string_argument(unit.value));
        }
    }
    Some(Ok(Expr::Function(function(ident, args))))
}

/// `TIMESTAMP_NTZ'…'` and `TIMESTAMP_LTZ'…'`.
fn parse_typed_string(parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
    let Token::Word(Word { value, .. }) = &parser.peek_token_ref().token else { return None };
    let name = value.to_ascii_lowercase();
    if !matches!(name.as_str(), "timestamp_ntz" | "timestamp_ltz") {
        return None;
    }
    let (Token::SingleQuotedString(text) | Token::DoubleQuotedString(text)) = &parser.peek_nth_token_ref(1).token
    else {
        return None;
    };
    let text = text.clone();
    let token = parser.next_token();
    parser.next_token();
    let mut ident = Ident::new(TYPED_STRING_FUNCTION);
    ident.span = token.span;
    Some(Ok(Expr::Function(function(ident, vec![string_argument(name), string_argument(text)]))))
}
