//! What a Python text imports, reads and calls, from its syntax tree: strings, comments and prose decide nothing.

use super::sql;
use crate::project::library;
use std::collections::{BTreeMap, BTreeSet};
use tree_sitter::{Node, Parser};

/// Larger texts are no pipeline code.
const MAX_BYTES: usize = 4 << 20;

/// Without one of these, in a name or in SQL, a text can neither define a pipeline, write with Spark, nor run another notebook: it is
/// not parsed.
const ROOTS: [&str; 9] =
    ["notebook", "dlt", "pipelines", "write", "sql", "DeltaTable", "insertInto", "saveAsTable", "mergeInto"];

/// What Python code does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PythonFacts {
    /// Dotted paths of what is imported, and of what is used of imported names.
    paths: BTreeSet<String>,
    /// Starts a Structured Streaming query.
    pub stream_write: bool,
    /// Writes a table in batch.
    pub batch_write: bool,
    /// Imports a test framework.
    pub tests: bool,
    /// Some string is SQL that writes, and some SQL is run.
    sql_text: bool,
    sql_call: bool,
    /// Notebooks that it runs.
    pub runs: Vec<NotebookRun>,
}

/// `dbutils.notebook.run("./other", 60, {"key": "value"})`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotebookRun {
    pub path: String,
    /// Values that are no text literals are symbols.
    pub parameters: Vec<(String, String)>,
}

impl PythonFacts {
    pub fn defines(&self) -> bool {
        library::is_used(self.paths.iter().map(String::as_str))
    }

    pub fn writes(&self) -> bool {
        self.batch_write || (self.sql_text && self.sql_call)
    }

    /// Adds what a text does: a file, or one cell of a notebook whose other cells were read before.
    pub fn read(&mut self, text: &str, parser: &mut Parser, names: &mut Names) {
        if text.len() > MAX_BYTES || !ROOTS.iter().any(|root| text.contains(root)) {
            return;
        }
        let Some(tree) = parser.parse(text, None) else { return };
        let mut cursor = tree.walk();
        loop {
            self.node(cursor.node(), text, names);
            if cursor.goto_first_child() || cursor.goto_next_sibling() {
                continue;
            }
            loop {
                if !cursor.goto_parent() {
                    return;
                }
                if cursor.goto_next_sibling() {
                    break;
                }
            }
        }
    }

    fn node(&mut self, node: Node<'_>, text: &str, names: &mut Names) {
        let source = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default();
        match node.kind() {
            "import_statement" => {
                for name in node.children_by_field_name("name", &mut node.walk()) {
                    let path = source(name.child_by_field_name("name").unwrap_or(name));
                    let (bound, whole) = match name.child_by_field_name("alias") {
                        Some(alias) => (source(alias), path),
                        None => (first_part(path), first_part(path)),
                    };
                    names.imported.insert(bound.to_owned(), whole.to_owned());
                    self.import(path.to_owned());
                }
            }
            "import_from_statement" => {
                let module = node.child_by_field_name("module_name").map(source).unwrap_or_default().to_owned();
                for name in node.children_by_field_name("name", &mut node.walk()) {
                    let member = source(name.child_by_field_name("name").unwrap_or(name));
                    let path = format!("{module}.{member}");
                    let bound = name.child_by_field_name("alias").map_or(member, source);
                    names.imported.insert(bound.to_owned(), path.clone());
                    self.import(path);
                }
                let mut cursor = node.walk();
                if node.children(&mut cursor).any(|child| child.kind() == "wildcard_import") {
                    self.import(format!("{module}.*"));
                }
            }
            "attribute" => self.attribute(node, text, names),
            "identifier" if source(node) == "DeltaTable" => self.batch_write = true,
            "call" => {
                if function_of(node, text).ends_with("notebook.run") {
                    self.runs.extend(notebook_run(node, text));
                }
                // `importlib.import_module("dlt")`, `__import__("dlt")`.
                let function = node.child_by_field_name("function").map(source).unwrap_or_default();
                if function.ends_with("import_module") || function == "__import__" {
                    let arguments = node.child_by_field_name("arguments");
                    let first =
                        arguments.and_then(|arguments| arguments.named_child(0)).map(source).unwrap_or_default();
                    self.import(first.trim_matches(['"', '\'']).to_owned());
                }
            }
            "string_content" => self.sql_text |= sql::facts(source(node)).writes,
            _ => {}
        }
    }

    fn import(&mut self, path: String) {
        self.tests |= matches!(first_part(&path), "pytest" | "unittest");
        self.paths.insert(path);
    }

    fn attribute(&mut self, node: Node<'_>, text: &str, names: &Names) {
        let name =
            node.child_by_field_name("attribute").and_then(|name| text.get(name.byte_range())).unwrap_or_default();
        let called = node.parent().is_some_and(|parent| {
            parent.kind() == "call" && parent.child_by_field_name("function").is_some_and(|function| function == node)
        });
        match name {
            "writeStream" => self.stream_write = true,
            // `file.write(text)` is no writer of Spark's.
            "write" => self.batch_write |= !called,
            "writeTo" | "insertInto" | "saveAsTable" | "mergeInto" => self.batch_write |= called,
            "DeltaTable" => self.batch_write = true,
            "sql" => self.sql_call |= called,
            _ => {}
        }
        let Some(path) = text.get(node.byte_range()).filter(|path| is_dotted(path)) else { return };
        let root = first_part(path);
        // In a notebook of a pipeline `dlt` is there without an import.
        let whole = names.imported.get(root).map_or(root, String::as_str);
        let path = format!("{whole}{}", path.get(root.len()..).unwrap_or_default());
        if library::member(&path).is_some() {
            self.paths.insert(path);
        }
    }
}

fn function_of<'t>(call: Node<'_>, text: &'t str) -> &'t str {
    call.child_by_field_name("function").and_then(|function| text.get(function.byte_range())).unwrap_or_default()
}

fn notebook_run(call: Node<'_>, text: &str) -> Option<NotebookRun> {
    let arguments = call.child_by_field_name("arguments")?;
    let path = literal(arguments.named_child(0)?, text)?;
    let mut parameters = Vec::new();
    let mut cursor = arguments.walk();
    let values =
        arguments.named_children(&mut cursor).map(|argument| argument.child_by_field_name("value").unwrap_or(argument));
    for dictionary in values.filter(|value| value.kind() == "dictionary") {
        for pair in dictionary.named_children(&mut dictionary.walk()) {
            let (Some(key), Some(value)) = (pair.child_by_field_name("key"), pair.child_by_field_name("value")) else {
                continue;
            };
            let written = text.get(value.byte_range()).unwrap_or_default();
            let symbol = || format!("{{{}}}", written.replace(['{', '}'], ""));
            parameters.extend(literal(key, text).map(|key| (key, literal(value, text).unwrap_or_else(symbol))));
        }
    }
    Some(NotebookRun { path, parameters })
}

/// The text of a string without prefix, escapes and interpolation.
fn literal(node: Node<'_>, text: &str) -> Option<String> {
    let written = text.get(node.byte_range()).filter(|_| node.kind() == "string")?;
    let quote = written.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = written.strip_prefix(quote)?.strip_suffix(quote)?;
    (!inner.contains(['\\', quote])).then(|| inner.to_owned())
}

/// What names of a file stand for, over all of its cells.
#[derive(Debug, Default)]
pub(super) struct Names {
    imported: BTreeMap<String, String>,
}

pub(super) fn parser() -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_python::LANGUAGE.into()).ok()?;
    Some(parser)
}

fn first_part(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

fn is_dotted(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
}
