//! Reads the aspects off an optimized plan.

use super::{
    AggregateAspect, Aspects, DeduplicateAspect, JoinAspect, OutputColumn, Piece, SourceAspect, StatefulMapAspect,
    WatermarkAspect,
};
use crate::analyze::canonical::{Canonical, code, grouping_sets, join_kind, source_text};
use crate::analyze::join_keys::split_condition;
use crate::analyze::optimize::conjuncts;
use crate::analyze::output::output;
use crate::analyze::resolve::delay_micros;
use crate::analyze::state::aggregate_calls;
use crate::analyze::term::{Term, TermBuilder, TermKind};
use crate::model::{AttrId, Attribute, Expr, JoinOn, Node, Place, Plan, Read};
use std::collections::BTreeMap;

/// What there is to read.
pub(in crate::analyze) struct Query<'a> {
    pub optimized: &'a Plan,
    pub canonical: &'a Canonical,
    /// Columns of the result, in order.
    pub output: &'a [Attribute],
    pub complete: bool,
    /// Where columns stand in the user's text.
    pub places: &'a BTreeMap<AttrId, Place>,
}

pub(in crate::analyze) fn collect(query: &Query<'_>) -> Aspects {
    let canonical = query.canonical;
    let mut aspects = Aspects { complete: query.complete, ..Aspects::default() };
    for column in query.output {
        aspects.outputs.push(OutputColumn {
            name: column.name.to_string(),
            term: canonical.expr(&Expr::Attribute(column.clone())),
            data_type: column.data_type.clone(),
            nullable: column.nullable,
            place: query.places.get(&column.id).cloned().unwrap_or_default(),
        });
    }
    let mut collector = Collector { canonical, aspects, above: Vec::new(), subqueries: Vec::new() };
    collector.visit(query.optimized, None);
    let mut pending = std::mem::take(&mut collector.subqueries);
    while let Some((plan, feeds)) = pending.pop() {
        collector.in_subquery(plan, feeds);
        pending.append(&mut collector.subqueries);
    }
    let mut aspects = collector.aspects;
    sort(&mut aspects.filters);
    aspects.filters.dedup_by(|a, b| a.term == b.term && a.feeds == b.feeds);
    aspects.watermarks.sort_by_cached_key(|mark| mark.event_time.ordering());
    sort(&mut aspects.opaque);
    aspects.opaque.dedup_by(|a, b| a.term == b.term && a.feeds == b.feeds);
    aspects.query = canonical.query_by_name(query.optimized);
    aspects
}

/// In an order of their own.
pub(in crate::analyze) fn sort(pieces: &mut [Piece]) {
    pieces.sort_by_cached_key(|piece| (piece.term.ordering(), piece.feeds));
}

type Feeds = Option<&'static str>;

struct Collector<'a> {
    canonical: &'a Canonical,
    aspects: Aspects,
    /// Stateful operators between the target and the node that is visited.
    above: Vec<&'static str>,
    subqueries: Vec<(&'a Plan, Feeds)>,
}

impl<'a> Collector<'a> {
    fn piece(&self, term: Term, feeds: Feeds, place: &Place) -> Piece {
        Piece { term, feeds, place: place.clone() }
    }

    fn expr_piece(&self, expr: &Expr, feeds: Feeds, place: &Place) -> Piece {
        let place = expr.span().cloned().map_or_else(|| place.clone(), Place::at);
        Piece { term: self.canonical.expr(expr), feeds, place }
    }

