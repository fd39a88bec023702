//! Data types as Spark's DDL writes them: the grammar, over any tokens that can be read left to right, and the texts that
//! `from_json`, `DataType.fromDDL` and `StructType.fromDDL` take.

use crate::model::{DataType, Field, Schema};

/// Nesting beyond this is refused.
const MAX_DEPTH: usize = 40;

/// Tokens of a type, read left to right. A `take…` that does not find what it wants leaves the tokens as they are.
pub trait TypeTokens {
    /// An identifier, quoted or not.
    fn take_name(&mut self) -> Option<String>;
    /// This unquoted word, in any letter case.
    fn take_word(&mut self, word: &str) -> bool;
    /// One of `< > ( ) , :`; `>>` reads as two, and so does `<>`.
    fn take_symbol(&mut self, symbol: char) -> bool;
    fn take_integer(&mut self) -> Option<i64>;
    /// A string literal.
    fn take_text(&mut self) -> Option<String>;
    /// A message that names what comes next instead of what was wanted.
    fn unexpected(&self, wanted: &str) -> String;
}

/// `name[:] type [NOT NULL] [COMMENT 'text']`.
pub fn field(tokens: &mut impl TypeTokens, depth: usize) -> Result<Field, String> {
    let name = tokens.take_name().ok_or_else(|| tokens.unexpected("a column's name"))?;
    tokens.take_symbol(':');
    let data_type = data_type(tokens, depth)?;
    let nullable = !(tokens.take_word("not") && tokens.take_word("null"));
    if tokens.take_word("comment") && tokens.take_text().is_none() {
        return Err(tokens.unexpected("a string after COMMENT"));
    }
    Ok(Field { name, data_type, nullable })
}

/// The type that comes next, `depth` levels inside another.
pub fn data_type(tokens: &mut impl TypeTokens, depth: usize) -> Result<DataType, String> {
    if depth > MAX_DEPTH {
        return Err(format!("the type is nested deeper than {MAX_DEPTH} levels"));
    }
    let name = tokens.take_name().ok_or_else(|| tokens.unexpected("a type"))?.to_ascii_lowercase();
    Ok(match name.as_str() {
        "boolean" => DataType::Boolean,
        "tinyint" | "byte" => DataType::Byte,
        "smallint" | "short" => DataType::Short,
        "int" | "integer" => DataType::Int,
        "bigint" | "long" => DataType::Long,
        "float" | "real" => DataType::Float,
        "double" => {
            tokens.take_word("precision");
            DataType::Double
        }
        "date" => DataType::Date,
        "timestamp" | "timestamp_ltz" => DataType::Timestamp,
        "timestamp_ntz" => DataType::TimestampNtz,
        "string" => {
            if tokens.take_word("collate") && tokens.take_name().is_none() {
                return Err(tokens.unexpected("a collation"));
            }
            DataType::String
        }
        "char" | "character" | "varchar" => {
            numbers(tokens)?;
            DataType::String
        }
        "binary" => DataType::Binary,
        "variant" => DataType::Variant,
        "void" | "null" => DataType::Null,
        "decimal" | "dec" | "numeric" => decimal(tokens)?,
        "interval" => interval(tokens)?,
        "array" => array(tokens, depth)?,
        "map" => map(tokens, depth)?,
        "struct" => DataType::Struct(struct_fields(tokens, depth)?),
        "object" => DataType::Unknown,
        "geometry" | "geography" => {
            numbers(tokens)?;
            DataType::Unknown
        }
        other => return Err(format!("`{other}` is not a data type")),
    })
}

/// `(10)`, `(10, 2)`, or nothing.
fn numbers(tokens: &mut impl TypeTokens) -> Result<Vec<i64>, String> {
    let mut values = Vec::new();
    if !tokens.take_symbol('(') {
        return Ok(values);
    }
    loop {
        values.push(tokens.take_integer().ok_or_else(|| tokens.unexpected("a whole number"))?);
        if tokens.take_symbol(')') {
            return Ok(values);
        }
        expect(tokens, ',', "`)`")?;
    }
}

