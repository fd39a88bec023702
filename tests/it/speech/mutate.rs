//! Typed edits of a plan, one at a time: what a person might change in a query and must not pass in silence.

use pipelint::analyze::expressions_mut;
use pipelint::model::{
    Call, DataType, Expr, JoinKind, JoinOn, Node, Plan, QualifiedName, SetOperation, SortKey, SubqueryKind, Value,
};

/// Applies the edit at one site, counted from 0 over the whole plan.
struct Editor {
    site: usize,
    at: usize,
    done: Option<String>,
}

/// The plan with its `site`-th edit, and what kind of edit that is; none where there are fewer.
pub fn mutant(plan: &Plan, site: usize) -> Option<(String, Plan)> {
    let mut mutated = plan.clone();
    let mut editor = Editor { site, at: 0, done: None };
    editor.plan(&mut mutated);
    editor.done.map(|kind| (kind, mutated))
}

impl Editor {
    fn hit(&mut self, kind: &str) -> bool {
        let hit = self.done.is_none() && self.at == self.site;
        self.at += 1;
        if hit {
            self.done = Some(kind.to_owned());
        }
        hit
    }

    fn plan(&mut self, plan: &mut Plan) {
        if self.done.is_some() {
            return;
        }
        self.node(plan);
        let mut edit = |expr: &mut Expr| {
            let taken = std::mem::replace(expr, Expr::null());
            *expr = self.expr(taken);
        };
        expressions_mut(plan, &mut edit);
        for input in plan.inputs_mut() {
            self.plan(input);
        }
    }

    fn node(&mut self, plan: &mut Plan) {
        match &mut plan.node {
            Node::Read(read) => {
                if self.hit("streaming") {
                    read.streaming = !read.streaming;
                }
                if !read.streaming && self.hit("version") {
                    read.options.insert("versionasof".to_owned(), "3".to_owned());
                }
                if let pipelint::model::Source::Table(name) = &mut read.source
                    && self.hit("table")
                {
                    *name = QualifiedName::parse(&format!("{name}_other"));
                }
            }
            Node::Values { rows, .. } => {
                if rows.len() > 1 && self.hit("inline row") {
                    rows.pop();
                }
            }
            Node::Join { kind, on, .. } => {
                if self.hit("join type") {
                    *kind = match kind {
                        JoinKind::Inner => JoinKind::LeftOuter,
                        JoinKind::LeftOuter => JoinKind::Inner,
                        JoinKind::LeftSemi => JoinKind::LeftAnti,
                        JoinKind::LeftAnti => JoinKind::LeftSemi,
                        JoinKind::Cross | JoinKind::RightOuter | JoinKind::FullOuter => JoinKind::LeftOuter,
                    };
                }
                if let JoinOn::Using(columns) = on
                    && columns.len() > 1
                    && self.hit("join key")
                {
                    columns.pop();
                }
            }
            Node::Aggregate { groupings, .. } => {
                if groupings.len() > 1 && self.hit("grouping key") {
                    groupings.pop();
                }
            }
            Node::Deduplicate { keys, within_watermark, .. } => {
                if self.hit("deduplication within the watermark") {
                    *within_watermark = !*within_watermark;
                }
                if let Some(keys) = keys
                    && keys.len() > 1
                    && self.hit("deduplication key")
                {
                    keys.pop();
                }
            }
            Node::Union { inputs, .. } => {
                if inputs.len() > 1 && inputs.first() != inputs.get(1) && self.hit("branches exchanged") {
                    inputs.swap(0, 1);
                }
            }
            Node::SetOperation { operation, all, .. } => {
                if self.hit("set operation") {
                    *operation = match operation {
                        SetOperation::Intersect => SetOperation::Except,
                        SetOperation::Except => SetOperation::Intersect,
                    };
                }
                if self.hit("set operation all") {
                    *all = !*all;
                }
            }
            Node::Sort { keys, .. } => self.sort_keys(keys),
            Node::Sample { description, .. } => {
                if self.hit("sample") {
                    *description = format!("{description} other").into();
                }
            }
            Node::Generate { outer, .. } => {
                if self.hit("outer generator") {
                    *outer = !*outer;
                }
            }
            Node::Unpivot { description, .. } => {
                if self.hit("unpivot") {
                    *description = format!("{description} other").into();
                }
            }
            Node::Range { .. }
            | Node::Project { .. }
            | Node::Filter { .. }
            | Node::Window { .. }
            | Node::Distinct { .. }
            | Node::Watermark { .. }
            | Node::Limit { .. }
            | Node::Offset { .. }
            | Node::SubqueryAlias { .. }
            | Node::With { .. }
            | Node::Pivot { .. }
            | Node::StatefulMap { .. }
            | Node::Opaque { .. }
            | Node::WithColumns { .. }
            | Node::DropColumns { .. }
            | Node::RenameColumns { .. }
            | Node::ToDf { .. }
            | Node::NaFill { .. }
            | Node::NaDrop { .. } => {}
        }
        if let Node::Filter { input, .. } | Node::Distinct { input } | Node::Limit { input, .. } = &mut plan.node
            && self.hit("operator left out")
        {
            *plan = input.as_ref().clone();
        }
    }

