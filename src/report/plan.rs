//! The runbook as Markdown, and as JSON.

use super::markdown::escape::{block, code, text};
use crate::model::FullRefresh;
use crate::runbook::{Runbook, Snippet};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// For people, and for the description of a pull request.
pub fn markdown(book: &Runbook) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "# Deployment plan: {} → {}\n", code(&book.before), code(&book.after));
    if book.is_empty() {
        out.push_str("Nothing to do: deploy, and let the next update run as usual.\n");
        return out;
    }
    what_happens(&mut out, book);
    before(&mut out, book);
    during(&mut out, book);
    after(&mut out, book);
    alternatives(&mut out, book);
    out
}

fn what_happens(out: &mut String, book: &Runbook) {
    out.push_str("## What happens\n\n");
    if book.affected.is_empty() {
        out.push_str("No table changes by this change alone.\n\n");
        return;
    }
    out.push_str("| table | effect | full refresh | because |\n| --- | --- | --- | --- |\n");
    for table in &book.affected {
        let short = table.dataset.rsplit('.').next().unwrap_or(&table.dataset);
        let flow = if short.eq_ignore_ascii_case(&table.flow) || table.dataset.eq_ignore_ascii_case(&table.flow) {
            String::new()
        } else {
            format!(" (flow {})", code(&table.flow))
        };
        let because: Vec<String> = table.because.iter().map(|message| text(message)).collect();
        let refresh = match table.full_refresh {
            FullRefresh::No => "no",
            FullRefresh::Recommended => "recommended",
            FullRefresh::Required => "required",
            FullRefresh::Useless => "does not help",
        };
        let _ =
            writeln!(out, "| {}{flow} | {} | {refresh} | {} |", code(&table.dataset), table.effect, because.join("; "));
    }
    out.push('\n');
}

fn before(out: &mut String, book: &Runbook) {
    out.push_str("## Before\n\n");
    let refreshes = !book.selection.is_empty();
    for table in book.stuck() {
        let _ = writeln!(
            out,
            "- [ ] Do not deploy this as it is: the update of {} would fail, and a full refresh would not help. Take one of the alternatives, or mend the query.",
            code(&table.dataset)
        );
    }
    if !book.deleted.is_empty() {
        item(
            out,
            "The deployment deletes these tables with their rows. Take one of the alternatives, or copy them aside first:",
        );
        fenced(out, "sql", &book.deleted.join("\n"), "  ");
    }
    if !book.alternatives.is_empty() {
        item(out, "Read the alternatives at the end: one of them may spare the refresh.");
    }
    if !book.consumers.is_empty() {
        item(out, "Warn who reads these:");
        for consumer in &book.consumers {
            let _ = writeln!(
                out,
                "  - {} (reads {}): {}",
                code(&consumer.dataset),
                code(&consumer.because_of),
                text(&consumer.hint)
            );
        }
    }
    if !book.lossy.is_empty() {
        item(out, "A full refresh cannot bring everything back:");
        for lossy in &book.lossy {
            let _ = writeln!(out, "  - {}: {}", code(&lossy.dataset), text(&lossy.reason));
        }
        item(
            out,
            "Compare the oldest row of each of these tables with the oldest that its source still has. Copy aside what would be lost:",
        );
        fenced(out, "sql", &book.copies.join("\n"), "  ");
    }
    for start in &book.starts {
        let _ = writeln!(
            out,
            "- [ ] {}: flow {} reads {}, and starts {}",
            code(&start.dataset),
            code(&start.flow),
            code(&start.source),
            text(&start.starts)
        );
        match (&start.code, start.option) {
            (Some(snippet), Some(option)) => {
                let _ = writeln!(out, "\n  To start elsewhere, set `{option}`:\n");
                fenced(out, snippet.language, &snippet.code, "  ");
            }
            _ => out.push_str("  This source has no start option.\n"),
        }
    }
    for protection in &book.protected {
        let _ = writeln!(
            out,
            "- [ ] {} is protected. Lift the protection and deploy that first:\n",
            code(&protection.dataset)
        );
        fenced(out, protection.lift.language, &protection.lift.code, "  ");
    }
    for once in book.once.iter().filter(|once| once.refreshed) {
        let _ = writeln!(
            out,
            "- [ ] Once flow {} into {} runs again after the refresh: test that its source still gives the same rows, and no row that other flows bring too.",
            code(&once.flow),
            code(&once.dataset)
        );
    }
    for policy in &book.automatic {
        let _ = writeln!(
            out,
            "- [ ] Automatic full refresh: {}: the platform refreshes by itself when the source's schema changes. Turn it off for the deployment where that must not happen.",
            text(policy)
        );
    }
    if !book.verifications.is_empty() {
        item(out, "Note these numbers, to compare after the deployment:");
        let queries: Vec<String> = book.verifications.iter().flat_map(|v| v.queries.iter().cloned()).collect();
        fenced(out, "sql", &queries.join("\n"), "  ");
    }
    item(
        out,
        "Maintenance window: schedules and triggers of the pipelines paused, no update running, a continuous pipeline stopped.",
    );
    if refreshes {
        item(
            out,
            "Maintenance window: long enough to read the sources from their start, cluster size and rate limits checked.",
        );
        item(
            out,
            "Maintenance window: who may start a full refresh is there, and readers know that the tables are empty for a time.",
        );
    }
    out.push('\n');
}

