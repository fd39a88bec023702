//! Commands that refresh a selection of tables, exactly as they are typed.

use crate::model::shell::word as shell;
use crate::model::{Pipeline, PipelineKind, Platform};
use serde_json::{Value, json};

/// One way to start the refresh of a pipeline's selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub pipeline: String,
    /// `bundle`, `cli`, `rest`, `ui` or `spark-pipelines`.
    pub via: &'static str,
    pub text: String,
}

/// Stands for the id of a pipeline that the repository does not tell.
const PIPELINE_ID: &str = "<pipeline-id>";

/// All ways to refresh these tables in full; none for an empty selection.
pub fn commands(pipeline: &Pipeline, datasets: &[&str]) -> Vec<Command> {
    if datasets.is_empty() {
        return Vec::new();
    }
    let command = |via, text| Command { pipeline: pipeline.key.clone(), via, text };
    match (pipeline.platform, pipeline.kind) {
        (Platform::Spark, PipelineKind::Jobs) => Vec::new(),
        (Platform::Spark, _) => {
            let root = if pipeline.root.is_empty() { "." } else { pipeline.root.as_str() };
            let spec = shell(&format!("{root}/spark-pipeline.yml"));
            let selection = shell(&datasets.join(","));
            vec![command("spark-pipelines", format!("spark-pipelines run --spec {spec} --full-refresh {selection}"))]
        }
        (Platform::Lakeflow, kind) => {
            let known = pipeline.settings.get("id").or_else(|| pipeline.settings.get("pipeline_id"));
            let id = known.map_or(PIPELINE_ID, String::as_str);
            let argument = if id == PIPELINE_ID { id.to_owned() } else { shell(id) };
            let body =
                json!({ "full_refresh_selection": datasets.iter().map(|d| Value::from(*d)).collect::<Vec<_>>() });
            let mut commands = Vec::new();
            if kind == PipelineKind::Bundle {
                let selection = shell(&datasets.join(","));
                // A resource key holds no slash: what stands before one is the bundle's folder.
                let (folder, key) = pipeline.key.rsplit_once('/').unwrap_or(("", &pipeline.key));
                let enter = if folder.is_empty() { String::new() } else { format!("cd {} && ", shell(folder)) };
                // Without it the CLI takes the bundle's default target, which may be another than the one that was judged.
                let target = pipeline.settings.get("bundle.target").map(|target| format!(" -t {}", shell(target)));
                let run = format!("databricks bundle run{} {}", target.unwrap_or_default(), shell(key));
                commands.push(command("bundle", format!("{enter}{run} --full-refresh {selection}")));
            }
            commands.push(command(
                "cli",
                format!("databricks pipelines start-update {argument} --json {}", shell(&body.to_string())),
            ));
            commands.push(command("rest", format!("POST /api/2.0/pipelines/{id}/updates {body}")));
            commands.push(command(
                "ui",
                format!(
                    "open pipeline {}, choose “Select tables for refresh”, mark {}, then “Full refresh selection”",
                    pipeline.name,
                    datasets.join(", ")
                ),
            ));
            commands
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spark_selection_is_one_command() {
        let mut pipeline = Pipeline::new("p/spark-pipeline.yml", PipelineKind::SparkPipeline);
        pipeline.platform = Platform::Spark;
        pipeline.root = "p".to_owned();
        let texts: Vec<String> = commands(&pipeline, &["up", "down"]).into_iter().map(|c| c.text).collect();
        assert_eq!(texts, ["spark-pipelines run --spec p/spark-pipeline.yml --full-refresh up,down"]);
    }

    #[test]
    fn a_lakeflow_selection_is_told_for_cli_rest_and_ui() {
        let mut pipeline = Pipeline::new("orders", PipelineKind::Bundle);
        pipeline.settings.insert("bundle.target".to_owned(), "prod".to_owned());
        let texts: Vec<String> = commands(&pipeline, &["a", "b"]).into_iter().map(|c| c.text).collect();
        assert_eq!(texts.first().map(String::as_str), Some("databricks bundle run -t prod orders --full-refresh a,b"));
        assert_eq!(
            texts.get(1).map(String::as_str),
            Some("databricks pipelines start-update <pipeline-id> --json '{\"full_refresh_selection\":[\"a\",\"b\"]}'")
        );
        assert_eq!(texts.len(), 4);
    }
}
