//! A seeded fuzzer over the case folders: their files are mutated, and pairs of revisions compared.
//!
//! `PIPELINT_FUZZ_RUNS=20000 cargo test --test it fuzz::` makes more pairs than a plain run of the tests, `PIPELINT_FUZZ_SEED=N` others.
//! A pair that fails is named by its seed and its case; `PIPELINT_FUZZ_SEED` with that seed and one run makes it again.

mod mutate;
mod tree;

use mutate::{Mutator, Random};
use pipelint::model::{DiagnosticLevel, Effect};
use pipelint::reading::{ConfirmWith, Options};
use pipelint::report::{Format, Style, render};
use pipelint::review::review;
use pipelint::verdict::{Report, Revision, Verdict};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tree::Memory;

type Files = BTreeMap<String, Vec<u8>>;

/// In a plain run of the tests; `.ci/run` asks for more.
const RUNS: u64 = 400;
/// A pair that takes longer hangs. Nothing is measured by it.
const HANGS: Duration = Duration::from_secs(300);

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
}

/// Both sides of every case, by the case's name.
fn corpus() -> Vec<(String, Files, Files)> {
    let folders = crate::case_folders("").into_iter().filter(|folder| folder.join("before").is_dir());
    let case = |folder: std::path::PathBuf| {
        (crate::case_name("fuzz", &folder), files(&folder.join("before")), files(&folder.join("after")))
    };
    folders.map(case).collect()
}

fn files(side: &Path) -> Files {
    let mut found = Files::new();
    let mut pending = vec![side.to_path_buf()];
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(std::fs::read_dir(&path).expect("a folder").flatten().map(|entry| entry.path()));
        } else if let Ok(relative) = path.strip_prefix(side) {
            found.insert(relative.to_string_lossy().into_owned(), std::fs::read(&path).expect("a file"));
        }
    }
    found
}

fn compare(before: &Files, after: &Files, confirm: bool) -> Report {
    let confirm = if confirm { ConfirmWith::GeneratedRows } else { ConfirmWith::Nothing };
    let options = Options { confirm, ..Options::default() };
    review(&Memory::new("before", before), &Memory::new("after", after), &options)
}

const STYLE: Style = Style { colors: false, width: 100, explain: true };

/// The report is one of every format, and its JSON is JSON.
fn assert_rendered(report: &Report) {
    let text = render(report, Format::Json, STYLE);
    serde_json::from_str::<serde_json::Value>(&text).expect("valid JSON");
    for (_, format) in Format::ALL {
        let text = render(report, format, STYLE);
        assert!(!text.contains('\u{1b}'), "an escape sequence");
    }
}

fn assert_silent(report: &Report, why: &str) {
    let loud = report.flows.iter().find(|flow| flow.effect != Effect::None);
    assert!(loud.is_none(), "{why}: {:?}", loud.map(|flow| (&flow.dataset, flow.effect)));
    let findings: Vec<&str> = report.findings.iter().map(|finding| finding.message.as_str()).collect();
    assert!(findings.is_empty(), "{why}: {findings:?}");
}

/// What a revision breaks is never passed as clean.
fn assert_not_passed_unread(report: &Report) {
    let broken = report.diagnostics.iter().find(|remark| {
        remark.entry.level == DiagnosticLevel::Error && remark.revision == Revision::After && !remark.in_both
    });
    assert!(
        broken.is_none() || report.verdict() != Verdict::Clean,
        "clean, with {:?}",
        broken.map(|remark| &remark.entry)
    );
}

/// One pair: a mutant of a case against the case, in both directions, and against itself.
fn run(seed: u64, corpus: &[(String, Files, Files)]) {
    let mut random = Random::new(seed);
    let (_, before, after) = &corpus[random.below(corpus.len())];
    let original = if random.chance(2) { before } else { after };
    let (_, other, _) = &corpus[random.below(corpus.len())];
    let mut mutator = Mutator::new(&mut random, other);
    let harmless = mutator.harmless(original);
    let mutant = mutator.mutant(original);
    let confirm = random.chance(16);
    let report = compare(original, &mutant, confirm);
    assert_rendered(&report);
    assert_not_passed_unread(&report);
    assert_rendered(&compare(&mutant, original, confirm));
    assert_silent(&compare(&mutant, &mutant, false), "a mutant against itself");
    if let Some(harmless) = harmless {
        let report = compare(original, &harmless, confirm);
        // What is not understood in either text may be equal or not.
        if !report.findings.iter().any(|finding| finding.rule == "file-unread") {
            assert_silent(&report, "comments and blanks inside of statements");
        }
    }
}

/// What each thread is at; a pair that does not end is named before the program is ended.
static CURRENT: Mutex<BTreeMap<usize, (u64, Instant)>> = Mutex::new(BTreeMap::new());

fn watch() {
    std::thread::spawn(|| {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let current = CURRENT.lock().expect("no panic while it is held");
            if let Some((seed, _)) = current.values().find(|(_, began)| began.elapsed() > HANGS) {
                println!("the pair of seed {seed} does not end");
                std::process::exit(101);
            }
        }
    });
}

fn mutated_pairs() {
    let first = number("PIPELINT_FUZZ_SEED", 1);
    let runs = number("PIPELINT_FUZZ_RUNS", RUNS);
    let corpus = corpus();
    watch();
    let failures: Vec<String> = (first..first + runs)
        .into_par_iter()
        .filter_map(|seed| {
            let thread = rayon::current_thread_index().unwrap_or_default();
            CURRENT.lock().expect("no panic while it is held").insert(thread, (seed, Instant::now()));
            let outcome = catch_unwind(AssertUnwindSafe(|| run(seed, &corpus)));
            CURRENT.lock().expect("no panic while it is held").remove(&thread);
            let panic = outcome.err()?;
            let said = panic.downcast_ref::<String>().cloned();
            let said = said.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default();
            Some(format!("seed {seed}: {said}"))
        })
        .collect();
    println!("{runs} pairs from seed {first}: {} failures", failures.len());
    assert!(failures.is_empty(), "{} of {runs} pairs:\n{}", failures.len(), failures.join("\n"));
}

/// The same bytes whatever the machine is like.
fn bytes_do_not_depend_on_the_machine() {
    let corpus = corpus();
    let folder = tempfile::tempdir().expect("a folder");
    for seed in 1..=12 {
        let mut random = Random::new(seed);
        let (name, before, after) = &corpus[random.below(corpus.len())];
        let mutant = Mutator::new(&mut random, before).mutant(after);
        for (side, files) in [("before", before), ("after", &mutant)] {
            let side = folder.path().join(side);
            let _ = std::fs::remove_dir_all(&side);
            for (path, bytes) in files {
                let path = side.join(path);
                std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
                std::fs::write(path, bytes).expect("a file");
            }
        }
        let run = |variables: [(&str, &str); 4]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_pipelint"));
            command.args(["diff", "--before", "before", "--after", "after", "--format", "json", "--allow-empty"]);
            command.current_dir(folder.path()).envs(variables).output().expect("pipelint runs").stdout
        };
        let plain = run([("RAYON_NUM_THREADS", "1"), ("TZ", "UTC"), ("LANG", "C"), ("HOME", "/")]);
        let other =
            run([("RAYON_NUM_THREADS", "7"), ("TZ", "Asia/Kathmandu"), ("LANG", "tr_TR.UTF-8"), ("HOME", "/nowhere")]);
        assert!(plain == other, "seed {seed}, {name}: the reports differ");
    }
}

crate::tests![mutated_pairs, bytes_do_not_depend_on_the_machine];
