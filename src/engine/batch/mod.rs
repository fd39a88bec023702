//! Scripts on tables: what one run of a job leaves behind, statement by statement.
//!
//! Takes a [`Job`] and a [`Warehouse`]; changes the warehouse as Spark would, or stops with Spark's error class. Imitates what
//! differs between the ways to write: `save`, `saveAsTable`, `insertInto`, `writeTo` and SQL, over files (parquet, orc, …),
//! Iceberg and Delta.

mod alter;
mod folder;
mod lake;
mod lake_write;
mod merge;
mod partition;
mod query;
mod resolve;
mod session_table;
mod stream;
mod warehouse;
mod world_tables;

pub use folder::FolderFile;
pub use lake::{LakeFile, LakeTable, Snapshot};
pub use partition::{Function, Transform};
pub(super) use query::values;
pub use warehouse::{Contents, Definition, TableKind, Warehouse};
pub use world_tables::{GivenBatch, run_steps};

use super::error::ExecutionError;
use super::row::Rows;
use crate::model::{BatchWrite, Job, PATH_TABLE, Place, Step, Way, WriteOperation, WriteTarget};
use query::Run;
use std::collections::BTreeMap;

/// What one run of a job did.
#[derive(Debug, Clone, Default)]
pub struct JobRun {
    /// The failure that ended it, with the statement's place.
    pub error: Option<(ExecutionError, Place)>,
    /// Failures inside threads, which end nobody but the thread.
    pub thread_errors: Vec<(ExecutionError, Place)>,
    /// Functions that were evaluated as uninterpreted ones.
    pub uninterpreted: Vec<String>,
    /// What its statements gave to their targets, in order.
    pub written: Vec<Written>,
}

/// Rows that a statement's query gave, under the query's own column names.
#[derive(Debug, Clone)]
pub struct Written {
    /// Table or path, as the script names it.
    pub target: String,
    pub rows: Rows,
    /// Of the statement.
    pub place: Place,
}

impl JobRun {
    /// True where the engine was at a loss somewhere: nothing is observed.
    pub fn unsupported(&self) -> Option<&ExecutionError> {
        let errors = self.error.iter().chain(&self.thread_errors);
        errors.map(|(error, _)| error).find(|error| error.is_unsupported())
    }
}

const OVERWRITE_MODE: &str = "spark.sql.sources.partitionOverwriteMode";

/// Runs a job once, in a session of its own: configuration and temporary views start fresh.
///
/// `version` is Spark's; `clock` what `current_timestamp()` gives, in microseconds since the epoch.
pub fn run_job(job: &Job, warehouse: &mut Warehouse, version: (u32, u32), clock: i64) -> JobRun {
    let mut run = Run::new(warehouse, version, clock);
    let outcome = run.steps(&job.steps);
    let mut uninterpreted = std::mem::take(&mut run.uninterpreted);
    uninterpreted.dedup();
    JobRun {
        error: outcome.err(),
        thread_errors: std::mem::take(&mut run.thread_errors),
        uninterpreted,
        written: std::mem::take(&mut run.written),
    }
}

type Failed = (ExecutionError, Place);

