//! One flow: its query resolved, checked, optimized and described.

use super::aspects;
use super::canonical::Canonical;
use super::catalog::Catalog;
use super::resolve::expression::same_type;
use super::resolve::{self, Schemas};
use super::state::{self, StateFormat};
use super::{AnalysisError, AnalyzedFlow, legality};
use crate::functions::EvalContext;
use crate::model::{
    Attribute, DataType, DatasetKind, Field, Flow, FlowIdentity, FlowKind, Node, OutputMode, Pipeline, Plan, Platform,
    Schema, Signature, SourceSignature,
};
use jiff::tz::TimeZone;

/// First version of Spark that stores every state field as nullable.
const ALWAYS_NULLABLE_SINCE: (u32, u32) = (4, 3);

pub(super) fn analyze(catalog: &Catalog<'_>, schemas: &Schemas, pipeline: usize, index: usize) -> Option<AnalyzedFlow> {
    let home = catalog.workspace.pipelines.get(pipeline)?;
    let flow = home.flows.get(index)?;
    let kind = catalog
        .target(pipeline, &flow.target)
        .and_then(|(p, d)| catalog.workspace.pipelines.get(p)?.datasets.get(d))
        .map(|dataset| dataset.kind);
    let resolved = resolve::resolve(catalog, schemas, pipeline, flow);
    let settings = Settings { pipeline: home, flow };
    let streaming = resolved.plan.is_streaming();
    let mode = output_mode(flow);
    let mut errors = resolved.errors;
    errors.extend(once_error(home, flow).or_else(|| query_type_error(home, flow, kind, &resolved.plan)));
    errors.extend(declared_errors(home, flow, &resolved.output));
    errors.extend(undefined_target(catalog, home, flow));
    let is_view = kind == Some(DatasetKind::View);
    if streaming && !is_view {
        errors.extend(legality::check(&resolved.plan, mode));
    }
    let context = EvalContext { zone: settings.zone(), ansi: settings.ansi(), ..EvalContext::default() };
    let optimized = super::optimize::optimize(resolved.plan.clone(), &context);
    if streaming && !is_view {
        errors.extend(legality::check_optimized(&optimized, settings.allow_multiple()));
    }
    let canonical = Canonical::of(&optimized);
    let format = StateFormat {
        always_nullable: settings.always_nullable(),
        aggregation_version: settings.aggregation_version(),
        output_mode: mode,
    };
    let schema = Schema { fields: resolved.output.iter().map(field).collect(), complete: resolved.complete };
    let (operators, watermarks) = state::operators(&optimized, &canonical, format);
    if streaming && !is_view && settings.avro_state() {
        errors.extend(legality::check_avro(&operators));
    }
    let signature = Signature {
        identity: FlowIdentity {
            pipeline: home.key.clone(),
            target: flow.target.clone(),
            flow: flow.name.clone(),
            checkpoint: checkpoint(home, flow),
        },
        sources: streaming_sources(&optimized),
        operators: if is_view { Vec::new() } else { operators },
        watermarks,
        output: schema.clone(),
    };
    let aspects = aspects::collect(&aspects::Query {
        optimized: &optimized,
        canonical: &canonical,
        output: &resolved.output,
        complete: resolved.complete,
        places: &resolved.places,
    });
    let mut unresolved = resolved.unresolved;
    for gap in &mut unresolved {
        gap.pipeline = Some(home.key.clone());
        gap.dataset = Some(flow.target.clone());
    }
    Some(AnalyzedFlow {
        pipeline,
        flow: index,
        plan: resolved.plan,
        optimized,
        schema,
        cdc: resolved.cdc,
        checks: resolved.checks,
        replacement: resolved.replacement,
        signature,
        aspects,
        streaming,
        unresolved,
        errors,
    })
}

fn field(column: &Attribute) -> Field {
    Field { name: column.name.to_string(), data_type: column.data_type.clone(), nullable: column.nullable }
}

/// Pipelines write streaming tables in append mode.
fn output_mode(flow: &Flow) -> OutputMode {
    match &flow.kind {
        FlowKind::StreamJob(write) => write.output_mode,
        _ => OutputMode::Append,
    }
}

