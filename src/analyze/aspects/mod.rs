//! What a query says, aspect by aspect, in canonical terms.
//!
//! Every term is made over *source columns* (`main.raw.events.amt`): intermediate aliases, CTEs and views leave no trace in it,
//! while another column of the same type does. Equal terms are equal meaning as far as harmless rewrites go (commuted operands,
//! `a > b` for `b < a`, redundant parentheses, letter case of columns, SQL for Python); unequal terms are a difference to report.
//! A table that is read twice is told apart by a number in the order of the leaves (`events`, `events#2`).
//!
//! All pieces come from the optimized plan, so a filter that was only moved (from above a join to below it, from WHERE into ON of
//! an inner join) is no difference; places are those of the user's text.

mod collect;

pub(super) use collect::{Query, collect, sort};

use super::sources::says_how_to_reach;
use super::term::Term;
use crate::model::{DataType, Place, Source, StatefulFunction};
use std::collections::BTreeMap;

/// A piece of a query.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Piece {
    pub term: Term,
    /// The nearest stateful operator whose input it is part of (`stateStoreSave`, `dedupe`, `symmetricHashJoin`, …): what the
    /// piece decides has gone into state. None where no state stands between it and the target.
    pub feeds: Option<&'static str>,
    pub place: Place,
}

/// One column of the flow's result.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OutputColumn {
    /// As the query names it, letter case kept.
    pub name: String,
    pub term: Term,
    pub data_type: DataType,
    pub nullable: bool,
    pub place: Place,
}

/// One leaf.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SourceAspect {
    /// Canonical identity: qualified table name, or format and path; the name of its `Source` term.
    pub text: String,
    pub source: Source,
    pub streaming: bool,
    /// Options by lower-case name; those that only name the source (`path`, `subscribe`) included.
    pub options: BTreeMap<String, String>,
    /// Name under source evolution.
    pub name: Option<String>,
    /// It is read inside a subquery expression (`IN (SELECT …)`).
    pub in_subquery: bool,
    pub place: Place,
}

/// One join.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JoinAspect {
    /// `inner`, `cross`, `left outer`, `right outer`, `full outer`, `left semi`, `left anti`.
    pub kind: &'static str,
    /// Both sides are streams.
    pub stream_stream: bool,
    /// Texts of the sources on each side.
    pub left: Vec<String>,
    pub right: Vec<String>,
    /// Equi-keys in the order of the condition, each as `left = right`.
    pub keys: Vec<Piece>,
    /// The other conjuncts, sorted.
    pub condition: Vec<Piece>,
    pub feeds: Option<&'static str>,
    pub place: Place,
}

/// One GROUP BY (or SELECT DISTINCT, whose groupings are its columns and which has no aggregates).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AggregateAspect {
    /// In GROUP BY order. Without the constants, which group nothing.
    pub groupings: Vec<Piece>,
    /// In order of first appearance, each once.
    pub aggregates: Vec<Piece>,
    /// Rollup, cube or grouping sets, as text.
    pub sets: Option<String>,
    pub streaming: bool,
    pub feeds: Option<&'static str>,
    pub place: Place,
}

/// One `dropDuplicates` or `dropDuplicatesWithinWatermark`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DeduplicateAspect {
    /// In state order.
    pub keys: Vec<Piece>,
    pub within_watermark: bool,
    pub streaming: bool,
    pub feeds: Option<&'static str>,
    pub place: Place,
}

/// One watermark.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WatermarkAspect {
    pub event_time: Term,
    /// Microseconds; none where they are not known.
    pub delay: Option<i64>,
    /// The delay as it is given.
    pub given: Term,
    pub streaming: bool,
    /// Stateful operators between it and the target, the nearest last: they drop and forget by it.
    pub heard_by: Vec<&'static str>,
    /// Stateful operators that it stands behind: they know nothing of it.
    pub behind: Vec<&'static str>,
    pub place: Place,
}

/// Arbitrary state: a function over groups that keeps state of its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StatefulMapAspect {
    pub keys: Vec<Term>,
    pub function: StatefulFunction,
    pub feeds: Option<&'static str>,
    pub place: Place,
}

/// All aspects of one flow. Lists are in plan order, from the target down and from left to right, except where a field says so.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Aspects {
    pub outputs: Vec<OutputColumn>,
    /// False where the query gives more columns than are known (`SELECT *` over a source whose schema nobody tells).
    pub complete: bool,
    /// Leaves left to right; those of subqueries last.
    pub sources: Vec<SourceAspect>,
    /// Conjuncts of all filters outside join conditions, sorted. HAVING is among them: its term holds an aggregate.
    pub filters: Vec<Piece>,
    pub joins: Vec<JoinAspect>,
    pub aggregates: Vec<AggregateAspect>,
    pub deduplicates: Vec<DeduplicateAspect>,
    pub watermarks: Vec<WatermarkAspect>,
    /// `explode(…)` and `explode_outer(…)` with their inputs.
    pub generators: Vec<Piece>,
    /// Window functions with their specification.
    pub windows: Vec<Piece>,
    pub stateful_maps: Vec<StatefulMapAspect>,
    pub limits: Vec<Piece>,
    pub sorts: Vec<Piece>,
    /// Number of branches of each union, and the source texts of each branch.
    pub unions: Vec<Vec<Vec<String>>>,
    /// Content that no plan shows (UDFs, unresolved values), by name and content hash, in order of name.
    pub opaque: Vec<Piece>,
    /// The whole optimized query as one term, its columns in order of name: equal terms are equal queries to a target that takes
    /// columns by name. It holds everything that decides a row, so that a difference which no other aspect shows is one here.
    pub query: Term,
}

impl Aspects {
    /// Everything that decides a row, a column's name or type, or what a checkpoint makes of a source is equal.
    pub fn same_meaning(&self, other: &Aspects) -> bool {
        let sources = |aspects: &'_ Aspects| -> Vec<_> {
            let source = |source: &SourceAspect| {
                let mut options = source.options.clone();
                options.retain(|option, _| !says_how_to_reach(option));
                (source.text.clone(), source.source.clone(), source.streaming, options, source.name.clone())
            };
            aspects.sources.iter().map(source).collect()
        };
        self.query == other.query && self.outputs == other.outputs && sources(self) == sources(other)
    }
}
