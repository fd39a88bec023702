//! What rules are told of a script's writes into one target: a change a statement, with what two runs showed of the target at the
//! statement that brought it about.

use super::drift;
use super::experiment::{Observed, names_read, same_name, target_name};
use super::label::Label;
use super::script::{
    Placed, deduplicated, gives_no_rows, guarded, known_by_number, operation_word, rebuilds, replaces_by_predicate,
    same_statement, tells_of_the_run, writer_word, writes, writes_into,
};
use super::settings::overwrite_mode;
use super::tables::TableFacts;
use crate::diff::Change;
use crate::model::{Job, Place, Plan, QualifiedName, WriteOperation};
use std::collections::BTreeSet;

/// What the repository and further runs say of the writes into one target, beside what the script and its two runs do.
#[derive(Debug, Clone, Default)]
pub struct Beside {
    /// Where other files set the overwrite mode to dynamic: `jobs/setup.py:3`.
    pub dynamic_elsewhere: Option<String>,
    /// Rows outside of the predicate by which the script replaces rows were written too, or ended it.
    pub uncovered: bool,
    /// Some statement of the script fails.
    pub fails: bool,
    /// What only repeats what was seen of another table, which the script reads for this one.
    pub inherited: BTreeSet<Label>,
}

/// Changes that stand for the writes into one target, for rules to answer to: one a statement, in order.
pub fn changes(
    job: &Job,
    target: &str,
    observed: Option<&Observed>,
    table: Option<&TableFacts>,
    beside: &Beside,
) -> Vec<Change> {
    let all = writes_into(job, target);
    let mut labels: Vec<Vec<Label>> = vec![Vec::new(); all.len()];
    for label in observed.iter().flat_map(|seen| &seen.labels).filter(|label| !beside.inherited.contains(label)) {
        let bearer = observed.and_then(|seen| bearer(*label, job, &all, seen));
        if let Some(own) = bearer.and_then(|at| labels.get_mut(at)) {
            own.push(*label);
        }
    }
    let view = Target { job, name: target, all: &all, observed, table, beside };
    let mut found = Vec::new();
    let mut seen: Vec<&Place> = Vec::new();
    for (at, placed) in all.iter().enumerate() {
        // A pass of a loop is no statement of its own, unless it is the one that something happened in.
        let own = labels.get(at).map(Vec::as_slice).unwrap_or_default();
        let known = seen.iter().any(|place| same_statement(place, &placed.write.place));
        if known && own.is_empty() {
            continue;
        }
        seen.push(&placed.write.place);
        found.push(view.change(at, placed, own));
    }
    found
}

struct Target<'a> {
    job: &'a Job,
    name: &'a str,
    all: &'a [Placed<'a>],
    observed: Option<&'a Observed>,
    table: Option<&'a TableFacts>,
    beside: &'a Beside,
}