    fn visit(&mut self, plan: &'a Plan, feeds: Feeds) {
        self.contents(plan, feeds);
        let place = &plan.place;
        match &plan.node {
            Node::Read(read) => self.source(read, false, place),
            Node::Filter { condition, input } => {
                for part in conjuncts(condition.clone()) {
                    let piece = self.expr_piece(&part, feeds, place);
                    self.aspects.filters.push(piece);
                }
                self.visit(input, feeds);
            }
            Node::Join { .. } => self.join(plan, feeds),
            Node::Aggregate { .. } => self.aggregate(plan, feeds),
            Node::Deduplicate { keys, within_watermark, input } => {
                let streaming = input.is_streaming();
                let keys = match keys {
                    Some(keys) => keys.iter().map(|k| self.expr_piece(k, feeds, place)).collect(),
                    None => {
                        output(input).into_iter().map(|a| self.expr_piece(&Expr::Attribute(a), feeds, place)).collect()
                    }
                };
                self.aspects.deduplicates.push(DeduplicateAspect {
                    keys,
                    within_watermark: *within_watermark,
                    streaming,
                    feeds,
                    place: place.clone(),
                });
                self.visit_inputs(plan, feeds);
            }
            Node::Watermark { event_time, delay, input } => {
                self.aspects.watermarks.push(WatermarkAspect {
                    event_time: self.canonical.expr(event_time),
                    delay: delay_micros(delay),
                    given: self.canonical.expr(delay),
                    streaming: input.is_streaming(),
                    heard_by: self.above.clone(),
                    behind: stateful_operators(input),
                    place: place.clone(),
                });
                self.visit(input, feeds);
            }
            Node::Generate { generator, outer, input, .. } => {
                let piece = self.piece(self.canonical.generator(generator, *outer), feeds, place);
                self.aspects.generators.push(piece);
                self.visit(input, feeds);
            }
            Node::Window { functions, input } => {
                for function in functions {
                    let piece = self.expr_piece(function, feeds, place);
                    self.aspects.windows.push(piece);
                }
                self.visit(input, feeds);
            }
            Node::StatefulMap { keys, function, .. } => {
                self.aspects.stateful_maps.push(StatefulMapAspect {
                    keys: keys.iter().map(|k| self.canonical.expr(k)).collect(),
                    function: function.clone(),
                    feeds,
                    place: place.clone(),
                });
                self.visit_inputs(plan, feeds);
            }
            Node::Limit { count, .. } => {
                let piece = self.piece(prefixed("limit ", self.canonical.expr(count)), feeds, place);
                self.aspects.limits.push(piece);
                self.visit_inputs(plan, feeds);
            }
            Node::Offset { count, input } => {
                let piece = self.piece(prefixed("offset ", self.canonical.expr(count)), feeds, place);
                self.aspects.limits.push(piece);
                self.visit(input, feeds);
            }
            Node::Sort { keys, input, .. } => {
                for key in keys {
                    let piece = self.piece(self.canonical.sort_key(key), feeds, place);
                    self.aspects.sorts.push(piece);
                }
                self.visit(input, feeds);
            }
            Node::Union { inputs, .. } => {
                self.aspects.unions.push(inputs.iter().map(sources_below).collect());
                for input in inputs {
                    self.visit(input, feeds);
                }
            }
            Node::Opaque { function, inputs, .. } => {
                let piece = self.piece(code(function), feeds, place);
                self.aspects.opaque.push(piece);
                for input in inputs {
                    self.visit(input, feeds);
                }
            }
            Node::Values { .. }
            | Node::Range { .. }
            | Node::Project { .. }
            | Node::Distinct { .. }
            | Node::SetOperation { .. }
            | Node::Sample { .. }
            | Node::SubqueryAlias { .. }
            | Node::With { .. }
            | Node::Pivot { .. }
            | Node::Unpivot { .. }
            | Node::WithColumns { .. }
            | Node::DropColumns { .. }
            | Node::RenameColumns { .. }
            | Node::ToDf { .. }
            | Node::NaFill { .. }
            | Node::NaDrop { .. } => {
                for input in plan.inputs() {
                    self.visit(input, feeds);
                }
            }
        }
    }

    /// Subqueries and opaque calls among a node's expressions.
    fn contents(&mut self, plan: &'a Plan, feeds: Feeds) {
        let mut opaque = Vec::new();
        for expr in plan.expressions() {
            expr.walk(&mut |e| match e {
                Expr::Opaque(content) => opaque.push(content),
                Expr::Subquery { plan, .. } => self.subqueries.push((plan.as_ref(), feeds)),
                _ => {}
            });
        }
        for content in opaque {
            let place = content.place.or(&plan.place);
            let piece = self.piece(code(content), feeds, &place);
            self.aspects.opaque.push(piece);
        }
    }

    /// Only what a subquery reads is listed: how it computes is in the text of the expression that holds it.
    fn in_subquery(&mut self, plan: &'a Plan, feeds: Feeds) {
        plan.walk(&mut |p| {
            if let Node::Read(read) = &p.node {
                self.source(read, true, &p.place);
            }
            self.contents(p, feeds);
        });
    }

    fn source(&mut self, read: &Read, in_subquery: bool, place: &Place) {
        self.aspects.sources.push(SourceAspect {
            text: source_text(&read.source, read),
            source: read.source.clone(),
            streaming: read.streaming,
            options: read.options.clone(),
            name: read.name.clone(),
            in_subquery,
            place: read.place.or(place),
        });
    }

