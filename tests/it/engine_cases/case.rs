//! A case as it lies in its folder.

use super::agreement::Subject;
use super::rows;
use super::steps::{self, Step};
use pipelint::analyze::{Analysis, analyze};
use pipelint::confirm::{Data, Deployment, deployed};
use pipelint::engine::UpdateKind;
use pipelint::frontend::{ParseCache, load, sql};
use pipelint::model::{Platform, QualifiedName, Workspace};
use pipelint::project::{Options, discover};
use pipelint::reading;
use pipelint::revision::open_one;
use serde_json::Value as Json;
use serde_yaml::Value as Yaml;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub struct Case {
    pub folder: PathBuf,
    /// What happens beside the two revisions.
    pub experiment: Experiment,
    /// Spark's effect by table; none where the recording says nothing of it.
    pub effects: Vec<(String, Option<String>)>,
    pub error_class: Option<String>,
    /// The reference that the effect was told by: AFTER from nothing, batch by batch. Otherwise on the tables as they are now.
    pub replayed_reference: bool,
    pub recorded: Vec<RecordedRows>,
    pub disagrees: BTreeMap<Subject, String>,
    /// The Spark that the recording is of, where it is not the platform that the case is written for.
    deployment: Option<Deployment>,
    platform: Option<Platform>,
}

/// Rows of a table at one moment.
pub struct RecordedRows {
    pub at: Moment,
    pub table: String,
    pub rows: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    BeforeBatch1,
    Resumed,
    Control,
}

/// `experiment:` of a case.
#[derive(Default)]
pub struct Experiment {
    /// `CREATE TABLE` of tables that the jobs write to.
    pub sinks: Vec<String>,
    /// Before BEFORE runs.
    pub before_first: Vec<Step>,
    pub between: Vec<Step>,
    pub after_batch_2: Vec<Step>,
    pub no_batch_2: bool,
    /// What happens between the runs is known to nobody who reads the repository.
    pub unseen: bool,
    /// How AFTER is deployed: one update after the other.
    pub updates: Vec<UpdateKind>,
}

/// All cases of a family, by name.
pub fn all(family: &str) -> Vec<Case> {
    crate::case_folders(family).into_iter().map(Case::read).collect()
}

/// Cases of all families that say what to expect of a change, as far as Spark was asked about them too.
pub fn with_expectations() -> Vec<Case> {
    // Changes alone: these have a test of their own, and what has a `job` is a script that runs twice.
    let others = ["spark", "iceberg", "delta", "lint"].map(|family| Path::new(crate::CASES).join(family));
    let expecting = (crate::case_folders("").into_iter())
        .filter(|folder| !folder.join("job").is_dir() && !others.iter().any(|other| folder.starts_with(other)));
    expecting.map(Case::read).filter(|case| !case.effects.is_empty()).collect()
}

impl Case {
    fn read(folder: PathBuf) -> Case {
        let text = std::fs::read_to_string(folder.join("case.yaml")).unwrap();
        let yaml: Yaml = serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let spark = &yaml["spark"];
        let word = |value: &Yaml| value.as_str().map(str::to_owned);
        Case {
            experiment: Experiment::of(&yaml["experiment"]),
            effects: pairs(&spark["effects"]).map(|(table, effect)| (table, word(effect))).collect(),
            error_class: word(&spark["error_class"]),
            replayed_reference: spark["reference"].as_str() == Some("replay"),
            recorded: recorded(&folder.join("spark.jsonl")),
            disagrees: pairs(&yaml["disagrees"])
                .map(|(subject, why)| {
                    let named = Subject::named(&subject);
                    (named.unwrap_or_else(|| panic!("{}: what is {subject}?", folder.display())), word(why).unwrap())
                })
                .collect(),
            deployment: deployment(&yaml),
            platform: yaml["platform"].as_str().map(|word| word.parse().unwrap()),
            folder,
        }
    }

    /// One side as its files say it.
    pub fn workspace(&self, side: &str) -> Workspace {
        let folder = self.folder.join(side);
        let tree = open_one(folder.to_str(), &folder).unwrap();
        let parse = |text: &str| sql::parse_schema_ddl(text);
        let project = discover(tree.as_ref(), &Options::new(&parse));
        load(tree.as_ref(), project, &ParseCache::default())
    }

    pub fn analysis(&self, side: &str) -> Analysis {
        let Some(deployment) = &self.deployment else { return analyze(self.workspace(side)) };
        let folder = self.folder.join(side);
        let tree = open_one(folder.to_str(), &folder).unwrap();
        let options = reading::Options { platform: self.platform, ..reading::Options::default() };
        deployed(&reading::read(tree.as_ref(), &options, &ParseCache::default()).analysis, deployment)
    }

    pub fn data(&self) -> Data {
        Data::read(&self.folder.join("data")).unwrap_or_default()
    }
}

impl Experiment {
    fn of(yaml: &Yaml) -> Experiment {
        let mut updates = Vec::new();
        let update = &yaml["update"];
        if !update["full_refresh"].is_null() {
            updates.push(UpdateKind::FullRefresh(names(&update["full_refresh"])));
        }
        if !update["refresh"].is_null() {
            updates.push(UpdateKind::Refresh(names(&update["refresh"])));
        }
        if yaml["then_default"].as_bool() == Some(true) {
            updates.push(UpdateKind::Incremental);
        }
        Experiment {
            sinks: words(&yaml["sinks"]).map(str::to_owned).collect(),
            before_first: steps::read(&yaml["before_first"]),
            between: steps::read(&yaml["between"]),
            after_batch_2: steps::read(&yaml["after_batch2"]),
            unseen: yaml["unseen"].as_bool() == Some(true),
            no_batch_2: yaml["no_batch2"].as_bool() == Some(true),
            updates,
        }
    }
}

/// A pipeline of Lakeflow was recorded on Apache Spark, with Delta Lake's tables or what stands for them.
fn deployment(yaml: &Yaml) -> Option<Deployment> {
    let version = yaml["spark"]["version"].as_str()?;
    if yaml["platform"].as_str() == Some("spark") {
        return None;
    }
    let mut numbers = version.split('.').map_while(|part| part.parse().ok());
    Some(Deployment { spark_version: (numbers.next()?, numbers.next()?), table_format: "delta".to_owned() })
}

fn words(yaml: &Yaml) -> impl Iterator<Item = &str> {
    yaml.as_sequence().into_iter().flatten().filter_map(Yaml::as_str)
}

fn names(yaml: &Yaml) -> Vec<QualifiedName> {
    words(yaml).map(QualifiedName::bare).collect()
}

fn pairs(yaml: &Yaml) -> impl Iterator<Item = (String, &Yaml)> {
    yaml.as_mapping().into_iter().flatten().map(|(key, value)| (key.as_str().unwrap().to_owned(), value))
}

fn recorded(path: &Path) -> Vec<RecordedRows> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let row = |row: &Json| row.as_object().unwrap().clone();
    text.lines()
        .map(|line| {
            let line: Json = serde_json::from_str(line).unwrap();
            let at = match line["at"].as_str().unwrap() {
                "before_batch1" => Moment::BeforeBatch1,
                "resumed" => Moment::Resumed,
                "control" => Moment::Control,
                other => panic!("{}: unknown moment {other}", path.display()),
            };
            let table = line["table"].as_str().unwrap().to_owned();
            RecordedRows { at, table, rows: rows::sorted(line["rows"].as_array().unwrap().iter().map(row)) }
        })
        .collect()
}
