//! Where the parts of a SQL statement stand in its text: statements, queries, operands of UNION, table properties.

use sqlparser::dialect::DatabricksDialect;
use sqlparser::tokenizer::{Token, Tokenizer};
use std::ops::Range;
use std::rc::Rc;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// In upper case.
    Word(String),
    Open,
    Close,
    Semicolon,
    Comma,
    Other,
}

#[derive(Debug, Clone)]
struct Lexeme {
    kind: Kind,
    bytes: Range<usize>,
}

/// One statement of a text.
pub struct Statement<'a> {
    text: &'a str,
    lexemes: Rc<[Lexeme]>,
    /// A semicolon ends it.
    closed: bool,
}

/// Where the statements of a text stand.
pub struct Statements(Vec<Piece>);

struct Piece {
    lexemes: Rc<[Lexeme]>,
    /// Where the semicolon stands that ends it.
    semicolon: Option<usize>,
}

impl Statements {
    /// None where the text is not made of SQL tokens.
    pub fn of(text: &str) -> Option<Self> {
        let mut statements = Vec::new();
        let mut lexemes = Vec::new();
        for lexeme in lex(text)? {
            if lexeme.kind == Kind::Semicolon {
                let lexemes = std::mem::take(&mut lexemes).into();
                statements.push(Piece { lexemes, semicolon: Some(lexeme.bytes.start) });
            } else {
                lexemes.push(lexeme);
            }
        }
        statements.push(Piece { lexemes: lexemes.into(), semicolon: None });
        Some(Statements(statements))
    }

    /// The statement of the same text that holds a byte.
    pub fn at<'a>(&self, text: &'a str, byte: usize) -> Option<Statement<'a>> {
        let index = self.0.partition_point(|piece| piece.semicolon.is_some_and(|at| at < byte));
        let Piece { lexemes, semicolon } = self.0.get(index)?;
        let holds = semicolon.is_some() || lexemes.last().is_some_and(|last| last.bytes.end > byte);
        holds.then(|| Statement { text, lexemes: Rc::clone(lexemes), closed: semicolon.is_some() })
    }
}

/// Operands of a UNION, with bytes of the whole and of each.
pub struct Union {
    pub operands: Vec<Range<usize>>,
    /// The operand that holds the place asked for.
    pub at: usize,
}

impl Union {
    pub fn whole(&self) -> Option<Range<usize>> {
        Some(self.operands.first()?.start..self.operands.last()?.end)
    }

    /// Bytes to take out so that the operand is gone, with the UNION that joins it.
    pub fn without(&self) -> Option<Range<usize>> {
        let operand = self.operands.get(self.at)?;
        match self.at.checked_sub(1) {
            None => Some(operand.start..self.operands.get(1)?.start),
            Some(previous) => Some(self.operands.get(previous)?.end..operand.end),
        }
    }
}

impl<'a> Statement<'a> {
    /// The statement that holds a byte.
    pub fn at(text: &'a str, byte: usize) -> Option<Self> {
        Statements::of(text)?.at(text, byte)
    }

    /// Bytes from its first word to its semicolon.
    pub fn bytes(&self) -> Option<Range<usize>> {
        let start = self.lexemes.first()?.bytes.start;
        let (end, _) = self.end()?;
        Some(start..end)
    }

    /// Where another statement can be put after it, and what must stand before that.
    pub fn end(&self) -> Option<(usize, &'static str)> {
        let last = self.lexemes.last()?.bytes.end;
        if !self.closed {
            return Some((last, ";"));
        }
        let semicolon = self.text.get(last..)?.find(';')?;
        Some((last + semicolon + 1, ""))
    }

    fn word(&self, index: usize) -> Option<&str> {
        match &self.lexemes.get(index)?.kind {
            Kind::Word(word) => Some(word),
            _ => None,
        }
    }

