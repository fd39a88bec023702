//! What the user asks to compare, as the command line says it.

use std::path::PathBuf;

/// Two sides to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// `A..B`, or `A...B` where `merge_base` is set: then BEFORE is the merge base of both.
    Range { before: String, after: String, merge_base: bool },
    /// `A`: that revision against the working tree.
    Revision(String),
    /// HEAD against the working tree.
    Head,
    /// HEAD against the index.
    Staged,
    /// Two folders, without git.
    Folders { before: PathBuf, after: PathBuf },
}

impl Selection {
    /// Reads `A..B`, `A...B` or `A` with git's meaning: a side that is left out is HEAD. Dots inside braces belong to a name
    /// (`HEAD^{/fix..}`).
    pub fn parse(text: &str) -> Selection {
        let Some(at) = range_dots(text) else { return Selection::Revision(text.to_owned()) };
        let (before, dots) = text.split_at(at);
        let merge_base = dots.starts_with("...");
        let after = dots.get(if merge_base { 3 } else { 2 }..).unwrap_or_default();
        let or_head = |side: &str| if side.is_empty() { "HEAD".to_owned() } else { side.to_owned() };
        Selection::Range { before: or_head(before), after: or_head(after), merge_base }
    }
}

/// Byte position of the range's dots.
fn range_dots(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0usize;
    for (index, byte) in bytes.iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b'.' if depth == 0 && bytes.get(index + 1) == Some(&b'.') => return Some(index),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(before: &str, after: &str, merge_base: bool) -> Selection {
        Selection::Range { before: before.into(), after: after.into(), merge_base }
    }

    #[test]
    fn two_and_three_dots_mean_what_git_means() {
        assert_eq!(Selection::parse("main..feature"), range("main", "feature", false));
        assert_eq!(Selection::parse("main...feature"), range("main", "feature", true));
        assert_eq!(Selection::parse("v1.2..v1.3"), range("v1.2", "v1.3", false));
        assert_eq!(Selection::parse("origin/main..."), range("origin/main", "HEAD", true));
        assert_eq!(Selection::parse("..x"), range("HEAD", "x", false));
        assert_eq!(Selection::parse("HEAD~2"), Selection::Revision("HEAD~2".into()));
        assert_eq!(Selection::parse("HEAD^{/fix..}..x"), range("HEAD^{/fix..}", "x", false));
    }
}
