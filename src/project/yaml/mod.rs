//! YAML and JSON documents whose values know where they stand.
//!
//! serde_yaml gives the values, [`places`] the positions: the parser has none. A value that came through an alias or a merge key
//! has the position of the nearest enclosing value that is written out.

mod places;

use crate::model::{Diagnostic, DiagnosticLevel, Span};
use indexmap::IndexMap;
use places::{Places, Step};
use serde_yaml::Value;
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

impl Node {
    /// Reads one YAML document.
    ///
    /// # Errors
    /// A syntax error, as a diagnostic with its place.
    pub fn parse_yaml(text: &str, path: &Arc<str>) -> Result<Node, Box<Diagnostic>> {
        let parsed = serde_yaml::from_str::<Value>(text).and_then(|mut value| value.apply_merge().map(|()| value));
        match parsed {
            Ok(value) => Ok(Builder::new(text, path).node(value)),
            Err(error) => {
                let mut span = Span::start_of(Arc::clone(path));
                if let Some(location) = error.location() {
                    span.line = u32::try_from(location.line()).unwrap_or(1).max(1);
                    span.column = u32::try_from(location.column()).unwrap_or(1).max(1);
                    (span.end_line, span.end_column) = (span.line, span.column);
                }
                Err(Box::new(
                    Diagnostic::new(DiagnosticLevel::Error, "yaml-syntax", format!("this is not YAML: {error}"))
                        .at(&span),
                ))
            }
        }
    }

    /// Reads one JSON document.
    ///
    /// # Errors
    /// A syntax error, as a diagnostic with its place.
    pub fn parse_json(text: &str, path: &Arc<str>) -> Result<Node, Box<Diagnostic>> {
        match serde_json::from_str::<Value>(text) {
            Ok(value) => Ok(Builder::new(text, path).node(value)),
            Err(error) => {
                let mut span = Span::start_of(Arc::clone(path));
                span.line = u32::try_from(error.line()).unwrap_or(1).max(1);
                span.column = u32::try_from(error.column()).unwrap_or(1).max(1);
                (span.end_line, span.end_column) = (span.line, span.column);
                Err(Box::new(
                    Diagnostic::new(DiagnosticLevel::Error, "json-syntax", format!("this is not JSON: {error}"))
                        .at(&span),
                ))
            }
        }
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

struct Builder {
    places: Places,
    path: Vec<Step>,
}

impl Builder {
    fn new(text: &str, path: &Arc<str>) -> Self {
        Builder { places: Places::scan(text, path), path: Vec::new() }
    }

    fn node(&mut self, value: Value) -> Node {
        let span = self.places.nearest(&self.path);
        let content = match value {
            Value::Null => Content::Null,
            Value::Bool(value) => Content::Boolean(value),
            Value::Number(number) => Content::Number(number.to_string()),
            Value::String(text) => Content::Text(text),
            Value::Sequence(items) => {
                let items = items.into_iter().enumerate();
                Content::List(items.map(|(index, item)| self.child(Step::Index(index), item)).collect())
            }
            Value::Mapping(entries) => {
                let mut map = IndexMap::with_capacity(entries.len());
                for (key, value) in entries {
                    if let Some(key) = scalar_key(&key) {
                        let node = self.child(Step::Key(key.clone()), value);
                        map.insert(key, node);
                    }
                }
                Content::Map(map)
            }
            Value::Tagged(tagged) => return self.node(tagged.value),
        };
        Node { content, span }
    }

    fn child(&mut self, step: Step, value: Value) -> Node {
        self.path.push(step);
        let node = self.node(value);
        self.path.pop();
        node
    }
}

fn scalar_key(key: &Value) -> Option<String> {
    match key {
        Value::String(text) => Some(text.clone()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null => Some("null".to_owned()),
        Value::Sequence(_) | Value::Mapping(_) | Value::Tagged(_) => None,
    }
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
    fn syntax_errors_have_a_place() {
        let error = Node::parse_yaml("a: 1\nb: [1,\n", &"a.yml".into()).unwrap_err();
        assert_eq!(error.code, "yaml-syntax");
        assert!(error.span.unwrap().line >= 2);
        let error = Node::parse_json("{\n \"a\": }", &"a.json".into()).unwrap_err();
        assert_eq!(error.span.unwrap().line, 2);
    }

    #[test]
    fn bombs_and_deep_nesting_are_errors() {
        let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for level in 1..12 {
            let items = vec![format!("*a{}", level - 1); 10].join(",");
            bomb += &format!("a{level}: &a{level} [{items}]\n");
        }
        assert!(Node::parse_yaml(&bomb, &"a.yml".into()).is_err());
        assert!(Node::parse_yaml(&"[".repeat(100_000), &"a.yml".into()).is_err());
        assert!(Node::parse_json(&"[".repeat(100_000), &"a.json".into()).is_err());
    }
}
