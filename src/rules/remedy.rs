//! What to do about a finding: shared remedies by id, and those that a rule writes for itself.

use super::condition::Condition;
use super::document::{Document, RuleError};
use super::template::Template;
use crate::diff::{Facts, kinds};
use serde_yaml::{Mapping, Value};
use std::collections::BTreeMap;

const KEYS: &[&str] = &["title", "text", "sql", "python", "yaml"];

/// Keys of a remedy by its id that only some changes get.
const CONDITIONAL_KEYS: &[&str] = &["use", "when"];

/// The language a remedy's code is wanted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeLanguage {
    Sql,
    Python,
}

#[derive(Debug, Clone)]
pub struct Remedy {
    /// Id in `remedies.yaml`; none for one that a rule writes itself.
    pub id: Option<String>,
    title: Template,
    text: Template,
    sql: Option<Template>,
    python: Option<Template>,
    yaml: Option<Template>,
    when: Condition,
}

/// A remedy with the facts of one change filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedRemedy {
    pub id: Option<String>,
    pub title: String,
    pub text: String,
    /// `sql`, `python` or `yaml`, and the code.
    pub code: Option<(&'static str, String)>,
}

impl Remedy {
    fn parse(id: Option<&str>, mapping: &Mapping, known: &[&str], document: &Document) -> Result<Self, RuleError> {
        document.check_keys(mapping, KEYS)?;
        let template = |key: &str| -> Result<Option<Template>, RuleError> {
            document.optional_text(mapping, key)?.map(|text| Template::parse(&text, known, key, document)).transpose()
        };
        let required = |key: &str| template(key)?.ok_or_else(|| document.error(key, format!("`{key}` is missing")));
        Ok(Remedy {
            id: id.map(str::to_owned),
            title: required("title")?,
            text: required("text")?,
            sql: template("sql")?,
            python: template("python")?,
            yaml: template("yaml")?,
            when: Condition::always(),
        })
    }

    /// Title and text with the names of facts in place of their values.
    pub fn with_names(&self) -> (String, String) {
        (self.title.with_names(), self.text.with_names())
    }

    /// It is one for a change with these facts.
    pub fn applies(&self, facts: &Facts) -> bool {
        self.when.holds(facts)
    }

    /// Fills in the facts; code in the flow's own language where there is one.
    pub fn render(&self, facts: &Facts, language: CodeLanguage) -> RenderedRemedy {
        let (first, second) = match language {
            CodeLanguage::Sql => (("sql", &self.sql), ("python", &self.python)),
            CodeLanguage::Python => (("python", &self.python), ("sql", &self.sql)),
        };
        let code = [first, second, ("yaml", &self.yaml)]
            .into_iter()
            .find_map(|(language, template)| template.as_ref().map(|code| (language, code.render(facts))));
        RenderedRemedy { id: self.id.clone(), title: self.title.render(facts), text: self.text.render(facts), code }
    }
}

/// `remedies.yaml`: remedies that several rules share. They may name the common facts only.
#[derive(Debug, Clone, Default)]
pub struct RemedyBook(BTreeMap<String, Remedy>);

impl RemedyBook {
    /// Reads `remedies.yaml`.
    ///
    /// # Errors
    /// Whatever is wrong first, with its line.
    pub fn parse(path: &str, text: &str) -> Result<Self, RuleError> {
        let document = Document::new(path, text);
        let mut book = BTreeMap::new();
        for (key, value) in document.mapping()? {
            let (Value::String(id), Value::Mapping(mapping)) = (&key, &value) else {
                return Err(document.error("", "each remedy is a name with a mapping".to_owned()));
            };
            book.insert(id.clone(), Remedy::parse(Some(id), mapping, kinds::COMMON, &document)?);
        }
        Ok(RemedyBook(book))
    }

    /// Adds another book's remedies, which replace those of the same id.
    pub fn extend(&mut self, other: RemedyBook) {
        self.0.extend(other.0);
    }

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    fn by_id(&self, id: &str, document: &Document) -> Result<Remedy, RuleError> {
        self.0.get(id).cloned().ok_or_else(|| {
            let ids: Vec<_> = self.ids().collect();
            document.error("remedies", format!("no remedy `{id}`; there are {}", ids.join(", ")))
        })
    }

    /// The `remedies:` of a rule: ids of this book, `{use: ID, when: …}` where a condition decides, or mappings written in place.
    ///
    /// # Errors
    /// An unknown id, or a mapping that is no remedy.
    pub fn resolve(
        &self,
        value: Option<&Value>,
        known: &[&str],
        document: &Document,
    ) -> Result<Vec<Remedy>, RuleError> {
        let items = match value {
            None => return Ok(Vec::new()),
            Some(Value::Sequence(items)) => items,
            Some(_) => return Err(document.error("remedies", "`remedies` must be a list".to_owned())),
        };
        items
            .iter()
            .map(|item| match item {
                Value::String(id) => self.by_id(id, document),
                Value::Mapping(mapping) if mapping.contains_key("use") => {
                    document.check_keys(mapping, CONDITIONAL_KEYS)?;
                    let remedy = self.by_id(&document.text(mapping, "use")?, document)?;
                    let when = mapping.get("when").map(|when| Condition::parse(when, known, document)).transpose()?;
                    Ok(Remedy { when: when.unwrap_or(remedy.when), ..remedy })
                }
                Value::Mapping(mapping) => Remedy::parse(None, mapping, known, document),
                _ => Err(document.error("remedies", "a remedy is an id or a mapping".to_owned())),
            })
            .collect()
    }
}
