//! A backfill as Markdown, and as JSON.

use super::markdown::escape::{block, code, text};
use super::{json as report_json, safe};
use crate::backfill::{Backfill, Chunk, Form, Input, Neighbour, Proof, Range};
use crate::rules::CodeLanguage;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// For people.
pub fn markdown(backfill: &Backfill) -> String {
    let mut out = String::new();
    let range = backfill.range;
    let _ = writeln!(out, "# Backfill of {}: {} up to {}\n", code(&backfill.table), range.from, range.to);
    let chunks = if backfill.chunks.len() == 1 { "1 chunk" } else { &format!("{} chunks", backfill.chunks.len()) };
    let _ = writeln!(
        out,
        "{chunks}, {}; days are told by {}; the last day of a range is not part of it.\n",
        form(backfill),
        code(&backfill.day.name)
    );
    before(&mut out, backfill);
    let _ = writeln!(out, "## Chunks\n");
    out.push_str(restart(backfill));
    fenced(&mut out, language(backfill), &backfill.script);
    after(&mut out, backfill);
    if !backfill.instead.is_empty() {
        out.push_str("## Instead\n\n");
    }
    for (way, snippet) in &backfill.instead {
        let _ = writeln!(out, "{}:\n", text(way));
        fenced(&mut out, snippet.language, &snippet.code);
    }
    proof(&mut out, backfill);
    out
}

fn form(backfill: &Backfill) -> String {
    let format = text(&backfill.format);
    match backfill.form {
        Form::ReplaceWhere => format!("each replaces its own days ({format}, REPLACE WHERE)"),
        Form::OverwriteByCondition => format!("each overwrites by a condition what its days hold ({format})"),
        Form::DynamicOverwrite => {
            format!("each replaces the partitions that its rows lie in ({format}, dynamic overwrite)")
        }
        Form::OnceFlow => "each a flow of the pipeline that runs one time".to_owned(),
        Form::AppendFlow => "each a flow of the pipeline with a checkpoint of its own".to_owned(),
    }
}

fn language(backfill: &Backfill) -> &'static str {
    match backfill.language {
        CodeLanguage::Sql => "sql",
        CodeLanguage::Python => "python",
    }
}

fn restart(backfill: &Backfill) -> &'static str {
    match (backfill.form.replaces(), backfill.language) {
        (true, CodeLanguage::Python) => {
            "A chunk that is done is recorded, and left out when the script runs again; one that failed half way is run again.\n\n"
        }
        (true, CodeLanguage::Sql) => {
            "After each chunk a row is added to the log. To go on after a failure, begin with the first chunk that the log does not hold; \
             a chunk that ran twice leaves what one run leaves.\n\n"
        }
        (false, _) => {
            "Add the flows to the pipeline, a few a time, and let an update run after each. The checkpoint of a flow records that it is \
             done; one that failed goes on with the next update.\n\n"
        }
    }
}

fn before(out: &mut String, backfill: &Backfill) {
    out.push_str("## Before\n\n");
    if let Input::ByHand { view, writer, reason } = &backfill.input {
        let whose =
            writer.as_ref().map(|writer| format!(", the query of {} over all days", code(writer))).unwrap_or_default();
        let _ = writeln!(out, "- [ ] Define {}{whose}: {}.", code(view), text(reason));
    }
    out.push_str("- [ ] One writer at a time: run the chunks one after the other, and nothing beside them that writes the table.\n");
    list(out, "  ", &backfill.writers);
    if !backfill.readers.is_empty() {
        out.push_str("- [ ] Readers that stream from the table:\n");
        list(out, "  ", &backfill.readers);
    }
    for note in &backfill.notes {
        let _ = writeln!(out, "- {}", text(note));
    }
    let clear: Vec<&str> = backfill.chunks.iter().filter_map(|chunk| chunk.clear.as_deref()).collect();
    if let (Some(first), Some(chunk)) = (clear.first(), backfill.chunks.first()) {
        let more = if clear.len() > 1 { ", and so for each chunk" } else { "" };
        let _ = writeln!(
            out,
            "- [ ] Count what a chunk holds before its flow runs, and delete it where that is not 0{more}:\n"
        );
        fenced(out, "sql", &format!("{}\n{first}", chunk.check));
    } else {
        out.push('\n');
    }
}

fn list(out: &mut String, indent: &str, neighbours: &[Neighbour]) {
    for neighbour in neighbours {
        let command = neighbour.command.as_ref().map(|command| format!(" ({})", code(command))).unwrap_or_default();
        let _ = writeln!(out, "{indent}- {}: {}{command}", code(&neighbour.name), text(&neighbour.what));
    }
}

