//! Runs a script twice, each time in a session of its own, and compares the tables it writes before, between and after.

use super::comparison;
use super::data::{self, Named, Rows, Scenario};
use super::label::Label;
use super::limits::is_limited;
use super::script::{Placed, rebuilds, writes_into};
use super::snapshot::{Moments, Seen, Snapshot, TextRow};
use super::symbols::bound;
use super::tables::{KnownFrom, TableFacts};
use super::unknown::{excuse, is_missing};
use super::worlds::worlds;
use crate::engine::ExecutionError;
use crate::engine::batch::{JobRun, TableKind, Warehouse, run_job};
use crate::model::{
    DataType, Expr, Field, Job, Node, Pipeline, Place, Plan, QualifiedName, Source, Step, StreamSink, SubqueryKind,
    WriteOperation, WriteTarget,
};
use std::collections::{BTreeMap, BTreeSet};

/// A script with everything its runs depend on.
#[derive(Clone, Copy)]
pub struct Experiment<'a> {
    pub job: &'a Job,
    /// All ways through the script, this one among them.
    pub ways: &'a [Job],
    pub pipeline: &'a Pipeline,
    pub tables: &'a [TableFacts],
    pub given: Option<&'a Rows>,
    /// Generated input has rows, too, that no predicate of the script asks for.
    pub beyond: bool,
    /// DDL on tables before the first run, and between the runs.
    pub before: &'a [(QualifiedName, String)],
    pub between: &'a [(QualifiedName, String)],
    /// Partition values that the job means to replace as a whole, whether its input has rows of them or not.
    pub window: &'a [String],
    /// Folders removed between the runs.
    pub removed_between: &'a [String],
}

impl<'a> Experiment<'a> {
    /// On generated rows, with nothing around the two runs.
    pub fn new(job: &'a Job, pipeline: &'a Pipeline, tables: &'a [TableFacts]) -> Self {
        Experiment {
            job,
            ways: &[],
            pipeline,
            tables,
            given: None,
            beyond: false,
            before: &[],
            between: &[],
            window: &[],
            removed_between: &[],
        }
    }
}

/// What was seen of one table.
#[derive(Debug, Clone)]
pub struct Observed {
    /// Table or path, as the script names it.
    pub target: String,
    pub labels: BTreeSet<Label>,
    pub error: Option<(ExecutionError, Place)>,
    /// Failures of writers that run beside others.
    pub thread_errors: Vec<(ExecutionError, Place)>,
    pub before: Option<Seen>,
    pub after_1: Seen,
    pub after_2: Seen,
    pub uninterpreted: Vec<String>,
}

/// Microseconds from one run to the next: a day.
const BETWEEN_RUNS: i64 = 86_400_000_000;
/// 2024-01-10T00:00:00Z: what the first run's clock shows.
const FIRST_RUN: i64 = 1_704_844_800_000_000;

