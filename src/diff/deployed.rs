//! What differs between a real checkpoint and the flow that is to resume from it.
//!
//! The checkpoint takes the place of the before side as far as it holds the same facts: number and kind of sources, operators,
//! types of state, topics. The changes are those of two revisions, with the file of the checkpoint as the place before.

use super::change::Change;
use super::comparison::Side;
use super::pair::FlowRef;
use super::state::stored::Types;
use super::state::{compare_names, compare_types};
use super::{source, text};
use crate::analyze::{Analysis, SourceAspect};
use crate::checkpoint::{Checkpoint, OffsetEntry, OffsetForm, StoredOffset};
use crate::model::{Place, Span, StatefulOperator};

/// Lines of an offset log entry before its first source.
const HEAD_LINES: u32 = 2;

/// Everything that differs; `folder` is put before the files of the checkpoint.
pub fn compare(after: &Analysis, reference: FlowRef, held: &Checkpoint, folder: &str) -> Vec<Change> {
    let Some(side) = Side::new(after, reference) else { return Vec::new() };
    let comparison = DeployedFlow { side, held, folder };
    let mut changes = comparison.sources();
    changes.extend(comparison.operators());
    complete(&mut changes, side);
    changes
}

/// The flow's sources in the order of the checkpoint's: as a message names them, and by every name that facts may have them
/// under.
pub fn sources(after: &Analysis, reference: FlowRef, held: &Checkpoint) -> Vec<(String, Vec<String>)> {
    let Some(side) = Side::new(after, reference) else { return Vec::new() };
    let streams = side.streams();
    let Some(entry) = held.last() else { return Vec::new() };
    let found = |position: usize, key: &str| {
        let named = || streams.iter().find(|source| source.name.as_deref() == Some(key));
        if entry.is_by_position() { streams.get(position) } else { named() }
    };
    let names = |stream: &&SourceAspect| {
        let shown = text::source(&stream.text);
        let options = ["path", "subscribe"].iter().filter_map(|option| stream.options.get(*option).cloned());
        let names = std::iter::once(shown.clone()).chain(options).chain(source::names(stream)).collect();
        (shown, names)
    };
    let keys = entry.sources.iter().enumerate();
    keys.map(|(position, (key, _))| found(position, &key).map(names).unwrap_or_default()).collect()
}

/// A change of its own kind about a flow and its checkpoint, at one of its files.
pub fn change(after: &Analysis, reference: FlowRef, kind: &'static str, folder: &str, file: &str) -> Option<Change> {
    let side = Side::new(after, reference)?;
    let path = below(folder, file);
    let change =
        Change::new(kind, &side.pipeline.key).fact("file", path.as_str()).places(&at(path, 1), &Place::unknown());
    let mut changes = [change];
    complete(&mut changes, side);
    let [change] = changes;
    Some(change)
}

fn complete(changes: &mut [Change], side: Side) {
    for change in changes {
        change.dataset = Some(side.flow.target.clone());
        change.flow = Some(side.flow.name.clone());
        change.after = change.after.or(&side.flow.place);
    }
}

pub fn below(folder: &str, file: &str) -> String {
    match (folder.trim_end_matches('/'), file) {
        ("", file) => file.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, file) => format!("{folder}/{file}"),
    }
}

fn at(path: String, line: u32) -> Place {
    Place::at(Span { line, end_line: line, ..Span::start_of(path.into()) })
}

struct DeployedFlow<'a> {
    side: Side<'a>,
    held: &'a Checkpoint,
    folder: &'a str,
}

