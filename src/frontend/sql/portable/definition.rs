//! Definitions: what Lakeflow's CREATE and APPLY CHANGES say that Spark's do not.

use super::edits::{Porting, quoted};
use super::{Definition, Portable};
use crate::frontend::sql::cursor::Cursor;
use crate::frontend::sql::tokens::{Lexeme, is_word};
use sqlparser::tokenizer::Token;
use std::ops::Range;

/// Clauses of a definition that Lakeflow alone knows, and what leads up to them.
const DROPPED_CLAUSES: [(&[&str], &str); 12] = [
    (&["cluster", "by", "auto"], "CLUSTER BY AUTO"),
    (&["cluster", "by", "none"], "CLUSTER BY NONE"),
    (&["location"], "LOCATION"),
    (&["options"], "OPTIONS"),
    (&["with", "row", "filter"], "ROW FILTER"),
    (&["row", "filter"], "ROW FILTER"),
    (&["with", "schema"], "WITH SCHEMA"),
    (&["with", "tags"], "TAGS"),
    (&["default", "collation"], "DEFAULT COLLATION"),
    (&["refresh", "policy"], "REFRESH POLICY"),
    (&["schedule"], "SCHEDULE"),
    (&["trigger"], "TRIGGER"),
];

const KEPT_CLAUSES: [&[&str]; 5] =
    [&["partitioned", "by"], &["cluster", "by"], &["comment"], &["tblproperties"], &["using"]];

/// Words behind which a column's definition says more than name, type and comment.
const COLUMN_EXTRAS: [&str; 6] = ["constraint", "not", "primary", "foreign", "mask", "default"];

impl<'a> Porting<'a> {
    pub(super) fn statement(mut self) -> Portable {
        if self.cursor.at_words(&["set"]) {
            return Portable::Setting(self.written());
        }
        let target = if self.cursor.at_words(&["create"]) {
            self.create()
        } else if self.cursor.at_words(&["apply", "changes"]) {
            self.apply_changes()
        } else {
            return Portable::Other;
        };
        match target {
            Ok(None) => Portable::Other,
            Ok(Some((target, view))) => {
                Portable::Definition(Definition { sql: self.written(), target, view, replaced: self.replaced })
            }
            Err((target, reason)) => Portable::Refused { target, reason },
        }
    }

    fn create(&mut self) -> Result<Option<(String, bool)>, (String, String)> {
        self.cursor.take_word("create");
        let mut head = Vec::new();
        let mut lakeflow = false;
        loop {
            if self.cursor.take_words(&["or", "refresh"]) {
                lakeflow = true;
                self.note("CREATE OR REFRESH", "CREATE");
            } else if self.cursor.take_words(&["or", "replace"]) {
            } else if self.cursor.take_word("private") {
                lakeflow = true;
                self.note("PRIVATE", "nothing");
            } else if self.cursor.take_word("live") {
                lakeflow = true;
                head.push("live");
                self.note("LIVE", "nothing");
            } else if self.cursor.take_word("streaming") || self.cursor.take_word("incremental") {
                head.push("streaming");
            } else if self.cursor.take_word("temporary") || self.cursor.take_word("temp") {
            } else {
                break;
            }
        }
        let (kind, view) = if self.cursor.take_word("flow") {
            return self.flow().map(|target| Some((target, false)));
        } else if self.cursor.take_words(&["materialized", "view"])
            || self.cursor.take_words(&["materialized", "live", "view"])
        {
            ("MATERIALIZED VIEW", false)
        } else if self.cursor.take_word("view") {
            ("TEMPORARY VIEW", true)
        } else if self.cursor.take_word("table") {
            match head.as_slice() {
                head if head.contains(&"streaming") => ("STREAMING TABLE", false),
                head if head.contains(&"live") => ("MATERIALIZED VIEW", false),
                _ => return Ok(None),
            }
        } else {
            return Ok(None);
        };
        let replace = if view { "CREATE OR REPLACE" } else { "CREATE" };
        if view && !lakeflow {
            self.note("CREATE VIEW", "CREATE OR REPLACE TEMPORARY VIEW");
        }
        self.rewrite(0..self.cursor.index(), format!("{replace} {kind}"));
        let condition = self.cursor.index();
        if self.cursor.take_words(&["if", "not", "exists"]) && view {
            self.rewrite(condition..self.cursor.index(), "");
        }
        let target = self.target(view).ok_or_else(|| (String::new(), "it has no name".to_owned()))?;
        let refused = |reason: String| (target.clone(), reason);
        if self.cursor.peek() == Some(&Token::LParen) {
            self.columns().map_err(refused)?;
        }
        self.clauses(kind).map_err(refused)?;
        if self.cursor.take_word("as") {
            self.written_rows().map_err(refused)?;
        }
        Ok(Some((target, view)))
    }

