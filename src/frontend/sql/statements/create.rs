//! `CREATE`: streaming tables, materialized views, views, tables; legacy `LIVE` spellings too.

use super::{Read, Statement, StatementReader, split_commas, unquoted};
use crate::frontend::content_hash;
use crate::frontend::sql::cursor::Cursor;
use crate::frontend::sql::tokens::{Lexed, Lexeme};
use crate::model::{DataType, Dataset, DatasetKind, Flow, FlowKind, Opaque, Place, Plan, QualifiedName};
use sqlparser::tokenizer::Token;

/// The words between CREATE and the kind of thing.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Head {
    pub or_refresh: bool,
    pub or_replace: bool,
    pub private: bool,
    pub temporary: bool,
    pub live: bool,
    pub streaming: bool,
    pub external: bool,
}

impl<'a> StatementReader<'a> {
    pub(super) fn create(&mut self) -> Read<Statement> {
        self.expect_word("create")?;
        let head = self.head();
        let place = self.place_since(0);
        if head.or_refresh {
            self.only_on_lakeflow("CREATE OR REFRESH", &place);
        }
        if head.live {
            self.only_on_lakeflow("LIVE", &place);
        }
        if head.private {
            self.only_on_lakeflow("PRIVATE", &place);
        }
        if self.cursor.take_word("flow") {
            return self.create_flow();
        }
        let kind = if self.cursor.take_words(&["materialized", "view"])
            || self.cursor.take_words(&["materialized", "live", "view"])
        {
            DatasetKind::MaterializedView
        } else if self.cursor.take_word("view") {
            DatasetKind::View
        } else if self.cursor.take_word("table") {
            match (head.streaming, head.live) {
                (true, _) => DatasetKind::StreamingTable,
                (false, true) => DatasetKind::MaterializedView,
                (false, false) => DatasetKind::Table,
            }
        } else {
            return self.create_other();
        };
        if kind == DatasetKind::View && self.is_metric_view() {
            return Ok(Statement::Other { what: "CREATE VIEW … WITH METRICS".to_owned(), matters: false });
        }
        if kind == DatasetKind::Table && !self.has_flow_clause() {
            return self.batch_create(head);
        }
        self.dataset(kind, head)
    }

    fn head(&mut self) -> Head {
        let mut head = Head::default();
        loop {
            if self.cursor.take_words(&["or", "refresh"]) {
                head.or_refresh = true;
            } else if self.cursor.take_words(&["or", "replace"]) {
                head.or_replace = true;
            } else if self.cursor.take_word("private") {
                head.private = true;
            } else if self.cursor.take_word("temporary") || self.cursor.take_word("temp") {
                head.temporary = true;
            } else if self.cursor.take_word("global") {
            } else if self.cursor.take_word("external") {
                head.external = true;
            } else if self.cursor.take_word("streaming") || self.cursor.take_word("incremental") {
                head.streaming = true;
            } else if self.cursor.take_word("live") {
                head.live = true;
            } else {
                return head;
            }
        }
    }

    /// `CREATE SCHEMA`, `CATALOG`, …: kept by name.
    fn create_other(&mut self) -> Read<Statement> {
        const HARMLESS: [&str; 19] = [
            "bloomfilter",
            "catalog",
            "connection",
            "credential",
            "database",
            "foreign",
            "group",
            "index",
            "location",
            "policy",
            "recipient",
            "role",
            "schema",
            "server",
            "service",
            "share",
            "storage",
            "user",
            "volume",
        ];
        if self.cursor.take_word("function") {
            return self.create_function();
        }
        const KNOWN: [&str; 3] = ["aggregate", "procedure", "variable"];
        let matches = |words: &[&str]| words.iter().any(|word| self.cursor.at_words(&[word]));
        let matters = !matches(&HARMLESS);
        if matters && !matches(&KNOWN) {
            return Err(self.unexpected("TABLE, VIEW, FLOW or another thing to create"));
        }
        Ok(Statement::Other { what: self.first_words(), matters })
    }

