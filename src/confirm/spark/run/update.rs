//! One update of one pipeline: what Spark is asked to register and run, tried anew without what it cannot take, and what every
//! flow then reports.

use super::{Revision, Run, World, sink_place};
use crate::analyze::{Analysis, AnalyzedFlow};
use crate::confirm::NotRun;
use crate::confirm::spark::PipelineCode;
use crate::confirm::spark::expectations;
use crate::confirm::spark::names::plain;
use crate::confirm::spark::outcome::{Unregistered, UpdateAnswer};
use crate::confirm::spark::replacements::Known;
use crate::confirm::spark::request::typed_columns;
use crate::confirm::spark::workspace::Runnable;
use crate::engine::{
    ExecutionError, FlowReport, FlowStatus, Progress, Stage, UpdateKind, UpdateReport, defines_view, identity,
};
use crate::frontend::origin::Origin;
use crate::frontend::sql::{Context, Portable, PortableQuery, portable_query, portable_statements};
use crate::model::{DatasetKind, Flow, FlowKind, Pipeline, PipelineKind, Platform};
use serde_json::{Map, Value as Json, json};

/// How the reason begins why a flow is left out because of another one.
const READS_MISSING: &str = "it reads ";

/// Times that an update is tried anew without what Spark cannot take.
const ATTEMPTS: usize = 8;

impl Run<'_, '_> {
    pub(super) fn update(
        &mut self,
        world: &mut World,
        revision: usize,
        at: usize,
        kind: &UpdateKind,
    ) -> Result<UpdateReport, NotRun> {
        let Some(revision) = self.revision(revision).map(|known| (revision, known)) else {
            return Ok(UpdateReport::default());
        };
        let analysis = revision.1.analysis;
        let Some(pipeline) = analysis.workspace.pipelines.get(at) else { return Ok(UpdateReport::default()) };
        let members = members(analysis, at);
        if members.is_empty() {
            return Ok(UpdateReport::default());
        }
        if pipeline.kind == PipelineKind::Jobs {
            let reason = "a plain streaming query is not run on Apache Spark";
            return Ok(report(&members, |_| failed(Stage::Graph, ExecutionError::unsupported(reason))));
        }
        let mut answer = UpdateAnswer::default();
        for _ in 0..ATTEMPTS {
            answer = self.try_update(world, revision, pipeline, &members, kind)?;
            for (what, by) in std::mem::take(&mut answer.notes) {
                self.spark.note(what, by);
            }
            if !self.leave_out(revision, pipeline, &members, &answer) {
                break;
            }
        }
        if let Some(error) = answer.error.as_ref().filter(|_| answer.names_no_failure()) {
            let first = error.message.lines().next().unwrap_or_default();
            return Err(NotRun { reason: format!("an update failed and Spark does not tell at which flow: {first}") });
        }
        let report = self.report(revision, pipeline, &members, &answer);
        let ran = |index: usize| matches!(report.flow(index).map(|r| &r.status), Some(FlowStatus::Completed(_)));
        for (index, _, flow) in members.iter().filter(|(_, analyzed, _)| analyzed.streaming) {
            if ran(*index) {
                world.checkpoints.insert(identity(pipeline, flow));
            }
        }
        Ok(report)
    }

