//! Flows: `CREATE FLOW … AS …`, and the `FLOW …` clause of a dataset's definition.

use super::{Read, Statement, StatementReader};
use crate::frontend::sql::tokens::Lexeme;
use crate::model::{Dataset, Flow, FlowKind, Place, Platform, QualifiedName};

/// What stands between INSERT and the query.
#[derive(Debug, Default)]
struct InsertClause<'a> {
    once: bool,
    target: Option<QualifiedName>,
    by_name: bool,
    replace_where: Option<&'a [Lexeme]>,
    replace_using: Option<Vec<String>>,
    sequence_by: Option<&'a [Lexeme]>,
}

impl<'a> StatementReader<'a> {
    /// `CREATE FLOW name [COMMENT 'c'] AS {INSERT INTO t BY NAME query | AUTO CDC INTO t …}`.
    pub(super) fn create_flow(&mut self) -> Read<Statement> {
        let _ = self.cursor.take_words(&["if", "not", "exists"]);
        let parts = self.name_parts()?;
        let place = self.place_since(0);
        if parts.len() > 1 && self.platform() == Platform::Spark {
            let message = "a flow's name has one part on Apache Spark".to_owned();
            self.problems.error("not-on-platform", message, place.span().cloned());
        }
        let name = parts.last().cloned().unwrap_or_default();
        let mut comment = None;
        let mut once = false;
        while !self.cursor.take_word("as") {
            if self.cursor.take_word("comment") {
                comment = Some(self.expect_string("COMMENT")?);
            } else if self.cursor.take_word("once") {
                once = true;
            } else {
                return Err(self.unexpected("AS"));
            }
        }
        once |= self.cursor.take_word("once");
        let mut flow = if self.at_cdc() {
            let cdc = self.auto_cdc(&place)?;
            let target = cdc.target.clone().ok_or_else(|| self.unexpected("INTO and the target table"))?;
            let once = once || cdc.once;
            self.cdc_flow(cdc, name, target, once, &place)
        } else {
            self.expect_word("insert")?;
            let insert = self.insert_clause()?;
            let target = insert.target.clone().ok_or_else(|| self.unexpected("INTO and the target table"))?;
            self.insert_flow(insert, name, target, once, &place)
        };
        if flow.is_once() {
            self.only_on_lakeflow("ONCE", &place);
        }
        flow.comment = comment;
        Ok(Statement::Flow(Box::new(flow)))
    }

    /// `FLOW [IMPORT CHECKPOINT 'p'] {INSERT [ONCE] BY NAME query | AUTO CDC … | REPLACE …}` inside a definition.
    pub(super) fn inline_flow(&mut self, dataset: &mut Dataset, place: &Place) -> Read<Flow> {
        if self.cursor.take_words(&["import", "checkpoint"]) {
            let path = self.expect_string("IMPORT CHECKPOINT")?;
            dataset.other.insert("import checkpoint".to_owned(), path);
        }
        let (name, target) = (dataset.name.name.clone(), dataset.name.clone());
        let flow = if self.at_cdc() {
            let cdc = self.auto_cdc(place)?;
            let once = cdc.once;
            self.cdc_flow(cdc, name, target, once, place)
        } else {
            let start = self.cursor.index();
            if !self.cursor.take_word("insert") && !self.cursor.at_words(&["replace"]) {
                return Err(self.unexpected("INSERT, REPLACE or AUTO CDC after FLOW"));
            }
            let clause_place = self.place_since(start);
            self.only_on_lakeflow("FLOW INSERT", &clause_place.or(place));
            let insert = self.insert_clause()?;
            let mut flow = self.insert_flow(insert, name, target, false, place);
            // The flow of the definition itself: the same checkpoint as `AS query`.
            if flow.kind == FlowKind::Append {
                flow.kind = FlowKind::Default;
            }
            flow
        };
        Ok(flow)
    }

    fn insert_clause(&mut self) -> Read<InsertClause<'a>> {
        let mut insert = InsertClause::default();
        loop {
            if self.cursor.take_word("once") {
                insert.once = true;
            } else if insert.target.is_none() && self.cursor.take_word("into") {
                insert.once |= self.cursor.take_word("once");
                let _ = self.cursor.take_word("table");
                insert.target = Some(self.target_name()?);
            } else if self.cursor.take_words(&["by", "name"]) {
                insert.by_name = true;
            } else if self.cursor.take_words(&["replace", "where"]) {
                insert.replace_where = Some(self.cursor.take_until(|cursor| {
                    cursor.at_words(&["by", "name"]) || cursor.at_words(&["select"]) || cursor.at_words(&["with"])
                }));
            } else if self.cursor.take_words(&["replace", "using"]) {
                let inner = self.expect_parenthesized("key columns")?;
                insert.replace_using = Some(self.column_names(inner));
            } else if self.cursor.take_words(&["sequence", "by"]) {
                insert.sequence_by = Some(self.cursor.take_until(|cursor| {
                    cursor.at_words(&["by", "name"]) || cursor.at_words(&["select"]) || cursor.at_words(&["with"])
                }));
            } else {
                return Ok(insert);
            }
        }
    }

    fn insert_flow(
        &mut self,
        insert: InsertClause<'a>,
        name: String,
        target: QualifiedName,
        once: bool,
        place: &Place,
    ) -> Flow {
        if !insert.by_name && self.platform() == Platform::Spark {
            let message = "a flow inserts BY NAME on Apache Spark: write `INSERT INTO … BY NAME`".to_owned();
            self.problems.error("not-on-platform", message, place.span().cloned());
        }
        let kind = if let Some(condition) = insert.replace_where {
            FlowKind::ReplaceWhere(self.expression(condition))
        } else if let Some(keys) = insert.replace_using {
            FlowKind::ReplaceUsing { keys, sequence_by: insert.sequence_by.map(|tokens| self.expression(tokens)) }
        } else if once || insert.once {
            FlowKind::Once
        } else {
            FlowKind::Append
        };
        let plan = self.rest_as_query();
        self.flow(name, target, kind, plan, place)
    }
}
