//! One run of a script: its session, and how it executes queries.

use super::Written;
use super::warehouse::{TableKind, Warehouse, normalized};
use crate::analyze::{AnalyzedFlow, analyze};
use crate::engine::error::ExecutionError;
use crate::engine::operators::{Tables, run_batch};
use crate::engine::row::{Row, Rows};
use crate::engine::session::Session;
use crate::model::{
    BatchWrite, Dataset, DatasetKind, Expr, Flow, FlowKind, JoinKind, Node, Pipeline, PipelineKind, Place, Plan,
    Platform, QualifiedName, Read, Schema, Source, SourceFacts, Step, Workspace,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// A session and the warehouse it works on.
pub struct Run<'a> {
    pub warehouse: &'a mut Warehouse,
    pub version: (u32, u32),
    pub clock: i64,
    pub conf: BTreeMap<String, String>,
    /// The configuration that the session began with: what `RESET` goes back to.
    pub initial: BTreeMap<String, String>,
    /// Collections of rows that cannot be computed here, with the reason.
    not_collected: BTreeMap<String, ExecutionError>,
    /// Rows of frames that are kept once they have been computed (`cache`).
    pub kept: BTreeMap<u32, Option<Rows>>,
    /// Those of them of which Spark forgets what they were computed from (`checkpoint`).
    pub cut: BTreeSet<u32>,
    /// Relations that exist for one statement: a batch of a stream, a MERGE's sides.
    pub relations: BTreeMap<String, Rows>,
    /// Snapshots that a concurrent writer started on.
    pub base: BTreeMap<String, Option<u64>>,
    /// Rows that a concurrent writer had read when it started, by the write's place.
    pub ahead: BTreeMap<String, Rows>,
    /// The number of the batch that a function of a streaming query was given.
    pub batch: Option<u64>,
    pub thread_errors: Vec<(ExecutionError, Place)>,
    pub uninterpreted: Vec<String>,
    /// Rows of the queries that ran for the statement under way.
    pub queried: Vec<Rows>,
    pub written: Vec<Written>,
}

/// What expressions over the columns of rows give, row by row.
///
/// # Errors
/// Those of analysis and execution.
pub fn values(rows: &Rows, list: Vec<Expr>) -> Result<Vec<Row>, ExecutionError> {
    const ROWS: &str = "__rows";
    let mut warehouse = Warehouse::new("delta");
    let mut run = Run::new(&mut warehouse, (4, 0), 0);
    run.relations.insert(ROWS.to_owned(), rows.clone());
    let input = Plan::new(Node::Read(Read::new(Source::Table(QualifiedName::bare(ROWS)), false)));
    Ok(run.query(&Plan::new(Node::Project { list, input: Box::new(input) }))?.rows)
}

/// Class of a failure inside a Python function; its message begins so.
const PYTHON_EXCEPTION: &str = "PythonException";

/// A query with names and types resolved.
#[derive(Debug, Clone)]
pub struct Resolved {
    pub flow: Box<AnalyzedFlow>,
    /// The same before analysis, with kept frames put in.
    pub plan: Plan,
    /// Read when a concurrent writer started.
    ahead: Option<Rows>,
}

impl<'a> Run<'a> {
    pub fn new(warehouse: &'a mut Warehouse, version: (u32, u32), clock: i64) -> Self {
        Run {
            warehouse,
            version,
            clock,
            conf: BTreeMap::new(),
            initial: BTreeMap::new(),
            not_collected: BTreeMap::new(),
            kept: BTreeMap::new(),
            cut: BTreeSet::new(),
            relations: BTreeMap::new(),
            base: BTreeMap::new(),
            ahead: BTreeMap::new(),
            batch: None,
            thread_errors: Vec::new(),
            uninterpreted: Vec::new(),
            queried: Vec::new(),
            written: Vec::new(),
        }
    }

    /// The query of a write.
    pub fn plan_of(&mut self, write: &BatchWrite) -> Result<Resolved, ExecutionError> {
        let Some(query) = &write.query else {
            return Err(ExecutionError::unsupported("the write has no query"));
        };
        let mut resolved = self.resolve(query)?;
        resolved.ahead = self.ahead.remove(&place_key(&write.place));
        Ok(resolved)
    }

    /// What a concurrent writer reads when it starts.
    pub fn read_ahead(&mut self, step: &Step) -> Option<(String, Rows)> {
        let Step::Write(write) = step else { return None };
        let resolved = self.resolve(write.query.as_ref()?).ok()?;
        Some((place_key(&write.place), self.execute(&resolved).ok()?))
    }