    /// Takes a dotted name and writes the table that stands for it.
    fn target(&mut self, view: bool) -> Option<String> {
        let start = self.cursor.index();
        let mut parts = self.cursor.take_name()?;
        if parts.len() > 1 && parts.first().is_some_and(|first| first.eq_ignore_ascii_case("live")) {
            parts.remove(0);
        }
        let last = parts.last().cloned()?;
        if self.by.is_lakeflow() {
            self.expected = self.by.filter(&parts);
        }
        let name = if view { last } else { self.by.table(&parts).unwrap_or(last) };
        self.edit(start..self.cursor.index(), quoted(&name));
        Some(name)
    }

    /// A column list: constraints go, and what a column says beyond its name, its type and its comment.
    fn columns(&mut self) -> Result<(), String> {
        let open = self.cursor.index();
        let Some(inner) = self.cursor.take_parenthesized() else {
            return Err("its column list does not end".to_owned());
        };
        let (start, close) = (open + 1, self.cursor.index());
        let mut kept: Vec<String> = Vec::new();
        let mut changed = false;
        for item in items(inner, start) {
            let words = |word: &str| self.lexemes.get(item.start).is_some_and(|lexeme| is_word(&lexeme.token, word));
            if words("constraint") || words("primary") || words("foreign") {
                changed = true;
                self.note_constraint(item.clone());
                continue;
            }
            let (text, cut) = self.column(item.clone())?;
            if cut {
                self.note_constraint(item);
            }
            changed |= cut;
            kept.push(text);
        }
        if changed {
            let text = if kept.is_empty() { String::new() } else { format!("({})", kept.join(", ")) };
            self.rewrite(open..close, text);
        }
        Ok(())
    }

    fn note_constraint(&mut self, item: Range<usize>) {
        let tokens = self.lexemes.get(item).unwrap_or_default();
        if !tokens.iter().any(|lexeme| is_word(&lexeme.token, "expect")) {
            self.note("constraints of columns", "nothing");
        }
    }

    /// A column's text without its extras, and whether there were any.
    fn column(&self, item: Range<usize>) -> Result<(String, bool), String> {
        let tokens = self.lexemes.get(item.clone()).unwrap_or_default();
        if self.by.is_lakeflow() && tokens.iter().any(|lexeme| is_word(&lexeme.token, "generated")) {
            return Err("generated columns have no equivalent".to_owned());
        }
        let extra =
            tokens.iter().skip(1).position(|lexeme| COLUMN_EXTRAS.iter().any(|word| is_word(&lexeme.token, word)));
        let end = extra.map_or(item.end, |extra| item.start + 1 + extra);
        let mut text = self.text(item.start..end);
        if extra.is_some()
            && let Some(comment) = tokens.iter().position(|lexeme| is_word(&lexeme.token, "comment"))
            && item.start + comment > end
        {
            text.push(' ');
            text.push_str(&self.text(item.start + comment..item.start + comment + 2));
        }
        Ok((text, extra.is_some()))
    }

    pub(super) fn text(&self, tokens: Range<usize>) -> String {
        self.cursor.lexed.text.get(self.bytes(tokens)).unwrap_or_default().to_owned()
    }

    /// Clauses between the columns and the query.
    fn clauses(&mut self, kind: &str) -> Result<(), String> {
        while !self.cursor.at_end() && !self.cursor.at_words(&["as"]) {
            let start = self.cursor.index();
            if self.cursor.at_words(&["flow"]) {
                return self.inline_flow();
            }
            let dropped = DROPPED_CLAUSES.iter().find(|(words, _)| self.cursor.at_words(words));
            if let Some((words, name)) = dropped {
                self.cursor.take_words(words);
                self.take_clause();
                self.rewrite(start..self.cursor.index(), "");
                self.note(*name, "nothing");
            } else if let Some(words) = KEPT_CLAUSES.iter().find(|words| self.cursor.at_words(words)) {
                self.cursor.take_words(words);
                self.take_clause();
                self.kept(kind, words, start);
            } else if !self.by.is_lakeflow() {
                self.cursor.advance();
            } else {
                let text = self.cursor.lexeme().map(|lexeme| lexeme.token.to_string()).unwrap_or_default();
                return Err(format!("the clause at `{text}` has no equivalent"));
            }
        }
        Ok(())
    }

    fn take_clause(&mut self) {
        self.take_to(|cursor| {
            cursor.at_words(&["as"])
                || cursor.at_words(&["flow"])
                || DROPPED_CLAUSES.iter().any(|(words, _)| cursor.at_words(words))
                || KEPT_CLAUSES.iter().any(|words| cursor.at_words(words))
        });
    }