    fn join(&mut self, plan: &'a Plan, feeds: Feeds) {
        let Node::Join { left, right, kind, on, .. } = &plan.node else { return };
        let stream_stream = left.is_streaming() && right.is_streaming();
        let below = stateful_operator(plan).or(feeds);
        let condition = match on {
            JoinOn::Condition(condition) => Some(condition),
            _ => None,
        };
        let split = split_condition(condition, left, right);
        let keys = split
            .keys
            .iter()
            .map(|key| {
                let (left, right) = (self.canonical.expr(&key.left), self.canonical.expr(&key.right));
                let term = TermBuilder::new(TermKind::Plain).term(left).text(" = ").term(right).build();
                self.piece(term, below, &plan.place)
            })
            .collect();
        let mut rest: Vec<Piece> =
            split.residual.iter().map(|part| self.expr_piece(part, below, &plan.place)).collect();
        sort(&mut rest);
        rest.dedup_by(|a, b| a.term == b.term);
        self.aspects.joins.push(JoinAspect {
            kind: join_kind(*kind),
            stream_stream,
            left: sources_below(left),
            right: sources_below(right),
            keys,
            condition: rest,
            feeds,
            place: plan.place.clone(),
        });
        self.visit_inputs(plan, feeds);
    }

    fn aggregate(&mut self, plan: &'a Plan, feeds: Feeds) {
        let Node::Aggregate { groupings, sets, outputs, input, .. } = &plan.node else { return };
        let streaming = input.is_streaming();
        let below = stateful_operator(plan).or(feeds);
        let groupings = groupings.iter().map(|g| self.expr_piece(g, below, &plan.place)).collect();
        let aggregates = aggregate_calls(outputs)
            .into_iter()
            .map(|call| self.expr_piece(&Expr::Call(call.clone()), below, &plan.place))
            .collect();
        self.aspects.aggregates.push(AggregateAspect {
            groupings,
            aggregates,
            sets: grouping_sets(sets),
            streaming,
            feeds,
            place: plan.place.clone(),
        });
        self.visit_inputs(plan, feeds);
    }

    fn visit_inputs(&mut self, plan: &'a Plan, feeds: Feeds) {
        let operator = stateful_operator(plan);
        self.above.extend(operator);
        for input in plan.inputs() {
            self.visit(input, operator.or(feeds));
        }
        if operator.is_some() {
            self.above.pop();
        }
    }
}

/// What a node over streams keeps state as.
fn stateful_operator(plan: &Plan) -> Feeds {
    let operator = match &plan.node {
        Node::Aggregate { .. } => "stateStoreSave",
        Node::Deduplicate { within_watermark: true, .. } => "dedupeWithinWatermark",
        Node::Deduplicate { .. } => "dedupe",
        Node::StatefulMap { .. } => "stateful map",
        Node::Limit { .. } => "globalLimit",
        Node::Join { .. } => "symmetricHashJoin",
        Node::Read(_)
        | Node::Values { .. }
        | Node::Range { .. }
        | Node::Project { .. }
        | Node::Filter { .. }
        | Node::Distinct { .. }
        | Node::Union { .. }
        | Node::SetOperation { .. }
        | Node::Sort { .. }
        | Node::Offset { .. }
        | Node::Watermark { .. }
        | Node::Window { .. }
        | Node::Generate { .. }
        | Node::Sample { .. }
        | Node::SubqueryAlias { .. }
        | Node::With { .. }
        | Node::Pivot { .. }
        | Node::Unpivot { .. }
        | Node::WithColumns { .. }
        | Node::DropColumns { .. }
        | Node::RenameColumns { .. }
        | Node::ToDf { .. }
        | Node::NaFill { .. }
        | Node::NaDrop { .. }
        | Node::Opaque { .. } => return None,
    };
    plan.inputs().into_iter().all(Plan::is_streaming).then_some(operator)
}

fn stateful_operators(plan: &Plan) -> Vec<&'static str> {
    let mut operators = Vec::new();
    plan.walk(&mut |p| operators.extend(stateful_operator(p)));
    operators
}

fn prefixed(word: &'static str, term: Term) -> Term {
    TermBuilder::new(TermKind::Plain).text(word).term(term).build()
}

fn sources_below(plan: &Plan) -> Vec<String> {
    let mut sources = Vec::new();
    plan.walk(&mut |p| {
        if let Node::Read(read) = &p.node {
            sources.push(source_text(&read.source, read));
        }
    });
    sources
}
