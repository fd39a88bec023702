//! Facts that every change carries, whatever its kind: platform, dataset, flow, and what the flow was like before.

use super::change::{Change, Fact};
use super::{code, dataset, flow};
use crate::analyze::{Analysis, AnalyzedFlow};
use crate::model::{Dataset, Flow, FlowKind, OutputMode, Pipeline, PipelineKind, QualifiedName};

/// Fills in the common facts.
pub fn complete(before: &Analysis, after: &Analysis, changes: &mut [Change]) {
    for change in changes {
        let find_pipeline = |analysis| pipeline(analysis, &change.pipeline);
        let Some((_, pipeline)) = find_pipeline(after).or_else(|| find_pipeline(before)) else { continue };
        let mut facts = vec![
            ("platform", Fact::Text(pipeline.platform.to_string())),
            ("spark_version", Fact::Text(format!("{}.{}", pipeline.spark_version.0, pipeline.spark_version.1))),
            ("pipeline", Fact::Text(pipeline.key.clone())),
            ("pipeline_kind", Fact::Text(pipeline_kind(pipeline.kind).to_owned())),
        ];
        if let Some(name) = &change.dataset {
            facts.extend(dataset_facts(before, after, &change.pipeline, name));
        }
        // The first of two facts of one name stands: what the dataset says of itself is more than its pipeline's default.
        facts.push(("table_format", Fact::Text(pipeline.table_format.to_lowercase())));
        match (&change.dataset, &change.flow) {
            (Some(target), Some(name)) => {
                let named = |analysis| flow_named(analysis, &change.pipeline, target, name);
                // Renamed, it is the only one of its table on the other side.
                let only = |analysis| only_flow(analysis, &change.pipeline, target);
                let old = named(before).or_else(|| only(before));
                let new = named(after).or_else(|| only(after));
                if let Some((_, new)) = new {
                    let before = old.map_or(new, |(_, analyzed)| analyzed);
                    facts.push(("columns_before", Fact::Text(code::columns_before(before, new))));
                }
                if let Some((flow, analyzed)) = named(after).or_else(|| named(before)).or(new).or(old) {
                    facts.extend(code::facts(flow, analyzed, change.text("source")));
                    facts.push(("flow", Fact::Text(flow.name.clone())));
                    facts.push(("flow_kind", Fact::Text(flow::kind(&flow.kind).to_owned())));
                    facts.push(("output_mode", Fact::Text(output_mode(&flow.kind).to_owned())));
                    facts.push(("merges_schema", Fact::Flag(merges_schema(pipeline, flow))));
                }
                facts.extend(old.map(|(_, analyzed)| state_facts(&[analyzed])).unwrap_or_default());
            }
            _ => {
                let concerned: Vec<&AnalyzedFlow> = match &change.dataset {
                    Some(target) => {
                        flows_into(before, &change.pipeline, target).into_iter().map(|(_, flow)| flow).collect()
                    }
                    None => flows(before, &change.pipeline).map(|(_, analyzed)| analyzed).collect(),
                };
                let of_dataset =
                    |analysis| flows_into(analysis, &change.pipeline, change.dataset.as_ref()?).into_iter().next();
                if let (Some((_, old)), Some((_, new))) = (of_dataset(before), of_dataset(after)) {
                    facts.push(("columns_before", Fact::Text(code::columns_before(old, new))));
                }
                if let Some((flow, analyzed)) = of_dataset(after).or_else(|| of_dataset(before)) {
                    facts.extend(code::facts(flow, analyzed, change.text("source")));
                }
                facts.extend(state_facts(&concerned));
            }
        }
        for (name, fact) in facts {
            change.facts.entry(name).or_insert(fact);
        }
    }
}

fn pipeline<'a>(analysis: &'a Analysis, key: &str) -> Option<(usize, &'a Pipeline)> {
    analysis.workspace.pipelines.iter().enumerate().find(|(_, pipeline)| pipeline.key == key)
}

