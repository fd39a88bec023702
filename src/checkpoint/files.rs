//! The small files of the checkpoints below a folder, read once.
//!
//! Only folders that a checkpoint has are walked, and only the files of [`SMALL_FILES`] are read: state files may be there or
//! not. Symbolic links are not followed.

use crate::revision::{ContentId, Entry, EntryKind, ReadError, Tree};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is read of a checkpoint, as patterns of the usual copy commands. `*` stands for one folder or file.
pub const SMALL_FILES: &[&str] = &[
    "metadata",
    "offsets/*",
    "commits/*",
    "sources/*/*",
    "state/*/_metadata/*",
    "state/*/_metadata/*/*",
    "state/*/_stateSchema/*/*",
    "state/*/0/_metadata/schema",
    "state/*/0/*/_metadata/schema",
];

/// A larger file is none that Spark writes there.
const MAX_BYTES: u64 = 16 << 20;

/// How deep checkpoints are looked for, and how deep files lie in one.
const MAX_DEPTH: usize = 24;

/// The files of every checkpoint below a folder.
pub struct CheckpointFiles {
    label: String,
    /// Folders of checkpoints, below the root, with `/`; the root itself is the empty text.
    pub folders: Vec<String>,
    /// All files that are read, by path below the root.
    pub files: BTreeMap<String, Result<Arc<[u8]>, String>>,
    entries: Vec<Entry>,
}

impl CheckpointFiles {
    /// # Errors
    /// A root that cannot be listed.
    pub fn read(root: &Path, label: &str) -> std::io::Result<Self> {
        let mut folders = Vec::new();
        find(root, "", 0, &mut folders)?;
        folders.sort();
        let listed: Vec<(String, PathBuf)> =
            folders.par_iter().flat_map_iter(|folder| small_files(root, folder)).collect();
        let files: BTreeMap<_, _> = listed.into_par_iter().map(|(path, full)| (path, bytes(&full))).collect();
        let entry = |path: &String| Entry {
            path: Arc::from(path.as_str()),
            kind: EntryKind::File,
            content: ContentId([0; 20]),
        };
        let entries = files.keys().map(entry).collect();
        Ok(CheckpointFiles { label: label.to_owned(), folders, files, entries })
    }
}

impl CheckpointFiles {
    /// The text of a file by the path that a report gives it; none of the binary ones.
    pub fn text(&self, path: &str) -> Option<Arc<str>> {
        let bytes = self.files.get(self.below(path)?)?.as_ref().ok()?;
        std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')).map(Arc::from)
    }

    fn below<'p>(&self, path: &'p str) -> Option<&'p str> {
        match self.label.trim_end_matches('/') {
            "" => Some(path),
            label => path.strip_prefix(label)?.strip_prefix('/'),
        }
    }
}

/// So that a report can show lines of the files.
impl Tree for CheckpointFiles {
    fn label(&self) -> &str {
        &self.label
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, ReadError> {
        let failed = |message: &str| ReadError { path: path.to_owned(), message: message.to_owned(), help: None };
        match self.files.get(path) {
            Some(Ok(bytes)) => Ok(Arc::clone(bytes)),
            Some(Err(message)) => Err(failed(message)),
            None => Err(failed("no such file")),
        }
    }
}

/// A checkpoint has logs of offsets or commits; nothing is looked for below it.
fn find(root: &Path, below: &str, depth: usize, found: &mut Vec<String>) -> std::io::Result<()> {
    let names = subfolders(&root.join(below))?;
    if names.iter().any(|name| matches!(name.as_str(), "offsets" | "commits")) {
        found.push(below.to_owned());
        return Ok(());
    }
    if depth < MAX_DEPTH {
        for name in names {
            // A folder that cannot be listed holds no checkpoint that could be read.
            let _ = find(root, &joined(below, &name), depth + 1, found);
        }
    }
    Ok(())
}

fn small_files(root: &Path, folder: &str) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let patterns: Vec<Vec<&str>> = SMALL_FILES.iter().map(|pattern| pattern.split('/').collect()).collect();
    walk(root, folder, &patterns, &mut found);
    found
}

/// Follows the patterns folder by folder.
fn walk(root: &Path, at: &str, patterns: &[Vec<&str>], found: &mut Vec<(String, PathBuf)>) {
    for (name, is_folder) in listing(&root.join(at)).unwrap_or_default() {
        let rest: Vec<Vec<&str>> = (patterns.iter())
            .filter_map(|pattern| pattern.split_first())
            .filter(|(first, rest)| (**first == "*" || **first == name) && rest.is_empty() != is_folder)
            .map(|(_, rest)| rest.to_vec())
            .collect();
        if rest.is_empty() || is_passed_over(&name) {
            continue;
        }
        let path = joined(at, &name);
        if is_folder {
            walk(root, &path, &rest, found);
        } else {
            let full = root.join(&path);
            found.push((path, full));
        }
    }
}

/// Checksums and files under way, which Hadoop's file systems hide too.
fn is_passed_over(name: &str) -> bool {
    name.starts_with('.') || name.ends_with(".crc") || name.ends_with(".tmp")
}

fn subfolders(folder: &Path) -> std::io::Result<Vec<String>> {
    Ok(listing(folder)?.into_iter().filter(|(_, is_folder)| *is_folder).map(|(name, _)| name).collect())
}

/// Names with whether they are folders, in order; links, and names that are no text, are left out.
fn listing(folder: &Path) -> std::io::Result<Vec<(String, bool)>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)?.flatten() {
        let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else { continue };
        if !kind.is_symlink() {
            names.push((name, kind.is_dir()));
        }
    }
    names.sort();
    Ok(names)
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

fn bytes(path: &Path) -> Result<Arc<[u8]>, String> {
    let length = path.metadata().map_err(|error| error.to_string())?.len();
    if length > MAX_BYTES {
        return Err(format!("it has {length} bytes: no such file of a checkpoint is that large"));
    }
    std::fs::read(path).map(Arc::from).map_err(|error| error.to_string())
}
