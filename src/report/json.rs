//! JSON, schema version 1 (`schema/report-1.json`).

use crate::confirm::{FlowConfirmation, Witness, WitnessRow};
use crate::diff::FlowStatus;
use crate::impact::{Impact, RefreshPlan};
use crate::model::{Diagnostic, DiagnosticLevel, Effect, Severity, Span, Unresolved};
use crate::rules::Finding;
use crate::verdict::column_list;
use crate::verdict::{Confirmation, Contradiction, EngineName, Equality, FlowVerdict, Remark, Report, SparkRun};
use serde_json::{Map, Value, json};

pub fn render(report: &Report) -> String {
    let mut text = format!("{:#}", value(report));
    text.push('\n');
    text
}

fn value(report: &Report) -> Value {
    let mut value = json!({
        "schema_version": 1,
        "tool": tool(),
        "before": { "label": report.before.label },
        "after": { "label": report.after.label },
        "platform": report.platform.as_str(),
        "summary": summary(report),
        "flows": report.flows.iter().map(flow).collect::<Vec<_>>(),
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
        "script_findings": report.scripts.iter().map(finding).collect::<Vec<_>>(),
        "impact": report.impacts.iter().map(impact).collect::<Vec<_>>(),
        "refresh_plan": refresh_plan(&report.plan),
        "unresolved": report.unresolved.iter().map(unresolved).collect::<Vec<_>>(),
        "diagnostics": report.diagnostics.iter().map(diagnostic).collect::<Vec<_>>(),
    });
    if let (false, Value::Object(members)) = (report.checkpoints.is_empty(), &mut value) {
        let checkpoints = report.checkpoints.iter().map(super::checkpoint::verdict).collect::<Vec<_>>();
        members.insert("checkpoints".to_owned(), checkpoints.into());
    }
    if let (Some(run), Value::Object(members)) = (&report.spark, &mut value) {
        members.insert("spark".to_owned(), spark(report, run));
    }
    value
}

/// The run of Apache Spark that confirmations are of.
fn spark(report: &Report, run: &SparkRun) -> Value {
    let substitutions: Vec<Value> = run.substitutions.iter().map(|s| json!({ "what": s.what, "by": s.by })).collect();
    json!({ "version": run.version, "substitutions": substitutions, "disagreements": report.disagreements() })
}