fn checkpoint(pipeline: &Pipeline, flow: &Flow) -> Option<String> {
    match &flow.kind {
        FlowKind::StreamJob(write) => write.checkpoint.clone(),
        _ => pipeline.storage.clone(),
    }
}

/// Apache Spark has no flows that run once: its `append_flow` takes no such argument, its grammar no such word.
/// "Unsupported destination" (Apache Spark's `DataflowGraphTransformer`): a flow into a table that nobody defines, no pipeline of the
/// revision and no code that could not be followed.
fn undefined_target(catalog: &Catalog<'_>, pipeline: &Pipeline, flow: &Flow) -> Option<AnalysisError> {
    let implied = pipeline.dataset(&flow.target).is_some_and(|dataset| dataset.implied && !dataset.template);
    let mut datasets = catalog.workspace.pipelines.iter().flat_map(|pipeline| &pipeline.datasets);
    let elsewhere = datasets.any(|dataset| !dataset.implied && dataset.name.key() == flow.target.key());
    let open = pipeline.datasets.iter().any(|dataset| dataset.template);
    let mut gaps = catalog.workspace.unresolved.iter();
    let unread = gaps.any(|gap| gap.dataset.is_none() && gap.pipeline.as_ref().is_none_or(|key| *key == pipeline.key));
    (implied && !elsewhere && !open && !unread).then(|| AnalysisError {
        class: "IllegalArgumentException".to_owned(),
        message: format!("unsupported destination: no table `{}` is defined for the flow to write into", flow.target),
        place: flow.place.clone(),
    })
}

fn once_error(pipeline: &Pipeline, flow: &Flow) -> Option<AnalysisError> {
    if pipeline.platform != Platform::Spark || !flow.is_once() {
        return None;
    }
    let in_python = flow.place.span().is_some_and(|span| [".py", ".ipynb"].iter().any(|end| span.path.ends_with(end)));
    let (class, message) = if in_python {
        ("TypeError", "append_flow() got an unexpected keyword argument 'once'")
    } else {
        ("PARSE_SYNTAX_ERROR", "Apache Spark has no flows that run once")
    };
    Some(AnalysisError { class: class.to_owned(), message: message.to_owned(), place: flow.place.clone() })
}

/// `INVALID_FLOW_QUERY_TYPE` (Apache Spark's `GraphValidations`): streaming tables take streams, views over tables take tables.
fn query_type_error(pipeline: &Pipeline, flow: &Flow, kind: Option<DatasetKind>, plan: &Plan) -> Option<AnalysisError> {
    let mut has_unknown_leaf = false;
    plan.walk(&mut |p| has_unknown_leaf |= matches!(&p.node, Node::Opaque { inputs, .. } if inputs.is_empty()));
    if pipeline.platform != Platform::Spark || has_unknown_leaf || flow.is_once() {
        return None;
    }
    let streaming = plan.is_streaming();
    let (class, message) = match kind? {
        DatasetKind::StreamingTable if !streaming => (
            "INVALID_FLOW_QUERY_TYPE.BATCH_RELATION_FOR_STREAMING_TABLE",
            "a streaming table needs a query that reads a stream",
        ),
        DatasetKind::MaterializedView if streaming => (
            "INVALID_FLOW_QUERY_TYPE.STREAMING_RELATION_FOR_MATERIALIZED_VIEW",
            "a materialized view cannot read a stream",
        ),
        _ => return None,
    };
    Some(AnalysisError { class: class.to_owned(), message: message.to_owned(), place: flow.place.clone() })
}

/// The declared columns of a table must hold every column of its own query, with exactly its type (`GraphValidations`); those that
/// the query does not give hold NULL.
fn declared_errors(pipeline: &Pipeline, flow: &Flow, output: &[Attribute]) -> Vec<AnalysisError> {
    let dataset = pipeline.dataset(&flow.target).filter(|_| matches!(flow.kind, FlowKind::Default));
    let Some(declared) = dataset.and_then(|d| d.declared.as_ref()).filter(|declared| declared.complete) else {
        return Vec::new();
    };
    let mismatch = |column: &Attribute| match declared.field(&column.name) {
        None => Some(format!("`{}` is given by the query and not declared", column.name)),
        Some(Field { data_type, .. }) => {
            let known = !data_type.is_unknown() && !column.data_type.is_unknown();
            (known && !same_type(data_type, &column.data_type))
                .then(|| format!("`{}` is declared {data_type} and is {}", column.name, column.data_type))
        }
    };
    let error = |message| AnalysisError {
        class: "USER_SPECIFIED_AND_INFERRED_SCHEMA_NOT_COMPATIBLE".to_owned(),
        message,
        place: flow.place.clone(),
    };
    output.iter().filter_map(mismatch).map(error).collect()
}

