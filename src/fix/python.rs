//! Where the parts of a Python definition stand in its text: the decorated function, calls of `union`, assignments.

use std::ops::Range;
use tree_sitter::{Node, Parser, Tree};

/// A parsed file.
pub struct Source<'a> {
    text: &'a str,
    tree: Tree,
}

/// A decorated function.
pub struct Definition<'a> {
    /// What the decorator is called on: `dp`, `dlt`.
    pub module: &'a str,
    /// Bytes from the first decorator to the end of the body.
    pub whole: Range<usize>,
    pub body: Range<usize>,
}

/// A call of `union`, `unionAll` or `unionByName` one of whose sides holds the place asked for.
pub struct Union {
    pub call: Range<usize>,
    pub with: Range<usize>,
    pub without: Range<usize>,
    /// The assignment that names the side, with its line end, where it stands in one.
    pub assignment: Option<Range<usize>>,
}

impl<'a> Source<'a> {
    pub fn parse(text: &'a str) -> Option<Self> {
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_python::LANGUAGE.into()).ok()?;
        Some(Source { text, tree: parser.parse(text, None)? })
    }

    fn node(&self, byte: usize) -> Option<Node<'_>> {
        self.tree.root_node().descendant_for_byte_range(byte, byte + 1)
    }

    fn ancestors(&self, byte: usize) -> impl Iterator<Item = Node<'_>> {
        std::iter::successors(self.node(byte), Node::parent)
    }

    fn slice(&self, node: Node) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// The decorated function around a byte.
    pub fn definition(&self, byte: usize) -> Option<Definition<'a>> {
        let whole = self.ancestors(byte).find(|node| node.kind() == "decorated_definition")?;
        let function = whole.child_by_field_name("definition").filter(|node| node.kind() == "function_definition")?;
        let decorator = whole.named_child(0).filter(|node| node.kind() == "decorator")?;
        let module = self.slice(decorator).trim_start_matches('@').trim().split(['.', '(']).next()?;
        Some(Definition { module, whole: whole.byte_range(), body: function.child_by_field_name("body")?.byte_range() })
    }

    /// The innermost union around a byte, or around the variable that the byte's expression is assigned to.
    pub fn union_around(&self, byte: usize) -> Option<Union> {
        if let Some(union) = self.ancestors(byte).find_map(|node| self.union(node, byte)) {
            return Some(union);
        }
        let statement = self.ancestors(byte).find(|node| node.kind() == "expression_statement")?;
        let assignment = statement.named_child(0).filter(|node| node.kind() == "assignment")?;
        let name = assignment.child_by_field_name("left").filter(|node| node.kind() == "identifier")?;
        let uses = self.uses(self.slice(name), byte);
        let [only] = uses.as_slice() else { return None };
        let union = self.ancestors(*only).find_map(|node| self.union(node, *only))?;
        let end = statement.end_byte();
        let start = self.text.get(..statement.start_byte())?.rfind('\n').map_or(0, |at| at + 1);
        let next = self.text.get(end..)?.find('\n').map_or(end, |at| end + at + 1);
        Some(Union { assignment: Some(start..next), ..union })
    }

    fn union(&self, node: Node, byte: usize) -> Option<Union> {
        if node.kind() != "call" {
            return None;
        }
        let function = node.child_by_field_name("function").filter(|node| node.kind() == "attribute")?;
        let method = self.slice(function.child_by_field_name("attribute")?);
        if !matches!(method, "union" | "unionAll" | "unionByName") {
            return None;
        }
        let receiver = function.child_by_field_name("object")?.byte_range();
        let argument = node.child_by_field_name("arguments")?.named_child(0)?.byte_range();
        let (with, without) = if argument.contains(&byte) {
            (argument, receiver)
        } else if receiver.contains(&byte) {
            (receiver, argument)
        } else {
            return None;
        };
        Some(Union { call: node.byte_range(), with, without, assignment: None })
    }

    /// Bytes at which a name is used in the function around a byte, assignments to it left out.
    fn uses(&self, name: &str, byte: usize) -> Vec<usize> {
        let Some(function) = self.ancestors(byte).find(|node| node.kind() == "function_definition") else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let mut pending = vec![function];
        while let Some(node) = pending.pop() {
            if node.kind() == "identifier" && self.slice(node) == name {
                let of_parent = |field: &str| node.parent().and_then(|p| p.child_by_field_name(field)) == Some(node);
                let assigned = node.parent().is_some_and(|p| p.kind() == "assignment") && of_parent("left");
                if !assigned && !of_parent("attribute") {
                    found.push(node.start_byte());
                }
            }
            let mut cursor = node.walk();
            pending.extend(node.children(&mut cursor));
        }
        found
    }

    /// The argument of `select` that holds a byte: all of it, and what its `alias` is called on.
    pub fn select_item(&self, byte: usize) -> Option<(Range<usize>, Range<usize>)> {
        let item = self.ancestors(byte).find(|node| {
            let arguments = node.parent().filter(|parent| parent.kind() == "argument_list");
            let called = arguments.and_then(|arguments| arguments.parent()?.child_by_field_name("function"));
            called
                .and_then(|function| function.child_by_field_name("attribute"))
                .is_some_and(|m| self.slice(m) == "select")
        })?;
        let function = item.child_by_field_name("function").filter(|_| item.kind() == "call");
        let aliased = function.filter(|f| f.child_by_field_name("attribute").is_some_and(|m| self.slice(m) == "alias"));
        let base = aliased.and_then(|function| function.child_by_field_name("object")).unwrap_or(item);
        Some((item.byte_range(), base.byte_range()))
    }

    /// The decorator's text with a table property, and the bytes it stands in place of.
    pub fn property(&self, byte: usize, name: &str, value: &str) -> Option<(usize, String)> {
        let whole = self.ancestors(byte).find(|node| node.kind() == "decorated_definition")?;
        let decorator = whole.named_child(0).filter(|node| node.kind() == "decorator")?;
        let call = decorator.named_child(0)?;
        if call.kind() != "call" {
            return Some((call.end_byte(), format!("(table_properties={{\"{name}\": \"{value}\"}})")));
        }
        let arguments = call.child_by_field_name("arguments")?;
        let mut cursor = arguments.walk();
        let mut given = arguments.named_children(&mut cursor);
        let properties = given.find(|argument| {
            argument.child_by_field_name("name").is_some_and(|key| self.slice(key) == "table_properties")
        });
        if let Some(properties) = properties {
            let dictionary = properties.child_by_field_name("value").filter(|node| node.kind() == "dictionary")?;
            let comma = if dictionary.named_child_count() == 0 { "" } else { ", " };
            return Some((dictionary.start_byte() + 1, format!("\"{name}\": \"{value}\"{comma}")));
        }
        let text = format!("table_properties={{\"{name}\": \"{value}\"}}");
        let mut cursor = arguments.walk();
        match arguments.named_children(&mut cursor).last() {
            Some(last) => Some((last.end_byte(), format!(", {text}"))),
            None => Some((arguments.start_byte() + 1, text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "@dp.table(name=\"t\")\ndef t():\n    b = spark.readStream.table(\"b\")\n    return spark.readStream.table(\"a\").union(b)\n";

    #[test]
    fn a_side_behind_a_variable_is_found_with_its_assignment() {
        let source = Source::parse(TEXT).unwrap();
        let union = source.union_around(TEXT.find("\"b\"").unwrap()).unwrap();
        assert_eq!(&TEXT[union.without], "spark.readStream.table(\"a\")");
        assert_eq!(&TEXT[union.with], "b");
        assert_eq!(&TEXT[union.assignment.unwrap()], "    b = spark.readStream.table(\"b\")\n");
        let definition = source.definition(TEXT.find("return").unwrap()).unwrap();
        assert_eq!(definition.module, "dp");
    }

    #[test]
    fn a_property_joins_the_arguments() {
        let source = Source::parse(TEXT).unwrap();
        let (at, text) = source.property(TEXT.find("return").unwrap(), "p", "false").unwrap();
        assert_eq!(&TEXT[..at], "@dp.table(name=\"t\"");
        assert_eq!(text, ", table_properties={\"p\": \"false\"}");
    }
}
