//! All checkpoints of a folder, from the bytes of their files.

use super::files::CheckpointFiles;
use super::location::Location;
use super::log::{self, Fault, damaged};
use super::offset::{StoredOffset, parse_offset};
use super::operator::{self, StateFiles};
use super::{Checkpoint, Commit, OffsetEntry, OffsetForm, Problem, ProblemKind, SourceLog, StoredOffsets};
use rayon::prelude::*;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The newest versions of the logs: offsets with named sources, commits with ids of state.
const NEWEST_OFFSETS: u32 = 2;
const NEWEST_COMMITS: u32 = 2;
const NEWEST_SOURCE_LOG: u32 = 1;

/// Reads every checkpoint, by path; of several generations of one flow all.
pub fn read(files: &CheckpointFiles) -> Vec<Checkpoint> {
    files.folders.par_iter().map(|folder| Reader::new(files, folder).read()).collect()
}

type Content = Result<Arc<[u8]>, String>;

struct Reader<'a> {
    folder: &'a str,
    label: &'a str,
    /// By path below the checkpoint.
    files: BTreeMap<&'a str, &'a Content>,
    problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    fn new(files: &'a CheckpointFiles, folder: &'a str) -> Self {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let own = files.files.range(prefix.clone()..).take_while(|(path, _)| path.starts_with(&prefix));
        let files_below = own.filter_map(|(path, content)| Some((path.get(prefix.len()..)?, content)));
        let label = crate::revision::Tree::label(files);
        Reader { folder, label, files: files_below.collect(), problems: Vec::new() }
    }

    fn read(mut self) -> Checkpoint {
        let query = self.query();
        let (offsets, commits) = (self.offsets(), self.commits());
        self.check_order(&offsets);
        let sources = self.sources(&offsets);
        let state: StateFiles<'_> =
            self.files.iter().filter_map(|(path, content)| Some((path.strip_prefix("state/")?, *content))).collect();
        let folder = self.file("state");
        let operators = operator::operators(&folder, &state, &mut self.problems);
        self.problems.sort();
        Checkpoint {
            location: Location::new(self.label, self.folder),
            query,
            offsets,
            commits,
            sources,
            operators,
            problems: self.problems,
        }
    }

    /// Below the folder that was read.
    fn file(&self, path: &str) -> String {
        if self.folder.is_empty() { path.to_owned() } else { format!("{}/{path}", self.folder) }
    }

    fn problem(&mut self, path: &str, (kind, reason): Fault) {
        let file = self.file(path);
        self.problems.push(Problem { file, kind, reason });
    }

    /// A file's bytes through a parser; what is wrong with it becomes a problem.
    fn parsed<T>(&mut self, path: &str, parse: impl FnOnce(&[u8]) -> Result<T, Fault>) -> Option<T> {
        let content = *self.files.get(path)?;
        let parsed = content.as_ref().map_err(|error| damaged(error.clone())).and_then(|bytes| parse(bytes));
        parsed.map_err(|fault| self.problem(path, fault)).ok()
    }

    fn query(&mut self) -> Option<String> {
        if !self.files.contains_key("metadata") {
            let reason =
                "a query without it takes a new id, and a sink that keeps the ids of queries takes its batches again";
            self.problem("metadata", (ProblemKind::Missing, reason.to_owned()));
        }
        self.parsed("metadata", |bytes| {
            let text = std::str::from_utf8(bytes).map_err(|_| damaged("it is no text"))?;
            let id = log::json(text.trim())?.get("id").and_then(Json::as_str).map(str::to_owned);
            id.filter(|id| !id.is_empty()).ok_or_else(|| damaged("it has no `id`"))
        })
    }

    /// Numbers of a log's entries, in order; files with other names are foreign.
    fn numbers(&mut self, folder: &str) -> Vec<(u64, &'a str)> {
        let mut found = Vec::new();
        let mut foreign = Vec::new();
        for path in self.files.keys() {
            let Some(name) = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')) else { continue };
            match log::number(name) {
                Some(number) => found.push((number, *path)),
                None => foreign.push(*path),
            }
        }
        for path in foreign {
            self.problem(path, (ProblemKind::Foreign, "entries of a log are named by their numbers".to_owned()));
        }
        found.sort_unstable();
        found
    }

    fn offsets(&mut self) -> Vec<OffsetEntry> {
        let numbers = self.numbers("offsets");
        let last = numbers.iter().rev().take(2).rev();
        last.filter_map(|(batch, path)| {
            let file = self.file(path);
            self.parsed(path, |bytes| offset_entry(*batch, file, bytes))
        })
        .collect()
    }

    fn commits(&mut self) -> Vec<Commit> {
        let numbers = self.numbers("commits");
        let last = numbers.iter().rev().take(2).rev();
        last.filter_map(|(batch, path)| self.parsed(path, |bytes| commit(*batch, bytes))).collect()
    }

    /// A restart reads the last entry of offsets and the one before it; a commit follows its offsets.
    fn check_order(&mut self, offsets: &[OffsetEntry]) {
        let planned: Vec<u64> = self.numbers("offsets").iter().map(|(batch, _)| *batch).collect();
        let committed = self.numbers("commits").last().map(|(batch, _)| *batch);
        let Some(last) = planned.last().copied() else {
            if committed.is_some() || self.files.keys().any(|path| path.starts_with("state/")) {
                let reason = "the checkpoint has been used, and the log of its offsets is empty";
                self.problem("offsets", (ProblemKind::Missing, reason.to_owned()));
            }
            return;
        };
        if last > 0 && !planned.contains(&(last - 1)) {
            let reason = "a restart reads the offsets before the last ones too";
            self.problem(&format!("offsets/{}", last - 1), (ProblemKind::Missing, reason.to_owned()));
        }
        match committed {
            Some(batch) if batch > last => {
                let reason = format!("batch {batch} is committed, and its offsets are not there");
                self.problem(&format!("offsets/{batch}"), (ProblemKind::Missing, reason));
            }
            Some(batch) if batch + 1 < last => {
                let reason = format!("batch {last} is planned, and the one before it is not committed");
                self.problem(&format!("commits/{}", last - 1), (ProblemKind::Missing, reason));
            }
            None if last > 0 => {
                let reason = format!("batch {last} is planned, and no batch is committed");
                self.problem("commits", (ProblemKind::Missing, reason));
            }
            _ => {}
        }
        let count = |entry: &OffsetEntry| entry.sources.len();
        if let [old, new] = offsets
            && count(old) != count(new)
            && old.is_by_position()
            && new.is_by_position()
        {
            let reason = format!("it has {} sources, and the entry before it has {}", count(new), count(old));
            self.problem(&format!("offsets/{}", new.batch), damaged(reason));
        }
    }

    /// A source that has a log of its own has an offset, if only none yet.
    fn check_number(&mut self, last: &OffsetEntry, logs: &BTreeMap<String, SourceLog>) {
        let numbers = logs.keys().filter_map(|key| key.parse::<usize>().ok());
        if last.is_by_position()
            && let Some(highest) = numbers.max()
            && highest >= last.sources.len()
        {
            let reason = format!("it has {} sources, and the log of source {highest} is there", last.sources.len());
            self.problem(&format!("offsets/{}", last.batch), damaged(reason));
        }
    }

    fn sources(&mut self, offsets: &[OffsetEntry]) -> BTreeMap<String, SourceLog> {
        let mut sources: BTreeMap<String, SourceLog> = BTreeMap::new();
        let paths: Vec<&str> = self.files.keys().filter(|path| path.starts_with("sources/")).copied().collect();
        for path in paths {
            let Some((source, name)) = path.strip_prefix("sources/").and_then(|rest| rest.split_once('/')) else {
                continue;
            };
            let Some(number) = log::number(name) else { continue };
            let Some(entry) = self.parsed(path, |bytes| source_entry(number, bytes)) else { continue };
            let log = sources.entry(source.to_owned()).or_default();
            match entry {
                SourceEntry::Files(files) => {
                    for (entry, file) in files {
                        let known = log.files.entry(entry).or_default();
                        if !known.contains(&file) {
                            known.push(file);
                        }
                    }
                }
                SourceEntry::Initial(offset) => log.initial = offset.or(log.initial.take()),
            }
        }
        self.check_source_logs(offsets, &sources);
        sources
    }

    /// A restart lists the files of the last batch again.
    fn check_source_logs(&mut self, offsets: &[OffsetEntry], sources: &BTreeMap<String, SourceLog>) {
        let Some((last, before)) = offsets.split_last() else { return };
        self.check_number(last, sources);
        for (name, offset) in last.sources.iter() {
            let Some(OffsetForm::Files { log: end }) = offset.map(|offset| &offset.form) else { continue };
            let start = before.last().and_then(|entry| {
                let old = entry.sources.iter().find(|(other, _)| *other == name)?.1?;
                if let OffsetForm::Files { log } = old.form { Some(log + 1) } else { None }
            });
            let start = if before.is_empty() && last.batch > 0 { Some(*end) } else { start };
            for entry in (start.unwrap_or(0)..=*end).take(MAX_FILE_ENTRIES) {
                let known = sources.get(&name).is_some_and(|log| log.files.contains_key(&entry));
                if !known {
                    let reason = "a restart lists the files of the last batch again".to_owned();
                    self.problem(&format!("sources/{name}/{entry}"), (ProblemKind::Missing, reason));
                }
            }
        }
    }
}

