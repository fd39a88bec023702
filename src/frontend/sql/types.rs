//! Data types and column lists inside of SQL statements and as texts of their own.

use super::Context;
use super::cursor::Cursor;
use super::tokens::lex;
use crate::functions::{TypeTokens, data_type, field};
use crate::model::{DataType, Schema};
use sqlparser::tokenizer::Token;

/// A data type's text: `decimal(10,2)`, `array<struct<a: int>>`.
pub fn parse_data_type(text: &str) -> Result<DataType, String> {
    let lexed = lex(text, &Context::default());
    let mut cursor = Cursor::new(&lexed, &lexed.lexemes);
    let data_type = data_type(&mut cursor, 0)?;
    if cursor.at_end() { Ok(data_type) } else { Err(cursor.unexpected("the end of the type")) }
}

/// A schema's text: `a INT NOT NULL, b STRING COMMENT 'x'`, `a: int, b: string` or `struct<a: int>`.
pub fn parse_schema_ddl(text: &str) -> Result<Schema, String> {
    let lexed = lex(text, &Context::default());
    let mut cursor = Cursor::new(&lexed, &lexed.lexemes);
    if cursor.at_words(&["struct"]) && matches!(cursor.peek_at(1), Some(Token::Lt | Token::Neq)) {
        return match data_type(&mut cursor, 0)? {
            DataType::Struct(fields) if cursor.at_end() => Ok(Schema::new(fields)),
            _ => Err(cursor.unexpected("the end of the schema")),
        };
    }
    let mut fields = Vec::new();
    while !cursor.at_end() {
        fields.push(field(&mut cursor, 0)?);
        if !cursor.take(&Token::Comma) && !cursor.at_end() {
            return Err(cursor.unexpected("`,` or the end of the schema"));
        }
    }
    Ok(Schema::new(fields))
}

impl TypeTokens for Cursor<'_> {
    fn take_name(&mut self) -> Option<String> {
        self.take_identifier()
    }

    fn take_word(&mut self, word: &str) -> bool {
        self.take_words(&[word])
    }

    fn take_symbol(&mut self, symbol: char) -> bool {
        match symbol {
            '<' => self.take_open_angle(),
            '>' => self.take_close_angle(),
            '(' => self.take(&Token::LParen),
            ')' => self.take(&Token::RParen),
            ',' => self.take(&Token::Comma),
            ':' => self.take(&Token::Colon),
            _ => false,
        }
    }

    fn take_integer(&mut self) -> Option<i64> {
        let (sign, at) = if self.peek() == Some(&Token::Minus) { (-1, 1) } else { (1, 0) };
        let Some(Token::Number(digits, _)) = self.peek_at(at) else { return None };
        let value: i64 = digits.parse().ok()?;
        self.take(&Token::Minus);
        self.advance();
        Some(sign * value)
    }

    fn take_text(&mut self) -> Option<String> {
        self.take_string()
    }

    fn unexpected(&self, wanted: &str) -> String {
        match self.peek() {
            Some(token) => format!("expected {wanted}, found `{token}`"),
            None => format!("expected {wanted}, found the end"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Field;

    #[test]
    fn nested_types_close_with_joined_brackets() {
        let parsed = parse_data_type("array<map<string,struct<`a b`: int not null>>>").unwrap();
        assert_eq!(parsed.to_string(), "array<map<string,struct<a b:int>>>");
    }

    #[test]
    fn the_three_forms_of_a_schema() {
        let list = parse_schema_ddl("a INT NOT NULL, b STRING COMMENT 'x, y'").unwrap();
        assert_eq!(list.fields, vec![Field::not_null("a", DataType::Int), Field::new("b", DataType::String)]);
        let colons = parse_schema_ddl("a: int, b: string").unwrap();
        assert_eq!(colons, parse_schema_ddl("struct<a: int, b: string>").unwrap());
        assert_eq!(colons, parse_schema_ddl("a int, b string").unwrap());
    }

    #[test]
    fn intervals_and_decimals() {
        assert_eq!(parse_data_type("interval day to second").unwrap(), DataType::DayTimeInterval);
        assert_eq!(parse_data_type("INTERVAL YEAR").unwrap(), DataType::YearMonthInterval);
        assert_eq!(parse_data_type("decimal").unwrap(), DataType::decimal(10, 0));
        assert_eq!(parse_data_type("decimal(39,2)").unwrap_err(), "decimal(39,2) is out of range");
        assert_eq!(parse_data_type("strin").unwrap_err(), "`strin` is not a data type");
    }

    #[test]
    fn nesting_is_limited() {
        let text = "array<".repeat(5000) + "int" + &">".repeat(5000);
        assert!(parse_data_type(&text).unwrap_err().contains("deeper"));
    }
}
