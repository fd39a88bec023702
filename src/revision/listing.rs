//! From raw paths to a tree's entries: what is listed, how names are read, which symlinks are followed.

use super::{ContentId, Entry, EntryKind};
use crate::model::{Diagnostic, DiagnosticLevel};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Extensions of the files that pipelines are made of, and of those that say where their packages are.
pub(super) const EXTENSIONS: [&str; 8] = ["sql", "py", "ipynb", "yml", "yaml", "json", "toml", "cfg"];

/// A tree with more files than this is refused: a few small git objects can describe a billion paths.
pub(super) const MAX_FILES: usize = 2_000_000;

/// How many symlinks one after the other are followed.
const MAX_LINKS: usize = 8;

/// True for files that a tree lists.
pub(super) fn is_relevant(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    let Some(dot) = name.iter().rposition(|byte| *byte == b'.') else { return false };
    name.get(dot + 1..).is_some_and(|extension| EXTENSIONS.iter().any(|e| extension.eq_ignore_ascii_case(e.as_bytes())))
}

/// Collects entries in any order.
#[derive(Default)]
pub(super) struct Listing {
    entries: Vec<Entry>,
    /// Target of each symlink, as stored.
    links: BTreeMap<Arc<str>, Vec<u8>>,
    diagnostics: Vec<Diagnostic>,
}

/// What a listing comes to.
pub(super) struct Listed {
    /// Sorted by path.
    pub entries: Vec<Entry>,
    /// Followed symlinks: the path of the file that each stands for.
    pub links: BTreeMap<Arc<str>, Arc<str>>,
    pub diagnostics: Vec<Diagnostic>,
}

impl Listing {
    /// Adds a file of a relevant name; others are passed over.
    pub(super) fn file(&mut self, path: &[u8], content: ContentId) {
        if is_relevant(path)
            && let Some(path) = self.name(path)
        {
            self.entries.push(Entry { path, kind: EntryKind::File, content });
        }
    }

    /// Adds a symlink with the text it holds.
    pub(super) fn symlink(&mut self, path: &[u8], content: ContentId, target: Vec<u8>) {
        if let Some(path) = self.name(path) {
            self.links.insert(Arc::clone(&path), target);
            self.entries.push(Entry { path, kind: EntryKind::Symlink, content });
        }
    }

    pub(super) fn submodule(&mut self, path: &[u8], content: ContentId) {
        if let Some(path) = self.name(path) {
            let note = Diagnostic::new(DiagnosticLevel::Note, "submodule", "a submodule's files are not read")
                .in_file(&path)
                .with_help("run pipelint inside the submodule to check it");
            self.diagnostics.push(note);
            self.entries.push(Entry { path, kind: EntryKind::Submodule, content });
        }
    }

    pub(super) fn problem(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn name(&mut self, path: &[u8]) -> Option<Arc<str>> {
        match std::str::from_utf8(path) {
            Ok(path) => Some(path.into()),
            Err(_) => {
                let message = format!("the file name `{}` is not UTF-8; the file is not read", path.escape_ascii());
                self.diagnostics.push(
                    Diagnostic::new(DiagnosticLevel::Warning, "path-not-utf8", message)
                        .with_help("rename the file so that its name is UTF-8"),
                );
                None
            }
        }
    }

    /// Sorts, and replaces each symlink that leads to a file of the tree by that file.
    pub(super) fn finish(mut self) -> Listed {
        self.entries.sort_by(|a, b| a.path.cmp(&b.path));
        self.entries.dedup_by(|a, b| a.path == b.path);
        let mut listed = Listed { entries: self.entries, links: BTreeMap::new(), diagnostics: self.diagnostics };
        // All are followed before any is replaced, so that a chain ends at the file itself.
        let followed: Vec<_> = self.links.keys().map(|link| follow(link, &self.links, &listed.entries)).collect();
        for (link, followed) in self.links.keys().zip(followed) {
            match followed {
                Followed::File(target) => {
                    let content = find(&listed.entries, &target).map(|entry| entry.content);
                    if let Ok(index) = listed.entries.binary_search_by(|entry| entry.path.cmp(link))
                        && let (Some(entry), Some(content)) = (listed.entries.get_mut(index), content)
                    {
                        entry.kind = EntryKind::File;
                        entry.content = content;
                        listed.links.insert(Arc::clone(link), target);
                    }
                }
                Followed::Folder => listed.diagnostics.push(left_out(link, "a symlink to a folder is not followed")),
                Followed::Outside => {
                    listed
                        .diagnostics
                        .push(left_out(link, "the symlink leads out of the repository and is not followed"));
                }
                Followed::Nowhere => {}
            }
        }
        listed
    }
}

fn left_out(path: &str, message: &str) -> Diagnostic {
    let level = if is_relevant(path.as_bytes()) { DiagnosticLevel::Warning } else { DiagnosticLevel::Note };
    Diagnostic::new(level, "symlink", message).in_file(path)
}

enum Followed {
    File(Arc<str>),
    Folder,
    Outside,
    /// To a file that the tree does not list, to nothing, or in a circle.
    Nowhere,
}

fn follow(link: &Arc<str>, links: &BTreeMap<Arc<str>, Vec<u8>>, entries: &[Entry]) -> Followed {
    let mut path = Arc::clone(link);
    for _ in 0..MAX_LINKS {
        let Some(target) = links.get(&path) else { break };
        let Some(resolved) = std::str::from_utf8(target).ok().and_then(|target| resolve(&path, target)) else {
            return Followed::Outside;
        };
        path = resolved.into();
        match find(entries, &path) {
            Some(entry) if entry.kind == EntryKind::File => return Followed::File(Arc::clone(&entry.path)),
            Some(_) => {}
            None => return if is_folder(entries, &path) { Followed::Folder } else { Followed::Nowhere },
        }
    }
    Followed::Nowhere
}

fn find<'a>(entries: &'a [Entry], path: &str) -> Option<&'a Entry> {
    entries.binary_search_by(|entry| entry.path.as_ref().cmp(path)).ok().and_then(|index| entries.get(index))
}

