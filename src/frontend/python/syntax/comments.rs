//! Comments of a Python text.

use crate::frontend::comments::Comment;
use tree_sitter::Parser;

/// All comments of one file or cell, in order.
pub fn comments(text: &str) -> Vec<Comment> {
    let mut parser = Parser::new();
    if text.len() > super::lower::MAX_BYTES || parser.set_language(&tree_sitter_python::LANGUAGE.into()).is_err() {
        return Vec::new();
    }
    let Some(tree) = parser.parse(text, None) else { return Vec::new() };
    let lines: Vec<&str> = text.split('\n').collect();
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.kind() == "comment" {
            let start = node.start_position();
            let before = lines.get(start.row).and_then(|line| line.get(..start.column)).unwrap_or_default();
            let line = start.row as u32 + 1;
            found.push(Comment {
                line,
                column: before.chars().count() as u32 + 1,
                end_line: line,
                cell: None,
                text: text.get(node.byte_range()).unwrap_or_default().trim_start_matches('#').to_owned(),
                own_line: before.trim().is_empty(),
            });
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}
