//! One table: its flows, findings, diff, witness and what is above and below it.

use super::changes;
use crate::confirm::{Witness, WitnessRow};
use crate::impact::Impact;
use crate::model::{Effect, FullRefresh, Place};
use crate::report::diagram::weight;
use crate::report::safe::markup;
use crate::rules::Finding;
use crate::verdict::{Confirmation, EngineName, FlowVerdict, Report, Revision};
use serde_json::Value;
use std::fmt::Write as _;

/// Rows of a witness's table shown at most.
const ROWS_SHOWN: usize = 20;
const EXCERPT_LINES: usize = 12;

/// Everything that a report says of one table.
pub struct Table<'a> {
    pub id: String,
    pub name: String,
    pub effect: Effect,
    pub flows: Vec<&'a FlowVerdict>,
    pub impacts: Vec<&'a Impact>,
}

pub fn badge(effect: Effect) -> String {
    format!("<span class=\"badge {}\">{effect}</span>", weight(effect).class())
}

pub fn write(out: &mut String, report: &Report, table: &Table, open: bool) {
    let open = if open { " open" } else { "" };
    let _ = writeln!(
        out,
        "<details class=\"table\" id=\"{}\" data-name=\"{}\"{open}><summary>{} <code>{}</code></summary>",
        table.id,
        markup(&table.name.to_lowercase()),
        badge(table.effect),
        markup(&table.name)
    );
    for flow in &table.flows {
        self::flow(out, report, flow);
    }
    if !table.impacts.is_empty() {
        out.push_str("<h3>From above</h3><ul>\n");
        for impact in &table.impacts {
            let _ = writeln!(
                out,
                "<li>{} because of <code>{}</code>: {}<br><small>{}</small></li>",
                badge(impact.effect),
                markup(&impact.because_of),
                prose(&impact.hint),
                impact.path.iter().map(|name| markup(name)).collect::<Vec<_>>().join(" → ")
            );
        }
        out.push_str("</ul>\n");
    }
    out.push_str("</details>\n");
}

fn flow(out: &mut String, report: &Report, flow: &FlowVerdict) {
    let refresh = match flow.full_refresh {
        FullRefresh::No => "no full refresh",
        FullRefresh::Recommended => "full refresh recommended",
        FullRefresh::Required => "full refresh required",
        FullRefresh::Useless => "a full refresh does not help",
    };
    let allowed = if flow.is_accepted() { " · allowed" } else { "" };
    let evidence = flow.evidence();
    let _ = writeln!(
        out,
        "<p class=\"flow\">flow <code>{}</code> of pipeline <code>{}</code>, {} · {} · {refresh}{allowed}<br>{}</p>",
        markup(&flow.flow),
        markup(&flow.pipeline),
        flow.status.as_str(),
        badge(flow.effect),
        markup(&evidence)
    );
    for finding in flow.findings.iter().filter_map(|index| report.findings.get(*index)) {
        self::finding(out, report, finding);
    }
    if let Some(diff) = changes::html(report, flow) {
        let _ = writeln!(out, "<h3>What changed in the text</h3><pre class=\"diff\">{diff}</pre>");
    }
    for (engine, confirmation) in flow.confirmations() {
        let Confirmation::Ran { run, .. } = confirmation else { continue };
        let name = if engine == EngineName::Spark { "Apache Spark" } else { "The engine" };
        if let Some(class) = &run.error_class {
            let _ = writeln!(out, "<p>{name} refuses with <code>{}</code>.</p>", markup(class));
        }
        if let Some(witness) = run.witness.as_ref().filter(|witness| witness.rows() > 0) {
            self::witness(out, engine, witness, run.error_class.is_some());
        }
    }
}

