//! The GitHub Action, run as a runner would: `GITHUB_*` files, a repository, and a stand-in for the API on loopback that keeps
//! comments and serves releases. Needs bash, git, curl and jq.

mod api;
pub mod recipes;
mod runner;

use runner::{Event, Runner, commit, git, repository};
use std::path::Path;

const MARKER: &str = "<!-- pipelint:report -->";
const ORDERS: &str = "CREATE OR REFRESH STREAMING TABLE orders AS SELECT id, ts FROM STREAM(raw.orders);\n";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn one_comment_is_made_updated_and_cleared() {
    let runner = Runner::new();
    {
        let mut api = runner.server.api.lock().expect("no panic before");
        // A person has pasted the marker, and there is more than one page of talk.
        api.comments.push((1, format!("{MARKER}\nmine"), "User"));
        api.comments.extend((2..=120).map(|id| (id, "talk".to_owned(), "User")));
    }
    assert!(runner.comment("0", "true", "").status.success());
    assert_eq!(runner.server.bodies().len(), 120, "a clean run starts no comment");
    for (exit_code, clear, markdown, wanted) in [
        ("1", "false", "first", "first"),
        ("1", "false", "second", "second"),
        ("0", "true", "", "**pipelint: all clear.**"),
        // A job that fails is never all clear, and neither is one that passes with something to read.
        ("1", "true", "a file that does not parse", "a file that does not parse"),
        ("0", "false", "a refresh that loses rows", "a refresh that loses rows"),
        ("2", "false", "", "could not judge"),
    ] {
        let out = runner.comment(exit_code, clear, markdown);
        assert!(out.status.success(), "{}", text(&out.stderr));
        let bodies = runner.server.bodies();
        assert_eq!(bodies.len(), 121, "never more than one");
        assert!(bodies[120].starts_with(MARKER) && bodies[120].contains(wanted), "{}", bodies[120]);
        assert_eq!(bodies[0], format!("{MARKER}\nmine"));
        assert!(!text(&out.stdout).contains("secret-token") && !text(&out.stderr).contains("secret-token"));
    }
}

fn a_long_report_is_cut_and_says_so() {
    let runner = Runner::new();
    assert!(runner.comment("1", "false", &"ß".repeat(80_000)).status.success());
    let body = runner.server.bodies().remove(0);
    assert!(body.chars().count() <= 65_000, "{}", body.chars().count());
    assert!(body.contains("the whole report is in the job summary"));
}

fn a_fork_and_a_refused_token_get_a_notice_and_no_failure() {
    let runner = Runner::new();
    let out = runner.step("comment.sh", runner.folder.path(), &[("PIPELINT_FORK", "true"), ("PIPELINT_MARKDOWN", "")]);
    assert!(out.status.success() && text(&out.stdout).contains("from a fork"));
    assert!(runner.server.api.lock().expect("no panic before").requests.is_empty());
    let out =
        runner.step("comment.sh", runner.folder.path(), &[("GITHUB_REPOSITORY", "o/none"), ("PIPELINT_MARKDOWN", "")]);
    assert!(out.status.success() && text(&out.stdout).contains("cannot be read with this token"));
}

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

fn a_released_binary_is_installed_only_with_its_digest() {
    let runner = Runner::new();
    let releases = format!("{}/releases", runner.server.url);
    let variables = [("PIPELINT_VERSION", "9.9.9"), ("PIPELINT_RELEASES", releases.as_str())];
    let script = "#!/bin/sh\necho pipelint 9.9.9\n";
    runner.serve("9.9.9", script, false);
    let out = runner.step("install.sh download", runner.folder.path(), &variables);
    assert_eq!(out.status.code(), Some(2), "{}", text(&out.stdout));
    assert!(runner.output("bin").is_empty());
    runner.serve("9.9.9", script, true);
    let out = runner.step("install.sh download", runner.folder.path(), &variables);
    assert!(out.status.success() && text(&out.stdout).contains("pipelint 9.9.9"), "{}", text(&out.stderr));
    assert!(Path::new(&runner.output("bin")).is_file());
}

