//! The main job: two trees in, a [`Report`] out.
//!
//! Runs the road from one end to the other: project, frontend, analyze, diff, rules, impact, confirm. No terminal, no files
//! beside the trees.

mod deployed;
mod scripts;
mod settle;
mod unread;

pub use scripts::Beside;

use crate::alternative::{self, Alternative};
use crate::analyze::Analysis;
use crate::confirm::spark::{RevisionCode, Spark};
use crate::confirm::{self, FlowConfirmation, Scripts, SecondConfirmation};
use crate::diff::{Change, Diff, FlowPair, FlowStatus, diff, kinds, moved_pipelines, unattended_refreshes};
use crate::frontend::ParseCache;
use crate::graph::Graph;
use crate::impact::{impact, refresh_plan};
use crate::model::{Diagnostic, DiagnosticLevel, Effect, Platform, QualifiedName, Span};
use crate::reading::{ConfirmWith, Options, Reading, accept, read, rule_book, rule_texts};
use crate::revision::{EntryKind, Tree, text};
use crate::rules::RuleBook;
use crate::rules::{Assessment, Finding, FlowAssessment, assess};
use crate::verdict::{
    Confirmation, EngineName, FlowVerdict, Lineage, Remark, Report, Revision, Side, SparkRun, SparkVerdict, Texts,
    remarks,
};
use std::collections::{BTreeMap, BTreeSet};

/// A report with what it was made from.
pub struct Examination {
    pub report: Report,
    pub before: Analysis,
    pub after: Analysis,
    pub difference: Diff,
    pub alternatives: Vec<Alternative>,
    /// The rules that were asked.
    pub book: RuleBook,
}

/// Compares two trees.
pub fn review(before: &dyn Tree, after: &dyn Tree, options: &Options) -> Report {
    examine(before, after, options).report
}