fn decimal(tokens: &mut impl TypeTokens) -> Result<DataType, String> {
    let (precision, scale) = match numbers(tokens)?.as_slice() {
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

fn interval(tokens: &mut impl TypeTokens) -> Result<DataType, String> {
    fn unit(tokens: &mut impl TypeTokens) -> Option<&'static str> {
        ["year", "month", "day", "hour", "minute", "second"].into_iter().find(|unit| tokens.take_word(unit))
    }
    let Some(from) = unit(tokens) else { return Ok(DataType::CalendarInterval) };
    if tokens.take_word("to") && unit(tokens).is_none() {
        return Err(tokens.unexpected("a unit after TO"));
    }
    Ok(if matches!(from, "year" | "month") { DataType::YearMonthInterval } else { DataType::DayTimeInterval })
}

fn expect(tokens: &mut impl TypeTokens, symbol: char, wanted: &str) -> Result<(), String> {
    if tokens.take_symbol(symbol) { Ok(()) } else { Err(tokens.unexpected(wanted)) }
}

fn array(tokens: &mut impl TypeTokens, depth: usize) -> Result<DataType, String> {
    expect(tokens, '<', "`<` after array")?;
    let element = data_type(tokens, depth + 1)?;
    expect(tokens, '>', "`>`")?;
    Ok(DataType::array(element))
}

fn map(tokens: &mut impl TypeTokens, depth: usize) -> Result<DataType, String> {
    expect(tokens, '<', "`<` after map")?;
    let key = data_type(tokens, depth + 1)?;
    expect(tokens, ',', "`,` between the map's types")?;
    let value = data_type(tokens, depth + 1)?;
    expect(tokens, '>', "`>`")?;
    Ok(DataType::map(key, value))
}

fn struct_fields(tokens: &mut impl TypeTokens, depth: usize) -> Result<Vec<Field>, String> {
    expect(tokens, '<', "`<` after struct")?;
    let mut fields = Vec::new();
    if tokens.take_symbol('>') {
        return Ok(fields);
    }
    loop {
        fields.push(field(tokens, depth + 1)?);
        if !tokens.take_symbol(',') {
            expect(tokens, '>', "`>`")?;
            return Ok(fields);
        }
    }
}

/// A type such as `array<struct<a: int, b: string>>`, or a column list `a INT, b STRING` as a struct. None if it is neither.
pub fn parse_data_type(text: &str) -> Option<DataType> {
    let mut parser = Text { tokens: tokens(text)?, at: 0 };
    if let Ok(data_type) = data_type(&mut parser, 0)
        && parser.at == parser.tokens.len()
    {
        return Some(data_type);
    }
    parse_schema(text).map(|schema| DataType::Struct(schema.fields))
}

/// A column list such as `a INT NOT NULL, b ARRAY<STRING> COMMENT 'x'`.
pub fn parse_schema(text: &str) -> Option<Schema> {
    let mut parser = Text { tokens: tokens(text)?, at: 0 };
    let mut fields = vec![field(&mut parser, 0).ok()?];
    while parser.take_symbol(',') {
        fields.push(field(&mut parser, 0).ok()?);
    }
    (parser.at == parser.tokens.len()).then(|| Schema::new(fields))
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Quoted(String),
    Text(String),
    Symbol(char),
}

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            _ if c.is_whitespace() => {}
            '`' | '\'' | '"' => {
                let mut body = String::new();
                loop {
                    let next = chars.next()?;
                    if next == c {
                        break;
                    }
                    body.push(next);
                }
                tokens.push(if c == '`' { Token::Quoted(body) } else { Token::Text(body) });
            }
            '<' | '>' | '(' | ')' | ',' | ':' => tokens.push(Token::Symbol(c)),
            _ if c.is_alphanumeric() || matches!(c, '_' | '-' | '@' | '$' | '.') => {
                let mut word = c.to_string();
                while let Some(next) =
                    chars.peek().filter(|n| n.is_alphanumeric() || matches!(n, '_' | '-' | '@' | '$' | '.'))
                {
                    word.push(*next);
                    chars.next();
                }
                tokens.push(Token::Word(word));
            }
            _ => return None,
        }
    }
    Some(tokens)
}

/// The tokens of a text that holds a type and nothing else.
struct Text {
    tokens: Vec<Token>,
    at: usize,
}

impl Text {
    /// Takes the next token where `of` makes something of it.
    fn take<T>(&mut self, of: impl FnOnce(&Token) -> Option<T>) -> Option<T> {
        let taken = of(self.tokens.get(self.at)?)?;
        self.at += 1;
        Some(taken)
    }
}

impl TypeTokens for Text {
    fn take_name(&mut self) -> Option<String> {
        self.take(|token| match token {
            Token::Word(name) | Token::Quoted(name) => Some(name.clone()),
            _ => None,
        })
    }

    fn take_word(&mut self, word: &str) -> bool {
        self.take(|token| matches!(token, Token::Word(next) if next.eq_ignore_ascii_case(word)).then_some(())).is_some()
    }

    fn take_symbol(&mut self, symbol: char) -> bool {
        self.take(|token| (*token == Token::Symbol(symbol)).then_some(())).is_some()
    }

    fn take_integer(&mut self) -> Option<i64> {
        self.take(|token| match token {
            Token::Word(digits) => digits.parse().ok(),
            _ => None,
        })
    }

    fn take_text(&mut self) -> Option<String> {
        self.take(|token| match token {
            Token::Text(text) => Some(text.clone()),
            _ => None,
        })
    }

    fn unexpected(&self, wanted: &str) -> String {
        format!("expected {wanted}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_column_lists_are_read() {
        let shown = |text: &str| parse_data_type(text).map(|t| t.to_string());
        assert_eq!(
            shown("array<struct<a: int, b:decimal(10,2)>>").as_deref(),
            Some("array<struct<a:int,b:decimal(10,2)>>")
        );
        assert_eq!(
            shown("a INT, `b c` ARRAY<STRING> NOT NULL COMMENT 'x, y'").as_deref(),
            Some("struct<a:int,b c:array<string>>")
        );
        assert_eq!(shown("map<string,bigint>").as_deref(), Some("map<string,bigint>"));
        assert_eq!(shown("interval day to second").as_deref(), Some("interval day to second"));
        assert_eq!(shown("DECIMAL").as_deref(), Some("decimal(10,0)"));
        assert_eq!(shown("struct<>").as_deref(), Some("struct<>"));
        for wrong in ["", "foo", "array<int", "decimal(40,2)", "a", "a int,", "map<int>"] {
            assert_eq!(shown(wrong), None, "{wrong}");
        }
        assert_eq!(parse_data_type(&"array<".repeat(10_000)), None);
    }

    #[test]
    fn not_null_is_kept() {
        let schema = parse_schema("a INT NOT NULL, b INT").unwrap();
        assert_eq!(schema.fields.iter().map(|f| f.nullable).collect::<Vec<_>>(), [false, true]);
    }
}
