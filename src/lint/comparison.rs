//! How a table's rows are told apart, and which rows a script should have brought there.

use super::data;
use super::experiment::{Experiment, all_steps, plans, read_names, same_name, seen};
use super::script::{Placed, operation_word, same_statement, writes_into};
use super::snapshot::{Comparison, Key, Snapshot, TextRow};
use crate::engine::batch::{JobRun, Transform, Warehouse, Written};
use crate::model::{BatchWrite, DataType, Expr, Field, Job, JoinKind, Node, Plan, Step, SubqueryKind, WriteOperation};
use std::collections::BTreeMap;

/// The rows that must arrive in a table, where the queries say so better than their input: they compute values, which are not found
/// again in any case, or a later statement replaces what an earlier one has written.
pub fn expected(job: &Job, run: &JobRun, target: &str, keys: &[Key]) -> Option<Vec<TextRow>> {
    let own: Vec<&Written> = run.written.iter().filter(|written| same_name(&written.target, target)).collect();
    let writes = writes_into(job, target);
    let kept = own.get(replaced_before(&writes, &own)..).unwrap_or_default();
    let selects = kept.iter().any(|written| !written.rows.rows.is_empty());
    (kept.len() < own.len() || computes(job, target, selects)).then(|| queried(kept, keys)).flatten()
}

/// How many of the writes, in order, a later statement replaces as a whole. The passes of one loop are one statement: that they
/// replace each other is no one's intention, nor that writers at once do, nor writers of one partition after the other.
fn replaced_before(writes: &[Placed<'_>], own: &[&Written]) -> usize {
    if writes.iter().any(|placed| placed.parallel || !placed.write.partition_by.is_empty()) {
        return 0;
    }
    let replaces = |written: &Written| {
        writes.iter().any(|placed| placed.replaces_all() && same_statement(&placed.write.place, &written.place))
    };
    let last = own.iter().rev().find(|written| replaces(written));
    last.and_then(|last| own.iter().position(|written| same_statement(&written.place, &last.place))).unwrap_or(0)
}

/// Whether some query of the writes into a table makes rows of its own, or gives a column a value that its input does not have.
fn computes(job: &Job, target: &str, selects: bool) -> bool {
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
                // One that selects nothing may have missed what it should find.
                Node::Filter { condition, .. } => selects && is_predicate(condition),
                Node::Aggregate { .. } | Node::Generate { .. } | Node::Pivot { .. } | Node::Unpivot { .. } => true,
                _ => false,
            };
        });
    }
    found
}

/// It leaves rows out by their values.
fn is_predicate(condition: &Expr) -> bool {
    let mut found = false;
    condition.walk(&mut |expr| {
        found |= matches!(expr, Expr::Call(call) if matches!(call.function.as_ref(), "=" | "<" | "<=" | ">" | ">=" | "in" | "between"));
    });
    found
}

/// What queries gave to a table; none where they do not name its partition columns.
fn queried(own: &[&Written], keys: &[Key]) -> Option<Vec<TextRow>> {
    let names = |written: &Written, key: &Key| {
        let (Key::Column(name) | Key::Day(name)) = key;
        written.rows.schema.field(name).is_some()
    };
    let named = own.iter().all(|written| keys.iter().all(|key| names(written, key)));
    (named && !own.is_empty())
        .then(|| own.iter().flat_map(|written| Snapshot::of_rows(&written.rows, None).rows).collect())
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
pub fn input_rows(setup: &Experiment<'_>, warehouse: &Warehouse) -> BTreeMap<String, Vec<TextRow>> {
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
pub fn key_column(fields: &[Field]) -> Option<usize> {
    named_key(fields).or((!fields.is_empty()).then_some(0))
}

/// Position of the column whose name says that it identifies a row.
fn named_key(fields: &[Field]) -> Option<usize> {
    let named = |wanted: &dyn Fn(&str) -> bool| fields.iter().position(|field| wanted(&field.name.to_lowercase()));
    named(&|name| name == "id").or_else(|| named(&|name| name.ends_with("_id") || name == "key"))
}

/// Rows beyond the first of a key that the queries of one run gave together: the script's own doing, or none of its harm.
pub fn repeated_in_queries(run: &JobRun, target: &str, comparison: &Comparison) -> usize {
    let own = run.written.iter().filter(|written| same_name(&written.target, target));
    let rows: Vec<TextRow> = own.flat_map(|written| Snapshot::of_rows(&written.rows, None).rows).collect();
    comparison.duplicates(&rows)
}

/// `made` are the columns of a table that the script brings about.
pub fn comparison(
    setup: &Experiment<'_>,
    target: &str,
    targets: &[String],
    inputs: &BTreeMap<String, Vec<TextRow>>,
    made: &[Field],
) -> Comparison {
    let table = setup.tables.iter().find(|table| same_name(&table.name, target));
    let fields = table.map_or(made, |table| table.schema.fields.as_slice());
    let partition_by = table.map(|table| table.partition_by.clone()).unwrap_or_default();
    let id = key_column(fields).and_then(|at| fields.get(at)).map(|field| field.name.clone()).unwrap_or_default();
    let unique = named_key(fields).is_some();
    // The times in a table that the script brings about may be those of its runs.
    let keys = if table.is_some() { keys(fields, &partition_by) } else { Vec::new() };
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
