//! Resolution: every column becomes an attribute with an id and a type; views, CTEs and sugar are written out.
//!
//! Takes a flow's plan as a frontend gave it; gives a plan in which every column is an `Attribute`, every named expression an
//! `Attribute` or an `Alias` with an id, and casts that Spark inserts stand explicitly. Where the columns of a leaf are not known,
//! a named column becomes an attribute of unknown type on demand, so that nothing is refused that might be right.

mod aggregate;
mod beside;
mod column;
pub(super) mod expression;
mod finish;
mod generate;
mod join;
mod leaf;
mod project;
mod relation;
mod set_operation;
mod sugar;
mod time_window;
mod window;

use super::catalog::{Catalog, DatasetId};
use super::{AnalysisError, Replacement, RowCheck};
use crate::model::{
    AttrId, Attribute, CdcSpec, DataType, Expr, Flow, JoinOn, Node, Place, Plan, Schema, SortKey, Span, Unresolved,
};
pub(super) use project::pretty as name_of;
pub(super) use time_window::{event_time_delay, micros as delay_micros};

use relation::{FrameColumns, Open, OpenId, Relation};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Deeper plans and expressions are not looked into: each level costs stack here and in every later pass.
pub(super) const MAX_DEPTH: usize = 1_000;
/// Most nodes that one flow may grow to while views and CTEs are written out: two readings of each of 40 stacked views are 2^40.
const MAX_NODES: usize = 5_000;

/// A flow's plan after resolution.
pub(super) struct Resolved {
    pub plan: Plan,
    pub output: Vec<Attribute>,
    /// The output lists all columns.
    pub complete: bool,
    pub errors: Vec<AnalysisError>,
    pub unresolved: Vec<Unresolved>,
    /// Of an AUTO CDC flow: its expressions over the columns of `plan`.
    pub cdc: Option<CdcSpec>,
    pub checks: Vec<RowCheck>,
    pub replacement: Option<Replacement>,
    /// Where the columns of the result stand in the user's text.
    pub places: BTreeMap<AttrId, Place>,
}

/// Schemas of datasets that were analysed before, by pipeline and dataset.
pub(super) type Schemas = [Vec<Option<Schema>>];

pub(super) fn resolve(catalog: &Catalog<'_>, schemas: &Schemas, pipeline: usize, flow: &Flow) -> Resolved {
    let mut resolver = Resolver::new(catalog, schemas, (pipeline, &flow.plan));
    let relation = resolver.plan(&flow.plan).tight();
    let cdc = flow.cdc().map(|spec| resolver.cdc(spec, &relation, &flow.place));
    let checks = resolver.checks(flow, &relation);
    let replacement = resolver.replacement(flow, &relation);
    Resolved { cdc, checks, replacement, ..resolver.finish(relation) }
}

/// Columns named so far of a relation that is not known in full.
struct OpenColumns {
    columns: Vec<Attribute>,
    kind: OpenKind,
    /// The leaf reads files, whose `_metadata` is known.
    files: bool,
}

enum OpenKind {
    Leaf,
    /// A union by name: each branch gives a column of the name asked for. By column, the branches' columns.
    Union {
        branches: Vec<UnionBranch>,
        rows: Vec<Vec<Expr>>,
    },
}

struct UnionBranch {
    output: Vec<Attribute>,
    open: Vec<Open>,
}

/// A common table expression in scope.
#[derive(Clone)]
struct Cte {
    name: Arc<str>,
    plan: Arc<Plan>,
    /// How many of the scope's CTEs it may itself name.
    visible: usize,
}

struct Resolver<'a> {
    catalog: &'a Catalog<'a>,
    /// The whole query, and the pipeline that it is part of.
    query: (usize, &'a Plan),
    schemas: &'a Schemas,
    pipeline: usize,
    next_id: u32,
    nodes: usize,
    depth: usize,
    /// What identifies the query's text, once it was asked for.
    content: Option<u64>,
    open: Vec<OpenColumns>,
    /// Relations around a subquery, outermost first.
    outer: Vec<Relation>,
    ctes: Vec<Cte>,
    /// Views being walked through, outermost first.
    views: Vec<DatasetId>,
    errors: Vec<AnalysisError>,
    unresolved: BTreeMap<(String, String, Option<Span>), Unresolved>,
    places: BTreeMap<AttrId, Place>,
}