/// Runs the script twice, in each of the ways that its caller may choose: of a table, what any of them shows.
///
/// # Errors
/// Why nothing could be observed: what the engine does not execute, or a table of which nothing is known.
pub fn experiment(setup: &Experiment<'_>) -> Result<Vec<Observed>, ExecutionError> {
    let jobs = worlds(setup.job);
    let mut seen: Vec<Observed> = Vec::new();
    let mut failure = None;
    for job in &jobs {
        let job = bound(job, &|column| example(setup, column));
        match one_way(&Experiment { job: &job, ways: &jobs, ..*setup }) {
            Ok(all) => all.into_iter().for_each(|observed| merge(&mut seen, observed)),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    match failure {
        Some(error) if seen.is_empty() => Err(error),
        _ => Ok(seen),
    }
}

/// Adds what another way shows of a table; the moments kept are those of the first way that does harm.
fn merge(seen: &mut Vec<Observed>, other: Observed) {
    let Some(known) = seen.iter_mut().find(|known| same_name(&known.target, &other.target)) else {
        seen.push(other);
        return;
    };
    let labels: BTreeSet<Label> = known.labels.union(&other.labels).copied().collect();
    if known.labels.is_empty() {
        *known = other;
    }
    known.labels = labels;
}

/// A value of a column, in the rows that the script reads.
fn example(setup: &Experiment<'_>, column: &str) -> Option<String> {
    let named = Named::of(setup.job);
    let read = read_names(setup.job);
    let tables = setup.tables.iter().filter(|table| read.iter().any(|name| same_name(name, &table.name)));
    let values = tables.filter(|table| table.schema.field(column).is_some()).filter_map(|table| {
        let rows = match setup.given {
            Some(given) => given.of(table).unwrap_or_default(),
            None => data::input_rows(table, &named, Scenario::ExistingDay, false),
        };
        let rows = crate::engine::Rows { schema: table.schema.clone(), rows: rows.into_iter().take(1).collect() };
        let row = Snapshot::of_rows(&rows, None).rows.into_iter().next()?;
        row.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(column))?.1
    });
    values.into_iter().next()
}

fn one_way(setup: &Experiment<'_>) -> Result<Vec<Observed>, ExecutionError> {
    let targets = targets(setup.job);
    if targets.is_empty() {
        return Err(ExecutionError::unsupported("no write with a known target was found"));
    }
    let mut warehouse = filled(setup, &targets);
    for (name, statement) in setup.before {
        warehouse.alter(name, statement)?;
    }
    let inputs: BTreeMap<String, Vec<TextRow>> = comparison::input_rows(setup, &warehouse);
    let look = |warehouse: &Warehouse| -> BTreeMap<String, Seen> {
        targets.iter().map(|target| (target.clone(), seen(warehouse, target))).collect()
    };
    let layouts = |warehouse: &Warehouse| -> BTreeMap<String, Vec<String>> {
        targets.iter().map(|target| (target.clone(), warehouse.layout(target))).collect()
    };
    let before = look(&warehouse);
    let layout_before = layouts(&warehouse);
    let version = setup.pipeline.spark_version;
    let first = run_job(setup.job, &mut warehouse, version, FIRST_RUN);
    supported(&first)?;
    excused(setup, &first)?;
    let after_1 = look(&warehouse);
    let layout_after = layouts(&warehouse);
    let made: BTreeMap<String, Vec<Field>> = (targets.iter())
        .filter_map(|target| Some((target.clone(), warehouse.contents(target).ok()?.rows.schema.fields)))
        .collect();
    for (name, statement) in setup.between {
        warehouse.alter(name, statement)?;
    }
    for path in setup.removed_between {
        warehouse.remove_under(path);
    }
    let second = run_job(setup.job, &mut warehouse, version, FIRST_RUN + BETWEEN_RUNS);
    supported(&second)?;
    excused(setup, &second)?;
    let after_2 = look(&warehouse);
    let failed = first.error.is_some() || second.error.is_some();
    Ok(targets
        .iter()
        .filter_map(|target| {
            let existed = setup.tables.iter().any(|table| same_name(&table.name, target));
            // A table that no run brings about, and no run fails over, was written by nobody.
            let absent = |seen: Option<&Seen>| seen.is_some_and(|seen| seen.as_ref().is_err_and(is_missing));
            if !existed && !failed && absent(after_1.get(target)) && absent(after_2.get(target)) {
                return None;
            }
            let moments = Moments {
                before: before.get(target).filter(|_| existed),
                after_1: after_1.get(target)?,
                after_2: after_2.get(target)?,
                failed_1: first.error.is_some(),
                failed_2: second.error.is_some(),
                laid_out_anew: layout_before.get(target) != layout_after.get(target) && !is_gone(after_1.get(target)?),
            };
            let mut comparison =
                comparison::comparison(setup, target, &targets, &inputs, made.get(target).map_or(&[], Vec::as_slice));
            let selected = first.written.iter().map(|written| written.rows.rows.len()).sum::<usize>();
            // A script that selects nothing has no input to find again.
            if !first.written.is_empty() && selected == 0 && !reads_targets(setup.job, &targets) {
                comparison.input.clear();
            }
            if let Some(rows) = comparison::expected(setup.job, &first, target, &comparison.keys) {
                comparison.input = rows;
            }
            comparison.repeated = comparison::repeated_in_queries(&first, target, &comparison);
            let labels = comparison.labels(&moments);
            Some(Observed {
                target: target.clone(),
                labels,
                error: first.error.clone().or_else(|| second.error.clone()),
                thread_errors: first.thread_errors.iter().chain(&second.thread_errors).cloned().collect(),
                before: moments.before.cloned(),
                after_1: moments.after_1.clone(),
                after_2: moments.after_2.clone(),
                uninterpreted: first.uninterpreted.clone(),
            })
        })
        .collect())
}

/// An error where a run failed in a way that says nothing of the script.
fn excused(setup: &Experiment<'_>, run: &JobRun) -> Result<(), ExecutionError> {
    let mut failures = run.error.iter().chain(&run.thread_errors);
    let reason = failures.find_map(|(error, place)| excuse(setup, error, place));
    reason.map_or(Ok(()), |reason| Err(ExecutionError::unsupported(reason)))
}

fn supported(run: &JobRun) -> Result<(), ExecutionError> {
    run.unsupported().map_or(Ok(()), |error| Err(error.clone()))
}

pub(super) fn seen(warehouse: &Warehouse, target: &str) -> Seen {
    let contents = warehouse.contents(target)?;
    Ok(Snapshot::of_rows(&contents.rows, warehouse.history(target)))
}

/// The tables that are there before the first run, with their rows.
fn filled(setup: &Experiment<'_>, targets: &[String]) -> Warehouse {
    let mut warehouse = Warehouse::new(&setup.pipeline.table_format);
    let named = Named::of(setup.job);
    let streamed = streamed_paths(setup.job);
    let scenario = scenario(setup, targets);
    for table in setup.tables {
        let mut table = table.clone();
        table.file_a_row = streamed.iter().any(|path| same_name(path, &table.name));
        let written = targets.iter().any(|target| same_name(target, &table.name));
        let rows = match setup.given {
            _ if written && is_full_load(setup, &table) => Vec::new(),
            Some(given) => given.of(&table).unwrap_or_default(),
            None if written && is_rebuilt(setup.job, &table) => Vec::new(),
            None if written => data::target_rows(&table, &named),
            None if table.file_a_row => data::stream_rows(&table, &named),
            None => data::input_rows(&table, &named, scenario, setup.beyond),
        };
        table.create(&mut warehouse, rows);
    }
    warehouse
}

/// A table that this script alone fills, each time as a whole: what stands in it is what the run before has left.
fn is_rebuilt(job: &Job, table: &TableFacts) -> bool {
    matches!(table.known_from, KnownFrom::Definition { filled: false, .. }) && rebuilds_whole(job, table)
}

/// One of several ways through a script that makes the whole table anew, where another goes on from what is there.
fn is_full_load(setup: &Experiment<'_>, table: &TableFacts) -> bool {
    let goes_on = |way: &Job| !writes_into(way, &table.name).is_empty() && !rebuilds_whole(way, table);
    rebuilds_whole(setup.job, table) && setup.ways.iter().any(goes_on)
}

/// Each run makes all rows of a table anew, and no predicate limits them.
fn rebuilds_whole(job: &Job, table: &TableFacts) -> bool {
    let limited = |placed: &Placed<'_>| is_limited(placed.write, &table.schema.fields, &table.partition_by);
    rebuilds(job, &table.name) && !writes_into(job, &table.name).iter().any(limited)
}

/// Which rows the input should have to show what the script does.
fn scenario(setup: &Experiment<'_>, targets: &[String]) -> Scenario {
    let mut steps = Vec::new();
    all_steps(&setup.job.steps, &mut steps);
    let lake = |target: &WriteTarget| {
        let name = target_name(target).unwrap_or_default();
        setup.tables.iter().any(|table| same_name(&table.name, &name) && table.kind == TableKind::Lake)
    };
    let writes = steps.into_iter().filter_map(|step| match step {
        Step::Write(write) => Some(write),
        _ => None,
    });
    let mut scenario = Scenario::ExistingDay;
    for write in writes {
        let query = write.query.as_ref();
        let reads_itself = query.is_some_and(|query| reads_targets_of(query, targets));
        match &write.operation {
            // Old rows come to a lakehouse table again by MERGE or overwrite; what is appended is new.
            WriteOperation::Append if lake(&write.target) => scenario = Scenario::NewDay,
            WriteOperation::Overwrite if lake(&write.target) && reads_itself => scenario = Scenario::NewDay,
            // A script that reads on from the newest day is given one.
            WriteOperation::Append if query.is_some_and(reads_on) => scenario = Scenario::NewDay,
            WriteOperation::Merge(merge) if matches_on_day(&merge.on, setup) => scenario = Scenario::MovedKey,
            WriteOperation::Append | WriteOperation::Ddl(_) => {}
            _ => return Scenario::ExistingDay,
        }
    }
    scenario
}

fn reads_targets_of(plan: &Plan, targets: &[String]) -> bool {
    plan.reads().into_iter().any(|read| match &read.source {
        Source::Table(name) => targets.iter().any(|target| same_name(target, &name.to_string())),
        Source::Files { path, .. } => targets.iter().any(|target| same_name(target, path)),
        _ => false,
    })
}

/// `d > (SELECT max(d) FROM …)`.
fn reads_on(plan: &Plan) -> bool {
    let mut found = false;
    plan.walk(&mut |node| {
        let Node::Filter { condition, .. } = &node.node else { return };
        condition.walk(&mut |inner| {
            if let Expr::Call(call) = inner {
                let scalar = |e: &Expr| matches!(e, Expr::Subquery { kind: SubqueryKind::Scalar, .. });
                found |= matches!(call.function.as_ref(), ">" | ">=") && call.args.iter().any(scalar);
            }
        });
    });
    found
}

/// The ON condition compares a date of both sides beside the key.
fn matches_on_day(on: &Expr, setup: &Experiment<'_>) -> bool {
    let is_day = |expr: &Expr| match expr {
        Expr::Column(column) => column.parts.last().is_some_and(|name| {
            let dates = setup.tables.iter().flat_map(|table| &table.schema.fields);
            dates.filter(|field| field.data_type == DataType::Date).any(|field| field.name.eq_ignore_ascii_case(name))
        }),
        _ => false,
    };
    let mut found = false;
    on.walk(&mut |inner| {
        if let Expr::Call(call) = inner {
            found |= call.function.as_ref() == "=" && call.args.iter().all(is_day);
        }
    });
    found
}

pub(crate) fn same_name(a: &str, b: &str) -> bool {
    let clean = |name: &str| name.trim_end_matches('/').replace('`', "").to_lowercase();
    let (a, b) = (clean(a), clean(b));
    a == b
        || a.strip_suffix(&b).is_some_and(|rest| rest.ends_with('.'))
        || b.strip_suffix(&a).is_some_and(|r| r.ends_with('.'))
}

/// Every step, nested ones too.
pub(super) fn all_steps<'a>(steps: &'a [Step], out: &mut Vec<&'a Step>) {
    for step in steps {
        out.push(step);
        step.inner().into_iter().for_each(|inner| all_steps(inner, out));
    }
}

