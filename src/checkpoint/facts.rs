//! What is known of the sources as they are now (`--source-facts`): ids of tables and snapshots, and how far back they can be read.

use super::{OffsetForm, StoredOffset};
use serde_yaml::Value as Yaml;
use std::collections::BTreeMap;

/// Facts about sources by name: a table, topic or path as the code reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceFacts {
    sources: BTreeMap<String, SourceState>,
}

/// One source as it is now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct SourceState {
    /// Delta: `id` of the table's metadata (`DESCRIBE DETAIL`).
    table_id: Option<String>,
    /// Iceberg: ids of the snapshots that can be read.
    snapshots: Option<Vec<i64>>,
    range: Range,
    /// Kafka: by number of the partition.
    partitions: BTreeMap<u32, Range>,
}

/// Versions or offsets that can be read: the first, and the one that comes next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Range {
    oldest: Option<i64>,
    newest: Option<i64>,
}

/// What the facts say of one offset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Position {
    /// The id that the table has now, where the checkpoint has another.
    pub other_table: Option<String>,
    /// The table has the id that the checkpoint has.
    pub same_table: bool,
    /// Where the checkpoint goes on, and the first that can be read.
    pub lost: Option<(String, String)>,
    /// The error of a source that has lost it, where that is known.
    pub lost_class: Option<&'static str>,
    /// How far the source is ahead.
    pub behind: Option<String>,
}

impl Position {
    /// The error that a restart would meet, as class and message.
    pub fn refusal(&self) -> Option<(&'static str, String)> {
        if let Some(id) = &self.other_table {
            let message = format!("the table has the id {id}, and the checkpoint is of another one");
            return Some(("DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE", message));
        }
        let (next, oldest) = self.lost.as_ref()?;
        Some((self.lost_class?, format!("the checkpoint goes on at {next}; what can be read begins with {oldest}")))
    }
}

const SOURCE_KEYS: &[&str] = &["table_id", "snapshots", "oldest", "newest", "partitions"];

impl SourceFacts {
    /// Reads YAML or JSON: by source `table_id`, `snapshots`, `oldest`, `newest`, or `partitions` with the latter two.
    ///
    /// # Errors
    /// What is wrong first.
    pub fn parse(text: &str) -> Result<Self, String> {
        let yaml: Yaml = serde_yaml::from_str(text).map_err(|error| error.to_string())?;
        let entries = yaml.as_mapping().ok_or("facts of sources are a mapping from names to facts")?;
        let mut sources = BTreeMap::new();
        for (name, facts) in entries {
            let name = name.as_str().ok_or("a source's name is no text")?;
            let facts = facts.as_mapping().ok_or_else(|| format!("the facts of `{name}` are no mapping"))?;
            if let Some(unknown) = facts.keys().find(|key| !key.as_str().is_some_and(|key| SOURCE_KEYS.contains(&key)))
            {
                let unknown = unknown.as_str().unwrap_or("?");
                return Err(format!("`{unknown}` of `{name}` is no fact; known are {}", SOURCE_KEYS.join(", ")));
            }
            let get = |key: &str| facts.get(key).unwrap_or(&Yaml::Null);
            let mut partitions = BTreeMap::new();
            for (partition, range) in get("partitions").as_mapping().into_iter().flatten() {
                let number = partition.as_u64().or_else(|| partition.as_str()?.parse().ok());
                let number = number.and_then(|number| u32::try_from(number).ok());
                let number = number.ok_or_else(|| format!("a partition of `{name}` is no number"))?;
                let get = |key: &str| range.get(key).unwrap_or(&Yaml::Null);
                partitions.insert(number, Range::parse(name, get("oldest"), get("newest"))?);
            }
            let table_id = get("table_id").as_str().map(str::to_owned);
            let range = Range::parse(name, get("oldest"), get("newest"))?;
            let snapshots = get("snapshots").as_sequence().map(|ids| ids.iter().filter_map(Yaml::as_i64).collect());
            sources.insert(name.to_owned(), SourceState { table_id, snapshots, range, partitions });
        }
        Ok(SourceFacts { sources })
    }