/// Compares two trees, and keeps both analyses beside the report.
pub fn examine(before: &dyn Tree, after: &dyn Tree, options: &Options) -> Examination {
    let cache = ParseCache::new();
    let (mut b, a) = rayon::join(|| read(before, options, &cache), || read(after, options, &cache));
    let (a, unread) = unread::carry(&b, a, (before, after), options, &cache);
    // From here on a pipeline that stands elsewhere now is one on both sides: its new key.
    for (old, new) in moved_pipelines(&b.analysis, &a.analysis) {
        let keys = b.analysis.workspace.pipelines.iter_mut().map(|pipeline| &mut pipeline.key);
        let keys = keys.chain(b.project.code.iter_mut().map(|code| &mut code.key));
        keys.filter(|key| **key == old).for_each(|key| key.clone_from(&new));
    }
    let mut difference = diff(&b.analysis, &a.analysis);
    let checkpoints = options.checkpoints.as_ref().map(|checkpoints| {
        let before = (!checkpoints.alone).then_some(&b.analysis);
        let verdicts = deployed::judge(checkpoints, before, &a.analysis, &mut difference);
        crate::diff::complete_facts(&b.analysis, &a.analysis, &mut difference.changes);
        verdicts
    });
    let (book, mut diagnostics) = rule_book(after, &a.project);
    let mut further: Vec<Change> = unattended_refreshes(&b.project.jobs, &a.project.jobs);
    further.extend(unread);
    let scripts_beside = Beside::of((before, &b), (after, &a), &difference, &cache);
    let commits = scripts_beside.source_commits(&b.analysis, &a.analysis);
    further.extend(commits.iter().cloned());
    let mut assessment = assess(&book, &b.analysis, &a.analysis, &difference, &further);
    let baseline = options.baseline.clone();
    diagnostics.extend(accept(&mut assessment.findings, Some((before, &b)), (after, &a), &book, baseline, &|kind| {
        !kinds::OF_ONE_REVISION.contains(&kind)
    }));
    let scripts = scripts::worsened((before, &b), (after, &a), &book, options, &cache);
    let alone = options.checkpoints.as_ref().is_some_and(|checkpoints| checkpoints.alone);
    let experiment = experiment(&difference, &commits, scripts_beside.scripts, options).filter(|_| !alone);
    let confirmed = experiment.as_ref().map(|experiment| confirm::confirm(&b.analysis, &a.analysis, experiment));
    let spark = on_spark((before, &b), (after, &a), experiment.as_ref(), options, confirmed.as_ref());
    let (spark, seen) = spark.unzip();
    let confirmations = Confirmations { mini: by_flow(confirmed), spark: seen.unwrap_or_default() };
    let observed: Vec<Option<Effect>> = difference.flows.iter().map(|pair| confirmations.observed(pair)).collect();
    settle::settle(&mut assessment, &difference, &observed, &book);
    let graph = Graph::new(&a.analysis);
    let impacts = impact(&b.analysis, &a.analysis, &difference, &assessment, &graph);
    let plan = refresh_plan(&a.analysis, &difference, &assessment, &impacts, &graph);
    let desk = alternative::Desk {
        before_sheets: alternative::Sheets::of(before),
        after_sheets: alternative::Sheets::of(after),
        after: &a.analysis,
        difference: &difference,
        findings: &assessment.findings,
        impacts: &impacts,
        plan: &plan,
    };
    let alternatives = alternative::alternatives(&desk);
    alternative::write_into(&mut assessment.findings, &alternatives);
    let mut flows = verdicts(&b.analysis, &a.analysis, &difference, &assessment, &confirmations, options);
    explain_by_upstream(&a.analysis, &graph, &difference, &mut flows);
    flows.iter_mut().for_each(FlowVerdict::settle);
    diagnostics.extend(a.diagnostics);
    diagnostics.extend(moved_submodules(before, after));
    let diagnostics = remarks(b.diagnostics, diagnostics);
    let mut report = Report {
        before: Side { label: if alone { deployed_label(options) } else { before.label().to_owned() } },
        after: Side { label: after.label().to_owned() },
        platform: platform(&a.analysis, &b.analysis, options),
        pipelines: difference.pipelines.len(),
        flows,
        findings: assessment.findings,
        scripts,
        impacts,
        plan,
        unresolved: remarks(b.unresolved, a.unresolved),
        broken: broken(&diagnostics, (before, after)),
        diagnostics,
        fail_on: a.project.configs.iter().find_map(|config| config.fail_on),
        lineage: Lineage::new(&b.analysis, &a.analysis),
        spark,
        checkpoints: checkpoints.unwrap_or_default(),
        rules: BTreeMap::new(),
        texts: Texts::default(),
    };
    report.rules = rule_texts(&book, report.findings.iter().chain(&report.scripts));
    report.texts = texts(before, after, options, &report);
    Examination { report, before: b.analysis, after: a.analysis, difference, alternatives, book }
}

fn deployed_label(options: &Options) -> String {
    let files = options.checkpoints.as_ref().map(|checkpoints| checkpoints.files.label());
    format!("checkpoints in {}", files.unwrap_or_default())
}

fn platform(after: &Analysis, before: &Analysis, options: &Options) -> Platform {
    let first = |analysis: &Analysis| analysis.workspace.pipelines.first().map(|pipeline| pipeline.platform);
    options.platform.or_else(|| first(after)).or_else(|| first(before)).unwrap_or(Platform::Lakeflow)
}

type FlowKey = (String, String, String);

fn key(pair: &FlowPair) -> FlowKey {
    (pair.pipeline.clone(), pair.dataset.key(), pair.flow.clone())
}

/// How the experiment is set up; none where there is none to make. `commits` is what scripts begin to do to tables that flows read.
fn experiment(
    difference: &Diff,
    commits: &[Change],
    scripts: Scripts,
    options: &Options,
) -> Option<confirm::Options<'static>> {
    let data = match &options.confirm {
        ConfirmWith::Nothing => return None,
        ConfirmWith::GeneratedRows => None,
        ConfirmWith::GivenRows(data) => Some(data.clone()),
    };
    let unchanged = difference.flows.iter().all(|flow| flow.status == FlowStatus::Unchanged);
    let concerned: Vec<&QualifiedName> = commits.iter().filter_map(|change| change.dataset.as_ref()).collect();
    if unchanged && difference.changes.is_empty() && concerned.is_empty() {
        return None;
    }
    let mut datasets = changed_datasets(difference);
    if let Some(datasets) = &mut datasets {
        datasets.extend(concerned.into_iter().map(QualifiedName::key));
    }
    Some(confirm::Options {
        data,
        witnesses: true,
        datasets,
        scripts,
        effort: options.effort,
        seconds: options.confirm_seconds,
        ..confirm::Options::default()
    })
}

