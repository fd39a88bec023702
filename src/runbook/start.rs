//! Where a source starts for a flow without a checkpoint, and the option that says otherwise.

use super::{Snippet, language};
use crate::model::{Dataset, Pipeline, Platform, Read, Source};
use crate::review::Examination;
use crate::rules::CodeLanguage;
use std::collections::BTreeSet;

/// One streaming source of a flow that starts anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceStart {
    pub pipeline: String,
    pub dataset: String,
    pub flow: String,
    pub source: String,
    /// Where it starts as the code stands.
    pub starts: String,
    /// The option that moves the start; none where the source has none.
    pub option: Option<&'static str>,
    pub code: Option<Snippet>,
}

/// Starts of every streaming source of the tables that are refreshed.
pub fn starts(examination: &Examination, refreshed: &[(&Pipeline, &Dataset)]) -> Vec<SourceStart> {
    let after = &examination.after;
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for (owner, dataset) in refreshed {
        for analyzed in &after.flows {
            let Some(pipeline) = after.workspace.pipelines.get(analyzed.pipeline).filter(|p| p.key == owner.key) else {
                continue;
            };
            let Some(flow) = pipeline.flows.get(analyzed.flow).filter(|flow| flow.target == dataset.name) else {
                continue;
            };
            let outside = |read: &&Read| read.streaming && !is_dataset(pipeline, read);
            for read in analyzed.plan.reads().into_iter().filter(outside) {
                let start = start(pipeline, read, language(&flow.place));
                if seen.insert((dataset.name.to_string(), flow.name.clone(), start.source.clone())) {
                    found.push(SourceStart {
                        pipeline: pipeline.key.clone(),
                        dataset: dataset.name.to_string(),
                        flow: flow.name.clone(),
                        ..start
                    });
                }
            }
        }
    }
    found
}

/// Tables of the pipeline itself are filled by the same deployment.
fn is_dataset(pipeline: &Pipeline, read: &Read) -> bool {
    match &read.source {
        Source::Table(name) | Source::ChangeFeed(name) => pipeline.dataset(name).is_some(),
        _ => false,
    }
}

/// A moment that whoever deploys fills in.
const MOMENT: &str = "2026-01-01T00:00:00Z";

/// Where a read starts, and the option that moves it; pipeline, dataset and flow stay empty.
pub(crate) fn start(pipeline: &Pipeline, read: &Read, language: CodeLanguage) -> SourceStart {
    let (source, starts, option, value) = match &read.source {
        Source::Table(name) | Source::ChangeFeed(name) => {
            let set = first(read, &["startingversion", "startingtimestamp"]);
            let starts = match set {
                Some((key, value)) => format!("{key} = {value}"),
                None => "with all rows that the table holds, then its new commits".to_owned(),
            };
            let iceberg = pipeline.table_format.eq_ignore_ascii_case("iceberg");
            let option = if iceberg { "stream-from-timestamp" } else { "startingTimestamp" };
            (name.to_string(), starts, Some(option), if iceberg { "1767225600000" } else { MOMENT })
        }
        Source::Files { path, auto_loader, .. } => {
            let starts =
                if read.option("cloudfiles.includeexistingfiles").is_some_and(|v| v.eq_ignore_ascii_case("false")) {
                    "with files that come from then on (cloudFiles.includeExistingFiles = false)".to_owned()
                } else {
                    match first(read, &["modifiedafter"]) {
                        Some((_, value)) => format!("with files modified after {value}"),
                        None => "with every file that is there".to_owned(),
                    }
                };
            // Spark's own file source refuses modifiedAfter in a stream; Auto Loader and STREAM read_files take it.
            let takes = *auto_loader || pipeline.platform == Platform::Lakeflow;
            (path.clone(), starts, takes.then_some("modifiedAfter"), MOMENT)
        }
        Source::Connector { format } => {
            let topic =
                ["subscribe", "streamname", "topic", "subscriptionid"].iter().find_map(|name| read.option(name));
            let name = topic.map_or_else(|| format.clone(), |topic| format!("{format} {topic}"));
            let (option, default, value) = match format.as_str() {
                "kafka" | "eventhubs" => ("startingOffsets", "latest", "earliest"),
                "kinesis" => ("initialPosition", "latest", "trim_horizon"),
                "pulsar" => ("startingOffsets", "latest", "earliest"),
                _ => ("", "", ""),
            };
            let set = first(read, &[option, "startingtimestamp"]).filter(|_| !option.is_empty());
            let starts = match (set, default) {
                (Some((key, value)), _) => format!("{key} = {value}"),
                (None, "") => "where the connector says".to_owned(),
                (None, default) => {
                    format!("at the {default} offset: a refresh brings back nothing of what is there already")
                }
            };
            (name, starts, (!option.is_empty()).then_some(option), value)
        }
    };
    let code = option.map(|option| Snippet::new(language, code(read, option, value, language)));
    SourceStart { pipeline: String::new(), dataset: String::new(), flow: String::new(), source, starts, option, code }
}

fn first<'a>(read: &'a Read, names: &[&'a str]) -> Option<(&'a str, &'a str)> {
    names.iter().find_map(|name| Some((*name, read.option(name)?)))
}

/// The read with the option, in the flow's language. Options that may hold secrets are left to the reader.
fn code(read: &Read, option: &str, value: &str, language: CodeLanguage) -> String {
    match (language, &read.source) {
        (CodeLanguage::Sql, Source::Table(name) | Source::ChangeFeed(name)) => {
            format!("FROM STREAM({name}) WITH ('{option}' = '{value}')")
        }
        (CodeLanguage::Sql, Source::Files { format, path, .. }) => {
            format!("FROM STREAM read_files({}, format => {}, {option} => '{value}')", sql(path), sql(format))
        }
        (CodeLanguage::Sql, Source::Connector { format }) => {
            let known: Vec<String> = ["bootstrapservers", "kafka.bootstrap.servers", "subscribe", "streamname"]
                .iter()
                .filter_map(|key| Some(format!("{} => {}, ", key.rsplit('.').next()?, sql(read.option(key)?))))
                .collect();
            format!("FROM STREAM read_{format}({}{option} => '{value}')", known.concat())
        }
        (CodeLanguage::Python, Source::Table(name) | Source::ChangeFeed(name)) => {
            format!("spark.readStream.option(\"{option}\", \"{value}\").table({})", python(&name.to_string()))
        }
        (CodeLanguage::Python, Source::Files { path, format, auto_loader }) => {
            let format = if *auto_loader { "cloudFiles" } else { format };
            format!(
                "spark.readStream.format(\"{format}\").option(\"{option}\", \"{value}\").load({})  # with its other options",
                python(path)
            )
        }
        (CodeLanguage::Python, Source::Connector { format }) => {
            format!(
                "spark.readStream.format({}).option(\"{option}\", \"{value}\").load()  # with its other options",
                python(format)
            )
        }
    }
}

fn sql(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

pub(crate) fn python(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