    /// Indices of the lexemes outside all parentheses.
    fn outer(&self, range: Range<usize>) -> Vec<usize> {
        let mut depth = 0_usize;
        let mut found = Vec::new();
        for index in range {
            match self.lexemes.get(index).map(|lexeme| &lexeme.kind) {
                Some(Kind::Open) => {
                    if depth == 0 {
                        found.push(index);
                    }
                    depth += 1;
                }
                Some(Kind::Close) => depth = depth.saturating_sub(1),
                Some(_) if depth == 0 => found.push(index),
                _ => {}
            }
        }
        found
    }

    /// Bytes of the statement's query.
    pub fn query(&self) -> Option<Range<usize>> {
        let outer = self.outer(0..self.lexemes.len());
        let begins = |index: &usize| {
            let after = index.checked_sub(1).and_then(|before| self.word(before));
            matches!(self.word(*index), Some("SELECT" | "WITH" | "FROM")) && matches!(after, Some("AS" | "NAME"))
        };
        let first = outer.into_iter().find(begins)?;
        Some(self.lexemes.get(first)?.bytes.start..self.lexemes.last()?.bytes.end)
    }

    /// The text of the query whose rows the statement writes or defines: of `INSERT` what stands behind the target and its clauses.
    pub fn written_query(&self) -> Option<&'a str> {
        let range = match self.word(0) {
            Some("INSERT") => {
                let starts = |index: &usize| matches!(self.word(*index), Some("SELECT" | "WITH" | "FROM"));
                let first = self.outer(0..self.lexemes.len()).into_iter().find(starts)?;
                self.lexemes.get(first)?.bytes.start..self.lexemes.last()?.bytes.end
            }
            _ => self.query()?,
        };
        self.text.get(range)
    }

    /// The same query over the tables as they are instead of streams of them. None where it keeps a watermark, which only
    /// streams have.
    pub fn batch_query(&self) -> Option<String> {
        let query = self.written_query()?;
        let inner = Statement::at(query, 0)?;
        let mut text = String::with_capacity(query.len());
        let mut kept = 0;
        let mut skip = |range: &Range<usize>, text: &mut String| {
            text.push_str(query.get(kept..range.start)?);
            kept = range.end;
            Some(())
        };
        let mut closing = Vec::new();
        for (at, lexeme) in inner.lexemes.iter().enumerate() {
            match inner.word(at) {
                Some("WATERMARK") => return None,
                Some("STREAM") => {
                    let next = inner.lexemes.get(at + 1)?;
                    let until = if next.kind == Kind::Open { next.bytes.end } else { next.bytes.start };
                    closing.extend(inner.closing(at + 1).filter(|_| next.kind == Kind::Open));
                    skip(&(lexeme.bytes.start..until), &mut text)?;
                }
                _ if closing.contains(&at) => skip(&lexeme.bytes, &mut text)?,
                _ => {}
            }
        }
        text.push_str(query.get(kept..)?);
        Some(text)
    }

    /// The innermost UNION one of whose operands holds a byte.
    pub fn union_around(&self, byte: usize) -> Option<Union> {
        let mut at = self.lexemes.iter().position(|lexeme| lexeme.bytes.end > byte)?;
        loop {
            let open = self.opening(at);
            let close = open.and_then(|open| self.closing(open)).unwrap_or(self.lexemes.len());
            let outer = self.outer(open.map_or(0, |open| open + 1)..close);
            if outer.iter().any(|index| self.word(*index) == Some("UNION")) {
                return self.operands(&outer, close, byte);
            }
            at = open?;
        }
    }

    fn operands(&self, outer: &[usize], close: usize, byte: usize) -> Option<Union> {
        let starts_query = |index: &&usize| match &self.lexemes.get(**index).map(|lexeme| &lexeme.kind) {
            Some(Kind::Word(word)) => word == "SELECT",
            Some(Kind::Open) => {
                self.word(**index + 1) == Some("SELECT")
                    && index.checked_sub(1).and_then(|before| self.word(before)) != Some("AS")
            }
            _ => false,
        };
        let mut starts = vec![*outer.iter().find(starts_query)?];
        let mut ends = Vec::new();
        for index in outer.iter().filter(|index| self.word(**index) == Some("UNION")) {
            ends.push(index.checked_sub(1)?);
            let mut next = index + 1;
            while matches!(self.word(next), Some("ALL" | "DISTINCT" | "BY" | "NAME")) {
                next += 1;
            }
            starts.push(next);
        }
        ends.push(close.checked_sub(1)?);
        let operands: Option<Vec<Range<usize>>> = starts
            .iter()
            .zip(&ends)
            .map(|(start, end)| Some(self.lexemes.get(*start)?.bytes.start..self.lexemes.get(*end)?.bytes.end))
            .collect();
        let operands = operands?;
        let at = operands.iter().position(|operand| operand.contains(&byte))?;
        Some(Union { operands, at })
    }

    /// The item of a select list that holds a byte: all of it, and its expression without the alias.
    pub fn select_item(&self, byte: usize) -> Option<(Range<usize>, Range<usize>)> {
        let mut at = self.lexemes.iter().position(|lexeme| lexeme.bytes.end > byte)?;
        // Arguments of functions and casts are no select lists.
        let (outer, close) = loop {
            let open = self.opening(at);
            let close = open.and_then(|open| self.closing(open)).unwrap_or(self.lexemes.len());
            let outer = self.outer(open.map_or(0, |open| open + 1)..close);
            if outer.iter().any(|index| *index < at && self.word(*index) == Some("SELECT")) {
                break (outer, close);
            }
            at = open?;
        };
        let is_comma = |index: usize| self.lexemes.get(index).is_some_and(|lexeme| lexeme.kind == Kind::Comma);
        let before = |index: &&usize| {
            **index < at && (is_comma(**index) || matches!(self.word(**index), Some("SELECT" | "DISTINCT" | "ALL")))
        };
        let start = outer.iter().rev().find(before)? + 1;
        let after = |index: &&usize| **index > at && (is_comma(**index) || self.word(**index) == Some("FROM"));
        let end = outer.iter().find(after).copied().unwrap_or(close).checked_sub(1)?;
        let alias = outer.iter().find(|index| (start + 1..end).contains(*index) && self.word(**index) == Some("AS"));
        let last = alias.map_or(Some(end), |alias| alias.checked_sub(1))?;
        let begin = self.lexemes.get(start)?.bytes.start;
        Some((begin..self.lexemes.get(end)?.bytes.end, begin..self.lexemes.get(last)?.bytes.end))
    }

    /// The parenthesis that opens around a lexeme.
    fn opening(&self, at: usize) -> Option<usize> {
        let mut depth = 0_usize;
        (0..at).rev().find(|index| match self.lexemes.get(*index).map(|lexeme| &lexeme.kind) {
            Some(Kind::Close) => {
                depth += 1;
                false
            }
            Some(Kind::Open) if depth == 0 => true,
            Some(Kind::Open) => {
                depth -= 1;
                false
            }
            _ => false,
        })
    }

    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        (open + 1..self.lexemes.len()).find(|index| match self.lexemes.get(*index).map(|lexeme| &lexeme.kind) {
            Some(Kind::Open) => {
                depth += 1;
                false
            }
            Some(Kind::Close) if depth == 0 => true,
            Some(Kind::Close) => {
                depth -= 1;
                false
            }
            _ => false,
        })
    }

    /// The text that sets a table property, and the bytes in whose place it goes.
    pub fn property(&self, name: &str, value: &str) -> Option<(Range<usize>, String)> {
        let outer = self.outer(0..self.lexemes.len());
        if let Some(at) = outer.iter().find(|index| self.word(**index) == Some("TBLPROPERTIES")) {
            let open = self.lexemes.get(at + 1).filter(|lexeme| lexeme.kind == Kind::Open)?;
            let close = self.closing(at + 1)?;
            let is_key = |index: &usize| {
                let text = self.lexemes.get(*index).and_then(|lexeme| self.text.get(lexeme.bytes.clone()));
                text.is_some_and(|text| text.trim_matches(['\'', '"']) == name)
            };
            if let Some(key) = (at + 2..close).find(is_key) {
                let old = self.lexemes.get(key + 2).filter(|_| key + 2 < close)?;
                return Some((old.bytes.clone(), format!("'{value}'")));
            }
            let comma = if close == at + 2 { "" } else { ", " };
            return Some((open.bytes.end..open.bytes.end, format!("'{name}' = '{value}'{comma}")));
        }
        let clause = format!("TBLPROPERTIES ('{name}' = '{value}')");
        let body = outer.iter().find(|index| {
            let next = self.word(**index + 1);
            match self.word(**index) {
                Some("AS") => matches!(next, Some("SELECT" | "WITH" | "FROM")),
                Some("FLOW") => matches!(next, Some("INSERT" | "AUTO" | "REPLACE")),
                _ => false,
            }
        });
        let (at, text) = match body {
            Some(index) => (self.lexemes.get(*index)?.bytes.start, format!("{clause}\n")),
            None => (self.lexemes.last()?.bytes.end, format!("\n{clause}")),
        };
        Some((at..at, text))
    }

    /// The text that gives the read at a byte an option, and where it goes.
    pub fn read_option(&self, byte: usize, option: &str, value: &str) -> Option<(usize, String)> {
        let after = self.after_read(byte)?;
        let next = self.lexemes.iter().position(|lexeme| lexeme.bytes.start >= after);
        if let Some(with) = next.filter(|next| self.word(*next) == Some("WITH"))
            && let Some(open) = self.lexemes.get(with + 1).filter(|lexeme| lexeme.kind == Kind::Open)
        {
            return Some((open.bytes.end, format!("{option} = {value}, ")));
        }
        Some((after, format!(" WITH ({option} = {value})")))
    }

    /// Where the clause after a table's name or the parenthesis around it would stand: behind the read that begins at a byte.
    fn after_read(&self, byte: usize) -> Option<usize> {
        let mut at = self.lexemes.iter().position(|lexeme| lexeme.bytes.end > byte)?;
        if self.word(at) == Some("STREAM") {
            at += 1;
        }
        if self.lexemes.get(at)?.kind == Kind::Open {
            return Some(self.lexemes.get(self.closing(at)?)?.bytes.end);
        }
        while self.text.get(self.lexemes.get(at)?.bytes.end..).is_some_and(|rest| rest.starts_with('.')) {
            at += 2;
        }
        Some(self.lexemes.get(at)?.bytes.end)
    }
}

