//! Runs a script twice, each time in a session of its own, and compares the tables it writes before, between and after.

use super::data::{self, Named, Rows, Scenario};
use super::label::Label;
use super::script::{operation_word, writes_into};
use super::snapshot::{Comparison, Key, Moments, Seen, Snapshot, TextRow};
use super::tables::TableFacts;
use crate::engine::ExecutionError;
use crate::engine::batch::{JobRun, TableKind, Transform, Warehouse, Written, run_job};
use crate::model::{
    BatchWrite, DataType, Expr, Field, Job, JoinKind, Node, Pipeline, Place, Plan, QualifiedName, Source, Step,
    StreamSink, SubqueryKind, WriteApi, WriteOperation, WriteTarget,
};
use std::collections::{BTreeMap, BTreeSet};

/// A script with everything its runs depend on.
pub struct Experiment<'a> {
    pub job: &'a Job,
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

/// Runs the script twice.
///
/// # Errors
/// Why nothing could be observed: what the engine does not execute, or a table of which nothing is known.
pub fn experiment(setup: &Experiment<'_>) -> Result<Vec<Observed>, ExecutionError> {
    let targets = targets(setup.job);
    if targets.is_empty() {
        return Err(ExecutionError::unsupported("no write with a known target was found"));
    }
    let mut warehouse = filled(setup, &targets);
    for (name, statement) in setup.before {
        warehouse.alter(name, statement)?;
    }
    let inputs: BTreeMap<String, Vec<TextRow>> = input_rows(setup, &warehouse);
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
    if first.error.iter().chain(&first.thread_errors).any(|(error, _)| is_missing(error))
        && let Some(name) = unknown_table(setup)
    {
        return Err(ExecutionError::unsupported(format!("nothing is known of `{name}`")));
    }
    let after_1 = look(&warehouse);
    let layout_after = layouts(&warehouse);
    for (name, statement) in setup.between {
        warehouse.alter(name, statement)?;
    }
    for path in setup.removed_between {
        warehouse.remove_under(path);
    }
    let second = run_job(setup.job, &mut warehouse, version, FIRST_RUN + BETWEEN_RUNS);
    supported(&second)?;
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
            let mut comparison = comparison(setup, target, &targets, &inputs);
            let selected = first.written.iter().map(|written| written.rows.rows.len()).sum::<usize>();
            // A script that selects nothing has no input to find again.
            if !first.written.is_empty() && selected == 0 && !reads_targets(setup.job, &targets) {
                comparison.input.clear();
            }
            // Where a query computes values, what it gives is what must arrive: its input is not found again in any case.
            if let (true, Some(rows)) = (computes(setup.job, target), queried(&first, target, &comparison.keys)) {
                comparison.input = rows;
            }
            comparison.repeated = repeated_in_queries(&first, target, &comparison);
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

/// Whether some query of the writes into a table makes rows of its own, or gives a column a value that its input does not have.
fn computes(job: &Job, target: &str) -> bool {
    let plain = |expr: &Expr| match expr {
        Expr::Alias { expr, .. } => matches!(**expr, Expr::Column(_) | Expr::Literal { .. }),
        _ => true,
    };
    let mut found = false;
    let writes = writes_into(job, target);
    // Streams and MERGE bring rows that no query of a write shows.
    let brings = |write: &BatchWrite| !matches!(operation_word(&write.operation), "ddl" | "delete" | "update");
    if writes.iter().any(|placed| placed.write.query.is_none() && brings(placed.write)) {
        return false;
    }
    for query in writes.iter().filter_map(|placed| placed.write.query.as_ref()) {
        query.walk(&mut |node| {
            found |= match &node.node {
                Node::Project { list: columns, .. } | Node::WithColumns { columns, .. } => !columns.iter().all(plain),
                Node::Aggregate { .. } | Node::Generate { .. } | Node::Pivot { .. } | Node::Unpivot { .. } => true,
                _ => false,
            };
        });
    }
    found
}

/// What the queries of a run gave to a table; none where they do not name its partition columns.
fn queried(run: &JobRun, target: &str, keys: &[Key]) -> Option<Vec<TextRow>> {
    let own: Vec<&Written> = run.written.iter().filter(|written| same_name(&written.target, target)).collect();
    let names = |written: &Written, key: &Key| {
        let (Key::Column(name) | Key::Day(name)) = key;
        written.rows.schema.field(name).is_some()
    };
    let named = own.iter().all(|written| keys.iter().all(|key| names(written, key)));
    (named && !own.is_empty())
        .then(|| own.iter().flat_map(|written| Snapshot::of_rows(&written.rows, None).rows).collect())
}

fn is_missing(error: &ExecutionError) -> bool {
    matches!(error.class.as_str(), "TABLE_OR_VIEW_NOT_FOUND" | "PATH_NOT_FOUND")
}

/// A table or path that the script needs and of which nothing is known: that it is not there says nothing of the script.
fn unknown_table(setup: &Experiment<'_>) -> Option<String> {
    let known = |name: &str| setup.tables.iter().any(|table| same_name(&table.name, name));
    let writes = super::script::writes(setup.job);
    let creates = |name: &str| {
        writes.iter().any(|placed| {
            let brings = !matches!(operation_word(&placed.write.operation), "merge" | "delete" | "update" | "ddl")
                && !matches!(placed.write.api, WriteApi::InsertInto)
                && (placed.write.api != WriteApi::Sql || operation_word(&placed.write.operation) == "create");
            brings && target_name(&placed.write.target).is_some_and(|target| same_name(&target, name))
        })
    };
    let targets = writes.iter().filter_map(|placed| target_name(&placed.write.target));
    read_names(setup.job).into_iter().chain(targets).find(|name| !known(name) && !creates(name))
}

fn supported(run: &JobRun) -> Result<(), ExecutionError> {
    run.unsupported().map_or(Ok(()), |error| Err(error.clone()))
}

fn seen(warehouse: &Warehouse, target: &str) -> Seen {
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
            Some(given) => given.of(&table).unwrap_or_default(),
            None if written => data::target_rows(&table, &named),
            None if table.file_a_row => data::stream_rows(&table, &named),
            None => data::input_rows(&table, &named, scenario, setup.beyond),
        };
        table.create(&mut warehouse, rows);
    }
    warehouse
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
        match step {
            Step::Parallel { branches, .. } => branches.iter().for_each(|branch| all_steps(branch, out)),
            Step::Stream(stream) => {
                if let StreamSink::ForeachBatch { steps, .. } = &stream.sink {
                    all_steps(steps, out);
                }
            }
            _ => {}
        }
    }
}

