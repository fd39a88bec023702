//! The GitHub Action's own steps, run as a runner would: `GITHUB_*` files, a repository, and a stand-in for the API on loopback
//! that keeps comments and serves releases. Needs bash, git, curl and jq.

#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, clippy::panic)] // a test says what is wrong by failing

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

const MARKER: &str = "<!-- pipelint:report -->";
const ORDERS: &str = "CREATE OR REFRESH STREAMING TABLE orders AS SELECT id, ts FROM STREAM(raw.orders);\n";

/// What the stand-in holds.
#[derive(Default)]
struct Api {
    /// Id, body and kind of author.
    comments: Vec<(u64, String, &'static str)>,
    files: BTreeMap<String, Vec<u8>>,
    /// Method and path of each request.
    requests: Vec<String>,
}

#[derive(Clone)]
struct StandIn {
    url: String,
    api: Arc<Mutex<Api>>,
}

impl StandIn {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let api = Arc::new(Mutex::new(Api::default()));
        let shared = Arc::clone(&api);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(stream, &shared);
            }
        });
        StandIn { url, api }
    }

    fn bodies(&self) -> Vec<String> {
        self.api.lock().expect("no panic before").comments.iter().map(|(_, body, _)| body.clone()).collect()
    }
}

fn answer(mut stream: TcpStream, api: &Mutex<Api>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
    let mut first = String::new();
    reader.read_line(&mut first).expect("a request");
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a header");
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a number");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("the body");
    let mut words = first.split_whitespace();
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (status, reply) = respond(method, path, &body, &mut api.lock().expect("no panic before"));
    let head = format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", reply.len());
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&reply));
}

fn respond(method: &str, path: &str, body: &[u8], api: &mut Api) -> (u16, Vec<u8>) {
    api.requests.push(format!("{method} {path}"));
    let text = || -> String {
        let value: Value = serde_json::from_slice(body).expect("JSON");
        value["body"].as_str().expect("a body").to_owned()
    };
    let (route, query) = path.split_once('?').unwrap_or((path, ""));
    match (method, route) {
        ("GET", "/repos/o/r/issues/7/comments") => {
            let page: usize = query.rsplit("page=").next().and_then(|n| n.parse().ok()).expect("a page");
            let listed = api.comments.iter().skip((page - 1) * 100).take(100);
            let list: Vec<Value> =
                listed.map(|(id, body, kind)| json!({ "id": id, "body": body, "user": { "type": kind } })).collect();
            (200, Value::Array(list).to_string().into_bytes())
        }
        ("POST", "/repos/o/r/issues/7/comments") => {
            let id = 1000 + api.comments.len() as u64;
            api.comments.push((id, text(), "Bot"));
            (201, b"{}".to_vec())
        }
        ("PATCH", _) => {
            let id: u64 = route.rsplit('/').next().and_then(|id| id.parse().ok()).expect("an id");
            let body = text();
            let comment = api.comments.iter_mut().find(|(known, ..)| *known == id).expect("a known comment");
            comment.1 = body;
            (200, b"{}".to_vec())
        }
        ("GET", file) => match api.files.get(file) {
            Some(bytes) => (200, bytes.clone()),
            None => (404, Vec::new()),
        },
        _ => (405, Vec::new()),
    }
}

/// A runner's folders and files.
struct Runner {
    folder: tempfile::TempDir,
    server: StandIn,
}

