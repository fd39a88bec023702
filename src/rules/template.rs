//! Message templates: text with facts in braces.

use super::document::{Document, RuleError};
use crate::diff::Facts;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// A fact, and the words that stand for it where it is absent or empty.
    Fact {
        name: String,
        absent: String,
    },
}

/// Where a template names no other words.
const ABSENT: &str = "none";

/// Text in which `{fact}` stands for a fact's value and `{fact|words}` says what stands there without one; `{{` and `}}` are braces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Part>);

impl Template {
    /// Reads a template whose facts must be among `known`; `key` is where it stands in the file.
    ///
    /// # Errors
    /// An unknown fact or an unclosed brace.
    pub fn parse(text: &str, known: &[&str], key: &str, document: &Document) -> Result<Self, RuleError> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (head, tail) = rest.split_at(at);
            literal.push_str(head);
            if let Some(after) = tail.strip_prefix("{{") {
                literal.push('{');
                rest = after;
            } else if let Some(after) = tail.strip_prefix("}}") {
                literal.push('}');
                rest = after;
            } else if let Some((inner, after)) = tail.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
                let (fact, absent) = inner.split_once('|').unwrap_or((inner, ABSENT));
                if !known.contains(&fact) {
                    return Err(
                        document.error(key, format!("`{key}` names `{fact}`, which this change does not carry"))
                    );
                }
                parts.push(Part::Text(std::mem::take(&mut literal)));
                parts.push(Part::Fact { name: fact.to_owned(), absent: absent.to_owned() });
                rest = after;
            } else {
                return Err(document.error(key, format!("`{key}` has a brace without its partner")));
            }
        }
        literal.push_str(rest);
        parts.push(Part::Text(literal));
        Ok(Template(parts))
    }

    /// The text with facts' names in place of their values.
    pub fn with_names(&self) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Fact { name, .. } => name.to_uppercase(),
        };
        self.0.iter().map(part).collect()
    }

    /// The text with facts filled in. The words for an absent one stand without the code marks around it.
    pub fn render(&self, facts: &Facts) -> String {
        let mut text = String::new();
        let mut unmark = false;
        for part in &self.0 {
            match part {
                Part::Text(literal) if unmark => text.push_str(literal.strip_prefix('`').unwrap_or(literal)),
                Part::Text(literal) => text.push_str(literal),
                Part::Fact { name, absent } => {
                    let value = facts.get(name.as_str()).filter(|fact| !fact.is_empty());
                    unmark = value.is_none() && text.ends_with('`');
                    match value {
                        Some(fact) => text.push_str(&fact.to_string()),
                        None => {
                            text.truncate(text.len() - usize::from(unmark));
                            text.push_str(absent);
                        }
                    }
                    continue;
                }
            }
            unmark = false;
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::Fact;

    #[test]
    fn facts_fill_braces_and_doubled_braces_stay() {
        let document = Document::new("rules/a/b.yaml", "message: x");
        let template =
            Template::parse("keys {before} → {{{after|no key}}}", &["before", "after"], "message", &document);
        let facts = Facts::from([("before", Fact::List(vec!["a".into(), "b".into()])), ("after", Fact::List(vec![]))]);
        assert_eq!(template.expect("valid").render(&facts), "keys a, b → {no key}");
    }

    #[test]
    fn words_for_an_absent_fact_are_no_code() {
        let document = Document::new("rules/a/b.yaml", "message: x");
        let template =
            Template::parse("from `{before|unset}` to `{after|unset}`", &["before", "after"], "message", &document);
        let facts = Facts::from([("after", Fact::Text("s3://b".into()))]);
        assert_eq!(template.expect("valid").render(&facts), "from unset to `s3://b`");
    }

    #[test]
    fn an_unknown_fact_is_an_error() {
        let document = Document::new("rules/a/b.yaml", "id: b\nmessage: x {y}");
        let error = Template::parse("x {y}", &["before"], "message", &document).expect_err("unknown fact");
        assert_eq!(error.line, 2);
    }
}
