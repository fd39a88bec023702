//! One update of a pipeline: graph validation, dataset materialization, then its flows in the order of the graph.
//!
//! Takes the world as earlier updates left it and a pipeline as analysed; leaves tables and checkpoints behind and tells what
//! each flow did.

mod batch;

use super::catalog;
use super::cdc::{self, CdcSink};
use super::delta::StreamWriter;
use super::error::ExecutionError;
use super::expectation::Checks;
use super::materialize;
use super::platform::Behaviour;
use super::replace::ReplaceSink;
use super::sink::{FunctionSink, NoSink, TableSink};
use super::stream::{self, Progress, Query, Sink};
use super::table::TableFormat;
use super::world::World;
use crate::analyze::{Analysis, AnalyzedFlow};
use crate::model::{
    Dataset, DatasetKind, Flow, FlowKind, OutputMode, Pipeline, PipelineKind, QualifiedName, Schema, SinkTarget,
    StreamWrite,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpdateKind {
    Incremental,
    FullRefreshAll,
    /// Full refresh of these datasets, and nothing else.
    FullRefresh(Vec<QualifiedName>),
    /// Incremental, of these datasets and nothing else.
    Refresh(Vec<QualifiedName>),
}

impl UpdateKind {
    fn selects(&self, dataset: &QualifiedName) -> bool {
        match self {
            UpdateKind::Incremental | UpdateKind::FullRefreshAll => true,
            UpdateKind::FullRefresh(names) | UpdateKind::Refresh(names) => {
                names.iter().any(|name| is_named(name, dataset))
            }
        }
    }

    fn refreshes(&self, dataset: &Dataset) -> bool {
        match self {
            UpdateKind::FullRefreshAll => !dataset.is_protected(),
            UpdateKind::FullRefresh(names) => names.iter().any(|name| is_named(name, &dataset.name)),
            _ => false,
        }
    }
}

/// A selection may leave catalog and schema out.
fn is_named(name: &QualifiedName, dataset: &QualifiedName) -> bool {
    name == dataset || (name.schema.is_none() && name.name.eq_ignore_ascii_case(&dataset.name))
}

/// Where an update or a flow failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// A query does not resolve, or the graph is not valid: nothing ran.
    Graph,
    /// A dataset cannot be brought to its definition: nothing ran.
    Materialization,
    /// The flow's query.
    Flow,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlowStatus {
    Completed(Progress),
    Failed {
        stage: Stage,
        error: ExecutionError,
    },
    /// A dataset that it reads was not updated.
    Skipped,
    /// Its dataset was not selected.
    Excluded,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowReport {
    /// Index into `Analysis::flows`.
    pub index: usize,
    pub flow: String,
    pub dataset: QualifiedName,
    pub status: FlowStatus,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpdateReport {
    /// In the order in which the analysis lists them.
    pub flows: Vec<FlowReport>,
}

impl UpdateReport {
    pub fn flow(&self, index: usize) -> Option<&FlowReport> {
        let at = self.flows.binary_search_by_key(&index, |report| report.index).ok()?;
        self.flows.get(at)
    }
}

/// Runs one update of the pipeline at `pipeline` in the analysis.
pub fn update(world: &mut World, analysis: &Analysis, pipeline: usize, kind: &UpdateKind) -> UpdateReport {
    world.updates += 1;
    let Some(definition) = analysis.workspace.pipelines.get(pipeline) else { return UpdateReport::default() };
    for facts in &definition.sources {
        let default = default_source_format(Behaviour::of(definition));
        world.define_source(facts, default);
    }
    let start = analysis.flows.partition_point(|analyzed| analyzed.pipeline < pipeline);
    let flows: Vec<Member<'_>> = (start..)
        .zip(analysis.flows_of(pipeline))
        .filter_map(|(index, analyzed)| {
            definition.flows.get(analyzed.flow).map(|flow| Member { index, analyzed, flow })
        })
        .filter(|member| !defines_view(definition, member.flow))
        .collect();
    let empty = Vec::new();
    let schemas = analysis.schemas.get(pipeline).unwrap_or(&empty);
    let feeding = Feeding::of(definition, &flows);
    Update { world, pipeline: definition, behaviour: Behaviour::of(definition), flows, feeding, schemas, kind }.run()
}

/// Format of sources that say nothing themselves.
pub fn default_source_format(behaviour: Behaviour) -> &'static str {
    if behaviour.is_lakeflow() { "delta" } else { "parquet" }
}

struct Member<'a> {
    index: usize,
    analyzed: &'a AnalyzedFlow,
    flow: &'a Flow,
}

impl Member<'_> {
    fn checks(&self) -> Checks<'_> {
        Checks { flow: &self.flow.name, checks: &self.analyzed.checks, cdc: self.analyzed.cdc.as_ref() }
    }
}

