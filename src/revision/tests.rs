//! Trees of real repositories, built in temporary folders.

use super::*;
use git2::{Oid, Repository, Signature};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

struct Fixture {
    dir: TempDir,
    repository: Repository,
}

impl Fixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let repository = Repository::init(dir.path()).unwrap();
        repository.set_head("refs/heads/main").unwrap();
        Fixture { dir, repository }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn write(&self, path: &str, text: &str) {
        let full = self.path().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, text).unwrap();
    }

    fn stage_all(&self) {
        let mut index = self.repository.index().unwrap();
        index.add_all(["*"], git2::IndexAddOption::DEFAULT, None).unwrap();
        index.update_all(["*"], None).unwrap();
        index.write().unwrap();
    }

    fn commit(&self) -> Oid {
        self.stage_all();
        let mut index = self.repository.index().unwrap();
        let tree = self.repository.find_tree(index.write_tree().unwrap()).unwrap();
        let who = Signature::now("t", "t@example.com").unwrap();
        let parent = self.repository.head().ok().map(|head| head.peel_to_commit().unwrap());
        self.repository.commit(Some("HEAD"), &who, &who, "c", &tree, &parent.iter().collect::<Vec<_>>()).unwrap()
    }

    fn open(&self, text: &str) -> Result<Comparison, RevisionError> {
        open(&Selection::parse(text), self.path())
    }
}

fn paths(tree: &dyn Tree) -> Vec<&str> {
    tree.entries().iter().map(|entry| entry.path.as_ref()).collect()
}

fn text(tree: &dyn Tree, path: &str) -> String {
    String::from_utf8(tree.read(path).unwrap().to_vec()).unwrap()
}

#[test]
fn a_range_compares_two_commits_by_any_name() {
    let repo = Fixture::new();
    repo.write("a.sql", "one");
    repo.write("same.sql", "same");
    let first = repo.commit();
    repo.write("a.sql", "two");
    repo.commit();
    repo.repository
        .tag(
            "v1",
            repo.repository.find_commit(first).unwrap().as_object(),
            &Signature::now("t", "t@x").unwrap(),
            "m",
            false,
        )
        .unwrap();
    for range in ["HEAD~1..HEAD", "v1..main", &format!("{first}..")] {
        let found = repo.open(range).unwrap();
        assert_eq!(text(found.before.as_ref(), "a.sql"), "one", "{range}");
        assert_eq!(text(found.after.as_ref(), "a.sql"), "two", "{range}");
        assert_eq!(found.before.entry("same.sql").unwrap().content, found.after.entry("same.sql").unwrap().content);
    }
    assert_eq!(repo.open("v1..main").unwrap().before.label(), format!("v1 ({})", &first.to_string()[..7]));
    let bare = Repository::init_bare(repo.path().join("bare.git")).unwrap();
    bare.remote("origin", repo.path().to_str().unwrap()).unwrap().fetch(&["main"], None, None).unwrap();
    let found = open(&Selection::parse("FETCH_HEAD~1..FETCH_HEAD"), bare.path()).unwrap();
    assert_eq!(text(found.before.as_ref(), "a.sql"), "one");
    assert!(open(&Selection::Head, bare.path()).is_err_and(|e| e.message.contains("bare repository")));
}

#[test]
fn three_dots_take_the_merge_base() {
    let repo = Fixture::new();
    repo.write("a.sql", "base");
    let base = repo.commit();
    repo.repository.branch("feature", &repo.repository.find_commit(base).unwrap(), false).unwrap();
    repo.write("b.sql", "only on main");
    repo.commit();
    repo.repository.set_head("refs/heads/feature").unwrap();
    repo.repository.checkout_head(Some(git2::build::CheckoutBuilder::new().force())).unwrap();
    repo.write("a.sql", "feature");
    let _ = fs::remove_file(repo.path().join("b.sql"));
    repo.commit();
    let found = repo.open("main...feature").unwrap();
    assert_eq!(paths(found.before.as_ref()), ["a.sql"]);
    assert_eq!(text(found.before.as_ref(), "a.sql"), "base");
    assert_eq!(paths(repo.open("main..feature").unwrap().before.as_ref()), ["a.sql", "b.sql"]);
}