fn lex(text: &str) -> Option<Vec<Lexeme>> {
    let tokens = Tokenizer::new(&DatabricksDialect {}, text).tokenize_with_location().ok()?;
    let lines = super::edit::Lines::of(text);
    let mut lexemes = Vec::new();
    for token in tokens {
        let kind = match &token.token {
            Token::Whitespace(_) | Token::EOF => continue,
            Token::Word(word) if word.quote_style.is_none() => Kind::Word(word.value.to_uppercase()),
            Token::LParen => Kind::Open,
            Token::RParen => Kind::Close,
            Token::SemiColon => Kind::Semicolon,
            Token::Comma => Kind::Comma,
            _ => Kind::Other,
        };
        let byte = |line: u64, column: u64| lines.byte(u32::try_from(line).ok()?, u32::try_from(column).ok()?);
        let start = byte(token.span.start.line, token.span.start.column)?;
        lexemes.push(Lexeme { kind, bytes: start..byte(token.span.end.line, token.span.end.column)? });
    }
    Some(lexemes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "SELECT 1; CREATE STREAMING TABLE t AS WITH a AS (SELECT * FROM x UNION ALL SELECT * FROM y) SELECT * FROM a; SELECT 2";

    #[test]
    fn the_operand_of_an_inner_union_is_found_and_cut_out() {
        let statement = Statement::at(TEXT, TEXT.find("FROM y").unwrap()).unwrap();
        let union = statement.union_around(TEXT.find("FROM y").unwrap() + 5).unwrap();
        assert_eq!(union.at, 1);
        assert_eq!(&TEXT[union.without().unwrap()], " UNION ALL SELECT * FROM y");
        assert_eq!(&TEXT[union.whole().unwrap()], "SELECT * FROM x UNION ALL SELECT * FROM y");
        let query = &TEXT[statement.query().unwrap()];
        assert!(query.starts_with("WITH a") && query.ends_with("FROM a"), "{query}");
    }

    #[test]
    fn a_property_goes_before_the_query_or_into_the_list_there_is() {
        let set = |text: &str| {
            let (range, new) = Statement::at(text, 0).unwrap().property("p", "false").unwrap();
            format!("{}{new}{}", &text[..range.start], &text[range.end..])
        };
        assert_eq!(set("CREATE TABLE t AS SELECT 1"), "CREATE TABLE t TBLPROPERTIES ('p' = 'false')\nAS SELECT 1");
        assert_eq!(set("CREATE TABLE t;"), "CREATE TABLE t\nTBLPROPERTIES ('p' = 'false');");
        assert_eq!(
            set("CREATE TABLE t TBLPROPERTIES ('p' = \"true\", 'q' = '1') AS SELECT 1"),
            "CREATE TABLE t TBLPROPERTIES ('p' = 'false', 'q' = '1') AS SELECT 1"
        );
        assert_eq!(
            set("CREATE TABLE t TBLPROPERTIES ('q' = '1') FLOW INSERT BY NAME SELECT 1"),
            "CREATE TABLE t TBLPROPERTIES ('p' = 'false', 'q' = '1') FLOW INSERT BY NAME SELECT 1"
        );
    }

    #[test]
    fn a_select_item_is_told_with_and_without_its_alias() {
        let text = "SELECT id, CAST(a AS INT) AS b, c FROM t";
        let (item, expression) = Statement::at(text, 0).unwrap().select_item(text.find("a AS INT").unwrap()).unwrap();
        assert_eq!((&text[item], &text[expression]), ("CAST(a AS INT) AS b", "CAST(a AS INT)"));
    }

    #[test]
    fn a_written_query_is_told_without_its_streams() {
        let batch = |text: &str| Statement::at(text, 0).unwrap().batch_query();
        let insert = "INSERT OVERWRITE t PARTITION (d) SELECT id, d FROM a WHERE v = 'STREAM(x)'";
        assert_eq!(batch(insert).unwrap(), "SELECT id, d FROM a WHERE v = 'STREAM(x)'");
        let stream = "CREATE STREAMING TABLE t AS SELECT * FROM STREAM(a.b) x JOIN STREAM c.d y";
        assert_eq!(batch(stream).unwrap(), "SELECT * FROM a.b x JOIN c.d y");
        assert!(
            batch("CREATE STREAMING TABLE t AS SELECT * FROM STREAM(a) WATERMARK ts DELAY OF INTERVAL 1 HOUR")
                .is_none()
        );
    }

    #[test]
    fn a_read_ends_behind_its_parenthesis_or_its_name() {
        let text = "SELECT * FROM STREAM(a.b) x JOIN STREAM c.d y";
        let statement = Statement::at(text, 0).unwrap();
        assert_eq!(statement.after_read(text.find("STREAM(").unwrap()), text.find(" x"));
        assert_eq!(statement.after_read(text.find("STREAM c").unwrap()), text.find(" y"));
    }
}
