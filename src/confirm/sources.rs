//! What a pair of revisions reads that neither of them writes: sources outside, as each side knows them.

use crate::analyze::Analysis;
use crate::engine::{
    Behaviour, TableFormat, default_source_format, facts_for, location, source_location, topic_schema,
};
use crate::model::{Field, Pipeline, Read, Schema, Source, SourceFacts};
use std::collections::{BTreeMap, BTreeSet};

/// The sources of both sides.
#[derive(Debug, Clone, Default)]
pub struct SourceSet {
    pub before: Vec<SourceFacts>,
    pub after: Vec<SourceFacts>,
}

impl SourceSet {
    /// Sources to find rows for, one a location, with all columns that either side knows of; by name.
    pub fn merged(&self) -> Vec<SourceFacts> {
        let mut by_location: BTreeMap<String, SourceFacts> = BTreeMap::new();
        for facts in self.before.iter().chain(&self.after) {
            let known = by_location.entry(source_location(facts)).or_insert_with(|| facts.clone());
            let more = facts.schema.iter().flat_map(|schema| &schema.fields);
            let schema = known.schema.get_or_insert_with(|| Schema::new(Vec::new()));
            for field in more {
                if schema.field(&field.name).is_none() {
                    schema.fields.push(field.clone());
                }
            }
        }
        by_location.into_values().collect()
    }

    /// Columns of a merged source that it did not have yet when BEFORE ran: rows of that time hold nothing in them.
    pub fn columns_of_after(&self, merged: &SourceFacts) -> Vec<String> {
        let at = source_location(merged);
        let then =
            self.before.iter().find(|facts| source_location(facts) == at).and_then(|facts| facts.schema.as_ref());
        let Some(then) = then.filter(|schema| schema.complete && !schema.fields.is_empty()) else { return Vec::new() };
        let fields = merged.schema.iter().flat_map(|schema| &schema.fields);
        fields.filter(|field| then.field(&field.name).is_none()).map(|field| field.name.clone()).collect()
    }
}

/// Finds the sources of two revisions.
pub fn sources(before: &Analysis, after: &Analysis) -> SourceSet {
    // A table that only one side writes is no source on the other either: its rows are what the first has left there.
    let mut written = BTreeSet::new();
    for analysis in [before, after] {
        for analyzed in &analysis.flows {
            let pipeline = analysis.workspace.pipelines.get(analyzed.pipeline);
            let place = pipeline.and_then(|pipeline| location(pipeline, pipeline.flows.get(analyzed.flow)?));
            written.extend(place);
        }
    }
    SourceSet { before: side(before, &written), after: side(after, &written) }
}

fn side(analysis: &Analysis, written: &BTreeSet<String>) -> Vec<SourceFacts> {
    let mut found: BTreeMap<String, SourceFacts> = BTreeMap::new();
    for pipeline in &analysis.workspace.pipelines {
        for facts in &pipeline.sources {
            let at = source_location(facts);
            if !written.contains(&at) {
                // Two names for one folder are two sources of one content; the first one keeps the rows.
                found.entry(at).or_insert_with(|| facts.clone());
            }
        }
    }
    for flow in &analysis.flows {
        let Some(pipeline) = analysis.workspace.pipelines.get(flow.pipeline) else { continue };
        for read in flow.plan.reads() {
            let facts = facts_for(pipeline, read).cloned().or_else(|| implied(pipeline, read));
            let Some(facts) = facts else { continue };
            let at = source_location(&facts);
            if written.contains(&at) || is_dataset(pipeline, read) {
                continue;
            }
            let known = found.entry(at).or_insert(facts);
            add_columns(known, read);
        }
    }
    found.into_values().collect()
}

pub(super) fn is_dataset(pipeline: &Pipeline, read: &Read) -> bool {
    match &read.source {
        Source::Table(name) | Source::ChangeFeed(name) => pipeline.dataset(name).is_some(),
        _ => false,
    }
}

/// Facts of a source of which pipelint.yaml says nothing.
pub(super) fn implied(pipeline: &Pipeline, read: &Read) -> Option<SourceFacts> {
    let default = default_source_format(Behaviour::of(pipeline));
    let (name, format) = match &read.source {
        Source::Table(name) | Source::ChangeFeed(name) => (name.to_string(), default.to_owned()),
        Source::Files { format, path, .. } => (path.clone(), format.clone()),
        Source::Connector { format } => {
            if TableFormat::named(format) != TableFormat::Topic {
                return None;
            }
            let topic =
                ["subscribe", "topic", "streamname", "eventhubs.name"].iter().find_map(|name| read.option(name));
            (topic.unwrap_or(format).to_owned(), format.clone())
        }
    };
    Some(SourceFacts {
        name,
        format: Some(format),
        schema: None,
        partitioned_by: Vec::new(),
        retention: None,
        path: None,
        other: BTreeMap::new(),
        span: None,
    })
}

fn add_columns(facts: &mut SourceFacts, read: &Read) {
    if facts.format.as_deref().map(TableFormat::named) == Some(TableFormat::Topic) {
        facts.schema.get_or_insert_with(topic_schema);
        return;
    }
    let declared = read.schema.iter().flat_map(|schema| schema.fields.clone());
    let resolved = read.output.iter().map(|column| Field {
        name: column.name.to_string(),
        data_type: column.data_type.clone(),
        nullable: column.nullable,
    });
    // What the reads name is not all that an undeclared source may have.
    let schema = facts.schema.get_or_insert_with(Schema::unknown);
    for field in declared.chain(resolved).filter(|field| !field.name.starts_with('_')) {
        if schema.field(&field.name).is_none() {
            schema.fields.push(field);
        }
    }
}
