use super::*;
use crate::model::{Effect, FullRefresh, Place, QualifiedName, Severity};

fn finding(rule: &str, line: u32) -> Finding {
    Finding {
        rule: rule.to_owned(),
        severity: Severity::Error,
        effect: Effect::Refused,
        observed: false,
        harmless: None,
        confirmable: true,
        full_refresh: FullRefresh::Required,
        error_class: None,
        pipeline: "shop".to_owned(),
        dataset: Some(QualifiedName::parse("main.shop.orders")),
        flow: None,
        message: format!("{rule} happened"),
        before: Place::unknown(),
        after: Place::at(span(line)),
        hints: Vec::new(),
        remedies: Vec::new(),
        allowed: None,
        change: None,
    }
}

fn span(line: u32) -> Span {
    Span { path: "a.sql".into(), line, column: 3, end_line: line, end_column: 9, cell: None }
}

fn unknown(name: &str) -> Option<Diagnostic> {
    (!name.starts_with("rule")).then(|| Diagnostic::new(DiagnosticLevel::Error, "unknown-rule", "no such rule"))
}

fn apply(policy: &Policy, findings: &mut [Finding], definition_line: u32) -> Vec<String> {
    let definition = |_: &Finding| Definition { root: "etl/shop".to_owned(), places: vec![span(definition_line)] };
    let told = policy
        .apply(findings, &Judge { definition: &definition, unknown: &unknown, judged: &|rule| rule != "rule-of-lint" });
    told.iter().map(|d| format!("{}:{}:{:?}", d.code, d.span.as_ref().map_or(0, |s| s.line), d.level)).collect()
}

fn from_text(text: &str) -> Policy {
    let (suppressions, diagnostics) = suppressions(&"a.sql".into(), text);
    assert_eq!(diagnostics, Vec::new());
    Policy { suppressions, ..Policy::default() }
}

#[test]
fn a_comment_counts_at_the_place_above_it_and_above_the_definition() {
    let at = "CREATE TABLE t AS\nSELECT\n  a -- pipelint: allow rule-a -- intended\n";
    let above = "CREATE TABLE t AS\n-- pipelint: allow rule-a -- intended\n-- and more\n  a\n";
    let definition = "-- pipelint: allow rule-a, rule-b -- intended\nCREATE TABLE t AS\n\n\n  a\n";
    for (text, line, definition_line) in [(at, 3, 1), (above, 4, 1), (definition, 5, 2)] {
        let mut findings = [finding("rule-a", line), finding("rule-z", line)];
        let told = apply(&from_text(text), &mut findings, definition_line);
        assert_eq!(findings.map(|f| f.allowed), [Some("intended".to_owned()), None], "{text}");
        assert_eq!(told.len(), usize::from(text == definition), "rule-b suppresses nothing: {told:?}");
    }
}

#[test]
fn a_comment_elsewhere_counts_nothing_and_is_told() {
    let mut findings = [finding("rule-a", 9)];
    let mut policy = from_text("-- pipelint: allow rule-a -- why\nSELECT 1;\n-- pipelint: allow no-rule -- why\n");
    let told = apply(&policy, &mut findings, 7);
    assert_eq!(findings[0].allowed, None);
    assert_eq!(told, ["unused-suppression:1:Warning", "unknown-rule:3:Warning"]);
    policy.earlier = policy.suppressions.iter().map(Suppression::key).collect();
    assert_eq!(apply(&policy, &mut findings, 7)[0], "unused-suppression:1:Note");
}

#[test]
fn a_suppression_needs_a_verb_a_rule_and_a_reason() {
    for (text, message) in [
        ("-- pipelint: allow rule-a", "gives no reason"),
        ("-- pipelint: allow rule-a --", "gives no reason"),
        ("-- pipelint: allow -- why", "names no rule"),
        ("-- pipelint: ignore rule-a -- why", "`pipelint: ignore` means nothing"),
    ] {
        let (found, told) = suppressions(&"a.sql".into(), text);
        assert!(found.is_empty() && told[0].message.contains(message), "{text}: {told:?}");
    }
    assert!(suppressions(&"a.sql".into(), "SELECT '-- pipelint: allow x'").0.is_empty());
}

#[test]
fn an_entry_counts_by_dataset_and_within_its_folder() {
    let entry = |dataset: Option<&str>, folder: &str| ScopedAllow {
        folder: folder.to_owned(),
        entry: Allow {
            rule: "rule-a".to_owned(),
            dataset: dataset.map(str::to_owned),
            pipeline: None,
            reason: "known".to_owned(),
            span: span(1),
        },
    };
    for (allow, counts) in [
        (entry(None, ""), true),
        (entry(Some("orders"), "etl"), true),
        (entry(Some("main.shop.Orders"), "etl/shop"), true),
        (entry(Some("main.shop.order"), ""), false),
        (entry(None, "et"), false),
    ] {
        let policy = Policy { allows: vec![allow], ..Policy::default() };
        let mut findings = [finding("rule-a", 2)];
        let told = apply(&policy, &mut findings, 1);
        assert_eq!(findings[0].allowed.is_some(), counts);
        assert_eq!(told.is_empty(), counts);
    }
}

#[test]
fn a_baseline_knows_its_findings_wherever_they_move_and_tells_of_the_gone() {
    let known = Baseline::of(&[finding("rule-a", 2), finding("rule-gone", 3)]);
    let baseline = Baseline::parse("b.json", &known.render()).unwrap();
    let policy = Policy { baseline: Some(baseline), ..Policy::default() };
    let mut findings = [finding("rule-a", 40), finding("rule-b", 2)];
    let told = apply(&policy, &mut findings, 1);
    assert_eq!(findings.map(|f| f.allowed.is_some()), [true, false]);
    assert_eq!(told, ["stale-baseline:0:Warning"]);
    assert!(Baseline::parse("b.json", "{\"version\": 2}").unwrap_err().contains("`version` must be 1"));
}

#[test]
fn a_folder_weighs_its_own_findings_and_the_deeper_one_counts() {
    let scoped = |folder: &str, severity| ScopedSeverity {
        folder: folder.to_owned(),
        rule: "rule-a".to_owned(),
        severity,
        span: span(1),
    };
    for (severities, severity, allowed) in [
        (vec![scoped("etl", Severity::Note)], Severity::Note, false),
        (vec![scoped("etl/shop", Severity::Warning), scoped("etl", Severity::Off)], Severity::Warning, false),
        (vec![scoped("etl", Severity::Off)], Severity::Error, true),
        (vec![scoped("other", Severity::Off)], Severity::Error, false),
    ] {
        let policy = Policy { severities, ..Policy::default() };
        let mut findings = [finding("rule-a", 2)];
        assert_eq!(apply(&policy, &mut findings, 1), Vec::<String>::new());
        assert_eq!((findings[0].severity, findings[0].allowed.is_some()), (severity, allowed));
    }
}

#[test]
fn what_accepts_findings_of_another_command_is_not_idle() {
    let policy = from_text("-- pipelint: allow rule-of-lint -- intended\nSELECT 1\n");
    assert_eq!(apply(&policy, &mut [], 1), Vec::<String>::new());
    let baseline = Baseline::of([&finding("rule-of-lint", 1), &finding("rule-a", 1)]);
    let policy = Policy { baseline: Some(baseline), ..Policy::default() };
    assert_eq!(apply(&policy, &mut [], 1), ["stale-baseline:0:Warning"]);
}
