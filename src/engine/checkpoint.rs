//! What a streaming query leaves in its checkpoint folder: offsets, commits, the lists of files read, operators and state.

use super::state::StateStores;
use crate::model::StatefulOperator;
use std::collections::BTreeMap;

/// A place in one source, as the offset log writes it. Versions and positions are those of the next thing to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Offset {
    /// `{"logOffset":N}`: entry of this checkpoint's own list of files.
    Files {
        log: u64,
    },
    /// `{"reservoirId":…,"reservoirVersion":…}`.
    Delta {
        table: u64,
        version: u64,
    },
    /// `{"snapshot_id":…,"position":…}`: the last snapshot read; a snapshot id belongs to one table. `None` is the offset
    /// (-1,-1), before any snapshot.
    Iceberg {
        snapshot: Option<(u64, u64)>,
    },
    /// `{"topic":{"0":N}}`.
    Topics(BTreeMap<String, u64>),
    /// `{"offset":N,"timestamp":T}`.
    RateMicroBatch {
        offset: i64,
    },
    Rate {
        offset: i64,
    },
}

impl Offset {
    /// Whether a source that writes `self` can read the other's JSON.
    pub fn same_shape(&self, other: &Offset) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// How offsets of an entry are told apart: by position, or by name under `queryEvolution.enableSourceEvolution`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceOffsets {
    ByPosition(Vec<Option<Offset>>),
    ByName(BTreeMap<String, Option<Offset>>),
}

/// One entry of the offset log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffsetEntry {
    pub sources: SourceOffsets,
    /// `batchWatermarkMs`.
    pub watermark: i64,
    /// Configuration that a restart takes from here.
    pub configuration: BTreeMap<String, String>,
}

/// `sources/{i}`: files by the entry that first listed them, and the first offset of sources that write it down.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceLog {
    pub entries: Vec<Vec<String>>,
    pub initial: Option<Offset>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The id in `metadata`; a new checkpoint is a new query.
    pub query: u64,
    pub offsets: Vec<OffsetEntry>,
    /// `nextBatchWatermarkMs` by batch; as long as `offsets`, or shorter by the batch that failed.
    pub commits: Vec<i64>,
    pub source_logs: BTreeMap<String, SourceLog>,
    /// `state/{id}/_metadata`: what the operators were when their state was written.
    pub operators: Vec<StatefulOperator>,
    pub state: StateStores,
    /// State as the last committed batch found it.
    pub state_before: StateStores,
}

impl Checkpoint {
    pub fn new(query: u64) -> Self {
        Checkpoint {
            query,
            offsets: Vec::new(),
            commits: Vec::new(),
            source_logs: BTreeMap::new(),
            operators: Vec::new(),
            state: StateStores::default(),
            state_before: StateStores::default(),
        }
    }

    /// Nothing has been planned yet: the query starts at batch 0.
    pub fn is_new(&self) -> bool {
        self.offsets.is_empty()
    }

    /// The batch whose offsets are written but which has not been committed.
    pub fn uncommitted(&self) -> Option<usize> {
        (self.offsets.len() > self.commits.len()).then(|| self.offsets.len() - 1)
    }

    /// Loses the last commit, as a crash between the sink's commit and the log's does: the batch will run again.
    pub fn lose_last_commit(&mut self) {
        if self.commits.pop().is_some() {
            self.state = self.state_before.clone();
        }
    }

    /// The watermark that a restart begins with, milliseconds. It never goes back.
    pub fn watermark(&self) -> i64 {
        let planned = self.offsets.last().map_or(0, |entry| entry.watermark);
        let committed = if self.uncommitted().is_none() { self.commits.last().copied().unwrap_or(0) } else { 0 };
        planned.max(committed)
    }
}