pub(super) fn write_target(step: &Step) -> Option<&WriteTarget> {
    match step {
        Step::Write(write) => Some(&write.target),
        Step::Stream(stream) => match &stream.sink {
            StreamSink::Append(write) => Some(&write.target),
            StreamSink::ForeachBatch { .. } => None,
        },
        _ => None,
    }
}

/// The name a write's target is looked at by: a folder's partition leads to the folder, a branch to its table.
pub(super) fn target_name(target: &WriteTarget) -> Option<String> {
    match target {
        WriteTarget::Table(name) => {
            let text = name.to_string();
            Some(text.split_once(".branch_").map_or(text.clone(), |(base, _)| base.to_owned()))
        }
        WriteTarget::Path(path) => {
            let parts: Vec<&str> =
                path.trim_end_matches('/').split('/').take_while(|part| !part.contains('=')).collect();
            Some(parts.join("/"))
        }
        WriteTarget::Unknown(_) => None,
    }
}

/// Tables and folders that a job writes, in order.
pub(super) fn targets(job: &Job) -> Vec<String> {
    let mut steps = Vec::new();
    all_steps(&job.steps, &mut steps);
    let mut targets: Vec<String> = Vec::new();
    for name in steps.into_iter().filter_map(write_target).filter_map(target_name) {
        if !targets.iter().any(|known| same_name(known, &name)) {
            targets.push(name);
        }
    }
    targets
}

