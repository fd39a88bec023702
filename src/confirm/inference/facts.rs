//! Inferred columns as facts of the sources that a pipeline reads, beside what `pipelint.yaml` says.

use super::Inferred;
use crate::confirm::sources::{implied, is_dataset};
use crate::engine::{facts_for, source_location};
use crate::model::{Field, Pipeline, Plan, Schema, SourceFacts};
use std::collections::BTreeSet;

/// Adds the inferred columns of every source that these reads name to the pipeline's facts. What is declared stays.
/// Gives the locations of sources that have got columns.
pub(super) fn add(pipeline: &mut Pipeline, plan: &Plan, inferred: &Inferred) -> BTreeSet<String> {
    let mut added = BTreeSet::new();
    for read in plan.reads() {
        if read.complete || is_dataset(pipeline, read) {
            continue;
        }
        let known = facts_for(pipeline, read).cloned();
        let Some(facts) = known.clone().or_else(|| implied(pipeline, read)) else { continue };
        let location = source_location(&facts);
        let Some(columns) = inferred.get(&location) else { continue };
        let facts = with_columns(facts, columns);
        match known.and_then(|known| pipeline.sources.iter_mut().find(|other| other.name == known.name)) {
            Some(slot) => *slot = facts,
            None => pipeline.sources.push(facts),
        }
        added.insert(location);
    }
    added
}

/// More columns may exist than are used: the schema stays open.
fn with_columns(mut facts: SourceFacts, columns: &[Field]) -> SourceFacts {
    let schema = facts.schema.get_or_insert_with(Schema::unknown);
    for column in columns {
        match schema.fields.iter_mut().find(|field| field.name.eq_ignore_ascii_case(&column.name)) {
            Some(field) if field.data_type.is_unknown() => field.data_type = column.data_type.clone(),
            Some(_) => {}
            None if schema.complete => {}
            None => schema.fields.push(column.clone()),
        }
    }
    facts
}