fn is_folder(entries: &[Entry], path: &str) -> bool {
    let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
    let first = entries.partition_point(|entry| entry.path.as_ref() < prefix.as_str());
    entries.get(first).is_some_and(|entry| entry.path.starts_with(&prefix))
}

/// Where a symlink's text leads, relative to the root; `None` where it leaves the tree.
fn resolve(link: &str, target: &str) -> Option<String> {
    if target.starts_with('/') || target.contains(['\\', ':']) {
        return None;
    }
    let mut parts: Vec<&str> = link.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ContentId = ContentId([1; 20]);
    const LINK: ContentId = ContentId([2; 20]);

    #[test]
    fn links_inside_the_tree_stand_for_their_file_and_others_are_left() {
        let mut listing = Listing::default();
        listing.file(b"src/a.sql", A);
        listing.symlink(b"lib/b.sql", LINK, b"../src/a.sql".to_vec());
        listing.symlink(b"lib/c.sql", LINK, b"b.sql".to_vec());
        listing.symlink(b"out.sql", LINK, b"../secret.sql".to_vec());
        listing.symlink(b"abs.sql", LINK, b"/etc/passwd".to_vec());
        listing.symlink(b"loop.sql", LINK, b"loop.sql".to_vec());
        listing.symlink(b"folder", LINK, b"src".to_vec());
        let listed = listing.finish();
        let kind = |path: &str| find(&listed.entries, path).map(|e| (e.kind, e.content));
        assert_eq!(kind("lib/b.sql"), Some((EntryKind::File, A)));
        assert_eq!(kind("lib/c.sql"), Some((EntryKind::File, A)));
        assert_eq!(listed.links.get("lib/c.sql").map(|p| p.as_ref()), Some("src/a.sql"));
        assert_eq!(kind("out.sql"), Some((EntryKind::Symlink, LINK)));
        assert_eq!(kind("loop.sql"), Some((EntryKind::Symlink, LINK)));
        let told: Vec<_> = listed.diagnostics.iter().filter_map(|d| d.path.as_deref()).collect();
        assert_eq!(told, ["abs.sql", "folder", "out.sql"]);
    }

    #[test]
    fn only_files_that_pipelines_are_made_of_are_listed() {
        let mut listing = Listing::default();
        for path in [&b"a.SQL"[..], b"b.py", b"README.md", b"sql", b"dir.sql/readme", b"bad\xFF.sql"] {
            listing.file(path, A);
        }
        let listed = listing.finish();
        assert_eq!(listed.entries.iter().map(|e| e.path.as_ref()).collect::<Vec<_>>(), ["a.SQL", "b.py"]);
        assert_eq!(listed.diagnostics.len(), 1);
        assert!(listed.diagnostics[0].message.contains("bad\\xff.sql"));
    }
}