fn by_flow(confirmed: Option<confirm::Confirmation>) -> BTreeMap<FlowKey, FlowConfirmation> {
    let flows = confirmed.into_iter().flat_map(|confirmation| confirmation.flows);
    flows.map(|flow| ((flow.pipeline.clone(), flow.dataset.key(), flow.flow.clone()), flow)).collect()
}

/// The same experiment on Apache Spark, where it was asked for.
fn on_spark(
    (before_tree, before): (&dyn Tree, &Reading),
    (after_tree, after): (&dyn Tree, &Reading),
    experiment: Option<&confirm::Options<'static>>,
    options: &Options,
    confirmed: Option<&confirm::Confirmation>,
) -> Option<(SparkRun, BTreeMap<FlowKey, SecondConfirmation>)> {
    let (asked, experiment, confirmed) = (options.spark.as_ref()?, experiment?, confirmed?);
    let before_code = RevisionCode { tree: before_tree, pipelines: &before.project.code };
    let after_code = RevisionCode { tree: after_tree, pipelines: &after.project.code };
    let spark = Spark::new(asked.settings.clone(), vec![before_code, after_code], asked.progress.as_ref()).ok()?;
    let deployment = spark.deployment();
    let both = [&before.analysis, &after.analysis];
    let seen = confirm::confirm_on(&spark, &deployment, both, experiment, confirmed);
    let run = SparkRun { version: spark.version(), substitutions: spark.substitutions() };
    Some((run, confirm::by_flow(seen)))
}

/// What each engine saw, by flow.
struct Confirmations {
    mini: BTreeMap<FlowKey, FlowConfirmation>,
    spark: BTreeMap<FlowKey, SecondConfirmation>,
}

impl Confirmations {
    /// What the mini engine saw of a flow, or Spark where it saw nothing.
    fn observed(&self, pair: &FlowPair) -> Option<Effect> {
        let key = key(pair);
        let mini = self.mini.get(&key).and_then(|run| run.observed);
        mini.or_else(|| self.spark.get(&key).and_then(|seen| seen.flow.observed))
    }
}

/// Datasets that something has happened to; none where a change concerns a whole pipeline.
fn changed_datasets(difference: &Diff) -> Option<BTreeSet<String>> {
    if difference.changes.iter().any(|change| change.dataset.is_none()) {
        return None;
    }
    let changed = difference.flows.iter().filter(|flow| flow.status != FlowStatus::Unchanged);
    let names = changed.flat_map(|flow| std::iter::once(&flow.dataset).chain(&flow.counterpart));
    Some(
        names
            .chain(difference.changes.iter().filter_map(|change| change.dataset.as_ref()))
            .map(|name| name.key())
            .collect(),
    )
}

fn verdicts(
    before: &Analysis,
    after: &Analysis,
    difference: &Diff,
    assessment: &Assessment,
    confirmations: &Confirmations,
    options: &Options,
) -> Vec<FlowVerdict> {
    let mut times: BTreeMap<(FlowKey, bool), usize> = BTreeMap::new();
    for pair in &difference.flows {
        for is_after in
            [pair.before.is_some().then_some(false), pair.after.is_some().then_some(true)].into_iter().flatten()
        {
            *times.entry((key(pair), is_after)).or_insert(0) += 1;
        }
    }
    let none = FlowAssessment {
        effect: Effect::None,
        observed: false,
        certain: Effect::None,
        confirmable: true,
        full_refresh: crate::model::FullRefresh::No,
        findings: Vec::new(),
    };
    difference
        .flows
        .iter()
        .enumerate()
        .map(|(index, pair)| {
            let assessed = assessment.flows.get(index).unwrap_or(&none);
            let open = open_effect(assessed, &assessment.findings);
            let once = [false, true].iter().all(|side| times.get(&(key(pair), *side)).is_none_or(|times| *times == 1));
            let mut verdict = verdict(before, after, pair, (assessed, open), confirmations, options);
            if let (false, Some(confirmation)) = (once, &mut verdict.confirmation) {
                *confirmation =
                    Confirmation::not_run("it is defined more than once; which definition is deployed is not known");
                verdict.spark = None;
            }
            verdict
        })
        .collect()
}

