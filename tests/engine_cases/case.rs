//! A case as it lies in its folder.

use crate::agreement::Subject;
use crate::rows;
use crate::steps::{self, Step};
use pipelint::analyze::{Analysis, analyze};
use pipelint::confirm::Data;
use pipelint::engine::UpdateKind;
use pipelint::frontend::{ParseCache, load, sql};
use pipelint::model::{QualifiedName, Workspace};
use pipelint::project::{Options, discover};
use pipelint::revision::open_one;
use serde_json::Value as Json;
use serde_yaml::Value as Yaml;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub struct Case {
    pub name: String,
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
    /// How AFTER is deployed: one update after the other.
    pub updates: Vec<UpdateKind>,
}

/// All cases of a family, by name.
pub fn all(family: &str) -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(family);
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&root)
        .unwrap_or_else(|error| panic!("{}: {error}", root.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|folder| folder.join("case.yaml").is_file())
        .collect();
    folders.sort();
    folders.into_iter().map(Case::read).collect()
}

impl Case {
    fn read(folder: PathBuf) -> Case {
        let text = std::fs::read_to_string(folder.join("case.yaml")).unwrap();
        let yaml: Yaml = serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let spark = &yaml["spark"];
        let word = |value: &Yaml| value.as_str().map(str::to_owned);
        Case {
            name: folder.file_name().unwrap().to_string_lossy().into_owned(),
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
        analyze(self.workspace(side))
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
            no_batch_2: yaml["no_batch2"].as_bool() == Some(true),
            updates,
        }
    }
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
