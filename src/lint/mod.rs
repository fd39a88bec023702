//! Scripts beside the pipelines and pipelines themselves, looked at as they are: what each batch write does to its table when the
//! script runs a first and a second time.
//!
//! Takes one tree. [`experiment`](mod@experiment) runs a script twice on the engine, over given rows or generated ones; what it
//! sees is the verdict, in the words of [`Label`].

mod assumed;
mod comparison;
mod data;
mod drift;
pub mod experiment;
mod label;
mod limits;
mod pipelines;
mod rewrite;
mod script;
mod settings;
mod snapshot;
mod source_commits;
mod statement;
mod symbols;
mod tables;
mod unknown;
mod worlds;

pub use data::Rows;
pub(crate) use data::is_day_name;
pub(crate) use experiment::same_name;
pub use experiment::{Experiment, Observed, experiment};
pub use label::{Label, effect};
pub(crate) use script::{operation_word, writes_into};
pub use snapshot::Snapshot;
pub(crate) use source_commits::changes_of_commits;
pub use tables::{TableFacts, facts};

use crate::analyze::{Analysis, AnalyzedFlow};
use crate::diff::{Change, kinds};
use crate::engine::ExecutionError;
use crate::frontend::{self, ParseCache, Script};
use crate::model::{Diagnostic, Job, Place, Platform, QualifiedName, Severity, Span, Unresolved};
use crate::project::Unit;
use crate::reading::{self, Options};
use crate::revision::{Tree, text};
use crate::rules::{Finding, RuleBook, RuleText, findings_of};
use crate::verdict::{Revision, Texts};
use rayon::prelude::*;
use script::Placed;
use statement::Beside;
use std::collections::{BTreeMap, BTreeSet};

/// One script with what two runs of it showed, or why nothing could be observed.
#[derive(Debug)]
pub struct ScriptRuns {
    pub script: Script,
    pub unit: Unit,
    pub observed: Result<Vec<Observed>, ExecutionError>,
}

/// Reads scripts and runs each twice, over given rows or generated ones.
pub fn run_scripts(tree: &dyn Tree, units: &[Unit], given: Option<&Rows>, cache: &ParseCache) -> Vec<ScriptRuns> {
    run_each(&frontend::jobs(tree, units, cache), units, given, &|_| true)
}

/// Runs those of the scripts that are wanted, by their path. What is known of tables comes from all of them.
fn run_each(
    scripts: &[Script],
    units: &[Unit],
    given: Option<&Rows>,
    wanted: &(dyn Fn(&str) -> bool + Sync),
) -> Vec<ScriptRuns> {
    let jobs: Vec<&Job> = scripts.iter().map(|script| &script.job).collect();
    scripts
        .par_iter()
        .filter(|script| wanted(&script.job.path))
        .filter_map(|script| {
            let unit = units.iter().find(|unit| unit.files.first().is_some_and(|f| *f.path == *script.job.path))?;
            let tables = facts(&script.job, &unit.pipeline, &jobs);
            let setup = Experiment { given, ..Experiment::new(&script.job, &unit.pipeline, &tables) };
            let observed = experiment(&setup);
            Some(ScriptRuns { script: script.clone(), unit: unit.clone(), observed })
        })
        .collect()
}

/// What happens to one table that a script writes.
#[derive(Debug, Clone)]
pub struct WriteVerdict {
    /// Of the script.
    pub path: String,
    pub place: Place,
    pub target: String,
    pub observed: Result<Observed, String>,
    /// The words of the effect; none where nothing could be observed.
    pub labels: Option<BTreeSet<Label>>,
    /// The table that the script writes as well and that this one only shows the effect of.
    pub follows: Option<String>,
    pub fix: Option<ProvenFix>,
    /// Rows were given by the user.
    pub given: bool,
    /// Indices into the findings.
    pub findings: Vec<usize>,
}

/// A rewrite that was run twice as well, and holds.
#[derive(Debug, Clone)]
pub struct ProvenFix {
    pub code: String,
}

/// A flow that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintedFlow {
    /// Key of the pipeline.
    pub pipeline: String,
    pub dataset: QualifiedName,
    pub flow: String,
}

/// Everything that one revision's lint found.
#[derive(Debug, Clone)]
pub struct LintReport {
    pub revision: String,
    pub platform: Platform,
    pub flows: Vec<LintedFlow>,
    /// The severity that the configuration fails on.
    pub fail_on: Option<Severity>,
    pub writes: Vec<WriteVerdict>,
    pub findings: Vec<Finding>,
    pub unresolved: Vec<Unresolved>,
    pub diagnostics: Vec<Diagnostic>,
    /// The rules behind the findings, by id.
    pub rules: BTreeMap<String, RuleText>,
    pub texts: Texts,
}

