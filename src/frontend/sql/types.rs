//! Data types and column lists as Spark's DDL writes them.

use super::Context;
use super::cursor::Cursor;
use super::tokens::lex;
use crate::model::{DataType, Field, Schema};
use sqlparser::tokenizer::Token;

/// Types may be nested this deep.
const MAX_DEPTH: usize = 40;

/// A data type's text: `decimal(10,2)`, `array<struct<a: int>>`.
pub fn parse_data_type(text: &str) -> Result<DataType, String> {
    let lexed = lex(text, &Context::default());
    let mut cursor = Cursor::new(&lexed, &lexed.lexemes);
    let data_type = data_type(&mut cursor, 0)?;
    if cursor.at_end() { Ok(data_type) } else { Err(unexpected(&cursor, "the end of the type")) }
}

/// A schema's text: `a INT NOT NULL, b STRING COMMENT 'x'`, `a: int, b: string` or `struct<a: int>`.
pub fn parse_schema_ddl(text: &str) -> Result<Schema, String> {
    let lexed = lex(text, &Context::default());
    let mut cursor = Cursor::new(&lexed, &lexed.lexemes);
    if cursor.at_words(&["struct"]) && matches!(cursor.peek_at(1), Some(Token::Lt | Token::Neq)) {
        return match data_type(&mut cursor, 0)? {
            DataType::Struct(fields) if cursor.at_end() => Ok(Schema::new(fields)),
            _ => Err(unexpected(&cursor, "the end of the schema")),
        };
    }
    let mut fields = Vec::new();
    while !cursor.at_end() {
        fields.push(field(&mut cursor, 0)?);
        if !cursor.take(&Token::Comma) && !cursor.at_end() {
            return Err(unexpected(&cursor, "`,` or the end of the schema"));
        }
    }
    Ok(Schema::new(fields))
}

fn unexpected(cursor: &Cursor, wanted: &str) -> String {
    match cursor.peek() {
        Some(token) => format!("expected {wanted}, found `{token}`"),
        None => format!("expected {wanted}, found the end"),
    }
}

/// `name[:] type [NOT NULL] [COMMENT 'text']`.
pub(super) fn field(cursor: &mut Cursor, depth: usize) -> Result<Field, String> {
    let name = cursor.take_identifier().ok_or_else(|| unexpected(cursor, "a column's name"))?;
    cursor.take(&Token::Colon);
    let data_type = data_type(cursor, depth)?;
    let nullable = !cursor.take_words(&["not", "null"]);
    if cursor.take_word("comment") && cursor.take_string().is_none() {
        return Err(unexpected(cursor, "a string after COMMENT"));
    }
    Ok(Field { name, data_type, nullable })
}

/// A type at the cursor.
pub(super) fn data_type(cursor: &mut Cursor, depth: usize) -> Result<DataType, String> {
    if depth > MAX_DEPTH {
        return Err(format!("the type is nested deeper than {MAX_DEPTH} levels"));
    }
    let name = cursor.take_identifier().ok_or_else(|| unexpected(cursor, "a type"))?.to_ascii_lowercase();
    Ok(match name.as_str() {
        "boolean" => DataType::Boolean,
        "tinyint" | "byte" => DataType::Byte,
        "smallint" | "short" => DataType::Short,
        "int" | "integer" => DataType::Int,
        "bigint" | "long" => DataType::Long,
        "float" | "real" => DataType::Float,
        "double" => {
            cursor.take_word("precision");
            DataType::Double
        }
        "date" => DataType::Date,
        "timestamp" | "timestamp_ltz" => DataType::Timestamp,
        "timestamp_ntz" => DataType::TimestampNtz,
        "string" => {
            if cursor.take_word("collate") && cursor.take_identifier().is_none() {
                return Err(unexpected(cursor, "a collation"));
            }
            DataType::String
        }
        "char" | "character" | "varchar" => {
            numbers(cursor)?;
            DataType::String
        }
        "binary" => DataType::Binary,
        "variant" => DataType::Variant,
        "void" | "null" => DataType::Null,
        "decimal" | "dec" | "numeric" => decimal(cursor)?,
        "interval" => interval(cursor)?,
        "array" => array(cursor, depth)?,
        "map" => map(cursor, depth)?,
        "struct" => DataType::Struct(struct_fields(cursor, depth)?),
        "object" => DataType::Unknown,
        "geometry" | "geography" => {
            cursor.take_parenthesized();
            DataType::Unknown
        }
        other => return Err(format!("`{other}` is not a data type")),
    })
}