fn during(out: &mut String, book: &Runbook) {
    out.push_str("## During\n\n1. Deploy the new code.\n");
    if book.selection.is_empty() {
        out.push_str(match book.stuck().next() {
            Some(_) => "2. Let one incremental update run, once what stands in its way is out of it: a full refresh does not help.\n\n",
            None => "2. Let one incremental update run. No full refresh is asked for.\n\n",
        });
        return;
    }
    if !book.deleted.is_empty() {
        out.push_str(
            "   Tables that the deployment deleted are made anew, and filled from what their sources still have.\n",
        );
    }
    out.push_str("2. Refresh in full, in this order, and nothing else:\n\n");
    for refresh in &book.selection {
        let names: Vec<String> = refresh.datasets.iter().map(|name| code(name)).collect();
        let _ = writeln!(out, "   - pipeline {}: {}", code(&refresh.pipeline), names.join(", "));
    }
    for (via, title) in [
        ("bundle", "Bundle"),
        ("cli", "CLI"),
        ("rest", "REST"),
        ("ui", "Workspace"),
        ("spark-pipelines", "spark-pipelines"),
    ] {
        let texts: Vec<&str> =
            book.commands.iter().filter(|command| command.via == via).map(|c| c.text.as_str()).collect();
        if texts.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n   {title}:\n");
        if via == "ui" {
            texts.iter().for_each(|line| {
                let _ = writeln!(out, "   - {}", text(line));
            });
        } else {
            fenced(out, if via == "rest" { "http" } else { "sh" }, &texts.join("\n"), "   ");
        }
    }
    out.push_str("\n3. Wait for the update to end; a failed one has already emptied the tables.\n\n");
}

fn after(out: &mut String, book: &Runbook) {
    out.push_str("## After\n\n");
    for protection in &book.protected {
        let _ = writeln!(out, "- [ ] Protect {} again, and deploy:\n", code(&protection.dataset));
        fenced(out, protection.restore.language, &protection.restore.code, "  ");
    }
    for once in &book.once {
        let _ = writeln!(
            out,
            "- [ ] Check that once flow {} has filled {} one time.",
            code(&once.flow),
            code(&once.dataset)
        );
    }
    if !book.copies.is_empty() {
        item(
            out,
            "Bring back what the sources no longer had, by a once flow that reads the copy and leaves out what the table holds.",
        );
    }
    if !book.verifications.is_empty() {
        item(out, "Run the queries from above again and compare the numbers.");
    }
    if !book.consumers.is_empty() {
        item(out, "Let the readers run, and tell who was warned.");
    }
    item(out, "Turn schedules and triggers on again.");
    out.push('\n');
}

