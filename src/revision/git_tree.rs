//! Trees that live in git's object store: a commit's, and the index.

use super::listing::{Listed, Listing, MAX_FILES};
use super::objects::{Objects, check_loose, content_id};
use super::{ContentId, Entry, EntryKind, ReadError, Tree};
use crate::model::{Diagnostic, DiagnosticLevel};
use git2::{ErrorCode, Index, Oid, Repository};
use std::sync::Arc;

const MODE_SYMLINK: u32 = 0o120_000;
const MODE_SUBMODULE: u32 = 0o160_000;
const MODE_KIND: u32 = 0o170_000;
/// Bits of an index entry's flags that hold its merge stage.
const STAGE_MASK: u16 = 0x3000;
/// `git add --intent-to-add`: named in the index, without content.
const INTENT_TO_ADD: u16 = 1 << 13;

/// A tree whose files are all blobs.
pub(super) struct GitTree {
    label: String,
    listed: Listed,
    objects: Arc<Objects>,
}

impl GitTree {
    /// The tree object `root`; `None` is the tree without files.
    pub(super) fn of_tree(objects: &Arc<Objects>, root: Option<Oid>, label: String) -> Result<Self, git2::Error> {
        let listed = objects.with(|repository| {
            let mut listing = Listing::default();
            if let Some(root) = root {
                list_tree(repository, root, &mut listing)?;
            }
            Ok::<_, git2::Error>(listing.finish())
        })?;
        Ok(GitTree { label, listed, objects: Arc::clone(objects) })
    }

    /// What the next commit would hold.
    pub(super) fn of_index(objects: &Arc<Objects>, index: &Index) -> Result<Self, git2::Error> {
        let listed = objects.with(|repository| {
            let mut listing = Listing::default();
            list_index(repository, index, &mut listing);
            Ok::<_, git2::Error>(listing.finish())
        })?;
        Ok(GitTree { label: "index".to_owned(), listed, objects: Arc::clone(objects) })
    }
}

impl Tree for GitTree {
    fn label(&self) -> &str {
        &self.label
    }

    fn entries(&self) -> &[Entry] {
        &self.listed.entries
    }

    fn diagnostics(&self) -> &[Diagnostic] {
        &self.listed.diagnostics
    }

    fn size(&self, path: &str) -> Option<u64> {
        self.objects.size(self.entry(path)?.content)
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, ReadError> {
        let content = readable(self.entry(path), path)?;
        self.objects.read(content, path)
    }
}

/// The content to read for a path, or why there is none.
pub(super) fn readable(entry: Option<&Entry>, path: &str) -> Result<ContentId, ReadError> {
    match entry {
        None => Err(ReadError::new(path, "no such file")),
        Some(entry) => match entry.kind {
            EntryKind::File => Ok(entry.content),
            EntryKind::Symlink => Err(ReadError::new(path, "the symlink leads to no file of the repository")),
            EntryKind::Submodule => Err(ReadError::new(path, "a submodule's files are not read")),
        },
    }
}

fn list_tree(repository: &Repository, root: Oid, listing: &mut Listing) -> Result<(), git2::Error> {
    let mut folders = vec![(root, Vec::new())];
    let mut seen = 0usize;
    while let Some((id, prefix)) = folders.pop() {
        let tree = match check_loose(repository, id).and_then(|()| repository.find_tree(id)) {
            Ok(tree) => tree,
            Err(error) if error.code() == ErrorCode::NotFound && !prefix.is_empty() => {
                listing.problem(missing_folder(&prefix));
                continue;
            }
            Err(error) => return Err(error),
        };
        for entry in tree.iter() {
            seen += 1;
            if seen > MAX_FILES {
                return Err(git2::Error::from_str(&format!("the tree has more than {MAX_FILES} entries")));
            }
            let path = [prefix.as_slice(), entry.name_bytes()].concat();
            let mode = u32::try_from(entry.filemode_raw()).unwrap_or_default() & MODE_KIND;
            match mode {
                MODE_SYMLINK => add_symlink(repository, listing, &path, entry.id()),
                MODE_SUBMODULE => listing.submodule(&path, content_id(entry.id())),
                _ if entry.kind() == Some(git2::ObjectType::Tree) => {
                    folders.push((entry.id(), [path.as_slice(), b"/"].concat()));
                }
                _ => listing.file(&path, content_id(entry.id())),
            }
        }
    }
    Ok(())
}

fn missing_folder(prefix: &[u8]) -> Diagnostic {
    let folder = String::from_utf8_lossy(prefix);
    Diagnostic::new(DiagnosticLevel::Error, "missing-object", "the folder's listing is not in this clone")
        .in_file(folder.trim_end_matches('/'))
        .with_help("fetch it with `git fetch --refetch --no-filter origin`")
}

fn list_index(repository: &Repository, index: &Index, listing: &mut Listing) {
    for entry in index.iter() {
        if entry.flags & STAGE_MASK != 0 {
            // A conflicted path stands here up to three times; the stage of "ours" speaks for it.
            if (entry.flags & STAGE_MASK) >> 12 == 2 {
                let message = "the file has a merge conflict; this side's version is read";
                let path = String::from_utf8_lossy(&entry.path);
                listing.problem(Diagnostic::new(DiagnosticLevel::Warning, "merge-conflict", message).in_file(&path));
            } else {
                continue;
            }
        }
        if entry.flags_extended & INTENT_TO_ADD != 0 {
            continue;
        }
        add_index_entry(repository, listing, entry.mode, &entry.path, entry.id);
    }
}

/// Adds what the index holds for a path.
pub(super) fn add_index_entry(repository: &Repository, listing: &mut Listing, mode: u32, path: &[u8], id: Oid) {
    match mode & MODE_KIND {
        MODE_SYMLINK => add_symlink(repository, listing, path, id),
        MODE_SUBMODULE => listing.submodule(path, content_id(id)),
        _ => listing.file(path, content_id(id)),
    }
}

fn add_symlink(repository: &Repository, listing: &mut Listing, path: &[u8], id: Oid) {
    let target = repository.find_blob(id).map(|blob| blob.content().to_vec()).unwrap_or_default();
    listing.symlink(path, content_id(id), target);
}
