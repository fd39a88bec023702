//! From tree-sitter's tree to [`Module`]: statements and definitions; expressions beside it.

use super::fingerprint::{self, Fingerprint, Renames};
use super::lower_expression::operator;
use super::strings::split_literal;
use super::{
    Case, ClassDef, Expression, FunctionDef, Handler, ImportedName, Module, Parameter, ParameterKind, Range, Statement,
    StatementKind,
};
use std::sync::Arc;
use tree_sitter::{Node, Parser};

/// Larger texts are no pipeline code.
pub(super) const MAX_BYTES: usize = 4 << 20;
/// Levels of nested syntax nodes; a chained call takes two.
pub(super) const MAX_NESTING: usize = 700;

/// Parses one file or cell. Never fails: see [`Module::errors`] and [`Module::rejected`].
pub fn parse(text: &str) -> Module {
    if text.len() > MAX_BYTES {
        return Module { rejected: Some("larger than 4 MiB"), ..Module::default() };
    }
    let mut parser = Parser::new();
    if parser.set_language(&tree_sitter_python::LANGUAGE.into()).is_err() {
        return Module { rejected: Some("no parser for this version of the grammar"), ..Module::default() };
    }
    let Some(tree) = parser.parse(text, None) else {
        return Module { rejected: Some("not readable as Python"), ..Module::default() };
    };
    let mut lowering = Lowering { text, lines: line_starts(text), depth: 0, errors: Vec::new() };
    let root = tree.root_node();
    let body = lowering.block(root);
    // The parser repairs what it can (a missing parenthesis) inside nodes that the lowering takes as whole.
    if lowering.errors.is_empty() && root.has_error() {
        let fault = lowering.range(first_fault(root));
        lowering.errors.push(fault);
    }
    Module { body, errors: lowering.errors, rejected: None }
}

/// Content of a whole file, free of layout and comments.
pub fn content(text: &str) -> Option<Fingerprint> {
    let mut parser = Parser::new();
    let known = parser.set_language(&tree_sitter_python::LANGUAGE.into()).is_ok();
    let tree = parser.parse(text, None).filter(|_| known && text.len() <= MAX_BYTES);
    tree.map(|tree| fingerprint::of(&[tree.root_node()], text, Renames::Parameters))
}

/// The innermost node, in reading order, that the parser had to skip or to make up.
fn first_fault(root: Node<'_>) -> Node<'_> {
    let mut node = root;
    loop {
        let mut cursor = node.walk();
        let broken = node.children(&mut cursor).find(|child| child.has_error() || child.is_missing());
        match broken {
            Some(child) if !child.is_error() && !child.is_missing() => node = child,
            Some(child) => return child,
            None => return node,
        }
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at + 1)).collect()
}

pub(super) struct Lowering<'a> {
    pub(super) text: &'a str,
    lines: Vec<usize>,
    pub(super) depth: usize,
    pub(super) errors: Vec<Range>,
}

