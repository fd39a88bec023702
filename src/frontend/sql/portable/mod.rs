//! Pipeline SQL of Lakeflow as Apache Spark's parser takes it.
//!
//! Takes a text and the names that stand for its tables and files; gives its statements with what Lakeflow alone knows cut out
//! or replaced, token by token, and says what was. Everything else stays as it is written: it is Spark that reads it. What has
//! no equivalent is refused with a reason.

mod definition;
mod edits;
mod query;
#[cfg(test)]
mod tests;

use super::Context;
use super::tokens::{is_word, lex, statements};
use edits::Porting;
use sqlparser::tokenizer::Token;

/// What stands for the tables, files and topics that a text names.
pub trait Replacements {
    /// The table for a dotted name; none where the name stays.
    fn table(&self, parts: &[String]) -> Option<String>;
    /// The table for files under a path.
    fn files(&self, path: &str) -> Option<String>;
    /// The table for a topic.
    fn topic(&self, topic: &str) -> Option<String>;
    /// What rows must hold to go into a dataset, as SQL; none where every row does.
    ///
    /// # Errors
    /// Why that is not known.
    fn filter(&self, parts: &[String]) -> Result<Option<String>, String>;
    /// Tables of this format are to be had.
    fn has_format(&self, format: &str) -> bool;
    /// The text is Lakeflow's; of Spark's own only names are replaced.
    fn is_lakeflow(&self) -> bool;
    /// Tables can be merged into, as AUTO CDC does.
    fn can_merge(&self) -> bool;
}

/// What a statement of a pipeline becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Portable {
    /// `SET key = value`, which holds for the statements after it.
    Setting(String),
    Definition(Definition),
    /// Something of the user's platform that Spark has nothing for.
    Refused {
        target: String,
        reason: String,
    },
    /// It defines nothing.
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    pub sql: String,
    /// The table, as it is called now, or the view.
    pub target: String,
    pub view: bool,
    /// What was replaced, and by what.
    pub replaced: Vec<(String, String)>,
}

/// The statements of a text, in order.
pub fn portable_statements(text: &str, context: &Context, by: &dyn Replacements) -> Vec<Portable> {
    let lexed = lex(text, context);
    statements(&lexed.lexemes)
        .into_iter()
        .map(|lexemes| Porting::new(&lexed, lexemes, context, by).statement())
        .collect()
}

/// What a text that code gives to `spark.sql` becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PortableQuery {
    Query(String),
    /// It does something and defines nothing (`CREATE SCHEMA`, `USE`): its first words.
    Command(String),
}

/// Commands that tell of the platform: code goes on with what they give.
const TELLING: [&str; 4] = ["show", "desc", "explain", "list"];

/// A statement alone, as `spark.sql` takes it.
///
/// # Errors
/// What it uses and Spark has nothing for.
pub fn portable_query(text: &str, context: &Context, by: &dyn Replacements) -> Result<PortableQuery, String> {
    let lexed = lex(text, context);
    let Some(lexemes) = statements(&lexed.lexemes).into_iter().next() else {
        return Ok(PortableQuery::Query(text.to_owned()));
    };
    let mut porting = Porting::new(&lexed, lexemes, context, by);
    let reads = |token: &Token| *token == Token::LParen || QUERY_HEADS.iter().any(|word| is_word(token, word));
    let sets = by.is_lakeflow() && porting.cursor.at_words(&["set"]);
    if !sets && !lexemes.first().is_some_and(|lexeme| reads(&lexeme.token)) {
        let command = porting.command();
        if by.is_lakeflow() && !TELLING.iter().any(|word| porting.cursor.at_words(&[word])) {
            return Ok(PortableQuery::Command(command));
        }
        return Err(format!("`{command} …` is no query, and pipeline code is not to change anything by itself"));
    }
    porting.query()?;
    Ok(PortableQuery::Query(porting.written()))
}

/// What a query begins with, beside `(`.
const QUERY_HEADS: [&str; 8] = ["select", "with", "from", "values", "table", "map", "reduce", "describe"];
