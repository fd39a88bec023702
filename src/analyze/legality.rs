//! What a streaming query may not do (`UnsupportedOperationChecker`), by Spark's error classes.

use super::AnalysisError;
use super::join_keys::split_condition;
use super::output::output;
use super::resolve::event_time_delay;
use super::resolve::expression::is_aggregate;
use crate::model::{Attribute, Expr, JoinKind, JoinOn, Node, OutputMode, Place, Plan, SetOperation, StatefulOperator};
use std::collections::BTreeSet;

/// The class of most refusals (`UnsupportedOperationChecker.throwError`).
const UNSUPPORTED: &str = "_LEGACY_ERROR_TEMP_3102";

/// Errors of a resolved plan that is executed as a stream, outermost first.
pub(super) fn check(plan: &Plan, mode: OutputMode) -> Vec<AnalysisError> {
    let mut checker = Checker { mode, errors: Vec::new() };
    if mode == OutputMode::Complete && !has_streaming_aggregate(plan) {
        checker.error(
            "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION",
            "complete output mode needs a streaming aggregation",
            &plan.place,
        );
    }
    checker.visit(plan);
    checker.errors
}

struct Checker {
    mode: OutputMode,
    errors: Vec<AnalysisError>,
}

impl Checker {
    fn error(&mut self, class: &str, message: &str, place: &Place) {
        self.errors.push(AnalysisError { class: class.to_owned(), message: message.to_owned(), place: place.clone() });
    }

    fn visit(&mut self, plan: &Plan) {
        if !plan.is_streaming() {
            return;
        }
        self.node(plan);
        for input in plan.inputs() {
            self.visit(input);
        }
    }

    fn node(&mut self, plan: &Plan) {
        let place = &plan.place;
        match &plan.node {
            Node::Aggregate { groupings, outputs, .. } => self.aggregate(groupings, outputs, place),
            Node::Distinct { input } => {
                let columns: Vec<Expr> = output(input).into_iter().map(Expr::Attribute).collect();
                self.aggregate(&columns, &[], place);
            }
            Node::Deduplicate { within_watermark: true, input, .. } if !has_watermark(&output(input)) => {
                self.error(UNSUPPORTED, "dropDuplicatesWithinWatermark needs a watermark on the stream", place);
            }
            Node::Window { .. } => self.error(
                "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING",
                "window functions over rows are not supported on streams; group by window(…) instead",
                place,
            ),
            Node::Sort { global: true, input, .. }
                if self.mode != OutputMode::Complete || !has_streaming_aggregate(input) =>
            {
                self.error(UNSUPPORTED, "a stream is sorted only after an aggregation in complete output mode", place);
            }
            Node::Limit { .. } if self.mode == OutputMode::Update => {
                self.error(UNSUPPORTED, "limits on streams are not supported in update output mode", place);
            }
            Node::Offset { .. } => self.error(UNSUPPORTED, "OFFSET is not supported on streams", place),
            Node::Union { inputs, .. } => {
                let streaming = inputs.iter().filter(|input| input.is_streaming()).count();
                if streaming != inputs.len() && !inputs.iter().any(is_unknown) {
                    self.error(
                        "UNSUPPORTED_UNION_STREAM_BATCH",
                        "a union of a stream and a table is not supported; read the table as a stream too",
                        place,
                    );
                }
            }
            Node::SetOperation { operation, left, right, .. } => self.set_operation(*operation, left, right, place),
            Node::Join { left, right, kind, on, .. } => self.join(left, right, *kind, on, place),
            _ => {}
        }
    }

