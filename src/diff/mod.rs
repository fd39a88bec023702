//! Pairs datasets and flows across two analysed revisions and says what differs, one typed change at a time.

use crate::model::{Place, QualifiedName};
use std::collections::BTreeMap;

/// What a change says about itself, for rules to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    Flag(bool),
    Number(i64),
    Text(String),
    List(Vec<String>),
}

/// One typed difference.
#[derive(Debug, Clone)]
pub struct Change {
    /// `dedup-keys-changed`, `source-added`, …: the registry of kinds is in this module.
    pub kind: &'static str,
    pub facts: BTreeMap<&'static str, Fact>,
    /// Index into the after side's pipelines where it is there, else the before side's; by key.
    pub pipeline: String,
    pub dataset: Option<QualifiedName>,
    pub flow: Option<String>,
    pub before: Place,
    pub after: Place,
}
