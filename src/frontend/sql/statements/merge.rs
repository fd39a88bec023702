//! `MERGE INTO`.

use super::batch::write;
use super::{Read, StatementReader, split_commas, unquoted};
use crate::frontend::sql::cursor::Cursor;
use crate::frontend::sql::tokens::Lexeme;
use crate::model::{BatchWrite, Merge, MergeAction, MergeClause, MergeMatch, WriteOperation, WriteTarget};
use sqlparser::tokenizer::Token;

fn at_when(cursor: &Cursor) -> bool {
    cursor.at_words(&["when", "matched"]) || cursor.at_words(&["when", "not", "matched"])
}

impl<'a> StatementReader<'a> {
    /// `MERGE [WITH SCHEMA EVOLUTION] INTO t [AS] a USING source ON condition WHEN …`.
    pub(super) fn merge(&mut self) -> Read<BatchWrite> {
        self.expect_word("merge")?;
        let schema_evolution = self.cursor.take_words(&["with", "schema", "evolution"]);
        self.expect_word("into")?;
        let parts = self.name_parts()?;
        let target = WriteTarget::Table(self.published(&parts));
        let place = self.place_since(0);
        let target_alias = if self.cursor.at_words(&["using"]) {
            None
        } else {
            let _ = self.cursor.take_word("as");
            self.cursor.take_identifier()
        };
        self.expect_word("using")?;
        let tokens = self.cursor.take_until(|cursor| cursor.at_words(&["on"]));
        let source = self.relation(tokens);
        self.expect_word("on")?;
        let tokens = self.cursor.take_until(at_when);
        let on = self.expression(tokens);
        let mut clauses = Vec::new();
        while self.cursor.take_word("when") {
            clauses.push(self.merge_clause()?);
        }
        if !self.cursor.at_end() {
            return Err(self.unexpected("WHEN"));
        }
        let merge = Merge { target_alias, source, on, clauses, schema_evolution };
        Ok(write(target, WriteOperation::Merge(Box::new(merge)), place))
    }

    fn merge_clause(&mut self) -> Read<MergeClause> {
        let negated = self.cursor.take_word("not");
        self.expect_word("matched")?;
        let by_source = self.cursor.take_words(&["by", "source"]);
        if !by_source {
            let _ = self.cursor.take_words(&["by", "target"]);
        }
        let when = match (negated, by_source) {
            (false, _) => MergeMatch::Matched,
            (true, false) => MergeMatch::NotMatched,
            (true, true) => MergeMatch::NotMatchedBySource,
        };
        let condition = if self.cursor.take_word("and") {
            let tokens = self.merge_condition();
            Some(self.expression(tokens))
        } else {
            None
        };
        self.expect_word("then")?;
        Ok(MergeClause { when, condition, action: self.merge_action()? })
    }

    /// Up to the THEN that is none of a CASE.
    fn merge_condition(&mut self) -> &'a [Lexeme] {
        let start = self.cursor.index();
        let mut cases = 0usize;
        while !self.cursor.at_end() {
            if self.cursor.at_words(&["case"]) {
                cases += 1;
            } else if self.cursor.at_words(&["end"]) {
                cases = cases.saturating_sub(1);
            } else if cases == 0 && self.cursor.at_words(&["then"]) {
                break;
            }
            self.cursor.advance();
        }
        self.cursor.since(start)
    }

    fn merge_action(&mut self) -> Read<MergeAction> {
        if self.cursor.take_word("delete") {
            return Ok(MergeAction::Delete);
        }
        if self.cursor.take_words(&["update", "set"]) {
            if self.cursor.take(&Token::Mul) {
                self.excepted_columns()?;
                return Ok(MergeAction::UpdateAll);
            }
            let tokens = self.cursor.take_until(at_when);
            return Ok(MergeAction::Update(self.assignments(tokens)));
        }
        self.expect_word("insert")?;
        if self.cursor.take(&Token::Mul) {
            self.excepted_columns()?;
            return Ok(MergeAction::InsertAll);
        }
        let inner = self.expect_parenthesized("columns")?;
        let columns = split_commas(inner).iter().map(|item| unquoted(&self.cursor.text_of(item))).collect();
        self.expect_word("values")?;
        let inner = self.expect_parenthesized("values")?;
        let values = split_commas(inner).into_iter().map(|item| self.expression(item)).collect();
        Ok(MergeAction::Insert { columns, values })
    }

    /// `* EXCEPT (a, b)`: which columns are left needs both schemas, so it is said that they are not told apart.
    fn excepted_columns(&mut self) -> Read<()> {
        let start = self.cursor.index();
        if self.cursor.take_word("except") {
            self.expect_parenthesized("columns")?;
            let place = self.place_since(start);
            let message = "EXCEPT is not understood in MERGE: all columns count as written".to_owned();
            self.problems.warning("sql-unsupported", message, place.span().cloned());
        }
        Ok(())
    }
}
