//! Edits of files, applied in memory, and the unified diff that shows them.

use crate::revision::{self, Tree};
use similar::TextDiff;
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes of a file and what stands in their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub path: String,
    pub range: Range<usize>,
    pub text: String,
}

/// Texts before and after, by path. None where edits overlap, or a file is no UTF-8.
pub fn apply(tree: &dyn Tree, edits: &[Edit]) -> Option<BTreeMap<String, (String, String)>> {
    let mut by_path: BTreeMap<&str, Vec<(Range<usize>, &str)>> = BTreeMap::new();
    for edit in edits {
        by_path.entry(&edit.path).or_default().push((edit.range.clone(), &edit.text));
    }
    let mut files = BTreeMap::new();
    for (path, edits) in by_path {
        let old = text(tree, path)?;
        let edits: Vec<(Range<usize>, String)> =
            edits.into_iter().map(|(range, text)| (range, with_line_ends_of(&old, text))).collect();
        let new = replaced(&old, edits.iter().map(|(range, text)| (range.clone(), text.as_str())).collect())?;
        files.insert(path.to_owned(), (old, new));
    }
    Some(files)
}

/// A new text with the line ends of the file that it goes into.
fn with_line_ends_of(file: &str, text: &str) -> String {
    let lines = text.replace("\r\n", "\n");
    if file.contains("\r\n") { lines.replace('\n', "\r\n") } else { lines }
}

/// A text with other text in place of some of its bytes; insertions at one byte keep their order. None where two overlap.
pub fn replaced(old: &str, mut edits: Vec<(Range<usize>, &str)>) -> Option<String> {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let mut new = String::with_capacity(old.len());
    let mut at = 0;
    for (range, text) in edits {
        new.push_str(old.get(at..range.start)?);
        new.push_str(text);
        at = range.end;
    }
    new.push_str(old.get(at..)?);
    Some(new)
}

/// A file's text, where its bytes are that text.
pub fn text(tree: &dyn Tree, path: &str) -> Option<String> {
    revision::text::exact(tree, path)
}

/// The byte of a line and a column, both counted from 1, columns in characters.
pub fn byte(text: &str, line: u32, column: u32) -> Option<usize> {
    Lines::of(text).byte(line, column)
}

/// A text with the bytes at which its lines begin, for looking up many places.
pub struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub fn of(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Lines { text, starts }
    }

    /// The byte of a line and a column, both counted from 1, columns in characters.
    pub fn byte(&self, line: u32, column: u32) -> Option<usize> {
        let line = usize::try_from(line).ok()?.checked_sub(1)?;
        let column = usize::try_from(column).ok()?.checked_sub(1)?;
        let start = *self.starts.get(line)?;
        let rest = self.text.get(start..)?;
        let offset = rest.char_indices().map(|(at, _)| at).chain([rest.len()]).nth(column)?;
        Some(start + offset)
    }
}

/// What `git apply` takes.
pub fn unified_diff(path: &str, old: &str, new: &str) -> String {
    TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(3)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        assert_eq!(byte("ä\nöx", 2, 2), Some(5));
        assert_eq!(byte("a\n", 2, 1), Some(2));
        assert_eq!(byte("a", 3, 1), None);
    }

    #[test]
    fn edits_that_overlap_are_none() {
        assert_eq!(replaced("abcd", vec![(3..4, ""), (1..2, "x"), (1..1, "y")]).as_deref(), Some("ayxc"));
        assert_eq!(replaced("abcd", vec![(0..3, ""), (1..2, "x")]), None);
    }

    #[test]
    fn a_diff_names_both_sides() {
        let diff = unified_diff("a.sql", "x\n", "y\n");
        assert_eq!(diff, "--- a/a.sql\n+++ b/a.sql\n@@ -1 +1 @@\n-x\n+y\n");
    }
}
