//! Markdown for a comment on a pull request: the verdict first, the affected part of the graph, the details folded.
//!
//! GitHub takes 65,536 characters in a comment: details that would go beyond are left out and counted.

pub(super) mod escape;
pub(super) mod lint;

use super::diagram;
use crate::diff::FlowStatus;
use crate::model::{Effect, FullRefresh, Severity};
use crate::rules::Finding;
use crate::verdict::{FlowVerdict, Report, Revision, Verdict, standings};
use escape::{block, code, text};
use std::fmt::Write as _;

/// Characters of a report at most: 65,000 with the marker that the action puts in front.
const LIMIT: usize = 64_900;
/// Kept for what comes after the details.
const RESERVE: usize = 1_500;
/// Rows of a table at most.
const ROWS_SHOWN: usize = 50;
/// Findings at changed scripts at most.
const SCRIPTS_SHOWN: usize = 3;
/// Characters of the graph at most.
const GRAPH_LIMIT: usize = 12_000;

pub fn render(report: &Report) -> String {
    let mut out = format!("### {}\n\n", headline(report));
    let _ = writeln!(out, "{} → {} · {}\n", code(&report.before.label), code(&report.after.label), report.platform);
    verdicts(&mut out, report);
    graph(&mut out, report);
    details(&mut out, report);
    downstream(&mut out, report);
    scripts(&mut out, report);
    plan(&mut out, report);
    unclear(&mut out, report);
    let _ = writeln!(out, "\n<sub>{} · pipelint {}</sub>", counts(report), env!("CARGO_PKG_VERSION"));
    out
}

fn mark(effect: Effect) -> &'static str {
    match diagram::weight(effect) {
        diagram::Weight::Harmless => "🟢",
        diagram::Weight::Notable => "🟡",
        diagram::Weight::Harmful => "🔴",
    }
}

fn headline(report: &Report) -> String {
    let mark = match report.verdict() {
        Verdict::Clean => "🟢",
        Verdict::Notable => "🟡",
        Verdict::Fails => "🔴",
    };
    format!("{mark} {}", text(&report.headline()))
}

fn verdicts(out: &mut String, report: &Report) {
    let mut flows: Vec<&FlowVerdict> = report.flows.iter().filter(|flow| flow.is_affected()).collect();
    flows.sort_by_key(|flow| (std::cmp::Reverse(flow.effect), flow.dataset.key(), flow.flow.clone()));
    if flows.is_empty() {
        return;
    }
    out.push_str("| | effect | table | full refresh | evidence |\n| --- | --- | --- | --- | --- |\n");
    for flow in flows.iter().take(ROWS_SHOWN) {
        let allowed = if flow.is_accepted() { " (allowed)" } else { "" };
        let _ = writeln!(
            out,
            "| {} | **{}**{allowed} | {} | {} | {} |",
            mark(flow.effect),
            flow.effect,
            code(&flow.subject()),
            match flow.full_refresh {
                FullRefresh::No => "no",
                FullRefresh::Recommended => "recommended",
                FullRefresh::Required => "**required**",
                FullRefresh::Useless => "does not help",
            },
            text(&flow.evidence())
        );
    }
    more(out, flows.len(), ROWS_SHOWN);
    out.push('\n');
}

fn more(out: &mut String, total: usize, shown: usize) {
    if total > shown {
        let _ = writeln!(out, "\n… and {} more.", total - shown);
    }
}

fn graph(out: &mut String, report: &Report) {
    let standings = standings(report);
    let affected = report.lineage.affected(&standings);
    if affected.edges.is_empty() {
        return;
    }
    let picture = diagram::mermaid_of(&affected, &standings);
    if picture.chars().count() > GRAPH_LIMIT {
        let _ = writeln!(
            out,
            "The affected part of the graph has {} tables: too large for a comment.\n",
            affected.nodes.len()
        );
        return;
    }
    let _ = writeln!(out, "```mermaid\n{picture}```\n");
}

/// One folded section a finding, as many as fit.
fn details(out: &mut String, report: &Report) {
    let mut length = out.chars().count();
    let mut left_out = 0;
    for finding in report.findings.iter().filter(|finding| finding.severity >= Severity::Warning) {
        let section = detail(report, finding);
        let size = section.chars().count();
        if length + size > LIMIT - RESERVE * 4 {
            left_out += 1;
            continue;
        }
        length += size;
        out.push_str(&section);
    }
    if left_out > 0 {
        let _ = writeln!(out, "… and {left_out} more findings, which did not fit here.\n");
    }
}

