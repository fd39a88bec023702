//! One HTML file that needs nothing else: no network, and no script to be read. The script adds search and keys.

mod changes;
mod graph;
mod layout;
mod section;

use super::safe::markup;
use crate::model::{Effect, Severity};
use crate::verdict::{Report, Standing, standings};
use section::{Table, badge, prose};
use sha2::{Digest, Sha256};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Tables whose sections stand open at first.
const OPEN_AT_FIRST: usize = 5;

pub fn render(report: &Report) -> String {
    let standings = standings(report);
    let tables = tables(report, &standings);
    let sections: BTreeMap<String, String> =
        tables.iter().map(|table| (table.name.clone(), table.id.clone())).collect();
    let lineage = report.lineage.affected(&standings);
    let mut out = head();
    let _ = writeln!(
        out,
        "<header><h1>{}</h1><p><code>{}</code> → <code>{}</code> · {}</p></header>\n<main>",
        prose(&report.headline()),
        markup(&report.before.label),
        markup(&report.after.label),
        report.platform
    );
    overview(&mut out, &tables);
    if !lineage.nodes.is_empty() {
        let _ = writeln!(
            out,
            "<section id=\"graph\" tabindex=\"0\" aria-label=\"Graph\">{}</section>\n{LEGEND}",
            graph::svg(&lineage, &standings, &sections)
        );
    }
    out.push_str("<section id=\"tables\">\n");
    for (index, table) in tables.iter().enumerate() {
        section::write(&mut out, report, table, index < OPEN_AT_FIRST && !table.flows.is_empty());
    }
    out.push_str("</section>\n");
    other_findings(&mut out, report);
    script_findings(&mut out, report);
    plan(&mut out, report);
    unclear(&mut out, report);
    let _ = writeln!(
        out,
        "</main>\n<footer>pipelint {} · {} errors, {} warnings · {} confirmed, {} contradicted by the engine</footer>",
        env!("CARGO_PKG_VERSION"),
        report.count(Severity::Error),
        report.count(Severity::Warning),
        report.confirmed(),
        report.contradicted()
    );
    let _ = writeln!(out, "<script>{SCRIPT}</script>\n</body>\n</html>");
    out
}

const LEGEND: &str = "<p class=\"legend\">cut corners: harmful · slanted: notable · round: source · dashed line: read in full · \
bold: new · dotted: gone. Keys: <kbd>/</kbd> search, <kbd>j</kbd> <kbd>k</kbd> next and previous table, <kbd>Enter</kbd> open or \
close.</p>\n";

fn head() -> String {
    let digest = base64(&Sha256::digest(SCRIPT.as_bytes()));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>pipelint</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    )
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| chunk.get(index).copied().map_or(0, u32::from);
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let index = usize::try_from(bits >> (18 - 6 * place) & 63).unwrap_or(0);
            let letter = LETTERS.get(index).copied().map_or('=', char::from);
            out.push(if place <= chunk.len() { letter } else { '=' });
        }
    }
    out
}

/// Tables that something happens to, worst first, those with changes of their own before those below them.
fn tables<'a>(report: &'a Report, standings: &BTreeMap<String, Standing>) -> Vec<Table<'a>> {
    let mut order: Vec<(&String, &Standing)> = standings.iter().collect();
    order.sort_by_key(|(name, standing)| (standing.downstream, Reverse(standing.effect), (*name).clone()));
    let mut tables: Vec<Table> = order
        .into_iter()
        .enumerate()
        .map(|(index, (name, standing))| Table {
            id: format!("t{index}"),
            name: name.clone(),
            effect: standing.effect,
            flows: Vec::new(),
            impacts: Vec::new(),
        })
        .collect();
    let index: BTreeMap<String, usize> = tables.iter().enumerate().map(|(i, table)| (table.name.clone(), i)).collect();
    let table_of = |name: &str| index.get(name).copied();
    for flow in
        report.flows.iter().filter(|flow| flow.is_affected() || flow.status != crate::diff::FlowStatus::Unchanged)
    {
        if let Some(table) = table_of(&flow.dataset.to_string()).and_then(|i| tables.get_mut(i)) {
            table.flows.push(flow);
        }
    }
    for impact in &report.impacts {
        if let Some(table) = table_of(&impact.dataset).and_then(|i| tables.get_mut(i)) {
            table.impacts.push(impact);
        }
    }
    tables
}