impl LintReport {
    /// Whether some finding that is not allowed has at least this severity.
    pub fn fails(&self, from: Severity) -> bool {
        from != Severity::Off && self.findings.iter().any(|f| f.allowed.is_none() && f.severity >= from)
    }

    /// What is said of some files alone, by their paths.
    pub fn of_files(mut self, files: &BTreeSet<String>) -> Self {
        let inside = |path: &str| files.contains(path);
        let mut places = BTreeMap::new();
        let mut kept = Vec::new();
        for (at, finding) in std::mem::take(&mut self.findings).into_iter().enumerate() {
            if finding.after.span().is_some_and(|span| inside(&span.path)) {
                places.insert(at, kept.len());
                kept.push(finding);
            }
        }
        self.findings = kept;
        self.writes.retain(|write| inside(&write.path));
        for write in &mut self.writes {
            write.findings = write.findings.iter().filter_map(|at| places.get(at).copied()).collect();
        }
        self.unresolved.retain(|unresolved| unresolved.span.as_ref().is_some_and(|span| inside(&span.path)));
        self.diagnostics.retain(|diagnostic| diagnostic.path.as_deref().is_some_and(inside));
        self
    }

    /// Findings of a severity that nobody accepted.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|f| f.allowed.is_none() && f.severity == severity).count()
    }
}

/// Lints one tree.
pub fn lint(tree: &dyn Tree, options: &Options, given: Option<&Rows>) -> LintReport {
    let cache = ParseCache::new();
    let reading = reading::read(tree, options, &cache);
    let runs = run_scripts(tree, &reading.project.scripts, given, &cache);
    let (book, mut diagnostics) = reading::rule_book(tree, &reading.project);
    let jobs: Vec<&Job> = runs.iter().map(|run| &run.script.job).collect();
    let mut found = Found::of(tree, &runs, &jobs, given, &book);
    for run in &runs {
        found.unresolved.extend(run.script.unresolved.iter().cloned());
        diagnostics.extend(run.script.diagnostics.iter().cloned());
    }
    for change in pipelines::changes(&reading.analysis, &jobs, &reading.project.jobs) {
        let pipeline = reading.analysis.workspace.pipelines.iter().find(|pipeline| pipeline.key == change.pipeline);
        let platform = pipeline.map_or(Platform::Lakeflow, |pipeline| pipeline.platform);
        found.findings.extend(findings_of(&book, platform, &change));
    }
    let baseline = options.baseline.clone();
    let tells = |kind: &str| kinds::OF_ONE_REVISION.contains(&kind) || kinds::OF_EITHER.contains(&kind);
    diagnostics.extend(reading::accept(&mut found.findings, None, (tree, &reading), &book, baseline, &tells));
    let texts = texts(tree, &found.findings);
    let Found { writes, findings, unresolved } = found;
    diagnostics.extend(reading.diagnostics);
    diagnostics.dedup();
    LintReport {
        revision: tree.label().to_owned(),
        platform: platform(&reading.analysis, options),
        flows: linted(&reading.analysis),
        fail_on: reading.project.configs.iter().find_map(|config| config.fail_on),
        rules: reading::rule_texts(&book, &findings),
        texts,
        writes,
        findings,
        unresolved: reading.unresolved.into_iter().chain(unresolved).collect(),
        diagnostics,
    }
}

/// What is to be said of some scripts of a tree, by their paths, with places in those scripts only.
pub fn script_findings(
    tree: &dyn Tree,
    units: &[Unit],
    wanted: &BTreeSet<String>,
    book: &RuleBook,
    cache: &ParseCache,
) -> Vec<Finding> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let scripts = frontend::jobs(tree, units, cache);
    let jobs: Vec<&Job> = scripts.iter().map(|script| &script.job).collect();
    let runs = run_each(&scripts, units, None, &|path| wanted.contains(path));
    let found = Found::of(tree, &runs, &jobs, None, book).findings;
    found.into_iter().filter(|f| f.after.span().is_some_and(|span| wanted.contains(&*span.path))).collect()
}

/// What the scripts have shown so far.
#[derive(Default)]
struct Found {
    writes: Vec<WriteVerdict>,
    findings: Vec<Finding>,
    unresolved: Vec<Unresolved>,
}