pub fn pipeline_kind(kind: PipelineKind) -> &'static str {
    match kind {
        PipelineKind::Bundle => "bundle",
        PipelineKind::SparkPipeline => "spark-pipeline",
        PipelineKind::Settings => "settings",
        PipelineKind::Folder => "folder",
        PipelineKind::Jobs => "jobs",
    }
}

fn dataset_facts(before: &Analysis, after: &Analysis, key: &str, name: &QualifiedName) -> Vec<(&'static str, Fact)> {
    let find = |analysis| -> Option<(&Dataset, &Pipeline)> {
        let (_, pipeline) = pipeline(analysis, key)?;
        Some((pipeline.dataset(name)?, pipeline))
    };
    let (old, new) = (find(before), find(after));
    let Some((dataset, owner)) = new.or(old) else { return vec![("dataset", Fact::Text(name.to_string()))] };
    let protected = [old, new].into_iter().flatten().any(|(dataset, _)| dataset.is_protected());
    vec![
        ("dataset", Fact::Text(name.to_string())),
        ("dataset_kind", Fact::Text(dataset::kind(dataset.kind).to_owned())),
        ("table_format", Fact::Text(dataset::table_format(dataset, owner))),
        ("protected", Fact::Flag(protected)),
    ]
}

fn flows<'a>(analysis: &'a Analysis, key: &str) -> impl Iterator<Item = (&'a Flow, &'a AnalyzedFlow)> {
    let of_pipeline = pipeline(analysis, key).map(|(index, _)| analysis.flows_of(index));
    of_pipeline.into_iter().flatten().filter_map(|analyzed| Some((defined(analysis, analyzed)?, analyzed)))
}

fn flows_into<'a>(analysis: &'a Analysis, key: &str, target: &QualifiedName) -> Vec<(&'a Flow, &'a AnalyzedFlow)> {
    let of_target = pipeline(analysis, key).map(|(index, _)| analysis.flows_into(index, target));
    of_target.into_iter().flatten().filter_map(|analyzed| Some((defined(analysis, analyzed)?, analyzed))).collect()
}

fn defined<'a>(analysis: &'a Analysis, analyzed: &AnalyzedFlow) -> Option<&'a Flow> {
    analysis.workspace.pipelines.get(analyzed.pipeline)?.flows.get(analyzed.flow)
}

fn flow_named<'a>(
    analysis: &'a Analysis,
    key: &str,
    target: &QualifiedName,
    name: &str,
) -> Option<(&'a Flow, &'a AnalyzedFlow)> {
    flows_into(analysis, key, target).into_iter().find(|(flow, _)| flow.name == name)
}

fn only_flow<'a>(analysis: &'a Analysis, key: &str, target: &QualifiedName) -> Option<(&'a Flow, &'a AnalyzedFlow)> {
    match flows_into(analysis, key, target).as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// A writer outside of pipelines adds columns that its table lacks: by its own option, or else by the session's configuration.
fn merges_schema(pipeline: &Pipeline, flow: &Flow) -> bool {
    let FlowKind::StreamJob(writer) = &flow.kind else { return false };
    let is_true = |value: &String| value.eq_ignore_ascii_case("true");
    let session = || pipeline.configuration.get("spark.databricks.delta.schema.autoMerge.enabled");
    writer.options.get("mergeschema").or_else(session).is_some_and(is_true)
}

fn output_mode(kind: &FlowKind) -> &'static str {
    match kind {
        FlowKind::StreamJob(writer) => match writer.output_mode {
            OutputMode::Append => "append",
            OutputMode::Update => "update",
            OutputMode::Complete => "complete",
        },
        _ => "append",
    }
}

fn state_facts(flows: &[&AnalyzedFlow]) -> Vec<(&'static str, Fact)> {
    let any = |test: fn(&AnalyzedFlow) -> bool| Fact::Flag(flows.iter().any(|flow| test(flow)));
    vec![
        ("stateful", any(|flow| !flow.signature.operators.is_empty())),
        ("watermarked", any(|flow| !flow.signature.watermarks.is_empty())),
        ("aggregated", any(|flow| flow.aspects.aggregates.iter().any(|aggregate| aggregate.streaming))),
    ]
}
