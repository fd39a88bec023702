//! A definition's content, free of layout, comments, docstrings, redundant parentheses, trailing commas and quote style.

use super::strings::{split_literal, unescape};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tree_sitter::Node;

/// One piece of a definition's content.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Token {
    /// A syntax node begins.
    Open(Arc<str>),
    Close,
    /// A keyword, operator, literal, or attribute.
    Text(Arc<str>),
    /// A name that may stand for something outside the definition.
    Name(Arc<str>),
    /// A name of the definition's own that may be called otherwise without a change of meaning, by order of appearance.
    Local(u32),
}

/// Names of its own that a definition may call otherwise without a change of meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renames {
    /// Parameters and local variables: a function.
    Locals,
    /// Parameters of its methods: a class, whose other names are read from outside.
    Parameters,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fingerprint {
    pub tokens: Vec<Token>,
    /// Names the definition binds itself: parameters, assignments, loop targets.
    pub bound: BTreeSet<Arc<str>>,
}

/// Content of a definition's node. Its own name and decorators are left out by the caller passing parts.
pub fn of(parts: &[Node<'_>], text: &str, renames: Renames) -> Fingerprint {
    let mut collected = Collected::default();
    for part in parts {
        collect(*part, text, &mut collected);
    }
    let Collected { mut fingerprint, parameters, fixed, rebinds } = collected;
    let local = |name: &Arc<str>| match renames {
        _ if rebinds => false,
        Renames::Locals => fingerprint.bound.contains(name),
        Renames::Parameters => parameters.contains(name) && !fixed.contains(name),
    };
    let mut numbers: BTreeMap<Arc<str>, u32> = BTreeMap::new();
    for token in &mut fingerprint.tokens {
        if let Token::Name(name) = token
            && local(name)
        {
            let next = numbers.len() as u32;
            *token = Token::Local(*numbers.entry(name.clone()).or_insert(next));
        }
    }
    fingerprint
}

/// What a walk over a definition finds.
#[derive(Default)]
struct Collected {
    fingerprint: Fingerprint,
    parameters: BTreeSet<Arc<str>>,
    /// Bound otherwise than as a parameter.
    fixed: BTreeSet<Arc<str>>,
    /// `global` or `nonlocal`: names of its own belong to others.
    rebinds: bool,
}

/// A node to visit, with what its parent says of it (asking the tree for a parent is slow in long files).
struct Visit<'tree> {
    node: Node<'tree>,
    parent: &'tree str,
    field: Option<&'tree str>,
    /// First statement of a block.
    leads_block: bool,
    /// Kind of the next sibling.
    next: &'tree str,
}

enum Step<'tree> {
    Enter(Visit<'tree>),
    Close,
}

fn collect(root: Node<'_>, text: &str, out: &mut Collected) {
    let start = Visit { node: root, parent: "function_definition", field: None, leads_block: false, next: "" };
    let mut pending = vec![Step::Enter(start)];
    let mut kinds = BTreeMap::new();
    while let Some(step) = pending.pop() {
        match step {
            Step::Close => out.fingerprint.tokens.push(Token::Close),
            Step::Enter(visit) => enter(&visit, text, out, &mut kinds, &mut pending),
        }
    }
}

fn enter<'tree>(
    visit: &Visit<'tree>,
    text: &str,
    found: &mut Collected,
    kinds: &mut BTreeMap<u16, Arc<str>>,
    pending: &mut Vec<Step<'tree>>,
) {
    let node = visit.node;
    let source = text.get(node.byte_range()).unwrap_or_default();
    found.rebinds |= matches!(node.kind(), "global_statement" | "nonlocal_statement");
    let out = &mut found.fingerprint;
    match node.kind() {
        "comment" | "line_continuation" | "pass_statement" | "global_statement" => {}
        "expression_statement" if visit.leads_block && is_bare_string(node) => {}
        "string" if !has_interpolation(node) => out.tokens.push(Token::Text(string_content(source).into())),
        "identifier" => {
            let name: Arc<str> = source.into();
            if binds(visit) {
                let kind = if is_parameter(visit) { &mut found.parameters } else { &mut found.fixed };
                kind.insert(name.clone());
                out.bound.insert(name.clone());
            }
            out.tokens.push(if is_label(visit) { Token::Text(name) } else { Token::Name(name) });
        }
        _ if node.child_count() == 0 => {
            let trailing_comma = source == "," && matches!(visit.next, "" | ")" | "]" | "}");
            if !trailing_comma && !matches!(source, "(" | ")" | ":" | "") {
                out.tokens.push(Token::Text(source.into()));
            }
        }
        kind => {
            if kind != "parenthesized_expression" && kind != "block" {
                out.tokens.push(Token::Open(kinds.entry(node.kind_id()).or_insert_with(|| kind.into()).clone()));
                pending.push(Step::Close);
            }
            pending.extend(children(node, kind).into_iter().rev().map(Step::Enter));
        }
    }
}

fn children<'tree>(node: Node<'tree>, kind: &'tree str) -> Vec<Visit<'tree>> {
    let mut visits: Vec<Visit<'tree>> = Vec::new();
    let mut cursor = node.walk();
    let mut more = cursor.goto_first_child();
    let mut leads_block = kind == "block";
    while more {
        let child = cursor.node();
        if let Some(previous) = visits.last_mut() {
            previous.next = child.kind();
        }
        visits.push(Visit { node: child, parent: kind, field: cursor.field_name(), leads_block, next: "" });
        leads_block &= child.kind() == "comment";
        more = cursor.goto_next_sibling();
    }
    visits
}

fn string_content(source: &str) -> String {
    match split_literal(source) {
        Some(literal) if literal.raw => format!("'{}", literal.text),
        Some(literal) => format!("'{}", unescape(literal.text)),
        None => source.to_owned(),
    }
}

fn has_interpolation(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor).any(|child| child.kind() == "interpolation")
}

/// `"""docstring"""` alone on its line.
pub fn is_bare_string(statement: Node<'_>) -> bool {
    statement.named_child_count() == 1
        && statement.named_child(0).is_some_and(|child| matches!(child.kind(), "string" | "concatenated_string"))
}

/// An attribute's or keyword argument's name: it refers to nothing by itself.
fn is_label(visit: &Visit<'_>) -> bool {
    matches!((visit.parent, visit.field), ("attribute", Some("attribute")) | ("keyword_argument", Some("name")))
}

fn is_parameter(visit: &Visit<'_>) -> bool {
    match visit.parent {
        "parameters" | "lambda_parameters" | "typed_parameter" => true,
        "default_parameter" | "typed_default_parameter" => visit.field == Some("name"),
        _ => false,
    }
}

fn binds(visit: &Visit<'_>) -> bool {
    match visit.parent {
        "parameters"
        | "lambda_parameters"
        | "typed_parameter"
        | "list_splat_pattern"
        | "dictionary_splat_pattern"
        | "pattern_list"
        | "tuple_pattern"
        | "as_pattern_target" => true,
        "default_parameter"
        | "typed_default_parameter"
        | "named_expression"
        | "function_definition"
        | "class_definition" => visit.field == Some("name"),
        "assignment" | "for_statement" | "for_in_clause" => visit.field == Some("left"),
        "aliased_import" => visit.field == Some("alias"),
        _ => false,
    }
}