/// Which flows of an update feed which.
struct Feeding {
    /// By flow: those that write what it reads, in order.
    into: Vec<Vec<usize>>,
}

impl Feeding {
    fn of(pipeline: &Pipeline, flows: &[Member<'_>]) -> Feeding {
        let mut writers: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, member) in flows.iter().enumerate() {
            if let Some(written) = location(pipeline, member.flow) {
                writers.entry(written).or_default().push(at);
            }
        }
        let into = flows.iter().map(|reader| {
            let mut found = BTreeSet::new();
            for read in reader.analyzed.optimized.reads() {
                match catalog::target(pipeline, read) {
                    catalog::Target::Table(location) => found.extend(writers.get(&location).into_iter().flatten()),
                    catalog::Target::Path(pattern) => {
                        let below = |written: &str| pattern.contains(written) || pattern.path == written;
                        found.extend(writers.iter().filter(|(written, _)| below(written)).flat_map(|(_, all)| all));
                    }
                    catalog::Target::Topics(_) | catalog::Target::Rate { .. } | catalog::Target::Unknown(_) => {}
                }
            }
            let other =
                |writer: &usize| flows.get(*writer).is_some_and(|writer| writer.flow.target != reader.flow.target);
            found.into_iter().copied().filter(other).collect()
        });
        Feeding { into: into.collect() }
    }

    fn writers(&self, reader: usize) -> &[usize] {
        self.into.get(reader).map_or(&[], Vec::as_slice)
    }

    /// Flows in topological order, otherwise as the analysis lists them; where only a cycle is left, its first flow comes next.
    fn order(&self) -> Vec<usize> {
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); self.into.len()];
        let mut missing: Vec<usize> = vec![0; self.into.len()];
        for (reader, writers) in self.into.iter().enumerate() {
            for writer in writers {
                if let (Some(list), Some(count)) = (readers.get_mut(*writer), missing.get_mut(reader)) {
                    list.push(reader);
                    *count += 1;
                }
            }
        }
        let mut waiting: BTreeSet<usize> = (0..self.into.len()).collect();
        let mut ready: BTreeSet<usize> = waiting.iter().copied().filter(|at| missing.get(*at) == Some(&0)).collect();
        let mut order = Vec::new();
        while let Some(next) = ready.pop_first().or_else(|| waiting.first().copied()) {
            waiting.remove(&next);
            order.push(next);
            for reader in readers.get(next).into_iter().flatten() {
                if let Some(count) = missing.get_mut(*reader) {
                    *count = count.saturating_sub(1);
                    if *count == 0 && waiting.contains(reader) {
                        ready.insert(*reader);
                    }
                }
            }
        }
        order
    }
}

struct Update<'a> {
    world: &'a mut World,
    pipeline: &'a Pipeline,
    behaviour: Behaviour,
    flows: Vec<Member<'a>>,
    feeding: Feeding,
    schemas: &'a [Schema],
    kind: &'a UpdateKind,
}

type Statuses = BTreeMap<usize, FlowStatus>;