    /// What is known of an offset of the source that has one of these names.
    pub fn position(&self, names: &[String], offset: &StoredOffset) -> Option<Position> {
        match &offset.form {
            OffsetForm::Delta { table, version, starting, .. } => {
                let state = self.find(names)?;
                let version = i64::try_from(*version).unwrap_or(i64::MAX);
                let other_table = state.table_id.clone().filter(|id| id != table);
                let same_table = state.table_id.as_ref() == Some(table);
                // The first batch reads a snapshot, which needs no older versions.
                let lost = state.range.lost(version).filter(|_| !starting && other_table.is_none());
                let lost_class = lost.is_some().then_some("DELTA_LOG_FILE_NOT_FOUND_FOR_STREAMING_SOURCE");
                let behind = state.range.behind(version, "version");
                Some(Position { other_table, same_table, lost, lost_class, behind })
            }
            OffsetForm::Kafka(topics) => {
                let mut position = Position::default();
                let mut behind = 0;
                for (topic, partitions) in topics {
                    let Some(state) = self.find(std::slice::from_ref(topic)) else { continue };
                    for (partition, next) in partitions {
                        let range = state.partitions.get(partition).copied().unwrap_or(state.range);
                        let named = |(before, after): (String, String)| {
                            (format!("{topic}-{partition} at {before}"), format!("offset {after}"))
                        };
                        position.lost = position.lost.or_else(|| range.lost(*next).map(named));
                        behind += range.newest.map_or(0, |newest| newest.saturating_sub(*next).max(0));
                    }
                }
                position.behind = (behind > 0).then(|| counted(behind, "offset"));
                Some(position)
            }
            OffsetForm::Iceberg { snapshot, .. } => {
                let known = self.find(names)?.snapshots.as_ref()?;
                let gone = *snapshot >= 0 && !known.contains(snapshot);
                let oldest =
                    || known.iter().min().map_or_else(|| "no snapshot".to_owned(), |id| format!("snapshot {id}"));
                let lost = gone.then(|| (format!("snapshot {snapshot}"), oldest()));
                Some(Position { lost, lost_class: gone.then_some("IllegalStateException"), ..Position::default() })
            }
            OffsetForm::Files { .. }
            | OffsetForm::RateMicroBatch { .. }
            | OffsetForm::Long(_)
            | OffsetForm::AutoLoader { .. }
            | OffsetForm::Other => None,
        }
    }

    fn find(&self, names: &[String]) -> Option<&SourceState> {
        let mut known = self.sources.iter();
        known.find(|(known, _)| names.iter().any(|name| known.eq_ignore_ascii_case(name))).map(|(_, state)| state)
    }
}

impl Range {
    fn parse(name: &str, oldest: &Yaml, newest: &Yaml) -> Result<Self, String> {
        let number = |value: &Yaml| match value {
            Yaml::Null => Ok(None),
            value => value.as_i64().map(Some).ok_or_else(|| format!("`oldest` and `newest` of `{name}` are numbers")),
        };
        Ok(Range { oldest: number(oldest)?, newest: number(newest)? })
    }

    fn lost(self, next: i64) -> Option<(String, String)> {
        let oldest = self.oldest.filter(|oldest| *oldest > next)?;
        Some((next.to_string(), oldest.to_string()))
    }

    fn behind(self, next: i64, unit: &str) -> Option<String> {
        let ahead = self.newest?.checked_sub(next)?.checked_add(1)?;
        (ahead > 0).then(|| counted(ahead, unit))
    }
}

fn counted(count: i64, unit: &str) -> String {
    if count == 1 { format!("1 {unit}") } else { format!("{count} {unit}s") }
}
