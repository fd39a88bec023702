//! The hooks of `.pre-commit-hooks.yaml`, run by the real pre-commit: `PIPELINT_PRE_COMMIT="$(.ci/pre-commit)" cargo test --test it --
//! pre_commit --ignored`. Each hook runs as it is declared, but for its language: the binary is the one under test.

use serde_yaml::Mapping;
use std::path::{Path, PathBuf};
use std::process::Command;

const NEEDS: &str = "PIPELINT_PRE_COMMIT names the program: see .ci/pre-commit";
const ORDERS: &str = "CREATE OR REFRESH STREAMING TABLE orders AS SELECT id, ts FROM STREAM(raw.orders);\n";

/// The pipeline with another source: an error at the next update.
fn broken() -> String {
    ORDERS.replace("raw.orders)", "raw.orders) UNION ALL SELECT id, ts FROM STREAM(raw.more)")
}

struct Repository(tempfile::TempDir);

impl Repository {
    /// One commit with the pipeline, and a hook installed.
    fn with_hook(id: &str) -> Self {
        let repository = Repository(tempfile::tempdir().expect("a folder"));
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/.pre-commit-hooks.yaml"));
        let hooks: Vec<Mapping> = serde_yaml::from_str(&text.expect("the hooks")).expect("a list of hooks");
        let mut hook = hooks.into_iter().find(|hook| hook["id"].as_str() == Some(id)).expect("the hook");
        hook.insert("language".into(), "system".into());
        hook.insert("verbose".into(), true.into());
        let hook = serde_yaml::to_string(&hook).expect("YAML").replace('\n', "\n        ");
        repository.write(
            ".pre-commit-config.yaml",
            &format!("repos:\n  - repo: local\n    hooks:\n      - {}\n", hook.trim_end()),
        );
        repository.write("orders.sql", ORDERS);
        repository.git(&["add", "."]);
        repository.git(&["commit", "--quiet", "-m", "first"]);
        let (code, output) = repository.pre_commit(&["install"]);
        assert_eq!(code, 0, "{output}");
        repository
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).expect("the file can be written");
    }

    /// A command with the tested binary first on the path.
    fn command(&self, program: &Path) -> Command {
        let own = Path::new(env!("CARGO_BIN_EXE_pipelint")).parent().expect("a folder").to_path_buf();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([own].into_iter().chain(std::env::split_paths(&path))).expect("a path");
        let mut command = Command::new(program);
        command.current_dir(self.path()).env("PATH", path).env("PRE_COMMIT_HOME", self.path().join(".git/pre-commit"));
        for (name, value) in [("NAME", "Ada"), ("EMAIL", "ada@example.org")] {
            command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
        }
        // The suite may itself run under a CI service or a hook.
        for name in ["GITHUB_BASE_REF", "GIT_INDEX_FILE", "GIT_DIR", "PRE_COMMIT"] {
            command.env_remove(name);
        }
        command
    }

    fn run(mut command: Command) -> (i32, String) {
        let out = command.output().expect("the program runs");
        let text = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        (out.status.code().unwrap_or(-1), text)
    }

    fn try_git(&self, arguments: &[&str]) -> (i32, String) {
        let mut command = self.command(Path::new("git"));
        command.args(arguments);
        Self::run(command)
    }

    fn git(&self, arguments: &[&str]) {
        let (code, output) = self.try_git(arguments);
        assert_eq!(code, 0, "git {arguments:?}: {output}");
    }

    fn pre_commit(&self, arguments: &[&str]) -> (i32, String) {
        let mut command = self.command(&PathBuf::from(std::env::var_os("PIPELINT_PRE_COMMIT").expect(NEEDS)));
        command.args(arguments);
        Self::run(command)
    }

    /// The broken pipeline is committed past the hook.
    fn commit_broken(&self) {
        self.write("orders.sql", &broken());
        self.git(&["commit", "--quiet", "--no-verify", "-am", "broken"]);
    }
}

fn assert_found((code, output): (i32, String), what: &str) {
    assert!(code == 1 && output.contains(what) && !output.contains("Skipped"), "{code}: {output}");
}

