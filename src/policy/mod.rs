//! Which findings count: comments beside the code, `allow` entries of `pipelint.yaml`, and a baseline of accepted findings.
//!
//! Also severities that a folder's configuration sets for its pipelines.
//!
//! Takes findings and marks those that somebody accepted, with the reason; none is taken away. What accepts nothing, names no
//! rule or gives no reason is told in diagnostics.

mod baseline;
mod suppression;

pub use baseline::{Baseline, fingerprint, fingerprint_of};
pub use suppression::{Suppression, suppressions};

use crate::model::{Diagnostic, DiagnosticLevel, Severity, Span};
use crate::project::Allow;
use crate::rules::Finding;
use std::collections::BTreeSet;

/// Where the thing that a finding is about is defined.
#[derive(Debug, Clone, Default)]
pub struct Definition {
    /// Folder of the pipeline.
    pub root: String,
    /// Places of the dataset's and the flow's definitions, in the revision that suppressions stand in.
    pub places: Vec<Span>,
}

/// An `allow` entry, with the folder whose configuration holds it.
#[derive(Debug, Clone)]
pub struct ScopedAllow {
    pub folder: String,
    pub entry: Allow,
}

/// A severity for the pipelines of a folder.
#[derive(Debug, Clone)]
pub struct ScopedSeverity {
    pub folder: String,
    pub rule: String,
    pub severity: Severity,
    pub span: Span,
}

/// Everything that accepts findings, or weighs them anew.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    pub suppressions: Vec<Suppression>,
    pub allows: Vec<ScopedAllow>,
    /// A deeper folder's counts more.
    pub severities: Vec<ScopedSeverity>,
    pub baseline: Option<Baseline>,
    /// Texts of suppressions and `allow` entries that the compared revision has too: they served an earlier change, and
    /// nobody is told to mend them now.
    pub earlier: BTreeSet<String>,
}

/// What a policy asks about findings and rules.
pub struct Judge<'a> {
    pub definition: &'a dyn Fn(&Finding) -> Definition,
    /// The message for a name that no rule has.
    pub unknown: &'a dyn Fn(&str) -> Option<Diagnostic>,
    /// Whether the command under way can find anything by a rule: what accepts findings of another command is not idle here.
    pub judged: &'a dyn Fn(&str) -> bool,
}

impl Policy {
    /// Marks the accepted findings.
    pub fn apply(&self, findings: &mut [Finding], judge: &Judge<'_>) -> Vec<Diagnostic> {
        let mut used_comments = BTreeSet::new();
        let mut used_entries = BTreeSet::new();
        let mut used_baseline = BTreeSet::new();
        for finding in findings.iter_mut() {
            let about = (judge.definition)(finding);
            let comment = self.suppressions.iter().enumerate().find(|(_, s)| s.covers(finding, &about));
            let entry = self.allows.iter().enumerate().find(|(_, allow)| allow.covers(finding, &about));
            let known = self.baseline.as_ref().and_then(|baseline| baseline.find(finding));
            if let Some((index, _)) = comment {
                used_comments.insert((index, finding.rule.clone()));
            }
            if let Some((index, _)) = entry {
                used_entries.insert(index);
            }
            if let Some(key) = &known {
                used_baseline.insert(key.clone());
            }
            let weighed =
                self.severities.iter().filter(|s| s.rule == finding.rule && is_within(&about.root, &s.folder));
            let off = match weighed.max_by_key(|scoped| scoped.folder.len()) {
                Some(scoped) if scoped.severity == Severity::Off => {
                    Some(format!("turned off by {}/pipelint.yaml", scoped.folder))
                }
                Some(scoped) => {
                    finding.severity = scoped.severity;
                    None
                }
                None => None,
            };
            finding.allowed = match (comment, entry, known) {
                _ if off.is_some() => off,
                (Some((_, suppression)), ..) => Some(suppression.reason.clone()),
                (_, Some((_, allow)), _) => Some(allow.entry.reason.clone()),
                (_, _, Some(_)) => Some("in the baseline".to_owned()),
                _ => None,
            };
        }
        let mut diagnostics = self.idle_comments(&used_comments, judge);
        diagnostics.extend(self.idle_entries(&used_entries, judge));
        let misspelt = |scoped: &ScopedSeverity| {
            (judge.unknown)(&scoped.rule)
                .map(|problem| Diagnostic { level: DiagnosticLevel::Error, ..problem }.at(&scoped.span))
        };
        diagnostics.extend(self.severities.iter().filter_map(misspelt));
        diagnostics.extend(self.baseline.iter().flat_map(|baseline| baseline.stale(&used_baseline, judge.judged)));
        diagnostics
    }

    fn idle_comments(&self, used: &BTreeSet<(usize, String)>, judge: &Judge<'_>) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        for (index, suppression) in self.suppressions.iter().enumerate() {
            for rule in &suppression.rules {
                if let Some(problem) = (judge.unknown)(rule) {
                    diagnostics.push(Diagnostic { level: DiagnosticLevel::Warning, ..problem }.at(&suppression.span));
                } else if (judge.judged)(rule) && !used.contains(&(index, rule.clone())) {
                    let message = format!("this suppression of `{rule}` suppresses nothing");
                    diagnostics.push(self.idle(&suppression.key(), message, &suppression.span));
                }
            }
        }
        diagnostics
    }

    fn idle_entries(&self, used: &BTreeSet<usize>, judge: &Judge<'_>) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        for (index, allow) in self.allows.iter().enumerate() {
            if let Some(problem) = (judge.unknown)(&allow.entry.rule) {
                diagnostics.push(Diagnostic { level: DiagnosticLevel::Warning, ..problem }.at(&allow.entry.span));
            } else if (judge.judged)(&allow.entry.rule) && !used.contains(&index) {
                let message = format!("this `allow` entry for `{}` allows nothing", allow.entry.rule);
                diagnostics.push(self.idle(&allow.key(), message, &allow.entry.span));
            }
        }
        diagnostics
    }

    fn idle(&self, key: &str, message: String, span: &Span) -> Diagnostic {
        let (level, help) = if self.earlier.contains(key) {
            (DiagnosticLevel::Note, "it served an earlier change and can be removed")
        } else {
            (
                DiagnosticLevel::Warning,
                "remove it, or move it to the finding's place or above the definition of the dataset",
            )
        };
        Diagnostic::new(level, "unused-suppression", message).at(span).with_help(help)
    }
}

impl ScopedAllow {
    /// What identifies it across revisions.
    pub fn key(&self) -> String {
        let Allow { rule, dataset, pipeline, reason, .. } = &self.entry;
        format!("allow {rule} {dataset:?} {pipeline:?} {reason}")
    }

    fn covers(&self, finding: &Finding, about: &Definition) -> bool {
        let names = |wanted: &str| {
            finding.dataset.as_ref().is_some_and(|dataset| {
                let (full, wanted) = (dataset.to_string().to_lowercase(), wanted.to_lowercase());
                full == wanted || full.ends_with(&format!(".{wanted}"))
            })
        };
        is_within(&about.root, &self.folder)
            && self.entry.rule == finding.rule
            && self.entry.dataset.as_deref().is_none_or(names)
            && self.entry.pipeline.as_deref().is_none_or(|pipeline| pipeline == finding.pipeline)
    }
}

/// Whether a folder is another one or stands below it.
fn is_within(root: &str, folder: &str) -> bool {
    folder.is_empty() || root == folder || root.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests;
