//! Read-only file trees of a revision: a commit, the index, the working tree, or a folder, behind one trait.
//!
//! Takes what the user named (git revisions, `--staged`, two folders) and gives two trees to compare. Never writes, never
//! checks anything out, never reads outside the repository. A tree lists the files that pipelines can be made of (SQL, Python,
//! notebooks, YAML, JSON), symlinks and submodules, and nothing else.

mod folder;
mod git_tree;
mod hook;
mod listing;
mod objects;
mod open;
mod overlay;
mod selection;
pub mod text;
mod working_tree;

pub use hook::ancestors;
pub use open::{
    Comparison, Part, RevisionError, open, open_default, open_files, open_one, open_staged, root, staged_part,
};
pub use overlay::Overlay;
pub use selection::Selection;

#[cfg(test)]
mod tests;

use crate::model::Diagnostic;
use std::sync::Arc;

/// Identity of a file's bytes: equal ids mean equal bytes (a git blob id, or a hash of the same form for folders).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentId(pub [u8; 20]);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file, or a symlink to a file of the same tree (then with that file's content).
    File,
    /// A symlink that is not followed: it leads out of the tree, to a folder, or nowhere.
    Symlink,
    Submodule,
}

/// One path of a tree.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Relative to the root, with `/`.
    pub path: Arc<str>,
    pub kind: EntryKind,
    pub content: ContentId,
}

/// Why a file could not be read, in the user's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    pub path: String,
    pub message: String,
    pub help: Option<String>,
}

impl ReadError {
    fn new(path: &str, message: impl Into<String>) -> Self {
        ReadError { path: path.to_owned(), message: message.into(), help: None }
    }
}

/// Files above this many bytes are not read: no pipeline is written by hand at that size.
pub const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// A read-only file tree.
pub trait Tree: Send + Sync {
    /// How the report names it: `main (1a2b3c4)`, `index`, `working tree`, a folder.
    fn label(&self) -> &str;

    /// All entries, sorted by path.
    fn entries(&self) -> &[Entry];

    /// What could not be listed or is left out on purpose: submodules, file names that are not UTF-8.
    fn diagnostics(&self) -> &[Diagnostic] {
        &[]
    }

    /// A file's length in bytes, where it can be told without reading the file.
    fn size(&self, path: &str) -> Option<u64> {
        let _ = path;
        None
    }

    /// A file's bytes.
    fn read(&self, path: &str) -> Result<Arc<[u8]>, ReadError>;

    fn entry(&self, path: &str) -> Option<&Entry> {
        let entries = self.entries();
        entries.binary_search_by(|entry| entry.path.as_ref().cmp(path)).ok().and_then(|index| entries.get(index))
    }
}