impl Found {
    /// What runs of scripts have shown; `jobs` are all scripts of the tree.
    fn of(tree: &dyn Tree, runs: &[ScriptRuns], jobs: &[&Job], given: Option<&Rows>, book: &RuleBook) -> Self {
        let settings = settings::dynamic_overwrite(tree);
        // A notebook that others run is told of where it stands itself, the first time elsewhere.
        let (own, run_by_others): (Vec<_>, Vec<_>) = runs
            .iter()
            .flat_map(|run| {
                verdicts(run, jobs, given, &settings).into_iter().map(move |(verdict, told)| (run, verdict, told))
            })
            .partition(|(run, verdict, _)| verdict.place.span().is_none_or(|span| *span.path == *run.script.job.path));
        let mut found = Found::default();
        for (run, verdict, told) in own.into_iter().chain(run_by_others) {
            let platform = run.unit.pipeline.platform;
            found.take(verdict, told.iter().flat_map(|change| findings_of(book, platform, change)).collect());
        }
        found
    }

    fn take(&mut self, verdict: WriteVerdict, findings: Vec<Finding>) {
        let first = self.findings.len();
        let same = |a: &Finding, b: &Finding| {
            a.rule == b.rule && a.dataset == b.dataset && script::same_statement(&a.after, &b.after)
        };
        for finding in findings {
            if !self.findings.iter().any(|known| same(known, &finding)) {
                self.findings.push(finding);
            }
        }
        let own = (first..self.findings.len()).collect();
        if let Err(reason) = &verdict.observed {
            self.unresolved.push(unobserved(&verdict, reason));
        }
        self.writes.push(WriteVerdict { findings: own, ..verdict });
    }
}

fn platform(analysis: &Analysis, options: &Options) -> Platform {
    let first = analysis.workspace.pipelines.first().map(|pipeline| pipeline.platform);
    options.platform.or(first).unwrap_or(Platform::Lakeflow)
}

fn linted(analysis: &Analysis) -> Vec<LintedFlow> {
    let of = |analyzed: &AnalyzedFlow| {
        let pipeline = analysis.workspace.pipelines.get(analyzed.pipeline)?;
        let flow = pipeline.flows.get(analyzed.flow)?;
        Some(LintedFlow { pipeline: pipeline.key.clone(), dataset: flow.target.clone(), flow: flow.name.clone() })
    };
    analysis.flows.iter().filter_map(of).collect()
}

/// The texts that the findings' places stand in.
fn texts(tree: &dyn Tree, findings: &[Finding]) -> Texts {
    let mut texts = Texts::default();
    for span in findings.iter().filter_map(|finding| finding.after.span()) {
        texts.add(Revision::After, &span.path, || text::shown(tree, &span.path));
    }
    texts
}

fn unobserved(verdict: &WriteVerdict, reason: &str) -> Unresolved {
    Unresolved {
        code: "unobserved-write".to_owned(),
        what: format!("what {} does to {}", verdict.path, verdict.target),
        why: reason.to_owned(),
        hint: Some("tell the table's schema and partitions under `sources:` in pipelint.yaml".to_owned()),
        pipeline: None,
        dataset: None,
        span: verdict.place.span().cloned().or_else(|| Some(Span::start_of(verdict.path.as_str().into()))),
    }
}

/// One verdict a target of a script, with what the rules are told of it.
fn verdicts(
    run: &ScriptRuns,
    jobs: &[&Job],
    given: Option<&Rows>,
    settings: &Option<String>,
) -> Vec<(WriteVerdict, Vec<Change>)> {
    let job = &run.script.job;
    let tables = facts(job, &run.unit.pipeline, jobs);
    let others = jobs.iter().filter(|other| other.path != job.path);
    let elsewhere = others.copied().find_map(settings::sets_dynamic).or_else(|| settings.clone());
    let mut targets: Vec<String> = Vec::new();
    for placed in script::writes(job) {
        let name = script::target_text(&placed.write.target);
        if !targets.iter().any(|known| same_name(known, &name)) {
            targets.push(name);
        }
    }
    let fails = run.observed.iter().flatten().any(|seen| seen.error.is_some());
    let mut verdicts = Vec::new();
    for target in targets {
        let writes = writes_into(job, &target);
        if script::only_defines(&writes, !fails) || script::is_temporary(&writes) {
            continue;
        }
        let table = tables.iter().find(|table| same_name(&table.name, &target));
        let observed = observed_of(run, &target, &writes);
        let seen = observed.as_ref().ok();
        let uncovered = seen.is_some_and(|seen| is_uncovered(run, &tables, &writes, seen));
        let inherited = seen.map(|seen| inherited(run, &writes, seen)).unwrap_or_default();
        let follows = inherited.values().next().cloned();
        let inherited = inherited.into_keys().collect();
        let beside = Beside { dynamic_elsewhere: elsewhere.clone(), uncovered, fails, inherited };
        let changes = statement::changes(job, &target, seen, table, &beside);
        let labels = seen.map(|seen| seen.labels.clone());
        let wrong = labels.as_ref().is_some_and(|labels| {
            labels.iter().any(|label| matches!(label, Label::Doubled | Label::Lost | Label::InputMissing))
        });
        let fix = table.filter(|_| wrong).and_then(|table| proven(run, &tables, table, &target, given));
        let place = script::deciding_place(&writes, seen);
        let verdict = WriteVerdict {
            path: job.path.clone(),
            place,
            target,
            observed,
            labels,
            follows,
            fix,
            given: given.is_some(),
            findings: Vec::new(),
        };
        verdicts.push((verdict, changes));
    }
    verdicts
}

