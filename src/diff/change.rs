//! What a difference looks like: a kind from the registry, the facts that rules ask for, and both places.

use crate::model::{Place, QualifiedName};
use std::collections::BTreeMap;
use std::fmt;

/// What a change says about itself, for rules to ask.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fact {
    Flag(bool),
    Number(i64),
    Text(String),
    List(Vec<String>),
}

impl From<bool> for Fact {
    fn from(value: bool) -> Self {
        Fact::Flag(value)
    }
}

impl From<&str> for Fact {
    fn from(value: &str) -> Self {
        Fact::Text(value.to_owned())
    }
}

impl From<String> for Fact {
    fn from(value: String) -> Self {
        Fact::Text(value)
    }
}

impl From<Vec<String>> for Fact {
    fn from(value: Vec<String>) -> Self {
        Fact::List(value)
    }
}

impl Fact {
    /// Says nothing: no text, no item.
    pub fn is_empty(&self) -> bool {
        match self {
            Fact::Text(value) => value.is_empty(),
            Fact::List(values) => values.is_empty(),
            Fact::Flag(_) | Fact::Number(_) => false,
        }
    }
}

/// As a message shows it: a list is joined with commas.
impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fact::Flag(value) => write!(f, "{value}"),
            Fact::Number(value) => write!(f, "{value}"),
            Fact::Text(value) => f.write_str(value),
            Fact::List(values) => f.write_str(&values.join(", ")),
        }
    }
}

pub type Facts = BTreeMap<&'static str, Fact>;

/// One typed difference between two revisions.
#[derive(Debug, Clone)]
pub struct Change {
    /// `dedup-keys-changed`, `source-added`, …: see [`super::kinds`].
    pub kind: &'static str,
    pub facts: Facts,
    /// Key of the pipeline, of the after side where it is there.
    pub pipeline: String,
    /// None where the change concerns the whole pipeline.
    pub dataset: Option<QualifiedName>,
    /// None where the change concerns every flow of the dataset.
    pub flow: Option<String>,
    pub before: Place,
    pub after: Place,
}

impl Change {
    pub fn new(kind: &'static str, pipeline: &str) -> Self {
        debug_assert!(super::kinds::kind(kind).is_some(), "{kind} is not registered");
        Change {
            kind,
            facts: Facts::new(),
            pipeline: pipeline.to_owned(),
            dataset: None,
            flow: None,
            before: Place::unknown(),
            after: Place::unknown(),
        }
    }

    pub fn fact(mut self, name: &'static str, value: impl Into<Fact>) -> Self {
        self.facts.insert(name, value.into());
        self
    }

    /// The facts `before` and `after`.
    pub fn values(self, before: impl Into<Fact>, after: impl Into<Fact>) -> Self {
        self.fact("before", before).fact("after", after)
    }

    pub fn places(mut self, before: &Place, after: &Place) -> Self {
        self.before = before.clone();
        self.after = after.clone();
        self
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        match self.facts.get(name) {
            Some(Fact::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub fn flag(&self, name: &str) -> bool {
        matches!(self.facts.get(name), Some(Fact::Flag(true)))
    }

    pub fn list(&self, name: &str) -> &[String] {
        match self.facts.get(name) {
            Some(Fact::List(values)) => values,
            _ => &[],
        }
    }
}