/// Missing entries that are reported of one source.
const MAX_FILE_ENTRIES: usize = 3;

fn offset_entry(batch: u64, file: String, bytes: &[u8]) -> Result<OffsetEntry, Fault> {
    let (version, lines) = log::lines(bytes, NEWEST_OFFSETS)?;
    let (head, lines) = lines.split_first().ok_or_else(|| damaged("it is cut off after its version"))?;
    let head = log::json(head)?;
    let number = |name: &str| head.get(name).and_then(Json::as_i64);
    let (Some(watermark), Some(timestamp)) = (number("batchWatermarkMs"), number("batchTimestampMs")) else {
        return Err(damaged("its second line has no `batchWatermarkMs` and `batchTimestampMs`"));
    };
    let configuration = match head.get("conf") {
        None => BTreeMap::new(),
        Some(conf) => {
            let conf = conf.as_object().ok_or_else(|| damaged("its `conf` is no object"))?;
            let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            conf.iter().map(|(name, value)| (name.clone(), text(value))).collect()
        }
    };
    let sources = if version == 1 {
        StoredOffsets::ByPosition(lines.iter().map(|line| parse_offset(line)).collect::<Result<_, _>>()?)
    } else {
        StoredOffsets::ByName(lines.iter().map(|line| named(line)).collect::<Result<_, _>>()?)
    };
    if sources.is_empty() {
        return Err(damaged("it is cut off: it has no offset of any source"));
    }
    Ok(OffsetEntry { file, batch, watermark, timestamp, configuration, sources })
}