#[test]
fn the_working_tree_holds_edits_and_new_files_but_nothing_ignored() {
    let repo = Fixture::new();
    repo.write(".gitignore", "out/\n");
    repo.write("a.sql", "one");
    repo.write("same.sql", "same");
    repo.write("gone.sql", "gone");
    repo.commit();
    repo.write("a.sql", "two");
    repo.write("new/deep/n.sql", "new");
    repo.write("out/ignored.sql", "x");
    repo.write("notes.txt", "x");
    fs::remove_file(repo.path().join("gone.sql")).unwrap();
    let found = open(&Selection::Head, &repo.path().join("new")).unwrap();
    assert_eq!(paths(found.before.as_ref()), ["a.sql", "gone.sql", "same.sql"]);
    assert_eq!(paths(found.after.as_ref()), ["a.sql", "new/deep/n.sql", "same.sql"]);
    assert_eq!(text(found.after.as_ref(), "a.sql"), "two");
    assert_eq!(text(found.after.as_ref(), "new/deep/n.sql"), "new");
    assert_eq!(text(found.after.as_ref(), "same.sql"), "same");
    assert_eq!(found.before.entry("same.sql").unwrap().content, found.after.entry("same.sql").unwrap().content);
    let index_bytes = fs::read(repo.repository.path().join("index")).unwrap();
    open(&Selection::Head, repo.path()).unwrap();
    assert_eq!(fs::read(repo.repository.path().join("index")).unwrap(), index_bytes, "the index is never written");
}

#[test]
fn staged_compares_head_with_the_index() {
    let repo = Fixture::new();
    repo.write("a.sql", "one");
    repo.commit();
    repo.write("a.sql", "staged");
    repo.stage_all();
    repo.write("a.sql", "later");
    let found = open(&Selection::Staged, repo.path()).unwrap();
    assert_eq!(text(found.before.as_ref(), "a.sql"), "one");
    assert_eq!(text(found.after.as_ref(), "a.sql"), "staged");
    assert_eq!(found.description.split(" → ").nth(1), Some("index"));
}

#[test]
fn before_the_first_commit_head_is_empty() {
    let repo = Fixture::new();
    repo.write("a.sql", "one");
    let found = open(&Selection::Head, repo.path()).unwrap();
    assert!(found.before.entries().is_empty());
    assert_eq!(paths(found.after.as_ref()), ["a.sql"]);
    assert_eq!(repo.open("HEAD..main").err().unwrap().help.as_deref(), Some("the repository has no commit yet"));
    repo.commit();
    let found = repo.open("4b825dc642cb6eb9a060e54bf8d69288fbee4904..main").unwrap();
    assert!(found.before.entries().is_empty());
}

#[test]
fn unknown_revisions_name_the_fetch_that_brings_them() {
    let repo = Fixture::new();
    repo.write("a.sql", "one");
    repo.commit();
    let help = |range: &str| repo.open(range).err().unwrap().help.unwrap();
    assert_eq!(help("origin/dev..main"), "fetch it with `git fetch origin dev:refs/remotes/origin/dev`");
    assert_eq!(
        help("dev..main"),
        "fetch it with `git fetch origin dev:refs/remotes/origin/dev` and name it `origin/dev`"
    );
    let id = "0123456789012345678901234567890123456789";
    assert_eq!(help(&format!("{id}..main")), format!("fetch it with `git fetch origin {id}`"));
    assert!(help("0123456789..main").contains("or give the full id"));
    let hostile = help("a;rm$x..main");
    assert!(hostile.contains("'a;rm$x:refs/remotes/origin/a;rm$x'"), "{hostile}");
    let head = repo.repository.head().unwrap().target().unwrap();
    repo.repository.reference("refs/remotes/origin/dev", head, false, "").unwrap();
    assert_eq!(help("dev..main"), "did you mean `origin/dev`?");
}

