//! Streaming sources: what is new since an offset, and the rows between two offsets, with what each kind checks at a restart.

use super::catalog::{self, PathPattern, Target};
use super::checkpoint::{Offset, SourceLog};
use super::delta;
use super::error::ExecutionError;
use super::platform::Behaviour;
use super::row::{Row, Rows};
use super::scan;
use super::table::{Commit, CommitKind, DataFile, Table, TableFormat};
use super::world::World;
use crate::model::{DataType, Field, Pipeline, Read, Schema, Source, Value};
use std::collections::BTreeMap;

/// One streaming leaf, opened for one run of its query.
#[derive(Debug)]
pub struct StreamSource<'a> {
    read: &'a Read,
    kind: Kind,
    behaviour: Behaviour,
    /// Plans every batch from the first offset on, as `Trigger.AvailableNow` does over an Iceberg source.
    replans: bool,
    /// Column changes that break a reader are let through by the session.
    unsafe_columns: bool,
}

const UNSAFE_COLUMNS: &str =
    "spark.databricks.delta.streaming.unsafeReadOnIncompatibleColumnMappingSchemaChanges.enabled";

#[derive(Debug)]
enum Kind {
    Files(Listing),
    Delta(String),
    Iceberg(String),
    Topics(Vec<String>),
    Rate { micro_batch: bool },
}

/// What a file source lists.
#[derive(Debug)]
enum Listing {
    Table(String),
    Path(PathPattern),
}

impl<'a> StreamSource<'a> {
    /// # Errors
    /// `TABLE_OR_VIEW_NOT_FOUND`, an option that streams do not take, or an unsupported connector.
    pub fn open(
        read: &'a Read,
        pipeline: &Pipeline,
        world: &World,
        available_now: bool,
    ) -> Result<Self, ExecutionError> {
        let kind = match catalog::target(pipeline, read) {
            Target::Path(pattern) => Kind::Files(Listing::Path(pattern)),
            Target::Topics(topics) => Kind::Topics(topics),
            Target::Rate { micro_batch } => Kind::Rate { micro_batch },
            Target::Unknown(format) => {
                return Err(ExecutionError::unsupported(format!("streams of `{format}` are not known to the engine")));
            }
            Target::Table(location) => match &scan::table(world, &location)?.format {
                TableFormat::Files(_) => Kind::Files(Listing::Table(location)),
                TableFormat::Delta => Kind::Delta(location),
                TableFormat::Iceberg => Kind::Iceberg(location),
                TableFormat::Topic => Kind::Topics(vec![location]),
            },
        };
        if let Kind::Delta(location) = &kind {
            delta::check_reader(read, scan::table(world, location)?, is_future_time)?;
        }
        if matches!(kind, Kind::Files(_)) {
            for option in ["modifiedafter", "modifiedbefore"] {
                if read.option(option).is_some() {
                    let message = format!("option '{option}' is not allowed in file stream sources");
                    return Err(ExecutionError::new("STREAM_FAILED", message));
                }
            }
        }
        let behaviour = Behaviour::of(pipeline);
        Ok(StreamSource { read, kind, behaviour, replans: available_now, unsafe_columns: false })
    }

    /// As a session of this configuration reads it.
    pub fn in_session(mut self, configuration: &BTreeMap<String, String>) -> Self {
        let on = |value: &String| value.eq_ignore_ascii_case("true");
        self.unsafe_columns = configuration.get(UNSAFE_COLUMNS).is_some_and(on);
        self
    }

    /// Where the files of a restart's last batch must lie; none where the path is a pattern.
    fn base_path(&self) -> Option<&str> {
        // Auto Loader keeps its own list of files, by whole paths. Apache Spark has none: a file source stands for it there.
        let auto_loader =
            self.behaviour.is_lakeflow() && matches!(self.read.source, Source::Files { auto_loader: true, .. });
        match &self.kind {
            Kind::Files(Listing::Table(location)) => Some(location),
            Kind::Files(Listing::Path(pattern)) if pattern.matcher.is_none() && !auto_loader => Some(&pattern.path),
            _ => None,
        }
    }

