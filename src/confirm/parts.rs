//! How the tables of a change are split into experiments that know nothing of each other.
//!
//! Takes two revisions and the places to observe; gives parts, each with all that feeds its tables. A part that would be too
//! large takes tables further up as sources: rows of their schema in place of the queries that write them. That is sound where
//! the table only ever gets rows appended and both revisions give it the same columns: its readers see appended rows of those
//! columns either way. What cannot be cut down to the limit is not run.

use super::slice::Places;
use crate::analyze::Analysis;
use crate::engine::{dataset_location, defines_view, location, read_location};
use crate::model::{DatasetKind, FlowKind, Schema};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Tables that one experiment may write, unless a single table needs more.
const TOGETHER: usize = 32;

/// Tables that one experiment may write at all.
pub const MOST: usize = 256;

/// Steps from an observed table to what feeds it that are run before a table is taken as a source.
const STEPS: usize = 1;

/// One experiment.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Part {
    /// Tables to observe.
    pub observed: Places,
    /// Tables whose flows are run: those observed, and what feeds them.
    pub places: Places,
    /// Tables that are sources here.
    pub cut: Places,
}

impl Part {
    /// It runs all that another part needs, and takes no table of it as a source.
    fn covers(&self, other: &Part) -> bool {
        other.places.is_subset(&self.places) && self.agrees_with(other)
    }

    fn fits(&self, other: &Part) -> bool {
        self.places.union(&other.places).count() <= TOGETHER && self.agrees_with(other)
    }

    /// What one reads as a source the other may write.
    fn agrees_with(&self, other: &Part) -> bool {
        self.cut.is_disjoint(&other.places) && other.cut.is_disjoint(&self.places)
    }

    fn extend(&mut self, other: Part) {
        self.observed.extend(other.observed);
        self.places.extend(other.places);
        self.cut.extend(other.cut);
    }
}

#[derive(Debug, Default)]
pub struct Parts {
    pub parts: Vec<Part>,
    /// Tables that need more than [`MOST`] others.
    pub too_large: Places,
}

/// Splits the tables at these places. Without `cutting`, because the rows of all sources are given, no table becomes a source.
pub fn split(both: [&Analysis; 2], observed: &Places, cutting: bool) -> Parts {
    let feeding = Feeding::of(both);
    let mut parts = Parts::default();
    let all = feeding.closure(observed);
    if all.len() <= TOGETHER {
        parts.parts.push(Part { observed: observed.clone(), places: all, cut: Places::new() });
        return parts;
    }
    let replaceable = if cutting { Replaceable::of(both) } else { Replaceable(Places::new()) };
    let mut alone: Vec<Part> = Vec::new();
    for place in observed {
        let part = feeding.part(place, &replaceable);
        if part.places.len() > MOST {
            parts.too_large.extend(part.observed);
        } else {
            alone.push(part);
        }
    }
    // The largest first: what feeds the last table of a chain is all of the chain, and is observed in the same experiment.
    alone.sort_by_key(|part| Reverse(part.places.len()));
    // The part that writes a place, for all but the one that is still open.
    let mut written: HashMap<String, usize> = HashMap::new();
    let mut open = Part::default();
    for part in alone {
        let writes = |place: &String| written.get(place).copied();
        let covering = part.observed.first().and_then(writes).and_then(|at| parts.parts.get_mut(at));
        if let Some(covering) = covering.filter(|covering| covering.covers(&part)) {
            covering.observed.extend(part.observed);
        } else if open.covers(&part) || open.fits(&part) {
            open.extend(part);
        } else {
            let full = std::mem::replace(&mut open, part);
            written.extend(full.places.iter().map(|place| (place.clone(), parts.parts.len())));
            parts.parts.push(full);
        }
    }
    parts.parts.push(open);
    parts.parts.retain(|part| !part.observed.is_empty());
    parts
}

/// What the flows into each place read, in either revision.
struct Feeding(HashMap<String, BTreeSet<String>>);

