//! The runbook of a deployment: what to do before it, during it and after it.
//!
//! Takes an [`Examination`]; gives a [`Runbook`], complete enough to be printed. Where nothing has to be done it is empty.

mod alternative;
mod start;

pub use alternative::Alternative;
pub use start::SourceStart;
pub(crate) use start::{python, start};

use crate::analyze::Analysis;
use crate::diff::FlowStatus;
use crate::impact::{Blocked, Command, Lossy, PipelineRefresh, commands};
use crate::model::{Dataset, DatasetKind, Effect, FullRefresh, Pipeline, Place, Platform};
use crate::review::Examination;
use crate::rules::CodeLanguage;
use std::collections::{BTreeMap, BTreeSet};

/// Code in a language that a code block can be marked with: `sql`, `python`, `yaml`, `sh`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    pub language: &'static str,
    pub code: String,
}

impl Snippet {
    pub(crate) fn new(language: CodeLanguage, code: impl Into<String>) -> Self {
        let language = match language {
            CodeLanguage::Sql => "sql",
            CodeLanguage::Python => "python",
        };
        Snippet { language, code: code.into() }
    }
}

/// A table that something happens to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AffectedTable {
    pub pipeline: String,
    pub dataset: String,
    pub flow: String,
    pub effect: Effect,
    pub full_refresh: FullRefresh,
    /// Messages of the findings.
    pub because: Vec<String>,
}

/// Who reads a table that changes, and what he sees.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Consumer {
    pub dataset: String,
    pub because_of: String,
    pub hint: String,
}

/// A table whose protection stands in the way of its refresh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protection {
    pub pipeline: String,
    pub dataset: String,
    pub lift: Snippet,
    pub restore: Snippet,
}

/// A once flow that a refresh of its table runs again, or that comes with the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnceFlow {
    pub pipeline: String,
    pub dataset: String,
    pub flow: String,
    pub refreshed: bool,
}

/// Queries about one table: what to note before the deployment and to compare after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    pub dataset: String,
    pub queries: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Runbook {
    pub before: String,
    pub after: String,
    pub affected: Vec<AffectedTable>,
    pub consumers: Vec<Consumer>,
    pub protected: Vec<Protection>,
    pub blocked: Vec<Blocked>,
    pub lossy: Vec<Lossy>,
    /// Statements that copy tables aside which a refresh cannot bring back whole.
    pub copies: Vec<String>,
    /// The same for tables that the deployment deletes.
    pub deleted: Vec<String>,
    /// Pipelines in dependency order, and each one's tables.
    pub selection: Vec<PipelineRefresh>,
    pub commands: Vec<Command>,
    pub starts: Vec<SourceStart>,
    pub once: Vec<OnceFlow>,
    pub alternatives: Vec<Alternative>,
    /// Refreshes that the platform starts by itself.
    pub automatic: Vec<String>,
    pub verifications: Vec<Verification>,
}

impl Runbook {
    /// Deploying is all there is to do.
    pub fn is_empty(&self) -> bool {
        self.affected.is_empty() && self.selection.is_empty() && self.automatic.is_empty()
    }
}

impl Runbook {
    /// Tables whose update fails whatever is refreshed.
    pub fn stuck(&self) -> impl Iterator<Item = &AffectedTable> {
        self.affected.iter().filter(|table| {
            table.effect == Effect::Invalid
                || table.effect == Effect::Refused && table.full_refresh == FullRefresh::Useless
        })
    }
}

/// Writes the runbook of a change.
pub fn runbook(examination: &Examination) -> Runbook {
    let report = &examination.report;
    let mut book = Runbook {
        before: report.before.label.clone(),
        after: report.after.label.clone(),
        affected: affected(examination),
        automatic: automatic(&examination.after),
        selection: report.plan.full_refresh.clone(),
        ..Runbook::default()
    };
    if book.affected.is_empty() && book.selection.is_empty() {
        return book;
    }
    book.blocked.clone_from(&report.plan.blocked);
    book.lossy.clone_from(&report.plan.lossy);
    book.consumers = consumers(examination);
    book.commands = refresh_commands(examination);
    book.alternatives = alternative::alternatives(examination);
    for (pipeline, dataset) in refreshed(examination) {
        if dataset.is_protected() {
            book.protected.push(protection(pipeline, dataset));
        }
        if report.plan.lossy.iter().any(|lossy| lossy.dataset == dataset.name.to_string()) {
            book.copies.push(copy(dataset));
        }
    }
    book.deleted = deleted(examination, &book.affected);
    book.starts = start::starts(examination, &refreshed(examination));
    book.once = once_flows(examination);
    book.verifications = verifications(examination, &book);
    book
}

