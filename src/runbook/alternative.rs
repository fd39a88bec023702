//! What to do in place of a full refresh, with code in the language and the names of the flow.

use super::start::{python, stream_of};
use super::{Snippet, language};
use crate::diff::Change;
use crate::model::{FullRefresh, Severity};
use crate::review::Examination;
use crate::rules::{CodeLanguage, Finding, RenderedRemedy};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alternative {
    pub rule: String,
    pub dataset: String,
    pub title: String,
    pub text: String,
    pub code: Option<Snippet>,
}

/// Remedies that are no way out of the refresh, but ways through it: the plan itself tells them.
const THE_PLAN_ITSELF: &[&str] = &["full-refresh", "full-refresh-of-pipeline", "lift-protection", "retention-check"];

/// Alternatives of every finding that asks for something.
pub fn alternatives(examination: &Examination) -> Vec<Alternative> {
    let asks = |finding: &&Finding| {
        finding.allowed.is_none()
            && finding.severity > Severity::Note
            && matches!(finding.full_refresh, FullRefresh::Required | FullRefresh::Recommended)
    };
    let mut alternatives = Vec::new();
    for finding in examination.report.findings.iter().filter(asks) {
        let change = finding.change.and_then(|index| examination.difference.changes.get(index));
        let written = change.and_then(|change| written_for(examination, finding, change));
        let replaced = written.as_ref().map(|(id, _)| *id);
        alternatives.extend(written.map(|(_, alternative)| alternative));
        let further = finding.remedies.iter().filter(|remedy| {
            let id = remedy.id.as_deref().unwrap_or_default();
            !THE_PLAN_ITSELF.contains(&id) && replaced != Some(id)
        });
        alternatives.extend(further.map(|remedy| as_written(finding, remedy)));
    }
    alternatives
}

fn as_written(finding: &Finding, remedy: &RenderedRemedy) -> Alternative {
    Alternative {
        rule: finding.rule.clone(),
        dataset: name(finding),
        title: remedy.title.clone(),
        text: remedy.text.clone(),
        code: remedy.code.clone().map(|(language, code)| Snippet { language, code }),
    }
}

fn name(finding: &Finding) -> String {
    finding.dataset.as_ref().map(ToString::to_string).unwrap_or_default()
}

/// Code made for this very change, with the id of the remedy that it stands for.
fn written_for(examination: &Examination, finding: &Finding, change: &Change) -> Option<(&'static str, Alternative)> {
    let dataset = finding.dataset.as_ref()?;
    let language = language(&finding.after.or(&finding.before));
    let flow = finding.flow.clone().unwrap_or_else(|| dataset.name.clone());
    let alternative = |title: &str, text: &str, code: String| Alternative {
        rule: finding.rule.clone(),
        dataset: dataset.to_string(),
        title: title.to_owned(),
        text: text.to_owned(),
        code: Some(Snippet::new(language, code)),
    };
    match change.kind {
        "source-added" | "source-replaced" => {
            let source = change.text("source")?;
            let code = append_flow(&dataset.to_string(), &flow, source, &columns(examination, finding), language);
            Some((
                "append-flow",
                alternative(
                    "A flow of its own for the new source",
                    "Take the new source out of the query again and read it by a flow beside it: a checkpoint of its own, so that \
                     the old one goes on.",
                    code,
                ),
            ))
        }
        "column-renamed" => {
            let (old, new) = (change.text("before")?, change.text("after")?);
            Some((
                "new-column-and-view",
                alternative(
                    "Keep the old column, add the new one, unite them in a view",
                    "Let the query give the column under both names; readers use the view.",
                    uniting_view(&dataset.to_string(), new, &format!("coalesce({new}, {old})"), language),
                ),
            ))
        }
        "column-retyped" => {
            let (column, to) = (change.text("column")?, change.text("type_after")?);
            let kind: String = to.chars().take_while(char::is_ascii_alphanumeric).collect();
            let added = format!("{column}_{kind}");
            let value = format!("coalesce({added}, try_cast({column} AS {to}))");
            Some((
                "new-column-and-view",
                alternative(
                    &format!("Keep `{column}` as it is, write the new form as `{added}`"),
                    "Nothing is refused, and old rows keep their values; readers use the view.",
                    uniting_view(&dataset.to_string(), &format!("{column}_now"), &value, language),
                ),
            ))
        }
        _ => None,
    }
}

/// Columns that the table has had, in its order.
fn columns(examination: &Examination, finding: &Finding) -> Vec<String> {
    let before = &examination.before;
    let analyzed = before.flows.iter().find(|analyzed| {
        let pipeline = before.workspace.pipelines.get(analyzed.pipeline);
        let flow = pipeline.and_then(|pipeline| pipeline.flows.get(analyzed.flow));
        flow.is_some_and(|flow| Some(&flow.target) == finding.dataset.as_ref())
    });
    let fields = analyzed.filter(|flow| flow.schema.complete).map(|flow| &flow.schema.fields);
    fields.into_iter().flatten().map(|field| field.name.clone()).collect()
}

/// A part of a name made of what a source is called by.
pub(crate) fn suffix_of(source: &str) -> String {
    let last = source.trim_end_matches('/').rsplit(['.', '/']).next().unwrap_or(source);
    last.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect()
}

fn append_flow(dataset: &str, flow: &str, source: &str, columns: &[String], language: CodeLanguage) -> String {
    let name = format!("{flow}_from_{}", suffix_of(source));
    let read = stream_of(source, language);
    match language {
        CodeLanguage::Sql => {
            let columns = if columns.is_empty() { "*".to_owned() } else { columns.join(", ") };
            format!("CREATE FLOW {name} AS\nINSERT INTO {dataset} BY NAME\nSELECT {columns} FROM {read};")
        }
        CodeLanguage::Python => {
            let columns: Vec<String> = columns.iter().map(|column| python(column)).collect();
            let select = if columns.is_empty() { String::new() } else { format!(".select({})", columns.join(", ")) };
            let target = python(dataset);
            format!("@dp.append_flow(target={target}, name=\"{name}\")\ndef {name}():\n    return {read}{select}")
        }
    }
}

fn uniting_view(dataset: &str, column: &str, value: &str, language: CodeLanguage) -> String {
    let short = dataset.rsplit('.').next().unwrap_or(dataset);
    match language {
        CodeLanguage::Sql => {
            format!("CREATE VIEW {dataset}_current AS\nSELECT *, {value} AS {column}_united FROM {dataset};")
        }
        CodeLanguage::Python => format!(
            "@dp.temporary_view(name=\"{short}_current\")\ndef {short}_current():\n    return spark.read.table({}).selectExpr(\"*\", \"{value} AS {column}_united\")",
            python(dataset)
        ),
    }
}
