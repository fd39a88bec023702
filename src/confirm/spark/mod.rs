//! The experiment on real Apache Spark: the user's own pipeline code of both revisions, run by Spark Declarative Pipelines.
//!
//! Takes the code of both revisions and rows for the sources outside; gives the same [`Outcome`] as the mini engine. Sources are
//! files with those rows, tables lie in schemas of this run alone, and what Apache Spark has nothing for is replaced (see
//! [`Substitution`]) or left out with a reason. One driver process with one Spark Connect server serves all experiments.

mod driver;
mod expectations;
pub mod installation;
mod lakehouse;
mod names;
mod outcome;
mod replacements;
mod request;
mod run;
mod workspace;

pub use driver::TOKEN_VARIABLE;
pub use installation::{Installation, TESTED};
pub use lakehouse::Lakehouse;
pub use outcome::VARIES;
pub use run::{Revision, Run, World};

use super::{Data, Deployment, Engine, Experiment, NotRun, Outcome};
use crate::model::Platform;
use crate::project::SourceFile;
use crate::revision::Tree;
use driver::{Conversation, Driver, StepError};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
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
    /// The Python that has Spark; found by [`installation::find`] where none is named.
    pub python: Option<PathBuf>,
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
        let conf = BTreeMap::new();
        Settings { python: None, remote: None, conf, table_format: None, time_limit: Duration::from_secs(300) }
    }
}

/// What is done by hand to tables and checkpoints between the two revisions.
pub type Between<'a> = &'a (dyn Fn(&mut Hands<'_>) -> Result<(), NotRun> + Sync);

/// Access to the world that goes on from BEFORE to AFTER.
pub struct Hands<'a> {
    /// Where the checkpoints of all pipelines lie.
    pub storage: PathBuf,
    /// Where a source's batches lie, by the name of its table, as `batchN.*`.
    pub sources: PathBuf,
    sql: &'a mut dyn FnMut(&str) -> Result<(), NotRun>,
}

impl Hands<'_> {
    /// # Errors
    /// Spark refuses the statement.
    pub fn sql(&mut self, statement: &str) -> Result<(), NotRun> {
        (self.sql)(statement)
    }
}

/// A running Spark that nobody uses at the moment.
pub struct Server(Session);

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
    code: Vec<RevisionCode<'a>>,
    progress: &'a (dyn Fn(&str) + Sync),
    between: Option<Between<'a>>,
    session: Mutex<Option<Session>>,
    substitutions: Mutex<BTreeSet<Substitution>>,
    /// Tables that it could not be given in the experiments so far, with the reason: a further one need not learn that anew.
    left_out: Mutex<BTreeMap<String, String>>,
}

/// A running driver with its work folder. The driver is dropped first.
struct Session {
    driver: Driver,
    workspace: Workspace,
    /// Of the server.
    version: String,
    /// Schemas that were made.
    worlds: usize,
    gone: bool,
}

impl<'a> Spark<'a> {
    /// Finds the installation; the server starts with the first experiment. `code` is that of the revisions, BEFORE first;
    /// `progress` hears what is being done.
    ///
    /// # Errors
    /// What is missing, and how to install it.
    pub fn new(
        settings: Settings,
        code: Vec<RevisionCode<'a>>,
        progress: &'a (dyn Fn(&str) + Sync),
    ) -> Result<Self, NotRun> {
        let installation = installation::find(settings.python.as_deref(), settings.remote.is_none())?;
        let (session, substitutions) = (Mutex::new(None), Mutex::new(BTreeSet::new()));
        let left_out = Mutex::new(BTreeMap::new());
        Ok(Spark { installation, settings, code, progress, between: None, session, substitutions, left_out })
    }

    /// The same with the server of an earlier engine, which was started with the same settings.
    #[must_use]
    pub fn on(self, server: Option<Server>) -> Self {
        Spark { session: Mutex::new(server.map(|Server(session)| session)), ..self }
    }

    /// The same, with something done between the two revisions.
    #[must_use]
    pub fn with_between(self, between: Between<'a>) -> Self {
        Spark { between: Some(between), ..self }
    }

    /// Leaves the server running, for other revisions; none where it was not started, or is gone.
    pub fn into_server(self) -> Option<Server> {
        self.session.into_inner().unwrap_or_else(PoisonError::into_inner).map(Server)
    }

    /// The version of what runs the pipelines: a remote server may have another than the client, which stands for it where it
    /// cannot be reached.
    pub fn version(&self) -> String {
        let of_server = || self.with_session(|session| Ok(session.version.clone())).ok();
        let remote = self.settings.remote.as_ref().and_then(|_| of_server());
        remote.unwrap_or_else(|| self.installation.spark.clone())
    }

    /// How pipelines are deployed on it.
    pub fn deployment(&self) -> Deployment {
        let table_format = self.settings.table_format.clone().unwrap_or_else(|| "parquet".to_owned());
        let version = installation::version_of(&self.version()).unwrap_or(self.installation.version);
        Deployment { spark_version: version, table_format }
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
        let mut session = Session { driver, workspace, version: String::new(), worlds: 0, gone: false };
        let request = json!({
            "step": "start",
            "work_folder": session.workspace.folder,
            "remote": self.settings.remote,
            "conf": self.conf(&session.workspace.folder),
        });
        let reply = self.step(&mut session, &request, &mut |_| Json::Null)?;
        session.version = reply.get("version").and_then(Json::as_str).unwrap_or_default().to_owned();
        Ok(session)
    }

    /// The user's properties, above those that a lakehouse's package needs.
    fn conf(&self, folder: &Path) -> BTreeMap<String, String> {
        let lakehouse = Lakehouse::of(&self.settings.conf);
        let needed = lakehouse.map(|format| format.properties(&folder.join("warehouse"))).unwrap_or_default();
        let mut conf: BTreeMap<String, String> =
            needed.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        conf.extend(self.settings.conf.clone());
        conf
    }

    /// Works on the server, which is started where none runs, and keeps it unless it broke.
    fn with_session<T>(&self, work: impl FnOnce(&mut Session) -> Result<T, NotRun>) -> Result<T, NotRun> {
        let mut kept = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let mut session = match kept.take() {
            Some(session) => session,
            None => self.start()?,
        };
        let done = work(&mut session);
        if !session.gone {
            *kept = Some(session);
        }
        done
    }

    /// Runs revisions in a world of their own, which is gone afterwards. Their code is that of the engine, in its order.
    ///
    /// # Errors
    /// The server cannot be started, or `work` fails.
    pub fn in_world<T>(
        &self,
        revisions: &[Revision<'_>],
        work: impl FnOnce(&mut Run<'_, '_>, &mut World) -> Result<T, NotRun>,
    ) -> Result<T, NotRun> {
        self.with_session(|session| {
            let mut run = Run::new(self, session, revisions)?;
            let mut world = run.world("")?;
            let done = work(&mut run, &mut world);
            run.drop_world(&world);
            done
        })
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
        self.with_session(|session| run::experiment(self, session, experiment, data))
    }
}