    /// Resolves a query against the tables there are now.
    ///
    /// # Errors
    /// Those of Spark's analysis.
    pub fn resolve(&mut self, query: &Plan) -> Result<Resolved, ExecutionError> {
        let plan = self.with_kept(query)?;
        if let Some(name) = unknown_column(&plan) {
            return Err(ExecutionError::unsupported(format!("the name of a column is not known: {name}")));
        }
        let mut sources: Vec<SourceFacts> = Vec::new();
        for read in plan.reads() {
            let Some((name, path, format)) = source_name(read) else { continue };
            if sources.iter().any(|known| known.name == name) || named_by_cte(&plan, read) {
                continue;
            }
            let rows = self.scan_now(read)?;
            sources.push(SourceFacts {
                name,
                format,
                schema: Some(rows.schema),
                partitioned_by: Vec::new(),
                retention: None,
                path,
                other: BTreeMap::new(),
                span: None,
            });
        }
        let flow = self.analyze(plan.clone(), sources)?;
        Ok(Resolved { flow: Box::new(flow), plan, ahead: None })
    }

    fn analyze(&self, plan: Plan, sources: Vec<SourceFacts>) -> Result<AnalyzedFlow, ExecutionError> {
        let mut pipeline = Pipeline::new("job", PipelineKind::Jobs);
        pipeline.platform = Platform::Spark;
        pipeline.spark_version = self.version;
        pipeline.configuration.clone_from(&self.conf);
        pipeline.sources = sources.into();
        let target = QualifiedName::bare("__result");
        pipeline.datasets.push(Dataset::new(target.clone(), DatasetKind::MaterializedView, Place::unknown()));
        pipeline.flows.push(Flow {
            name: "result".to_owned(),
            target,
            kind: FlowKind::Default,
            plan,
            spark_conf: BTreeMap::new(),
            comment: None,
            code: Vec::new(),
            open_code: None,
            place: Place::unknown(),
        });
        let analysis = analyze(Workspace { pipelines: vec![pipeline], ..Workspace::default() });
        let Some(flow) = analysis.flows.into_iter().next() else {
            return Err(ExecutionError::unsupported("the query could not be analysed"));
        };
        match flow.errors.first() {
            Some(error) => Err(ExecutionError::new(error.class.clone(), error.message.clone())),
            None => Ok(flow),
        }
    }

    pub fn schema_of(&self, resolved: &Resolved) -> Schema {
        resolved.flow.schema.clone()
    }

    /// Rows of a resolved query.
    ///
    /// # Errors
    /// What its execution fails with.
    pub fn execute(&mut self, resolved: &Resolved) -> Result<Rows, ExecutionError> {
        if let Some(rows) = &resolved.ahead {
            self.queried.push(rows.clone());
            return Ok(rows.clone());
        }
        let session = Session { conf: self.conf.clone(), now: self.clock, ..Session::default() };
        let seen = RefCell::default();
        let tables = Scan { run: self, seen: &seen };
        let output = run_batch(&resolved.flow.optimized, &tables, &session).map_err(|error| self.raised(error))?;
        self.uninterpreted.extend(output.uninterpreted);
        // Nullability and names are those of the analysis; rows are in its order.
        let mut rows = output.rows;
        for (field, known) in rows.schema.fields.iter_mut().zip(&resolved.flow.schema.fields) {
            field.name.clone_from(&known.name);
        }
        self.queried.push(rows.clone());
        Ok(rows)
    }

    /// The class under which a failure raised by a row is seen.
    fn raised(&self, error: ExecutionError) -> ExecutionError {
        let class = match error.class.as_str() {
            "USER_RAISED_EXCEPTION" if error.message.starts_with(PYTHON_EXCEPTION) => PYTHON_EXCEPTION,
            // Before 4.0 `raise_error` threw a plain exception.
            "USER_RAISED_EXCEPTION" if self.version < (4, 0) => "RuntimeException",
            _ => return error,
        };
        ExecutionError::new(class, error.message)
    }

    /// Rows of a query.
    ///
    /// # Errors
    /// Those of analysis and execution.
    pub fn query(&mut self, plan: &Plan) -> Result<Rows, ExecutionError> {
        let resolved = self.resolve(plan)?;
        self.execute(&resolved)
    }

