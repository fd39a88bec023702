//! Every case of a fix: `tests/cases/fix/*/case.yaml` with `before/`, `after/` and the patched files in `fixed/`.
//!
//! `offers:` lists the rules whose findings get a patch, `choices:` those whose patch has a price, `left:` what then happens to a table.
//! `fixed/` holds the files with all of them. `PIPELINT_BLESS=1 cargo test --test it
//! fixes/` rewrites `fixed/`: read the diff before you commit it.

use libtest_mimic::Trial;
use pipelint::fix::{Accept, Fix, Fixes, fixes};
use pipelint::reading::Options;
use pipelint::revision::{Selection, open};
use serde_yaml::Value as Yaml;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

fn fix(folder: &Path, accept: Accept) -> Fixes {
    let selection = Selection::Folders { before: folder.join("before"), after: folder.join("after") };
    let comparison = open(&selection, Path::new(".")).expect("both folders are there");
    fixes(comparison.before.as_ref(), comparison.after.as_ref(), &Options::default(), None, accept)
        .expect("no rule is named")
}

fn check(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("case.yaml")).expect("case.yaml");
    let case: Yaml = serde_yaml::from_str(&text).expect("case.yaml is YAML");
    let words = |key: &str| -> Vec<String> {
        let items = case.get(key).and_then(Yaml::as_sequence).into_iter().flatten();
        items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
    };
    let safe = fix(folder, Accept::Safe);
    let mut wrong = Vec::new();
    let rules = |fixes: &[Fix]| -> Vec<String> { fixes.iter().map(|fix| fix.rule.clone()).collect() };
    if (rules(&safe.offered), rules(&safe.choices)) != (words("offers"), words("choices")) {
        wrong.push(format!(
            "expected {:?} and as choices {:?}; offered {:?}, choices {:?}, dropped {:?}",
            words("offers"),
            words("choices"),
            rules(&safe.offered),
            rules(&safe.choices),
            safe.dropped
        ));
    }
    if safe.offered.iter().any(|fix| !fix.prices.is_empty()) || safe.choices.iter().any(|fix| fix.prices.is_empty()) {
        wrong.push("a safe fix has no price, and a choice has one".to_owned());
    }
    let found = if safe.choices.is_empty() { safe } else { fix(folder, Accept::WithPrice) };
    for (table, effect) in case.get("left").and_then(Yaml::as_mapping).into_iter().flatten() {
        let (table, effect) = (table.as_str().unwrap_or_default(), effect.as_str().unwrap_or_default());
        let left =
            found.offered.iter().find(|fix| fix.dataset.to_string() == table).map(|fix| fix.left.effect.as_str());
        if left != Some(effect) {
            wrong.push(format!("{table}: expected {effect} to be left, got {left:?}"));
        }
    }
    for (path, (_, new)) in &found.files {
        let golden = folder.join("fixed").join(path);
        if std::env::var_os("PIPELINT_BLESS").is_some() {
            std::fs::create_dir_all(folder.join("fixed")).expect("a folder");
            std::fs::write(&golden, new).expect("the golden file can be written");
        } else if std::fs::read_to_string(&golden).ok().as_ref() != Some(new) {
            wrong.push(format!("the patched {path} is not fixed/{path}; see PIPELINT_BLESS"));
        }
    }
    wrong
}

/// Writes a side of a case into a repository and commits it.
fn commit(repository: &git2::Repository, side: &Path) {
    let root = repository.workdir().expect("a working tree");
    for entry in std::fs::read_dir(side).expect("the side is there") {
        let path = entry.expect("a file").path();
        std::fs::copy(&path, root.join(path.file_name().expect("a name"))).expect("the file can be copied");
    }
    let mut index = repository.index().expect("an index");
    index.add_all(["*"], git2::IndexAddOption::DEFAULT, None).expect("files are added");
    index.write().expect("the index is written");
    let tree = repository.find_tree(index.write_tree().expect("a tree")).expect("the tree");
    let author = git2::Signature::new("Ada", "ada@example.org", &git2::Time::new(0, 0)).expect("an author");
    let parent = repository.head().ok().and_then(|head| head.peel_to_commit().ok());
    let parents: Vec<_> = parent.iter().collect();
    repository.commit(Some("HEAD"), &author, &author, "change", &tree, &parents).expect("a commit");
}

fn pipelint(folder: &Path, arguments: &[&str]) {
    let first = [OsString::from("pipelint"), "-C".into(), folder.into()];
    pipelint::cli::main(first.into_iter().chain(arguments.iter().map(OsString::from)));
}

/// The exit code, and both outputs.
fn program(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let run = Command::new(env!("CARGO_BIN_EXE_pipelint")).args(arguments).current_dir(folder).output();
    let run = run.expect("pipelint runs");
    let text = format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    (run.status.code(), text)
}

