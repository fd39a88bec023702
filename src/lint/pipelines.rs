//! Pipelines as they are: what would hurt without any change. Gives changes for rules to answer to, out of one analysis.

use super::drift;
use super::source_commits::{Reaction, SourceCommit, source_commits};
use crate::analyze::{Analysis, AnalyzedFlow, SourceAspect, analyze};
use crate::diff::{Change, diff, kinds, unattended_refreshes};
use crate::functions::Volatility;
use crate::model::{
    Dataset, DatasetKind, Flow, Job, Pipeline, PipelineKind, Place, QualifiedName, Source, StatefulOperator, Workspace,
    WriteTarget,
};
use crate::project::JobTask;

const MESSAGE_SOURCES: &[&str] = &["kafka", "kinesis", "pubsub", "pulsar", "eventhubs"];

/// What there is to say of every pipeline. `jobs` are the scripts of the repository, `tasks` what its jobs start.
pub fn changes(analysis: &Analysis, jobs: &[&Job], tasks: &[JobTask]) -> Vec<Change> {
    let nothing = analyze(Workspace::default());
    let mut found: Vec<Change> =
        diff(&nothing, analysis).changes.into_iter().filter(|change| kinds::OF_EITHER.contains(&change.kind)).collect();
    found.extend(unattended_refreshes(&[], tasks));
    found.extend(written_beside(analysis, jobs));
    for analyzed in &analysis.flows {
        let Some(pipeline) = analysis.workspace.pipelines.get(analyzed.pipeline) else { continue };
        let Some(flow) = pipeline.flows.get(analyzed.flow) else { continue };
        let dataset = pipeline.dataset(&flow.target);
        let look = Look { analysis, pipeline, flow, dataset, analyzed };
        found.extend(look.state());
        found.extend(look.sources(jobs));
        found.extend(look.once());
        found.extend(look.function());
    }
    found
}

/// Tables of pipelines that scripts append to or replace. Deletes and merges are told where a stream reads the table.
fn written_beside(analysis: &Analysis, jobs: &[&Job]) -> Vec<Change> {
    let mut found = Vec::new();
    let owners = analysis.workspace.pipelines.iter().filter(|pipeline| pipeline.kind != PipelineKind::Jobs);
    for (pipeline, dataset) in owners.flat_map(|pipeline| pipeline.datasets.iter().map(move |d| (pipeline, d))) {
        let table = matches!(dataset.kind, DatasetKind::StreamingTable | DatasetKind::MaterializedView);
        // A name without a schema may mean one table here and another there.
        if !table || dataset.private || dataset.template || dataset.name.schema.is_none() {
            continue;
        }
        for job in jobs {
            let writes = super::script::writes(job);
            let own = writes.iter().find(|placed| {
                let same = matches!(&placed.write.target, WriteTarget::Table(name) if is_same(name, &dataset.name));
                let word = super::script::operation_word(&placed.write.operation);
                same && matches!(word, "append" | "overwrite" | "overwrite-partitions" | "overwrite-where" | "create")
            });
            if let Some(placed) = own {
                let mut change = Change::new("table-written-beside", &pipeline.key)
                    .fact("platform", pipeline.platform.as_str())
                    .fact("dataset", dataset.name.to_string())
                    .fact("producer", job.path.as_str())
                    .fact("operation", super::script::operation_word(&placed.write.operation))
                    .places(&Place::unknown(), &placed.write.place);
                change.dataset = Some(dataset.name.clone());
                found.push(change);
            }
        }
    }
    found
}

/// The same table: all parts that both names have are equal, the schema among them.
pub(super) fn is_same(name: &QualifiedName, other: &QualifiedName) -> bool {
    let fold = |part: &Option<String>| part.as_ref().map(|part| part.to_lowercase());
    let catalogs = (fold(&name.catalog), fold(&other.catalog));
    name.schema.is_some()
        && fold(&name.schema) == fold(&other.schema)
        && name.name.eq_ignore_ascii_case(&other.name)
        && (catalogs.0.is_none() || catalogs.1.is_none() || catalogs.0 == catalogs.1)
}

