//! Text of source files: decoding, with a diagnostic for what is no text.

use crate::model::{Diagnostic, DiagnosticLevel};
use crate::revision::Tree;

/// A file's text: UTF-8 with or without a byte order mark, or UTF-16 with one.
pub fn read(tree: &dyn Tree, path: &str) -> Result<String, Box<Diagnostic>> {
    let bytes = tree.read(path).map_err(|error| {
        let diagnostic = Diagnostic::new(DiagnosticLevel::Error, "unreadable", error.message).in_file(path);
        Box::new(match error.help {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        })
    })?;
    decode(&bytes).map_err(|message| {
        let diagnostic = Diagnostic::new(DiagnosticLevel::Error, "not-utf8", message).in_file(path);
        Box::new(diagnostic.with_help("save the file as UTF-8"))
    })
}

fn decode(bytes: &[u8]) -> Result<String, String> {
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest),
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        bytes => utf8(bytes),
    }
}

fn utf8(bytes: &[u8]) -> Result<String, String> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
            Err(format!("the file is not UTF-8: line {line} holds another encoding"))
        }
    }
}

fn utf16(bytes: &[u8], unit: impl Fn([u8; 2]) -> u16) -> Result<String, String> {
    let units: Vec<u16> =
        bytes.chunks_exact(2).filter_map(|pair| Some(unit([*pair.first()?, *pair.get(1)?]))).collect();
    String::from_utf16(&units).map_err(|_| "the file is neither UTF-8 nor valid UTF-16".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_choose_the_encoding_and_other_bytes_are_refused() {
        assert_eq!(decode(b"\xEF\xBB\xBFa").unwrap(), "a");
        assert_eq!(decode(b"\xFF\xFEa\0\xE9\0").unwrap(), "aé");
        assert_eq!(decode(b"a\nb\xE9").unwrap_err(), "the file is not UTF-8: line 2 holds another encoding");
    }
}