impl Feeding {
    fn of(both: [&Analysis; 2]) -> Feeding {
        let mut feeding: HashMap<String, BTreeSet<String>> = HashMap::new();
        for analysis in both {
            for analyzed in &analysis.flows {
                let Some(pipeline) = analysis.workspace.pipelines.get(analyzed.pipeline) else { continue };
                let Some(flow) = pipeline.flows.get(analyzed.flow) else { continue };
                if let Some(place) = location(pipeline, flow).filter(|_| !defines_view(pipeline, flow)) {
                    let reads = analyzed.plan.reads().into_iter().filter_map(|read| read_location(pipeline, read));
                    feeding.entry(place).or_default().extend(reads);
                }
            }
        }
        Feeding(feeding)
    }

    /// Tables that some flow writes among what feeds a place.
    fn written<'a>(&'a self, place: &str) -> impl Iterator<Item = &'a String> {
        self.0.get(place).into_iter().flatten().filter(|read| self.0.contains_key(*read))
    }

    /// The places that are written, with everything that feeds them.
    fn closure(&self, places: &Places) -> Places {
        let mut all = places.clone();
        let mut pending: Vec<&String> = places.iter().collect();
        while let Some(place) = pending.pop() {
            for read in self.written(place) {
                if all.insert(read.clone()) {
                    pending.push(read);
                }
            }
        }
        all
    }

    /// One table with what feeds it; where that is much, only up to tables that can be sources.
    fn part(&self, place: &str, replaceable: &Replaceable) -> Part {
        let observed = Places::from([place.to_owned()]);
        let all = self.closure(&observed);
        if all.len() <= TOGETHER {
            return Part { places: all, cut: Places::new(), observed };
        }
        let mut part = Part { places: observed.clone(), cut: Places::new(), observed };
        let mut level = vec![place.to_owned()];
        let mut steps = 0;
        while !level.is_empty() && part.places.len() <= MOST {
            let reads: BTreeSet<&String> = level.iter().flat_map(|place| self.written(place)).collect();
            level = Vec::new();
            for read in reads {
                if part.places.contains(read) {
                    continue;
                }
                if steps >= STEPS && replaceable.0.contains(read) {
                    part.cut.insert(read.clone());
                } else {
                    part.cut.remove(read);
                    part.places.insert(read.clone());
                    level.push(read.clone());
                }
            }
            steps += 1;
        }
        // Read from near and from afar: it is written here.
        part.cut.retain(|place| !part.places.contains(place));
        part
    }
}

/// Tables that only get rows appended, of columns that are known and the same in both revisions.
struct Replaceable(Places);

impl Replaceable {
    fn of(both: [&Analysis; 2]) -> Replaceable {
        let [before, after] = both.map(appended);
        Replaceable(
            before.into_iter().filter(|(place, schema)| after.get(place) == Some(schema)).map(|(p, _)| p).collect(),
        )
    }
}

fn appended(analysis: &Analysis) -> BTreeMap<String, &Schema> {
    let mut found = BTreeMap::new();
    for (p, pipeline) in analysis.workspace.pipelines.iter().enumerate() {
        for (d, dataset) in pipeline.datasets.iter().enumerate() {
            let appends = pipeline.flows_into(&dataset.name).all(|flow| match &flow.kind {
                FlowKind::Default | FlowKind::Append | FlowKind::Once => true,
                FlowKind::AutoCdc(_)
                | FlowKind::AutoCdcOnce(_)
                | FlowKind::ReplaceWhere(_)
                | FlowKind::ReplaceUsing { .. }
                | FlowKind::StreamJob(_) => false,
            });
            let schema = analysis.schemas.get(p).and_then(|schemas| schemas.get(d));
            let known =
                |schema: &&Schema| schema.complete && schema.fields.iter().all(|field| !field.data_type.is_unknown());
            if let (DatasetKind::StreamingTable, true, Some(place), Some(schema)) =
                (dataset.kind, appends, dataset_location(dataset), schema.filter(known))
            {
                found.insert(place, schema);
            }
        }
    }
    found
}