fn files_are_written_only_where_they_hold_what_was_compared() {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/fix/sql-source-added");
    let folder = tempfile::tempdir().expect("a folder");
    let repository = git2::Repository::init(folder.path()).expect("a repository");
    commit(&repository, &case.join("before"));
    commit(&repository, &case.join("after"));
    let file = folder.path().join("orders.sql");
    let text = |path: &Path| std::fs::read_to_string(path).expect("the file is there");

    pipelint(folder.path(), &["fix", "HEAD~1..HEAD", "--dry-run"]);
    assert_eq!(text(&file), text(&case.join("after/orders.sql")), "a dry run writes nothing");

    let edited = format!("{}-- not committed\n", text(&case.join("after/orders.sql")));
    std::fs::write(&file, &edited).expect("the file can be written");
    pipelint(folder.path(), &["fix", "HEAD~1..HEAD"]);
    assert_eq!(text(&file), edited, "other changes are left alone");

    std::fs::copy(case.join("after/orders.sql"), &file).expect("the file can be written");
    pipelint(folder.path(), &["fix", "HEAD~1..HEAD"]);
    assert_eq!(text(&file), text(&case.join("fixed/orders.sql")));
}

fn a_choice_is_applied_only_when_it_is_asked_for() {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/fix/sql-dedup-keys-reader-stops");
    let folder = tempfile::tempdir().expect("a folder");
    let repository = git2::Repository::init(folder.path()).expect("a repository");
    commit(&repository, &case.join("before"));
    commit(&repository, &case.join("after"));
    let text = || std::fs::read_to_string(folder.path().join("orders.sql")).expect("the file is there");
    let (_, output) = program(folder.path(), &["fix", "HEAD~1"]);
    assert!(!text().contains("SKIPCHANGECOMMITS"), "{output}");
    for part in ["fix --unsafe", "a second time", "price: `copy` is wrong-rows", "and refused (full refresh: required)"]
    {
        assert!(output.contains(part), "{part} is missing in:\n{output}");
    }
    program(folder.path(), &["fix", "HEAD~1", "--unsafe"]);
    assert!(text().contains("SKIPCHANGECOMMITS"));
}

fn a_rule_that_does_not_exist_is_an_error() {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/fix/sql-source-added");
    let sides = ["fix", "--before", "before", "--after", "after", "--dry-run", "--rule"];
    for (rule, code) in [("nosuch", 2), ("source-aded", 2), ("source-added", 0), ("protect-table", 1)] {
        let (found, output) = program(&case, &[&sides[..], &[rule]].concat());
        assert_eq!(found, Some(code), "{rule}: {output}");
    }
}

/// A patch of a file with CRLF line ends is one that git applies, and every line keeps its end.
fn git_applies_the_printed_patch() {
    for name in ["sql-source-added", "sql-source-added-crlf", "python-type-narrowed-crlf", "notebook-jupyter"] {
        let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/fix").join(name);
        let folder = tempfile::tempdir().expect("a folder");
        let repository = git2::Repository::init(folder.path()).expect("a repository");
        repository.config().and_then(|mut config| config.set_str("core.autocrlf", "false")).expect("a configuration");
        commit(&repository, &case.join("before"));
        commit(&repository, &case.join("after"));
        let (_, output) = program(folder.path(), &["fix", "HEAD~1", "--dry-run"]);
        let patch = &output[output.find("--- a/").expect("a patch")..];
        std::fs::write(folder.path().join("fix.patch"), patch).expect("the patch can be written");
        let git =
            Command::new("git").args(["apply", "fix.patch"]).current_dir(folder.path()).output().expect("git runs");
        assert!(git.status.success(), "{name}: {}\n{patch}", String::from_utf8_lossy(&git.stderr));
        for entry in std::fs::read_dir(case.join("fixed")).expect("fixed/") {
            let golden = entry.expect("a file").path();
            let patched = folder.path().join(golden.file_name().expect("a name"));
            assert_eq!(std::fs::read(&patched).ok(), std::fs::read(&golden).ok(), "{name}: {}", patched.display());
        }
    }
}

crate::tests![
    files_are_written_only_where_they_hold_what_was_compared,
    a_choice_is_applied_only_when_it_is_asked_for,
    a_rule_that_does_not_exist_is_an_error,
    git_applies_the_printed_patch
];

/// One test for each case.
pub fn case_tests() -> Vec<Trial> {
    let case = |folder: PathBuf| {
        crate::trial(crate::case_name("fixes", &folder), move || {
            let wrong = check(&folder);
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        })
    };
    crate::case_folders("fix").into_iter().map(case).collect()
}
