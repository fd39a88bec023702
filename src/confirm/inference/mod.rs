//! Types of sources that nobody declares, inferred from how both revisions use their columns.
//!
//! Takes two analysed revisions and the tables in question; gives both analysed again with what was inferred as facts of their
//! sources, so that plans and generated rows agree on every type. One source has one set of inferred columns on both sides. The
//! facts serve the experiment alone: rules and differences rest on what is declared.

mod facts;
mod passing;
mod rows;
mod uses;
mod variables;

pub use rows::typed_by_rows;

use super::slice::{self, Places};
use super::{Confirmation, sources};
use crate::analyze::{Analysis, AnalyzedFlow, analyze, analyze_some};
use crate::engine::{defines_view, location, read_location, source_location};
use crate::model::{DataType, Field, Flow, Pipeline, Read, Source, Workspace};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use uses::Uses;
use variables::{Variable, Variables, Weight};

/// Both revisions as the experiment runs them.
pub struct Typed<'a> {
    pub before: Cow<'a, Analysis>,
    pub after: Cow<'a, Analysis>,
    /// By location: the columns of a source that were inferred.
    pub inferred: Inferred,
}

/// Columns of sources by their location.
pub type Inferred = BTreeMap<String, Vec<Field>>;

/// The flows that write to `places` (all of them where none are given), with types for the sources that they read.
pub fn typed<'a>(before: &'a Analysis, after: &'a Analysis, places: Option<&Places>) -> Typed<'a> {
    let declared = sliced(before, after, places);
    let mut left_out = BTreeSet::new();
    // A source whose inferred types break a query is taken as nothing is known of it; then all is as it is without inference.
    for _ in 0..2 {
        let mut inferred = infer([&declared[0], &declared[1]]);
        inferred.retain(|location, columns| !left_out.contains(location) && !columns.is_empty());
        let mut used = BTreeSet::new();
        let again = [(before, &declared[0]), (after, &declared[1])].map(|(analysis, sliced)| {
            let mut workspace = analysis.workspace.clone();
            for flow in &sliced.flows {
                if let Some(pipeline) = workspace.pipelines.get_mut(flow.pipeline) {
                    used.extend(facts::add(pipeline, &flow.plan, &inferred));
                }
            }
            workspace
        });
        inferred.retain(|location, _| used.contains(location));
        if inferred.is_empty() {
            break;
        }
        let again = again.map(|workspace| reanalyzed(workspace, places));
        let broken: BTreeSet<String> =
            declared.iter().zip(&again).flat_map(|(old, new)| read_by_broken_flows(old, new, &inferred)).collect();
        if broken.is_empty() {
            let [before, after] = again.map(Cow::Owned);
            return Typed { before, after, inferred };
        }
        left_out.extend(broken);
    }
    let [before, after] = declared;
    Typed { before, after, inferred: Inferred::new() }
}

fn sliced<'a>(before: &'a Analysis, after: &'a Analysis, places: Option<&Places>) -> [Cow<'a, Analysis>; 2] {
    [before, after].map(|analysis| match places {
        Some(places) => Cow::Owned(slice::slice(analysis, places)),
        None => Cow::Borrowed(analysis),
    })
}

impl<'a> Typed<'a> {
    /// The flows that write to `places`, with the types that are declared.
    pub fn as_declared(before: &'a Analysis, after: &'a Analysis, places: Option<&Places>) -> Self {
        let [before, after] = sliced(before, after, places);
        Typed { before, after, inferred: Inferred::new() }
    }

    /// Says of every flow which sources with inferred types it hangs on.
    pub fn mark(&self, confirmation: &mut Confirmation) {
        if self.inferred.is_empty() {
            return;
        }
        let both = [&*self.before, &*self.after];
        let names: BTreeMap<String, String> =
            sources(both[0], both[1]).merged().into_iter().map(|facts| (source_location(&facts), facts.name)).collect();
        for flow in &mut confirmation.flows {
            let datasets = BTreeSet::from([flow.dataset.key()]);
            for place in slice::with_sources(both, &slice::places_of(both, &datasets)) {
                if let Some(columns) = self.inferred.get(&place) {
                    let name = names.get(&place).cloned().unwrap_or(place);
                    flow.inferred.insert(name, columns.clone());
                }
            }
        }
    }
}