/// `(10)`, `(10, 2)`, or nothing.
fn numbers(cursor: &mut Cursor) -> Result<Vec<i64>, String> {
    let mut values = Vec::new();
    if !cursor.take(&Token::LParen) {
        return Ok(values);
    }
    loop {
        let negative = cursor.take(&Token::Minus);
        match cursor.advance().map(|lexeme| &lexeme.token) {
            Some(Token::Number(digits, _)) => {
                let value: i64 = digits.parse().map_err(|_| format!("`{digits}` is not a whole number"))?;
                values.push(if negative { -value } else { value });
            }
            _ => return Err(unexpected(cursor, "a number")),
        }
        if cursor.take(&Token::RParen) {
            return Ok(values);
        }
        if !cursor.take(&Token::Comma) {
            return Err(unexpected(cursor, "`)`"));
        }
    }
}

fn decimal(cursor: &mut Cursor) -> Result<DataType, String> {
    let (precision, scale) = match numbers(cursor)?.as_slice() {
        [] => (10, 0),
        [precision] => (*precision, 0),
        [precision, scale] => (*precision, *scale),
        _ => return Err("decimal takes a precision and a scale".to_owned()),
    };
    match (u8::try_from(precision), i8::try_from(scale)) {
        (Ok(precision @ 1..=38), Ok(scale)) if i64::from(scale) <= i64::from(precision) => {
            Ok(DataType::Decimal { precision, scale })
        }
        _ => Err(format!("decimal({precision},{scale}) is out of range")),
    }
}

fn interval(cursor: &mut Cursor) -> Result<DataType, String> {
    let unit = |cursor: &mut Cursor| {
        ["year", "month", "day", "hour", "minute", "second"].into_iter().find(|unit| cursor.take_word(unit))
    };
    let Some(from) = unit(cursor) else { return Ok(DataType::CalendarInterval) };
    if cursor.take_word("to") && unit(cursor).is_none() {
        return Err(unexpected(cursor, "a unit after TO"));
    }
    Ok(if matches!(from, "year" | "month") { DataType::YearMonthInterval } else { DataType::DayTimeInterval })
}

fn open_angle(cursor: &mut Cursor, name: &str) -> Result<(), String> {
    if cursor.take(&Token::Lt) { Ok(()) } else { Err(unexpected(cursor, &format!("`<` after {name}"))) }
}

fn close_angle(cursor: &mut Cursor) -> Result<(), String> {
    if cursor.take_close_angle() { Ok(()) } else { Err(unexpected(cursor, "`>`")) }
}

fn array(cursor: &mut Cursor, depth: usize) -> Result<DataType, String> {
    open_angle(cursor, "array")?;
    let element = data_type(cursor, depth + 1)?;
    close_angle(cursor)?;
    Ok(DataType::array(element))
}

fn map(cursor: &mut Cursor, depth: usize) -> Result<DataType, String> {
    open_angle(cursor, "map")?;
    let key = data_type(cursor, depth + 1)?;
    if !cursor.take(&Token::Comma) {
        return Err(unexpected(cursor, "`,` between the map's types"));
    }
    let value = data_type(cursor, depth + 1)?;
    close_angle(cursor)?;
    Ok(DataType::map(key, value))
}

fn struct_fields(cursor: &mut Cursor, depth: usize) -> Result<Vec<Field>, String> {
    if cursor.take(&Token::Neq) {
        return Ok(Vec::new());
    }
    open_angle(cursor, "struct")?;
    let mut fields = Vec::new();
    if cursor.take_close_angle() {
        return Ok(fields);
    }
    loop {
        fields.push(field(cursor, depth + 1)?);
        if !cursor.take(&Token::Comma) {
            close_angle(cursor)?;
            return Ok(fields);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