fn after(out: &mut String, backfill: &Backfill) {
    out.push_str("## After\n\n- [ ] Compare the rows of each chunk with its source:\n\n");
    let checks: Vec<&str> = backfill.chunks.iter().map(|chunk| chunk.check.as_str()).collect();
    fenced(out, "sql", &checks.join("\n"));
    out.push_str("- [ ] Start again what was stopped.\n\n");
}

fn proof(out: &mut String, backfill: &Backfill) {
    out.push_str("## Proof\n\n");
    match &backfill.proof {
        Proof::NotRun { reason } => {
            let _ = writeln!(out, "Not run on the engine: {}.", text(reason.trim_end_matches('.')));
        }
        Proof::Ran { chunk, rows, effect, error, stand_in } => {
            let count = |rows: &Option<usize>| rows.map_or_else(|| "unreadable".to_owned(), |rows| rows.to_string());
            let counts: Vec<String> = rows.iter().map(count).collect();
            let input = if *stand_in {
                ". Its input was a table with the columns of the target: the query that gives the rows did not run"
            } else {
                ""
            };
            let (tried, held) = if backfill.form.replaces() {
                ("ran twice", "the second run changed nothing, and no row outside the chunk was touched")
            } else {
                (
                    "was deleted, and two updates ran with its flow",
                    "the first brought back what was deleted and nothing else, the second changed nothing",
                )
            };
            let verdict = if effect == "ok" {
                format!("It holds: {held}")
            } else {
                format!("**It does not hold: {}**", text(effect))
            };
            let _ = writeln!(
                out,
                "The chunk from {} {tried}, on the engine, on generated rows, as it is printed. {verdict}. Rows: {}{input}.",
                chunk.from,
                counts.join(" → "),
            );
            if let Some(error) = error {
                let _ = writeln!(out, "\n{}", text(&safe::inline(error)));
            }
        }
    }
}

fn fenced(out: &mut String, language: &str, code: &str) {
    let _ = writeln!(out, "{}\n", block(language, code.trim_end()).trim_end());
}

/// For programs.
pub fn json(backfill: &Backfill) -> String {
    let value = json!({
        "schema_version": 1,
        "tool": report_json::tool(),
        "revision": backfill.revision,
        "backfill": {
            "table": backfill.table,
            "format": backfill.format,
            "form": backfill.form.as_str(),
            "language": language(backfill),
            "column": backfill.day.name,
            "range": range(backfill.range),
            "input": input(&backfill.input),
            "log": backfill.log,
            "chunks": backfill.chunks.iter().map(chunk).collect::<Vec<_>>(),
            "script": backfill.script,
            "writers": backfill.writers.iter().map(neighbour).collect::<Vec<_>>(),
            "readers": backfill.readers.iter().map(neighbour).collect::<Vec<_>>(),
            "notes": backfill.notes,
            "instead": backfill.instead.iter().map(|(way, snippet)| json!({
                "text": way,
                "language": snippet.language,
                "code": snippet.code,
            })).collect::<Vec<_>>(),
            "confirmation": confirmation(&backfill.proof),
        },
    });
    format!("{value:#}\n")
}

fn range(range: Range) -> Value {
    json!({ "from": range.from.to_string(), "to": range.to.to_string() })
}

fn chunk(chunk: &Chunk) -> Value {
    json!({
        "range": range(chunk.range),
        "code": chunk.code,
        "clear": chunk.clear,
        "record": chunk.record,
        "check": chunk.check,
    })
}

fn input(input: &Input) -> Value {
    match input {
        Input::Table { name, columns } => json!({ "kind": "table", "table": name, "columns": columns }),
        Input::Query { sql } => json!({ "kind": "query", "sql": sql }),
        Input::ByHand { view, writer, reason } => {
            json!({ "kind": "by-hand", "view": view, "writer": writer, "reason": reason })
        }
    }
}

fn neighbour(neighbour: &Neighbour) -> Value {
    json!({ "name": neighbour.name, "what": neighbour.what, "command": neighbour.command })
}

fn confirmation(proof: &Proof) -> Value {
    match proof {
        Proof::NotRun { reason } => json!({ "engine": "mini", "observed": null, "holds": false, "reason": reason }),
        Proof::Ran { chunk, rows, effect, error, stand_in } => json!({
            "engine": "mini",
            "observed": effect,
            "holds": proof.holds(),
            "chunk": range(*chunk),
            "rows": { "before": rows[0], "after_1": rows[1], "after_2": rows[2] },
            "error": error,
            "stand_in": stand_in,
            "reason": null,
        }),
    }
}
