//! Opens what a [`Selection`] names.

use super::folder::Folder;
use super::git_tree::GitTree;
use super::hook::{self, Ancestors, Occasion};
use super::objects::Objects;
use super::working_tree::WorkingTree;
use super::{Selection, Tree};
use git2::{ErrorCode, Index, ObjectType, Oid, Repository};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Git's name for the tree without files; it exists in no object store and is known all the same.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Two trees to compare.
pub struct Comparison {
    pub before: Box<dyn Tree>,
    pub after: Box<dyn Tree>,
    /// `main (1a2b3c4) → working tree`.
    pub description: String,
}

/// Why a revision could not be opened, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisionError {
    pub message: String,
    pub help: Option<String>,
}

impl fmt::Display for RevisionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for RevisionError {}

impl RevisionError {
    fn new(message: impl Into<String>) -> Self {
        RevisionError { message: message.into(), help: None }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl From<git2::Error> for RevisionError {
    fn from(error: git2::Error) -> Self {
        RevisionError::new(format!("git: {}", error.message()))
    }
}

/// Opens both sides of a selection. `start` is any folder of the repository.
///
/// # Errors
/// No repository, an unknown revision, no merge base, a folder that cannot be read; with the exact `git fetch` where that helps.
pub fn open(selection: &Selection, start: &Path) -> Result<Comparison, RevisionError> {
    if let Selection::Folders { before, after } = selection {
        return Ok(comparison(open_folder(before)?, open_folder(after)?));
    }
    let repository = Git::discover(start)?;
    match selection {
        Selection::Range { before, after, merge_base } => repository.range(before, after, *merge_base),
        Selection::Revision(name) => Ok(comparison(repository.revision(name)?, repository.working_tree()?)),
        Selection::Staged => repository.staged_since("HEAD"),
        Selection::Head | Selection::Folders { .. } => Ok(comparison(repository.head()?, repository.working_tree()?)),
    }
}

/// What `pipelint diff` without a revision compares: HEAD with the working tree; but where the working tree equals HEAD and a CI
/// service names the branch that a pull request goes to, the merge base of that branch and HEAD with HEAD.
///
/// `environment` looks an environment variable up.
///
/// # Errors
/// As [`open`].
pub fn open_default(start: &Path, environment: &dyn Fn(&str) -> Option<String>) -> Result<Comparison, RevisionError> {
    let repository = Git::discover(start)?;
    let Some(base) = pull_request_base(environment) else { return open(&Selection::Head, start) };
    if repository.is_bare() {
        return repository.range(&base, "HEAD", true);
    }
    let local = comparison(repository.head()?, repository.working_tree()?);
    if same_content(&local) { repository.range(&base, "HEAD", true) } else { Ok(local) }
}

/// What `--staged` compares: HEAD with the index; under a hook, what that hook is called for (see [`Occasion`]).
///
/// # Errors
/// As [`open`].
pub fn open_staged(
    start: &Path,
    environment: &dyn Fn(&str) -> Option<String>,
    ancestors: Ancestors,
) -> Result<Comparison, RevisionError> {
    let repository = Git::discover(start)?;
    let alias = |name: &str| {
        let config = repository.objects.with(|repository| repository.config()).ok()?;
        config.get_string(&format!("alias.{name}")).ok()
    };
    match hook::occasion(environment, ancestors, &alias) {
        Occasion::Commit => repository.staged_since("HEAD"),
        Occasion::Amend => repository.staged_since("HEAD~1"),
        Occasion::Range { from, to } => repository.range(&from, &to, true),
        Occasion::Run => {
            let staged = repository.staged_since("HEAD")?;
            if !same_content(&staged) {
                return Ok(staged);
            }
            match pull_request_base(environment) {
                Some(base) => repository.range(&base, "HEAD", true),
                None => repository.staged_since("HEAD~1"),
            }
        }
    }
}

/// Whether both trees hold the same files.
fn same_content(comparison: &Comparison) -> bool {
    let content = |tree: &dyn Tree| tree.entries().iter().map(|e| (Arc::clone(&e.path), e.content)).collect::<Vec<_>>();
    content(comparison.before.as_ref()) == content(comparison.after.as_ref())
}

/// The working tree's folder: what the paths of a revision are relative to.
///
/// # Errors
/// No repository, or one without a working tree.
pub fn root(start: &Path) -> Result<PathBuf, RevisionError> {
    let repository = Git::discover(start)?;
    repository.working_folder.ok_or_else(|| RevisionError::new("the repository has no working tree"))
}

/// Opens one tree: a revision, a folder, or (for `None`) the working tree, or the folder itself outside of any repository.
/// A name that is both a folder and a revision is the folder.
///
/// # Errors
/// As [`open`].
pub fn open_one(target: Option<&str>, start: &Path) -> Result<Box<dyn Tree>, RevisionError> {
    match target {
        None => match Git::discover(start) {
            Ok(repository) if !repository.is_bare() => Ok(Box::new(repository.working_tree()?)),
            Ok(repository) => Ok(Box::new(repository.revision("HEAD")?)),
            Err(_) => open_folder(start).map(|folder| Box::new(folder) as Box<dyn Tree>),
        },
        Some(name) => {
            let path = start.join(name);
            if !path.is_dir() {
                return Ok(Box::new(Git::discover(start)?.revision(name)?));
            }
            match Git::discover(&path) {
                Ok(repository) if repository.is_root(&path) => Ok(Box::new(repository.working_tree()?)),
                _ => Ok(Box::new(open_folder(&path)?)),
            }
        }
    }
}

/// A tree with those of its files that are meant, by their paths in it.
pub struct Part {
    pub tree: Box<dyn Tree>,
    pub files: BTreeSet<String>,
}

/// Opens the working tree that the files lie in, or their folder where that is in no repository.
///
/// # Errors
/// A file that is not in the tree, and as [`open`].
pub fn open_files(files: &[&str], start: &Path) -> Result<Part, RevisionError> {
    let (tree, root): (Box<dyn Tree>, PathBuf) = match Git::discover(start) {
        Ok(repository) if !repository.is_bare() => (Box::new(repository.working_tree()?), root(start)?),
        _ => (Box::new(open_folder(start)?), start.to_path_buf()),
    };
    let root = root.canonicalize().unwrap_or(root);
    let mut found = BTreeSet::new();
    for file in files {
        let unknown = || RevisionError::new(format!("`{file}` is no file of {}", tree.label()));
        let path = start.join(file).canonicalize().map_err(|_| unknown())?;
        let path = path.strip_prefix(&root).map_err(|_| unknown())?;
        let path = path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
        if tree.entry(&path).is_none() {
            return Err(unknown());
        }
        found.insert(path);
    }
    Ok(Part { tree, files: found })
}

/// Opens the index; the files are those that differ from HEAD's.
///
/// # Errors
/// As [`open`].
pub fn staged_part(start: &Path) -> Result<Part, RevisionError> {
    let repository = Git::discover(start)?;
    let (head, tree) = (repository.head()?, repository.staged()?);
    let changed = |entry: &&super::Entry| head.entry(&entry.path).is_none_or(|old| old.content != entry.content);
    let files = tree.entries().iter().filter(changed).map(|entry| entry.path.to_string()).collect();
    Ok(Part { tree: Box::new(tree), files })
}

fn comparison(before: impl Tree + 'static, after: impl Tree + 'static) -> Comparison {
    let description = format!("{} → {}", before.label(), after.label());
    Comparison { before: Box::new(before), after: Box::new(after), description }
}

fn open_folder(path: &Path) -> Result<Folder, RevisionError> {
    let label = path.display().to_string();
    Folder::new(path.to_path_buf(), label.clone())
        .map_err(|error| RevisionError::new(format!("the folder `{label}` cannot be read: {error}")))
}

/// The revision that a CI service says a pull request goes to.
fn pull_request_base(environment: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let value = |name: &str| environment(name).filter(|value| !value.is_empty());
    if let Some(commit) = value("CI_MERGE_REQUEST_DIFF_BASE_SHA") {
        return Some(commit);
    }
    let branch = [
        "GITHUB_BASE_REF",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
        "BITBUCKET_PR_DESTINATION_BRANCH",
        "SYSTEM_PULLREQUEST_TARGETBRANCH",
        "CHANGE_TARGET",
    ]
    .into_iter()
    .find_map(value)?;
    Some(format!("origin/{}", branch.trim_start_matches("refs/heads/")))
}

/// A repository and its objects.
struct Git {
    objects: Arc<Objects>,
    working_folder: Option<PathBuf>,
    git_dir: PathBuf,
}

/// A revision by name.
struct Resolved {
    label: String,
    /// `None` for the tree without files.
    tree: Option<Oid>,
    commit: Option<Oid>,
}

impl Git {
    fn discover(start: &Path) -> Result<Self, RevisionError> {
        let repository = Repository::discover(start).map_err(|error| match error.code() {
            ErrorCode::NotFound => RevisionError::new(format!("`{}` is in no git repository", start.display()))
                .help("compare two folders with `--before DIR --after DIR`"),
            ErrorCode::Owner => RevisionError::new("git does not trust this repository: another user owns it")
                .help(format!("run `git config --global --add safe.directory '{}'`", start.display())),
            _ => error.into(),
        })?;
        Ok(Git {
            working_folder: repository.workdir().map(Path::to_path_buf),
            git_dir: repository.path().to_path_buf(),
            objects: Arc::new(Objects::new(repository)),
        })
    }

    fn is_bare(&self) -> bool {
        self.working_folder.is_none()
    }

    fn is_root(&self, path: &Path) -> bool {
        let same = |root: &PathBuf| Some(root.canonicalize().ok()? == path.canonicalize().ok()?);
        self.working_folder.as_ref().and_then(same) == Some(true)
    }

    fn range(&self, before: &str, after: &str, merge_base: bool) -> Result<Comparison, RevisionError> {
        let older = self.resolve(before)?;
        let newer = self.resolve(after)?;
        let older = if merge_base { self.merge_base(before, &older, after, &newer)? } else { older };
        Ok(comparison(self.tree(older)?, self.tree(newer)?))
    }

    fn revision(&self, name: &str) -> Result<GitTree, RevisionError> {
        self.tree(self.resolve(name)?)
    }

    /// A revision with the index. A parent before the first commit is the tree without files.
    fn staged_since(&self, name: &str) -> Result<Comparison, RevisionError> {
        let is_first = || {
            self.objects.with(|repository| {
                let head = repository.head()?.peel_to_commit()?;
                Ok::<_, RevisionError>(head.parent_count() == 0 && !repository.is_shallow())
            })
        };
        let before = match name {
            "HEAD" => self.head()?,
            _ if is_first()? => self.tree(Resolved { label: "nothing".to_owned(), tree: None, commit: None })?,
            _ => self.revision(name)?,
        };
        Ok(comparison(before, self.staged()?))
    }

    /// HEAD, which before the first commit is the tree without files.
    fn head(&self) -> Result<GitTree, RevisionError> {
        let unborn = self.objects.with(|repository| Ok::<_, RevisionError>(is_unborn(repository)))?;
        if unborn {
            let label = "HEAD (no commit yet)".to_owned();
            return self.tree(Resolved { label, tree: None, commit: None });
        }
        self.revision("HEAD")
    }

    fn tree(&self, resolved: Resolved) -> Result<GitTree, RevisionError> {
        Ok(GitTree::of_tree(&self.objects, resolved.tree, resolved.label)?)
    }

    fn working_tree(&self) -> Result<WorkingTree, RevisionError> {
        let Some(root) = &self.working_folder else {
            return Err(RevisionError::new("a bare repository has no working tree").help("name two revisions: `A..B`"));
        };
        let index = self.objects.with(|repository| repository.index())?;
        Ok(WorkingTree::new(&self.objects, root.clone(), &index)?)
    }

    fn staged(&self) -> Result<GitTree, RevisionError> {
        if self.is_bare() {
            return Err(RevisionError::new("a bare repository has no index").help("name two revisions: `A..B`"));
        }
        let index = match self.index_of_hook() {
            Some(path) => Index::open(&path)?,
            None => self.objects.with(|repository| repository.index())?,
        };
        Ok(GitTree::of_index(&self.objects, &index)?)
    }

    /// `git commit -a` and `git commit FILE` run their hooks with an index of their own.
    fn index_of_hook(&self) -> Option<PathBuf> {
        let path = PathBuf::from(std::env::var_os("GIT_INDEX_FILE")?);
        let path = match &self.working_folder {
            Some(root) if path.is_relative() => root.join(path),
            _ => path,
        };
        let inside = path.canonicalize().ok()?.starts_with(self.git_dir.canonicalize().ok()?);
        inside.then_some(path)
    }

    fn resolve(&self, name: &str) -> Result<Resolved, RevisionError> {
        if name == EMPTY_TREE {
            return Ok(Resolved { label: "nothing".to_owned(), tree: None, commit: None });
        }
        self.objects.with(|repository| {
            let object = match repository.revparse_single(name) {
                Ok(object) => object,
                Err(error) => return Err(unknown_revision(repository, name, &error)),
            };
            let commit = object.peel(ObjectType::Commit).ok().map(|commit| commit.id());
            let Ok(tree) = object.peel_to_tree() else {
                return Err(RevisionError::new(format!("`{name}` names no commit and no folder of one")));
            };
            let id = commit.unwrap_or(tree.id()).to_string();
            let short = id.get(..7).unwrap_or(&id);
            let label = if id.starts_with(name) { short.to_owned() } else { format!("{name} ({short})") };
            Ok(Resolved { label, tree: Some(tree.id()), commit })
        })
    }

    fn merge_base(
        &self,
        before: &str,
        older: &Resolved,
        after: &str,
        newer: &Resolved,
    ) -> Result<Resolved, RevisionError> {
        let (Some(a), Some(b)) = (older.commit, newer.commit) else {
            return Err(RevisionError::new(format!("`{before}...{after}` needs two commits"))
                .help(format!("write `{before}..{after}` to compare two trees")));
        };
        self.objects.with(|repository| match repository.merge_base(a, b) {
            Ok(base) => {
                let tree = repository.find_commit(base)?.tree_id();
                let id = base.to_string();
                let label = format!("merge base of {before} and {after} ({})", id.get(..7).unwrap_or(&id));
                Ok(Resolved { label, tree: Some(tree), commit: Some(base) })
            }
            Err(error) if error.code() == ErrorCode::NotFound => {
                Err(no_merge_base((before, a), (after, b), repository.is_shallow()))
            }
            Err(error) => Err(error.into()),
        })
    }
}

fn is_unborn(repository: &Repository) -> bool {
    repository.head().is_err_and(|error| error.code() == ErrorCode::UnbornBranch)
}

fn no_merge_base((before, a): (&str, Oid), (after, b): (&str, Oid), shallow: bool) -> RevisionError {
    let message = format!("`{before}` and `{after}` have no common commit");
    if shallow {
        // By their full ids: a clone of one branch fetches no other by itself, and a server takes no abbreviation.
        RevisionError::new(format!("{message} in this shallow clone"))
            .help(format!("fetch the rest of their history with `git fetch --unshallow origin {a} {b}`"))
    } else {
        RevisionError::new(message).help(format!("write `{before}..{after}` to compare them as they are"))
    }
}

/// Why a name is none, and the command that brings it here.
fn unknown_revision(repository: &Repository, name: &str, error: &git2::Error) -> RevisionError {
    if error.code() == ErrorCode::Ambiguous {
        return RevisionError::new(format!("`{name}` is ambiguous: several objects begin with it"));
    }
    if error.code() == ErrorCode::InvalidSpec {
        return RevisionError::new(format!("`{name}` is no revision name git knows"));
    }
    let unknown = RevisionError::new(format!("the revision `{name}` is not in this repository"));
    if is_unborn(repository) {
        return unknown.help("the repository has no commit yet");
    }
    let remote = format!("origin/{name}");
    if !name.starts_with("origin/") && repository.revparse_single(&remote).is_ok() {
        return unknown.help(format!("did you mean `{remote}`?"));
    }
    let full_id = |name: &str| repository.revparse_single(name).and_then(|found| found.peel_to_commit()).ok();
    let stem = name.split(['^', '~', '@', ':']).next().unwrap_or(name);
    let stem_is_here = stem != name && repository.revparse_single(stem).is_ok();
    match (stem_is_here, repository.is_shallow()) {
        (true, true) => {
            let tip = full_id(stem).map(|commit| format!(" {}", commit.id())).unwrap_or_default();
            unknown.help(format!("this is a shallow clone; fetch older commits with `git fetch --deepen=50 origin{tip}`"))
        }
        (true, false) => unknown.help(format!(
            "`{stem}` is there, but not that ancestor or path of it; `{EMPTY_TREE}` stands for the tree before a first commit"
        )),
        (false, shallow) => unknown.help(fetch_command(stem, shallow)),
    }
}

fn fetch_command(name: &str, shallow: bool) -> String {
    let deepen = if shallow { " --unshallow" } else { "" };
    let is_id = name.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id && name.len() == 40 {
        return format!("fetch it with `git fetch{deepen} origin {name}`");
    }
    if is_id && (7..40).contains(&name.len()) {
        // A server finds commits by full ids only.
        return format!(
            "fetch every branch with `git fetch{deepen} origin '+refs/heads/*:refs/remotes/origin/*'`, or give the full id"
        );
    }
    let branch = name.trim_start_matches("refs/remotes/").trim_start_matches("refs/heads/");
    let branch = branch.strip_prefix("origin/").unwrap_or(branch);
    let spec = format!("{branch}:refs/remotes/origin/{branch}");
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | '-' | ':');
    let spec = if spec.chars().all(plain) { spec } else { format!("'{}'", spec.replace('\'', r"'\''")) };
    let rename = if name.ends_with(&format!("origin/{branch}")) {
        String::new()
    } else {
        format!(" and name it `origin/{branch}`")
    };
    format!("fetch it with `git fetch{deepen} origin {spec}`{rename}")
}