/// The worst that findings claim which nobody accepted; none where an engine decides it.
fn open_effect(assessed: &FlowAssessment, findings: &[Finding]) -> Option<Effect> {
    let open = || assessed.findings.iter().filter_map(|index| findings.get(*index)).filter(|f| f.allowed.is_none());
    if open().any(|finding| finding.observed) {
        return None;
    }
    Some(Effect::together(open().map(|finding| finding.effect)))
}

fn verdict(
    before: &Analysis,
    after: &Analysis,
    pair: &FlowPair,
    (assessed, open): (&FlowAssessment, Option<Effect>),
    confirmations: &Confirmations,
    options: &Options,
) -> FlowVerdict {
    let key = key(pair);
    let (ran, seen) = (confirmations.mini.get(&key), confirmations.spark.get(&key));
    let effect = assessed.effect;
    let mini = told(pair, assessed, ran, effect, options);
    let spark = seen.and_then(|seen| {
        Some(SparkVerdict {
            confirmation: told(pair, assessed, Some(&seen.flow), effect, options)?,
            engines_agree: seen.engines_agree,
            mini: seen.mini,
            real: seen.real,
        })
    });
    let alone = options.spark.as_ref().is_some_and(|asked| asked.alone);
    let (confirmation, engine, spark) = match spark {
        Some(spark) if alone => (Some(spark.confirmation), EngineName::Spark, None),
        spark => (mini, EngineName::Mini, spark),
    };
    let place = |analysis: &Analysis, index: Option<crate::diff::FlowRef>| -> Option<Span> {
        let index = index?;
        let flow = analysis.workspace.pipelines.get(index.pipeline)?.flows.get(index.flow)?;
        flow.place.span().cloned()
    };
    FlowVerdict {
        pipeline: pair.pipeline.clone(),
        flow: pair.flow.clone(),
        dataset: pair.dataset.clone(),
        status: pair.status,
        effect,
        open: open.unwrap_or(effect),
        left_to_engine: assessed.observed && assessed.certain == Effect::None,
        full_refresh: assessed.full_refresh,
        confirmation,
        engine,
        spark,
        findings: assessed.findings.clone(),
        before: place(before, pair.before),
        after: place(after, pair.after),
    }
}

/// An engine's word on a flow, as far as it counts; none for an unchanged flow that nothing concerns.
fn told(
    pair: &FlowPair,
    assessed: &FlowAssessment,
    ran: Option<&FlowConfirmation>,
    effect: Effect,
    options: &Options,
) -> Option<Confirmation> {
    match (pair.status, ran, &options.confirm) {
        (FlowStatus::Unchanged, _, _) if assessed.findings.is_empty() => None,
        _ if options.checkpoints.as_ref().is_some_and(|checkpoints| checkpoints.alone) => {
            Some(Confirmation::not_run("the checkpoint itself was compared; it holds no rows"))
        }
        (_, _, ConfirmWith::Nothing) => Some(Confirmation::not_run("turned off by --confirm off")),
        // What stops an update is seen on any rows.
        (_, Some(run), _) if !assessed.confirmable && !stops_what_goes_on(run.observed, effect) => {
            Some(Confirmation::not_run(if effect == Effect::Unknown {
                "what decides it is not known here"
            } else {
                "claimed from the platform's documents: the engine does not imitate this"
            }))
        }
        (FlowStatus::Added, Some(run), _) if assessed.findings.is_empty() && holds_rows_only_of_now(run.observed) => {
            Some(Confirmation::not_run("a new flow into a new table has no older rows to be compared with"))
        }
        (_, Some(run), _) => Some(Confirmation::ran(run.clone(), effect)),
        (FlowStatus::Unchanged, None, _) => Some(Confirmation::not_run("its query is as it was")),
        (_, None, _) => Some(Confirmation::not_run("the engine ran no such flow")),
    }
}

