//! The relational tree of a query: one type for SQL and Python, before and after analysis.
//!
//! Nodes carry Catalyst's names where there is one. Those marked *sugar* exist only before analysis, which needs the input's
//! schema to write them as a `Project`.

use super::expr::{Attribute, CodeUnit, Expr, Opaque, SortKey};
use super::place::Place;
use super::schema::Schema;
use super::source::Read;
use super::types::DataType;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Plan {
    pub node: Node,
    /// A DataFrame's identity in Python code, so that `df["x"]` finds its frame (see `ColumnName::frame`). Unique in a flow.
    pub frame: Option<u32>,
    /// Columns that the node makes itself and has no other place for: of `Values`, `Range`, `Opaque`, `StatefulMap`, `Unpivot`
    /// and `Union` (by position over its inputs). Set by analysis; empty before it and for every other node.
    pub output: Vec<Attribute>,
    pub place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Node {
    Read(Read),
    /// Inline rows (`VALUES`, `createDataFrame` of literals). A SELECT without FROM is one row without columns.
    Values {
        rows: Vec<Vec<Expr>>,
        schema: Schema,
    },
    Range {
        start: Box<Expr>,
        end: Box<Expr>,
        step: Box<Expr>,
    },
    Project {
        list: Vec<Expr>,
        input: Box<Plan>,
    },
    Filter {
        condition: Expr,
        input: Box<Plan>,
    },
    Join {
        left: Box<Plan>,
        right: Box<Plan>,
        kind: JoinKind,
        on: JoinOn,
        lateral: bool,
    },
    /// `outputs` holds grouping expressions and aggregates as SELECT lists them. After analysis HAVING is a `Filter` above.
    Aggregate {
        groupings: Vec<Expr>,
        sets: GroupingSets,
        outputs: Vec<Expr>,
        having: Option<Expr>,
        input: Box<Plan>,
    },
    /// Evaluates window functions and appends them to the input's columns; made by analysis.
    Window {
        functions: Vec<Expr>,
        input: Box<Plan>,
    },
    Distinct {
        input: Box<Plan>,
    },
    /// `dropDuplicates(keys)`; no keys means all columns.
    Deduplicate {
        keys: Option<Vec<Expr>>,
        within_watermark: bool,
        input: Box<Plan>,
    },
    /// `withWatermark`, `WATERMARK … DELAY OF`. `event_time` may be an `Alias` (SQL's `WATERMARK expr AS name`).
    Watermark {
        event_time: Expr,
        delay: Expr,
        input: Box<Plan>,
    },
    Union {
        inputs: Vec<Plan>,
        by_name: bool,
        allow_missing: bool,
    },
    SetOperation {
        operation: SetOperation,
        all: bool,
        left: Box<Plan>,
        right: Box<Plan>,
    },
    Sort {
        keys: Vec<SortKey>,
        global: bool,
        input: Box<Plan>,
    },
    Limit {
        count: Expr,
        input: Box<Plan>,
    },
    Offset {
        count: Expr,
        input: Box<Plan>,
    },
    Sample {
        description: Arc<str>,
        input: Box<Plan>,
    },
    /// `LATERAL VIEW`, `explode` in a SELECT list after analysis. Appends the generator's columns, named by `names`.
    Generate {
        generator: Expr,
        outer: bool,
        qualifier: Option<Arc<str>>,
        names: Vec<Arc<str>>,
        output: Vec<Expr>,
        input: Box<Plan>,
    },
    /// `alias (a, b)`.
    SubqueryAlias {
        alias: Arc<str>,
        columns: Vec<Arc<str>>,
        input: Box<Plan>,
    },
    /// Common table expressions; analysis puts each in where it is read. A CTE's name hides a table's.
    With {
        ctes: Vec<(Arc<str>, Plan)>,
        recursive: bool,
        body: Box<Plan>,
    },
    Pivot {
        groupings: Vec<Expr>,
        column: Box<Expr>,
        values: Vec<Expr>,
        aggregates: Vec<Expr>,
        input: Box<Plan>,
    },
    Unpivot {
        description: Arc<str>,
        ids: Vec<Expr>,
        values: Vec<Expr>,
        variable: Arc<str>,
        value: Arc<str>,
        input: Box<Plan>,
    },
    /// Arbitrary state: `applyInPandasWithState`, `transformWithState…`.
    StatefulMap {
        keys: Vec<Expr>,
        function: StatefulFunction,
        input: Box<Plan>,
    },
    /// A function over whole frames: `mapInPandas`, `applyInPandas` (with keys), `foreachBatch` content, an unknown helper.
    /// `output` is the declared schema, or unknown. An `Opaque` without inputs is a DataFrame that could not be resolved at all.
    Opaque {
        function: Opaque,
        keys: Vec<Expr>,
        output: Schema,
        inputs: Vec<Plan>,
    },
    /// *Sugar.* `withColumn(s)`: replaces by name or appends. Aliases in order.
    WithColumns {
        columns: Vec<Expr>,
        input: Box<Plan>,
    },
    /// *Sugar.* `drop`, by name or by column.
    DropColumns {
        columns: Vec<Expr>,
        input: Box<Plan>,
    },
    /// *Sugar.* `withColumnRenamed`: (old, new).
    RenameColumns {
        renames: Vec<(String, String)>,
        input: Box<Plan>,
    },
    /// *Sugar.* `toDF(names)`.
    ToDf {
        names: Vec<String>,
        input: Box<Plan>,
    },
    /// *Sugar.* `na.fill`, `na.drop`, `na.replace`, `fillna`, `dropna`: values by column; an empty list of columns means all that fit.
    NaFill {
        value: Box<Expr>,
        columns: Vec<String>,
        input: Box<Plan>,
    },
    NaDrop {
        columns: Vec<String>,
        how_all: bool,
        threshold: Option<i64>,
        input: Box<Plan>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JoinKind {
    Inner,
    Cross,
    LeftOuter,
    RightOuter,
    FullOuter,
    LeftSemi,
    LeftAnti,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum JoinOn {
    None,
    Condition(Expr),
    /// `USING (a, b)`, `join(other, ["a", "b"])`; analysis writes it as a condition and a projection.
    Using(Vec<String>),
    Natural,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum GroupingSets {
    Simple,
    Rollup,
    Cube,
    /// Indices into the groupings.
    Sets(Vec<Vec<usize>>),
}

/// `UNION` without ALL is a `Distinct` over a `Union`; these are the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SetOperation {
    Intersect,
    Except,
}

/// An operator with state of the user's own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StatefulFunction {
    /// `applyInPandasWithState`, `transformWithStateInPandas`, `transformWithState`, `flatMapGroupsWithState`, …
    pub operator: Arc<str>,
    pub function: Opaque,
    pub output: Schema,
    /// State of applyInPandasWithState / mapGroupsWithState.
    pub state: Option<Schema>,
    /// Named variables of transformWithState, as far as the processor's `init` tells them.
    pub variables: Vec<StateVariable>,
    pub output_mode: Arc<str>,
    /// Timeout (`NoTimeout`, `EventTimeTimeout`, `ProcessingTimeTimeout`) or time mode (`None`, `EventTime`, `ProcessingTime`).
    pub time_mode: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StateVariable {
    pub name: Arc<str>,
    /// `value`, `list`, `map`, `timer`.
    pub kind: Arc<str>,
    pub key: Option<DataType>,
    pub value: DataType,
    pub ttl: bool,
}

/// The direct inputs of a node, left to right; by reference or mutable.
macro_rules! direct_inputs {
    ($node:expr, $iter:ident, $as_ref:ident) => {
        match $node {
            Node::Read(_) | Node::Values { .. } | Node::Range { .. } => Vec::new(),
            Node::Join { left, right, .. } | Node::SetOperation { left, right, .. } => vec![left, right],
            Node::Union { inputs, .. } | Node::Opaque { inputs, .. } => inputs.$iter().collect(),
            Node::With { ctes, body, .. } => {
                ctes.$iter().map(|(_, plan)| plan).chain(std::iter::once(body.$as_ref())).collect()
            }
            Node::Project { input, .. }
            | Node::Filter { input, .. }
            | Node::Aggregate { input, .. }
            | Node::Window { input, .. }
            | Node::Distinct { input }
            | Node::Deduplicate { input, .. }
            | Node::Watermark { input, .. }
            | Node::Sort { input, .. }
            | Node::Limit { input, .. }
            | Node::Offset { input, .. }
            | Node::Sample { input, .. }
            | Node::Generate { input, .. }
            | Node::SubqueryAlias { input, .. }
            | Node::Pivot { input, .. }
            | Node::Unpivot { input, .. }
            | Node::StatefulMap { input, .. }
            | Node::WithColumns { input, .. }
            | Node::DropColumns { input, .. }
            | Node::RenameColumns { input, .. }
            | Node::ToDf { input, .. }
            | Node::NaFill { input, .. }
            | Node::NaDrop { input, .. } => vec![input],
        }
    };
}

impl Plan {
    pub fn new(node: Node) -> Self {
        Plan { node, frame: None, output: Vec::new(), place: Place::unknown() }
    }

    pub fn at(node: Node, place: Place) -> Self {
        Plan { node, frame: None, output: Vec::new(), place }
    }

    /// A relation that could not be resolved; `content` identifies it across revisions.
    pub fn unresolved(name: &str, reason: &str, content: u64, place: Place) -> Self {
        let function = Opaque {
            name: name.into(),
            reason: reason.into(),
            content,
            args: Vec::new(),
            data_type: DataType::Unknown,
            deterministic: true,
            code: Vec::new(),
            place: place.clone(),
        };
        Plan::at(Node::Opaque { function, keys: Vec::new(), output: Schema::unknown(), inputs: Vec::new() }, place)
    }

    /// Direct inputs, left to right.
    pub fn inputs(&self) -> Vec<&Plan> {
        direct_inputs!(&self.node, iter, as_ref)
    }

    /// The same, mutable.
    pub fn inputs_mut(&mut self) -> Vec<&mut Plan> {
        direct_inputs!(&mut self.node, iter_mut, as_mut)
    }

    /// Expressions of this node itself.
    pub fn expressions(&self) -> Vec<&Expr> {
        match &self.node {
            Node::Values { rows, .. } => rows.iter().flatten().collect(),
            Node::Range { start, end, step } => vec![start, end, step],
            Node::Project { list, .. } => list.iter().collect(),
            Node::Filter { condition, .. } => vec![condition],
            Node::Join { on: JoinOn::Condition(condition), .. } => vec![condition],
            Node::Aggregate { groupings, outputs, having, .. } => {
                groupings.iter().chain(outputs).chain(having).collect()
            }
            Node::Window { functions, .. } => functions.iter().collect(),
            Node::Deduplicate { keys, .. } => keys.iter().flatten().collect(),
            Node::Watermark { event_time, delay, .. } => vec![event_time, delay],
            Node::Sort { keys, .. } => keys.iter().map(|key| &key.expr).collect(),
            Node::Limit { count, .. } | Node::Offset { count, .. } => vec![count],
            Node::Generate { generator, output, .. } => std::iter::once(generator).chain(output).collect(),
            Node::Pivot { groupings, column, values, aggregates, .. } => {
                groupings.iter().chain(std::iter::once(column.as_ref())).chain(values).chain(aggregates).collect()
            }
            Node::Unpivot { ids, values, .. } => ids.iter().chain(values).collect(),
            Node::StatefulMap { keys, function, .. } => keys.iter().chain(&function.function.args).collect(),
            Node::Opaque { keys, function, .. } => keys.iter().chain(&function.args).collect(),
            Node::WithColumns { columns, .. } | Node::DropColumns { columns, .. } => columns.iter().collect(),
            Node::NaFill { value, .. } => vec![value],
            Node::Read(_)
            | Node::Join { .. }
            | Node::Distinct { .. }
            | Node::Union { .. }
            | Node::SetOperation { .. }
            | Node::Sample { .. }
            | Node::SubqueryAlias { .. }
            | Node::With { .. }
            | Node::RenameColumns { .. }
            | Node::ToDf { .. }
            | Node::NaDrop { .. } => Vec::new(),
        }
    }

    /// This plan and all below it, parents first, inputs left to right. Subqueries inside expressions are not entered.
    pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Plan)) {
        let mut pending = vec![self];
        while let Some(plan) = pending.pop() {
            visit(plan);
            pending.extend(plan.inputs().into_iter().rev());
        }
    }

    /// Every read below, in the order of the leaves; reads of subqueries after those of the plan that holds them.
    pub fn reads(&self) -> Vec<&Read> {
        let mut reads = Vec::new();
        let mut subqueries = Vec::new();
        self.walk(&mut |plan| {
            if let Node::Read(read) = &plan.node {
                reads.push(read);
            }
            for expr in plan.expressions() {
                expr.walk(&mut |e| {
                    if let Expr::Subquery { plan, .. } = e {
                        subqueries.push(plan.as_ref());
                    }
                });
            }
        });
        for subquery in subqueries {
            reads.extend(subquery.reads());
        }
        reads
    }

    /// True where some leaf is read as a stream.
    pub fn is_streaming(&self) -> bool {
        let mut streaming = false;
        self.walk(&mut |plan| {
            if let Node::Read(read) = &plan.node {
                streaming |= read.streaming;
            }
        });
        streaming
    }

    /// Functions of the repository that this plan's meaning hangs on.
    pub fn code(&self) -> Vec<&CodeUnit> {
        let mut units: Vec<&CodeUnit> = Vec::new();
        self.walk(&mut |plan| {
            match &plan.node {
                Node::Opaque { function, .. } => units.extend(&function.code),
                Node::StatefulMap { function, .. } => units.extend(&function.function.code),
                _ => {}
            }
            for expr in plan.expressions() {
                expr.walk(&mut |e| {
                    if let Expr::Opaque(opaque) = e {
                        units.extend(&opaque.code);
                    }
                });
            }
        });
        units
    }
}
