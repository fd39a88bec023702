//! What rules are told of a script's writes: what was observed, and what the statements themselves say.

use super::experiment::{Observed, all_steps, same_name, target_name};
use super::tables::TableFacts;
use crate::diff::Change;
use crate::model::{
    BatchWrite, Expr, Job, MergeAction, MergeMatch, Node, Place, Plan, Step, StreamSink, WriteApi, WriteOperation,
    WriteTarget,
};

/// A write with where in the script it stands.
#[derive(Debug, Clone, Copy)]
pub struct Placed<'a> {
    pub write: &'a BatchWrite,
    pub parallel: bool,
    pub in_batch_function: bool,
    /// How often the same statement runs in one run of the script.
    pub times: usize,
}

/// Every write of a job, in order.
pub fn writes(job: &Job) -> Vec<Placed<'_>> {
    let mut found = Vec::new();
    collect(&job.steps, false, false, &mut found);
    let same = |a: &BatchWrite, b: &BatchWrite| a.place.span().is_some() && a.place.span() == b.place.span();
    let all = found.clone();
    for placed in &mut found {
        placed.times = all.iter().filter(|other| same(other.write, placed.write)).count().max(1);
    }
    found
}

fn collect<'a>(steps: &'a [Step], parallel: bool, in_batch_function: bool, out: &mut Vec<Placed<'a>>) {
    for step in steps {
        match step {
            Step::Write(write) => out.push(Placed { write, parallel, in_batch_function, times: 1 }),
            Step::Parallel { branches, .. } => {
                let several = branches.len() > 1;
                branches.iter().for_each(|branch| collect(branch, parallel || several, in_batch_function, out));
            }
            Step::Stream(stream) => match &stream.sink {
                StreamSink::ForeachBatch { steps, .. } => collect(steps, parallel, true, out),
                StreamSink::Append(write) => out.push(Placed { write, parallel, in_batch_function, times: 1 }),
            },
            _ => {}
        }
    }
}

/// The writes into one target.
pub fn writes_into<'a>(job: &'a Job, target: &str) -> Vec<Placed<'a>> {
    let into = |placed: &Placed<'_>| target_name(&placed.write.target).is_some_and(|name| same_name(&name, target));
    writes(job).into_iter().filter(into).collect()
}

/// A script that only defines tables writes nothing.
pub fn only_defines(writes: &[Placed<'_>]) -> bool {
    let defines =
        |write: &BatchWrite| matches!(write.operation, WriteOperation::Create { .. }) && write.query.is_none();
    !writes.is_empty() && writes.iter().all(|placed| defines(placed.write))
}

/// Where the write stands that decides: the failing one, else the last that is no DDL.
pub fn deciding_place(writes: &[Placed<'_>], observed: Option<&Observed>) -> Place {
    let failed = observed.and_then(|seen| seen.error.as_ref()).map(|(_, place)| place.clone());
    let data = |placed: &&Placed<'_>| !matches!(placed.write.operation, WriteOperation::Ddl(_));
    let own = writes.iter().rev().find(data).or(writes.last()).map(|placed| placed.write.place.clone());
    match (failed, own) {
        (Some(failed), _) if failed.span().is_some() => failed,
        (_, Some(own)) => own,
        _ => Place::unknown(),
    }
}

pub fn operation_word(operation: &WriteOperation) -> &'static str {
    match operation {
        WriteOperation::Append => "append",
        WriteOperation::Overwrite => "overwrite",
        WriteOperation::OverwritePartitions => "overwrite-partitions",
        WriteOperation::OverwriteWhere(_) | WriteOperation::ReplaceUsing(_) | WriteOperation::ReplaceOn(_) => {
            "overwrite-where"
        }
        WriteOperation::Create { .. }
        | WriteOperation::Replace
        | WriteOperation::ErrorIfExists
        | WriteOperation::Ignore => "create",
        WriteOperation::Merge(_) => "merge",
        WriteOperation::Delete { .. } | WriteOperation::Truncate { .. } | WriteOperation::DropPartition { .. } => {
            "delete"
        }
        WriteOperation::Update { .. } => "update",
        WriteOperation::DropTable { .. } | WriteOperation::Ddl(_) | WriteOperation::Invalid { .. } => "ddl",
    }
}

fn writer_word(api: WriteApi) -> &'static str {
    match api {
        WriteApi::Save => "save",
        WriteApi::SaveAsTable => "saveAsTable",
        WriteApi::InsertInto => "insertInto",
        WriteApi::WriteTo => "writeTo",
        WriteApi::Sql => "sql",
    }
}

