//! The condition language of `when:`: tests on facts under `all`, `any` and `not`.
//!
//! ```yaml
//! when: { types_equal: false, platform: spark }        # a mapping: all of them
//! when:
//!   any:
//!     - option: { in: [startingoffsets, startingversion] }
//!     - spark_version: { below: "4.0" }
//! ```
//! Tests: a bare scalar (equal), `in`, `contains`, `starts_with`, `at_least`, `below`, `empty`. A flag that is not set is false;
//! any other test of an absent fact fails.

use super::document::{Document, RuleError};
use crate::diff::{Fact, Facts};
use serde_yaml::Value;

/// Depth beyond which a condition is rejected: hand-written ones stay far below it.
const MAX_DEPTH: usize = 16;

#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Test { fact: String, test: Test },
}

#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    Equals(Scalar),
    In(Vec<Scalar>),
    Contains(Scalar),
    StartsWith(String),
    /// Numbers, or dotted versions.
    AtLeast(String),
    Below(String),
    Empty(bool),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scalar {
    Flag(bool),
    Number(i64),
    Text(String),
}

impl Condition {
    /// Holds for every change.
    pub fn always() -> Self {
        Condition::All(Vec::new())
    }

    /// Reads a condition whose facts must be among `known`.
    ///
    /// # Errors
    /// An unknown fact, an unknown test, a value of the wrong shape, or nesting beyond the limit.
    pub fn parse(value: &Value, known: &[&str], document: &Document) -> Result<Self, RuleError> {
        parse(value, known, document, 0)
    }

    pub fn holds(&self, facts: &Facts) -> bool {
        match self {
            Condition::All(parts) => parts.iter().all(|part| part.holds(facts)),
            Condition::Any(parts) => parts.iter().any(|part| part.holds(facts)),
            Condition::Not(part) => !part.holds(facts),
            Condition::Test { fact, test } => test.holds(facts.get(fact.as_str())),
        }
    }
}

fn parse(value: &Value, known: &[&str], document: &Document, depth: usize) -> Result<Condition, RuleError> {
    if depth > MAX_DEPTH {
        return Err(document.error("when", format!("conditions are nested deeper than {MAX_DEPTH}")));
    }
    let Value::Mapping(entries) = value else {
        return Err(document.error("when", "a condition is a mapping of facts, or of all, any, not".to_owned()));
    };
    let mut parts = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        let Value::String(key) = key else {
            return Err(document.error("when", "the name of a fact must be text".to_owned()));
        };
        parts.push(match key.as_str() {
            "all" => Condition::All(parse_list(key, value, known, document, depth)?),
            "any" => Condition::Any(parse_list(key, value, known, document, depth)?),
            "not" => Condition::Not(Box::new(parse(value, known, document, depth + 1)?)),
            fact if known.contains(&fact) => {
                Condition::Test { fact: key.clone(), test: parse_test(key, value, document)? }
            }
            _ => {
                return Err(document
                    .error(key, format!("this kind of change carries no fact `{key}`; it has {}", known.join(", "))));
            }
        });
    }
    Ok(match <[Condition; 1]>::try_from(parts) {
        Ok([single]) => single,
        Err(parts) => Condition::All(parts),
    })
}

fn parse_list(
    key: &str,
    value: &Value,
    known: &[&str],
    document: &Document,
    depth: usize,
) -> Result<Vec<Condition>, RuleError> {
    let Value::Sequence(items) = value else {
        return Err(document.error(key, format!("`{key}` takes a list of conditions")));
    };
    items.iter().map(|item| parse(item, known, document, depth + 1)).collect()
}

fn parse_test(fact: &str, value: &Value, document: &Document) -> Result<Test, RuleError> {
    let Value::Mapping(entries) = value else {
        return scalar(fact, value, document).map(Test::Equals);
    };
    let mut entries = entries.iter();
    let (Some((Value::String(operator), operand)), None) = (entries.next(), entries.next()) else {
        return Err(document.error(fact, format!("the test of `{fact}` must be one operator with its value")));
    };
    let text = || match scalar(fact, operand, document)? {
        Scalar::Text(text) => Ok(text),
        Scalar::Number(number) => Ok(number.to_string()),
        Scalar::Flag(_) => Err(document.error(fact, format!("`{operator}` takes text or a number"))),
    };
    Ok(match operator.as_str() {
        "in" => match operand {
            Value::Sequence(items) => {
                Test::In(items.iter().map(|item| scalar(fact, item, document)).collect::<Result<_, _>>()?)
            }
            _ => return Err(document.error(fact, "`in` takes a list".to_owned())),
        },
        "contains" => Test::Contains(scalar(fact, operand, document)?),
        "starts_with" => Test::StartsWith(text()?),
        "at_least" => Test::AtLeast(text()?),
        "below" => Test::Below(text()?),
        "empty" => match operand {
            Value::Bool(value) => Test::Empty(*value),
            _ => return Err(document.error(fact, "`empty` takes true or false".to_owned())),
        },
        other => {
            return Err(document.error(
                other,
                format!("`{other}` is no test; use in, contains, starts_with, at_least, below or empty"),
            ));
        }
    })
}