    fn try_update(
        &mut self,
        world: &World,
        revision: At<'_>,
        pipeline: &Pipeline,
        members: &[Member<'_>],
        kind: &UpdateKind,
    ) -> Result<UpdateAnswer, NotRun> {
        let (at, Revision { analysis, facts: sources, .. }) = revision;
        let spark = self.spark;
        let names = self.names.clone();
        let known = Known {
            names: &names,
            pipeline,
            pipelines: &analysis.workspace.pipelines,
            sources,
            places: &world.places,
            table_format: spark.settings.table_format.as_deref(),
            lakeflow: is_lakeflow(revision, pipeline),
            views: None,
        };
        let context = Context::in_pipeline(Origin::default(), pipeline);
        let files = self.files(revision, pipeline, &known, &context)?;
        let request = self.request(world, revision, (pipeline, &known), members, kind, files);
        let mut answer = |question: &Json| {
            let text = question.get("sql").and_then(Json::as_str).unwrap_or_default();
            let views = question.get("views").and_then(Json::as_object);
            let known = Known { views, ..known };
            match portable_query(text, &context, &known) {
                Ok(PortableQuery::Query(sql)) => json!({ "sql": sql }),
                Ok(PortableQuery::Command(name)) => json!({ "command": name }),
                Err(reason) => json!({ "refused": reason }),
            }
        };
        let reply = spark.step(self.session, &request, &mut answer)?;
        let answer = UpdateAnswer::read(&reply).without(&world.schema);
        Ok(answer.without_folder(&self.session.workspace.code(at).to_string_lossy()))
    }

    /// The pipeline's files as the driver takes them: paths of Python code, statements of SQL.
    fn files(
        &mut self,
        revision: At<'_>,
        pipeline: &Pipeline,
        known: &Known<'_>,
        context: &Context<'_>,
    ) -> Result<Vec<Json>, NotRun> {
        let (at, Revision { code, .. }) = revision;
        let Some(unit) = code.pipelines.iter().find(|code| code.key == pipeline.key) else { return Ok(Vec::new()) };
        let (tree, unit): (_, PipelineCode) = (code.tree, unit.clone());
        let mut files = Vec::new();
        for file in &unit.files {
            for runnable in self.session.workspace.runnable(at, tree, &file.path, file.language)? {
                files.push(match runnable {
                    Runnable::Python(path) => json!({ "path": path }),
                    Runnable::Sql(text) => {
                        json!({ "path": file.path.as_ref(), "statements": self.statements(&text, known, context) })
                    }
                });
            }
        }
        Ok(files)
    }

    fn statements(&mut self, text: &str, known: &Known<'_>, context: &Context<'_>) -> Vec<Json> {
        let mut settings = String::new();
        let mut found = Vec::new();
        for portable in portable_statements(text, context, known) {
            match portable {
                Portable::Setting(sql) => settings.push_str(&format!("{sql};\n")),
                Portable::Definition(definition) => {
                    for (what, by) in definition.replaced {
                        self.spark.note(what, by);
                    }
                    found.push(json!({
                        "sql": format!("{settings}{}", definition.sql),
                        "dataset": definition.target,
                        "view": definition.view,
                    }));
                }
                Portable::Refused { target, reason } => {
                    self.left_out.entry(target.to_lowercase()).or_insert(reason);
                }
                Portable::Other => {}
            }
        }
        found
    }

    fn request(
        &self,
        world: &World,
        revision: At<'_>,
        (pipeline, known): (&Pipeline, &Known<'_>),
        members: &[Member<'_>],
        kind: &UpdateKind,
        files: Vec<Json>,
    ) -> Json {
        let names = |list: &[crate::model::QualifiedName]| -> Vec<String> {
            list.iter().filter_map(|name| known.names.table(name)).collect()
        };
        let (full_refresh, refresh) = match kind {
            UpdateKind::FullRefresh(list) => (names(list), Vec::new()),
            UpdateKind::Refresh(list) => (Vec::new(), names(list)),
            UpdateKind::Incremental | UpdateKind::FullRefreshAll => (Vec::new(), Vec::new()),
        };
        let (at, Revision { code, label, .. }) = revision;
        let root = self.session.workspace.code(at);
        let unit = code.pipelines.iter().find(|code| code.key == pipeline.key);
        let roots = unit.iter().flat_map(|unit| &unit.python_roots).map(|folder| root.join(folder)).collect::<Vec<_>>();
        let wanted: Map<String, Json> = members
            .iter()
            .map(|(_, _, flow)| {
                let file = flow.place.span().map(|span| root.join(span.path.as_ref()));
                (self.target(pipeline, flow).to_lowercase(), json!(file.unwrap_or_else(|| root.clone())))
            })
            .collect();
        let kinds: Map<String, Json> = pipeline
            .datasets
            .iter()
            .filter_map(|dataset| {
                let kind = if dataset.kind == DatasetKind::MaterializedView { "materialized_view" } else { "table" };
                Some((known.names.table(&dataset.name)?.to_lowercase(), Json::from(kind)))
            })
            .collect();
        let sinks: Map<String, Json> = pipeline
            .datasets
            .iter()
            .filter(|dataset| dataset.kind == DatasetKind::Sink)
            .map(|sink| (sink.name.name.to_lowercase(), sink_place(world, sink)))
            .collect();
        for expectation in pipeline.datasets.iter().flat_map(|dataset| &dataset.expectations) {
            let (what, by) = expectations::substitution(expectation);
            self.spark.note(what, by);
        }
        let folder = root.join(&pipeline.root);
        let folder = if folder.is_dir() { folder } else { root.clone() };
        json!({
            "step": "update",
            "label": running(&pipeline.name, label, world.label),
            "catalog": if self.spark.settings.remote.is_none() { Some("spark_catalog") } else { None },
            "schema": world.schema,
            "storage": storage(world, pipeline),
            "configuration": pipeline.configuration,
            "lakeflow": is_lakeflow(revision, pipeline),
            "folder": folder,
            "code": root,
            "python_roots": roots,
            "files": files,
            "names": {
                "tables": known.tables(),
                "paths": known.paths(),
                "topics": known.topics(),
                "sinks": sinks,
                "defaults": [pipeline.catalog, pipeline.schema],
            },
            "datasets": wanted,
            "left_out": self.left_out.keys().collect::<Vec<_>>(),
            "kinds": kinds,
            "filters": known.filters(),
            "columns": self.known_columns(revision, pipeline),
            "table_format": self.spark.settings.table_format,
            "full_refresh": full_refresh,
            "full_refresh_all": *kind == UpdateKind::FullRefreshAll,
            "refresh": refresh,
        })
    }

    /// Columns of the pipeline's datasets as their definitions give them, where all are known.
    fn known_columns(&self, (_, Revision { analysis, .. }): At<'_>, pipeline: &Pipeline) -> Map<String, Json> {
        let mut columns = Map::new();
        for flow in analysis.flows.iter().filter(|flow| flow.schema.complete) {
            let of_pipeline = analysis.workspace.pipelines.get(flow.pipeline).filter(|other| other.key == pipeline.key);
            if let Some(definition) = of_pipeline.and_then(|pipeline| pipeline.flows.get(flow.flow)) {
                columns.insert(self.target(pipeline, definition).to_lowercase(), json!(typed_columns(&flow.schema)));
            }
        }
        columns
    }

    /// A flow's target as the driver knows it.
    fn target(&self, pipeline: &Pipeline, flow: &Flow) -> String {
        let sink = pipeline.dataset(&flow.target).is_some_and(|dataset| dataset.kind == DatasetKind::Sink);
        if sink {
            flow.target.name.clone()
        } else {
            self.names.table(&flow.target).unwrap_or_else(|| flow.target.name.clone())
        }
    }

    /// Adds what Spark cannot take to what is left out; true where the update should be tried again without it.
    ///
    /// What BEFORE cannot do says nothing of the change. Of others only what is foreign to Apache Spark, or failed in BEFORE,
    /// is left out: the rest is the change's own failure.
    fn leave_out(
        &mut self,
        revision: At<'_>,
        pipeline: &Pipeline,
        members: &[Member<'_>],
        answer: &UpdateAnswer,
    ) -> bool {
        let lakeflow = is_lakeflow(revision, pipeline);
        let mut failures: Vec<(Vec<String>, ExecutionError)> = Vec::new();
        for (what, error) in &answer.unregistered {
            let targets = match what {
                Unregistered::Table(table) => vec![table.to_lowercase()],
                Unregistered::File(path) => self.defined_in(revision, path, pipeline, members),
            };
            failures.push((targets, error.clone()));
        }
        for (flow, (status, error)) in &answer.flows {
            if status == "UNRESOLVED" {
                let named =
                    members.iter().filter(|(_, _, member)| self.flow_name(pipeline, member).to_lowercase() == *flow);
                let targets: Vec<String> =
                    named.map(|(_, _, member)| self.target(pipeline, member).to_lowercase()).collect();
                let targets = if targets.is_empty() { vec![flow.clone()] } else { targets };
                failures.push((targets, error.clone().unwrap_or_else(|| ExecutionError::new("UNRESOLVED", ""))));
            }
        }
        let known = self.left_out.len();
        for (targets, error) in failures {
            if !revision.1.is_baseline && !is_foreign(&error.class, lakeflow) && self.left_out.is_empty() {
                continue;
            }
            let first = error.message.lines().next().unwrap_or_default();
            let missing = self.left_out.iter().find(|(table, _)| first.contains(&format!("`{table}`")));
            let reason = match missing {
                Some((_, why)) if why.starts_with(READS_MISSING) => why.clone(),
                Some((table, why)) => format!("{READS_MISSING}{table}, which was left out: {why}"),
                None => reason(&error, first),
            };
            for target in targets {
                self.left_out.entry(target).or_insert_with(|| reason.clone());
            }
        }
        self.left_out.len() > known
    }

    /// Targets of the flows that a file of the workspace defines.
    fn defined_in(&self, revision: At<'_>, path: &str, pipeline: &Pipeline, members: &[Member<'_>]) -> Vec<String> {
        let root = self.session.workspace.code(revision.0);
        let relative = path.strip_prefix(&*root.to_string_lossy()).unwrap_or(path).trim_start_matches('/');
        let here = |flow: &Flow| {
            flow.place
                .span()
                .is_none_or(|span| relative == span.path.as_ref() || relative.starts_with(&format!("{}.", span.path)))
        };
        let found: Vec<String> = members
            .iter()
            .filter(|(_, _, flow)| here(flow))
            .map(|(_, _, flow)| self.target(pipeline, flow).to_lowercase())
            .collect();
        if found.is_empty() {
            members.iter().map(|(_, _, flow)| self.target(pipeline, flow).to_lowercase()).collect()
        } else {
            found
        }
    }

    /// A flow as Spark's events name it.
    fn flow_name(&self, pipeline: &Pipeline, flow: &Flow) -> String {
        let default = flow.name.eq_ignore_ascii_case(&flow.target.name) || flow.kind == FlowKind::Default;
        if default { self.target(pipeline, flow) } else { flow.name.clone() }
    }

    fn report(
        &self,
        revision: At<'_>,
        pipeline: &Pipeline,
        members: &[Member<'_>],
        answer: &UpdateAnswer,
    ) -> UpdateReport {
        let any = |wanted: &str| answer.flows.values().any(|(status, _)| status == wanted);
        let graph = !answer.unregistered.is_empty() || any("UNRESOLVED");
        // The run's error is that of a flow which failed in it: others did not come to run.
        let of_another = any("FAILED");
        report(members, |flow| {
            let target = self.target(pipeline, flow).to_lowercase();
            if let Some(reason) = self.left_out.get(&target) {
                return failed(Stage::Graph, ExecutionError::unsupported(reason.clone()));
            }
            let concerns = |what: &Unregistered| match what {
                Unregistered::Table(table) => *table == target,
                Unregistered::File(path) => self.defined_in(revision, path, pipeline, members).contains(&target),
            };
            if let Some((_, error)) = answer.unregistered.iter().find(|(what, _)| concerns(what)) {
                return failed(Stage::Graph, error.clone());
            }
            let told = answer.flows.get(&self.flow_name(pipeline, flow).to_lowercase());
            match (told, &answer.error) {
                (Some((status, error)), run) => {
                    let error = || {
                        let known = error.clone().or_else(|| run.clone());
                        known.unwrap_or_else(|| ExecutionError::new("STREAM_FAILED", "Spark gave no reason"))
                    };
                    match status.as_str() {
                        "FAILED" => failed(Stage::Flow, error()),
                        "UNRESOLVED" => failed(Stage::Graph, error()),
                        "SKIPPED" => FlowStatus::Skipped,
                        "EXCLUDED" => FlowStatus::Excluded,
                        _ if graph => FlowStatus::Skipped,
                        "QUEUED" | "PLANNING" if of_another => FlowStatus::Skipped,
                        "QUEUED" | "PLANNING" if run.is_some() => failed(Stage::Materialization, error()),
                        _ => FlowStatus::Completed(Progress::default()),
                    }
                }
                (None, _) if graph || of_another => FlowStatus::Skipped,
                (None, Some(error)) => failed(Stage::Materialization, error.clone()),
                (None, None) => FlowStatus::Completed(Progress::default()),
            }
        })
    }
}

/// Checkpoints lie where the user's `storage` says, each in a folder of this run: another storage is another folder.
fn storage(world: &World, pipeline: &Pipeline) -> String {
    let identity = pipeline.storage.as_deref().unwrap_or(&pipeline.key);
    format!("{}/{}", world.storage, plain(identity))
}

fn running(pipeline: &str, revision: &str, world: &str) -> String {
    let of_world = if world.is_empty() { String::new() } else { format!(", {world}") };
    format!("running {pipeline} ({revision}{of_world})")
}

/// Whether a pipeline's code is written for Lakeflow, whatever the experiment takes it for.
fn is_lakeflow((_, revision): At<'_>, pipeline: &Pipeline) -> bool {
    let code = revision.code.pipelines.iter().find(|code| code.key == pipeline.key);
    code.is_none_or(|code| code.platform == Platform::Lakeflow)
}

/// A revision with its place in the run.
type At<'a> = (usize, &'a Revision<'a>);

/// A flow with its index into the analysis.
type Member<'a> = (usize, &'a AnalyzedFlow, &'a Flow);

fn members(analysis: &Analysis, pipeline: usize) -> Vec<Member<'_>> {
    let Some(definition) = analysis.workspace.pipelines.get(pipeline) else { return Vec::new() };
    let flows = analysis.flows.iter().enumerate().filter(|(_, analyzed)| analyzed.pipeline == pipeline);
    flows
        .filter_map(|(index, analyzed)| Some((index, analyzed, definition.flows.get(analyzed.flow)?)))
        .filter(|(_, _, flow)| !defines_view(definition, flow))
        .collect()
}

fn report(members: &[Member<'_>], status: impl Fn(&Flow) -> FlowStatus) -> UpdateReport {
    let flows = members.iter().map(|(index, _, flow)| FlowReport {
        index: *index,
        flow: flow.name.clone(),
        dataset: flow.target.clone(),
        status: status(flow),
    });
    UpdateReport { flows: flows.collect() }
}

fn failed(stage: Stage, error: ExecutionError) -> FlowStatus {
    FlowStatus::Failed { stage, error }
}

/// Why something was left out, in the words of its first error.
fn reason(error: &ExecutionError, first: &str) -> String {
    match error.class.as_str() {
        "NO_EQUIVALENT" => first.to_owned(),
        // The mini engine carries columns that nobody has declared; Spark's sources must have them.
        class if class.starts_with("UNRESOLVED_COLUMN") => {
            format!("{first} (if it comes from a source outside, declare the source's columns in pipelint.yaml)")
        }
        class if first.contains(class) => format!("Apache Spark cannot run it: {first}"),
        class => format!("Apache Spark cannot run it ({class}): {first}"),
    }
}

/// Errors that say what Apache Spark, or this machine, does not have, and nothing about the change.
fn is_foreign(class: &str, lakeflow: bool) -> bool {
    const ANYWHERE: [&str; 3] = ["NO_EQUIVALENT", "ModuleNotFoundError", "ImportError"];
    const OF_LAKEFLOW: [&str; 8] = [
        "UNRESOLVED_ROUTINE",
        "UNRESOLVABLE_TABLE_VALUED_FUNCTION",
        "PARSE_SYNTAX_ERROR",
        "DATA_SOURCE_NOT_FOUND",
        "TABLE_OR_VIEW_NOT_FOUND",
        "AttributeError",
        "FileNotFoundError",
        "NameError",
    ];
    let head = class.split('.').next().unwrap_or_default();
    ANYWHERE.contains(&head) || lakeflow && (OF_LAKEFLOW.contains(&head) || head.starts_with("UNSUPPORTED_"))
}