    /// `FUNCTION [IF NOT EXISTS] name (…) RETURNS … RETURN …`, or `AS 'class'`: what it computes is its text.
    fn create_function(&mut self) -> Read<Statement> {
        let _ = self.cursor.take_words(&["if", "not", "exists"]);
        let Some(parts) = self.cursor.take_name() else { return Err(self.unexpected("the function's name")) };
        let body = self.cursor.text_of(self.cursor.rest());
        Ok(Statement::Function(Opaque {
            name: parts.join(".").to_lowercase().into(),
            reason: "".into(),
            content: content_hash(&body),
            args: Vec::new(),
            data_type: DataType::Unknown,
            deterministic: true,
            code: Vec::new(),
            place: Place::unknown(),
        }))
    }

    /// `WITH METRICS LANGUAGE YAML`: measures for dashboards, which no flow reads.
    fn is_metric_view(&self) -> bool {
        let mut ahead = self.cursor.clone();
        ahead.take_until(|cursor| cursor.at_words(&["with", "metrics"]) || cursor.at_words(&["as"]));
        ahead.at_words(&["with", "metrics"])
    }

    /// `FLOW` outside parentheses, before any AS.
    fn has_flow_clause(&self) -> bool {
        let mut depth = 0i32;
        for (offset, lexeme) in self.cursor.rest().iter().enumerate() {
            match &lexeme.token {
                Token::LParen => depth += 1,
                Token::RParen => depth -= 1,
                token if depth == 0 && offset > 0 => {
                    if super::is_word(token, "flow") {
                        return true;
                    }
                    if super::is_word(token, "as") {
                        return false;
                    }
                }
                _ => {}
            }
        }
        false
    }

    fn dataset(&mut self, kind: DatasetKind, head: Head) -> Read<Statement> {
        let _ = self.cursor.take_words(&["if", "not", "exists"]);
        let parts = self.name_parts()?;
        let name = match kind {
            DatasetKind::View => view_name(&parts),
            _ => self.published(&parts),
        };
        let place = self.place_since(0);
        let mut dataset = Dataset::new(name.clone(), kind, place.clone());
        dataset.private = head.private || head.temporary;
        dataset.template = name.is_template();
        dataset.spark_conf = self.session.spark_conf.clone();
        if self.cursor.peek() == Some(&Token::LParen) {
            self.columns(&mut dataset)?;
        }
        while !self.cursor.at_end() && !at_body(&self.cursor) {
            self.table_clause(&mut dataset)?;
        }
        let flow = self.body(&mut dataset, &place)?;
        Ok(Statement::Dataset { dataset: Box::new(dataset), flow: flow.map(Box::new) })
    }

    /// `AS query` or `FLOW …`.
    fn body(&mut self, dataset: &mut Dataset, place: &Place) -> Read<Option<Flow>> {
        if self.cursor.take_word("as") {
            let plan = self.rest_as_query();
            return Ok(Some(self.flow(
                dataset.name.name.clone(),
                dataset.name.clone(),
                FlowKind::Default,
                plan,
                place,
            )));
        }
        if self.cursor.take_word("flow") {
            return self.inline_flow(dataset, place).map(Some);
        }
        Ok(None)
    }

    pub(super) fn flow(&self, name: String, target: QualifiedName, kind: FlowKind, plan: Plan, place: &Place) -> Flow {
        Flow {
            name,
            target,
            kind,
            plan,
            spark_conf: self.session.spark_conf.clone(),
            comment: None,
            code: Vec::new(),
            open_code: None,
            place: place.clone(),
        }
    }