/// `name:{…}`
fn named(line: &str) -> Result<(String, Option<StoredOffset>), Fault> {
    let (name, offset) = line.split_once(':').ok_or_else(|| damaged("an offset has no name of its source"))?;
    if name.is_empty() || name.contains(['{', '"']) {
        return Err(damaged("an offset has no name of its source"));
    }
    Ok((name.to_owned(), parse_offset(offset)?))
}

/// Before Spark 2.2 a commit was an empty object; one without its watermark is read as 0.
fn commit(batch: u64, bytes: &[u8]) -> Result<Commit, Fault> {
    let (_, lines) = log::lines(bytes, NEWEST_COMMITS)?;
    let json = log::json(&lines.join("\n"))?;
    let fields = json.as_object().ok_or_else(|| damaged("it is no object"))?;
    let next_watermark = fields.get("nextBatchWatermarkMs").map_or(Some(0), Json::as_i64);
    let next_watermark = next_watermark.ok_or_else(|| damaged("its `nextBatchWatermarkMs` is no number"))?;
    Ok(Commit { batch, next_watermark })
}

enum SourceEntry {
    /// With the entry that each file was listed in.
    Files(Vec<(u64, String)>),
    Initial(Option<StoredOffset>),
}

/// A list of files, or the offset that a source began at. Kafka's begins with a zero byte, as it did in Spark 2.1.
fn source_entry(number: u64, bytes: &[u8]) -> Result<SourceEntry, Fault> {
    let bytes = bytes.strip_prefix(&[0]).unwrap_or(bytes);
    let (_, lines) = log::lines(bytes, NEWEST_SOURCE_LOG)?;
    let mut files = Vec::new();
    let mut initial = None;
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        let json = log::json(line)?;
        match json.get("path").and_then(Json::as_str) {
            Some(path) => {
                let entry = json.get("batchId").and_then(Json::as_u64).unwrap_or(number);
                files.push((entry, path.to_owned()));
            }
            None => initial = parse_offset(line)?,
        }
    }
    Ok(if files.is_empty() { SourceEntry::Initial(initial) } else { SourceEntry::Files(files) })
}