fn reanalyzed(workspace: Workspace, places: Option<&Places>) -> Analysis {
    let Some(places) = places else { return analyze(workspace) };
    let wanted = |pipeline: &Pipeline, flow: &Flow| {
        !defines_view(pipeline, flow) && location(pipeline, flow).is_some_and(|place| places.contains(&place))
    };
    slice::slice(&analyze_some(workspace, &wanted), places)
}

/// Sources that a flow reads which has errors only with inferred types.
fn read_by_broken_flows(old: &Analysis, new: &Analysis, inferred: &Inferred) -> BTreeSet<String> {
    let mut sources = BTreeSet::new();
    for flow in &new.flows {
        let known = old.flow(flow.pipeline, flow.flow);
        if flow.errors.len() <= known.map_or(0, |known| known.errors.len()) {
            continue;
        }
        let places: Places = place_of(new, flow).into_iter().collect();
        let all = slice::with_sources([new, new], &places);
        sources.extend(all.into_iter().filter(|place| inferred.contains_key(place)));
    }
    sources
}

fn place_of(analysis: &Analysis, flow: &AnalyzedFlow) -> Option<String> {
    let pipeline = analysis.workspace.pipelines.get(flow.pipeline)?;
    location(pipeline, pipeline.flows.get(flow.flow)?)
}

/// Whose table it is: one that a revision writes has columns of its own there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Home {
    Outside,
    Before,
    After,
}