    fn sort_keys(&mut self, keys: &mut [SortKey]) {
        for key in keys {
            if self.hit("sort direction") {
                key.descending = !key.descending;
            }
            if self.hit("null order") {
                key.nulls_first = !key.nulls_first;
            }
        }
    }

    fn expr(&mut self, expr: Expr) -> Expr {
        if self.done.is_some() {
            return expr;
        }
        let mut expr = self.changed(expr);
        if let Expr::Subquery { plan, kind } = &mut expr {
            if let SubqueryKind::Exists { negated } | SubqueryKind::In { negated, .. } = kind
                && self.hit("negated subquery")
            {
                *negated = !*negated;
            }
            self.plan(plan);
        }
        expr.map_children(&mut |child| self.expr(child))
    }

    fn changed(&mut self, expr: Expr) -> Expr {
        match expr {
            Expr::Literal { value, data_type } => match other_value(&value) {
                Some(other) if self.hit("literal") => Expr::Literal { value: other, data_type },
                _ => Expr::Literal { value, data_type },
            },
            Expr::Column(mut column) => {
                if self.hit("column")
                    && let Some(last) = column.parts.last_mut()
                {
                    last.push_str("_other");
                }
                Expr::Column(column)
            }
            Expr::Call(call) => Expr::Call(self.call(call)),
            Expr::Cast { expr, to, try_cast } => {
                if self.hit("cast type") {
                    let to = if to == DataType::String { DataType::Int } else { DataType::String };
                    return Expr::Cast { expr, to, try_cast };
                }
                let try_cast = if self.hit("try cast") { !try_cast } else { try_cast };
                Expr::Cast { expr, to, try_cast }
            }
            Expr::Case { mut branches, otherwise } => {
                if branches.len() > 1 && self.hit("case branch") {
                    branches.pop();
                }
                Expr::Case { branches, otherwise }
            }
            Expr::Window { call, mut spec } => {
                self.sort_keys(&mut spec.order_by);
                if spec.partition_by.len() > 1 && self.hit("window partition") {
                    spec.partition_by.pop();
                }
                Expr::Window { call, spec }
            }
            Expr::Star { .. }
            | Expr::ColumnRegex(_)
            | Expr::Attribute(_)
            | Expr::Alias { .. }
            | Expr::MultiAlias { .. }
            | Expr::Lambda { .. }
            | Expr::LambdaVariable { .. }
            | Expr::Subquery { .. }
            | Expr::Opaque(_) => expr,
        }
    }

    fn call(&mut self, mut call: Call) -> Call {
        let other = match call.function.as_ref() {
            "+" => Some("-"),
            "-" => Some("+"),
            "*" => Some("/"),
            "/" => Some("*"),
            ">" => Some(">="),
            ">=" => Some(">"),
            "<" => Some("<="),
            "<=" => Some("<"),
            "=" => Some("!="),
            "!=" => Some("="),
            "and" => Some("or"),
            "or" => Some("and"),
            "sum" => Some("max"),
            "min" => Some("max"),
            "max" => Some("min"),
            "avg" => Some("sum"),
            "count" => Some("max"),
            "first" => Some("last"),
            "upper" => Some("lower"),
            "lower" => Some("upper"),
            "isnull" => Some("isnotnull"),
            "isnotnull" => Some("isnull"),
            "trim" => Some("ltrim"),
            "coalesce" => Some("greatest"),
            _ => None,
        };
        if let Some(other) = other
            && self.hit("operator or function")
        {
            call.function = other.into();
        }
        let ordered =
            !matches!(call.function.as_ref(), "=" | "!=" | "<=>" | "+" | "*" | "and" | "or" | "&" | "|" | "^" | "in");
        if ordered && call.args.len() > 1 && call.args.first() != call.args.get(1) && self.hit("argument order") {
            call.args.swap(0, 1);
        }
        if matches!(call.function.as_ref(), "count" | "sum" | "avg") && self.hit("distinct") {
            call.distinct = !call.distinct;
        }
        call
    }
}

fn other_value(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Int(v) => Value::Int(v.wrapping_add(1)),
        Value::Long(v) => Value::Long(v.wrapping_add(1)),
        Value::Double(v) => Value::Double(v + 1.0),
        Value::Boolean(v) => Value::Boolean(!v),
        Value::DayTimeInterval(v) => Value::DayTimeInterval(v.wrapping_add(60_000_000)),
        Value::String(v) => Value::string(format!("{v}x")),
        _ => return None,
    })
}
