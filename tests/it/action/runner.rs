//! A runner's folders, files and variables, and the action's steps run in them.

use super::ORDERS;
use super::api::StandIn;
use serde_yaml::Value as Yaml;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A runner's folders and files.
pub struct Runner {
    pub folder: tempfile::TempDir,
    pub server: StandIn,
}

impl Runner {
    pub fn new() -> Self {
        Runner { folder: tempfile::tempdir().expect("a folder"), server: StandIn::start() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a step of the action in a folder, with what the runner would set and the step's own variables.
    pub fn step(&self, script: &str, cwd: &Path, variables: &[(&str, &str)]) -> Output {
        let root = env!("CARGO_MANIFEST_DIR");
        let mut command = self.shell(cwd);
        let (script, arguments) = script.split_once(' ').unwrap_or((script, ""));
        command
            .arg(format!("{root}/action/{script}"))
            .args(arguments.split_whitespace())
            .env("GITHUB_TOKEN", "secret-token");
        command
            .env("PIPELINT_ACTION_PATH", root)
            .env("PIPELINT_BIN", env!("CARGO_BIN_EXE_pipelint"))
            .env("PIPELINT_PR_NUMBER", "7")
            .envs(variables.iter().copied())
            .output()
            .expect("bash runs")
    }

    /// Bash with what a runner sets for every step.
    fn shell(&self, cwd: &Path) -> Command {
        let mut command = Command::new("bash");
        command
            .current_dir(cwd)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .env("RUNNER_TEMP", self.path("temp"))
            .env("GITHUB_OUTPUT", self.path("output"))
            .env("GITHUB_STEP_SUMMARY", self.path("summary"))
            .env("GITHUB_API_URL", &self.server.url)
            .env("GITHUB_REPOSITORY", "o/r");
        command
    }

    /// The last value of an output.
    pub fn output(&self, name: &str) -> String {
        let text = std::fs::read_to_string(self.path("output")).unwrap_or_default();
        let prefix = format!("{name}=");
        text.lines().rev().find_map(|line| line.strip_prefix(&prefix)).unwrap_or_default().to_owned()
    }

    pub fn comment(&self, exit_code: &str, clear: &str, markdown: &str) -> Output {
        let file = self.path("report.md");
        std::fs::write(&file, markdown).expect("a new file");
        let file = file.display().to_string();
        let variables =
            [("PIPELINT_EXIT_CODE", exit_code), ("PIPELINT_CLEAR", clear), ("PIPELINT_MARKDOWN", file.as_str())];
        self.step("comment.sh", self.folder.path(), &variables)
    }

    /// Serves a release of this package's version whose binary is the one under test, with a digest that may be wrong.
    pub fn publish(&self, right_digest: bool) {
        let content = self.path("content");
        std::fs::create_dir_all(&content).expect("a new folder");
        let script = format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_pipelint"));
        self.serve(env!("CARGO_PKG_VERSION"), &script, right_digest);
    }

    /// Serves a release with a script in place of the binary.
    pub fn serve(&self, version: &str, script: &str, right_digest: bool) {
        let content = self.path("content");
        std::fs::create_dir_all(&content).expect("a new folder");
        std::fs::write(content.join("pipelint"), script).expect("a new file");
        Command::new("chmod").arg("+x").arg(content.join("pipelint")).status().expect("chmod runs");
        let name = format!("pipelint-{version}-x86_64-unknown-linux-gnu.tar.gz");
        let archive = self.path(&name);
        let tar = Command::new("tar").arg("-czf").arg(&archive).arg("-C").arg(&content).arg("pipelint").status();
        assert!(tar.expect("tar runs").success());
        let bytes = std::fs::read(&archive).expect("the archive");
        let digest: String = match right_digest {
            true => Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect(),
            false => "0".repeat(64),
        };
        let mut api = self.server.api.lock().expect("no panic before");
        api.files.insert(format!("/releases/v{version}/SHA256SUMS"), format!("{digest}  {name}\n").into_bytes());
        api.files.insert(format!("/releases/v{version}/{name}"), bytes);
    }

    /// Runs the steps that `action.yml` lists, in their order, each with the environment that it asks for, until one fails.
    pub fn action(&self, cwd: &Path, event: &Event) -> Run {
        let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/action.yml")).expect("the action");
        let action: Yaml = serde_yaml::from_str(&text).expect("YAML");
        let mut run = Run { code: 0, stdout: String::new(), steps: Vec::new(), outputs: BTreeMap::new() };
        for step in action["runs"]["steps"].as_sequence().expect("steps") {
            let id = step["id"].as_str().expect("an id").to_owned();
            let is_wanted = match step["if"].as_str() {
                None => true,
                Some("inputs.comment == 'true' && github.event.pull_request.number != ''") => {
                    event.input(&action, "comment") == "true" && event.is_pull_request()
                }
                Some("steps.install.outputs.bin == ''") => !run.outputs.contains_key("install.bin"),
                Some(other) => panic!("the action asks {other}, which a runner of these tests does not know"),
            };
            if !is_wanted {
                continue;
            }
            // Another action: the cache, which is empty here.
            if step["uses"].is_string() {
                run.steps.push(id);
                continue;
            }
            let output = self.path(&format!("output-{id}"));
            let _ = std::fs::remove_file(&output);
            let mut command = self.shell(cwd);
            command.arg("-c").arg(step["run"].as_str().expect("a command")).env("GITHUB_OUTPUT", &output);
            command.env("PIPELINT_RELEASES", format!("{}/releases", self.server.url));
            for (name, value) in step["env"].as_mapping().expect("an environment") {
                let value = value.as_str().expect("a text");
                let expression =
                    value.strip_prefix("${{ ").and_then(|rest| rest.strip_suffix(" }}")).expect("one expression");
                command.env(name.as_str().expect("a name"), event.value(&action, &run, expression));
            }
            let out = command.output().expect("bash runs");
            run.stdout.push_str(&String::from_utf8_lossy(&out.stdout));
            let written = std::fs::read_to_string(&output).unwrap_or_default();
            for (name, value) in written.lines().filter_map(|line| line.split_once('=')) {
                run.outputs.insert(format!("{id}.{name}"), value.to_owned());
            }
            run.steps.push(id);
            run.code = out.status.code().expect("an exit code");
            if run.code != 0 {
                break;
            }
        }
        run
    }
}

/// What came of a run of the whole action.
pub struct Run {
    /// Of the last step.
    pub code: i32,
    pub stdout: String,
    /// Ids of the steps that ran.
    pub steps: Vec<String>,
    /// By step and name.
    pub outputs: BTreeMap<String, String>,
}

/// The event, a pull request where it has no name, and the inputs that the workflow gives.
#[derive(Default)]
pub struct Event<'a> {
    pub name: &'a str,
    /// Of the event: a pull request's, a queue's, or those that a push names.
    pub base: &'a str,
    pub head: &'a str,
    /// As JSON.
    pub labels: &'a str,
    pub fork: bool,
    pub inputs: &'a [(&'a str, &'a str)],
}

impl Event<'_> {
    fn is_pull_request(&self) -> bool {
        self.name.is_empty() || self.name.starts_with("pull_request")
    }

