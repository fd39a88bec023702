//! The result of a run: what happens to each flow, why, what it does downstream and what to run, complete in itself (also the texts
//! that its places are in).
//!
//! A [`Report`] is plain data; it is made in `review` and printed by `report`. What it comes to (the worst effect, the headline's
//! outcome, the exit code) is computed here alone, so that no two formats can differ.

mod flow;
mod lineage;
mod remark;
mod texts;

pub use flow::{Confirmation, EngineName, FlowVerdict, SparkVerdict, column_list};
pub use lineage::{Lineage, LineageEdge, LineageNode, Presence, Standing, standings};
pub use remark::{Remark, remarks};
pub use texts::Texts;

use crate::confirm::spark::Substitution;
use crate::impact::{Impact, RefreshPlan};
use crate::model::{Diagnostic, Effect, Platform, Severity, Span, Unresolved};
use crate::rules::{Finding, RuleText};
use std::collections::{BTreeMap, BTreeSet};

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

/// What a comparison comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Clean,
    /// Something to read that does not fail the check.
    Notable,
    /// A finding at or above the severity that fails, or a file that the change broke.
    Fails,
}

/// The run of Apache Spark that confirmations are of.
#[derive(Debug, Clone)]
pub struct SparkRun {
    pub version: String,
    /// What of the code, and of the world around it, was replaced.
    pub substitutions: Vec<Substitution>,
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
    /// By the severity that their rules have in the root, most severe first.
    pub findings: Vec<Finding>,
    /// What `pipelint lint` says of changed scripts beside the pipelines and did not say of the before side; by place. They are
    /// named, and fail nothing.
    pub scripts: Vec<Finding>,
    pub impacts: Vec<Impact>,
    pub plan: RefreshPlan,
    pub unresolved: Vec<Remark<Unresolved>>,
    pub diagnostics: Vec<Remark<Diagnostic>>,
    /// Files and statements that the change made unreadable: what they define could not be judged.
    pub broken: usize,
    /// The severity that fails, where the command line or the configuration names one.
    pub fail_on: Option<Severity>,
    /// What reads what, in both revisions.
    pub lineage: Lineage,
    /// The run of Apache Spark, where it was asked.
    pub spark: Option<SparkRun>,
    /// The rules behind the findings, by id.
    pub rules: BTreeMap<String, RuleText>,
    pub texts: Texts,
}

impl Report {
    /// The worst effect on any flow or in any finding that is not allowed. Where a rule leaves it to an engine, the flow tells.
    pub fn worst(&self) -> Effect {
        let told: BTreeSet<usize> = self.flows.iter().flat_map(|flow| flow.findings.iter().copied()).collect();
        let findings = self.findings.iter().enumerate();
        let claimed = findings.filter(|(index, f)| f.allowed.is_none() && !(f.observed && told.contains(index)));
        let claimed = claimed.map(|(_, finding)| finding.effect);
        self.flows.iter().map(|flow| flow.open).chain(claimed).max().unwrap_or(Effect::None)
    }

    /// The verdict as one of three.
    pub fn verdict(&self) -> Verdict {
        if self.fails(self.fail_on.unwrap_or(Severity::Error)) {
            Verdict::Fails
        } else if self.flows.is_empty()
            || self.broken > 0
            || self.contradicted() > 0
            || self.worse_writes() > 0
            || self.count(Severity::Warning) + self.count(Severity::Error) > 0
            || !matches!(self.worst(), Effect::None | Effect::Ignored)
        {
            Verdict::Notable
        } else {
            Verdict::Clean
        }
    }

    /// Findings of a severity that count.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|f| f.severity == severity && f.allowed.is_none()).count()
    }

    /// Findings at changed scripts from warnings on that nobody accepted.
    pub fn worse_writes(&self) -> usize {
        self.scripts.iter().filter(|f| f.allowed.is_none() && f.severity >= Severity::Warning).count()
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

    /// Flows of which the engines do not say the same.
    pub fn disagreements(&self) -> usize {
        let spark = self.flows.iter().filter_map(|flow| flow.spark.as_ref());
        spark.filter(|spark| spark.engines_agree == Some(false)).count()
    }

    /// Findings that nobody accepted.
    pub fn open_findings(&self) -> usize {
        self.findings.iter().filter(|finding| finding.allowed.is_none()).count()
    }

    /// Some finding stands at or above the severity, or the change broke a file: what cannot be read is never a pass.
    pub fn fails(&self, fail_on: Severity) -> bool {
        let found = || self.findings.iter().any(|f| f.severity >= fail_on && f.allowed.is_none());
        fail_on != Severity::Off && (self.broken > 0 || found())
    }

    /// Every place that a report may show.
    pub fn places(&self) -> impl Iterator<Item = (Revision, &Span)> {
        let findings = self.findings.iter().chain(&self.scripts).flat_map(|finding| {
            let before = finding.before.span().map(|span| (Revision::Before, span));
            before.into_iter().chain(finding.after.span().map(|span| (Revision::After, span)))
        });
        let diagnostics = self.diagnostics.iter().filter_map(|d| d.entry.span.as_ref().map(|span| (d.revision, span)));
        let flows = self.flows.iter().flat_map(|flow| {
            let before = flow.before.as_ref().map(|span| (Revision::Before, span));
            before.into_iter().chain(flow.after.as_ref().map(|span| (Revision::After, span)))
        });
        findings.chain(diagnostics).chain(flows)
    }
}