struct Inference<'a> {
    sides: [(&'a Analysis, Home); 2],
    /// Locations that each side writes.
    written: [BTreeSet<String>; 2],
    variables: Variables,
    /// Columns of stored tables by home, location and lower-case name, with the name as it is written.
    stored: BTreeMap<(Home, String, String), (String, Variable)>,
}

fn infer(sides: [&Analysis; 2]) -> Inferred {
    let written = sides.map(|analysis| analysis.flows.iter().filter_map(|flow| place_of(analysis, flow)).collect());
    let [before, after] = sides;
    let mut inference = Inference {
        sides: [(before, Home::Before), (after, Home::After)],
        written,
        variables: Variables::default(),
        stored: BTreeMap::new(),
    };
    for (analysis, home) in inference.sides {
        for flow in &analysis.flows {
            inference.flow(analysis, home, flow);
        }
    }
    inference.pass_on();
    // Types go from partner to partner, over a join or two.
    for _ in 0..3 {
        inference.variables.pass_to_partners();
    }
    inference.columns()
}

impl Inference<'_> {
    fn home(&self, side: Home, location: &str) -> Home {
        let [before, after] = &self.written;
        match (side, before.contains(location), after.contains(location)) {
            (_, false, false) => Home::Outside,
            (Home::Before, true, _) | (_, true, false) => Home::Before,
            _ => Home::After,
        }
    }

    /// The variable of a stored column, and whether it is new.
    fn stored(&mut self, home: Home, location: &str, name: &str) -> (Variable, bool) {
        let key = (home, location.to_owned(), name.to_lowercase());
        if let Some((_, known)) = self.stored.get(&key) {
            return (*known, false);
        }
        let variable = self.variables.fresh();
        self.stored.insert(key, (name.to_owned(), variable));
        (variable, true)
    }

    fn flow(&mut self, analysis: &Analysis, side: Home, flow: &AnalyzedFlow) {
        let Some(pipeline) = analysis.workspace.pipelines.get(flow.pipeline) else { return };
        let mut uses = Uses::new(&mut self.variables);
        uses.query(&flow.plan);
        if let Some(cdc) = &flow.cdc {
            let exprs = cdc.keys.iter().chain(&cdc.sequence_by).chain(&cdc.apply_as_deletes);
            exprs.chain(&cdc.apply_as_truncates).for_each(|expr| {
                uses.term(expr);
            });
        }
        flow.beside().for_each(|expr| {
            uses.term(expr);
        });
        // Every open column has a variable, used or not: a reader downstream may tell its type.
        let output: Vec<(String, Option<Variable>, DataType)> = crate::analyze::output(&flow.plan)
            .into_iter()
            .map(|column| {
                let open = column.data_type.is_unknown().then(|| uses.column(column.id));
                (column.name.to_string(), open, column.data_type)
            })
            .collect();
        let columns = std::mem::take(&mut uses.columns);
        for read in flow.plan.reads() {
            let Some(location) = read_location(pipeline, read) else { continue };
            let home = self.home(side, &location);
            for column in read.output.iter().filter(|column| column.data_type.is_unknown()) {
                let (stored, _) = self.stored(home, &location, &column.name);
                if let Some(used) = columns.get(&column.id) {
                    self.variables.unite(stored, *used);
                }
                if is_read_as_text(read) {
                    self.variables.tell(stored, Weight::Format, DataType::String);
                }
            }
        }
        let Some(place) = place_of(analysis, flow) else { return };
        let home = self.home(side, &place);
        for (name, open, data_type) in output {
            let (stored, _) = self.stored(home, &place, &name);
            match open {
                Some(variable) => self.variables.unite(stored, variable),
                None => self.variables.tell(stored, Weight::Declared, data_type),
            }
        }
        self.declared_columns(pipeline, flow, home, &place);
    }

    /// What a dataset's definition says of columns that its query passes on.
    fn declared_columns(&mut self, pipeline: &Pipeline, flow: &AnalyzedFlow, home: Home, place: &str) {
        let dataset = pipeline.flows.get(flow.flow).and_then(|flow| pipeline.dataset(&flow.target));
        for field in dataset.and_then(|dataset| dataset.declared.as_ref()).iter().flat_map(|schema| &schema.fields) {
            if !field.data_type.is_unknown() {
                let (stored, _) = self.stored(home, place, &field.name);
                self.variables.tell(stored, Weight::Declared, field.data_type.clone());
            }
        }
    }

    /// Columns that readers want of a table and that its queries pass on unnamed are columns of what those read.
    fn pass_on(&mut self) {
        let mut pending: Vec<(Home, String, String)> = self.stored.keys().cloned().collect();
        while let Some((home, location, column)) = pending.pop() {
            let Some((name, wanted)) = self.stored.get(&(home, location.clone(), column)).cloned() else { continue };
            let Some((analysis, side)) = self.sides.into_iter().find(|(_, side)| *side == home) else { continue };
            for flow in analysis.flows.iter().filter(|flow| !flow.schema.complete) {
                if flow.schema.field(&name).is_some() || place_of(analysis, flow).as_deref() != Some(&location) {
                    continue;
                }
                let Some(pipeline) = analysis.workspace.pipelines.get(flow.pipeline) else { continue };
                for read in passing::origins(&flow.plan, &name) {
                    let Some(source) = read_location(pipeline, read) else { continue };
                    let home = self.home(side, &source);
                    let (given, new) = self.stored(home, &source, &name);
                    self.variables.unite(given, wanted);
                    if is_read_as_text(read) {
                        self.variables.tell(given, Weight::Format, DataType::String);
                    }
                    if new {
                        pending.push((home, source, name.to_lowercase()));
                    }
                }
            }
        }
    }

    /// Columns by location, of all tables that some revision reads from outside.
    fn columns(&self) -> Inferred {
        let mut columns = Inferred::new();
        for ((_, location, _), (name, variable)) in &self.stored {
            let [before, after] = &self.written;
            if before.contains(location) && after.contains(location) {
                continue;
            }
            let known = columns.entry(location.clone()).or_default();
            // Reserved names (`_metadata`, `_rescued_data`, `_change_type`) are the reader's, not the data's.
            if !name.starts_with('_') && !known.iter().any(|field| field.name.eq_ignore_ascii_case(name)) {
                known.push(Field::new(name.clone(), self.variables.solve(*variable)));
            }
        }
        columns
    }
}

/// Auto Loader reads JSON, CSV and XML as text unless it is told to infer types, and so does Spark's CSV reader.
/// (docs.databricks.com: "Configure schema inference and evolution in Auto Loader"; `CSVOptions.inferSchema`.)
fn is_read_as_text(read: &Read) -> bool {
    let on = |option: &str| read.option(option).is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
    let Source::Files { format, .. } = &read.source else { return false };
    let is_auto_loader = read.option("cloudfiles.format").is_some();
    match format.as_str() {
        "json" | "xml" => is_auto_loader && !on("cloudfiles.infercolumntypes"),
        "csv" => is_auto_loader && !on("cloudfiles.infercolumntypes") || !is_auto_loader && !on("inferschema"),
        _ => false,
    }
}
