//! Data types as text: `DataType.fromDDL` and `StructType.fromDDL`, as `from_json` and Python schemas use them.

use crate::model::{DataType, Field, Schema};

/// Nesting beyond this is refused.
const MAX_DEPTH: usize = 64;

/// A type such as `array<struct<a: int, b: string>>`, or a column list `a INT, b STRING` as a struct. None if it is neither.
pub fn parse_data_type(text: &str) -> Option<DataType> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0 };
    if let Some(data_type) = parser.data_type(0).filter(|_| parser.at == parser.tokens.len()) {
        return Some(data_type);
    }
    parse_schema(text).map(|schema| DataType::Struct(schema.fields))
}

/// A column list such as `a INT NOT NULL, b ARRAY<STRING> COMMENT 'x'`.
pub fn parse_schema(text: &str) -> Option<Schema> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0 };
    let fields = parser.fields(0, false)?;
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

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn symbol(&mut self, wanted: char) -> Option<()> {
        (self.peek() == Some(&Token::Symbol(wanted))).then(|| self.at += 1)
    }

    fn keyword(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(word)) if word.eq_ignore_ascii_case(wanted));
        self.at += usize::from(found);
        found
    }

    fn word(&mut self) -> Option<String> {
        match self.peek()? {
            Token::Word(word) => {
                let lower = word.to_lowercase();
                self.at += 1;
                Some(lower)
            }
            _ => None,
        }
    }

    fn name(&mut self) -> Option<String> {
        let name = match self.peek()? {
            Token::Word(name) | Token::Quoted(name) => name.clone(),
            _ => return None,
        };
        self.at += 1;
        Some(name)
    }

    fn fields(&mut self, depth: usize, colon: bool) -> Option<Vec<Field>> {
        let mut fields = Vec::new();
        loop {
            let name = self.name()?;
            // Column lists may write a colon too, and struct fields may leave it out.
            let _ = self.symbol(':').is_some() || colon;
            let data_type = self.data_type(depth + 1)?;
            let nullable = !self.keyword("not") || !self.keyword("null");
            if self.keyword("comment") {
                match self.peek()? {
                    Token::Text(_) => self.at += 1,
                    _ => return None,
                }
            }
            fields.push(Field { name, data_type, nullable });
            if self.symbol(',').is_none() {
                return Some(fields);
            }
        }
    }

    fn number(&mut self) -> Option<i16> {
        self.word()?.parse().ok()
    }

    fn data_type(&mut self, depth: usize) -> Option<DataType> {
        if depth > MAX_DEPTH {
            return None;
        }
        let word = self.word()?;
        Some(match word.as_str() {
            "boolean" => DataType::Boolean,
            "tinyint" | "byte" => DataType::Byte,
            "smallint" | "short" => DataType::Short,
            "int" | "integer" => DataType::Int,
            "bigint" | "long" => DataType::Long,
            "float" | "real" => DataType::Float,
            "double" => DataType::Double,
            "string" => {
                if self.keyword("collate") {
                    self.name()?;
                }
                DataType::String
            }
            "char" | "character" | "varchar" => {
                self.symbol('(')?;
                self.number()?;
                self.symbol(')')?;
                DataType::String
            }
            "binary" => DataType::Binary,
            "date" => DataType::Date,
            "timestamp" | "timestamp_ltz" => DataType::Timestamp,
            "timestamp_ntz" => DataType::TimestampNtz,
            "variant" => DataType::Variant,
            "void" | "null" => DataType::Null,
            "interval" => self.interval(),
            "decimal" | "dec" | "numeric" => self.decimal()?,
            "array" => {
                self.symbol('<')?;
                let element = self.data_type(depth + 1)?;
                self.symbol('>')?;
                DataType::array(element)
            }
            "map" => {
                self.symbol('<')?;
                let key = self.data_type(depth + 1)?;
                self.symbol(',')?;
                let value = self.data_type(depth + 1)?;
                self.symbol('>')?;
                DataType::map(key, value)
            }
            "struct" => {
                self.symbol('<')?;
                if self.symbol('>').is_some() {
                    return Some(DataType::Struct(Vec::new()));
                }
                let fields = self.fields(depth, true)?;
                self.symbol('>')?;
                DataType::Struct(fields)
            }
            _ => return None,
        })
    }

    fn decimal(&mut self) -> Option<DataType> {
        if self.symbol('(').is_none() {
            return Some(DataType::decimal(10, 0));
        }
        let precision = self.number()?;
        let scale = if self.symbol(',').is_some() { self.number()? } else { 0 };
        self.symbol(')')?;
        let valid = (1..=38).contains(&precision) && (0..=precision).contains(&scale);
        valid.then(|| DataType::decimal(u8::try_from(precision).unwrap_or(38), i8::try_from(scale).unwrap_or(0)))
    }

    fn interval(&mut self) -> DataType {
        let mut kind = DataType::CalendarInterval;
        loop {
            if self.keyword("year") || self.keyword("month") {
                kind = DataType::YearMonthInterval;
            } else if ["day", "hour", "minute", "second"].into_iter().any(|unit| self.keyword(unit)) {
                kind = DataType::DayTimeInterval;
            } else {
                return kind;
            }
            if !self.keyword("to") {
                return kind;
            }
        }
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
