//! Every case folder that says what to expect of a change: `tests/cases/**/case.yaml` with an `expect:` section.
//!
//! `before/` and `after/` go through the main job in both orders of nothing: before→after must give the expected rules and
//! effects, before→before and after→after must be silent. The text report is compared with `report.txt`; the JSON report must
//! be valid against the published schema.
//!
//! `PIPELINT_BLESS=1 cargo test --test it case/` rewrites the golden reports: read the diff before you commit it.

use libtest_mimic::Trial;
use pipelint::diff::FlowStatus;
use pipelint::model::{Effect, FullRefresh};
use pipelint::reading::Options;
use pipelint::report::{Format, Style, render};
use pipelint::review::review;
use pipelint::revision::{Selection, open};
use pipelint::verdict::Report;
use serde_yaml::Value as Yaml;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use unicode_width::UnicodeWidthStr;

fn yaml(path: &Path) -> Yaml {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn compare(before: &Path, after: &Path, case: &Yaml) -> Report {
    let selection = Selection::Folders { before: before.to_owned(), after: after.to_owned() };
    let comparison = open(&selection, Path::new(".")).expect("both folders are there");
    let platform = case.get("platform").and_then(Yaml::as_str).map(|word| word.parse().expect("a platform"));
    let options = Options { platform, ..Options::default() };
    review(comparison.before.as_ref(), comparison.after.as_ref(), &options)
}

/// Findings of a report that somebody would see, by rule.
fn fired(report: &Report) -> BTreeSet<String> {
    report.findings.iter().map(|finding| finding.rule.clone()).collect()
}

fn words(value: Option<&Yaml>) -> Option<BTreeSet<String>> {
    let list = value?.as_sequence()?;
    Some(list.iter().filter_map(Yaml::as_str).map(str::to_owned).collect())
}

fn by_flow(value: Option<&Yaml>) -> Vec<(String, String)> {
    value
        .and_then(Yaml::as_mapping)
        .into_iter()
        .flatten()
        .filter_map(|(flow, word)| Some((flow.as_str()?.to_owned(), word.as_str()?.to_owned())))
        .collect()
}

/// What is wrong with one case, in words.
fn check(folder: &Path) -> Vec<String> {
    let case = yaml(&folder.join("case.yaml"));
    let Some(expect) = case.get("expect") else { return Vec::new() };
    let (before, after) = (folder.join("before"), folder.join("after"));
    let report = compare(&before, &after, &case);
    let mut wrong = Vec::new();
    if let Some(rules) = words(expect.get("rules")) {
        let found = fired(&report);
        if found != rules {
            wrong.push(format!("expected the rules {rules:?}, got {found:?}"));
        }
    }
    if let Some(rules) = words(expect.get("scripts")) {
        let found: BTreeSet<String> = report.scripts.iter().map(|finding| finding.rule.clone()).collect();
        if found != rules {
            wrong.push(format!("expected {rules:?} of the scripts, got {found:?}"));
        }
    }
    for (flow, effect) in by_flow(expect.get("effects")) {
        match report.flows.iter().find(|verdict| verdict.flow == flow || verdict.dataset.to_string() == flow) {
            None => wrong.push(format!("no flow {flow}")),
            Some(verdict) if verdict.effect.as_str() != effect => {
                wrong.push(format!("{flow}: expected {effect}, got {}", verdict.effect));
            }
            Some(_) => {}
        }
    }
    for (flow, refresh) in by_flow(expect.get("full_refresh")) {
        let found =
            report.flows.iter().find(|verdict| verdict.flow == flow).map(|verdict| verdict.full_refresh.as_str());
        if found != Some(refresh.as_str()) {
            wrong.push(format!("{flow}: expected full refresh {refresh}, got {found:?}"));
        }
    }
    for verdict in &report.flows {
        if verdict.confirmation.as_ref().and_then(pipelint::verdict::Confirmation::agrees) == Some(false)
            && expect.get("contradicted").is_none()
        {
            wrong.push(format!("{}: the engine contradicts the claim {}", verdict.flow, verdict.effect));
        }
    }
    wrong.extend(contradictions_in(&report));
    wrong.extend(check_json(&report));
    wrong.extend(check_golden(folder, &report));
    wrong.extend([60, 80].into_iter().flat_map(|width| too_wide(&report, width)));
    for (side, name) in [(&before, "before"), (&after, "after")] {
        let same = compare(side, side, &case);
        if !same.findings.is_empty() || !same.scripts.is_empty() || same.worst() != Effect::None {
            wrong.push(format!("{name} against itself is not silent: {:?}", fired(&same)));
        }
    }
    wrong
}

/// What headline, effects and plan of one report must not say next to each other.
fn contradictions_in(report: &Report) -> Vec<String> {
    let mut wrong = Vec::new();
    let effects = report.flows.iter().map(|flow| flow.open).chain(report.open_impacts().map(|impact| impact.effect));
    let worst = effects.max().unwrap_or(Effect::None);
    if report.worst() < worst {
        wrong.push(format!("the worst effect is said to be {}, and one is {worst}", report.worst()));
    }
    let headline = report.headline();
    let refreshes = report.flows.iter().any(|flow| flow.full_refresh == FullRefresh::Required);
    let promises = ["Every table goes on", "every other table goes on", "Nothing changed"];
    if promises.iter().any(|promise| headline.contains(promise))
        && (worst != Effect::None || refreshes || !report.plan.full_refresh.is_empty() || report.broken > 0)
    {
        wrong.push(format!("`{headline}` next to {worst}, or a required refresh, or a part that was not read"));
    }
    for flow in &report.flows {
        if flow.status == FlowStatus::Unchanged && flow.effect != Effect::None {
            wrong.push(format!("{} is unchanged and {}", flow.subject(), flow.effect));
        }
    }
    for dataset in report.plan.full_refresh.iter().flat_map(|refresh| &refresh.datasets) {
        let harmless = |effect: Effect| matches!(effect, Effect::None | Effect::Ignored | Effect::Unknown);
        let of_flow = report.flows.iter().any(|flow| flow.dataset.to_string() == *dataset && !harmless(flow.effect));
        let reached = report.impacts.iter().any(|impact| impact.dataset == *dataset && !harmless(impact.effect));
        if !of_flow && !reached {
            wrong.push(format!("{dataset} is to be refreshed, and nothing happens to it"));
        }
    }
    wrong
}

fn check_json(report: &Report) -> Vec<String> {
    static SCHEMA: std::sync::LazyLock<jsonschema::Validator> = std::sync::LazyLock::new(|| {
        let schema = serde_json::from_str(include_str!("../../schema/report-1.json")).expect("the schema is JSON");
        jsonschema::validator_for(&schema).expect("the schema is a schema")
    });
    let text = render(report, Format::Json, Style::default());
    let value = serde_json::from_str(&text).expect("the report is JSON");
    SCHEMA.iter_errors(&value).map(|error| format!("JSON report: {error} at {}", error.instance_path())).collect()
}

fn check_golden(folder: &Path, report: &Report) -> Option<String> {
    let golden = folder.join("report.txt");
    let folder_text = folder.display().to_string();
    let text = render(report, Format::Text, Style::default()).replace(&format!("{folder_text}/"), "");
    if std::env::var_os("PIPELINT_BLESS").is_some() {
        std::fs::write(&golden, text).expect("the golden file can be written");
        return None;
    }
    match std::fs::read_to_string(&golden) {
        Err(_) => Some("no report.txt; write it with PIPELINT_BLESS=1".to_owned()),
        Ok(known) if known != text => Some("the text report is not report.txt; see PIPELINT_BLESS".to_owned()),
        Ok(_) => None,
    }
}

/// Lines of the text report that are wider than they had to be. Code and its places, commands and long names are never broken.
fn too_wide(report: &Report, width: usize) -> Vec<String> {
    let text = render(report, Format::Text, Style { width, ..Style::default() });
    let prose = text.split("To run, after the deployment").next().unwrap_or_default();
    let is_code = |line: &str| {
        // The first line names the folders of the checkout, whatever they are.
        if line.starts_with("pipelint ") {
            return true;
        }
        let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        ["|", "-->", ":::", "..."].iter().any(|gutter| rest.starts_with(gutter))
    };
    let breaks = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.len() > 2 && words.iter().all(|word| word.width() <= width / 2)
    };
    prose
        .lines()
        .filter(|line| line.width() > width && !is_code(line) && breaks(line))
        .map(|line| format!("wider than {width}: {line}"))
        .collect()
}

/// One test for each case folder, named by its place below `tests/cases`.
pub fn tests() -> Vec<Trial> {
    let test = |folder: PathBuf| {
        let name = crate::case_name("case", &folder);
        crate::trial(name, move || {
            let wrong = check(&folder);
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        })
    };
    crate::case_folders("")
        .into_iter()
        .filter(|folder| yaml(&folder.join("case.yaml")).get("expect").is_some())
        .map(test)
        .collect()
}