fn affected(examination: &Examination) -> Vec<AffectedTable> {
    let report = &examination.report;
    let verdicts = report.flows.iter().filter(|flow| {
        !matches!(flow.effect, Effect::None | Effect::Ignored)
            || matches!(flow.full_refresh, FullRefresh::Required | FullRefresh::Recommended)
    });
    verdicts
        .map(|flow| AffectedTable {
            pipeline: flow.pipeline.clone(),
            dataset: flow.dataset.to_string(),
            flow: flow.flow.clone(),
            effect: flow.effect,
            full_refresh: flow.full_refresh,
            because: flow
                .findings
                .iter()
                .filter_map(|index| report.findings.get(*index))
                .filter(|finding| finding.effect != Effect::None)
                .map(|finding| finding.message.clone())
                .collect(),
        })
        .collect()
}

fn consumers(examination: &Examination) -> Vec<Consumer> {
    let consumer = |impact: &crate::impact::Impact| Consumer {
        dataset: impact.dataset.clone(),
        because_of: impact.because_of.clone(),
        hint: impact.hint.clone(),
    };
    let all: BTreeSet<Consumer> = examination.report.impacts.iter().map(consumer).collect();
    all.into_iter().collect()
}

/// Tables of the selection, in its order.
fn refreshed(examination: &Examination) -> Vec<(&Pipeline, &Dataset)> {
    let pipelines = &examination.after.workspace.pipelines;
    let selection = examination.report.plan.full_refresh.iter().flat_map(|refresh| {
        let owner = pipelines.iter().find(|pipeline| pipeline.key == refresh.pipeline);
        refresh.datasets.iter().filter_map(move |name| {
            let owner = owner?;
            Some((owner, owner.datasets.iter().find(|dataset| dataset.name.to_string() == *name)?))
        })
    });
    selection.collect()
}

/// Commands for the whole selection: what is protected has been made free for it.
fn refresh_commands(examination: &Examination) -> Vec<Command> {
    let pipelines = &examination.after.workspace.pipelines;
    let of = |refresh: &PipelineRefresh| {
        let owner = pipelines.iter().find(|pipeline| pipeline.key == refresh.pipeline)?;
        Some(commands(owner, &refresh.datasets.iter().map(String::as_str).collect::<Vec<_>>()))
    };
    examination.report.plan.full_refresh.iter().filter_map(of).flatten().collect()
}

/// The language that a place is written in.
pub(crate) fn language(place: &Place) -> CodeLanguage {
    let path = place.span().map(|span| span.path.as_ref()).unwrap_or_default();
    if path.ends_with(".py") || path.ends_with(".ipynb") { CodeLanguage::Python } else { CodeLanguage::Sql }
}

fn protection(pipeline: &Pipeline, dataset: &Dataset) -> Protection {
    let language = language(&dataset.place);
    let set = |value: &str| match language {
        CodeLanguage::Sql => format!("TBLPROPERTIES ('pipelines.reset.allowed' = '{value}')"),
        CodeLanguage::Python => format!("table_properties={{\"pipelines.reset.allowed\": \"{value}\"}}"),
    };
    Protection {
        pipeline: pipeline.key.clone(),
        dataset: dataset.name.to_string(),
        lift: Snippet::new(language, set("true")),
        restore: Snippet::new(language, set("false")),
    }
}

/// By a query, which every format and platform takes: a streaming table cannot be cloned without its history.
fn copy(dataset: &Dataset) -> String {
    let name: Vec<String> = dataset.name.parts().map(str::to_owned).collect();
    let mut copy = name.clone();
    if let Some(last) = copy.last_mut() {
        last.push_str("_before_refresh");
    }
    format!("CREATE TABLE {} AS SELECT * FROM {};", sql_name(&copy), sql_name(&name))
}

/// A table's name as a statement needs it: parts that are no plain identifier are quoted.
fn sql_name(parts: &[String]) -> String {
    let plain = |part: &str| {
        part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !part.starts_with(|c: char| c.is_ascii_digit())
    };
    let quoted = |part: &String| if plain(part) { part.clone() } else { format!("`{}`", part.replace('`', "``")) };
    parts.iter().map(quoted).collect::<Vec<_>>().join(".")
}

