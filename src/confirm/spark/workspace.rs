//! The work folder of a run, with the code of both revisions as files; gone at the end.

use super::PipelineCode;
use crate::confirm::NotRun;
use crate::project::Language;
use crate::project::notebook::{self, CellLanguage};
use crate::revision::{Tree, text};
use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};

/// Python files and data beside them are written up to this many bytes a revision.
const MOST_BYTES: u64 = 64 << 20;

/// Notebooks that run notebooks.
const RUN_DEPTH: usize = 8;

#[derive(Debug)]
pub struct Workspace {
    pub folder: PathBuf,
    /// Names the schemas of this run.
    pub run: String,
}

/// What of a file is to be run, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runnable {
    /// Python, in a file of the workspace.
    Python(PathBuf),
    Sql(String),
}

impl Workspace {
    /// A new folder that only this user can read.
    ///
    /// # Errors
    /// No folder for temporary files.
    pub fn new() -> Result<Workspace, NotRun> {
        let run = format!("pipelint_{:012x}", RandomState::new().build_hasher().finish() >> 16);
        let folder = std::env::temp_dir().join(&run);
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).map_err(|error| NotRun { reason: format!("{}: {error}", folder.display()) })?;
        Ok(Workspace { folder, run })
    }

    /// Where a revision's files lie.
    pub fn code(&self, revision: usize) -> PathBuf {
        self.folder.join(format!("revision{revision}"))
    }

    /// Writes the files that Python code may import or open.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write(&self, revision: usize, tree: &dyn Tree, pipelines: &[PipelineCode]) -> Result<(), NotRun> {
        let root = self.code(revision);
        let named: BTreeSet<&str> =
            pipelines.iter().flat_map(|pipeline| &pipeline.files).map(|file| file.path.as_ref()).collect();
        let mut written = 0u64;
        for entry in tree.entries() {
            let wanted = named.contains(entry.path.as_ref()) || !pipelines.is_empty() && is_imported(&entry.path);
            let size = tree.size(&entry.path).unwrap_or(0);
            if !wanted || written + size > MOST_BYTES && !named.contains(entry.path.as_ref()) {
                continue;
            }
            let bytes = match text::bytes(tree, &entry.path) {
                Ok(bytes) => bytes,
                // What may be imported need not be: the code itself says what it misses.
                Err(_) if !named.contains(entry.path.as_ref()) => continue,
                Err(error) => return Err(NotRun { reason: format!("{}: {}", entry.path, error.message) }),
            };
            written += bytes.len() as u64;
            write(&root, &entry.path, &bytes)?;
        }
        Ok(())
    }

    /// A pipeline's file as what is to be run; notebooks as their cells' plain code.
    ///
    /// # Errors
    /// A file that cannot be read or is no notebook, or a folder that cannot be written.
    pub fn runnable(
        &self,
        revision: usize,
        tree: &dyn Tree,
        path: &str,
        language: Language,
    ) -> Result<Vec<Runnable>, NotRun> {
        if language == Language::Python {
            return Ok(vec![Runnable::Python(self.code(revision).join(path))]);
        }
        let text = text(tree, path)?;
        if language == Language::Sql {
            return Ok(vec![Runnable::Sql(text)]);
        }
        let mut parts = Vec::new();
        flatten(tree, path, &text, language, 0, &mut parts)?;
        let mut runnables = Vec::new();
        for (number, (language, text)) in parts.into_iter().enumerate() {
            if language == CellLanguage::Sql {
                runnables.push(Runnable::Sql(text));
                continue;
            }
            let name = format!("{path}.{number}.py");
            write(&self.code(revision), &name, text.as_bytes())?;
            runnables.push(Runnable::Python(self.code(revision).join(name)));
        }
        Ok(runnables)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn is_imported(path: &str) -> bool {
    [".py", ".json", ".yaml", ".yml", ".sql"].iter().any(|extension| path.ends_with(extension))
}

fn write(root: &Path, path: &str, bytes: &[u8]) -> Result<(), NotRun> {
    let failed = |error: std::io::Error| NotRun { reason: format!("cannot write {path}: {error}") };
    // A path of a tree has no `..`; one that had would leave the folder.
    if path.split('/').any(|part| part == "..") {
        return Ok(());
    }
    let at = root.join(path);
    if let Some(parent) = at.parent() {
        std::fs::create_dir_all(parent).map_err(failed)?;
    }
    std::fs::write(&at, bytes).map_err(failed)
}

fn text(tree: &dyn Tree, path: &str) -> Result<String, NotRun> {
    let bytes = text::bytes(tree, path).map_err(|error| NotRun { reason: format!("{path}: {}", error.message) })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Cells in order; neighbours of one language are one text, and `%run` is what the other notebook holds.
fn flatten(
    tree: &dyn Tree,
    path: &str,
    text: &str,
    language: Language,
    depth: usize,
    parts: &mut Vec<(CellLanguage, String)>,
) -> Result<(), NotRun> {
    let cells = notebook::cells(text, language).map_err(|reason| NotRun { reason: format!("{path}: {reason}") })?;
    for cell in cells {
        match cell.language {
            CellLanguage::Other => {}
            CellLanguage::Run => {
                let target = cell.text.split_whitespace().next().unwrap_or_default().trim_matches(['"', '\'']);
                if depth < RUN_DEPTH
                    && let Some((path, text, language)) = beside(tree, path, target)
                {
                    flatten(tree, &path, &text, language, depth + 1, parts)?;
                }
            }
            language => match parts.last_mut() {
                Some((last, text)) if *last == language => {
                    text.push_str(if language == CellLanguage::Sql { "\n;\n" } else { "\n\n" });
                    text.push_str(&cell.text);
                }
                _ => parts.push((language, cell.text)),
            },
        }
    }
    Ok(())
}

/// The notebook that a `%run` names, relative to the one that runs it.
fn beside(tree: &dyn Tree, path: &str, target: &str) -> Option<(String, String, Language)> {
    let mut folder: Vec<&str> = path.split('/').collect();
    folder.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                folder.pop()?;
            }
            part => folder.push(part),
        }
    }
    let base = folder.join("/");
    let forms = [
        ("", None),
        (".py", Some(Language::PythonNotebook)),
        (".sql", Some(Language::SqlNotebook)),
        (".ipynb", Some(Language::Ipynb)),
    ];
    forms.into_iter().find_map(|(extension, language)| {
        let path = format!("{base}{extension}");
        tree.entry(&path)?;
        let language = language.unwrap_or(match path.rsplit('.').next() {
            Some("sql") => Language::SqlNotebook,
            Some("ipynb") => Language::Ipynb,
            _ => Language::PythonNotebook,
        });
        Some((path.clone(), text(tree, &path).ok()?, language))
    })
}
