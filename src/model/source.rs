//! What a plan reads.

use super::expr::Attribute;
use super::name::QualifiedName;
use super::place::Place;
use super::schema::Schema;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Where rows come from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Source {
    /// A dataset of a pipeline or a table outside of it; analysis qualifies the name.
    Table(QualifiedName),
    /// Files under a path: `read_files`, `cloudFiles`, `.json(path)`, ``json.`path` ``. `format` is the file format, lower case.
    Files { format: String, path: String, auto_loader: bool },
    /// Anything else by its format name, lower case: `kafka`, `kinesis`, `pubsub`, `pulsar`, `rate`, `rate-micro-batch`, `socket`.
    Connector { format: String },
    /// A table's change data feed (`table_changes`, `readChangeFeed`, `CHANGES FROM VERSION`).
    ChangeFeed(QualifiedName),
}

/// One leaf of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Read {
    pub source: Source,
    pub streaming: bool,
    /// Options by their name in lower case (Spark's option maps ignore case), values as text. Table options such as
    /// `skipchangecommits`, `startingoffsets`, `subscribe` and `cloudfiles.format` all stand here.
    pub options: BTreeMap<String, String>,
    /// The schema the code gives to the reader.
    pub schema: Option<Schema>,
    /// The source's name where source evolution is used (`.name('a')`, `IDENTIFIED BY a`).
    pub name: Option<String>,
    /// Columns, set by analysis; empty before it.
    pub output: Vec<Attribute>,
    /// Set by analysis: the output lists all columns.
    pub complete: bool,
    pub place: Place,
}

impl Read {
    pub fn new(source: Source, streaming: bool) -> Self {
        Read {
            source,
            streaming,
            options: BTreeMap::new(),
            schema: None,
            name: None,
            output: Vec::new(),
            complete: false,
            place: Place::unknown(),
        }
    }

    /// An option by name, in any letter case.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.get(&name.to_lowercase()).map(String::as_str)
    }
}

/// An option's value as every reader and writer takes it: truth values are read without letter case (`CaseInsensitiveMap`, `toBoolean`).
pub fn option_value(written: &str) -> Cow<'_, str> {
    match ["true", "false"].into_iter().find(|truth| written.eq_ignore_ascii_case(truth)) {
        Some(truth) => Cow::Borrowed(truth),
        None => Cow::Borrowed(written),
    }
}

/// Two values of an option that mean the same; an absent one is another than any that is given.
pub fn same_option(one: Option<&String>, other: Option<&String>) -> bool {
    one.map(|value| option_value(value)) == other.map(|value| option_value(value))
}