fn summary(report: &Report) -> Value {
    let status = |status: FlowStatus| report.flows.iter().filter(|flow| flow.status == status).count();
    let effects: Map<String, Value> = Effect::ALL
        .iter()
        .map(|effect| (*effect, report.flows.iter().filter(|flow| flow.effect == *effect).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(effect, count)| (effect.to_string(), count.into()))
        .collect();
    json!({
        "pipelines": report.pipelines,
        "flows": {
            "added": status(FlowStatus::Added),
            "removed": status(FlowStatus::Removed),
            "changed": status(FlowStatus::Changed),
            "unchanged": status(FlowStatus::Unchanged),
        },
        "effects": effects,
        "findings": {
            "error": report.count(Severity::Error),
            "warning": report.count(Severity::Warning),
            "note": report.count(Severity::Note),
            "allowed": report.findings.iter().filter(|finding| finding.allowed.is_some()).count(),
        },
        "confirmed": report.confirmed(),
        "seen": report.left_to_engine(),
        "contradicted": report.contradicted(),
        "unresolved": report.unresolved.len(),
        "worst": report.worst().as_str(),
        "headline": report.headline(),
        "broken": report.broken,
        "fails": report.fails(report.fail_on.unwrap_or(Severity::Error)),
    })
}

fn flow(flow: &FlowVerdict) -> Value {
    let mut json = json!({
        "pipeline": flow.pipeline,
        "flow": flow.flow,
        "dataset": flow.dataset.to_string(),
        "status": flow.status.as_str(),
        "effect": flow.effect.as_str(),
        "equality": flow.equality().map(Equality::as_str),
        "contradiction": flow.contradiction().map(contradiction),
        "allowed": flow.is_accepted(),
        "full_refresh": flow.full_refresh.as_str(),
        "confirmation": flow.confirmation.as_ref().map(|told| confirmation(told, flow.engine)),
        "findings": flow.findings,
        "before": flow.before.as_ref().map(span),
        "after": flow.after.as_ref().map(span),
    });
    if let (Some(spark), Value::Object(members)) = (&flow.spark, &mut json) {
        let all: Vec<Value> = flow.confirmations().map(|(engine, told)| confirmation(told, engine)).collect();
        members.insert("confirmations".to_owned(), Value::Array(all));
        members.insert("engines_agree".to_owned(), json!(spark.engines_agree));
    }
    json
}

/// Claim and observation, and which of them counts.
fn contradiction(contradiction: Contradiction) -> Value {
    json!({
        "claimed": contradiction.claimed.as_str(),
        "observed": contradiction.observed.as_str(),
        "believed": contradiction.believed().as_str(),
        "why": contradiction.reason(),
    })
}

fn confirmation(confirmation: &Confirmation, engine: EngineName) -> Value {
    match confirmation {
        Confirmation::NotRun { reason } => json!({
            "engine": engine.as_str(),
            "observed": null,
            "error_class": null,
            "agrees": null,
            "witness": null,
            "reason": reason,
        }),
        Confirmation::Ran { run, agrees, follows_from, .. } => json!({
            "engine": engine.as_str(),
            "observed": run.observed.map(Effect::as_str),
            "error_class": run.error_class,
            "message": run.message,
            "agrees": agrees,
            "witness": run.witness.as_ref().map(|w| witness(w, run.seed, &run.dataset.to_string())),
            "reason": run.reason,
            "follows_from": follows_from,
            "old_rows": run.old_rows,
            "rows": run.rows,
            "uninterpreted": run.uninterpreted,
            "inferred_types": inferred_types(run),
            "data": if run.seed.is_some() { "generated" } else { "given" },
        }),
    }
}

/// Columns by source, as `schema:` in pipelint.yaml takes them.
fn inferred_types(run: &FlowConfirmation) -> Value {
    let sources = run.inferred.iter().map(|(source, columns)| (source.clone(), Value::from(column_list(columns))));
    Value::Object(sources.collect())
}

fn witness(witness: &Witness, seed: Option<u64>, table: &str) -> Value {
    let sources: Vec<Value> = witness
        .sources
        .iter()
        .flat_map(|source| {
            let name = &source.name;
            source
                .batches
                .iter()
                .enumerate()
                .map(move |(index, rows)| json!({ "name": name, "batch": index + 1, "rows": rows }))
        })
        .collect();
    let rows = |rows: &[WitnessRow]| rows.iter().map(|row| Value::Object(row.record.clone())).collect::<Vec<_>>();
    let differing = |rows: &[WitnessRow]| {
        rows.iter().filter(|row| row.differs).map(|row| Value::Object(row.record.clone())).collect::<Vec<_>>()
    };
    json!({
        "seed": seed,
        "sources": sources,
        "table": table,
        "resumed": rows(&witness.resumed),
        "control": rows(&witness.full_refresh),
        "missing": differing(&witness.full_refresh),
        "extra": differing(&witness.resumed),
    })
}

/// The program that made a report.
pub(super) fn tool() -> Value {
    json!({ "name": "pipelint", "version": env!("CARGO_PKG_VERSION") })
}

pub(super) fn finding(finding: &Finding) -> Value {
    let remedies: Vec<Value> = finding
        .remedies
        .iter()
        .map(|remedy| {
            json!({
                "id": remedy.id.as_deref().unwrap_or("this-change"),
                "title": remedy.title,
                "text": remedy.text,
                "code": remedy.code.as_ref().map(|(_, code)| code),
            })
        })
        .collect();
    json!({
        "rule": finding.rule,
        "severity": finding.severity.as_str(),
        "effect": finding.effect.as_str(),
        "full_refresh": finding.full_refresh.as_str(),
        "pipeline": finding.pipeline,
        "dataset": finding.dataset.as_ref().map(ToString::to_string),
        "flow": finding.flow,
        "message": finding.message,
        "before": finding.before.span().map(span),
        "after": finding.after.span().map(span),
        "hints": finding.hints,
        "remedies": remedies,
        "allowed": finding.allowed.as_ref().map(|reason| json!({ "reason": reason })),
    })
}

fn impact(impact: &Impact) -> Value {
    json!({
        "dataset": impact.dataset,
        "pipeline": impact.pipeline,
        "kind": impact.kind,
        "because_of": impact.because_of,
        "path": impact.path,
        "effect": impact.effect.as_str(),
        "hint": impact.hint,
    })
}

fn refresh_plan(plan: &RefreshPlan) -> Value {
    let selection: Vec<Value> = plan
        .full_refresh
        .iter()
        .flat_map(|refresh| {
            refresh.datasets.iter().map(|dataset| json!({ "pipeline": refresh.pipeline, "dataset": dataset }))
        })
        .collect();
    let blocked: Vec<Value> = plan
        .blocked
        .iter()
        .map(|blocked| json!({ "pipeline": blocked.pipeline, "dataset": blocked.dataset, "why": blocked.reason }))
        .collect();
    let lossy: Vec<Value> = plan
        .lossy
        .iter()
        .map(|lossy| {
            json!({
                "pipeline": lossy.pipeline,
                "dataset": lossy.dataset,
                "why": lossy.reason,
                "source": lossy.source,
                "retention": lossy.retention,
            })
        })
        .collect();
    let commands: Vec<Value> = plan
        .commands
        .iter()
        .map(|command| json!({ "pipeline": command.pipeline, "via": command.via, "command": command.text }))
        .collect();
    json!({ "full_refresh": selection, "blocked": blocked, "lossy": lossy, "commands": commands })
}

pub(super) fn span(span: &Span) -> Value {
    let mut value = json!({
        "path": span.path.as_ref(),
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    });
    if let (Some(cell), Value::Object(fields)) = (span.cell, &mut value) {
        fields.insert("cell".to_owned(), cell.into());
    }
    value
}

fn unresolved(remark: &Remark<Unresolved>) -> Value {
    let mut value = unresolved_entry(&remark.entry);
    if let Value::Object(fields) = &mut value {
        fields.insert("revision".to_owned(), remark.revision.as_str().into());
        fields.insert("in_both".to_owned(), remark.in_both.into());
    }
    value
}

pub(super) fn unresolved_entry(unresolved: &Unresolved) -> Value {
    json!({
        "path": unresolved.span.as_ref().map(|span| span.path.as_ref()),
        "line": unresolved.span.as_ref().map(|span| span.line),
        "column": unresolved.span.as_ref().map(|span| span.column),
        "code": unresolved.code,
        "what": unresolved.what,
        "why": unresolved.why,
        "hint": unresolved.hint,
        "pipeline": unresolved.pipeline,
        "dataset": unresolved.dataset.as_ref().map(ToString::to_string),
    })
}

fn diagnostic(remark: &Remark<Diagnostic>) -> Value {
    let mut value = diagnostic_entry(&remark.entry);
    if let Value::Object(fields) = &mut value {
        fields.insert("revision".to_owned(), remark.revision.as_str().into());
        fields.insert("in_both".to_owned(), remark.in_both.into());
    }
    value
}

pub(super) fn diagnostic_entry(diagnostic: &Diagnostic) -> Value {
    let level = match diagnostic.level {
        DiagnosticLevel::Note => "note",
        DiagnosticLevel::Warning => "warning",
        DiagnosticLevel::Error => "error",
    };
    let path = diagnostic.span.as_ref().map(|span| span.path.as_ref()).or(diagnostic.path.as_deref());
    json!({
        "level": level,
        "code": diagnostic.code,
        "message": diagnostic.message,
        "help": diagnostic.help,
        "path": path,
        "line": diagnostic.span.as_ref().map(|span| span.line),
        "column": diagnostic.span.as_ref().map(|span| span.column),
    })
}