fn alternatives(out: &mut String, book: &Runbook) {
    if book.alternatives.is_empty() {
        return;
    }
    out.push_str("## Alternatives\n\n");
    for alternative in &book.alternatives {
        let dataset = match alternative.dataset.as_str() {
            "" => String::new(),
            name => format!("{}: ", code(name)),
        };
        let _ = writeln!(out, "### {dataset}{} ({})\n", text(&alternative.title), code(&alternative.rule));
        let _ = writeln!(out, "{}\n", text(&alternative.text.split_whitespace().collect::<Vec<_>>().join(" ")));
        if let Some(snippet) = &alternative.code {
            fenced(out, snippet.language, &snippet.code, "");
            out.push('\n');
        }
    }
}

fn item(out: &mut String, text: &str) {
    let _ = writeln!(out, "- [ ] {text}");
}

fn fenced(out: &mut String, language: &str, code: &str, indent: &str) {
    for line in block(language, code).lines() {
        let _ = writeln!(out, "{}", format!("{indent}{line}").trim_end());
    }
}

/// For programs.
pub fn json(book: &Runbook) -> String {
    let snippet = |snippet: &Snippet| json!({ "language": snippet.language, "code": snippet.code });
    let optional = |code: &Option<Snippet>| code.as_ref().map(snippet);
    let value = json!({
        "schema_version": 1,
        "tool": super::json::tool(),
        "before": { "label": book.before },
        "after": { "label": book.after },
        "nothing_to_do": book.is_empty(),
        "affected": list(&book.affected, |table| json!({
            "pipeline": table.pipeline,
            "dataset": table.dataset,
            "flow": table.flow,
            "effect": table.effect.as_str(),
            "full_refresh": table.full_refresh.as_str(),
            "because": table.because,
        })),
        "steps": {
            "before": {
                "consumers": list(&book.consumers, |consumer| json!({
                    "dataset": consumer.dataset,
                    "because_of": consumer.because_of,
                    "hint": consumer.hint,
                })),
                "lossy": list(&book.lossy, |lossy| json!({
                    "pipeline": lossy.pipeline,
                    "dataset": lossy.dataset,
                    "why": lossy.reason,
                    "source": lossy.source,
                    "retention": lossy.retention,
                })),
                "deleted": book.deleted,
                "copies": book.copies,
                "protection": list(&book.protected, |protection| json!({
                    "pipeline": protection.pipeline,
                    "dataset": protection.dataset,
                    "lift": snippet(&protection.lift),
                })),
                "starts": list(&book.starts, |start| json!({
                    "pipeline": start.pipeline,
                    "dataset": start.dataset,
                    "flow": start.flow,
                    "source": start.source,
                    "starts": start.starts,
                    "option": start.option,
                    "code": optional(&start.code),
                })),
                "automatic_full_refresh": book.automatic,
            },
            "during": {
                "full_refresh": list(&book.selection, |refresh| json!({
                    "pipeline": refresh.pipeline,
                    "datasets": refresh.datasets,
                })),
                "blocked": list(&book.blocked, |blocked| json!({
                    "pipeline": blocked.pipeline,
                    "dataset": blocked.dataset,
                    "why": blocked.reason,
                })),
                "commands": list(&book.commands, |command| json!({
                    "pipeline": command.pipeline,
                    "via": command.via,
                    "command": command.text,
                })),
            },
            "after": {
                "protection": list(&book.protected, |protection| json!({
                    "pipeline": protection.pipeline,
                    "dataset": protection.dataset,
                    "restore": snippet(&protection.restore),
                })),
                "once_flows": list(&book.once, |once| json!({
                    "pipeline": once.pipeline,
                    "dataset": once.dataset,
                    "flow": once.flow,
                    "runs_again": once.refreshed,
                })),
                "verify": list(&book.verifications, |verification| json!({
                    "dataset": verification.dataset,
                    "queries": verification.queries,
                })),
            },
        },
        "alternatives": list(&book.alternatives, |alternative| json!({
            "rule": alternative.rule,
            "dataset": alternative.dataset,
            "title": alternative.title,
            "text": alternative.text,
            "code": optional(&alternative.code),
        })),
    });
    format!("{value:#}\n")
}

fn list<T>(items: &[T], value: impl Fn(&T) -> Value) -> Vec<Value> {
    items.iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_plan_says_so() {
        assert!(markdown(&Runbook::default()).contains("Nothing to do"));
    }
}
