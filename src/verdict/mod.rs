//! The result of a run: what happens to each flow, why, what it does downstream and what to run, complete in itself (also the texts
//! that its places are in).
//!
//! A [`Report`] is plain data; it is made in `review` and printed by `report`. What it comes to (the worst effect, the headline's
//! outcome, the exit code) is computed here alone, so that no two formats can differ.

mod checkpoint;
mod flow;
mod headline;
mod lineage;
mod remark;
mod texts;

pub use checkpoint::{CheckpointFlow, CheckpointSource, CheckpointVerdict, Resumption, SchemaPair};
pub use flow::{Confirmation, Contradiction, EngineName, Equality, FlowVerdict, SparkVerdict, column_list};
pub use headline::counted;
pub use lineage::{Lineage, LineageEdge, LineageNode, Presence, Standing, standings};
pub use remark::{Remark, remarks};
pub use texts::Texts;

use crate::confirm::spark::Substitution;
use crate::impact::{Impact, RefreshPlan};
use crate::model::{Diagnostic, DiagnosticLevel, Effect, FullRefresh, Platform, Severity, Span, Unresolved};
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
    /// Checkpoints that were read, by path.
    pub checkpoints: Vec<CheckpointVerdict>,
    /// The run of Apache Spark, where it was asked.
    pub spark: Option<SparkRun>,
    /// The rules behind the findings, by id.
    pub rules: BTreeMap<String, RuleText>,
    pub texts: Texts,
}

impl Report {
    /// The worst effect on any flow or downstream of one, and of findings that concern no flow; what is accepted does not count.
    pub fn worst(&self) -> Effect {
        let of_flows: BTreeSet<usize> = self.flows.iter().flat_map(|flow| flow.findings.iter().copied()).collect();
        let findings = self.findings.iter().enumerate();
        let others = findings.filter(|(index, finding)| finding.allowed.is_none() && !of_flows.contains(index));
        let others = others.map(|(_, finding)| finding.effect);
        let downstream = self.open_impacts().map(|impact| impact.effect);
        self.flows.iter().map(|flow| flow.open).chain(downstream).chain(others).max().unwrap_or(Effect::None)
    }

    /// Effects downstream of tables whose own effect nobody accepted.
    pub fn open_impacts(&self) -> impl Iterator<Item = &Impact> {
        let accepted: BTreeSet<String> =
            self.flows.iter().filter(|flow| flow.is_accepted()).map(|flow| flow.dataset.to_string()).collect();
        self.impacts.iter().filter(move |impact| {
            let of_table = |table: &String| {
                impact.because_of.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            !accepted.iter().any(of_table)
        })
    }

    /// No table is another one than a full refresh would make, nothing has to be refreshed, and nothing is in doubt.
    pub fn is_harmless(&self) -> bool {
        self.worst() == Effect::None
            && self.plan.full_refresh.is_empty()
            && self.flows.iter().all(|flow| flow.full_refresh != FullRefresh::Required)
            && self.broken == 0
            && self.contradicted() == 0
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
        self.flows.iter().filter(|flow| flow.agrees() == Some(false)).count()
    }

    /// Claims that the engine confirms.
    pub fn confirmed(&self) -> usize {
        self.flows.iter().filter(|flow| !flow.left_to_engine && flow.agrees() == Some(true)).count()
    }

    /// Effects that no rule claims and the engine saw.
    pub fn left_to_engine(&self) -> usize {
        self.flows.iter().filter(|flow| flow.left_to_engine && flow.agrees() == Some(true)).count()
    }

    /// Flows of which the engines do not say the same.
    pub fn disagreements(&self) -> usize {
        let spark = self.flows.iter().filter_map(|flow| flow.spark.as_ref());
        spark.filter(|spark| spark.engines_agree == Some(false)).count()
    }

    /// Errors of the input that no finding is about: what could not be read, and what else is wrong with it.
    pub fn input_errors(&self) -> impl Iterator<Item = &Diagnostic> {
        let told = |diagnostic: &Diagnostic| {
            let spans = self.findings.iter().filter_map(|finding| finding.after.span());
            diagnostic.span.as_ref().is_some_and(|span| spans.into_iter().any(|other| other == span))
        };
        let new = self.diagnostics.iter().filter(|remark| remark.revision == Revision::After && !remark.in_both);
        let errors = new.map(|remark| &remark.entry).filter(|diagnostic| diagnostic.level == DiagnosticLevel::Error);
        errors.filter(move |diagnostic| !told(diagnostic))
    }

    /// Findings that nobody accepted.
    pub fn open_findings(&self) -> usize {
        self.findings.iter().filter(|finding| finding.allowed.is_none()).count()
    }

    /// Something counts at this severity or above: a finding, an effect that no finding explains or an engine contradicts, a flow
    /// that was seen to stop, or a file that could not be read, which is never a pass.
    pub fn fails(&self, fail_on: Severity) -> bool {
        let found = || self.findings.iter().any(|f| f.severity >= fail_on && f.allowed.is_none());
        let unexplained = |flow: &FlowVerdict| {
            flow.findings.is_empty() || flow.contradiction().is_some() || flow.left_to_engine && flow.open.stops()
        };
        let unclaimed = || self.flows.iter().any(|flow| unexplained(flow) && flow.open.severity() >= fail_on);
        fail_on != Severity::Off && (self.broken > 0 || found() || unclaimed())
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
