//! Checkpoints that Apache Spark left after batch 1, compared with the changed code, against what Spark then did with them.
//!
//! `tests/checkpoints/{spark}/{case}` holds the small files and `outcome.json`, recorded by `record-spark --checkpoints`; the code
//! is that of the case. `beyond.tsv` lists refusals by what no checkpoint holds: the tables that are written, and what came into
//! a source later; they are counted apart. `tests/checkpoints/blind.txt` lists the half that was not looked at while the comparison was written.

use pipelint::checkpoint::{CheckpointFiles, SourceFacts};
use pipelint::model::Platform;
use pipelint::project::ConfigFile;
use pipelint::reading::{Checkpoints, ConfirmWith, Options};
use pipelint::review::examine;
use pipelint::revision::open_one;
use pipelint::verdict::{CheckpointVerdict, Report, Resumption};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

crate::tests!(checkpoints_of_spark_are_judged_as_spark_judged_them, a_damaged_checkpoint_never_resumes_wrongly);

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// A recorded checkpoint with the code that was to resume from it.
pub struct Fixture {
    /// `4.3/spark/agg-added`
    pub name: String,
    pub spark: String,
    case: String,
    outcome: Json,
}

pub fn fixtures() -> Vec<Fixture> {
    let mut found = Vec::new();
    for spark in folders(&root().join("checkpoints")) {
        for set in folders(&spark) {
            for case in folders(&set) {
                let text = std::fs::read_to_string(case.join("outcome.json")).unwrap();
                let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
                let (spark, case) = (name(&spark), format!("{}/{}", name(&set), name(&case)));
                let outcome = serde_json::from_str::<Json>(&text).unwrap()["outcome"].clone();
                found.push(Fixture { name: format!("{spark}/{case}"), spark, case, outcome });
            }
        }
    }
    found
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

impl Fixture {
    pub fn folder(&self) -> PathBuf {
        root().join("checkpoints").join(&self.name).join("checkpoints")
    }

    fn config(&self) -> ConfigFile {
        let path = root().join("cases").join(&self.case).join("after/pipelint.yaml");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let kept = |line: &&str| !line.starts_with("platform:") && !line.starts_with("spark_version:");
        // There the recorder's sources are folders of JSON, whatever format the repository tells.
        let in_folders = |line: &&str| self.spark != "4.1" || !line.trim_start().starts_with("format:");
        let lines: Vec<&str> = text.lines().filter(kept).filter(in_folders).collect();
        let mut text = format!("platform: spark\nspark_version: '{}'\n{}\n", self.spark, lines.join("\n"));
        if self.spark == "4.1" && !text.contains("table_format:") {
            text.push_str("table_format: delta\n");
        }
        ConfigFile { path: "pipelint.yaml".to_owned(), text }
    }

    /// The report on checkpoints, these or damaged ones, before the case's changed code.
    pub fn report(&self, folder: &Path) -> Report {
        let after = root().join("cases").join(&self.case).join("after");
        let tree = open_one(after.to_str(), &after).unwrap();
        let files = CheckpointFiles::read(folder, "checkpoints").unwrap();
        let facts = std::fs::read_to_string(self.folder().with_file_name("source-facts.json"));
        let facts = facts.map(|text| SourceFacts::parse(&text).unwrap()).unwrap_or_default();
        let checkpoints = Some(Checkpoints { files, facts, alone: true });
        let options = Options {
            platform: Some(Platform::Spark),
            config: Some(self.config()),
            confirm: ConfirmWith::Nothing,
            checkpoints,
            ..Options::default()
        };
        examine(tree.as_ref(), tree.as_ref(), &options).report
    }

    /// What Spark did with the flow of a checkpoint.
    fn recorded(&self, verdict: &CheckpointVerdict) -> Recorded {
        let Some(flows) = self.outcome["flows"].as_object() else {
            return match self.outcome["error_class"].as_str() {
                Some(class) => Recorded::Refused(class.to_owned()),
                None => Recorded::Resumed,
            };
        };
        let Some(own) = &verdict.flow else { return Recorded::NotRun };
        let last = |name: &str| name.rsplit(['.', '/']).next().unwrap_or(name).to_owned();
        let own = format!("{} {}", last(&own.dataset.to_string()), last(&own.flow));
        let told = flows.iter().find(|(name, _)| {
            let (dataset, flow) = name.rsplit_once(' ').unwrap_or((name, name));
            format!("{} {}", last(dataset), last(flow)) == own
        });
        match told.map(|(_, told)| told) {
            Some(Json::String(status)) if status == "completed" => Recorded::Resumed,
            Some(told) if told["stage"] == "flow" => {
                Recorded::Refused(told["class"].as_str().unwrap_or_default().to_owned())
            }
            // What stops a run before its flows start is no matter of checkpoints.
            _ => Recorded::NotRun,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Recorded {
    Resumed,
    Refused(String),
    NotRun,
}

#[derive(Default)]
struct Tally {
    compared: usize,
    agreeing: usize,
    refused: usize,
    same_class: usize,
    not_run: usize,
    /// Refused by what no checkpoint holds.
    beyond: usize,
    differing: Vec<String>,
    silent: Vec<String>,
}

impl Tally {
    fn add(&mut self, fixture: &Fixture, verdict: &CheckpointVerdict, is_beyond: bool) {
        let recorded = fixture.recorded(verdict);
        if is_beyond {
            self.beyond += 1;
            return;
        }
        let expected = match &recorded {
            Recorded::NotRun => {
                self.not_run += 1;
                return;
            }
            Recorded::Resumed => Resumption::Resumes,
            Recorded::Refused(_) => Resumption::Refused,
        };
        self.compared += 1;
        let line = format!(
            "{} {}: Spark {recorded:?}, told {:?} {:?} {:?}",
            fixture.name, verdict.path, verdict.resumption, verdict.error_class, verdict.open
        );
        if verdict.resumption == expected {
            self.agreeing += 1;
        } else {
            if expected == Resumption::Refused && verdict.resumption == Resumption::Resumes {
                self.silent.push(line.clone());
            }
            self.differing.push(line.clone());
        }
        if let Recorded::Refused(class) = recorded {
            self.refused += 1;
            if verdict.error_class.as_deref().is_some_and(|own| same_class(own, &class)) {
                self.same_class += 1;
            } else if verdict.resumption == expected {
                self.differing.push(line);
            }
        }
    }
}

/// Spark gives a foreign offset no class of its own: a job's record has the exception's, a pipeline's the name it has here.
fn same_class(own: &str, recorded: &str) -> bool {
    own == recorded || own == "STREAM_FAILED/OFFSET_JSON_OF_OTHER_SOURCE" && recorded.ends_with(".MappingException")
}

/// The first column of a list of fixtures.
fn listed(file: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join("checkpoints").join(file)).unwrap();
    text.lines().filter_map(|line| line.split('\t').next()).map(str::to_owned).collect()
}

fn checkpoints_of_spark_are_judged_as_spark_judged_them() {
    let (blind, beyond) = (listed("blind.txt"), listed("beyond.tsv"));
    let (mut built, mut unseen) = (Tally::default(), Tally::default());
    for fixture in fixtures() {
        let is_blind = blind.contains(&fixture.name);
        if is_blind && std::env::var_os("PIPELINT_BUILD_HALF").is_some() {
            continue;
        }
        let tally = if is_blind { &mut unseen } else { &mut built };
        for verdict in &fixture.report(&fixture.folder()).checkpoints {
            tally.add(&fixture, verdict, beyond.contains(&fixture.name));
        }
    }
    let mut text = String::new();
    for (half, tally) in [("built on", &built), ("blind", &unseen)] {
        text += &format!(
            "{half}: {} of {} agree, {} of {} refused with the class, {} not run, {} beyond\n  {}\n",
            tally.agreeing,
            tally.compared,
            tally.same_class,
            tally.refused,
            tally.not_run,
            tally.beyond,
            tally.differing.join("\n  ")
        );
    }
    println!("{text}");
    let (compared, agreeing) = (built.compared + unseen.compared, built.agreeing + unseen.agreeing);
    let (refused, same_class) = (built.refused + unseen.refused, built.same_class + unseen.same_class);
    assert!(agreeing * 100 >= compared * 98, "{text}");
    assert!(same_class * 100 >= refused * 93, "{text}");
    assert!(built.silent.is_empty() && unseen.silent.is_empty(), "resumes, and Spark refused: {text}");
}

/// Damages that are tried.
const DAMAGES: usize = 240;

/// What happens to one file of a copy.
#[derive(Debug, Clone, Copy)]
enum Damage {
    Truncated,
    Missing,
    Foreign,
    FutureVersion,
    FlippedByte,
    Empty,
}

impl Damage {
    const ALL: [Damage; 6] = [
        Damage::Truncated,
        Damage::Missing,
        Damage::Foreign,
        Damage::FutureVersion,
        Damage::FlippedByte,
        Damage::Empty,
    ];

    /// None where the file is gone.
    fn apply(self, bytes: &[u8], at: usize) -> Option<Vec<u8>> {
        let at = at % bytes.len().max(1);
        let mut changed = bytes.to_vec();
        match self {
            Damage::Missing => return None,
            Damage::Truncated => changed.truncate(at),
            Damage::Foreign => changed = b"PAR1 not of a checkpoint".to_vec(),
            Damage::FutureVersion => {
                let version = changed.iter().position(|byte| *byte == b'v').map(|v| v + 1);
                if let Some(digit) = version.and_then(|at| changed.get_mut(at)) {
                    *digit = b'9';
                }
            }
            Damage::FlippedByte => changed.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 0x15),
            Damage::Empty => changed.clear(),
        }
        Some(changed)
    }
}

/// Whatever happens to a file of a checkpoint that Spark refused, it is not said to resume; and nothing panics.
fn a_damaged_checkpoint_never_resumes_wrongly() {
    let worst = |report: &Report| report.checkpoints.iter().map(|verdict| verdict.resumption).max();
    let all = fixtures();
    let sound: Vec<(&Fixture, Option<Resumption>)> =
        all.iter().map(|fixture| (fixture, worst(&fixture.report(&fixture.folder())))).collect();
    let mut random = 7_usize;
    let mut next = move || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        random >> 33
    };
    let refused: Vec<_> = sound.iter().filter(|(_, verdict)| *verdict == Some(Resumption::Refused)).collect();
    let (mut wrong, mut told) = (Vec::new(), 0);
    for number in 0..DAMAGES {
        // Two of three are of checkpoints that cannot be resumed: there a damage must not hide it.
        let chosen = if number % 3 == 0 {
            sound.get(next() % sound.len())
        } else {
            refused.get(next() % refused.len()).copied()
        };
        let Some((fixture, before)) = chosen else { continue };
        let copy = std::env::temp_dir().join(format!("pipelint-damaged-{}-{number}", std::process::id()));
        let files = copied(&fixture.folder(), &copy);
        let Some(file) = files.get(next() % files.len()) else { continue };
        let damage = Damage::ALL[number % Damage::ALL.len()];
        // Without its last commit it is the sound checkpoint of a query that was stopped before it committed.
        if matches!(damage, Damage::Missing) && file.parent().is_some_and(|folder| folder.ends_with("commits")) {
            std::fs::remove_dir_all(&copy).unwrap();
            continue;
        }
        match damage.apply(&std::fs::read(file).unwrap(), next()) {
            Some(bytes) => std::fs::write(file, bytes).unwrap(),
            None => std::fs::remove_file(file).unwrap(),
        }
        let report = fixture.report(&copy);
        let after = worst(&report);
        told += usize::from(report.checkpoints.iter().any(|verdict| !verdict.problems.is_empty()));
        if *before == Some(Resumption::Refused) && after == Some(Resumption::Resumes) {
            wrong.push(format!("{} {damage:?} {}", fixture.name, file.display()));
        }
        std::fs::remove_dir_all(&copy).unwrap();
    }
    println!("{DAMAGES} damages, {told} named in the report");
    assert!(told * 2 > DAMAGES, "only {told} of {DAMAGES} damages were named");
    assert!(wrong.is_empty(), "resumes after damage:\n{}", wrong.join("\n"));
}

/// Copies a folder; the files of the copy, in order.
fn copied(from: &Path, to: &Path) -> Vec<PathBuf> {
    std::fs::create_dir_all(to).unwrap();
    let mut files = Vec::new();
    let mut entries: Vec<PathBuf> = std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for entry in entries {
        let target = to.join(entry.file_name().unwrap());
        if entry.is_dir() {
            files.extend(copied(&entry, &target));
        } else {
            std::fs::copy(&entry, &target).unwrap();
            files.push(target);
        }
    }
    files
}