/// What two runs showed of one target. A failure is told of the table whose statement fails: of one that was written before, the
/// rest is seen; of one that comes later, nothing.
fn observed_of(run: &ScriptRuns, target: &str, writes: &[Placed<'_>]) -> Result<Observed, String> {
    let all = run.observed.as_ref().map_err(|error| error.message.clone())?;
    let mut seen = (all.iter().find(|seen| same_name(&seen.target, target)).cloned())
        .ok_or_else(|| "no run that could be followed got to it".to_owned())?;
    let Some((error, place)) = seen.error.clone() else { return Ok(seen) };
    let of_job = script::writes(&run.script.job);
    let fails = |placed: &Placed<'_>| script::same_statement(&placed.write.place, &place);
    let Some(failing) = of_job.iter().position(fails).filter(|_| !writes.iter().any(fails)) else { return Ok(seen) };
    let is_own = |placed: &Placed<'_>| writes.iter().any(|own| std::ptr::eq(own.write, placed.write));
    if of_job.iter().rposition(is_own).is_some_and(|last| last > failing) {
        let line = place.span().map(|span| format!(" at {}:{}", span.path, span.line)).unwrap_or_default();
        return Err(format!("the script ends{line} before it gets there: [{}] {}", error.class, error.message));
    }
    seen.error = None;
    seen.labels.retain(|label| !matches!(label, Label::Error | Label::ErrorAtRun2));
    Ok(seen)
}

/// What was seen of a table only because it was seen of another that the script writes and reads for this one, with that other.
fn inherited(run: &ScriptRuns, writes: &[Placed<'_>], seen: &Observed) -> BTreeMap<Label, String> {
    let queries = writes.iter().flat_map(|placed| placed.write.queries());
    let sources: BTreeSet<String> = queries.flat_map(experiment::names_read).collect();
    let source_of = |label: &Label| {
        let others = run.observed.iter().flatten().filter(|other| !same_name(&other.target, &seen.target));
        let mut read = others.filter(|other| sources.iter().any(|name| same_name(name, &other.target)));
        read.find(|other| other.labels.contains(label)).map(|other| other.target.clone())
    };
    let may = |label: &&Label| match label {
        Label::Doubled => !writes.iter().any(Placed::adds),
        Label::ValuesChangedAtRun2 => true,
        _ => false,
    };
    seen.labels.iter().filter(may).filter_map(|label| Some((*label, source_of(label)?))).collect()
}

/// Whether rows that no predicate of the script asks for go into the table as well, or end the script: two runs over an input that
/// has such rows show it.
fn is_uncovered(run: &ScriptRuns, tables: &[TableFacts], writes: &[Placed<'_>], seen: &Observed) -> bool {
    if !writes.iter().any(|placed| script::replaces_by_predicate(placed.write)) {
        return false;
    }
    let setup = Experiment { beyond: true, ..Experiment::new(&run.script.job, &run.unit.pipeline, tables) };
    let Ok(all) = experiment(&setup) else { return false };
    let bad = |labels: &BTreeSet<Label>| {
        [Label::Error, Label::Doubled, Label::DuplicatedAtRun1].iter().any(|label| labels.contains(label))
    };
    all.iter().any(|beyond| same_name(&beyond.target, &seen.target) && bad(&beyond.labels) && !bad(&seen.labels))
}

/// The rewrite, where two runs of it leave the table as it should be.
fn proven(
    run: &ScriptRuns,
    tables: &[TableFacts],
    table: &TableFacts,
    target: &str,
    given: Option<&Rows>,
) -> Option<ProvenFix> {
    let rewrite = rewrite::rewrite(&run.script.job, target, table)?;
    let setup = Experiment { given, ..Experiment::new(&rewrite.job, &run.unit.pipeline, tables) };
    let seen = experiment(&setup).ok()?;
    let holds = seen.iter().any(|seen| same_name(&seen.target, target) && seen.labels.is_empty());
    holds.then_some(ProvenFix { code: rewrite.code })
}