/// Copies of tables that the deployment deletes, as they were defined before.
fn deleted(examination: &Examination, affected: &[AffectedTable]) -> Vec<String> {
    let dropped: BTreeSet<&str> =
        affected.iter().filter(|table| table.effect == Effect::Dropped).map(|table| table.dataset.as_str()).collect();
    let tables = examination.before.workspace.pipelines.iter().flat_map(|pipeline| &pipeline.datasets);
    let deleted = tables.filter(|dataset| dropped.contains(dataset.name.to_string().as_str()));
    deleted.map(copy).collect()
}

fn once_flows(examination: &Examination) -> Vec<OnceFlow> {
    let refreshed: BTreeSet<String> =
        refreshed(examination).into_iter().map(|(_, dataset)| dataset.name.to_string()).collect();
    let mut found = Vec::new();
    for pair in examination.difference.flows.iter().filter(|pair| pair.status != FlowStatus::Removed) {
        let reference = pair.after.and_then(|flow| {
            let pipeline = examination.after.workspace.pipelines.get(flow.pipeline)?;
            Some((pipeline, pipeline.flows.get(flow.flow)?))
        });
        let Some((pipeline, flow)) = reference.filter(|(_, flow)| flow.is_once()) else { continue };
        let dataset = pair.dataset.to_string();
        let again = refreshed.contains(&dataset);
        if again || pair.status == FlowStatus::Added {
            found.push(OnceFlow { pipeline: pipeline.key.clone(), dataset, flow: flow.name.clone(), refreshed: again });
        }
    }
    found
}

/// Policies of managed ingestion that refresh a table in full when its source's schema changes.
fn automatic(after: &Analysis) -> Vec<String> {
    let mut found = Vec::new();
    for pipeline in &after.workspace.pipelines {
        for (key, value) in &pipeline.settings {
            if key.ends_with("auto_full_refresh_policy.enabled") && value.eq_ignore_ascii_case("true") {
                found.push(format!("pipeline {}: `{key}` is on", pipeline.key));
            }
        }
    }
    found
}

/// What to count before and after: all rows, and rows that stand twice where the query promises that none does.
fn verifications(examination: &Examination, book: &Runbook) -> Vec<Verification> {
    let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let selected = book.selection.iter().flat_map(|refresh| refresh.datasets.iter().cloned());
    for name in book.affected.iter().map(|table| table.dataset.clone()).chain(selected) {
        names.entry(name).or_default();
    }
    let mut verifications = Vec::new();
    for (name, mut queries) in names {
        let found = examination.after.workspace.pipelines.iter().find_map(|pipeline| {
            Some((pipeline, pipeline.datasets.iter().find(|dataset| dataset.name.to_string() == name)?))
        });
        let Some((pipeline, dataset)) = found else { continue };
        if matches!(dataset.kind, DatasetKind::Sink | DatasetKind::View) {
            continue;
        }
        queries.push(format!("SELECT count(*) AS row_count FROM {name};"));
        if let Some(keys) = unique_keys(examination, dataset) {
            let keys = keys.join(", ");
            queries.push(format!("SELECT {keys}, count(*) AS copies FROM {name} GROUP BY {keys} HAVING count(*) > 1;"));
        } else if dataset.kind == DatasetKind::StreamingTable {
            queries.push(format!(
                "SELECT (SELECT count(*) FROM {name}) - (SELECT count(*) FROM (SELECT DISTINCT * FROM {name})) AS repeated_rows;"
            ));
        }
        if pipeline.platform == Platform::Lakeflow {
            queries.push(format!("DESCRIBE HISTORY {name} LIMIT 5;"));
        }
        verifications.push(Verification { dataset: name, queries });
    }
    verifications
}

/// Columns by which no two rows of the table are equal, where its only flow deduplicates on plain columns or AUTO CDC keeps one
/// row a key.
fn unique_keys(examination: &Examination, dataset: &Dataset) -> Option<Vec<String>> {
    let after = &examination.after;
    let mut flows = after.flows.iter().filter(|analyzed| {
        let flow = after.workspace.pipelines.get(analyzed.pipeline).and_then(|p| p.flows.get(analyzed.flow));
        flow.is_some_and(|flow| flow.target == dataset.name)
    });
    let only = flows.next().filter(|_| flows.next().is_none())?;
    let deduplicate = only.aspects.deduplicates.first()?;
    let columns = only.schema.fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>();
    let keys: Option<Vec<String>> = deduplicate
        .keys
        .iter()
        .map(|key| {
            let (_, name) = key.term.column()?;
            columns.iter().find(|column| column.eq_ignore_ascii_case(name)).map(|column| (*column).to_owned())
        })
        .collect();
    keys.filter(|keys| !keys.is_empty())
}