fn overview(out: &mut String, tables: &[Table]) {
    out.push_str("<search><input id=\"search\" type=\"search\" placeholder=\"Search tables\" aria-label=\"Search tables\" hidden></search>\n");
    out.push_str("<ol id=\"overview\">\n");
    for table in tables.iter().filter(|table| table.effect != Effect::None) {
        let name = markup(&table.name);
        let _ = writeln!(
            out,
            "<li data-name=\"{}\">{} <a href=\"#{}\"><code>{name}</code></a>{}</li>",
            name.to_lowercase(),
            badge(table.effect),
            table.id,
            if table.flows.is_empty() { " <small>from above</small>" } else { "" }
        );
    }
    out.push_str("</ol>\n");
}

/// Findings of whole pipelines, and of tables without a flow in the report.
fn other_findings(out: &mut String, report: &Report) {
    let shown: BTreeSet<usize> = report.flows.iter().flat_map(|flow| flow.findings.iter().copied()).collect();
    let others: Vec<_> = report.findings.iter().enumerate().filter(|(index, _)| !shown.contains(index)).collect();
    if others.is_empty() {
        return;
    }
    out.push_str("<section id=\"others\"><h2>Other findings</h2>\n");
    for (_, finding) in others {
        section::finding(out, report, finding);
    }
    out.push_str("</section>\n");
}

/// What changed scripts beside the pipelines bring.
fn script_findings(out: &mut String, report: &Report) {
    if report.scripts.is_empty() {
        return;
    }
    out.push_str("<section id=\"scripts\"><h2>Changed scripts</h2>\n");
    for finding in &report.scripts {
        section::finding(out, report, finding);
    }
    out.push_str("</section>\n");
}

fn plan(out: &mut String, report: &Report) {
    let plan = &report.plan;
    if plan.commands.is_empty() && plan.blocked.is_empty() && plan.lossy.is_empty() {
        return;
    }
    out.push_str("<section id=\"plan\"><h2>To run, after the deployment</h2>\n");
    for blocked in &plan.blocked {
        let _ = writeln!(
            out,
            "<p><b>Blocked</b> <code>{}</code>: {}</p>",
            markup(&blocked.dataset),
            prose(&blocked.reason)
        );
    }
    for lossy in &plan.lossy {
        let _ = writeln!(
            out,
            "<p><b>Lost for good</b> <code>{}</code>: {}</p>",
            markup(&lossy.dataset),
            prose(&lossy.reason)
        );
    }
    for command in &plan.commands {
        let _ =
            writeln!(out, "<p>{} · {}</p><pre>{}</pre>", markup(&command.pipeline), command.via, markup(&command.text));
    }
    out.push_str("</section>\n");
}

fn unclear(out: &mut String, report: &Report) {
    if report.unresolved.is_empty() && report.diagnostics.is_empty() {
        return;
    }
    out.push_str("<section id=\"unresolved\"><h2>Not told without running the code, or not read</h2><ul>\n");
    for remark in &report.unresolved {
        let entry = &remark.entry;
        let place = entry.span.as_ref().map(|span| format!("<code>{}:{}</code>: ", markup(&span.path), span.line));
        let _ = writeln!(
            out,
            "<li>{}{}: {} ({})</li>",
            place.unwrap_or_default(),
            prose(&entry.what),
            prose(&entry.why),
            remark.revision.as_str()
        );
    }
    for remark in &report.diagnostics {
        let diagnostic = &remark.entry;
        let path = diagnostic.path.as_ref().map(|path| format!("<code>{}</code>: ", markup(path))).unwrap_or_default();
        let _ = writeln!(out, "<li>{path}{} ({})</li>", prose(&diagnostic.message), remark.revision.as_str());
    }
    out.push_str("</ul></section>\n");
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_script_s_digest_is_in_base64() {
        assert_eq!(super::base64(b""), "");
        assert_eq!(super::base64(b"f"), "Zg==");
        assert_eq!(super::base64(b"foob"), "Zm9vYg==");
        assert_eq!(super::base64(b"foobar"), "Zm9vYmFy");
    }
}
