//! The rule book: YAML files that say what a change does, matched against changes.
//!
//! Takes changes from `diff`; gives [`Finding`]s: a claim at a place, with its reason and remedies. Rules are data: `rules/` is
//! embedded in the program, and a user may add folders and set severities.

mod assess;
mod book;
mod condition;
mod coverage;
mod document;
mod explain;
mod remedy;
mod rule;
mod symbols;
mod template;
mod vocabulary;

pub use assess::{Assessment, FlowAssessment, assess, findings_of, losses};
pub use book::RuleBook;
pub use condition::{Condition, Scalar, Test};
pub use coverage::{Coverage, CoverageRow, CoveredBy};
pub use document::{Document, RuleError};
pub use explain::{RuleText, explain, markdown};
pub use remedy::{CodeLanguage, Remedy, RemedyBook, RenderedRemedy};
pub use rule::{Claim, ClaimedEffect, Exception, Rule};
pub use template::Template;
pub use vocabulary::{kinds_markdown, kinds_text};

use crate::model::{Effect, FullRefresh, Place, QualifiedName, Severity};

/// A rule applied to a change, at a place in the source.
#[derive(Debug, Clone)]
pub struct Finding {
    pub rule: String,
    pub severity: Severity,
    /// Claimed; where `observed` is set, what to expect until an engine has run.
    pub effect: Effect,
    /// The kind of change cannot tell: an engine decides the effect.
    pub observed: bool,
    /// Its severity where an engine that was asked sees no effect.
    pub harmless: Option<Severity>,
    /// False where no engine of ours can show the claim.
    pub confirmable: bool,
    pub full_refresh: FullRefresh,
    /// Error class that the platform gives, where it refuses.
    pub error_class: Option<String>,
    pub pipeline: String,
    /// None where the whole pipeline is concerned.
    pub dataset: Option<QualifiedName>,
    /// None where every flow of the dataset is concerned.
    pub flow: Option<String>,
    pub message: String,
    pub before: Place,
    pub after: Place,
    /// Sentences beside the message: why this claim differs from the rule's usual one, what is known of the source.
    pub hints: Vec<String>,
    pub remedies: Vec<RenderedRemedy>,
    /// Reason of the suppression that covers it.
    pub allowed: Option<String>,
    /// Index of the change into `Diff::changes`; none for findings derived from other findings.
    pub change: Option<usize>,
}