/// A finding with its places, reasons and remedies.
pub fn finding(out: &mut String, report: &Report, finding: &Finding) {
    let allowed = finding.allowed.as_ref().map(|why| format!("<p class=\"allowed\">allowed: {}</p>", markup(why)));
    let _ = writeln!(
        out,
        "<article class=\"finding {}\"><h3>{} <small>{} · {}</small></h3>{}",
        finding.severity,
        prose(&finding.message),
        finding.severity,
        markup(&finding.rule),
        allowed.unwrap_or_default()
    );
    place(out, report, Revision::Before, &finding.before);
    place(out, report, Revision::After, &finding.after);
    if !finding.hints.is_empty() {
        let items: String = finding.hints.iter().map(|hint| format!("<li>{}</li>", prose(hint))).collect();
        let _ = writeln!(out, "<ul>{items}</ul>");
    }
    for remedy in &finding.remedies {
        let _ = write!(out, "<details><summary>{}</summary><p>{}</p>", prose(&remedy.title), prose(&remedy.text));
        if let Some((_, code)) = &remedy.code {
            let _ = write!(out, "<pre>{}</pre>", markup(code.trim_end()));
        }
        out.push_str("</details>\n");
    }
    if let Some(rule) = report.rules.get(&finding.rule) {
        let _ = writeln!(out, "<details><summary>Why</summary><p>{}</p></details>", prose(&rule.why));
    }
    out.push_str("</article>\n");
}

fn place(out: &mut String, report: &Report, revision: Revision, place: &Place) {
    let Some(span) = place.span() else { return };
    let cell = span.cell.map(|cell| format!(" cell {cell}")).unwrap_or_default();
    let _ = writeln!(
        out,
        "<p class=\"place\">{} <code>{}{cell}:{}</code></p>",
        revision.as_str(),
        markup(&span.path),
        span.line
    );
    if let Some(excerpt) = report.texts.excerpt(revision, span, EXCERPT_LINES) {
        let _ = writeln!(out, "<pre>{}</pre>", markup(&excerpt));
    }
}

fn witness(out: &mut String, engine: EngineName, witness: &Witness, refused: bool) {
    let on = if engine == EngineName::Spark { " on Apache Spark" } else { "" };
    let _ = writeln!(out, "<h3>Witness{on}</h3><div class=\"witness\">");
    for source in &witness.sources {
        for (index, batch) in source.batches.iter().enumerate().filter(|(_, batch)| !batch.is_empty()) {
            let when = if index == 0 { "read before the change" } else { "read after the change" };
            let columns: Vec<String> = batch.first().map(|row| row.keys().cloned().collect()).unwrap_or_default();
            let rows: Vec<WitnessRow> = batch
                .iter()
                .map(|record| WitnessRow { record: record.clone(), differs: false, cells: Vec::new() })
                .collect();
            rows_table(out, &format!("{}, {when}", source.name), &columns, &rows);
        }
    }
    if !refused {
        rows_table(out, "the table as it will be", &witness.columns, &witness.resumed);
        rows_table(out, "as a full refresh would make it", &witness.columns, &witness.full_refresh);
    }
    out.push_str("</div>\n");
}

fn rows_table(out: &mut String, caption: &str, columns: &[String], rows: &[WitnessRow]) {
    let _ = write!(out, "<table><caption>{}</caption><tr>", markup(caption));
    for column in columns {
        let _ = write!(out, "<th>{}</th>", markup(column));
    }
    out.push_str("</tr>\n");
    for row in rows.iter().take(ROWS_SHOWN) {
        out.push_str(if row.differs { "<tr class=\"differs\">" } else { "<tr>" });
        for column in columns {
            let text = match row.record.get(column) {
                None | Some(Value::Null) => "NULL".to_owned(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            };
            let mark = if row.cells.contains(column) { " class=\"differs\"" } else { "" };
            let _ = write!(out, "<td{mark}>{}</td>", markup(&text));
        }
        out.push_str("</tr>\n");
    }
    if rows.len() > ROWS_SHOWN {
        let _ = writeln!(out, "<tr><td>… and {} more</td></tr>", rows.len() - ROWS_SHOWN);
    }
    out.push_str("</table>\n");
}

/// Prose of ours with names from the repository: what stands between back quotes becomes code.
pub fn prose(text: &str) -> String {
    let pieces: Vec<&str> = text.split('`').collect();
    let code = |index: usize| index % 2 == 1 && index + 1 < pieces.len();
    let shown = |(index, piece): (usize, &&str)| {
        if code(index) { format!("<code>{}</code>", markup(piece)) } else { markup(piece) }
    };
    pieces.iter().enumerate().map(shown).collect()
}
