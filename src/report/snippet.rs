//! A place in the source as annotate-snippets shows it.

use super::{Style, safe};
use crate::model::Span;
use crate::verdict::{Revision, Texts};
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Renderer, Snippet};
use std::ops::Range;

/// Lines shown around a place that spans many.
const CONTEXT_LINES: usize = 5;

/// The renderer for a style.
pub fn renderer(style: Style) -> Renderer {
    let renderer = if style.colors { Renderer::styled() } else { Renderer::plain() };
    renderer.decor_style(DecorStyle::Ascii).term_width(style.width)
}

/// The place with a label under it, or nothing where its text is not at hand.
pub fn snippet<'a>(
    texts: &Texts,
    revision: Revision,
    span: &Span,
    label: String,
) -> Option<Snippet<'a, annotate_snippets::Annotation<'a>>> {
    // In a notebook of JSON the line counts inside its cell: the file's text shows nothing of it.
    if span.cell.is_some() && span.path.ends_with(".ipynb") {
        return None;
    }
    let text = texts.get(revision, &span.path)?;
    let (first_line, shown, range) = excerpt(text, span)?;
    let path = format!("{}{}", safe::inline(&span.path), if revision == Revision::Before { " (before)" } else { "" });
    Some(
        Snippet::source(shown)
            .line_start(first_line)
            .path(path)
            .annotation(AnnotationKind::Primary.span(range).label(label)),
    )
}

/// The lines of a place, harmless, with the number of the first one and the place's bytes in them.
fn excerpt(text: &str, span: &Span) -> Option<(usize, String, Range<usize>)> {
    let first = usize::try_from(span.line).ok()?.max(1);
    let last = usize::try_from(span.end_line).ok()?.max(first);
    let shown_lines = (last - first + 1).min(CONTEXT_LINES);
    let mut shown = String::new();
    let (mut start, mut end) = (0, 0);
    for (index, line) in text.lines().skip(first - 1).take(shown_lines).enumerate() {
        let number = first + index;
        let before = shown.len();
        let columns: Vec<char> = line.chars().collect();
        if number == first {
            start = before + safe_bytes(&columns, span.column);
        }
        if number == last {
            end = before + safe_bytes(&columns, span.end_column);
        }
        shown.push_str(&safe::block(line));
        shown.push('\n');
    }
    if shown.is_empty() {
        return None;
    }
    let limit = shown.len() - 1;
    if last - first + 1 > CONTEXT_LINES {
        end = limit;
    }
    let start = start.min(limit);
    let end = end.clamp(start, limit);
    // At least one letter, of however many bytes.
    let letter = shown.get(start..limit).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    Some((first, shown, start..end.max(start + letter)))
}

/// Bytes of a line before a column (from 1), after it was made harmless.
fn safe_bytes(line: &[char], column: u32) -> usize {
    let count = usize::try_from(column).unwrap_or(1).saturating_sub(1).min(line.len());
    let before: String = line.iter().take(count).collect();
    safe::block(&before).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(line: u32, column: u32, end_line: u32, end_column: u32) -> Span {
        Span { path: "a.sql".into(), line, column, end_line, end_column, cell: None }
    }

    #[test]
    fn the_excerpt_marks_the_place_whatever_stands_before_it() {
        let (line, shown, range) = excerpt("one\ntw\u{1b}ö three\n", &span(2, 6, 2, 11)).expect("lines are there");
        assert_eq!(line, 2);
        assert_eq!(&shown[range], "three");
    }

    #[test]
    fn an_empty_place_marks_one_letter_whatever_its_bytes() {
        let (_, shown, range) = excerpt("a \u{e9}\u{1f642}\n", &span(1, 3, 1, 3)).expect("the line is there");
        assert_eq!(&shown[range], "\u{e9}");
        let (_, shown, range) = excerpt("a \u{e9}\u{1f642}\n", &span(1, 4, 1, 4)).expect("the line is there");
        assert_eq!(&shown[range], "\u{1f642}");
    }

    #[test]
    fn places_beyond_the_text_show_nothing_or_its_end() {
        assert!(excerpt("one\n", &span(9, 1, 9, 2)).is_none());
        let (_, shown, range) = excerpt("one\n", &span(1, 40, 1, 50)).expect("the line is there");
        assert!(range.end <= shown.len());
    }
}