impl Update<'_> {
    fn run(mut self) -> UpdateReport {
        let mut statuses = self.validate();
        if statuses.is_empty() && self.pipeline.kind != PipelineKind::Jobs {
            statuses = self.materialize();
        }
        if statuses.is_empty() {
            for at in self.feeding.order() {
                let status = self.run_flow(at, &statuses);
                statuses.insert(at, status);
            }
        }
        let report = |(at, member): (usize, &Member<'_>)| FlowReport {
            index: member.index,
            flow: member.flow.name.clone(),
            dataset: member.flow.target.clone(),
            status: statuses.get(&at).cloned().unwrap_or(FlowStatus::Skipped),
        };
        UpdateReport { flows: self.flows.iter().enumerate().map(report).collect() }
    }

    /// Graph validation: one flow that does not resolve keeps the whole pipeline from running. Jobs stand for themselves.
    fn validate(&self) -> Statuses {
        let mut failed = Statuses::new();
        if let UpdateKind::FullRefresh(_) = self.kind {
            for dataset in self.pipeline.datasets.iter().filter(|d| self.kind.refreshes(d) && d.is_protected()) {
                let error = ExecutionError::new(
                    "TABLE_NOT_RESETTABLE",
                    format!("{} has pipelines.reset.allowed = false", dataset.name),
                );
                self.fail_all(&mut failed, Stage::Graph, &error);
            }
        }
        if self.pipeline.kind == PipelineKind::Jobs {
            return failed;
        }
        for (at, member) in self.flows.iter().enumerate() {
            let graph_error = member.analyzed.errors.iter().find(|error| !fails_at_start(&error.class));
            if let Some(error) = graph_error {
                let error = ExecutionError::new(error.class.clone(), error.message.clone());
                failed.insert(at, FlowStatus::Failed { stage: Stage::Graph, error });
            } else if let Some(error) = self.second_cdc_flow(at).or_else(|| self.resettable_dependency(at)) {
                failed.insert(at, FlowStatus::Failed { stage: Stage::Graph, error });
            }
        }
        failed
    }

    fn fail_all(&self, statuses: &mut Statuses, stage: Stage, error: &ExecutionError) {
        for at in 0..self.flows.len() {
            statuses.insert(at, FlowStatus::Failed { stage, error: error.clone() });
        }
    }

    /// On Spark one AUTO CDC flow owns its target.
    fn second_cdc_flow(&self, at: usize) -> Option<ExecutionError> {
        let member = self.flows.get(at)?;
        if self.behaviour.is_lakeflow() || member.flow.cdc().is_none() {
            return None;
        }
        let earlier = self.flows.iter().take(at).any(|other| other.flow.target == member.flow.target);
        earlier.then(|| {
            ExecutionError::new(
                "AUTOCDC_MULTIPLE_FLOWS_TO_TARGET",
                format!("{} is the target of more than one flow", member.flow.target),
            )
        })
    }

    /// On Spark a table that must not be reset may read, directly or through others, only tables that must not be either
    /// (`GraphValidations.validateTablesAreResettable`).
    fn resettable_dependency(&self, at: usize) -> Option<ExecutionError> {
        let protected = self.dataset(self.flows.get(at)?).filter(|dataset| dataset.is_protected())?;
        if self.behaviour.is_lakeflow() {
            return None;
        }
        let mut upstream = BTreeSet::from([at]);
        let mut pending = vec![at];
        while let Some(reader) = pending.pop() {
            for writer in self.feeding.writers(reader) {
                if upstream.insert(*writer) {
                    pending.push(*writer);
                }
            }
        }
        let tables = upstream.into_iter().filter_map(|writer| self.dataset(self.flows.get(writer)?));
        let resettable: Vec<String> =
            tables.filter(|dataset| !dataset.is_protected()).map(|dataset| dataset.name.to_string()).collect();
        (!resettable.is_empty()).then(|| {
            let message =
                format!("{} can be reset and {} downstream of them cannot", resettable.join(", "), protected.name);
            ExecutionError::new("INVALID_RESETTABLE_DEPENDENCY", message)
        })
    }

    /// Brings every selected dataset's table to its definition. The first that cannot be refuses the update; what was done
    /// before it stays done.
    fn materialize(&mut self) -> Statuses {
        let mut statuses = Statuses::new();
        for at in 0..self.pipeline.datasets.len() {
            let (Some(dataset), Some(schema)) = (self.pipeline.datasets.get(at), self.schemas.get(at)) else {
                continue;
            };
            if !matches!(dataset.kind, DatasetKind::StreamingTable | DatasetKind::MaterializedView | DatasetKind::Table)
                || !self.kind.selects(&dataset.name)
            {
                continue;
            }
            if let Err(error) = self.materialize_table(dataset, schema) {
                self.fail_all(&mut statuses, Stage::Materialization, &error);
                return statuses;
            }
        }
        statuses
    }

    fn materialize_table(&mut self, dataset: &Dataset, inferred: &Schema) -> Result<(), ExecutionError> {
        let Some(location) = catalog::dataset_location(dataset) else { return Ok(()) };
        let full_refresh = self.kind.refreshes(dataset);
        let recomputed = dataset.kind == DatasetKind::MaterializedView;
        let cdc = self.cdc_member(dataset);
        let schema = match &cdc {
            Some(target) => target.schema(inferred, self.behaviour),
            None => inferred.clone(),
        };
        let behaviour = self.behaviour;
        let format = self.format_of(dataset);
        let supports_merge = self.world.tables.get(&location).map_or(&format, |table| &table.format).supports_merge();
        if cdc.is_some() && !supports_merge {
            return Err(ExecutionError::new(
                "AUTOCDC_TARGET_DOES_NOT_SUPPORT_MERGE",
                format!("the target {} of an AUTO CDC flow does not support MERGE", dataset.name),
            ));
        }
        let new = !self.world.tables.contains_key(&location);
        let table = self.world.create(&location, format, schema.clone());
        if let Some(target) = &cdc {
            let properties = target.properties();
            if let (false, Some(known)) = (full_refresh, &table.cdc) {
                cdc::compare_properties(known, &properties)?;
            }
            table.cdc = Some(properties);
        }
        if new {
            table.layout = dataset.layout.clone();
        } else if full_refresh || recomputed {
            materialize::compare_layout(table, &dataset.layout, full_refresh || recomputed, behaviour)?;
            table.truncate();
            table.schema = schema;
            table.layout = dataset.layout.clone();
        } else {
            let widening = widens_types(dataset, self.pipeline);
            table.schema = materialize::merge_schemas(&table.schema, &schema, widening, behaviour)?;
            materialize::compare_layout(table, &dataset.layout, false, behaviour)?;
            table.layout = dataset.layout.clone();
        }
        table.properties.extend(dataset.properties.clone());
        if let Some(target) = cdc {
            target.materialize_tombstones(self.world, &location, full_refresh, behaviour);
        }
        if full_refresh {
            self.forget_checkpoints(dataset);
        }
        Ok(())
    }

    fn cdc_member(&self, dataset: &Dataset) -> Option<cdc::CdcTarget> {
        self.flows
            .iter()
            .filter(|member| member.flow.target == dataset.name)
            .find_map(|member| cdc::CdcTarget::of(member.analyzed, member.flow))
    }

    fn format_of(&self, dataset: &Dataset) -> TableFormat {
        TableFormat::named(dataset.format.as_deref().unwrap_or(&self.pipeline.table_format))
    }

    fn forget_checkpoints(&mut self, dataset: &Dataset) {
        for member in self.flows.iter().filter(|member| member.flow.target == dataset.name) {
            self.world.checkpoints.remove(&identity(self.pipeline, member.flow));
        }
    }

    fn dataset(&self, member: &Member<'_>) -> Option<&Dataset> {
        self.pipeline.dataset(&member.flow.target)
    }

    /// Location that a flow writes to.
    fn location(&self, member: &Member<'_>) -> Option<String> {
        location(self.pipeline, member.flow)
    }

    fn run_flow(&mut self, at: usize, done: &Statuses) -> FlowStatus {
        let Some(member) = self.flows.get(at) else { return FlowStatus::Skipped };
        if !self.kind.selects(&member.flow.target) {
            return FlowStatus::Excluded;
        }
        let broken = |status: &FlowStatus| matches!(status, FlowStatus::Failed { .. } | FlowStatus::Skipped);
        if self.feeding.writers(at).iter().any(|writer| done.get(writer).is_some_and(broken)) {
            return FlowStatus::Skipped;
        }
        match self.execute(at) {
            Ok(progress) => FlowStatus::Completed(progress),
            Err(error) => FlowStatus::Failed { stage: Stage::Flow, error },
        }
    }

    fn execute(&mut self, at: usize) -> Result<Progress, ExecutionError> {
        let Some(member) = self.flows.get(at) else { return Ok(Progress::default()) };
        if let Some(error) = member.analyzed.errors.first() {
            // Before Spark 4.0 what a stream cannot do had no error class.
            let unnamed = fails_at_start(&error.class) && !self.behaviour.names_state_errors();
            let class = if unnamed { "ExtendedAnalysisException" } else { &error.class };
            return Err(ExecutionError::new(class, error.message.clone()));
        }
        let dataset = self.dataset(member).cloned();
        let (flow, analyzed) = (member.flow, member.analyzed);
        if let (FlowKind::StreamJob(write), true) = (&flow.kind, analyzed.streaming) {
            return self.run_job(at, write);
        }
        let Some(location) = self.location(member) else {
            return Err(ExecutionError::unsupported(format!("the target of flow {} is not known", flow.name)));
        };
        if let Some(dataset) = &dataset {
            self.compare_format(dataset, &location)?;
        }
        if analyzed.streaming {
            return self.run_stream(at, &location);
        }
        if dataset.is_some_and(|dataset| dataset.kind == DatasetKind::MaterializedView) {
            return self.recompute(at, &location);
        }
        self.run_batch_flow(at, &location)
    }

    /// The writer finds a table of another format than the definition's.
    fn compare_format(&self, dataset: &Dataset, location: &str) -> Result<(), ExecutionError> {
        let Some(table) = self.world.tables.get(location) else { return Ok(()) };
        let wanted = self.format_of(dataset);
        if self.behaviour.is_lakeflow() || dataset.kind == DatasetKind::Sink || table.format == wanted {
            return Ok(());
        }
        let class = match dataset.kind {
            DatasetKind::MaterializedView => "_LEGACY_ERROR_TEMP_1159",
            _ => "_LEGACY_ERROR_TEMP_1192",
        };
        Err(ExecutionError::new(
            class,
            format!(
                "the input source ({}) is different from the table {}'s data source provider ({})",
                wanted.name(),
                dataset.name,
                table.format.name()
            ),
        ))
    }

    fn configuration(&self, flow: &Flow) -> BTreeMap<String, String> {
        let mut configuration = self.pipeline.configuration.clone();
        configuration.extend(flow.spark_conf.clone());
        configuration
    }

    fn query(&self, at: usize, output_mode: OutputMode, available_now: bool) -> Option<Query<'_>> {
        let member = self.flows.get(at)?;
        Some(Query {
            pipeline: self.pipeline,
            plan: &member.analyzed.optimized,
            operators: &member.analyzed.signature.operators,
            output_mode,
            configuration: self.configuration(member.flow),
            available_now,
            checks: member.checks(),
        })
    }

    fn run_stream(&mut self, at: usize, location: &str) -> Result<Progress, ExecutionError> {
        let Some(member) = self.flows.get(at) else { return Ok(Progress::default()) };
        let concurrent = self.flows.iter().filter(|other| other.flow.target == member.flow.target).count() > 1;
        if !self.world.tables.contains_key(location) {
            let format = self.dataset(member).and_then(|dataset| dataset.format.clone());
            let format = TableFormat::named(format.as_deref().unwrap_or(&self.pipeline.table_format));
            self.world.create(location, format, member.analyzed.schema.clone());
        }
        let writer = member.flow.name.clone();
        let cataloged = self.dataset(member).is_none_or(|dataset| dataset.kind != DatasetKind::Sink);
        match cdc::CdcTarget::of(member.analyzed, member.flow) {
            Some(target) => {
                let mut sink = CdcSink::new(target, location, &writer, Behaviour::of(self.pipeline));
                self.run_query(at, OutputMode::Update, true, &mut sink)
            }
            None if matches!(member.flow.kind, FlowKind::ReplaceWhere(_)) => {
                Err(ExecutionError::unsupported("what a REPLACE WHERE flow does with a stream is not documented"))
            }
            None if matches!(member.flow.kind, FlowKind::ReplaceUsing { .. }) => {
                let mut sink = ReplaceSink { flow: member.analyzed, location, writer: &writer };
                self.run_query(at, OutputMode::Append, true, &mut sink)
            }
            None => {
                let mut sink = TableSink {
                    location,
                    writer: &writer,
                    output_mode: OutputMode::Append,
                    concurrent,
                    cataloged,
                    delta: None,
                };
                self.run_query(at, OutputMode::Append, true, &mut sink)
            }
        }
    }

    fn run_query(
        &mut self,
        at: usize,
        output_mode: OutputMode,
        available_now: bool,
        sink: &mut dyn Sink,
    ) -> Result<Progress, ExecutionError> {
        let Some(member) = self.flows.get(at) else { return Ok(Progress::default()) };
        let key = identity(self.pipeline, member.flow);
        let mut world = std::mem::take(self.world);
        let result = match self.query(at, output_mode, available_now) {
            Some(query) => stream::run(&mut world, &key, &query, sink),
            None => Ok(Progress::default()),
        };
        *self.world = world;
        result
    }

    fn run_job(&mut self, at: usize, write: &StreamWrite) -> Result<Progress, ExecutionError> {
        let Some(member) = self.flows.get(at) else { return Ok(Progress::default()) };
        let available_now =
            write.trigger.as_deref().is_none_or(|trigger| !trigger.to_lowercase().contains("processing"));
        let mode = write.output_mode;
        let location = match (&write.target, self.location(member)) {
            (SinkTarget::Table(_) | SinkTarget::Path { .. } | SinkTarget::Connector { .. }, Some(location)) => location,
            (SinkTarget::ForeachBatch(_), _) => {
                let identity = identity(self.pipeline, member.flow);
                let Some(function) = self.world.functions.0.get(&identity).cloned() else {
                    return self.run_query(at, mode, available_now, &mut NoSink);
                };
                let mut sink = FunctionSink { function, pipeline: self.pipeline };
                return self.run_query(at, mode, available_now, &mut sink);
            }
            _ => return self.run_query(at, mode, available_now, &mut NoSink),
        };
        let format = match &write.target {
            SinkTarget::Path { format, .. } | SinkTarget::Connector { format } => format.clone(),
            _ => self
                .dataset(member)
                .and_then(|dataset| dataset.format.clone())
                .or_else(|| write.options.get("format").cloned())
                .unwrap_or_else(|| self.pipeline.table_format.clone()),
        };
        let writer = member.flow.name.clone();
        let schema = member.analyzed.schema.clone();
        let new = !self.world.tables.contains_key(&location);
        let in_delta = self.behaviour.is_lakeflow() || keeps_delta(&write.target);
        let table = self.world.create(&location, TableFormat::named(&format), schema.clone());
        let delta = in_delta && table.format == TableFormat::Delta;
        if new {
            table.layout.partition_by.clone_from(&write.partition_by);
        } else if mode == OutputMode::Complete && !delta && table.format != TableFormat::Iceberg {
            table.schema = schema.clone();
        }
        if delta && mode == OutputMode::Update {
            let message = "Data source delta does not support Update output mode";
            return Err(ExecutionError::new("DELTA_UNSUPPORTED_OUTPUT_MODE", message));
        }
        if !delta && (mode != OutputMode::Complete || table.format == TableFormat::Iceberg) {
            table.schema = super::writer::schema_on_write(table, &schema, &write.options, mode)?;
        }
        let configuration = self.configuration(member.flow);
        let version = if self.behaviour.is_lakeflow() { (4, 0) } else { self.pipeline.spark_version };
        let delta =
            delta.then(|| StreamWriter::new(&write.options, &configuration, &write.partition_by, mode, version));
        let cataloged = matches!(write.target, SinkTarget::Table(_));
        let mut sink =
            TableSink { location: &location, writer: &writer, output_mode: mode, concurrent: false, cataloged, delta };
        self.run_query(at, mode, available_now, &mut sink)
    }
}

