//! What the rule book must cover (`rules/coverage.yaml`), and what covers it.

use super::book::RuleBook;
use super::document::{Document, RuleError};
use serde_yaml::Value;

/// One demand: a row of the documents that the rule book answers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoverageRow {
    pub id: String,
    pub says: String,
    /// Parts of the program other than rules that answer it: `plan`, `lint`, `remedies`, `silence` (no finding, and a case that
    /// shows it).
    pub parts: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CoveredBy {
    Rule(String),
    Part(String),
}

#[derive(Debug, Clone, Default)]
pub struct Coverage {
    rows: Vec<CoverageRow>,
}

impl Coverage {
    /// Reads `coverage.yaml`.
    ///
    /// # Errors
    /// Whatever is wrong first, with its line.
    pub fn parse(path: &str, text: &str) -> Result<Self, RuleError> {
        let document = Document::new(path, text);
        let mut rows = Vec::new();
        for (key, value) in document.mapping()? {
            let (Value::String(id), Value::Mapping(row)) = (key, value) else {
                return Err(document.error("", "each row is an id with a mapping".to_owned()));
            };
            document.check_keys(&row, &["says", "parts"])?;
            rows.push(CoverageRow { says: document.text(&row, "says")?, parts: document.texts(&row, "parts")?, id });
        }
        Ok(Coverage { rows })
    }

    pub fn rows(&self) -> &[CoverageRow] {
        &self.rows
    }
}

impl RuleBook {
    /// Everything that answers a row.
    pub fn covered_by(&self, row: &CoverageRow) -> Vec<CoveredBy> {
        let rules = self.rules().iter().filter(|rule| rule.covers.contains(&row.id));
        let rules = rules.map(|rule| CoveredBy::Rule(rule.id.clone()));
        rules.chain(row.parts.iter().cloned().map(CoveredBy::Part)).collect()
    }
}
