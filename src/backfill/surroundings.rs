//! Who else writes the table, and who reads it as a stream.

use super::Neighbour;
use super::table::Repository;
use crate::lint::{operation_word, same_name, writes_into};
use crate::model::{Pipeline, PipelineKind, Platform, Source};
use std::collections::BTreeSet;

/// Scripts and pipelines that write the table: none of them may run meanwhile.
pub fn writers(repository: &Repository<'_>, table: &str) -> Vec<Neighbour> {
    let mut found = BTreeSet::new();
    for script in repository.scripts {
        let writes = writes_into(&script.job, table);
        if writes.iter().any(|placed| operation_word(&placed.write.operation) != "ddl") {
            found.insert(Neighbour {
                name: script.job.path.clone(),
                what: "writes the table: pause whatever starts it".to_owned(),
                command: None,
            });
        }
    }
    for pipeline in &repository.reading.analysis.workspace.pipelines {
        if !pipeline.flows.iter().any(|flow| same_name(&flow.target.to_string(), table)) {
            continue;
        }
        if pipeline.kind == PipelineKind::Jobs {
            let flows = pipeline.flows.iter().filter(|flow| same_name(&flow.target.to_string(), table));
            found.extend(flows.map(|flow| Neighbour {
                name: flow.name.clone(),
                what: "a streaming query that writes the table: stop it".to_owned(),
                command: None,
            }));
            continue;
        }
        found.insert(Neighbour {
            name: pipeline.key.clone(),
            what: "a pipeline that writes the table: stop its update, and start no other one".to_owned(),
            command: stop(pipeline),
        });
        let tasks = repository.reading.project.jobs.iter();
        let tasks = tasks.filter(|task| task.scheduled && task.pipeline.as_deref() == Some(pipeline.key.as_str()));
        found.extend(tasks.map(|task| Neighbour {
            name: task.job.clone(),
            what: format!("starts pipeline {} by itself: pause its schedule or trigger", pipeline.key),
            command: None,
        }));
    }
    found.into_iter().collect()
}

/// Flows that stream from the table: commits that replace rows end them unless they skip such commits.
pub fn readers(repository: &Repository<'_>, table: &str) -> Vec<Neighbour> {
    let analysis = &repository.reading.analysis;
    let mut found = BTreeSet::new();
    for analyzed in &analysis.flows {
        let flow = analysis.workspace.pipelines.get(analyzed.pipeline).and_then(|p| p.flows.get(analyzed.flow));
        let streams = analyzed.aspects.sources.iter().filter(|source| source.streaming);
        let reads = streams
            .filter(|source| matches!(&source.source, Source::Table(name) if same_name(&name.to_string(), table)));
        for source in reads {
            let skips = ["skipchangecommits", "ignorechanges", "streaming-skip-overwrite-snapshots"];
            let skipped = skips.iter().any(|option| source.options.get(*option).is_some_and(|v| v != "false"));
            let what = if skipped {
                "streams from the table and skips replaced rows: fill its target by a backfill of its own"
            } else {
                "streams from the table and fails at the first commit that replaces or deletes rows"
            };
            found.extend(flow.map(|flow| Neighbour {
                name: flow.target.to_string(),
                what: what.to_owned(),
                command: None,
            }));
        }
    }
    found.into_iter().collect()
}

/// The command that ends a pipeline's update; `spark-pipelines` has none: the process is ended.
fn stop(pipeline: &Pipeline) -> Option<String> {
    let id = pipeline.settings.get("id").or_else(|| pipeline.settings.get("pipeline_id"));
    (pipeline.platform == Platform::Lakeflow)
        .then(|| format!("databricks pipelines stop {}", id.map_or("<pipeline-id>", String::as_str)))
}
