//! From the paths that a specification names to files of the tree.

use super::scan;
use super::yaml::{Content, Node};
use super::{Language, SourceFile};
use crate::model::{Diagnostic, DiagnosticLevel, Span, Unresolved};
use crate::revision::{Entry, EntryKind, Tree, text};
use globset::GlobBuilder;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Extensions that a notebook path may leave out.
const CODE_EXTENSIONS: [&str; 3] = [".py", ".sql", ".ipynb"];

/// How a path is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LibraryKind {
    /// May lack its extension.
    Notebook,
    File,
    /// A pattern; `folder/**` is everything below a folder.
    Glob,
}

/// One entry of `libraries`.
#[derive(Debug, Clone)]
pub(super) struct Library {
    pub kind: LibraryKind,
    pub path: String,
    pub span: Arc<Span>,
}

/// What is wrong with a list of libraries: entries that no platform takes. A mapping of another kind is a package.
pub(super) fn misshapen(listed: Option<&Node>) -> Vec<Diagnostic> {
    let wrong = |node: &Node, what: &str, expected: &str| {
        let message = format!("{what} must be {expected}, and is {}", node.kind());
        Diagnostic::new(DiagnosticLevel::Error, "wrong-type", message).at(&node.span)
    };
    let Some(listed) = listed.filter(|listed| listed.content != Content::Null) else { return Vec::new() };
    let Some(items) = listed.list() else { return vec![wrong(listed, "`libraries`", "a list")] };
    let path_of = |item: &Node| {
        let kinds = [["notebook", "path"], ["file", "path"], ["glob", "include"]];
        kinds.into_iter().find_map(|path| item.at(&path).cloned().or_else(|| item.get(path[0]).cloned()))
    };
    let checked = items.iter().filter_map(|item| match path_of(item) {
        _ if item.map().is_none() => Some(wrong(item, "an entry of `libraries`", "a mapping")),
        Some(path) if path.as_str().is_none() => Some(wrong(&path, "the path of a library", "a text")),
        _ => None,
    });
    checked.collect()
}

impl Library {
    /// Reads an entry (`{notebook: {path}}`, `{file: {path}}`, `{glob: {include}}`); `None` for other kinds, such as wheels.
    pub(super) fn read(node: &Node) -> Option<Library> {
        let forms = [
            (LibraryKind::Notebook, ["notebook", "path"]),
            (LibraryKind::File, ["file", "path"]),
            (LibraryKind::Glob, ["glob", "include"]),
        ];
        forms.into_iter().find_map(|(kind, path)| {
            let path = node.at(&path)?;
            Some(Library { kind, path: path.as_str()?.to_owned(), span: Arc::clone(&path.span) })
        })
    }
}

/// Where a pipeline's files are, and what of its libraries could not be found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// In the order of the libraries, each file once.
    pub files: Vec<Arc<str>>,
    pub diagnostics: Vec<Diagnostic>,
    pub unresolved: Vec<Unresolved>,
}

/// Finds the files of `libraries`; relative paths start at `base`.
pub(super) fn find(tree: &dyn Tree, libraries: &[Library], base: &str) -> Found {
    let mut found = Found::default();
    let mut seen = BTreeSet::new();
    for library in libraries {
        match locate(tree, library, base) {
            Ok(paths) => found.files.extend(paths.into_iter().filter(|path| seen.insert(Arc::clone(path)))),
            Err(Miss::Absent(message)) => found.diagnostics.push(
                Diagnostic::new(DiagnosticLevel::Error, "missing-file", message)
                    .at(&library.span)
                    .with_help("correct the path, or remove the entry"),
            ),
            Err(Miss::Elsewhere(why)) => found.unresolved.push(Unresolved {
                code: "outside-repository".to_owned(),
                what: library.path.clone(),
                why,
                hint: Some("name the file by a path relative to the specification".to_owned()),
                pipeline: None,
                dataset: None,
                span: Some(library.span.as_ref().clone()),
            }),
        }
    }
    found
}

enum Miss {
    Absent(String),
    Elsewhere(String),
}

fn locate(tree: &dyn Tree, library: &Library, base: &str) -> Result<Vec<Arc<str>>, Miss> {
    let written = &library.path;
    if written.starts_with('/') {
        return locate_workspace_path(tree, written);
    }
    if holds_placeholder(written) {
        return Err(Miss::Elsewhere("the path holds a value that is only known at deployment".to_owned()));
    }
    let Some(path) = join(base, written) else {
        return Err(Miss::Elsewhere("the path leads out of the repository".to_owned()));
    };
    let files = match library.kind {
        LibraryKind::Glob => glob(tree, &path).map_err(Miss::Absent)?,
        LibraryKind::File | LibraryKind::Notebook => with_extension(tree, &path).into_iter().collect(),
    };
    if files.is_empty() {
        let what =
            if library.kind == LibraryKind::Glob { "the pattern matches no file" } else { "there is no such file" };
        return Err(Miss::Absent(format!("{what}: `{written}` (looked for `{path}`)")));
    }
    Ok(files)
}