/// Pull requests as a repository lives through them, by the steps that `action.yml` lists.
fn the_whole_action_judges_comments_and_clears() {
    let runner = Runner::new();
    runner.publish(true);
    let work = runner.path("work");
    let (base, head) = repository(&work);
    let event = Event { base: &base, head: &head, ..Event::default() };
    let run = runner.action(&work, &event);
    assert_eq!(run.steps, ["install", "revisions", "report", "comment", "verdict"]);
    assert_eq!((run.code, run.outputs["report.worst"].as_str()), (1, "refused"), "{}", run.stdout);
    assert!(run.stdout.contains("::error file=orders.sql,line=1,"), "{}", run.stdout);
    assert!(runner.server.bodies()[0].contains("source-added"));

    let labelled = runner.action(&work, &Event { labels: r#"["pipelint-approved"]"#, ..event });
    assert_eq!(labelled.code, 0, "{}", labelled.stdout);
    assert!(labelled.stdout.contains("::error file=orders.sql") && runner.server.bodies()[0].contains("source-added"));

    git(&work, &["switch", "--quiet", "change"]);
    let undone = commit(&work, ORDERS);
    let clear = runner.action(&work, &Event { base: &base, head: &undone, ..Event::default() });
    assert_eq!(clear.code, 0, "{}", clear.stdout);
    let bodies = runner.server.bodies();
    assert!(bodies.len() == 1 && bodies[0].contains("all clear"), "{bodies:?}");
}

fn an_allow_entry_lets_the_action_pass_and_the_report_stays() {
    let runner = Runner::new();
    runner.publish(true);
    let work = runner.path("work");
    let (base, _) = repository(&work);
    git(&work, &["switch", "--quiet", "change"]);
    let allow = "allow:\n  - {rule: source-added, dataset: orders, reason: refreshed on Sunday}\n";
    std::fs::write(work.join("pipelint.yaml"), allow).expect("a new file");
    let changed = std::fs::read_to_string(work.join("orders.sql")).expect("the pipeline");
    let head = commit(&work, &changed);
    let run = runner.action(&work, &Event { base: &base, head: &head, ..Event::default() });
    assert_eq!(run.code, 0, "{}", run.stdout);
    assert!(runner.server.bodies()[0].contains("refreshed on Sunday"), "{:?}", runner.server.bodies());
}

fn a_fork_is_judged_without_a_word_to_the_api() {
    let runner = Runner::new();
    runner.publish(true);
    let work = runner.path("work");
    let (base, head) = repository(&work);
    let run = runner.action(&work, &Event { base: &base, head: &head, fork: true, ..Event::default() });
    assert_eq!(run.code, 1, "{}", run.stdout);
    assert!(run.stdout.contains("::error file=orders.sql") && run.stdout.contains("see the job summary"));
    assert!(std::fs::read_to_string(runner.path("summary")).expect("a summary").contains("source-added"));
    let api = runner.server.api.lock().expect("no panic before");
    assert!(api.requests.iter().all(|request| request.starts_with("GET /releases/")), "{:?}", api.requests);
}

fn a_wrong_digest_ends_the_action_at_once() {
    let runner = Runner::new();
    runner.publish(false);
    let work = runner.path("work");
    let (base, head) = repository(&work);
    let run = runner.action(&work, &Event { base: &base, head: &head, ..Event::default() });
    assert_eq!((run.code, run.steps.as_slice()), (2, &["install".to_owned()][..]), "{}", run.stdout);
    assert!(run.stdout.contains("does not match SHA256SUMS"), "{}", run.stdout);
}

/// A pull request's title or branch would run as code, were an expression written into a script.
fn no_script_of_the_action_or_of_a_workflow_holds_an_expression() {
    for file in ["action.yml", ".github/workflows/ci.yml", ".github/workflows/release.yml", "src/cli/init/workflow.yml"]
    {
        let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
        let root: serde_yaml::Value =
            serde_yaml::from_str(&std::fs::read_to_string(path).expect("the file")).expect("YAML");
        let mut pending = vec![&root];
        while let Some(value) = pending.pop() {
            if let Some(map) = value.as_mapping() {
                let script = map.get("run").and_then(serde_yaml::Value::as_str).unwrap_or_default();
                assert!(!script.contains("${{"), "{file}: {script}");
                pending.extend(map.values());
            }
            pending.extend(value.as_sequence().into_iter().flatten());
        }
    }
}

/// A clone as a workflow has it: one commit of a private repository, and no credentials.
fn private_checkout(runner: &Runner, commit: &str) -> std::path::PathBuf {
    let url = format!("{}/git/origin/.git", runner.server.url);
    runner.server.api.lock().expect("no panic before").repositories = Some(runner.folder.path().to_path_buf());
    let work = runner.path(&format!("checkout-{commit}"));
    git(runner.folder.path(), &["init", "--quiet", &work.display().to_string()]);
    git(&work, &["remote", "add", "origin", &url]);
    let token = "http.extraheader=Authorization: basic eC1hY2Nlc3MtdG9rZW46c2VjcmV0LXRva2Vu";
    git(&work, &["-c", token, "fetch", "--quiet", "--no-tags", "--depth=1", "origin", commit]);
    git(&work, &["checkout", "--quiet", "FETCH_HEAD"]);
    work
}

fn each_event_has_a_base_in_a_private_repository() {
    let runner = Runner::new();
    runner.publish(true);
    let origin = runner.path("origin");
    let (base, head) = repository(&origin);
    for _ in 0..120 {
        git(&origin, &["commit", "--quiet", "--allow-empty", "-m", "further"]);
    }
    git(&origin, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let tip = git(&origin, &["rev-parse", "main"]);
    // A queue's commit merges the request into the branch.
    git(&origin, &["switch", "--quiet", "--detach", "main"]);
    git(&origin, &["merge", "--quiet", "--no-edit", "-X", "theirs", &head]);
    let queued = git(&origin, &["rev-parse", "HEAD"]);
    git(&origin, &["switch", "--quiet", "main"]);
    let zero = "0".repeat(40);
    for (name, base, head, judged) in [
        ("pull_request", tip.as_str(), head.as_str(), "refused"),
        ("merge_group", &tip, &queued, "refused"),
        ("push", &base, &tip, "none"),
        ("push", &tip, &queued, "refused"),
        ("push", &zero, &head, "refused"),
        ("workflow_dispatch", "", &head, "refused"),
        ("schedule", "", &tip, "none"),
    ] {
        let work = private_checkout(&runner, head);
        let event = Event { name, base, head, ..Event::default() };
        let run = runner.action(&work, &event);
        let worst = run.outputs.get("report.worst").map(String::as_str);
        assert_eq!(worst, Some(judged), "{name} {base} {head}: {:?}\n{}", run.steps, run.stdout);
        assert!(!run.stdout.contains("secret-token") && !run.stdout.contains("eC1hY2Nlc3M"), "{}", run.stdout);
        let config = std::fs::read_to_string(work.join(".git/config")).expect("a configuration");
        assert!(!config.contains("eC1hY2Nlc3M"), "the token stays out of the checkout");
        std::fs::remove_dir_all(&work).expect("the checkout can be removed");
    }
}

fn a_base_that_no_token_reaches_is_an_error_with_a_cure() {
    let runner = Runner::new();
    let origin = runner.path("origin");
    let (base, head) = repository(&origin);
    git(&origin, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let work = private_checkout(&runner, &head);
    let out = runner.step(
        "revisions.sh",
        &work,
        &[
            ("PIPELINT_PR_BASE_SHA", base.as_str()),
            ("PIPELINT_PR_HEAD_SHA", head.as_str()),
            ("PIPELINT_TOKEN", "wrong"),
        ],
    );
    assert_eq!(out.status.code(), Some(2), "{}", text(&out.stdout));
    assert!(
        text(&out.stdout).contains("give the input token, or check out with fetch-depth: 0"),
        "{}",
        text(&out.stdout)
    );
}

fn without_a_release_the_build_is_kept_under_a_key_of_the_sources() {
    let runner = Runner::new();
    let variables = [("PIPELINT_VERSION", "8.8.8"), ("PIPELINT_RELEASES", runner.server.url.as_str())];
    let out = runner.step("install.sh download", runner.folder.path(), &variables);
    assert!(out.status.success() && text(&out.stdout).contains("8.8.8 is not released"), "{}", text(&out.stderr));
    assert!(runner.output("key").starts_with("pipelint-Linux-X64-"), "{}", runner.output("key"));
    // What the cache brought back is taken.
    let cached = runner.path("temp").join("pipelint-bin/pipelint");
    std::fs::copy(env!("CARGO_BIN_EXE_pipelint"), &cached).expect("the binary can be copied");
    let out = runner.step("install.sh build", runner.folder.path(), &variables);
    assert!(out.status.success() && text(&out.stdout).contains("from the cache"), "{}", text(&out.stdout));
    assert_eq!(runner.output("bin"), cached.display().to_string());
}

/// macOS has no `sha256sum`: its digests come from `shasum -a 256`.
fn the_digest_is_checked_without_sha256sum() {
    let runner = Runner::new();
    let tools = runner.path("tools");
    std::fs::create_dir_all(&tools).expect("a folder");
    for tool in ["bash", "sed", "head", "mkdir", "curl", "awk", "cut", "tar", "gzip", "cat", "rm", "sh"] {
        let found = std::process::Command::new("sh").arg("-c").arg(format!("command -v {tool}")).output();
        let path = text(&found.expect("a shell runs").stdout);
        std::os::unix::fs::symlink(path.trim(), tools.join(tool)).expect("a link");
    }
    let sha256sum =
        std::process::Command::new("sh").arg("-c").arg("command -v sha256sum").output().expect("a shell runs");
    let shasum =
        format!("#!/bin/sh\n[ \"$1 $2\" = '-a 256' ] && shift 2 && exec {} \"$@\"\n", text(&sha256sum.stdout).trim());
    std::fs::write(tools.join("shasum"), shasum).expect("a file");
    std::process::Command::new("chmod").arg("+x").arg(tools.join("shasum")).status().expect("chmod runs");
    let releases = format!("{}/releases", runner.server.url);
    let tools = tools.display().to_string();
    let variables = [("PIPELINT_VERSION", "9.9.9"), ("PIPELINT_RELEASES", releases.as_str()), ("PATH", tools.as_str())];
    for (right, code) in [(false, 2), (true, 0)] {
        runner.serve("9.9.9", "#!/bin/sh\necho pipelint 9.9.9\n", right);
        let out = runner.step("install.sh download", runner.folder.path(), &variables);
        assert_eq!(out.status.code(), Some(code), "{}{}", text(&out.stdout), text(&out.stderr));
    }
}

crate::tests![
    one_comment_is_made_updated_and_cleared,
    a_long_report_is_cut_and_says_so,
    a_fork_and_a_refused_token_get_a_notice_and_no_failure,
    one_run_writes_every_report,
    a_shallow_checkout_is_deepened_to_the_merge_base,
    hostile_inputs_run_nothing,
    the_label_lets_findings_pass_and_no_error,
    a_released_binary_is_installed_only_with_its_digest,
    the_whole_action_judges_comments_and_clears,
    an_allow_entry_lets_the_action_pass_and_the_report_stays,
    a_fork_is_judged_without_a_word_to_the_api,
    a_wrong_digest_ends_the_action_at_once,
    no_script_of_the_action_or_of_a_workflow_holds_an_expression,
    each_event_has_a_base_in_a_private_repository,
    a_base_that_no_token_reaches_is_an_error_with_a_cure,
    without_a_release_the_build_is_kept_under_a_key_of_the_sources,
    the_digest_is_checked_without_sha256sum
];
