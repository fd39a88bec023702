//! Where the parts of a Python definition stand in its text: decorated functions, calls of `union`, columns, properties.

use std::ops::Range;
use tree_sitter::{Node, Parser, Tree};

/// Decorators that define a dataset or a flow.
const DEFINING: &[&str] =
    &["table", "materialized_view", "temporary_view", "view", "append_flow", "create_table", "create_view"];

/// Calls that define a table without a query.
const CREATING: &[&str] = &["create_streaming_table", "create_target_table", "create_streaming_live_table"];

/// A parsed file or cell.
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
    pub side: Range<usize>,
    /// The whole chain of unions that the call is part of.
    pub outermost: Range<usize>,
    /// What to take out, before and behind what stays, so that the side is gone.
    pub without: [Range<usize>; 2],
    /// The assignment that names the side, with its line end, where it stands in one.
    pub assignment: Option<Range<usize>>,
}

/// Where a column gets its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnSite<'a> {
    /// An argument of `select`, and what its `alias` is called on.
    Item { item: Range<usize>, base: Range<usize> },
    /// A text of `selectExpr` with its quotes, and the expression without `AS`.
    Text { item: Range<usize>, expression: &'a str },
    /// `withColumn(name, value)`, without its receiver.
    WithColumn { call: Range<usize>, name: Range<usize>, value: Range<usize> },
    /// `withColumnRenamed(old, new)`, without its receiver.
    Renamed { call: Range<usize> },
    /// A pair of `withColumnsRenamed({…})` beside others, and the call's end.
    RenamedBesideOthers { pair: Range<usize>, end: usize },
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
        let (module, _) = self.defining_decorator(whole)?;
        Some(Definition { module, whole: whole.byte_range(), body: function.child_by_field_name("body")?.byte_range() })
    }

    /// The decorator that makes a function a dataset or a flow: what it is called on, and its expression.
    fn defining_decorator<'t>(&self, definition: Node<'t>) -> Option<(&'a str, Node<'t>)> {
        named_children(definition).into_iter().filter(|node| node.kind() == "decorator").find_map(|decorator| {
            let expression = decorator.named_child(0)?;
            let function = match expression.kind() {
                "call" => expression.child_by_field_name("function")?,
                _ => expression,
            };
            let (module, name) = self.slice(function).rsplit_once('.')?;
            DEFINING.contains(&name).then_some((module, expression))
        })
    }

    /// Bytes of the definition around a byte: a decorated function, or the statement that creates a table.
    pub fn whole(&self, byte: usize) -> Option<Range<usize>> {
        let defines = |node: &Node| matches!(node.kind(), "decorated_definition" | "expression_statement");
        Some(self.ancestors(byte).filter(defines).last()?.byte_range())
    }

    /// The innermost union around a byte, or around the variable that the byte's expression is assigned to.
    pub fn union_around(&self, byte: usize) -> Option<Union> {
        if let Some(union) = self.innermost_union(byte) {
            return Some(union);
        }
        let statement = self.ancestors(byte).find(|node| node.kind() == "expression_statement")?;
        let assignment = statement.named_child(0).filter(|node| node.kind() == "assignment")?;
        let name = assignment.child_by_field_name("left").filter(|node| node.kind() == "identifier")?;
        let uses = self.uses(self.slice(name), byte);
        let [only] = uses.as_slice() else { return None };
        let union = self.innermost_union(*only)?;
        let end = statement.end_byte();
        let start = self.text.get(..statement.start_byte())?.rfind('\n').map_or(0, |at| at + 1);
        let next = self.text.get(end..)?.find('\n').map_or(end, |at| end + at + 1);
        Some(Union { assignment: Some(start..next), ..union })
    }

    fn innermost_union(&self, byte: usize) -> Option<Union> {
        let mut unions = self.ancestors(byte).filter(|node| self.is_union(*node));
        let call = unions.next()?;
        let outermost = unions.last().unwrap_or(call).byte_range();
        let receiver = call.child_by_field_name("function")?.child_by_field_name("object")?.byte_range();
        let argument = call.child_by_field_name("arguments")?.named_child(0)?.byte_range();
        let whole = call.byte_range();
        let (side, kept) = if argument.contains(&byte) {
            (argument, receiver)
        } else if receiver.contains(&byte) {
            (receiver, argument)
        } else {
            return None;
        };
        let without = [whole.start..kept.start, kept.end..whole.end];
        Some(Union { side, outermost, without, assignment: None })
    }

    fn is_union(&self, node: Node) -> bool {
        self.method(node).is_some_and(|(_, name)| matches!(name, "union" | "unionAll" | "unionByName"))
    }

    /// The name of the method that a call is of, and its bytes' start.
    fn method(&self, call: Node) -> Option<(usize, &'a str)> {
        let function = call.child_by_field_name("function").filter(|node| node.kind() == "attribute")?;
        let name = function.child_by_field_name("attribute")?;
        (call.kind() == "call").then(|| (name.start_byte(), self.slice(name)))
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

    /// The line of an assignment of a read to a name that stands nowhere else.
    fn unused_read(&self) -> Option<Range<usize>> {
        let mut pending = vec![self.tree.root_node()];
        while let Some(node) = pending.pop() {
            let assigned = node.child_by_field_name("left").filter(|_| node.kind() == "assignment");
            let value = node.child_by_field_name("right").map_or("", |value| self.slice(value));
            let reads =
                ["readStream", "read_stream", "spark.read", "spark.table"].iter().any(|read| value.contains(read));
            if let Some(name) = assigned.filter(|name| reads && name.kind() == "identifier")
                && self.uses(self.slice(name), name.start_byte()).is_empty()
            {
                let start = self.text.get(..node.start_byte())?.trim_end_matches(' ').len();
                let end = node.end_byte();
                let next = self.text.get(end..)?.find('\n').map_or(end, |at| end + at + 1);
                return Some(start..next);
            }
            pending.extend(named_children(node));
        }
        None
    }

    /// Where a column gets its name, in the innermost call around a byte that gives it one.
    pub fn column(&self, byte: usize, name: &str) -> Option<ColumnSite<'a>> {
        self.ancestors(byte).find_map(|call| self.column_of(call, byte, name))
    }

    fn column_of(&self, call: Node, byte: usize, name: &str) -> Option<ColumnSite<'a>> {
        let (start, method) = self.method(call)?;
        let arguments = named_children(call.child_by_field_name("arguments")?);
        let named = |argument: &&Node| self.string(**argument) == Some(name);
        let without_receiver = start..call.end_byte();
        match method {
            "select" => {
                let around = arguments.iter().find(|argument| argument.byte_range().contains(&byte));
                let item = around.or_else(|| arguments.iter().find(|argument| self.gives(**argument, name)))?;
                let aliased = self.method(*item).filter(|(_, method)| *method == "alias").is_some();
                let base = item.child_by_field_name("function").filter(|_| aliased);
                let base = base.and_then(|function| function.child_by_field_name("object")).unwrap_or(*item);
                Some(ColumnSite::Item { item: item.byte_range(), base: base.byte_range() })
            }
            "selectExpr" => arguments.iter().find_map(|argument| {
                let (expression, alias) = split_alias(self.string(*argument)?);
                let given = alias.unwrap_or(expression).trim_matches('`') == name;
                given.then(|| ColumnSite::Text { item: argument.byte_range(), expression })
            }),
            "withColumn" => {
                let [first, value] = arguments.as_slice() else { return None };
                named(&first).then(|| ColumnSite::WithColumn {
                    call: without_receiver,
                    name: first.byte_range(),
                    value: value.byte_range(),
                })
            }
            "withColumnRenamed" => {
                arguments.get(1).filter(named).map(|_| ColumnSite::Renamed { call: without_receiver })
            }
            "withColumnsRenamed" => {
                let dictionary = arguments.first().filter(|node| node.kind() == "dictionary")?;
                let pairs = named_children(*dictionary);
                let gives = |pair: &Node| pair.child_by_field_name("value").is_some_and(|value| named(&&value));
                let at = pairs.iter().position(gives)?;
                let pair = pairs.get(at)?;
                let pair = match (at.checked_sub(1).and_then(|before| pairs.get(before)), pairs.get(at + 1)) {
                    (Some(before), _) => before.end_byte()..pair.end_byte(),
                    (None, Some(next)) => pair.start_byte()..next.start_byte(),
                    (None, None) => return Some(ColumnSite::Renamed { call: without_receiver }),
                };
                Some(ColumnSite::RenamedBesideOthers { pair, end: call.end_byte() })
            }
            _ => None,
        }
    }

    /// An argument of `select` gives a column of this name: its text, an alias, or `col(name)`.
    fn gives(&self, argument: Node, name: &str) -> bool {
        if self.string(argument) == Some(name) {
            return true;
        }
        let arguments = argument.child_by_field_name("arguments").filter(|_| argument.kind() == "call");
        let function = argument.child_by_field_name("function").map(|function| self.slice(function));
        let naming = function.and_then(|function| function.rsplit('.').next());
        matches!(naming, Some("alias" | "name" | "col" | "column"))
            && arguments.and_then(|arguments| self.string(arguments.named_child(0)?)) == Some(name)
    }

    /// The text of a string without escapes or interpolation.
    fn string(&self, node: Node) -> Option<&'a str> {
        if node.kind() != "string" {
            return None;
        }
        let parts = named_children(node);
        match parts.as_slice() {
            [start, content, end]
                if (start.kind(), content.kind(), end.kind()) == ("string_start", "string_content", "string_end")
                    && content.named_child_count() == 0
                    && !self.slice(*start).starts_with(['f', 'F']) =>
            {
                Some(self.slice(*content))
            }
            _ => None,
        }
    }

    /// The text that sets a table property, and the bytes in whose place it goes.
    pub fn property(&self, byte: usize, name: &str, value: &str) -> Option<(Range<usize>, String)> {
        let creates = |node: &Node| {
            let function = node.child_by_field_name("function").filter(|_| node.kind() == "call");
            let word = function.and_then(|function| self.slice(function).rsplit('.').next());
            word.is_some_and(|word| CREATING.contains(&word))
        };
        let call = match self.ancestors(byte).find(creates) {
            Some(call) => call,
            None => {
                let whole = self.ancestors(byte).find(|node| node.kind() == "decorated_definition")?;
                self.defining_decorator(whole)?.1
            }
        };
        let pair = format!("\"{name}\": \"{value}\"");
        let at = |byte: usize| byte..byte;
        if call.kind() != "call" {
            return Some((at(call.end_byte()), format!("(table_properties={{{pair}}})")));
        }
        let arguments = call.child_by_field_name("arguments")?;
        let given = named_children(arguments);
        let properties = given.iter().find(|argument| {
            argument.child_by_field_name("name").is_some_and(|key| self.slice(key) == "table_properties")
        });
        if let Some(properties) = properties {
            let dictionary = properties.child_by_field_name("value").filter(|node| node.kind() == "dictionary")?;
            let pairs = named_children(dictionary);
            let is_key = |pair: &&Node| pair.child_by_field_name("key").and_then(|key| self.string(key)) == Some(name);
            if let Some(old) = pairs.iter().find(is_key).and_then(|pair| pair.child_by_field_name("value")) {
                return Some((old.byte_range(), format!("\"{value}\"")));
            }
            let comma = if pairs.is_empty() { "" } else { ", " };
            return Some((at(dictionary.start_byte() + 1), format!("{pair}{comma}")));
        }
        let text = format!("table_properties={{{pair}}}");
        Some(match given.last() {
            Some(last) => (at(last.end_byte()), format!(", {text}")),
            None => (at(arguments.start_byte() + 1), text),
        })
    }

    /// The text that gives the streaming read in a range an option, and the bytes in whose place it goes. `read_stream(name)` takes
    /// none, and is written as the reader that does.
    pub fn read_option(&self, range: &Range<usize>, option: &str, value: &str) -> Option<(Range<usize>, String)> {
        let text = self.text.get(range.clone())?;
        let set = format!("option(\"{option}\", \"{value}\")");
        if let Some(found) = text.find("readStream") {
            let at = range.start + found + "readStream".len();
            return Some((at..at, format!(".{set}")));
        }
        let at = range.start + text.find("read_stream")?;
        let call = self.ancestors(at).find(|node| node.kind() == "call")?;
        let table = self.slice(call.child_by_field_name("arguments")?.named_child(0)?);
        Some((call.byte_range(), format!("spark.readStream.{set}.table({table})")))
    }
}