impl Run<'_> {
    /// Whether the steps were run to their end, and not left before.
    fn steps(&mut self, steps: &[Step]) -> Result<bool, Failed> {
        for step in steps {
            let goes_on = match step {
                Step::Branches { ways, place } => self.branches(ways, place)?,
                Step::Call { steps } => self.steps(steps).map(|_| true)?,
                other => self.step(other).map(|()| true)?,
            };
            if !goes_on {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Takes the first way whose test holds; the last needs none.
    fn branches(&mut self, ways: &[Way], place: &Place) -> Result<bool, Failed> {
        for (at, way) in ways.iter().enumerate() {
            let taken = match &way.test {
                Some(test) => self.holds(test).map_err(|error| (error, place.clone()))?,
                None if at + 1 == ways.len() => true,
                None => {
                    let reason = format!("whether `{}` holds is not known", way.condition);
                    return Err((ExecutionError::unsupported(reason), place.clone()));
                }
            };
            if taken {
                return Ok(self.steps(&way.steps)? && !way.leaves);
            }
        }
        Ok(true)
    }

    /// Steps without the streaming queries among them.
    fn batch_steps(&mut self, steps: &[Step]) -> Result<(), ExecutionError> {
        let own = steps.iter().filter(|step| !matches!(step, Step::Stream(_)));
        own.into_iter().try_for_each(|step| self.step(step).map_err(|(error, _)| error))
    }

    fn step(&mut self, step: &Step) -> Result<(), Failed> {
        match step {
            Step::Conf { key, value, place } => self.configure(key, value.as_deref()).map_err(|e| (e, place.clone())),
            Step::Reset { .. } => {
                self.conf.clone_from(&self.initial);
                Ok(())
            }
            Step::Collect { name, query, place } => self.collect(name, query).map_err(|e| (e, place.clone())),
            // Followed where lists of steps are run.
            Step::Branches { .. } | Step::Call { .. } => self.steps(std::slice::from_ref(step)).map(drop),
            Step::Write(write) => self.write(write).map_err(|e| (e, write.place.clone())),
            Step::Materialize { frame, cuts, .. } => {
                self.kept.insert(*frame, None);
                if *cuts {
                    self.cut.insert(*frame);
                }
                Ok(())
            }
            Step::Parallel { branches, .. } => {
                self.parallel(branches);
                Ok(())
            }
            Step::Stream(query) => self.stream(query).map_err(|e| (e, query.place.clone())),
            Step::RemoveFiles { path, .. } => {
                self.warehouse.remove_under(path);
                Ok(())
            }
            Step::Unknown { what, place } => {
                Err((ExecutionError::unsupported(format!("`{what}` is not followed")), place.clone()))
            }
        }
    }

    /// Sets or unsets a key, which Spark compares with letter case; this one's values are checked at once.
    fn configure(&mut self, key: &str, value: Option<&str>) -> Result<(), ExecutionError> {
        let Some(value) = value else {
            self.conf.remove(key);
            return Ok(());
        };
        let known = ["static", "dynamic"].iter().any(|mode| value.eq_ignore_ascii_case(mode));
        if key == OVERWRITE_MODE && !known {
            return Err(ExecutionError::new(
                "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS",
                format!("`{value}` is no value of {OVERWRITE_MODE}: STATIC or DYNAMIC"),
            ));
        }
        self.conf.insert(key.to_owned(), value.to_owned());
        Ok(())
    }

    /// `partitionOverwriteMode` of the session.
    fn dynamic_session(&self) -> bool {
        self.conf.get(OVERWRITE_MODE).is_some_and(|mode| mode.eq_ignore_ascii_case("dynamic"))
    }

    /// Writers at once: the first starts first and commits last; the others commit while it is under way.
    fn parallel(&mut self, branches: &[Vec<Step>]) {
        let Some((first, rest)) = branches.split_first() else { return };
        let started = self.warehouse.snapshots();
        let inputs: BTreeMap<_, _> = first.iter().filter_map(|step| self.read_ahead(step)).collect();
        for branch in rest {
            if let Err(error) = self.steps(branch) {
                self.thread_errors.push(error);
            }
        }
        self.base = started;
        self.ahead = inputs;
        if let Err(error) = self.steps(first) {
            self.thread_errors.push(error);
        }
        self.base.clear();
        self.ahead.clear();
    }

    fn write(&mut self, write: &BatchWrite) -> Result<(), ExecutionError> {
        self.queried.clear();
        let outcome = self.write_target(write);
        // The statement's own query is the first that runs for it.
        let rows = std::mem::take(&mut self.queried).into_iter().next();
        let target = match &write.target {
            WriteTarget::Table(name) => name.to_string(),
            WriteTarget::Path(path) | WriteTarget::Unknown(path) => path.clone(),
        };
        self.written.extend(rows.filter(|_| write.query.is_some()).map(|rows| Written {
            target,
            rows,
            place: write.place.clone(),
        }));
        outcome
    }

    fn write_target(&mut self, write: &BatchWrite) -> Result<(), ExecutionError> {
        if let WriteOperation::Invalid { class, reason } = &write.operation {
            return Err(ExecutionError::new(*class, reason.clone()));
        }
        match &write.target {
            WriteTarget::Unknown(text) => Err(ExecutionError::unsupported(format!("the target is not known: {text}"))),
            WriteTarget::Path(path) if path.contains('{') => {
                Err(ExecutionError::unsupported(format!("the path is not known: {path}")))
            }
            WriteTarget::Table(name) if name.is_template() => {
                Err(ExecutionError::unsupported(format!("the table's name is not known: {name}")))
            }
            // Only sources with a catalog of their own take statements on a path.
            WriteTarget::Path(path)
                if write.options.contains_key(PATH_TABLE)
                    && !self.is_lake_target(&write.target, write.format.as_deref()) =>
            {
                let message = format!("{path} is no table: INSERT OVERWRITE DIRECTORY writes a folder");
                Err(ExecutionError::new("TABLE_OR_VIEW_NOT_FOUND", message))
            }
            WriteTarget::Path(path) => match self.is_lake_target(&write.target, write.format.as_deref()) {
                true => self.write_lake(write, path),
                false => self.write_folder(write, path),
            },
            WriteTarget::Table(name) => {
                let key = self.warehouse.resolve(name);
                let lake = self.is_lake_target(&write.target, write.format.as_deref());
                if lake { self.write_lake(write, &key) } else { self.write_session_table(write, &key) }
            }
        }
    }

    /// Whether a target has snapshots, or would have if a writer of this format made it.
    fn is_lake_target(&self, target: &WriteTarget, format: Option<&str>) -> bool {
        let format = format.unwrap_or(&self.warehouse.default_format);
        match target {
            WriteTarget::Table(name) => {
                let key = self.warehouse.resolve(name);
                let known = self.warehouse.definition(&key).map(|definition| definition.kind == TableKind::Lake);
                known.unwrap_or_else(|| self.warehouse.is_lake(&key, format))
            }
            WriteTarget::Path(_) => matches!(format, "delta" | "iceberg"),
            WriteTarget::Unknown(_) => false,
        }
    }
}