/// Its state grows with the keys it sees. A total over all rows is one row for ever.
fn grows(operator: &StatefulOperator) -> bool {
    const BOUNDED: [&str; 4] =
        ["globalLimit", "applyInPandasWithState", "transformWithStateInPandasExec", "dedupeWithinWatermark"];
    let keyless = operator.stores.iter().all(|store| store.key.fields.is_empty());
    !BOUNDED.contains(&operator.name.as_ref()) && (operator.stores.is_empty() || !keyless)
}

struct Look<'a> {
    analysis: &'a Analysis,
    pipeline: &'a Pipeline,
    flow: &'a Flow,
    dataset: Option<&'a Dataset>,
    analyzed: &'a AnalyzedFlow,
}

impl Look<'_> {
    fn change(&self, kind: &'static str, place: &Place) -> Change {
        let place = place.or(&self.flow.place);
        let mut change = Change::new(kind, &self.pipeline.key)
            .fact("platform", self.pipeline.platform.as_str())
            .fact("dataset", self.flow.target.to_string())
            .fact("flow", self.flow.name.as_str())
            .places(&Place::unknown(), &place);
        change.dataset = Some(self.flow.target.clone());
        change.flow = Some(self.flow.name.clone());
        change
    }

    /// Deduplication and aggregation of a stream without a watermark in front of them.
    fn state(&self) -> Vec<Change> {
        if !self.analyzed.streaming {
            return Vec::new();
        }
        let signature = &self.analyzed.signature;
        let heard =
            |operator: &StatefulOperator| signature.watermarks.iter().any(|w| w.operators.contains(&operator.id));
        let operators = signature.operators.iter().filter(|operator| grows(operator) && !heard(operator));
        let mut seen: Vec<&str> = Vec::new();
        let mut found = Vec::new();
        for operator in operators {
            if !seen.contains(&operator.name.as_ref()) {
                seen.push(operator.name.as_ref());
                found.push(self.change("state-unbounded", &operator.place).fact("operator", operator.name.as_ref()));
            }
        }
        found
    }

    fn streams(&self) -> impl Iterator<Item = &SourceAspect> {
        self.analyzed.aspects.sources.iter().filter(|source| source.streaming)
    }

    fn sources(&self, jobs: &[&Job]) -> Vec<Change> {
        let mut found = Vec::new();
        let protected = self.dataset.is_some_and(Dataset::is_protected);
        let is_table = self.dataset.is_some_and(|dataset| dataset.kind == DatasetKind::StreamingTable);
        for source in self.streams() {
            let text = source.text.as_str();
            let format = match &source.source {
                Source::Connector { format } => Some(format.as_str()),
                _ => None,
            };
            let messages = format.is_some_and(|format| MESSAGE_SOURCES.contains(&format));
            let stateful = self.analyzed.signature.operators.first();
            let reads_fields = self.analyzed.aspects.outputs.iter().any(|column| column.term.calls("from_json"));
            if messages && is_table && (stateful.is_some() || reads_fields) {
                let operator = stateful.map(|operator| operator.name.to_string()).unwrap_or_default();
                let change = self.change("message-source-typed", &source.place).fact("source", text);
                found.push(change.fact("operator", operator));
            }
            if let (Some(retention), true, false) = (self.retention(source), is_table, protected) {
                let change = self.change("short-retention-unprotected", &source.place).fact("source", text);
                found.push(change.fact("retention", retention));
            }
            let skips = ["skipchangecommits", "ignorechanges", "ignoredeletes", "streaming-skip-overwrite-snapshots"];
            let skipped = skips.iter().any(|option| source.options.get(*option).is_some_and(|v| v != "false"));
            if let (Some(producer), false) = (self.producer(source, jobs), skipped) {
                let change = self.change("change-commits-read", &source.place).fact("source", text);
                found.push(change.fact("producer", producer));
            }
            if let Some(value) = source.options.get("failondataloss").filter(|v| v.eq_ignore_ascii_case("false")) {
                let change = self.change("data-loss-guard-off", &source.place).fact("source", text);
                found.push(change.fact("option", "failOnDataLoss").fact("after", value.as_str()));
            }
        }
        // Placeholders stand for values that are not known: two of them may be one, or exclude each other.
        let told = self.streams().map(|source| source.text.clone()).filter(|text| !text.contains('{'));
        let mut texts: Vec<String> = told.collect();
        texts.sort();
        texts.dedup();
        if texts.len() > 1 && self.analyzed.aspects.joins.iter().all(|join| !join.stream_stream) {
            let change = self.change("sources-united", &self.flow.place);
            found.push(change.fact("source", texts.join(", ")));
        }
        found
    }

    /// How far back the source can be read again, where the configuration says.
    fn retention(&self, source: &SourceAspect) -> Option<String> {
        let facts = self.pipeline.sources.iter().find(|facts| match &source.source {
            Source::Table(name) | Source::ChangeFeed(name) => {
                let known = QualifiedName::parse(&facts.name);
                known.qualified(self.pipeline.catalog.as_deref(), self.pipeline.schema.as_deref()) == *name
                    || known == *name
            }
            Source::Files { path, .. } => facts.name.trim_end_matches('/') == path.trim_end_matches('/'),
            Source::Connector { .. } => {
                source.options.get("subscribe").is_some_and(|topics| topics.split(',').any(|t| t.trim() == facts.name))
            }
        });
        facts.and_then(|facts| facts.retention.clone())
    }

    /// What updates or deletes rows of the table that a stream reads.
    fn producer(&self, source: &SourceAspect, jobs: &[&Job]) -> Option<String> {
        let Source::Table(name) = &source.source else { return None };
        // A name without a schema is that of the pipeline's own table, whatever other pipelines call theirs.
        let pipelines = self.analysis.workspace.pipelines.iter();
        for pipeline in pipelines.filter(|pipeline| name.schema.is_some() || pipeline.key == self.pipeline.key) {
            let Some(dataset) = pipeline.dataset(name) else { continue };
            if dataset.kind == DatasetKind::MaterializedView && pipeline.kind != PipelineKind::Jobs {
                return Some("a materialized view's refresh".to_owned());
            }
            let cdc = pipeline.flows_into(&dataset.name).any(|flow| flow.cdc().is_some());
            if cdc {
                return Some("AUTO CDC".to_owned());
            }
        }
        let stops = |commit: &SourceCommit<'_>| {
            let same = std::ptr::eq(commit.flow, self.flow) && commit.source.text == source.text;
            same && matches!(commit.reaction, Reaction::Stops(_))
        };
        source_commits(self.analysis, jobs).iter().find(|commit| stops(commit)).map(|commit| commit.script.to_owned())
    }

    fn once(&self) -> Option<Change> {
        let others = self.pipeline.flows.iter().any(|flow| flow.target == self.flow.target && !flow.is_once());
        (self.flow.is_once() && others && !self.dataset.is_some_and(Dataset::is_protected)).then(|| {
            let sources: Vec<String> = self.analyzed.aspects.sources.iter().map(|s| s.text.clone()).collect();
            self.change("once-flow-repeats", &self.flow.place).fact("source", sources.join(", "))
        })
    }

    fn function(&self) -> Option<Change> {
        // A materialized view is computed anew anyway; a stream's rows are kept.
        let (volatility, function) = drift::function_in(&self.flow.plan).filter(|_| self.analyzed.streaming)?;
        // The time of arrival is what it says.
        (volatility > Volatility::Clock)
            .then(|| self.change("nondeterministic-function", &self.flow.place).fact("function", function))
    }
}
