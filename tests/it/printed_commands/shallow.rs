//! In a shallow clone the printed fetch brings what was missing.

use std::path::Path;
use std::process::Command;

const ORDERS: &str = "CREATE OR REFRESH STREAMING TABLE orders AS SELECT id, ts FROM STREAM(raw.orders);\n";

fn git(folder: &Path, arguments: &[&str]) -> String {
    let out = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("git runs");
    assert!(out.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

/// Two branches that parted a hundred commits ago.
fn origin(folder: &Path) {
    std::fs::create_dir_all(folder).expect("a folder");
    git(folder, &["init", "--quiet"]);
    std::fs::write(folder.join("orders.sql"), ORDERS).expect("a file");
    git(folder, &["add", "."]);
    git(folder, &["commit", "--quiet", "-m", "first"]);
    git(folder, &["branch", "change"]);
    for branch in ["main", "change"] {
        git(folder, &["switch", "--quiet", branch]);
        for _ in 0..60 {
            git(folder, &["commit", "--quiet", "--allow-empty", "-m", "further"]);
        }
    }
    std::fs::write(folder.join("orders.sql"), ORDERS.replace("id, ts", "id, ts, 1 AS n")).expect("a file");
    git(folder, &["commit", "--quiet", "-am", "a column"]);
    // As hosting services allow it.
    git(folder, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
}

/// Runs pipelint, and the fetch that it names, until it needs none; gives how many were run.
fn follow(work: &Path, range: &str) -> usize {
    for round in 0..4 {
        let out = Command::new(env!("CARGO_BIN_EXE_pipelint")).args(["diff", range]).current_dir(work).output();
        let out = out.expect("pipelint runs");
        let errors = String::from_utf8_lossy(&out.stderr).into_owned();
        if out.status.code() != Some(2) {
            assert!(String::from_utf8_lossy(&out.stdout).contains("orders"), "{range}");
            return round;
        }
        let command = errors.split('`').find(|part| part.starts_with("git ")).unwrap_or_else(|| panic!("{errors}"));
        let run = Command::new("sh").arg("-c").arg(command).current_dir(work).output().expect("a shell runs");
        assert!(run.status.success(), "{command}: {}", String::from_utf8_lossy(&run.stderr));
    }
    panic!("{range}: the printed fetches do not bring what is missing");
}

fn the_printed_fetch_brings_what_is_missing() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("origin");
    origin(&source);
    let url = format!("file://{}", source.display());
    let main = git(&source, &["rev-parse", "main"]);
    let ranges = ["origin/main...HEAD", "HEAD~10..HEAD", &format!("{main}...HEAD"), &format!("{main}..HEAD")];
    for (index, range) in ranges.into_iter().enumerate() {
        let name = format!("work{index}");
        git(folder.path(), &["clone", "--quiet", "--depth=1", "--branch=change", &url, &name]);
        assert!(follow(&folder.path().join(name), range) > 0, "{range} was there from the start");
    }
}

crate::tests![the_printed_fetch_brings_what_is_missing];
