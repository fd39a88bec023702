//! Pipeline SQL of Lakeflow as Apache Spark's parser takes it.
//!
//! Takes a text and the names that stand for its tables and files; gives its statements with what Lakeflow alone knows cut out
//! or replaced, token by token, and says what was. Everything else stays as it is written: it is Spark that reads it. What has
//! no equivalent is refused with a reason.

use super::Context;
use super::cursor::Cursor;
use super::text::decode;
use super::tokens::{Lexed, Lexeme, is_word, lex, statements, string_value};
use sqlparser::tokenizer::Token;
use std::ops::Range;

/// What stands for the tables, files and topics that a text names.
pub trait Replacements {
    /// The table for a dotted name; none where the name stays.
    fn table(&self, parts: &[String]) -> Option<String>;
    /// The table for files under a path.
    fn files(&self, path: &str) -> Option<String>;
    /// The table for a topic.
    fn topic(&self, topic: &str) -> Option<String>;
    /// What rows must hold to go into a dataset, as SQL; none where every row does.
    ///
    /// # Errors
    /// Why that is not known.
    fn filter(&self, parts: &[String]) -> Result<Option<String>, String>;
    /// Tables of this format are to be had.
    fn has_format(&self, format: &str) -> bool;
    /// The text is Lakeflow's; of Spark's own only names are replaced.
    fn is_lakeflow(&self) -> bool;
    /// Tables can be merged into, as AUTO CDC does.
    fn can_merge(&self) -> bool;
}

/// What a statement of a pipeline becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Portable {
    /// `SET key = value`, which holds for the statements after it.
    Setting(String),
    Definition(Definition),
    /// Something of the user's platform that Spark has nothing for.
    Refused {
        target: String,
        reason: String,
    },
    /// It defines nothing.
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    pub sql: String,
    /// The table, as it is called now, or the view.
    pub target: String,
    pub view: bool,
    /// What was replaced, and by what.
    pub replaced: Vec<(String, String)>,
}

/// The statements of a text, in order.
pub fn portable_statements(text: &str, context: &Context, by: &dyn Replacements) -> Vec<Portable> {
    let lexed = lex(text, context);
    statements(&lexed.lexemes)
        .into_iter()
        .map(|lexemes| Porting::new(&lexed, lexemes, context, by).statement())
        .collect()
}

/// What a text that code gives to `spark.sql` becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PortableQuery {
    Query(String),
    /// It does something and defines nothing (`CREATE SCHEMA`, `USE`): its first words.
    Command(String),
}

/// Commands that tell of the platform: code goes on with what they give.
const TELLING: [&str; 4] = ["show", "desc", "explain", "list"];

/// A statement alone, as `spark.sql` takes it.
///
/// # Errors
/// What it uses and Spark has nothing for.
pub fn portable_query(text: &str, context: &Context, by: &dyn Replacements) -> Result<PortableQuery, String> {
    let lexed = lex(text, context);
    let Some(lexemes) = statements(&lexed.lexemes).into_iter().next() else {
        return Ok(PortableQuery::Query(text.to_owned()));
    };
    let mut porting = Porting::new(&lexed, lexemes, context, by);
    let reads = |token: &Token| *token == Token::LParen || QUERY_HEADS.iter().any(|word| is_word(token, word));
    let sets = by.is_lakeflow() && porting.cursor.at_words(&["set"]);
    if !sets && !lexemes.first().is_some_and(|lexeme| reads(&lexeme.token)) {
        let command = porting.command();
        if by.is_lakeflow() && !TELLING.iter().any(|word| porting.cursor.at_words(&[word])) {
            return Ok(PortableQuery::Command(command));
        }
        return Err(format!("`{command} …` is no query, and pipeline code is not to change anything by itself"));
    }
    porting.query()?;
    Ok(PortableQuery::Query(porting.written()))
}

/// What a query begins with, beside `(`.
const QUERY_HEADS: [&str; 8] = ["select", "with", "from", "values", "table", "map", "reduce", "describe"];

/// Functions whose arguments stand behind FROM.
const WITH_FROM: [&str; 5] = ["extract", "trim", "substring", "substr", "overlay"];

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