impl Runner {
    fn new() -> Self {
        Runner { folder: tempfile::tempdir().expect("a folder"), server: StandIn::start() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a step of the action in a folder, with what the runner would set and the step's own variables.
    fn step(&self, script: &str, cwd: &Path, variables: &[(&str, &str)]) -> Output {
        let root = env!("CARGO_MANIFEST_DIR");
        Command::new("bash")
            .arg(format!("{root}/action/{script}"))
            .current_dir(cwd)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .env("RUNNER_TEMP", self.path("temp"))
            .env("GITHUB_OUTPUT", self.path("output"))
            .env("GITHUB_STEP_SUMMARY", self.path("summary"))
            .env("GITHUB_API_URL", &self.server.url)
            .env("GITHUB_REPOSITORY", "o/r")
            .env("GITHUB_TOKEN", "secret-token")
            .env("PIPELINT_ACTION_PATH", root)
            .env("PIPELINT_BIN", env!("CARGO_BIN_EXE_pipelint"))
            .env("PIPELINT_PR_NUMBER", "7")
            .envs(variables.iter().copied())
            .output()
            .expect("bash runs")
    }

    /// The last value of an output.
    fn output(&self, name: &str) -> String {
        let text = std::fs::read_to_string(self.path("output")).unwrap_or_default();
        let prefix = format!("{name}=");
        text.lines().rev().find_map(|line| line.strip_prefix(&prefix)).unwrap_or_default().to_owned()
    }

    fn comment(&self, exit_code: &str, findings: &str, markdown: &str) -> Output {
        let file = self.path("report.md");
        std::fs::write(&file, markdown).expect("a new file");
        let file = file.display().to_string();
        let variables =
            [("PIPELINT_EXIT_CODE", exit_code), ("PIPELINT_FINDINGS", findings), ("PIPELINT_MARKDOWN", file.as_str())];
        self.step("comment.sh", self.folder.path(), &variables)
    }
}

fn git(cwd: &Path, args: &[&str]) -> String {
    let out = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"])
        .args(args)
        .current_dir(cwd)
        .output()
        .expect("git runs");
    assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

fn commit(cwd: &Path, text: &str) -> String {
    std::fs::write(cwd.join("orders.sql"), text).expect("a new file");
    git(cwd, &["add", "."]);
    git(cwd, &["commit", "--quiet", "--allow-empty", "-m", "x"]);
    git(cwd, &["rev-parse", "HEAD"])
}

/// A repository with a base branch that went on, and a pull request that adds a source.
fn repository(cwd: &Path) -> (String, String) {
    std::fs::create_dir_all(cwd).expect("a new folder");
    git(cwd, &["init", "--quiet"]);
    commit(cwd, ORDERS);
    git(cwd, &["switch", "--quiet", "-c", "change"]);
    let head = commit(cwd, &ORDERS.replace("raw.orders)", "raw.orders) UNION ALL SELECT id, ts FROM STREAM(raw.more)"));
    git(cwd, &["switch", "--quiet", "main"]);
    let base = commit(cwd, &format!("-- further\n{ORDERS}"));
    (base, head)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn one_comment_is_made_updated_and_cleared() {
    let runner = Runner::new();
    {
        let mut api = runner.server.api.lock().expect("no panic before");
        // A person has pasted the marker, and there is more than one page of talk.
        api.comments.push((1, format!("{MARKER}\nmine"), "User"));
        api.comments.extend((2..=120).map(|id| (id, "talk".to_owned(), "User")));
    }
    assert!(runner.comment("0", "0", "").status.success());
    assert_eq!(runner.server.bodies().len(), 120, "a clean run starts no comment");
    for (exit_code, findings, markdown, wanted) in [
        ("1", "1", "first", "first"),
        ("1", "2", "second", "second"),
        ("0", "0", "", "**pipelint: all clear.**"),
        ("2", "0", "", "could not judge"),
    ] {
        let out = runner.comment(exit_code, findings, markdown);
        assert!(out.status.success(), "{}", text(&out.stderr));
        let bodies = runner.server.bodies();
        assert_eq!(bodies.len(), 121, "never more than one");
        assert!(bodies[120].starts_with(MARKER) && bodies[120].contains(wanted), "{}", bodies[120]);
        assert_eq!(bodies[0], format!("{MARKER}\nmine"));
        assert!(!text(&out.stdout).contains("secret-token") && !text(&out.stderr).contains("secret-token"));
    }
}

#[test]
fn a_long_report_is_cut_and_says_so() {
    let runner = Runner::new();
    assert!(runner.comment("1", "1", &"ß".repeat(80_000)).status.success());
    let body = runner.server.bodies().remove(0);
    assert!(body.chars().count() <= 65_000, "{}", body.chars().count());
    assert!(body.contains("the whole report is in the job summary"));
}

#[test]
fn a_fork_and_a_refused_token_get_a_notice_and_no_failure() {
    let runner = Runner::new();
    let out = runner.step("comment.sh", runner.folder.path(), &[("PIPELINT_FORK", "true"), ("PIPELINT_MARKDOWN", "")]);
    assert!(out.status.success() && text(&out.stdout).contains("from a fork"));
    assert!(runner.server.api.lock().expect("no panic before").requests.is_empty());
    let out =
        runner.step("comment.sh", runner.folder.path(), &[("GITHUB_REPOSITORY", "o/none"), ("PIPELINT_MARKDOWN", "")]);
    assert!(out.status.success() && text(&out.stdout).contains("cannot be read with this token"));
}

#[test]
fn one_run_writes_every_report() {
    let runner = Runner::new();
    let work = runner.path("work");
    let (base, head) = repository(&work);
    let revisions = [("PIPELINT_PR_BASE_SHA", base.as_str()), ("PIPELINT_PR_HEAD_SHA", head.as_str())];
    assert!(runner.step("revisions.sh", &work, &revisions).status.success());
    assert_eq!(runner.output("range"), format!("{base}...{head}"));
    let out = runner.step("report.sh", &work, &[("PIPELINT_RANGE", &runner.output("range")), ("PIPELINT_TARGET", "")]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert_eq!((runner.output("exit-code"), runner.output("worst")), ("1".to_owned(), "refused".to_owned()));
    assert!(text(&out.stdout).contains("::error file=orders.sql,line=1,"), "{}", text(&out.stdout));
    for name in ["json", "sarif", "markdown"] {
        assert!(std::fs::metadata(runner.output(name)).is_ok_and(|file| file.len() > 0), "{name}");
    }
    assert!(std::fs::read_to_string(runner.path("summary")).expect("a summary").contains("source-added"));
    let out = runner.step(
        "report.sh",
        &work,
        &[("PIPELINT_RANGE", &runner.output("range")), ("PIPELINT_ANNOTATIONS", "false")],
    );
    let printed = text(&out.stdout);
    let token = printed.lines().next().and_then(|line| line.strip_prefix("::stop-commands::")).expect("commands stop");
    assert_eq!(printed.lines().last(), Some(format!("::{token}::").as_str()));
}

#[test]
fn a_shallow_checkout_is_deepened_to_the_merge_base() {
    let runner = Runner::new();
    let origin = runner.path("origin");
    let (_, head) = repository(&origin);
    for _ in 0..120 {
        git(&origin, &["commit", "--quiet", "--allow-empty", "-m", "further"]);
    }
    let base = git(&origin, &["rev-parse", "main"]);
    let url = format!("file://{}", origin.display());
    git(runner.folder.path(), &["clone", "--quiet", "--depth=1", "--branch=change", &url, "work"]);
    let work = runner.path("work");
    let variables = [("PIPELINT_PR_BASE_SHA", base.as_str()), ("PIPELINT_PR_HEAD_SHA", head.as_str())];
    let out = runner.step("revisions.sh", &work, &variables);
    assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
    assert_eq!(git(&work, &["merge-base", &base, &head]), git(&origin, &["merge-base", &base, &head]));
}

#[test]
fn hostile_inputs_run_nothing() {
    let runner = Runner::new();
    let work = runner.path("work");
    let (_, head) = repository(&work);
    for base in ["$(touch pwned)", "--upload-pack=touch pwned", "x;touch${IFS}pwned", "`touch pwned`", "a..b", "-x"] {
        let out = runner.step("revisions.sh", &work, &[("PIPELINT_BASE", base), ("PIPELINT_PR_HEAD_SHA", &head)]);
        assert_eq!(out.status.code(), Some(2), "{base}: {}", text(&out.stderr));
    }
    let range = format!("main...{head}");
    for target in ["$(touch pwned)", "--fail-on=never", "x\n::error::y"] {
        runner.step("report.sh", &work, &[("PIPELINT_RANGE", &range), ("PIPELINT_TARGET", target)]);
        assert_ne!(runner.output("exit-code"), "0", "{target}");
    }
    assert!(!work.join("pwned").exists());
}

#[test]
fn the_label_lets_findings_pass_and_no_error() {
    let runner = Runner::new();
    let labels = r#"["bug","pipelint-approved"]"#;
    for (code, labels, wanted) in
        [("0", "[]", 0), ("1", "[]", 1), ("1", labels, 0), ("2", labels, 2), ("1", "x\"]", 1), ("1", "[\"no\"]", 1)]
    {
        let variables = [
            ("PIPELINT_EXIT_CODE", code),
            ("PIPELINT_LABELS", labels),
            ("PIPELINT_APPROVAL_LABEL", "pipelint-approved"),
        ];
        let out = runner.step("verdict.sh", runner.folder.path(), &variables);
        assert_eq!(out.status.code(), Some(wanted), "{code} {labels}");
    }
}

#[test]
fn a_released_binary_is_installed_only_with_its_digest() {
    let runner = Runner::new();
    let content = runner.path("content");
    std::fs::create_dir_all(&content).expect("a new folder");
    std::fs::write(content.join("pipelint"), "#!/bin/sh\necho pipelint 9.9.9\n").expect("a new file");
    Command::new("chmod").arg("+x").arg(content.join("pipelint")).status().expect("chmod runs");
    let name = "pipelint-9.9.9-x86_64-unknown-linux-gnu.tar.gz";
    let archive = runner.path(name);
    let tar = Command::new("tar").arg("-czf").arg(&archive).arg("-C").arg(&content).arg("pipelint").status();
    assert!(tar.expect("tar runs").success());
    let bytes = std::fs::read(&archive).expect("the archive");
    let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let releases = format!("{}/releases", runner.server.url);
    let variables = [("PIPELINT_VERSION", "9.9.9"), ("PIPELINT_RELEASES", releases.as_str())];
    let serve = |sums: String| {
        let mut api = runner.server.api.lock().expect("no panic before");
        api.files.insert(format!("/releases/v9.9.9/{name}"), bytes.clone());
        api.files.insert("/releases/v9.9.9/SHA256SUMS".to_owned(), sums.into_bytes());
    };
    serve(format!("{}  {name}\n", "0".repeat(64)));
    let out = runner.step("install.sh", runner.folder.path(), &variables);
    assert_eq!(out.status.code(), Some(2), "{}", text(&out.stdout));
    assert!(runner.output("bin").is_empty());
    serve(format!("{digest}  {name}\n"));
    let out = runner.step("install.sh", runner.folder.path(), &variables);
    assert!(out.status.success() && text(&out.stdout).contains("pipelint 9.9.9"), "{}", text(&out.stderr));
    assert!(Path::new(&runner.output("bin")).is_file());
}
