//! A YAML file of the rule book, and errors that name a line in it.

use crate::model::{Diagnostic, DiagnosticLevel, Span};
use serde_yaml::{Mapping, Value};
use std::fmt;

/// One file's path and text. `serde_yaml`'s values carry no places, so an error's line is that of the key it names.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    path: &'a str,
    text: &'a str,
}

/// What is wrong in a rule file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleError {
    pub path: String,
    pub line: u32,
    pub message: String,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

impl From<RuleError> for Diagnostic {
    fn from(error: RuleError) -> Self {
        let mut span = Span::start_of(error.path.as_str().into());
        span.line = error.line;
        span.end_line = error.line;
        Diagnostic {
            level: DiagnosticLevel::Error,
            code: "rule",
            message: error.message,
            help: None,
            path: Some(error.path),
            span: Some(span),
        }
    }
}

impl<'a> Document<'a> {
    pub fn new(path: &'a str, text: &'a str) -> Self {
        Document { path, text }
    }

    pub fn path(&self) -> &'a str {
        self.path
    }

    /// An error at the first line that holds this key.
    pub fn error(&self, key: &str, message: String) -> RuleError {
        RuleError { path: self.path.to_owned(), line: self.line_of(key), message }
    }

    fn line_of(&self, key: &str) -> u32 {
        let names_key = |line: &str| {
            line.match_indices(key).any(|(at, _)| {
                let before = line.get(..at).and_then(|head| head.chars().next_back());
                let after = line.get(at + key.len()..).unwrap_or_default().trim_start_matches(['"', '\'']);
                after.starts_with(':') && before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '-')
            })
        };
        let index = self.text.lines().position(names_key).unwrap_or(0);
        u32::try_from(index).unwrap_or(u32::MAX - 1) + 1
    }

    /// The file's one mapping.
    ///
    /// # Errors
    /// Text that is no YAML, or whose top level is no mapping.
    pub fn mapping(&self) -> Result<Mapping, RuleError> {
        match serde_yaml::from_str(self.text) {
            Ok(Value::Mapping(mapping)) => Ok(mapping),
            Ok(_) => Err(self.error("", "the file must hold one mapping".to_owned())),
            Err(error) => {
                let line = error.location().map_or(1, |place| u32::try_from(place.line()).unwrap_or(1));
                Err(RuleError { path: self.path.to_owned(), line, message: format!("not valid YAML: {error}") })
            }
        }
    }

    /// Text under a key.
    ///
    /// # Errors
    /// Missing, or of another type.
    pub fn text(&self, mapping: &Mapping, key: &str) -> Result<String, RuleError> {
        self.optional_text(mapping, key)?.ok_or_else(|| self.error(key, format!("`{key}` is missing")))
    }

    /// Text under a key that may be absent.
    ///
    /// # Errors
    /// A value of another type.
    pub fn optional_text(&self, mapping: &Mapping, key: &str) -> Result<Option<String>, RuleError> {
        match mapping.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.trim_end().to_owned())),
            Some(_) => Err(self.error(key, format!("`{key}` must be text"))),
        }
    }

    /// True or false under a key that may be absent.
    ///
    /// # Errors
    /// A value of another type.
    pub fn flag(&self, mapping: &Mapping, key: &str) -> Result<Option<bool>, RuleError> {
        match mapping.get(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => Err(self.error(key, format!("`{key}` must be true or false"))),
        }
    }

    /// A list of texts; empty where the key is absent.
    ///
    /// # Errors
    /// A value that is no list of texts.
    pub fn texts(&self, mapping: &Mapping, key: &str) -> Result<Vec<String>, RuleError> {
        let items = match mapping.get(key) {
            None => return Ok(Vec::new()),
            Some(Value::Sequence(items)) => items,
            Some(_) => return Err(self.error(key, format!("`{key}` must be a list"))),
        };
        items
            .iter()
            .map(|item| match item {
                Value::String(text) => Ok(text.trim_end().to_owned()),
                _ => Err(self.error(key, format!("`{key}` must hold texts"))),
            })
            .collect()
    }

    /// One of a fixed set of words.
    ///
    /// # Errors
    /// A word outside the set.
    pub fn word<T: std::str::FromStr<Err = String>>(&self, key: &str, text: &str) -> Result<T, RuleError> {
        text.parse().map_err(|error| self.error(key, format!("`{key}`: {error}")))
    }

    /// Rejects keys outside `allowed`, and keys that are not in its order.
    ///
    /// # Errors
    /// An unknown or misplaced key.
    pub fn check_keys(&self, mapping: &Mapping, allowed: &[&str]) -> Result<(), RuleError> {
        let mut last = 0;
        for key in mapping.keys() {
            let Value::String(key) = key else {
                return Err(self.error("", "keys must be text".to_owned()));
            };
            let Some(position) = allowed.iter().position(|name| name == key) else {
                return Err(self.error(key, format!("unknown key `{key}`; known are {}", allowed.join(", "))));
            };
            if position < last {
                return Err(self.error(key, format!("`{key}` stands too late; the order is {}", allowed.join(", "))));
            }
            last = position;
        }
        Ok(())
    }
}