struct Porting<'a> {
    cursor: Cursor<'a>,
    lexemes: &'a [Lexeme],
    context: &'a Context<'a>,
    by: &'a dyn Replacements,
    edits: Vec<(Range<usize>, String)>,
    replaced: Vec<(String, String)>,
    /// What rows must hold to go into the target.
    expected: Result<Option<String>, String>,
}

impl<'a> Porting<'a> {
    fn new(lexed: &'a Lexed, lexemes: &'a [Lexeme], context: &'a Context<'a>, by: &'a dyn Replacements) -> Self {
        let cursor = Cursor::new(lexed, lexemes);
        Porting { cursor, lexemes, context, by, edits: Vec::new(), replaced: Vec::new(), expected: Ok(None) }
    }

    fn statement(mut self) -> Portable {
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

    /// The first words of a statement.
    fn command(&self) -> String {
        let words = self.lexemes.iter().map_while(|lexeme| match &lexeme.token {
            Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_uppercase()),
            _ => None,
        });
        words.take(2).collect::<Vec<_>>().join(" ")
    }

    /// The bytes of tokens that stand one after the other.
    fn bytes(&self, range: Range<usize>) -> Range<usize> {
        let tokens = self.lexemes.get(range).unwrap_or_default();
        match (tokens.first(), tokens.last()) {
            (Some(first), Some(last)) => first.bytes.start..last.bytes.end,
            _ => 0..0,
        }
    }

    fn edit(&mut self, tokens: Range<usize>, text: impl Into<String>) {
        let bytes = self.bytes(tokens);
        if bytes.end > bytes.start {
            self.edits.push((bytes, text.into()));
        }
    }

    /// Puts a text in front of the next token, or at the end.
    fn insert(&mut self, text: impl Into<String>) {
        let at = match self.cursor.lexeme() {
            Some(next) => next.bytes.start,
            None => self.bytes(0..self.lexemes.len()).end,
        };
        self.edits.push((at..at, text.into()));
    }

    /// An edit of what is not a name: Spark's own SQL says what it means.
    fn rewrite(&mut self, tokens: Range<usize>, text: impl Into<String>) {
        if self.by.is_lakeflow() {
            self.edit(tokens, text);
        }
    }

    fn note(&mut self, what: impl Into<String>, by: impl Into<String>) {
        let entry = (what.into(), by.into());
        if self.by.is_lakeflow() && !self.replaced.contains(&entry) {
            self.replaced.push(entry);
        }
    }

