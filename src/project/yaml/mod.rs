//! YAML and JSON documents whose values know where they stand.
//!
//! serde_yaml gives the values, [`places`] the positions: the parser has none. A value that came through an alias or a merge key
//! has the position of the nearest enclosing value that is written out.

mod build;
mod flow;
mod places;
mod scalars;

use crate::model::{Diagnostic, DiagnosticLevel, Span};
use build::build;
use indexmap::IndexMap;
use std::sync::Arc;

/// One value of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub content: Content,
    /// The key and value for an entry of a mapping, the item for one of a sequence, the first character for the document.
    pub span: Arc<Span>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    Null,
    Boolean(bool),
    /// As text.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Map(IndexMap<String, Node>),
}

/// A document that holds more values than this, once its aliases are followed, is refused: a small text can describe billions.
const MAX_VALUES: usize = 200_000;
/// Specifications are written by hand; a longer text is something else.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// Brackets opened and not closed. The YAML parser takes time in the square of them.
const MAX_BRACKETS: usize = 1000;

impl Node {
    /// Reads one YAML document.
    ///
    /// # Errors
    /// A syntax error, as a diagnostic with its place.
    pub fn parse_yaml(text: &str, path: &Arc<str>) -> Result<Node, Box<Diagnostic>> {
        if text.len() > MAX_BYTES || open_brackets(text) > MAX_BRACKETS {
            let message = "the YAML is too long or too deeply nested to be read";
            return Err(syntax_error("yaml-syntax", message.to_owned(), path, 1, 1));
        }
        build(serde_yaml::Deserializer::from_str(text), text, path).map_err(|error| {
            let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
            syntax_error("yaml-syntax", format!("this is not YAML: {error}"), path, line, column)
        })
    }

    /// Reads one JSON document.
    ///
    /// # Errors
    /// A syntax error, as a diagnostic with its place.
    pub fn parse_json(text: &str, path: &Arc<str>) -> Result<Node, Box<Diagnostic>> {
        if text.len() > MAX_BYTES {
            return Err(syntax_error("json-syntax", "the JSON is too long to be read".to_owned(), path, 1, 1));
        }
        build(&mut serde_json::Deserializer::from_str(text), text, path).map_err(|error| {
            syntax_error("json-syntax", format!("this is not JSON: {error}"), path, error.line(), error.column())
        })
    }

    /// A text that stands at the place of another value.
    pub fn text_at(text: impl Into<String>, span: &Arc<Span>) -> Node {
        Node { content: Content::Text(text.into()), span: Arc::clone(span) }
    }

