//! The working tree: tracked files as they stand on disk, and untracked ones that are not ignored.
//!
//! Git's stat cache tells which tracked files are unchanged; those keep their blob id and are read from the object store, so
//! that only edited files are read from disk.

use super::folder::{hash_file, read_file};
use super::git_tree::{add_index_entry, readable};
use super::listing::{EXTENSIONS, Listed, Listing};
use super::objects::Objects;
use super::{Entry, ReadError, Tree};
use crate::model::{Diagnostic, DiagnosticLevel};
use git2::{Index, Repository, Status, StatusOptions, StatusShow};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

pub(super) struct WorkingTree {
    root: PathBuf,
    listed: Listed,
    /// Paths whose content is on disk only.
    edited: BTreeSet<Vec<u8>>,
    objects: Arc<Objects>,
}

impl WorkingTree {
    pub(super) fn new(objects: &Arc<Objects>, root: PathBuf, index: &Index) -> Result<Self, git2::Error> {
        let mut listing = Listing::default();
        let edited = objects.with(|repository| {
            let Edits { edited, gone } = edits(repository)?;
            for entry in index.iter() {
                if !edited.contains(&entry.path) && !gone.contains(&entry.path) {
                    add_index_entry(repository, &mut listing, entry.mode, &entry.path, entry.id);
                }
            }
            Ok::<_, git2::Error>(edited)
        })?;
        for path in &edited {
            add_from_disk(&mut listing, &root, path);
        }
        Ok(WorkingTree { root, listed: listing.finish(), edited, objects: Arc::clone(objects) })
    }
}

impl Tree for WorkingTree {
    fn label(&self) -> &str {
        "working tree"
    }

    fn entries(&self) -> &[Entry] {
        &self.listed.entries
    }

    fn diagnostics(&self) -> &[Diagnostic] {
        &self.listed.diagnostics
    }

    fn size(&self, path: &str) -> Option<u64> {
        self.root.join(path).symlink_metadata().ok().map(|found| found.len())
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, ReadError> {
        let content = readable(self.entry(path), path)?;
        let file = self.listed.links.get(path).map_or(path, |target| target);
        if self.edited.contains(file.as_bytes()) {
            return read_file(&self.root, file);
        }
        // A partial clone may hold the file without its blob.
        self.objects.read(content, path).or_else(|missing| read_file(&self.root, file).map_err(|_| missing))
    }
}

/// How the working tree differs from the index, in relevant files.
#[derive(Default)]
struct Edits {
    /// New or edited.
    edited: BTreeSet<Vec<u8>>,
    gone: BTreeSet<Vec<u8>>,
}

fn edits(repository: &Repository) -> Result<Edits, git2::Error> {
    let mut options = StatusOptions::new();
    options
        .show(StatusShow::Workdir)
        .include_untracked(true)
        .recurse_untracked_dirs(true)
        .include_ignored(false)
        .exclude_submodules(true)
        .update_index(false);
    for extension in EXTENSIONS {
        options.pathspec(format!("*.{extension}"));
    }
    let mut edits = Edits::default();
    let changed =
        Status::WT_NEW | Status::WT_MODIFIED | Status::WT_TYPECHANGE | Status::WT_RENAMED | Status::CONFLICTED;
    for entry in repository.statuses(Some(&mut options))?.iter() {
        let path = entry.path_bytes().to_vec();
        if entry.status().intersects(Status::WT_DELETED) {
            edits.gone.insert(path);
        } else if entry.status().intersects(changed) {
            edits.edited.insert(path);
        }
    }
    Ok(edits)
}

fn add_from_disk(listing: &mut Listing, root: &std::path::Path, path: &[u8]) {
    let Ok(relative) = std::str::from_utf8(path) else {
        listing.file(path, super::ContentId([0; 20]));
        return;
    };
    let full = root.join(relative);
    match full.symlink_metadata() {
        Ok(found) if found.file_type().is_symlink() => {
            let target = full.read_link().map(|target| target.to_string_lossy().into_owned()).unwrap_or_default();
            let content = super::objects::blob_id(target.as_bytes()).unwrap_or(super::ContentId([0; 20]));
            listing.symlink(path, content, target.into_bytes());
        }
        Ok(found) if found.is_file() => match hash_file(&full) {
            Ok(content) => listing.file(path, content),
            Err(message) => listing.problem(
                Diagnostic::new(
                    DiagnosticLevel::Error,
                    "unreadable-file",
                    format!("the file cannot be read: {message}"),
                )
                .in_file(relative),
            ),
        },
        _ => {}
    }
}
