//! Repositories whose objects are not all there, and outputs that take nothing: an error that says so, and an end.

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn git(folder: &Path, arguments: &[&str]) -> String {
    let out = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("git runs");
    assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

/// Two commits of one pipeline; the second changes its filter.
fn repository(folder: &Path) {
    std::fs::create_dir_all(folder.join("p")).expect("a folder");
    git(folder, &["init", "-q"]);
    for limit in [1, 2] {
        let text = format!(
            "CREATE OR REFRESH STREAMING TABLE orders AS SELECT id, ts FROM STREAM(raw.orders) WHERE id > {limit};\n"
        );
        std::fs::write(folder.join("p/orders.sql"), text).expect("the pipeline");
        git(folder, &["add", "-A"]);
        git(folder, &["commit", "-q", "-m", "a change"]);
    }
    git(folder, &["config", "uploadpack.allowfilter", "true"]);
}

fn diff(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pipelint"));
    command.args(["diff", "HEAD~1..HEAD"]).current_dir(folder).stdin(Stdio::null());
    command
}

fn said(out: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

fn a_clone_without_blobs_says_how_to_get_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let (origin, clone) = (folder.path().join("origin"), folder.path().join("clone"));
    repository(&origin);
    let url = format!("file://{}", origin.display());
    git(folder.path(), &["clone", "-q", "--filter=blob:none", "--no-checkout", &url, "clone"]);
    let out = diff(&clone).output().expect("pipelint runs");
    assert_ne!(out.status.code(), Some(0));
    assert!(said(&out).contains("not in this clone") && said(&out).contains("git fetch --refetch"), "{}", said(&out));
}

/// A blob or a listing that is cut off anywhere: the side is not read, and nothing is taken for absent.
fn a_truncated_object_is_an_error() {
    for object in ["HEAD~1:p/orders.sql", "HEAD:p/orders.sql", "HEAD~1:p"] {
        let folder = tempfile::tempdir().expect("a folder");
        repository(folder.path());
        let id = git(folder.path(), &["rev-parse", object]);
        let (start, rest) = id.split_at(2);
        let path = folder.path().join(".git/objects").join(start).join(rest);
        let whole = std::fs::read(&path).expect("a loose object");
        for length in [0, 1, whole.len() / 2, whole.len() - 1] {
            std::fs::remove_file(&path).expect("it can be replaced");
            std::fs::write(&path, &whole[..length]).expect("it can be replaced");
            let out = diff(folder.path()).output().expect("pipelint runs");
            assert!(matches!(out.status.code(), Some(1 | 2)), "{object}, {length} bytes: {}", said(&out));
            assert!(!said(&out).contains("met a bug"), "{object}, {length} bytes: {}", said(&out));
        }
    }
}

fn an_output_that_is_full_or_closed_is_no_bug() {
    let folder = tempfile::tempdir().expect("a folder");
    repository(folder.path());
    if let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") {
        let out = diff(folder.path()).stdout(full).output().expect("pipelint runs");
        assert_eq!(out.status.code(), Some(2));
        assert!(said(&out).contains("cannot write to standard output"), "{}", said(&out));
    }
    let mut child = diff(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("pipelint runs");
    drop(child.stdout.take());
    let out = child.wait_with_output().expect("it ends");
    assert!(out.status.code().is_some() && !said(&out).contains("panicked"), "{}", said(&out));
}

crate::tests![
    a_clone_without_blobs_says_how_to_get_them,
    a_truncated_object_is_an_error,
    an_output_that_is_full_or_closed_is_no_bug,
];
