//! From tree-sitter's tree to [`Expression`]s.

use super::fingerprint::{self, Fingerprint, Renames};
use super::lower::{Lowering, MAX_NESTING, named};
use super::strings::{split_literal, unescape};
use super::{
    Argument, Clause, Comprehension, ComprehensionKind, DictItem, Expression, ExpressionKind, FormatPiece, FunctionDef,
    Statement, StatementKind,
};
use std::sync::Arc;
use tree_sitter::Node;

impl Lowering<'_> {
    pub(super) fn missing(&self, node: Node<'_>) -> Expression {
        Expression { kind: ExpressionKind::Unsupported("missing".into()), range: self.range(node) }
    }

    pub(super) fn field(&mut self, node: Node<'_>, field: &str) -> Expression {
        match node.child_by_field_name(field) {
            Some(child) => self.expression(child),
            None => self.missing(node),
        }
    }

    pub(super) fn boxed(&mut self, node: Node<'_>, field: &str) -> Box<Expression> {
        Box::new(self.field(node, field))
    }

    pub(super) fn optional(&mut self, node: Option<Node<'_>>) -> Option<Expression> {
        node.map(|node| self.expression(node))
    }

    pub(super) fn expressions(&mut self, node: Node<'_>) -> Vec<Expression> {
        named(node).into_iter().filter(|child| child.kind() != "comment").map(|child| self.expression(child)).collect()
    }

    pub(super) fn tuple_of(&mut self, node: Node<'_>) -> Expression {
        Expression { kind: ExpressionKind::Tuple(self.expressions(node)), range: self.range(node) }
    }

    pub(super) fn expression(&mut self, node: Node<'_>) -> Expression {
        let range = self.range(node);
        if self.depth >= MAX_NESTING {
            self.errors.push(range);
            return Expression { kind: ExpressionKind::Unsupported("nesting".into()), range };
        }
        self.depth += 1;
        let kind = self.expression_kind(node);
        self.depth -= 1;
        Expression { kind, range }
    }

    fn expression_kind(&mut self, node: Node<'_>) -> ExpressionKind {
        match node.kind() {
            "identifier" | "keyword_identifier" => ExpressionKind::Name(self.name(node)),
            "dotted_name" => self.dotted(node),
            "none" => ExpressionKind::None,
            "true" => ExpressionKind::Bool(true),
            "false" => ExpressionKind::Bool(false),
            "ellipsis" => ExpressionKind::Ellipsis,
            "integer" => integer(self.source(node)),
            "float" => match self.source(node).replace('_', "").parse() {
                Ok(number) => ExpressionKind::Float(number),
                Err(_) => ExpressionKind::Unsupported("float".into()),
            },
            "string" => self.string(node),
            "concatenated_string" => self.concatenated(node),
            "list" | "list_pattern" => ExpressionKind::List(self.expressions(node)),
            "tuple" | "expression_list" | "pattern_list" | "tuple_pattern" => {
                ExpressionKind::Tuple(self.expressions(node))
            }
            "set" => ExpressionKind::Set(self.expressions(node)),
            "dictionary" => self.dictionary(node),
            "attribute" => ExpressionKind::Attribute {
                value: self.boxed(node, "object"),
                name: node.child_by_field_name("attribute").map_or_else(|| "?".into(), |n| self.name(n)),
                name_range: node.child_by_field_name("attribute").map_or_else(|| self.range(node), |n| self.range(n)),
            },
            "subscript" | "generic_type" => self.subscript(node),
            "slice" => self.slice(node),
            "call" => self.call(node),
            "unary_operator" => ExpressionKind::Unary {
                operator: node.child_by_field_name("operator").map_or("", |op| operator(op.kind())),
                operand: self.boxed(node, "argument"),
            },
            "binary_operator" => ExpressionKind::Binary {
                operator: node.child_by_field_name("operator").map_or("", |op| operator(op.kind())),
                left: self.boxed(node, "left"),
                right: self.boxed(node, "right"),
            },
            "boolean_operator" => ExpressionKind::Logical {
                and: node.child_by_field_name("operator").is_some_and(|op| op.kind() == "and"),
                left: self.boxed(node, "left"),
                right: self.boxed(node, "right"),
            },
            "not_operator" => ExpressionKind::Not(self.boxed(node, "argument")),
            "comparison_operator" => self.comparison(node),
            "conditional_expression" => self.conditional(node),
            "lambda" => ExpressionKind::Lambda(Arc::new(self.lambda(node))),
            "list_comprehension" => self.comprehension(node, ComprehensionKind::List),
            "set_comprehension" => self.comprehension(node, ComprehensionKind::Set),
            "dictionary_comprehension" => self.comprehension(node, ComprehensionKind::Dict),
            "generator_expression" => self.comprehension(node, ComprehensionKind::Generator),
            "named_expression" => ExpressionKind::Named {
                name: node.child_by_field_name("name").map_or_else(|| "?".into(), |n| self.name(n)),
                value: self.boxed(node, "value"),
            },
            "list_splat" | "list_splat_pattern" => match node.named_child(0) {
                Some(inner) => ExpressionKind::Star(Box::new(self.expression(inner))),
                None => ExpressionKind::Unsupported("splat".into()),
            },
            "yield" => ExpressionKind::Yield(self.optional(node.named_child(0)).map(Box::new)),
            "parenthesized_expression"
            | "parenthesized_list_splat"
            | "await"
            | "type"
            | "as_pattern_target"
            | "case_pattern"
            | "as_pattern" => match named(node).into_iter().find(|child| child.kind() != "comment") {
                Some(inner) => self.expression(inner).kind,
                None => ExpressionKind::Unsupported("empty".into()),
            },
            "ERROR" => {
                self.errors.push(self.range(node));
                ExpressionKind::Unsupported("ERROR".into())
            }
            kind => ExpressionKind::Unsupported(kind.into()),
        }
    }

    fn dotted(&mut self, node: Node<'_>) -> ExpressionKind {
        let mut parts = named(node).into_iter();
        let Some(first) = parts.next() else { return ExpressionKind::Unsupported("dotted_name".into()) };
        let mut expression = Expression { kind: ExpressionKind::Name(self.name(first)), range: self.range(first) };
        for part in parts {
            let name_range = self.range(part);
            let range = expression.range.to(name_range);
            let kind = ExpressionKind::Attribute { value: Box::new(expression), name: self.name(part), name_range };
            expression = Expression { kind, range };
        }
        expression.kind
    }

    fn string(&mut self, node: Node<'_>) -> ExpressionKind {
        let source = self.source(node);
        let Some(literal) = split_literal(source) else { return ExpressionKind::Unsupported("string".into()) };
        if literal.format {
            let raw = literal.raw;
            return ExpressionKind::Format(self.format_pieces(node, raw));
        }
        let text = if literal.raw { literal.text.to_owned() } else { unescape(literal.text) };
        ExpressionKind::Str(text.into())
    }

    fn format_pieces(&mut self, node: Node<'_>, raw: bool) -> Vec<FormatPiece> {
        let mut pieces = Vec::new();
        let children = named(node);
        let start = children.iter().find(|c| c.kind() == "string_start").map_or(node.start_byte(), Node::end_byte);
        let end = children.iter().find(|c| c.kind() == "string_end").map_or(node.end_byte(), Node::start_byte);
        let mut at = start;
        for child in children.iter().filter(|c| c.kind() == "interpolation") {
            self.push_format_text(at, child.start_byte(), raw, &mut pieces);
            let value = self.field(*child, "expression");
            let format = child.child_by_field_name("format_specifier").map(|f| self.source(f)).unwrap_or_default();
            let format: Arc<str> = format.trim_start_matches(':').into();
            let text = self.source(*child);
            let debug = child.child_by_field_name("expression").and_then(|e| {
                let after = self.text.get(e.end_byte()..child.end_byte())?.trim_start();
                let shows = after.starts_with('=') && !after.starts_with("==");
                shows.then(|| text.trim_start_matches('{').trim_end_matches('}').into())
            });
            pieces.push(FormatPiece::Value { value, format, debug });
            at = child.end_byte();
        }
        self.push_format_text(at, end, raw, &mut pieces);
        pieces
    }

    fn push_format_text(&self, from: usize, to: usize, raw: bool, pieces: &mut Vec<FormatPiece>) {
        let text = self.text.get(from..to).unwrap_or_default();
        if text.is_empty() {
            return;
        }
        let text = text.replace("{{", "{").replace("}}", "}");
        let text = if raw { text } else { unescape(&text) };
        pieces.push(FormatPiece::Text(text.into()));
    }

    fn concatenated(&mut self, node: Node<'_>) -> ExpressionKind {
        let mut pieces = Vec::new();
        for part in self.expressions(node) {
            match part.kind {
                ExpressionKind::Str(text) => pieces.push(FormatPiece::Text(text)),
                ExpressionKind::Format(inner) => pieces.extend(inner),
                _ => return ExpressionKind::Unsupported("concatenated_string".into()),
            }
        }
        let plain: Option<String> = pieces
            .iter()
            .map(|piece| match piece {
                FormatPiece::Text(text) => Some(text.as_ref()),
                FormatPiece::Value { .. } => None,
            })
            .collect();
        match plain {
            Some(text) => ExpressionKind::Str(text.into()),
            None => ExpressionKind::Format(pieces),
        }
    }

    fn dictionary(&mut self, node: Node<'_>) -> ExpressionKind {
        let mut items = Vec::new();
        for child in named(node) {
            match child.kind() {
                "pair" => items.push(DictItem::Pair(self.field(child, "key"), self.field(child, "value"))),
                "dictionary_splat" => items.extend(self.optional(child.named_child(0)).map(DictItem::Splat)),
                _ => {}
            }
        }
        ExpressionKind::Dict(items)
    }

    fn subscript(&mut self, node: Node<'_>) -> ExpressionKind {
        let children = named(node);
        let Some((value, indices)) = children.split_first() else {
            return ExpressionKind::Unsupported("subscript".into());
        };
        let index = match indices {
            [one] => self.expression(*one),
            _ => Expression {
                kind: ExpressionKind::Tuple(indices.iter().map(|index| self.expression(*index)).collect()),
                range: self.range(node),
            },
        };
        ExpressionKind::Subscript { value: Box::new(self.expression(*value)), index: Box::new(index) }
    }

    fn slice(&mut self, node: Node<'_>) -> ExpressionKind {
        let mut bounds = [None, None, None];
        let mut at = 0;
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            if child.kind() == ":" {
                at += 1;
            } else if child.is_named()
                && let Some(bound) = bounds.get_mut(at)
            {
                *bound = Some(Box::new(self.expression(child)));
            }
        }
        let [lower, upper, step] = bounds;
        ExpressionKind::Slice { lower, upper, step }
    }

    fn call(&mut self, node: Node<'_>) -> ExpressionKind {
        let arguments = match node.child_by_field_name("arguments") {
            Some(list) if list.kind() == "argument_list" => self.arguments(list),
            Some(generator) => vec![Argument::Positional(self.expression(generator))],
            None => Vec::new(),
        };
        ExpressionKind::Call { function: self.boxed(node, "function"), arguments }
    }

    pub(super) fn arguments(&mut self, node: Node<'_>) -> Vec<Argument> {
        let mut arguments = Vec::new();
        for child in named(node) {
            match child.kind() {
                "comment" => {}
                "keyword_argument" => {
                    let name = child.child_by_field_name("name").map_or_else(|| "?".into(), |n| self.name(n));
                    arguments.push(Argument::Keyword(name, self.field(child, "value")));
                }
                "list_splat" => arguments.extend(self.optional(child.named_child(0)).map(Argument::Splat)),
                "dictionary_splat" => arguments.extend(self.optional(child.named_child(0)).map(Argument::KeywordSplat)),
                _ => arguments.push(Argument::Positional(self.expression(child))),
            }
        }
        arguments
    }

    fn comparison(&mut self, node: Node<'_>) -> ExpressionKind {
        let mut cursor = node.walk();
        let operators: Vec<_> =
            node.children_by_field_name("operators", &mut cursor).map(|op| operator(op.kind())).collect();
        let mut operands = self.expressions(node).into_iter();
        let Some(left) = operands.next() else { return ExpressionKind::Unsupported("comparison".into()) };
        ExpressionKind::Compare { left: Box::new(left), rest: operators.into_iter().zip(operands).collect() }
    }

    fn conditional(&mut self, node: Node<'_>) -> ExpressionKind {
        let mut parts = self.expressions(node).into_iter();
        match (parts.next(), parts.next(), parts.next()) {
            (Some(then), Some(test), Some(otherwise)) => ExpressionKind::Conditional {
                test: Box::new(test),
                then: Box::new(then),
                otherwise: Box::new(otherwise),
            },
            _ => ExpressionKind::Unsupported("conditional".into()),
        }
    }

    pub(super) fn lambda(&mut self, node: Node<'_>) -> FunctionDef {
        let range = self.range(node);
        let parameters_node = node.child_by_field_name("parameters");
        let body_node = node.child_by_field_name("body");
        let parts: Vec<_> = parameters_node.into_iter().chain(body_node).collect();
        let value = self.field(node, "body");
        let fingerprint: Fingerprint = fingerprint::of(&parts, self.text, Renames::Locals);
        FunctionDef {
            name: "<lambda>".into(),
            parameters: parameters_node.map(|p| self.parameters(p)).unwrap_or_default(),
            decorators: Vec::new(),
            body: vec![Statement { range: value.range, kind: StatementKind::Return(Some(value)) }],
            is_generator: false,
            docstring: None,
            header: range,
            fingerprint,
            decoration: Fingerprint::default(),
        }
    }

    fn comprehension(&mut self, node: Node<'_>, kind: ComprehensionKind) -> ExpressionKind {
        let mut clauses = Vec::new();
        for child in named(node) {
            match child.kind() {
                "for_in_clause" => clauses
                    .push(Clause::For { target: self.field(child, "left"), iterable: self.field(child, "right") }),
                "if_clause" => clauses.extend(self.optional(child.named_child(0)).map(Clause::If)),
                _ => {}
            }
        }
        let (element, value) = match node.child_by_field_name("body") {
            Some(pair) if pair.kind() == "pair" => (self.field(pair, "key"), Some(self.field(pair, "value"))),
            Some(body) => (self.expression(body), None),
            None => (self.missing(node), None),
        };
        ExpressionKind::Comprehension(Box::new(Comprehension { kind, element, value, clauses }))
    }
}

/// An operator's text, which outlives the tree.
pub(super) fn operator(kind: &str) -> &'static str {
    const OPERATORS: &[&str] = &[
        "+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "~", "<<", ">>", "==", "!=", "<>", "<", "<=", ">",
        ">=", "in", "not in", "is", "is not",
    ];
    OPERATORS.iter().find(|known| **known == kind).copied().unwrap_or("")
}

fn integer(source: &str) -> ExpressionKind {
    let text = source.replace('_', "").to_lowercase();
    let parsed = match text.get(..2) {
        Some("0x") => i64::from_str_radix(&text[2..], 16),
        Some("0o") => i64::from_str_radix(&text[2..], 8),
        Some("0b") => i64::from_str_radix(&text[2..], 2),
        _ => text.parse(),
    };
    match parsed {
        Ok(number) => ExpressionKind::Int(number),
        Err(_) => ExpressionKind::Unsupported("integer".into()),
    }
}
