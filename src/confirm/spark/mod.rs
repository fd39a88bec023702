//! The experiment on real Apache Spark: the user's own pipeline code of both revisions, run by Spark Declarative Pipelines.
//!
//! Takes the code of both revisions and rows for the sources outside; gives the same [`Outcome`] as the mini engine. Sources are
//! files with those rows, tables lie in schemas of this run alone, and what Apache Spark has nothing for is replaced (see
//! [`Substitution`]) or left out with a reason. One driver process with one Spark Connect server serves all experiments.

mod driver;
pub mod installation;
mod names;
mod outcome;
mod replacements;
mod request;
mod run;
mod workspace;

pub use driver::TOKEN_VARIABLE;
pub use installation::{Installation, TESTED};

use super::{Data, Engine, Experiment, NotRun, Outcome};
use crate::model::Platform;
use crate::project::SourceFile;
use crate::revision::Tree;
use driver::{Conversation, Driver, StepError};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use workspace::Workspace;

/// Which files are a pipeline's code.
#[derive(Debug, Clone)]
pub struct PipelineCode {
    /// Key of the pipeline.
    pub key: String,
    /// What the code is written for.
    pub platform: Platform,
    /// In the order the platform loads them.
    pub files: Vec<SourceFile>,
    /// Folders that Python imports resolve against, relative to the repository.
    pub python_roots: Vec<String>,
}

/// The code of one revision.
#[derive(Clone, Copy)]
pub struct RevisionCode<'a> {
    pub tree: &'a dyn Tree,
    pub pipelines: &'a [PipelineCode],
}

/// How Spark is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// `sc://host:port` of a Spark Connect server that is there already; a local one is started where none.
    pub remote: Option<String>,
    /// Spark properties of the local server (`spark.jars.packages`, …).
    pub conf: BTreeMap<String, String>,
    /// Format of the tables that flows write; Spark's own default (Parquet) where none.
    pub table_format: Option<String>,
    /// Longest time that an update, or any other step, may take.
    pub time_limit: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { remote: None, conf: BTreeMap::new(), table_format: None, time_limit: Duration::from_secs(300) }
    }
}

/// Something of the user's code or world, and what stood for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Substitution {
    pub what: String,
    pub by: String,
}

/// Real Apache Spark as an engine.
pub struct Spark<'a> {
    pub installation: Installation,
    settings: Settings,
    before: RevisionCode<'a>,
    after: RevisionCode<'a>,
    progress: &'a (dyn Fn(&str) + Sync),
    session: Mutex<Option<Session>>,
    substitutions: Mutex<BTreeSet<Substitution>>,
}

/// A running driver with its work folder. The driver is dropped first.
struct Session {
    driver: Driver,
    workspace: Workspace,
    experiments: usize,
    gone: bool,
}

impl<'a> Spark<'a> {
    /// Finds the installation; the server starts with the first experiment. `progress` hears what is being done.
    ///
    /// # Errors
    /// What is missing, and how to install it.
    pub fn new(
        settings: Settings,
        before: RevisionCode<'a>,
        after: RevisionCode<'a>,
        progress: &'a (dyn Fn(&str) + Sync),
    ) -> Result<Self, NotRun> {
        let installation = installation::find(settings.remote.is_none())?;
        let (session, substitutions) = (Mutex::new(None), Mutex::new(BTreeSet::new()));
        Ok(Spark { installation, settings, before, after, progress, session, substitutions })
    }

    /// What stood for what in the experiments so far.
    pub fn substitutions(&self) -> Vec<Substitution> {
        self.substitutions.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn note(&self, what: impl Into<String>, by: impl Into<String>) {
        let substitution = Substitution { what: what.into(), by: by.into() };
        self.substitutions.lock().unwrap_or_else(PoisonError::into_inner).insert(substitution);
    }

    fn start(&self) -> Result<Session, NotRun> {
        (self.progress)("starting Apache Spark");
        let workspace = Workspace::new()?;
        let driver = Driver::spawn(&self.installation, &workspace.folder)?;
        let mut session = Session { driver, workspace, experiments: 0, gone: false };
        let request = json!({
            "step": "start",
            "work_folder": session.workspace.folder,
            "remote": self.settings.remote,
            "conf": self.settings.conf,
        });
        self.step(&mut session, &request, &mut |_| Json::Null)?;
        Ok(session)
    }

    /// One step of the driver.
    fn step(
        &self,
        session: &mut Session,
        request: &Json,
        answer: &mut dyn FnMut(&Json) -> Json,
    ) -> Result<Json, StepError> {
        let mut talk = Conversation { answer, progress: &mut |text| (self.progress)(text) };
        let reply = session.driver.step(request, self.settings.time_limit, &mut talk);
        session.gone |= matches!(reply, Err(StepError::TimeLimit | StepError::Broken(_)));
        reply
    }
}

impl Engine for Spark<'_> {
    fn name(&self) -> &'static str {
        "spark"
    }

    fn run(&self, experiment: &Experiment<'_>, data: &Data) -> Result<Outcome, NotRun> {
        let mut kept = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let mut session = match kept.take() {
            Some(session) => session,
            None => self.start()?,
        };
        session.experiments += 1;
        let outcome = run::run(self, &mut session, experiment, data);
        if !session.gone {
            *kept = Some(session);
        }
        outcome
    }
}