/// A function's body without assignments of reads that nothing in it uses.
pub fn without_unused_reads(body: &str) -> String {
    const HEAD: &str = "def f():\n    ";
    let mut text = format!("{HEAD}{body}");
    while let Some(range) = Source::parse(&text).and_then(|source| source.unused_read()) {
        text.replace_range(range, "");
    }
    text.get(HEAD.len()..).unwrap_or(body).trim_start().to_owned()
}

fn named_children(node: Node) -> Vec<Node> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect()
}

/// `expression AS name`: both parts.
fn split_alias(text: &str) -> (&str, Option<&str>) {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        [.., keyword, name] if keyword.eq_ignore_ascii_case("as") => {
            let head = text.trim_end().strip_suffix(name).unwrap_or(text).trim_end();
            let expression = head.get(..head.len().saturating_sub(keyword.len())).unwrap_or(head).trim();
            (expression, Some(name))
        }
        _ => (text.trim(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "@dp.expect(\"a\", \"b\")\n@dp.table(name=\"t\")\ndef t():\n    b = spark.readStream.table(\"b\")\n    return spark.readStream.table(\"a\").union(b).unionAll(spark.readStream.table(\"c\"))\n";

    #[test]
    fn a_side_behind_a_variable_is_found_with_its_assignment() {
        let source = Source::parse(TEXT).unwrap();
        let union = source.union_around(TEXT.find("\"b\")\n    ").unwrap()).unwrap();
        assert_eq!(&TEXT[union.without[1].clone()], ".union(b)");
        assert_eq!(&TEXT[union.side], "b");
        assert!(TEXT[union.outermost].ends_with(".unionAll(spark.readStream.table(\"c\"))"));
        assert_eq!(&TEXT[union.assignment.unwrap()], "    b = spark.readStream.table(\"b\")\n");
        let definition = source.definition(TEXT.find("return").unwrap()).unwrap();
        assert_eq!(definition.module, "dp");
    }

    #[test]
    fn reads_that_nothing_uses_go() {
        let body = "a = spark.readStream.table(\"a\")\n    b = a.where(\"x\")\n    c = spark.read.table(\"c\")\n    return spark.readStream.table(\"d\").join(c)";
        let left = without_unused_reads(body);
        assert!(left.contains("a = spark") && left.contains("b = a") && left.contains("c = spark"), "{left}");
        let body = "a = spark.readStream.table(\"a\")\n    c = spark.read.table(\"c\")\n    return c";
        assert_eq!(without_unused_reads(body), "c = spark.read.table(\"c\")\n    return c");
    }

    #[test]
    fn a_property_joins_the_arguments_or_changes_the_one_there_is() {
        let set = |text: &str| {
            let (range, new) = Source::parse(text).unwrap().property(0, "p", "false").unwrap();
            format!("{}{new}{}", &text[..range.start], &text[range.end..])
        };
        assert!(set(TEXT).contains("@dp.table(name=\"t\", table_properties={\"p\": \"false\"})"));
        assert_eq!(
            set("dp.create_streaming_table(\"t\")"),
            "dp.create_streaming_table(\"t\", table_properties={\"p\": \"false\"})"
        );
        assert_eq!(
            set("dp.create_streaming_table(table_properties={\"p\": \"true\"})"),
            "dp.create_streaming_table(table_properties={\"p\": \"false\"})"
        );
    }

    #[test]
    fn a_column_is_found_where_it_gets_its_name() {
        let text = "df.select(col(\"a\"), col(\"b\").alias(\"x\")).selectExpr(\"a\", \"x + 1 as y\").withColumnRenamed(\"a\", \"k\")";
        let source = Source::parse(text).unwrap();
        let item = source.column(text.find("select(").unwrap(), "x").unwrap();
        let ColumnSite::Item { item, base } = item else { panic!("{item:?}") };
        assert_eq!((&text[item], &text[base]), ("col(\"b\").alias(\"x\")", "col(\"b\")"));
        let text_item = source.column(text.find("selectExpr").unwrap(), "y");
        assert!(matches!(text_item, Some(ColumnSite::Text { expression: "x + 1", .. })), "{text_item:?}");
        let renamed = source.column(text.find("withColumnRenamed").unwrap(), "k");
        assert!(matches!(renamed, Some(ColumnSite::Renamed { .. })), "{renamed:?}");
    }
}
