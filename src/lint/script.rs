//! A script's writes in order, and what each statement says of itself.

use super::experiment::{Observed, same_name, target_name};
use crate::model::{
    BatchWrite, Expr, Job, Merge, MergeAction, MergeMatch, Node, Place, Plan, Repetition, Step, StreamSink, Value,
    WriteApi, WriteOperation, WriteTarget,
};

/// A write with where in the script it stands.
#[derive(Debug, Clone, Copy)]
pub struct Placed<'a> {
    pub write: &'a BatchWrite,
    pub parallel: bool,
    pub in_batch_function: bool,
    /// The sink of a streaming query, whose checkpoint knows what has been written.
    pub streamed: bool,
    /// How often the same statement writes the same target in one run of the script.
    pub times: usize,
}

impl Placed<'_> {
    /// Several passes of a loop write the same target.
    pub fn in_loop(&self) -> bool {
        let one_target = match &self.write.target {
            WriteTarget::Table(name) => !name.is_template(),
            WriteTarget::Path(path) => !path.contains('{'),
            WriteTarget::Unknown(_) => false,
        };
        match self.write.repetition {
            Repetition::Once => false,
            Repetition::EachPass => self.times > 1,
            Repetition::AnyPass => one_target,
        }
    }

    /// It puts rows in the place of all that are there, as long as the overwrite mode is static.
    pub fn replaces_all(&self) -> bool {
        let whole = matches!(
            self.write.operation,
            WriteOperation::Overwrite | WriteOperation::Create { replace: true, .. } | WriteOperation::Replace
        );
        whole && self.write.partition.is_empty() && self.write.replace_where.is_none()
    }

    /// It says itself that every row goes.
    pub fn empties(&self) -> bool {
        match &self.write.operation {
            WriteOperation::DropTable { .. } | WriteOperation::Delete { condition: None } => true,
            WriteOperation::Truncate { partition } => partition.is_empty(),
            _ => false,
        }
    }

    /// It takes rows away that the table had.
    pub fn removes(&self) -> bool {
        self.replaces_all()
            || self.empties()
            || matches!(
                operation_word(&self.write.operation),
                "delete" | "overwrite" | "overwrite-partitions" | "overwrite-where"
            )
    }

    /// It puts rows beside those that are there.
    pub fn adds(&self) -> bool {
        self.streamed || matches!(operation_word(&self.write.operation), "append" | "merge")
    }
}

/// Every write of a job, in order.
pub fn writes(job: &Job) -> Vec<Placed<'_>> {
    let mut found = Vec::new();
    collect(&job.steps, false, false, &mut found);
    let same = |a: &BatchWrite, b: &BatchWrite| same_statement(&a.place, &b.place) && a.target == b.target;
    let all = found.clone();
    for placed in &mut found {
        placed.times = all.iter().filter(|other| same(other.write, placed.write)).count().max(1);
    }
    found
}

/// The same statement of the script; a place that is not known is that of no other.
pub fn same_statement(a: &Place, b: &Place) -> bool {
    a.span().is_some() && a.span() == b.span()
}

fn collect<'a>(steps: &'a [Step], parallel: bool, in_batch_function: bool, out: &mut Vec<Placed<'a>>) {
    for step in steps {
        match step {
            Step::Write(write) => out.push(Placed { write, parallel, in_batch_function, streamed: false, times: 1 }),
            Step::Parallel { branches, .. } => {
                let several = branches.len() > 1;
                branches.iter().for_each(|branch| collect(branch, parallel || several, in_batch_function, out));
            }
            Step::Stream(stream) => match &stream.sink {
                StreamSink::ForeachBatch { steps, .. } => collect(steps, parallel, true, out),
                StreamSink::Append(write) => {
                    out.push(Placed { write, parallel, in_batch_function, streamed: true, times: 1 });
                }
            },
            Step::Branches { ways, .. } => {
                ways.iter().for_each(|way| collect(&way.steps, parallel, in_batch_function, out));
            }
            Step::Call { steps } => collect(steps, parallel, in_batch_function, out),
            _ => {}
        }
    }
}

/// The writes into one target.
pub fn writes_into<'a>(job: &'a Job, target: &str) -> Vec<Placed<'a>> {
    let into = |placed: &Placed<'_>| target_name(&placed.write.target).is_some_and(|name| same_name(&name, target));
    writes(job).into_iter().filter(into).collect()
}

