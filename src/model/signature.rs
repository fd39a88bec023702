//! What a checkpoint holds a plan to.

use super::name::QualifiedName;
use super::place::Place;
use super::schema::Schema;
use super::source::Source;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which checkpoint a flow resumes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FlowIdentity {
    pub pipeline: String,
    pub target: QualifiedName,
    pub flow: String,
    /// Storage root or explicit checkpoint path.
    pub checkpoint: Option<String>,
}

/// One streaming leaf, in the order Spark zips sources with offsets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SourceSignature {
    pub source: Source,
    /// Options by lower-case name.
    pub options: BTreeMap<String, String>,
    pub name: Option<String>,
    pub schema: Schema,
    pub place: Place,
}

/// A state store of an operator. Types decide at restart; names are kept to say what changed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StateStoreSchema {
    /// `default`, `left-keyToNumValues`, `right-keyWithIndexToValue`, or a transformWithState variable.
    pub store: Arc<str>,
    pub key: Schema,
    pub value: Schema,
}

/// A stateful operator as the state metadata names it. Ids count from the sink upwards.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StatefulOperator {
    pub id: u32,
    /// `stateStoreSave`, `dedupe`, `dedupeWithinWatermark`, `symmetricHashJoin`, `sessionWindowStateStoreSaveExec`,
    /// `globalLimit`, `applyInPandasWithState`, `transformWithStateInPandasExec`.
    pub name: Arc<str>,
    pub stores: Vec<StateStoreSchema>,
    /// What state *means* beside its types, in canonical text, by aspect: `keys`, `aggregates`, `window`, `join-type`,
    /// `condition`, `time-mode`, `function`, `limit`. Types alone decide whether a restart is refused; these tell a silent change.
    pub semantics: BTreeMap<&'static str, Vec<String>>,
    pub place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WatermarkSignature {
    /// Canonical text of the event time expression.
    pub event_time: String,
    /// Microseconds; none where not a literal.
    pub delay: Option<i64>,
    /// Ids of the stateful operators that it stands in front of. Those behind which it stands drop and forget nothing by it.
    pub operators: Vec<u32>,
    pub place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Signature {
    pub identity: FlowIdentity,
    pub sources: Vec<SourceSignature>,
    /// In ascending id.
    pub operators: Vec<StatefulOperator>,
    pub watermarks: Vec<WatermarkSignature>,
    pub output: Schema,
}
