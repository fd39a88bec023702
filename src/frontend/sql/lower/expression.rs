//! Expressions: operators, predicates, names, literals, subqueries and lambdas.

use super::{Lowering, literal};
use crate::frontend::sql::dialect::TYPE_MARK;
use crate::frontend::sql::text::decode;
use crate::frontend::sql::types;
use crate::model::{ColumnName, DataType, Expr, SubqueryKind, Value};
use sqlparser::ast::{self, Spanned};
use std::sync::Arc;

impl Lowering<'_> {
    pub fn expression(&mut self, expr: &ast::Expr) -> Expr {
        use ast::Expr as E;
        match expr {
            E::Identifier(ident) => self.column(std::slice::from_ref(ident)),
            E::CompoundIdentifier(idents) => self.column(idents),
            E::CompoundFieldAccess { root, access_chain } => self.access(root, access_chain),
            E::JsonAccess { value, path } => self.json_access(value, path),
            E::Nested(inner) => self.expression(inner),
            E::Value(value) => self.value(value),
            E::TypedString(typed) => self.typed_string(typed, expr),
            E::UnaryOp { op, expr: operand } => self.unary(*op, operand, expr),
            E::BinaryOp { left, op, right } => self.binary(left, op, right, expr),
            E::Cast { kind, expr: operand, data_type, .. } => {
                let operand = self.expression(operand);
                let to = self.data_type(data_type, expr);
                Expr::Cast { expr: Box::new(operand), to, try_cast: matches!(kind, ast::CastKind::TryCast) }
            }
            E::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref())
            }
            E::Function(call) => self.function(call, expr),
            E::Lambda(lambda) => self.lambda(lambda),
            E::Subquery(query) => self.subquery(SubqueryKind::Scalar, query),
            E::Exists { subquery, negated } => self.subquery(SubqueryKind::Exists { negated: *negated }, subquery),
            E::Wildcard(_) => self.star(Vec::new(), &ast::WildcardAdditionalOptions::default(), expr.span()),
            E::QualifiedWildcard(name, _) => {
                self.star(super::relation::name_parts(name), &ast::WildcardAdditionalOptions::default(), expr.span())
            }
            E::Tuple(items) => {
                let items = items.iter().map(|item| self.expression(item)).collect();
                Expr::call("struct", items)
            }
            E::Named { expr: inner, name } => {
                let place = self.place(name.span);
                self.expression(inner).alias_at(decode(&name.value), place)
            }
            E::Collate { expr: inner, collation } => {
                let inner = self.expression(inner);
                Expr::call("collate", vec![inner, Expr::string(&decode(&collation.to_string()))])
            }
            E::Extract { .. }
            | E::Ceil { .. }
            | E::Floor { .. }
            | E::Position { .. }
            | E::Substring { .. }
            | E::Trim { .. }
            | E::Overlay { .. } => self.keyword_function(expr),
            _ => self.predicate(expr),
        }
    }

    fn operands<const N: usize>(&mut self, exprs: [&ast::Expr; N]) -> Vec<Expr> {
        exprs.into_iter().map(|expr| self.expression(expr)).collect()
    }

    fn predicate(&mut self, expr: &ast::Expr) -> Expr {
        use ast::Expr as E;
        let truth = |value: bool| Expr::literal(Value::Boolean(value), DataType::Boolean);
        match expr {
            E::IsNull(inner) => Expr::call("isnull", self.operands([inner])),
            E::IsNotNull(inner) => Expr::call("isnotnull", self.operands([inner])),
            E::IsUnknown(inner) => Expr::call("isnull", self.operands([inner])),
            E::IsNotUnknown(inner) => Expr::call("isnotnull", self.operands([inner])),
            E::IsTrue(inner) => Expr::call("<=>", vec![self.expression(inner), truth(true)]),
            E::IsFalse(inner) => Expr::call("<=>", vec![self.expression(inner), truth(false)]),
            E::IsNotTrue(inner) => not(true, Expr::call("<=>", vec![self.expression(inner), truth(true)])),
            E::IsNotFalse(inner) => not(true, Expr::call("<=>", vec![self.expression(inner), truth(false)])),
            E::IsNotDistinctFrom(left, right) => Expr::call("<=>", self.operands([left, right])),
            E::IsDistinctFrom(left, right) => not(true, Expr::call("<=>", self.operands([left, right]))),
            E::Between { expr: inner, negated, low, high } => {
                let inner = self.expression(inner);
                let (low, high) = (self.expression(low), self.expression(high));
                let lower = Expr::call(">=", vec![inner.clone(), low]);
                let upper = Expr::call("<=", vec![inner, high]);
                not(*negated, Expr::call("and", vec![lower, upper]))
            }
            E::In { expr: inner, target, negated, .. } => self.in_predicate(inner, target, *negated, expr),
            E::Like { negated, any, expr: inner, pattern, escape_char } => {
                self.like("like", *negated, *any, inner, pattern, escape_char.as_deref())
            }
            E::ILike { negated, any, expr: inner, pattern, escape_char } => {
                self.like("ilike", *negated, *any, inner, pattern, escape_char.as_deref())
            }
            E::RLike { negated, expr: inner, pattern, .. } => {
                not(*negated, Expr::call("rlike", self.operands([inner, pattern])))
            }
            other => {
                let text = decode(&other.to_string());
                self.opaque_expression("this expression", &text, other.span())
            }
        }
    }

    fn in_predicate(&mut self, inner: &ast::Expr, target: &ast::InTarget, negated: bool, whole: &ast::Expr) -> Expr {
        match target {
            ast::InTarget::List(items) => {
                let mut args = vec![self.expression(inner)];
                args.extend(items.iter().map(|item| self.expression(item)));
                not(negated, Expr::call("in", args))
            }
            ast::InTarget::Subquery(query) => {
                let operands = match inner {
                    ast::Expr::Tuple(items) => items.iter().map(|item| self.expression(item)).collect(),
                    single => vec![self.expression(single)],
                };
                self.subquery(SubqueryKind::In { operands, negated }, query)
            }
            _ => self.opaque_expression("this IN", &whole.to_string(), whole.span()),
        }
    }

    fn subquery(&mut self, kind: SubqueryKind, query: &ast::Query) -> Expr {
        let windows = std::mem::take(&mut self.windows);
        let plan = Box::new(self.query(query));
        self.windows = windows;
        Expr::Subquery { kind, plan }
    }

    /// `LIKE ANY (a, b)` is a disjunction.
    fn like(
        &mut self,
        function: &str,
        negated: bool,
        any: bool,
        inner: &ast::Expr,
        pattern: &ast::Expr,
        escape: Option<&ast::Expr>,
    ) -> Expr {
        let subject = self.expression(inner);
        let escape = escape.map(|escape| self.expression(escape));
        let one = |this: &mut Self, pattern: &ast::Expr| {
            let args = [subject.clone(), this.expression(pattern)].into_iter().chain(escape.clone()).collect();
            not(negated, Expr::call(function, args))
        };
        match pattern {
            ast::Expr::Tuple(patterns) if any => {
                let calls: Vec<Expr> = patterns.iter().map(|pattern| one(self, pattern)).collect();
                calls.into_iter().reduce(|left, right| Expr::call("or", vec![left, right])).unwrap_or_else(Expr::null)
            }
            ast::Expr::Nested(pattern) if any => one(self, pattern),
            pattern => one(self, pattern),
        }
    }

    /// A column, or a lambda's parameter with the fields behind it.
    pub(super) fn column(&mut self, idents: &[ast::Ident]) -> Expr {
        let parts: Vec<String> = idents.iter().map(|ident| decode(&ident.value)).collect();
        if let [first, fields @ ..] = parts.as_slice()
            && let Some(param) = self.lambda_params.iter().rev().find(|param| param.eq_ignore_ascii_case(first))
        {
            let variable =
                Expr::LambdaVariable { name: Arc::clone(param), data_type: DataType::Unknown, nullable: true };
            return fields.iter().fold(variable, |expr, field| Expr::call("getfield", vec![expr, Expr::string(field)]));
        }
        let span = sqlparser::tokenizer::Span::union_iter(idents.iter().map(|ident| ident.span));
        Expr::Column(ColumnName { parts, frame: None, place: self.place(span) })
    }

    /// `a.b[0].c`: leading names stay one column, what follows the first bracket is access.
    fn access(&mut self, root: &ast::Expr, chain: &[ast::AccessExpr]) -> Expr {
        let mut names: Vec<ast::Ident> = match root {
            ast::Expr::Identifier(ident) => vec![ident.clone()],
            ast::Expr::CompoundIdentifier(idents) => idents.clone(),
            _ => Vec::new(),
        };
        let mut rest = chain.iter().peekable();
        if !names.is_empty() {
            while let Some(ast::AccessExpr::Dot(ast::Expr::Identifier(ident))) = rest.peek() {
                names.push(ident.clone());
                rest.next();
            }
        }
        let mut expr = if names.is_empty() { self.expression(root) } else { self.column(&names) };
        for access in rest {
            expr = match access {
                ast::AccessExpr::Dot(ast::Expr::Identifier(ident)) => {
                    Expr::call("getfield", vec![expr, Expr::string(&decode(&ident.value))])
                }
                ast::AccessExpr::Subscript(ast::Subscript::Index { index }) => {
                    let index = self.expression(index);
                    Expr::call("getitem", vec![expr, index])
                }
                other => self.opaque_expression("this access", &other.to_string(), other.span()),
            };
        }
        expr
    }

    /// `col:a.b[0]`: Databricks' path into JSON text or a variant.
    fn json_access(&mut self, value: &ast::Expr, path: &ast::JsonPath) -> Expr {
        let mut text = String::new();
        for element in &path.path {
            match element {
                ast::JsonPathElem::Dot { key, .. } => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(&decode(key));
                }
                ast::JsonPathElem::Bracket { key } | ast::JsonPathElem::ColonBracket { key } => {
                    text.push_str(&format!("[{key}]"));
                }
            }
        }
        let value = self.expression(value);
        Expr::call("semi_structured_extract", vec![value, Expr::string(&text)])
    }

    fn value(&mut self, value: &ast::ValueWithSpan) -> Expr {
        use ast::Value as V;
        match &value.value {
            V::Number(digits, long) => match literal::number(digits, *long) {
                Some(expr) => expr,
                None => self.opaque_expression("this number", digits, value.span),
            },
            V::SingleQuotedString(text) | V::DoubleQuotedString(text) | V::EscapedStringLiteral(text) => {
                Expr::string(&decode(text))
            }
            V::SingleQuotedRawStringLiteral(text) | V::DoubleQuotedRawStringLiteral(text) => Expr::string(text),
            V::Boolean(flag) => Expr::literal(Value::Boolean(*flag), DataType::Boolean),
            V::Null => Expr::null(),
            V::HexStringLiteral(digits) => match bytes_of_hex(digits) {
                Some(bytes) => Expr::literal(Value::Binary(bytes.into()), DataType::Binary),
                None => self.opaque_expression("this binary literal", digits, value.span),
            },
            V::Placeholder(name) => self.parameter(name, value),
            other => self.opaque_expression("this literal", &other.to_string(), value.span),
        }
    }

    /// `:name`: the pipeline's value for it, or unknown.
    fn parameter(&mut self, name: &str, value: &ast::ValueWithSpan) -> Expr {
        let key = name.trim_start_matches(':');
        if let Some(text) = self.context.parameter(key) {
            return Expr::string(text);
        }
        let place = self.place(value.span);
        let why = "the parameter's value is not in the pipeline's settings";
        self.unresolved("unknown-name", name.to_owned(), why, Some("set it under `parameters`"), &place);
        crate::frontend::sql::opaque_expression(name, name, place)
    }

    fn typed_string(&mut self, typed: &ast::TypedString, whole: &ast::Expr) -> Expr {
        let text = match &typed.value.value {
            ast::Value::SingleQuotedString(text) | ast::Value::DoubleQuotedString(text) => decode(text),
            other => other.to_string(),
        };
        match &typed.data_type {
            ast::DataType::Date => self.literal_or_opaque(literal::date(&text), "this date", whole),
            ast::DataType::Timestamp(..) => self.literal_or_opaque(literal::timestamp(&text), "this timestamp", whole),
            other => {
                let to = self.data_type(other, whole);
                Expr::Cast { expr: Box::new(Expr::string(&text)), to, try_cast: false }
            }
        }
    }

    pub(super) fn literal_or_opaque(&mut self, literal: Option<Expr>, what: &str, whole: &ast::Expr) -> Expr {
        match literal {
            Some(expr) => expr,
            None => self.opaque_expression(what, &decode(&whole.to_string()), whole.span()),
        }
    }

    pub(super) fn data_type(&mut self, data_type: &ast::DataType, whole: &ast::Expr) -> DataType {
        let text = match data_type {
            ast::DataType::Custom(name, modifiers) if name.to_string() == TYPE_MARK => match modifiers.first() {
                Some(ast::TypeModifier::String(text)) => text.clone(),
                _ => String::new(),
            },
            other => other.to_string(),
        };
        match types::parse_data_type(&text) {
            Ok(data_type) => data_type,
            Err(message) => {
                let span = self.place(whole.span()).span().cloned();
                self.problems.warning("sql-unsupported", message, span);
                DataType::Unknown
            }
        }
    }

    fn unary(&mut self, op: ast::UnaryOperator, operand: &ast::Expr, whole: &ast::Expr) -> Expr {
        use ast::UnaryOperator as U;
        match op {
            U::Plus => self.expression(operand),
            U::Minus => self.negative(operand),
            U::Not | U::BangNot => Expr::call("not", self.operands([operand])),
            U::BitwiseNot => Expr::call("~", self.operands([operand])),
            _ => self.opaque_expression("this operator", &whole.to_string(), whole.span()),
        }
    }

    fn negative(&mut self, operand: &ast::Expr) -> Expr {
        // The least int and bigint exist only with their sign.
        if let ast::Expr::Value(ast::ValueWithSpan { value: ast::Value::Number(digits, false), .. }) = operand
            && let Ok(value) = format!("-{digits}").parse::<i64>()
        {
            return Expr::integer(value);
        }
        match self.expression(operand) {
            Expr::Literal { value, data_type } => match literal::negated(&value) {
                Some(value) => Expr::Literal { value, data_type },
                None => Expr::call("negative", vec![Expr::Literal { value, data_type }]),
            },
            expr => Expr::call("negative", vec![expr]),
        }
    }

    fn binary(&mut self, left: &ast::Expr, op: &ast::BinaryOperator, right: &ast::Expr, whole: &ast::Expr) -> Expr {
        use ast::BinaryOperator as B;
        let name = match op {
            B::Plus => "+",
            B::Minus => "-",
            B::Multiply => "*",
            B::Divide => "/",
            B::Modulo => "%",
            B::MyIntegerDivide | B::DuckIntegerDivide => "div",
            B::StringConcat => "concat",
            B::Gt => ">",
            B::Lt => "<",
            B::GtEq => ">=",
            B::LtEq => "<=",
            B::Spaceship => "<=>",
            B::Eq => "=",
            B::NotEq => "!=",
            B::And => "and",
            B::Or => "or",
            B::BitwiseOr => "|",
            B::BitwiseAnd => "&",
            B::BitwiseXor | B::PGBitwiseXor => "^",
            B::PGBitwiseShiftLeft => "<<",
            B::PGBitwiseShiftRight => ">>",
            B::Regexp => "rlike",
            _ => return self.opaque_expression("this operator", &whole.to_string(), whole.span()),
        };
        Expr::call(name, self.operands([left, right]))
    }

    /// A simple CASE compares its operand with each value.
    fn case(
        &mut self,
        operand: Option<&ast::Expr>,
        conditions: &[ast::CaseWhen],
        otherwise: Option<&ast::Expr>,
    ) -> Expr {
        let operand = operand.map(|operand| self.expression(operand));
        let branches = conditions
            .iter()
            .map(|ast::CaseWhen { condition, result }| {
                let condition = self.expression(condition);
                let condition = match &operand {
                    Some(operand) => Expr::call("=", vec![operand.clone(), condition]),
                    None => condition,
                };
                (condition, self.expression(result))
            })
            .collect();
        let otherwise = otherwise.map(|otherwise| Box::new(self.expression(otherwise)));
        Expr::Case { branches, otherwise }
    }

    fn lambda(&mut self, lambda: &ast::LambdaFunction) -> Expr {
        let params: Vec<Arc<str>> = match &lambda.params {
            ast::OneOrManyWithParens::One(param) => vec![decode(&param.name.value).into()],
            ast::OneOrManyWithParens::Many(params) => {
                params.iter().map(|param| decode(&param.name.value).into()).collect()
            }
        };
        let scope = self.lambda_params.len();
        self.lambda_params.extend(params.iter().cloned());
        let body = Box::new(self.expression(&lambda.body));
        self.lambda_params.truncate(scope);
        Expr::Lambda { params, body }
    }
}

pub(super) fn not(negated: bool, expr: Expr) -> Expr {
    if negated { Expr::call("not", vec![expr]) } else { expr }
}

fn bytes_of_hex(digits: &str) -> Option<Vec<u8>> {
    let padded = if digits.len() % 2 == 1 { format!("0{digits}") } else { digits.to_owned() };
    let nibbles: Vec<u8> =
        padded.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect::<Option<_>>()?;
    Some(nibbles.chunks_exact(2).filter_map(|pair| Some(pair.first()? * 16 + pair.get(1)?)).collect())
}