    /// Keeps the rows that a script looks at. What cannot be computed here matters only where it is used.
    pub fn collect(&mut self, name: &str, query: &Plan) -> Result<(), ExecutionError> {
        match self.query(query) {
            Ok(rows) => drop(self.relations.insert(name.to_owned(), rows)),
            Err(error) if error.is_unsupported() => drop(self.not_collected.insert(name.to_owned(), error)),
            // A table of metadata, or one of which nothing is known.
            Err(error) if matches!(error.class.as_str(), "TABLE_OR_VIEW_NOT_FOUND" | "PATH_NOT_FOUND") => {
                let reason =
                    ExecutionError::unsupported(format!("what the script reads there is not known: {}", error.message));
                self.not_collected.insert(name.to_owned(), reason);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Whether a condition on collected rows holds.
    pub fn holds(&mut self, test: &Expr) -> Result<bool, ExecutionError> {
        let one = Plan::at(Node::Values { rows: vec![Vec::new()], schema: Schema::new(Vec::new()) }, Place::unknown());
        let list = vec![test.clone().alias("holds")];
        let rows = self.query(&Plan::at(Node::Project { list, input: Box::new(one) }, Place::unknown()))?;
        let value = rows.rows.first().and_then(|row| row.first().cloned());
        Ok(value == Some(crate::model::Value::Boolean(true)))
    }

    /// The plan with the rows of kept frames in the place of what computes them.
    fn with_kept(&mut self, plan: &Plan) -> Result<Plan, ExecutionError> {
        let mut plan = plan.clone();
        if self.kept.is_empty() {
            return Ok(plan);
        }
        self.put_kept(&mut plan)?;
        Ok(plan)
    }

    fn put_kept(&mut self, plan: &mut Plan) -> Result<(), ExecutionError> {
        let Some(frame) = plan.frame.filter(|frame| self.kept.contains_key(frame)) else {
            for input in plan.inputs_mut() {
                self.put_kept(input)?;
            }
            return Ok(());
        };
        let name = format!("__frame_{frame}");
        if !self.relations.contains_key(&name) {
            let entry = self.kept.remove(&frame);
            let rows = match entry.flatten() {
                Some(rows) => rows,
                None => self.query(plan)?,
            };
            self.kept.insert(frame, Some(rows.clone()));
            self.relations.insert(name.clone(), rows);
        }
        plan.node = Node::Read(Read::new(Source::Table(QualifiedName::bare(name)), false));
        Ok(())
    }

    /// Whether a write's query reads a table as Spark's analysis sees it, which knows nothing of cached rows.
    pub fn analysis_reads(&self, write: &BatchWrite, base: &str) -> bool {
        let cut = |plan: &Plan| plan.frame.is_some_and(|frame| self.cut.contains(&frame));
        let mut pending: Vec<&Plan> = write.query.iter().collect();
        while let Some(plan) = pending.pop() {
            if !cut(plan) {
                pending.extend(plan.inputs());
                if self.node_reads_under(plan, base) {
                    return true;
                }
            }
        }
        false
    }
    /// Whether the last stage of a query reads files below a folder: adaptive execution has run what lies below an exchange before
    /// a command begins (`InsertAdaptiveSparkPlan`). One side of a join of small tables is broadcast.
    pub fn last_stage_reads(&self, plan: &Plan, base: &str) -> bool {
        let windowed = |expr: &Expr| {
            let mut found = false;
            expr.walk(&mut |inner| found |= matches!(inner, Expr::Window { .. }));
            found
        };
        let exchanged = matches!(
            plan.node,
            Node::Aggregate { .. }
                | Node::Distinct { .. }
                | Node::Deduplicate { .. }
                | Node::Window { .. }
                | Node::Sort { .. }
        );
        if exchanged || plan.expressions().into_iter().any(windowed) {
            return false;
        }
        match &plan.node {
            Node::Join { kind: JoinKind::LeftOuter | JoinKind::LeftSemi | JoinKind::LeftAnti, left, .. } => {
                self.last_stage_reads(left, base)
            }
            Node::Join { kind: JoinKind::RightOuter, right, .. } => self.last_stage_reads(right, base),
            _ => self.node_reads_under(plan, base) || plan.inputs().into_iter().any(|p| self.last_stage_reads(p, base)),
        }
    }

    fn node_reads_under(&self, plan: &Plan, base: &str) -> bool {
        let Node::Read(read) = &plan.node else { return false };
        match &read.source {
            Source::Files { path, .. } => {
                let path = normalized(path);
                let below = |a: &str, b: &str| a == b || a.strip_prefix(b).is_some_and(|r| r.starts_with('/'));
                below(&path, base) || below(base, &path)
            }
            Source::Table(name) => {
                let key = self.warehouse.resolve(name);
                self.warehouse.definition(&key).is_some_and(|table| table.location == base)
            }
            _ => false,
        }
    }

    fn scan_now(&self, read: &Read) -> Result<Rows, ExecutionError> {
        match &read.source {
            Source::Table(name) => {
                if let Some(rows) = self.relations.get(&name.name) {
                    return Ok(rows.clone());
                }
                if let Some(error) = self.not_collected.get(&name.name) {
                    return Err(error.clone());
                }
                let key = self.warehouse.resolve(name);
                let Some(definition) = self.warehouse.definition(&key) else {
                    return Err(ExecutionError::new("TABLE_OR_VIEW_NOT_FOUND", format!("{name} is not there")));
                };
                if definition.kind == TableKind::Lake
                    && let Some((base, branch)) = key.split_once(".branch_")
                {
                    let lake = self.warehouse.lakes.get(base);
                    return Ok(lake
                        .map(|lake| lake.rows(Some(branch)))
                        .unwrap_or_else(|| Rows::empty(Schema::unknown())));
                }
                Ok(self.warehouse.table_contents(&key, definition)?.rows)
            }
            Source::Files { path, format, .. } if matches!(format.as_str(), "delta" | "iceberg") => {
                Ok(self.warehouse.contents(path)?.rows)
            }
            Source::Files { path, .. } => {
                let merge = read.option("mergeschema").is_some_and(|value| value.eq_ignore_ascii_case("true"));
                Ok(self.warehouse.folder_contents(&normalized(path), read.schema.as_ref(), merge)?.rows)
            }
            other => Err(ExecutionError::unsupported(format!("{other:?} is not read in batch"))),
        }
    }
}

fn place_key(place: &Place) -> String {
    place.span().map_or_else(String::new, |span| format!("{}:{}:{}", span.path, span.line, span.column))
}

/// Name, path and format that facts of a read go under.
fn source_name(read: &Read) -> Option<(String, Option<String>, Option<String>)> {
    match &read.source {
        Source::Table(name) => Some((name.to_string(), None, None)),
        Source::Files { path, format, .. } => Some((path.clone(), Some(path.clone()), Some(format.clone()))),
        _ => None,
    }
}

/// Whether a name is that of a common table expression of the same query.
fn named_by_cte(plan: &Plan, read: &Read) -> bool {
    let Source::Table(name) = &read.source else { return false };
    let mut found = false;
    let mut visit = |plan: &Plan| {
        if let Node::With { ctes, .. } = &plan.node {
            found |= ctes.iter().any(|(cte, _)| cte.eq_ignore_ascii_case(&name.key()));
        }
    };
    plan.walk(&mut |plan| {
        visit(plan);
        for expr in plan.expressions() {
            expr.walk(&mut |inner| {
                if let Expr::Subquery { plan, .. } = inner {
                    plan.walk(&mut |plan| visit(plan));
                }
            });
        }
    });
    found
}

/// A column whose name is only known at run time: it holds a placeholder in braces.
fn unknown_column(plan: &Plan) -> Option<String> {
    let mut found = None;
    plan.walk(&mut |plan| {
        for expr in plan.expressions() {
            expr.walk(&mut |inner| {
                if let Expr::Column(column) = inner {
                    found = found.take().or_else(|| column.parts.iter().find(|part| part.contains('{')).cloned());
                }
            });
        }
    });
    found
}

struct Scan<'r, 'a> {
    run: &'r Run<'a>,
    /// Rows of tables read so far: all leaves of one query see one state.
    seen: &'r RefCell<BTreeMap<String, Rows>>,
}

impl Tables for Scan<'_, '_> {
    fn scan(&self, read: &Read) -> Result<Rows, ExecutionError> {
        let Some((name, ..)) = source_name(read) else { return self.run.scan_now(read) };
        if let Some(rows) = self.seen.borrow().get(&name) {
            return Ok(rows.clone());
        }
        let rows = self.run.scan_now(read)?;
        self.seen.borrow_mut().insert(name, rows.clone());
        Ok(rows)
    }
}
