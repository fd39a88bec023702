//! Which tables must be refreshed in full, in which order, what stands in the way and what is lost.

use super::{Command, Impact, commands};
use crate::analyze::Analysis;
use crate::diff::Diff;
use crate::graph::{Graph, Vertex};
use crate::model::{Dataset, DatasetKind, Effect, FullRefresh, Pipeline, Platform};
use crate::rules::{Assessment, losses};
use std::collections::BTreeSet;

/// Tables of one pipeline to refresh in full, sources before their readers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelineRefresh {
    pub pipeline: String,
    pub datasets: Vec<String>,
}

/// A table that needs a refresh and is protected from one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    pub pipeline: String,
    pub dataset: String,
    pub reason: String,
}

/// What a refresh cannot bring back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lossy {
    pub pipeline: String,
    pub dataset: String,
    pub reason: String,
    pub source: String,
    /// As declared; empty where nobody says.
    pub retention: String,
}

/// The refresh that the claims of the rules ask for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefreshPlan {
    /// Pipelines in dependency order.
    pub full_refresh: Vec<PipelineRefresh>,
    pub blocked: Vec<Blocked>,
    pub lossy: Vec<Lossy>,
    /// In the order of `full_refresh`. Tables that are blocked are left out of them.
    pub commands: Vec<Command>,
}

/// Plans the refresh. Readers whose streams would stop or read everything again are refreshed with their source.
pub fn refresh_plan(
    after: &Analysis,
    diff: &Diff,
    assessment: &Assessment,
    impacts: &[Impact],
    graph: &Graph,
) -> RefreshPlan {
    let mut needed: BTreeSet<(String, String)> = BTreeSet::new();
    for (pair, flow) in diff.flows.iter().zip(&assessment.flows) {
        if flow.full_refresh == FullRefresh::Required && pair.before.is_some() && pair.after.is_some() {
            needed.insert((pair.pipeline.clone(), pair.dataset.to_string()));
        }
    }
    let sources: BTreeSet<String> = needed.iter().map(|(_, dataset)| dataset.clone()).collect();
    let is_refreshed = |name: &str| sources.contains(name);
    for impact in impacts.iter().filter(|impact| impact.kind == "streaming-reader" && is_refreshed(&impact.because_of))
    {
        if matches!(impact.effect, Effect::Refused | Effect::Replayed) {
            needed.insert((impact.pipeline.clone(), impact.dataset.clone()));
        }
    }
    let mut plan = RefreshPlan::default();
    for node in graph.topological() {
        let Some(Vertex::Dataset { pipeline, dataset, name, kind }) = graph.vertex(node) else { continue };
        let owner = after.workspace.pipelines.get(*pipeline);
        let Some((owner, dataset)) = owner.and_then(|owner| Some((owner, owner.datasets.get(*dataset)?))) else {
            continue;
        };
        if *kind == DatasetKind::View || !needed.contains(&(owner.key.clone(), name.to_string())) {
            continue;
        }
        plan.add(owner, dataset);
        for (reason, source, retention) in losses(after, diff, &owner.key, name) {
            plan.lossy.push(Lossy {
                pipeline: owner.key.clone(),
                dataset: name.to_string(),
                reason,
                source,
                retention,
            });
        }
    }
    plan.commands = plan
        .full_refresh
        .iter()
        .filter_map(|refresh| {
            let owner = after.workspace.pipelines.iter().find(|pipeline| pipeline.key == refresh.pipeline)?;
            let blocked = |name: &&String| plan.blocked.iter().any(|b| b.pipeline == owner.key && b.dataset == **name);
            let datasets: Vec<&str> =
                refresh.datasets.iter().filter(|name| !blocked(name)).map(String::as_str).collect();
            Some(commands(owner, &datasets))
        })
        .flatten()
        .collect();
    plan
}

impl RefreshPlan {
    fn add(&mut self, pipeline: &Pipeline, dataset: &Dataset) {
        let name = dataset.name.to_string();
        match self.full_refresh.iter_mut().find(|refresh| refresh.pipeline == pipeline.key) {
            Some(refresh) => refresh.datasets.push(name.clone()),
            None => {
                self.full_refresh
                    .push(PipelineRefresh { pipeline: pipeline.key.clone(), datasets: vec![name.clone()] });
            }
        }
        if dataset.is_protected() {
            let fails = match pipeline.platform {
                Platform::Lakeflow => "a full refresh of it fails",
                Platform::Spark => "a full refresh of it fails, and one of everything passes it over",
            };
            let reason =
                format!("pipelines.reset.allowed is false: {fails}; set it to true, deploy, refresh, set it back");
            self.blocked.push(Blocked { pipeline: pipeline.key.clone(), dataset: name, reason });
        }
    }
}

/// Format of a dataset's files, lower case.
pub fn format(dataset: &Dataset, pipeline: &Pipeline) -> String {
    dataset.format.clone().unwrap_or_else(|| pipeline.table_format.clone()).to_lowercase()
}