    fn aggregate(&mut self, groupings: &[Expr], outputs: &[Expr], place: &Place) {
        let mut distinct = false;
        for output in outputs {
            output.walk(&mut |e| {
                if let Expr::Call(call) = e {
                    distinct |= call.distinct && is_aggregate(call);
                }
            });
        }
        if distinct {
            self.error(
                UNSUPPORTED,
                "distinct aggregations are not supported on streams; use approx_count_distinct",
                place,
            );
        }
        if self.mode == OutputMode::Append && !groupings.iter().any(|g| event_time_delay(g).is_some()) {
            self.error(
                "UNSUPPORTED_STREAMING_OPERATOR_WITHOUT_WATERMARK",
                "append output mode needs a watermark on a grouping column of a streaming aggregation",
                place,
            );
        }
    }

    fn set_operation(&mut self, operation: SetOperation, left: &Plan, right: &Plan, place: &Place) {
        match operation {
            SetOperation::Except if right.is_streaming() => {
                self.error(UNSUPPORTED, "EXCEPT with a stream on the right is not supported", place);
            }
            SetOperation::Intersect if left.is_streaming() && right.is_streaming() => {
                self.error(UNSUPPORTED, "INTERSECT of two streams is not supported", place);
            }
            _ => {}
        }
    }

    fn join(&mut self, left: &Plan, right: &Plan, kind: JoinKind, on: &JoinOn, place: &Place) {
        let (l, r) = (left.is_streaming(), right.is_streaming());
        if l && r {
            self.stream_stream_join(left, right, kind, on, place);
            return;
        }
        let message = match kind {
            JoinKind::FullOuter => "a full outer join of a stream and a table is not supported",
            JoinKind::LeftOuter | JoinKind::LeftSemi | JoinKind::LeftAnti if r => {
                "a left outer, semi or anti join with a stream on the right of a table is not supported"
            }
            JoinKind::RightOuter if l => "a right outer join of a stream with a table is not supported",
            _ => return,
        };
        self.error(UNSUPPORTED, message, place);
    }

    fn stream_stream_join(&mut self, left: &Plan, right: &Plan, kind: JoinKind, on: &JoinOn, place: &Place) {
        let condition = match on {
            JoinOn::Condition(condition) => Some(condition),
            _ => None,
        };
        let split = split_condition(condition, left, right);
        if split.keys.is_empty() && matches!(kind, JoinKind::Inner | JoinKind::Cross) {
            // WHERE may still bring the equality; the optimizer moves it into the condition. See `check_optimized`.
            return;
        }
        if kind == JoinKind::LeftAnti {
            self.error(UNSUPPORTED, "a left anti join of two streams is not supported", place);
            return;
        }
        let (left_columns, right_columns) = (output(left), output(right));
        let in_keys = split
            .keys
            .iter()
            .any(|key| event_time_delay(&key.left).is_some() || event_time_delay(&key.right).is_some());
        let bounded = |own: &[Attribute], other: &[Attribute]| {
            split.residual.iter().any(|part| is_range(part) && bounds(part, own, other))
        };
        let legal = match kind {
            JoinKind::Inner | JoinKind::Cross | JoinKind::LeftAnti => true,
            JoinKind::LeftOuter | JoinKind::LeftSemi => in_keys || bounded(&left_columns, &right_columns),
            JoinKind::RightOuter => in_keys || bounded(&right_columns, &left_columns),
            JoinKind::FullOuter => {
                in_keys || (bounded(&left_columns, &right_columns) && bounded(&right_columns, &left_columns))
            }
        };
        if !legal {
            self.error(
                UNSUPPORTED,
                "an outer or semi join of two streams needs a watermark in the join keys, or watermarks and a time range",
                place,
            );
        }
    }
}

