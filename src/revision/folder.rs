//! A plain folder, without git.

use super::git_tree::readable;
use super::listing::{Listed, Listing, MAX_FILES, is_relevant};
use super::objects::{blob_id, too_big};
use super::{ContentId, Entry, MAX_FILE_BYTES, ReadError, Tree};
use crate::model::{Diagnostic, DiagnosticLevel};
use rayon::prelude::*;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How deep folders are walked.
const MAX_DEPTH: usize = 64;

/// Folders of tools, which no pipeline's files live in; folders with a leading dot are passed over too.
const TOOL_FOLDERS: [&str; 2] = ["__pycache__", "node_modules"];

pub(super) struct Folder {
    label: String,
    root: PathBuf,
    listed: Listed,
}

impl Folder {
    pub(super) fn new(root: PathBuf, label: String) -> std::io::Result<Self> {
        let mut walk = Walk { root: &root, files: Vec::new(), listing: Listing::default() };
        walk.folder(&root, &mut Vec::new(), 0)?;
        let Walk { files, mut listing, .. } = walk;
        let hashed: Vec<_> = files.par_iter().map(|(_, full)| hash_file(full)).collect();
        for ((path, _), content) in files.iter().zip(hashed) {
            match content {
                Ok(content) => listing.file(path, content),
                Err(message) => {
                    let message = format!("the file cannot be read: {message}");
                    let path = String::from_utf8_lossy(path);
                    listing.problem(Diagnostic::new(DiagnosticLevel::Error, "unreadable-file", message).in_file(&path));
                }
            }
        }
        Ok(Folder { label, root, listed: listing.finish() })
    }
}

impl Tree for Folder {
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
        self.root.join(path).symlink_metadata().ok().map(|found| found.len())
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, ReadError> {
        readable(self.entry(path), path)?;
        read_file(&self.root, self.listed.links.get(path).map_or(path, |target| target))
    }
}

struct Walk<'a> {
    root: &'a Path,
    files: Vec<(Vec<u8>, PathBuf)>,
    listing: Listing,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, prefix: &mut Vec<u8>, depth: usize) -> std::io::Result<()> {
        let reading = std::fs::read_dir(folder);
        let entries = match reading {
            Ok(entries) => entries,
            Err(error) if folder == self.root => return Err(error),
            Err(error) => {
                let path = String::from_utf8_lossy(prefix).trim_end_matches('/').to_owned();
                let message = format!("the folder cannot be read: {error}");
                self.listing
                    .problem(Diagnostic::new(DiagnosticLevel::Error, "unreadable-folder", message).in_file(&path));
                return Ok(());
            }
        };
        for entry in entries {
            let entry = entry?;
            let kind = entry.file_type()?;
            let name = entry.file_name();
            let length = prefix.len();
            prefix.extend_from_slice(name.as_encoded_bytes());
            if kind.is_symlink() {
                let target = entry.path().read_link()?.into_os_string().into_encoded_bytes();
                let content = blob_id(&target).map_err(|error| Error::other(error.message().to_owned()))?;
                self.listing.symlink(prefix, content, target);
            } else if kind.is_dir() && depth < MAX_DEPTH && !is_tool_folder(&name.to_string_lossy()) {
                prefix.push(b'/');
                self.folder(&entry.path(), prefix, depth + 1)?;
            } else if kind.is_file() && is_relevant(prefix) {
                if self.files.len() >= MAX_FILES {
                    return Err(Error::new(ErrorKind::InvalidInput, format!("more than {MAX_FILES} files")));
                }
                self.files.push((prefix.clone(), entry.path()));
            }
            prefix.truncate(length);
        }
        Ok(())
    }
}

fn is_tool_folder(name: &str) -> bool {
    name.starts_with('.') || TOOL_FOLDERS.contains(&name)
}

/// The blob id of a file on disk. A file over the size limit is known by its size alone, since it is never read.
pub(super) fn hash_file(file: &Path) -> Result<ContentId, String> {
    let size = file.metadata().map_err(|error| error.to_string())?.len();
    if size > MAX_FILE_BYTES {
        return blob_id(format!("{size} bytes").as_bytes()).map_err(|error| error.message().to_owned());
    }
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    blob_id(&bytes).map_err(|error| error.message().to_owned())
}

/// A file below `root`; refuses a path that leads out of it through a symlinked folder.
pub(super) fn read_file(root: &Path, path: &str) -> Result<Arc<[u8]>, ReadError> {
    let unreadable = |error: Error| ReadError::new(path, format!("the file cannot be read: {error}"));
    let full = root.join(path).canonicalize().map_err(unreadable)?;
    if !full.starts_with(root.canonicalize().map_err(unreadable)?) {
        return Err(ReadError::new(path, "the path leads out of the repository and is not followed"));
    }
    let size = full.metadata().map_err(unreadable)?.len();
    if size > MAX_FILE_BYTES {
        return Err(too_big(path, size));
    }
    std::fs::read(&full).map(Into::into).map_err(unreadable)
}