impl<'a> Resolver<'a> {
    fn new(catalog: &'a Catalog<'a>, schemas: &'a Schemas, query: (usize, &'a Plan)) -> Self {
        Resolver {
            catalog,
            query,
            schemas,
            pipeline: query.0,
            next_id: 1,
            nodes: 0,
            depth: 0,
            content: None,
            open: Vec::new(),
            outer: Vec::new(),
            ctes: Vec::new(),
            views: Vec::new(),
            errors: Vec::new(),
            unresolved: BTreeMap::new(),
            places: BTreeMap::new(),
        }
    }

    fn fresh(&mut self) -> AttrId {
        let id = AttrId(self.next_id);
        self.next_id += 1;
        id
    }

    fn attribute(&mut self, name: &str, data_type: DataType, nullable: bool) -> Attribute {
        Attribute {
            id: self.fresh(),
            name: name.into(),
            data_type,
            nullable,
            qualifier: Vec::new(),
            watermark_delay: None,
        }
    }

    fn error(&mut self, class: &str, message: String, place: &Place) {
        self.errors.push(AnalysisError { class: class.to_owned(), message, place: place.clone() });
    }

    fn note_unresolved(&mut self, code: &str, what: &str, why: &str, place: &Place) {
        let key = (code.to_owned(), what.to_owned(), place.span().cloned());
        self.unresolved.entry(key).or_insert_with(|| Unresolved {
            code: code.to_owned(),
            what: what.to_owned(),
            why: why.to_owned(),
            hint: None,
            pipeline: None,
            dataset: None,
            span: place.span().cloned(),
        });
    }

    /// A relation about which nothing is known.
    fn unknown(&mut self, name: &str, reason: &str, place: &Place) -> Relation {
        self.note_unresolved("unknown-relation", name, reason, place);
        let plan = Plan::unresolved(name, reason, 0, place.clone());
        self.open_leaf(plan, Vec::new(), &[])
    }

    /// Stands for a part of the query that is not looked into: known by the text of the whole query and of all views below it.
    fn too_large(&mut self, place: &Place) -> Relation {
        let (name, reason) = ("query", "it is too large or nested too deep to be analysed");
        self.note_unresolved("unknown-relation", name, reason, place);
        let (pipeline, query) = self.query;
        let content =
            *self.content.get_or_insert_with(|| self.catalog.extents.of(self.catalog, pipeline, query).content);
        self.open_leaf(Plan::unresolved(name, reason, content, place.clone()), Vec::new(), &[])
    }

    /// A leaf with further columns that are not known.
    fn open_leaf(&mut self, mut plan: Plan, output: Vec<Attribute>, qualifier: &[Arc<str>]) -> Relation {
        let files = matches!(&plan.node, Node::Read(read) if matches!(read.source, crate::model::Source::Files { .. }));
        let open = self.new_open(OpenKind::Leaf, files, qualifier);
        self.mark_leaf(&mut plan, open.id);
        Relation { open: vec![open], ..Relation::new(plan, output) }
    }

    fn new_open(&mut self, kind: OpenKind, files: bool, qualifier: &[Arc<str>]) -> Open {
        let id: OpenId = self.open.len();
        self.open.push(OpenColumns { columns: Vec::new(), kind, files });
        Open { id, qualifier: qualifier.to_vec(), excluded: Vec::new() }
    }

    fn plan(&mut self, plan: &Plan) -> Relation {
        self.nodes += 1;
        if self.depth >= MAX_DEPTH || self.nodes > MAX_NODES {
            return self.too_large(&plan.place);
        }
        self.depth += 1;
        let mut relation = self.node(plan);
        self.depth -= 1;
        if relation.plan.place.span().is_none() {
            relation.plan.place = plan.place.clone();
        }
        if let Some(frame) = plan.frame {
            relation.frames.push(FrameColumns {
                frame,
                columns: relation.output.clone().into(),
                open: relation.open.clone().into(),
            });
        }
        relation
    }

    fn node(&mut self, plan: &Plan) -> Relation {
        let place = &plan.place;
        match &plan.node {
            Node::Read(read) => self.read(read, place),
            Node::Values { rows, schema } => self.values(rows, schema, place),
            Node::Range { start, end, step } => self.range([start, end, step], place),
            Node::Project { list, input } => {
                let input = self.plan(input);
                self.project(list, input, place)
            }
            Node::Filter { condition, input } => {
                let key = SortKey { expr: condition.clone(), descending: false, nulls_first: true };
                let (input, missing) = self.sort_input(std::slice::from_ref(&key), input);
                let mut relation = self.filter(condition, input, place);
                if missing > 0 {
                    relation.output.truncate(relation.output.len().saturating_sub(missing));
                    relation.loose = true;
                    return relation.tight();
                }
                relation
            }
            Node::Join { left, right, kind, on, lateral } => {
                self.join(join::JoinParts { left, right, kind: *kind, on, lateral: *lateral }, place)
            }
            Node::Aggregate { groupings, sets, outputs, having, input } => {
                let input = self.plan(input);
                let parts = aggregate::AggregateParts { groupings, sets, outputs, having: having.as_ref() };
                self.aggregate(&parts, input, place)
            }
            Node::Window { functions, input } => {
                let mut list = vec![Expr::Star {
                    qualifier: Vec::new(),
                    except: Vec::new(),
                    replace: Vec::new(),
                    place: place.clone(),
                }];
                list.extend(functions.iter().cloned());
                let input = self.plan(input);
                self.project(&list, input, place)
            }
            Node::Distinct { input } => {
                let input = self.plan(input).tight();
                at(input.map_plan(|input| Node::Distinct { input }), place)
            }
            Node::Deduplicate { keys, within_watermark, input } => {
                self.deduplicate(keys.as_deref(), *within_watermark, input, place)
            }
            Node::Watermark { event_time, delay, input } => self.watermark(event_time, delay, input, place),
            Node::Union { inputs, by_name, allow_missing } => self.union(inputs, *by_name, *allow_missing, place),
            Node::SetOperation { operation, all, left, right } => {
                self.set_operation(*operation, *all, left, right, place)
            }
            Node::Sort { keys, global, input } => self.sort(keys, *global, input, place),
            Node::Limit { count, input } => {
                let input = self.plan(input);
                let count = self.scalar(count, &input, place);
                at(input.map_plan(|input| Node::Limit { count, input }), place)
            }
            Node::Offset { count, input } => {
                let input = self.plan(input);
                let count = self.scalar(count, &input, place);
                at(input.map_plan(|input| Node::Offset { count, input }), place)
            }
            Node::Sample { description, input } => {
                let input = self.plan(input);
                at(input.map_plan(|input| Node::Sample { description: description.clone(), input }), place)
            }
            Node::Generate { generator, outer, qualifier, names, input, .. } => {
                let input = self.plan(input);
                self.lateral_view(generator, *outer, qualifier.clone(), names, input, place)
            }
            Node::SubqueryAlias { alias, columns, input } => {
                let input = self.plan(input);
                self.subquery_alias(alias, columns, input, place)
            }
            Node::With { ctes, recursive, body } => self.with(ctes, *recursive, body),
            Node::Pivot { groupings, column, values, aggregates, input } => {
                let input = self.plan(input);
                self.pivot(&aggregate::PivotParts { groupings, column, values, aggregates }, input, place)
            }
            Node::Unpivot { description, ids, values, variable, value, input } => {
                let input = self.plan(input).tight();
                let parts = sugar::UnpivotParts { description, ids, values, variable, value };
                self.unpivot(&parts, input, place)
            }
            Node::StatefulMap { keys, function, input } => {
                let input = self.plan(input).tight();
                self.stateful_map(keys, function, input, place)
            }
            Node::Opaque { function, keys, output, inputs } => self.opaque(function, keys, output, inputs, place),
            Node::WithColumns { columns, input } => {
                let input = self.plan(input);
                self.with_columns(columns, input, place)
            }
            Node::DropColumns { columns, input } => {
                let input = self.plan(input);
                self.drop_columns(columns, input, place)
            }
            Node::RenameColumns { renames, input } => {
                let input = self.plan(input);
                self.rename_columns(renames, input, place)
            }
            Node::ToDf { names, input } => {
                let input = self.plan(input);
                self.renamed_all(names, input, place)
            }
            Node::NaFill { value, columns, input } => {
                let input = self.plan(input);
                self.na_fill(value, columns, input, place)
            }
            Node::NaDrop { columns, how_all, threshold, input } => {
                let input = self.plan(input);
                self.na_drop(columns, *how_all, *threshold, input, place)
            }
        }
    }

    fn filter(&mut self, condition: &Expr, input: Relation, place: &Place) -> Relation {
        let condition = self.scalar(condition, &input, place);
        let columns = (input.output.clone(), input.loose);
        let (condition, input) = self.pull_out_window_functions(vec![condition], input, place);
        let Some(condition) = condition.into_iter().next() else { return input };
        let mut relation = at(input.map_plan(|input| Node::Filter { condition, input }), place);
        if relation.output.len() != columns.0.len() {
            relation.output = columns.0;
            relation.loose = true;
            return relation.tight();
        }
        relation
    }

    fn sort(&mut self, keys: &[SortKey], global: bool, input: &Plan, place: &Place) -> Relation {
        let (below, missing) = self.sort_input(keys, input);
        let keys: Vec<SortKey> =
            keys.iter().map(|key| SortKey { expr: self.sort_key(&key.expr, &below, place), ..key.clone() }).collect();
        let mut relation = at(below.map_plan(|input| Node::Sort { keys, global, input }), place);
        if missing > 0 {
            relation.output.truncate(relation.output.len().saturating_sub(missing));
            relation.loose = true;
            return relation.tight();
        }
        relation
    }

    /// ORDER BY 2: the second column.
    fn sort_key(&mut self, key: &Expr, input: &Relation, place: &Place) -> Expr {
        if let Some(attribute) = ordinal(key).and_then(|n| input.output.get(n)) {
            return Expr::Attribute(attribute.clone());
        }
        self.scalar(key, input, place)
    }

    /// The input of a sort or filter, with the columns appended that only these name and the select below it left out
    /// (`ColumnResolutionHelper.resolveExprsAndAddMissingAttrs`), and their number.
    fn sort_input(&mut self, keys: &[SortKey], input: &Plan) -> (Relation, usize) {
        let relation = self.plan(input);
        let Node::Project { list, input: below } = &input.node else { return (relation, 0) };
        let missing: Vec<Expr> = keys
            .iter()
            .flat_map(|key| column::columns_of(&key.expr))
            .filter(|c| !self.can_resolve(c, &relation))
            .map(|c| Expr::Column(c.clone()))
            .collect();
        if missing.is_empty() {
            return (relation, 0);
        }
        let extended: Vec<Expr> = list.iter().chain(&missing).cloned().collect();
        let below = self.plan(below);
        let extended = self.project(&extended, below, &input.place);
        (Relation { frames: relation.frames, ..extended }, missing.len())
    }

    fn deduplicate(&mut self, keys: Option<&[Expr]>, within_watermark: bool, input: &Plan, place: &Place) -> Relation {
        let input = self.plan(input).tight();
        let keys = match keys {
            Some(keys) => Some(keys.iter().map(|key| self.scalar(key, &input, place)).collect()),
            None if input.is_complete() => Some(input.output.iter().cloned().map(Expr::Attribute).collect()),
            None => None,
        };
        at(input.map_plan(|input| Node::Deduplicate { keys, within_watermark, input }), place)
    }

    /// `WATERMARK expr AS name` first appends the column.
    fn watermark(&mut self, event_time: &Expr, delay: &Expr, input: &Plan, place: &Place) -> Relation {
        let mut input = self.plan(input);
        let event_time = match event_time {
            Expr::Alias { name, .. } => {
                input = self.with_columns(std::slice::from_ref(event_time), input, place);
                Expr::column(name)
            }
            other => other.clone(),
        };
        let event_time = self.scalar(&event_time, &input, place);
        let delay = time_window::interval_literal(&self.scalar(delay, &input, place));
        let micros = time_window::micros(&delay);
        if let Expr::Attribute(attribute) = &event_time {
            // A column that was named on demand is a known one from here on: its watermark must be found again.
            if !input.output.iter().any(|column| column.id == attribute.id) {
                input.output.push(attribute.clone());
            }
            for column in &mut input.output {
                column.watermark_delay = if column.id == attribute.id { micros.or(Some(0)) } else { None };
            }
        }
        at(input.map_plan(|input| Node::Watermark { event_time, delay, input }), place)
    }

    fn subquery_alias(&mut self, alias: &Arc<str>, columns: &[Arc<str>], input: Relation, place: &Place) -> Relation {
        let mut input = input;
        if !columns.is_empty() {
            let names: Vec<String> = columns.iter().map(|c| c.to_string()).collect();
            input = self.renamed_all(&names, input, place);
        }
        self.requalify(input, std::slice::from_ref(alias))
    }

    fn requalify(&mut self, mut relation: Relation, qualifier: &[Arc<str>]) -> Relation {
        for column in &mut relation.output {
            column.qualifier = qualifier.to_vec();
        }
        for open in relation.open.iter_mut().chain(&mut relation.metadata) {
            open.qualifier = qualifier.to_vec();
        }
        relation.hidden.clear();
        relation
    }

    fn cdc(&mut self, spec: &CdcSpec, source: &Relation, place: &Place) -> CdcSpec {
        let mut over = |expr: &Option<Expr>| expr.as_ref().map(|e| self.scalar(e, source, place));
        let sequence_by = over(&spec.sequence_by);
        let apply_as_deletes = over(&spec.apply_as_deletes);
        let apply_as_truncates = over(&spec.apply_as_truncates);
        let keys = spec.keys.iter().map(|key| self.scalar(key, source, place)).collect();
        CdcSpec { keys, sequence_by, apply_as_deletes, apply_as_truncates, ..spec.clone() }
    }

    fn with(&mut self, ctes: &[(Arc<str>, Plan)], recursive: bool, body: &Plan) -> Relation {
        let before = self.ctes.len();
        for (name, plan) in ctes {
            let visible = self.ctes.len() + usize::from(recursive);
            self.ctes.push(Cte { name: name.clone(), plan: Arc::new(plan.clone()), visible });
        }
        let relation = self.plan(body);
        self.ctes.truncate(before);
        relation
    }
}

/// The same relation, standing at a place.
fn at(mut relation: Relation, place: &Place) -> Relation {
    relation.plan.place = place.or(&relation.plan.place);
    relation
}

/// Position, counted from 0, that an integer literal names in GROUP BY or ORDER BY.
fn ordinal(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Literal { value: crate::model::Value::Int(n), .. } => usize::try_from(*n).ok()?.checked_sub(1),
        _ => None,
    }
}

/// True where a join gives columns of its right side.
fn gives_right(kind: crate::model::JoinKind) -> bool {
    !matches!(kind, crate::model::JoinKind::LeftSemi | crate::model::JoinKind::LeftAnti)
}

fn names_columns(on: &JoinOn) -> bool {
    matches!(on, JoinOn::Using(_) | JoinOn::Natural)
}