impl Target<'_> {
    /// The change of one statement; `at` is its first step.
    fn change(&self, at: usize, placed: &Placed<'_>, labels: &[Label]) -> Change {
        let write = placed.write;
        let merge = match &write.operation {
            WriteOperation::Merge(merge) => Some(merge.as_ref()),
            _ => None,
        };
        let function = drift::function_of(write);
        let failed = labels.contains(&Label::Error) || labels.contains(&Label::ErrorAtRun2);
        let error = self.observed.and_then(|seen| seen.error.as_ref()).filter(|_| failed);
        let mode = overwrite_mode(self.job, &write.place);
        let partition_columns = self.table.map(|table| table.partition_by.clone()).unwrap_or_default();
        let elsewhere = mode.elsewhere.or(self.beside.dynamic_elsewhere.clone()).unwrap_or_default();
        let last = last_data(self.all).and_then(|last| self.all.get(last));
        let last =
            last.is_some_and(|last| std::ptr::eq(last.write, write) || same_statement(&last.write.place, &write.place));
        let parallel = self.all.iter().filter(|placed| placed.parallel).count() > 1;
        let labels: Vec<String> = labels.iter().map(|label| label.as_str().to_owned()).collect();
        let mut change = Change::new("batch-write", &self.job.path)
            .fact("dataset", self.name)
            .fact("labels", labels)
            .fact("observed", self.observed.is_some())
            .fact("operation", if gives_no_rows(write) { "create" } else { operation_word(&write.operation) })
            .fact("writer", writer_word(write.api))
            .fact("partitioned", !partition_columns.is_empty())
            .fact("partition_columns", partition_columns)
            .fact("logs", operation_word(&write.operation) == "append" && tells_of_the_run(write) && self.is_aside())
            .fact("repeated", placed.in_loop() && !placed.streamed)
            .fact("parallel", parallel && last)
            .fact("empties", placed.empties() && !self.beside.fails)
            .fact("guarded", merge.is_none_or(|merge| guarded(merge) || self.is_inline(&merge.source)))
            .fact(
                "deduplicated",
                merge.is_none_or(|merge| deduplicated(&merge.source) || self.is_inline(&merge.source)),
            )
            .fact("deleted_first", self.deleted_first(at, placed))
            .fact("in_batch_function", placed.in_batch_function)
            .fact("session_mode", if mode.dynamic { "dynamic" } else { "" })
            .fact("mode_elsewhere", elsewhere)
            .fact("covered", !(self.beside.uncovered && replaces_by_predicate(write)))
            .fact("once_by_batch", known_by_number(write))
            .fact("nondeterministic", function.is_some())
            .fact("function", function.unwrap_or_default())
            .fact("error_class", error.map(|(error, _)| error.class.clone()).unwrap_or_default())
            .fact("error", error.map(|(error, _)| error.message.clone()).unwrap_or_default())
            .places(&Place::unknown(), &write.place);
        change.dataset = Some(QualifiedName::bare(self.name));
        change
    }

    /// The script writes another table too.
    fn is_aside(&self) -> bool {
        writes(self.job)
            .iter()
            .any(|placed| target_name(&placed.write.target).is_some_and(|name| !same_name(&name, self.name)))
    }

    /// All rows are written down in the script: inline, or in tables that it fills with inline rows anew in each run.
    fn is_inline(&self, plan: &Plan) -> bool {
        names_read(plan).iter().all(|name| {
            let inline = |placed: &Placed<'_>| placed.write.queries().all(|query| query.reads().is_empty());
            rebuilds(self.job, name) && writes_into(self.job, name).iter().all(inline)
        })
    }

    /// The first statement that brings rows, after one that deletes some, or drops a table that was seen to have some.
    fn deleted_first(&self, at: usize, placed: &Placed<'_>) -> bool {
        let before = self.all.get(..at).unwrap_or_default();
        let had_rows = self.observed.is_some_and(|seen| seen.labels.contains(&Label::Lost));
        let deletes =
            |placed: &Placed<'_>| operation_word(&placed.write.operation) == "delete" || placed.empties() && had_rows;
        placed.write.query.is_some()
            && before.iter().any(deletes)
            && before.iter().all(|earlier| earlier.write.query.is_none())
    }
}

fn is_data(placed: &Placed<'_>) -> bool {
    !matches!(placed.write.operation, WriteOperation::Ddl(_))
}

fn last_data(all: &[Placed<'_>]) -> Option<usize> {
    all.iter().rposition(is_data).or(all.len().checked_sub(1))
}

/// The statement that what was seen of a table is due to; none where it is due to a statement that writes another table.
fn bearer(label: Label, job: &Job, all: &[Placed<'_>], seen: &Observed) -> Option<usize> {
    let first = |is: &dyn Fn(&Placed<'_>) -> bool| all.iter().position(is);
    let last = |is: &dyn Fn(&Placed<'_>) -> bool| all.iter().rposition(is);
    let own = match label {
        Label::Error | Label::ErrorAtRun2 => {
            let (_, place) = seen.error.as_ref()?;
            let fails = |placed: &Placed<'_>| same_statement(&placed.write.place, place);
            match first(&fails) {
                None if writes(job).iter().any(fails) => return None,
                own => own,
            }
        }
        Label::Lost | Label::LostAtRun2 | Label::Emptied | Label::RowsGoneDespiteError => {
            first(&|placed| placed.empties() || placed.replaces_all()).or_else(|| first(&|placed| placed.removes()))
        }
        Label::Doubled | Label::DuplicatedAtRun1 => last(&|placed| placed.adds()),
        Label::ValuesChangedAtRun2 => first(&|placed| drift::function_of(placed.write).is_some()),
        Label::InputMissing | Label::NothingWritten | Label::WrittenButInvisible => {
            last(&|placed| placed.write.query.is_some())
        }
        _ => None,
    };
    own.or_else(|| last_data(all))
}
