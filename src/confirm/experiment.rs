//! What is to be run: two revisions, their sources, and how the second is deployed.

use super::sources::SourceSet;
use crate::analyze::Analysis;
use crate::engine::{UpdateKind, source_location};
use crate::model::SourceFacts;
use std::collections::BTreeSet;

pub struct Experiment<'a> {
    pub before: &'a Analysis,
    pub after: &'a Analysis,
    pub sources: &'a SourceSet,
    /// How AFTER is deployed; one incremental update where empty.
    pub updates: &'a [UpdateKind],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Before,
    After,
}

impl Experiment<'_> {
    pub fn analysis(&self, side: Side) -> &Analysis {
        match side {
            Side::Before => self.before,
            Side::After => self.after,
        }
    }

    /// Sources as a revision knows them.
    pub fn facts(&self, side: Side) -> &[SourceFacts] {
        match side {
            Side::Before => &self.sources.before,
            Side::After => &self.sources.after,
        }
    }
}

/// Sources that AFTER alone reads; they were there before, with rows of their own.
pub fn new_sources<'a>(experiment: &Experiment<'a>) -> impl Iterator<Item = &'a SourceFacts> {
    let known: BTreeSet<String> = experiment.sources.before.iter().map(source_location).collect();
    experiment.sources.after.iter().filter(move |facts| !known.contains(&source_location(facts)))
}
