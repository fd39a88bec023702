//! What accepts findings of `pipelint lint` and weighs them, and the formats that show them: through the program.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

const CONFIG: &str = "
sources:
- {name: main.sales.orders, format: delta, schema: 'id BIGINT, v STRING, d DATE', partitioned_by: [d]}
- {name: main.sales.staging, format: delta, schema: 'id BIGINT, v STRING, d DATE'}
";
const APPEND: &str = "INSERT INTO main.sales.orders SELECT id, v, d FROM main.sales.staging;\n";
const DEDUP: &str = "CREATE OR REFRESH STREAMING TABLE t AS\nSELECT DISTINCT id FROM STREAM(raw.events);\n";

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Ran {
    let out = Command::new(env!("CARGO_BIN_EXE_pipelint")).current_dir(folder).args(arguments).output();
    let out = out.expect("pipelint runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { code: out.status.code(), out: text(&out.stdout), err: text(&out.stderr) }
}

fn lint(files: &[(&str, &str)], arguments: &[&str]) -> Ran {
    run(repository(files).path(), &[&["lint"], arguments].concat())
}

fn a_comment_accepts_a_finding_of_a_script_and_of_a_pipeline() {
    let script = format!("-- pipelint: allow batch-rows-doubled -- the loader runs exactly once\n{APPEND}");
    let table = format!("-- pipelint: allow state-unbounded -- ten keys at most\n{DEDUP}");
    let ran = lint(&[("pipelint.yaml", CONFIG), ("job.sql", &script), ("p/t.sql", &table)], &["--fail-on", "warning"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(
        ran.out.contains("(allowed: the loader runs exactly once)") && ran.out.contains("2 allowed"),
        "{}",
        ran.out
    );
    assert_eq!(ran.err, "");
}

fn without_it_the_finding_fails_from_the_severity_asked_for() {
    let files = [("pipelint.yaml", CONFIG), ("p/t.sql", DEDUP)];
    assert_eq!(lint(&files, &[]).code, Some(0));
    assert_eq!(lint(&files, &["--fail-on", "warning"]).code, Some(1));
    let files = [("pipelint.yaml", CONFIG), ("job.sql", APPEND)];
    assert_eq!(lint(&files, &[]).code, Some(1));
    assert_eq!(lint(&files, &["--fail-on", "never"]).code, Some(0));
}

fn idle_and_misspelt_suppressions_are_told_and_those_of_a_comparison_are_not() {
    let text = format!(
        "-- pipelint: allow source-added -- of the last release\n-- pipelint: allow state-unbound -- misspelt\n\
         -- pipelint: allow once-flow-repeats -- idle\n{APPEND}"
    );
    let ran = lint(&[("pipelint.yaml", CONFIG), ("job.sql", &text)], &["--fail-on", "never"]);
    assert!(ran.err.contains("unknown-rule") && ran.err.contains("state-unbounded"), "{}", ran.err);
    assert!(ran.err.contains("this suppression of `once-flow-repeats` suppresses nothing"), "{}", ran.err);
    assert!(!ran.err.contains("source-added"), "{}", ran.err);
}

fn the_configuration_allows_turns_off_and_weighs() {
    let allow =
        format!("{CONFIG}allow: [{{rule: batch-rows-doubled, dataset: main.sales.orders, reason: runs once}}]\n");
    assert_eq!(lint(&[("pipelint.yaml", &allow), ("job.sql", APPEND)], &[]).code, Some(0));
    let off = format!("{CONFIG}rules: {{batch-rows-doubled: off, state-unbounded: error}}\n");
    let ran = lint(&[("pipelint.yaml", &off), ("job.sql", APPEND)], &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert!(!ran.out.contains("batch-rows-doubled"), "{}", ran.out);
    let ran = lint(&[("pipelint.yaml", &off), ("p/t.sql", DEDUP)], &[]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    let folder =
        [("pipelint.yaml", CONFIG), ("p/pipelint.yaml", "rules: {state-unbounded: error}\n"), ("p/t.sql", DEDUP)];
    assert_eq!(lint(&folder, &[]).code, Some(1));
}

fn a_baseline_accepts_what_there_is_and_tells_what_is_gone() {
    let folder = repository(&[("pipelint.yaml", CONFIG), ("job.sql", APPEND)]);
    let written = run(folder.path(), &["baseline", "--lint", "--output", "known.json"]);
    assert_eq!(written.code, Some(0), "{}", written.err);
    let ran = run(folder.path(), &["lint", "--baseline", "known.json"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("(allowed: in the baseline)"), "{}", ran.out);
    std::fs::write(folder.path().join("job.sql"), "INSERT INTO main.sales.orders REPLACE WHERE d = DATE '2024-01-01' SELECT id, v, d FROM main.sales.staging WHERE d = DATE '2024-01-01';").expect("a file");
    let ran = run(folder.path(), &["lint", "--baseline", "known.json"]);
    assert!(ran.err.contains("an accepted finding is gone: batch-rows-doubled"), "{}", ran.err);
}

fn the_other_formats_show_the_same_findings() {
    let folder = repository(&[("pipelint.yaml", CONFIG), ("a b.sql", APPEND), ("p/t.sql", DEDUP)]);
    let of = |format: &str| run(folder.path(), &["lint", "--format", format]).out;
    let log: Value = serde_json::from_str(&of("sarif")).expect("JSON");
    let results = log["runs"][0]["results"].as_array().expect("results");
    let doubled = results.iter().find(|result| result["ruleId"] == "batch-rows-doubled").expect("the rule fires");
    assert_eq!(doubled["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "a%20b.sql");
    let rule = usize::try_from(doubled["ruleIndex"].as_u64().expect("an index")).expect("small");
    assert_eq!(log["runs"][0]["tool"]["driver"]["rules"][rule]["id"], "batch-rows-doubled");
    assert!(of("github").contains("::error file=a b.sql,line=1"), "{}", of("github"));
    let gitlab: Value = serde_json::from_str(&of("gitlab")).expect("JSON");
    assert!(gitlab.as_array().is_some_and(|issues| issues.iter().any(|i| i["check_name"] == "state-unbounded")));
    let junit = of("junit");
    assert!(junit.contains("<testsuite name=\"a b.sql\" tests=\"1\" failures=\"1\">"), "{junit}");
    assert!(junit.contains("testcase classname=\"p\" name=\"t\""), "{junit}");
    let markdown = of("markdown");
    assert!(markdown.contains("| `a b.sql` | `main.sales.orders` | doubled |"), "{markdown}");
    assert!(markdown.contains("state-unbounded") && markdown.contains("```sql"), "{markdown}");
    let html = run(folder.path(), &["lint", "--format", "html"]);
    assert_eq!(html.code, Some(2));
    assert!(html.err.contains("`html` is no format of a lint"), "{}", html.err);
}

crate::tests![
    a_comment_accepts_a_finding_of_a_script_and_of_a_pipeline,
    without_it_the_finding_fails_from_the_severity_asked_for,
    idle_and_misspelt_suppressions_are_told_and_those_of_a_comparison_are_not,
    the_configuration_allows_turns_off_and_weighs,
    a_baseline_accepts_what_there_is_and_tells_what_is_gone,
    the_other_formats_show_the_same_findings
];