fn detail(report: &Report, finding: &Finding) -> String {
    let subject = finding.dataset.as_ref().map_or_else(|| finding.pipeline.clone(), ToString::to_string);
    let allowed = if finding.allowed.is_some() { " (allowed)" } else { "" };
    let mut out = format!(
        "<details><summary>{} <b>{}</b>{allowed} · {} · {}</summary>\n\n{}\n\n",
        mark(finding.effect),
        finding.effect,
        super::safe::markup(&super::safe::inline(&finding.rule)),
        html_code(&subject),
        text(&finding.message)
    );
    if let Some(reason) = &finding.allowed {
        let _ = writeln!(out, "Allowed: {}\n", text(reason));
    }
    for (revision, place) in [(Revision::Before, &finding.before), (Revision::After, &finding.after)] {
        let Some(span) = place.span() else { continue };
        let excerpt = report.texts.excerpt(revision, span, 6);
        // One revision by itself has no sides to tell apart.
        let side = if report.before.label.is_empty() { "" } else { revision.as_str() };
        let _ = writeln!(out, "{}", format!("{side} {}", code(&format!("{}:{}", span.path, span.line))).trim_start());
        if let Some(excerpt) = excerpt {
            let language = if span.path.ends_with(".py") { "python" } else { "sql" };
            let _ = writeln!(out, "{}", block(language, &excerpt));
        }
    }
    for hint in &finding.hints {
        let _ = writeln!(out, "- {}", text(hint));
    }
    for remedy in finding.remedies.iter().take(2) {
        let _ = writeln!(out, "- **{}**: {}", text(&remedy.title), text(&remedy.text.trim().replace('\n', " ")));
    }
    out.push_str("\n</details>\n\n");
    out
}

/// A name inside an HTML line, where Markdown counts too.
fn html_code(name: &str) -> String {
    let clean = super::safe::markup(&super::safe::inline(name));
    let mut out = String::from("<code>");
    for c in clean.chars() {
        if "*_~[]`\\@".contains(c) {
            let _ = write!(out, "&#{};", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out.push_str("</code>");
    out
}

fn downstream(out: &mut String, report: &Report) {
    if report.impacts.is_empty() || out.chars().count() > LIMIT - RESERVE * 3 {
        return;
    }
    let _ = writeln!(out, "<details><summary>Downstream ({})</summary>\n", report.impacts.len());
    for impact in report.impacts.iter().take(12) {
        let _ = writeln!(
            out,
            "- {} **{}** {} because of {}: {}",
            mark(impact.effect),
            impact.effect,
            code(&impact.dataset),
            code(&impact.because_of),
            text(&impact.hint)
        );
    }
    more(out, report.impacts.len(), 12);
    out.push_str("\n</details>\n\n");
}

fn plan(out: &mut String, report: &Report) {
    let plan = &report.plan;
    for blocked in &plan.blocked {
        let _ = writeln!(out, "**Blocked** {}: {}\n", code(&blocked.dataset), text(&blocked.reason));
    }
    for lossy in plan.lossy.iter().take(ROWS_SHOWN) {
        let _ = writeln!(out, "**Lost for good** {}: {}\n", code(&lossy.dataset), text(&lossy.reason));
    }
    if plan.commands.is_empty() {
        return;
    }
    let commands: Vec<String> =
        plan.commands.iter().map(|c| format!("# {} · {}\n{}", c.pipeline, c.via, c.text)).collect();
    let commands = block("sh", &commands.join("\n"));
    let _ = writeln!(out, "<details><summary>To run, after the deployment</summary>\n");
    if out.chars().count() + commands.chars().count() > LIMIT - RESERVE {
        out.push_str("The commands did not fit here; `pipelint diff` prints them.\n");
    } else {
        out.push_str(&commands);
    }
    out.push_str("\n</details>\n\n");
}

/// What changed scripts beside the pipelines bring.
fn scripts(out: &mut String, report: &Report) {
    if report.scripts.is_empty() || out.chars().count() > LIMIT - RESERVE {
        return;
    }
    out.push_str("Changed scripts (`pipelint lint` tells all of each):\n\n");
    for finding in report.scripts.iter().take(SCRIPTS_SHOWN) {
        let place = finding.after.span().map(|span| format!("{}:{}", span.path, span.line));
        let place = place.unwrap_or_else(|| finding.pipeline.clone());
        let allowed = if finding.allowed.is_some() { " (allowed)" } else { "" };
        let line = format!(
            "- {} **{}**{allowed} · {}: {}\n",
            finding.severity,
            text(&finding.rule),
            code(&place),
            text(&finding.message)
        );
        if line.chars().count() < 400 {
            out.push_str(&line);
        }
    }
    more(out, report.scripts.len(), SCRIPTS_SHOWN);
    out.push('\n');
}

fn unclear(out: &mut String, report: &Report) {
    if report.unresolved.is_empty() || out.chars().count() > LIMIT - RESERVE {
        return;
    }
    let _ = writeln!(out, "<details><summary>Unresolved ({})</summary>\n", report.unresolved.len());
    for entry in report.unresolved.iter().map(|remark| &remark.entry).take(5) {
        let line = format!("- {}: {}\n", text(&entry.what), text(&entry.why));
        if line.chars().count() < 200 {
            out.push_str(&line);
        }
    }
    more(out, report.unresolved.len(), 5);
    out.push_str("\n</details>\n\n");
}

fn counts(report: &Report) -> String {
    let status = |status: FlowStatus| report.flows.iter().filter(|flow| flow.status == status).count();
    format!(
        "{} errors, {} warnings · flows: {} changed, {} added, {} removed, {} unchanged · engine: {} confirmed, {} contradicted · {} unresolved",
        report.count(Severity::Error),
        report.count(Severity::Warning),
        status(FlowStatus::Changed),
        status(FlowStatus::Added),
        status(FlowStatus::Removed),
        status(FlowStatus::Unchanged),
        report.confirmed(),
        report.contradicted(),
        report.unresolved.len()
    )
}