/// Errors that only the optimized plan shows. `allow_multiple`: watermarks travel through stateful operators, so that each stream
/// has one only (`spark.sql.streaming.statefulOperator.allowMultiple`).
pub(super) fn check_optimized(plan: &Plan, allow_multiple: bool) -> Vec<AnalysisError> {
    let mut errors = Vec::new();
    plan.walk(&mut |p| {
        if let Node::Watermark { input, .. } = &p.node
            && allow_multiple
            && has_watermark_below(input)
        {
            errors.push(AnalysisError {
                class: "_LEGACY_ERROR_TEMP_3076".to_owned(),
                message: "a watermark on a stream that has one already is not supported".to_owned(),
                place: p.place.clone(),
            });
        }
        if let Node::Join { left, right, on, .. } = &p.node
            && left.is_streaming()
            && right.is_streaming()
        {
            let condition = match on {
                JoinOn::Condition(condition) => Some(condition),
                _ => None,
            };
            let split = split_condition(condition, left, right);
            // Which side a column belongs to is a guess where nothing is known of either.
            let equated = [left, right].iter().any(|side| equates_columns(side));
            let guessed = is_open(left) && is_open(right) && (equated || split.residual.iter().any(is_equality));
            if split.keys.is_empty() && !guessed {
                errors.push(AnalysisError {
                    class: "_LEGACY_ERROR_TEMP_1181".to_owned(),
                    message: "a join of two streams needs an equality between them".to_owned(),
                    place: p.place.clone(),
                });
            }
        }
    });
    errors
}

/// State that Avro cannot hold: the value of a deduplication is a column without a type (measured on Spark 4.3).
pub(super) fn check_avro(operators: &[StatefulOperator]) -> Vec<AnalysisError> {
    let dedupe = operators.iter().filter(|operator| operator.name.as_ref() == "dedupe");
    let error = |operator: &StatefulOperator| AnalysisError {
        class: UNSUPPORTED.to_owned(),
        message: "the state of dropDuplicates cannot be written as Avro".to_owned(),
        place: operator.place.clone(),
    };
    dedupe.map(error).collect()
}

fn is_open(plan: &Plan) -> bool {
    plan.reads().iter().any(|read| !read.complete)
}

/// A filter on one side compares two of its columns: one may be the other side's.
fn equates_columns(plan: &Plan) -> bool {
    let mut found = false;
    plan.walk(&mut |p| {
        if let Node::Filter { condition, .. } = &p.node {
            let several = |part: &Expr| super::optimize::references(part).len() > 1;
            found |=
                super::optimize::conjuncts(condition.clone()).iter().any(|part| is_equality(part) && several(part));
        }
    });
    found
}

fn is_equality(part: &Expr) -> bool {
    matches!(part, Expr::Call(call) if matches!(call.function.as_ref(), "=" | "<=>"))
}

fn is_range(part: &Expr) -> bool {
    matches!(part, Expr::Call(call) if matches!(call.function.as_ref(), "<" | "<=" | ">" | ">="))
}

/// The predicate relates one side to an event time of the other.
fn bounds(part: &Expr, own: &[Attribute], other: &[Attribute]) -> bool {
    let used = super::optimize::references(part);
    let ids = |columns: &[Attribute], watermarked: bool| {
        columns.iter().filter(|a| !watermarked || a.watermark_delay.is_some()).map(|a| a.id).collect::<BTreeSet<_>>()
    };
    !used.is_disjoint(&ids(own, false)) && !used.is_disjoint(&ids(other, true))
}

fn has_watermark(columns: &[Attribute]) -> bool {
    columns.iter().any(|a| a.watermark_delay.is_some())
}

fn has_watermark_below(plan: &Plan) -> bool {
    let mut found = false;
    plan.walk(&mut |p| found |= matches!(p.node, Node::Watermark { .. }) && p.is_streaming());
    found
}

fn has_streaming_aggregate(plan: &Plan) -> bool {
    let mut found = false;
    plan.walk(&mut |p| {
        found |= matches!(p.node, Node::Aggregate { .. } | Node::Distinct { .. }) && p.is_streaming();
    });
    found
}

/// A leaf of which it is not known whether it streams.
fn is_unknown(plan: &Plan) -> bool {
    let mut unknown = false;
    plan.walk(&mut |p| unknown |= matches!(&p.node, Node::Opaque { inputs, .. } if inputs.is_empty()));
    unknown
}