    fn input(&self, action: &Yaml, name: &str) -> String {
        let default = &action["inputs"][name]["default"];
        let given = self.inputs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        given.unwrap_or_else(|| default.as_str().expect("an input").to_owned())
    }

    /// The value of an expression, as far as the action uses them.
    fn value(&self, action: &Yaml, run: &Run, expression: &str) -> String {
        if let Some(name) = expression.strip_prefix("inputs.") {
            let value = self.input(action, name);
            // A fork's token may read and nothing else; here it is no token at all.
            return if value == "${{ github.token }}" && !self.fork { "secret-token".to_owned() } else { value };
        }
        if let Some((first, second)) = expression.split_once(" || ") {
            let value = self.value(action, run, first);
            return if value.is_empty() { self.value(action, run, second) } else { value };
        }
        if let Some((step, name)) = expression.strip_prefix("steps.").and_then(|rest| rest.split_once(".outputs.")) {
            return run.outputs.get(&format!("{step}.{name}")).cloned().unwrap_or_default();
        }
        let of = |name: &str, value: &str| {
            let named = self.name == name || name == "pull_request" && self.is_pull_request();
            if named { value.to_owned() } else { String::new() }
        };
        match expression {
            "github.action_path" => env!("CARGO_MANIFEST_DIR").to_owned(),
            "github.event_name" if self.name.is_empty() => "pull_request".to_owned(),
            "github.event_name" => self.name.to_owned(),
            "github.event.repository.default_branch" => "main".to_owned(),
            "github.event.pull_request.base.sha" => of("pull_request", self.base),
            "github.event.pull_request.head.sha" => of("pull_request", self.head),
            "github.event.merge_group.base_sha" => of("merge_group", self.base),
            "github.event.merge_group.head_sha" => of("merge_group", self.head),
            "github.event.before" => of("push", self.base),
            "github.event.after" => of("push", self.head),
            "github.event.pull_request.number" => of("pull_request", "7"),
            "github.event.pull_request.head.repo.fork" => self.fork.to_string(),
            "toJSON(github.event.pull_request.labels.*.name)" => {
                if self.labels.is_empty() {
                    "[]".to_owned()
                } else {
                    self.labels.to_owned()
                }
            }
            _ => panic!("the action uses {expression}, which a runner of these tests does not know"),
        }
    }
}

pub fn git(cwd: &Path, args: &[&str]) -> String {
    let out = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"])
        .args(args)
        .current_dir(cwd)
        .output()
        .expect("git runs");
    assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

pub fn commit(cwd: &Path, text: &str) -> String {
    std::fs::write(cwd.join("orders.sql"), text).expect("a new file");
    git(cwd, &["add", "."]);
    git(cwd, &["commit", "--quiet", "--allow-empty", "-m", "x"]);
    git(cwd, &["rev-parse", "HEAD"])
}

/// A repository with a base branch that went on, and a pull request that adds a source.
pub fn repository(cwd: &Path) -> (String, String) {
    std::fs::create_dir_all(cwd).expect("a new folder");
    git(cwd, &["init", "--quiet"]);
    commit(cwd, ORDERS);
    git(cwd, &["switch", "--quiet", "-c", "change"]);
    let head = commit(cwd, &ORDERS.replace("raw.orders)", "raw.orders) UNION ALL SELECT id, ts FROM STREAM(raw.more)"));
    git(cwd, &["switch", "--quiet", "main"]);
    let base = commit(cwd, &format!("-- further\n{ORDERS}"));
    (base, head)
}