impl Lowering<'_> {
    pub(super) fn source(&self, node: Node<'_>) -> &str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    pub(super) fn name(&self, node: Node<'_>) -> Arc<str> {
        self.source(node).into()
    }

    /// Line and column, from 1, of a byte.
    fn position(&self, row: usize, byte: usize) -> (u32, u32) {
        let start = self.lines.get(row).copied().unwrap_or(0);
        let column = self.text.get(start..byte).map_or(0, |prefix| prefix.chars().count());
        (row as u32 + 1, column as u32 + 1)
    }

    pub(super) fn range(&self, node: Node<'_>) -> Range {
        let (line, column) = self.position(node.start_position().row, node.start_byte());
        let (end_line, end_column) = self.position(node.end_position().row, node.end_byte());
        Range { line, column, end_line, end_column }
    }

    fn block(&mut self, node: Node<'_>) -> Vec<Statement> {
        let mut statements = Vec::new();
        for child in named(node) {
            self.statement(child, &mut statements);
        }
        statements
    }

    fn field_block(&mut self, node: Node<'_>, field: &str) -> Vec<Statement> {
        node.child_by_field_name(field).map(|block| self.block(block)).unwrap_or_default()
    }

    fn child_block(&mut self, node: Node<'_>) -> Vec<Statement> {
        let block = named(node).into_iter().find(|child| child.kind() == "block");
        block.map(|block| self.block(block)).unwrap_or_default()
    }

    fn statement(&mut self, node: Node<'_>, out: &mut Vec<Statement>) {
        if self.depth >= MAX_NESTING {
            self.errors.push(self.range(node));
            return;
        }
        self.depth += 1;
        let range = self.range(node);
        if let Some(kind) = self.statement_kind(node, out) {
            out.push(Statement { kind, range });
        }
        self.depth -= 1;
    }

    fn statement_kind(&mut self, node: Node<'_>, out: &mut Vec<Statement>) -> Option<StatementKind> {
        Some(match node.kind() {
            "comment" | "line_continuation" => return None,
            "ERROR" => {
                self.errors.push(self.range(node));
                // What stands whole inside a broken stretch is still read.
                for child in named(node) {
                    let readable = child.kind().ends_with("_statement") || child.kind().ends_with("_definition");
                    if readable && !child.has_error() {
                        self.statement(child, out);
                    }
                }
                return None;
            }
            "expression_statement" => return self.expression_statement(node),
            "function_definition" => StatementKind::Function(Arc::new(self.function(node, Vec::new(), None))),
            "class_definition" => StatementKind::Class(Arc::new(self.class(node, Vec::new()))),
            "decorated_definition" => return self.decorated(node),
            "return_statement" => StatementKind::Return(self.optional(node.named_child(0))),
            "if_statement" => self.if_statement(node),
            "for_statement" => StatementKind::For {
                target: self.field(node, "left"),
                iterable: self.field(node, "right"),
                body: self.field_block(node, "body"),
                otherwise: self.else_block(node),
            },
            "while_statement" => StatementKind::While {
                test: self.field(node, "condition"),
                body: self.field_block(node, "body"),
                otherwise: self.else_block(node),
            },
            "try_statement" => self.try_statement(node),
            "with_statement" => {
                StatementKind::With { items: self.with_items(node), body: self.field_block(node, "body") }
            }
            "match_statement" => self.match_statement(node),
            "import_statement" => StatementKind::Import(self.imported_names(node)),
            "import_from_statement" => self.import_from(node),
            "future_import_statement"
            | "assert_statement"
            | "pass_statement"
            | "print_statement"
            | "type_alias_statement" => StatementKind::Pass,
            "raise_statement" => StatementKind::Raise(self.optional(node.named_child(0))),
            "global_statement" => StatementKind::Global(self.names(node)),
            "nonlocal_statement" => StatementKind::Nonlocal(self.names(node)),
            "delete_statement" => StatementKind::Delete(self.expressions(node)),
            "break_statement" => StatementKind::Break,
            "continue_statement" => StatementKind::Continue,
            _ => StatementKind::Pass,
        })
    }

    fn names(&self, node: Node<'_>) -> Vec<Arc<str>> {
        named(node).into_iter().map(|child| self.name(child)).collect()
    }

    fn expression_statement(&mut self, node: Node<'_>) -> Option<StatementKind> {
        let children = named(node);
        let [child] = children.as_slice() else {
            return Some(StatementKind::Expression(self.tuple_of(node)));
        };
        match child.kind() {
            "assignment" => Some(self.assignment(*child)),
            "augmented_assignment" => Some(StatementKind::Augmented {
                target: self.field(*child, "left"),
                operator: child
                    .child_by_field_name("operator")
                    .map_or("", |op| operator(op.kind().trim_end_matches('='))),
                value: self.field(*child, "right"),
            }),
            _ => Some(StatementKind::Expression(self.expression(*child))),
        }
    }

    fn assignment(&mut self, node: Node<'_>) -> StatementKind {
        if node.child_by_field_name("type").is_some() {
            return StatementKind::Annotated {
                target: self.field(node, "left"),
                value: self.optional(node.child_by_field_name("right")),
            };
        }
        let mut targets = vec![self.field(node, "left")];
        let mut right = node.child_by_field_name("right");
        while let Some(next) = right.filter(|r| r.kind() == "assignment") {
            targets.push(self.field(next, "left"));
            right = next.child_by_field_name("right");
        }
        let value = match right {
            Some(right) => self.expression(right),
            None => self.missing(node),
        };
        StatementKind::Assign { targets, value }
    }

    fn decorated(&mut self, node: Node<'_>) -> Option<StatementKind> {
        let mut decorators = Vec::new();
        let mut nodes = Vec::new();
        let mut first = None;
        for child in named(node) {
            if child.kind() == "decorator" {
                nodes.push(child);
                first = first.or(Some(self.range(child)));
                if let Some(expression) = child.named_child(0) {
                    decorators.push(self.expression(expression));
                }
            }
        }
        let definition = node.child_by_field_name("definition")?;
        Some(match definition.kind() {
            "class_definition" => StatementKind::Class(Arc::new(self.class(definition, decorators))),
            _ => {
                let decoration = fingerprint::of(&nodes, self.text, Renames::Locals);
                let function = self.function(definition, decorators, first);
                StatementKind::Function(Arc::new(FunctionDef { decoration, ..function }))
            }
        })
    }

    fn function(&mut self, node: Node<'_>, decorators: Vec<Expression>, first: Option<Range>) -> FunctionDef {
        let range = self.range(node);
        let parameters_node = node.child_by_field_name("parameters");
        let body_node = node.child_by_field_name("body");
        let parts: Vec<_> = parameters_node.into_iter().chain(body_node).collect();
        let header_end = node.child_by_field_name("return_type").or(parameters_node).map_or(range, |n| self.range(n));
        FunctionDef {
            name: node.child_by_field_name("name").map_or_else(|| "?".into(), |name| self.name(name)),
            parameters: parameters_node.map(|p| self.parameters(p)).unwrap_or_default(),
            decorators,
            body: self.field_block(node, "body"),
            is_generator: body_node.is_some_and(yields),
            docstring: self.docstring(body_node),
            header: first.unwrap_or(range).to(header_end),
            fingerprint: fingerprint::of(&parts, self.text, Renames::Locals),
            decoration: Fingerprint::default(),
        }
    }

    fn docstring(&self, body: Option<Node<'_>>) -> Option<Arc<str>> {
        let first = named(body?).into_iter().find(|child| child.kind() != "comment")?;
        if first.kind() != "expression_statement" || !fingerprint::is_bare_string(first) {
            return None;
        }
        split_literal(self.source(first)).map(|literal| literal.text.trim().into())
    }

    fn class(&mut self, node: Node<'_>, decorators: Vec<Expression>) -> ClassDef {
        let bases_node = node.child_by_field_name("superclasses");
        let parts: Vec<_> = bases_node.into_iter().chain(node.child_by_field_name("body")).collect();
        let range = self.range(node);
        let start = decorators.first().map_or(range, |first| first.range);
        ClassDef {
            name: node.child_by_field_name("name").map_or_else(|| "?".into(), |name| self.name(name)),
            bases: bases_node.map(|bases| self.arguments(bases)).unwrap_or_default(),
            decorators,
            body: self.field_block(node, "body"),
            range: start.to(range),
            fingerprint: fingerprint::of(&parts, self.text, Renames::Parameters),
        }
    }

    pub(super) fn parameters(&mut self, node: Node<'_>) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        let mut keyword_only = false;
        for child in named(node) {
            let plain = if keyword_only { ParameterKind::KeywordOnly } else { ParameterKind::Plain };
            let (name_node, kind) = match child.kind() {
                "identifier" => (Some(child), plain),
                "default_parameter" | "typed_default_parameter" => (child.child_by_field_name("name"), plain),
                "typed_parameter" => {
                    let inner = child.named_child(0);
                    match inner.map(|n| n.kind()) {
                        Some("list_splat_pattern") => (inner.and_then(|n| n.named_child(0)), ParameterKind::Rest),
                        Some("dictionary_splat_pattern") => {
                            (inner.and_then(|n| n.named_child(0)), ParameterKind::KeywordRest)
                        }
                        _ => (inner, plain),
                    }
                }
                "list_splat_pattern" => (child.named_child(0), ParameterKind::Rest),
                "dictionary_splat_pattern" => (child.named_child(0), ParameterKind::KeywordRest),
                "keyword_separator" => {
                    keyword_only = true;
                    continue;
                }
                _ => continue,
            };
            keyword_only |= kind == ParameterKind::Rest;
            let Some(name_node) = name_node else { continue };
            parameters.push(Parameter {
                name: self.name(name_node),
                kind,
                default: self.optional(child.child_by_field_name("value")),
            });
        }
        parameters
    }

    fn if_statement(&mut self, node: Node<'_>) -> StatementKind {
        let mut branches = vec![(self.field(node, "condition"), self.field_block(node, "consequence"))];
        let mut otherwise = Vec::new();
        for child in named(node) {
            match child.kind() {
                "elif_clause" => {
                    branches.push((self.field(child, "condition"), self.field_block(child, "consequence")));
                }
                "else_clause" => otherwise = self.field_block(child, "body"),
                _ => {}
            }
        }
        StatementKind::If { branches, otherwise }
    }

    fn else_block(&mut self, node: Node<'_>) -> Vec<Statement> {
        let clause = named(node).into_iter().find(|child| child.kind() == "else_clause");
        clause.map(|clause| self.field_block(clause, "body")).unwrap_or_default()
    }

    fn try_statement(&mut self, node: Node<'_>) -> StatementKind {
        let mut handlers = Vec::new();
        let mut finally = Vec::new();
        for child in named(node) {
            match child.kind() {
                "except_clause" => {
                    let mut exception = child.child_by_field_name("value");
                    let mut name = child.child_by_field_name("alias").map(|alias| self.name(alias));
                    if let Some(pattern) = exception.filter(|e| e.kind() == "as_pattern") {
                        name = pattern.child_by_field_name("alias").map(|alias| self.name(alias));
                        exception = pattern.named_child(0);
                    }
                    let body = self.child_block(child);
                    handlers.push(Handler { exception: self.optional(exception), name, body });
                }
                "finally_clause" => finally = self.child_block(child),
                _ => {}
            }
        }
        StatementKind::Try { body: self.field_block(node, "body"), handlers, otherwise: self.else_block(node), finally }
    }

    fn with_items(&mut self, node: Node<'_>) -> Vec<(Expression, Option<Expression>)> {
        let clause = named(node).into_iter().find(|child| child.kind() == "with_clause");
        let mut items = Vec::new();
        for item in clause.map(named).unwrap_or_default() {
            let Some(value) = item.child_by_field_name("value") else { continue };
            if value.kind() == "as_pattern" {
                let target = value.child_by_field_name("alias").and_then(|alias| self.optional(alias.named_child(0)));
                let inner = self.optional(value.named_child(0)).unwrap_or_else(|| self.missing(value));
                items.push((inner, target));
            } else {
                items.push((self.expression(value), None));
            }
        }
        items
    }

    fn match_statement(&mut self, node: Node<'_>) -> StatementKind {
        let mut cases = Vec::new();
        let block = node.child_by_field_name("body");
        for clause in block.map(named).unwrap_or_default() {
            if clause.kind() != "case_clause" {
                continue;
            }
            let patterns: Vec<_> = named(clause).into_iter().filter(|c| c.kind() == "case_pattern").collect();
            let mut values = Vec::new();
            let mut wildcard = false;
            for pattern in patterns {
                wildcard |= self.source(pattern).trim() == "_";
                let inner = pattern.named_child(0);
                let alternatives = match inner {
                    Some(union) if union.kind() == "union_pattern" => named(union),
                    Some(one) => vec![one],
                    None => Vec::new(),
                };
                values.extend(alternatives.into_iter().map(|one| self.expression(one)));
            }
            let guard = clause.child_by_field_name("guard").and_then(|g| self.optional(g.named_child(0)));
            let body = self.field_block(clause, "consequence");
            cases.push(Case { values, wildcard, guard, body });
        }
        StatementKind::Match { subject: self.field(node, "subject"), cases }
    }

    fn imported_names(&self, node: Node<'_>) -> Vec<ImportedName> {
        let mut cursor = node.walk();
        node.children_by_field_name("name", &mut cursor)
            .map(|child| match child.kind() {
                "aliased_import" => ImportedName {
                    name: child.child_by_field_name("name").map_or_else(|| "?".into(), |n| self.name(n)),
                    alias: child.child_by_field_name("alias").map(|n| self.name(n)),
                },
                _ => ImportedName { name: self.name(child), alias: None },
            })
            .collect()
    }

    fn import_from(&mut self, node: Node<'_>) -> StatementKind {
        let text = node.child_by_field_name("module_name").map(|m| self.source(m)).unwrap_or_default();
        let module = text.trim_start_matches(['.', ' ']);
        let level = text.chars().take_while(|c| matches!(c, '.' | ' ')).filter(|c| *c == '.').count();
        let star = named(node).iter().any(|child| child.kind() == "wildcard_import");
        let names = if star { None } else { Some(self.imported_names(node)) };
        StatementKind::ImportFrom { level, module: module.into(), names }
    }
}

