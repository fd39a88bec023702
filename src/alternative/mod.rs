//! Ways around a full refresh, written out: for each finding with a known one, the edits of the new code that make it.
//!
//! Takes both trees, both analyses, their difference and what the rules find; gives [`Alternative`]s with edits of files, and with the
//! code as it then reads. Reports, the runbook and the patches of `pipelint fix` show the same ones. Whether an effect is better is not
//! known here.

mod column;
mod draft;
pub mod edit;
mod json;
mod protection;
mod python;
mod sheet;
mod source;
mod sql;

pub use edit::Edit;
pub use sheet::Sheets;
pub(crate) use sheet::Spot;

use crate::analyze::Analysis;
use crate::diff::{Change, Diff};
use crate::impact::{Impact, RefreshPlan};
use crate::model::{Pipeline, Place, QualifiedName};
use crate::rules::{CodeLanguage, Finding, RenderedRemedy};
use draft::Draft;

/// What an alternative must reach to be worth a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Less happens to the tables.
    BetterEffect,
    /// The finding is gone, and nothing is worse.
    FindingGone,
    /// The table is protected, and nothing is worse.
    Protected,
}

/// Which of a finding's remedies an alternative stands in place of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    /// For the one of this id in `remedies.yaml`.
    ForRemedy(&'static str),
    /// For the first that the rule writes itself.
    ForOwnRemedy,
    /// For none: no finding asks for it.
    Alone,
}

#[derive(Debug, Clone)]
pub struct Alternative {
    /// The rule whose finding it answers, or a name of its own where no finding asks for it.
    pub rule: String,
    /// Indices of the findings, and the remedy of each that it writes out. Several sources added to one query are one matter.
    pub findings: Vec<usize>,
    pub stands: Stands,
    pub dataset: QualifiedName,
    pub title: String,
    pub text: String,
    pub language: CodeLanguage,
    /// The definition as it then reads, with what comes after it.
    pub code: String,
    pub edits: Vec<Edit>,
    pub goal: Goal,
}

/// What alternatives are written from.
pub struct Desk<'a> {
    pub before_sheets: Sheets<'a>,
    pub after_sheets: Sheets<'a>,
    pub after: &'a Analysis,
    pub difference: &'a Diff,
    pub findings: &'a [Finding],
    pub impacts: &'a [Impact],
    pub plan: &'a RefreshPlan,
}

/// All alternatives: for findings in their order, then for reads that would stop, then for tables without protection.
pub fn alternatives(desk: &Desk) -> Vec<Alternative> {
    let mut found: Vec<Alternative> = Vec::new();
    for index in 0..desk.findings.len() {
        if !found.iter().any(|known| known.findings.contains(&index)) {
            found.extend(desk.answer(index));
        }
    }
    found.extend(desk.stopped_readers());
    found.extend(desk.unprotected());
    found
}

/// Writes alternatives into the findings that they answer, each in place of the remedy that it stands for.
pub fn write_into(findings: &mut [Finding], alternatives: &[Alternative]) {
    for alternative in alternatives {
        for index in &alternative.findings {
            let remedies = findings.get_mut(*index).into_iter().flat_map(|finding| &mut finding.remedies);
            let mut replaced = remedies.filter(|remedy| match alternative.stands {
                Stands::ForRemedy(id) => remedy.id.as_deref() == Some(id),
                Stands::ForOwnRemedy => remedy.id.is_none(),
                Stands::Alone => false,
            });
            if let Some(remedy) = replaced.next() {
                *remedy = alternative.remedy(remedy.id.take());
            }
        }
    }
}

impl Alternative {
    /// Names of alternatives that no finding asks for, in place of a rule's.
    pub const SKIP_CHANGE_COMMITS: &str = "skip-change-commits";
    pub const PROTECT_TABLE: &str = "protect-table";
    pub const UNASKED: [&str; 2] = [Self::SKIP_CHANGE_COMMITS, Self::PROTECT_TABLE];

