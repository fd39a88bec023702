//! Walks a plan and executes each node over its inputs.

use super::relation::{InputWatermark, Relation};
use super::{
    EventTimeStats, aggregate, deduplicate, generate, join, limit, opaque, project, scan, set_operation, sort,
    stateful_map, union, watermark, window,
};
use crate::engine::error::ExecutionError;
use crate::engine::expression::Evaluator;
use crate::engine::row::Rows;
use crate::engine::state::StateStores;
use crate::model::{Node, OutputMode, Plan};

/// Plans nested deeper than this are refused: execution recurses.
const MAX_DEPTH: usize = 128;

pub(super) struct Execution<'a> {
    pub evaluator: &'a Evaluator<'a>,
    /// None where a batch query runs.
    pub streaming: Option<Streaming<'a>>,
    depth: usize,
}

/// The streaming side of one micro-batch.
pub(super) struct Streaming<'a> {
    inputs: std::slice::Iter<'a, Rows>,
    pub state: &'a mut StateStores,
    /// At the watermark nodes.
    pub origin: InputWatermark,
    pub output_mode: OutputMode,
    next_operator: u32,
    pub event_time: Vec<EventTimeStats>,
    /// Some operator would change something in a batch without rows.
    pub another_batch: bool,
}

impl<'a> Streaming<'a> {
    pub fn new(
        inputs: &'a [Rows],
        state: &'a mut StateStores,
        origin: InputWatermark,
        output_mode: OutputMode,
    ) -> Self {
        Streaming {
            inputs: inputs.iter(),
            state,
            origin,
            output_mode,
            next_operator: 0,
            event_time: Vec::new(),
            another_batch: false,
        }
    }

    /// The id of the next stateful operator. Spark counts them from the sink down, left before right, so that an operator takes
    /// its id before its inputs are executed.
    pub fn operator_id(&mut self) -> u32 {
        let id = self.next_operator;
        self.next_operator += 1;
        id
    }

    /// Rows of the next streaming leaf.
    pub fn next_input(&mut self) -> Option<&'a Rows> {
        self.inputs.next()
    }
}

impl<'a> Execution<'a> {
    pub fn batch(evaluator: &'a Evaluator<'a>) -> Self {
        Execution { evaluator, streaming: None, depth: 0 }
    }

    pub fn streaming(evaluator: &'a Evaluator<'a>, streaming: Streaming<'a>) -> Self {
        Execution { evaluator, streaming: Some(streaming), depth: 0 }
    }

    /// The streaming part, where this plan is to be executed with state: it reads a stream and a micro-batch runs.
    pub fn stateful(&mut self, plan: &Plan) -> Option<&mut Streaming<'a>> {
        if self.streaming.is_some() && plan.is_streaming() { self.streaming.as_mut() } else { None }
    }

    /// # Errors
    /// What the query fails with, or `UNSUPPORTED_PLAN`.
    pub fn execute(&mut self, plan: &Plan) -> Result<Relation, ExecutionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ExecutionError::unsupported("the plan is nested too deeply to be executed"));
        }
        let relation = self.execute_node(plan);
        self.depth -= 1;
        let relation = relation?;
        if matches!(plan.node, Node::Read(_)) {
            self.evaluator.note_read(relation.rows.len());
        }
        self.evaluator.work.rows(relation.rows.len())?;
        Ok(relation)
    }

    fn execute_node(&mut self, plan: &Plan) -> Result<Relation, ExecutionError> {
        match &plan.node {
            Node::Read(read) => scan::read(self, read),
            Node::Values { rows, schema } => scan::values(self, rows, schema, &plan.output),
            Node::Range { start, end, step } => scan::range(self, [start, end, step], &plan.output),
            Node::Project { list, input } => project::project(self, list, input),
            Node::Filter { condition, input } => project::filter(self, condition, input),
            Node::Join { left, right, kind, on, lateral } => join::join(self, left, right, *kind, on, *lateral),
            Node::Aggregate { groupings, sets, outputs, having, input } => aggregate::aggregate(
                self,
                aggregate::Query { groupings, sets, outputs, having: having.as_ref() },
                input,
            ),
            Node::Window { functions, input } => window::window(self, functions, input),
            Node::Distinct { input } => aggregate::distinct(self, input),
            Node::Deduplicate { keys, within_watermark, input } => {
                deduplicate::deduplicate(self, keys.as_deref(), *within_watermark, input)
            }
            Node::Watermark { event_time, delay, input } => watermark::watermark(self, event_time, delay, input),
            Node::Union { inputs, by_name, allow_missing } => {
                union::union(self, inputs, *by_name, *allow_missing, &plan.output)
            }
            Node::SetOperation { operation, all, left, right } => {
                set_operation::set_operation(self, *operation, *all, left, right)
            }
            Node::Sort { keys, input, .. } => sort::sort(self, keys, input),
            Node::Limit { count, input } => limit::limit(self, count, input),
            Node::Offset { count, input } => limit::offset(self, count, input),
            Node::Sample { description, input } => opaque::sample(self, description, input),
            Node::Generate { generator, outer, output, input, .. } => {
                generate::generate(self, generator, *outer, output, input)
            }
            Node::SubqueryAlias { input, .. } => self.execute(input),
            Node::Unpivot { ids, values, input, .. } => union::unpivot(self, ids, values, input, &plan.output),
            Node::StatefulMap { keys, function, input } => {
                stateful_map::stateful_map(self, keys, function, input, &plan.output)
            }
            Node::Opaque { function, keys, inputs, .. } => opaque::opaque(self, function, keys, inputs, &plan.output),
            Node::With { .. }
            | Node::Pivot { .. }
            | Node::WithColumns { .. }
            | Node::DropColumns { .. }
            | Node::RenameColumns { .. }
            | Node::ToDf { .. }
            | Node::NaFill { .. }
            | Node::NaDrop { .. } => Err(ExecutionError::unsupported("the plan is not analysed")),
        }
    }
}
