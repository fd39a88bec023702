//! `SET`, `RESET`, `USE`, and `ALTER … SET TBLPROPERTIES`.

use super::{Read, Statement, StatementReader, unquoted};
use sqlparser::tokenizer::Token;

impl StatementReader<'_> {
    /// `SET key = value`, `SET key`, `SET TIME ZONE 'x'`, `SET VARIABLE x = …`, `RESET [key]`.
    pub(super) fn set(&mut self) -> Read<Statement> {
        if self.cursor.take_word("reset") {
            let key = self.cursor.text_of(self.cursor.rest());
            return Ok(Statement::Set { key, value: None });
        }
        self.expect_word("set")?;
        if self.cursor.take_words(&["time", "zone"]) {
            let value = unquoted(&self.cursor.text_of(self.cursor.rest()));
            return Ok(Statement::Set { key: "spark.sql.session.timeZone".to_owned(), value: Some(value) });
        }
        if self.cursor.at_words(&["variable"]) || self.cursor.at_words(&["var"]) {
            return Ok(Statement::Other { what: self.first_words(), matters: true });
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