/// An engine saw a stop of what is claimed to go on.
fn stops_what_goes_on(observed: Option<Effect>, claimed: Effect) -> bool {
    observed.is_some_and(Effect::stops) && !claimed.stops() && claimed != Effect::Unknown
}

/// What an engine may see of a flow that starts with its table: values that hang on the time and the batches of a run.
fn holds_rows_only_of_now(observed: Option<Effect>) -> bool {
    matches!(observed, Some(Effect::Mixed | Effect::Replayed | Effect::WrongRows))
}

/// A flow that only passes on what happened to a table it reads is no contradiction of its own claim: the impact tells it.
fn explain_by_upstream(after: &Analysis, graph: &Graph, difference: &Diff, flows: &mut [FlowVerdict]) {
    let open = |told: &Confirmation| told.agrees() == Some(false) || told.was_stopped();
    if !flows.iter().flat_map(FlowVerdict::confirmations).any(|(_, told)| open(told)) {
        return;
    }
    let mut affected: BTreeMap<usize, String> = BTreeMap::new();
    for (pair, verdict) in difference.flows.iter().zip(flows.iter()) {
        let node = pair.after.and_then(|flow| graph.find(after, flow.pipeline, &pair.dataset));
        if let Some(node) = node.filter(|_| !matches!(verdict.effect, Effect::None | Effect::Ignored)) {
            for reader in graph.reachable(node).into_iter().filter(|reader| *reader != node) {
                affected.entry(reader.index()).or_insert_with(|| pair.dataset.to_string());
            }
        }
    }
    for (pair, verdict) in difference.flows.iter().zip(flows.iter_mut()) {
        let node = pair.after.and_then(|flow| graph.find(after, flow.pipeline, &pair.dataset));
        let upstream = node.and_then(|node| affected.get(&node.index()));
        let Some(upstream) = upstream else { continue };
        let spark = verdict.spark.as_mut().map(|spark| &mut spark.confirmation);
        for confirmation in verdict.confirmation.as_mut().into_iter().chain(spark) {
            if open(confirmation) {
                confirmation.explained_by(upstream);
            }
        }
    }
}

/// What this change leaves unread: errors of AFTER that are new or in a file that differs, and files of BEFORE that cannot be had.
fn broken(diagnostics: &[Remark<Diagnostic>], trees: (&dyn Tree, &dyn Tree)) -> usize {
    let counts = |remark: &&Remark<Diagnostic>| match remark.revision {
        Revision::Before => remark.entry.is_read_error(),
        Revision::After => {
            let changed = || remark.entry.path.as_ref().is_some_and(|path| unread::differs(trees, path));
            remark.entry.level == DiagnosticLevel::Error && (!remark.in_both || changed())
        }
    };
    diagnostics.iter().filter(counts).count()
}

/// Submodules that point at another commit: their files are not read, so what that changes cannot be told.
fn moved_submodules(before: &dyn Tree, after: &dyn Tree) -> Vec<Diagnostic> {
    let of_after = after.entries().iter().filter(|entry| entry.kind == EntryKind::Submodule);
    let moved = of_after.filter(|entry| before.entry(&entry.path).is_some_and(|old| old.content != entry.content));
    moved
        .map(|entry| {
            let message =
                "the submodule points at another commit: its files are not read, and what changes in them is not known";
            Diagnostic::new(DiagnosticLevel::Warning, "submodule-changed", message)
                .in_file(&entry.path)
                .with_help("run pipelint inside the submodule between the two commits")
        })
        .collect()
}

/// The texts that the report's places stand in.
fn texts(before: &dyn Tree, after: &dyn Tree, options: &Options, report: &Report) -> Texts {
    let mut texts = Texts::default();
    let files = options.checkpoints.as_ref().map(|checkpoints| &checkpoints.files);
    for (revision, span) in report.places() {
        let tree = match revision {
            Revision::Before => before,
            Revision::After => after,
        };
        let stored = files.filter(|_| revision == Revision::Before);
        if let Some(text) = stored.and_then(|files| files.text(&span.path)) {
            texts.add(revision, &span.path, || Some(text));
            continue;
        }
        texts.add(revision, &span.path, || text::shown(tree, &span.path));
    }
    texts
}