    /// What a restart does with the last batch of the log before anything else: parses its offset, and for file sources lists
    /// its files again. A batch without new files lists nothing, so that another folder goes unnoticed.
    ///
    /// # Errors
    /// `STREAM_FAILED/OFFSET_JSON_OF_OTHER_SOURCE`, `STREAM_FAILED/FILE_SOURCE_WRONG_BASE_PATH`, and those of a lost table,
    /// snapshot or version.
    pub fn recover(
        &self,
        world: &World,
        start: Option<&Offset>,
        end: Option<&Offset>,
        log: &SourceLog,
    ) -> Result<(), ExecutionError> {
        let Some(end) = end else { return Ok(()) };
        if !self.shape().same_shape(end) {
            let class = match self.kind {
                Kind::Iceberg(_) => "IllegalArgumentException",
                _ if self.behaviour.names_state_errors() => "STREAM_FAILED/OFFSET_JSON_OF_OTHER_SOURCE",
                _ => "MappingException",
            };
            return Err(ExecutionError::new(class, "the checkpoint's offset was written by a source of another kind"));
        }
        match (&self.kind, end) {
            (Kind::Files(_), Offset::Files { log: last }) => {
                let first = match start {
                    Some(Offset::Files { log }) => log + 1,
                    _ => 0,
                };
                let Some(base) = self.base_path() else { return Ok(()) };
                for path in entries(log, first, *last) {
                    // Spark compares the texts: a sibling whose name begins alike passes.
                    if !path.starts_with(base) {
                        return Err(ExecutionError::new(
                            "STREAM_FAILED/FILE_SOURCE_WRONG_BASE_PATH",
                            format!("Wrong basePath {base} for the root path: {path}"),
                        ));
                    }
                }
                Ok(())
            }
            (Kind::Delta(location), Offset::Delta { table: known, .. }) => {
                let table = scan::table(world, location)?;
                if table.identity == *known {
                    return self.known_columns(table, end);
                }
                Err(ExecutionError::new(
                    "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE",
                    format!("the streaming query was reading from an unexpected Delta table at {location}"),
                ))
            }
            (Kind::Iceberg(location), Offset::Iceberg { .. }) => {
                let table = scan::table(world, location)?;
                if self.replans
                    && let Some(Offset::Iceberg { snapshot }) = &log.initial
                {
                    iceberg_snapshot(table, *snapshot)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A stream that has read a Delta table does not read on over columns that were dropped, renamed or retyped
    /// (`DeltaSource.checkReadIncompatibleSchemaChanges`).
    fn known_columns(&self, table: &Table, last: &Offset) -> Result<(), ExecutionError> {
        let Offset::Delta { version, .. } = last else { return Ok(()) };
        let since = |at: Option<u64>| at.is_some_and(|at| at >= *version);
        if since(table.columns_retyped_at) {
            let message = format!("a column of {} has another type than the stream has read", table.location);
            return Err(ExecutionError::new("DELTA_SCHEMA_CHANGED_WITH_VERSION", message));
        }
        let lost = since(table.columns_lost_at);
        if !lost || self.unsafe_columns || self.read.option("schematrackinglocation").is_some() {
            return Ok(());
        }
        Err(ExecutionError::new(
            "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG",
            format!("a column of {} was dropped or renamed since the stream has read it", table.location),
        ))
    }

    /// An offset of the kind that this source writes.
    fn shape(&self) -> Offset {
        match &self.kind {
            Kind::Files(_) => Offset::Files { log: 0 },
            Kind::Delta(_) => Offset::Delta { table: 0, version: 0 },
            Kind::Iceberg(_) => Offset::Iceberg { snapshot: None },
            Kind::Topics(_) => Offset::Topics(BTreeMap::new()),
            Kind::Rate { micro_batch: true } => Offset::RateMicroBatch { offset: 0 },
            Kind::Rate { micro_batch: false } => Offset::Rate { offset: 0 },
        }
    }

    /// True for sources that always have one more batch to give: a run takes one.
    pub fn is_endless(&self) -> bool {
        matches!(self.kind, Kind::Rate { .. })
    }

    /// The end of the next batch after `start`; equal to `start` where nothing is new, none before anything was there.
    /// A file source notes the files it finds in its log.
    ///
    /// # Errors
    /// As [`StreamSource::recover`].
    pub fn latest(
        &self,
        world: &World,
        start: Option<&Offset>,
        log: &mut SourceLog,
    ) -> Result<Option<Offset>, ExecutionError> {
        Ok(match &self.kind {
            Kind::Files(listing) => self.list_files(world, listing, start, log)?,
            Kind::Delta(location) => {
                let table = scan::table(world, location)?;
                if start.is_none() && table.next_version == 0 {
                    None
                } else {
                    Some(Offset::Delta { table: table.identity, version: table.next_version })
                }
            }
            Kind::Iceberg(location) => self.latest_snapshot(scan::table(world, location)?, start, log)?,
            Kind::Topics(topics) => {
                let at = |location: &String| world.tables.get(location).map_or(0, |table| table.next_version);
                Some(Offset::Topics(topics.iter().map(|location| (location.clone(), at(location))).collect()))
            }
            Kind::Rate { micro_batch } => {
                let from = match start {
                    Some(Offset::RateMicroBatch { offset } | Offset::Rate { offset }) => *offset,
                    _ => 0,
                };
                let offset = from + self.rate_rows();
                Some(if *micro_batch { Offset::RateMicroBatch { offset } } else { Offset::Rate { offset } })
            }
        })
    }

    fn rate_rows(&self) -> i64 {
        let option = self.read.option("rowsperbatch").or_else(|| self.read.option("rowspersecond"));
        option.and_then(|text| text.trim().parse().ok()).unwrap_or(1)
    }

    fn list_files(
        &self,
        world: &World,
        listing: &Listing,
        start: Option<&Offset>,
        log: &mut SourceLog,
    ) -> Result<Option<Offset>, ExecutionError> {
        let filter = self.read.option("pathglobfilter").and_then(|glob| globset::Glob::new(glob).ok());
        let filter = filter.map(|glob| glob.compile_matcher());
        let passes = |path: &str| {
            let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
            filter.as_ref().is_none_or(|matcher| matcher.is_match(name))
        };
        let mut fresh: Vec<String> = match listing {
            Listing::Table(location) => scan::table(world, location)?.files(),
            Listing::Path(pattern) => scan::files_under(world, pattern),
        }
        .into_iter()
        .map(|file| file.path.clone())
        .filter(|path| passes(path) && !log.entries.iter().flatten().any(|seen| seen == path))
        .collect();
        if let Some(limit) = self.read.option("maxfilespertrigger").and_then(|text| text.trim().parse::<usize>().ok()) {
            fresh.truncate(limit.max(1));
        }
        if fresh.is_empty() {
            // A new query has no entry yet; a swapped source starts from what another one has seen.
            return Ok(start.cloned());
        }
        log.entries.push(fresh);
        Ok(Some(Offset::Files { log: log.entries.len() as u64 - 1 }))
    }

    /// The rows after `start` up to `end`.
    ///
    /// # Errors
    /// Change commits that the reader does not skip, history that is gone.
    pub fn rows(
        &self,
        world: &World,
        start: Option<&Offset>,
        end: Option<&Offset>,
        log: &SourceLog,
    ) -> Result<Rows, ExecutionError> {
        let rows = if start == end { Vec::new() } else { self.rows_between(world, start, end, log)? };
        Ok(Rows::new(scan::schema_of(self.read), rows))
    }

    fn rows_between(
        &self,
        world: &World,
        start: Option<&Offset>,
        end: Option<&Offset>,
        log: &SourceLog,
    ) -> Result<Vec<Row>, ExecutionError> {
        match (&self.kind, end) {
            (Kind::Files(_), Some(Offset::Files { log: last })) => {
                let first = match start {
                    Some(Offset::Files { log }) => log + 1,
                    _ => 0,
                };
                let wanted = entries(log, first, *last).into_iter();
                let mut files: Vec<&DataFile> = wanted.filter_map(|path| scan::file(world, path)).collect();
                // `FilePartition` packs the largest files first, and which of two duplicates comes first hangs on it.
                files.sort_by_key(|file| std::cmp::Reverse(file.content.size()));
                Ok(files.into_iter().flat_map(|file| self.typed(file)).collect())
            }
            (Kind::Delta(location), Some(Offset::Delta { version, .. })) => {
                self.delta_rows(scan::table(world, location)?, start, *version)
            }
            (Kind::Iceberg(location), Some(Offset::Iceberg { snapshot: Some((_, version)) })) => {
                let table = scan::table(world, location)?;
                let first = match start {
                    Some(Offset::Iceberg { snapshot: Some((_, read)) }) => read + 1,
                    _ => 0,
                };
                let appended = table.history().filter(|c| c.version >= first && c.version <= *version);
                Ok(appended.filter(|c| c.kind == CommitKind::Append).flat_map(|c| self.added(c)).collect())
            }
            (Kind::Topics(_), Some(Offset::Topics(ends))) => Ok(self.topic_rows(world, start, ends)),
            (Kind::Rate { .. }, Some(Offset::RateMicroBatch { offset } | Offset::Rate { offset })) => {
                let from = match start {
                    Some(Offset::RateMicroBatch { offset } | Offset::Rate { offset }) => *offset,
                    _ => 0,
                };
                Ok(self.rate(from, *offset))
            }
            _ => Ok(Vec::new()),
        }
    }

    fn typed(&self, file: &DataFile) -> Vec<Row> {
        scan::typed(file, &self.read.output)
    }

    fn added(&self, commit: &Commit) -> Vec<Row> {
        commit.added.iter().flat_map(|file| self.typed(file)).collect()
    }

    fn flag(&self, option: &str) -> bool {
        self.read.option(option).is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
    }

    /// A Delta source: the whole table at its first batch, commits from then on (`DeltaSource.getFileChanges`).
    fn delta_rows(&self, table: &Table, start: Option<&Offset>, end: u64) -> Result<Vec<Row>, ExecutionError> {
        let change_feed = matches!(self.read.source, Source::ChangeFeed(_)) || self.flag("readchangefeed");
        let first = match start {
            Some(Offset::Delta { version, .. }) => *version,
            _ => match self.read.option("startingversion") {
                Some("latest") => return Ok(Vec::new()),
                Some(text) => text.trim().parse().unwrap_or(0),
                None if change_feed => {
                    return Ok(scan::changes(end.saturating_sub(1), table.files(), &[], &self.read.output));
                }
                None => return Ok(table.files().into_iter().flat_map(|file| self.typed(file)).collect()),
            },
        };
        if first < table.oldest() && first < end {
            return Err(ExecutionError::new(
                "DELTA_LOG_FILE_NOT_FOUND_FOR_STREAMING_SOURCE",
                format!("version {first} of {} has left the transaction log", table.location),
            ));
        }
        let mut rows = Vec::new();
        for commit in table.history().filter(|commit| commit.version >= first && commit.version < end) {
            if change_feed {
                let removed = scan::files_by_path(table, &commit.removed);
                let added = commit.added.iter().collect();
                rows.extend(scan::changes(commit.version, added, &removed, &self.read.output));
            } else {
                rows.extend(self.delta_commit(table, commit)?);
            }
        }
        Ok(rows)
    }

    fn delta_commit(&self, table: &Table, commit: &Commit) -> Result<Vec<Row>, ExecutionError> {
        match commit.kind {
            CommitKind::Append => Ok(self.added(commit)),
            CommitKind::Replace => Ok(Vec::new()),
            _ if self.flag("skipchangecommits") => Ok(Vec::new()),
            _ if self.flag("ignorechanges") => Ok(self.added(commit)),
            CommitKind::Delete if self.flag("ignoredeletes") => Ok(Vec::new()),
            CommitKind::Delete => Err(ExecutionError::new(
                "DELTA_SOURCE_IGNORE_DELETE",
                format!("deleted data found in version {} of the source table {}", commit.version, table.location),
            )),
            CommitKind::Overwrite | CommitKind::Update => Err(ExecutionError::new(
                "DELTA_SOURCE_TABLE_IGNORE_CHANGES",
                format!("a data update was found in version {} of the source table {}", commit.version, table.location),
            )),
        }
    }

    /// The last snapshot that an Iceberg source plans up to, after every snapshot on the way has been found readable
    /// (`SparkMicroBatchStream.shouldProcess`).
    fn latest_snapshot(
        &self,
        table: &Table,
        start: Option<&Offset>,
        log: &mut SourceLog,
    ) -> Result<Option<Offset>, ExecutionError> {
        let oldest = table.history().next().map(|commit| commit.version);
        if log.initial.is_none() {
            log.initial = Some(Offset::Iceberg { snapshot: oldest.map(|version| (table.identity, version)) });
        }
        let read = match start {
            Some(Offset::Iceberg { snapshot }) => *snapshot,
            _ => None,
        };
        if self.replans && read.is_some_and(|(_, version)| table.detached.contains(&version)) {
            return Err(ExecutionError::new(
                "INTERNAL_ERROR",
                "the last snapshot read is no ancestor of the current one",
            ));
        }
        iceberg_snapshot(table, read)?;
        if self.read.option("stream-from-timestamp").is_some_and(is_future) {
            return Ok(Some(Offset::Iceberg { snapshot: None }));
        }
        let planned_from = match &log.initial {
            Some(Offset::Iceberg { snapshot: Some((_, version)) }) if self.replans => Some(*version),
            _ => read.map(|(_, version)| version + 1),
        };
        if planned_from.is_some_and(|from| from < table.oldest()) {
            return Err(ExecutionError::new(
                "IllegalStateException",
                "a snapshot between the last one read and the current one is gone",
            ));
        }
        for commit in table.history().filter(|commit| planned_from.is_none_or(|from| commit.version >= from)) {
            let skipped = match commit.kind {
                CommitKind::Append | CommitKind::Replace => continue,
                CommitKind::Delete => ("delete", "streaming-skip-delete-snapshots"),
                CommitKind::Overwrite | CommitKind::Update => ("overwrite", "streaming-skip-overwrite-snapshots"),
            };
            if !self.flag(skipped.1) {
                return Err(ExecutionError::new(
                    "IllegalStateException",
                    format!(
                        "Cannot process {} snapshot: {}, to ignore it, set {}=true",
                        skipped.0, commit.version, skipped.1
                    ),
                ));
            }
        }
        let last = table.history().last().map(|commit| commit.version);
        Ok(Some(Offset::Iceberg { snapshot: last.map(|version| (table.identity, version)) }))
    }

    fn topic_rows(&self, world: &World, start: Option<&Offset>, ends: &BTreeMap<String, u64>) -> Vec<Row> {
        let starts = match start {
            Some(Offset::Topics(starts)) => Some(starts),
            _ => None,
        };
        let latest = self.read.option("startingoffsets").is_none_or(|text| text.trim() == "latest");
        let mut rows = Vec::new();
        for (location, end) in ends {
            let Some(table) = world.tables.get(location) else { continue };
            // Partitions found later start at the earliest offset, whatever `startingOffsets` says.
            let first = match starts {
                Some(starts) => starts.get(location).copied().unwrap_or(0),
                None if latest => *end,
                None => 0,
            };
            let commits = table.history().filter(|commit| commit.version >= first && commit.version < *end);
            rows.extend(commits.flat_map(|commit| self.added(commit)));
        }
        rows
    }

    /// `value` counts up; `timestamp` advances a batch at a time from `startTimestamp` (`rate-micro-batch`), or a second.
    fn rate(&self, from: i64, to: i64) -> Vec<Row> {
        let option = |name: &str, default: i64| {
            self.read.option(name).and_then(|text| text.trim().parse().ok()).unwrap_or(default)
        };
        let rows = self.rate_rows().max(1);
        let (begin, step) = (option("starttimestamp", 0), option("advancemillisperbatch", 1000));
        (from..to)
            .map(|value| {
                let timestamp = (begin + (value / rows) * step) * 1000;
                self.read
                    .output
                    .iter()
                    .map(|column| match column.name.as_ref() {
                        "value" => Value::Long(value),
                        "timestamp" => Value::Timestamp(timestamp),
                        _ => Value::Null,
                    })
                    .collect()
            })
            .collect()
    }
}

/// Paths of the entries from `first` to `last`.
fn entries(log: &SourceLog, first: u64, last: u64) -> Vec<&str> {
    log.entries
        .iter()
        .enumerate()
        .filter(|(index, _)| (*index as u64) >= first && (*index as u64) <= last)
        .flat_map(|(_, paths)| paths.iter().map(String::as_str))
        .collect()
}

/// A time in milliseconds that lies beyond every commit.
/// A timestamp that no commit has yet.
fn is_future_time(text: &str) -> bool {
    text.get(..4).and_then(|year| year.parse::<i32>().ok()).is_some_and(|year| year >= 2099)
}

fn is_future(millis: &str) -> bool {
    const YEAR_2100: i64 = 4_102_444_800_000;
    millis.trim().parse::<i64>().is_ok_and(|millis| millis >= YEAR_2100)
}

/// Finds the snapshot of an offset in the table's history.
fn iceberg_snapshot(table: &Table, snapshot: Option<(u64, u64)>) -> Result<(), ExecutionError> {
    let Some((identity, version)) = snapshot else { return Ok(()) };
    if identity == table.identity && table.detached.contains(&version) {
        return Err(ExecutionError::new(
            "NullPointerException",
            "the snapshot read last is no ancestor of the current one",
        ));
    }
    let here = |known: &Commit| known.version == version && !table.expired.contains(&version);
    if identity == table.identity && table.commits.iter().any(here) {
        return Ok(());
    }
    Err(ExecutionError::new(
        "IllegalStateException",
        format!("Cannot load current offset at snapshot {version}, the snapshot was expired or removed"),
    ))
}

/// Columns of a Kafka source.
pub fn topic_schema() -> Schema {
    Schema::new(vec![
        Field::new("key", DataType::Binary),
        Field::new("value", DataType::Binary),
        Field::new("topic", DataType::String),
        Field::new("partition", DataType::Int),
        Field::new("offset", DataType::Long),
        Field::new("timestamp", DataType::Timestamp),
        Field::new("timestampType", DataType::Int),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AttrId, Attribute, PipelineKind, Platform, QualifiedName};

    fn pipeline() -> Pipeline {
        Pipeline { platform: Platform::Spark, spark_version: (4, 3), ..Pipeline::new("p", PipelineKind::Folder) }
    }

    fn read(table: &str) -> Read {
        let mut read = Read::new(Source::Table(QualifiedName::parse(table)), true);
        read.output = vec![Attribute {
            id: AttrId(1),
            name: "id".into(),
            data_type: DataType::Long,
            nullable: true,
            qualifier: Vec::new(),
            watermark_delay: None,
        }];
        read
    }

    fn world(format: &TableFormat, names: &[&str]) -> World {
        let mut world = World::new();
        for name in names {
            let schema = Schema::new(vec![Field::new("id", DataType::Long)]);
            world.create(&format!("warehouse/{name}"), format.clone(), schema);
            append(&mut world, name, 1);
        }
        world
    }

    fn append(world: &mut World, name: &str, id: i64) {
        let table = world.tables.get_mut(&format!("warehouse/{name}")).unwrap();
        let schema = table.schema.clone();
        table.append(vec![[Value::Long(id)].into()], &schema, None);
    }

    /// Reads a source to its end.
    fn take(
        world: &World,
        read: &Read,
        start: Option<&Offset>,
        log: &mut SourceLog,
    ) -> Result<(Option<Offset>, usize), String> {
        let pipeline = pipeline();
        let class = |error: ExecutionError| error.class;
        let source = StreamSource::open(read, &pipeline, world, true).map_err(class)?;
        let end = source.latest(world, start, log).map_err(class)?;
        let rows = source.rows(world, start, end.as_ref(), log).map_err(class)?;
        Ok((end, rows.rows.len()))
    }

    fn recover(
        world: &World,
        read: &Read,
        start: Option<&Offset>,
        end: Option<&Offset>,
        log: &SourceLog,
    ) -> Option<String> {
        let pipeline = pipeline();
        let source = StreamSource::open(read, &pipeline, world, true).unwrap();
        source.recover(world, start, end, log).err().map(|error| error.class)
    }

    #[test]
    fn another_folder_is_noticed_by_the_files_of_the_last_batch_alone() {
        let mut world = world(&TableFormat::Files("json".to_owned()), &["a", "ab", "c"]);
        let mut log = SourceLog::default();
        let (first, rows) = take(&world, &read("ab"), None, &mut log).unwrap();
        assert_eq!(rows, 1);
        let wrong = Some("STREAM_FAILED/FILE_SOURCE_WRONG_BASE_PATH".to_owned());
        assert_eq!(recover(&world, &read("c"), None, first.as_ref(), &log), wrong);
        assert_eq!(recover(&world, &read("a"), None, first.as_ref(), &log), None);
        assert_eq!(recover(&world, &read("c"), first.as_ref(), first.as_ref(), &log), None);
        append(&mut world, "ab", 2);
        let (second, rows) = take(&world, &read("ab"), first.as_ref(), &mut log).unwrap();
        assert_eq!((second, rows), (Some(Offset::Files { log: 1 }), 1));
    }

    #[test]
    fn a_delta_source_knows_its_table_and_its_change_commits() {
        let mut world = world(&TableFormat::Delta, &["a", "b"]);
        let mut log = SourceLog::default();
        let (end, _) = take(&world, &read("a"), None, &mut log).unwrap();
        let other = Some("DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE".to_owned());
        assert_eq!(recover(&world, &read("b"), None, end.as_ref(), &log), other);
        let table = world.tables.get_mut("warehouse/a").unwrap();
        let schema = table.schema.clone();
        table.replace(CommitKind::Update, vec![[Value::Long(9)].into()], &schema, None);
        append(&mut world, "a", 3);
        let failed = take(&world, &read("a"), end.as_ref(), &mut log);
        assert_eq!(failed, Err("DELTA_SOURCE_TABLE_IGNORE_CHANGES".to_owned()));
        let mut skipping = read("a");
        skipping.options.insert("skipchangecommits".to_owned(), "true".to_owned());
        assert_eq!(take(&world, &skipping, end.as_ref(), &mut log).unwrap().1, 1);
    }

    #[test]
    fn an_iceberg_source_needs_the_snapshots_it_has_seen() {
        let mut world = world(&TableFormat::Iceberg, &["a"]);
        let mut log = SourceLog::default();
        let (end, _) = take(&world, &read("a"), None, &mut log).unwrap();
        append(&mut world, "a", 2);
        assert_eq!(take(&world, &read("a"), end.as_ref(), &mut log).unwrap().1, 1);
        let mut expired = world.clone();
        expired.tables.get_mut("warehouse/a").unwrap().expire_before(1);
        let gone = recover(&expired, &read("a"), None, end.as_ref(), &log);
        assert_eq!(gone, Some("IllegalStateException".to_owned()));
        let table = world.tables.get_mut("warehouse/a").unwrap();
        table.create_or_replace(table.schema.clone());
        let replaced = recover(&world, &read("a"), None, end.as_ref(), &log);
        assert_eq!(replaced, Some("NullPointerException".to_owned()));
    }
}