    /// As a remedy of a finding.
    pub fn remedy(&self, id: Option<String>) -> RenderedRemedy {
        let language = match self.language {
            CodeLanguage::Sql => "sql",
            CodeLanguage::Python => "python",
        };
        RenderedRemedy {
            id,
            title: self.title.clone(),
            text: self.text.clone(),
            code: Some((language, self.code.clone())),
        }
    }
}

/// What one kind of change is answered with.
struct Answer {
    title: String,
    text: &'static str,
    stands: Stands,
    goal: Goal,
    draft: Draft,
}

/// A finding with its change, and the pipeline that they concern.
struct Case<'a> {
    finding: &'a Finding,
    change: &'a Change,
    pipeline: &'a Pipeline,
    dataset: &'a QualifiedName,
}

impl Desk<'_> {
    fn answer(&self, index: usize) -> Option<Alternative> {
        let case = self.case(index)?;
        let mut findings = vec![index];
        let answer = match case.change.kind {
            "source-added" => {
                let alike = |other: &Case| {
                    let (a, b) = (case.finding, other.finding);
                    (&a.rule, &a.pipeline, &a.dataset, &a.flow) == (&b.rule, &b.pipeline, &b.dataset, &b.flow)
                };
                let rest = index + 1..self.findings.len();
                let rest = rest.filter_map(|other| Some((other, self.case(other).filter(alike)?)));
                let all: Vec<(usize, Case)> = std::iter::once((index, self.case(index)?)).chain(rest).collect();
                findings = all.iter().map(|(index, _)| *index).collect();
                source::added(self, &all.into_iter().map(|(_, case)| case).collect::<Vec<_>>())
            }
            "source-replaced" | "source-kind-changed" | "source-path-changed" | "source-topics-changed" => {
                source::replaced(self, &case)
            }
            "column-renamed" => column::renamed(self, &case),
            "column-retyped" => column::retyped(self, &case),
            "skip-change-commits-removed" => protection::skip_again(self, &case),
            "reset-protection-removed" => protection::protect_again(self, &case),
            _ => None,
        }?;
        let language = answer.draft.language();
        let (edits, code) = answer.draft.finish()?;
        Some(Alternative {
            rule: case.finding.rule.clone(),
            findings,
            stands: answer.stands,
            dataset: case.dataset.clone(),
            title: answer.title,
            text: answer.text.to_owned(),
            language,
            code,
            edits,
            goal: answer.goal,
        })
    }

    /// A finding that nobody accepted, with its change.
    fn case(&self, index: usize) -> Option<Case<'_>> {
        let finding = self.findings.get(index).filter(|finding| finding.allowed.is_none())?;
        Some(Case {
            finding,
            change: self.difference.changes.get(finding.change?)?,
            pipeline: self.pipeline(&finding.pipeline)?,
            dataset: finding.dataset.as_ref()?,
        })
    }

    fn pipeline(&self, key: &str) -> Option<&Pipeline> {
        self.after.workspace.pipelines.iter().find(|pipeline| pipeline.key == key)
    }

    fn spot(&self, place: &Place) -> Option<Spot> {
        self.after_sheets.spot(place.span()?)
    }

    fn old_spot(&self, place: &Place) -> Option<Spot> {
        self.before_sheets.spot(place.span()?)
    }
}

impl Case<'_> {
    fn flow(&self) -> String {
        self.finding.flow.clone().unwrap_or_else(|| self.dataset.name.clone())
    }

    /// The table's name as the pipeline's own code needs it.
    fn table(&self) -> String {
        let bare = QualifiedName::parse(&self.dataset.name);
        let is_default = bare.qualified(self.pipeline.catalog.as_deref(), self.pipeline.schema.as_deref());
        if is_default == *self.dataset { self.dataset.name.clone() } else { self.dataset.to_string() }
    }

    /// Name of a flow that reads a source for this table: the flow's, and what the source is called by.
    fn flow_from(&self, source: &str) -> String {
        let last = source.trim_end_matches('/').rsplit(['.', '/', ':']).next().unwrap_or(source);
        let word: String =
            last.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
        let flow = self.flow();
        format!("{}_from_{word}", flow.rsplit('.').next().unwrap_or(&flow))
    }
}