/// Analysis errors that Spark raises when a streaming query starts, not when the graph is resolved
/// (`UnsupportedOperationChecker`).
fn fails_at_start(class: &str) -> bool {
    class.starts_with("UNSUPPORTED_STREAMING")
        || class.starts_with("STREAMING_OUTPUT_MODE")
        || class.starts_with("STREAM_FAILED")
}

/// Delta's catalog on Apache Spark extends the session's: what a table of another catalog is, that catalog says.
fn keeps_delta(target: &SinkTarget) -> bool {
    match target {
        SinkTarget::Table(name) => name.catalog.as_deref().is_none_or(|catalog| catalog == "spark_catalog"),
        _ => true,
    }
}

fn widens_types(dataset: &Dataset, pipeline: &Pipeline) -> bool {
    let on = |value: &str| value.eq_ignore_ascii_case("true");
    dataset.property("delta.enableTypeWidening").is_some_and(on)
        || pipeline.configuration.get("pipelines.enableTypeWidening").is_some_and(|value| on(value))
}

/// The text of a view, which readers see through: nothing that runs.
pub fn defines_view(pipeline: &Pipeline, flow: &Flow) -> bool {
    pipeline.dataset(&flow.target).is_some_and(|dataset| dataset.kind == DatasetKind::View)
}

