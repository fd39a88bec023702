//! Column lists: types, constraints, expectations, generated and masked columns.

use super::{Read, StatementReader, split_commas, starts_with_word, unquoted};
use crate::frontend::sql::Problem;
use crate::frontend::sql::cursor::Cursor;
use crate::frontend::sql::tokens::{Lexeme, span_of};
use crate::functions::data_type;
use crate::model::{DataType, Dataset, Expectation, Field, GeneratedColumn, OnViolation, Schema};
use sqlparser::tokenizer::Token;

impl<'a> StatementReader<'a> {
    /// `( column, …, CONSTRAINT … )` of a definition. Broken entries are reported and left out.
    pub(super) fn columns(&mut self, dataset: &mut Dataset) -> Read<()> {
        let inner = self.expect_parenthesized("columns")?;
        let mut fields = Vec::new();
        for item in split_commas(inner) {
            let inner = Cursor::new(self.cursor.lexed, item);
            let outer = std::mem::replace(&mut self.cursor, inner);
            let outcome = if starts_with_word(item, "constraint") {
                self.constraint(dataset, item)
            } else if is_table_constraint(item) {
                dataset.other.insert("constraint".to_owned(), self.cursor.text_of(item));
                Ok(())
            } else {
                self.column(dataset, &mut fields)
            };
            self.cursor = outer;
            if let Err(problem) = outcome {
                let span = problem.span.or_else(|| span_of(item, self.context));
                self.problems.error("sql-syntax", problem.message, span);
            }
        }
        if !fields.is_empty() {
            dataset.declared = Some(Schema::new(fields));
        }
        Ok(())
    }

    /// `CONSTRAINT name EXPECT (condition) [ON VIOLATION DROP ROW | FAIL UPDATE]`, or a key.
    fn constraint(&mut self, dataset: &mut Dataset, item: &'a [Lexeme]) -> Read<()> {
        self.expect_word("constraint")?;
        let name = self.cursor.take_identifier().ok_or_else(|| self.unexpected("the constraint's name"))?;
        if !self.cursor.take_word("expect") {
            let text = self.cursor.text_of(self.cursor.rest());
            dataset.other.insert(format!("constraint.{name}"), text);
            return Ok(());
        }
        let place = self.place_of(item);
        self.only_on_lakeflow("an expectation", &place);
        let condition = if self.cursor.peek() == Some(&Token::LParen) {
            let inner = self.expect_parenthesized("the condition")?;
            // `EXPECT (a) IS NOT NULL`: the parenthesis was only the beginning.
            if self.cursor.at_end() || self.cursor.at_words(&["on", "violation"]) {
                inner
            } else {
                let rest = self.cursor.take_until(|cursor| cursor.at_words(&["on", "violation"]));
                let start = item.len() - rest.len() - self.cursor.rest().len() - inner.len() - 2;
                item.get(start..item.len() - self.cursor.rest().len()).unwrap_or_default()
            }
        } else {
            self.cursor.take_until(|cursor| cursor.at_words(&["on", "violation"]))
        };
        let predicate = self.expression(condition);
        let on_violation = if self.cursor.take_words(&["on", "violation"]) {
            if self.cursor.take_words(&["drop", "row"]) {
                OnViolation::DropRow
            } else if self.cursor.take_words(&["fail", "update"]) {
                OnViolation::FailUpdate
            } else if self.cursor.take_word("warn") {
                OnViolation::Warn
            } else {
                return Err(self.unexpected("DROP ROW or FAIL UPDATE after ON VIOLATION"));
            }
        } else {
            OnViolation::Warn
        };
        let condition = self.cursor.text_of(condition);
        dataset.expectations.push(Expectation { name, condition, predicate, on_violation, place });
        if self.cursor.at_end() { Ok(()) } else { Err(self.unexpected("`,` or `)` after the expectation")) }
    }

    fn column(&mut self, dataset: &mut Dataset, fields: &mut Vec<Field>) -> Read<()> {
        let start = self.cursor.index();
        let name = self.cursor.take_identifier().ok_or_else(|| self.unexpected("a column's name"))?;
        self.cursor.take(&Token::Colon);
        // A view's columns have no types.
        let untyped = self.cursor.at_end() || self.cursor.at_words(&["comment"]);
        let data_type = if untyped {
            DataType::Unknown
        } else {
            data_type(&mut self.cursor, 0).map_err(|message| Problem {
                message: format!("column `{name}`: {message}"),
                span: self.place_since(start).span().cloned(),
            })?
        };
        let mut field = Field::new(name, data_type);
        let mut generated = false;
        while !self.cursor.at_end() {
            self.column_clause(dataset, &mut field, &mut generated)?;
        }
        if !field.nullable {
            let place = self.place_since(start);
            self.only_on_lakeflow("NOT NULL in a declared column", &place);
        }
        if generated {
            let position = fields.len() + dataset.generated.len();
            dataset.generated.push(GeneratedColumn { field, position });
        } else {
            fields.push(field);
        }
        Ok(())
    }

    fn column_clause(&mut self, dataset: &mut Dataset, field: &mut Field, generated: &mut bool) -> Read<()> {
        const CLAUSES: [&str; 11] = [
            "not",
            "comment",
            "default",
            "generated",
            "mask",
            "constraint",
            "primary",
            "collate",
            "references",
            "foreign",
            "unique",
        ];
        let ends = |cursor: &Cursor| CLAUSES.iter().any(|word| cursor.at_words(&[word]));
        if self.cursor.take_words(&["not", "null"]) {
            field.nullable = false;
            return Ok(());
        }
        if self.cursor.take_word("comment") {
            self.expect_string("COMMENT")?;
            return Ok(());
        }
        let kind =
            ["default", "generated", "mask", "constraint", "primary", "collate", "references", "foreign", "unique"]
                .into_iter()
                .find(|word| self.cursor.at_words(&[word]));
        let Some(kind) = kind else {
            return Err(self.unexpected("a clause of the column, `,` or `)`"));
        };
        self.cursor.advance();
        let text = if kind == "constraint" {
            let rest = self.cursor.rest();
            self.cursor.skip_to_end();
            self.cursor.text_of(rest)
        } else {
            // `GENERATED BY DEFAULT AS IDENTITY`: the word DEFAULT is no clause of its own there.
            let first = self.cursor.take_until(ends);
            let mut text = self.cursor.text_of(first);
            if kind == "generated" && first.len() == 1 && self.cursor.take_word("default") {
                text = format!("{text} DEFAULT {}", self.cursor.text_of(self.cursor.clone().take_until(ends)));
                self.cursor.take_until(ends);
            }
            text
        };
        *generated |= kind == "generated";
        dataset.other.insert(format!("{kind}.{}", field.name), unquoted(&text));
        Ok(())
    }
}

fn is_table_constraint(item: &[Lexeme]) -> bool {
    let second = item.get(1).is_some_and(|lexeme| crate::frontend::sql::tokens::is_word(&lexeme.token, "key"));
    second && (starts_with_word(item, "primary") || starts_with_word(item, "foreign"))
}