    /// Takes what stands before the first token that stops it, which may be the next one.
    fn take_to(&mut self, stop: impl Fn(&Cursor<'a>) -> bool) {
        if !stop(&self.cursor) {
            self.cursor.take_until(stop);
        }
    }

    fn kept(&mut self, kind: &str, words: &[&str], start: usize) {
        let end = self.cursor.index();
        match words {
            ["using"] => {
                let format = self.text(start + 1..end).to_lowercase();
                if !self.by.has_format(&format) {
                    self.rewrite(start..end, "");
                    self.note(format!("USING {format}"), "Parquet files");
                }
            }
            // Spark 4.3 fails on a partitioned materialized view of files (INTERNAL_ERROR).
            ["partitioned", "by"] if kind == "MATERIALIZED VIEW" && !self.by.can_merge() => {
                self.rewrite(start..end, "");
                self.note("PARTITIONED BY of materialized views", "nothing");
            }
            _ => {}
        }
    }

    /// `CREATE FLOW name AS INSERT INTO t BY NAME query | AUTO CDC INTO t …`.
    fn flow(&mut self) -> Result<String, (String, String)> {
        let unnamed = || (String::new(), "it names no target".to_owned());
        let refused = |target: &str, reason: &str| (target.to_owned(), reason.to_owned());
        let _ = self.cursor.take_words(&["if", "not", "exists"]);
        self.cursor.take_name().ok_or_else(unnamed)?;
        self.take_to(|cursor| cursor.at_words(&["as"]));
        self.cursor.take_word("as");
        let mut once = self.cursor.take_word("once");
        let cdc = self.cursor.take_words(&["auto", "cdc"]);
        if !cdc && !self.cursor.take_word("insert") {
            return Err(unnamed());
        }
        once |= self.cursor.take_word("once");
        let into = self.cursor.take_word("into");
        once |= self.cursor.take_word("once");
        let target = into.then(|| self.target(false)).flatten().ok_or_else(unnamed)?;
        if once && self.by.is_lakeflow() {
            return Err(refused(&target, "a flow that runs once has no equivalent"));
        }
        if cdc {
            self.auto_cdc().map_err(|reason| refused(&target, &reason))?;
            return Ok(target);
        }
        if self.cursor.at_words(&["replace"]) {
            return Err(refused(&target, "a flow that replaces rows has no equivalent"));
        }
        if !self.cursor.take_words(&["by", "name"]) && self.by.is_lakeflow() {
            self.insert("BY NAME ");
            self.note("INSERT INTO", "INSERT INTO … BY NAME");
        }
        self.written_rows().map_err(|reason| refused(&target, &reason))?;
        Ok(target)
    }

    fn inline_flow(&mut self) -> Result<(), String> {
        self.cursor.take_word("flow");
        if self.cursor.take_words(&["auto", "cdc"]) && !self.cursor.at_words(&["once"]) {
            return self.auto_cdc();
        }
        if self.by.is_lakeflow() {
            return Err("a FLOW clause in a table's definition has no equivalent".to_owned());
        }
        self.query()
    }

    /// `APPLY CHANGES INTO t FROM …`: the flow is named as its target.
    fn apply_changes(&mut self) -> Result<Option<(String, bool)>, (String, String)> {
        self.cursor.take_words(&["apply", "changes", "into"]);
        let head = self.cursor.index();
        let _ = self.cursor.take_word("live").then(|| self.cursor.take(&Token::Period));
        let target = self.target(false).ok_or_else(|| (String::new(), "it names no target".to_owned()))?;
        self.rewrite(0..head, format!("CREATE FLOW {} AS AUTO CDC INTO", quoted(&target)));
        self.note("APPLY CHANGES INTO", "AUTO CDC INTO");
        self.auto_cdc().map_err(|reason| (target.clone(), reason))?;
        Ok(Some((target, false)))
    }

    fn auto_cdc(&mut self) -> Result<(), String> {
        if !self.by.can_merge() && self.by.is_lakeflow() {
            return Err("AUTO CDC needs tables with MERGE, such as Delta Lake's".to_owned());
        }
        if self.expected != Ok(None) {
            return Err("an expectation on the target of AUTO CDC has no equivalent".to_owned());
        }
        self.query()
    }

    /// The query that gives the target's rows, up to the end: those that its expectations let through.
    pub(super) fn written_rows(&mut self) -> Result<(), String> {
        let Some(filter) = self.expected.clone()? else { return self.query() };
        self.insert("SELECT * FROM (");
        self.query()?;
        self.insert(format!(") WHERE {filter}"));
        Ok(())
    }
}

/// The items of a list without its parentheses, as ranges of tokens; `start` is the index of the first.
fn items(inner: &[Lexeme], start: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut from, mut depth) = (0, 0usize);
    for (at, lexeme) in inner.iter().enumerate() {
        match lexeme.token {
            Token::LParen | Token::Lt => depth += 1,
            Token::RParen | Token::Gt => depth = depth.saturating_sub(1),
            Token::ShiftRight => depth = depth.saturating_sub(2),
            Token::Comma if depth == 0 => {
                found.push(start + from..start + at);
                from = at + 1;
            }
            _ => {}
        }
    }
    if from < inner.len() {
        found.push(start + from..start + inner.len());
    }
    found
}
