//! The result of a run as text, JSON and other formats: one file a format.
//!
//! Takes a [`Report`], which is complete in itself (also the texts that its places stand in), and gives one string a format.
//! Whatever came out of a repository is made harmless for the format it goes to.

mod json;
pub mod run;
pub mod safe;
pub mod show;
mod snippet;
mod text;

use crate::confirm::FlowConfirmation;
use crate::diff::FlowStatus;
use crate::impact::{Impact, RefreshPlan};
use crate::model::{Diagnostic, Effect, FullRefresh, Platform, QualifiedName, Severity, Span, Unresolved};
use crate::rules::Finding;
use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Revision {
    Before,
    After,
}

impl Revision {
    pub fn as_str(self) -> &'static str {
        match self {
            Revision::Before => "before",
            Revision::After => "after",
        }
    }
}

/// One of the two revisions, as the user knows it.
#[derive(Debug, Clone)]
pub struct Side {
    pub label: String,
}

/// What happens to one flow.
#[derive(Debug, Clone)]
pub struct FlowVerdict {
    /// Key of the pipeline.
    pub pipeline: String,
    pub flow: String,
    pub dataset: QualifiedName,
    pub status: FlowStatus,
    /// The worst that its findings claim, or what the engine observed where they leave it to the engine.
    pub effect: Effect,
    /// The same without the findings that somebody accepted: what counts for the headline.
    pub open: Effect,
    pub full_refresh: FullRefresh,
    /// None for an unchanged flow that nothing concerns.
    pub confirmation: Option<Confirmation>,
    /// Indices into the report's findings.
    pub findings: Vec<usize>,
    pub before: Option<Span>,
    pub after: Option<Span>,
}

/// What an engine observed of a flow, beside what the rules claim.
#[derive(Debug, Clone)]
pub enum Confirmation {
    NotRun {
        reason: String,
    },
    Ran {
        run: Box<FlowConfirmation>,
        /// None where the engine could observe nothing, or where what it saw follows from a table upstream.
        agrees: Option<bool>,
        /// The table upstream whose changed rows explain an observation that no finding of this flow claims.
        follows_from: Option<String>,
    },
}

impl Confirmation {
    pub fn not_run(reason: &str) -> Self {
        Confirmation::NotRun { reason: reason.to_owned() }
    }

    /// Compares what was observed with what is claimed.
    pub fn ran(run: FlowConfirmation, claimed: Effect) -> Self {
        let agrees = run.observed.and_then(|observed| same_outcome(claimed, observed));
        Confirmation::Ran { run: Box::new(run), agrees, follows_from: None }
    }

    /// Takes an unclaimed observation as the consequence of what happens upstream: no contradiction of this flow's claim.
    pub fn explained_by(&mut self, upstream: &str) {
        if let Confirmation::Ran { agrees, follows_from, .. } = self {
            *agrees = None;
            *follows_from = Some(upstream.to_owned());
        }
    }

    pub fn agrees(&self) -> Option<bool> {
        match self {
            Confirmation::NotRun { .. } => None,
            Confirmation::Ran { agrees, .. } => *agrees,
        }
    }
}

/// Whether an observation bears a claim out; none where the experiment cannot tell: what a deployment does with whole tables
/// (left behind, deleted) happens outside of updates.
///
/// An ignored edit leaves the table as a full refresh would make it only by chance: an engine sees `none` or old rows that differ.
fn same_outcome(claimed: Effect, observed: Effect) -> Option<bool> {
    match (claimed, observed) {
        _ if claimed == observed => Some(true),
        (Effect::Orphaned | Effect::Dropped, _) => None,
        (Effect::Ignored, Effect::None | Effect::Mixed) => Some(true),
        _ => Some(false),
    }
}

/// Texts of the files that places of a report stand in.
#[derive(Debug, Clone, Default)]
pub struct Texts(BTreeMap<(Revision, Arc<str>), Arc<str>>);

impl Texts {
    pub fn add(&mut self, revision: Revision, path: &Arc<str>, read: impl FnOnce() -> Option<Arc<str>>) {
        let key = (revision, Arc::clone(path));
        if !self.0.contains_key(&key)
            && let Some(text) = read()
        {
            self.0.insert(key, text);
        }
    }

    pub fn get(&self, revision: Revision, path: &str) -> Option<&str> {
        self.0.get(&(revision, path.into())).map(AsRef::as_ref)
    }
}

/// Everything that one comparison found out.
#[derive(Debug, Clone)]
pub struct Report {
    pub before: Side,
    pub after: Side,
    pub platform: Platform,
    /// Number of pipelines, of either side.
    pub pipelines: usize,
    /// By pipeline, dataset and name.
    pub flows: Vec<FlowVerdict>,
    /// Most severe first.
    pub findings: Vec<Finding>,
    pub impacts: Vec<Impact>,
    pub plan: RefreshPlan,
    pub unresolved: Vec<(Revision, Unresolved)>,
    pub diagnostics: Vec<(Revision, Diagnostic)>,
    /// What the configuration says of `--fail-on`.
    pub fail_on: Option<Severity>,
    pub texts: Texts,
}

impl Report {
    /// The worst effect on any flow or in any finding that is not allowed.
    pub fn worst(&self) -> Effect {
        let findings = self.findings.iter().filter(|finding| finding.allowed.is_none()).map(|finding| finding.effect);
        self.flows.iter().map(|flow| flow.open).chain(findings).max().unwrap_or(Effect::None)
    }

    /// Findings of a severity that count.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|f| f.severity == severity && f.allowed.is_none()).count()
    }

    /// Claims that the engine contradicts.
    pub fn contradicted(&self) -> usize {
        self.agreeing(false)
    }

    /// Claims that the engine confirms.
    pub fn confirmed(&self) -> usize {
        self.agreeing(true)
    }

    fn agreeing(&self, value: bool) -> usize {
        self.flows.iter().filter_map(|flow| flow.confirmation.as_ref()).filter(|c| c.agrees() == Some(value)).count()
    }

    /// Findings that nobody accepted.
    pub fn open_findings(&self) -> usize {
        self.findings.iter().filter(|finding| finding.allowed.is_none()).count()
    }

    /// Some finding stands at or above the severity.
    pub fn fails(&self, fail_on: Severity) -> bool {
        fail_on != Severity::Off && self.findings.iter().any(|f| f.severity >= fail_on && f.allowed.is_none())
    }

    /// Every place that a report may show.
    pub fn places(&self) -> impl Iterator<Item = (Revision, &Span)> {
        let findings = self.findings.iter().flat_map(|finding| {
            let before = finding.before.span().map(|span| (Revision::Before, span));
            before.into_iter().chain(finding.after.span().map(|span| (Revision::After, span)))
        });
        let diagnostics =
            self.diagnostics.iter().filter_map(|(revision, d)| d.span.as_ref().map(|span| (*revision, span)));
        findings.chain(diagnostics)
    }
}

/// A report's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Format::Text),
            "json" => Ok(Format::Json),
            _ => Err(format!("`{text}` is no report format; known are text, json")),
        }
    }
}

/// How a report for people looks.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    pub colors: bool,
    /// Columns of the terminal.
    pub width: usize,
    /// Reasons, witnesses and remedies of every finding, also of notes.
    pub explain: bool,
}

pub fn render(report: &Report, format: Format, style: Style) -> String {
    match format {
        Format::Text => text::render(report, style),
        Format::Json => json::render(report),
    }
}