impl DeployedFlow<'_> {
    fn sources(&self) -> Vec<Change> {
        let Some(entry) = self.held.last() else { return Vec::new() };
        let streams = self.side.streams();
        let named = streams.iter().all(|source| source.name.is_some()) && !entry.is_by_position();
        if !named && entry.sources.len() != streams.len() {
            return self.counted(entry, &streams);
        }
        let mut changes = Vec::new();
        for (position, (key, offset)) in entry.sources.iter().enumerate() {
            let own = |source: &&&SourceAspect| source.name.as_deref() == Some(key.as_str());
            let stream = if named { streams.iter().find(own) } else { streams.get(position) };
            if let (Some(offset), Some(stream)) = (offset, stream) {
                let place = self.line(entry, position);
                changes.extend(self.other_kind(&key, offset, stream, &place));
                changes.extend(self.other_topics(offset, stream, &place));
            }
        }
        changes
    }

    /// More sources or fewer: those at the end came or went, as far as a checkpoint can say.
    fn counted(&self, entry: &OffsetEntry, streams: &[&SourceAspect]) -> Vec<Change> {
        let pipeline = self.side.pipeline.key.as_str();
        let number = |position: usize| super::Fact::Number(i64::try_from(position).unwrap_or_default());
        let came = streams.iter().enumerate().skip(entry.sources.len()).map(|(position, stream)| {
            let change = Change::new("source-added", pipeline).fact("source", text::source(&stream.text));
            change.fact("position", number(position)).places(&self.line(entry, 0), &stream.place)
        });
        let gone = entry.sources.iter().enumerate().skip(streams.len()).map(|(position, (key, offset))| {
            let change = Change::new("source-removed", pipeline).fact("source", self.shown(&key, offset));
            change.fact("position", number(position)).places(&self.line(entry, position), &Place::unknown())
        });
        came.chain(gone).collect()
    }

    fn other_kind(&self, key: &str, offset: &StoredOffset, stream: &SourceAspect, place: &Place) -> Option<Change> {
        let kinds = source::offset_kinds(self.side, stream)?;
        let stored = offset.form.kind();
        if kinds.contains(&stored) || offset.form == OffsetForm::Other {
            return None;
        }
        let change = Change::new("source-kind-changed", &self.side.pipeline.key)
            .fact("source", text::source(&stream.text))
            .fact("source_before", self.shown(key, Some(offset)))
            .fact("kind_before", stored)
            .fact("kind_after", source::kind(stream));
        Some(change.places(place, &stream.place))
    }

    /// Topics of the checkpoint that the reader no longer names, and the other way round.
    fn other_topics(&self, offset: &StoredOffset, stream: &SourceAspect, place: &Place) -> Option<Change> {
        let OffsetForm::Kafka(topics) = &offset.form else { return None };
        let subscribed = stream.options.get("subscribe")?;
        let before: Vec<String> = topics.keys().cloned().collect();
        let mut after: Vec<String> = subscribed.split(',').map(|topic| topic.trim().to_owned()).collect();
        after.sort();
        let (added, removed) =
            (super::comparison::surplus(&before, &after), super::comparison::surplus(&after, &before));
        if added.is_empty() && removed.is_empty() {
            return None;
        }
        let change = Change::new("source-topics-changed", &self.side.pipeline.key)
            .fact("source", text::source(&stream.text))
            .fact("option", "subscribe")
            .values(before.join(","), subscribed.as_str());
        Some(change.fact("added", added).fact("removed", removed).places(place, &stream.place))
    }

    fn operators(&self) -> Vec<Change> {
        if self.held.commits.is_empty() {
            return Vec::new();
        }
        let pipeline = self.side.pipeline.key.as_str();
        let new = &self.side.analyzed.signature.operators;
        let old: Vec<StatefulOperator> = self.held.operators.iter().map(|stored| self.placed(stored)).collect();
        let nameless = self.held.operators.iter().any(|stored| stored.metadata.is_none());
        let sources_changed = self.held.last().is_some_and(|entry| entry.sources.len() != self.side.streams().len());
        let names =
            if nameless && !new.is_empty() { Vec::new() } else { compare_names(pipeline, sources_changed, &old, new) };
        if !names.is_empty() {
            return names;
        }
        let pairs = new.iter().filter_map(|operator| Some((old.iter().find(|o| o.id == operator.id)?, operator)));
        pairs.filter_map(|(x, y)| compare_types(pipeline, x, y, &Types::of(&known_stores(x, y), y))).collect()
    }

    /// An operator with the place of its first schema in the checkpoint.
    fn placed(&self, stored: &crate::checkpoint::StoredOperator) -> StatefulOperator {
        let metadata = stored.metadata.as_ref().map(|metadata| &metadata.file);
        let file = metadata.or_else(|| stored.schema_files.values().next()).unwrap_or(&stored.folder);
        StatefulOperator { place: at(below(self.folder, file), 1), ..stored.operator.clone() }
    }

    fn line(&self, entry: &OffsetEntry, position: usize) -> Place {
        let line = HEAD_LINES + 1 + u32::try_from(position).unwrap_or_default();
        at(below(self.folder, &entry.file), line)
    }

    fn shown(&self, key: &str, offset: Option<&StoredOffset>) -> String {
        format!("source {key} of the checkpoint ({})", offset.map_or("nothing read yet", |offset| offset.form.kind()))
    }
}

/// Stores that both have: the rest is no difference of types.
fn known_stores(old: &StatefulOperator, new: &StatefulOperator) -> StatefulOperator {
    let both = old.stores.iter().filter(|store| new.stores.iter().any(|other| other.store == store.store));
    StatefulOperator { stores: both.cloned().collect(), ..old.clone() }
}