/// What the repository and further runs say of the writes into one target, beside what the script and its two runs do.
#[derive(Debug, Clone, Default)]
pub struct Beside {
    /// Where other files set the overwrite mode to dynamic: `jobs/setup.py:3`.
    pub dynamic_elsewhere: Option<String>,
    /// Rows outside of the predicate by which the script replaces rows were written too, or ended it.
    pub uncovered: bool,
}

/// A change that stands for the writes into one target, for rules to answer to.
pub fn change(
    job: &Job,
    target: &str,
    observed: Option<&Observed>,
    table: Option<&TableFacts>,
    beside: &Beside,
) -> Change {
    let all = writes_into(job, target);
    let place = deciding_place(&all, observed);
    let data: Vec<&Placed<'_>> =
        all.iter().filter(|placed| !matches!(placed.write.operation, WriteOperation::Ddl(_))).collect();
    let last = data.last().copied().or(all.last());
    let labels: Vec<String> =
        observed.iter().flat_map(|seen| &seen.labels).map(|label| label.as_str().to_owned()).collect();
    let partition_columns = table.map(|table| table.partition_by.clone()).unwrap_or_default();
    let adds = |placed: &&&Placed<'_>| placed.write.query.is_some();
    let first_add = data.iter().position(|placed| adds(&placed));
    let first_delete = data.iter().position(|placed| operation_word(&placed.write.operation) == "delete");
    let deleted_first = matches!((first_delete, first_add), (Some(delete), Some(add)) if delete < add);
    let function = data.iter().find_map(|placed| nondeterministic(placed.write));
    let merges: Vec<&crate::model::Merge> = data
        .iter()
        .filter_map(|placed| match &placed.write.operation {
            WriteOperation::Merge(merge) => Some(merge.as_ref()),
            _ => None,
        })
        .collect();
    let error = observed.and_then(|seen| seen.error.as_ref());
    let mode = overwrite_mode(job, last.map(|placed| &placed.write.place));
    let parallel = all.iter().filter(|placed| placed.parallel).count() > 1;
    let mut change = Change::new("batch-write", &job.path)
        .fact("dataset", target)
        .fact("labels", labels)
        .fact("observed", observed.is_some())
        .fact("operation", last.map_or("ddl", |placed| operation_word(&placed.write.operation)))
        .fact("writer", last.map_or("sql", |placed| writer_word(placed.write.api)))
        .fact("partitioned", !partition_columns.is_empty())
        .fact("partition_columns", partition_columns)
        .fact("repeated", all.iter().any(|placed| placed.times > 1 || placed.write.repeated))
        .fact("parallel", parallel)
        .fact("guarded", merges.iter().all(|merge| guarded(merge)))
        .fact("deduplicated", merges.iter().all(|merge| deduplicated(&merge.source)))
        .fact("deleted_first", deleted_first)
        .fact("in_batch_function", all.iter().any(|placed| placed.in_batch_function))
        .fact("session_mode", if mode.dynamic { "dynamic" } else { "" })
        .fact("mode_elsewhere", mode.elsewhere.or(beside.dynamic_elsewhere.clone()).unwrap_or_default())
        .fact("covered", !beside.uncovered)
        .fact("once_by_batch", all.iter().all(|placed| known_by_number(placed.write)))
        .fact("nondeterministic", function.is_some())
        .fact("function", function.unwrap_or_default())
        .fact("error_class", error.map(|(error, _)| error.class.clone()).unwrap_or_default())
        .fact("error", error.map(|(error, _)| error.message.clone()).unwrap_or_default())
        .places(&Place::unknown(), &place);
    change.dataset = Some(crate::model::QualifiedName::bare(target));
    change
}

const MODE: &str = "spark.sql.sources.partitionOverwriteMode";

/// The session's overwrite mode at one write.
struct OverwriteMode {
    dynamic: bool,
    /// Where the script makes it dynamic without that holding for the write.
    elsewhere: Option<String>,
}