/// Location that a flow writes to, where it is known.
pub fn location(pipeline: &Pipeline, flow: &Flow) -> Option<String> {
    if let FlowKind::StreamJob(_) = flow.kind {
        return catalog::job_location(&flow.kind);
    }
    let dataset = pipeline.dataset(&flow.target);
    dataset.map_or_else(|| Some(catalog::warehouse(&flow.target)), catalog::dataset_location)
}

/// The checkpoint a flow resumes from. On Spark `{storage}/_checkpoints/{catalog}/{schema}/{table}/{flow}`, with letter case; on
/// Lakeflow the pipeline, its table and the flow; for a plain query its `checkpointLocation`.
pub fn identity(pipeline: &Pipeline, flow: &Flow) -> String {
    if let FlowKind::StreamJob(write) = &flow.kind {
        return match &write.checkpoint {
            Some(path) => catalog::normalized(path),
            None => format!("temporary/{}/{}", pipeline.key, flow.name),
        };
    }
    if pipeline.platform == crate::model::Platform::Lakeflow {
        return format!("{}/{}/{}", pipeline.key, flow.target.key(), flow.name.to_lowercase());
    }
    let parts: Vec<&str> = flow.target.parts().collect();
    let storage = pipeline.storage.as_deref().map(catalog::normalized).unwrap_or_else(|| pipeline.key.clone());
    format!("{storage}/_checkpoints/{}/{}", parts.join("/"), flow.name)
}

/// Names of all functions that an update evaluated as uninterpreted ones.
pub fn uninterpreted(report: &UpdateReport) -> BTreeSet<String> {
    report
        .flows
        .iter()
        .filter_map(|flow| match &flow.status {
            FlowStatus::Completed(progress) => Some(&progress.uninterpreted),
            _ => None,
        })
        .flatten()
        .cloned()
        .collect()
}