/// Streaming leaves, left to right: the order in which Spark zips sources with offsets.
fn streaming_sources(plan: &Plan) -> Vec<SourceSignature> {
    plan.reads()
        .into_iter()
        .filter(|read| read.streaming)
        .map(|read| SourceSignature {
            source: read.source.clone(),
            options: read.options.clone(),
            name: read.name.clone(),
            schema: Schema { fields: read.output.iter().map(field).collect(), complete: read.complete },
            place: read.place.clone(),
        })
        .collect()
}

/// Configuration in force for one flow.
struct Settings<'a> {
    pipeline: &'a Pipeline,
    flow: &'a Flow,
}

impl Settings<'_> {
    fn conf(&self, key: &str) -> Option<&str> {
        self.flow.spark_conf.get(key).or_else(|| self.pipeline.configuration.get(key)).map(String::as_str)
    }

    fn zone(&self) -> TimeZone {
        self.conf("spark.sql.session.timeZone").and_then(|name| TimeZone::get(name).ok()).unwrap_or(TimeZone::UTC)
    }

    /// On by default since Spark 4.0.
    fn ansi(&self) -> bool {
        let default = self.pipeline.platform == Platform::Lakeflow || self.pipeline.spark_version >= (4, 0);
        self.conf("spark.sql.ansi.enabled").map_or(default, |value| value.eq_ignore_ascii_case("true"))
    }

    fn always_nullable(&self) -> bool {
        let default =
            self.pipeline.platform == Platform::Lakeflow || self.pipeline.spark_version >= ALWAYS_NULLABLE_SINCE;
        self.conf("spark.sql.streaming.statefulOperator.alwaysNullableOutput.enabled")
            .map_or(default, |value| value.eq_ignore_ascii_case("true"))
    }

    /// On by default since Spark 3.5.
    fn allow_multiple(&self) -> bool {
        let default = self.pipeline.platform == Platform::Lakeflow || self.pipeline.spark_version >= (3, 5);
        self.conf("spark.sql.streaming.statefulOperator.allowMultiple")
            .map_or(default, |value| value.eq_ignore_ascii_case("true"))
    }

    /// State in RocksDB, written as Avro.
    fn avro_state(&self) -> bool {
        let is = |key: &str, end: &str| self.conf(key).is_some_and(|value| value.to_lowercase().ends_with(end));
        is("spark.sql.streaming.stateStore.providerClass", "rocksdbstatestoreprovider")
            && is("spark.sql.streaming.stateStore.encodingFormat", "avro")
    }

    fn aggregation_version(&self) -> u8 {
        match self.conf("spark.sql.streaming.aggregation.stateFormatVersion") {
            Some("1") => 1,
            _ => 2,
        }
    }
}

/// Columns of a dataset from those of its flows: by name, in order of first appearance; types of the first that knows.
pub(super) fn merge_schemas<'s>(schemas: impl Iterator<Item = &'s Schema>) -> Option<Schema> {
    let mut merged: Option<Schema> = None;
    for schema in schemas {
        let Some(known) = &mut merged else {
            merged = Some(schema.clone());
            continue;
        };
        known.complete &= schema.complete;
        for column in &schema.fields {
            match known.fields.iter_mut().find(|f| f.name.eq_ignore_ascii_case(&column.name)) {
                Some(field) => {
                    field.nullable |= column.nullable;
                    if matches!(field.data_type, DataType::Unknown) {
                        field.data_type = column.data_type.clone();
                    }
                }
                None => known.fields.push(Field { nullable: true, ..column.clone() }),
            }
        }
    }
    merged
}