fn scalar(fact: &str, value: &Value, document: &Document) -> Result<Scalar, RuleError> {
    match value {
        Value::Bool(value) => Ok(Scalar::Flag(*value)),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Ok(Scalar::Number(number)),
            None => Ok(Scalar::Text(number.to_string())),
        },
        Value::String(text) => Ok(Scalar::Text(text.clone())),
        _ => Err(document.error(fact, format!("`{fact}` is compared with text, a whole number, true or false"))),
    }
}

impl Test {
    fn holds(&self, fact: Option<&Fact>) -> bool {
        match self {
            Test::Equals(Scalar::Flag(expected)) => matches!(fact, Some(Fact::Flag(true))) == *expected,
            Test::Equals(expected) => fact.is_some_and(|fact| equals(fact, expected)),
            Test::In(values) => fact.is_some_and(|fact| values.iter().any(|value| equals(fact, value))),
            Test::Contains(part) => fact.is_some_and(|fact| contains(fact, part)),
            Test::StartsWith(start) => matches!(fact, Some(Fact::Text(text)) if text.starts_with(start.as_str())),
            Test::AtLeast(limit) => fact.and_then(|fact| compare(fact, limit)).is_some_and(|order| order.is_ge()),
            Test::Below(limit) => fact.and_then(|fact| compare(fact, limit)).is_some_and(|order| order.is_lt()),
            Test::Empty(expected) => is_empty(fact) == *expected,
        }
    }
}

fn equals(fact: &Fact, scalar: &Scalar) -> bool {
    match (fact, scalar) {
        (Fact::Flag(a), Scalar::Flag(b)) => a == b,
        (Fact::Number(a), Scalar::Number(b)) => a == b,
        (Fact::Text(a), Scalar::Text(b)) => a == b,
        _ => false,
    }
}

fn contains(fact: &Fact, part: &Scalar) -> bool {
    match (fact, part) {
        (Fact::List(items), Scalar::Text(part)) => items.contains(part),
        (Fact::Text(text), Scalar::Text(part)) => text.contains(part.as_str()),
        _ => false,
    }
}

fn is_empty(fact: Option<&Fact>) -> bool {
    match fact {
        None => true,
        Some(Fact::List(items)) => items.is_empty(),
        Some(Fact::Text(text)) => text.is_empty(),
        Some(_) => false,
    }
}

/// Orders a number, or a dotted version, against a limit of the same form.
fn compare(fact: &Fact, limit: &str) -> Option<std::cmp::Ordering> {
    let version = |text: &str| -> Option<Vec<u64>> { text.split('.').map(|part| part.parse().ok()).collect() };
    match fact {
        Fact::Number(number) => Some(number.cmp(&limit.parse().ok()?)),
        Fact::Text(text) => Some(version(text)?.cmp(&version(limit)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["types_equal", "spark_version", "option", "added"];

    fn condition(yaml: &str) -> Result<Condition, RuleError> {
        let document = Document::new("rules/a/b.yaml", yaml);
        let value = serde_yaml::from_str(yaml).expect("test YAML parses");
        Condition::parse(&value, KNOWN, &document)
    }

    fn facts() -> Facts {
        Facts::from([
            ("spark_version", Fact::Text("4.10".into())),
            ("option", Fact::Text("startingoffsets".into())),
            ("added", Fact::List(vec!["a".into()])),
        ])
    }

    #[test]
    fn an_absent_flag_is_false() {
        assert!(condition("types_equal: false").expect("valid").holds(&facts()));
        assert!(!condition("types_equal: true").expect("valid").holds(&facts()));
    }

    #[test]
    fn versions_compare_by_number() {
        assert!(condition("spark_version: { at_least: \"4.3\" }").expect("valid").holds(&facts()));
        assert!(!condition("spark_version: { below: \"4.9\" }").expect("valid").holds(&facts()));
    }

    #[test]
    fn several_facts_must_all_hold() {
        let both = "{ option: { in: [subscribe, startingoffsets] }, added: { contains: b } }";
        assert!(!condition(both).expect("valid").holds(&facts()));
        let either = "any: [ { option: { starts_with: starting } }, { added: { empty: true } } ]";
        assert!(condition(either).expect("valid").holds(&facts()));
    }

    #[test]
    fn an_unknown_fact_names_its_line() {
        let error = condition("types_equal: true\ncolour: red").expect_err("unknown fact");
        assert_eq!(error.line, 2);
        assert!(error.message.contains("colour"), "{}", error.message);
    }
}
