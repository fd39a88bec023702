//! Where a piece of code came from: turns positions inside a text into spans of the user's files.
//!
//! SQL stands in files, in notebook cells and in Python strings; whoever cuts it out says so with an [`Origin`].

use crate::model::{Place, Span};
use std::sync::Arc;

/// The place of a text in the user's files.
#[derive(Debug, Clone, Default)]
pub enum Origin {
    /// The text stands in a file character by character.
    File {
        path: Arc<str>,
        /// For notebooks: the cell, counted from 1.
        cell: Option<u32>,
        /// Position of the text's first character, both counted from 1.
        line: u32,
        column: u32,
        /// Characters to the left of the text's further lines (a notebook's `# MAGIC ` prefix).
        indent: u32,
    },
    /// The text was put together (an f-string, a concatenation): all of it is said to stand here.
    Whole(Arc<Span>),
    #[default]
    Unknown,
}

impl Origin {
    /// A whole file.
    pub fn file(path: Arc<str>) -> Self {
        Origin::File { path, cell: None, line: 1, column: 1, indent: 0 }
    }

    /// A text whose pieces cannot be told apart any more.
    pub fn whole(span: Span) -> Self {
        Origin::Whole(Arc::new(span))
    }

    pub fn path(&self) -> Option<&Arc<str>> {
        match self {
            Origin::File { path, .. } => Some(path),
            Origin::Whole(span) => Some(&span.path),
            Origin::Unknown => None,
        }
    }

    /// A position of the text as a position of the file.
    pub fn position(&self, line: u32, column: u32) -> (u32, u32) {
        match self {
            Origin::File { line: first, column: start, indent, .. } => {
                let shift = if line <= 1 { start.saturating_sub(1) } else { *indent };
                (first.saturating_add(line).saturating_sub(1), column.saturating_add(shift))
            }
            _ => (line, column),
        }
    }

    /// The span between two positions of the file (see [`Origin::position`]); the end is exclusive.
    pub fn span(&self, start: (u32, u32), end: (u32, u32)) -> Option<Span> {
        match self {
            Origin::File { path, cell, .. } => Some(Span {
                path: Arc::clone(path),
                line: start.0,
                column: start.1,
                end_line: end.0,
                end_column: end.1,
                cell: *cell,
            }),
            Origin::Whole(span) => Some(span.as_ref().clone()),
            Origin::Unknown => None,
        }
    }

    pub fn place(&self, start: (u32, u32), end: (u32, u32)) -> Place {
        Place::from(self.span(start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_line_is_shifted_by_its_column_and_further_lines_by_the_indent() {
        let origin = Origin::File { path: "a.py".into(), cell: None, line: 10, column: 7, indent: 8 };
        assert_eq!(origin.position(1, 1), (10, 7));
        assert_eq!(origin.position(3, 2), (12, 10));
    }
}
