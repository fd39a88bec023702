//! Failures that say nothing of a script: what is unknown is no refusal.
//!
//! Takes an experiment and a failure of one of its runs; gives why the failure is no verdict, or nothing where it is one.

use super::data::Named;
use super::experiment::{Experiment, all_steps, names_read, same_name, target_name, write_target};
use super::script::{operation_word, same_statement};
use super::tables::KnownFrom;
use crate::engine::ExecutionError;
use crate::model::{BatchWrite, PATH_TABLE, Place, Plan, QualifiedName, Step, WriteApi};

/// Neither table nor folder is there.
pub fn is_missing(error: &ExecutionError) -> bool {
    matches!(error.class.as_str(), "TABLE_OR_VIEW_NOT_FOUND" | "PATH_NOT_FOUND")
}

/// Why a failure is no verdict on the script.
pub fn excuse(setup: &Experiment<'_>, error: &ExecutionError, place: &Place) -> Option<String> {
    if is_missing(error) && !is_path_table(setup, place) {
        return needed_before(setup).map(|name| format!("nothing is known of `{name}`"));
    }
    if setup.given.is_none() && tells_of_generated_rows(error, setup) {
        let (class, message) = (&error.class, &error.message);
        return Some(format!("the rows that were generated make it fail, and others may not: [{class}] {message}"));
    }
    let namesake = tells_of_columns(error).then(|| namesake(setup, place)).flatten();
    namesake.map(|(name, path)| {
        format!("`{name}` is known from {path} alone, which may mean another table of that name: {}", error.message)
    })
}

/// Other rows might not meet it: no exception that the script raises itself, and no value that it writes down itself.
fn tells_of_generated_rows(error: &ExecutionError, setup: &Experiment<'_>) -> bool {
    let raised = matches!(error.class.as_str(), "USER_RAISED_EXCEPTION" | "PythonException" | "RuntimeException");
    let own = Named::of(setup.job).constants().any(|text| error.message.contains(&format!("the value {text} ")));
    error.tells_of_values() && !raised && !own
}

/// The failing statement names a folder as a table, which Spark refuses whatever is there.
fn is_path_table(setup: &Experiment<'_>, place: &Place) -> bool {
    let mut steps = Vec::new();
    all_steps(&setup.job.steps, &mut steps);
    steps.into_iter().any(|step| match step {
        Step::Write(write) => same_statement(&write.place, place) && write.options.contains_key(PATH_TABLE),
        _ => false,
    })
}

/// The query and the table do not fit.
fn tells_of_columns(error: &ExecutionError) -> bool {
    const CLASSES: [&str; 4] =
        ["UNRESOLVED_COLUMN", "INSERT_COLUMN_ARITY_MISMATCH", "INCOMPATIBLE_DATA_FOR_TABLE", "DATATYPE_MISMATCH"];
    CLASSES.iter().any(|class| error.class.starts_with(class))
}

/// A table of the failing statement that only another script defines, under a name without a schema: which schema that script's
/// session is in, nothing says.
fn namesake<'a>(setup: &'a Experiment<'_>, place: &Place) -> Option<(&'a str, &'a str)> {
    let mut steps = Vec::new();
    all_steps(&setup.job.steps, &mut steps);
    let fails = |step: &&&Step| match step {
        Step::Write(write) => same_statement(&write.place, place),
        Step::Stream(stream) => same_statement(&stream.place, place),
        _ => false,
    };
    let failing = steps.iter().find(fails)?;
    let mut names: Vec<String> = queries(failing).into_iter().flat_map(names_read).collect();
    names.extend(write_target(failing).and_then(target_name));
    setup.tables.iter().find_map(|table| match &table.known_from {
        KnownFrom::Definition { path, .. } => {
            let bare = QualifiedName::parse(&table.name).schema.is_none();
            (bare && names.iter().any(|name| same_name(name, &table.name))).then_some((&*table.name, &**path))
        }
        KnownFrom::Configuration | KnownFrom::OwnWrites => None,
    })
}

/// The first table or path that some statement needs, of which nothing is known and that no statement before it makes.
fn needed_before(setup: &Experiment<'_>) -> Option<String> {
    let mut steps = Vec::new();
    all_steps(&setup.job.steps, &mut steps);
    let known = |name: &str| setup.tables.iter().any(|table| same_name(&table.name, name));
    let mut made: Vec<String> = Vec::new();
    for step in steps {
        let target = write_target(step).and_then(target_name);
        let makes = match step {
            Step::Write(write) => makes_its_target(write),
            _ => true,
        };
        let needed = queries(step).into_iter().flat_map(names_read).chain(target.clone().filter(|_| !makes));
        for name in needed {
            if !known(&name) && !made.iter().any(|own| same_name(own, &name)) {
                return Some(name);
            }
        }
        made.extend(target.filter(|_| makes));
    }
    None
}

/// The table need not be there before.
fn makes_its_target(write: &BatchWrite) -> bool {
    let word = operation_word(&write.operation);
    !matches!(word, "merge" | "delete" | "update" | "ddl")
        && write.api != WriteApi::InsertInto
        && (write.api != WriteApi::Sql || word == "create")
}

/// What a step reads by.
fn queries(step: &Step) -> Vec<&Plan> {
    match step {
        Step::Write(write) => write.queries().collect(),
        Step::Stream(stream) => vec![&stream.query],
        _ => Vec::new(),
    }
}
