//! One flow in both revisions, as every comparator sees it, and what other changes have explained already.

use super::pair::FlowRef;
use crate::analyze::{Analysis, AnalyzedFlow, Aspects, Piece, Term, TermId};
use crate::model::{Dataset, Flow, Pipeline};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

/// A flow of one revision with all that belongs to it.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub analysis: &'a Analysis,
    pub pipeline: &'a Pipeline,
    pub dataset: Option<&'a Dataset>,
    pub flow: &'a Flow,
    pub analyzed: &'a AnalyzedFlow,
}

impl<'a> Side<'a> {
    pub fn new(analysis: &'a Analysis, reference: FlowRef) -> Option<Self> {
        let pipeline = analysis.workspace.pipelines.get(reference.pipeline)?;
        let flow = pipeline.flows.get(reference.flow)?;
        Some(Side {
            analysis,
            pipeline,
            dataset: analysis.own_dataset(reference.pipeline, &flow.target),
            flow,
            analyzed: analysis.flows.get(reference.analyzed)?,
        })
    }

    /// Streaming leaves in the order Spark zips them with offsets.
    pub fn streams(&self) -> Vec<&'a crate::analyze::SourceAspect> {
        self.analyzed.aspects.sources.iter().filter(|source| source.streaming && !source.in_subquery).collect()
    }

    /// Configuration in force for the flow.
    pub fn configuration(&self) -> BTreeMap<String, String> {
        let mut all = self.pipeline.configuration.clone();
        all.extend(self.dataset.map(|dataset| dataset.spark_conf.clone()).unwrap_or_default());
        all.extend(self.flow.spark_conf.clone());
        all
    }
}

/// Both sides of one flow. `aspects` are those of AFTER, written over BEFORE's sources where a source was exchanged.
pub struct Comparison<'a> {
    pub before: Side<'a>,
    pub after: Side<'a>,
    pub aspects: Cow<'a, Aspects>,
    /// Sources that were exchanged: name in AFTER, and in BEFORE.
    pub exchanged: Vec<(String, String)>,
    /// Names of everything that either side reads.
    names: Vec<String>,
}

impl<'a> Comparison<'a> {
    pub fn new(before: Side<'a>, after: Side<'a>) -> Self {
        let mut names: Vec<String> = [before, after]
            .into_iter()
            .flat_map(|side| side.analyzed.aspects.sources.iter().map(|source| source.text.clone()))
            .collect();
        names.sort();
        names.dedup();
        Comparison { before, after, aspects: Cow::Borrowed(&after.analyzed.aspects), exchanged: Vec::new(), names }
    }

    /// A term as people read it.
    pub fn show(&self, term: &Term) -> String {
        term.readable(&self.names)
    }

    pub fn show_all<'t>(&self, terms: impl IntoIterator<Item = &'t Term>) -> Vec<String> {
        terms.into_iter().map(|term| self.show(term)).collect()
    }
}

pub fn terms(pieces: &[Piece]) -> Vec<Term> {
    pieces.iter().map(|piece| piece.term.clone()).collect()
}

/// What is in `after` and not in `before`, as a multiset, in the order of `after`.
pub fn surplus<T: PartialEq + Clone>(before: &[T], after: &[T]) -> Vec<T> {
    let mut rest: Vec<&T> = before.iter().collect();
    let mut surplus = Vec::new();
    for item in after {
        match rest.iter().position(|other| *other == item) {
            Some(index) => {
                rest.remove(index);
            }
            None => surplus.push(item.clone()),
        }
    }
    surplus
}

/// Parts of both queries that some change already speaks of: what differs only in them needs no change of its own.
#[derive(Debug, Default)]
pub struct Explained {
    parts: HashSet<TermId>,
    /// Parts that came or went: all that is computed from them differs for that reason.
    whole: HashSet<TermId>,
    /// The same of sources, by name.
    sources: Vec<String>,
    /// Columns by name, whatever they are computed from.
    columns: HashSet<String>,
}

impl Explained {
    pub fn add(&mut self, parts: impl IntoIterator<Item = Term>) {
        self.parts.extend(parts.into_iter().map(|part| part.id()));
    }

    pub fn add_whole(&mut self, parts: impl IntoIterator<Item = Term>) {
        self.whole.extend(parts.into_iter().map(|part| part.id()));
    }

    pub fn add_source(&mut self, name: &str) {
        self.sources.push(name.to_owned());
    }

    pub fn add_column(&mut self, name: &str) {
        self.columns.insert(name.to_lowercase());
    }

    /// The two terms are equal but for what is explained.
    pub fn covers(&self, before: &Term, after: &Term) -> bool {
        let explained = |term: &Term| {
            self.sources.iter().any(|source| term.mentions_source(source))
                || (!self.whole.is_empty() && term.any(&mut |part| self.whole.contains(&part.id())))
        };
        explained(before) || explained(after) || self.without_explained(before) == self.without_explained(after)
    }

    fn without_explained(&self, term: &Term) -> Term {
        let is_explained = |term: &Term| {
            self.parts.contains(&term.id()) || term.column().is_some_and(|(_, name)| self.columns.contains(name))
        };
        term.replaced(&mut |part| is_explained(part).then(Term::hole))
    }
}

#[cfg(test)]
mod tests {
    use super::surplus;

    #[test]
    fn surplus_counts_repeated_items() {
        assert_eq!(surplus(&["a", "b"], &["a", "a", "c"]), ["a", "c"]);
    }
}