fn write_target(step: &Step) -> Option<&WriteTarget> {
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

fn plans(job: &Job) -> Vec<&Plan> {
    let mut steps = Vec::new();
    all_steps(&job.steps, &mut steps);
    steps
        .into_iter()
        .flat_map(|step| match step {
            Step::Write(write) => {
                let source = match &write.operation {
                    WriteOperation::Merge(merge) => Some(&merge.source),
                    _ => None,
                };
                write.query.iter().chain(source).collect::<Vec<_>>()
            }
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

/// Names of what a job reads.
fn read_names(job: &Job) -> Vec<String> {
    let name = |read: &crate::model::Read| match &read.source {
        Source::Table(name) => Some(name.to_string()),
        Source::Files { path, .. } => Some(path.clone()),
        _ => None,
    };
    plans(job).into_iter().flat_map(Plan::reads).filter_map(name).collect()
}

/// The table itself is not there any more.
fn is_gone(seen: &Seen) -> bool {
    seen.as_ref().err().is_some_and(|error| error.class == "TABLE_OR_VIEW_NOT_FOUND")
}

fn reads_targets(job: &Job, targets: &[String]) -> bool {
    read_names(job).iter().any(|read| targets.iter().any(|target| same_name(read, target)))
}

/// Whether the script gives a column another value than its input has.
fn replaces_column(job: &Job, columns: &[Key]) -> bool {
    let is_key =
        |name: &str| columns.iter().any(|key| matches!(key, Key::Column(own) if own.eq_ignore_ascii_case(name)));
    let mut found = false;
    for plan in plans(job).into_iter().filter(|plan| !plan.reads().is_empty()) {
        plan.walk(&mut |node| {
            if let Node::WithColumns { columns, .. } = &node.node {
                found |= columns.iter().any(|column| matches!(column, Expr::Alias { name, .. } if is_key(name)));
            }
        });
    }
    let mut steps = Vec::new();
    all_steps(&job.steps, &mut steps);
    let fixed = steps.into_iter().filter_map(|step| match step {
        Step::Write(write) => Some(&write.partition),
        _ => None,
    });
    found
        || fixed.flatten().any(|item| {
            let text = match &item.value {
                Some(Expr::Literal { value: crate::model::Value::String(text), .. }) => text.as_ref(),
                _ => return false,
            };
            // A day in another spelling than the input's.
            is_key(&item.column) && text.len() == 8 && text.chars().all(|c| c.is_ascii_digit())
        })
}

/// Rows of what the job reads and does not write, by table.
fn input_rows(setup: &Experiment<'_>, warehouse: &Warehouse) -> BTreeMap<String, Vec<TextRow>> {
    let reads = read_names(setup.job);
    let mut inputs = BTreeMap::new();
    for table in setup.tables.iter().filter(|table| reads.iter().any(|read| same_name(read, &table.name))) {
        if let Ok(snapshot) = seen(warehouse, &table.name) {
            inputs.insert(table.name.clone(), snapshot.rows);
        }
    }
    inputs
}

/// Position of the column that identifies a row: `id`, a name that ends in it, else the first.
pub(super) fn key_column(fields: &[Field]) -> Option<usize> {
    named_key(fields).or((!fields.is_empty()).then_some(0))
}

/// Position of the column whose name says that it identifies a row.
fn named_key(fields: &[Field]) -> Option<usize> {
    let named = |wanted: &dyn Fn(&str) -> bool| fields.iter().position(|field| wanted(&field.name.to_lowercase()));
    named(&|name| name == "id").or_else(|| named(&|name| name.ends_with("_id") || name == "key"))
}

/// Rows beyond the first of a key that a single query gave: the script's own doing, or none of its harm.
fn repeated_in_queries(run: &JobRun, target: &str, comparison: &Comparison) -> usize {
    let own = run.written.iter().filter(|written| same_name(&written.target, target));
    own.map(|written| comparison.duplicates(&Snapshot::of_rows(&written.rows, None).rows)).sum()
}

fn comparison(
    setup: &Experiment<'_>,
    target: &str,
    targets: &[String],
    inputs: &BTreeMap<String, Vec<TextRow>>,
) -> Comparison {
    let table = setup.tables.iter().find(|table| same_name(&table.name, target)).or_else(|| setup.tables.first());
    let fields = table.map(|table| table.schema.fields.as_slice()).unwrap_or_default();
    let partition_by = table.map(|table| table.partition_by.clone()).unwrap_or_default();
    let id = key_column(fields).and_then(|at| fields.get(at)).map(|field| field.name.clone()).unwrap_or_default();
    let unique = named_key(fields).is_some();
    let keys = keys(fields, &partition_by);
    // Rows that the script moves to other partitions cannot be found where the input has them.
    let moved = replaces_column(setup.job, &keys);
    let input = inputs
        .iter()
        .filter(|_| !moved)
        .filter(|(name, _)| !targets.iter().any(|target| same_name(target, name)))
        .flat_map(|(_, rows)| rows.iter().cloned())
        .collect();
    Comparison {
        id,
        unique,
        keys,
        input,
        window: setup.window.to_vec(),
        input_expected: input_expected(setup.job),
        repeated: 0,
    }
}

/// The partition columns; of a table without, or with transforms only, the day of its first date or time.
fn keys(fields: &[Field], partition_by: &[String]) -> Vec<Key> {
    let transforms: Vec<Transform> = partition_by.iter().map(|text| Transform::parse(text)).collect();
    if !transforms.is_empty() && transforms.iter().all(Transform::is_identity) {
        return transforms.into_iter().map(|transform| Key::Column(transform.column)).collect();
    }
    let date = fields.iter().find(|field| field.data_type == DataType::Date);
    let time = fields.iter().find(|field| matches!(field.data_type, DataType::Timestamp | DataType::TimestampNtz));
    match (date, time) {
        (Some(date), _) => vec![Key::Column(date.name.clone())],
        (None, Some(time)) => vec![Key::Day(time.name.clone())],
        (None, None) => Vec::new(),
    }
}

/// Whether the script means to write every input row: not where it updates some columns, deletes, or leaves out keys that are
/// there.
fn input_expected(job: &Job) -> bool {
    let mut steps = Vec::new();
    all_steps(&job.steps, &mut steps);
    steps.into_iter().all(|step| match step {
        Step::Write(write) => {
            let appends_new =
                write.operation == WriteOperation::Append && write.query.as_ref().is_some_and(leaves_out_known);
            data::writes_all(&write.operation) && !appends_new
        }
        _ => true,
    })
}

/// An anti-join, or NOT EXISTS.
fn leaves_out_known(plan: &Plan) -> bool {
    let mut found = false;
    plan.walk(&mut |node| {
        found |= matches!(node.node, Node::Join { kind: JoinKind::LeftAnti, .. });
        for expr in node.expressions() {
            expr.walk(&mut |inner| {
                found |= matches!(inner, Expr::Subquery { kind: SubqueryKind::Exists { .. }, .. });
            });
        }
    });
    found
}