    pub fn map(&self) -> Option<&IndexMap<String, Node>> {
        match &self.content {
            Content::Map(entries) => Some(entries),
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&[Node]> {
        match &self.content {
            Content::List(items) => Some(items),
            _ => None,
        }
    }

    /// An entry of a mapping.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.map()?.get(key)
    }

    /// An entry some levels down.
    pub fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// Entries of a mapping; none for anything else.
    pub fn entries(&self) -> impl Iterator<Item = (&String, &Node)> {
        self.map().into_iter().flatten()
    }

    /// Items of a sequence; none for anything else.
    pub fn items(&self) -> impl Iterator<Item = &Node> {
        self.list().into_iter().flatten()
    }

    pub fn as_str(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match &self.content {
            Content::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    /// A scalar as text; `None` for null, sequences and mappings.
    pub fn scalar(&self) -> Option<String> {
        match &self.content {
            Content::Boolean(value) => Some(value.to_string()),
            Content::Number(text) | Content::Text(text) => Some(text.clone()),
            Content::Null | Content::List(_) | Content::Map(_) => None,
        }
    }

    /// What kind of value this is, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.content {
            Content::Null => "nothing",
            Content::Boolean(_) => "a boolean",
            Content::Number(_) => "a number",
            Content::Text(_) => "a text",
            Content::List(_) => "a list",
            Content::Map(_) => "a mapping",
        }
    }

    /// Puts `other` over this value as Databricks bundles do: mappings merge key by key, sequences are joined, anything else is
    /// replaced.
    pub fn merge(&mut self, other: Node) {
        match (&mut self.content, other.content) {
            (Content::Map(mine), Content::Map(theirs)) => {
                for (key, value) in theirs {
                    match mine.get_mut(&key) {
                        Some(present) => present.merge(value),
                        None => {
                            mine.insert(key, value);
                        }
                    }
                }
            }
            (Content::List(mine), Content::List(theirs)) => mine.extend(theirs),
            (_, Content::Null) => {}
            (mine, theirs) => {
                *mine = theirs;
                self.span = other.span;
            }
        }
    }
}

fn syntax_error(code: &'static str, message: String, path: &Arc<str>, line: usize, column: usize) -> Box<Diagnostic> {
    let number = |value: usize| u32::try_from(value).unwrap_or(1).max(1);
    let mut span = Span::start_of(Arc::clone(path));
    (span.line, span.column) = (number(line), number(column));
    (span.end_line, span.end_column) = (span.line, span.column);
    Box::new(Diagnostic::new(DiagnosticLevel::Error, code, message).at(&span))
}

/// The most brackets that are open at once, those in texts and comments included.
fn open_brackets(text: &str) -> usize {
    let mut open = 0usize;
    let mut most = 0;
    for byte in text.bytes() {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Node {
        Node::parse_yaml(text, &"a.yml".into()).unwrap()
    }

    #[test]
    fn values_know_their_lines_through_anchors_and_merge_keys() {
        let node = parse("base: &base\n  x: 1\nother:\n  <<: *base\n  y: true\n");
        assert_eq!(node.at(&["other", "x"]).unwrap().scalar().as_deref(), Some("1"));
        assert_eq!(node.at(&["other", "x"]).unwrap().span.line, 3, "where it is not written: the enclosing value");
        assert_eq!(node.at(&["other", "y"]).unwrap().span.line, 5);
        assert_eq!(node.at(&["base", "x"]).unwrap().span.line, 2);
    }

    #[test]
    fn merging_joins_lists_and_replaces_scalars() {
        let mut node = parse("a: {x: 1, l: [1]}\nb: 1\n");
        node.merge(parse("a:\n  x: 2\n  l: [2]\nc: 3\n"));
        let text = |path: &[&str]| node.at(path).and_then(Node::scalar);
        assert_eq!(text(&["a", "x"]).as_deref(), Some("2"));
        assert_eq!(node.at(&["a", "x"]).unwrap().span.line, 2);
        assert_eq!(node.at(&["a", "l"]).unwrap().items().count(), 2);
        assert_eq!((text(&["b"]).as_deref(), text(&["c"]).as_deref()), (Some("1"), Some("3")));
    }

    #[test]
    fn scalars_keep_their_spelling_where_yaml_has_one() {
        let node = parse("a: 4.3\nb: 1.0\nc: !secret x\nd: [1, 2]\ne: ~\nf: off\n1: true\n");
        let text = |key: &str| node.get(key).and_then(Node::scalar);
        assert_eq!((text("a").as_deref(), text("b").as_deref()), (Some("4.3"), Some("1.0")));
        assert_eq!((text("c").as_deref(), text("f").as_deref()), (Some("x"), Some("off")));
        assert_eq!(node.get("e").unwrap().content, Content::Null);
        assert_eq!(node.get("1").and_then(Node::as_bool), Some(true));
        let merged = parse("a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc:\n  z: 3\n  <<: [*a, *b]\n");
        let text = |key: &str| merged.at(&["c", key]).and_then(Node::scalar).unwrap();
        assert_eq!((text("x"), text("y"), text("z")), ("1".into(), "1".into(), "3".into()));
    }

    #[test]
    fn syntax_errors_have_a_place() {
        let error = Node::parse_yaml("a: 1\nb: [1,\n", &"a.yml".into()).unwrap_err();
        assert_eq!(error.code, "yaml-syntax");
        assert!(error.span.unwrap().line >= 2);
        let error = Node::parse_json("{\n \"a\": }", &"a.json".into()).unwrap_err();
        assert_eq!(error.span.unwrap().line, 2);
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_the_parser(text in "([a-c]: |- |\\[|\\]|\\{|\\}|,|'|\"|\n|  |#|&a |\\*a|<<: |\\||\\\\|é|:|\\t){0,40}") {
            let _ = Node::parse_yaml(&text, &"a.yml".into());
            let _ = Node::parse_json(&text, &"a.json".into());
            places::Places::scan(&text, &"a.yml".into());
        }
    }

    #[test]
    fn bombs_and_deep_nesting_are_errors() {
        let mut bomb = format!("a0: &a0 [{}]\n", vec!["x"; 1000].join(","));
        for level in 1..6 {
            let items = vec![format!("*a{}", level - 1); 10].join(",");
            bomb += &format!("a{level}: &a{level} [{items}]\n");
        }
        assert!(Node::parse_yaml(&bomb, &"a.yml".into()).is_err());
        assert!(Node::parse_yaml(&"[".repeat(100_000), &"a.yml".into()).is_err());
        assert!(Node::parse_json(&"[".repeat(100_000), &"a.json".into()).is_err());
    }
}
