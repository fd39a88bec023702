//! From bytes to text: byte order marks, UTF-16, Latin-1, line ends.

use crate::model::{Diagnostic, DiagnosticLevel};
use std::sync::Arc;

/// Decodes a file. Line ends become `\n`, a byte order mark goes. What is not Unicode is read as Latin-1 with a warning; what is
/// no text at all gives an empty text and an error.
pub fn decode(bytes: &[u8], path: &str) -> (Arc<str>, Vec<Diagnostic>) {
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => decode_bytes(rest, path),
        [0xFF, 0xFE, rest @ ..] => decode_utf16(rest, u16::from_le_bytes, path),
        [0xFE, 0xFF, rest @ ..] => decode_utf16(rest, u16::from_be_bytes, path),
        _ => decode_bytes(bytes, path),
    }
}

fn decode_bytes(bytes: &[u8], path: &str) -> (Arc<str>, Vec<Diagnostic>) {
    if bytes.contains(&0) {
        let problem = Diagnostic::new(DiagnosticLevel::Error, "not-text", "the file holds NUL bytes and is not read")
            .in_file(path)
            .with_help("if this is UTF-16 without a byte order mark, save it as UTF-8");
        return ("".into(), vec![problem]);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => (with_newlines(text), Vec::new()),
        Err(error) => {
            let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
            let line = bytes.iter().take(error.valid_up_to()).filter(|byte| **byte == b'\n').count() + 1;
            let message = format!("the file is not UTF-8 (first at line {line}) and is read as Latin-1");
            let warning = Diagnostic::new(DiagnosticLevel::Warning, "not-utf8", message)
                .in_file(path)
                .with_help("save the file as UTF-8");
            (with_newlines(&text), vec![warning])
        }
    }
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16, path: &str) -> (Arc<str>, Vec<Diagnostic>) {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut broken = !rest.is_empty();
    let text: String = char::decode_utf16(pairs.iter().map(|pair| unit(*pair)))
        .map(|decoded| {
            decoded.unwrap_or_else(|_| {
                broken = true;
                char::REPLACEMENT_CHARACTER
            })
        })
        .collect();
    let mut diagnostics = Vec::new();
    if broken {
        let warning = Diagnostic::new(DiagnosticLevel::Warning, "not-utf16", "the file's UTF-16 is damaged in places")
            .in_file(path)
            .with_help("save the file as UTF-8");
        diagnostics.push(warning);
    }
    (with_newlines(&text), diagnostics)
}

fn with_newlines(text: &str) -> Arc<str> {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n").into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> (String, Vec<&'static str>) {
        let (text, diagnostics) = decode(bytes, "a.sql");
        (text.to_string(), diagnostics.iter().map(|d| d.code).collect())
    }

    #[test]
    fn byte_order_marks_choose_the_encoding_and_go() {
        assert_eq!(text(b"\xEF\xBB\xBFSELECT 1"), ("SELECT 1".into(), vec![]));
        assert_eq!(text(b"\xFF\xFES\0\r\0\n\0\xE9\0"), ("S\né".into(), vec![]));
        assert_eq!(text(b"\xFE\xFF\0S\0\xE9"), ("Sé".into(), vec![]));
        assert_eq!(text(b"\xFF\xFES\0X"), ("S".into(), vec!["not-utf16"]));
    }

    #[test]
    fn other_bytes_are_latin_1_with_a_warning_and_binary_is_refused() {
        assert_eq!(text(b"-- caf\xE9\n"), ("-- café\n".into(), vec!["not-utf8"]));
        assert_eq!(text(b"PK\0\x01"), (String::new(), vec!["not-text"]));
    }

    #[test]
    fn line_ends_are_newlines() {
        assert_eq!(text(b"a\r\nb\rc\n"), ("a\nb\nc\n".into(), vec![]));
    }
}
