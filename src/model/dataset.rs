//! What flows write into, and views.

use super::expr::Expr;
use super::name::QualifiedName;
use super::place::Place;
use super::schema::{Field, Schema};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DatasetKind {
    StreamingTable,
    MaterializedView,
    /// A temporary, private or persisted view: text that readers see through.
    View,
    Sink,
    /// A managed or external table (`CREATE TABLE … FLOW`, a job's target).
    Table,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnViolation {
    Warn,
    DropRow,
    FailUpdate,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Expectation {
    pub name: String,
    /// SQL text of the condition, as written.
    pub condition: String,
    /// The condition, over the columns of whatever is written into the dataset.
    pub predicate: Expr,
    pub on_violation: OnViolation,
    pub place: Place,
}

/// How files are laid out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Layout {
    pub partition_by: Vec<String>,
    pub cluster_by: Vec<String>,
    pub cluster_by_auto: bool,
}

/// A column whose values the table makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedColumn {
    pub field: Field,
    /// Among all columns of the definition, from 0.
    pub position: usize,
}

/// A dataset as one revision defines it.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// As the pipeline's defaults complete it; views and sinks keep their bare name.
    pub name: QualifiedName,
    pub kind: DatasetKind,
    /// Temporary or private: not published to the catalog.
    pub private: bool,
    /// Columns declared in the definition, with constraints and generated columns left out.
    pub declared: Option<Schema>,
    /// Declared columns that are generated (identity or expression), in order.
    pub generated: Vec<GeneratedColumn>,
    pub layout: Layout,
    /// `USING`, `format=`, a sink's format; lower case.
    pub format: Option<String>,
    pub location: Option<String>,
    pub comment: Option<String>,
    /// Table properties; a sink's options.
    pub properties: BTreeMap<String, String>,
    pub spark_conf: BTreeMap<String, String>,
    pub expectations: Vec<Expectation>,
    /// `WITH ROW FILTER`, `MASK`, tags, schedule, refresh policy and the like: kept by name, for comparison only.
    pub other: BTreeMap<String, String>,
    /// True where the name or the definition hangs on an unknown set (a factory over a listing): one template for many datasets.
    pub template: bool,
    /// Nothing of the pipeline defines it: a flow says it writes there.
    pub implied: bool,
    pub place: Place,
}

impl Dataset {
    pub fn new(name: QualifiedName, kind: DatasetKind, place: Place) -> Self {
        Dataset {
            name,
            kind,
            private: false,
            declared: None,
            generated: Vec::new(),
            layout: Layout::default(),
            format: None,
            location: None,
            comment: None,
            properties: BTreeMap::new(),
            spark_conf: BTreeMap::new(),
            expectations: Vec::new(),
            other: BTreeMap::new(),
            template: false,
            implied: false,
            place,
        }
    }

    /// A property by name; Spark's table properties are case-sensitive, `pipelines.*` ones are matched without case.
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties
            .get(name)
            .or_else(|| self.properties.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value))
            .map(String::as_str)
    }

    /// `pipelines.reset.allowed` is set to false.
    pub fn is_protected(&self) -> bool {
        self.property("pipelines.reset.allowed").is_some_and(|value| value.eq_ignore_ascii_case("false"))
    }
}