    /// One clause of a definition.
    pub(super) fn table_clause(&mut self, dataset: &mut Dataset) -> Read<()> {
        let start = self.cursor.index();
        if self.cursor.take_word("using") {
            let format = self.name_parts()?.join(".");
            dataset.format = Some(format.to_lowercase());
        } else if self.cursor.take_words(&["partitioned", "by"]) {
            dataset.layout.partition_by = self.columns_of_layout("partition columns")?;
        } else if self.cursor.take_words(&["cluster", "by"]) {
            if self.cursor.take_word("auto") {
                dataset.layout.cluster_by_auto = true;
            } else if !self.cursor.take_word("none") {
                dataset.layout.cluster_by = self.columns_of_layout("clustering columns")?;
            }
        } else if self.cursor.take_word("location") {
            dataset.location = Some(self.expect_string("LOCATION")?);
        } else if self.cursor.take_word("comment") {
            dataset.comment = Some(self.expect_string("COMMENT")?);
        } else if self.cursor.take_word("tblproperties") {
            dataset.properties.extend(self.key_values("TBLPROPERTIES")?);
        } else if self.cursor.take_word("options") {
            let options = self.key_values("OPTIONS")?;
            dataset
                .other
                .extend(options.into_iter().map(|(key, value)| (format!("option.{}", key.to_lowercase()), value)));
        } else if let Some(key) = self.named_clause() {
            let text = self.cursor.take_until(at_clause_or_body);
            let text = self.cursor.text_of(text);
            dataset.other.insert(key.to_owned(), text);
            let place = self.place_since(start);
            self.only_on_lakeflow(&key.to_uppercase(), &place);
        } else {
            self.unknown_clause(at_clause_or_body);
        }
        Ok(())
    }

    /// Clauses that are kept as text, for comparison.
    fn named_clause(&mut self) -> Option<&'static str> {
        const CLAUSES: [(&[&str], &str); 8] = [
            (&["with", "row", "filter"], "row filter"),
            (&["row", "filter"], "row filter"),
            (&["with", "schema"], "with schema"),
            (&["default", "collation"], "default collation"),
            (&["refresh", "policy"], "refresh policy"),
            (&["schedule"], "schedule"),
            (&["trigger"], "trigger"),
            (&["with", "tags"], "tags"),
        ];
        CLAUSES.iter().find(|(words, _)| self.cursor.take_words(words)).map(|(_, key)| *key)
    }

    pub(super) fn columns_of_layout(&mut self, what: &str) -> Read<Vec<String>> {
        let inner = self.expect_parenthesized(what)?;
        Ok(split_commas(inner).iter().map(|item| unquoted(&self.cursor.text_of(item))).collect())
    }
}

/// The lower-case name of a view that these tokens define without a schema.
pub(super) fn defined_view(lexed: &Lexed, lexemes: &[Lexeme]) -> Option<String> {
    let mut cursor = Cursor::new(lexed, lexemes);
    if !cursor.take_word("create") {
        return None;
    }
    const HEAD: [&str; 9] = ["or", "replace", "refresh", "temporary", "temp", "private", "global", "streaming", "live"];
    while HEAD.iter().any(|word| cursor.take_word(word)) {}
    if !cursor.take_word("view") {
        return None;
    }
    let _ = cursor.take_words(&["if", "not", "exists"]);
    match cursor.take_name()?.as_slice() {
        [name] => Some(name.to_lowercase()),
        _ => None,
    }
}

/// Views keep the name they were given.
fn view_name(parts: &[String]) -> QualifiedName {
    match parts {
        [live, rest @ ..] if live.eq_ignore_ascii_case("live") && !rest.is_empty() => QualifiedName::from_parts(rest),
        parts => QualifiedName::from_parts(parts),
    }
}

fn at_body(cursor: &Cursor) -> bool {
    cursor.at_words(&["as"]) || cursor.at_words(&["flow"])
}

/// True where a clause that [`StatementReader::table_clause`] knows starts, or the body.
fn at_clause_or_body(cursor: &Cursor) -> bool {
    const STARTS: [&[&str]; 16] = [
        &["using"],
        &["partitioned", "by"],
        &["cluster", "by"],
        &["location"],
        &["comment"],
        &["tblproperties"],
        &["options"],
        &["with", "row"],
        &["row", "filter"],
        &["with", "schema"],
        &["with", "tags"],
        &["default", "collation"],
        &["refresh", "policy"],
        &["schedule"],
        &["trigger"],
        &["constraint"],
    ];
    at_body(cursor) || STARTS.iter().any(|words| cursor.at_words(words))
}
