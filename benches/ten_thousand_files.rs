//! `cargo bench`: a repository of 10,000 pipeline files (a fifth in Python), of which one in a hundred differs between two commits.
//!
//! Prints the wall time of `pipelint diff` (the main job without printing), the time that listing both trees and reading all
//! their blobs takes by itself, the ratio of the two, and the peak of memory. Times are told, not asserted.

#![allow(clippy::expect_used, clippy::print_stdout)] // a bench stops where it cannot measure, and prints what it measured

use git2::{Oid, Repository, Signature, Time};
use pipelint::reading::{ConfirmWith, Options};
use pipelint::review::review;
use pipelint::revision::{Selection, open};
use std::path::Path;
use std::time::{Duration, Instant};

const FILES: usize = 10_000;
/// One file in this many is Python.
const PYTHON: usize = 5;
/// One file in this many changes.
const CHANGED: usize = 100;
const RUNS: usize = 5;

fn sql(index: usize, changed: bool) -> String {
    let limit = if changed { 10 } else { 0 };
    format!(
        "CREATE OR REFRESH STREAMING TABLE t{index}\nCOMMENT 'table {index}'\nAS SELECT id, customer, amount, ts\n\
         FROM STREAM(main.landing.s{source})\nWHERE amount > {limit} AND customer IS NOT NULL;\n",
        source = index % 500
    )
}

fn python(index: usize, changed: bool) -> String {
    let limit = if changed { 10 } else { 0 };
    format!(
        "from pyspark import pipelines as dp\nfrom pyspark.sql import functions as F\n\n\n@dp.table\ndef t{index}():\n    \
         return (\n        spark.readStream.table(\"main.landing.s{source}\")\n        .where(F.col(\"amount\") > {limit})\n        \
         .select(\"id\", \"customer\", \"amount\", \"ts\")\n    )\n",
        source = index % 500
    )
}

fn commit(repository: &Repository, changed: bool) -> Oid {
    let mut folders = repository.treebuilder(None).expect("a tree");
    for folder in 0..100 {
        let mut files = repository.treebuilder(None).expect("a tree");
        for index in (0..FILES).filter(|index| index % 100 == folder) {
            let is_changed = changed && index % CHANGED == 0;
            let (name, text) = if index % PYTHON == 0 {
                (format!("t{index}.py"), python(index, is_changed))
            } else {
                (format!("t{index}.sql"), sql(index, is_changed))
            };
            let blob = repository.blob(text.as_bytes()).expect("a blob");
            files.insert(name, blob, 0o100_644).expect("an entry");
        }
        folders.insert(format!("p{folder:02}"), files.write().expect("a tree"), 0o040_000).expect("an entry");
    }
    let tree = repository.find_tree(folders.write().expect("a tree")).expect("the tree");
    let author = Signature::new("bench", "bench@example.org", &Time::new(0, 0)).expect("a signature");
    let parent = repository.head().ok().and_then(|head| head.peel_to_commit().ok());
    let parents: Vec<_> = parent.iter().collect();
    repository.commit(Some("HEAD"), &author, &author, "bench", &tree, &parents).expect("a commit")
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Lists both trees and reads every blob once.
fn read_all(folder: &Path, range: &str) -> Duration {
    let started = Instant::now();
    let comparison = open(&Selection::parse(range), folder).expect("both revisions");
    let mut bytes = 0;
    for tree in [&comparison.before, &comparison.after] {
        for entry in tree.entries() {
            bytes += tree.read(&entry.path).map_or(0, |content| content.len());
        }
    }
    assert!(bytes > 0);
    started.elapsed()
}

fn compare(folder: &Path, range: &str, confirm: bool) -> Duration {
    let started = Instant::now();
    let comparison = open(&Selection::parse(range), folder).expect("both revisions");
    let confirm = if confirm { ConfirmWith::GeneratedRows } else { ConfirmWith::Nothing };
    let options = Options { confirm, ..Options::default() };
    let report = review(comparison.before.as_ref(), comparison.after.as_ref(), &options);
    assert_eq!(report.flows.len(), FILES);
    started.elapsed()
}

/// Peak of resident memory in MiB, where the system tells it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib / 1024)
}

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let repository = Repository::init_bare(folder.path()).expect("a repository");
    let (before, after) = (commit(&repository, false), commit(&repository, true));
    let range = format!("{before}..{after}");
    let baseline = median((0..RUNS).map(|_| read_all(folder.path(), &range)).collect());
    println!("list and read both trees   {baseline:>10.1?}");
    for (name, confirm) in [("without confirmation", false), ("with confirmation", true)] {
        let time = median((0..RUNS).map(|_| compare(folder.path(), &range, confirm)).collect());
        println!("diff {name:<21} {time:>10.1?}   ratio {:.1}", time.as_secs_f64() / baseline.as_secs_f64());
    }
    if let Some(peak) = peak_memory() {
        println!("peak memory                {peak:>7} MiB");
    }
}
