//! Where the code of a Jupyter cell stands in the bytes of its file.

use std::ops::Range;

/// A cell's code, and the byte of the file for each byte of it, and for its end.
pub struct Source {
    pub text: String,
    pub offsets: Vec<usize>,
    pub form: Form,
}

/// How the code's lines are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// One text.
    Text,
    /// A list with a text a line, and what stands between two of them.
    Lines { between: String },
}

impl Form {
    /// Code as it goes between the quotes.
    pub fn encode(&self, code: &str) -> String {
        match self {
            Form::Text => {
                let quoted = serde_json::Value::from(code).to_string();
                quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
            }
            Form::Lines { between } => {
                let mut lines = code.split_inclusive('\n').map(|line| Form::Text.encode(line)).collect::<Vec<_>>();
                if code.ends_with('\n') {
                    lines.push(String::new());
                }
                lines.join(&format!("\"{between}\""))
            }
        }
    }
}

/// The code of a cell, counted from 0 over cells of all types. None for notebooks of format 3 and for what is no notebook.
pub fn source(file: &str, cell: usize) -> Option<Source> {
    let root = children(file, skip_space(file, 0))?;
    let cells = member(&root, "cells")?;
    let cell = children(file, cells.start)?.into_iter().nth(cell)?;
    let value = member(&children(file, cell.value.start)?, "source")?;
    let mut source = Source { text: String::new(), offsets: Vec::new(), form: Form::Text };
    let first = file.as_bytes().get(value.start)?;
    if *first == b'"' {
        let end = source.decode(file, value.start)?;
        source.offsets.push(end);
        return Some(source);
    }
    let lines = children(file, value.start)?;
    let mut end = None;
    for line in &lines {
        end = Some(source.decode(file, line.value.start)?);
    }
    source.offsets.push(end?);
    let between = match lines.as_slice() {
        [first, second, ..] => file.get(first.value.end..second.value.start)?.to_owned(),
        _ => ",\n    ".to_owned(),
    };
    source.form = Form::Lines { between };
    Some(source)
}

impl Source {
    /// Takes the text of a string in; gives the byte of its closing quote.
    fn decode(&mut self, file: &str, quote: usize) -> Option<usize> {
        let end = string_end(file, quote)?.checked_sub(1)?;
        let mut at = quote + 1;
        while at < end {
            let start = at;
            let decoded = match file.as_bytes().get(at)? {
                b'\\' => {
                    at += 2;
                    if file.as_bytes().get(start + 1) == Some(&b'u') {
                        at += 4;
                        let unit = u32::from_str_radix(file.get(start + 2..at)?, 16).ok()?;
                        if (0xd800..0xdc00).contains(&unit) {
                            at += 6;
                        }
                    }
                    let text = format!("\"{}\"", file.get(start..at)?);
                    serde_json::from_str::<serde_json::Value>(&text).ok()?.as_str()?.chars().next()?
                }
                _ => {
                    let next = file.get(at..)?.chars().next()?;
                    at += next.len_utf8();
                    next
                }
            };
            self.text.push(decoded);
            self.offsets.extend(std::iter::repeat_n(start, decoded.len_utf8()));
        }
        Some(end)
    }
}

/// A value inside an array or an object, with its key in the latter.
struct Child<'a> {
    key: Option<&'a str>,
    value: Range<usize>,
}

fn member(children: &[Child], key: &str) -> Option<Range<usize>> {
    children.iter().find(|child| child.key == Some(key)).map(|child| child.value.clone())
}

/// What stands directly inside the array or object that begins at a byte.
fn children(file: &str, open: usize) -> Option<Vec<Child<'_>>> {
    let bytes = file.as_bytes();
    let is_object = match bytes.get(open)? {
        b'{' => true,
        b'[' => false,
        _ => return None,
    };
    let mut found = Vec::new();
    let mut at = skip_space(file, open + 1);
    while !matches!(bytes.get(at)?, b'}' | b']') {
        let mut key = None;
        if is_object {
            let end = string_end(file, at)?;
            key = file.get(at + 1..end - 1);
            at = skip_space(file, end);
            at = skip_space(file, (bytes.get(at) == Some(&b':')).then_some(at + 1)?);
        }
        let end = value_end(file, at)?;
        found.push(Child { key, value: at..end });
        at = skip_space(file, end);
        if bytes.get(at) == Some(&b',') {
            at = skip_space(file, at + 1);
        }
    }
    Some(found)
}

fn skip_space(file: &str, from: usize) -> usize {
    let rest = file.as_bytes().get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| byte.is_ascii_whitespace() || !byte.is_ascii()).count()
}

/// The byte after a string that begins with a quote.
fn string_end(file: &str, quote: usize) -> Option<usize> {
    let bytes = file.as_bytes();
    (bytes.get(quote)? == &b'"').then_some(())?;
    let mut at = quote + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The byte after a value.
fn value_end(file: &str, start: usize) -> Option<usize> {
    let bytes = file.as_bytes();
    let mut depth = 0_usize;
    let mut at = start;
    loop {
        match bytes.get(at)? {
            b'"' => at = string_end(file, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            _ => {
                let scalar = |byte: &&u8| !matches!(byte, b',' | b'}' | b']' | b'{' | b'[' | b'"');
                let length = bytes.get(at..)?.iter().take_while(scalar).count();
                at += length;
                if depth > 0 && bytes.get(at) == Some(&b',') {
                    at += 1;
                } else if length == 0 {
                    return None;
                }
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_found_whatever_stands_around_it() {
        let file = r#"{"metadata": {"cells": [1, "]"]}, "cells": [{"source": "a"}, {"x": [true, {"y": null}], "source": "b\u00e4\ud83d\ude00\n\"c"}]}"#;
        let found = source(file, 1).unwrap();
        assert_eq!(found.text, "bä😀\n\"c");
        assert_eq!(found.offsets.len(), found.text.len() + 1);
        let at = found.text.find('c').unwrap();
        assert_eq!(file.get(found.offsets[at]..found.offsets[at + 1]), Some("c"));
        assert!(source(file, 2).is_none());
        assert!(source("[1, 2", 0).is_none());
    }

    #[test]
    fn lines_of_code_become_texts_of_a_list() {
        let form = Form::Lines { between: ",\n  ".to_owned() };
        assert_eq!(form.encode("a\nb"), "a\\n\",\n  \"b");
        assert_eq!(form.encode(r"\n"), r"\\n");
        assert_eq!(Form::Text.encode("a\nb"), "a\\nb");
    }
}
