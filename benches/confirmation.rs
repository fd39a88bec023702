//! `cargo bench --bench confirmation`: what confirming changed flows costs.
//!
//! Over every recorded Spark case: the main job with the experiment (four seeds, a witness) against the main job without it, as
//! the median and the worst over the cases; and a pull request with 20 changed flows in one pipeline. Told, not asserted.

#![allow(clippy::expect_used, clippy::print_stdout)] // a bench stops where it cannot measure, and prints what it measured

use pipelint::model::Platform;
use pipelint::reading::{ConfirmWith, Options};
use pipelint::review::review;
use pipelint::revision::{Selection, open};
use std::path::Path;
use std::time::{Duration, Instant};

const FLOWS: usize = 20;

fn time(before: &Path, after: &Path, platform: Platform, confirm: bool) -> Duration {
    let selection = Selection::Folders { before: before.to_owned(), after: after.to_owned() };
    let comparison = open(&selection, Path::new(".")).expect("both folders");
    let confirm = if confirm { ConfirmWith::GeneratedRows } else { ConfirmWith::Nothing };
    let options = Options { platform: Some(platform), confirm, ..Options::default() };
    let started = Instant::now();
    let report = review(comparison.before.as_ref(), comparison.after.as_ref(), &options);
    assert!(report.pipelines > 0);
    started.elapsed()
}

fn cases() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/spark");
    let mut folders: Vec<_> = std::fs::read_dir(root).expect("the cases").flatten().map(|entry| entry.path()).collect();
    folders.sort();
    let mut costs: Vec<(Duration, String)> = folders
        .iter()
        .map(|folder| {
            let (before, after) = (folder.join("before"), folder.join("after"));
            let with = time(&before, &after, Platform::Spark, true);
            let without = time(&before, &after, Platform::Spark, false);
            let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            (with.saturating_sub(without), name)
        })
        .collect();
    costs.sort();
    let median = costs.get(costs.len() / 2).map(|(time, _)| *time).unwrap_or_default();
    println!("confirming one changed flow, median of {} cases   {median:.1?}", costs.len());
    if let Some((worst, name)) = costs.last() {
        println!("                            worst               {worst:.1?} ({name})");
    }
}

fn pull_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |side: &str, limit: usize| {
        let files = folder.path().join(side);
        std::fs::create_dir_all(&files).expect("a folder");
        for index in 0..FLOWS {
            let text = format!(
                "CREATE OR REFRESH STREAMING TABLE t{index} AS SELECT window(ts, '10 minutes').start AS at, customer, \
                 sum(amount) AS total FROM STREAM(main.landing.s{index}) WATERMARK ts DELAY OF INTERVAL 10 MINUTES \
                 WHERE amount > {limit} GROUP BY window(ts, '10 minutes'), customer;\n"
            );
            std::fs::write(files.join(format!("t{index}.sql")), text).expect("a file");
        }
        files
    };
    let (before, after) = (write("before", 0), write("after", 10));
    let with = time(&before, &after, Platform::Lakeflow, true);
    let without = time(&before, &after, Platform::Lakeflow, false);
    println!(
        "a pull request with {FLOWS} changed flows   {with:.1?}, {:.1} times the run without confirmation",
        with.as_secs_f64() / without.as_secs_f64()
    );
}

fn main() {
    cases();
    pull_request();
}
