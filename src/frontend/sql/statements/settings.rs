//! `SET`, `RESET`, `USE`, and `ALTER … SET TBLPROPERTIES`.

use super::{Cursor, Read, Statement, StatementReader, unquoted};
use crate::model::{DataType, Expr};
use sqlparser::tokenizer::Token;

impl StatementReader<'_> {
    /// `SET key = value`, `SET key`, `SET TIME ZONE 'x'`, `SET VARIABLE x = …`, `RESET [key]`.
    pub(super) fn set(&mut self) -> Read<Statement> {
        if self.cursor.take_word("reset") {
            let key = unquoted(&self.cursor.text_of(self.cursor.rest()));
            return Ok(if key.is_empty() { Statement::Reset } else { Statement::Set { key, value: None } });
        }
        self.expect_word("set")?;
        if self.cursor.take_words(&["time", "zone"]) {
            let value = unquoted(&self.cursor.text_of(self.cursor.rest()));
            return Ok(Statement::Set { key: "spark.sql.session.timeZone".to_owned(), value: Some(value) });
        }
        if self.cursor.take_word("variable") || self.cursor.take_word("var") {
            return self.set_variable();
        }
        let rest = self.cursor.rest();
        let Some(equals) = rest.iter().position(|lexeme| lexeme.token == Token::Eq) else {
            // Asks for a value, changes none.
            return Ok(Statement::Other { what: "SET".to_owned(), matters: false });
        };
        let (key, value) = rest.split_at(equals);
        let key = unquoted(&self.cursor.text_of(key));
        // Quotes are part of the value, as in Spark's `SetCommand`.
        let value = self.cursor.text_of(value.get(1..).unwrap_or_default());
        if key.is_empty() {
            return Err(self.unexpected("a key after SET"));
        }
        Ok(Statement::Set { key, value: Some(value) })
    }

    /// `SET VARIABLE x = expression`; of several at once nothing is known.
    fn set_variable(&mut self) -> Read<Statement> {
        let Some(parts) = self.cursor.take_name() else {
            return Ok(Statement::Other { what: self.first_words(), matters: true });
        };
        if !self.cursor.take(&Token::Eq) {
            return Err(self.unexpected("`=` after the variable"));
        }
        self.variable(&parts, None)
    }

    /// `DECLARE [OR REPLACE] [VARIABLE] x [type] [{DEFAULT | =} expression]`.
    pub(super) fn declare(&mut self) -> Read<Statement> {
        self.expect_word("declare")?;
        let _ = self.cursor.take_words(&["or", "replace"]);
        let _ = self.cursor.take_word("variable") || self.cursor.take_word("var");
        let Some(parts) = self.cursor.take_name() else { return Err(self.unexpected("a name")) };
        let is_default = |cursor: &Cursor<'_>| cursor.at_words(&["default"]) || cursor.peek() == Some(&Token::Eq);
        let tokens = self.cursor.take_until(is_default);
        let data_type = crate::frontend::sql::parse_data_type(&self.cursor.text_of(tokens)).ok();
        let _ = self.cursor.take_word("default") || self.cursor.take(&Token::Eq);
        self.variable(&parts, data_type)
    }

    fn variable(&mut self, parts: &[String], data_type: Option<DataType>) -> Read<Statement> {
        let name = parts.last().map(|name| name.to_lowercase()).unwrap_or_default();
        let rest = self.cursor.rest();
        self.cursor.skip_to_end();
        let value = if rest.is_empty() { Expr::null() } else { self.expression(rest) };
        let value = match data_type {
            Some(to) => Expr::Cast { expr: Box::new(value), to, try_cast: false },
            None => value,
        };
        Ok(Statement::Variable { name, value })
    }

    /// `USE CATALOG c`, `USE SCHEMA s`, `USE s`, `USE c.s`.
    pub(super) fn use_namespace(&mut self) -> Read<Statement> {
        self.expect_word("use")?;
        let catalog = self.cursor.take_word("catalog");
        if !catalog {
            let _ = ["schema", "database", "namespace"].into_iter().any(|word| self.cursor.take_word(word));
        }
        let parts = self.name_parts()?;
        let mut parts = parts.into_iter().rev();
        let (last, before) = (parts.next(), parts.next());
        if catalog {
            return Ok(Statement::Use { catalog: last, schema: None });
        }
        Ok(Statement::Use { catalog: before, schema: last })
    }

    /// `ALTER [STREAMING] TABLE t SET TBLPROPERTIES (…)`; every other ALTER is kept as DDL.
    pub(super) fn alter(&mut self) -> Read<Statement> {
        let outer = self.cursor.clone();
        self.expect_word("alter")?;
        while ["streaming", "materialized", "live"].into_iter().any(|word| self.cursor.take_word(word)) {}
        if !self.cursor.take_word("table") && !self.cursor.take_word("view") {
            return Ok(Statement::Other { what: self.first_words(), matters: false });
        }
        let target = self.target_name()?;
        if self.cursor.take_words(&["set", "tblproperties"]) {
            let properties = self.key_values("TBLPROPERTIES")?;
            return Ok(Statement::Properties { target, properties });
        }
        self.cursor = outer;
        self.batch("alter")
    }
}