pub(super) fn plans(job: &Job) -> Vec<&Plan> {
    let mut steps = Vec::new();
    all_steps(&job.steps, &mut steps);
    steps
        .into_iter()
        .flat_map(|step| match step {
            Step::Write(write) => write.queries().collect::<Vec<_>>(),
            Step::Stream(stream) => vec![&stream.query],
            _ => Vec::new(),
        })
        .collect()
}

fn streamed_paths(job: &Job) -> Vec<String> {
    let reads = plans(job).into_iter().flat_map(Plan::reads);
    let path = |read: &crate::model::Read| match &read.source {
        Source::Files { path, .. } if read.streaming => Some(path.clone()),
        _ => None,
    };
    reads.filter_map(path).collect()
}

/// Names of the tables and folders that a query reads.
pub(super) fn names_read(query: &Plan) -> Vec<String> {
    let name = |read: &crate::model::Read| match &read.source {
        Source::Table(name) => Some(name.to_string()),
        Source::Files { path, .. } => Some(path.clone()),
        _ => None,
    };
    // Rows that the script has collected are no table.
    query.reads().into_iter().filter_map(name).filter(|name| !name.starts_with("__collected")).collect()
}

/// The same of a job.
pub(super) fn read_names(job: &Job) -> Vec<String> {
    plans(job).into_iter().flat_map(names_read).collect()
}

/// The table itself is not there any more.
fn is_gone(seen: &Seen) -> bool {
    seen.as_ref().err().is_some_and(|error| error.class == "TABLE_OR_VIEW_NOT_FOUND")
}

fn reads_targets(job: &Job, targets: &[String]) -> bool {
    read_names(job).iter().any(|read| targets.iter().any(|target| same_name(read, target)))
}