#[test]
fn a_shallow_clone_without_the_base_names_the_deepening_fetch() {
    let repo = Fixture::new();
    repo.write("a.sql", "one");
    let base = repo.commit();
    repo.repository.branch("feature", &repo.repository.find_commit(base).unwrap(), false).unwrap();
    repo.write("a.sql", "two");
    let tip = repo.commit();
    let unrelated = {
        let tree = repo.repository.find_commit(base).unwrap().tree_id();
        let tree = repo.repository.find_tree(tree).unwrap();
        let who = Signature::now("t", "t@x").unwrap();
        repo.repository.commit(Some("refs/heads/cut"), &who, &who, "c", &tree, &[]).unwrap()
    };
    fs::write(repo.repository.path().join("shallow"), format!("{tip}\n{unrelated}\n")).unwrap();
    let error = repo.open("cut...main").err().unwrap();
    assert!(error.help.unwrap().contains(&format!("git fetch --unshallow origin {unrelated} {tip}")));
    let error = repo.open("main~1..main").err().unwrap();
    assert!(error.help.unwrap().contains(&format!("git fetch --deepen=50 origin {tip}")));
    let error = repo.open("origin/dev..main").err().unwrap();
    assert!(error.help.unwrap().contains("git fetch --unshallow origin dev:refs/remotes/origin/dev"));
}

#[test]
fn a_blob_that_is_not_in_the_clone_is_one_files_problem() {
    let repo = Fixture::new();
    repo.write("a.sql", "one");
    repo.write("b.sql", "two");
    repo.commit();
    let found = repo.open("HEAD..HEAD").unwrap();
    let id = Oid::hash_object(git2::ObjectType::Blob, b"one").unwrap().to_string();
    fs::remove_file(repo.repository.path().join("objects").join(&id[..2]).join(&id[2..])).unwrap();
    let error = found.before.read("a.sql").unwrap_err();
    assert!(error.message.contains("is not in this clone"), "{}", error.message);
    assert!(error.help.unwrap().contains(&format!("git cat-file -e {id}")));
    assert_eq!(text(found.before.as_ref(), "b.sql"), "two");
    // The working tree still has the file itself.
    assert_eq!(text(open(&Selection::Head, repo.path()).unwrap().after.as_ref(), "a.sql"), "one");
}

#[cfg(unix)]
#[test]
fn symlinks_never_lead_out() {
    use std::os::unix::fs::symlink;
    let secret = tempfile::tempdir().unwrap();
    fs::write(secret.path().join("s.sql"), "secret").unwrap();
    let repo = Fixture::new();
    repo.write("real/a.sql", "one");
    symlink(secret.path().join("s.sql"), repo.path().join("out.sql")).unwrap();
    symlink("real/a.sql", repo.path().join("in.sql")).unwrap();
    symlink(secret.path(), repo.path().join("folder")).unwrap();
    repo.commit();
    symlink(secret.path().join("s.sql"), repo.path().join("untracked.sql")).unwrap();
    let folder =
        open(&Selection::Folders { before: repo.path().to_path_buf(), after: repo.path().to_path_buf() }, repo.path())
            .unwrap();
    let git = open(&Selection::Head, repo.path()).unwrap();
    for tree in [&git.before, &git.after, &folder.before] {
        assert_eq!(text(tree.as_ref(), "in.sql"), "one", "{}", tree.label());
        assert!(tree.read("out.sql").is_err(), "{}", tree.label());
        assert!(tree.read("folder/s.sql").is_err(), "{}", tree.label());
        assert!(tree.read("../x.sql").is_err());
        assert!(tree.diagnostics().iter().any(|d| d.path.as_deref() == Some("out.sql")));
    }
    assert!(git.after.read("untracked.sql").is_err());
}