    /// The statement's text with all edits; where two overlap, the one that starts first counts.
    fn written(&mut self) -> String {
        let whole = self.bytes(0..self.lexemes.len());
        self.edits.sort_by_key(|(range, _)| (range.start, range.end));
        let mut text = String::new();
        let mut at = whole.start;
        for (range, replacement) in &self.edits {
            if range.start < at {
                continue;
            }
            text.push_str(self.cursor.lexed.text.get(at..range.start).unwrap_or_default());
            text.push_str(replacement);
            at = range.end;
        }
        text.push_str(self.cursor.lexed.text.get(at..whole.end).unwrap_or_default());
        decode(&text)
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

    fn text(&self, tokens: Range<usize>) -> String {
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
    fn written_rows(&mut self) -> Result<(), String> {
        let Some(filter) = self.expected.clone()? else { return self.query() };
        self.insert("SELECT * FROM (");
        self.query()?;
        self.insert(format!(") WHERE {filter}"));
        Ok(())
    }

    /// The rest of the statement: readers, `LIVE.` and the names of tables.
    fn query(&mut self) -> Result<(), String> {
        while let Some(token) = self.cursor.peek() {
            let start = self.cursor.index();
            match token {
                Token::Placeholder(name) => {
                    let key = name.trim_start_matches([':', '$']);
                    let value =
                        self.context.parameter(key).ok_or_else(|| format!("the parameter {name} has no value"))?;
                    let text = format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"));
                    self.edit(start..start + 1, text);
                    self.cursor.advance();
                }
                Token::Word(word) if self.cursor.peek_at(1) == Some(&Token::LParen) && word.quote_style.is_none() => {
                    let function = word.value.to_lowercase();
                    self.cursor.advance();
                    self.reader(&function, start)?;
                }
                Token::Word(_) => self.name(start)?,
                _ => {
                    self.cursor.advance();
                }
            }
        }
        Ok(())
    }

    /// A table-valued function that reads; others stay.
    fn reader(&mut self, function: &str, start: usize) -> Result<(), String> {
        let topic = matches!(function, "read_kafka" | "read_kinesis" | "read_pubsub" | "read_pulsar");
        if function == "table_changes" {
            return Err("a change data feed needs Delta Lake".to_owned());
        }
        if !topic && !matches!(function, "read_files" | "cloud_files") {
            return Ok(());
        }
        let inner = self.cursor.take_parenthesized().unwrap_or_default();
        let table = if topic {
            let named = |word: &str| argument(inner, word);
            let topic = named("subscribe").or_else(|| named("topic")).or_else(|| named("streamname"));
            topic.and_then(|topic| self.by.topic(&topic)).ok_or("no rows are known for the topic")?
        } else {
            let path = inner.first().and_then(|lexeme| string_value(&lexeme.token)).map(|text| decode(text));
            let path = path.or_else(|| argument(inner, "path")).ok_or("the path of a reader is not a constant")?;
            let table = self.by.files(&path).ok_or_else(|| format!("no rows are known for the path {path}"))?;
            self.note(format!("{function}('{path}')"), format!("the table {table}"));
            table
        };
        // `cloud_files` is a stream without being called one.
        let streaming = function == "cloud_files" && !self.is_streamed(start);
        let text = if streaming { format!("STREAM({})", quoted(&table)) } else { quoted(&table) };
        self.edit(start..self.cursor.index(), text);
        Ok(())
    }

    fn is_streamed(&self, at: usize) -> bool {
        let before = |back: usize| at.checked_sub(back).and_then(|at| self.lexemes.get(at)).map(|lexeme| &lexeme.token);
        before(1).is_some_and(|token| is_word(token, "stream"))
            || before(1) == Some(&Token::LParen) && before(2).is_some_and(|token| is_word(token, "stream"))
    }

    /// A dotted name: `LIVE.` goes, and a table's name is replaced, also where it qualifies a column.
    fn name(&mut self, start: usize) -> Result<(), String> {
        let Some(mut parts) = self.cursor.take_name() else {
            self.cursor.advance();
            return Ok(());
        };
        let mut first = start;
        if parts.len() > 1 && parts.first().is_some_and(|part| part.eq_ignore_ascii_case("live")) {
            parts.remove(0);
            first += 2;
            self.edit(start..first, "");
            self.note("LIVE.", "nothing");
        }
        if let [format, path] = parts.as_slice()
            && path.contains('/')
        {
            if let Some(table) = self.by.files(path) {
                self.edit(first..self.cursor.index(), quoted(&table));
                self.note(format!("{format}.`{path}`"), format!("the table {table}"));
            }
            return Ok(());
        }
        let shortest = if self.is_relation(start) { 1 } else { 2 };
        for length in (shortest..=parts.len().min(3)).rev() {
            let Some(name) = parts.get(..length) else { continue };
            let Some(table) = self.by.table(name).filter(|table| length > 1 || *table != parts.concat()) else {
                continue;
            };
            self.edit(first..first + length * 2 - 1, quoted(&table));
            if length > 1 || name.concat() != table {
                self.note(name.join("."), format!("the table {table}"));
            }
            return Ok(());
        }
        // The user's own tables are not read, wherever the server could find them.
        if parts.len() > 1 && self.is_relation(start) && !self.is_operand(start) {
            return Err(format!("no rows are known for the table {}", parts.join(".")));
        }
        Ok(())
    }

    /// Whether the FROM before a place belongs to an expression: `a IS DISTINCT FROM b`, `extract(day FROM b)`.
    fn is_operand(&self, at: usize) -> bool {
        let token = |at: usize| self.lexemes.get(at).map(|lexeme| &lexeme.token);
        let is_distinct = at >= 2 && token(at - 2).is_some_and(|token| is_word(token, "distinct"));
        let mut depth = 0usize;
        let open = (0..at).rev().find(|at| match token(*at) {
            Some(Token::RParen) => {
                depth += 1;
                false
            }
            Some(Token::LParen) if depth > 0 => {
                depth -= 1;
                false
            }
            other => other == Some(&Token::LParen),
        });
        let called = open.and_then(|open| token(open.checked_sub(1)?));
        is_distinct || called.is_some_and(|token| WITH_FROM.iter().any(|word| is_word(token, word)))
    }

    /// True where a relation's name stands.
    fn is_relation(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|at| self.lexemes.get(at)).map(|lexeme| &lexeme.token);
        before.is_some_and(|token| ["from", "join", "stream", "into"].iter().any(|word| is_word(token, word)))
            || self.is_streamed(at)
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

/// The text of `word => 'text'`.
fn argument(inner: &[Lexeme], word: &str) -> Option<String> {
    let at = inner.iter().position(|lexeme| is_word(&lexeme.token, word))?;
    string_value(&inner.get(at + 2)?.token).map(|text| decode(text))
}

fn quoted(name: &str) -> String {
    let plain =
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_ascii_digit());
    if plain { name.to_owned() } else { format!("`{}`", name.replace('`', "``")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::origin::Origin;

    struct Files;

    impl Replacements for Files {
        fn table(&self, parts: &[String]) -> Option<String> {
            match parts.join(".").as_str() {
                "main.raw.events" | "raw.events" => Some("events".to_owned()),
                "orders" => Some("silver__orders".to_owned()),
                _ => None,
            }
        }
        fn filter(&self, parts: &[String]) -> Result<Option<String>, String> {
            match parts.join(".").as_str() {
                "kept" => Ok(Some("a > 0".to_owned())),
                "odd" => Err("it is not known".to_owned()),
                _ => Ok(None),
            }
        }
        fn files(&self, path: &str) -> Option<String> {
            path.starts_with("/Volumes").then(|| "landing".to_owned())
        }
        fn topic(&self, topic: &str) -> Option<String> {
            (topic == "clicks").then(|| "clicks".to_owned())
        }
        fn has_format(&self, format: &str) -> bool {
            format == "parquet"
        }
        fn is_lakeflow(&self) -> bool {
            true
        }
        fn can_merge(&self) -> bool {
            false
        }
    }

    fn one(text: &str) -> Definition {
        let context = Context::new(Origin::default());
        match portable_statements(text, &context, &Files).remove(0) {
            Portable::Definition(definition) => definition,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_lakeflow_s_own_is_cut_out_of_a_definition() {
        let text = "CREATE OR REFRESH STREAMING TABLE main.raw.events (\n  id BIGINT NOT NULL COMMENT 'k', m MAP<INT, INT>,\n  CONSTRAINT ok EXPECT (id > 0) ON VIOLATION DROP ROW\n) USING DELTA CLUSTER BY AUTO COMMENT 'c' TBLPROPERTIES ('a' = 'b')\nAS SELECT * FROM STREAM(LIVE.x)";
        let ported = one(text);
        assert_eq!(
            ported.sql,
            "CREATE STREAMING TABLE events (id BIGINT COMMENT 'k', m MAP<INT, INT>)   COMMENT 'c' TBLPROPERTIES ('a' = 'b')\nAS SELECT * FROM STREAM(x)"
        );
        assert_eq!(ported.target, "events");
        let told: Vec<&str> = ported.replaced.iter().map(|(what, _)| what.as_str()).collect();
        assert_eq!(told, ["CREATE OR REFRESH", "constraints of columns", "USING delta", "CLUSTER BY AUTO", "LIVE."]);
    }

    #[test]
    fn readers_become_tables_and_names_those_of_the_run() {
        assert_eq!(
            one("CREATE STREAMING LIVE TABLE t (CONSTRAINT c EXPECT (a)) AS SELECT * FROM cloud_files('/Volumes/a', 'json')").sql,
            "CREATE STREAMING TABLE t  AS SELECT * FROM STREAM(landing)"
        );
        assert_eq!(
            one("CREATE LIVE VIEW v AS SELECT raw.events.id, o.id FROM raw.events JOIN orders o WHERE orders > 1").sql,
            "CREATE OR REPLACE TEMPORARY VIEW v AS SELECT events.id, o.id FROM events JOIN silver__orders o WHERE orders > 1"
        );
        assert_eq!(
            one("CREATE STREAMING TABLE t AS SELECT * FROM STREAM read_kafka(bootstrapServers => 'h', subscribe => 'clicks')").sql,
            "CREATE STREAMING TABLE t AS SELECT * FROM STREAM clicks"
        );
        assert_eq!(
            one("CREATE FLOW f AS INSERT INTO orders SELECT 'from raw.events' AS a FROM STREAM(main.raw.events)").sql,
            "CREATE FLOW f AS INSERT INTO silver__orders BY NAME SELECT 'from raw.events' AS a FROM STREAM(events)"
        );
    }

    #[test]
    fn rows_that_an_expectation_drops_are_filtered_behind_the_query() {
        for (text, ported) in [
            (
                "CREATE STREAMING TABLE kept (CONSTRAINT c EXPECT (a > 0) ON VIOLATION DROP ROW) AS SELECT a FROM STREAM(x) -- all",
                "CREATE STREAMING TABLE kept  AS SELECT * FROM (SELECT a FROM STREAM(x)) WHERE a > 0",
            ),
            (
                "CREATE LIVE VIEW kept AS WITH y AS (SELECT 1 AS a) SELECT * FROM y",
                "CREATE OR REPLACE TEMPORARY VIEW kept AS SELECT * FROM (WITH y AS (SELECT 1 AS a) SELECT * FROM y) WHERE a > 0",
            ),
            (
                "CREATE FLOW f AS INSERT INTO kept SELECT a FROM STREAM(main.raw.events)",
                "CREATE FLOW f AS INSERT INTO kept BY NAME SELECT * FROM (SELECT a FROM STREAM(events)) WHERE a > 0",
            ),
            ("CREATE STREAMING TABLE kept (CONSTRAINT c EXPECT (a > 0))", "CREATE STREAMING TABLE kept "),
        ] {
            assert_eq!(one(text).sql, ported);
        }
    }

    #[test]
    fn what_has_no_equivalent_is_refused_with_its_target() {
        let context = Context::new(Origin::default());
        let refused = |text: &str| match portable_statements(text, &context, &Files).remove(0) {
            Portable::Refused { target, reason } => (target, reason),
            other => panic!("{other:?}"),
        };
        let (target, reason) = refused("APPLY CHANGES INTO LIVE.t FROM STREAM(x) KEYS (id) SEQUENCE BY ts");
        assert_eq!(target, "t");
        assert!(reason.contains("MERGE"));
        assert!(refused("CREATE STREAMING TABLE t AS SELECT * FROM STREAM read_files('s3://x')").1.contains("s3://x"));
        assert!(refused("CREATE FLOW f AS INSERT INTO ONCE t BY NAME SELECT 1").1.contains("once"));
        assert_eq!(refused("CREATE STREAMING TABLE odd AS SELECT 1").1, "it is not known");
    }

    #[test]
    fn queries_at_run_time_lose_only_what_must_go() {
        let context = Context::new(Origin::default());
        let text = "SELECT id -- LIVE.x\n FROM LIVE.a JOIN main.raw.events e ON a.id = e.id";
        let query = "SELECT id -- LIVE.x\n FROM a JOIN events e ON a.id = e.id".to_owned();
        assert_eq!(portable_query(text, &context, &Files), Ok(PortableQuery::Query(query)));
    }

    #[test]
    fn commands_define_nothing_and_settings_hold() {
        let context = Context::new(Origin::default());
        let of = |text: &str| portable_query(text, &context, &Files);
        assert_eq!(of("create schema if not exists a.b"), Ok(PortableQuery::Command("CREATE SCHEMA".to_owned())));
        assert_eq!(of("USE CATALOG main;"), Ok(PortableQuery::Command("USE CATALOG".to_owned())));
        assert_eq!(of("SET a.b = 1"), Ok(PortableQuery::Query("SET a.b = 1".to_owned())));
        assert_eq!(of("(SELECT 1)"), Ok(PortableQuery::Query("(SELECT 1)".to_owned())));
        assert!(of("SHOW TABLES IN a").is_err_and(|reason| reason.starts_with("`SHOW TABLES …` is no query")));
    }
}
