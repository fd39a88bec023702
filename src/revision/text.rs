//! The text of a revision's file, or the reason why there is none: the one place that turns a file into text.
//!
//! A file that is there and cannot be read is never an absent one. Its reason is a diagnostic of the code [`UNREADABLE`], with the path and
//! the cure; who asks for a text reports it, or says by [`shown`] that another one does.

use super::Tree;
use crate::model::{Diagnostic, DiagnosticLevel};
use std::sync::Arc;

/// Code of the diagnostic of a file whose content is not known.
pub const UNREADABLE: &str = "unreadable-file";

/// The first bytes of what Git LFS leaves in place of a file.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// A file's text as it stands: UTF-8, or UTF-16, also without a mark.
pub fn text(tree: &dyn Tree, path: &str) -> Result<Arc<str>, Box<Diagnostic>> {
    let bytes = bytes(tree, path)?;
    decode(&bytes)
        .map(Arc::from)
        .map_err(|reason| unreadable(path, reason.message(), Some("save the file as UTF-8".to_owned())))
}

/// The same with line ends of one kind.
pub fn text_with_newlines(tree: &dyn Tree, path: &str) -> Result<Arc<str>, Box<Diagnostic>> {
    text(tree, path).map(|text| with_newlines(&text))
}

/// The text to look for signs in: another encoding hides no keyword, and the file is read properly where some are found.
pub fn scannable(tree: &dyn Tree, path: &str) -> Result<Arc<str>, Box<Diagnostic>> {
    let bytes = bytes(tree, path)?;
    match decode(&bytes) {
        Ok(text) => Ok(text.into()),
        Err(NoText::OtherEncoding { .. }) => Ok(bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into()),
        Err(reason) => Err(unreadable(path, reason.message(), Some("save the file as UTF-8".to_owned()))),
    }
}

/// A text to show, or to look at besides: whoever reads the file for what it means reports why there is none.
pub fn shown(tree: &dyn Tree, path: &str) -> Option<Arc<str>> {
    text_with_newlines(tree, path).ok()
}

/// The text whose bytes are the file's own, for edits.
pub fn exact(tree: &dyn Tree, path: &str) -> Option<String> {
    String::from_utf8(tree.read(path).ok()?.to_vec()).ok()
}

/// A file's bytes, where they are its own.
pub fn bytes(tree: &dyn Tree, path: &str) -> Result<Arc<[u8]>, Box<Diagnostic>> {
    let bytes = tree.read(path).map_err(|error| unreadable(path, error.message, error.help))?;
    if bytes.starts_with(LFS_POINTER) {
        let message = "the file is a pointer of Git LFS: its content is not here".to_owned();
        return Err(unreadable(path, message, Some("fetch it with `git lfs pull`".to_owned())));
    }
    Ok(bytes)
}

/// The size that a pointer of Git LFS says its file has.
pub fn lfs_size(tree: &dyn Tree, path: &str) -> Option<u64> {
    let bytes = tree.read(path).ok()?;
    let text = std::str::from_utf8(&bytes).ok().filter(|_| bytes.starts_with(LFS_POINTER))?;
    text.lines().find_map(|line| line.strip_prefix("size ")?.trim().parse().ok())
}

fn unreadable(path: &str, message: String, help: Option<String>) -> Box<Diagnostic> {
    let mut diagnostic = Diagnostic::new(DiagnosticLevel::Error, UNREADABLE, message).in_file(path);
    diagnostic.help = help;
    Box::new(diagnostic)
}

/// Why bytes are no text.
#[derive(Debug, PartialEq, Eq)]
enum NoText {
    OtherEncoding { line: usize },
    Utf16,
    Binary,
}

impl NoText {
    fn message(&self) -> String {
        match self {
            NoText::OtherEncoding { line } => format!("the file is not UTF-8: line {line} holds another encoding"),
            NoText::Utf16 => "the file's UTF-16 is damaged".to_owned(),
            NoText::Binary => "the file holds NUL bytes and is no text".to_owned(),
        }
    }
}

fn decode(bytes: &[u8]) -> Result<String, NoText> {
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest),
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ if !bytes.contains(&0) => utf8(bytes),
        // Without a mark: program text is ASCII for the most part, so that one half of the bytes is zero.
        _ if zeros(bytes, 1) => utf16(bytes, u16::from_le_bytes),
        _ if zeros(bytes, 0) => utf16(bytes, u16::from_be_bytes),
        _ => Err(NoText::Binary),
    }
}

/// Nearly all bytes at even or at odd places are zero, and nearly none of the others.
fn zeros(bytes: &[u8], place: usize) -> bool {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let zero = |at: usize| pairs.iter().filter(|pair| pair.get(at) == Some(&0)).count();
    rest.is_empty() && zero(place) * 10 >= pairs.len() * 9 && zero(1 - place) == 0
}

fn utf8(bytes: &[u8]) -> Result<String, NoText> {
    if bytes.contains(&0) {
        return Err(NoText::Binary);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            Err(NoText::OtherEncoding { line: valid.iter().filter(|byte| **byte == b'\n').count() + 1 })
        }
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, NoText> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    let text = String::from_utf16(&units).ok().filter(|_| rest.is_empty());
    text.ok_or(NoText::Utf16)
}

fn with_newlines(text: &str) -> Arc<str> {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n").into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_choose_the_encoding_and_go() {
        assert_eq!(decode(b"\xEF\xBB\xBFSELECT 1"), Ok("SELECT 1".to_owned()));
        assert_eq!(decode(b"\xFF\xFES\0\r\0\n\0\xE9\0"), Ok("S\r\né".to_owned()));
        assert_eq!(decode(b"\xFE\xFF\0S\0\xE9"), Ok("Sé".to_owned()));
        assert_eq!(decode(b"\xFF\xFES\0X"), Err(NoText::Utf16));
    }

    #[test]
    fn utf_16_is_known_without_a_mark_and_other_bytes_are_refused() {
        assert_eq!(decode(b"S\0E\0L\0"), Ok("SEL".to_owned()));
        assert_eq!(decode(b"\0S\0E\0L"), Ok("SEL".to_owned()));
        assert_eq!(decode(b"a\nb\xE9"), Err(NoText::OtherEncoding { line: 2 }));
        assert_eq!(decode(b"PK\0\x01"), Err(NoText::Binary));
    }

    #[test]
    fn line_ends_are_newlines() {
        assert_eq!(with_newlines("a\r\nb\rc\n").as_ref(), "a\nb\nc\n");
    }
}