/// A script that only defines or, where it `passes`, drops tables writes no rows.
pub fn only_defines(writes: &[Placed<'_>], passes: bool) -> bool {
    let defines = |write: &BatchWrite| match write.operation {
        WriteOperation::Create { .. } => write.query.is_none(),
        WriteOperation::DropTable { .. } => passes,
        _ => false,
    };
    !writes.is_empty() && writes.iter().all(|placed| defines(placed.write))
}

/// A table that the script makes and drops or renames again, in this order: nobody else sees it.
pub fn is_temporary(writes: &[Placed<'_>]) -> bool {
    let renames = |text: &str| {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        words.windows(2).any(|pair| pair == ["rename", "to"])
    };
    let gone = |placed: &Placed<'_>| match &placed.write.operation {
        WriteOperation::DropTable { .. } => true,
        WriteOperation::Ddl(text) => renames(text),
        _ => false,
    };
    let made = writes.iter().position(|placed| placed.write.query.is_some());
    let fresh = made.and_then(|at| writes.get(at)).is_some_and(|first| {
        matches!(first.write.operation, WriteOperation::Create { .. } | WriteOperation::ErrorIfExists)
            || first.replaces_all()
            || made.is_some_and(|at| writes.iter().take(at).any(gone))
    });
    fresh && writes.last().is_some_and(gone)
}

/// Rows about the run itself, one a run: a count, a time, a watermark. They are meant to add up.
pub fn tells_of_the_run(write: &BatchWrite) -> bool {
    let mut plan = write.query.as_ref();
    let mut computed = false;
    while let Some(node) = plan {
        plan = match &node.node {
            Node::Project { list, input } => {
                computed |= list.iter().any(is_computed);
                Some(input)
            }
            Node::WithColumns { columns, input } => {
                computed |= columns.iter().any(is_computed);
                Some(input)
            }
            Node::SubqueryAlias { input, .. } | Node::Limit { input, .. } => Some(input),
            Node::Values { rows, .. } => return computed || rows.iter().flatten().any(is_computed),
            Node::Aggregate { groupings, .. } => return groupings.is_empty(),
            _ => return false,
        };
    }
    false
}

/// Not written down in the script.
fn is_computed(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |inner| {
        found |= matches!(inner, Expr::Call(_) | Expr::Subquery { .. } | Expr::Opaque(_))
            || matches!(inner, Expr::Literal { value: Value::String(text), .. } if text.contains('{'));
    });
    found
}

/// Whether each run makes all rows of a table anew: what puts rows there replaces the whole, or comes after they were all removed.
pub fn rebuilds(job: &Job, target: &str) -> bool {
    let writes = writes_into(job, target);
    let mut empty = false;
    let mut brings = false;
    for placed in &writes {
        empty |= placed.empties();
        let own = match placed.write.operation {
            WriteOperation::Append | WriteOperation::Create { replace: false, .. } => empty,
            WriteOperation::Ddl(_) => true,
            _ => placed.replaces_all() || placed.empties(),
        };
        let defines = placed.write.query.is_none() && operation_word(&placed.write.operation) == "create";
        if placed.streamed || placed.in_batch_function || !(own || defines) {
            return false;
        }
        brings |= placed.write.query.is_some();
    }
    brings
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

pub fn writer_word(api: WriteApi) -> &'static str {
    match api {
        WriteApi::Save => "save",
        WriteApi::SaveAsTable => "saveAsTable",
        WriteApi::InsertInto => "insertInto",
        WriteApi::WriteTo => "writeTo",
        WriteApi::Sql => "sql",
    }
}

/// Delta leaves out an append of a version that it has seen of the same application.
pub fn known_by_number(write: &BatchWrite) -> bool {
    ["txnappid", "txnversion"].iter().all(|option| write.options.contains_key(*option))
}

/// The write replaces what a predicate says.
pub fn replaces_by_predicate(write: &BatchWrite) -> bool {
    write.replace_where.is_some() || matches!(write.operation, WriteOperation::OverwriteWhere(_))
}

/// Matched updates have a condition of their own.
pub fn guarded(merge: &Merge) -> bool {
    let update = |action: &MergeAction| matches!(action, MergeAction::UpdateAll | MergeAction::Update(_));
    merge.clauses.iter().filter(|c| c.when == MergeMatch::Matched && update(&c.action)).all(|c| c.condition.is_some())
}

/// One row a key by construction: deduplicated, grouped, the first by a window, or written down.
pub fn deduplicated(source: &Plan) -> bool {
    let mut found = source.reads().is_empty();
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

/// The query says itself that it gives no row: it makes a table of its columns.
pub fn gives_no_rows(write: &BatchWrite) -> bool {
    let mut plan = write.query.as_ref();
    while let Some(inner) = plan {
        plan = match &inner.node {
            Node::Limit { count: Expr::Literal { value: Value::Int(0) | Value::Long(0), .. }, .. } => return true,
            Node::Project { input, .. } | Node::SubqueryAlias { input, .. } | Node::WithColumns { input, .. } => {
                Some(input)
            }
            _ => None,
        };
    }
    false
}

/// The name of a write's target as text.
pub fn target_text(target: &WriteTarget) -> String {
    target_name(target).unwrap_or_else(|| match target {
        WriteTarget::Unknown(text) => text.clone(),
        WriteTarget::Table(name) => name.to_string(),
        WriteTarget::Path(path) => path.clone(),
    })
}