/// Some part of the path is only known at deployment; see [`super::bundle`] for how such parts are written.
fn holds_placeholder(path: &str) -> bool {
    ["{var.", "{workspace.", "{bundle.", "{resources."].iter().any(|start| path.contains(start))
}

/// A path of a workspace (`/Repos/me/project/etl/load`): the file of the tree that shares the longest tail with it.
fn locate_workspace_path(tree: &dyn Tree, written: &str) -> Result<Vec<Arc<str>>, Miss> {
    let pattern = written.contains('*');
    let mut tail = written.trim_start_matches('/');
    loop {
        if pattern {
            let files = glob(tree, tail).map_err(Miss::Absent)?;
            if !files.is_empty() && !tail.starts_with('*') {
                return Ok(files);
            }
        } else if let Some(file) = with_extension(tree, tail).or_else(|| only_ending_with(tree, tail)) {
            return Ok(vec![file]);
        }
        match tail.split_once('/') {
            Some((_, shorter)) => tail = shorter,
            None => return Err(Miss::Elsewhere("a workspace path that matches no file of the repository".to_owned())),
        }
    }
}

/// The file whose path ends so, where there is one alone: a workspace holds a repository's folders where its users put them.
fn only_ending_with(tree: &dyn Tree, tail: &str) -> Option<Arc<str>> {
    let ends = |entry: &&Entry| {
        let stem = CODE_EXTENSIONS.iter().find_map(|extension| entry.path.strip_suffix(extension));
        [Some(entry.path.as_ref()), stem]
            .into_iter()
            .flatten()
            .any(|path| path.strip_suffix(tail).is_some_and(|folder| folder.ends_with('/')))
    };
    let mut found = tree.entries().iter().filter(|entry| is_code(entry)).filter(ends);
    let first = found.next()?;
    found.next().is_none().then(|| Arc::clone(&first.path))
}

fn with_extension(tree: &dyn Tree, path: &str) -> Option<Arc<str>> {
    let file = |path: &str| tree.entry(path).filter(|entry| is_code(entry)).map(|entry| Arc::clone(&entry.path));
    file(path).or_else(|| CODE_EXTENSIONS.iter().find_map(|extension| file(&format!("{path}{extension}"))))
}

/// A file of code, by its name.
pub(super) fn is_code(entry: &Entry) -> bool {
    let path = entry.path.as_ref();
    let ends = |extension: &&str| {
        let start = path.len().checked_sub(extension.len());
        start.and_then(|start| path.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(extension))
    };
    entry.kind != EntryKind::Submodule && CODE_EXTENSIONS.iter().any(ends)
}

/// Files of code that a pattern matches, sorted. A star stays within one folder, two cross them.
pub(super) fn glob(tree: &dyn Tree, pattern: &str) -> Result<Vec<Arc<str>>, String> {
    let code = |entry: &&Entry| is_code(entry) && !entry.path.split('/').any(|part| part == "__pycache__");
    let path = |entry: &Entry| Arc::clone(&entry.path);
    let everything = pattern.strip_suffix("**").filter(|folder| folder.is_empty() || folder.ends_with('/'));
    if let Some(folder) = everything.filter(|folder| !folder.contains(['*', '?', '[', '{'])) {
        return Ok(below(tree, folder).iter().filter(code).map(path).collect());
    }
    let matcher = GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map_err(|error| format!("`{pattern}` is no pattern: {}", error.kind()))?
        .compile_matcher();
    let fixed = pattern.split(['*', '?', '[', '{', '\\']).next().unwrap_or_default();
    let folder = fixed.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    Ok(below(tree, &folder)
        .iter()
        .filter(code)
        .filter(|entry| matcher.is_match(entry.path.as_ref()))
        .map(path)
        .collect())
}

/// Entries whose path begins with `folder/` (written with its slash; empty for all).
pub(super) fn below<'a>(tree: &'a dyn Tree, folder: &str) -> &'a [Entry] {
    let entries = tree.entries();
    let start = entries.partition_point(|entry| entry.path.as_ref() < folder);
    let rest = entries.get(start..).unwrap_or_default();
    let length = rest.partition_point(|entry| entry.path.starts_with(folder));
    rest.get(..length).unwrap_or_default()
}

/// A path relative to `base`, both relative to the root; `None` where it leads out.
pub(super) fn join(base: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
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

/// Folder of a path; empty for the root.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// `path` is `folder` or lies below it; everything lies below the root.
pub(super) fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Reads a file far enough to know its language. An unreadable one keeps the language of its extension; the frontend reports it.
pub(super) fn source_file(tree: &dyn Tree, path: &str) -> Option<SourceFile> {
    let entry = tree.entry(path)?;
    let text = text::shown(tree, path).unwrap_or_default();
    let language: Language = scan::language(path, text.as_bytes())?;
    Some(SourceFile { path: Arc::clone(&entry.path), language, content: entry.content })
}