pub(super) fn named<'tree>(node: Node<'tree>) -> Vec<Node<'tree>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

/// A `yield` in this body, not in a definition inside it.
fn yields(body: Node<'_>) -> bool {
    let mut pending = vec![body];
    while let Some(node) = pending.pop() {
        match node.kind() {
            "yield" => return true,
            "function_definition" | "lambda" | "class_definition" => {}
            _ => pending.extend(named(node)),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::Fingerprint;
    use super::*;

    fn fingerprint_of(text: &str) -> Fingerprint {
        let module = parse(text);
        match &module.body.first().unwrap().kind {
            StatementKind::Function(function) => function.fingerprint.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn layout_comments_docstrings_and_quotes_leave_the_fingerprint_alone() {
        let plain = fingerprint_of("def f(a, b=1):\n    return g(a, 'x') + b\n");
        let styled = fingerprint_of(
            "def f(\n    a,\n    b=1,\n):\n    \"\"\"Adds.\"\"\"\n    # sum\n    return (\n        g(a, \"x\",) + b\n    )\n",
        );
        assert_eq!(plain, styled);
        assert_ne!(plain.tokens, fingerprint_of("def f(a, b=2):\n    return g(a, 'x') + b\n").tokens);
        assert_ne!(plain.tokens, fingerprint_of("def f(a, b=1):\n    return g(a, 'x' + b)\n").tokens);
    }

    #[test]
    fn names_of_its_own_may_change_and_their_places_may_not() {
        let tokens = |text: &str| fingerprint_of(text).tokens;
        let plain = tokens("def f(a, b):\n    c = a - b\n    return c\n");
        assert_eq!(plain, tokens("def f(x, y):\n    z = x - y\n    return z\n"));
        assert_ne!(plain, tokens("def f(x, y):\n    z = y - x\n    return z\n"));
        assert_ne!(plain, tokens("def f(x, y):\n    global c\n    c = x - y\n    return c\n"));
    }

    #[test]
    fn ranges_count_characters_from_one() {
        let module = parse("x = 'é'; y = f(1)\n");
        let range = module.body.get(1).unwrap().range;
        assert_eq!((range.line, range.column, range.end_column), (1, 10, 18));
    }

    #[test]
    fn deep_nesting_is_cut_off() {
        let text = format!("x = {}1{}\n", "(".repeat(5000), ")".repeat(5000));
        let module =
            std::thread::Builder::new().stack_size(64 << 20).spawn(move || parse(&text)).unwrap().join().unwrap();
        assert!(!module.errors.is_empty());
    }
}