#[test]
fn folders_and_git_agree_on_content() {
    let repo = Fixture::new();
    repo.write("p/a.sql", "SELECT 1");
    repo.write(".hidden/b.sql", "x");
    repo.commit();
    let git = repo.open("HEAD..HEAD").unwrap();
    let folder = open_one(Some("p"), repo.path()).unwrap();
    assert_eq!(paths(folder.as_ref()), ["a.sql"]);
    assert_eq!(folder.entry("a.sql").unwrap().content, git.before.entry("p/a.sql").unwrap().content);
    assert_eq!(open_one(None, repo.path()).unwrap().label(), "working tree");
    assert_eq!(open_one(Some("."), repo.path()).unwrap().label(), "working tree");
    assert!(open_one(Some("main"), repo.path()).unwrap().label().starts_with("main ("));
}

#[test]
fn files_above_the_limit_are_not_read() {
    let repo = Fixture::new();
    repo.write("big.sql", &" ".repeat(MAX_FILE_BYTES as usize + 1));
    repo.commit();
    let found = open(&Selection::Head, repo.path()).unwrap();
    assert!(found.before.read("big.sql").unwrap_err().message.contains("are not read"));
    assert!(found.after.read("big.sql").is_err());
}

#[cfg(unix)]
#[test]
fn hostile_file_names_are_listed_or_reported() {
    use std::os::unix::ffi::OsStrExt;
    let repo = Fixture::new();
    repo.write("new\nline\u{1b}[31m.sql", "SELECT 1");
    fs::write(repo.path().join(std::ffi::OsStr::from_bytes(b"bad\xFF.sql")), "x").unwrap();
    repo.commit();
    let found = open(&Selection::Head, repo.path()).unwrap();
    for tree in [&found.before, &found.after] {
        assert_eq!(paths(tree.as_ref()), ["new\nline\u{1b}[31m.sql"]);
        assert!(tree.diagnostics().iter().any(|d| d.code == "path-not-utf8" && d.message.contains("bad\\xff.sql")));
    }
}

#[test]
fn submodules_are_named_and_not_read() {
    let repo = Fixture::new();
    repo.write("a.sql", "one");
    let head = repo.commit();
    let mut index = repo.repository.index().unwrap();
    let mut entry = index.get(0).unwrap();
    entry.mode = 0o160_000;
    entry.path = b"lib/sub".to_vec();
    entry.id = head;
    index.add(&entry).unwrap();
    index.write().unwrap();
    let found = open(&Selection::Staged, repo.path()).unwrap();
    assert_eq!(found.after.entry("lib/sub").map(|e| e.kind), Some(EntryKind::Submodule));
    assert!(found.after.read("lib/sub").is_err());
    assert!(found.after.diagnostics().iter().any(|d| d.code == "submodule"));
}

#[test]
fn a_bare_diff_takes_the_pull_requests_base_only_where_nothing_is_edited() {
    let repo = Fixture::new();
    repo.write("a.sql", "one");
    let first = repo.commit();
    repo.repository.reference("refs/remotes/origin/main", first, false, "").unwrap();
    repo.write("a.sql", "two");
    repo.commit();
    let github = |name: &str| (name == "GITHUB_BASE_REF").then(|| "main".to_owned());
    let found = open_default(repo.path(), &github).unwrap();
    assert_eq!(text(found.before.as_ref(), "a.sql"), "one");
    assert!(found.before.label().starts_with("merge base of origin/main and HEAD"));
    assert_eq!(open_default(repo.path(), &|_| None).unwrap().after.label(), "working tree");
    repo.write("a.sql", "three");
    assert_eq!(open_default(repo.path(), &github).unwrap().after.label(), "working tree");
}