fn assert_passed((code, output): (i32, String)) {
    assert!(code == 0 && !output.contains("Skipped"), "{code}: {output}");
}

fn a_commit_is_judged_by_what_is_staged() {
    let repository = Repository::with_hook("pipelint");
    repository.write("orders.sql", &broken());
    repository.write("README.md", "text\n");
    repository.git(&["add", "README.md"]);
    assert_passed(repository.try_git(&["commit", "-m", "text alone, the change is not staged"]));
    assert_found(repository.try_git(&["commit", "-am", "broken"]), "source-added");
    assert_passed(repository.try_git(&["commit", "--allow-empty", "-m", "nothing"]));
}

fn a_deleted_pipeline_is_judged() {
    let repository = Repository::with_hook("pipelint");
    repository.write("other.sql", &ORDERS.replace("orders AS", "other AS"));
    repository.git(&["add", "."]);
    repository.git(&["commit", "--quiet", "--no-verify", "-m", "another"]);
    repository.git(&["rm", "--quiet", "orders.sql"]);
    let (_, output) = repository.try_git(&["commit", "-m", "deleted"]);
    assert!(output.contains("orders") && !output.contains("Skipped"), "{output}");
}

fn revisions_that_are_named_are_compared() {
    let repository = Repository::with_hook("pipelint");
    repository.commit_broken();
    repository.git(&["commit", "--quiet", "--no-verify", "--allow-empty", "-m", "further"]);
    assert_found(repository.pre_commit(&["run", "--from-ref", "HEAD~2", "--to-ref", "HEAD"]), "source-added");
    assert_passed(repository.pre_commit(&["run", "--from-ref", "HEAD~1", "--to-ref", "HEAD"]));
}

fn a_run_over_all_files_judges_the_last_commit() {
    let repository = Repository::with_hook("pipelint");
    assert_passed(repository.pre_commit(&["run", "--all-files"]));
    repository.commit_broken();
    assert_found(repository.pre_commit(&["run", "--all-files"]), "source-added");
}

fn an_amended_commit_is_judged_whole() {
    let repository = Repository::with_hook("pipelint");
    repository.commit_broken();
    assert_found(repository.try_git(&["commit", "--amend", "--no-edit"]), "source-added");
    repository.git(&["config", "alias.again", "commit --amend --no-edit"]);
    assert_found(repository.try_git(&["again"]), "source-added");
    repository.write("orders.sql", ORDERS);
    assert_passed(repository.try_git(&["commit", "--amend", "--no-edit", "--allow-empty", "-a"]));
}

fn a_push_is_judged() {
    let repository = Repository::with_hook("pipelint");
    repository.git(&["init", "--quiet", "--bare", ".git/remote.git"]);
    repository.git(&["remote", "add", "origin", ".git/remote.git"]);
    repository.git(&["push", "--quiet", "--no-verify", "origin", "main"]);
    let (code, output) = repository.pre_commit(&["install", "--hook-type", "pre-push"]);
    assert_eq!(code, 0, "{output}");
    repository.commit_broken();
    assert_found(repository.try_git(&["push", "origin", "main"]), "source-added");
}

fn the_lint_hook_judges_the_index() {
    let repository = Repository::with_hook("pipelint-lint");
    let doubling = "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n\
                    spark.table(\"a\").write.mode(\"append\").saveAsTable(\"b\")\n";
    repository.write("job.py", doubling);
    assert_passed(repository.pre_commit(&["run"]));
    repository.git(&["add", "job.py"]);
    repository.write("job.py", "# repaired, and not staged\n");
    let (code, output) = repository.pre_commit(&["run", "--verbose"]);
    assert!(output.contains("job.py"), "{code}: {output}");
}

crate::tests![; ignored: a_commit_is_judged_by_what_is_staged, a_deleted_pipeline_is_judged, revisions_that_are_named_are_compared, a_run_over_all_files_judges_the_last_commit, an_amended_commit_is_judged_whole, a_push_is_judged, the_lint_hook_judges_the_index];
