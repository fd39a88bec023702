//! What the rules claim, against what real Spark was seen to do, flow by flow over `tests/cases/spark`.
//!
//! A claim that a rule makes for certain must be Spark's; where a rule leaves the effect to an engine, only what it expects is
//! counted. `cargo test --test it claims::` prints every difference.

use pipelint::analyze::{Analysis, analyze};
use pipelint::diff::diff;
use pipelint::frontend::{ParseCache, load, sql};
use pipelint::model::Effect;
use pipelint::project::{Options, discover};
use pipelint::revision::{RevisionError, Selection, Tree, open};
use pipelint::rules::{RuleBook, assess};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Least share of certain claims that must be Spark's, in percent.
const CERTAIN: usize = 90;

fn analysis(tree: &dyn Tree, cache: &ParseCache) -> Analysis {
    let parse = |text: &str| sql::parse_schema_ddl(text);
    let project = discover(tree, &Options::new(&parse));
    analyze(load(tree, project, cache))
}

struct Claim {
    effect: Effect,
    observed: bool,
    rules: Vec<String>,
}

/// Claims by the flow's bare name, and the worst of a table's flows by the table's.
fn claims(folder: &Path, book: &RuleBook) -> Result<BTreeMap<String, Rc<Claim>>, RevisionError> {
    let selection = Selection::Folders { before: folder.join("before"), after: folder.join("after") };
    let trees = open(&selection, folder)?;
    let cache = ParseCache::default();
    let (before, after) = (analysis(trees.before.as_ref(), &cache), analysis(trees.after.as_ref(), &cache));
    let diff = diff(&before, &after);
    let assessment = assess(book, &before, &after, &diff, &[]);
    let mut claims: BTreeMap<String, Rc<Claim>> = BTreeMap::new();
    for (pair, flow) in diff.flows.iter().zip(&assessment.flows) {
        let rules: Vec<String> =
            flow.findings.iter().filter_map(|index| Some(assessment.findings.get(*index)?.rule.clone())).collect();
        let certain = flow
            .findings
            .iter()
            .filter_map(|index| assessment.findings.get(*index))
            .any(|f| !f.observed && f.effect == flow.effect);
        let claim = Claim { effect: flow.effect, observed: flow.observed && !certain, rules };
        let claim = Rc::new(claim);
        for name in [pair.flow.rsplit('.').next().unwrap_or_default(), pair.dataset.name.as_str()] {
            let worse = claims.get(name).is_none_or(|known| known.effect < claim.effect);
            if worse && (pair.after.is_some() || name == pair.dataset.name) {
                claims.insert(name.to_owned(), Rc::clone(&claim));
            }
        }
    }
    Ok(claims)
}

fn certain_claims_are_what_spark_did() {
    let book = RuleBook::embedded().expect("the rule book reads");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/spark");
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(root).expect("cases").map(|entry| entry.expect("entry").path()).collect();
    folders.sort();
    let (mut certain, mut right, mut open, mut expected, mut missing) = (0, 0, 0, 0, 0);
    for folder in folders {
        let text = std::fs::read_to_string(folder.join("case.yaml")).expect("case.yaml");
        let case: serde_yaml::Value = serde_yaml::from_str(&text).expect("case.yaml is YAML");
        let Some(effects) = case.get("spark").and_then(|spark| spark.get("effects")).and_then(|e| e.as_mapping())
        else {
            continue;
        };
        // A case that asks for more than an update, or in which hands outside the repository took part, says nothing of claims.
        if case.get("experiment").is_some() {
            continue;
        }
        let claims = claims(&folder, &book).expect("both folders open");
        let case = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for (flow, seen) in effects {
            let (Some(flow), Some(seen)) = (flow.as_str(), seen.as_str()) else { continue };
            // Spark keeps AUTO CDC's own state in a table of its own, which no definition names.
            if flow.starts_with("__spark_autocdc") {
                continue;
            }
            let Some(claim) = claims.get(flow) else {
                println!("{case} {flow}: spark {seen}, no such flow");
                missing += 1;
                continue;
            };
            let claimed = if claim.effect == Effect::Ignored || claim.effect == Effect::Recomputed {
                "none"
            } else {
                claim.effect.as_str()
            };
            let agrees = claimed == seen;
            if claim.observed {
                open += 1;
                expected += usize::from(agrees);
            } else {
                certain += 1;
                right += usize::from(agrees);
            }
            if !agrees {
                let kind = if claim.observed { "expects" } else { "claims" };
                println!("{case} {flow}: spark {seen}, {kind} {} by {}", claim.effect, claim.rules.join(", "));
            }
        }
    }
    println!("certain {right}/{certain}, left to an engine {open} of which as expected {expected}, missing {missing}");
    assert!(right * 100 >= certain * CERTAIN, "only {right} of {certain} certain claims are Spark's");
}

crate::tests![certain_claims_are_what_spark_did];
