//! One line a flow that something happens to, worst first; the others in one line together.

use super::table::Cell;
use super::{Paint, table, wrap};
use crate::diff::FlowStatus;
use crate::model::FullRefresh;
use crate::report::{Style, safe};
use crate::verdict::{Confirmation, FlowVerdict, Report};
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr;

/// Columns of a reason that still stands in the line of its flow.
const SHORT_REASON: usize = 24;

pub fn write(out: &mut String, report: &Report, style: Style, paint: Paint) {
    let mut affected: Vec<&FlowVerdict> = report.flows.iter().filter(|flow| flow.is_affected()).collect();
    affected.sort_by_key(|flow| (std::cmp::Reverse(flow.effect), flow.dataset.key(), flow.flow.clone()));
    let mut reasons = Reasons::default();
    let rows: Vec<Row> = affected.into_iter().map(|flow| Row::new(flow, &mut reasons, paint)).collect();
    if !rows.is_empty() {
        out.push('\n');
        let heads: Vec<Vec<Cell>> = rows.iter().map(Row::head).collect();
        let beside = table::width(&heads, INDENT) + 2;
        if beside + SHORT_EVIDENCE <= style.width {
            let lines: Vec<Vec<Cell>> = rows.iter().map(|row| row.one_line(style.width, beside)).collect();
            table::write(out, &lines, INDENT);
        } else {
            rows.iter().for_each(|row| row.write_on_two_lines(out, style.width));
        }
    }
    reasons.write(out, style, paint);
    others(out, report, style, paint);
}

const INDENT: &str = "  ";

/// Columns that what an engine saw needs at least, beside the rest.
const SHORT_EVIDENCE: usize = 24;

/// What is said of one flow.
struct Row {
    effect: Cell,
    subject: String,
    refresh: &'static str,
    evidence: String,
}

impl Row {
    fn new(flow: &FlowVerdict, reasons: &mut Reasons, paint: Paint) -> Self {
        let allowed = if flow.is_accepted() { "allowed · " } else { "" };
        let evidence = flow.evidence_in(&mut |known| reasons.shortened(known));
        Row {
            effect: Cell {
                text: format!("{:<10}", flow.effect.to_string()),
                printed: paint.effect(flow.effect, &format!("{:<10}", flow.effect.to_string())),
            },
            subject: safe::inline(&flow.subject()),
            refresh: refresh(flow.full_refresh),
            evidence: safe::inline(&format!("{allowed}{evidence}")),
        }
    }

    fn head(&self) -> Vec<Cell> {
        vec![self.effect.clone(), Cell::plain(&self.subject), Cell::plain(self.refresh)]
    }

    /// What an engine saw stands `beside` the rest, and goes on below itself where it is long.
    fn one_line(&self, width: usize, beside: usize) -> Vec<Cell> {
        let mut cells = self.head();
        cells.push(Cell::plain(&wrap::hanging(&self.evidence, width, beside)));
        cells
    }

    /// The table by itself, and the rest below it: for names that leave no room beside them.
    fn write_on_two_lines(&self, out: &mut String, width: usize) {
        let start = INDENT.width() + self.effect.text.width() + 2;
        let rest = if self.evidence.is_empty() {
            self.refresh.to_owned()
        } else {
            format!("{} · {}", self.refresh, self.evidence)
        };
        let rest = wrap::hanging(&rest, width, start);
        let _ = writeln!(out, "{INDENT}{}  {}\n{}{rest}", self.effect.printed, self.subject, " ".repeat(start));
    }
}

/// Reasons that are too long for the line of a flow: each is said once, below all lines.
#[derive(Default)]
struct Reasons(Vec<String>);

impl Reasons {
    /// What an engine has to say, with the number of a reason in place of a long one.
    fn shortened(&mut self, confirmation: &Confirmation) -> String {
        match confirmation.reason() {
            Some(reason) if reason.width() > SHORT_REASON => {
                let known = self.0.iter().position(|other| other == reason);
                let index = known.unwrap_or_else(|| {
                    self.0.push(reason.to_owned());
                    self.0.len() - 1
                });
                format!("not run [{}]", index + 1)
            }
            _ => confirmation.evidence(),
        }
    }

    fn write(&self, out: &mut String, style: Style, paint: Paint) {
        for (index, reason) in self.0.iter().enumerate() {
            let text = wrap::hanging(&safe::inline(&format!("[{}] {reason}", index + 1)), style.width, 6);
            let _ = writeln!(out, "{}  {}", if index == 0 { "\n" } else { "" }, paint.dim(&text));
        }
    }
}

fn others(out: &mut String, report: &Report, style: Style, paint: Paint) {
    let quiet: Vec<String> = report
        .flows
        .iter()
        .filter(|flow| flow.status == FlowStatus::Changed && !flow.is_affected())
        .map(|flow| safe::inline(&flow.dataset.to_string()))
        .collect();
    if !quiet.is_empty() {
        let text = format!("changed, and resumes as it is: {}", quiet.join(", "));
        let _ = writeln!(out, "\n  {}", paint.dim(&wrap::hanging(&text, style.width, 4)));
    }
}

fn refresh(full_refresh: FullRefresh) -> &'static str {
    match full_refresh {
        FullRefresh::No => "no full refresh",
        FullRefresh::Recommended => "full refresh recommended",
        FullRefresh::Required => "full refresh required",
        FullRefresh::Useless => "a full refresh does not help",
    }
}
