//! What an effect does further down the graph, and the order of a refresh.
//!
//! Takes both analyses, their diff and the rule book's assessment; gives one [`Impact`] for each dataset below a changed one, and
//! a [`RefreshPlan`] with the commands to run.

mod column;
mod commands;
mod downstream;
mod refresh;

pub use commands::{Command, commands};
pub use refresh::{Blocked, Lossy, PipelineRefresh, RefreshPlan, refresh_plan};

use crate::analyze::Analysis;
use crate::diff::Diff;
use crate::graph::Graph;
use crate::model::Effect;
use crate::rules::Assessment;

/// What happens to one dataset because of another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Impact {
    /// The dataset concerned.
    pub dataset: String,
    /// Key of its pipeline.
    pub pipeline: String,
    /// `streaming-reader`, `materialized-view`, `sink`, `table`, or `column` where a column is followed.
    pub kind: &'static str,
    /// The dataset that the change is made to, or its column (`table.column`).
    pub because_of: String,
    /// From `because_of` to the dataset, views included; of a long one, both ends with `…` between them.
    pub path: Vec<String>,
    pub effect: Effect,
    /// What to do, or what to expect.
    pub hint: String,
}

impl Impact {
    /// It is a stream that stops at the commits by which a table above it is emptied.
    pub fn stops_a_stream(&self) -> bool {
        self.kind == "streaming-reader" && self.effect == Effect::Refused
    }
}

/// Names of a path at most: what a person reads, and what keeps a chain of thousands from being written out for each member.
const PATH_LIMIT: usize = 32;

/// A path with one name more.
fn extended(path: &[String], name: String) -> Vec<String> {
    let mut path = path.to_vec();
    path.push(name);
    if path.len() > PATH_LIMIT {
        if let Some(middle) = path.get_mut(PATH_LIMIT / 2) {
            "…".clone_into(middle);
        }
        path.remove(PATH_LIMIT / 2 + 1);
    }
    path
}

/// Everything below changed datasets, by cause, then by distance. `graph` is AFTER's.
pub fn impact(before: &Analysis, after: &Analysis, diff: &Diff, assessment: &Assessment, graph: &Graph) -> Vec<Impact> {
    let columns = column::follow_columns(before, after, diff, graph);
    let mut impacts = downstream::follow_effects(after, diff, assessment, graph, &columns);
    impacts.extend(columns);
    impacts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_keeps_both_ends() {
        let path = (0..100).fold(Vec::new(), |path, index| extended(&path, format!("t{index}")));
        assert_eq!(path.len(), PATH_LIMIT);
        let at = |index: usize| path.get(index).map(String::as_str);
        assert_eq!(
            (at(0), at(15), at(16), at(17), at(31)),
            (Some("t0"), Some("t15"), Some("…"), Some("t85"), Some("t99"))
        );
    }
}
