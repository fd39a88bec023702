//! Plain streaming jobs on Delta tables, with the scripts of the repository that write their sources: what `pipelint diff` reports
//! of each change, and what the engine saw, against real Delta Lake.
//!
//! A recording says of a table that it is equal, that it differs (which rows, depends on the reference), or that the query was
//! refused. What a case does between the two runs by hand is not in the repository: only the engine hears of it.

use super::agreement::{Agreement, Subject};
use super::case::Case;
use super::rows;
use super::steps::{self, Sources, Step};
use pipelint::analyze::Analysis;
use pipelint::confirm::{self, FlowConfirmation};
use pipelint::engine::World;
use pipelint::engine::batch::run_steps;
use pipelint::frontend::ParseCache;
use pipelint::frontend::sql::{Context, Session, Statement, parse_statements};
use pipelint::model::{Effect, Severity};
use pipelint::reading::{self, ConfirmWith, Options};
use pipelint::review::{self, Beside};
use pipelint::revision::{Selection, Tree, open};
use pipelint::verdict::Report;

pub fn observe(case: &Case) -> Agreement {
    let selection = Selection::Folders { before: case.folder.join("before"), after: case.folder.join("after") };
    let trees = open(&selection, &case.folder).unwrap();
    let (before, after) = (trees.before, trees.after);
    let with = |confirm: ConfirmWith| Options { confirm, ..Options::default() };
    let given = review::review(before.as_ref(), after.as_ref(), &with(ConfirmWith::GivenRows(case.data())));
    let generated = review::review(before.as_ref(), after.as_ref(), &with(ConfirmWith::GeneratedRows));
    let mut agreement = Agreement::default();
    for (table, spark) in &case.effects {
        let Some(spark) = spark.as_deref() else { continue };
        if !case.experiment.unseen {
            for (subject, report) in [(Subject::Reported, &given), (Subject::Generated, &generated)] {
                let reported = reported(report, table);
                agreement.note(subject, coarse(reported) == coarse(spark), || {
                    format!("{table}: Spark {spark}, reported {reported}: {}", rules(report, table))
                });
                let fails = report.fails(Severity::Error);
                let (loud, harmless) = (matches!(spark, "refused" | "invalid"), spark == "none");
                let right = !(loud && !fails || harmless && fails);
                agreement.note(Subject::Exit, right, || format!("Spark {spark}, exit {}", i32::from(fails)));
            }
        }
        let seen = engine(case, [before.as_ref(), after.as_ref()], table);
        let effect = seen.as_ref().and_then(|flow| flow.observed).map_or("unknown", Effect::as_str);
        agreement.note(Subject::Effect, coarse(effect) == coarse(spark), || {
            let detail = seen.as_ref().and_then(|flow| flow.message.clone().or(flow.reason.clone()));
            format!("{table}: Spark {spark}, engine {effect} {}", detail.unwrap_or_default())
        });
        if let Some(class) = &case.error_class {
            let own = seen.and_then(|flow| flow.error_class).unwrap_or_default();
            agreement
                .note(Subject::Error, error_name(class) == error_name(&own), || format!("Spark {class}, engine {own}"));
        }
    }
    agreement
}

/// What the engine saw of the flow into a table, with the steps by hand.
fn engine(case: &Case, [before, after]: [&dyn Tree; 2], table: &str) -> Option<FlowConfirmation> {
    let cache = ParseCache::default();
    let read = |tree: &dyn Tree| reading::read(tree, &Options::default(), &cache);
    let (b, a) = (read(before), read(after));
    let data = case.data();
    let between = |world: &mut World| {
        for step in &case.experiment.between {
            match step {
                Step::Sql(text) => execute(world, &a.analysis, text),
                other => steps::apply(world, std::slice::from_ref(other), &Sources { facts: &[], data: &data }),
            }
        }
    };
    let scripts = Beside::all((before, &b), (after, &a), &cache).scripts;
    let options =
        confirm::Options { data: Some(data.clone()), between: Some(&between), scripts, ..confirm::Options::default() };
    let confirmed = confirm::confirm(&b.analysis, &a.analysis, &options);
    let own = confirmed.flows.iter().position(|flow| rows::last_part(&flow.dataset.name) == table);
    // A function that writes the table is a sink of its own name.
    confirmed.flows.into_iter().nth(own.unwrap_or(0))
}

/// Runs statements by hand, as a script of the repository would.
fn execute(world: &mut World, analysis: &Analysis, text: &str) {
    let pipeline = analysis.workspace.pipelines.first().unwrap();
    let script = parse_statements(text, &Context::default(), &mut Session::default());
    for (statement, _) in script.statements {
        if let Statement::Write(write) = statement {
            // What the configuration says of the source already, is done already.
            let _ = run_steps(world, pipeline, &[pipelint::model::Step::Write(write)], None);
        }
    }
}

fn reported<'a>(report: &'a Report, table: &str) -> &'a str {
    let own = || report.flows.iter().filter(|flow| rows::last_part(&flow.dataset.name) == table);
    let all = || report.flows.iter();
    own().map(|flow| flow.effect).max().or(all().map(|flow| flow.effect).max()).map_or("absent", Effect::as_str)
}

fn rules(report: &Report, table: &str) -> String {
    let flows = report.flows.iter().filter(|flow| rows::last_part(&flow.dataset.name) == table);
    let findings = flows.flat_map(|flow| &flow.findings).filter_map(|at| report.findings.get(*at));
    findings.map(|finding| finding.rule.as_str()).collect::<Vec<_>>().join(", ")
}

/// Failures to which Spark gives no class of their own are told by the exception.
fn error_name(class: &str) -> &str {
    match rows::last_part(class) {
        "ASSERT_SOURCE_COUNT" => "AssertionError",
        "OFFSET_JSON_OF_OTHER_SOURCE" => "MappingException",
        other => other,
    }
}

/// As far as a recording can tell.
fn coarse(effect: &str) -> &str {
    match effect {
        // A table that is left behind keeps its rows.
        "ignored" | "recomputed" | "orphaned" => "none",
        "mixed" | "wrong-rows" | "replayed" | "diverged" => "differs",
        other => other,
    }
}