/// Follows the script's own settings up to a write, and beyond it.
fn overwrite_mode(job: &Job, place: Option<&Place>) -> OverwriteMode {
    let mut steps = Vec::new();
    all_steps(&job.steps, &mut steps);
    let line = |place: &Place| place.span().map(|span| format!("{}:{}", span.path, span.line));
    let is_write = |step: &Step| match (step, place.and_then(Place::span)) {
        (Step::Write(write), Some(span)) => write.place.span() == Some(span),
        _ => false,
    };
    let at = steps.iter().rposition(|step| is_write(step)).unwrap_or(steps.len());
    let mut set: Option<&Place> = None;
    let mut lost = None;
    let mut later = None;
    for (index, step) in steps.iter().enumerate() {
        let Step::Conf { key, value, place } = step else { continue };
        if key != MODE {
            continue;
        }
        let dynamic = value.as_deref().is_some_and(|value| value.eq_ignore_ascii_case("dynamic"));
        match (index < at, dynamic) {
            (true, true) => set = Some(place),
            (true, false) => {
                lost = set.take().and_then(line).map(|then| match line(place) {
                    Some(now) => format!("at {then}, and taken back at {now}"),
                    None => format!("at {then}, and taken back"),
                });
            }
            (false, true) => later = later.or_else(|| line(place).map(|line| format!("at {line}, after it"))),
            (false, false) => {}
        }
    }
    OverwriteMode { dynamic: set.is_some(), elsewhere: lost.or(later).filter(|_| set.is_none()) }
}

/// Where a script sets the overwrite mode to dynamic.
pub fn sets_dynamic(job: &Job) -> Option<String> {
    let mut steps = Vec::new();
    all_steps(&job.steps, &mut steps);
    steps.into_iter().find_map(|step| match step {
        Step::Conf { key, value: Some(value), place } if key == MODE && value.eq_ignore_ascii_case("dynamic") => {
            let line = place.span().map(|span| format!(":{}", span.line)).unwrap_or_default();
            Some(format!("in {}{line}, for that script's own session", job.path))
        }
        _ => None,
    })
}

/// Delta leaves out an append of a version that it has seen of the same application.
fn known_by_number(write: &BatchWrite) -> bool {
    ["txnappid", "txnversion"].iter().all(|option| write.options.contains_key(*option))
}

/// The write replaces what a predicate says.
pub fn replaces_by_predicate(write: &BatchWrite) -> bool {
    write.replace_where.is_some() || matches!(write.operation, WriteOperation::OverwriteWhere(_))
}

/// Matched updates have a condition of their own.
fn guarded(merge: &crate::model::Merge) -> bool {
    let update = |action: &MergeAction| matches!(action, MergeAction::UpdateAll | MergeAction::Update(_));
    merge.clauses.iter().filter(|c| c.when == MergeMatch::Matched && update(&c.action)).all(|c| c.condition.is_some())
}

/// One row a key by construction: deduplicated, grouped, or the first by a window.
fn deduplicated(source: &Plan) -> bool {
    let mut found = false;
    source.walk(&mut |node| {
        found |= matches!(
            node.node,
            Node::Deduplicate { .. } | Node::Distinct { .. } | Node::Aggregate { .. } | Node::Window { .. }
        );
        for expr in node.expressions() {
            expr.walk(&mut |inner| found |= matches!(inner, Expr::Window { .. }));
        }
    });
    found
}

/// A function of the written rows that gives other values each time.
fn nondeterministic(write: &BatchWrite) -> Option<String> {
    nondeterministic_in(write.query.as_ref()?)
}

pub fn nondeterministic_in(plan: &Plan) -> Option<String> {
    const NAMES: [&str; 8] = [
        "rand",
        "randn",
        "uuid",
        "current_timestamp",
        "now",
        "localtimestamp",
        "monotonically_increasing_id",
        "shuffle",
    ];
    let mut found = None;
    plan.walk(&mut |node| {
        // In a filter they only choose rows of the time being.
        if matches!(node.node, Node::Filter { .. }) {
            return;
        }
        for expr in node.expressions() {
            expr.walk(&mut |inner| {
                if let Expr::Call(call) = inner
                    && NAMES.contains(&call.function.as_ref())
                {
                    found = Some(format!("{}()", call.function));
                }
            });
        }
    });
    found
}

/// The name of a write's target as text.
pub fn target_text(target: &WriteTarget) -> String {
    target_name(target).unwrap_or_else(|| match target {
        WriteTarget::Unknown(text) => text.clone(),
        WriteTarget::Table(name) => name.to_string(),
        WriteTarget::Path(path) => path.clone(),
    })
}
