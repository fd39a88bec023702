//! The command line as a user meets it: exit codes, configuration, baseline, the files that `init` writes.

use std::path::Path;
use std::process::{Command, Output};

const ORDERS: &str = "CREATE OR REFRESH STREAMING TABLE orders AS SELECT id, ts FROM STREAM(raw.orders);\n";

fn pipelint(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pipelint")).args(args).current_dir(folder).output().expect("pipelint runs")
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a new folder");
    std::fs::write(path, text).expect("a new file");
}

/// Two folders; the second reads one source more, and holds `further` files.
fn changed(further: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "b/p/a.sql", ORDERS);
    let after = ORDERS.replace("raw.orders)", "raw.orders) UNION ALL SELECT id, ts FROM STREAM(raw.more)");
    write(folder.path(), "a/p/a.sql", &after);
    for (name, text) in further {
        write(folder.path(), &format!("a/{name}"), text);
    }
    folder
}

fn diff(folder: &Path, further: &[&str]) -> Output {
    let args = ["diff", "--before", "b", "--after", "a", "--confirm", "off"];
    pipelint(folder, &[&args, further].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn exit_codes_follow_the_option_then_the_configuration() {
    let folder = changed(&[]);
    assert_eq!(diff(folder.path(), &[]).status.code(), Some(1));
    assert_eq!(diff(folder.path(), &["--fail-on", "never"]).status.code(), Some(0));
    let configured = changed(&[("pipelint.yaml", "fail_on: never\n")]);
    assert_eq!(diff(configured.path(), &[]).status.code(), Some(0));
    assert_eq!(diff(configured.path(), &["--fail-on", "error"]).status.code(), Some(1));
}

fn an_allowed_finding_stays_in_the_report_and_counts_no_more() {
    let allow = "allow:\n  - {rule: source-added, dataset: orders, reason: refreshed tonight}\n  - {rule: source-aded, reason: x}\n";
    let folder = changed(&[("pipelint.yaml", allow)]);
    let out = diff(folder.path(), &[]);
    let printed = text(&out.stdout);
    assert_eq!(out.status.code(), Some(0), "{printed}");
    for wanted in ["error[source-added]", "allowed: refreshed tonight", "did you mean `source-added`?", "1 allowed"] {
        assert!(printed.contains(wanted), "no {wanted}: {printed}");
    }
}

fn a_baseline_accepts_what_is_there_and_tells_of_what_is_gone() {
    let folder = changed(&[]);
    let written = pipelint(folder.path(), &["baseline", "--before", "b", "--after", "a", "--confirm", "off"]);
    assert!(written.status.success(), "{}", text(&written.stderr));
    let with = ["--baseline", "pipelint-baseline.json"];
    assert_eq!(diff(folder.path(), &with).status.code(), Some(0));
    write(folder.path(), "a/p/a.sql", ORDERS);
    assert!(text(&diff(folder.path(), &with).stdout).contains("warning[stale-baseline]"));
    let missing = diff(folder.path(), &["--baseline", "none.json"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("`pipelint baseline` writes such a file"));
}

fn quiet_prints_nothing_where_nothing_happens() {
    let folder = changed(&[]);
    assert!(!diff(folder.path(), &["--quiet"]).stdout.is_empty());
    write(folder.path(), "a/p/a.sql", ORDERS);
    let out = diff(folder.path(), &["--quiet"]);
    assert_eq!((out.status.code(), text(&out.stdout), text(&out.stderr)), (Some(0), String::new(), String::new()));
}

fn init_writes_three_files_once() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "p/a.sql", ORDERS);
    let first = pipelint(folder.path(), &["init"]);
    assert!(first.status.success(), "{}", text(&first.stderr));
    let files = ["pipelint.yaml", ".pre-commit-config.yaml", ".github/workflows/pipelint.yml"];
    let config = std::fs::read_to_string(folder.path().join("pipelint.yaml")).expect("it is written");
    assert!(config.contains("#   - name: raw.orders\n"), "{config}");
    for file in files {
        assert!(text(&first.stdout).contains(&format!("wrote  {file}")));
        let parsed: Result<serde_yaml::Value, _> =
            serde_yaml::from_str(&std::fs::read_to_string(folder.path().join(file)).expect("it is written"));
        assert!(parsed.is_ok(), "{file}: {parsed:?}");
        write(folder.path(), file, "# mine\n");
    }
    let second = pipelint(folder.path(), &["init"]);
    assert_eq!(text(&second.stdout).matches("kept   ").count(), 3);
    assert_eq!(std::fs::read_to_string(folder.path().join(files[0])).expect("it is there"), "# mine\n");
    assert!(text(&pipelint(folder.path(), &["init", "--force"]).stdout).contains("wrote  pipelint.yaml"));
}

/// What `init` comments out is a configuration that pipelint reads without complaint.
fn the_commented_configuration_is_valid() {
    let folder = changed(&[]);
    let init = pipelint(&folder.path().join("a"), &["init"]);
    assert!(init.status.success(), "{}", text(&init.stderr));
    let path = folder.path().join("a/pipelint.yaml");
    let config = std::fs::read_to_string(&path).expect("it is written");
    let keys = ["platform", "spark_version", "fail_on", "sources", "rules", "allow", "  "];
    let plain: Vec<&str> = config
        .lines()
        .filter_map(|line| line.strip_prefix("# "))
        .filter(|line| keys.iter().any(|key| line.starts_with(key)) && !line.contains("extra"))
        .collect();
    let plain = plain.join("\n").replace('…', "id BIGINT");
    assert!(plain.contains("sources:") && plain.contains("allow:"), "{plain}");
    std::fs::write(&path, &plain).expect("a new file");
    let printed = text(&diff(folder.path(), &["--format", "json"]).stdout);
    let report: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
    let errors: Vec<_> =
        report["diagnostics"].as_array().expect("a list").iter().filter(|d| d["level"] == "error").collect();
    assert!(errors.is_empty(), "{errors:?}\n{plain}");
}

fn every_rule_gets_a_page_and_a_place_in_the_index() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(pipelint(folder.path(), &["rules", "--markdown", "out"]).status.success());
    let index = std::fs::read_to_string(folder.path().join("out/index.md")).expect("an index");
    let links: Vec<&str> = index.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(links.len() > 100);
    for link in links {
        let page = std::fs::read_to_string(folder.path().join("out").join(link)).expect("a page");
        assert!(page.contains("## Why") && page.contains("## Sources"), "{link}");
    }
}

fn manual_pages_and_completions_are_printed() {
    let here = Path::new(".");
    assert!(text(&pipelint(here, &["man"]).stdout).contains(".TH pipelint"));
    assert!(text(&pipelint(here, &["completions", "zsh"]).stdout).contains("#compdef pipelint"));
}

crate::tests![
    exit_codes_follow_the_option_then_the_configuration,
    an_allowed_finding_stays_in_the_report_and_counts_no_more,
    a_baseline_accepts_what_is_there_and_tells_of_what_is_gone,
    quiet_prints_nothing_where_nothing_happens,
    init_writes_three_files_once,
    the_commented_configuration_is_valid,
    every_rule_gets_a_page_and_a_place_in_the_index,
    manual_pages_and_completions_are_printed
];
