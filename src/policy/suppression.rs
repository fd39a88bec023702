//! `-- pipelint: allow <rule> -- why` beside the code.

use super::Definition;
use crate::frontend::comments::{Comment, comments};
use crate::model::{Diagnostic, DiagnosticLevel, Span};
use crate::rules::Finding;
use std::sync::Arc;

const MARK: &str = "pipelint:";
const FORM: &str = "write `pipelint: allow RULE -- why`, with the rule's name and a reason in words";

/// A comment that accepts findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppression {
    pub rules: Vec<String>,
    pub reason: String,
    /// The comment itself.
    pub span: Span,
    /// The line that it speaks of: its own, or the one below where it stands alone.
    pub line: u32,
}

impl Suppression {
    /// What identifies it across revisions.
    pub fn key(&self) -> String {
        format!("{} {} {}", self.span.path, self.rules.join(","), self.reason)
    }

    /// The finding's rule, at the finding's place or at the definition of what it is about.
    pub(super) fn covers(&self, finding: &Finding, about: &Definition) -> bool {
        let begins_or_ends_here =
            |span: &Span| self.is_beside(span, span.line) || self.is_beside(span, last_line(span));
        self.rules.contains(&finding.rule)
            && (finding.after.span().is_some_and(begins_or_ends_here)
                || about.places.iter().any(|span| self.is_beside(span, span.line)))
    }

    fn is_beside(&self, span: &Span, line: u32) -> bool {
        // Places in source notebooks carry a cell and count their lines in the file, as comments do.
        let same_cell = self.span.cell.is_none() || self.span.cell == span.cell;
        self.span.path == span.path && same_cell && self.line == line
    }
}

/// The last line of a place: an end in a line's first column stands behind the line before.
fn last_line(span: &Span) -> u32 {
    if span.end_column <= 1 { span.end_line.saturating_sub(1).max(span.line) } else { span.end_line }
}

/// The suppressions of a file, and what is wrong in those that cannot be read.
pub fn suppressions(path: &Arc<str>, text: &str) -> (Vec<Suppression>, Vec<Diagnostic>) {
    if !text.contains(MARK) {
        return Default::default();
    }
    let all = comments(path, text);
    let mut found = Vec::new();
    let mut diagnostics = Vec::new();
    for comment in &all {
        let Some(directive) = comment.text.trim().strip_prefix(MARK) else { continue };
        let span = span(path, comment);
        match parse(directive.trim()) {
            Ok((rules, reason)) => {
                let line = if comment.own_line { line_below(comment, &all) } else { comment.line };
                found.push(Suppression { rules, reason, span, line });
            }
            Err(message) => diagnostics.push(
                Diagnostic::new(DiagnosticLevel::Warning, "broken-suppression", message).at(&span).with_help(FORM),
            ),
        }
    }
    (found, diagnostics)
}

/// The line under a comment that stands alone, below the comments that follow it without a gap.
fn line_below(comment: &Comment, all: &[Comment]) -> u32 {
    let mut line = comment.end_line + 1;
    for next in all.iter().filter(|next| next.own_line && next.cell == comment.cell) {
        if next.line == line {
            line = next.end_line + 1;
        }
    }
    line
}

/// Rules and reason of `allow RULE[, RULE] -- why`.
fn parse(directive: &str) -> Result<(Vec<String>, String), String> {
    let (verb, rest) = directive.split_once(char::is_whitespace).unwrap_or((directive, ""));
    if verb != "allow" {
        return Err(format!("`pipelint: {verb}` means nothing"));
    }
    let spaced = format!(" {rest} ");
    let (rules, reason) = spaced.split_once(" -- ").or_else(|| spaced.split_once(" — ")).unwrap_or((&spaced, ""));
    let reason = reason.trim();
    let rules: Vec<String> = rules
        .split(|c: char| c == ',' || c.is_whitespace())
        .filter(|rule| !rule.is_empty())
        .map(str::to_owned)
        .collect();
    match (rules.is_empty(), reason.is_empty()) {
        (true, _) => Err("this suppression names no rule".to_owned()),
        (_, true) => Err("this suppression gives no reason, and does not count".to_owned()),
        _ => Ok((rules, reason.to_owned())),
    }
}

fn span(path: &Arc<str>, comment: &Comment) -> Span {
    let width = u32::try_from(comment.text.chars().count()).unwrap_or(u32::MAX - comment.column - 2);
    Span {
        path: Arc::clone(path),
        line: comment.line,
        column: comment.column,
        end_line: comment.line,
        end_column: comment.column + width + 1,
        cell: comment.cell,
    }
}
