//! The recipes of `docs/src/ci.md`, run as their services would run them, up to the installation: the binary is the one under test.

use super::runner::{Runner, git, repository};
use serde_yaml::Value as Yaml;
use std::path::Path;
use std::process::Command;

const PAGE: &str = include_str!("../../../docs/src/ci.md");

/// The YAML of a section.
fn recipe(section: &str) -> Yaml {
    let (_, text) = PAGE.split_once(&format!("## {section}\n")).expect("the section");
    let (_, text) = text.split_once("```yaml\n").expect("its recipe");
    let (yaml, _) = text.split_once("```\n").expect("its end");
    serde_yaml::from_str(yaml).expect("YAML")
}

fn lines(value: &Yaml) -> Vec<String> {
    value.as_sequence().expect("a list").iter().filter_map(|line| line.as_str().map(str::to_owned)).collect()
}

/// Runs a recipe's commands in a full clone of a pull request that breaks a table; gives the exit code and what was printed.
fn run(runner: &Runner, commands: &[String], variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let own = Path::new(env!("CARGO_BIN_EXE_pipelint")).parent().expect("a folder").to_path_buf();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([own].into_iter().chain(std::env::split_paths(&path))).expect("a path");
    // What installs is left out.
    let script: Vec<&str> =
        commands.iter().map(String::as_str).filter(|line| !line.contains("cargo install")).collect();
    let out = Command::new("bash")
        .args(["-e", "-c", &script.join("\n")])
        .current_dir(runner.path("work"))
        .env_clear()
        .env("HOME", runner.folder.path())
        .env("PATH", path)
        .envs(variables.iter().copied())
        .output()
        .expect("bash runs");
    let text = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    (out.status.code(), text)
}

fn clone(runner: &Runner) -> (String, String) {
    let (_, head) = repository(&runner.path("origin"));
    git(runner.folder.path(), &["clone", "--quiet", "--branch=change", "origin", "work"]);
    let base = git(&runner.path("work"), &["merge-base", "origin/main", "HEAD"]);
    (base, head)
}

fn has(runner: &Runner, file: &str, part: &str) {
    let text = std::fs::read_to_string(runner.path(file)).expect("the report is written");
    assert!(text.contains(part), "{file} lacks {part}:\n{text}");
}

fn gitlab() {
    let runner = Runner::new();
    let (base, head) = clone(&runner);
    let commands = lines(&recipe("GitLab")["pipelint"]["script"]);
    let variables = [("CI_MERGE_REQUEST_DIFF_BASE_SHA", base.as_str()), ("CI_COMMIT_SHA", head.as_str())];
    let (code, text) = run(&runner, &commands, &variables);
    assert_eq!(code, Some(1), "{text}");
    let report = std::fs::read_to_string(runner.path("work/gl-code-quality-report.json")).expect("the report");
    let entries: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    // What GitLab asks of each entry.
    for entry in entries.as_array().expect("a list") {
        assert!(entry["description"].is_string() && entry["check_name"].is_string(), "{entry}");
        assert!(entry["fingerprint"].is_string() && entry["location"]["path"].is_string(), "{entry}");
        assert!(entry["location"]["lines"]["begin"].is_u64(), "{entry}");
        let known = ["info", "minor", "major", "critical", "blocker"];
        assert!(entry["severity"].as_str().is_some_and(|severity| known.contains(&severity)), "{entry}");
    }
    has(&runner, "work/junit.xml", "<testsuite");
    has(&runner, "work/pipelint.html", "</html>");
}

fn azure_devops() {
    let runner = Runner::new();
    clone(&runner);
    std::fs::create_dir(runner.path("staging")).expect("a folder");
    let steps = recipe("Azure DevOps")["steps"].clone();
    let scripts = steps.as_sequence().expect("steps").iter().filter_map(|step| step["bash"].as_str());
    let commands: Vec<String> = scripts.map(str::to_owned).collect();
    let (staging, workspace) = (runner.path("staging").display().to_string(), runner.path("x").display().to_string());
    let variables = [
        ("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main"),
        ("BUILD_ARTIFACTSTAGINGDIRECTORY", staging.as_str()),
        ("PIPELINE_WORKSPACE", workspace.as_str()),
    ];
    let (code, text) = run(&runner, &commands, &variables);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("source-added"), "{text}");
    has(&runner, "staging/pipelint.xml", "<testsuite");
    has(&runner, "staging/pipelint.sarif", "2.1.0");
    has(&runner, "staging/pipelint.html", "</html>");
}

fn bitbucket() {
    let runner = Runner::new();
    clone(&runner);
    let root = recipe("Bitbucket");
    let commands = lines(&root["pipelines"]["pull-requests"]["**"][0]["step"]["script"]);
    let work = runner.path("work").display().to_string();
    let variables = [("BITBUCKET_CLONE_DIR", work.as_str()), ("BITBUCKET_PR_DESTINATION_BRANCH", "main")];
    let (code, text) = run(&runner, &commands, &variables);
    assert_eq!(code, Some(1), "{text}");
    has(&runner, "work/test-results/pipelint.xml", "<testsuite");
    has(&runner, "work/pipelint.html", "</html>");
}

/// The page shows the workflow that `pipelint init` writes, and a hook that exists.
fn the_page_shows_what_init_writes() {
    let version = format!("v{}", env!("CARGO_PKG_VERSION"));
    let workflow = include_str!("../../../src/cli/init/workflow.yml").replace("vVERSION", &version);
    let written: Yaml = serde_yaml::from_str(&workflow).expect("YAML");
    assert_eq!(recipe("GitHub"), written);
    let hooks: Yaml = serde_yaml::from_str(include_str!("../../../.pre-commit-hooks.yaml")).expect("YAML");
    let shown = &recipe("pre-commit")["repos"][0]["hooks"][0]["id"];
    assert!(hooks.as_sequence().expect("a list").iter().any(|hook| hook["id"] == *shown), "{shown:?}");
}

crate::tests![gitlab, azure_devops, bitbucket, the_page_shows_what_init_writes];
