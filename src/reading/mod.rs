//! One revision, as far as it can be known without the other: its pipelines found, loaded and analysed, with its configuration and
//! its rule book.
//!
//! Takes a tree and the user's [`Options`]; gives a [`Reading`]. Both jobs start here: `review` compares two readings, `lint` looks
//! at one.

mod acceptance;

pub use acceptance::{Side, accept};

use crate::analyze::{Analysis, analyze};
use crate::checkpoint::{CheckpointFiles, SourceFacts};
use crate::confirm::Data;
use crate::confirm::spark::{PipelineCode, Settings};
use crate::engine::Effort;
use crate::frontend::{self, ParseCache};
use crate::model::{Diagnostic, PipelineKind, Platform, Unresolved};
use crate::policy::Baseline;
use crate::project::{self, ConfigFile, Project};
use crate::revision::{Tree, text};
use crate::rules::{Finding, RuleBook, RuleText};
use std::collections::BTreeMap;

/// What the user asks for beside the two trees.
#[derive(Default)]
pub struct Options {
    /// Bundle target.
    pub target: Option<String>,
    pub platform: Option<Platform>,
    /// Stands in for the root's `pipelint.yaml` of both revisions.
    pub config: Option<ConfigFile>,
    pub confirm: ConfirmWith,
    /// What one run of a query may cost in the experiment.
    pub effort: Effort,
    /// Seconds that one experiment may take.
    pub confirm_seconds: Option<u64>,
    /// Run the code of both revisions on Apache Spark too.
    pub spark: Option<SparkOptions>,
    /// Real checkpoints to compare with.
    pub checkpoints: Option<Checkpoints>,
    /// Findings that are accepted already.
    pub baseline: Option<Baseline>,
}

/// What runs, as far as its checkpoints say.
pub struct Checkpoints {
    pub files: CheckpointFiles,
    /// What is known of their sources as they are now.
    pub facts: SourceFacts,
    /// They are the before side: both trees are one.
    pub alone: bool,
}

/// How real Apache Spark is asked.
pub struct SparkOptions {
    pub settings: Settings,
    /// Its word stands in the place of the mini engine's, not beside it.
    pub alone: bool,
    /// Hears what is being done.
    pub progress: Box<dyn Fn(&str) + Sync>,
}

/// How verdicts are confirmed.
#[derive(Default)]
pub enum ConfirmWith {
    #[default]
    GeneratedRows,
    GivenRows(Data),
    /// Not at all: `--confirm off`.
    Nothing,
}

/// One revision, as far as it can be known without the other.
pub struct Reading {
    pub analysis: Analysis,
    pub project: ProjectFacts,
    pub diagnostics: Vec<Diagnostic>,
    pub unresolved: Vec<Unresolved>,
}

/// What of a project is not in its pipelines.
pub struct ProjectFacts {
    pub jobs: Vec<project::JobTask>,
    pub configs: Vec<project::Config>,
    /// Scripts beside the pipelines that write tables, and streaming jobs.
    pub scripts: Vec<project::Unit>,
    /// Which files are a pipeline's code.
    pub code: Vec<PipelineCode>,
}

/// Reads one tree: finds its pipelines, loads their files, analyses them.
pub fn read(tree: &dyn Tree, options: &Options, cache: &ParseCache) -> Reading {
    let parse_schema = |text: &str| frontend::sql::parse_schema_ddl(text);
    let discovery = project::Options {
        target: options.target.clone(),
        platform: options.platform,
        config: options.config.clone(),
        parse_schema: &parse_schema,
    };
    let mut project: Project = project::discover(tree, &discovery);
    let mut scripts = std::mem::take(&mut project.scripts);
    scripts.extend(project.units.iter().filter(|unit| unit.pipeline.kind == PipelineKind::Jobs).cloned());
    let facts = ProjectFacts {
        jobs: std::mem::take(&mut project.jobs),
        configs: std::mem::take(&mut project.configs),
        scripts,
        code: project.units.iter().map(code).collect(),
    };
    let mut workspace = frontend::load(tree, project, cache);
    let mut diagnostics = tree.diagnostics().to_vec();
    diagnostics.append(&mut workspace.diagnostics);
    let mut unresolved = std::mem::take(&mut workspace.unresolved);
    let analysis = analyze(workspace);
    unresolved.extend(analysis.flows.iter().flat_map(|flow| flow.unresolved.iter().cloned()));
    Reading { analysis, project: facts, diagnostics, unresolved }
}

fn code(unit: &project::Unit) -> PipelineCode {
    PipelineCode {
        key: unit.pipeline.key.clone(),
        platform: unit.pipeline.platform,
        files: unit.files.clone(),
        python_roots: unit.python_roots.clone(),
    }
}

/// The embedded rules, with the severities and rule folders that the after side configures.
pub fn rule_book(tree: &dyn Tree, project: &ProjectFacts) -> (RuleBook, Vec<Diagnostic>) {
    let mut severities = BTreeMap::new();
    let mut extra = Vec::new();
    let mut unreadable = Vec::new();
    for config in &project.configs {
        if config.folder.is_empty() {
            severities.extend(config.severities.iter().map(|(rule, severity)| (rule.clone(), severity.value)));
        }
        for folder in &config.rule_folders {
            let prefix = format!("{}/", folder.value.trim_end_matches('/'));
            for entry in tree.entries().iter().filter(|e| e.path.starts_with(&prefix) && e.path.ends_with(".yaml")) {
                match text::text_with_newlines(tree, &entry.path) {
                    Ok(text) => extra.push((entry.path.to_string(), text.to_string())),
                    Err(reason) => unreadable.push(*reason),
                }
            }
        }
    }
    let (book, mut diagnostics) = RuleBook::load(&extra, &severities);
    diagnostics.extend(unreadable);
    (book, diagnostics)
}

/// What there is to read about the rules behind findings.
pub fn rule_texts<'a>(book: &RuleBook, findings: impl IntoIterator<Item = &'a Finding>) -> BTreeMap<String, RuleText> {
    let rules = findings.into_iter().filter_map(|finding| book.rule(&finding.rule));
    rules.map(|rule| (rule.id.clone(), RuleText::new(rule))).collect()
}
